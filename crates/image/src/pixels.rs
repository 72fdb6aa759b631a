//! Images as pixels: decoding, encoding, scaling.
//!
//! Sizes are checked before memory is allocated: a file declares its dimensions, and anything above
//! [`MAX_PIXELS`] is rejected. Alpha is dropped on decoding: a screen has none.

use std::borrow::Cow;
use std::io::Cursor;
use std::panic::resume_unwind;

use fast_image_resize as resize;
use fast_image_resize::images::{TypedImage, TypedImageRef};
use image_webp::{ColorType as WebpColour, WebPDecoder, WebPEncoder};
use jpeg_encoder::SamplingFactor;
use zune_jpeg::JpegDecoder;
use zune_jpeg::zune_core::colorspace::ColorSpace;
use zune_jpeg::zune_core::options::DecoderOptions;

use super::{Error, Format, Image};
use crate::Size;

/// The largest image that is decoded. The largest screen seen so far (8K television) has 33 million
/// pixels.
pub const MAX_PIXELS: usize = 40_000_000;

/// The JPEG quality at which screen text is still easy to read.
pub const JPEG_QUALITY: u8 = 75;

/// An image in memory.
#[derive(Clone, PartialEq, Eq)]
pub struct Pixels {
    width: u32,
    height: u32,
    rgb: Vec<u8>,
}

/// PNG compression effort.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effort {
    /// About 6 ms for a phone screen.
    Fast,
    /// About 130 ms, for two thirds of the file size.
    Strong,
}

impl Pixels {
    /// An image of these pixels, three bytes each (red, green, blue), in rows from the top; `None`
    /// if the byte count does not match, or there are no pixels or too many.
    pub fn new(width: u32, height: u32, rgb: Vec<u8>) -> Option<Self> {
        let pixels = checked_pixel_count(width, height).ok()?;
        (rgb.len() == pixels * 3).then_some(Self { width, height, rgb })
    }

    /// Black pixels; `None` if there are none or too many.
    pub fn black(width: u32, height: u32) -> Option<Self> {
        let pixels = checked_pixel_count(width, height).ok()?;
        Some(Self { width, height, rgb: vec![0; pixels * 3] })
    }

    /// Width and height.
    pub fn size(&self) -> Size {
        // No side is longer than MAX_PIXELS.
        Size { width: self.width as i32, height: self.height as i32 }
    }

    /// The RGB bytes, three per pixel.
    pub fn rgb(&self) -> &[u8] {
        &self.rgb
    }

    /// Decodes an image file.
    ///
    /// # Errors
    /// If it is broken, truncated, or larger than [`MAX_PIXELS`].
    pub fn read(image: &Image) -> Result<Self, Error> {
        match image.format {
            Format::Png => read_png(&image.bytes),
            Format::Jpeg => read_jpeg(&image.bytes),
            Format::Webp => read_webp(&image.bytes),
        }
    }

    /// Encodes an image file: PNG fast, JPEG with [`JPEG_QUALITY`], WebP lossless.
    ///
    /// # Errors
    /// If a side is longer than the format allows: 65,535 pixels for JPEG, 16,384 for WebP.
    pub fn write(&self, format: Format) -> Result<Image, Error> {
        match format {
            Format::Png => self.write_png(Effort::Fast),
            Format::Jpeg => self.write_jpeg(JPEG_QUALITY),
            Format::Webp => self.write_webp(),
        }
    }

    /// Encodes the smaller of two files: lossless WebP, or JPEG with [`JPEG_QUALITY`].
    ///
    /// Both are always written: neither is smaller on every screen, and the number of colors does
    /// not tell (`just bench`).
    ///
    /// # Errors
    /// If a side is longer than 16,384 pixels.
    pub fn write_smallest(&self) -> Result<Image, Error> {
        let (webp, jpeg) = std::thread::scope(|scope| {
            let webp = scope.spawn(|| self.write_webp());
            let jpeg = self.write_jpeg(JPEG_QUALITY);
            (webp.join().unwrap_or_else(|panic| resume_unwind(panic)), jpeg)
        });
        let (webp, jpeg) = (webp?, jpeg?);
        Ok(if jpeg.bytes.len() < webp.bytes.len() { jpeg } else { webp })
    }

    /// Encodes a PNG.
    ///
    /// # Errors
    /// None known.
    pub fn write_png(&self, effort: Effort) -> Result<Image, Error> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, self.width, self.height);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_compression(match effort {
            Effort::Fast => png::Compression::Fast,
            Effort::Strong => png::Compression::Balanced,
        });
        let written = encoder.write_header().and_then(|mut writer| {
            writer.write_image_data(&self.rgb)?;
            writer.finish()
        });
        written.map_err(|error| unwritable(Format::Png, &error))?;
        Ok(Image { format: Format::Png, bytes: bytes.into() })
    }

    /// Encodes a JPEG with this quality (1 to 100) and chroma at half the resolution.
    ///
    /// # Errors
    /// If a side is longer than 65,535 pixels.
    pub fn write_jpeg(&self, quality: u8) -> Result<Image, Error> {
        encode_jpeg(self.width, self.height, &self.rgb, jpeg_encoder::ColorType::Rgb, quality)
    }

    fn write_webp(&self) -> Result<Image, Error> {
        let mut bytes = Vec::new();
        let encoder = WebPEncoder::new(&mut bytes);
        let written = encoder.encode(&self.rgb, self.width, self.height, WebpColour::Rgb8);
        written.map_err(|error| unwritable(Format::Webp, &error))?;
        Ok(Image { format: Format::Webp, bytes: bytes.into() })
    }

    /// The image turned clockwise by quarter turns.
    #[must_use]
    pub fn rotated(&self, quarter_turns: u8) -> Self {
        let (width, height) = (self.width as usize, self.height as usize);
        let (to_width, to_height) = match quarter_turns % 4 {
            0 | 2 => (width, height),
            _ => (height, width),
        };
        let mut rgb = Vec::with_capacity(self.rgb.len());
        for y in 0..to_height {
            for x in 0..to_width {
                let (from_x, from_y) = match quarter_turns % 4 {
                    0 => (x, y),
                    1 => (y, height - 1 - x),
                    2 => (width - 1 - x, height - 1 - y),
                    _ => (width - 1 - y, x),
                };
                let at = (from_y * width + from_x) * 3;
                rgb.extend_from_slice(&self.rgb[at..at + 3]);
            }
        }
        Self { width: to_width as u32, height: to_height as u32, rgb }
    }

    /// The image scaled to another size, filtered so that text stays readable.
    ///
    /// # Errors
    /// If the size is empty or larger than [`MAX_PIXELS`].
    pub fn scaled(&self, to: Size) -> Result<Self, Error> {
        let (width, height) = sides(to);
        let mut rgba = buffer(self.rgb.len() / 3 * 4);
        repack::<3, 4>(&mut rgba, &self.rgb, |[red, green, blue]| [*red, *green, *blue, 255]);
        let scaled = scale(self.width, self.height, &rgba, to, buffer)?;
        let mut rgb = buffer(scaled.len() / 4 * 3);
        add_rgb::<4>(&mut rgb, &scaled, [0, 1, 2]);
        Ok(Self { width, height, rgb })
    }
}

/// A JPEG of this quality (1 to 100) of pixels with four bytes each (red, green, blue, and one that
/// is ignored), in rows from the top, scaled as by [`Pixels::scaled`].
///
/// # Errors
/// If the byte count does not match, a size is empty or larger than [`MAX_PIXELS`], or a side of
/// `to` is longer than 65,535 pixels.
pub fn jpeg_of_rgba(from: Size, rgba: &[u8], to: Size, quality: u8) -> Result<Image, Error> {
    let (width, height) = sides(from);
    if checked_pixel_count(width, height)? * 4 != rgba.len() {
        return Err(Error::Size { width, height });
    }
    let scaled = match from == to {
        true => Cow::Borrowed(rgba),
        false => Cow::Owned(scale(width, height, rgba, to, Vec::with_capacity)?),
    };
    let (width, height) = sides(to);
    encode_jpeg(width, height, &scaled, jpeg_encoder::ColorType::Rgba, quality)
}

/// The bytes of an image with four channels, scaled to another size, each channel by itself, in
/// memory that `reserve` gives for so many bytes.
fn scale(
    width: u32,
    height: u32,
    rgba: &[u8],
    to: Size,
    reserve: fn(usize) -> Vec<u8>,
) -> Result<Vec<u8>, Error> {
    // Only this kind of pixels is compiled: each has about a hundred kilobytes of machine code.
    type Rgba = resize::pixels::U8x4;
    let (to_width, to_height) = sides(to);
    let length = checked_pixel_count(to_width, to_height)? * 4;
    let failed = |reason: &dyn std::fmt::Display| Error::Unscalable { reason: reason.to_string() };
    let from =
        TypedImageRef::<Rgba>::from_buffer(width, height, rgba).map_err(|error| failed(&error))?;
    let mut scaled = reserve(length);
    scaled.resize(length, 0);
    let mut into = TypedImage::<Rgba>::from_buffer(to_width, to_height, &mut scaled)
        .map_err(|error| failed(&error))?;
    let options = resize::ResizeOptions::new()
        .resize_alg(resize::ResizeAlg::Convolution(resize::FilterType::CatmullRom))
        .use_alpha(false);
    resize::Resizer::new()
        .resize_typed(&from, &mut into, &options)
        .map_err(|error| failed(&error))?;
    Ok(scaled)
}

fn encode_jpeg(
    width: u32,
    height: u32,
    bytes: &[u8],
    colour: jpeg_encoder::ColorType,
    quality: u8,
) -> Result<Image, Error> {
    let too_long = || unwritable(Format::Jpeg, &"a side is longer than 65535 pixels");
    let width = u16::try_from(width).map_err(|_| too_long())?;
    let height = u16::try_from(height).map_err(|_| too_long())?;
    let mut file = Vec::new();
    let mut encoder = jpeg_encoder::Encoder::new(&mut file, quality);
    encoder.set_sampling_factor(SamplingFactor::F_2_2);
    // Not with optimized Huffman tables, though they save a fifth: jpeg-encoder then writes a scan
    // per component, which zune-jpeg 0.5 decodes to other colors where the chroma is subsampled
    // (libjpeg-turbo decodes it well).
    let written = encoder.encode(bytes, width, height, colour);
    written.map_err(|error| unwritable(Format::Jpeg, &error))?;
    Ok(Image { format: Format::Jpeg, bytes: file.into() })
}

/// Width and height; 0 for what is negative.
fn sides(size: Size) -> (u32, u32) {
    let side = |side: i32| u32::try_from(side).unwrap_or(0);
    (side(size.width), side(size.height))
}

impl std::fmt::Debug for Pixels {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Pixels({}x{})", self.width, self.height)
    }
}

/// The number of pixels, if it is within the limits.
fn checked_pixel_count(width: u32, height: u32) -> Result<usize, Error> {
    let pixels = u64::from(width) * u64::from(height);
    match usize::try_from(pixels) {
        Ok(pixels) if (1..=MAX_PIXELS).contains(&pixels) => Ok(pixels),
        _ => Err(Error::Size { width, height }),
    }
}

fn read_png(bytes: &[u8]) -> Result<Pixels, Error> {
    let broken = |error: png::DecodingError| unreadable(Format::Png, &error);
    let mut decoder = png::Decoder::new(Cursor::new(bytes));
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    decoder.set_ignore_text_chunk(true);
    decoder.set_ignore_iccp_chunk(true);
    let header = decoder.read_header_info().map_err(broken)?;
    let (width, height) = (header.width, header.height);
    let pixels = checked_pixel_count(width, height)?;
    let mut reader = decoder.read_info().map_err(broken)?;
    let (colour, _) = reader.output_color_type();
    // Normalization removes palettes and expands to bytes.
    let add: fn(&mut Vec<u8>, &[u8]) = match colour {
        png::ColorType::Rgb => |rgb, read| rgb.extend_from_slice(read),
        png::ColorType::Rgba => |rgb, read| add_rgb::<4>(rgb, read, [0, 1, 2]),
        png::ColorType::GrayscaleAlpha => |rgb, read| add_rgb::<2>(rgb, read, [0, 0, 0]),
        png::ColorType::Grayscale => |rgb, read| add_rgb::<1>(rgb, read, [0, 0, 0]),
        png::ColorType::Indexed => return Err(unreadable(Format::Png, &"unexpected palette")),
    };
    let mut rgb = buffer(pixels * 3);
    if reader.info().interlaced {
        let mut read = vec![0; pixels * colour.samples()];
        reader.next_frame(&mut read).map_err(broken)?;
        add(&mut rgb, &read);
    } else {
        // Row by row: the whole image with its alpha would be another 10 MB.
        while let Some(row) = reader.next_row().map_err(broken)? {
            add(&mut rgb, row.data());
        }
    }
    Pixels::new(width, height, rgb).ok_or_else(|| unreadable(Format::Png, &"rows are missing"))
}

fn read_jpeg(bytes: &[u8]) -> Result<Pixels, Error> {
    let options = DecoderOptions::default().jpeg_set_out_colorspace(ColorSpace::RGB);
    let mut decoder = JpegDecoder::new_with_options(
        zune_jpeg::zune_core::bytestream::ZCursor::new(bytes),
        options,
    );
    decoder.decode_headers().map_err(|error| unreadable(Format::Jpeg, &error))?;
    let (width, height) =
        decoder.info().map_or((0, 0), |info| (u32::from(info.width), u32::from(info.height)));
    checked_pixel_count(width, height)?;
    let rgb = decoder.decode().map_err(|error| unreadable(Format::Jpeg, &error))?;
    Pixels::new(width, height, rgb)
        .ok_or_else(|| unreadable(Format::Jpeg, &"it does not decode to RGB"))
}

fn read_webp(bytes: &[u8]) -> Result<Pixels, Error> {
    let broken = |error: image_webp::DecodingError| unreadable(Format::Webp, &error);
    let mut decoder = WebPDecoder::new(Cursor::new(bytes)).map_err(broken)?;
    let (width, height) = decoder.dimensions();
    let pixels = checked_pixel_count(width, height)?;
    // Memory the decoder may use besides its output.
    decoder.set_memory_limit(MAX_PIXELS * 4);
    let samples = if decoder.has_alpha() { 4 } else { 3 };
    let mut read = vec![0; pixels * samples];
    decoder.read_image(&mut read).map_err(broken)?;
    if samples == 4 {
        let mut rgb = buffer(pixels * 3);
        add_rgb::<4>(&mut rgb, &read, [0, 1, 2]);
        read = rgb;
    }
    Ok(Pixels { width, height, rgb: read })
}

/// An empty buffer for so many bytes.
fn buffer(bytes: usize) -> Vec<u8> {
    // Memory is reserved, not used, beyond what is written. An allocation above 32 MiB goes back to
    // the system as soon as it is freed; a smaller one glibc keeps, for each thread that ever
    // converted a picture (mallopt(3), M_MMAP_THRESHOLD).
    const GIVEN_BACK: usize = (32 << 20) + 1;
    Vec::with_capacity(bytes.max(GIVEN_BACK))
}

/// Appends the RGB values of each pixel, found at these indices among its samples.
fn add_rgb<const SAMPLES: usize>(rgb: &mut Vec<u8>, read: &[u8], at: [usize; 3]) {
    repack::<SAMPLES, 3>(rgb, read, |pixel| at.map(|at| pixel[at]));
}

/// Appends each pixel in another form.
fn repack<const FROM: usize, const TO: usize>(
    out: &mut Vec<u8>,
    read: &[u8],
    convert: impl Fn(&[u8; FROM]) -> [u8; TO],
) {
    let (pixels, _) = read.as_chunks::<FROM>();
    let begin = out.len();
    out.resize(begin + pixels.len() * TO, 0);
    let (to, _) = out[begin..].as_chunks_mut::<TO>();
    for (to, pixel) in to.iter_mut().zip(pixels) {
        *to = convert(pixel);
    }
}

fn unreadable(format: Format, reason: &dyn std::fmt::Display) -> Error {
    Error::Unreadable { format, reason: reason.to_string() }
}

fn unwritable(format: Format, reason: &dyn std::fmt::Display) -> Error {
    Error::Unwritable { format, reason: reason.to_string() }
}
