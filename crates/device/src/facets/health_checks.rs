//! Checks of how well a phone can be driven.

use async_trait::async_trait;

use crate::Error;

/// Checks the phone.
#[async_trait]
pub trait HealthChecks: Send + Sync {
    /// Checks how well the phone can be driven. A phone that does not respond shows up as a failed check.
    async fn check_health(&self) -> Result<Health, Error>;
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
