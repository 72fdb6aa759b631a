//! Capabilities as an operator writes them.

use serde_json::json;
use thumbwire_webdriver::{Capabilities, ErrorCode};

#[test]
fn capabilities_are_read_by_w3cs_rules() {
    let mut read =
        Capabilities::parse(r#"{"platformName":"iOS","appium:udid":"U","x:y":null}"#).unwrap();
    assert_eq!(read.text("udid"), Some("U"));
    read.set_default("appium:udid", "other");
    read.set_default("platformName", "Android");
    read.set_default("appium:noReset", true);
    let expected = json!({ "platformName": "iOS", "appium:udid": "U", "appium:noReset": true });
    assert_eq!(serde_json::Value::Object(read.0), expected);
}

#[test]
fn mistakes_are_named_without_values() {
    for (text, says) in [
        ("{secret", "not JSON: line 1, column 2"),
        ("[\"secret\"]", "must be a JSON object"),
        (r#"{"udid":"secret"}"#, "write `appium:udid`"),
        (r#"{"appium:platformName":"secret"}"#, "write `platformName`"),
        (r#"{"platformName":["secret"]}"#, "`platformName` must be a text"),
        (r#"{"acceptInsecureCerts":1}"#, "`acceptInsecureCerts` must be true or false"),
        (r#"{"pageLoadStrategy":"fast"}"#, "`pageLoadStrategy` must be `none`"),
        (r#"{"timeouts":{"implicit":"secret"}}"#, "`timeouts` must be an object of milliseconds"),
        (r#"{"unhandledPromptBehavior":"panic"}"#, "`unhandledPromptBehavior` is not a known"),
        (r#"{"proxy":"secret"}"#, "`proxy` must be an object"),
    ] {
        let error = Capabilities::parse(text).unwrap_err();
        assert_eq!(error.code, ErrorCode::InvalidArgument);
        assert!(error.message.contains(says) && !error.message.contains("secret"), "{error}");
    }
}
