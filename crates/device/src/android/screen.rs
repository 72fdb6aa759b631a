//! Pictures of the screen.

use std::sync::atomic::Ordering;

use bytes::Bytes;

use super::raw::{NoPicture, read_raw};
use super::{Android, Line};
use crate::error::excerpt;
use crate::picture::sums::{self, SIGNATURE};
use crate::{Error, Format, Image, Screenshot, Size};

/// A PNG on standard output.
fn png_command() -> Line {
    Line::new("screencap -p")
}

/// The bare pixels.
fn raw_command() -> Line {
    Line::new("screencap")
}

/// A PNG's beginning as an old phone's terminal passes it on.
const SIGNATURE_BY_TERMINAL: &[u8] = b"\x89PNG\r\r\n\x1a\r\n";

/// Finds the PNG in what `screencap -p` printed and checks that it is whole.
///
/// Words may stand before it: Android 15 warns there when it has several displays.
fn read_png(said: Bytes) -> Result<Screenshot, Missing> {
    let unreadable = |said: &[u8]| unreadable(&png_command(), said);
    let find = |signature: &[u8]| said.windows(signature.len()).position(|part| part == signature);
    // One after the other: each that is not there costs a look at every byte.
    let png = if let Some(start) = find(SIGNATURE) {
        said.slice(start..)
    } else if let Some(start) = find(SIGNATURE_BY_TERMINAL) {
        undo_terminal(&said[start..]).into()
    } else {
        return Err(Missing::Nothing(unreadable(&said)));
    };
    // Every PNG begins with its IHDR chunk (width and height, big-endian) and ends with IEND, so a picture that
    // was cut on the way shows at its end; one that was spoilt shows in its sums.
    let field = |at: usize| {
        let bytes = png.get(at..at + 4)?.try_into().ok()?;
        i32::try_from(u32::from_be_bytes(bytes)).ok().filter(|&n| n > 0)
    };
    let whole = png.get(12..16) == Some(b"IHDR") && png.ends_with(b"IEND\xaeB`\x82");
    match (whole, field(16), field(20)) {
        (true, Some(_), Some(_)) if !sums::agree(&png) => {
            Err(Missing::Broken(unreadable(b"a PNG with bytes that were spoilt on the way")))
        }
        (true, Some(width), Some(height)) => Ok(Screenshot {
            image: Image { format: Format::Png, bytes: png },
            size: Size { width, height },
            blank: None,
        }),
        _ => Err(Missing::Broken(unreadable(b"a PNG that is cut short"))),
    }
}

/// What came instead of a picture.
enum Missing {
    /// Nothing of one: words. This phone may have none of this kind to give.
    Nothing(Error),
    /// A picture that is not whole, or of a kind that is not known.
    Broken(Error),
}

impl From<Missing> for Error {
    fn from(missing: Missing) -> Self {
        match missing {
            Missing::Nothing(error) | Missing::Broken(error) => error,
        }
    }
}

/// Reads the bare pixels that `screencap` printed, as a picture file. `by_terminal` says that they came through one.
fn read_pixels(said: &[u8], by_terminal: bool) -> Result<Screenshot, Missing> {
    let mut read = read_raw(said);
    if by_terminal && read.is_err() {
        read = read_raw(&undo_terminal(said));
    }
    let pixels = read.map_err(|why| match why {
        NoPicture::NotRaw => Missing::Nothing(unreadable(&raw_command(), said)),
        NoPicture::Format(format) => {
            let words = format!("pixels of the unknown format {format:#x}");
            Missing::Broken(unreadable(&raw_command(), words.as_bytes()))
        }
    })?;
    let image = pixels.write(Format::Png).map_err(|why| Missing::Broken(capture_failed(&why)))?;
    Ok(Screenshot { image, size: pixels.size(), blank: None })
}

fn unreadable(command: &Line, said: &[u8]) -> Error {
    Error::Unreadable {
        command: command.as_str().into(),
        said: excerpt(&said[..said.len().min(400)]),
    }
}

/// The picture came, and making something of it failed.
pub(super) fn capture_failed(why: &dyn std::fmt::Display) -> Error {
    Error::Failed { what: "take a picture", said: why.to_string() }
}

impl Android {
    /// A picture as the phone gives it: a PNG, or from a phone that makes none the bare pixels, written as one.
    ///
    /// Which it is shows once: later pictures over this handle are asked for in the way that worked. (A phone that refuses
    /// `-p` was not seen here; the bare form is the older one.)
    pub(super) async fn take_picture(&self) -> Result<Screenshot, Error> {
        if self.png_refused.load(Ordering::Relaxed) {
            return Ok(self.take_pixels().await??);
        }
        let refused = match read_png(self.capture(png_command()).await?) {
            Err(Missing::Nothing(refused)) => refused,
            read => return Ok(read?),
        };
        match self.take_pixels().await? {
            // The words to `-p` say more than those to a second command.
            Err(Missing::Nothing(_)) => Err(refused),
            read => {
                let picture = read?;
                self.png_refused.store(true, Ordering::Relaxed);
                Ok(picture)
            }
        }
    }

    async fn take_pixels(&self) -> Result<Result<Screenshot, Missing>, Error> {
        let said = self.capture(raw_command()).await?;
        let by_terminal = self.exec_refused.load(Ordering::Relaxed);
        let read = tokio::task::spawn_blocking(move || read_pixels(&said, by_terminal));
        read.await.map_err(|why| capture_failed(&why))
    }
}

/// Takes back what a terminal did to bytes: it wrote each `\n` as `\r\n`.
pub(super) fn undo_terminal(said: &[u8]) -> Vec<u8> {
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
    use crate::picture::Pixels;

    fn png_of(said: Vec<u8>) -> Result<Screenshot, Error> {
        read_png(said.into()).map_err(Error::from)
    }

    fn png(width: u32, height: u32) -> Vec<u8> {
        let header = [&b"IHDR"[..], &width.to_be_bytes(), &height.to_be_bytes(), b"\x08\x06\0\0\0"];
        [SIGNATURE, &chunk(&header.concat()), b"\0\0\0\0IEND\xaeB`\x82"].concat()
    }

    /// A chunk with its length and its sum.
    fn chunk(named: &[u8]) -> Vec<u8> {
        let length = u32::try_from(named.len() - 4).unwrap();
        [&length.to_be_bytes(), named, &crc32fast::hash(named).to_be_bytes()].concat()
    }

    #[test]
    fn a_picture_is_found_behind_a_warning() {
        let mut said = b"[Warning] Multiple displays were found, but no display id\n".to_vec();
        said.extend(png(1080, 2400));
        let picture = png_of(said).unwrap();
        assert_eq!(picture.size, Size { width: 1080, height: 2400 });
        assert!(picture.image.bytes.starts_with(SIGNATURE));
    }

    #[test]
    fn a_picture_that_came_through_a_terminal_is_made_whole() {
        // 2,570 is 0x0A0A: line ends in the midst of numbers, and a \r\n that was there before.
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
    fn a_picture_that_was_cut_is_refused() {
        let whole = png(10, 20);
        for kept in 0..whole.len() {
            assert!(png_of(whole[..kept].to_vec()).is_err(), "{kept} bytes were taken");
        }
        assert!(png_of(whole).is_ok());
    }

    #[test]
    fn a_picture_that_was_spoilt_is_refused() {
        let mut spoilt = png(10, 20);
        spoilt[24] ^= 1;
        let error = png_of(spoilt).unwrap_err();
        assert!(error.to_string().contains("spoilt on the way"), "{error}");
    }

    #[test]
    fn the_phones_own_words_travel_in_the_error() {
        let error = png_of(b"screencap: not found\n".to_vec()).unwrap_err();
        assert!(error.to_string().contains("screencap: not found"), "{error}");
    }

    #[test]
    fn bare_pixels_become_a_png_also_through_a_terminal() {
        // 10 pixels across: a line end in the header, and one among the pixels.
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
    fn pixels_of_an_unknown_format_are_refused_by_its_number() {
        let mut raw = [1_u32, 1, 0x16].map(u32::to_le_bytes).concat();
        raw.extend([0; 8]);
        let error = read_pixels(&raw, false).map_err(Error::from).unwrap_err();
        assert!(error.to_string().contains("unknown format 0x16"), "{error}");
    }
}
