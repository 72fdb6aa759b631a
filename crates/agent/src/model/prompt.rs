//! A prompt, whatever the provider.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use thumbwire_device::Image;

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
