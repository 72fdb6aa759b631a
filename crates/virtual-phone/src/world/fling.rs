//! Fling: what scrolls goes on after a finger that left in motion, slower and slower.
//!
//! The curve is that of Android's `OverScroller.SplineOverScroller`, the limits are those of `ViewConfiguration`, and how fast a finger was
//! is judged as `VelocityTracker` does: by the last 100 ms, and not at all when it rested for 40 ms. A slow finger flings too, only hardly
//! anything: 1000 px in a second run on for some 95 px at 420 dpi. Not here: the glow or stretch at the ends, where content just stops.

use std::collections::VecDeque;
use std::sync::LazyLock;
use std::time::Duration;

use super::World;
use super::geometry::Point;
use super::scene::Axis;

/// `ViewConfiguration.getScrollFriction`.
const FRICTION: f64 = 0.015;
/// Gravity in m/s², inches in a metre, and a factor "look and feel tuning" of the original.
const GRAVITY: f64 = 9.806_65 * 39.37 * 0.84;
/// Where the two parts of the curve meet.
const INFLEXION: f64 = 0.35;
const START_TENSION: f64 = 0.5;
const END_TENSION: f64 = 1.0;
const SAMPLES: usize = 100;
/// Least and greatest speed, in dp a second.
const SPEEDS: (f64, f64) = (50.0, 8_000.0);
/// What a finger did longer ago says nothing about its speed.
const HORIZON: Duration = Duration::from_millis(100);
/// A finger that rested so long stands.
const RESTED: Duration = Duration::from_millis(40);
/// Places of a finger that are remembered.
const MOST: usize = 128;

/// Where a finger was of late.
#[derive(Debug, Clone, Default)]
pub(crate) struct Track(VecDeque<(Duration, Point)>);

impl Track {
    /// The finger is there now.
    pub(crate) fn note(&mut self, now: Duration, at: Point) {
        if self.0.back().is_some_and(|(_, last)| *last == at) {
            return;
        }
        if self.0.len() == MOST {
            self.0.pop_front();
        }
        self.0.push_back((now, at));
        while self.0.front().is_some_and(|(then, _)| now.saturating_sub(*then) > HORIZON) {
            self.0.pop_front();
        }
    }

    /// Its speed along an axis, in pixels a second; 0 when it rested before it left, or moved in no time.
    fn speed(&self, now: Duration, axis: Axis) -> f64 {
        let (Some((begin, from)), Some((end, to))) = (self.0.front(), self.0.back()) else {
            return 0.0;
        };
        let time = end.saturating_sub(*begin).as_secs_f64();
        if now.saturating_sub(*end) > RESTED || time <= 0.0 {
            return 0.0;
        }
        let way = match axis {
            Axis::Across => to.x - from.x,
            Axis::Down => to.y - from.y,
        };
        f64::from(way) / time
    }
}

/// Something that goes on by itself.
#[derive(Debug, Clone)]
pub(crate) struct Fling {
    /// Owner and address, as scroll offsets are kept.
    key: (String, String),
    /// The offset at its start, and the furthest there is.
    from: i32,
    furthest: i32,
    /// Pixels to go in all; below zero towards the beginning.
    way: f64,
    since: Duration,
    lasts: Duration,
}

impl Fling {
    /// The offset at an uptime, and whether it has come to rest there.
    fn at(&self, now: Duration) -> (i32, bool) {
        let part = now.saturating_sub(self.since).as_secs_f64() / self.lasts.as_secs_f64();
        let offset = f64::from(self.from) + self.way * position(part);
        let offset = (offset.round() as i32).clamp(0, self.furthest);
        let end = if self.way < 0.0 { 0 } else { self.furthest };
        (offset, part >= 1.0 || offset == end)
    }

    /// The address of the container that goes on.
    pub(crate) fn address(&self) -> &str {
        &self.key.1
    }
}

impl World {
    /// Lets what a finger scrolled go on, if it left fast enough.
    pub(crate) fn start_fling(
        &mut self,
        key: (String, String),
        (axis, furthest): (Axis, i32),
        track: &Track,
    ) {
        let dpi = f64::from(self.display.density);
        let speed = track.speed(self.uptime, axis);
        let (least, most) = (SPEEDS.0 * dpi / 160.0, SPEEDS.1 * dpi / 160.0);
        if speed.abs() < least {
            return;
        }
        let Some(from) = self.scrolls.get(&key).copied() else { return };
        let (way, lasts) = reach(speed.abs().min(most), dpi);
        // Content follows the finger, so the offset goes the other way.
        let way = if speed > 0.0 { -way } else { way };
        let fling = Fling { key, from, furthest, way, since: self.uptime, lasts };
        self.fling = (!fling.at(self.uptime).1).then_some(fling);
    }

    /// Moves what goes on to where it is now.
    pub(crate) fn go_on(&mut self) {
        let Some(fling) = &self.fling else { return };
        let (offset, rests) = fling.at(self.uptime);
        self.scrolls.insert(fling.key.clone(), offset);
        if rests {
            self.fling = None;
        }
        self.scene = None;
    }
}

/// How far a fling of that speed (pixels a second) goes on a screen of that density, and how long it lasts.
fn reach(speed: f64, dpi: f64) -> (f64, Duration) {
    let rate = 0.78_f64.ln() / 0.9_f64.ln();
    let drag = FRICTION * GRAVITY * dpi;
    let slows = (INFLEXION * speed / drag).ln();
    let way = drag * (rate / (rate - 1.0) * slows).exp();
    let seconds = (slows / (rate - 1.0)).exp().clamp(0.001, 30.0);
    (way, Duration::from_secs_f64(seconds))
}

/// The part of the way that is done after that part of the time.
fn position(part: f64) -> f64 {
    static CURVE: LazyLock<[f64; SAMPLES + 1]> = LazyLock::new(curve);
    if part >= 1.0 {
        return 1.0;
    }
    let along = part.max(0.0) * SAMPLES as f64;
    let (at, rest) = (along as usize, along.fract());
    let (low, high) = (CURVE[at.min(SAMPLES)], CURVE[(at + 1).min(SAMPLES)]);
    low + (high - low) * rest
}

fn curve() -> [f64; SAMPLES + 1] {
    let (p1, p2) = (START_TENSION * INFLEXION, 1.0 - END_TENSION * (1.0 - INFLEXION));
    let bezier = |x: f64, a: f64, b: f64| 3.0 * x * (1.0 - x) * ((1.0 - x) * a + x * b) + x.powi(3);
    std::array::from_fn(|at| {
        let time = at as f64 / SAMPLES as f64;
        // The curve rises, so its inverse is found by halving.
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..40 {
            let middle = f64::midpoint(low, high);
            if bezier(middle, p1, p2) > time { high = middle } else { low = middle }
        }
        if at == SAMPLES { 1.0 } else { bezier(low, START_TENSION, END_TENSION) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_and_times_are_those_of_the_original() {
        // Worked out by hand from OverScroller's formulas at 420 dpi.
        for (speed, way, ms) in
            [(1_000.0, 95.0, 273), (3_333.0, 773.0, 662), (10_000.0, 5_200.0, 1_486)]
        {
            let (went, lasted) = reach(speed, 420.0);
            assert!((went - way).abs() < way * 0.02, "{speed}: {went}");
            assert!(lasted.as_millis().abs_diff(ms) < 10, "{speed}: {lasted:?}");
        }
    }

    #[test]
    fn it_starts_fast_and_ends_slowly() {
        assert_eq!((position(0.0), position(1.0), position(7.0)), (0.0, 1.0, 1.0));
        assert!(position(0.2) > 0.35 && position(0.5) > 0.75 && position(0.9) < 1.0);
        assert!(
            (0..100)
                .all(|at| position(f64::from(at) / 100.0) < position(f64::from(at + 1) / 100.0))
        );
    }

    #[test]
    fn a_finger_that_rested_has_no_speed() {
        let at = |ms| Duration::from_millis(ms);
        let mut track = Track::default();
        for step in 0..10 {
            track.note(at(step * 10), Point { x: 0, y: 1000 - step as i32 * 20 });
        }
        assert_eq!(track.speed(at(95), Axis::Down), -2000.0);
        assert_eq!(track.speed(at(95), Axis::Across), 0.0);
        assert_eq!(track.speed(at(131), Axis::Down), 0.0);
    }
}
