//! Python clients with our servers: the official `mcp` (both MCP generations), `fastmcp`, and
//! LangChain's adapters with the example of the Mobile MCP server specification. They validate
//! structured content against the published schemas themselves.
//!
//! `.ci/parts mcp` installs `mcp` 2 and `fastmcp`, `.ci/parts langchain` `langchain-mcp-adapters`,
//! which needs `mcp` 1, and `fastmcp` 2.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use thumbwire_test_support::{CaptureSet, capture_sets, python};

use serde_json::{Value, json};
use thumbwire_core::toolset::{android, mobile, ufo};
use thumbwire_virtual_android::{Setup, VirtualPhone};
use thumbwire_virtual_ios::VirtualIphone;
use tokio::net::TcpListener;

use crate::support::thumbwire;

const SURFACES: [&str; 4] = ["mobile", "android", "ufo-data", "ufo-action"];

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python").join(name)
}

/// A server on HTTP; ends with the test.
pub(crate) struct HttpServer {
    child: Child,
    pub(crate) url: String,
    pub(crate) token: String,
}

impl HttpServer {
    /// Without leases: clients come one after another, and those of revision 2026-07-28 cannot give
    /// theirs back.
    pub(crate) fn start(surface: &str, token_file: &Path) -> Self {
        Self::start_with(&["--toolset", surface, "--lease", "0"], token_file)
    }

    fn start_with(flags: &[&str], token_file: &Path) -> Self {
        let mut command = thumbwire();
        command.args(["serve", "--http", "127.0.0.1:0", "--device", "virtual"]);
        command.args(flags).arg("--token-file").arg(token_file);
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut output = BufReader::new(child.stderr.take().unwrap()).lines();
        let url =
            output.find_map(|line| line.unwrap().split_once(" at ").map(|(_, url)| url.into()));
        // Drain its output, so that it never blocks on writing.
        std::thread::spawn(move || output.for_each(drop));
        let token = std::fs::read_to_string(token_file).unwrap().trim().to_owned();
        Self { child, url: url.unwrap(), token }
    }
}

impl Drop for HttpServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Calls for each toolset: structured content, a refusal, an image.
fn calls() -> Value {
    json!({
        "mobile": [
            ["mobile_launch_app", { "bundle_id": "com.google.android.apps.maps" }],
            ["mobile_get_accessibility_tree", {}],
            ["mobile_take_screenshot", {}],
            ["mobile_tap_element", { "text": "Search here" }],
            ["mobile_type_keys", { "text": "museum" }],
            ["mobile_get_device_info", {}],
            ["mobile_launch_app", { "bundle_id": "com.example.nope" }],
            // Restores the state for the next mode.
            ["mobile_close_app", { "bundle_id": "com.google.android.apps.maps" }],
        ],
        "android": [
            ["get_devices", {}],
            ["tap_screen", { "x": 5, "y": 5 }],
            ["find_elements", { "text": "Maps" }],
            ["press_key", { "keycode": "NOPE" }],
        ],
        "ufo-data": [
            ["get_device_info", {}],
            ["get_mobile_app_target_info", { "filter": "bank" }],
            ["get_mobile_app_target_info", { "filter": "no such app" }],
            ["get_app_window_controls_target_info", {}],
            ["capture_screenshot", {}],
        ],
        "ufo-action": [
            ["press_key", { "key_code": "KEYCODE_HOME" }],
            ["click_control", { "control_id": "999", "control_name": "x" }],
            ["wait", { "seconds": 0.01 }],
            ["wait", { "seconds": -1 }],
        ],
    })
}

/// Runs a client script with servers on stdio and HTTP in each of these modes, and checks what it
/// saw.
fn drive(python: &Path, name: &str, modes: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    let servers =
        SURFACES.map(|surface| (surface, HttpServer::start(surface, &folder.path().join(surface))));
    let mut targets = Vec::new();
    for mode in modes {
        for (surface, server) in &servers {
            targets.push(json!({
                "surface": surface, "mode": mode, "url": server.url, "token": server.token,
            }));
            let arguments = ["serve", "--device", "virtual", "--toolset", surface];
            targets.push(json!({
                "surface": surface, "mode": mode,
                "command": thumbwire().get_program().to_str(), "args": arguments,
                // Like `thumbwire()`: no phone of an adb server that happens to run here. Clients
                // pass nothing else on.
                "env": { "ANDROID_ADB_SERVER_PORT": "9" },
            }));
        }
    }
    let job = json!({ "targets": targets, "calls": calls() });
    let seen = converse(python, name, &job);
    let seen = seen.as_array().expect("the script prints a list");
    assert_eq!(seen.len(), targets.len());
    for (target, seen) in targets.iter().zip(seen) {
        check(target["surface"].as_str().unwrap(), seen);
    }
}

/// Gives a job to a client script; returns what it printed.
fn converse(python: &Path, name: &str, job: &Value) -> Value {
    let mut child = Command::new(python)
        .arg(script(name))
        .env("PYTHONDONTWRITEBYTECODE", "1")
        // They would check the network for updates.
        .env("FASTMCP_CHECK_FOR_UPDATES", "off")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(job.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("the script prints JSON")
}

/// What each client must have seen of a toolset, over either transport.
fn check(surface: &str, seen: &Value) {
    let tools = match surface {
        "mobile" => mobile::toolset(),
        "android" => android::toolset(),
        "ufo-data" => ufo::data(),
        _ => ufo::action(),
    };
    let names: Vec<&str> = tools.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!(seen["tools"], json!(names), "{surface}");
    let call = |i: usize| &seen["calls"][i];
    let text = |i: usize| call(i)["texts"][0].as_str().unwrap_or_default();
    let structured = |i: usize| &call(i)["structured"];
    let fails = |i: usize| assert_eq!(call(i)["error"], true, "{surface}: {seen}");
    match surface {
        "mobile" => {
            assert_eq!(structured(0)["bundle_id"], "com.google.android.apps.maps", "{seen}");
            assert!(text(0).contains("Search here"), "{seen}");
            assert!(text(1).contains("Search here"), "{seen}");
            assert!(structured(1).is_null(), "{seen}");
            assert!(call(2)["images"].to_string().contains("image/jpeg"), "{seen}");
            assert_eq!(structured(3)["element"], "Search here", "{seen}");
            assert_eq!(structured(4)["field"], "same", "{seen}");
            assert_eq!(structured(5)["screen"]["height"], 1568, "{seen}");
            fails(6);
            assert!(text(6).contains("App not found: com.example.nope\n"), "{seen}");
        }
        "android" => {
            assert_eq!(structured(0)["result"]["count"], 1, "{seen}");
            assert_eq!(structured(1)["result"]["coordinates"]["x"], 5, "{seen}");
            assert_eq!(structured(2)["result"]["elements"][0]["text"], "Maps", "{seen}");
            assert!(text(3).contains("Validation failed for press_key"), "{seen}");
        }
        "ufo-data" => {
            assert_eq!(structured(0)["device_info"]["android_version"], "14", "{seen}");
            assert_eq!(structured(1)["result"][0]["id"], "1", "{seen}");
            assert_eq!(structured(2)["result"], json!([]), "{seen}");
            assert_eq!(structured(3)["result"][0]["kind"], "control", "{seen}");
            assert!(text(4).starts_with("data:image/png;base64,iVBORw0KGgo"), "{seen}");
        }
        _ => {
            assert_eq!(structured(0)["action"], "press_key(KEYCODE_HOME)", "{seen}");
            assert_eq!(structured(1)["success"], false, "{seen}");
            assert!(text(1).contains("Control with ID '999' not found"), "{seen}");
            assert_eq!(structured(2)["message"], "Waited for 0.01 seconds", "{seen}");
            assert!(text(3).contains("Wait time must be non-negative"), "{seen}");
        }
    }
}

#[test]
fn official_client_works_in_both_generations() {
    let Some(python) = python("mcp", "mcp.client.client") else { return };
    // "auto" starts with 2026-07-28, "legacy" with initialize.
    drive(&python, "mcp_client.py", &["auto", "legacy"]);
}

#[test]
fn fastmcp_validates_structured_content() {
    let Some(python) = python("mcp", "fastmcp") else { return };
    drive(&python, "fastmcp_client.py", &["auto"]);
}

#[test]
fn fastmcp_2_validates_structured_content() {
    let Some(python) = python("langchain", "fastmcp") else { return };
    drive(&python, "fastmcp_client.py", &["auto"]);
}

#[test]
fn langchain_accepts_the_tools_of_each_toolset() {
    let Some(python) = python("langchain", "langchain_mcp_adapters") else {
        return;
    };
    drive(&python, "langchain_client.py", &["auto"]);
}

/// The adapters start a server for each call, so the phone has to outlive it.
#[tokio::test(flavor = "multi_thread")]
async fn langgraph_agent_of_the_specification_drives_an_android_phone() {
    let phone = VirtualPhone::new(Setup::default());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    tokio::spawn(async move { phone.listen(listener).await });
    langgraph_agent("com.android.chrome", "com.android.chrome:id/url_bar", &address);
}

#[tokio::test(flavor = "multi_thread")]
async fn langgraph_agent_of_the_specification_drives_an_iphone() {
    let phone = VirtualIphone::new(thumbwire_virtual_ios::Setup::default());
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { phone.serve(listener).await });
    langgraph_agent("com.google.chrome.ios", "url_bar", &url);
}

/// Runs the specification's example on a phone, whose browser and address field have these ids.
fn langgraph_agent(browser: &str, address_field: &str, device: &str) {
    let modules = "langchain_mcp_adapters, langgraph.prebuilt";
    let Some(python) = python("langchain", modules) else { return };
    let output = Command::new(&python)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .arg(script("langchain_agent.py"))
        .args([browser, address_field])
        .arg(thumbwire().get_program())
        .args(["serve", "--device", device])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let seen: Value = serde_json::from_slice(&output.stdout).expect("the script prints JSON");
    assert_eq!(seen["tools"], mobile::toolset().tools.len());
    let out = |i: usize| seen["told"][i][2].as_str().unwrap_or_default();
    assert_eq!(out(0).lines().next(), Some(&*format!("Launched {browser}")), "{seen}");
    assert!(out(1).ends_with("pressed Enter") || out(1).contains("pressed Enter\n"), "{seen}");
    assert!(out(2).contains("yahoo.co.jp"), "{seen}");
    assert!(out(3).starts_with("App not found: com.example.nope\n"), "{seen}");
}

#[test]
fn goal_can_be_sent_to_the_server_and_cancelled() {
    let Some(python) = python("mcp", "mcp.client.client") else { return };
    let folder = tempfile::tempdir().unwrap();
    let long = folder.path().join("long.jsonl");
    let wait = json!({ "function": "wait", "arguments": { "seconds": 0.01 } });
    let reply = json!({ "reply": { "thought": "wait", "action": wait, "status": "CONTINUE" } });
    std::fs::write(&long, vec![reply.to_string(); 500].join("\n")).unwrap();
    let out = folder.path().to_str().unwrap();
    for mode in ["auto", "legacy"] {
        let job = json!({
            "mode": mode,
            "command": thumbwire().get_program().to_str(),
            "args": ["serve", "--device", "virtual", "--out", out, "--max-steps", "500"],
            "script": concat!(env!("CARGO_MANIFEST_DIR"), "/src/cli/demo/maps.jsonl"),
            "long_script": long,
            "task": { "goal": "Search for restaurants on Maps", "screenshots": "none" },
        });
        let seen = converse(&python, "run_task.py", &job);
        let (whole, taken_back) = (&seen["whole"], &seen["taken_back"]);
        // In between it is told each second what is going on.
        let rounds = |of: &Value| -> Vec<f64> {
            let values = of["progress"].as_array().unwrap().iter();
            let values = values.map(|it| it[0].as_f64().unwrap());
            values.filter(|value| value.fract() == 0.0).collect()
        };
        assert_eq!(rounds(whole), [1.0, 2.0, 3.0, 4.0], "{whole}");
        assert_eq!(whole["structured"]["status"], "FINISH", "{whole}");
        assert_eq!(whole["structured"]["actions"][2]["function"], "type_text", "{whole}");
        assert_eq!(whole["after"]["bundle_id"], "com.google.android.apps.maps", "{whole}");
        assert!(taken_back["structured"].is_null(), "{taken_back}");
        // It ended long before its 500 steps, and the server keeps running.
        assert!(rounds(taken_back).len() < 20, "{taken_back}");
        assert!(taken_back["after"].is_object(), "{taken_back}");
    }
    let ended: Vec<String> = std::fs::read_dir(folder.path().join("logs"))
        .unwrap()
        .map(|run| std::fs::read_to_string(run.unwrap().path().join("trace.jsonl")).unwrap())
        .map(|lines| lines.lines().last().unwrap_or_default().to_owned())
        .collect();
    assert_eq!(ended.len(), 4);
    assert_eq!(ended.iter().filter(|line| line.contains("FINISH")).count(), 2, "{ended:?}");
}

#[test]
fn user_is_asked_through_the_official_client() {
    let Some(python) = python("mcp", "mcp.client.client") else { return };
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("link.json");
    std::fs::write(&script, crate::asking::link_replies().to_string()).unwrap();
    let model = format!("scripted:{}", script.display());
    let out = folder.path().display().to_string();
    let flags = ["--model", &model, "--out", &out];
    let arguments = [&["serve", "--device", "virtual"], &flags[..]].concat();
    let answers = [
        (json!({ "action": "accept", "content": { "answer": "yes" } }), None),
        (json!({ "action": "decline" }), Some("the user declined")),
    ];
    let (mut servers, mut targets) = (Vec::new(), Vec::new());
    let mut expected: Vec<&Option<&str>> = Vec::new();
    for mode in ["auto", "legacy"] {
        for (answer, error) in &answers {
            targets.push(json!({
                "mode": mode, "answer": answer,
                "command": thumbwire().get_program().to_str(),
                "args": arguments,
                "env": { "ANDROID_ADB_SERVER_PORT": "9" },
            }));
            let token_file = folder.path().join(format!("token{}", servers.len()));
            let server = HttpServer::start_with(&flags, &token_file);
            let (url, token) = (&server.url, &server.token);
            targets.push(json!({ "mode": mode, "answer": answer, "url": url, "token": token }));
            servers.push(server);
            expected.extend([error, error]);
        }
    }
    let seen = converse(&python, "ask.py", &json!({ "targets": targets }));
    assert_eq!(seen.as_array().unwrap().len(), 8);
    for ((target, error), seen) in targets.iter().zip(expected).zip(seen.as_array().unwrap()) {
        let [question] = &seen["forms"].as_array().unwrap()[..] else { panic!("{target}: {seen}") };
        assert_eq!(question[0], crate::asking::LINK_QUESTION, "{target}");
        assert_eq!(question[1]["properties"]["answer"]["enum"], json!(["yes", "no"]), "{target}");
        let sent = seen["actions"].as_array().unwrap().last().unwrap();
        assert_eq!(sent["success"], error.is_none(), "{target}: {sent}");
        assert!(error.is_none_or(|error| sent.to_string().contains(error)), "{target}: {sent}");
    }
}

/// The count by a program that shares no code with ours.
#[test]
fn targets_and_texts_of_dumps_are_in_the_list() {
    let Some(python) = python("mcp", "xml.etree") else { return };
    let (mut dumps, mut targets, mut texts) = (0, 0, 0);
    for set in capture_sets() {
        let files = set.files("uiautomator").into_iter().map(|file| file.path);
        let files = files.filter(|path| path.extension().is_some_and(|it| it == "xml"));
        let mut command = Command::new(&python);
        command.env("PYTHONDONTWRITEBYTECODE", "1").arg(script("targets.py"));
        let output = command.arg(thumbwire().get_program()).args(files).output().unwrap();
        let lacks = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{lacks}");
        let counts: Value = serde_json::from_slice(&output.stdout).expect("the script prints JSON");
        println!("{}: {counts}", set.name());
        let count = |name: &str| counts[name].as_u64().unwrap();
        let (name, least) = match set {
            CaptureSet::Committed => ("in this repository", 10),
            CaptureSet::Others => ("all", 50),
        };
        assert!(count("dumps") >= least, "{counts}");
        dumps += count("dumps");
        targets += count("targets");
        texts += count("texts");
        let docs = include_str!("../../../../docs/evidence/snapshots.md");
        let sum = format!("| {name} | {dumps} | {targets} | {texts} |");
        assert!(docs.contains(&sum), "docs/evidence/snapshots.md lacks {sum}");
    }
}
