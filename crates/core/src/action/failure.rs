//! Why an action failed, sorted by what the caller can do about it.

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use thumbwire_base::truncate;
use thumbwire_base::visible::name;
use thumbwire_device::{KEEPS_MOVING, LockState, Platform, SideEffect, UntypableText, millis};

use super::FileNameError;
use super::client::Holder;
use super::listed_device::{self, DeviceKind, ListedDevice};
use super::outcome::UnexpectedOutcome;
use super::package_refusal;

/// Why an action failed, and whether it may have happened anyway.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// The reason.
    pub cause: Cause,
    /// Whether the phone may have acted.
    pub side_effect: SideEffect,
}

/// The reason for a failure, sorted by what the caller can do about it.
#[derive(Debug, Clone, PartialEq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// The phone is not connected, or no longer.
    #[error("device {device} is not connected: {reason}")]
    DeviceNotConnected {
        /// The id.
        device: String,
        /// The transport's message.
        reason: String,
    },
    /// The phone accepts connections but answers none. An old one serves one host at a time, and
    /// another has it.
    #[error("device {device} is not connected: {reason}")]
    DeviceNotAnswering {
        /// The id, which is an address.
        device: String,
        /// What happened, and the likely cause.
        reason: String,
    },
    /// An adb server lists the phone, but in a state in which it cannot be controlled.
    #[error("device {device} is not ready: its state is {}", name(state))]
    DeviceNotReady {
        /// The id.
        device: String,
        /// As the adb server reports it: `offline`, `recovery`, "no permissions …".
        state: String,
    },
    /// The phone has not authorized this computer's ADB key.
    #[error("device {device} has not authorized this computer")]
    DeviceNotAuthorized {
        /// The id.
        device: String,
    },
    /// The operator does not let callers use this phone. Nothing was asked or connected.
    #[error("device {device} is not allowed")]
    DeviceNotAllowed {
        /// The id.
        device: String,
    },
    /// The operator does not let callers use this app. Nothing was done.
    #[error("app {app} is not allowed{}", .reason.as_ref().map_or(String::new(), |reason| format!(": {reason}")))]
    AppNotAllowed {
        /// The id.
        app: String,
        /// Why, unless the operator has just not named it.
        reason: Option<Cow<'static, str>>,
    },
    /// The operator does not let callers act on this page of Settings. Nothing was done.
    #[error("this page of Settings ({}) may only be looked at or left", name(page))]
    SettingsPageNotAllowed {
        /// The class of its fragment or activity, or words on it.
        page: String,
    },
    /// The operator does not let callers open addresses that lead to calls and messages. Nothing
    /// was done.
    #[error(
        "addresses with `{scheme}:` are not allowed: calls and messages cost money and reach people"
    )]
    LinkNotAllowed {
        /// The address's scheme, in lower case.
        scheme: String,
    },
    /// No phone is selected, and the session cannot tell which one the caller means.
    #[error("no device selected; {} connected", .devices.len())]
    NoDeviceChosen {
        /// The connected phones.
        devices: Vec<ListedDevice>,
    },
    /// No such app.
    #[error("app {app} not found")]
    AppNotFound {
        /// The requested app.
        app: String,
    },
    /// The app is installed, but has nothing to launch.
    #[error(
        "app {app} is installed, but cannot be launched: it has no launcher activity, or is disabled"
    )]
    AppNotLaunchable {
        /// The requested app.
        app: String,
    },
    /// The phone refuses to install or uninstall an app; nothing has changed.
    #[error("{}", package_refusal::describe(code, text))]
    PackageRefused {
        /// Android's code.
        code: String,
        /// The phone's details; empty if there are none.
        text: String,
    },
    /// The operator of this server has named no folder whose files may be sent.
    #[error("this server may send no files to a phone: its operator has named no folder for them")]
    NoInputFolder,
    /// Several apps have the name, or may have it, so none was launched.
    #[error("{name} is not one app's name alone: {}", .candidates.join(", "))]
    AmbiguousApp {
        /// The requested name.
        name: String,
        /// The apps: each an id, and what is known about its name.
        candidates: Vec<String>,
    },
    /// No such element, or several.
    #[error("element {sought} not found{}", .reason.as_ref().map_or(String::new(), |reason| format!(": {reason}")))]
    ElementNotFound {
        /// What the caller searched for.
        sought: String,
        /// More than "nothing matches", if known.
        reason: Option<String>,
    },
    /// Fewer elements match the selector than the index asks for.
    #[error("index {index} is out of range: {found} elements match")]
    IndexOutOfRange {
        /// The requested index, counted from 0.
        index: usize,
        /// How many elements match.
        found: usize,
    },
    /// The number is not in the last list, or an action has changed the screen since that list.
    #[error("{number} is not in the last list of {list}{}", .reason.as_ref().map_or(String::new(), |reason| format!(": {reason}")))]
    StaleReference {
        /// Which list.
        list: NumberedList,
        /// The number.
        number: String,
        /// More detail, if known.
        reason: Option<String>,
        /// Whether there is no list at all: none was requested, or it was invalidated.
        none: bool,
    },
    /// No active recording has this id.
    #[error("recording {id} not found")]
    NoSuchRecording {
        /// The requested id.
        id: String,
        /// The active ids.
        known: Vec<String>,
    },
    /// No active log monitor has this id.
    #[error("log monitor {id} not found")]
    NoSuchMonitor {
        /// The requested id.
        id: String,
        /// The active ids.
        known: Vec<String>,
    },
    /// Not a valid file name; nothing was done.
    #[error("{name:?} is not a valid file name: {reason}")]
    InvalidFileName {
        /// The requested name.
        name: String,
        /// Why it is not valid.
        reason: FileNameError,
    },
    /// The limit of concurrent recordings or monitors is reached.
    #[error("maximum active {what} reached ({max})")]
    TooManyActive {
        /// "recordings" or "monitors".
        what: Cow<'static, str>,
        /// The limit.
        max: usize,
    },
    /// Too many looks of the client wait for their turn on the phone. Nothing was done.
    #[error("too many looks wait for this phone: {max} of this client")]
    TooManyLooks {
        /// The limit.
        max: usize,
    },
    /// The app offers no such tool, or the tool cannot be called.
    #[error("{app} has no tool {tool}{}", .reason.as_ref().map_or(String::new(), |reason| format!(": {reason}")))]
    AppToolNotFound {
        /// The requested app.
        app: String,
        /// The requested tool.
        tool: String,
        /// Why, or which tools exist.
        reason: Option<String>,
    },
    /// The app's tools may not be called: the operator has not allowed the app, or it changed
    /// since. Nothing was sent.
    #[error("tools of {app} are not allowed: {reason}")]
    AppNotTrusted {
        /// The app.
        app: String,
        /// Why they are not allowed.
        reason: String,
    },
    /// The app could be called, but its reply cannot be received. Nothing was sent.
    #[error("cannot receive the reply to {what}: {reason}")]
    NoAppReply {
        /// The call.
        what: String,
        /// Why the reply cannot be received.
        reason: Cow<'static, str>,
    },
    /// Android does not start a service of an app in the background. Nothing was started.
    #[error("cannot start {what} while its app is in the background ({text})")]
    BackgroundStartRestricted {
        /// The call.
        what: String,
        /// The phone's message.
        text: String,
    },
    /// The screen is off, or the lock screen is in front.
    #[error("{0}")]
    Locked(LockState),
    /// Typing the text takes longer than the call may take. Nothing was typed.
    #[error("typing {characters} characters takes about {} s on this phone, longer than the {} s left for this call; nothing was typed", .needed.as_secs(), .left.as_secs())]
    TypingTooLong {
        /// How many characters the text has.
        characters: usize,
        /// How long typing them takes.
        #[serde(rename = "needed_ms", with = "millis")]
        needed: Duration,
        /// The time left for the call.
        #[serde(rename = "left_ms", with = "millis")]
        left: Duration,
        /// How many characters fit.
        fits: usize,
    },
    /// The phone has no way to type some of the text. Nothing was typed.
    #[error("text: {0}")]
    TextNotTypable(UntypableText),
    /// The deadline passed.
    #[error("{what} timed out after {:.1} s", .after.as_secs_f64())]
    TimedOut {
        /// The operation.
        what: String,
        /// The timeout.
        #[serde(rename = "after_ms", with = "millis")]
        after: Duration,
    },
    /// A step of several did not do what it says.
    #[error("{reason}")]
    StepFailed {
        /// What came of it.
        reason: String,
    },
    /// What the caller waited for did not come.
    #[error("{what} timed out after {:.1} s", .after.as_secs_f64())]
    ConditionNotMet {
        /// The wait.
        what: String,
        /// How long it took.
        #[serde(rename = "after_ms", with = "millis")]
        after: Duration,
    },
    /// The platform does not support this.
    #[error("{what} is not supported on {platform}")]
    PlatformNotSupported {
        /// The unsupported operation.
        what: String,
        /// The platform.
        platform: Platform,
    },
    /// Only the helper on the phone can do it, and that is off or not there. Nothing was done.
    #[error("{what} needs Thumbwire's helper on the phone")]
    HelperMissing {
        /// What needs it.
        what: Cow<'static, str>,
    },
    /// An argument is invalid; nothing was done.
    #[error("{reason}")]
    InvalidArgument {
        /// What is wrong and what would be valid.
        reason: String,
    },
    /// Another client acts on the phone, of this program or of another one. Nothing was done.
    #[error("device {device} is busy: {holder} has had it for {} s, and keeps it for another {} s or longer", .holder.since.as_secs(), .remaining.as_secs_f64().ceil())]
    DeviceBusy {
        /// The device.
        device: String,
        /// The other client.
        holder: Holder,
        /// How long its lease lasts if it does not act again.
        #[serde(rename = "remaining_ms", with = "millis")]
        remaining: Duration,
    },
    /// The user has taken the phone from this program. Nothing was done.
    #[error("the user has taken device {device} over from this program, for another {} s or longer", .remaining.as_secs_f64().ceil())]
    DeviceTakenOver {
        /// The device.
        device: String,
        /// How long this program may not act on it.
        #[serde(rename = "remaining_ms", with = "millis")]
        remaining: Duration,
    },
    /// A person uses the phone by the studio, has used it, or has stopped the work. Nothing was
    /// done.
    #[error("{}", .turn.describe(device))]
    TakenByUser {
        /// The device.
        device: String,
        /// What the person did.
        turn: UserTurn,
    },
    /// Another client has had the phone since this one acted on it. Nothing was done.
    #[error("another client has used device {device} since")]
    LeaseLost {
        /// The device.
        device: String,
    },
    /// No text field has the focus, and none was named. Nothing was done.
    #[error("cannot {act}: no text field has focus")]
    NoFocusedField {
        /// What it is for: `type`, `clear`.
        act: String,
    },
    /// Valid, but refused.
    #[error("{reason}")]
    Refused {
        /// Why, and what is possible instead.
        reason: String,
    },
    /// The phone cannot do it at the moment.
    #[error("{text}")]
    NotReady {
        /// The phone's message.
        text: String,
    },
    /// The phone tried and failed, or its output is unknown.
    #[error("{text}")]
    DeviceError {
        /// The phone's message.
        text: String,
    },
    /// The caller cancelled the call.
    #[error("the call was cancelled")]
    Cancelled,
}

/// A list whose entries clients name by their numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NumberedList {
    /// Of [`Action::Controls`](super::Action::Controls).
    Controls,
    /// Of [`Action::ListApps`](super::Action::ListApps).
    Apps,
}

impl fmt::Display for NumberedList {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Controls => "controls",
            Self::Apps => "apps",
        })
    }
}

/// The classes of causes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CauseClass {
    /// The call is wrong; nothing was done.
    Usage,
    /// No phone can be used.
    NoDevice,
    /// The app, the element or something else does not exist.
    NotFound,
    /// Valid, but refused by a rule of Thumbwire, its operator or the phone; nothing was done.
    Refused,
    /// A limit is reached; nothing was done.
    Limit,
    /// Time ran out.
    TimedOut,
    /// The phone or an app cannot do it, or tried and failed.
    Failed,
    /// The caller cancelled it.
    Cancelled,
}

impl Cause {
    /// Its kind as one word, for logs and statistics. It never changes, and has nothing of a caller
    /// or a phone in it.
    pub fn code(&self) -> &'static str {
        self.kind().0
    }

    /// What the caller has to do about it, roughly: what exit codes, the audit log and flows go by.
    pub fn class(&self) -> CauseClass {
        self.kind().1
    }

    /// The id of the phone that it names, for those who call phones otherwise.
    pub fn device_mut(&mut self) -> Option<&mut String> {
        match self {
            Self::DeviceNotConnected { device, .. }
            | Self::DeviceNotAnswering { device, .. }
            | Self::DeviceNotReady { device, .. }
            | Self::DeviceNotAuthorized { device }
            | Self::DeviceNotAllowed { device }
            | Self::DeviceBusy { device, .. }
            | Self::DeviceTakenOver { device, .. }
            | Self::TakenByUser { device, .. }
            | Self::LeaseLost { device } => Some(device),
            _ => None,
        }
    }

    fn kind(&self) -> (&'static str, CauseClass) {
        match self {
            Self::DeviceNotConnected { .. } => ("device_not_connected", CauseClass::NoDevice),
            Self::DeviceNotAnswering { .. } => ("device_not_answering", CauseClass::NoDevice),
            Self::DeviceNotReady { .. } => ("device_not_ready", CauseClass::NoDevice),
            Self::DeviceNotAuthorized { .. } => ("device_not_authorized", CauseClass::NoDevice),
            Self::DeviceNotAllowed { .. } => ("device_not_allowed", CauseClass::Refused),
            Self::AppNotAllowed { .. } => ("app_not_allowed", CauseClass::Refused),
            Self::SettingsPageNotAllowed { .. } => {
                ("settings_page_not_allowed", CauseClass::Refused)
            }
            Self::LinkNotAllowed { .. } => ("link_not_allowed", CauseClass::Refused),
            Self::NoDeviceChosen { .. } => ("no_device_chosen", CauseClass::NoDevice),
            Self::AppNotFound { .. } => ("app_not_found", CauseClass::NotFound),
            Self::AppNotLaunchable { .. } => ("app_not_launchable", CauseClass::Failed),
            Self::PackageRefused { .. } => ("package_refused", CauseClass::Failed),
            Self::NoInputFolder => ("no_input_folder", CauseClass::Refused),
            Self::AmbiguousApp { .. } => ("ambiguous_app", CauseClass::NotFound),
            Self::ElementNotFound { .. } => ("element_not_found", CauseClass::NotFound),
            Self::NoFocusedField { .. } => ("no_focused_field", CauseClass::NotFound),
            Self::IndexOutOfRange { .. } => ("index_out_of_range", CauseClass::NotFound),
            Self::StaleReference { .. } => ("stale_reference", CauseClass::NotFound),
            Self::NoSuchRecording { .. } => ("no_such_recording", CauseClass::NotFound),
            Self::NoSuchMonitor { .. } => ("no_such_monitor", CauseClass::NotFound),
            Self::InvalidFileName { .. } => ("invalid_file_name", CauseClass::Usage),
            Self::TooManyActive { .. } => ("too_many_active", CauseClass::Limit),
            Self::TooManyLooks { .. } => ("too_many_looks", CauseClass::Limit),
            Self::AppToolNotFound { .. } => ("app_tool_not_found", CauseClass::NotFound),
            Self::AppNotTrusted { .. } => ("app_not_trusted", CauseClass::Refused),
            Self::NoAppReply { .. } => ("no_app_reply", CauseClass::Failed),
            Self::BackgroundStartRestricted { .. } => {
                ("background_start_restricted", CauseClass::Failed)
            }
            Self::Locked(_) => ("locked", CauseClass::Failed),
            Self::TypingTooLong { .. } => ("typing_too_long", CauseClass::Limit),
            Self::TextNotTypable(_) => ("text_not_typable", CauseClass::Failed),
            Self::TimedOut { .. } => ("timed_out", CauseClass::TimedOut),
            Self::StepFailed { .. } => ("step_failed", CauseClass::Failed),
            Self::ConditionNotMet { .. } => ("condition_not_met", CauseClass::TimedOut),
            Self::PlatformNotSupported { .. } => ("platform_not_supported", CauseClass::Failed),
            Self::HelperMissing { .. } => ("helper_missing", CauseClass::Failed),
            Self::InvalidArgument { .. } => ("invalid_argument", CauseClass::Usage),
            Self::DeviceBusy { .. } => ("device_busy", CauseClass::Refused),
            Self::LeaseLost { .. } => ("lease_lost", CauseClass::Refused),
            Self::DeviceTakenOver { .. } => ("device_taken_over", CauseClass::Refused),
            Self::TakenByUser { .. } => ("taken_by_user", CauseClass::Refused),
            Self::Refused { .. } => ("refused", CauseClass::Refused),
            Self::NotReady { .. } => ("not_ready", CauseClass::Failed),
            Self::DeviceError { .. } => ("device_error", CauseClass::Failed),
            Self::Cancelled => ("cancelled", CauseClass::Cancelled),
        }
    }
}

/// What a person does with a phone that a program wanted to use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UserTurn {
    /// The person still has it, after as long as the call could wait.
    Acting,
    /// The person has acted on it while the call waited.
    Acted,
    /// The person has stopped the work.
    Stopped,
}

impl UserTurn {
    fn describe(self, device: &str) -> String {
        match self {
            Self::Acting => format!("the user has paused all work on device {device}"),
            Self::Acted => format!("the user has used device {device} while this call waited"),
            Self::Stopped => format!("the user has stopped the work on device {device}"),
        }
    }

    fn next_step(self) -> &'static str {
        match self {
            Self::Acting => {
                "try again when the user has handed it back; screenshots and lists are allowed meanwhile"
            }
            Self::Acted => "look at the screen before you go on",
            Self::Stopped => "ask the user before you go on",
        }
    }
}

impl From<Cause> for Failure {
    /// A failure before anything was sent to the phone.
    fn from(cause: Cause) -> Self {
        Self { cause, side_effect: SideEffect::None }
    }
}

impl From<UnexpectedOutcome> for Failure {
    /// The action was performed, and its outcome is lost.
    fn from(bug: UnexpectedOutcome) -> Self {
        let cause = Cause::Refused { reason: bug.to_string() };
        Self { cause, side_effect: SideEffect::Possible }
    }
}

impl ListedDevice {
    /// The failure for its state; `None` if it is ready.
    pub fn not_ready(&self) -> Option<Failure> {
        let device = self.id.clone();
        let cause = match self.state.as_str() {
            Self::READY => return None,
            "unauthorized" => Cause::DeviceNotAuthorized { device },
            state => Cause::DeviceNotReady { device, state: state.to_owned() },
        };
        Some(cause.into())
    }
}

impl Failure {
    /// A failure of the phone with the id `device`.
    pub fn of_device(device: &str, error: &thumbwire_device::Error) -> Self {
        use thumbwire_device::Error;
        let device = device.to_owned();
        let cause = match error {
            Error::NotConnected { reason, .. } => {
                Cause::DeviceNotConnected { device, reason: reason.clone() }
            }
            Error::Unauthorized { .. } => Cause::DeviceNotAuthorized { device },
            Error::NoSuchApp { app } => Cause::AppNotFound { app: app.clone() },
            Error::Locked(state) => Cause::Locked(*state),
            Error::NotLaunchable { app } => Cause::AppNotLaunchable { app: app.clone() },
            Error::InvalidAppId { .. } => Cause::InvalidArgument { reason: error.to_string() },
            Error::NotReady { .. } | Error::StaleTree { .. } => {
                Cause::NotReady { text: error.to_string() }
            }
            Error::Unsupported { what, platform } => {
                Cause::PlatformNotSupported { what: (*what).into(), platform: *platform }
            }
            Error::HelperMissing { what } => Cause::HelperMissing { what: (*what).into() },
            Error::Refused { what, reason } => {
                Cause::Refused { reason: format!("{what}: {reason}") }
            }
            Error::PackageRefused { code, text } => {
                Cause::PackageRefused { code: code.clone(), text: text.clone() }
            }
            Error::Untypable(text) => Cause::TextNotTypable(text.clone()),
            Error::Failed { .. } | Error::Unreadable { .. } => {
                Cause::DeviceError { text: error.to_string() }
            }
        };
        Self { cause, side_effect: error.acted() }
    }

    /// What the caller can do next, as one sentence.
    pub fn next_step(&self) -> String {
        let advice = match &self.cause {
            Cause::DeviceNotConnected { .. } => {
                "list the devices to check the id; the next call reconnects once the phone is back"
            }
            Cause::DeviceNotAnswering { device, .. } => {
                return format!(
                    "run `adb disconnect {device}` on the computer whose adb server has the phone, or use the id under which that server lists it; if nothing else uses it, restart the phone"
                );
            }
            Cause::DeviceNotReady { state, .. } => listed_device::next_step(state),
            Cause::DeviceNotAuthorized { .. } => listed_device::UNAUTHORIZED,
            Cause::DeviceNotAllowed { .. } => {
                "use a device of the list, or ask the operator of Thumbwire to start it with `--allow-device`"
            }
            Cause::AppNotAllowed { app, .. } => {
                let app = truncate(app, 100);
                return format!(
                    "use an app that is allowed; the operator of Thumbwire can allow this one with `--allow-app {app}`"
                );
            }
            Cause::SettingsPageNotAllowed { .. } => {
                "use another page, or leave this one with the back key; the operator of Thumbwire can allow it with `--allow settings`"
            }
            Cause::LinkNotAllowed { .. } => {
                "use another address; the operator of Thumbwire can allow these with `--allow calls`"
            }
            Cause::NoDeviceChosen { devices } if devices.is_empty() => {
                "connect a phone, or use the built-in virtual phone: start with `--device virtual`, or select the device \"virtual\""
            }
            Cause::NoDeviceChosen { devices } => match what_they_lack(devices) {
                Some(steps) => return steps,
                None => "select one of these devices, or start with `--device ID`",
            },
            Cause::AppNotFound { .. } => "list the installed apps and check the id",
            Cause::AppNotLaunchable { .. } => {
                "launch another app; this one has no screen of its own to start with"
            }
            Cause::PackageRefused { code, .. } => package_refusal::next_step(code),
            Cause::NoInputFolder => {
                "the operator can name a folder: `thumbwire serve --input DIR`, beside `--allow`"
            }
            Cause::AmbiguousApp { .. } => "use the id of the one that is meant",
            Cause::IndexOutOfRange { .. } => "use a smaller index; it counts from 0",
            Cause::StaleReference { .. } => "list again and use an entry of the new list",
            Cause::NoSuchRecording { .. } => "list the active recordings",
            Cause::NoSuchMonitor { .. } => "list the active log monitors",
            Cause::InvalidFileName { .. } => {
                "use a plain file name such as `login.png`, or omit it"
            }
            Cause::TooManyActive { .. } => "stop one first",
            Cause::TooManyLooks { .. } => "wait for them, then try again",
            Cause::ElementNotFound { .. } => {
                "get the accessibility tree again and use an element from it"
            }
            Cause::NoFocusedField { .. } => "name the field, or tap it first",
            Cause::AppToolNotFound { .. } => "list the app tools and use one of them",
            Cause::AppNotTrusted { app, .. } => {
                return format!(
                    "the operator of Thumbwire can review and allow them with `thumbwire app-tools trust {app}`; until then, use the app on its screen"
                );
            }
            Cause::NoAppReply { .. } => {
                "send it without waiting for a reply (`send_only`, or `--send-only` on the command line) and check the screen for the result, or use the app on its screen; the operator of Thumbwire can start it without `--helper off`"
            }
            Cause::BackgroundStartRestricted { .. } => "launch the app, then call again",
            Cause::Locked(_) => {
                "wake and unlock the phone first (`mobile_unlock`, or press the power key and swipe up)"
            }
            Cause::TextNotTypable(text) => return text.next_step(),
            Cause::TypingTooLong { fits, .. } => {
                return format!("type it in parts of at most {fits} characters");
            }
            Cause::TimedOut { .. } if self.side_effect == SideEffect::None => {
                "try again; the phone may be busy or slow"
            }
            Cause::TimedOut { .. } => "check the screen before you try again",
            Cause::StepFailed { .. } => "go on from what the screen shows",
            Cause::ConditionNotMet { .. } => "see what the screen shows instead, or wait longer",
            Cause::PlatformNotSupported { .. } => "try another way; this phone does not support it",
            Cause::HelperMissing { .. } => {
                "the operator of Thumbwire can start it without `--helper off`, and look why the helper does not start with `thumbwire doctor`"
            }
            Cause::InvalidArgument { .. } => "correct the argument and call again",
            Cause::DeviceBusy { device, holder, remaining } => {
                let seconds = remaining.as_secs_f64().ceil().max(1.0);
                let take_over = match holder.process {
                    Some(_) => format!(
                        "; the user can take it over with `thumbwire devices --take-over {device}`"
                    ),
                    None => String::new(),
                };
                return format!(
                    "try again in {seconds} s, or use another device; screenshots and lists are allowed meanwhile{take_over}"
                );
            }
            Cause::LeaseLost { .. } => "look at the screen before you go on",
            Cause::DeviceTakenOver { .. } => {
                "ask the user before you go on; screenshots and lists are allowed meanwhile"
            }
            Cause::TakenByUser { turn, .. } => turn.next_step(),
            Cause::Refused { .. } => "try something else",
            Cause::NotReady { .. } if self.is_restless() => {
                "take a screenshot and tap by its coordinates; this screen does not rest"
            }
            Cause::NotReady { .. } => "wait a second and try again",
            Cause::DeviceError { text } if text.contains("SecurityException") => {
                "the phone does not allow it, so trying again does not help; try another way"
            }
            Cause::DeviceError { .. } if self.side_effect == SideEffect::None => {
                "try again; if it fails again, try another way"
            }
            Cause::DeviceError { .. } => "check the screen to see what happened",
            Cause::Cancelled if self.side_effect == SideEffect::None => {
                "call again if still needed"
            }
            Cause::Cancelled => "check the screen before you continue",
        };
        match self.side_effect {
            SideEffect::None => advice.into(),
            SideEffect::Possible => format!("the action may have happened: {advice}"),
        }
    }
}

impl Failure {
    /// Whether the elements cannot be listed because the screen keeps moving. A picture can be
    /// taken.
    pub(crate) fn is_restless(&self) -> bool {
        matches!(&self.cause, Cause::NotReady { text } if text.contains(KEEPS_MOVING))
    }
}

/// What each of these devices lacks, if none of them can be used.
pub(crate) fn what_they_lack(devices: &[ListedDevice]) -> Option<String> {
    const MAX_COUNT: usize = 5;
    let steps: Vec<String> = devices
        .iter()
        .filter(|device| device.kind != DeviceKind::BuiltIn)
        .map(|device| {
            let step = device.next_step().filter(|_| device.state != ListedDevice::NOT_YET)?;
            Some(format!("{}: {step}", name(&device.id)))
        })
        .collect::<Option<_>>()?;
    let more = steps.len().saturating_sub(MAX_COUNT);
    let tail = if more > 0 { format!("; and {more} more") } else { String::new() };
    (!steps.is_empty()).then(|| format!("{}{tail}", steps[..steps.len() - more].join("; ")))
}

#[cfg(test)]
mod tests;
