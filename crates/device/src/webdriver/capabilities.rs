//! What a session has to have: the operator's capabilities, and our defaults for what they leave
//! open.

use std::fmt;

use thumbwire_webdriver::Capabilities;

use crate::Platform;

/// The capabilities of one phone's sessions. They may contain passwords and access keys, so `{:?}`
/// prints names only.
#[derive(Clone, PartialEq)]
pub struct AppiumCapabilities {
    platform: Platform,
    capabilities: Capabilities,
}

impl Default for AppiumCapabilities {
    /// The only Android phone of the server.
    fn default() -> Self {
        Self::new(Platform::Android, Capabilities::default())
    }
}

impl AppiumCapabilities {
    /// Reads a JSON object of W3C capabilities, such as `{"platformName": "iOS", "appium:udid":
    /// "…"}`. Without a `platformName` the platform is that of `appium:automationName`, else
    /// Android.
    ///
    /// Defaults for what is not there: `appium:automationName` by platform; `appium:noReset`, so
    /// that no app loses its data; `appium:newCommandTimeout` of 600 s, after which a server gives
    /// back the phone of a client that crashed. On Android also `appium:skipUnlock`, because a
    /// phone is unlocked when a caller asks for it; `appium:disableSuppressAccessibilityService`,
    /// so that TalkBack goes on; and `appium:suppressKillServer`, because other programs use the
    /// adb server too.
    ///
    /// # Errors
    /// What is wrong, without the values.
    pub fn parse(json: &str) -> Result<Self, String> {
        let capabilities = Capabilities::parse(json).map_err(|error| error.message)?;
        let names = |name: &str| capabilities.text(name).unwrap_or_default().to_lowercase();
        let platform = match (&*names("platformName"), &*names("automationName")) {
            ("android", _) | ("", "uiautomator2" | "") => Platform::Android,
            ("ios", _) | ("", "xcuitest") => Platform::Ios,
            _ => {
                return Err("`platformName` must be Android or iOS, and without it \
                            `appium:automationName` must be UiAutomator2 or XCUITest"
                    .into());
            }
        };
        for name in ["udid", "deviceName"] {
            if capabilities.text(name).is_some_and(|value| value.contains(char::is_control)) {
                return Err(format!("`appium:{name}` has a control character"));
            }
        }
        Ok(Self::new(platform, capabilities))
    }

    fn new(platform: Platform, mut capabilities: Capabilities) -> Self {
        /// In seconds.
        const IDLE: u64 = 600;
        let driver = match platform {
            Platform::Android => "UiAutomator2",
            Platform::Ios => "XCUITest",
        };
        capabilities.set_default("platformName", platform.to_string());
        capabilities.set_default("appium:automationName", driver);
        capabilities.set_default("appium:noReset", true);
        capabilities.set_default("appium:newCommandTimeout", IDLE);
        if platform == Platform::Android {
            for name in ["skipUnlock", "disableSuppressAccessibilityService", "suppressKillServer"]
            {
                capabilities.set_default(&format!("appium:{name}"), true);
            }
        }
        Self { platform, capabilities }
    }

    /// The phone's platform.
    pub fn platform(&self) -> Platform {
        self.platform
    }

    /// What names the phone: `appium:udid`, else `appium:deviceName`.
    pub fn device_name(&self) -> Option<&str> {
        let named = ["udid", "deviceName"].iter().find_map(|name| self.capabilities.text(name));
        named.filter(|name| !name.trim().is_empty())
    }

    /// The model that the operator asks for, if any.
    pub(super) fn model(&self) -> Option<&str> {
        self.capabilities.text("deviceName")
    }

    /// All of them.
    pub(super) fn all(&self) -> &Capabilities {
        &self.capabilities
    }
}

impl fmt::Debug for AppiumCapabilities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.capabilities.0.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn platform_follows_from_either_name() {
        let platform = |json: &str| AppiumCapabilities::parse(json).map(|it| it.platform());
        assert_eq!(platform("{}"), Ok(Platform::Android));
        assert_eq!(platform(r#"{"platformName":"ANDROID"}"#), Ok(Platform::Android));
        assert_eq!(platform(r#"{"appium:automationName":"XCUITest"}"#), Ok(Platform::Ios));
        assert!(platform(r#"{"platformName":"Windows"}"#).is_err());
    }

    #[test]
    fn defaults_yield_to_the_operator() {
        let json = r#"{"platformName":"android","appium:newCommandTimeout":5,"appium:udid":"U"}"#;
        let capabilities = AppiumCapabilities::parse(json).unwrap();
        let all = capabilities.all();
        assert_eq!(all.get("newCommandTimeout").unwrap().as_u64(), Some(5));
        assert_eq!(all.text("platformName"), Some("android"));
        assert_eq!(all.get("skipUnlock").unwrap().as_bool(), Some(true));
        assert_eq!(capabilities.device_name(), Some("U"));
        let ios = AppiumCapabilities::parse(r#"{"platformName":"iOS"}"#).unwrap();
        assert!(ios.all().get("skipUnlock").is_none() && ios.device_name().is_none());
    }

    #[test]
    fn errors_do_not_print_values() {
        for json in ["", "[]", r#"{"udid":"secret"}"#, r#"{"platformName":7}"#] {
            let error = AppiumCapabilities::parse(json).unwrap_err();
            assert!(!error.is_empty() && !error.contains("secret"), "{json}: {error}");
        }
        let debug = AppiumCapabilities::parse(r#"{"x:options":{"key":"secret"}}"#).unwrap();
        assert!(!format!("{debug:?}").contains("secret"));
    }
}
