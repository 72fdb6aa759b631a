//! Values held against a descriptor: what a call brings, and what an answer gives.

use std::fmt;

use serde_json::Value;

use super::words::{harmless, shortened};
use super::{Capability, Param, Values};

/// A way in which values do not fit what a capability takes or gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Misfit {
    /// A required one is missing.
    Missing(String),
    /// One that the capability does not have.
    Unknown(String),
    /// One of another type.
    Type {
        /// Its name.
        name: String,
        /// The type that the descriptor names.
        wanted: &'static str,
        /// What was given, shortened.
        given: String,
    },
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(name) => write!(f, "`{}` is missing", shown(name)),
            Self::Unknown(name) => write!(f, "there is no `{}`", shown(name)),
            Self::Type { name, wanted, given } => {
                write!(f, "`{}` must be of the type {wanted}, not {given}", shown(name))
            }
        }
    }
}

impl Capability {
    /// Each way in which arguments do not fit what it takes, in the order of the descriptor; then what it does not know.
    pub fn misfits(&self, arguments: &Values) -> Vec<Misfit> {
        misfits(&self.input, arguments)
    }

    /// Each way in which an answer's values are not what it gives. None is a reason to throw the answer away: apps get types wrong (the
    /// authors' sample gives `"true"` for a boolean), and the specification lets them leave values out.
    pub fn oddities(&self, output: &Values) -> Vec<Misfit> {
        misfits(&self.output, output)
    }

    /// What it takes, for whoever got it wrong: `date (string, required), note (string)`; `nothing` where that is so.
    pub fn takes(&self) -> String {
        let told: Vec<String> = self.input.iter().take(MOST_TOLD).map(told).collect();
        match self.input.len() {
            0 => "nothing".into(),
            all if all > MOST_TOLD => format!("{} and {} more", told.join(", "), all - MOST_TOLD),
            _ => told.join(", "),
        }
    }

    /// Why it cannot be called with these arguments, in words that help to do it right; `None` where it can.
    pub fn refusal(&self, arguments: &Values) -> Option<String> {
        let misfits = self.misfits(arguments);
        let told: Vec<String> = misfits.iter().take(MOST_TOLD).map(ToString::to_string).collect();
        match misfits.len() {
            0 => None,
            all if all > MOST_TOLD => Some(format!(
                "{} and {} more; it takes {}",
                told.join("; "),
                all - MOST_TOLD,
                self.takes()
            )),
            _ => Some(format!("{}; it takes {}", told.join("; "), self.takes())),
        }
    }
}

/// The most parameters or misfits that a message tells.
const MOST_TOLD: usize = 8;

fn misfits(params: &[Param], values: &Values) -> Vec<Misfit> {
    let mut misfits = Vec::new();
    for param in params {
        match values.get(&param.name) {
            None if param.required => misfits.push(Misfit::Missing(param.name.clone())),
            Some(value) if !param.kind.fits(value) => misfits.push(Misfit::Type {
                name: param.name.clone(),
                wanted: param.kind.name(),
                given: given(value),
            }),
            _ => {}
        }
    }
    let unknown = values.keys().filter(|name| params.iter().all(|param| param.name != **name));
    misfits.extend(unknown.take(super::descriptor::MOST_PARAMETERS).cloned().map(Misfit::Unknown));
    misfits
}

/// A value by its type in JSON, and itself where it is small: `the number 5`, `the string "5"`, `a list`. A text is shown as it is or not
/// at all: a part of a secret is one that nobody knows again.
fn given(value: &Value) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Bool(is) => format!("the boolean {is}"),
        Value::Number(number) => format!("the number {}", shortened(&number.to_string(), 40)),
        Value::String(text) if harmless(text, 40) == *text => format!("the string \"{text}\""),
        Value::String(text) => format!("a string of {} characters", text.chars().count()),
        Value::Array(_) => "a list".into(),
        Value::Object(_) => "an object".into(),
    }
}

fn told(param: &Param) -> String {
    let required = if param.required { ", required" } else { "" };
    format!("{} ({}{required})", shown(&param.name), param.kind.name())
}

fn shown(name: &str) -> String {
    harmless(name, 60)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::Kind;
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
                param("who", Kind::String, true),
                param("seats", Kind::Integer, false),
                param("price", Kind::Number, false),
                param("window", Kind::Boolean, false),
            ],
            ..Capability::default()
        }
    }

    #[track_caller]
    fn check(arguments: Value, says: Option<&str>) {
        let Value::Object(arguments) = arguments else { panic!("{arguments} is no object") };
        let refusal = capability().refusal(&arguments);
        let first = refusal.as_deref().map(|says| says.split("; it takes").next().unwrap());
        assert_eq!(first, says, "{arguments:?}");
    }

    #[test]
    fn arguments_fit_by_the_rules_of_json_schema() {
        check(json!({"who": "Ann", "seats": 2, "price": 2.5, "window": false}), None);
        check(json!({"who": ""}), None);
        check(json!({"who": "Ann", "seats": 2.0, "price": 3}), None);
        check(json!({"who": "Ann", "seats": -9_007_199_254_740_993_i64}), None);
        check(
            json!({"who": "Ann", "seats": 2.5}),
            Some("`seats` must be of the type integer, not the number 2.5"),
        );
        check(
            json!({"who": "Ann", "seats": "2"}),
            Some("`seats` must be of the type integer, not the string \"2\""),
        );
        check(
            json!({"who": "Ann", "price": "2"}),
            Some("`price` must be of the type number, not the string \"2\""),
        );
        check(json!({"who": 5}), Some("`who` must be of the type string, not the number 5"));
        check(json!({"who": null}), Some("`who` must be of the type string, not null"));
        check(
            json!({"who": ["Ann"], "window": {}}),
            Some(
                "`who` must be of the type string, not a list; `window` must be of the type boolean, not an object",
            ),
        );
        check(
            json!({"who": "Ann", "window": "true"}),
            Some("`window` must be of the type boolean, not the string \"true\""),
        );
        check(json!({"seats": 1}), Some("`who` is missing"));
        // Of a secret that was filled in nothing is left that could not be known again.
        for (secret, says) in
            [("s3cret".repeat(7), "42 characters"), ("two  blanks".into(), "11 characters")]
        {
            let says = format!("`seats` must be of the type integer, not a string of {says}");
            check(json!({ "who": "Ann", "seats": secret }), Some(&says));
        }
        check(json!({"whom": "Ann"}), Some("`who` is missing; there is no `whom`"));
    }

    #[test]
    fn a_refusal_ends_with_what_the_capability_takes() {
        let refusal = capability().refusal(&Values::new());
        assert_eq!(
            refusal.as_deref(),
            Some(
                "`who` is missing; it takes who (string, required), seats (integer), price (number), window (boolean)"
            )
        );
        assert_eq!(Capability::default().takes(), "nothing");
    }

    #[test]
    fn a_refusal_is_of_bounded_length_and_harmless() {
        let arguments: Values =
            (0..10_000).map(|n| (format!("\u{1b}{n}\u{202e}").repeat(100), json!(1))).collect();
        let refusal = capability().refusal(&arguments).unwrap();
        assert!(refusal.len() < 2_000 && !refusal.contains(['\u{1b}', '\u{202e}']), "{refusal}");
    }
}
