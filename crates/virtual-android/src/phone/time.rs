//! Lets time pass on the phone.
//!
//! A program spends its [`Work`] ([`VirtualPhone::run_work`]); what has a duration of its own, such
//! as a swipe or a `sleep`, takes that time ([`VirtualPhone::sleep`]). Only these two decide
//! whether anybody really waits.

use super::VirtualPhone;
use crate::latency::{ClockMode, LATEST, Profile, Work};
use crate::processes::Signal;
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// The phone's clock while it follows real time.
#[derive(Debug)]
pub(super) struct RealTimeClock {
    since: Instant,
    /// Time that was skipped instead of waited for.
    ahead: Duration,
}

impl RealTimeClock {
    /// Resolution of the phone's clock: laying out a moving screen more often costs too much.
    const STEP: Duration = Duration::from_millis(10);

    pub(super) fn begin() -> Self {
        Self { since: Instant::now(), ahead: Duration::ZERO }
    }

    /// The phone's uptime.
    pub(super) fn uptime(&self) -> Duration {
        let now = self.since.elapsed().saturating_add(self.ahead);
        now - Duration::from_nanos((now.as_nanos() % Self::STEP.as_nanos()) as u64)
    }

    /// Lets time pass without waiting.
    pub(super) fn skip(&mut self, time: Duration) {
        self.ahead = self.ahead.saturating_add(time);
    }
}

/// The signals that processes asked for, by id: the uptime at which each is due, its process and
/// its number.
#[derive(Debug, Default)]
pub(super) struct Alarms {
    set: BTreeMap<u64, (Duration, u32, Signal)>,
    last: u64,
}

impl Alarms {
    fn set(&mut self, at: Duration, pid: u32, signal: Signal) -> u64 {
        self.last += 1;
        self.set.insert(self.last, (at, pid, signal));
        self.last
    }

    /// The time until the next one, if it is within `limit` from `now`.
    fn next_within(&self, now: Duration, limit: Duration) -> Option<Duration> {
        let first = self.set.values().map(|(at, ..)| at.saturating_sub(now)).min();
        first.filter(|first| *first <= limit)
    }

    fn take_due(&mut self, now: Duration) -> Vec<(u32, Signal)> {
        let due = self.set.extract_if(.., |_, (at, ..)| *at <= now);
        due.map(|(_, (_, pid, signal))| (pid, signal)).collect()
    }
}

/// A signal that is due; dropping the handle cancels it.
pub(crate) struct AlarmHandle {
    phone: VirtualPhone,
    id: u64,
    at: Duration,
}

impl AlarmHandle {
    /// Whether the signal was sent.
    pub(crate) fn rang(&self) -> bool {
        self.phone.with(|phone| !phone.alarms.set.contains_key(&self.id))
    }

    /// The time until it is due.
    pub(crate) fn left(&self) -> Duration {
        self.at.saturating_sub(self.phone.with(|phone| phone.world.uptime()))
    }
}

impl Drop for AlarmHandle {
    fn drop(&mut self) {
        self.phone.with(|phone| phone.alarms.set.remove(&self.id));
    }
}

impl VirtualPhone {
    /// Lets the time pass that this work takes on the phone, and returns it.
    pub(crate) async fn run_work(&self, work: Work) -> Duration {
        let cost = self.setup().profile.cost(work);
        self.sleep(cost).await;
        cost
    }

    /// Lets that much time pass on the phone, for actions with a duration of their own such as a
    /// swipe. In virtual time, and with [`Profile::Instant`], the world's clock moves forward and
    /// nobody waits; otherwise real time passes too.
    pub(crate) async fn sleep(&self, time: Duration) {
        if time.is_zero() {
            return;
        }
        if self.follows_real_time() && self.setup().profile != Profile::Instant {
            sleep_until(Instant::now() + time.min(LATEST)).await;
            self.with(|_| {});
        } else {
            let mut left = time;
            // Alarms on the way ring at their time, before whatever the sleeper does next.
            while let Some(first) =
                self.with(|phone| phone.alarms.next_within(phone.world.uptime(), left))
            {
                self.with(|phone| {
                    phone.advance(first);
                    let due = phone.alarms.take_due(phone.world.uptime());
                    for (pid, signal) in due {
                        phone.processes.send(pid, signal);
                    }
                });
                left = left.saturating_sub(first);
                tokio::task::yield_now().await;
            }
            self.with(|phone| phone.advance(left));
        }
    }

    /// Sends a signal to a process when its time has come, for as long as the returned handle
    /// lives. Only programs that let time pass without waiting ring it.
    pub(crate) fn set_alarm(&self, after: Duration, pid: u32, signal: Signal) -> AlarmHandle {
        let (id, at) = self.with(|phone| {
            let at = phone.world.uptime().saturating_add(after);
            (phone.alarms.set(at, pid, signal), at)
        });
        AlarmHandle { phone: self.clone(), id, at }
    }

    /// Whether the phone's clock follows real time.
    pub(crate) fn follows_real_time(&self) -> bool {
        self.setup().clock == ClockMode::Real
    }

    /// Bandwidth of the cable in each direction, in bytes per second; `None` for unlimited.
    pub(crate) fn bytes_per_second(&self) -> Option<u32> {
        self.setup().profile.bytes_per_second().filter(|_| self.follows_real_time())
    }

    /// Completes when those who watch the screen should look again because time passed; never in
    /// virtual time.
    pub(crate) async fn tick(&self) {
        const BEAT: Duration = Duration::from_millis(100);
        match self.follows_real_time() {
            true => sleep_until(Instant::now() + BEAT).await,
            false => std::future::pending().await,
        }
    }

    /// Waits that long in real time; without a limit, forever. For a program that waits for others
    /// and must end even if nobody moves the world's clock. Uses only tokio's timers, which a test
    /// can pause; afterwards call [`VirtualPhone::sleep`] so that the time passes on the phone too.
    pub(crate) async fn sleep_real(&self, limit: Option<Duration>) {
        match limit {
            Some(limit) => drop(tokio::time::timeout(limit, std::future::pending::<()>()).await),
            None => std::future::pending().await,
        }
    }
}
