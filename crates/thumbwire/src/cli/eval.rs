//! `thumbwire eval`

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressStyle};

use super::mind::{MindFlags, Thinker};
use super::{Ended, print};
use crate::config::Config;
use crate::eval::{Manner, Plan, Score, Study, Task, Who, faults, table, tasks};

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Who attempts the tasks, where no model is named
    #[arg(long, value_enum, default_value = "scripted", conflicts_with = "model")]
    mind: MindName,
    #[command(flatten)]
    model: MindFlags,
    /// Which tasks, with * for anything; comma separated
    #[arg(long, value_name = "GLOB", default_value = "*", value_delimiter = ',')]
    tasks: Vec<String>,
    /// Which seeds: A..B without B, or one
    #[arg(long, value_name = "A..B", default_value = "0..1", value_parser = seeds)]
    seeds: Seeds,
    /// How many phones at a time [default: as many as there are processors]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1_000))]
    jobs: Option<u16>,
    /// What goes wrong on the phones, as `phone --fault` has it; as often as you like
    #[arg(long = "fault", value_name = "RULE")]
    fault: Vec<String>,
    /// Compare kinds of faults: `all`, or some, comma separated
    #[arg(long, value_name = "KINDS", value_delimiter = ',', conflicts_with = "fault")]
    faults: Vec<String>,
    /// How likely a kind of `--faults` strikes in a step
    #[arg(long, value_name = "PROBABILITY", default_value = "0.2", value_parser = share)]
    p: f64,
    /// Rounds that the agent has for each act of the oracle, and five more [default: 3; 12 with `--faults`]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    rounds: Option<u32>,
    /// With `--faults`: switch each safeguard off in turn as well
    #[arg(long, requires = "faults")]
    ablate: bool,
    /// Write the scores into a file, as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Keep the story of each attempt in a new folder of this one
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// End with exit code 1 where a smaller share than this succeeds, 0 to 1; with `--faults`, of any kind
    #[arg(long, value_name = "SHARE", default_value = "0", value_parser = share)]
    least: f64,
    /// List the tasks, with their apps and the goal of the first seed
    #[arg(long)]
    list: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum MindName {
    /// The scripts, carried out as they stand: the yardstick
    Oracle,
    /// A fixed policy that follows the scripts by what it sees
    Scripted,
    /// One that does nothing
    Idle,
    /// One that says at once that all is done
    Claims,
}

#[derive(Clone)]
struct Seeds(Vec<u64>);

fn seeds(text: &str) -> Result<Seeds, String> {
    const MOST: u64 = 10_000;
    let number =
        |text: &str| text.trim().parse::<u64>().map_err(|error| format!("{text:?}: {error}"));
    let (from, to) = match text.split_once("..") {
        Some((from, to)) => (number(from)?, number(to)?),
        None => (number(text)?, number(text)?.saturating_add(1)),
    };
    match to.checked_sub(from) {
        None | Some(0) => Err("there is no seed between them".into()),
        Some(count) if count > MOST => Err(format!("{MOST} seeds at most")),
        Some(_) => Ok(Seeds((from..to).collect())),
    }
}

fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "it must be a number from 0 to 1".into())
}

pub(super) async fn run(arguments: Arguments, config: &Config) -> Result<u8, Ended> {
    let chosen: Vec<Task> = tasks::all()
        .into_iter()
        .filter(|task| arguments.tasks.iter().any(|glob| fits(glob, task.name)))
        .collect();
    if chosen.is_empty() {
        return Err(Ended::usage("no task is called so; `thumbwire eval --list` lists them"));
    }
    if arguments.list {
        return list(&chosen, arguments.seeds.0[0]);
    }
    let thinker = match arguments.model.is_there() {
        true => Some(arguments.model.open(config)?),
        false => None,
    };
    // Its own threads attempt the tasks, each with a runtime of its own.
    let done = tokio::task::spawn_blocking(move || attempt(&arguments, thinker, chosen)).await;
    done.map_err(|error| Ended::failed(error.to_string()))?
}

fn attempt(
    arguments: &Arguments,
    thinker: Option<Thinker>,
    chosen: Vec<Task>,
) -> Result<u8, Ended> {
    let pictures = thinker.as_ref().map(Thinker::pictures);
    let who = match (thinker, arguments.mind) {
        (Some(thinker), _) => Who::Other(Arc::new(move || thinker.mind(None))),
        (None, MindName::Oracle) => Who::Oracle,
        (None, MindName::Scripted) => Who::Scripted,
        (None, MindName::Idle) => Who::Idle,
        (None, MindName::Claims) => Who::Claims,
    };
    let manner = Manner {
        faults: arguments.fault.clone(),
        pictures,
        rounds: arguments.rounds.unwrap_or(if arguments.faults.is_empty() { 3 } else { 12 }),
        out: arguments.out.clone(),
        ..Manner::of(who)
    };
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = arguments.jobs.map_or(processors, usize::from);
    let plan =
        Plan { tasks: chosen, seeds: arguments.seeds.0.clone(), manners: vec![manner], jobs };
    let (text, json, least) = if arguments.faults.is_empty() {
        let bar = bar(plan.attempts());
        let scores = plan.run(&|_, score| advance(&bar, score)).map_err(Ended::failed)?;
        bar.finish_and_clear();
        let scores: Vec<Score> = scores.into_iter().flatten().collect();
        let failed = scores
            .iter()
            .filter(|score| !score.success)
            .map(|score| format!("{} with seed {}: {}\n", score.task, score.seed, score.why));
        let text = format!("{}\n{}", failed.collect::<String>(), table::table(&scores));
        (text, table::to_json(&scores), table::Sum::of(&scores).rate())
    } else {
        let all = faults::kinds();
        let kinds = match arguments.faults.iter().any(|kind| kind == "all") {
            true => all,
            false => arguments.faults.clone(),
        };
        let study = Study { plan, kinds, probability: arguments.p, without: arguments.ablate };
        let bar = bar(study.whole_plan().attempts());
        let found = study.run(&|_, score| advance(&bar, score)).map_err(Ended::failed)?;
        bar.finish_and_clear();
        (found.table(), found.to_json(), found.lowest())
    };
    // First what was measured: a file that cannot be written must not cost it.
    print(&text)?;
    if let Some(file) = &arguments.json {
        let written = fs::write(file, format!("{json:#}\n"));
        written
            .map_err(|error| Ended::failed(format!("cannot write {}: {error}", file.display())))?;
    }
    Ok(u8::from(least < arguments.least))
}

fn list(chosen: &[Task], seed: u64) -> Result<u8, Ended> {
    let phone = crate::eval::Bench::phone_of(seed);
    for task in chosen {
        let case = phone.world(|world| task.case(seed, world));
        print(&format!("{} ({})\n    {}\n", task.name, task.apps.join(", "), case.goal))?;
    }
    Ok(0)
}

/// On standard error, where somebody watches.
fn bar(attempts: usize) -> ProgressBar {
    let bar = ProgressBar::new(attempts as u64);
    let style = ProgressStyle::with_template("{bar:40} {pos}/{len} {elapsed} left {eta}  {msg}");
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

fn advance(bar: &ProgressBar, score: &Score) {
    bar.set_message(score.task);
    bar.inc(1);
}

/// Whether a name fits a pattern in which * stands for anything.
fn fits(glob: &str, name: &str) -> bool {
    let mut rest = name;
    let parts: Vec<&str> = glob.split('*').collect();
    let last = parts.len() - 1;
    for (at, part) in parts.iter().enumerate() {
        let found = match at {
            0 if last == 0 => return rest == *part,
            0 => rest.starts_with(part).then_some(0),
            _ if at == last => return rest.ends_with(part),
            _ => rest.find(part),
        };
        let Some(place) = found else { return false };
        rest = &rest[place + part.len()..];
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_named_by_patterns() {
        for (glob, name, fit) in [
            ("*", "notes-add", true),
            ("notes-*", "notes-add", true),
            ("*-add", "notes-add", true),
            ("notes-add", "notes-add", true),
            ("notes", "notes-add", false),
            ("n*s-*d", "notes-add", true),
            ("n*x*d", "notes-add", false),
        ] {
            assert_eq!(fits(glob, name), fit, "{glob}");
        }
    }

    #[test]
    fn seeds_are_a_range_or_one() {
        assert_eq!(seeds("3..6").ok().map(|seeds| seeds.0), Some(vec![3, 4, 5]));
        assert_eq!(seeds("7").ok().map(|seeds| seeds.0), Some(vec![7]));
        assert!(seeds("6..3").is_err() && seeds("a").is_err());
    }
}
