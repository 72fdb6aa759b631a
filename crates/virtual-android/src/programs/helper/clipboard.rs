//! The helper's operations on the clipboard.

use super::error::HelperError;
use crate::phone::VirtualPhone;
use serde_json::{Map, Value, json};

/// Maximum UTF-16 units of a text: one transaction of Android carries about 500,000.
const MAX_SIZE: usize = 200_000;

/// `clip_get`. This phone's clipboard has one text at most.
pub(super) fn get(phone: &VirtualPhone) -> Value {
    let text = phone.with(|phone| phone.world.clipboard().map(str::to_owned));
    json!({ "text": text })
}

/// `clip_set`
pub(super) fn set(phone: &VirtualPhone, header: &Map<String, Value>) -> Result<Value, HelperError> {
    let text = header.get("text").and_then(Value::as_str);
    let text = text.ok_or_else(|| HelperError::wrong("text", "a string"))?;
    let units = text.encode_utf16().count();
    if units > MAX_SIZE {
        let message = format!("the text has {units} UTF-16 units; the limit is {MAX_SIZE}");
        return Err(HelperError::of("too_large", &message).trying("send less"));
    }
    phone.with(|phone| phone.world.set_clipboard(text));
    Ok(json!({}))
}
