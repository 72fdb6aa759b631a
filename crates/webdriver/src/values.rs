//! Small values that commands, responses and sources share. Lengths are points of iOS, or pixels on
//! Android.

use serde_json::{Map, Value};

use crate::field::{Body, Field, FieldError, fields};

/// A position.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// From the left.
    pub x: f64,
    /// From the top.
    pub y: f64,
}

/// Width and height.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Size {
    /// Width.
    pub width: f64,
    /// Height.
    pub height: f64,
}

/// A rectangle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rect {
    /// The left edge; negative if it is outside the screen.
    pub x: f64,
    /// The top edge; negative if it is outside the screen.
    pub y: f64,
    /// Width.
    pub width: f64,
    /// Height.
    pub height: f64,
}

fields!(Point { x: "x", y: "y" });
fields!(Size { width: "width", height: "height" });
fields!(Rect { x: "x", y: "y", width: "width", height: "height" });

/// Absent if neither `x` nor `y` is there.
impl Body for Option<Point> {
    fn write(&self, body: &mut Map<String, Value>) {
        if let Some(point) = self {
            point.write(body);
        }
    }

    fn read(body: &Map<String, Value>) -> Result<Self, FieldError> {
        let absent = |key| body.get(key).is_none_or(Value::is_null);
        if absent("x") && absent("y") {
            return Ok(None);
        }
        Point::read(body).map(Some)
    }
}

macro_rules! named_values {
    ($(#[$doc:meta])* $name:ident { $( $(#[$value_doc:meta])* $value:ident = $text:literal, )+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $name { $( $(#[$value_doc])* $value, )+ }

        impl $name {
            /// As it is written in JSON.
            pub fn as_str(self) -> &'static str {
                match self { $( Self::$value => $text, )+ }
            }

            /// Reads it in upper or lower case; `None` if it is unknown.
            pub fn from_text(text: &str) -> Option<Self> {
                let all = [$( Self::$value, )+];
                all.into_iter().find(|value| value.as_str().eq_ignore_ascii_case(text))
            }
        }

        impl Field for $name {
            fn to_json(&self) -> Option<Value> {
                Some(Value::from(self.as_str()))
            }

            fn from_json(value: &Value) -> Result<Self, FieldError> {
                let known = value.as_str().and_then(Self::from_text);
                known.ok_or_else(|| FieldError::new(concat!("must be one of", $( " `", $text, "`", )+)))
            }
        }
    };
}
pub(crate) use named_values;

named_values! {
    /// Where a swipe or scroll goes.
    Direction {
        /// Towards the top.
        Up = "up",
        /// Towards the bottom.
        Down = "down",
        /// Towards the left.
        Left = "left",
        /// Towards the right.
        Right = "right",
    }
}

named_values! {
    /// How the screen is turned. WebDriverAgent reports only the first two and takes all four
    /// (FBOrientationCommands.m).
    Orientation {
        /// Upright.
        Portrait = "PORTRAIT",
        /// The home button is on the right.
        Landscape = "LANDSCAPE",
        /// The home button is on the left.
        LandscapeRight = "UIA_DEVICE_ORIENTATION_LANDSCAPERIGHT",
        /// Upside down.
        PortraitUpsideDown = "UIA_DEVICE_ORIENTATION_PORTRAIT_UPSIDEDOWN",
    }
}

named_values! {
    /// The form of a source. WebDriverAgent writes XML unless told otherwise (FBDebugCommands.m).
    SourceFormat {
        /// Elements named by their types, as XCUITest writes them.
        Xml = "xml",
        /// WebDriverAgent's objects.
        Json = "json",
        /// XCTest's own text, for people.
        Description = "description",
    }
}

/// Bytes that travel as Base64, such as a clipboard's content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Base64(pub Vec<u8>);

impl Base64 {
    /// As it is sent.
    pub fn to_text(&self) -> String {
        use base64::Engine as _;
        base64::engine::general_purpose::STANDARD.encode(&self.0)
    }
}

impl Field for Base64 {
    fn to_json(&self) -> Option<Value> {
        Some(Value::from(self.to_text()))
    }

    /// White space is skipped, because Android's encoder breaks lines.
    fn from_json(value: &Value) -> Result<Self, FieldError> {
        use base64::Engine as _;
        let text = value.as_str().ok_or_else(|| FieldError::new("must be a text"))?;
        let text: String = text.split_ascii_whitespace().collect();
        let bytes = base64::engine::general_purpose::STANDARD.decode(text);
        bytes.map(Self).map_err(|_| FieldError::new("must be Base64"))
    }
}

/// Names joined by commas, as in the query of `GET /source`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NameList(pub Vec<String>);

impl Field for NameList {
    fn to_json(&self) -> Option<Value> {
        Some(Value::from(self.0.join(",")))
    }

    fn from_json(value: &Value) -> Result<Self, FieldError> {
        let text = value.as_str().ok_or_else(|| FieldError::new("must be a text"))?;
        let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
        Ok(Self(names.map(str::to_owned).collect()))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn point_needs_both_coordinates_or_none() {
        let read = |value: Value| <Option<Point>>::read(value.as_object().unwrap());
        assert_eq!(read(json!({})), Ok(None));
        assert_eq!(read(json!({ "x": 1, "y": 2.5 })), Ok(Some(Point { x: 1.0, y: 2.5 })));
        assert_eq!(read(json!({ "x": 1 })).unwrap_err().message(), "`y` is missing");
    }

    #[test]
    fn names_are_read_in_any_case() {
        assert_eq!(SourceFormat::from_text("JSON"), Some(SourceFormat::Json));
        assert_eq!(Orientation::from_text("landscape"), Some(Orientation::Landscape));
        assert_eq!(
            Direction::from_json(&json!("north")).unwrap_err().message(),
            "the body must be one of `up` `down` `left` `right`"
        );
    }

    #[test]
    fn base64_may_have_line_breaks() {
        assert_eq!(Base64::from_json(&json!("aGVs\nbG8=\n")), Ok(Base64(b"hello".to_vec())));
        assert!(Base64::from_json(&json!("aGVsbG8")).is_err());
    }
}
