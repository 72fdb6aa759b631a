//! Whether the phone is as expected, and what it is instead.
//!
//! Begin with [`Stage::expect`], which looks again until it is so or the time is over.

use std::time::Duration;

use thumbwire_device::{Flags, Node, Tree, find};

use super::plan::{Expected, Sought, Trait};
use super::report::Failing;
use super::stage::{Stage, Stumble, Try, unexpected};
use crate::action::{Action, Outcome};
use crate::look::Look;

impl Stage<'_> {
    /// Waits until it is so.
    ///
    /// # Errors
    /// What the phone shows instead.
    pub(super) async fn expect(
        &self,
        expected: &Expected,
        patience: Duration,
    ) -> Result<(), Stumble> {
        self.until(patience, async || match expected {
            Expected::App(app) => self.in_front(app).await,
            Expected::Visible(sought)
            | Expected::Gone(sought)
            | Expected::Is(sought, _)
            | Expected::Count(sought, _) => Ok(match self.find(sought).await? {
                Try::NotYet(why) => Try::NotYet(why),
                Try::Done((look, nodes)) => match judge(expected, sought, &look, &nodes) {
                    Ok(()) => Try::Done(()),
                    Err(what) => not_so(what),
                },
            }),
        })
        .await
    }

    /// Whether an element shows now, so that it could be tapped.
    pub(super) async fn shows(&self, sought: &Sought) -> Result<Try<()>, Stumble> {
        Ok(match self.find(sought).await? {
            Try::NotYet(why) => Try::NotYet(why),
            Try::Done((look, nodes)) => match visible(sought, &look, &nodes) {
                Ok(_) => Try::Done(()),
                Err(what) => not_so(what),
            },
        })
    }

    async fn in_front(&self, app: &str) -> Result<Try<()>, Stumble> {
        Ok(match self.attempt(Action::CurrentApp).await? {
            Try::NotYet(why) => Try::NotYet(why),
            Try::Done(Outcome::Current(Some(front))) if front.app.0 == app => Try::Done(()),
            Try::Done(Outcome::Current(Some(front))) => {
                not_so(format!("{} is in front, and not {app}", front.app))
            }
            Try::Done(Outcome::Current(None)) => {
                not_so(format!("no app is in front, and not {app}"))
            }
            Try::Done(_) => return Err(unexpected()),
        })
    }
}

fn not_so<T>(what: String) -> Try<T> {
    Try::NotYet(Stumble::new(Failing::Expectation, what))
}

/// # Errors
/// What is so instead.
fn judge(expected: &Expected, sought: &Sought, look: &Look, nodes: &[usize]) -> Result<(), String> {
    match expected {
        Expected::App(_) => Ok(()),
        Expected::Visible(_) => visible(sought, look, nodes).map(drop),
        Expected::Gone(_) => match visible(sought, look, nodes) {
            Ok(_) => Err(format!("{sought} is still on the screen")),
            Err(_) => Ok(()),
        },
        Expected::Count(_, count) => {
            let shown = nodes.iter().filter(|&&node| look.covered_by(node).is_none()).count();
            if shown == *count {
                return Ok(());
            }
            Err(format!("{shown} of {sought} are on the screen, and not {count}"))
        }
        Expected::Is(_, traits) => {
            let node = visible(sought, look, nodes)?;
            let wrong: Vec<String> =
                traits.iter().filter_map(|one| is(one, &look.tree, node).err()).collect();
            if wrong.is_empty() {
                return Ok(());
            }
            Err(format!("{sought} {}", wrong.join(", and ")))
        }
    }
}

/// The element that is meant, which is not covered.
fn visible(sought: &Sought, look: &Look, nodes: &[usize]) -> Result<usize, String> {
    let index = match sought {
        Sought::Words(_) => 0,
        Sought::Parts(_, index) => *index,
    };
    match nodes.get(index) {
        Some(&node) => match look.covered_by(node) {
            None => Ok(node),
            Some(by) => {
                Err(format!("{sought} is covered by {:?}", short(look.tree.nodes[by].name())))
            }
        },
        None if nodes.is_empty() => {
            Err(format!("{sought} is not on the screen, which says {}", said(look)))
        }
        None => Err(format!("{sought}: {} are on the screen, counted from 0", nodes.len())),
    }
}

/// # Errors
/// What it is instead.
fn is(wanted: &Trait, tree: &Tree, at: usize) -> Result<(), String> {
    let node = &tree.nodes[at];
    let says = says(node);
    let (holds, wanted) = match wanted {
        Trait::Equals(words) => (says == words, format!("{words:?}")),
        Trait::Contains(words) => {
            let holds = says.to_lowercase().contains(&words.to_lowercase());
            (holds, format!("something with {words:?}"))
        }
        Trait::Matches(pattern) => (pattern.is_match(says), format!("something like /{pattern}/")),
        Trait::Enabled(is) => {
            let usable = node.flags.enabled && tree.nodes[find::taker(tree, at)].flags.enabled;
            return state(usable, *is, "enabled");
        }
        Trait::Checked(is) => {
            return match ticked(tree, at) {
                Some(ticked) => state(ticked, *is, "checked"),
                None => Err("is nothing that can be checked".into()),
            };
        }
        Trait::Selected(is) => return state(node.flags.selected, *is, "selected"),
        Trait::Focused(is) => return state(node.flags.focused, *is, "focused"),
    };
    if holds { Ok(()) } else { Err(format!("says {:?}, and not {wanted}", short(says))) }
}

fn state(is: bool, wanted: bool, name: &str) -> Result<(), String> {
    if is == wanted { Ok(()) } else { Err(format!("is {}{name}", if is { "" } else { "not " })) }
}

/// What an element says: its text, else its description.
fn says(node: &Node) -> &str {
    if node.text.is_empty() { &node.description } else { &node.text }
}

/// Whether what an element belongs to is ticked: itself, what it lies in, or the one box of its row.
fn ticked(tree: &Tree, at: usize) -> Option<bool> {
    let checkable = |flags: Flags| flags.checkable;
    if let Some(box_at) = find::nearest(tree, at, checkable) {
        return Some(tree.nodes[box_at].flags.checked);
    }
    let row = find::nearest(tree, at, |flags| flags.clickable)?;
    let depth = tree.nodes[row].depth;
    let below = tree.nodes[row + 1..].iter().take_while(|node| node.depth > depth);
    let mut boxes = below.filter(|node| node.flags.checkable);
    let only = boxes.next()?;
    boxes.next().is_none().then_some(only.flags.checked)
}

/// The first of what stands on the screen, in words.
fn said(look: &Look) -> String {
    const MOST: usize = 8;
    let words = look.controls.iter().map(|control| says(&look.tree.nodes[control.node]));
    let words: Vec<&str> = words.filter(|words| !words.is_empty()).collect();
    let told: Vec<String> =
        words.iter().take(MOST).map(|words| format!("{:?}", short(words))).collect();
    match words.len() {
        0 => "nothing".into(),
        count if count > MOST => format!("{} and {} more", told.join(", "), count - MOST),
        _ => told.join(", "),
    }
}

/// The beginning of long words.
fn short(words: &str) -> String {
    const LONGEST: usize = 60;
    let mut short: String = words.chars().take(LONGEST).collect();
    if short.len() < words.len() {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU32;

    use regex_lite::Regex;
    use thumbwire_device::{Rect, Tree};

    use super::*;
    use crate::action::Criteria;

    /// A row with a label and a switch beside it; a button that is greyed out; a sheet over a label.
    fn look() -> Look {
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
        Look::number(Tree { nodes, ..Tree::default() }, None, &AtomicU32::new(1))
    }

    fn check(expected: &Expected, nodes: &[usize], words: &str) {
        let sought = match expected {
            Expected::Visible(it)
            | Expected::Gone(it)
            | Expected::Is(it, _)
            | Expected::Count(it, _) => it,
            Expected::App(_) => panic!("no element"),
        };
        let judged = judge(expected, sought, &look(), nodes);
        match words {
            "" => assert_eq!(judged, Ok(()), "{expected}"),
            words => assert_eq!(judged, Err(words.to_owned()), "{expected}"),
        }
    }

    #[test]
    fn what_is_not_so_is_told_with_what_is() {
        let word = |word: &str| Sought::Words(word.into());
        let part = |class: &str, index| {
            Sought::Parts(Criteria { class: Some(class.into()), ..Criteria::default() }, index)
        };
        check(&Expected::Visible(word("Wi-Fi")), &[2], "");
        check(
            &Expected::Visible(word("Pa")),
            &[],
            "\"Pa\" is not on the screen, which says \"Wi-Fi\", \"Pay 12 €\", \"Hidden\", \"Sheet\"",
        );
        check(&Expected::Visible(word("Hidden")), &[5], "\"Hidden\" is covered by \"Sheet\"");
        check(&Expected::Gone(word("Hidden")), &[5], "");
        check(&Expected::Gone(word("Sheet")), &[6], "\"Sheet\" is still on the screen");
        let second = Expected::Visible(part("Label", 2));
        check(&second, &[2, 5], "class \"Label\", index 2: 2 are on the screen, counted from 0");
        check(&Expected::Count(part("Label", 0), 1), &[2, 5], "");
        check(
            &Expected::Count(part("Label", 0), 2),
            &[2, 5],
            "1 of class \"Label\" are on the screen, and not 2",
        );
    }

    #[test]
    fn what_an_element_says_and_is_can_be_held_against_what_it_should() {
        let is = |word: &str, traits: Vec<Trait>| Expected::Is(Sought::Words(word.into()), traits);
        let pattern = |pattern: &str| Trait::Matches(Regex::new(pattern).unwrap());
        check(&is("Pay", vec![Trait::Equals("Pay 12 €".into())]), &[4], "");
        check(&is("Pay", vec![Trait::Contains("PAY".into()), pattern(r"\d+")]), &[4], "");
        check(
            &is("Pay", vec![Trait::Equals("Pay".into()), Trait::Enabled(true)]),
            &[4],
            "\"Pay\" says \"Pay 12 €\", and not \"Pay\", and is not enabled",
        );
        check(
            &is("Pay", vec![pattern("^12")]),
            &[4],
            "\"Pay\" says \"Pay 12 €\", and not something like /^12/",
        );
        check(&is("Wi-Fi", vec![Trait::Checked(true)]), &[2], "");
        check(&is("Wi-Fi", vec![Trait::Checked(false)]), &[2], "\"Wi-Fi\" is checked");
        check(
            &is("Pay", vec![Trait::Checked(true)]),
            &[4],
            "\"Pay\" is nothing that can be checked",
        );
    }
}
