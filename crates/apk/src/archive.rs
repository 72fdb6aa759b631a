//! The files in a package, by name: the end of the directory, the directory, and files on demand.
//!
//! What is refused and how an odd package is taken follows AOSP's libziparchive (`zip_archive.cc`), so that what is read here is what the
//! phone reads:
//!
//! * The end of the directory is found from the package's end backwards; the first mark counts, and its comment must reach to the end.
//! * No bytes before the package, no ZIP64 (signed packages cannot have it: `ZipUtils` in AOSP's `util/apk`).
//! * Two files of one name are an error: such a package cannot be installed.
//! * Sizes, places and methods are those of the directory; of the header before a file only the lengths of its name and extra field count.
//! * A file must end before the directory. Files may overlap: each is read by itself and bounded by itself.
//! * Method 8 is deflated, any other is stored, in as many bytes as it is long (`ZipAssetsProvider` in androidfw).
//! * Checksums are not looked at; a deflated file must have exactly the length that is claimed.

use std::collections::HashMap;
use std::io::Read as _;

use bytes::Bytes;
use flate2::read::DeflateDecoder;

use super::chunk::{u16_at, u32_at};
use super::window::Windows;
use super::{Error, Limits, Source};

const WHAT: &str = "package";
const END_MARK: u32 = 0x0605_4b50;
const END: usize = 22;
const ZIP64_LOCATOR_MARK: u32 = 0x0706_4b50;
const ZIP64_LOCATOR: usize = 20;
const ENTRY_MARK: u32 = 0x0201_4b50;
const ENTRY: usize = 46;
const HEADER_MARK: u32 = 0x0403_4b50;
const HEADER: u64 = 30;
/// The longest comment.
const COMMENT: usize = 65_535;
const DEFLATED: u16 = 8;
/// How much an extra field takes that aligns a file to a page, about.
const ALIGNMENT: u64 = 4 << 10;
/// Files that lie no further apart are read together: the bytes between cost less than another round trip.
const APART: u64 = 64 << 10;

/// A package's files.
pub(crate) struct Archive<'s> {
    windows: Windows<'s>,
    limits: Limits,
    entries: HashMap<String, Entry>,
    /// Their names, in the directory's order.
    names: Vec<String>,
    /// Where the directory begins.
    directory: u64,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    deflated: bool,
    packed: u64,
    unpacked: u64,
    /// Where its header begins.
    header: u64,
}

impl<'s> Archive<'s> {
    /// Reads the directory.
    pub(crate) async fn open(source: Box<dyn Source + 's>, limits: Limits) -> Result<Self, Error> {
        let mut windows = Windows::open(source).await?;
        let end = End::find(&windows.tail())?;
        if end.size > limits.directory {
            return Err(Error::TooLarge { what: "the directory", limit: limits.directory });
        }
        let directory = windows.bytes(end.directory, end.size).await?;
        let (entries, names) = (HashMap::new(), Vec::new());
        let mut archive = Self { windows, limits, entries, names, directory: end.directory };
        archive.read_directory(&directory, end.count)?;
        Ok(archive)
    }

    /// The names of its files, in the directory's order.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.entries.contains_key(name)
    }

    /// Where the directory begins: what is signed beside the files lies before it.
    pub(crate) fn directory(&self) -> u64 {
        self.directory
    }

    pub(crate) fn windows(&mut self) -> &mut Windows<'s> {
        &mut self.windows
    }

    /// Reads these files in one go where they lie near each other; those that are missing or too large are passed over.
    pub(crate) async fn gather(&mut self, names: &[&str]) -> Result<(), Error> {
        let mut ranges: Vec<(u64, u64)> =
            names.iter().filter_map(|name| self.extent(name)).collect();
        ranges.sort_unstable();
        let mut joined: Vec<(u64, u64)> = Vec::new();
        for (from, to) in ranges {
            match joined.last_mut() {
                Some((_, end)) if from <= end.saturating_add(APART) => *end = to.max(*end),
                _ => joined.push((from, to)),
            }
        }
        for (from, to) in joined {
            self.windows.bytes(from, to - from).await?;
        }
        Ok(())
    }

    /// A file, unpacked.
    ///
    /// # Errors
    /// [`Error::Missing`], [`Error::TooLarge`], [`Error::Malformed`], [`Error::Source`].
    pub(crate) async fn file(&mut self, name: &str) -> Result<Bytes, Error> {
        let entry = self.entries.get(name).copied();
        let entry = entry.ok_or_else(|| Error::Missing(format!("file {name:?}")))?;
        if entry.packed > self.limits.entry || entry.unpacked > self.limits.entry {
            return Err(Error::TooLarge {
                what: "a file in the package",
                limit: self.limits.entry,
            });
        }
        let header = self.windows.bytes(entry.header, HEADER).await?;
        if u32_at(&header, 0) != Some(HEADER_MARK) {
            return Err(Error::malformed(WHAT, format!("{name:?} has no header")));
        }
        let lengths = [26, 28].into_iter().filter_map(|at| u16_at(&header, at)).map(u64::from);
        let from = entry.header + HEADER + lengths.sum::<u64>();
        let length = if entry.deflated { entry.packed } else { entry.unpacked };
        if from.saturating_add(length) > self.directory {
            return Err(Error::malformed(WHAT, format!("{name:?} runs into the directory")));
        }
        let packed = self.windows.bytes(from, length).await?;
        if entry.deflated { inflate(&packed, entry.unpacked, name) } else { Ok(packed) }
    }

    /// From where to where a file lies, about.
    fn extent(&self, name: &str) -> Option<(u64, u64)> {
        let entry = self.entries.get(name)?;
        let largest = entry.packed.max(if entry.deflated { 0 } else { entry.unpacked });
        let around = HEADER + name.len() as u64 + ALIGNMENT;
        let end = entry.header.saturating_add(around).saturating_add(largest).min(self.directory);
        (largest <= self.limits.entry && entry.header < end).then_some((entry.header, end))
    }

    fn read_directory(&mut self, directory: &[u8], count: usize) -> Result<(), Error> {
        let broken = |why: &str| Error::malformed(WHAT, format!("its directory {why}"));
        let mut rest = directory;
        for _ in 0..count {
            let number = |at| u32_at(rest, at).map(u64::from);
            let length = |at| u16_at(rest, at).map(usize::from);
            if u32_at(rest, 0) != Some(ENTRY_MARK) {
                return Err(broken("ends early"));
            }
            let numbers = || Some((u16_at(rest, 10)?, number(20)?, number(24)?, number(42)?));
            let lengths = || Some((length(28)?, length(30)? + length(32)?));
            let (method, packed, unpacked, header) = numbers().ok_or_else(|| broken("is cut"))?;
            let (name, others) = lengths().ok_or_else(|| broken("is cut"))?;
            let named = rest.get(ENTRY..ENTRY + name).ok_or_else(|| broken("is cut"))?;
            let named = std::str::from_utf8(named).ok().filter(|name| !name.contains('\0'));
            let named = named.ok_or_else(|| broken("has a name that is no text"))?.to_owned();
            if header >= self.directory {
                return Err(broken("points behind itself"));
            }
            let entry = Entry { deflated: method == DEFLATED, packed, unpacked, header };
            self.names.push(named.clone());
            if self.entries.insert(named, entry).is_some() {
                return Err(broken("has a name twice"));
            }
            rest = rest.get(ENTRY + name + others..).ok_or_else(|| broken("is cut"))?;
        }
        Ok(())
    }
}

/// What the end of the directory says of it.
struct End {
    directory: u64,
    size: u64,
    count: usize,
}

impl End {
    /// `u32 mark, u16 disk, u16 disk, u16 count, u16 count, u32 size, u32 place, u16 length of the comment`.
    fn find((from, tail): &(u64, Bytes)) -> Result<Self, Error> {
        let broken = |why: &str| Error::malformed(WHAT, why);
        let last = tail.len().checked_sub(END).ok_or_else(|| broken("it is no ZIP archive"))?;
        let mut places = (last.saturating_sub(COMMENT)..=last).rev();
        let at = places.find(|at| u32_at(tail, *at) == Some(END_MARK));
        let at = at.ok_or_else(|| broken("it is no ZIP archive, or is cut"))?;
        let number = |from| u32_at(tail, at + from).map_or(0, u64::from);
        let small = |from| u16_at(tail, at + from).map_or(0, usize::from);
        if at + END + small(20) != tail.len() {
            return Err(broken("its end is not where its comment ends"));
        }
        let locator = at.checked_sub(ZIP64_LOCATOR).and_then(|at| u32_at(tail, at));
        if locator == Some(ZIP64_LOCATOR_MARK) {
            return Err(broken("it is a ZIP64 archive, which no package may be"));
        }
        let (size, directory) = (number(12), number(16));
        if directory + size > from + at as u64 {
            return Err(broken("its directory runs past its end"));
        }
        Ok(Self { directory, size, count: small(10) })
    }
}

/// Nothing is held beyond what the file claims, which is bounded.
fn inflate(packed: &[u8], length: u64, name: &str) -> Result<Bytes, Error> {
    let mut unpacked = Vec::new();
    let read = DeflateDecoder::new(packed).take(length + 1).read_to_end(&mut unpacked);
    if let Err(error) = read {
        return Err(Error::malformed(WHAT, format!("{name:?} cannot be unpacked: {error}")));
    }
    if unpacked.len() as u64 != length {
        return Err(Error::malformed(WHAT, format!("{name:?} is not as long as it claims")));
    }
    Ok(unpacked.into())
}
