//! Which part of each node is visible, and where a tap reaches it.
//!
//! Start with [`visibility`]. The `occlusion` module decides what is on top of what.

use super::occlusion;
use crate::{Node, Point, Rect, Tree};

/// Visibility of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Visibility {
    /// It is visible, and a tap can reach it.
    Visible {
        /// The part of its bounds inside its ancestors and the screen.
        part: Rect,
        /// Where to tap: the center of that part, or another point if the center is covered.
        at: Point,
    },
    /// Nodes that accept taps cover it at every point one would tap.
    Covered {
        /// The part that would be visible.
        part: Rect,
        /// The node over its center: an index in [`Tree::nodes`].
        by: usize,
    },
    /// No part of it is visible.
    Hidden(HiddenReason),
}

/// Why no part of a node is visible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HiddenReason {
    /// Its bounds are empty or could not be read.
    NoSize,
    /// It is beyond the left or top edge of the screen.
    OffScreen,
    /// It is outside the bounds of an ancestor.
    OutsideParents,
    /// The platform reports it as not displayed.
    NotDisplayed,
    /// The keyboard covers it.
    UnderKeyboard,
}

impl HiddenReason {
    /// The reason as text.
    pub fn reason(self) -> &'static str {
        match self {
            Self::NoSize => "no size",
            Self::OffScreen => "off the screen",
            Self::OutsideParents => "outside its parents",
            Self::NotDisplayed => "not displayed",
            Self::UnderKeyboard => "under the keyboard",
        }
    }

    /// What makes it visible, as far as the caller can.
    pub fn next_step(self) -> &'static str {
        match self {
            Self::UnderKeyboard => "close the keyboard first, with the back key",
            _ => "scroll it into view",
        }
    }
}

impl Visibility {
    /// The part of its bounds on the screen, covered or not; empty if there is none.
    pub fn part(self) -> Rect {
        match self {
            Self::Visible { part, .. } | Self::Covered { part, .. } => part,
            Self::Hidden(_) => Rect::default(),
        }
    }
}

/// The visibility of each node. The cost is bounded: in a tree with very many overlaps the last
/// nodes count as uncovered.
pub fn visibility(tree: &Tree) -> Vec<Visibility> {
    let parts = visible_rects(tree);
    let visible: Vec<Option<Rect>> = parts.iter().map(|part| part.ok()).collect();
    let aims = occlusion::tap_points(tree, &visible);
    parts
        .into_iter()
        .zip(aims)
        .map(|(part, aim)| match (part, aim) {
            (Err(reason), _) => Visibility::Hidden(reason),
            (Ok(part), Ok(at)) => Visibility::Visible { part, at },
            (Ok(part), Err(by)) => Visibility::Covered { part, by },
        })
        .collect()
}

/// For each node, the part of its bounds inside its ancestors and the left and top edge of the
/// screen. The other edges are unknown here; roots end there.
///
/// A node that the platform reports as displayed is on the screen even if its parents' bounds say
/// otherwise: one capture has a car's popup with children below its own bottom edge.
///
/// A parent that shows nothing itself hides no child: the content of a scrolled web page has bounds
/// above the screen, or inverted ones, while a bar that stays in place is inside it.
pub(super) fn visible_rects(tree: &Tree) -> Vec<Result<Rect, HiddenReason>> {
    const SCREEN: Rect = Rect { left: 0, top: 0, right: i32::MAX, bottom: i32::MAX };
    struct Clip {
        parents: Rect,
        root: Rect,
    }
    let mut clips: Vec<Clip> = Vec::with_capacity(tree.nodes.len());
    let part = |node: &Node| {
        let outer = node.parent.and_then(|parent| clips.get(parent));
        let (parents, root) = outer.map_or((SCREEN, SCREEN), |clip| (clip.parents, clip.root));
        let mut part = node.bounds.intersection(parents);
        if part.is_empty() && node.displayed == Some(true) {
            part = node.bounds.intersection(root);
        }
        let clip = if part.is_empty() { parents } else { part };
        let root = if outer.is_none() { clip } else { root };
        clips.push(Clip { parents: clip, root });
        match node.displayed {
            _ if node.bounds.is_empty() => Err(HiddenReason::NoSize),
            _ if node.bounds.intersection(SCREEN).is_empty() => Err(HiddenReason::OffScreen),
            _ if part.is_empty() => Err(HiddenReason::OutsideParents),
            Some(false) => Err(HiddenReason::NotDisplayed),
            Some(true) | None => match above_keyboard(part, tree.keyboard) {
                above if above.is_empty() => Err(HiddenReason::UnderKeyboard),
                above => Ok(above),
            },
        }
    };
    tree.nodes.iter().map(part).collect()
}

/// The part of a rectangle that the keyboard leaves free. A keyboard that is narrower, such as a
/// floating one, is ignored: it can be moved, and it takes no row as a whole.
fn above_keyboard(part: Rect, keyboard: Option<Rect>) -> Rect {
    match keyboard {
        Some(Rect { left, top, right, bottom })
            if left <= part.left && part.right <= right && part.top < bottom =>
        {
            Rect { bottom: part.bottom.min(top), ..part }
        }
        _ => part,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_nodes_report_the_reason() {
        let rect = |[left, top, right, bottom]: [i32; 4]| Rect { left, top, right, bottom };
        let node = |parent, bounds| Node { parent, bounds: rect(bounds), ..Node::default() };
        let mut nodes = vec![
            node(None, [-50, 0, 100, 100]),
            node(Some(0), [0, 60, 100, 160]),
            node(Some(1), [0, 120, 80, 140]),
            node(Some(0), [10, 10, 10, 40]),
            node(Some(0), [-40, 10, 0, 40]),
            node(Some(0), [0, 0, 40, 40]),
            node(Some(5), [0, 0, 10, 10]),
            node(Some(1), [0, 120, 80, 140]),
            node(Some(1), [0, 20, 80, 40]),
        ];
        nodes[5].displayed = Some(false);
        (nodes[7].displayed, nodes[8].displayed) = (Some(true), Some(true));
        let showing = visibility(&Tree { nodes, ..Tree::default() });
        assert_eq!(showing[0].part(), rect([0, 0, 100, 100]));
        let part = rect([0, 60, 100, 100]);
        assert_eq!(showing[1], Visibility::Visible { part, at: Point { x: 50, y: 80 } });
        assert_eq!(showing[2], Visibility::Hidden(HiddenReason::OutsideParents));
        assert_eq!(showing[3], Visibility::Hidden(HiddenReason::NoSize));
        assert_eq!(showing[4], Visibility::Hidden(HiddenReason::OffScreen));
        assert_eq!(showing[5], Visibility::Hidden(HiddenReason::NotDisplayed));
        assert!(
            matches!(showing[6], Visibility::Visible { .. }),
            "its flag does not affect its children"
        );
        assert_eq!(
            showing[7],
            Visibility::Hidden(HiddenReason::OutsideParents),
            "its window ends above it"
        );
        assert_eq!(showing[8].part(), rect([0, 20, 80, 40]), "the platform's flag wins");
    }

    #[test]
    fn parent_that_shows_nothing_hides_no_child() {
        let node = |parent, [left, top, right, bottom]: [i32; 4]| {
            let bounds = Rect { left, top, right, bottom };
            Node { parent, bounds, ..Node::default() }
        };
        for page in [[0, 60, 200, -700], [0, -900, 200, -100], [0, 0, 0, 0], [200, 60, 0, 400]] {
            let nodes = vec![
                node(None, [0, 0, 200, 400]),
                node(Some(0), page),
                node(Some(1), page),
                node(Some(2), [0, 350, 200, 400]),
                node(Some(2), [0, 390, 200, 450]),
                node(Some(2), [0, 60, 200, -300]),
                node(Some(2), [0, 420, 200, 450]),
            ];
            let showing = visibility(&Tree { nodes, ..Tree::default() });
            let parts: Vec<_> = showing.iter().map(|node| node.part()).collect();
            assert_eq!(parts[3], Rect { left: 0, top: 350, right: 200, bottom: 400 }, "{page:?}");
            assert_eq!(parts[4], Rect { left: 0, top: 390, right: 200, bottom: 400 }, "{page:?}");
            assert!([1, 2, 5, 6].iter().all(|&at: &usize| parts[at].is_empty()), "{page:?}");
        }
    }

    #[test]
    fn keyboard_covers_what_the_tree_shows_below_it() {
        let rect = |top, bottom| Rect { left: 12, top, right: 378, bottom };
        let node = |top, bottom| Node { bounds: rect(top, bottom), ..Node::default() };
        let keyboard = Some(Rect { left: 0, top: 396, right: 480, bottom: 800 });
        let nodes = vec![node(324, 396), node(390, 460), node(692, 764)];
        let showing = visibility(&Tree { nodes: nodes.clone(), keyboard, ..Tree::default() });
        let at = |y| Point { x: 195, y };
        assert_eq!(showing[0], Visibility::Visible { part: rect(324, 396), at: at(360) });
        assert_eq!(showing[1], Visibility::Visible { part: rect(390, 396), at: at(393) });
        assert_eq!(showing[2], Visibility::Hidden(HiddenReason::UnderKeyboard));
        let floating = Some(Rect { left: 100, top: 396, right: 300, bottom: 800 });
        let showing = visibility(&Tree { nodes, keyboard: floating, ..Tree::default() });
        assert!(showing.iter().all(|node| matches!(node, Visibility::Visible { .. })));
    }
}
