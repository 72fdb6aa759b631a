//! What an agent asks of a tool (section 3.1).

use std::fmt;

use super::{Capability, Extras, Values};

/// A call of a capability.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// Unique within the agent: a UUID.
    pub id: String,
    /// The capability's id.
    pub capability: String,
    /// What it is called with.
    pub arguments: Values,
}

/// The names under which a request and its callback travel. The specification fixes `mobile-mcp-request` and leaves the callback's open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keys {
    /// Extras that hold the request in the specification's envelope.
    pub request: Vec<String>,
    /// Extras that hold it as the authors' sample apps want it, without the envelope.
    pub bare: Vec<String>,
    /// Extras that hold the callback.
    pub callback: Vec<String>,
    /// Extras in which an answer may come.
    pub response: Vec<String>,
}

impl Default for Keys {
    /// All that are known, so that one Intent is understood by every dialect.
    fn default() -> Self {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Self {
            request: names(&["mobile-mcp-request"]),
            bare: names(&["request"]),
            callback: names(&["mcp_callback", "callback"]),
            response: names(&["mobile-mcp-response", "response"]),
        }
    }
}

/// A way in which arguments do not fit a capability.
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
            Self::Missing(name) => write!(f, "`{name}` is missing"),
            Self::Unknown(name) => write!(f, "there is no `{name}`"),
            Self::Type { name, wanted, given } => {
                write!(f, "`{name}` must be of the type {wanted}, not {given}")
            }
        }
    }
}

impl Request {
    /// The text extras of an Intent that carries it, in every dialect at once.
    pub fn extras(&self, _keys: &Keys) -> Extras {
        Extras::new()
    }
}

impl Capability {
    /// Each way in which arguments do not fit what it takes.
    pub fn misfits(&self, _arguments: &Values) -> Vec<Misfit> {
        Vec::new()
    }
}
