//! What of each node shows, and where a tap on it reaches it.
//!
//! Begin with [`showing`]. What lies over what is judged next door, in `cover`.

use super::cover;
use crate::{Node, Point, Rect, Tree};

/// What of a node lies on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Showing {
    /// It shows, and a tap can reach it.
    Shown {
        /// The part of its rectangle that its ancestors and the screen's edges leave to it.
        part: Rect,
        /// Where to tap it: the middle of that part, or another place of it where something lies over the middle.
        at: Point,
    },
    /// Something that takes taps lies over it, wherever one would tap.
    Covered {
        /// The part that would show.
        part: Rect,
        /// What lies over its middle: a place in [`Tree::nodes`].
        by: usize,
    },
    /// Nothing of it shows.
    Hidden(Hidden),
}

/// Why nothing of a node shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hidden {
    /// Its rectangle is empty, or could not be read.
    NoSize,
    /// Its rectangle lies beyond the screen's left or upper edge.
    OffScreen,
    /// Its rectangle lies outside one of its ancestors.
    OutsideParents,
    /// The platform says so.
    NotDisplayed,
}

impl Hidden {
    /// The reason in words.
    pub fn why(self) -> &'static str {
        match self {
            Self::NoSize => "no size",
            Self::OffScreen => "off the screen",
            Self::OutsideParents => "outside its parents",
            Self::NotDisplayed => "not displayed",
        }
    }
}

impl Showing {
    /// The part of the node's rectangle that lies on the screen, covered or not; empty where nothing does.
    pub fn part(self) -> Rect {
        match self {
            Self::Shown { part, .. } | Self::Covered { part, .. } => part,
            Self::Hidden(_) => Rect::default(),
        }
    }
}

/// Of each node of the tree, what shows. The cost is bounded: in a tree with very much lying over each other the last
/// nodes count as uncovered.
pub fn showing(tree: &Tree) -> Vec<Showing> {
    let parts = parts(tree);
    let aims = cover::aims(tree, &parts);
    parts
        .into_iter()
        .zip(aims)
        .map(|(part, aim)| match (part, aim) {
            (Err(why), _) => Showing::Hidden(why),
            (Ok(part), Ok(at)) => Showing::Shown { part, at },
            (Ok(part), Err(by)) => Showing::Covered { part, by },
        })
        .collect()
}

/// Of each node, the part of its rectangle that its ancestors and the screen's left and upper edge leave to it. The
/// other edges are not known here; roots end there.
///
/// What the platform calls displayed lies on the screen even where its parents' rectangles say otherwise: a car's popup
/// among the captures has children below its own end.
pub(super) fn parts(tree: &Tree) -> Vec<Result<Rect, Hidden>> {
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
        let root = if outer.is_none() { part } else { root };
        clips.push(Clip { parents: part, root });
        match node.displayed {
            _ if node.bounds.is_empty() => Err(Hidden::NoSize),
            _ if node.bounds.intersection(SCREEN).is_empty() => Err(Hidden::OffScreen),
            _ if part.is_empty() => Err(Hidden::OutsideParents),
            Some(false) => Err(Hidden::NotDisplayed),
            Some(true) | None => Ok(part),
        }
    };
    tree.nodes.iter().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_show_says_why() {
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
        let showing = showing(&Tree { nodes, ..Tree::default() });
        assert_eq!(showing[0].part(), rect([0, 0, 100, 100]));
        let part = rect([0, 60, 100, 100]);
        assert_eq!(showing[1], Showing::Shown { part, at: Point { x: 50, y: 80 } });
        assert_eq!(showing[2], Showing::Hidden(Hidden::OutsideParents));
        assert_eq!(showing[3], Showing::Hidden(Hidden::NoSize));
        assert_eq!(showing[4], Showing::Hidden(Hidden::OffScreen));
        assert_eq!(showing[5], Showing::Hidden(Hidden::NotDisplayed));
        assert!(matches!(showing[6], Showing::Shown { .. }), "it speaks for itself alone");
        assert_eq!(showing[7], Showing::Hidden(Hidden::OutsideParents), "its window ends before");
        assert_eq!(showing[8].part(), rect([0, 20, 80, 40]), "the platform knows better");
    }
}
