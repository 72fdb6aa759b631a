//! The building blocks of binary XML and resource tables: chunks, string pools, values. Source:
//! `ResourceTypes.h` of Android.
//!
//! Both parsers are our own and small: the existing crate returns text for values (a reference and
//! a text look alike), picks any configuration's resource in hash map order, and follows references
//! in circles.

use std::cell::Cell;

/// Maximum bytes of strings read from a file's pools; a small file could name a long string
/// repeatedly.
const MAX_TEXT: usize = 16 << 20;

/// The 16-bit number at that offset.
pub(super) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    let bytes = bytes.get(at..at.checked_add(2)?)?;
    Some(u16::from_le_bytes(bytes.try_into().ok()?))
}

/// The 32-bit number at that offset.
pub(super) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let bytes = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes(bytes.try_into().ok()?))
}

/// A chunk: its type, and its bytes including the header.
#[derive(Clone, Copy)]
pub(super) struct Chunk<'a> {
    pub(super) kind: u16,
    pub(super) header: usize,
    pub(super) bytes: &'a [u8],
}

impl<'a> Chunk<'a> {
    /// The first chunk of the bytes; `None` if its sizes are invalid (`validate_chunk`).
    pub(super) fn first(bytes: &'a [u8]) -> Option<Self> {
        let (kind, header) = (u16_at(bytes, 0)?, usize::from(u16_at(bytes, 2)?));
        let size = u32_at(bytes, 4)? as usize;
        let aligned = (header | size).is_multiple_of(4);
        let bytes = bytes.get(..size)?;
        (aligned && (8..=size).contains(&header)).then_some(Self { kind, header, bytes })
    }

    /// All chunks in sequence; stops before the first corrupt one, which [`Chunks::sound`] reports.
    pub(super) fn all(bytes: &'a [u8]) -> Chunks<'a> {
        Chunks { rest: bytes, sound: true }
    }

    /// The bytes after its header.
    pub(super) fn inside(&self) -> &'a [u8] {
        self.bytes.get(self.header..).unwrap_or_default()
    }
}

/// See [`Chunk::all`].
pub(super) struct Chunks<'a> {
    rest: &'a [u8],
    /// Whether no corrupt chunk was found.
    pub(super) sound: bool,
}

impl<'a> Iterator for Chunks<'a> {
    type Item = Chunk<'a>;

    fn next(&mut self) -> Option<Chunk<'a>> {
        if self.rest.is_empty() {
            return None;
        }
        let Some(chunk) = Chunk::first(self.rest) else {
            self.sound = false;
            self.rest = &[];
            return None;
        };
        self.rest = self.rest.get(chunk.bytes.len()..).unwrap_or_default();
        Some(chunk)
    }
}

/// `RES_STRING_POOL_TYPE`
pub(super) const STRING_POOL: u16 = 0x0001;

/// A string pool, decoded on demand.
pub(super) struct StringPool<'a> {
    offsets: &'a [u8],
    strings: &'a [u8],
    utf8: bool,
    left: Cell<usize>,
}

impl<'a> StringPool<'a> {
    pub(super) fn read(chunk: &Chunk<'a>) -> Option<Self> {
        let bytes = chunk.bytes;
        let count = u32_at(bytes, 8)? as usize;
        let flags = u32_at(bytes, 16)?;
        let offsets = bytes.get(chunk.header..)?.get(..count.checked_mul(4)?)?;
        let strings = match count {
            0 => &[],
            _ => bytes.get(u32_at(bytes, 20)? as usize..)?,
        };
        let left = Cell::new(MAX_TEXT);
        Some(Self { offsets, strings, utf8: flags & 0x100 != 0, left })
    }

    /// The string with that index; `None` if it does not exist or is corrupt.
    pub(super) fn get(&self, number: u32) -> Option<String> {
        let offset = u32_at(self.offsets, (number as usize).checked_mul(4)?)? as usize;
        let bytes = self.strings.get(offset..)?;
        let text = if self.utf8 {
            // Its length in UTF-16, then in bytes; each has a second byte if the first has its
            // highest bit set.
            let skip = if *bytes.first()? & 0x80 == 0 { 1 } else { 2 };
            let bytes = bytes.get(skip..)?;
            let (length, skip) = match *bytes.first()? {
                short if short & 0x80 == 0 => (usize::from(short), 1),
                high => (usize::from(high & 0x7f) << 8 | usize::from(*bytes.get(1)?), 2),
            };
            let bytes = bytes.get(skip..)?.get(..length)?;
            self.spend(length)?;
            String::from_utf8_lossy(bytes).into_owned()
        } else {
            let (length, skip) = match u16_at(bytes, 0)? {
                short if short & 0x8000 == 0 => (usize::from(short), 2),
                high => (usize::from(high & 0x7fff) << 16 | usize::from(u16_at(bytes, 2)?), 4),
            };
            let bytes = bytes.get(skip..)?.get(..length.checked_mul(2)?)?;
            self.spend(bytes.len())?;
            let units: Vec<u16> =
                bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect();
            String::from_utf16_lossy(&units)
        };
        Some(text)
    }

    fn spend(&self, bytes: usize) -> Option<()> {
        self.left.set(self.left.get().checked_sub(bytes)?);
        Some(())
    }
}

/// A stored value: `Res_value`.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Text(String),
    /// A resource id.
    Reference(u32),
    Number(i32),
    Bool(bool),
    /// A type that manifests do not need, and its data.
    Other(u8, u32),
}

impl Value {
    /// Parses the eight bytes of a `Res_value`.
    pub(super) fn read(bytes: &[u8], pool: &StringPool<'_>) -> Option<Self> {
        let (kind, data) = (*bytes.get(3)?, u32_at(bytes, 4)?);
        Some(Self::of(kind, data, pool))
    }

    /// From `Res_value::dataType` and `data`.
    pub(super) fn of(kind: u8, data: u32, pool: &StringPool<'_>) -> Self {
        match kind {
            0x01 | 0x07 => Self::Reference(data),
            0x03 => Self::Text(pool.get(data).unwrap_or_default()),
            0x10 | 0x11 => Self::Number(data as i32),
            0x12 => Self::Bool(data != 0),
            kind => Self::Other(kind, data),
        }
    }
}
