//! Frames of a `shell,v2` stream: one id byte, a little-endian length, the data.
//!
//! Source: `shell_protocol.h` in AOSP's adb. A frame may be as long as its length says; data is
//! passed on as it arrives, so no frame has to fit into memory.

use bytes::{Buf, BufMut, Bytes, BytesMut};

use super::MalformedMessage;

/// Length of a frame's header.
pub const HEADER: usize = 5;
/// Limit on frames that are read as a whole (exit and window size take a few bytes).
const MAX_WHOLE: usize = 256;

/// The kind of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Id {
    /// Host to phone: standard input.
    Stdin = 0,
    /// Phone to host: standard output.
    Stdout = 1,
    /// Phone to host: standard error.
    Stderr = 2,
    /// Phone to host: the exit status in one byte; the last frame.
    Exit = 3,
    /// Host to phone: end of standard input.
    CloseStdin = 4,
    /// Host to phone: the terminal size, as text.
    WindowSize = 5,
}

impl Id {
    fn from_byte(byte: u8) -> Option<Self> {
        [Self::Stdin, Self::Stdout, Self::Stderr, Self::Exit, Self::CloseStdin, Self::WindowSize]
            .into_iter()
            .find(|id| *id as u8 == byte)
    }
}

/// A frame, or a part of one of the three data frames.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frame {
    /// Standard input.
    Stdin(Bytes),
    /// Standard output.
    Stdout(Bytes),
    /// Standard error.
    Stderr(Bytes),
    /// The exit status.
    Exit(u8),
    /// End of standard input.
    CloseStdin,
    /// The host's terminal was resized.
    WindowSize {
        /// Height in characters.
        rows: u16,
        /// Width in characters.
        columns: u16,
    },
}

/// The header of a frame with `length` bytes of data.
pub fn header(id: Id, length: u32) -> [u8; HEADER] {
    let [a, b, c, d] = length.to_le_bytes();
    [id as u8, a, b, c, d]
}

/// Appends a frame to `out`. `data` must not exceed 4 GiB; callers write in chunks.
pub fn emit(out: &mut BytesMut, id: Id, data: &[u8]) {
    out.reserve(HEADER + data.len());
    out.put_slice(&header(id, u32::try_from(data.len()).unwrap_or(u32::MAX)));
    out.put_slice(data);
}

/// Decodes a stream's frames, and tracks how much of a data frame is still to come.
#[derive(Debug, Default)]
pub struct Decoder {
    within: Option<(Id, usize)>,
}

impl Decoder {
    /// Takes the next frame, or part of a data frame, off the front of `bytes`; `None` if more
    /// bytes are needed.
    ///
    /// # Errors
    /// An unknown id, or a malformed exit or window-size frame.
    pub fn decode(&mut self, bytes: &mut BytesMut) -> Result<Option<Frame>, MalformedMessage> {
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
                return Err(MalformedMessage(format!("a shell frame with unknown id {byte}")));
            };
            if matches!(id, Id::Stdin | Id::Stdout | Id::Stderr) {
                bytes.advance(HEADER);
                self.within = (length > 0).then_some((id, length));
                continue;
            }
            if length > MAX_WHOLE {
                return Err(MalformedMessage(format!("a shell frame {id:?} of {length} bytes")));
            }
            if bytes.len() < HEADER + length {
                return Ok(None);
            }
            bytes.advance(HEADER);
            let data = bytes.split_to(length);
            return match id {
                Id::Exit => match data.first() {
                    Some(status) => Ok(Some(Frame::Exit(*status))),
                    None => Err(MalformedMessage("an exit frame without a status".into())),
                },
                Id::WindowSize => match read_window_size(&data) {
                    Some((rows, columns)) => Ok(Some(Frame::WindowSize { rows, columns })),
                    None => Err(MalformedMessage(format!(
                        "a window size {:?}",
                        data.escape_ascii().to_string()
                    ))),
                },
                _ => Ok(Some(Frame::CloseStdin)),
            };
        }
    }
}

/// Reads `rowsxcolumns,widthxheight` with an optional NUL, as `adb shell` sends it.
fn read_window_size(text: &[u8]) -> Option<(u16, u16)> {
    let text = std::str::from_utf8(text).ok()?;
    let (rows, columns) = text.trim_end_matches('\0').split(',').next()?.split_once('x')?;
    Some((rows.parse().ok()?, columns.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decode_all(bytes: &[u8]) -> Result<Vec<Frame>, MalformedMessage> {
        let mut bytes = BytesMut::from(bytes);
        let mut decoder = Decoder::default();
        let mut frames = Vec::new();
        while let Some(frame) = decoder.decode(&mut bytes)? {
            frames.push(frame);
        }
        Ok(frames)
    }

    #[test]
    fn frames_have_these_bytes() {
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
    fn long_frame_is_passed_on_as_it_arrives() {
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
    fn window_size_is_read_as_adb_writes_it() {
        // `adb shell` formats "%dx%d,%dx%d" and includes the NUL.
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
    fn malformed_frames_are_reported_with_their_values() {
        let check = |bytes: &[u8], expected: &str| {
            assert_eq!(decode_all(bytes).unwrap_err().0, expected);
        };
        check(&[9, 0, 0, 0, 0], "a shell frame with unknown id 9");
        check(&[3, 0, 0, 0, 0], "an exit frame without a status");
        check(&[3, 0, 0, 1, 0], "a shell frame Exit of 65536 bytes");
    }

    #[test]
    fn empty_data_frame_yields_nothing() {
        assert_eq!(decode_all(&[1, 0, 0, 0, 0, 4, 0, 0, 0, 0]), Ok(vec![Frame::CloseStdin]));
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(noise in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = decode_all(&noise);
        }
    }
}
