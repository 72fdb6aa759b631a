//! Each row by itself: the actions for its arguments, and the replies to outcomes and failures. No
//! phone is involved.

mod kept;
mod refusals;

use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};
use thumbwire_device::{
    Check, Flags, Gesture, Health, Identity, Key, KeyCode, Node, Platform, Point, Rect, Size, Tree,
    TreeDetail, TypingMethod,
};

use super::super::{Content, Reply};
use super::toolset;
use crate::action::{
    Action, Call, Cause, DefaultDevice, DeviceKind, Direction, ElementSelector, Failure,
    FoundElements, HealthResult, ListedDevice, Outcome, Perform, Readback, SelectionReason,
    SnapshotOptions, SwipeResult, TapResult, Target, TextInput, TypeResult,
};
use crate::snapshot::Snapshot;

/// Returns prepared answers and records the actions.
struct Fake {
    answers: Mutex<Vec<Result<Outcome, Failure>>>,
    asked: Mutex<Vec<(Option<String>, Action)>>,
}

#[async_trait]
impl Perform for Fake {
    async fn perform(&self, call: &Call, action: Action) -> Result<Outcome, Failure> {
        self.asked.lock().unwrap().push((call.device.clone(), action));
        self.answers.lock().unwrap().remove(0)
    }
}

/// Makes one call; returns its actions and the reply.
async fn call(
    tool: &str,
    arguments: Value,
    answers: Vec<Result<Outcome, Failure>>,
) -> (Vec<Action>, Reply) {
    let fake = Fake { answers: Mutex::new(answers), asked: Mutex::default() };
    let toolset = toolset();
    let tool = toolset.tool(tool).unwrap();
    let arguments = arguments.as_object().cloned().unwrap();
    let reply = toolset.answer(tool, arguments, Call::with_timeout(tool.budget), &fake).await;
    let asked = fake.asked.into_inner().unwrap();
    (asked.into_iter().map(|(_, action)| action).collect(), reply)
}

/// The JSON of a reply; text and structured content must be equal.
fn value(reply: &Reply) -> Value {
    let [Content::Text(text)] = reply.content.as_slice() else { panic!("{reply:?}") };
    let read: Value = serde_json::from_str(text).unwrap();
    assert_eq!(reply.structured, Some(json!({ "result": read })));
    read
}

/// Checks the action of a call. Clients of the original server nest everything under `params`, some
/// as text.
async fn asks(tool: &str, arguments: Value, expected: Action) {
    let nested = json!({ "params": arguments });
    let as_text = json!({ "params": arguments.to_string() });
    for form in [arguments, nested, as_text] {
        let (asked, _) = call(tool, form.clone(), vec![Ok(Outcome::Done)]).await;
        assert!(
            matches!(asked.as_slice(), [only] if *only == expected),
            "{tool} {form}: {asked:?}"
        );
    }
}

/// Checks the reply to an outcome.
async fn tells(tool: &str, arguments: Value, outcome: Outcome, expected: Value) {
    let (_, reply) = call(tool, arguments, vec![Ok(outcome)]).await;
    assert!(!reply.is_error);
    assert_eq!(value(&reply).to_string(), expected.to_string(), "{tool}");
}

/// Checks the reply to a failure, without `next`, which is always present.
async fn fails(tool: &str, arguments: Value, cause: Cause, expected: Value) {
    let (_, reply) = call(tool, arguments, vec![Err(cause.into())]).await;
    assert!(!reply.is_error, "failures are normal replies in this toolset");
    let mut out = value(&reply);
    let next = out.as_object_mut().unwrap().shift_remove("next");
    assert!(next.is_some_and(|next| !next.as_str().unwrap().is_empty()), "{tool}");
    assert_eq!(out.to_string(), expected.to_string(), "{tool}");
}

fn look() -> Arc<Snapshot> {
    let screen = Rect { left: 0, top: 0, right: 1080, bottom: 2400 };
    let title = Rect { left: 48, top: 128, right: 1032, bottom: 208 };
    let frame =
        Node { class: "android.widget.FrameLayout".into(), bounds: screen, ..Node::default() };
    let node = |index, text: &str, bounds, clickable| Node {
        parent: Some(0),
        depth: 1,
        index,
        class: "android.widget.TextView".into(),
        id: "com.example:id/title".into(),
        text: text.into(),
        bounds,
        flags: Flags { clickable, enabled: true, ..Flags::default() },
        ..Node::default()
    };
    let below = Rect { top: 2400, bottom: 2500, ..screen };
    let nodes = vec![frame, node(0, "Welcome", title, false), node(1, "Below", below, true)];
    let tree = Tree { nodes, source: "<hierarchy/>".into(), ..Tree::default() };
    Arc::new(Snapshot::number(tree, None, &AtomicU32::new(1)))
}

fn welcome() -> Value {
    json!({
        "class_name": "android.widget.TextView",
        "resource_id": "com.example:id/title",
        "text": "Welcome",
        "content_desc": null,
        "bounds": { "left": 48, "top": 128, "right": 1032, "bottom": 208 },
        "center": { "x": 540, "y": 168 },
        "clickable": false,
        "enabled": true,
        "focusable": false,
        "scrollable": false,
        "displayed": true,
        "xpath": "/hierarchy[0]/node[0]/node[0]",
        "index": 0,
        "children_count": 0,
    })
}

fn listed(id: &str, state: &str) -> ListedDevice {
    let properties =
        ["product", "model", "device", "transport_id"].map(|name| (name.into(), "x".into()));
    ListedDevice {
        id: id.into(),
        platform: Platform::Android,
        model: "Pixel 7".into(),
        state: state.into(),
        kind: DeviceKind::Physical,
        properties: properties.into(),
    }
}

#[tokio::test]
async fn device_rows_have_the_reference_keys_first() {
    let row = json!({
        "id": "R58M", "status": "device", "model": "x", "product": "x", "device": "x", "transport_id": "x",
    });
    let devices = Outcome::Devices(vec![listed("R58M", "device")]);
    let out = json!({ "success": true, "devices": [row], "count": 1 });
    tells("get_devices", json!({}), devices, out).await;
    let chosen = Outcome::DefaultDeviceSelected(DefaultDevice {
        device: listed("R58M", "device"),
        reason: SelectionReason::FirstPhysical,
    });
    let out = json!({ "success": true, "selected": row, "reason": "first_physical" });
    tells("select_device", json!({}), chosen, out).await;
    let virtual_phone = ListedDevice { properties: Vec::new(), ..listed("virtual", "device") };
    let row = json!({ "id": "virtual", "status": "device", "model": "Pixel 7" });
    let out = json!({ "success": true, "selected": row, "reason": "previous_selection" });
    tells(
        "select_device",
        json!({}),
        Outcome::DefaultDeviceSelected(DefaultDevice {
            device: virtual_phone,
            reason: SelectionReason::AlreadySelected,
        }),
        out,
    )
    .await;
}

#[tokio::test]
async fn select_device_works_with_and_without_an_id() {
    for none in [json!({}), json!({ "device_id": null }), json!({ "device_id": "" })] {
        asks("select_device", none, Action::SelectDefaultDevice).await;
    }
    let identity =
        || Identity { id: "R58M".into(), platform: Platform::Android, model: String::new() };
    let health = Health {
        checks: vec![Check {
            name: "connectivity".into(),
            passed: true,
            details: "connected".into(),
        }],
    };
    let answers = vec![
        Ok(Outcome::DeviceSelected(identity())),
        Ok(Outcome::Health(HealthResult { identity: identity(), health })),
    ];
    let (asked, reply) = call("select_device", json!({ "device_id": "R58M" }), answers).await;
    let chosen = Action::SelectDevice { device: "R58M".into(), platform: None };
    assert_eq!(asked, [chosen, Action::Health]);
    let checks = json!({ "connectivity": { "passed": true, "details": "connected" } });
    let health = json!({ "success": true, "healthy": true, "checks": checks, "device_id": "R58M" });
    let out = json!({
        "success": true, "selected_device": "R58M", "state": "device", "health": health,
    });
    assert_eq!(value(&reply).to_string(), out.to_string());
}

#[tokio::test]
async fn a_layout_has_visible_elements_and_optionally_all() {
    let looking = |detail| Action::Snapshot(SnapshotOptions { detail, max_age: Duration::ZERO });
    asks("get_ui_layout", json!({}), looking(TreeDetail::Compressed)).await;
    asks("get_ui_layout", json!({ "compressed": false }), looking(TreeDetail::Full)).await;
    asks("list_screen_elements", json!({}), looking(TreeDetail::Compressed)).await;
    let (_, reply) = call("get_ui_layout", json!({}), vec![Ok(Outcome::Snapshot(look()))]).await;
    let out = value(&reply);
    assert_eq!(out["elements"][1].to_string(), welcome().to_string());
    assert_eq!(out["elements"][0]["children_count"], 2);
    assert_eq!(out["stats"], json!({ "total_elements": 2, "clickable_elements": 0 }));
    assert_eq!(out["xml_dump"], "<hierarchy/>");
    let all = json!({ "include_invisible": true });
    let (_, reply) = call("get_ui_layout", all, vec![Ok(Outcome::Snapshot(look()))]).await;
    let out = value(&reply);
    assert_eq!(out["elements"][2]["displayed"], false);
    assert_eq!(out["elements"][2]["xpath"], "/hierarchy[0]/node[0]/node[1]");
    assert_eq!(out["stats"], json!({ "total_elements": 3, "clickable_elements": 1 }));
}

#[tokio::test]
async fn the_short_list_has_elements_with_text_or_input() {
    let element = json!({
        "type": "android.widget.TextView",
        "text": "Welcome",
        "label": "",
        "identifier": "com.example:id/title",
        "coordinates": { "x": 48, "y": 128, "width": 984, "height": 80 },
        "enabled": true,
    });
    let out =
        json!({ "success": true, "elements": [element], "count": 1, "total_elements_scanned": 2 });
    tells("list_screen_elements", json!({}), Outcome::Snapshot(look()), out).await;
}

#[tokio::test]
async fn find_elements_passes_and_repeats_its_criteria() {
    let usual = ElementSelector {
        text: Some("Sign in".into()),
        enabled: true,
        ..ElementSelector::default()
    };
    asks("find_elements", json!({ "text": "Sign in" }), Action::FindElements(usual.clone())).await;
    let all = json!({
        "text": null, "resource_id": "id", "content_desc": "desc", "class_name": "class",
        "clickable_only": true, "enabled_only": false, "exact_match": true,
    });
    let criteria = ElementSelector {
        text: None,
        id: Some("id".into()),
        description: Some("desc".into()),
        class: Some("class".into()),
        clickable: true,
        enabled: false,
        exact: true,
    };
    asks("find_elements", all, Action::FindElements(criteria)).await;
    let out = json!({
        "success": true,
        "elements": [welcome()],
        "count": 1,
        "search_criteria": {
            "text": "welcome", "resource_id": null, "content_desc": null, "class_name": null,
            "clickable_only": false, "enabled_only": true, "exact_match": false,
        },
    });
    let found = Outcome::Elements(FoundElements { snapshot: look(), nodes: vec![1] });
    tells("find_elements", json!({ "text": "welcome" }), found, out).await;
}

#[tokio::test]
async fn tap_element_taps_the_match_at_the_index() {
    let criteria = ElementSelector { text: Some("Welcome".into()), ..ElementSelector::default() };
    let tap = |index| Action::TapElement(Target::Selector { selector: criteria.clone(), index });
    asks("tap_element", json!({ "text": "Welcome" }), tap(0)).await;
    asks("tap_element", json!({ "text": "Welcome", "index": 2 }), tap(2)).await;
    let hit = TapResult { at: Point { x: 540, y: 168 }, snapshot: look(), node: 1, of: 2 };
    let out = json!({
        "success": true,
        "action": "tap",
        "coordinates": { "x": 540, "y": 168 },
        "element": welcome(),
        "index_used": 1,
        "total_found": 2,
        "details": "Tap executed",
    });
    let arguments = json!({ "text": "Welcome", "index": 1 });
    tells("tap_element", arguments, Outcome::Tapped(hit), out).await;
}

#[tokio::test]
async fn taps_and_swipes_become_gestures() {
    let at = Point { x: 4000, y: 0 };
    asks("tap_screen", json!({ "x": 4000, "y": 0 }), Action::Touch(Gesture::Tap { at })).await;
    asks("tap_screen", json!({ "x": "4000", "y": 0.0 }), Action::Touch(Gesture::Tap { at })).await;
    let swipe = |ms| {
        let (from, to) = (Point { x: 540, y: 1600 }, Point { x: 540, y: 800 });
        Action::Touch(Gesture::Swipe { from, to, duration: Duration::from_millis(ms) })
    };
    let ends = json!({ "start_x": 540, "start_y": 1600, "end_x": 540, "end_y": 800 });
    asks("swipe_screen", ends.clone(), swipe(300)).await;
    let out = json!({
        "success": true,
        "action": "swipe",
        "start": { "x": 540, "y": 1600 },
        "end": { "x": 540, "y": 800 },
        "duration_ms": 300,
        "details": "Swipe executed",
    });
    tells("swipe_screen", ends, Outcome::Done, out).await;
    let towards = |direction, distance, ms| {
        let duration = Duration::from_millis(ms);
        Action::Swipe { direction, distance, duration }
    };
    asks("swipe_direction", json!({ "direction": "up" }), towards(Direction::Up, None, 300)).await;
    let far = json!({ "direction": " LEFT ", "distance": 3000, "duration_ms": 10_000 });
    asks("swipe_direction", far, towards(Direction::Left, Some(3000), 10_000)).await;
    let screen = Size { width: 1080, height: 2400 };
    let swiped = Outcome::Swiped(SwipeResult {
        from: Point { x: 540, y: 1200 },
        to: Point { x: 540, y: 840 },
        screen,
    });
    let out = json!({
        "success": true,
        "action": "swipe",
        "start": { "x": 540, "y": 1200 },
        "end": { "x": 540, "y": 840 },
        "duration_ms": 300,
        "details": "Swipe executed",
        "direction": "up",
        "distance": 360,
        "screen_size": { "width": 1080, "height": 2400 },
    });
    tells("swipe_direction", json!({ "direction": "up" }), swiped, out).await;
}

#[tokio::test]
async fn input_text_types_any_text_and_warns() {
    let typing = TextInput { clear: true, submit: true, ..TextInput::of("Don't! a;b \"x\" \\ é") };
    let all = json!({ "text": typing.text, "clear_existing": true, "submit": true });
    asks("input_text", all, Action::Type(typing)).await;
    let typed = |field| {
        Outcome::Typed(TypeResult { by: TypingMethod::Keys, field, into: None, tapped: false })
    };
    let out = json!({
        "success": true,
        "action": "text_input",
        "text": "hello world",
        "cleared_first": false,
        "submitted": false,
        "has_unicode": false,
        "warnings": [],
        "details": "Text input successful",
    });
    let text = json!({ "text": "hello world" });
    tells("input_text", text.clone(), typed(Readback::Same), out.clone()).await;
    let shows = Readback::Differs { shows: "hello".into() };
    let out = {
        let mut out = out;
        out["warnings"] = json!(["The field shows \"hello\""]);
        out
    };
    tells("input_text", text, typed(shows), out).await;
}

#[tokio::test]
async fn press_key_takes_names_and_numbers() {
    let key = |number| Action::Press(Key::Android(KeyCode(number)));
    for name in ["BACK", "back", "KEYCODE_BACK", " Back "] {
        asks("press_key", json!({ "keycode": name }), key(4)).await;
    }
    for number in [0, 3, 300] {
        asks("press_key", json!({ "keycode": number.to_string() }), key(number)).await;
    }
    let out = |given: &str, name: &str| {
        json!({
            "success": true,
            "action": "key_press",
            "keycode": name,
            "original_input": given,
            "details": format!("Key {name} pressed"),
        })
    };
    for (given, name) in [("back", "KEYCODE_BACK"), ("3", "3")] {
        tells("press_key", json!({ "keycode": given }), Outcome::Done, out(given, name)).await;
    }
    for (given, reason) in [
        ("bogus", "Unknown Android keycode: bogus"),
        ("4;id", "Unknown Android keycode: 4;id"),
        ("", "Unknown Android keycode: "),
        ("301", "Numeric keycode out of valid range (0-300): 301"),
    ] {
        let (asked, reply) = call("press_key", json!({ "keycode": given }), Vec::new()).await;
        assert_eq!(asked, []);
        assert!(!reply.is_error);
        let out = value(&reply);
        assert_eq!(out["error"], "Validation failed for press_key");
        assert_eq!(out["errors"], json!([reason]));
    }
}
