//! `thumbwire submit FLOW…`: puts cases into the queue of a fleet, follows them, and writes the
//! same report as `thumbwire test`.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use serde::Deserialize as _;
use serde_json::Value;
use thumbwire_base::files::Folder;
use thumbwire_core::event::{Event, EventSink as _};
use thumbwire_fleet::queue::{
    CaseHistory, Job, Priority, QueueError, RunNews, RunQueue, RunRecord, Submission,
};
use thumbwire_flow::{CaseResult, Flow, FlowEvent, Phone, Report, View, chosen_cases, full_name};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use super::flow_files::{CASES, FlowFlags, FlowFolders, ReadFlows, absolute, lines, read_all};
use super::flow_view::FlowView;
use super::queued_flows::{
    CaseBegun, CaseRecord, FlowRequest, MAX_FILE, QueuedCase, QueuedFlow, RunFiles, file_name,
    moved, stored, stored_trace, trace_folder,
};
use super::run_goal::interrupts;
use super::shutdown::INTERRUPTED;
use super::{CliError, PhoneSources, fleet_flags, print, print_error, run_setup, test};
use crate::config::Config;

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Flow files, and directories of them (see docs/flows.md)
    #[arg(value_name = "FLOW", required_unless_present_any = ["goal", "attach", "cancel"])]
    flows: Vec<PathBuf>,
    /// Goal for the model of the workers, as a case of its own (repeatable)
    #[arg(long, value_name = "GOAL")]
    goal: Vec<String>,
    /// Follow a run that was submitted before, and write its report
    #[arg(long, value_name = "RUN", conflicts_with_all = ["flows", "goal"])]
    attach: Option<String>,
    /// Cancel a run
    #[arg(long, value_name = "RUN", conflicts_with_all = ["flows", "goal", "attach"])]
    cancel: Option<String>,
    /// Phones to run on, by conditions such as `android>=14,label=lab3`, or one as NODE/ID
    #[arg(short, long, value_name = "CONDITIONS", default_value = "android")]
    device: String,
    #[command(flatten)]
    files: FlowFlags,
    #[command(flatten)]
    sources: PhoneSources,
    /// Retry a failed case up to N times; one that was never flaky before, at most once
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(..=20), help_heading = CASES)]
    retries: u32,
    /// Which runs workers take first
    #[arg(long, value_enum, value_name = "PRIORITY", default_value_t, help_heading = CASES)]
    priority: PriorityFlag,
    /// Do not wait for the results: print the run's id, for `--attach`
    #[arg(long)]
    detach: bool,
    /// Directory to write the report to, as `logs/run-TIME/`
    #[arg(short, long, value_name = "DIR", default_value = ".")]
    out: PathBuf,
    /// Print only the cases that failed, and the counts
    #[arg(short, long)]
    quiet: bool,
    /// Write the results to a JUnit XML file
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// Leave typed texts, the content of text fields and pictures out of what is recorded
    #[arg(long)]
    redact: bool,
}

/// Which jobs workers take first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
enum PriorityFlag {
    // Doc comments would be printed as a list in the help.
    High,
    #[default]
    Normal,
    Low,
}

/// After which time without news the user is told that there may be no worker.
const WORKERS: Duration = Duration::from_secs(10);

/// Why a case has no result.
const CANCELLED: &str = "the run was cancelled";

pub(super) async fn run(arguments: Arguments, config: &Config) -> Result<u8, CliError> {
    let config = &arguments.sources.applied_to(config)?;
    let Some(fleet) = &config.fleet else {
        return Err(CliError::usage("name the fleet to submit to with --fleet URL"));
    };
    // What is wrong with the flows is told before anything else.
    let read = match (&arguments.attach, &arguments.cancel) {
        (None, None) => Some(read(&arguments)?),
        _ => None,
    };
    let connection = fleet_flags::connect(fleet, "thumbwire submit").await?;
    let queue = RunQueue::open(&connection).await.map_err(fleet_flags::unusable)?;
    if let Some(run) = &arguments.cancel {
        return cancel(&queue, run).await;
    }
    let (run, flows) = match (read, &arguments.attach) {
        (Some(read), _) => submit(&arguments, &queue, read).await?,
        (None, attach) => attached(&queue, attach.as_deref().unwrap_or_default()).await?,
    };
    if arguments.detach {
        let text = format!(
            "run {run} is in the queue; follow it with `thumbwire submit --attach {run}`\n"
        );
        return print(&text).map(|()| 0);
    }
    follow(&arguments, &queue, &run, flows, config.colours).await
}

async fn cancel(queue: &RunQueue, run: &str) -> Result<u8, CliError> {
    match queue.cancel(run).await.map_err(failed)? {
        true => print(&format!("run {run} is cancelled\n")).map(|()| 0),
        false => Err(no_such_run(run)),
    }
}

fn no_such_run(run: &str) -> CliError {
    CliError { text: format!("the queue has no run {run}; runs are kept for a week"), code: 3 }
}

fn failed(error: QueueError) -> CliError {
    CliError::failed(error.to_string())
}

/// Reads the flows, and makes one of each goal.
fn read(arguments: &Arguments) -> Result<(FlowFolders, ReadFlows), CliError> {
    let folders = FlowFolders::of(&arguments.flows, &arguments.files);
    let mut read = read_all(&arguments.flows, &arguments.files, &folders, false)?;
    for (number, goal) in arguments.goal.iter().enumerate() {
        // JSON is YAML. The goal says which app it is about, so the header names the system.
        let text = serde_json::to_string(goal).map_err(|it| CliError::failed(it.to_string()))?;
        let text = format!("appId: android\nname: {text}\n---\n- goal: {text}\n");
        let file = PathBuf::from(format!("__goal-{}.yaml", number + 1));
        let flow = thumbwire_flow::read(
            &file.display().to_string(),
            &arguments.files.parameters(),
            &|_| Ok(text.clone()),
        );
        read.flows.push(flow.map_err(|errors| CliError::usage(lines(&errors)))?);
        read.texts.insert(absolute(&file), text);
    }
    Ok((folders, read))
}

/// Puts the cases into the queue. Returns the run and its flows.
async fn submit(
    arguments: &Arguments,
    queue: &RunQueue,
    (folders, read): (FlowFolders, ReadFlows),
) -> Result<(String, RunFlows), CliError> {
    let mut files: BTreeMap<String, Bytes> = BTreeMap::new();
    for (path, text) in &read.texts {
        files.insert(file_name(path), text.clone().into());
    }
    let flows = read.runnable()?;
    for file in flows.iter().flat_map(Flow::files) {
        let content = folders.read(file, MAX_FILE as u64).map_err(|reason| {
            CliError::usage(format!("cannot read {}: {reason}", file.display()))
        })?;
        files.insert(file_name(file), content.into());
    }
    let selection = (arguments.files.only.as_deref(), arguments.files.shard);
    let chosen = chosen_cases(&flows, selection.0, selection.1).map_err(test::refused)?;
    let cases: Vec<QueuedCase> = chosen
        .iter()
        .map(|&(flow, case)| {
            let name = format!("{}: {}", flows[flow].file, flows[flow].cases[case].name);
            QueuedCase { flow, case, name }
        })
        .collect();
    let names: BTreeSet<String> = cases.iter().map(|case| case.name.clone()).collect();
    let history = queue.history(&names).await.map_err(failed)?;
    let queued = |flow: &Flow| QueuedFlow {
        file: file_name(Path::new(&flow.file)),
        named: flow.file.clone(),
    };
    let request = FlowRequest {
        flows: flows.iter().map(queued).collect(),
        files: files.keys().cloned().collect(),
        device: arguments.device.clone(),
        parameters: arguments.files.parameters(),
        redact: arguments.redact,
        cases,
    };
    let jobs = jobs(&flows, &request.cases, &history, arguments.retries);
    let priority = match arguments.priority {
        PriorityFlag::High => Priority::High,
        PriorityFlag::Normal => Priority::Normal,
        PriorityFlag::Low => Priority::Low,
    };
    let files = files.into_iter().map(|(name, content)| (stored(&name), content)).collect();
    let json = serde_json::to_value(&request).map_err(|it| CliError::failed(it.to_string()))?;
    let run = queue.submit(Submission { request: json, files, jobs, priority }).await;
    let run = run.map_err(failed)?;
    Ok((run, RunFlows { flows, cases: chosen }))
}

/// A job for each case, and one for each sequence of flows, of which the later ones may not run.
/// Those that took longest before come first, and before them those that never ran.
fn jobs(
    flows: &[Flow],
    cases: &[QueuedCase],
    history: &BTreeMap<String, CaseHistory>,
    retries: u32,
) -> Vec<Job> {
    let mut jobs: Vec<(Option<usize>, Job)> = Vec::new();
    for (number, case) in cases.iter().enumerate() {
        let sequence = flows[case.flow].sequence;
        let retries = history.get(&case.name).map_or(retries, |known| known.retries(retries));
        match jobs.iter_mut().find(|(of, _)| sequence.is_some() && *of == sequence) {
            Some((_, job)) => {
                job.cases.push(number);
                job.retries = job.retries.max(retries);
            }
            None => {
                jobs.push((sequence, Job { cases: vec![number], retries, ..Job::default() }));
            }
        }
    }
    let mut jobs: Vec<Job> = jobs.into_iter().map(|(_, job)| job).collect();
    let time = |number: &usize| {
        history.get(&cases[*number].name).map_or(Duration::MAX, |known| known.time)
    };
    jobs.sort_by_cached_key(|job| {
        let times = job.cases.iter().map(time);
        Reverse(times.fold(Duration::ZERO, Duration::saturating_add))
    });
    jobs
}

/// The flows of a run, and its cases by flow and place there.
struct RunFlows {
    flows: Vec<Flow>,
    cases: Vec<(usize, usize)>,
}

/// The flows of a run that was submitted before.
async fn attached(queue: &RunQueue, run: &str) -> Result<(String, RunFlows), CliError> {
    let RunRecord { request, .. } =
        queue.run(run).await.map_err(failed)?.ok_or_else(|| no_such_run(run))?;
    let invalid = |reason: String| CliError::failed(format!("cannot read the run {run}: {reason}"));
    let request = FlowRequest::deserialize(&request).map_err(|error| invalid(error.to_string()))?;
    let parent = tempfile::tempdir().map_err(|error| invalid(error.to_string()))?;
    let files = RunFiles::fetch(queue, run, &request, parent.path()).await.map_err(invalid)?;
    let mut flows = files.flows;
    for (flow, queued) in flows.iter_mut().zip(&request.flows) {
        flow.file.clone_from(&queued.named);
    }
    let cases = request.cases.iter().map(|case| (case.flow, case.case)).collect();
    Ok((run.to_owned(), RunFlows { flows, cases }))
}

/// Shows a run until it ends, and writes its report.
async fn follow(
    arguments: &Arguments,
    queue: &RunQueue,
    run: &str,
    flows: RunFlows,
    colours: bool,
) -> Result<u8, CliError> {
    let (began, started) = (Instant::now(), jiff::Timestamp::now().to_string());
    let folder = run_setup::new_folder(&arguments.out)?;
    let view =
        FlowView::new(colours, false, if arguments.quiet { View::Quiet } else { View::Normal });
    let interrupted = CancellationToken::new();
    let interrupts = tokio::spawn(interrupts(interrupted.clone(), print_error));
    let mut progress = RunProgress { flows: &flows, view: &view, results: BTreeMap::new() };
    let has_begun = AtomicBool::new(false);
    let following = queue.follow(run, |news| {
        has_begun.store(true, Ordering::SeqCst);
        progress.take(news);
    });
    let cancelling = async {
        interrupted.cancelled().await;
        if let Err(error) = queue.cancel(run).await {
            print_error(&error.to_string());
        }
        std::future::pending::<()>().await;
    };
    let warning = async {
        sleep(WORKERS).await;
        if !has_begun.load(Ordering::SeqCst) {
            print_error(
                "no worker has begun a case yet; `thumbwire work --fleet URL` starts one on any computer",
            );
        }
        std::future::pending::<()>().await;
    };
    let followed = tokio::select! {
        followed = following => followed,
        () = cancelling => Ok(()),
        () = warning => Ok(()),
    };
    interrupts.abort();
    followed.map_err(failed)?;
    progress.show_cancelled();
    let mut results = progress.results;
    for (number, record) in &mut results {
        keep_traces(queue, run, *number, record, &folder).await;
    }
    let report = report(flows, results, (started, began.elapsed()));
    let report = Arc::new(report);
    view.on_event(&Event::Task(&FlowEvent::RunFinished(Arc::clone(&report))));
    view.end();
    let junit = arguments.junit.as_deref();
    test::write_results(&report, &folder, junit, (colours, arguments.quiet))?;
    Ok(match report.exit_code() {
        0 => 0,
        _ if interrupted.is_cancelled() => INTERRUPTED,
        code => code,
    })
}

/// What is known of a run that goes on.
struct RunProgress<'a> {
    flows: &'a RunFlows,
    view: &'a FlowView,
    results: BTreeMap<usize, CaseRecord>,
}

impl RunProgress<'_> {
    fn take(&mut self, news: RunNews) {
        match news {
            RunNews::Event(event) => self.begun(&event),
            RunNews::Result(number, result) => self.ended(number, &result),
            RunNews::Cancelled => {}
        }
    }

    fn name(&self, number: usize) -> Option<String> {
        let &(flow, case) = self.flows.cases.get(number)?;
        let flow = self.flows.flows.get(flow)?;
        Some(full_name(flow, flow.cases.get(case)?))
    }

    fn show(&self, event: &FlowEvent) {
        self.view.on_event(&Event::Task(event));
    }

    /// Shows the cases that have no result: they were cancelled.
    fn show_cancelled(&self) {
        for case in (0..self.flows.cases.len()).filter(|case| !self.results.contains_key(case)) {
            let (Some(name), reason) = (self.name(case), CANCELLED.to_owned()) else { continue };
            self.show(&FlowEvent::CaseSkipped { case, name, reason });
        }
    }

    fn begun(&self, event: &Value) {
        let Ok(CaseBegun { case, device, attempt }) = CaseBegun::deserialize(event) else { return };
        if let Some(name) = self.name(case) {
            self.show(&FlowEvent::CaseStarted { case, name, device, attempt });
        }
    }

    fn ended(&mut self, number: usize, result: &Value) {
        let Some(name) = self.name(number) else { return };
        let here = absolute(Path::new("."));
        let read = CaseRecord::deserialize(result).ok();
        let Some(record) = read.and_then(|record| moved(&record, &here, "").ok()) else {
            print_error(&format!("the result of {name} cannot be read"));
            return;
        };
        if let Some(reason) = record.result.skipped.clone() {
            self.show(&FlowEvent::CaseSkipped { case: number, name: name.clone(), reason });
        }
        let count = record.result.attempts.len();
        for (at, attempt) in record.result.attempts.iter().enumerate() {
            let device = record.phones.get(attempt.phone).map_or("", Phone::name).to_owned();
            let nth = u32::try_from(at + 1).unwrap_or(u32::MAX);
            self.show(&FlowEvent::CaseStarted {
                case: number,
                name: name.clone(),
                device,
                attempt: nth,
            });
            let (attempt, again) = (Box::new(attempt.clone()), at + 1 < count);
            self.show(&FlowEvent::CaseFinished { case: number, attempt, again });
        }
        self.results.insert(number, record);
    }
}

/// Fetches the traces of a case into the folder of the run. What cannot be fetched is missing in
/// the report.
async fn keep_traces(
    queue: &RunQueue,
    run: &str,
    number: usize,
    record: &mut CaseRecord,
    folder: &Path,
) {
    let root = Folder::new(folder);
    for name in &record.files {
        let Some((trace, file)) = name.split_once('/') else { continue };
        let path = trace_folder(number, trace).join(file);
        let kept = match queue.file(run, &stored_trace(number, name), MAX_FILE).await {
            Ok(content) => root.write(&path, &content).map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        if let Err(reason) = kept {
            tracing::warn!("the report has no {}: {reason}", path.display());
        }
    }
    for attempt in &mut record.result.attempts {
        let own = |path: &Path| path.file_name().map(|name| name.to_string_lossy().into_owned());
        let trace = attempt.trace.as_deref().and_then(own);
        let trace = trace.map(|name| folder.join(trace_folder(number, &name)));
        if let (Some(failure), Some(trace)) = (&mut attempt.failed, &trace) {
            let picture = failure.picture.as_deref().and_then(own);
            failure.picture = picture.map(|name| trace.join(name));
        }
        attempt.trace = trace;
    }
}

/// The report of a run. Cases without a result were cancelled.
fn report(
    RunFlows { flows, cases }: RunFlows,
    mut results: BTreeMap<usize, CaseRecord>,
    (started, took): (String, Duration),
) -> Report {
    let mut phones: Vec<Phone> = Vec::new();
    let results = cases.iter().enumerate().map(|(number, &(flow, case))| {
        let Some(record) = results.remove(&number) else {
            let skipped = Some(CANCELLED.to_owned());
            return CaseResult { flow, case, attempts: Vec::new(), skipped };
        };
        let CaseRecord { mut result, phones: own, .. } = record;
        for attempt in &mut result.attempts {
            let Some(phone) = own.get(attempt.phone) else { continue };
            let known = phones.iter().position(|one| one == phone);
            attempt.phone = known.unwrap_or(phones.len());
            if known.is_none() {
                phones.push(phone.clone());
            }
        }
        CaseResult { flow, case, ..result }
    });
    let cases = results.collect();
    Report { flows, cases, phones, started, took, out_of_time: false, out_of_phones: false }
}
