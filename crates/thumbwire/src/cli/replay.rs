//! `thumbwire trace replay RUN`: repeats a recorded run on a phone, without a model while the
//! screens match.
//!
//! [`ReplayPolicy`] compares the screens. A replay is a run of its own with its trace in
//! `logs/replay-TIME/`; it is shown, interrupted and ended like any other ([`super::run_goal`]).

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::model_flags::ModelSetup;
use super::run_goal::{self, OutputFlags, RunContext, RunFlags, RunRequest};
use super::run_setup::{self, RunSetup};
use super::{CliError, phones, session_with, terminal_prompt};
use crate::config::Config;
use thumbwire_agent::{Policy, ReplayPolicy, ScreenshotMode};
use thumbwire_core::artifacts::ArtifactStore;
use thumbwire_core::session::SessionOptions;
use thumbwire_core::trace::Trace;
use thumbwire_core::trace::format::TraceRecord;

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Directory of the run
    #[arg(value_name = "RUN")]
    run: PathBuf,
    /// Phone to use: an adb serial, HOST:PORT of an adbd, the URL of an iPhone's WebDriverAgent,
    /// `virtual`, or `virtual-ios` [default: the phone that the run named, else the only one
    /// connected]
    #[arg(short, long, value_name = "ID")]
    device: Option<String>,
    #[command(flatten)]
    common: RunFlags,
    #[command(flatten)]
    output: OutputFlags,
    /// Directory to record the replay in, as `logs/replay-TIME/`
    #[arg(short, long, value_name = "DIR", default_value = ".")]
    out: PathBuf,
}

pub(super) async fn run(arguments: Arguments, config: &Config) -> Result<u8, CliError> {
    let config = &arguments.common.sources.applied_to(config)?;
    let lines = recorded(&arguments.run)?;
    let common = &arguments.common;
    common.model.check_prices(&common.limits)?;
    let model = common.model.open_named(config)?;
    let vault = run_setup::secrets(&common.secret)?;
    let device = arguments.device.clone().or_else(|| named(&lines));
    let phones = phones(config, device.as_deref());
    let options = SessionOptions {
        app_tools: common.allow.options(config)?,
        files: Some(ArtifactStore::new(&arguments.out)),
        ..SessionOptions::default()
    };
    let session = session_with(phones, device.clone(), common.screenshot_size, options);
    let session = Arc::new(session);
    let setup = RunSetup {
        session: Arc::clone(&session),
        vault,
        out: arguments.out.clone(),
        redact: common.redact,
    };
    let context = common.context(device, arguments.output, config);
    let ended = repeat(&arguments.run, &lines, model.as_ref(), &setup, context).await;
    // A cancelled question may have left the echo off.
    terminal_prompt::show_again();
    session.end().await;
    ended
}

async fn repeat(
    run: &Path,
    lines: &[TraceRecord],
    model: Option<&ModelSetup>,
    setup: &RunSetup,
    context: RunContext<'_>,
) -> Result<u8, CliError> {
    let trace = Trace::open(run).map_err(|error| wrong(run, &error))?;
    // Comparing is not a step of the run, so it bypasses the trace.
    let replay =
        ReplayPolicy::of(lines, |file| trace.file(file).ok(), Arc::new(setup.redacted_session()))
            .map_err(|reason| wrong(run, &reason))?;
    let replay = match model {
        Some(model) => replay.with_fallback(model.policy(None)),
        None => replay,
    };
    // Check the phone first: a missing one must not leave an empty folder behind.
    let phone = run_goal::phone(&*setup.session, context.device.clone()).await?;
    let goal = replay.request().to_owned();
    let policy: Arc<dyn Policy> = Arc::new(replay);
    let pictures = model.map_or_else(ScreenshotMode::default, ModelSetup::pictures);
    let again = setup.begin("replay").map_err(CliError::failed)?;
    let request = RunRequest { goal, policy, pictures, phone, resume: None };
    run_goal::run_goal(again, request, context).await
}

/// All lines of a run. Unlike showing a trace, repeating one requires every line to be readable.
fn recorded(run: &Path) -> Result<Vec<TraceRecord>, CliError> {
    if !run.is_dir() {
        return Err(wrong(run, &"no such directory"));
    }
    thumbwire_core::trace::read(run).map_err(|error| wrong(run, &error))
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
