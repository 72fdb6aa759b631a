//! The prompt: what a model is told in a step.
//!
//! Start with [`round`], which writes a [`Prompt`]. The text of the system part, of the step's
//! message, of the judgement and the response schemas are in the modules below; text from outside is quoted by
//! [`to_json_line`](super::json_line::to_json_line). Not here: a provider's JSON, and files.

mod history;
mod judge;
mod list;
mod response_schema;
mod system;
mod ufo;
mod user_message;

use super::coordinates::CoordinateSpace;
use super::examples::{Example, Examples};
use super::knowledge::Document;
use super::model::{ContentPart, Message, Prompt, Role};
use super::observation::Observation;
use super::options::{PromptForm, ScreenshotMode};
use thumbwire_base::truncate;

pub(super) use judge::judgement;
pub use list::readable;
pub(super) use response_schema::{decision_schema, judgement_schema};

/// How a prompt is written.
#[derive(Debug, Clone, Copy)]
pub(super) struct PromptStyle {
    /// Which screenshots it has.
    pub(super) pictures: ScreenshotMode,
    /// How it shows the screen, the apps and the past.
    pub(super) form: PromptForm,
    /// The coordinates that the model reads and writes.
    pub(super) space: CoordinateSpace,
}

/// Writes the prompt of a step: the system part and one user message.
pub(super) fn round(
    observation: &Observation,
    style: &PromptStyle,
    examples: &[&Example],
    documents: &[Document<'_>],
) -> Prompt {
    let system = system::part(&observation.functions, style.form, examples);
    Prompt { system, turns: vec![user_message::round(observation, style, documents)] }
}

/// The prompt that a model without pictures is sent in this step, with the built-in examples. For policies without a model, and to
/// measure prompts.
pub fn written_prompt(observation: &Observation, form: PromptForm) -> Prompt {
    let examples = Examples::default();
    let examples = examples.chosen(&observation.request, &observation.functions);
    let space = CoordinateSpace::pixels(observation.size);
    round(observation, &PromptStyle { pictures: ScreenshotMode::None, form, space }, &examples, &[])
}

/// Appends the unusable `answer` and what is `wrong` with it, so that the model can answer again.
pub(super) fn repair(prompt: &mut Prompt, answer: &str, wrong: &str) {
    // Providers reject an empty message.
    let answer = if answer.trim().is_empty() { "(nothing)" } else { answer };
    let answer = truncate(answer, LONGEST_ANSWER);
    let again = format!(
        "Your answer could not be used: {wrong}. Answer again with one JSON object as described and nothing else."
    );
    prompt.turns.push(Message { role: Role::Assistant, parts: vec![ContentPart::Text(answer)] });
    prompt.turns.push(Message { role: Role::User, parts: vec![ContentPart::Text(again)] });
}

/// How much of an unusable answer is quoted back, in characters.
const LONGEST_ANSWER: usize = 4_000;

#[cfg(test)]
mod tests;
