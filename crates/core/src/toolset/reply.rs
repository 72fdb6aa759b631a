//! Replies to calls, and their MCP JSON.

use std::borrow::Cow;
use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};
use thumbwire_base::visible::{has_hidden, visible_lines};
use thumbwire_device::{Backends, Image};

use super::resources::{ResourceContents, ResourceData, ResourceInfo};
use crate::action::{Cause, Direction};

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
    /// The scroll that the call asked for, so that the screen after it can tell how far the content
    /// moved.
    pub scroll: Option<AskedScroll>,
    /// Files on this computer that the client may read from now on. Those that an action's outcome
    /// names need not be here.
    pub files: Vec<PathBuf>,
    /// Whether the helper or shell commands did the phone's operations. Empty unless
    /// [`Toolset::tells_backends`] is set.
    ///
    /// [`Toolset::tells_backends`]: super::Toolset::tells_backends
    pub backends: Backends,
}

/// A scroll that a call asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AskedScroll {
    /// The direction of scrolling.
    pub direction: Direction,
    /// The distance in screens.
    pub distance: f64,
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
        Self {
            content,
            structured: None,
            is_error: false,
            cause: None,
            scroll: None,
            files: Vec::new(),
            backends: Backends::new(),
        }
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

    /// The reply with every invisible character written as its code point, in all texts and
    /// structured values.
    ///
    /// Every reply passes here. Texts that must stay on one line, or in quotes, are made so where
    /// they are put together.
    pub(super) fn made_visible(mut self) -> Self {
        if let Some(structured) = &mut self.structured {
            make_visible(structured);
        }
        for part in &mut self.content {
            let Content::Text(text) = part else { continue };
            if let Some(changed) = visible_json(text) {
                *text = changed;
            } else if has_hidden(text) {
                *text = visible_lines(text).into_owned();
            }
        }
        self
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

/// The JSON text with its strings made visible; `None` if it is no JSON, or has nothing hidden.
/// JSON escapes hide the characters from the eye but not from a program.
fn visible_json(text: &str) -> Option<String> {
    if !text.starts_with(['{', '[']) || !(text.contains("\\u") || has_hidden(text)) {
        return None;
    }
    let mut value = serde_json::from_str(text).ok()?;
    if !make_visible(&mut value) {
        return None;
    }
    // As it was written: the android tools indent.
    match text.contains('\n') {
        true => serde_json::to_string_pretty(&value).ok(),
        false => Some(value.to_string()),
    }
}

/// Makes the strings and names of a value visible. Returns whether there was something to do.
fn make_visible(value: &mut Value) -> bool {
    match value {
        Value::String(text) => match visible_lines(text) {
            Cow::Borrowed(_) => false,
            Cow::Owned(shown) => {
                *text = shown;
                true
            }
        },
        // No short circuit: all are made visible.
        Value::Array(values) => values.iter_mut().fold(false, |any, it| make_visible(it) | any),
        Value::Object(members) => {
            let mut any = members.values_mut().fold(false, |any, it| make_visible(it) | any);
            if members.keys().any(|name| has_hidden(name)) {
                any = true;
                let named = std::mem::take(members).into_iter();
                *members =
                    named.map(|(name, it)| (visible_lines(&name).into_owned(), it)).collect();
            }
            any
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_visible_in_every_part() {
        let hostile = json!({ "a\u{202e}": ["x\u{1b}", { "b": "\u{e0041}\n" }], "n": 1, "ok": "👨\u{200d}👩" });
        let shown = json!({ "a\\u{202e}": ["x\\u{1b}", { "b": "\\u{e0041}\n" }], "n": 1, "ok": "👨\u{200d}👩" });
        let reply = Reply::json(hostile.clone()).made_visible();
        assert_eq!(reply, Reply::json(shown.clone()));
        let pretty = |value: &Value| Reply::text(serde_json::to_string_pretty(value).unwrap());
        assert_eq!(pretty(&hostile).made_visible(), pretty(&shown));
        let text = "{not JSON}\u{2028}\tb\n";
        assert_eq!(Reply::error(text).made_visible(), Reply::error("{not JSON}\\u{2028}\tb\n"));
    }
}
