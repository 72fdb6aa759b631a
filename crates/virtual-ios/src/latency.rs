//! How long things take on the phone, in one table.
//!
//! The figures are estimates for a good current iPhone over USB, and for an iPhone 7; a real one
//! varies.

use std::time::Duration;

/// The latest time of the phone's clock after boot; waits beyond it end there.
pub(crate) const LATEST: Duration = Duration::from_secs(10 * 365 * 86_400);

/// How fast the phone is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Profile {
    /// Nothing takes time and nobody waits, not even for a swipe: the phone's clock jumps forward
    /// instead.
    Instant,
    /// A good current phone. The name is the same as the virtual Android's.
    #[default]
    Pixel,
    /// A phone of 2016.
    Old,
}

impl Profile {
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
    pub(crate) fn cost(self, work: Work) -> Duration {
        let (_, pixel, old) = TABLE.iter().find(|row| row.0 == work).copied().unwrap_or(TABLE[0]);
        Duration::from_millis(match self {
            Self::Instant => 0,
            Self::Pixel => pixel,
            Self::Old => old,
        })
    }
}

/// Whether the phone runs in virtual or real time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ClockMode {
    /// Virtual time: work moves the phone's clock forward and nobody waits; between commands the
    /// clock stops.
    #[default]
    Virtual,
    /// Real time: work is waited for, and the phone's clock also runs between commands. It is
    /// tokio's clock, which a test can pause.
    Real,
}

impl ClockMode {
    const NAMED: [(&'static str, Self); 2] = [("real", Self::Real), ("virtual", Self::Virtual)];

    /// The clock with that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::NAMED.iter().find(|(known, _)| *known == name).map(|(_, clock)| *clock)
    }

    /// All names.
    pub fn names() -> impl Iterator<Item = &'static str> {
        Self::NAMED.iter().map(|(name, _)| *name)
    }
}

/// Kinds of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// A command that asks the phone little.
    Command,
    /// Creating a session.
    Session,
    /// A tree of the app: a source, or finding elements.
    Tree,
    /// A screenshot.
    Screenshot,
    /// A touch, beyond the time that the fingers take.
    Touch,
    /// One typed character.
    Key,
    /// Starting an app that does not run.
    Launch,
    /// Bringing an app to the front.
    Activate,
}

/// Milliseconds on a current phone and on one of 2016.
const TABLE: [(Work, u64, u64); 8] = [
    (Work::Command, 5, 20),
    (Work::Session, 200, 900),
    (Work::Tree, 250, 1_200),
    (Work::Screenshot, 150, 500),
    (Work::Touch, 200, 600),
    (Work::Key, 20, 60),
    (Work::Launch, 800, 3_000),
    (Work::Activate, 400, 1_200),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_profile_is_never_faster_than_pixel() {
        for (at, (work, pixel, old)) in TABLE.iter().enumerate() {
            assert!(0 < *pixel && pixel <= old, "{work:?}");
            assert!(TABLE[..at].iter().all(|row| row.0 != *work), "{work:?} twice");
            assert!(Profile::Instant.cost(*work).is_zero());
            assert_eq!(Profile::Old.cost(*work).as_millis(), u128::from(*old));
        }
    }
}
