//! What people read about a tool, from its row: [`help`] for a terminal, and its parts for
//! `docs/tools.md`, which a test writes.

use std::time::Duration;

use serde_json::{Map, Value};

use super::mobile::ToolGroup;
use super::{Tool, ToolEffect};

/// Help for one tool, for a terminal.
pub fn help(tool: &Tool) -> String {
    let arguments = arguments(&tool.schema);
    let mut help = format!("{}\n\n{}\n", call_form(tool), indented(&tool.description));
    let widest = |part: fn(&Argument) -> &str| {
        arguments.iter().map(|argument| part(argument).chars().count()).max().unwrap_or(0)
    };
    let (names, kinds) = (widest(|one| &one.name), widest(|one| &one.kind));
    if !arguments.is_empty() {
        help.push('\n');
    }
    for Argument { name, kind, default, description } in &arguments {
        let default = match default.as_str() {
            "" => String::new(),
            "required" => " (required)".into(),
            default => format!(" [default: {default}]"),
        };
        let line = format!("    {name:names$}  {kind:kinds$}  {description}{default}");
        help.push_str(line.trim_end());
        help.push('\n');
    }
    if let Some(schema) = &tool.output {
        help.push_str(&format!("\n    returns {}\n", short_form(schema)));
    }
    help.push_str(&format!("\n    {}\n", manner(tool)));
    help
}

/// The call form: `tap(x, y, [device])`.
pub fn call_form(tool: &Tool) -> String {
    let form = |argument: Argument| match argument.default.as_str() {
        "required" => argument.name,
        _ => format!("[{}]", argument.name),
    };
    let arguments: Vec<String> = arguments(&tool.schema).into_iter().map(form).collect();
    format!("{}({})", tool.name, arguments.join(", "))
}

fn indented(text: &str) -> String {
    text.lines().map(|line| format!("    {line}")).collect::<Vec<_>>().join("\n")
}

/// The tool's effect and timeout, and the flag that it needs, if it needs one.
pub fn manner(tool: &Tool) -> String {
    let (effect, time) = (verb(tool.effect), seconds(tool.budget));
    match ToolGroup::flag_of(&tool.name) {
        Some(flag) => format!("{effect}, {time}, needs `serve {flag}`"),
        None => format!("{effect}, {time}"),
    }
}

fn verb(effect: ToolEffect) -> &'static str {
    match effect {
        ToolEffect::ReadOnly => "read-only",
        ToolEffect::Idempotent => "idempotent",
        ToolEffect::Additive => "additive",
        ToolEffect::Destructive => "destructive",
    }
}

fn seconds(time: Duration) -> String {
    format!("{} s", time.as_secs_f64())
}

/// An argument as people read about it.
pub struct Argument {
    /// Its key.
    pub name: String,
    /// Its type in short form ([`short_form`]), without `null`.
    pub kind: String,
    /// "required", the default as JSON, or empty if the argument is optional and has no default.
    pub default: String,
    /// The words of the schema.
    pub description: String,
}

/// The arguments of a tool's schema, in its order.
pub fn arguments(schema: &Map<String, Value>) -> Vec<Argument> {
    let required = schema.get("required").and_then(Value::as_array);
    let needs = |name: &str| required.is_some_and(|all| all.iter().any(|one| one == name));
    let argument = |(name, property): (&String, &Value)| Argument {
        name: name.clone(),
        kind: without_null(&shape(schema, property, 0)),
        default: match property.get("default").filter(|default| !default.is_null()) {
            _ if needs(name) => "required".into(),
            Some(default) if *default == "" => "\"\"".into(),
            Some(default) => default.to_string(),
            None => String::new(),
        },
        description: property.get("description").and_then(Value::as_str).unwrap_or("").into(),
    };
    let properties = schema.get("properties").and_then(Value::as_object);
    properties.into_iter().flatten().map(argument).collect()
}

/// Drops `null` from a type: the default column already says that the argument is optional.
fn without_null(kind: &str) -> String {
    kind.split(" | ").filter(|part| *part != "null").collect::<Vec<_>>().join(" | ")
}

/// A schema in short form with its bounds: `{x: integer, name?: string | null, rows: [{…}]}`.
pub fn short_form(schema: &Map<String, Value>) -> String {
    shape(schema, &schema.clone().into(), 0)
}

/// How deep a schema is shown. A definition may refer to itself.
const MAX_DEPTH: usize = 8;

fn shape(root: &Map<String, Value>, schema: &Value, depth: usize) -> String {
    let inside = |schema: &Value| shape(root, schema, depth + 1);
    if depth > MAX_DEPTH {
        return "…".into();
    }
    let text = |key: &str| schema.get(key).and_then(Value::as_str);
    if let Some(name) = text("$ref").and_then(|way| way.strip_prefix("#/$defs/")) {
        let definition = root.get("$defs").and_then(|all| all.get(name));
        return definition.map_or_else(|| name.into(), inside);
    }
    if let Some(values) = schema.get("enum").and_then(Value::as_array) {
        return values.iter().map(Value::to_string).collect::<Vec<_>>().join(" | ");
    }
    let kinds: Vec<String> = match (schema.get("type"), schema.get("anyOf")) {
        (Some(Value::String(kind)), _) => vec![kind.clone()],
        (Some(Value::Array(kinds)), _) => {
            kinds.iter().filter_map(Value::as_str).map(str::to_owned).collect()
        }
        (_, Some(Value::Array(any))) => any.iter().map(inside).collect(),
        _ => vec!["any".into()],
    };
    let out = kinds.iter().map(|kind| match kind.as_str() {
        "object" => object(root, schema, depth),
        "array" => {
            schema.get("items").map_or("array".into(), |items| format!("[{}]", inside(items)))
        }
        // In an `anyOf` each alternative already shows its own bounds.
        "null" => "null".into(),
        kind if schema.get("type").is_none() => kind.into(),
        kind => format!("{kind}{}", bounds(schema)),
    });
    out.collect::<Vec<_>>().join(" | ")
}

fn object(root: &Map<String, Value>, schema: &Value, depth: usize) -> String {
    let required = schema.get("required").and_then(Value::as_array);
    let open = |name: &str| !required.is_some_and(|all| all.iter().any(|one| one == name));
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return "object".into();
    };
    let parts: Vec<String> = properties
        .iter()
        .map(|(name, schema)| {
            let mark = if open(name) { "?" } else { "" };
            format!("{name}{mark}: {}", shape(root, schema, depth + 1))
        })
        .collect();
    format!("{{{}}}", parts.join(", "))
}

fn bounds(schema: &Value) -> String {
    let number = |key: &str| schema.get(key).filter(|bound| bound.is_number());
    let range = |min: Option<&Value>, max: Option<&Value>, unit: &str| match (min, max) {
        (Some(min), Some(max)) => format!(", {min} to {max}{unit}"),
        (Some(min), None) => format!(", from {min}{unit}"),
        (None, Some(max)) => format!(", up to {max}{unit}"),
        (None, None) => String::new(),
    };
    let mut out = range(number("minimum"), number("maximum"), "");
    out.push_str(&range(number("minLength"), number("maxLength"), " characters"));
    for (key, word) in [("exclusiveMinimum", "above"), ("exclusiveMaximum", "below")] {
        if let Some(bound) = number(key) {
            out.push_str(&format!(", {word} {bound}"));
        }
    }
    if let Some(pattern) = schema.get("pattern").and_then(Value::as_str) {
        out.push_str(&format!(", `{pattern}`"));
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn schemas_have_a_short_form() {
        let check = |schema: Value, short: &str| {
            assert_eq!(short_form(schema.as_object().unwrap()), short);
        };
        check(json!({ "type": "string" }), "string");
        check(json!({ "enum": ["a", 1] }), "\"a\" | 1");
        check(json!({ "type": ["integer", "null"], "minimum": 1 }), "integer, from 1 | null");
        check(
            json!({ "anyOf": [{ "type": "integer", "maximum": 9 }, { "type": "null" }] }),
            "integer, up to 9 | null",
        );
        check(json!({ "type": "integer", "minimum": 0, "maximum": 4000 }), "integer, 0 to 4000");
        check(
            json!({ "type": "string", "pattern": "^a$", "maxLength": 9 }),
            "string, up to 9 characters, `^a$`",
        );
        check(
            json!({
                "$defs": { "Row": { "type": "object", "properties": { "id": { "type": "string" } } } },
                "type": "object",
                "properties": {
                    "rows": { "type": "array", "items": { "$ref": "#/$defs/Row" } },
                    "x": { "anyOf": [{ "type": "number" }, { "type": "null" }] },
                },
                "required": ["rows"],
            }),
            "{rows: [{id?: string}], x?: number | null}",
        );
        let circle = json!({ "$defs": { "A": { "$ref": "#/$defs/A" } }, "$ref": "#/$defs/A" });
        check(circle, "…");
    }
}
