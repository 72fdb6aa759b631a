//! Response schemas, for endpoints that can enforce one.
//!
//! They are small, because small models on small machines pay for every token of constrained
//! decoding: of the functions' schemas only names and types are kept, since the system part has the
//! descriptions. And they are closed: OpenAI's strict mode and Anthropic's structured outputs
//! require every property, so optional ones may be null.

use serde_json::{Map, Value, json};

use crate::policy::observation::Function;

/// The schema of a step's response. It allows one action, so that models do not write lists
/// needlessly.
pub(crate) fn decision_schema(functions: &[Function]) -> Value {
    let status = json!({ "type": "string", "enum": ["CONTINUE", "FINISH", "FAIL"] });
    let call = |names: &[&str], arguments: Value| {
        json!({
            "type": "object",
            "properties": { "function": { "type": "string", "enum": names }, "arguments": arguments, "status": status },
            "required": ["function", "arguments", "status"],
            "additionalProperties": false,
        })
    };
    // Functions that take the same arguments are said together.
    let nothing = strip_descriptions(&Map::new());
    let mut groups: Vec<(Value, Vec<&str>)> = vec![(nothing, vec![""])];
    for function in functions {
        let arguments = strip_descriptions(&function.schema);
        match groups.iter_mut().find(|(known, _)| *known == arguments) {
            Some((_, names)) => names.push(&function.name),
            None => groups.push((arguments, vec![&function.name])),
        }
    }
    let calls: Vec<Value> =
        groups.into_iter().map(|(arguments, names)| call(&names, arguments)).collect();
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
        "required": ["observation", "thought", "action", "plan", "comment", "result", "remember"],
        "additionalProperties": false,
    })
}

/// The schema of what is said of a button.
pub(crate) fn rating_schema() -> Value {
    json!({
        "type": "object",
        "properties": { "risky": { "type": "boolean" } },
        "required": ["risky"],
        "additionalProperties": false,
    })
}

/// The schema of a judgement.
pub(crate) fn judgement_schema() -> Value {
    json!({
        "type": "object",
        "properties": { "why": { "type": "string" }, "reached": { "type": "boolean" } },
        "required": ["why", "reached"],
        "additionalProperties": false,
    })
}

/// The schema of a plan.
pub(crate) fn plan_schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "why": { "type": "string" },
            "plan": { "type": "array", "items": { "type": "string" } },
        },
        "required": ["why", "plan"],
        "additionalProperties": false,
    })
}

/// The schema of a function's arguments, without descriptions and limits.
fn strip_descriptions(schema: &Map<String, Value>) -> Value {
    let needed = schema.get("required").and_then(Value::as_array);
    let needed = |name: &str| needed.is_some_and(|all| all.iter().any(|one| one == name));
    let named = schema.get("properties").and_then(Value::as_object);
    let mut properties = Map::new();
    for (name, property) in named.into_iter().flatten() {
        let mut property = strip_property(property);
        if !needed(name) {
            or_null(&mut property);
        }
        properties.insert(name.clone(), property);
    }
    let required: Vec<Value> = properties.keys().map(|name| name.as_str().into()).collect();
    json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false })
}

fn strip_property(property: &Value) -> Value {
    const KEPT: [&str; 4] = ["type", "enum", "anyOf", "items"];
    match property {
        Value::Object(property) => {
            let kept = property.iter().filter(|(key, _)| KEPT.contains(&key.as_str()));
            kept.map(|(key, value)| (key.clone(), strip_property(value)))
                .collect::<Map<_, _>>()
                .into()
        }
        Value::Array(several) => several.iter().map(strip_property).collect(),
        other => other.clone(),
    }
}

/// Makes an optional property nullable.
fn or_null(property: &mut Value) {
    let null = Value::from("null");
    match property.get_mut("type") {
        Some(Value::Array(kinds)) if !kinds.contains(&null) => kinds.push(null),
        Some(kind @ Value::String(_)) => *kind = json!([kind, "null"]),
        _ => {}
    }
    if let Some(allowed) = property.get_mut("enum").and_then(Value::as_array_mut)
        && !allowed.contains(&Value::Null)
    {
        allowed.push(Value::Null);
    }
    if let Some(any) = property.get_mut("anyOf").and_then(Value::as_array_mut) {
        let null = json!({ "type": "null" });
        if !any.contains(&null) {
            any.push(null);
        }
    }
}
