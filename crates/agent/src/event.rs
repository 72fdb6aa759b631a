//! The events of a run, for the terminal, an MCP client and the log.
//!
//! They are payloads in the event stream of [`thumbwire_core::event`]; [`Event::payload`] returns
//! them.

pub(crate) mod log_sink;

use std::time::Duration;

use serde_json::{Value, json};

use crate::model::Usage;
use crate::policy::decision::{AgentStatus, Decision, FunctionCall};
use thumbwire_core::event::{Event, EventPayload, EventSink};

/// An event. The log's wording follows the UFO MobileAgent strategy ("MobileLoggingMiddleware").
#[derive(Debug, Clone)]
pub enum AgentEvent {
    /// A run starts, or is resumed after `resumed_steps` steps.
    RunStarted {
        /// The goal.
        request: String,
        /// Steps done before.
        resumed_steps: u32,
    },
    /// A step starts.
    StepStarted {
        /// Its number, counted from 1.
        step: u32,
        /// The maximum number of steps.
        max_steps: u32,
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
        policy: String,
    },
    /// A part of the model's answer arrived.
    ModelText(String),
    /// The model is asked again.
    ModelRetried {
        /// The reason.
        reason: String,
    },
    /// A planner made a plan.
    Planned {
        /// The sub-goals, in order.
        plan: Vec<String>,
        /// Why a plan was needed.
        reason: String,
        /// Its usage, which the decision's usage includes.
        usage: Usage,
        /// The elapsed time.
        took: Duration,
    },
    /// A claim that the goal is reached was judged.
    Judged {
        /// Whether it is reached.
        reached: bool,
        /// The reason, in a sentence.
        reason: String,
        /// Its usage.
        usage: Usage,
    },
    /// The policy decided.
    Decided {
        /// The decision.
        decision: Box<Decision>,
        /// Its usage.
        usage: Usage,
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
    /// A step ended.
    StepFinished {
        /// The state of the task.
        status: AgentStatus,
        /// The run's usage so far.
        usage: Usage,
        /// What is left of the budgets, as text.
        remaining: String,
    },
    /// The run ended.
    RunFinished {
        /// The final status.
        status: AgentStatus,
        /// The answer, or why it ended.
        reason: String,
    },
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
            Self::RunStarted { request, resumed_steps } => {
                json!({ "event": "run_started", "request": request, "resumed_steps": resumed_steps })
            }
            Self::StepStarted { step, max_steps } => {
                json!({ "event": "step_started", "step": step, "max_steps": max_steps })
            }
            Self::ScreenshotTaken { path, took } => {
                json!({ "event": "screenshot_taken", "path": path, "duration_ms": millis(*took) })
            }
            Self::AppsListed { count, took } => {
                json!({ "event": "apps_listed", "count": count, "duration_ms": millis(*took) })
            }
            Self::ControlsListed { ids, path, took } => {
                json!({ "event": "controls_listed", "ids": ids, "path": path, "duration_ms": millis(*took) })
            }
            Self::ModelRequested { policy } => {
                json!({ "event": "model_requested", "policy": policy })
            }
            Self::ModelText(text) => json!({ "event": "model_text", "text": text }),
            Self::ModelRetried { reason } => json!({ "event": "model_retried", "reason": reason }),
            Self::Planned { plan, reason, usage, took } => json!({
                "event": "planned", "plan": plan, "reason": reason, "usage": usage, "duration_ms": millis(*took),
            }),
            Self::Judged { reached, reason, usage } => {
                json!({ "event": "judged", "reached": reached, "reason": reason, "usage": usage })
            }
            Self::Decided { decision, usage, took } => json!({
                "event": "decided", "decision": decision, "usage": usage, "duration_ms": millis(*took),
            }),
            Self::FunctionFinished { call, success, message, took } => json!({
                "event": "call_finished", "function": call.function, "arguments": call.arguments, "success": success,
                "message": message, "duration_ms": millis(*took),
            }),
            Self::AnomalyFound(message) => json!({ "event": "anomaly_found", "message": message }),
            Self::UserAsked { question } => json!({ "event": "user_asked", "question": question }),
            Self::StepFinished { status, usage, remaining } => {
                json!({ "event": "step_finished", "status": status, "usage": usage, "remaining": remaining })
            }
            Self::RunFinished { status, reason } => {
                json!({ "event": "run_finished", "status": status, "result": reason })
            }
        }
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
