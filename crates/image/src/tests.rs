//! Noise images, black images and invalid files.

use proptest::prelude::*;

use super::*;

/// Noise from a fixed seed: nothing compresses it.
fn noise(width: u32, height: u32) -> Pixels {
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    let bytes = std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    });
    Pixels::new(width, height, bytes.take((width * height * 3) as usize).collect()).unwrap()
}

/// A soft color gradient, which every format can store almost exactly.
fn slope(width: u32, height: u32) -> Pixels {
    let pixel = |at: u32| {
        let (x, y) = (at % width, at / width);
        [(x * 255 / width) as u8, (y * 255 / height) as u8, 128]
    };
    Pixels::new(width, height, (0..width * height).flat_map(pixel).collect()).unwrap()
}

fn farthest(one: &Pixels, other: &Pixels) -> u8 {
    assert_eq!(one.size(), other.size());
    let apart = one.rgb().iter().zip(other.rgb()).map(|(one, other)| one.abs_diff(*other));
    apart.max().unwrap()
}

#[test]
fn every_format_round_trips() {
    let pixels = slope(60, 40);
    for (format, apart) in [(Format::Png, 0), (Format::Webp, 0), (Format::Jpeg, 12)] {
        let image = pixels.write(format).unwrap();
        assert_eq!(image.format, format);
        let read = Pixels::read(&image).unwrap();
        assert!(farthest(&pixels, &read) <= apart, "{format:?}: {}", farthest(&pixels, &read));
    }
}

/// Screens are eight-bit RGB with or without alpha; files may be anything else.
#[test]
fn every_png_color_type_decodes_to_rgb() {
    use png::{BitDepth, ColorType};
    let check = |colour: ColorType, depth: BitDepth, data: &[u8], rgb: [u8; 6]| {
        let mut bytes = Vec::new();
        let mut encoder = png::Encoder::new(&mut bytes, 2, 1);
        encoder.set_color(colour);
        encoder.set_depth(depth);
        if colour == ColorType::Indexed {
            encoder.set_palette(vec![1, 2, 3, 4, 5, 6]);
            encoder.set_trns(vec![255, 0]);
        }
        let mut writer = encoder.write_header().unwrap();
        writer.write_image_data(data).unwrap();
        writer.finish().unwrap();
        let read = Pixels::read(&Image { format: Format::Png, bytes: bytes.into() }).unwrap();
        assert_eq!(read.rgb(), rgb, "{colour:?} {depth:?}");
    };
    let (one, eight, sixteen) = (BitDepth::One, BitDepth::Eight, BitDepth::Sixteen);
    check(ColorType::Rgba, eight, &[1, 2, 3, 0, 4, 5, 6, 255], [1, 2, 3, 4, 5, 6]);
    check(ColorType::Rgb, sixteen, &[1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0], [1, 2, 3, 4, 5, 6]);
    check(ColorType::Grayscale, one, &[0b0100_0000], [0, 0, 0, 255, 255, 255]);
    check(ColorType::GrayscaleAlpha, eight, &[7, 0, 9, 255], [7, 7, 7, 9, 9, 9]);
    check(ColorType::Indexed, one, &[0b0100_0000], [1, 2, 3, 4, 5, 6]);
}

#[test]
fn written_files_start_with_their_format_signature() {
    let pixels = slope(8, 8);
    let starts =
        [(Format::Png, &b"\x89PNG"[..]), (Format::Jpeg, b"\xff\xd8"), (Format::Webp, b"RIFF")];
    for (format, start) in starts {
        assert!(pixels.write(format).unwrap().bytes.starts_with(start), "{format:?}");
    }
}

#[test]
fn png_within_the_limit_is_unchanged() {
    let image = slope(60, 40).write(Format::Png).unwrap();
    let max_bytes = Some(image.bytes.len());
    assert_eq!(fit(image.clone(), FormatPreference::AsTaken, max_bytes).unwrap(), image);
    assert_eq!(fit(image.clone(), FormatPreference::Only(Format::Png), max_bytes).unwrap(), image);
    // An image that fits is not even decoded.
    let invalid = Image { format: Format::Png, bytes: Bytes::from_static(b"not a PNG") };
    assert_eq!(fit(invalid.clone(), FormatPreference::AsTaken, None).unwrap(), invalid);
}

#[test]
fn oversized_png_is_recompressed_first() {
    let pixels = slope(300, 200);
    let (fast, strong) =
        (pixels.write_png(Effort::Fast).unwrap(), pixels.write_png(Effort::Strong).unwrap());
    assert!(strong.bytes.len() < fast.bytes.len());
    let fitted = fit(fast, FormatPreference::AsTaken, Some(strong.bytes.len())).unwrap();
    assert_eq!(fitted, strong);
}

#[test]
fn noise_becomes_a_jpeg_of_the_same_dimensions() {
    let pixels = noise(270, 600);
    let png = pixels.write(Format::Png).unwrap();
    assert!(png.bytes.len() > 480_000, "{}", png.bytes.len());
    let all = Format::ALL.map(FormatPreference::Only);
    for format in all.into_iter().chain([FormatPreference::AsTaken, FormatPreference::Smallest]) {
        let fitted = fit(png.clone(), format, Some(125_000)).unwrap();
        assert_eq!(fitted.format, Format::Jpeg);
        assert!(fitted.bytes.len() <= 125_000, "{}", fitted.bytes.len());
        assert_eq!(Pixels::read(&fitted).unwrap().size(), pixels.size());
    }
}

#[test]
fn smallest_file_is_exact_where_the_screen_is_plain() {
    let plain = Pixels::new(270, 600, vec![250; 270 * 600 * 3]).unwrap();
    let image = fit(plain.write(Format::Png).unwrap(), FormatPreference::Smallest, None).unwrap();
    assert_eq!((image.format, Pixels::read(&image).unwrap()), (Format::Webp, plain));
    let rich = noise(270, 600);
    let image = rich.write_smallest().unwrap();
    assert_eq!(image.format, Format::Jpeg);
    assert!(image.bytes.len() < rich.write(Format::Webp).unwrap().bytes.len());
    // Either is good enough to be passed on.
    assert_eq!(fit(image.clone(), FormatPreference::Smallest, None).unwrap(), image);
}

#[test]
fn image_that_cannot_fit_reports_both_sizes() {
    let png = noise(100, 100).write(Format::Png).unwrap();
    let error = fit(png, FormatPreference::AsTaken, Some(200)).unwrap_err();
    assert!(matches!(error, Error::TooLarge { least, max: 200 } if least > 200), "{error}");
    assert!(error.to_string().ends_with("the limit is 200"), "{error}");
}

#[test]
fn scaled_image_looks_the_same() {
    let (large, small) = (slope(600, 400), slope(150, 100));
    let scaled = large.scaled(Size { width: 150, height: 100 }).unwrap();
    assert!(farthest(&scaled, &small) <= 4, "{}", farthest(&scaled, &small));
    for (width, height) in [(0, 10), (-1, 10), (i32::MAX, i32::MAX)] {
        let refused = large.scaled(Size { width, height });
        assert!(matches!(refused, Err(Error::Size { .. })), "{refused:?}");
    }
}

#[test]
fn huge_image_is_rejected_before_allocating() {
    let mut png = slope(2, 2).write(Format::Png).unwrap().bytes.to_vec();
    png[16..20].copy_from_slice(&100_000_u32.to_be_bytes());
    png[20..24].copy_from_slice(&100_000_u32.to_be_bytes());
    // The header's own CRC.
    let sum = crc(&png[12..29]);
    png[29..33].copy_from_slice(&sum.to_be_bytes());
    let refused = Pixels::read(&Image { format: Format::Png, bytes: png.into() });
    assert_eq!(refused, Err(Error::Size { width: 100_000, height: 100_000 }));
    let counts = [(0, 0, 0), (1, 1, 4), (2, 2, 11), (u32::MAX, u32::MAX, 3)];
    for (width, height, bytes) in counts {
        assert!(Pixels::new(width, height, vec![0; bytes]).is_none());
    }
}

/// The CRC of a PNG chunk (ISO 3309).
fn crc(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |sum, byte| {
        (0..8).fold(sum ^ u32::from(*byte), |sum, _| {
            if sum & 1 == 1 { sum >> 1 ^ 0xEDB8_8320 } else { sum >> 1 }
        })
    })
}

#[test]
fn black_image_differs_from_a_dark_one() {
    let with = |format: Format, lit: usize, rest: [u8; 3]| {
        let mut rgb: Vec<u8> = rest.repeat(400 * 800);
        // Lit from the bottom, where there is no status bar.
        let from = rgb.len() - lit * 3;
        rgb[from..].fill(200);
        let image = Pixels::new(400, 800, rgb).unwrap().write(format).unwrap();
        blackness(&image, Size { width: 400, height: 800 })
    };
    let below = 400 * 720;
    for format in Format::ALL {
        assert_eq!(with(format, 0, [0, 0, 0]), Blackness::Whole);
        assert_eq!(with(format, below / 20, [0, 0, 0]), Blackness::Nearly);
        assert_eq!(with(format, below / 5, [0, 0, 0]), Blackness::No);
        assert_eq!(with(format, 0, [18, 18, 18]), Blackness::No);
    }
}

#[test]
fn large_file_is_not_decoded_to_check_blackness() {
    // Broken data, so decoding it would give the same result; but the file size alone decides.
    let image = Image { format: Format::Png, bytes: vec![0; 100 * 200].into() };
    assert_eq!(blackness(&image, Size { width: 100, height: 200 }), Blackness::No);
}

proptest! {
    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..600), start in 0..4_usize) {
        let starts: [&[u8]; 4] = [b"", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff\xe0", b"RIFF"];
        let bytes = Bytes::from([starts[start], &bytes].concat());
        for format in Format::ALL {
            let image = Image { format, bytes: bytes.clone() };
            let _ = Pixels::read(&image);
            let _ = fit(image, FormatPreference::Only(Format::Jpeg), Some(100));
        }
    }

    #[test]
    fn no_damage_panics(at in any::<prop::sample::Index>(), byte in any::<u8>(), kept in any::<prop::sample::Index>()) {
        let pixels = slope(20, 30);
        for format in Format::ALL {
            let mut bytes = pixels.write(format).unwrap().bytes.to_vec();
            let at = at.index(bytes.len());
            bytes[at] = byte;
            let _ = Pixels::read(&Image { format, bytes: bytes.clone().into() });
            bytes.truncate(kept.index(bytes.len()));
            let _ = Pixels::read(&Image { format, bytes: bytes.into() });
        }
    }
}

#[test]
fn image_turns_clockwise() {
    let of = |width, height, grey: &[u8]| {
        Pixels::new(width, height, grey.iter().flat_map(|grey| [*grey; 3]).collect()).unwrap()
    };
    let upright = of(3, 2, &[1, 2, 3, 4, 5, 6]);
    assert_eq!(upright.rotated(0), upright);
    assert_eq!(upright.rotated(1), of(2, 3, &[4, 1, 5, 2, 6, 3]));
    assert_eq!(upright.rotated(2), of(3, 2, &[6, 5, 4, 3, 2, 1]));
    assert_eq!(upright.rotated(3), of(2, 3, &[3, 6, 2, 5, 1, 4]));
    assert_eq!(upright.rotated(4), upright);
}
