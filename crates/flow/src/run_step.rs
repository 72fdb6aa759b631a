//! Runs steps.
//!
//! Begin with [`CaseRunner::run_steps`]: retries, optional steps and nested steps. [`CaseRunner::run_step`] runs one step once.

use std::sync::Arc;
use std::time::Duration;

use thumbwire_device::Gesture;
use tokio::time::Instant;

use super::case_runner::{CaseRunner, PollResult, StepError, unexpected};
use super::error::SourceLocation;
use super::event::StepStatus;
use super::plan::{FlowStep, Locator, StepKind};
use super::report::FailureKind;
use thumbwire_core::action::{
    Action, Call, Direction, Outcome, Readback, ScreenshotOptions, TextInput,
};
use thumbwire_core::snapshot::RefVisibility;

/// A failed step, with its description and position.
pub(super) struct StepFailure {
    pub(super) stumble: StepError,
    pub(super) text: String,
    pub(super) at: SourceLocation,
}

impl CaseRunner<'_> {
    /// Runs steps in order until a required one fails.
    pub(super) async fn run_steps(
        &self,
        steps: &[FlowStep],
        depth: usize,
    ) -> Result<(), StepFailure> {
        for step in steps {
            self.step(step, depth).await?;
        }
        Ok(())
    }

    async fn step(&self, step: &FlowStep, depth: usize) -> Result<(), StepFailure> {
        let text = step.to_string();
        let began = Instant::now();
        let holds_others = matches!(step.deed, StepKind::Repeat { .. } | StepKind::Run { .. });
        if holds_others {
            self.report_step(&text, depth, StepStatus::Started, Duration::ZERO);
        }
        for left in (0..=step.retry).rev() {
            // Nested steps make the future's type recursive.
            let done = Box::pin(self.run_step(step, depth)).await;
            let Err(StepFailure { stumble, .. }) = &done else {
                if !holds_others {
                    self.report_step(&text, depth, StepStatus::Passed, began.elapsed());
                }
                return Ok(());
            };
            let what = stumble.what.clone();
            if stumble.ends_the_case() || (left == 0 && !step.optional) {
                if !holds_others {
                    self.report_step(&text, depth, StepStatus::Failed(what), began.elapsed());
                }
                return done;
            }
            if left > 0 {
                self.report_step(&text, depth, StepStatus::Retried(what), began.elapsed());
            } else {
                self.report_step(&text, depth, StepStatus::Skipped(what.clone()), began.elapsed());
                self.note(format!("optional: {text}: {what}"));
            }
        }
        Ok(())
    }

    async fn run_step(&self, step: &FlowStep, depth: usize) -> Result<(), StepFailure> {
        match &step.deed {
            StepKind::Run { steps, .. } => self.run_steps(steps, depth + 1).await,
            StepKind::Repeat { times, until, steps } => {
                self.repeat(step, *times, until.as_ref(), steps, depth).await
            }
            _ => self.plain(step).await.map_err(|stumble| here(step, stumble)),
        }
    }

    async fn repeat(
        &self,
        step: &FlowStep,
        times: u32,
        until: Option<&Locator>,
        steps: &[FlowStep],
        depth: usize,
    ) -> Result<(), StepFailure> {
        let mut missing = None;
        for round in 0..=times {
            if let Some(until) = until {
                match self.shows(until).await.map_err(|stumble| here(step, stumble))? {
                    PollResult::Ready(()) => return Ok(()),
                    PollResult::Pending(why) => missing = Some(why),
                }
            }
            if round < times {
                self.run_steps(steps, depth + 1).await?;
            }
        }
        match missing {
            None => Ok(()),
            Some(why) => {
                let what = format!("after repeating {times} times, {}", why.what);
                Err(here(step, StepError::new(FailureKind::Expectation, what)))
            }
        }
    }

    /// Runs a step without nested steps.
    async fn plain(&self, step: &FlowStep) -> Result<(), StepError> {
        let patience = step.timeout;
        match &step.deed {
            StepKind::Act(action) => match self.ask(action.clone()).await {
                // The app started, but no later step can reach it.
                Ok(Outcome::Launched { locked: Some(state), .. }) => {
                    let what = format!("{state}; add the step `unlock` before this one");
                    Err(StepError::new(FailureKind::Step, what))
                }
                Ok(_) => Ok(()),
                Err(failure) => Err(self.step_error(&failure)),
            },
            StepKind::Tap(sought) => {
                let tap = Action::TapElement(sought.target());
                let tapped = self.until(patience, async || self.attempt(tap.clone()).await).await;
                match tapped {
                    Ok(_) => Ok(()),
                    Err(stumble) => Err(self.without_numbers(sought, stumble).await),
                }
            }
            StepKind::LongPress(sought, held) => self.long_press(sought, *held, patience).await,
            StepKind::Type { text, into, clear, submit, .. } => {
                let target = into.as_ref().map(Locator::target);
                let typing =
                    TextInput { text: text.clone(), into: target, clear: *clear, submit: *submit };
                match (self.type_text(typing, patience).await, into) {
                    (Err(stumble), Some(into)) => Err(self.without_numbers(into, stumble).await),
                    (typed, _) => typed,
                }
            }
            StepKind::ScrollTo { sought, direction, distance, max: most } => {
                self.scroll_to(sought, *direction, *distance, *most).await
            }
            StepKind::Expect(expected) => self.check(expected, patience).await,
            StepKind::Screenshot(_) => {
                match self.ask(Action::ScreenshotAndSnapshot(ScreenshotOptions::default())).await {
                    Ok(_) => Ok(()),
                    Err(failure) => Err(self.step_error(&failure)),
                }
            }
            StepKind::Goal(goal) => self.pursue(goal).await,
            StepKind::Repeat { .. } | StepKind::Run { .. } => Ok(()),
        }
    }

    /// For several matching elements, a session lists refs that a client can use. The reader of a flow's result has no
    /// use for them, so describe the elements instead.
    async fn without_numbers(&self, sought: &Locator, stumble: StepError) -> StepError {
        let several = stumble.what.contains("elements match");
        if !several || !matches!(sought, Locator::Text(_)) {
            return stumble;
        }
        match self.find(sought).await {
            Ok(PollResult::Ready((look, nodes))) if nodes.len() > 1 => {
                let several = look.describe_several(&nodes, RefVisibility::Unknown);
                StepError::new(FailureKind::Step, format!("element {sought} not found: {several}"))
            }
            _ => stumble,
        }
    }

    async fn long_press(
        &self,
        sought: &Locator,
        held: Duration,
        patience: Duration,
    ) -> Result<(), StepError> {
        let at = self
            .until(patience, async || {
                let (look, nodes) = match self.find(sought).await? {
                    PollResult::Ready(found) => found,
                    PollResult::Pending(why) => return Ok(PollResult::Pending(why)),
                };
                let missed =
                    |what: String| Ok(PollResult::Pending(StepError::new(FailureKind::Step, what)));
                let node = match (sought, nodes.as_slice()) {
                    (_, []) => return missed(format!("element {sought} not found")),
                    (Locator::Text(_), [_, _, ..]) => {
                        let several = look.describe_several(&nodes, RefVisibility::Unknown);
                        return missed(format!("element {sought} not found: {several}"));
                    }
                    (Locator::Text(_), [node]) => *node,
                    (Locator::Selector(_, index), nodes) => match nodes.get(*index) {
                        Some(node) => *node,
                        None => return missed(format!("only {} of {sought} found", nodes.len())),
                    },
                };
                match look.tap_point(node, RefVisibility::Unknown) {
                    Ok(at) => Ok(PollResult::Ready(at)),
                    Err(why) => missed(format!("element {sought} not found: {why}")),
                }
            })
            .await?;
        match self.ask(Action::Touch(Gesture::LongPress { at, held })).await {
            Ok(_) => Ok(()),
            Err(failure) => Err(self.step_error(&failure)),
        }
    }

    async fn type_text(&self, typing: TextInput, patience: Duration) -> Result<(), StepError> {
        let typed =
            self.until(patience, async || self.attempt(Action::Type(typing.clone())).await).await?;
        match typed {
            Outcome::Typed(typed) => match typed.field {
                Readback::Differs { shows } => {
                    let what = format!("the field shows {shows:?} instead of the typed text");
                    Err(StepError::new(FailureKind::Step, what))
                }
                _ => Ok(()),
            },
            _ => Err(unexpected()),
        }
    }

    /// Scrolls until the element is visible or the screen stops changing.
    async fn scroll_to(
        &self,
        sought: &Locator,
        direction: Direction,
        distance: f64,
        max: u32,
    ) -> Result<(), StepError> {
        let mut last = None;
        for round in 0..=max {
            let reason = match self.shows(sought).await? {
                PollResult::Ready(()) => return Ok(()),
                PollResult::Pending(why) => why.what,
            };
            let now = self.snapshot().await;
            let stands = now.is_some()
                && now.as_ref().map(|look| &look.tree)
                    == last
                        .as_ref()
                        .map(|snapshot: &Arc<thumbwire_core::snapshot::Snapshot>| &snapshot.tree);
            if stands || round == max {
                let end = if stands { "reached the end" } else { "reached the limit" };
                let what =
                    format!("scrolled {} {round} times and {end}: {reason}", direction.name());
                return Err(StepError::new(FailureKind::Expectation, what));
            }
            last = now;
            let scrolled = self.ask(Action::Scroll { direction, distance }).await;
            scrolled.map_err(|failure| self.step_error(&failure))?;
        }
        Ok(())
    }

    async fn pursue(&self, goal: &str) -> Result<(), StepError> {
        let Some(pursue) = self.pursue else {
            return Err(StepError::new(
                FailureKind::Goal,
                "no model is configured for the goal. Name one with --model",
            ));
        };
        let call: &Call = &self.call;
        let reached =
            pursue.pursue(Arc::clone(&self.perform), self.recorder.clone(), call, goal).await;
        reached.map_err(|why| match self.is_over() {
            true => StepError::new(FailureKind::TimedOut, why),
            false => StepError::new(FailureKind::Goal, why),
        })
    }
}

fn here(step: &FlowStep, stumble: StepError) -> StepFailure {
    StepFailure { stumble, text: step.to_string(), at: step.at.clone() }
}
