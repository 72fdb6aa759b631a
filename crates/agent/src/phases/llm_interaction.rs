//! LLM_INTERACTION: the policy is shown the screen and decides.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::time::{Instant, timeout, timeout_at};

use super::super::context::PlannedActions;
use super::super::event::AgentEvent;
use super::super::memory::not_shown;
use super::super::observation::Observation;
use super::super::step::{CapturedScreen, StepInProgress};
use super::{Strategy, StrategyError};
use thumbwire_core::snapshot::numbered_outline;

/// `MobileLLMInteractionStrategy`.
pub(super) struct LlmInteraction;

#[async_trait]
impl Strategy for LlmInteraction {
    fn name(&self) -> &'static str {
        "MobileLLMInteractionStrategy"
    }

    fn dependencies(&self) -> Vec<&'static str> {
        vec!["installed_apps", "current_controls", "clean_screenshot_url"]
    }

    fn provides(&self) -> Vec<&'static str> {
        vec![
            "parsed_response",
            "response_text",
            "llm_cost",
            "prompt_message",
            "action",
            "thought",
            "comment",
        ]
    }

    fn fail_fast(&self) -> bool {
        true
    }

    async fn execute(&self, step: &mut StepInProgress<'_>) -> Result<(), StrategyError> {
        if step.is_over() {
            return Err(StrategyError("the run ended before a decision".into()));
        }
        // Failures to read the screen are reported in the same step.
        step.observations.extend(step.failures.iter().map(|why| not_shown(why)));
        let sight = observation(step, &step.screen);
        AgentEvent::ModelRequested { policy: step.policy.name() }.send(step.watch);
        let began = Instant::now();
        let thinking = with_timeout(step, step.policy.decide(&sight, step.call, step.watch)).await;
        let took = began.elapsed();
        let thinking = match thinking {
            Some(Ok(thinking)) => thinking,
            Some(Err(undecided)) => {
                step.spent.add(&undecided.spent);
                return Err(StrategyError(undecided.reason));
            }
            None => {
                return Err(StrategyError("the run ended while the policy was deciding".into()));
            }
        };
        step.spent.add(&thinking.spent);
        let decision = &thinking.decision;
        let (boxed, usage) = (Box::new(decision.clone()), thinking.spent.clone());
        AgentEvent::Decided { decision: boxed, usage, took }.send(step.watch);
        step.status = decision.status;
        let context = &mut step.context;
        context.response_text = Some(thinking.response.clone());
        context.llm_cost = thinking.spent.dollars;
        context.prompt_message = Some(thinking.prompt.to_json());
        context.action = Some(PlannedActions(decision.actions.clone(), decision.status));
        context.thought = Some(decision.thought.clone());
        context.comment = Some(decision.comment.clone());
        context.parsed_response = Some(decision.clone());
        step.thinking = Some(thinking);
        Ok(())
    }
}

/// What the policy is shown, with this screen.
pub(in super::super) fn observation(
    step: &StepInProgress<'_>,
    screen: &CapturedScreen,
) -> Observation {
    Observation {
        request: step.context.request.clone().unwrap_or_default(),
        round: step.number,
        previous_plan: step.memory.plan().to_vec(),
        last_success_actions: step.memory.last_success_actions(),
        history: step.memory.history(),
        installed_apps: step.context.installed_apps.clone().unwrap_or_default(),
        apps: step.leaves.apps.as_ref().map(|listed| Arc::clone(&listed.apps)).unwrap_or_default(),
        current_controls: screen.rows.clone(),
        screen: screen.screen.controls.as_deref().map(numbered_outline).unwrap_or_default(),
        size: screen.size,
        app: screen.screen.app.clone(),
        feedback: step.observations.clone(),
        blackboard: step.memory.blackboard(),
        secrets: step.secrets.to_vec(),
        functions: step.functions(),
        clean: screen.clean.clone(),
        marked: screen.marked.clone(),
        doubt: screen.doubt.clone(),
        stuck: step.stuck.clone(),
        left: step.left.clone(),
    }
}

/// The policy's answer; `None` if the run ended first. A policy ends by itself after a cancellation and reports its
/// usage; one that does not is abandoned.
pub(super) async fn with_timeout<T>(
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
