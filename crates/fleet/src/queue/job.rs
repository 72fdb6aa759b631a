//! What the queue holds: runs, jobs, and how cases ended before.

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use thumbwire_device::millis;

/// How often a job is begun before it is given up: its workers may have ended because of it.
pub const MAX_DELIVERIES: u64 = 5;

/// How many times a case has to have ended before it counts as one that is never flaky.
const ENOUGH_RUNS: u32 = 5;

/// Which jobs are taken first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Priority {
    /// Before all others.
    High,
    /// Before those of low priority.
    #[default]
    Normal,
    /// When nothing else waits.
    Low,
}

impl Priority {
    /// All, the first that are taken first.
    pub const ALL: [Self; 3] = [Self::High, Self::Normal, Self::Low];

    /// A word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::High => "high",
            Self::Normal => "normal",
            Self::Low => "low",
        }
    }
}

/// A run, as it is submitted.
#[derive(Debug, Default)]
pub struct Submission {
    /// What its workers need to know.
    pub request: Value,
    /// The files that they need, by name.
    pub files: BTreeMap<String, Bytes>,
    /// The jobs, in the order in which they are taken.
    pub jobs: Vec<Job>,
    /// When they are taken.
    pub priority: Priority,
}

/// A run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RunRecord {
    /// The version of the program that has submitted it.
    pub version: String,
    /// What workers need to know.
    pub request: Value,
    /// The number of its cases, which count from 0.
    pub cases: usize,
    /// Whether it was cancelled.
    pub is_cancelled: bool,
}

/// Cases that one worker runs one after the other.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// The run; filled in when it is submitted.
    pub run: String,
    /// The cases, by their numbers.
    pub cases: Vec<usize>,
    /// How often a case that failed is tried again.
    pub retries: u32,
}

/// How a case ended before.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CaseHistory {
    /// How often it has ended.
    pub runs: u32,
    /// How often it had failed before it passed.
    pub flaky: u32,
    /// How long it takes: a mean in which the last time counts for a third.
    #[serde(rename = "time_ms", with = "millis")]
    pub time: Duration,
}

impl CaseHistory {
    /// How often the case is tried again, of at most `retries`: once if it was never flaky.
    pub fn retries(&self, retries: u32) -> u32 {
        let is_steady = self.runs >= ENOUGH_RUNS && self.flaky == 0;
        if is_steady { retries.min(1) } else { retries }
    }

    /// The history after one more end.
    pub(super) fn with(self, took: Duration, was_flaky: bool) -> Self {
        Self {
            runs: self.runs.saturating_add(1),
            flaky: self.flaky.saturating_add(was_flaky.into()),
            time: if self.runs == 0 { took } else { (self.time * 2 + took) / 3 },
        }
    }
}

/// The key of a case's history.
pub(super) fn history_key(case: &str) -> String {
    let hash = Sha256::digest(case);
    hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn case_that_was_never_flaky_is_tried_again_once() {
        let seconds = Duration::from_secs;
        let mut history = CaseHistory::default();
        assert_eq!(history.retries(3), 3, "nothing is known of it");
        for _ in 0..5 {
            history = history.with(seconds(6), false);
        }
        assert_eq!(history, CaseHistory { runs: 5, flaky: 0, time: seconds(6) });
        assert_eq!((history.retries(3), history.retries(0)), (1, 0));
        let flaky = history.with(seconds(9), true);
        assert_eq!((flaky.time, flaky.retries(3)), (seconds(7), 3));
    }
}
