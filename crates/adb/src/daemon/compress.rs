//! Compression of file contents in a version 2 `sync:` stream.
//!
//! Start with [`Decompressor`]: compressed bytes go in as they arrive; content comes out in chunks
//! of at most [`PIECE`] bytes. Memory use is limited by the format's window (16 MiB for brotli,
//! 8 MiB for zstd and lz4). A few bytes can expand to gigabytes: the consumer has to stop pulling
//! if it gets too much.
//!
//! The other way, [`Stored`] frames content in each format without making it smaller, which any
//! client reads: the phone is mostly on the same computer, and the encoders would be 0.9 MB of the
//! program.
//!
//! Each file is one stream (brotli) or one frame (lz4, zstd) across all its DATA messages. Source:
//! `compression_utils.h` and `file_sync_protocol.h` in AOSP's adb.

mod lz4;
mod stored;
mod zstd;

use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState, StandardAlloc};
use bytes::{Buf, Bytes, BytesMut};

pub use self::stored::Stored;
use crate::wire::MalformedMessage;

/// Limit on the content returned at once, in bytes.
pub const PIECE: usize = 64 * 1024;

/// The compression of a transferred file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Compression {
    /// Uncompressed.
    #[default]
    None,
    /// A brotli stream (feature `sendrecv_v2_brotli`).
    Brotli,
    /// An LZ4 frame (feature `sendrecv_v2_lz4`).
    Lz4,
    /// A Zstandard frame (feature `sendrecv_v2_zstd`).
    Zstd,
}

impl Compression {
    /// All compressions, without `None`.
    pub const ALL: [Self; 3] = [Self::Brotli, Self::Lz4, Self::Zstd];
}

/// Decompresses received data.
pub struct Decompressor(Decoding);

enum Decoding {
    None(Bytes),
    Brotli(Brotli),
    Lz4(lz4::Decoder),
    Zstd(Box<zstd::Decoder>),
}

impl Decompressor {
    /// Starts one file.
    pub fn new(compression: Compression) -> Self {
        Self(match compression {
            Compression::None => Decoding::None(Bytes::new()),
            Compression::Brotli => Decoding::Brotli(Brotli::new()),
            Compression::Lz4 => Decoding::Lz4(lz4::Decoder::new()),
            Compression::Zstd => Decoding::Zstd(Box::new(zstd::Decoder::new())),
        })
    }

    /// Adds received data. Call [`Self::pull`] until it is empty before adding more.
    pub fn push(&mut self, data: Bytes) {
        match &mut self.0 {
            Decoding::None(here) => *here = data,
            Decoding::Brotli(brotli) => brotli.here.extend_from_slice(&data),
            Decoding::Lz4(lz4) => lz4.push(&data),
            Decoding::Zstd(zstd) => zstd.push(&data),
        }
    }

    /// The next chunk of content, never empty; `None` if more data is needed.
    ///
    /// # Errors
    /// The data is invalid, or its window is too large.
    pub fn pull(&mut self) -> Result<Option<Bytes>, MalformedMessage> {
        match &mut self.0 {
            Decoding::None(here) if here.is_empty() => Ok(None),
            Decoding::None(here) => Ok(Some(here.split_to(here.len().min(PIECE)))),
            Decoding::Brotli(brotli) => brotli.pull(),
            Decoding::Lz4(lz4) => lz4.pull(),
            Decoding::Zstd(zstd) => zstd.pull(),
        }
    }

    /// Checks that the data is complete, after [`Self::pull`] has returned everything.
    ///
    /// # Errors
    /// The stream or frame has not ended.
    pub fn finish(&self) -> Result<(), MalformedMessage> {
        let ended = match &self.0 {
            Decoding::None(here) => here.is_empty(),
            Decoding::Brotli(brotli) => brotli.ended,
            Decoding::Lz4(lz4) => lz4.has_ended(),
            Decoding::Zstd(zstd) => zstd.has_ended(),
        };
        if ended { Ok(()) } else { Err(MalformedMessage("truncated compressed data".into())) }
    }
}

struct Brotli {
    here: BytesMut,
    ended: bool,
    state: Box<BrotliState<StandardAlloc, StandardAlloc, StandardAlloc>>,
}

impl Brotli {
    fn new() -> Self {
        let alloc = StandardAlloc::default;
        // Strict, like AOSP's decoder: without windows of up to 1 GiB, which are not part of RFC
        // 7932.
        let state = Box::new(BrotliState::new_strict(alloc(), alloc(), alloc()));
        Self { here: BytesMut::new(), ended: false, state }
    }

    fn pull(&mut self) -> Result<Option<Bytes>, MalformedMessage> {
        if self.ended {
            return check_no_trailing_data(&self.here);
        }
        let mut content = vec![0; PIECE];
        let (mut left, mut read) = (self.here.len(), 0);
        let (mut room, mut written, mut total) = (PIECE, 0, 0);
        let result = BrotliDecompressStream(
            &mut left,
            &mut read,
            &self.here,
            &mut room,
            &mut written,
            &mut content,
            &mut total,
            &mut self.state,
        );
        self.here.advance(read);
        match result {
            BrotliResult::ResultFailure => return Err(broken("brotli")),
            BrotliResult::ResultSuccess => self.ended = true,
            BrotliResult::NeedsMoreInput | BrotliResult::NeedsMoreOutput => {}
        }
        content.truncate(written);
        if content.is_empty() {
            return if self.ended { check_no_trailing_data(&self.here) } else { Ok(None) };
        }
        Ok(Some(content.into()))
    }
}

fn broken(format: &str) -> MalformedMessage {
    MalformedMessage(format!("corrupt {format} data"))
}

/// AOSP's decoders, too, reject data after the one stream or frame.
fn check_no_trailing_data<T>(here: &[u8]) -> Result<Option<T>, MalformedMessage> {
    if here.is_empty() {
        Ok(None)
    } else {
        Err(MalformedMessage("data after the end of the compressed stream".into()))
    }
}

#[cfg(test)]
mod tests;
