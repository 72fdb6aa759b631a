//! Recordings of the screen that go on from call to call.
//!
//! Begin with [`Session::start_recording`]. A recording is listed from its start until it is stopped: also when its time is
//! over, when it could not be fetched, and while its phone is gone, so that it can be asked for again. Each has a task of
//! its own that waits for its end and carries out the order to stop: a call that is given up half-way leaves nothing half
//! done on the phone.
//!
//! ```text
//! started ──► recording ──(stop)──────────────► stopped ──(fetched, or not wanted)──► forgotten
//!                 │ its time is over, the phone        ▲  ▲
//!                 │ ends it, or the phone is lost      │  └──(not fetched)── listed, to be stopped again
//!                 └──────────► over ───────(stop)──────┘
//! ```

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::join_all;
use thumbwire_device::{Error, Recording, RecordingWish, Size};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout, timeout_at};

use super::going::{GoesOn, Going, Place};
use super::saving::{Content, STORAGE, Wanted, until};
use super::{Course, Known, Session, lock};
use crate::action::{Call, Cause, Failure, Fetched, Outcome, Recorded};

/// How many may be under way at once (facts: seed 003's server).
const MOST: usize = 5;

/// How many are listed, with those that are over and were never asked for again.
const MOST_LISTED: usize = 25;

/// How long a recording may take, in seconds (facts: seed 003's server).
const SECONDS: std::ops::RangeInclusive<u64> = 1..=600;

/// One that ends so long before its time did not end by that.
const EARLY: Duration = Duration::from_secs(1);

/// How long a phone may take to end a recording, before its task gives up waiting.
const STOPPING: Duration = Duration::from_secs(30);

/// The recordings of a session.
#[derive(Default)]
pub(super) struct Recordings(Going<Kept>);

/// One recording.
struct Kept {
    id: String,
    device: String,
    name: String,
    on_phone: String,
    lasting: Duration,
    bit_rate: Option<u32>,
    size: Option<Size>,
    process: u32,
    warnings: Vec<String>,
    began: Instant,
    over: Arc<Mutex<Option<Over>>>,
    /// Orders to stop, with the port to answer on.
    orders: mpsc::Sender<oneshot::Sender<Result<(), Error>>>,
    /// Whoever stops it has this turn, and with it the task that fetches it, once there is one.
    stopping: tokio::sync::Mutex<JoinSet<Fetched>>,
}

/// When a recording ended.
#[derive(Clone, Copy)]
struct Over {
    at: Instant,
    by_itself: bool,
}

/// What a recording is begun with.
pub(super) struct Wish {
    pub(super) name: Option<String>,
    pub(super) lasting: Duration,
    pub(super) bit_rate: Option<u32>,
    pub(super) size: Option<Size>,
}

impl Session {
    /// Begins a recording.
    pub(super) async fn start_recording(
        &self,
        call: &Call,
        wish: Wish,
        course: &Course,
    ) -> Result<Outcome, Failure> {
        let (first, last) = (*SECONDS.start(), *SECONDS.end());
        if wish.lasting < Duration::from_secs(first) || wish.lasting > Duration::from_secs(last) {
            let why = format!("a recording takes {first} to {last} seconds");
            return Err(Cause::InvalidArgument { why }.into());
        }
        let name = self.saving.name(wish.name, Content::Video)?;
        let attached = self.attached(call, course).await?;
        let id = format!("{}_{name}", attached.id());
        let _place = self.recordings.place(&id)?;
        let on_phone = format!("{STORAGE}/{name}");
        let asked = RecordingWish {
            path: on_phone.clone(),
            lasting: wish.lasting,
            bit_rate: wish.bit_rate,
            size: wish.size,
        };
        // It records already while it is watched whether it does.
        let began = Instant::now();
        let recording = attached.device.record(&asked).await;
        let recording = recording.map_err(|error| attached.failed(&error))?;
        let lasting = recording.lasting().min(wish.lasting);
        let mut warnings = Vec::new();
        if lasting < wish.lasting {
            let (lasting, wish) = (lasting.as_secs(), wish.lasting.as_secs());
            warnings.push(format!(
                "this phone records for {lasting} s at most, not for the {wish} s that were asked for"
            ));
        }
        let over = Arc::default();
        let process = recording.process();
        let (orders, taken) = mpsc::channel(1);
        tokio::spawn(attend(recording, Arc::clone(&over), taken));
        let kept = Arc::new(Kept {
            id,
            device: attached.id().to_owned(),
            name,
            on_phone,
            lasting,
            bit_rate: wish.bit_rate,
            size: wish.size,
            process,
            warnings,
            began,
            over,
            orders,
            stopping: tokio::sync::Mutex::default(),
        });
        let told = kept.tell();
        // Where the session has ended it is dropped, and ended by its device as well as that can be done.
        self.recordings.0.add(kept)?;
        Ok(Outcome::Recording(told))
    }

    /// Ends one recording, or all of the phone that the call is for, or all.
    pub(super) async fn stop_recording(
        &self,
        call: &Call,
        wanted: Option<String>,
        fetch: bool,
        course: &Course,
    ) -> Result<Outcome, Failure> {
        let (asked, until) = (Instant::now(), until(call));
        if let Some(id) = wanted {
            let kept = self.recordings.find(&id)?;
            // So that a phone that keeps silent is asked whether it is still there, once the time is over.
            let _ = course.phone.set(kept.device.clone());
            if let Some(attached) = lock(&self.known).get(&kept.device).and_then(Known::attached) {
                let _ = course.attached.set(attached);
            }
            return self.stop_one(&kept, fetch, until).await.map(Outcome::Recording);
        }
        let all = self.recordings.0.of(call.device.as_deref());
        let stopping = all.iter().map(async |kept| {
            let stopped = match timeout_at(until, self.stop_one(kept, fetch, until)).await {
                // Somebody else was faster, and is told of it.
                Ok(Err(Failure { cause: Cause::NoSuchRecording { .. }, .. })) => return None,
                Ok(stopped) => stopped,
                Err(_) => {
                    let what = format!("stop recording {}", kept.id);
                    Err(Cause::TimedOut { what, after: asked.elapsed() }.into())
                }
            };
            // What one phone does not do must not hide what the others did.
            Some(stopped.unwrap_or_else(|failure| {
                let unstopped = Some(failure.cause.to_string());
                Recorded { unstopped, ..kept.tell() }
            }))
        });
        let stopped = join_all(stopping).await;
        Ok(Outcome::Recordings(stopped.into_iter().flatten().collect()))
    }

    /// Those that are listed.
    pub(super) fn list_recordings(&self, call: &Call) -> Outcome {
        let all = self.recordings.0.of(call.device.as_deref());
        Outcome::Recordings(all.iter().map(|kept| kept.tell()).collect())
    }

    async fn stop_one(
        &self,
        kept: &Arc<Kept>,
        fetch: bool,
        until: Instant,
    ) -> Result<Recorded, Failure> {
        let mut fetching = kept.stopping.lock().await;
        // Somebody else may have stopped it while this waited.
        self.recordings.find(&kept.id)?;
        let lost = match kept.stop().await {
            Ok(()) => None,
            Err(Error::NotConnected { why, .. }) => Some(why),
            Err(error) => {
                // One that may go on stays: it is stopped again, or ended with the session.
                if matches!(error, Error::Failed { .. }) || kept.orders.is_closed() {
                    self.recordings.0.forget(kept);
                }
                return Err(Failure::of_device(&kept.device, &error));
            }
        };
        if lost.is_some() {
            kept.is_over(false);
        }
        let mut told = kept.tell();
        if let Some(why) = &lost {
            // Where the phone is still gone that is what is told, and the recording stays.
            self.reach(&kept.device).await?;
            told.warnings.push(format!("the phone was lost while it recorded: {why}"));
        }
        if fetch {
            let fetched = self.fetch_recording(kept, &mut fetching, until).await;
            if fetched.is_ok() {
                self.recordings.0.forget(kept);
            }
            told.here = Some(fetched.map_err(|why| {
                format!("{why}; the recording stays listed: stop it again to fetch it, or without fetching to be rid of it")
            }));
        } else {
            self.recordings.0.forget(kept);
        }
        Ok(told)
    }

    /// Has it fetched by a task of its own, since a long one takes longer than a call: what an earlier call began goes on.
    async fn fetch_recording(
        &self,
        kept: &Kept,
        fetching: &mut JoinSet<Fetched>,
        until: Instant,
    ) -> Fetched {
        let coming = || Err(format!("it is still coming from the phone: {}", kept.on_phone));
        if !fetching.is_empty() {
            match timeout_at(until, fetching.join_next()).await {
                Ok(Some(Ok(Ok(here)))) => return Ok(here),
                // It may have been cut off with its connection.
                Ok(_) => {}
                Err(_) => return coming(),
            }
        }
        let device = match timeout_at(until, self.reach(&kept.device)).await {
            Ok(Ok(device)) => device,
            Ok(Err(failure)) => return Err(failure.cause.to_string()),
            Err(_) => return Err("the phone does not answer".into()),
        };
        let (from, name) = (kept.on_phone.clone(), kept.name.clone());
        *fetching = self.saving.fetching(device, Wanted { from, name, content: Content::Video });
        match timeout_at(until, fetching.join_next()).await {
            Ok(Some(Ok(fetched))) => fetched,
            Ok(None | Some(Err(_))) => Err("fetching it was given up".into()),
            Err(_) => coming(),
        }
    }
}

impl Recordings {
    /// Keeps a place for a recording that is being started.
    fn place(&self, id: &str) -> Result<Place<'_, Kept>, Failure> {
        self.0.place(id, |all, starting| {
            // A phone's storage takes `A.mp4` and `a.mp4` for one file (sdcardfs, and FUSE since Android 11, fold case).
            let taken = |other: &str| other.to_lowercase() == id.to_lowercase();
            if starting.iter().any(|other| taken(other)) || all.iter().any(|kept| taken(&kept.id)) {
                let why = format!(
                    "there is a recording {id} already; stop it first, or choose another name"
                );
                return Err(Cause::Refused { why }.into());
            }
            let running = all.iter().filter(|kept| lock(&kept.over).is_none()).count();
            let starting = starting.len();
            match running + starting < MOST && all.len() + starting < MOST_LISTED {
                true => Ok(()),
                false => Err(Cause::TooMany { what: "recordings", most: MOST }.into()),
            }
        })
    }

    fn find(&self, id: &str) -> Result<Arc<Kept>, Failure> {
        let missing = |there| Cause::NoSuchRecording { id: id.to_owned(), there }.into();
        self.0.find(id).map_err(missing)
    }

    /// Ends all that are under way. What they have recorded stays on the phones.
    pub(super) async fn end(&self) {
        let mut ending = JoinSet::new();
        for kept in self.0.close() {
            ending.spawn(async move {
                match kept.stop().await {
                    Ok(()) => tracing::info!("{} stays on {}", kept.on_phone, kept.device),
                    Err(error) => tracing::warn!("recording {}: {error}", kept.id),
                }
            });
        }
        ending.join_all().await;
    }
}

impl GoesOn for Kept {
    fn id(&self) -> &str {
        &self.id
    }

    fn device(&self) -> &str {
        &self.device
    }
}

impl Kept {
    /// Has it ended, and waits for that. Asked again, it is at once.
    async fn stop(&self) -> Result<(), Error> {
        let gone = || Error::NotReady {
            what: "stop the recording",
            said: "whoever attends to it is gone".into(),
        };
        let (reply, answer) = oneshot::channel();
        self.orders.send(reply).await.map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }

    fn tell(&self) -> Recorded {
        let over = *lock(&self.over);
        let until = over.map_or_else(Instant::now, |over| over.at);
        let running = until.saturating_duration_since(self.began);
        let mut warnings = self.warnings.clone();
        if over.is_some_and(|over| over.by_itself) {
            let seconds = running.as_secs_f64();
            let early =
                if running + EARLY < self.lasting { ", or with its connection," } else { "" };
            warnings.push(format!("it ended by itself{early} after {seconds:.1} s"));
        }
        Recorded {
            id: self.id.clone(),
            name: self.name.clone(),
            on_phone: self.on_phone.clone(),
            running,
            lasting: self.lasting,
            bit_rate: self.bit_rate,
            size: self.size,
            process: self.process,
            warnings,
            unstopped: None,
            here: None,
        }
    }

    /// Notes that it has ended, and whether nobody else ended it.
    fn is_over(&self, by_itself: bool) {
        let mut over = lock(&self.over);
        let at = over.map_or_else(Instant::now, |over| over.at);
        *over = Some(Over { at, by_itself });
    }
}

/// Waits for the end of a recording, and ends it when it is ordered to, until nobody can order it any more.
async fn attend(
    mut recording: Box<dyn Recording>,
    over: Arc<Mutex<Option<Over>>>,
    mut orders: mpsc::Receiver<oneshot::Sender<Result<(), Error>>>,
) {
    loop {
        let running = lock(&over).is_none();
        let order = tokio::select! {
            biased;
            order = orders.recv() => order,
            () = recording.ended(), if running => {
                lock(&over).get_or_insert(Over { at: Instant::now(), by_itself: true });
                continue;
            }
        };
        let Some(reply) = order else { return };
        let said = || format!("no answer within {STOPPING:?}");
        let stopped = match timeout(STOPPING, recording.stop()).await {
            Ok(stopped) => stopped,
            Err(_) => Err(Error::NotReady { what: "stop the recording", said: said() }),
        };
        if matches!(stopped, Ok(()) | Err(Error::Failed { .. })) {
            lock(&over).get_or_insert(Over { at: Instant::now(), by_itself: false });
        }
        let _ = reply.send(stopped);
    }
}
