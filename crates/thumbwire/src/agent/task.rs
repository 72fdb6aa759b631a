//! `mobile_run_task`: a goal as a tool, for clients that have no eyes of their own.
//!
//! Begin with [`tool`]. How a goal is carried out is handed in ([`Carry`]); here it becomes a call: one goal at a time on a phone, a
//! step of progress each round, and an end at the next safe point when the caller takes the call back or leaves. The tool is there
//! where an operator named a model, and no surface knows it.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{Ended, Event, Pictures, Status, Stopped, Watch};
use crate::action::{Action, Call, Cause, Failure, Outcome, Perform, Progress};
use crate::surface::{Handler, Manner, Reply, Tool};

/// The tool's name.
pub const NAME: &str = "mobile_run_task";

/// Carries out goals.
#[async_trait]
pub trait Carry: Send + Sync {
    /// Carries out a goal on the call's phone. When the call is taken back it ends at the next safe point, with
    /// [`Stopped::Cancelled`].
    ///
    /// # Errors
    /// Why it could not even begin, in words.
    async fn carry_out(
        &self,
        goal: &str,
        wanted: Wanted,
        call: &Call,
        watch: Arc<dyn Watch>,
    ) -> Result<Carried, String>;
}

/// What a caller wants otherwise than the operator has it.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Wanted {
    /// Rounds at most, where that is fewer.
    pub rounds: Option<u32>,
    /// Time at most, where that is less.
    pub time: Option<Duration>,
    /// Which pictures the mind sees.
    pub pictures: Option<Pictures>,
}

/// A goal that was carried out.
#[derive(Debug, Clone)]
pub struct Carried {
    /// How it ended.
    pub ended: Ended,
    /// The folder of its story.
    pub trace: Option<String>,
}

/// The tool, whose calls `carry` carries out and which are given `time` each.
pub fn tool(carry: Arc<dyn Carry>, time: Duration) -> Tool {
    let handler = Task { carry, under_way: Arc::default() };
    Tool::handled(&described(), Manner::Acts, time, Arc::new(handler)).with_device()
}

/// The tool as the manual tells it; nothing can be carried out by it.
pub fn for_the_manual(time: Duration) -> Tool {
    let mut tool = tool(Arc::new(NoModel), time);
    tool.description.push_str(". Only where `thumbwire serve` was given a `--model`");
    tool
}

fn described() -> Value {
    serde_json::from_str(include_str!("task.json")).unwrap_or_default()
}

struct NoModel;

#[async_trait]
impl Carry for NoModel {
    async fn carry_out(
        &self,
        _goal: &str,
        _wanted: Wanted,
        _call: &Call,
        _watch: Arc<dyn Watch>,
    ) -> Result<Carried, String> {
        Err("no model was named; start the server with `--model`".into())
    }
}

/// The handler of the tool's calls.
struct Task {
    carry: Arc<dyn Carry>,
    /// The goals that are being carried out, by their phones.
    under_way: Arc<Mutex<BTreeMap<String, String>>>,
}

#[derive(Deserialize)]
struct Arguments {
    goal: String,
    max_steps: Option<u32>,
    time_limit_s: Option<f64>,
    look: Option<String>,
}

#[async_trait]
impl Handler for Task {
    async fn handle(
        &self,
        arguments: Map<String, Value>,
        call: &Call,
        perform: &dyn Perform,
    ) -> Result<Reply, Failure> {
        let arguments: Arguments = serde_json::from_value(arguments.into())
            .map_err(|error| Cause::InvalidArgument { why: error.to_string() })?;
        if arguments.goal.trim().is_empty() {
            let why = "`goal` is empty; say what is to be reached".to_owned();
            return Err(Cause::InvalidArgument { why }.into());
        }
        let wanted = Wanted {
            rounds: arguments.max_steps,
            time: arguments.time_limit_s.and_then(|time| Duration::try_from_secs_f64(time).ok()),
            pictures: arguments.look.as_deref().and_then(pictures),
        };
        let phone = phone(call, perform).await?;
        let claim = Claim::on(&self.under_way, &phone, &arguments.goal)?;
        let told = Arc::new(Told::new(Arc::clone(&call.progress)));
        let mut inner = call.clone().on(Some(phone));
        inner.cancelled = call.cancelled.child_token();
        // A caller that leaves drops this future; the run itself ends where nothing is left half done.
        let left = inner.cancelled.clone().drop_guard();
        let (carry, watch) = (Arc::clone(&self.carry), Arc::clone(&told));
        let work = tokio::spawn(async move {
            let carried = carry.carry_out(&arguments.goal, wanted, &inner, watch).await;
            drop(claim);
            carried
        });
        let carried = work.await;
        drop(left.disarm());
        let carried = carried.unwrap_or_else(|error| Err(format!("a fault in Thumbwire: {error}")));
        let carried = carried.map_err(|why| Cause::Refused { why })?;
        Ok(reply(&carried, told.actions()))
    }
}

/// The name of a choice of pictures, as flags and arguments have it.
pub fn pictures(name: &str) -> Option<Pictures> {
    match name {
        "both" => Some(Pictures::Both),
        "marked" => Some(Pictures::Marked),
        "text" => Some(Pictures::Text),
        "doubt" => Some(Pictures::Doubt),
        _ => None,
    }
}

/// The id of the phone that the call is for.
async fn phone(call: &Call, perform: &dyn Perform) -> Result<String, Failure> {
    let ask = Action::DeviceInfo { no_older_than: Duration::from_secs(60) };
    match perform.perform(call, ask).await? {
        Outcome::Info { identity, .. } => Ok(identity.id),
        odd => {
            Err(Cause::PhoneFailed { said: format!("an outcome nobody asked for: {odd:?}") }.into())
        }
    }
}

/// A phone on which a goal is carried out, until this is dropped.
struct Claim {
    all: Arc<Mutex<BTreeMap<String, String>>>,
    phone: String,
}

impl Claim {
    fn on(
        all: &Arc<Mutex<BTreeMap<String, String>>>,
        phone: &str,
        goal: &str,
    ) -> Result<Self, Failure> {
        let mut held = all.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(other) = held.get(phone) {
            let other = shortened(other, 100);
            let why = format!(
                "a task is under way on {phone} already ({other:?}); wait for its end, cancel it, or name another device"
            );
            return Err(Cause::Refused { why }.into());
        }
        held.insert(phone.to_owned(), goal.to_owned());
        Ok(Self { all: Arc::clone(all), phone: phone.to_owned() })
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.phone);
    }
}

/// So many actions are told of a run.
const MOST_ACTIONS: usize = 200;

/// So much is told of what came of one, in characters.
const LONGEST_MESSAGE: usize = 300;

/// Tells the caller each round, and keeps what was done.
struct Told {
    progress: Arc<dyn Progress>,
    so_far: Mutex<SoFar>,
}

#[derive(Default)]
struct SoFar {
    round: u32,
    most: u32,
    /// The last round that was told: MCP wants progress to increase each time.
    told: u32,
    thought: String,
    actions: VecDeque<Value>,
    /// What came of the last action of this round.
    message: String,
}

impl Told {
    fn new(progress: Arc<dyn Progress>) -> Self {
        Self { progress, so_far: Mutex::default() }
    }

    fn actions(&self) -> Vec<Value> {
        let so_far = self.so_far.lock().unwrap_or_else(PoisonError::into_inner);
        so_far.actions.iter().cloned().collect()
    }
}

impl Watch for Told {
    fn tell(&self, event: &Event<'_>) {
        let mut so_far = self.so_far.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            Event::Round { round, most } => {
                (so_far.round, so_far.most) = (*round, *most);
                so_far.thought.clear();
                so_far.message.clear();
            }
            Event::Decided { decision, .. } => {
                so_far.thought = shortened(&decision.thought, LONGEST_MESSAGE);
            }
            Event::Did { doing, success, message, .. } => {
                let message = shortened(message, LONGEST_MESSAGE);
                if so_far.actions.len() == MOST_ACTIONS {
                    so_far.actions.pop_front();
                }
                so_far.actions.push_back(json!({
                    "function": doing.function, "arguments": doing.arguments, "success": success, "message": message,
                }));
                so_far.message = format!("{}: {message}", doing.function);
            }
            Event::State { .. } if so_far.round > so_far.told => {
                so_far.told = so_far.round;
                let parts = [so_far.thought.as_str(), so_far.message.as_str()];
                let words: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
                let words = format!("Round {}: {}", so_far.round, words.join(" → "));
                self.progress.tell(so_far.round, Some(so_far.most), &words);
            }
            _ => {}
        }
    }
}

/// The reply: for a reader a few lines, for programs all of it.
fn reply(carried: &Carried, actions: Vec<Value>) -> Reply {
    let Carried { ended, trace } = carried;
    let status = serde_json::to_value(ended.status).unwrap_or_default();
    let stopped = ended.stopped.map(|stopped| match stopped {
        Stopped::Budget => "budget",
        Stopped::Cancelled => "cancelled",
        Stopped::Failed => "failed",
        Stopped::Loop => "loop",
    });
    let word = match ended.status {
        Status::Finish => "FINISH",
        Status::Fail => "FAIL",
        Status::Continue => "CONTINUE",
    };
    let seconds = (ended.took.as_secs_f64() * 10.0).round() / 10.0;
    let rounds = ended.rounds;
    let plural = if rounds == 1 { "" } else { "s" };
    let mut words = format!("{word} after {rounds} round{plural}, {seconds} s: {}", ended.why);
    if let Some(last) = actions.last().filter(|_| ended.status != Status::Finish) {
        words.push_str(&format!(
            "\nThe last thing done was {}: {}",
            last["function"].as_str().unwrap_or_default(),
            last["message"].as_str().unwrap_or_default(),
        ));
    }
    if let Some(trace) = trace {
        words.push_str(&format!("\nIts story: {trace}"));
    }
    let structured = json!({
        "status": status, "result": ended.why, "stopped": stopped, "rounds": rounds, "seconds": seconds, "actions": actions,
        "spent": {
            "calls": ended.spent.calls, "input_tokens": ended.spent.input_tokens, "output_tokens": ended.spent.output_tokens,
            "dollars": ended.spent.dollars,
        },
        "trace": trace,
    });
    Reply { structured: Some(structured), ..Reply::text(words) }
}

fn shortened(text: &str, longest: usize) -> String {
    match text.char_indices().nth(longest) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests;
