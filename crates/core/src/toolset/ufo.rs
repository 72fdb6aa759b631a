//! The `ufo` toolsets: the two UFO MobileAgent servers. Both work on one session.
//!
//! `tools.json` has names, descriptions and schemas verbatim from the original (`tools/list` of
//! microsoft/UFO, MIT licence, `mobile_mcp_server.py` at b28183fd under fastmcp 2.11.3; without
//! `_meta`). [`data`](mod@data) and [`action`](mod@action) have their rows in files of the same
//! names; `errors` has the errors.
//!
//! Text is compact JSON. A tool that returns an object has `success` in it, and `success: false` is
//! not an MCP error; a tool that returns a list or a string has `{"result": …}` as structured
//! content, and fails with an MCP error. Our additions to the specification have their own keys:
//! `warning`, `reason`, `next`.

mod action;
mod data;
mod errors;
mod python;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{Content, RejectedCall, Reply, SpecTools, Tool, Toolset, read_arguments};

/// The data server's tools.
pub fn data() -> Toolset {
    let server = "Mobile Data Collection MCP Server";
    let instructions = "MCP server for retrieving Android device information via ADB (screenshots, UI tree, device info, etc.).";
    Toolset::new("ufo-data", server, instructions, data::tools(&original()), errors::refuse)
}

/// The action server's tools, for a session shared with the data server.
pub fn action() -> Toolset {
    action_refusing(errors::refuse)
}

/// The action server's tools for a session of its own: it never sees a listing, and says so if an
/// id is unknown.
pub fn standalone_action() -> Toolset {
    action_refusing(errors::refuse_alone)
}

fn action_refusing(refuse: fn(&RejectedCall<'_>) -> Reply) -> Toolset {
    let server = "Mobile Action MCP Server";
    let instructions =
        "MCP server for controlling Android devices via ADB (tap, swipe, type, launch apps, etc.).";
    Toolset::new("ufo-action", server, instructions, action::tools(&original()), refuse)
}

fn original() -> SpecTools {
    SpecTools::read(include_str!("ufo/tools.json"))
}

/// The known and unknown arguments of a call.
///
/// Like the original server, we refuse unknown ones, so that a misspelt argument is not silently
/// ignored.
#[derive(Deserialize)]
#[serde(bound(deserialize = "A: Deserialize<'de>"))]
struct ParsedArgs<A> {
    #[serde(flatten)]
    known: A,
    #[serde(flatten)]
    others: Map<String, Value>,
}

impl<A> ParsedArgs<A> {
    /// The known arguments, if there are no others. `errors` has the error text.
    fn reject_unknown(&self) -> Result<&A, String> {
        match self.others.keys().find(|name| !is_passed_over(name)) {
            None => Ok(&self.known),
            Some(other) => Err(format!("{other:?} is not an argument of this tool")),
        }
    }
}

/// Another UFO strategy sends this to the tool that lists controls; the original server refuses it.
fn is_passed_over(argument: &str) -> bool {
    argument == "field_list"
}

/// The arguments of a tool without arguments.
#[derive(Deserialize)]
struct NoArgs {}

/// A list as FastMCP returns it: an empty one has no text at all.
fn list(values: Vec<Value>) -> Reply {
    let text = (!values.is_empty()).then(|| Value::from(values.as_slice()).to_string());
    let content = text.into_iter().map(Content::Text).collect();
    Reply { structured: Some(json!({ "result": values })), ..Reply::parts(content) }
}

#[cfg(test)]
mod tests;
