//! Signals at a given time, for `timeout`.

use super::System;
use crate::processes::Signal;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// The signals that processes asked for, by id: the uptime at which each is due, its process and
/// its number.
#[derive(Debug, Default)]
pub(super) struct Alarms {
    set: BTreeMap<u64, (Duration, u32, Signal)>,
    last: u64,
}

impl Alarms {
    pub(super) fn set(&mut self, at: Duration, pid: u32, signal: Signal) -> u64 {
        self.last += 1;
        self.set.insert(self.last, (at, pid, signal));
        self.last
    }

    /// The time until the next one, if it is within `limit` from `now`.
    pub(super) fn next_within(&self, now: Duration, limit: Duration) -> Option<Duration> {
        let first = self.set.values().map(|(at, ..)| at.saturating_sub(now)).min();
        first.filter(|first| *first <= limit)
    }

    pub(super) fn take_due(&mut self, now: Duration) -> Vec<(u32, Signal)> {
        let due = self.set.extract_if(.., |_, (at, ..)| *at <= now);
        due.map(|(_, (_, pid, signal))| (pid, signal)).collect()
    }
}

/// A signal that is due; dropping the handle cancels it.
pub struct AlarmHandle {
    system: Arc<dyn System>,
    id: u64,
    at: Duration,
}

impl AlarmHandle {
    /// Sends a signal to a process when its time has come, for as long as the handle lives. Only
    /// programs that let time pass without waiting ring it.
    pub fn set(system: &Arc<dyn System>, after: Duration, pid: u32, signal: Signal) -> Self {
        let (id, at) = system.with(|kernel| kernel.set_alarm(after, pid, signal));
        Self { system: Arc::clone(system), id, at }
    }

    /// Whether the signal was sent.
    pub fn rang(&self) -> bool {
        self.system.with(|kernel| !kernel.alarms.set.contains_key(&self.id))
    }

    /// The time until it is due.
    pub fn left(&self) -> Duration {
        self.at.saturating_sub(self.system.with(|kernel| kernel.uptime()))
    }
}

impl Drop for AlarmHandle {
    fn drop(&mut self) {
        self.system.with(|kernel| kernel.alarms.set.remove(&self.id));
    }
}
