//! A policy that asks a model: writes the prompt, parses the response, and asks again if it is unusable.
//!
//! Start with [`ModelPolicy`]. The prompt is in `prompt`, the parsing in `reply`. How to talk to a provider, and when to
//! retry a request, is up to the model.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;

use super::coordinates::{CoordinateSpace, CoordinateUnit};
use super::decision::Decision;
use super::event::AgentEvent;
use super::examples::Examples;
use super::knowledge::Knowledge;
use super::model::Prompt;
use super::model::{Model, Usage};
use super::observation::Observation;
use super::options::{PromptForm, ScreenshotMode};
use super::policy::{Judgement, Policy, PolicyError, PolicyOutput};
use super::prompt::{self, PromptStyle};
use super::reply;
use thumbwire_core::action::Call;
use thumbwire_core::event::EventSink;

/// How often a model is asked again after an unusable answer (UFO's `JSON_PARSING_RETRY`).
const ASKED_AGAIN: u32 = 3;

/// Decides by asking a model.
pub struct ModelPolicy {
    model: Arc<dyn Model>,
    judge: Option<Arc<dyn Model>>,
    pictures: ScreenshotMode,
    form: PromptForm,
    unit: CoordinateUnit,
    examples: Examples,
    knowledge: Knowledge,
}

impl ModelPolicy {
    /// Asks this model, with the default [`ScreenshotMode`] and [`PromptForm`], the coordinates of its family, and the
    /// built-in examples.
    pub fn new(model: Arc<dyn Model>) -> Self {
        let (examples, knowledge) = (Examples::default(), Knowledge::default());
        let unit = CoordinateUnit::of_model(&model.name());
        let (pictures, form) = (ScreenshotMode::default(), PromptForm::default());
        Self { model, judge: None, pictures, form, unit, examples, knowledge }
    }

    /// Sets which screenshots are sent.
    pub fn with_pictures(self, pictures: ScreenshotMode) -> Self {
        Self { pictures, ..self }
    }

    /// Sets how prompts are written.
    pub fn with_prompt_form(self, form: PromptForm) -> Self {
        Self { form, ..self }
    }

    /// Sets the coordinates that the model reads and writes.
    pub fn with_coordinates(self, unit: CoordinateUnit) -> Self {
        Self { unit, ..self }
    }

    /// How a prompt about this screen is written.
    fn style(&self, observation: &Observation) -> PromptStyle {
        // Without pictures there are no pixels but those of the screen.
        let picture = |size| match self.pictures {
            ScreenshotMode::None => size,
            _ => self.model.picture_size(size),
        };
        let space = CoordinateSpace::of(self.unit, observation.size, picture);
        PromptStyle { pictures: self.pictures, form: self.form, space }
    }

    /// Sets the examples.
    pub fn with_examples(self, examples: Examples) -> Self {
        Self { examples, ..self }
    }

    /// Adds passages of these documents.
    pub fn with_knowledge(self, knowledge: Knowledge) -> Self {
        Self { knowledge, ..self }
    }

    /// Lets another model judge whether the goal is reached.
    pub fn with_judge(self, judge: Arc<dyn Model>) -> Self {
        Self { judge: Some(judge), ..self }
    }
}

#[async_trait]
impl Policy for ModelPolicy {
    fn name(&self) -> String {
        self.model.name()
    }

    async fn decide(
        &self,
        observation: &Observation,
        call: &Call,
        watch: &dyn EventSink,
    ) -> Result<PolicyOutput, PolicyError> {
        let examples = self.examples.chosen(&observation.request, &observation.functions);
        // Searched with the request alone, so that the passages are the same in every step.
        let documents = self.knowledge.search(&observation.request);
        let style = self.style(observation);
        let prompt = prompt::round(observation, &style, &examples, &documents);
        let shape = prompt::decision_schema(&observation.functions);
        let read = |text: &str, cut_off| reply::decision(text, cut_off, &observation.functions);
        let asked = ask(&*self.model, prompt, &shape, read, call, watch).await?;
        let ModelReply { prompt, response, said: mut decision, spent, unreadable } = asked;
        decision.actions.iter_mut().for_each(|call| style.space.to_screen(call));
        Ok(PolicyOutput { prompt, response, decision, spent, unreadable })
    }

    async fn judge(
        &self,
        observation: &Observation,
        claim: &Decision,
        call: &Call,
        watch: &dyn EventSink,
    ) -> Result<Option<Judgement>, PolicyError> {
        let model = self.judge.as_ref().unwrap_or(&self.model);
        let prompt = prompt::judgement(observation, claim, self.pictures);
        let shape = prompt::judgement_schema();
        let asked = ask(&**model, prompt, &shape, reply::parse_judgement, call, watch).await?;
        let ModelReply { prompt, response, said, spent, .. } = asked;
        let reply::ParsedJudgement { reached, reason } = said;
        Ok(Some(Judgement { reached, reason, prompt, response, spent }))
    }
}

/// A usable answer.
struct ModelReply<T> {
    /// The last prompt, including earlier unusable answers.
    prompt: Prompt,
    response: String,
    said: T,
    spent: Usage,
    unreadable: u32,
}

/// Asks, and asks again if the answer is unusable.
async fn ask<T>(
    model: &dyn Model,
    mut prompt: Prompt,
    shape: &Value,
    read: impl Fn(&str, bool) -> Result<T, String>,
    call: &Call,
    watch: &dyn EventSink,
) -> Result<ModelReply<T>, PolicyError> {
    let mut spent = Usage::default();
    let mut unreadable = 0;
    loop {
        let heard = |text: &str| AgentEvent::ModelText(text.to_owned()).send(watch);
        let answer = match model.complete(&prompt, Some(shape), call, &heard).await {
            Ok(answer) => answer,
            Err(unanswered) => {
                spent.add(&unanswered.usage);
                return Err(PolicyError {
                    reason: unanswered.reason,
                    spent,
                    cancelled: unanswered.cancelled,
                });
            }
        };
        spent.add(&answer.usage);
        let wrong = match read(&answer.text, answer.truncated) {
            Ok(said) => {
                return Ok(ModelReply { prompt, response: answer.text, said, spent, unreadable });
            }
            Err(wrong) => wrong,
        };
        if call.cancelled.is_cancelled() {
            return Err(PolicyError {
                reason: "the call was cancelled".into(),
                spent,
                cancelled: true,
            });
        }
        if unreadable == ASKED_AGAIN {
            let reason = format!(
                "none of {} answers from {} could be used; the last one: {wrong}. Try another model, or --json-schema",
                unreadable + 1,
                model.name(),
            );
            return Err(PolicyError { reason, spent, cancelled: false });
        }
        unreadable += 1;
        AgentEvent::ModelRetried { reason: wrong.clone() }.send(watch);
        prompt::repair(&mut prompt, &answer.text, &wrong);
    }
}

#[cfg(test)]
mod tests;
