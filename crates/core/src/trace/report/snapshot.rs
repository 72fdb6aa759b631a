//! A snapshot on the page: its rows, its boxes, and the changes since the previous snapshot.

use std::collections::BTreeMap;

use maud::{Markup, html};

use crate::annotate::ControlFamily;
use crate::trace::format::{StoredNode, StoredSnapshot};
use crate::trace::text::sanitize_line;

/// The maximum number of rows of one tree.
const MAX_ROWS: usize = 1000;

/// The maximum number of changes of one kind.
const MAX_CHANGES: usize = 8;

/// The maximum length of a node's text, in characters.
const MAX_LENGTH: usize = 200;

fn kind<'a>(node: &'a StoredNode<'_>) -> &'a str {
    node.class.rsplit('.').next().unwrap_or_default()
}

fn name<'a>(node: &'a StoredNode<'_>) -> &'a str {
    if node.text.is_empty() { &node.description } else { &node.text }
}

fn id<'a>(node: &'a StoredNode<'_>) -> &'a str {
    node.id.rsplit('/').next().unwrap_or_default()
}

/// The tree, one row per node. Depth is a number instead of nesting: an untrusted tree may be
/// deeper than a browser allows.
pub(super) fn rows(snapshot: &StoredSnapshot<'_>) -> Markup {
    let mut depths: Vec<usize> = Vec::with_capacity(snapshot.nodes.len());
    for node in &snapshot.nodes {
        let above = node.parent.and_then(|parent| depths.get(parent));
        depths.push(above.map_or(0, |depth| depth + 1));
    }
    let left_out = snapshot.nodes.len().saturating_sub(MAX_ROWS);
    html! {
        input.filter type="search" placeholder="Filter" aria-label="Filter the tree";
        ul.tree {
            @for ((at, node), depth) in snapshot.nodes.iter().enumerate().zip(&depths).take(MAX_ROWS) {
                @let opens = depths.get(at + 1).is_some_and(|next| next > depth);
                @let [left, top, right, bottom] = node.bounds;
                li data-depth=(depth) data-rect={ (left) " " (top) " " (right) " " (bottom) }
                    style={ "--depth:" (depth.min(&40)) } .hidden[node.hidden.is_some()] {
                    @if opens { button.fold type="button" aria-label="Fold" aria-expanded="true" {} }
                    @else { span.leaf {} }
                    @if let Some(number) = node.control { b { "e" (number) } }
                    span.kind { (sanitize_line(kind(node), 60)) }
                    @if !name(node).is_empty() { bdi.name { (sanitize_line(name(node), MAX_LENGTH)) } }
                    @if !node.id.is_empty() { span.id { "#" (sanitize_line(id(node), 80)) } }
                    span.more {
                        (left) "," (top) " " (right) "," (bottom)
                        @for flag in node.flags.iter().take(20) { " " (sanitize_line(flag, 30)) }
                        @if let Some(reason) = &node.hidden { " hidden: " (sanitize_line(reason, 60)) }
                    }
                }
            }
        }
        @if left_out > 0 { p.note { (left_out) " more rows omitted." } }
    }
}

/// Elements with refs as boxes over a screenshot.
pub(super) fn boxes(snapshot: &StoredSnapshot<'_>, size: i32) -> Markup {
    let numbered = snapshot.nodes.iter().filter_map(|node| Some((node.control?, node)));
    html! {
        @for (number, node) in numbered.take(MAX_ROWS) {
            @let [left, top, right, bottom] = node.bounds;
            @let (width, height) = (right.saturating_sub(left), bottom.saturating_sub(top));
            @if width > 0 && height > 0 {
                g class={ "box " (ControlFamily::of(kind(node)).name()) } {
                    rect x=(left) y=(top) width=(width) height=(height) {
                        title { "e" (number) " " (sanitize_line(name(node), MAX_LENGTH)) }
                    }
                    text x=(left.saturating_add(size / 8)) y=(top.saturating_add(size)) font-size=(size) { "e" (number) }
                }
            }
        }
    }
}

/// What was added, removed and changed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Changes {
    pub(super) added: Vec<String>,
    pub(super) removed: Vec<String>,
    pub(super) changed: Vec<String>,
}

impl Changes {
    pub(super) fn between(before: &StoredSnapshot<'_>, after: &StoredSnapshot<'_>) -> Self {
        let (mut gone, mut new) = (counted(before), counted(after));
        gone.retain(|key, nodes| {
            let Some(remaining) = new.get_mut(key) else { return true };
            let common = nodes.len().min(remaining.len());
            nodes.drain(..common);
            remaining.drain(..common);
            !nodes.is_empty()
        });
        let mut gone: Vec<&StoredNode<'_>> = gone.into_values().flatten().collect();
        let new: Vec<&StoredNode<'_>> = new.into_values().flatten().collect();
        let mut changes = Self::default();
        for node in new {
            let same = |old: &&StoredNode<'_>| {
                let place = old.bounds == node.bounds;
                old.class == node.class && old.id == node.id && (place || !node.id.is_empty())
            };
            match gone.iter().position(same) {
                Some(at) => {
                    let old = gone.remove(at);
                    changes.changed.push(format!("{} \u{2192} {}", node_text(old), state(node)));
                }
                None => changes.added.push(node_text(node)),
            }
        }
        changes.removed = gone.into_iter().map(node_text).collect();
        changes
    }

    pub(super) fn markup(&self) -> Markup {
        let groups = [
            ("added", "+", &self.added),
            ("removed", "\u{2212}", &self.removed),
            ("changed", "~", &self.changed),
        ];
        html! {
            @if groups.iter().all(|(_, _, lines)| lines.is_empty()) {
                p.quiet { "No changes since the previous snapshot." }
            }
            ul.changes {
                @for (class, sign, lines) in groups {
                    @for line in lines.iter().take(MAX_CHANGES) {
                        li class=(class) { span.sign { (sign) } bdi { (line) } }
                    }
                    @if lines.len() > MAX_CHANGES {
                        li class=(class) { span.sign { (sign) } (lines.len() - MAX_CHANGES) " more" }
                    }
                }
            }
        }
    }
}

/// What identifies an element, wherever it is.
type Key<'a> = (&'a str, &'a str, &'a str, Vec<&'a str>);

/// The elements that have text or accept input, by their key.
fn counted<'a>(snapshot: &'a StoredSnapshot<'_>) -> BTreeMap<Key<'a>, Vec<&'a StoredNode<'a>>> {
    let mut all: BTreeMap<Key<'_>, Vec<&StoredNode<'_>>> = BTreeMap::new();
    for node in snapshot.nodes.iter().filter(|node| node.control.is_some()) {
        let flags = stable_attributes(node).collect();
        all.entry((kind(node), &node.id, name(node), flags)).or_default().push(node);
    }
    all
}

/// Flags that describe an element's state, not what can be done with it.
fn stable_attributes<'a>(node: &'a StoredNode<'_>) -> impl Iterator<Item = &'a str> {
    let kept = |flag: &&str| ["checked", "selected", "focused", "enabled"].contains(flag);
    node.flags.iter().map(AsRef::as_ref).filter(kept)
}

fn node_text(node: &StoredNode<'_>) -> String {
    let id = if node.id.is_empty() { String::new() } else { format!(" #{}", id(node)) };
    sanitize_line(&format!("{}{id} {}", kind(node), state(node)), MAX_LENGTH)
}

fn state(node: &StoredNode<'_>) -> String {
    let flags: Vec<&str> = stable_attributes(node).filter(|flag| *flag != "enabled").collect();
    let flags = if flags.is_empty() { String::new() } else { format!(" ({})", flags.join(", ")) };
    sanitize_line(&format!("\u{201c}{}\u{201d}{flags}", name(node)), MAX_LENGTH)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(
        class: &'static str,
        id: &'static str,
        text: &'static str,
        top: i32,
    ) -> StoredNode<'static> {
        StoredNode {
            parent: None,
            control: Some(1),
            class: class.into(),
            package: "p".into(),
            id: id.into(),
            text: text.into(),
            hint: "".into(),
            description: "".into(),
            bounds: [0, top, 10, top + 10],
            flags: Vec::new(),
            hidden: None,
            covered_by: None,
        }
    }

    fn snapshot(nodes: Vec<StoredNode<'static>>) -> StoredSnapshot<'static> {
        StoredSnapshot { rotation: 0, nodes }
    }

    #[test]
    fn moved_nodes_are_unchanged_and_edited_ones_changed() {
        let field = |text| node("a.EditText", "p:id/field", text, 0);
        let row = |text, top| node("a.TextView", "", text, top);
        let before = snapshot(vec![field(""), row("One", 20), row("Two", 30)]);
        let after = snapshot(vec![field("tea"), row("Two", 60), row("Three", 70)]);
        let changes = Changes::between(&before, &after);
        assert_eq!(changes.added, ["TextView “Three”"]);
        assert_eq!(changes.removed, ["TextView “One”"]);
        assert_eq!(changes.changed, ["EditText #field “” → “tea”"]);
        assert_eq!(Changes::between(&after, &after), Changes::default());
    }
}
