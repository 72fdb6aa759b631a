//! What a caller gets of a call, and how MCP writes it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};
use thumbwire_device::Image;

use crate::action::Cause;

/// What a caller gets.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// The parts, in order.
    pub content: Vec<Content>,
    /// The same for programs, where the tool has it.
    pub structured: Option<Value>,
    /// Whether it tells of a failure.
    pub is_error: bool,
    /// Why it failed, for callers in this process.
    pub cause: Option<Cause>,
}

/// One part of a reply.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// Words.
    Text(String),
    /// A picture.
    Picture(Image),
}

impl Reply {
    /// These parts.
    pub fn parts(content: Vec<Content>) -> Self {
        Self { content, structured: None, is_error: false, cause: None }
    }

    /// Words.
    pub fn text(text: impl Into<String>) -> Self {
        Self::parts(vec![Content::Text(text.into())])
    }

    /// A JSON object, as text and as structured content.
    pub fn json(value: Value) -> Self {
        Self { structured: Some(value.clone()), ..Self::text(value.to_string()) }
    }

    /// Words that tell of a failure.
    pub fn error(text: impl Into<String>) -> Self {
        Self { is_error: true, ..Self::text(text) }
    }

    /// The same with a line about arguments that were ignored, where there is one.
    pub(super) fn also_saying(mut self, ignored: Option<String>) -> Self {
        let Some(ignored) = ignored else { return self };
        // Some clients show the one, some the other.
        if let Some(Value::Object(structured)) = &mut self.structured {
            structured.insert("ignored".into(), ignored.clone().into());
        }
        self.content.push(Content::Text(ignored));
        self
    }

    /// The reply as MCP writes a tool's result.
    pub fn to_json(&self) -> Value {
        let part = |part: &Content| match part {
            Content::Text(text) => json!({ "type": "text", "text": text }),
            Content::Picture(Image { format, bytes }) => {
                json!({ "type": "image", "data": STANDARD.encode(bytes), "mimeType": format.mime() })
            }
        };
        let mut reply = Map::new();
        reply.insert("content".into(), self.content.iter().map(part).collect());
        if let Some(structured) = &self.structured {
            reply.insert("structuredContent".into(), structured.clone());
        }
        reply.insert("isError".into(), self.is_error.into());
        reply.into()
    }
}
