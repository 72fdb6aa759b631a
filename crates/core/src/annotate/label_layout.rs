//! Label layout: at the top left of the controls, without overlaps if there is room.

use thumbwire_device::{Rect, Size};

use super::{ControlFamily, VisibleMark, area};

/// A label that would hide more than 1/`HIDES` of its control goes above its top edge instead.
const HIDES: i64 = 3;

/// Pixels between two labels.
const GAP: i32 = 2;

/// With more controls than this, a label's place ignores what it would hide of other controls.
const MANY: usize = 500;

/// The maximum number of labels per grid square; a square with more counts as full.
const CROWD: usize = 64;

/// The place of each label, in the order of the marks; `None` without a label. Earlier marks choose first: small
/// controls have the fewest possible places.
pub(super) fn labels(
    shown: &[VisibleMark<'_>],
    sizes: &[(i32, i32)],
    within: Size,
) -> Vec<Option<Rect>> {
    let tallest = sizes.iter().map(|size| size.1).max().unwrap_or_default();
    let mut taken = OccupiedAreas::new(within, tallest);
    let one = |(mark, &size): (&VisibleMark<'_>, &(i32, i32))| {
        if size.0 == 0 {
            return None;
        }
        let mut best: Option<(i64, Rect)> = None;
        let before = before_text(mark, size).filter(|place| overlaps_nothing(shown, mark, *place));
        let before = before.map(|place| (place.left, place.top));
        for corner in before.into_iter().chain(corners(mark.rect, size)) {
            let place = moved_inside(corner, size, within);
            let hidden = taken.overlap(place);
            if best.is_none_or(|(least, _)| hidden < least) {
                best = Some((hidden, place));
            }
            if hidden == 0 {
                break;
            }
        }
        let (_, place) = best?;
        taken.add(place);
        Some(place)
    };
    shown.iter().zip(sizes).map(one).collect()
}

/// The place to the left of a control whose text starts at its edge; `None` if the image ends there or there is no
/// text.
fn before_text(mark: &VisibleMark<'_>, (width, height): (i32, i32)) -> Option<Rect> {
    let Rect { left, top, .. } = mark.rect;
    let has_words =
        matches!(mark.family, ControlFamily::Text | ControlFamily::Edit | ControlFamily::Toggle);
    let place = Rect { left: left - width, top, right: left, bottom: top + height };
    (has_words && place.left >= 0).then_some(place)
}

/// Whether a place touches only controls that contain this one.
fn overlaps_nothing(shown: &[VisibleMark<'_>], mark: &VisibleMark<'_>, place: Rect) -> bool {
    let is_around = |other: Rect| other.intersection(mark.rect) == mark.rect;
    shown.len() <= MANY
        && shown
            .iter()
            .all(|other| place.intersection(other.rect).is_empty() || is_around(other.rect))
}

/// The possible top left corners of a control's label, best first.
fn corners(rect: Rect, (width, height): (i32, i32)) -> impl Iterator<Item = (i32, i32)> {
    let Rect { left, top, right, bottom } = rect;
    let hides = i64::from(width) * i64::from(height) * HIDES > area(rect);
    let inside = (left, top);
    let above = (left, top - height);
    let first = if hides { [above, inside] } else { [inside, above] };
    let fits = move |(x, y): &(i32, i32)| x + width <= right && y + height <= bottom;
    let aside = (1..=4).map(move |step| (left + step * (width + GAP), top)).filter(fits);
    let below = (1..=2).map(move |step| (left, top + step * (height + GAP))).filter(fits);
    let others = [(right - width, top), (left, bottom - height), (right - width, bottom - height)];
    let outside = [(right, top), (left - width, top), (left, bottom)];
    let [one, other] = first;
    std::iter::once(one)
        .chain(aside)
        .chain(below)
        .chain([other])
        .chain(others.into_iter().filter(move |(x, y)| *x >= left && *y >= top))
        .chain(outside)
}

/// The box at this corner, moved onto the image; a box larger than the image keeps its left and top on it.
fn moved_inside((x, y): (i32, i32), (width, height): (i32, i32), within: Size) -> Rect {
    let left = x.min(within.width - width).max(0);
    let top = y.min(within.height - height).max(0);
    Rect { left, top, right: left + width, bottom: top + height }
}

/// The placed labels, by the grid squares that they touch.
struct OccupiedAreas {
    square: i32,
    across: i32,
    squares: Vec<Vec<Rect>>,
}

impl OccupiedAreas {
    fn new(within: Size, tallest: i32) -> Self {
        let square = (2 * tallest).max(16);
        let across = within.width / square + 1;
        let down = within.height / square + 1;
        let count = usize::try_from(i64::from(across) * i64::from(down)).unwrap_or_default();
        Self { square, across, squares: vec![Vec::new(); count] }
    }

    /// How many pixels of a place are taken; all of them in a full square.
    fn overlap(&self, place: Rect) -> i64 {
        let mut hidden = 0;
        for square in self.touched(place) {
            let there = &self.squares[square];
            if there.len() >= CROWD {
                return area(place);
            }
            hidden += there.iter().map(|other| area(place.intersection(*other))).sum::<i64>();
        }
        hidden
    }

    fn add(&mut self, place: Rect) {
        let touched: Vec<usize> = self.touched(place).collect();
        for square in touched {
            let there = &mut self.squares[square];
            if there.len() < CROWD {
                let Rect { left, top, right, bottom } = place;
                let [left, top] = [left - GAP, top - GAP];
                there.push(Rect { left, top, right: right + GAP, bottom: bottom + GAP });
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
