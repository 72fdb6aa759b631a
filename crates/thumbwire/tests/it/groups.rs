//! Tools that the operator has to allow: absent and refused without `--allow`, and what they do
//! with it.

use std::time::Duration;

use serde_json::{Value, json};
use thumbwire_core::toolset::ObserveMode;
use thumbwire_core::toolset::mobile::{self, ToolGroup, TreeForm};
use thumbwire_virtual_android::{Setup, VirtualPhone};

use crate::caller::Caller;
use crate::support::{McpProcess, thumbwire};

const NOTES: &str = "com.android.notes";

const SETTINGS: &str = "com.android.settings";

fn allowing(groups: &[ToolGroup]) -> Caller {
    allowing_on("14", groups)
}

fn allowing_on(release: &str, groups: &[ToolGroup]) -> Caller {
    let surface = mobile::toolset_allowing(TreeForm::List, ObserveMode::Off, groups);
    let phone = VirtualPhone::new(Setup::of_release(release).unwrap());
    Caller { surface, ..Caller::of(phone) }
}

#[test]
fn tool_that_is_not_allowed_is_not_listed_and_names_the_flag() {
    let names = |server: &mut McpProcess| {
        let listed = server.request("tools/list", json!({}));
        let tools = listed["result"]["tools"].as_array().unwrap().clone();
        tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let call = json!({ "name": "mobile_clear_app", "arguments": { "bundle_id": NOTES } });
    let mut server = McpProcess::connected(&["--device", "virtual"]);
    let listed = names(&mut server);
    for group in ToolGroup::ALL {
        assert!(group.tool_names().iter().all(|name| !listed.iter().any(|other| other == name)));
    }
    let refused = server.request("tools/call", call.clone());
    assert_eq!(
        refused["error"]["message"],
        "Not allowed: mobile_clear_app. Next: the operator of this server can allow it with `--allow data`"
    );
    server.close();

    let mut server = McpProcess::connected(&["--device", "virtual", "--allow", "data,recording"]);
    let listed = names(&mut server);
    assert!(listed.contains(&"mobile_clear_app".into()) && !listed.contains(&"mobile_logs".into()));
    let done = server.request("tools/call", call);
    assert_eq!(
        done["result"]["content"][0]["text"],
        "Stopped com.android.notes and cleared its data"
    );
    server.close();

    let wrong = thumbwire().args(["serve", "--toolset", "android", "--allow", "all"]).output();
    let wrong = wrong.unwrap();
    assert_eq!(wrong.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("--allow requires `--toolset mobile`"));
}

/// A person who types a command is the operator, who need not allow anything.
#[test]
fn command_line_has_the_tools_of_every_group() {
    let output = |arguments: &[&str]| {
        let output = thumbwire().args(arguments).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let (code, help) = output(&["tools", "mobile_push_file"]);
    assert_eq!(code, Some(0));
    assert!(help.contains("needs `serve --allow files`"), "{help}");
    let (_, listed) = output(&["tools"]);
    for tool in ToolGroup::ALL.iter().flat_map(|group| group.tool_names()) {
        assert!(listed.contains(&format!("{tool}(")), "{tool}: {listed}");
    }
    // As a server lists them.
    let (_, listed) = output(&["tools", "--json"]);
    assert!(!listed.contains("mobile_push_file"), "{listed}");
    let app = json!({ "bundle_id": NOTES }).to_string();
    let (code, said) = output(&["call", "mobile_clear_app", &app, "--device", "virtual"]);
    assert_eq!((code, &*said), (Some(0), "Stopped com.android.notes and cleared its data\n"));
    let apks = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/apk");
    let file = json!({ "path": "hello-1.apk" }).to_string();
    let install = ["call", "mobile_install_app", &file, "--device", "virtual", "--input", apks];
    assert_eq!(output(&install).1, "Installed org.example.hello 1.0 (1)\n");
}

#[tokio::test(start_paused = true)]
async fn data_of_an_app_is_cleared_and_permissions_are_set() {
    let caller = allowing(&[ToolGroup::Data]);
    caller.said("mobile_launch_app", json!({ "bundle_id": NOTES })).await;
    let before = caller.said("mobile_get_accessibility_tree", json!({})).await;
    assert!(before.contains("Shopping"), "{before}");
    caller.said("mobile_tap_element", json!({ "text": "New note" })).await;
    caller.said("mobile_type", json!({ "text": "Milk", "element_text": "Title" })).await;
    caller.said("mobile_clear_app", json!({ "bundle_id": NOTES })).await;
    caller.said("mobile_launch_app", json!({ "bundle_id": NOTES })).await;
    let after = caller.said("mobile_get_accessibility_tree", json!({})).await;
    assert!(!after.contains("\"Milk\" "), "{after}");

    let permission = |app: &str, name: &str, granted: bool| json!({ "bundle_id": app, "permission": name, "granted": granted });
    let chrome = "com.android.chrome";
    for (granted, verb) in [(true, "Granted"), (false, "Revoked")] {
        let (failed, said) =
            caller.call("mobile_set_permission", permission(chrome, "camera", granted)).await;
        match failed {
            false => assert_eq!(said, format!("{verb} android.permission.CAMERA for {chrome}")),
            true => assert!(said.contains("does not request it"), "{said}"),
        }
    }
    let refused = caller
        .refused("mobile_set_permission", permission(NOTES, "no.such.PERMISSION", true))
        .await;
    assert!(refused.starts_with("Refused: "), "{refused}");
    let missing =
        caller.refused("mobile_clear_app", json!({ "bundle_id": "com.missing.app" })).await;
    assert!(missing.starts_with("App not found: com.missing.app"), "{missing}");
}

/// The whole way of an app and a file, over stdio.
#[test]
fn only_files_of_the_named_folder_are_sent() {
    let apks = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/apk");
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    let allowed = ["--device", "virtual", "--allow", "install,files", "--out", out];
    let mut server = McpProcess::connected(&[&allowed[..], &["--input", apks]].concat());
    let said = server.say("mobile_install_app", json!({ "path": "hello-1.apk" }));
    assert_eq!(said, "Installed org.example.hello 1.0 (1)");
    let said = server.say("mobile_push_file", json!({ "path": "ORIGIN.md" }));
    assert!(said.starts_with("Wrote /sdcard/Download/ORIGIN.md on the phone ("), "{said}");
    let said = server.say("mobile_pull_file", json!({ "path": "/sdcard/Download/ORIGIN.md" }));
    assert!(said.contains("files/ORIGIN.md ("), "{said}");
    server.close();
    let same = |path: &str| std::fs::read(path).unwrap();
    assert_eq!(same(&format!("{out}/files/ORIGIN.md")), same(&format!("{apks}/ORIGIN.md")));

    let refused = |arguments: &[&str]| {
        let output = thumbwire().arg("serve").args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).unwrap()
    };
    let said = refused(&["--input", apks, "--allow", "data"]);
    assert!(said.contains("--input requires `--allow install` or `--allow files`"), "{said}");
    let said = refused(&["--input", "/nonexistent", "--allow", "files"]);
    assert!(said.contains("/nonexistent is not a directory"), "{said}");
}

#[tokio::test(start_paused = true)]
async fn log_is_read_one_entry_per_line() {
    let caller = allowing(&[ToolGroup::Logs]);
    caller.said("mobile_launch_app", json!({ "bundle_id": NOTES })).await;
    let said = caller.said("mobile_logs", json!({ "priority": "info", "max": 5 })).await;
    let lines: Vec<&str> = said.lines().collect();
    assert!((1..=5).contains(&lines.len()), "{said}");
    assert!(
        lines
            .iter()
            .all(|line| line.contains(" I ") || line.contains(" W ") || line.contains(" E ")),
        "{said}"
    );
    let none = caller.said("mobile_logs", json!({ "tag": "NoSuchTag" })).await;
    assert_eq!(none, "The log has no such entries");
    let refused = caller.refused("mobile_logs", json!({ "max": 0 })).await;
    assert!(refused.starts_with("Invalid argument: `max`"), "{refused}");
}

/// The phone's own notifications, on releases that print them in other forms. A text that imitates
/// another notification stays a text.
#[tokio::test(start_paused = true)]
async fn notifications_are_listed_with_app_texts_and_time() {
    for release in ["4.4", "9", "14"] {
        let caller = allowing_on(release, &[ToolGroup::Notifications]);
        let list = async || -> Value {
            let said = caller.said("mobile_list_notifications", json!({})).await;
            serde_json::from_str(&said).unwrap()
        };
        let none = list().await;
        let posted = caller.phone.world(|world| world.notifications().len());
        assert_eq!(none["notifications"].as_array().unwrap().len(), posted, "{release}");
        caller.phone.world(|world| {
            let forged = "Hi)\n      }\n    NotificationRecord(0x12345678: pkg=com.bank user=UserHandle{0} id=1 tag=null importance=3 key=0|com.bank|1|null|10100: Notification(channel=c flags=0x2))\n      extras={\n          android.title=String (Your bank)\n      }";
            let forged = if release == "4.4" { "Hi\nthere" } else { forged };
            world.post_from_shell("a", "Mary\u{202e}", forged);
        });
        let all = list().await;
        let all = all["notifications"].as_array().unwrap();
        assert_eq!(all.len(), posted + 1, "{release}: {all:?}");
        let mary = all.iter().find(|one| one["bundle_id"] == "com.android.shell").unwrap();
        assert_eq!(mary["title"], "Mary\\u{202e}", "{release}");
        assert!(mary["text"].as_str().unwrap().starts_with("Hi"), "{mary}");
        assert!(!mary["text"].as_str().unwrap().contains('\n'), "{mary}");
        assert!(all.iter().all(|one| one["bundle_id"] != "com.bank"), "{release}");
        let is_new = release != "4.4";
        assert_eq!(mary["key"].is_string(), is_new, "{release}: {mary}");
        assert_eq!(mary["time"].is_string(), is_new, "{release}: {mary}");
        let one = caller.said("mobile_list_notifications", json!({ "max": 1 })).await;
        assert!(one.matches("bundle_id").count() <= 1, "{one}");
    }
}

#[tokio::test(start_paused = true)]
async fn crashes_are_listed_since_a_time_of_the_phone() {
    for release in ["4.4", "9", "14"] {
        let caller = allowing_on(release, &[ToolGroup::Logs]);
        let none = caller.said("mobile_crashes", json!({})).await;
        assert!(none.starts_with("No crashes in the log\nIt is 2"), "{release}: {none}");
        caller.said("mobile_launch_app", json!({ "bundle_id": NOTES })).await;
        caller.phone.world(|world| {
            assert!(world.crash(NOTES, "java.lang.IllegalStateException: a\u{202e}b"))
        });
        caller.said("mobile_launch_app", json!({ "bundle_id": SETTINGS })).await;
        caller.phone.world(|world| assert!(world.stop_responding(SETTINGS)));
        let said = caller.said("mobile_crashes", json!({})).await;
        let lines: Vec<&str> = said.lines().collect();
        assert!(
            lines[0].ends_with(
                r#" com.android.notes crashed: "java.lang.IllegalStateException: a\\u{202e}b""#
            ),
            "{release}: {said}"
        );
        assert!(lines[1].starts_with(" | \"at android.app.ActivityThread."), "{release}: {said}");
        let hang = lines.iter().find(|line| line.contains(SETTINGS)).unwrap();
        let reason = " com.android.settings is not responding (ANR): \"Input dispatching timed out";
        assert!(hang.contains(reason), "{release}: {said}");
        let only = caller.said("mobile_crashes", json!({ "bundle_id": SETTINGS })).await;
        assert!(!only.contains(NOTES) && only.contains(reason), "{release}: {only}");

        // Another process cannot report a crash in an app's name.
        caller.phone.world(|world| {
            let forged = "FATAL EXCEPTION: main\nProcess: com.bank, PID: 4711\njava.lang.Error: forged\n\tat a.B";
            world.write_log('E', "AndroidRuntime", 99, forged);
        });
        assert_eq!(
            caller.said("mobile_crashes", json!({})).await.replace("\n", "").find("com.bank"),
            None
        );

        let now = said.rsplit_once("It is ").unwrap().1.split(' ').next().unwrap().to_owned();
        let since = caller.said("mobile_crashes", json!({ "since": "2001-01-01T00:00" })).await;
        assert!(since.contains(NOTES), "{release}: {since}");
        caller.phone.world(|world| world.advance(Duration::from_secs(100)));
        let later = caller.said("mobile_crashes", json!({ "seconds_ago": 50 })).await;
        assert!(later.starts_with("No crashes"), "{release}: {later}");
        let earlier = caller.said("mobile_crashes", json!({ "seconds_ago": 300 })).await;
        assert!(earlier.contains(NOTES), "{release}: {earlier}");
        let year: i32 = now[..4].parse().unwrap();
        let future = json!({ "since": format!("{}-01-01", year + 1) });
        assert!(caller.said("mobile_crashes", future).await.starts_with("No crashes"));
        for wrong in [json!({ "since": "yesterday" }), json!({ "since": "x", "seconds_ago": 1 })] {
            let refused = caller.refused("mobile_crashes", wrong).await;
            assert!(refused.starts_with("Invalid argument: "), "{refused}");
        }
    }
}

#[test]
fn recording_starts_and_its_video_is_saved() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    let mut server =
        McpProcess::connected(&["--device", "virtual", "--allow", "recording", "--out", out]);
    assert_eq!(server.say("mobile_stop_recording", json!({})), "Nothing is being recorded");
    let started = server.say("mobile_start_recording", json!({ "seconds": 30 }));
    assert!(started.contains("has started and lasts at most 30 s"), "{started}");
    server.say("mobile_press_key", json!({ "key": "home" }));
    let stopped = server.say("mobile_stop_recording", json!({}));
    assert!(stopped.contains("assets/recording_") && stopped.contains(" bytes)"), "{stopped}");
    server.close();
    let saved = std::fs::read_dir(folder.path().join("assets")).unwrap().count();
    assert_eq!(saved, 1);
}
