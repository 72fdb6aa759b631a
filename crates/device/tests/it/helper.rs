//! The host side of the helper against a phone that speaks the protocol, see `helped`.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::helped::{HelperOutput, KEY, Phone, answer, attach_again};
use serde_json::{Value, json};
use thumbwire_adb::DirectTransport;
use thumbwire_device::android::{Android, HelperMode};
use thumbwire_device::{
    AppId, AppIntegration as _, AppManagement as _, CallbackResult, Component, Device as _, Error,
    Foreground, Format, FormatPreference, Gesture, Key, Point, ScreenCapture as _,
    ScreenStreaming as _, ServiceReply, ServiceRequest, SideEffect, StartServiceError,
    StreamOptions, TextEditing as _, TreeDetail, TreeMethod, TypingMethod,
};
use tokio::time::Instant;

const LIMIT: Duration = Duration::from_secs(10);

fn request(value: &str) -> ServiceRequest {
    ServiceRequest {
        to: Component { app: AppId("com.x".into()), class: "com.x.Tool".into() },
        extras: vec![("request".into(), value.into())],
        callbacks: vec!["mcp_callback".into(), "callback".into()],
        result_extras: vec!["response".into()],
    }
}

/// Replies with the request.
fn echo(reply: &Value) -> Vec<HelperOutput> {
    match reply["op"].as_str().unwrap() {
        "call_service" => {
            let asked = reply["extras"][0][1].clone();
            let extras = json!([["response", asked], ["unasked", "x"]]);
            vec![answer(reply, json!({ "ok": true, "code": 7, "extras": extras, "uid": 10123 }))]
        }
        _ => vec![answer(reply, json!({ "ok": true }))],
    }
}

fn answered(value: &str) -> ServiceReply {
    let extras = vec![("response".to_owned(), value.to_owned())];
    ServiceReply::Answered(CallbackResult { code: 7, extras, uid: Some(10123) })
}

#[tokio::test]
async fn request_is_delivered_and_its_reply_returned() {
    for old in [false, true] {
        let mut phone = Phone::with(echo);
        phone.old = old;
        let (phone, device) = phone.attach().await;
        for value in ["{\"é\":\"漢字 😀\"}", "second"] {
            assert_eq!(device.call_service(&request(value), LIMIT).await.unwrap(), answered(value));
        }
        assert_eq!(phone.starts.load(Ordering::SeqCst), 1, "started once, then reused");
        let asked = &phone.heard("call_service")[0];
        assert_eq!(asked["component"], "com.x/com.x.Tool");
        assert_eq!(asked["callbacks"], json!(["mcp_callback", "callback"]));
        assert_eq!(asked["result_extras"], json!(["response"]));
        let limit = asked["limit_ms"].as_u64().unwrap();
        assert!(limit > 0 && limit <= 10_000, "the limit includes the helper's start: {limit}");
        device.restore_borrowed().await;
        assert_eq!(phone.heard("bye").len(), 1);
        phone.until_left().await;
    }
}

#[tokio::test]
async fn concurrent_requests_share_one_helper_and_match_replies() {
    /// Holds all replies back until the last request.
    fn backwards(reply: &Value) -> Vec<HelperOutput> {
        static KEPT: Mutex<Vec<Value>> = Mutex::new(Vec::new());
        let mut kept = KEPT.lock().unwrap();
        kept.push(reply.clone());
        if kept.len() < 20 {
            return Vec::new();
        }
        // Each of them twice.
        kept.drain(..).rev().flat_map(|said| [echo(&said), echo(&said)]).flatten().collect()
    }
    let (phone, device) = Phone::with(backwards).attach().await;
    let asking = (0..20).map(|nth| {
        let device = Arc::clone(&device);
        tokio::spawn(async move {
            let value = format!("number {nth}");
            assert_eq!(
                device.call_service(&request(&value), LIMIT).await.unwrap(),
                answered(&value)
            );
        })
    });
    for asked in asking.collect::<Vec<_>>() {
        asked.await.unwrap();
    }
    assert_eq!(phone.starts.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn helper_error_codes_are_mapped() {
    fn by_code(reply: &Value) -> Vec<HelperOutput> {
        let code = reply["extras"][0][1].clone();
        vec![answer(reply, json!({ "error": code, "message": "its words", "advice": "advice" }))]
    }
    let (phone, device) = Phone::with(by_code).attach().await;
    let text = || r#""its words""#.to_owned();
    for (code, expected) in [
        ("timeout", ServiceReply::NoReply),
        ("not_found", ServiceReply::NotStarted(StartServiceError::NotFound)),
        ("refused", ServiceReply::NotStarted(StartServiceError::Refused(text()))),
        ("background", ServiceReply::NotStarted(StartServiceError::BackgroundRestricted(text()))),
        ("too_large", ServiceReply::NotStarted(StartServiceError::TooLarge { max: 200_000 })),
    ] {
        assert_eq!(device.call_service(&request(code), LIMIT).await.unwrap(), expected, "{code}");
    }
    let spared = |phone: &Phone| phone.spared.load(Ordering::SeqCst);
    assert_eq!(
        (spared(&phone), phone.heard("call_service").len()),
        (1, 6),
        "background starts are tried twice"
    );
    let error = device.call_service(&request("internal"), LIMIT).await.unwrap_err();
    assert!(matches!(&error, Error::Failed { text, .. } if text.contains("its words")), "{error}");
    let error = device.call_service(&request("unsupported"), LIMIT).await.unwrap_err();
    assert!(matches!(error, Error::HelperMissing { .. }), "{error}");
}

#[tokio::test]
async fn file_that_cannot_be_written_is_reported_and_tried_again_after_a_minute() {
    tokio::time::pause();
    let mut phone = Phone::with(echo);
    phone.is_full = true;
    phone.lies_there.store(false, Ordering::SeqCst);
    let (phone, device) = phone.attach().await;
    for _ in 0..3 {
        let error = device.call_service(&request("x"), LIMIT).await.unwrap_err();
        assert!(error.to_string().contains("no room"), "{error}");
        assert_eq!(error.acted(), SideEffect::None);
    }
    let looked = || phone.looked.load(Ordering::SeqCst);
    assert_eq!((looked(), phone.starts.load(Ordering::SeqCst)), (1, 0));
    tokio::time::advance(Duration::from_secs(61)).await;
    assert!(device.call_service(&request("x"), LIMIT).await.is_err());
    assert_eq!(looked(), 2);
}

#[tokio::test]
async fn oversized_request_is_not_sent() {
    let (phone, device) = Phone::with(echo).attach().await;
    let result = device.call_service(&request(&"x".repeat(200_001)), LIMIT).await.unwrap();
    assert_eq!(result, ServiceReply::NotStarted(StartServiceError::TooLarge { max: 200_000 }));
    assert_eq!(phone.starts.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn dead_helper_fails_pending_requests_and_restarts_later() {
    fn dies(reply: &Value) -> Vec<HelperOutput> {
        match reply["extras"][0][1].as_str().unwrap() {
            "die" => vec![HelperOutput::Death],
            "wait" => Vec::new(),
            _ => echo(reply),
        }
    }
    let (phone, device) = Phone::with(dies).attach().await;
    let waits = {
        let device = Arc::clone(&device);
        tokio::spawn(async move { device.call_service(&request("wait"), LIMIT).await })
    };
    phone.until_heard("call_service", 1).await;
    let dies = device.call_service(&request("die"), LIMIT).await;
    for failed in [dies, waits.await.unwrap()] {
        let error = failed.unwrap_err();
        assert_eq!(error.acted(), SideEffect::Possible);
        assert!(error.to_string().contains("closed the connection"), "{error}");
    }
    assert_eq!(phone.heard("call_service").len(), 2, "nothing was sent twice");
    assert_eq!(device.call_service(&request("x"), LIMIT).await.unwrap(), answered("x"));
    assert_eq!(phone.starts.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn malformed_reply_ends_the_connection_with_the_reason() {
    fn garbage(reply: &Value) -> Vec<HelperOutput> {
        match reply["extras"][0][1].as_str().unwrap() {
            "long" => vec![HelperOutput::Bytes(vec![0xFF; 8])],
            "list" => vec![HelperOutput::Bytes(b"\0\0\0\x02\0\0\0\0[]".to_vec())],
            "no id" => vec![HelperOutput::Header(json!({ "ok": true }))],
            "neither" => vec![answer(reply, json!({}))],
            "cut" => vec![HelperOutput::Bytes(b"\0\0\0\x09\0\0".to_vec()), HelperOutput::Death],
            _ => echo(reply),
        }
    }
    let (phone, device) = Phone::with(garbage).attach().await;
    let cases = [
        ("long", "8589934590 bytes"),
        ("list", r#"not a JSON object: "[]""#),
        ("no id", "without a request id"),
        ("neither", "neither `ok` nor"),
        ("cut", "closed"),
    ];
    for (nth, (value, named)) in cases.into_iter().enumerate() {
        let error = device.call_service(&request(value), LIMIT).await.unwrap_err();
        let named = error.to_string().contains(named) || value == "cut";
        assert!(named && error.acted() == SideEffect::Possible, "{value}: {error}");
        assert_eq!(device.call_service(&request("x"), LIMIT).await.unwrap(), answered("x"));
        assert_eq!(phone.heard("hello").len(), nth + 2, "connected again");
    }
}

#[tokio::test]
async fn unexpected_reply_is_an_error_but_the_connection_stays() {
    fn odd(reply: &Value) -> Vec<HelperOutput> {
        match reply["extras"][0][1].as_str().unwrap() {
            "odd" => vec![answer(reply, json!({ "ok": true, "code": "seven" }))],
            _ => echo(reply),
        }
    }
    let (phone, device) = Phone::with(odd).attach().await;
    let error = device.call_service(&request("odd"), LIMIT).await.unwrap_err();
    assert!(matches!(error, Error::Unreadable { .. }), "{error}");
    assert_eq!(device.call_service(&request("x"), LIMIT).await.unwrap(), answered("x"));
    assert_eq!(phone.starts.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn dropped_request_is_cancelled_on_the_phone() {
    fn silent(reply: &Value) -> Vec<HelperOutput> {
        if reply["op"] == "call_service" { Vec::new() } else { echo(reply) }
    }
    let (phone, device) = Phone::with(silent).attach().await;
    let waits = {
        let device = Arc::clone(&device);
        tokio::spawn(async move { device.call_service(&request("x"), LIMIT).await })
    };
    phone.until_heard("call_service", 1).await;
    waits.abort();
    phone.until_heard("cancel", 1).await;
    assert_eq!(phone.heard("cancel")[0]["of"], phone.heard("call_service")[0]["id"]);
}

#[tokio::test]
async fn timed_out_request_may_have_acted() {
    fn silent(reply: &Value) -> Vec<HelperOutput> {
        if reply["op"] == "call_service" { Vec::new() } else { echo(reply) }
    }
    let (phone, device) = Phone::with(silent).attach().await;
    tokio::time::pause();
    let began = Instant::now();
    let error = device.call_service(&request("x"), LIMIT).await.unwrap_err();
    assert!(began.elapsed() >= LIMIT && began.elapsed() <= LIMIT + Duration::from_secs(3));
    assert_eq!(error.acted(), SideEffect::Possible);
    phone.until_heard("cancel", 1).await;
}

#[tokio::test]
async fn hung_helper_is_not_reused() {
    let (phone, device) = Phone::with(|_| Vec::new()).attach().await;
    tokio::time::pause();
    for starts in 1..3 {
        device.call_service(&request("x"), LIMIT).await.unwrap_err();
        assert_eq!(phone.starts.load(Ordering::SeqCst), starts);
    }
}

#[tokio::test]
async fn failed_start_reports_the_helpers_output() {
    let mut phone = Phone::with(echo);
    phone.listens = false;
    let (_, device) = phone.attach().await;
    let error = device.call_service(&request("x"), LIMIT).await.unwrap_err();
    assert!(error.to_string().contains("no such class"), "{error}");
    assert_eq!(error.acted(), SideEffect::None);
}

#[tokio::test]
async fn failed_handshake_rejects_the_helper() {
    fn refuses(_: &Value) -> Value {
        json!({ "error": "refused", "message": "not now", "advice": "" })
    }
    fn newer(_: &Value) -> Value {
        json!({ "ok": true, "key": KEY, "protocol": 2, "ops": ["call_service"] })
    }
    // An app that listens in its place cannot read the key.
    fn guesses(_: &Value) -> Value {
        json!({ "ok": true, "key": "f".repeat(32), "protocol": 1, "ops": ["call_service"] })
    }
    fn silent(_: &Value) -> Value {
        json!({ "ok": true, "protocol": 1, "ops": ["call_service"] })
    }
    for (hello, told) in [
        (refuses as fn(&Value) -> Value, "not now"),
        (newer, "another protocol version"),
        (guesses, "another program on the phone listens in its place"),
        (silent, "another program on the phone listens in its place"),
    ] {
        let mut phone = Phone::with(echo);
        phone.hello = hello;
        let (phone, device) = phone.attach().await;
        let error = device.call_service(&request("x"), LIMIT).await.unwrap_err();
        assert!(error.to_string().contains(told), "{error}");
        assert_eq!(error.acted(), SideEffect::None);
        assert!(phone.heard("call_service").is_empty());
        phone.until_left().await;
    }
}

#[tokio::test]
async fn start_survives_cancellation_and_idle_helper_is_connected_again() {
    let (phone, device) = Phone::with(echo).attach().await;
    {
        let gone = request("gone");
        let mut asked = Box::pin(device.call_service(&gone, LIMIT));
        // Until the API level was read and the start has begun.
        while phone.starts.load(Ordering::SeqCst) == 0 {
            let hears = phone.hears.notified();
            tokio::select! {
                _ = &mut asked => panic!("too early"),
                () = hears => {}
                () = tokio::task::yield_now() => {}
            }
        }
    }
    assert_eq!(device.call_service(&request("x"), LIMIT).await.unwrap(), answered("x"));
    assert_eq!(phone.starts.load(Ordering::SeqCst), 1);
    tokio::time::pause();
    for (minutes, hellos) in [(8, 1), (10, 2)] {
        tokio::time::advance(Duration::from_secs(60 * minutes)).await;
        assert_eq!(device.call_service(&request("y"), LIMIT).await.unwrap(), answered("y"));
        assert_eq!(phone.heard("hello").len(), hellos, "{minutes}");
    }
}

/// The connection stays open: others may hold it.
#[tokio::test]
async fn dropped_handle_leaves_the_helper() {
    let (phone, direct) = Phone::with(echo).serve();
    let device = Android::attach("helped", Arc::<DirectTransport>::clone(&direct)).await.unwrap();
    device.call_service(&request("x"), LIMIT).await.unwrap();
    drop(device);
    phone.until_left().await;
}

const JAR: &str = "/data/local/tmp/thumbwire-helper-1.jar";

#[tokio::test]
async fn helper_is_pushed_once_and_replaces_another_file() {
    for (old, another) in [(false, false), (true, true)] {
        let mut phone = Phone::with(echo);
        phone.old = old;
        phone.lies_there = another.into();
        let (phone, direct) = phone.serve();
        for value in ["first", "second"] {
            let device = attach_again(Arc::clone(&direct), HelperMode::Auto).await;
            assert_eq!(device.call_service(&request(value), LIMIT).await.unwrap(), answered(value));
            device.restore_borrowed().await;
        }
        let files = phone.files.lock().unwrap();
        let [file] = &files[..] else { panic!("{} files", files.len()) };
        let jar = concat!(env!("CARGO_MANIFEST_DIR"), "/../../helper/thumbwire-helper.jar");
        assert_eq!((&*file.path, file.mode), (JAR, 0o100_444), "nobody may write it");
        assert!(file.content == std::fs::read(jar).unwrap());
        assert_eq!(phone.starts.load(Ordering::SeqCst), 1, "the second uses the same");
    }
}

#[tokio::test]
async fn phone_without_room_says_so_and_is_left_as_it_was() {
    let mut phone = Phone::with(echo);
    phone.is_full = true;
    let (phone, device) = phone.attach_with(HelperMode::Auto).await;
    let error = device.call_service(&request("x"), LIMIT).await.unwrap_err();
    assert!(error.to_string().contains("no room"), "{error}");
    assert_eq!(error.acted(), SideEffect::None);
    assert_eq!(phone.starts.load(Ordering::SeqCst), 0);
    assert!(phone.files.lock().unwrap().iter().all(|file| file.path != JAR));
}

#[tokio::test]
async fn helper_that_is_off_is_not_looked_for() {
    let (phone, device) = Phone::with(echo).attach_with(HelperMode::Off).await;
    let error = device.call_service(&request("x"), LIMIT).await.unwrap_err();
    assert!(matches!(error, Error::HelperMissing { .. }), "{error}");
    assert_eq!(phone.looked.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn clipboard_is_read_and_set() {
    fn clip(request: &Value) -> Vec<HelperOutput> {
        let reply = match (request["op"].as_str().unwrap(), request["text"].as_str()) {
            ("clip_get", _) => {
                json!({ "ok": true, "text": "né😀" })
            }
            ("clip_set", Some("too much")) => {
                json!({ "error": "too_large", "message": "it is long", "advice": "send less" })
            }
            ("clip_set", Some("'; reboot\n😀")) => json!({ "ok": true }),
            (op, text) => panic!("{op} {text:?}"),
        };
        vec![answer(request, reply)]
    }
    let (_phone, device) = Phone::with(clip).attach().await;
    assert_eq!(device.clipboard().await.unwrap().as_deref(), Some("né😀"));
    device.set_clipboard("'; reboot\n😀").await.unwrap();
    let error = device.set_clipboard("too much").await.unwrap_err();
    assert!(error.to_string().contains(r#""it is long"; "send less""#), "{error}");
}

#[tokio::test]
async fn clipboard_needs_a_helper_that_has_it() {
    fn unsupported(request: &Value) -> Vec<HelperOutput> {
        vec![answer(
            request,
            json!({ "error": "unsupported", "message": "unknown op", "advice": "" }),
        )]
    }
    let (phone, device) = Phone::with(unsupported).attach().await;
    let error = device.clipboard().await.unwrap_err();
    assert!(matches!(error, Error::HelperMissing { what: "the clipboard" }), "{error}");
    assert_eq!(phone.starts.load(Ordering::SeqCst), 1);
    let phone = Phone::with(unsupported);
    phone.lies_there.store(false, Ordering::SeqCst);
    let (_phone, device) = phone.attach().await;
    let error = device.clipboard().await.unwrap_err();
    assert!(matches!(error, Error::HelperMissing { what: "the clipboard" }), "{error}");
}

#[tokio::test]
async fn pinch_is_a_touch_of_two_fingers() {
    fn touch(request: &Value) -> Vec<HelperOutput> {
        let reply = match (request["op"].as_str().unwrap(), request["fingers"][0][0][1].as_i64()) {
            ("touch", Some(400)) => json!({ "ok": true }),
            ("touch", _) => {
                json!({ "error": "refused", "message": "no window", "advice": "look again" })
            }
            (op, _) => panic!("{op}"),
        };
        vec![answer(request, reply)]
    }
    let (phone, device) = Phone::with(touch).attach().await;
    let pinch = |x: i32| {
        let (middle, duration) = (Point { x, y: 1000 }, Duration::from_millis(300));
        Gesture::Pinch { middle, from: 283, to: 566, duration }
    };
    device.touch(pinch(500)).await.unwrap();
    let fingers = json!([[[0, 400, 1100], [300, 300, 1200]], [[0, 600, 900], [300, 700, 800]]]);
    assert_eq!(phone.heard("touch")[0]["fingers"], fingers);
    let error = device.touch(pinch(900)).await.unwrap_err();
    assert!(error.to_string().contains(r#""no window"; "look again""#), "{error}");
    let (phone, device) = Phone::with(touch).attach_with(HelperMode::Off).await;
    let error = device.touch(pinch(500)).await.unwrap_err();
    assert!(matches!(error, Error::HelperMissing { what: "a pinch" }), "{error}");
    assert_eq!((error.acted(), phone.heard("touch").len()), (SideEffect::None, 0));
}

#[tokio::test]
async fn watch_of_the_screen_is_cancelled_when_nobody_listens() {
    fn events(request: &Value) -> Vec<HelperOutput> {
        let more = |mut fields: Value| {
            fields["ok"] = true.into();
            fields["more"] = true.into();
            answer(request, fields)
        };
        match request["op"].as_str().unwrap() {
            "events" => vec![
                more(json!({ "listening": true })),
                more(json!({ "event": "content" })),
                more(json!({ "event": "window" })),
            ],
            _ => vec![answer(request, json!({ "ok": true }))],
        }
    }
    let (phone, device) = Phone::with(events).attach().await;
    let mut watch = device.watch_screen().await.unwrap().unwrap();
    assert!(watch.changed().await);
    drop(watch);
    phone.until_heard("cancel", 1).await;
    assert_eq!(phone.heard("cancel")[0]["of"], phone.heard("events")[0]["id"]);
}

const XML: &str = "<?xml version='1.0'?><hierarchy rotation=\"0\"><node index=\"0\" text=\"\u{1f600}\" package=\"com.x\" bounds=\"[0,0][9,9]\"/></hierarchy>";
const REPORTS: &str = "mWakefulness=Awake\n  mCurrentFocus=Window{7 u0 com.x/com.x.Main}\n";

/// A helper that has a tree, types by setting text, and does the rest.
fn willing(request: &Value) -> Vec<HelperOutput> {
    let done = |mut fields: Value, body: &str| {
        fields["id"] = request["id"].clone();
        fields["ok"] = true.into();
        vec![HelperOutput::Body(fields, body.as_bytes().to_vec())]
    };
    match request["op"].as_str().unwrap() {
        "tree" => done(json!({ "tree_bytes": XML.len() }), &format!("{XML}{REPORTS}")),
        "text" => done(json!({ "method": "set", "found": request["text"], "complete": true }), ""),
        _ => done(json!({}), ""),
    }
}

#[tokio::test]
async fn look_touch_key_and_text_go_by_the_helper() {
    let (phone, device) = Phone::with(willing).attach().await;
    let tree = device.tree(TreeDetail::Full).await.unwrap();
    assert_eq!((&*tree.nodes[0].text, tree.method), ("\u{1f600}", TreeMethod::Helper));
    assert!(matches!(&tree.front, Foreground::App(front) if front.app.0 == "com.x"));
    assert_eq!(phone.heard("tree")[0]["reports"], json!([["power"], ["window", "-a"]]));
    device.touch(Gesture::Tap { at: Point { x: 3, y: 4 } }).await.unwrap();
    let tap = &phone.heard("tap")[0];
    assert_eq!((&tap["x"], &tap["y"]), (&json!(3), &json!(4)));
    device.press(Key::Back).await.unwrap();
    assert_eq!(phone.heard("key")[0]["code"], 4);
    // Each line is a text, and Enter a key.
    assert_eq!(device.type_text("\u{e9}\r\nb").await.unwrap(), TypingMethod::SetText);
    let texts: Vec<Value> = phone.heard("text").iter().map(|it| it["text"].clone()).collect();
    assert_eq!(texts, ["\u{e9}", "b"]);
    assert_eq!(phone.heard("key")[1]["code"], 66);
    assert_eq!(device.replace_text("c").await.unwrap(), Some(TypingMethod::SetText));
    assert_eq!(phone.heard("text")[2]["replace"], true);
    assert_eq!(device.replace_text("c\nd").await.unwrap(), None, "a field of one line has none");
}

/// What the driver asks for each operation: the other end of the virtual phone's `helper-ops-of-*`.
#[tokio::test]
async fn every_operation_asks_as_the_wire_says() {
    const JPEG: &[u8] = &[0xff, 0xd8, 0xff, 0xd9];
    fn all(request: &Value) -> Vec<HelperOutput> {
        let size = json!({ "id": request["id"], "ok": true, "width": 9, "height": 9 });
        match request["op"].as_str().unwrap() {
            "shot" => vec![HelperOutput::Body(size, JPEG.to_vec())],
            "stream" => {
                let mut first = size;
                first["more"] = true.into();
                vec![HelperOutput::Body(first, JPEG.to_vec())]
            }
            "events" => {
                vec![answer(request, json!({ "ok": true, "more": true, "listening": true }))]
            }
            "apps" => vec![answer(request, json!({ "ok": true, "apps": [] }))],
            "clip_get" => vec![answer(request, json!({ "ok": true, "text": null }))],
            "call_service" => echo(request),
            _ => willing(request),
        }
    }
    let (phone, device) = Phone::with(all).attach().await;
    let (at, to, time) =
        (Point { x: 300, y: 400 }, Point { x: 500, y: 600 }, Duration::from_millis(250));
    device.tree(TreeDetail::Full).await.unwrap();
    device.tree(TreeDetail::Compressed).await.unwrap();
    let _ = device.activity_in_front().await;
    for gesture in [
        Gesture::Tap { at },
        Gesture::DoubleTap { at },
        Gesture::LongPress { at, held: time },
        Gesture::Swipe { from: at, to, duration: time },
        Gesture::Drag { from: at, to, duration: time },
        Gesture::Pinch { middle: at, from: 100, to: 200, duration: time },
    ] {
        device.touch(gesture).await.unwrap();
    }
    device.press(Key::Home).await.unwrap();
    device.type_text("\u{e9}\u{1f600}").await.unwrap();
    device.replace_text("new").await.unwrap();
    device.screenshot_as(FormatPreference::Only(Format::Jpeg)).await.unwrap();
    let options = StreamOptions { max_side: Some(480), gap: time };
    drop(device.stream_screen(options).await.unwrap().unwrap());
    phone.until_heard("cancel", 1).await;
    drop(device.watch_screen().await.unwrap().unwrap());
    phone.until_heard("cancel", 2).await;
    device.clipboard().await.unwrap();
    device.set_clipboard("\u{1f600}").await.unwrap();
    let mut sent = request("x");
    sent.result_extras.clear();
    device.call_service(&sent, LIMIT).await.unwrap();
    let _ = device.launcher_apps().await;
    device.restore_borrowed().await;
    let mut asked = String::new();
    for request in phone.requests() {
        let mut request = request;
        // How much of the time limit is left.
        if request["op"] == "call_service" {
            request["limit_ms"] = "\u{2026}".into();
        }
        asked += &format!("{request}\n");
    }
    insta::assert_snapshot!(asked);
}

#[tokio::test]
async fn slow_reader_of_a_stream_gets_the_newest_picture() {
    fn pictures(request: &Value) -> Vec<HelperOutput> {
        match request["op"].as_str().unwrap() {
            "stream" => (1..=40_u8)
                .map(|nth| {
                    let header = json!({
                        "id": request["id"], "ok": true, "more": nth < 40, "width": nth, "height": 1,
                    });
                    HelperOutput::Body(header, vec![0xff, 0xd8, nth, 0xff, 0xd9])
                })
                .collect(),
            _ => vec![answer(request, json!({ "ok": true }))],
        }
    }
    let (_phone, device) = Phone::with(pictures).attach().await;
    let options = StreamOptions { max_side: None, gap: Duration::ZERO };
    let mut stream = device.stream_screen(options).await.unwrap().unwrap();
    let (mut last, mut count) = (0, 0);
    while let Some(picture) = stream.next().await {
        assert!(picture.size.width > last, "in order");
        (last, count) = (picture.size.width, count + 1);
    }
    assert!(last == 39 && count <= 39, "{count} pictures, the last one {last}");
}

#[tokio::test]
async fn lost_reply_of_a_touch_is_not_repeated() {
    fn dies(request: &Value) -> Vec<HelperOutput> {
        match request["op"].as_str().unwrap() {
            "tap" => vec![HelperOutput::Death],
            _ => willing(request),
        }
    }
    let (phone, device) = Phone::with(dies).attach().await;
    let error = device.touch(Gesture::Tap { at: Point { x: 3, y: 4 } }).await.unwrap_err();
    assert_eq!(error.acted(), SideEffect::Possible, "{error}");
    assert_eq!(phone.heard("tap").len(), 1);
}

#[tokio::test]
async fn errors_of_the_helper_say_what_is_in_the_way() {
    fn fails(request: &Value) -> Vec<HelperOutput> {
        let (code, says) = match request["op"].as_str().unwrap() {
            "tree" => ("ua_busy", "another tool holds UiAutomation: uiautomator (pid 7)"),
            "tap" => ("refused", "the window in front belongs to nobody"),
            op => panic!("{op}"),
        };
        vec![answer(request, json!({ "error": code, "message": says, "advice": "end it" }))]
    }
    let (_phone, device) = Phone::with(fails).attach().await;
    let error = device.tree(TreeDetail::Full).await.unwrap_err();
    assert!(matches!(error, Error::NotReady { .. }), "{error}");
    assert!(error.to_string().contains(r#"uiautomator (pid 7)"; "end it""#), "{error}");
    let error = device.touch(Gesture::Tap { at: Point { x: 3, y: 4 } }).await.unwrap_err();
    assert!(matches!(error, Error::Refused { .. }), "{error}");
}

#[tokio::test(start_paused = true)]
async fn helper_that_does_not_start_is_required_or_given_up_for_a_minute() {
    let mut phone = Phone::with(willing);
    phone.listens = false;
    let (phone, device) = phone.attach_with(HelperMode::Require).await;
    let tap = Gesture::Tap { at: Point { x: 3, y: 4 } };
    for _ in 0..3 {
        let error = device.touch(tap).await.unwrap_err();
        assert!(error.to_string().contains(r#"it exited: "Error: no such class"#), "{error}");
        assert_eq!(error.acted(), SideEffect::None);
    }
    assert_eq!(phone.starts.load(Ordering::SeqCst), 1);
    tokio::time::advance(Duration::from_secs(61)).await;
    assert!(device.touch(tap).await.is_err());
    assert_eq!(phone.starts.load(Ordering::SeqCst), 2);
}
