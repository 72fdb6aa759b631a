//! The `ufo` surfaces: the two servers of seed 000, which UFO's MobileAgent calls. They are two views of one session.
//!
//! `tools.json` holds names, descriptions and schemas letter for letter as the original lists them (`tools/list` of
//! microsoft/UFO, MIT licence, `mobile_mcp_server.py` at b28183fd under fastmcp 2.11.3; without `_meta`). [`data`] and
//! [`action`] have their rows in files of the same names; how a call fails is told in `refusals`.
//! Text is compact JSON. A tool that answers with an object says `success` in it, and is no error for MCP where that is
//! false; one that answers with a list or a string has `{"result": …}` as structured content, and fails as an error. What
//! we have to say beyond the document stands under keys of its own: `warning`, `reason`, `next`.

mod action;
mod data;
mod python;
mod refusals;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{Content, Document, Refusal, Reply, Surface, Tool, read};
use crate::action::Outcome;

/// The data server's tools.
pub fn data() -> Surface {
    Surface {
        name: "ufo-data",
        server: "Mobile Data Collection MCP Server",
        instructions: "MCP server for retrieving Android device information via ADB (screenshots, UI tree, device info, etc.).",
        ..surface(data::tools(&original()), refusals::refuse)
    }
}

/// The action server's tools, for a session that the data server's are served over as well.
pub fn action() -> Surface {
    Surface {
        name: "ufo-action",
        server: "Mobile Action MCP Server",
        instructions: "MCP server for controlling Android devices via ADB (tap, swipe, type, launch apps, etc.).",
        ..surface(action::tools(&original()), refusals::refuse)
    }
}

/// The action server's tools, for a session of their own: they never see a listing, and say so where an id is unknown.
pub fn lone_action() -> Surface {
    Surface { refuse: refusals::refuse_alone, ..action() }
}

fn surface(tools: Vec<Tool>, refuse: fn(&Refusal<'_>) -> Reply) -> Surface {
    // The original takes no nested arguments, and its text is read by programs.
    let (nested, tells_ignored) = (None, false);
    let (name, server, instructions) = ("", "", "");
    Surface { name, server, instructions, tools, guests: None, nested, tells_ignored, refuse }
}

fn original() -> Document {
    Document::read(include_str!("tools.json"))
}

/// What a tool was given: its arguments, and others.
///
/// The original refuses others, so that a misspelt one is not silently without effect.
#[derive(Deserialize)]
#[serde(bound(deserialize = "A: Deserialize<'de>"))]
struct Given<A> {
    #[serde(flatten)]
    known: A,
    #[serde(flatten)]
    others: Map<String, Value>,
}

impl<A> Given<A> {
    /// The arguments, where there are no others. The words of the refusal are `refusals`' matter.
    fn alone(&self) -> Result<&A, String> {
        match self.others.keys().find(|name| !is_passed_over(name)) {
            None => Ok(&self.known),
            Some(other) => Err(format!("{other:?} is no argument of this tool")),
        }
    }
}

/// Another strategy of UFO's sends this to the tool that lists controls; the original refuses it.
fn is_passed_over(argument: &str) -> bool {
    argument == "field_list"
}

/// A tool without arguments.
#[derive(Deserialize)]
struct Nothing {}

/// A list, as FastMCP tells one: an empty one has no text at all.
fn list(values: Vec<Value>) -> Reply {
    let text = (!values.is_empty()).then(|| Value::from(values.as_slice()).to_string());
    let content = text.into_iter().map(Content::Text).collect();
    Reply { structured: Some(json!({ "result": values })), ..Reply::parts(content) }
}

/// A row was given an outcome that its action never has.
fn odd(outcome: &Outcome) -> Reply {
    Reply::error(format!("a fault in Thumbwire: an outcome nobody asked for: {outcome:?}"))
}

#[cfg(test)]
mod tests;
