//! Maps a control's number in the list that the policy saw to its present number.
//!
//! After the first action of a reply, the other actions' numbers are outdated: a newer list has its
//! own. [`retarget`] finds their targets again or refuses the call; a number of one list is never
//! used with another. [`tap_at_old_position`] is the behaviour without this safeguard, to measure
//! its effect. Within one list, the session finds controls that have moved (`session/target.rs`).

use std::sync::Arc;

use serde_json::json;
use thumbwire_device::Rect;

use crate::policy::decision::FunctionCall;
use thumbwire_core::action::{ControlNumber, Controls};
use thumbwire_core::snapshot::{LookupError, lookup};

/// The call with the control's number in the list `now`.
///
/// # Errors
/// Why the control is not there, or which elements it could be, as a sentence for the policy.
pub(crate) fn retarget(
    call: &FunctionCall,
    listed: &Arc<Controls>,
    now: &Arc<Controls>,
) -> Result<FunctionCall, String> {
    let Some((id, node)) = target(call, listed) else { return Ok(call.clone()) };
    let gone = || target_gone_message(id, &listed.snapshot.tree.nodes[node]);
    let node = lookup(id, listed, now).map_err(|error| match error {
        LookupError::Ambiguous(several) => {
            format!("Control {id} matches several elements now: {several}")
        }
        _ => gone(),
    })?;
    let mut call = call.clone();
    call.set_control(now.number_of(node).ok_or_else(gone)?);
    Ok(call)
}

/// A tap at the centre of the control's old position, whatever is there now. `None` if the call is
/// not a click.
pub(crate) fn tap_at_old_position(call: &FunctionCall, listed: &Controls) -> Option<FunctionCall> {
    let (_, node) = target(call, listed)?;
    let at = Rect::center(listed.snapshot.tree.nodes[node].bounds);
    let arguments = json!({ "x": at.x, "y": at.y });
    let tap = FunctionCall { function: "tap".into(), arguments: arguments.as_object().cloned()? };
    (call.function == "click_control").then_some(tap)
}

/// The number of the control that a call is for, and the index of its node.
fn target(call: &FunctionCall, listed: &Controls) -> Option<(ControlNumber, usize)> {
    let id = call.control()?;
    Some((id, listed.node_of(id)?))
}

fn target_gone_message(id: ControlNumber, node: &thumbwire_device::Node) -> String {
    let name: String = node.name().chars().take(60).collect();
    format!(
        "Control {id} ({name:?}) is no longer on the screen, or its text has changed; choose from the new list"
    )
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;
    use crate::safeguards::screen_state::made::{controls, node};

    fn click(id: &str) -> FunctionCall {
        let arguments = json!({ "control_id": id, "control_name": "x" });
        FunctionCall {
            function: "click_control".into(),
            arguments: arguments.as_object().cloned().unwrap(),
        }
    }

    #[test]
    fn moved_control_gets_its_present_number() {
        let listed = controls(vec![node("Button", "Open", 0), node("Button", "Save", 1)]);
        let now = controls(vec![
            node("TextView", "News", 0),
            node("Button", "Open", 1),
            node("Button", "Save", 2),
        ]);
        assert_eq!(retarget(&click("2"), &listed, &now).unwrap().arguments["control_id"], "3");
        let wait = FunctionCall { function: "wait".into(), ..FunctionCall::default() };
        assert_eq!(retarget(&wait, &listed, &now), Ok(wait));
    }

    #[test]
    fn missing_or_ambiguous_control_is_rejected() {
        let listed = controls(vec![node("Button", "Open", 0), node("Button", "Save", 1)]);
        let other = controls(vec![node("Button", "Done", 0)]);
        let reason = retarget(&click("2"), &listed, &other).unwrap_err();
        assert!(reason.starts_with("Control 2 (\"Save\") is no longer"), "{reason}");
        let twice = controls(vec![node("Button", "Save", 3), node("Button", "Save", 4)]);
        let reason = retarget(&click("2"), &listed, &twice).unwrap_err();
        assert!(reason.starts_with("Control 2 matches several elements now"), "{reason}");
    }

    #[test]
    fn without_retargeting_the_old_position_is_tapped() {
        let listed = controls(vec![node("Button", "Open", 0), node("Button", "Save", 1)]);
        let tap = tap_at_old_position(&click("2"), &listed).unwrap();
        assert_eq!(
            (tap.function.as_str(), Value::from(tap.arguments)),
            ("tap", json!({ "x": 200, "y": 75 }))
        );
        let typing = FunctionCall { function: "type_text".into(), ..click("2") };
        assert_eq!(tap_at_old_position(&typing, &listed), None);
        assert_eq!(tap_at_old_position(&click("9"), &listed), None);
    }
}
