//! Pictures of the screen: PNG, JPEG, WebP.
#![no_main]

use libfuzzer_sys::fuzz_target;
use thumbwire_image::{Format, Image, Pixels};

fuzz_target!(|input: (u8, &[u8])| {
    let (format, bytes) = input;
    let format = [Format::Png, Format::Jpeg, Format::Webp][usize::from(format % 3)];
    let image = Image { format, bytes: bytes.to_vec().into() };
    let Ok(pixels) = Pixels::read(&image) else { return };
    let size = pixels.size();
    assert_eq!(pixels.rgb().len() as i64, i64::from(size.width) * i64::from(size.height) * 3);
});
