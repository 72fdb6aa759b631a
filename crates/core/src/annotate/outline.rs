//! Outlines, and lines from labels to controls, that leave out what they would hide.

use thumbwire_device::{Point, Rect};

use super::detail::Detail;

/// The lines of a rectangle's outline, of this width. Each side is inside the rectangle, or just
/// outside of it where that hides less; it is interrupted where it would hide something all the
/// same.
pub(super) fn lines(rect: Rect, detail: &Detail, width: i32) -> Vec<Rect> {
    let rect = around_detail(rect, detail, width);
    let Rect { left, top, right, bottom } = rect;
    let (across, down) = (width.min(right - left), width.min(bottom - top));
    let mut lines = Vec::new();
    for side in [Rect { bottom: top + down, ..rect }, Rect { top: bottom - down, ..rect }] {
        let parts = detail.parts(left, right).map(|(left, right)| Rect { left, right, ..side });
        lines.extend(parts.filter(|part| detail.count(*part) == 0));
    }
    for side in [Rect { right: left + across, ..rect }, Rect { left: right - across, ..rect }] {
        let parts = detail.parts(top, bottom).map(|(top, bottom)| Rect { top, bottom, ..side });
        lines.extend(parts.filter(|part| detail.count(*part) == 0));
    }
    lines
}

/// The squares of a line of this width from a label to its control, without those that would hide
/// something.
pub(super) fn leader(from: Point, to: Point, detail: &Detail, width: i32) -> Vec<Rect> {
    let steps = (to.x - from.x).abs().max((to.y - from.y).abs()).max(1);
    let square = |step: i32| {
        let left = from.x + (to.x - from.x) * step / steps - width / 2;
        let top = from.y + (to.y - from.y) * step / steps - width / 2;
        Rect { left, top, right: left + width, bottom: top + width }
    };
    (0..=steps).map(square).filter(|square| detail.count(*square) == 0).collect()
}

/// The rectangle with each side moved outwards by the width of a line and a pixel, if less detail
/// is there.
fn around_detail(rect: Rect, detail: &Detail, width: i32) -> Rect {
    let Rect { left, top, right, bottom } = rect;
    let out = width + 1;
    let moved = |inside: Rect, outside: Rect| {
        let hidden = detail.count(inside);
        hidden > 0 && detail.is_on_image(outside) && detail.count(outside) < hidden
    };
    let is_out = [
        moved(
            Rect { right: left + width, ..rect },
            Rect { left: left - out, right: left - 1, ..rect },
        ),
        moved(
            Rect { bottom: top + width, ..rect },
            Rect { top: top - out, bottom: top - 1, ..rect },
        ),
        moved(
            Rect { left: right - width, ..rect },
            Rect { left: right + 1, right: right + out, ..rect },
        ),
        moved(
            Rect { top: bottom - width, ..rect },
            Rect { top: bottom + 1, bottom: bottom + out, ..rect },
        ),
    ];
    let by = is_out.map(|is_out| if is_out { out } else { 0 });
    Rect { left: left - by[0], top: top - by[1], right: right + by[2], bottom: bottom + by[3] }
}
