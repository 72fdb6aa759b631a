//! Appium's extension commands: `POST /execute/sync` with a script named `mobile: …` and one object
//! of arguments.
//!
//! Names and arguments are those of `execute-method-map` in Appium's XCUITest and Android drivers.

use serde_json::{Map, Value};

use crate::field::fields;

/// A script and its arguments (W3C WebDriver, section 13.2).
#[derive(Debug, Clone, PartialEq)]
pub struct Script {
    /// Code, or `mobile: …`.
    pub script: String,
    /// Its arguments.
    pub args: Vec<Value>,
}

fields!(Script { script: "script", args: "args" });

/// An extension command of an Appium driver.
#[derive(Debug, Clone, PartialEq)]
pub struct MobileCommand {
    /// The name after `mobile: `, such as `activateApp`.
    pub name: String,
    /// The arguments by name.
    pub args: Map<String, Value>,
}

impl MobileCommand {
    /// A command without arguments.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), args: Map::new() }
    }

    /// Adds an argument.
    #[must_use]
    pub fn arg(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.args.insert(name.to_owned(), value.into());
        self
    }

    /// A command for one app. Each driver has its own argument for the app: see [`AppiumDriver`].
    pub fn app(operation: AppOperation, driver: AppiumDriver, app: &str) -> Self {
        let key = match (operation, driver) {
            (AppOperation::Install, AppiumDriver::XcuiTest) => "app",
            (AppOperation::Install, AppiumDriver::UiAutomator2) => "appPath",
            (_, AppiumDriver::XcuiTest) => "bundleId",
            (_, AppiumDriver::UiAutomator2) => "appId",
        };
        Self::new(operation.as_str()).arg(key, app)
    }
}

impl From<MobileCommand> for Script {
    fn from(command: MobileCommand) -> Self {
        Self {
            script: format!("mobile: {}", command.name),
            args: vec![Value::Object(command.args)],
        }
    }
}

/// Which Appium driver reads a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AppiumDriver {
    /// iOS: apps are named by `bundleId`.
    XcuiTest,
    /// Android: apps are named by `appId`, which is the package.
    UiAutomator2,
}

/// What can be done with an app.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AppOperation {
    /// Brings it to the front; starts it if it does not run.
    Activate,
    /// Ends it; the response is whether it ran.
    Terminate,
    /// Asks for its [`AppState`](crate::AppState).
    QueryState,
    /// Asks whether it is there.
    IsInstalled,
    /// Installs it from a path or URL, which is then given instead of its name.
    Install,
    /// Uninstalls it; the response is whether it was there.
    Remove,
    /// Deletes its data.
    Clear,
}

impl AppOperation {
    /// The name after `mobile: `.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Activate => "activateApp",
            Self::Terminate => "terminateApp",
            Self::QueryState => "queryAppState",
            Self::IsInstalled => "isAppInstalled",
            Self::Install => "installApp",
            Self::Remove => "removeApp",
            Self::Clear => "clearApp",
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn app_is_named_as_each_driver_needs_it() {
        let check = |operation: AppOperation, driver: AppiumDriver, name: &str, key: &str| {
            let command = MobileCommand::app(operation, driver, "a.b");
            assert_eq!((command.name.as_str(), &command.args[key]), (name, &json!("a.b")));
            assert_eq!(MobileCommand::from_script(&command.clone().into()), Some(command));
        };
        check(AppOperation::Activate, AppiumDriver::XcuiTest, "activateApp", "bundleId");
        check(AppOperation::Activate, AppiumDriver::UiAutomator2, "activateApp", "appId");
        check(AppOperation::Install, AppiumDriver::XcuiTest, "installApp", "app");
        check(AppOperation::Install, AppiumDriver::UiAutomator2, "installApp", "appPath");
        let install =
            MobileCommand::app(AppOperation::Install, AppiumDriver::UiAutomator2, "/a.apk");
        let script = Script::from(install);
        assert_eq!(
            (script.script.as_str(), script.args),
            ("mobile: installApp", vec![json!({ "appPath": "/a.apk" })])
        );
    }

    #[test]
    fn other_scripts_are_no_extension_commands() {
        let script = |script: &str, args: Value| Script {
            script: script.into(),
            args: args.as_array().unwrap().clone(),
        };
        for (name, args) in [
            ("return 1", json!([])),
            ("mobile: ", json!([])),
            ("mobile: tap", json!([1])),
            ("mobile: tap", json!([{}, {}])),
        ] {
            assert_eq!(MobileCommand::from_script(&script(name, args)), None, "{name}");
        }
        let shake = MobileCommand::from_script(&script("mobile:shake", json!([])));
        assert_eq!(shake, Some(MobileCommand::new("shake")));
    }
}
