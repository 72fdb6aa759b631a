//! Screen recordings that outlive a call.
//!
//! Start with [`SessionCall::start_recording`]. A recording stays listed from its start until it is
//! stopped, even after its time is up, if it could not be fetched, or while its phone is gone, so
//! it can be asked for again. Each has its own task that waits for its end and handles stop orders:
//! a cancelled call leaves nothing half done on the phone. A recording belongs to the client that
//! started it: no other client can list, stop or fetch it, and it is stopped when its client
//! leaves.
//!
//! ```text
//! started ──► recording ──(stop)──────────────► stopped ──(fetched, or not wanted)──► removed
//!                 │ time is up, the phone              ▲  ▲
//!                 │ ends it, or the phone is lost      │  └──(not fetched)── listed, to be stopped again
//!                 └──────────► ended ──────(stop)──────┘
//! ```

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::join_all;
use thumbwire_base::lock;
use thumbwire_device::{Error, Recording, RecordingOptions, Size};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout, timeout_at};

use super::SessionCall;
use super::jobs::{BackgroundJob, JobRegistry, JobSlot};
use super::leasing::LeaseHold;
use super::local_files::{FetchRequest, MediaKind, STORAGE, until};
use crate::action::{Cause, ClientId, Failure, FetchResult, Outcome, RecordingInfo, check_name};

/// How many of one client may be active at once (Android MCP server limit).
const MAX_ACTIVE: usize = 5;

/// How many of one client are listed, including ended ones that nobody stopped.
const MAX_LISTED: usize = 25;

/// How long a recording may take, in seconds (Android MCP server limit).
const SECONDS: std::ops::RangeInclusive<u64> = 1..=600;

/// A recording that ends this much early did not end because its time was up.
const EARLY: Duration = Duration::from_secs(1);

/// How long a phone may take to end a recording before its task gives up.
const STOPPING: Duration = Duration::from_secs(30);

/// How long a phone may take to tell of recordings that a killed program has left.
const LOOKING: Duration = Duration::from_secs(4);

/// The recordings of a session.
#[derive(Default)]
pub(super) struct Recordings(pub(super) JobRegistry<RecordingJob>);

/// One recording.
pub(super) struct RecordingJob {
    id: String,
    client: ClientId,
    device: String,
    name: String,
    on_phone: String,
    duration: Duration,
    bit_rate: Option<u32>,
    size: Option<Size>,
    process: u32,
    warnings: Vec<String>,
    began: Instant,
    over: Arc<Mutex<Option<RecordingEnd>>>,
    /// Stop orders, each with a channel for the reply.
    orders: mpsc::Sender<oneshot::Sender<Result<(), Error>>>,
    /// Locked by the caller that stops it; contains the task that fetches the file, once there is
    /// one.
    stopping: tokio::sync::Mutex<JoinSet<FetchResult>>,
}

/// When a recording ended.
#[derive(Clone, Copy)]
struct RecordingEnd {
    at: Instant,
    by_itself: bool,
}

/// The options of a new recording.
pub(super) struct RecordingRequest {
    pub(super) name: Option<String>,
    pub(super) duration: Duration,
    pub(super) bit_rate: Option<u32>,
    pub(super) size: Option<Size>,
}

impl SessionCall<'_> {
    /// Starts a recording.
    pub(super) async fn start_recording(
        &self,
        request: RecordingRequest,
    ) -> Result<Outcome, Failure> {
        let (first, last) = (*SECONDS.start(), *SECONDS.end());
        if request.duration < Duration::from_secs(first)
            || request.duration > Duration::from_secs(last)
        {
            let reason =
                format!("the recording time limit must be between {first} and {last} seconds");
            return Err(Cause::InvalidArgument { reason }.into());
        }
        let name = self.session.files.name(request.name, MediaKind::Video)?;
        let attached = self.attached().await?;
        let id = format!("{}_{name}", attached.id());
        let slot = self.session.recordings.reserve(&id, &self.call.client)?;
        let on_phone = format!("{STORAGE}/{name}");
        let asked = RecordingOptions {
            path: on_phone.clone(),
            time_limit: request.duration,
            bit_rate: request.bit_rate,
            size: request.size,
        };
        // It is already recording while we check that it does.
        let began = Instant::now();
        let hold = self.session.connections.leases.hold(attached.id(), self.call)?;
        let beginning = async { attached.device.screen_recording()?.start_recording(&asked).await };
        let recording = beginning.await.map_err(|error| attached.failed(&error))?;
        let duration = recording.time_limit().min(request.duration);
        let mut warnings = Vec::new();
        if duration < request.duration {
            let (duration, request) = (duration.as_secs(), request.duration.as_secs());
            warnings.push(format!(
                "this phone records for at most {duration} s, not the requested {request} s"
            ));
        }
        let job = self.job(id, name, (recording, hold), None);
        let job = Arc::new(RecordingJob {
            device: attached.id().to_owned(),
            duration,
            bit_rate: request.bit_rate,
            size: request.size,
            warnings,
            began,
            ..job
        });
        let out = job.info();
        // If the session has ended or its client has left, the recording is dropped here and its
        // device tries to end it.
        self.session.recordings.0.add(&slot, job)?;
        Ok(Outcome::Recording(out))
    }

    /// A recording of the call's client, with the task that attends to it.
    fn job(
        &self,
        id: String,
        name: String,
        (recording, hold): (Box<dyn Recording>, Option<LeaseHold>),
        over: Option<RecordingEnd>,
    ) -> RecordingJob {
        let over = Arc::new(Mutex::new(over));
        let (process, duration) = (recording.process(), recording.time_limit());
        let (orders, taken) = mpsc::channel(1);
        tokio::spawn(attend(recording, hold, Arc::clone(&over), taken));
        RecordingJob {
            id,
            client: self.call.client.clone(),
            device: String::new(),
            on_phone: format!("{STORAGE}/{name}"),
            name,
            duration,
            bit_rate: None,
            size: None,
            process,
            warnings: Vec::new(),
            began: Instant::now(),
            over,
            orders,
            stopping: tokio::sync::Mutex::default(),
        }
    }

    /// Stops one recording of the call's client, all on the phone that the call is for, or all.
    pub(super) async fn stop_recording(
        &self,
        wanted: Option<String>,
        fetch: bool,
    ) -> Result<Outcome, Failure> {
        let (asked, until) = (Instant::now(), until(self.call));
        if let Some(id) = wanted {
            let job = self.session.recordings.find(&id, &self.call.client)?;
            // So that a silent phone is probed when the time is up.
            let _ = self.device_id.set(job.device.clone());
            if let Some(attached) = self.session.connections.get(&job.device) {
                let _ = self.attached.set(attached);
            }
            let stopped = self.stop_one(&job, fetch, until).await?;
            return Ok(Outcome::Recordings(vec![stopped]));
        }
        self.adopt_left().await;
        let all = self.session.recordings.0.of(self.call);
        let stopping = all.iter().map(async |job| {
            let stopped = match timeout_at(until, self.stop_one(job, fetch, until)).await {
                // Another caller stopped and reported it first.
                Ok(Err(Failure { cause: Cause::NoSuchRecording { .. }, .. })) => return None,
                Ok(stopped) => stopped,
                Err(_) => {
                    let what = format!("stop recording {}", job.id);
                    Err(Cause::TimedOut { what, after: asked.elapsed() }.into())
                }
            };
            // One phone's failure must not hide what the others did.
            Some(stopped.unwrap_or_else(|failure| {
                let unstopped = Some(failure.cause.to_string());
                RecordingInfo { unstopped, ..job.info() }
            }))
        });
        let stopped = join_all(stopping).await;
        Ok(Outcome::Recordings(stopped.into_iter().flatten().collect()))
    }

    /// The listed recordings of the call's client.
    pub(super) async fn list_recordings(&self) -> Outcome {
        self.adopt_left().await;
        let all = self.session.recordings.0.of(self.call);
        Outcome::Recordings(all.iter().map(|job| job.info()).collect())
    }

    /// Lists what a killed program was recording on the phone, for the client that asks and has no
    /// recording: nobody else knows of it. A phone that does not answer has nothing to list.
    async fn adopt_left(&self) {
        if !self.session.recordings.0.of(self.call).is_empty() {
            return;
        }
        let looking = async {
            let attached = self.attached().await?;
            let left = attached.device.screen_recording();
            let left = match left {
                Ok(capture) => capture.left_recordings().await,
                Err(_) => Ok(Vec::new()),
            };
            left.map(|left| (attached, left)).map_err(|error| attached.failed(&error))
        };
        let Ok(Ok((attached, left))) = timeout(LOOKING, looking).await else { return };
        for (on_phone, recording) in left {
            let name = on_phone.strip_prefix(STORAGE).and_then(|name| name.strip_prefix('/'));
            let Some(name) = name.filter(|name| check_name(name).is_ok()) else { continue };
            let id = format!("{}_{name}", attached.id());
            // Its name is taken if it is ours: its phone was gone when it ended.
            let Ok(slot) = self.session.recordings.reserve(&id, &self.call.client) else {
                continue;
            };
            let over = Some(RecordingEnd { at: Instant::now(), by_itself: false });
            let job = self.job(id, name.to_owned(), (recording, None), over);
            let job = RecordingJob {
                device: attached.id().to_owned(),
                warnings: vec!["a program that was killed had started it".into()],
                ..job
            };
            let _ = self.session.recordings.0.add(&slot, Arc::new(job));
        }
    }

    async fn stop_one(
        &self,
        job: &Arc<RecordingJob>,
        fetch: bool,
        until: Instant,
    ) -> Result<RecordingInfo, Failure> {
        // Its lease has ended with the recording's time: another client may act on the phone now.
        self.session.connections.leases.check(&job.device, &self.call.client)?;
        let mut fetching = job.stopping.lock().await;
        // Another caller may have stopped it while this one waited.
        self.session.recordings.find(&job.id, &self.call.client)?;
        let lost = match job.stop_recording().await {
            Ok(()) => None,
            Err(Error::NotConnected { reason, .. }) => Some(reason),
            Err(error) => {
                // If it may still be running, keep it: it can be stopped again, or ends with the
                // session.
                if matches!(error, Error::Failed { .. }) || job.orders.is_closed() {
                    self.session.recordings.0.forget(job);
                }
                return Err(Failure::of_device(&job.device, &error));
            }
        };
        if lost.is_some() {
            job.is_over(false);
        }
        let mut out = job.info();
        if let Some(reason) = &lost {
            // If the phone is still gone, report that and keep the recording.
            self.session.reach(&job.device).await?;
            out.warnings.push(format!("the phone was disconnected while recording: {reason}"));
        }
        if fetch {
            let fetched = self.fetch_recording(job, &mut fetching, until).await;
            if fetched.is_ok() {
                self.session.recordings.0.forget(job);
            }
            out.local_file = Some(fetched.map_err(|reason| {
                format!("{reason}; the recording stays listed: stop it again to fetch it, or stop it without fetching to discard it")
            }));
        } else {
            self.session.recordings.0.forget(job);
        }
        Ok(out)
    }

    /// Fetches in a separate task, since a long recording takes longer than a call: a fetch that an
    /// earlier call began continues.
    async fn fetch_recording(
        &self,
        job: &RecordingJob,
        fetching: &mut JoinSet<FetchResult>,
        until: Instant,
    ) -> FetchResult {
        let coming =
            || Err(format!("the file is still being transferred from the phone: {}", job.on_phone));
        if !fetching.is_empty() {
            match timeout_at(until, fetching.join_next()).await {
                Ok(Some(Ok(Ok(here)))) => return Ok(here),
                // The fetch may have failed with its connection.
                Ok(_) => {}
                Err(_) => return coming(),
            }
        }
        let device = match timeout_at(until, self.session.reach(&job.device)).await {
            Ok(Ok(device)) => device,
            Ok(Err(failure)) => return Err(failure.cause.to_string()),
            Err(_) => return Err("the phone does not answer".into()),
        };
        let (from, name) = (job.on_phone.clone(), job.name.clone());
        *fetching = self
            .session
            .files
            .fetching(device, FetchRequest { from, name, content: MediaKind::Video });
        match timeout_at(until, fetching.join_next()).await {
            Ok(Some(Ok(fetched))) => fetched,
            Ok(None | Some(Err(_))) => Err("the transfer was aborted".into()),
            Err(_) => coming(),
        }
    }
}

impl Recordings {
    /// Reserves a slot for a new recording of this client.
    fn reserve(&self, id: &str, client: &ClientId) -> Result<JobSlot<'_, RecordingJob>, Failure> {
        self.0.reserve(id, client, |table| {
            // Phone storage is case-insensitive: `A.mp4` and `a.mp4` are one file (sdcardfs, and
            // FUSE since Android 11).
            let is_taken = |other: &str| other.to_lowercase() == id.to_lowercase();
            if table.starting.keys().any(|other| is_taken(other))
                || table.jobs.iter().any(|job| is_taken(&job.id))
            {
                let reason = format!(
                    "a recording {id} already exists; stop it first, or choose another name"
                );
                return Err(Cause::Refused { reason }.into());
            }
            let starting = table.starting.values().filter(|starter| *starter == client).count();
            let own: Vec<_> = table.jobs.iter().filter(|job| job.client == *client).collect();
            let active = own.iter().filter(|job| lock(&job.over).is_none()).count();
            match active + starting < MAX_ACTIVE && own.len() + starting < MAX_LISTED {
                true => Ok(()),
                false => {
                    Err(Cause::TooManyActive { what: "recordings".into(), max: MAX_ACTIVE }.into())
                }
            }
        })
    }

    fn find(&self, id: &str, client: &ClientId) -> Result<Arc<RecordingJob>, Failure> {
        let missing = |known| Cause::NoSuchRecording { id: id.to_owned(), known }.into();
        self.0.find(id, client).map_err(missing)
    }
}

impl BackgroundJob for RecordingJob {
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
        match self.stop_recording().await {
            Ok(()) => tracing::info!("kept {} on {}", self.on_phone, self.device),
            Err(error) => tracing::warn!("recording {}: {error}", self.id),
        }
    }
}

impl RecordingJob {
    /// Stops it and waits for that. Returns at once if it was stopped before.
    async fn stop_recording(&self) -> Result<(), Error> {
        let gone = || Error::NotReady {
            what: "stop the recording",
            text: "its background task has ended".into(),
        };
        let (reply, answer) = oneshot::channel();
        self.orders.send(reply).await.map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }

    fn info(&self) -> RecordingInfo {
        let over = *lock(&self.over);
        let until = over.map_or_else(Instant::now, |over| over.at);
        let running = until.saturating_duration_since(self.began);
        let mut warnings = self.warnings.clone();
        if over.is_some_and(|over| over.by_itself) {
            let seconds = running.as_secs_f64();
            let early =
                if running + EARLY < self.duration { " or lost its connection" } else { "" };
            warnings.push(format!("the recording ended by itself{early} after {seconds:.1} s"));
        }
        RecordingInfo {
            id: self.id.clone(),
            name: self.name.clone(),
            on_phone: self.on_phone.clone(),
            running,
            duration: self.duration,
            bit_rate: self.bit_rate,
            size: self.size,
            process: self.process,
            warnings,
            unstopped: None,
            local_file: None,
        }
    }

    /// Marks it as ended, and whether it ended by itself.
    fn is_over(&self, by_itself: bool) {
        let mut over = lock(&self.over);
        let at = over.map_or_else(Instant::now, |over| over.at);
        *over = Some(RecordingEnd { at, by_itself });
    }
}

/// Waits for the end of a recording and stops it on request, until nobody can request it any more.
/// Holds the phone's lease until the end.
async fn attend(
    mut recording: Box<dyn Recording>,
    mut hold: Option<LeaseHold>,
    over: Arc<Mutex<Option<RecordingEnd>>>,
    mut orders: mpsc::Receiver<oneshot::Sender<Result<(), Error>>>,
) {
    loop {
        let running = lock(&over).is_none();
        if !running {
            drop(hold.take());
        }
        let order = tokio::select! {
            biased;
            order = orders.recv() => order,
            () = recording.wait(), if running => {
                lock(&over).get_or_insert(RecordingEnd { at: Instant::now(), by_itself: true });
                continue;
            }
        };
        let Some(reply) = order else { return };
        let output = || format!("no answer within {STOPPING:?}");
        let stopped = match timeout(STOPPING, recording.stop()).await {
            Ok(stopped) => stopped,
            Err(_) => Err(Error::NotReady { what: "stop the recording", text: output() }),
        };
        if matches!(stopped, Ok(()) | Err(Error::Failed { .. })) {
            lock(&over).get_or_insert(RecordingEnd { at: Instant::now(), by_itself: false });
        }
        let _ = reply.send(stopped);
    }
}
