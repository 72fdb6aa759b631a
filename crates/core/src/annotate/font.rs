//! Glyphs as coverage masks: rasterised outlines of the font.

use std::collections::HashMap;
use std::rc::Rc;

use skrifa::instance::{LocationRef, Size};
use skrifa::outline::{DrawSettings, OutlinePen};
use skrifa::{FontRef, GlyphId, MetadataProvider};
use tiny_skia::{FillRule, Mask, PathBuilder, Transform};

/// ASCII and the ellipsis of Roboto Medium; fonts/ORIGIN.md has its licence.
static FONT: &[u8] = include_bytes!("../../fonts/Roboto-Medium-subset.ttf");

/// The maximum length of a label in characters; longer ones end in an ellipsis.
const MAX_LENGTH: usize = 8;

/// The font at one size.
pub(super) struct Font {
    size: i32,
    known: HashMap<char, Glyph>,
}

/// A font size in pixels per em.
#[derive(Debug, Clone, Copy)]
pub(super) struct FontSize(i32);

/// A glyph: how much of each pixel it covers.
#[derive(Debug, Clone, Default)]
pub(super) struct Glyph {
    /// From the pen position to its left edge.
    pub(super) left: i32,
    /// From the baseline to its top; down is positive.
    pub(super) top: i32,
    pub(super) width: i32,
    /// 0 to 255, row by row from the top.
    pub(super) coverage: Rc<[u8]>,
    /// How far the pen advances.
    pub(super) advance: i32,
}

impl Font {
    /// The font at `size` pixels per em.
    pub(super) fn of_size(size: i32) -> Self {
        Self { size, known: HashMap::new() }
    }

    /// The glyphs of a label. Characters missing in the font, and control characters, become a box.
    pub(super) fn of(&mut self, label: &str) -> Vec<Glyph> {
        let long = label.chars().nth(MAX_LENGTH).is_some();
        let kept = label.chars().take(if long { MAX_LENGTH - 1 } else { MAX_LENGTH });
        kept.chain(long.then_some('\u{2026}')).map(|character| self.glyph(character)).collect()
    }

    /// The size, which decides how its labels are drawn.
    pub(super) fn size(&self) -> FontSize {
        FontSize(self.size)
    }

    fn glyph(&mut self, character: char) -> Glyph {
        // All missing characters share one box.
        let character =
            if character.is_ascii_graphic() || character == ' ' || character == '\u{2026}' {
                character
            } else {
                '\0'
            };
        let size = self.size;
        self.known.entry(character).or_insert_with(|| rasterise(character, size)).clone()
    }
}

impl FontSize {
    /// Width and height of a label's box; both 0 for an empty label.
    pub(super) fn size_of(self, label: &[Glyph]) -> (i32, i32) {
        if label.is_empty() {
            return (0, 0);
        }
        let across: i32 = label.iter().map(|glyph| glyph.advance).sum();
        (across + 2 * self.side_margin(), self.capital() + 2 * self.margin())
    }

    /// The padding to the left and right of a label's text: without it the edge of the box looks
    /// like a 1.
    pub(super) fn side_margin(self) -> i32 {
        (self.0 / 5).max(2)
    }

    /// The padding above and below it.
    pub(super) fn margin(self) -> i32 {
        (self.0 / 6).max(2)
    }

    /// The height of capitals and digits: 1456 of 2048 units in Roboto.
    pub(super) fn capital(self) -> i32 {
        (self.0 * 1456 + 1024) / 2048
    }
}

/// Rasterises a glyph's outline. A glyph that cannot be drawn is empty.
fn rasterise(character: char, size: i32) -> Glyph {
    let Ok(font) = FontRef::new(FONT) else { return Glyph::default() };
    let id = font.charmap().map(character).unwrap_or(GlyphId::NOTDEF);
    let scale = Size::new(size as f32);
    let place = LocationRef::default();
    let advance = font.glyph_metrics(scale, place).advance_width(id).unwrap_or_default();
    let empty = Glyph { advance: advance.round() as i32, ..Glyph::default() };
    let mut pen = Outline(PathBuilder::new());
    let drawn = font
        .outline_glyphs()
        .get(id)
        .and_then(|outline| outline.draw(DrawSettings::unhinted(scale, place), &mut pen).ok());
    let (Some(_), Some(path)) = (drawn, pen.0.finish()) else { return empty };
    let bounds = path.bounds();
    let (left, top) = (bounds.left().floor() as i32, bounds.top().floor() as i32);
    let width = bounds.right().ceil() as i32 - left;
    let height = bounds.bottom().ceil() as i32 - top;
    let side = |side: i32| u32::try_from(side.max(1)).unwrap_or(1);
    let Some(mut mask) = Mask::new(side(width), side(height)) else { return empty };
    let to_corner = Transform::from_translate(-left as f32, -top as f32);
    mask.fill_path(&path, FillRule::Winding, true, to_corner);
    Glyph { left, top, width: width.max(1), coverage: mask.take().into(), ..empty }
}

/// Builds a path from a glyph's outline, with the y axis pointing down.
struct Outline(PathBuilder);

impl OutlinePen for Outline {
    fn move_to(&mut self, x: f32, y: f32) {
        self.0.move_to(x, -y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.0.line_to(x, -y);
    }

    fn quad_to(&mut self, cx: f32, cy: f32, x: f32, y: f32) {
        self.0.quad_to(cx, -cy, x, -y);
    }

    fn curve_to(&mut self, ax: f32, ay: f32, bx: f32, by: f32, x: f32, y: f32) {
        self.0.cubic_to(ax, -ay, bx, -by, x, -y);
    }

    fn close(&mut self) {
        self.0.close();
    }
}
