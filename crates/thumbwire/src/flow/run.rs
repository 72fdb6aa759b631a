//! Runs flows: which cases, on which phones, how often.
//!
//! Begin with [`Run::run`]. Phones take cases from one queue, each when it is free. What one go at a case is stands in `case`.

use std::collections::{BTreeSet, VecDeque};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use futures::future::join_all;
use tokio::time::Instant;

use super::case::attempt;
use super::plan::{Case, Flow};
use super::report::{Attempt, Failing, Phone, Report, Tried, Verdict};
use super::stage::{Stage, lock};
use super::watch::{Event, Watch};
use crate::action::{Action, Call, Failure, Outcome, Perform};
use crate::trace::format::{Goal, Line};
use crate::trace::{Recorder, Traced};

/// Pursues a goal for a flow: the agent, where a model was named.
#[async_trait]
pub trait Pursue: Send + Sync {
    /// Pursues a goal by way of `perform`, which records into `story`.
    ///
    /// # Errors
    /// Why it was not reached, in words.
    async fn pursue(
        &self,
        perform: Arc<dyn Perform>,
        story: Option<Arc<Recorder>>,
        call: &Call,
        goal: &str,
    ) -> Result<(), String>;
}

/// How flows are run.
#[derive(Debug, Clone)]
pub struct Options {
    /// The phones; none is whichever the flows name, else the session's.
    pub devices: Vec<String>,
    /// Only cases whose name, or `FLOW: CASE`, holds this, small or capital.
    pub only: Option<String>,
    /// Of all cases, only every so many-th.
    pub shard: Option<Shard>,
    /// Whether the first failure is the end.
    pub fail_fast: bool,
    /// How often a case that failed is tried again.
    pub retries: u32,
    /// Whether apps may have their data cleared.
    pub allow_reset: bool,
    /// Where each attempt's story is kept, in a folder of its own; `None` keeps none.
    pub folder: Option<PathBuf>,
    /// The time of day.
    pub clock: fn() -> jiff::Timestamp,
}

impl Default for Options {
    /// All cases once, on whichever phone, with nothing kept.
    fn default() -> Self {
        Self {
            devices: Vec::new(),
            only: None,
            shard: None,
            fail_fast: false,
            retries: 0,
            allow_reset: false,
            folder: None,
            clock: jiff::Timestamp::now,
        }
    }
}

/// A part of all cases: the `nth` of `of`, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// Which.
    pub nth: usize,
    /// Of how many.
    pub of: usize,
}

/// Why flows were not run at all.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Refusal {
    /// Clearing data was not allowed.
    #[error("the case {case:?} ({at}) clears what {app} keeps: allow that by --allow-reset")]
    Reset {
        /// The first case that would.
        case: String,
        /// Where it stands.
        at: String,
        /// The app.
        app: String,
    },
    /// There is a goal, and nobody to pursue it.
    #[error("the case {case:?} ({at}) has a goal for the agent: name a model by --model")]
    Goal {
        /// The first case that has one.
        case: String,
        /// Where it stands.
        at: String,
    },
    /// No case has such a name.
    #[error("no case is called {only:?}; there are {there}")]
    NoSuchCase {
        /// What was asked for.
        only: String,
        /// The names, as they would be found.
        there: String,
    },
    /// A phone is not there.
    #[error("{}", .0.cause)]
    Phone(Failure),
}

/// Runs flows.
pub struct Run<'a> {
    /// What carries out their actions; it chooses the phone by the call.
    pub perform: Arc<dyn Perform>,
    /// How.
    pub options: Options,
    /// Who is told.
    pub watch: &'a dyn Watch,
    /// Who pursues goals.
    pub pursue: Option<&'a dyn Pursue>,
}

/// A case to try.
#[derive(Debug, Clone, Copy)]
struct Job {
    number: usize,
    flow: usize,
    case: usize,
}

/// What the phones share.
struct Shared<'a> {
    flows: &'a [Flow],
    jobs: Mutex<VecDeque<Job>>,
    tried: Mutex<Vec<(Job, Tried)>>,
    stop: AtomicBool,
}

impl Run<'_> {
    /// Runs all cases that are chosen. `call` carries the deadline of the whole run.
    ///
    /// # Errors
    /// Why nothing was done.
    pub async fn run(&self, call: &Call, flows: Vec<Flow>) -> Result<Report, Refusal> {
        let (began, started) = (Instant::now(), self.now());
        let jobs = self.chosen(&flows)?;
        let devices = self.devices(&flows, &jobs);
        let meetings = join_all(devices.iter().map(|device| self.meet(call, device.clone()))).await;
        let phones: Vec<Phone> =
            meetings.into_iter().collect::<Result<_, _>>().map_err(Refusal::Phone)?;
        let all = jobs.len();
        let shared = Shared {
            flows: &flows,
            jobs: Mutex::new(jobs.into()),
            tried: Mutex::default(),
            stop: AtomicBool::new(false),
        };
        let works =
            phones.iter().enumerate().map(|(at, phone)| self.work(call, &shared, at, phone));
        join_all(works).await;
        let left: Vec<Job> = lock(&shared.jobs).drain(..).collect();
        let (over, stopped) = (is_over(call), shared.stop.load(Ordering::SeqCst));
        let (none_left, called_off) = (left.is_empty(), call.cancelled.is_cancelled());
        let out_of_phones = !none_left && !over && !stopped;
        for job in left {
            let why = match (over, stopped) {
                (true, _) if called_off => "the run was called off",
                (true, _) => "the time of the whole run was over",
                (_, true) => "another case had failed",
                _ => "no phone was left",
            };
            self.skip(&shared, job, why);
        }
        let mut tried = std::mem::take(&mut *lock(&shared.tried));
        tried.sort_by_key(|(job, _)| job.number);
        let tried: Vec<Tried> = tried.into_iter().map(|(_, tried)| tried).collect();
        let stopped_short = tried.iter().flat_map(|one| one.attempts.last()).any(|attempt| {
            attempt.failed.as_ref().is_some_and(|failed| failed.kind == Failing::TimeOver)
        });
        let report = Report {
            tried,
            phones,
            started,
            took: began.elapsed(),
            out_of_time: over && !called_off && (stopped_short || !none_left),
            out_of_phones,
            flows,
        };
        self.watch.tell(all, &Event::Ended(&report));
        Ok(report)
    }

    /// The cases that are to be tried.
    fn chosen(&self, flows: &[Flow]) -> Result<Vec<Job>, Refusal> {
        let all = flows
            .iter()
            .enumerate()
            .flat_map(|(flow, it)| (0..it.cases.len()).map(move |case| (flow, case)));
        let mut chosen: Vec<(usize, usize)> = all.collect();
        if let Some(only) = &self.options.only {
            let wanted = only.to_lowercase();
            let name =
                |&(flow, case): &(usize, usize)| full_name(&flows[flow], &flows[flow].cases[case]);
            let there: Vec<String> = chosen.iter().map(name).collect();
            chosen.retain(|one| name(one).to_lowercase().contains(&wanted));
            if chosen.is_empty() {
                let there =
                    there.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
                return Err(Refusal::NoSuchCase { only: only.clone(), there });
            }
        }
        if let Some(Shard { nth, of }) = self.options.shard {
            let mut at = 0;
            chosen.retain(|_| {
                at += 1;
                (at - 1) % of.max(1) + 1 == nth
            });
        }
        for &(flow, case) in &chosen {
            let case = &flows[flow].cases[case];
            let (name, at) = (case.name.clone(), case.at.to_string());
            if let (true, false, Some(app)) = (case.reset, self.options.allow_reset, &case.app) {
                return Err(Refusal::Reset { case: name, at, app: app.0.clone() });
            }
            if case.has_goal() && self.pursue.is_none() {
                return Err(Refusal::Goal { case: name, at });
            }
        }
        let jobs = chosen.into_iter().enumerate();
        Ok(jobs.map(|(number, (flow, case))| Job { number, flow, case }).collect())
    }

    /// The phones: those that were named, else those that the flows name, else the session's.
    fn devices(&self, flows: &[Flow], jobs: &[Job]) -> Vec<Option<String>> {
        if jobs.is_empty() {
            return Vec::new();
        }
        if !self.options.devices.is_empty() {
            let mut seen = BTreeSet::new();
            let named = self.options.devices.iter().filter(|device| seen.insert(device.as_str()));
            return named.cloned().map(Some).collect();
        }
        let named: BTreeSet<&String> =
            jobs.iter().filter_map(|job| flows[job.flow].device.as_ref()).collect();
        if named.is_empty() { vec![None] } else { named.into_iter().cloned().map(Some).collect() }
    }

    /// Whether a phone is there, and what it is.
    async fn meet(&self, call: &Call, device: Option<String>) -> Result<Phone, Failure> {
        const MEETING: Duration = Duration::from_secs(20);
        let deadline = call.deadline.min(Instant::now() + MEETING);
        let call = Call { deadline, ..call.clone() }.on(device.clone());
        let asked = Action::DeviceInfo { no_older_than: Duration::ZERO };
        match self.perform.perform(&call, asked).await? {
            Outcome::Info { identity, info, .. } => {
                let device = device.or(Some(identity.id));
                Ok(Phone { device, model: info.model, os_version: info.os_version })
            }
            _ => Ok(Phone { device, model: String::new(), os_version: String::new() }),
        }
    }

    /// What one phone does: a case after the other, until none is left for it.
    async fn work(&self, call: &Call, shared: &Shared<'_>, at: usize, phone: &Phone) {
        while let Some(job) = self.next(call, shared, phone) {
            let Job { number, flow, case } = job;
            let mut tried = Tried { flow, case, attempts: Vec::new(), skipped: None };
            let mut there = true;
            for nth in 0..=self.options.retries {
                let attempt = self.attempt(call, shared, job, nth + 1, (at, phone)).await;
                let failed = attempt.failed.as_ref().map(|failed| failed.kind);
                let case = &shared.flows[flow].cases[case];
                self.watch.tell(number, &Event::Attempted { case, attempt: &attempt });
                tried.attempts.push(attempt);
                if failed == Some(Failing::Phone) {
                    there = self.meet(call, phone.device.clone()).await.is_ok();
                }
                if failed.is_none() || !there || is_over(call) {
                    break;
                }
            }
            if self.options.fail_fast && tried.verdict() == Verdict::Failed {
                shared.stop.store(true, Ordering::SeqCst);
            }
            lock(&shared.tried).push((job, tried));
            if !there {
                return;
            }
        }
    }

    fn next(&self, call: &Call, shared: &Shared<'_>, phone: &Phone) -> Option<Job> {
        if shared.stop.load(Ordering::SeqCst) || is_over(call) {
            return None;
        }
        let suits = |job: &Job| {
            let named = &shared.flows[job.flow].device;
            !self.options.devices.is_empty() || named.is_none() || *named == phone.device
        };
        let mut jobs = lock(&shared.jobs);
        let at = jobs.iter().position(suits)?;
        jobs.remove(at)
    }

    async fn attempt(
        &self,
        call: &Call,
        shared: &Shared<'_>,
        job: Job,
        nth: u32,
        (at, phone): (usize, &Phone),
    ) -> Attempt {
        let flow = &shared.flows[job.flow];
        let case = &flow.cases[job.case];
        self.watch.tell(job.number, &Event::Case { flow, case, phone, attempt: nth });
        let (began, started) = (Instant::now(), self.now());
        let story = self.story(flow, case, job.number, nth, &started);
        let perform: Arc<dyn Perform> = match &story {
            Some(story) => Arc::new(Traced::new(Arc::clone(&self.perform), Arc::clone(story))),
            None => Arc::clone(&self.perform),
        };
        let stage = Stage {
            perform,
            call: call.clone().on(phone.device.clone()),
            story: story.clone(),
            pursue: self.pursue,
            watch: self.watch,
            number: job.number,
            launched: Mutex::default(),
            noted: Mutex::default(),
        };
        let failed = attempt(&stage, case).await;
        if let Some(story) = &story {
            let (status, why) = match &failed {
                None => ("FINISH", "passed".to_owned()),
                Some(failed) => ("FAIL", failed.what.clone()),
            };
            tell(story, &Line::Ended { status: status.into(), why });
        }
        let noted = std::mem::take(&mut *lock(&stage.noted));
        let story = story.map(|story| story.folder().to_owned());
        Attempt { phone: at, started, took: began.elapsed(), failed, noted, story }
    }

    /// A story for one attempt. A case is tried all the same where none can be kept.
    fn story(
        &self,
        flow: &Flow,
        case: &Case,
        number: usize,
        nth: u32,
        started: &str,
    ) -> Option<Arc<Recorder>> {
        let folder = self.options.folder.as_ref()?;
        let again = if nth > 1 { format!("-try-{nth}") } else { String::new() };
        let folder = folder.join(format!("{:03}-{}{again}", number + 1, slug(&case.name)));
        match Recorder::begin(&folder, started.to_owned()) {
            Ok(recorder) => {
                let request = full_name(flow, case);
                let goal = Goal { request, mind: "flow".into(), started: started.to_owned() };
                tell(&recorder, &Line::Goal(goal));
                Some(Arc::new(recorder))
            }
            Err(error) => {
                tracing::warn!(
                    "the story of a case cannot be kept in {}: {error}",
                    folder.display()
                );
                None
            }
        }
    }

    fn skip(&self, shared: &Shared<'_>, job: Job, why: &str) {
        let Job { number, flow, case } = job;
        let tried = Tried { flow, case, attempts: Vec::new(), skipped: Some(why.to_owned()) };
        let flow = &shared.flows[flow];
        let case = &flow.cases[case];
        self.watch.tell(number, &Event::Skipped { flow, case, tried: &tried });
        lock(&shared.tried).push((job, tried));
    }

    fn now(&self) -> String {
        (self.options.clock)().to_string()
    }
}

/// Whether a run was called off, or has no time left for one more action: a session keeps a second of it back.
pub(super) fn is_over(call: &Call) -> bool {
    const LAST: Duration = Duration::from_millis(1500);
    call.cancelled.is_cancelled() || Instant::now() + LAST >= call.deadline
}

fn tell(story: &Recorder, line: &Line) {
    if let Err(error) = story.tell(line) {
        tracing::warn!("not told in {}: {error}", story.folder().display());
    }
}

/// `FLOW: CASE`; the flow's name alone where it is its only case's.
pub(super) fn full_name(flow: &Flow, case: &Case) -> String {
    if flow.name == case.name { flow.name.clone() } else { format!("{}: {}", flow.name, case.name) }
}

/// A name as a folder can be called, on any system.
fn slug(name: &str) -> String {
    const LONGEST: usize = 40;
    let plain =
        name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' });
    let mut slug = String::new();
    for c in plain {
        if c != '-' || !slug.ends_with('-') {
            slug.push(c);
        }
    }
    let slug: String = slug.trim_matches('-').chars().take(LONGEST).collect();
    if slug.is_empty() { "case".into() } else { slug.trim_end_matches('-').to_owned() }
}
