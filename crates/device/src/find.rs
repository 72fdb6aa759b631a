//! Turns a platform's node tree into elements.
//!
//! Pure functions over a [`Tree`]: [`visibility()`] says which part of each node is visible and
//! where to tap it, [`elements`] which nodes are worth listing, [`find`] which one a caller means,
//! and [`search()`] which ones match a [`Query`]. Waiting for an element happens in the layer
//! above.

mod occlusion;
mod search;
mod visibility;

pub use search::{
    FindResult, FlagFilter, Locator, Query, field_of, find, find_field, find_hidden, search,
    search_hidden, visible_fields,
};
pub use visibility::{HiddenReason, Visibility, visibility};

use crate::{Flags, Node, Tree};

/// Indices in [`Tree::nodes`] of all visible nodes, covered or not, that a caller may want to read
/// or act on, in document order.
pub fn elements(tree: &Tree) -> Vec<usize> {
    let parts = visibility::visible_rects(tree);
    (0..tree.nodes.len()).filter(|&at| parts[at].is_ok() && is_element(&tree.nodes[at])).collect()
}

/// Whether a finger sets a value along the node. No flag says so: a slider takes neither taps nor
/// scrolling.
pub fn is_slider(node: &Node) -> bool {
    ["SeekBar", "Slider", "RatingBar", "PickerWheel"].iter().any(|end| node.class.ends_with(end))
}

/// Whether a node has text or accepts input; the rest is layout.
pub fn is_element(node: &Node) -> bool {
    let flags = node.flags;
    let acts = flags.clickable || flags.long_clickable || flags.checkable || flags.scrollable;
    acts || flags.password
        || is_slider(node)
        || !node.text.is_empty()
        || !node.description.is_empty()
}

/// The node that receives a tap on this one: itself or its nearest clickable ancestor; itself if
/// there is none.
pub fn tap_receiver(tree: &Tree, at: usize) -> usize {
    nearest(tree, at, |flags| flags.clickable).unwrap_or(at)
}

/// The node itself or its nearest ancestor with this property: what a label checks, what scrolls a
/// row.
pub fn nearest(tree: &Tree, at: usize, is: impl Fn(Flags) -> bool) -> Option<usize> {
    let above = std::iter::successors(Some(at), |&here| tree.nodes[here].parent);
    above.into_iter().find(|&here| is(tree.nodes[here].flags))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rect;

    #[test]
    fn label_taps_go_to_the_button_and_checks_to_the_row() {
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
        assert_eq!(
            [tap_receiver(&tree, 3), tap_receiver(&tree, 2), tap_receiver(&tree, 1)],
            [2, 2, 1]
        );
        assert_eq!(nearest(&tree, 3, |flags| flags.checkable), Some(1));
        assert_eq!(nearest(&tree, 3, |flags| flags.scrollable), None);
    }

    #[test]
    fn elements_are_visible_and_have_text_or_input() {
        let bounds = Rect { left: 0, top: 0, right: 9, bottom: 9 };
        let text = |text: &str| Node { bounds, text: text.into(), ..Node::default() };
        let flags = Flags { password: true, ..Flags::default() };
        let field = Node { bounds, flags, ..Node::default() };
        let away = Node { bounds: Rect::default(), ..text("Away") };
        let tree = Tree { nodes: vec![text(""), text("Save"), field, away], ..Tree::default() };
        assert_eq!(elements(&tree), [1, 2]);
    }
}
