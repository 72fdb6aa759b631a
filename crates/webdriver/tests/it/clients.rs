//! Requests as other programs send them: facebook-wda 1.5, Appium's XCUITest driver 12 and
//! UiAutomator2 driver 8.

use serde_json::{Value, json};
use thumbwire_webdriver::{
    AppCommand, Command, DeviceCommand, Direction, ElementCommand, ElementId, GestureCommand,
    Locator, NameList, NewSession, Orientation, Point, RequestedCapabilities, ScreenCommand,
    Scroll, SessionCommand, SourceFormat, Strategy, TypedText, finger_tap,
};

use crate::samples::object;

#[track_caller]
fn reads(method: &str, target: &str, body: Value, expected: impl Into<Command>) {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let read = Command::parse(method, target, body.as_bytes()).unwrap();
    assert_eq!(read.command, expected.into());
}

fn typed(text: &str) -> TypedText {
    TypedText(text.to_owned())
}

#[test]
fn facebook_wda_is_understood() {
    let element = ElementId::new("E").unwrap();
    reads("GET", "/session/S/", json!(null), SessionCommand::Get);
    reads("DELETE", "/session/S/", json!(null), SessionCommand::Delete);
    let at = Some(Point { x: 100.0, y: 200.0 });
    for path in ["/session/S/wda/tap", "/session/S/wda/tap/0"] {
        reads(
            "POST",
            path,
            json!({ "x": 100, "y": 200 }),
            GestureCommand::Tap { element: None, at },
        );
    }
    let source = ScreenCommand::Source {
        format: Some(SourceFormat::Json),
        excluded_attributes: None,
        scope: None,
    };
    reads("GET", "/source?format=json", json!(null), source);
    let drag = GestureCommand::Drag {
        element: None,
        from_x: 1.0,
        from_y: 2.0,
        to_x: 3.0,
        to_y: 4.0,
        duration_s: 0.0,
    };
    let body = json!({ "fromX": 1, "fromY": 2, "toX": 3, "toY": 4, "duration": 0 });
    reads("POST", "/session/S/wda/dragfromtoforduration", body, drag);
    let body = json!({ "bundleId": "a.b", "arguments": [], "environment": {}, "shouldWaitForQuiescence": false });
    let launch = AppCommand::Launch {
        bundle_id: "a.b".into(),
        arguments: Some(Vec::new()),
        environment: Some(object(json!({}))),
        wait_for_quiescence: Some(false),
    };
    reads("POST", "/session/S/wda/apps/launch", body, launch);
    let keys = GestureCommand::Keys { text: typed("hi"), frequency: None };
    reads("POST", "/session/S/wda/keys", json!({ "value": ["h", "i"] }), keys);
    let set =
        ElementCommand::SetValue { element: element.clone(), text: typed("hi"), frequency: None };
    reads("POST", "/session/S/element/E/value", json!({ "value": "hi" }), set);
    let to = Scroll::By { direction: Direction::Down, distance: Some(1.0) };
    let scroll = GestureCommand::Scroll { element: Some(element.clone()), to };
    let body = json!({ "direction": "down", "distance": 1.0 });
    reads("POST", "/session/S/wda/element/E/scroll", body, scroll);
    let hold = GestureCommand::TouchAndHold { element: Some(element), at: None, duration_s: 1.0 };
    reads("POST", "/session/S/wda/element/E/touchAndHold", json!({ "duration": 1.0 }), hold);
    let alert = ScreenCommand::SetAlertText { text: typed("x") };
    reads("POST", "/session/S/alert/text", json!({ "value": "x" }), alert);
    let orientation = ScreenCommand::SetOrientation { orientation: Orientation::LandscapeRight };
    let body = json!({ "orientation": "UIA_DEVICE_ORIENTATION_LANDSCAPERIGHT" });
    reads("POST", "/session/S/orientation", body, orientation);
    let pasteboard = DeviceCommand::GetPasteboard { content_type: None };
    reads("POST", "/session/S/wda/getPasteboard", json!(null), pasteboard);
    let locator =
        Locator { using: Strategy::WdaClassChain, value: "**/XCUIElementTypeCell".into() };
    let body = json!({ "using": "class chain", "value": "**/XCUIElementTypeCell" });
    reads("POST", "/session/S/elements", body, ElementCommand::FindAll { locator });
}

#[test]
fn appiums_xcuitest_driver_is_understood() {
    let bare =
        json!({ "arguments": [], "shouldWaitForQuiescence": true, "maxTypingFrequency": 60 });
    let request = NewSession {
        capabilities: Some(RequestedCapabilities {
            always_match: object(json!({})),
            first_match: Some(vec![object(bare.clone())]),
        }),
        desired_capabilities: None,
    };
    let body = json!({ "capabilities": { "firstMatch": [bare], "alwaysMatch": {} } });
    reads("POST", "/session", body, SessionCommand::New { request });
    let body = json!({ "actions": [{
        "type": "pointer", "id": "finger1", "parameters": { "pointerType": "touch" }, "actions": [
            { "type": "pointerMove", "x": 10, "y": 20, "origin": "viewport", "duration": 0 },
            { "type": "pointerDown", "button": 0 },
            { "type": "pause", "duration": 50 },
            { "type": "pointerUp", "button": 0 },
        ],
    }] });
    let tap = GestureCommand::Perform { sources: vec![finger_tap(10.0, 20.0, 50)] };
    reads("POST", "/session/S/actions", body, tap);
    let source = ScreenCommand::Source {
        format: Some(SourceFormat::Xml),
        excluded_attributes: Some(NameList(vec!["visible".into(), "accessible".into()])),
        scope: Some("AppiumAUT".into()),
    };
    let target =
        "/session/S/source?format=xml&scope=AppiumAUT&excluded_attributes=visible%2Caccessible";
    reads("GET", target, json!(null), source);
    let press = DeviceCommand::PressButton { name: "home".into(), duration_s: None };
    reads("POST", "/session/S/wda/pressButton", json!({ "name": "home", "duration": null }), press);
    let text = json!({ "text": "hi", "value": ["h", "i"] });
    let element = ElementId::new("E").unwrap();
    let set = ElementCommand::SetValue { element, text: typed("hi"), frequency: None };
    reads("POST", "/session/S/element/E/value", text, set);
    reads("POST", "/wda/homescreen", json!({}), DeviceCommand::HomeScreen);
    reads("POST", "/session/S/wda/lock", json!(null), DeviceCommand::Lock);
    let accept = ScreenCommand::AcceptAlert { button: Some("OK".into()) };
    reads("POST", "/session/S/alert/accept", json!({ "name": "OK" }), accept);
}

#[test]
fn appiums_uiautomator2_driver_is_understood() {
    reads("GET", "/session/S/window/current/size", json!(null), ScreenCommand::WindowSize);
    let element = ElementId::new("E").unwrap();
    let click = ElementCommand::Click { element: element.clone() };
    reads("POST", "/session/S/element/E/click", json!({ "element": "E" }), click);
    let set = ElementCommand::SetValue { element, text: typed("x"), frequency: None };
    let body = json!({ "elementId": "E", "text": "x", "replace": false });
    reads("POST", "/session/S/appium/element/E/value", body, set);
}
