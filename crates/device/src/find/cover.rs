//! What lies over what, and where a tap still reaches a node.
//!
//! Android gives a touch to the topmost view under the finger that takes touches (`ViewGroup.dispatchTouchEvent`): so
//! a node is covered where another that takes taps lies above it, unless one holds the other. What takes no taps
//! covers nothing: a transparent frame over the whole screen is usual.
//!
//! Which of two lies above is known only where the platform says so (`drawing-order`, the layer of a window). The
//! order in the document does not tell: Android sorts siblings for screen readers by where they lie
//! (`ViewGroup.ChildListForAccessibility`), and in captures of ours it would call the icons of a launcher covered by
//! the ground that they lie on. Where nobody says which lies above, nothing is called covered, and a place is
//! preferred that the two do not share: a tap there is right either way.

use super::showing::Hidden;
use crate::{Flags, Point, Rect, Tree};

/// How much is compared at most. A screen of a thousand nodes takes some ten thousand comparisons.
const MOST_STEPS: usize = 4_000_000;

/// A node that shares its place with more others of which nobody knows which lies above is tapped in its middle.
const MOST_UNKNOWN: usize = 32;

/// Of each node that shows, where a tap reaches it, or what covers it. Places of nodes that do not show mean nothing.
pub(super) fn aims(tree: &Tree, parts: &[Result<Rect, Hidden>]) -> Vec<Result<Point, usize>> {
    let mut ground = Ground::new(tree, parts);
    let aim = |(node, part): (usize, &Result<Rect, Hidden>)| match part {
        Ok(part) => ground.aim(node, *part),
        Err(_) => Ok(Point { x: 0, y: 0 }),
    };
    parts.iter().enumerate().map(aim).collect()
}

/// The nodes that take taps, by the bands of the screen that they reach into.
struct Ground<'a> {
    tree: &'a Tree,
    takers: Vec<Taker>,
    /// Of each band, the places in `takers`.
    bands: Vec<Vec<u32>>,
    top: i32,
    /// Pixels a band.
    height: i64,
    /// Whether the platform says of any node where it is drawn.
    ordered: bool,
    /// What may still be compared.
    steps: usize,
}

#[derive(Clone, Copy)]
struct Taker {
    node: usize,
    part: Rect,
}

/// How a node that takes taps lies to another.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lies {
    /// One holds the other.
    Within,
    Below,
    Above,
    /// The platform does not say.
    Somewhere,
}

impl<'a> Ground<'a> {
    fn new(tree: &'a Tree, parts: &[Result<Rect, Hidden>]) -> Self {
        const BANDS: i64 = 64;
        let part = |(node, part): (usize, &Result<Rect, Hidden>)| {
            let part = part.ok().filter(|_| takes_taps(tree.nodes[node].flags))?;
            Some(Taker { node, part })
        };
        let takers: Vec<Taker> = parts.iter().enumerate().filter_map(part).collect();
        let top = takers.iter().map(|taker| taker.part.top).min().unwrap_or(0);
        let bottom = takers.iter().map(|taker| taker.part.bottom).max().unwrap_or(0);
        let height = ((i64::from(bottom) - i64::from(top)) / BANDS + 1).max(1);
        let bands = vec![Vec::new(); BANDS as usize];
        let ordered = tree.nodes.iter().any(|node| node.order > 0);
        let mut ground = Self { tree, takers, bands, top, height, ordered, steps: MOST_STEPS };
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
        let rivals = self.rivals(node, part);
        let over = |at: Point, rivals: &[(Taker, Lies)]| {
            rivals.iter().any(|(rival, _)| rival.part.contains(at))
        };
        if !over(middle, &rivals) {
            return Ok(middle);
        }
        // A label is often written on what lies under its middle: only what takes taps itself is aimed at elsewhere.
        let takes = takes_taps(self.tree.nodes[node].flags);
        let above: Vec<_> =
            rivals.iter().copied().filter(|(_, lies)| *lies == Lies::Above).collect();
        let free = |rivals: &[(Taker, Lies)]| places(part).find(|at| !over(*at, rivals));
        let at = if takes { free(&rivals).or_else(|| free(&above)) } else { free(&above) };
        match (at, self.topmost(middle, &above)) {
            (Some(at), _) => Ok(at),
            (None, Some(by)) => Err(by),
            (None, None) => Ok(middle),
        }
    }

    /// The nodes that take taps on some of this part and may lie above the node; none where its middle is free.
    fn rivals(&mut self, node: usize, part: Rect) -> Vec<(Taker, Lies)> {
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
                // One that reaches into several bands is met in the first that it shares with the part.
                let met = band != *bands.start() && *self.bands_of(rival.part).start() < band;
                if met || rival.part.intersection(part).is_empty() {
                    continue;
                }
                let lies = self.lies(rival.node, node);
                unknown += usize::from(lies == Lies::Somewhere);
                if unknown > MOST_UNKNOWN && !self.ordered {
                    return Vec::new();
                }
                if lies == Lies::Above || lies == Lies::Somewhere && unknown <= MOST_UNKNOWN {
                    rivals.push((rival, lies));
                }
            }
        }
        if unknown > MOST_UNKNOWN {
            rivals.retain(|(_, lies)| *lies == Lies::Above);
        }
        rivals
    }

    /// Whether something that may lie above the node takes a tap at this place. In a tree without any order, more than
    /// [`MOST_UNKNOWN`] are as none.
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
            match self.lies(rival.node, node) {
                Lies::Within | Lies::Below => {}
                Lies::Above => return true,
                Lies::Somewhere if self.ordered => return true,
                Lies::Somewhere => unknown += 1,
            }
            if unknown > MOST_UNKNOWN {
                return false;
            }
        }
        unknown > 0
    }

    fn taker(&self, band: usize, i: usize) -> Taker {
        self.takers[self.bands[band][i] as usize]
    }

    /// Of those that lie above, the one that takes a tap at this place.
    fn topmost(&mut self, at: Point, above: &[(Taker, Lies)]) -> Option<usize> {
        let mut there =
            above.iter().map(|(rival, _)| rival).filter(|rival| rival.part.contains(at));
        let first = there.next()?.node;
        Some(there.fold(first, |top, rival| match self.lies(rival.node, top) {
            Lies::Above => rival.node,
            // What lies within stands later in the document.
            Lies::Within => top.max(rival.node),
            Lies::Below | Lies::Somewhere => top,
        }))
    }

    /// How `one` lies to `other`: decided where the ways to both part.
    fn lies(&mut self, one: usize, other: usize) -> Lies {
        let nodes = &self.tree.nodes;
        let (mut one, mut other) = (one, other);
        let mut steps = 1;
        let lies = loop {
            if one == other {
                break Lies::Within;
            }
            let (a, b) = (&nodes[one], &nodes[other]);
            match (a.depth.cmp(&b.depth), a.parent, b.parent) {
                (std::cmp::Ordering::Greater, Some(parent), _) => one = parent,
                (std::cmp::Ordering::Less, _, Some(parent)) => other = parent,
                (_, Some(above_a), Some(above_b)) if above_a != above_b => {
                    (one, other) = (above_a, above_b);
                }
                _ if a.order == 0 || b.order == 0 || a.order == b.order => break Lies::Somewhere,
                _ if a.order > b.order => break Lies::Above,
                _ => break Lies::Below,
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

    /// Whether so much may still be compared.
    fn spend(&mut self, steps: usize) -> bool {
        self.steps = self.steps.saturating_sub(steps);
        self.steps > 0
    }
}

/// A view that only takes long presses keeps a tap from what lies below it too (`View.onTouchEvent`).
fn takes_taps(flags: Flags) -> bool {
    flags.clickable || flags.long_clickable
}

/// Places spread over a rectangle, the middle first, then by how far they lie from it.
fn places(part: Rect) -> impl Iterator<Item = Point> {
    const SIDE: i64 = 5;
    let place = |low: i32, high: i32, i: i64| {
        let size = i64::from(high) - i64::from(low);
        (i64::from(low) + size * (2 * i + 1) / (2 * SIDE)) as i32
    };
    let mut cells: Vec<(i64, i64)> = (0..SIDE * SIDE).map(|i| (i % SIDE, i / SIDE)).collect();
    let far = |i: i64| (2 * i + 1 - SIDE).pow(2);
    cells.sort_by_key(|&(x, y)| far(x) + far(y));
    let spread = cells.into_iter().map(move |(x, y)| Point {
        x: place(part.left, part.right, x),
        y: place(part.top, part.bottom, y),
    });
    std::iter::once(part.center()).chain(spread)
}

#[cfg(test)]
mod tests {
    use super::super::{Showing, showing};
    use super::*;
    use crate::Node;

    /// Parent, bounds, order, and whether it takes taps.
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
        match showing(tree)[node] {
            Showing::Shown { at, .. } => Ok((at.x, at.y)),
            Showing::Covered { by, .. } => Err(by),
            Showing::Hidden(why) => panic!("{why:?}"),
        }
    }

    const SCREEN: [i32; 4] = [0, 0, 100, 200];

    #[test]
    fn a_dialog_covers_what_lies_under_it_and_its_buttons_lie_above_its_scrim() {
        // Page with a button, scrim over all, sheet with a button on it; the document tells the scrim first.
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
        assert_eq!(at(&tree, 4), Ok((50, 100)), "a sheet that takes no taps");
    }

    #[test]
    fn a_frame_that_takes_no_taps_covers_nothing() {
        let tree = tree(&[
            (None, SCREEN, 0, false),
            (Some(0), [10, 90, 90, 110], 1, true),
            (Some(0), SCREEN, 2, false),
        ]);
        assert_eq!(at(&tree, 1), Ok((50, 100)));
    }

    #[test]
    fn a_button_over_the_middle_of_a_row_moves_the_tap_aside() {
        let mut tree = tree(&[
            (None, SCREEN, 0, false),
            (Some(0), [0, 100, 100, 150], 1, true),
            (Some(0), [40, 110, 60, 200], 2, true),
        ]);
        let beside = at(&tree, 1).unwrap();
        assert!(!(40..60).contains(&beside.0) && (100..150).contains(&beside.1), "{beside:?}");
        assert_eq!(at(&tree, 2), Ok((50, 155)), "what lies above is not disturbed");
        // Where nobody says which lies above, the place that they do not share is right for both.
        tree.nodes[1].order = 0;
        assert_eq!(at(&tree, 1), Ok(beside));
        let above = at(&tree, 2).unwrap();
        assert!(above.1 >= 150 || above == (50, 155), "{above:?}");
    }

    #[test]
    fn where_nobody_says_what_lies_above_nothing_is_covered() {
        let tree = tree(&[
            (None, SCREEN, 0, false),
            (Some(0), [10, 90, 90, 110], 0, true),
            (Some(0), SCREEN, 0, true),
        ]);
        assert_eq!(at(&tree, 1), Ok((50, 100)));
    }

    #[test]
    fn a_label_is_tapped_in_its_middle_whoever_takes_the_tap_behind_it() {
        let tree = tree(&[
            (None, SCREEN, 0, false),
            (Some(0), [10, 90, 90, 110], 0, false),
            (Some(0), [10, 95, 90, 115], 0, true),
        ]);
        assert_eq!(at(&tree, 1), Ok((50, 100)));
    }

    #[test]
    fn a_row_and_the_switch_in_it_do_not_cover_each_other() {
        let tree = tree(&[
            (None, SCREEN, 0, false),
            (Some(0), [0, 100, 100, 150], 1, true),
            (Some(1), [0, 100, 100, 150], 1, true),
        ]);
        assert_eq!((at(&tree, 1), at(&tree, 2)), (Ok((50, 125)), Ok((50, 125))));
    }

    #[test]
    fn the_window_of_a_higher_layer_covers_the_others() {
        let tree = tree(&[
            (None, [10, 50, 90, 150], 3, false),
            (Some(0), [20, 60, 80, 140], 1, true),
            (None, SCREEN, 1, false),
            (Some(2), [30, 90, 70, 110], 7, true),
        ]);
        assert_eq!(at(&tree, 3), Err(1));
    }

    #[test]
    fn a_tree_made_to_be_slow_is_judged_in_bounded_time() {
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
            assert_eq!(showing(&tree).len(), MANY);
        }
        // With every node compared with every other, this takes minutes.
        assert!(asked.elapsed().as_secs() < 20, "{:?}", asked.elapsed());
        let far = tree(&[(None, [i32::MIN, i32::MIN, i32::MAX, i32::MAX], 0, true)]);
        assert_eq!(at(&far, 0), Ok((i32::MAX / 2, i32::MAX / 2)));
    }
}
