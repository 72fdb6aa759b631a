//! Files on their way between a door and a phone: what a door sends for an action, and what an
//! action leaves for the door.
//!
//! A file is sent in pieces, each after the one before has arrived.

use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use bytes::Bytes;
use thumbwire_base::{files, lock};
use thumbwire_core::action::{Action, Outcome, check_name};
use thumbwire_core::artifacts::{ArtifactStore, Folder};
use thumbwire_core::input_files::{InputFolder, MAX_SIZE};
use tokio::fs::File;
use tokio::io::{AsyncReadExt as _, AsyncSeekExt as _, AsyncWriteExt as _};

use crate::message::LeavingFile;

/// How many files wait at once. The oldest are removed.
const MAX_WAITING: usize = 64;

/// The files of a node, in a folder that is for them alone.
#[derive(Debug)]
pub struct NodeFiles {
    folder: PathBuf,
    waiting: Mutex<VecDeque<WaitingFile>>,
}

/// A file that has come, or that waits to be fetched.
#[derive(Debug, Clone)]
struct WaitingFile {
    id: String,
    path: PathBuf,
}

impl NodeFiles {
    /// The files in this folder, which the caller removes in the end.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), waiting: Mutex::default() }
    }

    /// Where the session of the node finds what was sent.
    pub fn input(&self) -> InputFolder {
        InputFolder::new(self.folder.join("in"))
    }

    /// Where the session of the node leaves files.
    pub fn output(&self) -> ArtifactStore {
        ArtifactStore::new(self.folder.join("out"))
    }

    /// Begins a file of this name. Returns its id.
    pub(super) fn begin(&self, id: String, name: &str) -> Result<String, String> {
        check_name(name)
            .map_err(|reason| format!("{name:?} is not a valid file name: {reason}"))?;
        let path = self.folder.join("in").join(&id).join(name);
        files::make_folder_of(&path).and_then(|()| files::create(&path)).map_err(text)?;
        self.add(WaitingFile { id: id.clone(), path });
        Ok(id)
    }

    /// Adds a piece to a file.
    pub(super) async fn append(&self, id: &str, piece: &[u8]) -> Result<(), String> {
        let path = self.path(id).ok_or_else(gone)?;
        let file = files::append(&path).map_err(text)?;
        if file.metadata().map_err(text)?.len() + piece.len() as u64 > MAX_SIZE {
            return Err(format!("it is larger than {MAX_SIZE} bytes"));
        }
        let mut file = File::from_std(file);
        file.write_all(piece).await.map_err(text)?;
        file.flush().await.map_err(text)
    }

    /// A piece of a file, at most this long; empty at its end.
    pub(super) async fn read(&self, id: &str, from: u64, max: usize) -> Result<Bytes, String> {
        let path = self.path(id).ok_or_else(gone)?;
        let mut file = File::from_std(files::open(&path).map_err(text)?);
        file.seek(io::SeekFrom::Start(from)).await.map_err(text)?;
        let mut piece = Vec::new();
        file.take(max as u64).read_to_end(&mut piece).await.map_err(text)?;
        Ok(piece.into())
    }

    /// The action with the file that was sent for it.
    pub(super) fn put_into(&self, id: &str, action: Action) -> Result<Action, String> {
        let sent = self.path(id).ok_or_else(gone)?.display().to_string();
        Ok(match action {
            Action::InstallApp { options, .. } => Action::InstallApp { path: sent, options },
            Action::PushFile { to, overwrite, .. } => {
                Action::PushFile { path: sent, to, overwrite }
            }
            other => other,
        })
    }

    /// The files that an action has left, which wait to be fetched.
    pub(super) fn leave(&self, outcome: &mut Outcome, id: impl Fn() -> String) -> Vec<LeavingFile> {
        let mut leaving = Vec::new();
        for file in outcome.local_files_mut() {
            let id = id();
            let folder = file.path.parent().and_then(Path::file_name).unwrap_or_default();
            let name = file.path.file_name().unwrap_or_default();
            leaving.push(LeavingFile {
                id: id.clone(),
                folder: Folder::of_name(&folder.to_string_lossy()),
                name: name.to_string_lossy().into_owned(),
            });
            self.add(WaitingFile { id, path: file.path.clone() });
        }
        leaving
    }

    /// Removes a file.
    pub(super) fn forget(&self, id: &str) {
        let mut waiting = lock(&self.waiting);
        let at = waiting.iter().position(|file| file.id == id);
        if let Some(file) = at.and_then(|at| waiting.remove(at)) {
            self.remove(&file);
        }
    }

    fn add(&self, file: WaitingFile) {
        let mut waiting = lock(&self.waiting);
        waiting.push_back(file);
        if waiting.len() > MAX_WAITING
            && let Some(oldest) = waiting.pop_front()
        {
            self.remove(&oldest);
        }
    }

    fn remove(&self, file: &WaitingFile) {
        let _ = std::fs::remove_file(&file.path);
        if let Some(folder) = file.path.parent().filter(|folder| folder.ends_with(&file.id)) {
            let _ = std::fs::remove_dir(folder);
        }
    }

    fn path(&self, id: &str) -> Option<PathBuf> {
        let waiting = lock(&self.waiting);
        waiting.iter().find(|file| file.id == id).map(|file| file.path.clone())
    }
}

fn gone() -> String {
    "the file is gone".to_owned()
}

fn text(error: io::Error) -> String {
    error.to_string()
}
