//! A model without a network: it reads nothing but the text of its prompt, and answers with text.
//!
//! [`PromptOnlyModel`] knows a task's script, as hints from a person, like the scripted policy. But
//! it gets no observation: it finds the screen, what went wrong and what came of its last action in
//! the prompt that a model gets ([`prompt_text`](mod@super::prompt_text)), and answers with the JSON
//! that the prompt asks for. So whatever it needs must be in the prompt, and whatever it says must
//! survive the parsing.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use serde_json::{Value, json};
use thumbwire_base::lock;

use super::prompt_text::PromptText;
use crate::policy::stepper::{Progress, ScriptStepper};
use crate::script::ScriptStep;
use thumbwire_agent::model::{Model, ModelError, ModelResponse, OnText, Usage};
use thumbwire_agent::{
    AgentStatus, ContentPart, Decision, ModelPolicy, Policy, Prompt, ScreenshotMode,
};
use thumbwire_core::action::Call;

/// Reads the text of its prompt.
pub(crate) struct PromptOnlyModel {
    script: Vec<ScriptStep>,
    state: Mutex<Progress>,
    /// The last answer.
    last: Mutex<String>,
}

impl PromptOnlyModel {
    /// A model that follows this script.
    pub(crate) fn new(script: Vec<ScriptStep>) -> Self {
        Self { script, state: Mutex::default(), last: Mutex::default() }
    }

    /// A policy that asks this model.
    pub(crate) fn policy(self) -> Arc<dyn Policy> {
        Arc::new(ModelPolicy::new(Arc::new(self)).with_pictures(ScreenshotMode::None))
    }

    fn answer(&self, message: &str) -> String {
        let read = PromptText::read(message);
        let mut seen = read.observation();
        let mut state = lock(&self.state);
        let last = state.last.as_ref().map(|(_, call)| call.clone());
        let done =
            |function: &str| matches!(&read.last_action, Some((name, false)) if name == function);
        seen.last_done = last.filter(|call| done(&call.function));
        if read.is_judgement {
            // An unreadable screen does not refute a claim.
            let unread = seen.rows.is_empty();
            let decision = ScriptStepper::new(&self.script, &mut state.clone(), seen).decide();
            let reached = unread || decision.status == AgentStatus::Finish;
            return json!({ "why": decision.thought, "reached": reached }).to_string();
        }
        write(&ScriptStepper::new(&self.script, &mut state, seen).decide())
    }
}

/// A decision in the form that the prompt asks for.
fn write(decision: &Decision) -> String {
    let Decision { thought, actions, status, comment, result, .. } = decision;
    let action = match actions.first() {
        Some(call) => json!({
            "function": call.function,
            "arguments": call.arguments,
            "status": status,
        }),
        None => json!({ "function": "", "arguments": {}, "status": status }),
    };
    let result = if result.is_empty() { comment } else { result };
    json!({ "thought": thought, "action": action, "comment": comment, "result": result })
        .to_string()
}

#[async_trait]
impl Model for PromptOnlyModel {
    fn name(&self) -> String {
        "prompt-only".into()
    }

    async fn complete(
        &self,
        prompt: &Prompt,
        _shape: Option<&Value>,
        _call: &Call,
        on_text: &OnText<'_>,
    ) -> Result<ModelResponse, ModelError> {
        let texts = |part: &ContentPart| match part {
            ContentPart::Text(text) => Some(text.clone()),
            _ => None,
        };
        let parts = prompt.turns.first().map_or(&[][..], |turn| &turn.parts);
        let message: Vec<String> = parts.iter().filter_map(texts).collect();
        // Later turns repeat an unusable answer, and say what is wrong with it.
        if prompt.turns.len() == 1 {
            *lock(&self.last) = self.answer(&message.join("\n"));
        }
        let text = lock(&self.last).clone();
        on_text(&text);
        let usage = Usage { calls: 1, ..Usage::default() };
        Ok(ModelResponse { text, usage, ..ModelResponse::default() })
    }
}
