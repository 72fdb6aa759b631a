//! The verbs of the command line, as a person runs them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Output;

use crate::support::thumbwire;

fn run(arguments: &[&str]) -> Output {
    thumbwire().args(arguments).output().unwrap()
}

fn said(output: &Output) -> (String, String, Option<i32>) {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (text(&output.stdout), text(&output.stderr), output.status.code())
}

#[test]
fn help_is_as_recorded() {
    for verb in ["", "serve", "demo", "screen", "devices", "call", "tools", "phone"] {
        let arguments: Vec<&str> =
            [verb, "--help"].into_iter().filter(|word| !word.is_empty()).collect();
        let (out, _, code) = said(&run(&arguments));
        assert_eq!(code, Some(0));
        insta::assert_snapshot!(format!("help_{verb}"), out);
    }
}

#[test]
fn devices_says_what_to_do_when_there_is_none() {
    let (out, _, code) = said(&run(&["devices"]));
    assert_eq!(code, Some(0));
    assert!(out.contains("No phone is attached") && out.contains("--device virtual"), "{out}");
    assert_eq!(said(&run(&["devices", "--json"])).0, "[]\n");
}

#[test]
fn exit_codes_tell_failures_apart() {
    let check = |arguments: &[&str], code: i32, words: &str| {
        let (_, err, found) = said(&run(arguments));
        assert_eq!(found, Some(code), "{arguments:?}: {err}");
        assert!(err.contains(words), "{arguments:?}: {err}");
    };
    let on_virtual = |rest: &[&'static str]| [&["call", "--device", "virtual"], rest].concat();
    check(&on_virtual(&["mobile_press_key", r#"{"key":"back"}"#]), 0, "");
    check(&on_virtual(&["mobile_press_key", r#"{"key":"any"}"#]), 2, "must be one of");
    check(&on_virtual(&["mobile_press_key", "back"]), 2, "one JSON object");
    check(&on_virtual(&["mobile_nope"]), 2, "`thumbwire tools` lists them");
    check(&on_virtual(&["mobile_launch_app", r#"{"bundle_id":"x"}"#]), 3, "App not found: x");
    check(&["call", "mobile_take_screenshot"], 3, "no device is chosen");
    check(
        &["call", "--device", "127.0.0.1:9", "mobile_take_screenshot"],
        3,
        "Device not connected",
    );
    check(&["phone", "--android", "3"], 2, "there are 4.4, 14");
    check(&["frobnicate"], 2, "unrecognized subcommand");
}

#[test]
fn a_saved_dump_is_printed_as_a_look() {
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/uiautomator/");
    let dump = format!("{fixtures}free4g__window_dump.xml");
    let (out, err, code) = said(&run(&["screen", "--file", &dump]));
    assert_eq!(code, Some(0), "{err}");
    insta::assert_snapshot!("screen_of_a_dump", out);
    let (out, _, _) = said(&run(&["screen", "--json", "--file", &dump]));
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(json["nodes"].as_array().unwrap().len(), 30);

    let (_, err, code) = said(&run(&["screen", "--file", &format!("{fixtures}ORIGIN.md")]));
    assert_eq!(code, Some(1));
    assert!(err.contains("cannot read") && err.contains("ORIGIN.md"), "{err}");
    let (out, _, _) = said(&run(&["screen", "--device", "virtual"]));
    assert!(out.contains("text=\"Maps\""), "{out}");
}

#[test]
fn a_picture_called_for_by_hand_is_written_where_asked() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("pictures");
    let arguments =
        ["call", "mobile_take_screenshot", "--device", "virtual", "--out", out.to_str().unwrap()];
    let (said, err, code) = said(&run(&arguments));
    assert_eq!(code, Some(0), "{err}");
    assert!(said.contains("mobile_take_screenshot.png"), "{said}");
    assert!(fs::read(out.join("mobile_take_screenshot.png")).unwrap().starts_with(b"\x89PNG"));
}

#[test]
fn a_variable_that_is_wrong_is_named_and_an_empty_one_is_none() {
    let devices = |name: &str, value: &str| {
        said(&thumbwire().arg("devices").env(name, value).output().unwrap())
    };
    let (_, err, code) = devices("LOG_LEVEL", "loud");
    assert_eq!(code, Some(2));
    assert!(err.contains("LOG_LEVEL is \"loud\""), "{err}");
    for name in ["LOG_LEVEL", "ADB_SERVER_SOCKET", "ANDROID_ADB_SERVER_PORT"] {
        let (_, err, code) = devices(name, "");
        assert_eq!(code, Some(0), "{name}: {err}");
    }
}

/// The run's pictures and looks by name; lines of the trace hold times and stay out.
fn kept(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| !path.ends_with("trace.jsonl"))
        .map(|path| {
            (path.file_name().unwrap().to_str().unwrap().to_owned(), fs::read(&path).unwrap())
        })
        .collect()
}

#[test]
fn the_demo_does_its_job_and_two_processes_see_the_same_pixels() {
    let folder = tempfile::tempdir().unwrap();
    let runs: Vec<_> = ["one", "two"]
        .map(|name| folder.path().join(name))
        .into_iter()
        .map(|out| {
            let (said, err, code) = said(&run(&["demo", "--out", out.to_str().unwrap()]));
            assert_eq!(code, Some(0), "{said}{err}");
            assert!(said.contains(out.to_str().unwrap()), "it says where: {said}");
            kept(&out)
        })
        .collect();
    let pictures = runs[0].keys().filter(|name| name.ends_with(".png")).count();
    let looks = runs[0].keys().filter(|name| name.ends_with(".look.json")).count();
    assert!(pictures >= 6 && looks >= 5, "{:?}", runs[0].keys());
    assert!(runs[0] == runs[1], "the same touches led to other pixels or another tree");
}
