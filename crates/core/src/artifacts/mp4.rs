//! Checks that an MP4 is complete by walking its top-level boxes (ISO/IEC 14496-12, 4.2), up to a
//! limit.
//!
//! `screenrecord` writes the `moov` box, which players need, at the very end; a truncated recording
//! lacks it or ends inside a box. The contents of the boxes are not checked.

use std::fmt;
use std::io::{self, Read, Seek, SeekFrom};

/// More top-level boxes than any recording has: `screenrecord` writes three or four.
const MAX_BOXES: usize = 10_000;

/// Why a file is not a complete MP4.
#[derive(Debug)]
pub(super) enum Mp4Error {
    /// The file is empty.
    Empty,
    /// It does not start like an MP4.
    NotMp4,
    /// A box is longer than the rest of the file, or shorter than its own header.
    Truncated {
        /// The offset of the box, in bytes.
        at: u64,
    },
    /// It has no index (`moov`) or no media data (`mdat`).
    MissingBox(&'static str),
    /// The file could not be read.
    Io(io::Error),
}

impl fmt::Display for Mp4Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("it is empty"),
            Self::NotMp4 => f.write_str("it is not an MP4 file"),
            Self::Truncated { at } => write!(f, "it is truncated: cut off in the box at byte {at}"),
            Self::MissingBox(name) => {
                write!(f, "it is incomplete: it has no `{name}` box, which is written last")
            }
            Self::Io(error) => write!(f, "{error}"),
        }
    }
}

impl From<io::Error> for Mp4Error {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Checks that the file is a complete MP4.
pub(super) fn check(file: &mut (impl Read + Seek)) -> Result<(), Mp4Error> {
    let length = file.seek(SeekFrom::End(0))?;
    if length == 0 {
        return Err(Mp4Error::Empty);
    }
    let (mut at, mut index, mut pictures) = (0, false, false);
    for number in 0..MAX_BOXES {
        let cut = || Mp4Error::Truncated { at };
        if at == length {
            return match (index, pictures) {
                (true, true) => Ok(()),
                (false, _) => Err(Mp4Error::MissingBox("moov")),
                (true, false) => Err(Mp4Error::MissingBox("mdat")),
            };
        }
        let left = length - at;
        if left < 8 {
            return Err(if number == 0 { Mp4Error::NotMp4 } else { cut() });
        }
        file.seek(SeekFrom::Start(at))?;
        let mut head = [0; 16];
        file.read_exact(&mut head[..8])?;
        let [a, b, c, d, name @ ..] =
            [head[0], head[1], head[2], head[3], head[4], head[5], head[6], head[7]];
        if number == 0 && &name != b"ftyp" {
            return Err(Mp4Error::NotMp4);
        }
        let size = match u32::from_be_bytes([a, b, c, d]) {
            // The box extends to the end of the file.
            0 => left,
            // A 64-bit size follows.
            1 if left >= 16 => {
                file.read_exact(&mut head[8..])?;
                let mut size = [0; 8];
                size.copy_from_slice(&head[8..]);
                Some(u64::from_be_bytes(size)).filter(|size| *size >= 16).ok_or_else(cut)?
            }
            1 => return Err(cut()),
            size => u64::from(size),
        };
        if size < 8 || size > left {
            return Err(cut());
        }
        index |= &name == b"moov";
        pictures |= &name == b"mdat";
        at += size;
    }
    Err(Mp4Error::NotMp4)
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    fn a_box(name: &[u8; 4], content: usize) -> Vec<u8> {
        let mut bytes = (8 + content as u32).to_be_bytes().to_vec();
        bytes.extend(name);
        bytes.resize(8 + content, 7);
        bytes
    }

    /// A box with a 64-bit size, as MediaMuxer writes `mdat`.
    fn large(name: &[u8; 4], content: usize) -> Vec<u8> {
        let mut bytes = 1_u32.to_be_bytes().to_vec();
        bytes.extend(name);
        bytes.extend((16 + content as u64).to_be_bytes());
        bytes.resize(16 + content, 7);
        bytes
    }

    fn check_is(file: Vec<u8>, expected: &str) {
        let output = match check(&mut Cursor::new(file)) {
            Ok(()) => "whole".to_owned(),
            Err(fault) => fault.to_string(),
        };
        assert!(output.contains(expected), "{output}");
    }

    #[test]
    fn recordings_with_moov_and_mdat_are_complete() {
        let start = a_box(b"ftyp", 16);
        check_is([start.clone(), a_box(b"mdat", 90), a_box(b"moov", 40)].concat(), "whole");
        check_is([start.clone(), large(b"mdat", 90), a_box(b"moov", 40)].concat(), "whole");
        check_is([start.clone(), a_box(b"moov", 40), a_box(b"mdat", 90)].concat(), "whole");
        let mut to_the_end = a_box(b"mdat", 90);
        to_the_end[..4].fill(0);
        check_is([start, a_box(b"moov", 40), to_the_end].concat(), "whole");
    }

    #[test]
    fn truncated_recordings_are_refused() {
        let start = a_box(b"ftyp", 16);
        check_is(start.clone(), "no `moov`");
        check_is([start.clone(), a_box(b"mdat", 90)].concat(), "no `moov`");
        check_is([start.clone(), a_box(b"moov", 40)].concat(), "no `mdat`");
        let whole = [start, a_box(b"mdat", 90), a_box(b"moov", 40)].concat();
        // No truncated file passes; one byte less ends inside the last box.
        for length in 0..whole.len() {
            assert!(check(&mut Cursor::new(&whole[..length])).is_err(), "{length}");
        }
        check_is(whole[..whole.len() - 1].to_vec(), "cut off in the box at byte 122");
    }

    #[test]
    fn other_files_are_refused_in_bounded_time() {
        check_is(Vec::new(), "it is empty");
        check_is(b"adb: error".to_vec(), "not an MP4");
        check_is(vec![0, 0, 0], "not an MP4");
        check_is([a_box(b"ftyp", 16), a_box(b"free", 0).repeat(MAX_BOXES)].concat(), "not an MP4");
        let mut endless = a_box(b"ftyp", 16);
        endless.extend([0, 0, 0, 7]);
        endless.extend(b"mdat");
        check_is(endless, "cut off");
        let mut large = a_box(b"ftyp", 16);
        large.extend([0, 0, 0, 1]);
        large.extend(b"mdat");
        large.extend(u64::MAX.to_be_bytes());
        check_is(large, "cut off");
    }
}
