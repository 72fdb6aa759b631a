//! What lint says: lines that editors and people read, or JSON.

use serde_json::{Value, json};
use thumbwire_mobile_mcp::{Mode, Place};

use super::super::super::live::{Ink, Tone, harmless};
use super::inspect::{Found, Inspected};

/// How far the second line of a finding stands from the edge.
const INDENT: usize = 4;

/// The lines of a file.
pub(super) fn file(one: &Inspected, mode: Mode, ink: Ink) -> String {
    let told = match &one.told {
        Ok(told) => told,
        Err(why) => {
            let words = vec![
                (Tone::Bold, format!("{}:", harmless(&one.file))),
                (Tone::Bad, "cannot be read:".to_owned()),
                (Tone::Plain, harmless(why)),
            ];
            return lines(ink, &words);
        }
    };
    let mut text = String::new();
    for found in &told.found {
        let fatal = found.finding.is_fatal(mode);
        let rule = found.finding.rule;
        let section = match rule.section() {
            "" => String::new(),
            section => format!("section {section}"),
        };
        let passes = if fatal { "" } else { "passes" };
        let about: Vec<_> =
            [section.as_str(), passes].into_iter().filter(|it| !it.is_empty()).collect();
        let mut words = vec![
            (Tone::Bold, format!("{}:", place(one, found))),
            (if fatal { Tone::Bad } else { Tone::Heed }, format!("{}:", rule.name())),
            (Tone::Plain, harmless(&found.finding.says)),
        ];
        if !about.is_empty() {
            words.push((Tone::Dim, format!("({})", about.join("; "))));
        }
        text.push_str(&lines(ink, &words));
    }
    let (fatal, passed) = one.counts(mode);
    let (tone, mark) = if fatal == 0 { (Tone::Good, "✓") } else { (Tone::Bad, "✗") };
    let words = vec![
        (tone, mark.to_owned()),
        (Tone::Bold, format!("{}:", harmless(&one.file))),
        (Tone::Plain, format!("{}, {}", told.about(), counted(fatal, passed, mode))),
    ];
    text.push_str(&lines(ink, &words));
    text
}

/// The line below several files.
pub(super) fn sum(seen: &[Inspected], mode: Mode, ink: Ink) -> String {
    let counts = seen.iter().map(|one| one.counts(mode));
    let (fatal, passed) = counts.fold((0, 0), |(a, b), (c, d)| (a + c, b + d));
    let unread = seen.iter().filter(|one| one.told.is_err()).count();
    let mut words = format!("{} files: {}", seen.len(), counted(fatal, passed, mode));
    if unread > 0 {
        words.push_str(&format!(", {unread} cannot be read"));
    }
    lines(ink, &vec![(Tone::Bold, words)])
}

fn counted(fatal: usize, passed: usize, mode: Mode) -> String {
    let mode = match mode {
        Mode::Strict => "by the specification",
        Mode::Lenient => "to agents",
    };
    match (fatal, passed) {
        (0, 0) => "nothing is wrong".into(),
        (0, passed) => format!("nothing is fatal {mode}, {passed} to mend"),
        (fatal, 0) => format!("{fatal} fatal {mode}"),
        (fatal, passed) => format!("{fatal} fatal {mode}, {passed} more to mend"),
    }
}

/// `FILE:LINE:COLUMN`; a compiled file knows lines alone, and a missing entry has no place.
fn place(one: &Inspected, found: &Found) -> String {
    let mut place = harmless(&one.file);
    if let Some(part) = &found.part {
        place.push_str(&format!("!{}", harmless(part)));
    }
    let Place { line, column } = found.finding.place;
    for number in [line, column].into_iter().take_while(|number| *number > 0) {
        place.push_str(&format!(":{number}"));
    }
    place
}

/// Words on a terminal of that width, the second line and the others a little in.
fn lines(ink: Ink, words: &Vec<(Tone, String)>) -> String {
    let narrower = Ink { width: ink.width.map(|width| width.saturating_sub(INDENT)), ..ink };
    let set = narrower.set(&(Tone::Plain, String::new()), words);
    set.join(&format!("\n{}", " ".repeat(INDENT))) + "\n"
}

/// A file as JSON.
pub(super) fn json(one: &Inspected, mode: Mode) -> Value {
    match &one.told {
        Err(why) => json!({ "file": one.file, "error": why }),
        Ok(told) => {
            let findings = told.found.iter().map(|found| {
                let Place { line, column } = found.finding.place;
                let known = |number: u32| (number > 0).then_some(number);
                json!({
                    "part": found.part,
                    "line": known(line),
                    "column": known(column),
                    "rule": found.finding.rule.name(),
                    "section": Some(found.finding.rule.section()).filter(|it| !it.is_empty()),
                    "fatal": found.finding.is_fatal(mode),
                    "says": found.finding.says,
                })
            });
            json!({
                "file": one.file,
                "kind": told.kind.name(),
                "package": told.package,
                "capabilities": told.capabilities,
                "fatal": one.is_fatal(mode),
                "findings": Value::from_iter(findings),
            })
        }
    }
}
