//! Times by a phone's own clock and time zone, as text: `2024-09-01T12:13:14`, as in
//! [`LogEntry`](crate::LogEntry).
//!
//! They are compared with each other only, never with our clock. Changes of the clock for summer
//! are ignored.

use jiff::civil::DateTime;
use jiff::fmt::strtime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

/// The time at that many seconds after 1970 by the phone's own clock.
pub fn time_at(seconds: i64) -> String {
    let epoch = TimeZone::UTC.to_datetime(Timestamp::UNIX_EPOCH);
    epoch.saturating_add(SignedDuration::from_secs(seconds)).to_string()
}

/// Seconds after 1970 of a time of this form, with `T` or a space between date and time; a date
/// alone is its midnight. Fractions are dropped. `None` if it is not a time.
pub fn seconds_at(time: &str) -> Option<i64> {
    let time: DateTime = time.trim().parse().ok()?;
    Some(TimeZone::UTC.to_timestamp(time).ok()?.as_second())
}

/// The seconds that a zone is ahead of UTC: `+0200`, `-0330`.
pub(crate) fn offset_seconds(zone: &str) -> Option<i64> {
    let offset = strtime::parse("%z", zone.trim()).ok()?.offset()?;
    Some(offset.seconds().into())
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
        for not in ["", "yesterday", "12:14", "2024-13-01", "2024-09-01T24:00", "-1-1-1"] {
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
