//! How many pixels of a screen are worth sending.

use crate::Size;

/// The largest image that is wanted. Larger ones are scaled down, smaller ones are left alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PixelLimits {
    /// The longer side, in pixels.
    pub long: u32,
    /// The shorter side, in pixels.
    pub short: u32,
    /// The total number of pixels.
    pub pixels: u32,
}

impl PixelLimits {
    /// What no provider of vision models scales down again: a model then looks at the pixels that
    /// were sent, and its coordinates are theirs. OpenAI ("Images and vision", high detail) fits
    /// the shorter side into 768, Anthropic ("Vision") the longer one into 1568 and the whole into
    /// 1.15 million.
    pub const VISION_MODELS: Self = Self { long: 1568, short: 768, pixels: 1_150_000 };

    /// A longer side of at most this many pixels, at least 1.
    pub const fn longer_side(pixels: u32) -> Self {
        let long = if pixels == 0 { 1 } else { pixels };
        Self { long, short: u32::MAX, pixels: u32::MAX }
    }

    /// The size within these limits, in the shape of the image: its own size if that is within
    /// them.
    pub fn target(self, size: Size) -> Size {
        let [long, short] = [size.width.max(size.height), size.width.min(size.height)]
            .map(|side| i128::from(side.max(1)));
        // Rounded to the nearest, but at least 1.
        let scaled = |own: i128, side: i128| ((2 * own * side + long) / (2 * long)).max(1);
        let fits = |side: i128| {
            let shorter = scaled(short, side);
            shorter <= i128::from(self.short) && side * shorter <= i128::from(self.pixels)
        };
        // The largest longer side that fits; 1 where none does.
        let (mut side, mut beyond) = (1, long.min(i128::from(self.long)) + 1);
        while beyond - side > 1 {
            let middle = i128::midpoint(side, beyond);
            if fits(middle) { side = middle } else { beyond = middle }
        }
        let scaled =
            |own: i32| i32::try_from(scaled(i128::from(own.max(1)), side)).unwrap_or(i32::MAX);
        Size { width: scaled(size.width), height: scaled(size.height) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn screens_are_scaled_to_what_models_look_at() {
        let check = |(width, height), to| {
            let size = PixelLimits::VISION_MODELS.target(Size { width, height });
            assert_eq!((size.width, size.height), to, "{width}x{height}");
        };
        check((1080, 2400), (706, 1568));
        check((2400, 1080), (1568, 706));
        check((1080, 1920), (768, 1366));
        check((1600, 2560), (768, 1229));
        check((1812, 2176), (768, 922));
        // These fit.
        check((720, 1280), (720, 1280));
        check((480, 800), (480, 800));
        check((768, 1024), (768, 1024));
        check((1, 30_000), (1, 1568));
    }

    #[test]
    fn longer_side_is_exact() {
        let limits = PixelLimits::longer_side(600);
        assert_eq!(
            limits.target(Size { width: 1080, height: 2400 }),
            Size { width: 270, height: 600 }
        );
        let one = PixelLimits::longer_side(0).target(Size { width: 1080, height: 2400 });
        assert_eq!(one, Size { width: 1, height: 1 });
    }

    proptest! {
        #[test]
        fn target_is_within_the_limits_and_never_larger(
            (width, height) in (1..9000_i32, 1..9000_i32), long in 1..3000_u32, short in 1..2000_u32, pixels in 1..4_000_000_u32,
        ) {
            let (limits, size) = (PixelLimits { long, short, pixels }, Size { width, height });
            let to = limits.target(size);
            prop_assert!(to.width >= 1 && to.height >= 1);
            prop_assert!(to.width <= width && to.height <= height);
            let (longer, shorter) = (to.width.max(to.height) as u32, to.width.min(to.height) as u32);
            prop_assert!(longer <= long && shorter <= short);
            prop_assert!(u64::from(longer) * u64::from(shorter) <= u64::from(pixels));
            let fits = width.max(height) as u32 <= long
                && width.min(height) as u32 <= short
                && width as u64 * height as u64 <= u64::from(pixels);
            prop_assert!(!fits || to == size);
        }

        #[test]
        fn no_numbers_panic(width in any::<i32>(), height in any::<i32>(), limits in any::<[u32; 3]>()) {
            let [long, short, pixels] = limits;
            let _ = PixelLimits { long, short, pixels }.target(Size { width, height });
        }
    }
}
