//! A phone's log: its entries, which of them are wanted, and a way to follow them.

use async_trait::async_trait;

use crate::Error;

/// How much a log entry matters; a later one matters more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "a priority's name says it")]
pub enum Priority {
    Verbose,
    Debug,
    Info,
    Warn,
    Error,
    Fatal,
    /// Above all: nothing is wanted.
    Silent,
}

impl Priority {
    /// All of them, the least first.
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

    /// The priority of that letter, small or capital.
    pub fn from_letter(letter: char) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.letter() == letter.to_ascii_uppercase())
    }
}

/// Which entries of a log are wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogFilter {
    /// Only those of this tag; or, where it holds a colon, a filter in Android's own words: `ActivityManager:I *:S`.
    pub tag: Option<String>,
    /// Only those that matter as much.
    pub priority: Priority,
}

/// One entry of a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogEntry {
    /// When, by the phone's own clock and time zone: `2024-09-01T12:13:14.123000`.
    pub time: String,
    /// How much it matters.
    pub priority: Priority,
    /// Who says it.
    pub tag: String,
    /// The process.
    pub pid: u32,
    /// The thread.
    pub tid: u32,
    /// What it says, one line.
    pub message: String,
}

/// A log that is being followed. Dropped, it ends on the phone too.
#[async_trait]
pub trait LogStream: Send {
    /// The next entry; waits until there is one. `None` where the phone ended the log. A call that is given up loses
    /// nothing.
    ///
    /// # Errors
    /// When the phone is lost; the stream is over then.
    async fn next(&mut self) -> Result<Option<LogEntry>, Error>;
}
