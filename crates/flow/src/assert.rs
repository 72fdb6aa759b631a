//! Checks assertions and describes what is on the screen instead.
//!
//! Start with [`CaseRunner::check`], which polls until the assertion holds or its timeout passes.

use std::time::Duration;

use thumbwire_device::{AppId, Flags, Tree, find};

use super::case_runner::{CaseRunner, PollError, StepError};
use super::element_pattern::ElementPattern;
use super::plan::{Assertion, ElementState};
use super::report::FailureKind;
use super::screen_text::{screen_summary, short, text_of};
use thumbwire_core::action::request;
use thumbwire_core::snapshot::Snapshot;

impl CaseRunner<'_> {
    /// Waits until the assertion holds.
    ///
    /// # Errors
    /// What the phone shows instead.
    pub(super) async fn check(
        &mut self,
        expected: &Assertion,
        timeout: Duration,
    ) -> Result<(), StepError> {
        self.until(timeout, async |runner| match expected {
            Assertion::AppInForeground(app) => runner.in_front(app).await,
            Assertion::Visible(element)
            | Assertion::NotVisible(element)
            | Assertion::HasState(element, _)
            | Assertion::Count(element, _) => {
                let (snapshot, nodes) = runner.find(element).await?;
                judge(expected, element, &snapshot, &nodes).map_err(mismatch)
            }
        })
        .await
    }

    /// Whether an element is visible now and could be tapped.
    pub(super) async fn shows(&mut self, element: &ElementPattern) -> Result<(), PollError> {
        let (snapshot, nodes) = self.find(element).await?;
        visible(element, &snapshot, &nodes).map(drop).map_err(mismatch)
    }

    async fn in_front(&mut self, app: &AppId) -> Result<(), PollError> {
        let front = self.attempt(request::CurrentApp).await?;
        match front.app() {
            Some(shown) if shown.app == *app => Ok(()),
            Some(shown) => Err(mismatch(format!("{} is in the foreground, not {app}", shown.app))),
            None => Err(mismatch(format!("{front} is in the foreground, expected {app}"))),
        }
    }
}

/// What a poll shows instead of what is expected.
pub(super) fn mismatch(what: String) -> PollError {
    PollError::Pending(StepError::new(FailureKind::Expectation, what))
}

/// # Errors
/// What is true instead.
fn judge(
    expected: &Assertion,
    element: &ElementPattern,
    snapshot: &Snapshot,
    nodes: &[usize],
) -> Result<(), String> {
    match expected {
        Assertion::AppInForeground(_) => Ok(()),
        Assertion::Visible(_) => visible(element, snapshot, nodes).map(drop),
        Assertion::NotVisible(_) => match visible(element, snapshot, nodes) {
            Ok(_) => Err(format!("{element} is still on the screen")),
            Err(_) => Ok(()),
        },
        Assertion::Count(_, count) => {
            let shown = nodes.iter().filter(|&&node| snapshot.covered_by(node).is_none()).count();
            if shown == *count {
                return Ok(());
            }
            Err(format!("found {shown} of {element} on the screen, expected {count}"))
        }
        Assertion::HasState(_, states) => {
            let node = visible(element, snapshot, nodes)?;
            let wrong: Vec<String> =
                states.iter().filter_map(|one| is(one, &snapshot.tree, node).err()).collect();
            if wrong.is_empty() {
                return Ok(());
            }
            Err(format!("{element} {}", wrong.join(", and ")))
        }
    }
}

/// The matching element, which must not be covered.
fn visible(
    element: &ElementPattern,
    snapshot: &Snapshot,
    nodes: &[usize],
) -> Result<usize, String> {
    let Some(&node) = nodes.first() else {
        return Err(format!(
            "{element} is not on the screen; visible text: {}",
            screen_summary(snapshot)
        ));
    };
    match snapshot.covered_by(node) {
        None => Ok(node),
        Some(by) => {
            Err(format!("{element} is covered by {:?}", short(snapshot.tree.nodes[by].name())))
        }
    }
}

/// # Errors
/// What it is instead.
fn is(wanted: &ElementState, tree: &Tree, at: usize) -> Result<(), String> {
    let node = &tree.nodes[at];
    let shown = text_of(node);
    let (holds, wanted) = match wanted {
        ElementState::Equals(text) => (shown == text, format!("{text:?}")),
        ElementState::Contains(text) => {
            let holds = shown.to_lowercase().contains(&text.to_lowercase());
            (holds, format!("text containing {text:?}"))
        }
        ElementState::Matches(pattern) => {
            (pattern.is_match(shown), format!("a match of /{pattern}/"))
        }
        ElementState::Enabled(is) => {
            let usable =
                node.flags.enabled && tree.nodes[find::tap_receiver(tree, at)].flags.enabled;
            return state(usable, *is, "enabled");
        }
        ElementState::Checked(is) => {
            return match is_checked(tree, at) {
                Some(ticked) => state(ticked, *is, "checked"),
                None => Err("is not checkable".into()),
            };
        }
        ElementState::Selected(is) => return state(node.flags.selected, *is, "selected"),
        ElementState::Focused(is) => return state(node.flags.focused, *is, "focused"),
    };
    if holds { Ok(()) } else { Err(format!("says {:?}, expected {wanted}", short(shown))) }
}

fn state(is: bool, wanted: bool, name: &str) -> Result<(), String> {
    if is == wanted { Ok(()) } else { Err(format!("is {}{name}", if is { "" } else { "not " })) }
}

/// Whether an element is checked.
fn is_checked(tree: &Tree, at: usize) -> Option<bool> {
    checkbox(tree, at).map(|at| tree.nodes[at].flags.checked)
}

/// The checkbox or switch of an element: itself, its ancestor, or the only one in its row.
pub(super) fn checkbox(tree: &Tree, at: usize) -> Option<usize> {
    let checkable = |flags: Flags| flags.checkable;
    if let Some(box_at) = find::nearest(tree, at, checkable) {
        return Some(box_at);
    }
    let row = find::nearest(tree, at, |flags| flags.clickable)?;
    let depth = tree.nodes[row].depth;
    let below = (row + 1..tree.nodes.len()).take_while(|&at| tree.nodes[at].depth > depth);
    let mut boxes = below.filter(|&at| checkable(tree.nodes[at].flags));
    let only = boxes.next()?;
    boxes.next().is_none().then_some(only)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU32;

    use regex_lite::Regex;
    use thumbwire_device::{Node, Rect, Tree};

    use super::*;

    /// A row with a label and a switch; a disabled button; a sheet over a label.
    fn snapshot() -> Snapshot {
        let node = |parent, depth, text: &str, top, class: &str| Node {
            parent,
            depth,
            text: text.into(),
            class: class.into(),
            bounds: Rect { left: 0, top, right: 100, bottom: top + 20 },
            flags: Flags { enabled: true, ..Flags::default() },
            ..Node::default()
        };
        let mut nodes = vec![
            node(None, 0, "", 0, "Page"),
            node(Some(0), 1, "", 0, "Row"),
            node(Some(1), 2, "Wi-Fi", 0, "Label"),
            node(Some(1), 2, "", 0, "Switch"),
            node(Some(0), 1, "Pay 12 €", 30, "Button"),
            node(Some(0), 1, "Hidden", 60, "Label"),
            node(Some(0), 1, "Sheet", 60, "Sheet"),
        ];
        nodes[0].bounds.bottom = 200;
        nodes[1].flags.clickable = true;
        (nodes[3].flags.checkable, nodes[3].flags.checked) = (true, true);
        nodes[2].bounds.right = 50;
        nodes[3].bounds.left = 60;
        nodes[4].flags.enabled = false;
        (nodes[5].order, nodes[6].order, nodes[6].flags.clickable) = (1, 2, true);
        Snapshot::number(Tree { nodes, ..Tree::default() }, None, &AtomicU32::new(1))
    }

    fn check(expected: &Assertion, nodes: &[usize], text: &str) {
        let element = match expected {
            Assertion::Visible(it)
            | Assertion::NotVisible(it)
            | Assertion::HasState(it, _)
            | Assertion::Count(it, _) => it,
            Assertion::AppInForeground(_) => panic!("no element"),
        };
        let judged = judge(expected, element, &snapshot(), nodes);
        match text {
            "" => assert_eq!(judged, Ok(()), "{expected}"),
            text => assert_eq!(judged, Err(text.to_owned()), "{expected}"),
        }
    }

    #[test]
    fn failed_assertion_describes_the_screen() {
        let text = |text: &str| Box::new(ElementPattern::of_text(text).unwrap());
        check(&Assertion::Visible(text("Wi-Fi")), &[2], "");
        check(
            &Assertion::Visible(text("Pa")),
            &[],
            "\"Pa\" is not on the screen; visible text: \"Wi-Fi\", \"Pay 12 €\", \"Hidden\", \"Sheet\"",
        );
        check(&Assertion::Visible(text("Hidden")), &[5], "\"Hidden\" is covered by \"Sheet\"");
        check(&Assertion::NotVisible(text("Hidden")), &[5], "");
        check(&Assertion::NotVisible(text("Sheet")), &[6], "\"Sheet\" is still on the screen");
        check(&Assertion::Count(text("Label"), 1), &[2, 5], "");
        check(
            &Assertion::Count(text("Label"), 2),
            &[2, 5],
            "found 1 of \"Label\" on the screen, expected 2",
        );
    }

    #[test]
    fn element_text_and_state_are_checked() {
        let is = |word: &str, states: Vec<ElementState>| {
            Assertion::HasState(Box::new(ElementPattern::of_text(word).unwrap()), states)
        };
        let pattern = |pattern: &str| ElementState::Matches(Regex::new(pattern).unwrap());
        check(&is("Pay", vec![ElementState::Equals("Pay 12 €".into())]), &[4], "");
        check(&is("Pay", vec![ElementState::Contains("PAY".into()), pattern(r"\d+")]), &[4], "");
        check(
            &is("Pay", vec![ElementState::Equals("Pay".into()), ElementState::Enabled(true)]),
            &[4],
            "\"Pay\" says \"Pay 12 €\", expected \"Pay\", and is not enabled",
        );
        check(
            &is("Pay", vec![pattern("^12")]),
            &[4],
            "\"Pay\" says \"Pay 12 €\", expected a match of /^12/",
        );
        check(&is("Wi-Fi", vec![ElementState::Checked(true)]), &[2], "");
        check(&is("Wi-Fi", vec![ElementState::Checked(false)]), &[2], "\"Wi-Fi\" is checked");
        check(&is("Pay", vec![ElementState::Checked(true)]), &[4], "\"Pay\" is not checkable");
    }
}
