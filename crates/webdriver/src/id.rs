//! Identifiers that a server chose, and the JSON object that stands for an element.

use std::fmt;

use serde_json::{Map, Value};

use crate::field::{Field, FieldError};

/// The key of an element in JSON (W3C WebDriver, section 12.1).
pub const ELEMENT_KEY: &str = "element-6066-11e4-a52e-4f735466cecf";

/// The key of an element in the JSON wire protocol, which WebDriverAgent writes too.
pub const OLD_ELEMENT_KEY: &str = "ELEMENT";

/// Limit on the bytes of an identifier.
const MAX_BYTES: usize = 1024;

/// Whether a text can be a segment of a path. An HTTP client drops `.` and `..`, however they are
/// encoded, so that `/element/../click` would become another command.
fn is_id(text: &str) -> bool {
    !matches!(text, "" | "." | "..") && text.len() <= MAX_BYTES
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(String);

        impl $name {
            /// The identifier, or `None` if the text is empty, `.`, `..` or longer than 1024 bytes.
            pub fn new(text: impl Into<String>) -> Option<Self> {
                Some(text.into()).filter(|text| is_id(text)).map(Self)
            }

            /// The identifier as its server wrote it.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl Field for $name {
            fn to_json(&self) -> Option<Value> {
                Some(Value::from(self.0.as_str()))
            }

            fn from_json(value: &Value) -> Result<Self, FieldError> {
                let id = value.as_str().and_then(Self::new);
                id.ok_or_else(|| FieldError::new("is not an id"))
            }
        }
    };
}

id! {
    /// Names a session in paths.
    SessionId
}

id! {
    /// Names an element in paths; valid in the session that found it.
    ElementId
}

impl ElementId {
    /// The object for the element, with both keys, as WebDriverAgent and Appium write it.
    pub fn to_reference(&self) -> Value {
        let keys = [ELEMENT_KEY, OLD_ELEMENT_KEY].into_iter();
        Value::Object(keys.map(|key| (key.to_owned(), Value::from(self.as_str()))).collect())
    }

    /// The element of an object with one of the keys; `None` if it has neither or the id is
    /// invalid.
    pub fn from_reference(value: &Value) -> Option<Self> {
        let object: &Map<String, Value> = value.as_object()?;
        let id = object.get(ELEMENT_KEY).or_else(|| object.get(OLD_ELEMENT_KEY))?;
        Self::new(id.as_str()?)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn element_reference_has_both_keys_and_is_read_by_either() {
        let element = ElementId::new("E-1").unwrap();
        let reference = element.to_reference();
        assert_eq!(reference, json!({ ELEMENT_KEY: "E-1", OLD_ELEMENT_KEY: "E-1" }));
        for key in [ELEMENT_KEY, OLD_ELEMENT_KEY] {
            assert_eq!(ElementId::from_reference(&json!({ key: "E-1" })), Some(element.clone()));
        }
        for wrong in [json!({}), json!("E-1"), json!({ ELEMENT_KEY: 1 })] {
            assert_eq!(ElementId::from_reference(&wrong), None);
        }
    }

    #[test]
    fn id_that_would_change_the_path_is_refused() {
        for text in ["", ".", ".."] {
            assert_eq!(ElementId::new(text), None);
            assert_eq!(ElementId::from_reference(&json!({ ELEMENT_KEY: text })), None);
        }
        assert!(SessionId::new("a/b?c").is_some(), "it is encoded");
        assert!(SessionId::new("x".repeat(1025)).is_none());
    }
}
