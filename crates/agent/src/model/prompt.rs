//! A prompt, whatever the provider.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};
use thumbwire_device::Image;

/// What a model is asked: a system part, then messages. The last message is ours.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Prompt {
    /// Role, rules and examples. The same in every step of a run, so that providers can cache it.
    pub system: String,
    /// The functions that the model may call natively. Empty if it is to answer with text alone, as
    /// in a judgement, or where the system part lists the functions.
    pub tools: Vec<Tool>,
    /// The conversation.
    pub turns: Vec<Message>,
}

/// A part of a prompt that not every server takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PromptPart {
    /// The functions apart from the text, [`Prompt::tools`].
    Tools,
    /// The screenshots.
    Pictures,
}

impl Prompt {
    /// Whether it has this part.
    pub fn has(&self, part: PromptPart) -> bool {
        let is_picture = |part: &ContentPart| matches!(part, ContentPart::Image(_));
        match part {
            PromptPart::Tools => !self.tools.is_empty(),
            PromptPart::Pictures => self.turns.iter().any(|turn| turn.parts.iter().any(is_picture)),
        }
    }
}

/// A function that a model may call natively.
#[derive(Debug, Clone, PartialEq)]
pub struct Tool {
    /// Its name: 1 to 64 of `A-Z a-z 0-9 _ -`.
    pub name: String,
    /// What it does.
    pub description: String,
    /// The JSON schema of its arguments: an object, in the keywords that every provider accepts.
    pub schema: Value,
}

/// A call that a model made natively.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ToolCall {
    /// The provider's id, for the result; empty if the server sent none.
    pub id: String,
    /// The function's name.
    pub name: String,
    /// The arguments as the model wrote them: a JSON object, unless the model made a mistake. Empty
    /// if there are none.
    pub arguments: String,
    /// What the provider wants back with the call, in its own form, such as Gemini's
    /// `thought_signature`. Null if there is nothing.
    pub kept: Value,
}

impl ToolCall {
    /// The arguments as an object; text that is not one is in `INVALID_JSON`, as Anthropic
    /// recommends ("Fine-grained tool streaming"): what a model said is repeated to it, and APIs
    /// and chat templates take objects only.
    pub fn object(&self) -> Map<String, Value> {
        if self.arguments.trim().is_empty() {
            return Map::new();
        }
        serde_json::from_str(&self.arguments).unwrap_or_else(|_| {
            [("INVALID_JSON".to_owned(), self.arguments.as_str().into())].into_iter().collect()
        })
    }
}

/// What came of a native call, for the model. Both APIs require one for each call of the message
/// before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolResult {
    /// The call's id.
    pub id: String,
    /// The result, in a sentence.
    pub text: String,
    /// Whether the call was rejected.
    pub is_error: bool,
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
    /// What the provider wants back with the model's calls, in its own form.
    Kept(Value),
    /// A native call, in a message of the model.
    Call(ToolCall),
    /// Its result, in our next message.
    Result(ToolResult),
}

impl Prompt {
    /// The prompt in the specification's shape (`prompt_message`): a list of messages, with images
    /// as data URIs. Native functions are in `tools` of the system message; calls and results are
    /// in `tool_calls` and `tool_results`.
    pub fn to_json(&self) -> Value {
        let mut system = json!({ "role": "system", "content": self.system });
        if !self.tools.is_empty() {
            let tool = |tool: &Tool| json!({ "name": tool.name, "description": tool.description, "parameters": tool.schema });
            system["tools"] = self.tools.iter().map(tool).collect();
        }
        std::iter::once(system).chain(self.turns.iter().map(turn_json)).collect()
    }
}

fn turn_json(turn: &Message) -> Value {
    let role = match turn.role {
        Role::User => "user",
        Role::Assistant => "assistant",
    };
    let (mut content, mut calls, mut results) = (Vec::new(), Vec::new(), Vec::new());
    for part in &turn.parts {
        match part {
            ContentPart::Text(text) => content.push(json!({ "type": "text", "text": text })),
            ContentPart::Image(Image { format, bytes }) => {
                let url = format!("data:{};base64,{}", format.mime(), STANDARD.encode(bytes));
                content.push(json!({ "type": "image_url", "image_url": { "url": url } }));
            }
            ContentPart::Kept(_) => {}
            ContentPart::Call(call) => {
                calls.push(json!({ "id": call.id, "name": call.name, "arguments": call.object() }));
            }
            ContentPart::Result(ToolResult { id, text, is_error }) => {
                results.push(json!({ "id": id, "content": text, "is_error": is_error }));
            }
        }
    }
    let mut turn = json!({ "role": role, "content": content });
    for (key, parts) in [("tool_calls", calls), ("tool_results", results)] {
        if !parts.is_empty() {
            turn[key] = parts.into();
        }
    }
    turn
}
