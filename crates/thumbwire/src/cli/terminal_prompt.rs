//! The user at the terminal: questions, hidden input, and the terminal's width.
//!
//! Start with [`Terminal`], which implements [`Call::ask`](thumbwire_core::action::Call). If
//! standard input or standard error is not a terminal, there is no user: a question that nobody can
//! see is not asked.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use indicatif::ProgressBar;
use thumbwire_base::lock;

use super::style::{escape_controls, sanitize};
use thumbwire_core::action::{AskUser, NoUser, Question, UserAnswer};

/// Terminal output that makes room for a question.
pub(super) trait PauseOutput: Send + Sync {
    /// Hides the progress line while something else writes.
    fn pause(&self);

    /// Shows the progress line again.
    fn resume(&self);
}

/// Asks questions on the terminal; each answer is one line.
struct Terminal {
    /// The progress view, which pauses during a question.
    live: Option<Arc<dyn PauseOutput>>,
}

/// The user at the terminal, or no user.
pub(super) fn person(live: Option<Arc<dyn PauseOutput>>) -> Arc<dyn AskUser> {
    match is_there() {
        true => Arc::new(Terminal { live }),
        false => Arc::new(NoUser),
    }
}

/// Whether a user can see and answer questions.
pub(super) fn is_there() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

#[async_trait]
impl AskUser for Terminal {
    async fn ask(&self, question: &Question) -> UserAnswer {
        let paused = PauseGuard::begin(self.live.clone());
        let prompt = format!("? {}\n> ", sanitize(&question.to_string()));
        // A pending read of a terminal cannot be cancelled: dropping this future leaves it running
        // until the program ends.
        let answer = tokio::task::spawn_blocking(move || line(&prompt)).await;
        drop(paused);
        answered(answer.ok().flatten())
    }

    async fn ask_secret(&self, question: &Question) -> UserAnswer {
        let paused = PauseGuard::begin(self.live.clone());
        let prompt = format!("? {}\n> (input is hidden) ", sanitize(&question.to_string()));
        let answer = tokio::task::spawn_blocking(move || read_secret(&prompt)).await;
        drop(paused);
        answered(answer.ok().flatten())
    }
}

/// What a line means; there is none at the end of the input.
fn answered(line: Option<String>) -> UserAnswer {
    match line {
        Some(line) if line.is_empty() => UserAnswer::Dismissed,
        Some(line) => UserAnswer::Text(line),
        None => UserAnswer::NoUser,
    }
}

/// Whether the cursor is behind a question that waits for its answer.
static PENDING: AtomicBool = AtomicBool::new(false);

/// Ends the line of a question that gets no answer, so that other output does not continue it.
pub(super) fn leave_question() {
    if PENDING.swap(false, Ordering::SeqCst) {
        show_again();
        eprintln!();
    }
}

/// Pauses the live view until dropped, whether the question was answered or cancelled.
struct PauseGuard(Option<Arc<dyn PauseOutput>>);

impl PauseGuard {
    fn begin(live: Option<Arc<dyn PauseOutput>>) -> Self {
        if let Some(live) = &live {
            live.pause();
        }
        PENDING.store(true, Ordering::SeqCst);
        Self(live)
    }
}

impl Drop for PauseGuard {
    fn drop(&mut self) {
        leave_question();
        if let Some(live) = &self.0 {
            live.resume();
        }
    }
}

/// Asks for a secret with the echo off. `None` if there is no user or the answer is empty.
pub(super) fn read_secret(prompt: &str) -> Option<String> {
    if !is_there() {
        return None;
    }
    let hidden = EchoOffGuard::begin()?;
    PENDING.store(true, Ordering::SeqCst);
    let answer = line(prompt);
    drop(hidden);
    // The answer's line end was not echoed either.
    eprintln!();
    answer.filter(|answer| !answer.is_empty())
}

/// Prints the prompt and reads a line; `None` at the end of input.
fn line(prompt: &str) -> Option<String> {
    eprint!("{prompt}");
    io::stderr().flush().ok()?;
    let mut line = String::new();
    let read = io::stdin().lock().read_line(&mut line).ok()?;
    // The user's Enter ended the line, unless it was not echoed.
    PENDING.store(false, Ordering::SeqCst);
    (read > 0).then(|| line.trim_end_matches(['\r', '\n']).to_owned())
}

/// The progress line at the bottom of standard error. Other output goes above it.
static BELOW: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// Sets or removes the progress line.
#[cfg(feature = "agent")]
pub(super) fn set_progress_bar(bar: Option<ProgressBar>) {
    *lock(&BELOW) = bar;
}

/// Standard error, above the progress line. Control characters are escaped: the text may come from
/// a phone. Writing never fails: who starts a server may close its standard error, and the logger
/// would panic in the middle of a call.
pub(super) struct StderrAboveBar;

impl io::Write for StderrAboveBar {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let bar = lock(&BELOW).clone();
        let text = String::from_utf8_lossy(bytes);
        let write = || io::stderr().lock().write_all(escape_controls(&text).as_bytes());
        let _ = match bar {
            Some(bar) => bar.suspend(write),
            None => write(),
        };
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let _ = io::stderr().flush();
        Ok(())
    }
}

/// Width of the terminal on standard error, in columns; `None` if unknown.
#[cfg(unix)]
pub(super) fn width() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(io::stderr()).ok()?;
    (size.ws_col > 0).then_some(size.ws_col.into())
}

/// Width of the terminal on standard output.
#[cfg(feature = "agent")]
#[cfg(unix)]
pub(super) fn output_width() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
    (size.ws_col > 0).then_some(size.ws_col.into())
}

/// Width of the terminal on standard output: unknown on this platform.
#[cfg(feature = "agent")]
#[cfg(not(unix))]
pub(super) fn output_width() -> Option<usize> {
    None
}

/// Width of the terminal on standard error: unknown on this platform.
#[cfg(not(unix))]
pub(super) fn width() -> Option<usize> {
    None
}

/// Turns the terminal's echo off until dropped, or until [`show_again`].
struct EchoOffGuard;

#[cfg(unix)]
mod echo {
    use std::io;
    use std::sync::Mutex;

    use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
    use thumbwire_base::lock;

    /// The terminal's settings before the echo was turned off.
    static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);

    pub(super) fn hide() -> Option<()> {
        let before = tcgetattr(io::stdin()).ok()?;
        let mut hidden = before.clone();
        hidden.local_modes.remove(LocalModes::ECHO);
        tcsetattr(io::stdin(), OptionalActions::Flush, &hidden).ok()?;
        *lock(&BEFORE) = Some(before);
        Some(())
    }

    pub(super) fn show() {
        if let Some(before) = lock(&BEFORE).take() {
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, &before);
        }
    }
}

/// The echo cannot be turned off on this platform, so secrets come only from the environment.
#[cfg(not(unix))]
mod echo {
    pub(super) fn hide() -> Option<()> {
        None
    }

    pub(super) fn show() {}
}

impl EchoOffGuard {
    fn begin() -> Option<Self> {
        echo::hide().map(|()| Self)
    }
}

impl Drop for EchoOffGuard {
    fn drop(&mut self) {
        show_again();
    }
}

/// Turns the echo back on, for exits in the middle of a question.
pub(super) fn show_again() {
    echo::show();
}
