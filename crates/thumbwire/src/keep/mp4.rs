//! Whether an MP4 is whole: a walk over its outermost boxes (ISO/IEC 14496-12, 4.2), bounded in number.
//!
//! `screenrecord` writes the box `moov`, without which no player opens the file, at its very end; a recording that was cut off
//! lacks it, or ends inside a box. What is in the boxes is not looked at.

use std::fmt;
use std::io::{self, Read, Seek, SeekFrom};

/// More outermost boxes than any recording has: it writes three or four.
const MOST_BOXES: usize = 10_000;

/// What a file lacks.
#[derive(Debug)]
pub(super) enum Fault {
    /// Nothing was written.
    Empty,
    /// It does not begin as an MP4 does.
    NoMp4,
    /// A box is longer than what is left of the file, or shorter than its own head.
    Cut {
        /// Where the box begins, in bytes.
        at: u64,
    },
    /// There is no index, or no pictures.
    Lacks(&'static str),
    /// The file could not be read.
    Io(io::Error),
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("it is empty"),
            Self::NoMp4 => f.write_str("it is no MP4"),
            Self::Cut { at } => write!(f, "it is not whole: cut off in the box at byte {at}"),
            Self::Lacks(name) => {
                write!(f, "it is not whole: it has no `{name}`, which is written at the end")
            }
            Self::Io(error) => write!(f, "{error}"),
        }
    }
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// Refuses what is no whole MP4.
pub(super) fn check(file: &mut (impl Read + Seek)) -> Result<(), Fault> {
    let length = file.seek(SeekFrom::End(0))?;
    if length == 0 {
        return Err(Fault::Empty);
    }
    let (mut at, mut index, mut pictures) = (0, false, false);
    for number in 0..MOST_BOXES {
        let cut = || Fault::Cut { at };
        if at == length {
            return match (index, pictures) {
                (true, true) => Ok(()),
                (false, _) => Err(Fault::Lacks("moov")),
                (true, false) => Err(Fault::Lacks("mdat")),
            };
        }
        let left = length - at;
        if left < 8 {
            return Err(if number == 0 { Fault::NoMp4 } else { cut() });
        }
        file.seek(SeekFrom::Start(at))?;
        let mut head = [0; 16];
        file.read_exact(&mut head[..8])?;
        let [a, b, c, d, name @ ..] =
            [head[0], head[1], head[2], head[3], head[4], head[5], head[6], head[7]];
        if number == 0 && &name != b"ftyp" {
            return Err(Fault::NoMp4);
        }
        let size = match u32::from_be_bytes([a, b, c, d]) {
            // To the end of the file.
            0 => left,
            // The true size follows.
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
    Err(Fault::NoMp4)
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

    /// A box whose size stands in 64 bits, as MediaMuxer writes `mdat`.
    fn large(name: &[u8; 4], content: usize) -> Vec<u8> {
        let mut bytes = 1_u32.to_be_bytes().to_vec();
        bytes.extend(name);
        bytes.extend((16 + content as u64).to_be_bytes());
        bytes.resize(16 + content, 7);
        bytes
    }

    fn check_is(file: Vec<u8>, expected: &str) {
        let said = match check(&mut Cursor::new(file)) {
            Ok(()) => "whole".to_owned(),
            Err(fault) => fault.to_string(),
        };
        assert!(said.contains(expected), "{said}");
    }

    #[test]
    fn a_recording_with_pictures_and_an_index_is_whole() {
        let start = a_box(b"ftyp", 16);
        check_is([start.clone(), a_box(b"mdat", 90), a_box(b"moov", 40)].concat(), "whole");
        check_is([start.clone(), large(b"mdat", 90), a_box(b"moov", 40)].concat(), "whole");
        check_is([start.clone(), a_box(b"moov", 40), a_box(b"mdat", 90)].concat(), "whole");
        let mut to_the_end = a_box(b"mdat", 90);
        to_the_end[..4].fill(0);
        check_is([start, a_box(b"moov", 40), to_the_end].concat(), "whole");
    }

    #[test]
    fn a_recording_that_was_cut_off_is_told_by_what_it_lacks() {
        let start = a_box(b"ftyp", 16);
        check_is(start.clone(), "no `moov`");
        check_is([start.clone(), a_box(b"mdat", 90)].concat(), "no `moov`");
        check_is([start.clone(), a_box(b"moov", 40)].concat(), "no `mdat`");
        let whole = [start, a_box(b"mdat", 90), a_box(b"moov", 40)].concat();
        // Wherever it is cut, it is not taken for whole; one byte less is inside the last box.
        for length in 0..whole.len() {
            assert!(check(&mut Cursor::new(&whole[..length])).is_err(), "{length}");
        }
        check_is(whole[..whole.len() - 1].to_vec(), "cut off in the box at byte 122");
    }

    #[test]
    fn what_is_no_mp4_is_not_walked_for_ever() {
        check_is(Vec::new(), "it is empty");
        check_is(b"adb: error".to_vec(), "no MP4");
        check_is(vec![0, 0, 0], "no MP4");
        check_is([a_box(b"ftyp", 16), a_box(b"free", 0).repeat(MOST_BOXES)].concat(), "no MP4");
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
