//! Checks a call's arguments against the tool's published schema, before anything is read from them.
//!
//! The part of JSON Schema that our tools use: an object's properties with `type`, `enum`, `minimum`, `maximum`, and
//! `required`. Arguments that the schema does not name are let through, as it says nothing against them, and told. A test
//! holds that no published schema uses more than is checked here.

use std::fmt;

use serde_json::{Map, Value};

/// Drops the optional arguments that are null: clients that make an object of every tool's arguments send so what
/// their model left away.
pub(super) fn drop_nulls(schema: &Map<String, Value>, arguments: &mut Map<String, Value>) {
    let required = schema.get("required").and_then(Value::as_array);
    let needs = |name: &str| required.is_some_and(|all| all.iter().any(|one| one == name));
    arguments.retain(|name, value| !value.is_null() || needs(name));
}

/// The arguments that the schema does not name, as a sentence; `None` where it names all.
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
    let verb = if unknown.len() == 1 { "is no argument" } else { "are no arguments" };
    (!unknown.is_empty()).then(|| format!("Ignored: {} {verb} of this tool", unknown.join(", ")))
}

/// How an argument does not fit its tool's schema. Its words name the argument, what it is and what it should be.
#[derive(Debug, Clone, PartialEq)]
pub struct Misfit {
    /// The argument.
    pub argument: String,
    /// What it is; `None` where it is missing.
    pub value: Option<Value>,
    /// What it should be.
    pub rule: Rule,
}

/// A rule of a schema.
#[derive(Debug, Clone, PartialEq)]
pub enum Rule {
    /// It must be there; the argument that the tool does not have may have been meant for it.
    Required {
        /// An argument that was given and that the tool does not have.
        instead: Option<String>,
    },
    /// It must be of this type.
    Type(String),
    /// It must be one of these.
    OneOf(Vec<Value>),
    /// It must be at least that.
    AtLeast(f64),
    /// It must be at most that.
    AtMost(f64),
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &self.argument;
        let is = self.value.as_ref().map(shortened).unwrap_or_default();
        match &self.rule {
            Rule::Required { instead: None } => write!(f, "`{name}` is required"),
            Rule::Required { instead: Some(given) } => {
                write!(f, "`{name}` is required; {given:?} is no argument of this tool")
            }
            Rule::Type(kind) => {
                let vowel = matches!(kind.as_str(), "integer" | "object" | "array");
                write!(f, "`{name}` must be {} {kind}, not {is}", if vowel { "an" } else { "a" })
            }
            Rule::OneOf(allowed) => {
                let allowed: Vec<_> = allowed.iter().filter_map(Value::as_str).collect();
                write!(f, "`{name}` is {is}; it must be one of {}", allowed.join(", "))
            }
            Rule::AtLeast(least) => write!(f, "`{name}` is {is}; it must be at least {least}"),
            Rule::AtMost(most) => write!(f, "`{name}` is {is}; it must be at most {most}"),
        }
    }
}

/// Checks `arguments`; gives what does not fit, in the schema's order, what is missing first.
pub(super) fn check(schema: &Map<String, Value>, arguments: &Map<String, Value>) -> Vec<Misfit> {
    let properties = schema.get("properties").and_then(Value::as_object);
    let required = schema.get("required").and_then(Value::as_array);
    let known = |name: &String| properties.is_some_and(|all| all.contains_key(name));
    let instead = arguments.keys().find(|given| !known(given));
    let names = required.into_iter().flatten().filter_map(Value::as_str);
    let mut misfits: Vec<Misfit> = names
        .filter(|name| !arguments.contains_key(*name))
        .map(|name| Misfit {
            argument: name.into(),
            value: None,
            rule: Rule::Required { instead: instead.cloned() },
        })
        .collect();
    for (name, property) in properties.into_iter().flatten() {
        let Some(value) = arguments.get(name) else { continue };
        misfits.extend(broken(property, value).map(|rule| Misfit {
            argument: name.clone(),
            value: Some(value.clone()),
            rule,
        }));
    }
    misfits
}

/// The first rule that a value breaks.
fn broken(property: &Value, value: &Value) -> Option<Rule> {
    if let Some(kind) = property.get("type").and_then(Value::as_str) {
        let right = match kind {
            "string" => value.is_string(),
            "number" => value.is_number(),
            "integer" => value.is_i64() || value.is_u64(),
            "boolean" => value.is_boolean(),
            "object" => value.is_object(),
            "array" => value.is_array(),
            _ => true,
        };
        if !right {
            return Some(Rule::Type(kind.into()));
        }
    }
    if let Some(allowed) = property.get("enum").and_then(Value::as_array)
        && !allowed.contains(value)
    {
        return Some(Rule::OneOf(allowed.clone()));
    }
    let bound = |key| property.get(key).and_then(Value::as_f64).zip(value.as_f64());
    match (bound("minimum"), bound("maximum")) {
        (Some((least, given)), _) if given < least => Some(Rule::AtLeast(least)),
        (_, Some((most, given))) if given > most => Some(Rule::AtMost(most)),
        _ => None,
    }
}

/// A value as it stands in a message: a caller may have sent a book.
fn shortened(value: &Value) -> String {
    const LONGEST: usize = 60;
    let text = value.to_string();
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn told(arguments: Value) -> Result<(), String> {
        let schema = json!({
            "type": "object",
            "properties": {
                "x": { "type": "number", "minimum": 0, "maximum": 10 },
                "n": { "type": "integer" },
                "key": { "type": "string", "enum": ["home", "back"] },
                "on": { "type": "boolean" },
            },
            "required": ["x"],
        });
        let misfits = check(schema.as_object().unwrap(), arguments.as_object().unwrap());
        misfits.first().map_or(Ok(()), |misfit| Err(misfit.to_string()))
    }

    #[test]
    fn arguments_that_the_schema_does_not_name_are_told() {
        let schema = json!({ "properties": { "x": {} } });
        let told =
            |arguments: Value| ignored(schema.as_object().unwrap(), arguments.as_object().unwrap());
        assert_eq!(told(json!({ "x": 1 })), None);
        let one = told(json!({ "x": 1, "submit": true })).unwrap();
        assert_eq!(one, "Ignored: \"submit\" is no argument of this tool");
        let two = told(json!({ "a": 1, "b": 2 })).unwrap();
        assert_eq!(two, "Ignored: \"a\", \"b\" are no arguments of this tool");
        let many: Map<String, Value> = (0..100).map(|i| ("n".repeat(i + 1), json!(i))).collect();
        assert!(told(many.into()).unwrap().len() < 300);
    }

    #[test]
    fn what_fits_the_schema_passes() {
        for fits in [
            json!({ "x": 0 }),
            json!({ "x": 10.0, "n": -3, "key": "back", "on": false }),
            json!({ "x": 1, "something else": [] }),
        ] {
            assert_eq!(told(fits), Ok(()));
        }
    }

    #[test]
    fn what_does_not_is_told_by_name_and_value() {
        let check = |arguments, words: &str| assert_eq!(told(arguments), Err(words.into()));
        check(json!({}), "`x` is required");
        check(json!({ "X": 1 }), "`x` is required; \"X\" is no argument of this tool");
        check(json!({ "x": "1" }), "`x` must be a number, not \"1\"");
        check(json!({ "x": null }), "`x` must be a number, not null");
        check(json!({ "x": 1, "n": 1.5 }), "`n` must be an integer, not 1.5");
        check(json!({ "x": 1, "on": 1 }), "`on` must be a boolean, not 1");
        check(json!({ "x": 1, "key": "menu" }), "`key` is \"menu\"; it must be one of home, back");
        check(json!({ "x": -0.5 }), "`x` is -0.5; it must be at least 0");
        check(json!({ "x": 10.5 }), "`x` is 10.5; it must be at most 10");
        let book = json!({ "x": "\u{e9}".repeat(1000) });
        assert!(told(book).unwrap_err().len() < 200);
    }

    #[test]
    fn no_published_schema_says_more_than_is_checked() {
        let known = ["type", "description", "default", "enum", "minimum", "maximum"];
        let surface = super::super::mobile::surface();
        assert!(!surface.tools.is_empty());
        for tool in surface.tools {
            let keys: Vec<&String> = tool.schema.keys().collect();
            assert!(
                keys.iter().all(|key| ["type", "properties", "required"].contains(&key.as_str()))
            );
            let properties = tool.schema["properties"].as_object().unwrap();
            for key in properties.values().flat_map(|property| property.as_object().unwrap().keys())
            {
                assert!(known.contains(&key.as_str()), "{}: {key}", tool.name);
            }
        }
    }
}
