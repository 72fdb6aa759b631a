//! The settings of a session, by their names in the driver's documentation.

use super::{Outcome, invalid};
use serde_json::{Map, Value, json};
use thumbwire_webdriver::{ErrorCode, WebDriverError};

/// The values of all settings.
pub(super) struct Settings(Map<String, Value>);

/// Settings that change what this phone answers; the others are kept and have no effect, because
/// its screen is never busy in the way that they are about.
const EFFECTIVE: [&str; 1] = ["enableMultiWindows"];

impl Default for Settings {
    fn default() -> Self {
        let all = json!({
            "actionAcknowledgmentTimeout": 3000, "allowInvisibleElements": false,
            "alwaysTraversableViewClasses": "", "currentDisplayId": 0,
            "disableIdLocatorAutocompletion": false, "elementResponseAttributes": "name,text",
            "enableMultiWindows": false, "enableNotificationListener": true,
            "enableTopmostWindowFromActivePackage": false, "enforceXPath1": false,
            "ignoreUnimportantViews": false, "includeA11yActionsInPageSource": false,
            "includeExtrasInPageSource": false, "keyInjectionDelay": 0, "limitXPathContextScope": true,
            "mjpegBilinearFiltering": false, "mjpegScalingFactor": 50, "mjpegServerFramerate": 10,
            "mjpegServerPort": 7810, "mjpegServerScreenshotQuality": 50, "normalizeTagNames": false,
            "scrollAcknowledgmentTimeout": 200, "serverPort": 6790, "shouldUseCompactResponses": true,
            "simpleBoundsCalculation": false, "snapshotMaxDepth": 70, "trackScrollEvents": true,
            "useResourcesForOrientationDetection": false, "waitForIdleTimeout": 10000,
            "waitForSelectorTimeout": 10000, "wakeLockTimeout": 86400000,
        });
        Self(all.as_object().cloned().unwrap_or_default())
    }
}

impl Settings {
    pub(super) fn to_value(&self) -> Value {
        Value::Object(self.0.clone())
    }

    pub(super) fn flag(&self, name: &str) -> bool {
        self.0.get(name).and_then(Value::as_bool).unwrap_or_default()
    }

    /// Changes those in `settings` of a body; none if one of them is wrong.
    pub(super) fn update(&mut self, body: &Map<String, Value>) -> Result<(), WebDriverError> {
        let Some(Value::Object(changes)) = body.get("settings") else {
            return Err(invalid("`settings` must be an object"));
        };
        for (name, value) in changes {
            self.check(name, value)?;
        }
        self.0.extend(changes.clone());
        Ok(())
    }

    fn check(&self, name: &str, value: &Value) -> Outcome {
        let Some(now) = self.0.get(name) else {
            let name = thumbwire_base::truncate(name, 80).to_string();
            return Err(invalid(&format!("unknown setting {name:?}")));
        };
        let is_same_kind = now.is_boolean() == value.is_boolean()
            && now.is_number() == value.is_number()
            && now.is_string() == value.is_string();
        if !is_same_kind {
            return Err(invalid(&format!("{name} must be like {now}")));
        }
        // Those that would change a response, which this phone does not do.
        let wants_more = value.as_bool().is_some_and(|on| match name {
            "shouldUseCompactResponses" => !on,
            "normalizeTagNames"
            | "includeA11yActionsInPageSource"
            | "includeExtrasInPageSource" => on,
            _ => false,
        });
        if wants_more && !EFFECTIVE.contains(&name) {
            let message = format!("{name}={value} is not implemented by the virtual phone");
            return Err(WebDriverError::new(ErrorCode::UnsupportedOperation, message));
        }
        Ok(Value::Null)
    }
}
