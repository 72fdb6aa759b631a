//! Apps and URLs.

use serde_json::{Map, Value};

use super::route::commands;

commands! {
    /// Commands about apps. Sources: FBSessionCommands.m, FBCustomCommands.m. For Appium see
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
    }
}
