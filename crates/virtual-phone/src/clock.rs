//! The phone's time: how long it has run, and the date and time of day that follow from that.
//!
//! Begin with [`PhoneClock`]. Time is handed in; nothing here asks for it.

use std::time::Duration;

/// How long the phone has run, and what waits for a moment.
#[derive(Debug, Default)]
pub(crate) struct PhoneClock {
    uptime: Duration,
    /// The uptime at which it was restarted last.
    restarted: Duration,
    /// When an app wants to be woken next; `None` when that has to be found out.
    next_wake: Option<Duration>,
}

impl PhoneClock {
    /// Time since the phone was first switched on, reboots included.
    pub(crate) fn now(&self) -> Duration {
        self.uptime
    }

    /// Goes on to `uptime`; never back.
    pub(crate) fn advance(&mut self, uptime: Duration) {
        self.uptime = self.uptime.max(uptime);
    }

    /// Seconds since 1970 (UTC).
    pub(crate) fn unix_time(&self) -> u64 {
        SWITCHED_ON + self.uptime.as_secs()
    }

    /// Time since the phone came up last.
    pub(crate) fn since_restart(&self) -> Duration {
        self.uptime - self.restarted
    }

    /// The phone comes up again.
    pub(crate) fn restart(&mut self) {
        self.restarted = self.uptime;
        self.next_wake = None;
    }

    /// When an app wants to be woken next; `None` when that has to be found out.
    pub(crate) fn next_wake(&self) -> Option<Duration> {
        self.next_wake
    }

    /// Remembers when an app wants to be woken next.
    pub(crate) fn set_next_wake(&mut self, at: Duration) {
        self.next_wake = Some(at);
    }

    /// Something happened that may have changed when an app wants to be woken.
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

/// Seconds from 1970 to the moment when the phone was switched on: Tuesday 5 March 2024, 10:00 UTC.
pub(crate) const SWITCHED_ON: u64 = 1_709_632_800;

impl Clock {
    /// The clock after the phone ran for `uptime`.
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
