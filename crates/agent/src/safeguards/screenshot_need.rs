//! When a screenshot is worth its cost, because text may not be enough.

use thumbwire_device::Node;

use super::screen_state::ScreenState;
use crate::policy::observation::AnomalyKind;

/// Why a screenshot may show more than the text; `None` if the text is enough, or if the screenshot
/// is `black`. `found` has the anomalies that remain after the last action, `failed` says whether
/// it failed.
pub(crate) fn screenshot_reason(
    found: &[AnomalyKind],
    failed: bool,
    now: &ScreenState,
    black: bool,
) -> Option<String> {
    const FEW: usize = 3;
    if black {
        return None;
    }
    let Some(controls) = &now.controls else {
        return Some("the screen's controls could not be read".into());
    };
    let is_named = |node: &Node| !node.text.is_empty() || !node.description.is_empty();
    let named = controls.iter().filter(|(_, node)| is_named(node)).count();
    let all = controls.nodes.len();
    if found.iter().any(|kind| {
        matches!(
            kind,
            AnomalyKind::NoEffect | AnomalyKind::EndOfList | AnomalyKind::ToggleUnchanged
        )
    }) {
        Some("the last action changed nothing in the text".into())
    } else if !found.is_empty() {
        Some("the last action did not do what it should".into())
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
    use super::*;
    use crate::safeguards::screen_state::made::buttons;

    #[test]
    fn screenshot_is_needed_if_text_may_not_suffice() {
        let plenty = buttons(&["One", "Two", "Three"]);
        assert_eq!(screenshot_reason(&[], false, &plenty, false), None);
        assert!(
            screenshot_reason(&[AnomalyKind::NoEffect], false, &plenty, false)
                .unwrap()
                .contains("changed nothing")
        );
        assert!(screenshot_reason(&[AnomalyKind::WrongApp], false, &plenty, false).is_some());
        assert!(screenshot_reason(&[], true, &plenty, false).unwrap().contains("failed"));
        assert!(
            screenshot_reason(&[], false, &buttons(&["One", "", ""]), false)
                .unwrap()
                .contains("only 1 controls")
        );
        assert!(
            screenshot_reason(&[], false, &buttons(&["1", "2", "3", "", "", "", ""]), false)
                .unwrap()
                .contains("3 of 7")
        );
        assert!(
            screenshot_reason(&[], false, &ScreenState::default(), false)
                .unwrap()
                .contains("could not be read")
        );
        assert_eq!(
            screenshot_reason(&[AnomalyKind::NoEffect], false, &plenty, true),
            None,
            "a black picture tells nothing"
        );
    }
}
