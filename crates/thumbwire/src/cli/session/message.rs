//! What the commands and the session's process say to each other: a greeting, a request, an answer,
//! each a line of JSON. An empty line says that an answer is still under way.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The process's first line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Greeting {
    /// Its version. Only of the same one are the following lines understood, except
    /// [`Request::End`].
    pub(super) thumbwire: String,
    /// A hash of the settings with which it looks for phones.
    #[serde(default)]
    pub(super) settings: u64,
    /// Its number.
    #[serde(default)]
    pub(super) process: u32,
}

/// A command's only line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Request {
    /// Call a tool; answered by an [`Answer`].
    Call(ToolCall),
    /// Answered by a [`Status`].
    Status,
    /// End the process; answered by the end of the connection, with the process's own.
    End,
}

/// A call of a tool of the `mobile` toolset.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(in crate::cli) struct ToolCall {
    /// Its name.
    pub(in crate::cli) tool: String,
    /// Its arguments.
    pub(in crate::cli) arguments: Map<String, Value>,
    /// The phone; `None` for that of the session.
    pub(in crate::cli) device: Option<String>,
}

impl ToolCall {
    /// A call on the session's phone. `arguments` is an object; members that are null are left
    /// out.
    pub(in crate::cli) fn new(tool: &str, arguments: Value) -> Self {
        let mut arguments = arguments.as_object().cloned().unwrap_or_default();
        arguments.retain(|_, value| !value.is_null());
        Self { tool: tool.to_owned(), arguments, device: None }
    }
}

/// What came of a call.
#[derive(Debug, Serialize, Deserialize)]
pub(in crate::cli) struct Answer {
    /// The exit code.
    pub(in crate::cli) code: u8,
    /// The MCP tool result.
    pub(in crate::cli) reply: Value,
}

/// What the process says of itself.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Status {
    /// The phone of the commands that name none.
    pub(super) device: Option<String>,
    /// When it started, in local time.
    pub(super) since: String,
    /// The number of calls so far.
    pub(super) calls: u64,
    /// Its version.
    pub(super) version: String,
    /// Its number.
    pub(super) process: u32,
    /// After how many seconds without a call it ends.
    pub(super) idle: u64,
}

/// How a session ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// It was asked to.
    Itself,
    /// It did not answer.
    Killed,
    /// There was none.
    Before,
}
