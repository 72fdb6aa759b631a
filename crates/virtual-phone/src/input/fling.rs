//! Fling: content keeps scrolling after a fast finger lifts, and slows down.
//!
//! The curve is that of Android's `OverScroller.SplineOverScroller`, the limits are those of
//! `ViewConfiguration`. Velocity is measured like `VelocityTracker`: over the last 100 ms, and zero
//! if the finger rested for 40 ms. A slow finger flings too, but hardly visibly: 1000 px/s scrolls
//! about 95 px at 420 dpi. Not here: the glow or stretch at the ends; content just stops.

use std::collections::VecDeque;
use std::sync::LazyLock;
use std::time::Duration;

use thumbwire_virtual_screen::Axis;
use thumbwire_virtual_screen::Point;

/// `ViewConfiguration.getScrollFriction`.
const FRICTION: f64 = 0.015;
/// Gravity in m/s², inches per metre, and the original's "look and feel tuning" factor.
const GRAVITY: f64 = 9.806_65 * 39.37 * 0.84;
/// Where the two parts of the curve meet.
const INFLEXION: f64 = 0.35;
const START_TENSION: f64 = 0.5;
const END_TENSION: f64 = 1.0;
const SAMPLES: usize = 100;
/// Minimum and maximum velocity, in dp per second.
const SPEEDS: (f64, f64) = (50.0, 8_000.0);
/// Older samples do not count for the velocity.
const HORIZON: Duration = Duration::from_millis(100);
/// A finger that rested this long has no velocity.
const RESTED: Duration = Duration::from_millis(40);
/// Maximum samples kept.
const MAX_COUNT: usize = 128;

/// The recent positions of a finger.
#[derive(Debug, Clone, Default)]
pub(crate) struct VelocityTracker(VecDeque<(Duration, Point)>);

impl VelocityTracker {
    /// Adds a position.
    pub(crate) fn note(&mut self, now: Duration, at: Point) {
        if self.0.back().is_some_and(|(_, last)| *last == at) {
            return;
        }
        if self.0.len() == MAX_COUNT {
            self.0.pop_front();
        }
        self.0.push_back((now, at));
        while self.0.front().is_some_and(|(then, _)| now.saturating_sub(*then) > HORIZON) {
            self.0.pop_front();
        }
    }

    /// The velocity along an axis, in pixels per second; 0 if the finger rested before it lifted,
    /// or took no time.
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

/// A fling in progress.
#[derive(Debug, Clone)]
pub(crate) struct Fling {
    /// Owner and address, the key of scroll offsets.
    key: (String, String),
    /// The offset at the start, and the maximum offset.
    from: i32,
    furthest: i32,
    /// Total distance in pixels; negative towards the start.
    way: f64,
    since: Duration,
    lasts: Duration,
}

impl Fling {
    /// Continues a scroll from the offset `from` if the finger was fast enough, on a screen of that
    /// density.
    pub(crate) fn start(
        key: (String, String),
        (axis, furthest): (Axis, i32),
        track: &VelocityTracker,
        from: i32,
        (now, density): (Duration, i32),
    ) -> Option<Self> {
        let dpi = f64::from(density);
        let speed = track.speed(now, axis);
        let (least, most) = (SPEEDS.0 * dpi / 160.0, SPEEDS.1 * dpi / 160.0);
        if speed.abs() < least {
            return None;
        }
        let (way, lasts) = reach(speed.abs().min(most), dpi);
        // Content follows the finger, so the offset goes the other way.
        let way = if speed > 0.0 { -way } else { way };
        let fling = Self { key, from, furthest, way, since: now, lasts };
        (!fling.at(now).1).then_some(fling)
    }

    /// The scrolling container: owner and address, the key of scroll offsets.
    pub(crate) fn key(&self) -> &(String, String) {
        &self.key
    }

    /// The offset at an uptime, and whether the fling has ended there.
    pub(crate) fn at(&self, now: Duration) -> (i32, bool) {
        let part = now.saturating_sub(self.since).as_secs_f64() / self.lasts.as_secs_f64();
        let offset = f64::from(self.from) + self.way * position(part);
        let offset = (offset.round() as i32).clamp(0, self.furthest);
        let end = if self.way < 0.0 { 0 } else { self.furthest };
        (offset, part >= 1.0 || offset == end)
    }

    /// The address of the scrolling container.
    pub(crate) fn address(&self) -> &str {
        &self.key.1
    }
}

/// The distance of a fling with that speed (pixels per second) on a screen of that density, and its
/// duration.
fn reach(speed: f64, dpi: f64) -> (f64, Duration) {
    let rate = 0.78_f64.ln() / 0.9_f64.ln();
    let drag = FRICTION * GRAVITY * dpi;
    let slows = (INFLEXION * speed / drag).ln();
    let way = drag * (rate / (rate - 1.0) * slows).exp();
    let seconds = (slows / (rate - 1.0)).exp().clamp(0.001, 30.0);
    (way, Duration::from_secs_f64(seconds))
}

/// The fraction of the distance covered after that fraction of the time.
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
        // The curve is monotonic, so bisection finds its inverse.
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
    fn fling_distance_and_duration_match_overscroller() {
        // Calculated by hand from OverScroller's formulas at 420 dpi.
        for (speed, way, ms) in
            [(1_000.0, 95.0, 273), (3_333.0, 773.0, 662), (10_000.0, 5_200.0, 1_486)]
        {
            let (went, lasted) = reach(speed, 420.0);
            assert!((went - way).abs() < way * 0.02, "{speed}: {went}");
            assert!(lasted.as_millis().abs_diff(ms) < 10, "{speed}: {lasted:?}");
        }
    }

    #[test]
    fn fling_starts_fast_and_ends_slowly() {
        assert_eq!((position(0.0), position(1.0), position(7.0)), (0.0, 1.0, 1.0));
        assert!(position(0.2) > 0.35 && position(0.5) > 0.75 && position(0.9) < 1.0);
        assert!(
            (0..100)
                .all(|at| position(f64::from(at) / 100.0) < position(f64::from(at + 1) / 100.0))
        );
    }

    #[test]
    fn rested_finger_has_no_velocity() {
        let at = |ms| Duration::from_millis(ms);
        let mut track = VelocityTracker::default();
        for step in 0..10 {
            track.note(at(step * 10), Point { x: 0, y: 1000 - step as i32 * 20 });
        }
        assert_eq!(track.speed(at(95), Axis::Down), -2000.0);
        assert_eq!(track.speed(at(95), Axis::Across), 0.0);
        assert_eq!(track.speed(at(131), Axis::Down), 0.0);
    }
}
