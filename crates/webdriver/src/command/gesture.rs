//! Touches and typing.

use serde_json::{Map, Value};

use super::route::commands;
use crate::actions::InputSource;
use crate::field::{Body, Field, FieldError, get, put};
use crate::id::ElementId;
use crate::locator::TypedText;
use crate::values::{Direction, Point};

commands! {
    /// Commands that touch or type. Sources: W3C WebDriver, section 15; FBElementCommands.m,
    /// FBTouchActionCommands.m.
    ///
    /// Where an element is optional, `None` means the app in front. Points are relative to the
    /// element's upper left corner.
    GestureCommand as Gesture {
        /// Performs the items of input sources, all sources at once.
        Perform {
            /// Fingers and keyboards.
            sources: Vec<InputSource> = field("actions"),
        } => Post Required "/actions";
        /// Lets go of all fingers and keys.
        Release => Delete Required "/actions";
        /// Taps. WebDriverAgent before 6.0 had the second path.
        Tap {
            /// The element.
            element: Option<ElementId> = path,
            /// Where; the middle unless given.
            at: Option<Point> = body,
        } => Post Required "/wda/:element?/tap" | "/wda/tap/:element|0";
        /// Taps twice.
        DoubleTap {
            /// The element.
            element: Option<ElementId> = path,
            /// Where; the middle unless given.
            at: Option<Point> = body,
        } => Post Required "/wda/:element?/doubleTap";
        /// Taps with two fingers.
        TwoFingerTap {
            /// The element.
            element: Option<ElementId> = path,
        } => Post Required "/wda/:element?/twoFingerTap";
        /// Taps several times with several fingers.
        TapTimes {
            /// The element.
            element: Option<ElementId> = path,
            /// How often.
            taps: u64 = field("numberOfTaps"),
            /// How many fingers.
            touches: u64 = field("numberOfTouches"),
        } => Post Required "/wda/:element?/tapWithNumberOfTaps";
        /// Touches and holds.
        TouchAndHold {
            /// The element.
            element: Option<ElementId> = path,
            /// Where; the middle unless given.
            at: Option<Point> = body,
            /// Seconds.
            duration_s: f64 = field("duration"),
        } => Post Required "/wda/:element?/touchAndHold";
        /// Presses hard.
        ForceTouch {
            /// The element.
            element: Option<ElementId> = path,
            /// Where; the middle unless given.
            at: Option<Point> = body,
            /// From 0 to 1.
            pressure: Option<f64> = field("pressure"),
            /// Seconds.
            duration_s: Option<f64> = field("duration"),
        } => Post Required "/wda/:element?/forceTouch";
        /// Holds one point, then drags it to another.
        Drag {
            /// The element.
            element: Option<ElementId> = path,
            /// From the left.
            from_x: f64 = field("fromX"),
            /// From the top.
            from_y: f64 = field("fromY"),
            /// From the left.
            to_x: f64 = field("toX"),
            /// From the top.
            to_y: f64 = field("toY"),
            /// How long the first point is held, in seconds.
            duration_s: f64 = field("duration"),
        } => Post Required "/wda/:element?/dragfromtoforduration";
        /// Holds one point of the screen, drags it to another at a speed, and holds it there.
        DragWithVelocity {
            /// From the left.
            from_x: f64 = field("fromX"),
            /// From the top.
            from_y: f64 = field("fromY"),
            /// From the left.
            to_x: f64 = field("toX"),
            /// From the top.
            to_y: f64 = field("toY"),
            /// How long the first point is held, in seconds.
            press_s: f64 = field("pressDuration"),
            /// How long the last point is held, in seconds.
            hold_s: f64 = field("holdDuration"),
            /// Points per second.
            velocity: f64 = field("velocity"),
        } => Post Required "/wda/pressAndDragWithVelocity";
        /// Drags from one element's middle to another's, at a speed.
        DragElement {
            /// Where it begins.
            element: ElementId = path,
            /// Where it ends.
            to: ElementId = field("toElement"),
            /// How long the first point is held, in seconds.
            press_s: f64 = field("pressDuration"),
            /// How long the last point is held, in seconds.
            hold_s: f64 = field("holdDuration"),
            /// Points per second.
            velocity: f64 = field("velocity"),
        } => Post Required "/wda/element/:element/pressAndDragWithVelocity";
        /// Swipes.
        Swipe {
            /// The element.
            element: Option<ElementId> = path,
            /// Where it begins; the middle unless given.
            at: Option<Point> = body,
            /// Which way.
            direction: Direction = field("direction"),
            /// Points per second.
            velocity: Option<f64> = field("velocity"),
        } => Post Required "/wda/:element?/swipe";
        /// Scrolls.
        Scroll {
            /// The element to scroll, or with [`Scroll::ToVisible`] the one to make visible.
            element: Option<ElementId> = path,
            /// How far.
            to: Scroll = body,
        } => Post Required "/wda/:element?/scroll";
        /// Scrolls until the element is visible, by XCTest's own means.
        ScrollTo {
            /// The element.
            element: ElementId = path,
        } => Post Required "/wda/element/:element/scrollTo";
        /// Moves two fingers apart or together.
        Pinch {
            /// The element.
            element: Option<ElementId> = path,
            /// Above 1 apart, below 1 together.
            scale: f64 = field("scale"),
            /// Factor per second; negative if `scale` is below 1.
            velocity: f64 = field("velocity"),
        } => Post Required "/wda/:element?/pinch";
        /// Turns two fingers.
        Rotate {
            /// The element.
            element: Option<ElementId> = path,
            /// Radians.
            rotation: f64 = field("rotation"),
            /// Radians per second; of the same sign.
            velocity: f64 = field("velocity"),
        } => Post Required "/wda/:element?/rotate";
        /// Types where the keyboard is.
        Keys {
            /// What to type.
            text: TypedText = body,
            /// Keys per minute, where WebDriverAgent should not use its own.
            frequency: Option<u64> = field("frequency"),
        } => Post Required "/wda/keys" | "/keys";
        /// Presses keys of a hardware keyboard, with modifiers. WebDriverAgent since Xcode 15.
        KeyboardInput {
            /// Where.
            element: Option<ElementId> = path,
            /// One after the other.
            keys: Vec<KeyPress> = field("keys"),
        } => Post Required "/wda/element/:element|0/keyboardInput";
    }
}

/// A key of a hardware keyboard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyPress {
    /// A character, or the name of one of XCTest's `XCUIKeyboardKey`, such as
    /// `XCUIKeyboardKeyDelete`.
    pub key: String,
    /// The bits of XCTest's `XCUIKeyModifierFlags`: 2 is shift, 16 is command.
    pub modifier_flags: Option<u64>,
}

impl Field for KeyPress {
    fn to_json(&self) -> Option<Value> {
        if self.modifier_flags.is_none() {
            return self.key.to_json();
        }
        let mut fields = Map::new();
        put(&mut fields, "key", &self.key);
        put(&mut fields, "modifierFlags", &self.modifier_flags);
        Some(Value::Object(fields))
    }

    fn from_json(value: &Value) -> Result<Self, FieldError> {
        match value {
            Value::String(key) => Ok(Self { key: key.clone(), modifier_flags: None }),
            Value::Object(fields) => {
                Ok(Self { key: get(fields, "key")?, modifier_flags: get(fields, "modifierFlags")? })
            }
            _ => Err(FieldError::new("must be a text or an object")),
        }
    }
}

/// How far to scroll. WebDriverAgent looks for the fields in this order.
#[derive(Debug, Clone, PartialEq)]
pub enum Scroll {
    /// Until the descendant with this name is visible.
    ToName(String),
    /// By a part of the element's size.
    By {
        /// Which way.
        direction: Direction,
        /// 1 is the whole width or height, and what is meant unless given.
        distance: Option<f64>,
    },
    /// Until the descendant that fulfils an `NSPredicate` is visible.
    ToPredicate(String),
    /// Until the element itself is visible.
    ToVisible,
}

impl Body for Scroll {
    fn write(&self, body: &mut Map<String, Value>) {
        match self {
            Self::ToName(name) => put(body, "name", name),
            Self::By { direction, distance } => {
                put(body, "direction", direction);
                // facebook-wda sends a number, WebDriverAgent reads a text as well.
                put(body, "distance", distance);
            }
            Self::ToPredicate(predicate) => put(body, "predicateString", predicate),
            Self::ToVisible => put(body, "toVisible", &true),
        }
    }

    fn read(body: &Map<String, Value>) -> Result<Self, FieldError> {
        if let Some(name) = get(body, "name")? {
            return Ok(Self::ToName(name));
        }
        if let Some(direction) = get(body, "direction")? {
            return Ok(Self::By { direction, distance: get(body, "distance")? });
        }
        if let Some(predicate) = get(body, "predicateString")? {
            return Ok(Self::ToPredicate(predicate));
        }
        match body.get("toVisible").filter(|value| !value.is_null()) {
            Some(_) => Ok(Self::ToVisible),
            None => {
                Err(FieldError::new("needs `name`, `direction`, `predicateString` or `toVisible`"))
            }
        }
    }
}
