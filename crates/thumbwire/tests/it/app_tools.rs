//! `thumbwire app-tools`, as app developers and operators run it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::stock_adb::Phone;
use crate::support::thumbwire;

fn run(arguments: &[&str]) -> (String, String, Option<i32>) {
    // The trust store disappears with the folder.
    run_at_home(tempfile::tempdir().unwrap().path(), arguments)
}

fn run_at_home(home: &Path, arguments: &[&str]) -> (String, String, Option<i32>) {
    let mut command = thumbwire();
    command.env("XDG_STATE_HOME", home).arg("app-tools").args(arguments);
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (text(&output.stdout), text(&output.stderr), output.status.code())
}

/// A phone with this app in the foreground: since Android 8, the service of an app that never ran
/// cannot be started.
fn running(app: &str) -> Phone {
    let phone = Phone::start("1");
    let launch = format!(r#"{{"bundle_id":"{app}"}}"#);
    let call = ["call", "mobile_launch_app", &launch, "--device", &phone.address];
    let launched = thumbwire().args(call).output().unwrap();
    assert!(launched.status.success(), "{launched:?}");
    phone
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn example_for_app_developers_passes_lint() {
    let descriptor = "examples/app-tools/clock-in/res/xml/mcp_capabilities.xml";
    let (out, err, code) = run(&["lint", repository().join(descriptor).to_str().unwrap()]);
    assert_eq!(code, Some(0), "{out}{err}");
    assert!(out.ends_with(": 3 capabilities, no findings\n"), "{out}");
}

#[test]
fn lint_reports_position_and_severity() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("mcp_capabilities.xml");
    let xml = r#"<?xml version="1.0" encoding="utf-8"?>
<mobile-mcp-capabilities version="2.0">
    <capability id="add_note" description="Adds a note">
        <input>
            <param name="text" type="String" required="yes" description="What it says" />
            <param type="string" required="true" description="It has no name" />
        </input>
    </capability>
    <capability id="add_note" description="The same once more" version="1" />
</mobile-mcp-capabilities>
"#;
    fs::write(&file, xml).unwrap();
    let name = file.to_str().unwrap();
    let place = format!("{}/", folder.path().display());
    let (out, err, code) = run(&["lint", name]);
    assert_eq!((err.as_str(), code), ("", Some(1)));
    insta::assert_snapshot!("app_tools_lint", out.replace(&place, ""));
    let (out, _, code) = run(&["lint", "--lenient", name]);
    assert_eq!(code, Some(1), "a duplicate id and an unnamed parameter are fatal");
    insta::assert_snapshot!("app_tools_lint_lenient", out.replace(&place, ""));
    let (out, _, _) = run(&["lint", "--json", name]);
    insta::assert_snapshot!("app_tools_lint_json", out.replace(&place, ""));
}

#[test]
fn lint_reads_apks_and_reports_unreadable_files() {
    let apk = repository().join("fixtures/apk/clock-in.apk");
    let (out, err, code) = run(&["lint", apk.to_str().unwrap()]);
    assert_eq!((err.as_str(), code), ("", Some(1)));
    let place = format!("{}/", apk.parent().unwrap().display());
    insta::assert_snapshot!("app_tools_lint_apk", out.replace(&place, ""));

    let folder = tempfile::tempdir().unwrap();
    let cut = folder.path().join("cut.apk");
    fs::write(&cut, &fs::read(&apk).unwrap()[..3000]).unwrap();
    let none = folder.path().join("none.xml");
    let text = folder.path().join("words.xml");
    fs::write(&text, "no xml").unwrap();
    let compiled = folder.path().join("compiled.xml");
    fs::write(&compiled, [3, 0, 8, 0, 0, 0]).unwrap();
    let files = [&cut, &none, &text, &compiled].map(|file| file.to_str().unwrap());
    let (out, _, code) = run(&[&["lint"], &files[..]].concat());
    assert_eq!(code, Some(2));
    let place = format!("{}/", folder.path().display());
    insta::assert_snapshot!("app_tools_lint_unreadable", out.replace(&place, ""));
}

#[test]
fn documented_rules_are_current() {
    let (out, _, code) = run(&["lint", "--rules"]);
    assert_eq!(code, Some(0));
    let page = fs::read_to_string(repository().join("docs/app-tools.md")).unwrap();
    assert!(
        page.contains(&out),
        "docs/app-tools.md is stale: replace its table with the output of `thumbwire app-tools lint --rules`"
    );
}

#[test]
fn app_tools_are_listed_and_described() {
    let (out, err, code) = run(&["list", "--device", "virtual"]);
    assert_eq!((err.as_str(), code), ("", Some(0)));
    insta::assert_snapshot!("app_tools_list", out);
    let (out, _, code) = run(&[
        "describe",
        "com.android.notes",
        "--device",
        "virtual",
        "--allow-app-tools",
        "com.android.*",
    ]);
    assert_eq!(code, Some(0));
    insta::assert_snapshot!("app_tools_describe", out);
    let (out, _, _) = run(&["list", "--json", "--device", "virtual"]);
    let rows: serde_json::Value = serde_json::from_str(&out).unwrap();
    let notes = rows.as_array().unwrap().iter().find(|row| row["package"] == "com.android.notes");
    let notes = notes.unwrap();
    assert_eq!(notes["trust"], "not_allowed");
    assert_eq!(notes["capabilities"][0]["id"], "add_note", "{notes:#}");
    assert_eq!(notes["capabilities"][0]["input"][0]["required"], true);
    let (_, err, code) = run(&["describe", "com.none", "--device", "virtual"]);
    assert_eq!(code, Some(3));
    assert!(err.contains("com.none offers no tools"), "{err}");
}

#[test]
fn naming_an_app_allows_only_that_call() {
    let home = tempfile::tempdir().unwrap();
    let phone = running("com.android.notes");
    let call = |rest: &[&str]| {
        let words = [&["call", "com.android.notes"], rest, &["--device", &phone.address]].concat();
        run_at_home(home.path(), &words)
    };
    let (out, err, code) = call(&["add_note", r#"{"title":"Milk","text":"two bottles"}"#]);
    assert_eq!(code, Some(0), "{out}{err}");
    let given: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert!(given["number"].is_i64(), "{out}");
    let (out, err, code) = call(&["add_note", r#"{"title":"","text":"x"}"#, "--timings", "--json"]);
    assert_eq!(code, Some(0), "{out}{err}");
    for phase in ["query", "package", "read", "check", "invoke", "total"] {
        assert!(err.contains(phase), "{phase}: {err}");
    }
    let told: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(told["status"], "success");

    let (_, err, code) = call(&["add_note", r#"{"title":7}"#]);
    assert_eq!(code, Some(2), "{err}");
    let (_, err, code) = call(&["nope"]);
    assert_eq!(code, Some(3), "{err}");
    let (_, err, code) = call(&["add_note", "[]"]);
    assert_eq!(code, Some(2));
    assert!(err.contains("one JSON object"), "{err}");
    let (out, err, code) = call(&["add_note", r#"{"title":"a","text":"b"}"#, "--send-only"]);
    assert_eq!((out.as_str(), code), ("", Some(0)), "{err}");
    assert!(err.contains("Sent without waiting"), "{err}");

    let (out, _, _) = run_at_home(home.path(), &["list", "--json", "--device", "virtual"]);
    assert!(out.contains("\"trust\": \"not_allowed\""), "{out}");
    let (out, err, code) =
        run_at_home(home.path(), &["trust", "com.android.notes", "--device", "virtual"]);
    assert_eq!(code, Some(0), "{out}{err}");
    assert!(out.contains("com.android.notes is now trusted"), "{out}");
    let (out, _, _) = run_at_home(home.path(), &["list", "--json", "--device", "virtual"]);
    assert!(out.contains("\"trust\": \"yes\""), "{out}");
    assert!(home.path().join("thumbwire/app-tools.json").is_file());

    let forget = || run_at_home(home.path(), &["trust", "com.android.notes", "--revoke"]);
    let (out, err, code) = forget();
    assert_eq!((code, err.as_str()), (Some(0), ""));
    assert_eq!(out, "com.android.notes is no longer trusted.\n");
    let (out, _, _) = run_at_home(home.path(), &["list", "--json", "--device", "virtual"]);
    assert!(out.contains("\"trust\": \"not_allowed\""), "{out}");
    let (out, _, code) = forget();
    assert_eq!(code, Some(0));
    assert_eq!(out, "com.android.notes was not trusted; nothing changed.\n");
}

#[test]
fn installed_app_is_tested_for_conformance() {
    let phone = running("com.android.notes");
    let on = phone.address.as_str();
    let (out, err, code) = run(&["conformance", "com.android.notes", "--device", on]);
    assert_eq!(code, Some(0), "{out}{err}");
    insta::assert_snapshot!("app_tools_conformance", out);
    let call = r#"add_note={"title":"test","text":"test"}"#;
    let words = ["conformance", "com.android.notes", "--device", on, "--call", call];
    let (out, err, code) = run(&words);
    assert_eq!(code, Some(0), "{out}{err}");
    assert!(!out.contains("needs a capability that may be called"), "{out}");
    let (_, err, code) = run(&["conformance", "com.none", "--device", on]);
    assert_eq!(code, Some(3), "{err}");
}

#[test]
fn invalid_package_name_is_refused() {
    let (_, err, code) = run(&["list", "--device", "virtual", "--allow-app-tools", "com.exam*"]);
    assert_eq!(code, Some(2));
    assert!(err.contains("invalid app \"com.exam*\""), "{err}");
}
