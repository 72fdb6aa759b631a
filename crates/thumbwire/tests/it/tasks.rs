//! Long calls as tasks (SEP-2663): their states, their questions, their end, and whose they are.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use thumbwire_core::action::Perform;
use thumbwire_core::toolset::Toolset;
use thumbwire_mcp::http::{Access, ServedToolset};
use thumbwire_mcp::http_token::{NamedToken, Scope, Token};
use tokio::time::advance;

use crate::asking_support::{NoPhone, accept, asking_toolset};
use crate::cancelled_calls::Bench;
use crate::http_support::{GOOD, Served, alone};
use crate::pipe_client::{PipeClient, standalone};

/// What a client declares that understands tasks and has forms.
fn capabilities() -> Value {
    json!({ "elicitation": {}, "extensions": { "io.modelcontextprotocol/tasks": {} } })
}

fn call(tool: &str, arguments: Value) -> Value {
    json!({ "name": tool, "arguments": arguments })
}

/// The asking tools, which take long.
fn asking() -> Toolset {
    let (mut toolset, _) = asking_toolset();
    let all = std::mem::take(&mut toolset.tools);
    let asks = |name: &str| name.starts_with("asks");
    toolset.tools =
        all.into_iter().map(|tool| if asks(&tool.name) { tool.long() } else { tool }).collect();
    toolset
}

impl PipeClient {
    /// The result of a request of revision 2026-07-28.
    async fn alone(&mut self, method: &str, params: Value) -> Value {
        let answer = self.ask(method, standalone(params, capabilities())).await;
        assert!(answer.get("error").is_none(), "{answer}");
        answer["result"].clone()
    }

    /// Begins a task; returns its id.
    async fn begin(&mut self, params: Value) -> String {
        let task = self.alone("tools/call", params).await;
        assert_eq!((&task["resultType"], &task["status"]), (&json!("task"), &json!("working")));
        task["taskId"].as_str().unwrap().to_owned()
    }

    async fn state(&mut self, id: &str) -> Value {
        self.alone("tasks/get", json!({ "taskId": id })).await
    }

    /// Asks for the state until it is this one.
    async fn until(&mut self, id: &str, status: &str) -> Value {
        for _ in 0..1000 {
            let state = self.state(id).await;
            if state["status"] == status {
                return state;
            }
            advance(Duration::from_millis(50)).await;
        }
        panic!("{:?}", self.state(id).await);
    }
}

#[tokio::test(start_paused = true)]
async fn install_is_a_task_that_tells_its_progress() {
    let bench = Bench::slow();
    let mut client =
        PipeClient::open(bench.surface(), Arc::clone(&bench.session) as Arc<dyn Perform>);
    let found = client.alone("server/discover", json!({})).await;
    assert!(found["capabilities"]["extensions"]["io.modelcontextprotocol/tasks"].is_object());
    let install = call("mobile_install_app", json!({ "path": "hello.apk" }));
    let id = client.begin(install.clone()).await;
    assert_eq!(id.len(), 32);
    let ended = client.until(&id, "completed").await;
    assert_eq!(ended["result"]["isError"], false);
    let text = ended["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("org.example.hello"), "{text}");
    // The last step of its progress.
    let message = ended["statusMessage"].as_str().unwrap();
    assert!(message.ends_with("KiB sent to the phone"), "{message}");
    assert_eq!((&ended["ttlMs"], &ended["pollIntervalMs"]), (&json!(1_200_000), &json!(1000)));

    // A client that does not understand tasks waits; so does a call that is short.
    let answer = client.ask("tools/call", standalone(install, json!({}))).await;
    assert_eq!(answer["result"]["resultType"], "complete");
    let look = call("mobile_get_accessibility_tree", json!({}));
    assert_eq!(client.alone("tools/call", look).await["resultType"], "complete");
    // It is forgotten when its time is over.
    advance(Duration::from_secs(1201)).await;
    let gone = client.ask("tasks/get", standalone(json!({ "taskId": id }), capabilities())).await;
    assert_eq!(gone["error"]["code"], -32602);
    assert!(gone["error"]["message"].as_str().unwrap().starts_with("Task not found"));
}

#[tokio::test(start_paused = true)]
async fn cancelled_task_stops_the_work_on_the_phone() {
    let bench = Bench::slow();
    let perform = Arc::clone(&bench.session) as Arc<dyn Perform>;
    let mut client = PipeClient::open(bench.surface(), perform);
    let id = client.begin(call("mobile_run_task", json!({ "goal": "Swipe" }))).await;
    while bench.services().is_empty() {
        advance(Duration::from_millis(20)).await;
    }
    assert_eq!(client.state(&id).await["status"], "working");
    advance(Duration::from_secs(1)).await;
    assert_eq!(client.state(&id).await["statusMessage"], "running mobile_run_task");
    let ack = client.alone("tasks/cancel", json!({ "taskId": id })).await;
    assert_eq!(ack["resultType"], "complete");
    bench.is_idle("the run").await;
    let ended = client.state(&id).await;
    assert_eq!(ended["result"]["isError"], true, "{ended}");
    client.alone("tasks/cancel", json!({ "taskId": id })).await;
    // The work of a task ends with the server, too.
    client.begin(call("mobile_run_task", json!({ "goal": "Swipe" }))).await;
    while bench.services().is_empty() {
        advance(Duration::from_millis(20)).await;
    }
    drop(client);
    bench.is_idle("the run of a client that has left").await;
}

#[tokio::test(start_paused = true)]
async fn question_of_a_task_is_answered_by_an_update() {
    let mut client = PipeClient::open(asking(), Arc::new(NoPhone));
    let id = client.begin(call("asks_twice", json!({}))).await;
    let waiting = client.until(&id, "input_required").await;
    assert_eq!(waiting["statusMessage"], "asking");
    let form = &waiting["inputRequests"]["answer-1"];
    assert_eq!(
        (&form["method"], &form["params"]["message"]),
        (&json!("elicitation/create"), &json!("Pay?"))
    );
    let update = |name: &str| json!({ "taskId": id, "inputResponses": { (name): accept("yes") } });
    // An answer to another question counts for nothing.
    client.alone("tasks/update", update("answer-2")).await;
    assert_eq!(client.state(&id).await["status"], "input_required");
    let ack = client.alone("tasks/update", update("answer-1")).await;
    assert_eq!(ack["resultType"], "complete");
    let second = client.until(&id, "input_required").await;
    assert!(second["inputRequests"]["answer-1"].is_null(), "{second}");
    assert!(second["inputRequests"]["answer-2"].is_object(), "{second}");
    client.alone("tasks/update", update("answer-2")).await;
    let ended = client.until(&id, "completed").await;
    let text = ended["result"]["content"][0]["text"].as_str().unwrap();
    assert_eq!(text, "Text(\"yes\") Text(\"yes\")");

    // Without an answer the task ends.
    let id = client.begin(call("asks", json!({}))).await;
    client.until(&id, "input_required").await;
    advance(Duration::from_secs(301)).await;
    let ended = client.until(&id, "completed").await;
    assert_eq!(ended["result"]["content"][0]["text"], "NoUser");
}

#[tokio::test(start_paused = true)]
async fn tasks_of_a_client_are_limited() {
    let mut client = PipeClient::open(asking(), Arc::new(NoPhone));
    let mut ids = Vec::new();
    for _ in 0..8 {
        ids.push(client.begin(call("asks", json!({}))).await);
    }
    let more = standalone(call("asks", json!({})), capabilities());
    let refused = client.ask("tools/call", more).await;
    let text = refused["error"]["message"].as_str().unwrap();
    assert!(text.contains("end one with tasks/cancel"), "{text}");
    client.alone("tasks/cancel", json!({ "taskId": ids[0] })).await;
    client.until(&ids[0], "completed").await;
    ids.push(client.begin(call("asks", json!({}))).await);
    // Many that have ended are forgotten, the oldest first.
    for id in &ids {
        client.alone("tasks/cancel", json!({ "taskId": id })).await;
    }
    for _ in 0..40 {
        let id = client.begin(call("asks", json!({}))).await;
        client.alone("tasks/cancel", json!({ "taskId": id })).await;
        client.until(&id, "completed").await;
        ids.push(id);
    }
    let mut kept = 0;
    for id in &ids {
        let params = standalone(json!({ "taskId": id }), capabilities());
        kept += usize::from(client.ask("tasks/get", params).await.get("result").is_some());
    }
    assert_eq!(kept, 32);
}

#[tokio::test]
async fn task_belongs_to_the_token_that_began_it() {
    let named = |name: &str| {
        let token = Token::generate().unwrap();
        let header = format!("Bearer {}", token.reveal());
        (NamedToken { name: name.into(), scope: Scope::Act, token }, header)
    };
    let ((ann, of_ann), (bob, of_bob)) = (named("ann"), named("bob"));
    let view = ServedToolset::new(Arc::new(asking()), Arc::new(NoPhone));
    let server = Served::guarded(view, Access::Tokens(vec![ann, bob])).await;
    let ask = async |token: &str, method: &str, params: Value| {
        let name = params["taskId"].as_str().map(str::to_owned);
        let (headers, mut message) = alone(method, params);
        message["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = capabilities();
        let mut headers: Vec<_> = headers.iter().map(|(name, it)| (*name, it.as_str())).collect();
        headers.push(("authorization", token));
        headers.extend(name.as_deref().map(|name| ("mcp-name", name)));
        server.ask("POST", &headers, &message.to_string()).await.json()
    };
    let task = ask(&of_ann, "tools/call", call("asks", json!({}))).await;
    let id = json!({ "taskId": task["result"]["taskId"] });
    for method in ["tasks/get", "tasks/cancel", "tasks/update"] {
        let mut params = id.clone();
        params["inputResponses"] = json!({ "answer-1": accept("yes") });
        let refused = ask(&of_bob, method, params).await;
        assert_eq!(refused["error"]["code"], -32602, "{method}: {refused}");
    }
    let own = ask(&of_ann, "tasks/get", id).await;
    assert!(own["result"]["status"].is_string(), "{own}");
    // Clients of a session cannot ask for it either.
    let headers = [GOOD[0], GOOD[1], ("authorization", of_ann.as_str())];
    let get =
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tasks/get", "params": { "taskId": "x" } });
    let refused = server.ask("POST", &headers, &get.to_string()).await;
    assert_eq!(refused.status, 400, "{}", refused.body);
}
