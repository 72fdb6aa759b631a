//! The socket of the session: where it is, who may use it, and lines over it.
//!
//! Its folder belongs to the user and nobody else can enter it. Both ends ask the system which user
//! is at the other end, too.

use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::geteuid;
use serde::Serialize;
use serde::de::DeserializeOwned;
use thumbwire_base::files;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::time::timeout;

use super::CliError;
use crate::config::Config;

/// The longest line, in bytes: a picture of the screen.
const MAX_LINE: u64 = 64 << 20;

/// The paths of the session of a user.
#[derive(Debug, Clone)]
pub(super) struct Place {
    folder: PathBuf,
}

impl Place {
    /// The folder of the settings, which is created.
    ///
    /// # Errors
    /// If others can use it.
    pub(super) fn of(config: &Config) -> Result<Self, CliError> {
        let folder = config.session.clone().ok_or_else(|| {
            CliError::usage("no place for the session: set XDG_RUNTIME_DIR, XDG_STATE_HOME or HOME")
        })?;
        Self::open(folder)
    }

    pub(super) fn open(folder: PathBuf) -> Result<Self, CliError> {
        let wrong = |reason: String| {
            CliError::failed(format!("cannot use {} for the session: {reason}", folder.display()))
        };
        files::make_folder(&folder).map_err(|error| wrong(error.to_string()))?;
        let about = fs::symlink_metadata(&folder).map_err(|error| wrong(error.to_string()))?;
        let mode = about.mode() & 0o777;
        match (about.is_dir(), about.uid() == geteuid().as_raw(), mode & 0o077) {
            (false, ..) => Err(wrong("it is not a folder. Remove it".into())),
            (_, false, _) => Err(wrong("it belongs to another user. Remove it".into())),
            (.., 0) => Ok(Self { folder }),
            _ => {
                let folder = folder.display();
                Err(wrong(format!("others can use it, too. Run `chmod 700 {folder}`")))
            }
        }
    }

    /// The socket.
    pub(super) fn socket(&self) -> PathBuf {
        self.folder.join("socket")
    }

    /// The file that the running session holds.
    pub(super) fn turn(&self) -> PathBuf {
        self.folder.join("turn")
    }

    /// The file with the number of the next ref: those of a session that has ended name nothing.
    pub(super) fn refs(&self) -> PathBuf {
        self.folder.join("refs")
    }

    /// Listens. The caller has the turn, so a socket that is there was left by a killed process.
    ///
    /// # Errors
    /// The system's, or that something else is in the way.
    pub(super) fn listen(&self) -> io::Result<UnixListener> {
        let path = self.socket();
        match fs::symlink_metadata(&path) {
            Ok(about) if about.file_type().is_socket() => fs::remove_file(&path)?,
            Ok(_) => return Err(io::Error::other(format!("{} is no socket", path.display()))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        let listener = UnixListener::bind(&path)?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600))?;
        Ok(listener)
    }
}

/// A connection to the session, or from a command.
pub(super) struct Connection {
    stream: BufReader<UnixStream>,
    /// The process at the other end, or the one that listened there.
    pub(super) process: Option<i32>,
}

impl Connection {
    /// Connects.
    ///
    /// # Errors
    /// The system's, or that another user listens there.
    pub(super) async fn open(path: &Path) -> io::Result<Self> {
        Self::of(UnixStream::connect(path).await?)
    }

    /// Uses a stream whose other end is the same user's.
    ///
    /// # Errors
    /// That it is another user's.
    pub(super) fn of(stream: UnixStream) -> io::Result<Self> {
        let peer = stream.peer_cred()?;
        match peer.uid() == geteuid().as_raw() {
            true => Ok(Self { stream: BufReader::new(stream), process: peer.pid() }),
            false => Err(io::Error::new(
                io::ErrorKind::PermissionDenied,
                format!("user {} is at the other end", peer.uid()),
            )),
        }
    }

    /// Sends a line.
    pub(super) async fn send(&mut self, message: &impl Serialize) -> io::Result<()> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        self.stream.write_all(&line).await
    }

    /// Says that the answer is still under way.
    pub(super) async fn keep_alive(&mut self) -> io::Result<()> {
        self.stream.write_all(b"\n").await
    }

    /// Receives a line; `None` at the end.
    ///
    /// # Errors
    /// The system's; [`io::ErrorKind::TimedOut`] if nothing comes for `silence`, not even an empty
    /// line; [`io::ErrorKind::InvalidData`] for anything else than such a message.
    pub(super) async fn receive<T: DeserializeOwned>(
        &mut self,
        silence: Duration,
    ) -> io::Result<Option<T>> {
        loop {
            let mut line = Vec::new();
            let mut limited = (&mut self.stream).take(MAX_LINE);
            let read = timeout(silence, limited.read_until(b'\n', &mut line));
            match read.await.map_err(|_| io::ErrorKind::TimedOut)?? {
                0 => return Ok(None),
                1 if line == b"\n" => {}
                _ if line.ends_with(b"\n") => return Ok(Some(serde_json::from_slice(&line)?)),
                _ => return Err(io::ErrorKind::UnexpectedEof.into()),
            }
        }
    }

    /// Waits until the other end has gone, or says something out of turn.
    pub(super) async fn left(&mut self) {
        let _ = self.stream.fill_buf().await;
    }
}
