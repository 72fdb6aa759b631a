//! The phone's time: uptime, and the date and time of day that follow from it.
//!
//! Begin with [`PhoneClock`]. Time is an input; this room reads no clock.

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
        let seconds = SWITCHED_ON + uptime.as_secs();
        let days = seconds / 86_400;
        // 1970-01-01 was a Thursday.
        let weekday = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"][(days % 7) as usize];
        let (mut year, mut day) = (1970, days);
        let leap = |year: u64| {
            year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400))
        };
        let days_in = |year| if leap(year) { 366 } else { 365 };
        while day >= days_in(year) {
            day -= days_in(year);
            year += 1;
        }
        let february = if leap(year) { 29 } else { 28 };
        let months = [
            ("Jan", 31),
            ("Feb", february),
            ("Mar", 31),
            ("Apr", 30),
            ("May", 31),
            ("Jun", 30),
            ("Jul", 31),
            ("Aug", 31),
            ("Sep", 30),
            ("Oct", 31),
            ("Nov", 30),
        ];
        let mut month = "Dec";
        for (name, length) in months {
            if day < length {
                month = name;
                break;
            }
            day -= length;
        }
        Self {
            hour: (seconds / 3600 % 24) as u32,
            minute: (seconds / 60 % 60) as u32,
            weekday,
            month,
            day: day as u32 + 1,
        }
    }
}
