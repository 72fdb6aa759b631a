//! Enums as JSON objects that name their variant in a field, as serde's attribute `tag` has them.
//! That attribute reads what is inside from buffers of its own, for which the compiler builds a
//! second reader of every type; through [`Value`] there is one.

use serde::de::Error as _;
use serde::ser::Error as _;
use serde::{Deserializer, Serializer};
use serde_json::{Map, Value};

/// The object of what `write` gives as serde does without the attribute.
///
/// # Errors
/// If it cannot be written.
pub(super) fn object<S: Serializer>(
    tag: &str,
    write: impl FnOnce(serde_json::value::Serializer) -> serde_json::Result<Value>,
) -> Result<Map<String, Value>, S::Error> {
    let (name, fields) = match write(serde_json::value::Serializer).map_err(S::Error::custom)? {
        Value::Object(variant) => match variant.into_iter().next() {
            Some((name, Value::Object(fields))) => (name, fields),
            _ => return Err(S::Error::custom("a variant without a name or fields")),
        },
        Value::String(name) => (name, Map::new()),
        _ => return Err(S::Error::custom("not an enum")),
    };
    Ok([(tag.to_owned(), Value::String(name))].into_iter().chain(fields).collect())
}

/// The reverse: what serde reads without the attribute.
///
/// # Errors
/// If the object does not name its variant.
pub(super) fn variant<'de, D: Deserializer<'de>>(
    tag: &'static str,
    mut fields: Map<String, Value>,
) -> Result<Value, D::Error> {
    match fields.shift_remove(tag) {
        Some(name @ Value::String(_)) if fields.is_empty() => Ok(name),
        Some(Value::String(name)) => Ok(Map::from_iter([(name, fields.into())]).into()),
        _ => Err(D::Error::missing_field(tag)),
    }
}
