//! Counts calls for Prometheus.
//!
//! Start with [`Metrics::render`], which writes Prometheus's text format, version 0.0.4. Labels
//! have names of tools that exist, and nothing that a client sent.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use thumbwire_base::lock;

use crate::audit::Outcome;

/// The counts of one server since its start. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct Metrics(Arc<Mutex<Counts>>);

#[derive(Default)]
struct Counts {
    calls: BTreeMap<(String, Outcome), u64>,
    /// How many calls took at most as long as the bound of the same index, and longer than the one
    /// before.
    within: [u64; BOUNDS.len()],
    longer: u64,
    sum: Duration,
}

/// The upper bounds of the durations, in seconds: from a cached answer to a run of the agent.
const BOUNDS: [f64; 10] = [0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 60.0, 600.0];

/// The maximum number of rows. Apps bring tools of their own, and could go on renaming them.
const MAX_COUNT: usize = 1000;

/// What is counted when it is asked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Gauges {
    /// The MCP sessions.
    pub(crate) sessions: usize,
    /// The open connections.
    pub(crate) connections: usize,
    /// The connected phones; `None` if unknown.
    pub(crate) phones: Option<usize>,
    /// Those of them that a client has for itself.
    pub(crate) leased_phones: Option<usize>,
}

impl Metrics {
    /// Counts a call. `tool` is `None` if no tool has the name that the client sent.
    pub(crate) fn count(&self, tool: Option<&str>, outcome: Outcome, took: Duration) {
        let mut counts = lock(&self.0);
        let key = (tool.unwrap_or("(unknown)").to_owned(), outcome);
        let is_new = !counts.calls.contains_key(&key);
        let key = if is_new && counts.calls.len() >= MAX_COUNT {
            ("(other)".into(), outcome)
        } else {
            key
        };
        *counts.calls.entry(key).or_default() += 1;
        match BOUNDS.iter().position(|bound| took.as_secs_f64() <= *bound) {
            Some(at) => counts.within[at] += 1,
            None => counts.longer += 1,
        }
        counts.sum = counts.sum.saturating_add(took);
    }

    /// The text for Prometheus.
    pub(crate) fn render(&self, gauges: Gauges) -> String {
        let counts = lock(&self.0);
        let mut out = String::from(
            "# HELP thumbwire_calls_total Calls of tools that ended.\n\
             # TYPE thumbwire_calls_total counter\n",
        );
        let mut line = |text: std::fmt::Arguments<'_>| {
            // Writing to a String does not fail.
            let _ = writeln!(out, "{text}");
        };
        for ((tool, outcome), count) in &counts.calls {
            let outcome = outcome.name();
            line(format_args!(
                "thumbwire_calls_total{{tool=\"{tool}\",outcome=\"{outcome}\"}} {count}"
            ));
        }
        line(format_args!("# HELP thumbwire_call_duration_seconds How long calls took."));
        line(format_args!("# TYPE thumbwire_call_duration_seconds histogram"));
        let mut so_far = 0;
        for (bound, count) in BOUNDS.iter().zip(counts.within) {
            so_far += count;
            line(format_args!("thumbwire_call_duration_seconds_bucket{{le=\"{bound}\"}} {so_far}"));
        }
        let all = so_far + counts.longer;
        line(format_args!("thumbwire_call_duration_seconds_bucket{{le=\"+Inf\"}} {all}"));
        line(format_args!("thumbwire_call_duration_seconds_sum {}", counts.sum.as_secs_f64()));
        line(format_args!("thumbwire_call_duration_seconds_count {all}"));
        let gauges = [
            ("sessions", "MCP sessions.", Some(gauges.sessions)),
            ("connections", "Open connections.", Some(gauges.connections)),
            ("phones", "Connected phones.", gauges.phones),
            ("leased_phones", "Phones that a client has for itself.", gauges.leased_phones),
        ];
        for (name, help, value) in gauges {
            let Some(value) = value else { continue };
            line(format_args!("# HELP thumbwire_{name} {help}"));
            line(format_args!("# TYPE thumbwire_{name} gauge"));
            line(format_args!("thumbwire_{name} {value}"));
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: Gauges =
        Gauges { sessions: 0, connections: 0, phones: None, leased_phones: None };

    #[test]
    fn durations_are_counted_in_cumulative_buckets() {
        let metrics = Metrics::default();
        for ms in [1, 10, 11, 900, 700_000] {
            metrics.count(Some("tap"), Outcome::Ok, Duration::from_millis(ms));
        }
        metrics.count(None, Outcome::Refused, Duration::ZERO);
        let text = metrics.render(NOTHING);
        let expected = "\
# HELP thumbwire_calls_total Calls of tools that ended.
# TYPE thumbwire_calls_total counter
thumbwire_calls_total{tool=\"(unknown)\",outcome=\"refused\"} 1
thumbwire_calls_total{tool=\"tap\",outcome=\"ok\"} 5
# HELP thumbwire_call_duration_seconds How long calls took.
# TYPE thumbwire_call_duration_seconds histogram
thumbwire_call_duration_seconds_bucket{le=\"0.01\"} 3
thumbwire_call_duration_seconds_bucket{le=\"0.05\"} 4
thumbwire_call_duration_seconds_bucket{le=\"0.1\"} 4
thumbwire_call_duration_seconds_bucket{le=\"0.25\"} 4
thumbwire_call_duration_seconds_bucket{le=\"0.5\"} 4
thumbwire_call_duration_seconds_bucket{le=\"1\"} 5
thumbwire_call_duration_seconds_bucket{le=\"2.5\"} 5
thumbwire_call_duration_seconds_bucket{le=\"10\"} 5
thumbwire_call_duration_seconds_bucket{le=\"60\"} 5
thumbwire_call_duration_seconds_bucket{le=\"600\"} 5
thumbwire_call_duration_seconds_bucket{le=\"+Inf\"} 6
thumbwire_call_duration_seconds_sum 700.922
thumbwire_call_duration_seconds_count 6
# HELP thumbwire_sessions MCP sessions.
# TYPE thumbwire_sessions gauge
thumbwire_sessions 0
# HELP thumbwire_connections Open connections.
# TYPE thumbwire_connections gauge
thumbwire_connections 0
";
        assert_eq!(text, expected);
    }

    #[test]
    fn tools_that_go_on_changing_their_names_do_not_fill_the_memory() {
        let metrics = Metrics::default();
        for number in 0..10 * MAX_COUNT {
            metrics.count(Some(&format!("tool_{number}")), Outcome::Ok, Duration::ZERO);
        }
        let text = metrics.render(NOTHING);
        assert_eq!(text.matches("thumbwire_calls_total{").count(), MAX_COUNT + 1);
        assert!(text.contains("{tool=\"(other)\",outcome=\"ok\"} 9000\n"));
    }
}
