//! Durations in JSON, in whole milliseconds: `#[serde(rename = "…_ms", with = "millis")]`.

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serializer};

/// Writes a duration.
///
/// # Errors
/// Those of the serializer.
pub fn serialize<S: Serializer>(time: &Duration, out: S) -> Result<S::Ok, S::Error> {
    out.serialize_u64(u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
}

/// Reads a duration.
///
/// # Errors
/// If it is not a whole number.
pub fn deserialize<'de, D: Deserializer<'de>>(input: D) -> Result<Duration, D::Error> {
    u64::deserialize(input).map(Duration::from_millis)
}
