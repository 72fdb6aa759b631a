//! Clients that subscribe: to the screen of a phone, and to the list of their files.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use thumbwire_core::action::Perform;
use thumbwire_core::artifacts::ArtifactStore;
use thumbwire_core::kept_files::KeptFiles;
use thumbwire_core::session::SessionOptions;
use thumbwire_core::toolset::mobile::{self, MobileResources, ToolGroup, TreeForm};
use thumbwire_core::toolset::{ObserveMode, Toolset};
use thumbwire_virtual_android::{Setup, VirtualPhone};
use tokio::time::Instant;

use crate::caller::Caller;
use crate::http_support::{GOOD, Served, Wire};
use crate::pipe_client::{PipeClient, standalone};

const SCREEN: &str = "thumbwire://screen/virtual";

/// A phone, and what serves it.
struct Desk {
    phone: VirtualPhone,
    surface: Toolset,
    perform: Arc<dyn Perform>,
    _folder: TempDir,
}

/// With a phone whose looks can be counted: each is a program.
fn desk() -> Desk {
    let folder = tempfile::tempdir().unwrap();
    let caller = Caller::of(VirtualPhone::new(Setup { helper: false, ..Setup::default() }));
    let files = Some(ArtifactStore::new(folder.path()));
    let Caller { phone, session, .. } =
        caller.with_options(SessionOptions { files, ..SessionOptions::default() });
    phone.files(|files| files.write("/sdcard/Download/a.bin", b"abc", 0o660).unwrap());
    let kept = Arc::new(KeptFiles::new(Arc::new(session)));
    let groups = [ToolGroup::Files];
    let mut surface = mobile::toolset_allowing(TreeForm::List, ObserveMode::Diff, &groups);
    surface.resources = Some(Arc::new(MobileResources::new(Arc::clone(&kept))));
    Desk { phone, surface, perform: kept as Arc<dyn Perform>, _folder: folder }
}

fn launch(app: &str) -> Value {
    json!({ "name": "mobile_launch_app", "arguments": { "bundle_id": app } })
}

/// The URIs of the screens that were updated.
fn updated(messages: &[Value]) -> Vec<&str> {
    let updates = messages.iter().filter(|it| it["method"] == "notifications/resources/updated");
    updates.map(|it| it["params"]["uri"].as_str().unwrap()).collect()
}

impl PipeClient {
    /// What the server sends in this time.
    async fn sent_within(&mut self, seconds: u64) -> Vec<Value> {
        let end = Instant::now() + Duration::from_secs(seconds);
        let mut messages = Vec::new();
        while let Ok(message) = tokio::time::timeout_at(end, self.read()).await {
            messages.push(message);
        }
        messages
    }
}

#[tokio::test(start_paused = true)]
async fn subscriber_is_notified_when_the_screen_changes() {
    let Desk { phone, surface, perform, _folder } = desk();
    let mut client = PipeClient::connected(surface, perform).await;
    let answer = client.ask("resources/subscribe", json!({ "uri": SCREEN })).await;
    assert_eq!(answer["result"], json!({}));
    assert_eq!(client.sent_within(10).await, [] as [Value; 0], "nothing changes");
    let act = async |client: &mut PipeClient, app: &str| {
        let id = client.request("tools/call", launch(app)).await;
        let (mut messages, answer) = client.answer(id).await;
        assert_eq!(answer["result"]["isError"], false, "{answer}");
        messages.extend(client.sent_within(3).await);
        messages
    };
    assert_eq!(updated(&act(&mut client, "com.android.settings").await), [SCREEN]);
    // A change that no call made.
    phone.world(|world| world.open_power_menu());
    assert_eq!(updated(&client.sent_within(3).await), [SCREEN]);
    // Each client is told what it has not seen itself.
    let look = json!({ "name": "mobile_get_accessibility_tree", "arguments": {} });
    let seen = client.ask("tools/call", look).await;
    let text = seen["result"]["content"][0]["text"].as_str().unwrap();
    assert!(!text.starts_with("Unchanged"), "{text}");

    let answer = client.ask("resources/unsubscribe", json!({ "uri": SCREEN })).await;
    assert_eq!(answer["result"], json!({}));
    let before = phone.commands().len();
    phone.world(|world| world.open_shade(false));
    assert_eq!(client.sent_within(10).await, [] as [Value; 0]);
    assert_eq!(phone.commands().len(), before, "nobody looks without a subscriber");
}

#[tokio::test(start_paused = true)]
async fn looks_are_limited_and_never_act() {
    let Desk { phone, surface, perform, _folder } = desk();
    let mut client = PipeClient::connected(surface, perform).await;
    client.ask("resources/subscribe", json!({ "uri": SCREEN })).await;
    client.sent_within(5).await;
    let before = phone.commands().len();
    client.sent_within(20).await;
    let looks: Vec<String> =
        phone.commands().into_iter().skip(before).map(|it| it.argv.join(" ")).collect();
    let dumps = looks.iter().filter(|argv| argv.starts_with("uiautomator dump")).count();
    assert!((5..=10).contains(&dumps), "{looks:#?}");
    let harmless = ["uiautomator dump", "echo", "dumpsys"];
    let acts = looks.iter().filter(|argv| !harmless.iter().any(|start| argv.starts_with(start)));
    assert_eq!(acts.collect::<Vec<_>>(), [] as [&String; 0]);
}

#[tokio::test(start_paused = true)]
async fn only_screens_can_be_subscribed_to_and_not_many() {
    let Desk { surface, perform, .. } = desk();
    let mut client = PipeClient::connected(surface, perform).await;
    let long = format!("thumbwire://screen/{}", "a".repeat(2000));
    for uri in
        ["thumbwire://files/0/a", "thumbwire://screen/", "thumbwire://screen/%zz", "x", &long]
    {
        let answer = client.ask("resources/subscribe", json!({ "uri": uri })).await;
        assert_eq!(answer["error"]["code"], -32002, "{uri}");
    }
    // A device that does not exist, with a name that nobody sees: it never changes.
    for number in 0..16 {
        let uri = format!("thumbwire://screen/a%E2%80%AE%0Ab{number}");
        let answer = client.ask("resources/subscribe", json!({ "uri": uri })).await;
        assert_eq!(answer["result"], json!({}), "{answer}");
    }
    let answer = client.ask("resources/subscribe", json!({ "uri": SCREEN })).await;
    let text = answer["error"]["message"].as_str().unwrap();
    assert_eq!(text, "a client can subscribe to 16 resources: unsubscribe from one");
    assert_eq!(client.sent_within(10).await, [] as [Value; 0]);
}

#[tokio::test(start_paused = true)]
async fn listener_of_the_newest_revision_learns_of_screens_and_files() {
    let Desk { surface, perform, .. } = desk();
    let mut client = PipeClient::open(surface, perform);
    let found = client.ask("server/discover", standalone(json!({}), json!({}))).await;
    let able = json!({ "subscribe": true, "listChanged": true });
    assert_eq!(found["result"]["capabilities"]["resources"], able);
    let wanted = json!({ "notifications": {
        "resourcesListChanged": true, "resourceSubscriptions": [SCREEN, "thumbwire://files/0/a"],
    } });
    client.request("subscriptions/listen", standalone(wanted, json!({}))).await;
    let accepted = client.read().await;
    let uris = &accepted["params"]["notifications"]["resourceSubscriptions"];
    assert_eq!(*uris, json!([SCREEN]), "{accepted}");
    client.sent_within(1).await;
    let act = standalone(launch("com.android.settings"), json!({}));
    let id = client.request("tools/call", act).await;
    let (mut messages, _) = client.answer(id).await;
    messages.extend(client.sent_within(3).await);
    assert_eq!(updated(&messages), [SCREEN]);
    let pull =
        json!({ "name": "mobile_pull_file", "arguments": { "path": "/sdcard/Download/a.bin" } });
    let id = client.request("tools/call", standalone(pull, json!({}))).await;
    let (mut messages, _) = client.answer(id).await;
    messages.extend(client.sent_within(3).await);
    let is_list = |it: &&Value| it["method"] == "notifications/resources/list_changed";
    assert_eq!(messages.iter().filter(is_list).count(), 1, "{messages:?}");
}

#[tokio::test]
async fn each_session_learns_of_its_own_subscriptions_and_files() {
    let Desk { surface, perform, .. } = desk();
    let server = Served::of(surface, perform).await;
    let (one, _) = server.initialize("2025-11-25").await;
    let (other, _) = server.initialize("2025-11-25").await;
    let message = |method: &str, params: Value| json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let subscribe = message("resources/subscribe", json!({ "uri": SCREEN }));
    assert_eq!(server.post(Some(&one), &subscribe).await.json()["result"], json!({}));
    let mut streams = Vec::new();
    for session in [&one, &other] {
        let mut stream = Wire::open(server.address).await;
        stream.send("GET", &[GOOD[1], ("mcp-session-id", session)], "").await;
        while stream.line().await != ":" {}
        streams.push(stream);
    }
    let data = async |stream: &mut Wire| loop {
        if let Some(data) = stream.line().await.strip_prefix("data: ") {
            return serde_json::from_str::<Value>(data).unwrap();
        }
    };
    let act = message("tools/call", launch("com.android.settings"));
    server.post(Some(&other), &act).await;
    let change = data(&mut streams[0]).await;
    assert_eq!(updated(&[change]), [SCREEN]);
    // The other session has subscribed to nothing; the first that it learns of is its own file.
    let pull =
        json!({ "name": "mobile_pull_file", "arguments": { "path": "/sdcard/Download/a.bin" } });
    server.post(Some(&other), &message("tools/call", pull)).await;
    let change = data(&mut streams[1]).await;
    assert_eq!(change["method"], "notifications/resources/list_changed");
}
