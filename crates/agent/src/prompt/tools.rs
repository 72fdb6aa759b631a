//! Functions as they are sent to a model natively: names, descriptions and schemas that every
//! provider accepts.
//!
//! A provider rejects the whole request for one schema that it does not like, and apps bring
//! functions of their own. So only common keywords are kept, and a function that cannot be
//! described is left out. Sources: OpenAI's API reference, "Function calling"; Anthropic's "Define
//! tools"; and errors that others report: a top level other than an object (both), lists without
//! `items` (OpenAI), references (Anthropic), property names outside `[a-zA-Z0-9_.-]{1,64}`
//! (Anthropic), names outside `[a-zA-Z0-9_-]{1,64}` (OpenAI). The arguments are checked against the
//! full schema anyway.

use serde_json::{Map, Value, json};
use thumbwire_base::truncate;

use super::system::render_description;
use crate::model::Tool;
use crate::policy::observation::Function;
use crate::reply::{FAIL, FINISH, UPDATE_PLAN};

/// The maximum number of functions in a request (OpenAI).
const MAX_TOOLS: usize = 128;
/// The longest name.
const MAX_NAME: usize = 64;
/// How deep a schema may be nested (OpenAI allows 10 levels with `strict`).
const MAX_DEPTH: usize = 8;
/// The longest list of allowed values that is kept.
const MAX_VALUES: usize = 200;

/// The functions, then those that end the run and keep the plan.
pub(super) fn tools(functions: &[Function]) -> Vec<Tool> {
    let ours = ours();
    let room = MAX_TOOLS - ours.len();
    functions.iter().filter_map(tool).take(room).chain(ours).collect()
}

fn ours() -> [Tool; 3] {
    let text = |description: &str| json!({ "type": "string", "description": description });
    let texts = |description: &str| json!({ "type": "array", "items": { "type": "string" }, "description": description });
    let tool = |name: &str, description: &str, properties: Value, required: &[&str]| Tool {
        name: name.into(),
        description: description.into(),
        schema: json!({ "type": "object", "properties": properties, "required": required }),
    };
    [
        tool(
            FINISH,
            "Ends the run: the screen shows that the request is fulfilled.",
            json!({ "result": text("The answer to the user's question, or what was done.") }),
            &["result"],
        ),
        tool(
            FAIL,
            "Ends the run: the request cannot be fulfilled.",
            json!({ "reason": text("Why not.") }),
            &["reason"],
        ),
        tool(
            UPDATE_PLAN,
            "Keeps your plan and facts for later steps. Call it before the next action, in the same answer.",
            json!({
                "plan": texts("All sub-goals in order. One that the screen shows as reached starts with \"done: \"."),
                "remember": texts("Facts that later screens will not show: figures, names, what you found where."),
            }),
            &[],
        ),
    ]
}

/// A function; `None` if no provider would accept it.
fn tool(function: &Function) -> Option<Tool> {
    let Function { name, description, schema, .. } = function;
    let schema = object(schema, MAX_DEPTH)?;
    (valid_name(name) == *name).then(|| Tool {
        name: name.clone(),
        description: render_description(description),
        schema,
    })
}

/// The name with letters that every provider accepts.
pub(super) fn valid_name(name: &str) -> String {
    let letter = |letter: char| match letter {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '_' | '-' => letter,
        _ => '_',
    };
    let name: String = name.chars().take(MAX_NAME).map(letter).collect();
    if name.is_empty() { "_".into() } else { name }
}

/// An object's schema; `None` if a required property cannot be described.
fn object(schema: &Map<String, Value>, depth: usize) -> Option<Value> {
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let mut properties = Map::new();
    for (name, property) in
        schema.get("properties").and_then(Value::as_object).into_iter().flatten()
    {
        let is_letter = |letter: char| letter.is_ascii_alphanumeric() || "_.-".contains(letter);
        let is_valid = (1..=64).contains(&name.len()) && name.chars().all(is_letter);
        match value(property, depth).filter(|_| is_valid) {
            Some(described) => drop(properties.insert(name.clone(), described)),
            None if required.contains(&name.as_str()) => return None,
            None => {}
        }
    }
    let known: Vec<&str> =
        required.into_iter().filter(|name| properties.contains_key(*name)).collect();
    let mut object = json!({ "type": "object", "properties": properties });
    if !known.is_empty() {
        object["required"] = json!(known);
    }
    Some(object)
}

/// A property's schema; `None` if it is too deep. What is not understood becomes a schema that
/// accepts anything.
fn value(schema: &Value, depth: usize) -> Option<Value> {
    let depth = depth.checked_sub(1)?;
    let nothing = Map::new();
    let schema = schema.as_object().unwrap_or(&nothing);
    let mut kept = Map::new();
    // `null` is for optional properties, which may be omitted instead.
    let kinds = match schema.get("type") {
        Some(Value::String(kind)) => vec![kind.as_str()],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let kinds: Vec<&str> = kinds.into_iter().filter(|kind| *kind != "null").collect();
    match kinds[..] {
        ["object"] => kept = object(schema, depth)?.as_object().cloned().unwrap_or_default(),
        [kind] => drop(kept.insert("type".into(), kind.into())),
        [] => {}
        _ => drop(kept.insert("type".into(), json!(kinds))),
    }
    if kinds.contains(&"array") {
        let items = schema.get("items").cloned().unwrap_or_default();
        kept.insert("items".into(), value(&items, depth)?);
    }
    if let Some(any) = schema.get("anyOf").or(schema.get("oneOf")).and_then(Value::as_array) {
        let any = any.iter().filter(|one| one["type"] != "null");
        let mut any: Vec<Value> = any.map(|one| value(one, depth)).collect::<Option<_>>()?;
        match (any.len(), any.pop()) {
            (1, Some(Value::Object(only))) => kept.extend(only),
            (_, Some(last)) => {
                any.push(last);
                kept.insert("anyOf".into(), any.into());
            }
            (_, None) => {}
        }
    }
    if let Some(allowed) = schema.get("enum").and_then(Value::as_array)
        && allowed.len() <= MAX_VALUES
    {
        let allowed: Vec<&Value> = allowed.iter().filter(|one| !one.is_null()).collect();
        kept.insert("enum".into(), json!(allowed));
    }
    for limit in ["minimum", "maximum"] {
        if let Some(number) = schema.get(limit).filter(|number| number.is_number()) {
            kept.insert(limit.into(), number.clone());
        }
    }
    if let Some(default) = schema.get("default").filter(|default| !default.is_null()) {
        kept.insert("default".into(), default.clone());
    }
    if let Some(text) = schema.get("description").and_then(Value::as_str) {
        // The list of required properties says so already.
        let text = render_description(text.trim_start_matches("REQUIRED: "));
        kept.insert("description".into(), truncate(&text, MAX_DESCRIPTION).into());
    }
    Some(kept.into())
}

/// The longest description of an argument, in characters.
const MAX_DESCRIPTION: usize = 240;

#[cfg(test)]
mod tests;
