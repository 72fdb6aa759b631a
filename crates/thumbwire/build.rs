//! Tells the program its commit and target, for `thumbwire --version`.
//!
//! The commit is that of the repository which this file is in; a packaged crate has it in
//! `.cargo_vcs_info.json`. Without either it is empty, and the build goes on. It runs again only
//! when the commit changes.

use std::path::Path;
use std::process::Command;

/// Enough of a commit to find it.
const LENGTH: usize = 8;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = std::env::var("TARGET").unwrap_or_default();
    println!("cargo::rustc-env=THUMBWIRE_TARGET={target}");
    let commit = packaged().or_else(checked_out).unwrap_or_default();
    let commit: String = commit.chars().filter(char::is_ascii_hexdigit).take(LENGTH).collect();
    println!("cargo::rustc-env=THUMBWIRE_COMMIT={commit}");
}

/// The commit that `cargo package` noted.
fn packaged() -> Option<String> {
    let noted = std::fs::read_to_string(".cargo_vcs_info.json").ok()?;
    let (_, hash) = noted.split_once("\"sha1\":")?;
    hash.split('"').nth(1).map(str::to_owned)
}

/// The commit that is checked out here.
fn checked_out() -> Option<String> {
    // Another project's repository may contain these files, as a dependency that it does not track.
    git(&["ls-files", "--error-unmatch", "build.rs"])?;
    let branch = git(&["rev-parse", "--symbolic-full-name", "HEAD"])?;
    // A file that is missing would make the script run every time.
    for file in ["HEAD", "logs/HEAD", "packed-refs", &branch] {
        let path = git(&["rev-parse", "--git-path", file])?;
        if Path::new(&path).exists() {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    git(&["rev-parse", "HEAD"])
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
