//! The response to `GET /status`, of WebDriverAgents of all ages and of Appium.

use serde_json::{Map, Value, json};

use super::{Response, ResponseError};
use crate::field::{get, object};
use crate::id::SessionId;

/// What a server says about itself. Each server says only a part.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ServerStatus {
    /// Whether it takes commands. WebDriverAgents before 2019 do not say.
    pub ready: Option<bool>,
    /// The same for people.
    pub message: Option<String>,
    /// `success`, from WebDriverAgent.
    pub state: Option<String>,
    /// Such as `iOS`.
    pub os_name: Option<String>,
    /// Such as `15.4.1`.
    pub os_version: Option<String>,
    /// Of the SDK that WebDriverAgent was built with.
    pub sdk_version: Option<String>,
    /// The phone's address in its network.
    pub ip: Option<String>,
    /// The version of a simulator; `None` for a phone.
    pub simulator_version: Option<String>,
    /// The version of WebDriverAgent or of the Appium server.
    pub build_version: Option<String>,
    /// When it was built.
    pub build_time: Option<String>,
    /// The bundle identifier of WebDriverAgent's app.
    pub product_bundle_identifier: Option<String>,
    /// `iphone` or `ipad`, from newer WebDriverAgents.
    pub device: Option<String>,
    /// WebDriverAgent's session, if it has one.
    pub session: Option<SessionId>,
}

impl ServerStatus {
    /// The value to send, as WebDriverAgent has it (FBSessionCommands.m). The session goes beside
    /// it, by [`ResponseFormat::success`](super::ResponseFormat::success).
    pub fn to_value(&self) -> Value {
        let part = |fields: &[(&str, &Option<String>)]| -> Map<String, Value> {
            let fields = fields.iter().filter_map(|(name, value)| Some((*name, value.as_ref()?)));
            fields.map(|(name, value)| (name.to_owned(), Value::from(value.as_str()))).collect()
        };
        let mut value =
            part(&[("message", &self.message), ("state", &self.state), ("device", &self.device)]);
        if let Some(ready) = self.ready {
            value.insert("ready".into(), ready.into());
        }
        let os = [
            ("name", &self.os_name),
            ("version", &self.os_version),
            ("sdkVersion", &self.sdk_version),
        ];
        value.insert("os".into(), part(&os).into());
        let mut ios = part(&[("simulatorVersion", &self.simulator_version)]);
        ios.insert("ip".into(), json!(self.ip));
        value.insert("ios".into(), ios.into());
        let build = [
            ("time", &self.build_time),
            ("version", &self.build_version),
            ("productBundleIdentifier", &self.product_bundle_identifier),
        ];
        value.insert("build".into(), part(&build).into());
        Value::Object(value)
    }

    /// Reads a response.
    ///
    /// # Errors
    /// [`ResponseError::Malformed`] if a field has the wrong type.
    pub fn from_response(response: &Response) -> Result<Self, ResponseError> {
        let value = object(&response.value)?;
        let text = |part: &str, name: &str| {
            let part: Option<Map<String, Value>> = get(value, part)?;
            get::<Option<String>>(&part.unwrap_or_default(), name)
        };
        Ok(Self {
            ready: get(value, "ready")?,
            message: get(value, "message")?,
            state: get(value, "state")?,
            os_name: text("os", "name")?,
            os_version: text("os", "version")?,
            sdk_version: text("os", "sdkVersion")?,
            ip: text("ios", "ip")?,
            simulator_version: text("ios", "simulatorVersion")?,
            build_version: text("build", "version")?,
            build_time: text("build", "time")?,
            product_bundle_identifier: text("build", "productBundleIdentifier")?,
            device: get(value, "device")?,
            session: response.session.clone(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_is_written_and_read() {
        let text = |text: &str| Some(text.to_owned());
        let status = ServerStatus {
            ready: Some(true),
            message: text("ready"),
            state: text("success"),
            os_name: text("iOS"),
            os_version: text("17.2"),
            sdk_version: text("17.2"),
            ip: text("10.0.0.2"),
            simulator_version: text("17.2"),
            build_version: text("7.0.0"),
            build_time: text("now"),
            product_bundle_identifier: text("com.facebook.WebDriverAgentRunner"),
            device: text("iphone"),
            session: SessionId::new("S"),
        };
        for status in [status, ServerStatus::default()] {
            let response = Response { value: status.to_value(), session: status.session.clone() };
            assert_eq!(ServerStatus::from_response(&response), Ok(status));
        }
    }

    #[test]
    fn appium_says_less() {
        let value = json!({ "ready": true, "message": "The server is ready", "build": { "version": "3.8.0" } });
        let status = ServerStatus::from_response(&Response { value, session: None }).unwrap();
        assert_eq!((status.ready, status.build_version.as_deref()), (Some(true), Some("3.8.0")));
    }
}
