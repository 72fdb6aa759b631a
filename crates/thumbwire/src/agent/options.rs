//! How a run is carried out, and how it ended.

use std::time::Duration;

use super::model::Spent;
use super::reply::Status;

/// How a run is carried out.
#[derive(Debug, Clone)]
pub struct Options {
    /// Which pictures a mind is shown.
    pub pictures: Pictures,
    /// Where the run ends.
    pub budgets: Budgets,
    /// What looks after the run.
    pub safeguards: Safeguards,
    /// The folder of the run, as it is told: `logs/run-20241121-223000` (`log_path`).
    pub log_path: String,
    /// The time of day, as memory items are stamped with it.
    pub clock: fn() -> jiff::civil::DateTime,
}

/// Which pictures a mind is shown. All are taken and kept, whichever it sees.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Pictures {
    /// Both, the clean and the marked, as seed 002 has it.
    Both,
    /// The marked one.
    Marked,
    /// None.
    Text,
    /// The marked one where the words alone may not do.
    #[default]
    Doubt,
}

/// Where a run ends, whatever is still to be done.
#[derive(Debug, Clone, PartialEq)]
pub struct Budgets {
    /// Rounds.
    pub rounds: u32,
    /// Time.
    pub time: Option<Duration>,
    /// Tokens, read and written.
    pub tokens: Option<u64>,
    /// US dollars.
    pub dollars: Option<f64>,
}

impl Default for Budgets {
    /// UFO's 50 rounds, and nothing else.
    fn default() -> Self {
        Self { rounds: 50, time: None, tokens: None, dollars: None }
    }
}

/// What looks after a run. Each can be left out, to measure what it is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Safeguards {
    /// A look that fails is tried again, and a phone that is lost waited for.
    pub patience: bool,
    /// What an action led to is held against what it was for, and told.
    pub verification: bool,
    /// What can be set right without thinking is: a launch that did not come to the front, a text that is not there.
    pub repair: bool,
    /// A target is found again where it is now, or refused; without, the tap goes where it was listed.
    pub aim: bool,
    /// Going round in circles is noticed, and told.
    pub loops: bool,
    /// A claim that all is done is judged by a fresh look.
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
pub struct Ended {
    /// [`Status::Finish`], or [`Status::Fail`]; [`Status::Continue`] where it was interrupted and can go on.
    pub status: Status,
    /// Why, or what was found out.
    pub why: String,
    /// What stopped it, where that was not the mind.
    pub stopped: Option<Stopped>,
    /// Rounds.
    pub rounds: u32,
    /// What the models cost.
    pub spent: Spent,
    /// How long it took.
    pub took: Duration,
}

/// What stopped a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    /// The rounds, the time, the tokens or the money were used up.
    Budget,
    /// The call was taken back.
    Cancelled,
    /// A phase that fails fast failed: no picture, no decision.
    Failed,
    /// It went round in circles and did not find out.
    Loop,
}
