//! The screens that were shown and wait to be drawn: the seam between the phone, which must not be held up, and a recording.
//!
//! Begin at [`Screens::see`] (the phone's side) and [`Screens::take`] (the recorder's).

use crate::world::{Scene, World};
use std::collections::VecDeque;
use std::time::Duration;

/// Refreshes of the screen a second.
pub(crate) const RATE: u64 = 60;

/// Screens that may wait. A recorder that falls behind further loses what came between, never the last.
const WAITING: usize = 64;

/// What a recording has yet to draw.
#[derive(Debug, Default)]
pub(crate) struct Screens {
    waiting: VecDeque<Watched>,
    /// The one that was seen last, taken or not.
    last: Option<Watched>,
    /// Refreshes before this one are over.
    now: u64,
}

/// A screen at the end of a refresh.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Watched {
    /// Refreshes of the screen since the phone was switched on.
    pub(crate) refresh: u64,
    /// What is to be seen; nothing while the screen is off.
    pub(crate) scene: Option<Scene>,
    /// Width and height in pixels.
    pub(crate) size: (i32, i32),
}

impl Screens {
    /// Notes what is shown now, if it is not what was shown before.
    pub(crate) fn see(&mut self, world: &mut World) {
        self.now = refresh(world.uptime());
        let size = (world.display().width, world.display().height);
        let on = world.screen_on();
        let scene = on.then(|| world.scene());
        let known = self.last.as_ref().map(|last| (last.scene.as_ref(), last.size));
        if known == Some((scene, size)) {
            return;
        }
        let seen = Watched { refresh: self.now, scene: scene.cloned(), size };
        let full = self.waiting.len() >= WAITING;
        match self.waiting.back_mut() {
            // Within one refresh only what was there at its end is ever seen.
            Some(last) if full || last.refresh == seen.refresh => *last = seen.clone(),
            _ => self.waiting.push_back(seen.clone()),
        }
        self.last = Some(seen);
    }

    /// The oldest screen whose refresh is over, or with `all` any.
    pub(crate) fn take(&mut self, all: bool) -> Option<Watched> {
        let over = self.waiting.front().is_some_and(|seen| all || seen.refresh < self.now);
        if over { self.waiting.pop_front() } else { None }
    }
}

fn refresh(uptime: Duration) -> u64 {
    // Below 2^64 for as long as a phone's clock goes.
    (uptime.as_micros() as u64).saturating_mul(RATE) / 1_000_000
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::{Setup, World};

    #[test]
    fn a_screen_that_stays_is_seen_once_and_within_a_refresh_the_last_counts() {
        let mut world = World::new(Setup::default());
        let mut screens = Screens::default();
        screens.see(&mut world);
        screens.see(&mut world);
        assert_eq!(screens.take(false), None, "the refresh is not over");
        world.key(crate::world::Key::POWER);
        screens.see(&mut world);
        world.advance(world.uptime() + Duration::from_millis(20));
        screens.see(&mut world);
        let seen = screens.take(false).map(|seen| (seen.refresh, seen.scene.is_some()));
        assert_eq!(seen, Some((0, false)));
        assert_eq!(screens.take(true), None);
    }

    #[test]
    fn a_recorder_that_falls_behind_still_gets_the_last_screen() {
        let mut world = World::new(Setup::default());
        let mut screens = Screens::default();
        for _ in 0..WAITING + 8 {
            world.key(crate::world::Key::POWER);
            world.advance(world.uptime() + Duration::from_millis(20));
            screens.see(&mut world);
        }
        let mut taken = Vec::new();
        while let Some(seen) = screens.take(true) {
            taken.push(seen);
        }
        assert_eq!(taken.len(), WAITING);
        assert_eq!(taken.last().map(|seen| seen.refresh), Some(refresh(world.uptime())));
    }
}
