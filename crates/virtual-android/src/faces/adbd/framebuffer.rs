//! `framebuffer:`: a screenshot with adb's own header.
//!
//! adbd runs `screencap` and replaces its header: little-endian words, version 1 without the colour
//! space before Android 9. Source: `framebuffer_service.cpp` of AOSP's adb, and the headers in
//! `framebuffer` of the captures.

use crate::latency;
use crate::phone::VirtualPhone;
use thumbwire_adb::LinkStream;
use thumbwire_virtual_phone::Frame;
use tokio::io::AsyncWriteExt;

/// RGBA_8888: bit offset and bit length of red, blue, green and alpha.
const CHANNELS: [u32; 8] = [0, 8, 16, 8, 8, 8, 24, 8];
const BITS: u32 = 32;
/// The colour space that `screencap` reports for sRGB.
const SRGB: u32 = 1;

pub(super) async fn serve(phone: VirtualPhone, mut stream: LinkStream) {
    let release = phone.release();
    phone.inject_before("framebuffer").await;
    phone.run_work(latency::CAPTURE_RAW).await;
    let frame = phone.with(|phone| phone.screenshot());
    // The host may have disconnected; that is fine.
    let _ = stream.write_all(&header(&frame, release.colour_space)).await;
    let _ = stream.write_all(&frame.rgba).await;
}

fn header(frame: &Frame, colour_space: bool) -> Vec<u8> {
    let size = u32::try_from(frame.rgba.len()).unwrap_or(u32::MAX);
    let mut text = if colour_space { vec![2, BITS, SRGB] } else { vec![1, BITS] };
    text.extend([size, frame.width, frame.height]);
    text.extend(CHANNELS);
    text.into_iter().flat_map(u32::to_le_bytes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The two headers in `framebuffer` of the captures; the second has no colour space.
    #[test]
    fn headers_are_those_of_the_captures() {
        let check = |width: u32, height: u32, colour_space, head: &[u32]| {
            let rgba = vec![0; (width * height * 4) as usize];
            let bytes = header(&Frame { width, height, rgba }, colour_space);
            let text: Vec<u32> = bytes
                .chunks(4)
                .map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]))
                .collect();
            assert_eq!(text, [head, &[0, 8, 16, 8, 8, 8, 24, 8]].concat());
        };
        check(1, 1, false, &[1, 32, 4, 1, 1]);
        check(1080, 1920, true, &[2, 32, SRGB, 0x7e_9000, 1080, 1920]);
    }
}
