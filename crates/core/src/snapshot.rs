//! Snapshots: a screen's tree with refs to its elements. An element that is unchanged keeps its ref
//! in the next snapshot.
//!
//! Start with [`Snapshot`]. [`Controls`] are the same screen's controls by the rules of the UFO
//! MobileAgent servers, with their own numbers. [`lookup`] finds the element that a client names by
//! a ref or a number.

mod controls;
mod difference;
mod id;
mod lookup;
mod matching;
mod outline;

use std::sync::atomic::{AtomicU32, Ordering};

use serde::{Deserialize, Serialize};
use thumbwire_device::find::{HiddenReason, Visibility, is_element, visibility};
use thumbwire_device::text_field::is_text_field;
use thumbwire_device::{Node, Point, Rect, Tree};

pub use controls::{Controls, kind};
pub use difference::{Difference, content_moved, difference};
pub(crate) use id::parse_exactly;
pub use id::{ControlNumber, ElementId, ElementRef, InvalidId};
pub use lookup::{Listing, LookupError, find_again, lookup};
pub(crate) use outline::named_element;
pub use outline::{LinePlace, NumberedLine, OutlineDetail, numbered_outline, outline};

/// A snapshot of the screen.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "SentSnapshot")]
pub struct Snapshot {
    /// The platform's tree.
    pub tree: Tree,
    /// The visibility of each node, which follows from the tree.
    #[serde(skip_serializing)]
    pub showing: Vec<Visibility>,
    /// The elements with refs, in document order.
    pub refs: Vec<ListedElement>,
}

/// What is written of a snapshot.
#[derive(Deserialize)]
struct SentSnapshot {
    tree: Tree,
    refs: Vec<ListedElement>,
}

impl TryFrom<SentSnapshot> for Snapshot {
    type Error = &'static str;

    fn try_from(SentSnapshot { tree, refs }: SentSnapshot) -> Result<Self, &'static str> {
        let nodes = tree.nodes.iter().enumerate();
        if !nodes.clone().all(|(at, node)| node.parent.is_none_or(|parent| parent < at)) {
            return Err("a node of the tree comes before its parent");
        }
        let mut places = refs.iter().map(|listed| listed.node);
        let is_sorted = refs.is_sorted_by(|one, next| one.node < next.node);
        if !is_sorted || !places.all(|at| at < tree.nodes.len()) {
            return Err("the refs are not those of the tree");
        }
        Ok(Self { showing: visibility(&tree), tree, refs })
    }
}

/// An element with its ref.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListedElement {
    /// Its ref in this session.
    pub id: ElementRef,
    /// Its index in the tree's nodes.
    pub node: usize,
}

impl Snapshot {
    /// Assigns refs to the elements of a tree. A session never uses a number twice: an element that
    /// the last snapshot has in the same place, with the same properties and the same surroundings,
    /// keeps its number; every other element gets the next one.
    pub fn number(tree: Tree, last: Option<&Snapshot>, next: &AtomicU32) -> Self {
        let mut snapshot = Self { showing: visibility(&tree), tree, refs: Vec::new() };
        let element = |node: &usize| {
            !snapshot.shown(*node).is_empty() && is_element(&snapshot.tree.nodes[*node])
        };
        let nodes: Vec<usize> = (0..snapshot.tree.nodes.len()).filter(element).collect();
        let kept =
            last.map(|last| matching::reuse_refs(&snapshot, &nodes, last)).unwrap_or_default();
        let number = |node: usize| {
            let id = kept.get(&node).copied();
            let next = || ElementRef(next.fetch_add(1, Ordering::Relaxed));
            ListedElement { id: id.unwrap_or_else(next), node }
        };
        snapshot.refs = nodes.into_iter().map(number).collect();
        snapshot
    }

    /// A snapshot of a screen whose elements could not be read, and why.
    pub fn unread(reason: String) -> Self {
        let tree = Tree { unread: Some(reason), ..Tree::default() };
        Self { tree, showing: Vec::new(), refs: Vec::new() }
    }

    /// The part of a node's rectangle that is on the screen, covered or not; empty if it is
    /// outside.
    pub fn shown(&self, node: usize) -> Rect {
        self.showing[node].part()
    }

    /// The index of the node that covers all of this node, if any.
    pub fn covered_by(&self, node: usize) -> Option<usize> {
        match self.showing[node] {
            Visibility::Covered { by, .. } => Some(by),
            Visibility::Visible { .. } | Visibility::Hidden(_) => None,
        }
    }

    /// The ref of a node, if it has one.
    pub fn ref_of(&self, node: usize) -> Option<ElementRef> {
        // Refs are in document order.
        let found = self.refs.binary_search_by_key(&node, |element| element.node);
        found.ok().map(|at| self.refs[at].id)
    }

    /// Whether `outer` is an ancestor of `node`.
    pub fn is_inside(&self, node: usize, outer: usize) -> bool {
        let parent = |&at: &usize| self.tree.nodes[at].parent;
        std::iter::successors(parent(&node), parent).any(|above| above == outer)
    }

    /// The point to tap for a node.
    ///
    /// # Errors
    /// Why a tap would not reach it: it is hidden, or covered and by what.
    pub fn tap_point(&self, node: usize, numbers: RefVisibility) -> Result<Point, String> {
        match self.showing[node] {
            Visibility::Visible { at, .. } => Ok(at),
            Visibility::Covered { by, .. } => {
                let number = self.visible_ref(by, numbers);
                let number = number.map_or(String::new(), |it| format!(" ({it})"));
                let over: String = self.tree.nodes[by].name().chars().take(MAX_NAME).collect();
                Err(format!("it is covered by {over:?}{number}; deal with that first"))
            }
            Visibility::Hidden(HiddenReason::UnderKeyboard) => {
                let reason = HiddenReason::UnderKeyboard;
                Err(format!("it is {}; {}", reason.reason(), reason.next_step()))
            }
            Visibility::Hidden(reason) => Err(format!("it is not visible ({})", reason.reason())),
        }
    }

    /// Whether this is not the screen of the earlier snapshot any more: another app, activity or
    /// window is in front, or less than a quarter of its elements are left. A scrolled or changed
    /// screen is the same one.
    pub fn is_another_screen(&self, earlier: &Snapshot) -> bool {
        self.tree.front != earlier.tree.front
            || self.tree.window != earlier.tree.window
            || matching::left_of(self, earlier) * 4 < earlier.refs.len()
    }

    fn parent(&self, node: usize) -> Option<usize> {
        self.tree.nodes[node].parent
    }

    /// The texts and descriptions of a node and its descendants, in document order.
    fn texts(&self, node: usize) -> impl Iterator<Item = (&str, &str)> {
        self.subtree(node)
            .map(|node| (&*node.text, &*node.description))
            .filter(|words| *words != ("", ""))
    }

    /// A node and its descendants, in document order.
    fn subtree(&self, node: usize) -> impl Iterator<Item = &Node> {
        let depth = self.tree.nodes[node].depth;
        let below = self.tree.nodes[node + 1..].iter().take_while(move |below| below.depth > depth);
        std::iter::once(&self.tree.nodes[node]).chain(below)
    }

    /// A sentence with the refs and places of several candidates.
    pub fn describe_several(&self, nodes: &[usize], numbers: RefVisibility) -> String {
        format!("{} elements match: {}", nodes.len(), self.describe_each(nodes, numbers))
    }

    /// The refs, texts and places of some elements.
    pub fn describe_each(&self, nodes: &[usize], numbers: RefVisibility) -> String {
        const MAX_COUNT: usize = 5;
        let listed = &nodes[..nodes.len().min(MAX_COUNT)];
        let own = |node: usize| {
            let it = &self.tree.nodes[node];
            let has_hint = is_text_field(it) && it.description.is_empty() && !it.hint.is_empty();
            if has_hint { it.hint.to_string() } else { self.texts_of(node) }
        };
        // Candidates with the same text are described by the text around them, if that differs.
        let alike = |text: &dyn Fn(usize) -> String| {
            listed.windows(2).all(|pair| text(pair[0]) == text(pair[1]))
        };
        let are_alike = alike(&own) && !alike(&|node| self.row_text(node));
        let describe = |&node: &usize| {
            let Rect { left, top, right, bottom } = self.shown(node);
            let place = format!("[{left},{top}][{right},{bottom}]");
            let text = if are_alike { self.row_text(node) } else { own(node) };
            let text = if text.is_empty() { text } else { format!("{text:?} ") };
            match self.visible_ref(node, numbers) {
                Some(number) => format!("{number} {text}at {place}"),
                None => format!("{text}at {place}"),
            }
        };
        let named: Vec<String> = listed.iter().map(describe).collect();
        let more = nodes.len().saturating_sub(MAX_COUNT);
        let tail = if more > 0 { format!(" and {more} more") } else { String::new() };
        named.join(", ") + &tail
    }

    /// The texts of the smallest part of the screen around a node that says more than the node
    /// itself, else its own.
    fn row_text(&self, node: usize) -> String {
        let own = self.texts_of(node);
        let parent = |&at: &usize| self.parent(at);
        let rows = std::iter::successors(parent(&node), parent).take(3);
        rows.map(|row| self.texts_of(row)).find(|text| *text != own).unwrap_or(own)
    }

    /// The first texts of a node and its descendants, each once, for a message.
    fn texts_of(&self, node: usize) -> String {
        const MAX_LENGTH: usize = 60;
        let texts = self.texts(node).flat_map(|(text, description)| [text, description]);
        let mut different: Vec<&str> = Vec::new();
        for text in texts.filter(|text| !text.is_empty()).take(4) {
            if !different.contains(&text) {
                different.push(text);
            }
        }
        thumbwire_base::truncate(&different.join(", "), MAX_LENGTH)
    }

    /// The app that has most of the screen, without the phone's own bars; empty without one. A look
    /// does not always say which app is in front.
    pub fn main_app(&self) -> &str {
        let size = |node: &&Node| {
            let Rect { left, top, right, bottom } = node.bounds;
            i64::from(right - left) * i64::from(bottom - top)
        };
        let nodes = self.tree.nodes.iter().rev();
        let nodes = nodes.filter(|node| node.package != "com.android.systemui");
        nodes.max_by_key(size).map_or("", |node| &node.package)
    }

    /// The listed elements whose text or description differs from a name by a few letters, the most
    /// similar first.
    pub fn named_like(&self, name: &str) -> Vec<usize> {
        // A name of three letters may have one wrong, one of eight letters two.
        const SIMILAR: f64 = 0.66;
        const MAX_LENGTH: usize = 60;
        if name.len() > MAX_LENGTH {
            return Vec::new();
        }
        let name = name.to_lowercase();
        let similarity = |node: usize| {
            let node = &self.tree.nodes[node];
            let texts = [&node.text, &node.description].into_iter();
            let texts = texts.filter(|text| !text.is_empty() && text.len() <= MAX_LENGTH);
            let rated =
                texts.map(|text| strsim::normalized_levenshtein(&name, &text.to_lowercase()));
            rated.fold(0.0, f64::max)
        };
        let rated = self.refs.iter().map(|listed| (similarity(listed.node), listed.node));
        let mut alike: Vec<(f64, usize)> = rated.filter(|(rate, _)| *rate >= SIMILAR).collect();
        alike.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        alike.into_iter().map(|(_, node)| node).collect()
    }

    /// Whether the strings of a node, of what is in it, or of what takes its taps have the word
    /// `search`. Apps in all languages have English ids and classes.
    pub fn speaks_of_searching(&self, node: usize) -> bool {
        let says = |node: &Node| {
            let all = [&node.text, &node.description, &node.hint, &node.id, &node.class];
            all.into_iter().any(|text| text.to_lowercase().contains("search"))
        };
        let receiver = thumbwire_device::find::tap_receiver(&self.tree, node);
        says(&self.tree.nodes[receiver]) || self.subtree(node).take(20).any(says)
    }

    fn visible_ref(&self, node: usize, numbers: RefVisibility) -> Option<ElementRef> {
        self.ref_of(node).filter(|_| numbers == RefVisibility::Known)
    }
}

/// Whether the reader of a message has seen refs (`e12`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RefVisibility {
    /// The reader has seen refs.
    Known,
    /// The reader's lists have other numbers, or none.
    Unknown,
}

/// The maximum length of a name in a message, in characters.
const MAX_NAME: usize = 100;

#[cfg(test)]
mod tests {
    use thumbwire_device::Flags;

    use super::*;

    #[test]
    fn covered_elements_are_not_tapped() {
        let node = |parent: Option<usize>, text: &str, order| Node {
            parent,
            depth: usize::from(parent.is_some()),
            text: text.into(),
            order,
            bounds: Rect { left: 0, top: 0, right: 100, bottom: 40 },
            flags: Flags { clickable: parent.is_some(), ..Flags::default() },
            ..Node::default()
        };
        let nodes = vec![node(None, "", 0), node(Some(0), "Save", 1), node(Some(0), "OK", 2)];
        let snapshot =
            Snapshot::number(Tree { nodes, ..Tree::default() }, None, &AtomicU32::new(7));
        assert_eq!(
            snapshot.tap_point(1, RefVisibility::Known).unwrap_err(),
            "it is covered by \"OK\" (e8); deal with that first"
        );
        assert_eq!(
            snapshot.tap_point(1, RefVisibility::Unknown).unwrap_err(),
            "it is covered by \"OK\"; deal with that first"
        );
        assert_eq!(snapshot.tap_point(2, RefVisibility::Known).unwrap(), Point { x: 50, y: 20 });
        assert_eq!(snapshot.ref_of(2), Some(ElementRef(8)));
        assert_eq!(snapshot.covered_by(1), Some(2));
    }
}
