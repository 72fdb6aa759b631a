//! Shows a run of flows: lines on standard output and, on a terminal, a status line below them.
//!
//! [`thumbwire_flow::Terminal`] decides what to say; here it is wrapped, coloured and printed.

use std::io::IsTerminal as _;
use std::sync::{Arc, Mutex};

use thumbwire_base::lock;
use thumbwire_core::event::{Event, EventSink};
use thumbwire_flow::{FlowEvent, Line, StepStatus, Terminal, Tone, View};

use super::live::{StatusLine, bar};
use super::print_styled;
use super::style::{LineStyle, Style, StyledLine, sanitize};
use super::styled_output::StyledOutput;

type Write = Box<dyn Fn(&[Line]) + Send + Sync>;

/// Shows a run of flows.
pub(super) struct FlowView {
    terminal: Terminal<Write>,
    /// Shown if standard output and standard error are terminals.
    status: Arc<StatusLine>,
    /// The case that runs, and how many have ended.
    case: Mutex<(String, usize)>,
}

impl FlowView {
    /// A view with colours if wanted and if standard output is a terminal. Lines appear at once if
    /// `live`, else case by case.
    pub(super) fn new(colours: bool, live: bool, view: View) -> Self {
        let output = StyledOutput::new(colours, None);
        let is_terminal = std::io::stdout().is_terminal() && std::io::stderr().is_terminal();
        let bar = (is_terminal && view != View::Quiet).then(|| bar(output.style.colours, None));
        if let Some(bar) = &bar {
            bar.set_prefix("0 done");
        }
        let status = Arc::new(StatusLine::new(bar));
        let below = Arc::clone(&status);
        let write = move |lines: &[Line]| {
            let text: String = lines.iter().map(|line| rendered(line, output.style)).collect();
            below.above(|| drop(print_styled(&text)));
        };
        let terminal = Terminal::new(Box::new(write) as Write, live, view);
        status.begin();
        Self { terminal, status, case: Mutex::default() }
    }

    /// The line at the bottom, which makes room for questions.
    pub(super) fn status_line(&self) -> Arc<StatusLine> {
        Arc::clone(&self.status)
    }

    /// Removes the status line.
    pub(super) fn end(&self) {
        self.status.end();
    }
}

impl EventSink for FlowView {
    fn on_event(&self, event: &Event<'_>) {
        if let (Some(bar), Some(event)) = (self.status.bar(), event.payload()) {
            match event {
                FlowEvent::CaseStarted { name, .. } => {
                    lock(&self.case).0 = sanitize(name);
                    bar.set_message(sanitize(name));
                }
                FlowEvent::Step { text, status: StepStatus::Started, .. } => {
                    bar.set_message(format!("{} · {}", lock(&self.case).0, sanitize(text)));
                }
                FlowEvent::CaseFinished { again: false, .. } => {
                    let mut case = lock(&self.case);
                    case.1 += 1;
                    bar.set_prefix(format!("{} done", case.1));
                }
                _ => {}
            }
        }
        self.terminal.on_event(event);
    }
}

/// A line as the terminal shows it, with its line ends.
pub(super) fn rendered(line: &Line, style: LineStyle) -> String {
    let (tone, sign) = line.sign;
    let gap = if sign.is_empty() { "" } else { " " };
    let head = format!("{:indent$}{sign}{gap}", "", indent = line.indent);
    let words: StyledLine =
        line.words.iter().map(|(tone, text)| (style_of(*tone), text.clone())).collect();
    style.lines((style_of(tone), &head), &words)
}

fn style_of(tone: Tone) -> Style {
    match tone {
        Tone::Plain => Style::Plain,
        Tone::Bold => Style::Bold,
        Tone::Dim => Style::Dim,
        Tone::Good => Style::Good,
        Tone::Bad => Style::Bad,
        Tone::Warning => Style::Warning,
    }
}

#[cfg(test)]
mod tests {
    use unicode_width::UnicodeWidthStr as _;

    use super::*;

    /// A failed step with a long reason.
    fn lines() -> Vec<Line> {
        let line = |indent, sign, words: &[(Tone, &str)]| Line {
            indent,
            sign,
            words: words.iter().map(|(tone, text)| (*tone, (*text).to_owned())).collect(),
        };
        let reason = "\"Pay\" is not on the screen; visible text: \"Notes\", \"Shopping\", \"Milk\", \"Bread\" and 5 more";
        vec![
            line(
                0,
                (Tone::Good, "✓"),
                &[(Tone::Plain, "Notes: a note is saved"), (Tone::Dim, "· 0.5 s")],
            ),
            line(
                0,
                (Tone::Bad, "✗"),
                &[
                    (
                        Tone::Bold,
                        "Shop: a very long name of a case that takes more than one line of a terminal",
                    ),
                    (Tone::Dim, "· 3.1 s"),
                ],
            ),
            line(2, (Tone::Plain, ""), &[(Tone::Plain, reason)]),
            line(2, (Tone::Plain, ""), &[(Tone::Dim, "at flows/shop.yaml:18:9: expect \"Pay\"")]),
            line(0, (Tone::Plain, ""), &[]),
            line(0, (Tone::Plain, ""), &[(Tone::Bad, "FAILED"), (Tone::Plain, "Shop")]),
        ]
    }

    fn shown(width: usize, colours: bool) -> String {
        let style = LineStyle { width: Some(width), colours };
        lines().iter().map(|line| rendered(line, style)).collect()
    }

    #[test]
    fn lines_are_wrapped_at_words_and_coloured() {
        insta::assert_snapshot!("wide", shown(80, false));
        insta::assert_snapshot!("colours", shown(80, true).replace('\x1b', "␛"));
        for width in 20..120 {
            for line in shown(width, false).lines() {
                assert!(line.width() <= width, "{width}: {line}");
            }
        }
    }
}
