//! What a person sees of a run while it goes on: lines of what was done, and on a terminal one line below them of where it stands.
//!
//! Begin with [`Live`]. All of it goes to standard error: standard output has the answer alone, or with `--json` the events
//! ([`JsonLines`]). Which lines an event makes is [`telling`]'s; how they are set on a terminal, and made harmless, [`ink`]'s.

mod ink;
mod json;
mod telling;
#[cfg(test)]
mod tests;

use std::io::{IsTerminal as _, Write as _};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};

pub(super) use ink::{Ink, Tone, harmless};
pub(super) use json::JsonLines;

use super::terminal;
use crate::agent::{Ended, Event, Watch};
use telling::Telling;

/// How often the line below is drawn anew while nothing happens.
const TICK: Duration = Duration::from_millis(120);

/// Shows a run on standard error.
pub(super) struct Live {
    telling: Mutex<Telling>,
    /// The line below; `None` where standard error is no terminal.
    bar: Option<ProgressBar>,
    /// Whether whoever looks is asked, and so sees each question anyway.
    asks: bool,
}

impl Live {
    /// A view for whoever looks at standard error, with colours if they are wanted and it is a terminal. `limit` is the time that the run
    /// has; `asks`, whether questions are asked there too.
    pub(super) fn new(colours: bool, limit: Option<Duration>, asks: bool) -> Self {
        let there = std::io::stderr().is_terminal();
        let colours = colours && there;
        let width = there.then(terminal::width).flatten();
        let bar = there.then(|| bar(colours, limit));
        Self { telling: Mutex::new(Telling::new(Ink { width, colours })), bar, asks }
    }

    /// Tells whose goal is carried out, by what and where.
    pub(super) fn begin(&self, goal: &str, about: &[String]) {
        self.say(&self.with(|telling| telling.head(goal, about)));
        if let Some(bar) = &self.bar {
            bar.set_draw_target(ProgressDrawTarget::stderr());
            bar.enable_steady_tick(TICK);
            terminal::stand_below(Some(bar.clone()));
        }
    }

    /// Tells something between the lines.
    pub(super) fn notice(&self, words: &str) {
        self.say(&[words.to_owned()]);
    }

    /// Tells how it ended, and takes the line below away.
    pub(super) fn end(&self, ended: &Ended, story: &[String]) {
        self.pause();
        terminal::stand_below(None);
        self.say(&self.with(|telling| telling.end(ended, story)));
    }

    /// Takes the line below away: somebody else writes now.
    pub(super) fn pause(&self) {
        if let Some(bar) = &self.bar {
            bar.disable_steady_tick();
            take_away(bar);
        }
    }

    /// Draws it again.
    pub(super) fn go_on(&self) {
        if let Some(bar) = &self.bar {
            bar.reset();
            bar.set_draw_target(ProgressDrawTarget::stderr());
            bar.enable_steady_tick(TICK);
        }
    }

    fn with<T>(&self, ask: impl FnOnce(&mut Telling) -> T) -> T {
        let mut telling = self.telling.lock().unwrap_or_else(PoisonError::into_inner);
        if self.bar.is_some() {
            telling.fit(terminal::width());
        }
        ask(&mut telling)
    }

    fn say(&self, lines: &[String]) {
        if lines.is_empty() {
            return;
        }
        let text = lines.iter().map(|line| line.trim_end()).collect::<Vec<_>>().join("\n");
        let write = || {
            // Who closed our standard error wants to hear nothing.
            let _ = writeln!(std::io::stderr().lock(), "{text}");
        };
        match &self.bar {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }
}

impl Watch for Live {
    fn tell(&self, event: &Event<'_>) {
        let (lines, place, standing) = self.with(|telling| {
            let lines = telling.lines(event);
            (lines, telling.place(), telling.standing())
        });
        if let Some(bar) = &self.bar {
            bar.set_prefix(place);
            bar.set_message(standing);
        }
        if !(self.asks && matches!(event, Event::Asked { .. })) {
            self.say(&lines);
        }
    }
}

/// Shows a run in plain lines, wherever they are written to.
pub(super) struct Lines<W> {
    telling: Mutex<Telling>,
    write: W,
}

impl<W: Fn(&str) + Send + Sync> Lines<W> {
    /// Lines that are written so, each text ending with its line.
    pub(super) fn new(write: W) -> Self {
        let ink = Ink { width: Some(100), colours: false };
        Self { telling: Mutex::new(Telling::new(ink)), write }
    }

    /// Tells whose goal is carried out, and by what.
    pub(super) fn begin(&self, goal: &str, about: &[String]) {
        self.say(|telling| telling.head(goal, about));
    }

    /// Tells how it ended.
    pub(super) fn end(&self, ended: &Ended) {
        self.say(|telling| telling.end(ended, &[]));
    }

    fn say(&self, lines: impl FnOnce(&mut Telling) -> Vec<String>) {
        let lines = lines(&mut self.telling.lock().unwrap_or_else(PoisonError::into_inner));
        lines.iter().for_each(|line| (self.write)(&format!("{}\n", line.trim_end())));
    }
}

impl<W: Fn(&str) + Send + Sync> Watch for Lines<W> {
    fn tell(&self, event: &Event<'_>) {
        self.say(|telling| telling.lines(event));
    }
}

/// Takes the line off the terminal. Hiding alone would leave it there, with the cursor at its end.
fn take_away(bar: &ProgressBar) {
    bar.finish_and_clear();
    bar.set_draw_target(ProgressDrawTarget::hidden());
}

/// The line below: what goes on, and how much time is left, or has gone where there is no limit.
fn bar(colours: bool, limit: Option<Duration>) -> ProgressBar {
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
    // A template that cannot be read is found by the test below.
    let style = ProgressStyle::with_template(template)
        .unwrap_or_else(|_| ProgressStyle::default_spinner())
        .tick_chars("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏ ")
        .with_key("clock", clock);
    ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden()).with_style(style)
}
