//! The phone's shared storage as its apps see it: a listing that is handed in, and wishes that are handed out.
//!
//! The world knows no files. Whoever has them (the phone) gives a listing with [`World::set_storage`] while [`World::lists_storage`] says
//! that one is looked at, and carries out what [`World::take_wishes`] gives.

use super::World;

/// A file or folder of shared storage.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stored {
    /// Where it lies below `/sdcard`, e.g. `Download/a.txt`.
    pub path: String,
    /// A folder, not a file.
    pub folder: bool,
    /// Bytes of a file.
    pub size: u64,
    /// Seconds since 1970 by the phone's clock.
    pub modified: u64,
}

impl Stored {
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
pub enum Wish {
    /// Make a folder.
    MakeFolder(String),
    /// Delete a file, or a folder and all in it.
    Delete(String),
}

/// Entries of a listing that are looked at.
const MOST: usize = 2_000;
/// Wishes that wait for somebody to take them.
const MOST_WISHES: usize = 16;

impl World {
    /// Hands in what lies in shared storage; what goes beyond 2,000 entries is left out.
    pub fn set_storage(&mut self, mut entries: Vec<Stored>) {
        entries.truncate(MOST);
        entries.sort();
        if self.storage != entries {
            self.storage = entries;
            self.settle();
        }
    }

    /// Whether the app on the screen shows shared storage.
    pub fn lists_storage(&self) -> bool {
        let front = self.app_index(&self.foreground().package);
        front.is_some_and(|at| self.apps[at].app.lists_storage())
    }

    /// What apps want done to shared storage since this was asked last.
    pub fn take_wishes(&mut self) -> Vec<Wish> {
        std::mem::take(&mut self.wishes)
    }

    pub(crate) fn wish(&mut self, wish: Wish) {
        if self.wishes.len() < MOST_WISHES {
            self.wishes.push(wish);
        }
    }
}
