//! Finds files in a package by name: reads the end of the central directory, the directory, then
//! files on demand.
//!
//! The rules for invalid and unusual packages follow AOSP's libziparchive (`zip_archive.cc`), so
//! that we read what the phone reads:
//!
//! * The end of central directory is searched backwards from the end of the package. The first
//!   signature found counts, and its comment must reach the end of the package.
//! * No bytes before the package and no ZIP64: signed packages cannot have it (`ZipUtils` in AOSP's
//!   `util/apk`).
//! * Two files with the same name are an error: Android does not install the package.
//! * Sizes, offsets and methods come from the central directory. From a file's local header, only
//!   the lengths of the name and the extra field are used.
//! * A file must end before the directory. Files may overlap: each one is read and limited on its
//!   own.
//! * Method 8 means deflated; any other method means stored, with the unpacked length
//!   (`ZipAssetsProvider` in androidfw).
//! * Checksums are ignored. A deflated file must unpack to exactly the declared length.

use std::collections::HashMap;
use std::io::Read as _;

use bytes::Bytes;
use flate2::read::DeflateDecoder;

use super::chunk::{u16_at, u32_at};
use super::ranges::RangeCache;
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
/// The longest comment, in bytes.
const COMMENT: usize = 65_535;
const DEFLATED: u16 = 8;
/// Approximate size of an extra field that aligns a file to a page.
const ALIGNMENT: u64 = 4 << 10;
/// Files closer together than this are read in one go: the bytes between them cost less than
/// another round trip.
const APART: u64 = 64 << 10;

/// The files of a package.
pub(crate) struct Archive<'s> {
    ranges: RangeCache<'s>,
    limits: Limits,
    entries: HashMap<String, Entry>,
    /// File names, in directory order.
    names: Vec<String>,
    /// Offset of the central directory.
    directory: u64,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    deflated: bool,
    packed: u64,
    unpacked: u64,
    /// Offset of the local header.
    header: u64,
}

impl<'s> Archive<'s> {
    /// Reads the central directory.
    pub(crate) async fn open(source: Box<dyn Source + 's>, limits: Limits) -> Result<Self, Error> {
        let mut ranges = RangeCache::open(source).await?;
        let end = EndOfCentralDirectory::find(&ranges.tail())?;
        if end.size > limits.directory {
            return Err(Error::TooLarge { what: "the central directory", limit: limits.directory });
        }
        let directory = ranges.bytes(end.directory, end.size).await?;
        let (entries, names) = (HashMap::new(), Vec::new());
        let mut archive = Self { ranges, limits, entries, names, directory: end.directory };
        archive.read_directory(&directory, end.count)?;
        Ok(archive)
    }

    /// The file names, in directory order.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.entries.contains_key(name)
    }

    /// Offset of the central directory. The signing block ends here.
    pub(crate) fn directory(&self) -> u64 {
        self.directory
    }

    pub(crate) fn ranges(&mut self) -> &mut RangeCache<'s> {
        &mut self.ranges
    }

    /// Reads these files ahead, in one go where they are close together. Skips missing and
    /// oversized files.
    pub(crate) async fn prefetch(&mut self, names: &[&str]) -> Result<(), Error> {
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
            self.ranges.bytes(from, to - from).await?;
        }
        Ok(())
    }

    /// The unpacked content of a file.
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
        let header = self.ranges.bytes(entry.header, HEADER).await?;
        if u32_at(&header, 0) != Some(HEADER_MARK) {
            return Err(Error::malformed(WHAT, format!("{name:?} has no local header")));
        }
        let lengths = [26, 28].into_iter().filter_map(|at| u16_at(&header, at)).map(u64::from);
        let from = entry.header + HEADER + lengths.sum::<u64>();
        let length = if entry.deflated { entry.packed } else { entry.unpacked };
        if from.saturating_add(length) > self.directory {
            return Err(Error::malformed(WHAT, format!("{name:?} overlaps the central directory")));
        }
        let packed = self.ranges.bytes(from, length).await?;
        if entry.deflated { inflate(&packed, entry.unpacked, name) } else { Ok(packed) }
    }

    /// Approximate start and end offset of a file, header included.
    fn extent(&self, name: &str) -> Option<(u64, u64)> {
        let entry = self.entries.get(name)?;
        let largest = entry.packed.max(if entry.deflated { 0 } else { entry.unpacked });
        let around = HEADER + name.len() as u64 + ALIGNMENT;
        let end = entry.header.saturating_add(around).saturating_add(largest).min(self.directory);
        (largest <= self.limits.entry && entry.header < end).then_some((entry.header, end))
    }

    fn read_directory(&mut self, directory: &[u8], count: usize) -> Result<(), Error> {
        let broken =
            |reason: &str| Error::malformed(WHAT, format!("the central directory {reason}"));
        let mut rest = directory;
        for _ in 0..count {
            let number = |at| u32_at(rest, at).map(u64::from);
            let length = |at| u16_at(rest, at).map(usize::from);
            if u32_at(rest, 0) != Some(ENTRY_MARK) {
                return Err(broken("has fewer entries than declared"));
            }
            let numbers = || Some((u16_at(rest, 10)?, number(20)?, number(24)?, number(42)?));
            let lengths = || Some((length(28)?, length(30)? + length(32)?));
            let (method, packed, unpacked, header) =
                numbers().ok_or_else(|| broken("is truncated"))?;
            let (name, others) = lengths().ok_or_else(|| broken("is truncated"))?;
            let named = rest.get(ENTRY..ENTRY + name).ok_or_else(|| broken("is truncated"))?;
            let named = std::str::from_utf8(named).ok().filter(|name| !name.contains('\0'));
            let named =
                named.ok_or_else(|| broken("has a file name that is not valid UTF-8"))?.to_owned();
            if header >= self.directory {
                return Err(broken("has an entry with an offset past the directory"));
            }
            let entry = Entry { deflated: method == DEFLATED, packed, unpacked, header };
            self.names.push(named.clone());
            if self.entries.insert(named, entry).is_some() {
                return Err(broken("lists a file name twice"));
            }
            rest = rest.get(ENTRY + name + others..).ok_or_else(|| broken("is truncated"))?;
        }
        Ok(())
    }
}

/// The end of central directory record.
struct EndOfCentralDirectory {
    directory: u64,
    size: u64,
    count: usize,
}

impl EndOfCentralDirectory {
    /// `u32 signature, u16 disk, u16 disk, u16 count, u16 count, u32 size, u32 offset, u16 comment
    /// length`.
    fn find((from, tail): &(u64, Bytes)) -> Result<Self, Error> {
        let broken = |reason: &str| Error::malformed(WHAT, reason);
        let last = tail.len().checked_sub(END).ok_or_else(|| broken("not a ZIP archive"))?;
        let mut places = (last.saturating_sub(COMMENT)..=last).rev();
        let at = places.find(|at| u32_at(tail, *at) == Some(END_MARK));
        let at = at.ok_or_else(|| broken("not a ZIP archive, or truncated"))?;
        let number = |from| u32_at(tail, at + from).map_or(0, u64::from);
        let small = |from| u16_at(tail, at + from).map_or(0, usize::from);
        if at + END + small(20) != tail.len() {
            return Err(broken("the ZIP comment does not end at the end of the file"));
        }
        let locator = at.checked_sub(ZIP64_LOCATOR).and_then(|at| u32_at(tail, at));
        if locator == Some(ZIP64_LOCATOR_MARK) {
            return Err(broken("ZIP64 archives are not valid packages"));
        }
        let (size, directory) = (number(12), number(16));
        if directory + size > from + at as u64 {
            return Err(broken("the central directory runs past its end record"));
        }
        Ok(Self { directory, size, count: small(10) })
    }
}

/// Allocates no more than the declared length, which is within the limits.
fn inflate(packed: &[u8], length: u64, name: &str) -> Result<Bytes, Error> {
    let mut unpacked = Vec::new();
    let read = DeflateDecoder::new(packed).take(length + 1).read_to_end(&mut unpacked);
    if let Err(error) = read {
        return Err(Error::malformed(WHAT, format!("cannot unpack {name:?}: {error}")));
    }
    if unpacked.len() as u64 != length {
        return Err(Error::malformed(
            WHAT,
            format!("{name:?} does not unpack to its declared length"),
        ));
    }
    Ok(unpacked.into())
}
