//! From a platform's node tree to the elements one can aim at.
//!
//! Pure functions over a [`Tree`]: [`showing`] tells what of each node lies on the screen and where to tap it,
//! [`elements`] which nodes are worth telling of, [`find`] which one a caller means, [`search`] which ones answer to a
//! [`Query`]. Waiting for an element to come is not done here.

mod cover;
mod search;
mod showing;

pub use search::{Found, Query, Sought, Wanted, find, find_hidden, search, search_hidden};
pub use showing::{Hidden, Showing, showing};

use crate::{Flags, Node, Tree};

/// The places in [`Tree::nodes`] of all that shows, covered or not, and that a caller may want to read or act on, in
/// document order.
pub fn elements(tree: &Tree) -> Vec<usize> {
    let parts = showing::parts(tree);
    (0..tree.nodes.len()).filter(|&at| parts[at].is_ok() && is_element(&tree.nodes[at])).collect()
}

/// A node that says or takes something; the rest is layout.
pub fn is_element(node: &Node) -> bool {
    let flags = node.flags;
    let acts = flags.clickable || flags.long_clickable || flags.checkable || flags.scrollable;
    acts || flags.password || !node.text.is_empty() || !node.description.is_empty()
}

/// The node that takes a tap on this one: itself or its nearest clickable ancestor; itself where there is none.
pub fn taker(tree: &Tree, at: usize) -> usize {
    nearest(tree, at, |flags| flags.clickable).unwrap_or(at)
}

/// The node itself or its nearest ancestor that is so: what a label ticks, what scrolls a row.
pub fn nearest(tree: &Tree, at: usize, is: impl Fn(Flags) -> bool) -> Option<usize> {
    let above = std::iter::successors(Some(at), |&here| tree.nodes[here].parent);
    above.into_iter().find(|&here| is(tree.nodes[here].flags))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rect;

    #[test]
    fn a_tap_on_a_label_is_taken_by_its_button_and_a_tick_by_its_row() {
        let flags = |name: &str| Flags {
            clickable: name == "button",
            checkable: name == "row",
            enabled: true,
            ..Flags::default()
        };
        let node = |parent, name| Node { parent, flags: flags(name), ..Node::default() };
        let nodes =
            vec![node(None, ""), node(Some(0), "row"), node(Some(1), "button"), node(Some(2), "")];
        let tree = Tree { nodes, ..Tree::default() };
        assert_eq!([taker(&tree, 3), taker(&tree, 2), taker(&tree, 1)], [2, 2, 1]);
        assert_eq!(nearest(&tree, 3, |flags| flags.checkable), Some(1));
        assert_eq!(nearest(&tree, 3, |flags| flags.scrollable), None);
    }

    #[test]
    fn what_says_or_takes_something_and_shows_is_an_element() {
        let bounds = Rect { left: 0, top: 0, right: 9, bottom: 9 };
        let text = |text: &str| Node { bounds, text: text.into(), ..Node::default() };
        let flags = Flags { password: true, ..Flags::default() };
        let field = Node { bounds, flags, ..Node::default() };
        let away = Node { bounds: Rect::default(), ..text("Away") };
        let tree = Tree { nodes: vec![text(""), text("Save"), field, away], ..Tree::default() };
        assert_eq!(elements(&tree), [1, 2]);
    }
}
