//! From a look as it is stored back to one that can be compared with what a phone shows now.

use thumbwire_device::find::{Hidden, Showing, showing};
use thumbwire_device::{Flags, Node, Rect, Tree};

use super::format::{StoredLook, StoredNode};
use crate::look::{Control, Look};

impl StoredLook<'_> {
    /// The look, as far as it was stored: without hints, without the order of drawing and the platform's own text. What was
    /// covered is told, so that it stays so.
    pub fn into_look(self) -> Look {
        let mut nodes: Vec<Node> = Vec::with_capacity(self.nodes.len());
        let mut controls = Vec::new();
        let (mut told, mut children) =
            (Vec::with_capacity(self.nodes.len()), vec![0; self.nodes.len()]);
        for (at, stored) in self.nodes.into_iter().enumerate() {
            // A parent stands before its children; what says otherwise has none.
            let parent = stored.parent.filter(|&parent| parent < at);
            let index = parent.map_or(0, |parent| {
                children[parent] += 1;
                children[parent] - 1
            });
            let depth = parent.map_or(0, |parent| nodes[parent].depth + 1);
            controls.extend(stored.control.map(|number| Control { number, node: at }));
            told.push(stored.covered_by);
            nodes.push(Node { parent, index, depth, ..node(stored) });
        }
        let count = nodes.len();
        let tree = Tree { nodes, rotation: self.rotation, ..Tree::default() };
        let mut showing = showing(&tree);
        for (one, by) in showing.iter_mut().zip(told) {
            *one = match (*one, by.filter(|&by| by < count)) {
                (Showing::Shown { part, .. } | Showing::Covered { part, .. }, Some(by)) => {
                    Showing::Covered { part, by }
                }
                (Showing::Covered { part, .. }, None) => Showing::Shown { part, at: part.center() },
                (shown, _) => shown,
            };
        }
        Look { tree, showing, controls }
    }
}

fn node(stored: StoredNode<'_>) -> Node {
    let [left, top, right, bottom] = stored.bounds;
    let has = |name: &str| stored.flags.iter().any(|flag| flag == name);
    let flags = Flags {
        checkable: has("checkable"),
        checked: has("checked"),
        clickable: has("clickable"),
        enabled: has("enabled"),
        focusable: has("focusable"),
        focused: has("focused"),
        scrollable: has("scrollable"),
        long_clickable: has("long-clickable"),
        password: has("password"),
        selected: has("selected"),
    };
    let undisplayed = stored.hidden.as_deref() == Some(Hidden::NotDisplayed.why());
    Node {
        class: stored.class.into_owned(),
        package: stored.package.into_owned(),
        id: stored.id.into_owned(),
        text: stored.text.into_owned(),
        description: stored.description.into_owned(),
        bounds: Rect { left, top, right, bottom },
        displayed: undisplayed.then_some(false),
        flags,
        ..Node::default()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU32;

    use super::*;

    #[test]
    fn a_look_that_was_stored_comes_back_with_all_that_tells_elements_apart() {
        let bounds = |top| Rect { left: 0, top, right: 90, bottom: top + 40 };
        let flags = |name: &str| Flags {
            clickable: name == "button",
            enabled: true,
            long_clickable: true,
            ..Flags::default()
        };
        let node = |parent, name: &str, top, order| Node {
            parent,
            depth: usize::from(parent.is_some()),
            index: usize::from(order > 1),
            text: name.into(),
            id: format!("app:id/{name}"),
            class: "android.widget.Button".into(),
            bounds: bounds(top),
            order,
            flags: flags("button"),
            ..Node::default()
        };
        let mut away = node(Some(0), "away", 80, 3);
        (away.displayed, away.index) = (Some(false), 2);
        let mut root = node(None, "", 0, 0);
        root.bounds = Rect { left: 0, top: 0, right: 90, bottom: 400 };
        let nodes = vec![root, node(Some(0), "below", 0, 1), node(Some(0), "above", 0, 2), away];
        let live =
            Look::number(Tree { nodes, rotation: 1, ..Tree::default() }, None, &AtomicU32::new(5));
        assert!(live.covered_by(1).is_some());

        let text = serde_json::to_string(&StoredLook::from(&live)).unwrap();
        let back = serde_json::from_str::<StoredLook<'_>>(&text).unwrap().into_look();
        assert_eq!(
            (&back.controls, &back.showing, back.tree.rotation),
            (&live.controls, &live.showing, 1)
        );
        let bare = |nodes: &[Node]| {
            nodes.iter().map(|node| Node { order: 0, ..node.clone() }).collect::<Vec<_>>()
        };
        assert_eq!(bare(&back.tree.nodes), bare(&live.tree.nodes));
    }

    #[test]
    fn a_look_that_somebody_spoilt_is_read_as_far_as_it_makes_sense() {
        let text = r#"{"rotation":0,"nodes":[{"parent":7,"class":"","package":"","id":"","text":"a","description":"","bounds":[0,0,9,9],"flags":["odd"],"covered_by":99}]}"#;
        let look = serde_json::from_str::<StoredLook<'_>>(text).unwrap().into_look();
        assert_eq!((look.tree.nodes[0].parent, look.covered_by(0)), (None, None));
    }
}
