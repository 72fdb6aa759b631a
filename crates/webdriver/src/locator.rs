//! Locators: how an element is found.

use serde_json::{Map, Value};

use crate::field::{Body, Field, FieldError, fields, get, put};

/// How a locator's value is understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Strategy {
    /// An XPath over the XML source.
    Xpath,
    /// iOS: the name. Android: the content description.
    AccessibilityId,
    /// iOS: such as `XCUIElementTypeButton`. Android: such as `android.widget.Button`.
    ClassName,
    /// iOS: the name. Android: the resource id.
    Id,
    /// iOS: the name.
    Name,
    /// `attribute=value`; a bare value is the name (FBFindElementCommands.m).
    LinkText,
    /// Like `LinkText`, for a part of the value.
    PartialLinkText,
    /// CSS, in web contexts.
    CssSelector,
    /// Appium's name for an `NSPredicate`, such as `label BEGINSWITH 'Wi'`.
    IosPredicate,
    /// Appium's name for a class chain, such as `**/XCUIElementTypeCell[2]`.
    IosClassChain,
    /// WebDriverAgent's name for the same as [`IosPredicate`](Self::IosPredicate).
    WdaPredicate,
    /// WebDriverAgent's name for the same as [`IosClassChain`](Self::IosClassChain).
    WdaClassChain,
    /// A `UiSelector` in Java.
    AndroidUiAutomator,
    /// A strategy that is not listed here.
    Other(String),
}

static NAMES: [(Strategy, &str); 13] = [
    (Strategy::Xpath, "xpath"),
    (Strategy::AccessibilityId, "accessibility id"),
    (Strategy::ClassName, "class name"),
    (Strategy::Id, "id"),
    (Strategy::Name, "name"),
    (Strategy::LinkText, "link text"),
    (Strategy::PartialLinkText, "partial link text"),
    (Strategy::CssSelector, "css selector"),
    (Strategy::IosPredicate, "-ios predicate string"),
    (Strategy::IosClassChain, "-ios class chain"),
    (Strategy::WdaPredicate, "predicate string"),
    (Strategy::WdaClassChain, "class chain"),
    (Strategy::AndroidUiAutomator, "-android uiautomator"),
];

impl Strategy {
    /// Every named strategy.
    pub fn all() -> impl Iterator<Item = Self> {
        NAMES.iter().map(|(strategy, _)| strategy.clone())
    }

    /// As it is written in `using`.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Other(text) => text,
            known => NAMES.iter().find(|(strategy, _)| strategy == known).map_or("", |row| row.1),
        }
    }

    /// Reads `using`.
    pub fn from_text(text: &str) -> Self {
        let row = NAMES.iter().find(|(_, name)| *name == text);
        row.map_or_else(|| Self::Other(text.to_owned()), |(strategy, _)| strategy.clone())
    }
}

/// A strategy and its value: the body of the commands that find elements (W3C WebDriver, section
/// 12.3).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Locator {
    /// How the value is understood.
    pub using: Strategy,
    /// The value.
    pub value: String,
}

fields!(Locator { using: "using", value: "value" });

impl Field for Strategy {
    fn to_json(&self) -> Option<Value> {
        Some(self.as_str().into())
    }

    fn from_json(value: &Value) -> Result<Self, FieldError> {
        String::from_json(value).map(|text| Self::from_text(&text))
    }
}

/// A text to type: `text` of W3C WebDriver and `value`, a list of characters, of WebDriverAgent and
/// the JSON wire protocol. Both are written; of two the list is read, as WebDriverAgent does
/// (FBElementCommands.m).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypedText(pub String);

impl Body for TypedText {
    fn write(&self, body: &mut Map<String, Value>) {
        put(body, "text", &self.0);
        put(body, "value", &self.0.chars().map(String::from).collect::<Vec<_>>());
    }

    fn read(body: &Map<String, Value>) -> Result<Self, FieldError> {
        let problem = |error: FieldError| error.inside("value");
        match body.get("value") {
            None | Some(Value::Null) => get(body, "text").map(Self),
            Some(list @ Value::Array(_)) => {
                Vec::<String>::from_json(list).map(|pieces| Self(pieces.concat())).map_err(problem)
            }
            Some(Value::String(text)) => Ok(Self(text.clone())),
            Some(_) => Err(problem(FieldError::new("must be a text or a list of texts"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn text(body: Value) -> Result<String, String> {
        let read = TypedText::read(body.as_object().unwrap());
        read.map(|text| text.0).map_err(|error| error.message())
    }

    #[test]
    fn strategies_have_one_name_each() {
        for strategy in Strategy::all() {
            assert_eq!(Strategy::from_text(strategy.as_str()), strategy);
        }
        assert_eq!(Strategy::from_text("-image"), Strategy::Other("-image".into()));
        assert_eq!(Strategy::IosClassChain.for_webdriver_agent().as_str(), "class chain");
    }

    #[test]
    fn typed_text_is_read_in_every_form() {
        for body in [
            json!({ "text": "hé" }),
            json!({ "value": "hé" }),
            json!({ "value": ["h", "é"] }),
            json!({ "value": ["hé"], "text": "x" }),
        ] {
            assert_eq!(text(body), Ok("hé".into()));
        }
        assert_eq!(text(json!({})), Err("`text` is missing".into()));
        assert_eq!(text(json!({ "value": [1] })), Err("`value[0]` must be a text".into()));
        assert_eq!(
            text(json!({ "value": 1 })),
            Err("`value` must be a text or a list of texts".into())
        );
    }
}
