//! Bytes in JSON, as Base64 (RFC 4648, section 4).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serializer};

/// Writes bytes.
pub(crate) fn serialize<S: Serializer>(bytes: &Bytes, out: S) -> Result<S::Ok, S::Error> {
    out.serialize_str(&STANDARD.encode(bytes))
}

/// Reads bytes.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(input: D) -> Result<Bytes, D::Error> {
    let text = String::deserialize(input)?;
    STANDARD.decode(text).map(Bytes::from).map_err(D::Error::custom)
}
