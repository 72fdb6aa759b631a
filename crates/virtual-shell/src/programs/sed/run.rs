//! Applies a sed script to lines.

use super::{Action, Address, Command, Part, Script, Substitution};
use crate::io::Output;
use crate::programs::Invocation;
use crate::programs::options::{Failure, Lines, Outcome, Pace, about, open};
use std::collections::VecDeque;

/// Maximum bytes of a line with everything that was added to it.
const MAX_LENGTH: usize = 2 << 20;

/// The lines of several files as one sequence.
struct Source<'a> {
    call: &'a Invocation,
    paths: VecDeque<String>,
    lines: Option<Lines>,
    /// The line after this one, if the script asks for the last.
    ahead: Option<(String, bool)>,
    looks_ahead: bool,
    end: u8,
    status: i32,
}

impl Source<'_> {
    async fn read(&mut self) -> Option<(String, bool)> {
        loop {
            if let Some(lines) = &mut self.lines {
                if let Some((line, ended)) = lines.next().await {
                    return Some((String::from_utf8_lossy(&line).into_owned(), ended));
                }
                self.lines = None;
            }
            let path = self.paths.pop_front()?;
            let input = open(self.call, &path, &mut self.status).await;
            self.lines = input.map(|input| Lines::ended_by(input, self.end));
        }
    }

    async fn next(&mut self) -> Option<(String, bool)> {
        if !self.looks_ahead {
            return self.read().await;
        }
        let next = match self.ahead.take() {
            Some(next) => Some(next),
            None => self.read().await,
        };
        if next.is_some() {
            self.ahead = self.read().await;
        }
        next
    }

    fn is_last(&self) -> bool {
        self.looks_ahead && self.ahead.is_none()
    }
}

/// How a cycle goes on.
enum Next {
    /// Print and read the next line.
    Cycle,
    /// Read the next line without printing.
    Delete,
    /// Start again with the line as it is.
    Again,
    /// Print and end.
    Quit(i32),
    /// End.
    Stop,
}

pub(super) struct Editor<'a> {
    call: &'a Invocation,
    script: &'a Script,
    quiet: bool,
    end: u8,
    /// The files of `w`, and whether the last line there lacks its newline.
    files: Vec<(Output, bool)>,
    output: Output,
    /// The same for the output: the newline comes only if something follows.
    owes_end: bool,
    /// Where the lines of `-i` are kept until the file is complete.
    kept: Option<Vec<u8>>,
    line: String,
    /// Whether the line ended with a newline.
    ended: bool,
    hold: String,
    number: u64,
    /// For each command with two addresses: the line at which the range ends, if it is open.
    ranges: Vec<Option<Option<u64>>>,
    /// The command whose pattern matched last.
    last: Option<(usize, bool)>,
    substituted: bool,
    /// What is printed after the line: text or a file.
    appended: Vec<Result<String, String>>,
    pace: Pace,
}

impl<'a> Editor<'a> {
    pub(super) async fn new(
        call: &'a Invocation,
        script: &'a Script,
        quiet: bool,
        zero: bool,
    ) -> Result<Self, Failure> {
        let mut files = Vec::new();
        for name in &script.files {
            files.push((call.create(name).map_err(|reason| about(name, reason))?, false));
        }
        Ok(Self {
            call,
            script,
            quiet,
            end: if zero { 0 } else { b'\n' },
            files,
            output: call.io.stdout.clone(),
            owes_end: false,
            kept: None,
            line: String::new(),
            ended: true,
            hold: String::new(),
            number: 0,
            ranges: script.commands.iter().map(|_| None).collect(),
            last: None,
            substituted: false,
            appended: Vec::new(),
            pace: Pace::new(),
        })
    }

    /// Collects the output of the next file instead of printing it.
    pub(super) fn collect(&mut self) {
        self.kept = Some(Vec::new());
    }

    pub(super) fn collected(&mut self) -> Vec<u8> {
        self.kept.take().unwrap_or_default()
    }

    /// Edits these files as one text.
    pub(super) async fn edit(&mut self, paths: &[String]) -> Outcome {
        let mut source = Source {
            call: self.call,
            paths: paths.iter().cloned().collect(),
            lines: None,
            ahead: None,
            looks_ahead: self.script.asks_last,
            end: self.end,
            status: 0,
        };
        self.number = 0;
        if self.kept.is_some() {
            self.owes_end = false;
        }
        self.ranges.fill(None);
        let mut again = false;
        loop {
            if !again {
                let Some(next) = source.next().await else { break };
                (self.line, self.ended) = next;
                self.number += 1;
                self.substituted = false;
            }
            let next = self.cycle(&mut source).await?;
            let printed = matches!(next, Next::Cycle | Next::Quit(_)) && !self.quiet;
            if printed {
                let line = self.line.clone();
                self.print(&line, self.ended).await?;
            }
            self.flush().await?;
            match next {
                Next::Quit(status) => return Ok(status),
                Next::Stop => break,
                next => again = matches!(next, Next::Again),
            }
        }
        Ok(source.status)
    }

    async fn cycle(&mut self, source: &mut Source<'_>) -> Result<Next, Failure> {
        let script = self.script;
        let mut at = 0;
        while let Some(command) = script.commands.get(at) {
            self.pace.step(self.call).await;
            if self.line.len() + self.hold.len() > MAX_LENGTH {
                return Err(Failure::new("out of memory"));
            }
            let applies = self.applies(at, command, source)? != command.not;
            at += 1;
            if !applies {
                if let Action::Block(end) = command.action {
                    at = end;
                }
                continue;
            }
            match &command.action {
                Action::Block(_) | Action::Nothing => {}
                Action::Append(text) => self.append(Ok(text.clone()))?,
                Action::Read(name) => self.append(Err(name.clone()))?,
                Action::Insert(text) => self.write(text.as_bytes()).await?,
                Action::Change(text) => {
                    // A range is replaced as a whole.
                    let open =
                        command.to.is_some() && !command.not && self.ranges[at - 1].is_some();
                    if !open {
                        self.write(text.as_bytes()).await?;
                    }
                    return Ok(Next::Delete);
                }
                Action::Branch(kind, target) => {
                    let jumps = match kind {
                        't' => self.substituted,
                        'T' => !self.substituted,
                        _ => true,
                    };
                    if *kind != 'b' {
                        self.substituted = false;
                    }
                    if jumps {
                        at = *target;
                    }
                }
                Action::Substitute(wanted) => {
                    if self.substitute(at - 1, wanted).await? {
                        self.substituted = true;
                        if wanted.print {
                            let (line, ended) = (self.line.clone(), self.ended);
                            self.print(&line, ended).await?;
                        }
                        if let Some(file) = wanted.file {
                            self.write_file(file).await?;
                        }
                    }
                }
                Action::Translate(pairs) => {
                    let new = |c: char| {
                        pairs.iter().find(|(from, _)| *from == c).map_or(c, |(_, to)| *to)
                    };
                    self.line = self.line.chars().map(new).collect();
                }
                Action::Write(file) => self.write_file(*file).await?,
                Action::Quit(status) => return Ok(Next::Quit(*status)),
                Action::Letter(letter) => {
                    if let Some(next) = self.letter(*letter, source).await? {
                        return Ok(next);
                    }
                }
            }
        }
        Ok(Next::Cycle)
    }

    async fn letter(
        &mut self,
        letter: char,
        source: &mut Source<'_>,
    ) -> Result<Option<Next>, Failure> {
        match letter {
            'd' => return Ok(Some(Next::Delete)),
            'D' => match self.line.split_once('\n') {
                None => return Ok(Some(Next::Delete)),
                Some((_, rest)) => {
                    self.line = rest.to_owned();
                    return Ok(Some(Next::Again));
                }
            },
            'g' => self.line.clone_from(&self.hold),
            'G' => self.line = format!("{}\n{}", self.line, self.hold),
            'h' => self.hold.clone_from(&self.line),
            'H' => self.hold = format!("{}\n{}", self.hold, self.line),
            'x' => std::mem::swap(&mut self.line, &mut self.hold),
            'p' => {
                let (line, ended) = (self.line.clone(), self.ended);
                self.print(&line, ended).await?;
            }
            'P' => {
                let line = self.line.split('\n').next().unwrap_or_default().to_owned();
                self.print(&line, true).await?;
            }
            '=' => self.write(format!("{}\n", self.number).as_bytes()).await?,
            'l' => {
                let text = visible(&self.line);
                self.write(text.as_bytes()).await?;
            }
            'n' => {
                if !self.quiet {
                    let (line, ended) = (self.line.clone(), self.ended);
                    self.print(&line, ended).await?;
                }
                self.flush().await?;
                let Some(next) = source.next().await else { return Ok(Some(Next::Stop)) };
                (self.line, self.ended) = next;
                self.number += 1;
            }
            // 'N'
            _ => {
                let Some((line, ended)) = source.next().await else { return Ok(Some(Next::Cycle)) };
                self.flush().await?;
                self.line = format!("{}\n{line}", self.line);
                self.ended = ended;
                self.number += 1;
            }
        }
        Ok(None)
    }

    fn applies(
        &mut self,
        nth: usize,
        command: &'a Command,
        source: &Source<'_>,
    ) -> Result<bool, Failure> {
        let Some(from) = &command.from else { return Ok(true) };
        let Some(to) = &command.to else { return self.is_at(nth, from, false, source) };
        if let Some(end) = self.ranges[nth] {
            let ends = match (to, end) {
                (_, Some(end)) => self.number >= end,
                (to, None) => self.is_at(nth, to, true, source)?,
            };
            // A line number that is already behind ends the range before this line.
            if ends {
                self.ranges[nth] = None;
                return Ok(end.is_none_or(|end| self.number <= end));
            }
            return Ok(true);
        }
        let from_start = matches!(from, Address::Line(0)) && self.number == 1;
        if !from_start && !self.is_at(nth, from, false, source)? {
            return Ok(false);
        }
        let end = match to {
            Address::Line(line) if *line <= self.number => return Ok(true),
            Address::More(0) => return Ok(true),
            Address::Line(line) => Some(*line),
            Address::More(lines) => Some(self.number.saturating_add(*lines)),
            Address::Last if source.is_last() => return Ok(true),
            Address::Pattern(_) if from_start && self.is_at(nth, to, true, source)? => {
                return Ok(true);
            }
            Address::Last | Address::Pattern(_) => None,
        };
        self.ranges[nth] = Some(end);
        Ok(true)
    }

    fn is_at(
        &mut self,
        nth: usize,
        address: &Address,
        second: bool,
        source: &Source<'_>,
    ) -> Result<bool, Failure> {
        Ok(match address {
            Address::Line(line) => *line == self.number,
            Address::Last => source.is_last(),
            Address::More(_) => false,
            Address::Pattern(Some(pattern)) => {
                self.last = Some((nth, second));
                pattern.matches(&self.line, false)
            }
            Address::Pattern(None) => self.last_pattern()?.matches(&self.line, false),
        })
    }

    fn last_pattern(&self) -> Result<&'a crate::programs::regex::Matcher, Failure> {
        let (nth, second) = self.last.ok_or_else(|| Failure::new("no previous regex"))?;
        let command = &self.script.commands[nth];
        let address = if second { &command.to } else { &command.from };
        let found = match (address, &command.action) {
            (Some(Address::Pattern(Some(pattern))), _) => Some(pattern),
            (_, Action::Substitute(wanted)) => wanted.pattern.as_ref(),
            _ => None,
        };
        found.ok_or_else(|| Failure::new("no previous regex"))
    }

    async fn substitute(&mut self, nth: usize, wanted: &'a Substitution) -> Result<bool, Failure> {
        let pattern = match &wanted.pattern {
            Some(pattern) => pattern,
            None => self.last_pattern()?,
        };
        if wanted.pattern.is_some()
            && !matches!(self.script.commands[nth].from, Some(Address::Pattern(Some(_))))
        {
            self.last = Some((nth, false));
        }
        let line = std::mem::take(&mut self.line);
        let (mut out, mut at, mut count, mut changed) = (String::new(), 0, 0, false);
        let mut copied = 0;
        let mut previous = None;
        while at <= line.len() {
            self.pace.step(self.call).await;
            let Some(groups) = pattern.captures(&line, at) else { break };
            let Some((start, end)) = groups.first().copied().flatten() else { break };
            // An empty match right after the last one does not count.
            let empty = start == end && previous == Some(start);
            if !empty {
                count += 1;
                if count >= wanted.nth {
                    out.push_str(&line[copied..start]);
                    for part in &wanted.parts {
                        match part {
                            Part::Text(text) => out.push_str(text),
                            Part::Group(group) => {
                                if let Some((from, to)) = groups.get(*group).copied().flatten() {
                                    out.push_str(&line[from..to]);
                                }
                            }
                        }
                    }
                    copied = end;
                    changed = true;
                    if !wanted.all || out.len() > MAX_LENGTH {
                        break;
                    }
                }
            }
            previous = Some(end);
            at = if end > start {
                end
            } else {
                end + line[end..].chars().next().map_or(1, char::len_utf8)
            };
        }
        out.push_str(&line[copied..]);
        self.line = out;
        Ok(changed)
    }

    async fn print(&mut self, line: &str, ended: bool) -> Result<(), Failure> {
        let mut row = line.as_bytes().to_vec();
        if ended {
            row.push(self.end);
        }
        self.write(&row).await?;
        self.owes_end = !ended;
        Ok(())
    }

    async fn write_file(&mut self, nth: usize) -> Result<(), Failure> {
        let end = if self.ended { "\n" } else { "" };
        let (file, owes_end) = &mut self.files[nth];
        let before = if std::mem::replace(owes_end, !self.ended) { "\n" } else { "" };
        file.write(format!("{before}{}{end}", self.line).as_bytes()).await?;
        Ok(())
    }

    async fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let bytes = match std::mem::take(&mut self.owes_end) {
            true => [&[self.end], bytes].concat(),
            false => bytes.to_vec(),
        };
        match &mut self.kept {
            Some(kept) => {
                if kept.len() + bytes.len() > crate::programs::options::ALL as usize {
                    return Err(Failure::new("out of memory"));
                }
                kept.extend(bytes);
            }
            None => self.output.write(&bytes).await?,
        }
        Ok(())
    }

    fn append(&mut self, what: Result<String, String>) -> Result<(), Failure> {
        if self.appended.len() > 100_000 {
            return Err(Failure::new("out of memory"));
        }
        self.appended.push(what);
        Ok(())
    }

    /// Prints what `a` and `r` added.
    async fn flush(&mut self) -> Result<(), Failure> {
        for what in std::mem::take(&mut self.appended) {
            match what {
                Ok(text) => {
                    self.write(text.as_bytes()).await?;
                }
                Err(name) => {
                    if let Ok(input) = self.call.open(&name) {
                        let bytes = input.all(MAX_LENGTH as u64).await;
                        self.write(&bytes).await?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// The text of `l`: escapes, and lines of at most 80 columns.
fn visible(line: &str) -> String {
    let (mut text, mut column) = (String::new(), 0);
    for c in line.chars() {
        let shown = match c {
            '\\' => "\\\\".to_owned(),
            '\x07' => "\\a".to_owned(),
            '\x08' => "\\b".to_owned(),
            '\x0c' => "\\f".to_owned(),
            '\n' => "\\n".to_owned(),
            '\r' => "\\r".to_owned(),
            '\t' => "\\t".to_owned(),
            '\x0b' => "\\v".to_owned(),
            c if c.is_ascii_graphic() || c == ' ' => c.to_string(),
            c => c.encode_utf8(&mut [0; 4]).bytes().map(|byte| format!("\\{byte:03o}")).collect(),
        };
        if column + shown.len() > 78 {
            text.push_str("\\\n");
            column = 0;
        }
        column += shown.len();
        text.push_str(&shown);
    }
    text.push_str("$\n");
    text
}
