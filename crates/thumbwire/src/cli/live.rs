//! Live progress of a run: lines about what was done and, on a terminal, a progress line below
//! them.
//!
//! Start with [`LiveView`]. Everything goes to standard error: standard output holds only the
//! answer, or the events with `--json` ([`JsonLines`]). [`format`](mod@format) turns events into
//! lines; [`style`](super::style) wraps, colours and sanitizes them.

mod format;
mod json;
#[cfg(test)]
mod tests;

use std::io::{IsTerminal as _, Write as _};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use thumbwire_base::lock;

pub(super) use json::JsonLines;

use super::style::LineStyle;
use super::terminal_prompt::{self, PauseOutput};
use format::RunFormatter;
pub(in crate::cli) use format::counted;
use thumbwire_agent::{AgentEvent, RunResult};
use thumbwire_core::event::{Event, EventSink};

/// Redraw interval of the progress line.
const TICK: Duration = Duration::from_millis(120);

/// Shows a run on standard error.
pub(super) struct LiveView {
    formatter: Mutex<RunFormatter>,
    status: Arc<StatusLine>,
    /// Whether the user is asked questions here, and so sees them anyway.
    asks: bool,
}

impl LiveView {
    /// A view on standard error, with colours if wanted and if it is a terminal. `limit` is the
    /// run's time limit; `asks` says whether the user is asked questions there too; `verbose` adds
    /// results, times and tokens to each step.
    pub(super) fn new(colours: bool, limit: Option<Duration>, asks: bool, verbose: bool) -> Self {
        let is_terminal = std::io::stderr().is_terminal();
        let colours = colours && is_terminal;
        let width = is_terminal.then(terminal_prompt::width).flatten();
        let bar = is_terminal.then(|| bar(colours, limit));
        let formatter = RunFormatter::new(LineStyle { width, colours }, verbose);
        let status = Arc::new(StatusLine::new(bar));
        Self { formatter: Mutex::new(formatter), status, asks }
    }

    /// Prints the goal, and the phone, policy and folder of the run.
    pub(super) fn begin(&self, goal: &str, about: &[String]) {
        self.print(&self.with(|formatter| formatter.head(goal, about)));
        self.status.begin();
    }

    /// The line at the bottom, which makes room for questions.
    pub(super) fn status_line(&self) -> Arc<StatusLine> {
        Arc::clone(&self.status)
    }

    /// Prints a notice between the lines.
    pub(super) fn notice(&self, text: &str) {
        self.print(&[text.to_owned()]);
    }

    /// Prints the result and removes the progress line.
    pub(super) fn end(&self, result: &RunResult, notes: &[String]) {
        self.status.end();
        self.print(&self.with(|formatter| formatter.end(result, notes)));
    }

    fn with<T>(&self, ask: impl FnOnce(&mut RunFormatter) -> T) -> T {
        let mut formatter = lock(&self.formatter);
        if self.status.bar().is_some() {
            formatter.fit(terminal_prompt::width());
        }
        ask(&mut formatter)
    }

    fn print(&self, lines: &[String]) {
        if lines.is_empty() {
            return;
        }
        let text = lines.iter().map(|line| line.trim_end()).collect::<Vec<_>>().join("\n");
        self.status.above(|| {
            // Ignore a closed standard error.
            let _ = writeln!(std::io::stderr().lock(), "{text}");
        });
    }
}

impl EventSink for LiveView {
    fn on_event(&self, event: &Event<'_>) {
        let Some(event) = event.payload() else { return };
        let (lines, step, status) = self.with(|formatter| {
            let lines = formatter.lines(event);
            (lines, formatter.step_number(), formatter.status())
        });
        if let Some(bar) = self.status.bar() {
            bar.set_prefix(step);
            bar.set_message(status);
        }
        if !(self.asks && matches!(event, AgentEvent::UserAsked { .. })) {
            self.print(&lines);
        }
    }
}

/// Writes a run as plain lines, through any writer.
#[cfg(feature = "virtual-phone")]
pub(super) struct PlainView<W> {
    formatter: Mutex<RunFormatter>,
    write: W,
}

#[cfg(feature = "virtual-phone")]
impl<W: Fn(&str) + Send + Sync> PlainView<W> {
    /// A view that passes each line, with its line end, to `write`.
    pub(super) fn new(write: W, style: LineStyle, verbose: bool) -> Self {
        Self { formatter: Mutex::new(RunFormatter::new(style, verbose)), write }
    }

    /// Writes the goal and the policy.
    pub(super) fn begin(&self, goal: &str, about: &[String]) {
        self.print(|formatter| formatter.head(goal, about));
    }

    /// Writes the result.
    pub(super) fn end(&self, result: &RunResult) {
        self.print(|formatter| formatter.end(result, &[]));
    }

    fn print(&self, lines: impl FnOnce(&mut RunFormatter) -> Vec<String>) {
        let lines = lines(&mut lock(&self.formatter));
        lines.iter().for_each(|line| (self.write)(&format!("{}\n", line.trim_end())));
    }
}

#[cfg(feature = "virtual-phone")]
impl<W: Fn(&str) + Send + Sync> EventSink for PlainView<W> {
    fn on_event(&self, event: &Event<'_>) {
        if let Some(event) = event.payload() {
            self.print(|formatter| formatter.lines(event));
        }
    }
}

/// The line at the bottom of a terminal that tells what is going on; nothing elsewhere.
#[derive(Default)]
pub(super) struct StatusLine(Option<ProgressBar>);

impl StatusLine {
    /// A line that is not shown yet.
    pub(super) fn new(bar: Option<ProgressBar>) -> Self {
        Self(bar)
    }

    /// The progress bar, on a terminal.
    pub(super) fn bar(&self) -> Option<&ProgressBar> {
        self.0.as_ref()
    }

    /// Shows the line for the first time.
    pub(super) fn begin(&self) {
        self.show();
        if let Some(bar) = &self.0 {
            terminal_prompt::set_progress_bar(Some(bar.clone()));
        }
    }

    /// Removes the line for good.
    pub(super) fn end(&self) {
        self.pause();
        terminal_prompt::set_progress_bar(None);
    }

    /// Writes other output above the line.
    pub(super) fn above(&self, write: impl FnOnce()) {
        match &self.0 {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }

    fn show(&self) {
        if let Some(bar) = &self.0 {
            bar.set_draw_target(ProgressDrawTarget::stderr());
            bar.enable_steady_tick(TICK);
        }
    }
}

impl PauseOutput for StatusLine {
    fn pause(&self) {
        if let Some(bar) = &self.0 {
            bar.disable_steady_tick();
            // Hiding alone would leave the line there, with the cursor at its end.
            bar.finish_and_clear();
            bar.set_draw_target(ProgressDrawTarget::hidden());
        }
    }

    fn resume(&self) {
        if let Some(bar) = &self.0 {
            bar.reset();
        }
        self.show();
    }
}

/// The progress line: the current activity, and the remaining time, or the elapsed time if there is
/// no limit.
pub(super) fn bar(colours: bool, limit: Option<Duration>) -> ProgressBar {
    let template = match colours {
        true => "{spinner:.cyan} {prefix:.bold} {wide_msg:.dim} {clock:.dim}",
        false => "{spinner} {prefix} {wide_msg} {clock}",
    };
    let began = Instant::now();
    let clock = move |_: &ProgressState, out: &mut dyn std::fmt::Write| {
        let gone = began.elapsed();
        let (time, word) = match limit {
            Some(limit) => (limit.saturating_sub(gone), " left"),
            None => (gone, ""),
        };
        let seconds = time.as_secs();
        let _ = write!(out, "{}:{:02}{word}", seconds / 60, seconds % 60);
    };
    // A test covers invalid templates.
    let style = ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_spinner())
        .tick_chars("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏ ")
        .with_key("clock", clock);
    ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden()).with_style(style)
}
