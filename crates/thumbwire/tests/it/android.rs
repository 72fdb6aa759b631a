//! The `android` toolset on the virtual phone: every tool's replies, for success and failure.
//!
//! The goldens are reviewed by eye; [`android_reference_keys.json`](./seed_003_keys.json) checks
//! that they have the keys of the Android MCP server reference.

use serde_json::{Map, Value, json};
use tempfile::TempDir;
use thumbwire_adb::{AdbServer, DirectTransport};
use thumbwire_core::action::Call;
use thumbwire_core::artifacts::ArtifactStore;
use thumbwire_core::providers::{DeviceProviders, VIRTUAL};
use thumbwire_core::session::{Session, SessionOptions};
use thumbwire_core::toolset::{Content, Reply, Toolset, android};
use thumbwire_virtual_android::{Setup, VirtualPhone};
use thumbwire_virtual_phone::Display;
use tokio::time::Instant;

use crate::caller::provider;

const NOTES: &str = "com.android.notes";

/// The toolset over a session with a selected phone, keeping files in a folder of the test.
struct Driven {
    phone: VirtualPhone,
    session: Session,
    surface: Toolset,
    root: TempDir,
}

/// A phone that shows its launcher at noon.
fn driven() -> Driven {
    driving(Setup::default())
}

/// A phone whose screenshots and recordings are fast.
fn small() -> Driven {
    let display = Display { width: 200, height: 400, density: 80, rotation: 0 };
    driving(Setup { display, ..Setup::default() })
}

fn driving(setup: Setup) -> Driven {
    let (phone, root) = (VirtualPhone::new(setup), tempfile::tempdir().unwrap());
    let phones = without_server().with(provider(&phone));
    let options = SessionOptions {
        files: Some(ArtifactStore::new(root.path())),
        clock: || jiff::civil::date(2024, 9, 1).at(12, 13, 14, 0),
        ..SessionOptions::from(Some(VIRTUAL.into()))
    };
    let session = Session::new(phones, options);
    Driven { phone, session, surface: android::toolset(), root }
}

/// An address without an adb server.
fn without_server() -> DeviceProviders {
    DeviceProviders::adb(AdbServer::new("127.0.0.1:9"))
}

impl Driven {
    async fn reply(&self, tool: &str, arguments: Value) -> Reply {
        let tool = self.surface.tool(tool).unwrap();
        let arguments = arguments.as_object().cloned().unwrap();
        self.surface.answer(tool, arguments, Call::with_timeout(tool.budget), &self.session).await
    }

    /// Calls and replies in order, in the form of a golden.
    async fn story(&self, calls: &[(&str, Value)]) -> String {
        let mut out = String::new();
        for (tool, arguments) in calls {
            let reply = self.reply(tool, arguments.clone()).await;
            out.push_str(&format!("{tool} {arguments}\n{}\n\n", words(&reply)));
        }
        out.replace(&self.root.path().display().to_string(), "ROOT")
    }

    /// A call that must succeed.
    async fn does(&self, tool: &str, arguments: Value) -> Value {
        let reply = self.reply(tool, arguments).await;
        let out = value(&reply);
        assert_eq!(out["success"], true, "{tool}: {out}");
        out
    }

    /// Runs a command on the phone, like another program.
    async fn runs(&self, command: &str) {
        let adb = DirectTransport::from_io(self.phone.in_memory());
        thumbwire_adb::run(&adb, command).await.unwrap();
    }
}

/// The reply's value, after checking that text and structured content agree.
fn value(reply: &Reply) -> Value {
    let [Content::Text(text)] = reply.content.as_slice() else { panic!("{reply:?}") };
    let read: Value = serde_json::from_str(text).unwrap();
    assert_eq!(reply.structured, Some(json!({ "result": read })));
    read
}

/// The reply's text, with long parts truncated.
fn words(reply: &Reply) -> String {
    const SHOWN: usize = 3;
    let mut out = value(reply);
    if let Some(Value::Array(elements)) = out.get_mut("elements") {
        let more = elements.len().saturating_sub(SHOWN);
        elements.truncate(SHOWN);
        elements.extend((more > 0).then(|| format!("and {more} more").into()));
    }
    if let Some(Value::String(dump)) = out.get_mut("xml_dump") {
        assert!(dump.ends_with("</hierarchy>"), "{dump}");
        *dump = format!("{}…", dump.split("<node").next().unwrap_or_default());
    }
    let mark = if reply.is_error { "isError " } else { "" };
    format!("{mark}{}", serde_json::to_string_pretty(&out).unwrap())
}

#[tokio::test(start_paused = true)]
async fn devices_are_listed_chosen_and_described() {
    let phone = driven();
    let out = phone
        .story(&[
            ("get_devices", json!({})),
            ("select_device", json!({ "device_id": "virtual" })),
            ("select_device", json!({})),
            ("select_device", json!({ "device_id": "R58M12ABCD" })),
            ("select_device", json!({ "device_id": 5 })),
            ("get_device_info", json!({})),
        ])
        .await;
    insta::assert_snapshot!(out);
}

#[tokio::test(start_paused = true)]
async fn size_override_is_reported_beside_the_physical_size() {
    let phone = driven();
    phone.runs("wm size 720x1280").await;
    let out = phone.does("get_device_info", json!({})).await;
    assert_eq!(
        out["screen_size"],
        json!({
            "success": true,
            "width": 720,
            "height": 1280,
            "raw_output": "Physical size: 1080x2400\nOverride size: 720x1280",
        })
    );
}

#[tokio::test(start_paused = true)]
async fn the_screen_is_read() {
    let phone = driven();
    let out = phone
        .story(&[
            ("get_ui_layout", json!({})),
            ("get_ui_layout", json!({ "compressed": false, "include_invisible": true })),
            ("list_screen_elements", json!({})),
            ("find_elements", json!({ "text": "map" })),
            ("find_elements", json!({ "text": "map", "exact_match": true })),
            ("find_elements", json!({ "text": "日本; rm -rf /" })),
            ("find_elements", json!({})),
            ("find_elements", json!({ "text": 5 })),
        ])
        .await;
    insta::assert_snapshot!(out);
}

#[tokio::test(start_paused = true)]
async fn the_screen_is_touched() {
    let phone = driven();
    let out = phone
        .story(&[
            ("tap_element", json!({ "text": "notes" })),
            ("tap_element", json!({ "text": "nothing like it" })),
            ("tap_element", json!({ "text": "e", "index": 50 })),
            ("tap_element", json!({})),
            ("tap_screen", json!({ "x": 540, "y": 168 })),
            ("tap_screen", json!({ "x": 3999, "y": 3999 })),
            ("tap_screen", json!({ "x": 4001, "y": -1 })),
            (
                "swipe_screen",
                json!({ "start_x": 540, "start_y": 1600, "end_x": 540, "end_y": 800 }),
            ),
            ("swipe_screen", json!({ "start_x": 540, "duration_ms": 49 })),
            ("swipe_direction", json!({ "direction": "up" })),
            (
                "swipe_direction",
                json!({ "direction": "down", "distance": 600, "duration_ms": 500 }),
            ),
            ("swipe_direction", json!({ "direction": "diagonal" })),
        ])
        .await;
    insta::assert_snapshot!(out);
}

#[tokio::test(start_paused = true)]
async fn text_is_typed_and_keys_are_pressed() {
    let phone = driven();
    phone.runs(&format!("monkey -p {NOTES} 1")).await;
    phone.does("tap_element", json!({ "content_desc": "New note" })).await;
    let out = phone
        .story(&[
            ("input_text", json!({ "text": "Don't! a;b & \"c\"" })),
            ("input_text", json!({ "text": "fresh", "clear_existing": true, "submit": true })),
            ("input_text", json!({ "text": "漢字" })),
            ("input_text", json!({})),
            ("press_key", json!({ "keycode": "BACK" })),
            ("press_key", json!({ "keycode": "3" })),
            ("press_key", json!({ "keycode": "4;id" })),
            ("press_key", json!({ "keycode": "301" })),
        ])
        .await;
    insta::assert_snapshot!(out);
}

#[tokio::test(start_paused = true)]
async fn pictures_and_recordings_are_kept() {
    let phone = small();
    let out = phone
        .story(&[
            ("take_screenshot", json!({})),
            ("take_screenshot", json!({ "filename": "a'b;id été", "pull_to_local": false })),
            ("take_screenshot", json!({ "filename": "../x.png" })),
            ("take_screenshot", json!({ "filename": "a:b?.png" })),
            ("take_screenshot", json!({ "filename": "no/such/dir.png" })),
            ("take_screenshot", json!({ "filename": 5 })),
            ("list_active_recordings", json!({})),
            (
                "start_screen_recording",
                json!({ "filename": "flow", "time_limit": 20, "bit_rate": "2M", "size_limit": "100x200" }),
            ),
            ("start_screen_recording", json!({})),
            ("list_active_recordings", json!({})),
            ("stop_screen_recording", json!({ "recording_id": "nothere" })),
            ("stop_screen_recording", json!({ "recording_id": "virtual_flow.mp4" })),
            ("stop_screen_recording", json!({ "pull_to_local": false })),
            ("stop_screen_recording", json!({})),
            ("start_screen_recording", json!({ "filename": "/sdcard/x" })),
            ("start_screen_recording", json!({ "bit_rate": "fast", "size_limit": "big", "time_limit": 601 })),
        ])
        .await;
    insta::assert_snapshot!(out);
}

#[tokio::test(start_paused = true)]
async fn the_log_is_read_and_followed() {
    let phone = driven();
    let out = phone
        .story(&[
            ("get_logcat", json!({ "max_lines": 2 })),
            (
                "get_logcat",
                json!({ "tag_filter": "ActivityTaskManager", "priority": "I", "max_lines": 1 }),
            ),
            ("get_logcat", json!({ "priority": "F", "max_lines": 5001 })),
            ("get_logcat", json!({ "priority": "X", "max_lines": 0 })),
            ("list_active_monitors", json!({})),
            ("start_log_monitoring", json!({ "output_file": "mon", "priority": "V" })),
            ("start_log_monitoring", json!({ "tag_filter": "ActivityTaskManager" })),
            ("start_log_monitoring", json!({ "output_file": "../m" })),
            ("list_active_monitors", json!({})),
            ("stop_log_monitoring", json!({ "monitor_id": "nothere" })),
            ("stop_log_monitoring", json!({ "monitor_id": "logmon_virtual_20240901_121314" })),
            ("stop_log_monitoring", json!({})),
            ("stop_log_monitoring", json!({})),
            ("get_logcat", json!({ "clear_first": true })),
        ])
        .await;
    insta::assert_snapshot!(out);
}

#[tokio::test(start_paused = true)]
async fn recordings_and_monitors_have_the_documented_limits() {
    let phone = small();
    for (tool, name, most) in
        [("start_screen_recording", "filename", 5), ("start_log_monitoring", "output_file", 10)]
    {
        for number in 0..most {
            phone.does(tool, json!({ name: format!("n{number}") })).await;
        }
        let out = value(&phone.reply(tool, json!({ name: "more" })).await);
        assert_eq!(out["success"], false);
        let error = out["error"].as_str().unwrap();
        assert!(error.contains(&most.to_string()), "{error}");
        assert_eq!(out["next"], "stop one first");
    }
    let stopped = phone.does("stop_screen_recording", json!({ "pull_to_local": false })).await;
    assert_eq!(stopped["recordings_stopped"], 5);
    assert_eq!(phone.does("stop_log_monitoring", json!({})).await["monitors_stopped"], 10);
}

#[tokio::test(start_paused = true)]
async fn without_a_device_every_tool_says_so() {
    let (surface, session) = (android::toolset(), Session::new(without_server(), None));
    let mut out = String::new();
    for tool in &surface.tools {
        let arguments = json!({
            "x": 1, "y": 1, "start_x": 1, "start_y": 1, "end_x": 2, "end_y": 2,
            "direction": "up", "text": "x", "keycode": "BACK",
        });
        let needed = |(name, _): &(String, Value)| tool.schema["properties"].get(name).is_some();
        let arguments: Map<String, Value> =
            arguments.as_object().cloned().unwrap().into_iter().filter(needed).collect();
        let reply =
            surface.answer(tool, arguments, Call::with_timeout(tool.budget), &session).await;
        out.push_str(&format!("{}\n{}\n\n", tool.name, words(&reply)));
    }
    insta::assert_snapshot!(out);
}

#[tokio::test(start_paused = true)]
async fn a_phone_that_is_slow_or_gone_is_told_in_time() {
    let mut out = String::new();
    for (rule, tool, arguments) in [
        ("slow:ms=3600000,on=input", "tap_screen", json!({ "x": 1, "y": 1 })),
        ("slow:ms=3600000,on=uiautomator", "find_elements", json!({ "text": "x" })),
        ("dump-not-idle", "list_screen_elements", json!({})),
        ("offline:ms=3600000", "press_key", json!({ "keycode": "BACK" })),
    ] {
        let phone = driving(Setup { helper: false, ..Setup::default() });
        phone.does("tap_screen", json!({ "x": 1, "y": 1 })).await;
        phone.phone.add_fault(rule.parse().unwrap());
        let began = Instant::now();
        out.push_str(&format!("{rule}: {}", phone.story(&[(tool, arguments)]).await));
        assert!(began.elapsed() <= phone.surface.tool(tool).unwrap().budget, "{tool}");
    }
    insta::assert_snapshot!(out);
}

/// The examples of the Android MCP server reference, called as it describes them: each tool's keys
/// in the documented order, with the type of each value.
#[tokio::test(start_paused = true)]
async fn every_reply_has_the_documented_keys_in_order() {
    let shapes: Map<String, Value> =
        serde_json::from_str(include_str!("android_reference_keys.json")).unwrap();
    let phone = small();
    let mut checked = 0;
    for (tool, calls) in [
        ("get_devices", vec![json!({})]),
        ("select_device", vec![json!({ "device_id": "virtual" }), json!({})]),
        ("get_device_info", vec![json!({})]),
        ("get_ui_layout", vec![json!({})]),
        ("find_elements", vec![json!({ "text": "maps", "clickable_only": true })]),
        ("tap_screen", vec![json!({ "x": 100, "y": 50 })]),
        ("tap_element", vec![json!({ "text": "notes" })]),
        (
            "swipe_screen",
            vec![json!({ "start_x": 100, "start_y": 300, "end_x": 100, "end_y": 150 })],
        ),
        ("swipe_direction", vec![json!({ "direction": "up", "distance": 120 })]),
        ("input_text", vec![json!({ "text": "hello world" })]),
        ("press_key", vec![json!({ "keycode": "BACK" })]),
        ("take_screenshot", vec![json!({})]),
        ("start_screen_recording", vec![json!({})]),
        ("list_active_recordings", vec![json!({})]),
        ("stop_screen_recording", vec![json!({ "recording_id": "the last" })]),
        ("get_logcat", vec![json!({})]),
        ("start_log_monitoring", vec![json!({ "output_file": "session" })]),
        ("list_active_monitors", vec![json!({})]),
        ("stop_log_monitoring", vec![json!({ "monitor_id": "the last" })]),
    ] {
        let expected = shapes[tool].as_array().unwrap();
        assert_eq!(expected.len(), calls.len(), "{tool}");
        if tool == "input_text" {
            phone.does("tap_element", json!({ "content_desc": "New note" })).await;
        }
        for (shape, mut arguments) in expected.iter().zip(calls) {
            for (name, list) in
                [("recording_id", "list_active_recordings"), ("monitor_id", "list_active_monitors")]
            {
                if arguments.get(name).is_some() {
                    let listed = phone.does(list, json!({})).await;
                    let rows = &listed[list.replace("list_", "").as_str()];
                    arguments[name] = rows[0][name].clone();
                }
            }
            let out = phone.does(tool, arguments).await;
            if let Some(why) = differs(shape, &out) {
                panic!("{tool}: {why}\n{out:#}");
            }
            checked += 1;
        }
    }
    assert_eq!(checked, 20);
    assert_eq!(shapes.len(), 19);
}

/// How a value deviates from a shape. Extra keys may stand between the documented ones, and null
/// matches any value.
fn differs(shape: &Value, value: &Value) -> Option<String> {
    match (shape, value) {
        (Value::Object(shape), Value::Object(value)) => {
            let mut keys = value.keys();
            shape.iter().find_map(|(key, shape)| match keys.find(|name| *name == key) {
                None => Some(format!("{key} is missing or out of order")),
                Some(_) => differs(shape, &value[key]).map(|why| format!("{key}: {why}")),
            })
        }
        (Value::Array(shape), Value::Array(value)) => match shape.first() {
            Some(_) if value.is_empty() => Some("there is nothing to compare".into()),
            Some(shape) => value.iter().find_map(|value| differs(shape, value)),
            None => None,
        },
        (Value::String(kind), value) => {
            let same = match kind.as_str() {
                "string" => value.is_string(),
                "number" => value.is_number(),
                "boolean" => value.is_boolean(),
                _ => true,
            };
            (!same && !value.is_null()).then(|| format!("{value} is not a {kind}"))
        }
        (shape, value) => Some(format!("{value} is not like {shape}")),
    }
}
