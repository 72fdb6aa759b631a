//! What a touch reaches on a screen: the control that takes it, and what that control says.
//!
//! Start with [`Touched::place`]. A label takes no touches itself, but is
//! inside a button that does; a button's text may be in a view inside it; and what "OK" does is
//! said by the dialog around it.

use thumbwire_base::visible::without_hidden;
use thumbwire_core::snapshot::Snapshot;
use thumbwire_device::{Node, Point, WindowKind, text_field};

use super::act::Place;

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
    /// What is at this place; `None` if the screen does not show it.
    pub(super) fn place(snapshot: &'a Snapshot, place: &Place<'_>) -> Option<Self> {
        match *place {
            Place::Node(node) => Some(Self::node(snapshot, node)),
            Place::At(at) => Some(Self::point(snapshot, at)),
            Place::Missing(_) => None,
        }
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

    /// Whether it is a button, by its class or as one of a dialog's or a menu's.
    pub(super) fn is_button(&self) -> bool {
        let is_named_so = |node: &Node| {
            let class = &*node.class;
            (class.ends_with("Button") && !class.ends_with("RadioButton"))
                || node.id.starts_with("android:id/button")
        };
        let nodes = || self.nodes.iter().map(|&at| &self.snapshot.tree.nodes[at]);
        nodes().any(is_named_so)
            || self.is_in_dialog() && nodes().any(|it| takes_touches(it) && !it.flags.checkable)
    }

    /// Whether all words that buttons have tell what it does: it is one, or something with one text
    /// that is pressed, as apps draw their buttons that use no class for them. Links of web pages
    /// and rows of lists may say what others wrote.
    pub(super) fn has_button_words(&self) -> bool {
        self.is_button() || self.is_pressed() && !self.is_on_a_page()
    }

    /// Whether one of those beside it is selected, as among tabs.
    pub(super) fn is_beside_selected(&self) -> bool {
        let nodes = &self.snapshot.tree.nodes;
        let parents: Vec<_> = self.nodes.iter().filter_map(|&at| nodes[at].parent).collect();
        let is_beside = |node: &&Node| node.parent.is_some_and(|it| parents.contains(&it));
        nodes.iter().filter(is_beside).any(|node| node.flags.selected)
    }

    /// Whether something around it, or itself, takes movements up and down.
    pub(super) fn is_scrolled(&self) -> bool {
        let nodes = &self.snapshot.tree.nodes;
        let scrolls = |at: usize| nodes[at].flags.scrollable || is_xcui_scroller(&nodes[at]);
        self.nodes.iter().any(|&at| scrolls(at) || above(self.snapshot, at).any(scrolls))
    }

    /// Whether this point is on it.
    pub(super) fn has(&self, point: Point) -> bool {
        self.nodes.iter().any(|&at| self.snapshot.shown(at).contains(point))
    }

    /// Whether it is a part of a web page, or a list.
    fn is_on_a_page(&self) -> bool {
        let nodes = &self.snapshot.tree.nodes;
        let is_page = |outer: usize| nodes[outer].class.ends_with("WebView");
        self.nodes.iter().any(|&at| above(self.snapshot, at).any(is_page) || is_list(&nodes[at]))
    }

    /// Whether it is something with one text that is pressed, and no row of a list.
    pub(super) fn is_pressed(&self) -> bool {
        let nodes = &self.snapshot.tree.nodes;
        self.nodes.iter().any(|&at| {
            let is_row = || above(self.snapshot, at).any(|outer| is_list(&nodes[outer]));
            takes_touches(&nodes[at])
                && !nodes[at].flags.checkable
                && !is_list(&nodes[at])
                && self.count_texts_inside(at) <= 1
                && !is_row()
        })
    }

    /// How many texts are in a control, besides its own.
    fn count_texts_inside(&self, outer: usize) -> usize {
        self.inside(outer).filter(|&at| !own_text(&self.snapshot.tree.nodes[at]).is_empty()).count()
    }

    /// Whether it is in a dialog. A menu is none: its rows open something or do what they say.
    pub(super) fn is_in_dialog(&self) -> bool {
        self.snapshot.tree.window == WindowKind::Dialog
            || self.nodes.iter().any(|&at| {
                let mut up = above(self.snapshot, at);
                up.any(|outer| &*self.snapshot.tree.nodes[outer].class == "XCUIElementTypeAlert")
            })
    }

    /// Whether it comes after the last text field of the screen, other than those for searching.
    /// On a web page only buttons do, whose class says so: links come after the browser's address.
    pub(super) fn ends_form(&self) -> bool {
        let nodes = &self.snapshot.tree.nodes;
        if !self.is_pressed() || self.is_on_a_page() {
            return false;
        }
        let is_filled = |&at: &usize| {
            text_field::is_text_field(&nodes[at])
                && !self.snapshot.shown(at).is_empty()
                && !self.snapshot.speaks_of_searching(at)
        };
        let last = (0..nodes.len()).rev().find(is_filled);
        self.nodes.first().zip(last).is_some_and(|(&own, last)| own > last)
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

    /// The nodes inside a node.
    fn inside(&self, outer: usize) -> impl Iterator<Item = usize> {
        let nodes = &self.snapshot.tree.nodes;
        let is_deeper = move |at: &usize| nodes[*at].depth > nodes[outer].depth;
        (outer + 1..nodes.len())
            .take_while(is_deeper)
            .filter(move |&at| self.snapshot.is_inside(at, outer))
    }

    /// The texts inside a control that has none itself: together, and one by one if they are few.
    fn texts_inside(&self, outer: usize) -> Vec<String> {
        let nodes = &self.snapshot.tree.nodes;
        let texts = self.inside(outer).map(|at| own_text(&nodes[at]));
        let texts: Vec<&str> = texts.filter(|text| !text.is_empty()).collect();
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
    // What React Native and Flutter make of a button that has no role.
    let is_named = || *node.class == *"XCUIElementTypeOther" && !own_text(node).is_empty();
    flags.clickable || flags.long_clickable || flags.checkable || is_xcui_button || is_named()
}

fn is_xcui_scroller(node: &Node) -> bool {
    ["TypeScrollView", "TypeTable", "TypeCollectionView", "TypeWebView"]
        .iter()
        .any(|class| node.class.ends_with(class))
}

/// Whether its children are rows. A page that can be scrolled, with all kinds of things in it, is
/// none.
fn is_list(node: &Node) -> bool {
    let class = &*node.class;
    ["ListView", "RecyclerView", "GridView", "Spinner", "TypeTable", "TypeCollectionView"]
        .iter()
        .any(|list| class.ends_with(list))
        || node.flags.scrollable && class == "android.view.View"
}

/// Its text, or its description.
fn own_text(node: &Node) -> &str {
    match (&*node.text, &*node.description) {
        (text, description) if without_hidden(text).trim().is_empty() => description,
        (text, _) => text,
    }
}
