//! Log monitors: logs that are followed across calls.
//!
//! Start with [`SessionCall::start_monitor`]. Each monitor has its own task, [`Follower::run`],
//! which writes entries to a file in `logcat` format, counts them, and survives a lost phone: it
//! retries with growing delays, resumes after the last entry, and notes the gap in the file. A
//! monitor stays listed until it is stopped, even after it has ended. It belongs to the client that
//! started it: no other client can list or stop it, and it is stopped when its client leaves.

mod follower;

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use thumbwire_base::lock;
use thumbwire_device::LogFilter;
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::SessionCall;
use super::jobs::{BackgroundJob, JobRegistry, JobSlot};
use super::local_files::with_extension;
use crate::action::{Cause, ClientId, Failure, LogMonitor, Outcome};
use crate::artifacts::Folder;
use follower::{Follower, LogFile};

/// How many monitors of one client may be active at once (Android MCP server limit).
const MAX_ACTIVE: usize = 10;

/// How many entries one read may ask for (Android MCP server limit).
const MAX_ENTRIES: usize = 5000;

/// The monitors of a session. Dropping this stops them.
#[derive(Default)]
pub(super) struct Monitors(pub(super) JobRegistry<MonitorJob>);

/// One log monitor.
pub(super) struct MonitorJob {
    id: String,
    client: ClientId,
    device: String,
    filter: LogFilter,
    file: Option<PathBuf>,
    began: Instant,
    state: Arc<State>,
    stop: CancellationToken,
    task: tokio::sync::Mutex<Option<JoinHandle<()>>>,
}

/// The state that a follower publishes.
#[derive(Default)]
struct State {
    entries: AtomicU64,
    /// Why it ended, and when.
    ended: Mutex<Option<(String, Instant)>>,
}

impl SessionCall<'_> {
    /// The newest log entries.
    pub(super) async fn read_log(
        &self,
        filter: &LogFilter,
        max: usize,
        clear: bool,
    ) -> Result<Outcome, Failure> {
        if !(1..=MAX_ENTRIES).contains(&max) {
            let reason = format!("the number of log entries must be between 1 and {MAX_ENTRIES}");
            return Err(Cause::InvalidArgument { reason }.into());
        }
        let attached = self.attached().await?;
        let reading = async {
            let logs = attached.device.logs()?;
            if clear {
                logs.clear_logs().await?;
            }
            logs.read_logs(filter, max).await
        };
        reading.await.map(Outcome::Log).map_err(|error| attached.failed(&error))
    }

    /// Starts following a log.
    pub(super) async fn start_monitor(
        &self,
        filter: LogFilter,
        file: Option<String>,
    ) -> Result<Outcome, Failure> {
        let name = file.map(|name| with_extension(name, "log")).transpose()?;
        let files =
            name.map(|name| Ok::<_, Failure>((self.session.files.files()?, name))).transpose()?;
        let attached = self.attached().await?;
        let stamp = self.session.files.stamp("logmon");
        let id = format!("logmon_{}_{stamp}", attached.id());
        let slot = self.session.monitors.reserve(&id, &self.call.client)?;
        let opening = async { attached.device.logs()?.follow_logs(&filter, None).await };
        let stream = opening.await.map_err(|error| attached.failed(&error))?;
        let file = match files {
            None => None,
            Some((store, name)) => {
                let refused = |error: crate::artifacts::Error| {
                    Failure::from(Cause::Refused { reason: format!("failed to {error}") })
                };
                let draft = store.begin(Folder::Logs, &name).map_err(refused)?;
                let (path, file) = draft.persist_open().map_err(refused)?;
                Some((path, LogFile::new(file)))
            }
        };
        let (path, file) = file.unzip();
        let (state, stop) = (Arc::<State>::default(), CancellationToken::new());
        let follower = Follower {
            phone: attached.id().to_owned(),
            connections: Arc::clone(&self.session.connections),
            device: Arc::clone(&attached.device),
            filter: filter.clone(),
            file,
            state: Arc::clone(&state),
            last: None,
        };
        let stopped = stop.clone();
        let task = tokio::spawn(async move { follower.run(stream, stopped).await });
        let job = Arc::new(MonitorJob {
            id,
            client: self.call.client.clone(),
            device: attached.id().to_owned(),
            filter,
            file: path,
            began: Instant::now(),
            state,
            stop,
            task: tokio::sync::Mutex::new(Some(task)),
        });
        let out = job.info();
        self.session.monitors.0.add(&slot, Arc::clone(&job)).inspect_err(|_| job.stop.cancel())?;
        Ok(Outcome::Monitor(out))
    }

    /// Stops one monitor of the call's client, all on the phone that the call is for, or all.
    pub(super) async fn stop_monitor(&self, wanted: Option<String>) -> Result<Outcome, Failure> {
        if let Some(id) = wanted {
            let job = self.session.monitors.find(&id, &self.call.client)?;
            return Ok(Outcome::Monitors(vec![self.stop_following(&job).await]));
        }
        let mut out = Vec::new();
        for job in self.session.monitors.0.of(self.call) {
            out.push(self.stop_following(&job).await);
        }
        Ok(Outcome::Monitors(out))
    }

    /// The listed monitors of the call's client.
    pub(super) fn list_monitors(&self) -> Outcome {
        let all = self.session.monitors.0.of(self.call);
        Outcome::Monitors(all.iter().map(|job| job.info()).collect())
    }

    async fn stop_following(&self, job: &Arc<MonitorJob>) -> LogMonitor {
        job.stopped().await;
        self.session.monitors.0.forget(job);
        job.info()
    }
}

impl Monitors {
    /// Reserves a slot for a new monitor of this client.
    fn reserve(&self, id: &str, client: &ClientId) -> Result<JobSlot<'_, MonitorJob>, Failure> {
        self.0.reserve(id, client, |table| {
            let starting = table.starting.values().filter(|starter| *starter == client).count();
            let active = table.jobs.iter().filter(|job| job.client == *client).count();
            match active + starting < MAX_ACTIVE {
                true => Ok(()),
                false => {
                    Err(Cause::TooManyActive { what: "monitors".into(), max: MAX_ACTIVE }.into())
                }
            }
        })
    }

    fn find(&self, id: &str, client: &ClientId) -> Result<Arc<MonitorJob>, Failure> {
        let missing = |known| Cause::NoSuchMonitor { id: id.to_owned(), known }.into();
        self.0.find(id, client).map_err(missing)
    }
}

impl Drop for Monitors {
    fn drop(&mut self) {
        for job in self.0.take_all() {
            job.stop.cancel();
        }
    }
}

impl BackgroundJob for MonitorJob {
    fn id(&self) -> &str {
        &self.id
    }

    fn device(&self) -> &str {
        &self.device
    }

    fn client(&self) -> &ClientId {
        &self.client
    }

    async fn stop(self: Arc<Self>) {
        self.stopped().await;
    }
}

impl MonitorJob {
    /// Stops following and waits until the file is written.
    async fn stopped(&self) {
        self.stop.cancel();
        let mut task = self.task.lock().await;
        if let Some(running) = task.as_mut() {
            if let Err(error) = running.await {
                tracing::warn!("{}: {error}", self.id);
            }
            *task = None;
        }
    }

    fn info(&self) -> LogMonitor {
        let ended = lock(&self.state.ended).clone();
        let until = ended.as_ref().map_or_else(Instant::now, |(_, at)| *at);
        LogMonitor {
            id: self.id.clone(),
            filter: self.filter.clone(),
            file: self.file.clone(),
            running: until.saturating_duration_since(self.began),
            entries: self.state.entries.load(Ordering::SeqCst),
            ended: ended.map(|(reason, _)| reason),
        }
    }
}
