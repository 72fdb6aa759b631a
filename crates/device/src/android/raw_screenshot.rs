//! Parses the raw screenshot of `screencap` without `-p`: a header of little-endian words, then rows of pixels.
//!
//! Sources: `screencap.cpp` (12-byte header: width, height, format; since Android 9 a fourth word, the color space) and
//! the numbers in `ui/PixelFormat.h` and `hardware/graphics/common`. The header does not tell its own size, so the
//! length decides: the pixels must fill the rest exactly.

use crate::image::{Pixels, to_rgb};

/// How far into the output to search for an image: text may come before it.
const WORDS: usize = 4096;

/// Why no image was found.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum RawScreenshotError {
    /// No header matches the length.
    NotRaw,
    /// An image in an unsupported pixel format.
    Format(u32),
}

/// Parses a raw screenshot, even after lines of text.
pub(super) fn read_raw(output: &[u8]) -> Result<Pixels, RawScreenshotError> {
    let after_lines = output.iter().take(WORDS).enumerate().filter(|(_, byte)| **byte == b'\n');
    let starts = std::iter::once(0).chain(after_lines.map(|(at, _)| at + 1));
    let mut unknown = None;
    for start in starts {
        match read_at(&output[start..]) {
            Err(RawScreenshotError::NotRaw) => {}
            Err(RawScreenshotError::Format(format)) => unknown = unknown.or(Some(format)),
            Ok(pixels) => return Ok(pixels),
        }
    }
    Err(unknown.map_or(RawScreenshotError::NotRaw, RawScreenshotError::Format))
}

fn read_at(output: &[u8]) -> Result<Pixels, RawScreenshotError> {
    let word = |at: usize| {
        let bytes = output.get(at..at + 4)?.try_into().ok()?;
        Some(u32::from_le_bytes(bytes))
    };
    let (Some(width), Some(height), Some(format)) = (word(0), word(4), word(8)) else {
        return Err(RawScreenshotError::NotRaw);
    };
    let pixels = u64::from(width) * u64::from(height);
    let fills = |bytes: usize| {
        let all = pixels.checked_mul(bytes as u64)?;
        [12, 16].into_iter().find(|header| {
            all > 0 && output.len().checked_sub(*header).is_some_and(|rest| rest as u64 == all)
        })
    };
    let Some((bytes, rgb)) = layout(format) else {
        // Only if some number of bytes per pixel fits: otherwise the word was never meant as a format.
        let fitting = [4, 2, 8, 3, 1].into_iter().any(|bytes| fills(bytes).is_some());
        return Err(if fitting {
            RawScreenshotError::Format(format)
        } else {
            RawScreenshotError::NotRaw
        });
    };
    let header = fills(bytes).ok_or(RawScreenshotError::NotRaw)?;
    Pixels::new(width, height, rgb(&output[header..])).ok_or(RawScreenshotError::NotRaw)
}

type ToRgb = fn(&[u8]) -> Vec<u8>;

/// Bytes per pixel, and the conversion to RGB.
fn layout(format: u32) -> Option<(usize, ToRgb)> {
    Some(match format {
        // RGBA_8888, RGBX_8888
        1 | 2 => (4, |pixels| to_rgb(pixels, 4, [0, 1, 2])),
        // RGB_888
        3 => (3, <[u8]>::to_vec),
        // RGB_565
        4 => (2, |pixels| pixels.chunks_exact(2).flat_map(from_565).collect()),
        // BGRA_8888
        5 => (4, |pixels| to_rgb(pixels, 4, [2, 1, 0])),
        // RGBA_1010102
        0x2B => (4, |pixels| pixels.chunks_exact(4).flat_map(from_1010102).collect()),
        // Includes RGBA_FP16 (0x16): the image does not contain its transfer curve.
        _ => return None,
    })
}

/// Five, six and five bits; the high bits are repeated below so that white stays white.
fn from_565(pixel: &[u8]) -> [u8; 3] {
    let word = u16::from_le_bytes([pixel[0], pixel[1]]);
    let (red, green, blue) = (word >> 11, word >> 5 & 0x3F, word & 0x1F);
    [(red << 3 | red >> 2) as u8, (green << 2 | green >> 4) as u8, (blue << 3 | blue >> 2) as u8]
}

/// Ten bits each, red in the lowest; the two lowest bits of each are dropped.
fn from_1010102(pixel: &[u8]) -> [u8; 3] {
    let word = u32::from_le_bytes([pixel[0], pixel[1], pixel[2], pixel[3]]);
    [word >> 2, word >> 12, word >> 22].map(|channel| (channel & 0xFF) as u8)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Size;

    /// Width, height, format and, since Android 9, a color space; then the pixels.
    fn raw(header: &[u32], pixels: &[u8]) -> Vec<u8> {
        let text = header.iter().flat_map(|word| word.to_le_bytes());
        text.chain(pixels.iter().copied()).collect()
    }

    fn check(header: &[u32], pixels: &[u8], rgb: &[u8]) {
        let read = read_raw(&raw(header, pixels)).unwrap();
        let size = Size { width: header[0] as i32, height: header[1] as i32 };
        assert_eq!((read.size(), read.rgb()), (size, rgb), "{header:?}");
    }

    #[test]
    fn every_pixel_format_converts_to_rgb() {
        let rgb = [255, 128, 1, 4, 5, 6];
        check(&[2, 1, 1], &[255, 128, 1, 9, 4, 5, 6, 9], &rgb);
        check(&[1, 2, 2], &[255, 128, 1, 9, 4, 5, 6, 9], &rgb);
        check(&[2, 1, 3], &rgb, &rgb);
        check(&[2, 1, 5], &[1, 128, 255, 9, 6, 5, 4, 9], &rgb);
        // White, pure red, pure green, pure blue.
        let few = [0xFF, 0xFF, 0x00, 0xF8, 0xE0, 0x07, 0x1F, 0x00];
        let all = [255, 255, 255, 255, 0, 0, 0, 255, 0, 0, 0, 255];
        check(&[4, 1, 4], &few, &all);
        let ten = [u32::MAX, 0x3FF, 0x3FF << 10, 0x3FF << 20].map(u32::to_le_bytes).concat();
        check(&[4, 1, 0x2B], &ten, &all);
    }

    #[test]
    fn length_determines_the_header() {
        check(&[1, 1, 1], &[1, 2, 3, 4], &[1, 2, 3]);
        check(&[1, 1, 1, 1], &[1, 2, 3, 4], &[1, 2, 3]);
        // One pixel too many, or half a pixel.
        for pixels in [&[1, 2, 3][..], &[1, 2, 3, 4, 5, 6]] {
            assert_eq!(read_raw(&raw(&[1, 1, 1], pixels)), Err(RawScreenshotError::NotRaw));
        }
    }

    #[test]
    fn image_after_a_warning_is_found() {
        let mut output = b"[Warning] Multiple displays were found\nSee the help\n".to_vec();
        output.extend(raw(&[1, 1, 1, 1], &[7, 8, 9, 255]));
        assert_eq!(read_raw(&output).unwrap().rgb(), [7, 8, 9]);
    }

    #[test]
    fn unknown_pixel_format_is_rejected_by_number() {
        assert_eq!(
            read_raw(&raw(&[2, 1, 0x16, 0], &[0; 16])),
            Err(RawScreenshotError::Format(0x16))
        );
        assert_eq!(read_raw(b"screencap: not found\n"), Err(RawScreenshotError::NotRaw));
        assert_eq!(read_raw(&raw(&[u32::MAX, u32::MAX, 1], &[])), Err(RawScreenshotError::NotRaw));
        assert_eq!(read_raw(&raw(&[0, 0, 1], &[])), Err(RawScreenshotError::NotRaw));
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), width in 0..9_u32, height in 0..9_u32, format in 0..8_u32) {
            let _ = read_raw(&bytes);
            let _ = read_raw(&raw(&[width, height, format], &bytes));
        }
    }
}
