//! Checks arguments against a tool's declaration before anything is sent, and values against their
//! types.

use serde_json::{Map, Value};
use thumbwire_base::sanitize;
use thumbwire_mobile_mcp::{ArgumentMismatch, Capability, Param, ParamType};

use crate::action::{AppTool, Cause, Parameter};

/// Whether a tool accepts these arguments.
///
/// # Errors
/// What does not match, and what the tool takes.
pub(super) fn check(tool: &AppTool, arguments: &Map<String, Value>) -> Result<(), Cause> {
    let capability = capability(tool);
    let id = sanitize(&tool.id, 100);
    let refused =
        |reason: String| Err(Cause::InvalidArgument { reason: format!("{id}: {reason}") });
    if tool.input.iter().all(|it| is_scalar(it.kind)) {
        return capability.argument_error(arguments).map_or(Ok(()), refused);
    }
    // Lists and objects are left to the platform: such tools describe them with a schema.
    let of_ours = |mismatch: &ArgumentMismatch| match mismatch {
        ArgumentMismatch::Type { name, .. } => {
            tool.input.iter().any(|it| it.name == *name && is_scalar(it.kind))
        }
        ArgumentMismatch::Missing(_) | ArgumentMismatch::Unknown(_) => true,
    };
    let misfits = capability.check_arguments(arguments);
    let output: Vec<_> = misfits.iter().filter(|misfit| of_ours(misfit)).take(8).collect();
    let compound = tool.input.iter().filter_map(|it| {
        let given = arguments.get(&it.name).filter(|_| !is_scalar(it.kind))?;
        (!is_of(it.kind, given))
            .then(|| format!("`{}` must be of type {}", sanitize(&it.name, 60), it.kind))
    });
    let text: Vec<_> = output.iter().map(ToString::to_string).chain(compound.take(8)).collect();
    match text[..] {
        [] => Ok(()),
        _ => refused(format!("{}; it takes {}", text.join("; "), takes(&tool.input))),
    }
}

/// What an AppFunctions tool takes: `tags (array, required), note (string)`.
fn takes(input: &[Parameter]) -> String {
    let one = |it: &Parameter| {
        let required = if it.required { ", required" } else { "" };
        format!("{} ({}{required})", sanitize(&it.name, 60), it.kind)
    };
    input.iter().take(20).map(one).collect::<Vec<_>>().join(", ")
}

/// The tool as the `mobile-mcp` crate's rules know it.
fn capability(tool: &AppTool) -> Capability {
    let param = |it: &Parameter| Param {
        name: it.name.clone(),
        kind: ParamType::of(it.kind).unwrap_or_default(),
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

/// Whether this is one of the protocol's types.
fn is_scalar(kind: &str) -> bool {
    ParamType::of(kind).is_some()
}

/// Whether a value has this type, by the protocol's rules if the type is the protocol's. Any value
/// has an unknown type.
pub(super) fn is_of(kind: &str, value: &Value) -> bool {
    match (ParamType::of(kind), kind) {
        (Some(kind), _) => kind.accepts(value),
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
    fn reply_values_are_checked_against_their_types() {
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
