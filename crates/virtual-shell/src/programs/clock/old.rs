//! `date` of toolbox (`date.c` in `system/core/toolbox` of Android 4.4) as a running 4.4.4 answers:
//! only root can set the clock.

use super::{Invocation, format_time, timestamp};
use crate::io::Status;
use crate::programs::getopt::options;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

/// Seconds since 1970 of `20140101.123456`; the part after the dot may be missing.
pub(in crate::programs) fn given_time(text: &str) -> Option<u64> {
    let (day, time) = text.split_once('.').unwrap_or((text, "000000"));
    let at = DateTime::strptime("%Y%m%d%H%M%S", format!("{day}{time:0<6}")).ok()?;
    u64::try_from(TimeZone::UTC.to_timestamp(at).ok()?.as_second()).ok()
}

/// `date [-s TIME] [-u] [+FORMAT | TIME]`
pub(in crate::programs) async fn date(call: Invocation) -> Status {
    let now = timestamp(call.system.with(|kernel| kernel.unix_time())).unwrap_or(Timestamp::MAX);
    let mut args = call.args.clone();
    if let Some(at) = args.iter().position(|arg| arg == "-s") {
        if at + 1 == args.len() {
            let text = "date: option requires an argument -- s\ndate: invalid option -s\n";
            call.err(text).await;
            return Ok(1);
        }
        // Without a right to the clock nothing changes, and the program does not say so.
        args.drain(at..at + 2);
    }
    let call = Invocation { args, ..call };
    let (errors, _, rest) = options(&call, "u");
    if let Some(first) = errors.first() {
        // The second line has the letter too, but not that of a long option.
        let letter = first.trim_end().rsplit(' ').next().unwrap_or_default();
        let letter = letter.trim_start_matches('-');
        call.err(format!(
            "{first}date: invalid option -{}\n",
            if letter.is_empty() { "-" } else { letter }
        ))
        .await;
        return Ok(1);
    }
    let format = match rest {
        [] => "%a %b %e %T %Z %Y",
        [only] => match only.strip_prefix('+') {
            Some(format) => format,
            None => {
                let (day, time) = match only.split_once('.') {
                    Some((day, time)) => (number(day), number(time)),
                    None => (number(only), 0),
                };
                call.out(format!("time {only} -> {day}.{time}\n")).await?;
                call.err("settimeofday failed Bad file number\n").await;
                return Ok(1);
            }
        },
        _ => {
            call.err("date [-s 20070325.123456] [-u] [date]\n").await;
            return Ok(1);
        }
    };
    call.out(format!("{}\n", format_time(now, format, call.userland().utc))).await?;
    Ok(0)
}

/// `uptime`: toolbox's `uptime.c` of Android 4.4.
pub(in crate::programs) async fn uptime(call: Invocation) -> Status {
    let up = call.system.with(|kernel| kernel.since_restart().as_secs());
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
    Ok(0)
}

/// The number that a text starts with, or 0, as `strtol` reads it.
fn number(text: &str) -> u64 {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text[..digits].parse().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{given_time, number};

    #[test]
    fn times_are_a_day_and_a_time_of_the_day() {
        assert_eq!(given_time("20140101.000000"), Some(1_388_534_400));
        assert_eq!(given_time("20140101"), Some(1_388_534_400));
        assert_eq!((given_time("nope"), given_time("20141301.000000")), (None, None));
        assert_eq!((number("000"), number("12x"), number("nope")), (0, 12, 0));
    }
}
