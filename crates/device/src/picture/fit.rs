//! A picture as a caller can take it: in a format, within a number of bytes.

use super::pixels::{Effort, JPEG_QUALITY, Pixels};
use super::{Error, Format, Image};

/// What is tried, in this order, until a JPEG is small enough. Below the last one nothing can be read any more.
const QUALITIES: [u8; 6] = [JPEG_QUALITY, 65, 50, 35, 20, 10];

/// Whether a picture can go out as it is.
pub fn fits(image: &Image, format: Option<Format>, most_bytes: Option<usize>) -> bool {
    format.is_none_or(|format| format == image.format) && within(image, most_bytes)
}

/// The picture in this format (`None`: whichever it has) and within this many bytes (`None`: any).
///
/// What fits already comes back byte for byte. What is too large is written anew: first without loss, then as JPEG of
/// falling quality, whatever format was asked for. Its size in pixels stays, so that coordinates do. Takes up to some
/// 0.3 s of computing.
///
/// # Errors
/// When the picture cannot be read, or does not fit even so.
pub fn fit(
    image: Image,
    format: Option<Format>,
    most_bytes: Option<usize>,
) -> Result<Image, Error> {
    if fits(&image, format, most_bytes) {
        return Ok(image);
    }
    let pixels = Pixels::read(&image)?;
    let format = format.unwrap_or(image.format);
    let mut least = image.bytes.len();
    let mut fitting = |written: Image| {
        least = least.min(written.bytes.len());
        within(&written, most_bytes).then_some(written)
    };
    // A PNG that is too large is pressed harder: phones press theirs little.
    let lossless = match (format, image.format) {
        (Format::Png, Format::Png) => Some(pixels.write_png(Effort::Strong)?),
        (Format::Png | Format::Webp, _) => Some(pixels.write(format)?),
        (Format::Jpeg, _) => None,
    };
    if let Some(image) = lossless.and_then(&mut fitting) {
        return Ok(image);
    }
    for quality in QUALITIES {
        if let Some(image) = fitting(pixels.write_jpeg(quality)?) {
            return Ok(image);
        }
    }
    Err(Error::TooLarge { least, most: most_bytes.unwrap_or(usize::MAX) })
}

fn within(image: &Image, most_bytes: Option<usize>) -> bool {
    most_bytes.is_none_or(|most| image.bytes.len() <= most)
}
