//! The files that calls have left on this computer, by the client that made each call.
//!
//! [`KeptFiles`] is a decorator of [`Perform`]: it notes the files in the outcomes that pass, so
//! that the client can read them later without knowing this computer's folders. A client learns of,
//! and reads, only files of its own calls, until it leaves. The files themselves stay.

use std::collections::{HashMap, VecDeque};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use thumbwire_base::files::{self, Identity};
use thumbwire_base::lock;
use tokio::sync::watch;

use crate::action::{Action, Call, ClientId, Failure, FetchResult, LocalFile, Outcome, Perform};

/// The largest file that is read for a client, in bytes. It travels in one message.
pub const MAX_SIZE: u64 = 32 << 20;

/// How many files of one client are remembered; its oldest are forgotten.
const MAX_OF_CLIENT: usize = 1000;

/// Notes the files of the calls that it passes on.
pub struct KeptFiles {
    inner: Arc<dyn Perform>,
    table: Mutex<FileTable>,
    /// How many files were noted.
    noted: watch::Sender<u64>,
    /// How many acts have ended.
    acts: watch::Sender<u64>,
}

#[derive(Default)]
struct FileTable {
    files: HashMap<ClientId, VecDeque<KeptFile>>,
    next: u64,
}

/// A file that a call has left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptFile {
    /// Its number among the files of this server, in order.
    pub number: u64,
    /// Where it is.
    path: PathBuf,
    /// Which file that was.
    identity: Identity,
    /// Whether it grows, as a log does.
    grows: bool,
}

impl KeptFile {
    /// Its name, without the folder.
    pub fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }
}

/// Why a file could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It was removed or replaced. List the files again.
    #[error("the file is gone")]
    Gone,
    /// It is too large for one message. Copy it from this computer.
    #[error("the file has {0} bytes; {MAX_SIZE} can be read")]
    TooLarge(u64),
    /// The system refuses.
    #[error("cannot read the file: {0}")]
    Io(io::Error),
}

impl KeptFiles {
    /// Passes calls on to `inner`.
    pub fn new(inner: Arc<dyn Perform>) -> Self {
        let (noted, acts) = Default::default();
        Self { inner, table: Mutex::default(), noted, acts }
    }

    /// The files of this client, oldest first.
    pub fn of(&self, client: &ClientId) -> Vec<KeptFile> {
        let table = lock(&self.table);
        table.files.get(client).into_iter().flatten().cloned().collect()
    }

    /// Forgets the files of a client that has left.
    pub fn client_left(&self, client: &ClientId) {
        lock(&self.table).files.remove(client);
    }

    /// The number that the next file will get.
    pub fn next_number(&self) -> u64 {
        lock(&self.table).next
    }

    /// Waits until there is a file of this client with this number or a later one; returns the
    /// number that the next file will get.
    pub async fn added(&self, number: u64, client: &ClientId) -> u64 {
        let mut noted = self.noted.subscribe();
        loop {
            noted.borrow_and_update();
            if self.of(client).iter().any(|file| file.number >= number) {
                return self.next_number();
            }
            // The sender lives in `self`.
            let _ = noted.changed().await;
        }
    }

    /// How many actions that act on a phone have ended.
    pub fn acts(&self) -> u64 {
        *self.acts.borrow()
    }

    /// Waits until more of them have ended.
    pub async fn acted(&self, acts: u64) {
        // The sender lives in `self`.
        let _ = self.acts.subscribe().wait_for(|now| *now != acts).await;
    }

    /// Reads a file.
    ///
    /// # Errors
    /// If it is gone, too large, or cannot be read.
    pub async fn read(&self, file: &KeptFile) -> Result<Vec<u8>, ReadError> {
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => ReadError::Gone,
            _ => ReadError::Io(error),
        };
        let (path, identity, grows) = (file.path.clone(), file.identity, file.grows);
        let reading = tokio::task::spawn_blocking(move || {
            let opened = files::open(&path).map_err(failed)?;
            let found = Identity::of(&opened).map_err(failed)?;
            let is_it = if grows { found.is_same_file(&identity) } else { found == identity };
            match found.length() {
                _ if !is_it => Err(ReadError::Gone),
                length if length > MAX_SIZE => Err(ReadError::TooLarge(length)),
                _ => files::bytes(&opened, MAX_SIZE).map_err(failed),
            }
        });
        reading.await.unwrap_or_else(|panicked| Err(ReadError::Io(io::Error::other(panicked))))
    }

    /// Lets the client read the file from now on.
    pub fn note(&self, client: &ClientId, path: &Path, grows: bool) {
        // A file that cannot be found could not be read either.
        let Ok(identity) = Identity::at(path) else { return };
        let mut table = lock(&self.table);
        let number = table.next;
        let files = table.files.entry(client.clone()).or_default();
        if let Some(known) = files.iter_mut().find(|file| file.path == path) {
            // A log is named again when it has ended.
            if known.identity.is_same_file(&identity) {
                (known.identity, known.grows) = (identity, grows);
                return;
            }
        }
        if files.len() >= MAX_OF_CLIENT {
            files.pop_front();
        }
        files.push_back(KeptFile { number, path: path.to_owned(), identity, grows });
        table.next += 1;
        drop(table);
        self.noted.send_modify(|noted| *noted += 1);
    }
}

#[async_trait]
impl Perform for KeptFiles {
    async fn perform(&self, call: &Call, action: Action) -> Result<Outcome, Failure> {
        let acts = action.changes_screen();
        let outcome = self.inner.perform(call, action).await;
        if acts {
            self.acts.send_modify(|acts| *acts += 1);
        }
        let outcome = outcome?;
        for path in files(&outcome) {
            self.note(&call.client, path, matches!(outcome, Outcome::Monitor(_)));
        }
        Ok(outcome)
    }
}

/// The complete files that an outcome names.
fn files(outcome: &Outcome) -> Vec<&Path> {
    fn fetched(file: &Option<FetchResult>) -> Option<&Path> {
        file.as_ref()?.as_ref().ok().map(|file: &LocalFile| &*file.path)
    }
    match outcome {
        Outcome::Pulled(file) => vec![&file.path],
        Outcome::ScreenshotSaved(saved) => fetched(&saved.local_file).into_iter().collect(),
        Outcome::Recording(recording) => fetched(&recording.local_file).into_iter().collect(),
        Outcome::Recordings(all) => all.iter().filter_map(|one| fetched(&one.local_file)).collect(),
        Outcome::Monitor(monitor) => monitor.file.as_deref().into_iter().collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// A phone whose files are here.
    struct Files(PathBuf);

    #[async_trait]
    impl Perform for Files {
        async fn perform(&self, _call: &Call, _action: Action) -> Result<Outcome, Failure> {
            Ok(Outcome::Pulled(LocalFile { path: self.0.clone(), bytes: 3 }))
        }
    }

    fn client(id: &str) -> ClientId {
        ClientId::Session(id.into())
    }

    fn call(id: &str) -> Call {
        Call { client: client(id), ..Call::with_timeout(Duration::from_secs(9)) }
    }

    #[tokio::test]
    async fn client_sees_only_files_of_its_own_calls() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a b.log");
        std::fs::write(&path, "abc").unwrap();
        let kept = KeptFiles::new(Arc::new(Files(path)));
        for _ in 0..2 {
            kept.perform(&call("one"), Action::CurrentApp).await.unwrap();
        }
        let [file] = &kept.of(&client("one"))[..] else { panic!("noted once") };
        assert_eq!((file.name(), file.number, kept.next_number()), ("a b.log".into(), 0, 1));
        assert_eq!(kept.read(file).await.unwrap(), b"abc");
        kept.client_left(&client("two"));
        assert_eq!(kept.of(&client("one")).len(), 1);
        kept.client_left(&client("one"));
        assert!(kept.of(&client("one")).is_empty(), "it has left");
        assert!(kept.of(&client("two")).is_empty() && kept.of(&ClientId::Stdio).is_empty());
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn link_in_the_place_of_a_file_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (path, secret) = (folder.path().join("a.log"), folder.path().join("secret"));
        std::fs::write(&path, "abc").unwrap();
        std::fs::write(&secret, "key").unwrap();
        let kept = KeptFiles::new(Arc::new(Files(path.clone())));
        kept.perform(&call(""), Action::CurrentApp).await.unwrap();
        let file = kept.of(&client("")).remove(0);
        std::fs::remove_file(&path).unwrap();
        assert!(matches!(kept.read(&file).await, Err(ReadError::Gone)));
        std::os::unix::fs::symlink(&secret, &path).unwrap();
        assert!(matches!(kept.read(&file).await, Err(ReadError::Gone)));
    }

    #[tokio::test]
    async fn file_that_another_one_replaced_is_gone_and_a_growing_log_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("q.txt");
        std::fs::write(&path, "of ann").unwrap();
        let kept = KeptFiles::new(Arc::new(Files(path.clone())));
        kept.perform(&call("ann"), Action::CurrentApp).await.unwrap();
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, "BOBS SECRET").unwrap();
        kept.perform(&call("bob"), Action::CurrentApp).await.unwrap();
        let of = |name: &str| kept.of(&client(name)).remove(0);
        assert!(matches!(kept.read(&of("ann")).await, Err(ReadError::Gone)));
        assert_eq!(kept.read(&of("bob")).await.unwrap(), b"BOBS SECRET");
        kept.note(&client("log"), &path, true);
        std::fs::OpenOptions::new().append(true).open(&path).unwrap().set_len(3).unwrap();
        assert_eq!(kept.read(&of("log")).await.unwrap(), b"BOB");
        assert!(matches!(kept.read(&of("bob")).await, Err(ReadError::Gone)));
    }

    #[tokio::test]
    async fn large_files_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.mp4");
        let file = std::fs::File::create(&path).unwrap();
        file.set_len(MAX_SIZE + 1).unwrap();
        let kept = KeptFiles::new(Arc::new(Files(path)));
        kept.perform(&call(""), Action::CurrentApp).await.unwrap();
        let error = kept.read(&kept.of(&client(""))[0]).await.unwrap_err();
        assert_eq!(error.to_string(), "the file has 33554433 bytes; 33554432 can be read");
    }
}
