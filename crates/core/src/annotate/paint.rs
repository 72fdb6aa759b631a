//! Draws on pixels with integer arithmetic, so that every machine gets the same result.

use thumbwire_device::image::{Error, Pixels};
use thumbwire_device::{Point, Rect, Size};

use super::ControlFamily;
use super::font::{FontSize, Glyph};

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

    /// Draws a label in this box.
    pub(super) fn label(
        &mut self,
        place: Rect,
        label: &[Glyph],
        family: ControlFamily,
        letters: FontSize,
    ) {
        self.fill(place, family.colour());
        let base = place.top + letters.margin() + letters.capital();
        let mut pen = place.left + letters.side_margin();
        for glyph in label {
            let rows = glyph.coverage.chunks(usize::try_from(glyph.width).unwrap_or(1).max(1));
            for (y, row) in (base + glyph.top..).zip(rows) {
                for (x, &cover) in (pen + glyph.left..).zip(row) {
                    // A glyph such as `Q` extends below its line, and an image smaller than the box
                    // clips it.
                    let inside = place.contains(Point { x, y });
                    if let Some(pixel) = inside.then(|| self.row(y, x, x + 1)) {
                        blend(pixel, family.letters(), cover);
                    }
                }
            }
            pen += glyph.advance;
        }
    }

    /// Fills a rectangle; parts outside the image are clipped.
    pub(super) fn fill(&mut self, rect: Rect, colour: [u8; 3]) {
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

/// Blends `colour` over an opaque pixel, with the opacity `cover` of 255.
fn blend(pixel: &mut [u8], colour: [u8; 3], cover: u8) {
    let cover = u32::from(cover);
    for (old, new) in pixel.iter_mut().zip(colour) {
        let mixed = u32::from(*old) * (255 - cover) + u32::from(new) * cover;
        *old = ((mixed + 127) / 255) as u8;
    }
}
