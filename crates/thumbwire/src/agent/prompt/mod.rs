//! The prompt, as seed 002 has it ("Multimodal Content Structure").
//!
//! Begin with [`Prompt`], which is what a model is asked whoever wrote it, then [`round`]. What stands in it is decided in `system` (the part
//! that stays the same) and `turn` (what a round shows); `judge` asks whether a goal is reached, `shape` is the schema of an answer. Words
//! from outside go through `quote`. A provider's JSON is not here, and nothing is read from files.

mod judge;
mod quote;
mod shape;
mod system;
mod turn;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use thumbwire_device::Image;

use super::examples::Example;
use super::options::Pictures;
use super::sight::Sight;

pub(super) use judge::judgement;
pub(super) use quote::{quoted, shortened};
pub(super) use shape::{of_decision, of_judgement};
pub(super) use turn::Document;
pub use turn::readable;

/// Writes the prompt of a round: the system part, and one turn of ours.
pub(super) fn round(
    sight: &Sight,
    pictures: Pictures,
    examples: &[&Example],
    documents: &[Document<'_>],
) -> Prompt {
    let system = system::part(&sight.functions, examples);
    Prompt { system, turns: vec![turn::round(sight, pictures, documents)] }
}

/// Goes on with a prompt whose answer could not be used: the answer, and what is wrong with it.
pub(super) fn repair(prompt: &mut Prompt, answer: &str, wrong: &str) {
    // A model that answered with nothing has said nothing; providers refuse an empty turn.
    let answer = if answer.trim().is_empty() { "(nothing)" } else { answer };
    let answer = shortened(answer, LONGEST_ANSWER);
    let again = format!(
        "Your answer could not be used: {wrong}. Answer again with one JSON object as described, and nothing else."
    );
    prompt.turns.push(Turn { role: Role::Assistant, parts: vec![Part::Text(answer)] });
    prompt.turns.push(Turn { role: Role::User, parts: vec![Part::Text(again)] });
}

/// How much of an answer that could not be used is shown again, in characters.
const LONGEST_ANSWER: usize = 4_000;

/// What a model is asked: a system part, then turns, the last of them ours.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Prompt {
    /// Who the model is, what it can do, and examples. The same in each round of a run, so that a provider can keep it.
    pub system: String,
    /// What was said, in turns.
    pub turns: Vec<Turn>,
}

/// One side's words.
#[derive(Debug, Clone, PartialEq)]
pub struct Turn {
    /// Whose.
    pub role: Role,
    /// In order.
    pub parts: Vec<Part>,
}

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// We do.
    User,
    /// The model does.
    Assistant,
}

/// A part of a turn.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// Words.
    Text(String),
    /// A picture.
    Picture(Image),
}

impl Prompt {
    /// The prompt in the document's shape (`prompt_message`): a list of messages, pictures as data URIs.
    pub fn to_json(&self) -> Value {
        let part = |part: &Part| match part {
            Part::Text(text) => json!({ "type": "text", "text": text }),
            Part::Picture(Image { format, bytes }) => {
                let url = format!("data:{};base64,{}", format.mime(), STANDARD.encode(bytes));
                json!({ "type": "image_url", "image_url": { "url": url } })
            }
        };
        let turn = |turn: &Turn| {
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
