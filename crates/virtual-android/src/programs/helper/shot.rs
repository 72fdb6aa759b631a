//! The helper's operation `shot`: a picture of the screen, scaled and compressed on the phone.

use super::error::HelperError;
use super::fields::{number, word};
use super::wire::Header;
use super::{Answer, Helper};
use crate::latency::Work;
use serde_json::json;
use thumbwire_virtual_phone::Frame;

/// `shot`. WebP is lossless here: `quality` counts for JPEG only.
pub(super) async fn shot(helper: &Helper, header: &Header) -> Result<Answer, HelperError> {
    let format = word(header, "format", &["jpeg", "png", "webp"])?;
    let quality = number(header, "quality", 1..=100, Some(80))?;
    let side = number(header, "max_side", 16..=10_000, Some(10_000))?;
    let phone = &helper.phone;
    let _using = helper.use_automation(std::time::Duration::from_secs(2)).await?;
    phone.run_work(Work::HelperShot).await;
    // Follows the rotation of the screen on every release.
    let (frame, rotation) =
        phone.with(|phone| (phone.world.capture(), phone.world.display().rotation));
    let (screen_width, screen_height) = (frame.width, frame.height);
    let frame = scaled(frame, side as u32);
    let body = compressed(&frame, format, quality as u8)
        .ok_or_else(|| HelperError::of("internal", "cannot compress the picture"))?;
    let fields = json!({
        "format": format, "width": frame.width, "height": frame.height, "screen_width": screen_width,
        "screen_height": screen_height, "rotation": rotation, "via": "UiAutomation",
    });
    Ok(Answer { fields, body })
}

/// The frame with its longer side cut to the maximum; each pixel is the mean of those that it covers.
fn scaled(frame: Frame, side: u32) -> Frame {
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

fn compressed(frame: &Frame, format: &str, quality: u8) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let rgb: Vec<u8> = frame.rgba.chunks_exact(4).flat_map(|pixel| pixel[..3].to_vec()).collect();
    match format {
        "jpeg" => {
            let (width, height) =
                (u16::try_from(frame.width).ok()?, u16::try_from(frame.height).ok()?);
            let encoder = jpeg_encoder::Encoder::new(&mut bytes, quality);
            encoder.encode(&rgb, width, height, jpeg_encoder::ColorType::Rgb).ok()?;
        }
        "webp" => {
            let encoder = image_webp::WebPEncoder::new(&mut bytes);
            encoder.encode(&rgb, frame.width, frame.height, image_webp::ColorType::Rgb8).ok()?;
        }
        _ => {
            let mut encoder = png::Encoder::new(&mut bytes, frame.width, frame.height);
            encoder.set_color(png::ColorType::Rgb);
            encoder.set_compression(png::Compression::Fast);
            let mut writer = encoder.write_header().ok()?;
            writer.write_image_data(&rgb).ok()?;
            writer.finish().ok()?;
        }
    }
    Some(bytes)
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
