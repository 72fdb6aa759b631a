//! The trace format on disk, version 5.
//!
//! A run is a folder with `trace.jsonl`, one JSON object per line: first the run, then a record per action, agent step
//! and so on. Files named in records are relative to the folder. The types mirror the live ones but are separate: live
//! types may change while stored traces stay readable. Every change here raises [`VERSION`].

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use thumbwire_device::find::Visibility;
use thumbwire_device::{Gesture, Point, SideEffect, TypingMethod};

use crate::action::{
    Action, AppSelector, AppToolReply, AppToolResult, ElementId, ElementSelector, Failure,
    Readback, TapResult, Target, TextInput, TypeResult,
};
use crate::snapshot::Snapshot;

/// The version that this program writes.
pub const VERSION: u32 = 5;

/// The file of records in a run's folder.
pub const FILE: &str = "trace.jsonl";

/// One line of the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TraceRecord {
    /// The first line.
    Run {
        /// The version of this format.
        trace: u32,
        /// The program that wrote it, with its version.
        program: String,
        /// When it started, RFC 3339 in UTC.
        started: String,
    },
    /// One action and its result.
    #[serde(rename = "step")]
    Action {
        /// Counted from 1.
        step: u32,
        /// Milliseconds from the start of the run to the start of the action.
        at_ms: u64,
        /// The duration in milliseconds.
        took_ms: u64,
        /// The device, if the call named one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        device: Option<String>,
        /// The action.
        action: StoredAction,
        /// Its result.
        #[serde(flatten)]
        end: ActionResult,
    },
    /// A goal starts here, or resumes after an interruption.
    Goal(GoalStart),
    /// An agent step: what the policy saw, thought and called. Its actions precede this line.
    #[serde(rename = "round")]
    AgentStep(Box<AgentStep>),
    /// The end of the goal.
    #[serde(rename = "ended")]
    GoalEnd {
        /// `FINISH`, `FAIL`, or `CONTINUE` if it can be resumed.
        status: String,
        /// The reason or the answer.
        why: String,
    },
}

/// A goal.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct GoalStart {
    /// In the user's words.
    pub request: String,
    /// The policy.
    pub mind: String,
    /// When it started, RFC 3339 in UTC.
    pub started: String,
}

/// One step through the four phases of the UFO MobileAgent strategy. Files are relative to the run's folder.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct AgentStep {
    /// Counted from 1.
    pub round: u32,
    /// Milliseconds since the run began.
    pub at_ms: u64,
    /// The duration in milliseconds.
    pub took_ms: u64,
    /// The first and last action of this step; `None` if it had none.
    pub steps: Option<[u32; 2]>,
    /// The screenshot; `annotated` is the same with marks.
    pub clean: Option<String>,
    /// See `clean`.
    pub annotated: Option<String>,
    /// The file of the snapshot that the decision was based on.
    pub look: Option<String>,
    /// The file of the prompt, in UFO's shape; images are named by their files.
    pub prompt: Option<String>,
    /// The file of the model's reply, verbatim.
    pub response: Option<String>,
    /// The app in the foreground.
    pub app: Option<String>,
    /// Feedback on the previous step, in sentences.
    pub observations: Vec<String>,
    /// What the policy thought.
    pub thought: String,
    /// What it told the user.
    pub comment: String,
    /// Its plan for the next steps.
    pub plan: Vec<String>,
    /// What it wants to remember.
    pub remember: Vec<String>,
    /// The calls it made.
    pub actions: Vec<CallRecord>,
    /// `CONTINUE`, `FINISH` or `FAIL`.
    pub status: String,
    /// The answer, at the end.
    pub result: String,
    /// The judgement of a claim that the goal is reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judged: Option<JudgementRecord>,
    /// Model usage.
    pub spent: UsageRecord,
    /// The duration of each phase in milliseconds, by name.
    pub timings: Map<String, Value>,
    /// Failures in this step, in sentences.
    pub failures: Vec<String>,
    /// The memory item of the UFO MobileAgent strategy ("Memory Structure").
    pub memory: Value,
}

/// A call of an agent step.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct CallRecord {
    /// The function's name.
    pub function: String,
    /// Its arguments.
    pub arguments: Map<String, Value>,
    /// Whether it succeeded.
    pub success: bool,
    /// The result, in a sentence.
    pub message: String,
    /// The control it was for, as an index into the snapshot's nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<usize>,
    /// Where a touch started and ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub touch: Vec<[i32; 2]>,
}

/// A judgement.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct JudgementRecord {
    /// Whether the goal is reached.
    pub reached: bool,
    /// The reason.
    pub why: String,
}

/// Model usage.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "each is the live value's field of the same name")]
pub struct UsageRecord {
    pub calls: u32,
    pub retries: u32,
    pub input_tokens: u64,
    pub cached_tokens: u64,
    pub cache_writes: u64,
    pub output_tokens: u64,
    pub dollars: Option<f64>,
}

/// How an action ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActionResult {
    /// It was performed.
    Outcome(StoredOutcome),
    /// It failed.
    Failure {
        /// The reason.
        why: String,
        /// Whether it may have happened anyway.
        may_have_happened: bool,
    },
}

/// An action.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case")]
#[expect(missing_docs, reason = "each is the live action or value of the same name")]
pub enum StoredAction {
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
    Find(Box<StoredSelector>),
    Controls,
    Snapshot,
    SwipeTowards { direction: String, distance: Option<i32>, lasting_ms: u64 },
    Tap { x: i32, y: i32 },
    LongPress { x: i32, y: i32, held_ms: u64 },
    Swipe { from: [i32; 2], to: [i32; 2], lasting_ms: u64 },
    Scroll { direction: String, distance: f64 },
    TapElement(StoredTarget),
    Type { text: String, into: Option<StoredTarget>, clear: bool, submit: bool },
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
    CallAppTool(Box<StoredAppToolCall>),
    TrustAppTools { app: String },
}

/// A call of an app tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "each is the live call's field of the same name")]
pub struct StoredAppToolCall {
    pub app: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<String>,
    pub tool: String,
    pub arguments: Map<String, Value>,
    pub send_only: bool,
}

/// The target of an action.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "each is the live target's field of the same name")]
pub struct StoredTarget {
    pub id: Option<String>,
    pub text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub control: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wanted: Option<Box<StoredSelector>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub index: Option<usize>,
}

/// An element selector.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "each is the live criteria's field of the same name")]
pub struct StoredSelector {
    pub text: Option<String>,
    pub id: Option<String>,
    pub description: Option<String>,
    pub class: Option<String>,
    pub clickable: bool,
    pub enabled: bool,
    pub exact: bool,
}

/// An outcome.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
#[expect(missing_docs, reason = "each is the live outcome or value of the same name")]
pub enum StoredOutcome {
    Devices { ids: Vec<String> },
    Using { device: String, model: String },
    Info { model: String, os_version: String },
    Apps { count: usize },
    Current { app: Option<String>, screen: Option<String> },
    Picture { file: String, width: i32, height: i32 },
    Look { file: String, nodes: usize, controls: usize },
    Snapshot { picture: Box<StoredOutcome>, look: Box<StoredOutcome> },
    Typed { by: String, field: String, shows: Option<String> },
    Tapped { x: i32, y: i32, name: String },
    Swiped { from: [i32; 2], to: [i32; 2] },
    Health { well: bool },
    Saved { on_phone: String },
    Found { look: Box<StoredOutcome>, nodes: Vec<usize> },
    Launched { app: String },
    Log { entries: usize },
    Monitors { ids: Vec<String> },
    Recordings { ids: Vec<String> },
    AppTools { apps: Vec<String> },
    Answered(Box<StoredAppToolResult>),
    Done,
}

/// The result of an app tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "each is the live answer's field of the same name")]
pub struct StoredAppToolResult {
    /// `None` if the call was only sent.
    pub success: Option<bool>,
    pub message: String,
    pub output: Map<String, Value>,
}

/// A snapshot in its own file: every node of the tree, with its ref if it has one. Borrows its strings from a live
/// snapshot; one that was read back owns them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StoredSnapshot<'a> {
    /// The screen's rotation in quarter turns.
    pub rotation: u8,
    /// The nodes, in document order.
    pub nodes: Vec<StoredNode<'a>>,
}

/// One node of a stored snapshot. Only flags that are set are named.
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
    /// Why it is not visible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hidden: Option<Cow<'a, str>>,
    /// The index in `nodes` of the node that receives taps on it instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub covered_by: Option<usize>,
}

impl From<&Action> for StoredAction {
    fn from(action: &Action) -> Self {
        let millis =
            |time: std::time::Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let name =
            |platform: &Option<thumbwire_device::Platform>| platform.map(|p| p.name().into());
        match action {
            Action::ListDevices { platform } => Self::ListDevices { platform: name(platform) },
            Action::SelectDevice { device, platform } => {
                Self::UseDevice { device: device.clone(), platform: name(platform) }
            }
            Action::SelectDefaultDevice => Self::UseAnyDevice,
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
            Action::SetPermission { app, permission, granted } => Self::Permit {
                app: app.0.clone(),
                permission: permission.clone(),
                granted: *granted,
            },
            Action::Screenshot(_) => Self::Screenshot,
            Action::ScreenshotAndSnapshot(_) => Self::Snapshot,
            Action::Snapshot(_) => Self::Look,
            Action::SaveScreenshot { name, .. } => Self::SaveScreenshot { name: name.clone() },
            Action::FindElements(criteria) => Self::Find(Box::new(criteria.into())),
            Action::Controls { .. } => Self::Controls,
            Action::Swipe { direction, distance, lasting } => Self::SwipeTowards {
                direction: direction.name().into(),
                distance: *distance,
                lasting_ms: millis(*lasting),
            },
            Action::Wait(time) => Self::Wait { ms: millis(*time) },
            Action::InvalidateCache(cache) => {
                Self::Forget { what: format!("{cache:?}").to_lowercase() }
            }
            Action::ReadLog { filter, max: most, clear } => Self::ReadLog {
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
            Action::CallAppTool(call) => Self::CallAppTool(Box::new(StoredAppToolCall {
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
            Action::Type(TextInput { text, into, clear, submit }) => Self::Type {
                text: text.clone(),
                into: into.as_ref().map(StoredTarget::from),
                clear: *clear,
                submit: *submit,
            },
            Action::SetOrientation(orientation) => {
                Self::SetOrientation { orientation: orientation.name().into() }
            }
            Action::Press(key) => Self::Press { key: key.name().into_owned() },
            Action::Launch(choice) => Self::Launch {
                app: match choice {
                    AppSelector::Id(app) => app.0.clone(),
                    AppSelector::Named(name) => name.clone(),
                    AppSelector::ListIndex(number) => format!("#{number}"),
                },
            },
        }
    }
}

impl From<&Target> for StoredTarget {
    fn from(target: &Target) -> Self {
        match target {
            Target::Listed(ElementId::Ref(id)) => {
                Self { id: Some(id.to_string()), ..Self::default() }
            }
            Target::Listed(ElementId::Number(number)) => {
                Self { control: Some(number.to_string()), ..Self::default() }
            }
            Target::Named { id, text } => {
                Self { id: id.clone(), text: text.clone(), ..Self::default() }
            }
            Target::Selector(criteria, index) => Self {
                wanted: Some(Box::new(criteria.into())),
                index: Some(*index),
                ..Self::default()
            },
        }
    }
}

impl From<&ElementSelector> for StoredSelector {
    fn from(criteria: &ElementSelector) -> Self {
        let ElementSelector { text, id, description, class, clickable, enabled, exact } =
            criteria.clone();
        Self { text, id, description, class, clickable, enabled, exact }
    }
}

impl From<&TapResult> for StoredOutcome {
    fn from(hit: &TapResult) -> Self {
        Self::Tapped { x: hit.at.x, y: hit.at.y, name: hit.name().to_owned() }
    }
}

impl From<&TypeResult> for StoredOutcome {
    fn from(typed: &TypeResult) -> Self {
        let by = match &typed.by {
            TypingMethod::Keys => "keys".into(),
            TypingMethod::Keyboard { app } => format!("keyboard {app}"),
            TypingMethod::Clipboard => "clipboard".into(),
        };
        let (field, shows) = match &typed.field {
            Readback::Same => ("same", None),
            Readback::Corrected => ("repaired", None),
            Readback::Differs { shows } => ("differs", Some(shows.clone())),
            Readback::Hidden => ("hidden", None),
            Readback::NoField => ("no field", None),
        };
        Self::Typed { by, field: field.into(), shows }
    }
}

impl From<&AppToolResult> for StoredOutcome {
    fn from(answered: &AppToolResult) -> Self {
        let (success, message, output) = match &answered.heard {
            AppToolReply::Answer { success, message, output, .. } => {
                (Some(*success), message.clone(), output.clone())
            }
            AppToolReply::Sent => (None, String::new(), Map::new()),
        };
        Self::Answered(Box::new(StoredAppToolResult { success, message, output }))
    }
}

impl From<&Failure> for ActionResult {
    fn from(failure: &Failure) -> Self {
        Self::Failure {
            why: failure.cause.to_string(),
            may_have_happened: failure.side_effect == SideEffect::Possible,
        }
    }
}

impl<'a> From<&'a Snapshot> for StoredSnapshot<'a> {
    fn from(snapshot: &'a Snapshot) -> Self {
        let mut nodes: Vec<StoredNode<'_>> = snapshot.tree.nodes.iter().map(stored).collect();
        for (at, node) in nodes.iter_mut().enumerate() {
            node.covered_by = snapshot.covered_by(at);
            if let Visibility::Hidden(why) = snapshot.showing[at] {
                node.hidden = Some(why.reason().into());
            }
        }
        for element in &snapshot.refs {
            nodes[element.node].control = Some(element.id.0);
        }
        Self { rotation: snapshot.tree.rotation, nodes }
    }
}

fn stored(node: &thumbwire_device::Node) -> StoredNode<'_> {
    let set = node.flags.named().into_iter().filter(|(_, set)| *set);
    let bounds = node.bounds;
    StoredNode {
        parent: node.parent,
        control: None,
        class: (*node.class).into(),
        package: (*node.package).into(),
        id: (*node.id).into(),
        text: (*node.text).into(),
        description: (*node.description).into(),
        bounds: [bounds.left, bounds.top, bounds.right, bounds.bottom],
        flags: set.map(|(name, _)| name.into()).collect(),
        hidden: None,
        covered_by: None,
    }
}
