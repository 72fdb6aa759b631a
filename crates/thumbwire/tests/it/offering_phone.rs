//! App tools end to end: from an MCP client and from a policy down to the apps of the virtual
//! phone, and back.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use thumbwire_agent::{Agent, AgentStatus, ConfirmMode, Memory, ScreenshotMode};
use thumbwire_core::action::Perform;
use thumbwire_core::app_tools::{AppToolOptions, TrustRules};
use thumbwire_core::session::{Session, SessionOptions};
use thumbwire_virtual_android::{Setup, VirtualPhone};

use crate::agent::{Script, an_hour, options, says, session_with, step};
use crate::offering::{Client, guests};

fn allowing(phone: &VirtualPhone, apps: &[&str]) -> Arc<Session> {
    let allow = apps.iter().map(|app| (*app).to_owned()).collect();
    let trust = TrustRules { allow, ..TrustRules::default() };
    let app_tools = AppToolOptions { trust, ..AppToolOptions::default() };
    Arc::new(session_with(phone, SessionOptions { app_tools, ..SessionOptions::default() }))
}

fn names(listed: &Value) -> Vec<String> {
    guests(listed).iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(start_paused = true)]
async fn app_tool_adds_a_note_and_new_apps_bring_tools() {
    let phone = VirtualPhone::new(Setup::default());
    let session = allowing(&phone, &["com.android.notes", "org.example.attendance"]);
    let mut client = Client::over(session);
    client.begin("2025-11-25").await;
    let listed = client.request("tools/list", json!({})).await;
    // Shop offers tools too, but is not allowed.
    assert_eq!(names(&listed), ["app_notes_add_note", "app_notes_find_notes"]);
    let call = |name: &str, arguments: Value| json!({ "name": name, "arguments": arguments });
    let note = json!({ "title": "Milk", "text": "two litres" });
    // Whether or not it is idle by the phone's rules.
    let launch = call("mobile_launch_app", json!({ "bundle_id": "com.android.notes" }));
    client.request("tools/call", launch).await;
    let added = client.request("tools/call", call("app_notes_add_note", note)).await;
    assert_eq!(added["isError"], false, "{added}");
    let found = call("app_notes_find_notes", json!({ "words": "litres" }));
    let found = client.request("tools/call", found).await;
    let gives = &found["structuredContent"]["output"];
    assert!(gives["notes"].to_string().contains("Milk"), "{found}");

    let apk = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/apk/attendance.apk");
    phone.install(&[&fs::read(apk).unwrap()]).unwrap();
    let out = client.receive().await;
    assert_eq!(out["method"], "notifications/tools/list_changed", "{out}");
    let listed = client.request("tools/list", json!({})).await;
    assert!(names(&listed).iter().any(|name| name == "app_attendance_clock_in_today"), "{listed}");

    // A client with a fixed list sees all of them, including those that may not be called.
    let all = client.request("tools/call", call("mobile_list_app_tools", json!({}))).await;
    let apps = all["structuredContent"]["apps"].as_array().unwrap();
    let trust = |id: &str| {
        let app = apps.iter().find(|app| app["bundle_id"] == id);
        app.unwrap_or_else(|| panic!("{id} is not in {all}"))["trust"].clone()
    };
    assert_eq!(
        (trust("com.android.notes"), trust("com.example.shop")),
        (json!("yes"), json!("not_allowed"))
    );
    let shop = json!({ "bundle_id": "com.example.shop", "tool": "cart" });
    let refused = client.request("tools/call", call("mobile_call_app_tool", shop)).await;
    let output = refused["content"][0]["text"].as_str().unwrap();
    assert!(output.starts_with("Refused: tools of com.example.shop are not allowed"), "{output}");
}

#[tokio::test(start_paused = true)]
async fn note_added_by_an_app_tool_is_on_the_screen() {
    let phone = VirtualPhone::new(Setup::default());
    let session = allowing(&phone, &["com.android.notes"]);
    let mind = Script::of(vec![
        step("launch_app", json!({ "package_name": "com.android.notes" })),
        step("app_notes_add_note", json!({ "title": "Milk", "text": "two litres" })),
        says(AgentStatus::Finish, "The note is there"),
    ]);
    let mut options = options();
    options.pictures = ScreenshotMode::None;
    let perform: Arc<dyn Perform> = session.clone();
    let agent = Agent::new(mind.clone(), perform, options)
        .with_app_functions(session)
        .with_confirm_mode(ConfirmMode::Never);
    let ended = agent.run(&an_hour(), "Note that I need milk", Memory::default()).await;
    assert_eq!((ended.status, ended.rounds), (AgentStatus::Finish, 3), "{ended:?}");
    let seen = mind.seen();
    let done = &seen[2].last_success_actions[1].message;
    assert!(done.starts_with("com.android.notes answered: "), "{done}");
    let shown = |name: &str| seen[2].current_controls.iter().any(|row| row.name.contains(name));
    assert!(shown("Milk"), "{:?}", seen[2].current_controls);
}
