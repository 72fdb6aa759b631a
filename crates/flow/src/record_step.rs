//! Records the steps of a case in its trace, with the screen before and after each.
//!
//! Start with [`CaseRunner::recorded_step`]. One picture is taken per step, when it ends: it is
//! also the picture before the next one. A step that waits for what it touches takes another, so
//! that the touch is shown on the screen that it met.

use std::time::Duration;

use thumbwire_core::action::{Action, Outcome, ScreenshotAndSnapshot, ScreenshotOptions, request};
use thumbwire_core::trace::Recorder;
use thumbwire_core::trace::format::{NamedStep, TraceRecord};
use tokio::time::Instant;

use super::case_runner::CaseRunner;
use super::plan::{FlowStep, StepKind};
use super::report::FailureKind;
use super::run_step::StepFailure;
use super::step_trail::{OpenStep, Picture};

/// How old the picture before a touch may be while a step waits.
const MAX_PICTURE_AGE: Duration = Duration::from_secs(1);

impl CaseRunner<'_> {
    /// Runs a step, and records it if there is a trace.
    pub(super) async fn recorded_step(
        &mut self,
        step: &FlowStep,
        depth: usize,
    ) -> Result<(), StepFailure> {
        let Some(recorder) = self.context.recorder.clone() else {
            return self.step(step, depth).await;
        };
        let recorder = &*recorder;
        let first_action = recorder.action_count() + 1;
        let before = match (self.has_picture(recorder), touches(&step.kind)) {
            (None, true) => self.take_picture(recorder).await,
            (before, _) => before,
        };
        let trail = &mut self.state.trail;
        trail.count += 1;
        trail.open.push(OpenStep {
            number: trail.count,
            began: Instant::now(),
            first_action,
            before,
            touches: touches(&step.kind),
            retried: Vec::new(),
            skipped: None,
            waited_for: String::new(),
            comparison: None,
        });
        let done = self.step(step, depth).await;
        let lost = matches!(&done, Err(failure) if failure.error.kind == FailureKind::Phone);
        let after = match (self.has_picture(recorder), lost || step.kind.holds_others()) {
            (None, false) => self.take_picture(recorder).await,
            (after, _) => after,
        };
        let trail = &mut self.state.trail;
        let open = trail.open.pop();
        let parent = trail.open.last().map(|outer| outer.number);
        if let Some(open) = open {
            let record = recorded(step, open, &done, recorder);
            let record = NamedStep { parent, after, ..record };
            if let Err(error) = recorder.write_record(&TraceRecord::NamedStep(Box::new(record))) {
                tracing::warn!("cannot write a step to the trace: {error}");
            }
        }
        done
    }

    /// While a step waits: the picture of the screen that it will touch.
    pub(super) async fn renew_picture(&mut self) {
        let Some(recorder) = self.context.recorder.clone() else { return };
        let trail = &self.state.trail;
        let touches = trail.open.last().is_some_and(|step| step.touches);
        let picture = trail.picture.as_ref();
        let is_old = touches && picture.is_some_and(|it| it.taken.elapsed() >= MAX_PICTURE_AGE);
        if is_old
            && let Some(before) = self.take_picture(&recorder).await
            && let Some(step) = self.state.trail.open.last_mut()
        {
            step.before = Some(before);
        }
    }

    /// Remembers a picture that an action took.
    pub(super) fn notice_picture(&mut self, outcome: &Outcome) {
        let Some(recorder) = &self.context.recorder else { return };
        let (Outcome::Screenshot(picture)
        | Outcome::ScreenshotAndSnapshot(ScreenshotAndSnapshot { screenshot: picture, .. })) =
            outcome
        else {
            return;
        };
        let action = recorder.action_count();
        // The recorder's name for the screenshot of an action.
        let file = format!("{action:04}.{}", picture.image.format.name());
        self.state.trail.picture = Some(Picture { file, action, taken: Instant::now() });
    }

    /// The last picture, if nothing happened since.
    fn has_picture(&self, recorder: &Recorder) -> Option<String> {
        let picture = self.state.trail.picture.as_ref()?;
        (picture.action == recorder.action_count()).then(|| picture.file.clone())
    }

    async fn take_picture(&mut self, recorder: &Recorder) -> Option<String> {
        if !self.context.step_pictures || self.is_over() {
            return None;
        }
        // A step does not fail because its picture cannot be taken.
        self.ask(request::Screenshot(ScreenshotOptions::default())).await.ok()?;
        self.has_picture(recorder)
    }
}

/// Whether a step acts where its picture can show it.
fn touches(kind: &StepKind) -> bool {
    match kind {
        StepKind::Type { .. } | StepKind::Touch(_) | StepKind::SwipeFrom { .. } => true,
        StepKind::Act(action) => matches!(action, Action::Scroll { .. }),
        _ => false,
    }
}

/// The record of a step that ended now, without its place among the others.
fn recorded(
    step: &FlowStep,
    open: OpenStep,
    done: &Result<(), StepFailure>,
    recorder: &Recorder,
) -> NamedStep {
    let kind = step.kind.to_string();
    let (status, reason) = match (done, open.skipped) {
        (Err(failure), _) => ("failed", failure.error.what.clone()),
        (Ok(()), Some(reason)) => ("skipped", reason),
        (Ok(()), None) => ("passed", String::new()),
    };
    let expected = match (&step.kind, done) {
        (StepKind::Expect(expected), Err(failure))
            if failure.error.kind == FailureKind::Expectation =>
        {
            expected.to_string()
        }
        _ => String::new(),
    };
    let last_action = recorder.action_count();
    NamedStep {
        step: open.number,
        parent: None,
        name: step.to_string(),
        does: if step.name.is_some() { kind } else { String::new() },
        place: step.at.to_string(),
        at_ms: recorder.at_ms(open.began),
        duration_ms: u64::try_from(open.began.elapsed().as_millis()).unwrap_or(u64::MAX),
        status: status.into(),
        reason,
        expected,
        retried: open.retried,
        waited_for: open.waited_for,
        action_range: (open.first_action <= last_action)
            .then_some([open.first_action, last_action]),
        before: open.before,
        after: None,
        comparison: open.comparison,
    }
}
