//! Checks arguments and output values against a capability's parameters.

use std::fmt;

use serde_json::Value;
use thumbwire_base::truncate;

use super::{Capability, Param, Values};
use thumbwire_base::sanitize;

/// A mismatch between values and a capability's parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArgumentMismatch {
    /// A required parameter is missing.
    Missing(String),
    /// The capability has no parameter of this name.
    Unknown(String),
    /// The value has the wrong type.
    Type {
        /// The parameter's name.
        name: String,
        /// The type in the descriptor.
        wanted: &'static str,
        /// The value's type, and the value itself if it is short.
        given: String,
    },
}

impl fmt::Display for ArgumentMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(name) => write!(f, "`{}` is missing", shown(name)),
            Self::Unknown(name) => write!(f, "`{}` is unknown", shown(name)),
            Self::Type { name, wanted, given } => {
                write!(f, "`{}` must be of type {wanted}, not {given}", shown(name))
            }
        }
    }
}

impl Capability {
    /// Every mismatch between the arguments and the input parameters, in descriptor order; unknown
    /// names come last.
    pub fn check_arguments(&self, arguments: &Values) -> Vec<ArgumentMismatch> {
        check_arguments(&self.input, arguments)
    }

    /// Every mismatch between a response's values and the output parameters. None justifies
    /// discarding the response: apps get types wrong (the authors' sample returns `"true"` for a
    /// boolean), and the specification lets them omit values.
    pub fn check_output(&self, output: &Values) -> Vec<ArgumentMismatch> {
        check_arguments(&self.output, output)
    }

    /// The expected arguments, for an error message: `date (string, required), note (string)`, or
    /// `nothing`.
    pub fn describe_arguments(&self) -> String {
        let out: Vec<String> = self.input.iter().take(MAX_REPORTED).map(describe).collect();
        match self.input.len() {
            0 => "nothing".into(),
            all if all > MAX_REPORTED => {
                format!("{} and {} more", out.join(", "), all - MAX_REPORTED)
            }
            _ => out.join(", "),
        }
    }

    /// Why the capability cannot be called with these arguments, and what it expects; `None` if it
    /// can.
    pub fn argument_error(&self, arguments: &Values) -> Option<String> {
        let misfits = self.check_arguments(arguments);
        let out: Vec<String> = misfits.iter().take(MAX_REPORTED).map(ToString::to_string).collect();
        match misfits.len() {
            0 => None,
            all if all > MAX_REPORTED => Some(format!(
                "{} and {} more; it takes {}",
                out.join("; "),
                all - MAX_REPORTED,
                self.describe_arguments()
            )),
            _ => Some(format!("{}; it takes {}", out.join("; "), self.describe_arguments())),
        }
    }
}

/// Limit on the parameters or mismatches that one message lists.
const MAX_REPORTED: usize = 8;

fn check_arguments(params: &[Param], values: &Values) -> Vec<ArgumentMismatch> {
    let mut misfits = Vec::new();
    for param in params {
        match values.get(&param.name) {
            None if param.required => misfits.push(ArgumentMismatch::Missing(param.name.clone())),
            Some(value) if !param.kind.accepts(value) => misfits.push(ArgumentMismatch::Type {
                name: param.name.clone(),
                wanted: param.kind.name(),
                given: given(value),
            }),
            _ => {}
        }
    }
    let unknown = values.keys().filter(|name| params.iter().all(|param| param.name != **name));
    misfits.extend(
        unknown.take(super::descriptor::MAX_PARAMETERS).cloned().map(ArgumentMismatch::Unknown),
    );
    misfits
}

/// A value by its JSON type, with the value itself if it is short: `the number 5`, `the string
/// "5"`, `a list`. A string is shown in full or not at all, so that redaction still recognizes a
/// secret in it.
fn given(value: &Value) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Bool(is) => format!("the boolean {is}"),
        Value::Number(number) => format!("the number {}", truncate(&number.to_string(), 40)),
        Value::String(text) if sanitize(text, 40) == *text => format!("the string \"{text}\""),
        Value::String(text) => format!("a string of {} characters", text.chars().count()),
        Value::Array(_) => "a list".into(),
        Value::Object(_) => "an object".into(),
    }
}

fn describe(param: &Param) -> String {
    let required = if param.required { ", required" } else { "" };
    format!("{} ({}{required})", shown(&param.name), param.kind.name())
}

fn shown(name: &str) -> String {
    sanitize(name, 60)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::ParamType;
    use super::*;

    fn capability() -> Capability {
        let param = |name: &str, kind, required| Param {
            name: name.into(),
            kind,
            required,
            ..Param::default()
        };
        Capability {
            id: "book".into(),
            input: vec![
                param("who", ParamType::String, true),
                param("seats", ParamType::Integer, false),
                param("price", ParamType::Number, false),
                param("window", ParamType::Boolean, false),
            ],
            ..Capability::default()
        }
    }

    #[track_caller]
    fn check(arguments: Value, text: Option<&str>) {
        let Value::Object(arguments) = arguments else { panic!("{arguments} is no object") };
        let refusal = capability().argument_error(&arguments);
        let first = refusal.as_deref().map(|message| message.split("; it takes").next().unwrap());
        assert_eq!(first, text, "{arguments:?}");
    }

    #[test]
    fn arguments_follow_json_schema_types() {
        check(json!({"who": "Ann", "seats": 2, "price": 2.5, "window": false}), None);
        check(json!({"who": ""}), None);
        check(json!({"who": "Ann", "seats": 2.0, "price": 3}), None);
        check(json!({"who": "Ann", "seats": -9_007_199_254_740_993_i64}), None);
        check(
            json!({"who": "Ann", "seats": 2.5}),
            Some("`seats` must be of type integer, not the number 2.5"),
        );
        check(
            json!({"who": "Ann", "seats": "2"}),
            Some("`seats` must be of type integer, not the string \"2\""),
        );
        check(
            json!({"who": "Ann", "price": "2"}),
            Some("`price` must be of type number, not the string \"2\""),
        );
        check(json!({"who": 5}), Some("`who` must be of type string, not the number 5"));
        check(json!({"who": null}), Some("`who` must be of type string, not null"));
        check(
            json!({"who": ["Ann"], "window": {}}),
            Some(
                "`who` must be of type string, not a list; `window` must be of type boolean, not an object",
            ),
        );
        check(
            json!({"who": "Ann", "window": "true"}),
            Some("`window` must be of type boolean, not the string \"true\""),
        );
        check(json!({"seats": 1}), Some("`who` is missing"));
        // A filled-in secret must not leave a fragment that redaction cannot recognize.
        for (secret, message) in
            [("s3cret".repeat(7), "42 characters"), ("two  blanks".into(), "11 characters")]
        {
            let message = format!("`seats` must be of type integer, not a string of {message}");
            check(json!({ "who": "Ann", "seats": secret }), Some(&message));
        }
        check(json!({"whom": "Ann"}), Some("`who` is missing; `whom` is unknown"));
    }

    #[test]
    fn argument_error_lists_the_expected_parameters() {
        let refusal = capability().argument_error(&Values::new());
        assert_eq!(
            refusal.as_deref(),
            Some(
                "`who` is missing; it takes who (string, required), seats (integer), price (number), window (boolean)"
            )
        );
        assert_eq!(Capability::default().describe_arguments(), "nothing");
    }

    #[test]
    fn argument_error_is_short_and_sanitized() {
        let arguments: Values =
            (0..10_000).map(|n| (format!("\u{1b}{n}\u{202e}").repeat(100), json!(1))).collect();
        let refusal = capability().argument_error(&arguments).unwrap();
        assert!(refusal.len() < 2_000 && !refusal.contains(['\u{1b}', '\u{202e}']), "{refusal}");
    }
}
