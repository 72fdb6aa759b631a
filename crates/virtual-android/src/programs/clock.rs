//! `date` and `uptime`: the phone's clock, virtual and in UTC.

use super::Invocation;
use crate::io::Status;

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const WEEKDAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];

/// Date and time, in UTC.
pub(super) struct DateTime {
    pub(super) year: u64,
    /// 1 to 12.
    pub(super) month: u64,
    /// 1 to 31.
    pub(super) day: u64,
    pub(super) hour: u64,
    pub(super) minute: u64,
    pub(super) second: u64,
    weekday: &'static str,
    seconds: u64,
}

impl DateTime {
    /// From seconds since 1970.
    pub(super) fn new(seconds: u64) -> Self {
        let days = seconds / 86_400;
        // Days to a date as in Howard Hinnant's "chrono-compatible low-level date algorithms" (years start in March).
        let shifted = days + 719_468;
        let era = shifted / 146_097;
        let of_era = shifted % 146_097;
        let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted_month = (5 * of_year + 2) / 153;
        let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
        Self {
            year: year_of_era + era * 400 + u64::from(month <= 2),
            month,
            day: of_year - (153 * shifted_month + 2) / 5 + 1,
            hour: seconds / 3_600 % 24,
            minute: seconds / 60 % 60,
            second: seconds % 60,
            weekday: WEEKDAYS[(days % 7) as usize],
            seconds,
        }
    }

    /// `2024-03-05 10:00:00`
    pub(super) fn dated(&self) -> String {
        self.formatted("%F %T", "UTC")
    }

    fn month_name(&self) -> &'static str {
        MONTHS[(self.month as usize).saturating_sub(1) % 12]
    }

    /// The common letters of `strftime`; `zone` is the phone's name for UTC.
    fn formatted(&self, format: &str, zone: &str) -> String {
        let mut text = String::new();
        let mut chars = format.chars();
        while let Some(c) = chars.next() {
            if c != '%' {
                text.push(c);
                continue;
            }
            text.push_str(&match chars.next() {
                Some('Y') => self.year.to_string(),
                Some('m') => format!("{:02}", self.month),
                Some('d') => format!("{:02}", self.day),
                Some('e') => format!("{:2}", self.day),
                Some('H') => format!("{:02}", self.hour),
                Some('M') => format!("{:02}", self.minute),
                Some('S') => format!("{:02}", self.second),
                Some('F') => format!("{}-{:02}-{:02}", self.year, self.month, self.day),
                Some('T') => format!("{:02}:{:02}:{:02}", self.hour, self.minute, self.second),
                Some('s') => self.seconds.to_string(),
                Some('N') => "000000000".to_owned(),
                Some('a') => self.weekday.to_owned(),
                Some('b') => self.month_name().to_owned(),
                Some('y') => format!("{:02}", self.year % 100),
                Some('Z') => zone.to_owned(),
                Some('z') => "+0000".to_owned(),
                Some('%') => "%".to_owned(),
                Some(other) => format!("%{other}"),
                None => "%".to_owned(),
            });
        }
        text
    }
}

/// `date [-u] [-d @SECONDS] [+FORMAT]`; the shell user may not set the clock, as on a phone.
pub(super) async fn date(call: Invocation) -> Status {
    let mut seconds = call.phone.with(|phone| phone.world.unix_time());
    let mut format = "%a %b %e %T %Z %Y";
    let mut args = call.args.iter();
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "-u" => {}
            "-d" => match args.next().and_then(|text| text.trim_start_matches('@').parse().ok()) {
                Some(given) if given < 1 << 40 => seconds = given,
                _ => {
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
    call.out(format!("{}\n", DateTime::new(seconds).formatted(format, call.release().utc))).await?;
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
    let time = DateTime::new(now).formatted("%T", "UTC");
    call.out(format!(
        " {time} up {days}{hours:2}:{minutes:02},  0 users,  load average: 0.00, 0.00, 0.00\n"
    ))
    .await?;
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::DateTime;

    #[test]
    fn timestamps_convert_to_calendar_dates() {
        for (seconds, text) in [
            (0, "Thu Jan  1 00:00:00 UTC 1970"),
            (951_782_400, "Tue Feb 29 00:00:00 UTC 2000"),
            (1_709_632_800, "Tue Mar  5 10:00:00 UTC 2024"),
            (1_735_689_599, "Tue Dec 31 23:59:59 UTC 2024"),
        ] {
            assert_eq!(DateTime::new(seconds).formatted("%a %b %e %T %Z %Y", "UTC"), text);
        }
    }
}
