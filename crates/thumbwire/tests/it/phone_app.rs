//! The phone in the chat: what clients that show MCP Apps are told, and the app in a host's page.
//!
//! `.ci/parts browser node-clients` installs Chromium, Selenium, and the host's side of ext-apps.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use thumbwire_mcp::http::Access;
use thumbwire_test_support::{python, real};

use crate::http_support::Served;
use crate::support::{McpProcess, thumbwire};

const VIRTUAL: &[&str] = &["--device", "virtual"];

/// The capabilities of a client that shows these documents.
fn showing(mime: &str) -> Value {
    json!({ "extensions": { "io.modelcontextprotocol/ui": { "mimeTypes": [mime] } } })
}

const APP: &str = "text/html;profile=mcp-app";

fn handshake(revision: &str, capabilities: Value) -> Value {
    let client = json!({ "name": "test", "version": "0" });
    json!({ "protocolVersion": revision, "capabilities": capabilities, "clientInfo": client })
}

/// The tools of the app in this list.
fn of_app(list: &Value) -> Vec<Value> {
    let tools = list["result"]["tools"].as_array().unwrap().iter();
    tools.filter(|tool| tool.get("_meta").is_some()).cloned().collect()
}

fn connected(capabilities: Value) -> McpProcess {
    let mut server = McpProcess::start(VIRTUAL);
    server.request("initialize", handshake("2025-11-25", capabilities));
    server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    server
}

#[test]
fn app_matches_its_golden() {
    let mut server = connected(showing(APP));
    let tools = of_app(&server.request("tools/list", json!({})));
    insta::assert_json_snapshot!("phone_app_tools", tools);

    let shown = server.call("mobile_show_phone", json!({}));
    insta::assert_json_snapshot!("phone_app_shown", shown);

    let page = server.request("resources/read", json!({ "uri": "ui://thumbwire/phone" }));
    let page = &page["result"]["contents"][0];
    assert_eq!(page["mimeType"], APP);
    assert!(page["text"].as_str().unwrap().starts_with("<!doctype html>"), "{page}");

    let device = &shown["structuredContent"]["device"];
    let mut picture = server.call("mobile_phone_picture", json!({ "device": device }));
    let number = picture["structuredContent"]["picture"].take();
    let data = picture["content"][0]["data"].take();
    assert!(data.as_str().unwrap().starts_with("/9j/"), "a JPEG in base64");
    insta::assert_json_snapshot!("phone_app_picture", picture);
    let after = json!({ "device": device, "after": number });
    let same = server.call("mobile_phone_picture", after.clone());
    assert_eq!(same["structuredContent"]["picture"], number);
    assert_eq!(same["content"][0]["text"], "Nothing has changed");

    let launch = json!({ "launch": { "id": "com.google.android.apps.maps" } });
    let done = server.call("mobile_phone_act", json!({ "device": device, "action": launch }));
    assert_eq!(done["content"][0]["text"], "Done", "{done}");
    let other = server.call("mobile_phone_picture", after);
    assert_eq!(other["content"][0]["mimeType"], "image/jpeg");
    let look = json!({ "device": device, "action": { "current_app": null } });
    let refused = server.call("mobile_phone_act", look);
    assert_eq!(refused["isError"], true, "{refused}");
}

#[test]
fn app_is_listed_for_clients_that_show_it() {
    for (capabilities, count) in [
        (json!({}), 0),
        (showing("text/html"), 0),
        (showing(APP), 3),
        (json!({ "extensions": {} }), 0),
    ] {
        let mut server = connected(capabilities.clone());
        let tools = of_app(&server.request("tools/list", json!({})));
        assert_eq!(tools.len(), count, "{capabilities}");

        let mut server = McpProcess::start(VIRTUAL);
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "0" },
            "io.modelcontextprotocol/clientCapabilities": capabilities,
        });
        let tools = of_app(&server.request("tools/list", json!({ "_meta": meta })));
        assert_eq!(tools.len(), count, "2026-07-28: {capabilities}");
    }
}

#[tokio::test]
async fn app_is_listed_over_http_for_sessions_that_show_it() {
    let server = Served::start(Access::Everyone).await;
    for (capabilities, count) in [(json!({}), 0), (showing(APP), 3)] {
        let params = handshake("2025-11-25", capabilities);
        let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params });
        let begun = server.post(None, &hello).await;
        let session = begun.header("mcp-session-id").unwrap().to_owned();
        let list = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {} });
        let tools = of_app(&server.post(Some(&session), &list).await.json());
        assert_eq!(tools.len(), count);
    }
}

/// The official host's side, `AppBridge` of ext-apps, around the app in a frame that may load
/// nothing.
#[test]
fn phone_in_the_chat_is_shown_touched_and_told_to_the_model() {
    let Some(python) = python("browser", "selenium") else { return };
    if real("node-clients", "node_modules/@modelcontextprotocol/ext-apps").is_none() {
        return;
    }
    let clients = real("node-clients", "").unwrap();
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("phone_app");
    fs::create_dir_all(&folder).unwrap();

    let mut host = Command::new(clients.join("node_modules/.bin/node"));
    host.arg(scripts.join("node/app_host.mjs")).arg(&clients).arg(thumbwire().get_program());
    host.args(["serve", "--device", "virtual"]).env("ANDROID_ADB_SERVER_PORT", "9");
    let mut host = host.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut url = String::new();
    BufReader::new(host.stdout.take().unwrap()).read_line(&mut url).unwrap();

    let mut person = Command::new(python);
    person.arg(scripts.join("python/phone_app.py")).arg(url.trim()).arg(&folder);
    let person = person.output().unwrap();
    // It ends with its standard input.
    drop(host.stdin.take());
    host.wait().unwrap();
    let said = String::from_utf8_lossy(&person.stdout);
    assert!(person.status.success(), "{said}{}", String::from_utf8_lossy(&person.stderr));
    let seen: Value = serde_json::from_str(said.lines().last().unwrap()).unwrap();
    assert_eq!(seen["shows"], true, "{seen}");
}
