//! From the number of a control in the listing that a mind was shown to its number by now.
//!
//! After the first action of a reply the numbers of its others mean nothing any more: a newer listing has its own. What they
//! are for is found again by [`found_again`], or refused; never is a number of one listing used with another. [`blind`] is what
//! comes of it without this safeguard, so that its worth can be measured. Within one listing the session aims
//! (`session/controls.rs`): a control that moved since is found again there too.

use serde_json::{Value, json};
use thumbwire_device::Rect;
use thumbwire_device::find::Found;

use super::reply::Doing;
use crate::action::Controls;
use crate::look::Numbers;

/// The same call, with the control's number in the listing `now`.
///
/// # Errors
/// Why there is no such control, or no telling which one it is, in words for whoever decides.
pub(super) fn found_again(
    doing: &Doing,
    listed: &Controls,
    now: &Controls,
) -> Result<Doing, String> {
    let Some((id, node)) = target(doing, listed) else { return Ok(doing.clone()) };
    match now.same_as(listed, node) {
        Found::One(node) => {
            let place = now.nodes.iter().position(|&at| at == node);
            let number = place.map(|place| (place + 1).to_string());
            let number = number.ok_or_else(|| gone(id, &listed.look.tree.nodes[node]))?;
            let mut doing = doing.clone();
            doing.arguments.insert("control_id".into(), number.into());
            Ok(doing)
        }
        Found::None => Err(gone(id, &listed.look.tree.nodes[node])),
        Found::Several(nodes) => Err(format!(
            "Control {id} could be several by now: {}",
            now.look.describe_several(&nodes, Numbers::Unknown)
        )),
    }
}

/// A tap in the middle of where the control was listed, whatever lies there by now. `None` where the call is no tap.
pub(super) fn blind(doing: &Doing, listed: &Controls) -> Option<Doing> {
    let (_, node) = target(doing, listed)?;
    let at = Rect::center(listed.look.tree.nodes[node].bounds);
    let arguments = json!({ "x": at.x, "y": at.y });
    let tap = Doing { function: "tap".into(), arguments: arguments.as_object().cloned()? };
    (doing.function == "click_control").then_some(tap)
}

/// The number of the control that a call is for, and its place in the listing's tree.
fn target<'a>(doing: &'a Doing, listed: &Controls) -> Option<(&'a str, usize)> {
    let id = doing.arguments.get("control_id").and_then(Value::as_str)?;
    Some((id, listed.node_of(id)?))
}

fn gone(id: &str, node: &thumbwire_device::Node) -> String {
    let name: String = node.name().chars().take(60).collect();
    format!(
        "Control {id} ({name:?}) is no longer on the screen, or says something else by now; look again"
    )
}

#[cfg(test)]
mod tests {
    use super::super::scene::made::{controls, node};
    use super::*;

    fn click(id: &str) -> Doing {
        let arguments = json!({ "control_id": id, "control_name": "x" });
        Doing {
            function: "click_control".into(),
            arguments: arguments.as_object().cloned().unwrap(),
        }
    }

    #[test]
    fn a_control_that_moved_is_called_by_its_number_of_now() {
        let listed = controls(vec![node("Button", "Open", 0), node("Button", "Save", 1)]);
        let now = controls(vec![
            node("TextView", "News", 0),
            node("Button", "Open", 1),
            node("Button", "Save", 2),
        ]);
        assert_eq!(found_again(&click("2"), &listed, &now).unwrap().arguments["control_id"], "3");
        let wait = Doing { function: "wait".into(), ..Doing::default() };
        assert_eq!(found_again(&wait, &listed, &now), Ok(wait));
    }

    #[test]
    fn a_control_that_is_gone_or_could_be_several_is_refused() {
        let listed = controls(vec![node("Button", "Open", 0), node("Button", "Save", 1)]);
        let other = controls(vec![node("Button", "Done", 0)]);
        let why = found_again(&click("2"), &listed, &other).unwrap_err();
        assert!(why.starts_with("Control 2 (\"Save\") is no longer"), "{why}");
        let twice = controls(vec![node("Button", "Save", 3), node("Button", "Save", 4)]);
        let why = found_again(&click("2"), &listed, &twice).unwrap_err();
        assert!(why.starts_with("Control 2 could be several by now"), "{why}");
    }

    #[test]
    fn without_aim_the_tap_goes_where_it_was_listed() {
        let listed = controls(vec![node("Button", "Open", 0), node("Button", "Save", 1)]);
        let tap = blind(&click("2"), &listed).unwrap();
        assert_eq!(
            (tap.function.as_str(), Value::from(tap.arguments)),
            ("tap", json!({ "x": 200, "y": 75 }))
        );
        let typing = Doing { function: "type_text".into(), ..click("2") };
        assert_eq!(blind(&typing, &listed), None);
        assert_eq!(blind(&click("9"), &listed), None);
    }
}
