//! Finds the elements of an earlier snapshot in a new one.
//!
//! Start with [`same`], which finds an element wherever it is now; [`reuse_refs`] handles those
//! that stayed in place. Both compare an element with its [`MatchCandidates`]: if every row of a
//! list has the same button, the row identifies it.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use thumbwire_device::find::{FindResult, is_slider};
use thumbwire_device::text_field::is_text_field;
use thumbwire_device::{Node, Rect};

use super::{ElementRef, Snapshot};

/// A node's app, id, class, text and description; and a hash of the text inside it if it has no
/// name itself.
type NodeFingerprint<'a> = ([&'a str; 5], Option<u64>);

/// How many texts inside a node identify it. The limit keeps deeply nested nodes from taking
/// quadratic time.
const WORDS: usize = 64;

fn face(snapshot: &Snapshot, node: usize) -> NodeFingerprint<'_> {
    let it = &snapshot.tree.nodes[node];
    let (text, description) = lasting_words(it);
    // What a list shows does not make it another element.
    let nameless = text.is_empty() && description.is_empty() && !it.flags.scrollable;
    let inside = if nameless { sum(words(snapshot, node).take(WORDS)) } else { None };
    ([&it.package, &it.id, &it.class, text, description], inside)
}

/// A node's text and description, without what was typed or set: that does not make it another
/// element.
fn lasting_words(node: &Node) -> (&str, &str) {
    match (is_text_field(node) || is_slider(node), &*node.text, &*node.description) {
        (true, text, description) if text == description => ("", ""),
        (true, _, description) => ("", description),
        (false, text, description) => (text, description),
    }
}

/// The words of a node and its descendants, in document order, as far as they last.
fn words(snapshot: &Snapshot, node: usize) -> impl Iterator<Item = (&str, &str)> {
    snapshot.subtree(node).map(lasting_words).filter(|words| *words != ("", ""))
}

/// `None` if there are no texts.
fn sum<'a>(words: impl Iterator<Item = (&'a str, &'a str)>) -> Option<u64> {
    let mut text = words.peekable();
    text.peek()?;
    let mut sum = DefaultHasher::new();
    text.for_each(|one| one.hash(&mut sum));
    Some(sum.finish())
}

/// Finds, among `nodes` of a snapshot, the element that was `node` among `those` of an older one.
/// See [`super::find_again`].
pub(super) fn same(
    (look, nodes): (&Snapshot, &[usize]),
    (old, those): (&Snapshot, &[usize]),
    node: usize,
) -> FindResult {
    let was = face(old, node);
    let alike = |snapshot: &Snapshot, nodes: &[usize]| -> Vec<usize> {
        nodes.iter().copied().filter(|&at| face(snapshot, at) == was).collect()
    };
    let (now, then) = (
        MatchCandidates::new(look, alike(look, nodes)),
        MatchCandidates::new(old, alike(old, those)),
    );
    let anonymous = is_anonymous(&was);
    let same_words = SameWords::default();
    let out = |&new_nodes: &usize| {
        let pair = Pair { now: &now, new_nodes, then: &then, was: node, same_words: &same_words };
        // If several rows have the same text, the row does not identify the element.
        let as_it = |&&other: &&usize| same_text((old, other), (old, node), pair.up());
        pair.has_its_row() && then.nodes.iter().filter(as_it).count() == 1
    };
    let in_place = |&new_nodes: &usize| {
        let pair = Pair { now: &now, new_nodes, then: &then, was: node, same_words: &same_words };
        pair.is_in_place() && pair.has_its_neighbours()
    };
    match now.nodes.as_slice() {
        [] => return FindResult::None,
        [one] if then.nodes == [node] && !anonymous => return FindResult::One(*one),
        _ => {}
    }
    let by_row: Vec<usize> = now.nodes.iter().copied().filter(out).collect();
    match (by_row.as_slice(), now.nodes.iter().copied().find(in_place)) {
        ([new_nodes], _) => FindResult::One(*new_nodes),
        (_, Some(new_nodes)) => FindResult::One(new_nodes),
        (_, None) if now.nodes.len() == 1 => FindResult::None,
        (_, None) => FindResult::Ambiguous(now.nodes),
    }
}

/// Whether only its place distinguishes it from others.
fn is_anonymous((texts, inside): &NodeFingerprint<'_>) -> bool {
    texts[1].is_empty() && texts[3..] == ["", ""] && inside.is_none()
}

/// How many elements of the older snapshot have one that looks the same in the new one.
pub(super) fn left_of(snapshot: &Snapshot, old: &Snapshot) -> usize {
    let now: HashSet<NodeFingerprint<'_>> =
        snapshot.refs.iter().map(|element| face(snapshot, element.node)).collect();
    old.refs.iter().filter(|element| now.contains(&face(old, element.node))).count()
}

/// Pairs of nodes with a text, of an older and a newer snapshot, that look the same and like no
/// other node.
pub(super) fn unique_pairs(old: &Snapshot, now: &Snapshot) -> Vec<(usize, usize)> {
    fn unique(snapshot: &Snapshot) -> HashMap<[&str; 5], Option<usize>> {
        let mut found = HashMap::new();
        for (at, node) in snapshot.tree.nodes.iter().enumerate() {
            let is_named = !node.text.is_empty() || !node.description.is_empty();
            if is_named && !snapshot.shown(at).is_empty() {
                let face = face(snapshot, at).0;
                found.entry(face).and_modify(|one| *one = None).or_insert(Some(at));
            }
        }
        found
    }
    let now = unique(now);
    let pair = |(face, was): (_, Option<usize>)| Some((was?, (*now.get(&face)?)?));
    unique(old).into_iter().filter_map(pair).collect()
}

/// The refs of the older snapshot's elements that are still in the same place, by their present
/// nodes.
pub(super) fn reuse_refs(
    snapshot: &Snapshot,
    nodes: &[usize],
    old: &Snapshot,
) -> HashMap<usize, ElementRef> {
    let mut faces: HashMap<NodeFingerprint<'_>, (Vec<usize>, Vec<usize>)> = HashMap::new();
    for &node in nodes {
        faces.entry(face(snapshot, node)).or_default().0.push(node);
    }
    for element in &old.refs {
        faces.entry(face(old, element.node)).or_default().1.push(element.node);
    }
    let mut kept = HashMap::new();
    let same_words = SameWords::default();
    for (new_nodes, old_nodes) in
        faces.into_values().filter(|(now, then)| !now.is_empty() && !then.is_empty())
    {
        let mut left: HashMap<[i32; 4], usize> =
            old_nodes.iter().map(|&node| (edges(old.shown(node)), node)).collect();
        let (now, then) =
            (MatchCandidates::new(snapshot, new_nodes), MatchCandidates::new(old, old_nodes));
        for &new_nodes in &now.nodes {
            // Removed when matched: of two identical elements in the same place, one is new.
            let Some(was) = left.remove(&edges(snapshot.shown(new_nodes))) else { continue };
            let pair = Pair { now: &now, new_nodes, then: &then, was, same_words: &same_words };
            // A scrolled area is where it was, whatever it shows.
            let is_area = snapshot.tree.nodes[new_nodes].flags.scrollable;
            if (is_area || pair.is_only() || pair.has_its_row() || pair.has_its_neighbours())
                && let Some(id) = old.ref_of(was)
            {
                kept.insert(new_nodes, id);
            }
        }
        // One that moved keeps its ref if nothing else on either screen looks like it.
        if let ([new_nodes], [was]) = (now.nodes.as_slice(), then.nodes.as_slice())
            && snapshot.tree.front == old.tree.front
            && !is_anonymous(&face(old, *was))
            && let Some(id) = old.ref_of(*was)
        {
            kept.insert(*new_nodes, id);
        }
        keep_moved_fields(&mut kept, (&now, &then), &same_words);
    }
    kept
}

/// Fields without ids and names move together when a keyboard opens: if all of them are still
/// there, as large as they were and among the same words, each keeps its ref.
fn keep_moved_fields(
    kept: &mut HashMap<usize, ElementRef>,
    (now, then): (&MatchCandidates<'_>, &MatchCandidates<'_>),
    same_words: &SameWords,
) {
    let pairs = now.nodes.iter().zip(&then.nodes).map(|(&new_nodes, &was)| Pair {
        now,
        new_nodes,
        then,
        was,
        same_words,
    });
    let pairs: Vec<Pair<'_>> = pairs.collect();
    if now.snapshot.tree.front == then.snapshot.tree.front
        && now.nodes.len() == then.nodes.len()
        && pairs.iter().all(|pair| pair.is_field_of_same_size() && pair.has_its_neighbours())
    {
        let ids = pairs.iter().map(|pair| Some((pair.new_nodes, then.snapshot.ref_of(pair.was)?)));
        kept.extend(ids.flatten());
    }
}

fn edges(Rect { left, top, right, bottom }: Rect) -> [i32; 4] {
    [left, top, right, bottom]
}

/// The nodes of a snapshot with the same fingerprint.
struct MatchCandidates<'a> {
    snapshot: &'a Snapshot,
    nodes: Vec<usize>,
    /// How many of them each subtree of the tree contains.
    holding: HashMap<usize, usize>,
}

impl<'a> MatchCandidates<'a> {
    fn new(snapshot: &'a Snapshot, nodes: Vec<usize>) -> Self {
        let mut holding = HashMap::new();
        for &node in &nodes {
            for at in std::iter::successors(Some(node), |&at| snapshot.parent(at)) {
                *holding.entry(at).or_default() += 1;
            }
        }
        Self { snapshot, nodes, holding }
    }

    /// How many levels up the node's row is: the largest subtree that contains none of the others.
    fn up(&self, node: usize) -> usize {
        let parent = |&at: &usize| self.snapshot.parent(at);
        let above = std::iter::successors(parent(&node), parent);
        above.take_while(|at| self.holding.get(at) == Some(&1)).count()
    }
}

/// A node and the older node that it may correspond to.
struct Pair<'a> {
    now: &'a MatchCandidates<'a>,
    new_nodes: usize,
    then: &'a MatchCandidates<'a>,
    was: usize,
    same_words: &'a SameWords,
}

/// Which nodes of two snapshots have been found to contain the same words: each of many siblings
/// asks about their parents.
type SameWords = RefCell<HashMap<(usize, usize), bool>>;

impl Pair<'_> {
    /// Whether it is unique in both snapshots.
    fn is_only(&self) -> bool {
        self.now.nodes.len() == 1 && self.then.nodes.len() == 1
    }

    /// How many levels up the row is in both snapshots.
    fn up(&self) -> usize {
        if self.is_only() { 0 } else { self.now.up(self.new_nodes).min(self.then.up(self.was)) }
    }

    /// Whether its row has more text than the node itself, and the same text as before.
    fn has_its_row(&self) -> bool {
        let up = self.up();
        let says_more = above(self.then.snapshot, self.was, up).is_some_and(|row| {
            !words(self.then.snapshot, row).eq(words(self.then.snapshot, self.was))
        });
        says_more && self.same_text(up)
    }

    /// Whether the surroundings of its row have the same text as before.
    fn has_its_neighbours(&self) -> bool {
        self.same_text(self.up() + 1)
    }

    fn is_field_of_same_size(&self) -> bool {
        let node = &self.now.snapshot.tree.nodes[self.new_nodes];
        let was = &self.then.snapshot.tree.nodes[self.was];
        let size = |Rect { left, top, right, bottom }| (right - left, bottom - top);
        is_text_field(node) && size(node.bounds) == size(was.bounds)
    }

    fn is_in_place(&self) -> bool {
        self.now.snapshot.shown(self.new_nodes) == self.then.snapshot.shown(self.was)
    }

    fn same_text(&self, up: usize) -> bool {
        let (look, old) = (self.now.snapshot, self.then.snapshot);
        match (above(look, self.new_nodes, up), above(old, self.was, up)) {
            (Some(at), Some(was)) => *self
                .same_words
                .borrow_mut()
                .entry((at, was))
                .or_insert_with(|| words(look, at).eq(words(old, was))),
            (at, was) => at == was,
        }
    }
}

/// Whether the ancestors `up` levels above two nodes contain the same text.
fn same_text((look, node): (&Snapshot, usize), (old, was): (&Snapshot, usize), up: usize) -> bool {
    match (above(look, node, up), above(old, was, up)) {
        (Some(at), Some(as_that)) => words(look, at).eq(words(old, as_that)),
        (at, as_that) => at == as_that,
    }
}

/// The ancestor `steps` levels up.
fn above(snapshot: &Snapshot, node: usize, steps: usize) -> Option<usize> {
    std::iter::successors(Some(node), |&at| snapshot.parent(at)).nth(steps)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::AtomicU32;

    use thumbwire_device::{Flags, Tree};

    use super::super::lookup;
    use super::*;

    /// A form of two fields without ids below a heading, and a button.
    fn form(texts: [&str; 2], top: i32, heading: &str) -> Tree {
        let row = |text: &str, class: &str, top: i32| Node {
            parent: Some(0),
            depth: 1,
            text: text.into(),
            class: class.into(),
            bounds: Rect { left: 0, top, right: 100, bottom: top + 20 },
            flags: Flags { clickable: true, enabled: true, ..Flags::default() },
            ..Node::default()
        };
        let bounds = Rect { left: 0, top: 0, right: 100, bottom: 300 };
        let nodes = vec![
            Node { bounds, ..Node::default() },
            row(heading, "android.widget.TextView", top),
            row(texts[0], "android.widget.EditText", top + 20),
            row(texts[1], "android.widget.EditText", top + 40),
            row("Log in", "android.widget.Button", top + 60),
        ];
        Tree { nodes, ..Tree::default() }
    }

    #[test]
    fn field_keeps_its_ref_while_text_is_typed_into_it() {
        let next = AtomicU32::new(1);
        let empty = Snapshot::number(form(["", ""], 100, "Welcome"), None, &next);
        let ids = |snapshot: &Snapshot| -> Vec<ElementRef> {
            snapshot.refs.iter().map(|element| element.id).collect()
        };
        // Typing; a keyboard that moves the form up; both at once.
        for (texts, top) in [(["ann", ""], 100), (["ann", "secret"], 60), (["", "x"], 40)] {
            let now = Snapshot::number(form(texts, top, "Welcome"), Some(&empty), &next);
            assert_eq!(ids(&now), ids(&empty), "{texts:?} at {top}");
            let (now, empty) = (Arc::new(now), Arc::new(empty.clone()));
            assert_eq!(lookup(empty.refs[2].id, &empty, &now), Ok(3), "{texts:?} at {top}");
        }
        // Another page with fields of the same size.
        let other = Snapshot::number(form(["", ""], 60, "Your address"), Some(&empty), &next);
        assert!(other.refs[1].id != empty.refs[1].id && other.refs[2].id != empty.refs[2].id);
    }
}
