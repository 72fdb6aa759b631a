//! Annotated screenshots: each control outlined, tinted by type, with its id at the top left.
//!
//! Start with [`draw`]. The UFO MobileAgent strategy asks for them ("Creates annotated screenshots with control
//! labels"); the style is UFO's: a 2 px outline and a translucent fill by type. The same marks on the same image give
//! the same bytes. This module does not know which controls a screen has or where an image is saved. [`ControlFamily`] maps
//! types to colours, `label_layout` lays out the labels, `font` has the font, `paint` changes pixels.

mod control_family;
mod font;
mod label_layout;
mod paint;
#[cfg(test)]
mod tests;

use thumbwire_device::image::{Effort, Pixels};
use thumbwire_device::{Image, Rect, Size};

pub use control_family::ControlFamily;
pub use thumbwire_device::image::Error;

use font::{Font, Glyph};
use paint::Canvas;

/// A control to mark.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mark {
    /// Left, top, right, bottom, in pixels of the image. Parts outside the image are clipped.
    pub rect: [i32; 4],
    /// Its id. An empty one gets no label; a long one is truncated.
    pub label: String,
    /// The control's type, the last part of its class: `EditText`.
    pub kind: String,
}

/// Draws the marks on the image. Returns a PNG of the same size.
///
/// Every control is outlined inside its rectangle. Each pixel is tinted once, by the smallest control that contains it,
/// so that a scrolling page does not dull its contents. Labels scale with the image, stay inside it, and avoid each
/// other and the text of their controls if there is room. Most of the time goes into decoding and encoding (`just
/// bench`), so async callers should use a blocking thread.
///
/// # Errors
/// If the image cannot be decoded.
pub fn draw(image: &Image, marks: &[Mark]) -> Result<Image, Error> {
    let pixels = Pixels::read(image)?;
    draw_on(&pixels, marks)?.write_png(Effort::Fast)
}

/// Like [`draw`], on decoded pixels.
///
/// # Errors
/// None known.
pub fn draw_on(pixels: &Pixels, marks: &[Mark]) -> Result<Pixels, Error> {
    let size = pixels.size();
    let shown = shown(marks, size);
    let (letters, labels) = labelled(&shown, size);
    let mut canvas = Canvas::on(pixels);
    canvas.tint(&shown);
    for mark in shown.iter().rev() {
        canvas.outline(mark.rect, mark.family.colour());
    }
    // Drawn last, the labels of smaller controls stay readable where labels overlap.
    for (mark, label) in shown.iter().zip(&labels).rev() {
        if let Some(Label { glyphs, place }) = label {
            canvas.label(*place, glyphs, mark.family, &letters);
        }
    }
    canvas.finish()
}

/// The label rectangles on an image of this size, in the order of the marks; `None` for a mark without a label.
pub fn places(size: Size, marks: &[Mark]) -> Vec<Option<Rect>> {
    let shown = shown(marks, size);
    let (_, labels) = labelled(&shown, size);
    let mut places = vec![None; marks.len()];
    for (mark, label) in shown.iter().zip(labels) {
        places[mark.at] = label.map(|label| label.place);
    }
    places
}

/// A mark that is at least partly on the image.
struct VisibleMark<'a> {
    /// Its index among the marks.
    at: usize,
    /// The visible part.
    rect: Rect,
    label: &'a str,
    family: ControlFamily,
}

/// The visible marks, smallest first. Of two of the same size the later one comes first, since it is on top.
fn shown(marks: &[Mark], size: Size) -> Vec<VisibleMark<'_>> {
    let one = |(at, mark): (usize, &'_ Mark)| {
        let [left, top, right, bottom] = mark.rect;
        let rect = Rect {
            left: left.clamp(0, size.width),
            top: top.clamp(0, size.height),
            right: right.clamp(0, size.width),
            bottom: bottom.clamp(0, size.height),
        };
        (!rect.is_empty()).then_some((at, rect))
    };
    let found = marks.iter().enumerate().rev().filter_map(one);
    let mut found: Vec<VisibleMark<'_>> = found
        .map(|(at, rect)| {
            let Mark { label, kind, .. } = &marks[at];
            VisibleMark { at, rect, label, family: ControlFamily::of(kind) }
        })
        .collect();
    found.sort_by_key(|shown| area(shown.rect));
    found
}

/// The area in pixels.
fn area(rect: Rect) -> i64 {
    let side = |from: i32, to: i32| (i64::from(to) - i64::from(from)).max(0);
    side(rect.left, rect.right) * side(rect.top, rect.bottom)
}

/// A label and its place.
struct Label {
    glyphs: Vec<Glyph>,
    place: Rect,
}

/// The label of each mark; `None` if it is empty.
fn labelled(shown: &[VisibleMark<'_>], size: Size) -> (Font, Vec<Option<Label>>) {
    let mut letters = Font::of_size(letter_size(size.width.min(size.height)));
    let labels: Vec<Vec<Glyph>> = shown.iter().map(|mark| letters.of(mark.label)).collect();
    let sizes: Vec<(i32, i32)> = labels.iter().map(|label| letters.size_of(label)).collect();
    let places = label_layout::labels(shown, &sizes, size);
    let label = |(glyphs, place): (_, Option<Rect>)| Some(Label { glyphs, place: place? });
    let labels = labels.into_iter().zip(places).map(label).collect();
    (letters, labels)
}

/// The font size in pixels per em: 30 for a shorter side of 1080 pixels, and never too small to read.
fn letter_size(shorter_side: i32) -> i32 {
    (shorter_side / 36).clamp(13, 64)
}
