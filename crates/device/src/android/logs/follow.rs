//! Follows the log: entries after a given one, or after those in the log at the start.
//!
//! Logcat can start at a time (`-T`); before Android 7 it prints the whole log first. Either way
//! the first entries may already have been delivered: [`DeliveredEntries`] decides which.
//!
//! Timestamps are the writers' own (`android_log_header_t`), and clocks get set back, so an entry
//! may be later than the phone's clock. Such an entry is never taken as the newest, because
//! everything written until then would count as old.

use async_trait::async_trait;

use super::entry::{Date, Reader, read_date};
use super::{LogcatProcess, with_rules};
use crate::android::{Android, ShellCommand};
use crate::{Error, LogEntry, LogFilter, LogStream};

/// How many of the newest entries to look at to find the current position. If more share one
/// millisecond, the rest counts as new.
const NEWEST: i32 = 200;

/// How many entries with the same millisecond to hold back until it is clear whether they are
/// known.
const MAX_HELD: usize = 10_000;

pub(super) async fn start(
    phone: &Android,
    filter: &LogFilter,
    last: Option<&LogEntry>,
) -> Result<Box<dyn LogStream>, Error> {
    let last = match last {
        Some(last) if is_ahead(last, &ask_time(phone).await?) => None,
        last => last,
    };
    let (known, ahead, day) = match last {
        Some(last) => {
            let reason = || format!("{:?} is not the time of a log entry", last.time);
            let day = read_date(&last.time)
                .ok_or_else(|| Error::Refused { what: "log time", reason: reason() })?;
            (DeliveredEntries::Up { to: last.clone(), held: Vec::new() }, Vec::new(), day)
        }
        None => newest(phone).await?,
    };
    // `exec`, so that logcat itself notices when the stream is closed.
    let mut line = ShellCommand::new("exec logcat -v threadtime");
    // Some phones before Android 7 have no `-T`.
    if let Some(time) = known.time()
        && phone.legacy.is_none()
    {
        // `2024-09-01T12:13:14.123000` as logcat parses it; it prints and compares milliseconds
        // here.
        let (date, time) = time.split_once('T').unwrap_or((time, ""));
        let time = time.get(..12).unwrap_or(time);
        line = line.then("-T").arg(&format!("{date} {time}"))?;
    }
    let log = LogcatProcess::start(phone, with_rules(line, filter)?).await?;
    Ok(Box::new(LogFollower {
        log,
        filter: filter.clone(),
        reader: Reader::since(day),
        known,
        ahead,
        ready: Vec::new(),
    }))
}

/// The newest entries in the log, whatever their tag: all later ones are new. The time is read
/// again afterwards, when none of them can be later; entries that are later anyway are returned
/// separately.
async fn newest(phone: &Android) -> Result<(DeliveredEntries, Vec<LogEntry>, Date), Error> {
    let line = ShellCommand::new("date +%Y-%m-%dT%H:%M:%S; logcat -d -v threadtime -t")
        .number(NEWEST)
        .then("; s=$?; date +%Y-%m-%dT%H:%M:%S; exit $s");
    let mut log = LogcatProcess::start(phone, line).await?;
    let today = log.date().await?;
    let reader = Reader::until(today);
    let (mut entries, mut now) = (Vec::new(), None);
    while let Some(line) = log.line().await? {
        if let Some(entry) = reader.read(&line) {
            log.certain = true;
            entries.push(entry);
        } else if read_date(&line).is_some() {
            now = Some(line);
        } else {
            log.doubt(&line);
        }
    }
    log.end()?;
    let now = now.unwrap_or_else(|| NEVER.into());
    let (known, ahead) = DeliveredEntries::newest_of(entries, now.trim());
    Ok((known, ahead, today))
}

/// Used if a phone reports no time: no entry is later.
const NEVER: &str = "9999-12-31T23:59:59";

/// The phone's time, as `2024-09-01T12:13:14`.
async fn ask_time(phone: &Android) -> Result<String, Error> {
    let output = phone.ask(ShellCommand::new("date +%Y-%m-%dT%H:%M:%S")).await?.out;
    let time = output.lines().rev().find(|line| read_date(line).is_some());
    Ok(time.unwrap_or(NEVER).trim().to_owned())
}

/// Whether an entry is later than the phone's time, which is in whole seconds.
fn is_ahead(entry: &LogEntry, now: &str) -> bool {
    let second = entry.time.split_once('.').map_or(&*entry.time, |(second, _)| second);
    second > now.trim()
}

/// Which of the first entries were delivered before.
enum DeliveredEntries {
    /// None.
    Nothing,
    /// All up to this one. Entries with its timestamp are held back until it appears.
    Up { to: LogEntry, held: Vec<LogEntry> },
    /// All before the common timestamp of these, and these.
    These(Vec<LogEntry>),
}

impl DeliveredEntries {
    /// The last of these entries and all with its timestamp; separately, those later than the
    /// phone's time.
    fn newest_of(entries: Vec<LogEntry>, now: &str) -> (Self, Vec<LogEntry>) {
        let (ahead, entries): (Vec<_>, Vec<_>) =
            entries.into_iter().partition(|entry| is_ahead(entry, now));
        let mut these: Vec<LogEntry> = Vec::new();
        for entry in entries {
            match these.first().map(|first| first.time.as_str().cmp(&entry.time)) {
                // Entries of several processes are not sorted by time.
                Some(std::cmp::Ordering::Greater) => {}
                Some(std::cmp::Ordering::Equal) => these.push(entry),
                _ => these = vec![entry],
            }
        }
        if let (true, Some(one)) = (these.is_empty(), ahead.first()) {
            // Unlike any real entry, so everything written from now on is new.
            these.push(LogEntry { time: format!("{now}.000000"), pid: 0, ..one.clone() });
        }
        (if these.is_empty() { Self::Nothing } else { Self::These(these) }, ahead)
    }

    /// The time from which entries are new.
    fn time(&self) -> Option<&str> {
        match self {
            Self::Nothing => None,
            Self::Up { to, .. } => Some(&to.time),
            Self::These(these) => these.first().map(|one| one.time.as_str()),
        }
    }

    /// Sorts an entry; returns the new ones, in order.
    fn sort(&mut self, entry: LogEntry) -> Vec<LogEntry> {
        use std::cmp::Ordering::{Equal, Greater, Less};
        let Some(order) = self.time().map(|time| entry.time.as_str().cmp(time)) else {
            return vec![entry];
        };
        match (order, &mut *self) {
            (Less, _) => return Vec::new(),
            (Equal, Self::These(these)) => {
                return match these.iter().position(|one| *one == entry) {
                    // Two equal entries are two entries.
                    Some(at) if these.len() > 1 => {
                        let _ = these.swap_remove(at);
                        Vec::new()
                    }
                    Some(_) => {
                        *self = Self::Nothing;
                        Vec::new()
                    }
                    None => vec![entry],
                };
            }
            (Equal, Self::Up { to, held }) if *to != entry && held.len() < MAX_HELD => {
                held.push(entry);
                return Vec::new();
            }
            (Equal, Self::Up { to, .. }) if *to == entry => {
                *self = Self::Nothing;
                return Vec::new();
            }
            (Equal | Greater, _) => {}
        }
        // It is no longer in the log, so entries with its timestamp came later.
        let mut new = match std::mem::replace(self, Self::Nothing) {
            Self::Up { held, .. } => held,
            Self::Nothing | Self::These(_) => Vec::new(),
        };
        new.push(entry);
        new
    }
}

struct LogFollower {
    log: LogcatProcess,
    filter: LogFilter,
    reader: Reader,
    known: DeliveredEntries,
    /// Entries that were in the log at the start although they are later than the phone's time.
    ahead: Vec<LogEntry>,
    /// Entries read but not yet delivered, the next one last.
    ready: Vec<LogEntry>,
}

#[async_trait]
impl LogStream for LogFollower {
    async fn next(&mut self) -> Result<Option<LogEntry>, Error> {
        loop {
            if let Some(entry) = self.ready.pop() {
                return Ok(Some(entry));
            }
            let Some(line) = self.log.line().await? else {
                return self.log.end().map(|()| None);
            };
            let Some(entry) = self.reader.read(&line) else {
                self.log.doubt(&line);
                continue;
            };
            self.log.certain = true;
            if let Some(day) = read_date(&entry.time) {
                self.reader = Reader::since(day);
            }
            if let Some(at) = self.ahead.iter().position(|one| *one == entry) {
                let _ = self.ahead.swap_remove(at);
            } else if self.filter.takes(&entry) {
                self.ready = self.known.sort(entry);
                self.ready.reverse();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Priority;

    fn entry(millis: u32, message: &str) -> LogEntry {
        LogEntry {
            time: format!("2024-09-01T12:13:14.{millis:03}000"),
            priority: Priority::Info,
            tag: "Tag".into(),
            pid: 1,
            tid: 2,
            message: message.into(),
        }
    }

    fn given(mut known: DeliveredEntries, entries: &[(u32, &str)]) -> String {
        let new = entries.iter().flat_map(|(millis, message)| known.sort(entry(*millis, message)));
        new.map(|entry| entry.message).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn entries_after_a_given_one_are_delivered_once() {
        let after = || DeliveredEntries::Up { to: entry(5, "last"), held: Vec::new() };
        let check = |entries: &[(u32, &str)], expected: &str| {
            assert_eq!(given(after(), entries), expected, "{entries:?}");
        };
        check(&[(5, "last"), (5, "b"), (6, "c")], "b c");
        check(&[(4, "a"), (5, "before"), (5, "last"), (5, "b")], "b");
        // A later entry may have an earlier timestamp.
        check(&[(5, "last"), (4, "b"), (6, "c")], "b c");
        // It is no longer in the log.
        check(&[(5, "b"), (5, "c"), (6, "d")], "b c d");
        check(&[(6, "d"), (5, "last")], "d last");
    }

    #[test]
    fn entry_is_ahead_only_in_a_later_second() {
        let check = |now: &str| is_ahead(&entry(999, "last"), now);
        assert!(!check("2024-09-01T12:13:14"));
        assert!(!check("2024-09-01T12:13:15\r"));
        assert!(check("2024-09-01T12:13:13"));
        assert!(check("2024-08-31T23:59:59\r"));
        assert!(!check(NEVER));
    }

    #[test]
    fn entry_ahead_of_the_clock_is_not_the_newest() {
        let later = LogEntry { time: "2024-09-02T00:00:00.000000".into(), ..entry(0, "fast") };
        let all = vec![entry(4, "a"), later.clone(), entry(5, "b")];
        let (known, ahead) = DeliveredEntries::newest_of(all, "2024-09-01T12:13:14");
        assert_eq!(ahead, std::slice::from_ref(&later));
        assert_eq!(given(known, &[(5, "b"), (5, "c"), (6, "d")]), "c d");
        // With no other entries: everything from the clock's time on is new.
        let (known, _) = DeliveredEntries::newest_of(vec![later], "2024-09-01T12:13:14");
        assert_eq!(given(known, &[(0, "a"), (1, "b")]), "a b");
    }

    #[test]
    fn old_entries_are_skipped_but_equal_new_ones_are_not() {
        let these = || DeliveredEntries::These(vec![entry(5, "a"), entry(5, "b"), entry(5, "b")]);
        let check = |entries: &[(u32, &str)], expected: &str| {
            assert_eq!(given(these(), entries), expected, "{entries:?}");
        };
        check(&[(4, "x"), (5, "a"), (5, "b"), (5, "b"), (5, "b"), (6, "a")], "b a");
        // The filter passed one of them, and then a new one with the same timestamp follows.
        check(&[(5, "a"), (5, "c"), (6, "d")], "c d");
        check(&[(6, "d"), (5, "a")], "d a");
        assert_eq!(given(DeliveredEntries::Nothing, &[(1, "a"), (1, "a")]), "a a");
    }
}
