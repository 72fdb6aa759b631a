//! Files here, under one root: pictures and recordings in `assets/`, followed logs in `logs/`.
//!
//! Begin with [`Keep::begin`]: it gives a [`Draft`], a new file that is removed again unless it is kept. Nothing is ever
//! written over: where a file of that name lies already, the new one gets a number. Nothing is written outside the
//! root, by no name and through no symbolic link. Whether a recording is whole says [`mp4`]. What is put into the files, and
//! when they are fetched, is the session's matter.

mod mp4;

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::fs;

use crate::action::{BadName, File, check_name};

/// How many files of one name are numbered before it is refused.
const MOST_OF_A_NAME: u32 = 1000;

/// Where files are kept.
#[derive(Debug, Clone)]
pub struct Keep {
    root: PathBuf,
    /// Those that are being written.
    drafts: Arc<Mutex<BTreeSet<PathBuf>>>,
}

/// A folder under the root.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Folder {
    /// Pictures and recordings.
    Assets,
    /// Logs that are or were followed.
    Logs,
}

impl Folder {
    /// Its name (seed 003's examples).
    pub fn name(self) -> &'static str {
        match self {
            Self::Assets => "assets",
            Self::Logs => "logs",
        }
    }
}

/// Why a file could not be kept. Messages fit after "failed to".
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No file can be called so. Choose another name.
    #[error("keep the file: {0}")]
    Name(BadName),
    /// The folder leads elsewhere by a symbolic link. Remove the link, or choose another root.
    #[error("write into {}: it leads out of the folder in which files are kept", .folder.display())]
    Outside {
        /// The folder.
        folder: PathBuf,
    },
    /// The operating system refuses: a full disk, a folder that cannot be written.
    #[error("write {}: {source}", .path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's words.
        source: io::Error,
    },
    /// It is no MP4 that a player opens: the recording was not written to its end.
    #[error("read the recording: {0}")]
    Broken(String),
}

impl Keep {
    /// Files under this root, which is made when the first is kept. Paths are told as they follow from it: with an empty
    /// one, or `.`, relative to the working directory (`assets/login.png`).
    pub fn new(root: impl Into<PathBuf>) -> Self {
        let root = root.into();
        let root = if root == Path::new(".") { PathBuf::new() } else { root };
        Self { root, drafts: Arc::default() }
    }

    /// A new file of this name, empty. Where one lies there already it is `NAME-2`, `NAME-3` and so on, the number before
    /// the extension.
    ///
    /// # Errors
    /// When the name is none, the folder leads elsewhere, or the system refuses.
    pub async fn begin(&self, folder: Folder, name: &str) -> Result<Draft, Error> {
        check_name(name).map_err(Error::Name)?;
        let told = self.root.join(folder.name());
        let folder = self.folder(&told).await?;
        for number in 1..=MOST_OF_A_NAME {
            let name = numbered(name, number);
            let lies = folder.join(&name);
            // A symbolic link of that name counts as a file (`O_EXCL`), wherever it leads.
            let opened =
                fs::File::options().read(true).write(true).create_new(true).open(&lies).await;
            match opened {
                Ok(file) => {
                    self.list().insert(lies.clone());
                    let path = told.join(&name);
                    return Ok(Draft { path, lies, file: Some(file), keep: self.clone() });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(source) => return Err(Error::Io { path: told.join(&name), source }),
            }
        }
        let source = io::Error::new(io::ErrorKind::AlreadyExists, "too many files of that name");
        Err(Error::Io { path: told.join(name), source })
    }

    /// Removes the files that are still being written: for the end of the program, which ends that too.
    pub fn abandon(&self) {
        for lies in std::mem::take(&mut *self.list()) {
            let _ = std::fs::remove_file(lies);
        }
    }

    /// The folder as it truly lies, made if it is not there.
    async fn folder(&self, told: &Path) -> Result<PathBuf, Error> {
        let refused = |source| Error::Io { path: told.to_owned(), source };
        fs::create_dir_all(told).await.map_err(refused)?;
        let root = if self.root.as_os_str().is_empty() { Path::new(".") } else { &self.root };
        let root = fs::canonicalize(root).await.map_err(refused)?;
        let lies = fs::canonicalize(told).await.map_err(refused)?;
        match lies.parent() {
            Some(parent) if parent == root && lies.file_name() == told.file_name() => Ok(lies),
            _ => Err(Error::Outside { folder: told.to_owned() }),
        }
    }

    fn list(&self) -> std::sync::MutexGuard<'_, BTreeSet<PathBuf>> {
        self.drafts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A file that is being written. Dropped, it is removed.
#[derive(Debug)]
pub struct Draft {
    path: PathBuf,
    lies: PathBuf,
    file: Option<fs::File>,
    keep: Keep,
}

impl Draft {
    /// Where it lies, as it is told.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where to write.
    ///
    /// # Errors
    /// Never, unless it is over.
    pub fn writer(&mut self) -> Result<&mut fs::File, Error> {
        self.file.as_mut().ok_or_else(|| over(&self.path))
    }

    /// Refuses a file that is no whole MP4.
    ///
    /// # Errors
    /// What it lacks.
    pub async fn check_video(&mut self) -> Result<(), Error> {
        let path = self.path.clone();
        let refused = |source| Error::Io { path: path.clone(), source };
        let file = self.writer()?;
        sync(file).await.map_err(refused)?;
        let mut read = file.try_clone().await.map_err(refused)?.into_std().await;
        let checked = tokio::task::spawn_blocking(move || mp4::check(&mut read)).await;
        match checked {
            Ok(Ok(())) => Ok(()),
            Ok(Err(fault)) => Err(Error::Broken(fault.to_string())),
            Err(panicked) => Err(Error::Broken(panicked.to_string())),
        }
    }

    /// Keeps what was written.
    ///
    /// # Errors
    /// When the last of it cannot be written; the file is removed then.
    pub async fn keep(mut self) -> Result<File, Error> {
        let path = self.path.clone();
        let refused = |source| Error::Io { path: path.clone(), source };
        let mut file = self.file.take().ok_or_else(|| over(&self.path))?;
        sync(&mut file).await.map_err(refused)?;
        let bytes = file.metadata().await.map_err(refused)?.len();
        self.keep.list().remove(&self.lies);
        Ok(File { path, bytes })
    }

    /// Keeps it from now on, whatever is written into it later.
    ///
    /// # Errors
    /// Never, unless it is over.
    pub fn keep_open(mut self) -> Result<fs::File, Error> {
        let file = self.file.take().ok_or_else(|| over(&self.path))?;
        self.keep.list().remove(&self.lies);
        Ok(file)
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if self.keep.list().remove(&self.lies) {
            // Windows removes no open file.
            drop(self.file.take());
            let _ = std::fs::remove_file(&self.lies);
        }
    }
}

/// Waits until the system has all of it: errors of writing come late.
async fn sync(file: &mut fs::File) -> io::Result<()> {
    use tokio::io::AsyncWriteExt as _;
    file.flush().await
}

fn over(path: &Path) -> Error {
    Error::Io { path: path.to_owned(), source: io::Error::other("it is closed") }
}

/// `login.png`, `login-2.png`, …
fn numbered(name: &str, number: u32) -> String {
    match (number, name.rsplit_once('.')) {
        (1, _) => name.to_owned(),
        (_, Some((stem, extension))) if !stem.is_empty() => format!("{stem}-{number}.{extension}"),
        _ => format!("{name}-{number}"),
    }
}

#[cfg(test)]
mod tests;
