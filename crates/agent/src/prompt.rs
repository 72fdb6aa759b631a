//! The prompt: what a model reads in a step.
//!
//! Start with [`round`], which writes a [`Prompt`]. The text of the system part, of the step's
//! message, of the judgement and the response schemas are in the modules below; text from outside
//! is quoted by [`to_json_line`](crate::prompt::json_line::to_json_line). Not here: a provider's
//! JSON, and files.

pub(crate) mod coordinates;
pub(crate) mod examples;
mod history;
pub(crate) mod json_line;
mod judge;
pub(crate) mod knowledge;
mod list;
mod plan;
mod rating;
mod response_schema;
mod system;
mod tools;
mod ufo;
mod user_message;

use crate::model::{ContentPart, Message, ModelResponse, Prompt, Role, ToolCall, ToolResult};
use crate::options::{PromptForm, ScreenshotMode};
use crate::policy::observation::Observation;
use crate::prompt::coordinates::CoordinateSpace;
use crate::prompt::examples::{Example, Examples};
use crate::prompt::knowledge::Document;
use crate::reply::UnusableReply;
use thumbwire_base::truncate;

pub(super) use judge::judgement;
pub use list::readable;
pub(super) use plan::plan;
pub(super) use rating::rating;
pub(super) use response_schema::{decision_schema, judgement_schema, plan_schema, rating_schema};
pub(super) use system::AnswerStyle;

/// How a prompt is written.
#[derive(Debug, Clone, Copy)]
pub(super) struct PromptStyle {
    /// Which screenshots it has.
    pub(super) pictures: ScreenshotMode,
    /// How it shows the screen, the apps and the past.
    pub(super) form: PromptForm,
    /// The coordinates that the model reads and writes.
    pub(super) space: CoordinateSpace,
    /// How the model answers.
    pub(super) answer: AnswerStyle,
}

/// Writes the prompt of a step: the system part and one user message. With [`AnswerStyle::Native`]
/// the functions are beside the text.
pub(super) fn round(
    observation: &Observation,
    style: &PromptStyle,
    examples: &[&Example],
    documents: &[Document<'_>],
) -> Prompt {
    let system = system::part(&observation.functions, style, examples);
    let tools = match style.answer {
        AnswerStyle::Json => Vec::new(),
        AnswerStyle::Native => tools::tools(&observation.functions),
    };
    Prompt { system, tools, turns: vec![message(observation, style, documents)] }
}

/// The user message of a step: screenshots, then blocks of text in the style's form.
fn message(observation: &Observation, style: &PromptStyle, documents: &[Document<'_>]) -> Message {
    let pictures = user_message::shown(observation, style.pictures);
    let mut parts: Vec<ContentPart> =
        pictures.into_iter().cloned().map(ContentPart::Image).collect();
    let is_pictured = !parts.is_empty();
    parts.push(ContentPart::Text(text(observation, style, is_pictured, documents)));
    Message { role: Role::User, parts }
}

/// The blocks of text.
fn text(
    observation: &Observation,
    style: &PromptStyle,
    is_pictured: bool,
    documents: &[Document<'_>],
) -> String {
    let blocks = match style.form {
        PromptForm::Ufo => ufo::blocks(observation, style, is_pictured, documents),
        PromptForm::Compact | PromptForm::Coordinates => {
            user_message::blocks(observation, style, is_pictured, documents)
        }
    };
    blocks.join("\n")
}

/// The prompt that a model without pictures is sent in this step, with the built-in examples. For
/// policies without a model, and to measure prompts.
pub fn written_prompt(observation: &Observation, form: PromptForm) -> Prompt {
    let examples = Examples::default();
    let examples = examples.chosen(&observation.request, &observation.functions);
    let space = CoordinateSpace::pixels(observation.size);
    let (pictures, answer) = (ScreenshotMode::None, AnswerStyle::Json);
    round(observation, &PromptStyle { pictures, form, space, answer }, &examples, &[])
}

/// Appends the unusable answer and what is wrong with it, so that the model can answer again.
pub(super) fn repair(prompt: &mut Prompt, answer: &ModelResponse, unusable: &UnusableReply) {
    let UnusableReply { wrong, call, .. } = unusable;
    if !answer.calls.is_empty() {
        let result = |at: usize| match *call {
            Some(rejected) if rejected != at => {
                ("not called, because another call of the answer was rejected".to_owned(), true)
            }
            _ => (format!("rejected: {wrong}. Answer again with all calls"), true),
        };
        return append_calls(prompt, answer, result);
    }
    // Providers reject an empty message.
    let text = if answer.text.trim().is_empty() { "(nothing)" } else { &answer.text };
    let text = truncate(text, MAX_ANSWER);
    let how = match prompt.tools.is_empty() {
        true => "Answer again with one JSON object as described and nothing else.",
        false => "Answer again by calling a function.",
    };
    let again = format!("Your answer could not be used: {wrong}. {how}");
    prompt.turns.push(Message { role: Role::Assistant, parts: vec![ContentPart::Text(text)] });
    prompt.turns.push(Message { role: Role::User, parts: vec![ContentPart::Text(again)] });
}

/// Appends an answer that only updated the plan, so that the model goes on.
pub(super) fn go_on(prompt: &mut Prompt, answer: &ModelResponse) {
    append_calls(prompt, answer, |_| {
        ("noted. Now call the function of the next step".into(), false)
    });
}

/// Appends the calls of an answer, each with its result: both APIs reject a call without one.
fn append_calls(
    prompt: &mut Prompt,
    answer: &ModelResponse,
    result: impl Fn(usize) -> (String, bool),
) {
    let text = truncate(answer.text.trim(), MAX_ANSWER);
    let text = Some(text).filter(|text| !text.is_empty()).map(ContentPart::Text);
    let kept = Some(answer.kept.clone()).filter(|kept| !kept.is_null()).map(ContentPart::Kept);
    let mut parts: Vec<ContentPart> = kept.into_iter().chain(text).collect();
    let mut results = Vec::new();
    let turn = prompt.turns.len();
    for (at, call) in answer.calls.iter().enumerate() {
        // Some servers send none; it must be unique in the conversation.
        let id = match call.id.trim() {
            "" => format!("call_{turn}_{at}"),
            id => id.to_owned(),
        };
        let name = tools::valid_name(&call.name);
        let call = ToolCall { id: id.clone(), name, ..call.clone() };
        let (text, is_error) = result(at);
        parts.push(ContentPart::Call(call));
        results.push(ContentPart::Result(ToolResult { id, text, is_error }));
    }
    prompt.turns.push(Message { role: Role::Assistant, parts });
    prompt.turns.push(Message { role: Role::User, parts: results });
}

/// How much of an unusable answer is quoted back, in characters.
const MAX_ANSWER: usize = 4_000;

#[cfg(test)]
mod tests;
