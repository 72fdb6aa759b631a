//! Elements of the screen as JSON, as in the Android MCP server reference.

use serde_json::{Value, json};
use thumbwire_device::Node;

use crate::snapshot::Snapshot;

/// Renders elements of a snapshot. Made once per snapshot, since it counts the children of all
/// nodes.
pub(super) struct ElementJson<'a> {
    snapshot: &'a Snapshot,
    children: Vec<usize>,
}

impl<'a> ElementJson<'a> {
    pub(super) fn of(snapshot: &'a Snapshot) -> Self {
        let mut children = vec![0; snapshot.tree.nodes.len()];
        for parent in snapshot.tree.nodes.iter().filter_map(|node| node.parent) {
            children[parent] += 1;
        }
        Self { snapshot, children }
    }

    /// Whether a node counts as displayed: as the platform says, else whether part of its rectangle
    /// is on the screen.
    pub(super) fn displayed(&self, node: usize) -> bool {
        let displayed = self.snapshot.tree.nodes[node].displayed;
        displayed.unwrap_or_else(|| !self.snapshot.shown(node).is_empty())
    }

    /// One element as JSON.
    pub(super) fn value(&self, at: usize) -> Value {
        let node = &self.snapshot.tree.nodes[at];
        let (bounds, center) = (node.bounds, node.bounds.center());
        json!({
            "class_name": *node.class,
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

    /// The path to a node from the root of the dump, `/hierarchy[0]/node[2]/node[0]`. Siblings
    /// count from 0, as in the reference, not from 1 as in XPath.
    fn xpath(&self, node: &Node) -> String {
        let above = std::iter::successors(Some(node), |node| {
            node.parent.map(|parent| &self.snapshot.tree.nodes[parent])
        });
        let mut steps: Vec<String> = above.map(|node| format!("/node[{}]", node.index)).collect();
        steps.push("/hierarchy[0]".into());
        steps.reverse();
        steps.concat()
    }
}

/// Maps an empty attribute of the dump to null, as in the reference.
fn word(word: &str) -> Option<&str> {
    Some(word).filter(|word| !word.is_empty())
}
