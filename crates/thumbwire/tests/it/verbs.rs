//! The verbs of the command line, as a user runs them.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
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

/// The commands whose help is a golden.
const VERBS: [&str; 39] = [
    "",
    "serve",
    "mcp install",
    "skill install",
    "run",
    "test",
    "demo",
    "eval",
    "studio",
    "screen",
    "devices",
    "doctor",
    "look",
    "tap",
    "type",
    "press",
    "scroll",
    "launch",
    "wait",
    "shot",
    "do",
    "session",
    "session call",
    "call",
    "tools",
    "app-tools",
    "app-tools lint",
    "app-tools list",
    "app-tools call",
    "app-tools trust",
    "phone",
    "node",
    "submit",
    "work",
    "fleet watch",
    "fleet demo",
    "trace",
    "trace to-flow",
    "completions",
];

#[test]
fn help_matches_snapshot() {
    for verb in VERBS {
        let arguments: Vec<&str> = verb.split_whitespace().chain(["--help"]).collect();
        let (out, _, code) = said(&run(&arguments));
        assert_eq!(code, Some(0));
        insta::assert_snapshot!(format!("help_{}", verb.replace(' ', "_")), out);
    }
}

#[test]
fn completions_and_manual_pages_have_every_command() {
    let folder = tempfile::tempdir().unwrap();
    let (_, err, code) = said(&run(&["man", folder.path().to_str().unwrap()]));
    assert_eq!((err.as_str(), code), ("", Some(0)));
    let scripts = ["bash", "elvish", "fish", "powershell", "zsh"];
    let scripts = scripts.map(|shell| said(&run(&["completions", shell])).0);
    for verb in VERBS.iter().filter(|verb| !verb.is_empty()) {
        let last = verb.split(' ').next_back().unwrap();
        for script in &scripts {
            assert!(script.contains(last), "{verb}: {script}");
        }
        let page = folder.path().join(format!("thumbwire-{}.1", verb.replace(' ', "-")));
        let page = fs::read_to_string(&page).unwrap_or_else(|e| panic!("{}: {e}", page.display()));
        assert!(page.contains(&format!("thumbwire {verb}").replace('-', "\\-")), "{page}");
        assert!(page.contains("\n.ad l\n"), "{page}");
    }
}

#[test]
fn fault_list_matches_snapshot() {
    let (out, _, code) = said(&run(&["phone", "--fault", "list"]));
    assert_eq!(code, Some(0));
    let page = include_str!("../../../../docs/virtual-phone.md");
    for name in out.lines().filter_map(|line| line.split([' ', ':']).next()) {
        assert!(page.contains(&format!("\n| `{name}` |")), "docs/virtual-phone.md lacks {name}");
    }
    insta::assert_snapshot!("faults_of_a_virtual_phone", out);
}

#[test]
fn devices_without_a_phone_says_what_to_do() {
    let (out, _, code) = said(&run(&["devices"]));
    assert_eq!(code, Some(0));
    assert!(out.contains("No phone is connected") && out.contains("--device virtual"), "{out}");
    let built_in: Vec<&str> = out.lines().rev().take(2).collect();
    let [ios, android] = built_in[..] else { panic!("{out}") };
    assert!(
        android.starts_with("virtual      Android  ") && android.ends_with("--device virtual`")
    );
    assert!(
        ios.starts_with("virtual-ios  iOS  ") && ios.ends_with("--device virtual-ios`"),
        "{out}"
    );
    let rows: serde_json::Value =
        serde_json::from_str(&said(&run(&["devices", "--json"])).0).unwrap();
    let rows = rows.as_array().unwrap().iter();
    let rows: Vec<_> = rows.map(|row| (row["id"].as_str().unwrap(), &row["built_in"])).collect();
    assert_eq!(rows, [("virtual", &true.into()), ("virtual-ios", &true.into())]);
}

/// docs/cli.md promises these. What the calls of a tool end with is below.
#[test]
fn exit_codes_are_the_same_for_all_commands() {
    let home = tempfile::tempdir().unwrap();
    let path = |name: &str| home.path().join(name).display().to_string();
    let flow = |name: &str, steps: &str| {
        let file = path(name);
        fs::write(&file, format!("appId: com.android.notes\n---\n{steps}\n")).unwrap();
        file
    };
    let passes = flow("passes.yaml", "- pressKey: home");
    let fails =
        flow("fails.yaml", "- assertVisible: { text: There is no such text, timeout: 100 }");
    let wrong = flow("wrong.yaml", "- prssKey: home");
    let goal = flow("goal.yaml", "- goal: Open Maps");
    let gives_up = path("gives-up.jsonl");
    fs::write(&gives_up, "{\"reply\": \"{\\\"status\\\": \\\"FAIL\\\"}\"}\n").unwrap();
    let waits = path("waits.jsonl");
    let wait = r#"{"calls": [{"name": "wait", "arguments": {"seconds": 0.1}}]}"#;
    fs::write(&waits, [wait; 9].join("\n")).unwrap();
    let (gives_up, waits) = (format!("scripted:{gives_up}"), format!("scripted:{waits}"));
    let out = path("out");
    let nowhere = path("nowhere");
    let virtual_run = ["run", "-d", "virtual", "-o", &out, "-q"];
    let check = |arguments: &[&str], code: i32| {
        let mut command = thumbwire();
        let output = command.env("XDG_STATE_HOME", home.path()).args(arguments).output().unwrap();
        let (out, err, found) = said(&output);
        assert_eq!(found, Some(code), "{arguments:?}: {out}{err}");
        let silent = out.is_empty() && err.is_empty();
        assert!(code == 0 || !silent, "{arguments:?}: a failure is explained");
    };
    let run = |rest: &[&str], code| check(&[&virtual_run, rest].concat(), code);
    for (flow, code) in [(&passes, 0), (&fails, 1), (&wrong, 2), (&goal, 5)] {
        // What a flow prints on standard error is its progress.
        let output =
            thumbwire().args(["test", "-d", "virtual", "-o", &out, flow]).output().unwrap();
        let (out, err, found) = said(&output);
        assert_eq!(found, Some(code), "{flow}: {out}{err}");
    }
    run(&["Open Maps", "-m", &gives_up], 1);
    run(&["Open Maps", "-m", &waits, "--max-steps", "2"], 4);
    run(&["Open Maps"], 2);
    run(&["Open Maps", "-m", "scripted:/nowhere"], 2);
    run(&["--resume", &nowhere, "-m", &gives_up], 2);
    check(&["run", "-d", "127.0.0.1:9", "Open Maps", "-m", &gives_up, "-o", &out], 3);

    check(&["call", "-d", "virtual", "mobile_press_key", r#"{"key":"back"}"#], 0);
    check(&["call", "-d", "127.0.0.1:9", "mobile_press_key", r#"{"key":"back"}"#], 3);
    check(&["devices"], 0);
    check(&["devices", "--nope"], 2);
    check(&["screen", "-d", "virtual"], 0);
    check(&["screen", "-d", "127.0.0.1:9"], 3);
    check(&["screen", "--file", &nowhere], 2);
    check(&["tools", "-t", "android"], 0);
    check(&["tools", "mobile_nope"], 2);
    check(&["doctor", "-d", "127.0.0.1:9"], 1);
    check(&["trace", "show", &nowhere], 2);
    check(&["trace", "show", home.path().to_str().unwrap()], 2);
    check(&["trace", "report", &nowhere], 2);
    check(&["eval", "--tasks", "nope"], 2);
    check(&["eval", "--policy", "idle", "--tasks", "notes-add", "--min-success", "1"], 1);
    check(&["phone", "--listen", "foo"], 2);
    check(&["phone", "--ios", "--listen", "foo"], 2);
    check(&["phone", "--listen", "192.0.2.1:1", "--allow-remote"], 2);
    check(&["serve", "--http", "foo"], 2);
    check(&["serve", "--audit", "/nowhere/audit"], 2);
    check(&["app-tools", "call", "com.none", "x", "-d", "virtual"], 3);
    check(&["config", "show"], 0);
    check(&[], 0);
    check(&["click"], 2);
    check(&["--help"], 0);
    check(&["--version"], 0);
}

#[test]
fn version_is_one_line_with_target_and_features() {
    for flag in ["-V", "--version"] {
        let (out, err, code) = said(&run(&[flag]));
        assert_eq!((err.as_str(), code), ("", Some(0)));
        let start = concat!("thumbwire ", env!("CARGO_PKG_VERSION"), " (");
        assert!(out.starts_with(start) && out.lines().count() == 1, "{out}");
        assert!(
            out.trim_end().ends_with("; agent, appium, eval, fleet, ios, studio, virtual-phone)"),
            "{out}"
        );
        assert!(out.contains(std::env::consts::ARCH), "{out}");
    }
}

#[test]
fn the_name_alone_says_what_to_do_next() {
    let (out, err, code) = said(&run(&[]));
    assert_eq!((err.as_str(), code), ("", Some(0)));
    insta::assert_snapshot!("name_alone", out);
}

#[test]
fn verbose_logs_more_than_the_environment_says() {
    let log = |flag: &[&str]| {
        let press = ["call", "--device", "virtual", "mobile_press_key", r#"{"key":"back"}"#];
        let mut command = thumbwire();
        let output = command.env("LOG_LEVEL", "off").args(press).args(flag).output().unwrap();
        said(&output).1
    };
    assert_eq!(log(&[]), "");
    assert!(log(&["-vv"]).contains(" DEBUG thumbwire_adb"));
}

/// A short flag means the same for every command, and a common flag has its short form everywhere.
#[test]
fn short_flags_are_consistent() {
    let short = [
        ("device", 'd'),
        ("model", 'm'),
        ("out", 'o'),
        ("json", 'j'),
        ("quiet", 'q'),
        ("toolset", 't'),
        ("verbose", 'v'),
        ("yes", 'y'),
        // Maestro's letter for the parameters of a flow.
        ("param", 'e'),
        ("help", 'h'),
        ("version", 'V'),
    ];
    for verb in VERBS {
        let arguments: Vec<&str> = verb.split_whitespace().chain(["--help"]).collect();
        let (help, _, _) = said(&run(&arguments));
        for line in help
            .lines()
            .map(str::trim_start)
            .filter(|line| line.starts_with('-') && !line.starts_with("- "))
        {
            let (shorts, longs) = line.split_once("--").unwrap_or((line, ""));
            let long = longs.split([' ', '=']).next().unwrap_or_default().trim_end_matches('.');
            let given = shorts.trim_matches(['-', ',', ' ']).chars().next();
            let expected = short.iter().find(|(name, _)| *name == long).map(|(_, short)| *short);
            assert_eq!(given, expected, "{verb}: {line}");
        }
    }
}

#[test]
fn exit_codes_distinguish_failures() {
    let check = |arguments: &[&str], code: i32, text: &str| {
        let (_, err, found) = said(&run(arguments));
        assert_eq!(found, Some(code), "{arguments:?}: {err}");
        assert!(err.contains(text), "{arguments:?}: {err}");
    };
    let on_virtual = |rest: &[&'static str]| [&["call", "--device", "virtual"], rest].concat();
    check(&on_virtual(&["mobile_press_key", r#"{"key":"back"}"#]), 0, "");
    check(&["click", "e12"], 2, "tip: a similar subcommand exists: 'tap'");
    check(&["doctr"], 2, "tip: some similar subcommands exist: 'do', 'doctor'");
    check(&on_virtual(&["mobile_press_key", r#"{"key":"any"}"#]), 2, "must be one of");
    check(&on_virtual(&["mobile_press_key", "back"]), 2, "one JSON object");
    check(&on_virtual(&["mobile_nope"]), 2, "Run `thumbwire tools`");
    check(&on_virtual(&["mobile_launch_app", r#"{"bundle_id":"x.y"}"#]), 3, "App not found: x.y");
    check(
        &on_virtual(&["mobile_launch_app", r#"{"bundle_id":"com.x-y"}"#]),
        2,
        "cannot be an app's id",
    );
    check(&["call", "mobile_take_screenshot"], 3, "no device selected");
    check(
        &["call", "--device", "127.0.0.1:9", "mobile_take_screenshot"],
        3,
        "Device not connected",
    );
    check(&["call", "--device", "virtual-ios", "mobile_press_key", r#"{"key":"home"}"#], 0, "");
    check(&["eval", "--platform", "ios", "--fault", "slow"], 2, "are for Android phones");
    check(&["phone", "--android", "3"], 2, "available: 4.4, 9, 11");
    check(&["phone", "--fault", "slwo"], 2, "unknown fault \"slwo\"; expected one of: offline, ");
    check(&["phone", "--app-pref", "com.android.notes=x"], 2, "expected PACKAGE:KEY=VALUE");
    check(
        &["phone", "--listen", "127.0.0.1:0", "--app-pref", "com.nope:a=b"],
        2,
        "no app \"com.nope\"",
    );
    check(&["frobnicate"], 2, "unrecognized subcommand");
}

#[test]
fn tool_of_another_toolset_is_named() {
    let (_, words, code) = said(&run(&["call", "press_key", "{}"]));
    let there = "add `--toolset android` or `--toolset ufo-action`";
    assert_eq!(code, Some(2));
    assert_eq!(words, format!("thumbwire: \"press_key\" belongs to another toolset; {there}\n"));
    let (_, words, _) = said(&run(&["call", "nope"]));
    assert!(words.contains("Run `thumbwire tools`"), "{words}");
}

#[test]
fn saved_dump_prints_as_snapshot() {
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/captures/uiautomator/");
    let dump = format!("{fixtures}free4g__window_dump.xml");
    let (out, err, code) = said(&run(&["screen", "--file", &dump]));
    assert_eq!(code, Some(0), "{err}");
    insta::assert_snapshot!("screen_of_a_dump", out);
    let (out, _, _) = said(&run(&["screen", "--json", "--file", &dump]));
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(json["nodes"].as_array().unwrap().len(), 30);

    assert_eq!(err, "");

    let (_, err, code) = said(&run(&["screen", "--file", &format!("{fixtures}../ORIGIN.md")]));
    assert_eq!(code, Some(2));
    assert!(err.contains("cannot read") && err.contains("ORIGIN.md"), "{err}");
    assert!(err.contains("no node tree found in"), "{err}");
    let (out, _, _) = said(&run(&["screen", "--device", "virtual"]));
    assert!(out.contains("\"Maps\" e"), "{out}");
}

#[test]
fn watched_screen_is_saved_to_an_empty_folder() {
    let folder = tempfile::tempdir().unwrap();
    let pictures = folder.path().join("pictures");
    let pictures = pictures.to_str().unwrap();
    let watch = ["screen", "--device", "virtual", "--screenshot-size", "200", "--watch", pictures];
    let mut child = thumbwire().args(watch).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    // It goes on until it is told to end.
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(line.contains("00001.jpeg  90x200"), "{line}");
    let picture = fs::read(Path::new(pictures).join("00001.jpeg")).unwrap();
    assert!(picture.starts_with(&[0xff, 0xd8]) && picture.ends_with(&[0xff, 0xd9]));
    let (out, err, code) = said(&run(&watch));
    assert_eq!((out.as_str(), code), ("", Some(2)), "{err}");
    assert!(err.contains("pictures is not empty: name another folder"), "{err}");
}

/// Runs `thumbwire screen --file -` with `dump` on standard input.
fn screen_of(dump: &str, json: bool) -> (String, String, Option<i32>) {
    let mut command = thumbwire();
    command.args(["screen", "--file", "-"]).args(json.then_some("--json"));
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().unwrap();
    child.stdin.take().unwrap().write_all(dump.as_bytes()).unwrap();
    said(&child.wait_with_output().unwrap())
}

#[test]
fn broken_dump_is_printed_as_far_as_possible() {
    let dump = "a warning\n<hierarchy rotation=\"0\">\
                <node class=\"a.Page\" text=\"Page\" bounds=\"[0,0][100,200]\">\
                <node class=\"a.Button\" text=\"lost\" bounds=\"[0,0][1,1]\" clickable=\"true\" text=\"twice\"/>\n\
                <node class=\"a.Label\" text=\"nowhere\" bounds=\"[a,0][1,1]\"/>\
                <node class=\"a.Button\" text=\"cut";
    let (out, err, code) = screen_of(dump, false);
    insta::assert_snapshot!("screen_of_a_broken_dump", format!("{out}--\n{err}"));
    assert_eq!(code, Some(0));
    let (out, err, code) = screen_of("ERROR: could not get idle state.\n", false);
    assert_eq!((out.as_str(), code), ("", Some(2)));
    assert!(err.contains("cannot read standard input") && err.contains("idle state"), "{err}");
}

#[test]
fn covered_nodes_are_marked_and_hidden_ones_omitted() {
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
    let snapshot: serde_json::Value = serde_json::from_str(&out).unwrap();
    insta::assert_json_snapshot!("screen_with_something_covered_json", snapshot);
}

#[test]
fn screenshot_of_a_call_goes_to_the_out_directory() {
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
fn invalid_variable_is_named_and_empty_one_ignored() {
    let devices = |name: &str, value: &str| {
        said(&thumbwire().arg("devices").env(name, value).output().unwrap())
    };
    let (_, err, code) = devices("LOG_LEVEL", "loud");
    assert_eq!(code, Some(2));
    assert!(err.contains("invalid LOG_LEVEL \"loud\""), "{err}");
    for name in ["LOG_LEVEL", "ADB_SERVER_SOCKET", "ANDROID_ADB_SERVER_PORT"] {
        let (_, err, code) = devices(name, "");
        assert_eq!(code, Some(0), "{name}: {err}");
    }
}

/// The screenshots and snapshots of the demo and of each step of the agent's run in it, by name.
/// Files with times are left out. So are the agent's other looks, because on a slow machine there
/// are more: it looks again before it acts on an old screen.
fn kept(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut kept = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if path.is_dir() {
            // The folder name of the agent's run contains the time.
            let is_run = name.starts_with("run-");
            let inside = if is_run { "run" } else { &*name };
            let files = self::kept(&path).into_iter();
            let files = files.filter(|(name, _)| !is_run || name.contains("_step"));
            kept.extend(files.map(|(name, bytes)| (format!("{inside}/{name}"), bytes)));
        } else if name.ends_with(".png") || name.contains("snapshot") {
            kept.insert(name, fs::read(&path).unwrap());
        }
    }
    kept
}

/// Each part of the demo fits on a screen of 80 columns and 24 lines, and all of it went well.
fn check_demo_output(text: &str, folder: &str) {
    let titles = ["1. ", "2. ", "3. ", "4. "];
    let mut lengths = vec![0; titles.len() + 1];
    let mut part = 0;
    for line in text.lines() {
        if titles.get(part).is_some_and(|title| line.starts_with(title)) {
            part += 1;
        }
        lengths[part] += 1;
        let is_path = line.trim_start().starts_with(folder);
        assert!(is_path || line.chars().count() <= 80, "{line}");
    }
    assert!(part == titles.len() && lengths.iter().all(|lines| *lines <= 24), "{lengths:?}");
    for doubt in ["ot verified", "ot checked", "\u{1b}"] {
        assert!(!text.contains(doubt), "{doubt}: {text}");
    }
    let text = text.replace(folder, "OUT");
    let time = regex_lite::Regex::new(r" *\b\d+(\.\d+)? (ms|s)\b").unwrap();
    let text = time.replace_all(&text, " TIME");
    let times = regex_lite::Regex::new(r"\d+\s+times").unwrap();
    let tokens = regex_lite::Regex::new(r"[\d,]+ tokens").unwrap();
    let text = times.replace_all(&text, "N times");
    insta::assert_snapshot!("demo", tokens.replace_all(&text, "N tokens"));
}

#[test]
fn two_demo_runs_give_identical_pixels() {
    let folder = tempfile::tempdir().unwrap();
    let runs: Vec<_> = ["one", "two"]
        .map(|name| folder.path().join(name))
        .into_iter()
        .map(|out| {
            let (said, err, code) = said(&run(&["demo", "--out", out.to_str().unwrap()]));
            assert_eq!(code, Some(0), "{said}{err}");
            check_demo_output(&said, out.to_str().unwrap());
            let index = out.join("index.html");
            assert!(said.trim_end().ends_with(index.to_str().unwrap()), "the page: {said}");
            kept(&out)
        })
        .collect();
    let pictures = runs[0].keys().filter(|name| name.ends_with(".png")).count();
    let looks = runs[0].keys().filter(|name| name.ends_with(".snapshot.json")).count();
    assert!(pictures >= 6 && looks >= 5, "{:?}", runs[0].keys());
    assert!(runs[0].keys().eq(runs[1].keys()), "{:?} {:?}", runs[0].keys(), runs[1].keys());
    let different: Vec<_> = runs[0]
        .iter()
        .filter(|(name, bytes)| runs[1][*name] != **bytes)
        .map(|(name, _)| name)
        .collect();
    assert!(different.is_empty(), "the same input gave different pixels or trees: {different:?}");
}
