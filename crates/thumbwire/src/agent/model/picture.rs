//! Pictures as models take them: not larger than is looked at anyway, in a format that the endpoint reads.
//!
//! A picture that a provider shrinks by itself costs its bytes and a wrong place: the model then tells coordinates of a picture that
//! nobody but the provider has. So we shrink it first, and say by how much. What is kept of a run is the picture that was taken.

use thumbwire_device::picture::{self, Pixels};
use thumbwire_device::{Format, Image, Size};

use super::super::prompt::{Part, Prompt};

/// What an endpoint takes of a picture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Limits {
    /// The longer side, in pixels.
    long: u32,
    /// The shorter side, in pixels.
    short: u32,
    /// All pixels.
    pixels: u32,
    /// The file, in bytes.
    bytes: usize,
    /// Whether it reads WebP.
    webp: bool,
}

/// More makes a request slow and no model wiser: a phone's screen scaled like this is 0.1 to 0.6 MB as PNG.
const FILE: usize = 1_500_000;

impl Limits {
    /// OpenAI, "Images and vision", high detail: fitted into 2048 by 2048, then the shorter side to 768. PNG, JPEG, WebP.
    pub(super) const OPENAI: Self =
        Self { long: 2048, short: 768, pixels: u32::MAX, bytes: FILE, webp: true };

    /// Anthropic, "Vision": above 1568 pixels a side, or some 1.15 million altogether, it is scaled there; above 8000 pixels a side, or
    /// 5 MB as base64, refused. PNG, JPEG, WebP. Some newer models look closer; they too take this.
    pub(super) const ANTHROPIC: Self =
        Self { long: 1568, short: 1568, pixels: 1_150_000, bytes: FILE, webp: true };

    /// The same for an endpoint of somebody else: llama.cpp reads pictures by stb_image, which knows no WebP.
    pub(super) fn elsewhere(self) -> Self {
        Self { webp: false, ..self }
    }
}

/// The prompt with its pictures as the endpoint takes them. Behind each that was shrunk stands a line with both sizes. Takes up to some
/// 0.3 s of computing for each picture.
///
/// # Errors
/// When a picture cannot be read, or not be made small enough.
pub(super) fn fitted(prompt: &Prompt, limits: Limits) -> Result<Prompt, picture::Error> {
    let mut prompt = prompt.clone();
    for turn in &mut prompt.turns {
        let mut parts = Vec::with_capacity(turn.parts.len());
        for part in std::mem::take(&mut turn.parts) {
            match part {
                Part::Picture(image) => {
                    let (image, scaled) = fit(image, limits)?;
                    parts.push(Part::Picture(image));
                    parts.extend(scaled.map(|(from, to)| Part::Text(told(from, to))));
                }
                words => parts.push(words),
            }
        }
        turn.parts = parts;
    }
    Ok(prompt)
}

fn told(from: Size, to: Size) -> String {
    let factor = f64::from(from.width) / f64::from(to.width);
    format!(
        "(The picture above was made smaller: {}x{} pixels stand for {}x{} of the screen. Multiply coordinates that you read off it by \
         {factor:.3}; coordinates given in words are the screen's already.)",
        to.width, to.height, from.width, from.height
    )
}

fn fit(image: Image, limits: Limits) -> Result<(Image, Option<(Size, Size)>), picture::Error> {
    let readable = image.format != Format::Webp || limits.webp;
    let pixels = Pixels::read(&image)?;
    let from = pixels.size();
    let to = target(from, limits);
    let (image, scaled) = if to != from {
        (pixels.scaled(to)?.write(Format::Png)?, Some((from, to)))
    } else if readable {
        (image, None)
    } else {
        (pixels.write(Format::Png)?, None)
    };
    // What is too large even so becomes a JPEG.
    Ok((picture::fit(image, None, Some(limits.bytes))?, scaled))
}

/// The size in which a picture goes out: its own where that is not too large.
fn target(size: Size, limits: Limits) -> Size {
    let (long, short) = (size.width.max(size.height), size.width.min(size.height));
    let all = f64::from(long) * f64::from(short);
    let factor = (f64::from(limits.long) / f64::from(long))
        .min(f64::from(limits.short) / f64::from(short))
        .min((f64::from(limits.pixels) / all).sqrt());
    if factor >= 1.0 {
        return size;
    }
    let side = |side: i32| ((f64::from(side) * factor) as i32).max(1);
    Size { width: side(size.width), height: side(size.height) }
}

#[cfg(test)]
mod tests {
    use super::super::super::prompt::{Role, Turn};
    use super::*;

    fn picture(width: u32, height: u32, format: Format) -> Image {
        let rgb = (0..width * height * 3).map(|at| (at / 7 % 251) as u8).collect();
        Pixels::new(width, height, rgb).unwrap().write(format).unwrap()
    }

    fn parts(image: Image, limits: Limits) -> Vec<Part> {
        let turn = Turn { role: Role::User, parts: vec![Part::Picture(image)] };
        let prompt = Prompt { system: String::new(), turns: vec![turn] };
        fitted(&prompt, limits).unwrap().turns.remove(0).parts
    }

    #[test]
    fn a_picture_is_made_as_large_as_is_looked_at_and_never_larger() {
        let check = |limits, (width, height), to| {
            let size = target(Size { width, height }, limits);
            assert_eq!((size.width, size.height), to, "{width}x{height}");
        };
        check(Limits::OPENAI, (1080, 2400), (768, 1706));
        check(Limits::OPENAI, (2400, 1080), (1706, 768));
        check(Limits::OPENAI, (720, 1280), (720, 1280));
        check(Limits::OPENAI, (600, 9000), (136, 2048));
        check(Limits::ANTHROPIC, (1080, 2400), (705, 1568));
        check(Limits::ANTHROPIC, (1536, 2048), (928, 1238));
        check(Limits::ANTHROPIC, (720, 1280), (720, 1280));
        check(Limits::ANTHROPIC, (1, 30_000), (1, 1568));
    }

    #[test]
    fn a_picture_that_was_shrunk_says_by_how_much() {
        let told = parts(picture(1080, 2400, Format::Png), Limits::OPENAI);
        let [Part::Picture(image), Part::Text(words)] = &told[..] else { panic!("{told:?}") };
        assert_eq!(Pixels::read(image).unwrap().size(), Size { width: 768, height: 1706 });
        assert!(words.contains("768x1706 pixels stand for 1080x2400"), "{words}");
        assert!(words.contains("1.406"), "{words}");
    }

    #[test]
    fn a_picture_that_fits_goes_out_byte_for_byte() {
        let image = picture(400, 800, Format::Png);
        assert_eq!(parts(image.clone(), Limits::OPENAI), [Part::Picture(image)]);
        let webp = picture(400, 800, Format::Webp);
        assert_eq!(parts(webp.clone(), Limits::ANTHROPIC), [Part::Picture(webp.clone())]);
        let sent = parts(webp, Limits::ANTHROPIC.elsewhere());
        assert!(matches!(&sent[..], [Part::Picture(image)] if image.format == Format::Png));
    }

    #[test]
    fn a_picture_with_too_many_bytes_becomes_a_jpeg() {
        let limits = Limits { bytes: 60_000, ..Limits::OPENAI };
        // What no packing makes smaller.
        let mut state = 1_u32;
        let rgb = (0..400 * 400 * 3).map(|_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        });
        let noise = Pixels::new(400, 400, rgb.collect()).unwrap().write(Format::Png).unwrap();
        let sent = parts(noise, limits);
        let [Part::Picture(image)] = &sent[..] else { panic!() };
        assert!(image.format == Format::Jpeg && image.bytes.len() <= 60_000);
    }
}
