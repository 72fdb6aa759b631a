//! What a client wants of a session, and what it got (W3C WebDriver, section 7).
//!
//! A server [`merges`](NewSession::merge) a request into candidates and takes the first that [`match`](Capabilities::matches)
//! what it can do; [`select`](NewSession::select) does both.

use serde_json::{Map, Value};

use crate::error::{ErrorCode, WebDriverError};
use crate::field::{Body, FieldError, get, object, put};
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

    /// The same, if it is a text.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.get(name)?.as_str()
    }

    /// Reads a JSON object of capabilities, by W3C's rules.
    ///
    /// # Errors
    /// `invalid argument`: it is not JSON or not an object, a name needs a prefix, a value has the wrong type. The message has
    /// no values.
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
        let all = checked(&all, CapabilityRules::W3c).map_err(|error| refused(error.message()))?;
        Ok(Self(all))
    }

    /// Sets a capability that is not there, under this name with its prefix.
    pub fn set_default(&mut self, name: &str, value: impl Into<Value>) {
        let bare = name.strip_prefix("appium:").unwrap_or(name);
        if self.get(bare).is_none() {
            self.0.insert(name.to_owned(), value.into());
        }
    }

    /// Whether a session that has `offered` fulfils them. Standard capabilities that the offer has must be equal, whatever the
    /// case of `platformName`; `browserName`, `browserVersion`, `platformName`, `proxy` and a true `acceptInsecureCerts` or
    /// `webSocketUrl` must be offered. Those with a prefix are for the driver to judge, and match here.
    pub fn matches(&self, offered: &Self) -> bool {
        self.0.iter().all(|(name, value)| match offered.0.get(name) {
            _ if !is_standard(name) => true,
            Some(offer) if name == "platformName" => {
                let lower = |value: &Value| value.as_str().map(str::to_lowercase);
                lower(offer) == lower(value)
            }
            Some(offer) => offer == value,
            None => match name.as_str() {
                "browserName" | "browserVersion" | "platformName" | "proxy" => false,
                "acceptInsecureCerts" | "webSocketUrl" => *value == Value::Bool(false),
                _ => true,
            },
        })
    }
}

/// How strictly a request's capabilities are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CapabilityRules {
    /// As W3C WebDriver and Appium: names without a prefix must be standard, values must have the right type.
    W3c,
    /// As WebDriverAgent (FBProtocolHelpers.m): any name and value; `appium:` is removed.
    WebDriverAgent,
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
    /// What is needed in any case.
    pub always_match: Map<String, Value>,
    /// Alternatives, the best first; `None` if the client names none.
    pub first_match: Option<Vec<Map<String, Value>>>,
}

impl NewSession {
    /// A request for these capabilities. The names get no prefix: write `appium:udid` for Appium, `bundleId` for
    /// WebDriverAgent.
    pub fn new(capabilities: Map<String, Value>) -> Self {
        let requested = RequestedCapabilities { always_match: capabilities, first_match: None };
        Self { capabilities: Some(requested), desired_capabilities: None }
    }

    /// The candidates, the best first ("capabilities processing").
    ///
    /// # Errors
    /// `invalid argument`, or `session not created` by WebDriverAgent's rules: no `capabilities`, an empty `firstMatch`, a
    /// name in both parts, a name without the prefix that it needs, a value of the wrong type.
    pub fn merge(&self, rules: CapabilityRules) -> Result<Vec<Capabilities>, WebDriverError> {
        let code = match rules {
            CapabilityRules::W3c => ErrorCode::InvalidArgument,
            CapabilityRules::WebDriverAgent => ErrorCode::SessionNotCreated,
        };
        self.candidates(rules).map_err(|error| WebDriverError::new(code, error.message()))
    }

    /// The first candidate that a server with `offered` can fulfil ("matching capabilities").
    ///
    /// # Errors
    /// Those of [`merge`](Self::merge), and `session not created` if none matches.
    pub fn select(
        &self,
        rules: CapabilityRules,
        offered: &Capabilities,
    ) -> Result<Capabilities, WebDriverError> {
        let mut candidates = self.merge(rules)?.into_iter();
        candidates.find(|candidate| candidate.matches(offered)).ok_or_else(|| {
            WebDriverError::new(
                ErrorCode::SessionNotCreated,
                "no requested capabilities match what this server offers",
            )
        })
    }

    fn candidates(&self, rules: CapabilityRules) -> Result<Vec<Capabilities>, FieldError> {
        let requested = self.capabilities.as_ref();
        let requested =
            requested.ok_or_else(|| FieldError::new("is missing").inside("capabilities"))?;
        let inside = |error: FieldError, part: &str| error.inside(part).inside("capabilities");
        let always = checked(&requested.always_match, rules)
            .map_err(|error| inside(error, "alwaysMatch"))?;
        let alternatives = match requested.first_match.as_deref() {
            Some([]) if rules == CapabilityRules::W3c => {
                return Err(inside(FieldError::new("must not be empty"), "firstMatch"));
            }
            None | Some([]) => &[Map::new()],
            Some(alternatives) => alternatives,
        };
        let mut candidates = Vec::new();
        let mut conflict = None;
        for (at, alternative) in alternatives.iter().enumerate() {
            let inside = |error: FieldError| inside(error.at(at), "firstMatch");
            let alternative = checked(alternative, rules).map_err(inside)?;
            match alternative.keys().find(|name| always.contains_key(*name)) {
                None => {
                    let all = always.iter().chain(&alternative);
                    candidates.push(Capabilities(
                        all.map(|(name, value)| (name.clone(), value.clone())).collect(),
                    ));
                }
                Some(name) => {
                    let error = inside(FieldError::new("is in `alwaysMatch` too").inside(name));
                    match rules {
                        CapabilityRules::W3c => return Err(error),
                        CapabilityRules::WebDriverAgent => _ = conflict.get_or_insert(error),
                    }
                }
            }
        }
        match conflict {
            Some(error) if candidates.is_empty() => Err(error),
            _ => Ok(candidates),
        }
    }
}

impl Body for NewSession {
    fn write(&self, body: &mut Map<String, Value>) {
        if let Some(requested) = &self.capabilities {
            let mut capabilities = Map::new();
            put(&mut capabilities, "alwaysMatch", &requested.always_match);
            put(&mut capabilities, "firstMatch", &requested.first_match);
            body.insert("capabilities".into(), Value::Object(capabilities));
        }
        put(body, "desiredCapabilities", &self.desired_capabilities);
    }

    fn read(body: &Map<String, Value>) -> Result<Self, FieldError> {
        let requested = body.get("capabilities").filter(|value| !value.is_null());
        let requested = requested.map(|value| {
            let parts = object(value)?;
            let always: Option<Map<String, Value>> = get(parts, "alwaysMatch")?;
            let first_match = get(parts, "firstMatch")?;
            Ok(RequestedCapabilities { always_match: always.unwrap_or_default(), first_match })
        });
        let requested =
            requested.transpose().map_err(|error: FieldError| error.inside("capabilities"))?;
        Ok(Self {
            capabilities: requested,
            desired_capabilities: get(body, "desiredCapabilities")?,
        })
    }
}

/// One part of a request by the rules; names whose value is `null` are left out.
fn checked(
    part: &Map<String, Value>,
    rules: CapabilityRules,
) -> Result<Map<String, Value>, FieldError> {
    let mut checked = Map::new();
    for (name, value) in part.iter().filter(|(_, value)| !value.is_null()) {
        let bare = name.strip_prefix("appium:");
        if let Some(bare) = bare.filter(|bare| is_standard(bare)) {
            return Err(
                FieldError::new(format!("is a standard capability; write `{bare}`")).inside(name)
            );
        }
        match rules {
            CapabilityRules::WebDriverAgent => {
                checked.insert(bare.unwrap_or(name).to_owned(), value.clone())
            }
            CapabilityRules::W3c => {
                let standard = STANDARD.iter().find(|(standard, _)| standard == name);
                let result = match standard {
                    Some((_, check)) => check(value).map_err(FieldError::new),
                    None if name.contains(':') => Ok(()),
                    None => Err(FieldError::new(format!(
                        "is not a standard capability; write `appium:{name}`"
                    ))),
                };
                result.map_err(|error| error.inside(name))?;
                checked.insert(name.clone(), value.clone())
            }
        };
    }
    Ok(checked)
}

fn is_standard(name: &str) -> bool {
    STANDARD.iter().any(|(standard, _)| *standard == name)
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn request(body: Value) -> NewSession {
        NewSession::read(body.as_object().unwrap()).unwrap()
    }

    fn w3c(capabilities: Value) -> Result<Value, String> {
        let merged = request(json!({ "capabilities": capabilities })).merge(CapabilityRules::W3c);
        merged
            .map(|all| all.into_iter().map(|one| Value::Object(one.0)).collect())
            .map_err(|error| error.message)
    }

    #[test]
    fn alternatives_are_merged_with_what_is_always_needed() {
        let capabilities = json!({
            "alwaysMatch": { "platformName": "iOS", "appium:udid": null },
            "firstMatch": [{ "appium:automationName": "XCUITest" }, {}],
        });
        let merged = json!([{ "platformName": "iOS", "appium:automationName": "XCUITest" }, { "platformName": "iOS" }]);
        assert_eq!(w3c(capabilities), Ok(merged));
        assert_eq!(w3c(json!({})), Ok(json!([{}])));
    }

    #[test]
    fn wrong_requests_are_refused_by_field() {
        let refused =
            |capabilities: Value, message: &str| assert_eq!(w3c(capabilities), Err(message.into()));
        refused(
            json!({ "alwaysMatch": { "deviceName": "x" } }),
            "`capabilities.alwaysMatch.deviceName` is not a standard capability; write `appium:deviceName`",
        );
        refused(
            json!({ "firstMatch": [{}, { "appium:platformName": "iOS" }] }),
            "`capabilities.firstMatch[1].appium:platformName` is a standard capability; write `platformName`",
        );
        refused(json!({ "firstMatch": [] }), "`capabilities.firstMatch` must not be empty");
        refused(
            json!({ "alwaysMatch": { "browserName": "a" }, "firstMatch": [{ "browserName": "a" }] }),
            "`capabilities.firstMatch[0].browserName` is in `alwaysMatch` too",
        );
        for (name, value) in [
            ("acceptInsecureCerts", json!(1)),
            ("platformName", json!(1)),
            ("pageLoadStrategy", json!("fast")),
            ("timeouts", json!({ "implicit": "x" })),
            ("unhandledPromptBehavior", json!("panic")),
            ("proxy", json!("x")),
        ] {
            let error = w3c(json!({ "alwaysMatch": { name: value } })).unwrap_err();
            assert!(error.starts_with(&format!("`capabilities.alwaysMatch.{name}` ")), "{error}");
        }
        let none =
            request(json!({ "desiredCapabilities": {} })).merge(CapabilityRules::W3c).unwrap_err();
        assert_eq!(
            (none.code, none.message.as_str()),
            (ErrorCode::InvalidArgument, "`capabilities` is missing")
        );
    }

    #[test]
    fn webdriveragent_takes_bare_names() {
        // What facebook-wda sends.
        let bare = request(json!({
            "capabilities": { "alwaysMatch": { "bundleId": "a.b", "shouldWaitForQuiescence": false } },
            "desiredCapabilities": { "bundleId": "a.b" },
        }));
        let merged = bare.merge(CapabilityRules::WebDriverAgent).unwrap();
        assert_eq!(merged[0].text("bundleId"), Some("a.b"));
        // A conflicting alternative is skipped.
        let conflict =
            json!({ "alwaysMatch": { "appium:a": 1 }, "firstMatch": [{ "a": 2 }, { "b": 3 }] });
        let merged = request(json!({ "capabilities": conflict }))
            .merge(CapabilityRules::WebDriverAgent)
            .unwrap();
        assert_eq!(merged, [Capabilities(json!({ "a": 1, "b": 3 }).as_object().unwrap().clone())]);
        let only = json!({ "alwaysMatch": { "a": 1 }, "firstMatch": [{ "a": 2 }] });
        let refused = request(json!({ "capabilities": only }))
            .merge(CapabilityRules::WebDriverAgent)
            .unwrap_err();
        assert_eq!(refused.code, ErrorCode::SessionNotCreated);
    }

    #[test]
    fn first_candidate_that_matches_is_selected() {
        let offered = Capabilities(
            json!({ "platformName": "iOS", "browserName": "" }).as_object().unwrap().clone(),
        );
        let select = |capabilities: Value| {
            request(json!({ "capabilities": capabilities })).select(CapabilityRules::W3c, &offered)
        };
        let two = json!({ "firstMatch": [{ "platformName": "Android" }, { "platformName": "ios", "appium:udid": "x" }] });
        assert_eq!(select(two).unwrap().text("udid"), Some("x"));
        for wrong in [
            json!({ "browserName": "Safari" }),
            json!({ "acceptInsecureCerts": true }),
            json!({ "proxy": {} }),
        ] {
            let error = select(json!({ "alwaysMatch": wrong })).unwrap_err();
            assert_eq!(error.code, ErrorCode::SessionNotCreated);
        }
        for fine in [
            json!({ "acceptInsecureCerts": false }),
            json!({ "pageLoadStrategy": "eager" }),
            json!({ "x:y": 1 }),
        ] {
            assert!(select(json!({ "alwaysMatch": fine })).is_ok());
        }
    }
}
