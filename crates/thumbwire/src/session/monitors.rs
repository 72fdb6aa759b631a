//! Logs that are followed from call to call.
//!
//! Begin with [`Session::start_monitor`]. Each log has a task of its own, [`Follower::run`], which writes the entries into a
//! file as `logcat` would show them, counts them, and goes on when the phone was lost: it waits, longer each time, for the
//! phone to come back, asks for what came after the last entry, and notes the gap in the file. A log is listed until it is
//! stopped, also when it has ended for good.

mod follower;

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use thumbwire_device::LogFilter;
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::going::{GoesOn, Going, Place};
use super::saving::with_extension;
use super::{Course, Session, lock};
use crate::action::{Call, Cause, Failure, Monitor, Outcome};
use crate::keep::Folder;
use follower::{Follower, Page, Way};

/// How many may be followed at once (facts: seed 003's server).
const MOST: usize = 10;

/// How many entries are read at once at most (facts: seed 003's server).
const MOST_ENTRIES: usize = 5000;

/// The followed logs of a session. Dropped, they are followed no more.
#[derive(Default)]
pub(super) struct Monitors(Going<Followed>);

/// One followed log.
struct Followed {
    id: String,
    device: String,
    filter: LogFilter,
    file: Option<PathBuf>,
    began: Instant,
    state: Arc<State>,
    stop: CancellationToken,
    task: tokio::sync::Mutex<Option<JoinHandle<()>>>,
}

/// What a follower tells of itself.
#[derive(Default)]
struct State {
    entries: AtomicU64,
    /// Why it ended for good, and when.
    ended: Mutex<Option<(String, Instant)>>,
}

impl Session {
    /// The newest entries of the log.
    pub(super) async fn read_log(
        &self,
        call: &Call,
        filter: &LogFilter,
        most: usize,
        clear: bool,
        course: &Course,
    ) -> Result<Outcome, Failure> {
        if !(1..=MOST_ENTRIES).contains(&most) {
            let why = format!("of a log, 1 to {MOST_ENTRIES} entries can be read at once");
            return Err(Cause::InvalidArgument { why }.into());
        }
        let attached = self.attached(call, course).await?;
        if clear {
            attached.device.clear_logs().await.map_err(|error| attached.failed(&error))?;
        }
        let entries = attached.device.logs(filter, most).await;
        entries.map(Outcome::Log).map_err(|error| attached.failed(&error))
    }

    /// Begins to follow a log.
    pub(super) async fn start_monitor(
        &self,
        call: &Call,
        filter: LogFilter,
        file: Option<String>,
        course: &Course,
    ) -> Result<Outcome, Failure> {
        let name = file.map(|name| with_extension(name, "log")).transpose()?;
        let files = name.map(|name| Ok::<_, Failure>((self.saving.files()?, name))).transpose()?;
        let attached = self.attached(call, course).await?;
        let stamp = self.saving.stamp("logmon");
        let place = self.monitors.place(&format!("logmon_{}_{stamp}", attached.id()))?;
        let stream = attached.device.follow_logs(&filter, None).await;
        let stream = stream.map_err(|error| attached.failed(&error))?;
        let page = match files {
            None => None,
            Some((keep, name)) => {
                let refused = |error: crate::keep::Error| {
                    Failure::from(Cause::Refused { why: format!("failed to {error}") })
                };
                let draft = keep.begin(Folder::Logs, &name).await.map_err(refused)?;
                let path = draft.path().to_owned();
                Some((path, Page::new(draft.keep_open().map_err(refused)?)))
            }
        };
        let (path, page) = page.unzip();
        let (state, stop) = (Arc::<State>::default(), CancellationToken::new());
        let follower = Follower {
            way: Way {
                device: attached.id().to_owned(),
                phones: Arc::clone(&self.phones),
                known: Arc::clone(&self.known),
                next_control: Arc::clone(&self.next_control),
            },
            device: Arc::clone(&attached.device),
            filter: filter.clone(),
            page,
            state: Arc::clone(&state),
            last: None,
        };
        let stopped = stop.clone();
        let task = tokio::spawn(async move { follower.run(stream, stopped).await });
        let followed = Arc::new(Followed {
            id: place.id().to_owned(),
            device: attached.id().to_owned(),
            filter,
            file: path,
            began: Instant::now(),
            state,
            stop,
            task: tokio::sync::Mutex::new(Some(task)),
        });
        let told = followed.tell();
        self.monitors.0.add(Arc::clone(&followed)).inspect_err(|_| followed.stop.cancel())?;
        Ok(Outcome::Monitor(told))
    }

    /// Follows one log no more, or all of the phone that the call is for, or all.
    pub(super) async fn stop_monitor(
        &self,
        call: &Call,
        wanted: Option<String>,
    ) -> Result<Outcome, Failure> {
        if let Some(id) = wanted {
            let followed = self.monitors.find(&id)?;
            return Ok(Outcome::Monitor(self.stop_following(&followed).await));
        }
        let mut told = Vec::new();
        for followed in self.monitors.0.of(call.device.as_deref()) {
            told.push(self.stop_following(&followed).await);
        }
        Ok(Outcome::Monitors(told))
    }

    /// Those that are listed.
    pub(super) fn list_monitors(&self, call: &Call) -> Outcome {
        let all = self.monitors.0.of(call.device.as_deref());
        Outcome::Monitors(all.iter().map(|followed| followed.tell()).collect())
    }

    async fn stop_following(&self, followed: &Arc<Followed>) -> Monitor {
        followed.stopped().await;
        self.monitors.0.forget(followed);
        followed.tell()
    }
}

impl Monitors {
    /// Keeps a place for a log that is about to be followed.
    fn place(&self, id: &str) -> Result<Place<'_, Followed>, Failure> {
        self.0.place(id, |all, starting| match all.len() + starting.len() < MOST {
            true => Ok(()),
            false => Err(Cause::TooMany { what: "monitors", most: MOST }.into()),
        })
    }

    fn find(&self, id: &str) -> Result<Arc<Followed>, Failure> {
        let missing = |there| Cause::NoSuchMonitor { id: id.to_owned(), there }.into();
        self.0.find(id).map_err(missing)
    }

    /// Follows none of them any more.
    pub(super) async fn end(&self) {
        let all = self.0.close();
        for followed in &all {
            followed.stop.cancel();
        }
        for followed in all {
            followed.stopped().await;
        }
    }
}

impl Drop for Monitors {
    fn drop(&mut self) {
        for followed in self.0.close() {
            followed.stop.cancel();
        }
    }
}

impl GoesOn for Followed {
    fn id(&self) -> &str {
        &self.id
    }

    fn device(&self) -> &str {
        &self.device
    }
}

impl Followed {
    /// Has it followed no more, and waits until its file is written.
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

    fn tell(&self) -> Monitor {
        let ended = lock(&self.state.ended).clone();
        let until = ended.as_ref().map_or_else(Instant::now, |(_, at)| *at);
        Monitor {
            id: self.id.clone(),
            filter: self.filter.clone(),
            file: self.file.clone(),
            running: until.saturating_duration_since(self.began),
            entries: self.state.entries.load(Ordering::SeqCst),
            ended: ended.map(|(why, _)| why),
        }
    }
}
