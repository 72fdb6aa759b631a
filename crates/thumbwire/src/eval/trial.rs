//! One attempt at one task: a fresh phone, a mind, and what came of it.
//!
//! Begin with [`Trial::run`]. Many at once are [`super::runner`]'s.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use thumbwire_virtual_phone::Rule;
use tokio::time::Instant;

use super::bench::{Bench, Owner, Time};
use super::oracle;
use super::policy::{Claims, Idle, Scripted};
use super::state::{State, judge};
use super::task::{Case, Task};
use crate::action::Call;
use crate::agent::model::Spent;
use crate::agent::{Agent, Budgets, Memory, Mind, Options, Pictures, Safeguards, Status};
use crate::trace::{Recorder, Traced};

/// Who attempts the tasks.
#[derive(Clone)]
pub enum Who {
    /// The script, carried out as it stands.
    Oracle,
    /// The fixed policy that follows the script by what it sees.
    Scripted,
    /// Nobody.
    Idle,
    /// One who says at once that it is done.
    Claims,
    /// A mind of the caller's own, made anew for each attempt.
    Other(Arc<dyn Fn() -> Arc<dyn Mind> + Send + Sync>),
}

/// How tasks are attempted.
#[derive(Clone)]
pub struct Manner {
    /// By whom.
    pub who: Who,
    /// What goes wrong, as `thumbwire phone --fault` has it. A rule without a seed draws by the attempt's and the task's.
    pub faults: Vec<String>,
    /// What looks after the run.
    pub safeguards: Safeguards,
    /// What a mind is shown beside words; `None` takes no pictures at all.
    pub pictures: Option<Pictures>,
    /// Rounds that are allowed for each act of the oracle; five more are in any case.
    pub rounds: u32,
    /// Where each attempt's story is kept.
    pub out: Option<PathBuf>,
}

impl Manner {
    /// As this one attempts them, with nothing that goes wrong, all safeguards and no pictures.
    pub fn of(who: Who) -> Self {
        let (faults, safeguards) = (Vec::new(), Safeguards::default());
        Self { who, faults, safeguards, pictures: None, rounds: 3, out: None }
    }

    /// Whether time can be held while nothing is to be done: where nobody waits for another computer.
    pub fn holds_time(&self) -> bool {
        !matches!(self.who, Who::Other(_))
    }
}

/// What came of an attempt.
#[derive(Debug, Clone, Serialize)]
pub struct Score {
    /// The task.
    pub task: &'static str,
    /// The apps that it needs.
    pub apps: &'static [&'static str],
    /// The seed of the phone and of the task's parameters.
    pub seed: u64,
    /// What was wanted, in words.
    pub goal: String,
    /// Whether the phone is as it was to be.
    pub success: bool,
    /// Why not, in words; empty for a success.
    pub why: String,
    /// How the agent says that it ended.
    pub status: Status,
    /// Rounds of the agent, or acts of the oracle.
    pub steps: u32,
    /// Acts of the oracle.
    pub oracle: u32,
    /// What models cost.
    pub spent: Spent,
    /// Time on the phone's clock, in milliseconds.
    pub phone_ms: u64,
    /// How often a fault struck.
    pub strikes: usize,
}

/// An attempt.
pub struct Trial<'a> {
    /// At which task.
    pub task: Task,
    /// With which seed.
    pub seed: u64,
    /// How.
    pub manner: &'a Manner,
    /// How many acts the oracle takes.
    pub oracle: u32,
}

/// Rounds that are allowed beside those for the oracle's acts.
const BESIDE: u32 = 5;
/// How long a run may take; a real model's answers take most of it.
const LONGEST: Duration = Duration::from_secs(3_600);

impl Trial<'_> {
    /// Attempts it. Needs a tokio runtime of its own; where time is held, one that is paused.
    ///
    /// # Errors
    /// When the attempt could not be begun: a rule that is none, a folder that cannot be written.
    pub async fn run(&self) -> Result<Score, String> {
        let rules = self.rules()?;
        let Manner { who, pictures, .. } = self.manner;
        let time = if self.manner.holds_time() { Time::Held } else { Time::Real };
        let bench = Bench::new(self.seed, &rules, time, pictures.is_some());
        let case = bench.phone.world(|world| self.task.case(self.seed, world));
        bench.lay(&case);
        let before = State::of(&bench.phone);
        let began = bench.phone.world(|world| world.uptime());
        let went = match who {
            Who::Oracle => oracle::carry_out(&*bench.perform(), &case.script)
                .await
                .map(|went| Went {
                    steps: went.acts,
                    answer: went.answer,
                    status: Status::Finish,
                    ..Went::default()
                })
                .unwrap_or_else(|why| Went {
                    answer: why,
                    status: Status::Fail,
                    ..Went::default()
                }),
            _ => self.by_agent(&bench, &case).await?,
        };
        let took = bench.phone.world(|world| world.uptime()).saturating_sub(began);
        // A mind that gives up, or never knows that it is there, has not succeeded, whatever the phone is like.
        let judged = match went.status {
            Status::Fail => Err(format!("it gave up: {}", went.answer)),
            Status::Continue => Err(format!("it never said that it was done: {}", went.answer)),
            Status::Finish => judge(&before, &bench.phone, &went.answer, &case.wants),
        };
        Ok(Score {
            task: self.task.name,
            apps: self.task.apps,
            seed: self.seed,
            goal: case.goal,
            success: judged.is_ok(),
            why: judged.err().unwrap_or_default(),
            status: went.status,
            steps: went.steps,
            oracle: self.oracle,
            spent: went.spent,
            phone_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            strikes: bench.phone.strikes().len(),
        })
    }

    /// The rules, each drawing anew for each attempt.
    fn rules(&self) -> Result<Vec<Rule>, String> {
        // Phones of one seed would meet the same faults at the same places, whatever the task.
        let mixed = self
            .task
            .name
            .bytes()
            .fold(7_u64, |mixed, byte| mixed * 31 % 999_983 + u64::from(byte));
        let rule = |text: &String| {
            let seeded = match text.contains("seed=") {
                true => text.clone(),
                false if text.contains(':') => format!("{text},seed={mixed}"),
                false => format!("{text}:seed={mixed}"),
            };
            seeded.parse::<Rule>().map_err(|error| error.to_string())
        };
        self.manner.faults.iter().map(rule).collect()
    }

    async fn by_agent(&self, bench: &Bench, case: &Case) -> Result<Went, String> {
        let Manner { who, safeguards, pictures, rounds, out, .. } = self.manner;
        let mind: Arc<dyn Mind> = match who {
            Who::Idle => Arc::new(Idle),
            Who::Claims => Arc::new(Claims),
            Who::Other(make) => make(),
            Who::Scripted | Who::Oracle => Arc::new(Scripted::new(case.script.clone())),
        };
        let options = Options {
            pictures: pictures.unwrap_or(Pictures::Text),
            budgets: Budgets { rounds: rounds * self.oracle + BESIDE, ..Budgets::default() },
            safeguards: *safeguards,
            log_path: format!("logs/{}-{}", self.task.name, self.seed),
            clock: || jiff::civil::date(2024, 3, 5).at(10, 0, 0, 0),
        };
        let call = Call { ask: Arc::new(Owner), ..Call::within(LONGEST) };
        let agent = match out {
            None => Agent::new(mind, bench.perform(), options),
            Some(out) => {
                let folder = out.join(format!("{}-{}", self.task.name, self.seed));
                let recorder = Recorder::begin(&folder, "2024-03-05T10:00:00Z".into());
                let recorder = recorder.map_err(|error| {
                    format!("cannot keep the story in {}: {error}", folder.display())
                })?;
                let recorder = Arc::new(recorder);
                let traced = Traced::new(bench.perform(), Arc::clone(&recorder));
                Agent::new(mind, Arc::new(traced), options).with_story(recorder)
            }
        };
        let began = Instant::now();
        let ended = agent.run(&call, &case.goal, Memory::default()).await;
        tracing::debug!("{} {}: {ended:?} after {:?}", self.task.name, self.seed, began.elapsed());
        Ok(Went {
            steps: ended.rounds,
            answer: ended.why,
            status: ended.status,
            spent: ended.spent,
        })
    }
}

/// What an attempt came to, before it is judged.
#[derive(Default)]
struct Went {
    steps: u32,
    answer: String,
    status: Status,
    spent: Spent,
}
