//! The report of a run of flows: what the trace keeps of each step, the page, and what the terminal
//! shows.

use std::fs;
use std::path::{Path, PathBuf};

use regex_lite::Regex;
use thumbwire_core::trace::format::{NamedStep, TraceRecord};
use thumbwire_flow::Options;

use crate::flows::{Bench, HOUR, flow};
use crate::support::thumbwire;
use thumbwire_test_support::python;

const STEPS: &str = "\
appId: com.android.notes
timeout: 2000
---
- launchApp: { permissions: {}, stopApp: false }
- repeat:
    times: 2
    commands:
      - tapOn: { text: New note, label: add a note }
      - back
      - back
      - launchApp: { permissions: {}, stopApp: false }
- tapOn: { text: Not now, optional: true, timeout: 100 }
- retry:
    maxRetries: 1
    commands:
      - assertState:
          element: { id: index_note_title, index: 1 }
          equals: Milk
          timeout: 1000
";

fn steps_of(folder: &Path) -> Vec<NamedStep> {
    let lines = thumbwire_core::trace::read(folder).unwrap();
    let named = lines.into_iter().filter_map(|line| match line {
        TraceRecord::NamedStep(step) => Some(*step),
        _ => None,
    });
    let mut named: Vec<NamedStep> = named.collect();
    named.sort_by_key(|step| step.step);
    named
}

#[tokio::test(start_paused = true)]
async fn each_step_is_recorded_with_the_screen_before_and_after() {
    let bench = Bench::new();
    let options = Options { step_pictures: true, ..Options::default() };
    let (report, said) = bench.run(vec![flow(STEPS).unwrap()], options, HOUR).await;
    let report = report.unwrap();
    let trace = report.cases[0].attempts[0].trace.clone().unwrap();
    let steps = steps_of(&trace);
    let told: Vec<(u32, Option<u32>, &str, &str)> =
        steps.iter().map(|step| (step.step, step.parent, &*step.name, &*step.status)).collect();
    let inside = |first: u32| {
        [(0, "add a note"), (1, "press back"), (2, "press back"), (3, "launch com.android.notes")]
            .map(|(at, name)| (first + at, Some(2), name, "passed"))
    };
    let expected = "expect id \"index_note_title\", index 1 equals \"Milk\"";
    let mut all = vec![
        (1, None, "launch com.android.notes", "passed"),
        (2, None, "repeat 2 times", "passed"),
    ];
    all.extend(inside(3));
    all.extend(inside(7));
    all.extend([
        (11, None, "tap \"Not now\"", "skipped"),
        (12, None, "retry", "failed"),
        (13, Some(12), expected, "failed"),
        (14, Some(12), expected, "failed"),
    ]);
    assert_eq!(told, all, "{said}");

    let tap = &steps[2];
    assert_eq!((&*tap.does, &*tap.place), ("tap \"New note\"", "test.yaml:8:9"));
    // One picture per step: after one step is before the next.
    for pair in steps[2..6].windows(2) {
        assert_eq!(pair[0].after, pair[1].before, "{pair:?}");
    }
    for file in steps.iter().flat_map(|step| [&step.before, &step.after]).flatten() {
        let bytes = fs::read(trace.join(file)).unwrap();
        assert!(bytes.starts_with(b"\x89PNG"), "{file}");
    }
    assert!(tap.before.is_some() && tap.before != tap.after);
    let failed = &steps[13];
    assert_eq!(failed.expected, "id \"index_note_title\", index 1 equals \"Milk\"");
    assert!(failed.reason.contains("says \"Ideas for the trip\""), "{failed:?}");
    assert_eq!(steps[11].retried.len(), 1, "{steps:?}");
    assert!(!steps[10].reason.is_empty() && !steps[10].waited_for.is_empty(), "{:?}", steps[10]);
    // The first and last action are those of the step.
    for pair in steps.iter().filter(|step| step.parent.is_none()).collect::<Vec<_>>().windows(2) {
        let (Some([_, last]), Some([first, _])) = (pair[0].action_range, pair[1].action_range)
        else {
            panic!("{pair:?}")
        };
        assert!(last < first, "{pair:?}");
    }
}

/// A folder with flows: one passes, one fails, and one fails at first on a phone that shows a popup
/// once.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let flows = "\
appId: com.android.notes
name: Notes
timeout: 1000
---
- case:
    name: a note is opened
    commands:
      - launchApp
      - tapOn: Shopping
      - assertVisible: .*Olive oil
- case:
    name: the first note is milk
    commands:
      - launchApp
      - tapOn: { text: Not now, label: put the tour off, optional: true, timeout: 100 }
      - assertState: { element: { id: index_note_title }, equals: Milk, timeout: 100 }
- case:
    name: the list scrolls
    commands: [launchApp, scroll]
";
    fs::write(folder.path().join("notes.yaml"), flows).unwrap();
    folder
}

fn run(folder: &Path, flags: &[&str]) -> String {
    let mut command = thumbwire();
    command.current_dir(folder).args([
        "test",
        "notes.yaml",
        "--device",
        "virtual",
        "--retries",
        "1",
    ]);
    let output = command.args(flags).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let text = Regex::new(r"run-\d{8}-\d{6}(-\d+)?").unwrap().replace_all(&text, "run-TIME");
    let text = Regex::new(r"· \d+\.\d s").unwrap().replace_all(&text, "· 0.0 s").into_owned();
    // How often a step looked depends on the computer's speed.
    let text = Regex::new(r"/\d{4}\.png").unwrap().replace_all(&text, "/N.png").into_owned();
    let log = Regex::new(r"(end of the log:\n)([ ]+\d{4}-\d\d-\d\dT.*\n)+").unwrap();
    log.replace_all(&text, "$1      …\n").into_owned()
}

#[test]
fn flows_print_as_much_as_is_wanted() {
    let folder = folder();
    for (view, flags) in [("quiet", &["--quiet"][..]), ("normal", &[]), ("verbose", &["--verbose"])]
    {
        insta::assert_snapshot!(format!("flow_{view}"), run(folder.path(), flags));
    }
}

/// A folder that is kept, to inspect the pages.
fn kept(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("report").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

#[test]
fn page_of_a_run_of_flows_works_in_a_browser_from_disk() {
    let pages = kept("flows");
    fs::copy(folder().path().join("notes.yaml"), pages.join("notes.yaml")).unwrap();
    let said = run(&pages, &[]);
    assert!(said.ends_with("Report: logs/run-TIME/index.html\n"), "{said}");
    let run = fs::read_dir(pages.join("logs")).unwrap().next().unwrap().unwrap().path();
    let page = run.join("index.html");
    // The page itself has no pictures.
    assert!(fs::metadata(&page).unwrap().len() < 400_000);
    let output = thumbwire().args(["trace", "report"]).arg(&run).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let embedded = run.join("report.html");
    let text = fs::read_to_string(&embedded).unwrap();
    assert!(text.contains("data:image/jpeg") && !text.contains("<img"), "its pictures are in it");
    let Some(python) = python("browser", "selenium") else { return };
    for (page, kind) in [(page, "linked"), (embedded, "embedded")] {
        let seen = crate::report::browse_with("suite.py", &python, &page, &pages, kind);
        assert_eq!(seen["cases"], 3, "{seen}");
        assert_eq!(seen["failed"], 1, "{seen}");
    }
}
