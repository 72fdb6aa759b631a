//! Whether a PNG arrived as it was written: each of its chunks ends with a sum (PNG specification, 5.3).
//!
//! Not here: whether its pixels can be unpacked.

/// What every PNG begins with.
pub(crate) const SIGNATURE: &[u8] = b"\x89PNG\r\n\x1a\n";

/// Whether all sums agree, up to the last chunk.
pub(crate) fn agree(png: &[u8]) -> bool {
    let Some(mut rest) = png.strip_prefix(SIGNATURE) else { return false };
    // Ends: each round takes 12 bytes at least.
    loop {
        let Some((length, chunk)) = rest.split_first_chunk::<4>() else { return false };
        let Ok(length) = usize::try_from(u32::from_be_bytes(*length)) else { return false };
        // A chunk is its name, of four bytes, and its contents; the length counts these alone.
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
    fn a_single_bit_that_differs_shows() {
        // A pixel, as an encoder wrote it.
        let mut png = Vec::new();
        let mut encoder = png::Encoder::new(&mut png, 1, 1);
        encoder.set_color(png::ColorType::Rgba);
        encoder.write_header().unwrap().write_image_data(&[1, 2, 3, 4]).unwrap();
        assert!(agree(&png));
        for byte in 0..png.len() {
            let mut spoilt = png.clone();
            spoilt[byte] ^= 1;
            assert!(!agree(&spoilt), "byte {byte}");
            assert!(!agree(&png[..byte]), "{byte} bytes");
        }
    }
}
