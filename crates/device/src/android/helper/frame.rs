//! Frames between us and the helper: encodes requests and decodes replies. Pure functions.
//!
//! A frame is the length of its header and the length of its body, both big-endian `u32`, then a
//! JSON object in UTF-8, then the body's bytes. A stream with a malformed frame is out of sync and
//! unusable.

use bytes::{Buf as _, BufMut as _, Bytes, BytesMut};
use serde_json::{Map, Value};

use crate::error::excerpt;

/// Maximum size of a frame in bytes, header and body together.
pub(super) const MAX_FRAME: usize = 8 << 20;

/// Bytes before the header.
const LENGTHS: usize = 8;

/// The JSON object of a frame.
pub(super) type Header = Map<String, Value>;

/// Why a frame could not be encoded or decoded.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum FrameError {
    #[error("a frame of {0} bytes, more than the maximum of {MAX_FRAME}")]
    TooLong(u64),
    #[error("a frame whose header is not a JSON object: {0}")]
    NoObject(String),
    #[error("a reply with a field of another type, {0}: {1}")]
    Fields(String, String),
    #[error("a reply without a request id: {0}")]
    NoId(String),
    #[error("a reply with neither `ok` nor `error`: {0}")]
    NoAnswer(String),
    #[error("a compressed body that cannot be read: {0}")]
    Compressed(String),
}

/// Encodes a frame without a body; none of our requests has one.
pub(super) fn write(header: &Header) -> Result<Bytes, FrameError> {
    let header =
        serde_json::to_vec(header).map_err(|error| FrameError::NoObject(error.to_string()))?;
    let length = u32::try_from(header.len()).ok().filter(|_| header.len() <= MAX_FRAME);
    let length = length.ok_or(FrameError::TooLong(header.len() as u64))?;
    let mut frame = BytesMut::with_capacity(LENGTHS + header.len());
    frame.put_u32(length);
    frame.put_u32(0);
    frame.put_slice(&header);
    Ok(frame.freeze())
}

/// Takes the next frame from the front of `bytes`: its header and its body, which may be empty.
/// `None` if more bytes are needed.
pub(super) fn read(bytes: &mut BytesMut) -> Result<Option<(Header, Bytes)>, FrameError> {
    let Some(mut lengths) = bytes.get(..LENGTHS) else { return Ok(None) };
    let (header, body) = (u64::from(lengths.get_u32()), u64::from(lengths.get_u32()));
    if header + body > MAX_FRAME as u64 {
        return Err(FrameError::TooLong(header + body));
    }
    // Both are small here.
    let (header, body) = (header as usize, body as usize);
    if bytes.len() < LENGTHS + header + body {
        return Ok(None);
    }
    bytes.advance(LENGTHS);
    let output = bytes.split_to(header);
    let body = bytes.split_to(body).freeze();
    match serde_json::from_slice(&output) {
        Ok(Value::Object(header)) => Ok(Some((header, body))),
        _ => Err(FrameError::NoObject(excerpt(&output))),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn header(value: Value) -> Header {
        value.as_object().cloned().unwrap()
    }

    #[test]
    fn frame_layout_matches() {
        let frame = write(&header(json!({ "id": 7, "op": "bye" }))).unwrap();
        let expected = [&[0, 0, 0, 19, 0, 0, 0, 0][..], br#"{"id":7,"op":"bye"}"#].concat();
        assert_eq!(frame, expected);
    }

    #[test]
    fn body_follows_its_header() {
        let first = [&[0, 0, 0, 8, 0, 0, 0, 3][..], br#"{"id":1}"#, b"abc"].concat();
        let second = write(&header(json!({ "id": 2 }))).unwrap();
        let mut bytes = BytesMut::from(&[&first[..], &second].concat()[..]);
        let first = (header(json!({ "id": 1 })), Bytes::from_static(b"abc"));
        assert_eq!(read(&mut bytes), Ok(Some(first)));
        assert_eq!(read(&mut bytes), Ok(Some((header(json!({ "id": 2 })), Bytes::new()))));
        assert_eq!(read(&mut bytes), Ok(None));
    }

    #[test]
    fn invalid_frames_are_reported() {
        let read = |bytes: &[u8]| read(&mut BytesMut::from(bytes)).unwrap_err().to_string();
        // Rejected before any of it has arrived.
        assert!(read(&[0xFF; 8]).contains("8589934590 bytes"));
        assert!(read(b"\0\0\0\x02\0\0\0\0[]").contains("[]"));
        assert!(read(b"\0\0\0\x02\0\0\0\0\xFF\xFE").contains("not a JSON"));
        let deep = "[".repeat(50_000);
        let deep = format!("{{\"a\":{deep}");
        let long = u32::try_from(deep.len()).unwrap().to_be_bytes();
        assert!(read(&[&long[..], &[0; 4], deep.as_bytes()].concat()).contains("not a JSON"));
    }

    #[test]
    fn oversized_request_is_not_encoded() {
        let long = header(json!({ "x": "x".repeat(MAX_FRAME) }));
        assert!(matches!(write(&long), Err(FrameError::TooLong(_))));
    }

    proptest! {
        #[test]
        fn frames_round_trip_in_any_chunks(texts in prop::collection::vec("\\PC*", 0..5), at in any::<prop::sample::Index>()) {
            let headers: Vec<Header> = texts.iter().map(|text| header(json!({ "x": text }))).collect();
            let all: Vec<u8> = headers.iter().flat_map(|header| write(header).unwrap()).collect();
            let (first, second) = all.split_at(if all.is_empty() { 0 } else { at.index(all.len()) });
            let mut bytes = BytesMut::new();
            let mut heard = Vec::new();
            for piece in [first, second] {
                bytes.extend_from_slice(piece);
                while let Some((header, _)) = read(&mut bytes).unwrap() {
                    heard.push(header);
                }
            }
            prop_assert_eq!(heard, headers);
            prop_assert!(bytes.is_empty());
        }

        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..99)) {
            let mut bytes = BytesMut::from(&bytes[..]);
            while let Ok(Some(_)) = read(&mut bytes) {}
        }
    }
}
