//! The capabilities that a client requests, and those of its session (W3C WebDriver, section 7).

use serde_json::{Map, Value};

use crate::error::{ErrorCode, WebDriverError};
use crate::field::{Body, FieldError, fields};
use crate::timeouts::Timeouts;

/// Fails with what the value must be.
type Check = fn(&Value) -> Result<(), &'static str>;

/// Names that need no prefix, with a check of their values.
const STANDARD: [(&str, Check); 12] = [
    ("acceptInsecureCerts", boolean),
    ("browserName", text),
    ("browserVersion", text),
    ("platformName", text),
    ("pageLoadStrategy", page_load_strategy),
    ("proxy", any_object),
    ("setWindowRect", boolean),
    ("strictFileInteractability", boolean),
    ("timeouts", timeouts),
    ("unhandledPromptBehavior", prompt_behavior),
    ("userAgent", text),
    ("webSocketUrl", boolean_or_text),
];

/// Capabilities by name.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Capabilities(pub Map<String, Value>);

impl Capabilities {
    /// The value of a capability, by its name without `appium:`. With the prefix it counts first.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(&format!("appium:{name}")).or_else(|| self.0.get(name))
    }

    /// The value of a capability, if it is a text.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.get(name)?.as_str()
    }

    /// Reads a JSON object of capabilities, by W3C's rules.
    ///
    /// # Errors
    /// `invalid argument`: it is not JSON or not an object, a name needs a prefix, a value has the
    /// wrong type. The message has no values.
    pub fn parse(json: &str) -> Result<Self, WebDriverError> {
        let refused = |message: String| WebDriverError::new(ErrorCode::InvalidArgument, message);
        let value: Value = serde_json::from_str(json).map_err(|error| {
            refused(format!(
                "the capabilities are not JSON: line {}, column {}",
                error.line(),
                error.column()
            ))
        })?;
        let Value::Object(all) = value else {
            return Err(refused("the capabilities must be a JSON object".into()));
        };
        let all = checked(&all).map_err(|error| refused(error.message()))?;
        Ok(Self(all))
    }

    /// Sets a capability that is not there, under this name with its prefix.
    pub fn set_default(&mut self, name: &str, value: impl Into<Value>) {
        let bare = name.strip_prefix("appium:").unwrap_or(name);
        if self.get(bare).is_none() {
            self.0.insert(name.to_owned(), value.into());
        }
    }
}

/// The body of `POST /session`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NewSession {
    /// W3C's `capabilities`; `None` if the client speaks only the JSON wire protocol.
    pub capabilities: Option<RequestedCapabilities>,
    /// The JSON wire protocol's `desiredCapabilities`, which old WebDriverAgents read.
    pub desired_capabilities: Option<Map<String, Value>>,
}

/// W3C's two parts of a request.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RequestedCapabilities {
    /// Required in any case.
    pub always_match: Map<String, Value>,
    /// Alternatives, the best first; `None` if the client names none.
    pub first_match: Option<Vec<Map<String, Value>>>,
}

impl NewSession {
    /// A request for these capabilities. The names get no prefix: write `appium:udid` for Appium,
    /// `bundleId` for WebDriverAgent.
    pub fn new(capabilities: Map<String, Value>) -> Self {
        let requested = RequestedCapabilities { always_match: capabilities, first_match: None };
        Self { capabilities: Some(requested), desired_capabilities: None }
    }
}

fields!(NewSession { capabilities: "capabilities", desired_capabilities: "desiredCapabilities" });
fields!(RequestedCapabilities { always_match: "alwaysMatch" default, first_match: "firstMatch" });

/// Capabilities by W3C's rules: names without a prefix must be standard, values must have the right
/// type. Names whose value is `null` are left out.
fn checked(part: &Map<String, Value>) -> Result<Map<String, Value>, FieldError> {
    let mut checked = Map::new();
    for (name, value) in part.iter().filter(|(_, value)| !value.is_null()) {
        let result = match (name.strip_prefix("appium:"), standard(name)) {
            (Some(bare), _) if standard(bare).is_some() => {
                Err(FieldError::new(format!("is a standard capability; write `{bare}`")))
            }
            (_, Some(check)) => check(value).map_err(FieldError::new),
            (_, None) if name.contains(':') => Ok(()),
            (_, None) => {
                Err(FieldError::new(format!("is not a standard capability; write `appium:{name}`")))
            }
        };
        result.map_err(|error| error.inside(name))?;
        checked.insert(name.clone(), value.clone());
    }
    Ok(checked)
}

/// The check of a standard capability's value; `None` for another name.
fn standard(name: &str) -> Option<Check> {
    STANDARD.iter().find(|(standard, _)| *standard == name).map(|(_, check)| *check)
}

fn boolean(value: &Value) -> Result<(), &'static str> {
    value.is_boolean().then_some(()).ok_or("must be true or false")
}

fn text(value: &Value) -> Result<(), &'static str> {
    value.is_string().then_some(()).ok_or("must be a text")
}

fn boolean_or_text(value: &Value) -> Result<(), &'static str> {
    boolean(value).or_else(|_| text(value)).map_err(|_| "must be true, false or a text")
}

fn any_object(value: &Value) -> Result<(), &'static str> {
    value.is_object().then_some(()).ok_or("must be an object")
}

fn page_load_strategy(value: &Value) -> Result<(), &'static str> {
    let known = matches!(value.as_str(), Some("none" | "eager" | "normal"));
    known.then_some(()).ok_or("must be `none`, `eager` or `normal`")
}

fn timeouts(value: &Value) -> Result<(), &'static str> {
    let read = value.as_object().map(<Timeouts as Body>::read);
    read.is_some_and(|read| read.is_ok()).then_some(()).ok_or("must be an object of milliseconds")
}

/// A text in the first level of WebDriver, in the second also an object of texts by kind of prompt.
fn prompt_behavior(value: &Value) -> Result<(), &'static str> {
    const KNOWN: [&str; 5] =
        ["dismiss", "accept", "dismiss and notify", "accept and notify", "ignore"];
    let known = |value: &Value| value.as_str().is_some_and(|text| KNOWN.contains(&text));
    let all_known = value.as_object().is_some_and(|kinds| kinds.values().all(known));
    (known(value) || all_known).then_some(()).ok_or("is not a known behavior")
}
