//! How long a session waits (W3C WebDriver, section 9).

use serde_json::{Map, Value};

use crate::field::{Body, Field, FieldError, get, put};

/// A limit of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeLimit {
    /// Milliseconds.
    Milliseconds(u64),
    /// None: JSON's `null`.
    Unlimited,
}

/// The limits of a session. WebDriverAgent accepts and ignores them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Timeouts {
    /// Of a script; `None` leaves it as it is.
    pub script: Option<TimeLimit>,
    /// Of loading a page, in milliseconds; `None` leaves it as it is.
    pub page_load_ms: Option<u64>,
    /// Of finding an element, in milliseconds; `None` leaves it as it is.
    pub implicit_ms: Option<u64>,
}

impl Body for Timeouts {
    fn write(&self, body: &mut Map<String, Value>) {
        match self.script {
            Some(TimeLimit::Unlimited) => _ = body.insert("script".into(), Value::Null),
            Some(TimeLimit::Milliseconds(limit)) => put(body, "script", &limit),
            None => {}
        }
        put(body, "pageLoad", &self.page_load_ms);
        put(body, "implicit", &self.implicit_ms);
    }

    /// Also reads `{"type", "ms"}` of the JSON wire protocol.
    fn read(body: &Map<String, Value>) -> Result<Self, FieldError> {
        if let Some(kind) = get::<Option<String>>(body, "type")? {
            let limit: u64 = get(body, "ms")?;
            let none = Self::default();
            return match kind.as_str() {
                "script" => Ok(Self { script: Some(TimeLimit::Milliseconds(limit)), ..none }),
                "page load" | "pageLoad" => Ok(Self { page_load_ms: Some(limit), ..none }),
                "implicit" => Ok(Self { implicit_ms: Some(limit), ..none }),
                _ => {
                    Err(FieldError::new("must be `script`, `page load` or `implicit`")
                        .inside("type"))
                }
            };
        }
        let script = match body.get("script") {
            Some(Value::Null) => Some(TimeLimit::Unlimited),
            _ => get::<Option<u64>>(body, "script")?.map(TimeLimit::Milliseconds),
        };
        Ok(Self {
            script,
            page_load_ms: get(body, "pageLoad")?,
            implicit_ms: get(body, "implicit")?,
        })
    }
}

/// For responses and capabilities, which have the three fields as one object.
impl Field for Timeouts {
    fn to_json(&self) -> Option<Value> {
        let mut object = Map::new();
        self.write(&mut object);
        Some(Value::Object(object))
    }

    fn from_json(value: &Value) -> Result<Self, FieldError> {
        Self::read(crate::field::object(value)?)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn old_form_is_read_too() {
        let read = |body: Value| Timeouts::from_json(&body).map_err(|error| error.message());
        let implicit = Timeouts { implicit_ms: Some(500), ..Timeouts::default() };
        assert_eq!(read(json!({ "type": "implicit", "ms": 500 })), Ok(implicit));
        assert_eq!(read(json!({ "implicit": 500 })), Ok(implicit));
        let unlimited = Timeouts { script: Some(TimeLimit::Unlimited), ..Timeouts::default() };
        assert_eq!(read(json!({ "script": null })), Ok(unlimited));
        assert_eq!(
            read(json!({ "type": "x", "ms": 1 })).unwrap_err(),
            "`type` must be `script`, `page load` or `implicit`"
        );
        assert_eq!(
            read(json!({ "implicit": -1 })).unwrap_err(),
            "`implicit` must be a whole number, 0 or more"
        );
    }
}
