//! Screenshots: which format a picture has, and its size.

use bytes::Bytes;

use crate::error::excerpt;
use crate::{Error, Format, Image, Screenshot, Size};
use thumbwire_image::png_crc::complete_png_size;

/// Reads a complete PNG or JPEG; WebDriverAgent writes JPEG with the setting `screenshotQuality`
/// above 0.
pub(crate) fn read_picture(bytes: Bytes) -> Result<Screenshot, Error> {
    let (format, size) = match (complete_png_size(&bytes), jpeg_size(&bytes)) {
        (Some(size), _) => (Format::Png, size),
        (None, Some(size)) => (Format::Jpeg, size),
        (None, None) => {
            let text = match bytes.len() {
                0 => "no picture".into(),
                length => format!(
                    "{length} bytes that are not a complete PNG or JPEG: {}",
                    excerpt(&bytes[..bytes.len().min(40)])
                ),
            };
            return Err(Error::NotReady { what: "take a screenshot", text });
        }
    };
    Ok(Screenshot { image: Image { format, bytes }, size, blank: None })
}

/// The size in the frame header (`SOF`), if the file begins and ends as a JPEG does.
pub(crate) fn jpeg_size(jpeg: &[u8]) -> Option<Size> {
    let complete = jpeg.starts_with(&[0xFF, 0xD8]) && jpeg.ends_with(&[0xFF, 0xD9]);
    let mut at = complete.then_some(2)?;
    loop {
        let [0xFF, marker, high, low] = *jpeg.get(at..at + 4)? else { return None };
        let length = usize::from(u16::from_be_bytes([high, low]));
        // C4, C8 and CC are tables and extensions.
        if (0xC0..=0xCF).contains(&marker) && ![0xC4, 0xC8, 0xCC].contains(&marker) {
            let side = |from: usize| {
                let bytes: [u8; 2] = jpeg.get(at + from..at + from + 2)?.try_into().ok()?;
                Some(i32::from(u16::from_be_bytes(bytes))).filter(|side| *side > 0)
            };
            return Some(Size { width: side(7)?, height: side(5)? });
        }
        at += 2 + length.max(2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn size_of_a_jpeg_is_in_its_header() {
        // A comment, then the frame.
        let jpeg = [
            0xFF, 0xD8, 0xFF, 0xFE, 0, 4, 0, 0, 0xFF, 0xC0, 0, 11, 8, 1, 0, 0, 6, 1, 0, 0, 0, 0xFF,
            0xD9,
        ];
        assert_eq!(jpeg_size(&jpeg), Some(Size { width: 6, height: 256 }));
        for end in 0..jpeg.len() {
            assert_eq!(jpeg_size(&jpeg[..end]), None);
        }
        assert!(read_picture(Bytes::from_static(b"<html>")).is_err());
        assert!(read_picture(Bytes::new()).is_err());
    }
}
