//! Pictures of the screen as PNG and JPEG.

use thumbwire_virtual_phone::{Frame, Rect};

/// A PNG, or `None` if it cannot be written.
pub(crate) fn png(frame: &Frame) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, frame.width, frame.height);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_depth(png::BitDepth::Eight);
    encoder.set_compression(png::Compression::Fast);
    let mut writer = encoder.write_header().ok()?;
    writer.write_image_data(&frame.rgba).ok()?;
    writer.finish().ok()?;
    Some(bytes)
}

/// A JPEG of this quality, 1 to 100, or `None` if it cannot be written.
pub(crate) fn jpeg(frame: &Frame, quality: u8) -> Option<Vec<u8>> {
    let (width, height) = (u16::try_from(frame.width).ok()?, u16::try_from(frame.height).ok()?);
    let mut bytes = Vec::new();
    let encoder = jpeg_encoder::Encoder::new(&mut bytes, quality.clamp(1, 100));
    encoder.encode(&frame.rgba, width, height, jpeg_encoder::ColorType::Rgba).ok()?;
    Some(bytes)
}

/// The part of a frame inside a rectangle, or `None` if nothing is inside.
pub(crate) fn crop(frame: &Frame, to: Rect) -> Option<Frame> {
    let side = |length: u32| i32::try_from(length).unwrap_or(i32::MAX);
    let to = to.intersect(&Rect::new(0, 0, side(frame.width), side(frame.height)));
    if to.is_empty() {
        return None;
    }
    let part =
        |from: i32, length: i32| Some((usize::try_from(from).ok()?, usize::try_from(length).ok()?));
    let (left, width) = part(to.left, to.width())?;
    let (top, height) = part(to.top, to.height())?;
    let stride = usize::try_from(frame.width).ok()? * 4;
    let rows = frame.rgba.chunks_exact(stride).skip(top).take(height);
    let rgba = rows.flat_map(|row| row[left * 4..(left + width) * 4].iter().copied()).collect();
    Some(Frame { width: u32::try_from(width).ok()?, height: u32::try_from(height).ok()?, rgba })
}
