//! What differs between the servers: WebDriverAgent itself, and Appium's drivers for Android and
//! iOS.
//!
//! [`Dialect`] has what each server is called, what its session gets, and how long that may take;
//! [`PhoneCommand`] is the table of what WebDriverAgent and Appium do by different commands. What
//! they do by the same commands of W3C WebDriver is not here.

use std::time::Duration;

use thumbwire_webdriver::{
    AppCommand, AppOperation, AppiumDriver, Base64, Capabilities, Command, DeviceCommand,
    MobileCommand, NewSession, SessionCommand,
};

use super::client::SessionPlan;
use super::http::ServerProfile;
use crate::ios::keys::KEYBOARD_PAGE;
use crate::{AppId, Platform, TypingMethod};

/// The kind of server that a phone is behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// A WebDriverAgent, which runs on the iPhone.
    WebDriverAgent,
    /// Appium with its driver for Android.
    UiAutomator2,
    /// Appium with its driver for iOS, which has a WebDriverAgent of its own.
    XcuiTest,
}

/// How deep a snapshot of iOS may be (`snapshotMaxDepth`). XCTest fails for some apps above about
/// 60 with `kAXErrorIllegalArgument`; WebDriverAgent's default of 50 cuts off React Native's
/// screens.
const IOS_DEPTH: u64 = 60;

/// The depth after XCTest has refused the other one.
pub(super) const SAFE_IOS_DEPTH: u64 = 40;

/// How long a snapshot may take (`customSnapshotTimeout`, earlier `snapshotTimeout`), in seconds:
/// shorter than our own limit for a source, so that WebDriverAgent is free again when we give up.
/// WebDriverAgent 9.0 has removed both, and ignores them as any setting that it does not know.
const SNAPSHOT_S: u64 = 20;

/// How long an action on iOS waits until the app is idle (`waitForIdleTimeout`), in seconds. The
/// default of 10 s makes each tap on an endless animation take 10 s.
const IOS_IDLE_S: u64 = 2;

/// How long UiAutomator2 waits until the screen is idle (`waitForIdleTimeout`), in milliseconds.
/// Its default of 10 s makes each source of an endless animation take 10 s; whether a screen has
/// settled is decided by our callers.
const ANDROID_IDLE_MS: u64 = 100;

/// How deep UiAutomator2's source may be (`snapshotMaxDepth`, 70 by default).
const ANDROID_DEPTH: u64 = 300;

impl Dialect {
    /// Appium's, for phones of this platform.
    pub(crate) fn of_appium(platform: Platform) -> Self {
        match platform {
            Platform::Android => Self::UiAutomator2,
            Platform::Ios => Self::XcuiTest,
        }
    }

    pub(crate) const fn platform(self) -> Platform {
        match self {
            Self::UiAutomator2 => Platform::Android,
            Self::WebDriverAgent | Self::XcuiTest => Platform::Ios,
        }
    }

    pub(crate) const fn server(self) -> ServerProfile {
        match self {
            Self::WebDriverAgent => ServerProfile {
                name: "WebDriverAgent",
                kind: "WebDriverAgent",
                address: "the address of WebDriverAgent",
                example: "http://127.0.0.1:8100",
                start: "Start WebDriverAgent on the phone; over USB, forward its port with `iproxy 8100 8100`",
                lost_again: "another client takes WebDriverAgent's session each time",
                dead_session: None,
                takes_credentials: false,
                platform: Platform::Ios,
            },
            Self::UiAutomator2 | Self::XcuiTest => ServerProfile {
                name: "the Appium server",
                kind: "an Appium server",
                address: "the address of the Appium server",
                example: "http://127.0.0.1:4723",
                start: "Start it with `appium`, or correct the URL of `--appium`",
                lost_again: "the Appium server ends the session each time; another client may be using the phone",
                // `proxyCommand` of appium-uiautomator2-driver, before it passes the command on.
                dead_session: Some("because the instrumentation process is not running"),
                takes_credentials: true,
                platform: self.platform(),
            },
        }
    }

    /// The session of a phone with these capabilities.
    pub(crate) fn session_plan(self, capabilities: Capabilities) -> SessionPlan {
        let is_appium = self != Self::WebDriverAgent;
        let settings: &[(&str, u64)] = match self {
            Self::WebDriverAgent => &[
                ("snapshotMaxDepth", IOS_DEPTH),
                ("customSnapshotTimeout", SNAPSHOT_S),
                ("snapshotTimeout", SNAPSHOT_S),
                ("waitForIdleTimeout", IOS_IDLE_S),
            ],
            Self::UiAutomator2 => {
                &[("snapshotMaxDepth", ANDROID_DEPTH), ("waitForIdleTimeout", ANDROID_IDLE_MS)]
            }
            Self::XcuiTest => {
                &[("snapshotMaxDepth", IOS_DEPTH), ("waitForIdleTimeout", IOS_IDLE_S)]
            }
        };
        SessionPlan {
            request: NewSession::new(capabilities.0),
            // Appium installs its server on the phone, and builds WebDriverAgent for an iPhone.
            // WebDriverAgent looks for the app in front and waits for it.
            limit: Duration::from_secs(if is_appium { 300 } else { 30 }),
            settings: Some(set_settings(settings)),
            is_exclusive: is_appium,
            // Appium restores what it has changed on the phone. WebDriverAgent ends a session at
            // once, or is gone.
            ending: Duration::from_secs(if is_appium { 15 } else { 2 }),
        }
    }

    /// How it types.
    pub(crate) fn typing_method(self) -> TypingMethod {
        match self {
            // It sets the field's text to the old one and the new one.
            Self::UiAutomator2 => TypingMethod::SetText,
            Self::WebDriverAgent | Self::XcuiTest => TypingMethod::Keys,
        }
    }

    fn appium_driver(self) -> AppiumDriver {
        match self {
            Self::UiAutomator2 => AppiumDriver::UiAutomator2,
            Self::WebDriverAgent | Self::XcuiTest => AppiumDriver::XcuiTest,
        }
    }
}

/// Changes settings of the session; a server ignores those it does not know.
pub(super) fn set_settings(settings: &[(&str, u64)]) -> Command {
    let settings = settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).into()));
    SessionCommand::SetSettings { settings: settings.collect() }.into()
}

/// An extension command of Appium.
pub(super) fn script(command: MobileCommand) -> Command {
    SessionCommand::Execute { script: command.into() }.into()
}

/// What WebDriverAgent and Appium do by different commands.
#[derive(Debug, Clone, Copy)]
pub(super) enum PhoneCommand<'a> {
    IsLocked,
    Lock,
    Unlock,
    /// Presses a button of an iPhone.
    PressButton(&'a str),
    /// Presses a key of a hardware keyboard at an iPhone, by its usage of the HID usage tables.
    PressUsage(u64),
    Battery,
    DeviceInfo,
    /// Asks which app of iOS is in front.
    ActiveApp,
    GetClipboard,
    SetClipboard(&'a str),
    /// Opens an address.
    OpenUrl(&'a str),
    AppState(&'a AppId),
    /// Brings an app to the front; Appium starts it if it does not run.
    ActivateApp(&'a AppId),
    TerminateApp(&'a AppId),
}

/// How long a key of a hardware keyboard is down, in seconds.
const KEY_DOWN_S: f64 = 0.005;

impl PhoneCommand<'_> {
    /// The command of this server.
    pub(super) fn command(self, dialect: Dialect) -> Command {
        let app =
            |operation, app: &AppId| MobileCommand::app(operation, dialect.appium_driver(), &app.0);
        let plaintext = || Some("plaintext".to_owned());
        let (wda, appium): (Command, MobileCommand) = match self {
            Self::IsLocked => (DeviceCommand::IsLocked.into(), MobileCommand::new("isLocked")),
            Self::Lock => (DeviceCommand::Lock.into(), MobileCommand::new("lock")),
            Self::Unlock => (DeviceCommand::Unlock.into(), MobileCommand::new("unlock")),
            Self::PressButton(name) => (
                DeviceCommand::PressButton { name: name.into(), duration_s: None }.into(),
                MobileCommand::new("pressButton").arg("name", name),
            ),
            Self::PressUsage(usage) => {
                let (page, duration_s) = (KEYBOARD_PAGE, KEY_DOWN_S);
                let appium = MobileCommand::new("performIoHidEvent")
                    .arg("page", page)
                    .arg("usage", usage)
                    .arg("durationSeconds", duration_s);
                (DeviceCommand::PerformHidEvent { page, usage, duration_s }.into(), appium)
            }
            Self::Battery => (DeviceCommand::BatteryInfo.into(), MobileCommand::new("batteryInfo")),
            Self::DeviceInfo => {
                (DeviceCommand::DeviceInfo.into(), MobileCommand::new("deviceInfo"))
            }
            Self::ActiveApp => (AppCommand::ActiveInfo.into(), MobileCommand::new("activeAppInfo")),
            Self::GetClipboard => {
                let appium = MobileCommand::new("getClipboard");
                let appium = match dialect.platform() {
                    Platform::Android => appium,
                    Platform::Ios => appium.arg("contentType", "plaintext"),
                };
                (DeviceCommand::GetPasteboard { content_type: plaintext() }.into(), appium)
            }
            Self::SetClipboard(text) => {
                let content = Base64(text.as_bytes().to_vec());
                let appium = MobileCommand::new("setClipboard")
                    .arg("content", content.to_text())
                    .arg("contentType", "plaintext");
                let content_type = plaintext();
                (DeviceCommand::SetPasteboard { content, content_type }.into(), appium)
            }
            Self::OpenUrl(url) => (open_url(url), MobileCommand::new("deepLink").arg("url", url)),
            Self::AppState(id) => (
                AppCommand::State { bundle_id: id.0.clone() }.into(),
                app(AppOperation::QueryState, id),
            ),
            Self::ActivateApp(id) => (
                AppCommand::Activate { bundle_id: id.0.clone() }.into(),
                app(AppOperation::Activate, id),
            ),
            Self::TerminateApp(id) => (
                AppCommand::Terminate { bundle_id: id.0.clone() }.into(),
                app(AppOperation::Terminate, id),
            ),
        };
        match dialect {
            Dialect::WebDriverAgent => wda,
            Dialect::UiAutomator2 | Dialect::XcuiTest => script(appium),
        }
    }
}

/// The command by which WebDriverAgent opens an address, and XCUITest on iOS before 16.4.
pub(super) fn open_url(url: &str) -> Command {
    AppCommand::OpenUrl { url: url.into(), bundle_id: None, idle_timeout_ms: None }.into()
}
