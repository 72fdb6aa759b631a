//! Schema violations and their messages. A toolset may have its own messages.

use std::fmt;

use serde_json::Value;
use thumbwire_base::truncate;

/// How an argument violates its tool's schema. The message has the argument, its value, and what is
/// expected.
#[derive(Debug, Clone, PartialEq)]
pub struct SchemaViolation {
    /// The argument, or the path inside it: `bounds.left`, `rect[2]`.
    pub argument: String,
    /// Its value; `None` if it is missing.
    pub value: Option<Value>,
    /// The violated rule.
    pub rule: Rule,
}

/// A rule of a schema.
#[derive(Debug, Clone, PartialEq)]
pub enum Rule {
    /// It is required.
    Required {
        /// An unknown argument in the call that may have been meant for it.
        instead: Option<String>,
    },
    /// It must have this type; several are joined: "string or integer". Null is not named, since it
    /// counts as omitted.
    Type(String),
    /// It must be one of these.
    Enum(Vec<Value>),
    /// The inclusive minimum.
    Minimum(f64),
    /// The inclusive maximum.
    Maximum(f64),
    /// The exclusive minimum.
    ExclusiveMinimum(f64),
    /// The exclusive maximum.
    ExclusiveMaximum(f64),
    /// It must match this pattern.
    Pattern(String),
    /// The minimum number of characters or items.
    MinLength(u64),
    /// The maximum number of characters or items.
    MaxLength(u64),
    /// It is not one of the arguments.
    Unknown {
        /// The argument that was probably meant.
        closest: Option<String>,
    },
}

impl fmt::Display for SchemaViolation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = truncate(&self.argument, MAX_LENGTH);
        let is = self.value.as_ref().map(|value| truncate(&value.to_string(), MAX_LENGTH));
        let is = is.unwrap_or_default();
        match &self.rule {
            Rule::Required { instead: None } => write!(f, "`{name}` is required"),
            Rule::Required { instead: Some(given) } => {
                let given = truncate(given, MAX_LENGTH);
                write!(f, "`{name}` is required; {given:?} is not an argument of this tool")
            }
            Rule::Type(kind) => {
                let vowel = kind.starts_with(['i', 'o', 'a']);
                write!(f, "`{name}` must be {} {kind}, not {is}", if vowel { "an" } else { "a" })
            }
            Rule::Enum(allowed) => {
                let allowed: Vec<_> = allowed.iter().map(unquoted).collect();
                write!(f, "`{name}` is {is}; it must be one of {}", allowed.join(", "))
            }
            Rule::Minimum(min) => write!(f, "`{name}` is {is}; it must be at least {min}"),
            Rule::Maximum(max) => write!(f, "`{name}` is {is}; it must be at most {max}"),
            Rule::ExclusiveMinimum(bound) => {
                write!(f, "`{name}` is {is}; it must be above {bound}")
            }
            Rule::ExclusiveMaximum(bound) => {
                write!(f, "`{name}` is {is}; it must be below {bound}")
            }
            Rule::Pattern(pattern) => write!(f, "`{name}` is {is}; it must match {pattern}"),
            Rule::MinLength(1) => write!(f, "`{name}` must not be empty"),
            Rule::MinLength(min) => {
                write!(f, "`{name}` has {}; it must have at least {min}", self.size())
            }
            Rule::MaxLength(max) => {
                write!(f, "`{name}` has {}; it must have at most {max}", self.size())
            }
            Rule::Unknown { closest: None } => {
                write!(f, "`{name}` is not an argument of this tool")
            }
            Rule::Unknown { closest: Some(closest) } => {
                write!(f, "`{name}` is not an argument of this tool; did you mean `{closest}`?")
            }
        }
    }
}

impl SchemaViolation {
    /// The length of the value, for a message.
    fn size(&self) -> String {
        match &self.value {
            Some(Value::Array(items)) => format!("{} items", items.len()),
            Some(Value::String(text)) => format!("{} characters", text.chars().count()),
            _ => "another length".into(),
        }
    }
}

/// A value of an enum; strings without quotes.
fn unquoted(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The maximum length of a value in a message: callers may send very long ones.
const MAX_LENGTH: usize = 60;
