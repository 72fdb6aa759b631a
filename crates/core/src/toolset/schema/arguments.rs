//! Reads arguments as clients send them: what can be read in only one way is read so.
//!
//! Models and the programs around them write numbers, booleans, lists and objects as text, enum
//! values in another case, and `""` or null for what is not given (n8n, LangChain and Cursor do;
//! pydantic, on which the Android MCP server relies, accepts most of it). One reader does this for
//! all toolsets, before the schema is checked. What has no reading, or two, stays as it is, and the
//! check refuses it.

use serde_json::{Map, Value};

use super::check::kinds;

/// Reads the values of an object by its schema. Optional ones that say nothing are dropped.
pub(in super::super) fn read_arguments(
    schema: &Map<String, Value>,
    arguments: &mut Map<String, Value>,
) {
    read_object(schema, arguments, schema.get("$defs"), 0);
}

/// The maximum depth of a schema. A definition may refer to itself.
const MAX_DEPTH: usize = 16;

fn read_object(
    schema: &Map<String, Value>,
    object: &mut Map<String, Value>,
    definitions: Option<&Value>,
    depth: usize,
) {
    let required = schema.get("required").and_then(Value::as_array);
    let needs = |name: &str| required.is_some_and(|all| all.iter().any(|one| one == name));
    let properties = schema.get("properties").and_then(Value::as_object);
    object.retain(|name, value| {
        let property = properties.and_then(|all| all.get(name));
        needs(name) || !says_nothing(property, value)
    });
    for (name, property) in properties.into_iter().flatten() {
        if let Some(value) = object.get_mut(name) {
            read_value(property, value, definitions, depth);
        }
    }
}

/// Whether a value means "not given": null, or an empty text or a word such as `None` where the
/// schema expects no free text.
fn says_nothing(property: Option<&Value>, value: &Value) -> bool {
    let is_nothing = |text: &str| matches!(text.trim(), "" | "null" | "None" | "undefined");
    match value {
        Value::Null => true,
        Value::String(text) if is_nothing(text) => property.is_some_and(|property| {
            let kinds = kinds(property);
            let takes_text = kinds.is_empty() || kinds.contains(&"string");
            let choices = choices(property);
            !takes_text || !choices.is_empty() && !choices.contains(&text.as_str())
        }),
        _ => false,
    }
}

/// The texts that an enum allows.
fn choices(property: &Value) -> Vec<&str> {
    let listed = property["enum"].as_array().into_iter().flatten();
    let inside = property["anyOf"].as_array().into_iter().flatten().flat_map(choices);
    listed.filter_map(Value::as_str).chain(inside).collect()
}

fn read_value(property: &Value, value: &mut Value, definitions: Option<&Value>, depth: usize) {
    if depth >= MAX_DEPTH {
        return;
    }
    let name = property["$ref"].as_str().and_then(|name| name.strip_prefix("#/$defs/"));
    if let Some(definition) = name.and_then(|name| definitions?.get(name)) {
        return read_value(definition, value, definitions, depth + 1);
    }
    let kinds = kinds(property);
    if !kinds.is_empty() && !kinds.contains(&"array") {
        // A list of one item is that item.
        if let Value::Array(items) = value
            && let [only] = &mut items[..]
        {
            *value = only.take();
        }
    }
    if !kinds.iter().any(|kind| is_a(kind, value))
        && let [read] = &readings(&kinds, property, value)[..]
    {
        *value = read.clone();
    }
    match value {
        Value::String(text) => {
            let choices = choices(property);
            if !choices.is_empty() && !choices.contains(&text.as_str()) {
                let given = plain(text.trim().trim_matches(['"', '\'']));
                let meant = choices.iter().find(|choice| plain(choice) == given);
                meant.into_iter().for_each(|choice| *text = (*choice).to_owned());
            }
        }
        // JSON Schema treats 3.0 and 3 alike, and some clients have only floats.
        Value::Number(number) if number.is_f64() && kinds.contains(&"integer") => {
            if let Some(whole) = whole(number.as_f64()) {
                *value = whole.into();
            }
        }
        Value::Array(items) => {
            let schema = &property["items"];
            items.iter_mut().for_each(|item| read_value(schema, item, definitions, depth + 1));
        }
        Value::Object(object) => {
            if let Some(schema) = property.as_object() {
                read_object(schema, object, definitions, depth + 1);
            }
        }
        _ => {}
    }
}

/// What a value of another type means as one of these types.
fn readings(kinds: &[&str], property: &Value, value: &Value) -> Vec<Value> {
    let parsed = |text: &str| serde_json::from_str::<Value>(text.trim()).ok();
    // A number or boolean that was written as text twice.
    let inner = value.as_str().and_then(parsed).filter(Value::is_string);
    let value = inner.as_ref().unwrap_or(value);
    let read = |kind: &str| -> Option<Value> {
        Some(match (kind, value) {
            ("integer", Value::String(text)) => match text.trim().parse::<i64>() {
                Ok(number) => number.into(),
                Err(_) => whole(text.trim().parse().ok())?.into(),
            },
            ("number", Value::String(text)) if !kinds.contains(&"integer") => {
                let number: f64 = text.trim().parse().ok().filter(|it: &f64| it.is_finite())?;
                parsed(text).filter(Value::is_number).unwrap_or_else(|| number.into())
            }
            ("boolean", Value::String(text)) => match &*text.trim().to_ascii_lowercase() {
                "true" | "yes" | "on" | "1" => true.into(),
                "false" | "no" | "off" | "0" => false.into(),
                _ => return None,
            },
            ("boolean", Value::Number(number)) => match number.as_f64()? {
                0.0 => false.into(),
                1.0 => true.into(),
                _ => return None,
            },
            ("string", Value::Number(number)) => match whole(number.as_f64()) {
                Some(whole) => whole.to_string().into(),
                None => number.to_string().into(),
            },
            ("string", Value::Bool(flag)) => flag.to_string().into(),
            ("array", Value::String(text)) => match parsed(text) {
                Some(list @ Value::Array(_)) => list,
                _ if self::kinds(&property["items"]) == ["string"] => vec![value.clone()].into(),
                _ => return None,
            },
            ("array", Value::Object(_)) => vec![value.clone()].into(),
            ("object", Value::String(text)) => parsed(text).filter(Value::is_object)?,
            ("object", Value::Array(items)) if items.is_empty() => Map::new().into(),
            _ => return None,
        })
    };
    kinds.iter().filter_map(|kind| read(kind)).collect()
}

fn is_a(kind: &str, value: &Value) -> bool {
    match kind {
        "string" => value.is_string(),
        "number" | "integer" => value.is_number(),
        "boolean" => value.is_boolean(),
        "object" => value.is_object(),
        "array" => value.is_array(),
        _ => true,
    }
}

/// A float that is an integer which all programs agree on.
fn whole(float: Option<f64>) -> Option<i64> {
    float
        .filter(|float| float.fract() == 0.0 && float.abs() <= super::check::MAX_INTEGER)
        .map(|float| float as i64)
}

/// An enum value without case and word separators: `LEFT` and ` left `, `open-url` and `Open URL`.
fn plain(text: &str) -> String {
    let letters = text.trim().chars().filter(|c| !matches!(c, '-' | '_' | ' '));
    letters.flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn schema() -> Map<String, Value> {
        let schema = json!({
            "properties": {
                "x": { "type": "integer" },
                "n": { "type": ["integer", "null"] },
                "open": { "anyOf": [{ "type": "integer" }, { "type": "null" }] },
                "part": { "type": "number" },
                "on": { "type": "boolean" },
                "way": { "type": "string", "enum": ["left", "right", "way_out"] },
                "text": { "type": "string" },
                "tags": { "type": "array", "items": { "type": "string" } },
                "steps": { "type": "array", "items": { "$ref": "#/$defs/step" } },
                "more": { "type": "object", "properties": { "deep": { "type": "boolean" } } },
                "any": {},
                "either": { "type": ["boolean", "string"] },
            },
            "required": ["text"],
            "$defs": { "step": { "type": "object", "properties": { "wait": { "type": "number" } } } },
        });
        schema.as_object().unwrap().clone()
    }

    fn read(name: &str, given: Value) -> Option<Value> {
        let mut arguments = Map::from_iter([(name.to_owned(), given)]);
        read_arguments(&schema(), &mut arguments);
        arguments.remove(name)
    }

    #[test]
    fn value_with_one_reading_is_read() {
        for (name, given, expected) in [
            ("x", json!("5"), json!(5)),
            ("x", json!(" -5 "), json!(-5)),
            ("x", json!("5.0"), json!(5)),
            ("x", json!(5.0), json!(5)),
            ("n", json!("7"), json!(7)),
            ("open", json!("7"), json!(7)),
            ("part", json!("0.5"), json!(0.5)),
            ("part", json!("3"), json!(3)),
            ("on", json!("True"), json!(true)),
            ("on", json!("no"), json!(false)),
            ("on", json!(1), json!(true)),
            ("way", json!(" LEFT "), json!("left")),
            ("way", json!("Way-Out"), json!("way_out")),
            ("way", json!("\"left\""), json!("left")),
            ("way", json!(["Left"]), json!("left")),
            ("x", json!([5]), json!(5)),
            ("x", json!(["5"]), json!(5)),
            ("x", json!("\"5\""), json!(5)),
            ("on", json!("\"true\""), json!(true)),
            ("text", json!(["a"]), json!("a")),
            ("text", json!(5), json!("5")),
            ("text", json!(12.0), json!("12")),
            ("text", json!(true), json!("true")),
            ("tags", json!("[\"a\", \"b\"]"), json!(["a", "b"])),
            ("tags", json!("a, b"), json!(["a, b"])),
            ("steps", json!("[{\"wait\": \"2\"}]"), json!([{ "wait": 2 }])),
            ("steps", json!({ "wait": "0.5" }), json!([{ "wait": 0.5 }])),
            ("more", json!("{\"deep\": \"TRUE\"}"), json!({ "deep": true })),
            ("more", json!([]), json!({})),
        ] {
            assert_eq!(read(name, given.clone()), Some(expected), "{name}: {given}");
        }
    }

    #[test]
    fn value_without_a_reading_stays() {
        for (name, stays) in [
            ("x", json!(1.5)),
            ("x", json!("five")),
            ("x", json!("1.5")),
            ("x", json!(true)),
            ("part", json!("NaN")),
            ("on", json!("maybe")),
            ("on", json!(2)),
            ("way", json!("up")),
            ("text", json!(" LEFT ")),
            ("text", json!("5")),
            ("text", json!("")),
            ("text", json!(null)),
            ("text", json!(["a", "b"])),
            ("text", json!("\"5\"")),
            ("text", json!("null")),
            ("x", json!([1, 2])),
            ("steps", json!("tap")),
            ("more", json!("{")),
            ("any", json!("5")),
            ("either", json!("true")),
            ("unknown", json!("5")),
        ] {
            assert_eq!(read(name, stays.clone()), Some(stays.clone()), "{name}: {stays}");
        }
    }

    #[test]
    fn what_says_nothing_counts_as_not_given() {
        for (name, given) in [
            ("x", json!(null)),
            ("x", json!("")),
            ("n", json!("  ")),
            ("on", json!("")),
            ("way", json!("")),
            ("tags", json!("")),
            ("more", json!("")),
            ("x", json!("null")),
            ("on", json!("None")),
            ("way", json!("undefined")),
            ("unknown", json!(null)),
        ] {
            assert_eq!(read(name, given.clone()), None, "{name}: {given}");
        }
    }
}
