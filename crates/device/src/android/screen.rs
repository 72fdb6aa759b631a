//! Screenshots.

use bytes::Bytes;

use super::{Android, ShellCommand};
use crate::error::excerpt;
use crate::image::png_crc::{SIGNATURE, complete_png_size, crcs_match, png_length};
use crate::{Error, Format, Image, Screenshot};

/// Prints a PNG to standard output.
fn png_command() -> ShellCommand {
    ShellCommand::new("screencap -p")
}

/// Finds the PNG in the output of `screencap -p` and checks that it is complete.
///
/// Text may come before it, as Android 15 prints a warning if it has several displays, and behind
/// it.
fn read_png(output: Bytes) -> Result<Screenshot, Error> {
    let start = output.windows(SIGNATURE.len()).position(|part| part == SIGNATURE);
    let no_picture = || capture_failed(&excerpt(&output[..output.len().min(400)]));
    let png = output.slice(start.ok_or_else(no_picture)?..);
    let png = png.slice(..png_length(&png).unwrap_or(png.len()));
    match complete_png_size(&png) {
        Some(_) if !crcs_match(&png) => Err(unreadable("a PNG corrupted in transit")),
        Some(size) => {
            Ok(Screenshot { image: Image { format: Format::Png, bytes: png }, size, blank: None })
        }
        None => Err(unreadable("a truncated PNG")),
    }
}

fn unreadable(text: &str) -> Error {
    Error::Unreadable { command: png_command().as_str().into(), text: text.into() }
}

/// The screenshot arrived, but could not be processed.
pub(super) fn capture_failed(reason: &dyn std::fmt::Display) -> Error {
    Error::Failed { what: "take a screenshot", text: reason.to_string() }
}

impl Android {
    /// A screenshot, turned as the screen is.
    pub(super) async fn take_picture(&self) -> Result<Screenshot, Error> {
        let picture = match read_png(self.capture(png_command()).await?) {
            Ok(picture) => picture,
            Err(error) => return self.missing_picture(error).await,
        };
        match &self.legacy {
            Some(legacy) => legacy.turn_picture(self, picture).await,
            None => Ok(picture),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Size;

    fn png_of(output: Vec<u8>) -> Result<Screenshot, Error> {
        read_png(output.into())
    }

    fn png(width: u32, height: u32) -> Vec<u8> {
        let header = [&b"IHDR"[..], &width.to_be_bytes(), &height.to_be_bytes(), b"\x08\x06\0\0\0"];
        [SIGNATURE, &chunk(&header.concat()), b"\0\0\0\0IEND\xaeB`\x82"].concat()
    }

    /// A chunk with its length and its CRC.
    fn chunk(named: &[u8]) -> Vec<u8> {
        let length = u32::try_from(named.len() - 4).unwrap();
        [&length.to_be_bytes(), named, &crc32fast::hash(named).to_be_bytes()].concat()
    }

    #[test]
    fn screenshot_after_a_warning_is_found() {
        let mut output = b"[Warning] Multiple displays were found, but no display id\n".to_vec();
        output.extend(png(1080, 2400));
        let picture = png_of(output).unwrap();
        assert_eq!(picture.size, Size { width: 1080, height: 2400 });
        assert!(picture.image.bytes.starts_with(SIGNATURE));
    }

    #[test]
    fn text_behind_a_screenshot_is_skipped() {
        let picture = png_of([&png(10, 20)[..], b"\n[Info] done\n"].concat()).unwrap();
        assert_eq!(picture.image.bytes, png(10, 20));
    }

    #[test]
    fn truncated_screenshot_is_rejected() {
        let whole = png(10, 20);
        for kept in 0..whole.len() {
            assert!(png_of(whole[..kept].to_vec()).is_err(), "{kept} bytes were accepted");
        }
        assert!(png_of(whole).is_ok());
    }

    #[test]
    fn corrupted_screenshot_is_rejected() {
        let mut spoilt = png(10, 20);
        spoilt[24] ^= 1;
        let error = png_of(spoilt).unwrap_err();
        assert!(error.to_string().contains("corrupted in transit"), "{error}");
    }

    #[test]
    fn error_includes_the_phones_message() {
        let error = png_of(b"screencap: not found\n".to_vec()).unwrap_err();
        assert!(error.to_string().contains("screencap: not found"), "{error}");
    }
}
