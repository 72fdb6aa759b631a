//! The queue of screens to draw, between the phone, which must not block, and a recording.
//!
//! Start with [`FrameQueue::capture`] (the phone's side) and [`FrameQueue::take`] (the recorder's).

use crate::scene::Scene;
use crate::world::World;
use std::collections::VecDeque;
use std::time::Duration;

/// Screen refreshes per second.
pub const RATE: u64 = 60;

/// Maximum queued screens. A recorder that falls further behind loses intermediate ones, never the
/// last.
const WAITING: usize = 64;

/// The screens that a recording has yet to draw.
#[derive(Debug, Default)]
pub struct FrameQueue {
    waiting: VecDeque<ScreenFrame>,
    /// The last captured one, taken or not.
    last: Option<ScreenFrame>,
    /// Refreshes before this one are complete.
    now: u64,
}

/// The screen at the end of a refresh.
#[derive(Clone, Debug, PartialEq)]
pub struct ScreenFrame {
    /// The refresh number since the first boot.
    pub refresh: u64,
    /// The windows; none while the screen is off.
    pub scene: Option<Scene>,
    /// Width and height in pixels.
    pub size: (i32, i32),
}

impl FrameQueue {
    /// Adds the current screen if it differs from the last one.
    pub fn capture(&mut self, world: &mut World) {
        self.now = refresh(world.uptime());
        let size = (world.display().width, world.display().height);
        let on = world.screen_on();
        let scene = on.then(|| world.scene());
        let known = self.last.as_ref().map(|last| (last.scene.as_ref(), last.size));
        if known == Some((scene, size)) {
            return;
        }
        let seen = ScreenFrame { refresh: self.now, scene: scene.cloned(), size };
        let full = self.waiting.len() >= WAITING;
        match self.waiting.back_mut() {
            // Only the state at the end of a refresh is ever visible.
            Some(last) if full || last.refresh == seen.refresh => *last = seen.clone(),
            _ => self.waiting.push_back(seen.clone()),
        }
        self.last = Some(seen);
    }

    /// The oldest screen whose refresh is over; with `all` any.
    pub fn take(&mut self, all: bool) -> Option<ScreenFrame> {
        let over = self.waiting.front().is_some_and(|seen| all || seen.refresh < self.now);
        if over { self.waiting.pop_front() } else { None }
    }
}

fn refresh(uptime: Duration) -> u64 {
    // Below 2^64 for as long as a phone's clock runs.
    (uptime.as_micros() as u64).saturating_mul(RATE) / 1_000_000
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::{Setup, World};

    #[test]
    fn last_screen_of_each_refresh_is_captured_once() {
        let mut world = World::new(Setup::default());
        let mut screens = FrameQueue::default();
        screens.capture(&mut world);
        screens.capture(&mut world);
        assert_eq!(screens.take(false), None, "the refresh is not over");
        world.key(crate::input::KeyCode::POWER);
        screens.capture(&mut world);
        world.advance(world.uptime() + Duration::from_millis(20));
        screens.capture(&mut world);
        let seen = screens.take(false).map(|seen| (seen.refresh, seen.scene.is_some()));
        assert_eq!(seen, Some((0, false)));
        assert_eq!(screens.take(true), None);
    }

    #[test]
    fn slow_recorder_still_gets_the_last_screen() {
        let mut world = World::new(Setup::default());
        let mut screens = FrameQueue::default();
        for _ in 0..WAITING + 8 {
            world.key(crate::input::KeyCode::POWER);
            world.advance(world.uptime() + Duration::from_millis(20));
            screens.capture(&mut world);
        }
        let mut taken = Vec::new();
        while let Some(seen) = screens.take(true) {
            taken.push(seen);
        }
        assert_eq!(taken.len(), WAITING);
        assert_eq!(taken.last().map(|seen| seen.refresh), Some(refresh(world.uptime())));
    }
}
