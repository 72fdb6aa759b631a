//! Pictures of the screen.

use bytes::Bytes;

use super::Line;
use crate::error::excerpt;
use crate::{Error, Format, Image, Screenshot, Size};

/// A PNG on standard output.
pub(super) fn png_command() -> Line {
    Line::new("screencap -p")
}

const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";

/// The same as an old phone's terminal passes it on.
const SIGNATURE_BY_TERMINAL: &[u8] = b"\x89PNG\r\r\n\x1a\r\n";

/// Finds the PNG in what `screencap -p` printed and checks that it is whole.
///
/// Words may stand before it: Android 15 warns there when it has several displays.
pub(super) fn read_png(said: Bytes) -> Result<Screenshot, Error> {
    let unreadable = |said: &[u8]| Error::Unreadable {
        command: png_command().as_str().into(),
        said: excerpt(said),
    };
    let find = |signature: &[u8]| said.windows(signature.len()).position(|part| part == signature);
    let png = match (find(SIGNATURE), find(SIGNATURE_BY_TERMINAL)) {
        (Some(start), _) => said.slice(start..),
        (None, Some(start)) => undo_terminal(&said[start..]).into(),
        (None, None) => return Err(unreadable(&said[..said.len().min(400)])),
    };
    // Every PNG begins with its IHDR chunk (width and height, big-endian) and ends with IEND, so a picture that
    // was cut on the way shows at its end.
    let field = |at: usize| {
        let bytes = png.get(at..at + 4)?.try_into().ok()?;
        i32::try_from(u32::from_be_bytes(bytes)).ok().filter(|&n| n > 0)
    };
    let whole = png.get(12..16) == Some(b"IHDR") && png.ends_with(b"IEND\xaeB`\x82");
    match (whole, field(16), field(20)) {
        (true, Some(width), Some(height)) => Ok(Screenshot {
            image: Image { format: Format::Png, bytes: png },
            size: Size { width, height },
            blank: None,
        }),
        _ => Err(unreadable(b"a PNG that is cut short")),
    }
}

/// Takes back what a terminal did to bytes: it wrote each `\n` as `\r\n`.
fn undo_terminal(said: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(said.len());
    for (i, &byte) in said.iter().enumerate() {
        if byte != b'\r' || said.get(i + 1) != Some(&b'\n') {
            bytes.push(byte);
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn png(width: u32, height: u32) -> Vec<u8> {
        let mut png = SIGNATURE.to_vec();
        png.extend(13u32.to_be_bytes());
        png.extend(b"IHDR");
        png.extend(width.to_be_bytes());
        png.extend(height.to_be_bytes());
        png.extend(b"\x08\x06\0\0\0....");
        png.extend(b"\0\0\0\0IEND\xaeB`\x82");
        png
    }

    #[test]
    fn a_picture_is_found_behind_a_warning() {
        let mut said = b"[Warning] Multiple displays were found, but no display id\n".to_vec();
        said.extend(png(1080, 2400));
        let picture = read_png(said.into()).unwrap();
        assert_eq!(picture.size, Size { width: 1080, height: 2400 });
        assert!(picture.image.bytes.starts_with(SIGNATURE));
    }

    #[test]
    fn a_picture_that_came_through_a_terminal_is_made_whole() {
        // 2,570 is 0x0A0A: line ends in the midst of numbers, and a \r\n that was there before.
        let mut png = png(2570, 2573);
        let end = png.len() - 12;
        png.splice(end..end, *b"a\r\nb\n\n\r\r\n");
        let through: Vec<u8> = png
            .iter()
            .flat_map(|&byte| if byte == b'\n' { vec![b'\r', b'\n'] } else { vec![byte] })
            .collect();
        let picture = read_png(through.into()).unwrap();
        assert_eq!(picture.image.bytes, png);
        assert_eq!(picture.size, Size { width: 2570, height: 2573 });
    }

    #[test]
    fn a_picture_that_was_cut_is_refused() {
        let whole = png(10, 20);
        for kept in 0..whole.len() {
            assert!(read_png(whole[..kept].to_vec().into()).is_err(), "{kept} bytes were taken");
        }
        assert!(read_png(whole.into()).is_ok());
    }

    #[test]
    fn the_phones_own_words_travel_in_the_error() {
        let error = read_png(Bytes::from_static(b"screencap: not found\n")).unwrap_err();
        assert!(error.to_string().contains("screencap: not found"), "{error}");
    }
}
