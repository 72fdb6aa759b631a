//! The pixels of a screen, and files of them.

use std::mem::take;
use std::sync::Mutex;

use thumbwire_image::{PixelLimits, Size, jpeg_of_rgba};

use crate::geometry::Rect;

/// The memory of a frame that is gone, for the next one. Fresh memory would cost a third of a
/// picture's time, because the system hands it out page by page.
static SPARE: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// The pixels of a screen, rows from the top, four bytes each: red, green, blue, alpha (always
/// 255).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// `width * height * 4` bytes.
    pub rgba: Vec<u8>,
}

impl Drop for Frame {
    fn drop(&mut self) {
        let rgba = take(&mut self.rgba);
        if let Ok(mut spare) = SPARE.try_lock()
            && spare.capacity() < rgba.capacity()
        {
            *spare = rgba;
        }
    }
}

impl Frame {
    /// A frame of one grey level; 0 for a screen that is off.
    pub fn blank(width: i32, height: i32) -> Self {
        let (width, height) = (width.max(1) as u32, height.max(1) as u32);
        let mut rgba = SPARE.try_lock().map(|mut spare| take(&mut *spare)).unwrap_or_default();
        rgba.resize(width as usize * height as usize * 4, 0);
        rgba.as_chunks_mut().0.fill([0, 0, 0, 255]);
        Self { width, height, rgba }
    }

    /// The frame turned clockwise by quarter turns.
    #[must_use]
    pub fn rotated(self, quarter_turns: u8) -> Self {
        let (width, height) = (self.width as usize, self.height as usize);
        let (to_width, to_height) = match quarter_turns % 4 {
            0 => return self,
            2 => (width, height),
            _ => (height, width),
        };
        let mut rgba = Vec::with_capacity(self.rgba.len());
        for y in 0..to_height {
            for x in 0..to_width {
                let (from_x, from_y) = match quarter_turns % 4 {
                    1 => (y, height - 1 - x),
                    2 => (width - 1 - x, height - 1 - y),
                    _ => (width - 1 - y, x),
                };
                let at = (from_y * width + from_x) * 4;
                rgba.extend_from_slice(&self.rgba[at..at + 4]);
            }
        }
        Self { width: to_width as u32, height: to_height as u32, rgba }
    }

    /// Red, green and blue of the pixel at `x`, `y`; `None` outside.
    pub fn pixel(&self, x: i32, y: i32) -> Option<[u8; 3]> {
        let (x, y) = (u32::try_from(x).ok()?, u32::try_from(y).ok()?);
        if x >= self.width || y >= self.height {
            return None;
        }
        let at = (y as usize * self.width as usize + x as usize) * 4;
        self.rgba.get(at..at + 3)?.try_into().ok()
    }

    /// The part inside a rectangle; `None` if nothing is inside.
    pub fn cropped(&self, part: &Rect) -> Option<Self> {
        let side = |length: u32| i32::try_from(length).unwrap_or(i32::MAX);
        let part = part.intersect(&Rect::new(0, 0, side(self.width), side(self.height)));
        if part.is_empty() {
            return None;
        }
        let (left, top) = (part.left as usize, part.top as usize);
        let (width, height) = (part.width() as usize, part.height() as usize);
        let rows = self.rgba.chunks_exact(self.width as usize * 4).skip(top).take(height);
        let rgba = rows.flat_map(|row| &row[left * 4..(left + width) * 4]).copied().collect();
        Some(Self { width: width as u32, height: height as u32, rgba })
    }

    /// A PNG with an alpha channel, as phones make it; `None` without pixels.
    pub fn png(&self) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, self.width, self.height);
        encoder.set_color(png::ColorType::Rgba);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_compression(png::Compression::Fast);
        let mut writer = encoder.write_header().ok()?;
        writer.write_image_data(&self.rgba).ok()?;
        writer.finish().ok()?;
        Some(bytes)
    }

    /// A JPEG of this quality, 1 to 100, scaled so that its longer side has at most so many pixels;
    /// `None` if a side is longer than 65,535 pixels.
    pub fn jpeg(&self, quality: u8, max_side: u32) -> Option<Jpeg> {
        let (width, height) = (self.width as i32, self.height as i32);
        let whole = Size { width, height };
        let size = PixelLimits::longer_side(max_side).target(whole);
        let image = jpeg_of_rgba(whole, &self.rgba, size, quality.clamp(1, 100)).ok()?;
        Some(Jpeg { size, bytes: image.bytes.into() })
    }
}

/// A JPEG file of a screen.
pub struct Jpeg {
    /// Width and height in pixels.
    pub size: Size,
    /// The file.
    pub bytes: Vec<u8>,
}
