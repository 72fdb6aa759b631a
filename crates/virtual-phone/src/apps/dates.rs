//! Days of the Gregorian calendar, counted from 1 January 1970.

use std::time::Duration;

use crate::clock::SWITCHED_ON;

/// A day, as days since 1 January 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Day(pub(super) i64);

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
pub(super) const WEEKDAYS: [&str; 7] =
    ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

impl Day {
    /// The day after the phone ran for `uptime`.
    pub(super) fn at(uptime: Duration) -> Day {
        let seconds = SWITCHED_ON + uptime.as_secs();
        Day(i64::try_from(seconds / 86_400).unwrap_or(0)).bounded()
    }

    pub(super) fn new(year: i64, month: i64, day: i64) -> Day {
        // Years start in March here, so that the leap day is the last of its year (H. Hinnant, "chrono-Compatible
        // Low-Level Date Algorithms", days_from_civil).
        let year = if month <= 2 { year - 1 } else { year };
        let era = year.div_euclid(400);
        let of_era = year.rem_euclid(400);
        let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
        Day(era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468)
    }

    /// Year, month (1 to 12) and day of the month.
    pub(super) fn civil(self) -> (i64, i64, i64) {
        let days = self.0 + 719_468;
        let (era, of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
        let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year + year / 4 - year / 100);
        let month = (5 * of_year + 2) / 153;
        let day = of_year - (153 * month + 2) / 5 + 1;
        let month = if month < 10 { month + 3 } else { month - 9 };
        (era * 400 + year + i64::from(month <= 2), month, day)
    }

    /// 0 for Monday.
    pub(super) fn weekday(self) -> usize {
        // 1 January 1970 was a Thursday.
        usize::try_from((self.0 + 3).rem_euclid(7)).unwrap_or(0)
    }

    /// The first day of its month, and the number of days in it.
    pub(super) fn month(self) -> (Day, i64) {
        let (year, month, _) = self.civil();
        let first = Day::new(year, month, 1);
        let next =
            if month == 12 { Day::new(year + 1, 1, 1) } else { Day::new(year, month + 1, 1) };
        (first, next.0 - first.0)
    }

    /// The same day some months later, or the last one of that month.
    pub(super) fn months_later(self, by: i64) -> Day {
        let (year, month, day) = self.civil();
        let months = (year * 12 + month - 1).saturating_add(by);
        let first = Day::new(months.div_euclid(12), months.rem_euclid(12) + 1, 1).bounded();
        let (_, length) = first.month();
        Day(first.0 + day.min(length) - 1).bounded()
    }

    /// The same, clamped to 1970 to 2100.
    pub(super) fn bounded(self) -> Day {
        Day(self.0.clamp(0, 47_846))
    }

    /// `2024-03-05`.
    pub(super) fn written(self) -> String {
        let (year, month, day) = self.civil();
        format!("{year}-{month:02}-{day:02}")
    }

    /// Parses `2024-03-05`.
    pub(super) fn read(text: &str) -> Option<Day> {
        let mut parts = text.splitn(3, '-').map(|part| part.parse::<i64>().ok());
        let (year, month, day) = (parts.next()??, parts.next()??, parts.next()??);
        let fits = (1970..=2100).contains(&year) && (1..=12).contains(&month);
        (fits && (1..=31).contains(&day)).then(|| Day::new(year, month, day).bounded())
    }

    /// `Tuesday, 5 March`.
    pub(super) fn label(self) -> String {
        let (_, month, day) = self.civil();
        format!("{}, {day} {}", WEEKDAYS[self.weekday()], month_name(month))
    }
}

/// The name of a month, 1 to 12.
pub(super) fn month_name(month: i64) -> &'static str {
    let at = usize::try_from(month - 1).unwrap_or(0);
    MONTHS.get(at).copied().unwrap_or_default()
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
