//! The vocabulary of a session: actions, outcomes and failures.
//!
//! Every caller (an MCP client, the agent, the command line) uses [`Perform::perform`], and every layer between a
//! caller and the session (the trace, a replay) implements [`Perform`] too. It takes a [`Call`] and an [`Action`] and
//! returns an [`Outcome`] or a [`Failure`]. Tool names and JSON belong to [`crate::toolset`].

mod app_tools;
mod call;
mod client;
mod device_path;
mod display;
mod failure;
mod file_names;
mod listed_device;
mod outcome;
mod package_refusal;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use thumbwire_device::{
    AppId, FormatPreference, Gesture, InstallOptions, Key, Location, LogFilter, Orientation,
    Platform, Point, Size, TreeDetail,
};

pub use crate::snapshot::{ControlNumber, Controls, ElementId, ElementRef};
pub use app_tools::{
    AppTool, AppToolCall, AppToolFinding, AppToolPhase, AppToolProtocol, AppToolReply,
    AppToolResult, AppTools, Catalog, Parameter, TrustStatus,
};
pub use call::{
    AskUser, Call, CallState, NoProgress, NoUser, Progress, Question, UserAnswer, agrees,
};
pub use client::{ClientId, ClientName, Scope};
pub use device_path::{DEVICE_FOLDERS, check_device_path};
pub use failure::{Cause, Failure};
pub use file_names::{FileNameError, LONGEST_NAME, check_name};
pub use listed_device::{DeviceKind, ListedDevice};
pub use outcome::{
    FetchResult, InstalledApp, Label, LocalFile, LogMonitor, Observation, Outcome, Readback,
    RecordingInfo, SavedScreenshot, SelectionReason, TapResult, TypeResult,
};

/// Performs actions.
#[async_trait]
pub trait Perform: Send + Sync {
    /// Performs one action within the call's deadline. Never sends an action to the phone twice.
    async fn perform(&self, call: &Call, action: Action) -> Result<Outcome, Failure>;
}

/// What a server with several clients asks of the session besides calls.
#[async_trait]
pub trait ClientWatch: Send + Sync {
    /// The number of connected phones.
    fn connected_phones(&self) -> usize;

    /// A client has left: it ended its session, or its session ended because it was not used. Its
    /// calls that still run are being cancelled; what it has started ends.
    async fn client_left(&self, client: &ClientId);
}

#[async_trait]
impl<P: Perform + ?Sized> Perform for Arc<P> {
    async fn perform(&self, call: &Call, action: Action) -> Result<Outcome, Failure> {
        (**self).perform(call, action).await
    }
}

/// An action that a session can perform.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Lists the phones.
    ListDevices {
        /// Only this platform.
        platform: Option<Platform>,
        /// Whether to connect first to the selected phone, if it has an address, to learn its state and model. Takes up to
        /// 9 s, and the phone may ask its owner to accept our key.
        connect: bool,
    },
    /// Selects the phone for later calls.
    SelectDevice {
        /// Its id.
        device: String,
        /// The platform that the caller expects.
        platform: Option<Platform>,
    },
    /// Selects a phone without an id: the one selected before, else the first physical one, else the first emulator.
    SelectDefaultDevice,
    /// Checks how well the phone can be controlled.
    Health,
    /// Takes a screenshot.
    Screenshot(ScreenshotOptions),
    /// Saves a screenshot as a PNG file on the phone.
    SaveScreenshot {
        /// The file name, relative to the phone's storage; `None` derives one from the time.
        name: Option<String>,
        /// Whether to fetch it into a local file too.
        fetch: bool,
    },
    /// Takes a snapshot: the elements on the screen, with refs.
    Snapshot(SnapshotOptions),
    /// Reads the screen for a caller that has seen an earlier one and wants to know what changed.
    Observe(Observe),
    /// Takes a screenshot and a snapshot of the same moment.
    ScreenshotAndSnapshot(ScreenshotOptions),
    /// Finds the elements on the screen that match a selector.
    FindElements(ElementSelector),
    /// Lists the controls on the screen by the rules of the UFO MobileAgent servers, numbered from 1.
    Controls {
        /// The maximum age of a cached answer, if no action followed it.
        max_age: Duration,
    },
    /// Reads the phone's properties.
    DeviceInfo {
        /// The maximum age of a cached answer.
        max_age: Duration,
    },
    /// Lists the installed apps. [`AppSelector::ListIndex`] counts this list from 1.
    ListApps {
        /// Which apps: by user, with the system, or all.
        which: AppFilter,
        /// Only apps whose id contains this; empty means all.
        containing: String,
        /// The maximum age of a cached answer.
        max_age: Duration,
    },
    /// Lists the installed apps with the names that the launcher shows, as far as these can be read quickly.
    ListLabelledApps {
        /// Which apps: by user, with the system, or all.
        which: AppFilter,
    },
    /// Tells which app has the focus.
    CurrentApp,
    /// Performs a gesture at coordinates.
    Touch(Gesture),
    /// Swipes from the centre of the screen.
    Swipe {
        /// The direction of the finger.
        direction: Direction,
        /// The distance in pixels; `None` is a third of the screen's shorter side.
        distance: Option<i32>,
        /// The duration.
        lasting: Duration,
    },
    /// Scrolls the content in the centre of the screen.
    Scroll {
        /// The direction of scrolling: down shows content further down.
        direction: Direction,
        /// The distance in screens: 1.0 is a full screen.
        distance: f64,
    },
    /// Moves two fingers apart or together, to zoom. Only some phones can; see [`Gesture::Pinch`].
    Pinch {
        /// The middle between the fingers; `None` is the centre of the screen.
        at: Option<Point>,
        /// How many times as far apart the fingers are afterwards: above 1 zooms in, below 1 out. What one pinch cannot do
        /// takes several.
        scale: f64,
        /// The duration of each pinch.
        lasting: Duration,
    },
    /// Taps an element.
    TapElement(Target),
    /// Types text into a field.
    Type(TextInput),
    /// Presses a key.
    Press(Key),
    /// Starts an app or brings it to the front.
    Launch(AppSelector),
    /// Opens an address in the app that handles it.
    OpenUrl(String),
    /// Stops an app with all its processes.
    Stop(AppId),
    /// Installs an app from a local package, or updates it and keeps its data.
    InstallApp {
        /// The file's path in the session's folder of input files.
        path: String,
        /// How.
        options: InstallOptions,
    },
    /// Uninstalls an app with its data. One that came with the phone is refused.
    UninstallApp(AppId),
    /// Copies a local file to the phone.
    PushFile {
        /// The file's path in the session's folder of input files.
        path: String,
        /// Where to write it: a path on the phone, or a folder if it ends in `/`.
        to: String,
        /// Whether to replace an existing file.
        overwrite: bool,
    },
    /// Copies a file from the phone to a local one.
    PullFile {
        /// Its path on the phone.
        path: String,
        /// The name of the local file; `None` is the name that it has on the phone.
        name: Option<String>,
    },
    /// Reads the text in the phone's clipboard.
    ReadClipboard,
    /// Replaces what the phone's clipboard has with a text.
    SetClipboard(String),
    /// Tells apps that the phone is at this place.
    SetLocation(Location),
    /// Stops an app and clears its data, as if it had just been installed.
    ClearData(AppId),
    /// Grants a permission to an app or revokes it.
    SetPermission {
        /// The app.
        app: AppId,
        /// The permission: `android.permission.CAMERA`.
        permission: String,
        /// Whether to grant or revoke it.
        granted: bool,
    },
    /// Turns the screen on and dismisses a lock screen without a secret. The outcome is what is in front then.
    Unlock,
    /// Rotates the screen. The session restores the orientation when it ends.
    SetOrientation(Orientation),
    /// Waits for this long.
    Wait(Duration),
    /// Drops cached answers, so that the next query asks the phone.
    InvalidateCache(CacheKind),
    /// Reads the newest entries of the phone's log, oldest first.
    ReadLog {
        /// Which entries.
        filter: LogFilter,
        /// The maximum number of entries.
        max: usize,
        /// Whether to clear the log first.
        clear: bool,
    },
    /// Reads the newest crashes and ANRs of apps, oldest first.
    ReadCrashes {
        /// Only those since then.
        since: Since,
        /// Only those of this app.
        app: Option<AppId>,
    },
    /// Lists the notifications that are posted now.
    ListNotifications {
        /// The maximum number.
        max: usize,
    },
    /// Follows the phone's log until stopped or until the session ends.
    StartMonitor {
        /// Which entries.
        filter: LogFilter,
        /// The name of the local file to write them to; `None` only counts them.
        file: Option<String>,
    },
    /// Stops one log monitor; `None` stops all.
    StopMonitor(Option<String>),
    /// Lists the active log monitors.
    ListMonitors,
    /// Records the screen until stopped, until the time limit, or until the session ends.
    StartRecording {
        /// The file name, relative to the phone's storage; `None` derives one from the time.
        name: Option<String>,
        /// The time limit.
        lasting: Duration,
        /// Bits per second.
        bit_rate: Option<u32>,
        /// Video size in pixels.
        size: Option<Size>,
    },
    /// Stops one recording, or all.
    StopRecording {
        /// Which one; `None` stops all.
        recording: Option<String>,
        /// Whether to fetch it into a local file too.
        fetch: bool,
    },
    /// Lists the active recordings.
    ListRecordings,
    /// Lists the tools that apps on the phone offer.
    ListAppTools {
        /// The maximum age of a cached answer; zero always asks the phone.
        max_age: Duration,
    },
    /// Calls a tool of an app.
    CallAppTool(AppToolCall),
    /// Trusts an app's tools: pins its present certificate and descriptor.
    TrustAppTools(AppId),
}

/// A moment of the phone's clock.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Since {
    /// This long ago.
    Ago(Duration),
    /// At this time of the phone, as [`thumbwire_device::phone_time`] parses it.
    Time(String),
}

/// How to take a snapshot.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SnapshotOptions {
    /// How much of the tree.
    pub detail: TreeDetail,
    /// The maximum age of a cached snapshot, if no action followed it; zero always asks the phone.
    pub max_age: Duration,
}

/// A cache of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CacheKind {
    /// The numbered controls.
    Controls,
    /// The list of apps.
    Apps,
    /// The UI tree.
    Tree,
    /// The phone's properties.
    DeviceInfo,
    /// All of them.
    All,
}

/// How a caller names an app to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AppSelector {
    /// By its id.
    Id(AppId),
    /// By the name that the launcher shows, or a part of it, or a part of its id. Equal names win over parts of ids, whole
    /// segments between dots over parts of names. Of several apps with the name none is started.
    Named(String),
    /// By its number in the last [`Action::ListApps`], counted from 1.
    ListIndex(String),
}

/// Selects elements by their properties; all set fields must match.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ElementSelector {
    /// Its text contains this, ignoring case.
    pub text: Option<String>,
    /// Its resource id contains this, case-sensitive.
    pub id: Option<String>,
    /// Its description contains this, ignoring case.
    pub description: Option<String>,
    /// Its class contains this, ignoring case.
    pub class: Option<String>,
    /// It is clickable.
    pub clickable: bool,
    /// It is enabled.
    pub enabled: bool,
    /// The strings must be equal to the whole values, case-sensitive.
    pub exact: bool,
}

/// The format and size of a screenshot.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ScreenshotOptions {
    /// The format.
    pub format: FormatPreference,
    /// The maximum file size in bytes; `None` is unlimited. A larger image is encoded again: first as asked, then as
    /// JPEG of less quality. Its size in pixels stays.
    pub max_bytes: Option<usize>,
    /// Whether to take a new one always. Otherwise one that is up to a second old may be served again, if no action
    /// followed it.
    pub fresh: bool,
}

/// Text to type, and where.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TextInput {
    /// The text; a line end is the Enter key.
    pub text: String,
    /// The field to tap first; `None` is the focused field.
    pub into: Option<Target>,
    /// Whether to clear the field first.
    pub clear: bool,
    /// Whether to press Enter afterwards.
    pub submit: bool,
}

impl TextInput {
    /// This text for the focused field.
    pub fn of(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }
}

/// Apps by origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AppFilter {
    /// Installed by the user.
    User,
    /// Shipped with the phone.
    System,
    /// All.
    All,
}

/// A direction on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are clear")]
pub enum Direction {
    Up,
    Down,
    Left,
    Right,
}

impl Direction {
    /// The name that the specifications' tools use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Down => "down",
            Self::Left => "left",
            Self::Right => "right",
        }
    }

    /// The direction with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Up, Self::Down, Self::Left, Self::Right].into_iter().find(|one| one.name() == name)
    }
}

/// When to read the screen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Observe {
    /// At once: the caller wants to see it.
    Now,
    /// As soon as it has settled after an action.
    Settled,
    /// When the condition holds, or this time has passed.
    Until(WaitCondition, Duration),
}

/// What a caller waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WaitCondition {
    /// The element is visible. A ref is one of an earlier list.
    Shown(Target),
    /// The element is not visible.
    Gone(Target),
    /// The app is in front and shows something.
    App(AppId),
    /// Two looks in a row show the same.
    Idle,
}

/// How a caller names an element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// By its id in the last list of its kind.
    Listed(ElementId),
    /// By name. With both, the text is used if nothing matches the id.
    Named {
        /// A resource id or a description.
        id: Option<String>,
        /// The visible text.
        text: Option<String>,
    },
    /// By selector, and its index among the matches, counted from 0.
    Selector(ElementSelector, usize),
}

impl Target {
    /// The element with this resource id or description.
    pub fn id(id: impl Into<String>) -> Self {
        Self::Named { id: Some(id.into()), text: None }
    }

    /// The element with this id in the last list of its kind.
    pub fn listed(id: impl Into<ElementId>) -> Self {
        Self::Listed(id.into())
    }

    /// The element with this text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Named { id: None, text: Some(text.into()) }
    }
}

impl Action {
    /// A full snapshot of the present screen.
    pub const LOOK: Self =
        Self::Snapshot(SnapshotOptions { detail: TreeDetail::Full, max_age: Duration::ZERO });

    /// Whether the action acts on the phone, for which it needs the phone's lease. More than what changes the screen: also
    /// what another client's work would spoil, such as a recording.
    pub fn needs_lease(&self) -> bool {
        match self {
            Self::StartRecording { .. }
            | Self::PushFile { .. }
            | Self::SetClipboard(_)
            | Self::ReadLog { clear: true, .. } => true,
            _ => self.changes_screen(),
        }
    }

    /// What a client has to be allowed for this action. What is not listed here needs to act.
    pub fn scope(&self) -> Scope {
        match self {
            Self::ListDevices { .. }
            | Self::SelectDevice { .. }
            | Self::SelectDefaultDevice
            | Self::Health
            | Self::DeviceInfo { .. }
            | Self::ListApps { .. }
            | Self::ListLabelledApps { .. }
            | Self::CurrentApp
            | Self::Screenshot(_)
            | Self::Snapshot(_)
            | Self::Observe(_)
            | Self::ScreenshotAndSnapshot(_)
            | Self::FindElements(_)
            | Self::Controls { .. }
            | Self::Wait(_)
            | Self::InvalidateCache(_)
            | Self::ReadLog { clear: false, .. }
            | Self::ReadCrashes { .. }
            | Self::ListNotifications { .. }
            | Self::ListMonitors
            | Self::ListRecordings
            | Self::ListAppTools { .. }
            | Self::ReadClipboard => Scope::Look,
            _ => Scope::Act,
        }
    }

    /// Whether the action may change the screen.
    pub fn changes_screen(&self) -> bool {
        match self {
            Self::ListDevices { .. }
            | Self::SelectDevice { .. }
            | Self::SelectDefaultDevice
            | Self::Health
            | Self::DeviceInfo { .. }
            | Self::ListApps { .. }
            | Self::ListLabelledApps { .. }
            | Self::CurrentApp
            | Self::Screenshot(_)
            | Self::SaveScreenshot { .. }
            | Self::Snapshot(_)
            | Self::Observe(_)
            | Self::ScreenshotAndSnapshot(_)
            | Self::FindElements(_)
            | Self::Controls { .. }
            | Self::Wait(_)
            | Self::InvalidateCache(_)
            | Self::ReadLog { .. }
            | Self::ReadCrashes { .. }
            | Self::ListNotifications { .. }
            | Self::StartMonitor { .. }
            | Self::StopMonitor(_)
            | Self::ListMonitors
            | Self::StartRecording { .. }
            | Self::StopRecording { .. }
            | Self::ListRecordings
            | Self::ListAppTools { .. }
            | Self::PushFile { .. }
            | Self::PullFile { .. }
            | Self::ReadClipboard
            | Self::SetClipboard(_)
            | Self::TrustAppTools(_) => false,
            Self::Touch(_)
            | Self::Swipe { .. }
            | Self::Scroll { .. }
            | Self::Pinch { .. }
            | Self::Stop(_)
            | Self::InstallApp { .. }
            | Self::UninstallApp(_)
            | Self::ClearData(_)
            | Self::SetLocation(_)
            | Self::SetPermission { .. }
            | Self::TapElement(_)
            | Self::Type(_)
            | Self::Press(_)
            | Self::Launch(_)
            | Self::OpenUrl(_)
            | Self::CallAppTool(_)
            | Self::Unlock
            | Self::SetOrientation(_) => true,
        }
    }
}
