//! UFO MobileAgent's example with a model over HTTP: the whole program with `aimock`, both provider
//! APIs, and a failure on the way.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use thumbwire_agent::{Agent, Memory};
use thumbwire_virtual_android::{Setup, VirtualPhone};

use crate::agent::{Script, an_hour, id_of, options, restaurants, session};
use crate::models::{BOTH, KEY, Served};
use crate::support::thumbwire;

const GOAL: &str = "Search for restaurants on Maps";

/// The model's replies, step by step. The control numbers are those found by a scripted run on the
/// same virtual phone.
async fn replies() -> Vec<Value> {
    let script = Script::of(restaurants());
    let phone = VirtualPhone::new(Setup::default());
    let agent = Agent::new(script.clone(), Arc::new(session(&phone)), options());
    agent.run(&an_hour(), GOAL, Memory::default()).await;
    let seen = script.seen();
    let button = id_of(&seen[1], |row| row.name == "Search here");
    let field = id_of(&seen[2], |row| row.kind == "EditText");
    let calls = [
        ("launch_app", json!({ "package_name": "Maps" })),
        ("click_control", json!({ "control_id": button, "control_name": "Search here" })),
        (
            "type_text",
            json!({ "text": "restaurants", "control_id": field, "control_name": "Search here" }),
        ),
        ("press_key", json!({ "key_code": "KEYCODE_ENTER" })),
    ];
    let act = |(function, arguments): (&str, Value)| {
        let action = json!({ "function": function, "arguments": arguments });
        json!({ "observation": "", "thought": function, "action": action, "status": "CONTINUE" })
    };
    let mut replies: Vec<Value> = calls.into_iter().map(act).collect();
    let done = "The Copper Ladle and Harbor Grill are near.";
    replies.push(json!({ "thought": "They are listed.", "action": null, "status": "FINISH", "result": done }));
    // The claim is judged with a new snapshot.
    replies.push(json!({ "reached": true, "why": "Restaurants are listed." }));
    replies
}

/// Whether the API key is in any file below a folder.
fn tells_the_key(folder: &Path) -> bool {
    let key = KEY.as_bytes();
    std::fs::read_dir(folder).unwrap().any(|entry| {
        let path = entry.unwrap().path();
        if path.is_dir() {
            return tells_the_key(&path);
        }
        std::fs::read(&path).unwrap().windows(key.len()).any(|part| part == key)
    })
}

#[tokio::test(start_paused = true)]
async fn model_over_http_completes_ufos_example_with_both_apis() {
    let mut fixtures = Vec::new();
    let limited =
        json!({ "error": { "message": "slow down", "type": "rate_limit_error" }, "status": 429 });
    let told = replies().await.into_iter().map(|reply| json!({ "content": reply.to_string() }));
    for (at, response) in std::iter::once(limited).chain(told).enumerate() {
        let matches = json!({ "userMessage": "restaurants", "sequenceIndex": at });
        fixtures.push(json!({ "match": matches, "response": response }));
    }
    for provider in BOTH {
        let Some(server) = Served::aimock(&json!(fixtures), &[]) else { return };
        let out = tempfile::tempdir().unwrap();
        let output = thumbwire()
            .args([
                "run",
                GOAL,
                "--device",
                "virtual",
                "--screenshots",
                "both",
                "--price",
                "1,10",
                "--json",
            ])
            .args(["--model", &format!("{provider}:small"), "--base-url", &server.base(provider)])
            .arg("--out")
            .arg(out.path())
            .env(format!("{}_API_KEY", provider.to_uppercase()), KEY)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        let complained = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{provider}: {said}\n{complained}");
        let last: Value = serde_json::from_str(said.lines().last().unwrap()).unwrap();
        assert!(last.to_string().contains("Copper Ladle"), "{last}");
        assert!(!said.contains(KEY) && !complained.contains(KEY), "the key is printed");
        assert!(!tells_the_key(out.path()), "the key is stored");
    }
}

/// Mistakes in the flags of models are told before anything is asked.
#[test]
fn flags_of_models_are_checked() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("replies.jsonl");
    std::fs::write(&file, "{\"reply\": \"x\"}\n").unwrap();
    let model = format!("scripted:{}", file.display());
    let check = |rest: &[&str], expected: &str| {
        let mut command = thumbwire();
        command.args(["run", "Go", "--device", "virtual", "--model", &model]).args(rest);
        let output = command.env_remove("OPENAI_API_KEY").output().unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{rest:?}: {text}");
        assert!(text.contains(expected), "{rest:?}: {text}");
    };
    let limited = ["--price", "1,2", "--max-cost", "1"];
    let judged = [&limited[..], &["--judge-model", "scripted:other"]].concat();
    check(&judged, "--max-cost needs the price of every model: add --judge-price");
    check(&["--planner-model", "openai:large"], "set OPENAI_API_KEY");
    let named = ["--planner-model", "openai:large", "--planner-api-key-env", "NO_SUCH_KEY"];
    check(&named, "--planner-api-key-env: the environment variable NO_SUCH_KEY is not set");
    check(&["--planner-price", "1,2"], "--planner-model");
    check(&["--json-schema", "--tool-calls", "native"], "omit one of them");
}
