//! Why an action was not carried out, sorted by what the caller can do about it.

use std::time::Duration;

use thumbwire_device::{Acted, Platform};

use super::{BadName, Listed, states};

/// Why an action was not carried out, and whether it may have happened all the same.
#[derive(Debug, Clone, PartialEq)]
pub struct Failure {
    /// What stood in the way.
    pub cause: Cause,
    /// Whether the phone may have acted.
    pub acted: Acted,
}

/// What stands in the way of an action, sorted by what a caller can do about it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Cause {
    /// The phone is not there, or no longer.
    #[error("device {device} is not connected: {why}")]
    DeviceNotConnected {
        /// The id.
        device: String,
        /// The wire's words.
        why: String,
    },
    /// An adb server lists the phone, in a state in which it cannot be driven.
    #[error("device {device} is not connected: its state is {state}")]
    DeviceNotReady {
        /// The id.
        device: String,
        /// The adb server's words: `offline`, `recovery`, "no permissions …".
        state: String,
    },
    /// The phone's owner has not consented.
    #[error("device {device} does not trust this computer")]
    DeviceNotAuthorized {
        /// The id.
        device: String,
    },
    /// No phone is chosen, and it is not plain which one is meant.
    #[error("no device is chosen, and {} are there", .there.len())]
    NoDeviceChosen {
        /// What is there.
        there: Vec<Listed>,
    },
    /// No such app.
    #[error("app {app} not found")]
    AppNotFound {
        /// What was asked for.
        app: String,
    },
    /// No such element, or several.
    #[error("element {sought} not found{}", .why.as_ref().map_or(String::new(), |why| format!(": {why}")))]
    ElementNotFound {
        /// What was sought.
        sought: String,
        /// Why not, where more is known than that nothing answers to it.
        why: Option<String>,
    },
    /// Of the elements that answer to the criteria there is none in that place.
    #[error("there are {found} such elements, and none in place {index}")]
    NoSuchIndex {
        /// The place, counted from 0.
        index: usize,
        /// How many there are.
        found: usize,
    },
    /// A number is none of a list's, or the list is from before an act.
    #[error("{number} is not in the last list of {list}{}", .why.as_ref().map_or(String::new(), |why| format!(": {why}")))]
    NotListed {
        /// What was listed: "controls" or "apps".
        list: &'static str,
        /// The number.
        number: String,
        /// Why not, where more is known.
        why: Option<String>,
        /// Whether there is no list at all: none was asked for, or it was forgotten.
        none: bool,
    },
    /// No such recording is under way.
    #[error("there is no recording {id}")]
    NoSuchRecording {
        /// What was asked for.
        id: String,
        /// Those that are there.
        there: Vec<String>,
    },
    /// No such log is being followed.
    #[error("there is no log monitor {id}")]
    NoSuchMonitor {
        /// What was asked for.
        id: String,
        /// Those that are there.
        there: Vec<String>,
    },
    /// No file can be called so; nothing was done.
    #[error("{name:?} cannot be a file's name: {why}")]
    BadFileName {
        /// What was asked for.
        name: String,
        /// Why not.
        why: BadName,
    },
    /// As many are under way as may be at once.
    #[error("maximum active {what} reached ({most})")]
    TooMany {
        /// Of what: "recordings" or "monitors".
        what: &'static str,
        /// How many may be.
        most: usize,
    },
    /// The app is not known to offer such a tool, or it cannot be called.
    #[error("{app} offers no tool {tool}{}", .why.as_ref().map_or(String::new(), |why| format!(": {why}")))]
    AppToolNotFound {
        /// The app that was asked for.
        app: String,
        /// The tool that was asked for.
        tool: String,
        /// Why not, or what there is instead.
        why: Option<String>,
    },
    /// The app's tools may not be called: the operator has not allowed it, or it is no longer what was agreed to. Nothing was sent.
    #[error("the tools of {app} may not be called: {why}")]
    AppNotTrusted {
        /// The app.
        app: String,
        /// Why not.
        why: String,
    },
    /// An app could be called and its answer not heard. Nothing was sent.
    #[error("the answer to {what} cannot be heard: {why}")]
    Unheard {
        /// The call.
        what: String,
        /// Why not.
        why: &'static str,
    },
    /// The phone starts nothing of an app that is in the background. Nothing was started.
    #[error("the phone does not start {what} while its app is in the background ({said})")]
    InBackground {
        /// The call.
        what: String,
        /// The phone's words.
        said: String,
    },
    /// The deadline passed.
    #[error("{what} not done within {:.1} s", .after.as_secs_f64())]
    TimedOut {
        /// What was being done.
        what: String,
        /// How long it had been given.
        after: Duration,
    },
    /// This platform cannot.
    #[error("{what} is not supported on {platform}")]
    PlatformNotSupported {
        /// What was asked for.
        what: String,
        /// Where.
        platform: Platform,
    },
    /// The caller's words could not be understood; nothing was done.
    #[error("{why}")]
    InvalidArgument {
        /// What is wrong with them and what would be right.
        why: String,
    },
    /// Understood, and not done.
    #[error("{why}")]
    Refused {
        /// Why, and what would be done.
        why: String,
    },
    /// The phone cannot at this moment.
    #[error("{said}")]
    NotReady {
        /// The phone's words.
        said: String,
    },
    /// The phone tried and failed, or answered something unknown.
    #[error("{said}")]
    PhoneFailed {
        /// The phone's words.
        said: String,
    },
    /// The caller took the call back.
    #[error("the call was taken back")]
    Cancelled,
}

impl From<Cause> for Failure {
    /// A failure before anything was asked of the phone.
    fn from(cause: Cause) -> Self {
        Self { cause, acted: Acted::No }
    }
}

impl Failure {
    /// A failure of the phone called `device`.
    pub fn of_device(device: &str, error: &thumbwire_device::Error) -> Self {
        use thumbwire_device::Error;
        let device = device.to_owned();
        let cause = match error {
            Error::NotConnected { why, .. } => {
                Cause::DeviceNotConnected { device, why: why.clone() }
            }
            Error::Unauthorized { .. } => Cause::DeviceNotAuthorized { device },
            Error::NoSuchApp { app } => Cause::AppNotFound { app: app.clone() },
            Error::NotReady { .. } => Cause::NotReady { said: error.to_string() },
            Error::Unsupported { what, platform } => {
                Cause::PlatformNotSupported { what: (*what).into(), platform: *platform }
            }
            Error::Refused { what, why } => Cause::Refused { why: format!("{what}: {why}") },
            Error::Failed { .. } | Error::Unreadable { .. } => {
                Cause::PhoneFailed { said: error.to_string() }
            }
        };
        Self { cause, acted: error.acted() }
    }

    /// One sentence on what the caller can do next.
    pub fn next_move(&self) -> String {
        let advice = match &self.cause {
            Cause::DeviceNotConnected { .. } => {
                "list the devices to check the id; once the phone is back, the next call reconnects by itself"
            }
            Cause::DeviceNotReady { state, .. } => states::next_move(state),
            Cause::DeviceNotAuthorized { .. } => states::UNAUTHORIZED,
            Cause::NoDeviceChosen { there } if there.is_empty() => {
                "plug a phone in, or choose the built-in virtual phone: start with `--device virtual`, or use the device \"virtual\""
            }
            Cause::NoDeviceChosen { .. } => {
                "choose one: start with `--device ID`, or use one of these devices"
            }
            Cause::AppNotFound { .. } => "check the id against the apps installed on the phone",
            Cause::NoSuchIndex { .. } => "choose a smaller index, counted from 0",
            Cause::NotListed { .. } => "list again and choose from what it gives",
            Cause::NoSuchRecording { .. } => "list the recordings that are under way",
            Cause::NoSuchMonitor { .. } => "list the logs that are being followed",
            Cause::BadFileName { .. } => "choose a plain name, such as `login.png`, or none",
            Cause::TooMany { .. } => "stop one of them first",
            Cause::ElementNotFound { .. } => {
                "get the accessibility tree again and choose from what it shows"
            }
            Cause::AppToolNotFound { .. } => "list what the apps offer and choose from that",
            Cause::AppNotTrusted { app, .. } => {
                return format!(
                    "whoever runs Thumbwire can allow it, after a look at what it offers: `thumbwire app-tools trust {app}`; until then, use the app on its screen"
                );
            }
            Cause::Unheard { .. } => {
                "send it without waiting for an answer (`send_only`; `--send-only` on the command line) and see on the screen what came of it, or use the app on its screen"
            }
            Cause::InBackground { .. } => "launch the app, then call again",
            Cause::TimedOut { .. } if self.acted == Acted::No => {
                "try again: the phone may be busy or slow"
            }
            Cause::TimedOut { .. } => "look at the screen to see what came of it, then try again",
            Cause::PlatformNotSupported { .. } => "try another way; this phone cannot do that",
            Cause::InvalidArgument { .. } => "correct the argument and call again",
            Cause::Refused { .. } => "ask for something else",
            Cause::NotReady { .. } => "wait a second and try again",
            Cause::PhoneFailed { .. } if self.acted == Acted::No => {
                "try again; if it stays so, try another way"
            }
            Cause::PhoneFailed { .. } => "look at the screen to see what came of it",
            Cause::Cancelled if self.acted == Acted::No => "call again if it is still wanted",
            Cause::Cancelled => "look at the screen before going on",
        };
        match self.acted {
            Acted::No => advice.into(),
            Acted::Maybe => format!("the action may have happened: {advice}"),
        }
    }
}
