//! What a tool answers (section 3.2).

use super::{Extras, Keys, Values};

/// How a call went, by the tool's own words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// It was done.
    Success,
    /// It was not.
    Failure,
}

/// An answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Response {
    /// The request's.
    pub id: String,
    /// The capability's; empty where the tool leaves it out.
    pub capability: String,
    /// How it went.
    pub status: Status,
    /// In words, by the app; empty where it says nothing.
    pub message: String,
    /// What it gives, by name.
    pub output: Values,
}

/// An answer that cannot be read: why, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken(pub String);

impl Response {
    /// Reads an answer out of an Intent's extras, in whichever dialect it is.
    ///
    /// # Errors
    /// When there is none, or it is no answer.
    pub fn read(_extras: &Extras, _keys: &Keys) -> Result<Self, Broken> {
        Err(Broken(String::new()))
    }

    /// The answer as the specification has it, for the extra `mobile-mcp-response`.
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::Value::Null
    }
}
