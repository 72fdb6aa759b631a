//! Anthropic's Messages API, which llama.cpp and some gateways offer too.
//!
//! Source: Anthropic's API reference, "Messages", "Streaming messages", "Prompt caching", "Vision",
//! "Structured outputs", "Tool use" ("Handle tool calls", "Fine-grained tool streaming"). The
//! provider caches the prompt up to a breakpoint: we set one after the system part, and one after
//! the last message that later steps repeat.

use std::sync::Mutex;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};
use thumbwire_base::lock;

use super::Prompt;
use super::error::{BASE_URL, RequestError, Retry, error_message, inside};
use super::http_model::{PartialCall, PartialResponse, ProviderApi};
use super::openai::is_closed;
use super::{ContentPart, Message, Role, Tool, ToolResult};

/// Anthropic's own base URL.
pub(super) const BASE: &str = "https://api.anthropic.com";

/// The path after a base URL.
pub(super) const PATH: &str = "/v1/messages";

/// The version of the API, `anthropic-version`.
pub(super) const VERSION: &str = "2023-06-01";

/// The default token limit, because the API requires one; all models since 3.5 accept it.
pub(super) const MAX_TOKENS: u32 = 8192;

/// Anthropic's API.
pub(super) struct Anthropic {
    /// The model's name.
    pub(super) model: String,
    /// The maximum number of output tokens.
    pub(super) max_tokens: u32,
    /// Whether the endpoint enforces the JSON schema.
    pub(super) enforces_schema: bool,
    /// Whether to stream answers.
    pub(super) stream: bool,
    support: Mutex<ServerSupport>,
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
        let support = Mutex::new(ServerSupport { marks: true, shapes: true });
        let model = model.to_owned();
        Self { model, max_tokens: MAX_TOKENS, enforces_schema: false, stream, support }
    }
}

impl ProviderApi for Anthropic {
    fn body(&self, prompt: &Prompt, schema: Option<&Value>) -> Value {
        let support = *lock(&self.support);
        let mut body = Map::new();
        body.insert("model".into(), json!(self.model));
        body.insert("max_tokens".into(), self.max_tokens.into());
        if !prompt.system.is_empty() {
            let mut system = json!({ "type": "text", "text": prompt.system });
            if support.marks {
                mark(&mut system);
            }
            body.insert("system".into(), json!([system]));
        }
        // The provider's order is tools, system, messages, so the breakpoint after the system part
        // covers both. No `tool_choice`: the default is `auto`, and newer models reject a forced
        // call.
        if !prompt.tools.is_empty() {
            body.insert("tools".into(), prompt.tools.iter().map(tool).collect());
        }
        let mut messages: Vec<Value> = prompt.turns.iter().map(message).collect();
        // Messages without content are rejected.
        messages.retain(|message| message["content"].as_array().is_some_and(|all| !all.is_empty()));
        // The last message belongs to this step; what comes before it is repeated.
        if support.marks
            && let [.., stable, _] = &mut messages[..]
            && let Some(last) = stable["content"].as_array_mut().and_then(|all| all.last_mut())
        {
            mark(last);
        }
        body.insert("messages".into(), messages.into());
        body.insert("stream".into(), self.stream.into());
        // Schemas that are not closed are rejected.
        let enforces_schema = self.enforces_schema && support.shapes && prompt.tools.is_empty();
        if let Some(schema) = schema.filter(|schema| enforces_schema && is_closed(schema)) {
            let format = json!({ "type": "json_schema", "schema": schema });
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
            return Err(RequestError::permanent(format!(
                "the answer has no content: {}. Check {BASE_URL}",
                error_message(&body.to_string())
            )));
        };
        count(&body["usage"], reading);
        reading.text = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
        reading.calls = blocks.iter().filter_map(|block| tool_use(None, block)).collect();
        blocks.iter().filter(is_thinking).for_each(|block| keep(block.clone(), reading));
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
                let block = &event["content_block"];
                reading.text += block["text"].as_str().unwrap_or_default();
                if let Some(call) = tool_use(event["index"].as_u64(), block) {
                    reading.add_call(call);
                }
                if is_thinking(&block) {
                    keep(block.clone(), reading);
                }
            }
            "content_block_delta" => {
                let delta = &event["delta"];
                reading.text += delta["text"].as_str().unwrap_or_default();
                for key in ["thinking", "signature"] {
                    if let Some(piece) = delta[key].as_str()
                        && let Some(block) =
                            reading.kept.as_array_mut().and_then(|all| all.last_mut())
                    {
                        match &mut block[key] {
                            Value::String(text) => text.push_str(piece),
                            kept => *kept = piece.into(),
                        }
                    }
                }
                if let Some(piece) = delta["partial_json"].as_str() {
                    let index = event["index"].as_u64();
                    let open = reading.calls.iter_mut().rev().find(|call| call.index == index);
                    if let Some(call) = open {
                        call.arguments += piece;
                    }
                }
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

    fn adapt(&self, refusal: &str) -> Option<Retry> {
        let mut support = lock(&self.support);
        let before = *support;
        if refusal.contains("cache_control") {
            support.marks = false;
        } else if self.enforces_schema
            && (refusal.contains("output_config") || refusal.contains("schema"))
        {
            tracing::warn!("{} does not support JSON schemas; continuing without one", self.model);
            support.shapes = false;
        }
        (*support != before).then_some(Retry::Adapted)
    }
}

/// Sets a breakpoint: the provider caches the prompt up to here for five minutes.
fn mark(block: &mut Value) {
    block["cache_control"] = json!({ "type": "ephemeral" });
}

fn tool(tool: &Tool) -> Value {
    let Tool { name, description, schema } = tool;
    json!({ "name": name, "description": description, "input_schema": schema })
}

/// A call; `None` for other blocks. In a stream `input` is empty at first, and its text follows in
/// pieces.
fn tool_use(index: Option<u64>, block: &Value) -> Option<PartialCall> {
    (block["type"] == "tool_use").then(|| {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let arguments = match &block["input"] {
            Value::Object(input) if !input.is_empty() => block["input"].to_string(),
            // Gateways that pass on another API's.
            Value::String(input) => input.clone(),
            _ => String::new(),
        };
        let kept = Value::Null;
        PartialCall { index, id: text(&block["id"]), name: text(&block["name"]), arguments, kept }
    })
}

/// Whether a block is reasoning: the API wants it back before the calls that followed it.
fn is_thinking(block: &&Value) -> bool {
    block["type"] == "thinking" || block["type"] == "redacted_thinking"
}

fn keep(block: Value, reading: &mut PartialResponse) {
    match &mut reading.kept {
        Value::Array(kept) => kept.push(block),
        kept => *kept = json!([block]),
    }
}

fn message(turn: &Message) -> Value {
    let role = match turn.role {
        Role::User => "user",
        Role::Assistant => "assistant",
    };
    // Empty texts are rejected, and so are images and results in the model's own messages, and
    // calls in ours.
    let fits = |part: &&ContentPart| match part {
        ContentPart::Text(text) => !text.trim().is_empty(),
        ContentPart::Image(_) | ContentPart::Result(_) => turn.role == Role::User,
        ContentPart::Call(_) | ContentPart::Kept(_) => turn.role == Role::Assistant,
    };
    let mut parts: Vec<&ContentPart> = turn.parts.iter().filter(fits).collect();
    // Results must come before anything else.
    parts.sort_by_key(|part| !matches!(part, ContentPart::Result(_)));
    json!({ "role": role, "content": parts.into_iter().flat_map(blocks).collect::<Vec<_>>() })
}

fn blocks(part: &ContentPart) -> Vec<Value> {
    let block = match part {
        ContentPart::Kept(kept) => return kept.as_array().cloned().unwrap_or_default(),
        ContentPart::Text(text) => json!({ "type": "text", "text": text }),
        ContentPart::Image(image) => json!({
            "type": "image",
            "source": {
                "type": "base64",
                "media_type": image.format.mime(),
                "data": STANDARD.encode(&image.bytes),
            },
        }),
        ContentPart::Call(call) => {
            json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": call.object() })
        }
        ContentPart::Result(ToolResult { id, text, is_error }) => {
            json!({ "type": "tool_result", "tool_use_id": id, "content": text, "is_error": is_error })
        }
    };
    vec![block]
}

/// Reads the usage. In a stream the input's comes first, the growing output's later, and later
/// events need not repeat values.
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
    reading.refused = reason == "refusal";
    if reading.refused && reading.text.trim().is_empty() {
        reading.text = "The model refused to answer.".into();
    }
}
