//! Repairs requests that can be read in only one way, before rmcp sees them: some clients send `[]`
//! for no parameters, or arguments as text, and some leave out what says nothing.
//!
//! Start with [`repair`]. What cannot be repaired gets an error that says what is missing
//! ([`fault`]).

use rmcp::model::{
    CallToolRequestParams, CompleteRequestParams, GetPromptRequestParams, GetSkillRequestParams,
    InitializeRequestParams, ReadResourceRequestParams, SubscribeRequestParams,
    UnsubscribeRequestParams,
};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

/// The member of `_meta` in which a request names its revision, since 2026-07-28.
pub(super) const REVISION_OF_A_REQUEST: &str = "io.modelcontextprotocol/protocolVersion";

/// Up to here a float represents every integer exactly.
const MAX_INTEGER: f64 = (1_u64 << 53) as f64;

/// Repairs a request. Returns whether something was changed.
pub(super) fn repair(message: &mut Value) -> bool {
    let Some(object) = message.as_object_mut() else { return false };
    let Some(method) = object.get("method").and_then(Value::as_str).map(str::to_owned) else {
        return false;
    };
    let mut changed = false;
    if !object.contains_key("jsonrpc") {
        object.insert("jsonrpc".into(), "2.0".into());
        changed = true;
    }
    // Some clients have only floats.
    let id = object.get("id").filter(|id| id.is_f64()).and_then(Value::as_f64);
    if let Some(id) = id.filter(|id| id.fract() == 0.0 && id.abs() < MAX_INTEGER) {
        object.insert("id".into(), (id as i64).into());
        changed = true;
    }
    if object.get("params").is_some_and(is_empty) {
        object.insert("params".into(), json!({}));
        changed = true;
    }
    if method == "initialize" {
        changed |= fill_handshake(object);
    }
    if method == "tools/call"
        && let Some(Value::Object(params)) = object.get_mut("params")
        && let Some(arguments) = params.get("arguments").and_then(arguments)
    {
        params.insert("arguments".into(), arguments.into());
        changed = true;
    }
    changed
}

/// Whether a value says that there are no parameters.
fn is_empty(params: &Value) -> bool {
    match params {
        Value::Null => true,
        Value::Array(items) => items.is_empty(),
        Value::String(text) => text.trim().is_empty(),
        _ => false,
    }
}

/// A tool's arguments, if they are an object in another form.
fn arguments(value: &Value) -> Option<Map<String, Value>> {
    match value {
        empty if is_empty(empty) => Some(Map::new()),
        Value::String(text) => serde_json::from_str(text).ok(),
        _ => None,
    }
}

/// Adds what a handshake lacks and what decides nothing.
fn fill_handshake(message: &mut Map<String, Value>) -> bool {
    let params = message.entry("params").or_insert_with(|| json!({}));
    let Some(params) = params.as_object_mut() else { return false };
    // The revisions whose requests name theirs have no handshake.
    if params.get("_meta").is_some_and(|meta| meta.get(REVISION_OF_A_REQUEST).is_some()) {
        return false;
    }
    let before = params.len();
    params.entry("capabilities").or_insert_with(|| json!({}));
    params
        .entry("clientInfo")
        .or_insert_with(|| json!({ "name": "unknown", "version": "unknown" }));
    // The revision of most clients today.
    params.entry("protocolVersion").or_insert_with(|| "2025-06-18".into());
    params.len() != before
}

/// Why the parameters of a request cannot be read; `None` if the method is unknown, or nothing is
/// wrong with them.
pub(super) fn fault(method: &str, params: Option<&Value>) -> Option<String> {
    fn reason<T: DeserializeOwned>(params: &Value) -> Option<String> {
        serde_json::from_value::<T>(params.clone()).err().map(|error| error.to_string())
    }
    let empty = json!({});
    let params = params.unwrap_or(&empty);
    let reason = match method {
        "tools/call" => match &params["arguments"] {
            Value::Null | Value::Object(_) => reason::<CallToolRequestParams>(params)?,
            other => format!("`arguments` must be an object, not {}", kind(other)),
        },
        "initialize" => reason::<InitializeRequestParams>(params)?,
        "resources/read" => reason::<ReadResourceRequestParams>(params)?,
        "resources/subscribe" => reason::<SubscribeRequestParams>(params)?,
        "resources/unsubscribe" => reason::<UnsubscribeRequestParams>(params)?,
        "skills/get" => reason::<GetSkillRequestParams>(params)?,
        "prompts/get" => reason::<GetPromptRequestParams>(params)?,
        "completion/complete" => reason::<CompleteRequestParams>(params)?,
        _ if !params.is_object() => format!("`params` must be an object, not {}", kind(params)),
        _ => return None,
    };
    Some(format!("Invalid params of {method}: {reason}"))
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_with_one_reading_are_repaired() {
        let call = |arguments: Value| {
            json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call",
                "params": { "name": "tap", "arguments": arguments } })
        };
        for (arguments, expected) in [
            (json!([]), json!({})),
            (json!(null), json!({})),
            (json!(""), json!({})),
            (json!("{\"x\": 1}"), json!({ "x": 1 })),
        ] {
            let mut message = call(arguments);
            assert!(repair(&mut message));
            assert_eq!(message, call(expected));
        }
        for stays in [json!({ "x": 1 }), json!([1]), json!("x"), json!(5)] {
            let mut message = call(stays.clone());
            assert!(!repair(&mut message), "{stays}");
        }
        for (id, read) in [(json!(7.0), json!(7)), (json!(1.5), json!(1.5))] {
            let mut ping = json!({ "jsonrpc": "2.0", "id": id, "method": "ping" });
            assert_eq!(repair(&mut ping), id != read);
            assert_eq!(ping["id"].to_string(), read.to_string());
        }
        for params in [json!([]), json!(null), json!("")] {
            let mut list = json!({ "id": 1, "method": "tools/list", "params": params });
            assert!(repair(&mut list));
            let whole = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {} });
            assert_eq!(list, whole);
        }
        let mut hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize",
            "params": { "protocolVersion": "2024-11-05" } });
        assert!(repair(&mut hello));
        assert_eq!(hello["params"]["protocolVersion"], "2024-11-05");
        assert_eq!(hello["params"]["clientInfo"]["name"], "unknown");
        assert_eq!(fault("initialize", Some(&hello["params"])), None);
    }

    #[test]
    fn faults_name_what_is_missing() {
        let check = |method: &str, params: Value, expected: &str| {
            let text = fault(method, Some(&params)).unwrap();
            assert!(text.contains(method) && text.contains(expected), "{text}");
        };
        check("tools/call", json!({ "arguments": {} }), "`name`");
        check("tools/call", json!({ "name": "x", "arguments": 5 }), "an object, not a number");
        check("resources/read", json!({}), "`uri`");
        check("prompts/get", json!({}), "`name`");
        check("tools/list", json!([1]), "an object, not a list");
        assert_eq!(fault("no/such", None), None);
    }
}
