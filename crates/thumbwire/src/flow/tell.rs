//! A run of flows as lines for a person.
//!
//! Begin with [`Terminal`]. With one phone a line comes as soon as its step is over; with several, a case's lines come together.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Mutex;
use std::time::Duration;

use super::report::{Attempt, Failed, Report, Tried, Verdict};
use super::run::full_name;
use super::stage::lock;
use super::watch::{Event, StepEnd, Watch};

/// How many lines of a log stand below a failure here; the JUnit file has more.
const MOST_LINES: usize = 12;

/// Tells a run line by line.
pub struct Terminal<W> {
    write: W,
    live: bool,
    /// What is held back, by the case's number.
    held: Mutex<BTreeMap<usize, String>>,
}

impl<W: Fn(&str) + Send + Sync> Terminal<W> {
    /// Writes by `write`, whole lines at a time; `live` as they come, else a case's together.
    pub fn new(write: W, live: bool) -> Self {
        Self { write, live, held: Mutex::default() }
    }

    fn say(&self, number: usize, text: &str, ends: bool) {
        // An app may write what a terminal takes for an order.
        let text: String = text.chars().map(|c| if is_order(c) { '\u{fffd}' } else { c }).collect();
        if self.live {
            return (self.write)(&text);
        }
        let mut held = lock(&self.held);
        held.entry(number).or_default().push_str(&text);
        if ends && let Some(all) = held.remove(&number) {
            (self.write)(&all);
        }
    }
}

/// Controls, and what turns the direction of writing round (Unicode's `Bidi_Control`).
fn is_order(c: char) -> bool {
    let turns = matches!(c, '\u{61c}' | '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    turns || (c.is_control() && c != '\n' && c != '\t')
}

impl<W: Fn(&str) + Send + Sync> Watch for Terminal<W> {
    fn tell(&self, number: usize, event: &Event<'_>) {
        match event {
            Event::Case { flow, case, phone, attempt } => {
                let again = if *attempt > 1 { format!(", try {attempt}") } else { String::new() };
                let line = format!("{}, on {}{again}\n", full_name(flow, case), phone.name());
                self.say(number, &line, false);
            }
            Event::Step { words, depth, end, took } => {
                self.say(number, &step(words, *depth, *end, *took), false);
            }
            Event::Attempted { attempt, .. } => self.say(number, &attempted(attempt), true),
            Event::Skipped { flow, case, tried } => {
                let why = tried.skipped.as_deref().unwrap_or_default();
                self.say(
                    number,
                    &format!("{}\n  - not tried: {why}\n\n", full_name(flow, case)),
                    true,
                );
            }
            Event::Ended(report) => self.say(number, &summary(report), true),
        }
    }
}

fn step(words: &str, depth: usize, end: StepEnd<'_>, took: Duration) -> String {
    let indent = "  ".repeat(depth + 1);
    let took = seconds(took);
    match end {
        StepEnd::Begins => format!("{indent}▸ {words}\n"),
        StepEnd::Done => format!("{indent}✓ {words}  ({took})\n"),
        StepEnd::Failed(_) => format!("{indent}✗ {words}  ({took})\n"),
        StepEnd::Again(why) => format!("{indent}↻ {words}  ({took})\n{indent}    {why}\n"),
        StepEnd::PassedOver(why) => format!("{indent}- {words}  ({took})\n{indent}    {why}\n"),
    }
}

fn attempted(attempt: &Attempt) -> String {
    let mut told = String::new();
    for note in attempt.noted.iter().filter(|note| !note.starts_with("optional: ")) {
        let _ = writeln!(told, "  ! {note}");
    }
    let took = seconds(attempt.took);
    match &attempt.failed {
        None => {
            let _ = writeln!(told, "  passed  ({took})\n");
        }
        Some(failed) => {
            let _ = writeln!(told, "  FAILED  ({took})\n{}", details(failed, "    ", MOST_LINES));
        }
    }
    told
}

/// Why a case failed, with where, what crashed, the picture, and the newest lines of the log.
pub(super) fn details(failed: &Failed, indent: &str, most: usize) -> String {
    let mut told = format!("{indent}{}\n", failed.what);
    if let Some((words, at)) = &failed.step {
        let _ = writeln!(told, "{indent}at {at}: {words}");
    }
    if let Some(picture) = &failed.picture {
        let _ = writeln!(told, "{indent}picture: {}", picture.display());
    }
    let mut block = |title: &str, lines: &[String], newest: bool| {
        if lines.is_empty() {
            return;
        }
        let left_out = lines.len().saturating_sub(most);
        let shown = if newest { &lines[left_out..] } else { &lines[..lines.len() - left_out] };
        let _ = writeln!(told, "{indent}{title}:");
        shown.iter().for_each(|line| {
            let _ = writeln!(told, "{indent}  {line}");
        });
    };
    for crash in &failed.crashes {
        let words = crash.to_string();
        let told = failed.what.starts_with(&words);
        block(if told { "the log says of it" } else { &words }, &crash.excerpt, false);
    }
    // A trace says more than what else was written meanwhile.
    if failed.crashes.is_empty() {
        block("the log's end", &failed.log, true);
    }
    told
}

fn summary(report: &Report) -> String {
    let [passed, flaky, failed, skipped] =
        [Verdict::Passed, Verdict::Flaky, Verdict::Failed, Verdict::Skipped]
            .map(|one| report.count(one));
    let all = report.tried.len();
    let mut told = String::new();
    for (verdict, word) in [(Verdict::Failed, "FAILED"), (Verdict::Flaky, "flaky")] {
        for tried in report.tried.iter().filter(|tried| tried.verdict() == verdict) {
            let _ = writeln!(told, "{word}: {}", named(report, tried));
            if let Some(story) = tried.attempts.last().and_then(|attempt| attempt.story.as_ref()) {
                let _ = writeln!(told, "  thumbwire trace report {}", story.display());
            }
        }
    }
    let mut counts = vec![format!("{} of {all} cases passed", passed + flaky)];
    for (count, word) in [(flaky, "flaky"), (failed, "failed"), (skipped, "not tried")] {
        if count > 0 {
            counts.push(format!("{count} {word}"));
        }
    }
    let over = if report.out_of_time { "; the time of the whole run was over" } else { "" };
    let lost = if report.out_of_phones { "; no phone was left" } else { "" };
    let _ = writeln!(told, "{}{over}{lost}  ({})", counts.join(", "), seconds(report.took));
    told
}

fn named(report: &Report, tried: &Tried) -> String {
    let flow = &report.flows[tried.flow];
    full_name(flow, &flow.cases[tried.case])
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}
