//! How long to wait before a retry. Time is passed in.

use std::time::Duration;

use jiff::Timestamp;
use jiff::fmt::rfc2822;
use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};

use super::error::{Retry, pause_of};

/// A server that asks for a longer pause cannot be waited for in a run.
pub(super) const MAX_PAUSE: Duration = Duration::from_secs(300);

/// The pause before the next attempt; `None` if there is none.
pub(super) fn retry_delay(
    retry: Retry,
    pause: Option<Duration>,
    left: Duration,
) -> Option<Duration> {
    match retry {
        Retry::Never | Retry::Without(_) => None,
        // Not a failure: the number of adaptations is limited.
        Retry::Adapted => Some(Duration::ZERO),
        Retry::Backoff | Retry::Once => pause.filter(|pause| *pause < left),
        Retry::After(named) => {
            pause.map(|_| named).filter(|named| *named < left && *named <= MAX_PAUSE)
        }
    }
}

/// The pause that a server asks for: `retry-after-ms` (OpenAI, Azure), or `Retry-After` in seconds
/// or as a date (RFC 9110, section 10.2.3), counted from the server's own `Date`; else when a used
/// up limit begins again.
pub(super) fn named(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let text = |header: &HeaderMap, name: &str| {
        header.get(name).and_then(|value| value.to_str().ok()).map(|text| text.trim().to_owned())
    };
    let number =
        |text: &str| text.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0);
    if let Some(ms) = text(headers, "retry-after-ms").and_then(|ms| number(&ms)) {
        return Duration::try_from_secs_f64(ms / 1000.0).ok();
    }
    let Some(after) = text(headers, RETRY_AFTER.as_str()) else {
        return reset(|name| text(headers, name), now);
    };
    if let Some(seconds) = number(&after) {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = |text: &str| rfc2822::parse(text).ok().map(|date| date.timestamp());
    let now = text(headers, DATE.as_str()).and_then(|text| date(&text)).unwrap_or(now);
    let seconds = date(&after)?.duration_since(now).as_secs();
    Some(Duration::from_secs(u64::try_from(seconds).unwrap_or(0)))
}

/// When a limit of which nothing is left begins again: OpenAI's and Groq's headers for requests and
/// tokens with durations, others' with a Unix time in seconds or milliseconds, or seconds to wait.
fn reset(text: impl Fn(&str) -> Option<String>, now: Timestamp) -> Option<Duration> {
    let of = |kind: &str| {
        let header = |word: &str| {
            text(&format!("x-ratelimit-{word}{kind}"))
                .or_else(|| text(&format!("ratelimit-{word}{kind}")))
        };
        let is_used_up = header("remaining").and_then(|left| left.parse().ok()) == Some(0.0);
        let reset = header("reset").filter(|_| is_used_up)?;
        match reset.parse::<f64>() {
            Ok(number) if number > 1e9 => {
                let seconds = if number > 1e11 { number / 1000.0 } else { number };
                Duration::try_from_secs_f64(seconds - now.as_second() as f64).ok()
            }
            Ok(seconds) => Duration::try_from_secs_f64(seconds).ok(),
            Err(_) => pause_of(&reset),
        }
    };
    ["", "-requests", "-tokens"].into_iter().filter_map(of).max()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(headers: &[(&'static str, &str)]) -> Option<Duration> {
        let mut all = HeaderMap::new();
        for (name, value) in headers {
            all.insert(*name, value.parse().unwrap());
        }
        named(&all, "2026-11-21T12:00:00Z".parse().unwrap())
    }

    #[test]
    fn all_retry_after_formats_parse() {
        let seconds = |seconds| Some(Duration::from_secs_f64(seconds));
        assert_eq!(from(&[("retry-after", "7")]), seconds(7.0));
        assert_eq!(from(&[("retry-after", " 0.5 ")]), seconds(0.5));
        assert_eq!(from(&[("retry-after-ms", "250"), ("retry-after", "9")]), seconds(0.25));
        assert_eq!(from(&[("retry-after", "Sat, 21 Nov 2026 12:01:30 GMT")]), seconds(90.0));
        let date = ("date", "Sat, 21 Nov 2026 12:01:00 GMT");
        assert_eq!(from(&[("retry-after", "Sat, 21 Nov 2026 12:01:30 GMT"), date]), seconds(30.0));
        assert_eq!(from(&[("retry-after", "Sat, 21 Nov 2026 11:00:00 GMT")]), seconds(0.0));
        for odd in ["-3", "soon", "", "NaN", "1e300"] {
            assert_eq!(from(&[("retry-after", odd)]), None, "{odd}");
        }
        assert_eq!(from(&[]), None);
    }

    #[test]
    fn pause_beyond_the_deadline_ends_retries() {
        let second = Duration::from_secs(1);
        assert_eq!(retry_delay(Retry::Backoff, Some(second), second * 9), Some(second));
        assert_eq!(retry_delay(Retry::Backoff, Some(second), second / 2), None);
        assert_eq!(retry_delay(Retry::Backoff, None, second * 9), None);
        assert_eq!(
            retry_delay(Retry::After(second * 8), Some(second), second * 9),
            Some(second * 8)
        );
        assert_eq!(retry_delay(Retry::After(second * 9), Some(second), second * 9), None);
        assert_eq!(retry_delay(Retry::After(second * 301), Some(second), second * 9999), None);
        assert_eq!(retry_delay(Retry::Adapted, None, second), Some(Duration::ZERO));
    }
}
