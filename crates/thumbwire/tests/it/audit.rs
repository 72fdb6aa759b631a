//! The audit log: one line for each call, without what was typed or seen.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use regex_lite::Regex;
use serde_json::{Value, json};
use thumbwire_core::action::Perform;
use thumbwire_core::session::SessionOptions;
use thumbwire_core::toolset::mobile;
use thumbwire_mcp::Audit;
use thumbwire_mcp::http::ServedToolset;
use thumbwire_virtual_android::{Setup, VirtualPhone};

use crate::caller::Caller;
use crate::http_support::{GOOD, Served, Wire, alone, initialize, press};
use crate::support::McpProcess;

/// The lines, without the times that calls take.
fn lines(file: &Path) -> String {
    let text = std::fs::read_to_string(file).unwrap();
    Regex::new("\"ms\":[0-9]+").unwrap().replace_all(&text, "\"ms\":0").into_owned()
}

async fn call(server: &Served, session: &str, tool: &str, arguments: Value) -> Value {
    let params = json!({ "name": tool, "arguments": arguments });
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    server.post(Some(session), &call).await.json()
}

#[tokio::test]
async fn each_call_over_http_leaves_one_line_without_its_text() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("audit.jsonl");
    let clock = || "2026-11-25T12:00:00Z".parse().unwrap();
    let audit = Audit::to_file(&file).unwrap().with_clock(clock);
    let caller = Caller::of(VirtualPhone::new(Setup::default()));
    let options =
        SessionOptions { lease_time: Duration::from_secs(30), ..SessionOptions::default() };
    let session = Arc::new(caller.with_options(options).session);
    let surface = Arc::new(mobile::toolset());
    let view = ServedToolset::new(surface, session as Arc<dyn Perform>).with_audit(audit);
    let server = Served::showing(view).await;
    let connect = async |name: &str| {
        let mut begin = initialize("2025-11-25");
        begin["params"]["clientInfo"]["name"] = name.into();
        let answer = server.post(None, &begin).await;
        answer.header("mcp-session-id").unwrap().to_owned()
    };
    let (ann, bob) = (connect("ann\"\n\u{1b}[2J\u{202e}").await, connect("bob").await);
    let secret = "hunter2";
    call(&server, &ann, "mobile_get_current_app", json!({})).await;
    call(&server, &ann, "mobile_type", json!({ "text": secret, "element_text": "Search" })).await;
    call(&server, &ann, "mobile_press_key", json!({ "key": "home" })).await;
    call(&server, &bob, "mobile_press_key", json!({ "key": "home" })).await;
    call(&server, &bob, "mobile_press_key", json!({ "key": "home", "device": secret })).await;
    call(&server, &bob, "mobile_press_key", json!({ "key": secret })).await;
    call(&server, &bob, secret, json!({})).await;
    // Revision 2026-07-28, where a client names itself in each request.
    let params = json!({ "name": "mobile_get_current_app", "arguments": {} });
    let (headers, mut message) = alone("tools/call", params);
    let client = json!({ "name": "cy", "version": "1" });
    message["params"]["_meta"]["io.modelcontextprotocol/clientInfo"] = client;
    let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
    server.ask("POST", &headers, &message.to_string()).await;
    let written = lines(&file);
    assert!(!written.contains(secret) && !written.contains(&ann), "{written}");
    insta::assert_snapshot!("audit_lines", written);
}

#[tokio::test]
async fn a_call_whose_client_left_is_cancelled() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("audit.jsonl");
    let mut server = Served::with_audit(Audit::to_file(&file).unwrap()).await;
    let (session, _) = server.initialize("2025-11-25").await;
    let headers = [GOOD[0], GOOD[1], ("mcp-session-id", session.as_str())];
    let mut wire = Wire::open(server.address).await;
    wire.send("POST", &headers, &press(1, "volume_down").to_string()).await;
    assert_eq!(server.told.recv().await, Some("begun"));
    drop(wire);
    assert_eq!(server.told.recv().await, Some("gone"));
    // The next line comes after it.
    server.post(Some(&session), &press(2, "home")).await;
    let written = lines(&file);
    let outcomes: Vec<Value> = written
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["outcome"].clone())
        .collect();
    assert_eq!(outcomes, ["cancelled", "ok"]);
}

#[test]
fn serve_writes_audit_lines_over_stdio_too() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("audit.jsonl");
    let place = file.display().to_string();
    let mut server = McpProcess::connected(&["--device", "virtual", "--audit", &place]);
    let params = json!({ "name": "mobile_get_current_app", "arguments": {} });
    server.request("tools/call", params);
    let line: Value = serde_json::from_str(lines(&file).trim()).unwrap();
    assert_eq!(line["transport"], "stdio");
    assert_eq!((&line["phone"], &line["outcome"]), (&json!("virtual"), &json!("ok")));
    assert_eq!(line["tool"], "mobile_get_current_app");
    assert!(line["client"].is_string(), "{line}");
    server.request("resources/read", json!({ "uri": "thumbwire://screen/virtual" }));
    server.request("resources/read", json!({ "uri": "thumbwire://files/0/a" }));
    let written = lines(&file);
    let read: Vec<Value> =
        written.lines().skip(1).map(|it| serde_json::from_str(it).unwrap()).collect();
    let told: Vec<_> = read.iter().map(|it| (&it["tool"], &it["phone"], &it["outcome"])).collect();
    let (tool, phone) = (json!("resources/read"), json!("virtual"));
    let (ok, failed) = (json!("ok"), json!("failed"));
    assert_eq!(told, [(&tool, &phone, &ok), (&tool, &Value::Null, &failed)]);
}

#[cfg(unix)]
#[test]
fn serve_refuses_an_audit_file_that_leads_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("audit");
    std::os::unix::fs::symlink("/etc/hostname", &link).unwrap();
    let place = link.display().to_string();
    let arguments = ["serve", "--device", "virtual", "--audit", &place];
    let output = crate::support::thumbwire().args(arguments).output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(text.contains("cannot write the audit log to "), "{text}");
    assert!(text.contains("a link is in the way"), "{text}");
}
