//! `mobile_run_task`: a goal as a tool, for clients that cannot see the screen themselves.
//!
//! Start with [`tool`]. The caller provides a [`RunTask`] that runs goals. This module turns it
//! into a tool: one goal at a time on a phone, progress after each step, and an end at the next
//! safe point when the client cancels or disconnects. The tool exists only if the operator
//! configured a model; no toolset knows it.

use std::collections::{BTreeSet, VecDeque};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use thumbwire_base::visible::visible;
use thumbwire_base::{lock, truncate};

use super::{AgentEvent, AgentStatus, RunResult, ScreenshotMode, StopReason};
use thumbwire_core::action::{Call, Cause, Failure, Perform, Progress, TypedPerform as _, request};
use thumbwire_core::event::{Event, EventSink};
use thumbwire_core::toolset::{Handler, Reply, Tool, ToolEffect, read_arguments};
use thumbwire_core::trace::format;

/// The tool's name.
pub const NAME: &str = "mobile_run_task";

/// Runs goals.
#[async_trait]
pub trait RunTask: Send + Sync {
    /// Runs a goal on the call's phone. After a cancellation it ends at the next safe point, with
    /// [`StopReason::Cancelled`].
    ///
    /// # Errors
    /// Why it could not start.
    async fn run(
        &self,
        goal: &str,
        overrides: TaskOverrides,
        call: &Call,
        watch: Arc<dyn EventSink>,
    ) -> Result<TaskResult, String>;
}

/// What a client sets differently from the operator.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct TaskOverrides {
    /// A lower limit of steps.
    pub rounds: Option<u32>,
    /// A shorter time limit.
    pub time: Option<Duration>,
    /// Which screenshots the policy gets.
    pub pictures: Option<ScreenshotMode>,
}

/// The result of a goal.
#[derive(Debug, Clone)]
pub struct TaskResult {
    /// How it ended.
    pub result: RunResult,
    /// The folder of its trace.
    pub trace: Option<String>,
}

/// How long a task may take by default.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(600);

/// The tool. `carry` runs its calls, each limited to `time`.
pub fn tool(carry: Arc<dyn RunTask>, time: Duration) -> Tool {
    let handler = Task { carry, under_way: Arc::default() };
    Tool::handled(&described(), ToolEffect::Destructive, time, Arc::new(handler))
        .with_device()
        .open_world()
        .long()
}

/// The tool as the tool reference shows it. It cannot run anything.
pub fn for_the_manual() -> Tool {
    let mut tool = tool(Arc::new(NoModel), DEFAULT_TIMEOUT);
    tool.description.push_str(". Available only if `thumbwire serve` was started with `--model`");
    tool
}

fn described() -> Value {
    serde_json::from_str(include_str!("task.json")).unwrap_or_default()
}

struct NoModel;

#[async_trait]
impl RunTask for NoModel {
    async fn run(
        &self,
        _goal: &str,
        _wanted: TaskOverrides,
        _call: &Call,
        _watch: Arc<dyn EventSink>,
    ) -> Result<TaskResult, String> {
        Err("no model is configured; start the server with `--model`".into())
    }
}

/// Handles calls of the tool.
struct Task {
    carry: Arc<dyn RunTask>,
    /// The phones on which a goal is in progress.
    under_way: Arc<Mutex<BTreeSet<String>>>,
}

#[derive(Deserialize)]
struct Arguments {
    goal: String,
    max_steps: Option<u32>,
    time_limit_s: Option<f64>,
    screenshots: Option<String>,
}

#[async_trait]
impl Handler for Task {
    async fn handle(
        &self,
        arguments: Map<String, Value>,
        call: &Call,
        perform: &dyn Perform,
    ) -> Result<Reply, Failure> {
        let arguments: Arguments = read_arguments(arguments)?;
        if arguments.goal.trim().is_empty() {
            let reason = "`goal` is empty; say what the agent should do".to_owned();
            return Err(Cause::InvalidArgument { reason }.into());
        }
        let wanted = TaskOverrides {
            rounds: arguments.max_steps,
            time: arguments.time_limit_s.and_then(|time| Duration::try_from_secs_f64(time).ok()),
            pictures: arguments.screenshots.as_deref().and_then(screenshot_mode),
        };
        // Nobody else should act on the phone while the model thinks about its first step.
        let exclusive = Call { exclusive: true, ..call.clone() };
        let asking = request::DeviceInfo { max_age: Duration::from_secs(60) };
        let phone = perform.request(&exclusive, asking).await?.identity.id;
        let claim = TaskLease::on(&self.under_way, &phone)?;
        let out = Arc::new(TaskProgress::new(Arc::clone(&call.progress)));
        let mut inner = exclusive.on(Some(phone));
        inner.cancelled = call.cancelled.child_token();
        // A client that disconnects drops this future. The run itself goes on to the next safe
        // point.
        let left = inner.cancelled.clone().drop_guard();
        let (carry, watch) = (Arc::clone(&self.carry), Arc::clone(&out));
        let work = tokio::spawn(async move {
            let carried = carry.run(&arguments.goal, wanted, &inner, watch).await;
            drop(claim);
            carried
        });
        let carried = work.await;
        drop(left.disarm());
        let carried =
            carried.unwrap_or_else(|error| Err(format!("internal error in Thumbwire: {error}")));
        let carried = carried.map_err(|reason| Cause::Refused { reason })?;
        Ok(reply(&carried, out.actions()))
    }
}

/// The option of this name, as in flags and arguments.
fn screenshot_mode(name: &str) -> Option<ScreenshotMode> {
    match name {
        "both" => Some(ScreenshotMode::Both),
        "annotated" => Some(ScreenshotMode::Annotated),
        "none" => Some(ScreenshotMode::None),
        "auto" => Some(ScreenshotMode::Auto),
        _ => None,
    }
}

/// Reserves a phone for a goal until dropped.
struct TaskLease {
    all: Arc<Mutex<BTreeSet<String>>>,
    phone: String,
}

impl TaskLease {
    /// The goal of the other is not said: it may be another client's.
    fn on(all: &Arc<Mutex<BTreeSet<String>>>, phone: &str) -> Result<Self, Failure> {
        if !lock(all).insert(phone.to_owned()) {
            let reason = format!(
                "a task is already running on {phone}; wait until it ends, cancel it, or pass another device"
            );
            return Err(Cause::Refused { reason }.into());
        }
        Ok(Self { all: Arc::clone(all), phone: phone.to_owned() })
    }
}

impl Drop for TaskLease {
    fn drop(&mut self) {
        lock(&self.all).remove(&self.phone);
    }
}

/// The maximum number of actions in a reply.
const MAX_ACTIONS: usize = 200;

/// The longest message of an action, in characters.
const MAX_MESSAGE: usize = 300;

/// Reports progress after each step, and collects the actions.
struct TaskProgress {
    progress: Arc<dyn Progress>,
    so_far: Mutex<ProgressState>,
}

#[derive(Default)]
struct ProgressState {
    step: u32,
    max: u32,
    /// The last step that was reported: MCP requires progress to increase.
    reported: u32,
    thought: String,
    actions: VecDeque<Value>,
    /// The result of the step's last action.
    message: String,
}

impl TaskProgress {
    fn new(progress: Arc<dyn Progress>) -> Self {
        Self { progress, so_far: Mutex::default() }
    }

    fn actions(&self) -> Vec<Value> {
        let so_far = lock(&self.so_far);
        so_far.actions.iter().cloned().collect()
    }
}

impl EventSink for TaskProgress {
    fn on_event(&self, event: &Event<'_>) {
        let Some(event) = event.payload() else { return };
        let mut so_far = lock(&self.so_far);
        match event {
            AgentEvent::StepStarted { step, max_steps } => {
                (so_far.step, so_far.max) = (*step, *max_steps);
                so_far.thought.clear();
                so_far.message.clear();
            }
            AgentEvent::Decided { decision, .. } => {
                so_far.thought = truncate(&decision.thought, MAX_MESSAGE);
            }
            AgentEvent::FunctionFinished { call, success, message, .. } => {
                let message = truncate(message, MAX_MESSAGE);
                if so_far.actions.len() == MAX_ACTIONS {
                    so_far.actions.pop_front();
                }
                so_far.actions.push_back(json!({
                    "function": call.function, "arguments": call.arguments, "success": success, "message": message,
                }));
                so_far.message = format!("{}: {message}", call.function);
            }
            AgentEvent::StepFinished { .. } if so_far.step > so_far.reported => {
                so_far.reported = so_far.step;
                let parts = [so_far.thought.as_str(), so_far.message.as_str()];
                let text: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
                let text = format!("Step {}: {}", so_far.step, text.join(" → "));
                self.progress.report(so_far.step, Some(so_far.max), &visible(&text));
            }
            _ => {}
        }
    }
}

/// The reply: a few lines of text, and everything as structured content.
fn reply(carried: &TaskResult, actions: Vec<Value>) -> Reply {
    let TaskResult { result: ended, trace } = carried;
    let status = serde_json::to_value(ended.status).unwrap_or_default();
    let stopped = ended.stopped.map(|stopped| match stopped {
        StopReason::Budget => "budget",
        StopReason::Cancelled => "cancelled",
        StopReason::Failed => "failed",
        StopReason::Loop => "loop",
    });
    let word = match ended.status {
        AgentStatus::Finish => "FINISH",
        AgentStatus::Fail => "FAIL",
        AgentStatus::Continue => "CONTINUE",
    };
    let seconds = (ended.took.as_secs_f64() * 10.0).round() / 10.0;
    let rounds = ended.rounds;
    let plural = if rounds == 1 { "" } else { "s" };
    let mut words = format!("{word} after {rounds} step{plural}, {seconds} s: {}", ended.reason);
    if let Some(last) = actions.last().filter(|_| ended.status != AgentStatus::Finish) {
        words.push_str(&format!(
            "\nLast action: {}: {}",
            last["function"].as_str().unwrap_or_default(),
            last["message"].as_str().unwrap_or_default(),
        ));
    }
    if let Some(trace) = trace {
        words.push_str(&format!("\nTrace: {trace}"));
    }
    let structured = json!({
        "status": status, "result": ended.reason, "stopped": stopped, "rounds": rounds, "seconds": seconds, "actions": actions,
        "spent": {
            "calls": ended.spent.calls, "input_tokens": ended.spent.input_tokens, "output_tokens": ended.spent.output_tokens,
            "dollars": ended.spent.dollars,
        },
        "trace": trace,
    });
    let cause = (ended.stopped == Some(StopReason::Cancelled)).then_some(Cause::Cancelled);
    // Without its pictures: each would be one more link in the reply.
    let files = trace.iter().map(|folder| Path::new(folder).join(format::FILE)).collect();
    Reply { structured: Some(structured), cause, files, ..Reply::text(words) }
}

#[cfg(test)]
mod tests;
