//! Frames between a host and the helper: the length of a header and of a body, big-endian and four bytes each, then both. The header is a
//! JSON object, the body any bytes; together they have at most 8 MiB.
//!
//! Begin at [`Frames::next`]. What is broken ends a connection; it is never skipped.

use super::super::super::sh::io::Stop;
use serde_json::{Map, Value};
use thumbwire_adb::daemon::sockets::Pipe;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, ReadHalf, WriteHalf};

/// Bytes of a header and a body together.
pub(super) const LARGEST: usize = 8 << 20;
/// Bytes of the two lengths.
const LENGTHS: usize = 8;

/// The header of a message.
pub(super) type Header = Map<String, Value>;

/// Why there are no more messages.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum End {
    /// The host closed its end, in the middle of a frame or not.
    Closed,
    /// The host means to send so many bytes.
    TooLarge(u64),
    /// What came is no message.
    Malformed(String),
}

/// What a host sends.
pub(super) struct Frames {
    from: ReadHalf<Pipe>,
    /// What came and was not read yet: part of a frame, or more.
    came: Vec<u8>,
}

impl Frames {
    pub(super) fn new(from: ReadHalf<Pipe>) -> Self {
        Self { from, came: Vec::new() }
    }

    /// The next message's header; bodies are let go, because no message from a host has one. Safe to be cancelled.
    pub(super) async fn next(&mut self) -> Result<Header, End> {
        loop {
            if let Some((header, length)) = first(&self.came)? {
                self.came.drain(..length);
                return Ok(header);
            }
            match self.from.read_buf(&mut self.came).await {
                Ok(1..) => {}
                _ => return Err(End::Closed),
            }
        }
    }
}

/// The first message of what came, and the bytes of its frame; `None` while there is not enough.
pub(super) fn first(came: &[u8]) -> Result<Option<(Header, usize)>, End> {
    let Some((lengths, rest)) = came.split_at_checked(LENGTHS) else { return Ok(None) };
    let number = |at: usize| {
        let bytes = lengths.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
        bytes.map_or(u64::MAX, |bytes| u64::from(u32::from_be_bytes(bytes)))
    };
    let (header, body) = (number(0), number(4));
    if header + body > LARGEST as u64 {
        return Err(End::TooLarge(header + body));
    }
    let (header, body) = (header as usize, body as usize);
    let Some(text) = rest.get(..header + body).and_then(|both| both.get(..header)) else {
        return Ok(None);
    };
    match serde_json::from_slice(text) {
        Ok(Value::Object(header_of)) => Ok(Some((header_of, LENGTHS + header + body))),
        Ok(_) => Err(End::Malformed("a header that is no JSON object".to_owned())),
        Err(why) => Err(End::Malformed(format!("a header that is no JSON: {why}"))),
    }
}

/// A message without a body.
pub(super) fn frame(header: &Value) -> Vec<u8> {
    let header = header.to_string();
    let mut bytes = Vec::with_capacity(LENGTHS + header.len());
    // A header is made from a request's bounded parts.
    bytes.extend(u32::try_from(header.len()).unwrap_or(u32::MAX).to_be_bytes());
    bytes.extend(0_u32.to_be_bytes());
    bytes.extend(header.as_bytes());
    bytes
}

/// Writes a message; an error when the host has gone.
pub(super) async fn send(to: &mut WriteHalf<Pipe>, header: &Value) -> Result<(), Stop> {
    to.write_all(&frame(header)).await.map_err(|_| Stop::Closed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    #[test]
    fn a_frame_is_two_lengths_a_header_and_a_body() {
        let bytes = frame(&json!({"id": 1}));
        assert_eq!(bytes, b"\0\0\0\x08\0\0\0\0{\"id\":1}");
        let with_body = b"\0\0\0\x02\0\0\0\x03{}abc\0\0";
        assert_eq!(first(with_body), Ok(Some((Header::new(), 13))));
        for cut in 0..13 {
            assert_eq!(first(&with_body[..cut]), Ok(None), "{cut}");
        }
    }

    #[test]
    fn what_is_too_large_is_refused_before_it_has_come() {
        assert_eq!(first(b"\0\x80\0\0\0\0\0\x01"), Err(End::TooLarge((8 << 20) + 1)));
        assert_eq!(first(b"\0\x80\0\0\0\0\0\0"), Ok(None));
        assert_eq!(first(&[0xff; 8]), Err(End::TooLarge(2 * u64::from(u32::MAX))));
    }

    #[test]
    fn a_header_is_an_object() {
        for header in ["[]", "1", "\"x\"", "{", "", "{}x"] {
            let mut bytes = (header.len() as u32).to_be_bytes().to_vec();
            bytes.extend(0_u32.to_be_bytes());
            bytes.extend(header.as_bytes());
            assert!(matches!(first(&bytes), Err(End::Malformed(_))), "{header:?}");
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
