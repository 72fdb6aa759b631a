//! What a policy decides, in the shape of the UFO MobileAgent strategy ("LLM Response Format").

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use thumbwire_core::action::ControlNumber;

/// What a policy decides in one step.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Decision {
    /// What it sees.
    pub observation: String,
    /// Why it decides so.
    pub thought: String,
    /// The calls to make now, in order. An empty list reads the screen again.
    pub actions: Vec<FunctionCall>,
    /// The state of the task after these calls.
    pub status: AgentStatus,
    /// The sub-goals, in order; one that is reached starts with `done: `.
    pub plan: Vec<String>,
    /// A remark for the user who is watching.
    pub comment: String,
    /// The answer to the user's question, at the end.
    pub result: String,
    /// Facts to remember in later steps.
    pub remember: Vec<String>,
}

/// A call of a function.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct FunctionCall {
    /// The function's name.
    pub function: String,
    /// Its arguments.
    #[serde(default)]
    pub arguments: Map<String, Value>,
}

impl FunctionCall {
    /// The control that the call is for, by its number in a list; `None` if it is for no control.
    pub(crate) fn control(&self) -> Option<ControlNumber> {
        control_number(&self.arguments)
    }

    /// Makes the call for another control.
    pub(crate) fn set_control(&mut self, number: ControlNumber) {
        self.arguments.insert(CONTROL_ID.into(), number.to_string().into());
    }
}

/// The control in a call's arguments.
pub(crate) fn control_number(arguments: &Map<String, Value>) -> Option<ControlNumber> {
    let id = arguments.get(CONTROL_ID)?;
    match id.as_u64() {
        Some(number) => number.to_string().parse().ok(),
        None => id.as_str()?.parse().ok(),
    }
}

/// The argument with a control's number.
const CONTROL_ID: &str = "control_id";

/// The state of a task (the agent's states in the UFO MobileAgent strategy).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum AgentStatus {
    /// There is more to do.
    #[default]
    Continue,
    /// The goal is reached.
    Finish,
    /// The goal cannot be reached.
    Fail,
}
