//! Validates a call's arguments against the tool's published schema before they are read; in tests also a reply against
//! the output schema.
//!
//! [`check()`] supports the part of JSON Schema that our tools use; a test fails if a published schema uses more. Unknown
//! arguments are allowed unless the schema forbids them, and are reported ([`ignored`]). [`drop_nulls`] and
//! [`normalize_integers`] accept common variants.

mod check;
mod violation;

use serde_json::{Map, Value};

pub(super) use check::check;
pub use violation::{Rule, SchemaViolation};

/// Drops optional arguments that are null: some clients send null for every argument that the model omits.
pub(super) fn drop_nulls(schema: &Map<String, Value>, arguments: &mut Map<String, Value>) {
    let required = schema.get("required").and_then(Value::as_array);
    let needs = |name: &str| required.is_some_and(|all| all.iter().any(|one| one == name));
    arguments.retain(|name, value| !value.is_null() || needs(name));
}

/// Writes 3.0 as 3 if the schema wants an integer: JSON Schema treats them alike, and some clients have only floats.
pub(super) fn normalize_integers(schema: &Map<String, Value>, arguments: &mut Map<String, Value>) {
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, property) in properties.into_iter().flatten() {
        let Some(value) = arguments.get_mut(name).filter(|value| value.is_f64()) else { continue };
        let kinds = check::kinds(property);
        let whole = value
            .as_f64()
            .filter(|float| float.fract() == 0.0 && float.abs() <= check::LARGEST_INTEGER);
        if let Some(whole) = whole.filter(|_| kinds.contains(&"integer")) {
            *value = Value::from(whole as i64);
        }
    }
}

/// A sentence about arguments that the schema does not name; `None` if it names all.
pub(super) fn ignored(
    schema: &Map<String, Value>,
    arguments: &Map<String, Value>,
) -> Option<String> {
    const MOST: usize = 5;
    const LONGEST: usize = 40;
    let properties = schema.get("properties").and_then(Value::as_object);
    let known = |name: &String| properties.is_some_and(|all| all.contains_key(name));
    let short = |name: &String| format!("{:?}", name.chars().take(LONGEST).collect::<String>());
    let unknown: Vec<String> =
        arguments.keys().filter(|name| !known(name)).take(MOST).map(short).collect();
    let verb = if unknown.len() == 1 { "is not an argument" } else { "are not arguments" };
    (!unknown.is_empty()).then(|| format!("Ignored: {} {verb} of this tool", unknown.join(", ")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn unknown_arguments_are_reported() {
        let schema = json!({ "properties": { "x": {} } });
        let out =
            |arguments: Value| ignored(schema.as_object().unwrap(), arguments.as_object().unwrap());
        assert_eq!(out(json!({ "x": 1 })), None);
        let one = out(json!({ "x": 1, "submit": true })).unwrap();
        assert_eq!(one, "Ignored: \"submit\" is not an argument of this tool");
        let two = out(json!({ "a": 1, "b": 2 })).unwrap();
        assert_eq!(two, "Ignored: \"a\", \"b\" are not arguments of this tool");
        let many: Map<String, Value> = (0..100).map(|i| ("n".repeat(i + 1), json!(i))).collect();
        assert!(out(many.into()).unwrap().len() < 300);
    }

    #[test]
    fn whole_floats_become_integers() {
        let schema = json!({ "properties": {
            "n": { "type": "integer" },
            "open": { "anyOf": [{ "type": "integer" }, { "type": "null" }] },
            "x": { "type": "number" },
        } });
        let mut arguments = json!({ "n": 3.0, "open": -2.0, "x": 1.0 });
        let arguments = arguments.as_object_mut().unwrap();
        normalize_integers(schema.as_object().unwrap(), arguments);
        assert_eq!(Value::from(arguments.clone()).to_string(), r#"{"n":3,"open":-2,"x":1.0}"#);
        for other in [json!({ "n": 1.5 }), json!({ "n": 1e300 }), json!({ "n": "3.0" })] {
            let mut arguments = other.as_object().cloned().unwrap();
            normalize_integers(schema.as_object().unwrap(), &mut arguments);
            assert_eq!(Value::from(arguments), other);
        }
    }
}
