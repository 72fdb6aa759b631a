//! How the content of a file is made smaller on its way through a `sync:` stream of version 2.
//!
//! Begin with [`Decompressor`] and [`Compressor`]: compressed bytes go in as they come, content goes
//! out in pieces of at most [`PIECE`] bytes, and neither holds more than what its format makes it
//! look back on (16 MiB for brotli, 8 MiB for zstd and lz4). A few bytes can stand for gigabytes:
//! that they do not come to be is up to who takes the pieces, and may stop taking them.
//!
//! Each file is one stream (brotli) or one frame (lz4, zstd) that runs through all of its DATA
//! messages. Source: `compression_utils.h` and `file_sync_protocol.h` in AOSP's adb.

mod lz4;
mod zstd;

use std::io::{self, Write};

use brotli::enc::StandardAlloc;
use brotli::{BrotliDecompressStream, BrotliResult, BrotliState};
use bytes::{Buf, Bytes, BytesMut};

use super::Malformed;

/// The most bytes of content that come out at once.
pub const PIECE: usize = 64 * 1024;
/// What AOSP's encoders are asked for: the least work.
const BROTLI_QUALITY: u32 = 1;
/// The usual window of brotli, 4 MiB, as a power of two.
const BROTLI_WINDOW: u32 = 22;

/// How the bytes of a file are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Compression {
    /// As they are.
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
    /// All that make anything smaller.
    pub const ALL: [Self; 3] = [Self::Brotli, Self::Lz4, Self::Zstd];

    /// The bit that asks for it (`kSyncFlagBrotli` and its like).
    pub fn flag(self) -> u32 {
        match self {
            Self::None => 0,
            Self::Brotli => 1,
            Self::Lz4 => 2,
            Self::Zstd => 4,
        }
    }

    /// The feature by which a phone tells that it takes and gives it.
    pub fn feature(self) -> &'static str {
        match self {
            Self::None => super::sync2::SENDRECV_V2,
            Self::Brotli => "sendrecv_v2_brotli",
            Self::Lz4 => "sendrecv_v2_lz4",
            Self::Zstd => "sendrecv_v2_zstd",
        }
    }
}

/// Turns what came into content.
pub struct Decompressor(Decoding);

enum Decoding {
    None(Bytes),
    Brotli(Brotli),
    Lz4(lz4::Decoder),
    Zstd(Box<zstd::Decoder>),
}

impl Decompressor {
    /// For one file.
    pub fn new(compression: Compression) -> Self {
        Self(match compression {
            Compression::None => Decoding::None(Bytes::new()),
            Compression::Brotli => Decoding::Brotli(Brotli::new()),
            Compression::Lz4 => Decoding::Lz4(lz4::Decoder::new()),
            Compression::Zstd => Decoding::Zstd(Box::new(zstd::Decoder::new())),
        })
    }

    /// Takes what came next. Take all content with [`Self::pull`] before giving more.
    pub fn push(&mut self, data: Bytes) {
        match &mut self.0 {
            Decoding::None(here) => *here = data,
            Decoding::Brotli(brotli) => brotli.here.extend_from_slice(&data),
            Decoding::Lz4(lz4) => lz4.push(&data),
            Decoding::Zstd(zstd) => zstd.push(&data),
        }
    }

    /// The next piece of content, never empty; `None` when more has to come first.
    ///
    /// # Errors
    /// What came is not what the format says, or it wants to look back too far.
    pub fn pull(&mut self) -> Result<Option<Bytes>, Malformed> {
        match &mut self.0 {
            Decoding::None(here) if here.is_empty() => Ok(None),
            Decoding::None(here) => Ok(Some(here.split_to(here.len().min(PIECE)))),
            Decoding::Brotli(brotli) => brotli.pull(),
            Decoding::Lz4(lz4) => lz4.pull(),
            Decoding::Zstd(zstd) => zstd.pull(),
        }
    }

    /// Checks that nothing more is to come, once [`Self::pull`] has given all.
    ///
    /// # Errors
    /// The stream or frame has not ended.
    pub fn finish(&self) -> Result<(), Malformed> {
        let ended = match &self.0 {
            Decoding::None(here) => here.is_empty(),
            Decoding::Brotli(brotli) => brotli.ended,
            Decoding::Lz4(lz4) => lz4.has_ended(),
            Decoding::Zstd(zstd) => zstd.has_ended(),
        };
        if ended { Ok(()) } else { Err(Malformed("compressed data that breaks off".into())) }
    }
}

/// Turns content into what is sent. What goes in small may come out later, or with
/// [`Self::finish`].
pub struct Compressor(Encoding);

enum Encoding {
    None,
    Brotli(Box<brotli::CompressorWriter<Vec<u8>>>),
    Lz4(lz4::Encoder),
    Zstd(zstd::Encoder),
}

impl Compressor {
    /// For one file.
    pub fn new(compression: Compression) -> Self {
        Self(match compression {
            Compression::None => Encoding::None,
            Compression::Brotli => Encoding::Brotli(Box::new(brotli::CompressorWriter::new(
                Vec::new(),
                PIECE,
                BROTLI_QUALITY,
                BROTLI_WINDOW,
            ))),
            Compression::Lz4 => Encoding::Lz4(lz4::Encoder::new()),
            Compression::Zstd => Encoding::Zstd(zstd::Encoder::new()),
        })
    }

    /// Takes the next bytes of content, and appends to `out` what is ready.
    ///
    /// # Errors
    /// The encoder failed.
    pub fn push(&mut self, content: &[u8], out: &mut BytesMut) -> io::Result<()> {
        match &mut self.0 {
            Encoding::None => out.extend_from_slice(content),
            Encoding::Brotli(brotli) => {
                brotli.write_all(content)?;
                out.extend_from_slice(&std::mem::take(brotli.get_mut()));
            }
            Encoding::Lz4(lz4) => lz4.push(content, out)?,
            Encoding::Zstd(zstd) => zstd.push(content, out),
        }
        Ok(())
    }

    /// Appends the end to `out`.
    ///
    /// # Errors
    /// The encoder failed.
    pub fn finish(self, out: &mut BytesMut) -> io::Result<()> {
        match self.0 {
            Encoding::None => {}
            Encoding::Brotli(brotli) => out.extend_from_slice(&brotli.into_inner()),
            Encoding::Lz4(lz4) => lz4.finish(out)?,
            Encoding::Zstd(zstd) => zstd.finish(out),
        }
        Ok(())
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
        // Strict: without the windows of up to 1 GiB that are no part of RFC 7932, as AOSP's decoder.
        let state = Box::new(BrotliState::new_strict(alloc(), alloc(), alloc()));
        Self { here: BytesMut::new(), ended: false, state }
    }

    fn pull(&mut self) -> Result<Option<Bytes>, Malformed> {
        if self.ended {
            return nothing_after_the_end(&self.here);
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
            return if self.ended { nothing_after_the_end(&self.here) } else { Ok(None) };
        }
        Ok(Some(content.into()))
    }
}

fn broken(format: &str) -> Malformed {
    Malformed(format!("broken {format} data"))
}

/// AOSP's decoders, too, want nothing after the one stream or frame.
fn nothing_after_the_end<T>(here: &[u8]) -> Result<Option<T>, Malformed> {
    if here.is_empty() { Ok(None) } else { Err(Malformed("data after its compressed end".into())) }
}

#[cfg(test)]
mod tests;
