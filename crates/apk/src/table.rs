//! The resource table, `resources.arsc`: what a resource's id stands for.
//!
//! Begin with [`Table::read`], which only notes where the parts lie, and [`Table::value`], which follows references. An id is
//! `package << 24 | type << 16 | entry`; each type of a package has a part for every configuration that has a value. Source:
//! `ResTable_header` and its like in AOSP's `androidfw/ResourceTypes.h`, `LoadedArsc.cpp` and `AssetManager2.cpp`.
//!
//! A shared library's own package has the number 0 and is looked up by it. What belongs to another package (the framework, a library)
//! is not here.

use std::collections::{BTreeMap, HashMap};

use bytes::Bytes;

use super::chunk::{Chunk, Chunks, kind, u8_at, u16_at, u32_at};
use super::configuration::{Configuration, Wanted};
use super::pool::Pool;
use super::xml::Value;
use super::{Error, Limits};

const WHAT: &str = "resource table";
/// How many references are followed one after the other, as in `AssetManager2::ResolveReference`: they may run in a circle.
const REFERENCES: usize = 20;
/// How many places are looked at over a table's life. A package of 100 languages asks for about 100 places for a string.
const LOOKED_AT: usize = 2_000_000;
/// A type whose entries are few of many, as pairs of number and place.
const SPARSE: u8 = 1;
/// A type whose places have 16 bits.
const SHORT: u8 = 2;
const COMPLEX: u16 = 1;
/// An entry and its value in eight bytes.
const COMPACT: u16 = 8;

/// A resource table.
pub(crate) struct Table {
    strings: Pool,
    types: BTreeMap<(u8, u8), Vec<Part>>,
    /// Ids that stand for others (`<staging-public-group>`).
    aliases: HashMap<u32, u32>,
    looked_at: usize,
    text: usize,
    most_text: usize,
}

/// The values of a type for one configuration.
struct Part {
    chunk: Chunk,
    configuration: Configuration,
}

impl Table {
    /// Notes where everything is.
    ///
    /// # Errors
    /// [`Error::Malformed`] where it is none; [`Error::TooLarge`] where it has more parts than [`Limits::nodes`].
    pub(crate) fn read(bytes: &Bytes, limits: &Limits) -> Result<Self, Error> {
        let broken = || Error::malformed(WHAT, "it is none, or is cut");
        let size = u32_at(bytes, 4).and_then(|size| usize::try_from(size).ok());
        let header = u16_at(bytes, 2).map_or(0, usize::from);
        let size = size.ok_or_else(broken)?.min(bytes.len());
        if u16_at(bytes, 0) != Some(kind::TABLE) || header < 8 || header > size {
            return Err(broken());
        }
        let mut table = Self {
            strings: Pool::default(),
            types: BTreeMap::new(),
            aliases: HashMap::new(),
            looked_at: 0,
            text: 0,
            most_text: limits.text,
        };
        let (mut parts, mut has_strings) = (0, false);
        for chunk in Chunks::of(bytes.slice(header..size)) {
            match chunk.kind {
                // The first counts.
                kind::POOL if !has_strings => {
                    table.strings = Pool::read(&chunk);
                    has_strings = true;
                }
                kind::PACKAGE => table.package(&chunk, &mut parts, limits.nodes)?,
                _ => {}
            }
        }
        Ok(table)
    }

    /// What a resource comes to, references followed: a value, or a reference to what is not here. `None` where there is no such
    /// resource, it has no single value (a style, an array), or references run in a circle.
    ///
    /// # Errors
    /// [`Error::TooLarge`] where the table was asked more than any app needs.
    pub(crate) fn value(&mut self, id: u32, wanted: &Wanted) -> Result<Option<Value>, Error> {
        let Some(mut value) = self.entry(id, wanted)? else { return Ok(None) };
        for _ in 0..REFERENCES {
            let Value::Reference(next) = value else { return Ok(Some(value)) };
            match self.entry(next, wanted)? {
                Some(found) => value = found,
                None => return Ok(Some(value)),
            }
        }
        Ok(None)
    }

    fn package(&mut self, package: &Chunk, parts: &mut usize, most: usize) -> Result<(), Error> {
        let id = package.u32(8).unwrap_or(0).to_le_bytes()[0];
        // A split's types are numbered from here on; older files have no such number.
        let offset = if package.header >= 288 { package.u32(284).unwrap_or(0) } else { 0 };
        for chunk in Chunks::of(package.body()) {
            *parts += 1;
            if *parts > most {
                return Err(Error::TooLarge { what: "the resource table", limit: most as u64 });
            }
            match chunk.kind {
                kind::TYPE => {
                    let number = u32::from(u8_at(&chunk.all, 8).unwrap_or(0)).wrapping_add(offset);
                    let Ok(number) = u8::try_from(number) else { continue };
                    let configuration = chunk.all.get(20..chunk.header).unwrap_or_default();
                    let configuration = Configuration::read(configuration);
                    let part = Part { chunk, configuration };
                    self.types.entry((id, number)).or_default().push(part);
                }
                kind::STAGED_ALIAS => {
                    let pairs = chunk.body();
                    let count = chunk.u32(8).unwrap_or(0).try_into().unwrap_or(usize::MAX);
                    for pair in pairs.chunks_exact(8).take(count.min(most)) {
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

    fn entry(&mut self, id: u32, wanted: &Wanted) -> Result<Option<Value>, Error> {
        let id = self.aliases.get(&id).copied().unwrap_or(id);
        let [low, high, of, package] = id.to_le_bytes();
        let number = usize::from(u16::from_le_bytes([low, high]));
        let parts = self.types.get(&(package, of)).map(Vec::as_slice).unwrap_or_default();
        self.looked_at = self.looked_at.saturating_add(parts.len());
        if self.looked_at > LOOKED_AT {
            let limit = LOOKED_AT as u64;
            return Err(Error::TooLarge { what: "the work on the resource table", limit });
        }
        let suits = |part: &Part| Some((wanted.rank(&part.configuration)?, part.find(number)?));
        // Of equals `min_by_key` gives the first.
        let best = parts.iter().filter_map(suits).min_by_key(|(rank, _)| *rank);
        let Some((_, (kind, data))) = best else { return Ok(None) };
        let value = Value::read(kind, data, &self.strings);
        self.text = self.text.saturating_add(value.text().map_or(0, str::len));
        if self.text > self.most_text {
            let limit = self.most_text as u64;
            return Err(Error::TooLarge { what: "the text of the resource table", limit });
        }
        Ok(Some(value))
    }
}

impl Part {
    /// The kind and data of the value of this entry, if this part has one and it is a single value.
    fn find(&self, number: usize) -> Option<(u8, u32)> {
        let all = &self.chunk.all;
        let values = usize::try_from(self.chunk.u32(16)?).ok()?;
        let at = values.checked_add(self.place(number)?)?;
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

    /// Where an entry lies, counted from the part's values on.
    fn place(&self, number: usize) -> Option<usize> {
        let (all, places) = (&self.chunk.all, self.chunk.header);
        let count = usize::try_from(self.chunk.u32(12)?).ok()?;
        let flags = u8_at(all, 9)?;
        if flags & SPARSE != 0 {
            let pairs = all.get(places..)?.as_chunks::<4>().0;
            let pairs = &pairs[..count.min(pairs.len())];
            let key = |pair: &[u8; 4]| usize::from(u16::from_le_bytes([pair[0], pair[1]]));
            let [_, _, low, high] = pairs[pairs.binary_search_by_key(&number, key).ok()?];
            return Some(usize::from(u16::from_le_bytes([low, high])) * 4);
        }
        if number >= count {
            return None;
        }
        if flags & SHORT != 0 {
            let place = u16_at(all, places + number * 2)?;
            return (place != u16::MAX).then_some(usize::from(place) * 4);
        }
        let place = u32_at(all, places + number * 4)?;
        if place == u32::MAX { None } else { usize::try_from(place).ok() }
    }
}
