//! A tap that landed where its control no longer was, because a banner appeared or went away after
//! the snapshot.
//!
//! This cannot be ruled out beforehand: time passes between any snapshot and any touch. The
//! snapshot after it shows it: either the control is elsewhere and has not changed, or a page has
//! opened that belongs to its neighbour in a list.

use std::sync::Arc;

use thumbwire_core::snapshot::find_again;
use thumbwire_device::find::FindResult;
use thumbwire_device::{Node, Rect, text_field};

use super::{Anomaly, AnomalyKind, Check, Repair, RepairAction, ScreenState, click, quoted};

/// A shorter name does not identify a page.
const MIN_NAME: usize = 4;

/// The share of texts that must still be there for the page to count as the same.
const SAME_PAGE: f64 = 0.6;

impl Check<'_> {
    /// The control is not where the tap landed, and has not changed.
    pub(super) fn moved(&self) -> Option<Anomaly> {
        let (controls, target) = self.target()?;
        let now = self.after.controls.as_ref()?;
        // Another page may have a control of the same name.
        let is_another = self.before.texts().found_in(&self.after.texts()) < SAME_PAGE;
        if is_another || self.before.screen != self.after.screen {
            return None;
        }
        let FindResult::One(place) = find_again(controls, target, now) else { return None };
        let (was, is) = (&controls.snapshot.tree.nodes[target], &now.snapshot.tree.nodes[place]);
        let size = |Rect { left, top, right, bottom }: Rect| (right - left, bottom - top);
        // A field that the keyboard moved has the focus; a row that was opened or checked has
        // changed.
        let as_it_was = was.flags == is.flags && size(was.bounds) == size(is.bounds);
        if !as_it_was || text_field::is_text_field(was) || is.bounds.contains(was.bounds.center()) {
            return None;
        }
        let says = format!(
            "{} had moved before the tap landed, and is elsewhere now: the tap may have gone to something else, or to nothing. Check \
             what it did; if that is not what you wanted, tap the control where it is now.",
            quoted([was.name()]),
        );
        // New text may be the tap's effect. Without new or changed text it had none.
        let ticked =
            |screen: &ScreenState| screen.nodes().filter(|(_, node)| node.flags.checked).count();
        let nothing_new = self.after.texts().found_in(&self.before.texts()) >= 1.0
            && ticked(self.before) == ticked(self.after);
        let again = RepairAction { call: click(), target: Some((Arc::clone(now), place)) };
        let repairs = if nothing_new { vec![Repair::Act(vec![again])] } else { Vec::new() };
        Some(Anomaly { kind: AnomalyKind::TargetMoved, text: says, repairs })
    }

    /// A row of a list was tapped, and the page that opened belongs to its neighbour.
    pub(super) fn neighbour(&self) -> Option<Anomaly> {
        let (controls, target) = self.target()?;
        let now = self.after.controls.as_ref()?;
        let aimed_at = &controls.snapshot.tree.nodes[target];
        let kin = |node: &Node| (&node.class, &node.id) == (&aimed_at.class, &aimed_at.id);
        let is_named = |node: &Node| node.name().chars().count() >= MIN_NAME;
        let shows = |name: &str| now.iter().any(|(_, node)| node.name() == name);
        if !is_named(aimed_at) || shows(aimed_at.name()) {
            return None;
        }
        let kin: Vec<&Node> =
            controls.iter().map(|(_, node)| node).filter(|node| kin(node)).collect();
        // If the row was removed, most of its neighbours are still there. A page about one of them
        // shows only that one.
        let mut shown = (0..kin.len()).filter(|&at| is_named(kin[at]) && shows(kin[at].name()));
        let (Some(other), None) = (shown.next(), shown.next()) else { return None };
        let place = kin.iter().position(|node| std::ptr::eq(*node, aimed_at))?;
        if aimed_at.id.is_empty() || other.abs_diff(place) != 1 {
            return None;
        }
        let other = kin[other];
        let says = format!(
            "The screen shows {} but not {}: the tap may have gone to the control beside it. If this is the wrong page, go back with \
             {} and tap again.",
            quoted([other.name()]),
            quoted([aimed_at.name()]),
            self.after.way_back(),
        );
        Some(Anomaly { kind: AnomalyKind::NeighbourOpened, text: says, repairs: Vec::new() })
    }
}
