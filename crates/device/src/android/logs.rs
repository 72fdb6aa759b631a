//! The log, by the phone's `logcat`.
//!
//! Begin with [`Android::read_logs`]; how one log is followed stands in `follow`, how a line of it is read in `entry`.
//! Every command asks for the form `threadtime`, which all releases since 2 have. It tells no year, so the phone's own date
//! is asked for in the same round trip.

mod entry;
mod follow;

use std::collections::VecDeque;

use thumbwire_adb::services::shell::{Piece, Running};

use super::{Android, Line, unreached};
use crate::error::excerpt;
use crate::{Acted, Error, LogEntry, LogFilter, LogStream, Priority};
use entry::{Date, Reader, read_date};

impl Android {
    /// The newest entries that `filter` lets through, the oldest first.
    pub(super) async fn read_logs(
        &self,
        filter: &LogFilter,
        most: usize,
    ) -> Result<Vec<LogEntry>, Error> {
        let mut log = Log::start(self, dump_command(filter, most)?).await?;
        let mut entries = VecDeque::new();
        let today = log.date().await?;
        let reader = Reader::until(today);
        while let Some(line) = log.line().await? {
            let Some(entry) = reader.read(&line) else {
                log.doubt(&line);
                continue;
            };
            log.certain = true;
            if filter.takes(&entry) {
                entries.push_back(entry);
                while entries.len() > most {
                    entries.pop_front();
                }
            }
        }
        log.end()?;
        Ok(entries.into())
    }

    /// Empties the log.
    pub(super) async fn empty_log(&self) -> Result<(), Error> {
        self.order("clear the log", Line::new("logcat -c")).await
    }

    pub(super) async fn follow(
        &self,
        filter: &LogFilter,
        last: Option<&LogEntry>,
    ) -> Result<Box<dyn LogStream>, Error> {
        follow::start(self, filter, last).await
    }
}

/// The date, then what lies in the log.
fn dump_command(filter: &LogFilter, most: usize) -> Result<Line, Error> {
    let line = Line::new("date +%Y-%m-%dT%H:%M:%S; logcat -d -v threadtime");
    // The phone counts before it filters, and entries, of which each has a line at least.
    match i64::try_from(most) {
        Ok(most) if filter.is_open() && most > 0 => Ok(line.then("-t").number(most)),
        _ => with_rules(line, filter),
    }
}

/// Adds a filter's rules. They stand behind `--`, so that none is taken for an option.
fn with_rules(line: Line, filter: &LogFilter) -> Result<Line, Error> {
    if filter.is_open() {
        return Ok(line);
    }
    let words = filter.words();
    let line = line.then("--");
    if !words.is_empty() {
        return words.into_iter().try_fold(line, Line::word);
    }
    let letter = filter.priority.letter();
    match filter.name().filter(|name| !name.contains(UNFILTERED)) {
        Some(name) => line.word(&format!("{name}:{letter}"))?.word("*:S"),
        None => line.word(&format!("*:{letter}")),
    }
}

/// What parts the rules within one argument (`android_log_addFilterString` in AOSP's `logprint.cpp`): a tag with one of these
/// cannot be told to the phone, so its entries are picked out here.
const UNFILTERED: [char; 4] = [' ', ',', '\t', '\n'];

impl LogFilter {
    /// Lets everything through.
    fn is_open(&self) -> bool {
        self.words().is_empty() && self.name().is_none() && self.priority == Priority::Verbose
    }

    /// The rules in Android's own words.
    fn words(&self) -> Vec<&str> {
        let own = self.tag.as_deref().filter(|tag| tag.contains(':'));
        own.map_or_else(Vec::new, |rules| rules.split_whitespace().collect())
    }

    /// The one tag that is wanted. `*` is any.
    fn name(&self) -> Option<&str> {
        self.tag.as_deref().filter(|tag| !tag.contains(':') && !tag.is_empty() && *tag != "*")
    }

    /// Whether an entry that came from the phone is wanted: the phone does not know all of a filter.
    fn takes(&self, entry: &LogEntry) -> bool {
        let untold = self.name().filter(|name| name.contains(UNFILTERED));
        entry.priority >= self.priority && untold.is_none_or(|name| entry.tag == name.trim())
    }
}

/// Bytes of a line that are kept. An entry has at most 4,068 (`LOGGER_ENTRY_MAX_PAYLOAD`), and a character that is none
/// becomes three.
const LONGEST: usize = 16 * 1024;

/// A `logcat` that runs, as lines.
struct Log {
    running: Running,
    lines: Lines,
    ended: Option<Option<i32>>,
    /// What was said that is no entry.
    doubts: String,
    /// An entry was read: whatever else was said, the log is being read.
    certain: bool,
}

impl Log {
    async fn start(phone: &Android, line: Line) -> Result<Self, Error> {
        let running = Running::start(&*phone.transport, line.as_str()).await;
        Ok(Self {
            running: running.map_err(|error| unreached(error, Acted::No))?,
            lines: Lines::default(),
            ended: None,
            doubts: String::new(),
            certain: false,
        })
    }

    /// The next line; `None` once the command has ended. Safe to be cancelled.
    async fn line(&mut self) -> Result<Option<String>, Error> {
        loop {
            if let Some(line) = self.lines.next() {
                return Ok(Some(line));
            }
            if self.ended.is_some() {
                return Ok(self.lines.rest());
            }
            match self.running.next().await.map_err(|error| unreached(error, Acted::No))? {
                Piece::Out(bytes) => self.lines.push(&bytes),
                Piece::Err(bytes) => self.doubt(&String::from_utf8_lossy(&bytes)),
                Piece::End(status) => self.ended = Some(status),
            }
        }
    }

    /// The phone's date, which is the first line that is one.
    async fn date(&mut self) -> Result<Date, Error> {
        while let Some(line) = self.line().await? {
            if let Some(date) = read_date(&line) {
                return Ok(date);
            }
            self.doubt(&line);
        }
        let said = excerpt(&self.doubts);
        Err(Error::Unreadable { command: "date".into(), said })
    }

    /// Keeps what is no entry, for the case that nothing else comes. Where a buffer begins, and that the linker of old
    /// phones warns, is nothing odd.
    fn doubt(&mut self, line: &str) {
        const KEPT: usize = 1024;
        let usual = line.is_empty()
            || line.starts_with("--------- ")
            || line.starts_with("WARNING: linker:");
        if !usual && self.doubts.len() < KEPT {
            self.doubts.extend(line.chars().take(KEPT));
            self.doubts.push('\n');
        }
    }

    /// Whether it ended well. No status tells it on old phones: there whoever gave no entry, but other words, did not.
    fn end(&self) -> Result<(), Error> {
        let failed = match self.ended {
            Some(Some(status)) => status != 0,
            _ => !self.certain && !self.doubts.trim().is_empty(),
        };
        let said = excerpt(&self.doubts);
        if failed { Err(Error::Failed { what: "read the log", said }) } else { Ok(()) }
    }
}

/// Bytes that become lines, each of a bounded length: what is beyond that is left out.
#[derive(Default)]
struct Lines {
    bytes: VecDeque<u8>,
    line: Vec<u8>,
}

impl Lines {
    fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend(bytes);
    }

    /// The next whole line, without its end.
    fn next(&mut self) -> Option<String> {
        while let Some(byte) = self.bytes.pop_front() {
            match byte {
                b'\n' => return self.take(),
                _ if self.line.len() < LONGEST => self.line.push(byte),
                _ => {}
            }
        }
        None
    }

    /// The last line, where no end follows it.
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
