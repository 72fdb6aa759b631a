//! Two clients of one server over HTTP: each owns what it starts, and nothing of one is the
//! other's.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use thumbwire_adb::AdbServer;
use thumbwire_core::action::{ClientWatch, Perform};
use thumbwire_core::artifacts::ArtifactStore;
use thumbwire_core::kept_files::KeptFiles;
use thumbwire_core::providers::{DeviceProviders, VIRTUAL, VirtualPhoneProvider};
use thumbwire_core::session::{Session, SessionOptions};
use thumbwire_core::toolset::mobile::{self, MobileResources, ToolGroup, TreeForm};
use thumbwire_core::toolset::{ObserveMode, Toolset, android};
use thumbwire_mcp::http::{Access, ServedToolset};
use thumbwire_mcp::http_token::{NamedToken, Scope, Token};

use crate::http_support::{GOOD, Served, alone, initialize};
use crate::recordings::small;

/// A server with a virtual phone.
struct Desk {
    server: Served,
    /// The files of calls are here.
    _folder: tempfile::TempDir,
}

impl Desk {
    /// Clients keep a phone's lease for this many seconds.
    async fn of(toolset: Toolset, access: Access, lease: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let phones = DeviceProviders::adb(AdbServer::new("127.0.0.1:9"))
            .with(VirtualPhoneProvider::new(small("14", 1)));
        let options = SessionOptions {
            files: Some(ArtifactStore::new(folder.path())),
            lease_time: Duration::from_secs(lease),
            ..SessionOptions::from(Some(VIRTUAL.into()))
        };
        let session = Arc::new(Session::new(phones, options));
        let files = Arc::new(KeptFiles::new(Arc::clone(&session) as Arc<dyn Perform>));
        let mut toolset = toolset;
        if toolset.name == "mobile" {
            toolset.resources = Some(Arc::new(MobileResources::new(Arc::clone(&files))));
        }
        let served = ServedToolset::new(Arc::new(toolset), files as Arc<dyn Perform>)
            .with_client_watch(session as Arc<dyn ClientWatch>);
        Self { server: Served::guarded(served, access).await, _folder: folder }
    }

    async fn mobile(observe: ObserveMode, lease: u64) -> Self {
        let toolset = mobile::toolset_allowing(TreeForm::List, observe, &[ToolGroup::Recording]);
        Self::of(toolset, Access::Everyone, lease).await
    }

    async fn begin(&self) -> String {
        self.server.initialize("2025-11-25").await.0
    }

    async fn ask(&self, session: &str, method: &str, params: Value) -> Value {
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        self.server.post(Some(session), &message).await.json()
    }

    /// The text of a tool's reply.
    async fn call(&self, session: &str, tool: &str, arguments: Value) -> String {
        text(&self.ask(session, "tools/call", call(tool, arguments)).await)
    }

    async fn end(&self, session: &str) {
        let headers = [GOOD[0], GOOD[1], ("mcp-session-id", session)];
        assert_eq!(self.server.ask("DELETE", &headers, "").await.status, 200);
    }
}

fn call(tool: &str, arguments: Value) -> Value {
    json!({ "name": tool, "arguments": arguments })
}

fn text(answer: &Value) -> String {
    let text = answer["result"]["content"][0]["text"].as_str();
    text.unwrap_or_else(|| panic!("{answer}")).to_owned()
}

#[tokio::test]
async fn a_recording_is_neither_stopped_nor_read_by_another_client() {
    // Without leases nothing else keeps Bob away.
    let desk = Desk::mobile(ObserveMode::Off, 0).await;
    let (ann, bob) = (desk.begin().await, desk.begin().await);
    desk.call(&ann, "mobile_start_recording", json!({ "seconds": 30 })).await;
    let stolen = desk.ask(&bob, "tools/call", call("mobile_stop_recording", json!({}))).await;
    assert!(!stolen.to_string().contains("thumbwire://files/"), "{stolen}");
    let listed = desk.ask(&bob, "resources/list", json!({})).await;
    assert!(!listed.to_string().contains("thumbwire://files/"), "{listed}");
    let own = desk.ask(&ann, "tools/call", call("mobile_stop_recording", json!({}))).await;
    assert!(own.to_string().contains("thumbwire://files/"), "{own}");
}

#[tokio::test]
async fn monitors_are_counted_for_each_client_and_end_with_it() {
    let desk = Desk::of(android::toolset(), Access::Everyone, 30).await;
    let (ann, bob) = (desk.begin().await, desk.begin().await);
    let start = async |client: &str| desk.call(client, "start_log_monitoring", json!({})).await;
    let listed = async |client: &str| -> usize {
        let listed = desk.call(client, "list_active_monitors", json!({})).await;
        let listed: Value = serde_json::from_str(&listed).unwrap();
        listed["active_monitors"].as_array().unwrap_or_else(|| panic!("{listed}")).len()
    };
    for _ in 0..10 {
        start(&ann).await;
    }
    assert_eq!((listed(&ann).await, listed(&bob).await), (10, 0));
    let eleventh = start(&ann).await;
    assert!(eleventh.contains("maximum active monitors reached (10)"), "{eleventh}");
    start(&bob).await;
    assert_eq!(listed(&bob).await, 1, "Ann's do not count");
    desk.call(&bob, "stop_log_monitoring", json!({})).await;
    assert_eq!((listed(&ann).await, listed(&bob).await), (10, 0));
    desk.end(&ann).await;
    let cat = desk.begin().await;
    start(&cat).await;
    assert_eq!(listed(&cat).await, 1);
}

#[tokio::test]
async fn a_client_without_a_session_is_never_told_that_nothing_changed() {
    let desk = Desk::mobile(ObserveMode::Diff, 30).await;
    let press = async |name: &str| {
        let (headers, mut message) =
            alone("tools/call", call("mobile_press_key", json!({ "key": "home" })));
        message["params"]["_meta"]["io.modelcontextprotocol/clientInfo"] =
            json!({ "name": name, "version": "1" });
        let headers: Vec<_> = headers.iter().map(|(name, it)| (*name, it.as_str())).collect();
        let answer = desk.server.ask("POST", &headers, &message.to_string()).await.json();
        text(&answer)
    };
    // The second program calls itself as the first one does: nobody can tell them apart.
    for _ in 0..2 {
        let reply = press("ide").await;
        assert!(reply.lines().count() > 3 && !reply.contains("Nothing changed"), "{reply}");
    }
    let other = press("another").await;
    assert!(other.contains("is busy: client \"ide\""), "leases tell clients apart: {other}");
}

#[tokio::test]
async fn sessions_of_one_token_leave_those_of_another_alone() {
    let named = |name: &str, scope| {
        let token = Token::generate().unwrap();
        let header = format!("Bearer {}", token.reveal());
        (NamedToken { name: name.into(), scope, token }, header)
    };
    let ((ann, of_ann), (bob, of_bob)) = (named("ann", Scope::Act), named("bob", Scope::Look));
    let desk = Desk::of(mobile::toolset(), Access::Tokens(vec![ann, bob]), 30).await;
    let ask = async |token: &str, session: Option<&str>, message: &Value| {
        let session = session.map(|session| ("mcp-session-id", session));
        let headers: Vec<_> =
            GOOD.into_iter().chain([("authorization", token)]).chain(session).collect();
        desk.server.ask("POST", &headers, &message.to_string()).await
    };
    let begin = async |token: &str| {
        let answer = ask(token, None, &initialize("2025-11-25")).await;
        answer.header("mcp-session-id").unwrap().to_owned()
    };
    let used = begin(&of_ann).await;
    let first = begin(&of_bob).await;
    for _ in 0..1025 {
        begin(&of_bob).await;
    }
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    assert_eq!(ask(&of_ann, Some(&used), &ping).await.status, 200);
    assert_eq!(ask(&of_bob, Some(&first), &ping).await.status, 404, "his own oldest is gone");
}
