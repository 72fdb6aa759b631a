//! Sessions, the server itself, contexts, scripts and logs.

use serde_json::{Map, Value};

use super::route::commands;
use crate::capabilities::NewSession;
use crate::mobile::Script;
use crate::timeouts::Timeouts;

commands! {
    /// Commands about a session or the server. Sources: W3C WebDriver, sections 8 and 9;
    /// FBSessionCommands.m; `protocol/routes` of Appium's base driver.
    SessionCommand as Session {
        /// Asks whether the server is ready: [`ServerStatus`](crate::ServerStatus).
        Status => Get None "/status";
        /// Begins a session: [`NewSessionResponse`](crate::NewSessionResponse). WebDriverAgent ends
        /// the one it had.
        New {
            /// What the session must be able to do.
            request: NewSession = body,
        } => Post None "/session";
        /// Asks for a session's capabilities.
        Get => Get Required "";
        /// Ends a session.
        Delete => Delete Required "";
        /// Sets how long the session waits.
        SetTimeouts {
            /// The limits to change.
            timeouts: Timeouts = body,
        } => Post Required "/timeouts";
        /// Asks for the settings: an object by name.
        GetSettings => Get Required "/appium/settings";
        /// Changes some settings; WebDriverAgent responds with all of them (names: FBSettings.m).
        SetSettings {
            /// The new values by name.
            settings: Map<String, Value> = field("settings"),
        } => Post Required "/appium/settings";
        /// Runs a script or an extension command.
        Execute {
            /// The script; see [`MobileCommand`](crate::MobileCommand).
            script: Script = body,
        } => Post Required "/execute/sync" | "/execute";
        /// Asks for log lines since the last time. Appium only.
        GetLog {
            /// Such as `syslog` or `logcat`.
            log_type: String = field("type"),
        } => Post Required "/se/log" | "/log";
        /// Lets WebDriverAgent find out whether it still works; it may change what the phone shows.
        HealthCheck => Get None "/wda/healthcheck";
    }
}
