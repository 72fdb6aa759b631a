//! A phone's log: entries, filters, and following it.

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::Error;

/// Reads the phone's log.
#[async_trait]
pub trait Logs: Send + Sync {
    /// The newest log entries that pass the filter, oldest first, `most` at most.
    async fn read_logs(&self, filter: &LogFilter, max: usize) -> Result<Vec<LogEntry>, Error>;

    /// The phone's clock, in the form of [`LogEntry::time`] up to seconds.
    async fn log_clock(&self) -> Result<String, Error>;

    /// Clears the log.
    async fn clear_logs(&self) -> Result<(), Error>;

    /// Follows the log: entries after `last`, an entry read earlier, or from now on.
    async fn follow_logs(
        &self,
        filter: &LogFilter,
        last: Option<&LogEntry>,
    ) -> Result<Box<dyn LogStream>, Error>;
}

/// Log priority; later variants are more important.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names are Android's own")]
pub enum Priority {
    Verbose,
    Debug,
    Info,
    Warn,
    Error,
    Fatal,
    /// Above all others: filters out everything.
    Silent,
}

impl Priority {
    /// All priorities, the lowest first.
    pub const ALL: [Self; 7] = [
        Self::Verbose,
        Self::Debug,
        Self::Info,
        Self::Warn,
        Self::Error,
        Self::Fatal,
        Self::Silent,
    ];

    /// Android's letter for it.
    pub fn letter(self) -> char {
        match self {
            Self::Verbose => 'V',
            Self::Debug => 'D',
            Self::Info => 'I',
            Self::Warn => 'W',
            Self::Error => 'E',
            Self::Fatal => 'F',
            Self::Silent => 'S',
        }
    }

    /// The priority with this letter, in either case.
    pub fn from_letter(letter: char) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.letter() == letter.to_ascii_uppercase())
    }
}

/// Selects log entries.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogFilter {
    /// Only entries with this tag; or, if it contains a colon, a filter in logcat syntax:
    /// `ActivityManager:I *:S`.
    pub tag: Option<String>,
    /// Only entries with at least this priority.
    pub priority: Priority,
}

/// A log entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogEntry {
    /// Time by the phone's own clock and time zone: `2024-09-01T12:13:14.123000`.
    pub time: String,
    /// Priority.
    pub priority: Priority,
    /// Tag.
    pub tag: String,
    /// Process id.
    pub pid: u32,
    /// Thread id.
    pub tid: u32,
    /// Message, one line.
    pub message: String,
}

impl LogEntry {
    /// The tag of an entry of ours: a log that could not be read to its end says so at last.
    pub const NOTE: &str = "thumbwire";
}

/// A log being followed. If dropped, it ends on the phone too.
#[async_trait]
pub trait LogStream: Send {
    /// Waits for the next entry. `None` if the phone ended the log. Cancel safe.
    ///
    /// # Errors
    /// If the phone is lost; the stream is then over.
    async fn next(&mut self) -> Result<Option<LogEntry>, Error>;
}
