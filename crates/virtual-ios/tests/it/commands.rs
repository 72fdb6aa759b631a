//! Sessions, apps, typing, alerts and errors by HTTP requests.

use serde_json::{Value, json};

use crate::client::Served;

#[tokio::test]
async fn status_has_no_session_until_one_begins() {
    let served = Served::new().await;
    let (_, status) = served.send("GET", "/status", &Value::Null).await;
    assert_eq!(
        (&status["sessionId"], &status["value"]["os"]["name"]),
        (&Value::Null, &json!("iOS"))
    );
    let session = served.session("com.apple.Preferences").await;
    let (_, status) = served.send("GET", "/status", &Value::Null).await;
    assert_eq!(format!("/session/{}", status["sessionId"].as_str().unwrap()), session);
    let app = served.value("GET", "/wda/activeAppInfo", Value::Null).await;
    assert_eq!(app["bundleId"], "com.apple.Preferences");
}

#[tokio::test]
async fn errors_are_webdriveragents() {
    let served = Served::new().await;
    let gone = served.error("GET", "/session/X/source", Value::Null).await;
    assert_eq!(gone, (404, "invalid session id".to_owned()));
    let old = served.session("com.apple.Preferences").await;
    let session = served.session("com.apple.Preferences").await;
    assert_eq!(
        served.error("GET", &old, Value::Null).await.1,
        "invalid session id",
        "a new one replaces it"
    );
    for (method, path, body, error) in [
        ("GET", "/weather", json!({}), "unknown command"),
        ("POST", "/back", json!({}), "unknown command"),
        ("GET", "/url", json!({}), "unknown command"),
        ("GET", "/alert/text", json!({}), "no such alert"),
        ("POST", "/wda/keys", json!({ "value": ["x"] }), "invalid element state"),
        ("POST", "/wda/pressButton", json!({ "name": "back" }), "invalid argument"),
        ("POST", "/wda/tap", json!({ "x": 1 }), "invalid argument"),
        (
            "POST",
            "/wda/apps/launch",
            json!({ "bundleId": "com.example.nothing" }),
            "invalid argument",
        ),
        ("POST", "/url", json!({ "url": "nobody://x" }), "unknown error"),
        (
            "POST",
            "/element",
            json!({ "using": "name", "value": "No such thing" }),
            "no such element",
        ),
        ("GET", "/element/E/text", json!({}), "stale element reference"),
        (
            "POST",
            "/wda/touchAndHold",
            json!({ "x": 1, "y": 1, "duration": -1 }),
            "invalid argument",
        ),
        ("POST", "/actions", json!({ "actions": [] }), "invalid argument"),
        (
            "POST",
            "/actions",
            json!({ "actions": [{ "type": "none", "id": "n", "actions":
                [{ "type": "pause", "duration": 1_000_000_000_000_000_u64 }] }] }),
            "invalid argument",
        ),
    ] {
        let (_, found) = served.error(method, &format!("{session}{path}"), body).await;
        assert_eq!(found, error, "{method} {path}");
    }
}

#[tokio::test]
async fn text_is_typed_into_the_field_with_the_keyboard() {
    let served = Served::new().await;
    let session = served.session("com.example.bank").await;
    let field = served.find(&session, "class name", "XCUIElementTypeTextField").await;
    let placeholder = served.value("GET", &format!("{field}/attribute/value"), Value::Null).await;
    assert_eq!(placeholder, "Customer number", "an empty field's value is its placeholder");
    served
        .value("POST", &format!("{field}/value"), json!({ "value": ["4", "2", "é", "😀"] }))
        .await;
    assert_eq!(served.value("GET", &format!("{field}/text"), Value::Null).await, "42é😀");
    served.value("POST", &format!("{session}/wda/keys"), json!({ "value": ["\u{8}", "7"] })).await;
    assert_eq!(served.value("GET", &format!("{field}/text"), Value::Null).await, "42é7");
    let active = served.value("GET", &format!("{session}/element/active"), Value::Null).await;
    assert!(field.ends_with(active["ELEMENT"].as_str().unwrap()));
    served.value("POST", &format!("{field}/clear"), json!({})).await;
    assert_eq!(served.value("GET", &format!("{field}/text"), Value::Null).await, "Customer number");
    let secret = served.find(&session, "class name", "XCUIElementTypeSecureTextField").await;
    served.value("POST", &format!("{secret}/value"), json!({ "text": "secret" })).await;
    let shown = served.value("GET", &format!("{secret}/text"), Value::Null).await;
    assert_eq!(shown, "••••••");
}

#[tokio::test]
async fn keys_of_a_hardware_keyboard_have_names_and_modifiers() {
    let served = Served::new().await;
    let session = served.session("com.example.bank").await;
    let field = served.find(&session, "class name", "XCUIElementTypeTextField").await;
    served.value("POST", &format!("{field}/click"), Value::Null).await;
    let keyboard = format!("{session}/wda/element/0/keyboardInput");
    let keys = json!(["a", "b", "XCUIKeyboardKeyDelete", { "key": "c", "modifierFlags": 2 }]);
    served.value("POST", &keyboard, json!({ "keys": keys })).await;
    assert_eq!(served.value("GET", &format!("{field}/text"), Value::Null).await, "aC");
    let unknown = json!({ "keys": ["d", "XCUIKeyboardKeyNone"] });
    let (_, error) = served.error("POST", &keyboard, unknown).await;
    assert_eq!(error, "invalid argument");
    assert_eq!(served.value("GET", &format!("{field}/text"), Value::Null).await, "aC");
}

#[tokio::test]
async fn two_fingers_pinch_tap_and_turn() {
    let served = Served::new().await;
    let session = served.session("com.apple.Maps").await;
    // The map of this phone zooms, and does not turn.
    for (gesture, body, changes) in [
        ("pinch", json!({ "scale": 2.0, "velocity": 1.0 }), true),
        ("twoFingerTap", json!({}), false),
        ("rotate", json!({ "rotation": 1.0, "velocity": 1.0 }), false),
    ] {
        let before = served.phone.world(|world| world.scene().clone());
        served.value("POST", &format!("{session}/wda/{gesture}"), body).await;
        let after = served.phone.world(|world| world.scene().clone());
        assert_eq!(before != after, changes, "{gesture}");
    }
    let opposite = json!({ "rotation": 1.0, "velocity": -1.0 });
    let (_, error) = served.error("POST", &format!("{session}/wda/rotate"), opposite).await;
    assert_eq!(error, "invalid argument");
}

#[tokio::test]
async fn alert_is_read_and_answered_by_its_buttons() {
    let served = Served::new().await;
    let session = served.session("com.apple.Preferences").await;
    for (path, body) in
        [("accept", json!({})), ("dismiss", json!({})), ("accept", json!({ "name": "Later" }))]
    {
        served.phone.world(|world| world.pop_up("Software update", "It is ready."));
        let text = served.value("GET", &format!("{session}/alert/text"), Value::Null).await;
        assert_eq!(text, "Software update\nIt is ready.");
        let buttons =
            served.value("GET", &format!("{session}/wda/alert/buttons"), Value::Null).await;
        assert_eq!(buttons.as_array().unwrap().len(), 2);
        assert_eq!(served.count(&session, "class name", "XCUIElementTypeAlert").await, 1);
        served.value("POST", &format!("{session}/alert/{path}"), body).await;
        assert_eq!(
            served.error("GET", &format!("{session}/alert/text"), Value::Null).await.1,
            "no such alert"
        );
    }
    served.phone.world(|world| world.pop_up("Software update", "It is ready."));
    let (_, error) =
        served.error("POST", &format!("{session}/alert/accept"), json!({ "name": "Maybe" })).await;
    assert_eq!(error, "invalid element state");
}

#[tokio::test]
async fn actions_of_w3c_tap_and_drag() {
    let served = Served::new().await;
    let session = served.session("com.apple.MobileAddressBook").await;
    let cell = served.find(&session, "xpath", "(//XCUIElementTypeCell)[5]").await;
    let finger = |items: Value| json!({ "actions": [{ "type": "pointer", "id": "f", "parameters": { "pointerType": "touch" }, "actions": items }] });
    let y = |rect: Value| rect["y"].as_i64().unwrap();
    let before = y(served.value("GET", &format!("{cell}/rect"), Value::Null).await);
    let drag = finger(json!([
        { "type": "pointerMove", "x": 200, "y": 600, "duration": 0 },
        { "type": "pointerDown", "button": 0 },
        { "type": "pointerMove", "x": 0, "y": -100, "origin": "pointer", "duration": 400 },
        { "type": "pause", "duration": 300 },
        { "type": "pointerUp", "button": 0 },
    ]));
    served.value("POST", &format!("{session}/actions"), drag).await;
    let after = y(served.value("GET", &format!("{cell}/rect"), Value::Null).await);
    assert!(
        (60..=100).contains(&(before - after)),
        "the list followed the finger: {before} {after}"
    );
    let session = served.session("com.apple.Preferences").await;
    let cell = served.find(&session, "xpath", "//XCUIElementTypeCell[@label='Apps']").await;
    let id = cell.rsplit('/').next().unwrap();
    let origin = json!({ "element-6066-11e4-a52e-4f735466cecf": id });
    let tap = finger(json!([
        { "type": "pointerMove", "origin": origin, "x": 0, "y": 0 },
        { "type": "pointerDown" },
        { "type": "pause", "duration": 50 },
        { "type": "pointerUp" },
    ]));
    served.value("POST", &format!("{session}/actions"), tap).await;
    assert_eq!(
        served
            .count(&session, "class chain", "**/XCUIElementTypeNavigationBar[`name == 'Apps'`]")
            .await,
        1
    );
}

#[tokio::test]
async fn lock_orientation_and_clipboard_keep_what_is_set() {
    let served = Served::new().await;
    let session = served.session("com.apple.mobilenotes").await;
    served.value("POST", &format!("{session}/wda/lock"), json!({})).await;
    assert_eq!(served.value("GET", &format!("{session}/wda/locked"), Value::Null).await, true);
    served.value("POST", &format!("{session}/wda/unlock"), json!({})).await;
    assert_eq!(served.value("GET", "/wda/locked", Value::Null).await, false);
    let app = served.value("GET", "/wda/activeAppInfo", Value::Null).await;
    assert_eq!(app["bundleId"], "com.apple.mobilenotes");
    let landscape = json!({ "orientation": "LANDSCAPE" });
    served.value("POST", &format!("{session}/orientation"), landscape).await;
    let size = served.value("GET", &format!("{session}/window/size"), Value::Null).await;
    assert_eq!(size, json!({ "width": 896, "height": 414 }));
    assert_eq!(served.value("GET", &format!("{session}/rotation"), Value::Null).await["z"], 270);
    served
        .value(
            "POST",
            "/wda/setPasteboard",
            json!({ "content": "aGnDqQ==", "contentType": "plaintext" }),
        )
        .await;
    assert_eq!(served.value("POST", "/wda/getPasteboard", json!({})).await, "aGnDqQ==");
}
