//! What both compiled formats are made of: chunks with a kind, a header and a body, and numbers in little-endian.
//!
//! `u16 kind, u16 length of the header, u32 length of all`, then the rest of the header, then the body, which may be chunks again.
//! Source: `ResChunk_header` in AOSP's `androidfw/ResourceTypes.h`.

use bytes::Bytes;

/// The kinds that are read here.
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
    /// The length of its header.
    pub(crate) header: usize,
    /// All of it, from its header on.
    pub(crate) all: Bytes,
}

impl Chunk {
    /// The chunk that begins there; `None` where its lengths do not hold.
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

    /// What follows its header.
    pub(crate) fn body(&self) -> Bytes {
        self.all.slice(self.header..)
    }

    /// A number of its header or body, counted from its beginning.
    pub(crate) fn u32(&self, at: usize) -> Option<u32> {
        u32_at(&self.all, at)
    }
}

/// The chunks that follow each other there, up to the first whose lengths do not hold.
#[derive(Debug, Clone)]
pub(crate) struct Chunks {
    bytes: Bytes,
    at: usize,
}

impl Chunks {
    pub(crate) fn of(bytes: Bytes) -> Self {
        Self { bytes, at: 0 }
    }

    /// Whether all was read: what is left is none, or too little to be a chunk.
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
