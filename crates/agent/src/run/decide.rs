//! LLM_INTERACTION: the policy is shown the screen and decides.

use std::time::Duration;

use thumbwire_core::snapshot::numbered_outline;
use tokio::time::{Instant, timeout, timeout_at};

use super::memory::not_shown;
use super::step::{CapturedScreen, PhaseError, StepInProgress};
use crate::event::AgentEvent;
use crate::policy::observation::Observation;

/// Asks the policy what to do on this screen (UFO's `MobileLLMInteractionStrategy`).
///
/// # Errors
/// No decision was made.
pub(crate) async fn decide(step: &mut StepInProgress<'_>) -> Result<(), PhaseError> {
    if step.is_over() {
        return Err(PhaseError("the run ended before a decision".into()));
    }
    // Failures to read the screen are reported in the same step.
    step.feedback.extend(step.failures.iter().map(|reason| not_shown(reason)));
    let observation = observation(step, &step.screen);
    AgentEvent::ModelRequested { policy: step.policy.name() }.send(step.watch);
    let began = Instant::now();
    let deciding = step.policy.decide(&observation, step.call, step.watch);
    let output = match with_timeout(step, deciding).await {
        Some(Ok(output)) => output,
        Some(Err(undecided)) => {
            step.spent.add(&undecided.spent);
            return Err(PhaseError(undecided.reason));
        }
        None => return Err(PhaseError("the run ended while the policy was deciding".into())),
    };
    step.spent.add(&output.spent);
    step.status = output.decision.status;
    let (decision, usage) = (Box::new(output.decision.clone()), output.spent.clone());
    AgentEvent::Decided { decision, usage, took: began.elapsed() }.send(step.watch);
    step.output = Some(output);
    Ok(())
}

/// What the policy is shown, with this screen.
pub(crate) fn observation(step: &StepInProgress<'_>, screen: &CapturedScreen) -> Observation {
    let apps = step.leaves.apps.as_ref();
    Observation {
        request: step.request.to_owned(),
        round: step.number,
        previous_plan: step.memory.plan().to_vec(),
        last_success_actions: step.memory.last_success_actions(),
        history: step.memory.history(),
        installed_apps: apps.map(|apps| apps.installed.clone()).unwrap_or_default(),
        apps: apps.map(|apps| apps.launchable.clone()).unwrap_or_default(),
        current_controls: screen.rows.clone(),
        screen: screen.state.controls.as_deref().map(numbered_outline).unwrap_or_default(),
        size: screen.size,
        app: screen.state.app.clone(),
        feedback: step.feedback.clone(),
        anomalies: step.before.anomalies.clone(),
        repaired: step.before.repaired.clone(),
        blackboard: step.memory.blackboard(),
        secrets: step.secrets.to_vec(),
        functions: step.functions.all(),
        clean: screen.clean.clone(),
        marked: screen.annotated.clone(),
        doubt: screen.doubt.clone(),
        stuck: step.stuck.clone(),
        left: step.remaining.clone(),
    }
}

/// The policy's answer; `None` if the run ended first. A policy ends by itself after a cancellation
/// and reports its usage; one that does not is abandoned.
pub(crate) async fn with_timeout<T>(
    step: &StepInProgress<'_>,
    answer: impl Future<Output = T>,
) -> Option<T> {
    const GRACE: Duration = Duration::from_secs(1);
    let answer = timeout_at(step.call.deadline + GRACE, answer);
    tokio::pin!(answer);
    tokio::select! {
        biased;
        answer = &mut answer => answer.ok(),
        () = step.call.cancelled.cancelled() => timeout(GRACE, answer).await.ok()?.ok(),
    }
}
