//! The stacking of nodes, and where a tap still reaches a node.
//!
//! Android sends a touch to the topmost view under the finger that accepts touches
//! (`ViewGroup.dispatchTouchEvent`). So a node is covered where a node that accepts taps is above
//! it, unless one contains the other. A node that accepts no taps covers nothing: a transparent
//! frame over the whole screen is common.
//!
//! The stacking order is known only if the platform reports it (`drawing-order`, the layer of a
//! window). Document order does not show it: Android sorts siblings by position for screen readers
//! (`ViewGroup.ChildListForAccessibility`), and in our captures it would make a launcher's
//! background cover its icons. If the order is unknown, nothing counts as covered, but a tap point
//! outside the shared area is preferred: it is right either way.

use crate::{Flags, Node, Point, Rect, Tree};

/// Maximum number of comparisons. A screen of a thousand nodes takes about ten thousand.
const MAX_STEPS: usize = 4_000_000;

/// A node that overlaps more nodes of unknown order than this is tapped at its center.
const MAX_UNKNOWN: usize = 32;

/// For each node with a visible part, where a tap reaches it, or what covers it. Values for other
/// nodes are meaningless.
pub(super) fn tap_points(tree: &Tree, parts: &[Option<Rect>]) -> Vec<Result<Point, usize>> {
    let mut ground = TapTargetIndex::new(tree, parts);
    let aim = |(node, part): (usize, &Option<Rect>)| match part {
        Some(part) => ground.aim(node, *part),
        None => Ok(Point { x: 0, y: 0 }),
    };
    parts.iter().enumerate().map(aim).collect()
}

/// The nodes that accept taps, by the horizontal bands of the screen that they touch.
struct TapTargetIndex<'a> {
    tree: &'a Tree,
    takers: Vec<TapTarget>,
    /// For each band, indices in `takers`.
    bands: Vec<Vec<u32>>,
    top: i32,
    /// Height of a band in pixels.
    height: i64,
    /// Whether the platform reports a drawing order for any node.
    ordered: bool,
    /// Comparisons left.
    steps: usize,
}

#[derive(Clone, Copy)]
struct TapTarget {
    node: usize,
    part: Rect,
}

/// Stacking order of a node that accepts taps, relative to another node.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stacking {
    /// One contains the other.
    Within,
    Below,
    Above,
    /// The platform does not say.
    Unknown,
}

impl<'a> TapTargetIndex<'a> {
    fn new(tree: &'a Tree, parts: &[Option<Rect>]) -> Self {
        const BANDS: i64 = 64;
        let part = |(node, part): (usize, &Option<Rect>)| {
            let part = part.filter(|_| takes_taps(tree.nodes[node].flags))?;
            Some(TapTarget { node, part })
        };
        let takers: Vec<TapTarget> = parts.iter().enumerate().filter_map(part).collect();
        let top = takers.iter().map(|taker| taker.part.top).min().unwrap_or(0);
        let bottom = takers.iter().map(|taker| taker.part.bottom).max().unwrap_or(0);
        let height = ((i64::from(bottom) - i64::from(top)) / BANDS + 1).max(1);
        let bands = vec![Vec::new(); BANDS as usize];
        let ordered = tree.nodes.iter().any(|node| node.order > 0);
        let mut ground = Self { tree, takers, bands, top, height, ordered, steps: MAX_STEPS };
        for taker in 0..ground.takers.len() {
            let bands = ground.bands_of(ground.takers[taker].part);
            if !ground.spend(bands.end() - bands.start() + 1) {
                break;
            }
            for band in bands {
                ground.bands[band].push(taker as u32);
            }
        }
        ground
    }

    /// Where a tap on the node's part reaches it, or what covers it.
    fn aim(&mut self, node: usize, part: Rect) -> Result<Point, usize> {
        let middle = part.center();
        let rivals = self.overlapping(node, part);
        let over = |at: Point, rivals: &[(TapTarget, Stacking)]| {
            rivals.iter().any(|(rival, _)| rival.part.contains(at))
        };
        if !over(middle, &rivals) {
            return Ok(middle);
        }
        // A label's background is often another node under its center, so only nodes that accept
        // taps themselves get another tap point.
        let takes = takes_taps(self.tree.nodes[node].flags);
        let mut above: Vec<_> =
            rivals.iter().copied().filter(|(_, lies)| *lies == Stacking::Above).collect();
        let free = |rivals: &[(TapTarget, Stacking)]| places(part).find(|at| !over(*at, rivals));
        let at = if takes { free(&rivals).or_else(|| free(&above)) } else { free(&above) };
        if let Some(at) = at {
            return Ok(at);
        }
        above.retain(|(rival, _)| !self.acts_for(rival.node, node));
        match (free(&above), self.topmost(middle, &above)) {
            (Some(at), _) => Ok(at),
            (None, Some(by)) => Err(by),
            (None, None) => Ok(middle),
        }
    }

    /// Whether a tap that `cover` takes is one for the node under it: `cover` belongs to the same
    /// row, and has no name of its own (a transparent view that makes a row of texts tappable), or
    /// accepts only long presses (the `alternate_expand_target` of notifications since Android 12).
    /// One that also covers something tappable is a scrim.
    fn acts_for(&mut self, cover: usize, node: usize) -> bool {
        let (over, under) = (&self.tree.nodes[cover], &self.tree.nodes[node]);
        if over.parent.is_none() || over.parent != under.parent {
            return false;
        }
        if !over.flags.clickable {
            return true;
        }
        !takes_taps(under.flags) && self.is_nameless(cover) && !self.covers_tap_target(cover)
    }

    /// Whether neither the node nor anything in it has a text or a description.
    fn is_nameless(&mut self, node: usize) -> bool {
        let depth = self.tree.nodes[node].depth;
        let inside = self.tree.nodes[node + 1..].iter().take_while(|child| child.depth > depth);
        let all = 1 + inside.count();
        let named = |node: &Node| !(node.text.is_empty() && node.description.is_empty());
        self.spend(all) && !self.tree.nodes[node..node + all].iter().any(named)
    }

    /// Whether a node below this one accepts taps where this one does. `true` if there are too many
    /// to tell.
    fn covers_tap_target(&mut self, cover: usize) -> bool {
        let part = self.takers.iter().find(|taker| taker.node == cover).map(|taker| taker.part);
        let Some(part) = part else { return false };
        (0..self.takers.len()).any(|i| {
            let other = self.takers[i];
            !self.spend(1)
                || !other.part.intersection(part).is_empty()
                    && self.stacking(cover, other.node) == Stacking::Above
        })
    }

    /// The nodes that accept taps on some of this part and may be above the node; none if its
    /// center is free.
    fn overlapping(&mut self, node: usize, part: Rect) -> Vec<(TapTarget, Stacking)> {
        let middle = part.center();
        if !self.is_contested(node, middle) {
            return Vec::new();
        }
        let mut rivals = Vec::new();
        let mut unknown = 0;
        let bands = self.bands_of(part);
        for band in bands.clone() {
            for i in 0..self.bands[band].len() {
                if !self.spend(1) {
                    return Vec::new();
                }
                let rival = self.taker(band, i);
                // A node in several bands is counted in the first one that it shares with the part.
                let met = band != *bands.start() && *self.bands_of(rival.part).start() < band;
                if met || rival.part.intersection(part).is_empty() {
                    continue;
                }
                let lies = self.stacking(rival.node, node);
                unknown += usize::from(lies == Stacking::Unknown);
                if unknown > MAX_UNKNOWN && !self.ordered {
                    return Vec::new();
                }
                if lies == Stacking::Above || lies == Stacking::Unknown && unknown <= MAX_UNKNOWN {
                    rivals.push((rival, lies));
                }
            }
        }
        if unknown > MAX_UNKNOWN {
            rivals.retain(|(_, lies)| *lies == Stacking::Above);
        }
        rivals
    }

    /// Whether something that may be above the node accepts a tap at this point. In a tree without
    /// any order, more than [`MAX_UNKNOWN`] candidates count as none.
    fn is_contested(&mut self, node: usize, at: Point) -> bool {
        let band = self.band(at.y);
        let mut unknown = 0;
        for i in 0..self.bands[band].len() {
            if !self.spend(1) {
                return false;
            }
            let rival = self.taker(band, i);
            if !rival.part.contains(at) {
                continue;
            }
            match self.stacking(rival.node, node) {
                Stacking::Within | Stacking::Below => {}
                Stacking::Above => return true,
                Stacking::Unknown if self.ordered => return true,
                Stacking::Unknown => unknown += 1,
            }
            if unknown > MAX_UNKNOWN {
                return false;
            }
        }
        unknown > 0
    }

    fn taker(&self, band: usize, i: usize) -> TapTarget {
        self.takers[self.bands[band][i] as usize]
    }

    /// The topmost of these nodes that accepts a tap at this point.
    fn topmost(&mut self, at: Point, above: &[(TapTarget, Stacking)]) -> Option<usize> {
        let mut at_point =
            above.iter().map(|(rival, _)| rival).filter(|rival| rival.part.contains(at));
        let first = at_point.next()?.node;
        Some(at_point.fold(first, |top, rival| match self.stacking(rival.node, top) {
            Stacking::Above => rival.node,
            // A nested node comes later in the document.
            Stacking::Within => top.max(rival.node),
            Stacking::Below | Stacking::Unknown => top,
        }))
    }

    /// Stacking of `one` relative to `other`: decided at their nearest common ancestor.
    fn stacking(&mut self, one: usize, other: usize) -> Stacking {
        let nodes = &self.tree.nodes;
        let (mut one, mut other) = (one, other);
        let mut steps = 1;
        let lies = loop {
            if one == other {
                break Stacking::Within;
            }
            let (a, b) = (&nodes[one], &nodes[other]);
            match (a.depth.cmp(&b.depth), a.parent, b.parent) {
                (std::cmp::Ordering::Greater, Some(parent), _) => one = parent,
                (std::cmp::Ordering::Less, _, Some(parent)) => other = parent,
                (_, Some(above_a), Some(above_b)) if above_a != above_b => {
                    (one, other) = (above_a, above_b);
                }
                _ if a.order == 0 || b.order == 0 || a.order == b.order => break Stacking::Unknown,
                _ if a.order > b.order => break Stacking::Above,
                _ => break Stacking::Below,
            }
            steps += 1;
        };
        self.spend(steps);
        lies
    }

    fn bands_of(&self, part: Rect) -> std::ops::RangeInclusive<usize> {
        self.band(part.top)..=self.band(part.bottom.saturating_sub(1))
    }

    fn band(&self, y: i32) -> usize {
        let band = (i64::from(y) - i64::from(self.top)) / self.height;
        band.clamp(0, self.bands.len() as i64 - 1) as usize
    }

    /// Whether that many comparisons are still allowed.
    fn spend(&mut self, steps: usize) -> bool {
        self.steps = self.steps.saturating_sub(steps);
        self.steps > 0
    }
}

/// A view that only accepts long presses still blocks taps from what is below it
/// (`View.onTouchEvent`).
fn takes_taps(flags: Flags) -> bool {
    flags.clickable || flags.long_clickable
}

/// Points spread over a rectangle, center first, then by distance from it.
fn places(part: Rect) -> impl Iterator<Item = Point> {
    const SIDE: i64 = 5;
    let coordinate = |low: i32, high: i32, i: i64| {
        let size = i64::from(high) - i64::from(low);
        (i64::from(low) + size * (2 * i + 1) / (2 * SIDE)) as i32
    };
    let mut cells: Vec<(i64, i64)> = (0..SIDE * SIDE).map(|i| (i % SIDE, i / SIDE)).collect();
    let far = |i: i64| (2 * i + 1 - SIDE).pow(2);
    cells.sort_by_key(|&(x, y)| far(x) + far(y));
    let spread = cells.into_iter().map(move |(x, y)| Point {
        x: coordinate(part.left, part.right, x),
        y: coordinate(part.top, part.bottom, y),
    });
    std::iter::once(part.center()).chain(spread)
}

#[cfg(test)]
mod tests {
    use super::super::{Visibility, visibility};
    use super::*;

    /// Parent, bounds, order, and whether it accepts taps.
    fn tree(nodes: &[(Option<usize>, [i32; 4], u32, bool)]) -> Tree {
        let mut tree = Tree::default();
        for &(parent, [left, top, right, bottom], order, clickable) in nodes {
            let bounds = Rect { left, top, right, bottom };
            let flags = Flags { clickable, ..Flags::default() };
            let depth = parent.map_or(0, |parent: usize| tree.nodes[parent].depth + 1);
            tree.nodes.push(Node { parent, depth, bounds, order, flags, ..Node::default() });
        }
        tree
    }

    fn at(tree: &Tree, node: usize) -> Result<(i32, i32), usize> {
        match visibility(tree)[node] {
            Visibility::Visible { at, .. } => Ok((at.x, at.y)),
            Visibility::Covered { by, .. } => Err(by),
            Visibility::Hidden(reason) => panic!("{reason:?}"),
        }
    }

    const SCREEN: [i32; 4] = [0, 0, 100, 200];

    #[test]
    fn dialog_scrim_covers_the_page_but_not_its_buttons() {
        // Page with a button, a scrim over all, a sheet with a button; the scrim is first in the
        // document.
        let tree = tree(&[
            (None, SCREEN, 0, false),
            (Some(0), SCREEN, 2, true),
            (Some(0), SCREEN, 1, false),
            (Some(2), [10, 90, 90, 110], 1, true),
            (Some(0), [5, 50, 95, 150], 3, false),
            (Some(4), [20, 120, 80, 140], 1, true),
        ]);
        assert_eq!(at(&tree, 3), Err(1), "the scrim covers the page's button");
        assert_eq!(at(&tree, 5), Ok((50, 130)));
        assert_eq!(at(&tree, 4), Ok((50, 100)), "a sheet that accepts no taps");
    }

    #[test]
    fn nameless_cover_of_a_row_acts_for_its_texts() {
        // A row: a label, and a transparent view over it that takes the taps.
        let mut row = tree(&[
            (None, SCREEN, 0, false),
            (Some(0), [0, 90, 100, 110], 1, false),
            (Some(1), [10, 95, 90, 105], 1, false),
            (Some(1), [0, 90, 100, 110], 2, true),
        ]);
        assert_eq!(at(&row, 2), Ok((50, 100)));
        row.nodes[3].description = "Delete".into();
        assert_eq!(at(&row, 2), Err(3), "a cover with a name does something else");
        // The same view over a button, too, is a scrim.
        let scrim = tree(&[
            (None, SCREEN, 0, false),
            (Some(0), [10, 95, 90, 105], 1, false),
            (Some(0), [10, 120, 90, 140], 2, true),
            (Some(0), SCREEN, 3, true),
        ]);
        assert_eq!(at(&scrim, 1), Err(3));
        assert_eq!(at(&scrim, 2), Err(3));
    }

    #[test]
    fn sibling_with_only_long_press_covers_nothing() {
        let mut row = tree(&[
            (None, SCREEN, 0, false),
            (Some(0), [0, 90, 20, 110], 1, true),
            (Some(0), [0, 80, 20, 120], 2, false),
        ]);
        row.nodes[2].flags.long_clickable = true;
        assert_eq!(at(&row, 1), Ok((10, 100)));
        row.nodes[2].flags.clickable = true;
        assert_eq!(at(&row, 1), Err(2));
    }

    #[test]
    fn frame_without_taps_covers_nothing() {
        let tree = tree(&[
            (None, SCREEN, 0, false),
            (Some(0), [10, 90, 90, 110], 1, true),
            (Some(0), SCREEN, 2, false),
        ]);
        assert_eq!(at(&tree, 1), Ok((50, 100)));
    }

    #[test]
    fn button_over_a_row_moves_the_tap_point() {
        let mut tree = tree(&[
            (None, SCREEN, 0, false),
            (Some(0), [0, 100, 100, 150], 1, true),
            (Some(0), [40, 110, 60, 200], 2, true),
        ]);
        let beside = at(&tree, 1).unwrap();
        assert!(!(40..60).contains(&beside.0) && (100..150).contains(&beside.1), "{beside:?}");
        assert_eq!(at(&tree, 2), Ok((50, 155)), "the button on top keeps its center");
        // If the order is unknown, the point that they do not share is right for both.
        tree.nodes[1].order = 0;
        assert_eq!(at(&tree, 1), Ok(beside));
        let above = at(&tree, 2).unwrap();
        assert!(above.1 >= 150 || above == (50, 155), "{above:?}");
    }

    #[test]
    fn unknown_order_covers_nothing() {
        let tree = tree(&[
            (None, SCREEN, 0, false),
            (Some(0), [10, 90, 90, 110], 0, true),
            (Some(0), SCREEN, 0, true),
        ]);
        assert_eq!(at(&tree, 1), Ok((50, 100)));
    }

    #[test]
    fn label_is_tapped_at_its_center() {
        let tree = tree(&[
            (None, SCREEN, 0, false),
            (Some(0), [10, 90, 90, 110], 0, false),
            (Some(0), [10, 95, 90, 115], 0, true),
        ]);
        assert_eq!(at(&tree, 1), Ok((50, 100)));
    }

    #[test]
    fn nested_row_and_switch_do_not_cover_each_other() {
        let tree = tree(&[
            (None, SCREEN, 0, false),
            (Some(0), [0, 100, 100, 150], 1, true),
            (Some(1), [0, 100, 100, 150], 1, true),
        ]);
        assert_eq!((at(&tree, 1), at(&tree, 2)), (Ok((50, 125)), Ok((50, 125))));
    }

    #[test]
    fn higher_window_layer_covers_lower_ones() {
        let tree = tree(&[
            (None, [10, 50, 90, 150], 3, false),
            (Some(0), [20, 60, 80, 140], 1, true),
            (None, SCREEN, 1, false),
            (Some(2), [30, 90, 70, 110], 7, true),
        ]);
        assert_eq!(at(&tree, 3), Err(1));
    }

    #[test]
    fn hostile_tree_takes_bounded_time() {
        const MANY: usize = 100_000;
        let all = |order: fn(usize) -> u32| {
            let mut nodes = vec![(None, SCREEN, 0, false)];
            nodes.extend((1..MANY).map(|i| (Some(0), SCREEN, order(i), true)));
            tree(&nodes)
        };
        let mut deep = vec![(None, SCREEN, 0, false)];
        deep.extend(
            (1..MANY).map(|i| (Some(if i % 500 == 0 { 0 } else { i - 1 }), SCREEN, 0, true)),
        );
        let asked = std::time::Instant::now();
        for tree in [all(|_| 0), all(|i| i as u32), tree(&deep)] {
            assert_eq!(visibility(&tree).len(), MANY);
        }
        // Takes minutes if every node is compared with every other.
        assert!(asked.elapsed().as_secs() < 20, "{:?}", asked.elapsed());
        let far = tree(&[(None, [i32::MIN, i32::MIN, i32::MAX, i32::MAX], 0, true)]);
        assert_eq!(at(&far, 0), Ok((i32::MAX / 2, i32::MAX / 2)));
    }
}
