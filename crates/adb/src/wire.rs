//! Encoders and decoders for every ADB message, one file per subject, tested in both directions.
//!
//! - [`packet`]: the 24-byte header between host and phone
//! - [`banner`]: the peer's identity and features
//! - [`shell`]: frames in a `shell,v2` stream
//! - [`sync`]: requests and replies in a `sync:` stream; [`sync_v2`]: metadata by version 2
//! - [`smart`]: the smart-socket text of an adb server; [`devices`]: its device list
//!
//! Nothing here does I/O, waits, or reads a clock. Incremental readers have the form `decode(&mut
//! BytesMut) -> Result<Option<_>, MalformedMessage>`: `None` asks for more bytes, and a length is
//! checked before memory is reserved for it.

pub mod banner;
pub mod devices;
pub mod packet;
pub mod shell;
pub mod smart;
pub mod sync;
pub mod sync_v2;

/// Received bytes that violate the protocol. The text says what was seen.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct MalformedMessage(pub String);

impl From<MalformedMessage> for crate::Error {
    fn from(malformed: MalformedMessage) -> Self {
        Self::Protocol { saw: malformed.0 }
    }
}

/// Four bytes as readable text, for messages about unknown ids.
pub(crate) fn readable(id: [u8; 4]) -> String {
    id.escape_ascii().to_string()
}
