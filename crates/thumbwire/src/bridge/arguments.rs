//! Arguments held against what a tool takes, before anything is sent.

use serde_json::{Map, Value};
use thumbwire_mobile_mcp::{Capability, Kind, Misfit, Param};

use super::words::flat;
use crate::action::{AppTool, Cause, Parameter};

/// The most parameters that are named in a message.
const TOLD: usize = 20;

/// Whether a tool can be called with these.
///
/// # Errors
/// What does not fit, and the form that does.
pub(super) fn check(tool: &AppTool, arguments: &Map<String, Value>) -> Result<(), Cause> {
    let misfits = capability(tool).misfits(arguments);
    let of_ours = |misfit: &Misfit| match misfit {
        // Lists and objects are the platform's to judge: its own words for them are richer than a parameter's.
        Misfit::Type { name, .. } => {
            tool.input.iter().all(|it| it.name != *name || is_scalar(it.kind))
        }
        Misfit::Missing(_) | Misfit::Unknown(_) => true,
    };
    let said: Vec<_> = misfits.iter().filter(|misfit| of_ours(misfit)).collect();
    if said.is_empty() {
        return Ok(());
    }
    let words: Vec<_> =
        said.iter().take(TOLD).map(|misfit| flat(&misfit.to_string(), 200)).collect();
    let id = flat(&tool.id, 100);
    Err(Cause::InvalidArgument {
        why: format!("{} for {id}, which takes {}", words.join("; "), form(&tool.input)),
    })
}

/// What a tool takes, as the form of an object: `{"date": string, "note"?: string}`.
fn form(input: &[Parameter]) -> String {
    if input.is_empty() {
        return "no arguments: {}".into();
    }
    let one = |it: &Parameter| {
        let may = if it.required { "" } else { "?" };
        format!("\"{}\"{may}: {}", flat(&it.name, 60), it.kind)
    };
    let mut all: Vec<_> = input.iter().take(TOLD).map(one).collect();
    if input.len() > TOLD {
        all.push(format!("and {} more", input.len() - TOLD));
    }
    let optional = input.iter().any(|it| !it.required);
    let note = if optional { " (those with ? may be left out)" } else { "" };
    format!("{{{}}}{note}", all.join(", "))
}

/// The tool as the protocol's own rules know it.
fn capability(tool: &AppTool) -> Capability {
    let param = |it: &Parameter| Param {
        name: it.name.clone(),
        kind: kind(it.kind),
        written: it.kind.into(),
        required: it.required,
        description: String::new(),
    };
    Capability {
        id: tool.id.clone(),
        input: tool.input.iter().map(param).collect(),
        output: tool.output.iter().map(param).collect(),
        ..Capability::default()
    }
}

fn kind(name: &str) -> Kind {
    match name {
        "boolean" => Kind::Boolean,
        "integer" => Kind::Integer,
        "number" => Kind::Number,
        _ => Kind::String,
    }
}

/// Whether a value of this type is one of the protocol's.
pub(super) fn is_scalar(kind: &str) -> bool {
    matches!(kind, "string" | "boolean" | "integer" | "number")
}

/// Whether a value is of this type; of one that is not known every value is.
pub(super) fn is_of(kind: &str, value: &Value) -> bool {
    match kind {
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => true,
    }
}
