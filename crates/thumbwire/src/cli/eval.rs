//! `thumbwire eval`

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressStyle};
use serde_json::Value;

use super::model_flags::{ModelFlags, ModelSetup};
use super::{CliError, print};
use crate::config::Config;
use thumbwire_eval::skills::{self, SkillScore, SkillStudy, SkillSummary};
use thumbwire_eval::{
    EvalPhone, Plan, Platform, PolicyChoice, Score, Study, Task, TrialOptions, faults, summary,
    tasks,
};

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Policy that attempts the tasks when no model is named
    #[arg(
        long = "policy",
        alias = "mind",
        value_name = "POLICY",
        value_enum,
        default_value = "scripted",
        conflicts_with = "model"
    )]
    mind: PolicyName,
    #[command(flatten)]
    model: ModelFlags,
    /// Platform of the virtual phones; `ios` omits the tasks that need what an iPhone lacks
    #[arg(long, value_name = "PLATFORM", value_enum, default_value = "android")]
    platform: PlatformName,
    /// Tasks to run, comma-separated; `*` matches anything
    #[arg(long, value_name = "GLOB", default_value = "*", value_delimiter = ',')]
    tasks: Vec<String>,
    /// Seeds to run: a single one, or A..B (B excluded)
    #[arg(long, value_name = "A..B", default_value = "0..1", value_parser = seeds)]
    seeds: Seeds,
    /// Number of phones to run in parallel [default: number of processors]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1_000))]
    jobs: Option<u16>,
    /// Fault to inject, as in `phone --fault` (repeatable)
    #[arg(long = "fault", value_name = "RULE")]
    fault: Vec<String>,
    /// Compare kinds of faults: `all`, or a comma-separated list
    #[arg(
        long = "fault-kinds",
        alias = "faults",
        value_name = "KINDS",
        value_delimiter = ',',
        conflicts_with = "fault"
    )]
    faults: Vec<String>,
    /// Chance that a fault of `--fault-kinds` strikes in a step
    #[arg(long = "probability", alias = "p", value_name = "PROBABILITY", default_value = "0.2", value_parser = share)]
    p: f64,
    /// Step budget of a task: N for each oracle action, plus five [default: 3; with `--fault-kinds`, 12]
    #[arg(long = "max-steps", alias = "rounds", value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    rounds: Option<u32>,
    /// With `--fault-kinds`, also run with each safeguard disabled in turn
    #[arg(long, requires = "faults")]
    ablate: bool,
    /// Write the scores to a JSON file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Record the trace of each attempt in a new directory in DIR
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Save each task's run as a skill, and measure how many decisions a second run needs and what it does on changed phones;
    /// traces and skills are written to the directory of `--out`
    #[arg(long, requires = "out", conflicts_with_all = ["model", "mind", "fault", "rounds"])]
    skills: bool,
    /// Exit with code 1 if the success rate is below RATE (0 to 1); with `--fault-kinds`, the rate of any kind
    #[arg(long = "min-success", alias = "least", value_name = "RATE", default_value = "0", value_parser = share)]
    least: f64,
    /// List the tasks with their apps and the goal of the first seed
    #[arg(long)]
    list: bool,
}

impl Arguments {
    fn jobs(&self) -> usize {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        self.jobs.map_or(processors, usize::from)
    }

    fn kinds(&self) -> Vec<String> {
        match self.faults.iter().any(|kind| kind == "all") {
            true => faults::kinds(),
            false => self.faults.clone(),
        }
    }
}

#[derive(Clone, Copy, ValueEnum)]
enum PolicyName {
    /// Runs each task's script as written: the upper bound
    Oracle,
    /// Follows the scripts by what it observes
    Scripted,
    /// Does nothing
    Idle,
    /// Claims success at once
    #[value(name = "always-finish", alias = "claims")]
    Claims,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PlatformName {
    /// The virtual Android phone
    Android,
    /// The virtual iPhone
    Ios,
}

impl From<PlatformName> for Platform {
    fn from(name: PlatformName) -> Self {
        match name {
            PlatformName::Android => Self::Android,
            PlatformName::Ios => Self::Ios,
        }
    }
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
        None | Some(0) => Err("the range is empty".into()),
        Some(count) if count > MOST => Err(format!("expected at most {MOST} seeds")),
        Some(_) => Ok(Seeds((from..to).collect())),
    }
}

fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "expected a number from 0 to 1".into())
}

pub(super) async fn run(arguments: Arguments, config: &Config) -> Result<u8, CliError> {
    let injects = !(arguments.fault.is_empty() && arguments.faults.is_empty());
    if injects && arguments.platform == PlatformName::Ios {
        return Err(CliError::usage(
            "--fault and --fault-kinds are for Android phones: omit `--platform ios`",
        ));
    }
    let chosen: Vec<Task> = tasks::all()
        .into_iter()
        .filter(|task| arguments.tasks.iter().any(|glob| fits(glob, task.name)))
        .filter(|task| task.runs_on(arguments.platform.into()))
        .collect();
    if chosen.is_empty() {
        return Err(CliError::usage("no such task. Run `thumbwire eval --list` to list them"));
    }
    if arguments.list {
        return list(&chosen, arguments.platform.into(), arguments.seeds.0[0]);
    }
    if arguments.skills {
        let done = tokio::task::spawn_blocking(move || measure_skills(&arguments, chosen)).await;
        return done.map_err(|error| CliError::failed(error.to_string()))?;
    }
    let thinker = match arguments.model.is_there() {
        true => Some(arguments.model.open(config)?),
        false => None,
    };
    // Tasks run on their own threads, each with its own runtime.
    let done = tokio::task::spawn_blocking(move || attempt(&arguments, thinker, chosen)).await;
    done.map_err(|error| CliError::failed(error.to_string()))?
}

fn attempt(
    arguments: &Arguments,
    thinker: Option<ModelSetup>,
    chosen: Vec<Task>,
) -> Result<u8, CliError> {
    let pictures = thinker.as_ref().map(ModelSetup::pictures);
    let who = match (thinker, arguments.mind) {
        (Some(thinker), _) => PolicyChoice::Other(Arc::new(move || thinker.policy(None))),
        (None, PolicyName::Oracle) => PolicyChoice::Oracle,
        (None, PolicyName::Scripted) => PolicyChoice::Scripted,
        (None, PolicyName::Idle) => PolicyChoice::Idle,
        (None, PolicyName::Claims) => PolicyChoice::AlwaysFinish,
    };
    let manner = TrialOptions {
        platform: arguments.platform.into(),
        faults: arguments.fault.clone(),
        pictures,
        rounds: arguments.rounds.unwrap_or(if arguments.faults.is_empty() { 3 } else { 12 }),
        out: arguments.out.clone(),
        ..TrialOptions::of(who)
    };
    let plan = Plan {
        tasks: chosen,
        seeds: arguments.seeds.0.clone(),
        manners: vec![manner],
        jobs: arguments.jobs(),
    };
    let (text, json, least) = if arguments.faults.is_empty() {
        let bar = bar(plan.attempts());
        let scores = plan.run(&|_, score| advance(&bar, score)).map_err(CliError::failed)?;
        bar.finish_and_clear();
        let scores: Vec<Score> = scores.into_iter().flatten().collect();
        let failed = scores
            .iter()
            .filter(|score| !score.success)
            .map(|score| format!("{} with seed {}: {}\n", score.task, score.seed, score.reason));
        let text = format!("{}\n{}", failed.collect::<String>(), summary::table(&scores));
        (text, summary::to_json(&scores), summary::Summary::of(&scores).rate())
    } else {
        let study = Study {
            plan,
            kinds: arguments.kinds(),
            probability: arguments.p,
            without: arguments.ablate,
        };
        let bar = bar(study.whole_plan().attempts());
        let found = study.run(&|_, score| advance(&bar, score)).map_err(CliError::failed)?;
        bar.finish_and_clear();
        (found.table(), found.to_json(), found.lowest())
    };
    report(&text, &json, arguments.json.as_deref())?;
    Ok(u8::from(least < arguments.least))
}

/// Prints the results first: they must survive a failed write.
fn report(text: &str, json: &Value, file: Option<&Path>) -> Result<(), CliError> {
    print(text)?;
    let Some(file) = file else { return Ok(()) };
    fs::write(file, format!("{json:#}\n"))
        .map_err(|error| CliError::failed(format!("cannot write {}: {error}", file.display())))
}

/// Measures skills. The exit code is 1 if a second run failed too often, or a skill did something wrong.
fn measure_skills(arguments: &Arguments, chosen: Vec<Task>) -> Result<u8, CliError> {
    let study = SkillStudy {
        tasks: chosen,
        seeds: arguments.seeds.0.clone(),
        kinds: arguments.kinds(),
        probability: arguments.p,
        jobs: arguments.jobs(),
        out: arguments.out.clone().unwrap_or_default(),
    };
    let bar = bar(study.tasks.len() * study.seeds.len());
    let told = |score: &SkillScore| {
        bar.set_message(score.task);
        bar.inc(1);
    };
    let scores = study.run(&told).map_err(CliError::failed)?;
    bar.finish_and_clear();
    report(&skills::table(&scores), &skills::to_json(&scores), arguments.json.as_deref())?;
    let sum = SkillSummary::of(&scores);
    let rate = sum.again_successes as f64 / sum.tasks.max(1) as f64;
    Ok(u8::from(rate < arguments.least || sum.wrong > 0))
}

fn list(chosen: &[Task], platform: Platform, seed: u64) -> Result<u8, CliError> {
    let phone = EvalPhone::new(platform, seed);
    for task in chosen {
        let case = phone.world(|world| task.case(seed, world));
        print(&format!("{} ({})\n    {}\n", task.name, task.apps.join(", "), case.goal))?;
    }
    Ok(0)
}

/// A progress bar on standard error.
fn bar(attempts: usize) -> ProgressBar {
    let bar = ProgressBar::new(attempts as u64);
    let style =
        ProgressStyle::with_template("{bar:40} {pos}/{len}  {elapsed} elapsed, {eta} left  {msg}");
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

fn advance(bar: &ProgressBar, score: &Score) {
    bar.set_message(score.task);
    bar.inc(1);
}

/// Whether a name matches a pattern in which `*` matches anything.
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
    fn task_patterns_match_names() {
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
    fn seeds_parse_as_range_or_number() {
        assert_eq!(seeds("3..6").ok().map(|seeds| seeds.0), Some(vec![3, 4, 5]));
        assert_eq!(seeds("7").ok().map(|seeds| seeds.0), Some(vec![7]));
        assert!(seeds("6..3").is_err() && seeds("a").is_err());
    }
}
