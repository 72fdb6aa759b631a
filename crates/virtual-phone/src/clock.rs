//! The phone's time: uptime, and the date and time of day that follow from it.
//!
//! Start with [`PhoneClock`]. Time is an input; this room reads no clock.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use std::time::Duration;

/// The uptime, and the next app wakeup.
#[derive(Debug, Default)]
pub(crate) struct PhoneClock {
    uptime: Duration,
    /// The uptime of the last restart.
    restarted: Duration,
    /// When an app next wants to be woken; `None` if unknown.
    next_wake: Option<Duration>,
}

impl PhoneClock {
    /// Time since the phone first booted, reboots included.
    pub(crate) fn now(&self) -> Duration {
        self.uptime
    }

    /// Advances to `uptime`; never goes back.
    pub(crate) fn advance(&mut self, uptime: Duration) {
        self.uptime = self.uptime.max(uptime);
    }

    /// Seconds since 1970 (UTC).
    pub(crate) fn unix_time(&self) -> u64 {
        SWITCHED_ON + self.uptime.as_secs()
    }

    /// Time since the last boot.
    pub(crate) fn since_restart(&self) -> Duration {
        self.uptime - self.restarted
    }

    /// Restarts the phone.
    pub(crate) fn restart(&mut self) {
        self.restarted = self.uptime;
        self.next_wake = None;
    }

    /// When an app next wants to be woken; `None` if unknown.
    pub(crate) fn next_wake(&self) -> Option<Duration> {
        self.next_wake
    }

    /// Stores when an app next wants to be woken.
    pub(crate) fn set_next_wake(&mut self, at: Duration) {
        self.next_wake = Some(at);
    }

    /// Marks the next wakeup as unknown, because something happened that may have changed it.
    pub(crate) fn forget_next_wake(&mut self) {
        self.next_wake = None;
    }
}

/// Seconds from 1970 to the first boot: Tuesday 5 March 2024, 10:00 UTC.
pub(crate) const SWITCHED_ON: u64 = 1_709_632_800;

/// How the system shows a date, for `strftime`: `Tue, Mar 5`.
pub(crate) const SHORT_DATE: &str = "%a, %b %-d";

/// The time of day as the system shows it: `9:05`.
pub(crate) fn time_of_day(now: DateTime) -> String {
    now.strftime("%-H:%M").to_string()
}

/// Date and time (UTC) after the phone has run for `uptime`, up to the year 9999.
pub(crate) fn date_time(uptime: Duration) -> DateTime {
    let seconds = SWITCHED_ON.saturating_add(uptime.as_secs());
    let now = i64::try_from(seconds).ok().and_then(|seconds| Timestamp::from_second(seconds).ok());
    TimeZone::UTC.to_datetime(now.unwrap_or(Timestamp::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clock_starts_on_a_tuesday_morning_and_passes_midnight() {
        for (uptime, expected) in [
            (0, "Tue, Mar 5 10:00"),
            (14 * 3_600 + 61, "Wed, Mar 6 0:01"),
            (27 * 86_400, "Mon, Apr 1 10:00"),
        ] {
            let now = date_time(Duration::from_secs(uptime));
            assert_eq!(format!("{} {}", now.strftime(SHORT_DATE), time_of_day(now)), expected);
        }
    }
}
