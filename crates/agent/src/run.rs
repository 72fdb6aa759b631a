//! A run: one step after another, until the goal is reached, turns out to be impossible, or the run
//! is stopped.
//!
//! ```text
//!            ┌────────────── CONTINUE ──────────────┐
//!            ▼                                      │
//!   collect → decide → act → remember → status? ────┤
//!      │         │                                  ├─ FINISH   the policy says so, and a fresh snapshot confirms it
//!      └─ fails ─┴──────────────────────────────────┴─ FAIL     the policy says so, or a fail-fast phase failed
//! ```
//!
//! Start with [`Agent::run`]. What happens in a step is in [`crate::run::phases`].

pub(crate) mod budget;
mod collect;
mod decide;
mod execute;
mod futile_steps;
pub(crate) mod memory;
mod phases;
mod record;
mod step;
mod trace_writer;

use std::sync::Arc;
use std::time::Duration;

use futures::future::{BoxFuture, FutureExt as _};
use thumbwire_core::action::{Call, Perform};
use thumbwire_core::event::{EventSink, EventSinks};
use thumbwire_core::trace::Recorder;
use thumbwire_core::trace::format::{GoalStart, TraceRecord};
use tokio::time::Instant;

use crate::confirm::{AskUserFunctions, ConfirmMode};
use crate::event::AgentEvent;
use crate::event::log_sink::{LogSink, name};
use crate::functions::apps::AppFunctions;
use crate::functions::{FunctionProvider, Functions, Phone};
use crate::model::Usage;
use crate::options::{AgentOptions, Limit, RunResult, StopReason};
use crate::policy::Policy;
use crate::policy::decision::AgentStatus;
use crate::safeguards::loop_detector::LoopDetector;
use crate::secrets::Vault;
use futile_steps::FutileSteps;
use memory::Memory;
use step::{CapturedScreen, CarryOver, PhaseError, StepInProgress};
use trace_writer::TraceWriter;

/// Works towards goals on a phone.
pub struct Agent {
    policy: Arc<dyn Policy>,
    perform: Arc<dyn Perform>,
    options: AgentOptions,
    writer: TraceWriter,
    watch: EventSinks,
    providers: Vec<Arc<dyn FunctionProvider>>,
    vault: Option<Arc<Vault>>,
    confirm: ConfirmMode,
    apps: Option<Arc<dyn Perform>>,
}

/// After how many consecutive rejected claims that the goal is reached the run fails.
const MAX_REFUTED: u32 = 3;
/// After how many consecutive claims that could not be checked, for lack of a snapshot or a
/// judgement, the run fails.
const MAX_UNCHECKED: u32 = 3;

impl Agent {
    /// An agent whose decisions come from `policy` and are executed by `perform`. It logs to
    /// `tracing` ([`LogSink`]).
    pub fn new(policy: Arc<dyn Policy>, perform: Arc<dyn Perform>, options: AgentOptions) -> Self {
        let watch = EventSinks::default().with(LogSink::default());
        let (writer, vault, confirm) = (TraceWriter::default(), None, ConfirmMode::default());
        let providers = Vec::new();
        Self { policy, perform, options, writer, watch, providers, vault, confirm, apps: None }
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
    fn with_functions(mut self, provider: Arc<dyn FunctionProvider>) -> Self {
        self.providers.push(provider);
        self
    }

    /// Adds the functions that the phone's apps offer and that may be called. `perform` lists them
    /// once, when a run starts; calls go through the agent's own.
    pub fn with_app_functions(mut self, perform: Arc<dyn Perform>) -> Self {
        self.apps = Some(perform);
        self
    }

    /// Lets the agent ask the user, and tells the policy which secrets of this vault it can type.
    /// It must be the vault of the [`RedactedPerform`](crate::RedactedPerform) that the agent
    /// performs by. Answers that are secrets are stored in it.
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

    /// Works towards a goal; continues an interrupted run if `memory` is from one ([`Memory::of`]).
    /// Ends at the call's deadline or when a budget is used up; after a cancellation, when the
    /// current action is done.
    pub fn run<'a>(
        &'a self,
        call: &'a Call,
        request: &'a str,
        memory: Memory,
    ) -> BoxFuture<'a, RunResult> {
        self.run_to_end(call, request, memory).boxed()
    }

    async fn run_to_end(&self, call: &Call, request: &str, memory: Memory) -> RunResult {
        let began = Instant::now();
        let mut call = call.clone();
        if let Some(left) = memory.used(Duration::ZERO).time_left(&self.options.budgets) {
            call.deadline = call.deadline.min(began + left);
        }
        let mut providers = self.providers.clone();
        if let Some(apps) = &self.apps {
            let phone = Phone { call: &call, perform: &**apps };
            let offered = AppFunctions::on(phone, request).await;
            if !offered.is_empty() {
                providers.push(Arc::new(offered));
            }
        }
        let mut run = Run {
            agent: self,
            call,
            request,
            memory,
            functions: Functions::new(&providers, self.policy.reads_installed_apps()),
            before: CarryOver::default(),
            loops: LoopDetector::default(),
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
    functions: Functions,
    /// What the previous step left.
    before: CarryOver,
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
        let Agent { policy, options, writer, watch, .. } = self.agent;
        writer.write(&TraceRecord::Goal(GoalStart {
            request: self.request.into(),
            policy: policy.name(),
            started: in_utc((options.clock)()),
        }));
        let (request, resumed_steps) = (self.request.to_owned(), self.memory.rounds());
        AgentEvent::RunStarted { request, resumed_steps }.send(watch);
    }

    async fn run(&mut self) -> RunEnd {
        loop {
            if let Some(end) = self.stop_reason() {
                return end;
            }
            if let Some(end) = self.step().await {
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
        if let Some(reason) = self.memory.used(Duration::ZERO).over(&self.agent.options.budgets) {
            return end(StopReason::Budget, reason);
        }
        if Instant::now() >= self.call.deadline {
            return end(StopReason::Budget, "the call's deadline has passed".into());
        }
        None
    }

    /// Runs one step. Returns how the run ends, if it ends here.
    async fn step(&mut self) -> Option<RunEnd> {
        let Agent { policy, perform, options, writer, watch, confirm, .. } = self.agent;
        let secrets = self.agent.secrets();
        let budgets = &options.budgets;
        let used = self.memory.used(Duration::ZERO);
        let number = self.memory.rounds() + 1;
        AgentEvent::StepStarted { step: number, max_steps: options.budgets.rounds }.send(watch);
        let feedback = self.memory.observations().iter().cloned().chain(used.warning(budgets));
        let mut step = StepInProgress {
            policy: &**policy,
            functions: &self.functions,
            phone: Phone { call: &self.call, perform: &**perform },
            options,
            writer,
            watch,
            call: &self.call,
            memory: &self.memory,
            request: self.request,
            secrets: &secrets,
            confirm: *confirm,
            before: &self.before,
            stuck: self.futile.take_reason(),
            remaining: used.remaining(budgets),
            number,
            began: Instant::now(),
            actions_before: writer.action_count(),
            screen: CapturedScreen::default(),
            read: None,
            feedback: feedback.collect(),
            output: None,
            calls: Vec::new(),
            attempted: Vec::new(),
            judgement: None,
            leaves: CarryOver::default(),
            status: AgentStatus::Continue,
            failures: Vec::new(),
            spent: Usage::default(),
            timings: serde_json::Map::new(),
        };
        let done = phases::run(&mut step).await;
        if let Err(PhaseError(reason)) = &done {
            let over = step.is_over();
            step.failures.push(reason.clone());
            if !over {
                step.status = AgentStatus::Fail;
            }
        }
        let warning = options.safeguards.loops.then(|| {
            // Nothing was done between the end of the last step and the start of this one.
            if let Some(earlier) = &self.before.screen {
                self.loops.on_idle_step(earlier, &step.screen.state);
            }
            // A refused call did not happen: repeating it is not a loop.
            self.loops.on_call(&step.screen.state, &step.attempted, self.began.elapsed())
        });
        let warning = warning.flatten();
        if let Some(warning) = &warning {
            AgentEvent::AnomalyFound(warning.text.clone()).send(watch);
            step.failures.push(warning.text.clone());
        }
        let unchecked = step.claim_is_unchecked();
        self.unchecked = if unchecked { self.unchecked + 1 } else { 0 };
        let record = record::record(&mut step);
        let (status, leaves) = (step.status, std::mem::take(&mut step.leaves));
        drop(step);
        self.futile.on_step(&record, &leaves, warning.as_ref().map(|warning| &*warning.text));
        self.before = leaves;
        self.memory.remember_step(&record);
        writer.write(&TraceRecord::AgentStep(Box::new(record.clone())));
        let usage = self.memory.spent().clone();
        let remaining = self.memory.used(Duration::ZERO).remaining(budgets);
        AgentEvent::StepFinished { status, usage, remaining }.send(watch);
        let output = || {
            let texts = [record.result, record.comment, record.thought];
            texts.into_iter().find(|text| !text.is_empty()).unwrap_or_default()
        };
        match (done, status) {
            (Err(PhaseError(reason)), AgentStatus::Fail) => {
                Some(RunEnd::stopped(AgentStatus::Fail, StopReason::Failed, reason))
            }
            (_, AgentStatus::Finish | AgentStatus::Fail) if record.decided => {
                Some(RunEnd { status, reason: output(), stopped: None })
            }
            _ if warning.as_ref().is_some_and(|warning| warning.hopeless) => {
                let reason = warning.map(|warning| warning.text).unwrap_or_default();
                Some(RunEnd::stopped(AgentStatus::Fail, StopReason::Loop, reason))
            }
            _ if self.memory.rejected_claim_count() >= MAX_REFUTED => {
                let times = self.memory.rejected_claim_count();
                let reason = format!(
                    "the agent claimed {times} times that the goal was reached, but it was not"
                );
                Some(RunEnd::stopped(AgentStatus::Fail, StopReason::Loop, reason))
            }
            _ if self.unchecked >= MAX_UNCHECKED => {
                let (times, last) = (self.unchecked, record.failures.last());
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
        let RunEnd { status, reason, stopped } = end;
        self.agent
            .writer
            .write(&TraceRecord::GoalEnd { status: name(status).into(), reason: reason.clone() });
        AgentEvent::RunFinished { status, reason: reason.clone() }.send(&self.agent.watch);
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
        RunResult { status, reason, stopped, limit, rounds, spent, took }
    }
}

/// A local time as the trace stores it: RFC 3339 in UTC; empty if it cannot be converted.
fn in_utc(time: jiff::civil::DateTime) -> String {
    let zoned = time.to_zoned(jiff::tz::TimeZone::system());
    let out = zoned.map(|it| it.timestamp().strftime("%Y-%m-%dT%H:%M:%SZ").to_string());
    out.unwrap_or_default()
}
