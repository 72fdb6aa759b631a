//! Frames between a host and the helper: the lengths of a header and of a body, four bytes each,
//! big-endian, then both. The header is a JSON object, the body any bytes; together up to 8 MiB.
//!
//! Start with [`Frames::next`]. A bad frame ends the connection; it is never skipped.

use serde_json::{Map, Value};
use thumbwire_adb::daemon::sockets::Pipe;
use thumbwire_virtual_shell::io::Abort;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, ReadHalf, WriteHalf};

/// Maximum bytes of a header and a body together.
pub(super) const MAX_SIZE: usize = 8 << 20;
/// Bytes of the two lengths.
const LENGTHS: usize = 8;

/// The header of a message.
pub(super) type Header = Map<String, Value>;

/// Why there are no more messages.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ReadError {
    /// The host closed the connection, possibly in the middle of a frame.
    Closed,
    /// The host announced this many bytes.
    TooLarge(u64),
    /// The frame is not a message.
    Malformed(String),
}

/// The messages from a host.
pub(super) struct Frames {
    from: ReadHalf<Pipe>,
    /// Received bytes that are not parsed yet.
    came: Vec<u8>,
}

impl Frames {
    pub(super) fn new(from: ReadHalf<Pipe>) -> Self {
        Self { from, came: Vec::new() }
    }

    /// The next message's header; bodies are discarded, because no message from a host has one.
    /// Cancel-safe.
    pub(super) async fn next(&mut self) -> Result<Header, ReadError> {
        loop {
            if let Some((header, length)) = first(&self.came)? {
                self.came.drain(..length);
                return Ok(header);
            }
            match self.from.read_buf(&mut self.came).await {
                Ok(1..) => {}
                _ => return Err(ReadError::Closed),
            }
        }
    }
}

/// The first message of the received bytes, and its frame's length; `None` if it is incomplete.
pub(super) fn first(came: &[u8]) -> Result<Option<(Header, usize)>, ReadError> {
    let Some((lengths, rest)) = came.split_at_checked(LENGTHS) else { return Ok(None) };
    let number = |at: usize| {
        let bytes = lengths.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
        bytes.map_or(u64::MAX, |bytes| u64::from(u32::from_be_bytes(bytes)))
    };
    let (header, body) = (number(0), number(4));
    if header + body > MAX_SIZE as u64 {
        return Err(ReadError::TooLarge(header + body));
    }
    let (header, body) = (header as usize, body as usize);
    let Some(text) = rest.get(..header + body).and_then(|both| both.get(..header)) else {
        return Ok(None);
    };
    match serde_json::from_slice(text) {
        Ok(Value::Object(header_of)) => Ok(Some((header_of, LENGTHS + header + body))),
        Ok(_) => Err(ReadError::Malformed("the header is not a JSON object".to_owned())),
        Err(reason) => Err(ReadError::Malformed(format!("the header is not valid JSON: {reason}"))),
    }
}

/// A message.
pub(super) fn frame(header: &Value, body: &[u8]) -> Vec<u8> {
    let header = header.to_string();
    let mut bytes = Vec::with_capacity(LENGTHS + header.len() + body.len());
    // Headers are built from limited parts of a request, and bodies are at most as large as a
    // frame.
    bytes.extend(u32::try_from(header.len()).unwrap_or(u32::MAX).to_be_bytes());
    bytes.extend(u32::try_from(body.len()).unwrap_or(u32::MAX).to_be_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(body);
    bytes
}

/// Writes a message; fails if the host has disconnected.
pub(super) async fn send(
    to: &mut WriteHalf<Pipe>,
    header: &Value,
    body: &[u8],
) -> Result<(), Abort> {
    to.write_all(&frame(header, body)).await.map_err(|_| Abort::Closed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn frame_has_two_lengths_a_header_and_a_body() {
        let bytes = frame(&json!({"id": 1}), b"");
        assert_eq!(bytes, b"\0\0\0\x08\0\0\0\0{\"id\":1}");
        let with_body = b"\0\0\0\x02\0\0\0\x03{}abc\0\0";
        assert_eq!(first(with_body), Ok(Some((Header::new(), 13))));
        for cut in 0..13 {
            assert_eq!(first(&with_body[..cut]), Ok(None), "{cut}");
        }
    }

    #[test]
    fn too_large_frame_is_refused_from_its_lengths() {
        assert_eq!(first(b"\0\x80\0\0\0\0\0\x01"), Err(ReadError::TooLarge((8 << 20) + 1)));
        assert_eq!(first(b"\0\x80\0\0\0\0\0\0"), Ok(None));
        assert_eq!(first(&[0xff; 8]), Err(ReadError::TooLarge(2 * u64::from(u32::MAX))));
    }

    #[test]
    fn a_header_is_an_object() {
        for header in ["[]", "1", "\"x\"", "{", "", "{}x"] {
            let mut bytes = (header.len() as u32).to_be_bytes().to_vec();
            bytes.extend(0_u32.to_be_bytes());
            bytes.extend(header.as_bytes());
            assert!(matches!(first(&bytes), Err(ReadError::Malformed(_))), "{header:?}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(Some((_, length))) = first(&bytes) {
                prop_assert!(length <= bytes.len());
            }
        }
    }
}
