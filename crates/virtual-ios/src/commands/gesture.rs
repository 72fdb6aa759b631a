//! Touches and typing.

use std::time::Duration;

use serde_json::Value;
use thumbwire_virtual_phone::{Point, Rect};
use thumbwire_webdriver::{
    Direction, ElementId, ErrorCode, GestureCommand, Locator, Scroll, Strategy, WebDriverError,
};

use super::{Reply, refuse, resolve};
use crate::latency;
use crate::locate::find_all;
use crate::phone::VirtualIphone;
use crate::touches::{Touches, round, travel_time};
use crate::tree::Snapshot;

mod w3c;

/// XCTest's usual speed of a drag, in points per second.
const USUAL_VELOCITY: f64 = 1_000.0;

/// How often a list is scrolled to find something in it, in each direction.
const MAX_SCROLLS: usize = 30;

impl VirtualIphone {
    pub(super) async fn gesture_command(&self, command: GestureCommand) -> Reply {
        match command {
            GestureCommand::Perform { sources } => return self.perform_actions(&sources).await,
            // Nothing is held between requests.
            GestureCommand::Release => {}
            GestureCommand::Tap { element, at } => {
                let at = self.place(element.as_ref(), at)?;
                self.play(Touches::taps(at, 1)).await;
            }
            GestureCommand::DoubleTap { element, at } => {
                let at = self.place(element.as_ref(), at)?;
                self.play(Touches::taps(at, 2)).await;
            }
            GestureCommand::TwoFingerTap { element } => {
                let bounds = self.bounds_of(element.as_ref())?;
                self.play(Touches::two_finger_tap(bounds)).await;
            }
            GestureCommand::TapTimes { element, taps, touches } => {
                if touches != 1 || taps == 0 || taps > 100 {
                    return Err(refuse(
                        ErrorCode::InvalidArgument,
                        "expected 1 to 100 taps with one finger",
                    ));
                }
                let at = self.place(element.as_ref(), None)?;
                self.play(Touches::taps(at, u32::try_from(taps).unwrap_or(1))).await;
            }
            GestureCommand::TouchAndHold { element, at, duration_s } => {
                let at = self.place(element.as_ref(), at)?;
                self.play(Touches::hold(at, seconds(duration_s)?)).await;
            }
            GestureCommand::ForceTouch { element, at, duration_s, .. } => {
                let at = self.place(element.as_ref(), at)?;
                self.play(Touches::hold(at, seconds(duration_s.unwrap_or(1.0))?)).await;
            }
            GestureCommand::Drag { element, from_x, from_y, to_x, to_y, duration_s } => {
                let from = self.place(element.as_ref(), Some(point(from_x, from_y)))?;
                let to = self.place(element.as_ref(), Some(point(to_x, to_y)))?;
                self.drag(from, to, seconds(duration_s)?, USUAL_VELOCITY, Duration::ZERO).await;
            }
            GestureCommand::DragWithVelocity {
                from_x,
                from_y,
                to_x,
                to_y,
                press_s,
                hold_s,
                velocity,
            } => {
                let from = self.place(None, Some(point(from_x, from_y)))?;
                let to = self.place(None, Some(point(to_x, to_y)))?;
                self.drag(from, to, seconds(press_s)?, velocity, seconds(hold_s)?).await;
            }
            GestureCommand::DragElement { element, to, press_s, hold_s, velocity } => {
                let (from, to) = (self.place(Some(&element), None)?, self.place(Some(&to), None)?);
                self.drag(from, to, seconds(press_s)?, velocity, seconds(hold_s)?).await;
            }
            GestureCommand::Swipe { element, at, direction, velocity } => {
                let bounds = self.bounds_of(element.as_ref())?;
                let from = match at {
                    Some(_) => self.place(element.as_ref(), at)?,
                    None => bounds.center(),
                };
                let (from, to) = along(bounds, from, direction, 0.35);
                self.drag(
                    from,
                    to,
                    Duration::ZERO,
                    velocity.unwrap_or(USUAL_VELOCITY),
                    Duration::ZERO,
                )
                .await;
            }
            GestureCommand::Scroll { element, to } => {
                return self.scroll(element.as_ref(), to).await;
            }
            // An element that was found is on the screen already: what is scrolled away is not in
            // this phone's tree.
            GestureCommand::ScrollTo { element } => drop(self.element(&element)?),
            GestureCommand::Pinch { element, scale, velocity } => {
                let valid =
                    scale.is_finite() && scale > 0.0 && velocity.is_finite() && velocity != 0.0;
                if !valid {
                    return Err(refuse(
                        ErrorCode::InvalidArgument,
                        "`scale` must be positive and `velocity` not zero",
                    ));
                }
                let bounds = self.bounds_of(element.as_ref())?;
                let travel = seconds(((scale - 1.0) / velocity).abs().clamp(0.1, 10.0))?;
                self.play(Touches::pinch(bounds, scale.clamp(0.05, 20.0), travel)).await;
            }
            GestureCommand::Rotate { element, rotation, velocity } => {
                let valid = rotation.is_finite() && velocity.is_finite() && velocity != 0.0;
                if !valid || rotation.signum() != velocity.signum() {
                    return Err(refuse(
                        ErrorCode::InvalidArgument,
                        "`rotation` and `velocity` must be numbers with the same sign",
                    ));
                }
                let bounds = self.bounds_of(element.as_ref())?;
                let travel = seconds((rotation / velocity).clamp(0.1, 10.0))?;
                self.play(Touches::rotation(bounds, rotation, travel)).await;
            }
            GestureCommand::KeyboardInput { element, keys } => {
                if let Some(element) = &element {
                    self.element(element)?;
                }
                self.press_keys(&keys).await?;
            }
            GestureCommand::Keys { text, .. } => self.type_text(&text.0).await?,
        }
        Ok(Value::Null)
    }

    /// A point of an element or of the app in front, in pixels; its middle unless given.
    fn place(
        &self,
        element: Option<&ElementId>,
        at: Option<thumbwire_webdriver::Point>,
    ) -> Result<Point, WebDriverError> {
        let bounds = self.bounds_of(element)?;
        let scale = self.with(|phone| phone.scale());
        Ok(match at {
            None => bounds.center(),
            Some(at) => Point {
                x: bounds.left.saturating_add(round(at.x * scale)),
                y: bounds.top.saturating_add(round(at.y * scale)),
            },
        })
    }

    async fn drag(&self, from: Point, to: Point, press: Duration, velocity: f64, hold: Duration) {
        let speed = velocity.max(1.0) * self.with(|phone| phone.scale());
        let travel = travel_time(from, to, speed);
        self.play(Touches::drag(from, to, press, travel, hold)).await;
    }

    async fn scroll(&self, element: Option<&ElementId>, to: Scroll) -> Reply {
        let locator = match to {
            Scroll::ToVisible => {
                if let Some(element) = element {
                    self.element(element)?;
                }
                return Ok(Value::Null);
            }
            Scroll::By { direction, distance } => {
                let bounds = self.bounds_of(element)?;
                let distance = distance.unwrap_or(1.0);
                if !(0.0..=100.0).contains(&distance) {
                    return Err(refuse(
                        ErrorCode::InvalidArgument,
                        "`distance` must be from 0 to 100",
                    ));
                }
                self.scroll_by(bounds, direction, distance).await;
                return Ok(Value::Null);
            }
            Scroll::ToName(value) => Locator { using: Strategy::Name, value },
            Scroll::ToPredicate(value) => Locator { using: Strategy::WdaPredicate, value },
        };
        for direction in [Direction::Down, Direction::Up] {
            for _ in 0..MAX_SCROLLS {
                let before = self.with(|phone| phone.world.scene().clone());
                self.run_work(latency::TREE).await;
                let found = self.with(|phone| {
                    let snapshot = Snapshot::take(&mut phone.world);
                    let root =
                        element.map(|id| resolve(phone, &snapshot, id)).transpose()?.unwrap_or(0);
                    find_all(&snapshot, root, &locator).map(|found| !found.is_empty())
                })?;
                if found {
                    return Ok(Value::Null);
                }
                self.scroll_by(self.bounds_of(element)?, direction, 0.7).await;
                if self.with(|phone| *phone.world.scene() == before) {
                    break;
                }
            }
        }
        let message = format!("unable to find an element to scroll to: {}", locator.value);
        Err(refuse(ErrorCode::NoSuchElement, message))
    }

    /// Scrolls by a part of an element's size, in several drags if it is much.
    async fn scroll_by(&self, bounds: Rect, direction: Direction, distance: f64) {
        const MAX_LENGTH: f64 = 0.6;
        // To see what is below, the finger goes up.
        let finger = match direction {
            Direction::Down => Direction::Up,
            Direction::Up => Direction::Down,
            Direction::Right => Direction::Left,
            Direction::Left => Direction::Right,
        };
        let mut left = distance;
        while left > 0.01 {
            let now = left.min(MAX_LENGTH);
            let (from, to) = along(bounds, bounds.center(), finger, now / 2.0);
            // Holding the last point prevents a fling.
            self.drag(from, to, Duration::ZERO, USUAL_VELOCITY, Duration::from_millis(200)).await;
            left -= now;
        }
    }
}

/// The two ends of a movement through a point, each a part of the size away from it.
fn along(bounds: Rect, through: Point, direction: Direction, part: f64) -> (Point, Point) {
    let (across, down) = (f64::from(bounds.width()) * part, f64::from(bounds.height()) * part);
    let (x, y) = match direction {
        Direction::Up => (0, -round(down)),
        Direction::Down => (0, round(down)),
        Direction::Left => (-round(across), 0),
        Direction::Right => (round(across), 0),
    };
    (Point { x: through.x - x, y: through.y - y }, Point { x: through.x + x, y: through.y + y })
}

fn point(x: f64, y: f64) -> thumbwire_webdriver::Point {
    thumbwire_webdriver::Point { x, y }
}

fn seconds(seconds: f64) -> Result<Duration, WebDriverError> {
    match (0.0..=600.0).contains(&seconds) {
        true => Ok(Duration::from_secs_f64(seconds)),
        false => {
            Err(refuse(ErrorCode::InvalidArgument, "a duration must be from 0 to 600 seconds"))
        }
    }
}
