//! Turns a run of flows into lines for a terminal.
//!
//! Start with [`Terminal`]. It knows no width and no colours: a [`Line`] has its words and their
//! [`Tone`]s, and the caller prints it. With one phone, lines appear as soon as there is something
//! to say; with several, all lines of a case appear together.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Mutex;
use std::time::Duration;

use super::event::{FlowEvent, StepStatus};
use super::report::{Attempt, CaseFailure, CaseResult, Report, Verdict};
use super::run::full_name;
use thumbwire_base::lock;
use thumbwire_base::visible::visible;
use thumbwire_core::event::{Event, EventSink};

/// The maximum number of log lines below a failure; the report and the JUnit file have more.
const MAX_LINES: usize = 12;

/// How much is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum View {
    /// The cases that failed, and the counts.
    Quiet,
    /// A line per case, and why it failed.
    Normal,
    /// A line per step, and the end of the log of a case that failed.
    Verbose,
}

/// The meaning of a word, which a terminal shows by its colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// Nothing special.
    Plain,
    /// Important.
    Bold,
    /// Less important.
    Dim,
    /// Success.
    Good,
    /// Failure.
    Bad,
    /// A warning.
    Warning,
}

/// A line. Its text may come from an app: control characters in it are escaped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// The number of blanks before the sign.
    pub indent: usize,
    /// The sign before the words; empty for none. If the line is wrapped, its rest begins below the
    /// first word.
    pub sign: (Tone, &'static str),
    /// The words. A blank follows each.
    pub words: Vec<(Tone, String)>,
}

impl Line {
    fn new(indent: usize, sign: (Tone, &'static str)) -> Self {
        Self { indent, sign, words: Vec::new() }
    }

    fn plain(indent: usize) -> Self {
        Self::new(indent, (Tone::Plain, ""))
    }

    fn with(mut self, tone: Tone, text: &str) -> Self {
        // An app's text may contain terminal escape sequences, and line ends.
        let text = text.replace(['\r', '\n', '\t'], " ");
        self.words.push((tone, visible(&text).into_owned()));
        self
    }
}

/// Without colours, and however long.
impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = self.sign.1;
        write!(f, "{:indent$}{sign}", "", indent = self.indent)?;
        for (at, (_, word)) in self.words.iter().enumerate() {
            let gap = if at > 0 || !sign.is_empty() { " " } else { "" };
            write!(f, "{gap}{word}")?;
        }
        Ok(())
    }
}

/// Turns the events of a run into lines.
pub struct Terminal<W> {
    write: W,
    live: bool,
    view: View,
    /// The buffered lines, by case number.
    held: Mutex<BTreeMap<usize, Vec<Line>>>,
    /// The names and the attempts of the cases that run.
    running: Mutex<BTreeMap<usize, (String, u32)>>,
}

impl<W: Fn(&[Line]) + Send + Sync> Terminal<W> {
    /// Passes lines to `write`: immediately if `live`, else case by case.
    pub fn new(write: W, live: bool, view: View) -> Self {
        Self { write, live, view, held: Mutex::default(), running: Mutex::default() }
    }

    fn print(&self, number: usize, lines: Vec<Line>, ends: bool) {
        if self.live {
            if !lines.is_empty() {
                (self.write)(&lines);
            }
            return;
        }
        let mut held = lock(&self.held);
        held.entry(number).or_default().extend(lines);
        if ends
            && let Some(all) = held.remove(&number)
            && !all.is_empty()
        {
            (self.write)(&all);
        }
    }
}

impl<W: Fn(&[Line]) + Send + Sync> EventSink for Terminal<W> {
    fn on_event(&self, event: &Event<'_>) {
        let Some(event) = event.payload() else { return };
        let verbose = self.view == View::Verbose;
        match event {
            FlowEvent::CaseStarted { case, name, device, attempt } => {
                lock(&self.running).insert(*case, (name.clone(), *attempt));
                if verbose {
                    let mut line = Line::plain(0).with(Tone::Bold, name);
                    line = line.with(Tone::Dim, &format!("· on {device}"));
                    if *attempt > 1 {
                        line = line.with(Tone::Warning, &format!("· attempt {attempt}"));
                    }
                    self.print(*case, vec![line], false);
                }
            }
            FlowEvent::Step { case, text, depth, nested, status, took }
                if verbose && has_line(*nested, status) =>
            {
                self.print(*case, step(text, *depth, status, *took), false);
            }
            FlowEvent::Step { .. } => {}
            FlowEvent::CaseFinished { case, attempt, again } => {
                let running = lock(&self.running).remove(case);
                let (name, nth) = running.unwrap_or_default();
                let lines = match self.view {
                    View::Quiet => Vec::new(),
                    View::Normal => case_lines(&name, nth, attempt, *again),
                    View::Verbose => attempted(attempt),
                };
                self.print(*case, lines, true);
            }
            FlowEvent::CaseSkipped { case, name, reason } => {
                let line = Line::new(0, (Tone::Dim, "–")).with(Tone::Plain, name);
                let line = line.with(Tone::Dim, &format!("· skipped: {reason}"));
                let lines = match self.view {
                    View::Quiet => Vec::new(),
                    View::Normal => vec![line],
                    View::Verbose => vec![line, Line::plain(0)],
                };
                self.print(*case, lines, true);
            }
            // By now no case's lines are held back.
            FlowEvent::RunFinished(report) => {
                self.print(usize::MAX, summary(report, self.view), true);
            }
        }
    }
}

/// Whether it has a line: the start of a step with nested steps, which follow, and the end of
/// another one.
fn has_line(nested: bool, status: &StepStatus) -> bool {
    match status {
        StepStatus::Started => nested,
        StepStatus::Passed | StepStatus::Failed(_) => !nested,
        StepStatus::Retried(_) | StepStatus::Skipped(_) => true,
    }
}

fn step(text: &str, depth: usize, status: &StepStatus, took: Duration) -> Vec<Line> {
    let indent = 2 * (depth + 1);
    let line = |tone, sign, words| Line::new(indent, (tone, sign)).with(words, text);
    let timed = |line: Line| line.with(Tone::Dim, &format!("· {}", seconds(took)));
    let dimmed = |reason: &str| Line::plain(indent + 2).with(Tone::Dim, reason);
    match status {
        StepStatus::Started => vec![line(Tone::Dim, "▸", Tone::Plain)],
        StepStatus::Passed => vec![timed(line(Tone::Good, "✓", Tone::Plain))],
        StepStatus::Failed(_) => vec![timed(line(Tone::Bad, "✗", Tone::Bold))],
        StepStatus::Retried(reason) => {
            vec![timed(line(Tone::Warning, "↻", Tone::Plain)), dimmed(reason)]
        }
        StepStatus::Skipped(reason) => {
            vec![timed(line(Tone::Dim, "–", Tone::Plain)), dimmed(reason)]
        }
    }
}

/// A case in one line, with the reasons below if it failed.
fn case_lines(name: &str, nth: u32, attempt: &Attempt, again: bool) -> Vec<Line> {
    let took = format!("· {}", seconds(attempt.took));
    let (sign, tone) = match (&attempt.failed, again) {
        (None, _) => ((Tone::Good, "✓"), Tone::Plain),
        (Some(_), true) => ((Tone::Warning, "↻"), Tone::Plain),
        (Some(_), false) => ((Tone::Bad, "✗"), Tone::Bold),
    };
    let mut line = Line::new(0, sign).with(tone, name);
    if nth > 1 || again {
        line = line.with(Tone::Warning, &format!("· attempt {nth}"));
    }
    let mut lines = vec![line.with(Tone::Dim, &took)];
    for note in &attempt.notes {
        lines.push(Line::plain(2).with(Tone::Dim, note));
    }
    match &attempt.failed {
        Some(failed) if again => lines.push(Line::plain(2).with(Tone::Dim, &failed.what)),
        Some(failed) => lines.extend(failure_lines(failed, 2, View::Normal)),
        None => {}
    }
    lines
}

/// The end of a case whose steps were printed.
fn attempted(attempt: &Attempt) -> Vec<Line> {
    let notes = attempt.notes.iter().filter(|note| !note.starts_with("optional: "));
    let mut lines: Vec<Line> =
        notes.map(|note| Line::new(2, (Tone::Warning, "!")).with(Tone::Plain, note)).collect();
    let took = format!("· {}", seconds(attempt.took));
    match &attempt.failed {
        None => lines.push(Line::plain(2).with(Tone::Good, "passed").with(Tone::Dim, &took)),
        Some(failed) => {
            lines.push(Line::plain(2).with(Tone::Bad, "FAILED").with(Tone::Dim, &took));
            lines.extend(failure_lines(failed, 4, View::Verbose));
        }
    }
    lines.push(Line::plain(0));
    lines
}

/// Why a case failed; in the verbose view with the screenshot and the newest log lines.
fn failure_lines(failed: &CaseFailure, indent: usize, view: View) -> Vec<Line> {
    let lines = failed.lines(MAX_LINES, view == View::Verbose).enumerate();
    let line = |(at, (inner, text)): (usize, (usize, String))| {
        let tone = if at == 0 { Tone::Plain } else { Tone::Dim };
        Line::plain(indent + inner).with(tone, &text)
    };
    lines.map(line).collect()
}

/// The cases that need attention, and the counts.
fn summary(report: &Report, view: View) -> Vec<Line> {
    let [passed, flaky, failed, skipped] =
        [Verdict::Passed, Verdict::Flaky, Verdict::Failed, Verdict::Skipped]
            .map(|one| report.count(one));
    let all = report.cases.len();
    let mut lines = Vec::new();
    if view != View::Normal || all > 1 {
        for (verdict, tone, word) in
            [(Verdict::Failed, Tone::Bad, "FAILED"), (Verdict::Flaky, Tone::Warning, "flaky")]
        {
            for result in report.cases.iter().filter(|result| result.verdict() == verdict) {
                let name = named(report, result);
                lines.push(Line::plain(0).with(tone, word).with(Tone::Plain, &name));
            }
        }
    }
    if view == View::Normal {
        lines.insert(0, Line::plain(0));
    }
    let mut line = match failed + skipped {
        0 => Line::plain(0).with(Tone::Good, &format!("{} of {all} cases passed", passed + flaky)),
        _ => Line::plain(0).with(Tone::Bold, &format!("{} of {all} cases passed", passed + flaky)),
    };
    for (count, tone, word) in [
        (failed, Tone::Bad, "failed"),
        (flaky, Tone::Warning, "flaky"),
        (skipped, Tone::Warning, "skipped"),
    ] {
        if count > 0 {
            line = line.with(Tone::Dim, "·").with(tone, &format!("{count} {word}"));
        }
    }
    if report.out_of_time {
        line = line.with(Tone::Dim, "·").with(Tone::Warning, "the run timed out");
    }
    if report.out_of_phones {
        line = line.with(Tone::Dim, "·").with(Tone::Warning, "no phone is left");
    }
    lines.push(line.with(Tone::Dim, &format!("· {}", seconds(report.took))));
    lines
}

fn named(report: &Report, result: &CaseResult) -> String {
    let flow = &report.flows[result.flow];
    full_name(flow, &flow.cases[result.case])
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}
