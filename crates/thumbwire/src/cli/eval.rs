//! `thumbwire eval`

mod results_file;

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use clap::ValueEnum;
use indicatif::{ProgressBar, ProgressStyle};
use thumbwire_base::files;
use thumbwire_base::lock;
use thumbwire_base::visible::visible;

use self::results_file::ResultsFile;
use super::model_flags::{self, LIMITS, ModelFlags, ModelSetup};
use super::run_goal::interrupts;
use super::shutdown::INTERRUPTED;
use super::{CliError, print};
use crate::config::Config;
use thumbwire_eval::results::{EvalResults, EvalSetup};
use thumbwire_eval::{
    EvalLimits, EvalPhone, Meter, Plan, Platform, PolicyChoice, Score, Study, Task, TrialOptions,
    faults, leaderboard, summary, tasks,
};

#[derive(clap::Args)]
pub(super) struct Arguments {
    /// Policy that attempts the tasks when no model is named
    #[arg(
        long,
        value_name = "POLICY",
        value_enum,
        default_value = "scripted",
        conflicts_with = "model"
    )]
    policy: PolicyName,
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
    #[arg(long, value_name = "KINDS", value_delimiter = ',', conflicts_with = "fault")]
    fault_kinds: Vec<String>,
    /// Chance that a fault of `--fault-kinds` strikes in a step
    #[arg(long, value_name = "PROBABILITY", default_value = "0.2", value_parser = share)]
    probability: f64,
    /// Step budget of a task: N for each oracle action, plus five [default: 3; with
    /// `--fault-kinds`, 12]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100))]
    max_steps: Option<u32>,
    /// Write the results to a JSON file, after each attempt; see docs/eval.md
    #[arg(short, long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Continue the evaluation of a results file: skip the attempts that it has, and add the others
    /// to it
    #[arg(long, value_name = "FILE", conflicts_with_all = ["json", "fault_kinds"])]
    resume: Option<PathBuf>,
    /// Maximum cost of the whole evaluation in US dollars; requires --price
    #[arg(long, value_name = "DOLLARS", requires = "price", value_parser = model_flags::dollars, help_heading = LIMITS)]
    max_cost: Option<f64>,
    /// Maximum number of tokens of the whole evaluation, input and output together
    #[arg(long, value_name = "TOKENS", help_heading = LIMITS)]
    max_tokens: Option<u64>,
    /// Maximum duration of the whole evaluation, such as `30m` or `8h`
    #[arg(long, value_name = "TIME", value_parser = model_flags::time, help_heading = LIMITS)]
    timeout: Option<Duration>,
    /// Maximum duration of an attempt
    #[arg(long, value_name = "TIME", value_parser = model_flags::time, default_value = "1h", help_heading = LIMITS)]
    attempt_timeout: Duration,
    /// Print the leaderboard of these results files as Markdown, and run nothing
    #[arg(long, value_name = "FILE", num_args = 1..)]
    leaderboard: Vec<PathBuf>,
    /// With `--leaderboard`, put the table into this page instead of printing it
    #[arg(long, value_name = "FILE", requires = "leaderboard")]
    page: Option<PathBuf>,
    /// Record the trace of each attempt in a new directory in DIR
    #[arg(short, long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Exit with code 1 if the success rate is below RATE (0 to 1); with `--fault-kinds`, the rate
    /// of any kind
    #[arg(long, value_name = "RATE", default_value = "0", value_parser = share)]
    min_success: f64,
    /// List the tasks with their apps, difficulty, categories and the goal of the first seed
    #[arg(long)]
    list: bool,
}

impl Arguments {
    fn jobs(&self) -> usize {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        self.jobs.map_or(processors, usize::from)
    }

    fn kinds(&self) -> Vec<String> {
        match self.fault_kinds.iter().any(|kind| kind == "all") {
            true => faults::kinds(),
            false => self.fault_kinds.clone(),
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
    AlwaysFinish,
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

impl PlatformName {
    fn name(self) -> &'static str {
        match self {
            Self::Android => "android",
            Self::Ios => "ios",
        }
    }
}

#[derive(Clone)]
struct Seeds(Vec<u64>);

fn seeds(text: &str) -> Result<Seeds, String> {
    const MAX_SEEDS: u64 = 10_000;
    let number =
        |text: &str| text.trim().parse::<u64>().map_err(|error| format!("{text:?}: {error}"));
    let (from, to) = match text.split_once("..") {
        Some((from, to)) => (number(from)?, number(to)?),
        None => (number(text)?, number(text)?.saturating_add(1)),
    };
    match to.checked_sub(from) {
        None | Some(0) => Err("the range is empty".into()),
        Some(count) if count > MAX_SEEDS => Err(format!("expected at most {MAX_SEEDS} seeds")),
        Some(_) => Ok(Seeds((from..to).collect())),
    }
}

fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "expected a number from 0 to 1".into())
}

pub(super) async fn run(arguments: Arguments, config: &Config) -> Result<u8, CliError> {
    if !arguments.leaderboard.is_empty() {
        return make_leaderboard(&arguments.leaderboard, arguments.page.as_deref());
    }
    let injects = !(arguments.fault.is_empty() && arguments.fault_kinds.is_empty());
    if injects && arguments.platform == PlatformName::Ios {
        return Err(CliError::usage(
            "--fault and --fault-kinds are for Android phones: omit `--platform ios`",
        ));
    }
    let chosen = choose(&arguments)?;
    if arguments.list {
        return list(&chosen, arguments.platform.into(), arguments.seeds.0[0]);
    }
    let model_setup = arguments.model.open_named(config)?;
    let evaluation = Evaluation::new(arguments, model_setup, chosen)?;
    let notice = |text: &str| eprintln!("{text}");
    let interrupts = tokio::spawn(interrupts(evaluation.meter.interruption(), notice));
    // Tasks run on their own threads, each with its own runtime.
    let done = tokio::task::spawn_blocking(move || evaluation.run()).await;
    interrupts.abort();
    done.map_err(|error| CliError::failed(error.to_string()))?
}

/// The tasks to run.
fn choose(arguments: &Arguments) -> Result<Vec<Task>, CliError> {
    let named = |task: &Task| arguments.tasks.iter().any(|glob| fits(glob, task.name));
    let (named, platform) = (tasks::all().into_iter().filter(named), arguments.platform.into());
    let (chosen, others): (Vec<Task>, Vec<Task>) = named.partition(|task| task.runs_on(platform));
    if !chosen.is_empty() {
        return Ok(chosen);
    }
    Err(CliError::usage(match others.is_empty() {
        true => "no such task. Run `thumbwire eval --list` to list them".to_owned(),
        false => format!(
            "no task for an iPhone: {} need{} what it lacks. Run `thumbwire eval --platform ios --list` to list those for it",
            others.iter().map(|task| task.name).collect::<Vec<_>>().join(", "),
            if others.len() == 1 { "s" } else { "" }
        ),
    }))
}

/// Everything that an evaluation needs.
struct Evaluation {
    arguments: Arguments,
    plan: Plan,
    meter: Arc<Meter>,
    file: ResultsFile,
}

impl Evaluation {
    fn new(
        arguments: Arguments,
        model_setup: Option<ModelSetup>,
        chosen: Vec<Task>,
    ) -> Result<Self, CliError> {
        let pictures = model_setup.as_ref().map(ModelSetup::pictures);
        let (policy, policy_choice) = match (model_setup, arguments.policy) {
            (Some(model_setup), _) => {
                let name = model_setup.policy(None).name();
                (name, PolicyChoice::Other(Arc::new(move || model_setup.policy(None))))
            }
            (None, PolicyName::Oracle) => ("oracle".into(), PolicyChoice::Oracle),
            (None, PolicyName::Scripted) => ("scripted".into(), PolicyChoice::Scripted),
            (None, PolicyName::Idle) => ("idle".into(), PolicyChoice::Idle),
            (None, PolicyName::AlwaysFinish) => {
                ("always-finish".into(), PolicyChoice::AlwaysFinish)
            }
        };
        let rounds =
            arguments.max_steps.unwrap_or(if arguments.fault_kinds.is_empty() { 3 } else { 12 });
        let options = TrialOptions {
            platform: arguments.platform.into(),
            faults: arguments.fault.clone(),
            pictures,
            rounds,
            max_time: arguments.attempt_timeout,
            out: arguments.out.clone(),
            program: program(),
            ..TrialOptions::of(policy_choice)
        };
        let jobs = arguments.jobs();
        let seeds = arguments.seeds.0.clone();
        let plan = Plan { tasks: chosen, seeds, options: vec![options], jobs };
        let setup = EvalSetup {
            policy,
            platform: arguments.platform.name().into(),
            faults: arguments.fault.clone(),
            max_steps: rounds,
            price: arguments.model.price(),
        };
        let file = match &arguments.resume {
            Some(file) => ResultsFile::resume(file, &setup)?,
            None => ResultsFile::new(arguments.json.as_deref(), setup)?,
        };
        let limits = EvalLimits {
            dollars: arguments.max_cost,
            tokens: arguments.max_tokens,
            time: arguments.timeout,
        };
        let meter = Arc::new(Meter::new(limits, file.results().spent()));
        Ok(Self { arguments, plan, meter, file })
    }

    fn run(self) -> Result<u8, CliError> {
        if self.arguments.fault_kinds.is_empty() { self.run_tasks() } else { self.run_faults() }
    }

    fn run_tasks(mut self) -> Result<u8, CliError> {
        let Self { plan, meter, file, .. } = &mut self;
        let seeds = plan.seeds.clone();
        let pairs = plan.tasks.iter().flat_map(|task| seeds.iter().map(|seed| (task.name, *seed)));
        let missing: HashSet<(&str, u64)> =
            pairs.filter(|(task, seed)| !file.results().has(task, *seed)).collect();
        let wanted = |task: &Task, seed: u64| missing.contains(&(task.name, seed));
        file.plan(missing.len());
        let bar = bar(missing.len());
        let failed: Mutex<Option<CliError>> = Mutex::default();
        let shared = Mutex::new(&mut *file);
        let on_score = |_: usize, score: &Score| {
            advance(&bar, score);
            if let Err(error) = lock(&shared).add(score.clone(), meter) {
                lock(&failed).get_or_insert(error);
                meter.interruption().cancel();
            }
        };
        let ran = plan.run(meter, &wanted, &on_score).map_err(CliError::failed);
        bar.finish_and_clear();
        let failed = failed.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        let unfinished = missing.len() > file.added();
        let reason = meter.over().filter(|_| unfinished);
        let written = file.finish(reason.clone(), meter);
        // Print the results first: they must survive a failed write.
        let scores = &file.results().attempts;
        let failures = scores.iter().filter(|score| !score.success).map(|score| {
            // Models and files of results wrote it.
            let text = format!("{} with seed {}: {}", score.task, score.seed, score.reason);
            format!("{}\n", visible(&text))
        });
        print(&format!("{}\n{}", failures.collect::<String>(), summary::table(scores)))?;
        let cost = file.results().spent();
        if let Some(dollars) = cost.dollars.filter(|_| cost.calls > 0) {
            print(&format!("\ncost: ${dollars:.2}\n"))?;
        }
        ran?;
        failed.map_or(Ok(()), Err)?;
        written?;
        if let Some(reason) = reason {
            return Ok(self.ended_early(&reason));
        }
        let rate = summary::Summary::of(&self.file.results().attempts).rate();
        Ok(u8::from(rate < self.arguments.min_success))
    }

    /// Says why the evaluation is not finished and how to go on. Returns the exit code.
    fn ended_early(&self, reason: &str) -> u8 {
        let planned = self.file.results().planned;
        let done = self.file.results().attempts.len();
        let next = match self.file.path() {
            Some(file) => format!(
                "To go on, run the same command with `--resume {}` instead of --json",
                file.display()
            ),
            None => "With --json FILE it could be resumed".to_owned(),
        };
        eprintln!("stopped after {done} of {planned} attempts: {reason}. {next}.");
        if self.meter.interruption().is_cancelled() { INTERRUPTED } else { OVER }
    }

    fn run_faults(self) -> Result<u8, CliError> {
        let Self { arguments, plan, meter, .. } = self;
        let study = Study { plan, kinds: arguments.kinds(), probability: arguments.probability };
        let bar = bar(study.whole_plan().attempts());
        let result =
            study.run(&meter, &|_, score| advance(&bar, score)).map_err(CliError::failed)?;
        bar.finish_and_clear();
        print(&result.table())?;
        if let Some(file) = &arguments.json {
            results_file::write(file, &result.to_json())?;
        }
        if let Some(reason) = meter.over() {
            eprintln!("stopped: {reason}. The table has only the attempts until then.");
            let interrupted = meter.interruption().is_cancelled();
            return Ok(if interrupted { INTERRUPTED } else { OVER });
        }
        Ok(u8::from(result.lowest() < arguments.min_success))
    }
}

/// This program's name and version, with the commit if it is known.
fn program() -> String {
    match env!("THUMBWIRE_COMMIT") {
        "" => concat!("thumbwire ", env!("CARGO_PKG_VERSION")).to_owned(),
        commit => format!("thumbwire {} ({commit})", env!("CARGO_PKG_VERSION")),
    }
}

/// The exit code of an evaluation that reached a limit, as of `run`.
const OVER: u8 = 4;

/// The largest page that gets a leaderboard, in bytes.
const MAX_PAGE: u64 = 16 << 20;

/// Prints the leaderboard, or puts it into a page.
fn make_leaderboard(files: &[PathBuf], page: Option<&Path>) -> Result<u8, CliError> {
    let results: Result<Vec<EvalResults>, CliError> =
        files.iter().map(|file| results_file::read(file)).collect();
    let results = results?;
    let Some(page) = page else {
        print(&leaderboard::table(&results))?;
        return Ok(0);
    };
    let wrong = |error: &dyn std::fmt::Display| {
        CliError::failed(format!("cannot update {}: {error}", page.display()))
    };
    let text = files::read_text(page, MAX_PAGE).map_err(|error| wrong(&error))?;
    let text = leaderboard::update(&text, &results).map_err(|error| wrong(&error))?;
    files::write(page, text.as_bytes()).map_err(|error| wrong(&error))?;
    Ok(0)
}

fn list(chosen: &[Task], platform: Platform, seed: u64) -> Result<u8, CliError> {
    let phone = EvalPhone::new(platform, seed);
    for task in chosen {
        let case = phone.world(|world| task.case(seed, world));
        let categories = task.categories(&case).into_iter().map(|category| category.name());
        print(&format!(
            "{} ({}; {}: {})\n    {}\n",
            task.name,
            task.apps.join(", "),
            task.difficulty.name(),
            categories.collect::<Vec<_>>().join(", "),
            case.goal
        ))?;
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
    bar.set_message(score.task.clone());
    bar.inc(1);
}

/// Whether a name matches a pattern in which `*` matches anything.
fn fits(glob: &str, name: &str) -> bool {
    let mut rest = name;
    let parts: Vec<&str> = glob.split('*').collect();
    let last = parts.len() - 1;
    for (at, part) in parts.iter().enumerate() {
        let result = match at {
            0 if last == 0 => return rest == *part,
            0 => rest.starts_with(part).then_some(0),
            _ if at == last => return rest.ends_with(part),
            _ => rest.find(part),
        };
        let Some(start) = result else { return false };
        rest = &rest[start + part.len()..];
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
