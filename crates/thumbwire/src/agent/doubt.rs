//! When the words of a screen may not do, so that a picture pays.

use thumbwire_device::Node;

use super::scene::Scene;
use super::verify::Kind;

/// Why a picture may tell what the words do not; `None` where the words will do, and where the picture is `black` and tells
/// nothing either. `found` is what stayed wrong after the last action, `failed` whether it failed.
pub fn doubt(found: &[Kind], failed: bool, now: &Scene, black: bool) -> Option<String> {
    const FEW: usize = 3;
    if black {
        return None;
    }
    let Some(controls) = &now.controls else {
        return Some("the controls of the screen could not be read".into());
    };
    let is_named = |node: &Node| !node.text.is_empty() || !node.description.is_empty();
    let named = controls.iter().filter(|(_, node)| is_named(node)).count();
    let all = controls.nodes.len();
    if found.iter().any(|kind| matches!(kind, Kind::Nothing | Kind::End | Kind::Toggle)) {
        Some("the last action changed nothing that words tell".into())
    } else if !found.is_empty() {
        Some("the last action did not lead where it should".into())
    } else if failed {
        Some("the last action failed".into())
    } else if named < FEW {
        Some(format!("only {named} controls have a name"))
    } else if named * 2 < all {
        Some(format!("only {named} of {all} controls have a name"))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::super::scene::made::buttons;
    use super::*;

    #[test]
    fn a_picture_pays_where_words_may_not_do() {
        let plenty = buttons(&["One", "Two", "Three"]);
        assert_eq!(doubt(&[], false, &plenty, false), None);
        assert!(
            doubt(&[Kind::Nothing], false, &plenty, false).unwrap().contains("changed nothing")
        );
        assert!(doubt(&[Kind::WrongApp], false, &plenty, false).is_some());
        assert!(doubt(&[], true, &plenty, false).unwrap().contains("failed"));
        assert!(
            doubt(&[], false, &buttons(&["One", "", ""]), false)
                .unwrap()
                .contains("only 1 controls")
        );
        assert!(
            doubt(&[], false, &buttons(&["1", "2", "3", "", "", "", ""]), false)
                .unwrap()
                .contains("3 of 7")
        );
        assert!(doubt(&[], false, &Scene::default(), false).unwrap().contains("could not be read"));
        assert_eq!(
            doubt(&[Kind::Nothing], false, &plenty, true),
            None,
            "a black picture tells nothing"
        );
    }
}
