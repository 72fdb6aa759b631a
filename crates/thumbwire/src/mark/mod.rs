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
use thumbwire_device::{Image, Rect};

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
/// keep clear of each other where there is room. Takes some 30 ms for a hundred marks on 1080x2400 pixels, most of it
/// for reading and writing the file: callers in async code give it a thread of its own.
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
    let shown: Vec<Shown<'_>> = shown(marks, size.width, size.height);
    let mut letters = Letters::of_size(letter_size(size.width.min(size.height)));
    let mut canvas = Canvas::on(pixels);

    canvas.tint(&shown);
    for mark in shown.iter().rev() {
        canvas.outline(mark.rect, mark.family.colour());
    }
    let labels: Vec<Vec<Glyph>> = shown.iter().map(|mark| letters.of(mark.label)).collect();
    let sizes: Vec<(i32, i32)> = labels.iter().map(|label| letters.size_of(label)).collect();
    let places = place::labels(&shown, &sizes, size);
    // Where there is no room, the label of the smaller control stays whole.
    for ((mark, label), place) in shown.iter().zip(&labels).zip(places).rev() {
        if let Some(place) = place {
            canvas.label(place, label, mark.family, &letters);
        }
    }
    canvas.finish()
}

/// A mark of which something lies on the picture.
struct Shown<'a> {
    rect: Rect,
    label: &'a str,
    family: Family,
}

/// What shows of the marks, the smallest first; the later one first where two are as large: it lies above.
fn shown(marks: &[Mark], width: i32, height: i32) -> Vec<Shown<'_>> {
    let one = |mark: &'_ Mark| -> Option<(i64, Rect)> {
        let [left, top, right, bottom] = mark.rect;
        let rect = Rect {
            left: left.clamp(0, width),
            top: top.clamp(0, height),
            right: right.clamp(0, width),
            bottom: bottom.clamp(0, height),
        };
        let across = i64::from(rect.right) - i64::from(rect.left);
        let down = i64::from(rect.bottom) - i64::from(rect.top);
        (across > 0 && down > 0).then_some((across * down, rect))
    };
    let mut found: Vec<(i64, Shown<'_>)> = Vec::new();
    for mark in marks.iter().rev() {
        if let Some((area, rect)) = one(mark) {
            found.push((area, Shown { rect, label: &mark.label, family: Family::of(&mark.kind) }));
        }
    }
    found.sort_by_key(|(area, _)| *area);
    found.into_iter().map(|(_, shown)| shown).collect()
}

/// How large letters are, in pixels to the em: 30 where the shorter side has 1080 pixels, and never too small to be read.
fn letter_size(shorter_side: i32) -> i32 {
    (shorter_side / 36).clamp(11, 64)
}
