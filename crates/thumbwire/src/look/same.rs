//! Which element of a look is the one that an earlier look showed.
//!
//! Begin with [`same`], which finds it wherever it lies by now; [`kept`] is about those that stayed in their place. Both
//! compare an element with its [`Likes`]: what tells a button that every row of a list has is its row.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use thumbwire_device::Rect;
use thumbwire_device::find::Found;

use super::Look;

/// What a node is called: by its app, id, class, text and description; and by a sum of the words inside where it has no
/// name of its own.
type Face<'a> = ([&'a str; 5], Option<u64>);

/// How many words inside a node tell it from others. Whoever nests nodes hundreds deep must not make them count hundredfold.
const WORDS: usize = 64;

fn face(look: &Look, node: usize) -> Face<'_> {
    let it = &look.tree.nodes[node];
    let nameless = it.text.is_empty() && it.description.is_empty();
    let inside = if nameless { sum(look.words(node).take(WORDS)) } else { None };
    ([&it.package, &it.id, &it.class, &it.text, &it.description], inside)
}

/// `None` of no words.
fn sum<'a>(words: impl Iterator<Item = (&'a str, &'a str)>) -> Option<u64> {
    let mut words = words.peekable();
    words.peek()?;
    let mut sum = DefaultHasher::new();
    words.for_each(|one| one.hash(&mut sum));
    Some(sum.finish())
}

/// The one of these nodes of a look that is the same element as `node` of an older look, where that was one of those. See
/// [`Look::same_as`].
pub(super) fn same(
    (look, nodes): (&Look, &[usize]),
    (old, those): (&Look, &[usize]),
    node: usize,
) -> Found {
    let was = face(old, node);
    let alike = |look: &Look, nodes: &[usize]| -> Vec<usize> {
        nodes.iter().copied().filter(|&at| face(look, at) == was).collect()
    };
    let (now, then) = (Likes::new(look, alike(look, nodes)), Likes::new(old, alike(old, those)));
    let anonymous = was.0[1].is_empty() && was.0[3..] == ["", ""] && was.1.is_none();
    let told = |&here: &usize| {
        let pair = Pair { now: &now, here, then: &then, was: node };
        // Of rows that say the same, the row tells nothing.
        let as_it = |&&other: &&usize| says_same((old, other), (old, node), pair.up());
        pair.has_its_row() && then.nodes.iter().filter(as_it).count() == 1
    };
    let in_place = |&here: &usize| {
        let pair = Pair { now: &now, here, then: &then, was: node };
        pair.is_in_place() && pair.has_its_neighbours()
    };
    match now.nodes.as_slice() {
        [] => return Found::None,
        [one] if then.nodes == [node] && !anonymous => return Found::One(*one),
        _ => {}
    }
    let by_row: Vec<usize> = now.nodes.iter().copied().filter(told).collect();
    match (by_row.as_slice(), now.nodes.iter().copied().find(in_place)) {
        ([here], _) => Found::One(*here),
        (_, Some(here)) => Found::One(here),
        (_, None) if now.nodes.len() == 1 => Found::None,
        (_, None) => Found::Several(now.nodes),
    }
}

/// The numbers of the older look's elements that stand in the same place yet, by the nodes that they are now.
pub(super) fn kept(look: &Look, nodes: &[usize], old: &Look) -> HashMap<usize, u32> {
    let mut faces: HashMap<Face<'_>, (Vec<usize>, Vec<usize>)> = HashMap::new();
    for &node in nodes {
        faces.entry(face(look, node)).or_default().0.push(node);
    }
    for control in &old.controls {
        faces.entry(face(old, control.node)).or_default().1.push(control.node);
    }
    let mut kept = HashMap::new();
    for (here, there) in
        faces.into_values().filter(|(now, then)| !now.is_empty() && !then.is_empty())
    {
        let mut left: HashMap<[i32; 4], usize> =
            there.iter().map(|&node| (edges(old.shown(node)), node)).collect();
        let (now, then) = (Likes::new(look, here), Likes::new(old, there));
        for &here in &now.nodes {
            // Taken out when found: of two that look the same in the same place, one is new.
            let Some(was) = left.remove(&edges(look.shown(here))) else { continue };
            let pair = Pair { now: &now, here, then: &then, was };
            if (pair.is_only() || pair.has_its_row() || pair.has_its_neighbours())
                && let Some(control) = old.control_of(was)
            {
                kept.insert(here, control.number);
            }
        }
    }
    kept
}

fn edges(Rect { left, top, right, bottom }: Rect) -> [i32; 4] {
    [left, top, right, bottom]
}

/// The nodes of a look that have the same face.
struct Likes<'a> {
    look: &'a Look,
    nodes: Vec<usize>,
    /// How many of them each node of the tree is or has below it.
    holding: HashMap<usize, usize>,
}

impl<'a> Likes<'a> {
    fn new(look: &'a Look, nodes: Vec<usize>) -> Self {
        let mut holding = HashMap::new();
        for &node in &nodes {
            for at in std::iter::successors(Some(node), |&at| look.parent(at)) {
                *holding.entry(at).or_default() += 1;
            }
        }
        Self { look, nodes, holding }
    }

    /// How many steps above a node lies the largest part of the tree that has none of the others in it: its row.
    fn up(&self, node: usize) -> usize {
        let parent = |&at: &usize| self.look.parent(at);
        let above = std::iter::successors(parent(&node), parent);
        above.take_while(|at| self.holding.get(at) == Some(&1)).count()
    }
}

/// A node and the one that it may have been.
struct Pair<'a> {
    now: &'a Likes<'a>,
    here: usize,
    then: &'a Likes<'a>,
    was: usize,
}

impl Pair<'_> {
    /// Whether neither look shows its like.
    fn is_only(&self) -> bool {
        self.now.nodes.len() == 1 && self.then.nodes.len() == 1
    }

    /// How many steps above lies the row, as far as both looks have one.
    fn up(&self) -> usize {
        if self.is_only() { 0 } else { self.now.up(self.here).min(self.then.up(self.was)) }
    }

    /// Whether its row says more than itself, and says the same as then.
    fn has_its_row(&self) -> bool {
        let up = self.up();
        let says_more = above(self.then.look, self.was, up)
            .is_some_and(|row| !self.then.look.words(row).eq(self.then.look.words(self.was)));
        says_more && self.says_same(up)
    }

    /// Whether what lies around its row says the same as then.
    fn has_its_neighbours(&self) -> bool {
        self.says_same(self.up() + 1)
    }

    fn is_in_place(&self) -> bool {
        self.now.look.shown(self.here) == self.then.look.shown(self.was)
    }

    fn says_same(&self, up: usize) -> bool {
        says_same((self.now.look, self.here), (self.then.look, self.was), up)
    }
}

/// Whether what lies so many steps above two nodes says the same.
fn says_same((look, node): (&Look, usize), (old, was): (&Look, usize), up: usize) -> bool {
    match (above(look, node, up), above(old, was, up)) {
        (Some(at), Some(as_that)) => look.words(at).eq(old.words(as_that)),
        (at, as_that) => at == as_that,
    }
}

/// The node so many steps above.
fn above(look: &Look, node: usize, steps: usize) -> Option<usize> {
    std::iter::successors(Some(node), |&at| look.parent(at)).nth(steps)
}
