//! Parse ⇄ emit: each ADB message as bytes, one file a subject, tested from both sides.
//!
//! - [`packet`]: the 24-byte header between host and phone
//! - [`banner`]: who the other end is and what it can do
//! - [`shell`]: frames inside a `shell,v2` stream
//! - [`sync`]: requests and replies inside a `sync:` stream; [`sync2`]: those of version 2; [`compress`]: how it makes files smaller
//! - [`smart`]: the smart-socket text of an adb server; [`devices`]: its list of devices
//! - [`forward`]: which places are led where, as an adb server and an adbd are asked
//!
//! Nothing here does I/O, waits, or looks at a clock. Readers that take bytes in pieces have the
//! shape `decode(&mut BytesMut) -> Result<Option<_>, Malformed>`: `None` means "more bytes,
//! please", and a length is checked before anything is reserved for it.

pub mod banner;
pub mod compress;
pub mod devices;
pub mod forward;
pub mod packet;
pub mod shell;
pub mod smart;
pub mod sync;
pub mod sync2;

/// Foreign bytes that are not what the protocol says. The text tells what was seen.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Malformed(pub String);

impl From<Malformed> for crate::Error {
    fn from(malformed: Malformed) -> Self {
        Self::Protocol { saw: malformed.0 }
    }
}

/// Four bytes as people read them, for messages about ids that nobody knows.
fn readable(id: [u8; 4]) -> String {
    id.escape_ascii().to_string()
}
