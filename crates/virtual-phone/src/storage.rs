//! Shared storage as apps see it: a listing goes in, requested changes come out.
//!
//! The world has no files. The owner of the files sets a listing with `World::set_storage` while
//! `World::lists_storage` is true, and performs the changes that `World::take_requests` returns.

/// A file or folder of shared storage.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct StorageEntry {
    /// Its path below `/sdcard`, e.g. `Download/a.txt`.
    pub path: String,
    /// Whether it is a folder.
    pub folder: bool,
    /// The size of a file in bytes.
    pub size: u64,
    /// Seconds since 1970 by the phone's clock.
    pub modified: u64,
}

impl StorageEntry {
    /// The last component of its path.
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }

    /// The path of its folder; empty for the storage root.
    pub(crate) fn parent(&self) -> &str {
        self.path.rsplit_once('/').map_or("", |(parent, _)| parent)
    }
}

/// A change that an app requests; paths are as in [`StorageEntry`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StorageRequest {
    /// Create a folder.
    MakeFolder(String),
    /// Delete a file, or a folder with its contents.
    Delete(String),
}

/// Maximum entries of a listing.
const MAX_COUNT: usize = 2_000;
/// Maximum waiting requests.
const MAX_WISHES: usize = 16;

/// The listing, and the requested changes.
#[derive(Debug, Default)]
pub(crate) struct SharedStorage {
    entries: Vec<StorageEntry>,
    requests: Vec<StorageRequest>,
}

impl SharedStorage {
    /// The listing.
    pub(crate) fn entries(&self) -> &[StorageEntry] {
        &self.entries
    }

    /// Sets the listing, truncated to 2,000 entries; `false` if nothing has changed.
    pub(crate) fn set_entries(&mut self, mut entries: Vec<StorageEntry>) -> bool {
        entries.truncate(MAX_COUNT);
        entries.sort();
        let changed = self.entries != entries;
        self.entries = entries;
        changed
    }

    /// Adds a request; drops it if too many wait already.
    pub(crate) fn request(&mut self, request: StorageRequest) {
        if self.requests.len() < MAX_WISHES {
            self.requests.push(request);
        }
    }

    /// Takes the requests since the last call.
    pub(crate) fn take_requests(&mut self) -> Vec<StorageRequest> {
        std::mem::take(&mut self.requests)
    }
}
