//! Parses a line of `logcat -v threadtime`: `MM-DD hh:mm:ss.mmm  PID  TID P TAG     : MESSAGE`.
//!
//! Source: `android_log_formatLogLine` in AOSP's `logprint.cpp`. A tag may contain anything, and is
//! padded with spaces to eight characters; it ends at the first `: `.

use crate::{LogEntry, Priority};

/// A calendar day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Date {
    pub(super) year: i64,
    pub(super) month: i64,
    pub(super) day: i64,
}

impl Date {
    /// A number that grows by one per day, and by up to four at a month's end: every month counts
    /// as 31 days.
    fn number(self) -> i64 {
        self.year * YEAR + self.month * 31 + self.day
    }
}

const YEAR: i64 = 12 * 31;

/// How far an entry's day may be ahead of the date read before it, because it was written later.
/// The end of February counts as four days.
const AHEAD: i64 = 4;

/// Parses the date in `2024-09-01` or `2024-09-01T12:13:14…`.
pub(super) fn read_date(text: &str) -> Option<Date> {
    let text = text.trim();
    let (date, rest) = text.split_at_checked(10)?;
    if !rest.is_empty() && !rest.starts_with('T') {
        return None;
    }
    let (year, date) = date.split_once('-')?;
    let (month, day) = read_day(date)?;
    Some(Date { year: digits(year, 4)?, month, day })
}

/// Parses lines, none of which contains its year.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reader {
    /// The first day that a line may be from; lines are less than a year newer.
    first: i64,
}

impl Reader {
    /// For lines written until that day: one from December, read in January, is last year's.
    pub(super) fn until(today: Date) -> Self {
        Self { first: today.number() + AHEAD - YEAR + 1 }
    }

    /// For lines written from that day on. Clocks get set back, so up to half a year earlier counts
    /// too.
    pub(super) fn since(day: Date) -> Self {
        Self { first: day.number() - YEAR / 2 }
    }

    /// Parses one line; `None` if it is not an entry.
    pub(super) fn read(&self, line: &str) -> Option<LogEntry> {
        let (date, rest) = word(line)?;
        let (time, rest) = word(rest)?;
        let (pid, rest) = word(rest)?;
        let (tid, rest) = word(rest)?;
        let (priority, rest) = word(rest)?;
        let (month, day) = read_day(date)?;
        let time = read_time(time)?;
        let mut letters = priority.chars();
        let priority = letters.next().filter(|_| letters.as_str().is_empty())?;
        // A space after the letter that is not part of the tag.
        let rest = rest.strip_prefix(' ')?;
        let (tag, message) =
            rest.split_once(": ").or_else(|| Some((rest.strip_suffix(':')?, "")))?;
        let year = self.year(month, day);
        Some(LogEntry {
            time: format!("{year:04}-{month:02}-{day:02}T{time}"),
            priority: Priority::from_letter(priority)?,
            tag: tag.trim().to_owned(),
            pid: pid.parse().ok()?,
            tid: tid.parse().ok()?,
            message: message.to_owned(),
        })
    }

    fn year(&self, month: i64, day: i64) -> i64 {
        let before = Date { year: 0, month, day }.number();
        // The first year in which that day is not before the first day.
        (self.first - before + YEAR - 1).div_euclid(YEAR)
    }
}

/// The next word, and the rest after it.
fn word(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start_matches(' ');
    Some(text.split_at(text.find(' ')?))
}

fn read_day(text: &str) -> Option<(i64, i64)> {
    let (month, day) = text.split_once('-')?;
    let (month, day) = (digits(month, 2)?, digits(day, 2)?);
    ((1..=12).contains(&month) && (1..=31).contains(&day)).then_some((month, day))
}

/// Parses `12:13:14.123`, with three to nine decimals, as `12:13:14.123000`.
fn read_time(text: &str) -> Option<String> {
    let (time, fraction) = text.split_once('.')?;
    let parts: Vec<i64> = time.split(':').map(|part| digits(part, 2)).collect::<Option<_>>()?;
    let [0..24, 0..60, 0..=60] = parts[..] else { return None };
    let known = (3..=9).contains(&fraction.len()) && fraction.bytes().all(|b| b.is_ascii_digit());
    let micros = fraction.get(..fraction.len().min(6)).filter(|_| known)?;
    Some(format!("{time}.{micros:0<6}"))
}

fn digits(text: &str, many: usize) -> Option<i64> {
    let all = text.len() == many && text.bytes().all(|byte| byte.is_ascii_digit());
    if all { text.parse().ok() } else { None }
}
