//! Recorded runs on disk: listed, opened, compared.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde_json::{Value, json};
use thumbwire_core::random;
use thumbwire_core::trace::format::FILE;
use thumbwire_core::trace::{Trace, TraceEntry, report};

use super::suites;

/// How many runs are listed.
const MAX_RUNS: usize = 200;

/// How deep below the folder runs are looked for: those of a suite are in its folder.
const MAX_DEPTH: usize = 4;

/// The longest text of an entry that is compared, in characters.
const MAX_TEXT: usize = 300;

/// How many files are read that may describe a suite.
const MAX_SUITES: usize = 500;

/// What was found below a folder.
#[derive(Default)]
struct Found {
    /// The folders of runs, by the time of their last record.
    runs: Vec<(SystemTime, PathBuf)>,
    /// Files that may describe a suite.
    suites: Vec<PathBuf>,
}

/// The newest runs below a folder, and its suites.
pub(super) fn list(folder: &Path) -> Value {
    let mut found = Found::default();
    found.look(folder, Path::new(""), 0);
    found.runs.sort_by(|one, other| other.cmp(one));
    let rows = found.runs.into_iter().take(MAX_RUNS).filter_map(|(_, id)| row(folder, &id));
    json!({ "runs": rows.collect::<Vec<_>>(), "suites": suites::by_name(folder, &found.suites) })
}

impl Found {
    fn look(&mut self, folder: &Path, below: &Path, depth: usize) {
        let Ok(entries) = fs::read_dir(folder.join(below)) else { return };
        for entry in entries.flatten() {
            let id = below.join(entry.file_name());
            // Links may lead anywhere.
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => {}
                Ok(kind) if kind.is_file() && suites::is_suite(&id) => {
                    self.suites.extend((self.suites.len() < MAX_SUITES).then_some(id));
                    continue;
                }
                _ => continue,
            }
            match fs::symlink_metadata(folder.join(&id).join(FILE)) {
                Ok(trace) if trace.is_file() => {
                    self.runs.push((trace.modified().unwrap_or(SystemTime::UNIX_EPOCH), id));
                }
                _ if depth < MAX_DEPTH => self.look(folder, &id, depth + 1),
                _ => {}
            }
        }
    }
}

/// A run that can be read, as the page lists it.
fn row(folder: &Path, id: &Path) -> Option<Value> {
    let trace = Trace::open(&folder.join(id)).ok()?;
    let goal = trace.goals.first().map(|goal| goal.request.clone());
    let case = trace.case.as_ref().map(|case| case.case.clone());
    let kind = match (&case, &goal) {
        (Some(_), _) => "flow",
        (None, Some(_)) => "agent",
        (None, None) => "calls",
    };
    let (status, is_good) = match (&trace.case, &trace.ended) {
        (Some(case), _) if case.passed => ("passed".to_owned(), Some(true)),
        (Some(_), _) => ("failed".to_owned(), Some(false)),
        (None, Some((status, _))) => (status.to_lowercase(), Some(status == "FINISH")),
        (None, None) => ("recorded".to_owned(), None),
    };
    let name = case.or(goal).unwrap_or_else(|| id.display().to_string());
    let ends = trace.entries.iter().map(|entry| entry.at_ms() + entry.duration_ms());
    Some(json!({
        "id": id.to_str()?,
        "name": name,
        "kind": kind,
        "started": trace.started,
        "status": status,
        "ok": is_good,
        "steps": trace.entries.len(),
        "ms": ends.max().unwrap_or_default(),
    }))
}

/// The run with this id, which the page got from the list.
///
/// # Errors
/// If there is none.
fn open(folder: &Path, id: &str) -> Result<Trace, String> {
    Trace::open_inside(folder, path_of(id)?).map_err(|_| format!("run {id:?} not found"))
}

fn path_of(id: &str) -> Result<&Path, String> {
    let path = Path::new(id);
    let is_inside = path.components().all(|part| matches!(part, std::path::Component::Normal(_)));
    (is_inside && !id.is_empty()).then_some(path).ok_or_else(|| format!("run {id:?} not found"))
}

/// The report of a run or of a suite, as a page of its own.
///
/// # Errors
/// If there is no such run.
pub(super) fn page(folder: &Path, id: &str) -> Result<String, String> {
    let path = path_of(id)?;
    if suites::is_suite(path) {
        return suites::page(folder, path)
            .unwrap_or_else(|| Err(format!("suite {id:?} not found")));
    }
    let trace = open(folder, id)?;
    Ok(report::page(&trace, &random::hex::<16>()?))
}

/// Two runs side by side, entry by entry.
///
/// # Errors
/// If there is no such run.
pub(super) fn compare(folder: &Path, one: &str, other: &str) -> Result<Value, String> {
    let (one, other) = (open(folder, one)?, open(folder, other)?);
    let texts = |trace: &Trace| -> Vec<(String, u64)> {
        trace.entries.iter().map(|entry| (text(entry), entry.duration_ms())).collect()
    };
    let rows = aligned(&texts(&one), &texts(&other));
    Ok(json!({ "rows": rows }))
}

/// What an entry did, in a line.
fn text(entry: &TraceEntry) -> String {
    let named = entry.named.as_ref().map(|step| step.name.clone());
    let actions = entry.actions.iter().map(|action| action.action.to_string());
    let text = named.unwrap_or_else(|| actions.collect::<Vec<_>>().join("; "));
    let text = match entry.failed() {
        true => format!("{text} (failed)"),
        false => text,
    };
    thumbwire_base::truncate(&text, MAX_TEXT)
}

/// The rows of both, the same ones beside each other: a longest common subsequence.
fn aligned(one: &[(String, u64)], other: &[(String, u64)]) -> Vec<Value> {
    let mut lengths = vec![vec![0_u32; other.len() + 1]; one.len() + 1];
    for a in (0..one.len()).rev() {
        for b in (0..other.len()).rev() {
            lengths[a][b] = match one[a].0 == other[b].0 {
                true => lengths[a + 1][b + 1] + 1,
                false => lengths[a + 1][b].max(lengths[a][b + 1]),
            };
        }
    }
    let (mut a, mut b, mut rows) = (0, 0, Vec::new());
    while a < one.len() || b < other.len() {
        let (left, right) = (one.get(a), other.get(b));
        let is_same = left.zip(right).is_some_and(|(left, right)| left.0 == right.0);
        let takes_left = is_same
            || right.is_none()
            || (left.is_some() && lengths[a + 1][b] >= lengths[a][b + 1]);
        let left = left.filter(|_| takes_left);
        let right = right.filter(|_| is_same || !takes_left);
        a += usize::from(left.is_some());
        b += usize::from(right.is_some());
        rows.push(json!({
            "a": left.map(|row| &row.0), "b": right.map(|row| &row.0), "same": is_same,
            "a_ms": left.map(|row| row.1), "b_ms": right.map(|row| row.1),
        }));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_entries_are_beside_each_other() {
        let rows = |texts: &[&str]| -> Vec<(String, u64)> {
            texts.iter().map(|text| ((*text).to_owned(), 1)).collect()
        };
        let rows = aligned(&rows(&["a", "b", "c"]), &rows(&["a", "x", "c", "d"]));
        let rows: Vec<String> = rows
            .iter()
            .map(|row| {
                let side = |key: &str| row[key].as_str().unwrap_or("-").to_owned();
                format!("{}{}", side("a"), side("b"))
            })
            .collect();
        assert_eq!(rows, ["aa", "b-", "-x", "cc", "-d"]);
    }

    #[test]
    fn only_runs_below_the_folder_are_opened() {
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path().join("logs/run-1");
        thumbwire_core::trace::Recorder::begin(&run, "2026-01-01T00:00:00Z".into()).unwrap();
        let runs = list(folder.path());
        assert_eq!(runs["runs"][0]["id"], "logs/run-1");
        assert_eq!(runs["runs"][0]["kind"], "calls");
        assert!(page(folder.path(), "logs/run-1").unwrap().contains("<html"));
        for id in ["", "..", "../x", "/etc", "logs/../../x", "logs/run-2"] {
            assert!(page(folder.path(), id).is_err(), "{id}");
        }
    }
}
