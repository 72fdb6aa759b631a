//! Anthropic's Messages, which llama.cpp and some gateways speak too.
//!
//! Facts are from Anthropic's API reference, "Messages", "Streaming messages", "Prompt caching", "Vision", "Structured outputs". The
//! provider keeps the prompt up to a mark: one stands behind the system part, one behind the last turn that a later round repeats.

use std::sync::Mutex;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use super::super::prompt::{Part, Role, Turn};
use super::Prompt;
use super::fault::{Fault, inside, said};
use super::openai::is_closed;
use super::remote::{Dialect, Reading};

/// Where Anthropic itself answers.
pub(super) const BASE: &str = "https://api.anthropic.com";

/// What stands behind a base URL.
pub(super) const PATH: &str = "/v1/messages";

/// The version of the API, `anthropic-version`.
pub(super) const VERSION: &str = "2023-06-01";

/// The most tokens of an answer, which this API must be told; each model since 3.5 takes it.
pub(super) const MOST_TOKENS: u32 = 8192;

/// The dialect.
pub(super) struct Anthropic {
    /// The model's name.
    pub(super) model: String,
    /// The most tokens of an answer.
    pub(super) most_tokens: u32,
    /// Whether answers are held to a shape that is asked for.
    pub(super) shaped: bool,
    /// Whether answers come as they are written.
    pub(super) stream: bool,
    ways: Mutex<Ways>,
}

/// What this server takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Ways {
    marks: bool,
    shapes: bool,
}

impl Anthropic {
    /// The dialect as Anthropic has it.
    pub(super) fn new(model: &str, stream: bool) -> Self {
        let ways = Mutex::new(Ways { marks: true, shapes: true });
        let model = model.to_owned();
        Self { model, most_tokens: MOST_TOKENS, shaped: false, stream, ways }
    }
}

impl Dialect for Anthropic {
    fn body(&self, prompt: &Prompt, shape: Option<&Value>) -> Value {
        let ways = *self.ways.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
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
        // A message without content is refused.
        messages.retain(|message| message["content"].as_array().is_some_and(|all| !all.is_empty()));
        // The last turn is this round's own; what stands before it comes again.
        if ways.marks
            && let [.., stable, _] = &mut messages[..]
            && let Some(last) = stable["content"].as_array_mut().and_then(|all| all.last_mut())
        {
            mark(last);
        }
        body.insert("messages".into(), messages.into());
        body.insert("stream".into(), self.stream.into());
        // A schema that leaves something open is refused there.
        if let Some(shape) = shape.filter(|shape| self.shaped && ways.shapes && is_closed(shape)) {
            let format = json!({ "type": "json_schema", "schema": shape });
            body.insert("output_config".into(), json!({ "format": format }));
        }
        body.into()
    }

    fn whole(&self, body: &Value, reading: &mut Reading) -> Result<(), Fault> {
        if !body["error"].is_null() {
            return Err(inside(&body["error"]));
        }
        let Some(blocks) = body["content"].as_array() else {
            return Err(Fault::passing(format!(
                "the answer has no content: {}.",
                said(&body.to_string())
            )));
        };
        count(&body["usage"], reading);
        reading.text = blocks.iter().filter_map(|block| block["text"].as_str()).collect();
        stop(&body["stop_reason"], reading);
        reading.ended = true;
        Ok(())
    }

    fn event(&self, event: &Value, reading: &mut Reading) -> Result<(), Fault> {
        match event["type"].as_str().unwrap_or_default() {
            "message_start" => count(&event["message"]["usage"], reading),
            "content_block_start" => {
                reading.text += event["content_block"]["text"].as_str().unwrap_or_default();
            }
            // Deltas of thinking and signatures have other names for their words.
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
            // `ping`, `content_block_stop`, and what is added later.
            _ => {}
        }
        Ok(())
    }

    fn adapt(&self, refusal: &str) -> bool {
        let mut ways = self.ways.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let before = *ways;
        if refusal.contains("cache_control") {
            ways.marks = false;
        } else if self.shaped && (refusal.contains("output_config") || refusal.contains("schema")) {
            tracing::warn!(
                "{} cannot be held to a JSON schema; it is asked in words alone",
                self.model
            );
            ways.shapes = false;
        }
        *ways != before
    }
}

/// Marks a block: the provider keeps the prompt up to here, for five minutes.
fn mark(block: &mut Value) {
    block["cache_control"] = json!({ "type": "ephemeral" });
}

fn message(turn: &Turn) -> Value {
    let role = match turn.role {
        Role::User => "user",
        Role::Assistant => "assistant",
    };
    let parts = turn.parts.iter();
    // Words that are none are refused, and pictures in a model's own turn.
    let parts = parts.filter(|part| match part {
        Part::Text(text) => !text.trim().is_empty(),
        Part::Picture(_) => turn.role == Role::User,
    });
    json!({ "role": role, "content": parts.map(block).collect::<Vec<_>>() })
}

fn block(part: &Part) -> Value {
    match part {
        Part::Text(text) => json!({ "type": "text", "text": text }),
        Part::Picture(image) => json!({
            "type": "image",
            "source": {
                "type": "base64",
                "media_type": image.format.mime(),
                "data": STANDARD.encode(&image.bytes),
            },
        }),
    }
}

/// Takes in counts. In a stream those of the input come first and those of the output, growing, later; a later event need not repeat.
fn count(usage: &Value, reading: &mut Reading) {
    let spent = &mut reading.spent;
    let number = |name: &str| usage[name].as_u64();
    let kept = (spent.cached_tokens, spent.cache_writes);
    spent.cached_tokens = number("cache_read_input_tokens").unwrap_or(kept.0);
    spent.cache_writes = number("cache_creation_input_tokens").unwrap_or(kept.1);
    // Those of the cache are not among `input_tokens` there; here they are.
    let plain = spent.input_tokens.saturating_sub(kept.0).saturating_sub(kept.1);
    let plain = number("input_tokens").unwrap_or(plain);
    spent.input_tokens =
        plain.saturating_add(spent.cached_tokens).saturating_add(spent.cache_writes);
    spent.output_tokens = number("output_tokens").unwrap_or(spent.output_tokens);
}

fn stop(reason: &Value, reading: &mut Reading) {
    let Some(reason) = reason.as_str() else { return };
    reading.cut_off = matches!(reason, "max_tokens" | "model_context_window_exceeded");
    reading.ended = true;
    if reason == "refusal" && reading.text.trim().is_empty() {
        reading.text = "The model refuses to answer this.".into();
    }
}
