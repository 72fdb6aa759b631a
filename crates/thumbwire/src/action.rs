//! The whole vocabulary: what can be asked of a session, what it answers, and how it says no.
//!
//! Every caller (an MCP client, the agent, the command line) asks by [`Perform::perform`], and everything that
//! stands between a caller and the session (the trace, a replay) implements [`Perform`] too. Nothing here knows a
//! tool's name or JSON: that is [`crate::surface`].

mod states;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use thumbwire_device::{
    Acted, App, AppId, Foreground, Format, Gesture, Identity, Info, Key, Orientation, Platform,
    Point, Screenshot, TypedBy,
};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::look::Look;

/// Carries out actions.
#[async_trait]
pub trait Perform: Send + Sync {
    /// Carries out one action within the call's deadline. An action is asked of a phone once at most.
    async fn perform(&self, call: &Call, action: Action) -> Result<Outcome, Failure>;
}

#[async_trait]
impl<P: Perform + ?Sized> Perform for Arc<P> {
    async fn perform(&self, call: &Call, action: Action) -> Result<Outcome, Failure> {
        (**self).perform(call, action).await
    }
}

/// What can be asked.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Which phones are there.
    ListDevices {
        /// Only those of one platform.
        platform: Option<Platform>,
    },
    /// Choose the phone for the calls that follow.
    UseDevice {
        /// Its id.
        device: String,
        /// What the caller takes it for.
        platform: Option<Platform>,
    },
    /// A picture of the screen.
    Screenshot(Shape),
    /// The elements on the screen, numbered for this session.
    Look,
    /// Both at once.
    Snapshot(Shape),
    /// What the phone says of itself.
    DeviceInfo,
    /// Which apps are installed.
    ListApps(Apps),
    /// Which app has the focus.
    CurrentApp,
    /// A gesture at coordinates.
    Touch(Gesture),
    /// The content in the middle of the screen, moved on.
    Scroll {
        /// Where to: down shows what is further down.
        direction: Direction,
        /// How far, in screens: 1.0 is a whole one.
        distance: f64,
    },
    /// A tap on an element.
    TapElement(Target),
    /// Text, typed into a field.
    Type(Typing),
    /// A key.
    Press(Key),
    /// An app, started or brought to the front.
    Launch(AppId),
    /// An app, ended with all that it runs.
    Stop(AppId),
    /// The screen, turned. It is turned back when the session ends.
    SetOrientation(Orientation),
}

/// How a caller wants a picture.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Shape {
    /// The format; `None` is whichever the phone gave.
    pub format: Option<Format>,
    /// How large the file may be, in bytes; `None` is without bounds. A picture that is larger is written anew: first
    /// without loss, then as JPEG. Its size in pixels stays.
    pub most_bytes: Option<usize>,
}

/// What is to be typed, and where.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Typing {
    /// The text; a line end is the Enter key.
    pub text: String,
    /// The field, which is tapped first; `None` is what has the focus.
    pub into: Option<Target>,
    /// Whether what the field holds goes first.
    pub clear: bool,
    /// Whether Enter follows.
    pub submit: bool,
}

impl Typing {
    /// This text, into what has the focus.
    pub fn of(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }
}

/// Apps by where they came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Apps {
    /// Those that were installed by the user.
    User,
    /// Those that came with the phone.
    System,
    /// All.
    All,
}

/// A direction on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "a direction's name says it")]
pub enum Direction {
    Up,
    Down,
    Left,
    Right,
}

impl Direction {
    /// The name used on the wire by the seeds' tools.
    pub fn name(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Down => "down",
            Self::Left => "left",
            Self::Right => "right",
        }
    }

    /// The direction of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Up, Self::Down, Self::Left, Self::Right].into_iter().find(|one| one.name() == name)
    }
}

/// How a caller names an element. With both, the text counts where nothing answers to the id; a number of ours that
/// has gone stale is refused all the same, since the text may stand elsewhere by now.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Target {
    /// A number of ours (`e12`), a resource id, or a description.
    pub id: Option<String>,
    /// The text that it shows.
    pub text: Option<String>,
}

impl Action {
    /// Whether the screen may be another one afterwards.
    pub fn acts(&self) -> bool {
        match self {
            Self::ListDevices { .. }
            | Self::UseDevice { .. }
            | Self::DeviceInfo
            | Self::ListApps(_)
            | Self::CurrentApp
            | Self::Screenshot(_)
            | Self::Look
            | Self::Snapshot(_) => false,
            Self::Touch(_)
            | Self::Scroll { .. }
            | Self::Stop(_)
            | Self::TapElement(_)
            | Self::Type(_)
            | Self::Press(_)
            | Self::Launch(_)
            | Self::SetOrientation(_) => true,
        }
    }
}

/// What is being done, as it stands after "Operation timed out:".
impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ListDevices { .. } => f.write_str("list devices"),
            Self::UseDevice { device, .. } => write!(f, "use device {device}"),
            Self::DeviceInfo => f.write_str("get device information"),
            Self::ListApps(_) => f.write_str("list apps"),
            Self::CurrentApp => f.write_str("get current app"),
            Self::Scroll { direction, .. } => write!(f, "scroll {}", direction.name()),
            Self::Stop(app) => write!(f, "close {app}"),
            Self::Screenshot(_) => f.write_str("take screenshot"),
            Self::Look => f.write_str("read accessibility tree"),
            Self::Snapshot(_) => f.write_str("take snapshot"),
            Self::SetOrientation(orientation) => write!(f, "turn to {}", orientation.name()),
            Self::Touch(Gesture::Tap { at }) => write!(f, "tap ({}, {})", at.x, at.y),
            Self::Touch(Gesture::LongPress { at, .. }) => {
                write!(f, "long press ({}, {})", at.x, at.y)
            }
            Self::Touch(Gesture::Swipe { from, to, .. }) => {
                write!(f, "swipe ({}, {}) to ({}, {})", from.x, from.y, to.x, to.y)
            }
            Self::TapElement(target) => write!(f, "tap element {target}"),
            // The text itself stays out of messages and logs: it may be a password.
            Self::Type(typing) => write!(f, "type {} characters", typing.text.chars().count()),
            Self::Press(key) => write!(f, "press {}", key.name()),
            Self::Launch(app) => write!(f, "launch {app}"),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.id, &self.text) {
            (Some(id), None) => f.write_str(id),
            (None, Some(text)) => write!(f, "{text:?}"),
            (Some(id), Some(text)) => write!(f, "{id} or {text:?}"),
            (None, None) => f.write_str("(nothing named)"),
        }
    }
}

/// A phone that is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// The id to choose it by.
    pub id: String,
    /// Its kind.
    pub platform: Platform,
    /// Its model; empty where it is not known without asking it.
    pub model: String,
    /// The wire's word for its state: `device` is ready, others are `offline`, `unauthorized`, a sentence.
    pub state: String,
}

impl Listed {
    /// Whether it can be driven now.
    pub fn is_ready(&self) -> bool {
        self.state == "device"
    }

    /// What brings it back where it cannot be driven now: one sentence.
    pub fn next_move(&self) -> Option<&'static str> {
        (!self.is_ready()).then(|| states::next_move(&self.state))
    }
}

/// What was answered.
#[derive(Debug, Clone)]
pub enum Outcome {
    /// To [`Action::ListDevices`].
    Devices(Vec<Listed>),
    /// To [`Action::UseDevice`]: who was chosen.
    Using(Identity),
    /// To [`Action::DeviceInfo`]: who it is, and what it says of itself.
    Info(Identity, Info),
    /// To [`Action::ListApps`].
    Apps(Vec<App>),
    /// To [`Action::CurrentApp`]; `None` while no app has the focus.
    Current(Option<Foreground>),
    /// To [`Action::Screenshot`].
    Picture(Screenshot),
    /// To [`Action::Look`].
    Look(Arc<Look>),
    /// To [`Action::Snapshot`].
    Snapshot(Screenshot, Arc<Look>),
    /// To [`Action::Type`].
    Typed(Typed),
    /// To [`Action::TapElement`]: where the tap went and what lay there.
    Tapped {
        /// The place.
        at: Point,
        /// The element's name.
        name: String,
    },
    /// To every other action: it was carried out.
    Done,
}

/// How a text went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Typed {
    /// By which way it reached the phone.
    pub by: TypedBy,
    /// What the field shows of it.
    pub field: Readback,
}

/// What a field shows of a text that was typed into it, or of having been cleared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Readback {
    /// What it should.
    Same,
    /// What it should, now: characters were lost, and all was typed once more.
    Repaired,
    /// Something else. After clearing alone this may be its hint.
    Differs {
        /// What.
        shows: String,
    },
    /// Dots: it hides what it holds.
    Hidden,
    /// There is nothing to compare: no field that can be read has the focus, or a line end took the text elsewhere.
    NoField,
}

/// What goes along with an action: whose it is, how long it may take, and the ports back to the caller.
#[derive(Clone)]
pub struct Call {
    /// The phone this call is for; `None` means the session's chosen one.
    pub device: Option<String>,
    /// When the caller stops waiting.
    pub deadline: Instant,
    /// Set when the caller wants it no more.
    pub cancelled: CancellationToken,
    /// Where to tell how far it is.
    pub progress: Arc<dyn Progress>,
    /// Where to ask the person.
    pub ask: Arc<dyn Ask>,
}

impl Call {
    /// A call that nobody watches and nobody can be asked about, to be answered within `time`.
    pub fn within(time: Duration) -> Self {
        Self {
            device: None,
            deadline: Instant::now() + time,
            cancelled: CancellationToken::new(),
            progress: Arc::new(Unwatched),
            ask: Arc::new(NobodyThere),
        }
    }

    /// The same call for a named phone.
    pub fn on(mut self, device: Option<String>) -> Self {
        self.device = device;
        self
    }
}

/// A port to tell the caller how far a call is.
pub trait Progress: Send + Sync {
    /// Tells of a step: `done` out of `total` where that is known, in words.
    fn tell(&self, done: u32, total: Option<u32>, words: &str);
}

/// Nobody watches.
#[derive(Debug, Clone, Copy)]
pub struct Unwatched;

impl Progress for Unwatched {
    fn tell(&self, _done: u32, _total: Option<u32>, _words: &str) {}
}

/// A port to ask the person behind the caller.
#[async_trait]
pub trait Ask: Send + Sync {
    /// Asks and waits for the answer; `None` when there is nobody to ask or they declined.
    async fn ask(&self, question: &str) -> Option<String>;
}

/// There is nobody to ask.
#[derive(Debug, Clone, Copy)]
pub struct NobodyThere;

#[async_trait]
impl Ask for NobodyThere {
    async fn ask(&self, _question: &str) -> Option<String> {
        None
    }
}

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
    /// The deadline passed.
    #[error("{what} not done within {after:?}")]
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
            Cause::ElementNotFound { .. } => {
                "get the accessibility tree again and choose from what it shows"
            }
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
