//! `thumbwire trace replay RUN`: repeats a recorded run on a phone, without a model while the screens match.
//!
//! [`ReplayPolicy`] compares the screens. A replay is a run of its own with its trace in `logs/replay-TIME/`; it is shown, interrupted and
//! ended like any other ([`super::run_goal`]).

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::model_flags::ModelSetup;
use super::run_goal::{self, RunContext, RunFlags, RunRequest};
use super::run_setup::{self, RunSetup};
use super::{CliError, DeviceFlags, session, terminal_prompt};
use crate::config::Config;
use thumbwire_agent::{Policy, ReplayPolicy, ScreenshotMode};
use thumbwire_core::artifacts::ArtifactStore;
use thumbwire_core::trace::format::TraceRecord;
use thumbwire_core::trace::{self, Trace};

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Directory of the run
    #[arg(value_name = "RUN")]
    run: PathBuf,
    /// Phone to use: an adb serial, HOST:PORT of an adbd, the URL of an iPhone's WebDriverAgent, `virtual`, or `virtual-ios`
    /// [default: the phone that the run named, else the only one connected]
    #[arg(short, long, value_name = "ID")]
    device: Option<String>,
    #[command(flatten)]
    conduct: RunFlags,
    /// Directory to record the replay in, as `logs/replay-TIME/`
    #[arg(short, long, value_name = "DIR", default_value = ".")]
    out: PathBuf,
}

pub(super) async fn run(arguments: Arguments, config: &Config) -> Result<u8, CliError> {
    let lines = recorded(&arguments.run)?;
    let conduct = &arguments.conduct;
    conduct.mind.check_prices(&conduct.limits)?;
    let thinker = match conduct.mind.is_there() {
        true => Some(conduct.mind.open(config)?),
        false => None,
    };
    let vault = run_setup::secrets(&conduct.secret)?;
    let device = arguments.device.clone().or_else(|| named(&lines));
    let phone = DeviceFlags { device: device.clone(), screenshot_size: conduct.screenshot_size };
    let session = session(config, phone).with_app_tool_host(conduct.allow.options(config)?);
    let session = Arc::new(session.with_files(ArtifactStore::new(&arguments.out)));
    let stage = RunSetup {
        session: Arc::clone(&session),
        vault,
        out: arguments.out.clone(),
        redact: conduct.redact,
    };
    let watched = conduct.watched(device, config);
    let ended = repeat(&arguments.run, &lines, thinker.as_ref(), &stage, watched).await;
    // A cancelled question may have left the echo off.
    terminal_prompt::show_again();
    session.end().await;
    ended
}

async fn repeat(
    run: &Path,
    lines: &[TraceRecord],
    thinker: Option<&ModelSetup>,
    stage: &RunSetup,
    watched: RunContext<'_>,
) -> Result<u8, CliError> {
    let story = Trace::open(run).map_err(|error| wrong(run, &error))?;
    // Comparing is not a step of the run, so it bypasses the trace.
    let replay = ReplayPolicy::of(lines, |file| story.file(file).ok(), Arc::new(stage.hidden()))
        .map_err(|why| wrong(run, &why))?;
    let replay = match thinker {
        Some(thinker) => replay.with_fallback(thinker.policy(None)),
        None => replay,
    };
    // Check the phone first: a missing one must not leave an empty folder behind.
    let phone = run_goal::phone(&*stage.session, watched.device.clone()).await?;
    let goal = replay.request().to_owned();
    let policy: Arc<dyn Policy> = Arc::new(replay);
    let pictures = thinker.map_or_else(ScreenshotMode::default, ModelSetup::pictures);
    let again = stage.begin("replay").map_err(CliError::failed)?;
    let errand = RunRequest { goal, policy, pictures, phone, going_on: None };
    run_goal::run_goal(again, errand, watched).await
}

/// All lines of a run. Unlike showing a trace, repeating one requires every line to be readable.
fn recorded(run: &Path) -> Result<Vec<TraceRecord>, CliError> {
    if !run.is_dir() {
        return Err(wrong(run, &"no such directory"));
    }
    trace::read(run).map_err(|error| wrong(run, &error))
}

fn wrong(run: &Path, reason: &dyn std::fmt::Display) -> CliError {
    CliError::usage(format!("cannot replay the run in {}: {reason}", run.display()))
}

/// The device id that the run's calls used.
fn named(lines: &[TraceRecord]) -> Option<String> {
    lines.iter().find_map(|line| match line {
        TraceRecord::Action { device, .. } => device.clone(),
        _ => None,
    })
}
