//! Coerces arguments of nearly the right type before they are validated.
//!
//! The Android MCP server reads its arguments with pydantic, which accepts `"5"` for an integer and
//! `"true"` for a boolean; the server itself also accepts `" LEFT "` for one of `left` and `right`.
//! Its clients rely on this. Other values stay unchanged, and validation rejects them.

use serde_json::{Map, Value};

/// Coerces values that can be read in only one way.
pub(super) fn coerce(schema: &Map<String, Value>, arguments: &mut Map<String, Value>) {
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, property) in properties.into_iter().flatten() {
        let Some(value) = arguments.get_mut(name) else { continue };
        if let Some(right) = reading(property, value) {
            *value = right;
        }
    }
}

fn reading(property: &Value, value: &Value) -> Option<Value> {
    let takes = |kind: &str| match &property["type"] {
        Value::String(one) => one == kind,
        Value::Array(all) => all.iter().any(|one| one == kind),
        _ => false,
    };
    match value {
        Value::String(word) if takes("string") => {
            let allowed = property["enum"].as_array()?;
            let meant = |one: &&Value| {
                one.as_str().is_some_and(|one| one.eq_ignore_ascii_case(word.trim()))
            };
            allowed.iter().find(meant).cloned()
        }
        Value::String(word) if takes("integer") => word.trim().parse::<i64>().ok().map(Value::from),
        Value::String(word) if takes("boolean") => match &*word.trim().to_ascii_lowercase() {
            "true" => Some(true.into()),
            "false" => Some(false.into()),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_unambiguous_values_are_coerced() {
        let schema = json!({ "properties": {
            "x": { "type": "integer" },
            "n": { "type": ["integer", "null"] },
            "on": { "type": "boolean" },
            "way": { "type": "string", "enum": ["left", "right"] },
            "text": { "type": "string" },
        }});
        let check = |name: &str, given: Value, right: Value| {
            let mut arguments = Map::from_iter([(name.to_owned(), given)]);
            coerce(schema.as_object().unwrap(), &mut arguments);
            assert_eq!(arguments[name], right);
        };
        check("x", json!("5"), json!(5));
        check("x", json!(" -5 "), json!(-5));
        check("n", json!("7"), json!(7));
        check("on", json!("True"), json!(true));
        check("way", json!(" LEFT "), json!("left"));
        for (name, stays) in [
            ("x", json!(1.5)),
            ("x", json!("five")),
            ("x", json!("1.5")),
            ("x", json!(true)),
            ("n", json!(null)),
            ("on", json!("maybe")),
            ("on", json!(1)),
            ("way", json!("up")),
            ("text", json!("5")),
            ("text", json!(" LEFT ")),
            ("text", json!(5)),
            ("unknown", json!("5")),
        ] {
            check(name, stays.clone(), stays);
        }
    }
}
