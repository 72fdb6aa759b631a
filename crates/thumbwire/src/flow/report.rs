//! What came of a run of flows.
//!
//! Begin with [`Report`]. How it is told stands in `tell` (to a person) and `junit` (to a CI).

use std::path::PathBuf;
use std::time::Duration;

use super::crash::Crash;
use super::mistake::Place;
use super::plan::Flow;

/// What came of a run.
#[derive(Debug, Clone)]
pub struct Report {
    /// The flows, in the order in which they were given.
    pub flows: Vec<Flow>,
    /// What came of each case that was chosen, in the order in which they stand.
    pub tried: Vec<Tried>,
    /// The phones that it ran on.
    pub phones: Vec<Phone>,
    /// When it began, RFC 3339 in UTC.
    pub started: String,
    /// How long it took.
    pub took: Duration,
    /// Whether the time of the whole run was over before all was tried.
    pub out_of_time: bool,
    /// Whether phones were lost, so that not all was tried.
    pub out_of_phones: bool,
}

/// A phone of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Phone {
    /// The id by which it was chosen; `None` where there was no choice.
    pub device: Option<String>,
    /// Its model.
    pub model: String,
    /// Its system's version, such as `14`.
    pub os_version: String,
}

impl Phone {
    /// The id, else the model.
    pub fn name(&self) -> &str {
        self.device.as_deref().unwrap_or(&self.model)
    }
}

/// What came of a case.
#[derive(Debug, Clone)]
pub struct Tried {
    /// Its flow's place among the flows.
    pub flow: usize,
    /// Its place among the flow's cases.
    pub case: usize,
    /// How often it was tried, the last one last; empty where it was not.
    pub attempts: Vec<Attempt>,
    /// Why it was not tried.
    pub skipped: Option<String>,
}

impl Tried {
    /// What came of it in the end.
    pub fn verdict(&self) -> Verdict {
        match self.attempts.as_slice() {
            [] => Verdict::Skipped,
            [.., last] if last.failed.is_some() => Verdict::Failed,
            [_] => Verdict::Passed,
            [..] => Verdict::Flaky,
        }
    }
}

/// What came of a case in the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It passed.
    Passed,
    /// It passed, but not the first time.
    Flaky,
    /// It failed.
    Failed,
    /// It was not tried.
    Skipped,
}

/// One go at a case.
#[derive(Debug, Clone)]
pub struct Attempt {
    /// On which phone: its place among the phones.
    pub phone: usize,
    /// When it began, RFC 3339 in UTC.
    pub started: String,
    /// How long it took.
    pub took: Duration,
    /// Why it failed; `None` where it passed.
    pub failed: Option<Failed>,
    /// What did not fail it and is worth knowing: optional steps that failed, other apps' crashes.
    pub noted: Vec<String>,
    /// The folder of its story.
    pub story: Option<PathBuf>,
}

/// Why a case failed.
#[derive(Debug, Clone)]
pub struct Failed {
    /// What kind of failure it is.
    pub kind: Failing,
    /// What went wrong, in a sentence.
    pub what: String,
    /// The step, and where it stands; `None` where all steps passed, or none began.
    pub step: Option<(String, Place)>,
    /// What apps crashed meanwhile.
    pub crashes: Vec<Crash>,
    /// The newest lines of the log.
    pub log: Vec<String>,
    /// The picture of the screen, in the story's folder.
    pub picture: Option<PathBuf>,
}

/// Kinds of failures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Failing {
    /// The phone is not as expected.
    Expectation,
    /// A step could not be carried out.
    Step,
    /// An app crashed.
    Crash,
    /// An app does not answer.
    NotResponding,
    /// The agent did not reach its goal.
    Goal,
    /// The phone could not be driven: nothing is known of what was tried.
    Phone,
    /// The time of the whole run was over, or it was called off.
    TimeOver,
}

impl Failing {
    /// A word for it, for programs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Expectation => "expectation",
            Self::Step => "step",
            Self::Crash => "crash",
            Self::NotResponding => "anr",
            Self::Goal => "goal",
            Self::Phone => "phone",
            Self::TimeOver => "time-out",
        }
    }

    /// Whether it tells of the app that was tried; else of what stood around it.
    pub fn is_of_the_app(self) -> bool {
        !matches!(self, Self::Phone | Self::TimeOver)
    }
}

impl Report {
    /// How many cases ended so.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.tried.iter().filter(|tried| tried.verdict() == verdict).count()
    }

    /// The exit code of a run: 0 where all passed, 1 where a case failed or was not tried, 3 where phones were lost, 4 where the time
    /// was over.
    pub fn exit_code(&self) -> u8 {
        if self.out_of_time {
            4
        } else if self.out_of_phones {
            3
        } else {
            u8::from(self.count(Verdict::Failed) + self.count(Verdict::Skipped) > 0)
        }
    }
}
