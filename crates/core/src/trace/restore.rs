//! Converts a stored snapshot back to one that can be compared with a live screen.

use thumbwire_device::find::{HiddenReason, Visibility, visibility};
use thumbwire_device::{Flags, Node, Rect, Tree};

use super::format::{StoredNode, StoredSnapshot};
use crate::snapshot::{ElementRef, ListedElement, Snapshot};

impl StoredSnapshot<'_> {
    /// The snapshot, as far as it was stored: without the drawing order and the platform's own
    /// text. Coverage is stored, so it is preserved.
    pub fn into_snapshot(self) -> Snapshot {
        let mut nodes: Vec<Node> = Vec::with_capacity(self.nodes.len());
        let mut refs = Vec::new();
        let (mut covers, mut under_keyboard) = (Vec::new(), Vec::new());
        let mut children = vec![0; self.nodes.len()];
        for (at, stored) in self.nodes.into_iter().enumerate() {
            // Parents precede their children; an invalid parent is dropped.
            let parent = stored.parent.filter(|&parent| parent < at);
            let index = parent.map_or(0, |parent| {
                children[parent] += 1;
                children[parent] - 1
            });
            let depth = parent.map_or(0, |parent| nodes[parent].depth + 1);
            refs.extend(
                stored.control.map(|number| ListedElement { id: ElementRef(number), node: at }),
            );
            covers.push(stored.covered_by);
            let is_hidden = stored.hidden.as_deref() == Some(HiddenReason::UnderKeyboard.reason());
            under_keyboard.extend(is_hidden.then_some(at));
            nodes.push(Node { parent, index, depth, ..node(stored) });
        }
        let count = nodes.len();
        let tree = Tree { nodes, rotation: self.rotation, ..Tree::default() };
        let mut showing = visibility(&tree);
        for (one, by) in showing.iter_mut().zip(covers) {
            *one = match (*one, by.filter(|&by| by < count)) {
                (Visibility::Visible { part, .. } | Visibility::Covered { part, .. }, Some(by)) => {
                    Visibility::Covered { part, by }
                }
                (Visibility::Covered { part, .. }, None) => {
                    Visibility::Visible { part, at: part.center() }
                }
                (shown, _) => shown,
            };
        }
        for at in under_keyboard {
            showing[at] = Visibility::Hidden(HiddenReason::UnderKeyboard);
        }
        Snapshot { tree, showing, refs }
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
    let undisplayed = stored.hidden.as_deref() == Some(HiddenReason::NotDisplayed.reason());
    Node {
        class: stored.class.into_owned().into(),
        package: stored.package.into_owned().into(),
        id: stored.id.into_owned().into(),
        text: stored.text.into_owned().into(),
        hint: stored.hint.into_owned().into(),
        description: stored.description.into_owned().into(),
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
    fn stored_snapshot_round_trips_element_identity() {
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
            id: format!("app:id/{name}").into(),
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
        let live = Snapshot::number(
            Tree { nodes, rotation: 1, ..Tree::default() },
            None,
            &AtomicU32::new(5),
        );
        assert!(live.covered_by(1).is_some());

        let text = serde_json::to_string(&StoredSnapshot::from(&live)).unwrap();
        let back = serde_json::from_str::<StoredSnapshot<'_>>(&text).unwrap().into_snapshot();
        assert_eq!((&back.refs, &back.showing, back.tree.rotation), (&live.refs, &live.showing, 1));
        let bare = |nodes: &[Node]| {
            nodes.iter().map(|node| Node { order: 0, ..node.clone() }).collect::<Vec<_>>()
        };
        assert_eq!(bare(&back.tree.nodes), bare(&live.tree.nodes));
    }

    #[test]
    fn damaged_snapshot_is_read_as_far_as_possible() {
        let text = r#"{"rotation":0,"nodes":[{"parent":7,"class":"","package":"","id":"","text":"a","description":"","bounds":[0,0,9,9],"flags":["odd"],"covered_by":99}]}"#;
        let snapshot = serde_json::from_str::<StoredSnapshot<'_>>(text).unwrap().into_snapshot();
        assert_eq!((snapshot.tree.nodes[0].parent, snapshot.covered_by(0)), (None, None));
    }
}
