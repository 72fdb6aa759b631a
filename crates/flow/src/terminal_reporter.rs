//! Prints a run of flows in the terminal.
//!
//! Begin with [`Terminal`]. With one phone, lines appear as soon as a step ends; with several, all lines of a case
//! appear together.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Mutex;
use std::time::Duration;

use super::event::{FlowEvent, StepStatus};
use super::report::{Attempt, CaseFailure, CaseResult, Report, Verdict};
use super::run::full_name;
use thumbwire_base::lock;
use thumbwire_base::visible::visible_lines;
use thumbwire_core::event::{Event, EventSink};

/// The maximum number of log lines below a failure; the JUnit file has more.
const MOST_LINES: usize = 12;

/// Prints a run line by line.
pub struct Terminal<W> {
    write: W,
    live: bool,
    /// The buffered lines, by case number.
    held: Mutex<BTreeMap<usize, String>>,
}

impl<W: Fn(&str) + Send + Sync> Terminal<W> {
    /// Prints through `write`, in whole lines: immediately if `live`, else case by case.
    pub fn new(write: W, live: bool) -> Self {
        Self { write, live, held: Mutex::default() }
    }

    fn print(&self, number: usize, text: &str, ends: bool) {
        // An app's text may contain terminal escape sequences.
        let text = visible_lines(text);
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

impl<W: Fn(&str) + Send + Sync> EventSink for Terminal<W> {
    fn on_event(&self, event: &Event<'_>) {
        let Some(event) = event.payload() else { return };
        match event {
            FlowEvent::CaseStarted { case, name, device, attempt } => {
                let again =
                    if *attempt > 1 { format!(", attempt {attempt}") } else { String::new() };
                self.print(*case, &format!("{name}, on {device}{again}\n"), false);
            }
            FlowEvent::Step { case, text: words, depth, status, took } => {
                self.print(*case, &step(words, *depth, status, *took), false);
            }
            FlowEvent::CaseFinished { case, attempt } => {
                self.print(*case, &attempted(attempt), true);
            }
            FlowEvent::CaseSkipped { case, name, reason: why } => {
                self.print(*case, &format!("{name}\n  - skipped: {why}\n\n"), true);
            }
            // By now no case's lines are held back.
            FlowEvent::RunFinished(report) => self.print(usize::MAX, &summary(report), true),
        }
    }
}

fn step(text: &str, depth: usize, status: &StepStatus, took: Duration) -> String {
    let indent = "  ".repeat(depth + 1);
    let took = seconds(took);
    match status {
        StepStatus::Started => format!("{indent}▸ {text}\n"),
        StepStatus::Passed => format!("{indent}✓ {text}  ({took})\n"),
        StepStatus::Failed(_) => format!("{indent}✗ {text}  ({took})\n"),
        StepStatus::Retried(why) => format!("{indent}↻ {text}  ({took})\n{indent}    {why}\n"),
        StepStatus::Skipped(why) => format!("{indent}- {text}  ({took})\n{indent}    {why}\n"),
    }
}

fn attempted(attempt: &Attempt) -> String {
    let mut out = String::new();
    for note in attempt.noted.iter().filter(|note| !note.starts_with("optional: ")) {
        let _ = writeln!(out, "  ! {note}");
    }
    let took = seconds(attempt.took);
    match &attempt.failed {
        None => {
            let _ = writeln!(out, "  passed  ({took})\n");
        }
        Some(failed) => {
            let _ = writeln!(out, "  FAILED  ({took})\n{}", details(failed, "    ", MOST_LINES));
        }
    }
    out
}

/// Why a case failed: the error, the step, crashes, the screenshot, and the newest log lines.
pub(super) fn details(failed: &CaseFailure, indent: &str, max: usize) -> String {
    let mut out = format!("{indent}{}\n", failed.what);
    if let Some((words, at)) = &failed.step {
        let _ = writeln!(out, "{indent}at {at}: {words}");
    }
    if let Some(picture) = &failed.picture {
        let _ = writeln!(out, "{indent}screenshot: {}", picture.display());
    }
    let mut block = |title: &str, lines: &[String], newest: bool| {
        if lines.is_empty() {
            return;
        }
        let left_out = lines.len().saturating_sub(max);
        let shown = if newest { &lines[left_out..] } else { &lines[..lines.len() - left_out] };
        let _ = writeln!(out, "{indent}{title}:");
        shown.iter().for_each(|line| {
            let _ = writeln!(out, "{indent}  {line}");
        });
    };
    for crash in &failed.crashes {
        let text = crash.to_string();
        let out = failed.what.starts_with(&text);
        block(if out { "crash log" } else { &text }, &crash.excerpt, false);
    }
    // A stack trace says more than the rest of the log.
    if failed.crashes.is_empty() {
        block("end of the log", &failed.log, true);
    }
    out
}

fn summary(report: &Report) -> String {
    let [passed, flaky, failed, skipped] =
        [Verdict::Passed, Verdict::Flaky, Verdict::Failed, Verdict::Skipped]
            .map(|one| report.count(one));
    let all = report.cases.len();
    let mut out = String::new();
    for (verdict, word) in [(Verdict::Failed, "FAILED"), (Verdict::Flaky, "flaky")] {
        for tried in report.cases.iter().filter(|tried| tried.verdict() == verdict) {
            let _ = writeln!(out, "{word}: {}", named(report, tried));
            if let Some(story) = tried.attempts.last().and_then(|attempt| attempt.story.as_ref()) {
                let _ = writeln!(out, "  thumbwire trace report {}", story.display());
            }
        }
    }
    let mut counts = vec![format!("{} of {all} cases passed", passed + flaky)];
    for (count, word) in [(flaky, "flaky"), (failed, "failed"), (skipped, "skipped")] {
        if count > 0 {
            counts.push(format!("{count} {word}"));
        }
    }
    let over = if report.out_of_time { "; the run timed out" } else { "" };
    let lost = if report.out_of_phones { "; no phone is left" } else { "" };
    let _ = writeln!(out, "{}{over}{lost}  ({})", counts.join(", "), seconds(report.took));
    out
}

fn named(report: &Report, tried: &CaseResult) -> String {
    let flow = &report.flows[tried.flow];
    full_name(flow, &flow.cases[tried.case])
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}
