//! Label layout: in an empty corner of the control, else beside it, else with a line that leads to
//! it. Never over another label, and over detail only where nothing else is left.

use thumbwire_device::{Point, Rect, Size};

use super::VisibleMark;
use super::detail::Detail;

/// With more marks than this, a label's place ignores other controls and is beside its own or
/// nowhere.
const MANY: usize = 500;

/// The maximum number of labels per grid square; a square with more counts as full.
const CROWD: usize = 64;

/// The maximum number of places along one edge of a control.
const ALONG: i32 = 24;

/// How far a label may be from its control, in heights of a label.
const FAR: i32 = 6;

/// The maximum number of places that are looked at around a control.
const AROUND: i32 = 4000;

// What speaks against a place, from a taste to a last resort. A place costs the sum.

/// The label is in the smaller font.
const SMALL: i64 = 12;
/// There is a line below the label, at most: the border of its control, or one that separates
/// controls.
const LINES: i64 = 10;
/// The label is outside of its control.
const OUTSIDE: i64 = 15;
/// There is detail next to the label.
const CLOSE: i64 = 25;
/// The label needs a line that leads to its control.
const LED: i64 = 30;
/// That line crosses another control.
const CROSSES: i64 = 20;
/// Another control is below the label.
const FOREIGN: i64 = 40;
/// There is detail below the label, and this for each cell.
const HIDES: (i64, i64) = (100, 20);

/// Where a label goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LabelPlace {
    pub(super) rect: Rect,
    /// Which of its sizes it has.
    pub(super) size: usize,
    /// A line from the label to its control.
    pub(super) leader: Option<(Point, Point)>,
}

/// What labels must not hide, and how they look.
pub(super) struct Surroundings<'a> {
    pub(super) shown: &'a [VisibleMark<'a>],
    pub(super) detail: &'a Detail,
    pub(super) within: Size,
    /// The distance in pixels from detail and from other labels.
    pub(super) gap: i32,
}

/// The place of each label, in the order of the marks; `None` without a label, and where there is
/// no room for one. A label has the sizes of both fonts, the preferred one first. Earlier marks
/// choose first: small controls have the fewest possible places.
pub(super) fn labels(
    around: &Surroundings<'_>,
    sizes: &[[(i32, i32); 2]],
) -> Vec<Option<LabelPlace>> {
    let tallest = sizes.iter().map(|size| size[0].1).max().unwrap_or_default();
    let mut taken = OccupiedAreas::new(around.within, tallest, around.gap);
    let mut places = Vec::with_capacity(sizes.len());
    for (at, sizes) in sizes.iter().enumerate() {
        let place = Search { around, taken: &taken, at, best: None }.place(sizes);
        if let Some(place) = place {
            taken.add(place.rect);
        }
        places.push(place);
    }
    places
}

/// The search for the place of one label.
struct Search<'a> {
    around: &'a Surroundings<'a>,
    taken: &'a OccupiedAreas,
    /// The index of its mark.
    at: usize,
    /// The best place so far, and what speaks against it.
    best: Option<(i64, LabelPlace)>,
}

impl Search<'_> {
    fn place(mut self, sizes: &[(i32, i32); 2]) -> Option<LabelPlace> {
        if sizes[0].0 == 0 {
            return None;
        }
        let rect = self.around.shown[self.at].rect;
        for (size, &(width, height)) in sizes.iter().enumerate() {
            let small = if size == 0 { 0 } else { SMALL };
            for (cost, corner) in beside(rect, (width, height), self.around.gap) {
                self.consider(cost + small, size, corner, (width, height));
            }
        }
        if self.around.shown.len() <= MANY && self.least() > LED {
            for (size, &(width, height)) in sizes.iter().enumerate() {
                let small = if size == 0 { 0 } else { SMALL };
                self.look_around(LED + small, size, (width, height));
            }
        }
        self.best.map(|(_, place)| place)
    }

    /// What speaks against the best place so far.
    fn least(&self) -> i64 {
        self.best.map_or(i64::MAX, |(cost, _)| cost)
    }

    /// Considers a place in or beside the control.
    fn consider(
        &mut self,
        cost: i64,
        size: usize,
        (left, top): (i32, i32),
        (width, height): (i32, i32),
    ) {
        let rect = Rect { left, top, right: left + width, bottom: top + height };
        if let Some(cost) = self.cost(cost, rect) {
            self.best = Some((cost, LabelPlace { rect, size, leader: None }));
        }
    }

    /// Considers all places around the control.
    fn look_around(&mut self, cost: i64, size: usize, (width, height): (i32, i32)) {
        let own = self.around.shown[self.at].rect;
        let far = FAR * height;
        let columns = own.left - far - width..own.right + far;
        let rows = own.top - far - height..own.bottom + far;
        let all = i64::from(columns.end - columns.start) * i64::from(rows.end - rows.start);
        // The step that keeps the number of places within its limit.
        let mut step = (height / 3).max(2);
        while all / i64::from(step * step) > i64::from(AROUND) {
            step += 1;
        }
        let step = usize::try_from(step).unwrap_or(1);
        for top in rows.step_by(step) {
            for left in columns.clone().step_by(step) {
                let rect = Rect { left, top, right: left + width, bottom: top + height };
                let (from, to) = shortest(rect, own);
                let distance = (to.x - from.x).abs().max((to.y - from.y).abs());
                if distance == 0 || distance > far {
                    continue;
                }
                let cost = cost + i64::from(6 * distance / height.max(1));
                if cost >= self.least() {
                    continue;
                }
                let leader = Some((from, to));
                let cost = self.cost(cost, rect).and_then(|cost| self.leader_cost(cost, from, to));
                if let Some(cost) = cost {
                    self.best = Some((cost, LabelPlace { rect, size, leader }));
                }
            }
        }
    }

    /// What speaks against a place altogether; `None` if it cannot be had, or another one is
    /// better.
    fn cost(&self, mut cost: i64, place: Rect) -> Option<i64> {
        let Surroundings { shown, detail, gap, .. } = *self.around;
        let least = self.least();
        if cost >= least || !detail.is_on_image(place) {
            return None;
        }
        let hidden = i64::from(detail.count(place));
        if hidden > 0 {
            cost += HIDES.0 + HIDES.1 * hidden;
        } else if detail.count(grown(place, gap)) > 0 {
            cost += CLOSE;
        }
        cost += (i64::from(detail.lines(place)) / 2).min(LINES);
        if cost >= least || !self.taken.is_free(place) {
            return None;
        }
        if shown.len() <= MANY {
            let own = shown[self.at].rect;
            let foreign = |other: &VisibleMark<'_>| {
                other.rect.intersection(own) != own && !place.intersection(other.rect).is_empty()
            };
            if shown.iter().any(foreign) {
                cost += FOREIGN;
            }
        }
        (cost < least).then_some(cost)
    }

    /// Adds what speaks against a leader; `None` if it would meet a label, or another place is
    /// better.
    fn leader_cost(&self, mut cost: i64, from: Point, to: Point) -> Option<i64> {
        let Surroundings { shown, detail, gap, .. } = *self.around;
        let own = shown[self.at].rect;
        let is_foreign = |at: Point| {
            let foreign = |other: &VisibleMark<'_>| {
                other.rect.intersection(own) != own && other.rect.contains(at)
            };
            shown.iter().any(foreign)
        };
        let steps = (to.x - from.x).abs().max((to.y - from.y).abs()).max(1);
        let mut crosses = false;
        // The last pixels are at the control's own edge.
        for step in (0..steps - gap).step_by(2) {
            let x = from.x + (to.x - from.x) * step / steps;
            let y = from.y + (to.y - from.y) * step / steps;
            let rect = Rect { left: x, top: y, right: x + 1, bottom: y + 1 };
            if !self.taken.is_free(rect) {
                return None;
            }
            cost += 2 * i64::from(detail.count(rect));
            crosses |= is_foreign(Point { x, y });
        }
        if crosses {
            cost += CROSSES;
        }
        (cost < self.least()).then_some(cost)
    }
}

/// A rectangle with this much around it.
fn grown(Rect { left, top, right, bottom }: Rect, by: i32) -> Rect {
    Rect { left: left - by, top: top - by, right: right + by, bottom: bottom + by }
}

/// The ends of the shortest line between two rectangles: on the first one and on the second one.
fn shortest(one: Rect, other: Rect) -> (Point, Point) {
    let nearest = |low: i32, high: i32, from: i32, to: i32| {
        let (start, end) = (low.max(from), high.min(to));
        if start < end {
            let middle = i32::midpoint(start, end);
            (middle, middle)
        } else if high <= from {
            (high, from)
        } else {
            (low, to)
        }
    };
    let (x, to_x) = nearest(one.left, one.right, other.left, other.right);
    let (y, to_y) = nearest(one.top, one.bottom, other.top, other.bottom);
    (Point { x, y }, Point { x: to_x, y: to_y })
}

/// The top left corners of a label in and beside its control, with what speaks against each.
fn beside(rect: Rect, (width, height): (i32, i32), gap: i32) -> Vec<(i64, (i32, i32))> {
    let Rect { left, top, right, bottom } = rect;
    let (far_left, far_top) = (right - width, bottom - height);
    let mut places = Vec::new();
    if far_left >= left && far_top >= top {
        places.extend([
            (0, (left, top)),
            (1, (left + gap, top + gap)),
            (2, (far_left, top)),
            (3, (far_left - gap, top + gap)),
            (3, (left, far_top)),
            (4, (left + gap, far_top - gap)),
            (4, (far_left, far_top)),
            (5, (far_left - gap, far_top - gap)),
        ]);
        let inside = |(_, (x, y)): &(i64, (i32, i32))| {
            (left..=far_left).contains(x) && (top..=far_top).contains(y)
        };
        places.retain(inside);
        for x in between(left, far_left, width / 2) {
            places.extend([(6, (x, top)), (7, (x, far_top))]);
        }
        for y in between(top, far_top, height / 2) {
            places.extend([(6, (left, y)), (7, (far_left, y))]);
        }
    }
    let (middle_x, middle_y) = (i32::midpoint(left, far_left), i32::midpoint(top, far_top));
    for (more, gap) in [(0, 0), (2, gap)] {
        let cost = OUTSIDE + more;
        for (y, more) in [(top, 0), (middle_y, 0), (far_top, 1)] {
            places.push((cost + more, (left - width - gap, y)));
            places.push((cost + more + 1, (right + gap, y)));
        }
        for (x, more) in [(left, 0), (middle_x, 1), (far_left, 1)] {
            places.push((cost + more + 2, (x, top - height - gap)));
            places.push((cost + more + 4, (x, bottom + gap)));
        }
    }
    places
}

/// Positions from one to another, both excluded, a step apart or more.
fn between(from: i32, to: i32, step: i32) -> impl Iterator<Item = i32> {
    let step = step.max((to - from) / ALONG).max(1);
    (1..).map(move |at| from + at * step).take_while(move |&at| at < to)
}

/// The placed labels, by the grid squares that they touch.
struct OccupiedAreas {
    /// The distance between two labels.
    gap: i32,
    square: i32,
    across: i32,
    squares: Vec<Vec<Rect>>,
}

impl OccupiedAreas {
    fn new(within: Size, tallest: i32, gap: i32) -> Self {
        let square = (2 * tallest).max(16);
        let across = within.width / square + 1;
        let down = within.height / square + 1;
        let count = usize::try_from(i64::from(across) * i64::from(down)).unwrap_or_default();
        Self { gap, square, across, squares: vec![Vec::new(); count] }
    }

    /// Whether a place is free. None is in a full square.
    fn is_free(&self, place: Rect) -> bool {
        self.touched(place).all(|square| {
            let labels = &self.squares[square];
            let free = |other: &Rect| place.intersection(*other).is_empty();
            labels.len() < CROWD && labels.iter().all(free)
        })
    }

    fn add(&mut self, place: Rect) {
        let place = grown(place, self.gap);
        let touched: Vec<usize> = self.touched(place).collect();
        for square in touched {
            let labels = &mut self.squares[square];
            if labels.len() < CROWD {
                labels.push(place);
            }
        }
    }

    /// The squares that a place touches.
    fn touched(&self, place: Rect) -> impl Iterator<Item = usize> + use<> {
        let (square, across, count) = (self.square, self.across, self.squares.len());
        let columns = place.left / square..=((place.right - 1) / square).min(across - 1);
        let rows = place.top / square..=(place.bottom - 1) / square;
        let at = move |row: i32, column: i32| usize::try_from(row * across + column).ok();
        let all = rows.flat_map(move |row| columns.clone().filter_map(move |it| at(row, it)));
        all.filter(move |&at| at < count)
    }
}
