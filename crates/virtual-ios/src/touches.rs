//! Fingers on the screen: what gestures consist of, and how they are played.

use std::time::Duration;

use thumbwire_virtual_phone::{Point, Rect, TouchPhase};

use crate::latency;
use crate::phone::VirtualIphone;

/// How often a moving finger is reported.
const FRAME: Duration = Duration::from_millis(16);

/// How long a finger of a tap stays.
const TAP: Duration = Duration::from_millis(50);

/// Limit on the touches of one command.
const MAX_TOUCHES: usize = 20_000;

/// A finger's touch, some time after the one before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Touch {
    pub(crate) after: Duration,
    pub(crate) finger: u32,
    pub(crate) phase: TouchPhase,
    pub(crate) at: Point,
}

/// The touches of one finger or several, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Touches(pub(crate) Vec<Touch>);

impl Touches {
    fn push(&mut self, after: Duration, finger: u32, phase: TouchPhase, at: Point) {
        self.0.push(Touch { after, finger, phase, at });
    }

    /// A touch that is held.
    pub(crate) fn hold(at: Point, time: Duration) -> Self {
        let mut touches = Self::default();
        touches.push(Duration::ZERO, 0, TouchPhase::Down, at);
        touches.push(time, 0, TouchPhase::Up, at);
        touches
    }

    /// Some taps at one place.
    pub(crate) fn taps(at: Point, times: u32) -> Self {
        let mut touches = Self::default();
        for nth in 0..times {
            let gap = if nth == 0 { Duration::ZERO } else { Duration::from_millis(80) };
            touches.push(gap, 0, TouchPhase::Down, at);
            touches.push(TAP, 0, TouchPhase::Up, at);
        }
        touches
    }

    /// Holds one point, moves to another, and holds that one.
    pub(crate) fn drag(
        from: Point,
        to: Point,
        press: Duration,
        travel: Duration,
        hold: Duration,
    ) -> Self {
        let mut touches = Self::default();
        touches.push(Duration::ZERO, 0, TouchPhase::Down, from);
        let steps = steps(travel);
        for step in 1..=steps {
            let after = if step == 1 { press + FRAME } else { FRAME };
            touches.push(after, 0, TouchPhase::Move, between(from, to, step, steps));
        }
        touches.push(hold, 0, TouchPhase::Up, to);
        touches
    }

    /// A tap with two fingers beside a rectangle's middle.
    pub(crate) fn two_finger_tap(inside: Rect) -> Self {
        let center = inside.center();
        let aside = inside.width().min(inside.height()) / 6;
        let fingers = [(0, -aside), (1, aside)];
        let mut touches = Self::default();
        for (after, phase) in [(Duration::ZERO, TouchPhase::Down), (TAP, TouchPhase::Up)] {
            for (finger, aside) in fingers {
                let after = if finger == 0 { after } else { Duration::ZERO };
                touches.push(after, finger, phase, Point { x: center.x + aside, y: center.y });
            }
        }
        touches
    }

    /// Two fingers that turn around a rectangle's middle, by an angle in radians.
    pub(crate) fn rotation(inside: Rect, angle: f64, travel: Duration) -> Self {
        let center = inside.center();
        let radius = f64::from(inside.width().min(inside.height())) * 0.3;
        let at = |turned: f64| {
            let (x, y) = (round(turned.cos() * radius), round(turned.sin() * radius));
            [Point { x: center.x + x, y: center.y + y }, Point { x: center.x - x, y: center.y - y }]
        };
        let mut touches = Self::default();
        let mut push = |after: Duration, phase: TouchPhase, [first, second]: [Point; 2]| {
            touches.push(after, 0, phase, first);
            touches.push(Duration::ZERO, 1, phase, second);
        };
        push(Duration::ZERO, TouchPhase::Down, at(0.0));
        let steps = steps(travel);
        for step in 1..=steps {
            push(FRAME, TouchPhase::Move, at(angle * f64::from(step) / f64::from(steps)));
        }
        push(FRAME, TouchPhase::Up, at(angle));
        touches
    }

    /// Two fingers that move apart or together by a factor around a rectangle's middle.
    pub(crate) fn pinch(inside: Rect, scale: f64, travel: Duration) -> Self {
        let center = inside.center();
        let widest = f64::from(inside.width().min(inside.height())) * 0.45;
        // The larger of the two distances fits.
        let (from, to) =
            if scale >= 1.0 { (widest / scale, widest) } else { (widest, widest * scale) };
        let at =
            |distance: f64, side: f64| Point { x: center.x + round(distance * side), y: center.y };
        let mut touches = Self::default();
        for (finger, side) in [(0, -1.0), (1, 1.0)] {
            touches.push(Duration::ZERO, finger, TouchPhase::Down, at(from, side));
        }
        let steps = steps(travel);
        for step in 1..=steps {
            let distance = from + (to - from) * f64::from(step) / f64::from(steps);
            touches.push(FRAME, 0, TouchPhase::Move, at(distance, -1.0));
            touches.push(Duration::ZERO, 1, TouchPhase::Move, at(distance, 1.0));
        }
        touches.push(FRAME, 0, TouchPhase::Up, at(to, -1.0));
        touches.push(Duration::ZERO, 1, TouchPhase::Up, at(to, 1.0));
        touches
    }
}

/// How many reports a movement of that duration has.
pub(crate) fn steps(travel: Duration) -> u32 {
    u32::try_from(travel.as_millis() / FRAME.as_millis()).unwrap_or(u32::MAX).clamp(1, 1_000)
}

/// The point after `step` of `steps`.
pub(crate) fn between(from: Point, to: Point, step: u32, steps: u32) -> Point {
    let part = f64::from(step) / f64::from(steps);
    let along = |from: i32, to: i32| from + round(f64::from(to.saturating_sub(from)) * part);
    Point { x: along(from.x, to.x), y: along(from.y, to.y) }
}

/// The nearest whole number; what is out of range is clamped.
#[expect(clippy::cast_possible_truncation, reason = "it saturates")]
pub(crate) fn round(number: f64) -> i32 {
    number.round() as i32
}

/// How long a finger travels at a speed in pixels per second.
pub(crate) fn travel_time(from: Point, to: Point, speed: f64) -> Duration {
    let (x, y) = (f64::from(to.x) - f64::from(from.x), f64::from(to.y) - f64::from(from.y));
    let seconds = x.hypot(y) / speed.max(1.0);
    Duration::from_secs_f64(if seconds.is_finite() { seconds.clamp(0.05, 30.0) } else { 0.5 })
}

impl VirtualIphone {
    /// Touches the screen, and waits until the app is idle again.
    pub(crate) async fn play(&self, touches: Touches) {
        for Touch { after, finger, phase, at } in touches.0.into_iter().take(MAX_TOUCHES) {
            self.wait(after).await;
            self.with(|phone| phone.world.finger(finger, phase, at));
        }
        self.run_work(latency::TOUCH).await;
        self.wait_until_idle().await;
    }
}
