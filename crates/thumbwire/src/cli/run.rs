//! `thumbwire run GOAL`: works towards a goal on a phone with a model.
//!
//! [`super::run_goal`] has the progress output and the exit codes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::model_flags::ModelSetup;
use super::resume_command::ResumeCommand;
use super::run_goal::{self, OutputFlags, RunContext, RunFlags, RunRequest};
use super::run_setup::{self, RunSetup};
use super::screenshot_size::ScreenshotSize;
use super::skill_flags::{SkillFlags, SkillSetup};
#[cfg(feature = "studio")]
use super::studio::StudioPage;
use super::{CliError, print_error, terminal_prompt, test};
use crate::config::{self, Config};
use crate::shell_quote::shell_quote;
use thumbwire_agent::{self, ScreenshotMode};
use thumbwire_core::artifacts::ArtifactStore;
#[cfg(feature = "studio")]
use thumbwire_core::event::ObservedPerform;
use thumbwire_core::session::{Session, SessionOptions};
#[cfg(feature = "studio")]
use thumbwire_mcp::Audit;
#[cfg(feature = "studio")]
use tokio_util::sync::CancellationToken;

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Goal in plain words
    #[arg(value_name = "GOAL", required_unless_present = "resume")]
    goal: Vec<String>,
    /// Phone to use: an adb serial, HOST:PORT of an adbd, the URL of an iPhone's WebDriverAgent,
    /// `virtual`, or `virtual-ios` [default: the only one connected]
    #[arg(short, long, value_name = "ID")]
    device: Option<String>,
    #[command(flatten)]
    common: RunFlags,
    #[command(flatten)]
    output: OutputFlags,
    #[command(flatten)]
    skills: SkillFlags,
    /// Directory to record the run in, as `logs/run-TIME/`
    #[arg(short, long, value_name = "DIR", default_value = ".")]
    out: PathBuf,
    /// Show the run on a page for the browser, to watch it, pause it and answer its questions
    /// [default address: 127.0.0.1:8090]
    #[cfg(feature = "studio")]
    #[arg(long, value_name = "HOST:PORT", num_args = 0..=1, default_missing_value = super::studio::ADDRESS)]
    studio: Option<String>,
    /// Resume the run in this directory
    #[arg(long, value_name = "RUN", conflicts_with = "out")]
    resume: Option<PathBuf>,
}

pub(super) async fn run(arguments: Arguments, config: &Config) -> Result<u8, CliError> {
    let config = &arguments.common.sources.applied_to(config)?;
    let goal = arguments.goal()?;
    let (common, device) = (&arguments.common, arguments.device.clone());
    common.model.check_prices(&common.limits)?;
    let skills = arguments.skills.open()?;
    let model = skills.open_model(&common.model, goal.as_deref(), config)?;
    let vault = run_setup::secrets(&common.secret)?;
    let out = arguments.resume.as_deref().map_or(Some(arguments.out.as_path()), |run| run.parent());
    let keep = ArtifactStore::new(out.unwrap_or(&arguments.out));
    let options = SessionOptions {
        files: Some(keep),
        app_tools: common.allow.options(config)?,
        ..super::leasing(config, "thumbwire run").await?
    };
    let session = Arc::new(self::session(config, device.clone(), common.screenshot_size, options));
    let setup = RunSetup {
        session: Arc::clone(&session),
        vault,
        out: arguments.out.clone(),
        redact: common.redact,
    };
    let mut context = common.context(device, arguments.output, config);
    #[cfg(feature = "studio")]
    if let Some(address) = &arguments.studio {
        let page = StudioPage::open(address, config).await?;
        let studio = super::studio::studio(&session, &page, &arguments.out, context.device.clone());
        let perform = ObservedPerform::new(setup.redacted_session(), studio.events());
        let (perform, stop) = (Arc::new(perform), CancellationToken::new());
        tokio::spawn(page.serve(&studio, &session, perform, Audit::default(), stop));
        context.watchers.push(studio.events());
        context.ask_beside = Some(Arc::new(studio));
    }
    let models = (model.as_ref(), &skills);
    let ended = run_goal(models, &setup, goal, arguments.resume.as_deref(), context).await;
    // A cancelled question may have left the echo off.
    terminal_prompt::show_again();
    session.end().await;
    ended
}

impl Arguments {
    /// The goal, if one was given.
    fn goal(&self) -> Result<Option<String>, CliError> {
        match self.goal.as_slice() {
            [first, ..] if self.goal.iter().all(|word| test::is_flow(word)) => {
                Err(CliError::usage(format!(
                    "{first:?} is a flow, not a goal: run it with `{} test {}`",
                    config::program(),
                    shell_quote(first)
                )))
            }
            [_, _, ..] => Err(CliError::usage("the goal must be one argument: put it in quotes")),
            [goal] if goal.trim().is_empty() => Err(CliError::usage("the goal is empty")),
            goal => Ok(goal.first().cloned()),
        }
    }
}

fn session(
    config: &Config,
    device: Option<String>,
    screenshot_size: Option<ScreenshotSize>,
    options: SessionOptions,
) -> Session {
    super::session_with(super::phones(config, device.as_deref()), device, screenshot_size, options)
}

/// Runs the goal of `--resume`, or a new one.
async fn run_goal(
    (model, skills): (Option<&ModelSetup>, &SkillSetup),
    setup: &RunSetup,
    goal: Option<String>,
    resume: Option<&Path>,
    context: RunContext<'_>,
) -> Result<u8, CliError> {
    // Check the phone first: a missing one must not leave an empty folder behind.
    let phone = run_goal::phone(&*setup.session, context.device.clone()).await?;
    let (run, goal) = match resume {
        Some(folder) => {
            let (run, recorded) = setup.resume(folder).map_err(CliError::usage)?;
            (run, goal.unwrap_or(recorded))
        }
        None => (setup.begin().map_err(CliError::failed)?, goal.unwrap_or_default()),
    };
    let resume = ResumeCommand::of(config::command_line(), &goal, run.folder());
    let inner = model.map(|model| model.policy(None));
    let request = RunRequest {
        goal: goal.clone(),
        // Comparing screens is not a step of the run, so it bypasses the trace.
        policy: skills.policy(inner, Arc::new(setup.redacted_session())),
        pictures: model.map_or_else(ScreenshotMode::default, ModelSetup::pictures),
        phone,
        resume: Some(resume),
    };
    let folder = run.folder();
    let code = run_goal::run_goal(run, request, context).await?;
    if code == 0 {
        match skills.learn(Path::new(&folder), &goal) {
            Ok(Some(file)) => print_error(&format!("Skill: {}", file.display())),
            Ok(None) => {}
            Err(reason) => print_error(&format!("The run was not saved as a skill: {reason}")),
        }
    }
    Ok(code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_goal_is_a_usage_error() {
        #[derive(clap::Parser)]
        struct Line {
            #[command(flatten)]
            run: Arguments,
        }
        let check = |text: &[&str], goal: Option<&str>| {
            let line = <Line as clap::Parser>::try_parse_from(text).map_err(|it| it.to_string());
            let got = line.unwrap().run.goal().map_err(|ended| ended.code);
            assert_eq!(got, goal.map(|goal| Some(goal.to_owned())).ok_or(2));
        };
        check(&["run", "open Maps"], Some("open Maps"));
        check(&["run", ""], None);
        check(&["run", " \n"], None);
    }
}
