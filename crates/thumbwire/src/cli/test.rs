//! `thumbwire test FLOW…`: reads flows, runs them, writes the report and the JUnit file.
//!
//! Exit codes: 0 all passed, 1 a case failed, 2 a file is invalid, 3 no phone, 4 the run timed out,
//! 5 refused by policy, 130 interrupted.

mod check;
#[cfg(feature = "eval")]
mod prove;
pub(super) mod script_hosts;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use self::script_hosts::ScriptHosts;
use super::flow_files::{CASES, FlowFlags, FlowFolders, FlowPermissions, read_all};
use super::flow_view::FlowView;
use super::model_flags::{self, MODEL};
use super::role_flags::ROLES;
use super::run_goal::{FOREVER, RunFlags, interrupts};
use super::run_setup::{self, AppToolPerform, FlowGoalRunner};
use super::shutdown::INTERRUPTED;
use super::style::Style;
use super::styled_output::StyledOutput;
use super::terminal_prompt::{self, PauseOutput};
use super::{CliError, exit_code, print_error, trace};
use crate::config::Config;
use thumbwire_agent::{Budgets, RedactedPerform};
use thumbwire_base::files;
use thumbwire_core::action::{Call, NoUser};
use thumbwire_core::artifacts::ArtifactStore;
use thumbwire_core::event::{EventSink, NoEvents};
use thumbwire_core::session::SessionOptions;
use thumbwire_flow::{
    Flow, FlowRunError, FlowRunner, Options, Report, RunGoal, View, junit, suite,
};

#[derive(clap::Args)]
#[command(mut_args = of_goals)]
pub(super) struct Arguments {
    /// Flow files, and directories of them (see docs/flows.md)
    #[arg(value_name = "FLOW", required = true)]
    flows: Vec<PathBuf>,
    /// Phone to use: an adb serial, HOST:PORT of an adbd, the URL of an iPhone's WebDriverAgent,
    /// `virtual`, or `virtual-ios`; repeat to share the cases between phones [default: the one that
    /// a flow names, else the only one connected]
    #[arg(short, long, value_name = "ID")]
    device: Vec<String>,
    #[command(flatten)]
    files: FlowFlags,
    /// Only read and check the flows, without a phone: list their cases, and what may go wrong
    #[arg(long)]
    check: bool,
    /// Directory to record the run in, as `logs/run-TIME/`
    #[arg(short, long, value_name = "DIR", default_value = ".")]
    out: PathBuf,
    /// Print only the cases that failed, and the counts
    #[arg(short, long)]
    quiet: bool,
    /// Print every step
    #[arg(short, long, conflicts_with = "quiet")]
    verbose: bool,
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
    #[command(flatten)]
    allow: FlowPermissions,
    #[cfg(feature = "eval")]
    #[command(flatten)]
    proof: prove::ProofFlags,
    #[command(flatten)]
    common: RunFlags,
}

/// Puts what only goals need below everything else, the model first.
fn of_goals(argument: clap::Arg) -> clap::Arg {
    let is_models =
        argument.get_help_heading().is_some_and(|heading| [MODEL, ROLES].contains(&heading));
    let argument = match argument.get_id().as_str() {
        "model" => argument.display_order(0),
        "confirm" => argument.display_order(1),
        "max_steps" | "max_tokens" | "max_cost" => argument,
        _ if is_models => argument,
        _ => return argument,
    };
    argument.help_heading("Goals in flows, which need a model")
}

const REPORT: &str = "Report";

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
    let folders = FlowFolders::of(&arguments.flows, &arguments.files);
    let read = read_all(&arguments.flows, &arguments.files, &folders, arguments.check)?;
    if arguments.check {
        return check::report(&read, &arguments.files.param);
    }
    let flows = read.runnable()?;
    #[cfg(feature = "eval")]
    if arguments.proof.prove {
        return prove::run(&arguments, &flows, &folders, config);
    }
    let common = &arguments.common;
    let config = &common.sources.applied_to(config)?;
    common.model.check_prices(&common.limits)?;
    let model = common.model.open_named(config)?;
    let vault = run_setup::secrets(&common.secret)?;
    let network = ScriptHosts::of(&arguments.allow.network, model_flags::proxy(config));
    let phones = super::phones(config, arguments.device.iter().map(String::as_str));
    let named = arguments.device.first().cloned();
    let options = SessionOptions {
        app_tools: common.allow.options(config)?,
        input_files: arguments.allow.install.then(|| folders.input()),
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
    write_results(&report, &folder, arguments.junit.as_deref(), (colours, arguments.quiet))?;
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
            only: self.files.only.clone(),
            shard: self.files.shard,
            fail_fast: self.fail_fast,
            retries: self.retries,
            allow_reset: self.allow.reset,
            allow_install: self.allow.install,
            update_goldens: self.update_goldens,
            folder: Some(folder.to_owned()),
            step_pictures: self.step_pictures == StepPictures::Always,
            redact: self.common.redact,
            probe: None,
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
pub(super) fn refused(error: FlowRunError) -> CliError {
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

/// Writes the page of a run and the JUnit file, and prints where the page is, with colours if
/// wanted; nothing if the run passed and the caller wants it quiet.
pub(super) fn write_results(
    report: &Report,
    folder: &Path,
    junit: Option<&Path>,
    (colours, quiet): (bool, bool),
) -> Result<(), CliError> {
    let page = trace::write_suite(folder, &suite(report))?;
    if !quiet || report.exit_code() != 0 {
        let output = StyledOutput::new(colours, None);
        let page = page.display().to_string();
        output.line((Style::Dim, "Report: "), &[(Style::Plain, &page)])?;
    }
    junit.map_or(Ok(()), |file| write_junit(report, file))
}

fn write_junit(report: &Report, file: &Path) -> Result<(), CliError> {
    let text = junit(report).map_err(|error| CliError::failed(error.to_string()))?;
    let written = files::make_folder_of(file).and_then(|()| files::write(file, text.as_bytes()));
    written.map_err(|error| CliError::failed(format!("cannot write {}: {error}", file.display())))
}
