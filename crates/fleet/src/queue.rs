//! The queue of runs: one program submits the cases of a run, workers on any computer run them.
//!
//! Start with [`RunQueue::open`]. A **run** is a request that its submitter and its workers
//! understand, files, and **jobs**: cases that one worker runs one after the other. A job stays in
//! a work queue of JetStream until its results are written ([`work`]). A worker that falls silent
//! loses it to another one, which begins it again: jobs run at least once. A result is written
//! once: a worker that comes second finds that of the first.
//!
//! Everything ends by itself after a week.

mod job;
mod worker;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::time::Duration;

use async_nats::HeaderMap;
use async_nats::jetstream::consumer::{AckPolicy, PullConsumer, pull};
use async_nats::jetstream::kv::{self, CreateErrorKind, Operation};
use async_nats::jetstream::object_store::{self, ObjectStore};
use async_nats::jetstream::stream::{self, RetentionPolicy, Stream};
use bytes::Bytes;
use futures::StreamExt as _;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::io::AsyncReadExt as _;
use tokio::time::{Instant, sleep, timeout};

use crate::connection::{ConnectError, Connection};
use crate::registry::VERSION;
pub use job::{CaseHistory, Job, MAX_DELIVERIES, Priority, RunRecord, Submission};
pub use worker::{JobEnd, RunJob, TakenJob, work};

/// The stream of jobs, whose subjects are `thumbwire.job.PRIORITY.RUN`.
const JOBS: &str = "thumbwire_jobs";
const JOB_SUBJECT: &str = "thumbwire.job";

/// Where a worker says what happens: `thumbwire.run.RUN`.
const EVENT_SUBJECT: &str = "thumbwire.run";

/// What is said there of a run that was cancelled.
const CANCELLED: &str = "cancelled";

/// The buckets: of runs by id, of results by `RUN.CASE`, and of how cases ended before.
const RUNS: &str = "thumbwire_runs";
const RESULTS: &str = "thumbwire_results";
const HISTORY: &str = "thumbwire_history";

/// The store of what runs need and leave.
const FILES: &str = "thumbwire_files";

/// How long runs, their results and their files are kept.
const KEPT: Duration = Duration::from_secs(7 * 24 * 3600);

/// How long it is kept how cases ended.
const HISTORY_KEPT: Duration = Duration::from_secs(90 * 24 * 3600);

/// After which time without a word a worker loses its job.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long something is tried again while NATS is gone, and how often.
const RETRYING: Duration = Duration::from_secs(60);
const RETRY: Duration = Duration::from_millis(300);

/// After which time without news the results are read again: a watch may have ended unseen.
const NEWS: Duration = Duration::from_secs(10);

/// The queue. Clones share it.
#[derive(Clone)]
pub struct RunQueue {
    connection: Connection,
    jobs: Stream,
    runs: kv::Store,
    results: kv::Store,
    history: kv::Store,
    files: ObjectStore,
    patience: Duration,
}

/// Something that the queue could not do.
#[derive(Debug, thiserror::Error)]
#[error("cannot {what}: {reason}")]
pub struct QueueError {
    what: String,
    reason: String,
}

/// What happens to a run.
#[derive(Debug)]
pub enum RunNews {
    /// The result of a case.
    Result(usize, Value),
    /// A worker says something.
    Event(Value),
    /// It was cancelled: what has no result gets none.
    Cancelled,
}

impl RunQueue {
    /// The queue of this fleet, which is made if there is none.
    ///
    /// # Errors
    /// If JetStream cannot be used.
    pub async fn open(connection: &Connection) -> Result<Self, ConnectError> {
        Self::with_patience(connection, PATIENCE).await
    }

    /// The same; a worker that says nothing for so long loses its job.
    ///
    /// # Errors
    /// As [`RunQueue::open`].
    pub async fn with_patience(
        connection: &Connection,
        patience: Duration,
    ) -> Result<Self, ConnectError> {
        let unusable = |error: &dyn Display| ConnectError::NoJetStream {
            url: connection.address(),
            reason: error.to_string(),
        };
        let config = stream::Config {
            name: JOBS.to_owned(),
            subjects: vec![format!("{JOB_SUBJECT}.*.*")],
            retention: RetentionPolicy::WorkQueue,
            max_age: KEPT,
            ..stream::Config::default()
        };
        let jobs = connection.jetstream.get_or_create_stream(config).await;
        let jobs = jobs.map_err(|error| unusable(&error))?;
        let config = object_store::Config {
            bucket: FILES.to_owned(),
            max_age: KEPT,
            ..object_store::Config::default()
        };
        let files = match connection.jetstream.get_object_store(FILES).await {
            Ok(files) => files,
            Err(_) => {
                let made = connection.jetstream.create_object_store(config).await;
                made.map_err(|error| unusable(&error))?
            }
        };
        Ok(Self {
            connection: connection.clone(),
            jobs,
            runs: connection.bucket(RUNS, KEPT).await?,
            results: connection.bucket(RESULTS, KEPT).await?,
            history: connection.bucket(HISTORY, HISTORY_KEPT).await?,
            files,
            patience,
        })
    }

    /// Submits a run. Returns its id.
    ///
    /// # Errors
    /// If NATS does not take it.
    pub async fn submit(&self, submission: Submission) -> Result<String, QueueError> {
        let id = new_id();
        let Submission { request, files, jobs, priority } = submission;
        for (name, content) in &files {
            self.put_file(&id, name, content.clone()).await?;
        }
        let cases = jobs.iter().map(|job| job.cases.len()).sum();
        let version = VERSION.to_owned();
        let record = RunRecord { version, request, cases, is_cancelled: false };
        self.put_record(&id, &record).await?;
        for (number, job) in jobs.into_iter().enumerate() {
            let job = json(&Job { run: id.clone(), ..job })?;
            let subject = format!("{JOB_SUBJECT}.{}.{id}", priority.name());
            // The server drops a second message with the id: a job may be sent again.
            let message_id = format!("{id}-{number}");
            again("submit a job", || async {
                let mut headers = HeaderMap::new();
                headers.insert("Nats-Msg-Id", message_id.as_str());
                let subject = subject.clone();
                let jetstream = &self.connection.jetstream;
                let sent = jetstream.publish_with_headers(subject, headers, job.clone()).await;
                match sent {
                    Ok(confirmed) => confirmed.await.map(drop),
                    Err(error) => Err(error),
                }
            })
            .await?;
        }
        Ok(id)
    }

    /// The record of a run; `None` if there is none of this id.
    ///
    /// # Errors
    /// If NATS does not answer.
    pub async fn run(&self, id: &str) -> Result<Option<RunRecord>, QueueError> {
        let what = format!("read the run {id}");
        let found = again(&what, || self.runs.get(id)).await?;
        found.map(|bytes| read(&what, &bytes)).transpose()
    }

    /// Cancels a run: jobs that wait leave the queue, workers stop those that run. Returns whether
    /// there is one of this id.
    ///
    /// # Errors
    /// If NATS does not answer.
    pub async fn cancel(&self, id: &str) -> Result<bool, QueueError> {
        let Some(record) = self.run(id).await? else { return Ok(false) };
        self.put_record(id, &RunRecord { is_cancelled: true, ..record }).await?;
        for priority in Priority::ALL {
            let subject = format!("{JOB_SUBJECT}.{}.{id}", priority.name());
            again("clear the queue", || self.jobs.purge().filter(&subject).into_future()).await?;
        }
        // Those who follow it look at once.
        self.tell(id, &Value::String(CANCELLED.to_owned())).await;
        Ok(true)
    }

    /// Tells what happens to a run, from its beginning, until all of its cases have a result or it
    /// is cancelled.
    ///
    /// # Errors
    /// If the run does not exist, or NATS does not answer.
    pub async fn follow(&self, id: &str, mut tell: impl FnMut(RunNews)) -> Result<(), QueueError> {
        let what = format!("follow the run {id}");
        let missing = || QueueError { what: what.clone(), reason: "there is none".into() };
        let subject = format!("{EVENT_SUBJECT}.{id}");
        let events = self.connection.client.subscribe(subject).await;
        let mut events =
            events.map_err(|error| QueueError { what: what.clone(), reason: error.to_string() })?;
        let mut seen = BTreeSet::new();
        loop {
            let record = self.run(id).await?.ok_or_else(missing)?;
            let key = format!("{id}.*");
            let watch = again(&what, || self.results.watch_with_history(&key)).await?;
            let mut watch = watch;
            loop {
                if seen.len() >= record.cases {
                    return Ok(());
                }
                if record.is_cancelled && watch_is_read(&mut watch, &mut seen, &mut tell).await {
                    tell(RunNews::Cancelled);
                    return Ok(());
                }
                let entry = tokio::select! {
                    biased;
                    Some(event) = events.next() => {
                        match serde_json::from_slice::<Value>(&event.payload) {
                            Ok(event) if event == CANCELLED => break,
                            Ok(event) => tell(RunNews::Event(event)),
                            Err(_) => {}
                        }
                        continue;
                    }
                    entry = timeout(NEWS, watch.next()) => entry,
                };
                let Ok(Some(Ok(entry))) = entry else { break };
                take_result(&entry, &mut seen, &mut tell);
            }
        }
    }

    /// Tells those who follow a run something.
    pub async fn tell(&self, run: &str, event: &Value) {
        let subject = format!("{EVENT_SUBJECT}.{run}");
        let sent = self.connection.client.publish(subject, event.to_string().into()).await;
        if let Err(error) = sent {
            tracing::info!("cannot tell what happens to the run {run}: {error}");
        }
    }

    /// Keeps a file of a run.
    ///
    /// # Errors
    /// If NATS does not take it.
    pub async fn put_file(&self, run: &str, name: &str, content: Bytes) -> Result<(), QueueError> {
        let what = format!("keep the file {name}");
        let object = format!("{run}/{name}");
        again(&what, || async { self.files.put(object.as_str(), &mut &*content).await }).await?;
        Ok(())
    }

    /// The content of a file of a run, at most `max` bytes.
    ///
    /// # Errors
    /// If there is none, or it is larger, or NATS does not answer.
    pub async fn file(&self, run: &str, name: &str, max: usize) -> Result<Bytes, QueueError> {
        let what = format!("get the file {name}");
        let failed = |reason: String| QueueError { what: what.clone(), reason };
        let object = format!("{run}/{name}");
        let mut found = again(&what, || self.files.get(&object)).await?;
        if found.info().size > max {
            return Err(failed(format!("it has {} bytes; {max} are allowed", found.info().size)));
        }
        let mut content = Vec::with_capacity(found.info().size);
        found.read_to_end(&mut content).await.map_err(|error| failed(error.to_string()))?;
        Ok(content.into())
    }

    /// How cases ended before, by their names; those that never ran are missing.
    ///
    /// # Errors
    /// If NATS does not answer.
    pub async fn history(
        &self,
        cases: &BTreeSet<String>,
    ) -> Result<BTreeMap<String, CaseHistory>, QueueError> {
        let what = "read how cases ended before";
        let mut known = BTreeMap::new();
        for case in cases {
            let key = job::history_key(case);
            let found = again(what, || self.history.get(&key)).await?;
            if let Some(bytes) = found {
                known.insert(case.clone(), read(what, &bytes)?);
            }
        }
        Ok(known)
    }

    /// Notes how a case ended. Two that end at the same moment may count once.
    ///
    /// # Errors
    /// If NATS does not take it.
    pub async fn note(
        &self,
        case: &str,
        took: Duration,
        was_flaky: bool,
    ) -> Result<(), QueueError> {
        let what = "note how a case ended";
        let key = job::history_key(case);
        let found = again(what, || self.history.get(&key)).await?;
        let before: CaseHistory =
            found.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
        let after = json(&before.with(took, was_flaky))?;
        again(what, || self.history.put(&key, after.clone())).await?;
        Ok(())
    }

    /// Writes the result of a case. Returns whether it had none.
    async fn finish(&self, run: &str, case: usize, result: &Value) -> Result<bool, QueueError> {
        let key = format!("{run}.{case}");
        let json = json(result)?;
        again("write a result", || async {
            match self.results.create(&key, json.clone()).await {
                Ok(_) => Ok(true),
                Err(error) if error.kind() == CreateErrorKind::AlreadyExists => Ok(false),
                Err(error) => Err(error),
            }
        })
        .await
    }

    async fn has_result(&self, run: &str, case: usize) -> Result<bool, QueueError> {
        let key = format!("{run}.{case}");
        let found = again("read a result", || self.results.get(&key)).await?;
        Ok(found.is_some())
    }

    async fn put_record(&self, id: &str, record: &RunRecord) -> Result<(), QueueError> {
        let json = json(record)?;
        again("write the run", || self.runs.put(id, json.clone())).await?;
        Ok(())
    }

    /// Where workers get the jobs of a priority.
    async fn consumer(&self, priority: Priority) -> Result<PullConsumer, QueueError> {
        let name = priority.name();
        again("open the queue", || {
            let config = pull::Config {
                durable_name: Some(name.to_owned()),
                filter_subject: format!("{JOB_SUBJECT}.{name}.*"),
                ack_policy: AckPolicy::Explicit,
                ack_wait: self.patience,
                max_ack_pending: -1,
                ..pull::Config::default()
            };
            self.jobs.create_consumer(config)
        })
        .await
    }
}

/// Reads what is left of a watch's history. Returns `false` if it broke off.
async fn watch_is_read(
    watch: &mut kv::Watch,
    seen: &mut BTreeSet<usize>,
    tell: &mut impl FnMut(RunNews),
) -> bool {
    // An empty history announces nothing.
    while let Ok(entry) = timeout(Duration::from_secs(1), watch.next()).await {
        let Some(Ok(entry)) = entry else { return false };
        take_result(&entry, seen, tell);
        if entry.delta == 0 {
            break;
        }
    }
    true
}

fn take_result(entry: &kv::Entry, seen: &mut BTreeSet<usize>, tell: &mut impl FnMut(RunNews)) {
    let case = entry.key.rsplit('.').next().and_then(|case| case.parse().ok());
    let (Some(case), Operation::Put) = (case, entry.operation) else { return };
    let Ok(result) = serde_json::from_slice(&entry.value) else { return };
    if seen.insert(case) {
        tell(RunNews::Result(case, result));
    }
}

/// Tries something until it succeeds, for a minute.
async fn again<T, E: Display, F: Future<Output = Result<T, E>>>(
    what: &str,
    mut attempt: impl FnMut() -> F,
) -> Result<T, QueueError> {
    let began = Instant::now();
    loop {
        match attempt().await {
            Ok(value) => return Ok(value),
            Err(error) if began.elapsed() < RETRYING => {
                tracing::info!("cannot {what} yet: {error}");
                sleep(RETRY).await;
            }
            Err(error) => {
                return Err(QueueError { what: what.to_owned(), reason: error.to_string() });
            }
        }
    }
}

fn json(value: &impl serde::Serialize) -> Result<Bytes, QueueError> {
    let json = serde_json::to_vec(value);
    json.map(Bytes::from)
        .map_err(|error| QueueError { what: "write JSON".into(), reason: error.to_string() })
}

fn read<T: DeserializeOwned>(what: &str, bytes: &[u8]) -> Result<T, QueueError> {
    let failed = |error: serde_json::Error| QueueError {
        what: what.to_owned(),
        reason: format!("another version wrote it ({error})"),
    };
    serde_json::from_slice(bytes).map_err(failed)
}

/// An id that no other run has, in the order of time.
fn new_id() -> String {
    let mut random = [0; 4];
    if getrandom::fill(&mut random).is_err() {
        random = std::process::id().to_be_bytes();
    }
    let now = std::time::SystemTime::now().duration_since(std::time::SystemTime::UNIX_EPOCH);
    let seconds = now.unwrap_or_default().as_secs();
    format!("{seconds:x}-{:08x}", u32::from_be_bytes(random))
}
