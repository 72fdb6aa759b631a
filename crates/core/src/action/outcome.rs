//! Outcomes of actions.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use thumbwire_device::{
    App, AppId, DeviceInfo, Front, Health, Identity, LockState, LogEntry, LogFilter, Notification,
    Point, Screenshot, Size, TypingMethod,
};

use super::ListedDevice;
use super::app_tools::{AppToolResult, Catalog};
use crate::crash::Crash;
use crate::snapshot::{Controls, Snapshot};

/// The outcome of an action.
#[derive(Debug, Clone)]
pub enum Outcome {
    /// Of [`super::Action::ListDevices`].
    Devices(Vec<ListedDevice>),
    /// Of [`super::Action::SelectDevice`]: the selected phone.
    DeviceSelected(Identity),
    /// Of [`super::Action::SelectDefaultDevice`].
    DefaultDeviceSelected(ListedDevice, SelectionReason),
    /// Of [`super::Action::Health`].
    Health(Identity, Health),
    /// Of [`super::Action::DeviceInfo`].
    Info {
        /// Which phone.
        identity: Identity,
        /// Its properties.
        info: DeviceInfo,
        /// Whether this comes from the cache.
        earlier: bool,
    },
    /// Of [`super::Action::ListApps`].
    Apps(Vec<App>),
    /// Of [`super::Action::ListLabelledApps`].
    LabelledApps {
        /// The apps, each with its label if the launcher shows it.
        apps: Vec<(App, Option<Label>)>,
        /// Whether the phone lists what its launcher shows. If it does not, or not in time, no app has a label.
        has_labels: bool,
        /// Whether these are all installed apps. WebDriverAgent knows only those that are active.
        is_complete: bool,
    },
    /// Of [`super::Action::CurrentApp`]; `None` while no app has the focus.
    Foreground(Front),
    /// Of [`super::Action::Screenshot`].
    Screenshot(Screenshot),
    /// Of [`super::Action::Snapshot`].
    Snapshot(Arc<Snapshot>),
    /// Of [`super::Action::Observe`].
    Observed(Observation),
    /// Of [`super::Action::SaveScreenshot`].
    ScreenshotSaved(SavedScreenshot),
    /// Of [`super::Action::FindElements`]: the snapshot, and the indices of the matching nodes in its tree.
    Elements(Arc<Snapshot>, Vec<usize>),
    /// Of [`super::Action::Controls`].
    Controls(Arc<Controls>),
    /// Of [`super::Action::Snapshot`].
    ScreenshotAndSnapshot(Screenshot, Arc<Snapshot>),
    /// Of [`super::Action::Type`].
    Typed(TypeResult),
    /// Of [`super::Action::TapElement`]: the tap point and the element.
    Tapped(TapResult),
    /// Of [`super::Action::Swipe`].
    Swiped {
        /// The start point.
        from: Point,
        /// The end point.
        to: Point,
        /// The screen size.
        screen: Size,
    },
    /// Of [`super::Action::Pinch`].
    Pinched {
        /// The middle between the fingers.
        at: Point,
    },
    /// Of [`super::Action::ReadClipboard`]; `None` if it is empty.
    Clipboard(Option<String>),
    /// Of [`super::Action::Launch`] and [`super::Action::OpenUrl`].
    Launched {
        /// The launched app.
        app: AppId,
        /// The phone's output.
        text: String,
        /// What hides it, if the phone is locked or its screen is off.
        locked: Option<LockState>,
    },
    /// Of [`super::Action::InstallApp`].
    Installed(InstalledApp),
    /// Of [`super::Action::PushFile`].
    Pushed {
        /// The path on the phone.
        on_phone: String,
        /// The size in bytes.
        bytes: u64,
        /// Whether a file was there before.
        replaced: bool,
    },
    /// Of [`super::Action::PullFile`].
    Pulled(LocalFile),
    /// Of [`super::Action::ReadLog`].
    Log(Vec<LogEntry>),
    /// Of [`super::Action::ReadCrashes`].
    Crashes {
        /// The crashes, oldest first.
        crashes: Vec<Crash>,
        /// The phone's clock.
        now: String,
    },
    /// Of [`super::Action::ListNotifications`].
    Notifications(Vec<Notification>),
    /// Of [`super::Action::StartMonitor`], and of [`super::Action::StopMonitor`] with an id.
    Monitor(LogMonitor),
    /// Of [`super::Action::ListMonitors`], and of [`super::Action::StopMonitor`] for all.
    Monitors(Vec<LogMonitor>),
    /// Of [`super::Action::StartRecording`], and of [`super::Action::StopRecording`] with an id.
    Recording(RecordingInfo),
    /// Of [`super::Action::ListRecordings`], and of [`super::Action::StopRecording`] for all.
    Recordings(Vec<RecordingInfo>),
    /// Of [`super::Action::ListAppTools`].
    AppTools(Arc<Catalog>),
    /// Of [`super::Action::CallAppTool`].
    AppToolResult(AppToolResult),
    /// Of every other action: it succeeded.
    Done,
}

/// The name that the launcher shows for an app.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Label {
    /// The name, on one line and without invisible characters. It is the app's own choice: another app may have the same.
    Text(String),
    /// Its package cannot be read, or names no label.
    Unreadable,
    /// There was no time to read it; the next call goes on.
    NotRead,
}

impl Label {
    /// The name, if it is known.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            Self::Unreadable | Self::NotRead => None,
        }
    }
}

/// The screen, for a caller that has seen an earlier one.
#[derive(Debug, Clone)]
pub struct Observation {
    /// The screen.
    pub now: Arc<Snapshot>,
    /// What this caller saw last, if anything.
    pub before: Option<Arc<Snapshot>>,
    /// How long ago that was.
    pub age: Duration,
    /// Whether the list of elements is the same, and the caller has not heard so before: who asks again wants the list.
    pub unchanged: bool,
    /// Whether the screen had settled, or the condition was met.
    pub settled: bool,
    /// How long it took.
    pub took: Duration,
}

/// The result of typing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeResult {
    /// How the text reached the phone.
    pub by: TypingMethod,
    /// What the field shows afterwards.
    pub field: Readback,
    /// The field that was tapped first, if one was named.
    pub into: Option<TapResult>,
}

/// An element that was tapped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TapResult {
    /// Where the tap went.
    pub at: Point,
    /// The snapshot that located the element.
    pub snapshot: Arc<Snapshot>,
    /// The element's index in that snapshot's tree.
    pub node: usize,
    /// How many elements matched the selector.
    pub of: usize,
}

impl TapResult {
    /// The element's name.
    pub fn name(&self) -> &str {
        self.snapshot.tree.nodes[self.node].name()
    }
}

/// Why a phone was selected by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SelectionReason {
    /// It was already selected.
    AlreadySelected,
    /// It is the first physical one.
    FirstPhysical,
    /// It is the first emulator.
    FirstEmulator,
}

/// A saved screenshot.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedScreenshot {
    /// The file's name.
    pub name: String,
    /// The path on the phone.
    pub on_phone: String,
    /// The local file, if requested.
    pub local_file: Option<FetchResult>,
}

/// A file fetched from a phone, or why that failed.
pub type FetchResult = Result<LocalFile, String>;

/// A local file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalFile {
    /// Its path.
    pub path: PathBuf,
    /// Its length in bytes.
    pub bytes: u64,
}

/// An app that was installed from a package.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InstalledApp {
    /// The app.
    pub app: AppId,
    /// Its version code, as the phone reports it.
    pub version_code: u64,
    /// Its version as shown to users; empty if it has none.
    pub version_name: String,
    /// The version code and the version of the one that was installed before, if any.
    pub before: Option<(u64, String)>,
}

/// A log monitor, active or stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogMonitor {
    /// Its id.
    pub id: String,
    /// Which entries it counts.
    pub filter: LogFilter,
    /// The local file that it writes.
    pub file: Option<PathBuf>,
    /// How long it has been running.
    pub running: Duration,
    /// How many entries arrived.
    pub entries: u64,
    /// Why it ended without being stopped; `None` while it works.
    pub ended: Option<String>,
}

/// A recording, active or stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordingInfo {
    /// Its id.
    pub id: String,
    /// The file's name.
    pub name: String,
    /// The path on the phone.
    pub on_phone: String,
    /// How long it has been recording.
    pub running: Duration,
    /// Its time limit.
    pub lasting: Duration,
    /// Bits per second, if requested.
    pub bit_rate: Option<u32>,
    /// Video size in pixels, if requested.
    pub size: Option<Size>,
    /// The process id of the recorder on the phone.
    pub process: u32,
    /// What may be wrong with the recording.
    pub warnings: Vec<String>,
    /// Why it could not be stopped; it stays listed. Only when stopping all: stopping a single one fails instead.
    pub unstopped: Option<String>,
    /// The local file, if requested.
    pub local_file: Option<FetchResult>,
}

/// What a field shows after text was typed into it, or after it was cleared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Readback {
    /// The expected text.
    Same,
    /// The expected text, after characters were lost and the text was typed again.
    Corrected,
    /// Something else. After clearing only, this may be the field's hint.
    Differs {
        /// The text in the field.
        shows: String,
    },
    /// The field hides its content, like a password field.
    Hidden,
    /// Nothing to compare: no readable field has the focus, or a line end moved the text elsewhere.
    NoField,
}
