//! The messages of usbmuxd (`usbmuxd-proto.h` of libusbmuxd): a header of four little-endian
//! numbers (length with the header, version 1, type 8, tag), then a property list.

use plist::{Dictionary, Value};
use thumbwire_base::Io;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::UsbmuxError;
use crate::property_list;

const HEADER: usize = 16;

/// The limit on a message with its header. A list entry has about 600 bytes, a pair record 10,000.
const MAX_MESSAGE: usize = 1 << 20;

/// The version with property lists.
const VERSION: u32 = 1;

/// The type of a property list.
const PLIST: u32 = 8;

/// A request of this type.
pub(super) fn request(kind: &str) -> Dictionary {
    let mut request = Dictionary::new();
    for (name, value) in [
        ("ClientVersionString", concat!("thumbwire-", env!("CARGO_PKG_VERSION"))),
        ("MessageType", kind),
        ("ProgName", "thumbwire"),
    ] {
        request.insert(name.into(), Value::String(value.into()));
    }
    // Below version 3 the daemon lists no phones on Wi-Fi.
    request.insert("kLibUSBMuxVersion".into(), Value::Integer(3.into()));
    request
}

/// The text with this name.
pub(crate) fn text<'a>(message: &'a Dictionary, name: &str) -> Option<&'a str> {
    message.get(name).and_then(Value::as_string)
}

/// The code of an answer that has only one; 0 is success.
pub(super) fn result(answer: &Dictionary) -> Option<u64> {
    text(answer, "MessageType").filter(|kind| *kind == "Result")?;
    answer.get("Number").and_then(Value::as_unsigned_integer)
}

/// The bytes of a message.
fn encode(tag: u32, message: Dictionary) -> Vec<u8> {
    let body = property_list::to_xml(message);
    // Requests are small.
    let length = u32::try_from(HEADER + body.len()).unwrap_or(u32::MAX);
    let mut bytes = Vec::with_capacity(HEADER + body.len());
    for number in [length, VERSION, PLIST, tag] {
        bytes.extend(number.to_le_bytes());
    }
    bytes.extend(body);
    bytes
}

/// The length of what follows a header.
fn body_length(header: [u8; HEADER]) -> Result<usize, UsbmuxError> {
    let number = |at: usize| {
        u32::from_le_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
    };
    let (length, version, kind) = (number(0), number(4), number(8));
    if (version, kind) != (VERSION, PLIST) {
        let text = format!("version {version}, type {kind}; expected a property list");
        return Err(UsbmuxError::Protocol(text));
    }
    let length =
        usize::try_from(length).ok().filter(|length| (HEADER..=MAX_MESSAGE).contains(length));
    let length = length.ok_or_else(|| {
        UsbmuxError::Protocol(format!(
            "a message of {} bytes; the limit is {MAX_MESSAGE}",
            number(0)
        ))
    })?;
    Ok(length - HEADER)
}

pub(super) async fn write(
    stream: &mut Box<dyn Io>,
    tag: u32,
    message: Dictionary,
) -> Result<(), UsbmuxError> {
    stream.write_all(&encode(tag, message)).await?;
    Ok(stream.flush().await?)
}

pub(super) async fn read(stream: &mut Box<dyn Io>) -> Result<Dictionary, UsbmuxError> {
    let mut header = [0; HEADER];
    stream.read_exact(&mut header).await?;
    let mut body = vec![0; body_length(header)?];
    stream.read_exact(&mut body).await?;
    property_list::parse(&body).map_err(|error| UsbmuxError::Protocol(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(numbers: [u32; 4]) -> [u8; HEADER] {
        let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        bytes.try_into().unwrap()
    }

    #[test]
    fn header_tells_length_version_type_and_tag() {
        let bytes = encode(7, request("ListDevices"));
        let [low, high] = u16::try_from(bytes.len()).unwrap().to_le_bytes();
        // Little-endian: the length, version 1, type 8, tag 7.
        assert_eq!(bytes[..HEADER], [low, high, 0, 0, 1, 0, 0, 0, 8, 0, 0, 0, 7, 0, 0, 0]);
        let body = body_length(bytes[..HEADER].try_into().unwrap()).unwrap();
        assert_eq!(body, bytes.len() - HEADER);
        let read = property_list::parse(&bytes[HEADER..]).unwrap();
        assert_eq!(text(&read, "MessageType"), Some("ListDevices"));
    }

    #[test]
    fn foreign_headers_and_lengths_beyond_the_limit_are_refused() {
        for numbers in [
            [15, 1, 8, 1],
            [0, 1, 8, 1],
            [u32::MAX, 1, 8, 1],
            [(1 << 20) + 1, 1, 8, 1],
            [20, 0, 8, 1],
            [20, 1, 3, 1],
        ] {
            let error = body_length(header(numbers)).unwrap_err();
            assert!(matches!(error, UsbmuxError::Protocol(_)), "{error}");
        }
        // "HTTP/1.1 400 Bad"
        assert!(body_length(*b"HTTP/1.1 400 Bad").is_err());
        assert_eq!(body_length(header([1 << 20, 1, 8, 1])).unwrap(), (1 << 20) - HEADER);
    }
}
