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
use thumbwire_virtual_phone::{Frame, Jpeg};
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
    compress(&capture(&helper.phone), &options)
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
            let picture = compress(&now, &options)?;
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

fn compress(frame: &Frame, options: &Options) -> Result<Answer, HelperError> {
    let Jpeg { size, bytes } = frame
        .jpeg(options.quality, options.side)
        .ok_or_else(|| HelperError::of("internal", "cannot compress the picture"))?;
    let fields = json!({ "width": size.width, "height": size.height, "method": "UiAutomation" });
    Ok(Answer { fields, body: bytes })
}
