//! The Appium driver: its session, what is repeated, what goes wrong on the way, and what it asks
//! of both platforms.

use std::sync::Arc;

use serde_json::{Value, json};
use thumbwire_device::webdriver::{AppiumCapabilities, WebDriverPhone};
use thumbwire_device::{
    AppId, Device, EditorSize, Error, Foreground, Gesture, Key, Orientation, Platform, Point,
    SideEffect, Size, TreeDetail, TypingMethod,
};
use thumbwire_webdriver::{InputItems, KeyItem};
use tokio::time::{Duration, Instant};

use crate::wda::{Fault, StandIn};

const TAP: Gesture = Gesture::Tap { at: Point { x: 300, y: 600 } };

fn ios() -> AppiumCapabilities {
    AppiumCapabilities::parse(r#"{"platformName":"iOS","appium:udid":"U"}"#).unwrap()
}

/// The server, and a driver for its iPhone.
async fn attach() -> (Arc<StandIn>, WebDriverPhone) {
    let server = StandIn::start().await;
    let appium = WebDriverPhone::attach_appium("appium:U", server.url(), &ios()).await.unwrap();
    (server, appium)
}

/// The same for an Android phone, whose answers the test gives.
async fn attach_android() -> (Arc<StandIn>, WebDriverPhone) {
    let server = StandIn::start().await;
    let capabilities = AppiumCapabilities::default();
    let appium =
        WebDriverPhone::attach_appium("appium", server.url(), &capabilities).await.unwrap();
    (server, appium)
}

fn answer(value: &Value) -> Fault {
    Fault::Answer(200, json!({ "value": value }).to_string())
}

fn failure(error: &str, message: &str) -> String {
    json!({ "value": { "error": error, "message": message, "stacktrace": "" } }).to_string()
}

/// Runs a call whose request hangs, with the clock stopped from then on until it ends.
async fn hang<T>(server: &StandIn, call: impl Future<Output = T>) -> T {
    let mut call = std::pin::pin!(call);
    tokio::select! {
        _ = &mut call => panic!("it did not hang"),
        () = server.arrived() => {}
    }
    tokio::time::pause();
    let output = call.await;
    tokio::time::resume();
    output
}

#[tokio::test]
async fn session_is_created_once_with_its_capabilities_and_settings() {
    let (server, appium) = attach().await;
    assert_eq!(server.state().sessions, 0, "attaching needs none");
    appium.probe().await.unwrap();
    assert_eq!(server.state().sessions, 0, "nor does probing");
    let (tree, front, tap) =
        tokio::join!(appium.tree(TreeDetail::Full), appium.foreground(), appium.touch(TAP));
    tree.unwrap();
    front.unwrap();
    tap.unwrap();
    assert_eq!(server.sessions_and_touches(), (1, 1));
    let capabilities = Value::Object(server.state().capabilities.clone());
    let expected = json!({
        "platformName": "iOS", "appium:udid": "U", "appium:automationName": "XCUITest",
        "appium:noReset": true, "appium:newCommandTimeout": 600,
    });
    assert_eq!(capabilities, expected);
    assert_eq!(server.state().settings["snapshotMaxDepth"], 60);
    appium.disconnect().await;
    assert_eq!(server.state().session, None);
    appium.touch(TAP).await.unwrap();
    assert_eq!(server.state().sessions, 2, "it connects again");
}

#[tokio::test]
async fn lost_session_is_renewed_and_the_command_happens_once() {
    let (server, appium) = attach().await;
    appium.touch(TAP).await.unwrap();
    server.fail("POST /actions", Fault::LoseSession);
    appium.touch(TAP).await.unwrap();
    assert_eq!(server.sessions_and_touches(), (2, 2));
    server.fail("GET /source", Fault::LoseSession);
    appium.tree(TreeDetail::Full).await.unwrap();
    assert_eq!(server.sessions_and_touches(), (3, 2));
    for _ in 0..2 {
        server.fail("POST /actions", Fault::LoseSession);
    }
    let error = appium.touch(TAP).await.unwrap_err();
    assert!(error.to_string().contains("ends the session each time"), "{error}");
    assert!(matches!(error, Error::NotReady { .. }), "{error:?}");
}

/// Appium 3.8 to a client whose session it does not know, after a restart.
#[tokio::test]
async fn server_that_restarts_gives_a_new_session() {
    const LOST: &str = "A session is either terminated or not started";
    let (server, appium) = attach().await;
    appium.touch(TAP).await.unwrap();
    // The server goes down under an act, which is not repeated.
    server.fail("POST /actions", Fault::Close);
    let error = appium.touch(TAP).await.unwrap_err();
    assert!(matches!(error, Error::NotConnected { acted: SideEffect::Possible, .. }), "{error}");
    // It is up again, and has forgotten the session.
    server.fail("POST /actions", Fault::Answer(404, failure("invalid session id", LOST)));
    appium.touch(TAP).await.unwrap();
    assert_eq!(server.sessions_and_touches(), (2, 2));
}

/// UiAutomator2's server crashed, or someone ended it.
#[tokio::test]
async fn session_without_its_end_on_the_phone_is_replaced() {
    const DEAD: &str = "'POST /actions' cannot be proxied to UiAutomator2 server because the instrumentation process is \
                        not running (probably crashed)";
    let (server, appium) = attach().await;
    appium.touch(TAP).await.unwrap();
    server.fail("POST /actions", Fault::Answer(500, failure("unknown error", DEAD)));
    appium.touch(TAP).await.unwrap();
    assert_eq!(server.sessions_and_touches(), (2, 2));
    assert_eq!(server.count("DELETE "), 1);
}

#[tokio::test]
async fn no_act_is_sent_twice() {
    for request in [
        "POST /actions",
        "/value",
        "/clear",
        "mobile: pressButton",
        "mobile: activateApp",
        "mobile: terminateApp",
        "mobile: deepLink",
        "mobile: setClipboard",
        "mobile: lock",
        "mobile: unlock",
        "mobile: performIoHidEvent",
        "POST /orientation",
    ] {
        let (server, appium) = attach().await;
        server.state().field = Some(("Ada".into(), [10.0, 100.0, 300.0, 40.0]));
        server.state().locked = request == "mobile: unlock";
        appium.touch(TAP).await.unwrap();
        server.fail(request, Fault::LoseReply);
        let device: &dyn Device = &appium;
        let off = AppId("com.example.off".into());
        let error = match request {
            "POST /actions" => appium.touch(TAP).await,
            "/value" => appium.type_text("x").await.map(drop),
            "/clear" => device.text_editing().unwrap().replace_text("x").await.map(drop),
            "mobile: pressButton" => appium.press(Key::Home).await,
            "mobile: activateApp" => appium.launch(&off, &[]).await.map(drop),
            "mobile: terminateApp" => appium.stop(&off).await,
            "mobile: deepLink" => {
                device.links().unwrap().open_link("https://example.com").await.map(drop)
            }
            "mobile: setClipboard" => device.clipboard().unwrap().set_clipboard("x").await,
            "mobile: lock" => appium.press(Key::Power).await,
            "mobile: unlock" => device.screen_lock().unwrap().unlock().await.map(drop),
            "mobile: performIoHidEvent" => appium.press(Key::from_any_name("left").unwrap()).await,
            _ => {
                let control = device.orientation_control().unwrap();
                control.set_orientation(Orientation::Landscape, "me").await
            }
        };
        let error = error.expect_err(request);
        assert_eq!(error.acted(), SideEffect::Possible, "{request}: {error}");
        assert!(matches!(error, Error::NotConnected { .. }), "{request}: {error}");
        assert_eq!(server.count(request) - usize::from(request == "POST /actions"), 1, "{request}");
    }
}

#[tokio::test]
async fn question_whose_reply_was_lost_is_asked_once_more() {
    for fault in [Fault::LoseReply, Fault::Close, Fault::CutBody] {
        let (server, appium) = attach().await;
        appium.screenshot().await.unwrap();
        server.fail("GET /screenshot", fault.clone());
        appium.screenshot().await.unwrap();
        assert_eq!(server.count("GET /screenshot"), 3, "{fault:?}");
        server.fail("mobile: isLocked", fault.clone());
        appium.foreground().await.unwrap();
        assert_eq!(server.count("mobile: isLocked"), 2, "{fault:?}");
    }
}

/// A server keeps a session that nobody knows, and with it the phone.
#[tokio::test]
async fn session_is_never_asked_for_twice() {
    let (server, appium) = attach().await;
    server.fail("POST /session", Fault::LoseReply);
    let error = appium.touch(TAP).await.unwrap_err();
    assert!(matches!(error, Error::NotConnected { acted: SideEffect::None, .. }), "{error}");
    assert_eq!(server.count("POST /session"), 1);

    let (server, appium) = attach().await;
    server.fail("POST /session", Fault::Wait);
    {
        let mut call = std::pin::pin!(appium.touch(TAP));
        tokio::select! {
            _ = &mut call => panic!("it did not wait"),
            () = server.arrived() => {}
        }
        // The caller leaves, because its time is over.
    }
    server.go_on();
    appium.touch(TAP).await.unwrap();
    assert_eq!((server.count("POST /session"), server.sessions_and_touches()), (1, (1, 1)));
}

#[tokio::test]
async fn request_that_hangs_ends_at_its_deadline() {
    let (server, appium) = attach().await;
    appium.touch(TAP).await.unwrap();
    server.fail("POST /actions", Fault::Hang);
    let begun = Instant::now();
    let error = hang(&server, appium.touch(TAP)).await.unwrap_err();
    assert!((20..=21).contains(&begun.elapsed().as_secs()), "{:?}", begun.elapsed());
    assert!(matches!(error, Error::NotConnected { acted: SideEffect::Possible, .. }), "{error}");
    assert!(error.to_string().contains("the Appium server at http://127.0.0.1:"), "{error}");
    server.fail("GET /source", Fault::Hang);
    let error = hang(&server, appium.tree(TreeDetail::Full)).await.unwrap_err();
    assert!(matches!(error, Error::NotConnected { acted: SideEffect::None, .. }), "{error}");
    assert!(error.to_string().contains("within 30s"), "{error}");
    appium.tree(TreeDetail::Full).await.unwrap();

    let (server, appium) = attach().await;
    server.fail("POST /session", Fault::Hang);
    let begun = Instant::now();
    let error = hang(&server, appium.touch(TAP)).await.unwrap_err();
    assert!(begun.elapsed() >= Duration::from_secs(300), "{:?}", begun.elapsed());
    assert_eq!(error.acted(), SideEffect::None, "{error}");
}

#[tokio::test]
async fn other_servers_are_not_taken_for_appium() {
    let unknown = failure("unknown command", "no");
    for (status, body, says) in [
        (200, "<html>hello</html>", "is not an Appium server"),
        (404, "not found", "is not an Appium server"),
        (200, "[]", "is not an Appium server"),
        (200, "", "is not an Appium server"),
        (404, unknown.as_str(), "/wd/hub"),
    ] {
        let server = StandIn::start().await;
        server.fail("GET /status", Fault::Answer(status, body.into()));
        let error =
            WebDriverPhone::attach_appium("appium", server.url(), &ios()).await.err().unwrap();
        assert!(matches!(error, Error::NotConnected { .. }), "{body}: {error}");
        assert!(error.to_string().contains(says), "{error}");
    }
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let error =
        WebDriverPhone::attach_appium("appium", &url, &ios()).await.err().unwrap().to_string();
    assert!(error.contains(&url) && error.contains("`appium`"), "{error}");
}

/// Selenium Grid 4 while all its nodes are in use.
#[tokio::test]
async fn grid_without_a_free_phone_is_not_ready() {
    let server = StandIn::start().await;
    let status = json!({ "ready": false, "message": "Selenium Grid not ready.", "nodes": [] });
    server.fail("GET /status", answer(&status));
    let error = WebDriverPhone::attach_appium("appium", server.url(), &ios()).await.err().unwrap();
    assert!(matches!(&error, Error::NotReady { text, .. } if text.contains("Grid")), "{error}");
    // With a session of ours it is the reason.
    let (server, appium) = attach().await;
    appium.touch(TAP).await.unwrap();
    server.fail("GET /status", answer(&status));
    appium.probe().await.unwrap();
}

#[tokio::test]
async fn odd_and_endless_answers_are_typed_errors() {
    let (server, appium) = attach().await;
    appium.touch(TAP).await.unwrap();
    let check = async |status: u16, body: String, is: fn(&Error) -> bool, acted: SideEffect| {
        server.fail("POST /actions", Fault::Answer(status, body.clone()));
        let error = appium.touch(TAP).await.unwrap_err();
        assert!(is(&error) && error.acted() == acted, "{status} {body}: {error:?}");
    };
    let [none, possible] = [SideEffect::None, SideEffect::Possible];
    let is_failed = |error: &Error| matches!(error, Error::Failed { .. });
    let is_unreadable = |error: &Error| matches!(error, Error::Unreadable { .. });
    let is_refused = |error: &Error| matches!(error, Error::Refused { .. });
    let is_unsupported = |error: &Error| matches!(error, Error::Unsupported { .. });
    check(500, failure("unknown error", "it broke"), is_failed, possible).await;
    check(400, failure("invalid argument", "no"), is_refused, none).await;
    check(405, failure("unknown method", "no"), is_unsupported, none).await;
    check(502, "<html>Bad Gateway</html>".into(), is_unreadable, possible).await;
    check(200, "\u{0}\u{1}garbage".into(), is_unreadable, possible).await;
    check(200, "[".repeat(100_000), is_unreadable, possible).await;
    assert_eq!(server.state().touches.len(), 1);
    // What a server says cannot fill a reply.
    server
        .fail("POST /actions", Fault::Answer(500, failure("unknown error", &"x".repeat(100_000))));
    assert!(appium.touch(TAP).await.unwrap_err().to_string().len() < 500);
    server.fail("GET /screenshot", Fault::Huge);
    let error = appium.screenshot().await.unwrap_err();
    assert!(error.to_string().contains("67108864 bytes"), "{error}");
    server
        .fail("GET /window/rect", answer(&json!({ "x": 0, "y": 0, "width": 1e300, "height": 1 })));
    assert!(is_unreadable(&appium.screen_size().await.unwrap_err()));
    server.fail("GET /source", answer(&json!("<AppiumAUT><XCUIElementType")));
    assert!(is_unreadable(&appium.tree(TreeDetail::Full).await.unwrap_err()));
}

#[tokio::test]
async fn credentials_are_sent_and_never_shown() {
    let server = StandIn::start().await;
    let url = server.url().replace("http://", "http://me:se%20cret@") + "/wd/hub/";
    let appium = WebDriverPhone::attach_appium("appium:U", &url, &ios()).await.unwrap();
    appium.touch(TAP).await.unwrap();
    // `me:se cret`
    let sent = server.state().authorizations.clone();
    assert!(!sent.is_empty() && sent.iter().all(|it| it == "Basic bWU6c2UgY3JldA=="), "{sent:?}");
    server.fail("POST /actions", Fault::Close);
    let error = appium.touch(TAP).await.unwrap_err();
    let text = format!("{error} {error:?}");
    assert!(text.contains("/wd/hub") && !text.contains("cret"), "{text}");
}

#[tokio::test]
async fn access_keys_that_a_server_quotes_are_not_passed_on() {
    let server = StandIn::start().await;
    let json =
        r#"{"platformName":"iOS","appium:udid":"U","vendor:options":{"accessKey":"s3cret"}}"#;
    let capabilities = AppiumCapabilities::parse(json).unwrap();
    let appium =
        WebDriverPhone::attach_appium("appium:U", server.url(), &capabilities).await.unwrap();
    let quoted = format!("cannot create a session for {json}");
    server.fail("POST /session", Fault::Answer(500, failure("session not created", &quoted)));
    let error = appium.touch(TAP).await.unwrap_err();
    let text = format!("{error} {error:?}");
    assert!(text.contains("accessKey") && !text.contains("s3cret"), "{text}");
}

#[tokio::test]
async fn iphone_is_seen_and_touched_in_pixels() {
    let (server, appium) = attach().await;
    assert_eq!(appium.screen_size().await.unwrap(), Size { width: 1170, height: 2532 });
    let tree = appium.tree(TreeDetail::Full).await.unwrap();
    let save = tree.nodes.iter().find(|node| node.description == "Save").unwrap();
    assert_eq!((save.bounds.left, save.bounds.bottom), (30, 282));
    assert_eq!(tree.front.app().unwrap().app.0, "com.example.forms");
    server.state().field = Some(("Ada".into(), [10.0, 100.0, 300.0, 40.0]));
    let tree = appium.tree(TreeDetail::Full).await.unwrap();
    let field = tree.nodes.iter().find(|node| node.flags.focused).unwrap();
    assert_eq!(field.id, "name-field");
    assert_eq!(appium.type_text("é✓").await.unwrap(), TypingMethod::Keys);
    assert_eq!(server.state().typed, ["é✓"]);
    let missing = appium.launch(&AppId("com.example.none".into()), &[]).await.unwrap_err();
    assert!(matches!(missing, Error::NoSuchApp { .. }), "{missing}");
    server.state().locked = true;
    assert_eq!(appium.foreground().await.unwrap(), Foreground::Keyguard);
    let list = appium.apps().await.unwrap();
    let system: Vec<&str> =
        list.apps.iter().filter(|app| app.system).map(|app| &*app.id.0).collect();
    assert_eq!(system, ["com.apple.Preferences"]);
    let device: &dyn Device = &appium;
    device.clipboard().unwrap().set_clipboard("clip").await.unwrap();
    assert_eq!(device.clipboard().unwrap().clipboard().await.unwrap().as_deref(), Some("clip"));
    assert!(device.logs().is_err() && device.app_data().is_err());
}

#[tokio::test]
async fn android_is_asked_by_its_own_commands() {
    let (server, appium) = attach_android().await;
    assert_eq!(appium.identity().platform, Platform::Android);
    server.fail("mobile: getCurrentPackage", answer(&json!("a.b")));
    server.fail("mobile: getCurrentActivity", answer(&json!(".Main")));
    let front = appium.foreground().await.unwrap();
    let front = front.app().unwrap();
    assert_eq!((&*front.app.0, &*front.screen), ("a.b", "a.b.Main"));
    assert_eq!(server.state().capabilities["appium:automationName"], "UiAutomator2");
    assert_eq!(server.state().settings["waitForIdleTimeout"], 100);
    let xml = "<hierarchy rotation='0'><a.View class='a.View' package='a.b' bounds='[0,0][9,9]'/></hierarchy>";
    server.fail("GET /source", answer(&json!(xml)));
    server.fail("mobile: getCurrentActivity", answer(&json!("c.d.Other")));
    let tree = appium.tree(TreeDetail::Full).await.unwrap();
    assert_eq!((tree.nodes.len(), &*tree.nodes[0].class), (1, "a.View"));
    assert_eq!(tree.front.app().unwrap().screen, "c.d.Other");
    server.fail("mobile: deviceInfo", answer(&json!({ "realDisplaySize": "1080x2400" })));
    server.fail("mobile: batteryInfo", answer(&json!({ "level": 0.5, "state": 2 })));
    let battery = appium.info().await.unwrap().battery.unwrap();
    assert_eq!((battery.percent, battery.charging), (50, true));
    // The window leaves out the bars of the system, and is turned.
    let window = json!({ "x": 0, "y": 0, "width": 2300, "height": 1080 });
    server.fail("GET /window/rect", answer(&window));
    server.fail("mobile: deviceInfo", answer(&json!({ "realDisplaySize": "1080x2400" })));
    assert_eq!(appium.screen_size().await.unwrap(), Size { width: 2400, height: 1080 });
    server.fail("mobile: pressKey", answer(&Value::Null));
    appium.press(Key::Back).await.unwrap();
    appium.touch(TAP).await.unwrap();
    let device: &dyn Device = &appium;
    let refused = device.links().unwrap().open_link("intent:#Intent;end").await.unwrap_err();
    assert!(matches!(refused, Error::Refused { .. }), "{refused}");
    assert_eq!(server.count("mobile: deepLink"), 0);
}

/// Each request takes a connection, and as long as the server's log of it.
#[tokio::test]
async fn text_on_android_is_deleted_in_pieces() {
    let (server, appium) = attach_android().await;
    server.state().field = Some(("Ada".into(), [10.0, 100.0, 300.0, 40.0]));
    let device: &dyn Device = &appium;
    let editing = device.text_editing().unwrap();
    editing.delete_around_cursor(450).await.unwrap();
    let touches = server.state().touches.clone();
    assert_eq!((touches.len(), server.count("mobile: pressKey")), (3, 0));
    let InputItems::Key(items) = &touches[2][0].items else { panic!("{touches:?}") };
    let presses = |keys: String| -> Vec<KeyItem> {
        let keys = keys.chars().map(String::from);
        keys.flat_map(|key| [KeyItem::Down(key.clone()), KeyItem::Up(key)]).collect()
    };
    assert_eq!(*items, presses("\u{e003}\u{e017}".repeat(50)));
    editing.delete_at_end(EditorSize::OneLine, 2).await.unwrap();
    let touches = server.state().touches[3..].to_vec();
    let sent: Vec<&InputItems> = touches.iter().map(|sources| &sources[0].items).collect();
    let expected = ["\u{e010}", "\u{e003}\u{e003}"];
    assert_eq!(sent, expected.map(|keys| InputItems::Key(presses(keys.into()))).each_ref());
}

#[tokio::test]
async fn log_of_android_is_kept_and_filtered() {
    let (server, appium) = attach_android().await;
    let device: &dyn Device = &appium;
    let logs = device.logs().unwrap();
    let filter = |tag: Option<&str>| thumbwire_device::LogFilter {
        tag: tag.map(str::to_owned),
        priority: thumbwire_device::Priority::Verbose,
    };
    let line = |tag: &str, text: &str| {
        json!({ "timestamp": 1, "level": "ALL",
            "message": format!("09-01 12:13:14.123   10   11 I {tag}: {text}") })
    };
    let read = async |lines: Vec<Value>, tag: Option<&str>| {
        server.fail("mobile: getDeviceTime", answer(&json!("2024-09-01T12:13:15")));
        server.fail("POST /se/log", answer(&Value::Array(lines)));
        let entries = logs.read_logs(&filter(tag), 10).await.unwrap();
        entries.into_iter().map(|entry| entry.message).collect::<Vec<_>>()
    };
    let odd = json!({ "message": "--------- beginning of main" });
    assert_eq!(read(vec![odd, line("A", "1"), line("B", "2")], None).await, ["1", "2"]);
    assert_eq!(read(vec![line("A", "3")], Some("A")).await, ["1", "3"], "Appium gives lines once");
    assert_eq!(read(vec![], Some("B:I *:S")).await, ["2"]);
    server.fail("mobile: getDeviceTime", answer(&json!("2024-09-01T12:13:15")));
    server.fail("POST /se/log", answer(&json!([])));
    logs.clear_logs().await.unwrap();
    assert_eq!(read(vec![], None).await, [""; 0]);
    server.fail("mobile: getDeviceTime", answer(&json!("2024-09-01T12:13:15")));
    server.fail("POST /se/log", answer(&json!([line("A", "old")])));
    let mut followed = logs.follow_logs(&filter(Some("A")), None).await.unwrap();
    server.fail("POST /se/log", answer(&json!([line("B", "other"), line("A", "new")])));
    assert_eq!(followed.next().await.unwrap().unwrap().message, "new");
}
