//! What a run of flows tells whoever watches it, while it goes on.

use std::time::Duration;

use super::plan::{Case, Flow};
use super::report::{Attempt, Phone, Report, Tried};

/// Watches a run. Told in order for each phone, and never waited for.
pub trait Watch: Send + Sync {
    /// Something happened. `case` is counted over all that are tried, from 0.
    fn tell(&self, case: usize, event: &Event<'_>);
}

/// What happened.
#[derive(Debug, Clone)]
pub enum Event<'a> {
    /// A case begins.
    Case {
        /// The flow that it belongs to.
        flow: &'a Flow,
        /// The case.
        case: &'a Case,
        /// Where.
        phone: &'a Phone,
        /// Counted from 1.
        attempt: u32,
    },
    /// A step ended.
    Step {
        /// What it was.
        words: &'a str,
        /// How many steps it stands in.
        depth: usize,
        /// How it ended.
        end: StepEnd<'a>,
        /// How long it took.
        took: Duration,
    },
    /// An attempt at a case ended.
    Attempted {
        /// The case.
        case: &'a Case,
        /// What came of it.
        attempt: &'a Attempt,
    },
    /// A case was passed over.
    Skipped {
        /// The flow that it belongs to.
        flow: &'a Flow,
        /// The case.
        case: &'a Case,
        /// Why.
        tried: &'a Tried,
    },
    /// All is over. Told with the number of all cases.
    Ended(&'a Report),
}

/// How a step ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StepEnd<'a> {
    /// It did what it should.
    Done,
    /// It failed, and the case with it.
    Failed(&'a str),
    /// It failed and is tried again.
    Again(&'a str),
    /// It failed and was optional.
    PassedOver(&'a str),
    /// Others stand in it, and it begins.
    Begins,
}

/// Nobody watches.
#[derive(Debug, Clone, Copy)]
pub struct Unwatched;

impl Watch for Unwatched {
    fn tell(&self, _case: usize, _event: &Event<'_>) {}
}
