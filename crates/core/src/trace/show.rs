//! Prints a run in the terminal, one line per action.

use std::fmt::Write as _;

use super::reader::{Trace, TraceEntry};
use super::text::{action_text, harmless_line, outcome_text, time};

/// The maximum length of untrusted text on a line, in characters.
const LONGEST: usize = 160;

/// The run as text.
pub fn show(story: &Trace) -> String {
    let mut told = String::new();
    let line = |text: &str| harmless_line(text, LONGEST);
    for goal in &story.goals {
        let _ = writeln!(told, "goal     {}", line(&goal.request));
        let _ = writeln!(told, "policy   {}", line(&goal.mind));
    }
    let _ = writeln!(told, "started  {} by {}", line(&story.started), line(&story.program));
    if !story.phone.is_empty() {
        let _ = writeln!(told, "phone    {}", line(&story.phone));
    }
    told.push('\n');
    for moment in &story.moments {
        tell(&mut told, moment);
    }
    if let Some((status, why)) = &story.ended {
        let _ = writeln!(told, "\n{} after {}: {}", line(status), time(story.took_ms), line(why));
    }
    for note in &story.notes {
        let _ = writeln!(told, "note: {}", line(note));
    }
    told
}

fn tell(told: &mut String, moment: &TraceEntry) {
    let line = |text: &str| harmless_line(text, LONGEST);
    if let Some(round) = &moment.round {
        let app = round.app.as_deref().unwrap_or("unknown app");
        let _ = writeln!(told, "step {} on {}, {}", round.round, line(app), time(round.took_ms));
        let _ = writeln!(told, "  thought  {}", line(&round.thought));
        for action in &round.actions {
            let success = if action.success { "ok" } else { "failed" };
            let (function, message) = (line(&action.function), line(&action.message));
            let _ = writeln!(told, "  {success:<8} {function}: {message}");
        }
        for failure in &round.failures {
            let _ = writeln!(told, "  failure  {}", line(failure));
        }
    }
    for step in &moment.steps {
        let (what, end) = (line(&action_text(&step.action)), line(&outcome_text(&step.end)));
        let (at, took) = (time(step.at_ms), time(step.took_ms));
        let _ = writeln!(told, "{:>4}  {at:>10}  {took:>8}  {what}  ->  {end}", step.step);
    }
}
