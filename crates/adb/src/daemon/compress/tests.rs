//! Round trips at any split, output of other encoders, and decompression bombs.

use std::io::Write as _;

use lz4_flex::frame::{BlockMode, BlockSize, FrameEncoder, FrameInfo};
use proptest::prelude::*;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use super::*;

/// Compressible content: repeated words, and noise.
fn content(length: usize) -> Vec<u8> {
    let mut seed = 7_u32;
    (0..length)
        .map(|at| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            if at % 97 < 60 { b"the phone "[at % 10] } else { (seed >> 24) as u8 }
        })
        .collect()
}

fn stored(compression: Compression, content: &[u8], piece: usize) -> Vec<u8> {
    let (mut stored, mut out) = (Stored::new(compression), BytesMut::new());
    for piece in content.chunks(piece) {
        stored.push(piece, &mut out);
    }
    stored.finish(&mut out);
    out.to_vec()
}

/// Really compressed, except for brotli, whose encoder is too large to be built for tests: stock
/// adbs push with it.
fn compressed(compression: Compression, content: &[u8]) -> Vec<u8> {
    match compression {
        Compression::None | Compression::Brotli => stored(compression, content, PIECE),
        Compression::Lz4 => {
            // Like AOSP's.
            let info =
                FrameInfo::new().block_size(BlockSize::Max64KB).block_mode(BlockMode::Linked);
            let mut encoder = FrameEncoder::with_frame_info(info, Vec::new());
            encoder.write_all(content).unwrap();
            encoder.finish().unwrap()
        }
        Compression::Zstd => compress_to_vec(content, CompressionLevel::Fastest),
    }
}

fn decompressed(
    compression: Compression,
    data: &[u8],
    piece: usize,
) -> Result<Vec<u8>, MalformedMessage> {
    let (mut decompressor, mut content) = (Decompressor::new(compression), Vec::new());
    for piece in data.chunks(piece.max(1)) {
        decompressor.push(Bytes::copy_from_slice(piece));
        while let Some(piece) = decompressor.pull()? {
            assert!(!piece.is_empty() && piece.len() <= PIECE);
            content.extend_from_slice(&piece);
        }
    }
    decompressor.finish()?;
    Ok(content)
}

#[test]
fn content_round_trips_at_any_split() {
    for compression in [Compression::None, Compression::Brotli, Compression::Lz4, Compression::Zstd]
    {
        for length in [0, 1, 65_535, 65_536, 131_072, 131_073, 1_000_000] {
            let content = content(length);
            for piece in [1000, PIECE, 3 << 20] {
                let data = stored(compression, &content, piece);
                let back = decompressed(compression, &data, piece).unwrap();
                assert!(back == content, "{compression:?} {length} by {piece}");
                let back = decompressed(compression, &compressed(compression, &content), piece);
                assert!(back.unwrap() == content, "{compression:?} {length} by {piece}");
            }
        }
    }
}

#[test]
fn single_bytes_are_enough() {
    let content = content(3000);
    for compression in Compression::ALL {
        for data in [stored(compression, &content, 1), compressed(compression, &content)] {
            assert!(decompressed(compression, &data, 1).unwrap() == content, "{compression:?}");
        }
    }
}

/// Really compressed in each format.
fn samples() -> [(Compression, Vec<u8>); 3] {
    let [lz4, zstd] = [Compression::Lz4, Compression::Zstd]
        .map(|compression| (compression, compressed(compression, &content(4000))));
    [(Compression::Brotli, BROTLI.into()), lz4, zstd]
}

#[test]
fn truncated_or_trailing_data_is_refused() {
    for (compression, data) in samples() {
        for cut in 0..data.len() {
            assert!(decompressed(compression, &data[..cut], PIECE).is_err(), "{compression:?}");
        }
        let twice = [&data[..], &data].concat();
        assert!(decompressed(compression, &twice, PIECE).is_err(), "{compression:?}");
        assert!(decompressed(compression, &twice, 1).is_err(), "{compression:?}");
    }
}

/// Made from `abc`, eight times, by `zstd -1` (1.5.4), `lz4` (1.9.4) and node's
/// `brotliCompressSync` (20.20) at quality 1.
#[test]
fn output_of_common_encoders_is_read() {
    let check = |compression, data: &[u8]| {
        assert_eq!(
            decompressed(compression, data, 1).unwrap(),
            b"abc".repeat(8),
            "{compression:?}"
        );
    };
    check(Compression::Zstd, ZSTD);
    check(Compression::Lz4, LZ4);
    check(Compression::Brotli, BROTLI);
}

/// Expands a millionfold, and never holds more than a window, because nobody pulls it.
#[test]
fn decompression_bomb_expands_in_chunks() {
    let zeros = vec![0; 64 << 20];
    for compression in Compression::ALL {
        let bomb = match compression {
            Compression::Brotli => BROTLI_BOMB.into(),
            _ => compressed(compression, &zeros),
        };
        assert!(bomb.len() < 400_000, "{compression:?}: {}", bomb.len());
        let mut decompressor = Decompressor::new(compression);
        decompressor.push(bomb.into());
        for _ in 0..16 {
            assert_eq!(decompressor.pull().unwrap().unwrap().len(), PIECE, "{compression:?}");
        }
    }
}

#[test]
fn frame_with_too_large_window_is_refused() {
    // Windows of 2^(10 + 14) and 2^(10 + 13) bytes.
    let frame = |window: u8| [&MAGIC_OF_ZSTD[..], &[0, window << 3], &[1, 0, 0]].concat();
    assert!(decompressed(Compression::Zstd, &frame(14), PIECE).is_err());
    assert_eq!(decompressed(Compression::Zstd, &frame(13), PIECE).unwrap(), b"");
}

const ZSTD: &[u8] = b"\x28\xb5\x2f\xfd\x04\x48\x4d\0\0\x18abc\x01\0\x7e\x6e\x08\x48\xc3\xd3\x0e";
const LZ4: &[u8] =
    b"\x04\x22\x4d\x18\x64\x40\xa7\x0c\0\0\0\x3cabc\x03\0\x50bcabc\0\0\0\0\xfe\xe0\x29\xab";
const BROTLI: &[u8] =
    b"\x8b\x0b\0\0\x20\xc3\xc4\xc6\xe0\0\xee\xc3\x8f\x94\xd8\x60\xcc\x71\x83\xd6\xa1\x01";
/// 64 MiB of zeros by node's `brotliCompressSync` (20.20).
const BROTLI_BOMB: &[u8] =
    b"\xcb\xff\xff\x3f\xf8\x27\x00\xe2\xb1\x40\x20\xf7\xfe\x8f\xff\xff\x7f\xf0\x4f\x00\xc4\x61\
      \x11\x80\xee\xfd\x1f\xff\xff\xff\xe0\x9f\x00\x88\xc3\x02\x00\xdd\xfb\x3f\xfe\xff\xff\xc1\
      \x3f\x01\x10\x87\x05\x00\xba\xf7\x7f\xfc\xff\xff\x83\x7f\x02\x20\x0e\x0b\x00\x74\xef\xff\
      \xf8\xff\xff\x07\xff\x04\x40\x1c\x16\x00\xe8\xde\xff\xf1\xff\xff\x0f\xfe\x09\x80\x38\x2c\
      \x00\xd0\xbd\xff\xcb\xff\xff\x3f\xfc\x13\x00\x71\x58\x00\xa0\x7b\xff\x07";

const MAGIC_OF_ZSTD: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(
        noise in prop::collection::vec(any::<u8>(), 0..300),
        damage in 0..2000_usize,
        value: u8,
        piece in 1..400_usize,
    ) {
        for (compression, mut data) in samples() {
            let _ = decompressed(compression, &noise, piece);
            let at = damage % data.len();
            data[at] = value;
            let _ = decompressed(compression, &data, piece);
        }
    }
}
