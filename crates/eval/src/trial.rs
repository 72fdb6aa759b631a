//! One attempt at one task: a fresh phone, a policy, and the score.
//!
//! Start with [`Trial::run`]. For many attempts, see [`super::runner`].

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use thumbwire_virtual_android::Rule;
use thumbwire_virtual_phone::Platform;
use tokio::time::Instant;

use super::env::{TaskEnv, TimeMode, YesUser};
use super::oracle;
use super::phone::EvalPhone;
use super::policy::{AlwaysFinishPolicy, IdlePolicy, ScriptedPolicy};
use super::prompt_cost::{CountTokens, MeasuredPolicy, PromptCost, estimated_tokens};
use super::state::{PhoneState, judge};
use super::task::{Task, TaskInstance};
use thumbwire_agent::model::Usage;
use thumbwire_agent::{
    Agent, AgentOptions, AgentStatus, Budgets, Memory, Policy, Safeguards, ScreenshotMode,
};
use thumbwire_core::action::Call;
use thumbwire_core::event::ObservedPerform;
use thumbwire_core::trace::Recorder;

/// Who attempts the tasks.
#[derive(Clone)]
pub enum PolicyChoice {
    /// The script, run literally.
    Oracle,
    /// The fixed policy that follows the script by what it sees.
    Scripted,
    /// A policy that does nothing.
    Idle,
    /// A policy that claims success at once.
    AlwaysFinish,
    /// A policy of the caller's, created for each attempt.
    Other(Arc<dyn Fn() -> Arc<dyn Policy> + Send + Sync>),
}

/// Options for attempts.
#[derive(Clone)]
pub struct TrialOptions {
    /// Who attempts the tasks.
    pub who: PolicyChoice,
    /// Platform of the phone.
    pub platform: Platform,
    /// Fault rules as in `thumbwire phone --fault`, for Android phones. A rule without a seed gets one from the attempt's seed and the
    /// task.
    pub faults: Vec<String>,
    /// Safeguards that are on.
    pub safeguards: Safeguards,
    /// Screenshots given to the policy besides text; `None` takes no screenshots at all.
    pub pictures: Option<ScreenshotMode>,
    /// Allowed agent steps per action of the oracle; five more are always allowed.
    pub rounds: u32,
    /// Folder for the traces.
    pub out: Option<PathBuf>,
    /// Counts the tokens of prompts.
    pub count: CountTokens,
}

impl TrialOptions {
    /// This policy on an Android phone, without faults or screenshots and with all safeguards.
    pub fn of(who: PolicyChoice) -> Self {
        let (faults, safeguards) = (Vec::new(), Safeguards::default());
        let platform = Platform::Android;
        let count = estimated_tokens;
        Self { who, platform, faults, safeguards, pictures: None, rounds: 3, out: None, count }
    }

    /// Whether the clock can be paused: only if nothing waits for another computer, or for a socket as WebDriverAgent's
    /// client does.
    pub fn holds_time(&self) -> bool {
        self.platform == Platform::Android && !matches!(self.who, PolicyChoice::Other(_))
    }
}

/// The result of an attempt.
#[derive(Debug, Clone, Serialize)]
pub struct Score {
    /// Task name.
    pub task: &'static str,
    /// The apps it needs.
    pub apps: &'static [&'static str],
    /// Seed of the phone and of the task's parameters.
    pub seed: u64,
    /// Goal in natural language.
    pub goal: String,
    /// Whether the success conditions hold.
    pub success: bool,
    /// Why it failed; empty on success.
    pub reason: String,
    /// Final status of the agent.
    pub status: AgentStatus,
    /// Steps of the agent, or actions of the oracle.
    pub steps: u32,
    /// Actions of the oracle.
    pub oracle: u32,
    /// Model usage and cost.
    pub usage: Usage,
    /// The text of the prompts, in tokens.
    pub prompt: PromptCost,
    /// Time on the phone's clock, in milliseconds.
    pub phone_ms: u64,
    /// Number of injected faults.
    pub injected_faults: usize,
}

/// An attempt.
pub struct Trial<'a> {
    /// Task.
    pub task: Task,
    /// Seed.
    pub seed: u64,
    /// Options.
    pub manner: &'a TrialOptions,
    /// How many actions the oracle takes.
    pub oracle: u32,
}

/// Allowed agent steps besides those for the oracle's actions.
const BESIDE: u32 = 5;
/// Time limit of a run; a real model's replies take most of it.
const LONGEST: Duration = Duration::from_secs(3_600);

impl Trial<'_> {
    /// Runs the attempt. Requires its own tokio runtime, paused if the clock can be paused.
    ///
    /// # Errors
    /// If the attempt could not be started: an invalid fault rule, a folder that cannot be written.
    pub async fn run(&self) -> Result<Score, String> {
        let rules = self.rules()?;
        let TrialOptions { who, pictures, .. } = self.manner;
        let time = if self.manner.holds_time() { TimeMode::Paused } else { TimeMode::Real };
        let phone = EvalPhone::new(self.manner.platform, self.seed);
        let bench = TaskEnv::new(phone, &rules, time, pictures.is_some());
        let case = bench.phone.world(|world| self.task.case(self.seed, world));
        bench.apply(&case);
        let before = PhoneState::of(&bench.phone);
        let began = bench.phone.world(|world| world.uptime());
        let went = match who {
            PolicyChoice::Oracle => oracle::run_script(&*bench.perform(), &case.script)
                .await
                .map(|went| TrialOutcome {
                    steps: went.acts,
                    answer: went.answer,
                    status: AgentStatus::Finish,
                    ..TrialOutcome::default()
                })
                .unwrap_or_else(|why| TrialOutcome {
                    answer: why,
                    status: AgentStatus::Fail,
                    ..TrialOutcome::default()
                }),
            _ => self.by_agent(&bench, &case).await?,
        };
        let took = bench.phone.world(|world| world.uptime()).saturating_sub(began);
        // A policy that gives up, or never reports that it is done, has failed regardless of the phone's state.
        let judged = match went.status {
            AgentStatus::Fail => Err(format!("the policy gave up: {}", went.answer)),
            AgentStatus::Continue => {
                Err(format!("the policy never reported that it was done: {}", went.answer))
            }
            AgentStatus::Finish => judge(&before, &bench.phone, &went.answer, &case.wants),
        };
        Ok(Score {
            task: self.task.name,
            apps: self.task.apps,
            seed: self.seed,
            goal: case.goal,
            success: judged.is_ok(),
            reason: judged.err().unwrap_or_default(),
            status: went.status,
            steps: went.steps,
            oracle: self.oracle,
            usage: went.spent,
            prompt: went.prompt,
            phone_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            injected_faults: bench.phone.injected_faults(),
        })
    }

    /// The rules, each with its own seed per attempt.
    fn rules(&self) -> Result<Vec<Rule>, String> {
        // Otherwise phones with the same seed would get the same faults at the same points, whatever the task.
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

    async fn by_agent(&self, bench: &TaskEnv, case: &TaskInstance) -> Result<TrialOutcome, String> {
        let TrialOptions { who, safeguards, pictures, rounds, out, count, .. } = self.manner;
        let policy: Arc<dyn Policy> = match who {
            PolicyChoice::Idle => Arc::new(IdlePolicy),
            PolicyChoice::AlwaysFinish => Arc::new(AlwaysFinishPolicy),
            PolicyChoice::Other(make) => make(),
            PolicyChoice::Scripted | PolicyChoice::Oracle => {
                Arc::new(ScriptedPolicy::new(case.script.clone()))
            }
        };
        let measured = Arc::new(MeasuredPolicy::new(policy, *count));
        let policy: Arc<dyn Policy> = Arc::clone(&measured) as Arc<dyn Policy>;
        let options = AgentOptions {
            pictures: pictures.unwrap_or(ScreenshotMode::None),
            budgets: Budgets { rounds: rounds * self.oracle + BESIDE, ..Budgets::default() },
            safeguards: *safeguards,
            log_path: format!("logs/{}-{}", self.task.name, self.seed),
            clock: || jiff::civil::date(2024, 3, 5).at(10, 0, 0, 0),
        };
        let call = Call { ask: Arc::new(YesUser), ..Call::with_timeout(LONGEST) };
        let agent = match out {
            None => Agent::new(policy, bench.perform(), options),
            Some(out) => {
                let folder = out.join(format!("{}-{}", self.task.name, self.seed));
                let recorder = Recorder::begin(&folder, "2024-03-05T10:00:00Z".into());
                let recorder = recorder.map_err(|error| {
                    format!("cannot write the trace to {}: {error}", folder.display())
                })?;
                let recorder = Arc::new(recorder);
                let traced = ObservedPerform::new(bench.perform(), Arc::clone(&recorder));
                Agent::new(policy, Arc::new(traced), options).with_trace(recorder)
            }
        };
        let began = Instant::now();
        let ended = agent.run(&call, &case.goal, Memory::default()).await;
        tracing::debug!("{} {}: {ended:?} after {:?}", self.task.name, self.seed, began.elapsed());
        Ok(TrialOutcome {
            steps: ended.rounds,
            answer: ended.reason,
            status: ended.status,
            spent: ended.spent,
            prompt: measured.cost(),
        })
    }
}

/// The outcome of an attempt before it is judged.
#[derive(Default)]
struct TrialOutcome {
    steps: u32,
    answer: String,
    status: AgentStatus,
    spent: Usage,
    prompt: PromptCost,
}
