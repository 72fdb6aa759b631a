//! The resource table `resources.arsc`: the values of resource ids.
//!
//! Start with [`ResourceTable::read`], which only indexes the chunks, and [`ResourceTable::value`],
//! which follows references. An id is `package << 24 | type << 16 | entry`; each type of a package
//! has a chunk for every configuration with a value. Source: `ResTable_header` and related types in
//! AOSP's `androidfw/ResourceTypes.h`, `LoadedArsc.cpp` and `AssetManager2.cpp`.
//!
//! A shared library's own package has number 0 and is looked up by it. Resources of other packages
//! (the framework, a library) are not here.

use std::collections::{BTreeMap, HashMap};

use bytes::Bytes;

use super::chunk::{Chunk, Chunks, kind, u8_at, u16_at, u32_at};
use super::configuration::{Configuration, Locale, rank};
use super::string_pool::StringPool;
use super::xml::Value;
use super::{Error, Limits};

const WHAT: &str = "resource table";
/// How many references to follow in a row, as in `AssetManager2::ResolveReference`: they may form a
/// cycle.
const MAX_REFERENCES: usize = 20;
/// How many entries to look at over the lifetime of a table. A package with 100 languages needs
/// about 100 for a string.
const MAX_LOOKUPS: usize = 2_000_000;
/// Flag: a sparse type, whose entries are pairs of index and offset.
const SPARSE: u8 = 1;
/// Flag: a type with 16-bit offsets.
const SHORT: u8 = 2;
const COMPLEX: u16 = 1;
/// Flag: an entry and its value packed into eight bytes.
const COMPACT: u16 = 8;

/// A resource table.
pub(crate) struct ResourceTable {
    strings: StringPool,
    types: BTreeMap<(u8, u8), Vec<TypeChunk>>,
    /// Ids that stand for other ids (`<staging-public-group>`).
    aliases: HashMap<u32, u32>,
    lookups: usize,
    text: usize,
    max_text: usize,
}

/// The values of a type for one configuration.
struct TypeChunk {
    chunk: Chunk,
    configuration: Configuration,
}

impl ResourceTable {
    /// Indexes the chunks of a table.
    ///
    /// # Errors
    /// [`Error::Malformed`] if it is not a resource table; [`Error::TooLarge`] if it has more
    /// chunks than [`Limits::nodes`].
    pub(crate) fn read(bytes: &Bytes, limits: &Limits) -> Result<Self, Error> {
        let broken = || Error::malformed(WHAT, "not a resource table, or truncated");
        let size = u32_at(bytes, 4).and_then(|size| usize::try_from(size).ok());
        let header = u16_at(bytes, 2).map_or(0, usize::from);
        let size = size.ok_or_else(broken)?.min(bytes.len());
        if u16_at(bytes, 0) != Some(kind::TABLE) || header < 8 || header > size {
            return Err(broken());
        }
        let mut table = Self {
            strings: StringPool::default(),
            types: BTreeMap::new(),
            aliases: HashMap::new(),
            lookups: 0,
            text: 0,
            max_text: limits.text,
        };
        let (mut parts, mut has_strings) = (0, false);
        for chunk in Chunks::of(bytes.slice(header..size)) {
            match chunk.kind {
                // The first pool counts.
                kind::POOL if !has_strings => {
                    table.strings = StringPool::read(&chunk);
                    has_strings = true;
                }
                kind::PACKAGE => table.package(&chunk, &mut parts, limits.nodes)?,
                _ => {}
            }
        }
        Ok(table)
    }

    /// The value of a resource, with references followed, or a reference to another package. `None`
    /// if there is no such resource, it has no single value (a style, an array), or the references
    /// form a cycle.
    ///
    /// # Errors
    /// [`Error::TooLarge`] after more lookups than any real app needs.
    pub(crate) fn value(
        &mut self,
        id: u32,
        locale: Option<&Locale>,
    ) -> Result<Option<Value>, Error> {
        let Some(mut value) = self.entry(id, locale)? else { return Ok(None) };
        for _ in 0..MAX_REFERENCES {
            let Value::Reference(next) = value else { return Ok(Some(value)) };
            match self.entry(next, locale)? {
                Some(found) => value = found,
                None => return Ok(Some(value)),
            }
        }
        Ok(None)
    }

    fn package(&mut self, package: &Chunk, parts: &mut usize, max: usize) -> Result<(), Error> {
        let id = package.u32(8).unwrap_or(0).to_le_bytes()[0];
        // Type numbers of a split start here. Older files do not have this field.
        let offset = if package.header >= 288 { package.u32(284).unwrap_or(0) } else { 0 };
        for chunk in Chunks::of(package.body()) {
            *parts += 1;
            if *parts > max {
                return Err(Error::TooLarge {
                    what: "the number of chunks in the resource table",
                    limit: max as u64,
                });
            }
            match chunk.kind {
                kind::TYPE => {
                    let number = u32::from(u8_at(&chunk.all, 8).unwrap_or(0)).wrapping_add(offset);
                    let Ok(number) = u8::try_from(number) else { continue };
                    let configuration = chunk.all.get(20..chunk.header).unwrap_or_default();
                    let configuration = Configuration::read(configuration);
                    let part = TypeChunk { chunk, configuration };
                    self.types.entry((id, number)).or_default().push(part);
                }
                kind::STAGED_ALIAS => {
                    let pairs = chunk.body();
                    let count = chunk.u32(8).unwrap_or(0).try_into().unwrap_or(usize::MAX);
                    for pair in pairs.chunks_exact(8).take(count.min(max)) {
                        if let (Some(staged), Some(id)) = (u32_at(pair, 0), u32_at(pair, 4)) {
                            self.aliases.entry(staged).or_insert(id);
                        }
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn entry(&mut self, id: u32, locale: Option<&Locale>) -> Result<Option<Value>, Error> {
        let id = self.aliases.get(&id).copied().unwrap_or(id);
        let [low, high, of, package] = id.to_le_bytes();
        let number = usize::from(u16::from_le_bytes([low, high]));
        let parts = self.types.get(&(package, of)).map(Vec::as_slice).unwrap_or_default();
        self.lookups = self.lookups.saturating_add(parts.len());
        if self.lookups > MAX_LOOKUPS {
            let limit = MAX_LOOKUPS as u64;
            return Err(Error::TooLarge {
                what: "the number of lookups in the resource table",
                limit,
            });
        }
        let suits =
            |part: &TypeChunk| Some((rank(&part.configuration, locale), part.find(number)?));
        // Of equals `min_by_key` returns the first.
        let best = parts.iter().filter_map(suits).min_by_key(|(rank, _)| *rank);
        let Some((_, (kind, data))) = best else { return Ok(None) };
        let value = Value::read(kind, data, &self.strings);
        self.text = self.text.saturating_add(value.text().map_or(0, str::len));
        if self.text > self.max_text {
            let limit = self.max_text as u64;
            return Err(Error::TooLarge { what: "the text of the resource table", limit });
        }
        Ok(Some(value))
    }
}

impl TypeChunk {
    /// The kind and data of this entry's value, if this chunk has the entry and it is a single
    /// value.
    fn find(&self, number: usize) -> Option<(u8, u32)> {
        let all = &self.chunk.all;
        let values = usize::try_from(self.chunk.u32(16)?).ok()?;
        let at = values.checked_add(self.offset(number)?)?;
        let flags = u16_at(all, at.checked_add(2)?)?;
        if flags & COMPACT != 0 {
            return Some((flags.to_le_bytes()[1], u32_at(all, at + 4)?));
        }
        if flags & COMPLEX != 0 {
            return None;
        }
        let value = at.checked_add(usize::from(u16_at(all, at)?))?;
        Some((u8_at(all, value.checked_add(3)?)?, u32_at(all, value + 4)?))
    }

    /// Offset of an entry from the start of the chunk's values.
    fn offset(&self, number: usize) -> Option<usize> {
        let (all, offsets) = (&self.chunk.all, self.chunk.header);
        let count = usize::try_from(self.chunk.u32(12)?).ok()?;
        let flags = u8_at(all, 9)?;
        if flags & SPARSE != 0 {
            let pairs = all.get(offsets..)?.as_chunks::<4>().0;
            let pairs = &pairs[..count.min(pairs.len())];
            let key = |pair: &[u8; 4]| usize::from(u16::from_le_bytes([pair[0], pair[1]]));
            let [_, _, low, high] = pairs[pairs.binary_search_by_key(&number, key).ok()?];
            return Some(usize::from(u16::from_le_bytes([low, high])) * 4);
        }
        if number >= count {
            return None;
        }
        if flags & SHORT != 0 {
            let offset = u16_at(all, offsets + number * 2)?;
            return (offset != u16::MAX).then_some(usize::from(offset) * 4);
        }
        let offset = u32_at(all, offsets + number * 4)?;
        if offset == u32::MAX { None } else { usize::try_from(offset).ok() }
    }
}
