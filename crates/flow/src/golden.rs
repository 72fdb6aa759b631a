//! Compares screenshots with stored ones, the goldens.
//!
//! Start with [`compare`], a pure function over pixels. [`GoldenFiles`] is how the caller reads and
//! writes the files; `run_golden` runs the step.

use std::path::Path;

use thumbwire_device::image::Pixels;
use thumbwire_device::{Rect, Size};

/// Reads and writes goldens.
pub trait GoldenFiles: Send + Sync {
    /// A file's bytes; `None` if there is no such file.
    ///
    /// # Errors
    /// Why it cannot be read.
    fn read(&self, file: &Path) -> Result<Option<Vec<u8>>, String>;

    /// Writes a file, and its folder.
    ///
    /// # Errors
    /// Why it cannot be written.
    fn write(&self, file: &Path, bytes: &[u8]) -> Result<(), String>;
}

/// How two images of the same size differ.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Difference {
    /// The share of the compared pixels that differ, from 0 to 1.
    pub(super) share: f64,
    /// The smallest rectangle around them.
    pub(super) around: Rect,
}

/// Compares two images of the same size, without the masked parts. `None` if no pixel differs.
pub(super) fn compare(
    expected: &Pixels,
    actual: &Pixels,
    masks: &[Rect],
    color_tolerance: u8,
) -> Option<Difference> {
    let Size { width, .. } = actual.size();
    let (mut compared, mut different) = (0_u64, 0_u64);
    let mut around = Rect { left: i32::MAX, top: i32::MAX, right: 0, bottom: 0 };
    for (at, (a, b)) in pixel_pairs(expected, actual).enumerate() {
        let (x, y) = point_at(at, width);
        if masks.iter().any(|mask| covers(*mask, x, y)) {
            continue;
        }
        compared += 1;
        if differs(a, b, color_tolerance) {
            different += 1;
            around.left = around.left.min(x);
            around.top = around.top.min(y);
            around.right = around.right.max(x + 1);
            around.bottom = around.bottom.max(y + 1);
        }
    }
    (different > 0).then(|| Difference { share: different as f64 / compared as f64, around })
}

/// The expected image, the actual one, and the actual one in grey with its differences in red and
/// its masks in blue.
pub(super) fn side_by_side(
    expected: &Pixels,
    actual: &Pixels,
    masks: &[Rect],
    color_tolerance: u8,
) -> Option<Pixels> {
    /// Between two images, in pixels.
    const GAP: usize = 16;
    const WHITE: [u8; 3] = [255; 3];
    let Size { width, height } = actual.size();
    let row_length = usize::try_from(width).ok()?;
    let third = pixel_pairs(expected, actual).enumerate().map(|(at, (a, b))| {
        let (x, y) = point_at(at, width);
        let grey = (u16::from(b[0]) + u16::from(b[1]) + u16::from(b[2])) / 6 + 127;
        let grey = u8::try_from(grey).unwrap_or(u8::MAX);
        if masks.iter().any(|mask| covers(*mask, x, y)) {
            [grey / 2, grey / 2, grey]
        } else if differs(a, b, color_tolerance) {
            [230, 0, 0]
        } else {
            [grey; 3]
        }
    });
    let third: Vec<u8> = third.flatten().collect();
    let mut rgb = Vec::new();
    for y in 0..usize::try_from(height).ok()? {
        for (number, image) in [expected.rgb(), actual.rgb(), &third].into_iter().enumerate() {
            if number > 0 {
                rgb.extend(std::iter::repeat_n(WHITE, GAP).flatten());
            }
            rgb.extend_from_slice(image.get(y * row_length * 3..(y + 1) * row_length * 3)?);
        }
    }
    let whole = u32::try_from(row_length * 3 + GAP * 2).ok()?;
    Pixels::new(whole, u32::try_from(height).ok()?, rgb)
}

/// The part of an image inside a rectangle; `None` if there is none.
pub(super) fn cropped(image: &Pixels, to: Rect) -> Option<Pixels> {
    let Size { width, height } = image.size();
    let to = to.intersection(Rect { left: 0, top: 0, right: width, bottom: height });
    if to.is_empty() {
        return None;
    }
    let side = |pixels: i32| usize::try_from(pixels).ok();
    let (row, left, right) = (side(width)?, side(to.left)?, side(to.right)?);
    let mut rgb = Vec::new();
    for y in side(to.top)?..side(to.bottom)? {
        rgb.extend_from_slice(image.rgb().get((y * row + left) * 3..(y * row + right) * 3)?);
    }
    let length = |low: i32, high: i32| u32::try_from(high - low).ok();
    Pixels::new(length(to.left, to.right)?, length(to.top, to.bottom)?, rgb)
}

fn pixel_pairs<'a>(a: &'a Pixels, b: &'a Pixels) -> impl Iterator<Item = (&'a [u8], &'a [u8])> {
    a.rgb().chunks_exact(3).zip(b.rgb().chunks_exact(3))
}

fn point_at(at: usize, width: i32) -> (i32, i32) {
    let at = i64::try_from(at).unwrap_or(i64::MAX);
    let width = i64::from(width.max(1));
    // Within an image, whose sides are 32-bit numbers.
    ((at % width) as i32, (at / width) as i32)
}

fn covers(mask: Rect, x: i32, y: i32) -> bool {
    (mask.left..mask.right).contains(&x) && (mask.top..mask.bottom).contains(&y)
}

fn differs(a: &[u8], b: &[u8], tolerance: u8) -> bool {
    a.iter().zip(b).any(|(a, b)| a.abs_diff(*b) > tolerance)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A white image with pixels of other colours.
    fn image(pixels: &[(i32, i32, [u8; 3])]) -> Pixels {
        let mut rgb = vec![255; 10 * 10 * 3];
        for (x, y, color) in pixels {
            let at = usize::try_from(y * 10 + x).unwrap() * 3;
            rgb[at..at + 3].copy_from_slice(color);
        }
        Pixels::new(10, 10, rgb).unwrap()
    }

    #[test]
    fn differences_are_counted_and_located() {
        let expected = image(&[]);
        let actual = image(&[(2, 3, [0; 3]), (4, 7, [255, 255, 200]), (9, 9, [250, 255, 255])]);
        let difference = |masks: &[Rect], tolerance| compare(&expected, &actual, masks, tolerance);
        let rect = |left, top, right, bottom| Rect { left, top, right, bottom };
        let found = difference(&[], 8).unwrap();
        assert_eq!(found, Difference { share: 0.02, around: rect(2, 3, 5, 8) });
        assert_eq!(difference(&[], 0).unwrap().around, rect(2, 3, 10, 10));
        assert_eq!(difference(&[], 60).unwrap().share, 0.01);
        // Masked pixels are not compared: they are no part of the whole.
        let upper = [rect(0, 0, 10, 5)];
        assert_eq!(difference(&upper, 8).unwrap().share, 0.02);
        assert_eq!(difference(&[rect(0, 0, 10, 8)], 8), None);
        assert_eq!(compare(&expected, &expected, &[], 0), None);
    }

    #[test]
    fn differences_are_shown_beside_both_images() {
        let actual = image(&[(2, 3, [0; 3])]);
        let mask = Rect { left: 0, top: 0, right: 10, bottom: 1 };
        let shown = side_by_side(&image(&[]), &actual, &[mask], 8).unwrap();
        assert_eq!(shown.size(), Size { width: 3 * 10 + 2 * 16, height: 10 });
        let pixel = |x: usize, y: usize| &shown.rgb()[(y * 62 + x) * 3..][..3];
        assert_eq!((pixel(2, 3), pixel(26 + 2, 3)), (&[255; 3][..], &[0; 3][..]));
        assert_eq!(pixel(52 + 2, 3), [230, 0, 0]);
        assert_eq!(pixel(52 + 2, 0), [127, 127, 254]);
        assert_eq!(pixel(52 + 3, 3), [254; 3]);
    }

    #[test]
    fn parts_of_an_image_are_cut_out() {
        let whole = image(&[(2, 3, [1, 2, 3])]);
        let part = cropped(&whole, Rect { left: 2, top: 3, right: 20, bottom: 5 }).unwrap();
        assert_eq!(part.size(), Size { width: 8, height: 2 });
        assert_eq!(&part.rgb()[..4], [1, 2, 3, 255]);
        assert_eq!(cropped(&whole, Rect { left: 12, top: 3, right: 20, bottom: 5 }), None);
    }
}
