//! Glyph coverage: outlines from the fonts, rasterised once and cached by the renderer.

use skrifa::instance::{LocationRef, Size};
use skrifa::outline::{DrawSettings, OutlinePen};
use skrifa::{FontRef, GlyphId, MetadataProvider};
use tiny_skia::{FillRule, Mask, PathBuilder, Transform};

use crate::colour::Colour;
use crate::text::Face;

/// Face, glyph, size in 64ths of a pixel, horizontal offset in quarters of a pixel.
pub(super) type GlyphKey = (Face, u32, u32, u8);

/// The coverage of one glyph around its origin.
pub(super) struct Raster {
    pub(super) left: i32,
    pub(super) top: i32,
    pub(super) width: i32,
    pub(super) height: i32,
    pub(super) coverage: Vec<u8>,
}

/// The glyph id of a character in a face.
pub(super) fn glyph_id(face: Face, ch: char) -> Option<u32> {
    Some(FontRef::new(face.bytes()).ok()?.charmap().map(ch)?.to_u32())
}

/// Rasterises a glyph, `size` pixels per em, shifted by `shift` pixels to the right.
pub(super) fn rasterise(face: Face, id: u32, size: f32, shift: f32) -> Raster {
    let empty = Raster { left: 0, top: 0, width: 0, height: 0, coverage: Vec::new() };
    let mut pen = Outline { path: PathBuilder::new(), shift };
    let drawn = FontRef::new(face.bytes()).ok().and_then(|font| {
        let outline = font.outline_glyphs().get(GlyphId::new(id))?;
        outline.draw(DrawSettings::unhinted(Size::new(size), LocationRef::default()), &mut pen).ok()
    });
    let (Some(_), Some(path)) = (drawn, pen.path.finish()) else { return empty };
    let bounds = path.bounds();
    let (left, top) = (bounds.left().floor() as i32, bounds.top().floor() as i32);
    let width = bounds.right().ceil() as i32 - left + 1;
    let height = bounds.bottom().ceil() as i32 - top + 1;
    let Some(mut mask) = Mask::new(width as u32, height as u32) else { return empty };
    let to_corner = Transform::from_translate(-left as f32, -top as f32);
    mask.fill_path(&path, FillRule::Winding, true, to_corner);
    Raster { left, top, width, height, coverage: mask.take() }
}

/// Collects a glyph's outline, with the y axis pointing down.
struct Outline {
    path: PathBuilder,
    shift: f32,
}

impl OutlinePen for Outline {
    fn move_to(&mut self, x: f32, y: f32) {
        self.path.move_to(x + self.shift, -y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        self.path.line_to(x + self.shift, -y);
    }

    fn quad_to(&mut self, cx: f32, cy: f32, x: f32, y: f32) {
        self.path.quad_to(cx + self.shift, -cy, x + self.shift, -y);
    }

    fn curve_to(&mut self, ax: f32, ay: f32, bx: f32, by: f32, x: f32, y: f32) {
        let shift = self.shift;
        self.path.cubic_to(ax + shift, -ay, bx + shift, -by, x + shift, -y);
    }

    fn close(&mut self) {
        self.path.close();
    }
}

/// Blends `colour` at `cover`/255 onto an opaque pixel (source-over), in integers so that every
/// machine paints the same.
pub(super) fn blend(pixel: &mut [u8], colour: Colour, cover: u8) {
    let alpha = u32::from(colour.alpha) * u32::from(cover) / 255;
    for (old, new) in pixel.iter_mut().zip([colour.red, colour.green, colour.blue]) {
        *old = ((u32::from(*old) * (255 - alpha) + u32::from(new) * alpha + 127) / 255) as u8;
    }
}
