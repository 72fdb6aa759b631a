//! Runs a case on one phone: performs its actions and polls its screen.
//!
//! Start with [`CaseRunner::ask`]. `run_step` runs steps and `assert` checks assertions; both poll
//! with [`CaseRunner::until`].

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use thumbwire_device::{AppId, Platform, SideEffect};
use tokio::time::Instant;

use super::dismiss_alerts::AlertDismisser;
use super::element_pattern::ElementPattern;
use super::event::{FlowEvent, StepStatus};
use super::golden::GoldenFiles;
use super::plan::FlowStep;
use super::probe::Probe;
use super::report::FailureKind;
use super::screen_text::screen_summary;
use super::script::{Parameters, ScriptNetwork};
use super::script_thread::ScriptThread;
use super::step_trail::StepTrail;
use thumbwire_core::action::{
    Action, Call, Cause, CauseClass, Failure, LaunchResult, Observe, Outcome, Perform, Request,
    SnapshotOptions, request,
};
use thumbwire_core::event::EventSink;
use thumbwire_core::snapshot::Snapshot;
use thumbwire_core::trace::Recorder;

/// The time limit of one action, in addition to any waiting it does itself.
const BUDGET: Duration = Duration::from_secs(30);

/// The polling interval.
const PAUSE: Duration = Duration::from_millis(250);

/// Runs a goal for a flow: the agent, if a model was named.
#[async_trait]
pub trait RunGoal: Send + Sync {
    /// Runs a goal through `perform`, which records into `recorder`.
    ///
    /// # Errors
    /// Why the goal was not reached.
    async fn run_goal(
        &self,
        perform: Arc<dyn Perform>,
        recorder: Option<Arc<Recorder>>,
        call: &Call,
        goal: &str,
    ) -> Result<(), String>;
}

/// A case running on one phone.
pub(super) struct CaseRunner<'a> {
    pub(super) context: CaseContext<'a>,
    pub(super) state: CaseState,
}

/// What stays the same while a case runs.
pub(super) struct CaseContext<'a> {
    pub(super) perform: Arc<dyn Perform>,
    /// Holds the phone, the deadline of the run and its cancellation.
    pub(super) call: Call,
    pub(super) recorder: Option<Arc<Recorder>>,
    pub(super) goals: Option<&'a dyn RunGoal>,
    pub(super) events: &'a dyn EventSink,
    /// The case's number for event listeners.
    pub(super) number: usize,
    /// The platform of the phone.
    pub(super) platform: Platform,
    /// Reads and writes goldens.
    pub(super) goldens: Option<&'a dyn GoldenFiles>,
    /// Whether to write goldens instead of comparing with them.
    pub(super) update_goldens: bool,
    /// Whether a picture is taken at the end of each step.
    pub(super) step_pictures: bool,
    /// The parameters that the flow gets from outside.
    pub(super) parameters: Parameters,
    /// Sends the requests of scripts.
    pub(super) network: Option<Arc<dyn ScriptNetwork>>,
    /// Dismisses alerts of the system, if the flow says so.
    pub(super) alerts: Option<Arc<AlertDismisser>>,
    /// Watches the steps.
    pub(super) probe: Option<Arc<Probe>>,
}

/// What the steps of a case have done so far.
#[derive(Default)]
pub(super) struct CaseState {
    /// The apps that were launched.
    pub(super) launched: BTreeSet<AppId>,
    /// The apps that have all permissions that they request.
    pub(super) permitted: BTreeSet<AppId>,
    /// The text that a step copied last.
    pub(super) copied: Option<String>,
    /// When the phone was acted on last.
    pub(super) acted_at: Option<Instant>,
    /// Notes that did not fail the case.
    pub(super) notes: Vec<String>,
    /// The steps so far.
    pub(super) trail: StepTrail,
    /// Runs the scripts.
    pub(super) scripts: Option<ScriptThread>,
}

/// Why a step failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct StepError {
    pub(super) kind: FailureKind,
    pub(super) what: String,
}

impl StepError {
    pub(super) fn new(kind: FailureKind, what: impl Into<String>) -> Self {
        Self { kind, what: what.into() }
    }

    /// Whether nothing after this could succeed.
    pub(super) fn ends_the_case(&self) -> bool {
        !self.kind.is_of_the_app()
    }
}

/// Why one poll gave no result.
pub(super) enum PollError {
    /// Not yet: the next poll may succeed.
    Pending(StepError),
    /// No later poll can succeed.
    Failed(StepError),
}

impl From<StepError> for PollError {
    fn from(error: StepError) -> Self {
        Self::Failed(error)
    }
}

impl CaseRunner<'_> {
    /// Performs one action and returns its own result.
    pub(super) async fn ask<R: Request>(&mut self, request: R) -> Result<R::Output, Failure> {
        Ok(self.perform(request.into()).await?.try_into()?)
    }

    /// Performs one action that the step cannot do without.
    pub(super) async fn must<R: Request>(&mut self, request: R) -> Result<R::Output, StepError> {
        self.ask(request).await.map_err(|failure| self.step_error(&failure))
    }

    /// Performs one action of any kind.
    pub(super) async fn perform(&mut self, action: Action) -> Result<Outcome, Failure> {
        let time = match &action {
            Action::Wait(time) | Action::Observe(Observe::Until { timeout: time, .. }) => {
                *time + BUDGET
            }
            _ => BUDGET,
        };
        self.perform_within(time, action).await
    }

    /// Performs one action within this time.
    pub(super) async fn perform_within(
        &mut self,
        time: Duration,
        action: Action,
    ) -> Result<Outcome, Failure> {
        let deadline = self.context.call.deadline.min(Instant::now() + time);
        let call = Call { deadline, ..self.context.call.clone() };
        let acts = action.changes_screen();
        let outcome = self.context.perform.perform(&call, action).await;
        if acts {
            self.state.acted_at = Some(Instant::now());
        }
        if let Ok(Outcome::Launched(LaunchResult { app, .. })) = &outcome {
            self.state.launched.insert(app.clone());
        }
        if let Ok(outcome) = &outcome {
            self.notice_picture(outcome);
        }
        outcome
    }

    /// Converts a failure of an action to one of the step.
    pub(super) fn step_error(&self, failure: &Failure) -> StepError {
        let kind = match failure.cause.class() {
            CauseClass::NoDevice => FailureKind::Phone,
            CauseClass::Cancelled => FailureKind::TimedOut,
            _ if self.is_over() => FailureKind::TimedOut,
            _ => FailureKind::Step,
        };
        if kind == FailureKind::TimedOut {
            return self.over();
        }
        let text = match &failure.cause {
            Cause::TextNotTypable(text) => format!("{text}; {}", text.next_step()),
            cause => cause.to_string(),
        };
        StepError::new(kind, text)
    }

    /// Whether the whole run is over.
    pub(super) fn is_over(&self) -> bool {
        is_over(&self.context.call)
    }

    pub(super) fn over(&self) -> StepError {
        let what = if self.context.call.cancelled.is_cancelled() {
            "the run was cancelled"
        } else {
            "the run timed out"
        };
        StepError::new(FailureKind::TimedOut, what)
    }

    /// Retries until done or until `timeout` has passed; then returns the last reason.
    pub(super) async fn until<T>(
        &mut self,
        timeout: Duration,
        mut attempt: impl AsyncFnMut(&mut Self) -> Result<T, PollError>,
    ) -> Result<T, StepError> {
        let timeout = self.context.probe.as_ref().map_or(timeout, |it| it.max_wait(timeout));
        let end = Instant::now() + timeout;
        loop {
            let reason = match attempt(self).await {
                Ok(done) => return Ok(done),
                Err(PollError::Failed(error)) => return Err(error),
                Err(PollError::Pending(reason)) => reason,
            };
            if self.is_over() {
                return Err(self.over());
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(reason);
            }
            self.must(request::Wait(PAUSE.min(left))).await?;
            self.state.trail.waits(&reason.what);
            self.renew_picture().await;
        }
    }

    /// Performs an action on an element once. If the element does not exist yet or the phone is not
    /// ready, nothing was done.
    pub(super) async fn attempt<R: Request>(&mut self, request: R) -> Result<R::Output, PollError> {
        self.ask(request).await.map_err(|failure| {
            let error = self.step_error(&failure);
            match is_retryable(&failure) && !self.is_over() {
                true => PollError::Pending(error),
                false => PollError::Failed(error),
            }
        })
    }

    /// The elements on the screen that match, as indices into the snapshot's tree. A failed
    /// snapshot counts as a failed attempt.
    pub(super) async fn find(
        &mut self,
        element: &ElementPattern,
    ) -> Result<(Arc<Snapshot>, Vec<usize>), PollError> {
        let snapshot = self.attempt(request::Snapshot(SnapshotOptions::default())).await?;
        let mut nodes = element.find(&snapshot.tree, &|at| !snapshot.shown(at).is_empty());
        // A tap on a covered one would be refused.
        nodes.sort_by_key(|&at| snapshot.covered_by(at).is_some());
        if let (Some(probe), Some(&at)) = (&self.context.probe, nodes.first()) {
            probe.found(&snapshot.tree.nodes[at]);
        }
        Ok((snapshot, nodes))
    }

    /// The element that is meant, and the snapshot that shows it.
    pub(super) async fn find_one(
        &mut self,
        element: &ElementPattern,
    ) -> Result<(Arc<Snapshot>, usize), PollError> {
        let (snapshot, nodes) = self.find(element).await?;
        match nodes.first() {
            Some(&node) => Ok((snapshot, node)),
            None => {
                let what = not_found(element, &snapshot);
                Err(PollError::Pending(StepError::new(FailureKind::Step, what)))
            }
        }
    }

    /// A snapshot of the screen now, if one can be taken.
    pub(super) async fn snapshot(&mut self) -> Option<Arc<Snapshot>> {
        self.ask(request::Snapshot(SnapshotOptions::default())).await.ok()
    }

    pub(super) fn note(&mut self, what: String) {
        /// More would not help anyone.
        const MAX_NOTES: usize = 50;
        if self.state.notes.len() < MAX_NOTES {
            self.state.notes.push(what);
        }
    }

    pub(super) fn report_step(
        &mut self,
        step: &FlowStep,
        depth: usize,
        status: StepStatus,
        took: Duration,
    ) {
        self.state.trail.reports(&status);
        let (text, nested) = (step.to_string(), step.kind.holds_others());
        FlowEvent::Step { case: self.context.number, text, depth, nested, status, took }
            .send(self.context.events);
    }
}

/// Why an element was not found on this screen.
fn not_found(element: &ElementPattern, snapshot: &Snapshot) -> String {
    match element.near_miss(&snapshot.tree, &|at| !snapshot.shown(at).is_empty()) {
        Some(text) => format!(
            "element {element} not found; a pattern must match the whole text, and {text:?} is \
             on the screen"
        ),
        None => {
            format!("element {element} not found; visible text: {}", screen_summary(snapshot))
        }
    }
}

/// Whether waiting may help and nothing was done.
fn is_retryable(failure: &Failure) -> bool {
    failure.side_effect == SideEffect::None
        && matches!(
            failure.cause,
            Cause::ElementNotFound { .. }
                | Cause::IndexOutOfRange { .. }
                | Cause::NotReady { .. }
                | Cause::TimedOut { .. }
                | Cause::DeviceError { .. }
        )
}

/// Whether a run was cancelled or has no time for another action: a session reserves a second of
/// it.
pub(super) fn is_over(call: &Call) -> bool {
    const LAST: Duration = Duration::from_millis(1500);
    call.cancelled.is_cancelled() || Instant::now() + LAST >= call.deadline
}
