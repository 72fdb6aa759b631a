//! Tools for touch, keys and orientation.

use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use thumbwire_base::truncate;
use thumbwire_device::{Gesture, Key, Orientation, Point};

use super::{Reply, non_empty, success};
use crate::action::{Direction, ElementRef, PinchResult, TapResult, Target, request};
use crate::toolset::AskedScroll;

#[derive(Deserialize)]
pub(super) struct TapArgs {
    x: f64,
    y: f64,
}

pub(super) fn parse_tap(tap: &TapArgs) -> Result<request::Touch, String> {
    let at = Point { x: pixel("x", tap.x)?, y: pixel("y", tap.y)? };
    Ok(request::Touch(Gesture::Tap { at }))
}

pub(super) fn render_tap(tap: &TapArgs, _: ()) -> Reply {
    let (x, y) = (tap.x as i32, tap.y as i32);
    success(format!("Tapped at ({x}, {y})"), json!({ "x": x, "y": y }))
}

/// The pixel of a coordinate. The schema says `number`; fractions are truncated.
fn pixel(name: &str, value: f64) -> Result<i32, String> {
    const MAX_SIZE: f64 = 100_000.0;
    match value {
        value if (0.0..MAX_SIZE).contains(&value) => Ok(value as i32),
        value => {
            let is = value.to_string();
            let is = truncate(&is, 20);
            Err(format!("`{name}` is {is}; it must be a screenshot pixel, 0 or more"))
        }
    }
}

pub(super) fn parse_double_tap(tap: &TapArgs) -> Result<request::Touch, String> {
    let at = Point { x: pixel("x", tap.x)?, y: pixel("y", tap.y)? };
    Ok(request::Touch(Gesture::DoubleTap { at }))
}

pub(super) fn render_double_tap(tap: &TapArgs, _: ()) -> Reply {
    let (x, y) = (tap.x as i32, tap.y as i32);
    success(format!("Double-tapped at ({x}, {y})"), json!({ "x": x, "y": y }))
}

#[derive(Deserialize)]
pub(super) struct TapElementArgs {
    pub(super) element_id: Option<String>,
    pub(super) text: Option<String>,
}

pub(super) fn parse_tap_element(tap: &TapElementArgs) -> Result<request::TapElement, String> {
    let target = element(tap.element_id.as_ref(), tap.text.as_ref());
    target.map(request::TapElement).ok_or_else(|| "`element_id` or `text` is required".into())
}

/// The element that a call names, if it names one. A text is not used with a ref: if the ref is
/// stale, the text may be elsewhere by now.
pub fn element(id: Option<&String>, text: Option<&String>) -> Option<Target> {
    match (non_empty(id), non_empty(text)) {
        (None, None) => None,
        (id, text) => Some(match id.as_deref().map(str::parse::<ElementRef>) {
            Some(Ok(id)) => Target::listed(id),
            _ => Target::Named { id, text },
        }),
    }
}

pub(super) fn render_tap_element(_: &TapElementArgs, hit: TapResult) -> Reply {
    let (element, Point { x, y }) = (truncate(hit.name(), 100), hit.at);
    let text = format!("Tapped {element:?} at ({x}, {y})");
    success(text, json!({ "element": element, "x": x, "y": y }))
}

#[derive(Deserialize)]
pub(super) struct SwipeArgs {
    start_x: f64,
    start_y: f64,
    end_x: f64,
    end_y: f64,
    duration: Option<f64>,
}

impl SwipeArgs {
    /// Start and end point, and the duration.
    fn path(&self, usual: f64) -> Result<(Point, Point, Duration), String> {
        let from = Point { x: pixel("start_x", self.start_x)?, y: pixel("start_y", self.start_y)? };
        let to = Point { x: pixel("end_x", self.end_x)?, y: pixel("end_y", self.end_y)? };
        Ok((from, to, seconds("duration", self.duration.unwrap_or(usual))?))
    }

    fn tell(&self, did: &str) -> Reply {
        let [from_x, from_y, to_x, to_y] =
            [self.start_x, self.start_y, self.end_x, self.end_y].map(|value| value as i32);
        success(format!("{did} from ({from_x}, {from_y}) to ({to_x}, {to_y})"), json!({}))
    }
}

pub(super) fn parse_swipe(swipe: &SwipeArgs) -> Result<request::Touch, String> {
    let (from, to, duration) = swipe.path(0.5)?;
    Ok(request::Touch(Gesture::Swipe { from, to, duration }))
}

pub(super) fn render_swipe(swipe: &SwipeArgs, _: ()) -> Reply {
    swipe.tell("Swiped")
}

pub(super) fn parse_drag(drag: &SwipeArgs) -> Result<request::Touch, String> {
    // Slow enough for a list that scrolls or makes room while something is carried over it.
    let (from, to, duration) = drag.path(1.0)?;
    Ok(request::Touch(Gesture::Drag { from, to, duration }))
}

pub(super) fn render_drag(drag: &SwipeArgs, _: ()) -> Reply {
    drag.tell("Dragged")
}

#[derive(Deserialize)]
pub(super) struct PinchArgs {
    scale: f64,
    x: Option<f64>,
    y: Option<f64>,
    duration: Option<f64>,
}

pub(super) fn parse_pinch(pinch: &PinchArgs) -> Result<request::Pinch, String> {
    let PinchArgs { scale, x, y, duration } = pinch;
    if !(0.1..=10.0).contains(scale) || *scale == 1.0 {
        let text = format!(
            "`scale` is {scale}; it must be above 1 to zoom in or below 1 to zoom out, from 0.1 to 10"
        );
        return Err(text);
    }
    let at = match (x, y) {
        (Some(x), Some(y)) => Some(Point { x: pixel("x", *x)?, y: pixel("y", *y)? }),
        (None, None) => None,
        _ => return Err("`x` and `y` are given together, or neither".into()),
    };
    let duration = seconds("duration", duration.unwrap_or(0.5))?;
    if duration > MAX_PINCH {
        return Err("`duration` must be at most 5 seconds".into());
    }
    Ok(request::Pinch { at, scale: *scale, duration })
}

/// A large scale takes four pinches, which have to fit into the time of a call.
const MAX_PINCH: Duration = Duration::from_secs(5);

pub(super) fn render_pinch(pinch: &PinchArgs, result: PinchResult) -> Reply {
    let PinchResult { at: Point { x, y } } = result;
    let way = if pinch.scale > 1.0 { "in" } else { "out" };
    let text = format!("Pinched at ({x}, {y}) to zoom {way} by {}", pinch.scale);
    success(text, json!({ "x": x, "y": y }))
}

/// The duration of a touch, up to 30 s.
fn seconds(name: &str, value: f64) -> Result<Duration, String> {
    const MAX_LENGTH: f64 = 30.0;
    match value {
        value if value > 0.0 && value <= MAX_LENGTH => Ok(Duration::from_secs_f64(value)),
        value => {
            Err(format!("`{name}` is {value}; it must be above 0 and at most {MAX_LENGTH} seconds"))
        }
    }
}

#[derive(Deserialize)]
pub(super) struct ScrollArgs {
    pub(super) direction: String,
    pub(super) distance: Option<f64>,
}

impl ScrollArgs {
    fn distance(&self) -> f64 {
        self.distance.unwrap_or(0.5)
    }
}

pub(super) fn parse_scroll(scroll: &ScrollArgs) -> Result<request::Scroll, String> {
    let distance = scroll.distance();
    if !(0.1..=1.0).contains(&distance) {
        let text = format!("`distance` is {distance}; it must be 0.1 to 1.0 of the screen");
        return Err(text);
    }
    let direction = Direction::from_name(&scroll.direction)
        .ok_or_else(|| format!("unknown direction {:?}", scroll.direction))?;
    Ok(request::Scroll { direction, distance })
}

pub(super) fn render_scroll(scroll: &ScrollArgs, _: ()) -> Reply {
    let distance = scroll.distance();
    let text = format!("Scrolled {} by {distance} of the screen", scroll.direction);
    let asked = Direction::from_name(&scroll.direction);
    let scroll = asked.map(|direction| AskedScroll { direction, distance });
    Reply { scroll, ..success(text, json!({})) }
}

#[derive(Deserialize)]
pub(super) struct LongPressArgs {
    x: f64,
    y: f64,
    duration: Option<f64>,
}

impl LongPressArgs {
    fn duration(&self) -> f64 {
        self.duration.unwrap_or(1.0)
    }
}

pub(super) fn parse_long_press(press: &LongPressArgs) -> Result<request::Touch, String> {
    let at = Point { x: pixel("x", press.x)?, y: pixel("y", press.y)? };
    let held = seconds("duration", press.duration())?;
    Ok(request::Touch(Gesture::LongPress { at, held }))
}

pub(super) fn render_long_press(press: &LongPressArgs, _: ()) -> Reply {
    let (x, y) = (press.x as i32, press.y as i32);
    let text = format!("Pressed ({x}, {y}) for {} s", press.duration());
    success(text, json!({ "x": x, "y": y }))
}

#[derive(Deserialize)]
pub(super) struct PressKeyArgs {
    key: String,
}

pub(super) fn parse_press_key(press: &PressKeyArgs) -> Result<request::Press, String> {
    let key = &press.key;
    Key::from_name(key).map(request::Press).ok_or_else(|| format!("unknown key {key:?}"))
}

pub(super) fn parse_key(press: &PressKeyArgs) -> Result<request::Press, String> {
    any_key(&press.key).map(request::Press)
}

/// The key with this name.
///
/// # Errors
/// What names there are.
pub(super) fn any_key(name: &str) -> Result<Key, String> {
    Key::from_any_name(name).ok_or_else(|| {
        format!(
            "unknown key {:?}; use enter, tab, delete, escape, recents, up, down, left, right, home, back, power, \
             or Android's name such as KEYCODE_CAMERA",
            truncate(name, 40)
        )
    })
}

pub(super) fn render_press_key(press: &PressKeyArgs, _: ()) -> Reply {
    success(format!("Pressed {}", press.key), json!({}))
}

#[derive(Deserialize)]
pub(super) struct SetOrientationArgs {
    orientation: String,
}

pub(super) fn parse_set_orientation(
    turn: &SetOrientationArgs,
) -> Result<request::SetOrientation, String> {
    Orientation::from_name(&turn.orientation)
        .map(request::SetOrientation)
        .ok_or_else(|| format!("unknown orientation {:?}", turn.orientation))
}

pub(super) fn render_set_orientation(turn: &SetOrientationArgs, _: ()) -> Reply {
    success(format!("Rotated the screen to {}", turn.orientation), json!({}))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_are_truncated_to_pixels() {
        assert_eq!(pixel("x", 540.9), Ok(540));
        assert!(pixel("x", -0.1).is_err());
        assert!(pixel("x", 1e308).unwrap_err().len() < 100);
    }

    #[test]
    fn elements_are_named_by_ref_name_or_text() {
        let element = |id: &str, text: &str| element(Some(&id.into()), Some(&text.into()));
        let e12 = Target::listed(ElementRef(12));
        assert_eq!(element("e12", ""), Some(e12.clone()));
        assert_eq!(element("e12", "Pay"), Some(e12), "a text does not replace a stale ref");
        assert_eq!(element("email", ""), Some(Target::id("email")));
        assert_eq!(element("", "Pay"), Some(Target::text("Pay")));
        assert_eq!(element("", ""), None);
    }
}
