//! Whether a picture shows nothing.
//!
//! Asked of every picture, so the answer is cheap for all that show something: a black PNG is a small file, and only a
//! small file is read. The reason for the blackness is the phone's to tell, see [`super::Blank`].

use super::{Format, Image, Pixels};
use crate::Size;

/// How black a picture is below its status bar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blackness {
    /// It shows something.
    No,
    /// Nearly all of it: a clock, a bar or a little text is left.
    Nearly,
    /// Nothing else is there.
    Whole,
}

/// A PNG with fewer bytes than one for so many pixels may be black. Of 19 pictures of real phones, the black ones have
/// one for 174 to 339, those that show something one for 5 to 63; a quick compressor makes one for 42 of a black picture.
const PIXELS_A_BYTE: u64 = 32;

/// What a small picture may have beyond that: a file's fixed parts, and a colour profile.
const FIXED: u64 = 4096;

/// The part of the height, from the top, in which a status bar may go on showing.
const TOP: f64 = 0.1;

/// The parts that must be black for [`Blackness::Nearly`] and [`Blackness::Whole`]. A keyboard or a navigation bar of a
/// secure window stays visible.
const NEARLY: f64 = 0.9;
const WHOLE: f64 = 0.999;

/// Whether a picture may be black, by the size of its file alone.
pub fn may_be_black(image: &Image, size: Size) -> bool {
    let side = |side: i32| u64::try_from(side).unwrap_or(0);
    let pixels = side(size.width) * side(size.height);
    image.format != Format::Png || (image.bytes.len() as u64) < pixels / PIXELS_A_BYTE + FIXED
}

/// Reads a picture that may be black, and looks how black it is. One that cannot be read counts as showing something.
pub fn blackness(image: &Image, size: Size) -> Blackness {
    if !may_be_black(image, size) {
        return Blackness::No;
    }
    Pixels::read(image).map_or(Blackness::No, |pixels| pixels.blackness())
}

impl Pixels {
    /// Counts the pixels that are pure black.
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
