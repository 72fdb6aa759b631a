//! `grep`, with toybox's texts.

use super::Invocation;
use super::options::{ALL, Failure, Lines, Options, Outcome};
use super::regex::Matcher;
use crate::files::{Error, FileType};
use crate::io::{Abort, Input};
use crate::sh::glob::Glob;
use std::collections::VecDeque;

/// Maximum depth of `grep -r`.
const MAX_DEPTH: usize = 64;

/// Maximum lines before a match that `-B` and `-C` keep.
const MAX_BEFORE: usize = 1_000;

/// Long options and the short ones that mean the same. An option without a letter has a digit.
const LONG: &[(&str, char)] = &[
    ("line-buffered", '1'),
    ("color", '2'),
    ("exclude", 'S'),
    ("include", 'M'),
    ("byte-offset", 'b'),
    ("no-filename", 'h'),
    ("only-matching", 'o'),
    ("count", 'c'),
    ("files-without-match", 'L'),
    ("files-with-matches", 'l'),
    ("quiet", 'q'),
    ("silent", 'q'),
];

/// A search: what to look for, and what to print.
struct Search<'a> {
    call: &'a Invocation,
    options: Options,
    patterns: Vec<Matcher>,
    before: usize,
    after: usize,
    max_matches: u64,
    /// Whether a line names its file.
    named: bool,
    found: bool,
    failed: bool,
}

/// `grep [-EFHIabhilnoqrRsvwcLlxz] [-A|-B|-C LINES] [-m MATCHES] [-f FILE] [-e] REGEX… [FILE…]`.
/// Patterns that refer back to their own groups are refused.
pub(super) async fn grep(call: &Invocation) -> Outcome {
    let known = "zEFHIabhinorRsvwcLlqxe:f:C:B:A:m:S:M:";
    let kind = match call.name.as_str() {
        "egrep" => Some("-E".to_owned()),
        "fgrep" => Some("-F".to_owned()),
        _ => None,
    };
    let args: Vec<String> = kind.into_iter().chain(call.args.iter().cloned()).collect();
    let mut options = Options::read(&args, known, LONG)?;
    let number = |letter| {
        let value = options.number(letter)?;
        Ok::<_, Failure>(value.map(|n| usize::try_from(n).unwrap_or(usize::MAX)))
    };
    let around = number('C')?;
    let (before, after) = (number('B')?.or(around), number('A')?.or(around));
    let max_matches = options.number('m')?.unwrap_or(u64::MAX);
    let mut texts: Vec<String> = options.values('e').map(str::to_owned).collect();
    for path in options.values('f') {
        let input =
            call.open(path).map_err(|reason| Failure::Message(format!("{path}: {reason}"), 2))?;
        let text = String::from_utf8_lossy(&input.all(ALL).await).into_owned();
        texts.extend(text.lines().map(str::to_owned));
    }
    if texts.is_empty() && !options.has('f') {
        if options.rest.is_empty() {
            return Err(Failure::Message("no REGEX".into(), 2));
        }
        texts.push(options.rest.remove(0));
    }
    let mut patterns = Vec::new();
    for text in texts.iter().flat_map(|text| text.split('\n')) {
        let (fixed, extended) = (options.has('F'), options.has('E'));
        let pattern = Matcher::new(text, fixed, extended, options.has('i'));
        let bad = || {
            let open = text.contains(['(', ')']) && extended;
            let why = if open { "Unmatched ( or \\(" } else { "Invalid regular expression" };
            Failure::Message(format!("bad regex '{text}': {why}"), 2)
        };
        patterns.push(pattern.ok_or_else(bad)?);
    }
    let deep = options.has('r') || options.has('R');
    let paths = match (options.rest.is_empty(), deep) {
        (true, true) => vec![".".to_owned()],
        (true, false) => vec!["-".to_owned()],
        (false, _) => std::mem::take(&mut options.rest),
    };
    let directory = |path: &String| {
        let full = call.path(path);
        let stat = call.system.with(|kernel| kernel.files.stat(&full, true));
        stat.is_ok_and(|stat| stat.kind == FileType::Directory)
    };
    let many = paths.len() > 1 || deep && paths.iter().any(directory);
    let named = options.has('H') || many && !options.has('h');
    let (before, after) = (before.unwrap_or(0), after.unwrap_or(0));
    let mut search = Search {
        call,
        options,
        patterns,
        before,
        after,
        max_matches,
        named,
        found: false,
        failed: false,
    };
    // The last first.
    let mut left: Vec<(String, usize)> = paths.into_iter().rev().map(|path| (path, 0)).collect();
    while let Some((path, depth)) = left.pop() {
        if deep && path != "-" {
            let full = call.path(&path);
            if let Ok(entries) = call.system.with(|kernel| kernel.files.list(&full)) {
                let base = path.trim_end_matches('/');
                let below = entries.into_iter().rev().filter(|_| depth < MAX_DEPTH);
                // Links below are not followed, except by `-R`.
                let below = below
                    .filter(|(_, stat)| search.options.has('R') || stat.kind != FileType::Link);
                left.extend(below.map(|(name, _)| (format!("{base}/{name}"), depth + 1)));
                continue;
            }
            if !search.wants(&path) {
                continue;
            }
        }
        if search.file(&path).await? {
            return Ok(0);
        }
    }
    Ok(if search.failed { 2 } else { i32::from(!search.found) })
}

impl Search<'_> {
    /// Whether `--include` and `--exclude` let a file below a folder through.
    fn wants(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        let fits = |pattern: &str| {
            Glob::new(&pattern.chars().map(|c| (c, false)).collect::<Vec<_>>()).matches(name)
        };
        let included = !self.options.has('M') || self.options.values('M').any(fits);
        included && !self.options.values('S').any(fits)
    }

    /// Searches a file; `true` if nothing more matters.
    async fn file(&mut self, path: &str) -> Result<bool, Abort> {
        match self.call.open(path) {
            Ok(input) => {
                let found = self.input(path, input).await?;
                self.found |= found;
                Ok(found && self.options.has('q'))
            }
            Err(reason) => {
                if !self.options.has('s') {
                    self.call.err(format!("{}: {path}: {reason}\n", self.call.name)).await;
                }
                // Without `-r`, a folder is skipped and does not change the exit status.
                self.failed |= reason != Error::IsADirectory;
                Ok(false)
            }
        }
    }

    /// Whether the start of a file is not text.
    async fn is_binary(&self, path: &str) -> bool {
        if self.options.has('a') || path == "-" {
            return false;
        }
        let Ok(input) = self.call.open(path) else { return false };
        let start = input.at_most(256).await;
        match std::str::from_utf8(&start) {
            Ok(text) => text.contains('\0'),
            // A character may be cut at the end.
            Err(error) => error.error_len().is_some() || start.contains(&0),
        }
    }

    /// The next match in a line from `from` on.
    fn next(&self, line: &str, from: usize) -> Option<(usize, usize)> {
        let mut start = from;
        loop {
            let places = self.patterns.iter().filter_map(|pattern| pattern.find(line, start));
            let (from, to) = places.min_by_key(|(from, to)| (*from, std::cmp::Reverse(*to)))?;
            let letter = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
            let fits = match (self.options.has('x'), self.options.has('w')) {
                (true, _) => from == 0 && to == line.len(),
                (_, true) => {
                    !letter(line[..from].chars().next_back()) && !letter(line[to..].chars().next())
                }
                _ => true,
            };
            if fits {
                return Some((from, to));
            }
            if self.options.has('x') {
                return None;
            }
            start = from + line[from..].chars().next()?.len_utf8();
        }
    }

    /// What precedes a line: its file, its number and its place.
    fn label(&self, name: &str, mark: char, number: u64, offset: u64) -> String {
        let mut label = String::new();
        if self.named {
            label += &format!("{name}{mark}");
        }
        if self.options.has('n') {
            label += &format!("{number}{mark}");
        }
        if self.options.has('b') {
            label += &format!("{offset}{mark}");
        }
        label
    }

    /// Searches an input; `true` if it has what is looked for.
    async fn input(&self, path: &str, input: Input) -> Result<bool, Abort> {
        let call = self.call;
        let name = if path == "-" { "(standard input)" } else { path };
        let binary = self.is_binary(path).await;
        if binary && self.options.has('I') {
            return Ok(false);
        }
        let has = |letter| self.options.has(letter);
        let quiet = has('c') || has('l') || has('L');
        let row = |mark: char, number: u64, offset: u64, line: &[u8]| {
            let mut row = self.label(name, mark, number, offset).into_bytes();
            row.extend(line);
            row.push(b'\n');
            row
        };
        let (mut count, mut number, mut printed, mut offset) = (0_u64, 0_u64, 0_u64, 0_u64);
        let (mut waiting, mut owed) = (VecDeque::new(), 0_usize);
        let end = if has('z') { 0 } else { b'\n' };
        let mut lines = Lines::ended_by(input, end);
        while count < self.max_matches || owed > 0 {
            let Some((line, _)) = lines.next().await else { break };
            number += 1;
            let at = offset;
            offset += line.len() as u64 + 1;
            // Searches text, prints bytes.
            let text = String::from_utf8_lossy(&line);
            let first = self.next(&text, 0);
            if count >= self.max_matches || first.is_some() == has('v') {
                if owed > 0 {
                    owed -= 1;
                    printed = number;
                    call.out(row('-', number, at, &line)).await?;
                } else if self.before > 0 && !quiet {
                    waiting.push_back((number, at, line));
                    if waiting.len() > self.before.min(MAX_BEFORE) {
                        waiting.pop_front();
                    }
                }
                continue;
            }
            count += 1;
            if has('q') || has('l') || has('L') {
                break;
            }
            if has('c') {
                continue;
            }
            if binary {
                call.out(format!("Binary file {name} matches\n")).await?;
                break;
            }
            if has('o') {
                let mut place = first.filter(|_| !has('v'));
                while let Some((from, to)) = place {
                    if to > from {
                        let part = &text.as_bytes()[from..to];
                        call.out(row(':', number, at + from as u64, part)).await?;
                    }
                    let next = if to > from {
                        Some(to)
                    } else {
                        text[to..].chars().next().map(|c| to + c.len_utf8())
                    };
                    place = next.and_then(|next| self.next(&text, next));
                }
                continue;
            }
            let earliest = waiting.front().map_or(number, |(number, ..)| *number);
            if self.before + self.after > 0 && printed > 0 && earliest > printed + 1 {
                call.out("--\n").await?;
            }
            for (number, at, line) in waiting.drain(..) {
                call.out(row('-', number, at, &line)).await?;
            }
            call.out(row(':', number, at, &line)).await?;
            (owed, printed) = (self.after, number);
        }
        let named = if has('L') { count == 0 } else { count > 0 };
        if has('q') {
            return Ok(named);
        }
        if has('l') || has('L') {
            if named {
                call.out(format!("{name}\n")).await?;
            }
        } else if has('c') {
            let name = if self.named { format!("{name}:") } else { String::new() };
            call.out(format!("{name}{count}\n")).await?;
        }
        Ok(named)
    }
}
