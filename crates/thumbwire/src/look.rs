//! A screen with its elements numbered for the session: the part of the vocabulary that a look is answered with.
//!
//! Begin with [`Look`]. [`Controls`] are the same screen's controls by seed 000's rules, numbered in their own way.

mod controls;
mod same;

use std::fmt;
use std::sync::atomic::{AtomicU32, Ordering};

use thumbwire_device::find::{Found, Showing, is_element, showing};
use thumbwire_device::{Point, Rect, Tree};

pub use controls::{Controls, kind};

/// What one look at the screen gave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Look {
    /// The platform's tree.
    pub tree: Tree,
    /// What of each node shows.
    pub showing: Vec<Showing>,
    /// The numbered elements, in document order.
    pub controls: Vec<Control>,
}

/// An element with its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Control {
    /// Its number in this session, written `e12`.
    pub number: u32,
    /// Its place in the tree's nodes.
    pub node: usize,
}

impl Control {
    /// The number in an id of ours; `None` if it is none.
    pub fn read_number(id: &str) -> Option<u32> {
        id.strip_prefix('e')?.parse().ok()
    }
}

impl fmt::Display for Control {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "e{}", self.number)
    }
}

impl Look {
    /// Numbers the elements of a tree. No number is ever given twice in a session: an element that the last look
    /// showed already, in the same place, looking the same and among the same, keeps its number; every other gets the
    /// next one.
    pub fn number(tree: Tree, last: Option<&Look>, next: &AtomicU32) -> Self {
        let mut look = Self { showing: showing(&tree), tree, controls: Vec::new() };
        let element =
            |node: &usize| !look.shown(*node).is_empty() && is_element(&look.tree.nodes[*node]);
        let nodes: Vec<usize> = (0..look.tree.nodes.len()).filter(element).collect();
        let kept = last.map(|last| same::kept(&look, &nodes, last)).unwrap_or_default();
        let number = |node: usize| {
            let number = kept.get(&node).copied();
            Control { number: number.unwrap_or_else(|| next.fetch_add(1, Ordering::Relaxed)), node }
        };
        look.controls = nodes.into_iter().map(number).collect();
        look
    }

    /// The part of a node's rectangle that lies on the screen, covered or not; empty where nothing does.
    pub fn shown(&self, node: usize) -> Rect {
        self.showing[node].part()
    }

    /// What lies over all of a node: a place in the tree's nodes.
    pub fn covered_by(&self, node: usize) -> Option<usize> {
        match self.showing[node] {
            Showing::Covered { by, .. } => Some(by),
            Showing::Shown { .. } | Showing::Hidden(_) => None,
        }
    }

    /// The control that a node is.
    pub fn control_of(&self, node: usize) -> Option<Control> {
        // They stand in document order.
        let found = self.controls.binary_search_by_key(&node, |control| control.node);
        found.ok().map(|at| self.controls[at])
    }

    /// The node that carries this number.
    pub fn node_of(&self, number: u32) -> Option<usize> {
        self.controls.iter().find(|control| control.number == number).map(|control| control.node)
    }

    /// Whether a node lies below another in the tree.
    pub fn is_inside(&self, node: usize, outer: usize) -> bool {
        let parent = |&at: &usize| self.tree.nodes[at].parent;
        std::iter::successors(parent(&node), parent).any(|above| above == outer)
    }

    /// Where to tap a node.
    ///
    /// # Errors
    /// Why a tap would not reach it, in words: it is covered, and by what.
    pub fn aim(&self, node: usize, numbers: Numbers) -> Result<Point, String> {
        match self.showing[node] {
            Showing::Shown { at, .. } => Ok(at),
            Showing::Covered { by, .. } => {
                let number = self.told(by, numbers);
                let number = number.map_or(String::new(), |it| format!(" ({it})"));
                let over: String = self.tree.nodes[by].name().chars().take(LONGEST_NAME).collect();
                Err(format!("it is covered by {over:?}{number}; deal with that first"))
            }
            Showing::Hidden(why) => Err(format!("it does not show ({})", why.why())),
        }
    }

    /// The node of this look that is the same element as `node` of an older one: by app, id, class and name, and by the
    /// words inside where it has no name of its own, as a row of a list. Where either look shows its like, the words around
    /// it tell it from them, as those of its row; where they do not, it is the one in the same place among the same
    /// neighbours. So is what has neither id nor words.
    pub fn same_as(&self, old: &Look, node: usize) -> Found {
        let elements = |look: &Look| look.controls.iter().map(|control| control.node).collect();
        let (now, then): (Vec<usize>, Vec<usize>) = (elements(self), elements(old));
        same::same((self, &now), (old, &then), node)
    }

    fn parent(&self, node: usize) -> Option<usize> {
        self.tree.nodes[node].parent
    }

    /// What a node and all below it say, in document order.
    fn words(&self, node: usize) -> impl Iterator<Item = (&str, &str)> {
        let depth = self.tree.nodes[node].depth;
        let below = self.tree.nodes[node + 1..].iter().take_while(move |below| below.depth > depth);
        std::iter::once(&self.tree.nodes[node])
            .chain(below)
            .map(|node| (node.text.as_str(), node.description.as_str()))
            .filter(|words| *words != ("", ""))
    }

    /// A sentence that tells the numbers and places of several candidates.
    pub fn describe_several(&self, nodes: &[usize], numbers: Numbers) -> String {
        const MOST: usize = 5;
        let describe = |&node: &usize| {
            let Rect { left, top, right, bottom } = self.shown(node);
            let place = format!("[{left},{top}][{right},{bottom}]");
            match self.told(node, numbers) {
                Some(number) => format!("{number} at {place}"),
                None => place,
            }
        };
        let named: Vec<String> = nodes.iter().take(MOST).map(describe).collect();
        let more = nodes.len().saturating_sub(MOST);
        let tail = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!("{} elements answer to it: {}{tail}", nodes.len(), named.join(", "))
    }

    fn told(&self, node: usize, numbers: Numbers) -> Option<Control> {
        self.control_of(node).filter(|_| numbers == Numbers::Known)
    }
}

/// Whether whoever reads a sentence has seen the numbers of controls (`e12`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Numbers {
    /// They have.
    Known,
    /// Their lists have other numbers, or none.
    Unknown,
}

/// How many characters of a name stand in a sentence.
const LONGEST_NAME: usize = 100;

#[cfg(test)]
mod tests {
    use thumbwire_device::{Flags, Node};

    use super::*;

    #[test]
    fn what_is_covered_is_not_tapped_and_says_by_what() {
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
        let look = Look::number(Tree { nodes, ..Tree::default() }, None, &AtomicU32::new(7));
        assert_eq!(
            look.aim(1, Numbers::Known).unwrap_err(),
            "it is covered by \"OK\" (e8); deal with that first"
        );
        assert_eq!(
            look.aim(1, Numbers::Unknown).unwrap_err(),
            "it is covered by \"OK\"; deal with that first"
        );
        assert_eq!(look.aim(2, Numbers::Known).unwrap(), Point { x: 50, y: 20 });
        assert_eq!(look.control_of(2).map(|it| it.number), Some(8));
        assert_eq!(look.covered_by(1), Some(2));
    }
}
