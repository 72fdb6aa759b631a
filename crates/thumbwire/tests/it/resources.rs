//! What clients find besides tools, over HTTP with a virtual phone: prompts, completions, screens,
//! and files of their own calls.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use thumbwire_core::action::{Call, Failure, Perform};
use thumbwire_core::artifacts::ArtifactStore;
use thumbwire_core::kept_files::KeptFiles;
use thumbwire_core::providers::{DeviceProviders, VIRTUAL, VirtualPhoneProvider};
use thumbwire_core::session::{Session, SessionOptions};
use thumbwire_core::toolset::mobile::{self, MobileResources, ToolGroup, TreeForm};
use thumbwire_core::toolset::{Handler, ObserveMode, Reply, Tool, ToolEffect, Toolset};
use thumbwire_virtual_android::{Setup, VirtualPhone};

use crate::http_support::Served;
use crate::support::McpProcess;
use crate::wire::nowhere;

/// A server with a virtual phone that keeps files in this folder.
async fn server(folder: &std::path::Path) -> Served {
    let (kept, toolset) = toolset(folder);
    Served::of(toolset, kept as Arc<dyn Perform>).await
}

/// Its tools, and what performs their calls.
fn toolset(folder: &std::path::Path) -> (Arc<KeptFiles>, Toolset) {
    let phone = VirtualPhone::new(Setup::default());
    let phones = DeviceProviders::adb(nowhere()).with(VirtualPhoneProvider::new(phone));
    let options = SessionOptions {
        files: Some(ArtifactStore::new(folder)),
        ..SessionOptions::from(Some(VIRTUAL.into()))
    };
    let session = Session::new(phones, options);
    let kept = Arc::new(KeptFiles::new(Arc::new(session)));
    let mut toolset =
        mobile::toolset_allowing(TreeForm::List, ObserveMode::Off, &[ToolGroup::Recording]);
    toolset.resources = Some(Arc::new(MobileResources::new(Arc::clone(&kept))));
    (kept, toolset)
}

/// A client in a session of its own.
struct Client<'a>(&'a Served, String);

impl<'a> Client<'a> {
    async fn of(server: &'a Served) -> Self {
        Self(server, server.initialize("2025-11-25").await.0)
    }

    async fn ask(&self, method: &str, params: Value) -> Value {
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        self.0.post(Some(&self.1), &message).await.json()
    }

    async fn get(&self, method: &str, params: Value) -> Value {
        let answer = self.ask(method, params).await;
        assert!(answer["result"].is_object(), "{answer}");
        answer["result"].clone()
    }

    async fn read(&self, uri: &str) -> Value {
        self.get("resources/read", json!({ "uri": uri })).await["contents"][0].clone()
    }
}

#[tokio::test]
async fn screens_can_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(folder.path()).await;
    let client = Client::of(&server).await;
    let listed = client.get("resources/list", json!({})).await;
    let uris: Vec<&str> = listed["resources"]
        .as_array()
        .unwrap()
        .iter()
        .map(|resource| resource["uri"].as_str().unwrap())
        .collect();
    assert_eq!(uris, ["thumbwire://screen/virtual", "thumbwire://screenshot/virtual"]);
    let templates = client.get("resources/templates/list", json!({})).await;
    let templates = templates["resourceTemplates"].as_array().unwrap().clone();
    assert_eq!(templates[0]["uriTemplate"], "thumbwire://screen/{device}");

    let screen = client.read(uris[0]).await;
    assert_eq!((&screen["uri"], &screen["mimeType"]), (&uris[0].into(), &"text/plain".into()));
    assert!(screen["text"].as_str().unwrap().contains("\"Settings\""), "{screen}");
    let picture = client.read(uris[1]).await;
    assert_eq!(picture["mimeType"], "image/png");
    assert!(picture["blob"].as_str().unwrap().starts_with("iVBORw0KGgo"));

    for (uri, code) in [
        ("thumbwire://screen/nothing-here", -32603),
        ("thumbwire://screen/", -32002),
        ("thumbwire://files/0/a", -32002),
        ("file:///etc/passwd", -32002),
        ("thumbwire://files/../../etc/passwd", -32002),
    ] {
        let answer = client.ask("resources/read", json!({ "uri": uri })).await;
        assert_eq!(answer["error"]["code"], code, "{uri}: {answer}");
    }
}

#[tokio::test]
async fn files_of_a_call_can_be_read_by_its_client_alone() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(folder.path()).await;
    let (one, other) = (Client::of(&server).await, Client::of(&server).await);
    let start = json!({ "name": "mobile_start_recording", "arguments": { "seconds": 30 } });
    let started = one.get("tools/call", start).await;
    assert_eq!(started["isError"], false, "{started}");
    let stop = json!({ "name": "mobile_stop_recording", "arguments": {} });
    let stopped = one.get("tools/call", stop).await;
    let content = stopped["content"].as_array().unwrap();
    let link = content.last().unwrap();
    assert_eq!(
        (&link["type"], &link["mimeType"]),
        (&"resource_link".into(), &"video/mp4".into()),
        "{stopped}"
    );
    let uri = link["uri"].as_str().unwrap();
    assert!(uri.starts_with("thumbwire://files/0/"), "{uri}");

    let listed = one.get("resources/list", json!({})).await;
    assert_eq!(listed["resources"].as_array().unwrap().last().unwrap()["uri"], uri);
    let video = one.read(uri).await;
    assert_eq!(video["mimeType"], "video/mp4");
    assert!(video["blob"].as_str().unwrap().len() > 500);

    let listed = other.get("resources/list", json!({})).await;
    assert!(!listed.to_string().contains("files/"), "{listed}");
    let answer = other.ask("resources/read", json!({ "uri": uri })).await;
    assert_eq!(answer["error"]["data"], json!({ "uri": uri }), "{answer}");
    let stateless = server.post_alone("resources/read", json!({ "uri": uri })).await.json();
    assert_eq!(stateless["error"]["code"], -32602, "{stateless}");
}

/// A tool that leaves a file, as a run leaves its trace.
struct Leaving(std::path::PathBuf);

#[async_trait::async_trait]
impl Handler for Leaving {
    async fn handle(
        &self,
        _: Map<String, Value>,
        _: &Call,
        _: &dyn Perform,
    ) -> Result<Reply, Failure> {
        Ok(Reply { files: vec![self.0.clone()], ..Reply::text("left") })
    }
}

#[tokio::test]
async fn trace_of_a_run_is_linked_and_belongs_to_its_client() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("trace.jsonl");
    std::fs::write(&trace, "{\"format\":1}\n").unwrap();
    let (kept, mut toolset) = toolset(folder.path());
    let described =
        json!({ "name": "run", "description": "", "inputSchema": { "type": "object" } });
    let time = std::time::Duration::from_secs(9);
    let leaving = Arc::new(Leaving(trace));
    toolset.tools.push(Tool::handled(&described, ToolEffect::Destructive, time, leaving));
    let server = Served::of(toolset, kept as Arc<dyn Perform>).await;
    let (one, other) = (Client::of(&server).await, Client::of(&server).await);
    let ended = one.get("tools/call", json!({ "name": "run", "arguments": {} })).await;
    let link = ended["content"][1].clone();
    assert_eq!(link["type"], "resource_link", "{ended}");
    assert_eq!((&link["name"], &link["mimeType"]), (&"trace.jsonl".into(), &"text/plain".into()));
    let uri = link["uri"].as_str().unwrap();
    assert_eq!(one.read(uri).await["text"], "{\"format\":1}\n");
    let answer = other.ask("resources/read", json!({ "uri": uri })).await;
    assert_eq!(answer["error"]["data"], json!({ "uri": uri }), "{answer}");
}

#[tokio::test]
async fn prompts_and_their_arguments_are_completed() {
    let folder = tempfile::tempdir().unwrap();
    let server = server(folder.path()).await;
    let client = Client::of(&server).await;
    let listed = client.get("prompts/list", json!({})).await;
    let names: Vec<&str> = listed["prompts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|prompt| prompt["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["do_on_phone", "test_app", "describe_screen"]);
    let arguments = json!({ "bundle_id": "com.example.notes", "device": "virtual" });
    let got =
        client.get("prompts/get", json!({ "name": "test_app", "arguments": arguments })).await;
    let text = got["messages"][0]["content"]["text"].as_str().unwrap();
    assert!(text.starts_with("Test the app \"com.example.notes\" on the phone."), "{text}");
    assert!(text.ends_with("Use the device \"virtual\" in every call."), "{text}");
    for (params, error) in [
        (json!({ "name": "nope" }), "Unknown prompt: nope"),
        (json!({ "name": "test_app" }), "test_app requires the argument bundle_id"),
        (
            json!({ "name": "test_app", "arguments": { "bundle_id": "a", "x": "y" } }),
            "test_app has no argument x",
        ),
    ] {
        let answer = client.ask("prompts/get", params).await;
        assert_eq!(answer["error"], json!({ "code": -32602, "message": error }));
    }

    let complete = async |reference: Value, name: &str, value: &str| {
        let argument = json!({ "name": name, "value": value });
        let params = json!({ "ref": reference, "argument": argument });
        client.get("completion/complete", params).await["completion"]["values"].clone()
    };
    let prompt = json!({ "type": "ref/prompt", "name": "test_app" });
    let apps = complete(prompt.clone(), "bundle_id", "com.example.mem").await;
    assert_eq!(apps, json!(["com.example.members"]));
    let apps = complete(prompt.clone(), "bundle_id", "settings").await;
    assert_eq!(apps[0], "com.android.settings", "also in the middle of an id");
    let template = json!({ "type": "ref/resource", "uri": "thumbwire://screen/{device}" });
    assert_eq!(complete(template, "device", "virt").await, json!(["virtual"]));
    assert_eq!(complete(prompt, "nothing", "").await, json!([]));
    let unknown = json!({ "ref": { "type": "ref/prompt", "name": "nope" }, "argument": { "name": "a", "value": "" } });
    let answer = client.ask("completion/complete", unknown).await;
    assert_eq!(answer["error"]["message"], "Nothing to complete: nope");
}

#[test]
fn program_serves_them_for_the_mobile_toolset_alone() {
    let mut server = McpProcess::start(&["--device", "virtual"]);
    let capabilities = server.initialize("2025-11-25")["capabilities"].clone();
    assert_eq!(
        capabilities,
        json!({
            "completions": {}, "prompts": {}, "resources": { "subscribe": true, "listChanged": true }, "tools": {},
            "extensions": { "io.modelcontextprotocol/skills": {} },
        })
    );
    let listed = server.request("resources/list", json!({}));
    assert_eq!(listed["result"]["resources"][0]["uri"], "thumbwire://screen/virtual");
    let read = server.request("resources/read", json!({ "uri": "thumbwire://screen/virtual" }));
    let text = read["result"]["contents"][0]["text"].as_str().unwrap();
    assert!(text.contains("\"Settings\""), "{text}");

    let mut server = McpProcess::start(&["--device", "virtual", "--toolset", "android"]);
    assert_eq!(server.initialize("2025-11-25")["capabilities"], json!({ "tools": {} }));
}
