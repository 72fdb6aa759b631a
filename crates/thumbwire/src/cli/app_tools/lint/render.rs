//! Lint output: lines for people and editors, or JSON.

use serde_json::{Value, json};
use thumbwire_mobile_mcp::{Mode, SourcePosition};

use super::super::super::style::{LineStyle, Style, sanitize};
use super::report::{LintFinding, LintedFile};

/// Indentation of a finding's continuation lines.
const INDENT: usize = 4;

/// The findings and summary of a file.
pub(super) fn file(one: &LintedFile, mode: Mode, style: LineStyle) -> String {
    let out = match &one.report {
        Ok(report) => report,
        Err(reason) => {
            let words = vec![
                (Style::Bold, format!("{}:", sanitize(&one.file))),
                (Style::Bad, "cannot be read:".to_owned()),
                (Style::Plain, sanitize(reason)),
            ];
            return lines(style, &words);
        }
    };
    let mut text = String::new();
    for found in &out.found {
        let fatal = found.finding.is_fatal(mode);
        let rule = found.finding.rule;
        let section = match rule.section() {
            "" => String::new(),
            section => format!("section {section}"),
        };
        let passes = if fatal { "" } else { "not fatal" };
        let about: Vec<_> =
            [section.as_str(), passes].into_iter().filter(|it| !it.is_empty()).collect();
        let mut words = vec![
            (Style::Bold, format!("{}:", place(one, found))),
            (if fatal { Style::Bad } else { Style::Warning }, format!("{}:", rule.name())),
            (Style::Plain, sanitize(&found.finding.message)),
        ];
        if !about.is_empty() {
            words.push((Style::Dim, format!("({})", about.join("; "))));
        }
        text.push_str(&lines(style, &words));
    }
    let (fatal, passed) = one.counts(mode);
    let (tone, mark) = if fatal == 0 { (Style::Good, "✓") } else { (Style::Bad, "✗") };
    let words = vec![
        (tone, mark.to_owned()),
        (Style::Bold, format!("{}:", sanitize(&one.file))),
        (Style::Plain, format!("{}, {}", out.about(), counted(fatal, passed, mode))),
    ];
    text.push_str(&lines(style, &words));
    text
}

/// The summary of several files.
pub(super) fn sum(seen: &[LintedFile], mode: Mode, style: LineStyle) -> String {
    let counts = seen.iter().map(|one| one.counts(mode));
    let (fatal, passed) = counts.fold((0, 0), |(a, b), (c, d)| (a + c, b + d));
    let unread = seen.iter().filter(|one| one.report.is_err()).count();
    let mut text = format!("{} files: {}", seen.len(), counted(fatal, passed, mode));
    if unread > 0 {
        text.push_str(&format!(", {unread} cannot be read"));
    }
    lines(style, &vec![(Style::Bold, text)])
}

fn counted(fatal: usize, passed: usize, mode: Mode) -> String {
    let mode = match mode {
        Mode::Strict => "by the specification",
        Mode::Lenient => "for agents",
    };
    match (fatal, passed) {
        (0, 0) => "no findings".into(),
        (0, passed) => format!("none fatal {mode}, {passed} other"),
        (fatal, 0) => format!("{fatal} fatal {mode}"),
        (fatal, passed) => format!("{fatal} fatal {mode}, {passed} other"),
    }
}

/// `FILE:LINE:COLUMN`. A compiled file has only lines, and a missing entry has no position.
fn place(one: &LintedFile, found: &LintFinding) -> String {
    let mut place = sanitize(&one.file);
    if let Some(part) = &found.part {
        place.push_str(&format!("!{}", sanitize(part)));
    }
    let SourcePosition { line, column } = found.finding.position;
    for number in [line, column].into_iter().take_while(|number| *number > 0) {
        place.push_str(&format!(":{number}"));
    }
    place
}

/// Wraps words to the terminal's width, with continuation lines indented.
fn lines(style: LineStyle, words: &Vec<(Style, String)>) -> String {
    let narrower =
        LineStyle { width: style.width.map(|width| width.saturating_sub(INDENT)), ..style };
    let set = narrower.set(&(Style::Plain, String::new()), words);
    set.join(&format!("\n{}", " ".repeat(INDENT))) + "\n"
}

/// The report on a file as JSON.
pub(super) fn json(one: &LintedFile, mode: Mode) -> Value {
    match &one.report {
        Err(reason) => json!({ "file": one.file, "error": reason }),
        Ok(report) => {
            let findings = report.found.iter().map(|found| {
                let SourcePosition { line, column } = found.finding.position;
                let known = |number: u32| (number > 0).then_some(number);
                json!({
                    "entry": found.part,
                    "line": known(line),
                    "column": known(column),
                    "rule": found.finding.rule.name(),
                    "section": Some(found.finding.rule.section()).filter(|it| !it.is_empty()),
                    "fatal": found.finding.is_fatal(mode),
                    "message": found.finding.message,
                })
            });
            json!({
                "file": one.file,
                "kind": report.kind.name(),
                "package": report.package,
                "capabilities": report.capabilities,
                "fatal": one.is_fatal(mode),
                "findings": Value::from_iter(findings),
            })
        }
    }
}
