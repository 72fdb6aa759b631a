//! One attempt at one task: a fresh phone, a policy, and the score.
//!
//! Start with [`Trial::run`]. For many attempts, see [`super::runner`].

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use thumbwire_virtual_android::Rule;
use thumbwire_virtual_phone::Platform;
use tokio::time::Instant;

use super::env::{TaskEnv, TimeMode, YesUser};
use super::meter::{Meter, MeteredPolicy};
use super::oracle;
use super::phone::EvalPhone;
use super::policy::{AlwaysFinishPolicy, IdlePolicy, ScriptedPolicy};
use super::state::{PhoneState, judge};
use super::task::{Category, Difficulty, LONG, Task, TaskInstance};
use thumbwire_agent::model::Usage;
use thumbwire_agent::{
    Agent, AgentOptions, AgentStatus, Budgets, Memory, Policy, Safeguards, ScreenshotMode,
    StopReason,
};
use thumbwire_core::action::{Call, Perform};
use thumbwire_core::event::ObservedPerform;
use thumbwire_core::trace::Recorder;

/// Who attempts the tasks.
#[derive(Clone)]
pub enum PolicyChoice {
    /// The script, run literally.
    Oracle,
    /// The fixed policy that follows the script by what it sees.
    Scripted,
    /// A model that follows the script by the text of its prompt alone.
    #[cfg(test)]
    PromptOnly,
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
    pub policy: PolicyChoice,
    /// Platform of the phone.
    pub platform: Platform,
    /// Fault rules as in `thumbwire phone --fault`, for Android phones. A rule without a seed gets
    /// one from the attempt's seed and the task.
    pub faults: Vec<String>,
    /// Screenshots given to the policy besides text; `None` takes no screenshots at all.
    pub pictures: Option<ScreenshotMode>,
    /// Allowed agent steps per action of the oracle; five more are always allowed.
    pub rounds: u32,
    /// Longest time of an attempt; a real model's replies take most of it.
    pub max_time: Duration,
    /// Folder for the traces.
    pub out: Option<PathBuf>,
    /// Name and version of the program, for the scores.
    pub program: String,
}

impl TrialOptions {
    /// This policy on an Android phone, without faults or screenshots.
    pub fn of(policy: PolicyChoice) -> Self {
        Self {
            policy,
            platform: Platform::Android,
            faults: Vec::new(),
            pictures: None,
            rounds: 3,
            max_time: MAX_TIME,
            out: None,
            program: concat!("thumbwire ", env!("CARGO_PKG_VERSION")).into(),
        }
    }

    /// Whether the clock can be paused: only if nothing waits for another computer, or for a socket
    /// as WebDriverAgent's client does.
    pub fn holds_time(&self) -> bool {
        self.platform == Platform::Android && !matches!(self.policy, PolicyChoice::Other(_))
    }
}

/// The result of an attempt, as a file of results stores it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// Task name.
    pub task: String,
    /// Seed of the phone and of the task's parameters.
    pub seed: u64,
    /// The apps it needs.
    pub apps: Vec<String>,
    /// What it asks of an agent.
    pub categories: Vec<Category>,
    /// How long it is.
    pub difficulty: Difficulty,
    /// Goal in natural language.
    pub goal: String,
    /// Whether the success conditions hold.
    pub success: bool,
    /// Why it failed; empty on success.
    pub reason: String,
    /// Final status of the agent.
    pub status: AgentStatus,
    /// What ended the run, if not the policy: `budget`, `loop` or `failed`.
    pub stopped: Option<String>,
    /// Steps of the agent, or actions of the oracle.
    pub steps: u32,
    /// Actions of the oracle.
    pub oracle_steps: u32,
    /// Model usage and cost in US dollars.
    pub usage: Usage,
    /// Time on the phone's clock, in milliseconds.
    pub phone_ms: u64,
    /// Real time, in milliseconds.
    pub elapsed_ms: u64,
    /// Fault rules.
    pub faults: Vec<String>,
    /// Number of injected faults.
    pub injected_faults: usize,
    /// Name of the policy: `openai gpt-5`, `scripted`.
    pub policy: String,
    /// Name and version of the program: `thumbwire 0.1.0`.
    pub program: String,
}

/// An attempt.
pub struct Trial<'a> {
    /// Task.
    pub task: Task,
    /// Seed.
    pub seed: u64,
    /// Options.
    pub options: &'a TrialOptions,
    /// How many actions the oracle takes.
    pub oracle: u32,
}

/// Allowed agent steps besides those for the oracle's actions.
const BESIDE: u32 = 5;
/// The default of [`TrialOptions::longest`].
const MAX_TIME: Duration = Duration::from_secs(3_600);

impl Trial<'_> {
    /// Runs the attempt. Requires its own tokio runtime, paused if the clock can be paused. `None`
    /// if the meter ended it before the policy did.
    ///
    /// # Errors
    /// If the attempt could not be started: an invalid fault rule, a folder that cannot be written.
    pub async fn run(&self, meter: &Arc<Meter>) -> Result<Option<Score>, String> {
        let rules = self.rules()?;
        let TrialOptions { policy, pictures, .. } = self.options;
        let time = if self.options.holds_time() { TimeMode::Paused } else { TimeMode::Real };
        let phone = EvalPhone::new(self.options.platform, self.seed);
        let env = TaskEnv::new(phone, &rules, time, pictures.is_some());
        let case = env.phone.world(|world| self.task.case(self.seed, world));
        env.apply(&case);
        let before = PhoneState::of(&env.phone);
        let began = env.phone.world(|world| world.uptime());
        let began_really = std::time::Instant::now();
        let outcome = match policy {
            PolicyChoice::Oracle => self.by_oracle(&env, &case).await?,
            _ => self.by_agent(&env, &case, meter).await?,
        };
        if outcome.stopped.is_some() && meter.over().is_some() {
            return Ok(None);
        }
        let took = env.phone.world(|world| world.uptime()).saturating_sub(began);
        // A policy that gives up, or never reports that it is done, has failed regardless of the
        // phone's state.
        let judged = match outcome.status {
            AgentStatus::Fail => Err(format!("the policy gave up: {}", outcome.answer)),
            AgentStatus::Continue => {
                Err(format!("the policy never reported that it was done: {}", outcome.answer))
            }
            AgentStatus::Finish => judge(&before, &env.phone, &outcome.answer, &case.wants),
        };
        // The oracle measures its own length.
        let oracle_steps =
            if matches!(policy, PolicyChoice::Oracle) { outcome.steps } else { self.oracle };
        let mut categories = self.task.categories(&case);
        if oracle_steps >= LONG {
            categories.push(Category::Long);
            categories.sort_unstable();
        }
        Ok(Some(Score {
            task: self.task.name.into(),
            seed: self.seed,
            apps: self.task.apps.iter().map(|app| (*app).into()).collect(),
            categories,
            difficulty: self.task.difficulty,
            goal: case.goal,
            success: judged.is_ok(),
            reason: judged.err().unwrap_or_default(),
            status: outcome.status,
            stopped: outcome.stopped.map(|stopped| stop_name(stopped).into()),
            steps: outcome.steps,
            oracle_steps,
            usage: outcome.spent,
            phone_ms: millis(took),
            elapsed_ms: millis(began_really.elapsed()),
            faults: self.options.faults.clone(),
            injected_faults: env.phone.injected_faults(),
            policy: outcome.policy,
            program: self.options.program.clone(),
        }))
    }

    /// The rules, each with its own seed per attempt.
    fn rules(&self) -> Result<Vec<Rule>, String> {
        // Otherwise phones with the same seed would get the same faults at the same points,
        // whatever the task.
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
        self.options.faults.iter().map(rule).collect()
    }

    async fn by_oracle(&self, env: &TaskEnv, case: &TaskInstance) -> Result<TrialOutcome, String> {
        let perform: Arc<dyn Perform> = match self.recorder()? {
            None => env.perform(),
            Some(recorder) => Arc::new(ObservedPerform::new(env.perform(), recorder)),
        };
        let policy = "oracle".to_owned();
        Ok(match oracle::run_script(&*perform, &case.script).await {
            Ok(outcome) => TrialOutcome {
                steps: outcome.acts,
                answer: outcome.answer,
                status: AgentStatus::Finish,
                policy,
                ..TrialOutcome::default()
            },
            Err(reason) => TrialOutcome {
                answer: reason,
                status: AgentStatus::Fail,
                policy,
                ..TrialOutcome::default()
            },
        })
    }

    async fn by_agent(
        &self,
        env: &TaskEnv,
        case: &TaskInstance,
        meter: &Arc<Meter>,
    ) -> Result<TrialOutcome, String> {
        let TrialOptions { policy, pictures, rounds, max_time, .. } = self.options;
        let policy: Arc<dyn Policy> = match policy {
            PolicyChoice::Idle => Arc::new(IdlePolicy),
            PolicyChoice::AlwaysFinish => Arc::new(AlwaysFinishPolicy),
            PolicyChoice::Other(make) => make(),
            #[cfg(test)]
            PolicyChoice::PromptOnly => {
                crate::tests::prompt_only::PromptOnlyModel::new(case.script.clone()).policy()
            }
            PolicyChoice::Scripted | PolicyChoice::Oracle => {
                Arc::new(ScriptedPolicy::new(case.script.clone()))
            }
        };
        let name = policy.name();
        let options = AgentOptions {
            pictures: pictures.unwrap_or(ScreenshotMode::None),
            budgets: Budgets { rounds: rounds * self.oracle + BESIDE, ..Budgets::default() },
            safeguards: Safeguards::default(),
            log_path: format!("logs/{}-{}", self.task.name, self.seed),
            clock: || jiff::civil::date(2024, 3, 5).at(10, 0, 0, 0),
        };
        // On a held clock an attempt takes no real time.
        let time = match self.options.holds_time() {
            true => *max_time,
            false => meter.time_left().map_or(*max_time, |left| left.min(*max_time)),
        };
        let call = Call {
            ask: Arc::new(YesUser),
            cancelled: meter.cancelled(),
            ..Call::with_timeout(time)
        };
        let policy: Arc<dyn Policy> = Arc::new(MeteredPolicy::new(policy, Arc::clone(meter)));
        let agent = match self.recorder()? {
            None => Agent::new(policy, env.perform(), options),
            Some(recorder) => {
                let traced = ObservedPerform::new(env.perform(), Arc::clone(&recorder));
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
            stopped: ended.stopped,
            spent: ended.spent,
            policy: name,
        })
    }

    /// The recorder of the attempt's trace, if traces are wanted.
    fn recorder(&self) -> Result<Option<Arc<Recorder>>, String> {
        let Some(out) = &self.options.out else { return Ok(None) };
        let folder = out.join(format!("{}-{}", self.task.name, self.seed));
        let recorder = Recorder::begin(&folder, "2024-03-05T10:00:00Z".into());
        let recorder = recorder
            .map_err(|error| format!("cannot write the trace to {}: {error}", folder.display()))?;
        Ok(Some(Arc::new(recorder)))
    }
}

/// The outcome of an attempt before it is judged.
#[derive(Default)]
struct TrialOutcome {
    steps: u32,
    answer: String,
    status: AgentStatus,
    stopped: Option<StopReason>,
    spent: Usage,
    policy: String,
}

fn stop_name(stopped: StopReason) -> &'static str {
    match stopped {
        StopReason::Budget => "budget",
        StopReason::Cancelled => "cancelled",
        StopReason::Failed => "failed",
        StopReason::Loop => "loop",
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
