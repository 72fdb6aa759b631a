//! Detects screenshots that show nothing.
//!
//! Runs on every screenshot, so it is cheap for all that show something: a black image is a small
//! file, and only small files are decoded. Why a screenshot is black is for the phone to tell, see
//! [`super::BlackReason`].

use super::{Image, Pixels};
use crate::Size;

/// How black an image is below its status bar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blackness {
    /// It shows something.
    No,
    /// Almost entirely black: a clock, a bar or a little text is left.
    Nearly,
    /// Entirely black.
    Whole,
}

/// A PNG with more pixels per byte than this may be black. In 19 screenshots of real phones, the
/// black ones have 174 to 339 pixels per byte, the others 5 to 63; a fast encoder gets 42 for a
/// black image. A JPEG of a black image has 64: four bytes for
/// 16 x 16 pixels.
const PIXELS_A_BYTE: u64 = 32;

/// Allowance for the fixed parts of a file and a color profile.
const FIXED: u64 = 4096;

/// Fraction of the height, from the top, in which a status bar may be visible.
const TOP: f64 = 0.1;

/// Fractions that must be black for [`Blackness::Nearly`] and [`Blackness::Whole`]. A secure
/// window's keyboard or navigation bar stays visible.
const NEARLY: f64 = 0.9;
const WHOLE: f64 = 0.999;

/// Whether an image may be black, judged by its file size alone.
pub fn may_be_black(image: &Image, size: Size) -> bool {
    let side = |side: i32| u64::try_from(side).unwrap_or(0);
    let pixels = side(size.width) * side(size.height);
    (image.bytes.len() as u64) < pixels / PIXELS_A_BYTE + FIXED
}

/// Decodes an image that may be black and measures its blackness. An image that cannot be decoded
/// counts as showing something.
pub fn blackness(image: &Image, size: Size) -> Blackness {
    if !may_be_black(image, size) {
        return Blackness::No;
    }
    Pixels::read(image).map_or(Blackness::No, |pixels| pixels.blackness())
}

impl Pixels {
    /// Measures the fraction of pure black pixels.
    pub fn blackness(&self) -> Blackness {
        let row = self.size().width as usize * 3;
        let top = (f64::from(self.size().height) * TOP) as usize;
        let below = &self.rgb()[row * top..];
        let black = below.chunks_exact(3).filter(|pixel| *pixel == [0, 0, 0]).count();
        let part = black as f64 / (below.len() / 3).max(1) as f64;
        if part >= WHOLE {
            Blackness::Whole
        } else if part >= NEARLY {
            Blackness::Nearly
        } else {
            Blackness::No
        }
    }
}
