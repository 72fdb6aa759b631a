//! What has the focus, and editing the text of a field.

use crate::geometry::{Point, Rect};
use crate::view::FieldTraits;

/// What has the focus.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Focus {
    pub(crate) address: String,
    /// Short resource id; fields must have one.
    pub(crate) id: String,
    pub(crate) text: String,
    /// Where the caret stands, in bytes.
    pub(crate) caret: usize,
    /// How the field takes text; `None` for something that is no field.
    pub(crate) field: Option<FieldTraits>,
    /// Whether the focus came by key and shows.
    pub(crate) ring: bool,
    /// Whether it shall be scrolled into view.
    pub(crate) reveal: bool,
}

/// How far `to` lies from `from` in a direction; `None` when it does not lie there. What is off to
/// the side counts double, roughly as in Android's `FocusFinder`.
pub(crate) fn distance(from: &Rect, to: &Rect, way: (i32, i32)) -> Option<i64> {
    let (a, b): (Point, Point) = (from.center(), to.center());
    let (dx, dy) = (i64::from(b.x - a.x), i64::from(b.y - a.y));
    let along = dx * i64::from(way.0) + dy * i64::from(way.1);
    let aside = (dx * i64::from(way.1)).abs() + (dy * i64::from(way.0)).abs();
    (along > 0 && aside <= along * 3 && from != to).then_some(along + 2 * aside)
}

/// The place of the character before `caret`.
pub(crate) fn before(text: &str, caret: usize) -> usize {
    text[..caret].char_indices().next_back().map_or(0, |(at, _)| at)
}

/// The place after the character at `caret`.
pub(crate) fn after(text: &str, caret: usize) -> usize {
    caret + text[caret..].chars().next().map_or(0, char::len_utf8)
}

/// Deletes the character before the caret.
pub(crate) fn delete_before(text: &mut String, caret: &mut usize) {
    if *caret > 0 {
        *caret = before(text, *caret);
        text.remove(*caret);
    }
}

/// Deletes the character after the caret.
pub(crate) fn delete_after(text: &mut String, caret: &mut usize) {
    if *caret < text.len() {
        text.remove(*caret);
    }
}
