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

/// The phone's date and time (UTC).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Clock {
    pub(crate) hour: u32,
    pub(crate) minute: u32,
    pub(crate) weekday: &'static str,
    pub(crate) month: &'static str,
    pub(crate) day: u32,
}

/// Seconds from 1970 to the first boot: Tuesday 5 March 2024, 10:00 UTC.
pub(crate) const SWITCHED_ON: u64 = 1_709_632_800;

impl Clock {
    /// The clock after the phone has run for `uptime`.
    pub(crate) fn at(uptime: Duration) -> Self {
        let now = date_time(uptime);
        Self {
            hour: now.hour().unsigned_abs().into(),
            minute: now.minute().unsigned_abs().into(),
            weekday: WEEKDAYS[usize::from(now.weekday().to_monday_zero_offset().unsigned_abs())],
            month: MONTHS[usize::from(now.month().unsigned_abs()) - 1],
            day: now.day().unsigned_abs().into(),
        }
    }
}

const WEEKDAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/// Date and time (UTC) after the phone has run for `uptime`, up to the year 9999.
pub(crate) fn date_time(uptime: Duration) -> DateTime {
    let seconds = SWITCHED_ON.saturating_add(uptime.as_secs());
    let now = i64::try_from(seconds).ok().and_then(|seconds| Timestamp::from_second(seconds).ok());
    TimeZone::UTC.to_datetime(now.unwrap_or(Timestamp::MAX))
}
