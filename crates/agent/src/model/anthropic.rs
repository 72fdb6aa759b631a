//! Anthropic's Messages API, which llama.cpp and some gateways offer too.
//!
//! Source: Anthropic's API reference, "Messages", "Streaming messages", "Prompt caching", "Vision", "Structured
//! outputs". The provider caches the prompt up to a breakpoint: we set one after the system part, and one after the
//! last message that later steps repeat.

use std::sync::Mutex;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};
use thumbwire_base::lock;

use super::Prompt;
use super::error::{RequestError, error_message, inside};
use super::http_model::{PartialResponse, ProviderApi};
use super::openai::is_closed;
use super::{ContentPart, Message, Role};

/// Anthropic's own base URL.
pub(super) const BASE: &str = "https://api.anthropic.com";

/// The path after a base URL.
pub(super) const PATH: &str = "/v1/messages";

/// The version of the API, `anthropic-version`.
pub(super) const VERSION: &str = "2023-06-01";

/// The default token limit, because the API requires one; all models since 3.5 accept it.
pub(super) const MOST_TOKENS: u32 = 8192;

/// Anthropic's API.
pub(super) struct Anthropic {
    /// The model's name.
    pub(super) model: String,
    /// The maximum number of output tokens.
    pub(super) most_tokens: u32,
    /// Whether the endpoint enforces the JSON schema.
    pub(super) shaped: bool,
    /// Whether to stream answers.
    pub(super) stream: bool,
    ways: Mutex<ServerSupport>,
}

/// What this server supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ServerSupport {
    marks: bool,
    shapes: bool,
}

impl Anthropic {
    /// Starts with everything that Anthropic's own API supports.
    pub(super) fn new(model: &str, stream: bool) -> Self {
        let ways = Mutex::new(ServerSupport { marks: true, shapes: true });
        let model = model.to_owned();
        Self { model, most_tokens: MOST_TOKENS, shaped: false, stream, ways }
    }
}

impl ProviderApi for Anthropic {
    fn body(&self, prompt: &Prompt, shape: Option<&Value>) -> Value {
        let ways = *lock(&self.ways);
        let mut body = Map::new();
        body.insert("model".into(), json!(self.model));
        body.insert("max_tokens".into(), self.most_tokens.into());
        if !prompt.system.is_empty() {
            let mut system = json!({ "type": "text", "text": prompt.system });
            if ways.marks {
                mark(&mut system);
            }
            body.insert("system".into(), json!([system]));
        }
        let mut messages: Vec<Value> = prompt.turns.iter().map(message).collect();
        // Messages without content are rejected.
        messages.retain(|message| message["content"].as_array().is_some_and(|all| !all.is_empty()));
        // The last message belongs to this step; what comes before it is repeated.
        if ways.marks
            && let [.., stable, _] = &mut messages[..]
            && let Some(last) = stable["content"].as_array_mut().and_then(|all| all.last_mut())
        {
            mark(last);
        }
        body.insert("messages".into(), messages.into());
        body.insert("stream".into(), self.stream.into());
        // Schemas that are not closed are rejected.
        if let Some(shape) = shape.filter(|shape| self.shaped && ways.shapes && is_closed(shape)) {
            let format = json!({ "type": "json_schema", "schema": shape });
            body.insert("output_config".into(), json!({ "format": format }));
        }
        body.into()
    }

    fn parse_response(
        &self,
        body: &Value,
        reading: &mut PartialResponse,
    ) -> Result<(), RequestError> {
        if !body["error"].is_null() {
            return Err(inside(&body["error"]));
        }
        let Some(blocks) = body["content"].as_array() else {
            return Err(RequestError::transient(format!(
                "the answer has no content: {}.",
                error_message(&body.to_string())
            )));
        };
        count(&body["usage"], reading);
        reading.text = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
        stop(&body["stop_reason"], reading);
        reading.ended = true;
        Ok(())
    }

    fn parse_event(
        &self,
        event: &Value,
        reading: &mut PartialResponse,
    ) -> Result<(), RequestError> {
        match event["type"].as_str().unwrap_or_default() {
            "message_start" => count(&event["message"]["usage"], reading),
            "content_block_start" => {
                reading.text += event["content_block"]["text"].as_str().unwrap_or_default();
            }
            // Deltas of thinking and signatures have other keys for their text.
            "content_block_delta" => {
                reading.text += event["delta"]["text"].as_str().unwrap_or_default();
            }
            "message_delta" => {
                count(&event["usage"], reading);
                stop(&event["delta"]["stop_reason"], reading);
            }
            "message_stop" => {
                reading.ended = true;
                reading.over = true;
            }
            "error" => return Err(inside(&event["error"])),
            // `ping`, `content_block_stop`, and future events.
            _ => {}
        }
        Ok(())
    }

    fn adapt(&self, refusal: &str) -> bool {
        let mut ways = lock(&self.ways);
        let before = *ways;
        if refusal.contains("cache_control") {
            ways.marks = false;
        } else if self.shaped && (refusal.contains("output_config") || refusal.contains("schema")) {
            tracing::warn!("{} does not support JSON schemas; continuing without one", self.model);
            ways.shapes = false;
        }
        *ways != before
    }
}

/// Sets a breakpoint: the provider caches the prompt up to here for five minutes.
fn mark(block: &mut Value) {
    block["cache_control"] = json!({ "type": "ephemeral" });
}

fn message(turn: &Message) -> Value {
    let role = match turn.role {
        Role::User => "user",
        Role::Assistant => "assistant",
    };
    let parts = turn.parts.iter();
    // Empty texts are rejected, and so are images in the model's own messages.
    let parts = parts.filter(|part| match part {
        ContentPart::Text(text) => !text.trim().is_empty(),
        ContentPart::Image(_) => turn.role == Role::User,
    });
    json!({ "role": role, "content": parts.map(block).collect::<Vec<_>>() })
}

fn block(part: &ContentPart) -> Value {
    match part {
        ContentPart::Text(text) => json!({ "type": "text", "text": text }),
        ContentPart::Image(image) => json!({
            "type": "image",
            "source": {
                "type": "base64",
                "media_type": image.format.mime(),
                "data": STANDARD.encode(&image.bytes),
            },
        }),
    }
}

/// Reads the usage. In a stream the input's comes first, the growing output's later, and later events need not repeat
/// values.
fn count(usage: &Value, reading: &mut PartialResponse) {
    let spent = &mut reading.spent;
    let number = |name: &str| usage[name].as_u64();
    let kept = (spent.cached_tokens, spent.cache_writes);
    spent.cached_tokens = number("cache_read_input_tokens").unwrap_or(kept.0);
    spent.cache_writes = number("cache_creation_input_tokens").unwrap_or(kept.1);
    // Anthropic's `input_tokens` exclude the cache; ours include it.
    let plain = spent.input_tokens.saturating_sub(kept.0).saturating_sub(kept.1);
    let plain = number("input_tokens").unwrap_or(plain);
    spent.input_tokens =
        plain.saturating_add(spent.cached_tokens).saturating_add(spent.cache_writes);
    spent.output_tokens = number("output_tokens").unwrap_or(spent.output_tokens);
}

fn stop(reason: &Value, reading: &mut PartialResponse) {
    let Some(reason) = reason.as_str() else { return };
    reading.cut_off = matches!(reason, "max_tokens" | "model_context_window_exceeded");
    reading.ended = true;
    if reason == "refusal" && reading.text.trim().is_empty() {
        reading.text = "The model refused to answer.".into();
    }
}
