//! What the iOS driver does on a phone: gestures, text, keys, apps, and its facets.

use serde_json::{Value, json};
use thumbwire_device::webdriver::WebDriverPhone;
use thumbwire_device::{
    App, AppId, Battery, Device, EditorSize, Error, Foreground, Gesture, Key, LaunchArgument,
    LaunchValue, Orientation, Platform, Point, RotationOwner, SideEffect, StreamOptions,
    TypingMethod, UntypableText,
};
use thumbwire_webdriver::{AppState, Command, GestureCommand, SessionId};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::Duration;

use crate::wda::StandIn;

const AT: Point = Point { x: 300, y: 600 };
const END: Point = Point { x: 300, y: 900 };
const SECOND: Duration = Duration::from_secs(1);

const FIELD: [f64; 4] = [10.0, 100.0, 300.0, 40.0];

fn app(id: &str) -> AppId {
    AppId(id.into())
}

#[tokio::test]
async fn device_says_what_it_is_and_can() {
    let (_wda, ios) = StandIn::attach().await;
    let identity = ios.identity();
    assert_eq!((identity.id.as_str(), identity.platform), ("phone", Platform::Ios));
    assert_eq!(identity.model, "iPhone");
    let names: Vec<&str> = ios.facets().features().collect();
    assert_eq!(
        names,
        [
            "text_editing",
            "clipboard",
            "orientation_control",
            "screen_lock",
            "links",
            "simulated_location",
            "health_checks"
        ]
    );
    let device: &dyn Device = &ios;
    let error = device.logs().err().unwrap();
    assert_eq!(error.to_string(), "reading the log is not supported on iOS");
    ios.restore_borrowed().await;
}

/// The last gesture as the server got it.
fn last_actions(wda: &StandIn) -> Vec<Value> {
    let sources = wda.state().touches.last().unwrap().clone();
    let command = Command::from(GestureCommand::Perform { sources });
    let request = command.request(&SessionId::new("S").unwrap());
    request.body.unwrap()["actions"].as_array().unwrap().clone()
}

#[tokio::test]
async fn gestures_are_fingers_that_move_in_points() {
    let (wda, ios) = StandIn::attach().await;
    let to = |x: f64, y: f64, ms: u64| json!({ "type": "pointerMove", "x": x, "y": y, "origin": "viewport", "duration": ms });
    let pause = |ms: u64| json!({ "type": "pause", "duration": ms });
    let [down, up] = ["pointerDown", "pointerUp"].map(|kind| json!({ "type": kind, "button": 0 }));
    let (down, up) = (|| down.clone(), || up.clone());
    let check = async |gesture: Gesture, expected: Vec<Vec<Value>>| {
        ios.touch(gesture).await.unwrap();
        let sources = last_actions(&wda);
        let items: Vec<&Value> = sources.iter().map(|source| &source["actions"]).collect();
        assert_eq!(json!(items), json!(expected), "{gesture:?}");
        for source in &sources {
            assert_eq!(source["parameters"], json!({ "pointerType": "touch" }));
        }
    };
    let from = || to(100.0, 200.0, 0);
    check(Gesture::Tap { at: AT }, vec![vec![from(), down(), pause(50), up()]]).await;
    check(
        Gesture::DoubleTap { at: AT },
        vec![vec![from(), down(), pause(50), up(), pause(100), down(), pause(50), up()]],
    )
    .await;
    check(
        Gesture::LongPress { at: AT, held: SECOND },
        vec![vec![from(), down(), pause(1000), up()]],
    )
    .await;
    check(
        Gesture::Swipe { from: AT, to: END, duration: SECOND / 2 },
        vec![vec![from(), down(), to(100.0, 300.0, 500), up()]],
    )
    .await;
    check(
        Gesture::Drag { from: AT, to: END, duration: SECOND },
        vec![vec![from(), down(), pause(700), to(100.0, 300.0, 1000), up()]],
    )
    .await;
    let gesture = Gesture::Pinch { middle: AT, from: 170, to: 679, duration: SECOND };
    let path = |near: f64, far: f64| {
        vec![
            to((300.0 + near) / 3.0, (600.0 - near) / 3.0, 0),
            down(),
            to((300.0 + far) / 3.0, (600.0 - far) / 3.0, 1000),
            up(),
        ]
    };
    check(gesture, vec![path(-60.0, -240.0), path(60.0, 240.0)]).await;
}

#[tokio::test]
async fn text_is_typed_with_emoji_and_in_pieces() {
    let (wda, ios) = StandIn::attach().await;
    wda.state().field = Some((String::new(), FIELD));
    let text = "Grüße, 世界 👨‍👩‍👧‍👦 👍🏽\n";
    assert_eq!(ios.type_text(text).await.unwrap(), TypingMethod::Keys);
    assert_eq!(wda.state().typed, [text]);
    wda.state().typed.clear();
    let long = "a word and ".repeat(60);
    ios.type_text(&long).await.unwrap();
    let typed = wda.state().typed.clone();
    assert!(typed.len() > 3 && typed.concat() == long, "{typed:?}");
}

#[tokio::test]
async fn untypable_text_and_missing_focus_are_refused() {
    let (wda, ios) = StandIn::attach().await;
    let device: &dyn Device = &ios;
    let editing = device.text_editing().unwrap();
    for text in ["a\tb", "\u{1b}[2J"] {
        for error in
            [ios.type_text(text).await.unwrap_err(), editing.check_text(text).await.unwrap_err()]
        {
            assert!(matches!(error, Error::Untypable(UntypableText::Control(_))), "{error}");
        }
    }
    assert_eq!(wda.count("POST /wda/keys"), 0);
    let error = ios.type_text("abc").await.unwrap_err();
    assert!(error.to_string().contains("no text field has the focus"), "{error}");
    assert!(matches!(error, Error::Refused { .. }), "{error:?}");
}

#[tokio::test]
async fn text_that_stops_halfway_says_so() {
    let (wda, ios) = StandIn::attach().await;
    wda.state().field = Some((String::new(), FIELD));
    let text = "a word and ".repeat(60);
    ios.probe().await.unwrap();
    let body = r#"{"value":{"error":"invalid argument","message":"no","traceback":""}}"#;
    wda.fail("POST /wda/keys", crate::wda::Fault::Wait);
    wda.fail("POST /wda/keys", crate::wda::Fault::Answer(400, body.into()));
    wda.go_on();
    let error = ios.type_text(&text).await.unwrap_err();
    assert!(error.to_string().contains("only a part was done"), "{error}");
    assert_eq!(error.acted(), SideEffect::Possible);
    assert_eq!(wda.state().typed.len(), 1);
}

#[tokio::test]
async fn field_is_replaced_cleared_and_shortened() {
    let (wda, ios) = StandIn::attach().await;
    let device: &dyn Device = &ios;
    let editing = device.text_editing().unwrap();
    let text = || wda.state().field.clone().unwrap().0;
    assert_eq!(editing.replace_text("x").await.unwrap(), None, "no field has the focus");
    assert!(matches!(editing.delete_around_cursor(3).await, Err(Error::Refused { .. })));
    wda.state().field = Some(("Ada".into(), FIELD));
    assert_eq!(editing.replace_text("Grace 👍").await.unwrap(), Some(TypingMethod::Keys));
    assert_eq!(text(), "Grace 👍");
    editing.replace_text("").await.unwrap();
    assert_eq!(text(), "");
    wda.state().field = Some(("Ada".into(), FIELD));
    editing.delete_around_cursor(3).await.unwrap();
    assert_eq!((text().as_str(), wda.count("/clear")), ("", 2));
    assert_eq!(wda.state().typed.last().unwrap(), "\u{8}\u{7f}\u{8}\u{7f}\u{8}\u{7f}");
    wda.state().field = Some(("Ada Lovelace".into(), FIELD));
    editing.delete_around_cursor(8).await.unwrap();
    assert_eq!(text(), "Ada ");
    editing.delete_at_end(EditorSize::OneLine, 2).await.unwrap();
    assert_eq!((text().as_str(), wda.state().hid.clone()), ("Ad", vec![(7, 0x51)]));
    editing.delete_at_end(EditorSize::Lines(30), 0).await.unwrap();
    assert_eq!((text().as_str(), wda.state().hid.len()), ("Ad", 1 + 4));
    assert_eq!(editing.editor().await.unwrap(), None);
    assert_eq!(editing.typing_time("ten chars.").await.unwrap(), Duration::from_millis(600));
}

#[tokio::test]
async fn keys_are_buttons_characters_or_not_on_ios() {
    let (wda, ios) = StandIn::attach().await;
    wda.state().field = Some((String::new(), FIELD));
    let named = |name: &str| Key::from_any_name(name).unwrap();
    for key in [Key::Home, Key::VolumeUp, Key::VolumeDown] {
        ios.press(key).await.unwrap();
    }
    assert_eq!(wda.state().buttons, ["home", "volumeUp", "volumeDown"]);
    for name in ["enter", "tab", "space", "delete", "forward_delete"] {
        ios.press(named(name)).await.unwrap();
    }
    assert_eq!(wda.state().typed, ["\n", "\t", " ", "\u{8}", "\u{7f}"]);
    for name in ["up", "down", "left", "right", "esc"] {
        ios.press(named(name)).await.unwrap();
    }
    let usages: Vec<u64> = wda.state().hid.iter().map(|(_, usage)| *usage).collect();
    assert_eq!(usages, [0x52, 0x51, 0x50, 0x4F, 0x29]);
    ios.press(Key::Power).await.unwrap();
    assert!(wda.state().locked);
    ios.press(Key::Power).await.unwrap();
    assert!(!wda.state().locked);
    let before = wda.state().requests.len();
    for (key, text) in [
        (Key::Back, "the back key is not supported on iOS"),
        (Key::Menu, "the menu key is not supported on iOS"),
        (named("recents"), "the key for recent apps is not supported on iOS"),
        (named("camera"), "this key is not supported on iOS"),
    ] {
        let error = ios.press(key).await.unwrap_err();
        assert_eq!(error.to_string(), text);
    }
    assert_eq!(wda.state().requests.len(), before, "nobody is asked");
}

#[tokio::test]
async fn apps_are_started_brought_to_the_front_and_ended() {
    let (wda, ios) = StandIn::attach().await;
    let listed = ios.apps().await.unwrap();
    let expected = [("com.apple.Preferences", true), ("com.example.forms", false)];
    assert_eq!(listed.apps, expected.map(|(id, system)| App { id: app(id), system }));
    assert!(!listed.is_complete);
    for (id, request) in [
        ("com.example.off", "POST /wda/apps/launch"),
        ("com.apple.Preferences", "POST /wda/apps/activate"),
    ] {
        ios.launch(&app(id), &[]).await.unwrap();
        assert_eq!(wda.state().front, id);
        assert_eq!(wda.count(request), 1);
        assert_eq!(ios.foreground().await.unwrap().app().unwrap().app, app(id));
    }
    // With arguments an app that runs is started again.
    let arguments = [LaunchArgument { name: "seed".into(), value: LaunchValue::Whole(7) }];
    ios.launch(&app("com.apple.Preferences"), &arguments).await.unwrap();
    assert_eq!(wda.count("POST /wda/apps/launch"), 2);
    ios.stop(&app("com.example.off")).await.unwrap();
    ios.stop(&app("com.example.off")).await.unwrap();
    assert_eq!(wda.state().apps["com.example.off"], AppState::NotRunning);
    let error = ios.launch(&app("com.example.missing"), &[]).await.unwrap_err();
    assert!(matches!(error, Error::NoSuchApp { .. }), "{error:?}");
    for error in
        [ios.launch(&app("a b"), &[]).await.unwrap_err(), ios.stop(&app("")).await.unwrap_err()]
    {
        assert!(matches!(error, Error::InvalidAppId { .. }), "{error:?}");
    }
}

#[tokio::test]
async fn orientation_is_set_and_restored() {
    let (wda, ios) = StandIn::attach().await;
    let device: &dyn Device = &ios;
    let control = device.orientation_control().unwrap();
    let me = RotationOwner::Session("me");
    assert!(!control.restore_orientation(me).await.unwrap(), "nothing was turned");
    for orientation in [Orientation::Landscape, Orientation::Portrait, Orientation::Landscape] {
        control.set_orientation(orientation, "me").await.unwrap();
        assert_eq!(control.orientation().await.unwrap(), orientation);
    }
    assert!(!control.restore_orientation(RotationOwner::Session("other")).await.unwrap());
    assert!(wda.state().landscape);
    assert!(control.restore_orientation(me).await.unwrap());
    assert!(!wda.state().landscape && !control.restore_orientation(me).await.unwrap());
    wda.state().stays_upright = true;
    let error = control.set_orientation(Orientation::Landscape, "me").await.unwrap_err();
    assert!(matches!(error, Error::Refused { .. }), "{error:?}");
    assert!(!control.restore_orientation(me).await.unwrap(), "nothing was turned");
}

#[tokio::test]
async fn clipboard_is_read_and_set() {
    let (wda, ios) = StandIn::attach().await;
    let device: &dyn Device = &ios;
    let clipboard = device.clipboard().unwrap();
    assert_eq!(clipboard.clipboard().await.unwrap(), None);
    clipboard.set_clipboard("Grüße 👍\n").await.unwrap();
    assert_eq!(wda.state().pasteboard, "Grüße 👍\n".as_bytes());
    assert_eq!(clipboard.clipboard().await.unwrap().as_deref(), Some("Grüße 👍\n"));
}

#[tokio::test]
async fn screen_is_unlocked_unless_a_passcode_is_needed() {
    let (wda, ios) = StandIn::attach().await;
    let device: &dyn Device = &ios;
    let lock = device.screen_lock().unwrap();
    assert!(matches!(lock.unlock().await.unwrap(), Foreground::App(_)));
    assert_eq!(wda.count("POST /wda/unlock"), 0);
    wda.state().locked = true;
    assert!(matches!(lock.unlock().await.unwrap(), Foreground::App(_)));
    (wda.state().locked, wda.state().passcode) = (true, true);
    let error = lock.unlock().await.unwrap_err();
    assert!(error.to_string().contains("passcode"), "{error}");
    assert!(matches!(error, Error::Refused { .. }), "{error:?}");
}

#[tokio::test]
async fn addresses_are_opened_or_refused() {
    let (wda, ios) = StandIn::attach().await;
    let device: &dyn Device = &ios;
    let links = device.links().unwrap();
    for (address, url) in [
        ("https://example.com/?q=ä b", "https://example.com/?q=%C3%A4%20b"),
        ("prefs:root=WIFI", "prefs:root=WIFI"),
    ] {
        assert_eq!(links.open_link(address).await.unwrap(), None);
        assert_eq!(wda.state().urls.last().unwrap(), url);
    }
    let long = format!("https://example.com/{}", "x".repeat(3000));
    for address in [
        "example.com",
        "",
        "file:///etc/passwd",
        "JavaScript:alert(1)",
        "https://a/\n",
        &long,
        "nobody:x",
    ] {
        let error = links.open_link(address).await.unwrap_err();
        assert!(matches!(error, Error::Refused { .. }), "{address}: {error:?}");
    }
    assert_eq!(wda.state().urls.len(), 2);
}

#[tokio::test]
async fn device_info_is_read() {
    let (wda, ios) = StandIn::attach().await;
    let info = ios.info().await.unwrap();
    assert_eq!((info.manufacturer.as_str(), info.model.as_str()), ("Apple", "iPhone"));
    assert_eq!((info.os_version.as_str(), info.api_level), ("17.2", None));
    assert_eq!(info.battery, Some(Battery { percent: 50, charging: true, status: 2 }));
    // A simulator.
    wda.state().battery = (-1.0, 0);
    assert_eq!(ios.info().await.unwrap().battery, None);
}

#[tokio::test]
async fn health_is_checked() {
    let (wda, ios) = StandIn::attach().await;
    let device: &dyn Device = &ios;
    let health = device.health_checks().unwrap();
    assert!(health.check_health().await.unwrap().is_well());
    wda.state().locked = true;
    let report = health.check_health().await.unwrap();
    let failed: Vec<_> = report.checks.iter().filter(|check| !check.passed).collect();
    assert_eq!(
        (failed.len(), &*failed[0].name, failed[0].details.as_str()),
        (1, "screen_state", "locked")
    );
    let error = device.helper_checks().err().unwrap();
    assert_eq!(error.to_string(), "the helper is not supported on iOS");
}

const JPEG: [u8; 23] =
    [0xFF, 0xD8, 0xFF, 0xFE, 0, 4, 0, 0, 0xFF, 0xC0, 0, 11, 8, 1, 0, 0, 6, 1, 0, 0, 0, 0xFF, 0xD9];

/// The other port of WebDriverAgent, as FBMjpegServer.m writes it.
#[tokio::test]
async fn screen_is_streamed() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let (wda, ios) = StandIn::attach().await;
    let ios: WebDriverPhone = ios.with_mjpeg(&url).unwrap();
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut request = [0; 16];
        stream.read_exact(&mut request).await.unwrap();
        let head = "HTTP/1.0 200 OK\r\nServer: WDA MJPEG Server\r\nContent-Type: \
                    multipart/x-mixed-replace; boundary=--BoundaryString\r\n\r\n";
        stream.write_all(head.as_bytes()).await.unwrap();
        // Until the client leaves.
        for turn in 0u8.. {
            let mut picture = JPEG.to_vec();
            // The comment tells the pictures apart.
            picture[6] = turn;
            let part = format!(
                "--BoundaryString\r\nContent-type: image/jpeg\r\nContent-Length: {}\r\n\r\n",
                picture.len()
            );
            let part = [part.as_bytes(), &picture, b"\r\n"].concat();
            if stream.write_all(&part).await.is_err() {
                return;
            }
            tokio::task::yield_now().await;
            let mut end = [0; 64];
            if let Ok(0) = stream.try_read(&mut end) {
                return;
            }
            if turn == u8::MAX {
                return;
            }
        }
    });
    let device: &dyn Device = &ios;
    let options = StreamOptions { max_side: Some(633), gap: Duration::from_millis(100) };
    let streaming = device.screen_streaming().unwrap();
    let mut stream = streaming.stream_screen(options).await.unwrap().unwrap();
    let picture = stream.next().await.unwrap();
    assert_eq!((picture.size.width, picture.size.height), (6, 256));
    assert_eq!(wda.state().settings["mjpegScalingFactor"], 25);
    assert_eq!(wda.state().settings["mjpegServerFramerate"], 10);
    drop(stream);
    server.await.unwrap();
}
