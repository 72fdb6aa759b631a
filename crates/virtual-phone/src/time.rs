//! How fast a phone is, and its clock: what the phones of both platforms share.
//!
//! The world has no clock; time is its input. [`WorldClock`] gives it the time, real or virtual,
//! and [`Profile::cost`] says how much a [`Work`] takes. Only [`wait`] and a clock that follows
//! real time look at tokio's clock, which a test can pause.

use crate::world::World;
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// The latest time of a phone's clock after boot; waits beyond it end there.
pub const LATEST: Duration = Duration::from_secs(10 * 365 * 86_400);

/// How fast the phone is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// Nothing takes time and nobody waits, not even for a swipe or a `sleep`: the phone's clock
    /// jumps forward instead.
    Instant,
    /// A good current phone, of either platform.
    #[default]
    Pixel,
    /// An old phone: an Android of 2014, on which each `input` starts a Java program, or an iPhone
    /// of 2016.
    Old,
}

impl Profile {
    /// All profiles and their names.
    const NAMED: [(&'static str, Self); 3] =
        [("instant", Self::Instant), ("pixel", Self::Pixel), ("old", Self::Old)];

    /// The profile with that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::NAMED.iter().find(|(known, _)| *known == name).map(|(_, profile)| *profile)
    }

    /// All names.
    pub fn names() -> impl Iterator<Item = &'static str> {
        Self::NAMED.iter().map(|(name, _)| *name)
    }

    /// The duration of that work.
    pub fn cost(self, work: Work) -> Duration {
        Duration::from_millis(match self {
            Self::Instant => 0,
            Self::Pixel => work.pixel_ms,
            Self::Old => work.old_ms,
        })
    }
}

/// Whether the phone runs in virtual or real time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClockMode {
    /// Virtual time: work moves the phone's clock forward and nobody waits; between commands the
    /// clock stops. So the same commands give the same bytes, however fast the host is.
    #[default]
    Virtual,
    /// Real time: work is waited for, and the phone's clock also runs between commands. It is
    /// tokio's clock, which a test can pause.
    Real,
}

impl ClockMode {
    /// All clocks and their names.
    const NAMED: [(&'static str, Self); 2] = [("real", Self::Real), ("virtual", Self::Virtual)];

    /// The clock with that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::NAMED.iter().find(|(known, _)| *known == name).map(|(_, clock)| *clock)
    }

    /// All names.
    pub fn names() -> impl Iterator<Item = &'static str> {
        Self::NAMED.iter().map(|(name, _)| *name)
    }

    /// Whether work takes real time on a phone this fast.
    pub fn waits(self, profile: Profile) -> bool {
        self == Self::Real && profile != Profile::Instant
    }
}

/// A kind of work, by what it takes on a good current phone and on an old one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    pixel_ms: u64,
    old_ms: u64,
}

impl Work {
    /// Work that takes that many milliseconds; an old phone is never faster. For constants: the
    /// compiler checks it.
    pub const fn new(pixel_ms: u64, old_ms: u64) -> Self {
        assert!(0 < pixel_ms && pixel_ms <= old_ms, "an old phone is never faster");
        Self { pixel_ms, old_ms }
    }
}

/// Waits that long in real time.
pub async fn wait(time: Duration) {
    sleep_until(Instant::now() + time.min(LATEST)).await;
}

/// Gives a world its time.
#[derive(Debug)]
pub struct WorldClock {
    /// Set when it follows real time.
    following: Option<RealTime>,
}

impl WorldClock {
    /// A clock that begins now.
    pub fn new(mode: ClockMode) -> Self {
        let begin = || RealTime { since: Instant::now(), ahead: Duration::ZERO };
        Self { following: (mode == ClockMode::Real).then(begin) }
    }

    /// Moves the world to the real time, if the clock follows it.
    pub fn sync(&self, world: &mut World) {
        if let Some(following) = &self.following {
            world.advance(following.uptime().min(LATEST));
        }
    }

    /// Moves the world forward without waiting.
    pub fn advance(&mut self, world: &mut World, time: Duration) {
        match &mut self.following {
            Some(following) => following.ahead = following.ahead.saturating_add(time),
            None => world.advance(world.uptime().saturating_add(time).min(LATEST)),
        }
        self.sync(world);
    }
}

/// Real time since the phone was made.
#[derive(Debug)]
struct RealTime {
    since: Instant,
    /// Time that was skipped instead of waited for.
    ahead: Duration,
}

impl RealTime {
    /// Resolution of the phone's clock in nanoseconds: laying out a moving screen more often costs
    /// too much.
    const STEP: u128 = 10_000_000;

    /// The phone's uptime.
    fn uptime(&self) -> Duration {
        let now = self.since.elapsed().saturating_add(self.ahead);
        let beyond = u64::try_from(now.as_nanos() % Self::STEP).unwrap_or_default();
        now - Duration::from_nanos(beyond)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_costs_nothing_on_an_instant_phone() {
        let cost = |profile: Profile| profile.cost(Work::new(2, 10)).as_millis();
        assert_eq!([Profile::Instant, Profile::Pixel, Profile::Old].map(cost), [0, 2, 10]);
    }
}
