//! Screenshots.
//!
//! Before Android 5 `screencap` captures the panel in its natural orientation, however the content is turned (measured on
//! a real Android 4.4.4); such a screenshot is turned here. Taps and dumps follow the rotation on every release.

use std::sync::atomic::Ordering;

use bytes::Bytes;

use super::raw_screenshot::{RawScreenshotError, read_raw};
use super::{Android, ShellCommand};
use crate::error::excerpt;
use crate::image::{
    self, Pixels,
    png_crc::{self, SIGNATURE},
};
use crate::{Error, Format, Image, Screenshot, Size};

/// The first API level whose screenshots follow the rotation.
const ROTATED_SCREENSHOTS: u32 = 21;

/// Prints a PNG to standard output.
fn png_command() -> ShellCommand {
    ShellCommand::new("screencap -p")
}

/// Prints raw pixels.
fn raw_command() -> ShellCommand {
    ShellCommand::new("screencap")
}

/// A PNG signature after passing through an old phone's terminal.
const SIGNATURE_BY_TERMINAL: &[u8] = b"\x89PNG\r\r\n\x1a\r\n";

/// Finds the PNG in the output of `screencap -p` and checks that it is complete.
///
/// Text may come before it: Android 15 prints a warning if it has several displays.
fn read_png(said: Bytes) -> Result<Screenshot, CaptureError> {
    let unreadable = |output: &[u8]| unreadable(&png_command(), output);
    let find = |signature: &[u8]| said.windows(signature.len()).position(|part| part == signature);
    // One search after the other: each unsuccessful one scans every byte.
    let png = if let Some(start) = find(SIGNATURE) {
        said.slice(start..)
    } else if let Some(start) = find(SIGNATURE_BY_TERMINAL) {
        undo_terminal(&said[start..]).into()
    } else {
        return Err(CaptureError::Nothing(unreadable(&said)));
    };
    // Every PNG starts with an IHDR chunk (width and height, big-endian) and ends with IEND, so truncation shows at its
    // end and corruption in its CRCs.
    let field = |at: usize| {
        let bytes = png.get(at..at + 4)?.try_into().ok()?;
        i32::try_from(u32::from_be_bytes(bytes)).ok().filter(|&n| n > 0)
    };
    let whole = png.get(12..16) == Some(b"IHDR") && png.ends_with(b"IEND\xaeB`\x82");
    match (whole, field(16), field(20)) {
        (true, Some(_), Some(_)) if !png_crc::crcs_match(&png) => {
            Err(CaptureError::Broken(unreadable(b"a PNG corrupted in transit")))
        }
        (true, Some(width), Some(height)) => Ok(Screenshot {
            image: Image { format: Format::Png, bytes: png },
            size: Size { width, height },
            blank: None,
        }),
        _ => Err(CaptureError::Broken(unreadable(b"a truncated PNG"))),
    }
}

/// What came instead of a screenshot.
enum CaptureError {
    /// Only text. The phone may not support this kind of screenshot.
    Nothing(Error),
    /// A screenshot that is incomplete or in an unknown format.
    Broken(Error),
}

impl From<CaptureError> for Error {
    fn from(missing: CaptureError) -> Self {
        match missing {
            CaptureError::Nothing(error) | CaptureError::Broken(error) => error,
        }
    }
}

/// Parses the raw pixels from `screencap` into an image file. `by_terminal` tells whether they came through a terminal.
fn read_pixels(output: &[u8], by_terminal: bool) -> Result<Screenshot, CaptureError> {
    let mut read = read_raw(output);
    if by_terminal && read.is_err() {
        read = read_raw(&undo_terminal(output));
    }
    let pixels = read.map_err(|why| match why {
        RawScreenshotError::NotRaw => CaptureError::Nothing(unreadable(&raw_command(), output)),
        RawScreenshotError::Format(format) => {
            let text = format!("unknown pixel format {format:#x}");
            CaptureError::Broken(unreadable(&raw_command(), text.as_bytes()))
        }
    })?;
    let image =
        pixels.write(Format::Png).map_err(|why| CaptureError::Broken(capture_failed(&why)))?;
    Ok(Screenshot { image, size: pixels.size(), blank: None })
}

fn unreadable(command: &ShellCommand, output: &[u8]) -> Error {
    Error::Unreadable {
        command: command.as_str().into(),
        text: excerpt(&output[..output.len().min(400)]),
    }
}

/// The screenshot arrived, but could not be processed.
pub(super) fn capture_failed(reason: &dyn std::fmt::Display) -> Error {
    Error::Failed { what: "take a screenshot", text: reason.to_string() }
}

impl Android {
    /// A screenshot, turned as the screen is.
    pub(super) async fn take_picture(&self) -> Result<Screenshot, Error> {
        let picture = self.capture_screen().await?;
        // A phone that has `exec:` is newer; it costs no further command.
        let may_be_old = self.exec_refused.load(Ordering::Relaxed);
        if !may_be_old || self.api_level().await.is_ok_and(|level| level >= ROTATED_SCREENSHOTS) {
            return Ok(picture);
        }
        let Some((rotation, size)) = self.viewport().await? else { return Ok(picture) };
        let transposed = Size { width: picture.size.height, height: picture.size.width };
        let as_the_panel = match rotation {
            0 => false,
            2 => picture.size == size,
            _ => picture.size != size && transposed == size,
        };
        if !as_the_panel {
            return Ok(picture);
        }
        let turned = tokio::task::spawn_blocking(move || {
            let pixels = Pixels::read(&picture.image)?.rotated(4 - rotation);
            Ok((pixels.write(Format::Png)?, pixels.size()))
        });
        let turned = turned.await.map_err(|why| capture_failed(&why))?;
        let (image, size) = turned.map_err(|why: image::Error| capture_failed(&why))?;
        Ok(Screenshot { image, size, blank: picture.blank })
    }

    /// A screenshot as the phone provides it: a PNG, or, from a phone that cannot make one, raw pixels encoded as PNG.
    ///
    /// This is found out once: later screenshots over this handle use the method that worked. (We have not seen a phone
    /// that rejects `-p`; raw is the older form.)
    async fn capture_screen(&self) -> Result<Screenshot, Error> {
        if self.png_refused.load(Ordering::Relaxed) {
            return Ok(self.take_pixels().await??);
        }
        let refused = match read_png(self.capture(png_command()).await?) {
            Err(CaptureError::Nothing(refused)) => refused,
            read => return Ok(read?),
        };
        match self.take_pixels().await? {
            // The error for `-p` says more than the one for the second command.
            Err(CaptureError::Nothing(_)) => Err(refused),
            read => {
                let picture = read?;
                self.png_refused.store(true, Ordering::Relaxed);
                Ok(picture)
            }
        }
    }

    async fn take_pixels(&self) -> Result<Result<Screenshot, CaptureError>, Error> {
        let output = self.capture(raw_command()).await?;
        let by_terminal = self.exec_refused.load(Ordering::Relaxed);
        let read = tokio::task::spawn_blocking(move || read_pixels(&output, by_terminal));
        read.await.map_err(|why| capture_failed(&why))
    }
}

/// Undoes what a terminal did to the bytes: it wrote each `\n` as `\r\n`.
pub(super) fn undo_terminal(output: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(output.len());
    for (i, &byte) in output.iter().enumerate() {
        if byte != b'\r' || output.get(i + 1) != Some(&b'\n') {
            bytes.push(byte);
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn png_of(output: Vec<u8>) -> Result<Screenshot, Error> {
        read_png(output.into()).map_err(Error::from)
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
    fn screenshot_through_a_terminal_is_restored() {
        // 2,570 is 0x0A0A: line breaks inside numbers, and a genuine \r\n.
        let mut png = png(2570, 2573);
        let end = png.len() - 12;
        png.splice(end..end, chunk(b"tEXta\r\nb\n\n\r\r\n"));
        let through: Vec<u8> = png
            .iter()
            .flat_map(|&byte| if byte == b'\n' { vec![b'\r', b'\n'] } else { vec![byte] })
            .collect();
        let picture = png_of(through).unwrap();
        assert_eq!(picture.image.bytes, png);
        assert_eq!(picture.size, Size { width: 2570, height: 2573 });
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

    #[test]
    fn raw_pixels_become_a_png_even_through_a_terminal() {
        // Width 10: a line break in the header, and one in the pixels.
        let mut raw = [10_u32, 1, 1].map(u32::to_le_bytes).concat();
        raw.extend([b'\n', 1, 2, 255].repeat(10));
        let pixels_of = |said, by_terminal| read_pixels(said, by_terminal).map_err(Error::from);
        let direct = pixels_of(&raw, false).unwrap();
        assert_eq!(direct.size, Size { width: 10, height: 1 });
        let pixels = Pixels::read(&direct.image).unwrap();
        assert_eq!(pixels.rgb()[..3], [b'\n', 1, 2]);
        let double = |&byte: &u8| if byte == b'\n' { vec![b'\r', b'\n'] } else { vec![byte] };
        let through: Vec<u8> = raw.iter().flat_map(double).collect();
        assert_eq!(pixels_of(&through, true).unwrap(), direct);
        assert!(pixels_of(&through, false).is_err());
    }

    #[test]
    fn unknown_pixel_format_is_rejected_by_number() {
        let mut raw = [1_u32, 1, 0x16].map(u32::to_le_bytes).concat();
        raw.extend([0; 8]);
        let error = read_pixels(&raw, false).map_err(Error::from).unwrap_err();
        assert!(error.to_string().contains("unknown pixel format 0x16"), "{error}");
    }
}
