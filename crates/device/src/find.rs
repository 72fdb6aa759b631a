//! From a platform's node tree to the elements one can aim at.
//!
//! Pure functions over a [`Tree`]: [`shown`] tells what of each node lies on the screen, [`elements`] which nodes
//! are worth telling of, [`find`] which one is meant. Waiting for an element to come is not done here.

use std::collections::BTreeSet;

use crate::{Node, Rect, Tree};

/// For each node of the tree, the part of its rectangle that all its ancestors leave to it; empty where nothing
/// of it shows.
pub fn shown(tree: &Tree) -> Vec<Rect> {
    let mut shown: Vec<Rect> = Vec::with_capacity(tree.nodes.len());
    for node in &tree.nodes {
        let clip = node.parent.and_then(|parent| shown.get(parent));
        shown.push(clip.map_or(node.bounds, |&clip| node.bounds.intersection(clip)));
    }
    shown
}

/// The places in [`Tree::nodes`] of all that shows and that a caller may want to read or act on, in document order.
pub fn elements(tree: &Tree) -> Vec<usize> {
    let shown = shown(tree);
    (0..tree.nodes.len())
        .filter(|&at| !shown[at].is_empty() && is_element(&tree.nodes[at]))
        .collect()
}

/// A node that says or takes something; the rest is layout.
fn is_element(node: &Node) -> bool {
    let flags = node.flags;
    let acts = flags.clickable || flags.long_clickable || flags.checkable || flags.scrollable;
    acts || flags.password || !node.text.is_empty() || !node.description.is_empty()
}

/// What a caller calls an element by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sought<'a> {
    /// A resource id or accessibility identifier, whole or without its `package:id/`; else a description.
    Id(&'a str),
    /// Its text, else its description; the same letters, else the same but for case, else a part of it.
    Text(&'a str),
}

/// What a search came to. Numbers are places in [`Tree::nodes`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// Exactly one element is meant.
    One(usize),
    /// Several places could be meant, in document order.
    Several(Vec<usize>),
    /// Nothing that shows answers to it.
    None,
}

/// Looks for what is meant, from the strictest reading to the loosest, among the nodes that show.
///
/// Matches that would take the same tap (a label inside its button) count as one.
pub fn find(tree: &Tree, sought: Sought<'_>) -> Found {
    let readings: &[fn(&Node, &Word<'_>) -> bool] = match sought {
        Sought::Id(_) => &[
            |node, id| node.id == id.as_given,
            |node, id| node.id.rsplit_once(":id/").is_some_and(|(_, name)| name == id.as_given),
            |node, id| node.description == id.as_given,
        ],
        Sought::Text(_) => &[
            |node, text| node.text == text.as_given,
            |node, text| node.description == text.as_given,
            |node, text| node.text.to_lowercase() == text.in_lower_case,
            |node, text| node.description.to_lowercase() == text.in_lower_case,
            |node, text| node.text.to_lowercase().contains(&text.in_lower_case),
            |node, text| node.description.to_lowercase().contains(&text.in_lower_case),
        ],
    };
    let (Sought::Id(as_given) | Sought::Text(as_given)) = sought;
    if as_given.is_empty() {
        return Found::None;
    }
    let word = Word { as_given, in_lower_case: as_given.to_lowercase() };
    let shown = shown(tree);
    for reading in readings {
        let mut targets = BTreeSet::new();
        let mut matches = Vec::new();
        for (at, node) in tree.nodes.iter().enumerate() {
            if !shown[at].is_empty() && reading(node, &word) && targets.insert(taker(tree, at)) {
                matches.push(at);
            }
        }
        match matches.as_slice() {
            [] => {}
            [one] => return Found::One(*one),
            _ => return Found::Several(matches),
        }
    }
    Found::None
}

/// The node that takes a tap on this one: itself or its nearest clickable ancestor; itself where there is none.
pub fn taker(tree: &Tree, at: usize) -> usize {
    let mut here = Some(at);
    while let Some(place) = here {
        if tree.nodes[place].flags.clickable {
            return place;
        }
        here = tree.nodes[place].parent;
    }
    at
}

/// What is sought. The caller may have sent a book and the screen many nodes: it is lowered once.
struct Word<'a> {
    as_given: &'a str,
    in_lower_case: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Flags;

    fn node(parent: Option<usize>, bounds: [i32; 4], change: impl FnOnce(&mut Node)) -> Node {
        let [left, top, right, bottom] = bounds;
        let bounds = Rect { left, top, right, bottom };
        let mut node = Node { parent, bounds, ..Node::default() };
        change(&mut node);
        node
    }

    fn clickable() -> Flags {
        Flags { clickable: true, ..Flags::default() }
    }

    /// A list of two rows, each with a label; the second row lies half outside, a third wholly.
    fn screen() -> Tree {
        let row = |node: &mut Node| {
            node.flags = clickable();
            node.id = "p:id/row".into();
        };
        let nodes = vec![
            node(None, [0, 0, 100, 100], |_| {}),
            node(Some(0), [0, 0, 100, 50], row),
            node(Some(1), [0, 0, 80, 20], |node| node.text = "Save".into()),
            node(Some(0), [0, 60, 100, 160], row),
            node(Some(3), [0, 60, 80, 80], |node| node.text = "save all".into()),
            node(Some(3), [0, 120, 80, 140], |node| node.description = "Hidden".into()),
            node(Some(1), [0, 20, 80, 40], |node| node.description = "Save".into()),
        ];
        Tree { nodes, rotation: 0 }
    }

    #[test]
    fn what_lies_outside_its_parents_does_not_show() {
        let tree = screen();
        let shown = shown(&tree);
        assert_eq!(shown[3], Rect { left: 0, top: 60, right: 100, bottom: 100 });
        assert!(shown[5].is_empty());
        assert_eq!(elements(&tree), [1, 2, 3, 4, 6]);
        assert_eq!(find(&tree, Sought::Text("Hidden")), Found::None);
    }

    #[test]
    fn the_strictest_reading_wins() {
        let tree = screen();
        assert_eq!(find(&tree, Sought::Text("Save")), Found::One(2));
        assert_eq!(find(&tree, Sought::Text("SAVE ALL")), Found::One(4));
        assert_eq!(find(&tree, Sought::Text("ve a")), Found::One(4));
        assert_eq!(find(&tree, Sought::Text("")), Found::None);
        assert_eq!(find(&tree, Sought::Id("Save")), Found::One(6));
    }

    #[test]
    fn several_places_are_all_named() {
        let tree = screen();
        assert_eq!(find(&tree, Sought::Id("p:id/row")), Found::Several(vec![1, 3]));
        assert_eq!(find(&tree, Sought::Id("row")), Found::Several(vec![1, 3]));
        assert_eq!(find(&tree, Sought::Text("av")), Found::Several(vec![2, 4]));
    }

    #[test]
    fn many_matches_cost_no_more_than_many_nodes() {
        const MANY: usize = 100_000;
        let button = |node: &mut Node| {
            node.flags = clickable();
            node.text = "Buy".into();
        };
        let nodes = (0..MANY).map(|_| node(None, [0, 0, 9, 9], button)).collect();
        let tree = Tree { nodes, rotation: 0 };
        let asked = std::time::Instant::now();
        let Found::Several(places) = find(&tree, Sought::Text("buy")) else { panic!("many") };
        assert_eq!(places.len(), MANY);
        assert_eq!(find(&tree, Sought::Text(&"x".repeat(MANY))), Found::None);
        // With a search for each match among all before it, this takes minutes.
        assert!(asked.elapsed().as_secs() < 10, "{:?}", asked.elapsed());
    }

    #[test]
    fn a_tap_on_a_label_is_taken_by_its_button() {
        let tree = screen();
        assert_eq!(taker(&tree, 2), 1);
        assert_eq!(taker(&tree, 1), 1);
        assert_eq!(taker(&tree, 0), 0);
    }
}
