//! What a mind is shown before it decides: the phone's screen in words and pictures, and what was done so far.
//!
//! A [`Sight`] is all of it: a prompt is written from it alone, and so a policy without a model sees what a model would.
//! Rows have seed 002's keys ("Output Format"); what we add to them stands behind, and only where it says something.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use thumbwire_device::Image;

use super::reply::Doing;

/// What a mind is shown before it decides.
#[derive(Debug, Clone, Default)]
pub struct Sight {
    /// The goal, in the person's words.
    pub request: String,
    /// The round, counted from 1.
    pub round: u32,
    /// What was to be done next, as the last decision had it.
    pub previous_plan: Vec<String>,
    /// What was done, the newest last.
    pub last_success_actions: Vec<Done>,
    /// The apps that can be started.
    pub installed_apps: Vec<AppRow>,
    /// The screen's controls, by seed 000's rules.
    pub current_controls: Vec<ControlRow>,
    /// The app in front; `None` where that is not known.
    pub app: Option<String>,
    /// What came of the last action as the screen tells it, and what went wrong: sentences.
    pub observations: Vec<String>,
    /// What was worth remembering, from this run's rounds and from elsewhere: sentences.
    pub blackboard: Vec<String>,
    /// The names of the secrets that can be typed.
    pub secrets: Vec<String>,
    /// What can be done.
    pub functions: Arc<[Function]>,
    /// The screen; `None` where it could not be taken, or is not wanted.
    pub clean: Option<Image>,
    /// The screen with the controls marked by their ids.
    pub marked: Option<Image>,
    /// Why the words alone may not do, where they may not.
    pub doubt: Option<String>,
    /// What is left of the budgets, in words.
    pub left: String,
}

/// An installed app.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AppRow {
    /// Its number in the list, counted from 1.
    pub id: String,
    /// Its name: the package (facts of UFO).
    pub name: String,
    /// Its package.
    pub package: String,
}

/// A control of the screen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ControlRow {
    /// Its number in the list, counted from 1.
    pub id: String,
    /// What it says.
    pub name: String,
    /// The last part of its class.
    #[serde(rename = "type")]
    pub kind: String,
    /// Left, top, right, bottom, in pixels of the screenshot.
    pub rect: [i32; 4],
    /// What else it is, where a list of names would mislead: `checked`, `disabled`, `focused`, `hidden` and the like.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub state: Vec<String>,
}

/// Something that was done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Done {
    /// What was asked for.
    #[serde(flatten)]
    pub doing: Doing,
    /// What came of it, in a sentence.
    pub message: String,
}

/// Something that can be done: what a model is told of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Function {
    /// The name it is called by.
    pub name: String,
    /// What it does.
    pub description: String,
    /// The JSON schema of its arguments.
    pub schema: Map<String, Value>,
}
