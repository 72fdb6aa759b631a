//! Goldens of releases: the newest one whole, each older one as its difference to the next newer.
//! What stands elsewhere takes one line: in a file of usages and tables, which the phone prints as
//! it is, or in an answer above.

use super::Wired;
use similar::{Algorithm, DiffOp, capture_diff_slices};
use std::ops::Range;
use std::path::Path;
use thumbwire_virtual_android::Setup;

/// How many lines that stand elsewhere are worth a reference.
const SHORTEST: usize = 4;

/// A command and what it printed on one release.
#[derive(Clone)]
struct Answer {
    command: String,
    lines: Vec<String>,
}

/// Each release with the text of its golden. The commands are those of the newest release's golden:
/// the lines that begin with `$ `. `steady` replaces what changes when apps do.
pub async fn goldens(newest: &str, steady: fn(&str) -> String) -> Vec<(&'static str, String)> {
    let commands: Vec<_> = newest.lines().filter_map(|line| line.strip_prefix("$ ")).collect();
    assert!(!commands.is_empty(), "the golden of the newest release has no command");
    let files = files();
    let mut goldens = Vec::new();
    let mut newer: Option<(&str, Vec<Answer>)> = None;
    for release in Setup::releases().collect::<Vec<_>>().into_iter().rev() {
        let wired = Wired::made(Setup::of_release(release).expect("it is there"));
        let mut answers = Vec::new();
        for command in &commands {
            let command = on_release(release, command);
            let lines = steady(&printed(&wired, &command).await);
            answers.push(Answer { command, lines: lines.lines().map(str::to_owned).collect() });
        }
        goldens.push((release, golden(release, &answers, newer.as_ref(), &files)));
        newer = Some((release, answers));
    }
    goldens
}

/// A command as that release has it: a number means another thing to each `vmstat`.
fn on_release(release: &str, command: &str) -> String {
    let old = release == "4.4" && command == "vmstat 1 1";
    if old { "vmstat -n 1" } else { command }.to_owned()
}

/// Both outputs and the status, with errors and a failure marked.
async fn printed(wired: &Wired, command: &str) -> String {
    let output = wired.run(command).await;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace("\r\n", "\n");
    let errors: String = text(&output.stderr).lines().map(|line| format!("! {line}\n")).collect();
    let status = output.status.filter(|&status| status != 0);
    let status = status.map_or(String::new(), |status| format!("= {status}\n"));
    format!("{}{errors}{status}", text(&output.stdout))
}

/// The text of a release's golden: all answers of the newest one, of the others those that differ
/// from the next newer release.
fn golden(
    release: &str,
    answers: &[Answer],
    newer: Option<&(&str, Vec<Answer>)>,
    files: &[Source],
) -> String {
    let (mut text, answers) = match newer {
        Some((newer_release, newer)) => (
            format!(
                "Android {release} beside {newer_release}: - only on {newer_release}, + only on {release}, or the whole answer\n\n"
            ),
            differences(newer, answers),
        ),
        None => (String::new(), answers.to_vec()),
    };
    let mut known = files.to_vec();
    for Answer { command, lines } in answers {
        text.push_str(&format!("$ {command}\n"));
        let mut rest = &lines[..];
        while let Some((first, others)) = rest.split_first() {
            if let Some((name, place)) = longest(rest, &known) {
                let (first, last) = (place.start + 1, place.end);
                text.push_str(&format!("  … lines {first} to {last} of {name}\n"));
                rest = &rest[place.len()..];
            } else {
                text.push_str(&format!("{first}\n"));
                rest = others;
            }
        }
        text.push('\n');
        known.push(Source { name: format!("`{command}`"), lines });
    }
    text
}

/// The answers that differ, with the lines that do; whole where that is shorter.
fn differences(newer: &[Answer], older: &[Answer]) -> Vec<Answer> {
    assert_eq!(newer.len(), older.len());
    let both = newer.iter().zip(older).filter(|(newer, older)| newer.lines != older.lines);
    both.map(|(newer, older)| {
        let changed = changed_lines(&newer.lines, &older.lines);
        let shorter = if changed.len() > older.lines.len() { &older.lines } else { &changed };
        Answer { command: older.command.clone(), lines: shorter.clone() }
    })
    .collect()
}

fn changed_lines(newer: &[String], older: &[String]) -> Vec<String> {
    let mut lines = Vec::new();
    for operation in capture_diff_slices(Algorithm::Myers, newer, older) {
        if let DiffOp::Equal { len, .. } = operation {
            lines.push(format!("  … {len} equal"));
            continue;
        }
        lines.extend(newer[operation.old_range()].iter().map(|line| format!("- {line}")));
        lines.extend(older[operation.new_range()].iter().map(|line| format!("+ {line}")));
    }
    lines
}

/// Lines that a golden refers to.
#[derive(Clone)]
struct Source {
    name: String,
    lines: Vec<String>,
}

/// The longest beginning of `lines` that is in one of `known`, and where.
fn longest<'a>(lines: &[String], known: &'a [Source]) -> Option<(&'a str, Range<usize>)> {
    let mut best: Option<(&str, Range<usize>)> = None;
    for source in known {
        for start in 0..source.lines.len() {
            let count =
                lines.iter().zip(&source.lines[start..]).take_while(|(a, b)| a == b).count();
            if count >= SHORTEST && best.as_ref().is_none_or(|(_, most)| count > most.len()) {
                best = Some((&source.name, start..start + count));
            }
        }
    }
    best
}

/// The files of usages and tables, as they are and as a difference shows them.
fn files() -> Vec<Source> {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut sources = Vec::new();
    for folder in ["virtual-android/src/programs/words", "virtual-android-system/src/words"] {
        let folder = crates.join(folder);
        let mut folders = vec![folder.clone()];
        while let Some(next) = folders.pop() {
            let entries = std::fs::read_dir(next).expect("the phone's words");
            let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
            paths.sort();
            for path in paths {
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                let text = std::fs::read_to_string(&path).expect("text");
                let path = path.strip_prefix(&folder).expect("inside").display().to_string();
                for (sign, mark) in [("", ""), ("- ", "-"), ("+ ", "+")] {
                    let lines = text.lines().map(|line| format!("{sign}{line}")).collect();
                    sources.push(Source { name: format!("{mark}words/{path}"), lines });
                }
            }
        }
    }
    sources
}
