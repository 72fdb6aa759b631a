//! Each row by itself: what its arguments ask for, how outcomes and failures are told. Nobody reaches a phone here.

mod kept;
mod refusals;

use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Value, json};
use thumbwire_device::{
    Check, Detail, Flags, Gesture, Health, Identity, Key, KeyCode, Node, Platform, Point, Rect,
    Size, Tree, TypedBy,
};

use super::super::{Content, Reply};
use super::surface;
use crate::action::{
    Action, Call, Cause, Chosen, Criteria, Direction, Failure, Hit, Listed, Looking, Outcome,
    Perform, Readback, Target, Typed, Typing,
};
use crate::look::Look;

/// Answers what it was told to, and remembers what it was asked.
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

/// One call: what it asked for, and the reply.
async fn call(
    tool: &str,
    arguments: Value,
    answers: Vec<Result<Outcome, Failure>>,
) -> (Vec<Action>, Reply) {
    let fake = Fake { answers: Mutex::new(answers), asked: Mutex::default() };
    let surface = surface();
    let tool = surface.tool(tool).unwrap();
    let arguments = arguments.as_object().cloned().unwrap();
    let reply = surface.answer(tool, arguments, Call::within(tool.budget), &fake).await;
    let asked = fake.asked.into_inner().unwrap();
    (asked.into_iter().map(|(_, action)| action).collect(), reply)
}

/// What a reply holds; text and structured content must say the same.
fn value(reply: &Reply) -> Value {
    let [Content::Text(text)] = reply.content.as_slice() else { panic!("{reply:?}") };
    let read: Value = serde_json::from_str(text).unwrap();
    assert_eq!(reply.structured, Some(json!({ "result": read })));
    read
}

/// What a call asks for. Clients of the original put everything under `params`, some as text.
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

/// How an outcome is told.
async fn tells(tool: &str, arguments: Value, outcome: Outcome, expected: Value) {
    let (_, reply) = call(tool, arguments, vec![Ok(outcome)]).await;
    assert!(!reply.is_error);
    assert_eq!(value(&reply).to_string(), expected.to_string(), "{tool}");
}

/// How a failure is told, without `next`, which is always there.
async fn fails(tool: &str, arguments: Value, cause: Cause, expected: Value) {
    let (_, reply) = call(tool, arguments, vec![Err(cause.into())]).await;
    assert!(!reply.is_error, "a failure is a reply of this surface");
    let mut told = value(&reply);
    let next = told.as_object_mut().unwrap().shift_remove("next");
    assert!(next.is_some_and(|next| !next.as_str().unwrap().is_empty()), "{tool}");
    assert_eq!(told.to_string(), expected.to_string(), "{tool}");
}

fn look() -> Arc<Look> {
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
    Arc::new(Look::number(tree, None, &AtomicU32::new(1)))
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

fn listed(id: &str, state: &str) -> Listed {
    let properties =
        ["product", "model", "device", "transport_id"].map(|name| (name.into(), "x".into()));
    Listed {
        id: id.into(),
        platform: Platform::Android,
        model: "Pixel 7".into(),
        state: state.into(),
        properties: properties.into(),
    }
}

#[tokio::test]
async fn devices_are_told_with_the_documents_keys_first() {
    let row = json!({
        "id": "R58M", "status": "device", "model": "x", "product": "x", "device": "x", "transport_id": "x",
    });
    let devices = Outcome::Devices(vec![listed("R58M", "device")]);
    let told = json!({ "success": true, "devices": [row], "count": 1 });
    tells("get_devices", json!({}), devices, told).await;
    let chosen = Outcome::Chosen(listed("R58M", "device"), Chosen::FirstPhysical);
    let told = json!({ "success": true, "selected": row, "reason": "first_physical" });
    tells("select_device", json!({}), chosen, told).await;
    let virtual_phone = Listed { properties: Vec::new(), ..listed("virtual", "device") };
    let row = json!({ "id": "virtual", "status": "device", "model": "Pixel 7" });
    let told = json!({ "success": true, "selected": row, "reason": "previous_selection" });
    tells("select_device", json!({}), Outcome::Chosen(virtual_phone, Chosen::Before), told).await;
}

#[tokio::test]
async fn a_device_is_chosen_by_its_id_or_by_none() {
    for none in [json!({}), json!({ "device_id": null }), json!({ "device_id": "" })] {
        asks("select_device", none, Action::UseAnyDevice).await;
    }
    let identity =
        || Identity { id: "R58M".into(), platform: Platform::Android, model: String::new() };
    let health = Health {
        checks: vec![Check { name: "connectivity", passed: true, details: "connected".into() }],
    };
    let answers = vec![Ok(Outcome::Using(identity())), Ok(Outcome::Health(identity(), health))];
    let (asked, reply) = call("select_device", json!({ "device_id": "R58M" }), answers).await;
    let chosen = Action::UseDevice { device: "R58M".into(), platform: None };
    assert_eq!(asked, [chosen, Action::Health]);
    let checks = json!({ "connectivity": { "passed": true, "details": "connected" } });
    let health = json!({ "success": true, "healthy": true, "checks": checks, "device_id": "R58M" });
    let told = json!({
        "success": true, "selected_device": "R58M", "state": "device", "health": health,
    });
    assert_eq!(value(&reply).to_string(), told.to_string());
}

#[tokio::test]
async fn a_layout_holds_what_shows_and_on_demand_the_rest() {
    let looking = |detail| Action::Look(Looking { detail, no_older_than: Duration::ZERO });
    asks("get_ui_layout", json!({}), looking(Detail::Compressed)).await;
    asks("get_ui_layout", json!({ "compressed": false }), looking(Detail::Full)).await;
    asks("list_screen_elements", json!({}), looking(Detail::Compressed)).await;
    let (_, reply) = call("get_ui_layout", json!({}), vec![Ok(Outcome::Look(look()))]).await;
    let told = value(&reply);
    assert_eq!(told["elements"][1].to_string(), welcome().to_string());
    assert_eq!(told["elements"][0]["children_count"], 2);
    assert_eq!(told["stats"], json!({ "total_elements": 2, "clickable_elements": 0 }));
    assert_eq!(told["xml_dump"], "<hierarchy/>");
    let all = json!({ "include_invisible": true });
    let (_, reply) = call("get_ui_layout", all, vec![Ok(Outcome::Look(look()))]).await;
    let told = value(&reply);
    assert_eq!(told["elements"][2]["displayed"], false);
    assert_eq!(told["elements"][2]["xpath"], "/hierarchy[0]/node[0]/node[1]");
    assert_eq!(told["stats"], json!({ "total_elements": 3, "clickable_elements": 1 }));
}

#[tokio::test]
async fn a_short_list_holds_what_says_or_takes_something() {
    let element = json!({
        "type": "android.widget.TextView",
        "text": "Welcome",
        "label": "",
        "identifier": "com.example:id/title",
        "coordinates": { "x": 48, "y": 128, "width": 984, "height": 80 },
        "enabled": true,
    });
    let told =
        json!({ "success": true, "elements": [element], "count": 1, "total_elements_scanned": 2 });
    tells("list_screen_elements", json!({}), Outcome::Look(look()), told).await;
}

#[tokio::test]
async fn criteria_are_taken_as_given_and_told_in_full() {
    let usual = Criteria { text: Some("Sign in".into()), enabled: true, ..Criteria::default() };
    asks("find_elements", json!({ "text": "Sign in" }), Action::Find(usual.clone())).await;
    let all = json!({
        "text": null, "resource_id": "id", "content_desc": "desc", "class_name": "class",
        "clickable_only": true, "enabled_only": false, "exact_match": true,
    });
    let criteria = Criteria {
        text: None,
        id: Some("id".into()),
        description: Some("desc".into()),
        class: Some("class".into()),
        clickable: true,
        enabled: false,
        exact: true,
    };
    asks("find_elements", all, Action::Find(criteria)).await;
    let told = json!({
        "success": true,
        "elements": [welcome()],
        "count": 1,
        "search_criteria": {
            "text": "welcome", "resource_id": null, "content_desc": null, "class_name": null,
            "clickable_only": false, "enabled_only": true, "exact_match": false,
        },
    });
    let found = Outcome::Found(look(), vec![1]);
    tells("find_elements", json!({ "text": "welcome" }), found, told).await;
}

#[tokio::test]
async fn an_element_is_tapped_in_its_place_among_those_that_answer() {
    let criteria = Criteria { text: Some("Welcome".into()), ..Criteria::default() };
    let tap = |index| Action::TapElement(Target::Match(criteria.clone(), index));
    asks("tap_element", json!({ "text": "Welcome" }), tap(0)).await;
    asks("tap_element", json!({ "text": "Welcome", "index": 2 }), tap(2)).await;
    let hit = Hit { at: Point { x: 540, y: 168 }, look: look(), node: 1, of: 2 };
    let told = json!({
        "success": true,
        "action": "tap",
        "coordinates": { "x": 540, "y": 168 },
        "element": welcome(),
        "index_used": 1,
        "total_found": 2,
        "details": "Tap executed",
    });
    let arguments = json!({ "text": "Welcome", "index": 1 });
    tells("tap_element", arguments, Outcome::Tapped(hit), told).await;
}

#[tokio::test]
async fn fingers_go_where_they_are_sent() {
    let at = Point { x: 4000, y: 0 };
    asks("tap_screen", json!({ "x": 4000, "y": 0 }), Action::Touch(Gesture::Tap { at })).await;
    asks("tap_screen", json!({ "x": "4000", "y": 0.0 }), Action::Touch(Gesture::Tap { at })).await;
    let swipe = |ms| {
        let (from, to) = (Point { x: 540, y: 1600 }, Point { x: 540, y: 800 });
        Action::Touch(Gesture::Swipe { from, to, lasting: Duration::from_millis(ms) })
    };
    let ends = json!({ "start_x": 540, "start_y": 1600, "end_x": 540, "end_y": 800 });
    asks("swipe_screen", ends.clone(), swipe(300)).await;
    let told = json!({
        "success": true,
        "action": "swipe",
        "start": { "x": 540, "y": 1600 },
        "end": { "x": 540, "y": 800 },
        "duration_ms": 300,
        "details": "Swipe executed",
    });
    tells("swipe_screen", ends, Outcome::Done, told).await;
    let towards = |direction, distance, ms| {
        let lasting = Duration::from_millis(ms);
        Action::Swipe { direction, distance, lasting }
    };
    asks("swipe_direction", json!({ "direction": "up" }), towards(Direction::Up, None, 300)).await;
    let far = json!({ "direction": " LEFT ", "distance": 3000, "duration_ms": 10_000 });
    asks("swipe_direction", far, towards(Direction::Left, Some(3000), 10_000)).await;
    let screen = Size { width: 1080, height: 2400 };
    let swiped =
        Outcome::Swiped { from: Point { x: 540, y: 1200 }, to: Point { x: 540, y: 840 }, screen };
    let told = json!({
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
    tells("swipe_direction", json!({ "direction": "up" }), swiped, told).await;
}

#[tokio::test]
async fn any_text_is_typed_and_doubts_are_told() {
    let typing = Typing { clear: true, submit: true, ..Typing::of("Don't! a;b \"x\" \\ é") };
    let all = json!({ "text": typing.text, "clear_existing": true, "submit": true });
    asks("input_text", all, Action::Type(typing)).await;
    let typed = |field| Outcome::Typed(Typed { by: TypedBy::Keys, field, into: None });
    let told = json!({
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
    tells("input_text", text.clone(), typed(Readback::Same), told.clone()).await;
    let shows = Readback::Differs { shows: "hello".into() };
    let told = {
        let mut told = told;
        told["warnings"] = json!(["The field shows \"hello\""]);
        told
    };
    tells("input_text", text, typed(shows), told).await;
}

#[tokio::test]
async fn a_key_goes_by_its_name_or_its_number() {
    let key = |number| Action::Press(Key::Android(KeyCode(number)));
    for name in ["BACK", "back", "KEYCODE_BACK", " Back "] {
        asks("press_key", json!({ "keycode": name }), key(4)).await;
    }
    for number in [0, 3, 300] {
        asks("press_key", json!({ "keycode": number.to_string() }), key(number)).await;
    }
    let told = |given: &str, name: &str| {
        json!({
            "success": true,
            "action": "key_press",
            "keycode": name,
            "original_input": given,
            "details": format!("Key {name} pressed"),
        })
    };
    for (given, name) in [("back", "KEYCODE_BACK"), ("3", "3")] {
        tells("press_key", json!({ "keycode": given }), Outcome::Done, told(given, name)).await;
    }
    for (given, why) in [
        ("bogus", "Unknown Android keycode: bogus"),
        ("4;id", "Unknown Android keycode: 4;id"),
        ("", "Unknown Android keycode: "),
        ("301", "Numeric keycode out of valid range (0-300): 301"),
    ] {
        let (asked, reply) = call("press_key", json!({ "keycode": given }), Vec::new()).await;
        assert_eq!(asked, []);
        assert!(!reply.is_error);
        let told = value(&reply);
        assert_eq!(told["error"], "Validation failed for press_key");
        assert_eq!(told["errors"], json!([why]));
    }
}
