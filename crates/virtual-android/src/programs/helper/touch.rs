//! The helper's operation `touch`: several fingers, each with its own path.
//!
//! A finger is at a point at a time, in milliseconds from the gesture's start, and moves straight
//! in between. Times pass on the phone as they would on a real one.

use super::error::HelperError;
use crate::phone::VirtualPhone;
use serde_json::{Map, Value, json};
use std::time::Duration;
use thumbwire_virtual_phone::{Point, TouchPhase};

/// Maximum fingers, and points of each.
const MAX_FINGERS: usize = 10;
const MAX_POINTS: usize = 1_000;
/// Maximum time of a point, in milliseconds.
const MAX_LENGTH: u64 = 60_000;
/// Maximum distance of a coordinate from the origin.
const FURTHEST: f64 = 100_000.0;
/// Time between two events of a moving finger, in milliseconds.
const STEP: u64 = 10;

/// `touch`
pub(super) async fn touch(
    phone: &VirtualPhone,
    header: &Map<String, Value>,
) -> Result<Value, HelperError> {
    play(phone, &read(header).ok_or_else(wrong)?).await;
    Ok(json!({}))
}

/// One finger that rests at a point.
pub(super) async fn press(phone: &VirtualPhone, at: Point, hold: Duration) {
    let at = (f64::from(at.x), f64::from(at.y));
    play(phone, &[FingerPath(vec![(0, at.0, at.1), (hold.as_millis() as u64, at.0, at.1)])]).await;
}

/// One finger that rests at a point, then moves to another.
pub(super) async fn swipe(
    phone: &VirtualPhone,
    from: Point,
    to: Point,
    hold: Duration,
    lasting: Duration,
) {
    let (rests, ends) = (hold.as_millis() as u64, (hold + lasting).as_millis() as u64);
    let place = |time: u64, at: Point| (time, f64::from(at.x), f64::from(at.y));
    play(phone, &[FingerPath(vec![place(0, from), place(rests, from), place(ends, to)])]).await;
}

fn wrong() -> HelperError {
    let what =
        format!("a list of lists of points [ms, x, y] in the order of time, up to {MAX_LENGTH} ms");
    HelperError::wrong("fingers", &what)
}

/// A finger's points, of which there is at least one.
#[derive(Debug, PartialEq)]
pub(in crate::programs) struct FingerPath(pub(in crate::programs) Vec<(u64, f64, f64)>);

impl FingerPath {
    fn read(value: &Value) -> Option<Self> {
        let list = value.as_array().filter(|list| !list.is_empty() && list.len() <= MAX_POINTS)?;
        let mut points: Vec<(u64, f64, f64)> = Vec::new();
        for point in list {
            let [time, x, y] = point.as_array()?.as_slice() else { return None };
            let time = time.as_u64().filter(|time| *time <= MAX_LENGTH)?;
            let pixels = |value: &Value| value.as_f64().filter(|value| value.abs() <= FURTHEST);
            if points.last().is_some_and(|(before, ..)| *before > time) {
                return None;
            }
            points.push((time, pixels(x)?, pixels(y)?));
        }
        Some(Self(points))
    }

    fn start(&self) -> u64 {
        self.0.first().map_or(0, |(time, ..)| *time)
    }

    fn end(&self) -> u64 {
        self.0.last().map_or(0, |(time, ..)| *time)
    }

    fn place(&self, time: u64) -> Point {
        let point = |x: f64, y: f64| Point { x: x as i32, y: y as i32 };
        let next = self.0.iter().position(|(at, ..)| *at > time);
        match (next, self.0.as_slice()) {
            (Some(0), [(_, x, y), ..]) | (None, [.., (_, x, y)]) => point(*x, *y),
            (Some(next), points) => {
                let ((from, x, y), (to, next_x, next_y)) = (points[next - 1], points[next]);
                let part = (time - from) as f64 / (to - from) as f64;
                point(x + (next_x - x) * part, y + (next_y - y) * part)
            }
            (None, []) => Point { x: 0, y: 0 },
        }
    }
}

fn read(header: &Map<String, Value>) -> Option<Vec<FingerPath>> {
    let list = header.get("fingers")?.as_array();
    let list = list.filter(|list| !list.is_empty() && list.len() <= MAX_FINGERS)?;
    list.iter().map(FingerPath::read).collect()
}

/// Fingers of a gesture in progress. If the request is cancelled, so is the gesture: no finger may
/// stay on the screen.
struct Fingers<'a> {
    phone: &'a VirtualPhone,
    down: Vec<bool>,
}

impl Fingers<'_> {
    fn send(&mut self, finger: usize, phase: TouchPhase, at: Point) {
        self.down[finger] = phase != TouchPhase::Up;
        self.phone.with(|phone| phone.world.finger(finger as u32, phase, at));
    }
}

impl Drop for Fingers<'_> {
    fn drop(&mut self) {
        if self.down.contains(&true) {
            let nowhere = Point { x: 0, y: 0 };
            self.phone.with(|phone| phone.world.finger(0, TouchPhase::Cancel, nowhere));
        }
    }
}

/// Plays all paths at the same time; the nth one is finger n.
pub(in crate::programs) async fn play(phone: &VirtualPhone, paths: &[FingerPath]) {
    let mut fingers = Fingers { phone, down: vec![false; paths.len()] };
    let mut done = vec![false; paths.len()];
    let mut now = 0;
    loop {
        for (finger, path) in paths.iter().enumerate() {
            if done[finger] || now < path.start() {
                continue;
            }
            let phase = if fingers.down[finger] { TouchPhase::Move } else { TouchPhase::Down };
            fingers.send(finger, phase, path.place(now));
        }
        for (finger, path) in paths.iter().enumerate() {
            if !done[finger] && now >= path.end() {
                fingers.send(finger, TouchPhase::Up, path.place(now));
                done[finger] = true;
            }
        }
        let next = paths.iter().zip(&done).filter(|(_, done)| !**done).map(|(path, _)| {
            if now < path.start() { path.start() } else { path.end().min(now + STEP) }
        });
        let Some(next) = next.min() else { return };
        phone.sleep(Duration::from_millis(next - now)).await;
        now = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finger_moves_straight_between_its_points() {
        let path = FingerPath::read(&json!([[10, 0, 100], [30, 40, 100.5], [50, 40, 0]]));
        let path = path.expect("a path");
        let at = |time| (path.place(time).x, path.place(time).y);
        assert_eq!([0, 10, 20, 30, 40, 50, 99].map(at).map(|(x, _)| x), [0, 0, 20, 40, 40, 40, 40]);
        assert_eq!([10, 40, 50].map(at).map(|(_, y)| y), [100, 50, 0]);
    }

    #[test]
    fn malformed_paths_are_refused() {
        for path in [
            json!([]),
            json!([[0, 1]]),
            json!([[0, 1, "2"]]),
            json!([[-1, 1, 2]]),
            json!([[0.5, 1, 2]]),
            json!([[20, 1, 2], [10, 1, 2]]),
            json!([[60_001, 1, 2]]),
            json!([[0, 1e6, 2]]),
            json!("x"),
        ] {
            assert_eq!(FingerPath::read(&path), None, "{path}");
        }
        let header = |fingers: Value| Map::from_iter([("fingers".to_owned(), fingers)]);
        assert!(read(&Map::new()).is_none());
        assert!(read(&header(json!(vec![[[0, 1, 2]]; 11]))).is_none());
        assert!(read(&header(json!(vec![[[0, 1, 2]]; 10]))).is_some());
    }
}
