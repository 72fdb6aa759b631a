//! The reader of the helper's frames.

use bytes::BytesMut;

use super::{frame, inflate};

/// Reads frames, and inflates their bodies as their headers say.
pub(in crate::android) fn frames(bytes: &[u8]) {
    let mut left = BytesMut::from(bytes);
    while let Ok(Some((header, body))) = frame::read(&mut left) {
        let length = header.get("inflated").and_then(serde_json::Value::as_u64);
        let length = length.and_then(|length| usize::try_from(length).ok());
        let _ = inflate::inflate(length, body);
    }
}
