//! Fingers, keys, and the screen turned.

use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use thumbwire_device::{Gesture, Key, Orientation, Point};

use super::words::shortened;
use super::{Reply, done, given, odd};
use crate::action::{Action, Direction, Outcome, Target};

#[derive(Deserialize)]
pub(super) struct Tap {
    x: f64,
    y: f64,
}

pub(super) fn tap(tap: &Tap) -> Result<Action, String> {
    let at = Point { x: pixel("x", tap.x)?, y: pixel("y", tap.y)? };
    Ok(Action::Touch(Gesture::Tap { at }))
}

pub(super) fn tapped(tap: &Tap, _: Outcome) -> Reply {
    let (x, y) = (tap.x as i32, tap.y as i32);
    done(format!("Tapped at ({x}, {y})"), json!({ "x": x, "y": y }))
}

/// The schema says `number`: a fraction names the pixel that it lies in.
fn pixel(name: &str, value: f64) -> Result<i32, String> {
    const LARGEST: f64 = 100_000.0;
    match value {
        value if (0.0..LARGEST).contains(&value) => Ok(value as i32),
        value => {
            let is = value.to_string();
            let is = shortened(&is, 20);
            Err(format!("`{name}` is {is}; it must be a pixel of the screenshot, from 0"))
        }
    }
}

#[derive(Deserialize)]
pub(super) struct TapElement {
    element_id: Option<String>,
    text: Option<String>,
}

pub(super) fn tap_element(tap: &TapElement) -> Result<Action, String> {
    match (given(tap.element_id.as_ref()), given(tap.text.as_ref())) {
        (None, None) => Err("one of `element_id` and `text` is needed".into()),
        (id, text) => Ok(Action::TapElement(Target::Named { id, text })),
    }
}

pub(super) fn tapped_element(_: &TapElement, outcome: Outcome) -> Reply {
    let Outcome::Tapped(hit) = outcome else { return odd(&outcome) };
    let (element, Point { x, y }) = (shortened(hit.name(), 100), hit.at);
    let words = format!("Tapped {element:?} at ({x}, {y})");
    done(words, json!({ "element": element, "x": x, "y": y }))
}

#[derive(Deserialize)]
pub(super) struct Swipe {
    start_x: f64,
    start_y: f64,
    end_x: f64,
    end_y: f64,
    duration: Option<f64>,
}

pub(super) fn swipe(swipe: &Swipe) -> Result<Action, String> {
    let from = Point { x: pixel("start_x", swipe.start_x)?, y: pixel("start_y", swipe.start_y)? };
    let to = Point { x: pixel("end_x", swipe.end_x)?, y: pixel("end_y", swipe.end_y)? };
    let lasting = seconds("duration", swipe.duration.unwrap_or(0.5))?;
    Ok(Action::Touch(Gesture::Swipe { from, to, lasting }))
}

pub(super) fn swiped(swipe: &Swipe, _: Outcome) -> Reply {
    let [from_x, from_y, to_x, to_y] =
        [swipe.start_x, swipe.start_y, swipe.end_x, swipe.end_y].map(|value| value as i32);
    done(format!("Swiped from ({from_x}, {from_y}) to ({to_x}, {to_y})"), json!({}))
}

/// How long a finger stays down.
fn seconds(name: &str, value: f64) -> Result<Duration, String> {
    const LONGEST: f64 = 30.0;
    match value {
        value if value > 0.0 && value <= LONGEST => Ok(Duration::from_secs_f64(value)),
        value => {
            Err(format!("`{name}` is {value}; it must be above 0 and at most {LONGEST} seconds"))
        }
    }
}

#[derive(Deserialize)]
pub(super) struct Scroll {
    direction: String,
    distance: Option<f64>,
}

impl Scroll {
    fn distance(&self) -> f64 {
        self.distance.unwrap_or(0.5)
    }
}

pub(super) fn scroll(scroll: &Scroll) -> Result<Action, String> {
    let distance = scroll.distance();
    if !(0.1..=1.0).contains(&distance) {
        let words = format!("`distance` is {distance}; it must be 0.1 to 1.0 of the screen");
        return Err(words);
    }
    let direction = Direction::from_name(&scroll.direction)
        .ok_or_else(|| format!("no direction is called {:?}", scroll.direction))?;
    Ok(Action::Scroll { direction, distance })
}

pub(super) fn scrolled(scroll: &Scroll, _: Outcome) -> Reply {
    done(format!("Scrolled {} by {} of the screen", scroll.direction, scroll.distance()), json!({}))
}

#[derive(Deserialize)]
pub(super) struct LongPress {
    x: f64,
    y: f64,
    duration: Option<f64>,
}

impl LongPress {
    fn duration(&self) -> f64 {
        self.duration.unwrap_or(1.0)
    }
}

pub(super) fn long_press(press: &LongPress) -> Result<Action, String> {
    let at = Point { x: pixel("x", press.x)?, y: pixel("y", press.y)? };
    let held = seconds("duration", press.duration())?;
    Ok(Action::Touch(Gesture::LongPress { at, held }))
}

pub(super) fn pressed_long(press: &LongPress, _: Outcome) -> Reply {
    let (x, y) = (press.x as i32, press.y as i32);
    let words = format!("Pressed ({x}, {y}) for {} s", press.duration());
    done(words, json!({ "x": x, "y": y }))
}

#[derive(Deserialize)]
pub(super) struct PressKey {
    key: String,
}

pub(super) fn press_key(press: &PressKey) -> Result<Action, String> {
    let key = &press.key;
    Key::from_name(key).map(Action::Press).ok_or_else(|| format!("no key is called {key:?}"))
}

pub(super) fn pressed_key(press: &PressKey, _: Outcome) -> Reply {
    done(format!("Pressed {}", press.key), json!({}))
}

#[derive(Deserialize)]
pub(super) struct Turn {
    orientation: String,
}

pub(super) fn turn(turn: &Turn) -> Result<Action, String> {
    Orientation::from_name(&turn.orientation)
        .map(Action::SetOrientation)
        .ok_or_else(|| format!("no orientation is called {:?}", turn.orientation))
}

pub(super) fn turned(turn: &Turn, _: Outcome) -> Reply {
    done(format!("Turned the screen to {}", turn.orientation), json!({}))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pixel_is_what_a_fraction_lies_in_and_no_message_grows_with_a_number() {
        assert_eq!(pixel("x", 540.9), Ok(540));
        assert!(pixel("x", -0.1).is_err());
        assert!(pixel("x", 1e308).unwrap_err().len() < 100);
    }
}
