//! The phone's shared storage as its apps see it: a listing that is handed in, and wishes that are handed out.
//!
//! The world knows no files. Whoever has them (the phone) gives a listing with `World::set_storage` while `World::lists_storage` says
//! that one is looked at, and carries out what `World::take_requests` gives.

/// A file or folder of shared storage.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct StorageEntry {
    /// Where it lies below `/sdcard`, e.g. `Download/a.txt`.
    pub path: String,
    /// A folder, not a file.
    pub folder: bool,
    /// Bytes of a file.
    pub size: u64,
    /// Seconds since 1970 by the phone's clock.
    pub modified: u64,
}

impl StorageEntry {
    /// The last part of its path.
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }

    /// The path of the folder in which it lies; empty for the storage itself.
    pub(crate) fn parent(&self) -> &str {
        self.path.rsplit_once('/').map_or("", |(parent, _)| parent)
    }
}

/// What an app wants done to shared storage; paths are as in [`Stored`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StorageRequest {
    /// Make a folder.
    MakeFolder(String),
    /// Delete a file, or a folder and all in it.
    Delete(String),
}

/// Entries of a listing that are looked at.
const MOST: usize = 2_000;
/// Wishes that wait for somebody to take them.
const MOST_WISHES: usize = 16;

/// The listing that was handed in, and what apps want done.
#[derive(Debug, Default)]
pub(crate) struct SharedStorage {
    entries: Vec<StorageEntry>,
    requests: Vec<StorageRequest>,
}

impl SharedStorage {
    /// What lies there.
    pub(crate) fn entries(&self) -> &[StorageEntry] {
        &self.entries
    }

    /// Takes a listing; `false` where nothing has changed. What goes beyond 2,000 entries is left out.
    pub(crate) fn set_entries(&mut self, mut entries: Vec<StorageEntry>) -> bool {
        entries.truncate(MOST);
        entries.sort();
        let changed = self.entries != entries;
        self.entries = entries;
        changed
    }

    /// An app wants something done. Where too much waits already, it is dropped.
    pub(crate) fn request(&mut self, request: StorageRequest) {
        if self.requests.len() < MOST_WISHES {
            self.requests.push(request);
        }
    }

    /// What apps want done since this was asked last.
    pub(crate) fn take_requests(&mut self) -> Vec<StorageRequest> {
        std::mem::take(&mut self.requests)
    }
}
