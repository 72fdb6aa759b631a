//! Reads records of every version of the format: earlier ones are converted to the current names.
//!
//! | version | difference from the one before |
//! |---|---|
//! | 1 | actions only; `type_text` |
//! | 2 | `type` replaces `type_text`; `snapshot`, `typed` |
//! | 3 | logs, recordings, selectors |
//! | 4 | goals and agent steps |
//! | 5 | app tools |
//! | 6 | new names for most kinds and fields |
//! | 7 | addresses, double taps, drags |
//! | 8 | apps installed and uninstalled, files copied, crashes, notifications, clipboard, pinches |
//! | 9 | simulated locations; steps that a flow names, the results of its cases |
//!
//! A record says by its own names which format it has, so a trace without its first line is readable too. Files of
//! snapshots have the same form in all versions.

use serde_json::{Map, Value};

use super::format::TraceRecord;

/// Reads a line of any version.
///
/// # Errors
/// If it is not a record.
pub(super) fn read_record(text: &str) -> serde_json::Result<TraceRecord> {
    serde_json::from_str(text).or_else(|error| {
        let mut value = serde_json::from_str(text)?;
        match upgrade(&mut value) {
            Some(()) => serde_json::from_value(value),
            None => Err(error),
        }
    })
}

/// Converts a record of an earlier version. `None` if it is not one.
fn upgrade(record: &mut Value) -> Option<()> {
    let record = record.as_object_mut()?;
    match record.get("kind")?.as_str()? {
        "run" => rename(record, &[("trace", "version")]),
        "goal" => rename(record, &[("mind", "policy")]),
        "step" => {
            record.insert("kind".into(), "action".into());
            rename(record, &[("step", "action_id"), ("took_ms", "duration_ms")]);
            upgrade_action(record.get_mut("action")?.as_object_mut()?);
            if let Some(outcome) = record.get_mut("outcome").and_then(Value::as_object_mut) {
                upgrade_outcome(outcome);
            }
            if let Some(failure) = record.get_mut("failure").and_then(Value::as_object_mut) {
                rename(failure, &[("why", "reason")]);
            }
        }
        "round" => {
            record.insert("kind".into(), "agent_step".into());
            rename(record, &STEP_FIELDS);
            if let Some(judgement) = record.get_mut("judgement").and_then(Value::as_object_mut) {
                rename(judgement, &[("why", "reason")]);
            }
        }
        "ended" => {
            record.insert("kind".into(), "goal_end".into());
            rename(record, &[("why", "reason")]);
        }
        _ => return None,
    }
    Some(())
}

/// The fields of an agent step: the name up to version 5, and the current one.
const STEP_FIELDS: [(&str, &str); 8] = [
    ("round", "step"),
    ("took_ms", "duration_ms"),
    ("steps", "action_range"),
    ("clean", "screenshot"),
    ("look", "snapshot"),
    ("observations", "feedback"),
    ("judged", "judgement"),
    ("spent", "usage"),
];

fn upgrade_action(action: &mut Map<String, Value>) {
    let name = match action.remove("do") {
        Some(Value::String(name)) => name,
        _ => return,
    };
    let name = match &*name {
        "use_device" => "select_device",
        "use_any_device" => "select_default_device",
        "look" => "snapshot",
        "snapshot" => "screenshot_and_snapshot",
        "find" => "find_elements",
        "swipe_towards" => "swipe_direction",
        "permit" => "set_permission",
        "forget" => {
            rename(action, &[("what", "cache")]);
            "invalidate_cache"
        }
        "type_text" => {
            // It typed into the field with focus, after the present text.
            action
                .extend([("clear".to_owned(), false.into()), ("submit".to_owned(), false.into())]);
            "type"
        }
        "call_app_tool" => {
            // The arguments belong to the app.
            action.insert("type".into(), name.into());
            return;
        }
        same => same,
    };
    action.insert("type".into(), name.into());
    rename(
        action,
        &[
            ("lasting_ms", "duration_ms"),
            ("held_ms", "duration_ms"),
            ("most", "max_lines"),
            ("wanted", "selector"),
        ],
    );
    if let Some(target) = action.get_mut("into").and_then(Value::as_object_mut) {
        rename(target, &[("wanted", "selector")]);
    }
}

fn upgrade_outcome(outcome: &mut Map<String, Value>) {
    let name = match outcome.remove("is") {
        Some(Value::String(name)) => name,
        _ => return,
    };
    let name = match &*name {
        "using" => "device_selected",
        "current" => "foreground",
        "picture" => "screenshot",
        "look" => "snapshot",
        "snapshot" => {
            rename(outcome, &[("picture", "screenshot"), ("look", "snapshot")]);
            "screenshot_and_snapshot"
        }
        "found" => {
            rename(outcome, &[("look", "snapshot")]);
            "elements"
        }
        "saved" => "screenshot_saved",
        "answered" => "app_tool_result",
        "typed" => {
            // Early traces of version 2 did not compare the field with the text.
            outcome.entry("field").or_insert_with(|| "no field".into());
            "typed"
        }
        same => same,
    };
    outcome.insert("type".into(), name.into());
    rename(outcome, &[("well", "healthy"), ("on_phone", "device_path")]);
    for part in ["screenshot", "snapshot"] {
        if let Some(part) = outcome.get_mut(part).and_then(Value::as_object_mut) {
            upgrade_outcome(part);
        }
    }
}

fn rename(object: &mut Map<String, Value>, names: &[(&str, &str)]) {
    for (old, new) in names {
        if let Some(value) = object.remove(*old) {
            object.insert((*new).to_owned(), value);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use serde_json::json;

    use super::super::format::{ActionResult, FILE, StoredSnapshot, TraceRecord};
    use super::super::{Trace, read, show};
    use super::*;

    fn fixture(version: &str) -> PathBuf {
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/traces").join(version)
    }

    /// The values of an object or array, at any depth, without the names.
    fn leaves(value: &Value, out: &mut Vec<String>) {
        match value {
            Value::Object(fields) => fields.values().for_each(|value| leaves(value, out)),
            Value::Array(items) => items.iter().for_each(|value| leaves(value, out)),
            leaf => out.push(leaf.to_string()),
        }
    }

    #[test]
    fn recorded_traces_of_earlier_versions_are_read_without_loss() {
        for version in ["v1", "v3", "v5"] {
            let folder = fixture(version);
            let text = fs::read_to_string(folder.join(FILE)).unwrap();
            let records = read(&folder).unwrap();
            assert_eq!(records.len(), text.lines().count());
            for (old, record) in text.lines().zip(&records) {
                let [mut before, mut after] = [Vec::new(), Vec::new()];
                leaves(&serde_json::from_str(old).unwrap(), &mut before);
                leaves(&serde_json::to_value(record).unwrap(), &mut after);
                // Names of kinds, actions and outcomes are values too; defaults may be added.
                let lost = before.iter().filter(|value| !after.contains(value));
                let lost: Vec<_> =
                    lost.filter(|value| !RENAMED.contains(&value.trim_matches('"'))).collect();
                assert!(lost.is_empty(), "{old}: {lost:?}");
            }
            let trace = Trace::open(&folder).unwrap();
            let odd = trace.notes.iter().filter(|note| !note.contains("older than"));
            assert_eq!(odd.collect::<Vec<_>>(), [""; 0]);
            assert!(!trace.entries.is_empty() && !show(&trace).contains("something"));
            let snapshots = trace.entries.iter().filter_map(|entry| entry.snapshot.as_deref());
            for file in snapshots.filter(|file| folder.join(file).exists()) {
                let bytes = trace.file(file).unwrap();
                serde_json::from_slice::<StoredSnapshot<'_>>(&bytes).unwrap().into_snapshot();
            }
        }
    }

    /// Old names of kinds, actions and outcomes.
    const RENAMED: [&str; 18] = [
        "step",
        "round",
        "ended",
        "use_device",
        "use_any_device",
        "look",
        "snapshot",
        "find",
        "swipe_towards",
        "permit",
        "forget",
        "type_text",
        "using",
        "current",
        "picture",
        "found",
        "saved",
        "answered",
    ];

    #[test]
    fn every_renamed_action_is_converted() {
        for (old, new) in [
            (json!({ "do": "use_any_device" }), json!({ "type": "select_default_device" })),
            (json!({ "do": "look" }), json!({ "type": "snapshot" })),
            (json!({ "do": "snapshot" }), json!({ "type": "screenshot_and_snapshot" })),
            (
                json!({ "do": "long_press", "held_ms": 7 }),
                json!({ "type": "long_press", "duration_ms": 7 }),
            ),
            (
                json!({ "do": "swipe_towards", "direction": "up", "lasting_ms": 7 }),
                json!({ "type": "swipe_direction", "direction": "up", "duration_ms": 7 }),
            ),
            (json!({ "do": "find", "text": "a" }), json!({ "type": "find_elements", "text": "a" })),
            (
                json!({ "do": "tap_element", "wanted": { "text": "a" }, "index": 0 }),
                json!({ "type": "tap_element", "selector": { "text": "a" }, "index": 0 }),
            ),
            (
                json!({ "do": "type", "text": "a", "into": { "wanted": { "text": "b" } } }),
                json!({ "type": "type", "text": "a", "into": { "selector": { "text": "b" } } }),
            ),
            (
                json!({ "do": "type_text", "text": "a" }),
                json!({ "type": "type", "text": "a", "clear": false, "submit": false }),
            ),
            (
                json!({ "do": "permit", "app": "a" }),
                json!({ "type": "set_permission", "app": "a" }),
            ),
            (
                json!({ "do": "forget", "what": "apps" }),
                json!({ "type": "invalidate_cache", "cache": "apps" }),
            ),
            (json!({ "do": "read_log", "most": 5 }), json!({ "type": "read_log", "max_lines": 5 })),
            (
                json!({ "do": "call_app_tool", "arguments": { "do": 1, "most": 2 } }),
                json!({ "type": "call_app_tool", "arguments": { "do": 1, "most": 2 } }),
            ),
        ] {
            let mut found = old.as_object().unwrap().clone();
            upgrade_action(&mut found);
            assert_eq!(Value::Object(found), new);
        }
    }

    #[test]
    fn every_renamed_outcome_is_converted() {
        for (old, new) in [
            (
                json!({ "is": "using", "device": "d" }),
                json!({ "type": "device_selected", "device": "d" }),
            ),
            (json!({ "is": "current", "app": "a" }), json!({ "type": "foreground", "app": "a" })),
            (
                json!({ "is": "snapshot", "picture": { "is": "picture", "file": "p" }, "look": { "is": "look", "file": "l" } }),
                json!({
                    "type": "screenshot_and_snapshot",
                    "screenshot": { "type": "screenshot", "file": "p" },
                    "snapshot": { "type": "snapshot", "file": "l" },
                }),
            ),
            (
                json!({ "is": "found", "look": { "is": "look", "file": "l" }, "nodes": [1] }),
                json!({ "type": "elements", "snapshot": { "type": "snapshot", "file": "l" }, "nodes": [1] }),
            ),
            (json!({ "is": "health", "well": true }), json!({ "type": "health", "healthy": true })),
            (
                json!({ "is": "saved", "on_phone": "/p" }),
                json!({ "type": "screenshot_saved", "device_path": "/p" }),
            ),
            (
                json!({ "is": "answered", "output": { "is": 1, "well": 2 } }),
                json!({ "type": "app_tool_result", "output": { "is": 1, "well": 2 } }),
            ),
            (
                json!({ "is": "typed", "by": "keys" }),
                json!({ "type": "typed", "by": "keys", "field": "no field" }),
            ),
        ] {
            let mut found = old.as_object().unwrap().clone();
            upgrade_outcome(&mut found);
            assert_eq!(Value::Object(found), new);
        }
    }

    #[test]
    fn agent_step_keeps_the_memory_item_as_it_is() {
        let line = json!({
            "kind": "round", "round": 2, "at_ms": 1, "took_ms": 3, "steps": [4, 5], "clean": "c.png", "annotated": null,
            "look": "l.json", "prompt": null, "response": null, "app": null, "observations": ["o"], "thought": "",
            "comment": "", "plan": [], "remember": [], "actions": [], "status": "FINISH", "result": "",
            "judged": { "reached": false, "why": "no" },
            "spent": {
                "calls": 1, "retries": 0, "input_tokens": 9, "cached_tokens": 0, "cache_writes": 0, "output_tokens": 0,
                "dollars": null,
            },
            "timings": {}, "failures": [], "memory": { "round": 2, "screenshots": { "clean": "c.png" } },
        });
        let TraceRecord::AgentStep(step) = read_record(&line.to_string()).unwrap() else {
            panic!("not an agent step")
        };
        assert_eq!((step.step, step.duration_ms, step.action_range), (2, 3, Some([4, 5])));
        assert_eq!((&*step.feedback, step.usage.calls), (&["o".to_owned()][..], 1));
        assert_eq!(
            (step.screenshot.as_deref(), step.snapshot.as_deref()),
            (Some("c.png"), Some("l.json"))
        );
        assert_eq!(step.judgement.unwrap().reason, "no");
        assert_eq!(step.memory["screenshots"]["clean"], "c.png");
    }

    #[test]
    fn failures_and_ends_have_a_reason() {
        let failed = r#"{"kind":"step","step":1,"at_ms":0,"took_ms":0,"action":{"do":"look"},"failure":{"why":"w","may_have_happened":true}}"#;
        let TraceRecord::Action { end: ActionResult::Failure { reason, .. }, .. } =
            read_record(failed).unwrap()
        else {
            panic!("not a failure")
        };
        assert_eq!(reason, "w");
        let end = read_record(r#"{"kind":"ended","status":"FAIL","why":"w"}"#).unwrap();
        assert_eq!(end, TraceRecord::GoalEnd { status: "FAIL".into(), reason: "w".into() });
        assert!(read_record(r#"{"kind":"odd"}"#).is_err() && read_record("[]").is_err());
    }
}
