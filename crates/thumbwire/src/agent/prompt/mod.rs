//! The prompt, as seed 002 has it ("Multimodal Content Structure").

use serde_json::{Value, json};
use thumbwire_device::Image;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

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
