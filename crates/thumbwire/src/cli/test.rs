//! `thumbwire test FLOW…`: reads flows, runs them, writes the report and the JUnit file.
//!
//! Exit codes: 0 all passed, 1 a case failed, 2 a file is invalid, 3 no phone, 4 the run timed out,
//! 5 refused by policy, 130 interrupted.

mod check;
mod script_hosts;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use self::script_hosts::ScriptHosts;
use super::flow_view::FlowView;
use super::model_flags;
use super::run_goal::{FOREVER, RunFlags, interrupts};
use super::run_setup::{self, AppToolPerform, FlowGoalRunner};
use super::shutdown::INTERRUPTED;
use super::style::Style;
use super::styled_output::StyledOutput;
use super::terminal_prompt::{self, PauseOutput};
use super::{CliError, exit_code, print_error, trace};
use crate::config::{Config, maestro_variables};
use thumbwire_agent::{Budgets, RedactedPerform};
use thumbwire_base::files::{self, Folder};
use thumbwire_core::action::{Call, NoUser};
use thumbwire_core::artifacts::ArtifactStore;
use thumbwire_core::event::{EventSink, NoEvents};
use thumbwire_core::input_files::InputFolder;
use thumbwire_core::session::SessionOptions;
use thumbwire_flow::{
    self, Flow, FlowRunError, FlowRunner, GoldenFiles, Options, Report, RunGoal, Shard, View,
    Workspace, junit, suite,
};

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Flow files, and directories of them (see docs/flows.md)
    #[arg(value_name = "FLOW", required = true)]
    flows: Vec<PathBuf>,
    /// Phone to use: an adb serial, HOST:PORT of an adbd, the URL of an iPhone's WebDriverAgent,
    /// `virtual`, or `virtual-ios`; repeat to share the cases between phones [default: the one that
    /// a flow names, else the only one connected]
    #[arg(short, long, value_name = "ID")]
    device: Vec<String>,
    /// Set a parameter, which flows use as `${NAME}` (repeatable)
    #[arg(short = 'e', long, value_name = "NAME=VALUE", value_parser = parameter)]
    param: Vec<(String, String)>,
    /// Directory whose files flows may use [default: that of the flow, or the nearest one above it
    /// that is called `.maestro` or has a `config.yaml`]
    #[arg(long, value_name = "DIR")]
    input: Option<PathBuf>,
    /// Only read and check the flows, without a phone: list their cases, and what may go wrong
    #[arg(long)]
    check: bool,
    /// Workspace file that says which files of the directories are flows [default: their own
    /// `config.yaml`]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(flatten)]
    common: RunFlags,
    /// Directory to record the run in, as `logs/run-TIME/`
    #[arg(short, long, value_name = "DIR", default_value = ".")]
    out: PathBuf,
    /// Print only the cases that failed, and the counts
    #[arg(short, long)]
    quiet: bool,
    /// Print every step
    #[arg(short, long, conflicts_with = "quiet")]
    verbose: bool,
    #[command(flatten)]
    selection: SelectionFlags,
    /// Stop after the first failed case
    #[arg(long, help_heading = CASES)]
    fail_fast: bool,
    /// Retry a failed case up to N times
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(..=20), help_heading = CASES)]
    retries: u32,
    /// Write the results to a JUnit XML file
    #[arg(long, value_name = "FILE", help_heading = REPORT)]
    junit: Option<PathBuf>,
    /// When the report gets pictures of the screen: `always` (after each step), or on `failure`,
    /// which is faster on a phone that takes long for a picture
    #[arg(long, value_name = "WHEN", value_enum, default_value_t, help_heading = REPORT)]
    step_pictures: StepPictures,
    /// Write the screenshots that `assertScreenshot` compares with, instead of comparing
    #[arg(long, help_heading = REPORT)]
    update_goldens: bool,
    /// Allow flows to clear app data (`clearState`)
    #[arg(long, help_heading = PERMISSIONS)]
    allow_reset: bool,
    /// Allow flows to install apps (`installApp`) and to copy media to the phone (`addMedia`)
    #[arg(long, help_heading = PERMISSIONS)]
    allow_install: bool,
    /// Allow scripts of flows to reach HOST or HOST:PORT over HTTP (repeatable)
    #[arg(long, value_name = "HOST", help_heading = PERMISSIONS)]
    allow_network: Vec<String>,
}

/// The largest file that a flow names, in bytes.
const MAX_BYTES: u64 = 16 << 20;

/// The files that make a folder a workspace.
const WORKSPACES: [&str; 2] = ["config.yaml", "config.yml"];

const CASES: &str = "Cases";
const REPORT: &str = "Report";
const PERMISSIONS: &str = "Permissions";

/// Which cases are run.
#[derive(clap::Args)]
struct SelectionFlags {
    /// Run only cases whose name, or `FLOW: CASE`, contains NAME
    #[arg(long, value_name = "NAME", help_heading = CASES)]
    only: Option<String>,
    /// Run only shard I of N: 2/3 runs the cases 2, 5, 8 …
    #[arg(long, value_name = "I/N", value_parser = shard, help_heading = CASES)]
    shard: Option<Shard>,
    /// Run only flows with one of these tags, separated by commas
    #[arg(long, value_name = "TAGS", value_delimiter = ',', help_heading = CASES)]
    include_tags: Vec<String>,
    /// Skip flows with one of these tags, separated by commas
    #[arg(long, value_name = "TAGS", value_delimiter = ',', help_heading = CASES)]
    exclude_tags: Vec<String>,
}

/// When pictures are taken for the report.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
enum StepPictures {
    // Doc comments would be printed as a list in the help.
    #[default]
    Always,
    Failure,
}

/// Whether a word is the name of a flow file or of a folder, not a goal.
pub(super) fn is_flow(word: &str) -> bool {
    let path = Path::new(word);
    let is_yaml = path.extension().is_some_and(|ending| ending == "yaml" || ending == "yml");
    is_yaml || path.is_dir()
}

/// Runs the flows. Steps with a goal use the model, if one was named.
pub(super) async fn run(arguments: Arguments, config: &Config) -> Result<u8, CliError> {
    let folders = FlowFolders::of(&arguments);
    let read = read_all(&arguments, &folders)?;
    if arguments.check {
        return check::report(&read, &arguments.param);
    }
    let flows = read.runnable()?;
    let common = &arguments.common;
    let config = &common.sources.applied_to(config)?;
    common.model.check_prices(&common.limits)?;
    let model = common.model.open_named(config)?;
    let vault = run_setup::secrets(&common.secret)?;
    let network = ScriptHosts::of(&arguments.allow_network, model_flags::proxy(config));
    let phones = super::phones(config, arguments.device.iter().map(String::as_str));
    let named = arguments.device.first().cloned();
    let options = SessionOptions {
        app_tools: common.allow.options(config)?,
        input_files: arguments.allow_install.then(|| folders.input()),
        files: Some(ArtifactStore::new(&arguments.out)),
        ..super::leasing(config, "thumbwire test").await?
    };
    let session = super::session_with(phones, named, common.screenshot_size, options);
    let session = Arc::new(session);
    let perform = Arc::new(RedactedPerform::new(Arc::clone(&session), Arc::clone(&vault)));
    let folder = run_setup::new_folder(&arguments.out)?;
    let goals = model.map(|model| FlowGoalRunner {
        model,
        budgets: Budgets { time: None, ..common.limits.budgets(FOREVER) },
        vault,
        confirm: common.confirm,
        apps: AppToolPerform::of(&session),
        folder: folder.display().to_string(),
    });
    let goals = goals.as_ref().map(|goals| goals as &dyn RunGoal);
    let runner = FlowRunner {
        perform,
        options: arguments.options(&folder),
        events: Arc::new(NoEvents),
        goals,
        goldens: Some(&folders),
        network: Some(Arc::new(network)),
    };
    let ended = run_on(&arguments, flows, folder, runner, config.colours).await;
    // A cancelled question may have left the echo off.
    terminal_prompt::show_again();
    session.end().await;
    ended
}

/// Runs the flows through `perform`, shows them, and writes the results.
async fn run_on(
    arguments: &Arguments,
    flows: Vec<Flow>,
    folder: PathBuf,
    runner: FlowRunner<'_>,
    colours: bool,
) -> Result<u8, CliError> {
    // With several phones, the lines of cases and the questions of goals would be interleaved.
    let is_single = arguments.device.len() < 2;
    let view = Arc::new(FlowView::new(colours, is_single, arguments.view()));
    let runner = FlowRunner { events: Arc::clone(&view) as Arc<dyn EventSink>, ..runner };
    let ask = match is_single && !arguments.common.no_ask {
        true => terminal_prompt::person(Some(view.status_line() as Arc<dyn PauseOutput>)),
        false => Arc::new(NoUser),
    };
    let time = arguments.common.limits.budgets(FOREVER).time.unwrap_or(FOREVER);
    let call = Call { ask, ..Call::with_timeout(time) };
    let interrupts = tokio::spawn(interrupts(call.cancelled.clone(), print_error));
    let report = runner.run(&call, flows).await;
    interrupts.abort();
    view.end();
    let report = report.map_err(refused)?;
    let page = trace::write_suite(&folder, &suite(&report))?;
    if !arguments.quiet || report.exit_code() != 0 {
        let output = StyledOutput::new(colours, None);
        let page = page.display().to_string();
        output.line((Style::Dim, "Report: "), &[(Style::Plain, &page)])?;
    }
    if let Some(file) = &arguments.junit {
        write_junit(&report, file)?;
    }
    Ok(match report.exit_code() {
        0 => 0,
        _ if call.cancelled.is_cancelled() => INTERRUPTED,
        code => code,
    })
}

impl Arguments {
    fn options(&self, folder: &Path) -> Options {
        Options {
            devices: self.device.clone(),
            only: self.selection.only.clone(),
            shard: self.selection.shard,
            fail_fast: self.fail_fast,
            retries: self.retries,
            allow_reset: self.allow_reset,
            allow_install: self.allow_install,
            update_goldens: self.update_goldens,
            folder: Some(folder.to_owned()),
            step_pictures: self.step_pictures == StepPictures::Always,
            redact: self.common.redact,
            clock: jiff::Timestamp::now,
        }
    }

    fn view(&self) -> View {
        match (self.quiet, self.verbose) {
            (true, _) => View::Quiet,
            (_, true) => View::Verbose,
            _ => View::Normal,
        }
    }
}

/// Why nothing was run.
fn refused(error: FlowRunError) -> CliError {
    let code = match &error {
        FlowRunError::Reset { .. } | FlowRunError::Install { .. } | FlowRunError::Goal { .. } => 5,
        FlowRunError::NoSuchCase { .. }
        | FlowRunError::Needs { .. }
        | FlowRunError::Platform { .. } => 2,
        FlowRunError::Phone(failure) => exit_code(&failure.cause),
    };
    match error {
        FlowRunError::Phone(failure) => CliError { code, ..failure.into() },
        error => CliError { text: error.to_string(), code },
    }
}

fn write_junit(report: &Report, file: &Path) -> Result<(), CliError> {
    let text = junit(report).map_err(|error| CliError::failed(error.to_string()))?;
    let written = files::make_folder_of(file).and_then(|()| files::write(file, text.as_bytes()));
    written.map_err(|error| CliError::failed(format!("cannot write {}: {error}", file.display())))
}

/// The folders whose files the flows may use.
struct FlowFolders(Vec<Folder>);

impl FlowFolders {
    fn of(arguments: &Arguments) -> Self {
        let roots = match &arguments.input {
            Some(folder) => vec![absolute(folder)],
            None => arguments.flows.iter().map(|flow| project(flow)).collect(),
        };
        Self(roots.into_iter().map(Folder::new).collect())
    }

    /// The packages that flows may install.
    fn input(&self) -> InputFolder {
        InputFolder::of(self.0.iter().map(|folder| folder.root().to_owned()))
    }

    /// The folder that a file is in, and its absolute path.
    ///
    /// # Errors
    /// Which folders there are.
    fn find(&self, file: &Path) -> Result<(&Folder, PathBuf), String> {
        let file = absolute(file);
        match self.0.iter().find(|folder| folder.holds(&file)) {
            Some(folder) => Ok((folder, file)),
            None => {
                let roots = self.0.iter().map(|folder| folder.root().display().to_string());
                let roots = roots.collect::<Vec<_>>().join(" and ");
                Err(format!("only files in {roots} can be used; name a wider folder with --input"))
            }
        }
    }

    fn read_text(&self, file: &Path) -> Result<String, String> {
        let (folder, file) = self.find(file)?;
        folder.read_text(&file, MAX_BYTES).map_err(|error| error.to_string())
    }
}

impl GoldenFiles for FlowFolders {
    fn read(&self, file: &Path) -> Result<Option<Vec<u8>>, String> {
        let (folder, file) = self.find(file)?;
        match folder.read(&file, MAX_BYTES) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.to_string()),
        }
    }

    fn write(&self, file: &Path, bytes: &[u8]) -> Result<(), String> {
        let (folder, file) = self.find(file)?;
        folder.write(&file, bytes).map_err(|error| error.to_string())
    }
}

/// The folder of what belongs to a flow or a folder of flows: the nearest one upwards that is
/// called `.maestro` or is a workspace, else its own.
fn project(flow: &Path) -> PathBuf {
    let flow = absolute(flow);
    let own = match flow.is_dir() {
        true => &flow,
        false => flow.parent().unwrap_or(&flow),
    };
    let is_project = |folder: &&Path| {
        folder.file_name().is_some_and(|name| name == ".maestro")
            || WORKSPACES.iter().any(|name| folder.join(name).is_file())
    };
    own.ancestors().find(is_project).unwrap_or(own).to_owned()
}

/// The absolute path without `..`.
fn absolute(path: &Path) -> PathBuf {
    thumbwire_flow::plain(&std::path::absolute(path).unwrap_or_else(|_| path.to_owned()))
}

/// The flows to run or to check, and what is wrong with others.
struct ReadFlows {
    flows: Vec<Flow>,
    /// Each once.
    errors: Vec<String>,
    /// How many have other tags.
    skipped: usize,
}

impl ReadFlows {
    /// The flows, if all are right.
    fn runnable(self) -> Result<Vec<Flow>, CliError> {
        if !self.errors.is_empty() {
            let text = format!("invalid flows, nothing was run:\n{}", self.errors.join("\n"));
            return Err(CliError::usage(text));
        }
        if self.flows.is_empty() && self.skipped > 0 {
            let text = format!("no flow has the tags to run; {} have others", self.skipped);
            return Err(CliError::usage(text));
        }
        Ok(self.flows)
    }
}

/// Reads all flows.
fn read_all(arguments: &Arguments, folders: &FlowFolders) -> Result<ReadFlows, CliError> {
    let mut parameters: BTreeMap<String, String> = maestro_variables().collect();
    parameters.extend(arguments.param.iter().cloned());
    let mut read = ReadFlows { flows: Vec::new(), errors: Vec::new(), skipped: 0 };
    for (number, path) in arguments.flows.iter().enumerate() {
        let (mut workspace, files) = flow_files(path, arguments, folders)?;
        workspace.include_tags.extend_from_slice(&arguments.selection.include_tags);
        workspace.exclude_tags.extend_from_slice(&arguments.selection.exclude_tags);
        let mut together = Vec::new();
        // The operator may name a link.
        let text_of = |file: &Path| match file == path {
            true => text_of(file),
            false => folders.read_text(file),
        };
        for file in files {
            match thumbwire_flow::read(&file.display().to_string(), &parameters, &text_of) {
                Ok(flow) if workspace.selects(&flow) => together.push(flow),
                Ok(_) => read.skipped += 1,
                Err(errors) => {
                    for error in errors.iter().map(ToString::to_string) {
                        // Several flows may run the same wrong file.
                        if !read.errors.contains(&error) {
                            read.errors.push(error);
                        }
                    }
                }
            }
        }
        workspace.sort(&mut together, number);
        read.flows.extend(together);
    }
    Ok(read)
}

/// A named file, or the flows of a folder: those that its `config.yaml` names, else those directly
/// in it. Subfolders may hold flows that these include.
fn flow_files(
    path: &Path,
    arguments: &Arguments,
    folders: &FlowFolders,
) -> Result<(Workspace, Vec<PathBuf>), CliError> {
    if !path.is_dir() {
        return Ok((Workspace::default(), vec![path.to_owned()]));
    }
    let workspace = match &arguments.config {
        Some(file) => read_workspace(file, &text_of(file))?.unwrap_or_default(),
        None => workspace(path)?,
    };
    let mut inside = Vec::new();
    walk(path, "", &mut inside)?;
    let text = |name: &str| folders.read_text(&path.join(name));
    // A file that cannot be read is refused later, with its reason.
    let is_config = |name: &str| text(name).is_ok_and(|text| Workspace::is_config(&text));
    let (mut listed, others): (Vec<String>, Vec<String>) =
        inside.into_iter().partition(|name| workspace.takes(name) && !is_config(name));
    if listed.is_empty() && arguments.check {
        // Checking does no harm, and tells what the folder has.
        let is_yaml = |name: &str| name.ends_with(".yaml") || name.ends_with(".yml");
        let is_flow = |name: &str| text(name).is_ok_and(|text| text.contains("\n---"));
        listed = others.into_iter().filter(|name| is_yaml(name) && is_flow(name)).collect();
    }
    listed.sort();
    if listed.is_empty() {
        let text = format!(
            "no flow of {} is listed: name a folder of flows, or list them under `flows` in its config.yaml; `--check` shows all that it has",
            path.display()
        );
        return Err(CliError::usage(text));
    }
    Ok((workspace, listed.iter().map(|name| path.join(name)).collect()))
}

/// What the folder's `config.yaml` says, if it has one that is not a flow.
fn workspace(folder: &Path) -> Result<Workspace, CliError> {
    for name in WORKSPACES {
        let file = folder.join(name);
        if !file.is_file() {
            continue;
        }
        let text = Folder::new(folder).read_text(Path::new(name), MAX_BYTES);
        let text = text.map_err(|error| error.to_string());
        if let Some(workspace) = read_workspace(&file, &text)? {
            return Ok(workspace);
        }
    }
    Ok(Workspace::default())
}

/// What a workspace file says; `None` if it is a flow.
fn read_workspace(
    file: &Path,
    text: &Result<String, String>,
) -> Result<Option<Workspace>, CliError> {
    let text = text
        .as_ref()
        .map_err(|reason| CliError::usage(format!("cannot read {}: {reason}", file.display())))?;
    Workspace::read(&file.display().to_string(), text).map_err(|errors| {
        let all: Vec<String> = errors.iter().map(ToString::to_string).collect();
        CliError::usage(format!("invalid workspace, nothing was run:\n{}", all.join("\n")))
    })
}

/// The files below a folder, relative to it.
fn walk(folder: &Path, before: &str, files: &mut Vec<String>) -> Result<(), CliError> {
    /// How many parts a name may have.
    const MAX_DEPTH: usize = 16;
    let unread = |error| CliError::usage(format!("cannot read {}: {error}", folder.display()));
    for entry in fs::read_dir(folder).map_err(unread)? {
        let entry = entry.map_err(unread)?;
        let name = format!("{before}{}", entry.file_name().to_string_lossy());
        let path = entry.path();
        let kind = entry.file_type().map_err(unread)?;
        // Reading a link is refused later, with its name.
        if kind.is_file() || kind.is_symlink() {
            files.push(name);
        } else if kind.is_dir() && name.matches('/').count() < MAX_DEPTH {
            walk(&path, &format!("{name}/"), files)?;
        }
    }
    Ok(())
}

/// Reads a file that the operator named.
fn text_of(path: &Path) -> Result<String, String> {
    files::read_text(path, MAX_BYTES).map_err(|error| error.to_string())
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
