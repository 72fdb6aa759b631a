//! `thumbwire doctor`: every tool has a check, the checks pass on virtual phones, and they fail
//! where a tool has no effect.

use std::collections::BTreeSet;

use regex_lite::Regex;
use serde_json::{Value, json};
use thumbwire::doctor::{self, Finding, Options, Report, SetupOptions, TestApp, Verdict, checks};
use thumbwire_adb::AdbServer;
use thumbwire_core::artifacts::ArtifactStore;
use thumbwire_core::input_files::InputFolder;
use thumbwire_core::providers::{DeviceProviders, VIRTUAL, VirtualPhoneProvider};
use thumbwire_core::session::{Session, SessionOptions};
use thumbwire_core::toolset::ObserveMode;
use thumbwire_core::toolset::mobile::{self, ToolGroup, TreeForm};
use thumbwire_device::AppId;
use thumbwire_device::android::HelperMode;
use thumbwire_virtual_android::{ProgramStub, Setup, VirtualPhone};
use thumbwire_virtual_phone::KeyCode;

use crate::caller::provider;
use crate::support::thumbwire;

/// A new tool needs a row in the table of checks. The other toolsets do the same on a phone, but
/// for following a log.
#[test]
fn every_tool_of_the_mobile_toolset_has_a_check() {
    let all = mobile::toolset_allowing(TreeForm::List, ObserveMode::Off, &ToolGroup::ALL);
    let mut tools: BTreeSet<(String, String)> =
        all.tools.iter().map(|tool| (all.name.to_owned(), tool.name.clone())).collect();
    for tool in ["start_log_monitoring", "stop_log_monitoring"] {
        tools.insert(("android".into(), tool.into()));
    }
    // A server with a model has it too.
    let task = thumbwire_agent::run_task::NAME;
    tools.insert(("mobile".into(), task.into()));
    let rows = checks().iter().map(|check| (check.toolset.to_owned(), check.tool.to_owned()));
    let checked: BTreeSet<_> = rows.collect();
    assert_eq!(tools, checked, "crates/thumbwire/src/doctor/checks.rs has one row per tool");
    assert_eq!(checks().len(), checked.len(), "no tool is checked twice");
    for check in checks() {
        assert!(check.tool == task || !check.checked.is_empty(), "{}: checks nothing", check.tool);
        assert!(check.checked.chars().count() <= 45, "{}: too long for the table", check.tool);
    }
}

/// Examines a virtual phone. Time is tokio's, and does not pass.
async fn examine(phone: &VirtualPhone, full: bool) -> Report {
    examine_tools(phone, full, &[]).await
}

/// The same for some tools only; all if none is named.
async fn examine_tools(phone: &VirtualPhone, full: bool, only: &[&str]) -> Report {
    let (root, input) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let apk = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/apk/hello-1.apk");
    std::fs::copy(apk, input.path().join("hello.apk")).unwrap();
    let test_app = TestApp {
        file: "hello.apk".into(),
        app: AppId("org.example.hello".into()),
        permissions: vec!["android.permission.CAMERA".into()],
    };
    let phones = DeviceProviders::adb(AdbServer::new("127.0.0.1:9")).with(provider(phone));
    let session_options = SessionOptions {
        files: Some(ArtifactStore::new(root.path())),
        input_files: Some(InputFolder::new(input.path())),
        clock: || jiff::civil::date(2024, 9, 1).at(12, 13, 14, 0),
        ..SessionOptions::from(Some(VIRTUAL.into()))
    };
    let session = Session::new(phones, session_options);
    let options = Options {
        device: VIRTUAL.into(),
        transport: "built-in virtual phone".into(),
        files: root.path().into(),
        input: input.path().into(),
        test_app: Some(test_app),
        full,
        only: only.iter().map(|&tool| tool.to_owned()).collect(),
    };
    let report = doctor::run(&session, options, &|_| ()).await.unwrap();
    session.end().await;
    report
}

/// A phone with a quarter of the usual pixels: screenshots and recordings are drawn in software.
fn release(name: &str) -> VirtualPhone {
    let mut setup = Setup::of_release(name).unwrap();
    if setup.display.width > 1000 {
        setup.display.width /= 2;
        setup.display.height /= 2;
        setup.display.density /= 2;
    }
    VirtualPhone::new(setup)
}

/// Verdicts and reasons, without times.
fn results(report: &Report) -> String {
    let rows = report.results.iter().map(|result| {
        let (verdict, tool, detail) = (result.verdict.name(), &result.tool, &result.detail);
        let (toolset, checked) = (&result.toolset, &result.checked);
        let words: Vec<&str> =
            [&**checked, &**detail].into_iter().filter(|it| !it.is_empty()).collect();
        format!("{verdict:8}{toolset:12}{tool:37}{}\n", words.join(": "))
    });
    let phone = serde_json::to_string_pretty(&report.phone).unwrap();
    format!("{phone}\n{}", rows.collect::<String>())
}

#[tokio::test(start_paused = true)]
async fn every_tool_passes_on_the_newest_virtual_phone() {
    let newest = Setup::releases().last().unwrap();
    let phone = release(newest);
    let report = examine(&phone, true).await;
    insta::assert_snapshot!("newest_android", results(&report));
    // It is left on its home screen, without what was tried on it.
    assert_eq!(phone.world(|world| world.focused_text()), None);
    let has_hello = phone.world(|world| {
        world.packages().iter().any(|manifest| manifest.package == "org.example.hello")
    });
    assert!(!has_hello);
    let names = phone.files(|files| files.list("/sdcard")).unwrap();
    assert!(!names.iter().any(|(name, _)| name.contains("thumbwire")), "{names:?}");
}

#[tokio::test(start_paused = true)]
async fn every_tool_passes_on_a_virtual_phone_with_android_4_4() {
    let report = examine(&release("4.4"), true).await;
    insta::assert_snapshot!("android_4_4", results(&report));
}

#[tokio::test(start_paused = true)]
async fn crashes_and_notifications_are_found_without_a_word_of_them() {
    let phone = release("9");
    phone.world(|world| {
        world.start("com.android.notes", None).unwrap();
        assert!(world.crash("com.android.notes", "java.lang.IllegalStateException: private"));
        assert!(world.notify("com.android.notes", "Mary", "private"));
    });
    let tools = ["mobile_crashes", "mobile_list_notifications"];
    let report = examine_tools(&phone, false, &tools).await;
    let details: Vec<_> =
        report.results.iter().map(|result| (result.verdict, result.detail.as_str())).collect();
    let passed = [(Verdict::Passed, "1 in the log"), (Verdict::Passed, "1 of 1 have a text")];
    assert_eq!(details, passed);
}

/// A phone that accepts every touch and key, and does nothing: success alone is not enough.
#[tokio::test(start_paused = true)]
async fn tools_without_an_effect_fail() {
    let phone = VirtualPhone::new(Setup { helper: false, ..release("4.4").setup().clone() });
    phone.stub_program("input", Some(ProgramStub::printing("")));
    phone.stub_program("app_process", Some(ProgramStub::printing("")));
    phone.stub_program("mv", Some(ProgramStub::printing("")));
    phone.stub_program("logcat", Some(ProgramStub::printing("")));
    let report = examine(&phone, true).await;
    let failed = |tool: &str| {
        let result = report.results.iter().find(|result| result.tool == tool).unwrap();
        assert_eq!(result.verdict, Verdict::Failed, "{tool}: {}", result.detail);
    };
    for tool in ["mobile_tap", "mobile_tap_element", "mobile_swipe", "mobile_scroll"] {
        failed(tool);
    }
    for tool in ["mobile_press_key", "mobile_long_press"] {
        failed(tool);
    }
    for tool in ["mobile_push_file", "mobile_logs"] {
        failed(tool);
    }
    assert!(report.has_failures());
}

#[tokio::test(start_paused = true)]
async fn one_broken_program_fails_its_tools_only() {
    let phone = release("14");
    phone.stub_program("screencap", Some(ProgramStub::printing("")));
    let report = examine(&phone, false).await;
    let verdict = |tool: &str| {
        let result = report.results.iter().find(|result| result.tool == tool).unwrap();
        (result.verdict, result.detail.clone())
    };
    assert_eq!(verdict("mobile_take_screenshot").0, Verdict::Failed);
    assert_eq!(verdict("mobile_get_accessibility_tree"), (Verdict::Passed, String::new()));
    // Only tools that change nothing were called.
    assert!(!report.results.iter().any(|result| result.tool == "mobile_tap"));
}

/// The table of a phone as a user sees it; times are masked.
#[test]
fn the_command_prints_a_table_that_can_be_posted() {
    let output = thumbwire().args(["doctor", "--device", "virtual"]).output().unwrap();
    let table = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{table}");
    assert!(table.lines().all(|line| line.chars().count() <= 100), "{table}");
    let masked = Regex::new(r"\d+\.\d s").unwrap().replace_all(&table, "N.N s");
    let masked = Regex::new(r"in \d+ s").unwrap().replace_all(&masked, "in N s");
    insta::assert_snapshot!("table", masked);

    let output = thumbwire().args(["doctor", "--device", "virtual", "--json"]).output().unwrap();
    let report: Report = serde_json::from_slice(&output.stdout).unwrap();
    assert!(!report.has_failures() && !report.full);

    let only = [
        "doctor",
        "--device",
        "virtual",
        "--json",
        "--only",
        "mobile_list_apps",
        "mobile_list_devices",
    ];
    let output = thumbwire().args(only).output().unwrap();
    let report: Report = serde_json::from_slice(&output.stdout).unwrap();
    let tools: Vec<&str> = report.results.iter().map(|result| result.tool.as_str()).collect();
    assert_eq!(tools, ["mobile_list_devices", "mobile_list_apps"]);
}

#[test]
fn a_real_phone_is_not_operated_without_a_user_or_a_flag() {
    let refused = |arguments: &[&str]| {
        let output = thumbwire().arg("doctor").args(arguments).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (code, error) = refused(&["--full", "--device", "127.0.0.1:9"]);
    assert_eq!(code, Some(2));
    assert!(error.contains("nobody can be asked here: add `--yes`"), "{error}");
    let (code, error) = refused(&["--full", "--yes", "--device", "127.0.0.1:9"]);
    assert_eq!(code, Some(3));
    assert!(error.contains("not connected"), "{error}");
    let (code, error) = refused(&[]);
    assert_eq!(code, Some(3));
    assert!(error.contains("no device selected"), "{error}");
    let (code, error) = refused(&["--only", "nope"]);
    assert_eq!(code, Some(2));
    assert!(error.contains("unknown tool \"nope\""), "{error}");
    let (code, error) = refused(&["--android", "4.4"]);
    assert_eq!(code, Some(2));
    assert!(error.contains("add `--device virtual`"), "{error}");
}

#[test]
fn saved_reports_are_printed_side_by_side() {
    let result = |tool: &str, verdict: &str, detail: &str, took: Option<u64>| {
        json!({
            "toolset": "mobile", "tool": tool, "verdict": verdict, "checked": "the field holds | the text",
            "detail": detail, "took_ms": took, "budget_ms": 60_000,
        })
    };
    let report = |model: &str, results: Vec<Value>| {
        json!({
            "thumbwire": "1.2.3", "full": true, "seconds": 61.4, "results": results,
            "phone": {
                "manufacturer": "Acme", "model": model, "os_version": "14", "api_level": 34,
                "screen": "1080x2400", "transport": "adb server",
            },
        })
    };
    let task = || result("mobile_run_task", "skipped", "needs a model", None);
    let type_one = result("mobile_type", "passed", "", Some(13_460));
    let type_two = result("mobile_type", "failed", "it is empty\u{1b}[2J", Some(240));
    let folder = tempfile::tempdir().unwrap();
    let mut command = thumbwire();
    command.args(["doctor", "--compare"]);
    for (name, results) in [("One", vec![type_one, task()]), ("Two", vec![type_two])] {
        let file = folder.path().join(name);
        std::fs::write(&file, report(name, results).to_string()).unwrap();
        command.arg(file);
    }
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    insta::assert_snapshot!("side_by_side", String::from_utf8(output.stdout).unwrap());

    std::fs::write(folder.path().join("Three"), "{}").unwrap();
    let output =
        thumbwire().args(["doctor", "--compare"]).arg(folder.path().join("Three")).output();
    let error = String::from_utf8(output.unwrap().stderr).unwrap();
    assert!(error.contains("expected a report of `doctor --json`"), "{error}");
}

/// The findings about one virtual phone that has been prepared, without those about files.
async fn findings(phone: &VirtualPhone, helper: HelperMode) -> String {
    let provider = VirtualPhoneProvider::new(phone.clone()).with_helper(helper);
    let phones = DeviceProviders::default().with(provider);
    let options = SetupOptions {
        config_file: None,
        adb_server: "127.0.0.1:9",
        adb_key: None,
        token: None,
        app_tools: None,
        phones: &phones,
        device: Some(VIRTUAL),
    };
    let findings = doctor::check_setup(&options).await;
    let about_phone = findings.iter().filter(|found| found.subject.starts_with("phone"));
    let lines = about_phone.map(|Finding { subject, severity, detail, fix }| {
        let next = fix.as_ref().map_or_else(String::new, |fix| format!("\n        next: {fix}"));
        format!("{:8}{subject}: {detail}{next}\n", severity.name())
    });
    lines.collect()
}

#[tokio::test(start_paused = true)]
async fn setup_tells_what_a_phone_is_how_fast_and_what_it_lacks() {
    let newest = release(Setup::releases().last().unwrap());
    let old = release("4.4");
    let mut all = String::new();
    for (name, phone, helper) in [
        ("newest", &newest, HelperMode::Auto),
        ("Android 4.4 with the helper", &old, HelperMode::Auto),
        ("the same without it", &old, HelperMode::Off),
    ] {
        all.push_str(&format!("-- {name}\n{}", findings(phone, helper).await));
    }
    let dark = release("9");
    dark.world(|world| world.key(KeyCode::POWER));
    all.push_str(&format!("-- dark\n{}", findings(&dark, HelperMode::Off).await));
    let broken = release("9");
    broken.stub_program("uiautomator", Some(ProgramStub::printing("Killed\n")));
    all.push_str(&format!("-- no tree\n{}", findings(&broken, HelperMode::Off).await));
    insta::assert_snapshot!("setup_of_phones", all);
}

/// As a newcomer without a phone meets it.
#[test]
fn setup_without_a_phone_names_the_next_step() {
    let home = tempfile::tempdir().unwrap();
    let run = |flags: &[&str]| {
        let mut command = thumbwire();
        command
            .env("HOME", home.path())
            // A long path would wrap its line.
            .env("XDG_CONFIG_HOME", home.path())
            .env_remove("XDG_STATE_HOME")
            .env("ADB_SERVER_SOCKET", "tcp:127.0.0.1:9")
            .arg("doctor");
        command.args(flags).output().unwrap()
    };
    let ended = run(&[]);
    assert_eq!(ended.status.code(), Some(3), "{ended:?}");
    let table = String::from_utf8(ended.stdout).unwrap();
    let table = table.replace(&*home.path().to_string_lossy(), "HOME");
    insta::assert_snapshot!("setup_without_a_phone", table);
    assert_eq!(run(&["--setup"]).status.code(), Some(1));
    let ended = run(&["--setup", "--json", "--device", "virtual"]);
    assert_eq!(ended.status.code(), Some(0), "{ended:?}");
    let findings: Vec<Finding> = serde_json::from_slice(&ended.stdout).unwrap();
    assert!(findings.iter().any(|found| found.subject == "phone virtual"), "{findings:?}");
}
