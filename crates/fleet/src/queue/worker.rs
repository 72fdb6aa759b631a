//! A worker: takes jobs, one at a time or several, and writes their results.

use std::sync::Arc;
use std::time::Duration;

use async_nats::jetstream::consumer::PullConsumer;
use async_nats::jetstream::{self, AckKind};
use async_trait::async_trait;
use futures::StreamExt as _;
use serde_json::Value;
use tokio::task::JoinSet;
use tokio::time::{interval, sleep};
use tokio_util::sync::CancellationToken;

use super::{Job, MAX_DELIVERIES, Priority, QueueError, RunQueue, RunRecord, read};

/// How often a worker looks for a job when there was none.
const LOOKING: Duration = Duration::from_millis(300);

/// How often a worker looks whether a run was cancelled.
const CANCELLING: Duration = Duration::from_secs(2);

/// How long a job that was given back waits, times the number of its beginnings.
const PAUSE: Duration = Duration::from_secs(2);

/// Runs jobs.
#[async_trait]
pub trait RunJob: Send + Sync {
    /// Runs the cases of a job that have no result yet, from their beginning.
    async fn run(&self, job: &TakenJob) -> JobEnd;

    /// The results of a job that was begun [`MAX_DELIVERIES`] times, and never ended.
    fn give_up(&self, job: &TakenJob) -> Vec<(usize, Value)>;
}

/// A job that this worker has.
#[derive(Debug)]
pub struct TakenJob {
    /// The job, with those of its cases that have no result.
    pub job: Job,
    /// Its run.
    pub record: RunRecord,
    /// How often it was begun, this time included.
    pub delivery: u64,
    /// Cancelled when the run is, or when the worker ends.
    pub cancelled: CancellationToken,
}

impl TakenJob {
    /// Whether it will not be begun again.
    pub fn is_last(&self) -> bool {
        self.delivery >= MAX_DELIVERIES
    }
}

/// How a job ended.
#[derive(Debug)]
pub enum JobEnd {
    /// Its results, by case.
    Done(Vec<(usize, Value)>),
    /// It could not be run here and now.
    GiveBack {
        /// Why.
        reason: String,
    },
}

/// Takes jobs and runs them, so many at once, until `ending` resolves or, with `until_empty`, none
/// is left. Jobs that run then are given back.
///
/// # Errors
/// If the queue cannot be opened.
pub async fn work(
    queue: &RunQueue,
    runner: Arc<dyn RunJob>,
    at_once: usize,
    until_empty: bool,
    ending: impl Future<Output = ()>,
) -> Result<(), QueueError> {
    let mut consumers = Vec::new();
    for priority in Priority::ALL {
        consumers.push(queue.consumer(priority).await?);
    }
    let stop = CancellationToken::new();
    let mut tasks = JoinSet::new();
    for _ in 0..at_once.max(1) {
        let (queue, runner) = (queue.clone(), Arc::clone(&runner));
        let (consumers, stop) = (consumers.clone(), stop.clone());
        tasks.spawn(
            async move { take_jobs(&queue, &*runner, &consumers, until_empty, &stop).await },
        );
    }
    let all = async { while tasks.join_next().await.is_some() {} };
    tokio::pin!(all);
    tokio::select! {
        () = &mut all => return Ok(()),
        () = ending => stop.cancel(),
    }
    all.await;
    Ok(())
}

/// Takes one job after the other.
async fn take_jobs(
    queue: &RunQueue,
    runner: &dyn RunJob,
    consumers: &[PullConsumer],
    until_empty: bool,
    stop: &CancellationToken,
) {
    while !stop.is_cancelled() {
        match next(consumers).await {
            Some(message) => {
                if let Err(error) = take(queue, runner, &message, stop).await {
                    // It comes again, to this worker or another.
                    tracing::warn!("a job was left: {error}");
                }
            }
            None if until_empty => return,
            None => {
                tokio::select! {
                    () = stop.cancelled() => {}
                    () = sleep(LOOKING) => {}
                }
            }
        }
    }
}

/// The next job, of the highest priority that has one.
async fn next(consumers: &[PullConsumer]) -> Option<jetstream::Message> {
    for consumer in consumers {
        match consumer.fetch().max_messages(1).messages().await {
            Ok(mut messages) => match messages.next().await {
                Some(Ok(message)) => return Some(message),
                Some(Err(error)) => tracing::info!("cannot get a job: {error}"),
                None => {}
            },
            Err(error) => tracing::info!("cannot get a job: {error}"),
        }
    }
    None
}

/// Runs a job, and takes it from the queue once its results are written.
async fn take(
    queue: &RunQueue,
    runner: &dyn RunJob,
    message: &jetstream::Message,
    stop: &CancellationToken,
) -> Result<(), QueueError> {
    let failed = |reason: String| QueueError { what: "take a job from the queue".into(), reason };
    let delivery = message.info().map_err(|error| failed(error.to_string()))?.delivered;
    let delivery = u64::try_from(delivery).unwrap_or_default();
    let job: Job = read("read a job", &message.payload)?;
    let done = || async { message.double_ack().await.map_err(|error| failed(error.to_string())) };
    // Runs end after a week.
    let Some(record) = queue.run(&job.run).await? else { return done().await };
    let mut cases = Vec::new();
    for case in &job.cases {
        if !queue.has_result(&job.run, *case).await? {
            cases.push(*case);
        }
    }
    if record.is_cancelled || cases.is_empty() {
        return done().await;
    }
    let cancelled = stop.child_token();
    let taken = TakenJob { job: Job { cases, ..job }, record, delivery, cancelled };
    let end = match delivery > MAX_DELIVERIES {
        true => JobEnd::Done(runner.give_up(&taken)),
        false => tokio::select! {
            end = runner.run(&taken) => end,
            () = keep(queue, message, &taken) => return done().await,
        },
    };
    match end {
        JobEnd::Done(results) => {
            for (case, result) in results {
                queue.finish(&taken.job.run, case, &result).await?;
            }
            done().await
        }
        JobEnd::GiveBack { reason } => {
            tracing::info!("a job of the run {} was given back: {reason}", taken.job.run);
            let pause = match stop.is_cancelled() {
                true => Duration::ZERO,
                false => PAUSE * u32::try_from(delivery).unwrap_or(1),
            };
            let given = message.ack_with(AckKind::Nak(Some(pause))).await;
            given.map_err(|error| failed(error.to_string()))
        }
    }
}

/// Says that the job is still worked on. Returns a moment after its run was cancelled: the runner
/// has ended by then, if it listens.
async fn keep(queue: &RunQueue, message: &jetstream::Message, taken: &TakenJob) {
    const ENDING: Duration = Duration::from_secs(20);
    let mut ticks = interval(CANCELLING.min(queue.patience / 3));
    loop {
        ticks.tick().await;
        if let Err(error) = message.ack_with(AckKind::Progress).await {
            tracing::info!("cannot say that a job is worked on: {error}");
        }
        let record = queue.runs.get(&taken.job.run).await.ok().flatten();
        let record = record.and_then(|bytes| serde_json::from_slice::<RunRecord>(&bytes).ok());
        if record.is_some_and(|record| record.is_cancelled) {
            taken.cancelled.cancel();
            sleep(ENDING).await;
            return;
        }
    }
}
