//! From the screen's pixels to the encoded planes: scaled, centred, rotated, padded to whole
//! macroblocks.
//!
//! Start with [`Canvas::take`]. Colours are BT.709 in limited range, chroma at half size, as
//! Android's encoders get them from the screen.

use crate::frame::Frame;

/// The video's size and the placement of the screen in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Canvas {
    /// Pixels across; even.
    pub width: usize,
    /// Pixels down; even.
    pub height: usize,
    /// The screen is rotated a quarter turn to the left in it; players rotate it back.
    pub turned: bool,
}

/// A picture in planes, padded to whole macroblocks of 16 by 16.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Picture {
    /// Macroblocks per row.
    pub(super) across: usize,
    /// Macroblock rows.
    pub(super) down: usize,
    /// Rows of `across * 16` bytes.
    pub(super) luma: Vec<u8>,
    /// Blue and red, rows of `across * 8` bytes.
    pub(super) chroma: [Vec<u8>; 2],
}

/// A part of the video, in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Area {
    /// From the left edge.
    pub left: usize,
    /// From the top edge.
    pub top: usize,
    /// Across.
    pub width: usize,
    /// Down.
    pub height: usize,
}

impl Canvas {
    /// The position of a screen of that size in the upright video: as large as fits with its aspect
    /// ratio, centred. The arithmetic is that of `setDisplayProjection` in AOSP's
    /// `screenrecord.cpp`.
    pub fn content(&self, screen: (usize, usize)) -> Area {
        let (width, height) = self.upright();
        let aspect = screen.1.max(1) as f32 / screen.0.max(1) as f32;
        let tall = (width as f32 * aspect) as usize;
        let (wide, tall) =
            if height > tall { (width, tall) } else { ((height as f32 / aspect) as usize, height) };
        let (wide, tall) = (wide.clamp(1, width), tall.clamp(1, height));
        Area { left: (width - wide) / 2, top: (height - tall) / 2, width: wide, height: tall }
    }

    /// Converts a frame to the video's planes, with black around it.
    pub(super) fn take(&self, frame: &Frame) -> Picture {
        let (across, down) = (self.width.div_ceil(16), self.height.div_ceil(16));
        let (wide, tall) = (across * 16, down * 16);
        let small = self.scaled(frame);
        // Repeat the last row and column beyond the edge: that costs nothing to encode and is
        // cropped.
        let at = |x: usize, y: usize| {
            let (x, y) = (x.min(self.width - 1), y.min(self.height - 1));
            let from = (y * self.width + x) * 3;
            [0, 1, 2].map(|part| i32::from(small.get(from + part).copied().unwrap_or(0)))
        };
        let mut luma = Vec::with_capacity(wide * tall);
        for y in 0..tall {
            luma.extend((0..wide).map(|x| {
                let [r, g, b] = at(x, y);
                // Kr = 0.2126, Kb = 0.0722, times 219/255, in 16 bits.
                (16 + ((11_966 * r + 40_254 * g + 4_064 * b + 32_768) >> 16)) as u8
            }));
        }
        let mut chroma = [0, 1].map(|_| Vec::with_capacity(wide * tall / 4));
        for y in (0..tall).step_by(2) {
            for x in (0..wide).step_by(2) {
                let corners = [at(x, y), at(x + 1, y), at(x, y + 1), at(x + 1, y + 1)];
                let [r, g, b] = [0, 1, 2].map(|part| corners.iter().map(|c| c[part]).sum::<i32>());
                // Sum of four pixels, hence 18 bits.
                let blue = -6_596 * r - 22_189 * g + 28_784 * b + (1 << 17);
                let red = 28_784 * r - 26_145 * g - 2_639 * b + (1 << 17);
                chroma[0].push((128 + (blue >> 18)) as u8);
                chroma[1].push((128 + (red >> 18)) as u8);
            }
        }
        Picture { across, down, luma, chroma }
    }

    /// The size before rotation.
    fn upright(&self) -> (usize, usize) {
        if self.turned { (self.height, self.width) } else { (self.width, self.height) }
    }

    /// Red, green and blue of the video's pixels, each the mean of the screen pixels it covers.
    fn scaled(&self, frame: &Frame) -> Vec<u8> {
        let screen = (frame.width as usize, frame.height as usize);
        let area = self.content(screen);
        let columns = spans(screen.0, area.width);
        let rows = spans(screen.1, area.height);
        let mut rgb = vec![0; self.width * self.height * 3];
        for (y, (top, bottom)) in rows.iter().enumerate() {
            for (x, (left, right)) in columns.iter().enumerate() {
                let mut sum = [0_u32; 3];
                for row in *top..*bottom {
                    let from = (row * screen.0 + left) * 4;
                    let line = frame.rgba.get(from..from + (right - left) * 4).unwrap_or_default();
                    for pixel in line.chunks_exact(4) {
                        sum.iter_mut().zip(pixel).for_each(|(sum, part)| *sum += u32::from(*part));
                    }
                }
                let count = ((right - left) * (bottom - top)) as u32;
                let (x, y) = (area.left + x, area.top + y);
                let (x, y) = if self.turned { (y, self.height - 1 - x) } else { (x, y) };
                let at = (y * self.width + x) * 3;
                if let Some(pixel) = rgb.get_mut(at..at + 3) {
                    pixel.copy_from_slice(&sum.map(|sum| ((sum + count / 2) / count) as u8));
                }
            }
        }
        rgb
    }
}

impl Picture {
    /// A hash of a macroblock's content; different content collides with a probability of 2^-64.
    pub(super) fn mark(&self, x: usize, y: usize) -> u64 {
        let mut mark = 0x9e37_79b9_7f4a_7c15_u64;
        let mut add = |bytes: &[u8]| {
            for eight in bytes.chunks_exact(8) {
                let word = eight.iter().fold(0, |word, byte| word << 8 | u64::from(*byte));
                mark = (mark ^ word).wrapping_mul(0xff51_afd7_ed55_8ccd);
                mark ^= mark >> 32;
            }
        };
        for row in 0..16 {
            let from = (y * 16 + row) * self.across * 16 + x * 16;
            add(self.luma.get(from..from + 16).unwrap_or_default());
        }
        for plane in &self.chroma {
            for row in 0..8 {
                let from = (y * 8 + row) * self.across * 8 + x * 8;
                add(plane.get(from..from + 8).unwrap_or_default());
            }
        }
        mark
    }
}

/// Which of `from` positions map to each of `onto` positions; at least one each.
fn spans(from: usize, onto: usize) -> Vec<(usize, usize)> {
    (0..onto)
        .map(|at| {
            let begin = (at * from / onto).min(from.saturating_sub(1));
            (begin, ((at + 1) * from / onto).max(begin + 1))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn canvas(width: usize, height: usize) -> Canvas {
        Canvas { width, height, turned: false }
    }

    #[test]
    fn screen_keeps_its_aspect_ratio_and_is_centred() {
        let area = |left, top, width, height| Area { left, top, width, height };
        assert_eq!(canvas(1280, 720).content((1080, 2400)), area(478, 0, 323, 720));
        assert_eq!(canvas(540, 1200).content((1080, 2400)), area(0, 0, 540, 1200));
        assert_eq!(canvas(540, 1200).content((2400, 1080)), area(0, 478, 540, 243));
        let turned = Canvas { width: 1280, height: 720, turned: true };
        assert_eq!(turned.content((1080, 2400)), area(72, 0, 576, 1280));
    }

    #[test]
    fn colours_are_those_of_bt_709() {
        let plain = |rgb: [u8; 3]| {
            let frame =
                Frame { width: 2, height: 2, rgba: [rgb[0], rgb[1], rgb[2], 255].repeat(4) };
            let picture = canvas(2, 2).take(&frame);
            (picture.luma[0], picture.chroma[0][0], picture.chroma[1][0])
        };
        // ITU-R BT.709-6, table 4: the quantised levels of black, white and the primaries.
        assert_eq!(plain([0, 0, 0]), (16, 128, 128));
        assert_eq!(plain([255, 255, 255]), (235, 128, 128));
        assert_eq!(plain([255, 0, 0]), (63, 102, 240));
        assert_eq!(plain([0, 255, 0]), (173, 42, 26));
        assert_eq!(plain([0, 0, 255]), (32, 240, 118));
    }

    #[test]
    fn rotated_video_is_upright_after_a_right_turn() {
        // One row, white on the left: rotated to the left it is a column with white at the bottom.
        let rgba = [[255, 255, 255, 255], [0, 0, 0, 255]].concat();
        let frame = Frame { width: 2, height: 1, rgba };
        let picture = Canvas { width: 2, height: 4, turned: true }.take(&frame);
        assert_eq!((picture.luma[0], picture.luma[3 * 16]), (16, 235));
    }

    #[test]
    fn every_pixel_affects_the_macroblock_hash() {
        let frame = Frame { width: 32, height: 16, rgba: vec![255; 32 * 16 * 4] };
        let before = canvas(32, 16).take(&frame);
        let mut after = before.clone();
        after.chroma[1][9] ^= 1;
        assert_eq!(before.mark(0, 0), before.mark(1, 0));
        assert_eq!(before.mark(0, 0), after.mark(0, 0));
        assert_ne!(before.mark(1, 0), after.mark(1, 0));
    }
}
