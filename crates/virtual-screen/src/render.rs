//! From paint operations to pixels.
//!
//! Start with [`paint`]. `tiny-skia` fills boxes and drawings; glyphs are rasterised
//! once, cached, and blended. Nothing is decided here: positions, clips and colours are in the
//! operations.

mod glyphs;
mod paths;

use std::cell::RefCell;
use std::collections::HashMap;
use std::mem::take;

use skrifa::instance::{LocationRef, Size};
use skrifa::{FontRef, MetadataProvider};
use tiny_skia::{
    FillRule, IntSize, LineCap, LineJoin, Mask, Paint, Path, PathBuilder, Pixmap, PixmapPaint,
    Stroke, Transform,
};

use self::glyphs::{GlyphKey, Raster, blend, glyph_id, rasterise};
use self::paths::{between, gradient, ring, rounded, segments, solid, through};
use crate::colour::Colour;
use crate::frame::Frame;
use crate::geometry::Rect;
use crate::paint::{ClippedOp, PaintOp};
use crate::picture::{Mark, Picture};
use crate::text::{Face, ShapedText};

/// Maximum cached glyphs before the cache is cleared; about a kilobyte each.
const GLYPHS: usize = 4096;

thread_local! {
    /// The cache belongs to a thread, not to a phone: glyphs are the same on every phone, and a
    /// process may serve hundreds of them. Only looked up, never iterated, so its random order does
    /// not matter.
    static RASTERS: RefCell<HashMap<GlyphKey, Raster>> = RefCell::default();
}

/// Paints operations, from the back to the front, on black.
pub fn paint<'a>(
    (width, height): (i32, i32),
    ops: impl IntoIterator<Item = &'a ClippedOp>,
) -> Frame {
    let mut frame = Frame::blank(width, height);
    let size = IntSize::from_wh(frame.width, frame.height);
    let pixmap = size.and_then(|size| Pixmap::from_vec(take(&mut frame.rgba), size));
    let Some(pixmap) = pixmap else { return Frame::blank(width, height) };
    frame.rgba = RASTERS.with_borrow_mut(|glyphs| {
        let mut canvas = Canvas { pixmap, glyphs, masks: Vec::new() };
        for op in ops {
            canvas.ink(op);
        }
        canvas.pixmap.take()
    });
    frame
}

struct Canvas<'a> {
    pixmap: Pixmap,
    glyphs: &'a mut HashMap<GlyphKey, Raster>,
    /// The last few clips that needed a mask.
    masks: Vec<(Rect, Mask)>,
}

impl Canvas<'_> {
    fn ink(&mut self, inked: &ClippedOp) {
        let clip = inked.clip.intersect(&self.bounds());
        if clip.is_empty() {
            return;
        }
        match &inked.ink {
            PaintOp::Shadow { rect, radius, depth } => self.shadow(*rect, *radius, *depth, clip),
            PaintOp::Fill { rect, radius, colour } => {
                self.slab(*rect, *radius, solid(*colour), clip)
            }
            PaintOp::Gradient { rect, radius, from, to } if *radius < 0.5 => {
                // Row by row is many times faster than a shader, and the same on every machine.
                let seen = rect.intersect(&clip);
                for row in seen.top..seen.bottom {
                    let line = Rect { top: row, bottom: row + 1, ..seen };
                    let colour = between(*from, *to, row - rect.top, rect.height());
                    self.slab(line, 0.0, solid(colour), clip);
                }
            }
            PaintOp::Gradient { rect, radius, from, to } => {
                self.slab(*rect, *radius, gradient(*rect, *from, *to), clip);
            }
            PaintOp::Stroke { rect, radius, width, colour } => {
                // The border is inside the box, so half of it is inset on each side.
                let half = width / 2.0;
                let edges = [
                    rect.left as f32 + half,
                    rect.top as f32 + half,
                    rect.right as f32 - half,
                    rect.bottom as f32 - half,
                ];
                if let Some(path) = rounded(edges, (radius - half).max(0.0)) {
                    let stroke = Stroke { width: *width, ..Stroke::default() };
                    let mask = self.mask(*rect, clip);
                    self.stroke(&path, &stroke, solid(*colour), mask);
                }
            }
            PaintOp::Text { x, y, shaped, colour, across, align } => {
                self.text(*x, *y, shaped, *colour, *across, *align, clip);
            }
            PaintOp::Picture { rect, radius, scale, picture } => {
                self.picture(*rect, *radius, *scale, picture, clip);
            }
        }
    }

    fn bounds(&self) -> Rect {
        Rect::new(0, 0, self.pixmap.width() as i32, self.pixmap.height() as i32)
    }

    /// A soft shadow, slightly below: layers of faint, growing rectangles.
    fn shadow(&mut self, rect: Rect, radius: f32, depth: f32, clip: Rect) {
        let layers = 7;
        // The box covers the middle, so that is omitted.
        let inside = [
            rect.left as f32 + 1.0,
            rect.top as f32 + 1.0,
            rect.right as f32 - 1.0,
            rect.bottom as f32 - 1.0,
        ];
        for layer in (1..=layers).rev() {
            let spread = depth * layer as f32 / layers as f32;
            let edges = [
                rect.left as f32 - spread,
                rect.top as f32 - spread + depth * 0.45,
                rect.right as f32 + spread,
                rect.bottom as f32 + spread + depth * 0.45,
            ];
            let reach = rect.grown((depth * 1.5).ceil() as i32 + 1);
            if let Some(path) = ring(edges, radius + spread, inside, (radius - 1.0).max(0.0)) {
                let paint = solid(Colour::hex(0x1B2A41).alpha(8));
                let mask = self.mask(reach, clip);
                let mask = mask.map(|at| &self.masks[at].1);
                let here = Transform::identity();
                self.pixmap.fill_path(&path, &paint, FillRule::EvenOdd, here, mask);
            }
        }
    }

    fn slab(&mut self, rect: Rect, radius: f32, paint: Paint<'_>, clip: Rect) {
        if radius < 0.5 {
            self.flat(rect.intersect(&clip), paint, None);
            return;
        }
        let edges = [rect.left, rect.top, rect.right, rect.bottom].map(|edge| edge as f32);
        if let Some(path) = rounded(edges, radius) {
            let mask = self.mask(rect, clip);
            self.fill(&path, paint, mask);
        }
    }

    /// Fills whole pixels.
    fn flat(&mut self, rect: Rect, paint: Paint<'_>, mask: Option<usize>) {
        let (left, top) = (rect.left as f32, rect.top as f32);
        let (width, height) = (rect.width() as f32, rect.height() as f32);
        let sharp = tiny_skia::Rect::from_xywh(left, top, width, height);
        if let (Some(sharp), false) = (sharp, rect.is_empty()) {
            let paint = Paint { anti_alias: false, ..paint };
            let mask = mask.map(|at| &self.masks[at].1);
            self.pixmap.fill_rect(sharp, &paint, Transform::identity(), mask);
        }
    }

    fn fill(&mut self, path: &Path, paint: Paint<'_>, mask: Option<usize>) {
        let mask = mask.map(|at| &self.masks[at].1);
        self.pixmap.fill_path(path, &paint, FillRule::Winding, Transform::identity(), mask);
    }

    fn stroke(&mut self, path: &Path, stroke: &Stroke, paint: Paint<'_>, mask: Option<usize>) {
        let mask = mask.map(|at| &self.masks[at].1);
        self.pixmap.stroke_path(path, &paint, stroke, Transform::identity(), mask);
    }

    /// The mask for painting up to `reach`; `None` if `clip` cuts nothing off.
    fn mask(&mut self, reach: Rect, clip: Rect) -> Option<usize> {
        let visible = reach.intersect(&self.bounds());
        if clip.encloses(&visible) {
            return None;
        }
        if let Some(at) = self.masks.iter().position(|(known, _)| *known == clip) {
            return Some(at);
        }
        let mut mask = Mask::new(self.pixmap.width(), self.pixmap.height())?;
        let stride = self.pixmap.width() as usize;
        for row in
            mask.data_mut().chunks_mut(stride).take(clip.bottom as usize).skip(clip.top as usize)
        {
            row[clip.left as usize..clip.right as usize].fill(255);
        }
        if self.masks.len() >= 8 {
            self.masks.remove(0);
        }
        self.masks.push((clip, mask));
        Some(self.masks.len() - 1)
    }

    #[expect(clippy::too_many_arguments, reason = "the fields of one paint operation")]
    fn text(
        &mut self,
        x: f32,
        y: f32,
        shaped: &ShapedText,
        colour: Colour,
        across: f32,
        align: f32,
        clip: Rect,
    ) {
        for line in &shaped.lines {
            // It starts at the right, unless centred.
            let align = if line.rtl && align == 0.0 { 1.0 } else { align };
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

    #[expect(clippy::too_many_arguments, reason = "a glyph's id, position and paint")]
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

    /// Paints a picture on its own canvas and copies it, so that none of its marks needs a mask;
    /// unless the frame's edges clip it anyway.
    fn picture(&mut self, rect: Rect, radius: f32, scale: f32, picture: &Picture, clip: Rect) {
        let seen = rect.intersect(&clip);
        if seen.is_empty() {
            return;
        }
        if seen == self.bounds() && radius < 0.5 {
            self.marks((rect.left, rect.top), rect, scale, picture);
            return;
        }
        let Some(sheet) = Pixmap::new(seen.width() as u32, seen.height() as u32) else { return };
        let mut sheet = Canvas { pixmap: sheet, glyphs: &mut *self.glyphs, masks: Vec::new() };
        let corner = (rect.left - seen.left, rect.top - seen.top);
        let whole =
            Rect::new(corner.0, corner.1, corner.0 + rect.width(), corner.1 + rect.height());
        sheet.marks(corner, whole, scale, picture);
        let mut sheet = sheet.pixmap;
        let opaque =
            matches!(picture.marks.first(), Some(Mark::Ground(colour)) if colour.alpha == 255);
        if radius < 0.5 && opaque {
            let stride = self.pixmap.width() as usize * 4;
            let bytes = seen.width() as usize * 4;
            let from = seen.top as usize * stride + seen.left as usize * 4;
            let rows = self.pixmap.data_mut()[from..].chunks_mut(stride);
            for (row, line) in rows.zip(sheet.data().chunks_exact(bytes)) {
                row[..bytes].copy_from_slice(line);
            }
            return;
        }
        let edges = [whole.left, whole.top, whole.right, whole.bottom].map(|edge| edge as f32);
        if let (Some(mut mask), Some(path)) =
            (Mask::new(sheet.width(), sheet.height()), rounded(edges, radius))
        {
            mask.fill_path(&path, FillRule::Winding, true, Transform::identity());
            sheet.apply_mask(&mask);
        }
        let paint = PixmapPaint::default();
        let (left, top) = (seen.left, seen.top);
        self.pixmap.draw_pixmap(left, top, sheet.as_ref(), &paint, Transform::identity(), None);
    }

    /// Paints a picture's marks, clipped only by this canvas.
    fn marks(&mut self, corner: (i32, i32), rect: Rect, scale: f32, picture: &Picture) {
        let clip = self.bounds();
        let at = |(x, y): (f32, f32)| (corner.0 as f32 + x * scale, corner.1 as f32 + y * scale);
        for mark in &picture.marks {
            match mark {
                Mark::Ground(colour) => {
                    self.flat(rect.intersect(&clip), solid(*colour), None);
                }
                Mark::Area { points, colour, smooth } => {
                    if let Some(path) =
                        through(points.iter().map(|&point| at(point)), *smooth, true)
                    {
                        self.fill(&path, solid(*colour), None);
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
                        self.stroke(&path, &stroke, solid(*colour), None);
                    }
                }
                Mark::Lines { lines, width, colour } => {
                    let stroke = Stroke { width: width * scale, ..Stroke::default() };
                    let ends = lines.iter().map(|line| line.map(at));
                    if let Some(path) = segments(ends) {
                        self.stroke(&path, &stroke, solid(*colour), None);
                    }
                }
                Mark::Dot { at: centre, radius, colour } => {
                    let (x, y) = at(*centre);
                    if let Some(path) = PathBuilder::from_circle(x, y, radius * scale) {
                        self.fill(&path, solid(*colour), None);
                    }
                }
                Mark::RoundRect { at: corner, size, radius, colour } => {
                    let (left, top) = at(*corner);
                    let edges = [left, top, left + size.0 * scale, top + size.1 * scale];
                    if *radius == 0.0 {
                        let [left, top, right, bottom] = edges.map(|edge| edge.round() as i32);
                        let flat = Rect { left, top, right, bottom }.intersect(&clip);
                        self.flat(flat, solid(*colour), None);
                    } else if let Some(path) = rounded(edges, radius * scale) {
                        self.fill(&path, solid(*colour), None);
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

    /// A short label with a white outline, readable on any background.
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
