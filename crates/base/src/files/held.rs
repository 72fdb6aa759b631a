//! Files that a program holds as long as it runs, for what several programs share.
//!
//! Start with [`HeldFile`]. Which program may hold a file is decided while one has its [`turn`].

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use super::{Identity, bytes, checked, new_beside, open_here};

/// How many bytes a held file has; spaces follow its content.
const LENGTH: usize = 1024;

/// A file that this program holds until it drops it or ends, however it ends, or until another
/// program takes its place. Others can read it.
#[derive(Debug)]
pub struct HeldFile {
    path: PathBuf,
    file: File,
    identity: Identity,
}

impl HeldFile {
    /// Puts a file with this text of at most 1,024 bytes at the path, in place of the one that is
    /// there; a program that holds that one can see it by [`HeldFile::is_in_place`].
    ///
    /// # Errors
    /// The system's, or that the text is longer.
    pub fn put(path: &Path, text: &str) -> io::Result<Self> {
        let (beside, mut file) = new_beside(path)?;
        let put = file
            .try_lock()
            .map_err(io::Error::from)
            .and_then(|()| file.write_all(&padded(text)?))
            .and_then(|()| fs::rename(&beside, path))
            .and_then(|()| Identity::of(&file));
        let identity = put.inspect_err(|_| {
            let _ = fs::remove_file(&beside);
        })?;
        Ok(Self { path: path.to_owned(), file, identity })
    }

    /// Replaces the text.
    ///
    /// # Errors
    /// As [`HeldFile::put`].
    pub fn write(&mut self, text: &str) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(0))?;
        self.file.write_all(&padded(text)?)
    }

    /// Whether no other file has taken its place.
    pub fn is_in_place(&self) -> bool {
        let present = Identity::at(&self.path);
        present.is_ok_and(|present| match (present.number, self.identity.number) {
            (Some(number), Some(own_number)) => number == own_number,
            _ => present.is_same_file(&self.identity),
        })
    }
}

/// Reads a [`HeldFile`]: its text, and whether a running program holds it. `None` if there is no
/// such file.
///
/// # Errors
/// The system's, or that it is none of ours.
pub fn read_held(path: &Path) -> io::Result<Option<(String, bool)>> {
    let file = match open_here(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        opened => opened?,
    };
    // A shared lock: several programs that ask at once do not see one another.
    let is_held = match file.try_lock_shared() {
        Ok(()) => false,
        Err(TryLockError::WouldBlock) => true,
        Err(TryLockError::Error(error)) => return Err(error),
    };
    let text = super::text(bytes(&file, LENGTH as u64)?)?;
    Ok(Some((text.trim_end().to_owned(), is_held)))
}

/// The turn of this program, until it is dropped; `None` if another one has it.
///
/// # Errors
/// The system's.
pub fn turn(path: &Path) -> io::Result<Option<File>> {
    let mut options = OpenOptions::new();
    let file = checked(path, options.read(true).write(true).create(true).truncate(false))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

fn padded(text: &str) -> io::Result<Vec<u8>> {
    if text.len() > LENGTH {
        return Err(super::refused(&format!("it would be longer than {LENGTH} bytes")));
    }
    let mut bytes = text.as_bytes().to_vec();
    bytes.resize(LENGTH, b' ');
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_is_held_until_it_is_dropped_or_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let read = || read_held(&path).unwrap();
        assert_eq!(read(), None);
        let mut first = HeldFile::put(&path, "first").unwrap();
        assert_eq!(read(), Some(("first".into(), true)));
        first.write("1st").unwrap();
        assert_eq!(read(), Some(("1st".into(), true)));
        assert!(first.is_in_place());
        let second = HeldFile::put(&path, "second").unwrap();
        assert!(!first.is_in_place() && second.is_in_place());
        drop(first);
        assert_eq!(read(), Some(("second".into(), true)));
        drop(second);
        assert_eq!(read(), Some(("second".into(), false)));
        assert!(HeldFile::put(&path, &"x".repeat(LENGTH + 1)).is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");
    }

    #[test]
    fn one_program_has_the_turn() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("turn");
        let first = turn(&path).unwrap();
        assert!(first.is_some() && turn(&path).unwrap().is_none());
        drop(first);
        assert!(turn(&path).unwrap().is_some());
    }
}
