//! The result of a run of flows.
//!
//! Start with [`Report`]. `terminal_reporter` prints it for people, `junit` writes it for CI.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use thumbwire_device::{Platform, millis};

use super::crash::Crash;
use super::error::SourceLocation;
use super::plan::Flow;

/// The result of a run.
#[derive(Debug, Clone)]
pub struct Report {
    /// The flows, in the order given.
    pub flows: Vec<Flow>,
    /// The result of each selected case, in order.
    pub cases: Vec<CaseResult>,
    /// The phones that it ran on.
    pub phones: Vec<Phone>,
    /// When it started, RFC 3339 in UTC.
    pub started: String,
    /// The duration.
    pub took: Duration,
    /// Whether the run timed out before all cases ran.
    pub out_of_time: bool,
    /// Whether so many phones were lost that some cases did not run.
    pub out_of_phones: bool,
}

/// A phone of a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Phone {
    /// The id that it was selected by; `None` for the session's phone.
    pub device: Option<String>,
    /// Its platform.
    pub platform: Platform,
    /// The model.
    pub model: String,
    /// The system version, such as `14`.
    pub os_version: String,
}

impl Phone {
    /// The id, else the model.
    pub fn name(&self) -> &str {
        self.device.as_deref().unwrap_or(&self.model)
    }
}

/// The result of a case.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CaseResult {
    /// The index of its flow.
    pub flow: usize,
    /// Its index in the flow.
    pub case: usize,
    /// The attempts, oldest first; empty if it did not run.
    pub attempts: Vec<Attempt>,
    /// Why it did not run.
    pub skipped: Option<String>,
}

impl CaseResult {
    /// The final result.
    pub fn verdict(&self) -> Verdict {
        match self.attempts.as_slice() {
            [] => Verdict::Skipped,
            [.., last] if last.failed.is_some() => Verdict::Failed,
            [_] => Verdict::Passed,
            [..] => Verdict::Flaky,
        }
    }
}

/// The final result of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It passed.
    Passed,
    /// It failed before it passed.
    Flaky,
    /// It failed.
    Failed,
    /// It did not run.
    Skipped,
}

/// One attempt at a case.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Attempt {
    /// The index of its phone.
    pub phone: usize,
    /// When it started, RFC 3339 in UTC.
    pub started: String,
    /// The duration.
    #[serde(rename = "took_ms", with = "millis")]
    pub took: Duration,
    /// Why it failed; `None` if it passed.
    pub failed: Option<CaseFailure>,
    /// Notes that did not fail it: failed optional steps, crashes of other apps.
    pub notes: Vec<String>,
    /// The folder of its trace.
    pub trace: Option<PathBuf>,
}

/// Why a case failed.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CaseFailure {
    /// The kind of failure.
    pub kind: FailureKind,
    /// What went wrong, in a sentence.
    pub what: String,
    /// The step and its position; `None` if all steps passed or none started.
    pub step: Option<(String, SourceLocation)>,
    /// The crashes during the attempt.
    pub crashes: Vec<Crash>,
    /// The newest log lines.
    pub log: Vec<String>,
    /// The screenshot, in the trace's folder.
    pub picture: Option<PathBuf>,
}

impl CaseFailure {
    /// Why the case failed, as lines with their indentation: the error, the step, and crashes, each
    /// with at most `max` lines of the log; with `details`, also the screenshot and the newest
    /// lines of the log.
    pub(super) fn lines(&self, max: usize, details: bool) -> impl Iterator<Item = (usize, String)> {
        let mut lines = vec![(0, self.what.clone())];
        if let Some((step, at)) = &self.step {
            lines.push((0, format!("at {at}: {step}")));
        }
        if let Some(picture) = self.picture.as_ref().filter(|_| details) {
            lines.push((0, format!("screenshot: {}", picture.display())));
        }
        let mut block = |title: &str, log: &[String]| {
            if !log.is_empty() {
                lines.push((0, format!("{title}:")));
                lines.extend(log.iter().map(|line| (2, line.clone())));
            }
        };
        for crash in &self.crashes {
            let text = crash.to_string();
            let is_reason = self.what.starts_with(&text);
            let log = &crash.excerpt[..crash.excerpt.len().min(max)];
            block(if is_reason { "crash log" } else { &text }, log);
        }
        // A stack trace is more useful than the rest of the log.
        if self.crashes.is_empty() && details {
            block("end of the log", &self.log[self.log.len().saturating_sub(max)..]);
        }
        lines.into_iter()
    }
}

/// Kinds of failures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FailureKind {
    /// An assertion failed.
    Expectation,
    /// A step could not be run.
    Step,
    /// An app crashed.
    Crash,
    /// An app is not responding.
    NotResponding,
    /// The agent did not reach its goal.
    Goal,
    /// The phone could not be used, so the case proves nothing.
    Phone,
    /// The run timed out or was cancelled.
    TimedOut,
}

impl FailureKind {
    /// A word for it, for programs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Expectation => "expectation",
            Self::Step => "step",
            Self::Crash => "crash",
            Self::NotResponding => "anr",
            Self::Goal => "goal",
            Self::Phone => "phone",
            Self::TimedOut => "time-out",
        }
    }

    /// Whether it is about the app under test and not its environment.
    pub fn is_of_the_app(self) -> bool {
        !matches!(self, Self::Phone | Self::TimedOut)
    }
}

impl Report {
    /// The number of cases with this result.
    pub fn count(&self, verdict: Verdict) -> usize {
        self.cases.iter().filter(|result| result.verdict() == verdict).count()
    }

    /// The exit code of a run: 0 all passed, 1 a case failed or did not run, 3 phones were lost, 4
    /// the run timed out.
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
