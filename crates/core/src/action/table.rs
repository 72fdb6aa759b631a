//! The actions: one row each.
//!
//! A row has everything that is known of an action before it is performed: what it does, its
//! parameters, the type of its result, what it affects, and its words for a person.
//! [`Session`](crate::session::Session) performs it.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use thumbwire_device::{
    App, AppId, Foreground, Gesture, Identity, InstallOptions, Key, LaunchArgument, Location,
    LogEntry, LogFilter, Notification, Orientation, Platform, Point, Size, millis,
};

use super::display::{file_name, gesture_text, under_way};
use super::outcome::{
    CrashList, DefaultDevice, FoundElements, HealthResult, InfoResult, InstalledApp, LabelledApps,
    LaunchResult, LocalFile, LogMonitor, Observation, PinchResult, PushResult, RecordingInfo,
    SavedScreenshot, SwipeResult, TapResult, TypeResult,
};
use super::{
    AppFilter, AppSelector, AppToolCall, AppToolResult, CacheKind, Catalog, Direction,
    ElementSelector, ListedDevice, Request, Scope, ScreenshotOptions, Since, SnapshotOptions,
    Target, TextInput,
};

/// What an action affects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// Nothing: who may only look may do it.
    Nothing,
    /// This computer: it leaves a file, or starts or ends what outlives the call.
    Computer,
    /// The phone, but nothing that its screen shows. Another client's work would spoil it.
    Phone,
    /// The screen, or what is on it.
    Screen,
}

/// Makes [`Action`] and its [requests](request) of rows.
///
/// A row is the action's documentation, its name and parameters, `->` the type of its result, what
/// it affects, and the parameters that its words need `=>` its words, which fit after "Operation
/// timed out:". They never have typed text, which may be a password.
macro_rules! actions {
    ($(
        $(#[doc = $doc:literal])* $(#[serde($($how:tt)*)])?
        $name:ident
        $(($(#[serde($($value_how:tt)*)])? $value:ty))?
        $({ $($(#[doc = $field_doc:literal])* $(#[serde($($field_how:tt)*)])? $field:ident: $type:ty,)* })?
        -> $result:ty, $effect:expr, $parameters:tt => $text:expr;
    )*) => {
        /// An action that a session can perform. As JSON it is what a trace has of it.
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Action {
            $(
                $(#[doc = $doc])* $(#[serde($($how)*)])?
                $name
                $(($(#[serde($($value_how)*)])? $value))?
                $({ $($(#[doc = $field_doc])* $(#[serde($($field_how)*)])? $field: $type,)* })?,
            )*
        }

        /// The names of all actions, in the order of the table.
        #[cfg(test)]
        pub(super) const NAMES: &[&str] = &[$(stringify!($name)),*];

        impl Action {
            fn effect(&self) -> Effect {
                use Effect::{Computer, Nothing, Phone, Screen};
                #[allow(unused_variables, reason = "the words need the parameters")]
                match self {
                    $(Self::$name $parameters => $effect,)*
                }
            }

            fn text(&self) -> String {
                #[allow(unused_variables, reason = "what it affects may need a parameter")]
                match self {
                    $(Self::$name $parameters => $text.into(),)*
                }
            }
        }

        // Some rows name their types by whole paths: an action of the same name hides them here.
        /// Each action as a type of its own, for callers that want its own result: see
        /// [`TypedPerform::request`](super::TypedPerform::request).
        pub mod request {
            use super::*;

            $(
                actions! {
                    @request
                    [$(#[doc = $doc])*] $name
                    $(($value))?
                    $({ $($(#[doc = $field_doc])* $field: $type,)* })?
                }

                impl Request for $name {
                    type Output = $result;
                }
            )*
        }
    };
    (@request [$($doc:tt)*] $name:ident) => {
        $($doc)*
        #[derive(Debug, Clone, PartialEq)]
        pub struct $name;

        impl From<$name> for Action {
            fn from(_: $name) -> Self {
                Self::$name
            }
        }
    };
    (@request [$($doc:tt)*] $name:ident ($value:ty)) => {
        $($doc)*
        #[derive(Debug, Clone, PartialEq)]
        pub struct $name(pub $value);

        impl From<$name> for Action {
            fn from($name(value): $name) -> Self {
                Self::$name(value)
            }
        }
    };
    (@request [$($doc:tt)*] $name:ident { $($(#[doc = $field_doc:literal])* $field:ident: $type:ty,)* }) => {
        $($doc)*
        #[derive(Debug, Clone, PartialEq)]
        pub struct $name { $($(#[doc = $field_doc])* pub $field: $type,)* }

        impl From<$name> for Action {
            fn from($name { $($field),* }: $name) -> Self {
                Self::$name { $($field),* }
            }
        }
    };
}

actions! {
    /// Lists the phones.
    ListDevices {
        /// Only this platform.
        platform: Option<Platform>,
        /// Whether to connect first to the selected phone, if it has an address, to learn its state
        /// and model. Takes up to 9 s, and the phone may ask its owner to accept our key.
        connect: bool,
    } -> Vec<ListedDevice>, Nothing, { .. } => "list devices";

    /// Selects the phone for later calls.
    SelectDevice {
        /// Its id.
        device: String,
        /// The platform that the caller expects.
        platform: Option<Platform>,
    } -> Identity, Nothing, { device, .. } => format!("use device {device}");

    /// Selects a phone without an id: the one selected before, else the first physical one, else
    /// the first emulator.
    SelectDefaultDevice -> DefaultDevice, Nothing, {} => "select a device";

    /// Checks how well the phone can be controlled.
    Health -> HealthResult, Nothing, {} => "check device health";

    /// Takes a screenshot.
    Screenshot(ScreenshotOptions) -> thumbwire_device::Screenshot, Nothing, { .. } => "take screenshot";

    /// Saves a screenshot as a PNG file on the phone.
    SaveScreenshot {
        /// The file name, relative to the phone's storage; `None` derives one from the time.
        name: Option<String>,
        /// Whether to fetch it into a local file too.
        fetch: bool,
    } -> SavedScreenshot, Computer, { .. } => "save screenshot";

    /// Takes a snapshot: the elements on the screen, with refs.
    Snapshot(SnapshotOptions) -> Arc<crate::snapshot::Snapshot>, Nothing, { .. } => "read accessibility tree";

    /// Reads the screen for a caller that has seen an earlier one and wants to know what changed.
    Observe(crate::action::Observe) -> Observation, Nothing, (when) => when.to_string();

    /// Takes a screenshot and a snapshot of the same moment.
    ScreenshotAndSnapshot(ScreenshotOptions) -> crate::action::ScreenshotAndSnapshot, Nothing,
        { .. } => "take snapshot";

    /// Takes a screenshot and lists the controls of the same moment, as [`Action::Controls`] does.
    ScreenshotAndControls(ScreenshotOptions) -> crate::action::ScreenshotAndControls, Nothing,
        { .. } => "take screenshot and list controls";

    /// Finds the elements on the screen that match a selector.
    FindElements(ElementSelector) -> FoundElements, Nothing, { .. } => "find elements";

    /// Tells where a tap on an element would go, without tapping it.
    Locate {
        /// The element.
        target: Target,
        /// Whether it is to get a text: then only a field counts.
        for_text: bool,
    } -> TapResult, Nothing, { target, .. } => format!("find element {target}");

    /// Lists the controls on the screen by the rules of the UFO MobileAgent servers, numbered from
    /// 1.
    Controls {
        /// The maximum age of a cached answer, if no action followed it.
        #[serde(rename = "max_age_ms", with = "millis")]
        max_age: Duration,
    } -> Arc<crate::snapshot::Controls>, Nothing, { .. } => "list controls";

    /// Reads the phone's properties.
    DeviceInfo {
        /// The maximum age of a cached answer.
        #[serde(rename = "max_age_ms", with = "millis")]
        max_age: Duration,
    } -> InfoResult, Nothing, { .. } => "get device information";

    /// Lists the installed apps. [`AppSelector::ListIndex`] counts this list from 1.
    ListApps {
        /// Which apps: by user, with the system, or all.
        which: AppFilter,
        /// Only apps whose id contains this; empty means all.
        containing: String,
        /// The maximum age of a cached answer.
        #[serde(rename = "max_age_ms", with = "millis")]
        max_age: Duration,
    } -> Vec<App>, Nothing, { .. } => "list apps";

    /// Lists the installed apps with the names that the launcher shows, as far as these can be read
    /// quickly.
    ListLabelledApps {
        /// Which apps: by user, with the system, or all.
        which: AppFilter,
    } -> LabelledApps, Nothing, { .. } => "list apps";

    /// Tells which app has the focus.
    CurrentApp -> Foreground, Nothing, {} => "get current app";

    /// Performs a gesture at coordinates.
    Touch(Gesture) -> (), Screen, (gesture) => gesture_text(*gesture);

    /// Swipes from the centre of the screen.
    Swipe {
        /// The direction of the finger.
        direction: Direction,
        /// The distance in pixels; `None` is a third of the screen's shorter side.
        distance: Option<i32>,
        /// The duration.
        #[serde(rename = "duration_ms", with = "millis")]
        duration: Duration,
    } -> SwipeResult, Screen, { direction, .. } => format!("swipe {}", direction.name());

    /// Scrolls the content in the centre of the screen.
    Scroll {
        /// The direction of scrolling: down shows content further down.
        direction: Direction,
        /// The distance in screens: 1.0 is a full screen.
        distance: f64,
    } -> (), Screen, { direction, .. } => format!("scroll {}", direction.name());

    /// Moves two fingers apart or together, to zoom. Only some phones can; see [`Gesture::Pinch`].
    Pinch {
        /// The middle between the fingers; `None` is the centre of the screen.
        at: Option<Point>,
        /// How many times as far apart the fingers are afterwards: above 1 zooms in, below 1 out.
        /// What one pinch cannot do takes several.
        scale: f64,
        /// The duration of each pinch.
        #[serde(rename = "duration_ms", with = "millis")]
        duration: Duration,
    } -> PinchResult, Screen, { scale, .. } => format!("pinch by {scale}");

    /// Taps an element.
    TapElement(Target) -> TapResult, Screen, (target) => format!("tap element {target}");

    /// Types text into a field.
    Type(TextInput) -> TypeResult, Screen,
        (typing) => format!("type {} characters", typing.text.chars().count());

    /// Presses a key.
    Press(Key) -> (), Screen, (key) => format!("press {}", key.name());

    /// Starts an app or brings it to the front.
    Launch(AppSelector) -> LaunchResult, Screen, (app) => format!("launch {app}");

    /// Opens an address in the app that handles it.
    OpenUrl(String) -> LaunchResult, Screen, (url) => {
        // Not the rest: an address may contain a secret.
        let scheme = url.split_once(':').map_or("", |(scheme, _)| scheme);
        format!("open a {scheme}: address")
    };

    /// Starts an app with arguments, once the phone shows it.
    LaunchWith {
        /// The app.
        app: AppId,
        /// The arguments.
        arguments: Vec<LaunchArgument>,
    } -> LaunchResult, Screen, { app, .. } => format!("launch {app} with arguments");

    /// Stops an app with all its processes.
    Stop(AppId) -> (), Screen, (app) => format!("close {app}");

    /// Installs an app from a local package, or updates it and keeps its data.
    InstallApp {
        /// The file's path in the session's folder of input files.
        path: String,
        /// How.
        options: InstallOptions,
    } -> InstalledApp, Screen, { path, .. } => format!("install {}", file_name(path));

    /// Uninstalls an app with its data. One that came with the phone is refused.
    UninstallApp(AppId) -> (), Screen, (app) => format!("uninstall {app}");

    /// Copies a local file to the phone.
    PushFile {
        /// The file's path in the session's folder of input files.
        path: String,
        /// Where to write it: a path on the phone, or a folder if it ends in `/`.
        to: String,
        /// Whether to replace an existing file.
        overwrite: bool,
    } -> PushResult, Phone, { path, .. } => format!("copy {} to the phone", file_name(path));

    /// Copies a file from the phone to a local one.
    PullFile {
        /// Its path on the phone.
        path: String,
        /// The name of the local file; `None` is the name that it has on the phone.
        name: Option<String>,
    } -> LocalFile, Computer, { path, .. } => format!("copy {} from the phone", file_name(path));

    /// Reads the text in the phone's clipboard.
    ReadClipboard -> Option<String>, Nothing, {} => "read the clipboard";

    /// Replaces what the phone's clipboard has with a text.
    SetClipboard(String) -> (), Phone,
        (text) => format!("set the clipboard to {} characters", text.chars().count());

    /// Tells apps that the phone is at this place.
    SetLocation(Location) -> (), Screen,
        (at) => format!("set the location to {}, {}", at.latitude, at.longitude);

    /// Stops an app and clears its data, as if it had just been installed.
    ClearData(AppId) -> (), Screen, (app) => format!("clear the data of {app}");

    /// Grants a permission to an app or revokes it.
    SetPermission {
        /// The app.
        app: AppId,
        /// The permission: `android.permission.CAMERA`.
        permission: String,
        /// Whether to grant or revoke it.
        granted: bool,
    } -> (), Screen, { app, permission, granted } => match granted {
        true => format!("grant {permission} to {app}"),
        false => format!("revoke {permission} from {app}"),
    };

    /// Turns the screen on and dismisses a lock screen without a secret. The outcome is what is in
    /// front then.
    Unlock -> Foreground, Screen, {} => "unlock the phone";

    /// Rotates the screen. The session restores the orientation when it ends.
    SetOrientation(Orientation) -> (), Screen,
        (orientation) => format!("turn to {}", orientation.name());

    /// Waits for this long.
    #[serde(rename = "wait_ms")]
    Wait(#[serde(with = "millis")] Duration) -> (), Nothing,
        (time) => format!("wait {} s", time.as_secs_f64());

    /// Drops cached answers, so that the next query asks the phone.
    InvalidateCache(CacheKind) -> (), Nothing, { .. } => "invalidate caches";

    /// Reads the newest entries of the phone's log, oldest first.
    ReadLog {
        /// Which entries.
        filter: LogFilter,
        /// The maximum number of entries.
        max: usize,
        /// Whether to clear the log first.
        clear: bool,
    } -> Vec<LogEntry>, if *clear { Phone } else { Nothing }, { clear, .. } => "read the log";

    /// Reads the newest crashes and ANRs of apps, oldest first.
    ReadCrashes {
        /// Only those since then.
        since: Since,
        /// Only those of this app.
        app: Option<AppId>,
    } -> CrashList, Nothing, { .. } => "read crashes";

    /// Lists the notifications that are posted now.
    ListNotifications {
        /// The maximum number.
        max: usize,
    } -> Vec<Notification>, Nothing, { .. } => "list notifications";

    /// Follows the phone's log until stopped or until the session ends.
    StartMonitor {
        /// Which entries.
        filter: LogFilter,
        /// The name of the local file to write them to; `None` only counts them.
        file: Option<String>,
    } -> LogMonitor, Computer, { .. } => "start log monitoring";

    /// Stops one log monitor; `None` stops all. The outcome has those that were stopped.
    StopMonitor(Option<String>) -> Vec<LogMonitor>, Computer, { .. } => "stop log monitoring";

    /// Lists the active log monitors.
    ListMonitors -> Vec<LogMonitor>, Nothing, {} => "list log monitors";

    /// Records the screen until stopped, until the time limit, or until the session ends.
    StartRecording {
        /// The file name, relative to the phone's storage; `None` derives one from the time.
        name: Option<String>,
        /// The time limit.
        #[serde(rename = "duration_ms", with = "millis")]
        duration: Duration,
        /// Bits per second.
        bit_rate: Option<u32>,
        /// Video size in pixels.
        size: Option<Size>,
    } -> RecordingInfo, Phone, { .. } => "start a recording";

    /// Stops one recording, or all. The outcome has those that were stopped.
    StopRecording {
        /// Which one; `None` stops all.
        recording: Option<String>,
        /// Whether to fetch it into a local file too.
        fetch: bool,
    } -> Vec<RecordingInfo>, Computer, { .. } => "stop a recording";

    /// Lists the active recordings.
    ListRecordings -> Vec<RecordingInfo>, Nothing, {} => "list recordings";

    /// Lists the tools that apps on the phone offer.
    ListAppTools {
        /// The maximum age of a cached answer; zero always asks the phone.
        #[serde(rename = "max_age_ms", with = "millis")]
        max_age: Duration,
    } -> Arc<Catalog>, Nothing, { .. } => "list app tools";

    /// Calls a tool of an app.
    CallAppTool(AppToolCall) -> AppToolResult, Screen,
        (call) => format!("call {} of {}", call.tool, call.app);

    /// Trusts an app's tools: pins its present certificate and descriptor.
    TrustAppTools(AppId) -> (), Computer, (app) => format!("trust the tools of {app}");
}

impl Action {
    /// Whether the action acts on the phone, for which it needs the phone's lease. More than what
    /// changes the screen: also what another client's work would spoil, such as a recording.
    pub fn needs_lease(&self) -> bool {
        matches!(self.effect(), Effect::Phone | Effect::Screen)
    }

    /// Whether the action needs a phone. What does not can say something of one.
    pub fn is_for_a_phone(&self) -> bool {
        !matches!(
            self,
            Self::ListDevices { .. }
                | Self::SelectDefaultDevice
                | Self::Wait(_)
                | Self::InvalidateCache(_)
                | Self::StopMonitor(_)
                | Self::ListMonitors
                | Self::StopRecording { .. }
                | Self::ListRecordings
        )
    }

    /// What a client has to be allowed for this action.
    pub fn scope(&self) -> Scope {
        if self.effect() == Effect::Nothing { Scope::Look } else { Scope::Act }
    }

    /// Whether the action may change the screen.
    pub fn changes_screen(&self) -> bool {
        self.effect() == Effect::Screen
    }

    /// What is going on while the action is performed: `installing app.apk`. Like
    /// [`Display`](fmt::Display) it has no typed text; it may have texts of the caller.
    pub fn under_way(&self) -> String {
        under_way(&self.text())
    }
}

/// Fits after "Operation timed out:".
impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text())
    }
}
