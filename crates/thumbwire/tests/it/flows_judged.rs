//! The JUnit file of a flow run, as a golden and checked by `junitparser` and by the schema
//! `junit-10.xsd` from pytest's sources. `.ci/parts junit` installs them.

use std::path::Path;
use std::process::Command;
use thumbwire_test_support::python;

use thumbwire_flow::{Options, Verdict, junit};

use crate::flows::{Bench, HOUR, example, flow, redacted};

const ALL_KINDS: &str = "\
appId: com.android.notes
name: All <kinds>
timeout: 1000
---
- case: { name: passes, commands: [launchApp] }
- case:
    name: fails
    commands:
      - launchApp
      - tapOn: { text: Nobody, optional: true }
      - assertVisible: \"Never & nowhere \\u0007 ]]>\"
- case: { name: crashes and passes then, commands: [launchApp, tapOn: New note] }
- case: { name: crashes and fails then, commands: [launchApp, tapOn: New note, assertVisible: Never] }
- case: { name: has no time, commands: [launchApp, wait: 500000] }
- case: { name: is not tried, commands: [launchApp] }
";

/// A run with everything that a JUnit file can report.
async fn of_all_kinds() -> (String, Vec<Verdict>) {
    let bench = Bench::meeting(&[
        "app-crash:on=helper tap,after=0,times=1",
        "app-crash:on=helper tap,after=2,times=1",
    ]);
    let options = Options { retries: 1, ..Options::default() };
    let within = std::time::Duration::from_secs(120);
    let (report, said) = bench.run(vec![flow(ALL_KINDS).unwrap()], options, within).await;
    let report = report.unwrap();
    let verdicts: Vec<Verdict> = report.cases.iter().map(|tried| tried.verdict()).collect();
    let trace = report.cases[0].attempts[0].trace.as_ref().unwrap().parent().unwrap().to_owned();
    println!("{said}");
    (redacted(&junit(&report).unwrap(), &trace), verdicts)
}

#[tokio::test(start_paused = true)]
async fn junit_file_covers_all_outcomes() {
    let (text, verdicts) = of_all_kinds().await;
    use Verdict::{Failed, Flaky, Passed, Skipped};
    assert_eq!(verdicts, [Passed, Failed, Flaky, Failed, Failed, Skipped]);
    // Other log lines depend on the phone.
    let out = regex_lite::Regex::new(r"\nTIME [^<]*").unwrap();
    insta::assert_snapshot!("flow_junit", out.replace_all(&text, "\n…\n"));
}

#[tokio::test(start_paused = true)]
async fn junit_validators_accept_our_files() {
    let Some(python) = python("junit", "junitparser, xmlschema") else { return };
    let (all_kinds, _) = of_all_kinds().await;
    let bench = Bench::new();
    let options = Options { allow_reset: true, ..Options::default() };
    let (report, _) =
        bench.run(vec![example("maps.yaml"), example("notes.yaml")], options, HOUR).await;
    let passing = junit(&report.unwrap()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    for (name, text, counts) in
        [("all.xml", all_kinds, "6 2 1 1"), ("passing.xml", passing, "5 0 0 0")]
    {
        let file = folder.path().join(name);
        std::fs::write(&file, text).unwrap();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/junit_judge.py");
        let output = Command::new(&python).arg(script).arg(&file).output().unwrap();
        let (out, err) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{name}: {out}{err}");
        assert_eq!(out.trim(), counts, "{name}: tests, failures, errors, skipped");
    }
}
