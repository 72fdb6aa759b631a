//! The steps of a case that have begun, and the last picture of the screen.
//!
//! `record_step` writes them to the trace.

use tokio::time::Instant;

use super::event::StepStatus;

/// The steps of a case that have begun.
#[derive(Debug, Default)]
pub(super) struct StepTrail {
    /// How many steps began.
    pub(super) count: u32,
    /// Those that have not ended, the outermost first.
    pub(super) open: Vec<OpenStep>,
    /// The last picture.
    pub(super) picture: Option<Picture>,
}

/// A step that has begun.
#[derive(Debug)]
pub(super) struct OpenStep {
    pub(super) number: u32,
    pub(super) began: Instant,
    /// The number of its first action.
    pub(super) first_action: u32,
    pub(super) before: Option<String>,
    /// Whether it touches what it waits for.
    pub(super) touches: bool,
    pub(super) retried: Vec<String>,
    pub(super) skipped: Option<String>,
    pub(super) waited_for: String,
    pub(super) comparison: Option<String>,
}

/// A picture in the trace's folder.
#[derive(Debug, Clone)]
pub(super) struct Picture {
    pub(super) file: String,
    /// The number of the action that took it.
    pub(super) action: u32,
    pub(super) taken: Instant,
}

impl StepTrail {
    /// Remembers why a step is waiting. The first reason says what was missing.
    pub(super) fn waits(&mut self, reason: &str) {
        if let Some(step) = self.open.last_mut()
            && step.waited_for.is_empty()
        {
            reason.clone_into(&mut step.waited_for);
        }
    }

    /// Remembers the file of a comparison that failed.
    pub(super) fn compares(&mut self, file: &str) {
        if let Some(step) = self.open.last_mut() {
            step.comparison = Some(file.to_owned());
        }
    }

    /// Remembers that the innermost step failed and goes on.
    pub(super) fn reports(&mut self, status: &StepStatus) {
        let Some(step) = self.open.last_mut() else { return };
        match status {
            StepStatus::Retried(reason) => {
                step.retried.push(reason.clone());
                step.waited_for.clear();
            }
            StepStatus::Skipped(reason) => step.skipped = Some(reason.clone()),
            StepStatus::Passed | StepStatus::Failed(_) | StepStatus::Started => {}
        }
    }
}
