//! Pages of constructed runs: hostile text, missing files, broken traces.

use std::fs;
use std::path::Path;

use thumbwire_device::{Gesture, Point};

use super::super::format::{ActionResult, FILE, StoredOutcome, TraceRecord, VERSION};
use super::super::reader::Trace;
use super::*;
use crate::action::{Action, ScreenshotOptions};
use crate::trace::format::{AgentStep, CallRecord, CaseEnd, CrashRecord, GoalStart, NamedStep};
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

/// A flow's case with this name, whose texts are all hostile.
fn hostile_case(folder: &Path) {
    let text = || HOSTILE.to_owned();
    let step = |step, parent| NamedStep {
        step,
        parent,
        name: text(),
        does: text(),
        place: text(),
        status: text(),
        reason: HOSTILE.repeat(10_000),
        expected: text(),
        retried: vec![text(); 300],
        waited_for: text(),
        before: Some("../../etc/passwd".into()),
        after: Some("\"><script>.png".into()),
        action_range: Some([1, u32::MAX]),
        ..NamedStep::default()
    };
    let end = CaseEnd {
        case: text(),
        file: text(),
        reason: text(),
        crashes: vec![CrashRecord { what: text(), excerpt: vec![text()] }],
        log: vec![text(); 60],
        notes: vec![text()],
        screenshot: Some("/etc/passwd".into()),
        ..CaseEnd::default()
    };
    // A chain of steps inside each other, deeper than a browser nests, and one inside itself.
    let steps = (1..200).map(|at| step(at, Some(at - 1))).chain([step(200, Some(200))]);
    let mut lines = vec![run(VERSION)];
    lines.extend(steps.map(|step| TraceRecord::NamedStep(Box::new(step))));
    lines.push(TraceRecord::CaseEnd(Box::new(end)));
    fs::create_dir_all(folder).unwrap();
    written(folder, &lines);
}

/// Nothing of an untrusted text is markup, and nothing is hidden.
fn check_inert(page: &str) {
    assert_eq!(page.matches("<script").count(), 1, "the page's own");
    assert!(!page.contains("<img src=x") && !page.contains("<bdi><") && !page.contains("root:x:"));
    assert!(!page.contains(['\u{202e}', '\0', '\u{1b}']));
}

#[test]
fn untrusted_text_of_steps_and_suites_stays_text() {
    let folder = tempfile::tempdir().unwrap();
    hostile_case(&folder.path().join("001-case"));
    let trace = Trace::open(&folder.path().join("001-case")).unwrap();
    let single = page(&trace, "n0nce");
    check_inert(&single);
    assert!(single.len() < 4_000_000, "{} bytes", single.len());
    assert!(!show(&trace).contains(['\u{202e}', '\0', '\u{1b}']));
    let text = || HOSTILE.to_owned();
    let entry = SuiteRun {
        name: text(),
        place: text(),
        text: text(),
        verdict: Verdict::Failed,
        attempts: ["001-case", "..", "/etc", "001-case/../..", "nowhere", HOSTILE]
            .map(str::to_owned)
            .into(),
        page: Some("javascript:alert(1)".into()),
        ..SuiteRun::default()
    };
    let suite = Suite {
        title: text(),
        started: text(),
        phones: vec![text()],
        notes: vec![text()],
        runs: vec![entry],
        ..Suite::default()
    };
    for pictures in [Pictures::Linked, Pictures::Embedded] {
        let page = suite_page(folder.path(), &suite, pictures, "n0nce");
        check_inert(&page);
        assert!(page.len() < 4_000_000, "{} bytes", page.len());
        for refused in ["&quot;..&quot;", "&quot;/etc&quot;", "001-case/../.."] {
            let note = refused.to_string();
            assert!(page.contains(&note), "{note}");
        }
        assert!(page.contains("is not a folder of this suite"));
        assert!(page.contains("href=\"./javascript%3Aalert%281%29\""), "an address below the page");
        assert!(!page.contains("src=\"001-case/../"));
    }
}

/// A case with a loop: the steps as recorded, those inside before the one around them.
fn looped(status: &str) -> Vec<TraceRecord> {
    let action = |action_id, end| TraceRecord::Action {
        action_id,
        at_ms: 10 * u64::from(action_id),
        duration_ms: 5,
        device: None,
        action: match &end {
            ActionResult::Outcome(StoredOutcome::Screenshot { .. }) => {
                Action::Screenshot(ScreenshotOptions::default())
            }
            _ => Action::Touch(Gesture::Tap { at: Point { x: 5, y: 6 } }),
        },
        backends: None,
        end,
    };
    let done = || ActionResult::Outcome(StoredOutcome::Done);
    let picture = |file: &str| {
        let file = file.to_owned();
        ActionResult::Outcome(StoredOutcome::Screenshot { file, width: 100, height: 200 })
    };
    let step =
        |step, parent, name: &str, range, before: Option<&str>, after: Option<&str>| NamedStep {
            step,
            parent,
            name: name.into(),
            status: "passed".into(),
            action_range: Some(range),
            before: before.map(str::to_owned),
            after: after.map(str::to_owned),
            ..NamedStep::default()
        };
    let one = |named: NamedStep| TraceRecord::NamedStep(Box::new(named));
    let tap = NamedStep {
        status: status.into(),
        reason: "nothing says Pay".into(),
        ..step(3, Some(2), "tap Pay", [5, 6], Some("0004.png"), Some("0006.png"))
    };
    let around = NamedStep { status: status.into(), ..step(2, None, "twice", [3, 6], None, None) };
    let end = CaseEnd {
        case: "pay".into(),
        attempt: 1,
        passed: status == "passed",
        reason: "nothing says Pay".into(),
        log: vec!["I/App: paid nothing".into()],
        ..CaseEnd::default()
    };
    vec![
        run(VERSION),
        action(1, done()),
        action(2, done()),
        one(step(1, None, "launch", [2, 2], None, Some("0004.png"))),
        action(3, done()),
        action(4, picture("0004.png")),
        action(5, done()),
        action(6, picture("0006.png")),
        one(tap),
        one(around),
        action(7, done()),
        TraceRecord::CaseEnd(Box::new(end)),
    ]
}

#[test]
fn steps_are_in_order_inside_each_other_with_their_own_actions() {
    let folder = tempfile::tempdir().unwrap();
    written(folder.path(), &looped("failed"));
    let trace = Trace::open(folder.path()).unwrap();
    let shown: Vec<(String, Vec<u32>)> = trace
        .entries
        .iter()
        .map(|entry| {
            let name = entry.named.as_ref().map_or(String::new(), |step| step.name.clone());
            (name, entry.actions.iter().map(|action| action.action_id).collect())
        })
        .collect();
    let shown: Vec<(&str, &[u32])> =
        shown.iter().map(|(name, actions)| (name.as_str(), actions.as_slice())).collect();
    let expected: [(&str, &[u32]); 5] =
        [("", &[1]), ("launch", &[2]), ("twice", &[3, 4]), ("tap Pay", &[5, 6]), ("", &[7])];
    assert_eq!(shown, expected);
    assert_eq!(trace.entries[3].touches, [[[5, 6]],]);
}

#[test]
fn page_of_a_case_opens_at_the_step_that_failed() {
    let folder = tempfile::tempdir().unwrap();
    for (status, open) in [("failed", 2), ("passed", 0)] {
        written(folder.path(), &looped(status));
        let page = page(&Trace::open(folder.path()).unwrap(), "n");
        let opened = page.matches("class=\"step failed\" open").count();
        assert_eq!(opened, open, "the step, and the loop around it");
        assert_eq!(page.matches("<details id=\"s").count(), 5, "a row for each step");
        assert_eq!(page.contains("nothing says Pay"), status == "failed");
        assert_eq!(page.contains("paid nothing"), status == "failed", "the log, if it failed");
    }
}

#[test]
fn suite_has_failures_first_and_earlier_attempts_last() {
    let folder = tempfile::tempdir().unwrap();
    for (name, status) in [("1", "failed"), ("1-try-2", "passed"), ("2", "failed")] {
        fs::create_dir(folder.path().join(name)).unwrap();
        written(&folder.path().join(name), &looped(status));
    }
    let entry = |name: &str, verdict, attempts: &[&str]| SuiteRun {
        name: name.into(),
        verdict,
        attempts: attempts.iter().map(|name| (*name).to_owned()).collect(),
        ..SuiteRun::default()
    };
    let suite = Suite {
        runs: vec![
            entry("unsteady", Verdict::Flaky, &["1", "1-try-2"]),
            entry("broken", Verdict::Failed, &["2"]),
        ],
        ..Suite::default()
    };
    let page = suite_page(folder.path(), &suite, Pictures::Linked, "n");
    let place = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text}: {page}"));
    assert!(place(">broken<") < place(">unsteady<"));
    assert!(page.contains("<details id=\"r2\" class=\"case failed\" open"));
    let earlier = place("<details class=\"attempt\">");
    assert!(place(">unsteady<") < earlier && earlier < place("id=\"r1-1s1\""));
    assert!(place("id=\"r1-2s1\"") < earlier, "the last attempt comes before the earlier one");
    // Files that are not there are linked, and those of another size cannot be known.
    assert!(page.contains("src=\"2/0006.png\"") && page.contains("width=\"100\""));
    assert!(!page.contains("data:image"));
}

#[test]
fn failed_run_of_an_agent_opens_where_it_failed() {
    let folder = tempfile::tempdir().unwrap();
    let step = |step, failed: bool| {
        let failures = if failed { vec!["no such button".to_owned()] } else { Vec::new() };
        TraceRecord::AgentStep(Box::new(AgentStep { step, failures, ..AgentStep::default() }))
    };
    let end = |status: &str| TraceRecord::GoalEnd { status: status.into(), reason: "x".into() };
    let goal = || TraceRecord::Goal(GoalStart::default());
    for (lines, opens) in [
        (vec![run(VERSION), goal(), step(1, false), step(2, true), step(3, false), end("FAIL")], 2),
        (vec![run(VERSION), goal(), step(1, true), step(2, false), end("FINISH")], 1),
        (vec![run(VERSION), goal(), step(1, false), step(2, false), end("CONTINUE")], 2),
        (vec![run(VERSION)], 1),
    ] {
        written(folder.path(), &lines);
        let page = page(&Trace::open(folder.path()).unwrap(), "n");
        assert!(page.contains(&format!("<body data-open=\"{opens}\"")), "{opens}");
    }
}

#[test]
fn damaged_run_is_shown_with_notes_and_one_of_another_version_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let step =
        AgentStep { step: 1, screenshot: Some("action_step1.png".into()), ..AgentStep::default() };
    written(
        folder.path(),
        &[
            run(VERSION),
            TraceRecord::Goal(GoalStart::default()),
            TraceRecord::AgentStep(Box::new(step)),
        ],
    );
    let file = folder.path().join(FILE);
    let mut text = fs::read_to_string(&file).unwrap();
    text.push_str("no JSON\n{\"kind\":\"ro");
    fs::write(&file, text).unwrap();
    let trace = Trace::open(folder.path()).unwrap();
    assert_eq!(trace.entries.len(), 1);
    let page = page(&trace, "n");
    for note in [
        "Skipped line 4",
        "The last line is incomplete",
        "The run has no end",
        "action_step1.png is missing.",
    ] {
        assert!(page.contains(note), "{note}");
    }
    written(folder.path(), &[run(VERSION + 1)]);
    assert!(Trace::open(folder.path()).unwrap_err().to_string().contains("reads version 1 only"));
    fs::write(&file, "").unwrap();
    assert!(Trace::open(folder.path()).unwrap_err().to_string().contains("contains no run"));
}
