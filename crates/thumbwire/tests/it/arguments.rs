//! Arguments that cannot be meant are refused before the act: unknown ones, app ids that are none,
//! file names that end in a dot.

use serde_json::{Value, json};
use thumbwire_core::session::SessionOptions;
use thumbwire_core::toolset::mobile::{self, ToolGroup, TreeForm};
use thumbwire_core::toolset::{ObserveMode, Toolset, android, ufo};
use thumbwire_virtual_android::{Setup, VirtualPhone};

use crate::caller::Caller;

/// A caller of this toolset.
fn caller(surface: Toolset) -> Caller {
    Caller { surface, ..Caller::of(VirtualPhone::new(Setup::default())) }
}

fn every_group() -> Toolset {
    mobile::toolset_allowing(TreeForm::List, ObserveMode::Diff, &ToolGroup::ALL)
}

/// Whether the reply is a failure in its toolset's shape.
fn failed(is_error: bool, text: &str) -> bool {
    let reply: Option<Value> = serde_json::from_str(text).ok();
    is_error || reply.is_some_and(|reply| reply["success"] == false)
}

#[tokio::test(start_paused = true)]
async fn unknown_argument_is_refused_before_the_act_and_the_closest_is_named() {
    for (surface, tool, arguments, expected) in [
        (
            every_group(),
            "mobile_type",
            json!({ "text": "a", "elment_text": "Search here" }),
            "`elment_text` is not an argument of this tool; did you mean `element_text`?",
        ),
        (
            every_group(),
            "mobile_swipe",
            json!({ "start_x": 1, "start_y": 2, "end_x": 3, "end_y": 4, "dur": 2 }),
            "`dur` is not an argument of this tool; did you mean `duration`?",
        ),
        (
            every_group(),
            "mobile_do",
            json!({ "steps": [{ "press": "home", "pres": "back" }] }),
            "unknown field `pres`",
        ),
        (
            every_group(),
            "mobile_call_app_tool",
            json!({ "bundle_id": "com.android.notes", "tool": "add", "arguments": {}, "sendonly": true }),
            "`sendonly` is not an argument of this tool; did you mean `send_only`?",
        ),
        (
            android::toolset(),
            "input_text",
            json!({ "text": "a", "clear": true }),
            "`clear` is not an argument of this tool; did you mean `clear_existing`?",
        ),
        (
            ufo::action(),
            "swipe",
            json!({ "start_x": 1, "start_y": 2, "end_x": 3, "end_y": 4, "durations": 5 }),
            "Additional properties are not allowed ('durations' was unexpected)",
        ),
    ] {
        let caller = caller(surface);
        let (is_error, text) = caller.call(tool, arguments).await;
        assert!(failed(is_error, &text) && text.contains(expected), "{tool}: {text}");
        assert!(caller.phone.commands().is_empty(), "{tool}");
    }
}

/// As n8n and others add them to every call.
#[tokio::test(start_paused = true)]
async fn arguments_that_resemble_none_are_ignored_and_told() {
    let more =
        json!({ "sessionId": "7", "action": "sendMessage", "chatInput": "", "toolCallId": "c" });
    for (surface, tool, arguments) in [
        (every_group(), "mobile_tap", json!({ "x": "1", "y": 2 })),
        (android::toolset(), "tap_screen", json!({ "params": { "x": 1, "y": "2" } })),
        (ufo::action(), "tap", json!({ "x": 1, "y": 2 })),
    ] {
        let mut arguments = arguments.as_object().cloned().unwrap();
        arguments.extend(more.as_object().cloned().unwrap());
        let caller = caller(surface);
        let (is_error, text) = caller.call(tool, arguments.into()).await;
        assert!(!failed(is_error, &text), "{tool}: {text}");
        for name in ["`action`", "`chatInput`", "`sessionId`", "`toolCallId`"] {
            assert!(text.contains(name), "{tool}: {text}");
        }
        assert!(text.ends_with(" are not arguments of this tool"), "{tool}: {text}");
    }
}

#[tokio::test(start_paused = true)]
async fn unknown_argument_that_is_null_counts_as_omitted() {
    let caller = caller(every_group());
    caller.said("mobile_press_key", json!({ "key": "home", "observe": null, "times": null })).await;
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_the_id_of_an_app_reaches_no_command() {
    let permission = |id: &str| json!({ "bundle_id": id, "permission": "CAMERA", "granted": true });
    for id in [
        "--users",
        "-pkg",
        "com.x\u{fffd}",
        "com.\u{fffd}.x",
        "com.x --user 10",
        "com.x;reboot",
        "com.1x",
        "com.x-y",
    ] {
        let of_app = json!({ "bundle_id": id });
        for (surface, tool, arguments) in [
            (every_group(), "mobile_close_app", of_app.clone()),
            (every_group(), "mobile_clear_app", of_app.clone()),
            (every_group(), "mobile_uninstall_app", of_app.clone()),
            (every_group(), "mobile_launch_app", of_app.clone()),
            (every_group(), "mobile_set_permission", permission(id)),
            (every_group(), "mobile_crashes", of_app.clone()),
            (every_group(), "mobile_wait_for", json!({ "app": id, "timeout": 1 })),
            (every_group(), "mobile_call_app_tool", json!({ "bundle_id": id, "tool": "add" })),
            (ufo::action(), "launch_app", json!({ "package_name": id })),
        ] {
            let caller = caller(surface);
            let (is_error, text) = caller.call(tool, arguments).await;
            // An iPhone's app can have these ids. No app of this phone has crashed by that name.
            let is_filter = tool == "mobile_crashes" && ["com.1x", "com.x-y"].contains(&id);
            assert!(is_filter || failed(is_error, &text), "{tool} {id:?}: {text}");
            let commands = caller.phone.commands();
            assert!(
                !commands.iter().any(|it| it.argv.iter().any(|word| word.contains(id))),
                "{tool}: {commands:?}"
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn file_name_that_ends_in_a_dot_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let files = || thumbwire_core::artifacts::ArtifactStore::new(folder.path());
    for (surface, tool, arguments) in [
        (android::toolset(), "take_screenshot", json!({ "filename": "shot." })),
        (android::toolset(), "take_screenshot", json!({ "filename": "shot.png." })),
        (android::toolset(), "start_screen_recording", json!({ "filename": "clip." })),
        (android::toolset(), "start_log_monitoring", json!({ "output_file": "log." })),
        (every_group(), "mobile_pull_file", json!({ "path": "/sdcard/x", "name": "x." })),
        (every_group(), "mobile_pull_file", json!({ "path": "/sdcard/Download/x." })),
    ] {
        let caller = caller(surface);
        let options = SessionOptions { files: Some(files()), ..SessionOptions::default() };
        let caller = caller.with_options(options);
        let (is_error, text) = caller.call(tool, arguments).await;
        assert!(failed(is_error, &text) && text.contains("dot"), "{tool}: {text}");
        assert!(caller.phone.commands().is_empty(), "{tool}");
    }
}
