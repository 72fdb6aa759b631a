//! Fingers: what UiAutomator injects for a click, a swipe or a pinch. Times pass on the phone.

use super::super::helper::touch::{FingerPath, play};
use crate::latency;
use crate::phone::VirtualPhone;
use std::time::Duration;
use thumbwire_virtual_phone::{Point, Rect};

/// The time of one step of UiAutomator's swipes
/// (`InteractionController.MOTION_EVENT_INJECTION_DELAY_MILLIS`).
pub(super) const STEP: Duration = Duration::from_millis(5);
/// The pause between the clicks of a double click.
const DOUBLE: Duration = Duration::from_millis(80);
/// How long a finger rests for a long click, and before a drag: Android's
/// `ViewConfiguration.getLongPressTimeout`, and more.
pub(super) const LONG_CLICK: Duration = Duration::from_millis(600);
/// Maximum duration of a gesture.
const MAX_TIME: Duration = Duration::from_secs(60);

/// A direction of a gesture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Left,
    Right,
    Up,
    Down,
}

impl Direction {
    pub(super) fn from_name(name: &str) -> Option<Self> {
        Some(match name.to_ascii_lowercase().as_str() {
            "left" => Self::Left,
            "right" => Self::Right,
            "up" => Self::Up,
            "down" => Self::Down,
            _ => return None,
        })
    }

    pub(super) fn reverse(self) -> Self {
        match self {
            Self::Left => Self::Right,
            Self::Right => Self::Left,
            Self::Up => Self::Down,
            Self::Down => Self::Up,
        }
    }

    /// Where a swipe in this direction begins and ends, over a part of an area.
    pub(super) fn across(self, area: &Rect, part: f64) -> (Point, Point) {
        let middle = area.center();
        let along = |length: i32| (f64::from(length - 1) * part) as i32;
        let (wide, high) = (along(area.width()), along(area.height()));
        let (right, bottom) = (area.right - 1, area.bottom - 1);
        let point = |x, y| Point { x, y };
        match self {
            Self::Left => (point(right, middle.y), point(right - wide, middle.y)),
            Self::Right => (point(area.left, middle.y), point(area.left + wide, middle.y)),
            Self::Up => (point(middle.x, bottom), point(middle.x, bottom - high)),
            Self::Down => (point(middle.x, area.top), point(middle.x, area.top + high)),
        }
    }
}

/// Plays the paths of several fingers at once.
pub(super) async fn fingers(phone: &VirtualPhone, paths: &[FingerPath]) {
    phone.run_work(latency::HELPER_TOUCH).await;
    play(phone, paths).await;
}

fn at(time: Duration, point: Point) -> (u64, f64, f64) {
    (time.min(MAX_TIME).as_millis() as u64, f64::from(point.x), f64::from(point.y))
}

/// A click, held for some time.
pub(super) async fn press(phone: &VirtualPhone, point: Point, hold: Duration) {
    fingers(phone, &[FingerPath(vec![at(Duration::ZERO, point), at(hold, point)])]).await;
}

/// Two clicks.
pub(super) async fn double_click(phone: &VirtualPhone, point: Point) {
    press(phone, point, Duration::ZERO).await;
    phone.sleep(DOUBLE).await;
    press(phone, point, Duration::ZERO).await;
}

/// A finger that rests, then moves, then lifts.
pub(super) async fn swipe(
    phone: &VirtualPhone,
    (from, to): (Point, Point),
    rest: Duration,
    time: Duration,
) {
    let path = vec![at(Duration::ZERO, from), at(rest, from), at(rest + time, to)];
    fingers(phone, &[FingerPath(path)]).await;
}

/// A finger that moves from point to point, each in the same time.
pub(super) async fn swipe_points(phone: &VirtualPhone, points: &[Point], each: Duration) {
    let nth = |nth: usize| each.saturating_mul(u32::try_from(nth).unwrap_or(u32::MAX));
    let path = points.iter().enumerate().map(|(at_point, point)| at(nth(at_point), *point));
    fingers(phone, &[FingerPath(path.collect())]).await;
}

/// Two fingers, each on a straight way.
pub(super) async fn two_fingers(phone: &VirtualPhone, ways: [(Point, Point); 2], time: Duration) {
    let paths = ways.map(|(from, to)| FingerPath(vec![at(Duration::ZERO, from), at(time, to)]));
    fingers(phone, &paths).await;
}

/// Two fingers that move apart, or together, over a part of an area's diagonal.
pub(super) async fn pinch(
    phone: &VirtualPhone,
    area: &Rect,
    part: f64,
    opens: bool,
    time: Duration,
) {
    let middle = area.center();
    let (wide, high) =
        (f64::from(area.width()) / 2.0 * part, f64::from(area.height()) / 2.0 * part);
    let corner = |sign: f64| Point {
        x: (f64::from(middle.x) + sign * wide)
            .clamp(f64::from(area.left), f64::from(area.right - 1)) as i32,
        y: (f64::from(middle.y) - sign * high)
            .clamp(f64::from(area.top), f64::from(area.bottom - 1)) as i32,
    };
    let near = |sign: i32| Point { x: middle.x + sign * 10, y: middle.y - sign * 10 };
    let ways = [(near(-1), corner(-1.0)), (near(1), corner(1.0))];
    let ways = if opens { ways } else { ways.map(|(inner, outer)| (outer, inner)) };
    two_fingers(phone, ways, time).await;
}

/// How long a way takes at a speed, in pixels per second.
pub(super) fn time_for((from, to): (Point, Point), speed: f64) -> Duration {
    let (x, y) = (f64::from(to.x - from.x), f64::from(to.y - from.y));
    let seconds = x.hypot(y) / speed.max(1.0);
    Duration::from_secs_f64(seconds.min(MAX_TIME.as_secs_f64()))
}
