//! How fast an old phone types, learned from the commands that it runs.
//!
//! `input text` stamps all its keys when it starts, and Android drops keys older than 10 s
//! (`InputDispatcher`, `STALE_EVENT_TIMEOUT`). On a slow phone a key takes 90 ms and more (measured
//! on Android 4.4.4), so a long text has to be typed in pieces that take much less than that.

use std::sync::Mutex;
use std::time::Duration;

use thumbwire_base::lock;

/// How long a piece should take, its command's start included: half of what Android allows, since a
/// busy phone may suddenly be twice as slow.
const PIECE_TIME: Duration = Duration::from_secs(5);

/// Characters in a first piece, before the pace is known.
const FIRST: usize = 20;

/// The shortest piece; its start then takes longer than its keys.
const SHORTEST: usize = 8;

/// A phone that starts `input` faster than this types a key without a delay that counts.
const FAST_START: Duration = Duration::from_millis(150);

/// A command that takes longer did something else too: opened the keyboard, waited for an app. A
/// guess from all of it would refuse texts that fit.
const SLOWEST_START: Duration = Duration::from_secs(1);

/// A key takes about this part of the start of `input` (measured on Android 4.4.4: 90 ms and 1.0 s;
/// reports of newer phones: 5 ms and 60 ms).
const KEYS_PER_START: u32 = 10;

#[derive(Default)]
pub(super) struct Pace(Mutex<Known>);

#[derive(Default, Clone, Copy)]
struct Known {
    /// Time per character of a piece by the phone's clock, its command's start included.
    per_character: Option<Duration>,
    /// Time per character by our clock, with the round trip to the phone.
    seen: Option<Duration>,
    /// Time of a command with a single key or tap.
    start: Option<Duration>,
}

impl Pace {
    /// Learns from a tap or a key.
    pub(super) fn learn_start(&self, took: Duration) {
        lock(&self.0).start = Some(took);
    }

    /// Learns from a piece that took so long by the phone's clock and by ours. A slower pace counts
    /// at once, a faster one by half.
    pub(super) fn learn_text(&self, characters: usize, took: Duration, seen: Duration) {
        if characters < SHORTEST {
            return;
        }
        let learn = |known: &mut Option<Duration>, took: Duration| {
            let pace = took / u32::try_from(characters).unwrap_or(u32::MAX);
            *known = Some(match *known {
                Some(before) if pace < before => (before + pace) / 2,
                _ => pace,
            });
        };
        let known = &mut *lock(&self.0);
        learn(&mut known.per_character, took);
        learn(&mut known.seen, seen);
    }

    /// How many characters the next piece may have.
    pub(super) fn piece(&self) -> usize {
        match lock(&self.0).per_character {
            Some(pace) => {
                let fit = PIECE_TIME.as_micros() / pace.as_micros().max(1);
                usize::try_from(fit).unwrap_or(usize::MAX).max(SHORTEST)
            }
            None => FIRST,
        }
    }

    /// About how long so many characters take; `None` if nothing is known yet.
    pub(super) fn estimate(&self, characters: usize) -> Option<Duration> {
        let Known { seen, start, .. } = *lock(&self.0);
        let guess = |start: Duration| {
            // A slow phone's pieces have their share of the start.
            let share = if start < FAST_START { Duration::ZERO } else { start / 20 };
            start / KEYS_PER_START + share
        };
        let pace = seen.or(start.map(|start| guess(start.min(SLOWEST_START))))?;
        Some(pace.saturating_mul(u32::try_from(characters).unwrap_or(u32::MAX)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    /// A phone as the real Android 4.4.4: 1 s for the start of a command, 90 ms a key; under load
    /// five times as much.
    fn took(characters: usize, load: u32) -> Duration {
        (ms(1000) + ms(90) * u32::try_from(characters).unwrap()) * load
    }

    #[test]
    fn no_piece_reaches_the_age_at_which_keys_are_dropped() {
        for load in 1..=3 {
            let pace = Pace::default();
            for _ in 0..20 {
                let piece = pace.piece();
                let took = took(piece, load);
                assert!(took < Duration::from_secs(10), "{piece} characters took {took:?}");
                pace.learn_text(piece, took, took);
            }
            assert!(pace.piece() >= SHORTEST);
        }
    }

    #[test]
    fn piece_shrinks_at_once_and_grows_slowly() {
        let pace = Pace::default();
        pace.learn_text(20, took(20, 1), took(20, 1));
        let calm = pace.piece();
        pace.learn_text(calm, took(calm, 2), took(calm, 2));
        let busy = pace.piece();
        assert!(busy < calm, "{busy} {calm}");
        pace.learn_text(busy, took(busy, 1), took(busy, 1));
        assert!(pace.piece() > busy && pace.piece() <= calm, "{}", pace.piece());
        let long = Duration::from_secs(9);
        pace.learn_text(3, long, long);
        assert!(pace.piece() > busy, "a few characters prove nothing");
    }

    #[test]
    fn time_is_estimated_from_the_start_of_a_command() {
        let pace = Pace::default();
        assert_eq!(pace.piece(), FIRST);
        assert_eq!(pace.estimate(100), None);
        pace.learn_start(ms(60));
        assert_eq!(pace.piece(), FIRST);
        assert_eq!(pace.estimate(100), Some(ms(600)));
        pace.learn_start(ms(1000));
        assert_eq!(pace.estimate(1000), Some(Duration::from_secs(150)));
        // The first tap of a session on a real Android 4.4.4.
        pace.learn_start(ms(2670));
        assert_eq!(pace.estimate(1000), Some(Duration::from_secs(150)));
    }
}
