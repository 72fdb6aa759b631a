//! The resource table of an APK, `resources.arsc`: resolves ids to values of the default
//! configuration.
//!
//! Nothing is cached: each lookup walks the chunks. Source: `ResourceTypes.h` of Android.

use super::pool::{Chunk, STRING_POOL, StringPool, Value, u16_at, u32_at};

const TABLE: u16 = 0x0002;
const PACKAGE: u16 = 0x0200;
const TYPE: u16 = 0x0201;

/// Maximum references followed, as in `AssetManager2::ResolveReference`.
const MAX_STEPS: usize = 20;
/// Maximum chunks visited by one lookup.
const MAX_CHUNKS: usize = 20_000;

/// A table, possibly empty.
#[derive(Default)]
pub(super) struct ResourceTable<'a> {
    pool: Option<StringPool<'a>>,
    packages: Vec<Chunk<'a>>,
}

impl<'a> ResourceTable<'a> {
    /// Wraps the bytes; invalid ones yield no resources.
    pub(super) fn read(bytes: &'a [u8]) -> Self {
        let mut table = Self::default();
        let Some(whole) = Chunk::first(bytes).filter(|whole| whole.kind == TABLE) else {
            return table;
        };
        for chunk in Chunk::all(whole.inside()).take(MAX_CHUNKS) {
            match chunk.kind {
                STRING_POOL if table.pool.is_none() => table.pool = StringPool::read(&chunk),
                PACKAGE => table.packages.push(chunk),
                _ => {}
            }
        }
        table
    }

    /// Resolves references to a value; `None` if one is dangling.
    pub(super) fn resolve(&self, value: &Value) -> Option<Value> {
        let mut value = value.clone();
        for _ in 0..MAX_STEPS {
            match value {
                Value::Reference(id) => value = self.look_up(id)?,
                found => return Some(found),
            }
        }
        None
    }

    /// The simple value of an id: in the default configuration, else in the first one without a
    /// language, else in the first.
    fn look_up(&self, id: u32) -> Option<Value> {
        let pool = self.pool.as_ref()?;
        let mut best: Option<(u8, Value)> = None;
        let package =
            self.packages.iter().find(|chunk| u32_at(chunk.bytes, 8) == Some(id >> 24))?;
        for chunk in Chunk::all(package.inside()).take(MAX_CHUNKS) {
            let its = chunk.kind == TYPE
                && chunk.bytes.get(8).copied().map(u32::from) == Some(id >> 16 & 0xff);
            if !its {
                continue;
            }
            let rank = rank(&chunk);
            if best.as_ref().is_some_and(|(known, _)| *known <= rank) {
                continue;
            }
            if let Some(value) = entry(&chunk, id & 0xffff, pool) {
                best = Some((rank, value));
            }
        }
        best.map(|(_, value)| value)
    }
}

/// A configuration's distance from the default: 0 is the default, 1 has at least no language.
fn rank(chunk: &Chunk<'_>) -> u8 {
    let Some(size) = u32_at(chunk.bytes, 20) else { return 3 };
    let config =
        chunk.bytes.get(24..).and_then(|bytes| bytes.get(..(size as usize).saturating_sub(4)));
    match config {
        Some(config) if config.iter().all(|byte| *byte == 0) => 0,
        // Language and country follow the network codes.
        Some(config) if config.get(4..8) == Some(&[0; 4]) => 1,
        _ => 2,
    }
}

/// The simple value of an entry in a type chunk.
fn entry(chunk: &Chunk<'_>, number: u32, pool: &StringPool<'_>) -> Option<Value> {
    let bytes = chunk.bytes;
    let flags = *bytes.get(9)?;
    let (count, start) = (u32_at(bytes, 12)?, u32_at(bytes, 16)? as usize);
    let offsets = chunk.inside();
    let offset = if flags & 1 != 0 {
        // Sparse: pairs of an index and a quarter of the offset, sorted by index.
        let number = u16::try_from(number).ok()?;
        let pairs = offsets.get(..(count as usize).checked_mul(4)?)?;
        let at = pairs.chunks_exact(4).position(|pair| u16_at(pair, 0) == Some(number))?;
        usize::from(u16_at(pairs, at * 4 + 2)?) * 4
    } else if number >= count {
        return None;
    } else if flags & 2 != 0 {
        match u16_at(offsets, number as usize * 2)? {
            u16::MAX => return None,
            quarter => usize::from(quarter) * 4,
        }
    } else {
        match u32_at(offsets, number as usize * 4)? {
            u32::MAX => return None,
            offset => offset as usize,
        }
    };
    let entry = bytes.get(start.checked_add(offset)?..)?;
    let (size, flags) = (u16_at(entry, 0)?, u16_at(entry, 2)?);
    if flags & 0x8 != 0 {
        // Compact: the type is the upper byte of the flags, the data is in place of the name.
        return Some(Value::of((flags >> 8) as u8, u32_at(entry, 4)?, pool));
    }
    if flags & 0x1 != 0 {
        return None;
    }
    Value::read(entry.get(usize::from(size)..)?, pool)
}
