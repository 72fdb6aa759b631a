//! Suites over time: runs of flows and evaluations of the same name, how many passed in each.
//!
//! Start with [`by_name`]. A run of flows has described itself in its folder
//! ([`SUITE`]); an evaluation is a file of results (docs/eval.md, "Results as JSON"), which is read
//! as a suite whose runs are its attempts.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Value, json};
use thumbwire_base::files::Folder;
use thumbwire_core::random;
use thumbwire_core::trace::report::{Pictures, SUITE, Suite, SuiteRun, Verdict, suite_page};

/// The largest description of a suite.
const MAX_BYTES: u64 = 16 << 20;

/// How many times of a suite are shown: the newest.
const MAX_TIMES: usize = 40;

/// An evaluation, as far as it is shown.
#[derive(Deserialize)]
struct Evaluation {
    policy: String,
    platform: String,
    faults: Vec<String>,
    started: String,
    attempts: Vec<Attempt>,
}

#[derive(Deserialize)]
struct Attempt {
    task: String,
    seed: u64,
    success: bool,
    reason: String,
    elapsed_ms: u64,
}

impl From<Evaluation> for Suite {
    fn from(evaluation: Evaluation) -> Self {
        let Evaluation { policy, platform, faults, started, attempts } = evaluation;
        let faults =
            if faults.is_empty() { String::new() } else { format!(", {}", faults.join(" ")) };
        let run = |attempt: Attempt| SuiteRun {
            name: format!("{}, seed {}", attempt.task, attempt.seed),
            verdict: if attempt.success { Verdict::Passed } else { Verdict::Failed },
            text: attempt.reason,
            duration_ms: attempt.elapsed_ms,
            ..SuiteRun::default()
        };
        Self {
            version: 1,
            title: format!("eval: {policy}, {platform}{faults}"),
            started,
            duration_ms: attempts.iter().map(|attempt| attempt.elapsed_ms).sum(),
            runs: attempts.into_iter().map(run).collect(),
            ..Self::default()
        }
    }
}

/// Whether a file may describe a suite.
pub(super) fn is_suite(file: &Path) -> bool {
    file.extension().is_some_and(|ending| ending == "json")
}

/// The suite that a file describes.
fn read(folder: &Path, file: &Path) -> Option<Suite> {
    let text = Folder::new(folder).read_text(file, MAX_BYTES).ok()?;
    if file.file_name().is_some_and(|name| name == SUITE) {
        return serde_json::from_str(&text).ok();
    }
    serde_json::from_str::<Evaluation>(&text).ok().map(Into::into)
}

/// The suites that these files describe, by name, each with its times, the oldest first.
pub(super) fn by_name(folder: &Path, files: &[PathBuf]) -> Vec<Value> {
    let mut suites: BTreeMap<String, Vec<(String, Value)>> = BTreeMap::new();
    for file in files {
        let (Some(suite), Some(id)) = (read(folder, file), file.to_str()) else { continue };
        let count = |verdict| suite.runs.iter().filter(|run| run.verdict == verdict).count();
        let time = json!({
            "id": id,
            "started": suite.started,
            "passed": count(Verdict::Passed),
            "flaky": count(Verdict::Flaky),
            "failed": count(Verdict::Failed),
            "skipped": count(Verdict::Skipped),
        });
        suites.entry(suite.title).or_default().push((suite.started, time));
    }
    let named = suites.into_iter().map(|(name, mut times)| {
        times.sort_by(|one, other| one.0.cmp(&other.0));
        let newest = times.len().saturating_sub(MAX_TIMES);
        let times = times.into_iter().skip(newest).map(|(_, time)| time);
        json!({ "name": name, "times": times.collect::<Vec<_>>() })
    });
    named.collect()
}

/// The report of a suite, as a page of its own; `None` if the file describes none.
pub(super) fn page(folder: &Path, file: &Path) -> Option<Result<String, String>> {
    let suite = read(folder, file)?;
    let inside = folder.join(file.parent()?);
    let page = |nonce: String| suite_page(&inside, &suite, Pictures::Embedded, &nonce);
    Some(random::hex::<16>().map(page))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suites_of_one_name_are_a_series_and_evaluations_are_suites() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, value: Value| {
            let file = folder.path().join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, value.to_string()).unwrap();
            PathBuf::from(name)
        };
        let suite = |started: &str, verdicts: &[&str]| {
            let run = |verdict: &&str| json!({ "name": "a", "verdict": verdict, "duration_ms": 5, "attempts": [] });
            let runs: Vec<Value> = verdicts.iter().map(run).collect();
            json!({ "version": 1, "title": "Notes", "started": started, "duration_ms": 9, "phones": [], "runs": runs })
        };
        let attempt = |success: bool| json!({ "task": "add", "seed": 1, "success": success, "reason": "", "elapsed_ms": 7, "steps": 3 });
        let files = [
            write("logs/b/suite.json", suite("2026-01-02", &["passed", "flaky"])),
            write("logs/a/suite.json", suite("2026-01-01", &["failed", "skipped"])),
            write(
                "results.json",
                json!({ "version": 1, "policy": "scripted", "platform": "android", "faults": [],
                "started": "2026-01-03", "attempts": [attempt(true), attempt(false)] }),
            ),
            write("package.json", json!({ "name": "other" })),
        ];
        let rows: Vec<String> = by_name(folder.path(), &files)
            .iter()
            .flat_map(|suite| {
                let times = suite["times"].as_array().unwrap();
                times.iter().map(|it| {
                    format!("{} {} {}/{}", suite["name"], it["id"], it["passed"], it["failed"])
                })
            })
            .collect();
        assert_eq!(
            rows,
            [
                r#""Notes" "logs/a/suite.json" 0/1"#,
                r#""Notes" "logs/b/suite.json" 1/0"#,
                r#""eval: scripted, android" "results.json" 1/1"#,
            ]
        );
        assert!(page(folder.path(), &files[2]).unwrap().unwrap().contains("add, seed 1"));
        assert!(page(folder.path(), &files[3]).is_none());
        assert!(page(folder.path(), Path::new("../x.json")).is_none());
    }
}
