//! One phone while a case is tried on it: what is asked of it, and what stands on its screen.
//!
//! Begin with [`Stage::ask`]. Steps are carried out in `doing`, expectations judged in `expect`; both wait by looking again, and here
//! is how ([`Stage::until`]).

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use thumbwire_device::find::{self, Found};
use thumbwire_device::{Acted, AppId};
use tokio::time::Instant;

use super::plan::Sought;
use super::report::Failing;
use super::run::{Pursue, is_over};
use super::watch::{Event, StepEnd, Watch};
use crate::action::{Action, Call, Cause, Failure, Outcome, Perform};
use crate::look::Look;
use crate::trace::Recorder;

/// How long one action may take, beside what it waits by itself.
const BUDGET: Duration = Duration::from_secs(30);

/// How long is waited until the screen is looked at again.
const PAUSE: Duration = Duration::from_millis(250);

/// One phone while a case is tried on it.
pub(super) struct Stage<'a> {
    pub(super) perform: Arc<dyn Perform>,
    /// Carries the phone, the deadline of the whole run, and whether it was called off.
    pub(super) call: Call,
    pub(super) story: Option<Arc<Recorder>>,
    pub(super) pursue: Option<&'a dyn Pursue>,
    pub(super) watch: &'a dyn Watch,
    /// The case's number for who watches.
    pub(super) number: usize,
    /// The apps that were launched.
    pub(super) launched: Mutex<BTreeSet<AppId>>,
    /// What did not fail the case and is worth knowing.
    pub(super) noted: Mutex<Vec<String>>,
}

/// Why a step failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stumble {
    pub(super) kind: Failing,
    pub(super) what: String,
}

impl Stumble {
    pub(super) fn new(kind: Failing, what: impl Into<String>) -> Self {
        Self { kind, what: what.into() }
    }

    /// Whether nothing that is tried afterwards could go better.
    pub(super) fn ends_the_case(&self) -> bool {
        !self.kind.is_of_the_app()
    }
}

/// What a try came to, short of a stumble.
pub(super) enum Try<T> {
    Done(T),
    /// Not yet; why.
    NotYet(Stumble),
}

impl Stage<'_> {
    /// Asks for one action.
    pub(super) async fn ask(&self, action: Action) -> Result<Outcome, Failure> {
        let time = match &action {
            Action::Wait(time) => *time + BUDGET,
            _ => BUDGET,
        };
        let deadline = self.call.deadline.min(Instant::now() + time);
        let call = Call { deadline, ..self.call.clone() };
        let outcome = self.perform.perform(&call, action).await;
        if let Ok(Outcome::Launched { app, .. }) = &outcome {
            lock(&self.launched).insert(app.clone());
        }
        outcome
    }

    /// What a failure means for the step.
    pub(super) fn stumble(&self, failure: &Failure) -> Stumble {
        let kind = match &failure.cause {
            Cause::DeviceNotConnected { .. }
            | Cause::DeviceNotReady { .. }
            | Cause::DeviceNotAuthorized { .. }
            | Cause::NoDeviceChosen { .. } => Failing::Phone,
            Cause::Cancelled => Failing::TimeOver,
            _ if self.is_over() => Failing::TimeOver,
            _ => Failing::Step,
        };
        if kind == Failing::TimeOver {
            return self.over();
        }
        Stumble::new(kind, failure.cause.to_string())
    }

    /// Whether the whole run is over.
    pub(super) fn is_over(&self) -> bool {
        is_over(&self.call)
    }

    fn over(&self) -> Stumble {
        let what = if self.call.cancelled.is_cancelled() {
            "the run was called off"
        } else {
            "the time of the whole run was over"
        };
        Stumble::new(Failing::TimeOver, what)
    }

    /// Tries until it is done or `patience` is over; then the last reason counts.
    pub(super) async fn until<T>(
        &self,
        patience: Duration,
        mut attempt: impl AsyncFnMut() -> Result<Try<T>, Stumble>,
    ) -> Result<T, Stumble> {
        let end = Instant::now() + patience;
        loop {
            let why = match attempt().await? {
                Try::Done(done) => return Ok(done),
                Try::NotYet(why) => why,
            };
            if self.is_over() {
                return Err(self.over());
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(why);
            }
            let waited = self.ask(Action::Wait(PAUSE.min(left))).await;
            waited.map_err(|failure| self.stumble(&failure))?;
        }
    }

    /// Carries out what needs an element, as one try: where the element is not there yet, or the phone not ready, nothing was done.
    pub(super) async fn attempt(&self, action: Action) -> Result<Try<Outcome>, Stumble> {
        match self.ask(action).await {
            Ok(outcome) => Ok(Try::Done(outcome)),
            Err(failure) if may_come(&failure) && !self.is_over() => {
                Ok(Try::NotYet(self.stumble(&failure)))
            }
            Err(failure) => Err(self.stumble(&failure)),
        }
    }

    /// The elements on the screen that answer; places in the look's tree. A look that fails is a try that failed.
    pub(super) async fn find(
        &self,
        sought: &Sought,
    ) -> Result<Try<(Arc<Look>, Vec<usize>)>, Stumble> {
        let action = match sought {
            Sought::Words(_) => Action::LOOK,
            Sought::Parts(criteria, _) => Action::Find(criteria.clone()),
        };
        let found = match (self.attempt(action).await?, sought) {
            (Try::NotYet(why), _) => return Ok(Try::NotYet(why)),
            (Try::Done(Outcome::Found(look, nodes)), _) => (look, nodes),
            (Try::Done(Outcome::Look(look)), Sought::Words(words)) => {
                let nodes = match find::find(&look.tree, find::Sought::Text(words)) {
                    Found::One(node) => vec![node],
                    Found::Several(nodes) => nodes,
                    Found::None => Vec::new(),
                };
                (look, nodes)
            }
            (Try::Done(_), _) => return Err(unexpected()),
        };
        Ok(Try::Done(found))
    }

    /// The screen as it is now, where it can be looked at.
    pub(super) async fn look(&self) -> Option<Arc<Look>> {
        match self.ask(Action::LOOK).await {
            Ok(Outcome::Look(look)) => Some(look),
            Ok(_) | Err(_) => None,
        }
    }

    pub(super) fn note(&self, what: String) {
        /// More is no help to anybody.
        const MOST: usize = 50;
        let mut noted = lock(&self.noted);
        if noted.len() < MOST {
            noted.push(what);
        }
    }

    pub(super) fn tell_step(&self, words: &str, depth: usize, end: StepEnd<'_>, took: Duration) {
        self.watch.tell(self.number, &Event::Step { words, depth, end, took });
    }
}

/// Whether waiting may help, and nothing was done.
fn may_come(failure: &Failure) -> bool {
    failure.acted == Acted::No
        && matches!(
            failure.cause,
            Cause::ElementNotFound { .. }
                | Cause::NoSuchIndex { .. }
                | Cause::NotReady { .. }
                | Cause::TimedOut { .. }
                | Cause::PhoneFailed { .. }
        )
}

/// An answer to another question than was asked.
pub(super) fn unexpected() -> Stumble {
    Stumble::new(Failing::Step, "the session answered something else than it was asked")
}

/// A panic elsewhere leaves nothing half changed here.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
