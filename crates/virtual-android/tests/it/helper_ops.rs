//! The operations of Thumbwire's helper on the virtual phone, each from a host's end of the wire: a
//! golden transcript per release, hostile requests, and who holds UiAutomation.

use crate::common::Wired;
use crate::common::helper::{RunningHelper, Talk, in_a_terminal};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::io::Read as _;
use std::time::Duration;
use thumbwire_adb::Stream;
use thumbwire_virtual_android::{ClockMode, Profile, Setup};
use tokio::time::{Instant, sleep};

const NAME: &str = "thumbwire-00112233445566aa";
const NOTES: &str = "com.android.notes";

async fn helped(wired: &Wired) -> (RunningHelper, Talk) {
    let held = RunningHelper::started(wired, NAME).await;
    let talk = Talk::known(wired, NAME).await;
    (held, talk)
}

/// The same on a phone of any release; the helper ends with the stream.
async fn helped_on(wired: &Wired, release: &str) -> (Stream, Talk) {
    let stream = match release {
        "4.4" => in_a_terminal(wired, NAME).await,
        _ => RunningHelper::started(wired, NAME).await.stream,
    };
    (stream, Talk::known(wired, NAME).await)
}

/// The answer to a request, with its body.
async fn whole(talk: &mut Talk, request: Value) -> (Value, Vec<u8>) {
    talk.send(request).await;
    talk.answer_and_body().await.expect("an answer")
}

/// Each operation once, with what differs from run to run left out.
async fn transcript(release: &str) -> String {
    let wired = Wired::made(Setup::of_release(release).expect("a release"));
    wired.phone.world(|world| world.start(NOTES, None).is_ok());
    let (_held, mut talk) = helped_on(&wired, release).await;
    let mut out = String::new();
    let hello = talk.ask(json!({"op": "hello", "protocol": 1})).await;
    writeln!(out, "hello: API level {}, {}", hello["sdk"], hello["ops"]).expect("written");
    let (tree, body) = whole(&mut talk, json!({"op": "tree"})).await;
    let xml = String::from_utf8(body).expect("text");
    writeln!(out, "tree: {} of {} bytes", tree["nodes"], xml.len()).expect("written");
    for request in [
        json!({"op": "tree", "reports": [["power"], ["window", "-a"]], "idle_ms": 200}),
        json!({"op": "tree", "max_nodes": null, "deflate": true}),
        json!({"op": "tree", "compressed": true}),
        json!({"op": "front"}),
        json!({"op": "clip_get", "deflate": true}),
        json!({"op": "clip_get", "deflate": 1}),
        json!({"op": "tree"}),
        json!({"op": "tap", "at": "New note"}),
        json!({"op": "text", "text": "\u{e9}\u{6f22}\u{1f600}"}),
        json!({"op": "text", "text": "ab"}),
        json!({"op": "text", "text": "new", "replace": true}),
        json!({"op": "key", "code": 67, "times": 2}),
        json!({"op": "text", "text": "", "replace": true}),
        json!({"op": "tap", "x": 500, "y": 60}),
        json!({"op": "swipe", "x1": 500, "y1": 600, "x2": 500, "y2": 300, "duration_ms": 100}),
        json!({"op": "touch", "fingers": [[[0, 10, 300], [50, 20, 300]]]}),
        json!({"op": "tree", "reports": [["nope"]]}),
        json!({"op": "shot", "max_side": 100}),
        json!({"op": "clip_set", "text": "\u{1f600}"}),
        json!({"op": "clip_get"}),
        json!({"op": "release"}),
        json!({"op": "release"}),
        json!({"op": "call_service", "component": "a.b/.C", "extras": [], "callbacks": ["c"], "result_extras": []}),
        json!({"op": "cancel", "of": 999}),
        json!({"op": "fly"}),
    ] {
        let mut sent = request.clone();
        if sent["at"] == "New note" {
            (sent["x"], sent["y"]) = middle_of(&xml, "New note");
        }
        let (mut answer, body) = whole(&mut talk, sent).await;
        let fields = answer.as_object_mut().expect("an object");
        fields.remove("id");
        if fields.remove("tree_bytes").is_some() {
            fields.insert("tree_bytes".to_owned(), json!("…"));
        }
        writeln!(out, "{request}\n  {answer}{}", if body.is_empty() { "" } else { ", and a body" })
            .expect("written");
    }
    for request in [json!({"op": "events"}), json!({"op": "stream", "max_side": 100})] {
        let id = talk.send(request.clone()).await;
        let first = whole_answer(&mut talk).await;
        talk.send(json!({"op": "cancel", "of": id})).await;
        // The request's end and the answer to `cancel` come in any order.
        let mut ends = [whole_answer(&mut talk).await, whole_answer(&mut talk).await];
        ends.sort();
        writeln!(out, "{request}\n  {first}\n  {}\n  {}", ends[0], ends[1]).expect("written");
    }
    writeln!(out, "bye\n  {}", talk.ask(json!({"op": "bye"})).await).expect("written");
    out
}

/// The middle of the node with this text, or with it as its description.
fn middle_of(xml: &str, text: &str) -> (Value, Value) {
    let tag = xml.split("<node ").find(|tag| tag.contains(&format!("\"{text}\"")));
    let (_, bounds) = tag.and_then(|tag| tag.split_once("bounds=\"")).expect("bounds");
    let numbers = bounds.split(|c: char| !c.is_ascii_digit()).filter_map(|word| word.parse().ok());
    let [left, top, right, bottom] = numbers.take(4).collect::<Vec<u32>>()[..] else {
        panic!("{bounds}")
    };
    ((left.midpoint(right)).into(), (top.midpoint(bottom)).into())
}

/// The next answer without its id.
async fn whole_answer(talk: &mut Talk) -> String {
    let (mut answer, body) = talk.answer_and_body().await.expect("an answer");
    answer.as_object_mut().expect("an object").remove("id");
    format!("{answer}{}", if body.is_empty() { "" } else { ", and a body" })
}

#[tokio::test]
async fn every_operation_answers_as_the_wire_says() {
    for release in ["4.4", "9", "14"] {
        insta::assert_snapshot!(format!("helper-ops-of-{release}"), transcript(release).await);
    }
}

#[tokio::test]
async fn body_is_compressed_on_request() {
    let wired = Wired::new();
    wired.phone.world(|world| world.start(NOTES, None).is_ok());
    let (_held, mut talk) = helped(&wired).await;
    let (plain, tree) = whole(&mut talk, json!({"op": "tree"})).await;
    let (answer, body) = whole(&mut talk, json!({"op": "tree", "deflate": true})).await;
    assert_eq!((&plain["inflated"], &answer["inflated"]), (&Value::Null, &json!(tree.len())));
    assert_eq!(answer["tree_bytes"], tree.len());
    assert!(body.len() * 4 < tree.len(), "{} of {} bytes", body.len(), tree.len());
    let mut inflated = Vec::new();
    flate2::read::ZlibDecoder::new(&body[..]).read_to_end(&mut inflated).expect("zlib");
    assert!(inflated == tree);
}

#[tokio::test]
async fn tree_has_the_nodes_that_were_asked_for() {
    let wired = Wired::new();
    let (_held, mut talk) = helped(&wired).await;
    let (answer, body) = whole(&mut talk, json!({"op": "tree", "max_nodes": 5})).await;
    assert_eq!((&answer["nodes"], &answer["truncated"]), (&json!(5), &json!(true)));
    assert_eq!(String::from_utf8(body).expect("text").matches("<node ").count(), 5);
}

#[tokio::test(start_paused = true)]
async fn release_waits_for_running_requests() {
    let wired = Wired::new();
    let (_held, mut talk) = helped(&wired).await;
    let id = talk.send(json!({"op": "events"})).await;
    talk.answer().await;
    // A further request does not end the time of the first.
    talk.ask(json!({"op": "tree"})).await;
    wired.phone.world(|world| world.advance(world.uptime() + Duration::from_secs(9)));
    let refused = wired.run("uiautomator dump /dev/tty").await.stderr;
    assert!(String::from_utf8_lossy(&refused).contains("already registered"));
    assert_eq!(talk.ask(json!({"op": "release", "limit_ms": 500})).await["error"], "timeout");
    talk.ask_both(json!({"op": "cancel", "of": id})).await;
    assert_eq!(talk.ask(json!({"op": "release"})).await["released"], true);
}

#[tokio::test(start_paused = true)]
async fn killed_helper_leaves_the_rotation() {
    let wired = Wired::new();
    let (held, mut talk) = helped(&wired).await;
    talk.ask(json!({"op": "tree"})).await;
    wired.run("settings put system accelerometer_rotation 9").await;
    wired.phone.add_fault("helper-killed:times=1".parse().expect("a rule"));
    talk.send(json!({"op": "tree"})).await;
    assert_eq!(held.end().await.1, Some(137));
    assert_eq!(wired.stdout("settings get system accelerometer_rotation").await, "9\n");
    // Nobody holds UiAutomation.
    assert!(wired.stdout("uiautomator dump /dev/tty").await.contains("<hierarchy"));
}

#[tokio::test]
async fn program_that_starts_gets_its_turn_between_two_requests() {
    for release in ["4.4", "14"] {
        let wired = Wired::made(Setup::of_release(release).expect("a release"));
        let (_held, mut talk) = helped_on(&wired, release).await;
        let rotation = "settings get system accelerometer_rotation";
        for _ in 0..3 {
            assert_eq!(talk.ask(json!({"op": "tree"})).await["ok"], true);
            let dump = wired.run("uiautomator dump /dev/tty").await.stdout;
            assert!(String::from_utf8_lossy(&dump).contains("<hierarchy"), "{release}");
        }
        // Letting it go leaves the rotation as somebody set it meanwhile.
        assert_eq!(talk.ask(json!({"op": "tree"})).await["ok"], true);
        wired.run("settings put system accelerometer_rotation 9").await;
        assert_eq!(talk.ask(json!({"op": "release"})).await["released"], true);
        let after = wired.run(rotation).await.stdout;
        assert_eq!(String::from_utf8_lossy(&after).trim(), "9", "{release}");
    }
}

/// In real time, which is the test's: what the helper does while a program of 300 ms starts.
#[tokio::test(start_paused = true)]
async fn program_that_starts_ends_waits_and_delays_requests() {
    let setup = Setup { clock: ClockMode::Real, profile: Profile::Pixel, ..Setup::default() };
    let wired = Wired::made(setup);
    let (_held, mut talk) = helped(&wired).await;
    let events = talk.send(json!({"op": "events"})).await;
    assert_eq!(talk.answer().await.expect("an answer")["listening"], true);
    let dump = wired.run("uiautomator dump /dev/tty");
    let asking = async {
        sleep(Duration::from_millis(150)).await;
        let began = Instant::now();
        let id = talk.send(json!({"op": "tree", "limit_ms": 3500})).await;
        let mut saw_a_change = false;
        loop {
            let answer = talk.answer().await.expect("an answer");
            saw_a_change |= answer["id"] == events && answer["event"] == "content";
            if answer["id"] == id {
                assert_eq!(answer["ok"], true, "{answer}");
                return (began.elapsed(), saw_a_change);
            }
        }
    };
    let (dump, (waited, saw_a_change)) = tokio::join!(dump, asking);
    assert!(String::from_utf8_lossy(&dump.stdout).contains("<hierarchy"));
    assert!((800..1_200).contains(&waited.as_millis()), "{waited:?}");
    // One that watches looks again.
    assert!(saw_a_change || talk.answer().await.expect("an event")["event"] == "content");
}

#[tokio::test(start_paused = true)]
async fn faults_of_the_helper_are_reported_by_it() {
    let wired = Wired::new();
    let (held, mut talk) = helped(&wired).await;
    let mut meets = async |rule: &str, op: &str| {
        wired.phone.add_fault(rule.parse().expect("a rule"));
        talk.ask(json!({"op": op, "limit_ms": 500})).await
    };
    let busy = meets("automation-busy:times=1,ms=3000", "tree").await;
    assert_eq!(busy["error"], "ua_busy");
    assert!(busy["message"].as_str().expect("words").contains("another tool"), "{busy}");
    assert_eq!(meets("automation-busy:times=1,ms=300", "tree").await["ok"], true);
    assert_eq!(meets("no-window:times=1,ms=3000", "tree").await["error"], "no_window");
    assert_eq!(meets("no-window:times=1,ms=300", "tree").await["ok"], true);
    wired.phone.add_fault("helper-killed:times=1".parse().expect("a rule"));
    talk.send(json!({"op": "tree"})).await;
    assert_eq!(talk.answer().await, None);
    assert_eq!(held.end().await.1, Some(137));
}

#[tokio::test]
async fn events_come_until_they_are_cancelled() {
    let wired = Wired::new();
    let (_held, mut talk) = helped(&wired).await;
    let id = talk.send(json!({"op": "events"})).await;
    let first = talk.answer().await.expect("an answer");
    assert_eq!(first, json!({"id": id, "ok": true, "more": true, "listening": true}));
    wired.phone.world(|world| world.start(NOTES, None).is_ok());
    let event = talk.answer().await.expect("an event");
    assert_eq!(event["event"], "window");
    let answers = talk.ask_both(json!({"op": "cancel", "of": id})).await;
    let ended = answers.iter().find(|answer| answer["id"] == id).expect("its end");
    assert_eq!(ended["error"], "cancelled");
}

#[tokio::test]
async fn stream_sends_a_picture_of_each_change() {
    let wired = Wired::new();
    let (_held, mut talk) = helped(&wired).await;
    let id = talk.send(json!({"op": "stream", "max_side": 100, "gap_ms": 0})).await;
    let mut pictures = Vec::new();
    for app in [None, Some(NOTES), Some("com.android.settings")] {
        if let Some(app) = app {
            wired.phone.world(|world| world.start(app, None).is_ok());
        }
        let (header, picture) = talk.answer_and_body().await.expect("a picture");
        assert_eq!((&header["id"], &header["more"]), (&json!(id), &json!(true)));
        assert_eq!((&header["width"], &header["height"]), (&json!(45), &json!(100)));
        assert!(picture.starts_with(&[0xff, 0xd8]) && !pictures.contains(&picture));
        pictures.push(picture);
    }
    // A change that does not show sends nothing: the next answer is the one to `cancel`.
    wired.phone.world(|_| ());
    talk.ask(json!({"op": "cancel"})).await;
    let answers = talk.ask_both(json!({"op": "cancel", "of": id})).await;
    let ended = answers.iter().find(|answer| answer["id"] == id).expect("its end");
    assert_eq!(ended["error"], "cancelled");
}

#[tokio::test]
async fn cut_link_ends_the_helper_and_frees_ui_automation() {
    let wired = Wired::new();
    let (_held, mut talk) = helped(&wired).await;
    wired.phone.add_fault("adb-restart:on=helper tap,times=1".parse().expect("a rule"));
    assert_eq!(talk.ask(json!({"op": "tree"})).await["ok"], true);
    talk.send(json!({"op": "tap", "x": 500, "y": 60})).await;
    assert_eq!(talk.answer().await, None);
    let dump = wired.stdout("uiautomator dump").await;
    assert!(dump.contains("dumped to"), "{dump}");
}

#[tokio::test]
async fn apps_have_the_labels_of_the_launcher() {
    let wired = Wired::new();
    let (_held, mut talk) = helped(&wired).await;
    let answer = talk.ask(json!({"op": "apps"})).await;
    let apps = answer["apps"].as_array().expect("a list");
    assert!(apps.contains(&json!({"package": NOTES, "label": "Notes"})), "{apps:?}");
}

#[tokio::test]
async fn older_helper_has_few_operations() {
    let wired = Wired::new();
    wired.phone.add_fault("helper-old".parse().expect("a rule"));
    let (_held, mut talk) = helped(&wired).await;
    assert_eq!(talk.ask(json!({"op": "tree"})).await["error"], "unsupported");
    assert_eq!(talk.ask(json!({"op": "apps"})).await["ok"], true);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    /// Fields of any kind are answered, and the helper goes on.
    #[test]
    fn hostile_fields_are_answered(values in prop::collection::vec(0..9_usize, 8)) {
        let kinds = [
            json!(null), json!(-1), json!(u64::MAX), json!(1e308), json!(""), json!([[]]), json!({}), json!(true),
            json!("\u{0}\u{1f600}".repeat(999)),
        ];
        let names = [
            "x", "y", "x1", "times", "hold_ms", "text", "reports", "limit_ms",
        ];
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let wired = Wired::new();
            let (_held, mut talk) = helped(&wired).await;
            for op in ["tree", "tap", "swipe", "touch", "key", "text", "shot", "release", "clip_set"] {
                let mut request = json!({"op": op});
                for (name, value) in names.iter().zip(&values) {
                    request[*name] = kinds[*value].clone();
                }
                let answer = talk.ask(request).await;
                assert!(answer["ok"] == true || answer["error"].is_string(), "{op}: {answer}");
            }
            assert_eq!(talk.ask(json!({"op": "cancel"})).await["ok"], true);
        });
    }
}
