//! Questions to the user behind an MCP client during a call: `elicitation/create` of the revisions
//! before 2026-07-28, over stdio and HTTP; and what the agent asks.

use serde_json::{Value, json};

use crate::asking_support::{NoPhone, Wire, accept, asking_toolset};
use crate::http_support::{self, GOOD, Served};
use crate::support::McpProcess;

/// Calls the tool on pipes, and answers its question; returns what the tool got.
async fn answered(wire: &mut Wire, tool: &str, result: Value) -> (Value, String) {
    let id = wire.request("tools/call", json!({ "name": tool, "arguments": {} })).await;
    let question = wire.read().await;
    assert_eq!(question["method"], "elicitation/create", "{question}");
    wire.send(json!({ "jsonrpc": "2.0", "id": question["id"], "result": result })).await;
    let reply = wire.read().await;
    assert_eq!(reply["id"], id, "{reply}");
    let told = reply["result"]["content"][0]["text"].as_str().unwrap_or_default().to_owned();
    (question["params"].clone(), told)
}

#[tokio::test]
async fn user_is_asked_in_a_form() {
    for revision in ["2025-06-18", "2025-11-25"] {
        let mut wire = Wire::connected(revision, json!({ "elicitation": {} })).await;
        for (tool, result, expected) in [
            ("asks_openly", accept("the blue one"), "Text(\"the blue one\")"),
            ("asks", accept("yes"), "Text(\"yes\")"),
            ("asks", accept("no"), "Text(\"no\")"),
            ("asks", accept("whatever"), "Dismissed"),
            ("asks", json!({ "action": "accept" }), "Dismissed"),
            ("asks", json!({ "action": "decline" }), "Declined"),
            ("asks", json!({ "action": "cancel" }), "Dismissed"),
        ] {
            let (form, told) = answered(&mut wire, tool, result).await;
            assert_eq!(told, expected, "{revision}");
            let answer = &form["requestedSchema"]["properties"]["answer"];
            if tool == "asks" {
                assert_eq!(
                    (&form["message"], &answer["enum"]),
                    (&"Pay?".into(), &json!(["yes", "no"]))
                );
            } else {
                assert_eq!(
                    (&form["message"], &answer["enum"]),
                    (&"Which one?".into(), &Value::Null)
                );
            }
        }
        assert_eq!(wire.asked.acts(), 1);
    }
}

#[tokio::test]
async fn client_without_forms_is_not_asked() {
    for capabilities in [json!({}), json!({ "elicitation": { "url": {} } })] {
        let mut wire = Wire::connected("2025-11-25", capabilities.clone()).await;
        wire.request("tools/call", json!({ "name": "asks", "arguments": {} })).await;
        let reply = wire.read().await;
        assert_eq!(reply["result"]["content"][0]["text"], "NoUser", "{capabilities}");
    }
}

/// A session over HTTP of a client with forms.
struct HttpClient<'a> {
    server: &'a Served,
    session: String,
    revision: &'static str,
}

impl<'a> HttpClient<'a> {
    async fn begin(server: &'a Served, revision: &'static str) -> Self {
        let mut first = http_support::initialize(revision);
        first["params"]["capabilities"] = json!({ "elicitation": {} });
        let answer = server.post(None, &first).await;
        let session = answer.header("mcp-session-id").unwrap().to_owned();
        Self { server, session, revision }
    }

    fn headers(&self) -> [(&str, &str); 4] {
        let revision = ("mcp-protocol-version", self.revision);
        [GOOD[0], GOOD[1], ("mcp-session-id", &self.session), revision]
    }

    /// Calls the tool and reads up to its question, whose id is returned.
    async fn call(&self, tool: &str) -> (http_support::Wire, Value) {
        let params = json!({ "name": tool, "arguments": {} });
        let call = json!({ "jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": params });
        let mut wire = http_support::Wire::open(self.server.address).await;
        wire.send("POST", &self.headers(), &call.to_string()).await;
        let question = next_event(&mut wire).await;
        assert_eq!(question["method"], "elicitation/create", "{question}");
        assert_eq!(question["params"]["message"], "Pay?");
        (wire, question["id"].clone())
    }

    async fn post(&self, message: Value) {
        let accepted = self.server.ask("POST", &self.headers(), &message.to_string()).await;
        assert_eq!((accepted.status, &*accepted.body), (202, ""));
    }

    async fn answer(&self, id: &Value, result: Value) {
        self.post(json!({ "jsonrpc": "2.0", "id": id, "result": result })).await;
    }
}

/// The next message of an event stream.
async fn next_event(wire: &mut http_support::Wire) -> Value {
    loop {
        let line = wire.line().await;
        if let Some(data) = line.strip_prefix("data:") {
            return serde_json::from_str(data).unwrap();
        }
    }
}

#[tokio::test]
async fn user_is_asked_over_http_on_the_stream_of_the_call() {
    let (toolset, asked) = asking_toolset();
    let server = Served::of(toolset, std::sync::Arc::new(NoPhone)).await;
    for revision in ["2025-06-18", "2025-11-25"] {
        let client = HttpClient::begin(&server, revision).await;
        for (result, expected) in [
            (accept("yes"), "Text(\"yes\")"),
            (accept("no"), "Text(\"no\")"),
            (json!({ "action": "decline" }), "Declined"),
            (json!({ "action": "cancel" }), "Dismissed"),
            (json!({ "action": "accept", "content": "yes" }), "Dismissed"),
            (json!("yes"), "NoUser"),
        ] {
            let (mut wire, id) = client.call("asks").await;
            client.answer(&id, result).await;
            let reply = next_event(&mut wire).await;
            assert_eq!(
                (&reply["id"], &reply["result"]["content"][0]["text"]),
                (&5.into(), &expected.into())
            );
            assert!(wire.answer().await.body.trim_end_matches(['0', '\r', '\n']).is_empty());
        }
    }
    assert_eq!(asked.acts(), 2);
}

#[tokio::test]
async fn only_the_asked_session_answers_over_http_and_only_once() {
    let (toolset, asked) = asking_toolset();
    let server = Served::of(toolset, std::sync::Arc::new(NoPhone)).await;
    let (one, other) = (
        HttpClient::begin(&server, "2025-11-25").await,
        HttpClient::begin(&server, "2025-11-25").await,
    );
    let (mut first, first_id) = one.call("asks").await;
    let (mut second, second_id) = one.call("asks").await;
    assert_ne!(first_id, second_id, "questions of concurrent calls differ");
    other.answer(&first_id, accept("yes")).await;
    one.answer(&json!(999), accept("yes")).await;
    one.answer(&first_id, accept("no")).await;
    one.answer(&first_id, accept("yes")).await;
    assert_eq!(next_event(&mut first).await["result"]["content"][0]["text"], "Text(\"no\")");
    // Some clients send the id as text.
    one.answer(&second_id.to_string().into(), json!({ "action": "decline" })).await;
    assert_eq!(next_event(&mut second).await["result"]["content"][0]["text"], "Declined");
    assert_eq!(asked.acts(), 0);
}

#[tokio::test]
async fn question_over_http_ends_with_its_call() {
    let (toolset, mut asked) = asking_toolset();
    let server = Served::of(toolset, std::sync::Arc::new(NoPhone)).await;
    let client = HttpClient::begin(&server, "2025-11-25").await;

    let (wire, _) = client.call("asks").await;
    drop(wire);
    assert_eq!(asked.told().await, "NoUser", "the client has left");
    assert_eq!(asked.told().await, "over");

    let (mut wire, id) = client.call("asks").await;
    let cancel = json!({ "requestId": 5 });
    client
        .post(json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": cancel }))
        .await;
    assert_eq!(asked.told().await, "NoUser", "the client has cancelled");
    assert_eq!(asked.told().await, "over");
    assert!(!wire.answer().await.body.contains("result"));
    client.answer(&id, accept("yes")).await;

    let (mut wire, id) = client.call("asks_and_stays").await;
    client.answer(&id, accept("yes")).await;
    assert_eq!(asked.told().await, "Text(\"yes\")");
    let delete = server.ask("DELETE", &client.headers(), "").await;
    assert_eq!(delete.status, 200);
    assert_eq!(asked.told().await, "over", "its session has ended");
    wire.answer().await;
    assert_eq!(asked.acts(), 1);
}

/// Neither a client without forms nor one that takes no event stream can be asked.
#[tokio::test]
async fn client_that_cannot_be_asked_over_http_gets_its_reply() {
    let (toolset, _asked) = asking_toolset();
    let server = Served::of(toolset, std::sync::Arc::new(NoPhone)).await;
    let client = HttpClient::begin(&server, "2025-06-18").await;
    let params = json!({ "name": "asks", "arguments": {} });
    let call = json!({ "jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": params });
    let [kind, _, session, revision] = client.headers();
    let json_only = [kind, ("accept", "application/json"), session, revision];
    let answer = server.ask("POST", &json_only, &call.to_string()).await.json();
    assert_eq!(answer["result"]["content"][0]["text"], "NoUser");
    let (plain, _) = server.initialize("2025-06-18").await;
    let answer = server.post(Some(&plain), &call).await.json();
    assert_eq!(answer["result"]["content"][0]["text"], "NoUser");
    let call = json!({ "name": "mobile_press_key", "arguments": { "key": "home" } });
    let call = json!({ "jsonrpc": "2.0", "id": 6, "method": "tools/call", "params": call });
    let answer = server.ask("POST", &client.headers(), &call.to_string()).await.json();
    assert_eq!(answer["result"]["isError"], true, "a call without a question is answered in JSON");
}

/// The question before a link is sent.
pub(crate) const LINK_QUESTION: &str =
    "About to tap \"Send link\" in com.example.members, which may send something. Go ahead?";

/// The replies of a model that has a link sent on the virtual phone.
pub(crate) fn link_replies() -> Value {
    let click = |id: &str, name: &str| {
        let arguments = json!({ "control_id": id, "control_name": name });
        json!({ "reply": { "action": { "function": "click_control", "arguments": arguments } }, "expect": name })
    };
    let open =
        json!({ "function": "launch_app", "arguments": { "package_name": "com.example.members" } });
    json!([
        { "reply": { "action": open } },
        click("6", "Forgot password?"),
        click("4", "Send link"),
        { "reply": { "action": null, "status": "FAIL", "result": "that is all" } },
    ])
}

/// Has a scripted server model send a link on the virtual phone while the user answers so. Returns
/// the questions, and the action with which the link would be sent.
fn send_link(flags: &[&str], capabilities: Value, answer: Value) -> (Vec<String>, Value) {
    let replies = link_replies();
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

#[test]
fn user_confirms_risky_actions_if_the_client_can_ask() {
    for (answer, error) in [
        (accept("yes"), None),
        (accept("no"), Some("the user said no")),
        (json!({ "action": "decline" }), Some("the user declined")),
        (json!({ "action": "cancel" }), Some("the user closed the question without an answer")),
    ] {
        let (asked, action) = send_link(&[], json!({ "elicitation": {} }), answer);
        assert_eq!(asked, [LINK_QUESTION]);
        assert_eq!(action["success"], error.is_none(), "{action}");
        assert!(error.is_none_or(|error| action.to_string().contains(error)), "{action}");
    }
}

#[test]
fn risky_actions_are_refused_where_nobody_can_be_asked_unless_the_operator_allows_them() {
    for (flags, is_done) in
        [(&[][..], false), (&["--confirm", "risky"], false), (&["--confirm", "never"], true)]
    {
        let (asked, action) = send_link(flags, json!({}), accept("yes"));
        assert_eq!((asked.len(), &action["success"]), (0, &json!(is_done)), "{flags:?}: {action}");
        let names_flag = action.to_string().contains("`--confirm never`");
        assert_eq!(names_flag, !is_done, "{flags:?}: {action}");
    }
}

/// Taps elements of the virtual phone, in a server that asks before risky acts. Returns the
/// questions, and the text of the last reply.
fn tapped(flags: &[&str], capabilities: Value, answer: &Value) -> (Vec<String>, String) {
    let mut server = McpProcess::start(&[&["--device", "virtual"][..], flags].concat());
    let client = json!({ "name": "test", "version": "0" });
    let params = json!({ "protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": client });
    server.request("initialize", params);
    server.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    let (mut asked, mut told) = (Vec::new(), String::new());
    for (tool, arguments) in [
        ("mobile_launch_app", json!({ "bundle_id": "com.example.members" })),
        ("mobile_tap_element", json!({ "text": "Forgot password?" })),
        ("mobile_tap_element", json!({ "text": "Send link" })),
    ] {
        let call = json!({ "name": tool, "arguments": arguments });
        server
            .send(&json!({ "jsonrpc": "2.0", "id": tool, "method": "tools/call", "params": call }));
        loop {
            let message = server.receive();
            if message["method"] == "elicitation/create" {
                asked.push(message["params"]["message"].as_str().unwrap().to_owned());
                server.send(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": answer }));
            } else if message["id"] == tool {
                told = message["result"]["content"][0]["text"].as_str().unwrap().to_owned();
                break;
            }
        }
    }
    (asked, told)
}

#[test]
fn clients_acts_are_confirmed_where_the_operator_wants_it() {
    let forms = json!({ "elicitation": {} });
    let (asked, told) = tapped(&["--confirm", "risky"], forms.clone(), &accept("yes"));
    assert_eq!(asked, [LINK_QUESTION]);
    assert!(told.starts_with("Tapped \"Send link\""), "{told}");
    let (asked, told) = tapped(&["--confirm", "risky"], forms.clone(), &accept("no"));
    assert_eq!(asked, [LINK_QUESTION]);
    assert!(told.starts_with("Refused: the user said no"), "{told}");
    let (asked, told) = tapped(&["--confirm", "risky"], json!({}), &accept("yes"));
    assert!(asked.is_empty() && told.contains("the client cannot ask"), "{told}");
    let (asked, _) = tapped(&["--confirm", "always"], forms.clone(), &accept("yes"));
    assert_eq!(asked.len(), 3, "{asked:?}");
    let (asked, told) = tapped(&[], forms, &accept("no"));
    assert!(asked.is_empty() && told.starts_with("Tapped"), "{told}");
}
