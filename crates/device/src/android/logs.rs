//! The log, by the phone's `logcat`.
//!
//! Start with [`Logs::read_logs`]; `follow` follows a log, `entry` parses a line. All commands use
//! the format `threadtime`, available since Android 2. It contains no year, so the phone's date is
//! read in the same round trip.

mod entry;
mod follow;

use std::collections::VecDeque;

use async_trait::async_trait;
use thumbwire_adb::services::shell::{OutputChunk, RunningCommand};

use super::{Android, ShellCommand, is_noise, transport_error};
use crate::error::excerpt;
use crate::phone_time::seconds_at;
use crate::{Error, LogEntry, LogFilter, LogStream, Logs, Priority, SideEffect};
use entry::{Date, Reader, read_date};

#[async_trait]
impl Logs for Android {
    async fn read_logs(&self, filter: &LogFilter, max: usize) -> Result<Vec<LogEntry>, Error> {
        let mut log = LogcatProcess::start(self, dump_command(filter, max)?).await?;
        let mut entries = VecDeque::new();
        let today = log.date().await?;
        let reader = Reader::until(today);
        let cut = loop {
            let line = match log.line().await {
                Ok(Some(line)) => line,
                Ok(None) => break log.end().err(),
                Err(error) => break Some(error),
            };
            let Some(entry) = reader.read(&line) else {
                log.doubt(&line);
                continue;
            };
            log.certain = true;
            if filter.takes(&entry) {
                entries.push_back(entry);
                while entries.len() > max {
                    entries.pop_front();
                }
            }
        };
        with_note(entries.into(), cut)
    }

    async fn log_clock(&self) -> Result<String, Error> {
        let output = self.ask(ShellCommand::new("date +%Y-%m-%dT%H:%M:%S")).await?;
        let mut lines = output.out.lines().map(str::trim);
        let time = lines.find(|line| seconds_at(line).is_some());
        let unreadable =
            || Error::Unreadable { command: "date".into(), text: excerpt(&output.out) };
        time.map(str::to_owned).ok_or_else(unreadable)
    }

    async fn clear_logs(&self) -> Result<(), Error> {
        self.run_silent("clear the log", ShellCommand::new("logcat -c")).await
    }

    async fn follow_logs(
        &self,
        filter: &LogFilter,
        last: Option<&LogEntry>,
    ) -> Result<Box<dyn LogStream>, Error> {
        follow::start(self, filter, last).await
    }
}

/// The entries, and why there are no more, if that is so: what was read is worth more than the
/// error.
fn with_note(mut entries: Vec<LogEntry>, cut: Option<Error>) -> Result<Vec<LogEntry>, Error> {
    match (cut, entries.last().cloned()) {
        (None, _) => {}
        (Some(error), None) => return Err(error),
        (Some(error), Some(last)) => entries.push(LogEntry {
            priority: Priority::Warn,
            tag: LogEntry::NOTE.into(),
            message: format!("the log is cut off here: {error}"),
            ..last
        }),
    }
    Ok(entries)
}

/// Prints the date, then the log.
fn dump_command(filter: &LogFilter, max: usize) -> Result<ShellCommand, Error> {
    let line = ShellCommand::new("date +%Y-%m-%dT%H:%M:%S; logcat -d -v threadtime");
    // The phone counts entries before it filters; each entry has at least one line.
    match i64::try_from(max) {
        Ok(max) if filter.is_open() && max > 0 => Ok(line.then("-t").number(max)),
        _ => with_rules(line, filter),
    }
}

/// Appends a filter's rules after `--`, so that none is parsed as an option.
fn with_rules(line: ShellCommand, filter: &LogFilter) -> Result<ShellCommand, Error> {
    if filter.is_open() {
        return Ok(line);
    }
    let text = filter.arguments();
    let line = line.then("--");
    if !text.is_empty() {
        return text.into_iter().try_fold(line, ShellCommand::arg);
    }
    let letter = filter.priority.letter();
    match filter.name().filter(|name| !name.contains(UNFILTERED)) {
        Some(name) => line.arg(&format!("{name}:{letter}"))?.arg("*:S"),
        None => line.arg(&format!("*:{letter}")),
    }
}

/// Characters that separate rules within one argument (`android_log_addFilterString` in AOSP's
/// `logprint.cpp`). A tag with one of these cannot be passed to the phone, so its entries are
/// filtered here.
const UNFILTERED: [char; 4] = [' ', ',', '\t', '\n'];

impl LogFilter {
    /// Whether it lets everything through.
    fn is_open(&self) -> bool {
        self.arguments().is_empty() && self.name().is_none() && self.priority == Priority::Verbose
    }

    /// The rules in logcat syntax.
    fn arguments(&self) -> Vec<&str> {
        let own = self.tag.as_deref().filter(|tag| tag.contains(':'));
        own.map_or_else(Vec::new, |rules| rules.split_whitespace().collect())
    }

    /// The single requested tag. `*` means any.
    fn name(&self) -> Option<&str> {
        self.tag.as_deref().filter(|tag| !tag.contains(':') && !tag.is_empty() && *tag != "*")
    }

    /// Whether an entry from the phone passes: the phone cannot apply every filter.
    fn takes(&self, entry: &LogEntry) -> bool {
        let untold = self.name().filter(|name| name.contains(UNFILTERED));
        entry.priority >= self.priority && untold.is_none_or(|name| entry.tag == name.trim())
    }
}

/// Reads lines of `logcat` in the format `threadtime`, for logs that come another way.
#[cfg(feature = "ios")]
pub(crate) struct LogLines(Reader);

#[cfg(feature = "ios")]
impl LogLines {
    /// For lines written until that day, the date in `2024-09-01T12:13:14`; `None` if it is not
    /// one.
    pub(crate) fn until(today: &str) -> Option<Self> {
        read_date(today).map(|today| Self(Reader::until(today)))
    }

    /// Parses one line; `None` if it is not an entry.
    pub(crate) fn read(&self, line: &str) -> Option<LogEntry> {
        self.0.read(line)
    }
}

/// Whether an entry passes a filter that no `logcat` has applied before. Of several rules for a tag
/// the last counts, and `*` is for the tags without a rule (`filterPriForTag` in AOSP's
/// `logprint.cpp`).
#[cfg(feature = "ios")]
pub(crate) fn filter_takes(filter: &LogFilter, entry: &LogEntry) -> bool {
    let rules = filter.arguments();
    if rules.is_empty() {
        let wanted = filter.name().is_none_or(|name| entry.tag == name.trim());
        return wanted && entry.priority >= filter.priority;
    }
    let split = |rule: &str| {
        let (tag, letter) = rule.rsplit_once(':')?;
        let priority = letter.chars().next().and_then(Priority::from_letter);
        Some((tag.to_owned(), priority.unwrap_or(Priority::Verbose)))
    };
    let rules: Vec<(String, Priority)> = rules.into_iter().filter_map(split).collect();
    let of = |name: &str| rules.iter().rev().find(|(tag, _)| tag == name);
    let least = of(&entry.tag).or_else(|| of("*")).map_or(Priority::Verbose, |rule| rule.1);
    entry.priority >= least.max(filter.priority)
}

/// Maximum bytes of a line. An entry has at most 4,068 (`LOGGER_ENTRY_MAX_PAYLOAD`), and an invalid
/// byte becomes three.
const MAX_LINE: usize = 16 * 1024;

/// A running `logcat`, as lines.
struct LogcatProcess {
    running: RunningCommand,
    lines: Lines,
    ended: Option<Option<i32>>,
    /// Output that is not an entry.
    doubts: String,
    /// An entry was read, so other output is no reason to fail.
    certain: bool,
}

impl LogcatProcess {
    async fn start(phone: &Android, line: ShellCommand) -> Result<Self, Error> {
        let running = RunningCommand::start(&*phone.transport, line.as_str()).await;
        Ok(Self {
            running: running.map_err(|error| transport_error(error, SideEffect::None))?,
            lines: Lines::default(),
            ended: None,
            doubts: String::new(),
            certain: false,
        })
    }

    /// The next line; `None` once the command has ended. Cancel safe.
    async fn line(&mut self) -> Result<Option<String>, Error> {
        loop {
            if let Some(line) = self.lines.next() {
                return Ok(Some(line));
            }
            if self.ended.is_some() {
                return Ok(self.lines.rest());
            }
            match self
                .running
                .next()
                .await
                .map_err(|error| transport_error(error, SideEffect::None))?
            {
                OutputChunk::Out(bytes) => self.lines.push(&bytes),
                OutputChunk::Err(bytes) => self.doubt(&String::from_utf8_lossy(&bytes)),
                OutputChunk::End(status) => self.ended = Some(status),
            }
        }
    }

    /// The phone's date: the first line that is one.
    async fn date(&mut self) -> Result<Date, Error> {
        while let Some(line) = self.line().await? {
            if let Some(date) = read_date(&line) {
                return Ok(date);
            }
            self.doubt(&line);
        }
        let output = excerpt(&self.doubts);
        Err(Error::Unreadable { command: "date".into(), text: output })
    }

    /// Keeps output that is not an entry, in case nothing else comes. Buffer headings and the
    /// linker warnings of old phones are normal.
    fn doubt(&mut self, line: &str) {
        const KEPT: usize = 1024;
        let usual = line.is_empty() || line.starts_with("--------- ") || is_noise(line);
        if !usual && self.doubts.len() < KEPT {
            self.doubts.extend(line.chars().take(KEPT));
            self.doubts.push('\n');
        }
    }

    /// Whether it ended well. Old phones report no status: there, output without any entry means
    /// failure.
    fn end(&self) -> Result<(), Error> {
        let failed = match self.ended {
            Some(Some(status)) => status != 0,
            _ => !self.certain && !self.doubts.trim().is_empty(),
        };
        let output = excerpt(&self.doubts);
        if failed { Err(Error::Failed { what: "read the log", text: output }) } else { Ok(()) }
    }
}

/// Splits bytes into lines of limited length; the excess is dropped.
#[derive(Default)]
struct Lines {
    bytes: VecDeque<u8>,
    line: Vec<u8>,
}

impl Lines {
    fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend(bytes);
    }

    /// The next complete line, without its line end.
    fn next(&mut self) -> Option<String> {
        while let Some(byte) = self.bytes.pop_front() {
            match byte {
                b'\n' => return self.take(),
                _ if self.line.len() < MAX_LINE => self.line.push(byte),
                _ => {}
            }
        }
        None
    }

    /// The last line if it has no line end.
    fn rest(&mut self) -> Option<String> {
        if self.line.is_empty() { None } else { self.take() }
    }

    fn take(&mut self) -> Option<String> {
        let line = String::from_utf8_lossy(&self.line).trim_end_matches('\r').to_owned();
        self.line.clear();
        Some(line)
    }
}

#[cfg(test)]
mod tests;
