//! Pictures of the screen, its size, and the phone's properties.

use bytes::Bytes;

use super::{Android, Line};
use crate::error::excerpt;
use crate::{Error, Screenshot, Size};

/// A PNG on standard output.
pub(super) fn png_command() -> Line {
    Line::new("screencap -p")
}

const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";

/// Finds the PNG in what `screencap -p` printed and checks that it is whole.
///
/// Words may stand before it: Android 15 warns there when it has several displays.
pub(super) fn read_png(said: Bytes) -> Result<Screenshot, Error> {
    let unreadable = |said: &[u8]| Error::Unreadable {
        command: png_command().as_str().into(),
        said: excerpt(said),
    };
    let start = said.windows(SIGNATURE.len()).position(|window| window == SIGNATURE);
    let Some(start) = start else { return Err(unreadable(&said[..said.len().min(400)])) };
    let png = said.slice(start..);
    // Every PNG begins with its IHDR chunk (width and height, big-endian) and ends with IEND, so a picture that
    // was cut on the way shows at its end.
    let field = |at: usize| {
        let bytes = png.get(at..at + 4)?.try_into().ok()?;
        i32::try_from(u32::from_be_bytes(bytes)).ok().filter(|&n| n > 0)
    };
    let whole = png.get(12..16) == Some(b"IHDR") && png.ends_with(b"IEND\xaeB`\x82");
    match (whole, field(16), field(20)) {
        (true, Some(width), Some(height)) => Ok(Screenshot { png, size: Size { width, height } }),
        _ => Err(unreadable(b"a PNG that is cut short")),
    }
}

impl Android {
    pub(super) async fn read_screen_size(&self) -> Result<Size, Error> {
        let said = self.ask(size_command()).await?;
        read_size(&said.out).ok_or_else(|| Error::Unreadable {
            command: size_command().as_str().into(),
            said: excerpt(if said.out.trim().is_empty() { &said.err } else { &said.out }),
        })
    }
}

/// The window manager's displays: unlike `wm size`, they tell the size as the screen is turned now.
fn size_command() -> Line {
    Line::new("dumpsys window displays")
}

/// Reads `cur=WIDTHxHEIGHT` of the first display, which is the built-in one.
fn read_size(said: &str) -> Option<Size> {
    let words = said.lines().flat_map(str::split_whitespace);
    let (width, height) =
        words.filter_map(|word| word.strip_prefix("cur=")).next()?.split_once('x')?;
    Some(Size { width: width.parse().ok()?, height: height.parse().ok()? })
}

/// Reads `getprop`'s list of `[name]: [value]`; a value may run over several lines.
pub(super) fn read_properties(said: &str) -> Vec<(String, String)> {
    let mut properties: Vec<(String, String)> = Vec::new();
    let mut open = false;
    for line in said.lines() {
        let line = line.trim_end_matches('\r');
        let entry = line.strip_prefix('[').and_then(|line| line.split_once("]: ["));
        match entry {
            Some((name, value)) if !open => {
                open = !value.ends_with(']');
                properties.push((name.into(), value.strip_suffix(']').unwrap_or(value).into()));
            }
            _ => {
                if let Some((_, value)) = properties.last_mut().filter(|_| open) {
                    open = !line.ends_with(']');
                    value.push('\n');
                    value.push_str(line.strip_suffix(']').unwrap_or(line));
                }
            }
        }
    }
    properties.sort();
    properties
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_size_is_read_as_the_screen_is_turned() {
        let size = |said| read_size(said).map(|size| (size.width, size.height));
        let upright =
            "  Display: mDisplayId=0\r\n    init=480x800 213dpi cur=480x800 app=480x800\r\n";
        assert_eq!(size(upright), Some((480, 800)));
        let turned =
            "    init=1080x2400 420dpi base=540x1200 cur=1200x540 app=1200x540 rng=\n cur=1x1";
        assert_eq!(size(turned), Some((1200, 540)));
        assert_eq!(size("dumpsys: not found"), None);
        assert_eq!(size("cur=manyxfew"), None);
    }

    #[test]
    fn properties_may_hold_brackets_and_line_ends() {
        let said = "[b]: [two\r\nlines]\r\n[a]: [x [y]: z]\r\n[c]: []\r\n";
        let read = read_properties(said);
        let expected = [("a", "x [y]: z"), ("b", "two\nlines"), ("c", "")];
        assert_eq!(read.len(), 3);
        for ((name, value), expected) in read.iter().zip(expected) {
            assert_eq!((name.as_str(), value.as_str()), expected);
        }
    }

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
        assert!(picture.png.starts_with(SIGNATURE));
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
