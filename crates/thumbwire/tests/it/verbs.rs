//! The verbs of the command line, as a person runs them.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Output, Stdio};

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
    const VERBS: [&str; 18] = [
        "",
        "serve",
        "run",
        "demo",
        "eval",
        "screen",
        "devices",
        "call",
        "tools",
        "app-tools",
        "app-tools lint",
        "app-tools new",
        "app-tools list",
        "app-tools call",
        "app-tools trust",
        "phone",
        "trace",
        "trace replay",
    ];
    for verb in VERBS {
        let arguments: Vec<&str> = verb.split_whitespace().chain(["--help"]).collect();
        let (out, _, code) = said(&run(&arguments));
        assert_eq!(code, Some(0));
        insta::assert_snapshot!(format!("help_{}", verb.replace(' ', "_")), out);
    }
}

#[test]
fn the_faults_of_a_virtual_phone_are_listed_with_their_numbers() {
    let (out, _, code) = said(&run(&["phone", "--fault", "list"]));
    assert_eq!(code, Some(0));
    insta::assert_snapshot!("faults_of_a_virtual_phone", out);
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
    check(&["phone", "--android", "3"], 2, "there are 4.4, 9, 11");
    check(&["phone", "--fault", "slwo"], 2, "there is no fault \"slwo\"; there are offline, ");
    check(&["phone", "--keep", "com.android.notes=x"], 2, "it is not PACKAGE:KEY=VALUE");
    check(
        &["phone", "--listen", "127.0.0.1:0", "--keep", "com.nope:a=b"],
        2,
        "no app \"com.nope\"",
    );
    check(&["frobnicate"], 2, "unrecognized subcommand");
}

#[test]
fn a_tool_of_another_surface_is_called_there() {
    let (_, words, code) = said(&run(&["call", "press_key", "{}"]));
    let there = "add `--surface android` or `--surface ufo-action`";
    assert_eq!(code, Some(2));
    assert_eq!(words, format!("thumbwire: \"press_key\" is a tool of another surface: {there}\n"));
    let (_, words, _) = said(&run(&["call", "nope"]));
    assert!(words.contains("`thumbwire tools` lists them"), "{words}");
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

    assert_eq!(err, "");

    let (_, err, code) = said(&run(&["screen", "--file", &format!("{fixtures}ORIGIN.md")]));
    assert_eq!(code, Some(1));
    assert!(err.contains("cannot read") && err.contains("ORIGIN.md"), "{err}");
    assert!(err.contains("there is no node tree in it"), "{err}");
    let (out, _, _) = said(&run(&["screen", "--device", "virtual"]));
    assert!(out.contains("text=\"Maps\""), "{out}");
}

/// `thumbwire screen --file -` with this on its standard input.
fn screen_of(dump: &str, json: bool) -> (String, String, Option<i32>) {
    let mut command = thumbwire();
    command.args(["screen", "--file", "-"]).args(json.then_some("--json"));
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().unwrap();
    child.stdin.take().unwrap().write_all(dump.as_bytes()).unwrap();
    said(&child.wait_with_output().unwrap())
}

#[test]
fn a_dump_that_is_broken_is_printed_as_far_as_it_goes() {
    let dump = "a warning\n<hierarchy rotation=\"0\">\
                <node class=\"a.Page\" text=\"Page\" bounds=\"[0,0][100,200]\">\
                <node class=\"a.Button\" text=\"lost\" bounds=\"[0,0][1,1]\" clickable=\"true\" text=\"twice\"/>\n\
                <node class=\"a.Label\" text=\"nowhere\" bounds=\"[a,0][1,1]\"/>\
                <node class=\"a.Button\" text=\"cut";
    let (out, err, code) = screen_of(dump, false);
    insta::assert_snapshot!("screen_of_a_broken_dump", format!("{out}--\n{err}"));
    assert_eq!(code, Some(0));
    let (out, err, code) = screen_of("ERROR: could not get idle state.\n", false);
    assert_eq!((out.as_str(), code), ("", Some(1)));
    assert!(err.contains("cannot read standard input") && err.contains("idle state"), "{err}");
}

#[test]
fn what_is_covered_is_marked_and_what_is_hidden_is_left_out() {
    let node = |text: &str, order: u32, bounds: &str| {
        format!(
            "<node class=\"a.Button\" text=\"{text}\" clickable=\"true\" drawing-order=\"{order}\" bounds=\"{bounds}\"/>"
        )
    };
    let dump = format!(
        "<hierarchy rotation=\"0\"><node class=\"a.Page\" bounds=\"[0,0][100,200]\">{}{}{}</node></hierarchy>",
        node("OK", 2, "[0,0][100,100]"),
        node("Save", 1, "[20,20][80,80]"),
        node("Gone", 3, "[0,300][100,400]"),
    );
    let (out, err, code) = screen_of(&dump, false);
    assert_eq!((err.as_str(), code), ("", Some(0)));
    insta::assert_snapshot!("screen_with_something_covered", out);
    let (out, _, _) = screen_of(&dump, true);
    let look: serde_json::Value = serde_json::from_str(&out).unwrap();
    insta::assert_json_snapshot!("screen_with_something_covered_json", look);
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

/// The pictures and looks of the demo, and of the agent's run inside, by name; what holds times stays out.
fn kept(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut kept = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if path.is_dir() {
            // The folder of the agent's run is named after the time.
            kept.extend(inside(&path));
        } else if name.ends_with(".png") || name.contains("look") {
            kept.insert(name, fs::read(&path).unwrap());
        }
    }
    kept
}

fn inside(folder: &Path) -> impl Iterator<Item = (String, Vec<u8>)> {
    kept(folder).into_iter().map(|(name, bytes)| (format!("run/{name}"), bytes))
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
