//! Days of the Gregorian calendar, counted from 1 January 1970.

use crate::clock::date_time;
use jiff::civil::Date;
use jiff::{SignedDuration, ToSpan};
use std::time::Duration;

/// A day, as days since 1 January 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Day(pub(super) i64);

pub(super) const WEEKDAYS: [&str; 7] =
    ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/// 31 December 2100.
const LAST: i64 = 47_846;

impl Day {
    /// The day after the phone ran for `uptime`.
    pub(super) fn at(uptime: Duration) -> Day {
        Day::of(date_time(uptime).date()).bounded()
    }

    fn of(date: Date) -> Day {
        Day(date.duration_since(Date::constant(1970, 1, 1)).as_hours() / 24)
    }

    fn date(self) -> Date {
        Date::constant(1970, 1, 1)
            .saturating_add(SignedDuration::from_hours(self.0.saturating_mul(24)))
    }

    /// 0 for Monday.
    pub(super) fn weekday(self) -> usize {
        self.date().weekday().to_monday_zero_offset().unsigned_abs().into()
    }

    /// The first day of its month, and the number of days in it.
    pub(super) fn month(self) -> (Day, i64) {
        let date = self.date();
        (Day::of(date.first_of_month()), date.days_in_month().into())
    }

    /// The same day some months later, or the last one of that month.
    pub(super) fn months_later(self, by: i64) -> Day {
        let date = self.date();
        // No two days of this calendar are further apart.
        let by = by.clamp(-2_000, 2_000).months();
        let first = Day::of(date.first_of_month().saturating_add(by)).bounded();
        let (_, length) = first.month();
        Day(first.0 + i64::from(date.day()).min(length) - 1).bounded()
    }

    /// The same, clamped to 1970 to 2100.
    pub(super) fn bounded(self) -> Day {
        Day(self.0.clamp(0, LAST))
    }

    /// `2024-03-05`.
    pub(super) fn written(self) -> String {
        self.date().to_string()
    }

    /// Parses `2024-03-05`.
    pub(super) fn read(text: &str) -> Option<Day> {
        let day = Day::of(Date::strptime("%Y-%m-%d", text).ok()?);
        (day == day.bounded()).then_some(day)
    }

    /// The day in a format of `strftime`.
    pub(super) fn formatted(self, format: &str) -> String {
        self.date().strftime(format).to_string()
    }

    /// `Tuesday, 5 March`.
    pub(super) fn label(self) -> String {
        self.formatted("%A, %-d %B")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_follow_the_calendar() {
        for (day, written, weekday) in [
            (0, "1970-01-01", "Thursday"),
            (11_016, "2000-02-29", "Tuesday"),
            (19_787, "2024-03-05", "Tuesday"),
            (20_088, "2024-12-31", "Tuesday"),
            (47_481, "2099-12-31", "Thursday"),
        ] {
            assert_eq!(Day(day).written(), written);
            assert_eq!(Day::read(written), Some(Day(day)));
            assert_eq!(WEEKDAYS[Day(day).weekday()], weekday);
        }
        assert_eq!(Day::at(Duration::ZERO), Day(19_787));
    }

    #[test]
    fn one_month_later_clamps_to_the_last_day() {
        let later = |text, by| Day::read(text).unwrap().months_later(by).written();
        assert_eq!(later("2024-01-31", 1), "2024-02-29");
        assert_eq!(later("2024-03-05", -3), "2023-12-05");
        assert_eq!(later("2024-12-05", 1), "2025-01-05");
        assert_eq!(later("1970-01-02", -5), "1970-01-02");
        assert_eq!(Day::read("2024-13-01"), None);
        assert_eq!(Day::read("soon"), None);
    }
}
