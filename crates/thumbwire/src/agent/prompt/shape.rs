//! The schemas of answers, for endpoints that can be held to one.
//!
//! They are as small as they can be: a small model on a small machine is held to them token by token. Names and types alone are
//! kept of the functions' schemas; what an argument means stands in the system part.

use serde_json::{Map, Value, json};

use crate::agent::sight::Function;

/// What an answer to a round is held to. One action, so that a list is not tried where one will do.
pub(in crate::agent) fn of_decision(functions: &[Function]) -> Value {
    let status = json!({ "type": "string", "enum": ["CONTINUE", "FINISH", "FAIL"] });
    let call = |name: &str, arguments: Value| {
        json!({
            "type": "object",
            "properties": { "function": { "type": "string", "enum": [name] }, "arguments": arguments, "status": status },
            "required": ["function", "arguments", "status"],
            "additionalProperties": false,
        })
    };
    let nothing =
        call("", json!({ "type": "object", "properties": {}, "additionalProperties": false }));
    let calls = functions.iter().map(|function| call(&function.name, bare(&function.schema)));
    let calls: Vec<Value> = calls.chain([nothing]).collect();
    let text = json!({ "type": "string" });
    let texts = json!({ "type": "array", "items": text });
    json!({
        "type": "object",
        "properties": {
            "observation": text,
            "thought": text,
            "action": { "anyOf": calls },
            "plan": texts,
            "comment": text,
            "result": text,
            "remember": texts,
        },
        "required": ["observation", "thought", "action", "plan"],
        "additionalProperties": false,
    })
}

/// What a judgement is held to.
pub(in crate::agent) fn of_judgement() -> Value {
    json!({
        "type": "object",
        "properties": { "why": { "type": "string" }, "reached": { "type": "boolean" } },
        "required": ["why", "reached"],
        "additionalProperties": false,
    })
}

/// The schema of a function's arguments, without what is for people.
fn bare(schema: &Map<String, Value>) -> Value {
    let properties = schema.get("properties").and_then(Value::as_object);
    let properties: Map<String, Value> = properties
        .into_iter()
        .flatten()
        .map(|(name, property)| (name.clone(), bare_property(property)))
        .collect();
    let mut bare =
        json!({ "type": "object", "properties": properties, "additionalProperties": false });
    if let Some(required) =
        schema.get("required").filter(|all| all.as_array().is_some_and(|all| !all.is_empty()))
    {
        bare["required"] = required.clone();
    }
    bare
}

fn bare_property(property: &Value) -> Value {
    const KEPT: [&str; 4] = ["type", "enum", "anyOf", "items"];
    match property {
        Value::Object(property) => {
            let kept = property.iter().filter(|(key, _)| KEPT.contains(&key.as_str()));
            kept.map(|(key, value)| (key.clone(), bare_property(value)))
                .collect::<Map<_, _>>()
                .into()
        }
        Value::Array(several) => several.iter().map(bare_property).collect(),
        other => other.clone(),
    }
}
