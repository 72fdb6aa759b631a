//! `date` and `uptime`: the phone's clock, virtual and in UTC. The `date` of toolbox is in [`old`].

mod old;
pub(super) use old::given_time;

use super::Invocation;
use crate::io::Status;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::fmt::strtime::{self, BrokenDownTime};
use jiff::tz::TimeZone;

/// Date and time in UTC, from seconds since 1970; the last second of 9999 for anything later.
pub(super) fn date_time(seconds: u64) -> DateTime {
    TimeZone::UTC.to_datetime(timestamp(seconds).unwrap_or(Timestamp::MAX))
}

/// `2024-03-05 10:00:00`
pub(super) fn dated(seconds: u64) -> String {
    date_time(seconds).strftime("%F %T").to_string()
}

fn timestamp(seconds: u64) -> Option<Timestamp> {
    Timestamp::from_second(i64::try_from(seconds).ok()?).ok()
}

/// Formats a time by the letters of `strftime`; `zone` is the phone's name for UTC. Unknown letters
/// stay as they are.
fn format_time(at: Timestamp, format: &str, zone: &str) -> String {
    // A zone that has this name and no offset.
    let zone = TimeZone::posix(&format!("{zone}0")).unwrap_or(TimeZone::UTC);
    let config = strtime::Config::new().lenient(true);
    BrokenDownTime::from(&at.to_zoned(zone))
        .to_string_with_config(&config, format)
        .unwrap_or_default()
}

/// `date [-u] [-d @SECONDS] [+FORMAT]`; the shell user may not set the clock, as on a phone.
pub(super) async fn date(call: Invocation) -> Status {
    if !call.release().toybox {
        return old::date(call).await;
    }
    let mut at =
        timestamp(call.phone.with(|phone| phone.world.unix_time())).unwrap_or(Timestamp::MAX);
    let mut format = "%a %b %e %T %Z %Y";
    let mut args = call.args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "-u" => {}
            "-d" => match args
                .next()
                .and_then(|text| timestamp(text.trim_start_matches('@').parse().ok()?))
            {
                Some(given) => at = given,
                None => {
                    call.err("date: bad date\n").await;
                    return Ok(1);
                }
            },
            text => match text.strip_prefix('+') {
                Some(given) => format = given,
                None => {
                    call.err("date: cannot set date: Operation not permitted\n").await;
                    return Ok(1);
                }
            },
        }
    }
    call.out(format!("{}\n", format_time(at, format, call.release().utc))).await?;
    Ok(0)
}

/// `uptime`
pub(super) async fn uptime(call: Invocation) -> Status {
    let (now, up) =
        call.phone.with(|phone| (phone.world.unix_time(), phone.world.since_restart().as_secs()));
    if !call.release().toybox {
        // toolbox's `uptime.c` of Android 4.4.
        let time = |seconds: u64| {
            let days = match seconds / 86_400 {
                0 => String::new(),
                1 => "1 day, ".to_owned(),
                days => format!("{days} days, "),
            };
            let (hours, minutes) = (seconds / 3_600 % 24, seconds / 60 % 60);
            format!("{days}{hours:02}:{minutes:02}:{:02}", seconds % 60)
        };
        let (up, zero) = (time(up), time(0));
        call.out(format!("up time: {up}, idle time: {zero}, sleep time: {zero}\n")).await?;
        return Ok(0);
    }
    let (days, hours, minutes) = (up / 86_400, up / 3_600 % 24, up / 60 % 60);
    let days = if days > 0 { format!("{days} days, ") } else { String::new() };
    let time = date_time(now).strftime("%T");
    call.out(format!(
        " {time} up {days}{hours:2}:{minutes:02},  0 users,  load average: 0.00, 0.00, 0.00\n"
    ))
    .await?;
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::{date_time, dated, format_time, timestamp};

    #[test]
    fn timestamps_convert_to_calendar_dates() {
        for (seconds, text) in [
            (0, "Thu Jan  1 00:00:00 UTC 1970"),
            (951_782_400, "Tue Feb 29 00:00:00 UTC 2000"),
            (1_709_632_800, "Tue Mar  5 10:00:00 UTC 2024"),
            (1_735_689_599, "Tue Dec 31 23:59:59 UTC 2024"),
        ] {
            let at = timestamp(seconds).unwrap();
            assert_eq!(format_time(at, "%a %b %e %T %Z %Y", "UTC"), text);
        }
        assert_eq!(dated(1_709_632_800), "2024-03-05 10:00:00");
        assert_eq!(date_time(u64::MAX).year(), 9999);
    }

    #[test]
    fn all_common_letters_are_formatted() {
        let at = timestamp(1_709_632_805).unwrap();
        for (format, text) in [
            ("%Y %y %m %d %e", "2024 24 03 05  5"),
            ("%H:%M:%S %T", "10:00:05 10:00:05"),
            ("%F %s %N", "2024-03-05 1709632805 000000000"),
            ("%a %b %Z %z", "Tue Mar GMT +0000"),
            ("100%% %", "100% %"),
        ] {
            assert_eq!(format_time(at, format, "GMT"), text, "{format}");
        }
    }
}
