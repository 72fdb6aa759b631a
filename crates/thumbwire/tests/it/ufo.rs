//! UFO's two servers over one session, on the virtual phone: its example, cache lifetimes, and
//! refusals.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};
use thumbwire_adb::AdbServer;
use thumbwire_core::action::Call;
use thumbwire_core::providers::{DeviceProviders, VIRTUAL};
use thumbwire_core::session::Session;
use thumbwire_core::toolset::{Content, Reply, Toolset, ufo};
use thumbwire_mcp::Client;
use thumbwire_virtual_android::{Setup, VirtualPhone};
use tokio::time::{Instant, advance};

use crate::caller::provider;
use crate::ufo_dispatch::{Command, Dispatcher, LocalToolServer};

const CONTROLS: &str = "get_app_window_controls_target_info";
const APPS: &str = "get_mobile_app_target_info";
const MAPS: &str = "com.google.android.apps.maps";

/// Both servers, as in `serve --ufo`.
struct Ufo {
    phone: VirtualPhone,
    session: Session,
    surfaces: [Toolset; 2],
}

impl Ufo {
    fn new() -> Self {
        Self::with([ufo::data(), ufo::action()])
    }

    fn with(surfaces: [Toolset; 2]) -> Self {
        // Its commands are counted.
        let phone = VirtualPhone::new(Setup { helper: false, ..Setup::default() });
        let session = session(&phone);
        Self { phone, session, surfaces }
    }

    /// A tool's reply from either server, checked against its output schema.
    async fn call(&self, tool: &str, arguments: Value) -> Reply {
        let having = self.surfaces.iter().find_map(|surface| Some((surface, surface.tool(tool)?)));
        let (surface, tool) = having.unwrap();
        let arguments = arguments.as_object().cloned().unwrap();
        let call = Call::with_timeout(tool.budget);
        let reply = surface.answer(tool, arguments, call, &self.session).await;
        assert_eq!(tool.output_schema_error(&reply), None);
        reply
    }

    /// The object or list in the reply.
    async fn said(&self, tool: &str, arguments: Value) -> Value {
        let reply = self.call(tool, arguments).await;
        let output = reply.structured.unwrap_or_else(|| panic!("{tool}: {:?}", reply.content));
        output.get("result").cloned().unwrap_or(output)
    }

    /// Lists the controls, and returns the row of the control with this name.
    async fn control(&self, name: &str) -> Value {
        let listed = self.said(CONTROLS, json!({})).await;
        let row = listed.as_array().unwrap().iter().find(|row| row["name"] == name).cloned();
        row.unwrap_or_else(|| panic!("no {name:?} among {listed}"))
    }

    async fn click(&self, row: &Value) -> Value {
        let named = json!({ "control_id": row["id"], "control_name": row["name"] });
        self.said("click_control", named).await
    }

    /// Whether a call runs a command on the phone.
    async fn asks(&self, tool: &str, arguments: Value) -> bool {
        let before = self.phone.commands().len();
        let reply = self.call(tool, arguments).await;
        assert!(!reply.is_error, "{tool}: {reply:?}");
        self.phone.commands().len() > before
    }
}

fn session(phone: &VirtualPhone) -> Session {
    // An address without an adb server.
    let phones = DeviceProviders::adb(AdbServer::new("127.0.0.1:9")).with(provider(phone));
    Session::new(phones, Some(VIRTUAL.into()))
}

/// A reply in the form of a golden, with long values truncated.
fn shown(reply: &Reply) -> String {
    const MAX_LENGTH: usize = 700;
    let parts = reply.content.iter().map(|part| match part {
        Content::Text(text) => match text.char_indices().nth(MAX_LENGTH) {
            Some((end, _)) => format!("{}…", &text[..end]),
            None => text.clone(),
        },
        other => panic!("no reply of these servers has {other:?}"),
    });
    let parts: Vec<String> = parts.collect();
    let error = if reply.is_error { "isError " } else { "" };
    format!("{error}{}", if parts.is_empty() { "(no text)".into() } else { parts.join("\n") })
}

async fn told(ufo: &Ufo, calls: Vec<(&str, Value)>) -> String {
    let mut out = String::new();
    for (tool, arguments) in calls {
        let reply = ufo.call(tool, arguments.clone()).await;
        out.push_str(&format!("{tool} {arguments}\n{}\n\n", shown(&reply)));
    }
    out
}

#[tokio::test(start_paused = true)]
async fn the_documents_story_is_told_call_by_call() {
    let ufo = Ufo::new();
    let swipe = json!({ "start_x": 500, "start_y": 1500, "end_x": 500, "end_y": 500 });
    let mut story = told(
        &ufo,
        vec![
            ("capture_screenshot", json!({})),
            ("get_device_info", json!({})),
            (APPS, json!({ "include_system_apps": true, "filter": "google" })),
            ("launch_app", json!({ "package_name": MAPS, "id": "1" })),
            (CONTROLS, json!({})),
        ],
    )
    .await;
    let field = ufo.control("Search here").await;
    let named = json!({ "control_id": field["id"], "control_name": "Search here" });
    story += &told(&ufo, vec![("click_control", named)]).await;
    let listed = ufo.said(CONTROLS, json!({})).await;
    let edits = |row: &&Value| row["type"] == "EditText";
    let field = listed.as_array().unwrap().iter().find(edits).unwrap();
    let typed =
        json!({ "text": "restaurants", "control_id": field["id"], "control_name": "Search" });
    story += &told(
        &ufo,
        vec![
            ("type_text", typed),
            ("press_key", json!({ "key_code": "KEYCODE_ENTER" })),
            ("wait", json!({ "seconds": 0.5 })),
            ("get_ui_tree", json!({})),
            ("swipe", swipe),
            ("tap", json!({ "x": 480, "y": 240 })),
            ("launch_app", json!({ "package_name": "Maps" })),
            ("invalidate_cache", json!({})),
            (APPS, json!({ "filter": "no such app" })),
        ],
    )
    .await;
    insta::assert_snapshot!(story);
}

/// The examples of the UFO MobileAgent servers document, called as it describes them: the same
/// keys, and the same texts where they do not depend on the phone. Extra keys may follow.
#[tokio::test(start_paused = true)]
async fn every_reply_has_the_documented_keys() {
    let ufo = Ufo::new();
    let picture = ufo.said("capture_screenshot", json!({})).await;
    assert!(picture.as_str().unwrap().starts_with("data:image/png;base64,iVBORw0KGgo"));
    let apps = ufo.said(APPS, json!({ "filter": "", "include_system_apps": true })).await;
    let maps = apps.as_array().unwrap().iter().find(|app| app["package"] == MAPS).cloned();
    let (maps, settings) = (maps.unwrap(), json!("com.android.settings"));
    assert_eq!(maps["name"], MAPS);
    let control = ufo.said(CONTROLS, json!({ "force_refresh": false })).await[0].clone();
    let info = ["model", "android_version", "sdk_version", "screen_size", "screen_density"];
    let info = info.into_iter().chain(["battery_level", "battery_status"]);
    let info: Map<String, Value> = info.map(|key| (key.into(), "".into())).collect();
    let done =
        |action: &str| json!({ "success": true, "action": action, "output": "", "error": "" });
    let app = json!({ "id": "", "name": "", "package": "" });
    let launched =
        json!({ "success": true, "message": "", "package_name": "", "output": "", "error": "" });
    let mut from_list = launched.clone();
    from_list["app_info"] = app.clone();
    let waited =
        json!({ "success": true, "action": "wait(1.0s)", "message": "Waited for 1.0 seconds" });
    let swiped = "swipe(500,1500)->(500,500) in 300ms";
    let field = json!({ "id": "", "name": "", "type": "" });
    let clicked = json!({ "id": "", "name": "", "type": "", "rect": [] });
    let cases = [
        ("get_ui_tree", json!({}), json!({ "success": true, "ui_tree": "", "format": "xml" })),
        (
            "get_device_info",
            json!({}),
            json!({ "success": true, "device_info": info, "from_cache": false }),
        ),
        ("tap", json!({ "x": 480, "y": 240 }), done("tap(480, 240)")),
        (
            "swipe",
            json!({ "start_x": 500, "start_y": 1500, "end_x": 500, "end_y": 500, "duration": 300 }),
            done(swiped),
        ),
        ("press_key", json!({ "key_code": "KEYCODE_BACK" }), done("press_key(KEYCODE_BACK)")),
        ("wait", json!({ "seconds": 1.0 }), waited),
        ("launch_app", json!({ "package_name": settings }), launched.clone()),
        ("launch_app", json!({ "package_name": MAPS, "id": maps["id"] }), from_list),
        ("launch_app", json!({ "package_name": "Maps" }), launched),
        (
            "invalidate_cache",
            json!({ "cache_type": "controls" }),
            json!({ "success": true, "message": "Controls cache invalidated" }),
        ),
    ];
    has_keys("an app", &app, &maps);
    has_keys("a control", &clicked, &control);
    for (tool, arguments, document) in cases {
        has_keys(tool, &document, &ufo.said(tool, arguments).await);
    }
    let search = ufo.control("Search here").await;
    let document = json!({ "success": true, "action": "", "message": "", "control_info": clicked });
    has_keys("click_control", &document, &ufo.click(&search).await);
    let search = ufo.control("Search here").await;
    let document = json!({ "success": true, "action": "", "message": "", "control_info": field });
    let typing = json!({ "text": "hello world", "control_id": search["id"], "control_name": search["name"], "clear_current_text": false });
    let typed = ufo.said("type_text", typing).await;
    has_keys("type_text", &document, &typed);
    assert!(typed["message"].as_str().unwrap().ends_with("Typed text: 'hello world'"), "{typed}");
}

/// Checks that a reply has the keys of the documented example; an empty value there matches any
/// value of its type.
fn has_keys(what: &str, document: &Value, told: &Value) {
    match (document, told) {
        (Value::Object(document), Value::Object(_)) => {
            for (key, value) in document {
                let out = told.get(key).unwrap_or_else(|| panic!("{what}: no {key} in {told}"));
                has_keys(&format!("{what}.{key}"), value, out);
            }
        }
        (Value::String(any), Value::String(_)) if any.is_empty() => {}
        (Value::Array(any), Value::Array(_)) if any.is_empty() => {}
        _ => assert_eq!(document, told, "{what}"),
    }
}

#[tokio::test(start_paused = true)]
async fn each_refusal_is_the_documents() {
    let ufo = Ufo::new();
    let control = json!({ "control_id": "5", "control_name": "Search" });
    let text = json!({ "text": "x", "control_id": "999", "control_name": "Search" });
    let numbered = |id: &str| json!({ "package_name": MAPS, "id": id });
    let swipe = json!({ "start_x": 1, "start_y": 1, "end_x": 2, "end_y": 2, "duration": -5 });
    let refusals = told(
        &ufo,
        vec![
            ("click_control", control.clone()),
            ("launch_app", numbered("1")),
            (CONTROLS, json!({})),
            (APPS, json!({ "include_system_apps": true })),
            ("click_control", json!({ "control_id": "0", "control_name": "x" })),
            ("type_text", text),
            ("launch_app", numbered("9999")),
            ("launch_app", json!({ "package_name": "zzz" })),
            ("launch_app", json!({ "package_name": "" })),
            ("launch_app", json!({ "package_name": "com.example.nothere" })),
            ("launch_app", json!({ "package_name": "com.a;id" })),
            ("tap", json!({ "x": -5, "y": 10 })),
            ("tap", json!({ "x": 99999, "y": 99999 })),
            ("swipe", swipe),
            ("press_key", json!({ "key_code": "KEYCODE_NOPE" })),
            ("wait", json!({ "seconds": -1 })),
            ("wait", json!({ "seconds": 60.1 })),
            ("invalidate_cache", json!({ "cache_type": "Controls" })),
            ("tap", json!({ "x": "12", "y": "30" })),
            ("tap", json!({ "x": 1.5, "y": 1 })),
            ("tap", json!({ "x": 1 })),
            ("tap", json!({ "params": { "x": 1, "y": 1 } })),
            ("tap", json!({ "x": 5, "y": 5, "extra": 1 })),
            ("launch_app", json!({ "package_name": MAPS, "id": 2 })),
            (APPS, json!({ "filter": 5 })),
            (CONTROLS, json!({ "force_refresh": "yes" })),
            ("press_key", json!({ "key_code": "KEYCODE_HOME" })),
            ("click_control", control.clone()),
        ],
    )
    .await;
    insta::assert_snapshot!(refusals);
    let alone = Ufo::with([ufo::data(), ufo::standalone_action()]);
    insta::assert_snapshot!(
        "an_action_server_that_runs_alone_says_so",
        told(&alone, vec![("click_control", control), ("launch_app", numbered("1"))]).await
    );
}

#[tokio::test(start_paused = true)]
async fn a_phone_that_is_gone_is_no_empty_list_and_no_empty_words() {
    let ufo = Ufo::new();
    ufo.said("get_device_info", json!({})).await;
    ufo.phone.silence(true);
    advance(Duration::from_secs(61)).await;
    let refusals = told(
        &ufo,
        vec![
            ("capture_screenshot", json!({})),
            ("get_ui_tree", json!({})),
            ("get_device_info", json!({})),
            (APPS, json!({})),
            (CONTROLS, json!({})),
            ("tap", json!({ "x": 1, "y": 1 })),
            ("launch_app", json!({ "package_name": MAPS })),
        ],
    )
    .await;
    insta::assert_snapshot!(refusals);
}

#[tokio::test(start_paused = true)]
async fn caches_have_the_documented_lifetimes() {
    let ufo = Ufo::new();
    let all = || json!({ "include_system_apps": true });
    for (tool, arguments, lifetime) in [
        (APPS, all(), 300),
        (CONTROLS, json!({}), 5),
        ("get_ui_tree", json!({}), 5),
        ("get_device_info", json!({}), 60),
    ] {
        ufo.call("invalidate_cache", json!({})).await;
        assert!(ufo.asks(tool, arguments.clone()).await, "{tool}");
        advance(Duration::from_secs(lifetime)).await;
        assert!(!ufo.asks(tool, arguments.clone()).await, "{tool} within its lifetime");
        advance(Duration::from_millis(1)).await;
        assert!(ufo.asks(tool, arguments.clone()).await, "{tool} after its lifetime");
        assert!(!ufo.asks(tool, arguments.clone()).await, "{tool}");
        if [APPS, CONTROLS].contains(&tool) {
            assert!(ufo.asks(tool, json!({ "force_refresh": true })).await, "{tool}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn each_cache_is_invalidated_by_its_own_name() {
    let caches = [
        ("apps", APPS),
        ("controls", CONTROLS),
        ("ui_tree", "get_ui_tree"),
        ("device_info", "get_device_info"),
    ];
    let ufo = Ufo::new();
    for (forgotten, _) in caches {
        for (_, tool) in caches {
            ufo.call(tool, json!({})).await;
        }
        ufo.call("invalidate_cache", json!({ "cache_type": forgotten })).await;
        for (cache, tool) in caches {
            assert_eq!(ufo.asks(tool, json!({})).await, cache == forgotten, "{forgotten}: {tool}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn device_info_says_whether_it_is_cached() {
    let ufo = Ufo::new();
    let from_cache = async || ufo.said("get_device_info", json!({})).await["from_cache"].clone();
    assert_eq!(from_cache().await, false);
    assert_eq!(from_cache().await, true);
    // An action on the screen does not invalidate it.
    ufo.said("press_key", json!({ "key_code": "KEYCODE_HOME" })).await;
    assert_eq!(from_cache().await, true);
    advance(Duration::from_secs(61)).await;
    assert_eq!(from_cache().await, false);
}

/// The original shares one cache for both.
#[tokio::test(start_paused = true)]
async fn user_apps_and_all_apps_are_cached_separately() {
    let ufo = Ufo::new();
    let user = ufo.said(APPS, json!({})).await;
    let all = ufo.said(APPS, json!({ "include_system_apps": true })).await;
    assert!(all.as_array().unwrap().len() > user.as_array().unwrap().len());
    assert_eq!(ufo.said(APPS, json!({})).await, user);
}

/// The original does not cache a filtered list, so its numbers mean other apps.
#[tokio::test(start_paused = true)]
async fn app_number_refers_to_the_latest_list() {
    let ufo = Ufo::new();
    ufo.said(APPS, json!({ "include_system_apps": true })).await;
    let maps = ufo.said(APPS, json!({ "include_system_apps": true, "filter": "maps" })).await;
    assert_eq!(maps[0]["package"], MAPS);
    let launched = ufo.said("launch_app", json!({ "package_name": MAPS, "id": "1" })).await;
    assert_eq!((&launched["package_name"], launched.get("warning")), (&json!(MAPS), None));
    let other = json!({ "package_name": "com.android.settings", "id": "1" });
    assert_eq!(
        ufo.said("launch_app", other).await["warning"],
        format!(
            "Warning: Provided package_name 'com.android.settings' differs from cached package '{MAPS}'. Using cached package from ID 1."
        )
    );
}

/// Models think longer than any cache lives.
#[tokio::test(start_paused = true)]
async fn control_listed_a_minute_ago_is_hit_where_it_is_now() {
    let ufo = Ufo::new();
    ufo.said("launch_app", json!({ "package_name": MAPS })).await;
    let field = ufo.control("Search here").await;
    ufo.phone.world(|world| world.set_rotation(1));
    advance(Duration::from_secs(60)).await;
    let clicked = ufo.click(&field).await;
    assert_eq!(clicked["success"], true, "{clicked}");
    assert_ne!(clicked["control_info"]["rect"], field["rect"]);
    assert_eq!(clicked["control_info"]["id"], field["id"]);
    let listed = ufo.said(CONTROLS, json!({})).await;
    let types = listed.as_array().unwrap().iter().any(|row| row["type"] == "EditText");
    assert!(types, "the search is open: {listed}");
}

#[tokio::test(start_paused = true)]
async fn moving_control_is_hit_at_its_new_position() {
    let ufo = Ufo::new();
    ufo.said("launch_app", json!({ "package_name": "com.android.settings" })).await;
    ufo.phone.add_fault("layout-shift:times=1".parse().unwrap());
    let battery = ufo.control("Battery").await;
    advance(Duration::from_secs(60)).await;
    let clicked = ufo.click(&battery).await;
    assert_eq!(clicked["success"], true, "{clicked}");
    assert_eq!(ufo.phone.injections().len(), 1, "it had moved");
    assert_ne!(clicked["control_info"]["rect"], battery["rect"]);
    ufo.control("Battery Saver").await;
}

#[tokio::test(start_paused = true)]
async fn stale_id_is_refused_after_an_action() {
    for (tool, arguments) in [
        ("press_key", json!({ "key_code": "KEYCODE_HOME" })),
        ("launch_app", json!({ "package_name": MAPS })),
        ("tap", json!({ "x": 1, "y": 1 })),
    ] {
        let ufo = Ufo::new();
        ufo.said("launch_app", json!({ "package_name": MAPS })).await;
        let field = ufo.control("Search here").await;
        ufo.said(tool, arguments).await;
        let before = ufo.phone.commands().len();
        let id = field["id"].as_str().unwrap();
        assert_eq!(
            ufo.click(&field).await["error"],
            format!(
                "Control with ID '{id}' not found. Please call get_app_window_controls_target_info first."
            )
        );
        assert_eq!(ufo.phone.commands().len(), before);
    }
}

#[tokio::test(start_paused = true)]
async fn waiting_and_other_invalidations_keep_the_ids() {
    let ufo = Ufo::new();
    ufo.said("launch_app", json!({ "package_name": MAPS })).await;
    let field = ufo.control("Search here").await;
    let began = Instant::now();
    let waited = ufo.said("wait", json!({ "seconds": 60 })).await;
    assert_eq!(waited["message"], "Waited for 60.0 seconds");
    assert_eq!(began.elapsed().as_secs(), 60);
    ufo.said("invalidate_cache", json!({ "cache_type": "apps" })).await;
    ufo.said("get_ui_tree", json!({})).await;
    assert_eq!(ufo.click(&field).await["success"], true);
}

#[tokio::test(start_paused = true)]
async fn both_servers_accept_concurrent_calls() {
    let ufo = Ufo::new();
    ufo.said("launch_app", json!({ "package_name": MAPS })).await;
    let field = ufo.control("Search here").await;
    let (picture, tree, waited, clicked, info) = tokio::join!(
        ufo.call("capture_screenshot", json!({})),
        ufo.said("get_ui_tree", json!({})),
        ufo.said("wait", json!({ "seconds": 2 })),
        ufo.click(&field),
        ufo.said("get_device_info", json!({})),
    );
    assert!(!picture.is_error, "{}", shown(&picture));
    for said in [tree, waited, clicked, info] {
        assert_eq!(said["success"], true, "{said}");
    }
}

#[tokio::test(start_paused = true)]
async fn many_concurrent_calls_to_both_servers_succeed() {
    let ufo = Ufo::new();
    let calls = (0..4).flat_map(|_| {
        [
            ufo.said(CONTROLS, json!({})),
            ufo.said("get_ui_tree", json!({})),
            ufo.said("tap", json!({ "x": 1, "y": 1 })),
            ufo.said(APPS, json!({ "include_system_apps": true })),
            ufo.said("get_device_info", json!({})),
            ufo.said("invalidate_cache", json!({})),
            ufo.said("wait", json!({ "seconds": 1 })),
        ]
    });
    for said in futures::future::join_all(calls).await {
        assert!(said.is_array() || said["success"] == true, "{said}");
    }
}

/// Commands as written by UFO.
fn commands(commands: Value) -> Vec<Command> {
    serde_json::from_value(commands).unwrap()
}

/// The documented example.
#[tokio::test(start_paused = true)]
async fn documented_command_gets_the_screenshots_uri() {
    let session = Arc::new(session(&VirtualPhone::new(Setup::default())));
    let data = LocalToolServer::new(ufo::data(), session.clone());
    let dispatcher = Dispatcher::new(data, LocalToolServer::new(ufo::action(), session));
    let example = json!([
        { "tool_name": "capture_screenshot", "parameters": {}, "tool_type": "data_collection" }
    ]);
    let results = dispatcher.execute_commands(commands(example)).await;
    assert!(results[0].result.as_str().unwrap().starts_with("data:image/png;base64,iVBORw0KGgo"));
}

#[tokio::test]
async fn commands_give_equal_results_locally_and_over_mcp() {
    let list = json!([
        { "tool_name": "launch_app", "parameters": { "package_name": MAPS }, "tool_type": "action" },
        { "tool_name": CONTROLS, "tool_type": "data_collection", "call_id": "7" },
        { "tool_name": "tap", "parameters": { "x": 1, "y": 1 }, "tool_type": "data_collection" },
        { "tool_name": "tap", "parameters": { "x": 1, "y": 1 }, "tool_type": "action" },
    ]);
    let session = || Arc::new(session(&VirtualPhone::new(Setup::default())));
    let here = session();
    let here = Dispatcher::new(
        LocalToolServer::new(ufo::data(), here.clone()),
        LocalToolServer::new(ufo::action(), here.clone()),
    );
    let here = here.execute_commands(commands(list.clone())).await;
    let rows = here[1].result.as_array().unwrap();
    assert!(rows.iter().any(|row| row["name"] == "Search here"), "{rows:?}");
    let out: Vec<Value> =
        here.iter().map(|one| json!([one.status, one.error, one.namespace, one.call_id])).collect();
    assert_eq!(
        json!(out),
        json!([
            ["success", null, "MobileActionExecutor", null],
            ["success", null, "MobileDataCollector", "7"],
            ["failure", "Unknown tool: tap", "MobileDataCollector", null],
            ["skipped", "Early exit due to previous failure.", "MobileActionExecutor", null],
        ])
    );

    let there = session();
    let client = async |surface| Client::connect(Arc::new(surface), there.clone()).await.unwrap();
    let dispatcher = Dispatcher::new(client(ufo::data()).await, client(ufo::action()).await);
    let mut there = dispatcher.execute_commands(commands(list)).await;
    // An MCP error has more text.
    assert!(there[2].error.as_ref().unwrap().contains("Unknown tool: tap"), "{:?}", there[2]);
    there[2].error = here[2].error.clone();
    assert_eq!(there, here);
}
