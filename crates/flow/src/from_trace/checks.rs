//! Assertions about what an act changed: what is new and lasts, what is checked, what is gone.

use std::rc::Rc;

use serde_json::{Value, json};
use thumbwire_device::find::nearest;
use thumbwire_device::text_field::is_text_field;

use super::naming::{Name, Naming, Touched, texts};
use super::recorded::Screen;
use crate::assert::checkbox;

/// What is in front besides apps.
const OVERLAYS: [&str; 2] = ["com.android.systemui", "inputmethod"];

/// How well a text tells that a screen is the right one.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    /// A title, or another text that does nothing.
    Plain,
    /// A control's text.
    Control,
    /// The description of an icon.
    Icon,
    /// A text in a row of a list.
    Row,
}

fn rank(screen: &Screen, at: usize, text: &str) -> Rank {
    let node = screen.node(at);
    let does = nearest(&screen.snapshot.tree, at, |flags| flags.clickable || flags.checkable);
    match does {
        _ if *node.text != *text => Rank::Icon,
        None => Rank::Plain,
        Some(does) if does == at => Rank::Control,
        Some(_) => Rank::Row,
    }
}

impl Naming<'_> {
    /// What is on the screen after an act, and was not before: the most telling text of a new
    /// screen, at most `max` of them, and one with a value of the run. `next` is what the flow
    /// waits for anyway.
    pub(super) fn appeared(
        &self,
        before: Option<&Screen>,
        after: &Screen,
        next: Option<&Name>,
        is_last: bool,
        others: &[Rc<Screen>],
        max: usize,
    ) -> Vec<Value> {
        let is_new_screen =
            before.is_none_or(|before| after.snapshot.is_another_screen(&before.snapshot));
        let (mut values, mut shown) = (Vec::new(), Vec::new());
        for at in after.visible() {
            let node = after.node(at);
            let is_overlay = OVERLAYS.iter().any(|one| node.package.contains(one));
            let kind = format!("{} {}", node.id, node.class).to_lowercase();
            let passes = ["toast", "snackbar"].iter().any(|one| kind.contains(one));
            let is_overlay = (is_overlay && *node.package != *after.app) || after.is_keyboard(at);
            if is_overlay || passes || is_text_field(node) {
                continue;
            }
            for text in texts(node) {
                let lasts = self.parameters.lasts(text);
                match self.parameters.value_in(text) {
                    Some(value) if !lasts => values.push((true, Name::of_part(value))),
                    Some(_) => values.push((false, Name::of_text(text))),
                    None if lasts && (is_new_screen || is_last) => {
                        let name = Name::of_text(text);
                        let count = others.iter().filter(|one| !name.find(one).is_empty()).count();
                        let (rank, top) = (rank(after, at, text), after.snapshot.shown(at).top);
                        // The first icon leads back, as everywhere.
                        let place = if rank == Rank::Icon { top.saturating_neg() } else { top };
                        shown.push(((rank, count, place), name));
                    }
                    None => {}
                }
            }
        }
        values.sort_by_key(|(is_part, _)| *is_part);
        shown.sort_by(|(one, _), (other, _)| one.cmp(other));
        let is_check = |name: &Name| {
            let first = name.find(after).first().copied();
            let is_visible = first.is_some_and(|at| after.snapshot.covered_by(at).is_none());
            let is_shown = |screen: &Screen| {
                name.find(screen).into_iter().any(|at| !is_text_field(screen.node(at)))
            };
            is_visible && !before.is_some_and(is_shown) && next != Some(name)
        };
        let value = values.into_iter().map(|(_, name)| name).find(is_check);
        let shown = shown.into_iter().map(|(_, name)| name).filter(is_check).take(max);
        let names = shown.chain(value);
        names.map(|name| json!({ "assertVisible": name.written(self.parameters) })).collect()
    }

    /// Whether what was touched is checked now, if that changed.
    pub(super) fn checked(&self, name: &Name, before: &Screen, after: &Screen) -> Option<Value> {
        let state = |screen: &Screen| {
            let &[at] = name.find(screen).as_slice() else { return None };
            let found = checkbox(&screen.snapshot.tree, at)?;
            Some((found, screen.node(found).flags.checked))
        };
        let ((_, was), (now, is)) = (state(before)?, state(after)?);
        let with_state = |name: Name| {
            // An index would count only those that are in this state.
            let name = Some(name).filter(|name| !name.has_index())?.checked(is);
            let keys = || json!({ "assertVisible": name.keys(self.parameters) });
            (name.find(after) == [now]).then(keys)
        };
        let ours = || {
            let element = name.written(self.parameters);
            (!self.maestro).then(|| json!({ "assertState": { "element": element, "checked": is } }))
        };
        let other = || self.name(after, &Touched::node(now)).and_then(with_state);
        let check = || with_state(name.clone()).or_else(other).or_else(ours);
        if was == is { None } else { check() }
    }

    /// What was touched on an earlier look at this screen and is not on it any more, although most
    /// of the rest is.
    pub(super) fn gone(&self, touched: &[(Rc<Screen>, Name)], after: &Screen) -> Option<Value> {
        let texts_of = |screen: &Screen| -> Vec<String> {
            let nodes = screen.visible().map(|at| screen.node(at));
            nodes
                .flat_map(texts)
                .filter(|text| self.parameters.lasts(text))
                .map(str::to_owned)
                .collect()
        };
        let now = texts_of(after);
        let is_same_screen = |screen: &Screen| {
            let were = texts_of(screen);
            let left = were.iter().filter(|text| now.contains(text)).count();
            screen.app == after.app && were.len() > 2 && left * 3 >= were.len() * 2
        };
        let gone = touched.iter().rev().find(|(screen, name)| {
            let is_item = name.text.is_some()
                && *name == Name::of_text(name.text.as_deref().unwrap_or_default());
            is_item && name.find(after).is_empty() && is_same_screen(screen)
        });
        gone.map(|(_, name)| json!({ "assertNotVisible": name.written(self.parameters) }))
    }
}
