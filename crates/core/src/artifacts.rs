//! Local files under one root: screenshots and recordings in `assets/`, monitored logs in `logs/`,
//! files copied from phones in `files/`.
//!
//! Start with [`ArtifactStore::begin`]: it creates a [`PendingFile`], a new file that gets its name
//! when it is persisted, whole, and is removed otherwise. Existing files are never overwritten: a
//! new file with the same name gets a number. Nothing is written outside the root, neither by name
//! nor through a symbolic link. [`mp4`] checks that a recording is complete. The session decides
//! what the files contain and when to fetch them.

mod mp4;

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use thumbwire_base::{files, lock};
use tokio::fs;

use serde::{Deserialize, Serialize};

use crate::action::{FileNameError, LocalFile, check_name};

/// The maximum number of files with the same name.
const MAX_OF_A_NAME: u32 = 1000;

/// The store of local files.
#[derive(Debug, Clone)]
pub struct ArtifactStore {
    root: PathBuf,
    /// The files that are being written.
    drafts: Arc<Mutex<BTreeSet<PathBuf>>>,
}

/// A folder under the root.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Folder {
    /// Screenshots and recordings.
    Assets,
    /// Monitored logs.
    Logs,
    /// Files copied from phones.
    Files,
}

impl Folder {
    /// The folder with this name; that for files copied from phones, if there is none.
    pub fn of_name(name: &str) -> Self {
        let all = [Self::Assets, Self::Logs, Self::Files];
        all.into_iter().find(|folder| folder.name() == name).unwrap_or(Self::Files)
    }

    /// Its name, as in the examples of the Android MCP server reference.
    pub fn name(self) -> &'static str {
        match self {
            Self::Assets => "assets",
            Self::Logs => "logs",
            Self::Files => "files",
        }
    }
}

/// Why a file could not be saved. Messages fit after "failed to".
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file name is invalid. Choose another name.
    #[error("save the file: {0}")]
    Name(FileNameError),
    /// A symbolic link takes the folder outside the root. Remove the link, or choose another root.
    #[error("write to {}: it resolves outside the output folder", .folder.display())]
    Outside {
        /// The folder.
        folder: PathBuf,
    },
    /// The folder cannot be made or written to. Choose another root.
    #[error("write to {}: {source}; name another folder with `--out DIR` when Thumbwire is started", .folder.display())]
    Unwritable {
        /// The folder.
        folder: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The operating system refuses: a full disk.
    #[error("write {}: {source}", .path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The file is not a playable MP4: the recording was not written completely.
    #[error("read the recording: {0}")]
    Broken(String),
}

impl ArtifactStore {
    /// A store under this root, which is created with the first file. Reported paths start with the
    /// root; if it is empty or `.`, they are relative to the working directory
    /// (`assets/login.png`).
    pub fn new(root: impl Into<PathBuf>) -> Self {
        let root = root.into();
        let root = if root == Path::new(".") { PathBuf::new() } else { root };
        Self { root, drafts: Arc::default() }
    }

    /// Creates an empty file, which gets this name when it is persisted. If that exists, it gets
    /// `NAME-2`, `NAME-3` and so on, with the number before the extension. Removes those of
    /// programs that were killed.
    ///
    /// # Errors
    /// If the name is invalid, the folder resolves outside the root, or the system refuses.
    pub fn begin(&self, folder: Folder, name: &str) -> Result<PendingFile, Error> {
        check_name(name).map_err(Error::Name)?;
        let out = self.root.join(folder.name());
        let folder = self.folder(&out)?;
        for left in files::remove_left_drafts(&folder) {
            tracing::warn!("removed {}, which a killed program had left", left.display());
        }
        let (draft, file) = files::draft(&folder)
            .map_err(|source| Error::Unwritable { folder: out.clone(), source })?;
        self.list().insert(draft.clone());
        Ok(PendingFile {
            path: out.join(name),
            folder,
            draft,
            file: Some(fs::File::from_std(file)),
            store: self.clone(),
        })
    }

    /// Removes the files that are still being written, for the end of the program.
    pub fn discard(&self) {
        for file in std::mem::take(&mut *self.list()) {
            let _ = std::fs::remove_file(file);
        }
    }

    /// The canonical path of the folder, created if missing.
    fn folder(&self, folder: &Path) -> Result<PathBuf, Error> {
        let refused = |source| Error::Unwritable { folder: folder.to_owned(), source };
        files::make_folder(folder).map_err(refused)?;
        let root = if self.root.as_os_str().is_empty() { Path::new(".") } else { &self.root };
        let root = std::fs::canonicalize(root).map_err(refused)?;
        let real_path = std::fs::canonicalize(folder).map_err(refused)?;
        match real_path.parent() {
            Some(parent) if parent == root && real_path.file_name() == folder.file_name() => {
                Ok(real_path)
            }
            _ => Err(Error::Outside { folder: folder.to_owned() }),
        }
    }

    fn list(&self) -> std::sync::MutexGuard<'_, BTreeSet<PathBuf>> {
        lock(&self.drafts)
    }
}

/// A file that is being written, under a name of its own. It is removed when dropped.
#[derive(Debug)]
pub struct PendingFile {
    /// Its path as reported to callers, unless that is taken by then.
    path: PathBuf,
    folder: PathBuf,
    draft: PathBuf,
    file: Option<fs::File>,
    store: ArtifactStore,
}

impl PendingFile {
    /// The open file to write to.
    ///
    /// # Errors
    /// If it is closed.
    pub fn writer(&mut self) -> Result<&mut fs::File, Error> {
        self.file.as_mut().ok_or_else(|| over(&self.path))
    }

    /// Gives the file this modification time, as seconds since 1970, once everything is written.
    ///
    /// # Errors
    /// If it cannot be written or its time cannot be set.
    pub async fn set_modified(&mut self, seconds: u64) -> Result<(), Error> {
        let path = self.path.clone();
        let refused = |source| Error::Io { path: path.clone(), source };
        let file = self.writer()?;
        sync(file).await.map_err(refused)?;
        let file = file.try_clone().await.map_err(refused)?.into_std().await;
        let time = SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds));
        // A time that this system cannot express is left out.
        let Some(time) = time else { return Ok(()) };
        let set = tokio::task::spawn_blocking(move || file.set_modified(time)).await;
        set.unwrap_or_else(|panicked| Err(io::Error::other(panicked))).map_err(refused)
    }

    /// Checks that the file is a complete MP4.
    ///
    /// # Errors
    /// What is missing.
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

    /// Persists what was written.
    ///
    /// # Errors
    /// If the last bytes cannot be written; then the file is removed.
    pub async fn persist(mut self) -> Result<LocalFile, Error> {
        let path = self.path.clone();
        let refused = |source| Error::Io { path: path.clone(), source };
        let mut file = self.file.take().ok_or_else(|| over(&self.path))?;
        sync(&mut file).await.map_err(refused)?;
        let bytes = file.metadata().await.map_err(refused)?.len();
        let path = self.place()?;
        Ok(LocalFile { path, bytes })
    }

    /// Persists the file now and returns its path and the file, for further writing.
    ///
    /// # Errors
    /// If it is closed, or cannot be given a name.
    pub fn persist_open(mut self) -> Result<(PathBuf, fs::File), Error> {
        let file = self.file.take().ok_or_else(|| over(&self.path))?;
        Ok((self.place()?, file))
    }

    /// Gives the file its name. Returns its path as reported to callers.
    fn place(&self) -> Result<PathBuf, Error> {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        for number in 1..=MAX_OF_A_NAME {
            let name = numbered(&name, number);
            // A symbolic link with this name counts as a file, wherever it points.
            match files::place(&self.draft, &self.folder.join(&name)) {
                Ok(()) => {
                    self.store.list().remove(&self.draft);
                    return Ok(self.path.with_file_name(name));
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(source) => return Err(Error::Io { path: self.path.clone(), source }),
            }
        }
        let source = io::Error::new(io::ErrorKind::AlreadyExists, "too many files with this name");
        Err(Error::Io { path: self.path.clone(), source })
    }
}

impl Drop for PendingFile {
    fn drop(&mut self) {
        if self.store.list().remove(&self.draft) {
            // Windows cannot remove open files.
            drop(self.file.take());
            let _ = std::fs::remove_file(&self.draft);
        }
    }
}

/// Flushes the file: write errors arrive late.
async fn sync(file: &mut fs::File) -> io::Result<()> {
    use tokio::io::AsyncWriteExt as _;
    file.flush().await
}

fn over(path: &Path) -> Error {
    Error::Io { path: path.to_owned(), source: io::Error::other("the file is closed") }
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
