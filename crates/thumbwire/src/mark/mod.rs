//! Marks on a picture: each control of a screen outlined, tinted by what it is, with its id at its top left.
//!
//! Begin with [`draw`]. Seed 002 asks for such pictures ("Creates annotated screenshots with control labels"); how they look is UFO's
//! manner: a 2 px outline, a translucent fill by type. The same marks on the same picture give the same bytes. Which controls a screen
//! has, and where a picture is kept, is not known here. The four parts: [`Family`] tells what is tinted how, `place` finds room for
//! labels, `letters` has their shapes, `paint` changes pixels.

mod family;
mod letters;
mod paint;
mod place;
#[cfg(test)]
mod tests;

use thumbwire_device::picture::{Effort, Pixels};
use thumbwire_device::{Image, Rect, Size};

pub use family::Family;
pub use thumbwire_device::picture::Error;

use letters::{Glyph, Letters};
use paint::Canvas;

/// A control to be marked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mark {
    /// Left, top, right, bottom, in pixels of the picture. What lies outside the picture is left away.
    pub rect: [i32; 4],
    /// Its id. No label is drawn for an empty one; of a long one its first letters are.
    pub label: String,
    /// The control's type, the last part of its class: `EditText`.
    pub kind: String,
}

/// The picture with these marks, as a PNG of the same size.
///
/// Every control is outlined inside its rectangle, and each pixel tinted once, by the smallest control that holds it: a
/// page that scrolls does not dull all that it shows. Labels are as large as the picture asks for, lie inside it, and
/// keep clear of each other, and of the words of their controls, where there is room. Most of the time goes into reading and
/// writing the file (`just bench`): callers in async code give it a thread of its own.
///
/// # Errors
/// When the picture cannot be read.
pub fn draw(image: &Image, marks: &[Mark]) -> Result<Image, Error> {
    let pixels = Pixels::read(image)?;
    draw_on(&pixels, marks)?.write_png(Effort::Fast)
}

/// As [`draw`], on pixels.
///
/// # Errors
/// None that is known of.
pub fn draw_on(pixels: &Pixels, marks: &[Mark]) -> Result<Pixels, Error> {
    let size = pixels.size();
    let shown = shown(marks, size);
    let (letters, labels) = labelled(&shown, size);
    let mut canvas = Canvas::on(pixels);
    canvas.tint(&shown);
    for mark in shown.iter().rev() {
        canvas.outline(mark.rect, mark.family.colour());
    }
    // Where there is no room, the label of the smaller control stays whole.
    for (mark, label) in shown.iter().zip(&labels).rev() {
        if let Some(Label { glyphs, place }) = label {
            canvas.label(*place, glyphs, mark.family, &letters);
        }
    }
    canvas.finish()
}

/// Where the labels stand on a picture of this size, in the order of the marks; `None` for a mark that has none.
pub fn places(size: Size, marks: &[Mark]) -> Vec<Option<Rect>> {
    let shown = shown(marks, size);
    let (_, labels) = labelled(&shown, size);
    let mut places = vec![None; marks.len()];
    for (mark, label) in shown.iter().zip(labels) {
        places[mark.at] = label.map(|label| label.place);
    }
    places
}

/// A mark of which something lies on the picture.
struct Shown<'a> {
    /// Its place among the marks.
    at: usize,
    /// The part that does.
    rect: Rect,
    label: &'a str,
    family: Family,
}

/// What shows of the marks, the smallest first; the later one first where two are as large: it lies above.
fn shown(marks: &[Mark], size: Size) -> Vec<Shown<'_>> {
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
    let mut found: Vec<Shown<'_>> = found
        .map(|(at, rect)| {
            let Mark { label, kind, .. } = &marks[at];
            Shown { at, rect, label, family: Family::of(kind) }
        })
        .collect();
    found.sort_by_key(|shown| area(shown.rect));
    found
}

/// How many pixels lie inside.
fn area(rect: Rect) -> i64 {
    let side = |from: i32, to: i32| (i64::from(to) - i64::from(from)).max(0);
    side(rect.left, rect.right) * side(rect.top, rect.bottom)
}

/// What is written, and where.
struct Label {
    glyphs: Vec<Glyph>,
    place: Rect,
}

/// The label of each mark; `None` where that is empty.
fn labelled(shown: &[Shown<'_>], size: Size) -> (Letters, Vec<Option<Label>>) {
    let mut letters = Letters::of_size(letter_size(size.width.min(size.height)));
    let labels: Vec<Vec<Glyph>> = shown.iter().map(|mark| letters.of(mark.label)).collect();
    let sizes: Vec<(i32, i32)> = labels.iter().map(|label| letters.size_of(label)).collect();
    let places = place::labels(shown, &sizes, size);
    let label = |(glyphs, place): (_, Option<Rect>)| Some(Label { glyphs, place: place? });
    let labels = labels.into_iter().zip(places).map(label).collect();
    (letters, labels)
}

/// How large letters are, in pixels to the em: 30 where the shorter side has 1080 pixels, and never too small to be read.
fn letter_size(shorter_side: i32) -> i32 {
    (shorter_side / 36).clamp(13, 64)
}
