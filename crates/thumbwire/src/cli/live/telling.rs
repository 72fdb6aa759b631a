//! From what happens in a run to the lines that a person reads. No clock and no terminal: times come with the events.

use std::time::Duration;

use serde_json::Value;

use super::ink::{Ink, Tone, Words, harmless};
use crate::agent::model::Spent;
use crate::agent::{Decision, Doing, Ended, Event, Status, Stopped};

/// Tells a run in lines, and where it stands in a few words.
pub(super) struct Telling {
    ink: Ink,
    round: u32,
    most: u32,
    /// Whether the round's number stands on a line already.
    numbered: bool,
    /// What this round's decision cost.
    spent: Spent,
    /// How long it took.
    thought_for: Duration,
    /// What the run has cost.
    so_far: Spent,
    /// What goes on.
    doing: String,
    /// How much of an answer has come.
    heard: usize,
}

impl Telling {
    /// Lines in this ink.
    pub(super) fn new(ink: Ink) -> Self {
        Self {
            ink,
            round: 0,
            most: 0,
            numbered: false,
            spent: Spent::default(),
            thought_for: Duration::ZERO,
            so_far: Spent::default(),
            doing: String::new(),
            heard: 0,
        }
    }

    /// The terminal has another width.
    pub(super) fn fit(&mut self, width: Option<usize>) {
        self.ink.width = width;
    }

    /// The first lines: the goal, and by what and where it is carried out.
    pub(super) fn head(&self, goal: &str, about: &[String]) -> Vec<String> {
        let none = (Tone::Plain, String::new());
        let mut lines = self.ink.set(&none, &vec![(Tone::Bold, harmless(goal))]);
        let about: Vec<String> = about.iter().map(|part| harmless(part)).collect();
        lines.extend(self.ink.set(&none, &vec![(Tone::Dim, about.join(" · "))]));
        lines.push(String::new());
        lines
    }

    /// What is to be read of an event.
    pub(super) fn lines(&mut self, event: &Event<'_>) -> Vec<String> {
        match event {
            Event::Begun { behind: 0, .. } => Vec::new(),
            Event::Begun { behind, .. } => {
                let words = format!("Goes on after round {behind}.");
                let mut lines =
                    self.ink.set(&(Tone::Plain, String::new()), &vec![(Tone::Dim, words)]);
                lines.push(String::new());
                lines
            }
            Event::Round { round, most } => {
                (self.round, self.most, self.numbered) = (*round, *most, false);
                (self.spent, self.thought_for) = (Spent::default(), Duration::ZERO);
                self.doing = "looking".into();
                Vec::new()
            }
            Event::Captured { .. } | Event::Apps { .. } | Event::Controls { .. } => Vec::new(),
            Event::Thinking { .. } => {
                (self.doing, self.heard) = ("thinking".into(), 0);
                Vec::new()
            }
            Event::Heard(part) => {
                self.heard += part.chars().count();
                self.doing = format!("thinking, {} characters", grouped(self.heard as u64));
                Vec::new()
            }
            Event::AskedAgain { why } => {
                self.heard = 0;
                self.line(
                    Tone::Heed,
                    "↻",
                    vec![(Tone::Dim, format!("asked again: {}", harmless(why)))],
                )
            }
            Event::Decided { decision, spent, took } => {
                self.spent = (*spent).clone();
                self.thought_for = *took;
                self.doing = "acting".into();
                self.decided(decision)
            }
            Event::Did { doing, success, message, took } => {
                self.did(doing, *success, message, *took)
            }
            Event::Noticed(what) => self.line(Tone::Heed, "!", vec![(Tone::Heed, harmless(what))]),
            // Whoever asks shows the question; here it is told to those who cannot be asked.
            Event::Asked { question } => {
                self.doing = "waiting for an answer".into();
                self.line(Tone::Heed, "?", vec![(Tone::Plain, harmless(question))])
            }
            Event::State { spent, .. } => {
                self.so_far = (*spent).clone();
                let cost = cost(&self.spent);
                if cost.is_empty() {
                    return Vec::new();
                }
                let words = format!("{} · {}", time(self.thought_for), cost.join(" · "));
                self.line(Tone::Dim, "", vec![(Tone::Dim, words)])
            }
            Event::Ended { .. } => Vec::new(),
        }
    }

    /// Where the run stands: what goes on, and what it has cost.
    pub(super) fn standing(&self) -> String {
        let mut parts = vec![self.doing.clone()];
        parts.extend(cost(&self.so_far));
        parts.retain(|part| !part.is_empty());
        parts.join(" · ")
    }

    /// The round that it is in: `3/50`.
    pub(super) fn place(&self) -> String {
        match self.round {
            0 => String::new(),
            round => format!("{round}/{}", self.most),
        }
    }

    /// The last lines: how it ended and what it cost; then where its story lies.
    pub(super) fn end(&self, ended: &Ended, story: &[String]) -> Vec<String> {
        let (tone, word) = match (ended.status, ended.stopped) {
            (Status::Finish, _) => (Tone::Good, "FINISH"),
            (Status::Fail, _) => (Tone::Bad, "FAIL"),
            (Status::Continue, Some(Stopped::Cancelled)) => (Tone::Heed, "INTERRUPTED"),
            (Status::Continue, _) => (Tone::Heed, "CONTINUE"),
        };
        let rounds = counted(ended.rounds, "round");
        let mut parts = vec![format!("{rounds} in {}", time(ended.took))];
        parts.extend(cost(&ended.spent));
        if ended.spent.retries > 0 {
            parts.push(counted(ended.spent.retries, "retry").replace("retrys", "retries"));
        }
        let head = (tone, format!("{word}  "));
        let mut lines = vec![String::new()];
        lines.extend(self.ink.set(&head, &vec![(Tone::Dim, parts.join(" · "))]));
        // A FINISH's words are the answer, which goes to standard output.
        if ended.status != Status::Finish && !ended.why.is_empty() {
            let words = vec![(Tone::Plain, harmless(&ended.why))];
            let below = (Tone::Plain, " ".repeat(word.len() + 2));
            lines.extend(self.ink.set(&below, &words));
        }
        lines.extend(story.iter().map(|line| self.ink.painted(Tone::Dim, line)));
        lines
    }

    fn decided(&mut self, decision: &Decision) -> Vec<String> {
        let (thought, comment) = (harmless(&decision.thought), harmless(&decision.comment));
        let mut lines = Vec::new();
        if !thought.is_empty() {
            lines.extend(self.line(Tone::Plain, "", vec![(Tone::Plain, thought.clone())]));
        }
        if !comment.is_empty() && comment != thought {
            lines.extend(self.line(Tone::Plain, "", vec![(Tone::Dim, format!("“{comment}”"))]));
        }
        if decision.actions.is_empty() && decision.status == Status::Continue {
            lines.extend(self.line(Tone::Dim, "·", vec![(Tone::Dim, "looks again".into())]));
        }
        lines
    }

    fn did(&mut self, doing: &Doing, success: bool, message: &str, took: Duration) -> Vec<String> {
        let (tone, sign) = if success { (Tone::Good, "✓") } else { (Tone::Bad, "✗") };
        let mut words = vec![(Tone::Bold, harmless(&doing.function))];
        let given = given(doing);
        if !given.is_empty() {
            words.push((Tone::Plain, given));
        }
        let message = harmless(message);
        if !message.is_empty() {
            words.push((Tone::Dim, "→".into()));
            words.push((if success { Tone::Dim } else { Tone::Bad }, message));
        }
        words.push((Tone::Dim, format!("· {}", time(took))));
        self.line(tone, sign, words)
    }

    /// A line of the round. Its number stands before the first one.
    fn line(&mut self, tone: Tone, sign: &str, words: Words) -> Vec<String> {
        let digits = self.most.to_string().len();
        let wide = 2 * digits + 4;
        let narrow = self.ink.width.is_some_and(|width| width < 48);
        let mut lines = Vec::new();
        let number = match (self.round, std::mem::replace(&mut self.numbered, true)) {
            (0, _) | (_, true) => String::new(),
            (round, false) => format!("{round:>digits$}/{}", self.most),
        };
        let (before, gutter) = match narrow {
            true => {
                // A number of its own line leaves the words their width.
                if !number.is_empty() {
                    lines.push(self.ink.painted(Tone::Dim, &number));
                }
                (String::new(), 1)
            }
            false => (number, wide),
        };
        let before = format!("{before:<gutter$}");
        if sign.is_empty() {
            lines.extend(self.ink.set(&(Tone::Dim, before), &words));
            return lines;
        }
        // The sign stands in a column of its own, so that what follows it is aligned below its first word.
        let head = format!("{before}{} ", self.ink.painted(tone, sign));
        let plain = format!("{before}{sign} ");
        let mut set = self.ink.set(&(Tone::Plain, plain.clone()), &words);
        if let Some(first) = set.first_mut()
            && let Some(rest) = first.strip_prefix(&plain)
        {
            let number = self.ink.painted(Tone::Dim, &before);
            let head = head.replacen(&before, &number, 1);
            *first = format!("{head}{rest}");
        }
        lines.extend(set);
        lines
    }
}

/// The values of a call, in its order, as a person would write them. Long texts and nested values are cut.
fn given(doing: &Doing) -> String {
    let value = |value: &Value| match value {
        Value::String(text) if text.is_empty() || text.contains(char::is_whitespace) => {
            format!("\"{}\"", shortened(&harmless(text)))
        }
        Value::String(text) => shortened(&harmless(text)),
        other => shortened(&harmless(&other.to_string())),
    };
    let values = doing.arguments.values().filter(|value| !value.is_null()).take(8);
    values.map(value).collect::<Vec<_>>().join(" ")
}

/// So much of a value is told, in characters.
const LONGEST_VALUE: usize = 60;

fn shortened(text: &str) -> String {
    match text.char_indices().nth(LONGEST_VALUE) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into(),
    }
}

/// Tokens and money, where there are any.
fn cost(spent: &Spent) -> Vec<String> {
    let tokens = spent.input_tokens + spent.output_tokens;
    let tokens = (tokens > 0).then(|| format!("{} tokens", grouped(tokens)));
    tokens.into_iter().chain(spent.dollars.map(dollars)).collect()
}

/// Dollars with as many places as say something: a round may cost a hundredth of a cent.
fn dollars(dollars: f64) -> String {
    match dollars {
        small if small > 0.0 && small < 0.995 => format!("${small:.4}"),
        other => format!("${other:.2}"),
    }
}

/// A time as people say it: `40 ms`, `2.1 s`, `1 min 12 s`.
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

/// A number with its thousands apart: `12,345`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut told = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            told.push(',');
        }
        told.push(digit);
    }
    told
}

fn counted(count: u32, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}
