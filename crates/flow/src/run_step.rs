//! Runs steps.
//!
//! Begin with [`CaseRunner::run_steps`]: retries, optional steps and nested steps. [`CaseRunner::run_step`] runs one step once. What a
//! step touches is in `run_gesture`, the text it copies and erases in `run_text`, its conditions in `run_condition`.

use std::sync::Arc;
use std::time::Duration;

use thumbwire_base::lock;
use tokio::time::Instant;

use super::case_runner::{CaseRunner, PollResult, StepError, ambiguous, unexpected};
use super::error::SourceLocation;
use super::event::StepStatus;
use super::plan::{FlowStep, Locator, Place, StepKind, Touch};
use super::random_text::random_text;
use super::report::FailureKind;
use thumbwire_core::action::{Action, Call, Outcome, Readback, ScreenshotOptions, TextInput};

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
            Box::pin(self.recorded_step(step, depth)).await?;
        }
        Ok(())
    }

    pub(super) async fn step(&self, step: &FlowStep, depth: usize) -> Result<(), StepFailure> {
        let text = step.to_string();
        let began = Instant::now();
        let holds_others = step.deed.holds_others();
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
            StepKind::When { conditions, steps } => {
                match self.unmet(conditions).await.map_err(|stumble| here(step, stumble))? {
                    None => self.run_steps(steps, depth + 1).await,
                    Some(condition) => {
                        let status = StepStatus::Skipped(format!("not so: {condition}"));
                        self.report_step(&step.to_string(), depth, status, Duration::ZERO);
                        Ok(())
                    }
                }
            }
            StepKind::While { conditions, times, steps } => {
                self.repeat_while(step, conditions, *times, steps, depth).await
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
                Ok(_) => {
                    if let Action::ClearData(app) = action {
                        lock(&self.permitted).remove(app);
                    }
                    Ok(())
                }
                Err(failure) => Err(self.step_error(&failure)),
            },
            StepKind::Tap(sought) => {
                let tap = Action::TapElement(sought.target().ok_or_else(unexpected)?);
                let tapped = self.until(patience, async || self.attempt(tap.clone()).await).await;
                match tapped {
                    Ok(_) => Ok(()),
                    Err(stumble) => Err(self.without_numbers(sought, stumble).await),
                }
            }
            StepKind::LongPress(sought, held) => {
                let press = Touch {
                    at: Place::Element(sought.clone(), None),
                    held: Some(*held),
                    taps: 1,
                    pause: Duration::ZERO,
                    again_if_unchanged: false,
                };
                self.touch(&press, patience).await
            }
            StepKind::Type { text, into, clear, submit, .. } => {
                let target = into.as_ref().and_then(Locator::target);
                let text = self.with_copied(text);
                let typing = TextInput { text, into: target, clear: *clear, submit: *submit };
                match (self.type_text(typing, patience).await, into) {
                    (Err(stumble), Some(into)) => Err(self.without_numbers(into, stumble).await),
                    (typed, _) => typed,
                }
            }
            StepKind::ScrollTo(scroll) => self.scroll_to(scroll).await,
            StepKind::Expect(expected) => self.check(expected, patience).await,
            StepKind::Screenshot(_) => {
                match self.ask(Action::ScreenshotAndSnapshot(ScreenshotOptions::default())).await {
                    Ok(_) => Ok(()),
                    Err(failure) => Err(self.step_error(&failure)),
                }
            }
            StepKind::Check(condition) => match self.condition_holds(condition).await? {
                true => Ok(()),
                false => {
                    let what = format!("{condition} is not true");
                    Err(StepError::new(FailureKind::Expectation, what))
                }
            },
            StepKind::Touch(touch) => self.touch(touch, patience).await,
            StepKind::SwipeFrom { from, to, lasting } => {
                self.swipe_from(from, *to, *lasting, patience).await
            }
            StepKind::Copy(sought) => self.copy_text(sought, patience).await,
            StepKind::SetCopied(text) => {
                let text = self.with_copied(text);
                *lock(&self.copied) = text;
                Ok(())
            }
            StepKind::Paste => {
                let copied = lock(&self.copied).clone();
                self.type_text(TextInput::of(copied), patience).await
            }
            StepKind::TypeRandom(kind) => {
                let text =
                    random_text(*kind).map_err(|what| StepError::new(FailureKind::Step, what))?;
                self.type_text(TextInput::of(text), patience).await
            }
            StepKind::Erase(many) => self.erase(*many, patience).await,
            StepKind::HideKeyboard => self.hide_keyboard().await,
            StepKind::ClearKeychain => self.clear_keychain(),
            StepKind::SetPermissions { app, permissions, requested_only } => {
                self.set_permissions(app, permissions, *requested_only).await
            }
            StepKind::Install(file) => self.install(file).await,
            StepKind::ExpectClipboard(text) => self.expect_clipboard(text, patience).await,
            StepKind::PasteClipboard { into } => {
                self.paste_clipboard(into.as_ref(), patience).await
            }
            StepKind::ExpectScreenshot(golden) => self.expect_screenshot(golden, patience).await,
            StepKind::WaitUntilIdle(time) => self.wait_until_idle(*time).await,
            StepKind::Goal(goal) => self.pursue(goal).await,
            StepKind::Repeat { .. }
            | StepKind::Run { .. }
            | StepKind::When { .. }
            | StepKind::While { .. } => Ok(()),
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
                StepError::new(FailureKind::Step, ambiguous(sought, &look, &nodes))
            }
            _ => stumble,
        }
    }

    pub(super) async fn type_text(
        &self,
        typing: TextInput,
        patience: Duration,
    ) -> Result<(), StepError> {
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

pub(super) fn here(step: &FlowStep, stumble: StepError) -> StepFailure {
    StepFailure { stumble, text: step.to_string(), at: step.at.clone() }
}
