//! What a server must not repeat to callers: user names, passwords and access keys. A server may
//! quote a whole request in the text of an error.

use bytes::Bytes;
use serde_json::Value;

/// Parts of the names of capabilities whose values are secret.
const NAMES: [&str; 7] = ["user", "pass", "key", "secret", "token", "auth", "credential"];

/// Shorter values would also be found by chance.
const SHORTEST: usize = 4;

/// Texts that are not passed on.
#[derive(Clone, Default)]
pub(crate) struct Secrets(Vec<String>);

impl Secrets {
    /// Those of these capabilities, by the names of their fields, at any depth.
    pub(crate) fn of_capabilities<'a>(
        fields: impl IntoIterator<Item = (&'a String, &'a Value)>,
    ) -> Self {
        let mut secrets = Self::default();
        for (name, value) in fields {
            secrets.collect(name, value);
        }
        secrets
    }

    fn collect(&mut self, name: &str, value: &Value) {
        match value {
            Value::String(text) => {
                let name = name.to_ascii_lowercase();
                if NAMES.iter().any(|part| name.contains(part)) {
                    self.add(text);
                }
            }
            Value::Object(fields) => {
                fields.iter().for_each(|(name, value)| self.collect(name, value));
            }
            Value::Array(list) => list.iter().for_each(|value| self.collect(name, value)),
            _ => {}
        }
    }

    /// One more, as it is and as JSON writes it.
    pub(crate) fn add(&mut self, text: &str) {
        if text.len() < SHORTEST {
            return;
        }
        let json = Value::from(text).to_string();
        let json = json.trim_matches('"');
        if json != text {
            self.0.push(json.to_owned());
        }
        self.0.push(text.to_owned());
    }

    /// The body of a response without them.
    pub(crate) fn removed_from(&self, body: Bytes) -> Bytes {
        if self.0.is_empty() {
            return body;
        }
        let mut text = String::from_utf8_lossy(&body).into_owned();
        for secret in &self.0 {
            text = text.replace(secret, "\u{2026}");
        }
        text.into()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_of_secret_names_are_removed_at_any_depth() {
        let capabilities = json!({
            "platformName": "Android", "appium:udid": "R58M1",
            "vendor:options": { "accessKey": "s3\"cret", "userName": "mary", "list": [{ "authToken": "t0ken" }] },
            "appium:keyless": "abc",
        });
        let secrets = Secrets::of_capabilities(capabilities.as_object().unwrap());
        let body = secrets.removed_from(Bytes::from(capabilities.to_string()));
        let text = String::from_utf8(body.to_vec()).unwrap();
        for secret in ["s3", "mary", "t0ken"] {
            assert!(!text.contains(secret), "{text}");
        }
        for other in ["Android", "R58M1", "abc"] {
            assert!(text.contains(other), "{text}");
        }
    }
}
