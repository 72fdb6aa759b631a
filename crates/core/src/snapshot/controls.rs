//! The controls of a screen by the rules of the UFO MobileAgent servers.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use thumbwire_device::{Node, Tree};

use super::{ControlNumber, Snapshot};

/// The controls of a screen by the rules of the UFO MobileAgent servers; their numbers count from
/// 1.
///
/// As in the specification, the list includes controls that are not visible: one outside the screen
/// has a number, but a tap on it is refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Controls {
    /// The snapshot that contains them.
    pub snapshot: Arc<Snapshot>,
    /// Their indices in its tree, in document order.
    pub nodes: Vec<usize>,
}

impl Controls {
    /// The controls of a snapshot.
    pub fn of(snapshot: Arc<Snapshot>) -> Self {
        Self { nodes: controls(&snapshot.tree), snapshot }
    }

    /// The controls with their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (ControlNumber, &Node)> {
        let nodes = self.nodes.iter().map(|&node| &self.snapshot.tree.nodes[node]);
        nodes.enumerate().map(|(index, node)| (ControlNumber::at(index), node))
    }

    /// The tree index of the control with this number.
    pub fn node_of(&self, number: ControlNumber) -> Option<usize> {
        self.nodes.get(number.index()).copied()
    }

    /// The number of a node, if it is one of the controls.
    pub fn number_of(&self, node: usize) -> Option<ControlNumber> {
        self.nodes.binary_search(&node).ok().map(ControlNumber::at)
    }
}

/// The last part of a node's class; the UFO MobileAgent servers call it the type.
pub fn kind(node: &Node) -> &str {
    node.class.rsplit('.').next().unwrap_or_default()
}

/// The indices of the nodes that count as controls (UFO MobileAgent servers, "Control Selection
/// Criteria" and "Rectangle Validation").
fn controls(tree: &Tree) -> Vec<usize> {
    let is_meant = |node: &Node| {
        let flags = node.flags;
        let acts = flags.clickable || flags.long_clickable || flags.scrollable || flags.checkable;
        let has_text = !node.text.is_empty() || !node.description.is_empty();
        acts || has_text || ["Edit", "Button"].iter().any(|part| kind(node).contains(part))
    };
    let has_place =
        |node: &Node| !node.bounds.is_empty() && node.bounds.right > 0 && node.bounds.bottom > 0;
    let nodes = tree.nodes.iter().enumerate();
    nodes.filter(|(_, node)| is_meant(node) && has_place(node)).map(|(at, _)| at).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU32;

    use serde_json::{Value, json};
    use thumbwire_device::android::ui::read_dump;
    use thumbwire_device::{Flags, Rect};

    use super::*;
    use thumbwire_test_support::capture;

    fn listed(tree: Tree) -> Controls {
        Controls::of(Arc::new(Snapshot::number(tree, None, &AtomicU32::new(1))))
    }

    fn render_json(controls: &Controls) -> Value {
        let one = |(number, node): (ControlNumber, &Node)| {
            let Rect { left, top, right, bottom } = node.bounds;
            json!({
                "kind": "control",
                "name": node.name(),
                "id": number.to_string(),
                "type": kind(node),
                "rect": [left, top, right, bottom],
            })
        };
        controls.iter().map(one).collect()
    }

    /// The structured content of a recorded reply of the original server.
    fn recorded(name: &str) -> Value {
        let text = capture(&format!("originals/ufo/{name}")).unwrap();
        let record: Value = serde_json::from_slice(&text).unwrap();
        record["result"]["structuredContent"].clone()
    }

    #[test]
    fn controls_match_those_of_the_original_server() {
        const TREE: &str = "get_ui_tree";
        const LIST: &str = "get_app_window_controls_target_info";
        for (tree, list, (then, by_then)) in [
            (
                format!("016-{TREE}-calculator.json"),
                format!("017-{LIST}-calculator.json"),
                (" ", " "),
            ),
            // The stopwatch kept running between the two calls.
            (
                format!("118-{TREE}-stopwatch-running.json"),
                format!("119-{LIST}-stopwatch-running.json"),
                ("0 minutes 4 seconds", "0 minutes 8 seconds"),
            ),
        ] {
            let (tree, list) = (recorded(&tree), recorded(&list));
            let tree = tree["ui_tree"].as_str().unwrap().replace(then, by_then);
            let tree = read_dump(tree.as_bytes()).unwrap();
            assert!(!list["result"].as_array().unwrap().is_empty());
            assert_eq!(render_json(&listed(tree)), list["result"]);
        }
    }

    fn node(class: &str, [left, top, right, bottom]: [i32; 4]) -> Node {
        let bounds = Rect { left, top, right, bottom };
        Node { class: class.into(), bounds, ..Node::default() }
    }

    #[test]
    fn controls_act_show_text_or_have_a_control_class() {
        let place = [0, 0, 9, 9];
        let with = |change: fn(&mut Node)| {
            let mut node = node("android.view.View", place);
            change(&mut node);
            node
        };
        let nodes = vec![
            node("android.view.View", place),
            with(|node| node.flags.clickable = true),
            with(|node| node.flags.long_clickable = true),
            with(|node| node.flags.checkable = true),
            with(|node| node.flags.scrollable = true),
            with(|node| node.text = "Pay".into()),
            with(|node| node.description = "Pay".into()),
            with(|node| node.id = "p:id/pay".into()),
            with(|node| node.flags = Flags { focusable: true, enabled: true, ..Flags::default() }),
            node("android.widget.EditText", place),
            node("android.widget.RadioButton", place),
            node("com.Button.Thing", place),
        ];
        let controls = listed(Tree { nodes, ..Tree::default() });
        assert_eq!(controls.nodes, [1, 2, 3, 4, 5, 6, 9, 10]);
    }

    #[test]
    fn nodes_without_a_valid_rectangle_are_no_controls() {
        let places = [
            ([0, 0, 9, 9], true),
            ([5, 5, 5, 9], false),
            ([5, 9, 9, 5], false),
            ([-9, 0, 0, 9], false),
            ([0, -9, 9, -1], false),
            ([-9, -9, 1, 1], true),
        ];
        let nodes = places.iter().map(|&(place, _)| node("Button", place)).collect();
        let controls = listed(Tree { nodes, ..Tree::default() });
        assert_eq!(controls.nodes, [0, 5]);
    }

    #[test]
    fn only_listed_controls_have_numbers() {
        let nodes = vec![node("View", [0, 0, 9, 9]), node("Button", [0, 0, 9, 9])];
        let controls = listed(Tree { nodes, ..Tree::default() });
        let first = ControlNumber::at(0);
        assert_eq!((controls.node_of(first), controls.number_of(1)), (Some(1), Some(first)));
        assert_eq!((controls.node_of(ControlNumber::at(1)), controls.number_of(0)), (None, None));
    }
}
