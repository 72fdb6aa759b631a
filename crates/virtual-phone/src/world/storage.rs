//! Shared storage, handed in and out.

use crate::storage::{StorageEntry, StorageRequest};
use crate::world::World;

impl World {
    /// Hands in what lies in shared storage; what goes beyond 2,000 entries is left out.
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
