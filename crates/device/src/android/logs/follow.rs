//! A log that is followed: what comes after an entry, or after what lay in the log when it began.
//!
//! A phone since Android 5 begins at a time (`-T`); one before gives everything that it has first. Either way the first
//! entries may be known already: [`Known`] tells which.
//!
//! Times are the writers' own (`android_log_header_t`), and clocks are set back: an entry may be later than the phone's clock.
//! None such is taken for the newest, since everything that comes until then would be taken for old.

use async_trait::async_trait;

use super::entry::{Date, Reader, read_date};
use super::{Log, with_rules};
use crate::android::{Android, Line};
use crate::{Error, LogEntry, LogFilter, LogStream};

/// How many entries of the newest are looked at to know where "now" is; more of one millisecond are taken for new.
const NEWEST: i32 = 200;

/// How many entries of one millisecond are held back until it shows whether they are known.
const MOST_HELD: usize = 10_000;

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
            let why = || format!("{:?} is no time of a log's entry", last.time);
            let day = read_date(&last.time)
                .ok_or_else(|| Error::Refused { what: "log's time", why: why() })?;
            (Known::Up { to: last.clone(), held: Vec::new() }, Vec::new(), day)
        }
        None => newest(phone).await?,
    };
    // `exec`, so that logcat itself is told when nobody listens any more.
    let mut line = Line::new("exec logcat -v threadtime");
    // Phones without shell v2 are those before Android 7. Whether one of them has `-T` is not asked: it goes without.
    if let Some(time) = known.time()
        && !phone.is_old().await?
    {
        // `2024-09-01T12:13:14.123000` as logcat reads it; it prints and compares milliseconds here.
        let (date, time) = time.split_once('T').unwrap_or((time, ""));
        let time = time.get(..12).unwrap_or(time);
        line = line.then("-T").word(&format!("{date} {time}"))?;
    }
    let log = Log::start(phone, with_rules(line, filter)?).await?;
    Ok(Box::new(Following {
        log,
        filter: filter.clone(),
        reader: Reader::since(day),
        known,
        ahead,
        ready: Vec::new(),
    }))
}

/// What lies newest in the log, whatever its tag: all that comes later is new. The time is asked for again at the end, when
/// none of them can be later; those that are stand beside.
async fn newest(phone: &Android) -> Result<(Known, Vec<LogEntry>, Date), Error> {
    let line = Line::new("date +%Y-%m-%dT%H:%M:%S; logcat -d -v threadtime -t")
        .number(NEWEST)
        .then("; s=$?; date +%Y-%m-%dT%H:%M:%S; exit $s");
    let mut log = Log::start(phone, line).await?;
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
    let (known, ahead) = Known::newest_of(entries, now.trim());
    Ok((known, ahead, today))
}

/// The time where a phone tells none: no entry is later.
const NEVER: &str = "9999-12-31T23:59:59";

/// The phone's time, as `2024-09-01T12:13:14`.
async fn ask_time(phone: &Android) -> Result<String, Error> {
    let said = phone.ask(Line::new("date +%Y-%m-%dT%H:%M:%S")).await?.out;
    let time = said.lines().rev().find(|line| read_date(line).is_some());
    Ok(time.unwrap_or(NEVER).trim().to_owned())
}

/// Whether an entry is later than the phone's time, which is in whole seconds.
fn is_ahead(entry: &LogEntry, now: &str) -> bool {
    let second = entry.time.split_once('.').map_or(&*entry.time, |(second, _)| second);
    second > now.trim()
}

/// What of the first entries was given before.
enum Known {
    /// Nothing.
    Nothing,
    /// All up to this one; those of its time that came before it are held until it shows.
    Up { to: LogEntry, held: Vec<LogEntry> },
    /// All before the time of these, which all have the same; and these.
    These(Vec<LogEntry>),
}

impl Known {
    /// The last of these, and all that have its time; beside it those that are later than the phone's time.
    fn newest_of(entries: Vec<LogEntry>, now: &str) -> (Self, Vec<LogEntry>) {
        let (ahead, entries): (Vec<_>, Vec<_>) =
            entries.into_iter().partition(|entry| is_ahead(entry, now));
        let mut these: Vec<LogEntry> = Vec::new();
        for entry in entries {
            match these.first().map(|first| first.time.as_str().cmp(&entry.time)) {
                // Entries of several processes do not come in the order of their times.
                Some(std::cmp::Ordering::Greater) => {}
                Some(std::cmp::Ordering::Equal) => these.push(entry),
                _ => these = vec![entry],
            }
        }
        if let (true, Some(one)) = (these.is_empty(), ahead.first()) {
            // Like none that is there: whatever is written from now on is new.
            these.push(LogEntry { time: format!("{now}.000000"), pid: 0, ..one.clone() });
        }
        (if these.is_empty() { Self::Nothing } else { Self::These(these) }, ahead)
    }

    /// The time at which new entries begin.
    fn time(&self) -> Option<&str> {
        match self {
            Self::Nothing => None,
            Self::Up { to, .. } => Some(&to.time),
            Self::These(these) => these.first().map(|one| one.time.as_str()),
        }
    }

    /// Sorts an entry: gives those that are new, in their order.
    fn sort(&mut self, entry: LogEntry) -> Vec<LogEntry> {
        use std::cmp::Ordering::{Equal, Greater, Less};
        let Some(order) = self.time().map(|time| entry.time.as_str().cmp(time)) else {
            return vec![entry];
        };
        match (order, &mut *self) {
            (Less, _) => return Vec::new(),
            (Equal, Self::These(these)) => {
                return match these.iter().position(|one| *one == entry) {
                    // Two that are alike are two.
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
            (Equal, Self::Up { to, held }) if *to != entry && held.len() < MOST_HELD => {
                held.push(entry);
                return Vec::new();
            }
            (Equal, Self::Up { to, .. }) if *to == entry => {
                *self = Self::Nothing;
                return Vec::new();
            }
            (Equal | Greater, _) => {}
        }
        // It is no longer in the log: what has its time came later.
        let mut new = match std::mem::replace(self, Self::Nothing) {
            Self::Up { held, .. } => held,
            Self::Nothing | Self::These(_) => Vec::new(),
        };
        new.push(entry);
        new
    }
}

struct Following {
    log: Log,
    filter: LogFilter,
    reader: Reader,
    known: Known,
    /// Those that lay in the log when it began though they are later.
    ahead: Vec<LogEntry>,
    /// Entries that were read and not given yet, the next at the end.
    ready: Vec<LogEntry>,
}

#[async_trait]
impl LogStream for Following {
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

    fn given(mut known: Known, entries: &[(u32, &str)]) -> String {
        let new = entries.iter().flat_map(|(millis, message)| known.sort(entry(*millis, message)));
        new.map(|entry| entry.message).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn what_comes_after_an_entry_is_given_once_and_whole() {
        let after = || Known::Up { to: entry(5, "last"), held: Vec::new() };
        let check = |entries: &[(u32, &str)], expected: &str| {
            assert_eq!(given(after(), entries), expected, "{entries:?}");
        };
        check(&[(5, "last"), (5, "b"), (6, "c")], "b c");
        check(&[(4, "a"), (5, "before"), (5, "last"), (5, "b")], "b");
        // A later entry may have an earlier time.
        check(&[(5, "last"), (4, "b"), (6, "c")], "b c");
        // It is not there any more.
        check(&[(5, "b"), (5, "c"), (6, "d")], "b c d");
        check(&[(6, "d"), (5, "last")], "d last");
    }

    #[test]
    fn an_entry_is_ahead_of_the_clock_in_a_later_second_only() {
        let check = |now: &str| is_ahead(&entry(999, "last"), now);
        assert!(!check("2024-09-01T12:13:14"));
        assert!(!check("2024-09-01T12:13:15\r"));
        assert!(check("2024-09-01T12:13:13"));
        assert!(check("2024-08-31T23:59:59\r"));
        assert!(!check(NEVER));
    }

    #[test]
    fn an_entry_that_is_ahead_of_the_clock_is_not_taken_for_the_newest() {
        let later = LogEntry { time: "2024-09-02T00:00:00.000000".into(), ..entry(0, "fast") };
        let all = vec![entry(4, "a"), later.clone(), entry(5, "b")];
        let (known, ahead) = Known::newest_of(all, "2024-09-01T12:13:14");
        assert_eq!(ahead, std::slice::from_ref(&later));
        assert_eq!(given(known, &[(5, "b"), (5, "c"), (6, "d")]), "c d");
        // None is there that is not: what comes from the clock's time on is new.
        let (known, _) = Known::newest_of(vec![later], "2024-09-01T12:13:14");
        assert_eq!(given(known, &[(0, "a"), (1, "b")]), "a b");
    }

    #[test]
    fn what_lay_in_the_log_is_not_given_and_its_like_is() {
        let these = || Known::These(vec![entry(5, "a"), entry(5, "b"), entry(5, "b")]);
        let check = |entries: &[(u32, &str)], expected: &str| {
            assert_eq!(given(these(), entries), expected, "{entries:?}");
        };
        check(&[(4, "x"), (5, "a"), (5, "b"), (5, "b"), (5, "b"), (6, "a")], "b a");
        // The filter let one of them through, and then comes something new of the same time.
        check(&[(5, "a"), (5, "c"), (6, "d")], "c d");
        check(&[(6, "d"), (5, "a")], "d a");
        assert_eq!(given(Known::Nothing, &[(1, "a"), (1, "a")]), "a a");
    }
}
