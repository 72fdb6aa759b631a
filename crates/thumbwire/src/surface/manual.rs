//! The manual, out of the rows: the help of a tool, and the page of all (`docs/tools.md`).

use std::time::Duration;

use serde_json::{Map, Value};

use super::{Manner, Surface, Tool};

/// The page of these surfaces, in Markdown.
pub fn markdown(surfaces: &[Surface]) -> String {
    let mut page = String::from(HEAD);
    for surface in surfaces {
        page.push_str(&chapter(surface));
    }
    page
}

const HEAD: &str = "\
# The tools

Written by `thumbwire tools --markdown > docs/tools.md`; a test says when that is due.

A tool *looks* (it changes nothing), *settles* (twice is the same as once), *adds* (a file or a recording, each time another), or *acts*
(each time again, and perhaps for good, as a tap can): the annotations of MCP's `tools/list` say so too. The seconds are what a call is
given before it is told as timed out. What follows \"answers\" is the structured content of a result that is no failure; a tool without
answers in its text, or with a picture.
";

fn chapter(surface: &Surface) -> String {
    let Surface { name, server, tools, nested, .. } = surface;
    let read: usize = tools.iter().map(Tool::read_by_models).sum();
    let listed: usize = tools.iter().map(|tool| tool.to_json().to_string().len()).sum();
    let nested = nested.map_or(String::new(), |nested| {
        format!(" Arguments may also stand together inside of one, `{nested}`.")
    });
    let mut chapter = format!(
        "\n## `{name}`\n\n{} tools of the server \"{server}\". A model reads {read} bytes of them; `tools/list` has {listed}.{nested}\n",
        tools.len()
    );
    for tool in tools {
        chapter.push_str(&section(tool));
    }
    chapter
}

fn section(tool: &Tool) -> String {
    let mut section = format!("\n### `{}`\n\n{}\n", tool.name, tool.description);
    let arguments = arguments(&tool.schema);
    if !arguments.is_empty() {
        section.push_str("\n| argument | type | default | |\n|---|---|---|---|\n");
    }
    for Argument { name, kind, default, description } in arguments {
        let cell = |text: &str| text.replace('|', "\\|").replace('\n', " ");
        let (kind, description) = (cell(&kind), cell(&description));
        section.push_str(&format!("| `{name}` | {kind} | {default} | {description} |\n"));
    }
    let answers = tool.output.as_ref().map(|schema| {
        let shape = of(schema, &schema.clone().into());
        // Where the shape says nothing, the words may.
        let words = schema.get("description").and_then(Value::as_str);
        let words = words.filter(|_| shape == "object").map(|words| format!(": {words}"));
        format!("; answers `{shape}`{}", words.unwrap_or_default())
    });
    let (manner, time) = (verb(tool.manner), seconds(tool.budget));
    section.push_str(&format!("\n{manner}, {time}{}\n", answers.unwrap_or_default()));
    section
}

/// The help of one tool, for a terminal.
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
        let shape = of(schema, &schema.clone().into());
        help.push_str(&format!("\n    answers {shape}\n"));
    }
    help.push_str(&format!("\n    {}, {}\n", verb(tool.manner), seconds(tool.budget)));
    help
}

/// How it is called: `tap(x, y, [device])`.
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

fn verb(manner: Manner) -> &'static str {
    match manner {
        Manner::Looks => "looks",
        Manner::Settles => "settles",
        Manner::Adds => "adds",
        Manner::Acts => "acts",
    }
}

fn seconds(time: Duration) -> String {
    format!("{} s", time.as_secs_f64())
}

/// An argument as the manual tells it.
struct Argument {
    name: String,
    kind: String,
    /// "required", or empty where it may be left away and nothing stands for it.
    default: String,
    description: String,
}

fn arguments(schema: &Map<String, Value>) -> Vec<Argument> {
    let required = schema.get("required").and_then(Value::as_array);
    let needs = |name: &str| required.is_some_and(|all| all.iter().any(|one| one == name));
    let argument = |(name, property): (&String, &Value)| Argument {
        name: name.clone(),
        kind: without_null(&of(schema, property)),
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

/// An argument that may be null may be left away, which is told already.
fn without_null(kind: &str) -> String {
    kind.split(" | ").filter(|part| *part != "null").collect::<Vec<_>>().join(" | ")
}

/// A schema in short: `{x: integer, name?: string | null, rows: [{…}]}`, with what bounds it.
fn of(root: &Map<String, Value>, schema: &Value) -> String {
    shape(root, schema, 0)
}

/// Deeper than that a shape is not told; a definition may be made of itself.
const DEEPEST: usize = 8;

fn shape(root: &Map<String, Value>, schema: &Value, depth: usize) -> String {
    let inside = |schema: &Value| shape(root, schema, depth + 1);
    if depth > DEEPEST {
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
    let told = kinds.iter().map(|kind| match kind.as_str() {
        "object" => object(root, schema, depth),
        "array" => {
            schema.get("items").map_or("array".into(), |items| format!("[{}]", inside(items)))
        }
        // Of several types in an `anyOf` each has told its own.
        "null" => "null".into(),
        kind if schema.get("type").is_none() => kind.into(),
        kind => format!("{kind}{}", bounds(schema)),
    });
    told.collect::<Vec<_>>().join(" | ")
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
    let range = |least: Option<&Value>, most: Option<&Value>, unit: &str| match (least, most) {
        (Some(least), Some(most)) => format!(", {least} to {most}{unit}"),
        (Some(least), None) => format!(", from {least}{unit}"),
        (None, Some(most)) => format!(", up to {most}{unit}"),
        (None, None) => String::new(),
    };
    let mut told = range(number("minimum"), number("maximum"), "");
    told.push_str(&range(number("minLength"), number("maxLength"), " characters"));
    for (key, word) in [("exclusiveMinimum", "above"), ("exclusiveMaximum", "below")] {
        if let Some(bound) = number(key) {
            told.push_str(&format!(", {word} {bound}"));
        }
    }
    if let Some(pattern) = schema.get("pattern").and_then(Value::as_str) {
        told.push_str(&format!(", `{pattern}`"));
    }
    told
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_schema_is_told_in_short() {
        let check = |schema: Value, short: &str| {
            assert_eq!(of(schema.as_object().unwrap(), &schema), short);
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
