//! `date` and `uptime`: the phone's clock, virtual and in UTC. The `date` of toolbox is in [`old`].

pub(super) mod old;
pub(super) use old::given_time;

use super::Invocation;
use super::options::{Failure, Options, Outcome, about};
use jiff::Timestamp;
use jiff::civil::{Date, DateTime, Time};
use jiff::fmt::strtime::{self, BrokenDownTime};
use jiff::tz::TimeZone;

/// Date and time in UTC, from seconds since 1970; the last second of 9999 for anything later.
pub fn date_time(seconds: u64) -> DateTime {
    TimeZone::UTC.to_datetime(timestamp(seconds).unwrap_or(Timestamp::MAX))
}

/// `2024-03-05 10:00:00`
pub fn dated(seconds: u64) -> String {
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

/// Seconds since 1970 of a time as `date -d` and `touch -d` read it: `@SECONDS`, a date, a time of
/// today, or both.
pub(super) fn parse_time(text: &str, now: u64) -> Option<u64> {
    if let Some(seconds) = text.strip_prefix('@') {
        return seconds.split('.').next()?.parse().ok();
    }
    let text = text.strip_suffix(['Z', 'z']).unwrap_or(text);
    let (whole, _) = text.split_once('.').unwrap_or((text, ""));
    let today = date_time(now).date();
    let full = ["%F %T", "%FT%T", "%F %H:%M", "%FT%H:%M", "%a %b %e %T %Z %Y"];
    let parsed = full.iter().find_map(|format| DateTime::strptime(format, whole).ok());
    let parsed =
        parsed.or_else(|| Some(Date::strptime("%F", whole).ok()?.to_datetime(Time::midnight())));
    let parsed = parsed.or_else(|| {
        let times = ["%T", "%H:%M"];
        let time = times.iter().find_map(|format| Time::strptime(format, whole).ok())?;
        Some(today.to_datetime(time))
    });
    unix_time(parsed.or_else(|| Some(date_time(compact_time(text, now)?)))?)
}

/// The same of `[[CC]YY]MMDDhhmm[.ss]`.
pub(super) fn compact_time(text: &str, now: u64) -> Option<u64> {
    let (digits, seconds) = text.split_once('.').unwrap_or((text, "00"));
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let year = date_time(now).year();
    let full = match digits.len() {
        8 => format!("{year:04}{digits}"),
        10 if digits.starts_with(['7', '8', '9']) => format!("19{digits}"),
        10 => format!("20{digits}"),
        12 => digits.to_owned(),
        _ => return None,
    };
    unix_time(DateTime::strptime("%Y%m%d%H%M%S", format!("{full}{seconds:0>2}")).ok()?)
}

fn unix_time(at: DateTime) -> Option<u64> {
    u64::try_from(TimeZone::UTC.to_timestamp(at).ok()?.as_second()).ok()
}

/// `date [-u] [-d TIME | -r FILE] [-I[hours|minutes|seconds]] [+FORMAT | TIME]`; the shell user may
/// not set the clock, as on a phone.
pub(super) async fn date(call: &Invocation) -> Outcome {
    let long = [("date", 'd'), ("iso", 'I'), ("iso-8601", 'I'), ("reference", 'r'), ("utc", 'u')];
    let options = Options::read(&call.args, "d:I;r:s:u", &long)?;
    let now = call.system.with(|kernel| kernel.unix_time());
    let mut at = now;
    let bad = |text: &str| Failure::new(format!("bad date {text}"));
    if let Some(text) = options.value('d') {
        at = parse_time(text, now).ok_or_else(|| bad(text))?;
    } else if let Some(path) = options.value('r') {
        let full = call.path(path);
        let stat = call.system.with(|kernel| kernel.files.stat(&full, true));
        at = stat.map_err(|reason| about(path, reason))?.modified;
    }
    let mut format = match options.value('I') {
        None => "%a %b %e %T %Z %Y",
        Some("" | "d" | "date") => "%F",
        Some("h" | "hours") => "%FT%H%:z",
        Some("m" | "minutes") => "%FT%H:%M%:z",
        Some("s" | "seconds") => "%FT%T%:z",
        Some(other) => return Err(Failure::new(format!("bad -I {other}"))),
    };
    let given = options.rest.first().map(String::as_str).or(options.value('s'));
    if let Some(text) = given {
        match text.strip_prefix('+') {
            Some(given) => format = given,
            None => {
                parse_time(text, now).ok_or_else(|| bad(text))?;
                return Err(Failure::new("cannot set date: Operation not permitted"));
            }
        }
    }
    let at = timestamp(at).unwrap_or(Timestamp::MAX);
    call.out(format!("{}\n", format_time(at, format, call.userland().utc))).await?;
    Ok(0)
}

/// `uptime [-ps]`
pub(super) async fn uptime(call: &Invocation) -> Outcome {
    let options = Options::read(&call.args, "ps", &[])?;
    options.at_most(0)?;
    let (now, up) =
        call.system.with(|kernel| (kernel.unix_time(), kernel.since_restart().as_secs()));
    let (days, hours, minutes) = (up / 86_400, up / 3_600 % 24, up / 60 % 60);
    if options.has('s') {
        call.out(format!("{}\n", dated(now.saturating_sub(up)))).await?;
        return Ok(0);
    }
    if options.has('p') {
        let units = [(days, "day"), (hours, "hour"), (minutes, "minute")];
        let parts = units
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, unit)| format!("{count} {unit}{}", if *count == 1 { "" } else { "s" }));
        call.out(format!("up {}\n", parts.collect::<Vec<_>>().join(", "))).await?;
        return Ok(0);
    }
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
