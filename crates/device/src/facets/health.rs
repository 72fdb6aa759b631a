//! Checks of how well a phone can be driven.

use std::time::Duration;

use async_trait::async_trait;

use crate::Error;

/// Checks the phone.
#[async_trait]
pub trait HealthChecks: Send + Sync {
    /// Checks how well the phone can be driven. A phone that does not respond shows up as a failed
    /// check.
    async fn check_health(&self) -> Result<Health, Error>;
}

/// Checks the helper, a program that we run on the phone.
#[async_trait]
pub trait HelperChecks: Send + Sync {
    /// Pushes the helper's file if it is not there, starts the helper, and checks that it
    /// answers.
    ///
    /// # Errors
    /// Why it does not start or answer.
    async fn check_helper(&self) -> Result<HelperStatus, Error>;

    /// Tries each operation of the helper once, ends it, and looks what is left on the phone. It
    /// touches only the edge of the screen, types only into a text field that has the focus, and
    /// puts back what that and the clipboard had.
    ///
    /// # Errors
    /// Why the helper does not start, or that the phone was lost.
    async fn try_helper(&self) -> Result<HelperTrial, Error>;
}

/// What the operations of the helper did on a phone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HelperTrial {
    /// The phone's API level, and the variants of Android's hidden methods that were found, as
    /// `name: variant`.
    pub variants: Vec<String>,
    /// Each operation, in the order in which it was tried.
    pub operations: Vec<OperationTrial>,
    /// What stayed on the phone after the helper's end.
    pub left: Vec<Leftover>,
}

/// Something that the helper left on a phone: a file, a process, a changed setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leftover {
    /// What it is.
    pub what: String,
    /// Whether it should stay, as the helper's file does.
    pub is_expected: bool,
}

/// What one operation did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperationTrial {
    /// Its name on the wire.
    pub op: &'static str,
    /// How it went.
    pub result: TrialResult,
    /// How long it took.
    pub took: Duration,
    /// The shell command that does the same, and how long that took.
    pub shell: Option<(&'static str, Duration)>,
}

/// How an operation went, with what it returned or said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TrialResult {
    /// It did what it should.
    Passed(String),
    /// It could not be tried here.
    Skipped(String),
    /// It did not.
    Failed(String),
}

/// Whether the helper works on a phone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HelperStatus {
    /// It runs and answers.
    Running,
    /// The operator does not want it used.
    Off,
}

/// The results of a phone's health checks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    /// The checks: `connectivity`, `screen_state`, `ui_service`.
    pub checks: Vec<Check>,
}

/// A health check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Check {
    /// Its name.
    pub name: &'static str,
    /// Whether all is well.
    pub passed: bool,
    /// What the check found.
    pub details: String,
}

impl Health {
    /// Whether all checks passed.
    pub fn is_well(&self) -> bool {
        self.checks.iter().all(|check| check.passed)
    }
}
