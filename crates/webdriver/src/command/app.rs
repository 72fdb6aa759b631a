//! Apps and URLs.

use serde_json::{Map, Value};

use super::route::commands;
use crate::field::{Body, FieldError, get, put};

commands! {
    /// Commands about apps. Sources: FBSessionCommands.m, FBCustomCommands.m; `protocol/routes/appium-device` of Appium's
    /// base driver. The names with `Appium` are paths of Appium servers; newer clients use
    /// [`MobileCommand::app`](crate::MobileCommand::app).
    AppCommand as App {
        /// Starts an app, from its beginning.
        Launch {
            /// Such as `com.apple.Preferences`.
            bundle_id: String = field("bundleId"),
            /// Its arguments.
            arguments: Option<Vec<String>> = field("arguments"),
            /// Its environment: texts by name.
            environment: Option<Map<String, Value>> = field("environment"),
            /// Whether to wait until nothing moves; it is waited unless given.
            wait_for_quiescence: Option<bool> = field("shouldWaitForQuiescence"),
        } => Post Required "/wda/apps/launch";
        /// Starts an app that the session does not watch.
        LaunchUnattached {
            /// Such as `com.apple.Preferences`.
            bundle_id: String = field("bundleId"),
        } => Post None "/wda/apps/launchUnattached";
        /// Brings an app to the front.
        Activate {
            /// Such as `com.apple.Preferences`.
            bundle_id: String = field("bundleId"),
        } => Post Required "/wda/apps/activate";
        /// Ends an app; the response is whether it ran.
        Terminate {
            /// Such as `com.apple.Preferences`.
            bundle_id: String = field("bundleId"),
        } => Post Required "/wda/apps/terminate";
        /// Asks for an app's [`AppState`](crate::AppState).
        State {
            /// Such as `com.apple.Preferences`.
            bundle_id: String = field("bundleId"),
        } => Post Required "/wda/apps/state";
        /// Asks which apps are active: a list of objects with `pid` and `bundleId`.
        List => Get Required "/wda/apps/list";
        /// Asks which app is in front: [`ActiveApp`](crate::ActiveApp).
        ActiveInfo => Get Optional "/wda/activeAppInfo";
        /// Sends the app to the background for a while.
        Deactivate {
            /// Seconds; 3 unless given.
            duration_s: Option<f64> = field("duration"),
        } => Post Required "/wda/deactivateApp";
        /// Forgets what the user permitted the app in front.
        ResetAuthorization {
            /// XCTest's number of the resource: XCUIProtectedResource.
            resource: u64 = field("resource"),
        } => Post Required "/wda/resetAppAuth";
        /// Opens a URL, or in a web context a page.
        OpenUrl {
            /// Such as `prefs:root=WIFI`.
            url: String = field("url"),
            /// The app to open it in.
            bundle_id: Option<String> = field("bundleId"),
            /// How long to wait until that app is idle, in milliseconds.
            idle_timeout_ms: Option<u64> = field("idleTimeoutMs"),
        } => Post Required "/url";
        /// Asks for the URL of a page in a web context.
        GetUrl => Get Required "/url";
        /// Brings an app to the front.
        AppiumActivate {
            /// The app.
            app: AppName = body,
        } => Post Required "/appium/device/activate_app";
        /// Ends an app; the response is whether it ran.
        AppiumTerminate {
            /// The app.
            app: AppName = body,
            /// Such as `timeout` in milliseconds.
            options: Option<Map<String, Value>> = field("options"),
        } => Post Required "/appium/device/terminate_app";
        /// Asks for an app's [`AppState`](crate::AppState).
        AppiumState {
            /// The app.
            app: AppName = body,
        } => Post Required "/appium/device/app_state";
        /// Asks whether an app is there.
        AppiumIsInstalled {
            /// The app.
            app: AppName = body,
        } => Post Required "/appium/device/app_installed";
        /// Installs an app.
        AppiumInstall {
            /// A path of the server's computer, or a URL.
            path: String = field("appPath"),
            /// Options of the driver.
            options: Option<Map<String, Value>> = field("options"),
        } => Post Required "/appium/device/install_app";
        /// Uninstalls an app; the response is whether it was there.
        AppiumRemove {
            /// The app.
            app: AppName = body,
            /// Options of the driver.
            options: Option<Map<String, Value>> = field("options"),
        } => Post Required "/appium/device/remove_app";
    }
}

/// A bundle identifier or package. It is written as `appId` and as `bundleId`, and read from either, as Appium's clients and
/// servers do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppName(pub String);

impl Body for AppName {
    fn write(&self, body: &mut Map<String, Value>) {
        put(body, "appId", &self.0);
        put(body, "bundleId", &self.0);
    }

    fn read(body: &Map<String, Value>) -> Result<Self, FieldError> {
        match get(body, "appId")? {
            Some(name) => Ok(Self(name)),
            None => get(body, "bundleId").map(Self),
        }
    }
}
