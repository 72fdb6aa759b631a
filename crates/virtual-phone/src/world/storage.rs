//! Passes the listing of shared storage in and requested changes out.

use crate::storage::{StorageEntry, StorageRequest};
use crate::world::World;

impl World {
    /// Sets the listing of shared storage, truncated to 2,000 entries.
    pub fn set_storage(&mut self, entries: Vec<StorageEntry>) {
        if self.storage.set_entries(entries) {
            self.rebuild();
        }
    }

    /// Whether the app in front shows shared storage.
    pub fn lists_storage(&self) -> bool {
        self.apps.get(&self.foreground().package).is_some_and(|front| front.app.lists_storage())
    }

    /// The changes requested since the last call.
    pub fn take_requests(&mut self) -> Vec<StorageRequest> {
        self.storage.take_requests()
    }
}
