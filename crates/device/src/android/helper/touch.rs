//! The helper's ops `tap`, `swipe`, `touch` and `key`: a finger or two on the screen, and keys. An
//! `input` program takes up to a second to start, and has one finger.

use std::time::Duration;

use serde::de::IgnoredAny;
use serde_json::{Value, json};

use super::frame::Header;
use super::{Operation, fields, millis};
use crate::android::Android;
use crate::{Error, Gesture, Point};

/// How long the helper may take, besides the gesture itself. Android waits five seconds for an app
/// that hangs.
const LIMIT: Duration = Duration::from_secs(8);

/// The longest path of a finger, by the wire.
const MAX_DURATION: Duration = Duration::from_secs(60);

/// How long a finger rests before it drags: longer than Android's long press, 400 or 500 ms
/// (`ViewConfiguration`).
const REST: Duration = Duration::from_millis(600);

/// Android takes taps 40 to 300 ms apart as a double tap (`ViewConfiguration`).
const BETWEEN_TAPS: Duration = Duration::from_millis(80);

/// Up to so many presses of a key are in one request, by the wire.
const MAX_PRESSES: usize = 1000;

const WHAT: &str = "touch the screen";

impl Android {
    /// Performs the gesture. `false` if a shell command has to; see [`Gesture::Pinch`] for the one
    /// that none can do.
    pub(in crate::android) async fn touch_by_helper(
        &self,
        gesture: Gesture,
    ) -> Result<bool, Error> {
        let Touch { op, fields, duration } = touch(gesture);
        let limit = duration + LIMIT;
        let needs = "a pinch";
        let operation = Operation { op, needs, what: WHAT, limit, acts: true, left_to_shell: &[] };
        match gesture {
            Gesture::Pinch { .. } => {
                let IgnoredAny = self.ask_helper(operation, fields).await?;
                Ok(true)
            }
            _ => Ok(self.try_helper::<IgnoredAny>(operation, fields).await?.is_some()),
        }
    }

    /// Presses and releases the key with this code so many times. `false` if a shell command has
    /// to.
    pub(in crate::android) async fn press_by_helper(
        &self,
        code: i64,
        times: usize,
    ) -> Result<bool, Error> {
        /// A key takes up to 100 ms until its app has handled it (measured on Android 4.4.4).
        const EACH: Duration = Duration::from_millis(200);
        let (mut left, mut is_first) = (times, true);
        while left > 0 {
            let count = left.min(MAX_PRESSES);
            let limit = LIMIT + EACH * u32::try_from(count).unwrap_or(u32::MAX);
            let what = "press the key";
            let operation =
                Operation { op: "key", needs: "keys", what, limit, acts: true, left_to_shell: &[] };
            let fields = fields(json!({ "code": code, "times": count }));
            if self.try_helper::<IgnoredAny>(operation, fields).await?.is_none() {
                if is_first {
                    return Ok(false);
                }
                return Err(Error::Failed { what, text: "our helper ended".into() });
            }
            left -= count;
            is_first = false;
        }
        Ok(true)
    }
}

/// A gesture on the wire.
struct Touch {
    op: &'static str,
    fields: Header,
    duration: Duration,
}

fn touch(gesture: Gesture) -> Touch {
    let of = |op, duration, value| Touch { op, fields: fields(value), duration };
    let swipe = |from: Point, to: Point, rests: Duration, duration: Duration| {
        let value = json!({
            "x1": from.x, "y1": from.y, "x2": to.x, "y2": to.y,
            "duration_ms": millis(duration), "hold_ms": millis(rests),
        });
        of("swipe", rests + duration, value)
    };
    match gesture {
        Gesture::Tap { at } => of("tap", Duration::ZERO, json!({ "x": at.x, "y": at.y })),
        Gesture::DoubleTap { at } => {
            let gap = millis(BETWEEN_TAPS);
            let value = json!({ "x": at.x, "y": at.y, "times": 2, "gap_ms": gap });
            of("tap", BETWEEN_TAPS, value)
        }
        Gesture::LongPress { at, held } => {
            let held = held.min(MAX_DURATION);
            of("tap", held, json!({ "x": at.x, "y": at.y, "hold_ms": millis(held) }))
        }
        Gesture::Swipe { from, to, duration } => {
            swipe(from, to, Duration::ZERO, duration.min(MAX_DURATION))
        }
        Gesture::Drag { from, to, duration } => {
            swipe(from, to, REST, duration.min(MAX_DURATION - REST))
        }
        Gesture::Pinch { middle, from, to, duration } => {
            let duration = duration.min(MAX_DURATION);
            of("touch", duration, json!({ "fingers": fingers(middle, from, to, duration) }))
        }
    }
}

/// The path of each finger: points of time in milliseconds, x and y.
fn fingers(middle: Point, from: i32, to: i32, duration: Duration) -> Value {
    let end = millis(duration);
    let [starts, ends] = [from, to].map(|distance| Gesture::fingers(middle, distance));
    let path = |(start, at): (Point, Point)| json!([[0, start.x, start.y], [end, at.x, at.y]]);
    starts.into_iter().zip(ends).map(path).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gestures_are_requests() {
        let (from, to) = (Point { x: 5, y: 10 }, Point { x: 50, y: 100 });
        let duration = Duration::from_millis(300);
        let check = |gesture, op: &str, expected: Value| {
            let touch = touch(gesture);
            assert_eq!((touch.op, Value::from(touch.fields)), (op, expected), "{gesture:?}");
        };
        check(Gesture::Tap { at: from }, "tap", json!({ "x": 5, "y": 10 }));
        check(
            Gesture::DoubleTap { at: from },
            "tap",
            json!({ "x": 5, "y": 10, "times": 2, "gap_ms": 80 }),
        );
        check(
            Gesture::LongPress { at: from, held: Duration::from_hours(1) },
            "tap",
            json!({ "x": 5, "y": 10, "hold_ms": 60_000 }),
        );
        let path = |hold: u64| json!({ "x1": 5, "y1": 10, "x2": 50, "y2": 100, "duration_ms": 300, "hold_ms": hold });
        check(Gesture::Swipe { from, to, duration }, "swipe", path(0));
        check(Gesture::Drag { from, to, duration }, "swipe", path(600));
    }

    #[test]
    fn fingers_move_on_a_diagonal_around_the_middle() {
        let middle = Point { x: 500, y: 1000 };
        let paths = fingers(middle, 283, 566, Duration::from_millis(300));
        assert_eq!(
            paths,
            json!([[[0, 400, 1100], [300, 300, 1200]], [[0, 600, 900], [300, 700, 800]]])
        );
    }
}
