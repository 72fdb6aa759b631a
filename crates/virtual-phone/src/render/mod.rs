//! From a scene to pixels.
//!
//! Begin with [`Renderer::frame`]. Boxes and drawings are filled by `tiny-skia`; glyphs are rasterised
//! once, kept, and blended. Nothing is decided here: where things stand, how they are clipped and what
//! colour they have is written in the scene.

mod glyphs;
mod paths;

use std::collections::HashMap;

use skrifa::instance::{LocationRef, Size};
use skrifa::{FontRef, MetadataProvider};
use tiny_skia::{
    Color, FillRule, LineCap, LineJoin, Mask, Paint, Path, PathBuilder, Pixmap, Stroke, Transform,
};

use self::glyphs::{GlyphKey, Raster, blend, glyph_id, rasterise};
use self::paths::{gradient, rounded, solid, through};
use crate::world::geometry::Rect;
use crate::world::picture::{Mark, Picture};
use crate::world::scene::{Ink, Inked, Node, Scene};
use crate::world::text::{Face, Shaped};
use crate::world::theme::Colour;

/// One screen of pixels, rows from the top, four bytes each: red, green, blue, alpha (always 255).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// Pixels across.
    pub width: u32,
    /// Pixels down.
    pub height: u32,
    /// `width * height * 4` bytes.
    pub rgba: Vec<u8>,
}

impl Frame {
    /// A frame of one grey, as a screen that is off (0).
    pub(crate) fn blank(width: i32, height: i32) -> Self {
        let (width, height) = (width.max(1) as u32, height.max(1) as u32);
        let pixels = width as usize * height as usize;
        Self { width, height, rgba: [0, 0, 0, 255].repeat(pixels) }
    }

    /// Red, green and blue of the pixel at `x`, `y`; `None` outside.
    pub fn pixel(&self, x: i32, y: i32) -> Option<[u8; 3]> {
        let (x, y) = (u32::try_from(x).ok()?, u32::try_from(y).ok()?);
        if x >= self.width || y >= self.height {
            return None;
        }
        let at = (y as usize * self.width as usize + x as usize) * 4;
        self.rgba.get(at..at + 3)?.try_into().ok()
    }
}

/// Glyphs kept before the cache starts anew; about a kilobyte each.
const GLYPHS: usize = 4096;

/// Paints scenes and keeps rasterised glyphs between frames.
#[derive(Default)]
pub(crate) struct Renderer {
    // Only looked up, never iterated: its random order cannot show.
    glyphs: HashMap<GlyphKey, Raster>,
}

impl Renderer {
    /// Paints `scene`. The frame has the size of the scene's display.
    pub(crate) fn frame(&mut self, scene: &Scene) -> Frame {
        let (width, height) = (scene.display.width, scene.display.height);
        let Some(pixmap) = Pixmap::new(width.max(1) as u32, height.max(1) as u32) else {
            return Frame::blank(width, height);
        };
        let mut canvas = Canvas { pixmap, glyphs: &mut self.glyphs, masks: Vec::new() };
        canvas.pixmap.fill(Color::BLACK);
        for window in &scene.windows {
            canvas.node(&window.root);
        }
        let rgba = canvas.pixmap.take();
        Frame { width: width.max(1) as u32, height: height.max(1) as u32, rgba }
    }
}

struct Canvas<'a> {
    pixmap: Pixmap,
    glyphs: &'a mut HashMap<GlyphKey, Raster>,
    /// The last few clips that needed a mask.
    masks: Vec<((Rect, u32), Mask)>,
}

impl Canvas<'_> {
    fn node(&mut self, node: &Node) {
        for inked in &node.inks {
            self.ink(inked);
        }
        for child in &node.children {
            self.node(child);
        }
    }

    fn ink(&mut self, inked: &Inked) {
        let clip = inked.clip.intersect(&self.bounds());
        if clip.is_empty() {
            return;
        }
        match &inked.ink {
            Ink::Shadow { rect, radius, depth } => self.shadow(*rect, *radius, *depth, clip),
            Ink::Fill { rect, radius, colour } => self.slab(*rect, *radius, solid(*colour), clip),
            Ink::Gradient { rect, radius, from, to } => {
                self.slab(*rect, *radius, gradient(*rect, *from, *to), clip);
            }
            Ink::Stroke { rect, radius, width, colour } => {
                // The line lies wholly inside the box, so half of it is taken off each side.
                let half = width / 2.0;
                let edges = [
                    rect.left as f32 + half,
                    rect.top as f32 + half,
                    rect.right as f32 - half,
                    rect.bottom as f32 - half,
                ];
                if let Some(path) = rounded(edges, (radius - half).max(0.0)) {
                    let stroke = Stroke { width: *width, ..Stroke::default() };
                    self.line(&path, &stroke, solid(*colour), *rect, clip);
                }
            }
            Ink::Text { x, y, shaped, colour, across, align } => {
                self.text(*x, *y, shaped, *colour, *across, *align, clip);
            }
            Ink::Picture { rect, radius, scale, picture } => {
                let clip = clip.intersect(rect);
                self.picture(*rect, *radius, *scale, picture, clip);
            }
        }
    }

    fn bounds(&self) -> Rect {
        Rect::new(0, 0, self.pixmap.width() as i32, self.pixmap.height() as i32)
    }

    /// A soft shadow, cast a little downwards: layers of faint, ever larger slabs.
    fn shadow(&mut self, rect: Rect, radius: f32, depth: f32, clip: Rect) {
        let layers = 7;
        for layer in (1..=layers).rev() {
            let spread = depth * layer as f32 / layers as f32;
            let edges = [
                rect.left as f32 - spread,
                rect.top as f32 - spread + depth * 0.45,
                rect.right as f32 + spread,
                rect.bottom as f32 + spread + depth * 0.45,
            ];
            let reach = rect.grown((depth * 1.5).ceil() as i32 + 1);
            if let Some(path) = rounded(edges, radius + spread) {
                self.area(&path, solid(Colour::hex(0x1B2A41).alpha(8)), reach, clip);
            }
        }
    }

    fn slab(&mut self, rect: Rect, radius: f32, paint: Paint<'_>, clip: Rect) {
        if radius < 0.5 {
            let seen = rect.intersect(&clip);
            let (width, height) = (seen.width() as f32, seen.height() as f32);
            let sharp =
                tiny_skia::Rect::from_xywh(seen.left as f32, seen.top as f32, width, height);
            if let (Some(sharp), false) = (sharp, seen.is_empty()) {
                let paint = Paint { anti_alias: false, ..paint };
                self.pixmap.fill_rect(sharp, &paint, Transform::identity(), None);
            }
            return;
        }
        let edges = [rect.left as f32, rect.top as f32, rect.right as f32, rect.bottom as f32];
        if let Some(path) = rounded(edges, radius) {
            self.area(&path, paint, rect, clip);
        }
    }

    fn area(&mut self, path: &Path, paint: Paint<'_>, reach: Rect, clip: Rect) {
        let mask = self.mask(reach, clip, 0.0);
        let mask = mask.map(|at| &self.masks[at].1);
        self.pixmap.fill_path(path, &paint, FillRule::Winding, Transform::identity(), mask);
    }

    fn line(&mut self, path: &Path, stroke: &Stroke, paint: Paint<'_>, reach: Rect, clip: Rect) {
        let mask = self.mask(reach, clip, 0.0);
        let mask = mask.map(|at| &self.masks[at].1);
        self.pixmap.stroke_path(path, &paint, stroke, Transform::identity(), mask);
    }

    /// The mask for ink that may reach as far as `reach`; `None` when `clip` cuts nothing off.
    fn mask(&mut self, reach: Rect, clip: Rect, radius: f32) -> Option<usize> {
        let visible = reach.intersect(&self.bounds());
        if radius < 0.5 && clip.encloses(&visible) {
            return None;
        }
        let key = (clip, radius.to_bits());
        if let Some(at) = self.masks.iter().position(|(known, _)| *known == key) {
            return Some(at);
        }
        let mut mask = Mask::new(self.pixmap.width(), self.pixmap.height())?;
        let edges = [clip.left as f32, clip.top as f32, clip.right as f32, clip.bottom as f32];
        mask.fill_path(
            &rounded(edges, radius)?,
            FillRule::Winding,
            radius > 0.0,
            Transform::identity(),
        );
        if self.masks.len() >= 8 {
            self.masks.remove(0);
        }
        self.masks.push((key, mask));
        Some(self.masks.len() - 1)
    }

    #[expect(clippy::too_many_arguments, reason = "the fields of one ink")]
    fn text(
        &mut self,
        x: f32,
        y: f32,
        shaped: &Shaped,
        colour: Colour,
        across: f32,
        align: f32,
        clip: Rect,
    ) {
        for line in &shaped.lines {
            let align = if line.rtl { 1.0 } else { align };
            let start = x + ((across - line.width) * align).max(0.0).round();
            for glyph in &line.glyphs {
                self.glyph(
                    glyph.face,
                    glyph.id,
                    shaped.size,
                    start + glyph.x,
                    y + glyph.y,
                    colour,
                    clip,
                );
            }
        }
    }

    #[expect(clippy::too_many_arguments, reason = "a glyph's name, place and paint")]
    fn glyph(
        &mut self,
        face: Face,
        id: u32,
        size: f32,
        x: f32,
        y: f32,
        colour: Colour,
        clip: Rect,
    ) {
        let quarter = ((x - x.floor()) * 4.0) as u8;
        let key = (face, id, (size * 64.0) as u32, quarter);
        if self.glyphs.len() >= GLYPHS {
            self.glyphs.clear();
        }
        let raster = self
            .glyphs
            .entry(key)
            .or_insert_with(|| rasterise(face, id, size, f32::from(quarter) / 4.0));
        let origin = (x.floor() as i32 + raster.left, y.round() as i32 + raster.top);
        let place =
            Rect::new(origin.0, origin.1, origin.0 + raster.width, origin.1 + raster.height);
        let seen = place.intersect(&clip);
        if seen.is_empty() {
            return;
        }
        let stride = self.pixmap.width() as usize;
        let data = self.pixmap.data_mut();
        for row in seen.top..seen.bottom {
            let from = ((row - place.top) * raster.width + seen.left - place.left) as usize;
            let coverage = &raster.coverage[from..from + seen.width() as usize];
            let at = (row as usize * stride + seen.left as usize) * 4;
            let pixels = data[at..at + seen.width() as usize * 4].chunks_exact_mut(4);
            for (pixel, &cover) in pixels.zip(coverage) {
                if cover > 0 {
                    blend(pixel, colour, cover);
                }
            }
        }
    }

    fn picture(&mut self, rect: Rect, radius: f32, scale: f32, picture: &Picture, clip: Rect) {
        // A picture that fills the screen needs no mask: the edge of the frame cuts it.
        let reach = if rect.encloses(&self.bounds()) { self.bounds() } else { rect.grown(1) };
        let mask = self.mask(reach, clip, radius);
        let at = |(x, y): (f32, f32)| (rect.left as f32 + x * scale, rect.top as f32 + y * scale);
        for mark in &picture.marks {
            let mask = mask.map(|index| &self.masks[index].1);
            let paint = |colour: &Colour| solid(*colour);
            let here = Transform::identity();
            match mark {
                Mark::Ground(colour) => {
                    let edges =
                        [rect.left, rect.top, rect.right, rect.bottom].map(|edge| edge as f32);
                    if let Some(path) = rounded(edges, 0.0) {
                        self.pixmap.fill_path(&path, &paint(colour), FillRule::Winding, here, mask);
                    }
                }
                Mark::Area { points, colour, smooth } => {
                    if let Some(path) =
                        through(points.iter().map(|&point| at(point)), *smooth, true)
                    {
                        self.pixmap.fill_path(&path, &paint(colour), FillRule::Winding, here, mask);
                    }
                }
                Mark::Line { points, width, colour, smooth } => {
                    let stroke = Stroke {
                        width: width * scale,
                        line_cap: LineCap::Round,
                        line_join: LineJoin::Round,
                        ..Stroke::default()
                    };
                    if let Some(path) =
                        through(points.iter().map(|&point| at(point)), *smooth, false)
                    {
                        self.pixmap.stroke_path(&path, &paint(colour), &stroke, here, mask);
                    }
                }
                Mark::Dot { at: centre, radius, colour } => {
                    let (x, y) = at(*centre);
                    if let Some(path) = PathBuilder::from_circle(x, y, radius * scale) {
                        self.pixmap.fill_path(&path, &paint(colour), FillRule::Winding, here, mask);
                    }
                }
                Mark::Slab { at: corner, size, radius, colour } => {
                    let (left, top) = at(*corner);
                    let edges = [left, top, left + size.0 * scale, top + size.1 * scale];
                    if let Some(path) = rounded(edges, radius * scale) {
                        self.pixmap.fill_path(&path, &paint(colour), FillRule::Winding, here, mask);
                    }
                }
                Mark::Icon { at: centre, icon, size, colour } => {
                    let size = (size * scale).round();
                    let (x, y) = at(*centre);
                    if let Some(id) = glyph_id(Face::Icons, icon.code_point()) {
                        let (x, y) = ((x - size / 2.0).round(), (y + size / 2.0).round());
                        self.glyph(Face::Icons, id, size, x, y, *colour, clip);
                    }
                }
                Mark::Label { at: centre, text, size, colour } => {
                    self.label(at(*centre), text, size * scale, *colour, clip);
                }
            }
        }
    }

    /// A short label with a white rim, so that it can be read on any ground.
    fn label(&mut self, centre: (f32, f32), text: &str, size: f32, colour: Colour, clip: Rect) {
        let Ok(font) = FontRef::new(Face::Medium.bytes()) else { return };
        let metrics = font.glyph_metrics(Size::new(size), LocationRef::default());
        let map = font.charmap();
        let glyphs: Vec<(u32, f32)> = text
            .chars()
            .filter_map(|ch| map.map(ch))
            .map(|id| (id.to_u32(), metrics.advance_width(id).unwrap_or(0.0)))
            .collect();
        let width: f32 = glyphs.iter().map(|(_, advance)| advance).sum();
        let rim = (size / 12.0).max(1.0);
        let white = Colour::hex(0xFFFFFF).alpha(200);
        let passes = [(-rim, 0.0, white), (rim, 0.0, white), (0.0, -rim, white), (0.0, rim, white)];
        for (dx, dy, colour) in passes.into_iter().chain([(0.0, 0.0, colour)]) {
            let mut x = (centre.0 - width / 2.0).round() + dx;
            for (id, advance) in &glyphs {
                self.glyph(Face::Medium, *id, size, x, centre.1 + size * 0.35 + dy, colour, clip);
                x += advance;
            }
        }
    }
}
