//! Elements of the screen in the document's shape.

use serde_json::{Value, json};
use thumbwire_device::Node;

use crate::look::Look;

/// The elements of a look, as values; made once for all of them, since a place in the tree is told from the root on.
pub(super) struct Elements<'a> {
    look: &'a Look,
    children: Vec<usize>,
}

impl<'a> Elements<'a> {
    pub(super) fn of(look: &'a Look) -> Self {
        let mut children = vec![0; look.tree.nodes.len()];
        for parent in look.tree.nodes.iter().filter_map(|node| node.parent) {
            children[parent] += 1;
        }
        Self { look, children }
    }

    /// Whether a node counts as displayed: as the platform says, and where it does not, as its rectangle on the screen does.
    pub(super) fn displayed(&self, node: usize) -> bool {
        let says = self.look.tree.nodes[node].displayed;
        says.unwrap_or_else(|| !self.look.shown(node).is_empty())
    }

    /// One element as the document shows it.
    pub(super) fn value(&self, at: usize) -> Value {
        let node = &self.look.tree.nodes[at];
        let (bounds, center) = (node.bounds, node.bounds.center());
        json!({
            "class_name": node.class,
            "resource_id": word(&node.id),
            "text": word(&node.text),
            "content_desc": word(&node.description),
            "bounds": {
                "left": bounds.left,
                "top": bounds.top,
                "right": bounds.right,
                "bottom": bounds.bottom,
            },
            "center": { "x": center.x, "y": center.y },
            "clickable": node.flags.clickable,
            "enabled": node.flags.enabled,
            "focusable": node.flags.focusable,
            "scrollable": node.flags.scrollable,
            "displayed": self.displayed(at),
            "xpath": self.xpath(node),
            "index": node.index,
            "children_count": self.children[at],
        })
    }

    /// The way to a node from the root of the dump, `/hierarchy[0]/node[2]/node[0]`: counted from 0 among siblings, as the
    /// document has it, and not from 1, as XPath has it.
    fn xpath(&self, node: &Node) -> String {
        let above = std::iter::successors(Some(node), |node| {
            node.parent.map(|parent| &self.look.tree.nodes[parent])
        });
        let mut steps: Vec<String> = above.map(|node| format!("/node[{}]", node.index)).collect();
        steps.push("/hierarchy[0]".into());
        steps.reverse();
        steps.concat()
    }
}

/// A dump writes an attribute that says nothing as an empty one; the document as null.
fn word(word: &str) -> Option<&str> {
    Some(word).filter(|word| !word.is_empty())
}
