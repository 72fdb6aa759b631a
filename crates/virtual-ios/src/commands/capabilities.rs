//! The capabilities of a new session by WebDriverAgent's rules (FBProtocolHelpers.m).

use serde_json::{Map, Value};
use thumbwire_webdriver::{
    Capabilities, ErrorCode, NewSession, RequestedCapabilities, WebDriverError,
};

/// Names that may not have the prefix `appium:`.
const STANDARD: [&str; 12] = [
    "acceptInsecureCerts",
    "browserName",
    "browserVersion",
    "platformName",
    "pageLoadStrategy",
    "proxy",
    "setWindowRect",
    "strictFileInteractability",
    "timeouts",
    "unhandledPromptBehavior",
    "userAgent",
    "webSocketUrl",
];

/// What is always needed, with the first alternative that does not contradict it.
///
/// # Errors
/// `session not created`: there are no capabilities, a standard one has the prefix `appium:`, or
/// every alternative names what is always needed again.
pub(super) fn merge_capabilities(request: &NewSession) -> Result<Capabilities, WebDriverError> {
    let refused = |message: String| WebDriverError::new(ErrorCode::SessionNotCreated, message);
    let requested = match (&request.capabilities, &request.desired_capabilities) {
        (Some(requested), _) => requested.clone(),
        (None, Some(desired)) => {
            RequestedCapabilities { always_match: desired.clone(), first_match: None }
        }
        (None, None) => return Err(refused("`capabilities` is missing".into())),
    };
    let always = without_prefix(&requested.always_match, "alwaysMatch").map_err(refused)?;
    let alternatives = requested.first_match.filter(|all| !all.is_empty());
    let mut conflict = None;
    for (at, alternative) in alternatives.unwrap_or_else(|| vec![Map::new()]).iter().enumerate() {
        let part = format!("firstMatch[{at}]");
        let alternative = without_prefix(alternative, &part).map_err(refused)?;
        match alternative.keys().find(|name| always.contains_key(*name)) {
            None => return Ok(Capabilities(always.into_iter().chain(alternative).collect())),
            Some(name) => {
                let message = format!("`capabilities.{part}.{name}` is in `alwaysMatch` too");
                conflict.get_or_insert(message);
            }
        }
    }
    Err(refused(conflict.unwrap_or_default()))
}

/// A part of the request without the prefix `appium:` of its names. `null` counts as absent.
fn without_prefix(part: &Map<String, Value>, name: &str) -> Result<Map<String, Value>, String> {
    let mut bare = Map::new();
    for (key, value) in part.iter().filter(|(_, value)| !value.is_null()) {
        let short = key.strip_prefix("appium:");
        if let Some(short) = short.filter(|short| STANDARD.contains(short)) {
            return Err(format!(
                "`capabilities.{name}.{key}` is a standard capability; write `{short}`"
            ));
        }
        bare.insert(short.unwrap_or(key).to_owned(), value.clone());
    }
    Ok(bare)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn merged(always: Value, first: Option<Value>) -> Result<Value, WebDriverError> {
        let object = |value: &Value| value.as_object().unwrap().clone();
        let first_match = first.map(|all| all.as_array().unwrap().iter().map(object).collect());
        let capabilities =
            Some(RequestedCapabilities { always_match: object(&always), first_match });
        let request = NewSession { capabilities, desired_capabilities: None };
        merge_capabilities(&request).map(|all| Value::Object(all.0))
    }

    #[test]
    fn bare_and_prefixed_names_are_taken() {
        let always = json!({ "bundleId": "a.b", "appium:udid": "x", "other": null });
        assert_eq!(merged(always, None).unwrap(), json!({ "bundleId": "a.b", "udid": "x" }));
        let error = merged(json!({ "appium:platformName": "iOS" }), None).unwrap_err();
        assert!(error.message.ends_with("write `platformName`"), "{error}");
    }

    #[test]
    fn conflicting_alternative_is_skipped() {
        let first = json!([{ "a": 2 }, { "b": 3 }]);
        assert_eq!(
            merged(json!({ "appium:a": 1 }), Some(first)).unwrap(),
            json!({ "a": 1, "b": 3 })
        );
        let refused = merged(json!({ "a": 1 }), Some(json!([{ "a": 2 }]))).unwrap_err();
        assert_eq!(refused.code, ErrorCode::SessionNotCreated);
        let none = merge_capabilities(&NewSession::default()).unwrap_err();
        assert_eq!(none.message, "`capabilities` is missing");
    }
}
