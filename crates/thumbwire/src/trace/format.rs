//! Trace version 5, as it stands on disk.
//!
//! A run is a folder: `trace.jsonl`, one JSON object a line, the first telling of the run and each further one of a
//! step; and the files that steps name, relative to the folder. The types mirror the live vocabulary and are
//! separate from it: the vocabulary may grow, a stored trace stays readable. Every change here raises [`VERSION`].

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use thumbwire_device::find::Showing;
use thumbwire_device::{Acted, Gesture, Point, TypedBy};

use crate::action::{
    Action, Answered, Choice, Criteria, Failure, Heard, Hit, Readback, Target, Typed, Typing,
};
use crate::look::Look;

/// The version that this program writes.
pub const VERSION: u32 = 5;

/// The file of lines in a run's folder.
pub const FILE: &str = "trace.jsonl";

/// One line of the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Line {
    /// The first line.
    Run {
        /// The version of this format.
        trace: u32,
        /// Who wrote it, with its version.
        program: String,
        /// When, RFC 3339 in UTC.
        started: String,
    },
    /// One action and what came of it.
    Step {
        /// Counted from 1.
        step: u32,
        /// Milliseconds since the run began when it was asked for.
        at_ms: u64,
        /// Milliseconds until it was answered.
        took_ms: u64,
        /// The device it was for, where the call named one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        device: Option<String>,
        /// What was asked.
        action: Act,
        /// What came of it.
        #[serde(flatten)]
        end: End,
    },
    /// A goal that is carried out from here on: the first time, or again after an interruption.
    Goal(Goal),
    /// What a mind saw, thought and wanted between two steps. The steps that it led to stand before this line.
    Round(Box<Round>),
    /// The goal's end.
    Ended {
        /// `FINISH`, `FAIL`, or `CONTINUE` where it can go on.
        status: String,
        /// Why, or what was found out.
        why: String,
    },
}

/// A goal.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Goal {
    /// In the person's words.
    pub request: String,
    /// Who decides.
    pub mind: String,
    /// When, RFC 3339 in UTC.
    pub started: String,
}

/// One round of seed 002's four phases. Files are relative to the run's folder.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Round {
    /// Counted from 1.
    pub round: u32,
    /// Milliseconds since the run began.
    pub at_ms: u64,
    /// Milliseconds that it took.
    pub took_ms: u64,
    /// The first step of the run that it led to, and the last; `None` where it led to none.
    pub steps: Option<[u32; 2]>,
    /// The picture of the screen, and the same with marks.
    pub clean: Option<String>,
    /// See `clean`.
    pub annotated: Option<String>,
    /// The file of the look that it decided by.
    pub look: Option<String>,
    /// The file of the prompt, in the document's shape; pictures in it are named by their files.
    pub prompt: Option<String>,
    /// The file of the answer, word for word.
    pub response: Option<String>,
    /// The app in front.
    pub app: Option<String>,
    /// What was observed of the round before, in sentences.
    pub observations: Vec<String>,
    /// What it thought.
    pub thought: String,
    /// What it said to the person.
    pub comment: String,
    /// What it wants to do afterwards.
    pub plan: Vec<String>,
    /// What it wants to remember.
    pub remember: Vec<String>,
    /// What it did.
    pub actions: Vec<Carried>,
    /// `CONTINUE`, `FINISH` or `FAIL`.
    pub status: String,
    /// What was found out, at the end.
    pub result: String,
    /// The judgement on a claim that all is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judged: Option<Judged>,
    /// What the models cost.
    pub spent: Cost,
    /// Milliseconds of each phase, by its name.
    pub timings: Map<String, Value>,
    /// What failed in it, in sentences.
    pub failures: Vec<String>,
    /// The memory item of seed 002 ("Memory Structure").
    pub memory: Value,
}

/// An action of a round.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Carried {
    /// The function's name.
    pub function: String,
    /// Its arguments.
    pub arguments: Map<String, Value>,
    /// Whether it succeeded.
    pub success: bool,
    /// What came of it, in a sentence.
    pub message: String,
    /// The control that it was for: its place in the look's nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<usize>,
    /// Where the finger came down, and where it left the screen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub touch: Vec<[i32; 2]>,
}

/// A judgement.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Judged {
    /// Whether the goal is reached.
    pub reached: bool,
    /// Why.
    pub why: String,
}

/// What models cost.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "each is the live value's field of the same name")]
pub struct Cost {
    pub calls: u32,
    pub retries: u32,
    pub input_tokens: u64,
    pub cached_tokens: u64,
    pub cache_writes: u64,
    pub output_tokens: u64,
    pub dollars: Option<f64>,
}

/// How a step ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// It was carried out.
    Outcome(Got),
    /// It was not.
    Failure {
        /// Why, in words.
        why: String,
        /// Whether it may have happened all the same.
        may_have_happened: bool,
    },
}

/// What was asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
#[expect(missing_docs, reason = "each is the live action or value of the same name")]
pub enum Act {
    ListDevices { platform: Option<String> },
    UseDevice { device: String, platform: Option<String> },
    UseAnyDevice,
    Health,
    DeviceInfo,
    ListApps { which: String },
    CurrentApp,
    Screenshot,
    SaveScreenshot { name: Option<String> },
    Look,
    Find(Box<Wanted>),
    Controls,
    Snapshot,
    SwipeTowards { direction: String, distance: Option<i32>, lasting_ms: u64 },
    Tap { x: i32, y: i32 },
    LongPress { x: i32, y: i32, held_ms: u64 },
    Swipe { from: [i32; 2], to: [i32; 2], lasting_ms: u64 },
    Scroll { direction: String, distance: f64 },
    TapElement(Sought),
    Type { text: String, into: Option<Sought>, clear: bool, submit: bool },
    SetOrientation { orientation: String },
    Press { key: String },
    Launch { app: String },
    Stop { app: String },
    ClearData { app: String },
    Permit { app: String, permission: String, granted: bool },
    Wait { ms: u64 },
    Forget { what: String },
    ReadLog { tag: Option<String>, priority: char, most: usize, clear: bool },
    StartMonitor { tag: Option<String>, priority: char, file: Option<String> },
    StopMonitor { id: Option<String> },
    ListMonitors,
    StartRecording { name: Option<String>, lasting_ms: u64 },
    StopRecording { id: Option<String> },
    ListRecordings,
    ListAppTools,
    CallAppTool(Box<CalledTool>),
    TrustAppTools { app: String },
}

/// A call of something that an app offers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "each is the live call's field of the same name")]
pub struct CalledTool {
    pub app: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<String>,
    pub tool: String,
    pub arguments: Map<String, Value>,
    pub send_only: bool,
}

/// How an element was named.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "each is the live target's field of the same name")]
pub struct Sought {
    pub id: Option<String>,
    pub text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wanted: Option<Box<Wanted>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<usize>,
}

/// What elements were asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "each is the live criteria's field of the same name")]
pub struct Wanted {
    pub text: Option<String>,
    pub id: Option<String>,
    pub description: Option<String>,
    pub class: Option<String>,
    pub clickable: bool,
    pub enabled: bool,
    pub exact: bool,
}

/// What was answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
#[expect(missing_docs, reason = "each is the live outcome or value of the same name")]
pub enum Got {
    Devices { ids: Vec<String> },
    Using { device: String, model: String },
    Info { model: String, os_version: String },
    Apps { count: usize },
    Current { app: Option<String>, screen: Option<String> },
    Picture { file: String, width: i32, height: i32 },
    Look { file: String, nodes: usize, controls: usize },
    Snapshot { picture: Box<Got>, look: Box<Got> },
    Typed { by: String, field: String, shows: Option<String> },
    Tapped { x: i32, y: i32, name: String },
    Swiped { from: [i32; 2], to: [i32; 2] },
    Health { well: bool },
    Saved { on_phone: String },
    Found { look: Box<Got>, nodes: Vec<usize> },
    Launched { app: String },
    Log { entries: usize },
    Monitors { ids: Vec<String> },
    Recordings { ids: Vec<String> },
    AppTools { apps: Vec<String> },
    Answered(Box<ToolAnswered>),
    Done,
}

/// What an app answered.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "each is the live answer's field of the same name")]
pub struct ToolAnswered {
    /// `None` where the call was only sent.
    pub success: Option<bool>,
    pub message: String,
    pub output: Map<String, Value>,
}

/// A look as it stands in its own file: every node of the tree, with the numbers of those that have one. Of a live look
/// it borrows the words; what is read back owns them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoredLook<'a> {
    /// Quarter turns of the screen.
    pub rotation: u8,
    /// The nodes, in document order.
    pub nodes: Vec<StoredNode<'a>>,
}

/// One node of a stored look. Flags are named where they are set.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "each is the live node's field of the same name")]
pub struct StoredNode<'a> {
    pub parent: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control: Option<u32>,
    pub class: Cow<'a, str>,
    pub package: Cow<'a, str>,
    pub id: Cow<'a, str>,
    pub text: Cow<'a, str>,
    pub description: Cow<'a, str>,
    /// Left, top, right, bottom.
    pub bounds: [i32; 4],
    pub flags: Vec<Cow<'a, str>>,
    /// Why nothing of it shows, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hidden: Option<Cow<'a, str>>,
    /// The place in `nodes` of what takes the taps on it instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub covered_by: Option<usize>,
}

impl From<&Action> for Act {
    fn from(action: &Action) -> Self {
        let millis =
            |time: std::time::Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let name =
            |platform: &Option<thumbwire_device::Platform>| platform.map(|p| p.name().into());
        match action {
            Action::ListDevices { platform } => Self::ListDevices { platform: name(platform) },
            Action::UseDevice { device, platform } => {
                Self::UseDevice { device: device.clone(), platform: name(platform) }
            }
            Action::UseAnyDevice => Self::UseAnyDevice,
            Action::Health => Self::Health,
            Action::DeviceInfo { .. } => Self::DeviceInfo,
            Action::ListApps { which, .. } => {
                Self::ListApps { which: format!("{which:?}").to_lowercase() }
            }
            Action::CurrentApp => Self::CurrentApp,
            Action::Scroll { direction, distance } => {
                Self::Scroll { direction: direction.name().into(), distance: *distance }
            }
            Action::Stop(app) => Self::Stop { app: app.0.clone() },
            Action::ClearData(app) => Self::ClearData { app: app.0.clone() },
            Action::Permit { app, permission, granted } => Self::Permit {
                app: app.0.clone(),
                permission: permission.clone(),
                granted: *granted,
            },
            Action::Screenshot(_) => Self::Screenshot,
            Action::Snapshot(_) => Self::Snapshot,
            Action::Look(_) => Self::Look,
            Action::SaveScreenshot { name, .. } => Self::SaveScreenshot { name: name.clone() },
            Action::Find(criteria) => Self::Find(Box::new(criteria.into())),
            Action::Controls { .. } => Self::Controls,
            Action::Swipe { direction, distance, lasting } => Self::SwipeTowards {
                direction: direction.name().into(),
                distance: *distance,
                lasting_ms: millis(*lasting),
            },
            Action::Wait(time) => Self::Wait { ms: millis(*time) },
            Action::Forget(cache) => Self::Forget { what: format!("{cache:?}").to_lowercase() },
            Action::ReadLog { filter, most, clear } => Self::ReadLog {
                tag: filter.tag.clone(),
                priority: filter.priority.letter(),
                most: *most,
                clear: *clear,
            },
            Action::StartMonitor { filter, file } => Self::StartMonitor {
                tag: filter.tag.clone(),
                priority: filter.priority.letter(),
                file: file.clone(),
            },
            Action::StopMonitor(id) => Self::StopMonitor { id: id.clone() },
            Action::ListMonitors => Self::ListMonitors,
            Action::StartRecording { name, lasting, .. } => {
                Self::StartRecording { name: name.clone(), lasting_ms: millis(*lasting) }
            }
            Action::StopRecording { recording, .. } => {
                Self::StopRecording { id: recording.clone() }
            }
            Action::ListRecordings => Self::ListRecordings,
            Action::ListAppTools { .. } => Self::ListAppTools,
            Action::CallAppTool(call) => Self::CallAppTool(Box::new(CalledTool {
                app: call.app.0.clone(),
                service: call.service.clone(),
                tool: call.tool.clone(),
                arguments: call.arguments.clone(),
                send_only: call.send_only,
            })),
            Action::TrustAppTools(app) => Self::TrustAppTools { app: app.0.clone() },
            Action::Touch(Gesture::Tap { at: Point { x, y } }) => Self::Tap { x: *x, y: *y },
            Action::Touch(Gesture::LongPress { at: Point { x, y }, held }) => {
                Self::LongPress { x: *x, y: *y, held_ms: millis(*held) }
            }
            Action::Touch(Gesture::Swipe { from, to, lasting }) => Self::Swipe {
                from: [from.x, from.y],
                to: [to.x, to.y],
                lasting_ms: millis(*lasting),
            },
            Action::TapElement(target) => Self::TapElement(target.into()),
            Action::Type(Typing { text, into, clear, submit }) => Self::Type {
                text: text.clone(),
                into: into.as_ref().map(Sought::from),
                clear: *clear,
                submit: *submit,
            },
            Action::SetOrientation(orientation) => {
                Self::SetOrientation { orientation: orientation.name().into() }
            }
            Action::Press(key) => Self::Press { key: key.name().into_owned() },
            Action::Launch(choice) => Self::Launch {
                app: match choice {
                    Choice::Id(app) => app.0.clone(),
                    Choice::Named(name) => name.clone(),
                    Choice::Numbered(number) => format!("#{number}"),
                },
            },
        }
    }
}

impl From<&Target> for Sought {
    fn from(target: &Target) -> Self {
        match target {
            Target::Named { id, text } => {
                Self { id: id.clone(), text: text.clone(), ..Self::default() }
            }
            Target::Control(number) => Self { control: Some(number.clone()), ..Self::default() },
            Target::Match(criteria, index) => Self {
                wanted: Some(Box::new(criteria.into())),
                index: Some(*index),
                ..Self::default()
            },
        }
    }
}

impl From<&Criteria> for Wanted {
    fn from(criteria: &Criteria) -> Self {
        let Criteria { text, id, description, class, clickable, enabled, exact } = criteria.clone();
        Self { text, id, description, class, clickable, enabled, exact }
    }
}

impl From<&Hit> for Got {
    fn from(hit: &Hit) -> Self {
        Self::Tapped { x: hit.at.x, y: hit.at.y, name: hit.name().to_owned() }
    }
}

impl From<&Typed> for Got {
    fn from(typed: &Typed) -> Self {
        let by = match &typed.by {
            TypedBy::Keys => "keys".into(),
            TypedBy::Keyboard { app } => format!("keyboard {app}"),
            TypedBy::Clipboard => "clipboard".into(),
        };
        let (field, shows) = match &typed.field {
            Readback::Same => ("same", None),
            Readback::Repaired => ("repaired", None),
            Readback::Differs { shows } => ("differs", Some(shows.clone())),
            Readback::Hidden => ("hidden", None),
            Readback::NoField => ("no field", None),
        };
        Self::Typed { by, field: field.into(), shows }
    }
}

impl From<&Answered> for Got {
    fn from(answered: &Answered) -> Self {
        let (success, message, output) = match &answered.heard {
            Heard::Answer { success, message, output, .. } => {
                (Some(*success), message.clone(), output.clone())
            }
            Heard::Sent => (None, String::new(), Map::new()),
        };
        Self::Answered(Box::new(ToolAnswered { success, message, output }))
    }
}

impl From<&Failure> for End {
    fn from(failure: &Failure) -> Self {
        Self::Failure {
            why: failure.cause.to_string(),
            may_have_happened: failure.acted == Acted::Maybe,
        }
    }
}

impl<'a> From<&'a Look> for StoredLook<'a> {
    fn from(look: &'a Look) -> Self {
        let mut nodes: Vec<StoredNode<'_>> = look.tree.nodes.iter().map(stored).collect();
        for (at, node) in nodes.iter_mut().enumerate() {
            node.covered_by = look.covered_by(at);
            if let Showing::Hidden(why) = look.showing[at] {
                node.hidden = Some(why.why().into());
            }
        }
        for control in &look.controls {
            nodes[control.node].control = Some(control.number);
        }
        Self { rotation: look.tree.rotation, nodes }
    }
}

fn stored(node: &thumbwire_device::Node) -> StoredNode<'_> {
    let set = node.flags.named().into_iter().filter(|(_, set)| *set);
    let bounds = node.bounds;
    StoredNode {
        parent: node.parent,
        control: None,
        class: node.class.as_str().into(),
        package: node.package.as_str().into(),
        id: node.id.as_str().into(),
        text: node.text.as_str().into(),
        description: node.description.as_str().into(),
        bounds: [bounds.left, bounds.top, bounds.right, bounds.bottom],
        flags: set.map(|(name, _)| name.into()).collect(),
        hidden: None,
        covered_by: None,
    }
}
