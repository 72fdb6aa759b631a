//! Outcomes of actions.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use thumbwire_base::truncate;
use thumbwire_device::{
    App, AppId, DeviceInfo, Foreground, Health, Identity, LockState, LogEntry, LogFilter,
    Notification, Point, Screenshot, Size, TypingMethod, millis,
};

use super::ListedDevice;
use super::app_tools::{AppToolResult, Catalog};
use crate::crash::Crash;
use crate::snapshot::{Controls, Snapshot};

/// Makes [`Outcome`] of a table: a row is a kind of result, and what it holds.
///
/// Each kind holds a type that no other kind holds, so that a caller who knows the type of the
/// result needs no kind: see [`Request`](super::Request).
macro_rules! outcomes {
    ($($(#[$doc:meta])* $kind:ident($result:ty),)*) => {
        /// What an action achieved. Callers that perform one kind of action get its own type from
        /// [`TypedPerform::request`](super::TypedPerform::request).
        #[derive(Debug, Clone, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum Outcome {
            $($(#[$doc])* $kind($result),)*
            /// It succeeded without a result.
            Done,
        }

        /// The names of all kinds, in the order of the table.
        #[cfg(test)]
        pub(super) const KINDS: &[&str] = &[$(stringify!($kind),)* "Done"];

        $(
            impl From<$result> for Outcome {
                fn from(result: $result) -> Self {
                    Self::$kind(result)
                }
            }

            impl TryFrom<Outcome> for $result {
                type Error = UnexpectedOutcome;

                fn try_from(outcome: Outcome) -> Result<Self, UnexpectedOutcome> {
                    match outcome {
                        Outcome::$kind(result) => Ok(result),
                        _ => Err(UnexpectedOutcome),
                    }
                }
            }
        )*
    };
}

outcomes! {
    /// The phones.
    Devices(Vec<ListedDevice>),
    /// The selected phone.
    DeviceSelected(Identity),
    /// A phone that was selected without an id.
    DefaultDeviceSelected(DefaultDevice),
    /// How well the phone can be controlled.
    Health(HealthResult),
    /// The phone's properties.
    Info(InfoResult),
    /// Installed apps.
    Apps(Vec<App>),
    /// Installed apps with their names in the launcher.
    LabelledApps(LabelledApps),
    /// What is in front.
    Foreground(Foreground),
    /// A screenshot.
    Screenshot(Screenshot),
    /// The elements on the screen.
    Snapshot(Arc<Snapshot>),
    /// The screen, for a caller that has seen an earlier one.
    Observed(Observation),
    /// A screenshot in a file on the phone.
    ScreenshotSaved(SavedScreenshot),
    /// Matching elements.
    Elements(FoundElements),
    /// The numbered controls.
    Controls(Arc<Controls>),
    /// A screenshot and the elements of the same moment.
    ScreenshotAndSnapshot(ScreenshotAndSnapshot),
    /// A screenshot and the numbered controls of the same moment.
    ScreenshotAndControls(ScreenshotAndControls),
    /// What a field shows after typing.
    Typed(TypeResult),
    /// The tapped element.
    Tapped(TapResult),
    /// Where the finger moved.
    Swiped(SwipeResult),
    /// Where two fingers moved.
    Pinched(PinchResult),
    /// The clipboard's text; `None` if it is empty.
    Clipboard(Option<String>),
    /// The app that was started.
    Launched(LaunchResult),
    /// The app that was installed.
    Installed(InstalledApp),
    /// The file that was written on the phone.
    Pushed(PushResult),
    /// The local file that was written.
    Pulled(LocalFile),
    /// Entries of the log, oldest first.
    Log(Vec<LogEntry>),
    /// Crashes and ANRs.
    Crashes(CrashList),
    /// Posted notifications.
    Notifications(Vec<Notification>),
    /// A log monitor that was started.
    Monitor(LogMonitor),
    /// Log monitors that are active, or were stopped.
    Monitors(Vec<LogMonitor>),
    /// A recording that was started.
    Recording(RecordingInfo),
    /// Recordings that are active, or were stopped.
    Recordings(Vec<RecordingInfo>),
    /// The tools that apps offer.
    AppTools(Arc<Catalog>),
    /// The reply of an app's tool.
    AppToolResult(AppToolResult),
}

impl Outcome {
    /// The complete files on this computer that it names.
    pub fn local_files_mut(&mut self) -> Vec<&mut LocalFile> {
        fn fetched(file: &mut Option<FetchResult>) -> Option<&mut LocalFile> {
            file.as_mut()?.as_mut().ok()
        }
        match self {
            Self::Pulled(file) => vec![file],
            Self::ScreenshotSaved(saved) => fetched(&mut saved.local_file).into_iter().collect(),
            Self::Recording(recording) => fetched(&mut recording.local_file).into_iter().collect(),
            Self::Recordings(all) => {
                all.iter_mut().filter_map(|one| fetched(&mut one.local_file)).collect()
            }
            _ => Vec::new(),
        }
    }
}

impl From<()> for Outcome {
    fn from((): ()) -> Self {
        Self::Done
    }
}

impl TryFrom<Outcome> for () {
    type Error = UnexpectedOutcome;

    fn try_from(outcome: Outcome) -> Result<Self, UnexpectedOutcome> {
        match outcome {
            Outcome::Done => Ok(()),
            _ => Err(UnexpectedOutcome),
        }
    }
}

/// An outcome of another kind than the action has: a bug.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("bug in Thumbwire: unexpected outcome")]
pub struct UnexpectedOutcome;

/// A phone that was selected without an id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DefaultDevice {
    /// The phone.
    pub device: ListedDevice,
    /// Why it was selected.
    pub reason: SelectionReason,
}

/// How well a phone can be controlled.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HealthResult {
    /// Which phone.
    pub identity: Identity,
    /// What was checked.
    pub health: Health,
}

/// A phone's properties.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InfoResult {
    /// Which phone.
    pub identity: Identity,
    /// Its properties.
    pub info: DeviceInfo,
    /// Whether this comes from the cache.
    pub earlier: bool,
}

/// Installed apps with the names that the launcher shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LabelledApps {
    /// The apps, each with its label if the launcher shows it.
    pub apps: Vec<(App, Option<Label>)>,
    /// Whether the phone lists what its launcher shows. If it does not, or not in time, no app has
    /// a label.
    pub has_labels: bool,
    /// Whether these are all installed apps. WebDriverAgent knows only those that are active.
    pub is_complete: bool,
}

/// Elements that match a selector.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundElements {
    /// The snapshot.
    pub snapshot: Arc<Snapshot>,
    /// The indices of the matching nodes in its tree.
    pub nodes: Vec<usize>,
}

/// A screenshot and a snapshot of the same moment.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ScreenshotAndSnapshot {
    /// The screenshot.
    pub screenshot: Screenshot,
    /// The snapshot.
    pub snapshot: Arc<Snapshot>,
}

/// A screenshot and the numbered controls of the same moment.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ScreenshotAndControls {
    /// The screenshot.
    pub screenshot: Screenshot,
    /// The controls.
    pub controls: Arc<Controls>,
}

/// A swipe from the centre of the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SwipeResult {
    /// The start point.
    pub from: Point,
    /// The end point.
    pub to: Point,
    /// The screen size.
    pub screen: Size,
}

/// A pinch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PinchResult {
    /// The middle between the fingers.
    pub at: Point,
}

/// An app that was started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaunchResult {
    /// The app; empty if the phone does not say which app opened an address.
    pub app: AppId,
    /// The phone's output.
    pub text: String,
    /// What hides it, if the phone is locked or its screen is off.
    pub locked: Option<LockState>,
    /// What is in front in its place: what it handed over to, or a dialog.
    pub in_front: Option<String>,
}

impl LaunchResult {
    /// What is to be said besides that it was launched; begins with a comma.
    pub fn but(&self) -> String {
        match (&self.locked, &self.in_front) {
            (Some(state), _) => format!(", but {state}"),
            (None, Some(front)) => format!(", but {front} is in front"),
            (None, None) => String::new(),
        }
    }
}

/// A file that was written on the phone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PushResult {
    /// The path on the phone.
    pub on_phone: String,
    /// The size in bytes.
    pub bytes: u64,
    /// Whether a file was there before.
    pub replaced: bool,
}

/// Crashes and ANRs of apps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CrashList {
    /// The crashes, oldest first.
    pub crashes: Vec<Crash>,
    /// The phone's clock.
    pub now: String,
    /// Why the log was not read to its end; `None` if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<String>,
}

/// The name that the launcher shows for an app.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Label {
    /// The name, on one line and without invisible characters. It is the app's own choice: another
    /// app may have the same.
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
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Observation {
    /// The screen.
    pub now: Arc<Snapshot>,
    /// What this caller saw last, if anything.
    pub before: Option<Arc<Snapshot>>,
    /// Whether the screen had settled, or the condition was met.
    pub settled: bool,
    /// How long it took.
    #[serde(rename = "took_ms", with = "millis")]
    pub took: Duration,
}

/// The result of typing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TypeResult {
    /// How the text reached the phone.
    pub by: TypingMethod,
    /// What the field shows afterwards.
    pub field: Readback,
    /// The named field, if one was named.
    pub into: Option<TapResult>,
    /// Whether it was tapped. A field that had the focus already is not.
    pub tapped: bool,
}

/// An element that was tapped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SelectionReason {
    /// It was already selected.
    AlreadySelected,
    /// It is the first physical one.
    FirstPhysical,
    /// It is the first emulator.
    FirstEmulator,
}

/// A saved screenshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LocalFile {
    /// Its path.
    pub path: PathBuf,
    /// Its length in bytes.
    pub bytes: u64,
}

/// An app that was installed from a package.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogMonitor {
    /// Its id.
    pub id: String,
    /// Which entries it counts.
    pub filter: LogFilter,
    /// The local file that it writes.
    pub file: Option<PathBuf>,
    /// How long it has been running.
    #[serde(rename = "running_ms", with = "millis")]
    pub running: Duration,
    /// How many entries arrived.
    pub entries: u64,
    /// Why it ended without being stopped; `None` while it works.
    pub ended: Option<String>,
}

/// A recording, active or stopped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordingInfo {
    /// Its id.
    pub id: String,
    /// The file's name.
    pub name: String,
    /// The path on the phone.
    pub on_phone: String,
    /// How long it has been recording.
    #[serde(rename = "running_ms", with = "millis")]
    pub running: Duration,
    /// Its time limit.
    #[serde(rename = "duration_ms", with = "millis")]
    pub duration: Duration,
    /// Bits per second, if requested.
    pub bit_rate: Option<u32>,
    /// Video size in pixels, if requested.
    pub size: Option<Size>,
    /// The process id of the recorder on the phone.
    pub process: u32,
    /// What may be wrong with the recording.
    pub warnings: Vec<String>,
    /// Why it could not be stopped; it stays listed. Only when stopping all: stopping a single one
    /// fails instead.
    pub unstopped: Option<String>,
    /// The local file, if requested.
    pub local_file: Option<FetchResult>,
}

/// What a field shows after text was typed into it, or after it was cleared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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

impl Readback {
    /// Why the text may not be in the field; `None` if it is.
    pub fn doubt(&self, text: &str) -> Option<String> {
        const SHOWN: usize = 500;
        Some(match self {
            Self::Same | Self::Corrected => return None,
            Self::Differs { shows } => {
                let shows = truncate(shows, SHOWN);
                match text.is_empty() {
                    true => format!("The field still shows '{shows}', which may be its hint"),
                    false => format!("The field shows something else: '{shows}'"),
                }
            }
            Self::Hidden => "Not verified: the field hides its content".into(),
            Self::NoField => "Not verified: no text field could be read".into(),
        })
    }
}
