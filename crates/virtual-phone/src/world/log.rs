//! What the phone wrote down about itself: the source of `logcat`.
//!
//! A ring of bounded length; formatting is the shell's business.

use std::collections::VecDeque;
use std::time::Duration;

/// One line of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    /// Uptime when it was written.
    pub at: Duration,
    /// One of `V`, `D`, `I`, `W`, `E`, `F`.
    pub priority: char,
    /// Who wrote it, e.g. `ActivityTaskManager`.
    pub tag: String,
    /// The process that wrote it.
    pub pid: u32,
    /// What was written, without a line feed.
    pub text: String,
}

/// The last lines, and how many came before them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Log {
    lines: VecDeque<LogLine>,
    dropped: u64,
}

/// Lines kept. Real phones keep 256 KiB, about as much.
const KEPT: usize = 4096;

impl Log {
    /// The lines that are kept, oldest first.
    pub fn lines(&self) -> impl ExactSizeIterator<Item = &LogLine> {
        self.lines.iter()
    }

    /// How many older lines were dropped.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    pub(crate) fn push(&mut self, line: LogLine) {
        if self.lines.len() == KEPT {
            self.lines.pop_front();
            self.dropped += 1;
        }
        self.lines.push_back(line);
    }
}
