//! Prints a run in the terminal, one line per action.

use std::fmt::Write as _;

use super::reader::{Trace, TraceEntry};
use super::text::{action_text, outcome_text, sanitize_line, time};

/// The maximum length of untrusted text on a line, in characters.
const MAX_LENGTH: usize = 160;

/// The run as text.
pub fn show(trace: &Trace) -> String {
    let mut out = String::new();
    let line = |text: &str| sanitize_line(text, MAX_LENGTH);
    for goal in &trace.goals {
        let _ = writeln!(out, "goal     {}", line(&goal.request));
        let _ = writeln!(out, "policy   {}", line(&goal.policy));
    }
    let _ = writeln!(out, "started  {} by {}", line(&trace.started), line(&trace.program));
    if !trace.phone.is_empty() {
        let _ = writeln!(out, "phone    {}", line(&trace.phone));
    }
    out.push('\n');
    for entry in &trace.entries {
        write_entry(&mut out, entry);
    }
    if let Some((status, reason)) = &trace.ended {
        let _ =
            writeln!(out, "\n{} after {}: {}", line(status), time(trace.duration_ms), line(reason));
    }
    for note in &trace.notes {
        let _ = writeln!(out, "note: {}", line(note));
    }
    out
}

fn write_entry(out: &mut String, entry: &TraceEntry) {
    let line = |text: &str| sanitize_line(text, MAX_LENGTH);
    if let Some(step) = &entry.step {
        let app = step.app.as_deref().unwrap_or("unknown app");
        let _ = writeln!(out, "step {} on {}, {}", step.step, line(app), time(step.duration_ms));
        let _ = writeln!(out, "  thought  {}", line(&step.thought));
        for action in &step.actions {
            let success = if action.success { "ok" } else { "failed" };
            let (function, message) = (line(&action.function), line(&action.message));
            let _ = writeln!(out, "  {success:<8} {function}: {message}");
        }
        for failure in &step.failures {
            let _ = writeln!(out, "  failure  {}", line(failure));
        }
    }
    for action in &entry.actions {
        let (what, end) = (line(&action_text(&action.action)), line(&outcome_text(&action.end)));
        let (at, duration) = (time(action.at_ms), time(action.duration_ms));
        let _ =
            writeln!(out, "{:>4}  {at:>10}  {duration:>8}  {what}  ->  {end}", action.action_id);
    }
}
