//! The report page of a run, opened in a browser from disk: no network access, keyboard navigation,
//! both themes, narrow screens, and inert untrusted text.
//!
//! `.ci/parts browser` installs Chromium and Selenium.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use thumbwire_core::action::{
    Action, AppSelector, Call, Outcome, Perform as _, ScreenshotOptions, Target, TextInput,
};
use thumbwire_core::annotate;
use thumbwire_core::event::ObservedPerform;
use thumbwire_core::session::Session;
use thumbwire_core::trace::Recorder;
use thumbwire_core::trace::format::{
    AgentStep, CallRecord, GoalStart, JudgementRecord, TraceRecord, Usage,
};
use thumbwire_device::AppId;
use thumbwire_virtual_phone::Display;
use tokio::time::Instant;

use crate::marks::session;
use crate::support::thumbwire;
use thumbwire_test_support::python;

const MAPS: &str = "com.google.android.apps.maps";

/// Text that would run on a page that does not escape it.
const HOSTILE: &str = "</script><script>alert(1)</script><img src=http://127.0.0.1:9/x onerror=alert(1)>\u{202e}turned\u{7}";

/// Records a run on the virtual phone with scripted thoughts.
struct Recording {
    perform: ObservedPerform<Session>,
    recorder: Arc<Recorder>,
    rounds: u32,
}

impl Recording {
    fn begin(folder: &Path) -> Self {
        let started = "2024-03-05T10:00:00Z".to_owned();
        let recorder = Arc::new(Recorder::begin(folder, started.clone()).unwrap());
        let display = Display { width: 1080, height: 2400, density: 420, rotation: 0 };
        let perform = ObservedPerform::new(session(14, display), recorder.clone());
        let goal = GoalStart {
            request: "Search for restaurants on Maps".into(),
            policy: "scripted".into(),
            started,
        };
        recorder.write_record(&TraceRecord::Goal(goal)).unwrap();
        Self { perform, recorder, rounds: 0 }
    }

    async fn done(&self, action: Action) -> Result<Outcome, thumbwire_core::action::Failure> {
        self.perform.perform(&Call::with_timeout(Duration::from_secs(60)), action).await
    }

    /// Records a step as the agent does: the plain and the annotated screenshot, the snapshot, then
    /// one action.
    async fn round(&mut self, thought: &str, function: &str, arguments: Value, action: Action) {
        self.rounds += 1;
        let (began, first) = (Instant::now(), self.recorder.action_count() + 1);
        let asked = Action::Screenshot(ScreenshotOptions::default());
        let Ok(Outcome::Screenshot(picture)) = self.done(asked).await else { panic!("no picture") };
        let asked = Action::Controls { max_age: Duration::ZERO };
        let Ok(Outcome::Controls(controls)) = self.done(asked).await else { panic!("no controls") };
        let snapshot = format!("{:04}.snapshot.json", self.recorder.action_count());
        let marked = annotate::draw(&picture.image, &annotate::marks(&controls)).unwrap();
        let name = |rest: &str| format!("action_step{}{rest}", self.rounds);
        self.recorder.keep(&name(".png"), &picture.image.bytes).unwrap();
        self.recorder.keep(&name("_annotated.png"), &marked.bytes).unwrap();
        let prompt = json!([
            { "role": "system", "content": "You drive a phone." },
            { "role": "user", "content": [
                { "type": "image_url", "image_url": { "url": name("_annotated.png") } },
                { "type": "text", "text": "[User Request]: Search for restaurants on Maps" },
            ] },
        ]);
        self.recorder.keep(&name("_prompt.json"), prompt.to_string().as_bytes()).unwrap();
        self.recorder.keep(&name("_response.txt"), thought.as_bytes()).unwrap();
        let done = self.done(action).await;
        let touch = match &done {
            Ok(Outcome::Tapped(hit)) => vec![[hit.at.x, hit.at.y]],
            _ => Vec::new(),
        };
        let message = done.as_ref().err().map(|failure| failure.cause.to_string());
        let carried = CallRecord {
            function: function.into(),
            arguments: arguments.as_object().cloned().unwrap(),
            success: done.is_ok(),
            message: message.clone().unwrap_or_else(|| "done".into()),
            touch,
            ..CallRecord::default()
        };
        let timings = json!({
            "DATA_COLLECTION": 420, "LLM_INTERACTION": 1900, "ACTION_EXECUTION": 130, "MEMORY_UPDATE": 4,
        });
        let round = AgentStep {
            step: self.rounds,
            at_ms: self.recorder.at_ms(began),
            duration_ms: 2454,
            action_range: Some([first, self.recorder.action_count()]),
            screenshot: Some(name(".png")),
            annotated: Some(name("_annotated.png")),
            snapshot: Some(snapshot),
            prompt: Some(name("_prompt.json")),
            response: Some(name("_response.txt")),
            app: Some(MAPS.into()),
            feedback: vec!["The screen changed: 12 controls are new.".into()],
            thought: thought.into(),
            comment: "On the way.".into(),
            plan: vec!["type \"restaurants\"".into(), "read the results".into()],
            actions: vec![carried],
            status: "CONTINUE".into(),
            usage: Usage {
                calls: 1,
                input_tokens: 2310,
                cached_tokens: 1100,
                output_tokens: 84,
                dollars: Some(0.0041),
                ..Usage::default()
            },
            timings: timings.as_object().cloned().unwrap(),
            failures: message.into_iter().collect(),
            judgement: (self.rounds == 4)
                .then(|| JudgementRecord { reached: true, reason: "The results show.".into() }),
            ..AgentStep::default()
        };
        self.recorder.write_record(&TraceRecord::AgentStep(Box::new(round))).unwrap();
    }
}

/// The story of the UFO MobileAgent strategy, with a failure and a hostile thought.
async fn recorded(folder: &Path) {
    let mut run = Recording::begin(folder);
    let tap = |text: &str| Action::TapElement(Target::Named { id: None, text: Some(text.into()) });
    let launch = Action::Launch(AppSelector::Id(AppId(MAPS.into())));
    let thought = "I need to launch Google Maps first.";
    run.round(thought, "launch_app", json!({ "package_name": MAPS }), launch).await;
    let thought = "The search bar is control 1; I tap it.";
    run.round(thought, "click_control", json!({ "control_id": "1" }), tap("Search here")).await;
    run.round(HOSTILE, "click_control", json!({ "control_name": HOSTILE }), tap("no such thing"))
        .await;
    let typing = Action::Type(TextInput { submit: true, ..TextInput::of("restaurants") });
    let thought = "The field has the focus: I type what is sought.";
    run.round(thought, "type_text", json!({ "text": "restaurants" }), typing).await;
    let thought = "The results are there.";
    run.round(thought, "click_control", json!({ "control_id": "8" }), tap("Open now")).await;
    let ended =
        TraceRecord::GoalEnd { status: "FINISH".into(), reason: "18 places were found.".into() };
    run.recorder.write_record(&ended).unwrap();
}

/// Renders the report page of a run.
fn reported(run: &Path) -> std::path::PathBuf {
    let output = thumbwire().args(["trace", "report"]).arg(run).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    run.join("report.html")
}

fn browse(python: &Path, page: &Path, pictures: &Path, kind: &str) -> Value {
    browse_with("report.py", python, page, pictures, kind)
}

/// Opens a page with a script in a browser; returns what the script saw.
pub(crate) fn browse_with(
    script: &str,
    python: &Path,
    page: &Path,
    pictures: &Path,
    kind: &str,
) -> Value {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python").join(script);
    let output =
        Command::new(python).arg(script).arg(page).arg(pictures).arg(kind).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_str(said.lines().last().unwrap()).unwrap()
}

/// A folder that is kept, to inspect the pages.
fn folder(name: &str) -> std::path::PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("report").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

#[tokio::test]
async fn report_page_works_in_a_browser_from_disk() {
    let folder = folder("rounds");
    recorded(&folder).await;
    let page = reported(&folder);
    let size = fs::metadata(&page).unwrap().len();
    assert!(size < 3_000_000, "{size} bytes");
    let Some(python) = python("browser", "selenium") else { return };
    let seen = browse(&python, &page, &folder, "rounds");
    assert_eq!(seen["moments"], 5, "{seen}");
    assert_eq!(seen["failed"], 1, "{seen}");
}

#[test]
fn report_page_without_agent_steps_shows_actions() {
    let folder = folder("steps");
    let run = folder.join("demo");
    let output = thumbwire().args(["demo", "--out"]).arg(&run).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let index = fs::read_to_string(run.join("index.html")).unwrap();
    for part in ["android/0003.png", "iphone/0002.png", "/report.html", "Launch Maps", "add_note"] {
        assert!(index.contains(part), "the page of the demo leads to {part}");
    }
    assert!(!index.contains("class=\"step failed"), "nothing failed");
    // A client of a server names no steps.
    let trace = run.join("android/trace.jsonl");
    let lines = fs::read_to_string(&trace).unwrap();
    let unnamed = lines.lines().filter(|line| !line.contains("\"kind\":\"named_step\""));
    fs::write(&trace, unnamed.map(|line| format!("{line}\n")).collect::<String>()).unwrap();
    let page = reported(&run.join("android"));
    let Some(python) = python("browser", "selenium") else { return };
    let seen = browse(&python, &page, &folder, "steps");
    assert_eq!(seen["moments"], 18, "{seen}");
}

#[tokio::test]
async fn trace_show_prints_a_line_per_action() {
    let folder = tempfile::tempdir().unwrap();
    recorded(folder.path()).await;
    let output = thumbwire().args(["trace", "show"]).arg(folder.path()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    // Times differ between runs.
    let redacted: Vec<String> = text.lines().map(redact).collect();
    insta::assert_snapshot!("trace_show", redacted.join("\n"));
    let output = thumbwire().args(["trace", "show", "--json"]).arg(folder.path()).output().unwrap();
    let out: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(out["notes"], json!([]));
    assert_eq!(out["lines"].as_array().unwrap().len(), 1 + 1 + 15 + 5 + 1);
    let output = thumbwire().args(["trace", "show", "/nowhere"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}

/// Replaces the times in a line.
fn redact(line: &str) -> String {
    let text: Vec<&str> = line.split_whitespace().collect();
    let is_time = |at: usize| {
        matches!(text.get(at + 1), Some(&unit) if ["ms", "s", "ms,", "s:"].contains(&unit))
            && text[at].starts_with(|c: char| c.is_ascii_digit())
    };
    let unit = |word: &str| ["ms", "s", "ms,", "s:"].contains(&word);
    let mut out = Vec::new();
    for (at, word) in text.iter().enumerate() {
        if is_time(at) {
            out.push("#");
        } else if !(unit(word) && at > 0 && is_time(at - 1)) {
            out.push(word);
        }
    }
    out.join(" ")
}
