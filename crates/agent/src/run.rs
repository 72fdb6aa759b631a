//! A run: one step after another, until the goal is reached, turns out to be impossible, or the run is stopped.
//!
//! ```text
//!            ┌────────────── CONTINUE ──────────────┐
//!            ▼                                      │
//!   collect → decide → act → remember → status? ────┤
//!      │         │                                  ├─ FINISH   the policy says so, and a fresh snapshot confirms it
//!      └─ fails ─┴──────────────────────────────────┴─ FAIL     the policy says so, or a fail-fast phase failed
//! ```
//!
//! Start with [`Agent::run`]. What happens in a step is in [`super::phases`].

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::app_functions::AppFunctions;
use super::confirm::{AskUserFunctions, ConfirmMode};
use super::context::Context;
use super::decision::AgentStatus;
use super::event::{AgentEvent, StepContext};
use super::function_provider::FunctionProvider;
use super::functions::FunctionExecutor;
use super::futile_steps::FutileSteps;
use super::log_sink::{LogSink, name};
use super::loop_detector::LoopDetector;
use super::memory::Memory;
use super::model::Usage;
use super::options::{AgentOptions, Limit, RunResult, StopReason};
use super::phases::{self, Pipeline, StrategyError};
use super::policy::Policy;
use super::secrets::Vault;
use super::step::{CapturedScreen, CarryOver, StepInProgress};
use super::trace_writer::TraceWriter;
use thumbwire_core::action::{Call, Perform};
use thumbwire_core::event::{EventSink, EventSinks};
use thumbwire_core::trace::Recorder;
use thumbwire_core::trace::format::{GoalStart, TraceRecord};

/// Works towards goals on a phone.
pub struct Agent {
    policy: Arc<dyn Policy>,
    perform: Arc<dyn Perform>,
    options: AgentOptions,
    writer: TraceWriter,
    watch: EventSinks,
    suppliers: Vec<Arc<dyn FunctionProvider>>,
    vault: Option<Arc<Vault>>,
    confirm: ConfirmMode,
    apps: Option<Arc<dyn Perform>>,
}

/// After how many consecutive rejected claims that the goal is reached the run fails.
const MOST_REFUTED: u32 = 3;
/// After how many consecutive claims that could not be checked, for lack of a snapshot or a judgement, the run fails.
const MOST_UNCHECKED: u32 = 3;

impl Agent {
    /// An agent whose decisions come from `mind` and are executed by `perform`. It logs to `tracing` ([`LogSink`]).
    pub fn new(policy: Arc<dyn Policy>, perform: Arc<dyn Perform>, options: AgentOptions) -> Self {
        let watch = EventSinks::default().with(LogSink::default());
        let (writer, vault, confirm) = (TraceWriter::default(), None, ConfirmMode::default());
        let suppliers = Vec::new();
        Self { policy, perform, options, writer, watch, suppliers, vault, confirm, apps: None }
    }

    /// Writes a trace to this recorder, which must be a sink of the
    /// [`ObservedPerform`](thumbwire_core::event::ObservedPerform) that the agent performs by.
    pub fn with_trace(mut self, recorder: Arc<Recorder>) -> Self {
        self.writer = TraceWriter(Some(recorder));
        self
    }

    /// Adds an event sink.
    pub fn with_event_sink(self, watch: Arc<dyn EventSink>) -> Self {
        self.watch.add(watch);
        self
    }

    /// Adds functions.
    pub fn with_functions(mut self, supplier: Arc<dyn FunctionProvider>) -> Self {
        self.suppliers.push(supplier);
        self
    }

    /// Adds the functions that the phone's apps offer and that may be called. `perform` lists them once, when a run
    /// starts; calls go through the agent's own.
    pub fn with_app_functions(mut self, perform: Arc<dyn Perform>) -> Self {
        self.apps = Some(perform);
        self
    }

    /// Lets the agent ask the user, and tells the policy which secrets of this vault it can type. It must be the vault
    /// of the [`RedactedPerform`](super::RedactedPerform) that the agent performs by. Answers that are secrets are stored in it.
    pub fn with_secrets(self, vault: Arc<Vault>) -> Self {
        let able = self.with_functions(Arc::new(AskUserFunctions::new(Arc::clone(&vault))));
        Self { vault: Some(vault), ..able }
    }

    /// Asks the user before actions that `confirm` selects.
    pub fn with_confirm_mode(mut self, confirm: ConfirmMode) -> Self {
        self.confirm = confirm;
        self
    }

    /// The names of the secrets that can be typed now.
    fn secrets(&self) -> Vec<String> {
        self.vault.as_ref().map_or_else(Vec::new, |vault| vault.names())
    }

    /// Works towards a goal; continues an interrupted run if `memory` is from one ([`Memory::of`]). Ends at the call's
    /// deadline or when a budget is used up; after a cancellation, when the current action is done.
    pub async fn run(&self, call: &Call, request: &str, memory: Memory) -> RunResult {
        let began = Instant::now();
        let mut call = call.clone();
        if let Some(left) = memory.used(Duration::ZERO).time_left(&self.options.budgets) {
            call.deadline = call.deadline.min(began + left);
        }
        let (left, loops) = (CarryOver::default(), LoopDetector::default());
        let mut suppliers = self.suppliers.clone();
        if let Some(apps) = &self.apps {
            let offered = AppFunctions::on(&**apps, &call, request).await;
            if !offered.is_empty() {
                suppliers.push(Arc::new(offered));
            }
        }
        let mut run = Run {
            agent: self,
            call,
            request,
            memory,
            suppliers,
            left,
            loops,
            unchecked: 0,
            futile: FutileSteps::default(),
            began,
        };
        run.begin();
        let end = run.run().await;
        run.end(end)
    }
}

/// A run in progress.
struct Run<'a> {
    agent: &'a Agent,
    call: Call,
    request: &'a str,
    memory: Memory,
    /// The functions besides the built-in ones.
    suppliers: Vec<Arc<dyn FunctionProvider>>,
    /// What the previous step left.
    left: CarryOver,
    loops: LoopDetector,
    /// How many consecutive claims could not be checked.
    unchecked: u32,
    futile: FutileSteps,
    began: Instant,
}

/// How a run ends.
struct RunEnd {
    status: AgentStatus,
    reason: String,
    stopped: Option<StopReason>,
}

impl RunEnd {
    fn stopped(status: AgentStatus, stopped: StopReason, reason: impl Into<String>) -> Self {
        Self { status, reason: reason.into(), stopped: Some(stopped) }
    }
}

impl Run<'_> {
    fn begin(&self) {
        let Agent { policy: mind, options, writer: story, watch, .. } = self.agent;
        story.write(&TraceRecord::Goal(GoalStart {
            request: self.request.into(),
            policy: mind.name(),
            started: in_utc((options.clock)()),
        }));
        let (request, resumed_steps) = (self.request.to_owned(), self.memory.rounds());
        AgentEvent::RunStarted { request, resumed_steps }.send(watch);
    }

    async fn run(&mut self) -> RunEnd {
        let pipeline = Pipeline::standard();
        if let Err(why) = pipeline.check() {
            return RunEnd::stopped(AgentStatus::Fail, StopReason::Failed, why);
        }
        loop {
            if let Some(end) = self.stop_reason() {
                return end;
            }
            if let Some(end) = self.round(&pipeline).await {
                return end;
            }
        }
    }

    /// Why the run must end before another step.
    fn stop_reason(&self) -> Option<RunEnd> {
        let end =
            |stopped, reason: String| Some(RunEnd::stopped(AgentStatus::Continue, stopped, reason));
        if self.call.cancelled.is_cancelled() {
            return end(StopReason::Cancelled, "the run was cancelled".into());
        }
        if let Some(why) = self.memory.used(Duration::ZERO).over(&self.agent.options.budgets) {
            return end(StopReason::Budget, why);
        }
        if Instant::now() >= self.call.deadline {
            return end(StopReason::Budget, "the call's deadline has passed".into());
        }
        None
    }

    /// Runs one step. Returns how the run ends, if it ends here.
    async fn round(&mut self, pipeline: &Pipeline) -> Option<RunEnd> {
        let Agent { policy: mind, perform, options, writer: story, watch, confirm, .. } =
            self.agent;
        let secrets = self.agent.secrets();
        let budgets = &options.budgets;
        let used = self.memory.used(Duration::ZERO);
        let number = self.memory.rounds() + 1;
        AgentEvent::StepStarted { step: number, max_steps: options.budgets.rounds }.send(watch);
        let hands = FunctionExecutor::new(&**perform, &self.call, &self.suppliers);
        let context = Context {
            request: Some(self.request.into()),
            log_path: Some(options.log_path.clone()),
            session_step: Some(number),
            ..Context::default()
        };
        let mut round = StepInProgress {
            policy: &**mind,
            hands: &hands,
            options,
            writer: story,
            watch,
            call: &self.call,
            memory: &self.memory,
            secrets: &secrets,
            confirm: *confirm,
            before: &self.left,
            stuck: self.futile.take_reason(),
            left: used.remaining(budgets),
            number,
            began: Instant::now(),
            steps_before: story.action_count(),
            context,
            screen: CapturedScreen::default(),
            observations: self
                .memory
                .observations()
                .iter()
                .cloned()
                .chain(used.warning(budgets))
                .collect(),
            thinking: None,
            carried: Vec::new(),
            attempted: Vec::new(),
            judged: None,
            leaves: CarryOver::default(),
            status: AgentStatus::Continue,
            failures: Vec::new(),
            spent: Usage::default(),
            timings: serde_json::Map::new(),
        };
        let done = pipeline.execute(&mut round).await;
        if let Err(StrategyError(why)) = &done {
            let over = round.is_over();
            round.failures.push(why.clone());
            if !over {
                round.status = AgentStatus::Fail;
            }
        }
        let circle = options.safeguards.loops.then(|| {
            // Nothing was done between the end of the last step and the start of this one.
            if let Some(earlier) = &self.left.screen {
                self.loops.on_idle_step(earlier, &round.screen.screen);
            }
            // What was refused did not happen: repeating it is no loop of the phone's screens.
            self.loops.on_call(&round.screen.screen, &round.attempted, self.began.elapsed())
        });
        let circle = circle.flatten();
        if let Some(circle) = &circle {
            AgentEvent::AnomalyFound(circle.text.clone()).send(watch);
            round.failures.push(circle.text.clone());
        }
        let unchecked = round.claim_is_unchecked();
        self.unchecked = if unchecked { self.unchecked + 1 } else { 0 };
        let line = phases::line(&mut round);
        let status = round.status;
        let left = std::mem::take(&mut round.leaves);
        let context = StepContext(Arc::new(std::mem::take(&mut round.context)));
        drop(round);
        AgentEvent::StepContext(context).send(watch);
        self.futile.on_step(&line, &left, circle.as_ref().map(|circle| circle.text.as_str()));
        self.left = left;
        let decided = !line.memory.is_null();
        self.memory.remember_step(&line);
        story.write(&TraceRecord::AgentStep(Box::new(line.clone())));
        let usage = self.memory.spent().clone();
        let remaining = self.memory.used(Duration::ZERO).remaining(budgets);
        AgentEvent::StepFinished { status, usage, remaining }.send(watch);
        let output = || {
            let text = [line.result, line.comment, line.thought];
            text.into_iter().find(|words| !words.is_empty()).unwrap_or_default()
        };
        match (done, status) {
            (Err(StrategyError(why)), AgentStatus::Fail) => {
                Some(RunEnd::stopped(AgentStatus::Fail, StopReason::Failed, why))
            }
            (_, AgentStatus::Finish | AgentStatus::Fail) if decided => {
                Some(RunEnd { status, reason: output(), stopped: None })
            }
            _ if circle.as_ref().is_some_and(|circle| circle.hopeless) => {
                let reason = circle.map(|circle| circle.text).unwrap_or_default();
                Some(RunEnd::stopped(AgentStatus::Fail, StopReason::Loop, reason))
            }
            _ if self.memory.rejected_claim_count() >= MOST_REFUTED => {
                let times = self.memory.rejected_claim_count();
                let reason = format!(
                    "the agent claimed {times} times that the goal was reached, but it was not"
                );
                Some(RunEnd::stopped(AgentStatus::Fail, StopReason::Loop, reason))
            }
            _ if self.unchecked >= MOST_UNCHECKED => {
                let (times, last) = (self.unchecked, line.failures.last());
                let last = last.map_or("unknown reason", String::as_str);
                let reason = format!(
                    "the agent claimed {times} times that the goal was reached, but this could not be checked: {last}"
                );
                Some(RunEnd::stopped(AgentStatus::Fail, StopReason::Failed, reason))
            }
            _ => None,
        }
    }

    fn end(self, end: RunEnd) -> RunResult {
        let RunEnd { status, reason: why, stopped } = end;
        self.agent
            .writer
            .write(&TraceRecord::GoalEnd { status: name(status).into(), reason: why.clone() });
        AgentEvent::RunFinished { status, reason: why.clone() }.send(&self.agent.watch);
        let (rounds, spent) = (self.memory.rounds(), self.memory.spent().clone());
        let took = self.began.elapsed();
        let budgets = &self.agent.options.budgets;
        let limit = match stopped {
            Some(StopReason::Budget) => self.memory.used(Duration::ZERO).limit(budgets),
            _ => None,
        };
        // The last step ended early, with the run's time.
        let limit = limit
            .or((stopped == Some(StopReason::Budget) && budgets.time.is_some())
                .then_some(Limit::Time));
        RunResult { status, reason: why, stopped, limit, rounds, spent, took }
    }
}

/// A local time as the trace stores it: RFC 3339 in UTC; empty if it cannot be converted.
fn in_utc(time: jiff::civil::DateTime) -> String {
    let zoned = time.to_zoned(jiff::tz::TimeZone::system());
    let out = zoned.map(|it| it.timestamp().strftime("%Y-%m-%dT%H:%M:%SZ").to_string());
    out.unwrap_or_default()
}
