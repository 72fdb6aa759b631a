//! The person at the terminal: how wide it is, what they are asked, and what they type unseen.
//!
//! Begin with [`Terminal`], a port for [`Call::ask`](crate::action::Call). Nobody is there where standard input or standard error is no
//! terminal: a question that no one can see is not asked.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use indicatif::ProgressBar;

use super::live::{Live, harmless};
use crate::action::{Ask, NobodyThere};

/// Asks on the terminal, one question a line.
struct Terminal {
    /// Whose lines stand there meanwhile.
    live: Option<Arc<Live>>,
}

/// Whoever can be asked: the person at the terminal, or nobody.
pub(super) fn person(live: Option<Arc<Live>>) -> Arc<dyn Ask> {
    match is_there() {
        true => Arc::new(Terminal { live }),
        false => Arc::new(NobodyThere),
    }
}

/// Whether somebody sees a question and can answer it.
pub(super) fn is_there() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

#[async_trait]
impl Ask for Terminal {
    async fn ask(&self, question: &str) -> Option<String> {
        let paused = Paused::begin(self.live.clone());
        let prompt = format!("? {}\n> ", harmless(question));
        // A read of a terminal cannot be called off: whoever drops this future leaves it behind.
        let answer = tokio::task::spawn_blocking(move || line(&prompt)).await;
        drop(paused);
        answer.ok().flatten().filter(|answer| !answer.is_empty())
    }

    async fn ask_unseen(&self, question: &str) -> Option<String> {
        let paused = Paused::begin(self.live.clone());
        let prompt = format!("? {}\n> (it does not show) ", harmless(question));
        let answer = tokio::task::spawn_blocking(move || unseen(&prompt)).await;
        drop(paused);
        answer.ok().flatten()
    }
}

/// The live view steps aside until this is dropped, whether the question was answered or is no longer asked.
struct Paused(Option<Arc<Live>>);

impl Paused {
    fn begin(live: Option<Arc<Live>>) -> Self {
        if let Some(live) = &live {
            live.pause();
        }
        Self(live)
    }
}

impl Drop for Paused {
    fn drop(&mut self) {
        if let Some(live) = &self.0 {
            live.go_on();
        }
    }
}

/// Asks for what must not be seen: what is typed does not show. `None` where nobody is there, or nothing was typed.
pub(super) fn unseen(prompt: &str) -> Option<String> {
    if !is_there() {
        return None;
    }
    let hidden = Hidden::begin()?;
    let answer = line(prompt);
    drop(hidden);
    // Its line end did not show either.
    eprintln!();
    answer.filter(|answer| !answer.is_empty())
}

/// Asks, and reads a line; `None` at the end of the input.
fn line(prompt: &str) -> Option<String> {
    eprint!("{prompt}");
    io::stderr().flush().ok()?;
    let mut line = String::new();
    let read = io::stdin().lock().read_line(&mut line).ok()?;
    (read > 0).then(|| line.trim_end_matches(['\r', '\n']).to_owned())
}

/// The line that stands below all others on standard error, if there is one: whoever writes there lifts it.
static BELOW: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// From now on this line stands below, or none does.
pub(super) fn stand_below(bar: Option<ProgressBar>) {
    *BELOW.lock().unwrap_or_else(PoisonError::into_inner) = bar;
}

/// Standard error, above the line that stands below.
pub(super) struct Above;

impl io::Write for Above {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let bar = BELOW.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let write = || io::stderr().lock().write(bytes);
        match bar {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

/// How many columns the terminal behind standard error has; `None` where that is not known.
#[cfg(unix)]
pub(super) fn width() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(io::stderr()).ok()?;
    (size.ws_col > 0).then_some(size.ws_col.into())
}

/// How many columns the terminal behind standard error has; not known here.
#[cfg(not(unix))]
pub(super) fn width() -> Option<usize> {
    None
}

/// What is typed does not show until this is dropped, or until [`show_again`].
struct Hidden;

#[cfg(unix)]
mod echo {
    use std::io;
    use std::sync::{Mutex, PoisonError};

    use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};

    /// How the terminal was, while it is otherwise.
    static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);

    pub(super) fn hide() -> Option<()> {
        let before = tcgetattr(io::stdin()).ok()?;
        let mut hidden = before.clone();
        hidden.local_modes.remove(LocalModes::ECHO);
        tcsetattr(io::stdin(), OptionalActions::Flush, &hidden).ok()?;
        *BEFORE.lock().unwrap_or_else(PoisonError::into_inner) = Some(before);
        Some(())
    }

    pub(super) fn show() {
        if let Some(before) = BEFORE.lock().unwrap_or_else(PoisonError::into_inner).take() {
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, &before);
        }
    }
}

/// A terminal whose echo cannot be switched off here: secrets come from the environment alone.
#[cfg(not(unix))]
mod echo {
    pub(super) fn hide() -> Option<()> {
        None
    }

    pub(super) fn show() {}
}

impl Hidden {
    fn begin() -> Option<Self> {
        echo::hide().map(|()| Self)
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        show_again();
    }
}

/// What is typed shows again, if it did not: for whoever ends the program in the middle of a question.
pub(super) fn show_again() {
    echo::show();
}
