//! Content in the form of compressed data, in blocks that are marked as not compressed.
//!
//! Sources: RFC 7932, section 9.2 (brotli), LZ4 Frame Format Description 1.6, RFC 8878, section 3.1
//! (Zstandard).

use bytes::{BufMut, BytesMut};

use super::{Compression, PIECE};

/// Writes one file to send.
pub struct Stored {
    compression: Compression,
    begun: bool,
}

impl Stored {
    /// Starts one file.
    pub fn new(compression: Compression) -> Self {
        Self { compression, begun: false }
    }

    /// Appends `content` to `out`.
    pub fn push(&mut self, content: &[u8], out: &mut BytesMut) {
        for block in content.chunks(PIECE) {
            self.block_header(block.len(), out);
            out.put_slice(block);
        }
    }

    /// Appends the end of the stream or frame to `out`.
    pub fn finish(&mut self, out: &mut BytesMut) {
        let begun = self.begin(out);
        match self.compression {
            Compression::None => {}
            // A last, empty block.
            Compression::Brotli => out.put_u8(if begun { 0b11 } else { 0b110 }),
            Compression::Lz4 => out.put_u32_le(0),
            Compression::Zstd => out.put_uint_le(1, 3),
        }
    }

    fn block_header(&mut self, length: usize, out: &mut BytesMut) {
        let begun = self.begin(out);
        let length = length as u64;
        match self.compression {
            Compression::None => {}
            // Not the last (1 bit), a length in 16 bits (2 bits), the length less one, uncompressed
            // (1 bit). The stream begins with one bit, for a window of 64 KiB.
            Compression::Brotli => {
                let header = (length - 1) << 3 | 1 << 19;
                out.put_uint_le(if begun { header } else { header << 1 }, 3);
            }
            Compression::Lz4 => out.put_u32_le(length as u32 | 1 << 31),
            // Neither the last block nor a compressed one.
            Compression::Zstd => out.put_uint_le(length << 3, 3),
        }
    }

    /// Appends the frame's header if it is missing, and tells whether it was there.
    fn begin(&mut self, out: &mut BytesMut) -> bool {
        if self.begun {
            return true;
        }
        self.begun = true;
        match self.compression {
            Compression::None | Compression::Brotli => {}
            // The magic number, independent blocks of at most 64 KiB without checksums, and the
            // checksum of these two bytes.
            Compression::Lz4 => out.put_slice(b"\x04\x22\x4d\x18\x60\x40\x82"),
            // The magic number, no size, dictionary or checksum, a window of 2^(10 + 6) bytes.
            Compression::Zstd => out.put_slice(b"\x28\xb5\x2f\xfd\x00\x30"),
        }
        false
    }
}
