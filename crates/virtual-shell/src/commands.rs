//! The command log: every simple command that the shells ran, with its exact arguments.
//!
//! Tests of quoting read it: a string that stayed one argument shows as one, an injected command as
//! a second record. It is a ring of limited length and size; dropped records are counted.

use std::collections::VecDeque;
use std::time::Duration;

/// Maximum number of records.
const KEPT: usize = 4096;

/// Maximum bytes of arguments, including each argument's own memory.
const BYTES: usize = 8 << 20;

/// Maximum bytes of a service name; a host may send any length.
const NAME: usize = 64;

/// A command that ran, or was about to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandRecord {
    /// The service that ran it, such as `shell,v2,raw` or `exec`.
    pub service: String,
    /// Name and arguments, after all expansions.
    pub argv: Vec<String>,
    /// The phone's uptime at its start.
    pub at: Duration,
    /// Its exit status; `None` while it runs, or if it was aborted when its client disconnected.
    pub status: Option<i32>,
}

/// The ring buffer.
#[derive(Debug, Default)]
pub struct CommandLog {
    records: VecDeque<CommandRecord>,
    bytes: usize,
    dropped: u64,
}

/// Identifies a record for [`CommandLog::finish`].
#[derive(Clone, Copy, Debug)]
pub struct RecordId(u64);

impl CommandLog {
    /// Records a command that is about to run.
    pub fn begin(&mut self, service: &str, argv: &[String], at: Duration) -> RecordId {
        let token = RecordId(self.dropped + self.records.len() as u64);
        self.bytes += weight(argv);
        self.records.push_back(CommandRecord {
            service: service.chars().take(NAME).collect(),
            argv: argv.to_vec(),
            at,
            status: None,
        });
        while self.records.len() > KEPT || (self.bytes > BYTES && self.records.len() > 1) {
            if let Some(old) = self.records.pop_front() {
                self.bytes -= weight(&old.argv);
                self.dropped += 1;
            }
        }
        token
    }

    /// Adds its exit status.
    pub fn finish(&mut self, token: RecordId, status: i32) {
        let place = token.0.checked_sub(self.dropped).and_then(|place| usize::try_from(place).ok());
        if let Some(record) = place.and_then(|place| self.records.get_mut(place)) {
            record.status = Some(status);
        }
    }

    /// The records, oldest first.
    pub fn records(&self) -> Vec<CommandRecord> {
        self.records.iter().cloned().collect()
    }

    /// How many older records were dropped.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }
}

fn weight(argv: &[String]) -> usize {
    argv.iter().map(|arg| arg.len() + size_of::<String>()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_records_are_dropped_and_counted() {
        let mut log = CommandLog::default();
        let tokens: Vec<_> =
            (0..KEPT + 3).map(|n| log.begin("exec", &[n.to_string()], Duration::ZERO)).collect();
        log.finish(tokens[0], 1);
        log.finish(tokens[3], 2);
        assert_eq!(log.dropped(), 3);
        let records = log.records();
        assert_eq!(
            (records.len(), records[0].argv[0].as_str(), records[0].status),
            (KEPT, "3", Some(2))
        );
        log.begin("exec", &["x".repeat(BYTES + 1)], Duration::ZERO);
        assert_eq!(log.records().len(), 1);
        // Empty arguments take memory too.
        for _ in 0..10 {
            log.begin(&"x".repeat(1_000), &vec![String::new(); 100_000], Duration::ZERO);
        }
        let records = log.records();
        assert!(records.iter().map(|record| record.argv.len()).sum::<usize>() < 500_000);
        assert_eq!(records[0].service.len(), NAME);
    }
}
