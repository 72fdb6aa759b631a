//! Checks of how well a phone can be driven.

use std::borrow::Cow;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Health {
    /// The checks: `connectivity`, `screen_state`, `ui_service`.
    pub checks: Vec<Check>,
}

/// A health check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    /// Its name.
    pub name: Cow<'static, str>,
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
