//! Files of this computer. Only this module opens, writes and renames them; a test keeps it so.
//!
//! A file may be a stranger's: a recorded run, a flow, a skill. So what is read is a regular file
//! of limited size, never a pipe or a device that does not end, and what is written replaces a
//! regular file as a whole, never what a link leads to. Start with [`read_text`] and [`write()`];
//! [`Folder`] is for names that others chose, [`open_guarded`] for files that decide what callers
//! may do, and [`HeldFile`] for what several programs share.

mod held;

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;

pub use held::{HeldFile, read_held, turn};

/// How many names beside a file are tried.
const MAX_BESIDE: u32 = 1000;

/// How the name of a draft begins and ends.
const DRAFT: &str = ".thumbwire-";
const DRAFT_END: &str = ".part";

/// Who else may access a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guard {
    /// Others may read it, but not change it: it decides something.
    Unchanged,
    /// Others may not even read it: it holds a secret.
    Secret,
}

/// Opens a regular file. A path that the operator named may be a link.
///
/// # Errors
/// The system's, or why it is not opened.
pub fn open(path: &Path) -> io::Result<File> {
    open_here(&fs::canonicalize(path)?)
}

/// The bytes of a regular file of at most `max` bytes.
///
/// # Errors
/// As [`open`], or that it is larger.
pub fn read(path: &Path, max: u64) -> io::Result<Vec<u8>> {
    bytes(&open(path)?, max)
}

/// The text of a regular file of at most `max` bytes.
///
/// # Errors
/// As [`read`], or that it is not UTF-8.
pub fn read_text(path: &Path, max: u64) -> io::Result<String> {
    text(read(path, max)?)
}

/// Opens a regular file for reading that belongs to us or to root, in such a folder, and that
/// others cannot access as `guard` says.
///
/// # Errors
/// As [`open`], or who could have changed or read it, and what to run.
pub fn open_guarded(path: &Path, guard: Guard) -> io::Result<File> {
    let real = fs::canonicalize(path)?;
    let file = open_here(&real)?;
    check_guard(&file, path, &real, guard)?;
    Ok(file)
}

/// The text of a file that [`open_guarded`] opens.
///
/// # Errors
/// As [`open_guarded`] and [`read_text`].
pub fn read_guarded(path: &Path, guard: Guard, max: u64) -> io::Result<String> {
    text(bytes(&open_guarded(path, guard)?, max)?)
}

/// Opens a secret file for appending, and creates it if it is missing. It is not a link.
///
/// # Errors
/// As [`open_guarded`].
pub fn append_guarded(path: &Path) -> io::Result<File> {
    let file = append(path)?;
    check_guard(&file, path, path, Guard::Secret)?;
    Ok(file)
}

/// Opens a regular file for appending, and creates it, for its owner only, if it is missing. It is
/// not a link, and has no second name.
///
/// # Errors
/// The system's, or what is in the way.
pub fn append(path: &Path) -> io::Result<File> {
    replaceable(path)?;
    // Not `create_new`: another program may create it at the same moment.
    let file = checked(path, OpenOptions::new().read(true).append(true).create(true))?;
    match unix_details(&file.metadata()?) {
        Some(about) if about.names > 1 => {
            Err(refused("it has a second name (a hard link); remove it, or name another file"))
        }
        _ => Ok(file),
    }
}

/// Replaces a file, or creates it for its owner only. Readers see the earlier content or all of
/// the new one. What is not a regular file is not replaced, and no link is followed.
///
/// # Errors
/// The system's, or what is in the way.
pub fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    let before = replaceable(path)?;
    let (beside, mut file) = new_beside(path)?;
    let written = file.write_all(content).and_then(|()| {
        if let Some(before) = before {
            file.set_permissions(before.permissions())?;
        }
        file.sync_all()?;
        fs::rename(&beside, path)
    });
    written.inspect_err(|_| {
        let _ = fs::remove_file(&beside);
    })
}

/// Creates a file, for its owner only, which others see whole or not at all.
///
/// # Errors
/// The system's; [`io::ErrorKind::AlreadyExists`] if the name is taken, also by a link.
pub fn write_new(path: &Path, content: &[u8]) -> io::Result<()> {
    let (beside, mut file) = new_beside(path)?;
    let written = file.write_all(content).and_then(|()| file.sync_all());
    written.and_then(|()| place(&beside, path)).inspect_err(|_| {
        let _ = fs::remove_file(&beside);
    })
}

/// Creates an empty file, for its owner only, for reading and writing.
///
/// # Errors
/// The system's; [`io::ErrorKind::AlreadyExists`] if the name is taken, also by a link.
pub fn create(path: &Path) -> io::Result<File> {
    checked(path, OpenOptions::new().read(true).write(true).create_new(true))
}

/// Creates an empty file in a folder, for its owner only, under a name of its own. It is locked, so
/// that [`remove_left_drafts`] keeps it as long as it is open.
///
/// # Errors
/// The system's.
pub fn draft(folder: &Path) -> io::Result<(PathBuf, File)> {
    let process = std::process::id();
    let (path, file) =
        new_file(folder, |number| format!("{DRAFT}{process}-{number}{DRAFT_END}").into())?;
    // Not every file system has locks.
    let _ = file.try_lock();
    Ok((path, file))
}

/// Removes the drafts in a folder whose programs have ended. Returns their paths.
pub fn remove_left_drafts(folder: &Path) -> Vec<PathBuf> {
    let is_left = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_draft = name.starts_with(DRAFT) && name.ends_with(DRAFT_END);
        is_draft && open_here(path).is_ok_and(|file| file.try_lock().is_ok())
    };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let left = entries.map(|entry| entry.path()).filter(is_left);
    left.filter(|path| fs::remove_file(path).is_ok()).collect()
}

/// Gives a complete file its name, unless that is taken.
///
/// # Errors
/// The system's; [`io::ErrorKind::AlreadyExists`] if the name is taken, also by a link.
pub fn place(beside: &Path, path: &Path) -> io::Result<()> {
    match fs::hard_link(beside, path) {
        Ok(()) => fs::remove_file(beside),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
        // Some file systems have no links (FAT, some network shares): the name is taken first.
        Err(_) => create(path).and_then(|_| fs::rename(beside, path)),
    }
}

/// Gives a file a second name. Not every file system can.
///
/// # Errors
/// The system's.
pub fn share(path: &Path, other: &Path) -> io::Result<()> {
    fs::hard_link(path, other)
}

/// Creates a folder, with those above it, for its owner only, if it is missing.
///
/// # Errors
/// The system's.
pub fn make_folder(folder: &Path) -> io::Result<()> {
    if folder.as_os_str().is_empty() {
        return Ok(());
    }
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Creates the folder of a file as [`make_folder`] does.
///
/// # Errors
/// The system's.
pub fn make_folder_of(file: &Path) -> io::Result<()> {
    file.parent().map_or(Ok(()), make_folder)
}

/// Whether one user owns both of these files or folders. Windows does not tell: then it is so.
pub fn have_one_owner(path: &Path, other: &Path) -> bool {
    let owner = |path: &Path| Some(unix_details(&fs::metadata(path).ok()?).map(|it| it.owner));
    owner(path).is_some_and(|owned| Some(owned) == owner(other))
}

/// The mode of a file that others than its owner can access; `None` if it is private. Windows has
/// no modes.
pub fn shared_mode(about: &Metadata) -> Option<u32> {
    let mode = unix_details(about)?.mode & 0o777;
    (mode & 0o077 != 0).then_some(mode)
}

/// A folder whose files others name: nothing outside of it is read or written.
#[derive(Debug, Clone, Default)]
pub struct Folder {
    root: PathBuf,
}

impl Folder {
    /// The files of this folder, which the operator named.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The folder as it was named.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Opens a regular file by its path, which is absolute or relative to the folder. The path has
    /// no `..` and leads through no link out of the folder; the file itself is not a link.
    ///
    /// # Errors
    /// The system's, or why it is not opened.
    pub fn open(&self, path: &Path) -> io::Result<File> {
        let real = self.find(path, false)?;
        let file = open_here(&real)?;
        // A folder of it may have become a link meanwhile.
        match self.find(path, false)? == real && Identity::of(&file)? == Identity::at(&real)? {
            true => Ok(file),
            false => Err(self.outside()),
        }
    }

    /// The bytes of a file as [`Self::open`] opens it, at most `max`.
    ///
    /// # Errors
    /// As [`Self::open`], or that it is larger.
    pub fn read(&self, path: &Path, max: u64) -> io::Result<Vec<u8>> {
        bytes(&self.open(path)?, max)
    }

    /// The text of a file as [`Self::open`] opens it, of at most `max` bytes.
    ///
    /// # Errors
    /// As [`Self::read`], or that it is not UTF-8.
    pub fn read_text(&self, path: &Path, max: u64) -> io::Result<String> {
        text(self.read(path, max)?)
    }

    /// Writes a file as [`write()`] does, and creates its folder.
    ///
    /// # Errors
    /// As [`Self::open`] and [`write()`].
    pub fn write(&self, path: &Path, content: &[u8]) -> io::Result<()> {
        write(&self.find(path, true)?, content)
    }

    /// Checks that a new file at this path would be in the folder. Nothing is created.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn check(&self, path: &Path) -> io::Result<()> {
        match self.find(path, false) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            found => found.map(drop),
        }
    }

    /// Whether a path is one in the folder, by its words.
    pub fn holds(&self, path: &Path) -> bool {
        let root = fs::canonicalize(&self.root);
        root.is_ok_and(|root| self.relative(&root, path).is_some())
    }

    /// The path without links in its folders. `making`: folders that are missing are created.
    fn find(&self, path: &Path, making: bool) -> io::Result<PathBuf> {
        let named = if self.root.as_os_str().is_empty() { Path::new(".") } else { &self.root };
        if making {
            make_folder(named)?;
        }
        let root = fs::canonicalize(named)?;
        // Before the disk is asked, so that the answer does not tell which files there are
        // elsewhere.
        let inside = self.relative(&root, path).ok_or_else(|| self.outside())?;
        let name =
            inside.file_name().ok_or_else(|| refused("it is a folder, not a regular file"))?;
        let mut folder = root.clone();
        for part in inside.parent().unwrap_or(Path::new("")).components() {
            let next = folder.join(part);
            let next = match fs::canonicalize(&next) {
                Err(error) if error.kind() == io::ErrorKind::NotFound && making => {
                    // Fails if a link that leads nowhere is in the way.
                    make_folder(&next)?;
                    next
                }
                found => found?,
            };
            if !next.starts_with(&root) {
                return Err(self.outside());
            }
            folder = next;
        }
        Ok(folder.join(name))
    }

    /// The path below the root; `None` if it is not, or has a `..`.
    fn relative(&self, root: &Path, path: &Path) -> Option<PathBuf> {
        let inside = match path.is_absolute() {
            true => path.strip_prefix(&self.root).or_else(|_| path.strip_prefix(root)).ok()?,
            false => path,
        };
        let is_plain = |part| matches!(part, Component::Normal(_) | Component::CurDir);
        inside.components().all(is_plain).then(|| inside.components().collect())
    }

    fn outside(&self) -> io::Error {
        refused(&format!("only files in {} can be used", self.root.display()))
    }
}

/// What tells a file from another one at the same path, and from itself after a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    /// The device and the number on it; `None` on Windows.
    number: Option<(u64, u64)>,
    length: u64,
    modified: Option<SystemTime>,
    /// When it was created: numbers and other times can come again.
    created: Option<SystemTime>,
}

impl Identity {
    /// That of an open file.
    ///
    /// # Errors
    /// The system's.
    pub fn of(file: &File) -> io::Result<Self> {
        file.metadata().map(Self::from)
    }

    /// How many bytes it had.
    pub fn length(&self) -> u64 {
        self.length
    }

    /// Whether it is this file, also if that has grown meanwhile.
    pub fn is_same_file(&self, other: &Self) -> bool {
        match (self.created, other.created) {
            (Some(created), Some(other_created)) => {
                (self.number, created) == (other.number, other_created)
            }
            _ => self == other,
        }
    }

    /// That of the file at a path, which is not a link to it.
    ///
    /// # Errors
    /// The system's.
    pub fn at(path: &Path) -> io::Result<Self> {
        fs::symlink_metadata(path).map(Self::from)
    }
}

impl From<Metadata> for Identity {
    fn from(about: Metadata) -> Self {
        let number = unix_details(&about).map(|about| about.number);
        let (modified, created) = (about.modified().ok(), about.created().ok());
        Self { number, length: about.len(), modified, created }
    }
}

/// Opens the regular file at this path, which is not a link.
fn open_here(path: &Path) -> io::Result<File> {
    // Some devices do something when they are opened.
    if !fs::symlink_metadata(path)?.is_file() {
        return Err(refused(&format!("it is {}, not a regular file", kind(path))));
    }
    checked(path, OpenOptions::new().read(true))
}

/// Opens a file without waiting and without following a link, and checks what was opened.
fn checked(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt as _;
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
        options.mode(0o600).custom_flags(flags.bits().cast_signed());
    }
    let file = options.open(path)?;
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(refused("it is not a regular file")),
    }
}

/// What is at the path, if it may be replaced.
fn replaceable(path: &Path) -> io::Result<Option<Metadata>> {
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Ok(about) if !about.is_file() => {
            Err(refused(&format!("{} is in the way; remove it, or name another file", kind(path))))
        }
        about => about.map(Some),
    }
}

fn kind(path: &Path) -> &'static str {
    match fs::symlink_metadata(path).map(|about| about.file_type()) {
        Ok(kind) if kind.is_symlink() => "a link",
        Ok(kind) if kind.is_dir() => "a folder",
        _ => "a pipe or a device",
    }
}

/// A new empty file in the folder of another one, under a name that no program looks for.
fn new_beside(path: &Path) -> io::Result<(PathBuf, File)> {
    let name = path.file_name().ok_or_else(|| refused("it is not the name of a file"))?;
    let process = std::process::id();
    new_file(path.parent().unwrap_or(Path::new("")), |number| {
        let mut beside = OsString::from(".");
        beside.push(name);
        beside.push(format!(".{process}-{number}.new"));
        beside
    })
}

/// A new empty file in a folder, under the first of these names that is free.
fn new_file(folder: &Path, name: impl Fn(u32) -> OsString) -> io::Result<(PathBuf, File)> {
    for number in 0..MAX_BESIDE {
        let path = folder.join(name(number));
        match create(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made.map(|file| (path, file)),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// The bytes of an open file, at most `max`.
///
/// # Errors
/// The system's, or that it is larger.
pub fn bytes(file: &File, max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(max.saturating_add(1)).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > max {
        true => Err(refused(&format!("it is larger than {max} bytes"))),
        false => Ok(bytes),
    }
}

fn text(bytes: Vec<u8>) -> io::Result<String> {
    String::from_utf8(bytes).map_err(|_| refused("it is not text in UTF-8"))
}

fn refused(reason: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, reason)
}

/// What Unix tells of a file.
struct UnixDetails {
    mode: u32,
    owner: u32,
    /// The user of this process.
    us: u32,
    /// How many names it has.
    names: u64,
    /// The device and the number on it.
    number: (u64, u64),
}

/// `None` on Windows.
fn unix_details(about: &Metadata) -> Option<UnixDetails> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let us = rustix::process::geteuid().as_raw();
        let number = (about.dev(), about.ino());
        let (mode, owner, names) = (about.mode() & 0o7777, about.uid(), about.nlink());
        Some(UnixDetails { mode, owner, us, names, number })
    }
    #[cfg(not(unix))]
    {
        let _ = about;
        None
    }
}

/// Checks who owns and who can access the file and the folders in which it can be replaced.
fn check_guard(file: &File, path: &Path, real: &Path, guard: Guard) -> io::Result<()> {
    const STICKY: u32 = 0o1000;
    let mode = check_owner(&file.metadata()?, "it", path)?;
    let place = path.display();
    let (others, can, repair) = match guard {
        Guard::Unchanged => (0o022, "change", "go-w"),
        Guard::Secret => (0o077, "access", "600"),
    };
    if mode & others != 0 {
        let mode = mode & 0o777;
        return Err(refused(&format!(
            "other users can {can} it (mode {mode:04o}). Run `chmod {repair} {place}`"
        )));
    }
    let named = std::path::absolute(path)?;
    for folder in [named.parent(), real.parent()].into_iter().flatten() {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let mode = check_owner(&fs::metadata(folder)?, "its folder", folder)?;
        // In a sticky folder, such as /tmp, others cannot replace it.
        if mode & 0o022 != 0 && mode & STICKY == 0 {
            let place = folder.display();
            return Err(refused(&format!(
                "other users can change its folder (mode {mode:04o}). Run `chmod go-w {place}`"
            )));
        }
    }
    Ok(())
}

/// The mode of a file that belongs to us or to root.
fn check_owner(about: &Metadata, what: &str, place: &Path) -> io::Result<u32> {
    match unix_details(about) {
        None => Ok(0),
        Some(UnixDetails { mode, owner, us, .. }) if owner == 0 || owner == us => Ok(mode),
        Some(UnixDetails { owner, us, .. }) => Err(refused(&format!(
            "{what} belongs to another user (id {owner}). Run `chown {us} {}` if you trust it",
            place.display()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason<T>(result: io::Result<T>) -> String {
        result.err().map_or_else(|| "done".into(), |error| error.to_string())
    }

    #[test]
    fn files_are_replaced_whole_and_created_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/a.txt");
        make_folder_of(&path).unwrap();
        write(&path, b"one").unwrap();
        write(&path, b"two").unwrap();
        assert_eq!(read_text(&path, 3).unwrap(), "two");
        assert_eq!(reason(read(&path, 2)), "it is larger than 2 bytes");
        assert_eq!(write_new(&path, b"x").unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        write_new(&path.with_file_name("b.txt"), b"\xff").unwrap();
        assert_eq!(reason(read_text(&path.with_file_name("b.txt"), 9)), "it is not text in UTF-8");
        append(&path).unwrap().write_all(b"!").unwrap();
        assert_eq!(read_text(&path, 9).unwrap(), "two!");
        let left = fs::read_dir(path.parent().unwrap()).unwrap().count();
        assert_eq!(left, 2, "nothing is left beside the files");
        assert_eq!(read(&path.with_file_name("c"), 9).unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn missing_file_can_be_appended_to_by_several_at_once() {
        let folder = tempfile::tempdir().unwrap();
        for round in 0..200 {
            let path = folder.path().join(round.to_string());
            let start = std::sync::Barrier::new(4);
            std::thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| {
                        start.wait();
                        append(&path).unwrap().write_all(b"x").unwrap();
                    });
                }
            });
            assert_eq!(fs::read(&path).unwrap(), b"xxxx");
        }
    }

    #[test]
    fn names_of_others_stay_in_the_folder() {
        let all = tempfile::tempdir().unwrap();
        let root = all.path().join("in");
        fs::create_dir_all(root.join("sub")).unwrap();
        fs::write(all.path().join("secret"), "secret").unwrap();
        let folder = Folder::new(&root);
        folder.write(Path::new("sub/new/x"), b"x").unwrap();
        assert_eq!(folder.read_text(&root.join("./sub/new/x"), 9).unwrap(), "x");
        let secret = all.path().join("secret");
        for path in [&secret, Path::new("../secret"), Path::new("sub/../../secret")] {
            let expected = format!("only files in {} can be used", root.display());
            assert_eq!(reason(folder.read(path, 9)), expected, "{}", path.display());
            assert_eq!(reason(folder.write(path, b"")), expected, "{}", path.display());
        }
        for path in ["", ".", "sub", "/"] {
            assert!(folder.open(Path::new(path)).is_err(), "{path}");
        }
        assert_eq!(fs::read(&secret).unwrap(), b"secret");
    }

    #[cfg(unix)]
    mod unix {
        use std::fs::Permissions;
        use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};

        use super::*;

        fn set_mode(path: &Path, mode: u32) {
            fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
        }

        #[test]
        fn pipes_and_devices_are_refused_at_once() {
            let folder = tempfile::tempdir().unwrap();
            let pipe = folder.path().join("pipe");
            let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
            assert!(made.success());
            symlink("/dev/zero", folder.path().join("zero")).unwrap();
            for path in [&pipe, Path::new("/dev/zero"), &folder.path().join("zero")] {
                let expected = "it is a pipe or a device, not a regular file";
                assert_eq!(reason(read(path, 9)), expected, "{}", path.display());
            }
            assert_eq!(reason(read(folder.path(), 9)), "it is a folder, not a regular file");
            let inside = Folder::new(folder.path());
            assert!(inside.read(Path::new("pipe"), 9).is_err());
            for written in [write(&pipe, b""), append(&pipe).map(drop)] {
                let expected = "a pipe or a device is in the way; remove it, or name another file";
                assert_eq!(reason(written), expected);
            }
        }

        #[test]
        fn nothing_is_written_through_a_link() {
            let folder = tempfile::tempdir().unwrap();
            let at = |name: &str| folder.path().join(name);
            fs::write(at("victim"), "precious").unwrap();
            symlink(at("victim"), at("link")).unwrap();
            symlink(at("nowhere"), at("dangling")).unwrap();
            fs::hard_link(at("victim"), at("hard")).unwrap();
            for name in ["link", "dangling"] {
                let expected = "a link is in the way; remove it, or name another file";
                assert_eq!(reason(write(&at(name), b"x")), expected);
                assert_eq!(reason(append(&at(name))), expected);
                assert!(write_new(&at(name), b"x").is_err() && create(&at(name)).is_err());
            }
            assert!(reason(append(&at("hard"))).starts_with("it has a second name"));
            write(&at("hard"), b"x").unwrap();
            assert_eq!(fs::read(at("hard")).unwrap(), b"x");
            assert_eq!(fs::read(at("victim")).unwrap(), b"precious");
            assert!(!at("nowhere").exists());
        }

        #[test]
        fn links_are_followed_inside_of_the_folder_only_and_not_at_the_end() {
            let all = tempfile::tempdir().unwrap();
            let root = all.path().join("in");
            fs::create_dir_all(root.join("sub")).unwrap();
            fs::write(all.path().join("secret"), "secret").unwrap();
            fs::write(root.join("sub/x"), "x").unwrap();
            symlink(all.path(), root.join("up")).unwrap();
            symlink("sub", root.join("same")).unwrap();
            symlink("sub/x", root.join("end")).unwrap();
            let folder = Folder::new(&root);
            assert_eq!(folder.read_text(Path::new("same/x"), 9).unwrap(), "x");
            let expected = "it is a link, not a regular file";
            assert_eq!(reason(folder.read(Path::new("end"), 9)), expected);
            let expected = format!("only files in {} can be used", root.display());
            for path in ["up/secret", "up/in/sub/x"] {
                assert_eq!(reason(folder.read(Path::new(path), 9)), expected, "{path}");
            }
            assert_eq!(reason(folder.write(Path::new("up/new"), b"")), expected);
            assert_eq!(reason(folder.check(Path::new("up/new"))), expected);
            for path in ["same/new", "none/new"] {
                folder.check(Path::new(path)).unwrap();
            }
            assert!(!all.path().join("new").exists());
        }

        #[test]
        fn modes_are_private_and_those_of_replaced_files_stay() {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("a");
            write(&path, b"1").unwrap();
            assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, 0o600);
            set_mode(&path, 0o644);
            write(&path, b"2").unwrap();
            assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, 0o644);
        }

        #[test]
        fn files_that_decide_are_ours_and_nobody_elses() {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("a");
            fs::write(&path, "x").unwrap();
            let check = |guard| reason(read_guarded(&path, guard, 9));
            let place = path.display();
            for (mode, unchanged, secret) in [
                (0o600, true, true),
                (0o400, true, true),
                (0o644, true, false),
                (0o664, false, false),
                (0o602, false, false),
            ] {
                set_mode(&path, mode);
                assert_eq!(check(Guard::Unchanged) == "done", unchanged, "{mode:o}");
                assert_eq!(check(Guard::Secret) == "done", secret, "{mode:o}");
                if mode != 0o400 {
                    assert_eq!(append_guarded(&path).is_ok(), secret, "{mode:o}");
                }
            }
            let expected =
                format!("other users can access it (mode 0602). Run `chmod 600 {place}`");
            assert_eq!(check(Guard::Secret), expected);
            set_mode(&path, 0o600);
            for (mode, is_fine) in [(0o755, true), (0o777, false), (0o770, false), (0o1777, true)] {
                set_mode(folder.path(), mode);
                assert_eq!(check(Guard::Unchanged) == "done", is_fine, "{mode:o}");
            }
            set_mode(folder.path(), 0o700);
            // Only root can give files away.
            if std::os::unix::fs::chown(&path, Some(65534), None).is_ok() {
                assert!(
                    check(Guard::Unchanged).starts_with("it belongs to another user (id 65534)")
                );
                std::os::unix::fs::chown(&path, Some(0), None).unwrap();
                std::os::unix::fs::chown(folder.path(), Some(65534), None).unwrap();
                assert!(check(Guard::Secret).starts_with("its folder belongs to another user"));
            }
        }

        #[test]
        fn replaced_file_is_another_one() {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("a");
            fs::write(&path, "ann").unwrap();
            let before = Identity::at(&path).unwrap();
            assert_eq!(Identity::of(&open(&path).unwrap()).unwrap(), before);
            let time = fs::metadata(&path).unwrap().modified().unwrap();
            fs::remove_file(&path).unwrap();
            fs::write(&path, "bob").unwrap();
            File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
            assert_ne!(Identity::at(&path).unwrap(), before);
        }
    }
}
