//! What is asked about one element, and done with it: `/element/ID/…`.

use super::super::gestures;
use super::super::text;
use super::super::tree::{Element, bounds_text};
use super::{Outcome, Server, device, invalid, unknown};
use serde_json::{Map, Value, json};
use std::time::Duration;
use thumbwire_virtual_phone::{Point, Rect};
use thumbwire_webdriver::{ErrorCode, WebDriverError};

/// The names of attributes that the server also knows by other names.
const OTHER_NAMES: [(&str, &str); 6] = [
    ("className", "class"),
    ("contentDescription", "content-desc"),
    ("longClickable", "long-clickable"),
    ("name", "content-desc"),
    ("resourceId", "resource-id"),
    ("visible", "displayed"),
];

/// How far the finger is from the edges of an element that it scrolls, in parts of its size.
const MARGIN: i32 = 10;

/// The element's area, without its edges.
pub(super) fn inner(bounds: &Rect) -> Rect {
    let (x, y) = (bounds.width() / MARGIN, bounds.height() / MARGIN);
    Rect::new(bounds.left + x, bounds.top + y, bounds.right - x, bounds.bottom - y)
}

impl Server {
    pub(super) async fn element(
        &self,
        method: &str,
        id: &str,
        path: &[&str],
        body: &Map<String, Value>,
    ) -> Outcome {
        let known = [
            "attribute",
            "clear",
            "click",
            "location",
            "name",
            "rect",
            "screenshot",
            "size",
            "text",
            "value",
        ];
        if path.first().is_none_or(|name| !known.contains(name)) {
            return Err(unknown(method, &[&["element", id], path].concat()));
        }
        let element = self.known(id).await?;
        let Rect { left, top, .. } = element.bounds;
        let (width, height) = (element.bounds.width(), element.bounds.height());
        match (method, path) {
            ("GET", ["attribute", name]) => attribute(&element, name),
            ("GET", ["name"]) => Ok(some(&element.description)),
            ("GET", ["text"]) => Ok(element.text.into()),
            ("GET", ["rect"]) => {
                Ok(json!({ "x": left, "y": top, "width": width, "height": height }))
            }
            ("GET", ["location"]) => Ok(json!({ "x": left, "y": top })),
            ("GET", ["size"]) => Ok(json!({ "width": width, "height": height })),
            ("GET", ["screenshot"]) => device::screenshot(&self.phone, Some(&element.bounds)).await,
            ("POST", ["click"]) => {
                gestures::press(&self.phone, element.bounds.center(), Duration::ZERO).await;
                Ok(Value::Null)
            }
            ("POST", ["clear"]) => self.set_text(&element, "", true).await,
            ("POST", ["value"]) => {
                let replace = body.get("replace").and_then(Value::as_bool).unwrap_or_default();
                let text = typed(body)?;
                self.set_text(&element, &text, replace).await
            }
            _ => Err(unknown(method, &[&["element", id], path].concat())),
        }
    }

    async fn set_text(&self, element: &Element, typed: &str, replace: bool) -> Outcome {
        // A line feed at the end presses Enter.
        let (line, enters) = match typed.strip_suffix('\n') {
            Some(line) => (line, true),
            None => (typed, false),
        };
        if !text::set_text(&self.phone, element, line, replace).await {
            let message = format!(
                "Cannot set the element to '{}'. Did you interact with the correct element?",
                thumbwire_base::truncate(line, 80)
            );
            return Err(WebDriverError::new(ErrorCode::InvalidElementState, message));
        }
        if enters {
            text::press_key(&self.phone, 66, 0).await;
        }
        Ok(Value::Null)
    }

    /// `POST /keys`: into the field that has the focus.
    pub(super) async fn type_into_focus(&self, body: &Map<String, Value>) -> Outcome {
        let (text, tree) = (typed(body)?, self.tree().await);
        let focused = tree.elements.iter().find(|it| it.flags.focused && it.is_field);
        match focused {
            Some(element) => self.set_text(element, &text, false).await,
            None => {
                let message = "no text field has the focus";
                Err(WebDriverError::new(ErrorCode::InvalidElementState, message))
            }
        }
    }

    /// `GET /appium/element/ID/first_visible`: the first child.
    pub(super) async fn first_visible(&self, id: &str) -> Outcome {
        self.known(id).await?;
        let body = json!({ "strategy": "xpath", "selector": "./*", "context": id });
        self.find(body.as_object().unwrap_or(&Map::new()), false).await
    }
}

fn some(text: &str) -> Value {
    Some(text).filter(|text| !text.is_empty()).into()
}

fn attribute(element: &Element, name: &str) -> Outcome {
    let known =
        OTHER_NAMES.iter().find(|(other, _)| *other == name).map_or(name, |(_, known)| known);
    if known == "contentSize" {
        let Rect { left, top, right, bottom } = element.bounds;
        let (width, height) = (element.bounds.width(), element.bounds.height());
        let size = json!({
            "left": left, "top": top, "width": width, "height": height,
            "scrollableOffset": 0, "touchPadding": 0, "bottom": bottom, "right": right,
        });
        return Ok(size.to_string().into());
    }
    match super::super::tree::ATTRIBUTES.contains(&known) {
        true if known == "bounds" => Ok(bounds_text(&element.bounds).into()),
        true => Ok(element.attribute(known).into()),
        false => {
            let name = thumbwire_base::truncate(name, 80).to_string();
            let known = super::super::tree::ATTRIBUTES.join(", ");
            Err(invalid(&format!("'{name}' attribute is unknown here; known are {known}")))
        }
    }
}

/// The text of a body: `text`, or characters in `value`.
fn typed(body: &Map<String, Value>) -> Result<String, WebDriverError> {
    let text = match (body.get("text"), body.get("value")) {
        (Some(Value::String(text)), _) | (_, Some(Value::String(text))) => Some(text.clone()),
        (_, Some(Value::Array(list))) => list.iter().map(Value::as_str).collect(),
        _ => None,
    };
    text.ok_or_else(|| invalid("`text` must be a string"))
}

/// A point relative to an area; its middle if there is none.
pub(super) fn point_in(area: &Rect, offset: Option<(f64, f64)>) -> Point {
    match offset {
        None => area.center(),
        Some((x, y)) => Point { x: area.left + x as i32, y: area.top + y as i32 },
    }
}
