//! The response to `GET /status`, of WebDriverAgents of all ages and of Appium.

use crate::field::fields;

/// What a server says about itself. Each server says only a part.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ServerStatus {
    /// Whether it takes commands. WebDriverAgents before 2019 do not say.
    pub ready: Option<bool>,
    /// A message for people.
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
}

// As WebDriverAgent has it (FBSessionCommands.m).
fields!(ServerStatus {
    ready: "ready",
    message: "message",
    state: "state",
    os_name: "os.name",
    os_version: "os.version",
    sdk_version: "os.sdkVersion",
    ip: "ios.ip",
    simulator_version: "ios.simulatorVersion",
    build_version: "build.version",
    build_time: "build.time",
    product_bundle_identifier: "build.productBundleIdentifier",
    device: "device",
});
responses!(ServerStatus);

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::Response;

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
        };
        for status in [status, ServerStatus::default()] {
            let response = Response { value: status.to_value(), session: None };
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
