//! Annotated screenshots: each control outlined in the colour of its type, with its id beside what
//! it says.
//!
//! Start with [`marks`] and [`draw`]. The UFO MobileAgent strategy asks for them ("Creates
//! annotated screenshots with control labels"). Nothing that the screen shows is hidden if there is
//! room: labels are where the image has no detail, outlines leave letters out, and no area is
//! tinted. The same marks on the same image give the same bytes. This module does not know where an
//! image is saved. [`ControlFamily`] maps types to colours, `detail` finds what must not be hidden,
//! `label_layout` lays out the labels, `outline` the outlines, `font` has the font, `paint` changes
//! pixels.

mod control_family;
mod detail;
mod font;
mod label_layout;
mod outline;
mod paint;
#[cfg(test)]
mod tests;

use thumbwire_device::image::{Effort, PixelLimits, Pixels};
use thumbwire_device::{Image, Node, Rect, Size};

pub use control_family::ControlFamily;
pub use thumbwire_device::image::Error;

use detail::Detail;
use font::{Font, FontSize, Glyph};
use label_layout::{LabelPlace, Surroundings};
use paint::Canvas;

use crate::snapshot::{self, ControlNumber, Controls};

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

/// A mark for each control that can be seen: its number, and the part that can be seen. What
/// another control covers, or the keyboard, has none.
pub fn marks(controls: &Controls) -> Vec<Mark> {
    let snapshot = &controls.snapshot;
    let mark = |(&node, (number, control)): (&usize, (ControlNumber, &Node))| {
        let covered = snapshot.covered_by(node).is_some_and(|by| !snapshot.is_inside(by, node));
        let part = snapshot.shown(node);
        let mark = || Mark {
            rect: [part.left, part.top, part.right, part.bottom],
            label: number.to_string(),
            kind: snapshot::kind(control).to_owned(),
        };
        (!covered && !part.is_empty()).then(mark)
    };
    controls.nodes.iter().zip(controls.iter()).filter_map(mark).collect()
}

/// Draws the marks on the image. Returns a PNG of the same size.
///
/// Every control is outlined. Its label is in an empty corner of the control if it has one, else
/// beside it, else near it with a line that leads to it, and never on another label: a control
/// without any room has none. Labels are as small as they can be read once the image was scaled
/// down for a model ([`PixelLimits::VISION_MODELS`]). Most of the time goes into decoding and
/// encoding (`just bench`), so async callers should use a blocking thread.
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
    let shown = shown(marks, pixels.size());
    let scale = Scale::of(pixels.size());
    let detail = Detail::of(pixels, scale.cell);
    let labels = labelled(&shown, &detail, scale);
    let mut canvas = Canvas::on(pixels);
    for mark in shown.iter().rev() {
        let colour = mark.family.colour();
        for line in outline::lines(mark.rect, &detail, scale.outline) {
            canvas.fill(line, colour);
        }
    }
    for (mark, label) in shown.iter().zip(&labels) {
        if let Some(LabelPlace { leader: Some((from, to)), .. }) = label.place {
            for part in outline::leader(from, to, &detail, scale.outline) {
                canvas.fill(part, mark.family.colour());
            }
        }
    }
    for (mark, label) in shown.iter().zip(&labels) {
        if let Some(place) = label.place {
            let Fitted { glyphs, font } = &label.fitted[place.size];
            canvas.label(place.rect, glyphs, mark.family, *font);
        }
    }
    canvas.finish()
}

/// The label rectangles on this image, in the order of the marks; `None` for a mark without a
/// label.
pub fn places(pixels: &Pixels, marks: &[Mark]) -> Vec<Option<Rect>> {
    let shown = shown(marks, pixels.size());
    let scale = Scale::of(pixels.size());
    let labels = labelled(&shown, &Detail::of(pixels, scale.cell), scale);
    let mut places = vec![None; marks.len()];
    for (mark, label) in shown.iter().zip(labels) {
        places[mark.at] = label.place.map(|place| place.rect);
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

/// The visible marks, smallest first. Of two of the same size the later one comes first, since it
/// is on top.
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

/// A label in both fonts, and its place.
struct Label {
    fitted: [Fitted; 2],
    place: Option<LabelPlace>,
}

/// The glyphs of a label in a font.
struct Fitted {
    glyphs: Vec<Glyph>,
    font: FontSize,
}

/// The label of each mark.
fn labelled(shown: &[VisibleMark<'_>], detail: &Detail, scale: Scale) -> Vec<Label> {
    let mut fonts = scale.letters.map(Font::of_size);
    let mut sizes = Vec::with_capacity(shown.len());
    let mut fitted = Vec::with_capacity(shown.len());
    for mark in shown {
        let both = fonts.each_mut().map(|font| (font.of(mark.label), font.size()));
        sizes.push(both.each_ref().map(|(glyphs, font)| font.size_of(glyphs)));
        fitted.push(both.map(|(glyphs, font)| Fitted { glyphs, font }));
    }
    let around = Surroundings { shown, detail, within: scale.image, gap: scale.gap };
    let places = label_layout::labels(&around, &sizes);
    fitted.into_iter().zip(places).map(|(fitted, place)| Label { fitted, place }).collect()
}

/// How large things are on an image, so that a model sees them in the same size on each.
#[derive(Debug, Clone, Copy)]
struct Scale {
    image: Size,
    /// The preferred font size in pixels per em, and the smaller one for where there is little
    /// room.
    letters: [i32; 2],
    /// The width of outlines in pixels.
    outline: i32,
    /// The distance of labels from what they must not hide.
    gap: i32,
    /// The side of the squares in which detail is looked for.
    cell: i32,
}

impl Scale {
    fn of(image: Size) -> Self {
        let sent = PixelLimits::VISION_MODELS.target(image);
        let (long, sent_long) = (image.width.max(image.height), sent.width.max(sent.height).max(1));
        // From hundredths of a pixel that a model sees to pixels of this image.
        let scaled = |hundredths: i32| {
            let pixels =
                (i64::from(hundredths) * i64::from(long) / i64::from(sent_long) + 50) / 100;
            i32::try_from(pixels).unwrap_or(i32::MAX)
        };
        let preferred = (sent.width.min(sent.height) * 100 / 48).clamp(1300, 1600);
        Self {
            image,
            letters: [scaled(preferred), scaled(preferred.min(1300) - 100)],
            outline: scaled(140).max(2),
            gap: scaled(200).max(2),
            cell: scaled(200).max(2),
        }
    }
}
