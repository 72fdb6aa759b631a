//! How to run an agent, and how a run ended.

use std::time::Duration;

use crate::model::Usage;
use crate::policy::decision::AgentStatus;

/// How to run an agent.
#[derive(Debug, Clone)]
pub struct AgentOptions {
    /// Which screenshots the policy gets.
    pub pictures: ScreenshotMode,
    /// The limits of the run.
    pub budgets: Budgets,
    /// The safeguards of the run.
    pub safeguards: Safeguards,
    /// The run's folder as it is shown: `logs/run-20241121-223000` (`log_path`).
    pub log_path: String,
    /// The local time for the timestamps of memory items.
    pub clock: fn() -> jiff::civil::DateTime,
}

/// Which screenshots the policy gets. All are taken and saved in any case.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ScreenshotMode {
    /// The clean and the annotated one, as in the UFO MobileAgent strategy.
    Both,
    /// The annotated one.
    Annotated,
    /// None.
    None,
    /// The annotated one if the text alone may not be enough.
    #[default]
    Auto,
}

/// How a prompt shows the screen, the apps and the past.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PromptForm {
    /// Controls by id, apps by name, a line for each past action.
    #[default]
    Compact,
    /// As [`Self::Compact`], with the place of each control.
    Coordinates,
    /// The blocks and JSON rows of the UFO MobileAgent strategy.
    Ufo,
}

/// Limits that end a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Budgets {
    /// Steps.
    pub rounds: u32,
    /// Time.
    pub time: Option<Duration>,
    /// Tokens, input and output.
    pub tokens: Option<u64>,
    /// US dollars.
    pub dollars: Option<f64>,
}

impl Default for Budgets {
    /// UFO's 50 steps, and no other limit.
    fn default() -> Self {
        Self { rounds: 50, time: None, tokens: None, dollars: None }
    }
}

/// Safeguards of a run. Each can be turned off, to measure its effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Safeguards {
    /// Retries a failed screenshot or snapshot, and waits for a lost phone.
    pub patience: bool,
    /// Compares an action's effect with its purpose, and reports differences.
    pub verification: bool,
    /// Repairs what needs no decision: an app that did not come to the front, text that is missing.
    pub repair: bool,
    /// Finds a target again at its present position, or refuses the call. Without it, taps go to
    /// the old position.
    pub aim: bool,
    /// Detects and reports loops.
    pub loops: bool,
    /// Checks a claim that the goal is reached by a fresh snapshot.
    pub finish: bool,
}

impl Default for Safeguards {
    fn default() -> Self {
        let on = true;
        Self { patience: on, verification: on, repair: on, aim: on, loops: on, finish: on }
    }
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq)]
pub struct RunResult {
    /// [`AgentStatus::Finish`] or [`AgentStatus::Fail`]; [`AgentStatus::Continue`] if it was
    /// interrupted and can be resumed.
    pub status: AgentStatus,
    /// The answer, or why the run ended.
    pub reason: String,
    /// What ended the run, if not the policy.
    pub stopped: Option<StopReason>,
    /// The limit that ended it, with [`StopReason::Budget`]; `None` if raising one would not help.
    pub limit: Option<Limit>,
    /// The number of steps.
    pub rounds: u32,
    /// The models' usage.
    pub spent: Usage,
    /// The elapsed time.
    pub took: Duration,
}

/// A limit of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// [`Budgets::rounds`].
    Steps,
    /// [`Budgets::time`].
    Time,
    /// [`Budgets::tokens`].
    Tokens,
    /// [`Budgets::dollars`].
    Cost,
}

/// What ended a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopReason {
    /// The steps, time, tokens or money were used up.
    Budget,
    /// The call was cancelled.
    Cancelled,
    /// A fail-fast phase failed: no screenshot, or no decision.
    Failed,
    /// It was stuck in a loop.
    Loop,
}
