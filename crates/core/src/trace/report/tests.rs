//! Pages of constructed runs: hostile text, missing files, broken traces.

use std::fs;
use std::path::Path;

use super::super::format::{FILE, TraceRecord, VERSION};
use super::super::reader::Trace;
use super::*;
use crate::trace::format::{AgentStep, CallRecord, GoalStart};
use crate::trace::show;

fn written(folder: &Path, lines: &[TraceRecord]) {
    let text: Vec<String> =
        lines.iter().map(|line| serde_json::to_string(line).unwrap() + "\n").collect();
    fs::write(folder.join(FILE), text.concat()).unwrap();
}

fn run(version: u32) -> TraceRecord {
    TraceRecord::Run { version, program: "p".into(), started: "2024-03-05T10:00:00Z".into() }
}

const HOSTILE: &str =
    "</script><script>alert(1)</script><img src=x onerror=alert(1)>\u{202e}\0\u{1b}[2J\"'&";

fn hostile() -> Vec<TraceRecord> {
    let text = || HOSTILE.to_owned();
    let action = CallRecord { function: text(), message: text(), ..CallRecord::default() };
    let step = AgentStep {
        step: 1,
        app: Some(text()),
        screenshot: Some("../../etc/passwd".into()),
        snapshot: Some("/etc/passwd".into()),
        prompt: Some("prompt.json".into()),
        feedback: vec![text(); 300],
        thought: HOSTILE.repeat(10_000),
        actions: vec![action],
        status: text(),
        ..AgentStep::default()
    };
    let goal = GoalStart { request: text(), policy: text(), ..GoalStart::default() };
    vec![run(VERSION), TraceRecord::Goal(goal), TraceRecord::AgentStep(Box::new(step))]
}

#[test]
fn untrusted_text_stays_text() {
    let folder = tempfile::tempdir().unwrap();
    written(folder.path(), &hostile());
    fs::write(folder.path().join("prompt.json"), HOSTILE).unwrap();
    let trace = Trace::open(folder.path()).unwrap();
    let page = page(&trace, "n0nce");
    assert_eq!(page.matches("<script").count(), 1, "the page's own");
    assert!(!page.contains("<img") && !page.contains("onerror=alert(1)>\u{202e}"));
    assert!(!page.contains(['\u{202e}', '\0', '\u{1b}']));
    assert!(page.len() < 500_000, "{} bytes", page.len());
    let shown = show(&trace);
    assert!(!shown.contains(['\u{202e}', '\0', '\u{1b}']));
    for name in ["../../etc/passwd", "/etc/passwd"] {
        assert!(trace.file(name).unwrap_err().contains("not a file of this run"));
    }
    // A leaked `/etc/passwd` would contain this line.
    assert!(page.contains("is not a file of this run") && !page.contains("root:x:"));
}

#[test]
fn damaged_or_old_run_is_shown_with_notes() {
    let folder = tempfile::tempdir().unwrap();
    let step =
        AgentStep { step: 1, screenshot: Some("action_step1.png".into()), ..AgentStep::default() };
    written(
        folder.path(),
        &[run(3), TraceRecord::Goal(GoalStart::default()), TraceRecord::AgentStep(Box::new(step))],
    );
    let file = folder.path().join(FILE);
    let mut text = fs::read_to_string(&file).unwrap();
    text.push_str("no JSON\n{\"kind\":\"ro");
    fs::write(&file, text).unwrap();
    let trace = Trace::open(folder.path()).unwrap();
    assert_eq!(trace.entries.len(), 1);
    let page = page(&trace, "n");
    for note in [
        &*format!("The trace has version 3, older than {VERSION}"),
        "Skipped line 4",
        "The last line is incomplete",
        "The run has no end",
        "action_step1.png is missing.",
    ] {
        assert!(page.contains(note), "{note}");
    }
    written(folder.path(), &[run(VERSION + 1)]);
    assert!(Trace::open(folder.path()).unwrap_err().to_string().contains("reads versions up to"));
    fs::write(&file, "").unwrap();
    assert!(Trace::open(folder.path()).unwrap_err().to_string().contains("contains no run"));
}
