//! Gestures, as actions of W3C WebDriver (section 15): one or two fingers that move in the server's
//! own unit, points on iOS (FBW3CActionsSynthesizer.m) and pixels on Android.

use std::time::Duration;

use thumbwire_webdriver::{InputItems, InputSource, Origin, PointerItem, PointerType};

use crate::{Gesture, Point};

/// How long a finger stays down for a tap: shorter ones are missed by some apps.
const TAP_MS: u64 = 50;

/// Between the taps of a double tap: `UITapGestureRecognizer` waits 350 ms for the second one.
const BETWEEN_TAPS_MS: u64 = 100;

/// How long a finger stays down before a drag: `UIDragInteraction` begins after 0.5 s.
const HOLD_MS: u64 = 700;

/// The fingers of a gesture, and how long it takes. `scale` is how many pixels the server's unit
/// has.
pub(crate) fn touch_sources(gesture: Gesture, scale: f64) -> (Vec<InputSource>, Duration) {
    let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let to = |at: Point, duration: Duration| PointerItem::Move {
        x: f64::from(at.x) / scale,
        y: f64::from(at.y) / scale,
        origin: Origin::Viewport,
        duration_ms: Some(milliseconds(duration)),
    };
    let down = || PointerItem::Down { button: 0, pressure: None };
    let up = || PointerItem::Up { button: 0 };
    let wait = |ms| PointerItem::Pause(Some(ms));
    let still = Duration::ZERO;
    let one = |items| vec![finger(1, items)];
    match gesture {
        Gesture::Tap { at } => (one(vec![to(at, still), down(), wait(TAP_MS), up()]), still),
        Gesture::DoubleTap { at } => {
            let tap = [down(), wait(TAP_MS), up()];
            let mut items = vec![to(at, still)];
            items.extend(tap.clone());
            items.push(wait(BETWEEN_TAPS_MS));
            items.extend(tap);
            (one(items), still)
        }
        Gesture::LongPress { at, held } => {
            (one(vec![to(at, still), down(), wait(milliseconds(held)), up()]), held)
        }
        Gesture::Swipe { from, to: end, duration } => {
            (one(vec![to(from, still), down(), to(end, duration), up()]), duration)
        }
        Gesture::Drag { from, to: end, duration } => {
            let items = vec![to(from, still), down(), wait(HOLD_MS), to(end, duration), up()];
            (one(items), duration + Duration::from_millis(HOLD_MS))
        }
        Gesture::Pinch { middle, from, to: end, duration } => {
            let [begin, end] = [from, end].map(|distance| Gesture::fingers(middle, distance));
            let path = |at: usize| vec![to(begin[at], still), down(), to(end[at], duration), up()];
            (vec![finger(1, path(0)), finger(2, path(1))], duration)
        }
    }
}

fn finger(number: usize, items: Vec<PointerItem>) -> InputSource {
    let items = InputItems::Pointer(PointerType::Touch, items);
    InputSource { id: format!("finger{number}"), items }
}
