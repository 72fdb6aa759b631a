//! A goal carried out before somebody's eyes: what is shown, whom it asks, what Ctrl-C does, and the exit code.
//!
//! Shared by `run` and `trace replay`; begin with [`carry_out`]. Standard output has the answer alone, or with `--json` the events; what a
//! person watches goes to standard error ([`super::live`]). Exit codes are those of all verbs, and 130 where it was interrupted, as
//! shells have it for Ctrl-C. Where the phone and the story come from is [`super::stage`]'s matter.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::app_tools::Allow;
use super::live::{JsonLines, Live};
use super::mind::{Limits, MindFlags};
use super::signals::Asked;
use super::stage::{self, Run};
use super::{Ended, print, terminal};
use crate::action::{Action, Call, NobodyThere, Outcome, Perform};
use crate::agent::{self, Budgets, Confirm, Mind, Pictures, Status, Stopped, Unwatched, Watch};
use crate::config::Config;

/// Before which acts a person is asked.
#[derive(Debug, Clone, Copy, clap::Args)]
#[group(skip)]
pub(super) struct ConfirmFlag {
    /// Before which acts the person is asked: all that change something, those that are risky (paying, deleting, sending), or none
    /// [default: risky where somebody can be asked, else never]
    #[arg(long, value_name = "ACTS", value_enum)]
    confirm: Option<Acts>,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Acts {
    Always,
    Risky,
    Never,
}

impl ConfirmFlag {
    /// Whether it was given.
    pub(super) fn is_given(self) -> bool {
        self.confirm.is_some()
    }

    /// Which acts those are; `asks` says whether somebody can be asked.
    pub(super) fn before(self, asks: bool) -> Confirm {
        match self.confirm {
            Some(Acts::Always) => Confirm::Always,
            Some(Acts::Risky) => Confirm::Risky,
            Some(Acts::Never) => Confirm::Never,
            None if asks => Confirm::Risky,
            None => Confirm::Never,
        }
    }
}

/// Who carries a goal out, within which limits, what they may type, whom they ask, and what is shown of it.
#[derive(clap::Args)]
#[group(skip)]
pub(super) struct Conduct {
    /// Serve pictures of at most so many pixels on the longer side; all coordinates are pixels of those
    #[arg(long, value_name = "PIXELS", value_parser = clap::value_parser!(u32).range(64..=10_000))]
    pub(super) max_side: Option<u32>,
    #[command(flatten)]
    pub(super) allow: Allow,
    #[command(flatten)]
    pub(super) mind: MindFlags,
    #[command(flatten)]
    pub(super) limits: Limits,
    /// A secret that can be typed by its name and is shown to nobody: the value of $THUMBWIRE_SECRET_NAME, else asked for; may be
    /// given several times
    #[arg(long, value_name = "NAME")]
    pub(super) secret: Vec<String>,
    #[command(flatten)]
    pub(super) confirm: ConfirmFlag,
    /// Ask nobody anything
    #[arg(long)]
    pub(super) no_ask: bool,
    #[command(flatten)]
    pub(super) show: ShowFlags,
}

impl Conduct {
    /// How a goal is carried out on this phone.
    pub(super) fn watched<'a>(&self, device: Option<String>, config: &'a Config) -> Watched<'a> {
        Watched {
            device,
            budgets: self.limits.budgets(FOREVER),
            confirm: self.confirm,
            asks: !self.no_ask && terminal::is_there(),
            show: self.show,
            config,
        }
    }
}

/// What is shown meanwhile.
#[derive(Debug, Clone, Copy, clap::Args)]
#[group(skip)]
pub(super) struct ShowFlags {
    /// Print what happens as JSON lines
    #[arg(long)]
    json: bool,
    /// Show nothing but the answer
    #[arg(long, conflicts_with = "json")]
    quiet: bool,
}

impl ShowFlags {
    /// One of them that was given.
    pub(super) fn given(self) -> Option<&'static str> {
        let given = [(self.json, "--json"), (self.quiet, "--quiet")];
        given.into_iter().find_map(|(given, flag)| given.then_some(flag))
    }
}

/// How long a run goes on where no limit was given: until its rounds are used up.
pub(super) const FOREVER: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// The exit code of a run that was interrupted (128 and the number of SIGINT).
pub(super) const INTERRUPTED: u8 = 130;

/// What is to be carried out.
pub(super) struct Errand {
    /// What is to be reached.
    pub(super) goal: String,
    /// Who decides.
    pub(super) mind: Arc<dyn Mind>,
    /// Which pictures it sees.
    pub(super) pictures: Pictures,
    /// The phone, as it is called ([`phone`]).
    pub(super) phone: String,
    /// The command that goes on where the run does not come to its end; `None` where there is none.
    pub(super) going_on: Option<String>,
}

/// How it is carried out.
pub(super) struct Watched<'a> {
    /// The phone that the calls name.
    pub(super) device: Option<String>,
    pub(super) budgets: Budgets,
    pub(super) confirm: ConfirmFlag,
    /// Whether the person at the terminal is asked.
    pub(super) asks: bool,
    pub(super) show: ShowFlags,
    pub(super) config: &'a Config,
}

/// Carries a goal out, shows it, and gives the exit code.
pub(super) async fn carry_out(
    mut run: Run,
    errand: Errand,
    watched: Watched<'_>,
) -> Result<u8, Ended> {
    let Watched { device, budgets, confirm, asks, show, config } = watched;
    let folder = run.folder();
    let limit = budgets.time.filter(|time| *time < FOREVER);
    // A time that nobody set is no budget: neither the model nor the log is told that a week is left.
    let budgets = Budgets { time: limit, ..budgets };
    let view = match (show.json, show.quiet) {
        (true, _) => View::Json(Arc::new(JsonLines)),
        (_, true) => View::Quiet,
        _ => View::Live(Arc::new(Live::new(config.colours, limit, asks))),
    };
    if let View::Live(live) = &view {
        live.begin(&errand.goal, &[errand.phone, errand.mind.name(), folder.clone()]);
    }
    let mut call = Call::within(FOREVER).on(device);
    call.ask = if asks { terminal::person(view.live()) } else { Arc::new(NobodyThere) };
    let options = stage::options(errand.pictures, budgets, folder.clone());
    let live = view.live();
    let notice = move |words: &str| live.iter().for_each(|live| live.notice(words));
    let interrupts = tokio::spawn(interrupts(call.cancelled.clone(), notice));
    let memory = std::mem::take(&mut run.memory);
    let agent = run.agent(errand.mind, options, view.watch()).confirming(confirm.before(asks));
    let ended = agent.run(&call, &errand.goal, memory).await;
    interrupts.abort();
    tell(&ended, &view, &folder, errand.going_on)
}

/// The phone that will be driven, as it is called.
pub(super) async fn phone(session: &dyn Perform, device: Option<String>) -> Result<String, Ended> {
    let call = Call::within(Duration::from_secs(15)).on(device);
    let ask = Action::DeviceInfo { no_older_than: Duration::ZERO };
    let outcome = session.perform(&call, ask).await?;
    let Outcome::Info { identity, info, .. } = outcome else { return Ok(String::new()) };
    let name = if info.model.is_empty() { identity.id.clone() } else { info.model };
    let id = if name == identity.id { String::new() } else { format!(" ({})", identity.id) };
    Ok(format!("{name}{id}, {} {}", identity.platform, info.os_version))
}

/// Ends the run behind the action that is under way when somebody asks for it; at once when they ask again. `notice` is told how.
pub(super) async fn interrupts(cancelled: CancellationToken, notice: impl Fn(&str)) {
    let mut asked = Asked::new();
    asked.ending().await;
    cancelled.cancel();
    notice("Ends after this action; Ctrl-C again ends at once.");
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
fn tell(
    ended: &agent::Ended,
    view: &View,
    folder: &str,
    going_on: Option<String>,
) -> Result<u8, Ended> {
    let interrupted = ended.stopped == Some(Stopped::Cancelled);
    let mut story = vec![format!("Its story: thumbwire trace report {}", quoted(folder))];
    if let Some(command) = going_on.filter(|_| ended.status == Status::Continue) {
        story.push(format!("{}: {command}", how_to_go_on(ended.stopped)));
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

/// What stands before the command that goes on. What a run used before counts on, so that the same limit would end it at once.
fn how_to_go_on(stopped: Option<Stopped>) -> &'static str {
    match stopped {
        Some(Stopped::Budget) => "Raise the limit, and go on with",
        _ => "Go on with",
    }
}

/// The answer with its lines, and without what a terminal would obey.
fn plain(text: &str) -> String {
    text.lines().map(super::live::harmless).collect::<Vec<_>>().join("\n")
}

/// A word as a shell takes it.
pub(super) fn quoted(word: &str) -> String {
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
    fn a_run_at_its_limit_goes_on_with_a_higher_one() {
        assert_eq!(how_to_go_on(Some(Stopped::Budget)), "Raise the limit, and go on with");
        assert_eq!(how_to_go_on(Some(Stopped::Cancelled)), "Go on with");
    }

    #[test]
    fn an_answer_keeps_its_lines_and_nothing_that_a_terminal_obeys() {
        assert_eq!(plain("one\n  two\x1b[2J"), "one\ntwo\u{fffd}[2J");
    }

    #[test]
    fn risky_acts_are_asked_about_only_where_somebody_can_be_asked() {
        assert_eq!(ConfirmFlag { confirm: None }.before(true), Confirm::Risky);
        assert_eq!(ConfirmFlag { confirm: None }.before(false), Confirm::Never);
        assert_eq!(ConfirmFlag { confirm: Some(Acts::Never) }.before(true), Confirm::Never);
        assert_eq!(ConfirmFlag { confirm: Some(Acts::Always) }.before(false), Confirm::Always);
    }
}
