//! Chunks, the building blocks of both compiled formats: a kind, a header and a body, with
//! little-endian numbers.
//!
//! `u16 kind, u16 header length, u32 total length`, then the rest of the header, then the body,
//! which may contain chunks. Source: `ResChunk_header` in AOSP's `androidfw/ResourceTypes.h`.

use bytes::Bytes;

/// The chunk kinds used here.
pub(crate) mod kind {
    pub(crate) const POOL: u16 = 0x0001;
    pub(crate) const TABLE: u16 = 0x0002;
    pub(crate) const XML_START_ELEMENT: u16 = 0x0102;
    pub(crate) const XML_END_ELEMENT: u16 = 0x0103;
    pub(crate) const XML_MAP: u16 = 0x0180;
    pub(crate) const PACKAGE: u16 = 0x0200;
    pub(crate) const TYPE: u16 = 0x0201;
    pub(crate) const STAGED_ALIAS: u16 = 0x0206;
}

/// A chunk.
#[derive(Debug, Clone)]
pub(crate) struct Chunk {
    pub(crate) kind: u16,
    /// Header length in bytes.
    pub(crate) header: usize,
    /// The whole chunk, header included.
    pub(crate) all: Bytes,
}

impl Chunk {
    /// The chunk at this offset; `None` if its lengths are invalid.
    pub(crate) fn read(bytes: &Bytes, at: usize) -> Option<Self> {
        let header = usize::from(u16_at(bytes, at.checked_add(2)?)?);
        let size = usize::try_from(u32_at(bytes, at.checked_add(4)?)?).ok()?;
        let end = at.checked_add(size)?;
        let holds = header >= 8 && header <= size && end <= bytes.len();
        holds.then(|| Self {
            kind: u16_at(bytes, at).unwrap_or(0),
            header,
            all: bytes.slice(at..end),
        })
    }

    /// The bytes after the header.
    pub(crate) fn body(&self) -> Bytes {
        self.all.slice(self.header..)
    }

    /// The number at this offset from the start of the chunk.
    pub(crate) fn u32(&self, at: usize) -> Option<u32> {
        u32_at(&self.all, at)
    }
}

/// Consecutive chunks, up to the first one with invalid lengths.
#[derive(Debug, Clone)]
pub(crate) struct Chunks {
    bytes: Bytes,
    at: usize,
}

impl Chunks {
    pub(crate) fn of(bytes: Bytes) -> Self {
        Self { bytes, at: 0 }
    }

    /// Whether all chunks were read: the rest is empty or too short to be a chunk.
    pub(crate) fn is_done(&self) -> bool {
        self.bytes.len() - self.at < 8
    }
}

impl Iterator for Chunks {
    type Item = Chunk;

    fn next(&mut self) -> Option<Chunk> {
        let chunk = Chunk::read(&self.bytes, self.at)?;
        self.at += chunk.all.len();
        Some(chunk)
    }
}

pub(crate) fn u8_at(bytes: &[u8], at: usize) -> Option<u8> {
    bytes.get(at).copied()
}

pub(crate) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    let bytes = bytes.get(at..at.checked_add(2)?)?;
    Some(u16::from_le_bytes(bytes.try_into().ok()?))
}

pub(crate) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes(bytes.try_into().ok()?))
}

pub(crate) fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    let bytes = bytes.get(at..at.checked_add(8)?)?;
    Some(u64::from_le_bytes(bytes.try_into().ok()?))
}
