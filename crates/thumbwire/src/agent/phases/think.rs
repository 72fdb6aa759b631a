//! LLM_INTERACTION: the mind is shown what there is, and decides.

use std::time::Duration;

use async_trait::async_trait;
use tokio::time::{Instant, timeout, timeout_at};

use super::super::context::Action;
use super::super::memory::unseen;
use super::super::round::{Round, Screen};
use super::super::sight::Sight;
use super::super::watch::Event;
use super::{Broken, Strategy};

/// `MobileLLMInteractionStrategy`.
pub(super) struct Interaction;

#[async_trait]
impl Strategy for Interaction {
    fn name(&self) -> &'static str {
        "MobileLLMInteractionStrategy"
    }

    fn needs(&self) -> Vec<&'static str> {
        vec!["installed_apps", "current_controls", "clean_screenshot_url"]
    }

    fn gives(&self) -> Vec<&'static str> {
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

    fn fails_fast(&self) -> bool {
        true
    }

    async fn carry_out(&self, round: &mut Round<'_>) -> Result<(), Broken> {
        if round.is_over() {
            return Err(Broken("the run was ended before a decision".into()));
        }
        // What failed in the looks of this round is told at once.
        round.observations.extend(round.failures.iter().map(|why| unseen(why)));
        let sight = sight(round, &round.screen);
        let name = round.mind.name();
        round.watch.tell(&Event::Thinking { mind: &name });
        let began = Instant::now();
        let thinking = within(round, round.mind.decide(&sight, round.call, round.watch)).await;
        let took = began.elapsed();
        let thinking = match thinking {
            Some(Ok(thinking)) => thinking,
            Some(Err(undecided)) => {
                round.spent.add(&undecided.spent);
                return Err(Broken(undecided.why));
            }
            None => return Err(Broken("the run was ended while the mind was deciding".into())),
        };
        round.spent.add(&thinking.spent);
        let decision = &thinking.decision;
        round.watch.tell(&Event::Decided { decision, spent: &thinking.spent, took });
        round.status = decision.status;
        let context = &mut round.context;
        context.response_text = Some(thinking.response.clone());
        context.llm_cost = thinking.spent.dollars;
        context.prompt_message = Some(thinking.prompt.to_json());
        context.action = Some(Action(decision.actions.clone(), decision.status));
        context.thought = Some(decision.thought.clone());
        context.comment = Some(decision.comment.clone());
        context.parsed_response = Some(decision.clone());
        round.thinking = Some(thinking);
        Ok(())
    }
}

/// What a mind is shown, with this screen.
pub(in super::super) fn sight(round: &Round<'_>, screen: &Screen) -> Sight {
    Sight {
        request: round.context.request.clone().unwrap_or_default(),
        round: round.number,
        previous_plan: round.memory.plan().to_vec(),
        last_success_actions: round.memory.last_success_actions(),
        installed_apps: round.context.installed_apps.clone().unwrap_or_default(),
        current_controls: screen.rows.clone(),
        app: screen.scene.app.clone(),
        observations: round.observations.clone(),
        blackboard: round.memory.blackboard(),
        secrets: round.secrets.to_vec(),
        functions: round.functions(),
        clean: screen.clean.clone(),
        marked: screen.marked.clone(),
        doubt: screen.doubt.clone(),
        left: round.left.clone(),
    }
}

/// What the mind answers; `None` where the run ended first. A mind ends by itself when the call is taken back, and tells what was spent;
/// one that does not is left behind.
pub(super) async fn within<T>(round: &Round<'_>, answer: impl Future<Output = T>) -> Option<T> {
    const GRACE: Duration = Duration::from_secs(1);
    let answer = timeout_at(round.call.deadline + GRACE, answer);
    tokio::pin!(answer);
    tokio::select! {
        biased;
        answer = &mut answer => answer.ok(),
        () = round.call.cancelled.cancelled() => timeout(GRACE, answer).await.ok()?.ok(),
    }
}
