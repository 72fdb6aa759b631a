//! The whole vocabulary: what can be asked of a session, what it answers, and how it says no.
//!
//! Every caller (an MCP client, the agent, the command line) asks by [`Perform::perform`], and everything that
//! stands between a caller and the session (the trace, a replay) implements [`Perform`] too. [`Action`] is what can be
//! asked, [`Outcome`] what is answered, [`Failure`] why not; a [`Call`] goes along with each. Nothing here knows a
//! tool's name or JSON: that is [`crate::surface`].

mod app_tools;
mod call;
mod failure;
mod names;
mod outcome;
mod states;
mod words;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use thumbwire_device::{
    AppId, Detail, Format, Gesture, Key, LogFilter, Orientation, Platform, Size,
};

pub use crate::look::Controls;
pub use app_tools::{
    Answered, AppCall, AppTool, AppTools, By, Catalog, Complaint, Heard, Parameter, Phase, Trusted,
};
pub use call::{Ask, Call, NobodyThere, Progress, Unwatched, agrees};
pub use failure::{Cause, Failure};
pub use names::{BadName, LONGEST_NAME, check_name};
pub use outcome::{
    Chosen, Fetched, File, Hit, Listed, Monitor, Outcome, Readback, Recorded, Saved, Typed,
};

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
    /// Choose a phone without naming one: the one chosen before, else the first physical one, else the first emulator.
    UseAnyDevice,
    /// How well the phone can be driven.
    Health,
    /// A picture of the screen.
    Screenshot(Shape),
    /// A picture of the screen, PNG, into a file on the phone.
    SaveScreenshot {
        /// The file's name, relative to the phone's storage; `None` makes one of the time.
        name: Option<String>,
        /// Whether it is fetched as well, into a file here.
        fetch: bool,
    },
    /// The elements on the screen, numbered for this session.
    Look(Looking),
    /// Both at once.
    Snapshot(Shape),
    /// The elements on the screen that answer to these criteria.
    Find(Criteria),
    /// The controls on the screen by seed 000's rules, numbered from 1 in this list.
    Controls {
        /// How old the answer may be, if nothing was done since.
        no_older_than: Duration,
    },
    /// What the phone says of itself.
    DeviceInfo {
        /// How old the answer may be.
        no_older_than: Duration,
    },
    /// Which apps are installed. What is answered is what [`Choice::Numbered`] counts from 1.
    ListApps {
        /// By where they came from.
        which: Apps,
        /// Only those whose id contains this; empty is all.
        containing: String,
        /// How old the answer may be.
        no_older_than: Duration,
    },
    /// Which app has the focus.
    CurrentApp,
    /// A gesture at coordinates.
    Touch(Gesture),
    /// A swipe of the finger from the middle of the screen.
    Swipe {
        /// Where the finger goes.
        direction: Direction,
        /// How far, in pixels; `None` is a third of the screen's shorter side.
        distance: Option<i32>,
        /// How long it takes.
        lasting: Duration,
    },
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
    Launch(Choice),
    /// An app, ended with all that it runs.
    Stop(AppId),
    /// All that an app keeps, forgotten, as if it had just been installed; it is ended first.
    ClearData(AppId),
    /// A permission, given to an app or taken from it.
    Permit {
        /// The app.
        app: AppId,
        /// The permission's name: `android.permission.CAMERA`.
        permission: String,
        /// Whether it is given.
        granted: bool,
    },
    /// The screen, turned. It is turned back when the session ends.
    SetOrientation(Orientation),
    /// Nothing, for so long.
    Wait(Duration),
    /// What is known by an earlier answer, forgotten: the next question asks the phone.
    Forget(Cache),
    /// The newest entries of the phone's log, the oldest first.
    ReadLog {
        /// Which.
        filter: LogFilter,
        /// How many at most.
        most: usize,
        /// Whether the log is emptied first.
        clear: bool,
    },
    /// The phone's log, followed from now on until it is stopped or the session ends.
    StartMonitor {
        /// Which entries.
        filter: LogFilter,
        /// The name of the file here that they are written into; `None` only counts them.
        file: Option<String>,
    },
    /// One log followed no more, or all.
    StopMonitor(Option<String>),
    /// Which logs are being followed.
    ListMonitors,
    /// The screen, recorded from now on until it is stopped, its time is over, or the session ends.
    StartRecording {
        /// The file's name, relative to the phone's storage; `None` makes one of the time.
        name: Option<String>,
        /// How long at most.
        lasting: Duration,
        /// Bits per second.
        bit_rate: Option<u32>,
        /// Pixels of the video.
        size: Option<Size>,
    },
    /// One recording ended, or all.
    StopRecording {
        /// Which; `None` is all.
        recording: Option<String>,
        /// Whether it is fetched as well, into a file here.
        fetch: bool,
    },
    /// Which recordings are under way.
    ListRecordings,
    /// What the apps on the phone offer to programs.
    ListAppTools {
        /// How old the answer may be; zero asks the phone.
        no_older_than: Duration,
    },
    /// Something that an app offers, done by the app.
    CallAppTool(AppCall),
    /// An app's tools, trusted from now on as they are: its certificate and its descriptor.
    TrustAppTools(AppId),
}

/// How the screen's elements are looked at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Looking {
    /// How much of it.
    pub detail: Detail,
    /// How old the answer may be, if nothing was done since; zero asks the phone.
    pub no_older_than: Duration,
}

/// What a session remembers of earlier answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cache {
    /// The numbered controls.
    Controls,
    /// The list of apps.
    Apps,
    /// The tree of the screen.
    Tree,
    /// What the phone says of itself.
    DeviceInfo,
    /// All of it.
    All,
}

/// How a caller names an app to start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Choice {
    /// By its id.
    Id(AppId),
    /// By a part of its id, or by a word that is one: whole segments between the dots count before parts.
    Named(String),
    /// By its number in the last [`Action::ListApps`], counted from 1.
    Numbered(String),
}

/// What an element must have.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Criteria {
    /// Its text holds this, small or capital.
    pub text: Option<String>,
    /// Its resource id holds this, letter for letter.
    pub id: Option<String>,
    /// Its description holds this, small or capital.
    pub description: Option<String>,
    /// Its class holds this, small or capital.
    pub class: Option<String>,
    /// It takes taps.
    pub clickable: bool,
    /// It is not greyed out.
    pub enabled: bool,
    /// The words are all that stands there, letter for letter.
    pub exact: bool,
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

/// How a caller names an element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// By what it is called. With both, the text counts where nothing answers to the id; a number of ours that
    /// has gone stale is refused all the same, since the text may stand elsewhere by now.
    Named {
        /// A number of ours (`e12`), a resource id, or a description.
        id: Option<String>,
        /// The text that it shows.
        text: Option<String>,
    },
    /// By its number in the last [`Action::Controls`], counted from 1.
    Control(String),
    /// By criteria, and its place among those that answer to them, counted from 0.
    Match(Criteria, usize),
}

impl Target {
    /// What has this id.
    pub fn id(id: impl Into<String>) -> Self {
        Self::Named { id: Some(id.into()), text: None }
    }

    /// What shows this text.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Named { id: None, text: Some(text.into()) }
    }
}

impl Action {
    /// A look at all of the screen as it is now.
    pub const LOOK: Self =
        Self::Look(Looking { detail: Detail::Full, no_older_than: Duration::ZERO });

    /// Whether the screen may be another one afterwards.
    pub fn acts(&self) -> bool {
        match self {
            Self::ListDevices { .. }
            | Self::UseDevice { .. }
            | Self::UseAnyDevice
            | Self::Health
            | Self::DeviceInfo { .. }
            | Self::ListApps { .. }
            | Self::CurrentApp
            | Self::Screenshot(_)
            | Self::SaveScreenshot { .. }
            | Self::Look(_)
            | Self::Snapshot(_)
            | Self::Find(_)
            | Self::Controls { .. }
            | Self::Wait(_)
            | Self::Forget(_)
            | Self::ReadLog { .. }
            | Self::StartMonitor { .. }
            | Self::StopMonitor(_)
            | Self::ListMonitors
            | Self::StartRecording { .. }
            | Self::StopRecording { .. }
            | Self::ListRecordings
            | Self::ListAppTools { .. }
            | Self::TrustAppTools(_) => false,
            Self::Touch(_)
            | Self::Swipe { .. }
            | Self::Scroll { .. }
            | Self::Stop(_)
            | Self::ClearData(_)
            | Self::Permit { .. }
            | Self::TapElement(_)
            | Self::Type(_)
            | Self::Press(_)
            | Self::Launch(_)
            | Self::CallAppTool(_)
            | Self::SetOrientation(_) => true,
        }
    }
}
