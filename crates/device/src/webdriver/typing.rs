//! Long texts: in pieces, so that each request has a limit of time that fits it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::Instant;

use crate::{Error, SideEffect, UntypableText};

/// Characters in one request.
pub(crate) const PIECE: usize = 200;

/// How long a character takes at most: WebDriverAgent types up to 60 a second
/// (`maxTypingFrequency`), old phones some 5.
pub(crate) const SLOWEST: Duration = Duration::from_millis(300);

/// How long a character takes before anything was typed.
const GUESS: Duration = Duration::from_millis(60);

/// How fast the phone types: microseconds per character; 0 if unknown.
#[derive(Default)]
pub(crate) struct Pace(AtomicU64);

impl Pace {
    /// How long typing this text takes.
    pub(crate) fn time_for(&self, text: &str) -> Duration {
        let per_character = match self.0.load(Ordering::Relaxed) {
            0 => GUESS,
            micros => Duration::from_micros(micros),
        };
        per_character.saturating_mul(u32::try_from(text.chars().count()).unwrap_or(u32::MAX))
    }

    /// Remembers how long a text took. Short texts measure the request rather than the typing.
    pub(crate) fn learn(&self, characters: usize, took: Duration) {
        const FEWEST: usize = 20;
        if characters >= FEWEST
            && let Ok(micros) = u64::try_from(took.as_micros() / characters as u128)
        {
            self.0.store(micros.max(1), Ordering::Relaxed);
        }
    }
}

/// Types a text piece by piece with `send`, and learns how fast the phone is.
///
/// # Errors
/// [`Error::Untypable`] before anything is typed, or those of `send`.
pub(crate) async fn type_in_pieces<'a, F>(
    pace: &Pace,
    text: &'a str,
    send: impl Fn(&'a str) -> F,
) -> Result<(), Error>
where
    F: Future<Output = Result<(), Error>>,
{
    check_text(text)?;
    let mut typed = 0;
    for piece in pieces(text) {
        let begun = Instant::now();
        let characters = piece.chars().count();
        send(piece).await.map_err(|error| after_typing(typed, error))?;
        pace.learn(characters, begun.elapsed());
        typed += characters;
    }
    Ok(())
}

/// Refuses control characters other than the line break, which no keyboard types.
pub(crate) fn check_text(text: &str) -> Result<(), Error> {
    let mut control: Vec<char> = Vec::new();
    for character in text.chars().filter(|char| char.is_control() && *char != '\n') {
        if !control.contains(&character) {
            control.push(character);
        }
    }
    match control.is_empty() {
        true => Ok(()),
        false => Err(Error::Untypable(UntypableText::Control(control))),
    }
}

/// The error of a later part: an earlier one was typed, so that something happened in any case.
pub(crate) fn after_typing(typed: usize, error: Error) -> Error {
    match error {
        error if typed == 0 => error,
        Error::NotConnected { reason, .. } => {
            Error::NotConnected { reason, acted: SideEffect::Possible }
        }
        error => {
            Error::Failed { what: "type the text", text: format!("only a part was done: {error}") }
        }
    }
}

/// Splits a text behind spaces or between other ASCII characters, so that no emoji of several
/// characters is split.
pub(crate) fn pieces(text: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some((end, _)) = rest.char_indices().nth(PIECE) {
        let bytes = rest.as_bytes();
        let may_split = |at: &usize| bytes[*at - 1].is_ascii() && bytes[*at].is_ascii();
        let space = (end / 2..end).rev().find(|at| bytes[*at - 1] == b' ' && bytes[*at].is_ascii());
        let at = space.or_else(|| (1..=end).rev().find(may_split));
        let at = at.or_else(|| (end..bytes.len()).find(may_split)).unwrap_or(rest.len());
        let (piece, after) = rest.split_at(at);
        pieces.push(piece);
        rest = after;
    }
    if !rest.is_empty() {
        pieces.push(rest);
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_text_is_split_where_no_character_has_several_parts() {
        assert_eq!(pieces(""), [""; 0]);
        assert_eq!(pieces("abc"), ["abc"]);
        let words = "word ".repeat(100);
        let split = pieces(&words);
        assert_eq!(split.concat(), words);
        assert!(split.len() == 3 && split.iter().all(|piece| piece.ends_with(' ')), "{split:?}");
        let family = "👨‍👩‍👧‍👦".repeat(100);
        assert_eq!(pieces(&family), [family.as_str()]);
        let mixed = format!("ab{family}cd{}", "x".repeat(300));
        let split = pieces(&mixed);
        assert_eq!(split.concat(), mixed);
        assert!(split.iter().all(|piece| !piece.starts_with('\u{200d}')));
    }

    #[test]
    fn pace_is_learned_from_large_texts() {
        let pace = Pace::default();
        pace.learn(3, Duration::from_secs(3));
        assert_eq!(pace.time_for("a"), GUESS);
        pace.learn(100, Duration::from_secs(2));
        assert_eq!(pace.time_for("a"), Duration::from_millis(20));
    }
}
