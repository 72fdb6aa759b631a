//! `thumbwire work`: runs the cases that `thumbwire submit` has put into the queue of a fleet.
//!
//! A worker is a door: it asks the fleet for a phone that is free, and leases it for a case.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use serde::Deserialize as _;
use serde_json::Value;
use tempfile::TempDir;
use thumbwire_agent::{Budgets, RedactedPerform};
use thumbwire_base::{files, lock};
use thumbwire_core::action::{
    Call, ClientId, ClientName, ClientWatch as _, Perform, TypedPerform as _, request,
};
use thumbwire_core::artifacts::ArtifactStore;
use thumbwire_core::event::NoEvents;
use thumbwire_core::input_files::InputFolder;
use thumbwire_core::session::{Session, SessionOptions};
use thumbwire_fleet::queue::{JobEnd, MAX_DELIVERIES, RunJob, RunQueue, TakenJob, work};
use thumbwire_flow::{
    CaseResult, FailureKind, Flow, FlowRunError, FlowRunner, Options, Report, RunGoal,
    ScriptNetwork, Verdict,
};
use tokio::runtime::Handle;

use super::flow_files::{FlowFolders, FlowPermissions};
use super::log_flag::LogFlag;
use super::queued_flows::{CaseBegun, CaseRecord, FlowRequest, RunFiles, moved, stored_trace};
use super::run_goal::{FOREVER, RunFlags};
use super::run_setup::{self, AppToolPerform, FlowGoalRunner};
use super::shutdown::ShutdownSignal;
use super::test::script_hosts::ScriptHosts;
use super::{CliError, fleet_flags, model_flags, print};
use crate::config::Config;

#[derive(clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    common: RunFlags,
    /// Number of cases that run at the same time, each on a phone of its own
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=200))]
    jobs: u16,
    /// End when the queue is empty
    #[arg(long)]
    until_empty: bool,
    #[command(flatten)]
    allow: FlowPermissions,
    #[command(flatten)]
    pub(super) log: LogFlag,
}

/// How long a job may take, with the wait for a phone, unless `--timeout` says otherwise.
const JOB_TIME: Duration = Duration::from_secs(3600);

/// How many runs' files are kept on this computer.
const KEPT_RUNS: usize = 4;

/// The largest file of a trace that is kept, in bytes.
const MAX_TRACE_FILE: u64 = 256 << 20;

pub(super) async fn run(arguments: Arguments, config: &Config) -> Result<u8, CliError> {
    let common = &arguments.common;
    let config = &common.sources.applied_to(config)?;
    let Some(fleet) = &config.fleet else {
        return Err(CliError::usage("name the fleet whose cases to run with --fleet URL"));
    };
    common.model.check_prices(&common.limits)?;
    let model = common.model.open_named(config)?;
    let vault = run_setup::secrets(&common.secret)?;
    let name = worker_name();
    let program = format!("thumbwire work {name}");
    let connection = fleet_flags::connect(fleet, &program).await?;
    let queue = RunQueue::open(&connection).await.map_err(fleet_flags::unusable)?;
    let folder = tempfile::tempdir()
        .map_err(|error| CliError::failed(format!("no folder for files: {error}")))?;
    let options = SessionOptions {
        app_tools: common.allow.options(config)?,
        input_files: arguments.allow.install.then(|| InputFolder::new(folder.path())),
        files: Some(ArtifactStore::new(folder.path().join("out"))),
        ..super::leasing(config, "thumbwire work").await?
    };
    let phones = super::phones(config, std::iter::empty());
    let session = super::session_with(phones, None, common.screenshot_size, options);
    let session = Arc::new(session);
    let goals = model.map(|model| FlowGoalRunner {
        model,
        budgets: Budgets { time: None, ..common.limits.budgets(FOREVER) },
        vault: Arc::clone(&vault),
        confirm: common.confirm,
        apps: AppToolPerform::of(&session),
        folder: String::new(),
    });
    let worker = FlowWorker(Arc::new(WorkerParts {
        name: name.clone(),
        queue: queue.clone(),
        perform: Arc::new(RedactedPerform::new(Arc::clone(&session), vault)),
        session: Arc::clone(&session),
        goals,
        network: Arc::new(ScriptHosts::of(&arguments.allow.network, model_flags::proxy(config))),
        time: common.limits.budgets(JOB_TIME).time.unwrap_or(JOB_TIME),
        redact: common.redact,
        allow_reset: arguments.allow.reset,
        allow_install: arguments.allow.install,
        folder,
        runs: Mutex::default(),
    }));
    let (jobs, until_empty) = (arguments.jobs.into(), arguments.until_empty);
    let cases = if jobs == 1 { "one case".to_owned() } else { format!("{jobs} cases") };
    print(&format!("{name} runs {cases} at a time; press Ctrl-C to stop\n"))?;
    let mut shutdown = ShutdownSignal::new();
    let ended = work(&queue, Arc::new(worker), jobs, until_empty, shutdown.ending()).await;
    session.end().await;
    ended.map(|()| 0).map_err(|error| CliError::failed(error.to_string()))
}

/// Runs cases of flows.
struct FlowWorker(Arc<WorkerParts>);

struct WorkerParts {
    name: String,
    queue: RunQueue,
    session: Arc<Session>,
    perform: Arc<dyn Perform>,
    goals: Option<FlowGoalRunner>,
    network: Arc<dyn ScriptNetwork>,
    /// How long a job may take.
    time: Duration,
    redact: bool,
    allow_reset: bool,
    allow_install: bool,
    /// Where the files of runs are.
    folder: TempDir,
    /// The runs whose files are here, the newest last.
    runs: Mutex<Vec<(String, Arc<RunFiles>)>>,
}

#[async_trait]
impl RunJob for FlowWorker {
    async fn run(&self, job: &TakenJob) -> JobEnd {
        let ended = self.0.run(job).await;
        // A worker that is ended says nothing of the case.
        let is_over = job.is_last() && !job.cancelled.is_cancelled();
        ended.unwrap_or_else(|reason| match is_over {
            true => JobEnd::Done(self.not_run(job, &reason)),
            false => JobEnd::GiveBack { reason },
        })
    }

    fn give_up(&self, job: &TakenJob) -> Vec<(usize, Value)> {
        let reason = format!("{MAX_DELIVERIES} workers began it, and none ended it");
        self.not_run(job, &reason)
    }
}

impl FlowWorker {
    /// The results of cases that could not be run.
    fn not_run(&self, job: &TakenJob, reason: &str) -> Vec<(usize, Value)> {
        let skipped = |case: &usize| {
            let result = CaseResult {
                flow: 0,
                case: 0,
                attempts: Vec::new(),
                skipped: Some(reason.to_owned()),
            };
            let record = CaseRecord {
                worker: self.0.name.clone(),
                result,
                phones: Vec::new(),
                files: Vec::new(),
            };
            Some((*case, serde_json::to_value(record).ok()?))
        };
        job.job.cases.iter().filter_map(skipped).collect()
    }
}

impl WorkerParts {
    /// Runs a job on a phone of its own.
    ///
    /// # Errors
    /// Why it could not be run, here and now.
    async fn run(self: &Arc<Self>, job: &TakenJob) -> Result<JobEnd, String> {
        let record = &job.record;
        if record.version != env!("CARGO_PKG_VERSION") {
            let (theirs, ours) = (&record.version, env!("CARGO_PKG_VERSION"));
            return Err(format!("it is of Thumbwire {theirs}, and this worker is of {ours}"));
        }
        let request = FlowRequest::deserialize(&record.request).map_err(|it| it.to_string())?;
        let files = self.files(&job.job.run, &request).await?;
        let id = format!("{} {} {:?}", self.name, job.job.run, job.job.cases);
        let client = ClientId::Session(id.into());
        let call = Call {
            client: client.clone(),
            client_name: ClientName::clean(&self.name),
            cancelled: job.cancelled.clone(),
            exclusive: true,
            ..Call::with_timeout(self.time)
        };
        let ended = self.run_cases(job, &request, &files, call).await;
        self.session.client_left(&client).await;
        ended
    }

    async fn run_cases(
        self: &Arc<Self>,
        job: &TakenJob,
        request: &FlowRequest,
        files: &Arc<RunFiles>,
        call: Call,
    ) -> Result<JobEnd, String> {
        let asked = request::DeviceInfo { max_age: Duration::ZERO };
        let flows = flows_of(request, &files.flows, &job.job.cases);
        let named = flows.first().and_then(|flow| flow.device.clone());
        let choosing = call.clone().on(Some(named.unwrap_or_else(|| request.device.clone())));
        let found = self.session.request(&choosing, asked).await;
        let phone = found.map_err(|failure| failure.cause.to_string())?;
        let device = phone.identity.id;
        for case in &job.job.cases {
            let attempt = u32::try_from(job.delivery).unwrap_or(u32::MAX);
            let begun = CaseBegun { case: *case, device: device.clone(), attempt };
            if let Ok(event) = serde_json::to_value(begun) {
                self.queue.tell(&job.job.run, &event).await;
            }
        }
        let traces = tempfile::tempdir_in(self.folder.path()).map_err(|it| it.to_string())?;
        let options = Options {
            devices: vec![device],
            retries: job.job.retries,
            allow_reset: self.allow_reset,
            allow_install: self.allow_install,
            folder: Some(traces.path().to_owned()),
            redact: self.redact || request.redact,
            step_pictures: true,
            ..Options::default()
        };
        let (parts, files) = (Arc::clone(self), Arc::clone(files));
        let runtime = Handle::current();
        // A run of flows stays on its thread: their scripts do.
        let ran = tokio::task::spawn_blocking(move || {
            runtime.block_on(async move {
                let folders = FlowFolders::only(files.root());
                let runner = FlowRunner {
                    perform: Arc::clone(&parts.perform),
                    options,
                    events: Arc::new(NoEvents),
                    goals: parts.goals.as_ref().map(|goals| goals as &dyn RunGoal),
                    goldens: Some(&folders),
                    network: Some(Arc::clone(&parts.network)),
                };
                (runner.run(&call, flows).await, files)
            })
        });
        let (report, files) = ran.await.map_err(|error| error.to_string())?;
        let report = match report {
            Ok(report) => report,
            Err(FlowRunError::Phone(failure)) => return Err(failure.cause.to_string()),
            Err(error) => {
                let here = format!("{}{}", files.root().display(), std::path::MAIN_SEPARATOR);
                let reason = error.to_string().replace(&here, "/");
                let reason = format!("the worker {} refuses it: {reason}", self.name);
                return Ok(JobEnd::Done(FlowWorker(Arc::clone(self)).not_run(job, &reason)));
            }
        };
        if job.cancelled.is_cancelled() {
            return Err("it was cancelled".to_owned());
        }
        if let Some(reason) = lost_phone(&report).filter(|_| !job.is_last()) {
            return Err(reason);
        }
        let records = self.records(job, request, &report, files.root()).await?;
        Ok(JobEnd::Done(records))
    }

    /// The results of a job, after its traces are kept.
    async fn records(
        &self,
        job: &TakenJob,
        request: &FlowRequest,
        report: &Report,
        root: &Path,
    ) -> Result<Vec<(usize, Value)>, String> {
        let mut records = Vec::new();
        for (&number, result) in job.job.cases.iter().zip(&report.cases) {
            let mut files = Vec::new();
            for attempt in &result.attempts {
                let Some(folder) = &attempt.trace else { continue };
                // A result without a picture is worth more than none.
                if let Err(reason) = self.keep_trace(&job.job.run, number, folder, &mut files).await
                {
                    tracing::warn!("{reason}");
                }
            }
            let Some(case) = request.cases.get(number) else { continue };
            let (flow, phones) = (case.flow, report.phones.clone());
            let result = CaseResult { flow, case: case.case, ..result.clone() };
            let took = result.attempts.iter().map(|attempt| attempt.took).sum();
            if matches!(result.verdict(), Verdict::Passed | Verdict::Flaky) {
                let was_flaky = result.verdict() == Verdict::Flaky;
                if let Err(error) = self.queue.note(&case.name, took, was_flaky).await {
                    tracing::warn!("{error}");
                }
            }
            let record = CaseRecord { worker: self.name.clone(), result, phones, files };
            let record = moved(&record, root, "/").map_err(|error| error.to_string())?;
            records.push((number, serde_json::to_value(record).map_err(|it| it.to_string())?));
        }
        Ok(records)
    }

    /// Keeps the files of a trace in the fleet.
    async fn keep_trace(
        &self,
        run: &str,
        case: usize,
        folder: &Path,
        kept: &mut Vec<String>,
    ) -> Result<(), String> {
        let failed =
            |error: &dyn std::fmt::Display| format!("cannot keep the trace of a case: {error}");
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        for entry in std::fs::read_dir(folder).map_err(|error| failed(&error))?.flatten() {
            if !entry.path().is_file() {
                continue;
            }
            let content = files::read(&entry.path(), MAX_TRACE_FILE);
            let content = content.map_err(|error| failed(&error))?;
            let file = format!("{name}/{}", entry.file_name().to_string_lossy());
            let put = self.queue.put_file(run, &stored_trace(case, &file), content.into()).await;
            put.map_err(|error| failed(&error))?;
            kept.push(file);
        }
        Ok(())
    }

    /// The files of a run, which are fetched once.
    async fn files(&self, run: &str, request: &FlowRequest) -> Result<Arc<RunFiles>, String> {
        let known = lock(&self.runs).iter().find(|(id, _)| id == run).cloned();
        if let Some((_, files)) = known {
            return Ok(files);
        }
        let files = RunFiles::fetch(&self.queue, run, request, self.folder.path()).await?;
        let files = Arc::new(files);
        let mut runs = lock(&self.runs);
        runs.push((run.to_owned(), Arc::clone(&files)));
        if runs.len() > KEPT_RUNS {
            runs.remove(0);
        }
        Ok(files)
    }
}

/// The flows of some cases, with only these. The cases of a job are in the order of the run's.
fn flows_of(request: &FlowRequest, flows: &[Flow], cases: &[usize]) -> Vec<Flow> {
    let mut chosen: Vec<(usize, Flow)> = Vec::new();
    for case in cases.iter().filter_map(|case| request.cases.get(*case)) {
        let Some(flow) = flows.get(case.flow) else { continue };
        let Some(one) = flow.cases.get(case.case) else { continue };
        match chosen.last_mut().filter(|(at, _)| *at == case.flow) {
            Some((_, chosen)) => chosen.cases.push(one.clone()),
            None => {
                let mut flow = flow.clone();
                flow.cases = vec![one.clone()];
                flow.sequence = (cases.len() > 1).then_some(0);
                chosen.push((case.flow, flow));
            }
        }
    }
    chosen.into_iter().map(|(_, flow)| flow).collect()
}

/// Why a case could not be judged, if its phone was lost.
fn lost_phone(report: &Report) -> Option<String> {
    let failures = report.cases.iter().filter_map(|case| case.attempts.last()?.failed.as_ref());
    let mut lost = failures.filter(|failure| failure.kind == FailureKind::Phone);
    let reason = lost.next().map(|failure| failure.what.clone());
    reason.or_else(|| report.out_of_phones.then(|| "no phone is left".to_owned()))
}

/// A name for this worker: its computer and its process.
fn worker_name() -> String {
    format!("{}-{}", super::node::computer_name(), std::process::id())
}
