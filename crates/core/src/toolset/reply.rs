//! Replies to calls, and their MCP JSON.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};
use thumbwire_device::Image;

use super::resources::{ResourceContents, ResourceData, ResourceInfo};
use crate::action::Cause;

/// The reply to a call.
#[derive(Debug, Clone, PartialEq)]
pub struct Reply {
    /// The content, in order.
    pub content: Vec<Content>,
    /// The structured content for programs, if the tool has it.
    pub structured: Option<Value>,
    /// Whether it is an error.
    pub is_error: bool,
    /// Why it failed, for callers in this process.
    pub cause: Option<Cause>,
}

/// One content block of a reply.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// Text.
    Text(String),
    /// An image.
    Image(Image),
    /// A resource with what it holds.
    Resource(ResourceContents),
    /// A resource to read.
    Link(ResourceInfo),
}

impl Reply {
    /// A reply with this content.
    pub fn parts(content: Vec<Content>) -> Self {
        Self { content, structured: None, is_error: false, cause: None }
    }

    /// A text reply.
    pub fn text(text: impl Into<String>) -> Self {
        Self::parts(vec![Content::Text(text.into())])
    }

    /// A JSON object, as text and as structured content.
    pub fn json(value: Value) -> Self {
        Self { structured: Some(value.clone()), ..Self::text(value.to_string()) }
    }

    /// An error with this text.
    pub fn error(text: impl Into<String>) -> Self {
        Self { is_error: true, ..Self::text(text) }
    }

    /// The reply as an MCP tool result.
    pub fn to_json(&self) -> Value {
        let part = |part: &Content| match part {
            Content::Text(text) => json!({ "type": "text", "text": text }),
            Content::Image(Image { format, bytes }) => {
                json!({ "type": "image", "data": STANDARD.encode(bytes), "mimeType": format.mime() })
            }
            Content::Resource(ResourceContents { uri, mime, data }) => {
                let mut resource = json!({ "uri": uri, "mimeType": mime });
                match data {
                    ResourceData::Text(text) => resource["text"] = text.as_str().into(),
                    ResourceData::Bytes(bytes) => resource["blob"] = STANDARD.encode(bytes).into(),
                }
                json!({ "type": "resource", "resource": resource })
            }
            Content::Link(link) => {
                let mut resource = json!({
                    "type": "resource_link", "uri": link.uri, "name": link.name,
                    "description": link.description, "mimeType": link.mime,
                });
                if let Some(bytes) = link.bytes {
                    resource["size"] = bytes.into();
                }
                resource
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
