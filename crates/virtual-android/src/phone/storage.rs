//! Shared storage, as the phone's apps see it.

use super::State;
use thumbwire_virtual_phone::{StorageEntry, StorageRequest};
use thumbwire_virtual_shell::files::{FileType, Files};

impl State {
    /// Performs the storage requests of apps and refreshes the app that lists the storage.
    pub(super) fn share_files(&mut self) {
        for change in self.world.take_requests() {
            // A request that fails changes nothing, and the app then shows that.
            match change {
                StorageRequest::MakeFolder(path) => {
                    let _ = self.kernel.files.make_directory(&shared(&path), 0o2770);
                }
                StorageRequest::Delete(path) => {
                    let mut inside = Vec::new();
                    list_shared(&self.kernel.files, &path, 0, &mut inside);
                    for entry in inside.iter().rev() {
                        let _ = self.kernel.files.remove(&shared(&entry.path), true);
                    }
                    let _ = self.kernel.files.remove(&shared(&path), true);
                }
            }
        }
        if self.world.lists_storage() {
            let mut entries = Vec::new();
            list_shared(&self.kernel.files, "", 0, &mut entries);
            self.world.set_storage(entries);
        }
    }
}

/// The absolute path of `path` in shared storage.
fn shared(path: &str) -> String {
    format!("/sdcard/{path}")
}

/// Lists everything below a folder of shared storage, limited in depth and number.
fn list_shared(files: &Files, folder: &str, depth: usize, entries: &mut Vec<StorageEntry>) {
    const MAX_DEPTH: usize = 16;
    const MAX_COUNT: usize = 2_000;
    for (name, stat) in files.list(&shared(folder)).unwrap_or_default() {
        if entries.len() >= MAX_COUNT {
            return;
        }
        let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
        let folder = stat.kind == FileType::Directory;
        let (size, modified) = (stat.size, stat.modified);
        entries.push(StorageEntry { path: path.clone(), folder, size, modified });
        if folder && depth < MAX_DEPTH {
            list_shared(files, &path, depth + 1, entries);
        }
    }
}
