//! The phone's clock while it follows real time.

use std::time::Duration;

use tokio::time::Instant;

/// The phone's clock while it follows real time.
#[derive(Debug)]
pub(crate) struct RealTimeClock {
    since: Instant,
    /// Time that was skipped instead of waited for.
    ahead: Duration,
}

impl RealTimeClock {
    /// Resolution of the phone's clock in nanoseconds: laying out a moving screen more often costs
    /// too much.
    const STEP: u128 = 10_000_000;

    pub(crate) fn begin() -> Self {
        Self { since: Instant::now(), ahead: Duration::ZERO }
    }

    /// The phone's uptime.
    pub(crate) fn uptime(&self) -> Duration {
        let now = self.since.elapsed().saturating_add(self.ahead);
        let beyond = u64::try_from(now.as_nanos() % Self::STEP).unwrap_or_default();
        now - Duration::from_nanos(beyond)
    }

    /// Lets time pass without waiting.
    pub(crate) fn skip(&mut self, time: Duration) {
        self.ahead = self.ahead.saturating_add(time);
    }
}
