//! A step in progress: what its phases share.
//!
//! The [`Context`] has the values that the specification names. The other fields are typed data of the phases:
//! screenshots, the snapshot, the decision, the results.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value};
use thumbwire_device::{Image, Size};
use tokio::time::Instant;

use super::confirm::ConfirmMode;
use super::context::Context;
use super::decision::{AgentStatus, FunctionCall};
use super::functions::FunctionExecutor;
use super::memory::Memory;
use super::observation::{ControlRow, LaunchableApp};
use super::options::AgentOptions;
use super::policy::{Policy, PolicyOutput};
use super::screen_state::ScreenState;
use super::trace_writer::TraceWriter;
use super::verify::AnomalyKind;
use thumbwire_core::action::Call;
use thumbwire_core::event::EventSink;
use thumbwire_core::trace::format::{CallRecord, JudgementRecord};

/// A step in progress.
pub(super) struct StepInProgress<'a> {
    pub(super) policy: &'a dyn Policy,
    pub(super) hands: &'a FunctionExecutor<'a>,
    pub(super) options: &'a AgentOptions,
    pub(super) writer: &'a TraceWriter,
    pub(super) watch: &'a dyn EventSink,
    pub(super) call: &'a Call,
    pub(super) memory: &'a Memory,
    /// The names of the secrets that can be typed.
    pub(super) secrets: &'a [String],
    /// Which actions need the user's approval.
    pub(super) confirm: ConfirmMode,
    /// What the previous step left.
    pub(super) before: &'a CarryOver,
    /// Why the steps before led nowhere, if they did.
    pub(super) stuck: Option<String>,
    /// What is left of the budgets, as text.
    pub(super) left: String,
    pub(super) number: u32,
    pub(super) began: Instant,
    /// How many actions the trace had before this step.
    pub(super) steps_before: u32,
    pub(super) context: Context,
    pub(super) screen: CapturedScreen,
    /// Notes for the policy about the previous step, and about reading the screen in this one.
    pub(super) observations: Vec<String>,
    pub(super) thinking: Option<PolicyOutput>,
    pub(super) carried: Vec<CallRecord>,
    /// The calls that were made, without those that were refused or left out.
    pub(super) attempted: Vec<FunctionCall>,
    pub(super) judged: Option<JudgementRecord>,
    /// What this step leaves to the next.
    pub(super) leaves: CarryOver,
    /// The state of the task.
    pub(super) status: AgentStatus,
    /// Failures that did not end the run.
    pub(super) failures: Vec<String>,
    /// The models' usage in this step.
    pub(super) spent: super::model::Usage,
    pub(super) timings: Map<String, Value>,
}

/// What a step leaves to the next one, besides its record.
#[derive(Debug, Clone, Default)]
pub(super) struct CarryOver {
    /// The screen after the last action; `None` if it was not read.
    pub(super) screen: Option<ScreenState>,
    /// When that was read.
    pub(super) read: Option<Instant>,
    /// Anomalies that were not repaired.
    pub(super) kinds: Vec<AnomalyKind>,
    /// Whether an action failed.
    pub(super) failed: bool,
    /// The apps that can be launched, and when they were listed.
    pub(super) apps: Option<ListedApps>,
}

/// The apps that the launcher shows, at one moment.
#[derive(Debug, Clone)]
pub(super) struct ListedApps {
    pub(super) apps: Arc<[LaunchableApp]>,
    pub(super) at: Instant,
}

/// The phone's screen at the start of a step.
#[derive(Debug, Clone, Default)]
pub(super) struct CapturedScreen {
    pub(super) clean: Option<Image>,
    pub(super) marked: Option<Image>,
    /// The size of the screenshot, in pixels.
    pub(super) size: Option<Size>,
    /// The app in front, and the controls behind the rows.
    pub(super) screen: ScreenState,
    /// When the controls were read; `None` if they were not.
    pub(super) read: Option<Instant>,
    pub(super) rows: Vec<ControlRow>,
    /// Whether the screenshot is black: a secure window, or the screen is off.
    pub(super) black: bool,
    /// Why the text alone may not be enough.
    pub(super) doubt: Option<String>,
}

impl StepInProgress<'_> {
    /// Records how long a phase took.
    pub(super) fn timed(&mut self, phase: &str, took: Duration) {
        let millis = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
        self.timings.insert(phase.into(), millis.into());
    }

    /// The functions that can be called.
    pub(super) fn functions(&self) -> Arc<[super::observation::Function]> {
        self.hands.functions()
    }

    /// Whether the policy claims that the goal is reached and all its calls succeeded, but no judgement came.
    pub(super) fn claim_is_unchecked(&self) -> bool {
        let claims =
            self.thinking.as_ref().is_some_and(|it| it.decision.status == AgentStatus::Finish);
        claims
            && self.status == AgentStatus::Continue
            && self.judged.is_none()
            && self.carried.iter().all(|carried| carried.success)
    }

    /// Whether the run was cancelled or is out of time.
    pub(super) fn is_over(&self) -> bool {
        self.call.cancelled.is_cancelled() || Instant::now() >= self.call.deadline
    }
}
