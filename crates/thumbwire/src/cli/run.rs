//! `thumbwire run`: works towards a goal on a phone with a model, or runs flows ([`super::flow`]).
//!
//! [`super::run_goal`] has the progress output and the exit codes.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::model_flags::ModelSetup;
use super::resume_command::ResumeCommand;
use super::run_goal::{self, FOREVER, RunContext, RunFlags, RunRequest};
use super::run_setup::{self, FlowGoalRunner, RunSetup};
use super::screenshot_size::ScreenshotSize;
use super::skill_flags::{SkillFlags, SkillSetup};
use super::{CliError, DeviceFlags, flow, print, print_error, terminal_prompt};
use crate::config::{self, Config};
use thumbwire_agent::{self, Budgets, RedactedPerform, ScreenshotMode};
use thumbwire_core::artifacts::ArtifactStore;
use thumbwire_core::input_files::InputFolder;
use thumbwire_core::session::Session;
use thumbwire_flow::RunGoal;

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Goal in plain words, or flow files and directories (see docs/flows.md)
    #[arg(value_name = "GOAL|FLOW.yaml", required_unless_present_any = ["resume", "explain"])]
    goal: Vec<String>,
    /// Phone to use: an adb serial, HOST:PORT of an adbd, the URL of an iPhone's WebDriverAgent, `virtual`, or `virtual-ios`;
    /// repeat to spread flows over several phones [default: the only one connected]
    #[arg(short, long, value_name = "ID")]
    device: Vec<String>,
    #[command(flatten)]
    conduct: RunFlags,
    #[command(flatten)]
    skills: SkillFlags,
    /// Directory to record the run in, as `logs/run-TIME/`
    #[arg(short, long, value_name = "DIR", default_value = ".")]
    out: PathBuf,
    /// Resume the run in this directory
    #[arg(long, value_name = "RUN", conflicts_with = "out")]
    resume: Option<PathBuf>,
    /// Print the phases of an agent step with their inputs and outputs, then exit
    #[arg(long)]
    explain: bool,
    #[command(flatten)]
    flows: flow::Flags,
}

pub(super) async fn run(arguments: Arguments, config: &Config) -> Result<u8, CliError> {
    if arguments.explain {
        print(&thumbwire_agent::explain())?;
        return Ok(0);
    }
    let flows = !arguments.goal.is_empty() && arguments.goal.iter().all(|it| flow::is_flow(it));
    if flows {
        return try_flows(arguments, config).await;
    }
    if let Some(flag) = arguments.flows.given() {
        return Err(CliError::usage(format!("{flag} works only with flow files, not with a goal")));
    }
    let (goal, device) = alone(&arguments)?;
    let conduct = &arguments.conduct;
    conduct.mind.check_prices(&conduct.limits)?;
    let skills = arguments.skills.open()?;
    let thinker = skills.open_model(&conduct.mind, goal.as_deref(), config)?;
    let vault = run_setup::secrets(&conduct.secret)?;
    let out = arguments.resume.as_deref().map_or(Some(arguments.out.as_path()), |run| run.parent());
    let keep = ArtifactStore::new(out.unwrap_or(&arguments.out));
    let session = self::session(config, device.clone(), conduct.screenshot_size).with_files(keep);
    let session = Arc::new(session.with_app_tool_host(conduct.allow.options(config)?));
    let stage = RunSetup {
        session: Arc::clone(&session),
        vault,
        out: arguments.out.clone(),
        redact: conduct.redact,
    };
    let watched = conduct.watched(device, config);
    let decides = (thinker.as_ref(), &skills);
    let ended = run_goal(decides, &stage, goal, arguments.resume.as_deref(), watched).await;
    // A cancelled question may have left the echo off.
    terminal_prompt::show_again();
    session.end().await;
    ended
}

/// The single goal and its phone.
fn alone(arguments: &Arguments) -> Result<(Option<String>, Option<String>), CliError> {
    match (arguments.goal.as_slice(), arguments.device.as_slice()) {
        ([_, _, ..], _) => Err(CliError::usage(
            "the goal must be one argument: put it in quotes (flow files end in .yaml or .yml)",
        )),
        (_, [_, _, ..]) => {
            Err(CliError::usage("a goal runs on one phone: give --device only once"))
        }
        ([goal], _) if goal.trim().is_empty() => Err(CliError::usage("the goal is empty")),
        (goal, device) => Ok((goal.first().cloned(), device.first().cloned())),
    }
}

fn session(
    config: &Config,
    device: Option<String>,
    screenshot_size: Option<ScreenshotSize>,
) -> Session {
    super::session(config, DeviceFlags { device, screenshot_size })
}

/// Runs flows. Steps with a goal use the model, if one was named.
async fn try_flows(arguments: Arguments, config: &Config) -> Result<u8, CliError> {
    let resumes = arguments.resume.as_ref().map(|_| "--resume");
    let conduct = &arguments.conduct;
    let skills = arguments.skills.first_flag_given();
    if let Some(flag) = resumes.or(skills).or(conduct.show.first_flag_given()) {
        return Err(CliError::usage(format!("{flag} works only with a goal, not with flow files")));
    }
    conduct.mind.check_prices(&conduct.limits)?;
    let thinker = match conduct.mind.is_there() {
        true => Some(conduct.mind.open(config)?),
        false => None,
    };
    let vault = run_setup::secrets(&conduct.secret)?;
    let phones = super::phones(config, arguments.device.iter().map(String::as_str));
    let named = arguments.device.first().cloned();
    let session = super::session_with(phones, named, conduct.screenshot_size);
    let session = session.with_app_tool_host(conduct.allow.options(config)?);
    let session = match arguments.flows.allow_install {
        // Flows are the operator's own files and name packages anywhere, such as in `../build`.
        true => session.with_input_files(InputFolder::new(root_folder())),
        false => session,
    };
    let session = Arc::new(session.with_files(ArtifactStore::new(&arguments.out)));
    let perform = Arc::new(RedactedPerform::new(Arc::clone(&session), Arc::clone(&vault)));
    let folder = run_setup::new_folder(&arguments.out);
    let pursuer = thinker.map(|thinker| FlowGoalRunner {
        thinker,
        budgets: Budgets { time: None, ..conduct.limits.budgets(FOREVER) },
        vault,
        confirm: conduct.confirm,
        apps: run_setup::AppToolPerform::of(&session),
        folder: folder.display().to_string(),
    });
    // Questions of several phones would be interleaved.
    let asks = !conduct.no_ask && arguments.device.len() < 2;
    let errand = flow::FlowRequest {
        files: arguments.goal.iter().map(PathBuf::from).collect(),
        devices: arguments.device,
        out: Some(folder),
        redact: conduct.redact,
        within: Some(conduct.limits.budgets(FOREVER).time.unwrap_or(FOREVER)),
        pursue: pursuer.as_ref().map(|it| it as &dyn RunGoal),
        asks,
        view: conduct.show.flow_view(),
        colours: config.colours,
    };
    let ended = flow::run(arguments.flows, errand, perform).await;
    terminal_prompt::show_again();
    session.end().await;
    ended
}

/// The root of the file system that the working folder is on.
fn root_folder() -> PathBuf {
    let here = std::path::absolute(".").unwrap_or_default();
    here.ancestors().last().map_or_else(|| PathBuf::from("/"), Path::to_owned)
}

/// Runs the goal of `--resume`, or a new one.
async fn run_goal(
    (thinker, skills): (Option<&ModelSetup>, &SkillSetup),
    stage: &RunSetup,
    goal: Option<String>,
    resume: Option<&Path>,
    watched: RunContext<'_>,
) -> Result<u8, CliError> {
    // Check the phone first: a missing one must not leave an empty folder behind.
    let phone = run_goal::phone(&*stage.session, watched.device.clone()).await?;
    let (run, goal) = match resume {
        Some(folder) => {
            let (run, recorded) = stage.resume(folder).map_err(CliError::usage)?;
            (run, goal.unwrap_or(recorded))
        }
        None => (stage.begin("run").map_err(CliError::failed)?, goal.unwrap_or_default()),
    };
    let going_on = ResumeCommand::of(config::command_line(), &goal, run.folder());
    let inner = thinker.map(|thinker| thinker.policy(None));
    let errand = RunRequest {
        goal: goal.clone(),
        // Comparing screens is not a step of the run, so it bypasses the trace.
        policy: skills.policy(inner, Arc::new(stage.hidden())),
        pictures: thinker.map_or_else(ScreenshotMode::default, ModelSetup::pictures),
        phone,
        going_on: Some(going_on),
    };
    let folder = run.folder();
    let code = run_goal::run_goal(run, errand, watched).await?;
    if code == 0 {
        match skills.learn(Path::new(&folder), &goal) {
            Ok(Some(file)) => print_error(&format!("Skill: {}", file.display())),
            Ok(None) => {}
            Err(why) => print_error(&format!("The run was not saved as a skill: {why}")),
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
            let got = alone(&line.unwrap().run).map_err(|ended| ended.code);
            assert_eq!(got, goal.map(|goal| (Some(goal.to_owned()), None)).ok_or(2));
        };
        check(&["run", "open Maps"], Some("open Maps"));
        check(&["run", ""], None);
        check(&["run", " \n"], None);
    }
}
