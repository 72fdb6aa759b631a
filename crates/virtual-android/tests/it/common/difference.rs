//! Goldens of releases: the newest one whole, each older one as its difference to the next newer.

use std::fmt::Write as _;

use similar::{Algorithm, DiffOp, capture_diff_slices};

/// A command and what it printed on one release.
pub struct Answer {
    pub command: String,
    pub printed: String,
}

/// The text of a release's golden: all answers of the newest one, and of 4.4, whose difference
/// would be longer; of the others what differs from the next newer release.
pub fn golden(release: &str, answers: &[Answer], newer: Option<&(&str, Vec<Answer>)>) -> String {
    match newer {
        Some((newer_release, newer)) if release != "4.4" => {
            let signs = format!("- only on {newer_release}, + only on {release}");
            format!(
                "Android {release} beside {newer_release}: {signs}\n\n{}",
                differences(newer, answers)
            )
        }
        _ => answers.iter().map(|it| format!("$ {}\n{}\n", it.command, it.printed)).collect(),
    }
}

/// Commands that print the same are omitted; the others must be the same commands.
fn differences(newer: &[Answer], older: &[Answer]) -> String {
    let mut out = String::new();
    assert_eq!(newer.len(), older.len());
    for (newer, older) in newer.iter().zip(older) {
        assert_eq!(newer.command, older.command);
        if newer.printed == older.printed {
            continue;
        }
        let _ = writeln!(out, "$ {}", newer.command);
        let newer: Vec<&str> = newer.printed.lines().collect();
        let older: Vec<&str> = older.printed.lines().collect();
        for operation in capture_diff_slices(Algorithm::Myers, &newer, &older) {
            if let DiffOp::Equal { len, .. } = operation {
                let _ = writeln!(out, "  … {len} equal");
                continue;
            }
            for line in &newer[operation.old_range()] {
                let _ = writeln!(out, "- {line}");
            }
            for line in &older[operation.new_range()] {
                let _ = writeln!(out, "+ {line}");
            }
        }
        out.push('\n');
    }
    out
}
