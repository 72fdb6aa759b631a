//! The smart socket: how a client talks to an adb server.
//!
//! A request is four hex digits of length and a text; the answer begins with `OKAY` or `FAIL`. A
//! failure, and the answer to a query, is again four hex digits and a text. Source: `SERVICES.TXT`
//! and `adb_io.cpp` in AOSP's adb.

use bytes::{Buf, BytesMut};

use super::{Malformed, readable};

/// The longest request or answer that four hex digits can tell, in bytes.
pub const MAX_TEXT: usize = 0xffff;

/// The first four bytes of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// The request was understood; what follows depends on it.
    Okay,
    /// It was not; the reason follows as a text.
    Fail,
}

/// A request, or an answer's text, with its length in front.
///
/// # Errors
/// A text longer than [`MAX_TEXT`].
pub fn text(text: &str) -> Result<Vec<u8>, Malformed> {
    if text.len() > MAX_TEXT {
        return Err(Malformed(format!("a request of {} bytes for the adb server", text.len())));
    }
    Ok(format!("{:04x}{text}", text.len()).into_bytes())
}

/// Reads `OKAY` or `FAIL`.
///
/// # Errors
/// Anything else: whoever listens there is no adb server.
pub fn read_status(word: [u8; 4]) -> Result<Status, Malformed> {
    match &word {
        b"OKAY" => Ok(Status::Okay),
        b"FAIL" => Ok(Status::Fail),
        _ => Err(Malformed(format!("{:?} where an adb server says OKAY or FAIL", readable(word)))),
    }
}

/// Reads the four hex digits before a text.
///
/// # Errors
/// Anything but hex digits.
pub fn read_length(digits: [u8; 4]) -> Result<usize, Malformed> {
    digits
        .iter()
        .try_fold(0, |length, digit| Some(length * 16 + char::from(*digit).to_digit(16)? as usize))
        .ok_or_else(|| {
            Malformed(format!("{:?} where a length of four hex digits belongs", readable(digits)))
        })
}

/// Takes one whole text with its length off the front of `bytes`; `None` when it has not all come
/// yet. Bytes that are no UTF-8 are replaced.
///
/// # Errors
/// It does not begin with a length.
pub fn decode_text(bytes: &mut BytesMut) -> Result<Option<String>, Malformed> {
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
    fn a_request_carries_its_length_in_hex() {
        assert_eq!(text("host:version").unwrap(), b"000chost:version");
        assert_eq!(text("").unwrap(), b"0000");
        assert!(text(&"x".repeat(MAX_TEXT)).unwrap().starts_with(b"ffffx"));
        assert!(text(&"x".repeat(MAX_TEXT + 1)).is_err());
    }

    #[test]
    fn an_answer_is_okay_or_fail_and_nothing_else() {
        assert_eq!(read_status(*b"OKAY"), Ok(Status::Okay));
        assert_eq!(read_status(*b"FAIL"), Ok(Status::Fail));
        assert_eq!(
            read_status(*b"HTTP").unwrap_err().0,
            "\"HTTP\" where an adb server says OKAY or FAIL"
        );
    }

    #[test]
    fn a_length_is_four_hex_digits() {
        assert_eq!(read_length(*b"00ff"), Ok(255));
        assert_eq!(read_length(*b"FFFF"), Ok(65535));
        assert!(read_length(*b"+0ff").is_err());
        assert!(read_length([0xff; 4]).is_err());
    }

    #[test]
    fn texts_are_taken_off_one_by_one_however_they_are_cut() {
        let wire = b"0003one00000004t\xffwo0004fo";
        let mut bytes = BytesMut::new();
        let mut texts = Vec::new();
        for byte in wire {
            bytes.extend_from_slice(&[*byte]);
            texts.extend(decode_text(&mut bytes).unwrap());
        }
        assert_eq!(texts, ["one", "", "t\u{fffd}wo"]);
        assert_eq!(&bytes[..], b"0004fo", "the rest has not come yet");
        assert!(decode_text(&mut BytesMut::from(&b"OKAY"[..])).is_err());
    }
}
