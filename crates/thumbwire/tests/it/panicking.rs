//! A handler that panics: its client gets an error, the others notice nothing, and the server ends
//! as usual.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Value, json};
use thumbwire_core::action::{Action, Call, Failure, Outcome, Perform};
use thumbwire_core::kept_files::KeptFiles;
use thumbwire_core::toolset::mobile::{self, MobileResources};
use thumbwire_core::toolset::{Handler, Reply, Tool, ToolEffect, Toolset};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, split};

use crate::http_support::Served;
use crate::pipe_client::{PipeClient, standalone};

/// A phone whose driver has a fault. It panics in a task of its own, as decoders of pictures do.
struct Faulty;

#[async_trait]
impl Perform for Faulty {
    async fn perform(&self, _: &Call, action: Action) -> Result<Outcome, Failure> {
        let working = async move { panic!("a fault in the driver (part of the test): {action}") };
        match tokio::spawn(working).await {
            Ok(outcome) => outcome,
            Err(error) => std::panic::resume_unwind(error.into_panic()),
        }
    }
}

/// A long tool that panics.
struct FaultyTool;

#[async_trait]
impl Handler for FaultyTool {
    async fn handle(
        &self,
        _: serde_json::Map<String, Value>,
        _: &Call,
        _: &dyn Perform,
    ) -> Result<Reply, Failure> {
        panic!("a fault in a tool (part of the test)")
    }
}

fn faulty() -> (Toolset, Arc<dyn Perform>) {
    let kept = Arc::new(KeptFiles::new(Arc::new(Faulty)));
    let mut toolset = mobile::toolset();
    toolset.resources = Some(Arc::new(MobileResources::new(Arc::clone(&kept))));
    (toolset, kept)
}

/// One request for each kind of handler that reaches the phone.
fn requests() -> [(&'static str, Value); 5] {
    let press = json!({ "name": "mobile_press_key", "arguments": { "key": "home" } });
    let look = json!({ "name": "mobile_get_accessibility_tree", "arguments": {} });
    let screen = json!({ "uri": "thumbwire://screen/virtual" });
    let reference = json!({ "type": "ref/resource", "uri": "thumbwire://screen/{device}" });
    let argument = json!({ "name": "device", "value": "v" });
    [
        ("tools/call", press),
        ("tools/call", look),
        ("resources/read", screen),
        ("resources/list", json!({})),
        ("completion/complete", json!({ "ref": reference, "argument": argument })),
    ]
}

fn check(answer: &Value, method: &str) {
    assert_eq!(answer["error"]["code"], -32603, "{method}: {answer}");
    let text = answer["error"]["message"].as_str().unwrap();
    assert!(text.starts_with("Internal error: a fault of Thumbwire ended this request"), "{text}");
    assert!(!text.contains("driver"), "the panic's message is for the log: {text}");
}

#[tokio::test]
async fn a_panic_is_an_error_with_the_request_s_id_over_pipes() {
    let (toolset, perform) = faulty();
    let mut client = PipeClient::connected(toolset, perform).await;
    // More than run at once: none may count as running for ever.
    for _ in 0..10 {
        for (method, params) in requests() {
            check(&client.ask(method, params).await, method);
        }
    }
    assert_eq!(client.ask("ping", json!({})).await["result"], json!({}));
    for (method, params) in requests() {
        check(&client.ask(method, standalone(params, json!({}))).await, method);
    }
}

#[tokio::test]
async fn a_panic_is_an_error_with_the_request_s_id_over_http() {
    let (toolset, perform) = faulty();
    let server = Served::of(toolset, perform).await;
    let (session, _) = server.initialize("2025-11-25").await;
    for (method, params) in requests() {
        let message =
            json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params.clone() });
        let answer = server.post(Some(&session), &message).await;
        assert_eq!((answer.status, &answer.json()["id"]), (200, &json!(7)), "{method}");
        check(&answer.json(), method);
        check(&server.post_alone(method, params).await.json(), method);
    }
}

#[tokio::test]
async fn a_call_that_may_ask_and_panics_is_answered() {
    let (toolset, perform) = faulty();
    let server = Served::of(toolset, perform).await;
    let client = json!({ "name": "test", "version": "0" });
    let params = json!({
        "protocolVersion": "2025-11-25", "capabilities": { "elicitation": {} }, "clientInfo": client,
    });
    let begin = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
    let session = server.post(None, &begin).await.header("mcp-session-id").unwrap().to_owned();
    let (method, params) = requests()[0].clone();
    let message = json!({ "jsonrpc": "2.0", "id": 8, "method": method, "params": params });
    let answer = server.post(Some(&session), &message).await.json();
    assert_eq!(answer["id"], 8);
    check(&answer, method);
}

#[tokio::test]
async fn a_task_that_panics_has_failed() {
    let (mut toolset, perform) = faulty();
    let described =
        json!({ "name": "fault", "description": "", "inputSchema": { "type": "object" } });
    let (time, handler) = (std::time::Duration::from_secs(9), Arc::new(FaultyTool));
    let mut tool = Tool::handled(&described, ToolEffect::Destructive, time, handler);
    tool.is_long = true;
    toolset.tools.push(tool);
    let mut client = PipeClient::open(toolset, perform);
    let tasks = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
    let params = json!({ "name": "fault", "arguments": {} });
    let begun = client.ask("tools/call", standalone(params, tasks.clone())).await;
    let id = begun["result"]["taskId"].as_str().unwrap_or_else(|| panic!("{begun}")).to_owned();
    let task = loop {
        let params = standalone(json!({ "taskId": id }), tasks.clone());
        let task = client.ask("tasks/get", params).await["result"].clone();
        if task["status"] != "working" {
            break task;
        }
        tokio::task::yield_now().await;
    };
    assert_eq!(task["status"], "failed", "{task}");
    check(&task, "tasks/get");
}

#[tokio::test]
async fn closing_the_pipe_after_panics_ends_the_server_at_once() {
    let (toolset, perform) = faulty();
    let (ours, theirs) = tokio::io::duplex(1 << 16);
    let (reader, writer) = split(theirs);
    let serving = tokio::spawn(thumbwire_mcp::serve(Arc::new(toolset), perform, reader, writer));
    let (reader, mut writer) = split(ours);
    let mut lines = BufReader::new(reader).lines();
    let client = json!({ "name": "test", "version": "0" });
    let params =
        json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client });
    let begin = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
    let begun = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    writer.write_all(format!("{begin}\n{begun}\n").as_bytes()).await.unwrap();
    lines.next_line().await.unwrap().unwrap();
    for (id, (method, params)) in requests().into_iter().enumerate() {
        let request = json!({ "jsonrpc": "2.0", "id": id + 1, "method": method, "params": params });
        writer.write_all(format!("{request}\n").as_bytes()).await.unwrap();
    }
    writer.shutdown().await.unwrap();
    let mut answered = 0;
    while let Some(line) = lines.next_line().await.unwrap() {
        check(&serde_json::from_str(&line).unwrap(), "a request");
        answered += 1;
    }
    assert_eq!(answered, requests().len());
    serving.await.unwrap().unwrap();
}
