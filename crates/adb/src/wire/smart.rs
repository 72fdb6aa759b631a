//! Smart sockets: the protocol between a client and an adb server.
//!
//! A request is four hex digits of length and a text. The reply starts with `OKAY` or `FAIL`; a
//! failure, and the reply to a query, is again four hex digits and a text. Source: `SERVICES.TXT`
//! and `adb_io.cpp` in AOSP's adb.

use bytes::{Buf, BytesMut};

use super::{MalformedMessage, readable};

/// The longest request or reply that four hex digits can express, in bytes.
pub const MAX_TEXT: usize = 0xffff;

/// The first four bytes of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Success; what follows depends on the request.
    Okay,
    /// Failure; the reason follows as text.
    Fail,
}

/// A request, or the text of a reply, with its length prefix.
///
/// # Errors
/// A text longer than [`MAX_TEXT`].
pub fn text(text: &str) -> Result<Vec<u8>, MalformedMessage> {
    if text.len() > MAX_TEXT {
        return Err(MalformedMessage(format!(
            "a request of {} bytes to the adb server",
            text.len()
        )));
    }
    Ok(format!("{:04x}{text}", text.len()).into_bytes())
}

/// Reads `OKAY` or `FAIL`.
///
/// # Errors
/// Anything else: the peer is not an adb server.
pub fn read_status(word: [u8; 4]) -> Result<Status, MalformedMessage> {
    match &word {
        b"OKAY" => Ok(Status::Okay),
        b"FAIL" => Ok(Status::Fail),
        _ => Err(MalformedMessage(format!(
            "expected OKAY or FAIL from an adb server, got {:?}",
            readable(word)
        ))),
    }
}

/// Reads the four hex digits before a text.
///
/// # Errors
/// Anything but hex digits.
pub fn read_length(digits: [u8; 4]) -> Result<usize, MalformedMessage> {
    digits
        .iter()
        .try_fold(0, |length, digit| Some(length * 16 + char::from(*digit).to_digit(16)? as usize))
        .ok_or_else(|| {
            MalformedMessage(format!(
                "expected a length of four hex digits, got {:?}",
                readable(digits)
            ))
        })
}

/// Takes one complete text with its length off the front of `bytes`; `None` if more bytes are
/// needed. Invalid UTF-8 is replaced.
///
/// # Errors
/// It does not start with a length.
pub fn decode_text(bytes: &mut BytesMut) -> Result<Option<String>, MalformedMessage> {
    let Some(digits) = bytes.first_chunk::<4>() else { return Ok(None) };
    let length = read_length(*digits)?;
    if bytes.len() < 4 + length {
        return Ok(None);
    }
    bytes.advance(4);
    Ok(Some(String::from_utf8_lossy(&bytes.split_to(length)).into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn request_starts_with_its_length_in_hex() {
        assert_eq!(text("host:version").unwrap(), b"000chost:version");
        assert_eq!(text("").unwrap(), b"0000");
        assert!(text(&"x".repeat(MAX_TEXT)).unwrap().starts_with(b"ffffx"));
        assert!(text(&"x".repeat(MAX_TEXT + 1)).is_err());
    }

    #[test]
    fn reply_is_okay_or_fail() {
        assert_eq!(read_status(*b"OKAY"), Ok(Status::Okay));
        assert_eq!(read_status(*b"FAIL"), Ok(Status::Fail));
        assert_eq!(
            read_status(*b"HTTP").unwrap_err().0,
            "expected OKAY or FAIL from an adb server, got \"HTTP\""
        );
    }

    #[test]
    fn length_is_four_hex_digits() {
        assert_eq!(read_length(*b"00ff"), Ok(255));
        assert_eq!(read_length(*b"FFFF"), Ok(65535));
        assert!(read_length(*b"+0ff").is_err());
        assert!(read_length([0xff; 4]).is_err());
    }

    #[test]
    fn texts_decode_one_by_one_at_any_split() {
        let wire = b"0003one00000004t\xffwo0004fo";
        let mut bytes = BytesMut::new();
        let mut texts = Vec::new();
        for byte in wire {
            bytes.extend_from_slice(&[*byte]);
            texts.extend(decode_text(&mut bytes).unwrap());
        }
        assert_eq!(texts, ["one", "", "t\u{fffd}wo"]);
        assert_eq!(&bytes[..], b"0004fo", "the rest has not arrived yet");
        assert!(decode_text(&mut BytesMut::from(&b"OKAY"[..])).is_err());
    }
}
