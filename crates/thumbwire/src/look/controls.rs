//! The controls of a screen by seed 000's rules.

use std::sync::Arc;

use thumbwire_device::find::Found;
use thumbwire_device::{Node, Tree};

use super::{Look, same};

/// The controls of a screen by seed 000's rules; the number of each is its place here, counted from 1.
///
/// They are what the document lists, whether it shows or not: a control that lies off the screen has a number, and is
/// refused when it is to be tapped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Controls {
    /// The look that shows them.
    pub look: Arc<Look>,
    /// Their places in its tree, in document order.
    pub nodes: Vec<usize>,
}

impl Controls {
    /// The controls of a look.
    pub fn of(look: Arc<Look>) -> Self {
        Self { nodes: controls(&look.tree), look }
    }

    /// Each with its number.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &Node)> {
        (1..).zip(self.nodes.iter().map(|&node| &self.look.tree.nodes[node]))
    }

    /// The place in the tree of the control with this number, as it is written in the list.
    pub fn node_of(&self, number: &str) -> Option<usize> {
        // "05" and "+5" were never told.
        let counted =
            number.parse::<usize>().ok().filter(|counted| counted.to_string() == number)?;
        self.nodes.get(counted.checked_sub(1)?).copied()
    }

    /// The control here that is the same as `node` of an older list, as [`Look::same_as`] judges it.
    pub fn same_as(&self, old: &Controls, node: usize) -> Found {
        same::same((&self.look, &self.nodes), (&old.look, &old.nodes), node)
    }
}

/// The last part of a node's class, which seed 000 calls its type.
pub fn kind(node: &Node) -> &str {
    node.class.rsplit('.').next().unwrap_or_default()
}

/// The places of the nodes that seed 000 counts as controls ("Control Selection Criteria", "Rectangle Validation").
fn controls(tree: &Tree) -> Vec<usize> {
    let is_meant = |node: &Node| {
        let flags = node.flags;
        let acts = flags.clickable || flags.long_clickable || flags.scrollable || flags.checkable;
        let says = !node.text.is_empty() || !node.description.is_empty();
        acts || says || ["Edit", "Button"].iter().any(|part| kind(node).contains(part))
    };
    let has_place =
        |node: &Node| !node.bounds.is_empty() && node.bounds.right > 0 && node.bounds.bottom > 0;
    let nodes = tree.nodes.iter().enumerate();
    nodes.filter(|(_, node)| is_meant(node) && has_place(node)).map(|(at, _)| at).collect()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::sync::atomic::AtomicU32;

    use serde_json::{Value, json};
    use thumbwire_device::android::ui::read_dump;
    use thumbwire_device::{Flags, Rect};

    use super::*;

    fn listed(tree: Tree) -> Controls {
        Controls::of(Arc::new(Look::number(tree, None, &AtomicU32::new(1))))
    }

    fn told(controls: &Controls) -> Value {
        let one = |(number, node): (usize, &Node)| {
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

    /// What the original server answered, as structured content: `data/originals` has it.
    fn recorded(name: &str) -> Option<Value> {
        let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data");
        let data = std::env::var_os("THUMBWIRE_DATA").map_or(beside.into(), PathBuf::from);
        let file = data.join("originals/ufo").join(name);
        let Ok(text) = std::fs::read(&file) else {
            println!("skipped: {} is not there", file.display());
            return None;
        };
        let record: Value = serde_json::from_slice(&text).unwrap();
        Some(record["result"]["structuredContent"].clone())
    }

    #[test]
    fn the_controls_of_a_screen_are_those_that_the_original_listed() {
        const TREE: &str = "get_ui_tree";
        const LIST: &str = "get_app_window_controls_target_info";
        for (tree, list, (then, by_then)) in [
            (
                format!("016-{TREE}-calculator.json"),
                format!("017-{LIST}-calculator.json"),
                (" ", " "),
            ),
            // The watch ran on from one call to the next.
            (
                format!("118-{TREE}-stopwatch-running.json"),
                format!("119-{LIST}-stopwatch-running.json"),
                ("0 minutes 4 seconds", "0 minutes 8 seconds"),
            ),
        ] {
            let (Some(tree), Some(list)) = (recorded(&tree), recorded(&list)) else { return };
            let tree = tree["ui_tree"].as_str().unwrap().replace(then, by_then);
            let tree = read_dump(tree.as_bytes()).unwrap();
            assert!(!list["result"].as_array().unwrap().is_empty());
            assert_eq!(told(&listed(tree)), list["result"]);
        }
    }

    fn node(class: &str, [left, top, right, bottom]: [i32; 4]) -> Node {
        let bounds = Rect { left, top, right, bottom };
        Node { class: class.into(), bounds, ..Node::default() }
    }

    #[test]
    fn what_acts_says_something_or_is_called_so_is_a_control() {
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
    fn what_has_no_place_has_no_number() {
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
    fn a_number_is_read_as_it_was_told() {
        let controls =
            listed(Tree { nodes: vec![node("Button", [0, 0, 9, 9])], ..Tree::default() });
        assert_eq!(controls.node_of("1"), Some(0));
        for other in ["0", "2", "01", "+1", " 1", "1.0", "", "e1", "-1", "18446744073709551616"] {
            assert_eq!(controls.node_of(other), None, "{other:?}");
        }
    }
}
