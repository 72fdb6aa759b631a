//! What a session answers.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use thumbwire_device::{
    App, AppId, Foreground, Health, Identity, Info, LogEntry, LogFilter, Platform, Point,
    Screenshot, Size, TypedBy,
};

use super::app_tools::{Answered, Catalog};
use super::states;
use crate::look::{Controls, Look};

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
    /// What the adb server's list tells beside these, as it stands there: `product`, `model`, `device`, `transport_id`.
    pub properties: Vec<(String, String)>,
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
    /// To [`super::Action::ListDevices`].
    Devices(Vec<Listed>),
    /// To [`super::Action::UseDevice`]: who was chosen.
    Using(Identity),
    /// To [`super::Action::UseAnyDevice`].
    Chosen(Listed, Chosen),
    /// To [`super::Action::Health`].
    Health(Identity, Health),
    /// To [`super::Action::DeviceInfo`].
    Info {
        /// Who it is.
        identity: Identity,
        /// What it says of itself.
        info: Info,
        /// Whether this is an earlier answer.
        earlier: bool,
    },
    /// To [`super::Action::ListApps`].
    Apps(Vec<App>),
    /// To [`super::Action::CurrentApp`]; `None` while no app has the focus.
    Current(Option<Foreground>),
    /// To [`super::Action::Screenshot`].
    Picture(Screenshot),
    /// To [`super::Action::Look`].
    Look(Arc<Look>),
    /// To [`super::Action::SaveScreenshot`].
    Saved(Saved),
    /// To [`super::Action::Find`]: the look, and the places in its tree of those that answer.
    Found(Arc<Look>, Vec<usize>),
    /// To [`super::Action::Controls`].
    Controls(Arc<Controls>),
    /// To [`super::Action::Snapshot`].
    Snapshot(Screenshot, Arc<Look>),
    /// To [`super::Action::Type`].
    Typed(Typed),
    /// To [`super::Action::TapElement`]: where the tap went and what lay there.
    Tapped(Hit),
    /// To [`super::Action::Swipe`].
    Swiped {
        /// Where the finger came down.
        from: Point,
        /// Where it left the screen.
        to: Point,
        /// The screen.
        screen: Size,
    },
    /// To [`super::Action::Launch`].
    Launched {
        /// Which app it was.
        app: AppId,
        /// The phone's words.
        said: String,
    },
    /// To [`super::Action::ReadLog`].
    Log(Vec<LogEntry>),
    /// To [`super::Action::StartMonitor`], and to [`super::Action::StopMonitor`] of one.
    Monitor(Monitor),
    /// To [`super::Action::ListMonitors`], and to [`super::Action::StopMonitor`] of all.
    Monitors(Vec<Monitor>),
    /// To [`super::Action::StartRecording`], and to [`super::Action::StopRecording`] of one.
    Recording(Recorded),
    /// To [`super::Action::ListRecordings`], and to [`super::Action::StopRecording`] of all.
    Recordings(Vec<Recorded>),
    /// To [`super::Action::ListAppTools`].
    AppTools(Arc<Catalog>),
    /// To [`super::Action::CallAppTool`].
    Answered(Answered),
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
    /// The field that was tapped for it, where one was named.
    pub into: Option<Hit>,
}

/// An element that was tapped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// Where the tap went.
    pub at: Point,
    /// The look by which it was aimed.
    pub look: Arc<Look>,
    /// The element's place in that look's tree.
    pub node: usize,
    /// How many elements answered to the same criteria.
    pub of: usize,
}

impl Hit {
    /// The element's name.
    pub fn name(&self) -> &str {
        self.look.tree.nodes[self.node].name()
    }
}

/// Why a phone was chosen by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Chosen {
    /// It was chosen before.
    Before,
    /// It is the first physical one.
    FirstPhysical,
    /// It is the first emulator.
    FirstEmulator,
}

/// A picture that was kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Saved {
    /// The file's name.
    pub name: String,
    /// The file on the phone.
    pub on_phone: String,
    /// The file here, where one was asked for.
    pub here: Option<Fetched>,
}

/// A file that was fetched from a phone; or why it was not, in words.
pub type Fetched = Result<File, String>;

/// A file here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// Where.
    pub path: PathBuf,
    /// Its length.
    pub bytes: u64,
}

/// A log that is or was followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Monitor {
    /// Its id.
    pub id: String,
    /// Which entries it takes.
    pub filter: LogFilter,
    /// The file here that it writes.
    pub file: Option<PathBuf>,
    /// How long it has been followed.
    pub running: Duration,
    /// How many entries came.
    pub entries: u64,
    /// Why it gets no more entries by itself, in words; `None` while all is well.
    pub ended: Option<String>,
}

/// A recording that is or was under way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recorded {
    /// Its id.
    pub id: String,
    /// The file's name.
    pub name: String,
    /// The file on the phone.
    pub on_phone: String,
    /// How long it has been recorded.
    pub running: Duration,
    /// How long it may take.
    pub lasting: Duration,
    /// Bits per second, where they were asked for.
    pub bit_rate: Option<u32>,
    /// Pixels of the video, where they were asked for.
    pub size: Option<Size>,
    /// The number of its process on the phone.
    pub process: u32,
    /// What stands against the recording, in words.
    pub warnings: Vec<String>,
    /// Why it was not stopped although that was asked for, in words; it stays listed. Only where all were to be stopped: of
    /// one alone this is a failure.
    pub unstopped: Option<String>,
    /// The file here, where one was asked for.
    pub here: Option<Fetched>,
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
