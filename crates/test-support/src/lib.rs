//! What tests need from outside: captures of real phones, real programs, a private adb server.
//!
//! A test asks for it and returns early without it:
//!
//! ```ignore
//! let Some(adb) = program("adb") else { return };
//! ```
//!
//! Captures come in two sets: those in `fixtures/captures` are always there, and the others only
//! beside this repository. A test over a folder of captures runs on each set that is there
//! ([`capture_sets`]).
//!
//! `THUMBWIRE_REQUIRE_REAL` decides what a missing part means:
//!
//! | value | a missing part |
//! |---|---|
//! | unset | skips the test and prints `skipped: …` |
//! | `everyday` | fails the test; those of [`ONLY_IN_FULL`] are skipped, even if installed |
//! | `1` | fails the test, and long tests run at their full length ([`is_full`]) |
//!
//! `.ci/run` sets `everyday`, `.ci/run full` sets `1`; `.ci/parts` installs the parts into
//! `target/real`.
#![allow(clippy::print_stdout, reason = "reports skipped tests")]

mod captures;
mod golden;
mod nats;
mod private_adb;

pub use captures::{Capture, CaptureSet, capture, capture_sets, captured_files};
pub use golden::{assert_golden, update_golden};
pub use nats::NatsServer;
pub use private_adb::PrivateAdb;

use std::ffi::OsStr;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The parts that take minutes to install or to run, and whose tests seldom break: folders of
/// `target/real`, or names of programs.
pub const ONLY_IN_FULL: [&str; 7] =
    ["appium", "browser", "junit", "langchain", "models", "ocr", "scrcpy"];

/// How much has to be there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Required {
    Nothing,
    Everyday,
    Everything,
}

fn required() -> Required {
    match std::env::var("THUMBWIRE_REQUIRE_REAL").as_deref() {
        Ok("1") => Required::Everything,
        Ok("everyday") => Required::Everyday,
        Ok(other) if !other.is_empty() => {
            panic!("THUMBWIRE_REQUIRE_REAL is {other:?}; it can be 1 or everyday")
        }
        _ => Required::Nothing,
    }
}

/// Whether long tests run at their full length: more random walks, more processes.
pub fn is_full() -> bool {
    required() == Required::Everything
}

/// Reports that a part is missing: panics if it is required, else prints that the test is skipped.
///
/// For parts that the functions below do not know.
pub fn missing(part: &str, why: impl Display) {
    let skipped = match required() {
        Required::Nothing => true,
        Required::Everyday => ONLY_IN_FULL.contains(&part),
        Required::Everything => false,
    };
    assert!(skipped, "{part} is required: {why}");
    println!("skipped: {part}: {why}");
}

/// Whether the tests of a part run at all; prints why not.
fn is_wanted(part: &str) -> bool {
    let wanted = required() != Required::Everyday || !ONLY_IN_FULL.contains(&part);
    if !wanted {
        println!("skipped: {part}: only .ci/run full runs it");
    }
    wanted
}

fn workspace() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

/// A file or folder that `.ci/parts PART` installed into `target/real/PART`.
pub fn real(part: &str, path: &str) -> Option<PathBuf> {
    if !is_wanted(part) {
        return None;
    }
    let path = workspace().join("target/real").join(part).join(path);
    if path.exists() {
        return Some(path);
    }
    missing(part, format_args!("no {}; run .ci/parts {part}", path.display()));
    None
}

/// A program from the path, if it can be started.
pub fn program(name: &str) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&folders).map(|path| path.join(name)).find(|p| p.is_file());
    if found.is_none() {
        missing(name, "not in the path");
    }
    found
}

/// The Python with these modules that `.ci/parts PART` installed; else `python3` from the path, if
/// it has them.
pub fn python(part: &str, modules: &str) -> Option<PathBuf> {
    if !is_wanted(part) {
        return None;
    }
    let folder = workspace().join("target/real").join(part);
    let installed = ["bin/python", "python/bin/python"].map(|path| folder.join(path));
    let installed = installed.into_iter().find(|path| path.exists());
    let python = installed.unwrap_or_else(|| "python3".into());
    if succeeds(&python, ["-c", &format!("import {modules}")]) {
        return Some(python);
    }
    let (python, why) = (python.display(), format!("cannot import {modules}"));
    missing(part, format_args!("{python} {why}; run .ci/parts {part}"));
    None
}

/// Whether a program can be run and ends with status 0.
fn succeeds(program: &Path, arguments: impl IntoIterator<Item = impl AsRef<OsStr>>) -> bool {
    Command::new(program).args(arguments).output().is_ok_and(|output| output.status.success())
}

/// A string as one word of a POSIX shell: the simplest quoting, written apart from the product's so
/// that both cannot share a fault.
pub fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}
