//! A mind that asks a model: writes the prompt, reads the answer, and asks again where that cannot be used.
//!
//! Begin with [`Prompter`]. What the prompt says stands in `prompt`, how answers are read in `reply`. How a provider is spoken to, and when a
//! request is sent again, is the model's own matter.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;

use super::examples::Examples;
use super::knowledge::Knowledge;
use super::mind::{Judgement, Mind, Thinking, Undecided};
use super::model::{Model, Spent};
use super::options::Pictures;
use super::prompt::{self, Prompt};
use super::reply::{self, Decision};
use super::sight::Sight;
use super::watch::{Event, Watch};
use crate::action::Call;

/// How often a model is asked again whose answer cannot be used (UFO's `JSON_PARSING_RETRY`).
const ASKED_AGAIN: u32 = 3;

/// Decides by asking a model.
pub struct Prompter {
    model: Arc<dyn Model>,
    judge: Option<Arc<dyn Model>>,
    pictures: Pictures,
    examples: Examples,
    knowledge: Knowledge,
}

impl Prompter {
    /// Asks this model, shows it pictures as [`Pictures`] has it by default, and our own examples.
    pub fn new(model: Arc<dyn Model>) -> Self {
        let (examples, knowledge) = (Examples::default(), Knowledge::default());
        Self { model, judge: None, pictures: Pictures::default(), examples, knowledge }
    }

    /// Shows these pictures.
    pub fn with_pictures(self, pictures: Pictures) -> Self {
        Self { pictures, ..self }
    }

    /// Shows these examples.
    pub fn with_examples(self, examples: Examples) -> Self {
        Self { examples, ..self }
    }

    /// Shows passages of these documents.
    pub fn with_knowledge(self, knowledge: Knowledge) -> Self {
        Self { knowledge, ..self }
    }

    /// Has another model judge whether the goal is reached.
    pub fn judged_by(self, judge: Arc<dyn Model>) -> Self {
        Self { judge: Some(judge), ..self }
    }
}

#[async_trait]
impl Mind for Prompter {
    fn name(&self) -> String {
        self.model.name()
    }

    async fn decide(
        &self,
        sight: &Sight,
        call: &Call,
        watch: &dyn Watch,
    ) -> Result<Thinking, Undecided> {
        let examples = self.examples.chosen(&sight.request, &sight.functions);
        // By the request alone, so that the passages are the same in each round.
        let documents = self.knowledge.about(&sight.request);
        let prompt = prompt::round(sight, self.pictures, &examples, &documents);
        let shape = prompt::of_decision(&sight.functions);
        let read = |text: &str, cut_off| reply::decision(text, cut_off, &sight.functions);
        let asked = ask(&*self.model, prompt, &shape, read, call, watch).await?;
        let Asked { prompt, response, said: decision, spent, unreadable } = asked;
        Ok(Thinking { prompt, response, decision, spent, unreadable })
    }

    async fn judge(
        &self,
        sight: &Sight,
        claim: &Decision,
        call: &Call,
        watch: &dyn Watch,
    ) -> Result<Option<Judgement>, Undecided> {
        let model = self.judge.as_ref().unwrap_or(&self.model);
        let prompt = prompt::judgement(sight, claim, self.pictures);
        let shape = prompt::of_judgement();
        let asked = ask(&**model, prompt, &shape, reply::judged, call, watch).await?;
        let Asked { prompt, response, said, spent, .. } = asked;
        let reply::Judged { reached, why } = said;
        Ok(Some(Judgement { reached, why, prompt, response, spent }))
    }
}

/// An answer that could be used.
struct Asked<T> {
    /// What was asked last, with the answers before that could not be used.
    prompt: Prompt,
    response: String,
    said: T,
    spent: Spent,
    unreadable: u32,
}

/// Asks, and asks again where the answer cannot be used.
async fn ask<T>(
    model: &dyn Model,
    mut prompt: Prompt,
    shape: &Value,
    read: impl Fn(&str, bool) -> Result<T, String>,
    call: &Call,
    watch: &dyn Watch,
) -> Result<Asked<T>, Undecided> {
    let mut spent = Spent::default();
    let mut unreadable = 0;
    loop {
        let heard = |words: &str| watch.tell(&Event::Heard(words));
        let answer = match model.answer(&prompt, Some(shape), call, &heard).await {
            Ok(answer) => answer,
            Err(unanswered) => {
                spent.add(&unanswered.spent);
                return Err(Undecided {
                    why: unanswered.why,
                    spent,
                    cancelled: unanswered.cancelled,
                });
            }
        };
        spent.add(&answer.spent);
        let wrong = match read(&answer.text, answer.cut_off) {
            Ok(said) => {
                return Ok(Asked { prompt, response: answer.text, said, spent, unreadable });
            }
            Err(wrong) => wrong,
        };
        if call.cancelled.is_cancelled() {
            return Err(Undecided {
                why: "the call was taken back".into(),
                spent,
                cancelled: true,
            });
        }
        if unreadable == ASKED_AGAIN {
            let why = format!(
                "none of {} answers of {} could be used; of the last: {wrong}. Try another model, or hold this one to a schema",
                unreadable + 1,
                model.name(),
            );
            return Err(Undecided { why, spent, cancelled: false });
        }
        unreadable += 1;
        watch.tell(&Event::AskedAgain { why: &wrong });
        prompt::repair(&mut prompt, &answer.text, &wrong);
    }
}

#[cfg(test)]
mod tests;
