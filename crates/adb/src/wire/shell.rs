//! The frames of a `shell,v2` stream: one byte of id, a little-endian length, the data.
//!
//! Source: `shell_protocol.h` in AOSP's adb. A frame may be as long as its length says; data is
//! handed on in the pieces in which it comes, so that no frame has to fit into memory.

use bytes::{Buf, BufMut, Bytes, BytesMut};

use super::Malformed;

/// Bytes before a frame's data.
pub const HEADER: usize = 5;
/// The longest frame that is read whole (exit and window size are a few bytes).
const MAX_WHOLE: usize = 256;

/// Which frame it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Id {
    /// Host to phone: data for the command.
    Stdin = 0,
    /// Phone to host: the command's output.
    Stdout = 1,
    /// Phone to host: the command's errors.
    Stderr = 2,
    /// Phone to host: one byte of exit status; the last frame.
    Exit = 3,
    /// Host to phone: no more data will come.
    CloseStdin = 4,
    /// Host to phone: the terminal's size, as text.
    WindowSize = 5,
}

impl Id {
    fn from_byte(byte: u8) -> Option<Self> {
        [Self::Stdin, Self::Stdout, Self::Stderr, Self::Exit, Self::CloseStdin, Self::WindowSize]
            .into_iter()
            .find(|id| *id as u8 == byte)
    }
}

/// A frame, or for the three data frames a piece of one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frame {
    /// Data for the command.
    Stdin(Bytes),
    /// The command's output.
    Stdout(Bytes),
    /// The command's errors.
    Stderr(Bytes),
    /// The command's exit status.
    Exit(u8),
    /// No more data will come for the command.
    CloseStdin,
    /// The host's terminal was resized.
    WindowSize {
        /// Height in characters.
        rows: u16,
        /// Width in characters.
        columns: u16,
    },
}

/// The five bytes before `length` bytes of data.
pub fn header(id: Id, length: u32) -> [u8; HEADER] {
    let [a, b, c, d] = length.to_le_bytes();
    [id as u8, a, b, c, d]
}

/// Appends a frame to `out`. `data` is at most 4 GiB, which callers keep by writing in chunks.
pub fn emit(out: &mut BytesMut, id: Id, data: &[u8]) {
    out.reserve(HEADER + data.len());
    out.put_slice(&header(id, u32::try_from(data.len()).unwrap_or(u32::MAX)));
    out.put_slice(data);
}

/// Reads frames out of a stream's bytes, and remembers how much of a data frame is still to come.
#[derive(Debug, Default)]
pub struct Decoder {
    within: Option<(Id, usize)>,
}

impl Decoder {
    /// Takes the next frame, or piece of a data frame, off the front of `bytes`; `None` when more
    /// bytes are needed.
    ///
    /// # Errors
    /// An id that nobody knows, or an exit or window-size frame of the wrong form.
    pub fn decode(&mut self, bytes: &mut BytesMut) -> Result<Option<Frame>, Malformed> {
        loop {
            if let Some((id, left)) = self.within {
                if bytes.is_empty() {
                    return Ok(None);
                }
                let data = bytes.split_to(left.min(bytes.len())).freeze();
                let left = left - data.len();
                self.within = (left > 0).then_some((id, left));
                return Ok(Some(match id {
                    Id::Stdin => Frame::Stdin(data),
                    Id::Stderr => Frame::Stderr(data),
                    _ => Frame::Stdout(data),
                }));
            }
            let Some(mut head) = bytes.get(..HEADER) else { return Ok(None) };
            let byte = head.get_u8();
            let length = head.get_u32_le() as usize;
            let Some(id) = Id::from_byte(byte) else {
                return Err(Malformed(format!("a shell frame with the unknown id {byte}")));
            };
            if matches!(id, Id::Stdin | Id::Stdout | Id::Stderr) {
                bytes.advance(HEADER);
                self.within = (length > 0).then_some((id, length));
                continue;
            }
            if length > MAX_WHOLE {
                return Err(Malformed(format!("a shell frame {id:?} of {length} bytes")));
            }
            if bytes.len() < HEADER + length {
                return Ok(None);
            }
            bytes.advance(HEADER);
            let data = bytes.split_to(length);
            return match id {
                Id::Exit => match data.first() {
                    Some(status) => Ok(Some(Frame::Exit(*status))),
                    None => Err(Malformed("an exit frame without a status".into())),
                },
                Id::WindowSize => match read_window_size(&data) {
                    Some((rows, columns)) => Ok(Some(Frame::WindowSize { rows, columns })),
                    None => Err(Malformed(format!(
                        "a window size {:?}",
                        data.escape_ascii().to_string()
                    ))),
                },
                _ => Ok(Some(Frame::CloseStdin)),
            };
        }
    }
}

/// Reads `rowsxcolumns,widthxheight` and perhaps a NUL, as `adb shell` sends it.
fn read_window_size(text: &[u8]) -> Option<(u16, u16)> {
    let text = std::str::from_utf8(text).ok()?;
    let (rows, columns) = text.trim_end_matches('\0').split(',').next()?.split_once('x')?;
    Some((rows.parse().ok()?, columns.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decode_all(bytes: &[u8]) -> Result<Vec<Frame>, Malformed> {
        let mut bytes = BytesMut::from(bytes);
        let mut decoder = Decoder::default();
        let mut frames = Vec::new();
        while let Some(frame) = decoder.decode(&mut bytes)? {
            frames.push(frame);
        }
        Ok(frames)
    }

    #[test]
    fn frames_are_these_bytes() {
        let mut out = BytesMut::new();
        emit(&mut out, Id::Stdout, b"hi\n");
        emit(&mut out, Id::Stderr, b"no");
        emit(&mut out, Id::Exit, &[3]);
        assert_eq!(
            &out[..],
            [
                &[1u8, 3, 0, 0, 0, b'h', b'i', b'\n'][..],
                &[2, 2, 0, 0, 0, b'n', b'o'],
                &[3, 1, 0, 0, 0, 3],
            ]
            .concat()
        );
        assert_eq!(
            decode_all(&out).unwrap(),
            [
                Frame::Stdout(Bytes::from_static(b"hi\n")),
                Frame::Stderr(Bytes::from_static(b"no")),
                Frame::Exit(3)
            ]
        );
    }

    #[test]
    fn a_long_frame_comes_in_pieces_and_none_is_kept_back() {
        let mut decoder = Decoder::default();
        let mut bytes = BytesMut::from(&header(Id::Stdout, u32::MAX)[..]);
        bytes.put_slice(b"first");
        assert_eq!(
            decoder.decode(&mut bytes),
            Ok(Some(Frame::Stdout(Bytes::from_static(b"first"))))
        );
        assert_eq!(decoder.decode(&mut bytes), Ok(None));
        bytes.put_slice(b"second");
        assert_eq!(
            decoder.decode(&mut bytes),
            Ok(Some(Frame::Stdout(Bytes::from_static(b"second"))))
        );
    }

    #[test]
    fn a_window_size_is_read_as_adb_writes_it() {
        // `adb shell` formats "%dx%d,%dx%d" and sends the NUL too.
        let check = |text: &[u8], expected: Result<Frame, ()>| {
            let mut out = BytesMut::new();
            emit(&mut out, Id::WindowSize, text);
            let read = decode_all(&out).map(|mut frames| frames.remove(0)).map_err(|_| ());
            assert_eq!(read, expected);
        };
        check(b"24x80,0x0\0", Ok(Frame::WindowSize { rows: 24, columns: 80 }));
        check(b"24x80", Ok(Frame::WindowSize { rows: 24, columns: 80 }));
        check(b"wide", Err(()));
        check(b"99999x1,0x0", Err(()));
    }

    #[test]
    fn odd_frames_are_refused_with_what_was_seen() {
        let check = |bytes: &[u8], expected: &str| {
            assert_eq!(decode_all(bytes).unwrap_err().0, expected);
        };
        check(&[9, 0, 0, 0, 0], "a shell frame with the unknown id 9");
        check(&[3, 0, 0, 0, 0], "an exit frame without a status");
        check(&[3, 0, 0, 1, 0], "a shell frame Exit of 65536 bytes");
    }

    #[test]
    fn an_empty_data_frame_says_nothing() {
        assert_eq!(decode_all(&[1, 0, 0, 0, 0, 4, 0, 0, 0, 0]), Ok(vec![Frame::CloseStdin]));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(noise in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = decode_all(&noise);
        }
    }
}
