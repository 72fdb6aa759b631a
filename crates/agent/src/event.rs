//! The events of a run, for the terminal, an MCP client and the log.
//!
//! They are payloads in the event stream of [`thumbwire_core::event`]; [`Event::payload`] returns them.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use super::context::Context;
use super::decision::{AgentStatus, Decision, FunctionCall};
use super::model::Usage;
use thumbwire_core::event::{Event, EventPayload, EventSink};

/// An event. The log's wording follows the UFO MobileAgent strategy ("MobileLoggingMiddleware").
#[derive(Debug, Clone)]
pub enum AgentEvent {
    /// A run starts, or is resumed after `behind` steps.
    RunStarted {
        /// The goal.
        request: String,
        /// Steps done before.
        behind: u32,
    },
    /// A step starts.
    StepStarted {
        /// Its number, counted from 1.
        round: u32,
        /// The maximum number of steps.
        max: u32,
    },
    /// The screenshot was taken.
    ScreenshotTaken {
        /// Its file.
        path: String,
        /// The elapsed time.
        took: Duration,
    },
    /// The apps were listed.
    AppsListed {
        /// How many there are.
        count: usize,
        /// The elapsed time.
        took: Duration,
    },
    /// The controls were listed.
    ControlsListed {
        /// Their ids.
        ids: Vec<String>,
        /// The file of the annotated screenshot.
        path: Option<String>,
        /// The elapsed time, including the annotation.
        took: Duration,
    },
    /// A policy starts to decide.
    ModelRequested {
        /// Its name.
        mind: String,
    },
    /// A part of the model's answer arrived.
    ModelText(String),
    /// The model is asked again.
    ModelRetried {
        /// The reason.
        reason: String,
    },
    /// The policy decided.
    Decided {
        /// The decision.
        decision: Box<Decision>,
        /// Its usage.
        spent: Usage,
        /// The elapsed time.
        took: Duration,
    },
    /// A call finished, or was not made.
    FunctionFinished {
        /// The call.
        call: FunctionCall,
        /// Whether it succeeded.
        success: bool,
        /// Its result, in a sentence.
        message: String,
        /// The elapsed time.
        took: Duration,
    },
    /// Something was noticed on the screen, or repaired.
    AnomalyFound(String),
    /// The user was asked.
    UserAsked {
        /// The question.
        question: String,
    },
    /// The values of a step, at its end.
    StepContext(StepContext),
    /// A step ended.
    StepFinished {
        /// The state of the task.
        status: AgentStatus,
        /// The run's usage so far.
        spent: Usage,
        /// What is left of the budgets, as text.
        left: String,
    },
    /// The run ended.
    RunFinished {
        /// The final status.
        status: AgentStatus,
        /// The answer, or why it ended.
        reason: String,
    },
}

/// A step's values under the names of the UFO MobileAgent strategy ("Context Finalization").
#[derive(Debug, Clone)]
pub struct StepContext(pub(super) Arc<Context>);

impl StepContext {
    /// All values as JSON. Screenshots are data URIs in it, so it is built on demand.
    pub fn to_json(&self) -> Value {
        serde_json::to_value(&*self.0).unwrap_or_default()
    }
}

impl AgentEvent {
    /// Sends the event to `sink`.
    pub(super) fn send(&self, sink: &dyn EventSink) {
        sink.on_event(&Event::Task(self));
    }
}

impl EventPayload for AgentEvent {
    fn source(&self) -> &'static str {
        "agent"
    }

    /// The objects of `thumbwire run --json`.
    fn to_json(&self) -> Value {
        match self {
            Self::RunStarted { request, behind } => {
                json!({ "event": "begun", "request": request, "behind": behind })
            }
            Self::StepStarted { round, max: most } => {
                json!({ "event": "round", "round": round, "most": most })
            }
            Self::ScreenshotTaken { path, took } => {
                json!({ "event": "captured", "path": path, "took_ms": millis(*took) })
            }
            Self::AppsListed { count, took } => {
                json!({ "event": "apps", "count": count, "took_ms": millis(*took) })
            }
            Self::ControlsListed { ids, path, took } => {
                json!({ "event": "controls", "ids": ids, "path": path, "took_ms": millis(*took) })
            }
            Self::ModelRequested { mind } => json!({ "event": "thinking", "mind": mind }),
            Self::ModelText(text) => json!({ "event": "heard", "text": text }),
            Self::ModelRetried { reason: why } => json!({ "event": "asked_again", "why": why }),
            Self::Decided { decision, spent, took } => json!({
                "event": "decided", "decision": decision, "spent": spent, "took_ms": millis(*took),
            }),
            Self::FunctionFinished { call: doing, success, message, took } => json!({
                "event": "did", "function": doing.function, "arguments": doing.arguments, "success": success,
                "message": message, "took_ms": millis(*took),
            }),
            Self::AnomalyFound(what) => json!({ "event": "noticed", "what": what }),
            Self::UserAsked { question } => json!({ "event": "asked", "question": question }),
            Self::StepFinished { status, spent, left } => {
                json!({ "event": "state", "status": status, "spent": spent, "left": left })
            }
            Self::StepContext(context) => {
                json!({ "event": "context", "context": context.to_json() })
            }
            Self::RunFinished { status, reason: why } => {
                json!({ "event": "ended", "status": status, "result": why })
            }
        }
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
