//! Validates a call's arguments against the tool's published schema before they are read; in tests
//! also a reply against the output schema.
//!
//! [`check()`] supports the part of JSON Schema that our tools use; a test fails if a published
//! schema uses more. Unknown arguments are violations, too ([`unknown`]), although the schemas of
//! the specifications do not forbid them: a misspelt one must not be without effect. [`drop_nulls`]
//! and [`normalize_integers`] accept common variants.

mod check;
mod closest;
mod violation;

use serde_json::{Map, Value};

pub(super) use check::check;
use closest::closest;
pub use violation::{Rule, SchemaViolation};

/// Drops optional arguments that are null: some clients send null for every argument that the model
/// omits.
pub(super) fn drop_nulls(schema: &Map<String, Value>, arguments: &mut Map<String, Value>) {
    let required = schema.get("required").and_then(Value::as_array);
    let needs = |name: &str| required.is_some_and(|all| all.iter().any(|one| one == name));
    arguments.retain(|name, value| !value.is_null() || needs(name));
}

/// Writes 3.0 as 3 if the schema wants an integer: JSON Schema treats them alike, and some clients
/// have only floats.
pub(super) fn normalize_integers(schema: &Map<String, Value>, arguments: &mut Map<String, Value>) {
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, property) in properties.into_iter().flatten() {
        let Some(value) = arguments.get_mut(name).filter(|value| value.is_f64()) else { continue };
        let kinds = check::kinds(property);
        let whole = value
            .as_f64()
            .filter(|float| float.fract() == 0.0 && float.abs() <= check::MAX_INTEGER);
        if let Some(whole) = whole.filter(|_| kinds.contains(&"integer")) {
            *value = Value::from(whole as i64);
        }
    }
}

/// The top-level arguments that the schema does not name. An argument that is null counts as
/// omitted.
pub(super) fn unknown(
    schema: &Map<String, Value>,
    arguments: &Map<String, Value>,
) -> Vec<SchemaViolation> {
    const MAX_COUNT: usize = 5;
    let properties = schema.get("properties").and_then(Value::as_object);
    let known = |name: &String| properties.is_some_and(|all| all.contains_key(name));
    let unknown = arguments.iter().filter(|(name, value)| !known(name) && !value.is_null());
    let violation = |(name, value): (&String, &Value)| {
        let names = properties.into_iter().flatten().map(|(name, _)| name.as_str());
        let rule = Rule::Unknown { closest: closest(name, names) };
        SchemaViolation { argument: name.clone(), value: Some(value.clone()), rule }
    };
    unknown.take(MAX_COUNT).map(violation).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn unknown_arguments_are_violations() {
        let schema = json!({ "properties": { "x": {}, "submit": {} } });
        let out = |arguments: Value| -> Vec<String> {
            let found = unknown(schema.as_object().unwrap(), arguments.as_object().unwrap());
            found.iter().map(ToString::to_string).collect()
        };
        assert_eq!(out(json!({ "x": 1, "other": null })), Vec::<String>::new());
        assert_eq!(
            out(json!({ "sumbit": true, "a": 1 })),
            [
                "`sumbit` is not an argument of this tool; did you mean `submit`?",
                "`a` is not an argument of this tool"
            ]
        );
        let many: Map<String, Value> = (0..100).map(|i| ("n".repeat(i + 1), json!(i))).collect();
        assert_eq!(out(many.into()).len(), 5);
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
