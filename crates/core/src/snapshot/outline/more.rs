//! Whether a scrollable container has more than it shows, and where.
//!
//! Platforms do not report how far a container can be scrolled. Two things tell that there is more:
//! elements of the tree that lie outside the container (iOS lists them, Android mostly leaves them
//! out), and a row that the container's edge cuts off. Where neither is seen there may still be
//! more: nothing is said then.

use std::collections::{HashMap, HashSet};

use thumbwire_device::find::{HiddenReason, Visibility};
use thumbwire_device::{Node, Rect};

use crate::snapshot::Snapshot;

/// The states that tell where a container has more: `more above`, `more below`, `more left`, `more
/// right`.
pub(super) fn more_states(snapshot: &Snapshot, container: usize) -> Vec<&'static str> {
    const EDGES: [(Edge, &str); 4] = [
        (Edge::Top, "more above"),
        (Edge::Bottom, "more below"),
        (Edge::Left, "more left"),
        (Edge::Right, "more right"),
    ];
    let area = snapshot.shown(container);
    let inside: Vec<usize> = subtree(snapshot, container).collect();
    let rows = rows(snapshot, container);
    let has_more = |edge: Edge| {
        inside.iter().any(|&node| is_beyond(snapshot, node, area, edge))
            || cuts_a_row(snapshot, &rows, area, edge)
    };
    EDGES.into_iter().filter(|(edge, _)| has_more(*edge)).map(|(_, state)| state).collect()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Edge {
    Top,
    Bottom,
    Left,
    Right,
}

impl Edge {
    /// Where this edge of a rectangle is, growing outwards.
    fn of(self, Rect { left, top, right, bottom }: Rect) -> i32 {
        match self {
            Self::Top => top.saturating_neg(),
            Self::Bottom => bottom,
            Self::Left => left.saturating_neg(),
            Self::Right => right,
        }
    }

    fn opposite(self) -> Self {
        match self {
            Self::Top => Self::Bottom,
            Self::Bottom => Self::Top,
            Self::Left => Self::Right,
            Self::Right => Self::Left,
        }
    }

    /// How far a rectangle reaches from this edge to the opposite one.
    fn depth(self, place: Rect) -> i32 {
        self.of(place).saturating_add(self.opposite().of(place))
    }

    /// How far a rectangle reaches along this edge.
    fn length(self, place: Rect) -> i32 {
        match self {
            Self::Top | Self::Bottom => place.right.saturating_sub(place.left),
            Self::Left | Self::Right => place.bottom.saturating_sub(place.top),
        }
    }
}

/// Whether a node with something to read or to act on lies beyond an edge, at the height or width
/// of the container.
fn is_beyond(snapshot: &Snapshot, node: usize, area: Rect, edge: Edge) -> bool {
    let is_outside = matches!(
        snapshot.showing[node],
        Visibility::Hidden(
            HiddenReason::OutsideParents | HiddenReason::OffScreen | HiddenReason::NotDisplayed
        )
    );
    if !is_outside {
        return false;
    }
    let Node { bounds, text, description, flags, .. } = &snapshot.tree.nodes[node];
    let has_text = !text.trim().is_empty() || !description.trim().is_empty() || flags.clickable;
    let (one, other) = match edge {
        Edge::Top | Edge::Bottom => (Edge::Left, Edge::Right),
        Edge::Left | Edge::Right => (Edge::Top, Edge::Bottom),
    };
    let is_beside = one.of(*bounds) <= one.of(area) && other.of(*bounds) <= other.of(area);
    // Its near side is at the container's edge, or beyond it.
    let near = edge.opposite().of(*bounds).saturating_neg();
    has_text && !bounds.is_empty() && is_beside && near >= edge.of(area)
}

/// Whether an edge of the container cuts a row off. A row that ends at the edge may just end there:
/// a row that is cut off is also smaller than another row of its class, and keeps another distance
/// below its content than all whole rows do.
fn cuts_a_row(snapshot: &Snapshot, rows: &[usize], area: Rect, edge: Edge) -> bool {
    let kind = |row: usize| (&*snapshot.tree.nodes[row].class, edge.length(snapshot.shown(row)));
    let is_whole = |row: Rect| {
        edge.of(row) < edge.of(area) && edge.opposite().of(row) < edge.opposite().of(area)
    };
    // Of each kind, how far its largest whole row reaches, and the distances below their content.
    let mut whole: HashMap<_, (i32, HashSet<Option<i32>>)> = HashMap::new();
    for &row in rows.iter().filter(|&&row| is_whole(snapshot.shown(row))) {
        let (largest, margins) = whole.entry(kind(row)).or_default();
        *largest = edge.depth(snapshot.shown(row)).max(*largest);
        margins.insert(margin(snapshot, row, edge));
    }
    rows.iter().any(|&row| {
        let place = snapshot.shown(row);
        let is_at_edge = !place.is_empty() && edge.of(place) >= edge.of(area);
        is_at_edge
            && whole.get(&kind(row)).is_some_and(|(largest, margins)| {
                *largest > edge.depth(place) && !margins.contains(&margin(snapshot, row, edge))
            })
    })
}

/// The distance between an edge of a row and its content; `None` for a row without parts.
fn margin(snapshot: &Snapshot, row: usize, edge: Edge) -> Option<i32> {
    let end = edge.of(snapshot.shown(row));
    let parts = subtree(snapshot, row).filter(|&part| is_content(snapshot, part));
    parts.map(|part| end.saturating_sub(edge.of(snapshot.shown(part)))).min()
}

fn is_content(snapshot: &Snapshot, node: usize) -> bool {
    let Node { text, description, .. } = &snapshot.tree.nodes[node];
    let has_text = !text.is_empty() || !description.is_empty();
    has_text && !snapshot.shown(node).is_empty()
}

/// The children of the container, or of its only child.
fn rows(snapshot: &Snapshot, container: usize) -> Vec<usize> {
    let children = |of: usize| -> Vec<usize> {
        let is_child = |&node: &usize| snapshot.tree.nodes[node].parent == Some(of);
        subtree(snapshot, of).filter(is_child).collect()
    };
    let mut rows = children(container);
    while let [only] = rows[..] {
        rows = children(only);
    }
    rows
}

fn subtree(snapshot: &Snapshot, node: usize) -> impl Iterator<Item = usize> + use<'_> {
    let nodes = &snapshot.tree.nodes;
    let depth = nodes[node].depth;
    (node + 1..nodes.len()).take_while(move |&at| nodes[at].depth > depth)
}
