//! Draws on pixels with integer arithmetic, so that every machine gets the same result.

use thumbwire_device::image::{Error, Pixels};
use thumbwire_device::{Point, Rect, Size};

use super::font::{Font, Glyph};
use super::{ControlFamily, VisibleMark};

/// The outline width in pixels, as in UFO.
const OUTLINE: i32 = 2;

/// The opacity of a tint, of 255: visible on white, but the content below stays readable.
const TINT: u8 = 40;

/// Pixels to draw on.
pub(super) struct Canvas {
    size: Size,
    rgb: Vec<u8>,
}

impl Canvas {
    /// A copy of these pixels.
    pub(super) fn on(pixels: &Pixels) -> Self {
        Self { size: pixels.size(), rgb: pixels.rgb().to_vec() }
    }

    /// The result.
    pub(super) fn finish(self) -> Result<Pixels, Error> {
        let side = |side: i32| u32::try_from(side).unwrap_or_default();
        let (width, height) = (side(self.size.width), side(self.size.height));
        Pixels::new(width, height, self.rgb).ok_or(Error::Size { width, height })
    }

    /// Tints each pixel in the colour of the first mark that contains it. Rows between two edges have the same spans,
    /// so these are computed once per band; each pixel is visited once, however many marks contain it.
    pub(super) fn tint(&mut self, shown: &[VisibleMark<'_>]) {
        let mut edges: Vec<i32> =
            shown.iter().flat_map(|mark| [mark.rect.top, mark.rect.bottom]).collect();
        edges.sort_unstable();
        edges.dedup();
        for band in edges.windows(2) {
            let (top, bottom) = (band[0], band[1]);
            let there =
                |mark: &&VisibleMark<'_>| mark.rect.top <= top && mark.rect.bottom >= bottom;
            let spans = spans(shown.iter().filter(there), self.size.width);
            for y in top..bottom {
                for (left, right, family) in &spans {
                    let colour = family.colour();
                    for pixel in self.row(y, *left, *right).chunks_exact_mut(3) {
                        blend(pixel, colour, TINT);
                    }
                }
            }
        }
    }

    /// Draws an outline inside a rectangle that is on the image.
    pub(super) fn outline(&mut self, rect: Rect, colour: [u8; 3]) {
        let Rect { left, top, right, bottom } = rect;
        let (across, down) = (OUTLINE.min(right - left), OUTLINE.min(bottom - top));
        self.fill(Rect { bottom: top + down, ..rect }, colour);
        self.fill(Rect { top: bottom - down, ..rect }, colour);
        self.fill(Rect { right: left + across, ..rect }, colour);
        self.fill(Rect { left: right - across, ..rect }, colour);
    }

    /// Draws a label in this box.
    pub(super) fn label(
        &mut self,
        place: Rect,
        label: &[Glyph],
        family: ControlFamily,
        letters: &Font,
    ) {
        self.fill(place, family.colour());
        let base = place.top + letters.margin() + letters.capital();
        let mut pen = place.left + letters.margin();
        for glyph in label {
            let rows = glyph.coverage.chunks(usize::try_from(glyph.width).unwrap_or(1).max(1));
            for (y, row) in (base + glyph.top..).zip(rows) {
                for (x, &cover) in (pen + glyph.left..).zip(row) {
                    // A glyph such as `Q` extends below its line, and an image smaller than the box clips it.
                    let inside = place.contains(Point { x, y });
                    if let Some(pixel) = inside.then(|| self.row(y, x, x + 1)) {
                        blend(pixel, family.letters(), cover);
                    }
                }
            }
            pen += glyph.advance;
        }
    }

    fn fill(&mut self, rect: Rect, colour: [u8; 3]) {
        for y in rect.top..rect.bottom {
            for pixel in self.row(y, rect.left, rect.right).chunks_exact_mut(3) {
                pixel.copy_from_slice(&colour);
            }
        }
    }

    /// The pixels of a row from `left` up to `right`, exclusive; empty outside the image.
    fn row(&mut self, y: i32, left: i32, right: i32) -> &mut [u8] {
        let Size { width, height } = self.size;
        let (left, right) = (left.clamp(0, width), right.clamp(0, width));
        if !(0..height).contains(&y) || left >= right {
            return &mut [];
        }
        let at = |x: i32| (y as usize * width as usize + x as usize) * 3;
        &mut self.rgb[at(left)..at(right)]
    }
}

/// The spans of a row: start, exclusive end, family. If marks overlap, the first one wins.
fn spans<'a>(
    holders: impl Iterator<Item = &'a VisibleMark<'a>>,
    width: i32,
) -> Vec<(i32, i32, ControlFamily)> {
    let mut taken: Vec<(i32, i32, ControlFamily)> = Vec::new();
    // Union-find over columns: each points at a later one that may be free, and a free column at itself. With path
    // compression each taken column is passed about once, however many marks there are.
    let mut next: Vec<i32> = (0..=width).collect();
    let mut left_over = width;
    for holder in holders {
        if left_over == 0 {
            break;
        }
        let mut at = free(&mut next, holder.rect.left);
        while at < holder.rect.right {
            match taken.last_mut() {
                Some((_, end, family)) if *end == at && *family == holder.family => *end += 1,
                _ => taken.push((at, at + 1, holder.family)),
            }
            next[at as usize] = at + 1;
            left_over -= 1;
            at = free(&mut next, at + 1);
        }
    }
    taken
}

/// The first free column at or after `from`; the width if there is none.
fn free(next: &mut [i32], from: i32) -> i32 {
    let mut at = from as usize;
    while next[at] != at as i32 {
        next[at] = next[next[at] as usize];
        at = next[at] as usize;
    }
    at as i32
}

/// Blends `colour` over an opaque pixel, with the opacity `cover` of 255.
fn blend(pixel: &mut [u8], colour: [u8; 3], cover: u8) {
    let cover = u32::from(cover);
    for (old, new) in pixel.iter_mut().zip(colour) {
        let mixed = u32::from(*old) * (255 - cover) + u32::from(new) * cover;
        *old = ((mixed + 127) / 255) as u8;
    }
}
