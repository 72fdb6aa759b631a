//! Scales and converts images for an endpoint: no larger than the model looks at anyway, in a
//! format that it can read.
//!
//! If a provider scales an image itself, the bytes are wasted, and the model's coordinates refer to
//! an image that nobody else has. So we scale it first, and convert the coordinates
//! ([`crate::prompt::coordinates`]). The trace keeps the original.

use thumbwire_device::image::{self, PixelLimits, Pixels};
use thumbwire_device::{Format, FormatPreference, Image, Size};

use super::{ContentPart, Prompt};

/// What an endpoint accepts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Limits {
    /// How large an image may be, in pixels.
    pixels: PixelLimits,
    /// The file size, in bytes.
    bytes: usize,
    /// Whether it reads WebP.
    webp: bool,
}

/// Larger files make requests slow without helping the model: a phone's screen at these sizes is
/// 0.1 to 0.6 MB as PNG.
const FILE: usize = 1_500_000;

impl Limits {
    /// OpenAI, "Images and vision", high detail: fitted into 2048 by 2048, then the shorter side to
    /// 768. PNG, JPEG, WebP.
    pub(super) const OPENAI: Self = Self {
        pixels: PixelLimits { long: 2048, short: 768, pixels: u32::MAX },
        bytes: FILE,
        webp: true,
    };

    /// Anthropic, "Vision": scaled by the provider above 1568 pixels a side or about 1.15 million
    /// in total; rejected above 8000 pixels a side or 5 MB as base64. PNG, JPEG, WebP. Some newer
    /// models use more detail; they accept this too.
    pub(super) const ANTHROPIC: Self = Self {
        pixels: PixelLimits { long: 1568, short: 1568, pixels: 1_150_000 },
        bytes: FILE,
        webp: true,
    };

    /// These limits for other servers: llama.cpp reads images with stb_image, which does not know
    /// WebP.
    pub(super) fn for_other_servers(self) -> Self {
        Self { webp: false, ..self }
    }
}

impl Limits {
    /// The size at which an image of this size is sent.
    pub(super) fn target(self, size: Size) -> Size {
        self.pixels.target(size)
    }
}

/// The prompt with its images as the endpoint accepts them. Takes up to about 0.3 s of computing
/// time per image.
///
/// # Errors
/// An image cannot be read, or cannot be made small enough.
pub(super) fn fitted(prompt: &Prompt, limits: Limits) -> Result<Prompt, image::Error> {
    let mut prompt = prompt.clone();
    for part in prompt.turns.iter_mut().flat_map(|turn| &mut turn.parts) {
        if let ContentPart::Image(image) = part {
            *image = fit(image.clone(), limits)?;
        }
    }
    Ok(prompt)
}

fn fit(image: Image, limits: Limits) -> Result<Image, image::Error> {
    let readable = image.format != Format::Webp || limits.webp;
    let pixels = Pixels::read(&image)?;
    let (from, to) = (pixels.size(), limits.target(pixels.size()));
    let image = if to != from {
        pixels.scaled(to)?.write(Format::Png)?
    } else if readable {
        image
    } else {
        pixels.write(Format::Png)?
    };
    // An image that is still too large becomes a JPEG.
    image::fit(image, FormatPreference::AsTaken, Some(limits.bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Message, Role};

    fn picture(width: u32, height: u32, format: Format) -> Image {
        let rgb = (0..width * height * 3).map(|at| (at / 7 % 251) as u8).collect();
        Pixels::new(width, height, rgb).unwrap().write(format).unwrap()
    }

    fn parts(image: Image, limits: Limits) -> Vec<ContentPart> {
        let turn = Message { role: Role::User, parts: vec![ContentPart::Image(image)] };
        let prompt = Prompt { system: String::new(), turns: vec![turn], ..Prompt::default() };
        fitted(&prompt, limits).unwrap().turns.remove(0).parts
    }

    #[test]
    fn image_is_scaled_to_the_limits_and_never_enlarged() {
        let check = |limits: Limits, (width, height), to| {
            let size = limits.pixels.target(Size { width, height });
            assert_eq!((size.width, size.height), to, "{width}x{height}");
        };
        check(Limits::OPENAI, (1080, 2400), (768, 1707));
        check(Limits::OPENAI, (2400, 1080), (1707, 768));
        check(Limits::OPENAI, (720, 1280), (720, 1280));
        check(Limits::OPENAI, (600, 9000), (137, 2048));
        check(Limits::ANTHROPIC, (1080, 2400), (706, 1568));
        check(Limits::ANTHROPIC, (1536, 2048), (928, 1237));
        check(Limits::ANTHROPIC, (720, 1280), (720, 1280));
        check(Limits::ANTHROPIC, (1, 30_000), (1, 1568));
    }

    #[test]
    fn image_is_sent_at_the_size_that_its_limits_tell() {
        for (width, height) in [(1080, 2400), (2400, 1080), (720, 1280)] {
            let out = parts(picture(width, height, Format::Png), Limits::OPENAI);
            let [ContentPart::Image(image)] = &out[..] else { panic!("{out:?}") };
            let size = Size { width: width as i32, height: height as i32 };
            assert_eq!(Pixels::read(image).unwrap().size(), Limits::OPENAI.target(size));
        }
    }

    #[test]
    fn fitting_image_is_sent_unchanged() {
        let image = picture(400, 800, Format::Png);
        assert_eq!(parts(image.clone(), Limits::OPENAI), [ContentPart::Image(image)]);
        let webp = picture(400, 800, Format::Webp);
        assert_eq!(parts(webp.clone(), Limits::ANTHROPIC), [ContentPart::Image(webp.clone())]);
        let sent = parts(webp, Limits::ANTHROPIC.for_other_servers());
        assert!(matches!(&sent[..], [ContentPart::Image(image)] if image.format == Format::Png));
    }

    #[test]
    fn oversized_image_becomes_a_jpeg() {
        let limits = Limits { bytes: 60_000, ..Limits::OPENAI };
        // Noise cannot be compressed.
        let mut state = 1_u32;
        let rgb = (0..400 * 400 * 3).map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        });
        let noise = Pixels::new(400, 400, rgb.collect()).unwrap().write(Format::Png).unwrap();
        let sent = parts(noise, limits);
        let [ContentPart::Image(image)] = &sent[..] else { panic!() };
        assert!(image.format == Format::Jpeg && image.bytes.len() <= 60_000);
    }
}
