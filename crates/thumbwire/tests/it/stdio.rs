//! The whole program as seen by an MCP client: a process that speaks JSON lines.

use std::io::Write as _;
use std::process::Stdio;

use crate::support::McpProcess;
use serde_json::{Value, json};
use thumbwire_core::toolset::mobile;

const VIRTUAL: &[&str] = &["--device", "virtual"];

#[test]
fn tool_list_is_the_same_in_every_revision() {
    let mut lists = Vec::new();
    for revision in ["2024-11-05", "2025-06-18", "2025-11-25"] {
        let mut server = McpProcess::start(VIRTUAL);
        let hello = server.initialize(revision);
        assert_eq!(hello["protocolVersion"], revision);
        assert_eq!(hello["serverInfo"]["name"], "thumbwire");
        lists.push(server.request("tools/list", json!({}))["result"]["tools"].clone());
    }
    // Revision 2026-07-28 has no handshake: each request carries what it needs.
    let mut server = McpProcess::start(VIRTUAL);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "0" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let discovered = server.request("server/discover", json!({ "_meta": meta }));
    let versions = discovered["result"]["supportedVersions"].to_string();
    assert!(versions.contains("2026-07-28"), "{discovered}");
    lists.push(server.request("tools/list", json!({ "_meta": meta }))["result"]["tools"].clone());

    assert!(lists.iter().all(|list| *list == lists[0]), "{lists:#?}");
    // What they are is tested with the toolsets (`tools.rs`).
    let toolset = mobile::toolset();
    let tools: Vec<Value> = toolset.tools.iter().map(|tool| tool.to_json()).collect();
    assert_eq!(lists[0].to_string(), Value::from(tools).to_string());
    // Clients drop the whole list because of one invalid name.
    for tool in lists[0].as_array().unwrap() {
        let name = tool["name"].as_str().unwrap();
        let fits = |char: char| char.is_ascii_alphanumeric() || "_-".contains(char);
        assert!((1..=64).contains(&name.len()) && name.chars().all(fits), "{name}");
    }
}

/// What a client does that was written for the specification: it parses the tree, and taps device
/// pixels.
#[test]
fn as_specified_serves_a_client_of_the_specification() {
    let mut server = McpProcess::connected(&["--device", "virtual", "--as-specified"]);
    let maps = "com.google.android.apps.maps";
    let launched = server.say("mobile_launch_app", json!({ "bundle_id": maps }));
    assert_eq!(launched, format!("Launched {maps}"));
    for _ in 0..2 {
        let tree = server.say("mobile_get_accessibility_tree", json!({}));
        let node = tree.split("<node ").find(|node| node.contains("text=\"Search here\"")).unwrap();
        assert!(node.contains("package=\"com.google.android.apps.maps\""), "{node}");
        // The screen is 1080 pixels wide.
        assert!(tree.contains("bounds=\"[0,0][1080,2400]\""), "{tree}");
    }
    let picture = json!({ "name": "mobile_take_screenshot", "arguments": {} });
    let picture = server.request("tools/call", picture)["result"].clone();
    assert_eq!(picture["content"][0]["mimeType"], "image/png");
    let tapped = server.say("mobile_tap", json!({ "x": 540, "y": 2350 }));
    assert_eq!(tapped, "Tapped at (540, 2350)");
}

#[test]
fn schemas_match_the_specification_except_for_optional_arguments() {
    let seed: Vec<Value> =
        serde_json::from_str(include_str!("../../../core/src/toolset/mobile/tools.json")).unwrap();
    let own: Vec<Value> =
        serde_json::from_str(include_str!("../../../core/src/toolset/mobile/own.json")).unwrap();
    let is_ours = |tool: &&Value| own.iter().any(|own| own["name"] == tool["name"]);
    let mut server = McpProcess::connected(VIRTUAL);
    let list = server.request("tools/list", json!({}))["result"]["tools"].clone();
    for tool in list.as_array().unwrap().iter().filter(|tool| !is_ours(tool)) {
        let document = seed.iter().find(|document| document["name"] == tool["name"]).unwrap();
        let mut schema = tool["inputSchema"].clone();
        for ours in ["device", "changes"] {
            schema["properties"].as_object_mut().unwrap().shift_remove(ours);
        }
        // As text, so that the order of keys counts too.
        assert_eq!(schema.to_string(), document["inputSchema"].to_string());
        assert_eq!(tool["description"], document["description"]);
    }
}

/// Replaces image data by a description.
fn redacted(mut result: Value) -> Value {
    for part in result["content"].as_array_mut().unwrap() {
        let mime = part["mimeType"].clone();
        if let Some(data) = part.get_mut("data") {
            let base64 = data.as_str().unwrap();
            let (start, name) = match mime.as_str().unwrap() {
                "image/jpeg" => ("/9j/", "(a JPEG)"),
                "image/webp" => ("UklGR", "(a WebP)"),
                other => panic!("{other}"),
            };
            assert!(base64.starts_with(start), "{name} in base64");
            *data = name.into();
        }
    }
    result
}

#[test]
fn every_tool_matches_its_golden() {
    let mut server = McpProcess::connected(VIRTUAL);
    let story = [
        ("mobile_list_devices", json!({})),
        ("mobile_list_devices", json!({ "platform": "ios" })),
        ("mobile_use_device", json!({ "device_id": "virtual", "platform": "android" })),
        ("mobile_list_devices", json!({ "platform": "android" })),
        ("mobile_launch_app", json!({ "bundle_id": "com.google.android.apps.maps" })),
        ("mobile_take_screenshot", json!({})),
        ("mobile_get_accessibility_tree", json!({})),
        ("mobile_tap_element", json!({ "text": "Search here" })),
        ("mobile_type_keys", json!({ "text": "restaurants\n" })),
        ("mobile_get_accessibility_tree", json!({ "device": "virtual" })),
        ("mobile_tap", json!({ "x": 540.9, "y": 1000 })),
        ("mobile_press_key", json!({ "key": "home" })),
        ("mobile_get_device_info", json!({})),
        ("mobile_list_apps", json!({ "app_type": "all" })),
        ("mobile_list_apps", json!({})),
        ("mobile_launch_app", json!({ "bundle_id": "com.google.android.apps.maps" })),
        ("mobile_get_current_app", json!({})),
        ("mobile_scroll", json!({ "direction": "down" })),
        (
            "mobile_swipe",
            json!({ "start_x": 540, "start_y": 1500, "end_x": 540, "end_y": 700, "duration": 0.3 }),
        ),
        ("mobile_long_press", json!({ "x": 540, "y": 1200 })),
        ("mobile_close_app", json!({ "bundle_id": "com.google.android.apps.maps" })),
        ("mobile_get_current_app", json!({})),
        ("mobile_snapshot", json!({})),
        ("mobile_launch_app", json!({ "bundle_id": "com.google.android.apps.maps" })),
        (
            "mobile_type",
            json!({ "text": "museum", "element_text": "Search here", "clear": true, "submit": true }),
        ),
    ];
    for (i, (tool, arguments)) in story.into_iter().enumerate() {
        let result = redacted(server.call(tool, arguments.clone()));
        insta::assert_json_snapshot!(format!("reply_{:02}_{tool}", i + 1), result);
    }
    assert_eq!(server.close(), Some(0), "the server ends when its client disconnects");
}

#[test]
fn every_failure_names_the_next_step() {
    let mut server = McpProcess::connected(&[VIRTUAL, &["--allow-device", "nope"]].concat());
    let mistakes = [
        ("mobile_launch_app", json!({ "bundle_id": "com.example.nope" })),
        ("mobile_launch_app", json!({ "bundle_id": " " })),
        ("mobile_launch_app", json!({})),
        ("mobile_close_app", json!({ "bundle_id": "com.example.nope" })),
        ("mobile_list_apps", json!({ "app_type": "paid" })),
        ("mobile_swipe", json!({ "start_x": 1, "start_y": 1, "end_x": 1, "end_y": 5000 })),
        (
            "mobile_swipe",
            json!({ "start_x": 1, "start_y": 1, "end_x": 1, "end_y": 5, "duration": 31 }),
        ),
        ("mobile_scroll", json!({ "direction": "in" })),
        ("mobile_scroll", json!({ "direction": "up", "distance": 1.5 })),
        ("mobile_long_press", json!({ "x": 1, "y": 1, "duration": 0 })),
        ("mobile_use_device", json!({ "device_id": "nope", "platform": "android" })),
        ("mobile_use_device", json!({ "device_id": "00008110", "platform": "ios" })),
        ("mobile_use_device", json!({ "device_id": "virtual", "platform": "windows" })),
        ("mobile_list_devices", json!({ "platform": "palm" })),
        ("mobile_take_screenshot", json!({ "device": "nope" })),
        ("mobile_take_screenshot", json!({ "device": "10.0.0.1:5555" })),
        ("mobile_take_screenshot", json!({ "device": 7 })),
        ("mobile_tap", json!({ "x": 540 })),
        ("mobile_tap", json!({ "x": "left", "y": 10 })),
        ("mobile_tap", json!({ "x": -1, "y": 10 })),
        ("mobile_tap", json!({ "x": 10, "y": 2400 })),
        ("mobile_tap_element", json!({})),
        ("mobile_tap_element", json!({ "text": "No such words" })),
        ("mobile_tap_element", json!({ "element_id": "e999" })),
        ("mobile_type_keys", json!({ "text": "a\u{0}b" })),
        ("mobile_type_keys", json!({ "text": "caf\u{e9}" })),
        ("mobile_type", json!({ "text": "" })),
        ("mobile_type", json!({ "text": "x", "clear": true })),
        ("mobile_type", json!({ "text": "x", "element_id": "e999" })),
        ("mobile_type", json!({ "text": "x", "element_text": "Maps" })),
        ("mobile_press_key", json!({ "key": "enter" })),
    ];
    let mut out = String::new();
    for (tool, arguments) in mistakes {
        let result = server.call(tool, arguments.clone());
        assert_eq!(result["isError"], true, "{tool} {arguments}");
        assert_eq!(result["content"].as_array().unwrap().len(), 1, "one text");
        let text = result["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("\nNext: "), "{text}");
        out.push_str(&format!("{tool} {arguments}\n{text}\n\n"));
    }
    insta::assert_snapshot!("failures", out);
}

#[test]
fn null_or_empty_arguments_count_as_omitted() {
    let mut server = McpProcess::connected(VIRTUAL);
    for open in [Value::Null, json!(""), json!(" ")] {
        let result = server.call("mobile_get_accessibility_tree", json!({ "device": open }));
        assert_eq!(result["isError"], false, "{open}");
    }
    server.say("mobile_list_devices", json!({ "platform": null }));
    let tapped = server.say("mobile_tap_element", json!({ "element_id": null, "text": "Maps" }));
    assert!(tapped.starts_with("Tapped"), "{tapped}");
    let text = server.say("mobile_tap", json!({ "x": null, "y": 1 }));
    assert!(text.contains("`x` must be a number, not null"), "{text}");
    let empty = json!({ "device_id": " ", "platform": "android" });
    let text = server.say("mobile_use_device", empty);
    assert!(text.starts_with("Invalid argument: `device_id` must not be empty"), "{text}");
}

#[test]
fn server_survives_unknown_tools_and_broken_lines() {
    let mut server = McpProcess::connected(VIRTUAL);
    let answer = server.request("tools/call", json!({ "name": "nope", "arguments": {} }));
    assert_eq!(answer["error"]["message"], "Unknown tool: nope");
    server.send(&json!("not a request"));
    server.send(&json!({ "jsonrpc": "2.0", "id": 77, "method": "no/such/method" }));
    let home = server.say("mobile_press_key", json!({ "key": "home" }));
    assert_eq!(home.lines().next(), Some("Pressed home"));
}

#[test]
fn missing_handshake_is_reported_on_stderr() {
    let said = |input: &str| {
        let mut command = crate::support::thumbwire();
        let piped = command.arg("serve").stdin(Stdio::piped()).stderr(Stdio::piped());
        let mut child = piped.stdout(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        (String::from_utf8(output.stderr).unwrap(), output.status.code())
    };
    let (words, code) = said("GET / HTTP/1.1\r\n\r\n");
    assert_eq!(code, Some(1));
    assert!(words.contains("the client sent \"GET / HTTP/1.1\", which is not JSON-RPC"), "{words}");
    let (words, code) = said("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
    assert_eq!(code, Some(1));
    let expected = "the client sent `notifications/initialized` before `initialize`";
    assert!(words.contains(expected), "{words}");
    assert_eq!(said(""), (String::new(), Some(0)), "it only checked whether the server starts");
}

#[test]
fn invalid_json_gets_an_error_with_its_id() {
    let mut server = McpProcess::connected(VIRTUAL);
    // Half an emoji, as JavaScript writes a truncated one.
    let half = r#"{"jsonrpc":"2.0","id":71,"method":"tools/call","params":{"name":"mobile_type_keys","arguments":{"text":"\ud83d"}}}"#;
    for (id, broken) in [(71, half), (72, r#"{"jsonrpc":"2.0","id":72,"method":"tools/call","#)] {
        server.send_line(broken);
        let answer = server.receive();
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(id), &json!(-32700)));
        let words = answer["error"]["message"].as_str().unwrap();
        assert!(words.starts_with("Parse error: "), "{words}");
    }
    let home = server.say("mobile_press_key", json!({ "key": "home" }));
    assert_eq!(home.lines().next(), Some("Pressed home"));
}

#[test]
fn malformed_call_says_what_is_missing() {
    let mut server = McpProcess::connected(VIRTUAL);
    for (wrong, expected) in [
        (json!({}), "missing field `name`"),
        (json!({ "name": "mobile_tap", "arguments": [1, 2] }), "`arguments` must be an object"),
    ] {
        let answer = server.request("tools/call", wrong.clone());
        assert_eq!(answer["error"]["code"], -32602, "{wrong}");
        let text = answer["error"]["message"].as_str().unwrap();
        assert!(text.contains(expected), "{text}");
    }
    let none = json!({ "name": "mobile_get_current_app", "arguments": [] });
    assert_eq!(server.request("tools/call", none)["result"]["isError"], false);
    assert!(server.request("tools/list", json!([]))["result"]["tools"].is_array());
    assert_eq!(server.request("tools/cal", json!({}))["error"]["code"], -32601);
}

#[test]
fn missing_phone_error_names_the_flag() {
    let mut server = McpProcess::connected(&[]);
    let text = server.say("mobile_take_screenshot", json!({}));
    assert!(text.starts_with("Refused: no device selected and none connected"), "{text}");
    assert!(text.contains("--device virtual"), "{text}");
    let list = server.say("mobile_list_devices", json!({}));
    assert!(list.starts_with(r#"{"devices":[],"next":"connect a phone"#), "{list}");
}

#[test]
fn ref_outlives_an_action_only_on_its_screen() {
    let mut server = McpProcess::connected(VIRTUAL);
    let reference = |list: &str, text: &str| {
        let line = list.lines().find(|line| line.contains(text));
        let line = line.unwrap_or_else(|| panic!("{list}"));
        line.rsplit(' ').next().unwrap().to_owned()
    };
    // The reply to an action has the screen that it led to.
    let maps = json!({ "bundle_id": "com.google.android.apps.maps" });
    let before = server.say("mobile_launch_app", maps);
    let search = reference(&before, "Search here");
    // An action that leaves the screen as it is.
    let same = server.say("mobile_press_key", json!({ "key": "volume_up" }));
    assert_eq!(same, "Pressed volume_up\nNothing changed on the screen");
    let words = server.say("mobile_tap_element", json!({ "element_id": search }));
    assert!(words.starts_with("Tapped \"Search here\" at ("), "{words}");
    let home = server.say("mobile_press_key", json!({ "key": "home" }));
    let words = server.say("mobile_tap_element", json!({ "element_id": search }));
    let expected = format!("Element not found: {search}\nit is not in the last snapshot");
    assert!(words.starts_with(&expected), "{words}");

    let maps =
        server.say("mobile_tap_element", json!({ "element_id": reference(&home, "\"Maps\"") }));
    assert!(maps.starts_with("Tapped \"Maps\" at ("), "{maps}");
    assert!(maps.contains("Search here"), "{maps}");
    let old = server.say("mobile_tap_element", json!({ "element_id": search }));
    assert!(old.contains("it is not in the last snapshot"), "no number is given twice: {old}");
    // A look always has the whole list, unless only changes are asked for.
    for _ in 0..2 {
        let whole = server.say("mobile_get_accessibility_tree", json!({}));
        assert!(whole.contains("Search here"), "{whole}");
    }
    let changes = server.say("mobile_get_accessibility_tree", json!({ "changes": true }));
    assert_eq!(changes, "Nothing changed on the screen");
}

#[test]
fn run_can_be_recorded_and_read_back() {
    use thumbwire_core::action::{Action, Observe};
    use thumbwire_device::Key;

    use thumbwire_core::trace::format::{
        ActionResult, StoredOutcome, StoredSnapshot, TraceRecord, VERSION,
    };
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join("run");
    let mut server =
        McpProcess::connected(&["--device", "virtual", "--trace", run.to_str().unwrap()]);
    server.say("mobile_press_key", json!({ "key": "home" }));
    server.call("mobile_take_screenshot", json!({}));
    server.say("mobile_get_accessibility_tree", json!({}));
    server.say("mobile_tap_element", json!({ "text": "No such words" }));
    server.close();

    let lines = thumbwire_core::trace::read(&run).unwrap();
    let [TraceRecord::Run { version: VERSION, .. }, steps @ ..] = lines.as_slice() else {
        panic!("{lines:?}")
    };
    let actions: Vec<_> = steps
        .iter()
        .map(|line| match line {
            TraceRecord::Action { action_id, action, end, .. } => {
                (*action_id, action.clone(), end.clone())
            }
            other => panic!("not a step: {other:?}"),
        })
        .collect();
    assert_eq!(
        actions[0],
        (1, Action::Press(Key::Home), ActionResult::Outcome(StoredOutcome::Done))
    );
    let picture = StoredOutcome::Screenshot { file: "0003.jpeg".into(), width: 706, height: 1568 };
    // What the press led to was read for its reply.
    assert_eq!((actions[1].0, &actions[1].1), (2, &Action::Observe(Observe::Settled)));
    let (3, Action::Screenshot(_), end) = &actions[2] else { panic!("{:?}", actions[2]) };
    assert_eq!(*end, ActionResult::Outcome(picture));
    assert!(std::fs::read(run.join("0003.jpeg")).unwrap().starts_with(b"\xff\xd8\xff"));
    let (
        4,
        Action::Observe(Observe::Now),
        ActionResult::Outcome(StoredOutcome::Snapshot { file, nodes, .. }),
    ) = &actions[3]
    else {
        panic!("{:?}", actions[3])
    };
    let snapshot: StoredSnapshot =
        serde_json::from_slice(&std::fs::read(run.join(file)).unwrap()).unwrap();
    assert_eq!(snapshot.nodes.len(), *nodes);
    let (5, Action::TapElement(_), ActionResult::Failure { may_have_happened: false, .. }) =
        &actions[4]
    else {
        panic!("{:?}", actions[4])
    };
    // A folder holds one run: a recording is never overwritten.
    let again = crate::support::thumbwire()
        .args(["serve", "--trace", run.to_str().unwrap()])
        .output()
        .unwrap();
    assert_eq!(again.status.code(), Some(2));
}
