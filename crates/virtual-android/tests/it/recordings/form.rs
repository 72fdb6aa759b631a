//! When two answers have the same form.
//!
//! Numbers, addresses, dates and sizes never matter. Beyond that there are three kinds of answers:
//! a text (an error, a usage) has the same lines in the same order; a table has the same head and
//! the same kinds of rows; a report has the same headings and keys.

use std::collections::BTreeSet;
use std::fmt;

/// The kind of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Text,
    Table,
    Report,
}

/// Commands that print a table: what it shows depends on the phone, its form does not.
const TABLES: &[&str] = &[
    "cat /proc/meminfo",
    "df",
    "getprop",
    "ls -a -s /data/local/tmp",
    "netcfg",
    "netstat",
    "pm list libraries",
    "pm list packages",
    "pm list packages -f",
    "pm list packages -s",
    "ps",
    "ps -p",
    "ps -t",
];

/// Commands that print a report, whose values depend on the phone. What follows them may be any
/// argument.
const REPORTS: &[&str] = &[
    "cat /proc/cpuinfo",
    "content query",
    "dumpsys activity",
    "dumpsys battery",
    "dumpsys connectivity",
    "dumpsys cpuinfo",
    "dumpsys display",
    "dumpsys gfxinfo",
    "dumpsys input",
    "dumpsys input_method",
    "dumpsys -l",
    "dumpsys meminfo",
    "dumpsys package",
    "dumpsys power",
    "dumpsys wifi",
    "dumpsys window displays",
    "dumpsys window policy",
    "dumpsys window windows",
    "getevent",
    "ime list",
    "logcat -d",
    "lsof",
    "monkey -v",
    "pm dump",
    "top",
    "uiautomator dump /dev/tty",
    "vmstat",
];

/// The words of a date.
const DAYS_AND_MONTHS: [&str; 19] = [
    "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun", "Jan", "Feb", "Mar", "Apr", "May", "Jun",
    "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

/// Of the keys that either report has, the least share that both must have.
const SHARE: f64 = 0.9;

/// The outcome of a comparison.
#[derive(Debug)]
pub(crate) enum Match {
    Same,
    /// The first line that differs, recorded and ours.
    Line(String, String),
    /// The share of common keys, and one that only the recorded answer has, and one that only ours
    /// has.
    Keys(f64, Option<String>, Option<String>),
}

impl Match {
    pub(crate) const fn is_same(&self) -> bool {
        matches!(self, Self::Same)
    }
}

impl fmt::Display for Match {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Same => f.write_str("same"),
            Self::Line(theirs, ours) => write!(f, "recorded {theirs:?}, ours {ours:?}"),
            Self::Keys(share, theirs, ours) => {
                write!(f, "{:.0} % of the keys", share * 100.0)?;
                theirs.iter().try_for_each(|key| write!(f, ", lacks {key:?}"))?;
                ours.iter().try_for_each(|key| write!(f, ", only ours {key:?}"))
            }
        }
    }
}

impl Form {
    pub(crate) fn of(command: &str) -> Self {
        if TABLES.contains(&command) {
            return Self::Table;
        }
        let is_report = |prefix: &&str| {
            command
                .strip_prefix(*prefix)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
        };
        match REPORTS.iter().any(is_report) {
            true => Self::Report,
            false => Self::Text,
        }
    }

    pub(crate) fn compare(self, theirs: &str, ours: &str) -> Match {
        match self {
            Self::Text => {
                let lines = |text: &str| text.lines().map(steady).collect::<Vec<_>>();
                let (theirs, ours) = (lines(theirs), lines(ours));
                let count = theirs.len().max(ours.len());
                let line = |of: &[String], at: usize| of.get(at).cloned();
                (0..count)
                    .map(|at| (line(&theirs, at), line(&ours, at)))
                    .find(|(theirs, ours)| theirs != ours)
                    .map_or(Match::Same, |(theirs, ours)| {
                        let end = || "(end)".to_owned();
                        Match::Line(theirs.unwrap_or_else(end), ours.unwrap_or_else(end))
                    })
            }
            Self::Table => {
                // The head is a row like others where it has no numbers.
                let rows = |text: &str| text.lines().map(row).collect::<BTreeSet<_>>();
                let head = |text: &str| {
                    text.lines().next().map(steady).filter(|it| it.starts_with(char::is_uppercase))
                };
                let (of_theirs, of_ours) = (head(theirs), head(ours));
                if of_theirs != of_ours {
                    let text = |it: Option<String>| it.unwrap_or_default();
                    return Match::Line(text(of_theirs), text(of_ours));
                }
                shared(&rows(theirs), &rows(ours))
            }
            Self::Report => {
                let keys = |text: &str| text.lines().filter_map(key).collect::<BTreeSet<_>>();
                shared(&keys(theirs), &keys(ours))
            }
        }
    }
}

fn shared(theirs: &BTreeSet<String>, ours: &BTreeSet<String>) -> Match {
    let all = theirs.union(ours).count();
    let share = if all == 0 { 1.0 } else { theirs.intersection(ours).count() as f64 / all as f64 };
    match share >= SHARE {
        true => Match::Same,
        false => Match::Keys(
            share,
            theirs.difference(ours).next().cloned(),
            ours.difference(theirs).next().cloned(),
        ),
    }
}

/// A line with every number, address and size replaced by `#`, and runs of spaces inside it by one.
fn steady(line: &str) -> String {
    let indent = line.len() - line.trim_start().len();
    let mut text = line[..indent].to_owned();
    for (nth, word) in line.trim().split(' ').filter(|word| !word.is_empty()).enumerate() {
        if nth > 0 {
            text.push(' ');
        }
        let mut rest = if DAYS_AND_MONTHS.contains(&word) { "0" } else { word };
        while !rest.is_empty() {
            let hex = rest.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(rest.len());
            let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
            let length = if hex >= 7 && rest[..hex].contains(|c: char| c.is_ascii_digit()) {
                hex
            } else {
                digits
            };
            if length > 0 && rest.starts_with(|c: char| c.is_ascii_digit())
                || hex >= 7 && length == hex
            {
                text.push('#');
                rest = &rest[length..];
                rest = rest.strip_prefix(['K', 'M', 'G']).unwrap_or(rest);
            } else {
                let end = rest.chars().next().map_or(1, char::len_utf8);
                text.push_str(&rest[..end]);
                rest = &rest[end..];
            }
        }
    }
    text
}

/// The kinds of a row's cells: numbers and words, with the punctuation around them.
fn row(line: &str) -> String {
    // `[ro.build.id]: [KTU84Q]`
    if let Some((key, _)) = line.split_once("]: [") {
        return key[..1].to_owned();
    }
    let kinds = line.split_whitespace().map(|cell| {
        let cell =
            cell.split_once(':').filter(|(key, _)| key.len() > 2).map_or(cell, |(key, _)| key);
        match cell {
            cell if cell.starts_with('[') => "[]",
            cell if cell.trim_start_matches('-').starts_with(|c: char| c.is_ascii_digit()) => "#",
            _ => "word",
        }
    });
    // A name may have several words.
    let mut kinds: Vec<&str> = kinds.collect();
    kinds.dedup_by(|a, b| a == b && *a == "word");
    kinds.join(" ")
}

/// A word whose name of a class or package is replaced by `NAME`.
fn without_name(word: &str) -> String {
    let end = word.find(|c: char| "={:([\"/@".contains(c)).unwrap_or(word.len());
    let (name, rest) = word.split_at(end);
    match name.matches('.').count() > 1 && name.starts_with(char::is_alphabetic) {
        true => format!("NAME{rest}"),
        false => word.to_owned(),
    }
}

/// A report line's indentation, heading and keys, without values. `None` for a line without words.
fn key(line: &str) -> Option<String> {
    let indent = &line[..line.len() - line.trim_start().len()];
    let named: Vec<String> = line.trim().split(' ').map(without_name).collect();
    let steady = steady(&named.join(" "));
    let heading =
        steady.trim().split(['=', ':', '{', '[', '(', '"', '#']).next().unwrap_or_default();
    // A component or a package is a value, wherever it is.
    let heading = heading.split(' ').map(|word| match word.matches('.').count() {
        0 => word,
        _ if word.ends_with('.') => word,
        _ => "NAME",
    });
    let heading = heading.collect::<Vec<_>>().join(" ");
    // How deep a view lies depends on its app.
    let indent = if heading == "NAME" { "" } else { indent };
    (!heading.trim().is_empty()).then(|| format!("{indent}{}", heading.trim_end()))
}
