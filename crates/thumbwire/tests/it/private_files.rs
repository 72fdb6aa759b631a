//! What is written to files and logs: for its owner only, and without what was typed if that is
//! asked for.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::json;
use thumbwire_device::image::Pixels;
use thumbwire_device::{Format, Image};

use crate::support::{McpProcess, thumbwire};

const TYPED: &str = "hunter2-horse";

/// All files under a folder, with the folders.
fn all(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(all(&path));
        }
        found.push(path);
    }
    found.sort();
    found
}

/// Types into a field, looks, and takes a screenshot.
fn work(server: &mut McpProcess) {
    server.say("mobile_launch_app", json!({ "bundle_id": "com.android.settings" }));
    server.say("mobile_tap_element", json!({ "text": "Search settings" }));
    let typed = server.say("mobile_type", json!({ "text": TYPED, "clear": true }));
    assert!(typed.contains("typed 13 characters"), "{typed}");
    server.call("mobile_snapshot", json!({}));
    server.call("mobile_take_screenshot", json!({}));
}

fn recorded(flags: &[&str], folder: &Path) {
    let place = folder.display().to_string();
    let arguments = [&["--device", "virtual", "--trace", &place], flags].concat();
    let mut server = McpProcess::connected(&arguments);
    work(&mut server);
    server.close();
}

#[cfg(unix)]
#[test]
fn files_of_a_trace_are_their_owners_only() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = tempfile::tempdir().unwrap();
    let folder = home.path().join("new/trace");
    recorded(&[], &folder);
    let written = all(home.path());
    assert!(written.len() > 4, "{written:?}");
    for path in written {
        let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        let expected = if path.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(mode, expected, "{}", path.display());
    }
}

#[test]
fn redacted_trace_has_neither_typed_texts_nor_pictures() {
    let home = tempfile::tempdir().unwrap();
    let (open, redacted) = (home.path().join("open"), home.path().join("redacted"));
    recorded(&[], &open);
    recorded(&["--redact"], &redacted);
    let has_typed = |path: &PathBuf| {
        let bytes = fs::read(path).unwrap();
        bytes.windows(TYPED.len()).any(|part| part == TYPED.as_bytes())
    };
    assert!(all(&open).iter().any(has_typed), "the check finds nothing in an open trace");
    let files = all(&redacted);
    assert!(!files.iter().any(has_typed));
    let mut pictures = 0;
    for path in &files {
        let extension = path.extension().and_then(|it| it.to_str()).unwrap_or_default();
        let format = [Format::Png, Format::Jpeg, Format::Webp];
        let Some(format) = format.into_iter().find(|it| it.name() == extension) else { continue };
        let bytes = fs::read(path).unwrap().into();
        let pixels = Pixels::read(&Image { format, bytes }).unwrap();
        let (width, height) = (pixels.size().width as u32, pixels.size().height as u32);
        let grey = vec![0x80; (width * height * 3) as usize];
        assert!(Pixels::new(width, height, grey).unwrap() == pixels, "{}", path.display());
        pictures += 1;
    }
    assert!(pictures > 0, "{files:?}");
    let place = redacted.display().to_string();
    let shown = thumbwire().args(["trace", "show", &place]).output().unwrap();
    let text = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.status.success() && text.contains("[redacted]"), "{text}");
}

/// Programs start servers in folders like `/`.
#[test]
fn server_saves_files_in_the_state_directory_and_says_when_it_cannot() {
    let home = tempfile::tempdir().unwrap();
    let screenshot = |more: &[&str]| {
        let mut command = thumbwire();
        command.args(["serve", "--toolset", "android", "--device", "virtual"]).args(more);
        let command = command.current_dir("/").env("XDG_STATE_HOME", home.path());
        let mut server = McpProcess::spawn(command);
        server.initialize("2025-11-25");
        let said = server.say("take_screenshot", json!({ "filename": "a" }));
        server.close();
        serde_json::from_str::<serde_json::Value>(&said).unwrap()
    };
    let reply = screenshot(&[]);
    let place = home.path().join("thumbwire/out/assets/a.png");
    assert_eq!(reply["local_path"].as_str(), place.to_str(), "{reply}");
    assert!(place.is_file());
    let reply = screenshot(&["--out", "/proc"]);
    let error = reply["pull_error"].as_str().unwrap();
    assert!(error.contains("failed to write to /proc/assets: "), "{error}");
    assert!(error.contains("name another folder with `--out DIR`"), "{error}");
}

#[test]
fn typed_text_is_in_no_log_line() {
    let home = tempfile::tempdir().unwrap();
    let log = home.path().join("log");
    let mut command = thumbwire();
    command
        .args(["serve", "--device", "virtual", "--helper", "auto", "--allow", "all"])
        .env("LOG_LEVEL", "trace")
        .stderr(Stdio::from(fs::File::create(&log).unwrap()));
    let mut server = McpProcess::spawn(&mut command);
    server.initialize("2025-11-25");
    work(&mut server);
    server.say("mobile_set_clipboard", json!({ "text": TYPED }));
    server.say("mobile_type_keys", json!({ "text": TYPED }));
    server.close();
    let log = fs::read_to_string(&log).unwrap();
    assert!(log.contains("TRACE") || log.contains("DEBUG"), "nothing was logged: {log}");
    let lines: Vec<&str> = log.lines().filter(|line| line.contains(TYPED)).take(3).collect();
    assert!(lines.is_empty(), "{lines:#?}");
}

#[test]
fn virtual_phone_is_not_offered_to_other_computers_by_accident() {
    for place in ["0.0.0.0:0", "[::]:0"] {
        let output = thumbwire().args(["phone", "--listen", place]).output().unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{text}");
        let expected = format!(
            "thumbwire: other computers could connect to {place}; listen on 127.0.0.1, or add --allow-remote\n"
        );
        assert_eq!(text, expected);
    }
}
