//! Changes by the system, without permission checks: package folders, APKs, app data.

use super::{Body, Contents, Error, Files, Id, NODES, Node, ROOT};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The system's user id. Source: `AID_SYSTEM` in `android_filesystem_config.h`.
pub const SYSTEM: u32 = 1000;

impl Files {
    /// Creates a folder for a user, and missing parents for the system; an existing folder stays
    /// unchanged.
    pub fn make_folder_for(&mut self, path: &str, uid: u32, mode: u32) -> Result<(), Error> {
        let mut here = ROOT;
        let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
        for (nth, part) in parts.iter().enumerate() {
            let (uid, mode) = if nth + 1 == parts.len() { (uid, mode) } else { (SYSTEM, 0o771) };
            here = match self.entries(here)?.get(*part) {
                Some(id) => *id,
                None => {
                    let body = Body::Directory(BTreeMap::new());
                    self.put_for(here, part, body, uid, mode)?
                }
            };
        }
        Ok(())
    }

    /// Creates an empty file for the system, replacing an existing one; its folder must exist.
    pub fn create_as_system(&mut self, path: &str, mode: u32) -> Result<Id, Error> {
        self.remove_all(path);
        let (folder, name) = path.rsplit_once('/').ok_or(Error::Invalid)?;
        let folder = self.lookup(folder).ok_or(Error::NotFound)?;
        self.entries(folder)?;
        self.put_for(folder, name, Body::File(Contents(Arc::default())), SYSTEM, mode)
    }

    /// Adds the APK of a preinstalled app and its parent folders. Files of the system image belong
    /// to root and never change.
    pub fn put_apk(&mut self, path: &str, bytes: Vec<u8>) -> Result<(), Error> {
        let (folder, name) = path.rsplit_once('/').ok_or(Error::Invalid)?;
        let fixed = !path.starts_with("/data/");
        let owner = if fixed { 0 } else { SYSTEM };
        self.make_folder_for(folder, owner, 0o755)?;
        let folder = self.lookup(folder).ok_or(Error::NotFound)?;
        let size = bytes.len() as u64;
        let body = Body::File(Contents(Arc::new(bytes)));
        let id = self.put_for(folder, name, body, owner, 0o644)?;
        self.used += size;
        let also = if fixed { vec![id, folder] } else { Vec::new() };
        for id in also {
            self.change(id, |node| node.read_only = true);
        }
        Ok(())
    }

    /// A file's bytes, regardless of permissions.
    pub fn read_as_system(&self, path: &str) -> Option<Contents> {
        self.lookup(path).map(|id| self.contents(id))
    }

    /// Moves a file or folder to an unused path in an existing folder.
    pub fn move_as_system(&mut self, from: &str, to: &str) -> Result<(), Error> {
        let id = self.lookup(from).ok_or(Error::NotFound)?;
        let (folder, name) = to.rsplit_once('/').ok_or(Error::Invalid)?;
        let folder = self.lookup(folder).ok_or(Error::NotFound)?;
        self.forget(from);
        self.change(folder, |node| {
            if let Body::Directory(entries) = &mut node.body {
                entries.insert(name.to_owned(), id);
            }
        });
        Ok(())
    }

    /// Deletes a file or a whole folder.
    pub fn remove_all(&mut self, path: &str) {
        let Some(id) = self.lookup(path).filter(|id| *id != ROOT) else { return };
        self.forget(path);
        // Not recursive: folders can be nested deeper than the stack allows.
        let mut gone = vec![id];
        while let Some(id) = gone.pop() {
            self.used -= self.size_of(id);
            if let Some(Node { body: Body::Directory(entries), .. }) = self.nodes.remove(&id) {
                gone.extend(entries.into_values());
            }
        }
    }

    /// The node at a path, without following links.
    fn lookup(&self, path: &str) -> Option<Id> {
        let mut parts = path.split('/').filter(|part| !part.is_empty());
        parts.try_fold(ROOT, |here, part| self.entries(here).ok()?.get(part).copied())
    }

    fn put_for(
        &mut self,
        parent: Id,
        name: &str,
        body: Body,
        uid: u32,
        mode: u32,
    ) -> Result<Id, Error> {
        if self.nodes.len() >= NODES {
            return Err(Error::NoSpace);
        }
        let node = Node { body, mode, uid, gid: uid, modified: self.now, read_only: false };
        Ok(self.put(parent, name.to_owned(), node))
    }

    /// Removes a name from its folder.
    fn forget(&mut self, path: &str) {
        let Some((folder, name)) = path.rsplit_once('/') else { return };
        let Some(folder) = self.lookup(folder) else { return };
        self.change(folder, |node| {
            if let Body::Directory(entries) = &mut node.body {
                entries.remove(name);
            }
        });
    }
}
