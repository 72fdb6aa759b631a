//! `thumbwire run FLOW.yaml …`: reads the files, runs them, writes the JUnit file.
//!
//! Exit codes: 0 all passed, 1 a case failed, 2 a file is invalid, 3 no phone, 4 the run timed out, 5 refused by policy,
//! 130 interrupted.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::flow_view::FlowView;
use super::run_goal::interrupts;
use super::shutdown::INTERRUPTED;
use super::style::Style;
use super::styled_output::StyledOutput;
use super::terminal_prompt::{self, PauseOutput};
use super::{CliError, exit_code, print_error, trace};
use thumbwire_core::action::{Call, NoUser, Perform};
use thumbwire_core::event::EventSink;
use thumbwire_flow::{
    self, Flow, FlowRunError, FlowRunner, GoldenFiles, Options, RunGoal, Shard, View, Workspace,
    junit, suite,
};

/// Flags for flows only.
#[derive(clap::Args)]
pub(super) struct Flags {
    /// Write the results to a JUnit XML file
    #[arg(long, value_name = "FILE", help_heading = FLOWS)]
    junit: Option<PathBuf>,
    /// Set a parameter, which flows use as `${NAME}` (repeatable)
    #[arg(short = 'e', long, value_name = "NAME=VALUE", value_parser = parameter, help_heading = FLOWS)]
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
    /// When the report gets pictures of the screen: `always` (after each step, the default), or on `failure`, which is faster
    /// on a phone that takes long for a picture
    #[arg(long, value_name = "WHEN", value_enum, help_heading = FLOWS)]
    step_pictures: Option<StepPictures>,
    /// Run only flows with one of these tags, separated by commas
    #[arg(long, value_name = "TAGS", value_delimiter = ',', help_heading = FLOWS)]
    include_tags: Vec<String>,
    /// Skip flows with one of these tags, separated by commas
    #[arg(long, value_name = "TAGS", value_delimiter = ',', help_heading = FLOWS)]
    exclude_tags: Vec<String>,
    /// Allow flows to clear app data (`clear_data: true`, `clear`, `clearState`)
    #[arg(long, help_heading = FLOWS)]
    allow_reset: bool,
    /// Allow flows to install apps (`install`)
    #[arg(long, help_heading = FLOWS)]
    pub(super) allow_install: bool,
    /// Write the screenshots that `expect_screenshot` compares with, instead of comparing
    #[arg(long, help_heading = FLOWS)]
    update_goldens: bool,
}

const FLOWS: &str = "Flows";

/// When pictures are taken for the report.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
enum StepPictures {
    // Doc comments would be printed as a list in the help.
    #[default]
    Always,
    Failure,
}

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
            (!self.include_tags.is_empty(), "--include-tags"),
            (!self.exclude_tags.is_empty(), "--exclude-tags"),
            (self.step_pictures.is_some(), "--step-pictures"),
            (self.allow_reset, "--allow-reset"),
            (self.allow_install, "--allow-install"),
            (self.update_goldens, "--update-goldens"),
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
    /// Whether the user at the terminal answers the questions of a goal.
    pub(super) asks: bool,
    /// How much is printed.
    pub(super) view: View,
    /// Whether colours are wanted.
    pub(super) colours: bool,
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
        allow_install: flags.allow_install,
        update_goldens: flags.update_goldens,
        folder: errand.out.clone(),
        step_pictures: flags.step_pictures.unwrap_or_default() == StepPictures::Always,
        redact: errand.redact,
        clock: jiff::Timestamp::now,
    };
    // With several phones, the lines of different cases would be interleaved.
    let live = options.devices.len() < 2;
    let view = Arc::new(FlowView::new(errand.colours, live, errand.view));
    let run = FlowRunner {
        perform,
        options,
        watch: Arc::clone(&view) as Arc<dyn EventSink>,
        pursue: errand.pursue,
        goldens: Some(&DiskGoldens),
    };
    let ask = match errand.asks {
        true => terminal_prompt::person(Some(Arc::clone(&view) as Arc<dyn PauseOutput>)),
        false => Arc::new(NoUser),
    };
    let call = Call { ask, ..Call::with_timeout(errand.within.unwrap_or(LONG)) };
    let notice = |words: &str| print_error(words);
    let interrupts = tokio::spawn(interrupts(call.cancelled.clone(), notice));
    let report = run.run(&call, flows).await;
    interrupts.abort();
    view.end();
    let report = report.map_err(|refusal| {
        let code = match &refusal {
            FlowRunError::Reset { .. }
            | FlowRunError::Install { .. }
            | FlowRunError::Goal { .. } => 5,
            FlowRunError::NoSuchCase { .. } => 2,
            FlowRunError::Phone(failure) => exit_code(&failure.cause),
        };
        match refusal {
            FlowRunError::Phone(failure) => CliError { code, ..failure.into() },
            refusal => CliError { text: refusal.to_string(), code },
        }
    })?;
    if let Some(folder) = &errand.out {
        let page = trace::write_suite(folder, &suite(&report))?;
        let output = StyledOutput::new(errand.colours, None);
        let is_short = errand.view == View::Quiet && report.exit_code() == 0;
        if !is_short {
            output
                .line((Style::Dim, "Report: "), &[(Style::Plain, &page.display().to_string())])?;
        }
    }
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
    let mut skipped = 0;
    for path in named {
        let (mut workspace, files) = files(path)?;
        workspace.include_tags.extend_from_slice(&flags.include_tags);
        workspace.exclude_tags.extend_from_slice(&flags.exclude_tags);
        let mut together = Vec::new();
        for file in files {
            match thumbwire_flow::read(&file.display().to_string(), &parameters, &text_of) {
                Ok(flow) if workspace.selects(&flow) => together.push(flow),
                Ok(_) => skipped += 1,
                Err(mistakes) => wrong.extend(mistakes.iter().map(ToString::to_string)),
            }
        }
        workspace.sort(&mut together);
        flows.extend(together);
    }
    if !wrong.is_empty() {
        let text = format!("invalid flows, nothing was run:\n{}", wrong.join("\n"));
        return Err(CliError::usage(text));
    }
    if flows.is_empty() && skipped > 0 {
        return Err(CliError::usage(format!("no flow has the tags to run; {skipped} have others")));
    }
    Ok(flows)
}

/// A named file, or the flows of a folder: those that its `config.yaml` names, else those directly in it. Subfolders may
/// hold flows that these include.
fn files(path: &Path) -> Result<(Workspace, Vec<PathBuf>), CliError> {
    if !path.is_dir() {
        return Ok((Workspace::default(), vec![path.to_owned()]));
    }
    let workspace = workspace(path)?;
    let mut inside = Vec::new();
    walk(path, "", &mut inside)?;
    inside.retain(|name| workspace.takes(name));
    inside.sort();
    if inside.is_empty() {
        return Err(CliError::usage(format!("no flow (*.yaml) in {}", path.display())));
    }
    Ok((workspace, inside.iter().map(|name| path.join(name)).collect()))
}

/// What the folder's `config.yaml` says, if it has one that is not a flow.
fn workspace(folder: &Path) -> Result<Workspace, CliError> {
    for name in ["config.yaml", "config.yml"] {
        let file = folder.join(name);
        if !file.is_file() {
            continue;
        }
        let wrong = |why: String| CliError::usage(format!("cannot read {}: {why}", file.display()));
        let text = text_of(&file).map_err(wrong)?;
        let read = Workspace::read(&file.display().to_string(), &text);
        let read = read.map_err(|mistakes| {
            let all: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
            CliError::usage(format!("invalid workspace, nothing was run:\n{}", all.join("\n")))
        })?;
        if let Some(workspace) = read {
            return Ok(workspace);
        }
    }
    Ok(Workspace::default())
}

/// The files below a folder, relative to it.
fn walk(folder: &Path, before: &str, files: &mut Vec<String>) -> Result<(), CliError> {
    /// How many parts a name may have.
    const DEEPEST: usize = 16;
    let unread = |error| CliError::usage(format!("cannot read {}: {error}", folder.display()));
    for entry in fs::read_dir(folder).map_err(unread)? {
        let entry = entry.map_err(unread)?;
        let name = format!("{before}{}", entry.file_name().to_string_lossy());
        let path = entry.path();
        if path.is_file() {
            files.push(name);
        } else if path.is_dir() && name.matches('/').count() < DEEPEST {
            walk(&path, &format!("{name}/"), files)?;
        }
    }
    Ok(())
}

/// Goldens on this computer.
struct DiskGoldens;

impl GoldenFiles for DiskGoldens {
    fn read(&self, file: &Path) -> Result<Option<Vec<u8>>, String> {
        match fs::read(file) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.to_string()),
        }
    }

    fn write(&self, file: &Path, bytes: &[u8]) -> Result<(), String> {
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
        let made = folder.map_or(Ok(()), fs::create_dir_all);
        made.and_then(|()| fs::write(file, bytes)).map_err(|error| error.to_string())
    }
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
