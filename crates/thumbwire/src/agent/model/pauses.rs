//! How long is waited before a request is sent again. Time is handed in.

use std::time::Duration;

use jiff::Timestamp;
use jiff::fmt::rfc2822;
use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};

use super::fault::Again;

/// A server that wants a longer pause does not mean this run.
pub(super) const LONGEST: Duration = Duration::from_secs(300);

/// The pause before the next attempt; `None` where there is none.
pub(super) fn until_again(
    again: Again,
    pause: Option<Duration>,
    left: Duration,
) -> Option<Duration> {
    match again {
        Again::No => None,
        // No failure: the number of ways to write a request is what ends this.
        Again::Otherwise => Some(Duration::ZERO),
        Again::Yes | Again::Once => pause.filter(|pause| *pause < left),
        Again::After(named) => {
            pause.map(|_| named).filter(|named| *named < left && *named <= LONGEST)
        }
    }
}

/// The pause that a server wants: `retry-after-ms` (OpenAI, Azure), or `Retry-After` in seconds or as a date (RFC 9110, 10.2.3), which
/// counts from the server's own `Date`.
pub(super) fn named(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let text = |header: &HeaderMap, name: &str| {
        header.get(name).and_then(|value| value.to_str().ok()).map(|text| text.trim().to_owned())
    };
    let number =
        |text: &str| text.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0);
    if let Some(ms) = text(headers, "retry-after-ms").and_then(|ms| number(&ms)) {
        return Duration::try_from_secs_f64(ms / 1000.0).ok();
    }
    let after = text(headers, RETRY_AFTER.as_str())?;
    if let Some(seconds) = number(&after) {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = |text: &str| rfc2822::parse(text).ok().map(|date| date.timestamp());
    let now = text(headers, DATE.as_str()).and_then(|text| date(&text)).unwrap_or(now);
    let seconds = date(&after)?.duration_since(now).as_secs();
    Some(Duration::from_secs(u64::try_from(seconds).unwrap_or(0)))
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
    fn a_pause_is_understood_in_each_way_of_naming_it() {
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
    fn a_pause_longer_than_is_left_ends_the_asking() {
        let second = Duration::from_secs(1);
        assert_eq!(until_again(Again::Yes, Some(second), second * 9), Some(second));
        assert_eq!(until_again(Again::Yes, Some(second), second / 2), None);
        assert_eq!(until_again(Again::Yes, None, second * 9), None);
        assert_eq!(
            until_again(Again::After(second * 8), Some(second), second * 9),
            Some(second * 8)
        );
        assert_eq!(until_again(Again::After(second * 9), Some(second), second * 9), None);
        assert_eq!(until_again(Again::After(second * 301), Some(second), second * 9999), None);
        assert_eq!(until_again(Again::Otherwise, None, second), Some(Duration::ZERO));
    }
}
