//! The helper's operations `shot`, a JPEG of the screen, scaled and compressed on the phone, and
//! `stream`: another one whenever the screen shows something else.

use super::error::HelperError;
use super::fields::{millis, number};
use super::wire::Header;
use super::{Answer, Helper};
use crate::latency;
use crate::phone::VirtualPhone;
use serde_json::json;
use std::time::Duration;
use thumbwire_virtual_phone::Frame;
use thumbwire_virtual_shell::system::sleep_real;
use tokio::sync::mpsc;

/// What a request wants.
struct Options {
    quality: u8,
    side: u32,
    limit: Duration,
}

impl Options {
    fn of(header: &Header) -> Result<Self, HelperError> {
        Ok(Self {
            quality: number(header, "quality", 1..=100, Some(80))? as u8,
            side: number(header, "max_side", 16..=10_000, Some(10_000))? as u32,
            limit: millis(header, "limit_ms", 10_000, 2_000)?,
        })
    }
}

/// `shot`
pub(super) async fn shot(helper: &Helper, header: &Header) -> Result<Answer, HelperError> {
    let options = Options::of(header)?;
    let _using = helper.use_automation(options.limit).await?;
    helper.phone.run_work(latency::HELPER_SHOT).await;
    compress(capture(&helper.phone), &options)
}

/// `stream`: sends pictures to `tell`; ends when cancelled.
pub(super) async fn stream(
    helper: &Helper,
    header: &Header,
    tell: &mpsc::Sender<Answer>,
) -> Result<Answer, HelperError> {
    let options = Options::of(header)?;
    let gap = millis(header, "gap_ms", 10_000, 200)?;
    let mut using = helper.use_automation(options.limit).await?;
    let phone = &helper.phone;
    let mut last: Option<Frame> = None;
    loop {
        (using, _) = helper.give_way(using).await?;
        let changed = phone.changed();
        let now = capture(phone);
        let is_new = last.as_ref() != Some(&now);
        if is_new {
            phone.run_work(latency::HELPER_SHOT).await;
            let picture = compress(now.clone(), &options)?;
            last = Some(now);
            if tell.send(picture).await.is_err() {
                return Err(HelperError::cancelled());
            }
            sleep_real(Some(gap)).await;
            continue;
        }
        tokio::select! {
            () = changed => {},
            () = phone.tick() => phone.with(|_| {}),
        }
    }
}

/// What the screen shows, as the phone is held. Wakes nobody.
fn capture(phone: &VirtualPhone) -> Frame {
    phone.peek(|phone| phone.world.capture())
}

fn compress(frame: Frame, options: &Options) -> Result<Answer, HelperError> {
    let frame = scaled(frame, options.side);
    let body = frame
        .jpeg(options.quality)
        .ok_or_else(|| HelperError::of("internal", "cannot compress the picture"))?;
    let fields = json!({ "width": frame.width, "height": frame.height, "method": "UiAutomation" });
    Ok(Answer { fields, body })
}

/// The frame with its longer side cut to the maximum; each pixel is the mean of those that it
/// covers.
pub(in crate::programs) fn scaled(frame: Frame, side: u32) -> Frame {
    let longest = frame.width.max(frame.height);
    if longest <= side {
        return frame;
    }
    let length =
        |of: u32| ((f64::from(of) * f64::from(side) / f64::from(longest)).round() as u32).max(1);
    let (width, height) = (length(frame.width), length(frame.height));
    let mut rgba = Vec::with_capacity(width as usize * height as usize * 4);
    let span = |at: u32, of: u32, all: u32| {
        let from = at * all / of;
        from..((at + 1) * all / of).max(from + 1)
    };
    for y in 0..height {
        for x in 0..width {
            let mut sums = [0_u32; 4];
            let mut count = 0;
            for row in span(y, height, frame.height) {
                for column in span(x, width, frame.width) {
                    let at = (row as usize * frame.width as usize + column as usize) * 4;
                    for (sum, byte) in sums.iter_mut().zip(&frame.rgba[at..at + 4]) {
                        *sum += u32::from(*byte);
                    }
                    count += 1;
                }
            }
            rgba.extend(sums.map(|sum| (sum / count) as u8));
        }
    }
    Frame { width, height, rgba }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn picture_is_scaled_by_its_longer_side() {
        let rgba = [[0, 0, 0, 255], [100, 0, 0, 255], [0, 50, 0, 255], [0, 0, 90, 255]].concat();
        let small = scaled(Frame { width: 4, height: 1, rgba }, 2);
        assert_eq!((small.width, small.height), (2, 1));
        assert_eq!(small.rgba, [50, 0, 0, 255, 0, 25, 45, 255]);
    }
}
