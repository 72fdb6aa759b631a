//! `thumbwire eval` as a user runs it: results as JSON, limits of the whole evaluation, resuming,
//! the leaderboard.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::thumbwire;

/// Runs `thumbwire eval` in this folder; returns standard output, standard error and the exit code.
fn eval(folder: &Path, arguments: &[&str]) -> (String, String, Option<i32>) {
    let mut command = thumbwire();
    let output = command.current_dir(folder).arg("eval").args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr), output.status.code())
}

fn json(folder: &Path, file: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(folder.join(file)).unwrap()).unwrap()
}

/// The attempts of a file: task, seed and success.
fn attempts(results: &Value) -> Vec<(String, u64, bool)> {
    let attempts = results["attempts"].as_array().unwrap().iter();
    let attempt = |one: &Value| {
        let (seed, success) = (one["seed"].as_u64().unwrap(), one["success"].as_bool().unwrap());
        (one["task"].as_str().unwrap().to_owned(), seed, success)
    };
    attempts.map(attempt).collect()
}

const NOTES: [&str; 4] = ["--tasks", "notes-add", "--jobs", "1"];

#[test]
fn results_are_resumed_without_repeating_an_attempt() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let first = [&NOTES[..], &["--seeds", "0..2", "--json", "r.json"]].concat();
    let (out, _, code) = eval(folder, &first);
    assert_eq!(code, Some(0), "{out}");
    for head in ["task ", "app ", "category ", "difficulty ", "all tasks "] {
        assert!(out.lines().any(|line| line.trim_start().starts_with(head)), "{head}: {out}");
    }
    let before = json(folder, "r.json");
    let more = [&NOTES[..], &["--seeds", "1..4", "--resume", "r.json"]].concat();
    assert_eq!(eval(folder, &more).2, Some(0));
    let after = json(folder, "r.json");
    let seeds: Vec<u64> = attempts(&after).iter().map(|(_, seed, _)| *seed).collect();
    assert_eq!(seeds, [0, 1, 2, 3]);
    assert_eq!(after["attempts"][0], before["attempts"][0]);
    assert_eq!((&after["planned"], &after["stopped"]), (&4.into(), &Value::Null));
    assert_eq!(after["by_category"]["data_entry"]["successes"], 4);
    let score = &after["attempts"][3];
    assert_eq!((&score["policy"], &score["difficulty"]), (&"scripted".into(), &"easy".into()));
    assert!(score["program"].as_str().unwrap().starts_with("thumbwire "));

    let other = [&NOTES[..], &["--policy", "oracle", "--resume", "r.json"]].concat();
    let (_, err, code) = eval(folder, &other);
    assert_eq!(code, Some(2));
    assert!(
        err.contains(r#"the file's policy is "scripted", this evaluation's "oracle""#),
        "{err}"
    );
    fs::write(folder.join("x.json"), "{}").unwrap();
    let (_, err, code) = eval(folder, &["--resume", "x.json"]);
    assert_eq!(code, Some(2));
    assert!(err.contains("cannot read the results in x.json"), "{err}");
}

/// Claims at once, and judges so, for a thousand tokens each time.
fn claiming_model(folder: &Path) {
    let reply = r#"{"reply": {"thought": "x", "action": {"function": "", "arguments": {}, "status": "FINISH"}, "result": "done", "why": "x", "reason": "x", "reached": true}, "tokens": {"input": 1000, "output": 10}}"#;
    fs::write(folder.join("model.jsonl"), format!("{reply}\n").repeat(50)).unwrap();
}

#[test]
fn a_limit_ends_the_whole_evaluation_and_keeps_what_was_paid_for() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    claiming_model(folder);
    // An attempt takes a decision and a judgement: two dollars.
    let model = ["--model", "scripted:model.jsonl", "--price", "1000,0", "--seeds", "0..4"];
    let all = [&NOTES[..], &model].concat();
    let limited = [&all[..], &["--max-cost", "4.5", "--json", "r.json"]].concat();
    let (out, err, code) = eval(folder, &limited);
    assert_eq!(code, Some(4), "{out}{err}");
    assert!(
        err.contains("stopped after 2 of 4 attempts: the cost limit of $4.50 is reached"),
        "{err}"
    );
    assert!(err.contains("--resume r.json"), "{err}");
    let results = json(folder, "r.json");
    assert_eq!(attempts(&results).len(), 2);
    assert_eq!(results["interrupted"]["dollars"], 1.0);
    assert_eq!(results["total"]["usage"]["dollars"], 4.0);
    assert_eq!(results["stopped"], "the cost limit of $4.50 is reached");

    // An evaluation that ended early is not overwritten by mistake.
    let (_, err, code) = eval(folder, &limited);
    assert_eq!(code, Some(2));
    assert!(err.contains("2 of 4 attempts of an evaluation that ended early"), "{err}");
    // The limit counts what was used before.
    let resumed = |limit| [&all[..], &["--max-cost", limit, "--resume", "r.json"]].concat();
    assert_eq!(eval(folder, &resumed("5")).2, Some(4));
    let (out, err, code) = eval(folder, &resumed("20"));
    assert_eq!(code, Some(0), "{out}{err}");
    assert!(out.contains("cost: $9.00"), "{out}");
    let results = json(folder, "r.json");
    assert_eq!((attempts(&results).len(), &results["stopped"]), (4, &Value::Null));

    let tokens = [&all[..], &["--max-tokens", "10"]].concat();
    let (_, err, code) = eval(folder, &tokens);
    assert_eq!(code, Some(4));
    assert!(err.contains("the limit of 10 tokens is reached"), "{err}");
}

#[test]
fn traces_of_the_oracle_are_written_too() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let (out, _, code) =
        eval(folder, &["--policy", "oracle", "--tasks", "notes-add", "--out", "traces"]);
    assert_eq!(code, Some(0), "{out}");
    let mut command = thumbwire();
    let shown = command.current_dir(folder).args(["trace", "show", "traces/notes-add-0"]).output();
    let shown = String::from_utf8(shown.unwrap().stdout).unwrap();
    assert!(shown.contains("launch"), "{shown}");
}

#[test]
fn tasks_that_an_iphone_lacks_are_named() {
    let folder = tempfile::tempdir().unwrap();
    let ios = ["--platform", "ios", "--tasks"];
    let (_, err, code) = eval(folder.path(), &[&ios[..], &["files-size"]].concat());
    assert_eq!(code, Some(2));
    assert!(err.contains("no task for an iPhone: files-size needs what it lacks"), "{err}");
    let (_, err, _) = eval(folder.path(), &[&ios[..], &["nope"]].concat());
    assert!(err.contains("no such task"), "{err}");
}

#[test]
fn leaderboard_is_made_of_results_files() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    eval(folder, &[&NOTES[..], &["--json", "r.json"]].concat());
    let (out, err, code) = eval(folder, &["--leaderboard", "r.json"]);
    assert_eq!(code, Some(0), "{err}");
    let row = out.lines().find(|line| line.starts_with("| scripted |")).unwrap();
    assert!(row.contains("| 1 | 100.0 % |"), "{row}");
    assert_eq!(out.lines().count(), 3, "{out}");
    fs::write(folder.join("page.md"), "no marks").unwrap();
    let (_, err, code) = eval(folder, &["--leaderboard", "r.json", "--page", "page.md"]);
    assert_eq!(code, Some(1));
    assert!(
        err.contains("cannot update page.md: the results of scripted have 1 attempts"),
        "{err}"
    );
}
