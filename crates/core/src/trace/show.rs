//! Prints a run in the terminal, one line per action.

use std::fmt::Write as _;

use super::reader::{Trace, TraceEntry};
use super::text::{action_text, outcome_text, sanitize_line, time};

/// The maximum length of untrusted text on a line, in characters.
const LONGEST: usize = 160;

/// The run as text.
pub fn show(trace: &Trace) -> String {
    let mut out = String::new();
    let line = |text: &str| sanitize_line(text, LONGEST);
    for goal in &trace.goals {
        let _ = writeln!(out, "goal     {}", line(&goal.request));
        let _ = writeln!(out, "policy   {}", line(&goal.mind));
    }
    let _ = writeln!(out, "started  {} by {}", line(&trace.started), line(&trace.program));
    if !trace.phone.is_empty() {
        let _ = writeln!(out, "phone    {}", line(&trace.phone));
    }
    out.push('\n');
    for moment in &trace.moments {
        write_entry(&mut out, moment);
    }
    if let Some((status, why)) = &trace.ended {
        let _ = writeln!(out, "\n{} after {}: {}", line(status), time(trace.took_ms), line(why));
    }
    for note in &trace.notes {
        let _ = writeln!(out, "note: {}", line(note));
    }
    out
}

fn write_entry(out: &mut String, entry: &TraceEntry) {
    let line = |text: &str| sanitize_line(text, LONGEST);
    if let Some(round) = &entry.step {
        let app = round.app.as_deref().unwrap_or("unknown app");
        let _ = writeln!(out, "step {} on {}, {}", round.round, line(app), time(round.took_ms));
        let _ = writeln!(out, "  thought  {}", line(&round.thought));
        for action in &round.actions {
            let success = if action.success { "ok" } else { "failed" };
            let (function, message) = (line(&action.function), line(&action.message));
            let _ = writeln!(out, "  {success:<8} {function}: {message}");
        }
        for failure in &round.failures {
            let _ = writeln!(out, "  failure  {}", line(failure));
        }
    }
    for step in &entry.steps {
        let (what, end) = (line(&action_text(&step.action)), line(&outcome_text(&step.end)));
        let (at, took) = (time(step.at_ms), time(step.took_ms));
        let _ = writeln!(out, "{:>4}  {at:>10}  {took:>8}  {what}  ->  {end}", step.step);
    }
}
