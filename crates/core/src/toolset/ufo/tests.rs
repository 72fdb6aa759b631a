//! The rows over a scripted session. `tests/it/ufo_recorded.rs` compares the texts with recordings
//! of the original servers.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use thumbwire_device::{
    App, AppId, Gesture, Key, KeyCode, Node, Point, Rect, SideEffect, Tree, TreeDetail,
    TypingMethod,
};

use super::*;
use crate::action::{
    Action, AppFilter, AppSelector, Call, Cause, Controls, Failure, LaunchResult, NumberedList,
    Outcome, Perform, Readback, SnapshotOptions, TapResult, TypeResult,
};
use crate::snapshot::Snapshot;

/// Records the actions, and returns prepared outcomes.
#[derive(Default)]
struct Scripted {
    asked: Mutex<Vec<Action>>,
    answers: Mutex<Vec<Result<Outcome, Failure>>>,
}

#[async_trait]
impl Perform for Scripted {
    async fn perform(&self, _: &Call, action: Action) -> Result<Outcome, Failure> {
        self.asked.lock().unwrap().push(action);
        self.answers.lock().unwrap().pop().unwrap_or(Ok(Outcome::Done))
    }
}

/// Calls a tool with this outcome; returns the reply and the action.
async fn call(
    tool: &str,
    arguments: Value,
    answer: Result<Outcome, Failure>,
) -> (Reply, Option<Action>) {
    call_of(&[data(), action()], tool, arguments, answer).await
}

async fn call_of(
    toolsets: &[Toolset],
    tool: &str,
    arguments: Value,
    answer: Result<Outcome, Failure>,
) -> (Reply, Option<Action>) {
    let session = Scripted { answers: Mutex::new(vec![answer]), ..Scripted::default() };
    let mut having = toolsets.iter().filter_map(|toolset| Some((toolset, toolset.tool(tool)?)));
    let (toolset, tool) = having.next().unwrap();
    let arguments = arguments.as_object().cloned().unwrap();
    let reply = toolset.answer(tool, arguments, Call::with_timeout(tool.budget), &session).await;
    let asked = session.asked.into_inner().unwrap().pop();
    (reply, asked)
}

/// The action of a call.
async fn asked(tool: &str, arguments: Value) -> Option<Action> {
    call(tool, arguments, Ok(Outcome::Done)).await.1
}

/// The object of a reply; its text must be equal.
async fn said(tool: &str, arguments: Value, answer: Result<Outcome, Failure>) -> Value {
    let (reply, _) = call(tool, arguments, answer).await;
    assert!(!reply.is_error, "{reply:?}");
    let structured = reply.structured.clone().unwrap();
    assert_eq!(text(&reply), structured.to_string());
    structured
}

/// The text of an MCP error.
async fn error(tool: &str, arguments: Value, answer: Result<Outcome, Failure>) -> String {
    let (reply, _) = call(tool, arguments, answer).await;
    assert!(reply.is_error && reply.structured.is_none(), "{reply:?}");
    text(&reply)
}

fn text(reply: &Reply) -> String {
    let text = reply.content.iter().map(|part| match part {
        Content::Text(text) => text.as_str(),
        other => panic!("no reply here has {other:?}"),
    });
    text.collect()
}

fn failed(cause: Cause) -> Result<Outcome, Failure> {
    Err(cause.into())
}

fn gone() -> Result<Outcome, Failure> {
    failed(Cause::DeviceNotConnected { device: "x".into(), reason: "it is gone".into() })
}

fn control(name: &str, class: &str, [left, top, right, bottom]: [i32; 4]) -> Node {
    let bounds = Rect { left, top, right, bottom };
    Node { text: name.into(), class: class.into(), bounds, ..Node::default() }
}

fn listing(nodes: Vec<Node>) -> Controls {
    let all = (0..nodes.len()).collect();
    let snapshot = Snapshot::number(Tree { nodes, ..Tree::default() }, None, &1.into());
    Controls { snapshot: Arc::new(snapshot), nodes: all }
}

/// A tap on one of them.
fn hit(controls: &Controls, number: &str) -> Option<TapResult> {
    let node = *controls.nodes.get(number.parse::<usize>().ok()?.checked_sub(1)?)?;
    let at = controls.snapshot.tree.nodes[node].bounds.center();
    Some(TapResult { at, snapshot: Arc::clone(&controls.snapshot), node, of: 1 })
}

/// The example of the UFO MobileAgent servers.
fn search() -> TapResult {
    let field = control("Search", "android.widget.EditText", [48, 96, 912, 192]);
    hit(&listing(vec![field]), "1").unwrap()
}

fn typed(field: Readback) -> Result<Outcome, Failure> {
    Ok(Outcome::Typed(TypeResult {
        by: TypingMethod::Keys,
        field,
        into: Some(search()),
        tapped: true,
    }))
}

fn launched(app: &str) -> Result<Outcome, Failure> {
    Ok(Outcome::Launched(LaunchResult {
        app: AppId(app.into()),
        text: "Events injected: 1".into(),
        locked: None,
        in_front: None,
    }))
}

#[test]
fn every_tool_has_a_row() {
    let names = |toolset: Toolset| toolset.tools.into_iter().map(|tool| tool.name);
    let all: Vec<String> = names(data()).chain(names(action())).collect();
    let original: Vec<Value> = serde_json::from_str(include_str!("tools.json")).unwrap();
    let original: Vec<&str> = original.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(all, original);
    for tool in data().tools.iter().chain(&action().tools) {
        let properties = tool.schema["properties"].as_object().unwrap();
        assert!(!properties.contains_key("device") && tool.output.is_some(), "{}", tool.name);
    }
}

#[tokio::test]
async fn cache_lifetimes_match_the_specification() {
    let apps = |which, containing: &str, seconds| {
        let (containing, max_age) = (containing.into(), Duration::from_secs(seconds));
        Some(Action::ListApps { which, containing, max_age })
    };
    let controls = |seconds| Some(Action::Controls { max_age: Duration::from_secs(seconds) });
    let tool = "get_mobile_app_target_info";
    assert_eq!(asked(tool, json!({})).await, apps(AppFilter::User, "", 300));
    let forced = json!({ "force_refresh": true, "include_system_apps": true, "filter": "maps" });
    assert_eq!(asked(tool, forced).await, apps(AppFilter::All, "maps", 0));
    let tool = "get_app_window_controls_target_info";
    assert_eq!(asked(tool, json!({})).await, controls(5));
    assert_eq!(asked(tool, json!({ "force_refresh": true })).await, controls(0));
    let passed_over = json!({ "field_list": ["label"], "force_refresh": null });
    assert_eq!(asked(tool, passed_over).await, controls(5));
    let max_age = Duration::from_secs(5);
    let snapshot = Action::Snapshot(SnapshotOptions { detail: TreeDetail::Full, max_age });
    assert_eq!(asked("get_ui_tree", json!({})).await, Some(snapshot));
    let max_age = Duration::from_secs(60);
    assert_eq!(asked("get_device_info", json!({})).await, Some(Action::DeviceInfo { max_age }));
}

#[tokio::test]
async fn replies_match_the_specifications_examples() {
    assert_eq!(
        said("tap", json!({ "x": 480, "y": 240 }), Ok(Outcome::Done)).await.to_string(),
        r#"{"success":true,"action":"tap(480, 240)","output":"","error":""}"#
    );
    let swipe = json!({ "start_x": 500, "start_y": 1500, "end_x": 500, "end_y": 500 });
    assert_eq!(
        said("swipe", swipe, Ok(Outcome::Done)).await["action"],
        "swipe(500,1500)->(500,500) in 300ms"
    );
    let click = json!({ "control_id": "5", "control_name": "Search" });
    assert_eq!(
        said("click_control", click, Ok(Outcome::Tapped(search()))).await.to_string(),
        r#"{"success":true,"action":"click_control(id=5, name=Search)","message":"Clicked control 'Search' at (480, 144)","control_info":{"id":"5","name":"Search","type":"EditText","rect":[48,96,912,192]}}"#
    );
    let text = json!({ "text": "hello world", "control_id": "5", "control_name": "Search" });
    assert_eq!(
        said("type_text", text, typed(Readback::Same)).await.to_string(),
        r#"{"success":true,"action":"type_text(text='hello world', control_id='5', control_name='Search')","message":"Clicked control 'Search' at (480, 144) | Typed text: 'hello world'","control_info":{"id":"5","name":"Search","type":"EditText"}}"#
    );
    let maps = "com.google.android.apps.maps";
    let launch = json!({ "package_name": maps, "id": "2" });
    assert_eq!(
        said("launch_app", launch, launched(maps)).await.to_string(),
        r#"{"success":true,"message":"Launched com.google.android.apps.maps","package_name":"com.google.android.apps.maps","output":"Events injected: 1","error":"","app_info":{"id":"2","name":"com.google.android.apps.maps","package":"com.google.android.apps.maps"}}"#
    );
    let wait = |seconds: Value| said("wait", json!({ "seconds": seconds }), Ok(Outcome::Done));
    assert_eq!(
        wait(json!(1.0)).await.to_string(),
        r#"{"success":true,"action":"wait(1.0s)","message":"Waited for 1.0 seconds"}"#
    );
    assert_eq!(wait(json!(2.5)).await["action"], "wait(2.5s)");
}

#[tokio::test]
async fn apps_and_controls_are_listed_as_targets() {
    let app = App { id: AppId("com.whatsapp".into()), system: false };
    let tool = "get_mobile_app_target_info";
    let (reply, _) = call(tool, json!({}), Ok(Outcome::Apps(vec![app]))).await;
    let row = r#"[{"kind":"third_party_agent","name":"com.whatsapp","id":"1","type":"com.whatsapp","rect":null,"package":"com.whatsapp"}]"#;
    assert_eq!(text(&reply), row);
    assert_eq!(reply.structured.unwrap()["result"].to_string(), row);
    let (reply, _) = call(tool, json!({}), Ok(Outcome::Apps(Vec::new()))).await;
    assert_eq!((reply.content, reply.structured), (Vec::new(), Some(json!({ "result": [] }))));

    let nameless = control("", "android.view.View", [0, 216, 1080, 360]);
    let all = listing(vec![control("Search", "android.widget.EditText", [1, 2, 3, 4]), nameless]);
    let tool = "get_app_window_controls_target_info";
    let (reply, _) = call(tool, json!({}), Ok(Outcome::Controls(Arc::new(all)))).await;
    assert_eq!(
        text(&reply),
        r#"[{"kind":"control","name":"Search","id":"1","type":"EditText","rect":[1,2,3,4]},{"kind":"control","name":"View","id":"2","type":"View","rect":[0,216,1080,360]}]"#
    );
}

#[tokio::test]
async fn a_differing_field_adds_a_warning() {
    let arguments = json!({ "text": "abc", "control_id": "5", "control_name": "Find", "clear_current_text": true });
    let reply = |field| said("type_text", arguments.clone(), typed(field));
    let out = reply(Readback::Differs { shows: "ab".into() }).await;
    assert_eq!(out["warning"], "The field shows something else: 'ab'");
    assert_eq!(
        out["message"],
        "Warning: Control ID 5 has name 'Search', but provided name is 'Find'. Using ID 5. | \
         Clicked control 'Search' at (480, 144) | Cleared existing text | Typed text: 'abc'"
    );
    assert!(reply(Readback::Corrected).await.get("warning").is_none());
    assert!(reply(Readback::NoField).await.get("warning").is_some());
}

#[tokio::test]
async fn waits_are_limited_to_sixty_seconds() {
    let wait = |seconds: Value| call("wait", json!({ "seconds": seconds }), Ok(Outcome::Done));
    let refused = |reply: &Reply| reply.structured.clone().unwrap();
    for (inside, seconds) in [(json!(0), 0.0), (json!(60), 60.0), (json!(60.0), 60.0)] {
        let action = Action::Wait(Duration::from_secs_f64(seconds));
        assert_eq!(wait(inside).await.1, Some(action));
    }
    for (outside, words) in [
        (json!(-1), "Wait time must be non-negative"),
        (json!(-0.001), "Wait time must be non-negative"),
        (json!(60.1), "Wait time cannot exceed 60 seconds"),
        (json!(1e300), "Wait time cannot exceed 60 seconds"),
    ] {
        let (reply, asked) = wait(outside).await;
        assert_eq!(refused(&reply), json!({ "success": false, "error": words }));
        assert_eq!((asked, reply.is_error), (None, false));
    }
}

#[tokio::test]
async fn silent_failures_of_the_original_are_refused() {
    let refused = async |tool, arguments: Value, text: &str| {
        let (reply, asked) = call(tool, arguments, Ok(Outcome::Done)).await;
        let out = reply.structured.unwrap();
        assert_eq!((&out["success"], asked), (&json!(false), None), "{out}");
        assert!(out["error"].as_str().unwrap().starts_with(text), "{out}");
    };
    for key in ["KEYCODE_NOPE", "4;id", "", "999", "-1"] {
        let text = format!("Unknown key code '{key}'.");
        refused("press_key", json!({ "key_code": key }), &text).await;
    }
    let swipe =
        |time| json!({ "start_x": 1, "start_y": 1, "end_x": 2, "end_y": 2, "duration": time });
    for time in [-5, 30_001] {
        refused("swipe", swipe(time), &format!("Duration {time} is out of range")).await;
    }
    assert!(asked("swipe", swipe(0)).await.is_some());
    assert!(asked("swipe", swipe(30_000)).await.is_some());
    refused("tap", json!({ "x": i64::MAX, "y": 1 }), "(9223372036854775807, 1) is outside").await;
    let out = said("press_key", json!({ "key_code": "4;id" }), Ok(Outcome::Done)).await;
    assert_eq!((&out["action"], &out["output"]), (&json!("press_key(4;id)"), &json!("")));
}

#[tokio::test]
async fn whole_floats_are_integers() {
    let tap = Action::Touch(Gesture::Tap { at: Point { x: 480, y: 2 } });
    assert_eq!(asked("tap", json!({ "x": 480.0, "y": 2 })).await, Some(tap));
    let out = said("tap", json!({ "x": 480.0, "y": 2e12 }), Ok(Outcome::Done)).await;
    assert_eq!(out["action"], "tap(480, 2000000000000)");
}

#[tokio::test]
async fn press_key_takes_names_and_numbers() {
    let pressed = |number| Some(Action::Press(Key::Android(KeyCode(number))));
    for (name, number) in [("KEYCODE_HOME", 3), ("HOME", 3), ("3", 3), ("KEYCODE_BACK", 4)] {
        assert_eq!(asked("press_key", json!({ "key_code": name })).await, pressed(number));
    }
}

#[tokio::test]
async fn launch_app_prefers_id_over_package_over_word() {
    let launch = |arguments| asked("launch_app", arguments);
    let id = AppSelector::Id(AppId("com.a".into()));
    assert_eq!(launch(json!({ "package_name": "com.a" })).await, Some(Action::Launch(id)));
    let named = || Some(Action::Launch(AppSelector::Named("Maps".into())));
    assert_eq!(launch(json!({ "package_name": "Maps" })).await, named());
    assert_eq!(launch(json!({ "package_name": "Maps", "id": "" })).await, named());
    assert_eq!(launch(json!({ "package_name": "Maps", "id": null })).await, named());
    let numbered = Some(Action::Launch(AppSelector::ListIndex("7".into())));
    assert_eq!(launch(json!({ "package_name": "com.a", "id": "7" })).await, numbered);
}

#[tokio::test]
async fn unknown_ids_are_refused() {
    let not_listed = |reason: Option<&str>| {
        let (list, number) = (NumberedList::Controls, "5".into());
        failed(Cause::StaleReference { list, number, reason: reason.map(Into::into), none: false })
    };
    let arguments = json!({ "control_id": "5", "control_name": "x" });
    let out = said(
        "click_control",
        arguments.clone(),
        not_listed(Some("stale reference: the screen changed since it was listed")),
    )
    .await;
    assert_eq!(
        out,
        json!({
            "success": false,
            "error": "Control with ID '5' not found. Please call get_app_window_controls_target_info first.",
            "reason": "stale reference: the screen changed since it was listed",
        })
    );
    let (reply, _) =
        call_of(&[standalone_action()], "click_control", arguments, not_listed(None)).await;
    let next = &reply.structured.unwrap()["next"];
    assert!(next.as_str().unwrap().contains("`thumbwire serve --ufo`"), "{next}");
}

#[tokio::test]
async fn ids_that_no_list_has_are_refused_without_asking_the_phone() {
    for id in ["e5", "05", "", "five"] {
        let click = json!({ "control_id": id, "control_name": "x" });
        let typing = json!({ "control_id": id, "control_name": "x", "text": "y" });
        for (tool, arguments) in [("click_control", click), ("type_text", typing)] {
            let (reply, asked) = call_of(&[standalone_action()], tool, arguments, gone()).await;
            assert!(asked.is_none(), "{tool} {id:?}");
            let out = reply.structured.unwrap();
            let error = format!(
                "Control with ID '{id}' not found. Please call get_app_window_controls_target_info first."
            );
            assert_eq!((&out["error"], &out["success"]), (&error.into(), &false.into()));
            assert!(out["next"].as_str().unwrap().contains("`thumbwire serve --ufo`"), "{out}");
            assert!(matches!(reply.cause, Some(Cause::StaleReference { .. })));
        }
    }
}

#[tokio::test]
async fn missing_apps_have_the_specified_errors() {
    let error = async |arguments: Value, cause| {
        let out = said("launch_app", arguments, failed(cause)).await;
        assert_eq!(out["success"], false);
        out["error"].as_str().unwrap().to_owned()
    };
    let not_listed = |none| Cause::StaleReference {
        list: NumberedList::Apps,
        number: "9".into(),
        reason: None,
        none,
    };
    let missing = |app: &str| Cause::AppNotFound { app: app.into() };
    let by_number = || json!({ "package_name": "com.a", "id": "9" });
    assert_eq!(
        error(by_number(), not_listed(true)).await,
        "App cache is empty. Please call get_mobile_app_target_info first."
    );
    assert_eq!(
        error(by_number(), not_listed(false)).await,
        "App with ID '9' not found in cached app list."
    );
    assert_eq!(
        error(json!({ "package_name": "zzz" }), missing("zzz")).await,
        "No app found with name containing 'zzz'. Try using full package name."
    );
    assert_eq!(
        error(json!({ "package_name": "com.zzz" }), missing("com.zzz")).await,
        "app com.zzz not found"
    );
}

#[tokio::test]
async fn a_phone_that_is_gone_is_told_in_each_tools_shape() {
    let mut out = String::new();
    let click = json!({ "control_id": "5", "control_name": "x" });
    let text = json!({ "control_id": "5", "control_name": "x", "text": "y" });
    for (tool, arguments) in [
        ("capture_screenshot", json!({})),
        ("get_ui_tree", json!({})),
        ("get_device_info", json!({})),
        ("get_mobile_app_target_info", json!({})),
        ("get_app_window_controls_target_info", json!({})),
        ("tap", json!({ "x": 1, "y": 1 })),
        ("swipe", json!({ "start_x": 1, "start_y": 1, "end_x": 2, "end_y": 2, "duration": null })),
        ("type_text", text),
        ("launch_app", json!({ "package_name": "com.a" })),
        ("press_key", json!({ "key_code": "KEYCODE_BACK" })),
        ("click_control", click),
        ("wait", json!({})),
        ("invalidate_cache", json!({})),
    ] {
        let (reply, _) = call(tool, arguments, gone()).await;
        let wrapped = tool.starts_with("capture") || tool.contains("target");
        assert_eq!(reply.is_error, wrapped, "{tool}");
        out.push_str(&format!("{tool}: {}\n\n", super::tests::text(&reply)));
    }
    insta::assert_snapshot!(out);
}

#[tokio::test]
async fn late_screenshots_are_pull_failures() {
    let after = Duration::from_secs(20);
    let late = Failure {
        cause: Cause::TimedOut { what: "take screenshot".into(), after },
        side_effect: SideEffect::None,
    };
    let text = error("capture_screenshot", json!({}), Err(late)).await;
    assert!(text.starts_with("Failed to pull screenshot from device\n"), "{text}");
}

#[tokio::test]
async fn misspelt_arguments_are_refused_and_others_are_told() {
    let path = json!({ "start_x": 1, "start_y": 1, "end_x": 2, "end_y": 2, "durations": 1 });
    let (reply, asked) = call("swipe", path, gone()).await;
    assert_eq!(
        text(&reply),
        "Input validation error: Additional properties are not allowed ('durations' was unexpected)"
    );
    assert_eq!((asked, reply.is_error), (None, true));
    let (reply, asked) = call("tap", json!({ "x": 5, "y": 5, "sessionId": 1 }), gone()).await;
    assert!(text(&reply).ends_with("Ignored: `sessionId` is not an argument of this tool"));
    assert!(asked.is_some());
}

#[tokio::test]
async fn errors_have_a_bounded_length() {
    let book = "b".repeat(1_000_000);
    let unlisted = || {
        let (list, number) = (NumberedList::Controls, book.clone());
        failed(Cause::StaleReference { list, number, reason: None, none: false })
    };
    for (tool, arguments) in [
        ("click_control", json!({ "control_id": book, "control_name": book })),
        ("type_text", json!({ "control_id": book, "control_name": book, "text": book })),
        ("launch_app", json!({ "package_name": book })),
        ("launch_app", json!({ "package_name": book, "id": book })),
        ("press_key", json!({ "key_code": book })),
        ("invalidate_cache", json!({ "cache_type": book })),
        ("tap", json!({ "x": book, "y": 1 })),
        ("tap", json!({ "x": 1, "y": 1, book.clone(): 1 })),
    ] {
        let (reply, _) = call(tool, arguments, unlisted()).await;
        assert!(text(&reply).len() < 3_000, "{tool}: {}", text(&reply).len());
    }
}
