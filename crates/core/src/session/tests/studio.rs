//! A fake phone with recordings, files and a log.

use std::collections::BTreeMap;
use std::collections::VecDeque;
use std::sync::atomic::AtomicBool;

use bytes::Bytes;
use thumbwire_device::{
    DeviceFiles, FileDetails, LaunchArgument, LogEntry, LogFilter, LogStream, Logs, Priority,
    Recording, RecordingOptions, ScreenCapture, ScreenWatch,
};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::Notify;
use tokio::time::sleep;

use super::*;
use crate::artifacts::ArtifactStore;

/// A phone with only the abilities that these tests need.
pub(super) struct Studio {
    identity: Identity,
    pub(super) files: Mutex<BTreeMap<String, Vec<u8>>>,
    /// The file of a recording that ends properly; otherwise the file is cut in the middle.
    pub(super) video: Vec<u8>,
    pub(super) whole: AtomicBool,
    /// How long fetching a file takes.
    pub(super) fetching: Mutex<Duration>,
    /// How long a recording takes to end.
    pub(super) stopping: Mutex<Duration>,
    /// The error when stopping a recording; with `NotReady` the recording continues.
    pub(super) unstoppable: Mutex<Option<fn() -> Error>>,
    /// The maximum duration; 180 s, as on Android.
    pub(super) longest: Mutex<Duration>,
    /// The phone does not answer.
    pub(super) gone: AtomicBool,
    pub(super) running: Arc<AtomicUsize>,
    pub(super) log: Mutex<Log>,
    pub(super) written: Arc<Notify>,
}

/// The log's entries and readers.
#[derive(Default)]
pub(super) struct Log {
    pub(super) entries: VecDeque<LogEntry>,
    /// The entry after which each stream was asked to start.
    pub(super) asked: Vec<Option<String>>,
    pub(super) cleared: usize,
    /// Why it cannot be followed.
    pub(super) refuses: bool,
    pub(super) readers: usize,
}

pub(super) fn a_box(name: &[u8; 4], content: usize) -> Vec<u8> {
    let mut bytes = (8 + content as u32).to_be_bytes().to_vec();
    bytes.extend(name);
    bytes.resize(8 + content, 0);
    bytes
}

pub(super) fn entry(number: u32) -> LogEntry {
    LogEntry {
        time: format!("2024-09-01T12:13:14.{number:03}000"),
        priority: Priority::Info,
        tag: "Tag".into(),
        pid: 12,
        tid: 345,
        message: format!("entry {number}"),
    }
}

impl Studio {
    pub(super) fn new(id: &str) -> Arc<Self> {
        let identity =
            Identity { id: id.into(), platform: Platform::Android, model: String::new() };
        Arc::new(Self {
            identity,
            files: Mutex::default(),
            video: [a_box(b"ftyp", 8), a_box(b"mdat", 50), a_box(b"moov", 20)].concat(),
            whole: AtomicBool::new(true),
            fetching: Mutex::default(),
            stopping: Mutex::default(),
            unstoppable: Mutex::default(),
            longest: Mutex::new(Duration::from_secs(180)),
            gone: AtomicBool::new(false),
            running: Arc::default(),
            log: Mutex::default(),
            written: Arc::default(),
        })
    }

    pub(super) fn unplug(&self, gone: bool) {
        self.gone.store(gone, Ordering::SeqCst);
        self.written.notify_waiters();
    }

    pub(super) fn write(&self, entries: impl IntoIterator<Item = u32>) {
        lock(&self.log).entries.extend(entries.into_iter().map(entry));
        self.written.notify_waiters();
    }

    fn check_plugged(&self) -> Result<(), Error> {
        if self.gone.load(Ordering::SeqCst) {
            return Err(Error::NotConnected {
                reason: "unplugged".into(),
                acted: SideEffect::None,
            });
        }
        Ok(())
    }
}

/// An active recording.
struct Tape {
    studio: Arc<Studio>,
    path: String,
    duration: Duration,
    began: Instant,
    over: bool,
}

impl Tape {
    fn end(&mut self) {
        if !std::mem::replace(&mut self.over, true) {
            self.studio.running.fetch_sub(1, Ordering::SeqCst);
            let whole = self.studio.whole.load(Ordering::SeqCst);
            let length = self.studio.video.len();
            let video = self.studio.video[..if whole { length } else { length - 28 }].to_vec();
            lock(&self.studio.files).insert(self.path.clone(), video);
        }
    }
}

#[async_trait]
impl Recording for Tape {
    fn process(&self) -> u32 {
        4321
    }
    fn time_limit(&self) -> Duration {
        self.duration
    }
    async fn stop(&mut self) -> Result<(), Error> {
        self.studio.check_plugged()?;
        let stopping = *lock(&self.studio.stopping);
        sleep(stopping).await;
        let error = lock(&self.studio.unstoppable).map(|reason| reason());
        if !matches!(error, Some(Error::NotReady { .. })) {
            self.end();
        }
        error.map_or(Ok(()), Err)
    }
    async fn wait(&mut self) {
        if !self.over {
            tokio::time::sleep_until(self.began + self.duration).await;
            self.end();
        }
    }
}

impl Drop for Tape {
    fn drop(&mut self) {
        self.end();
    }
}

/// A reader of the log.
struct Reader {
    studio: Arc<Studio>,
    next: usize,
}

#[async_trait]
impl LogStream for Reader {
    async fn next(&mut self) -> Result<Option<LogEntry>, Error> {
        loop {
            let studio = Arc::clone(&self.studio);
            let written = studio.written.notified();
            self.studio.check_plugged()?;
            if let Some(entry) = lock(&self.studio.log).entries.get(self.next).cloned() {
                self.next += 1;
                return Ok(Some(entry));
            }
            written.await;
        }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        lock(&self.studio.log).readers -= 1;
    }
}

/// The device; its recordings and readers share the phone.
pub(super) struct Handle(pub(super) Arc<Studio>);

#[async_trait]
impl Device for Handle {
    fn identity(&self) -> &Identity {
        &self.0.identity
    }
    async fn probe(&self) -> Result<(), Error> {
        self.0.check_plugged()
    }
    async fn restore_borrowed(&self) {}
    async fn disconnect(&self) {}
    fn facets(&self) -> Facets<'_> {
        Facets {
            logs: Some(self),
            screen_capture: Some(self),
            files: Some(self),
            ..Facets::default()
        }
    }
    async fn screen_size(&self) -> Result<Size, Error> {
        Err(self.unsupported("a screen"))
    }
    async fn screenshot(&self) -> Result<Screenshot, Error> {
        Err(self.unsupported("a screen"))
    }
    async fn tree(&self, _detail: TreeDetail) -> Result<Tree, Error> {
        Err(self.unsupported("a screen"))
    }
    async fn touch(&self, _gesture: Gesture) -> Result<(), Error> {
        Err(self.unsupported("a screen"))
    }
    async fn type_text(&self, _text: &str) -> Result<TypingMethod, Error> {
        Err(self.unsupported("a screen"))
    }
    async fn press(&self, _key: Key) -> Result<(), Error> {
        Err(self.unsupported("keys"))
    }
    async fn apps(&self) -> Result<AppList, Error> {
        Err(self.unsupported("apps"))
    }
    async fn launch(&self, _app: &AppId, _: &[LaunchArgument]) -> Result<String, Error> {
        Err(self.unsupported("apps"))
    }
    async fn stop(&self, _app: &AppId) -> Result<(), Error> {
        Err(self.unsupported("apps"))
    }
    async fn foreground(&self) -> Result<Foreground, Error> {
        Err(self.unsupported("apps"))
    }
    async fn info(&self) -> Result<DeviceInfo, Error> {
        Err(self.unsupported("telling of itself"))
    }
}

#[async_trait]
impl DeviceFiles for Handle {
    async fn screenshot_into(&self, path: &str) -> Result<(), Error> {
        self.0.check_plugged()?;
        lock(&self.0.files).insert(path.into(), b"picture".into());
        Ok(())
    }
    async fn fetch_file(
        &self,
        path: &str,
        into: &mut (dyn AsyncWrite + Send + Unpin),
    ) -> Result<u64, Error> {
        self.0.check_plugged()?;
        let output = "no such file".into();
        let none = Error::Failed { what: "read the file", text: output };
        let bytes = lock(&self.0.files).get(path).cloned().ok_or(none)?;
        let fetching = *lock(&self.0.fetching);
        let (first, rest) = bytes.split_at(bytes.len() / 2);
        into.write_all(first).await.unwrap();
        sleep(fetching).await;
        self.0.check_plugged()?;
        into.write_all(rest).await.unwrap();
        Ok(bytes.len() as u64)
    }
    async fn remove_file(&self, path: &str) -> Result<(), Error> {
        lock(&self.0.files).remove(path);
        Ok(())
    }
    async fn store_file(
        &self,
        _path: &str,
        _from: &mut (dyn AsyncRead + Send + Unpin),
        _length: u64,
        _modified: u32,
    ) -> Result<(), Error> {
        Err(self.unsupported("writing files"))
    }
    async fn file_details(&self, _path: &str) -> Result<Option<FileDetails>, Error> {
        Err(self.unsupported("reading files"))
    }
    async fn read_file(&self, _path: &str, _from: u64, _length: u64) -> Result<Bytes, Error> {
        Err(self.unsupported("reading files"))
    }
    async fn file_length(&self, _path: &str) -> Result<u64, Error> {
        Err(self.unsupported("reading files"))
    }
}

#[async_trait]
impl ScreenCapture for Handle {
    async fn start_recording(
        &self,
        options: &RecordingOptions,
    ) -> Result<Box<dyn Recording>, Error> {
        self.0.check_plugged()?;
        self.0.running.fetch_add(1, Ordering::SeqCst);
        let duration = options.time_limit.min(*lock(&self.0.longest));
        let (studio, path) = (Arc::clone(&self.0), options.path.clone());
        Ok(Box::new(Tape { studio, path, duration, began: Instant::now(), over: false }))
    }
    async fn watch_screen(&self) -> Result<Option<ScreenWatch>, Error> {
        Ok(None)
    }
}

#[async_trait]
impl Logs for Handle {
    async fn read_logs(&self, _filter: &LogFilter, max: usize) -> Result<Vec<LogEntry>, Error> {
        let log = lock(&self.0.log);
        let left_out = log.entries.len().saturating_sub(max);
        Ok(log.entries.iter().skip(left_out).cloned().collect())
    }
    async fn log_clock(&self) -> Result<String, Error> {
        Ok("2024-09-01T12:14:14".into())
    }
    async fn clear_logs(&self) -> Result<(), Error> {
        let mut log = lock(&self.0.log);
        log.cleared += 1;
        log.entries.clear();
        Ok(())
    }
    async fn follow_logs(
        &self,
        _filter: &LogFilter,
        last: Option<&LogEntry>,
    ) -> Result<Box<dyn LogStream>, Error> {
        self.0.check_plugged()?;
        let mut log = lock(&self.0.log);
        if log.refuses {
            let reason = "the filter".into();
            return Err(Error::Refused { what: "following the log", reason });
        }
        log.asked.push(last.map(|last| last.message.clone()));
        log.readers += 1;
        let place = last.and_then(|last| log.entries.iter().position(|one| one == last));
        let next = place.map_or(log.entries.len(), |place| place + 1);
        Ok(Box::new(Reader { studio: Arc::clone(&self.0), next }))
    }
}

/// A session over these phones with the first one selected, its own folder for files, and a fixed
/// clock.
pub(super) fn in_studios(studios: &[&Arc<Studio>]) -> (Session, tempfile::TempDir) {
    in_leased_studios(studios, Duration::ZERO)
}

/// The same, with leases.
pub(super) fn in_leased_studios(
    studios: &[&Arc<Studio>],
    lease_time: Duration,
) -> (Session, tempfile::TempDir) {
    let root = tempfile::tempdir().unwrap();
    let phones = DeviceProviders::adb(AdbServer::new("127.0.0.1:9"));
    let chosen = studios.first().map(|studio| studio.identity.id.clone());
    let options = SessionOptions {
        files: Some(ArtifactStore::new(root.path())),
        clock: || jiff::civil::date(2024, 9, 1).at(12, 13, 14, 0),
        lease_time,
        ..SessionOptions::from(chosen)
    };
    let session = Session::new(phones, options);
    for studio in studios {
        plug(&session, studio);
    }
    (session, root)
}

/// A new connection to a phone.
pub(super) fn plug(session: &Session, studio: &Arc<Studio>) {
    studio.unplug(false);
    session.keep(&studio.identity.id, Arc::new(Handle(Arc::clone(studio))));
}

/// The names of the files stored there.
pub(super) fn kept(root: &tempfile::TempDir, folder: &str) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(root.path().join(folder)) else { return Vec::new() };
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}
