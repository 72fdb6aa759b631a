//! `thumbwire trace replay RUN`: a recorded run again, on a phone, without a model as long as things are as they were.
//!
//! What is compared, and when it counts as the same, is [`Replay`]'s matter. The replay is a run itself, with its own story in
//! `logs/replay-TIME/`; it is shown, interrupted and ended like any other ([`super::carry`]).

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::carry::{self, Conduct, Errand, Watched};
use super::mind::Thinker;
use super::stage::{self, Stage};
use super::{Device, Ended, session, terminal};
use crate::agent::{Mind, Pictures, Replay};
use crate::config::Config;
use crate::keep::Keep;
use crate::trace::format::{Line, VERSION};
use crate::trace::{self, Story};

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// The run's folder
    #[arg(value_name = "RUN")]
    run: PathBuf,
    /// The phone: an adb serial, HOST:PORT of an adbd, or `virtual` for the built-in one [default: the one that the run named, else
    /// the only one attached]
    #[arg(long, value_name = "ID")]
    device: Option<String>,
    #[command(flatten)]
    conduct: Conduct,
    /// The folder in which the replay is kept, in `logs/replay-TIME/`
    #[arg(long, value_name = "DIR", default_value = ".")]
    out: PathBuf,
}

pub(super) async fn run(arguments: Arguments, config: &Config) -> Result<u8, Ended> {
    let lines = recorded(&arguments.run)?;
    let conduct = &arguments.conduct;
    let thinker = match conduct.mind.is_there() {
        true => Some(conduct.mind.open(config)?),
        false => None,
    };
    let vault = stage::secrets(&conduct.secret)?;
    let device = arguments.device.clone().or_else(|| named(&lines));
    let phone = Device { device: device.clone(), max_side: conduct.max_side };
    let session = session(config, phone).with_bridge(conduct.allow.options(config)?);
    let session = Arc::new(session.with_files(Keep::new(&arguments.out)));
    let stage = Stage { session: Arc::clone(&session), vault, out: arguments.out.clone() };
    let watched = conduct.watched(device, config);
    let ended = repeat(&arguments.run, &lines, thinker.as_ref(), &stage, watched).await;
    // A question that is no longer waited for may have left it so.
    terminal::show_again();
    session.end().await;
    ended
}

async fn repeat(
    run: &Path,
    lines: &[Line],
    thinker: Option<&Thinker>,
    stage: &Stage,
    watched: Watched<'_>,
) -> Result<u8, Ended> {
    let story = Story::open(run).map_err(|error| wrong(run, &error))?;
    // To compare is no step of the run: it is asked for outside of the story.
    let replay = Replay::of(lines, |file| story.file(file).ok(), Arc::new(stage.hidden()))
        .map_err(|why| wrong(run, &why))?;
    let replay = match thinker {
        Some(thinker) => replay.else_asking(thinker.mind(None)),
        None => replay,
    };
    // A phone that is not there leaves no folder behind.
    let phone = carry::phone(&*stage.session, watched.device.clone()).await?;
    let goal = replay.request().to_owned();
    let mind: Arc<dyn Mind> = Arc::new(replay);
    let pictures = thinker.map_or_else(Pictures::default, Thinker::pictures);
    let again = stage.begin("replay").map_err(Ended::failed)?;
    let errand = Errand { goal, mind, pictures, phone, going_on: None };
    carry::carry_out(again, errand, watched).await
}

/// The lines of a run that this program can repeat: all of them, where a story that is only told may leave some out.
fn recorded(run: &Path) -> Result<Vec<Line>, Ended> {
    if !run.is_dir() {
        return Err(wrong(run, &"there is no such folder"));
    }
    let lines = trace::read(run).map_err(|error| wrong(run, &error))?;
    match lines.first() {
        Some(Line::Run { trace, .. }) if *trace != VERSION => {
            let why = format!(
                "it is a trace of version {trace}, and version {VERSION} is what can be repeated"
            );
            Err(wrong(run, &why))
        }
        _ => Ok(lines),
    }
}

fn wrong(run: &Path, why: &dyn std::fmt::Display) -> Ended {
    Ended::usage(format!("cannot repeat the run in {}: {why}", run.display()))
}

/// The phone that the run's calls named.
fn named(lines: &[Line]) -> Option<String> {
    lines.iter().find_map(|line| match line {
        Line::Step { device, .. } => device.clone(),
        _ => None,
    })
}
