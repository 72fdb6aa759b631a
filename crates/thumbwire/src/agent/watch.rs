//! What a run tells whoever watches it: the terminal, an MCP client, the log.

use std::time::Duration;

use serde_json::Value;

use super::model::Spent;
use super::reply::{Decision, Doing, Status};

/// Watches a run. Told in order, and never waited for.
pub trait Watch: Send + Sync {
    /// Something happened.
    fn tell(&self, event: &Event<'_>);

    /// A round is over. `context` gives what it knew, under seed 002's names ("Context Finalization"); pictures stand in it as data URIs, so
    /// it is made only for who asks.
    fn finalized(&self, _context: &dyn Fn() -> Value) {}
}

/// What happened. The words of the log are those of seed 002 ("MobileLoggingMiddleware").
#[derive(Debug, Clone)]
pub enum Event<'a> {
    /// A run begins, or goes on after an interruption behind so many rounds.
    Begun {
        /// The goal.
        request: &'a str,
        /// Rounds that were there already.
        behind: u32,
    },
    /// A round begins.
    Round {
        /// Counted from 1.
        round: u32,
        /// At most so many.
        most: u32,
    },
    /// The screen was taken.
    Captured {
        /// The picture's file.
        path: &'a str,
        /// How long it took.
        took: Duration,
    },
    /// The apps were listed.
    Apps {
        /// How many.
        count: usize,
        /// How long it took.
        took: Duration,
    },
    /// The controls were listed.
    Controls {
        /// Their ids.
        ids: &'a [String],
        /// The marked picture's file.
        path: Option<&'a str>,
        /// How long it took, the marking included.
        took: Duration,
    },
    /// A mind begins to decide.
    Thinking {
        /// Whose.
        mind: &'a str,
    },
    /// A part of its answer came.
    Heard(&'a str),
    /// It is asked again.
    AskedAgain {
        /// Why.
        why: &'a str,
    },
    /// It decided.
    Decided {
        /// What.
        decision: &'a Decision,
        /// What that cost.
        spent: &'a Spent,
        /// How long it took.
        took: Duration,
    },
    /// An action was carried out, or not.
    Did {
        /// Which.
        doing: &'a Doing,
        /// Whether it succeeded.
        success: bool,
        /// What came of it, in a sentence.
        message: &'a str,
        /// How long it took.
        took: Duration,
    },
    /// Something was noticed on the screen, or set right.
    Noticed(&'a str),
    /// A person was asked.
    Asked {
        /// What.
        question: &'a str,
    },
    /// A round is over.
    State {
        /// How the task stands.
        status: Status,
        /// What the run has cost so far.
        spent: &'a Spent,
        /// What is left of the budgets, in words.
        left: &'a str,
    },
    /// A run is over.
    Ended {
        /// How.
        status: Status,
        /// Why, or what was found out.
        why: &'a str,
    },
}

/// Nobody watches.
#[derive(Debug, Clone, Copy)]
pub struct Unwatched;

impl Watch for Unwatched {
    fn tell(&self, _event: &Event<'_>) {}
}
