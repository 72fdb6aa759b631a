//! `thumbwire run`: a goal in words, carried out on a phone by a model; or flows ([`super::flow`]).
//!
//! Standard output has the answer alone, or with `--json` the events; what a person watches goes to standard error ([`super::live`]).
//! Exit codes are those of all verbs, and 130 where it was interrupted, as shells have it for Ctrl-C.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::live::{JsonLines, Live};
use super::mind::{Limits, MindFlags, Thinker};
use super::signals::Asked;
use super::stage::{self, Pursuer, Stage};
use super::{Device, Ended, flow, print, terminal};
use crate::action::{Action, Call, NobodyThere, Outcome, Perform};
use crate::agent::{self, Budgets, Confirm, Secrets, Status, Stopped, Unwatched, Watch};
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
    /// Serve pictures of at most so many pixels on the longer side; all coordinates are pixels of those
    #[arg(long, value_name = "PIXELS", value_parser = clap::value_parser!(u32).range(64..=10_000))]
    max_side: Option<u32>,
    #[command(flatten)]
    mind: MindFlags,
    #[command(flatten)]
    limits: Limits,
    /// A secret that can be typed by its name and is shown to nobody: the value of $THUMBWIRE_SECRET_NAME, else asked for; may be
    /// given several times
    #[arg(long, value_name = "NAME")]
    secret: Vec<String>,
    /// Before which acts the person is asked: all that change something, those that are risky (paying, deleting, sending), or none
    /// [default: risky where somebody is at the terminal, else never]
    #[arg(long, value_name = "ACTS", value_enum)]
    confirm: Option<ConfirmFlag>,
    /// Ask nobody anything
    #[arg(long)]
    no_ask: bool,
    /// The folder in which the run is kept, in `logs/run-TIME/`
    #[arg(long, value_name = "DIR", default_value = ".")]
    out: PathBuf,
    /// Go on with the run in this folder
    #[arg(long, value_name = "RUN", conflicts_with = "out")]
    resume: Option<PathBuf>,
    /// Print the phases of a round, with what each needs and gives, and do nothing
    #[arg(long)]
    explain: bool,
    /// Print what happens as JSON lines
    #[arg(long)]
    json: bool,
    /// Show nothing but the answer
    #[arg(long, conflicts_with = "json")]
    quiet: bool,
    #[command(flatten)]
    flows: flow::Flags,
}

/// Before which acts the person is asked.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum ConfirmFlag {
    Always,
    Risky,
    Never,
}

impl From<ConfirmFlag> for Confirm {
    fn from(flag: ConfirmFlag) -> Self {
        match flag {
            ConfirmFlag::Always => Self::Always,
            ConfirmFlag::Risky => Self::Risky,
            ConfirmFlag::Never => Self::Never,
        }
    }
}

/// How long a run goes on where no limit was given: until its rounds are used up.
const FOREVER: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// The exit code of a run that was interrupted (128 and the number of SIGINT).
const INTERRUPTED: u8 = 130;

pub(super) async fn run(arguments: Arguments, config: &Config) -> Result<u8, Ended> {
    if arguments.explain {
        print(&agent::explain())?;
        return Ok(0);
    }
    let flows = !arguments.goal.is_empty() && arguments.goal.iter().all(|it| flow::is_flow(it));
    if flows {
        return try_flows(arguments, config).await;
    }
    let (goal, device) = alone(&arguments)?;
    let thinker = arguments.mind.open(config)?;
    let vault = stage::secrets(&arguments.secret)?;
    let out = arguments.resume.as_deref().map_or(Some(arguments.out.as_path()), |run| run.parent());
    let keep = Keep::new(out.unwrap_or(&arguments.out));
    let session = self::session(config, device.clone(), arguments.max_side).with_files(keep);
    let session = Arc::new(session);
    let stage = Stage { session: Arc::clone(&session), vault, out: arguments.out.clone() };
    let flags = Flags {
        goal,
        resume: arguments.resume,
        limits: arguments.limits,
        no_ask: arguments.no_ask,
        confirm: arguments.confirm.map(Confirm::from),
        json: arguments.json,
        quiet: arguments.quiet,
    };
    let ended = carry_out(&flags, device, config, &thinker, &stage).await;
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
        (goal, device) => Ok((goal.first().cloned(), device.first().cloned())),
    }
}

fn session(config: &Config, device: Option<String>, max_side: Option<u32>) -> Session {
    super::session(config, Device { device, max_side })
}

/// Tries flows; a step with a goal is pursued by the model, where one was named.
async fn try_flows(arguments: Arguments, config: &Config) -> Result<u8, Ended> {
    let thinker = match arguments.mind.is_there() {
        true => Some(arguments.mind.open(config)?),
        false => None,
    };
    let vault = stage::secrets(&arguments.secret)?;
    // The built-in phone is there where one of the names is its own.
    let named = arguments.device.iter().find(|id| *id == VIRTUAL).or(arguments.device.first());
    let session = self::session(config, named.cloned(), arguments.max_side);
    let session = Arc::new(session.with_files(Keep::new(&arguments.out)));
    let perform = Arc::new(Secrets::new(Arc::clone(&session), Arc::clone(&vault)));
    let folder = stage::new_folder(&arguments.out);
    let pursuer = thinker.map(|thinker| Pursuer {
        thinker,
        budgets: Budgets { time: None, ..arguments.limits.budgets(FOREVER) },
        vault,
        folder: folder.display().to_string(),
    });
    let errand = flow::Errand {
        files: arguments.goal.iter().map(PathBuf::from).collect(),
        devices: arguments.device,
        out: Some(folder),
        within: Some(arguments.limits.budgets(FOREVER).time.unwrap_or(FOREVER)),
        pursue: pursuer.as_ref().map(|it| it as &dyn Pursue),
    };
    let ended = flow::run(arguments.flows, errand, perform).await;
    session.end().await;
    ended
}

/// The flags that matter once there is a session.
struct Flags {
    goal: Option<String>,
    resume: Option<PathBuf>,
    limits: Limits,
    no_ask: bool,
    confirm: Option<Confirm>,
    json: bool,
    quiet: bool,
}

async fn carry_out(
    flags: &Flags,
    device: Option<String>,
    config: &Config,
    thinker: &Thinker,
    stage: &Stage,
) -> Result<u8, Ended> {
    // A phone that is not there leaves no folder behind.
    let phone = phone(&*stage.session, device.clone()).await?;
    let (mut run, goal) = match &flags.resume {
        Some(folder) => {
            let (run, goal) = stage.resume(folder).map_err(Ended::usage)?;
            (run, flags.goal.clone().unwrap_or(goal))
        }
        None => (stage.begin().map_err(Ended::failed)?, flags.goal.clone().unwrap_or_default()),
    };
    let folder = run.folder();
    let limit = flags.limits.budgets(FOREVER).time.filter(|time| *time < FOREVER);
    let asks = !flags.no_ask && terminal::is_there();
    let view = match (flags.json, flags.quiet) {
        (true, _) => View::Json(Arc::new(JsonLines)),
        (_, true) => View::Quiet,
        _ => View::Live(Arc::new(Live::new(config.colours, limit, asks))),
    };
    if let View::Live(live) = &view {
        live.begin(&goal, &[phone, thinker.name(), folder.clone()]);
    }
    let mut call = Call::within(FOREVER).on(device);
    call.ask = if asks { terminal::person(view.live()) } else { Arc::new(NobodyThere) };
    let options = stage::options(thinker, flags.limits.budgets(FOREVER), folder.clone());
    let interrupts = tokio::spawn(interrupts(call.cancelled.clone(), view.live()));
    let memory = std::mem::take(&mut run.memory);
    let unless_told = if asks { Confirm::Risky } else { Confirm::Never };
    let agent = run
        .agent(thinker.mind(None), options, view.watch())
        .confirming(flags.confirm.unwrap_or(unless_told));
    let ended = agent.run(&call, &goal, memory).await;
    interrupts.abort();
    tell(&ended, &view, &folder)
}

/// The phone that will be driven, as it is called.
async fn phone(session: &dyn Perform, device: Option<String>) -> Result<String, Ended> {
    let call = Call::within(Duration::from_secs(15)).on(device);
    let ask = Action::DeviceInfo { no_older_than: Duration::ZERO };
    let outcome = session.perform(&call, ask).await?;
    let Outcome::Info { identity, info, .. } = outcome else { return Ok(String::new()) };
    let name = if info.model.is_empty() { identity.id.clone() } else { info.model };
    let id = if name == identity.id { String::new() } else { format!(" ({})", identity.id) };
    Ok(format!("{name}{id}, {} {}", identity.platform, info.os_version))
}

/// Ends the run behind the action that is under way when somebody asks for it; at once when they ask again.
async fn interrupts(cancelled: CancellationToken, live: Option<Arc<Live>>) {
    let mut asked = Asked::new();
    asked.ending().await;
    cancelled.cancel();
    if let Some(live) = &live {
        live.notice("Ends after this action; Ctrl-C again ends at once.");
    }
    asked.ending().await;
    terminal::show_again();
    std::process::exit(INTERRUPTED.into());
}

/// Who watches.
enum View {
    Live(Arc<Live>),
    Json(Arc<JsonLines>),
    Quiet,
}

impl View {
    fn watch(&self) -> Arc<dyn Watch> {
        match self {
            Self::Live(live) => Arc::clone(live) as Arc<dyn Watch>,
            Self::Json(json) => Arc::clone(json) as Arc<dyn Watch>,
            Self::Quiet => Arc::new(Unwatched),
        }
    }

    fn live(&self) -> Option<Arc<Live>> {
        match self {
            Self::Live(live) => Some(Arc::clone(live)),
            _ => None,
        }
    }
}

/// Tells how it ended; the exit code says it too.
fn tell(ended: &agent::Ended, view: &View, folder: &str) -> Result<u8, Ended> {
    let interrupted = ended.stopped == Some(Stopped::Cancelled);
    let mut story = vec![format!("Its story: thumbwire trace report {}", quoted(folder))];
    if ended.status == Status::Continue {
        story.push(format!("Go on with: {}", going_on(&config::command_line(), folder)));
    }
    match view {
        View::Live(live) => live.end(ended, &story),
        View::Json(json) => json.end(ended, Some(folder)),
        View::Quiet if ended.status != Status::Finish => {
            eprintln!("thumbwire: {}", super::live::harmless(&ended.why));
        }
        View::Quiet => {}
    }
    if ended.status == Status::Finish && !matches!(view, View::Json(_)) && !ended.why.is_empty() {
        print(&format!("{}\n", plain(&ended.why)))?;
    }
    Ok(match (ended.status, ended.stopped) {
        (Status::Finish, _) => 0,
        _ if interrupted => INTERRUPTED,
        (_, Some(Stopped::Budget)) => 4,
        _ => 1,
    })
}

/// The answer with its lines, and without what a terminal would obey.
fn plain(text: &str) -> String {
    text.lines().map(super::live::harmless).collect::<Vec<_>>().join("\n")
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

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./:=,@%+".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn an_answer_keeps_its_lines_and_nothing_that_a_terminal_obeys() {
        assert_eq!(plain("one\n  two\x1b[2J"), "one\ntwo\u{fffd}[2J");
    }
}
