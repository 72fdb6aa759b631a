//! `POST /appium/gestures/NAME`: the gestures behind `mobile: clickGesture` and the like, on an
//! element or an area.

use super::super::gestures::{self, Direction, LONG_CLICK};
use super::super::tree::{Element, Tree};
use super::element::{inner, point_in};
use super::{Outcome, Server, invalid};
use serde_json::{Map, Value};
use std::time::Duration;
use thumbwire_virtual_phone::{Point, Rect};
use thumbwire_webdriver::{ElementId, ErrorCode, WebDriverError};

/// Default speeds, in dp per second: those of `UiObject2`.
const DRAG_SPEED: f64 = 2_500.0;
const FLING_SPEED: f64 = 7_500.0;
const PINCH_SPEED: f64 = 2_500.0;
const SWIPE_SPEED: f64 = 5_000.0;
/// Maximum swipes until an element is visible.
const MAX_SWIPES: u64 = 100;

type Body = Map<String, Value>;

impl Server {
    /// Performs a gesture; `None` if there is none of that name.
    pub(super) async fn gesture(&self, name: &str, body: &Body) -> Option<Outcome> {
        let known = [
            "click",
            "double_click",
            "drag",
            "fling",
            "long_click",
            "pinch_close",
            "pinch_open",
            "scroll",
            "swipe",
        ];
        if !known.contains(&name) {
            return None;
        }
        Some(self.perform_gesture(name, body).await)
    }

    async fn perform_gesture(&self, name: &str, body: &Body) -> Outcome {
        let phone = &self.phone;
        let origin = match body.get("origin").and_then(ElementId::from_reference) {
            Some(id) => Some(self.known(id.as_str()).await?),
            None => None,
        };
        let density = phone.read(|phone| f64::from(phone.world.display().density) / 160.0);
        let speed =
            |otherwise: f64| number(body, "speed").map(|it| it.unwrap_or(otherwise * density));
        match name {
            "click" | "long_click" | "double_click" => {
                let at = target(origin.as_ref(), body, "offset")?;
                match name {
                    "double_click" => gestures::double_click(phone, at).await,
                    "click" => gestures::press(phone, at, Duration::ZERO).await,
                    _ => {
                        let millis = number(body, "duration")?.map(|it| it.clamp(0.0, 60_000.0));
                        let hold = millis.map_or(LONG_CLICK, |it| Duration::from_millis(it as u64));
                        gestures::press(phone, at, hold).await;
                    }
                }
                Ok(Value::Null)
            }
            "drag" => {
                let end = point(body, "end")?.ok_or_else(|| invalid("`end` is missing"))?;
                let way = (
                    target(origin.as_ref(), body, "start")?,
                    point_in(&Rect::default(), Some(end)),
                );
                let time = gestures::time_for(way, speed(DRAG_SPEED)?);
                gestures::swipe(phone, way, LONG_CLICK, time).await;
                Ok(Value::Null)
            }
            "pinch_open" | "pinch_close" => {
                let (area, part) = (area(origin.as_ref(), body)?, percent(body)?);
                let way = (Point { x: area.left, y: area.top }, area.center());
                let time = gestures::time_for(way, speed(PINCH_SPEED)?);
                gestures::pinch(phone, &area, part, name == "pinch_open", time).await;
                Ok(Value::Null)
            }
            "swipe" => {
                let way = direction(body)?.across(&area(origin.as_ref(), body)?, percent(body)?);
                let time = gestures::time_for(way, speed(SWIPE_SPEED)?);
                gestures::swipe(phone, way, Duration::ZERO, time).await;
                Ok(Value::Null)
            }
            _ => {
                // The content goes the other way than the finger.
                let (direction, area) = (direction(body)?, area(origin.as_ref(), body)?);
                let flings = name == "fling";
                let part = if flings { 1.0 } else { percent(body)? };
                let way = direction.reverse().across(&area, part);
                let time =
                    gestures::time_for(way, speed(if flings { FLING_SPEED } else { SWIPE_SPEED })?);
                gestures::swipe(phone, way, Duration::ZERO, time).await;
                Ok(scrolls_on(&self.tree().await, area.center(), direction).into())
            }
        }
    }

    /// `POST /gestures/scroll_to`: scrolls the first list until a locator finds something.
    pub(super) async fn scroll_to(&self, body: &Body) -> Outcome {
        let params = body.get("params").and_then(Value::as_object);
        let params = params.ok_or_else(|| invalid("`params` must be an object"))?;
        let swipes = params.get("maxSwipes").and_then(Value::as_u64).unwrap_or(30).min(MAX_SWIPES);
        let list = match body.get("origin").and_then(ElementId::from_reference) {
            Some(id) => self.known(id.as_str()).await?,
            None => {
                let tree = self.tree().await;
                let list = tree.elements.iter().find(|it| it.flags.scrollable).cloned();
                list.ok_or_else(|| invalid("nothing on the screen scrolls"))?
            }
        };
        while self.scroll_page(&list, false).await {}
        for _ in 0..=swipes {
            match self.find(params, false).await {
                Err(error) if error.code == ErrorCode::NoSuchElement => {}
                other => return other.map(|_| Value::Null),
            }
            if !self.scroll_page(&list, true).await {
                break;
            }
        }
        let message = "the element did not become visible";
        Err(WebDriverError::new(ErrorCode::NoSuchElement, message))
    }

    /// `POST /appium/element/ID/scroll_to/ID2`: scrolls one element until the other is visible.
    pub(super) async fn scroll_back_to(&self, list: &str, target: &str) -> Outcome {
        let list = self.known(list).await?;
        while self.scroll_page(&list, false).await {}
        loop {
            match self.known(target).await {
                Ok(_) => return Ok(Value::Null),
                Err(error) if error.code != ErrorCode::StaleElementReference => return Err(error),
                Err(error) => {
                    if !self.scroll_page(&list, true).await {
                        return Err(error);
                    }
                }
            }
        }
    }
}

/// Whether a list at this place can still be scrolled in the direction.
fn scrolls_on(tree: &Tree, at: Point, direction: Direction) -> bool {
    let forward = matches!(direction, Direction::Down | Direction::Right);
    let is_there = |it: &&Element| it.flags.scrollable && it.bounds.contains(at);
    let innermost = tree.elements.iter().rfind(is_there);
    innermost.is_some_and(|it| it.scrolls[usize::from(!forward)])
}

fn number(body: &Body, name: &str) -> Result<Option<f64>, WebDriverError> {
    match body.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => match value.as_f64().filter(|number| *number >= 0.0) {
            Some(number) => Ok(Some(number)),
            None => Err(invalid(&format!("`{name}` must be a number of at least 0"))),
        },
    }
}

/// From 0 to 1.
fn percent(body: &Body) -> Result<f64, WebDriverError> {
    let part = number(body, "percent")?.ok_or_else(|| invalid("`percent` is missing"))?;
    match part <= 1.0 {
        true => Ok(part),
        false => Err(invalid("`percent` must be between 0 and 1")),
    }
}

fn direction(body: &Body) -> Result<Direction, WebDriverError> {
    let name = body.get("direction").and_then(Value::as_str).unwrap_or_default();
    Direction::from_name(name).ok_or_else(|| invalid("`direction` must be left, right, up or down"))
}

fn point(body: &Body, name: &str) -> Result<Option<(f64, f64)>, WebDriverError> {
    let Some(value) = body.get(name).filter(|value| !value.is_null()) else { return Ok(None) };
    let at = |key| value.get(key).and_then(Value::as_f64);
    match at("x").zip(at("y")) {
        Some(point) => Ok(Some(point)),
        None => Err(invalid(&format!("`{name}` must have the numbers `x` and `y`"))),
    }
}

/// A point of the element, its middle by default, or of the screen.
fn target(origin: Option<&Element>, body: &Body, name: &str) -> Result<Point, WebDriverError> {
    match (origin, point(body, name)?) {
        (Some(element), offset) => Ok(point_in(&element.bounds, offset)),
        (None, Some(at)) => Ok(point_in(&Rect::default(), Some(at))),
        (None, None) => Err(invalid(&format!("either an element or `{name}` must be given"))),
    }
}

fn area(origin: Option<&Element>, body: &Body) -> Result<Rect, WebDriverError> {
    if let Some(element) = origin {
        return Ok(inner(&element.bounds));
    }
    let at = |key: &str| body.get("area").and_then(|area| area.get(key)).and_then(Value::as_f64);
    let read = || {
        let (left, top) = (at("left")? as i32, at("top")? as i32);
        let (width, height) = (at("width")? as i32, at("height")? as i32);
        let area = Rect::new(left, top, left.saturating_add(width), top.saturating_add(height));
        Some(area).filter(|area| !area.is_empty())
    };
    read().ok_or_else(|| invalid("either an element or an `area` must be given"))
}
