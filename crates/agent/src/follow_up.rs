//! After an action: reads the screen, verifies the effect, and repairs what needs no decision.
//!
//! Start with [`FollowUp::follow_up`]. [`super::verify()`] finds the anomalies; this module reads, waits and repairs within
//! bounds: for each action a few more snapshots and one repair.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::decision::FunctionCall;
use super::event::AgentEvent;
use super::functions::FunctionExecutor;
use super::retarget;
use super::screen_state::ScreenState;
use super::verify::{Anomaly, AnomalyKind, AttemptedCall, Repair, RepairAction, verify};
use thumbwire_core::action::{Action, Controls, Outcome};
use thumbwire_core::event::EventSink;
use thumbwire_core::toolset::app_tools::is_app_tool;
use thumbwire_device::Front;

/// Time limit for reading the screen.
const LOOK: Duration = Duration::from_secs(25);

/// How old a screen may be by which an action is judged.
const RECENT: Duration = Duration::from_secs(2);

/// Follows up on an action.
pub(super) struct FollowUp<'a> {
    pub(super) hands: &'a FunctionExecutor<'a>,
    pub(super) watch: &'a dyn EventSink,
    /// Whether to repair. Otherwise the screen is only read again.
    pub(super) repair: bool,
}

/// The result of a follow-up.
#[derive(Debug, Default)]
pub(super) struct FollowUpReport {
    /// Sentences for the policy.
    pub(super) text: Vec<String>,
    /// Anomalies that remain.
    pub(super) kinds: Vec<AnomalyKind>,
    /// The screen at the end.
    pub(super) after: ScreenState,
}

/// The repairs that were tried for one call.
#[derive(Default)]
struct RepairAttempts {
    /// The kinds for which the screen was read again, once each.
    looked: Vec<AnomalyKind>,
    /// The kind for which calls were made; once in all.
    repaired: Option<AnomalyKind>,
}

impl RepairAttempts {
    /// The mildest repair that was not tried yet.
    fn next<'a>(&mut self, finding: &'a Anomaly, repair: bool) -> Option<&'a Repair> {
        let kind = finding.kind;
        let next = finding.repairs.iter().find(|one| match one {
            Repair::Recheck(_) => !self.looked.contains(&kind),
            Repair::Act(_) => repair && self.repaired.is_none(),
        });
        match next {
            Some(Repair::Recheck(_)) => self.looked.push(kind),
            Some(Repair::Act(_)) => self.repaired = Some(kind),
            None => {}
        }
        next
    }
}

impl FollowUp<'_> {
    /// Verifies the effect of a call since `before`, and repairs what needs no decision.
    pub(super) async fn follow_up(
        &self,
        before: &ScreenState,
        attempted: &AttemptedCall<'_>,
    ) -> FollowUpReport {
        let judged = |after: &ScreenState| verify(before, attempted, after).into_iter().next();
        let mut tries = RepairAttempts::default();
        let mut says = Vec::new();
        let mut after = scene(self.hands).await;
        let mut found = judged(&after);
        while let Some(finding) = found {
            let Some(repair) = tries.next(&finding, self.repair) else {
                let in_vain = tries.repaired == Some(finding.kind);
                let more = if in_vain { " An automatic repair did not help." } else { "" };
                says.push(self.noticed(format!("{}{more}", finding.text)));
                return FollowUpReport { text: says, kinds: vec![finding.kind], after };
            };
            match repair {
                Repair::Recheck(time) => self.pause(*time).await,
                Repair::Act(steps) => self.perform(steps).await,
            }
            after = scene(self.hands).await;
            found = judged(&after);
            let gone = found.as_ref().is_none_or(|now| now.kind != finding.kind);
            if gone && matches!(repair, Repair::Act(_)) {
                says.push(self.noticed(repaired_message(finding.kind).into()));
            }
        }
        FollowUpReport { text: says, kinds: Vec::new(), after }
    }

    fn noticed(&self, text: String) -> String {
        AgentEvent::AnomalyFound(text.clone()).send(self.watch);
        text
    }

    async fn pause(&self, time: Duration) {
        // If the wait fails, the next snapshot comes early, which does no harm.
        let _ = self.hands.perform(Action::Wait(time), time + LOOK).await;
    }

    async fn perform(&self, steps: &[RepairAction]) {
        for step in steps {
            let Some(doing) = self.aimed(step).await else { return };
            if !self.hands.act(&doing).await.succeeded() {
                return;
            }
        }
    }

    /// The call with the present number of its control; `None` if the control is gone.
    async fn aimed(&self, step: &RepairAction) -> Option<FunctionCall> {
        let Some((listed, node)) = &step.target else { return Some(step.call.clone()) };
        let mut call = step.call.clone();
        call.set_control(listed.number_of(*node)?);
        call.arguments
            .insert("control_name".into(), listed.snapshot.tree.nodes[*node].name().into());
        let now = controls(self.hands).await?;
        retarget::retarget(&call, listed, &now).ok()
    }
}

/// Tells the policy what was repaired.
fn repaired_message(kind: AnomalyKind) -> &'static str {
    match kind {
        AnomalyKind::TextMismatch => {
            "The typed text was missing from the field at first and was typed again."
        }
        AnomalyKind::WrongApp => {
            "The app did not come to the front at first and was started again."
        }
        AnomalyKind::Crashed => {
            "The app crashed. The dialog was closed and the app started again: it shows its first screen, and unsaved changes are lost."
        }
        AnomalyKind::NotResponding => {
            "The app did not answer at first; after a wait it responds again."
        }
        AnomalyKind::KeyboardCovers => {
            "The keyboard covered the control. What the tap typed was removed, the keyboard hidden, and the control tapped."
        }
        AnomalyKind::TargetMoved => {
            "The control had moved before the tap landed, and was tapped where it is now."
        }
        AnomalyKind::NoEffect
        | AnomalyKind::EndOfList
        | AnomalyKind::ToggleUnchanged
        | AnomalyKind::LeftApp
        | AnomalyKind::SystemWindow => "Something went wrong and was repaired.",
    }
}

/// Reads the present screen, as far as possible.
pub(super) async fn scene(hands: &FunctionExecutor<'_>) -> ScreenState {
    let controls = controls(hands).await;
    let front = match hands.perform(Action::CurrentApp, LOOK).await {
        Ok(Outcome::Foreground(front)) => front,
        _ => Front::Unknown,
    };
    ScreenState::new(controls, front.app())
}

/// The present controls: those that were read at this moment if that is not long ago, else read now; `None` if that fails.
pub(super) async fn recent_controls(
    hands: &FunctionExecutor<'_>,
    known: Option<&Arc<Controls>>,
    read: Option<Instant>,
) -> Option<Arc<Controls>> {
    match known.zip(read).filter(|(_, read)| read.elapsed() <= RECENT) {
        Some((known, _)) => Some(Arc::clone(known)),
        None => controls(hands).await,
    }
}

/// Reads the present controls, which become the last list; `None` if that fails.
pub(super) async fn controls(hands: &FunctionExecutor<'_>) -> Option<Arc<Controls>> {
    let list = Action::Controls { max_age: Duration::ZERO };
    match hands.perform(list, LOOK).await {
        Ok(Outcome::Controls(controls)) => Some(controls),
        _ => None,
    }
}

/// Whether a snapshot is worthwhile after a call of this function. Functions of apps count: their effect may be
/// visible, and they may open a window.
pub(super) fn is_act(function: &str) -> bool {
    is_app_tool(function)
        || matches!(
            function,
            "tap"
                | "swipe"
                | "type_text"
                | "launch_app"
                | "press_key"
                | "click_control"
                | "scroll"
                | "long_press"
                | "double_tap"
                | "drag"
                | "back"
                | "home"
                | "recents"
                | "open_url"
                | "set_clipboard"
        )
}
