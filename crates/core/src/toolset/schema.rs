//! Validates a call's arguments against the tool's published schema before they are read; in tests
//! also a reply against the output schema.
//!
//! [`check()`] supports the part of JSON Schema that our tools use; a test fails if a published
//! schema uses more. [`read_arguments`] reads common variants before. A misspelt argument is a
//! violation, too ([`misspelt`]), although the schemas of the specifications do not forbid it: it
//! must not be without effect. What resembles no argument is ignored, and the reply says so: hosts
//! such as n8n add arguments of their own to every call.

mod arguments;
mod check;
mod closest;
mod violation;

use serde_json::{Map, Value};

pub(super) use arguments::read_arguments;
pub(super) use check::check;
use closest::closest;
pub use violation::{Rule, SchemaViolation};

/// The top-level arguments that the schema does not name, with the one that each was probably meant
/// for. None if the schema accepts any.
pub(super) fn unknown(
    schema: &Map<String, Value>,
    arguments: &Map<String, Value>,
) -> Vec<(String, Option<String>)> {
    let properties = schema.get("properties").and_then(Value::as_object);
    let takes_any = schema.get("additionalProperties").is_some_and(|any| *any != false);
    let known = |name: &String| takes_any || properties.is_some_and(|all| all.contains_key(name));
    let unknown = arguments.keys().filter(|name| !known(name));
    let closest = |name: &String| {
        let names = properties.into_iter().flatten().map(|(name, _)| name.as_str());
        closest(name, names.filter(|name| !arguments.contains_key(*name)))
    };
    unknown.map(|name| (name.clone(), closest(name))).collect()
}

/// The violations by unknown arguments that resemble one of the schema.
pub(super) fn misspelt(
    unknown: &[(String, Option<String>)],
    arguments: &Map<String, Value>,
) -> Vec<SchemaViolation> {
    const MAX_COUNT: usize = 5;
    let violation = |(name, closest): &(String, Option<String>)| SchemaViolation {
        argument: name.clone(),
        value: arguments.get(name).cloned(),
        rule: Rule::Unknown { closest: closest.clone() },
    };
    unknown.iter().filter(|(_, closest)| closest.is_some()).take(MAX_COUNT).map(violation).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn misspelt_arguments_are_violations_and_others_are_not() {
        let schema =
            json!({ "properties": { "x": {}, "submit": {}, "element_id": {}, "text": {} } });
        let out = |arguments: Value| -> (Vec<String>, Vec<String>) {
            let arguments = arguments.as_object().unwrap();
            let found = unknown(schema.as_object().unwrap(), arguments);
            let misspelt = misspelt(&found, arguments);
            let ignored = found.into_iter().filter(|(_, closest)| closest.is_none());
            (
                misspelt.iter().map(ToString::to_string).collect(),
                ignored.map(|(name, _)| name).collect(),
            )
        };
        let (misspelt, ignored) = out(json!({ "x": 1, "sumbit": true, "a": 1, "id": "e1" }));
        assert_eq!(
            misspelt,
            [
                "`sumbit` is not an argument of this tool; did you mean `submit`?",
                "`id` is not an argument of this tool; did you mean `element_id`?",
            ]
        );
        assert_eq!(ignored, ["a"]);
        // As n8n, Cursor and Letta add them.
        let added = json!({
            "action": "sendMessage", "chatInput": "hi", "sessionId": "1", "toolCallId": "2",
            "explanation": "", "random_string": "", "request_heartbeat": true,
        });
        assert_eq!(out(added.clone()).0, [""; 0]);
        assert_eq!(out(added).1.len(), 7);
        let many: Map<String, Value> =
            (0..100).map(|i| (format!("text{}", "s".repeat(i + 1)), json!(i))).collect();
        assert_eq!(out(many.into()).0.len(), 5);
        let open = json!({ "properties": {}, "additionalProperties": true });
        let any = json!({ "a": 1 });
        assert_eq!(unknown(open.as_object().unwrap(), any.as_object().unwrap()), []);
    }
}
