//! The prompt, following the UFO MobileAgent strategy ("Multimodal Content Structure").
//!
//! Start with [`Prompt`], which is provider-neutral, then [`round`]. The text of the system part, of the step's
//! message, of the judgement and the response schemas are in the modules below; text from outside is quoted by
//! [`to_json_line`]. Not here: a provider's JSON, and files.

mod json_line;
mod judge;
mod response_schema;
mod system;
mod user_message;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use thumbwire_base::truncate;
use thumbwire_device::Image;

use super::examples::Example;
use super::observation::Observation;
use super::options::ScreenshotMode;

pub(super) use json_line::to_json_line;
pub(super) use judge::judgement;
pub(super) use response_schema::{decision_schema, judgement_schema};
pub(super) use user_message::Document;
pub use user_message::readable;

/// Writes the prompt of a step: the system part and one user message.
pub(super) fn round(
    observation: &Observation,
    pictures: ScreenshotMode,
    examples: &[&Example],
    documents: &[Document<'_>],
) -> Prompt {
    let system = system::part(&observation.functions, examples);
    Prompt { system, turns: vec![user_message::round(observation, pictures, documents)] }
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

/// What a model is asked: a system part, then messages. The last message is ours.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Prompt {
    /// Role, functions and examples. The same in every step of a run, so that providers can cache it.
    pub system: String,
    /// The conversation.
    pub turns: Vec<Message>,
}

/// A message of one side.
#[derive(Debug, Clone, PartialEq)]
pub struct Message {
    /// Who wrote it.
    pub role: Role,
    /// Its content, in order.
    pub parts: Vec<ContentPart>,
}

/// The author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Us.
    User,
    /// The model.
    Assistant,
}

/// A part of a message.
#[derive(Debug, Clone, PartialEq)]
pub enum ContentPart {
    /// Text.
    Text(String),
    /// An image.
    Image(Image),
}

impl Prompt {
    /// The prompt in the specification's shape (`prompt_message`): a list of messages, with images as data URIs.
    pub fn to_json(&self) -> Value {
        let part = |part: &ContentPart| match part {
            ContentPart::Text(text) => json!({ "type": "text", "text": text }),
            ContentPart::Image(Image { format, bytes }) => {
                let url = format!("data:{};base64,{}", format.mime(), STANDARD.encode(bytes));
                json!({ "type": "image_url", "image_url": { "url": url } })
            }
        };
        let turn = |turn: &Message| {
            let role = match turn.role {
                Role::User => "user",
                Role::Assistant => "assistant",
            };
            json!({ "role": role, "content": turn.parts.iter().map(part).collect::<Vec<_>>() })
        };
        let system = json!({ "role": "system", "content": self.system });
        std::iter::once(system).chain(self.turns.iter().map(turn)).collect()
    }
}

#[cfg(test)]
mod tests;
