//! `thumbwire run FLOW.yaml …`: reads the files, runs them, writes the JUnit file.
//!
//! Exit codes: 0 all passed, 1 a case failed, 2 a file is invalid, 3 no phone, 4 the run timed out, 5 refused by policy,
//! 130 interrupted.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::run_goal::interrupts;
use super::shutdown::INTERRUPTED;
use super::{CliError, exit_code, print};
use thumbwire_core::action::{AskUser, Call, Perform};
use thumbwire_flow::{
    self, Flow, FlowRunError, FlowRunner, Options, RunGoal, Shard, Terminal, junit,
};

/// Flags for flows only.
#[derive(clap::Args)]
pub(super) struct Flags {
    /// Write the results to a JUnit XML file
    #[arg(long, value_name = "FILE", help_heading = FLOWS)]
    junit: Option<PathBuf>,
    /// Set a parameter, which flows use as `${NAME}` (repeatable)
    #[arg(long, value_name = "NAME=VALUE", value_parser = parameter, help_heading = FLOWS)]
    param: Vec<(String, String)>,
    /// Run only cases whose name, or `FLOW: CASE`, contains NAME
    #[arg(long, value_name = "NAME", help_heading = FLOWS)]
    only: Option<String>,
    /// Run only shard I of N: 2/3 runs the cases 2, 5, 8 …
    #[arg(long, value_name = "I/N", value_parser = shard, help_heading = FLOWS)]
    shard: Option<Shard>,
    /// Stop after the first failed case
    #[arg(long, help_heading = FLOWS)]
    fail_fast: bool,
    /// Retry a failed case up to N times
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(..=20), help_heading = FLOWS)]
    retries: u32,
    /// Allow flows to clear app data (`reset: true`)
    #[arg(long, help_heading = FLOWS)]
    allow_reset: bool,
}

const FLOWS: &str = "Flows";

impl Flags {
    /// The first of these flags that was given.
    pub(super) fn given(&self) -> Option<&'static str> {
        let given = [
            (self.junit.is_some(), "--junit"),
            (!self.param.is_empty(), "--param"),
            (self.only.is_some(), "--only"),
            (self.shard.is_some(), "--shard"),
            (self.fail_fast, "--fail-fast"),
            (self.retries > 0, "--retries"),
            (self.allow_reset, "--allow-reset"),
        ];
        given.into_iter().find_map(|(given, flag)| given.then_some(flag))
    }
}

/// What `run` passes on besides the flags.
pub(super) struct FlowRequest<'a> {
    /// Flow files, and folders of them.
    pub(super) files: Vec<PathBuf>,
    /// The phones; if empty, the one that a flow names, else the session's.
    pub(super) devices: Vec<String>,
    /// A new folder for the traces.
    pub(super) out: Option<PathBuf>,
    /// Whether typed texts and pictures are left out of them.
    pub(super) redact: bool,
    /// Timeout of the whole run.
    pub(super) within: Option<Duration>,
    /// Runs goals, if a model was named.
    pub(super) pursue: Option<&'a dyn RunGoal>,
    /// Asks the user on behalf of a goal.
    pub(super) ask: Arc<dyn AskUser>,
}

/// Whether an argument of `run` is a flow file or folder, not a goal.
pub(super) fn is_flow(argument: &str) -> bool {
    is_yaml(Path::new(argument)) || Path::new(argument).is_dir()
}

/// Runs flows through `perform`.
pub(super) async fn run(
    flags: Flags,
    errand: FlowRequest<'_>,
    perform: Arc<dyn Perform>,
) -> Result<u8, CliError> {
    /// A month, the default: a call needs a deadline.
    const LONG: Duration = Duration::from_secs(30 * 86_400);
    let flows = read_all(&errand.files, &flags)?;
    let options = Options {
        devices: errand.devices,
        only: flags.only,
        shard: flags.shard,
        fail_fast: flags.fail_fast,
        retries: flags.retries,
        allow_reset: flags.allow_reset,
        folder: errand.out,
        redact: errand.redact,
        clock: jiff::Timestamp::now,
    };
    // With several phones, the lines of different cases would be interleaved.
    let live = options.devices.len() < 2;
    let terminal = Terminal::new(|text: &str| drop(print(text)), live);
    let run = FlowRunner { perform, options, watch: Arc::new(terminal), pursue: errand.pursue };
    let call = Call { ask: errand.ask, ..Call::with_timeout(errand.within.unwrap_or(LONG)) };
    let notice = |words: &str| eprintln!("{words}");
    let interrupts = tokio::spawn(interrupts(call.cancelled.clone(), notice));
    let report = run.run(&call, flows).await;
    interrupts.abort();
    let report = report.map_err(|refusal| {
        let code = match &refusal {
            FlowRunError::Reset { .. } | FlowRunError::Goal { .. } => 5,
            FlowRunError::NoSuchCase { .. } => 2,
            FlowRunError::Phone(failure) => exit_code(&failure.cause),
        };
        match refusal {
            FlowRunError::Phone(failure) => CliError { code, ..failure.into() },
            refusal => CliError { text: refusal.to_string(), code },
        }
    })?;
    if let Some(file) = &flags.junit {
        let text = junit(&report).map_err(|error| CliError::failed(error.to_string()))?;
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
        let written =
            folder.map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(file, text));
        written.map_err(|error| {
            CliError::failed(format!("cannot write {}: {error}", file.display()))
        })?;
    }
    Ok(match report.exit_code() {
        0 => 0,
        _ if call.cancelled.is_cancelled() => INTERRUPTED,
        code => code,
    })
}

/// Reads all flows, or reports all errors in them.
fn read_all(named: &[PathBuf], flags: &Flags) -> Result<Vec<Flow>, CliError> {
    let parameters = flags.param.iter().cloned().collect();
    let (mut flows, mut wrong) = (Vec::new(), Vec::new());
    for file in files(named)? {
        match thumbwire_flow::read(&file.display().to_string(), &parameters, &text_of) {
            Ok(flow) => flows.push(flow),
            Err(mistakes) => wrong.extend(mistakes.iter().map(ToString::to_string)),
        }
    }
    if wrong.is_empty() {
        Ok(flows)
    } else {
        Err(CliError::usage(format!("invalid flows, nothing was run:\n{}", wrong.join("\n"))))
    }
}

/// The named files and, for a folder, the flows directly in it; subfolders may hold flows that these include.
fn files(named: &[PathBuf]) -> Result<Vec<PathBuf>, CliError> {
    let mut files = Vec::new();
    for path in named {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let unread = |error| CliError::usage(format!("cannot read {}: {error}", path.display()));
        let mut inside = Vec::new();
        for entry in fs::read_dir(path).map_err(unread)? {
            inside.push(entry.map_err(unread)?.path());
        }
        inside.retain(|file| is_yaml(file) && file.is_file());
        inside.sort();
        if inside.is_empty() {
            return Err(CliError::usage(format!("no flow (*.yaml) in {}", path.display())));
        }
        files.extend(inside);
    }
    Ok(files)
}

fn is_yaml(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "yaml" || ending == "yml")
}

/// Reads a file, unless it is far too long for a flow.
fn text_of(path: &Path) -> Result<String, String> {
    const LONGEST: u64 = 16 << 20;
    let length = fs::metadata(path).map_err(|error| error.to_string())?.len();
    if length > LONGEST {
        return Err(format!("it has {length} bytes; the limit is {LONGEST}"));
    }
    fs::read_to_string(path).map_err(|error| error.to_string())
}

fn parameter(text: &str) -> Result<(String, String), String> {
    let read = text.split_once('=').filter(|(name, _)| !name.is_empty());
    let read = read.map(|(name, value)| (name.to_owned(), value.to_owned()));
    read.ok_or_else(|| "expected NAME=VALUE".to_owned())
}

fn shard(text: &str) -> Result<Shard, String> {
    let read = text.split_once('/').and_then(|(nth, of)| {
        let (nth, of) = (nth.parse::<usize>().ok()?, of.parse::<usize>().ok()?);
        (1..=of).contains(&nth).then_some(Shard { nth, of })
    });
    read.ok_or_else(|| "expected I/N, such as 1/3".to_owned())
}
