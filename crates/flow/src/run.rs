//! Runs flows: which cases, on which phones, how often.
//!
//! Start with [`FlowRunner::run`]. Phones take cases from one queue, each when it is free.
//! `run_case` runs one attempt.

use std::collections::{BTreeSet, VecDeque};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::{FutureExt as _, LocalBoxFuture, join_all};
use thumbwire_base::lock;
use tokio::time::Instant;

use super::case_runner::{CaseContext, CaseRunner, CaseState, RunGoal, is_over};
use super::dismiss_alerts::AlertDismisser;
use super::error::FlowError;
use super::event::FlowEvent;
use super::golden::GoldenFiles;
use super::plan::{Case, Flow};
use super::probe::Probe;
use super::report::{Attempt, CaseFailure, CaseResult, FailureKind, Phone, Report, Verdict};
use super::run_case::attempt;
use super::script::{Parameters, ScriptNetwork};
use thumbwire_core::action::{Call, Failure, InfoResult, Perform, TypedPerform as _, request};
use thumbwire_core::event::{EventSink, EventSinks, ObservedPerform};
use thumbwire_core::trace::Recorder;
use thumbwire_core::trace::format::{CaseEnd, CrashRecord, GoalStart, TraceRecord};

/// How flows are run.
#[derive(Debug, Clone)]
pub struct Options {
    /// The phones; if empty, those that the flows name, else the session's.
    pub devices: Vec<String>,
    /// Run only cases whose name, or `FLOW: CASE`, contains this, ignoring case.
    pub only: Option<String>,
    /// Run only this shard of the cases.
    pub shard: Option<Shard>,
    /// Whether to stop at the first failure.
    pub fail_fast: bool,
    /// How often to retry a failed case.
    pub retries: u32,
    /// Whether app data may be cleared.
    pub allow_reset: bool,
    /// Whether apps may be installed.
    pub allow_install: bool,
    /// Whether to write goldens instead of comparing with them.
    pub update_goldens: bool,
    /// Where to store each attempt's trace, in its own folder; `None` stores none.
    pub folder: Option<PathBuf>,
    /// Whether typed texts, the content of text fields and pictures are left out of the traces.
    pub redact: bool,
    /// Whether a picture is taken at the end of each step, for the report; else only after a
    /// failure.
    pub step_pictures: bool,
    /// Watches the cases, for a proof.
    pub probe: Option<Arc<Probe>>,
    /// The time of day.
    pub clock: fn() -> jiff::Timestamp,
}

impl Default for Options {
    /// Runs all cases once, on any phone, and stores nothing.
    fn default() -> Self {
        Self {
            devices: Vec::new(),
            only: None,
            shard: None,
            fail_fast: false,
            retries: 0,
            allow_reset: false,
            allow_install: false,
            update_goldens: false,
            folder: None,
            redact: false,
            step_pictures: false,
            probe: None,
            clock: jiff::Timestamp::now,
        }
    }
}

/// One of several equal parts of all cases, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    /// Which part.
    pub nth: usize,
    /// The number of parts.
    pub of: usize,
}

/// Why flows were not run at all.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum FlowRunError {
    /// Clearing data is not allowed.
    #[error("case {case:?} ({at}) clears the data of {app}. Allow it with --allow-reset")]
    Reset {
        /// The first such case.
        case: String,
        /// Its position.
        at: String,
        /// The app.
        app: String,
    },
    /// Installing apps is not allowed.
    #[error("case {case:?} ({at}) wants to {file}. Allow it with --allow-install")]
    Install {
        /// The first such case.
        case: String,
        /// The step's position.
        at: String,
        /// What it does, with the package.
        file: String,
    },
    /// There is a goal but no agent.
    #[error("case {case:?} ({at}) has a goal for the agent. Name a model with --model")]
    Goal {
        /// The first such case.
        case: String,
        /// Its position.
        at: String,
    },
    /// A step needs what there is not, such as a parameter.
    #[error("nothing was run:\n{needs}")]
    Needs {
        /// Each with its place, a line each.
        needs: String,
    },
    /// A flow is wrong on the platform of a phone.
    #[error("invalid flows, nothing was run:\n{errors}")]
    Platform {
        /// The errors, a line each.
        errors: String,
    },
    /// No case matches.
    #[error("no case matches {only:?}. Available cases: {available}")]
    NoSuchCase {
        /// The requested name.
        only: String,
        /// The names that exist.
        available: String,
    },
    /// A phone is not available.
    #[error("{}", .0.cause)]
    Phone(Failure),
}

/// Runs flows.
pub struct FlowRunner<'a> {
    /// Performs the actions; the call selects the phone.
    pub perform: Arc<dyn Perform>,
    /// The options.
    pub options: Options,
    /// Receives events.
    pub events: Arc<dyn EventSink>,
    /// Runs goals.
    pub goals: Option<&'a dyn RunGoal>,
    /// Reads and writes goldens; `None` fails the steps that need them.
    pub goldens: Option<&'a dyn GoldenFiles>,
    /// Sends the requests of scripts; `None` fails them.
    pub network: Option<Arc<dyn ScriptNetwork>>,
}

/// A case to run.
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
    results: Mutex<Vec<(Job, CaseResult)>>,
    /// The sequences in which a flow failed.
    ended: Mutex<BTreeSet<usize>>,
    stop: AtomicBool,
}

impl FlowRunner<'_> {
    /// Runs all selected cases. `call` carries the deadline of the whole run.
    ///
    /// # Errors
    /// Why nothing was run.
    pub fn run<'a>(
        &'a self,
        call: &'a Call,
        flows: Vec<Flow>,
    ) -> LocalBoxFuture<'a, Result<Report, FlowRunError>> {
        self.run_all(call, flows).boxed_local()
    }

    async fn run_all(&self, call: &Call, flows: Vec<Flow>) -> Result<Report, FlowRunError> {
        let (began, started) = (Instant::now(), self.now());
        // Nobody else should act on the phones between two cases.
        let call = &Call { exclusive: true, ..call.clone() };
        let jobs = self.chosen(&flows)?;
        let devices = self.devices(&flows, &jobs);
        let meetings =
            join_all(devices.iter().map(|device| self.identify(call, device.clone()))).await;
        let phones: Vec<Phone> =
            meetings.into_iter().collect::<Result<_, _>>().map_err(FlowRunError::Phone)?;
        check_platforms(&flows, &jobs, &phones)?;
        let shared = Shared {
            flows: &flows,
            ended: Mutex::default(),
            jobs: Mutex::new(jobs.into()),
            results: Mutex::default(),
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
            let reason = match (over, stopped) {
                (true, _) if called_off => "the run was cancelled",
                (true, _) => "the run timed out",
                (_, true) => "another case failed",
                _ => "no phone is left",
            };
            self.skip(&shared, job, reason);
        }
        let mut results = std::mem::take(&mut *lock(&shared.results));
        results.sort_by_key(|(job, _)| job.number);
        let results: Vec<CaseResult> = results.into_iter().map(|(_, result)| result).collect();
        let stopped_short = results.iter().flat_map(|one| one.attempts.last()).any(|attempt| {
            attempt.failed.as_ref().is_some_and(|failed| failed.kind == FailureKind::TimedOut)
        });
        let report = Report {
            cases: results,
            phones,
            started,
            took: began.elapsed(),
            out_of_time: over && !called_off && (stopped_short || !none_left),
            out_of_phones,
            flows,
        };
        let report = Arc::new(report);
        FlowEvent::RunFinished(Arc::clone(&report)).send(&*self.events);
        Ok(Arc::unwrap_or_clone(report))
    }

    /// The cases to run.
    fn chosen(&self, flows: &[Flow]) -> Result<Vec<Job>, FlowRunError> {
        let Options { only, shard, .. } = &self.options;
        let chosen = chosen_cases(flows, only.as_deref(), *shard)?;
        for &(flow, case) in &chosen {
            let case = &flows[flow].cases[case];
            let (name, at) = (case.name.clone(), case.at.to_string());
            if let (false, Some((at, app))) = (self.options.allow_reset, case.clears_data()) {
                let (at, app) = (at.to_string(), app.0.clone());
                return Err(FlowRunError::Reset { case: name, at, app });
            }
            if let (false, Some(step)) = (self.options.allow_install, case.installs()) {
                let (at, file) = (step.at.to_string(), step.to_string());
                return Err(FlowRunError::Install { case: name, at, file });
            }
            if case.has_goal() && self.goals.is_none() {
                return Err(FlowRunError::Goal { case: name, at });
            }
        }
        let jobs = chosen.into_iter().enumerate();
        Ok(jobs.map(|(number, (flow, case))| Job { number, flow, case }).collect())
    }

    /// The phones to use: those requested, else those that the flows name, else the session's.
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

    /// Whether a phone is available, and its model and version.
    async fn identify(&self, call: &Call, device: Option<String>) -> Result<Phone, Failure> {
        const MEETING: Duration = Duration::from_secs(20);
        let deadline = call.deadline.min(Instant::now() + MEETING);
        let call = Call { deadline, ..call.clone() }.on(device.clone());
        let asked = request::DeviceInfo { max_age: Duration::ZERO };
        let InfoResult { identity, info, .. } = self.perform.request(&call, asked).await?;
        let device = device.or(Some(identity.id));
        let (model, os_version) = (info.model, info.os_version);
        Ok(Phone { device, platform: identity.platform, model, os_version })
    }

    /// Runs cases on one phone until none is left for it.
    async fn work(&self, call: &Call, shared: &Shared<'_>, at: usize, phone: &Phone) {
        while let Some(job) = self.next(call, shared, phone) {
            let Job { number, flow, case } = job;
            let mut result = CaseResult { flow, case, attempts: Vec::new(), skipped: None };
            let mut is_reachable = true;
            for nth in 0..=self.options.retries {
                let attempt = self.attempt(call, shared, job, nth + 1, (at, phone)).await;
                let failed = attempt.failed.as_ref().map(|failed| failed.kind);
                let out = Box::new(attempt.clone());
                result.attempts.push(attempt);
                if failed == Some(FailureKind::Phone) {
                    is_reachable = self.identify(call, phone.device.clone()).await.is_ok();
                }
                let ends = failed.is_none() || !is_reachable || is_over(call);
                let again = !ends && nth < self.options.retries;
                let end = FlowEvent::CaseFinished { case: number, attempt: out, again };
                end.send(&*self.events);
                if ends {
                    break;
                }
            }
            if self.options.fail_fast && result.verdict() == Verdict::Failed {
                shared.stop.store(true, Ordering::SeqCst);
            }
            if result.verdict() == Verdict::Failed {
                lock(&shared.ended).extend(shared.flows[flow].sequence);
            }
            lock(&shared.results).push((job, result));
            if !is_reachable {
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
        loop {
            let mut jobs = lock(&shared.jobs);
            let at = jobs.iter().position(suits)?;
            let job = jobs.remove(at)?;
            let sequence = shared.flows[job.flow].sequence;
            if !sequence.is_some_and(|one| lock(&shared.ended).contains(&one)) {
                return Some(job);
            }
            drop(jobs);
            self.skip(
                shared,
                job,
                "a flow before it failed, and the workspace does not go on then",
            );
        }
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
        FlowEvent::CaseStarted {
            case: job.number,
            name: full_name(flow, case),
            device: phone.name().to_owned(),
            attempt: nth,
        }
        .send(&*self.events);
        let (began, started) = (Instant::now(), self.now());
        let recorder = self.recorder(flow, case, job.number, nth, &started);
        let events = EventSinks::default();
        recorder.iter().for_each(|recorder| events.add(Arc::clone(recorder) as Arc<dyn EventSink>));
        let events = events.with(Arc::clone(&self.events));
        let perform = Arc::clone(&self.perform);
        let perform = match &self.options.probe {
            Some(probe) => probe.of(perform),
            None => perform,
        };
        let perform: Arc<dyn Perform> = Arc::new(ObservedPerform::new(perform, events));
        let dismisser = || Arc::new(AlertDismisser::new(Arc::clone(&perform)));
        let alerts = case.auto_dismiss_alerts.then(dismisser);
        let perform = alerts.clone().map_or(perform, |alerts| alerts as _);
        let mut runner = CaseRunner {
            context: CaseContext {
                perform,
                call: call.clone().on(phone.device.clone()),
                recorder: recorder.clone(),
                goals: self.goals,
                events: &*self.events,
                number: job.number,
                platform: phone.platform,
                goldens: self.goldens,
                update_goldens: self.options.update_goldens,
                step_pictures: self.options.step_pictures,
                parameters: self.parameters(flow, phone),
                network: self.network.clone(),
                alerts,
                probe: self.options.probe.clone(),
            },
            state: CaseState::default(),
        };
        let failed = attempt(&mut runner, case).await;
        let notes = runner.state.notes;
        if let Some(recorder) = &recorder {
            let end = case_end(flow, case, nth, failed.as_ref(), &notes);
            record(recorder, &TraceRecord::CaseEnd(Box::new(end)));
            let (status, reason) = match &failed {
                None => ("FINISH", "passed".to_owned()),
                Some(failed) => ("FAIL", failed.what.clone()),
            };
            record(recorder, &TraceRecord::GoalEnd { status: status.into(), reason });
        }
        let trace = recorder.map(|recorder| recorder.folder().to_owned());
        Attempt { phone: at, started, took: began.elapsed(), failed, notes, trace }
    }

    /// The parameters of a flow from outside, with those that every run defines.
    fn parameters(&self, flow: &Flow, phone: &Phone) -> Parameters {
        let shard = self.options.shard.map_or(1, |shard| shard.nth);
        let of_the_run = [
            ("MAESTRO_DEVICE_UDID", phone.name().to_owned()),
            ("MAESTRO_SHARD_ID", shard.to_string()),
            ("MAESTRO_SHARD_INDEX", shard.saturating_sub(1).to_string()),
        ];
        let mut parameters = flow.parameters.clone();
        parameters.extend(of_the_run.map(|(name, value)| (name.to_owned(), value)));
        parameters
    }

    /// A trace for one attempt. The case runs even if the trace cannot be stored.
    fn recorder(
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
                let recorder = recorder.with_redaction(self.options.redact);
                let request = full_name(flow, case);
                let goal =
                    GoalStart { request, policy: "flow".into(), started: started.to_owned() };
                record(&recorder, &TraceRecord::Goal(goal));
                Some(Arc::new(recorder))
            }
            Err(error) => {
                tracing::warn!("cannot store the trace of a case in {}: {error}", folder.display());
                None
            }
        }
    }

    fn skip(&self, shared: &Shared<'_>, job: Job, reason: &str) {
        let Job { number, flow, case } = job;
        let result =
            CaseResult { flow, case, attempts: Vec::new(), skipped: Some(reason.to_owned()) };
        let flow = &shared.flows[flow];
        let case = &flow.cases[case];
        let (name, reason) = (full_name(flow, case), reason.to_owned());
        FlowEvent::CaseSkipped { case: number, name, reason }.send(&*self.events);
        lock(&shared.results).push((job, result));
    }

    fn now(&self) -> String {
        (self.options.clock)().to_string()
    }
}

/// The cases to run, each by its flow and its place there: those whose name, or `FLOW: CASE`,
/// contains `only`, ignoring case, and are of the shard.
///
/// # Errors
/// If there are none, or they need what there is not.
pub fn chosen_cases(
    flows: &[Flow],
    only: Option<&str>,
    shard: Option<Shard>,
) -> Result<Vec<(usize, usize)>, FlowRunError> {
    let all = flows
        .iter()
        .enumerate()
        .flat_map(|(flow, it)| (0..it.cases.len()).map(move |case| (flow, case)));
    let mut chosen: Vec<(usize, usize)> = all.collect();
    if let Some(only) = only {
        let wanted = only.to_lowercase();
        let name =
            |&(flow, case): &(usize, usize)| full_name(&flows[flow], &flows[flow].cases[case]);
        let names: Vec<String> = chosen.iter().map(name).collect();
        chosen.retain(|one| name(one).to_lowercase().contains(&wanted));
        if chosen.is_empty() {
            let available: Vec<String> = names.iter().map(|name| format!("{name:?}")).collect();
            let available = available.join(", ");
            return Err(FlowRunError::NoSuchCase { only: only.to_owned(), available });
        }
    }
    if let Some(Shard { nth, of }) = shard {
        let mut at = 0;
        chosen.retain(|_| {
            at += 1;
            (at - 1) % of.max(1) + 1 == nth
        });
    }
    let used: BTreeSet<usize> = chosen.iter().map(|&(flow, _)| flow).collect();
    match lines(used.iter().flat_map(|&flow| flows[flow].needs())) {
        Some(needs) => Err(FlowRunError::Needs { needs }),
        None => Ok(chosen),
    }
}

/// Whether the flows are right for the phones.
fn check_platforms(flows: &[Flow], jobs: &[Job], phones: &[Phone]) -> Result<(), FlowRunError> {
    let platforms = phones.iter().map(|phone| phone.platform);
    let errors = platforms
        .flat_map(|platform| jobs.iter().flat_map(move |job| flows[job.flow].errors_on(platform)));
    match lines(errors) {
        None => Ok(()),
        Some(errors) => Err(FlowRunError::Platform { errors }),
    }
}

/// The errors, each once.
fn lines<'a>(errors: impl Iterator<Item = &'a FlowError>) -> Option<String> {
    let mut lines: Vec<String> = Vec::new();
    for error in errors.map(ToString::to_string) {
        if !lines.contains(&error) {
            lines.push(error);
        }
    }
    (!lines.is_empty()).then(|| lines.join("\n"))
}

fn record(recorder: &Recorder, line: &TraceRecord) {
    if let Err(error) = recorder.write_record(line) {
        tracing::warn!("cannot write to the trace in {}: {error}", recorder.folder().display());
    }
}

/// How an attempt ended, for its trace.
fn case_end(
    flow: &Flow,
    case: &Case,
    attempt: u32,
    failed: Option<&CaseFailure>,
    notes: &[String],
) -> CaseEnd {
    let end = CaseEnd {
        flow: flow.name.clone(),
        file: flow.file.clone(),
        case: case.name.clone(),
        attempt,
        passed: failed.is_none(),
        notes: notes.to_vec(),
        ..CaseEnd::default()
    };
    let Some(failed) = failed else { return end };
    let crash = |crash: &super::crash::Crash| CrashRecord {
        what: crash.to_string(),
        excerpt: crash.excerpt.clone(),
    };
    let name = failed.picture.as_ref().and_then(|picture| picture.file_name());
    CaseEnd {
        failure: failed.kind.name().into(),
        reason: failed.what.clone(),
        crashes: failed.crashes.iter().map(crash).collect(),
        log: failed.log.clone(),
        screenshot: name.map(|name| name.to_string_lossy().into_owned()),
        ..end
    }
}

/// `FLOW: CASE`; only the flow's name for its single case.
pub fn full_name(flow: &Flow, case: &Case) -> String {
    if flow.name == case.name { flow.name.clone() } else { format!("{}: {}", flow.name, case.name) }
}

/// A name as a folder name that is valid on any system.
fn slug(name: &str) -> String {
    const MAX_CHARS: usize = 40;
    let plain =
        name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' });
    let mut slug = String::new();
    for c in plain {
        if c != '-' || !slug.ends_with('-') {
            slug.push(c);
        }
    }
    let slug: String = slug.trim_matches('-').chars().take(MAX_CHARS).collect();
    if slug.is_empty() { "case".into() } else { slug.trim_end_matches('-').to_owned() }
}
