//! Times by a phone's own clock and time zone, as text: `2024-09-01T12:13:14`, as in
//! [`LogEntry`](crate::LogEntry).
//!
//! They are compared with each other only, never with our clock. Changes of the clock for summer
//! are ignored.

/// The time at that many seconds after 1970 by the phone's own clock.
pub fn time_at(seconds: i64) -> String {
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // Days of a calendar whose years begin in March (Howard Hinnant, "chrono-compatible Low-Level
    // Date Algorithms").
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let (hour, minute, second) = (second / 3_600, second % 3_600 / 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}")
}

/// Seconds after 1970 of such a time, with `T` or a space between date and time; without a time it
/// is midnight. Fractions are dropped. `None` if it is not a time.
pub fn seconds_at(time: &str) -> Option<i64> {
    let (date, clock) = time.trim().split_once(['T', ' ']).unwrap_or((time.trim(), "00:00"));
    let [year, month, day] = numbers(date, '-')?[..] else { return None };
    let clock = clock.split('.').next()?;
    let (hour, minute, second) = match numbers(clock, ':')?[..] {
        [hour, minute] => (hour, minute, 0),
        [hour, minute, second] => (hour, minute, second),
        _ => return None,
    };
    let is_date =
        (1..=9999).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
    if !is_date || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let year = year - i64::from(month <= 2);
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let month_from_march = if month > 2 { month - 3 } else { month + 9 };
    let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    let days = era * 146_097 + day_of_era - 719_468;
    Some(days * 86_400 + hour * 3_600 + minute * 60 + second)
}

/// The seconds that a zone is ahead of UTC: `+0200`, `-0330`.
pub(crate) fn offset_seconds(zone: &str) -> Option<i64> {
    let zone = zone.trim();
    let (sign, digits) = match zone.split_at_checked(1)? {
        ("+", digits) => (1, digits),
        ("-", digits) => (-1, digits),
        _ => return None,
    };
    let number: i64 = digits.parse().ok().filter(|_| digits.len() == 4)?;
    Some(sign * (number / 100 * 3_600 + number % 100 * 60))
}

fn numbers(text: &str, between: char) -> Option<Vec<i64>> {
    let is_number =
        |part: &str| matches!(part.len(), 1..=4) && part.bytes().all(|b| b.is_ascii_digit());
    text.split(between).map(|part| part.parse().ok().filter(|_| is_number(part))).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn times_are_written_and_parsed() {
        for (seconds, time) in [
            (0, "1970-01-01T00:00:00"),
            (951_782_400, "2000-02-29T00:00:00"),
            (1_725_192_854, "2024-09-01T12:14:14"),
            (4_107_542_399, "2100-02-28T23:59:59"),
        ] {
            assert_eq!(time_at(seconds), time);
            assert_eq!(seconds_at(time), Some(seconds));
        }
        assert_eq!(seconds_at("2024-09-01 12:14"), Some(1_725_192_840));
        assert_eq!(seconds_at("2024-09-01T12:14:14.123000"), Some(1_725_192_854));
        assert_eq!(seconds_at(" 2024-09-01 "), Some(1_725_148_800));
        for not in
            ["", "yesterday", "12:14", "2024-13-01", "2024-09-01T24:00", "2024-09-01T12", "-1-1-1"]
        {
            assert_eq!(seconds_at(not), None, "{not}");
        }
        let zones = ["+0200", "-0330", "+0000", "0200", "UTC", "+2"].map(offset_seconds);
        assert_eq!(zones, [Some(7_200), Some(-12_600), Some(0), None, None, None]);
    }

    proptest! {
        #[test]
        fn any_time_is_parsed_back(seconds in -60_000_000_000_i64..200_000_000_000) {
            prop_assert_eq!(seconds_at(&time_at(seconds)), Some(seconds));
        }

        #[test]
        fn no_input_panics(words in "\\PC*") {
            let _ = (seconds_at(&words), offset_seconds(&words));
        }
    }
}
