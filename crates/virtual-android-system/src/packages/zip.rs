//! The ZIP archive of an APK: entries, read one at a time, with limits on number and size.
//!
//! Like Android's `ziparchive`, it trusts the directory at the end.

use flate2::bufread::DeflateDecoder;
use rawzip::{CompressionMethod, ZipArchive, ZipArchiveEntryWayfinder, ZipSliceArchive};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::io::Read;

/// Maximum entries of an archive; the largest apps have some ten thousand.
const MAX_ENTRIES: usize = 65_535;
/// Maximum unpacked size of an entry; more counts as a zip bomb.
const MAX_ENTRY: u64 = 64 << 20;

/// Maximum bytes of all entries read.
const MAX_BYTES: u64 = 512 << 20;

/// An opened archive.
pub(super) struct Zip<'a> {
    left: Cell<u64>,
    archive: ZipSliceArchive<&'a [u8]>,
    entries: BTreeMap<String, (ZipArchiveEntryWayfinder, CompressionMethod)>,
}

impl<'a> Zip<'a> {
    /// Reads the directory; `None` if it is missing or corrupt.
    pub(super) fn open(bytes: &'a [u8]) -> Option<Self> {
        let archive = ZipArchive::from_slice(bytes).ok()?;
        let mut entries = BTreeMap::new();
        let mut listed = archive.entries();
        while let Some(entry) = listed.next_entry().ok()? {
            if entries.len() >= MAX_ENTRIES {
                return None;
            }
            let name = String::from_utf8_lossy(entry.file_path().as_ref()).into_owned();
            // The first of two entries with the same name counts, as in `FindEntry`.
            entries.entry(name).or_insert((entry.wayfinder(), entry.compression_method()));
        }
        Some(Self { archive, entries, left: Cell::new(MAX_BYTES) })
    }

    /// The names of all entries, sorted.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }

    /// An entry's unpacked bytes; `None` if it is missing, corrupt, too large, or compressed in a
    /// way that Android does not support.
    pub(super) fn read(&self, name: &str) -> Option<Vec<u8>> {
        let (way, method) = *self.entries.get(name)?;
        let entry = self.archive.get_entry(way).ok()?;
        let most = MAX_ENTRY.min(self.left.get());
        let mut bytes = Vec::new();
        let sound = match method {
            CompressionMethod::STORE => {
                let reader = entry.verifying_reader(entry.data());
                reader.take(most + 1).read_to_end(&mut bytes)
            }
            CompressionMethod::DEFLATE => {
                let reader = entry.verifying_reader(DeflateDecoder::new(entry.data()));
                reader.take(most + 1).read_to_end(&mut bytes)
            }
            _ => return None,
        };
        let length = bytes.len() as u64;
        self.left.set(self.left.get().saturating_sub(length));
        (sound.is_ok() && length <= most).then_some(bytes)
    }

    /// Offsets of the central directory and of the record at its end, from the file's first byte.
    pub(super) fn directory(&self) -> (usize, usize) {
        (self.archive.directory_offset() as usize, self.archive.eocd_offset() as usize)
    }
}
