//! What a mind decides, in seed 002's shape ("LLM Response Format"), and how it is read from what a model says.
//!
//! Begin with [`Decision`], then `read::decision`: models say much besides, and leave much away. `loose` reads JSON as models write it,
//! `arguments` holds a call against its function's schema. Whether an id exists, and what a call leads to, is not known here.

mod arguments;
mod loose;
mod read;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub(super) use read::{Judged, calls, decision, judged};

/// What a mind decides in one round.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Decision {
    /// What it sees.
    pub observation: String,
    /// Why it decides so.
    pub thought: String,
    /// What is to be done now, in order; none is to look again.
    pub actions: Vec<Doing>,
    /// How the task stands once that is done.
    pub status: Status,
    /// The sub-goals, in order; one that is reached begins with `done: `.
    pub plan: Vec<String>,
    /// For the person who watches.
    pub comment: String,
    /// What the person wanted to know, at the end.
    pub result: String,
    /// What is to be remembered for later rounds.
    pub remember: Vec<String>,
}

/// A call of a function.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Doing {
    /// Its name.
    pub function: String,
    /// Its arguments.
    #[serde(default)]
    pub arguments: Map<String, Value>,
}

/// How a task stands (seed 002: the states of the agent).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Status {
    /// There is more to do.
    #[default]
    Continue,
    /// It is done.
    Finish,
    /// It cannot be done.
    Fail,
}
