//! What a touch reaches on a screen: the control that takes it, and what that control says.
//!
//! Start with [`Touched::control`] and [`Touched::point`]. A label takes no touches itself, but is
//! inside a button that does; a button's text may be in a view inside it; and what "OK" does is
//! said by the dialog around it.

use thumbwire_base::visible::without_hidden;
use thumbwire_core::action::{ControlNumber, Controls};
use thumbwire_core::snapshot::Snapshot;
use thumbwire_device::{Node, Point, WindowKind, text_field};

/// A button with more texts inside is a row or a page.
const MAX_TEXTS: usize = 6;
/// How many texts of a dialog are read, counted back from its button.
const MAX_OF_A_DIALOG: usize = 12;

/// What a touch reaches.
pub(super) struct Touched<'a> {
    snapshot: &'a Snapshot,
    /// What was named or hit, then what contains it and takes the touch.
    nodes: Vec<usize>,
}

impl<'a> Touched<'a> {
    /// The control with this number, and what takes touches for it.
    pub(super) fn control(controls: &'a Controls, number: ControlNumber) -> Option<Self> {
        let node = controls.node_of(number)?;
        Some(Self::node(&controls.snapshot, node))
    }

    /// A node, and what takes touches for it if it does not itself.
    pub(super) fn node(snapshot: &'a Snapshot, node: usize) -> Self {
        let takes = |&at: &usize| takes_touches(&snapshot.tree.nodes[at]);
        let mut nodes = vec![node];
        nodes.extend(above(snapshot, node).find(takes).filter(|_| !takes(&node)));
        Self { snapshot, nodes }
    }

    /// Everything that may take a touch at this point. Which of several overlapping controls is on
    /// top, a tree does not always tell: then all of them are meant.
    pub(super) fn point(snapshot: &'a Snapshot, at: Point) -> Self {
        let tree = &snapshot.tree.nodes;
        let is_there = |&node: &usize| {
            snapshot.shown(node).contains(at) && snapshot.covered_by(node).is_none()
        };
        let hit: Vec<usize> = (0..tree.len()).filter(is_there).collect();
        let takers = || hit.iter().copied().filter(|&node| takes_touches(&tree[node]));
        // Of nested ones the innermost.
        let is_outer = |outer: usize| takers().any(|inner| snapshot.is_inside(inner, outer));
        let mut nodes: Vec<usize> = takers().filter(|&node| !is_outer(node)).collect();
        // A label that nothing around it takes touches for, and the labels that were hit.
        let is_label = |&&node: &&usize| !own_text(&tree[node]).is_empty() && !is_outer(node);
        nodes.extend(hit.iter().filter(is_label));
        nodes.dedup();
        Self { snapshot, nodes }
    }

    /// Whether it is a text field: a touch gives it the focus and nothing else.
    pub(super) fn is_text_field(&self) -> bool {
        let first = self.nodes.first();
        first.is_some_and(|&at| text_field::is_text_field(&self.snapshot.tree.nodes[at]))
    }

    /// Whether it is a button, by its class or as one of a dialog's.
    pub(super) fn is_button(&self) -> bool {
        let is_one = |node: &Node| {
            let class = &*node.class;
            (class.ends_with("Button") && !class.ends_with("RadioButton"))
                || node.id.starts_with("android:id/button")
        };
        self.nodes.iter().any(|&at| is_one(&self.snapshot.tree.nodes[at]))
    }

    /// The labels by which it is judged, the most telling first.
    pub(super) fn labels(&self) -> Vec<String> {
        let mut labels = Vec::new();
        for &at in &self.nodes {
            let node = &self.snapshot.tree.nodes[at];
            if text_field::is_text_field(node) {
                continue;
            }
            labels.extend([&*node.text, &*node.description].map(str::to_owned));
            let own = own_text(node);
            if !own.chars().any(char::is_alphanumeric) {
                labels.extend(self.texts_inside(at));
                // `com.app:id/btn_delete`
                let id = node.id.rsplit('/').next().unwrap_or_default();
                labels.push(id.replace(['_', '-', '.'], " "));
            }
        }
        labels.retain(|label| !label.trim().is_empty());
        labels
    }

    /// The texts inside a control that has none itself: together, and one by one if they are few.
    fn texts_inside(&self, outer: usize) -> Vec<String> {
        let nodes = &self.snapshot.tree.nodes;
        let inside =
            (outer + 1..nodes.len()).take_while(|&at| nodes[at].depth > nodes[outer].depth);
        let inside = inside.filter(|&at| self.snapshot.is_inside(at, outer));
        let texts: Vec<&str> =
            inside.map(|at| own_text(&nodes[at])).filter(|text| !text.is_empty()).collect();
        let mut all = match texts.len() {
            1..MAX_TEXTS => vec![texts.join(" ")],
            _ => Vec::new(),
        };
        if texts.len() == 2 {
            all.extend(texts.into_iter().map(str::to_owned));
        }
        all
    }

    /// The texts of the dialog or the part of a page that its buttons belong to, in order.
    pub(super) fn surroundings(&self) -> Vec<String> {
        let Some(&button) = self.nodes.first() else { return Vec::new() };
        let nodes = &self.snapshot.tree.nodes;
        let in_button = |at: usize| {
            takes_touches(&nodes[at])
                || above(self.snapshot, at).any(|at| takes_touches(&nodes[at]))
        };
        let texts = |outer: Option<usize>| -> Vec<(usize, String)> {
            let is_in = |at: &usize| outer.is_none_or(|outer| self.snapshot.is_inside(*at, outer));
            let has_text = |at: &usize| {
                !own_text(&nodes[*at]).is_empty()
                    && !self.snapshot.shown(*at).is_empty()
                    && !text_field::is_text_field(&nodes[*at])
            };
            // The panel of a dialog may take touches itself, so that they do not reach what is
            // below.
            let is_plain = |at: usize| match outer {
                None => !in_button(at),
                Some(outer) => {
                    let mut up = std::iter::once(at).chain(above(self.snapshot, at));
                    !up.by_ref().take_while(|&at| at != outer).any(|at| takes_touches(&nodes[at]))
                }
            };
            let found = (0..nodes.len()).filter(is_in).filter(has_text).filter(|&at| is_plain(at));
            found.map(|at| (at, own_text(&nodes[at]).to_owned())).collect()
        };
        let is_dialog = self.snapshot.tree.window != WindowKind::Main;
        let around = above(self.snapshot, button).map(|outer| texts(Some(outer)));
        let found = match is_dialog {
            true => texts(None),
            false => around.into_iter().find(|texts| !texts.is_empty()).unwrap_or_default(),
        };
        let before = found.iter().filter(|(at, _)| *at < button).count();
        let begin = before.saturating_sub(MAX_OF_A_DIALOG);
        found.into_iter().skip(begin).take(MAX_OF_A_DIALOG).map(|(_, text)| text).collect()
    }

    /// Whether it is the button by which Android's dialogs say yes (`AlertDialog.BUTTON_POSITIVE`).
    pub(super) fn is_positive_button(&self) -> bool {
        self.nodes.iter().any(|&at| self.snapshot.tree.nodes[at].id == "android:id/button1")
    }

    /// What tells it apart from other controls with the same label: the text of its row. Empty if
    /// there are none.
    pub(super) fn row(&self, label: &str) -> String {
        let nodes = &self.snapshot.tree.nodes;
        let Some(&own) = self.nodes.first() else { return String::new() };
        let has_text = |at: &usize| own_text(&nodes[*at]) == label;
        if (0..nodes.len()).filter(has_text).count() < 2 {
            return String::new();
        }
        let row = |outer: usize| -> Vec<&str> {
            let inside = (0..nodes.len()).filter(|&at| self.snapshot.is_inside(at, outer));
            let texts = inside.map(|at| own_text(&nodes[at]));
            texts.filter(|text| !text.is_empty() && *text != label).collect()
        };
        let rows = above(self.snapshot, own).map(row);
        rows.into_iter()
            .find(|texts| !texts.is_empty())
            .map_or(String::new(), |texts| texts[0].to_owned())
    }

    /// The buttons beside a text field: one of them is what Enter stands for.
    pub(super) fn buttons_beside(&self) -> Vec<Touched<'a>> {
        let nodes = &self.snapshot.tree.nodes;
        let Some(&field) = self.nodes.first() else { return Vec::new() };
        let is_button = |at: &usize| {
            takes_touches(&nodes[*at])
                && !text_field::is_text_field(&nodes[*at])
                && !self.snapshot.shown(*at).is_empty()
        };
        let beside = |outer: usize| -> Vec<usize> {
            let inside = (0..nodes.len()).filter(|&at| self.snapshot.is_inside(at, outer));
            inside.filter(is_button).collect()
        };
        let around = above(self.snapshot, field).map(beside).find(|found| !found.is_empty());
        let buttons = around.unwrap_or_default().into_iter();
        buttons.map(|at| Touched { snapshot: self.snapshot, nodes: vec![at] }).collect()
    }
}

/// The nodes around a node, the nearest first.
fn above(snapshot: &Snapshot, node: usize) -> impl Iterator<Item = usize> {
    let parent = |&at: &usize| snapshot.tree.nodes[at].parent;
    std::iter::successors(parent(&node), parent)
}

fn takes_touches(node: &Node) -> bool {
    let flags = node.flags;
    let is_xcui_button = ["XCUIElementTypeButton", "XCUIElementTypeCell", "XCUIElementTypeLink"]
        .iter()
        .any(|class| *node.class == **class);
    flags.clickable || flags.long_clickable || flags.checkable || is_xcui_button
}

/// Its text, or its description.
fn own_text(node: &Node) -> &str {
    match (&*node.text, &*node.description) {
        (text, description) if without_hidden(text).trim().is_empty() => description,
        (text, _) => text,
    }
}
