//! What a policy is shown before it decides: the phone's screen as text and screenshots, and the
//! run so far.
//!
//! The prompt is written from an [`Observation`] alone, so a policy without a model sees what a
//! model would. Rows have the keys of the UFO MobileAgent strategy ("Output Format"); keys that we
//! add come last and are omitted when empty.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use thumbwire_core::snapshot::NumberedLine;
use thumbwire_device::{Image, Size};

use super::decision::FunctionCall;

/// What a policy is shown before it decides.
#[derive(Debug, Clone, Default)]
pub struct Observation {
    /// The goal, in the user's words.
    pub request: String,
    /// The step, counted from 1.
    pub round: u32,
    /// The plan of the last decision.
    pub previous_plan: Vec<String>,
    /// Successful calls, newest last.
    pub last_success_actions: Vec<CompletedCall>,
    /// All actions so far, newest last.
    pub history: Vec<PastAction>,
    /// The apps that the user installed, as UFO's servers list them; empty
    /// unless the policy reads them.
    pub installed_apps: Arc<[AppRow]>,
    /// The apps that can be launched, with their names.
    pub apps: Arc<[LaunchableApp]>,
    /// The screen's controls, selected by the rules of the UFO MobileAgent servers.
    pub current_controls: Vec<ControlRow>,
    /// The screen as an indented list with the controls' ids, for the prompt; empty if it could not
    /// be read.
    pub screen: Vec<NumberedLine>,
    /// The size of the screen, in screenshot pixels, if known.
    pub size: Option<Size>,
    /// The app in front, if known.
    pub app: Option<String>,
    /// What the screen shows of the last action's effect, and what went wrong, as sentences.
    pub feedback: Vec<String>,
    /// What went wrong with the last action and remains.
    pub anomalies: Vec<AnomalyKind>,
    /// What went wrong and was repaired.
    pub repaired: Vec<AnomalyKind>,
    /// Facts to remember, from this run and from elsewhere, as sentences.
    pub blackboard: Vec<String>,
    /// The names of the secrets that can be typed.
    pub secrets: Vec<String>,
    /// The functions that can be called.
    pub functions: Arc<[Function]>,
    /// The screenshot; `None` if it could not be taken or is not wanted.
    pub clean: Option<Image>,
    /// The screenshot with the controls annotated with their ids.
    pub marked: Option<Image>,
    /// Why the text alone may not be enough; `None` if it is.
    pub doubt: Option<String>,
    /// Why the way so far leads nowhere: a loop, actions without effect, a rejected claim. `None`
    /// if it may.
    pub stuck: Option<String>,
    /// What is left of the budgets, as text.
    pub left: String,
}

/// An installed app.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppRow {
    /// Its number in the list, counted from 1.
    pub id: String,
    /// Its name, which is the package in UFO's servers.
    pub name: String,
    /// Its package.
    pub package: String,
}

/// An app that the launcher shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaunchableApp {
    /// Its name in the launcher; `None` if it could not be read.
    pub label: Option<String>,
    /// Its package.
    pub package: String,
}

/// A control on the screen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ControlRow {
    /// Its number in the list, counted from 1.
    pub id: String,
    /// Its text or label.
    pub name: String,
    /// The last part of its class.
    #[serde(rename = "type")]
    pub kind: String,
    /// Left, top, right, bottom, in screenshot pixels.
    pub rect: [i32; 4],
    /// What the name does not say: `checked`, `disabled`, `focused`, `hidden` and so on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub state: Vec<String>,
}

/// A successful call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CompletedCall {
    /// The call.
    #[serde(flatten)]
    pub call: FunctionCall,
    /// Its result, in a sentence.
    pub message: String,
}

/// A past action, as the history tells it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PastAction {
    /// The step in which it was done.
    pub step: u32,
    /// The call.
    pub call: FunctionCall,
    /// Whether it succeeded.
    pub success: bool,
    /// Its result, in a sentence.
    pub message: String,
    /// What it changed on the screen; empty if unknown.
    pub effect: String,
    /// Why it was done: the thought of its step.
    pub reason: String,
}

/// A function that a policy can call, as it is described to a model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// The JSON schema of its arguments.
    pub schema: Map<String, Value>,
    /// Whether it may change something: the screen is read again after it, and `--confirm always`
    /// asks before it.
    #[serde(skip)]
    pub acts: bool,
}

/// A kind of anomaly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnomalyKind {
    /// The screen has not changed.
    NoEffect,
    /// The screen has not changed after a swipe: the list is at its end.
    EndOfList,
    /// A field does not show the typed text.
    TextMismatch,
    /// A checkbox or switch has not changed.
    ToggleUnchanged,
    /// Another app is in front than the one that was started.
    WrongApp,
    /// The app is no longer in front.
    LeftApp,
    /// An app has crashed.
    Crashed,
    /// An app is not responding.
    NotResponding,
    /// A system window covers the app.
    SystemWindow,
    /// The keyboard covered the target.
    KeyboardCovers,
    /// The target had moved before the tap landed.
    TargetMoved,
    /// The page of the control beside the target opened.
    NeighbourOpened,
}
