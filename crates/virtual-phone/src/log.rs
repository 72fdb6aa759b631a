//! The phone's log, which `logcat` prints.
//!
//! A ring of limited length over all buffers, in the order of writing; formatting is up to the
//! shell. The events of Android's services are in `events.rs`.

use std::collections::VecDeque;
use std::time::Duration;

/// A log buffer, read and cleared separately, in the order of their numbers (`log_id_t` of
/// `android/log.h`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Buffer {
    /// Apps.
    Main,
    /// The modem.
    Radio,
    /// Events, by the tags of `event-log-tags`.
    Events,
    /// The system's services.
    System,
    /// App crashes.
    Crash,
    /// Statistics.
    Stats,
    /// For device owners.
    Security,
    /// Kernel messages.
    Kernel,
}

impl Buffer {
    /// Every buffer.
    pub const ALL: [Self; 8] = [
        Self::Main,
        Self::Radio,
        Self::Events,
        Self::System,
        Self::Crash,
        Self::Stats,
        Self::Security,
        Self::Kernel,
    ];

    /// Its name in `logcat`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Main => "main",
            Self::Radio => "radio",
            Self::Events => "events",
            Self::System => "system",
            Self::Crash => "crash",
            Self::Stats => "stats",
            Self::Security => "security",
            Self::Kernel => "kernel",
        }
    }
}

/// One entry of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogLine {
    /// Uptime when it was written.
    pub at: Duration,
    /// Its buffer.
    pub buffer: Buffer,
    /// One of `V`, `D`, `I`, `W`, `E`, `F`.
    pub priority: char,
    /// The tag, e.g. `ActivityTaskManager`.
    pub tag: String,
    /// The writing process; its main thread has the same number.
    pub pid: u32,
    /// That process's user id.
    pub uid: u32,
    /// The message; several lines are one entry.
    pub text: String,
}

/// The newest entries, and how many were dropped.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Log {
    lines: VecDeque<LogLine>,
    dropped: u64,
    /// For each buffer: entries before this number were cleared, counted from the first ever
    /// written.
    cleared: [u64; Buffer::ALL.len()],
}

/// Maximum entries. Real phones keep 256 KiB, about as much.
const KEPT: usize = 4096;

impl Log {
    /// The stored entries, oldest first, cleared ones included.
    pub fn lines(&self) -> impl ExactSizeIterator<Item = &LogLine> {
        self.lines.iter()
    }

    /// How many older entries were dropped.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// The number of the next entry, counted from the first ever written.
    pub fn next(&self) -> u64 {
        self.dropped + self.lines.len() as u64
    }

    /// The entries from that number on that were not cleared, with their numbers.
    pub fn since(&self, from: u64) -> impl Iterator<Item = (u64, &LogLine)> {
        let skipped = from.saturating_sub(self.dropped) as usize;
        let lines = (self.dropped..).zip(&self.lines).skip(skipped);
        lines.filter(|(at, line)| *at >= self.cleared[line.buffer as usize])
    }

    pub(crate) fn clear(&mut self, buffer: Buffer) {
        self.cleared[buffer as usize] = self.next();
    }

    pub(crate) fn push(&mut self, line: LogLine) {
        if self.lines.len() == KEPT {
            self.lines.pop_front();
            self.dropped += 1;
        }
        self.lines.push_back(line);
    }
}

/// The process that speaks for the system in the log.
pub const SYSTEM_PID: u32 = 1432;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clearing_one_buffer_keeps_line_numbers() {
        let mut log = Log::default();
        for number in 0..KEPT + 2 {
            let buffer = if number % 2 == 0 { Buffer::Main } else { Buffer::Events };
            let (tag, text) = (String::new(), number.to_string());
            log.push(LogLine {
                at: Duration::ZERO,
                buffer,
                priority: 'I',
                tag,
                pid: 1,
                uid: 1,
                text,
            });
        }
        let first = log.since(0).next().map(|(at, line)| (at, line.text.as_str()));
        assert_eq!(first, Some((2, "2")));
        log.clear(Buffer::Main);
        assert!(log.since(0).all(|(_, line)| line.buffer == Buffer::Events));
        assert_eq!(log.since(log.next()).count(), 0);
    }
}
