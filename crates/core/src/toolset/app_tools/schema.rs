//! The published JSON schema of an app tool's arguments, from the app's parameters or from its own
//! schema.
//!
//! Clients reject the whole list if one property name has another form (Anthropic's API accepts
//! `^[a-zA-Z0-9_.-]{1,64}$`), so a parameter may be published under another name;
//! [`PublishedSchema::originals`] maps it back. Of an app's own schema only the keywords that we
//! validate are kept; everything else is checked against the descriptor when the tool is called.

use serde_json::{Map, Value, json};

use super::names::{digits, fitted};
use super::sanitize::sanitize;
use crate::action::{AppTool, Parameter};

/// The published arguments of a tool.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PublishedSchema {
    pub(super) schema: Map<String, Value>,
    /// Pairs of published and original names, where they differ.
    renamed: Vec<(String, String)>,
}

/// The maximum length of a parameter's description, in characters.
const MAX_DESCRIPTION: usize = 120;
/// Tools with more parameters or larger schemas (in bytes) are not published: a model reads all of
/// it before each call.
const MAX_PARAMETERS: usize = 32;
const MAX_BYTES: usize = 4_000;
/// The maximum depth of an app's schema.
const MAX_DEPTH: usize = 4;
/// The maximum number of values of an `enum`, and their maximum length in characters.
const MAX_VALUES: usize = 32;
const MAX_VALUE: usize = 80;
/// Our own argument, which selects the phone.
const DEVICE: &str = "device";

/// The published arguments of a tool.
///
/// # Errors
/// Why it cannot be published.
pub(super) fn publish(tool: &AppTool) -> Result<PublishedSchema, String> {
    let own = tool.schema.as_ref().filter(|schema| schema.get("properties").is_some());
    let (properties, required) = match own {
        Some(schema) => of_schema(schema)?,
        None => of_parameters(&tool.input),
    };
    if properties.len() > MAX_PARAMETERS {
        return Err(format!(
            "it has {} parameters; the maximum is {MAX_PARAMETERS}",
            properties.len()
        ));
    }
    let mut published = Map::new();
    let mut renamed = Vec::new();
    let mut needed = Vec::new();
    for (original, property) in properties {
        let name = published_name(&original);
        if required.contains(&original) {
            needed.push(Value::from(name.clone()));
        }
        published.insert(name.clone(), property);
        if name != original {
            renamed.push((name, original));
        }
    }
    let mut schema = Map::new();
    schema.insert("type".into(), "object".into());
    schema.insert("properties".into(), published.into());
    if !needed.is_empty() {
        schema.insert("required".into(), needed.into());
    }
    schema.insert("additionalProperties".into(), false.into());
    let size = Value::from(schema.clone()).to_string().len();
    match size <= MAX_BYTES {
        true => Ok(PublishedSchema { schema, renamed }),
        false => Err(format!("its schema has {size} bytes; the maximum is {MAX_BYTES}")),
    }
}

impl PublishedSchema {
    /// Maps a call's arguments to the app's own names.
    pub(super) fn originals(&self, arguments: Map<String, Value>) -> Map<String, Value> {
        let original = |name: String| {
            let known = self.renamed.iter().find(|(published, _)| *published == name);
            known.map_or(name, |(_, original)| original.clone())
        };
        arguments.into_iter().map(|(name, value)| (original(name), value)).collect()
    }
}

/// Properties with the app's names, and the required names.
type Properties = (Vec<(String, Value)>, Vec<String>);

fn of_parameters(input: &[Parameter]) -> Properties {
    let mut properties: Vec<(String, Value)> = Vec::new();
    for parameter in input.iter().take(MAX_PARAMETERS + 1) {
        if properties.iter().all(|(name, _)| *name != parameter.name) {
            let mut property = json!({ "type": parameter.kind });
            describe(&mut property, &parameter.description);
            properties.push((parameter.name.clone(), property));
        }
    }
    let required = input.iter().filter(|it| it.required).map(|it| it.name.clone()).collect();
    (properties, required)
}

fn of_schema(schema: &Map<String, Value>) -> Result<Properties, String> {
    let named = schema.get("properties").and_then(Value::as_object);
    let mut properties = Vec::new();
    for (name, property) in named.into_iter().flatten().take(MAX_PARAMETERS + 1) {
        properties.push((name.clone(), supported_part(property, 1)?));
    }
    Ok((properties, strings(schema.get("required"))))
}

/// The part of an app's schema that we can validate, with sanitized descriptions.
fn supported_part(schema: &Value, depth: usize) -> Result<Value, String> {
    const KINDS: [&str; 6] = ["string", "boolean", "integer", "number", "array", "object"];
    const NUMBERS: [&str; 6] =
        ["minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems"];
    if depth > MAX_DEPTH {
        return Err("its schema is nested too deeply".into());
    }
    let mut kept_of = json!({});
    let kinds = match schema.get("type") {
        Some(Value::String(kind)) => vec![kind.clone()],
        kinds => strings(kinds),
    };
    let kinds: Vec<&str> =
        KINDS.into_iter().filter(|kind| kinds.iter().any(|it| it == kind)).collect();
    match kinds[..] {
        [] => {}
        [kind] => kept_of["type"] = kind.into(),
        _ => kept_of["type"] = kinds.clone().into(),
    }
    describe(&mut kept_of, schema["description"].as_str().unwrap_or_default());
    for key in NUMBERS {
        if let Some(bound @ Value::Number(_)) = schema.get(key) {
            kept_of[key] = bound.clone();
        }
    }
    let values = schema.get("enum").and_then(Value::as_array);
    let plain = |value: &Value| match value {
        Value::String(value) => sanitize(value, MAX_VALUE) == *value,
        other => !other.is_object() && !other.is_array(),
    };
    if let Some(values) = values.filter(|all| all.len() <= MAX_VALUES && all.iter().all(plain)) {
        kept_of["enum"] = values.clone().into();
    }
    if let Some(items) = schema.get("items").filter(|_| kinds.contains(&"array")) {
        kept_of["items"] = supported_part(items, depth + 1)?;
    }
    let inner = schema.get("properties").and_then(Value::as_object);
    if let Some(inner) = inner.filter(|_| kinds.contains(&"object")) {
        if inner.len() > MAX_PARAMETERS {
            return Err("an object parameter has too many properties".into());
        }
        let mut properties = Map::new();
        for (name, property) in inner {
            // Only top-level names can be mapped back when the tool is called.
            if published_name(name) != *name && name != DEVICE {
                return Err("an object parameter has a property with an unsupported name".into());
            }
            properties.insert(name.clone(), supported_part(property, depth + 1)?);
        }
        let required = strings(schema.get("required"));
        let required: Vec<String> =
            required.into_iter().filter(|name| properties.contains_key(name)).collect();
        if !required.is_empty() {
            kept_of["required"] = required.into();
        }
        kept_of["properties"] = properties.into();
    }
    Ok(kept_of)
}

fn describe(property: &mut Value, text: &str) {
    let text = sanitize(text, MAX_DESCRIPTION);
    if !text.is_empty() {
        property["description"] = text.into();
    }
}

fn strings(list: Option<&Value>) -> Vec<String> {
    let list = list.and_then(Value::as_array).into_iter().flatten();
    list.filter_map(Value::as_str).map(str::to_owned).collect()
}

/// The published name of a parameter: the app's own, unless clients reject it or it clashes with
/// ours.
fn published_name(name: &str) -> String {
    const MAX_LENGTH: usize = 64;
    const COUNT: usize = 8;
    match fitted(name, MAX_LENGTH) {
        (name, true) if name != DEVICE => name,
        (fitted, _) => {
            let stem: String = fitted.chars().take(MAX_LENGTH - 1 - COUNT).collect();
            format!("{stem}_{}", digits(&[name], COUNT))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameter(name: &str, kind: &'static str, required: bool) -> Parameter {
        Parameter { name: name.into(), kind, required, description: format!("The {name}") }
    }

    fn tool(input: Vec<Parameter>, schema: Option<Value>) -> AppTool {
        let schema = schema.and_then(|it| it.as_object().cloned());
        AppTool {
            id: "x".into(),
            description: String::new(),
            version: String::new(),
            service: None,
            input,
            output: Vec::new(),
            schema,
        }
    }

    #[test]
    fn parameters_become_a_closed_schema() {
        let input = vec![parameter("title", "string", true), parameter("pin", "boolean", false)];
        let taken = publish(&tool(input, None)).unwrap();
        assert_eq!(
            Value::from(taken.schema).to_string(),
            r#"{"type":"object","properties":{"title":{"type":"string","description":"The title"},"pin":{"type":"boolean","description":"The pin"}},"required":["title"],"additionalProperties":false}"#
        );
        let none = no_arguments();
        assert_eq!(none.schema.get("required"), None);
    }

    fn no_arguments() -> PublishedSchema {
        publish(&tool(Vec::new(), None)).unwrap()
    }

    #[test]
    fn unsupported_parameter_names_are_mapped_both_ways() {
        let input = ["device", "wann?", "", "日期"].map(|name| parameter(name, "string", true));
        let taken = publish(&tool(input.into(), None)).unwrap();
        let properties = taken.schema["properties"].as_object().unwrap();
        let published: Vec<&String> = properties.keys().collect();
        let fits = |name: &&String| fitted(name, 64).1 && *name != "device";
        assert!(published.len() == 4 && published.iter().all(fits), "{published:?}");
        let given = published.iter().map(|name| ((*name).clone(), json!(1))).collect();
        let original: Vec<String> = taken.originals(given).keys().cloned().collect();
        assert_eq!(original, ["device", "wann?", "", "日期"]);
    }

    #[test]
    fn own_schemas_keep_supported_keywords_only() {
        let own = json!({
            "type": "object",
            "properties": {
                "kind": { "type": "string", "enum": ["a", "b"], "pattern": "(a+)+$", "default": "<|x|>" },
                "evil": { "type": "string", "enum": ["<|im_start|>"] },
                "at": { "type": ["integer", "null"], "minimum": 3, "$ref": "#/x" },
                "who": {
                    "type": "array",
                    "items": { "type": "object", "properties": { "name": { "type": "string" } }, "required": ["name", "x"] },
                },
            },
            "required": ["kind", "gone"],
        });
        let taken = publish(&tool(Vec::new(), Some(own))).unwrap();
        assert_eq!(
            Value::from(taken.schema).to_string(),
            r#"{"type":"object","properties":{"kind":{"type":"string","enum":["a","b"]},"evil":{"type":"string"},"at":{"type":"integer","minimum":3},"who":{"type":"array","items":{"type":"object","required":["name"],"properties":{"name":{"type":"string"}}}}},"required":["kind"],"additionalProperties":false}"#
        );
    }

    #[test]
    fn oversized_schemas_are_not_published() {
        let reason = |tool: AppTool| publish(&tool).unwrap_err();
        let many = (0..100).map(|i| parameter(&format!("p{i}"), "string", false)).collect();
        assert!(reason(tool(many, None)).contains("parameters"));
        let mut deep = json!({ "type": "string" });
        for _ in 0..1000 {
            deep = json!({ "type": "array", "items": deep });
        }
        assert!(
            reason(tool(Vec::new(), Some(json!({ "properties": { "x": deep } })))).contains("deep")
        );
        let wide: Map<String, Value> = (0..100).map(|i| (i.to_string(), json!({}))).collect();
        let wide = json!({ "properties": { "x": { "type": "object", "properties": wide } } });
        assert!(reason(tool(Vec::new(), Some(wide))).contains("too many"));
        let long = (0..32).map(|i| Parameter {
            description: "x".repeat(100_000),
            ..parameter(&format!("p{i}"), "string", false)
        });
        assert!(reason(tool(long.collect(), None)).contains("bytes"));
    }
}
