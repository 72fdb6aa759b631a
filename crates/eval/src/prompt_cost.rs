//! What prompts cost: the text that a model is sent in each step, counted in tokens.
//!
//! A policy without a model sends nothing: for it the prompt is counted that a model would be sent
//! in its place ([`written_prompt`]). So two versions of the prompt can be compared with the same
//! policy on the same tasks.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use thumbwire_base::lock;

use thumbwire_agent::{
    ContentPart, Observation, Policy, PolicyError, PolicyOutput, Prompt, PromptForm, written_prompt,
};
use thumbwire_core::action::Call;
use thumbwire_core::event::EventSink;

/// The text of the prompts of an attempt's steps, in tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptCost {
    /// Number of prompts: one a step.
    pub rounds: u64,
    /// Their system parts, with the functions of native calls.
    pub system: u64,
    /// Their messages.
    pub messages: u64,
}

impl PromptCost {
    /// Adds another attempt's.
    pub fn add(&mut self, other: Self) {
        self.rounds += other.rounds;
        self.system += other.system;
        self.messages += other.messages;
    }

    /// Tokens per step.
    pub fn per_round(&self) -> f64 {
        (self.system + self.messages) as f64 / self.rounds.max(1) as f64
    }
}

/// Counts the tokens of a text.
pub type CountTokens = fn(&str) -> u64;

/// An estimate without a vocabulary: `o200k_base` makes a token of about four bytes of these
/// prompts.
pub fn estimated_tokens(text: &str) -> u64 {
    (text.len() as u64).div_ceil(4)
}

/// A policy whose prompts are counted.
pub(crate) struct MeasuredPolicy {
    inner: Arc<dyn Policy>,
    count: CountTokens,
    cost: Mutex<PromptCost>,
}

impl MeasuredPolicy {
    pub(crate) fn new(inner: Arc<dyn Policy>, count: CountTokens) -> Self {
        Self { inner, count, cost: Mutex::default() }
    }

    pub(crate) fn cost(&self) -> PromptCost {
        *lock(&self.cost)
    }

    fn add(&self, prompt: &Prompt) {
        let texts = prompt.turns.iter().flat_map(|turn| &turn.parts).map(|part| match part {
            ContentPart::Text(text) => (self.count)(text),
            ContentPart::Image(_) => 0,
            ContentPart::Call(call) => (self.count)(&call.name) + (self.count)(&call.arguments),
            ContentPart::Result(result) => (self.count)(&result.text),
        });
        let tools = prompt.tools.iter().map(|tool| {
            let schema = tool.schema.to_string();
            [&tool.name, &tool.description, &schema]
                .map(|text| (self.count)(text))
                .iter()
                .sum::<u64>()
        });
        let system = (self.count)(&prompt.system) + tools.sum::<u64>();
        lock(&self.cost).add(PromptCost { rounds: 1, system, messages: texts.sum() });
    }
}

#[async_trait]
impl Policy for MeasuredPolicy {
    fn name(&self) -> String {
        self.inner.name()
    }

    fn inner(&self) -> Option<&dyn Policy> {
        Some(&*self.inner)
    }

    async fn decide(
        &self,
        observation: &Observation,
        call: &Call,
        watch: &dyn EventSink,
    ) -> Result<PolicyOutput, PolicyError> {
        let output = self.inner.decide(observation, call, watch).await?;
        match output.prompt.turns.is_empty() {
            true => self.add(&written_prompt(observation, PromptForm::Compact)),
            false => self.add(&output.prompt),
        }
        Ok(output)
    }
}
