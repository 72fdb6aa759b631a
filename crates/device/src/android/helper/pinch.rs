//! The helper's op `touch`, for what `input` cannot do: two fingers.

use std::time::Duration;

use serde_json::{Value, json};

use super::Operation;
use super::frame::Header;
use crate::android::Android;
use crate::{Error, Gesture, Point};

/// How long the helper may take, besides the gesture itself.
const LIMIT: Duration = Duration::from_secs(5);

/// The longest path of a finger, by the wire.
const LONGEST: Duration = Duration::from_secs(60);

impl Android {
    /// Moves two fingers apart or together; see [`Gesture::Pinch`].
    pub(in crate::android) async fn pinch(
        &self,
        middle: Point,
        from: i32,
        to: i32,
        lasting: Duration,
    ) -> Result<(), Error> {
        let lasting = lasting.min(LONGEST);
        let operation = Operation {
            op: "touch",
            needs: "a pinch",
            what: "touch the screen",
            limit: lasting + LIMIT,
        };
        let fields =
            Header::from_iter([("fingers".to_owned(), fingers(middle, from, to, lasting))]);
        self.ask_helper(operation, fields).await.map(drop)
    }
}

/// The path of each finger: points of time in milliseconds, x and y.
fn fingers(middle: Point, from: i32, to: i32, lasting: Duration) -> Value {
    let end = u64::try_from(lasting.as_millis()).unwrap_or(u64::MAX);
    let [starts, ends] = [from, to].map(|distance| Gesture::fingers(middle, distance));
    let path = |(start, at): (Point, Point)| json!([[0, start.x, start.y], [end, at.x, at.y]]);
    starts.into_iter().zip(ends).map(path).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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
