//! Words on a terminal: made harmless, wrapped to its width, and coloured where that is wanted.
//!
//! What a run tells is partly a stranger's: a screen's texts, a model's answer. Nothing of it may move the cursor, change colours or
//! turn the line around ([`harmless`]). Begin with [`Ink::set`].

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// How a word is painted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) enum Tone {
    /// As it comes.
    Plain,
    /// What counts.
    Bold,
    /// What may be passed over.
    Dim,
    /// What went well.
    Good,
    /// What did not.
    Bad,
    /// What is to be heeded.
    Heed,
}

impl Tone {
    /// The SGR parameter (ECMA-48, 8.3.117): the eight basic colours, which every theme makes legible.
    fn code(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Bold => Some("1"),
            Self::Dim => Some("2"),
            Self::Good => Some("32"),
            Self::Bad => Some("31"),
            Self::Heed => Some("33"),
        }
    }
}

/// How lines are set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) struct Ink {
    /// The width to wrap at, in columns; `None` does not wrap.
    pub(in crate::cli) width: Option<usize>,
    /// Whether there are colours.
    pub(in crate::cli) colours: bool,
}

/// The words of a line, each painted in one way.
pub(in crate::cli) type Words = Vec<(Tone, String)>;

/// The narrowest column of words: a terminal that leaves less has its lines wrapped by itself.
const NARROWEST: usize = 12;

impl Ink {
    /// The lines that these words make behind `head`, which stands once, before the first; the others begin below its end.
    pub(in crate::cli) fn set(self, head: &(Tone, String), words: &Words) -> Vec<String> {
        let indent = head.1.width();
        let column = self.width.map_or(usize::MAX, |width| {
            width.saturating_sub(indent).max(NARROWEST.min(width.max(1)))
        });
        let mut lines: Vec<Words> = vec![vec![head.clone()]];
        let mut filled = 0;
        for (tone, text) in words {
            for word in text.split(' ').filter(|word| !word.is_empty()) {
                for piece in pieces(word, column) {
                    let width = piece.width();
                    if filled > 0 && filled + 1 + width > column {
                        lines.push(vec![(Tone::Plain, " ".repeat(indent))]);
                        filled = 0;
                    }
                    let gap = if filled > 0 { " " } else { "" };
                    filled += gap.len() + width;
                    // There is always a last line: it began with the head.
                    if let Some(line) = lines.last_mut() {
                        add(line, *tone, &format!("{gap}{piece}"));
                    }
                }
            }
        }
        let painted = |(tone, text): &(Tone, String)| self.painted(*tone, text);
        lines.iter().map(|line| line.iter().map(painted).collect()).collect()
    }

    /// A word in its tone.
    pub(in crate::cli) fn painted(self, tone: Tone, word: &str) -> String {
        match tone.code().filter(|_| self.colours && !word.trim().is_empty()) {
            Some(code) => format!("\x1b[{code}m{word}\x1b[0m"),
            None => word.to_owned(),
        }
    }
}

/// Adds words to a line; those of one tone stand together. The first part of a line is its head.
fn add(line: &mut Words, tone: Tone, text: &str) {
    let alone = line.len() == 1;
    match line.last_mut() {
        Some((last, before)) if *last == tone && !alone => before.push_str(text),
        _ => line.push((tone, text.to_owned())),
    }
}

/// A word in pieces that fit the column.
fn pieces(word: &str, column: usize) -> Vec<&str> {
    let mut pieces = Vec::new();
    let (mut start, mut filled) = (0, 0);
    for (at, character) in word.char_indices() {
        let width = character.width().unwrap_or(0);
        if filled > 0 && filled + width > column {
            pieces.push(&word[start..at]);
            (start, filled) = (at, 0);
        }
        filled += width;
    }
    pieces.push(&word[start..]);
    pieces
}

/// How much of a text is told, in characters.
const LONGEST: usize = 1200;

/// The text on one line, with nothing in it that a terminal obeys: control characters (C0, DEL, C1) become `�`, and so do those
/// that turn the direction of what follows (Unicode's UAX 9, table 2); white space is one space. A text that is longer than a
/// person reads is cut.
pub(in crate::cli) fn harmless(text: &str) -> String {
    let mut told = String::new();
    let mut gap = false;
    for (count, character) in text.trim().chars().enumerate() {
        if count == LONGEST {
            told.push('…');
            break;
        }
        if character.is_whitespace() {
            gap = true;
            continue;
        }
        if std::mem::take(&mut gap) {
            told.push(' ');
        }
        told.push(match character {
            turning if is_turning(turning) => '\u{fffd}',
            control if control.is_control() => '\u{fffd}',
            other => other,
        });
    }
    told
}

fn is_turning(character: char) -> bool {
    matches!(character, '\u{200e}' | '\u{200f}' | '\u{61c}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(width: usize, head: &str, text: &str) -> Vec<String> {
        let ink = Ink { width: Some(width), colours: false };
        ink.set(&(Tone::Plain, head.into()), &vec![(Tone::Plain, text.into())])
    }

    #[test]
    fn lines_end_before_the_width_and_go_on_below_the_words() {
        let lines = set(24, " 1/50  ", "Maps has to be opened first");
        assert_eq!(lines, [" 1/50  Maps has to be", "       opened first"]);
    }

    #[test]
    fn a_word_that_is_wider_than_the_line_is_taken_apart() {
        let lines = set(20, "", &"https://example.com/".repeat(2));
        assert_eq!(lines, ["https://example.com/", "https://example.com/"]);
        // Each of these is two columns wide.
        assert_eq!(set(17, "", &"漢".repeat(9)), ["漢".repeat(8), "漢".to_string()]);
    }

    #[test]
    fn no_width_is_too_narrow() {
        for width in 0..12 {
            assert!(!set(width, " 1/50  ", "a few words 漢字").is_empty());
        }
    }

    #[test]
    fn what_a_terminal_would_obey_is_shown_and_not_done() {
        let check = |text: &str, told: &str| assert_eq!(harmless(text), told);
        check("\x1b[2J\x1b]0;owned\x07gone", "\u{fffd}[2J\u{fffd}]0;owned\u{fffd}gone");
        check("one\n\ttwo\r\nthree ", "one two three");
        // C1's CSI, which some terminals obey like ESC [.
        check("\u{9b}31mred", "\u{fffd}31mred");
        check("invoice\u{202e}gpj.exe", "invoice\u{fffd}gpj.exe");
        assert_eq!(harmless(&"x".repeat(1 << 20)).chars().count(), LONGEST + 1);
    }

    #[test]
    fn colours_stand_around_words_only_where_they_are_wanted() {
        let words = vec![(Tone::Good, "✓".to_owned()), (Tone::Dim, "40 ms".to_owned())];
        let head = (Tone::Plain, "  ".to_owned());
        let plain = Ink { width: None, colours: false }.set(&head, &words);
        assert_eq!(plain, ["  ✓ 40 ms"]);
        let colourful = Ink { width: None, colours: true }.set(&head, &words);
        assert_eq!(colourful, ["  \x1b[32m✓\x1b[0m\x1b[2m 40 ms\x1b[0m"]);
    }
}
