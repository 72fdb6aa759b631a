//! Notifications to HTTP clients about changes of the tool list.

use async_trait::async_trait;
use axum::body::BodyDataStream;
use tokio::sync::watch;

use super::super::Access;
use super::*;
use thumbwire_core::action::{Action, Call, Cause, Failure, Outcome, Perform};
use thumbwire_core::toolset::app_tools::DynamicTools;
use thumbwire_core::toolset::{Tool, mobile};

/// An empty tool list whose version a test can change.
struct Lists(watch::Sender<u64>);

#[async_trait]
impl DynamicTools for Lists {
    async fn tools(&self) -> Vec<Arc<Tool>> {
        Vec::new()
    }

    async fn tool(&self, _name: &str) -> Option<Arc<Tool>> {
        None
    }

    fn version(&self) -> u64 {
        *self.0.borrow()
    }

    async fn changed(&self, seen: &mut u64) {
        let mut versions = self.0.subscribe();
        if let Ok(now) = versions.wait_for(|now| *now != *seen).await {
            *seen = *now;
        }
    }
}

/// Performs nothing.
struct NoPhone;

#[async_trait]
impl Perform for NoPhone {
    async fn perform(&self, _call: &Call, _action: Action) -> Result<Outcome, Failure> {
        Err(Cause::Cancelled.into())
    }
}

fn served() -> (McpEndpoint, Arc<Lists>) {
    served_within(&Limits::default())
}

fn served_within(limits: &Limits) -> (McpEndpoint, Arc<Lists>) {
    let lists = Arc::new(Lists(watch::channel(1).0));
    let toolset =
        Arc::new(mobile::toolset().with_dynamic_tools(Arc::clone(&lists) as Arc<dyn DynamicTools>));
    let served = ServedToolset::new(toolset, Arc::new(NoPhone));
    let access_check = AccessCheck::new(8080, Access::Everyone);
    let endpoint = McpEndpoint::new(access_check, served, limits, CancellationToken::new());
    (endpoint, lists)
}

fn request(method: &str, headers: &[(&str, &str)], body: &Value) -> Request {
    let mut request = Request::builder()
        .method(method)
        .uri(PATH)
        .header("host", "127.0.0.1:8080")
        .header("accept", "application/json, text/event-stream")
        .header("content-type", "application/json");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(Body::from(body.to_string())).unwrap()
}

/// The next event of a stream; comments are skipped.
async fn event(stream: &mut BodyDataStream) -> String {
    loop {
        let piece = stream.next().await.unwrap().unwrap();
        let text = String::from_utf8(piece.to_vec()).unwrap();
        if text.contains("data: {") {
            return text;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_session_stream_reports_list_changes() {
    let (endpoint, lists) = served();
    let hello = json!({
        "jsonrpc": "2.0", "id": 0, "method": "initialize",
        "params": { "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "test", "version": "0" } },
    });
    let begun = endpoint.answer(request("POST", &[], &hello)).await;
    let session = begun.headers()[SESSION].to_str().unwrap().to_owned();
    let headers = [("mcp-session-id", session.as_str()), ("mcp-protocol-version", "2025-11-25")];
    let opened = endpoint.answer(request("GET", &headers, &Value::Null)).await;
    let mut stream = opened.into_body().into_data_stream();
    lists.0.send_replace(2);
    let out = event(&mut stream).await;
    assert_eq!(
        out,
        "event: message\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n"
    );
}

/// A request of revision 2026-07-28 for a stream of list changes.
fn subscription() -> Request {
    let headers = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "subscriptions/listen")];
    let listen = json!({
        "jsonrpc": "2.0", "id": 7, "method": "subscriptions/listen",
        "params": {
            "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {},
            },
            "notifications": { "toolsListChanged": true },
        },
    });
    request("POST", &headers, &listen)
}

#[tokio::test(start_paused = true)]
async fn revision_2026_07_28_clients_can_subscribe_to_list_changes() {
    let (endpoint, lists) = served();
    let opened = endpoint.answer(subscription()).await;
    let mut stream = opened.into_body().into_data_stream();
    let accepted = event(&mut stream).await;
    assert!(accepted.contains("notifications/subscriptions/acknowledged"), "{accepted}");
    lists.0.send_replace(2);
    let out = event(&mut stream).await;
    assert!(out.contains("notifications/tools/list_changed"), "{out}");
}

#[tokio::test(start_paused = true)]
async fn subscriptions_are_limited() {
    let (endpoint, _) = served_within(&Limits { subscriptions: 1, ..Limits::default() });
    let opened = endpoint.answer(subscription()).await;
    assert_eq!(opened.status(), StatusCode::OK);
    let refused = endpoint.answer(subscription()).await;
    assert_eq!(refused.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(refused.headers()["retry-after"], "5");
    let refused: Value = serde_json::from_slice(&read(refused.into_body()).await).unwrap();
    let text = "Service Unavailable: all 1 places for subscriptions are taken; try again in 5 s";
    let error = json!({ "code": -32600, "message": text });
    assert_eq!(refused, json!({ "jsonrpc": "2.0", "id": 7, "error": error }));
    drop(opened);
    assert_eq!(endpoint.answer(subscription()).await.status(), StatusCode::OK);
}
