//! Questions to the user behind an MCP client, on the wire.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Map, Value, json};
use thumbwire_core::action::{Action, Call, Cause, Failure, Outcome, Perform};
use thumbwire_core::toolset::{Handler, Reply, Tool, ToolEffect, mobile};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream};
use tokio::io::{Lines, ReadHalf, WriteHalf, split};

use crate::support::McpProcess;

/// A tool that asks and returns the answer.
struct Asks;

#[async_trait]
impl Handler for Asks {
    async fn handle(
        &self,
        _arguments: Map<String, Value>,
        call: &Call,
        _perform: &dyn Perform,
    ) -> Result<Reply, Failure> {
        Ok(Reply::text(format!("{:?}", call.ask.ask("Which one?").await)))
    }
}

struct NoPhone;

#[async_trait]
impl Perform for NoPhone {
    async fn perform(&self, _call: &Call, _action: Action) -> Result<Outcome, Failure> {
        Err(Cause::Cancelled.into())
    }
}

struct Wire {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    writer: WriteHalf<DuplexStream>,
}

impl Wire {
    /// A client connected with this revision and these capabilities.
    async fn connected(revision: &str, capabilities: Value) -> Self {
        let mut surface = mobile::toolset();
        let described =
            json!({ "name": "asks", "description": "Asks", "inputSchema": { "type": "object" } });
        let tool = Tool::handled(
            &described,
            ToolEffect::Destructive,
            Duration::from_secs(60),
            Arc::new(Asks),
        );
        surface.tools.push(tool);
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let (reader, writer) = split(theirs);
        tokio::spawn(thumbwire_mcp::serve(Arc::new(surface), Arc::new(NoPhone), reader, writer));
        let (reader, writer) = split(ours);
        let mut wire = Self { lines: BufReader::new(reader).lines(), writer };
        let client = json!({ "name": "test", "version": "0" });
        let params = json!({ "protocolVersion": revision, "capabilities": capabilities, "clientInfo": client });
        wire.send(json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params }))
            .await;
        wire.read().await;
        wire.send(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await;
        let call = json!({ "name": "asks", "arguments": {} });
        wire.send(json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call }))
            .await;
        wire
    }

    async fn send(&mut self, message: Value) {
        self.writer.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }

    async fn read(&mut self) -> Value {
        serde_json::from_str(&self.lines.next_line().await.unwrap().unwrap()).unwrap()
    }

    async fn answer(&mut self, result: Value) -> String {
        let asked = self.read().await;
        assert_eq!(asked["method"], "elicitation/create", "{asked}");
        assert_eq!(asked["params"]["message"], "Which one?");
        assert_eq!(asked["params"]["requestedSchema"]["properties"]["answer"]["type"], "string");
        self.send(json!({ "jsonrpc": "2.0", "id": asked["id"], "result": result })).await;
        self.told().await
    }

    async fn told(&mut self) -> String {
        let reply = self.read().await;
        assert_eq!(reply["id"], 2, "{reply}");
        reply["result"]["content"][0]["text"].as_str().unwrap_or_default().to_owned()
    }
}

#[tokio::test]
async fn user_is_asked_in_a_form() {
    for revision in ["2025-06-18", "2025-11-25"] {
        for (result, told) in [
            (
                json!({ "action": "accept", "content": { "answer": "the blue one" } }),
                "Text(\"the blue one\")",
            ),
            (json!({ "action": "decline" }), "Declined"),
            (json!({ "action": "cancel" }), "Dismissed"),
        ] {
            let mut wire = Wire::connected(revision, json!({ "elicitation": {} })).await;
            assert_eq!(wire.answer(result).await, told, "{revision}");
        }
    }
}

#[tokio::test]
async fn client_without_forms_is_not_asked() {
    for capabilities in [json!({}), json!({ "elicitation": { "url": {} } })] {
        let mut wire = Wire::connected("2025-11-25", capabilities.clone()).await;
        assert_eq!(wire.told().await, "NoUser", "{capabilities}");
    }
}

/// Has a scripted server model send a link on the virtual phone while the user answers so. Returns the questions, and the
/// action with which the link would be sent.
fn send_link(flags: &[&str], capabilities: Value, answer: Value) -> (Vec<String>, Value) {
    let click = |id: &str, name: &str| {
        let arguments = json!({ "control_id": id, "control_name": name });
        json!({ "reply": { "action": { "function": "click_control", "arguments": arguments } }, "expect": name })
    };
    let open =
        json!({ "function": "launch_app", "arguments": { "package_name": "com.example.members" } });
    let replies = json!([
        { "reply": { "action": open } },
        click("6", "Forgot password?"),
        click("4", "Send link"),
        { "reply": { "action": null, "status": "FAIL", "result": "that is all" } },
    ]);
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("link.json");
    std::fs::write(&script, replies.to_string()).unwrap();
    let model = format!("scripted:{}", script.display());
    let out = folder.path().display().to_string();
    let arguments = ["--device", "virtual", "--model", &model, "--out", &out];
    let mut server = McpProcess::start(&[&arguments[..], flags].concat());
    let client = json!({ "name": "test", "version": "0" });
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": client });
    server.request("initialize", params);
    server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    let call = json!({ "name": "mobile_run_task", "arguments": { "goal": "Send the link" } });
    server.send(&json!({ "jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": call }));
    let mut asked = Vec::new();
    loop {
        let message = server.receive();
        if message["method"] == "elicitation/create" {
            asked.push(message["params"]["message"].as_str().unwrap().to_owned());
            server.send(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": answer }));
        } else if message["id"] == 9 {
            let told = &message["result"]["structuredContent"];
            assert_eq!(told["result"], "that is all", "{message}");
            let last = told["actions"].as_array().unwrap().last().unwrap();
            assert_eq!(last["arguments"]["control_name"], "Send link", "{message}");
            return (asked, last.clone());
        }
    }
}

fn answer(text: &str) -> Value {
    json!({ "action": "accept", "content": { "answer": text } })
}

#[test]
fn user_confirms_risky_actions_if_the_client_can_ask() {
    let question = "About to tap \"Send link\" in com.example.members, which may send something. Go ahead? (yes / no)";
    for (answer, error) in [
        (answer("yes"), None),
        (answer("no"), Some("the user said no")),
        (json!({ "action": "decline" }), Some("the user declined")),
        (json!({ "action": "cancel" }), Some("the user closed the question without an answer")),
    ] {
        let (asked, action) = send_link(&[], json!({ "elicitation": {} }), answer);
        assert_eq!(asked, [question]);
        assert_eq!(action["success"], error.is_none(), "{action}");
        assert!(error.is_none_or(|error| action.to_string().contains(error)), "{action}");
    }
}

#[test]
fn risky_actions_are_refused_where_nobody_can_be_asked_unless_the_operator_allows_them() {
    for (flags, is_done) in
        [(&[][..], false), (&["--confirm", "risky"], false), (&["--confirm", "never"], true)]
    {
        let (asked, action) = send_link(flags, json!({}), answer("yes"));
        assert_eq!((asked.len(), &action["success"]), (0, &json!(is_done)), "{flags:?}: {action}");
        let names_flag = action.to_string().contains("`--confirm never`");
        assert_eq!(names_flag, !is_done, "{flags:?}: {action}");
    }
}
