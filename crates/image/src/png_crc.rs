//! Checks whether a PNG has arrived whole: its begin and end, and the CRC at the end of each chunk
//! (PNG specification, 5.3).
//!
//! Does not check whether the pixels can be decompressed.

use crate::Size;

/// The PNG signature.
pub const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";

/// The size of a PNG that is not truncated: it begins with an IHDR chunk, which has the size, and
/// ends with IEND.
pub fn complete_png_size(png: &[u8]) -> Option<Size> {
    let header = png.strip_prefix(SIGNATURE)?.get(4..16)?;
    if !header.starts_with(b"IHDR") || !png.ends_with(b"IEND\xae\x42\x60\x82") {
        return None;
    }
    let side = |from: usize| {
        let bytes: [u8; 4] = header.get(from..from + 4)?.try_into().ok()?;
        i32::try_from(u32::from_be_bytes(bytes)).ok().filter(|side| *side > 0)
    };
    Some(Size { width: side(4)?, height: side(8)? })
}

/// How many bytes a PNG has, by the lengths of its chunks up to IEND; `None` if it is cut off.
pub fn png_length(bytes: &[u8]) -> Option<usize> {
    let mut at = SIGNATURE.len();
    loop {
        let (length, chunk) = bytes.get(at..)?.split_first_chunk::<4>()?;
        at = at.checked_add(usize::try_from(u32::from_be_bytes(*length)).ok()?)?.checked_add(12)?;
        if chunk.starts_with(b"IEND") {
            return (at <= bytes.len()).then_some(at);
        }
    }
}

/// Whether all CRCs match, up to the last chunk.
pub fn crcs_match(png: &[u8]) -> bool {
    let Some(mut rest) = png.strip_prefix(SIGNATURE) else { return false };
    // Terminates: each iteration consumes at least 12 bytes.
    loop {
        let Some((length, chunk)) = rest.split_first_chunk::<4>() else { return false };
        let Ok(length) = usize::try_from(u32::from_be_bytes(*length)) else { return false };
        // A chunk is a four-byte name and its data; the length counts only the data.
        let Some((chunk, end)) = length.checked_add(4).and_then(|end| chunk.split_at_checked(end))
        else {
            return false;
        };
        let Some((sum, next)) = end.split_first_chunk::<4>() else { return false };
        if crc32fast::hash(chunk) != u32::from_be_bytes(*sum) {
            return false;
        }
        if chunk.starts_with(b"IEND") {
            return true;
        }
        rest = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn single_bit_flip_is_detected() {
        // A pixel, written by an encoder.
        let mut png = Vec::new();
        let mut encoder = png::Encoder::new(&mut png, 1, 1);
        encoder.set_color(png::ColorType::Rgba);
        encoder.write_header().unwrap().write_image_data(&[1, 2, 3, 4]).unwrap();
        assert!(crcs_match(&png));
        assert_eq!(complete_png_size(&png), Some(Size { width: 1, height: 1 }));
        for byte in 0..png.len() {
            let mut spoilt = png.clone();
            spoilt[byte] ^= 1;
            assert!(!crcs_match(&spoilt), "byte {byte}");
            assert!(!crcs_match(&png[..byte]), "{byte} bytes");
            assert_eq!(complete_png_size(&png[..byte]), None, "{byte} bytes");
        }
    }
}
