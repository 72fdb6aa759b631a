//! Touches and keys as lists of items by input source (W3C WebDriver, section 15): the body of
//! `POST /actions`.
//!
//! The nth items of all sources happen at the same time. WebDriverAgent takes pointers of type
//! `touch` and keys only (FBW3CActionsSynthesizer.m).

use serde_json::{Map, Value, json};

use crate::field::{Field, FieldError, get, object};
use crate::id::ElementId;
use crate::values::named_values;

/// A finger, keyboard or pause, and what it does.
#[derive(Debug, Clone, PartialEq)]
pub struct InputSource {
    /// Its name, unique in the request.
    pub id: String,
    /// What it does.
    pub items: InputItems,
}

/// The items of an input source.
#[derive(Debug, Clone, PartialEq)]
pub enum InputItems {
    /// A finger, mouse or pen.
    Pointer(PointerType, Vec<PointerItem>),
    /// A keyboard.
    Key(Vec<KeyItem>),
    /// Nothing but pauses; milliseconds, `None` for as long as the other sources take.
    None(Vec<Option<u64>>),
}

named_values! {
    /// What kind of pointer it is.
    PointerType {
        /// A mouse, which is what W3C WebDriver assumes.
        Mouse = "mouse",
        /// A pen.
        Pen = "pen",
        /// A finger.
        Touch = "touch",
    }
}

/// What a pointer does.
#[derive(Debug, Clone, PartialEq)]
pub enum PointerItem {
    /// Waits, in milliseconds; `None` for as long as the other sources take.
    Pause(Option<u64>),
    /// Touches, or presses a button.
    Down {
        /// 0 is the left button, or the finger.
        button: u64,
        /// Pressure from 0 to 1.
        pressure: Option<f64>,
    },
    /// Lets go.
    Up {
        /// The button that was pressed.
        button: u64,
    },
    /// Moves to a point.
    Move {
        /// From the origin, to the right.
        x: f64,
        /// From the origin, down.
        y: f64,
        /// What `x` and `y` are relative to.
        origin: Origin,
        /// How long it takes, in milliseconds.
        duration_ms: Option<u64>,
    },
    /// Ends the pointer without letting go.
    Cancel,
}

/// What a movement is relative to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// The screen's upper left corner.
    Viewport,
    /// Where the pointer is.
    Pointer,
    /// The middle of an element.
    Element(ElementId),
}

/// What a keyboard does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyItem {
    /// Waits, in milliseconds; `None` for as long as the other sources take.
    Pause(Option<u64>),
    /// Presses a key: one character, or one of W3C WebDriver's private ones such as `\u{E007}` for
    /// Enter.
    Down(String),
    /// Lets it go.
    Up(String),
}

impl Field for InputSource {
    fn to_json(&self) -> Option<Value> {
        let (kind, items): (_, Vec<Value>) = match &self.items {
            InputItems::Pointer(_, items) => {
                ("pointer", items.iter().map(PointerItem::to_value).collect())
            }
            InputItems::Key(items) => ("key", items.iter().map(KeyItem::to_value).collect()),
            InputItems::None(items) => ("none", items.iter().map(|limit| pause(*limit)).collect()),
        };
        let mut source = json!({ "type": kind, "id": self.id });
        if let InputItems::Pointer(pointer, _) = &self.items {
            source["parameters"] = json!({ "pointerType": pointer.as_str() });
        }
        source["actions"] = Value::Array(items);
        Some(source)
    }

    fn from_json(value: &Value) -> Result<Self, FieldError> {
        let source = object(value)?;
        let kind: String = get(source, "type")?;
        let id = get(source, "id")?;
        let items = match kind.as_str() {
            "pointer" => {
                InputItems::Pointer(pointer_type(source)?, items(source, PointerItem::from_object)?)
            }
            "key" => InputItems::Key(items(source, KeyItem::from_object)?),
            "none" => InputItems::None(items(source, |kind, item| match kind {
                "pause" => get(item, "duration"),
                _ => Err(unknown_item("`pause`")),
            })?),
            _ => return Err(FieldError::new("must be `pointer`, `key` or `none`").inside("type")),
        };
        Ok(Self { id, items })
    }
}

fn pointer_type(source: &Map<String, Value>) -> Result<PointerType, FieldError> {
    let parameters: Option<Map<String, Value>> = get(source, "parameters")?;
    let kind = parameters.map(|parameters| get(&parameters, "pointerType"));
    let kind: Option<PointerType> =
        kind.transpose().map_err(|error| error.inside("parameters"))?.flatten();
    Ok(kind.unwrap_or(PointerType::Mouse))
}

/// Reads `actions` by a function of each item's type and object.
fn items<T>(
    source: &Map<String, Value>,
    read: impl Fn(&str, &Map<String, Value>) -> Result<T, FieldError>,
) -> Result<Vec<T>, FieldError> {
    let list: Vec<Value> = get(source, "actions")?;
    let item = |value: &Value| {
        let item = object(value)?;
        read(&get::<String>(item, "type")?, item)
    };
    let items = list.iter().enumerate();
    let items = items.map(|(at, value)| item(value).map_err(|error| error.at(at)));
    items.collect::<Result<_, _>>().map_err(|error: FieldError| error.inside("actions"))
}

fn unknown_item(known: &str) -> FieldError {
    FieldError::new(format!("must be {known}")).inside("type")
}

fn pause(duration: Option<u64>) -> Value {
    let mut item = json!({ "type": "pause" });
    if let Some(duration) = duration {
        item["duration"] = duration.into();
    }
    item
}

impl PointerItem {
    fn to_value(&self) -> Value {
        match self {
            Self::Pause(duration) => pause(*duration),
            Self::Down { button, pressure } => {
                let mut item = json!({ "type": "pointerDown", "button": button });
                if let Some(pressure) = pressure {
                    item["pressure"] = json!(pressure);
                }
                item
            }
            Self::Up { button } => json!({ "type": "pointerUp", "button": button }),
            Self::Move { x, y, origin, duration_ms } => {
                let origin = match origin {
                    Origin::Viewport => json!("viewport"),
                    Origin::Pointer => json!("pointer"),
                    Origin::Element(element) => element.to_reference(),
                };
                let mut item = json!({ "type": "pointerMove", "x": x, "y": y, "origin": origin });
                if let Some(duration) = duration_ms {
                    item["duration"] = json!(duration);
                }
                item
            }
            Self::Cancel => json!({ "type": "pointerCancel" }),
        }
    }

    fn from_object(kind: &str, item: &Map<String, Value>) -> Result<Self, FieldError> {
        let button = || get::<Option<u64>>(item, "button").map(Option::unwrap_or_default);
        match kind {
            "pause" => get(item, "duration").map(Self::Pause),
            "pointerDown" => Ok(Self::Down { button: button()?, pressure: get(item, "pressure")? }),
            "pointerUp" => Ok(Self::Up { button: button()? }),
            "pointerMove" => {
                let origin = Origin::read(item)?;
                // WebDriverAgent lets both be absent where the origin is an element.
                let offset = |key| match &origin {
                    Origin::Element(_) => {
                        get::<Option<f64>>(item, key).map(Option::unwrap_or_default)
                    }
                    _ => get(item, key),
                };
                let (x, y) = (offset("x")?, offset("y")?);
                Ok(Self::Move { x, y, origin, duration_ms: get(item, "duration")? })
            }
            "pointerCancel" => Ok(Self::Cancel),
            _ => Err(unknown_item(
                "`pause`, `pointerDown`, `pointerUp`, `pointerMove` or `pointerCancel`",
            )),
        }
    }
}

impl Origin {
    fn read(item: &Map<String, Value>) -> Result<Self, FieldError> {
        let origin = match item.get("origin").unwrap_or(&Value::Null) {
            Value::Null => Some(Self::Viewport),
            Value::String(text) if text == "viewport" => Some(Self::Viewport),
            Value::String(text) if text == "pointer" => Some(Self::Pointer),
            value => ElementId::from_reference(value).map(Self::Element),
        };
        origin.ok_or_else(|| {
            FieldError::new("must be `viewport`, `pointer` or an element").inside("origin")
        })
    }
}

impl KeyItem {
    fn to_value(&self) -> Value {
        match self {
            Self::Pause(duration) => pause(*duration),
            Self::Down(key) => json!({ "type": "keyDown", "value": key }),
            Self::Up(key) => json!({ "type": "keyUp", "value": key }),
        }
    }

    fn from_object(kind: &str, item: &Map<String, Value>) -> Result<Self, FieldError> {
        match kind {
            "pause" => get(item, "duration").map(Self::Pause),
            "keyDown" => get(item, "value").map(Self::Down),
            "keyUp" => get(item, "value").map(Self::Up),
            _ => Err(unknown_item("`pause`, `keyDown` or `keyUp`")),
        }
    }
}

/// A tap of one finger, held for `hold_ms` milliseconds.
pub fn finger_tap(x: f64, y: f64, hold_ms: u64) -> InputSource {
    let to = PointerItem::Move { x, y, origin: Origin::Viewport, duration_ms: Some(0) };
    let down = PointerItem::Down { button: 0, pressure: None };
    let items = vec![to, down, PointerItem::Pause(Some(hold_ms)), PointerItem::Up { button: 0 }];
    InputSource { id: "finger1".into(), items: InputItems::Pointer(PointerType::Touch, items) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refused(source: Value, message: &str) {
        let body = json!({ "actions": [finger_tap(1.0, 2.0, 0).to_json(), source] });
        let error = get::<Vec<InputSource>>(body.as_object().unwrap(), "actions").unwrap_err();
        assert_eq!(error.message(), message);
    }

    #[test]
    fn refusals_name_the_item() {
        refused(json!(1), "`actions[1]` must be an object");
        refused(
            json!({ "type": "wheel", "id": "w" }),
            "`actions[1].type` must be `pointer`, `key` or `none`",
        );
        refused(json!({ "type": "key" }), "`actions[1].id` is missing");
        let with = |item: Value| json!({ "type": "pointer", "id": "f", "actions": [{ "type": "pause" }, item] });
        refused(
            with(json!({ "type": "pointerMove", "y": 1 })),
            "`actions[1].actions[1].x` is missing",
        );
        refused(
            with(json!({ "type": "pointerMove", "x": 1, "y": 1, "origin": "top" })),
            "`actions[1].actions[1].origin` must be `viewport`, `pointer` or an element",
        );
        refused(
            with(json!({ "type": "keyDown" })),
            "`actions[1].actions[1].type` must be `pause`, `pointerDown`, `pointerUp`, `pointerMove` or `pointerCancel`",
        );
        let laser = json!({ "type": "pointer", "id": "f", "parameters": { "pointerType": "laser" }, "actions": [] });
        refused(laser, "`actions[1].parameters.pointerType` must be one of `mouse` `pen` `touch`");
    }

    #[test]
    fn defaults_are_w3cs() {
        let pointer = json!({ "type": "pointer", "id": "f", "actions": [
            { "type": "pointerMove", "x": 1, "y": 2 }, { "type": "pointerDown" }, { "type": "pointerUp" }
        ] });
        let source = InputSource::from_json(&pointer).unwrap();
        let items = vec![
            PointerItem::Move { x: 1.0, y: 2.0, origin: Origin::Viewport, duration_ms: None },
            PointerItem::Down { button: 0, pressure: None },
            PointerItem::Up { button: 0 },
        ];
        assert_eq!(source.items, InputItems::Pointer(PointerType::Mouse, items));
    }
}
