//! A step in progress: what its phases share.

use std::sync::Arc;

use serde_json::{Map, Value};
use thumbwire_core::action::Call;
use thumbwire_core::event::EventSink;
use thumbwire_core::trace::format::{CallRecord, JudgementRecord};
use thumbwire_device::{Image, Size};
use tokio::time::Instant;

use super::memory::Memory;
use super::trace_writer::TraceWriter;
use crate::confirm::ConfirmMode;
use crate::functions::{Functions, Phone};
use crate::model::Usage;
use crate::options::AgentOptions;
use crate::policy::decision::{AgentStatus, Decision, FunctionCall};
use crate::policy::observation::{AnomalyKind, AppRow, ControlRow, LaunchableApp};
use crate::policy::{Policy, PolicyOutput};
use crate::safeguards::screen_state::ScreenState;

/// A step in progress.
pub(crate) struct StepInProgress<'a> {
    pub(crate) policy: &'a dyn Policy,
    pub(crate) functions: &'a Functions,
    pub(crate) phone: Phone<'a>,
    pub(crate) options: &'a AgentOptions,
    pub(crate) writer: &'a TraceWriter,
    pub(crate) watch: &'a dyn EventSink,
    pub(crate) call: &'a Call,
    pub(crate) memory: &'a Memory,
    pub(crate) request: &'a str,
    /// The names of the secrets that can be typed.
    pub(crate) secrets: &'a [String],
    /// Which actions need the user's approval.
    pub(crate) confirm: ConfirmMode,
    /// What the previous step left.
    pub(crate) before: &'a CarryOver,
    /// Why the steps before led nowhere, if they did.
    pub(crate) stuck: Option<String>,
    /// What is left of the budgets, as text.
    pub(crate) remaining: String,
    pub(crate) number: u32,
    pub(crate) began: Instant,
    /// How many actions the trace had before this step.
    pub(crate) actions_before: u32,
    pub(crate) screen: CapturedScreen,
    /// When [`Self::last_screen`] was read; `None` if something was done or waited for since.
    pub(crate) read: Option<Instant>,
    /// Notes for the policy about the previous step, and about reading the screen in this one.
    pub(crate) feedback: Vec<String>,
    /// The policy's answer; `None` until it came.
    pub(crate) output: Option<PolicyOutput>,
    pub(crate) calls: Vec<CallRecord>,
    /// The calls that were made, without those that were refused or left out.
    pub(crate) attempted: Vec<FunctionCall>,
    pub(crate) judgement: Option<JudgementRecord>,
    /// What this step leaves to the next.
    pub(crate) leaves: CarryOver,
    /// The state of the task.
    pub(crate) status: AgentStatus,
    /// Failures that did not end the run.
    pub(crate) failures: Vec<String>,
    /// The models' usage in this step.
    pub(crate) spent: Usage,
    /// How long each phase took, in milliseconds.
    pub(crate) timings: Map<String, Value>,
}

/// What a step leaves to the next one, besides its record.
#[derive(Debug, Clone, Default)]
pub(crate) struct CarryOver {
    /// The screen after the last action; `None` if it was not read.
    pub(crate) screen: Option<ScreenState>,
    /// Anomalies that were not repaired.
    pub(crate) anomalies: Vec<AnomalyKind>,
    /// Anomalies that were repaired.
    pub(crate) repaired: Vec<AnomalyKind>,
    /// Whether an action failed.
    pub(crate) failed: bool,
    /// The apps, and when they were listed.
    pub(crate) apps: Option<ListedApps>,
}

/// The apps at one moment, in the form that the prompt has them in.
#[derive(Debug, Clone)]
pub(crate) struct ListedApps {
    /// Those that the launcher shows.
    pub(crate) launchable: Arc<[LaunchableApp]>,
    /// Those that the user installed.
    pub(crate) installed: Arc<[AppRow]>,
    pub(crate) at: Instant,
}

/// The phone's screen at one moment.
#[derive(Debug, Clone, Default)]
pub(crate) struct CapturedScreen {
    pub(crate) clean: Option<Image>,
    pub(crate) annotated: Option<Image>,
    /// Their files in the run's folder; `None` if they were not saved.
    pub(crate) clean_file: Option<String>,
    pub(crate) annotated_file: Option<String>,
    /// The size of the screenshot, in pixels.
    pub(crate) size: Option<Size>,
    /// The app in front, and the controls behind the rows.
    pub(crate) state: ScreenState,
    pub(crate) rows: Vec<ControlRow>,
    /// Whether the screenshot is black: a secure window, or the screen is off.
    pub(crate) black: bool,
    /// Why the text alone may not be enough.
    pub(crate) doubt: Option<String>,
}

/// Why a phase failed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PhaseError(pub(crate) String);

impl StepInProgress<'_> {
    /// Records how long a phase took.
    pub(crate) fn timed(&mut self, phase: &str, began: Instant) {
        let millis = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.timings.insert(phase.into(), millis.into());
    }

    /// Notes the failure of a part that the step can do without.
    pub(crate) fn tolerate(&mut self, done: Result<(), PhaseError>) {
        if let Err(PhaseError(reason)) = done {
            tracing::warn!("{reason}");
            self.failures.push(reason);
        }
    }

    /// The policy's decision, if it made one.
    pub(crate) fn decision(&self) -> Option<&Decision> {
        self.output.as_ref().map(|output| &output.decision)
    }

    /// The screen after the last action; without one, that which the policy saw.
    pub(crate) fn last_screen(&self) -> &ScreenState {
        self.leaves.screen.as_ref().unwrap_or(&self.screen.state)
    }

    /// A file of the run as it is shown (`log_path` and its name).
    pub(crate) fn path(&self, file: &str) -> String {
        format!("{}/{file}", self.options.log_path)
    }

    /// Whether the policy claims that the goal is reached and all its calls succeeded, but no
    /// judgement came.
    pub(crate) fn claim_is_unchecked(&self) -> bool {
        self.decision().is_some_and(|decision| decision.status == AgentStatus::Finish)
            && self.status == AgentStatus::Continue
            && self.judgement.is_none()
            && self.calls.iter().all(|call| call.success)
    }

    /// Whether the run was cancelled or is out of time.
    pub(crate) fn is_over(&self) -> bool {
        self.call.cancelled.is_cancelled() || Instant::now() >= self.call.deadline
    }
}
