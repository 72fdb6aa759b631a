//! OpenAI's chat completions API, which many servers offer: OpenAI, Azure, vLLM, Ollama, llama.cpp,
//! OpenRouter.
//!
//! Source: OpenAI's API reference, "Chat completions", and the servers' own documentation;
//! docs/models.md lists the differences. What a server does not support is found by trying:
//! OpenAI's newer models reject `max_tokens`, older versions of Azure's API reject
//! `max_completion_tokens` (openai-python #1724) and `stream_options`. The error names the
//! parameter, and requests omit it from then on.

use std::sync::Mutex;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};
use thumbwire_base::lock;

use super::Prompt;
use super::error::{
    BASE_URL, RequestError, Retry, error_message, inside, picture_limit, wants_text,
};
use super::http_model::{PartialCall, PartialResponse, ProviderApi};
use super::{ContentPart, Message, PromptPart, Role, Tool, ToolResult};

/// OpenAI's own base URL.
pub(super) const BASE: &str = "https://api.openai.com/v1";

/// The path after a base URL.
pub(super) const PATH: &str = "/chat/completions";

/// OpenAI's API.
pub(super) struct OpenAi {
    /// The model's name; empty if the URL has it (Azure's deployments).
    pub(super) model: String,
    /// The maximum number of output tokens; `None` is the server's default.
    pub(super) max_tokens: Option<u32>,
    /// Whether the endpoint enforces the JSON schema.
    pub(super) enforces_schema: bool,
    support: Mutex<ServerSupport>,
}

/// What this server supports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ServerSupport {
    stream: bool,
    /// Whether it can report the usage at the end of a stream.
    counts: bool,
    shapes: bool,
    /// Whether the token limit is called `max_completion_tokens`.
    newer: bool,
    /// Whether both names were tried.
    both: bool,
    /// Whether there is a role `system`.
    system: bool,
    /// Whether a message's content may be a list of parts.
    parts: bool,
    /// Whether reasoning may come back with the calls that followed it.
    reasoning: bool,
    /// The most pictures in a request, if the server has a limit.
    pictures: Option<usize>,
}

impl OpenAi {
    /// Starts with what the server at this host most likely supports.
    pub(super) fn new(model: &str, host: &str, stream: bool) -> Self {
        // All of OpenAI's models accept the newer name; other servers certainly know the older one.
        let newer = host == "api.openai.com" || is_azure(host);
        let support = ServerSupport {
            stream,
            counts: true,
            shapes: true,
            newer,
            both: false,
            system: true,
            parts: true,
            reasoning: true,
            pictures: None,
        };
        Self {
            model: model.to_owned(),
            max_tokens: None,
            enforces_schema: false,
            support: Mutex::new(support),
        }
    }

    fn support(&self) -> ServerSupport {
        *lock(&self.support)
    }
}

/// Whether a host is Azure's, which expects the key in a header of its own.
pub(super) fn is_azure(host: &str) -> bool {
    [".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com"]
        .iter()
        .any(|end| host.ends_with(end))
}

impl ProviderApi for OpenAi {
    fn body(&self, prompt: &Prompt, schema: Option<&Value>) -> Value {
        let support = self.support();
        let mut messages = Vec::with_capacity(prompt.turns.len() + 1);
        if !prompt.system.is_empty() {
            messages.push(json!({ "role": "system", "content": prompt.system }));
        }
        messages.extend(prompt.turns.iter().flat_map(|turn| messages_of(turn, support)));
        fit(&mut messages, support);
        let mut body = Map::new();
        body.insert("model".into(), json!(self.model));
        body.insert("messages".into(), messages.into());
        // No `tool_choice`: its default with functions is `auto`, and some servers reject every
        // other value (OpenRouter by provider, Anthropic's newer models behind a gateway).
        if !prompt.tools.is_empty() {
            body.insert("tools".into(), prompt.tools.iter().map(tool).collect());
        }
        body.insert("stream".into(), support.stream.into());
        if support.stream && support.counts {
            body.insert("stream_options".into(), json!({ "include_usage": true }));
        }
        if let Some(max) = self.max_tokens {
            let name = if support.newer { "max_completion_tokens" } else { "max_tokens" };
            body.insert(name.into(), max.into());
        }
        let enforces_schema = self.enforces_schema && support.shapes && prompt.tools.is_empty();
        if let Some(schema) = schema.filter(|_| enforces_schema) {
            let schema = json!({ "name": "answer", "schema": schema, "strict": is_closed(schema) });
            let format = json!({ "type": "json_schema", "json_schema": schema });
            body.insert("response_format".into(), format);
        }
        body.into()
    }

    fn parse_response(
        &self,
        body: &Value,
        reading: &mut PartialResponse,
    ) -> Result<(), RequestError> {
        erroneous(body)?;
        count(body, reading);
        let choice = &body["choices"][0];
        if choice.is_null() {
            let reason =
                format!("the answer has no choices: {}.", error_message(&body.to_string()));
            // Another service's answer has no such member at all.
            return Err(match body["choices"].is_null() {
                true => RequestError::permanent(format!("{reason} Check {BASE_URL}")),
                false => RequestError::transient(reason),
            });
        }
        add_message(&choice["message"], reading);
        let message = &choice["message"];
        finish(choice, &message["refusal"], reading)?;
        reading.ended = true;
        Ok(())
    }

    fn parse_event(
        &self,
        event: &Value,
        reading: &mut PartialResponse,
    ) -> Result<(), RequestError> {
        erroneous(event)?;
        // The usage comes in a last event without choices; Azure's first event has none either.
        count(event, reading);
        let choice = &event["choices"][0];
        let delta = &choice["delta"];
        add_message(delta, reading);
        finish(choice, &delta["refusal"], reading)
    }

    fn adapt(&self, refusal: &str) -> Option<Retry> {
        let mut support = lock(&self.support);
        let before = *support;
        let output = refusal.to_lowercase();
        let unknown = ["support", "unrecognized", "unknown", "permitted", "extra", "unexpected"];
        let unknown = unknown.iter().any(|word| output.contains(word));
        let limit = if support.newer { "max_completion_tokens" } else { "max_tokens" };
        if output.contains("stream_options") || output.contains("include_usage") {
            support.counts = false;
        } else if unknown && output.contains(limit) && self.max_tokens.is_some() && !support.both {
            support.newer = !support.newer;
            support.both = true;
        } else if self.enforces_schema
            && (output.contains("response_format") || output.contains("json_schema"))
        {
            tracing::warn!("{} does not support JSON schemas; continuing without one", self.model);
            support.shapes = false;
        } else if output.contains("to stream") || output.contains("\"param\": \"stream\"") {
            // Sent to organizations that are not verified.
            support.stream = false;
        } else if unknown && output.contains("reasoning") {
            support.reasoning = false;
        } else if let Some(count) = picture_limit(&output).filter(|count| *count > 0) {
            tracing::warn!("{} takes at most {count} images: the latest are sent", self.model);
            support.pictures = Some(count);
        } else if wants_text(&output) {
            tracing::warn!("{} takes text only: no images are sent", self.model);
            support.parts = false;
        } else if rejects_system(&output) {
            tracing::warn!("{} has no system role: the user's first message has it", self.model);
            support.system = false;
        }
        if *support == before {
            return None;
        }
        Some(match support.parts {
            true => Retry::Adapted,
            false => Retry::Without(PromptPart::Pictures),
        })
    }
}

/// Whether a refusal, in lower case, is about the role `system`, which some chat templates do not
/// have (Gemma's, Mistral's first).
fn rejects_system(refusal: &str) -> bool {
    let roles = [
        "system role",
        "system message",
        "system prompt",
        "system instruction",
        "developer role",
        "developer message",
        "developer instruction",
        "role: system",
        "role 'system'",
        "role \"system\"",
        "role \\\"system\\\"",
        "role `system`",
    ];
    let denies =
        ["support", "not enabled", "not allowed", "unexpected", "invalid", "unknown", "only"];
    roles.iter().any(|role| refusal.contains(role))
        && denies.iter().any(|word| refusal.contains(word))
}

/// Fits messages to what the server takes.
fn fit(messages: &mut Vec<Value>, support: ServerSupport) {
    if let Some(count) = support.pictures {
        leave_out_pictures(messages, count);
    }
    if !support.parts {
        for message in messages.iter_mut() {
            if message["content"].is_array() {
                message["content"] = content(&message["content"]).0.into();
            }
        }
    }
    let has_system = messages.first().is_some_and(|message| message["role"] == "system");
    if has_system && !support.system {
        let system = messages.remove(0)["content"].take();
        let user = messages.iter_mut().find(|message| message["role"] == "user");
        match user.map(|user| &mut user["content"]) {
            Some(Value::Array(parts)) => parts.insert(0, json!({ "type": "text", "text": system })),
            Some(Value::String(text)) => {
                *text = format!("{}\n\n{text}", system.as_str().unwrap_or_default());
            }
            _ => messages.insert(0, json!({ "role": "user", "content": system })),
        }
    }
}

/// Leaves out all pictures but the last, which show what is on the screen now.
fn leave_out_pictures(messages: &mut [Value], count: usize) {
    let parts = messages.iter_mut().filter_map(|message| message["content"].as_array_mut());
    let pictures = parts.flatten().filter(|part| part["type"] == "image_url");
    let pictures: Vec<&mut Value> = pictures.collect();
    let extra = pictures.len().saturating_sub(count);
    for picture in pictures.into_iter().take(extra) {
        *picture = json!({ "type": "text", "text": "(an earlier picture, left out)" });
    }
}

/// An error in a response: some gateways send it with status 200.
fn erroneous(body: &Value) -> Result<(), RequestError> {
    match &body["error"] {
        // vLLM's older form.
        Value::Null if body["object"] == "error" => Err(inside(body)),
        Value::Null => Ok(()),
        error => Err(inside(error)),
    }
}

fn tool(tool: &Tool) -> Value {
    let Tool { name, description, schema } = tool;
    json!({ "type": "function", "function": { "name": name, "description": description, "parameters": schema } })
}

/// The messages for a turn: each result of a call is one of its own, before what we say.
fn messages_of(turn: &Message, support: ServerSupport) -> Vec<Value> {
    match turn.role {
        Role::Assistant => vec![assistant(turn, support)],
        Role::User => {
            let result = |part: &ContentPart| match part {
                ContentPart::Result(ToolResult { id, text, .. }) => {
                    Some(json!({ "role": "tool", "tool_call_id": id, "content": text }))
                }
                _ => None,
            };
            let mut messages: Vec<Value> = turn.parts.iter().filter_map(result).collect();
            let parts: Vec<Value> = turn.parts.iter().filter_map(part).collect();
            if !parts.is_empty() || messages.is_empty() {
                messages.push(json!({ "role": "user", "content": parts }));
            }
            messages
        }
    }
}

/// A message of the model: text and calls.
fn assistant(turn: &Message, support: ServerSupport) -> Value {
    let text = |part: &ContentPart| match part {
        ContentPart::Text(text) => Some(text.clone()),
        _ => None,
    };
    let call = |part: &ContentPart| match part {
        ContentPart::Call(call) => {
            let arguments = Value::from(call.object()).to_string();
            let function = json!({ "name": call.name, "arguments": arguments });
            let mut sent = json!({ "id": call.id, "type": "function", "function": function });
            if !call.kept.is_null() {
                sent[EXTRA] = call.kept.clone();
            }
            Some(sent)
        }
        _ => None,
    };
    let text = turn.parts.iter().filter_map(text).collect::<Vec<_>>().join("\n");
    let calls: Vec<Value> = turn.parts.iter().filter_map(call).collect();
    let mut message = match (calls.is_empty(), text.is_empty()) {
        (true, _) => json!({ "role": "assistant", "content": text }),
        (false, true) => json!({ "role": "assistant", "content": null, "tool_calls": calls }),
        (false, false) => json!({ "role": "assistant", "content": text, "tool_calls": calls }),
    };
    let kept = turn.parts.iter().filter_map(|part| match part {
        ContentPart::Kept(Value::Object(kept)) => Some(kept),
        _ => None,
    });
    for (key, value) in kept.flatten().filter(|_| support.reasoning) {
        message[key] = value.clone();
    }
    message
}

/// What Gemini wants back with a message or a call: its `thought_signature`.
const EXTRA: &str = "extra_content";

/// Where servers send reasoning: DeepSeek, vLLM and others, which want it back with the calls; and
/// Ollama, OpenRouter and newer versions of vLLM.
const REASONING: [&str; 2] = ["reasoning_content", "reasoning"];

/// Adds a message or a piece of one.
fn add_message(message: &Value, reading: &mut PartialResponse) {
    let (text, thought) = content(&message["content"]);
    reading.text += &text;
    reading.reasoning += &thought;
    for key in REASONING {
        if let Some(piece) = message[key].as_str() {
            reading.reasoning += piece;
            match &mut reading.kept[key] {
                Value::String(text) => text.push_str(piece),
                kept => *kept = piece.into(),
            }
        }
    }
    if let Some(details) = message["reasoning_details"].as_array() {
        match &mut reading.kept["reasoning_details"] {
            Value::Array(all) => all.extend(details.iter().cloned()),
            kept => *kept = details.clone().into(),
        }
    }
    if !message[EXTRA].is_null() {
        reading.kept[EXTRA] = message[EXTRA].clone();
    }
    // The form before `tool_calls`, which some servers still send.
    let function = &message["function_call"];
    match function.is_object() {
        true => add_calls(&json!([{ "index": 0, "function": function }]), reading),
        false => add_calls(&message["tool_calls"], reading),
    }
}

fn part(part: &ContentPart) -> Option<Value> {
    match part {
        ContentPart::Text(text) => Some(json!({ "type": "text", "text": text })),
        ContentPart::Image(image) => {
            let url =
                format!("data:{};base64,{}", image.format.mime(), STANDARD.encode(&image.bytes));
            Some(json!({ "type": "image_url", "image_url": { "url": url } }))
        }
        ContentPart::Kept(_) | ContentPart::Call(_) | ContentPart::Result(_) => None,
    }
}

/// Reads calls, whole or in pieces. In a stream a piece names its call by `index`, but Ollama's all
/// have the index 0 (ollama #15457), older servers send none (ollama #7881), and only the first
/// piece has id and name. So a piece with another id begins another call, and one without an index
/// and a name continues the last.
fn add_calls(calls: &Value, reading: &mut PartialResponse) {
    for piece in calls.as_array().into_iter().flatten() {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (id, name) = (text(&piece["id"]), text(&piece["function"]["name"]));
        let index = piece["index"].as_u64();
        // An object instead of a string: Ollama's own API, and gateways that pass it on.
        let arguments = match &piece["function"]["arguments"] {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let open = match index {
            Some(_) => reading.calls.iter().rposition(|call| call.index == index),
            None if id.is_empty() && name.is_empty() => reading.calls.len().checked_sub(1),
            None => None,
        };
        // A second call under the same index has another id, or another name after arguments.
        let same = |call: &PartialCall| {
            let is_other = !call.arguments.is_empty() && !name.is_empty() && name != call.name;
            (id.is_empty() || call.id.is_empty() || call.id == id) && !is_other
        };
        match open.and_then(|at| reading.calls.get_mut(at)).filter(|call| same(call)) {
            Some(call) => {
                if call.id.is_empty() {
                    call.id = id;
                }
                // A name comes in pieces, or again with each piece.
                if call.name != name {
                    call.name += &name;
                }
                call.arguments += &arguments;
                if call.kept.is_null() {
                    call.kept = piece[EXTRA].clone();
                }
            }
            None => {
                let kept = piece[EXTRA].clone();
                reading.add_call(PartialCall { index, id, name, arguments, kept });
                if reading.over {
                    return;
                }
            }
        }
    }
}

/// The text of a message and the reasoning beside it: a string, a list of parts, or an object, as
/// servers send that parse a model's JSON.
fn content(content: &Value) -> (String, String) {
    let (mut text, mut thought) = (String::new(), String::new());
    match content {
        Value::String(string) => text.clone_from(string),
        Value::Array(parts) => {
            for part in parts {
                let kind = part["type"].as_str().unwrap_or_default();
                let into = match kind.contains("think") || kind.contains("reason") {
                    true => &mut thought,
                    false => &mut text,
                };
                *into += part["text"].as_str().or(part.as_str()).unwrap_or_default();
            }
        }
        Value::Object(object) => match object.get("text").and_then(Value::as_str) {
            Some(string) => string.clone_into(&mut text),
            None => text = content.to_string(),
        },
        _ => {}
    }
    (text, thought)
}

fn finish(
    choice: &Value,
    refusal: &Value,
    reading: &mut PartialResponse,
) -> Result<(), RequestError> {
    // A refusal is beside the text.
    if let Some(refusal) = refusal.as_str().filter(|refusal| !refusal.is_empty()) {
        reading.text += refusal;
        reading.refused = true;
    }
    match choice["finish_reason"].as_str() {
        None => return Ok(()),
        Some("length") => reading.cut_off = true,
        Some("content_filter") => {
            return Err(RequestError::permanent(
                "the provider's content filter stopped the answer; rephrase the goal, or use another model.",
            ));
        }
        // OpenRouter's reason for a provider that failed while answering.
        Some("error") => {
            return Err(RequestError::transient("the provider failed while answering."));
        }
        Some(_) => {}
    }
    reading.ended = true;
    Ok(())
}

fn count(body: &Value, reading: &mut PartialResponse) {
    let usage = &body["usage"];
    if !usage.is_object() {
        return;
    }
    let number = |value: &Value| value.as_u64().unwrap_or(0);
    let spent = &mut reading.spent;
    spent.input_tokens = number(&usage["prompt_tokens"]);
    spent.output_tokens = number(&usage["completion_tokens"]);
    // DeepSeek has a key of its own.
    let cached = usage["prompt_tokens_details"]["cached_tokens"].as_u64();
    spent.cached_tokens = cached.unwrap_or_else(|| number(&usage["prompt_cache_hit_tokens"]));
    // OpenRouter reports its price in US dollars.
    spent.dollars = usage["cost"].as_f64();
}

/// Whether a schema is closed, as OpenAI's `strict` requires: each object allows only its named
/// properties and requires all of them.
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
