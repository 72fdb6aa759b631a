//! Turns the events of a run into lines. Uses no clock and no terminal: times come with the events.

use std::fmt::Display;
use std::time::Duration;

use serde_json::Value;
use thumbwire_base::truncate;

use super::super::style::{LineStyle, Style, StyledLine, sanitize};
use thumbwire_agent::model::Usage;
use thumbwire_agent::{AgentEvent, AgentStatus, Decision, FunctionCall, RunResult, StopReason};

/// Formats a run as lines, and its current state in a few words.
pub(super) struct RunFormatter {
    style: LineStyle,
    /// Whether each step has results, times and tokens.
    verbose: bool,
    step: u32,
    max: u32,
    /// Whether a line already shows the step's number.
    numbered: bool,
    /// Usage of this step's decision.
    usage: Usage,
    /// Duration of this step's decision.
    thought_for: Duration,
    /// Usage of the run so far.
    so_far: Usage,
    /// The current activity.
    activity: String,
    /// Characters received of the current response.
    received: usize,
}

impl RunFormatter {
    /// A formatter for this line style. `verbose` adds results, times and tokens to each step.
    pub(super) fn new(style: LineStyle, verbose: bool) -> Self {
        Self {
            style,
            verbose,
            step: 0,
            max: 0,
            numbered: false,
            usage: Usage::default(),
            thought_for: Duration::ZERO,
            so_far: Usage::default(),
            activity: String::new(),
            received: 0,
        }
    }

    /// Sets the terminal's width.
    pub(super) fn fit(&mut self, width: Option<usize>) {
        self.style.width = width;
    }

    /// The first lines: the goal, and the phone, policy and folder of the run.
    pub(super) fn head(&self, goal: &str, about: &[String]) -> Vec<String> {
        let none = (Style::Plain, String::new());
        let mut lines = self.style.set(&none, &vec![(Style::Bold, sanitize(goal))]);
        let about: Vec<String> = about.iter().map(|part| sanitize(part)).collect();
        lines.extend(self.style.set(&none, &vec![(Style::Dim, about.join(" · "))]));
        lines.push(String::new());
        lines
    }

    /// The lines of an event.
    pub(super) fn lines(&mut self, event: &AgentEvent) -> Vec<String> {
        match event {
            AgentEvent::RunStarted { resumed_steps: 0, .. } => Vec::new(),
            AgentEvent::RunStarted { resumed_steps, .. } => {
                let text = format!("Resuming after step {resumed_steps}.");
                let mut lines =
                    self.style.set(&(Style::Plain, String::new()), &vec![(Style::Dim, text)]);
                lines.push(String::new());
                lines
            }
            AgentEvent::StepStarted { step, max_steps } => {
                (self.step, self.max, self.numbered) = (*step, *max_steps, false);
                (self.usage, self.thought_for) = (Usage::default(), Duration::ZERO);
                self.activity = "reading the screen".into();
                Vec::new()
            }
            AgentEvent::ScreenshotTaken { .. }
            | AgentEvent::AppsListed { .. }
            | AgentEvent::ControlsListed { .. } => Vec::new(),
            AgentEvent::ModelRequested { .. } => {
                (self.activity, self.received) = ("thinking".into(), 0);
                Vec::new()
            }
            AgentEvent::ModelText(part) => {
                self.received += part.chars().count();
                self.activity = format!("thinking, {} characters", grouped(self.received as u64));
                Vec::new()
            }
            AgentEvent::ModelRetried { reason } => {
                self.received = 0;
                self.line(
                    Style::Warning,
                    "↻",
                    vec![(Style::Dim, format!("retrying: {}", sanitize(reason)))],
                )
            }
            AgentEvent::Planned { plan, .. } => {
                let text = format!("plan: {}", sanitize(&plan.join("; ")));
                self.line(Style::Dim, "", vec![(Style::Dim, text)])
            }
            // Its consequence is shown: the result, or why the goal is not reached.
            AgentEvent::Judged { .. } => Vec::new(),
            AgentEvent::Decided { decision, usage, took } => {
                self.usage = (*usage).clone();
                self.thought_for = *took;
                self.activity = "acting".into();
                self.decided(decision)
            }
            AgentEvent::FunctionFinished { call, success, message, took } => {
                self.call_line(call, *success, message, *took)
            }
            AgentEvent::AnomalyFound(what) => {
                self.line(Style::Warning, "!", vec![(Style::Warning, sanitize(what))])
            }
            // A user at the terminal sees the question in a prompt; this line is for everyone else.
            AgentEvent::UserAsked { question } => {
                self.activity = "waiting for an answer".into();
                self.line(Style::Warning, "?", vec![(Style::Plain, sanitize(question))])
            }
            AgentEvent::StepFinished { usage, .. } => {
                self.so_far = (*usage).clone();
                let cost = cost(&self.usage);
                if cost.is_empty() || !self.verbose {
                    return Vec::new();
                }
                let text = format!("{} · {}", time(self.thought_for), cost.join(" · "));
                self.line(Style::Dim, "", vec![(Style::Dim, text)])
            }
            AgentEvent::RunFinished { .. } => Vec::new(),
        }
    }

    /// The current activity and the usage so far.
    pub(super) fn status(&self) -> String {
        let mut parts = vec![self.activity.clone()];
        parts.extend(cost(&self.so_far));
        parts.retain(|part| !part.is_empty());
        parts.join(" · ")
    }

    /// The current step: `3/50`.
    pub(super) fn step_number(&self) -> String {
        match self.step {
            0 => String::new(),
            step => format!("{step}/{}", self.max),
        }
    }

    /// The last lines: the result and its usage, then `notes`, which says where the trace is.
    pub(super) fn end(&self, result: &RunResult, notes: &[String]) -> Vec<String> {
        let (tone, word) = match (result.status, result.stopped) {
            (AgentStatus::Finish, _) => (Style::Good, "FINISH"),
            (AgentStatus::Fail, _) => (Style::Bad, "FAIL"),
            (AgentStatus::Continue, Some(StopReason::Cancelled)) => (Style::Warning, "INTERRUPTED"),
            (AgentStatus::Continue, _) => (Style::Warning, "STOPPED"),
        };
        let steps = counted(result.rounds, "step");
        let mut parts = vec![format!("{steps} in {}", time(result.took))];
        parts.extend(cost(&result.spent));
        if result.spent.retries > 0 {
            parts.push(counted(result.spent.retries, "retry").replace("retrys", "retries"));
        }
        let head = (tone, format!("{word}  "));
        let mut lines = vec![String::new()];
        lines.extend(self.style.set(&head, &vec![(Style::Dim, parts.join(" · "))]));
        // On FINISH, the text is the answer and goes to standard output.
        if result.status != AgentStatus::Finish && !result.reason.is_empty() {
            let text = vec![(Style::Plain, sanitize(&result.reason))];
            let below = (Style::Plain, " ".repeat(word.len() + 2));
            lines.extend(self.style.set(&below, &text));
        }
        lines.extend(notes.iter().map(|line| self.style.painted(Style::Dim, line)));
        lines
    }

    fn decided(&mut self, decision: &Decision) -> Vec<String> {
        let (thought, comment) = (sanitize(&decision.thought), sanitize(&decision.comment));
        let mut lines = Vec::new();
        let comment = if self.verbose || thought.is_empty() { comment } else { String::new() };
        if !thought.is_empty() {
            lines.extend(self.line(Style::Plain, "", vec![(Style::Plain, thought.clone())]));
        }
        if !comment.is_empty() && comment != thought {
            lines.extend(self.line(Style::Plain, "", vec![(Style::Dim, format!("“{comment}”"))]));
        }
        if decision.actions.is_empty() && decision.status == AgentStatus::Continue {
            lines.extend(self.line(Style::Dim, "·", vec![(Style::Dim, "no action".into())]));
        }
        lines
    }

    fn call_line(
        &mut self,
        call: &FunctionCall,
        success: bool,
        message: &str,
        took: Duration,
    ) -> Vec<String> {
        let (tone, sign) = if success { (Style::Good, "✓") } else { (Style::Bad, "✗") };
        let mut text = vec![(Style::Bold, sanitize(&call.function))];
        let given = given(call);
        if !given.is_empty() {
            text.push((Style::Plain, given));
        }
        // What went well shows in the next step.
        let message = if self.verbose || !success { sanitize(message) } else { String::new() };
        if !message.is_empty() {
            text.push((Style::Dim, "→".into()));
            text.push((if success { Style::Dim } else { Style::Bad }, message));
        }
        if self.verbose {
            text.push((Style::Dim, format!("· {}", time(took))));
        }
        self.line(tone, sign, text)
    }

    /// A line of the step. The first one begins with the step's number.
    fn line(&mut self, tone: Style, sign: &str, words: StyledLine) -> Vec<String> {
        let digits = self.max.to_string().len();
        let wide = 2 * digits + 4;
        let narrow = self.style.width.is_some_and(|width| width < 48);
        let mut lines = Vec::new();
        let number = match (self.step, std::mem::replace(&mut self.numbered, true)) {
            (0, _) | (_, true) => String::new(),
            (step, false) => format!("{step:>digits$}/{}", self.max),
        };
        let (before, gutter) = match narrow {
            true => {
                // A line of its own for the number leaves more width for the text.
                if !number.is_empty() {
                    lines.push(self.style.painted(Style::Dim, &number));
                }
                (String::new(), 1)
            }
            false => (number, wide),
        };
        let before = format!("{before:<gutter$}");
        if sign.is_empty() {
            lines.extend(self.style.set(&(Style::Dim, before), &words));
            return lines;
        }
        // The sign has its own column, so that continuation lines align with the first word.
        let head = format!("{before}{} ", self.style.painted(tone, sign));
        let plain = format!("{before}{sign} ");
        let mut set = self.style.set(&(Style::Plain, plain.clone()), &words);
        if let Some(first) = set.first_mut()
            && let Some(rest) = first.strip_prefix(&plain)
        {
            let number = self.style.painted(Style::Dim, &before);
            let head = head.replacen(&before, &number, 1);
            *first = format!("{head}{rest}");
        }
        lines.extend(set);
        lines
    }
}

/// The arguments of a call in order, without names and mostly without quotes. Long texts and nested
/// values are truncated.
fn given(call: &FunctionCall) -> String {
    let value = |value: &Value| match value {
        Value::String(text) if text.is_empty() || text.contains(char::is_whitespace) => {
            format!("\"{}\"", sanitize(&truncate(text, MAX_VALUE)))
        }
        Value::String(text) => sanitize(&truncate(text, MAX_VALUE)),
        other => sanitize(&truncate(&other.to_string(), MAX_VALUE)),
    };
    let values = call.arguments.values().filter(|value| !value.is_null()).take(8);
    values.map(value).collect::<Vec<_>>().join(" ")
}

/// Maximum length of a value, in characters.
const MAX_VALUE: usize = 60;

/// Tokens and dollars, if any.
fn cost(usage: &Usage) -> Vec<String> {
    let tokens = usage.input_tokens + usage.output_tokens;
    let tokens = (tokens > 0).then(|| format!("{} tokens", grouped(tokens)));
    tokens.into_iter().chain(usage.dollars.map(dollars)).collect()
}

/// Dollars with enough decimals: a step may cost a hundredth of a cent.
fn dollars(dollars: f64) -> String {
    match dollars {
        small if small > 0.0 && small < 0.995 => format!("${small:.4}"),
        other => format!("${other:.2}"),
    }
}

/// A human-readable duration: `40 ms`, `2.1 s`, `1 min 12 s`.
pub(super) fn time(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    if seconds < 0.95 {
        format!("{:.0} ms", seconds * 1000.0)
    } else if seconds < 59.95 {
        format!("{seconds:.1} s")
    } else {
        let whole = seconds.round() as u64;
        format!("{} min {} s", whole / 60, whole % 60)
    }
}

/// A number with thousands separators: `12,345`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `1 step`, `2 steps`.
pub(in crate::cli) fn counted<N: Display + PartialEq + From<u8>>(count: N, what: &str) -> String {
    let end = if count == N::from(1) { "" } else { "s" };
    format!("{count} {what}{end}")
}
