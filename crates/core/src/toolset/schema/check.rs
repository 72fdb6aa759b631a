//! Validates a value against a schema: JSON Schema 2020-12, limited to the keywords in `CHECKED`.

use regex_lite::Regex;
use serde_json::{Map, Number, Value};

use super::closest::closest;
use super::{Rule, SchemaViolation};

/// The supported keywords.
#[cfg(test)]
pub(super) const CHECKED: [&str; 16] = [
    "$ref",
    "additionalProperties",
    "anyOf",
    "enum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "items",
    "maxItems",
    "maxLength",
    "maximum",
    "minItems",
    "minLength",
    "minimum",
    "pattern",
    "properties",
    "type",
];

/// The maximum number of reported violations: every item of a long list may be wrong.
const MAX_COUNT: usize = 20;

/// The maximum depth of a schema. A definition may refer to itself.
const MAX_DEPTH: usize = 64;

/// Validates `object`. Returns the violations in the schema's order, missing properties first.
pub(in super::super) fn check(
    schema: &Map<String, Value>,
    object: &Map<String, Value>,
) -> Vec<SchemaViolation> {
    let mut check = Check { definitions: schema.get("$defs"), violations: Vec::new(), depth: 0 };
    check.object("", schema, object);
    check.violations
}

/// The types that a schema allows, without `null`; empty if it allows all.
pub(super) fn kinds(schema: &Value) -> Vec<&str> {
    let named = match schema.get("type") {
        Some(Value::String(kind)) => vec![kind.as_str()],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => {
            let any = schema.get("anyOf").and_then(Value::as_array);
            any.into_iter().flatten().flat_map(kinds).collect()
        }
    };
    named.into_iter().filter(|kind| *kind != "null").collect()
}

/// Up to here `f64` represents every integer exactly.
pub(super) const MAX_INTEGER: f64 = (1_u64 << 53) as f64;

struct Check<'a> {
    definitions: Option<&'a Value>,
    violations: Vec<SchemaViolation>,
    depth: usize,
}

impl<'a> Check<'a> {
    fn push_violation(&mut self, at: &str, value: Option<&Value>, rule: Rule) {
        if self.violations.len() < MAX_COUNT {
            self.violations.push(SchemaViolation {
                argument: at.into(),
                value: value.cloned(),
                rule,
            });
        }
    }

    /// Validates the value at the path `at`.
    fn value(&mut self, at: &str, schema: &'a Value, value: &Value) {
        if self.depth >= MAX_DEPTH {
            return;
        }
        self.depth += 1;
        match schema {
            Value::Bool(false) => {
                self.push_violation(at, Some(value), Rule::Unknown { closest: None });
            }
            Value::Object(schema) => self.by(at, schema, value),
            _ => {}
        }
        self.depth -= 1;
    }

    fn by(&mut self, at: &str, schema: &'a Map<String, Value>, value: &Value) {
        let reference = schema.get("$ref").and_then(Value::as_str);
        if let Some(name) = reference.and_then(|reference| reference.strip_prefix("#/$defs/"))
            && let Some(definition) = self.definitions.and_then(|all| all.get(name))
        {
            self.value(at, definition, value);
        }
        if let Some(any) = schema.get("anyOf").and_then(Value::as_array) {
            self.any(at, any, value);
        }
        if let Some(rule) = broken(schema, value) {
            return self.push_violation(at, Some(value), rule);
        }
        match value {
            Value::Object(object) => self.object(at, schema, object),
            Value::Array(items) => {
                let Some(schema) = schema.get("items") else { return };
                for (i, item) in items.iter().enumerate() {
                    self.value(&format!("{at}[{i}]"), schema, item);
                }
            }
            _ => {}
        }
    }

    fn object(&mut self, at: &str, schema: &'a Map<String, Value>, object: &Map<String, Value>) {
        let inside = |name: &str| if at.is_empty() { name.into() } else { format!("{at}.{name}") };
        let properties = schema.get("properties").and_then(Value::as_object);
        let known = |name: &String| properties.is_some_and(|all| all.contains_key(name));
        let required = schema.get("required").and_then(Value::as_array);
        for name in required.into_iter().flatten().filter_map(Value::as_str) {
            if !object.contains_key(name) {
                let instead = object.keys().find(|given| !known(given)).cloned();
                self.push_violation(&inside(name), None, Rule::Required { instead });
            }
        }
        for (name, schema) in properties.into_iter().flatten() {
            if let Some(value) = object.get(name) {
                self.value(&inside(name), schema, value);
            }
        }
        if let Some(schema) = schema.get("additionalProperties") {
            for (name, value) in object.iter().filter(|(name, _)| !known(name)) {
                if *schema == Value::Bool(false) {
                    let known = properties.into_iter().flatten().map(|(name, _)| name.as_str());
                    let rule = Rule::Unknown { closest: closest(name, known) };
                    self.push_violation(&inside(name), Some(value), rule);
                } else {
                    self.value(&inside(name), schema, value);
                }
            }
        }
    }

    /// Validates an `anyOf`. If no alternative fits, reports the violations of the first one with
    /// the value's type.
    fn any(&mut self, at: &str, any: &'a [Value], value: &Value) {
        let before = self.violations.len();
        let mut out: Option<Vec<SchemaViolation>> = None;
        for schema in any {
            let mut tried =
                Check { definitions: self.definitions, violations: Vec::new(), depth: self.depth };
            tried.value(at, schema, value);
            if tried.violations.is_empty() {
                return;
            }
            let of_its_type = !tried.violations.iter().any(|violation| {
                violation.argument == at && matches!(violation.rule, Rule::Type(_))
            });
            if of_its_type {
                out = out.or(Some(tried.violations));
            }
        }
        match out {
            Some(violations) => self.violations.extend(violations),
            None => {
                let kinds: Vec<&str> = any.iter().flat_map(kinds).collect();
                self.push_violation(at, Some(value), Rule::Type(kinds.join(" or ")));
            }
        }
        self.violations.truncate(MAX_COUNT.max(before));
    }
}

/// The first rule that a value violates, without its contents.
fn broken(schema: &Map<String, Value>, value: &Value) -> Option<Rule> {
    let allowed: Vec<&str> = match schema.get("type") {
        Some(Value::String(kind)) => vec![kind],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    if !allowed.is_empty() && !allowed.iter().any(|kind| is_a(kind, value)) {
        let named: Vec<&str> = allowed.into_iter().filter(|kind| *kind != "null").collect();
        let named = if named.is_empty() { "null".into() } else { named.join(" or ") };
        return Some(Rule::Type(named));
    }
    if let Some(allowed) = schema.get("enum").and_then(Value::as_array)
        && !allowed.contains(value)
    {
        return Some(Rule::Enum(allowed.clone()));
    }
    match value {
        Value::Number(number) => {
            out_of_bounds(schema, number.as_f64()?).or_else(|| too_large(&allowed, number))
        }
        Value::String(text) => {
            // Counted in code points, as JSON Schema does.
            let characters = || text.chars().count() as u64;
            wrong_length(schema, "minLength", "maxLength", characters).or_else(|| {
                let pattern = schema.get("pattern").and_then(Value::as_str)?;
                // Patterns are not anchored implicitly. An invalid one would accept everything; a
                // test compiles them all.
                let matches = Regex::new(pattern).is_ok_and(|regex| !regex.is_match(text));
                matches.then(|| Rule::Pattern(pattern.into()))
            })
        }
        Value::Array(items) => wrong_length(schema, "minItems", "maxItems", || items.len() as u64),
        _ => None,
    }
}

fn is_a(kind: &str, value: &Value) -> bool {
    match kind {
        "string" => value.is_string(),
        "number" => value.is_number(),
        // In JSON Schema 3.0 is an integer.
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "boolean" => value.is_boolean(),
        "object" => value.is_object(),
        "array" => value.is_array(),
        "null" => value.is_null(),
        _ => true,
    }
}

fn out_of_bounds(schema: &Map<String, Value>, number: f64) -> Option<Rule> {
    let bound = |key| schema.get(key).and_then(Value::as_f64);
    let min = bound("minimum").filter(|min| number < *min).map(Rule::Minimum);
    let max = bound("maximum").filter(|max| number > *max).map(Rule::Maximum);
    let above =
        bound("exclusiveMinimum").filter(|bound| number <= *bound).map(Rule::ExclusiveMinimum);
    let below =
        bound("exclusiveMaximum").filter(|bound| number >= *bound).map(Rule::ExclusiveMaximum);
    min.or(max).or(above).or(below)
}

/// Rejects integers that do not fit an argument. Up to 2^53 all programs agree on them (RFC 7493,
/// section 2.2).
fn too_large(allowed: &[&str], number: &Number) -> Option<Rule> {
    let float = number.as_f64().filter(|float| float.abs() > MAX_INTEGER)?;
    let integer = allowed.contains(&"integer") && !allowed.contains(&"number");
    let held = number.as_i64().is_some() || !integer;
    let rule = if float > 0.0 { Rule::Maximum } else { Rule::Minimum };
    (!held).then_some(rule(MAX_INTEGER.copysign(float)))
}

fn wrong_length(
    schema: &Map<String, Value>,
    min: &str,
    max: &str,
    length: impl Fn() -> u64,
) -> Option<Rule> {
    let bound = |key| schema.get(key).and_then(Value::as_u64);
    let short = bound(min).filter(|min| length() < *min).map(Rule::MinLength);
    short.or_else(|| bound(max).filter(|max| length() > *max).map(Rule::MaxLength))
}

#[cfg(test)]
mod tests;
