//! The phones that callers of `serve` can reach: no address that the operator did not name is
//! connected.

use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use crate::support::{McpProcess, thumbwire};

/// A server on the loopback address that counts who connects.
fn listening() -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let connected = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&connected);
    std::thread::spawn(move || {
        for _ in listener.incoming().flatten() {
            counter.fetch_add(1, Ordering::SeqCst);
        }
    });
    (address, connected)
}

#[test]
fn address_of_a_caller_is_never_connected() {
    let (address, connected) = listening();
    let calls = [
        ("mobile", "mobile_use_device", json!({ "device_id": address, "platform": "android" })),
        ("mobile", "mobile_take_screenshot", json!({ "device": address })),
        ("mobile", "mobile_do", json!({ "steps": [{ "press": "back" }], "device": address })),
        ("android", "select_device", json!({ "device_id": address })),
        ("android", "take_screenshot", json!({ "device": address })),
    ];
    for limit in [&["--device", "virtual"][..], &[], &["--allow-device", "emulator-*"]] {
        for toolset in ["mobile", "android"] {
            let mut server = McpProcess::connected(&[limit, &["--toolset", toolset]].concat());
            for (_, tool, arguments) in calls.iter().filter(|(of, ..)| *of == toolset) {
                let text = server.call(tool, arguments.clone()).to_string();
                assert!(text.contains("not allowed") && text.contains("--allow-device"), "{text}");
            }
        }
    }
    assert_eq!(connected.load(Ordering::SeqCst), 0);
}

#[test]
fn limited_caller_sees_only_what_it_can_use() {
    let devices = |limit: &[&str]| -> Vec<Value> {
        let mut server = McpProcess::connected(limit);
        let listed = server.call("mobile_list_devices", json!({}));
        listed["structuredContent"]["devices"].as_array().unwrap().clone()
    };
    let ids = |listed: Vec<Value>| -> Vec<String> {
        listed.iter().map(|phone| phone["id"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(ids(devices(&["--device", "virtual"])), ["virtual"]);
    assert_eq!(ids(devices(&["--allow-device", "emulator-*"])), Vec::<String>::new());
    let mut other = McpProcess::connected(&["--allow-device", "emulator-*"]);
    let text = other.call("mobile_snapshot", json!({ "device": "virtual" })).to_string();
    assert!(text.contains("the device virtual is not allowed"), "{text}");
    let mut named = McpProcess::connected(&["--allow-device", "virt*"]);
    let text = named.call("mobile_get_device_info", json!({ "device": "virtual" })).to_string();
    assert!(text.contains("Virtual Pixel"), "{text}");
}

#[test]
fn several_named_phones_are_the_limit_and_none_is_the_default() {
    let (address, connected) = listening();
    let (other, not_named) = listening();
    let mut server = McpProcess::connected(&["--device", "virtual", "--device", &address]);
    let listed = server.call("mobile_list_devices", json!({}));
    let listed = listed["structuredContent"]["devices"].as_array().unwrap().clone();
    let ids: Vec<&str> = listed.iter().map(|phone| phone["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["virtual", &address]);
    let state = listed[1]["state"].as_str().unwrap();
    assert!(state.starts_with("not connected: "), "{state}");
    assert_ne!(connected.load(Ordering::SeqCst), 0, "a list connects to the named phones");
    let refused = server.say("mobile_get_device_info", json!({}));
    assert_eq!(
        refused,
        format!(
            "Refused: no device selected; devices: virtual (device), {address} (not connected; the next call connects)\n\
             Next: select one of these devices, or start with `--device ID`"
        )
    );
    let text = server.say("mobile_get_device_info", json!({ "device": other }));
    assert!(text.contains("not allowed"), "{text}");
    assert_eq!(not_named.load(Ordering::SeqCst), 0);
    let choice = json!({ "device_id": "virtual", "platform": "android" });
    server.call("mobile_use_device", choice);
    let text = server.call("mobile_get_device_info", json!({})).to_string();
    assert!(text.contains("Virtual Pixel"), "{text}");
}

#[test]
fn pattern_for_all_phones_names_no_address() {
    let (address, connected) = listening();
    let mut server = McpProcess::connected(&["--allow-device", "*"]);
    let text = server.say("mobile_take_screenshot", json!({ "device": address }));
    assert!(text.contains("not allowed"), "{text}");
    // The text of `--device` is an id.
    let pattern = address.replace("127", "1*");
    let mut server = McpProcess::connected(&["--device", &pattern]);
    let text = server.say("mobile_take_screenshot", json!({ "device": address }));
    assert!(text.contains("not allowed"), "{text}");
    assert_eq!(connected.load(Ordering::SeqCst), 0);
}

#[test]
fn tools_that_cannot_select_a_device_serve_one() {
    for toolset in ["--toolset=ufo-data", "--toolset=ufo-action", "--ufo"] {
        let arguments = ["serve", "--device", "virtual", "--device", "emulator-5554", toolset];
        let output = thumbwire().args(arguments).output().unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert_eq!(text, "thumbwire: UFO's tools cannot select a device: give one `--device`\n");
    }
}
