//! How a value does not fit a schema, and the words for it. A surface may have words of its own.

use std::fmt;

use serde_json::Value;

/// How an argument does not fit its tool's schema. Its words name the argument, what it is and what it should be.
#[derive(Debug, Clone, PartialEq)]
pub struct Misfit {
    /// The argument; inside of one, the way there: `bounds.left`, `rect[2]`.
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
    /// It must be of this type; of several, "string or integer". Null is not named: it counts as left away.
    Type(String),
    /// It must be one of these.
    OneOf(Vec<Value>),
    /// It must be at least that.
    AtLeast(f64),
    /// It must be at most that.
    AtMost(f64),
    /// It must be above that.
    Above(f64),
    /// It must be below that.
    Below(f64),
    /// It must match this pattern.
    Matches(String),
    /// It must have at least so many characters or items.
    NoShorter(u64),
    /// It must have at most so many characters or items.
    NoLonger(u64),
    /// It must not be there.
    Unknown,
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = shortened(&self.argument);
        let is = self.value.as_ref().map(|value| shortened(&value.to_string()));
        let is = is.unwrap_or_default();
        match &self.rule {
            Rule::Required { instead: None } => write!(f, "`{name}` is required"),
            Rule::Required { instead: Some(given) } => {
                let given = shortened(given);
                write!(f, "`{name}` is required; {given:?} is no argument of this tool")
            }
            Rule::Type(kind) => {
                let vowel = kind.starts_with(['i', 'o', 'a']);
                write!(f, "`{name}` must be {} {kind}, not {is}", if vowel { "an" } else { "a" })
            }
            Rule::OneOf(allowed) => {
                let allowed: Vec<_> = allowed.iter().map(bare).collect();
                write!(f, "`{name}` is {is}; it must be one of {}", allowed.join(", "))
            }
            Rule::AtLeast(least) => write!(f, "`{name}` is {is}; it must be at least {least}"),
            Rule::AtMost(most) => write!(f, "`{name}` is {is}; it must be at most {most}"),
            Rule::Above(bound) => write!(f, "`{name}` is {is}; it must be above {bound}"),
            Rule::Below(bound) => write!(f, "`{name}` is {is}; it must be below {bound}"),
            Rule::Matches(pattern) => write!(f, "`{name}` is {is}; it must match {pattern}"),
            Rule::NoShorter(1) => write!(f, "`{name}` is empty"),
            Rule::NoShorter(least) => {
                write!(f, "`{name}` has {}; it must have at least {least}", self.size())
            }
            Rule::NoLonger(most) => {
                write!(f, "`{name}` has {}; it must have at most {most}", self.size())
            }
            Rule::Unknown => write!(f, "`{name}` is no argument of this tool"),
        }
    }
}

impl Misfit {
    /// How long the value is, in words.
    fn size(&self) -> String {
        match &self.value {
            Some(Value::Array(items)) => format!("{} items", items.len()),
            Some(Value::String(text)) => format!("{} characters", text.chars().count()),
            _ => "another length".into(),
        }
    }
}

/// A value of an enumeration, a text without its quotes.
fn bare(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// What stands in a message: a caller may have sent a book.
fn shortened(text: &str) -> String {
    const LONGEST: usize = 60;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into(),
    }
}
