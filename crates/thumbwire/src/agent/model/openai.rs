//! OpenAI's chat completions, which many servers speak: OpenAI, Azure, vLLM, Ollama, llama.cpp, OpenRouter.
//!
//! Facts are from OpenAI's API reference, "Chat completions", and from the servers' own documents; docs/models.md lists what differs.
//! What a server does not take is found out by asking: OpenAI's newer models refuse `max_tokens`, older versions of Azure's API refuse
//! `max_completion_tokens` (openai-python #1724) and `stream_options`. The refusal names it, and the request goes out without, from then on.

use std::sync::Mutex;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use super::super::prompt::{Part, Role, Turn};
use super::Prompt;
use super::fault::{Fault, inside};
use super::remote::{Dialect, Reading};

/// Where OpenAI itself answers.
pub(super) const BASE: &str = "https://api.openai.com/v1";

/// What stands behind a base URL.
pub(super) const PATH: &str = "/chat/completions";

/// The dialect.
pub(super) struct OpenAi {
    /// The model's name; empty where the address says it (Azure's deployments).
    pub(super) model: String,
    /// The most tokens of an answer; `None` leaves it to the server.
    pub(super) most_tokens: Option<u32>,
    /// Whether answers are held to a shape that is asked for.
    pub(super) shaped: bool,
    ways: Mutex<Ways>,
}

/// What this server takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Ways {
    stream: bool,
    /// Whether it counts tokens at a stream's end when it is asked to.
    counts: bool,
    shapes: bool,
    /// Whether the most tokens are `max_completion_tokens`.
    newer: bool,
    /// Whether both names for these were tried.
    both: bool,
}

impl OpenAi {
    /// The dialect as the server at this host most likely has it.
    pub(super) fn new(model: &str, host: &str, stream: bool) -> Self {
        // All of OpenAI's models take the newer name; servers of others know the older one for certain.
        let newer = host == "api.openai.com" || is_azure(host);
        let ways = Ways { stream, counts: true, shapes: true, newer, both: false };
        Self { model: model.to_owned(), most_tokens: None, shaped: false, ways: Mutex::new(ways) }
    }

    fn ways(&self) -> Ways {
        *self.ways.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// Whether a host is Azure's, which wants the key in a header of its own.
pub(super) fn is_azure(host: &str) -> bool {
    [".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com"]
        .iter()
        .any(|end| host.ends_with(end))
}

impl Dialect for OpenAi {
    fn body(&self, prompt: &Prompt, shape: Option<&Value>) -> Value {
        let ways = self.ways();
        let mut messages = Vec::with_capacity(prompt.turns.len() + 1);
        if !prompt.system.is_empty() {
            messages.push(json!({ "role": "system", "content": prompt.system }));
        }
        messages.extend(prompt.turns.iter().map(message));
        let mut body = Map::new();
        body.insert("model".into(), json!(self.model));
        body.insert("messages".into(), messages.into());
        body.insert("stream".into(), ways.stream.into());
        if ways.stream && ways.counts {
            body.insert("stream_options".into(), json!({ "include_usage": true }));
        }
        if let Some(most) = self.most_tokens {
            let name = if ways.newer { "max_completion_tokens" } else { "max_tokens" };
            body.insert(name.into(), most.into());
        }
        if let Some(shape) = shape.filter(|_| self.shaped && ways.shapes) {
            let schema = json!({ "name": "answer", "schema": shape, "strict": is_closed(shape) });
            let format = json!({ "type": "json_schema", "json_schema": schema });
            body.insert("response_format".into(), format);
        }
        body.into()
    }

    fn whole(&self, body: &Value, reading: &mut Reading) -> Result<(), Fault> {
        erroneous(body)?;
        count(body, reading);
        let choice = &body["choices"][0];
        if choice.is_null() {
            return Err(Fault::passing(format!(
                "the answer has no choices: {}.",
                super::fault::said(&body.to_string())
            )));
        }
        let message = &choice["message"];
        reading.text = words(&message["content"]).unwrap_or_default();
        finish(choice, &message["refusal"], reading)?;
        reading.ended = true;
        Ok(())
    }

    fn event(&self, event: &Value, reading: &mut Reading) -> Result<(), Fault> {
        erroneous(event)?;
        // Counts come in a last event that has no choices; Azure begins with one that has none either.
        count(event, reading);
        let choice = &event["choices"][0];
        let delta = &choice["delta"];
        reading.text += &words(&delta["content"]).unwrap_or_default();
        finish(choice, &delta["refusal"], reading)
    }

    fn adapt(&self, refusal: &str) -> bool {
        let mut ways = self.ways.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let before = *ways;
        let said = refusal.to_lowercase();
        let unknown = ["support", "unrecognized", "unknown", "permitted", "extra", "unexpected"];
        let unknown = unknown.iter().any(|word| said.contains(word));
        let limit = if ways.newer { "max_completion_tokens" } else { "max_tokens" };
        if said.contains("stream_options") || said.contains("include_usage") {
            ways.counts = false;
        } else if unknown && said.contains(limit) && self.most_tokens.is_some() && !ways.both {
            ways.newer = !ways.newer;
            ways.both = true;
        } else if self.shaped && (said.contains("response_format") || said.contains("json_schema"))
        {
            tracing::warn!(
                "{} cannot be held to a JSON schema; it is asked in words alone",
                self.model
            );
            ways.shapes = false;
        } else if said.contains("to stream") || said.contains("\"param\": \"stream\"") {
            // Said to organisations that are not verified.
            ways.stream = false;
        }
        *ways != before
    }
}

/// An answer with an error in it: some gateways say 200 all the same.
fn erroneous(body: &Value) -> Result<(), Fault> {
    match &body["error"] {
        Value::Null => Ok(()),
        error => Err(inside(error)),
    }
}

fn message(turn: &Turn) -> Value {
    let text = |part: &Part| match part {
        Part::Text(text) => Some(text.clone()),
        Part::Picture(_) => None,
    };
    match turn.role {
        // A model's own turn holds words alone.
        Role::Assistant => {
            let words: Vec<String> = turn.parts.iter().filter_map(text).collect();
            json!({ "role": "assistant", "content": words.join("\n") })
        }
        Role::User => {
            let parts: Vec<Value> = turn.parts.iter().map(part).collect();
            json!({ "role": "user", "content": parts })
        }
    }
}

fn part(part: &Part) -> Value {
    match part {
        Part::Text(text) => json!({ "type": "text", "text": text }),
        Part::Picture(image) => {
            let url =
                format!("data:{};base64,{}", image.format.mime(), STANDARD.encode(&image.bytes));
            json!({ "type": "image_url", "image_url": { "url": url } })
        }
    }
}

/// Words, in either of the ways in which they come: one text, or a list of parts.
fn words(content: &Value) -> Option<String> {
    match content {
        Value::String(text) => Some(text.clone()),
        Value::Array(parts) => {
            Some(parts.iter().filter_map(|part| part["text"].as_str()).collect())
        }
        _ => None,
    }
}

fn finish(choice: &Value, refusal: &Value, reading: &mut Reading) -> Result<(), Fault> {
    // A model that refuses says so beside its words.
    reading.text += refusal.as_str().unwrap_or_default();
    match choice["finish_reason"].as_str() {
        None => return Ok(()),
        Some("length") => reading.cut_off = true,
        Some("content_filter") => {
            return Err(Fault::lasting(
                "the provider's filter stopped the answer; say the goal otherwise, or take another model.",
            ));
        }
        // OpenRouter's word for a provider that failed while it answered.
        Some("error") => return Err(Fault::passing("the provider failed while it answered.")),
        Some(_) => {}
    }
    reading.ended = true;
    Ok(())
}

fn count(body: &Value, reading: &mut Reading) {
    let usage = &body["usage"];
    if !usage.is_object() {
        return;
    }
    let number = |value: &Value| value.as_u64().unwrap_or(0);
    let spent = &mut reading.spent;
    spent.input_tokens = number(&usage["prompt_tokens"]);
    spent.output_tokens = number(&usage["completion_tokens"]);
    // DeepSeek's own name stands behind.
    let cached = usage["prompt_tokens_details"]["cached_tokens"].as_u64();
    spent.cached_tokens = cached.unwrap_or_else(|| number(&usage["prompt_cache_hit_tokens"]));
    // OpenRouter tells what it takes, in US dollars.
    spent.dollars = usage["cost"].as_f64();
}

/// Whether a schema leaves nothing open, as OpenAI's `strict` wants: each object has only the properties that it names, and all of them.
pub(super) fn is_closed(schema: &Value) -> bool {
    match schema {
        Value::Object(map) => {
            let object = map.get("type").is_some_and(|kind| kind == "object");
            let named = || {
                let all = map.get("properties").and_then(Value::as_object);
                let required = map.get("required").and_then(Value::as_array);
                map.get("additionalProperties") == Some(&Value::Bool(false))
                    && all.is_some_and(|all| {
                        all.keys()
                            .all(|key| required.is_some_and(|list| list.contains(&json!(key))))
                    })
            };
            (!object || named()) && map.values().all(is_closed)
        }
        Value::Array(list) => list.iter().all(is_closed),
        _ => true,
    }
}
