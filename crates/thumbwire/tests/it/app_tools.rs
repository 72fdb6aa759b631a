//! `thumbwire app-tools`, as developers of apps and operators run it.

use std::fs;
use std::path::{Path, PathBuf};

use crate::support::thumbwire;

fn run(arguments: &[&str]) -> (String, String, Option<i32>) {
    let output = thumbwire().arg("app-tools").args(arguments).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (text(&output.stdout), text(&output.stderr), output.status.code())
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The files of a tool that is described like this, by their places below the folder; and what was printed.
fn new(plan: &Path, out: &Path) -> (String, String, Option<i32>) {
    run(&["new", plan.to_str().unwrap(), "--out", out.to_str().unwrap()])
}

#[test]
fn what_new_writes_is_as_recorded_and_lint_has_nothing_against_it() {
    let folder = tempfile::tempdir().unwrap();
    let plan = repository().join("examples/app-tools/clock-in.toml");
    let (out, err, code) = new(&plan, folder.path());
    assert_eq!(code, Some(0), "{err}");
    let place = format!("{}/", folder.path().display());
    insta::assert_snapshot!("app_tools_new", out.replace(&place, ""));
    for (name, file) in [
        ("descriptor", "res/xml/mcp_capabilities.xml"),
        ("declaration", "AndroidManifest-tool.xml"),
        ("service", "java/org/example/clockin/ClockInTools.kt"),
    ] {
        let text = fs::read_to_string(folder.path().join(file)).unwrap();
        insta::assert_snapshot!(format!("app_tools_new_{name}"), text);
    }
    let base = folder.path().join("java/org/example/clockin/MobileMcpService.kt");
    let base = fs::read_to_string(base).unwrap();
    assert!(base.starts_with("package org.example.clockin\n"), "{base}");

    let descriptor = folder.path().join("res/xml/mcp_capabilities.xml");
    let (out, err, code) = run(&["lint", descriptor.to_str().unwrap()]);
    assert_eq!(code, Some(0), "{out}{err}");
    assert!(out.ends_with(": 3 capabilities, nothing is wrong\n"), "{out}");
}

#[test]
fn nothing_that_is_there_already_is_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let plan = repository().join("examples/app-tools/clock-in.toml");
    let mine = folder.path().join("AndroidManifest-tool.xml");
    fs::write(&mine, "mine").unwrap();
    let (out, err, code) = new(&plan, folder.path());
    assert_eq!((out.as_str(), code), ("", Some(1)));
    assert!(
        err.contains("nothing was written") && err.contains("AndroidManifest-tool.xml is"),
        "{err}"
    );
    assert_eq!(fs::read_to_string(&mine).unwrap(), "mine");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing else was made");
}

#[test]
fn texts_of_any_kind_are_written_so_that_lint_reads_them() {
    let folder = tempfile::tempdir().unwrap();
    let plan = folder.path().join("odd.toml");
    let text = r#"
package = "org.example.odd"
class = "OddTools"
name = "@string/none"
description = "<&> \"quoted\" 'too' \\ ${x} ]]> -->"
[[capability]]
id = "when"
description = "\"/><capability id=\"second"
input = [{ name = "class", type = "number", description = "42" }]
"#;
    fs::write(&plan, text).unwrap();
    let (_, err, code) = new(&plan, folder.path());
    assert_eq!(code, Some(0), "{err}");
    let descriptor = folder.path().join("res/xml/mcp_capabilities.xml");
    let (out, _, code) = run(&["lint", "--json", descriptor.to_str().unwrap()]);
    let told: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(code, Some(0), "{out}");
    assert_eq!(told[0]["capabilities"], serde_json::json!(["when"]));
}

#[test]
fn a_plan_that_cannot_be_read_is_wrong_usage() {
    let folder = tempfile::tempdir().unwrap();
    let plan = folder.path().join("tool.toml");
    fs::write(&plan, "package = \"org.example\"\nclass = 7\n").unwrap();
    let (_, err, code) = new(&plan, folder.path());
    assert_eq!(code, Some(2));
    assert!(err.contains("tool.toml: ") && err.contains("line 2"), "{err}");
    let (_, err, code) = new(&folder.path().join("none.toml"), folder.path());
    assert_eq!(code, Some(2));
    assert!(err.contains("cannot read") && err.contains("none.toml"), "{err}");
}
