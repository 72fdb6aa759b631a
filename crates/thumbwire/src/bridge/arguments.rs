//! Arguments held against what a tool takes, before anything is sent; and values against their types.

use serde_json::{Map, Value};
use thumbwire_mobile_mcp::words::harmless;
use thumbwire_mobile_mcp::{Capability, Kind, Misfit, Param};

use crate::action::{AppTool, Cause, Parameter};

/// Whether a tool can be called with these.
///
/// # Errors
/// What does not fit, and what does.
pub(super) fn check(tool: &AppTool, arguments: &Map<String, Value>) -> Result<(), Cause> {
    let capability = capability(tool);
    let id = harmless(&tool.id, 100);
    let refused = |why: String| Err(Cause::InvalidArgument { why: format!("{id}: {why}") });
    if tool.input.iter().all(|it| is_scalar(it.kind)) {
        return capability.refusal(arguments).map_or(Ok(()), refused);
    }
    // Lists and objects are the platform's to judge: what a tool of it takes is told by a schema.
    let of_ours = |misfit: &Misfit| match misfit {
        Misfit::Type { name, .. } => {
            tool.input.iter().any(|it| it.name == *name && is_scalar(it.kind))
        }
        Misfit::Missing(_) | Misfit::Unknown(_) => true,
    };
    let misfits = capability.misfits(arguments);
    let said: Vec<_> = misfits.iter().filter(|misfit| of_ours(misfit)).take(8).collect();
    let compound = tool.input.iter().filter_map(|it| {
        let given = arguments.get(&it.name).filter(|_| !is_scalar(it.kind))?;
        (!is_of(it.kind, given))
            .then(|| format!("`{}` must be of the type {}", harmless(&it.name, 60), it.kind))
    });
    let words: Vec<_> = said.iter().map(ToString::to_string).chain(compound.take(8)).collect();
    match words[..] {
        [] => Ok(()),
        _ => refused(format!("{}; it takes {}", words.join("; "), takes(&tool.input))),
    }
}

/// What a tool of the platform takes: `tags (array, required), note (string)`.
fn takes(input: &[Parameter]) -> String {
    let one = |it: &Parameter| {
        let required = if it.required { ", required" } else { "" };
        format!("{} ({}{required})", harmless(&it.name, 60), it.kind)
    };
    input.iter().take(20).map(one).collect::<Vec<_>>().join(", ")
}

/// The tool as the protocol's own rules know it.
fn capability(tool: &AppTool) -> Capability {
    let param = |it: &Parameter| Param {
        name: it.name.clone(),
        kind: Kind::of(it.kind).unwrap_or_default(),
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

/// Whether a value of this type is one of the protocol's.
fn is_scalar(kind: &str) -> bool {
    Kind::of(kind).is_some()
}

/// Whether a value is of this type, by the protocol's rules where it is one of the protocol's; of one that is not known every value is.
pub(super) fn is_of(kind: &str, value: &Value) -> bool {
    match (Kind::of(kind), kind) {
        (Some(kind), _) => kind.fits(value),
        (None, "array") => value.is_array(),
        (None, "object") => value.is_object(),
        (None, _) => true,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_answer_is_held_against_the_same_types_as_a_call() {
        for (kind, value, is) in [
            ("integer", json!(2.0), true),
            ("integer", json!(2.5), false),
            ("number", json!(2), true),
            ("string", json!(2), false),
            ("array", json!([]), true),
            ("object", json!([]), false),
        ] {
            assert_eq!(is_of(kind, &value), is, "{kind} {value}");
        }
    }
}
