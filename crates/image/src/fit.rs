//! Makes an image fit a format and a size limit.

use super::pixels::{Effort, JPEG_QUALITY, Pixels};
use super::{Error, Format, FormatPreference, Image};

/// JPEG qualities to try in order until the file is small enough. Text is unreadable below the last
/// one.
const QUALITIES: [u8; 6] = [JPEG_QUALITY, 65, 50, 35, 20, 10];

/// Whether an image needs no conversion.
pub fn fits(image: &Image, format: FormatPreference, max_bytes: Option<usize>) -> bool {
    format.is_met_by(image.format) && fits_bytes(image, max_bytes)
}

/// Converts the image to this format within this many bytes (`None`: no limit).
///
/// An image that already fits is returned unchanged. One that is too large is re-encoded, first as
/// asked, then as JPEG with decreasing quality, whatever format was requested. The size in pixels
/// does not change, so coordinates stay valid. Takes up to about 0.3 s of CPU time.
///
/// # Errors
/// If the image cannot be decoded, or cannot be made to fit.
pub fn fit(
    image: Image,
    format: FormatPreference,
    max_bytes: Option<usize>,
) -> Result<Image, Error> {
    if fits(&image, format, max_bytes) {
        return Ok(image);
    }
    let pixels = Pixels::read(&image)?;
    let mut least = image.bytes.len();
    let mut fitting = |written: Image| {
        least = least.min(written.bytes.len());
        fits_bytes(&written, max_bytes).then_some(written)
    };
    // Recompress a PNG that is too large: phones compress quickly rather than well.
    let first = match (format, image.format) {
        (FormatPreference::Smallest, _) => Some(pixels.write_smallest()?),
        (FormatPreference::AsTaken | FormatPreference::Only(Format::Png), Format::Png) => {
            Some(pixels.write_png(Effort::Strong)?)
        }
        (FormatPreference::Only(Format::Jpeg), _) | (FormatPreference::AsTaken, Format::Jpeg) => {
            None
        }
        (FormatPreference::Only(format), _) | (FormatPreference::AsTaken, format) => {
            Some(pixels.write(format)?)
        }
    };
    if let Some(image) = first.and_then(&mut fitting) {
        return Ok(image);
    }
    for quality in QUALITIES {
        if let Some(image) = fitting(pixels.write_jpeg(quality)?) {
            return Ok(image);
        }
    }
    Err(Error::TooLarge { least, max: max_bytes.unwrap_or(usize::MAX) })
}

fn fits_bytes(image: &Image, max_bytes: Option<usize>) -> bool {
    max_bytes.is_none_or(|max| image.bytes.len() <= max)
}
