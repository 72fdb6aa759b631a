//! `thumbwire run FLOW.yaml …`: reads the files, runs them, writes the JUnit file.
//!
//! Exit codes: 0 all passed, 1 a case failed, 2 a file is wrong, 3 no phone, 4 the time of the whole run was over, 5 refused by policy,
//! 130 it was interrupted.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::carry::{INTERRUPTED, interrupts};
use super::{Ended, exit_code, print};
use crate::action::{Ask, Call, Perform};
use crate::flow::{self, Flow, Options, Pursue, Refusal, Run, Shard, Terminal, junit};

/// What is said of flows alone.
#[derive(clap::Args)]
pub(super) struct Flags {
    /// Write the results of flows into a JUnit file
    #[arg(long, value_name = "FILE", help_heading = FLOWS)]
    junit: Option<PathBuf>,
    /// Set a parameter of flows, which `${NAME}` in them stands for; may be given several times
    #[arg(long, value_name = "NAME=VALUE", value_parser = parameter, help_heading = FLOWS)]
    param: Vec<(String, String)>,
    /// Try only the cases whose name, or FLOW: CASE, holds this
    #[arg(long, value_name = "NAME", help_heading = FLOWS)]
    only: Option<String>,
    /// Try only every so many-th case: 2/3 is the second of three parts
    #[arg(long, value_name = "I/N", value_parser = shard, help_heading = FLOWS)]
    shard: Option<Shard>,
    /// End with the first case that fails
    #[arg(long, help_heading = FLOWS)]
    fail_fast: bool,
    /// Try a case that failed again, so often
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(..=20), help_heading = FLOWS)]
    retries: u32,
    /// Let flows clear what apps keep (`reset: true`)
    #[arg(long, help_heading = FLOWS)]
    allow_reset: bool,
}

const FLOWS: &str = "Flows";

impl Flags {
    /// One of them that was given.
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

/// What `run` hands over beside.
pub(super) struct Errand<'a> {
    /// Files of flows, and folders of them.
    pub(super) files: Vec<PathBuf>,
    /// The phones; none is whichever the flows name, else the session's.
    pub(super) devices: Vec<String>,
    /// A new folder for the stories.
    pub(super) out: Option<PathBuf>,
    /// How long all of it may take.
    pub(super) within: Option<Duration>,
    /// Who pursues goals, where a model was named.
    pub(super) pursue: Option<&'a dyn Pursue>,
    /// Whom a goal may ask.
    pub(super) ask: Arc<dyn Ask>,
}

/// Whether an argument of `run` names flows and no goal.
pub(super) fn is_flow(argument: &str) -> bool {
    is_yaml(Path::new(argument)) || Path::new(argument).is_dir()
}

/// Runs flows by way of `perform`.
pub(super) async fn run(
    flags: Flags,
    errand: Errand<'_>,
    perform: Arc<dyn Perform>,
) -> Result<u8, Ended> {
    /// A month: without an end there would be nothing to count from.
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
        clock: jiff::Timestamp::now,
    };
    // With several phones the lines of one case would stand among another's.
    let live = options.devices.len() < 2;
    let terminal = Terminal::new(|text: &str| drop(print(text)), live);
    let run = Run { perform, options, watch: &terminal, pursue: errand.pursue };
    let call = Call { ask: errand.ask, ..Call::within(errand.within.unwrap_or(LONG)) };
    let notice = |words: &str| eprintln!("{words}");
    let interrupts = tokio::spawn(interrupts(call.cancelled.clone(), notice));
    let report = run.run(&call, flows).await;
    interrupts.abort();
    let report = report.map_err(|refusal| {
        let code = match &refusal {
            Refusal::Reset { .. } | Refusal::Goal { .. } => 5,
            Refusal::NoSuchCase { .. } => 2,
            Refusal::Phone(failure) => exit_code(&failure.cause),
        };
        match refusal {
            Refusal::Phone(failure) => Ended { code, ..failure.into() },
            refusal => Ended { words: refusal.to_string(), code },
        }
    })?;
    if let Some(file) = &flags.junit {
        let text = junit(&report).map_err(|error| Ended::failed(error.to_string()))?;
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
        let written =
            folder.map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(file, text));
        written
            .map_err(|error| Ended::failed(format!("cannot write {}: {error}", file.display())))?;
    }
    Ok(match report.exit_code() {
        0 => 0,
        _ if call.cancelled.is_cancelled() => INTERRUPTED,
        code => code,
    })
}

/// All flows, or all that is wrong with them.
fn read_all(named: &[PathBuf], flags: &Flags) -> Result<Vec<Flow>, Ended> {
    let parameters = flags.param.iter().cloned().collect();
    let (mut flows, mut wrong) = (Vec::new(), Vec::new());
    for file in files(named)? {
        match flow::read(&file.display().to_string(), &parameters, &text_of) {
            Ok(flow) => flows.push(flow),
            Err(mistakes) => wrong.extend(mistakes.iter().map(ToString::to_string)),
        }
    }
    if wrong.is_empty() {
        Ok(flows)
    } else {
        Err(Ended::usage(format!("the flows are not run:\n{}", wrong.join("\n"))))
    }
}

/// Those files, and of a folder those that lie right in it: what they run may lie deeper.
fn files(named: &[PathBuf]) -> Result<Vec<PathBuf>, Ended> {
    let mut files = Vec::new();
    for path in named {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let unread = |error| Ended::usage(format!("cannot read {}: {error}", path.display()));
        let mut inside = Vec::new();
        for entry in fs::read_dir(path).map_err(unread)? {
            inside.push(entry.map_err(unread)?.path());
        }
        inside.retain(|file| is_yaml(file) && file.is_file());
        inside.sort();
        if inside.is_empty() {
            return Err(Ended::usage(format!("there is no flow (*.yaml) in {}", path.display())));
        }
        files.extend(inside);
    }
    Ok(files)
}

fn is_yaml(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "yaml" || ending == "yml")
}

/// A file's text; what is far too long for a flow is not read at all.
fn text_of(path: &Path) -> Result<String, String> {
    const LONGEST: u64 = 16 << 20;
    let length = fs::metadata(path).map_err(|error| error.to_string())?.len();
    if length > LONGEST {
        return Err(format!("it has {length} bytes"));
    }
    fs::read_to_string(path).map_err(|error| error.to_string())
}

fn parameter(text: &str) -> Result<(String, String), String> {
    let read = text.split_once('=').filter(|(name, _)| !name.is_empty());
    let read = read.map(|(name, value)| (name.to_owned(), value.to_owned()));
    read.ok_or_else(|| "it is not NAME=VALUE".to_owned())
}

fn shard(text: &str) -> Result<Shard, String> {
    let read = text.split_once('/').and_then(|(nth, of)| {
        let (nth, of) = (nth.parse::<usize>().ok()?, of.parse::<usize>().ok()?);
        (1..=of).contains(&nth).then_some(Shard { nth, of })
    });
    read.ok_or_else(|| "it is not I/N, such as 1/3".to_owned())
}
