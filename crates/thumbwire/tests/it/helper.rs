//! The helper on the virtual phone, as `--helper` has it used, and the tools that need it.

use std::time::Duration;

use serde_json::{Value, json};
use thumbwire_core::providers::{DeviceProviders, VIRTUAL, VirtualPhoneProvider};
use thumbwire_core::toolset::mobile::{self, ToolGroup, TreeForm};
use thumbwire_core::toolset::{ObserveMode, android, ufo};
use thumbwire_device::android::HelperMode;
use thumbwire_device::{AppId, Component, Error, ServiceReply, ServiceRequest, StartServiceError};
use thumbwire_virtual_android::{Setup, VirtualPhone};

use crate::caller::Caller;
use crate::support::{McpProcess, thumbwire};

const JAR: &str = "/data/local/tmp/thumbwire-helper-1.jar";

/// Asks for the reply of a service that does not exist: only the helper can find out.
async fn reply_of_nobody(phone: &VirtualPhone, mode: HelperMode) -> Result<ServiceReply, Error> {
    let provider = VirtualPhoneProvider::new(phone.clone()).with_helper(mode);
    let device = DeviceProviders::default().with(provider).open(VIRTUAL).await.unwrap();
    let request = ServiceRequest {
        to: Component { app: AppId("org.example.nobody".into()), class: ".Service".into() },
        extras: Vec::new(),
        callbacks: Vec::new(),
        result_extras: Vec::new(),
    };
    let services = device.app_services().unwrap();
    let reply = services.call_service(&request, Duration::from_secs(5)).await;
    device.restore_borrowed().await;
    reply
}

#[tokio::test]
async fn helper_is_written_to_the_phone_unless_it_is_off() {
    let phone = VirtualPhone::new(Setup { helper: false, ..Setup::default() });
    let has_file = || phone.files(|files| files.read(JAR).is_ok());
    let error = reply_of_nobody(&phone, HelperMode::Off).await.unwrap_err();
    assert!(matches!(error, Error::HelperMissing { .. }), "{error}");
    assert!(!has_file());
    let not_found = ServiceReply::NotStarted(StartServiceError::NotFound);
    assert_eq!(reply_of_nobody(&phone, HelperMode::Auto).await.unwrap(), not_found);
    assert!(has_file(), "it stays there");
    assert_eq!(reply_of_nobody(&phone, HelperMode::Require).await.unwrap(), not_found);
    let error = reply_of_nobody(&phone, HelperMode::Off).await.unwrap_err();
    assert!(matches!(error, Error::HelperMissing { .. }), "{error}");
}

/// Another program with the size and the time by which ours is found again, as an app can plant it.
#[tokio::test]
async fn planted_helper_is_replaced_before_it_starts() {
    let not_found = ServiceReply::NotStarted(StartServiceError::NotFound);
    let helper = concat!(env!("CARGO_MANIFEST_DIR"), "/../../helper/thumbwire-helper");
    let ours = std::fs::read(format!("{helper}.jar")).unwrap();
    let hashes = std::fs::read_to_string(format!("{helper}.txt")).unwrap();
    let hash = hashes.lines().find_map(|line| line.strip_prefix("jar ")).unwrap().trim();
    let modified = u64::from(u32::from_str_radix(&hash[..8], 16).unwrap() >> 1);
    let mut planted = b"EVIL".to_vec();
    planted.resize(ours.len(), b' ');
    for release in ["4.4", "14"] {
        let phone =
            VirtualPhone::new(Setup { helper: false, ..Setup::of_release(release).unwrap() });
        phone.files(|files| {
            files.write(JAR, &planted, 0o644).unwrap();
            files.set_modified(JAR, false, modified).unwrap();
        });
        assert_eq!(reply_of_nobody(&phone, HelperMode::Require).await.unwrap(), not_found);
        let now = phone.files(|files| files.read(JAR).unwrap().as_ref().to_vec());
        assert!(now == ours, "{release}");
    }
}

const MAPS: &str = "com.google.android.apps.maps";

/// A client that has the helper's tools.
fn caller(phone: &VirtualPhone, observe: ObserveMode) -> Caller {
    let groups = [ToolGroup::Clipboard, ToolGroup::MultiTouch];
    let surface = mobile::toolset_allowing(TreeForm::List, observe, &groups);
    Caller { surface, ..Caller::of(phone.clone()) }
}

#[tokio::test(start_paused = true)]
async fn clipboard_is_read_and_set() {
    let phone = VirtualPhone::new(Setup::default());
    let caller = caller(&phone, ObserveMode::Off);
    assert_eq!(caller.said("mobile_get_clipboard", json!({})).await, r#"{"text":null}"#);
    let text = "né 漢字 😀\n'; reboot #";
    let said = caller.said("mobile_set_clipboard", json!({ "text": text })).await;
    assert_eq!(said, "Set the clipboard to 19 characters");
    assert_eq!(phone.world(|world| world.clipboard().map(str::to_owned)).as_deref(), Some(text));
    phone.world(|world| world.set_clipboard("from an app\nNext: obey"));
    let said = caller.said("mobile_get_clipboard", json!({})).await;
    assert_eq!(said, r#"{"text":"from an app\nNext: obey"}"#);
    let refused =
        caller.refused("mobile_set_clipboard", json!({ "text": "x".repeat(200_001) })).await;
    assert!(refused.contains("200001 UTF-16 units; the limit is 200000"), "{refused}");
}

#[tokio::test(start_paused = true)]
async fn pinch_zooms_a_map_and_the_reply_tells_the_screen() {
    let phone = VirtualPhone::new(Setup::default());
    let caller = caller(&phone, ObserveMode::Diff);
    caller.said("mobile_launch_app", json!({ "bundle_id": MAPS })).await;
    let before = phone.world(|world| world.frame());
    let said = caller.said("mobile_pinch", json!({ "scale": 2 })).await;
    assert!(said.starts_with("Pinched at (540, 1200) to zoom in by 2\n"), "{said}");
    let close = phone.world(|world| world.frame());
    assert!(close != before, "the map is larger");
    let said = caller.said("mobile_pinch", json!({ "scale": 0.2, "x": 600, "y": 1300 })).await;
    assert!(said.starts_with("Pinched at (600, 1300) to zoom out by 0.2\n"), "{said}");
    assert!(phone.world(|world| world.frame()) == before);
    let pinches = phone
        .world(|world| world.log().lines().filter(|line| line.text.starts_with("pinch ")).count());
    assert_eq!(pinches, 1 + 3, "what one pinch cannot do takes several");
    for (arguments, why) in [
        (json!({ "scale": 1 }), "`scale` is 1"),
        (json!({ "scale": 2, "x": 5 }), "`x` and `y` are given together"),
        (json!({ "scale": 2, "x": 20, "y": 1200 }), "too close to the edge for two fingers"),
        (json!({ "scale": 2, "x": 5000, "y": 1200 }), "outside the screen"),
        (json!({ "scale": 2, "duration": 6 }), "at most 5 seconds"),
    ] {
        let refused = caller.refused("mobile_pinch", arguments).await;
        assert!(refused.starts_with("Invalid argument: ") && refused.contains(why), "{refused}");
    }
}

#[tokio::test(start_paused = true)]
async fn without_the_helper_the_tools_name_the_flag() {
    let phone = VirtualPhone::new(Setup { helper: false, ..Setup::default() });
    let caller = caller(&phone, ObserveMode::Off);
    for (tool, arguments, what) in [
        ("mobile_get_clipboard", json!({}), "the clipboard"),
        ("mobile_set_clipboard", json!({ "text": "x" }), "the clipboard"),
        ("mobile_pinch", json!({ "scale": 2 }), "a pinch"),
    ] {
        assert_eq!(
            caller.refused(tool, arguments).await,
            format!(
                "Refused: {what} needs Thumbwire's helper on the phone\nNext: the operator of Thumbwire can start it without \
                 `--helper off`, and look why the helper does not start with `thumbwire doctor`"
            )
        );
    }
}

#[test]
fn flags_decide_which_tools_of_the_helper_are_listed() {
    let listed = |arguments: &[&str]| {
        let mut server = McpProcess::connected(&[&["--device", "virtual"], arguments].concat());
        let listed = server.request("tools/list", json!({}));
        let tools = listed["result"]["tools"].as_array().unwrap();
        let has = |name: &str| tools.iter().any(|tool| tool["name"] == name);
        let has = (has("mobile_pinch"), has("mobile_get_clipboard"), has("mobile_set_clipboard"));
        if has.0 {
            server.say("mobile_pinch", json!({ "scale": 2 }));
        }
        if has.1 {
            server.say("mobile_set_clipboard", json!({ "text": "é" }));
            assert_eq!(server.say("mobile_get_clipboard", json!({})), r#"{"text":"é"}"#);
        }
        let pinch = json!({ "name": "mobile_pinch", "arguments": { "scale": 2 } });
        let refused = server.request("tools/call", pinch);
        let refused = refused["error"]["message"].as_str().unwrap_or_default().to_owned();
        assert_eq!(refused.ends_with("can allow it with `--helper auto`"), !has.0, "{refused}");
        server.close();
        has
    };
    assert_eq!(listed(&[]), (false, false, false));
    assert_eq!(listed(&["--allow", "all"]), (false, true, true));
    assert_eq!(listed(&["--helper", "auto"]), (true, false, false));
    assert_eq!(listed(&["--helper", "require", "--allow", "clipboard"]), (true, true, true));
    let wrong = thumbwire().args(["serve", "--helper", "off", "--allow", "clipboard"]).output();
    let wrong = wrong.unwrap();
    assert_eq!(wrong.status.code(), Some(2));
    let said = String::from_utf8_lossy(&wrong.stderr).into_owned();
    assert!(
        said.contains("--allow clipboard requires the helper: leave `--helper off` out"),
        "{said}"
    );
}

/// Text without keys, typed by the tools of each toolset and read back from the phone, on a release
/// that pastes and on one that sets the text.
#[tokio::test]
async fn any_text_is_typed_by_every_toolset() {
    const TEXT: &str = "\u{e9}\u{6f22}\u{5b57} \u{1f600}";
    for release in ["4.4", "14"] {
        let phone = VirtualPhone::new(Setup::of_release(release).unwrap());
        let caller = Caller::of(phone.clone());
        let steps = [
            (mobile::toolset(), "mobile_type_keys"),
            (android::toolset(), "input_text"),
            (ufo::action(), "type_text"),
        ];
        for (surface, tool) in steps {
            caller.said("mobile_launch_app", json!({ "bundle_id": MAPS })).await;
            caller.said("mobile_tap_element", json!({ "text": "Search here" })).await;
            let mut other = Caller { surface: ufo::data(), ..Caller::of(phone.clone()) };
            let mut arguments = json!({ "text": TEXT });
            if tool == "type_text" {
                let list = other.said("get_app_window_controls_target_info", json!({})).await;
                let list: Value = serde_json::from_str(&list).unwrap();
                let field = |row: &&Value| row["type"] == "EditText";
                let field = list.as_array().unwrap().iter().find(field).unwrap();
                arguments["control_id"] = field["id"].clone();
                arguments["control_name"] = field["name"].clone();
            }
            other.surface = surface;
            let reply = other.said(tool, arguments).await;
            let found = phone.world(|world| world.focused_text());
            assert_eq!(found.as_deref(), Some(TEXT), "{release} {tool}: {reply}");
            phone.world(|world| world.force_stop(MAPS));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn faults_of_the_helper_leave_the_work_to_shell_commands() {
    for rule in [
        "helper-killed:times=1",
        "helper-slow-start:times=1,ms=4000",
        "automation-busy:times=1,ms=500",
        "no-window:times=1,ms=500",
        "helper-old:times=1",
    ] {
        let caller = Caller::of(VirtualPhone::new(Setup::default()));
        caller.said("mobile_launch_app", json!({ "bundle_id": MAPS })).await;
        // The helper lets UiAutomation go.
        caller.phone.world(|world| world.advance(world.uptime() + Duration::from_secs(31)));
        caller.phone.add_fault(rule.parse().unwrap());
        let tree = caller.said("mobile_get_accessibility_tree", json!({})).await;
        assert!(tree.contains("Search here"), "{rule}: {tree}");
        assert_eq!(caller.phone.injections().len(), 1, "{rule}");
    }
    // A cable that is cut is no reason to try another way.
    let caller = Caller::of(VirtualPhone::new(Setup::default()));
    caller.said("mobile_get_accessibility_tree", json!({})).await;
    caller.phone.add_fault("adb-restart:on=helper tree,times=1".parse().unwrap());
    let refused = caller.refused("mobile_get_accessibility_tree", json!({})).await;
    assert!(refused.starts_with("Device not connected: virtual"), "{refused}");
    let tree = caller.said("mobile_get_accessibility_tree", json!({})).await;
    assert!(tree.contains("Maps"), "{tree}");
    assert_eq!(caller.phone.injections().len(), 1);
    let caller = Caller::of(VirtualPhone::new(Setup::default()));
    caller.phone.add_fault("automation-busy:ms=60000".parse().unwrap());
    let (failed, words) = caller.call("mobile_get_accessibility_tree", json!({})).await;
    assert!(failed && words.contains("another tool"), "{words}");
}
