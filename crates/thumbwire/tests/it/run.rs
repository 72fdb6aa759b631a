//! `thumbwire run` as used by people and scripts, with a model that replays a file.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use crate::support::thumbwire;

/// The demo's script: Maps, the search, its results.
pub(crate) const DEMO: &str = "scripted:demo";
pub(crate) const GOAL: &str = "Search for restaurants on Maps";

/// A working folder with its own script.
pub(crate) struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap() }
    }

    /// Writes a script of these replies; returns the flag that names it.
    pub(crate) fn script(&self, name: &str, replies: &[Value]) -> String {
        let lines: Vec<String> =
            replies.iter().map(|reply| json!({ "reply": reply }).to_string()).collect();
        fs::write(self.folder.path().join(name), lines.join("\n")).unwrap();
        format!("scripted:{name}")
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = thumbwire();
        command.current_dir(self.folder.path()).arg("run").args(arguments);
        command.stdin(Stdio::null());
        command
    }

    fn run(&self, arguments: &[&str]) -> (String, String, Option<i32>) {
        said(&self.command(arguments).output().unwrap())
    }

    /// Runs any command there.
    pub(crate) fn call(&self, arguments: &[&str]) -> (String, String, Option<i32>) {
        said(&self.program(arguments).stdin(Stdio::null()).output().unwrap())
    }

    /// Any command there, not started yet.
    pub(crate) fn program(&self, arguments: &[&str]) -> Command {
        let mut command = thumbwire();
        command.current_dir(self.folder.path()).args(arguments);
        command
    }

    /// The runs in the folder.
    pub(crate) fn runs(&self) -> Vec<PathBuf> {
        let logs = self.folder.path().join("logs");
        let mut runs: Vec<PathBuf> =
            fs::read_dir(logs).into_iter().flatten().map(|entry| entry.unwrap().path()).collect();
        runs.sort();
        runs
    }
}

fn said(output: &Output) -> (String, String, Option<i32>) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (text(&output.stdout), text(&output.stderr), output.status.code())
}

pub(crate) fn last_line(run: &Path) -> Value {
    let lines = fs::read_to_string(run.join("trace.jsonl")).unwrap();
    serde_json::from_str(lines.lines().last().unwrap()).unwrap()
}

fn launch() -> Value {
    let arguments = json!({ "package_name": "com.google.android.apps.maps" });
    json!({ "thought": "open it", "action": { "function": "launch_app", "arguments": arguments }, "status": "CONTINUE" })
}

fn wait(seconds: f64) -> Value {
    let action = json!({ "function": "wait", "arguments": { "seconds": seconds } });
    json!({ "thought": "wait a little", "action": action, "status": "CONTINUE" })
}

pub(crate) fn finish() -> Value {
    json!({ "thought": "done", "action": null, "status": "FINISH", "result": "Maps is\nopen\u{1b}[2J" })
}

pub(crate) fn judged() -> Value {
    json!({ "reached": true, "why": "it is" })
}

/// The program as these tests call it, which commands to copy repeat.
const PROGRAM: &str = env!("CARGO_BIN_EXE_thumbwire");

/// Without the times, the date and the program's folder, which differ between runs.
fn without_times(text: &str) -> String {
    let time = regex_lite::Regex::new(r"(\d+ min )?\d+(\.\d)? (ms|s)\b").unwrap();
    let run = regex_lite::Regex::new(r"run-\d{8}-\d{6}").unwrap();
    let text = time.replace_all(text, "TIME").replace(PROGRAM, "thumbwire");
    run.replace_all(&text, "run-TIME").into_owned()
}

#[test]
fn run_prints_only_the_answer_to_stdout() {
    let place = Place::new();
    let script = ["--model", DEMO, "--price", "1.25,10"];
    let arguments = [&[GOAL, "--device", "virtual"][..], &script].concat();
    let (out, err, code) = place.run(&arguments);
    assert_eq!(code, Some(0), "{err}");
    assert_eq!(out, "Maps lists 18 restaurants; the first is Thai Orchid, 4.7 stars.\n");
    insta::assert_snapshot!("run_plain", without_times(&err));
    let [run] = place.runs().try_into().unwrap();
    assert_eq!(last_line(&run)["status"], "FINISH");
    for file in ["action_step1.png", "action_step1_annotated.png", "prompt_step1.json"] {
        assert!(run.join(file).is_file(), "{file}");
    }
}

/// The sample of docs/models.md; without its judgement the run says what is missing.
#[test]
fn documented_replies_reach_their_goal_and_a_missing_judgement_is_named() {
    let page = include_str!("../../../../docs/models.md");
    let (_, section) = page.split_once("\n## A file of replies").unwrap();
    let (_, replies) = section.split_once("```json\n").unwrap();
    let (replies, _) = replies.split_once("```").unwrap();
    let place = Place::new();
    let run = |replies: &str| {
        fs::write(place.folder.path().join("replies.jsonl"), replies).unwrap();
        place.run(&["Open Maps", "--device", "virtual", "--model", "scripted:replies.jsonl"])
    };
    let (_, err, code) = run(replies);
    assert_eq!(code, Some(0), "{err}");
    let (_, err, code) = run(replies.trim_end().rsplit_once('\n').unwrap().0);
    let missing = "! the claim was not judged: the script replies.jsonl has 2 replies, but this is request 3; add one";
    assert!(code == Some(1) && err.contains(missing), "{err}");
}

/// How often a run asked the phone for each action, its trace, and its memory items.
fn recorded_run() -> (BTreeMap<String, usize>, String, String) {
    let place = Place::new();
    let (_, err, code) = place.run(&[GOAL, "--device", "virtual", "--model", DEMO]);
    assert_eq!(code, Some(0), "{err}");
    let [run] = place.runs().try_into().unwrap();
    let trace = fs::read_to_string(run.join("trace.jsonl")).unwrap();
    let mut counts = BTreeMap::<String, usize>::new();
    for line in trace.lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        if record["kind"] == "action" {
            // An action without parameters is its name.
            let action = &record["action"];
            let name =
                action.as_str().or_else(|| action.as_object()?.keys().next().map(|it| &**it));
            *counts.entry(name.unwrap().to_owned()).or_default() += 1;
        }
    }
    (counts, trace, fs::read_to_string(run.join("memory.jsonl")).unwrap())
}

/// Each step takes a screenshot and the controls of the same moment at once, and reads the controls
/// once more after it has acted: 12 operations. A busy computer may need two more: before a touch,
/// controls that are over two seconds old are read again.
#[test]
fn a_run_asks_the_phone_for_little_and_writes_little() {
    let (counts, trace, items) = recorded_run();
    let steps = trace.lines().filter(|line| line.contains(r#""kind":"agent_step""#)).count();
    assert_eq!(steps, 4);
    // One more is the judge's; the last step does not act.
    assert_eq!(counts["screenshot_and_controls"], steps + 1, "{counts:?}");
    assert!(!counts.contains_key("screenshot"), "{counts:?}");
    assert!(!counts.contains_key("current_app"), "{counts:?}");
    assert!(counts.values().sum::<usize>() <= 14, "{counts:?}");
    assert!(trace.len() < 9_700, "{} bytes", trace.len());
    assert_eq!(items.lines().count(), steps);
}

#[test]
fn exit_code_tells_how_a_run_ended() {
    let place = Place::new();
    let fail = json!({ "thought": "no such app", "status": "FAIL", "result": "there is none" });
    let failing = place.script("fail.jsonl", &[fail]);
    let long = place.script("long.jsonl", &[launch(), wait(0.0), wait(0.0)]);
    let check = |arguments: &[&str], code: i32, text: &str| {
        let (_, err, found) = place.run(&[&[GOAL], arguments].concat());
        assert_eq!(found, Some(code), "{arguments:?}: {err}");
        assert!(err.contains(text), "{arguments:?}: {err}");
    };
    check(&[], 2, "`thumbwire run \"Search for restaurants on Maps\" --model scripted:demo");
    check(&["--model", "gpt-5"], 2, "`openai:MODEL`");
    check(&["--model", "scripted:none.jsonl"], 2, "cannot read none.jsonl");
    check(
        &["--model", "openai:x", "--api-key-env", "NOT_SET_AT_ALL"],
        2,
        "NOT_SET_AT_ALL is not set",
    );
    check(
        &["--model", &failing, "--secret", "PIN"],
        2,
        "set the environment variable THUMBWIRE_SECRET_PIN",
    );
    check(&["--model", &failing, "--timeout", "soon"], 2, "such as `90s`");
    check(&["--model", &failing], 3, "no device selected");
    // Failed starts leave no folder behind.
    assert!(place.runs().is_empty());
    check(&["--model", &failing, "--device", "virtual"], 1, "FAIL  1 step");
    check(&["--model", &long, "--device", "virtual", "--max-steps", "1"], 4, "1 step");
}

#[test]
fn json_flag_prints_events_as_lines() {
    let place = Place::new();
    let model = place.script("short.jsonl", &[launch(), finish(), judged()]);
    let (out, err, code) = place.run(&[GOAL, "--device", "virtual", "--model", &model, "--json"]);
    assert_eq!((code, err.as_str()), (Some(0), ""), "{out}");
    let lines: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let last = lines.last().unwrap();
    assert_eq!((&last["event"], &last["status"]), (&json!("run_finished"), &json!("FINISH")));
    assert_eq!(last["result"], "Maps is\nopen\u{1b}[2J");
    let did = lines.iter().find(|line| line["event"] == "call_finished").unwrap();
    assert_eq!((&did["function"], &did["success"]), (&json!("launch_app"), &json!(true)));
    // Only limited quantities are budgets.
    let state = lines.iter().find(|line| line["event"] == "step_finished").unwrap();
    assert_eq!(state["remaining"], "49 of 50 steps");
}

#[test]
fn quiet_run_prints_a_sanitized_answer() {
    let place = Place::new();
    let model = place.script("short.jsonl", &[launch(), finish(), judged()]);
    let output = place.run(&[GOAL, "--device", "virtual", "--model", &model, "--quiet"]);
    assert_eq!(output, ("Maps is\nopen\\u{1b}[2J\n".into(), String::new(), Some(0)));
}

#[cfg(unix)]
#[test]
fn interrupted_run_can_be_resumed() {
    let place = Place::new();
    let model = place.script("long.jsonl", &[launch(), wait(30.0)]);
    let mut command = place.command(&[GOAL, "--device", "virtual", "--model", &model]);
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut told = String::new();
    for line in lines.by_ref() {
        let line = line.unwrap();
        told.push_str(&line);
        if line.contains("launch_app") {
            let id = child.id().to_string();
            assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
            break;
        }
    }
    let rest: Vec<String> = lines.map(Result::unwrap).collect();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{told} {rest:?}");
    let [run] = place.runs().try_into().unwrap();
    assert_eq!(last_line(&run)["status"], "CONTINUE");
    let name = format!("logs/{}", run.file_name().unwrap().to_str().unwrap());
    let command = rest.iter().find_map(|line| line.strip_prefix("Resume with: ")).unwrap();
    assert_eq!(
        command,
        format!("{PROGRAM} run '{GOAL}' --device virtual --model {model} --resume {name}")
    );
    let model = place.script("rest.jsonl", &[finish(), judged()]);
    let arguments = ["--device", "virtual", "--model", &model, "--resume", &name];
    let (out, err, code) = place.run(&arguments);
    assert_eq!(code, Some(0), "{err}");
    assert!(out.starts_with("Maps is") && err.starts_with(GOAL), "{err}");
    assert!(err.contains("Resuming after step"), "{err}");
    assert_eq!(place.runs().len(), 1);
    let (_, err, code) = place.run(&arguments);
    assert!(code == Some(2) && err.contains("already finished"), "{err}");
}

#[test]
fn trace_of_another_version_is_refused() {
    let (place, folder) = (Place::new(), tempfile::tempdir().unwrap());
    let first = r#"{"kind":"run","version":9,"program":"thumbwire 0.1.0","started":"2026-01-01T00:00:00Z"}"#;
    std::fs::write(folder.path().join("trace.jsonl"), format!("{first}\n")).unwrap();
    let run = folder.path().display().to_string();
    for verb in ["show", "report"] {
        let (_, err, code) = place.call(&["trace", verb, &run]);
        assert_eq!(code, Some(2), "{verb}: {err}");
        assert!(
            err.contains("the trace has version 9; this program reads version 1 only"),
            "{err}"
        );
    }
}
