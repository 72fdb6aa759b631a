//! A tap that came down where its control no longer was: a banner loaded between the look and the finger, or went.
//!
//! Nothing can rule that out beforehand, since between any look and any touch there is time. It can be told from the look after:
//! either the control lies elsewhere and has not changed, or a page has opened that is about its neighbour in a list.

use std::sync::Arc;

use thumbwire_device::find::Found;
use thumbwire_device::{Node, Rect, field};

use super::{Check, Finding, Kind, Repair, Scene, Step, click, quoted};

/// A name that is shorter tells nothing about a page.
const SHORTEST: usize = 4;

/// How much of a page's words are there yet where it is the same page.
const SAME_PAGE: f64 = 0.6;

impl Check<'_> {
    /// The control lies elsewhere than where the tap came down, and is as it was.
    pub(super) fn moved(&self) -> Option<Finding> {
        let (controls, target) = self.target()?;
        let now = self.after.controls.as_ref()?;
        // On another page something may be called the same.
        let is_another = self.before.words().found_in(&self.after.words()) < SAME_PAGE;
        if is_another || self.before.screen != self.after.screen {
            return None;
        }
        let Found::One(place) = now.same_as(controls, target) else { return None };
        let (was, is) = (&controls.look.tree.nodes[target], &now.look.tree.nodes[place]);
        let size = |Rect { left, top, right, bottom }: Rect| (right - left, bottom - top);
        // A field that a keyboard moved has the focus; a row that was opened or ticked is not as it was.
        let as_it_was = was.flags == is.flags && size(was.bounds) == size(is.bounds);
        if !as_it_was || field::takes_text(was) || is.bounds.contains(was.bounds.center()) {
            return None;
        }
        let says = format!(
            "{} had moved by the time the tap came down, and lies at {}, {} now: the tap may have gone to something else there, or to \
             nothing. See what it led to, and tap again where the control lies now if it did not do what it was for.",
            quoted([was.name()]),
            is.bounds.center().x,
            is.bounds.center().y,
        );
        // New words may be what the tap led to; where there are none, and none changed, it led to nothing.
        let ticked = |scene: &Scene| scene.nodes().filter(|(_, node)| node.flags.checked).count();
        let nothing_new = self.after.words().found_in(&self.before.words()) >= 1.0
            && ticked(self.before) == ticked(self.after);
        let again = Step { doing: click(), target: Some((Arc::clone(now), place)) };
        let repairs = if nothing_new { vec![Repair::Do(vec![again])] } else { Vec::new() };
        Some(Finding { kind: Kind::Moved, says, repairs })
    }

    /// Of a list's rows one was tapped, and the page that came is about another.
    pub(super) fn neighbour(&self) -> Option<Finding> {
        let (controls, target) = self.target()?;
        let now = self.after.controls.as_ref()?;
        let aimed_at = &controls.look.tree.nodes[target];
        let kin = |node: &Node| (&node.class, &node.id) == (&aimed_at.class, &aimed_at.id);
        let is_named = |node: &Node| node.name().chars().count() >= SHORTEST;
        let shows = |name: &str| now.iter().any(|(_, node)| node.name() == name);
        if !is_named(aimed_at) || shows(aimed_at.name()) {
            return None;
        }
        let kin: Vec<&Node> =
            controls.iter().map(|(_, node)| node).filter(|node| kin(node)).collect();
        // A row that left a list leaves most of its neighbours there; a page about one of them shows that one.
        let mut shown = (0..kin.len()).filter(|&at| is_named(kin[at]) && shows(kin[at].name()));
        let (Some(other), None) = (shown.next(), shown.next()) else { return None };
        let place = kin.iter().position(|node| std::ptr::eq(*node, aimed_at))?;
        if aimed_at.id.is_empty() || other.abs_diff(place) != 1 {
            return None;
        }
        let other = kin[other];
        let says = format!(
            "{} shows now, and {} does not: the tap may have gone to the control beside it. If this is the wrong page, go back by \
             KEYCODE_BACK and tap again.",
            quoted([other.name()]),
            quoted([aimed_at.name()]),
        );
        Some(Finding { kind: Kind::Moved, says, repairs: Vec::new() })
    }
}
