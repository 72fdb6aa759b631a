//! A run on a terminal, a line a step.

use std::fmt::Write as _;

use super::story::{Moment, Story};
use super::words::{asked, came, harmless_line, time};

/// How many characters of a stranger's words stand on a line.
const LONGEST: usize = 160;

/// The run as text.
pub fn show(story: &Story) -> String {
    let mut told = String::new();
    let line = |text: &str| harmless_line(text, LONGEST);
    for goal in &story.goals {
        let _ = writeln!(told, "goal     {}", line(&goal.request));
        let _ = writeln!(told, "mind     {}", line(&goal.mind));
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

fn tell(told: &mut String, moment: &Moment) {
    let line = |text: &str| harmless_line(text, LONGEST);
    if let Some(round) = &moment.round {
        let app = round.app.as_deref().unwrap_or("no app known");
        let _ = writeln!(told, "round {} on {}, {}", round.round, line(app), time(round.took_ms));
        let _ = writeln!(told, "  thought  {}", line(&round.thought));
        for action in &round.actions {
            let success = if action.success { "did" } else { "failed" };
            let (function, message) = (line(&action.function), line(&action.message));
            let _ = writeln!(told, "  {success:<8} {function}: {message}");
        }
        for failure in &round.failures {
            let _ = writeln!(told, "  failure  {}", line(failure));
        }
    }
    for step in &moment.steps {
        let (what, end) = (line(&asked(&step.action)), line(&came(&step.end)));
        let (at, took) = (time(step.at_ms), time(step.took_ms));
        let _ = writeln!(told, "{:>4}  {at:>10}  {took:>8}  {what}  ->  {end}", step.step);
    }
}
