//! The focus, and editing the focused field's text.

use crate::view::FieldTraits;
use thumbwire_virtual_screen::{Point, Rect};

/// The focused node.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Focus {
    pub(crate) address: String,
    /// Short resource id; fields must have one.
    pub(crate) id: String,
    pub(crate) text: String,
    /// The caret's position, in bytes.
    pub(crate) caret: usize,
    /// How the field accepts text; `None` if it is not a field.
    pub(crate) field: Option<FieldTraits>,
    /// Whether a key set the focus, so that the focus ring is visible.
    pub(crate) ring: bool,
    /// Whether to scroll it into view.
    pub(crate) reveal: bool,
}

/// The distance of `to` from `from` in a direction; `None` if it is not in that direction. Sideways
/// distance counts double, roughly as in Android's `FocusFinder`.
pub(crate) fn distance(from: &Rect, to: &Rect, way: (i32, i32)) -> Option<i64> {
    let (a, b): (Point, Point) = (from.center(), to.center());
    let (dx, dy) = (i64::from(b.x - a.x), i64::from(b.y - a.y));
    let along = dx * i64::from(way.0) + dy * i64::from(way.1);
    let aside = (dx * i64::from(way.1)).abs() + (dy * i64::from(way.0)).abs();
    (along > 0 && aside <= along * 3 && from != to).then_some(along + 2 * aside)
}

/// The position of the character before `caret`.
pub(crate) fn before(text: &str, caret: usize) -> usize {
    text[..caret].char_indices().next_back().map_or(0, |(at, _)| at)
}

/// The position after the character at `caret`.
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
