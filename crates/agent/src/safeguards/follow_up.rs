//! After an action: reads the screen, verifies the effect, and repairs what needs no decision.
//!
//! Start with [`FollowUp::follow_up`]. [`verify`] finds the anomalies; this module reads, waits and
//! repairs within bounds: for each action a few more snapshots and one repair.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::retarget;
use super::screen_state::ScreenState;
use super::verify::{Anomaly, AttemptedCall, Repair, RepairAction, verify};
use crate::event::AgentEvent;
use crate::functions::{Functions, Phone};
use crate::policy::decision::FunctionCall;
use crate::policy::observation::AnomalyKind;
use thumbwire_core::action::{Controls, request};
use thumbwire_core::event::EventSink;

/// Time limit for reading the screen.
const LOOK: Duration = Duration::from_secs(25);

/// How old a screen may be by which an action is judged.
const RECENT: Duration = Duration::from_secs(2);

/// Follows up on an action.
pub(crate) struct FollowUp<'a> {
    pub(crate) functions: &'a Functions,
    pub(crate) phone: Phone<'a>,
    pub(crate) watch: &'a dyn EventSink,
    /// Whether to repair. Otherwise the screen is only read again.
    pub(crate) repair: bool,
}

/// The result of a follow-up.
#[derive(Debug, Default)]
pub(crate) struct FollowUpReport {
    /// Sentences for the policy.
    pub(crate) text: Vec<String>,
    /// Anomalies that remain.
    pub(crate) anomalies: Vec<AnomalyKind>,
    /// What was repaired.
    pub(crate) repaired: Vec<AnomalyKind>,
    /// The screen at the end.
    pub(crate) after: ScreenState,
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
    pub(crate) async fn follow_up(
        &self,
        before: &ScreenState,
        attempted: &AttemptedCall<'_>,
    ) -> FollowUpReport {
        let judged = |after: &ScreenState| verify(before, attempted, after).into_iter().next();
        let mut attempts = RepairAttempts::default();
        let mut report = FollowUpReport::default();
        let mut after = read_screen(self.phone).await;
        let mut found = judged(&after);
        while let Some(anomaly) = found {
            let Some(repair) = attempts.next(&anomaly, self.repair) else {
                let in_vain = attempts.repaired == Some(anomaly.kind);
                let more = if in_vain { " An automatic repair did not help." } else { "" };
                report.text.push(self.noticed(format!("{}{more}", anomaly.text)));
                report.anomalies.push(anomaly.kind);
                break;
            };
            match repair {
                Repair::Recheck(time) => self.pause(*time).await,
                Repair::Act(steps) => self.perform(steps).await,
            }
            after = read_screen(self.phone).await;
            found = judged(&after);
            let gone = found.as_ref().is_none_or(|now| now.kind != anomaly.kind);
            if gone && matches!(repair, Repair::Act(_)) {
                report.text.push(self.noticed(repaired_message(anomaly.kind).into()));
                report.repaired.push(anomaly.kind);
            }
        }
        FollowUpReport { after, ..report }
    }

    fn noticed(&self, text: String) -> String {
        AgentEvent::AnomalyFound(text.clone()).send(self.watch);
        text
    }

    async fn pause(&self, time: Duration) {
        // If the wait fails, the next snapshot comes early, which does no harm.
        let _ = self.phone.request(request::Wait(time), time + LOOK).await;
    }

    async fn perform(&self, steps: &[RepairAction]) {
        for step in steps {
            let Some(call) = self.aimed(step).await else { return };
            if self.functions.call(&call, self.phone).await.is_err() {
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
        let now = controls(self.phone).await?;
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
        | AnomalyKind::NeighbourOpened
        | AnomalyKind::SystemWindow => "Something went wrong and was repaired.",
    }
}

/// Reads the present screen; empty if that fails.
async fn read_screen(phone: Phone<'_>) -> ScreenState {
    controls(phone).await.map(ScreenState::of).unwrap_or_default()
}

/// The present controls: those that were read at this moment if that is not long ago, else read
/// now; `None` if that fails.
pub(crate) async fn recent_controls(
    phone: Phone<'_>,
    known: Option<&Arc<Controls>>,
    read: Option<Instant>,
) -> Option<Arc<Controls>> {
    match known.zip(read).filter(|(_, read)| read.elapsed() <= RECENT) {
        Some((known, _)) => Some(Arc::clone(known)),
        None => controls(phone).await,
    }
}

/// Reads the present controls, which become the last list; `None` if that fails.
async fn controls(phone: Phone<'_>) -> Option<Arc<Controls>> {
    phone.request(request::Controls { max_age: Duration::ZERO }, LOOK).await.ok()
}
