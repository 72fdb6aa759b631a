//! Runs steps.
//!
//! Start with [`CaseRunner::run_steps`]: retries, optional steps and nested steps.
//! [`CaseRunner::run_step`] runs one step once. What a step touches is in `run_gesture`, the text
//! it copies and erases in `run_text`, its conditions in `run_condition`, its scripts in
//! `run_script`.

use std::sync::Arc;
use std::time::Duration;

use thumbwire_device::text_field;
use tokio::time::Instant;

use super::case_runner::{CaseContext, CaseRunner, StepError};
use super::error::SourceLocation;
use super::event::StepStatus;
use super::plan::{FlowStep, StepKind};
use super::random_text::random_text;
use super::report::FailureKind;
use thumbwire_core::action::{
    Action, LaunchResult, Outcome, Readback, ScreenshotOptions, TextInput, request,
};

/// A failed step, with its description and position.
pub(super) struct StepFailure {
    pub(super) error: StepError,
    pub(super) text: String,
    pub(super) at: SourceLocation,
}

impl CaseRunner<'_> {
    /// Runs steps in order until a required one fails.
    pub(super) async fn run_steps(
        &mut self,
        steps: &[FlowStep],
        depth: usize,
    ) -> Result<(), StepFailure> {
        for step in steps {
            if let StepKind::Define(env) = &step.kind {
                self.define(env).await.map_err(|error| here(step, error))?;
                continue;
            }
            // Steps with others inside are evaluated when they are entered.
            let now = match step.kind.holds_others() {
                true => None,
                false => self.evaluated(step).await.unwrap_or_else(|error| {
                    let (kind, name) = (StepKind::Unavailable(error.what), Some(step.to_string()));
                    Some(FlowStep { kind, name, late: None, ..step.clone() })
                }),
            };
            let step = now.as_ref().unwrap_or(step);
            let probe = self.context.probe.clone();
            probe.iter().for_each(|probe| probe.begins(step));
            let done = Box::pin(self.recorded_step(step, depth)).await;
            probe.iter().for_each(|probe| probe.ends());
            done?;
        }
        Ok(())
    }

    /// Runs steps whose parameters end with them.
    pub(super) async fn run_scope(
        &mut self,
        steps: &[FlowStep],
        depth: usize,
    ) -> Result<(), StepFailure> {
        if !matches!(steps.first(), Some(FlowStep { kind: StepKind::Define(_), .. })) {
            return self.run_steps(steps, depth).await;
        }
        let open = self.script(|engine| engine.enter()).await;
        let done = match open {
            Ok(()) => self.run_steps(steps, depth).await,
            Err(error) => Err(here(&steps[0], error)),
        };
        // A script thread that has ended has no parameters either.
        let _ = self.script(|engine| engine.leave()).await;
        done
    }

    pub(super) async fn step(&mut self, step: &FlowStep, depth: usize) -> Result<(), StepFailure> {
        let began = Instant::now();
        self.report_step(step, depth, StepStatus::Started, Duration::ZERO);
        for left in (0..=step.retry).rev() {
            // Nested steps make the future's type recursive.
            let done = Box::pin(self.run_step(step, depth)).await;
            let Err(StepFailure { error, .. }) = &done else {
                self.report_step(step, depth, StepStatus::Passed, began.elapsed());
                return Ok(());
            };
            let what = error.what.clone();
            if error.ends_the_case() || (left == 0 && !step.optional) {
                self.report_step(step, depth, StepStatus::Failed(what), began.elapsed());
                return done;
            }
            if left > 0 {
                self.report_step(step, depth, StepStatus::Retried(what), began.elapsed());
            } else {
                self.note(format!("optional: {step}: {what}"));
                self.report_step(step, depth, StepStatus::Skipped(what), began.elapsed());
            }
        }
        Ok(())
    }

    async fn run_step(&mut self, step: &FlowStep, depth: usize) -> Result<(), StepFailure> {
        if !step.kind.holds_others() {
            return self.plain(step).await.map_err(|error| here(step, error));
        }
        let now = self.evaluated(step).await.map_err(|error| here(step, error))?;
        let kind = now.as_ref().map_or(&step.kind, |now| &now.kind);
        // What a command consists of may depend on its values; a list of others does not.
        let steps = match kind.nested() {
            [] => step.kind.nested(),
            steps => steps,
        };
        match kind {
            StepKind::When { conditions, .. } => {
                match self.unmet(conditions).await.map_err(|error| here(step, error))? {
                    None => self.run_scope(steps, depth + 1).await,
                    Some(condition) => {
                        let status = StepStatus::Skipped(format!("not so: {condition}"));
                        self.report_step(step, depth, status, Duration::ZERO);
                        Ok(())
                    }
                }
            }
            StepKind::While { conditions, times, .. } => {
                self.repeat_while(step, conditions, *times, steps, depth).await
            }
            _ => self.run_scope(steps, depth + 1).await,
        }
    }

    /// Runs a step without nested steps.
    async fn plain(&mut self, step: &FlowStep) -> Result<(), StepError> {
        let timeout = step.timeout;
        match &step.kind {
            StepKind::Act(action) => match self.perform(action.clone()).await {
                // The app started, but no later step can reach it.
                Ok(Outcome::Launched(LaunchResult { locked: Some(state), .. })) => {
                    let what = format!("{state}; add the command `unlock` before this one");
                    Err(StepError::new(FailureKind::Step, what))
                }
                Ok(_) => {
                    if let Action::ClearData(app) = action {
                        self.state.permitted.remove(app);
                    }
                    Ok(())
                }
                Err(failure) => Err(self.step_error(&failure)),
            },
            StepKind::Type { text, .. } => self.type_text(anywhere(text.clone()), timeout).await,
            StepKind::ScrollTo(scroll) => self.scroll_to(scroll).await,
            StepKind::Expect(expected) => self.check(expected, timeout).await,
            StepKind::Screenshot { name, crop } => {
                let both = request::ScreenshotAndSnapshot(ScreenshotOptions::default());
                let both = self.must(both).await?;
                match crop {
                    Some(element) => self.keep_cropped(name, element, timeout).await,
                    None => self.keep_image(name, &both.screenshot.image),
                }
            }
            StepKind::Condition(condition) => match self.condition_holds(condition).await? {
                true => Ok(()),
                false => {
                    let what = format!("{condition} is not true");
                    Err(StepError::new(FailureKind::Expectation, what))
                }
            },
            StepKind::Touch(touch) => self.touch(touch, timeout).await,
            StepKind::SwipeFrom { from, to, duration } => {
                self.swipe_from(from, *to, *duration, timeout).await
            }
            StepKind::Copy(element) => self.copy_text(element, timeout).await,
            StepKind::SetCopied(text) => {
                self.state.copied = Some(text.clone());
                Ok(())
            }
            StepKind::Paste => {
                let copied = self.state.copied.clone().unwrap_or_default();
                self.type_text(anywhere(copied), timeout).await
            }
            StepKind::TypeRandom(kind) => {
                let text =
                    random_text(*kind).map_err(|what| StepError::new(FailureKind::Step, what))?;
                self.type_text(anywhere(text), timeout).await
            }
            StepKind::Erase(many) => self.erase(*many, timeout).await,
            StepKind::HideKeyboard => self.hide_keyboard().await,
            StepKind::ClearKeychain => self.clear_keychain(),
            StepKind::SetPermissions { app, permissions, requested_only } => {
                self.set_permissions(app, permissions, *requested_only).await
            }
            StepKind::Install(file) => self.install(file).await,
            StepKind::AddMedia(file) => self.add_media(file).await,
            StepKind::EvalScript(script) => self.eval_script(script).await,
            StepKind::RunScript { file, script, env } => self.run_script(file, script, env).await,
            StepKind::Unavailable(what) => Err(StepError::new(FailureKind::Step, what.clone())),
            StepKind::ExpectDeviceClipboard(text) => {
                self.expect_device_clipboard(text, timeout).await
            }
            StepKind::PasteDeviceClipboard => self.paste_device_clipboard(timeout).await,
            StepKind::ExpectScreenshot(golden) => self.expect_screenshot(golden, timeout).await,
            StepKind::WaitUntilIdle(time) => self.wait_until_idle(*time).await,
            StepKind::Goal(goal) => self.run_goal(goal).await,
            StepKind::Run { .. }
            | StepKind::When { .. }
            | StepKind::While { .. }
            | StepKind::Define(_) => Ok(()),
        }
    }

    pub(super) async fn type_text(
        &mut self,
        typing: TextInput,
        timeout: Duration,
    ) -> Result<(), StepError> {
        let typed = self
            .until(timeout, async |runner| runner.attempt(request::Type(typing.clone())).await)
            .await?;
        match typed.field {
            Readback::Differs { shows } if !self.repairs(&typing).await => {
                let what = format!("the field shows {shows:?} instead of the typed text");
                Err(StepError::new(FailureKind::Step, what))
            }
            _ => Ok(()),
        }
    }

    /// Whether a field that seemed to have another text shows this one: the screen was late, or
    /// lost characters are typed again.
    async fn repairs(&mut self, typing: &TextInput) -> bool {
        let Some(snapshot) = self.snapshot().await else { return false };
        let nodes = &snapshot.tree.nodes;
        let Some(at) = text_field::focused(&snapshot.tree).filter(|_| !typing.clear) else {
            return false;
        };
        let (shows, is_hidden) = (&*nodes[at].text, nodes[at].flags.password);
        let mut rest = typing.text.chars();
        // Nothing else was in the field before if it has only characters of this text. One that is
        // empty may have taken the text and gone on.
        let is_part = !shows.is_empty() && shows.chars().all(|shown| rest.any(|c| c == shown));
        let again = TextInput { clear: true, ..typing.clone() };
        (shows == typing.text && !is_hidden)
            || ((is_part || is_hidden)
                && self
                    .ask(request::Type(again))
                    .await
                    .is_ok_and(|typed| !matches!(typed.field, Readback::Differs { .. })))
    }

    async fn run_goal(&mut self, goal: &str) -> Result<(), StepError> {
        let CaseContext { goals, perform, recorder, call, .. } = &self.context;
        let Some(goals) = goals else {
            return Err(StepError::new(
                FailureKind::Goal,
                "no model is configured for the goal. Name one with --model",
            ));
        };
        let reached = goals.run_goal(Arc::clone(perform), recorder.clone(), call, goal).await;
        reached.map_err(|reason| match self.is_over() {
            true => StepError::new(FailureKind::TimedOut, reason),
            false => StepError::new(FailureKind::Goal, reason),
        })
    }
}

pub(super) fn here(step: &FlowStep, error: StepError) -> StepFailure {
    StepFailure { error, text: step.to_string(), at: step.at.clone() }
}

/// A text for whatever takes keys: Maestro's `inputText` does not ask for a field with the focus.
pub(super) fn anywhere(text: impl Into<String>) -> TextInput {
    TextInput { blind: true, ..TextInput::of(text) }
}
