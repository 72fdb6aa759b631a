//! The phone's files: a tree in memory, with owners, modes and Android's layout.
//!
//! Start with [`Files`]. Every path goes through [`Files::find`], which follows links and checks
//! the permissions of the shell user (uid 2000), because everything that reads or writes here is
//! that user: the shell, its programs, and `adb push`. `/`, `/system` and `/vendor` are read-only;
//! `/sdcard` and `/data/local/tmp` are writable.
//!
//! Not here: open file descriptors (a reader holds a snapshot, a writer appends to an [`Id`]), hard
//! links, ownership changes. Nothing touches a real disk.

mod layout;
mod system;
mod values;

pub use system::SYSTEM;
pub use values::{Contents, Id, OpenTarget, SpecialFile};
pub use values::{Error, FileType, Stat};

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// The user of adbd's shells. Source: `AID_SHELL` in Android's `android_filesystem_config.h`.
const SHELL: u32 = 2000;

/// The shell user's groups that matter for files: shell, log, sdcard_rw, media_rw, sdcard_r,
/// everybody. Source: `id` on a phone.
const SHELL_GROUPS: [u32; 6] = [SHELL, 1007, 1015, 1023, 1028, 9997];

/// Maximum bytes of all files together.
const CAPACITY: u64 = 512 << 20;

/// Maximum nodes; a directory entry costs memory too.
const NODES: usize = 200_000;

/// Maximum links followed in a lookup, as on Linux (`MAXSYMLINKS`).
const LINKS: usize = 40;

#[derive(Debug)]
enum Body {
    File(Contents),
    Directory(BTreeMap<String, Id>),
    Link(String),
    Special(SpecialFile),
}

#[derive(Debug)]
struct Node {
    body: Body,
    mode: u32,
    uid: u32,
    gid: u32,
    modified: u64,
    /// Part of a read-only file system.
    read_only: bool,
}

/// The file tree.
#[derive(Debug)]
pub struct Files {
    nodes: BTreeMap<Id, Node>,
    next: u64,
    used: u64,
    capacity: u64,
    /// The current time in seconds since 1970, for modification times.
    pub now: u64,
    /// The time since boot, which `/proc/uptime` has.
    pub uptime: Duration,
    uptime_file: Option<Id>,
}

const ROOT: Id = Id(0);

impl Files {
    /// A fresh phone's tree. `now` is in seconds since 1970; `programs` become `/system/bin`;
    /// `links` are path and target of release-dependent links, `texts` path and content of such
    /// files.
    pub fn new<'a>(
        now: u64,
        programs: impl IntoIterator<Item = &'a str>,
        links: &[(&str, &'a str)],
        texts: &[(&str, &str)],
    ) -> Self {
        let root = Node {
            body: Body::Directory(BTreeMap::new()),
            mode: 0o755,
            uid: 0,
            gid: 0,
            modified: now,
            read_only: true,
        };
        let mut files = Self {
            nodes: BTreeMap::from([(ROOT, root)]),
            next: 1,
            used: 0,
            capacity: CAPACITY,
            now,
            uptime: Duration::ZERO,
            uptime_file: None,
        };
        layout::populate(&mut files, programs, links, texts);
        files.uptime_file = files.find("/proc/uptime", true).ok();
        files
    }

    /// The status of `path`; follows a link in the last component only if `follow` is set.
    pub fn stat(&self, path: &str, follow: bool) -> Result<Stat, Error> {
        Ok(self.stat_of(self.find(path, follow)?))
    }

    /// The entries of a directory, sorted by name, without `.` and `..`.
    pub fn list(&self, path: &str) -> Result<Vec<(String, Stat)>, Error> {
        let id = self.find(path, true)?;
        self.permit(id, 4)?;
        let entries = self.entries(id)?;
        Ok(entries.iter().map(|(name, id)| (name.clone(), self.stat_of(*id))).collect())
    }

    /// A file's current bytes.
    pub fn read(&self, path: &str) -> Result<Contents, Error> {
        match self.open_to_read(path)? {
            OpenTarget::File(id) => Ok(self.contents(id)),
            OpenTarget::Special(_) => Ok(Contents::default()),
        }
    }

    /// Opens `path` for reading.
    pub fn open_to_read(&self, path: &str) -> Result<OpenTarget, Error> {
        let id = self.find(path, true)?;
        self.permit(id, 4)?;
        match &self.node(id).body {
            Body::Special(special) => Ok(OpenTarget::Special(*special)),
            Body::Directory(_) => Err(Error::IsADirectory),
            Body::File(_) | Body::Link(_) => Ok(OpenTarget::File(id)),
        }
    }

    /// The bytes of an open file; empty if it was deleted.
    pub fn contents(&self, id: Id) -> Contents {
        if self.uptime_file == Some(id) {
            let up = self.uptime.as_secs_f64();
            // All processors were idle half of the time.
            return Contents::from(format!("{up:.2} {:.2}\n", up / 2.0).into_bytes());
        }
        match self.nodes.get(&id).map(|node| &node.body) {
            Some(Body::File(contents)) => contents.clone(),
            _ => Contents::default(),
        }
    }

    /// Opens a file for appending. Creates it with `mode` if absent, and truncates it unless `keep`
    /// is set.
    pub fn open_to_write(
        &mut self,
        path: &str,
        mode: u32,
        keep: bool,
    ) -> Result<OpenTarget, Error> {
        let id = match self.find(path, true) {
            Ok(id) => id,
            Err(Error::NotFound) => {
                let (parent, name) = self.parent_of(&self.beyond_links(path)?)?;
                return Ok(OpenTarget::File(self.add(
                    parent,
                    name,
                    Body::File(Contents::default()),
                    mode,
                )?));
            }
            Err(error) => return Err(error),
        };
        match &self.node(id).body {
            Body::Directory(_) => return Err(Error::IsADirectory),
            Body::Special(special) => return Ok(OpenTarget::Special(*special)),
            Body::File(_) | Body::Link(_) => {}
        }
        if self.node(id).read_only {
            return Err(Error::ReadOnly);
        }
        self.permit(id, 2)?;
        if !keep {
            self.used -= self.size_of(id);
            self.change(id, |node| node.body = Body::File(Contents::default()));
        }
        Ok(OpenTarget::File(id))
    }

    /// Appends bytes to a file. Bytes for a deleted file vanish, as on a real system.
    pub fn append(&mut self, id: Id, bytes: &[u8]) -> Result<(), Error> {
        if self.used + bytes.len() as u64 > self.capacity {
            return Err(Error::NoSpace);
        }
        let now = self.now;
        if let Some(Node { body: Body::File(contents), modified, .. }) = self.nodes.get_mut(&id) {
            Arc::make_mut(&mut contents.0).extend_from_slice(bytes);
            *modified = now;
            self.used += bytes.len() as u64;
        }
        Ok(())
    }

    /// Overwrites existing bytes; anything beyond the file's end is ignored.
    pub fn write_over(&mut self, id: Id, at: u64, bytes: &[u8]) {
        if let Some(Node { body: Body::File(contents), .. }) = self.nodes.get_mut(&id) {
            let old = Arc::make_mut(&mut contents.0).iter_mut().skip(at as usize);
            old.zip(bytes).for_each(|(old, new)| *old = *new);
        }
    }

    /// Replaces a file's contents; a device node discards the bytes.
    pub fn write(&mut self, path: &str, bytes: &[u8], mode: u32) -> Result<(), Error> {
        match self.open_to_write(path, mode, false)? {
            OpenTarget::File(id) => self.append(id, bytes),
            OpenTarget::Special(_) => Ok(()),
        }
    }

    /// Creates a directory.
    pub fn make_directory(&mut self, path: &str, mode: u32) -> Result<(), Error> {
        if self.find(path, false).is_ok() {
            return Err(Error::Exists);
        }
        let (parent, name) = self.parent_of(path)?;
        self.add(parent, name, Body::Directory(BTreeMap::new()), mode).map(drop)
    }

    /// Creates a symbolic link.
    pub fn link(&mut self, path: &str, target: &str) -> Result<(), Error> {
        if self.find(path, false).is_ok() {
            return Err(Error::Exists);
        }
        let (parent, name) = self.parent_of(path)?;
        self.add(parent, name, Body::Link(target.to_owned()), 0o777).map(drop)
    }

    /// Removes a file or link, or an empty directory if `directories` is set.
    pub fn remove(&mut self, path: &str, directories: bool) -> Result<(), Error> {
        let id = self.find(path, false)?;
        if let Body::Directory(entries) = &self.node(id).body {
            if !directories {
                return Err(Error::IsADirectory);
            }
            if !entries.is_empty() {
                return Err(Error::NotEmpty);
            }
        }
        let (parent, name) = self.parent_of(path)?;
        self.writable(parent)?;
        if id == ROOT {
            return Err(Error::Invalid);
        }
        self.used -= self.size_of(id);
        self.change(parent, |node| {
            if let Body::Directory(entries) = &mut node.body {
                entries.remove(&name);
            }
        });
        self.nodes.remove(&id);
        Ok(())
    }

    /// Removes the file of an aborted upload, unless another one has replaced it.
    pub fn discard(&mut self, path: &str, id: Id) {
        if self.find(path, true) == Ok(id) {
            // If that fails, the file stays, as with adbd.
            let _ = self.remove(path, false);
        }
    }

    /// Moves a node, replacing a file or empty directory at the new path.
    pub fn rename(&mut self, from: &str, to: &str) -> Result<(), Error> {
        let id = self.find(from, false)?;
        let (old_parent, old_name) = self.parent_of(from)?;
        let (new_parent, new_name) = self.parent_of(to)?;
        self.writable(old_parent)?;
        self.writable(new_parent)?;
        if matches!(self.node(id).body, Body::Directory(_)) && self.is_inside(new_parent, id) {
            return Err(Error::Invalid);
        }
        if let Ok(existing) = self.find(to, false) {
            if existing == id {
                return Ok(());
            }
            match (&self.node(id).body, &self.node(existing).body) {
                (Body::Directory(_), Body::Directory(_)) => self.remove(to, true)?,
                (Body::Directory(_), _) => return Err(Error::NotADirectory),
                _ => self.remove(to, false)?,
            }
        }
        for (parent, name, put) in [(old_parent, old_name, false), (new_parent, new_name, true)] {
            self.change(parent, |node| {
                if let Body::Directory(entries) = &mut node.body {
                    if put {
                        entries.insert(name, id)
                    } else {
                        entries.remove(&name)
                    };
                }
            });
        }
        Ok(())
    }

    /// Changes permission bits; only the owner may.
    pub fn set_mode(&mut self, path: &str, mode: u32) -> Result<(), Error> {
        let id = self.find(path, true)?;
        self.owned(id)?;
        let modified = self.node(id).modified;
        self.change(id, |node| {
            node.mode = mode & 0o7777;
            node.modified = modified;
        });
        Ok(())
    }

    /// Sets the modification time, in seconds since 1970; follows a link only if `follow` is set.
    pub fn set_modified(&mut self, path: &str, follow: bool, seconds: u64) -> Result<(), Error> {
        let id = self.find(path, follow)?;
        if self.node(id).read_only {
            return Err(Error::ReadOnly);
        }
        self.permit(id, 2)?;
        self.change(id, |node| node.modified = seconds);
        Ok(())
    }

    /// Fills the disk: writing needs the space of something that is deleted.
    pub fn fill(&mut self) {
        self.capacity = self.used;
    }

    /// Whether the disk is full.
    pub fn is_full(&self) -> bool {
        self.used >= self.capacity
    }

    /// Used and total bytes.
    pub fn usage(&self) -> (u64, u64) {
        (self.used, self.capacity)
    }

    fn find(&self, path: &str, follow: bool) -> Result<Id, Error> {
        self.walk(path, follow, &mut 0)
    }

    fn walk(&self, path: &str, follow: bool, links: &mut usize) -> Result<Id, Error> {
        if path.is_empty() {
            return Err(Error::NotFound);
        }
        if path.len() > 4096 {
            return Err(Error::NameTooLong);
        }
        let mut stack = vec![ROOT];
        let mut here = String::new();
        let parts: Vec<&str> =
            path.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
        for (nth, part) in parts.iter().enumerate() {
            let current = stack.last().copied().unwrap_or(ROOT);
            if *part == ".." {
                if stack.len() > 1 {
                    stack.pop();
                    here.truncate(here.rfind('/').unwrap_or(0));
                }
                continue;
            }
            let entries = self.entries(current)?;
            self.permit(current, 1)?;
            let id = *entries.get(*part).ok_or(Error::NotFound)?;
            let last = nth + 1 == parts.len();
            if let (Body::Link(target), true) =
                (&self.node(id).body, follow || !last || path.ends_with('/'))
            {
                *links += 1;
                if *links > LINKS {
                    return Err(Error::TooManyLinks);
                }
                let whole = if target.starts_with('/') {
                    target.clone()
                } else {
                    format!("{here}/{target}")
                };
                let rest: String =
                    parts.iter().skip(nth + 1).map(|part| format!("/{part}")).collect();
                // A trailing slash requires a directory, also behind a link.
                let slash = if path.ends_with('/') { "/" } else { "" };
                return self.walk(&format!("{whole}{rest}{slash}"), follow, links);
            }
            stack.push(id);
            here.push('/');
            here.push_str(part);
        }
        let id = stack.last().copied().unwrap_or(ROOT);
        if path.ends_with('/') && !matches!(self.node(id).body, Body::Directory(_)) {
            return Err(Error::NotADirectory);
        }
        Ok(id)
    }

    /// The path at which a new file is created: dangling links are followed to their target.
    fn beyond_links(&self, path: &str) -> Result<String, Error> {
        let mut path = path.to_owned();
        for _ in 0..=LINKS {
            let Some(target) = self.stat(&path, false).ok().and_then(|stat| stat.target) else {
                return Ok(path);
            };
            path = match path.rsplit_once('/') {
                Some((folder, _)) if !target.starts_with('/') => format!("{folder}/{target}"),
                _ => target,
            };
        }
        Err(Error::TooManyLinks)
    }

    /// Whether names beside this one can change at all: its folder is there and on a writable file
    /// system. System calls find this out before they look for the name itself.
    pub fn permits_changes_beside(&self, path: &str) -> Result<(), Error> {
        let (parent, _) = self.parent_of(path)?;
        match self.node(parent).read_only {
            true => Err(Error::ReadOnly),
            false => Ok(()),
        }
    }

    fn parent_of(&self, path: &str) -> Result<(Id, String), Error> {
        let trimmed = path.trim_end_matches('/');
        let (parent, name) = trimmed.rsplit_once('/').unwrap_or(("", trimmed));
        if name.is_empty() || name == "." || name == ".." {
            return Err(Error::Invalid);
        }
        if name.len() > 255 {
            return Err(Error::NameTooLong);
        }
        let parent = self.find(if parent.is_empty() { "/" } else { parent }, true)?;
        self.entries(parent)?;
        Ok((parent, name.to_owned()))
    }

    fn add(&mut self, parent: Id, name: String, body: Body, mode: u32) -> Result<Id, Error> {
        self.writable(parent)?;
        if self.nodes.len() >= NODES {
            return Err(Error::NoSpace);
        }
        let above = self.node(parent);
        // Shared storage forces owner, group and mode on new files (FUSE; `ls -l /sdcard` on a
        // phone).
        let (uid, gid, mode) = if above.gid == layout::SHARED {
            let forced = if matches!(body, Body::Directory(_)) { 0o2770 } else { 0o660 };
            (above.uid, above.gid, forced)
        } else {
            (SHELL, SHELL, mode & 0o7777)
        };
        let id = self.put(
            parent,
            name,
            Node { body, mode, uid, gid, modified: self.now, read_only: false },
        );
        Ok(id)
    }

    /// Adds a node without checks.
    fn put(&mut self, parent: Id, name: String, node: Node) -> Id {
        let id = Id(self.next);
        self.next += 1;
        self.nodes.insert(id, node);
        self.change(parent, |above| {
            if let Body::Directory(entries) = &mut above.body {
                entries.insert(name, id);
            }
        });
        id
    }

    fn change(&mut self, id: Id, with: impl FnOnce(&mut Node)) {
        let now = self.now;
        if let Some(node) = self.nodes.get_mut(&id) {
            node.modified = now;
            with(node);
        }
    }

    fn node(&self, id: Id) -> &Node {
        // Ids come from the tree under the same lock; the root is the fallback for the impossible
        // case.
        self.nodes.get(&id).unwrap_or_else(|| &self.nodes[&ROOT])
    }

    fn entries(&self, id: Id) -> Result<&BTreeMap<String, Id>, Error> {
        match &self.node(id).body {
            Body::Directory(entries) => Ok(entries),
            _ => Err(Error::NotADirectory),
        }
    }

    fn size_of(&self, id: Id) -> u64 {
        match &self.node(id).body {
            Body::File(contents) => contents.0.len() as u64,
            _ => 0,
        }
    }

    fn is_inside(&self, id: Id, ancestor: Id) -> bool {
        // Not recursive: moves can nest folders deeper than the stack allows.
        let mut open = vec![ancestor];
        while let Some(here) = open.pop() {
            if here == id {
                return true;
            }
            if let Body::Directory(entries) = &self.node(here).body {
                open.extend(entries.values());
            }
        }
        false
    }

    fn permit(&self, id: Id, bit: u32) -> Result<(), Error> {
        let node = self.node(id);
        let shift = if node.uid == SHELL {
            6
        } else if SHELL_GROUPS.contains(&node.gid) {
            3
        } else {
            0
        };
        if (node.mode >> shift) & bit == bit { Ok(()) } else { Err(Error::Denied) }
    }

    fn writable(&self, id: Id) -> Result<(), Error> {
        if self.node(id).read_only {
            return Err(Error::ReadOnly);
        }
        self.permit(id, 3)
    }

    fn owned(&self, id: Id) -> Result<(), Error> {
        let node = self.node(id);
        if node.read_only {
            return Err(Error::ReadOnly);
        }
        if node.uid == SHELL || node.gid == layout::SHARED { Ok(()) } else { Err(Error::Denied) }
    }

    fn stat_of(&self, id: Id) -> Stat {
        let node = self.node(id);
        let (kind, size, target) = match &node.body {
            Body::File(contents) => (FileType::File, contents.0.len() as u64, None),
            Body::Directory(_) => (FileType::Directory, 3452, None),
            Body::Link(target) => (FileType::Link, target.len() as u64, Some(target.clone())),
            Body::Special(_) => (FileType::Device, 0, None),
        };
        Stat {
            inode: id.0 + 1,
            kind,
            mode: node.mode,
            uid: node.uid,
            gid: node.gid,
            size,
            modified: node.modified,
            target,
        }
    }
}

/// Joins a path to a working directory and resolves `.`, `..` and double slashes, without following
/// links.
pub fn absolute(cwd: &str, path: &str) -> String {
    let joined = if path.starts_with('/') { path.to_owned() } else { format!("{cwd}/{path}") };
    let mut parts: Vec<&str> = Vec::new();
    for part in joined.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    let mut path = String::with_capacity(joined.len());
    for part in &parts {
        path.push('/');
        path.push_str(part);
    }
    if path.is_empty() { "/".to_owned() } else { path }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phone() -> Files {
        Files::new(1_000, ["sh", "ls"], &[], &[])
    }

    #[test]
    fn sdcard_files_are_readable_through_their_links() {
        let mut files = phone();
        files.write("/sdcard/a.txt", b"hello", 0o644).expect("written");
        for path in [
            "/sdcard/a.txt",
            "/storage/emulated/0/a.txt",
            "/storage/self/primary/Music/../a.txt",
            "//sdcard//./a.txt",
        ] {
            assert_eq!(files.read(path).expect(path).as_ref(), b"hello", "{path}");
        }
        assert_eq!(files.stat("/sdcard/a.txt", true).expect("stat").full_mode(), 0o100_660);
        assert_eq!(
            files.stat("/sdcard", false).expect("stat").target.as_deref(),
            Some("/storage/emulated/0")
        );
    }

    #[test]
    fn unwritable_paths_return_the_right_error() {
        let mut files = phone();
        for (path, reason) in [
            ("/x", Error::ReadOnly),
            ("/system/bin/ls", Error::ReadOnly),
            ("/system/new", Error::ReadOnly),
            ("/data/x", Error::Denied),
            ("/data/data/com.example/x", Error::NotFound),
            ("/nope/x", Error::NotFound),
            ("/sdcard", Error::IsADirectory),
            ("/system/bin/ls/x", Error::NotADirectory),
        ] {
            assert_eq!(files.write(path, b"x", 0o644), Err(reason), "{path}");
        }
        assert_eq!(files.list("/data").map(drop), Err(Error::Denied));
        assert_eq!(files.remove("/system/bin/ls", false), Err(Error::ReadOnly));
        assert_eq!(files.remove("/", true), Err(Error::NotEmpty));
    }

    #[test]
    fn deleting_frees_space_on_a_full_phone() {
        let mut files = phone();
        files.capacity = files.used + 10;
        files.write("/sdcard/a", b"0123456789", 0o644).expect("fits");
        assert_eq!(files.write("/sdcard/b", b"x", 0o644), Err(Error::NoSpace));
        files.remove("/sdcard/a", false).expect("removed");
        files.write("/sdcard/b", b"x", 0o644).expect("fits again");
    }

    #[test]
    fn writing_to_a_deleted_file_succeeds() {
        let mut files = phone();
        let OpenTarget::File(id) = files.open_to_write("/sdcard/a", 0o644, false).expect("made")
        else {
            panic!("a file")
        };
        files.remove("/sdcard/a", false).expect("removed");
        files.append(id, b"late").expect("swallowed");
        assert_eq!(files.read("/sdcard/a").map(drop), Err(Error::NotFound));
    }

    #[test]
    fn circular_links_fail() {
        let mut files = phone();
        files.link("/sdcard/a", "b").expect("link");
        files.link("/sdcard/b", "a").expect("link");
        assert_eq!(files.stat("/sdcard/a", true), Err(Error::TooManyLinks));
        assert!(files.stat("/sdcard/a", false).is_ok());
    }

    #[test]
    fn links_resolve_to_existing_and_new_files() {
        let mut files = phone();
        for (target, name) in [("/sdcard/f", "l"), ("f", "m"), ("l", "n")] {
            files.link(&format!("/sdcard/{name}"), target).expect("link");
        }
        // All links dangle, so the file is created where the last one points.
        files.write("/sdcard/n", b"one", 0o644).expect("written");
        for name in ["f", "l", "m", "n"] {
            assert_eq!(files.read(&format!("/sdcard/{name}")).expect(name).as_ref(), b"one");
        }
        assert_eq!(files.stat("/sdcard/l", false).expect("still a link").kind, FileType::Link);
        assert_eq!(files.stat("/sdcard/l/", true), Err(Error::NotADirectory));
        files.link("/sdcard/folder", "Music").expect("link");
        assert_eq!(files.stat("/sdcard/folder/", false).expect("is").kind, FileType::Directory);
    }

    #[test]
    fn refused_move_changes_nothing() {
        let mut files = phone();
        files.make_directory("/sdcard/a", 0o755).expect("made");
        files.make_directory("/sdcard/a/b", 0o755).expect("made");
        files.write("/sdcard/f", b"1", 0o644).expect("written");
        assert_eq!(files.rename("/sdcard/a", "/sdcard/a/b"), Err(Error::Invalid));
        assert!(files.stat("/sdcard/a/b", true).is_ok());
        assert_eq!(files.rename("/sdcard/a", "/sdcard/f"), Err(Error::NotADirectory));
        assert_eq!(files.read("/sdcard/f").expect("there").as_ref(), b"1");
    }

    #[test]
    fn deeply_nested_folders_can_be_moved() {
        let mut files = phone();
        let mut deepest = files.find("/sdcard/DCIM", true).expect("there");
        for _ in 0..100_000 {
            let body = Body::Directory(BTreeMap::new());
            let node =
                Node { body, mode: 0o755, uid: SHELL, gid: SHELL, modified: 0, read_only: false };
            deepest = files.put(deepest, "d".to_owned(), node);
        }
        files.rename("/sdcard/DCIM", "/sdcard/Music/d").expect("moved");
    }

    #[test]
    fn directory_moves_with_its_children_but_not_into_itself() {
        let mut files = phone();
        files.make_directory("/sdcard/a", 0o755).expect("made");
        files.write("/sdcard/a/f", b"1", 0o644).expect("written");
        assert_eq!(files.rename("/sdcard/a", "/sdcard/a/b"), Err(Error::Invalid));
        files.rename("/sdcard/a", "/sdcard/c").expect("moved");
        assert_eq!(files.read("/sdcard/c/f").expect("there").as_ref(), b"1");
        assert_eq!(files.remove("/sdcard/c", true), Err(Error::NotEmpty));
    }

    #[test]
    fn paths_are_joined_and_cleaned() {
        for (cwd, path, whole) in [
            ("/", "a", "/a"),
            ("/sdcard", "../x/./y", "/x/y"),
            ("/a", "/b//c/", "/b/c"),
            ("/", "..", "/"),
            ("/a", "", "/a"),
        ] {
            assert_eq!(absolute(cwd, path), whole);
        }
    }
}
