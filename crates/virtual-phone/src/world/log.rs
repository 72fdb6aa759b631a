//! What the phone wrote down about itself: the source of `logcat`.
//!
//! A ring of bounded length over all buffers, in the order of writing; formatting is the shell's business. What Android's services write
//! when something happens stands in `events.rs`.

use std::collections::VecDeque;
use std::time::Duration;

/// A part of the log that is read and cleared by itself, in the order of their numbers (`log_id_t` of `android/log.h`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Buffer {
    /// What apps write.
    Main,
    /// The modem's.
    Radio,
    /// What happened, by the tags of `event-log-tags`.
    Events,
    /// What the system's services write.
    System,
    /// Crashes of apps.
    Crash,
    /// Numbers for statistics.
    Stats,
    /// For device owners.
    Security,
    /// The kernel's messages.
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

    /// As `logcat` names it.
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
    /// Where it stands.
    pub buffer: Buffer,
    /// One of `V`, `D`, `I`, `W`, `E`, `F`.
    pub priority: char,
    /// Who wrote it, e.g. `ActivityTaskManager`.
    pub tag: String,
    /// The process that wrote it; its main thread has the same number.
    pub pid: u32,
    /// The user of that process.
    pub uid: u32,
    /// What was written; several lines are one entry.
    pub text: String,
}

/// The last lines, and how many came before them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Log {
    lines: VecDeque<LogLine>,
    dropped: u64,
    /// Entries of each buffer before this one were cleared, counted from the first ever written.
    cleared: [u64; Buffer::ALL.len()],
}

/// Lines kept. Real phones keep 256 KiB, about as much.
const KEPT: usize = 4096;

impl Log {
    /// The lines that are kept, oldest first, cleared ones too.
    pub fn lines(&self) -> impl ExactSizeIterator<Item = &LogLine> {
        self.lines.iter()
    }

    /// How many older lines were dropped.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// The number of the next line, counted from the first ever written.
    pub fn next(&self) -> u64 {
        self.dropped + self.lines.len() as u64
    }

    /// The lines from that number on that were not cleared, with their numbers.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_is_cleared_by_itself_and_old_lines_keep_their_numbers() {
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
