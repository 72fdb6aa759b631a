//! LLM_INTERACTION: the policy is shown the screen and decides.

use std::time::Duration;

use async_trait::async_trait;
use tokio::time::{Instant, timeout, timeout_at};

use super::super::context::PlannedActions;
use super::super::event::AgentEvent;
use super::super::memory::unseen;
use super::super::observation::Observation;
use super::super::step::{CapturedScreen, StepInProgress};
use super::{Strategy, StrategyError};

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

    async fn execute(&self, round: &mut StepInProgress<'_>) -> Result<(), StrategyError> {
        if round.is_over() {
            return Err(StrategyError("the run ended before a decision".into()));
        }
        // Failures to read the screen are reported in the same step.
        round.observations.extend(round.failures.iter().map(|why| unseen(why)));
        let sight = observation(round, &round.screen);
        AgentEvent::ModelRequested { mind: round.mind.name() }.tell(round.watch);
        let began = Instant::now();
        let thinking = within(round, round.mind.decide(&sight, round.call, round.watch)).await;
        let took = began.elapsed();
        let thinking = match thinking {
            Some(Ok(thinking)) => thinking,
            Some(Err(undecided)) => {
                round.spent.add(&undecided.spent);
                return Err(StrategyError(undecided.why));
            }
            None => {
                return Err(StrategyError("the run ended while the policy was deciding".into()));
            }
        };
        round.spent.add(&thinking.spent);
        let decision = &thinking.decision;
        let (told, spent) = (Box::new(decision.clone()), thinking.spent.clone());
        AgentEvent::Decided { decision: told, spent, took }.tell(round.watch);
        round.status = decision.status;
        let context = &mut round.context;
        context.response_text = Some(thinking.response.clone());
        context.llm_cost = thinking.spent.dollars;
        context.prompt_message = Some(thinking.prompt.to_json());
        context.action = Some(PlannedActions(decision.actions.clone(), decision.status));
        context.thought = Some(decision.thought.clone());
        context.comment = Some(decision.comment.clone());
        context.parsed_response = Some(decision.clone());
        round.thinking = Some(thinking);
        Ok(())
    }
}

/// What the policy is shown, with this screen.
pub(in super::super) fn observation(
    round: &StepInProgress<'_>,
    screen: &CapturedScreen,
) -> Observation {
    Observation {
        request: round.context.request.clone().unwrap_or_default(),
        round: round.number,
        previous_plan: round.memory.plan().to_vec(),
        last_success_actions: round.memory.last_success_actions(),
        installed_apps: round.context.installed_apps.clone().unwrap_or_default(),
        current_controls: screen.rows.clone(),
        app: screen.scene.app.clone(),
        feedback: round.observations.clone(),
        blackboard: round.memory.blackboard(),
        secrets: round.secrets.to_vec(),
        functions: round.functions(),
        clean: screen.clean.clone(),
        marked: screen.marked.clone(),
        doubt: screen.doubt.clone(),
        left: round.left.clone(),
    }
}

/// The policy's answer; `None` if the run ended first. A policy ends by itself after a cancellation and reports its
/// usage; one that does not is abandoned.
pub(super) async fn within<T>(
    round: &StepInProgress<'_>,
    answer: impl Future<Output = T>,
) -> Option<T> {
    const GRACE: Duration = Duration::from_secs(1);
    let answer = timeout_at(round.call.deadline + GRACE, answer);
    tokio::pin!(answer);
    tokio::select! {
        biased;
        answer = &mut answer => answer.ok(),
        () = round.call.cancelled.cancelled() => timeout(GRACE, answer).await.ok()?.ok(),
    }
}
