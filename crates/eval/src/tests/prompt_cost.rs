//! What prompts cost: the text that a model is sent in each step, counted in tokens.
//!
//! The scripted policy sends nothing, so the prompt is counted that a model would be sent in its
//! place ([`written_prompt`]). So two versions of the prompt can be compared on the same tasks.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use thumbwire_agent::{
    Agent, AgentOptions, Budgets, ContentPart, Memory, Observation, Policy, PolicyError,
    PolicyOutput, PromptForm, Safeguards, ScreenshotMode, written_prompt,
};
use thumbwire_base::lock;
use thumbwire_core::action::Call;
use thumbwire_core::event::EventSink;

use super::{all, case, in_parallel, prepared};
use crate::env::YesUser;
use crate::policy::ScriptedPolicy;

/// The text of prompts, in tokens.
#[derive(Debug, Clone, Copy, Default)]
struct PromptCost {
    /// Number of prompts: one a step.
    prompts: u64,
    /// Their system parts.
    system: u64,
    /// Their messages.
    messages: u64,
}

/// A scripted policy whose prompts are counted.
struct MeasuredPolicy {
    inner: ScriptedPolicy,
    cost: Mutex<PromptCost>,
}

#[async_trait]
impl Policy for MeasuredPolicy {
    fn name(&self) -> String {
        self.inner.name()
    }

    fn inner(&self) -> Option<&dyn Policy> {
        Some(&self.inner)
    }

    async fn decide(
        &self,
        observation: &Observation,
        call: &Call,
        watch: &dyn EventSink,
    ) -> Result<PolicyOutput, PolicyError> {
        let count = |text: &str| bpe_openai::o200k_base().count(text) as u64;
        let prompt = written_prompt(observation, PromptForm::Compact);
        let parts = prompt.turns.iter().flat_map(|turn| &turn.parts);
        let texts = parts.map(|part| match part {
            ContentPart::Text(text) => count(text),
            ContentPart::Image(_)
            | ContentPart::Call(_)
            | ContentPart::Result(_)
            | ContentPart::Kept(_) => 0,
        });
        let messages: u64 = texts.sum();
        {
            let mut cost = lock(&self.cost);
            cost.prompts += 1;
            cost.system += count(&prompt.system);
            cost.messages += messages;
        }
        self.inner.decide(observation, call, watch).await
    }
}

/// With places, packages and JSON, a step took 2,426 tokens of text on the same screens, 1,919 of
/// them in the system part.
#[test]
fn prompt_of_a_step_stays_within_its_budget() {
    const MAX_TOKENS: u64 = 2_426 / 2;
    let costs = in_parallel(&all(), async |task| {
        let case = case(task, 2);
        let env = prepared(2, &case);
        let policy = Arc::new(MeasuredPolicy {
            inner: ScriptedPolicy::new(case.script.clone()),
            cost: Mutex::default(),
        });
        let options = AgentOptions {
            pictures: ScreenshotMode::None,
            budgets: Budgets { rounds: 100, ..Budgets::default() },
            safeguards: Safeguards::default(),
            log_path: "logs/prompt-cost".into(),
            clock: || jiff::civil::date(2024, 3, 5).at(10, 0, 0, 0),
        };
        let call =
            Call { ask: Arc::new(YesUser), ..Call::with_timeout(Duration::from_secs(3_600)) };
        let agent = Agent::new(Arc::clone(&policy) as Arc<dyn Policy>, env.perform(), options);
        agent.run(&call, &case.goal, Memory::default()).await;
        *lock(&policy.cost)
    });
    let sum = |of: fn(&PromptCost) -> u64| costs.iter().map(of).sum::<u64>();
    let prompts = sum(|cost| cost.prompts);
    let (system, messages) = (sum(|cost| cost.system), sum(|cost| cost.messages));
    println!(
        "{prompts} steps: {} tokens of system part and {} of messages a step",
        system / prompts,
        messages / prompts,
    );
    assert!(prompts >= costs.len() as u64, "{prompts} prompts for {} tasks", costs.len());
    assert!((system + messages) / prompts <= MAX_TOKENS, "{system} + {messages}");
}
