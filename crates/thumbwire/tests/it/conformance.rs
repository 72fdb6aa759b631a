//! MCP's official conformance suite against our HTTP server, in each revision that it knows.
//!
//! `.ci/parts conformance` installs it. What is expected to fail
//! is in `tests/conformance/REVISION.yml`: the suite itself fails if one of these passes, or
//! another one fails.

use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use thumbwire_test_support::real;

use tokio::process::Command;

use crate::asking_support::NoPhone;
use crate::conformance_toolset;
use crate::http_support::Served;

/// The revisions, each with the least number of checks that pass.
const REVISIONS: [(&str, u32); 3] = [("2025-06-18", 52), ("2025-11-25", 66), ("2026-07-28", 128)];

/// The scenarios of the extension for tasks. Not `tasks-required-task-error` and
/// `tasks-mrtr-composition`: SEP-2663, "Required Capabilities", speaks of a server that is "unable
/// to service a request" without a task, and all our tools can do without.
/// `tasks-status-notifications` tests nothing yet.
const OF_TASKS: [&str; 7] = [
    "tasks-lifecycle",
    "tasks-capability-negotiation",
    "tasks-wire-fields",
    "tasks-request-state-removal",
    "tasks-mrtr-input",
    "tasks-request-headers",
    "tasks-dispatch-and-envelope",
];

#[tokio::test]
async fn official_suite_passes() {
    let Some(folder) = real("conformance", "node_modules") else { return };
    let suite = folder.join("@modelcontextprotocol/conformance/dist/index.js");
    let server = Served::of(conformance_toolset::toolset(), Arc::new(NoPhone)).await;
    let url = format!("http://{}/mcp", server.address);
    let excluded = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance");
    let mut wrong = Vec::new();
    for (revision, least) in REVISIONS {
        let out = tempfile::tempdir().unwrap();
        let output = Command::new(folder.join(".bin/node"))
            .arg(&suite)
            .args(["server", "--url", &url, "--suite", "all", "--spec-version", revision])
            .arg("--expected-failures")
            .arg(excluded.join(format!("{revision}.yml")))
            .arg("-o")
            .arg(out.path())
            .stdin(Stdio::null())
            .output()
            .await
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        let summary = said.split_once("=== SUMMARY ===").map_or(&*said, |(_, summary)| summary);
        let errors = String::from_utf8_lossy(&output.stderr);
        let total = said.lines().rev().find_map(|line| line.strip_prefix("Total: "));
        let passed = total.and_then(|total| total.split(' ').next()?.parse::<u32>().ok());
        println!("conformance {revision}: {}", total.unwrap_or_default());
        if !output.status.success() || passed.is_none_or(|passed| passed < least) {
            wrong.push(format!("{revision}, at least {least}: {summary}\n{errors}"));
        }
    }
    for scenario in OF_TASKS {
        let out = tempfile::tempdir().unwrap();
        let output = Command::new(folder.join(".bin/node"))
            .arg(&suite)
            .args(["server", "--url", &url, "--scenario", scenario, "-o"])
            .arg(out.path())
            .stdin(Stdio::null())
            .output()
            .await
            .unwrap();
        if !output.status.success() {
            wrong.push(format!("{scenario}: {}", String::from_utf8_lossy(&output.stdout)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Each exclusion says which line of the specification lets us leave it out.
#[test]
fn each_exclusion_has_its_reason() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance");
    for (revision, _) in REVISIONS {
        let text = std::fs::read_to_string(folder.join(format!("{revision}.yml"))).unwrap();
        let (mut reason, mut excluded) = (String::new(), 0);
        for line in text.lines().map(str::trim).filter(|line| *line != "server:") {
            match line.strip_prefix("# ") {
                Some(comment) if excluded == 0 => reason.push_str(comment),
                Some(comment) => (reason, excluded) = (comment.to_owned(), 0),
                None => {
                    excluded += 1;
                    let has_quote = reason.matches('"').count() >= 2;
                    assert!(line.starts_with("- ") && has_quote, "{revision}: {line}: {reason}");
                }
            }
        }
    }
}
