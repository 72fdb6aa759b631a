//! `thumbwire run`: a goal in words, carried out on a phone by a model; or flows ([`super::flow`]).
//!
//! What a person sees of it meanwhile, and the exit codes, are [`super::carry`]'s.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::carry::{self, Conduct, Errand, FOREVER, Watched, quoted};
use super::mind::Thinker;
use super::stage::{self, Pursuer, Stage};
use super::{Device, Ended, flow, print, terminal};
use crate::action::NobodyThere;
use crate::agent::{self, Budgets, Secrets};
use crate::config::{self, Config};
use crate::flow::Pursue;
use crate::keep::Keep;
use crate::session::{Session, VIRTUAL};

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// What is to be reached, in words; or files of flows, and folders of them (docs/flows.md)
    #[arg(value_name = "GOAL|FLOW.yaml", required_unless_present_any = ["resume", "explain"])]
    goal: Vec<String>,
    /// The phone: an adb serial, HOST:PORT of an adbd, or `virtual` for the built-in one; flows are shared out to several [default:
    /// the only one attached]
    #[arg(long, value_name = "ID")]
    device: Vec<String>,
    #[command(flatten)]
    conduct: Conduct,
    /// The folder in which the run is kept, in `logs/run-TIME/`
    #[arg(long, value_name = "DIR", default_value = ".")]
    out: PathBuf,
    /// Go on with the run in this folder
    #[arg(long, value_name = "RUN", conflicts_with = "out")]
    resume: Option<PathBuf>,
    /// Print the phases of a round, with what each needs and gives, and do nothing
    #[arg(long)]
    explain: bool,
    #[command(flatten)]
    flows: flow::Flags,
}

pub(super) async fn run(arguments: Arguments, config: &Config) -> Result<u8, Ended> {
    if arguments.explain {
        print(&agent::explain())?;
        return Ok(0);
    }
    let flows = !arguments.goal.is_empty() && arguments.goal.iter().all(|it| flow::is_flow(it));
    if flows {
        return try_flows(arguments, config).await;
    }
    if let Some(flag) = arguments.flows.given() {
        return Err(Ended::usage(format!("{flag} is for flows: name their files, and no goal")));
    }
    let (goal, device) = alone(&arguments)?;
    let conduct = &arguments.conduct;
    let thinker = conduct.mind.open(config)?;
    let vault = stage::secrets(&conduct.secret)?;
    let out = arguments.resume.as_deref().map_or(Some(arguments.out.as_path()), |run| run.parent());
    let keep = Keep::new(out.unwrap_or(&arguments.out));
    let session = self::session(config, device.clone(), conduct.max_side).with_files(keep);
    let session = Arc::new(session.with_bridge(conduct.allow.options(config)?));
    let stage = Stage { session: Arc::clone(&session), vault, out: arguments.out.clone() };
    let watched = conduct.watched(device, config);
    let ended = carry_out(&thinker, &stage, goal, arguments.resume.as_deref(), watched).await;
    // A question that is no longer waited for may have left it so.
    terminal::show_again();
    session.end().await;
    ended
}

/// The one goal, and the one phone that it is for.
fn alone(arguments: &Arguments) -> Result<(Option<String>, Option<String>), Ended> {
    match (arguments.goal.as_slice(), arguments.device.as_slice()) {
        ([_, _, ..], _) => Err(Ended::usage(
            "the goal is one argument: put it in quotes (files of flows end in .yaml or .yml)",
        )),
        (_, [_, _, ..]) => {
            Err(Ended::usage("a goal is carried out on one phone: give one --device"))
        }
        ([goal], _) if goal.trim().is_empty() => {
            Err(Ended::usage("the goal is empty; say what is to be reached"))
        }
        (goal, device) => Ok((goal.first().cloned(), device.first().cloned())),
    }
}

fn session(config: &Config, device: Option<String>, max_side: Option<u32>) -> Session {
    super::session(config, Device { device, max_side })
}

/// Tries flows; a step with a goal is pursued by the model, where one was named.
async fn try_flows(arguments: Arguments, config: &Config) -> Result<u8, Ended> {
    let resumes = arguments.resume.as_ref().map(|_| "--resume");
    let conduct = &arguments.conduct;
    if let Some(flag) = resumes.or(conduct.show.given()) {
        return Err(Ended::usage(format!("{flag} is for a goal, and not for flows")));
    }
    let thinker = match conduct.mind.is_there() {
        true => Some(conduct.mind.open(config)?),
        false => None,
    };
    let vault = stage::secrets(&conduct.secret)?;
    // The built-in phone is there where one of the names is its own.
    let named = arguments.device.iter().find(|id| *id == VIRTUAL).or(arguments.device.first());
    let session = self::session(config, named.cloned(), conduct.max_side);
    let session = session.with_bridge(conduct.allow.options(config)?);
    let session = Arc::new(session.with_files(Keep::new(&arguments.out)));
    let perform = Arc::new(Secrets::new(Arc::clone(&session), Arc::clone(&vault)));
    let folder = stage::new_folder(&arguments.out);
    let pursuer = thinker.map(|thinker| Pursuer {
        thinker,
        budgets: Budgets { time: None, ..conduct.limits.budgets(FOREVER) },
        vault,
        confirm: conduct.confirm,
        apps: stage::Apps::of(&session),
        folder: folder.display().to_string(),
    });
    // The questions of several phones would stand among each other.
    let asks = !conduct.no_ask && arguments.device.len() < 2;
    let errand = flow::Errand {
        files: arguments.goal.iter().map(PathBuf::from).collect(),
        devices: arguments.device,
        out: Some(folder),
        within: Some(conduct.limits.budgets(FOREVER).time.unwrap_or(FOREVER)),
        pursue: pursuer.as_ref().map(|it| it as &dyn Pursue),
        ask: if asks { terminal::person(None) } else { Arc::new(NobodyThere) },
    };
    let ended = flow::run(arguments.flows, errand, perform).await;
    terminal::show_again();
    session.end().await;
    ended
}

/// The goal of `--resume` or a new one, carried out.
async fn carry_out(
    thinker: &Thinker,
    stage: &Stage,
    goal: Option<String>,
    resume: Option<&Path>,
    watched: Watched<'_>,
) -> Result<u8, Ended> {
    // A phone that is not there leaves no folder behind.
    let phone = carry::phone(&*stage.session, watched.device.clone()).await?;
    let (run, goal) = match resume {
        Some(folder) => {
            let (run, recorded) = stage.resume(folder).map_err(Ended::usage)?;
            (run, goal.unwrap_or(recorded))
        }
        None => (stage.begin("run").map_err(Ended::failed)?, goal.unwrap_or_default()),
    };
    let going_on = going_on(&config::command_line(), &run.folder());
    let errand = Errand {
        goal,
        mind: thinker.mind(None),
        pictures: thinker.pictures(),
        phone,
        going_on: Some(going_on),
    };
    carry::carry_out(run, errand, watched).await
}

/// The command that goes on with a run: the one that began it, with the folder of the run behind it. The goal may stay: it is the same.
fn going_on(words: &[String], folder: &str) -> String {
    let mut command = vec!["thumbwire".to_owned()];
    let mut words = words.iter();
    let mut resumed = false;
    while let Some(word) = words.next() {
        match word.as_str() {
            // What goes on lies where it lies.
            "--out" => drop(words.next()),
            out if out.starts_with("--out=") => {}
            word => {
                resumed |= word == "--resume" || word.starts_with("--resume=");
                command.push(quoted(word));
            }
        }
    }
    if !resumed {
        command.push(format!("--resume {}", quoted(folder)));
    }
    command.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_goal_is_refused_before_a_phone_is_touched() {
        #[derive(clap::Parser)]
        struct Line {
            #[command(flatten)]
            run: Arguments,
        }
        let check = |words: &[&str], goal: Option<&str>| {
            let line = <Line as clap::Parser>::try_parse_from(words).map_err(|it| it.to_string());
            let got = alone(&line.unwrap().run).map_err(|ended| ended.code);
            assert_eq!(got, goal.map(|goal| (Some(goal.to_owned()), None)).ok_or(2));
        };
        check(&["run", "open Maps"], Some("open Maps"));
        check(&["run", ""], None);
        check(&["run", " \n"], None);
    }

    #[test]
    fn the_command_that_goes_on_is_the_one_that_began() {
        let check = |words: &[&str], command: &str| {
            let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
            assert_eq!(going_on(&words, "logs/run 1"), command);
        };
        check(
            &["run", "Search for O'Neill", "--model", "scripted:x", "--out", "there"],
            r"thumbwire run 'Search for O'\''Neill' --model scripted:x --resume 'logs/run 1'",
        );
        check(&["run", "--resume", "logs/run 1"], "thumbwire run --resume 'logs/run 1'");
    }
}
