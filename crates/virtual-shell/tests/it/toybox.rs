//! Compares the phone's programs with the real ones: both must print the same and exit with the
//! same status.
//!
//! Android's programs are toybox's, and Debian packages that (0.8.9). What is not installed is
//! skipped, unless `THUMBWIRE_REQUIRE_REAL` is set. What the phone answers is a golden too, for
//! machines without them.

use crate::common::Machine;
use std::process::{Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;
use thumbwire_test_support::program;

/// How long a script may take on either side.
const MAX_TIME: Duration = Duration::from_secs(20);

/// Files that every script finds.
const FILES: &str = "umask 0; printf 'alpha 1\\nbeta 22\\ngamma 333\\nbeta 22\\n' > t; printf 'b\\na\\nc' > s; \
                     printf 'x,y,z\\n1,2,3\\nnone\\n' > c; mkdir -p d/e; printf 'abc\\n' > d/f; printf 'A\\n' > d/e/g; \
                     printf '\\001\\002hello\\000world!\\377\\n' > b; ";

/// Scripts for toybox's programs with what the phone prints. A line that begins with `$ ` and those
/// after it with `> ` are a script; `just bless` adds what a new one prints. Not here, because
/// Debian's version is alone with it: `head` and `tail` take an unknown option for a number, `grep
/// 'a\|b'` looks for the text `a|b`, `tail -n 0` prints everything, `ls FOLDER FILE` begins with an
/// empty line, and 127 is sometimes the status of a program that ends at once.
const TRANSCRIPT: &str = include_str!("snapshots/it__toybox__toybox.snap");

/// The scripts of [`TRANSCRIPT`].
fn scripts() -> Vec<String> {
    let mut scripts: Vec<String> = Vec::new();
    let mut in_script = false;
    for line in TRANSCRIPT.lines() {
        match (line.strip_prefix("$ "), line.strip_prefix("> "), scripts.last_mut()) {
            (Some(line), ..) => {
                scripts.push(line.to_owned());
                in_script = true;
            }
            (None, Some(line), Some(script)) if in_script => {
                script.push('\n');
                script.push_str(line);
            }
            _ => in_script = false,
        }
    }
    assert!(scripts.len() >= 560, "{}", scripts.len());
    scripts
}

/// Scripts as people write them, by people who had not seen this phone. Each is in a fresh folder.
const EVERYDAY: &str = include_str!("everyday.sh");

/// What begins each of those scripts, before its name.
const HEADING: &str = "#### ";

/// A script of [`TRANSCRIPT`] as it runs.
fn whole(script: &str) -> String {
    format!("{FILES}\n{{ {script}\n}} 2>&1")
}

#[tokio::test]
async fn programs_behave_as_in_toybox() {
    let scripts = scripts();
    compare(scripts.iter().map(|script| (script.as_str(), whole(script)))).await;
}

#[tokio::test]
async fn everyday_scripts_behave_as_on_a_real_phone() {
    let scripts: Vec<(&str, &str)> = EVERYDAY
        .split(HEADING)
        .skip(1)
        .map(|part| part.split_once('\n').expect("a heading and a script"))
        .collect();
    assert!(scripts.len() >= 300, "{}", scripts.len());
    let whole = |script: &str| format!("umask 022; exec 2>&1\n{script}");
    compare(scripts.iter().map(|(title, script)| (*title, whole(script)))).await;
}

#[tokio::test]
async fn programs_answer_as_recorded() {
    let machine = Machine::new();
    let mut text = String::new();
    for script in scripts() {
        let (status, out) = in_memory(&machine, &whole(&script)).await;
        let out = out.replace('\0', "\\0");
        let ambiguous = out.starts_with("> ") || out.lines().any(|line| line.starts_with("$ "));
        assert!(!ambiguous, "{script} prints what looks like a script: {out}");
        text.push_str(&format!("$ {}\n{out}", script.replace('\n', "\n> ")));
        if !out.is_empty() && !out.ends_with('\n') {
            text.push_str("[no newline]\n");
        }
        if status != 0 {
            text.push_str(&format!("[status {status}]\n"));
        }
    }
    insta::assert_snapshot!("toybox", text);
}

/// Runs scripts, each with its title, on both sides.
async fn compare<'a>(scripts: impl Iterator<Item = (&'a str, String)>) {
    if program("toybox").is_none() || program("mksh").is_none() {
        return;
    }
    let scripts: Vec<(&str, String)> = scripts.collect();
    let real = all_on_this_machine(&scripts);
    let machine = Machine::new();
    let mut different = Vec::new();
    for ((title, script), real) in scripts.iter().zip(real) {
        let ours = in_memory(&machine, script).await;
        if ours != real {
            different.push(format!("{title}\n    real  {real:?}\n    phone {ours:?}"));
        }
    }
    assert!(different.is_empty(), "{} differ:\n{}", different.len(), different.join("\n"));
}

fn on_path(program: &str) -> Option<std::path::PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())
        .map(|path| path.join(program))
        .find(|path| path.exists())
}

/// Runs scripts on all processors: starting programs takes most of the time.
fn all_on_this_machine(scripts: &[(&str, String)]) -> Vec<(i32, String)> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let part = scripts.len().div_ceil(threads).max(1);
    std::thread::scope(|scope| {
        let run = |part: &[(&str, String)]| -> Vec<(i32, String)> {
            part.iter().map(|(_, script)| on_this_machine(script)).collect()
        };
        let parts: Vec<_> =
            scripts.chunks(part).map(|part| scope.spawn(move || run(part))).collect();
        parts.into_iter().flat_map(|part| part.join().expect("all scripts ran")).collect()
    })
}

fn on_this_machine(script: &str) -> (i32, String) {
    let folder = TempDir::new().expect("a folder");
    let bin = folder.path().join("bin");
    std::fs::create_dir(&bin).expect("made");
    let link = |name: &str, real: std::path::PathBuf| {
        std::os::unix::fs::symlink(real, bin.join(name)).expect("linked");
    };
    link("sh", on_path("mksh").expect("found before"));
    if let Some(toybox) = on_path("toybox") {
        let names = Command::new(&toybox).output().expect("toybox runs").stdout;
        let names = String::from_utf8(names).expect("names");
        for name in names.split_whitespace().filter(|name| !name.starts_with('[')) {
            link(name, toybox.clone());
        }
    }
    let work = folder.path().join("work");
    std::fs::create_dir(&work).expect("made");
    let limit = MAX_TIME.as_secs().to_string();
    // Not toybox's, which says 127 of a program that ends at once.
    let output = Command::new(on_path("timeout").expect("part of any system"))
        .arg(limit)
        .arg(bin.join("sh"))
        .args(["-c", script])
        .current_dir(work)
        .env_clear()
        .envs([
            ("PATH", format!("{}:/usr/bin:/bin", bin.display()).as_str()),
            ("HOME", "/"),
            ("LC_ALL", "C.UTF-8"),
        ])
        .stdin(Stdio::null())
        .output()
        .expect("mksh runs");
    let text = String::from_utf8_lossy(&output.stdout);
    let text = text.replace(&*bin.to_string_lossy(), "/system/bin");
    let text = text.replace(&*folder.path().join("work").to_string_lossy(), "/data/local/tmp");
    let lines = text.split_inclusive('\n').filter_map(as_on_android);
    (output.status.code().unwrap_or(-1), lines.collect())
}

/// A line as Android's mksh (R59c) prints it. Debian's is a later one, which prints a letter before
/// its messages and has other words in some.
fn as_on_android(line: &str) -> Option<String> {
    let Some(message) = line.strip_prefix("E: ").or_else(|| line.strip_prefix("W: ")) else {
        return Some(line.to_owned());
    };
    for (later, own) in [("create", "create"), ("open", "open")] {
        if let Some((before, reason)) = message.split_once(&format!(": {later}: "))
            && let Some((shell, path)) = before.rsplit_once(": ")
        {
            return Some(format!("{shell}: can't {own} {path}: {reason}"));
        }
    }
    if let Some(before) = message.strip_suffix(": bad number: Invalid argument\n") {
        let number = before.rsplit_once(": ").map_or(before, |(_, number)| number);
        return Some(format!("{before}: bad number '{number}'\n"));
    }
    (!message.ends_with(": redirection failure\n")).then(|| message.to_owned())
}

async fn in_memory(machine: &Machine, script: &str) -> (i32, String) {
    let script = format!("cd /data/local/tmp; rm -rf * .[!.]*\n{script}");
    let ended = tokio::time::timeout(MAX_TIME, machine.all(&script)).await;
    ended.map_or_else(|_| (-1, "hangs".to_owned()), |(status, out, _)| (status, out))
}
