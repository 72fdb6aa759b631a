//! Text on a terminal: sanitized, wrapped to its width, and coloured if wanted.
//!
//! Part of a run's output is foreign text: the screen, a model's response. It must not move the
//! cursor, change colours or reverse the text direction ([`sanitize`]). Begin with
//! [`LineStyle::set`]. Whole outputs without colours pass through [`escape_controls`] on their way
//! out.

use std::borrow::Cow;

use textwrap::core::{Fragment, Word, break_words};
use textwrap::wrap_algorithms::wrap_first_fit;
use thumbwire_base::visible::escape_hidden;
use unicode_width::UnicodeWidthStr as _;

/// The style of a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) enum Style {
    /// Unstyled.
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

impl Style {
    /// The SGR parameter (ECMA-48, 8.3.117). Uses the eight basic colours, which every theme makes
    /// legible.
    fn code(self) -> Option<&'static str> {
        match self {
            Self::Plain => None,
            Self::Bold => Some("1"),
            Self::Dim => Some("2"),
            Self::Good => Some("32"),
            Self::Bad => Some("31"),
            Self::Warning => Some("33"),
        }
    }
}

/// How lines are wrapped and coloured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) struct LineStyle {
    /// Width to wrap at, in columns; `None` means no wrapping.
    pub(in crate::cli) width: Option<usize>,
    /// Whether to use colours.
    pub(in crate::cli) colours: bool,
}

/// The words of a line with their styles.
pub(in crate::cli) type StyledLine = Vec<(Style, String)>;

/// Minimum width of the text column. On a narrower terminal, the terminal itself wraps the lines.
const NARROWEST: usize = 12;

impl LineStyle {
    /// Wraps the words behind `head`. Continuation lines are indented to the end of `head`.
    pub(in crate::cli) fn set(self, head: &(Style, String), words: &StyledLine) -> Vec<String> {
        let indent = head.1.width();
        let column = self.width.map_or(usize::MAX, |width| {
            width.saturating_sub(indent).max(NARROWEST.min(width.max(1)))
        });
        let words: Vec<StyledWord<'_>> = words
            .iter()
            .flat_map(|(tone, text)| {
                let words = text.split(' ').filter(|word| !word.is_empty()).map(Word::from);
                let pieces = break_words(words, column);
                pieces.into_iter().map(|word| StyledWord { style: *tone, word })
            })
            .collect();
        #[expect(clippy::cast_precision_loss, reason = "no terminal is so wide")]
        let mut lines: Vec<StyledLine> = wrap_first_fit(&words, &[column as f64])
            .into_iter()
            .map(|words| {
                let mut line = vec![(Style::Plain, " ".repeat(indent))];
                for (at, StyledWord { style, word }) in words.iter().enumerate() {
                    let gap = if at > 0 { " " } else { "" };
                    add(&mut line, *style, &format!("{gap}{}", word.word));
                }
                line
            })
            .collect();
        match lines.first_mut().and_then(|line| line.first_mut()) {
            Some(first) => first.clone_from(head),
            None => lines.push(vec![head.clone()]),
        }
        let painted = |(tone, text): &(Style, String)| self.painted(*tone, text);
        lines.iter().map(|line| line.iter().map(painted).collect()).collect()
    }

    /// The lines of [`set`](Self::set) as one text, each with its line end.
    pub(in crate::cli) fn lines(self, head: (Style, &str), words: &StyledLine) -> String {
        let lines = self.set(&(head.0, head.1.to_owned()), words);
        lines.iter().map(|line| format!("{}\n", line.trim_end())).collect()
    }

    /// Styles a word.
    pub(in crate::cli) fn painted(self, tone: Style, word: &str) -> String {
        match tone.code().filter(|_| self.colours && !word.trim().is_empty()) {
            Some(code) => format!("\x1b[{code}m{word}\x1b[0m"),
            None => word.to_owned(),
        }
    }
}

/// Appends text to a line, merging it with preceding text of the same style. The first part of a
/// line is its head.
fn add(line: &mut StyledLine, tone: Style, text: &str) {
    let alone = line.len() == 1;
    match line.last_mut() {
        Some((last, before)) if *last == tone && !alone => before.push_str(text),
        _ => line.push((tone, text.to_owned())),
    }
}

/// A word with its style. One blank follows it, unless it ends a line.
#[derive(Debug)]
struct StyledWord<'a> {
    style: Style,
    word: Word<'a>,
}

impl Fragment for StyledWord<'_> {
    fn width(&self) -> f64 {
        self.word.width()
    }

    fn whitespace_width(&self) -> f64 {
        1.0
    }

    fn penalty_width(&self) -> f64 {
        0.0
    }
}

/// Maximum length of a text, in characters.
const MAX_CHARS: usize = 1200;

/// Sanitizes a text for one line of a terminal: characters that move the cursor, change the text
/// direction or are invisible are written as code points, runs of white space become one space, and
/// a long text is truncated.
pub(in crate::cli) fn sanitize(text: &str) -> String {
    thumbwire_base::sanitize(text, MAX_CHARS)
}

/// Escapes the invisible characters of an output, except line feeds and tabs, so that a phone
/// cannot control the terminal or hide a text. Inside a JSON text, `\u001b` stands for the same
/// character.
pub(in crate::cli) fn escape_controls(text: &str) -> Cow<'_, str> {
    escape_hidden(
        text,
        |c, _| matches!(c, '\n' | '\t'),
        |c, out| {
            for unit in c.encode_utf16(&mut [0; 2]) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(width: usize, head: &str, text: &str) -> Vec<String> {
        let style = LineStyle { width: Some(width), colours: false };
        style.set(&(Style::Plain, head.into()), &vec![(Style::Plain, text.into())])
    }

    #[test]
    fn lines_wrap_and_indent_below_the_head() {
        let lines = set(24, " 1/50  ", "Maps has to be opened first");
        assert_eq!(lines, [" 1/50  Maps has to be", "       opened first"]);
    }

    #[test]
    fn overlong_words_are_split() {
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
    fn control_characters_are_visible() {
        let check = |text: &str, shown: &str| assert_eq!(sanitize(text), shown);
        check("\x1b[2J\x1b]0;owned\x07gone", "\\u{1b}[2J\\u{1b}]0;owned\\u{7}gone");
        check("one\n\ttwo\r\nthree ", "one two three");
        // C1's CSI, which some terminals treat like ESC [.
        check("\u{9b}31mred", "\\u{9b}31mred");
        check("invoice\u{202e}gpj.exe", "invoice\\u{202e}gpj.exe");
        assert_eq!(sanitize(&"x".repeat(1 << 20)).chars().count(), MAX_CHARS + 1);
    }

    #[test]
    fn output_has_no_raw_control_characters() {
        let check = |text: &str, expected: &str| assert_eq!(escape_controls(text), expected);
        check("\x1b[2J\x1b]0;owned\x07", "\\u001b[2J\\u001b]0;owned\\u0007");
        check("one\r\ntwo\tthree\n", "one\\u000d\ntwo\tthree\n");
        check("\u{9b}31m \u{7f}", "\\u009b31m \\u007f");
        check("a\u{202e}b\u{e0041} 👨\u{200d}👩", "a\\u202eb\\udb40\\udc41 👨\u{200d}👩");
        assert!(matches!(escape_controls("plain, 漢字\n"), Cow::Borrowed(_)));
        // JSON escapes C0 itself, but neither DEL nor C1.
        let label = "a\u{9b}b\u{7f}\u{1b}";
        let json = serde_json::json!({ "label": label }).to_string();
        let read: serde_json::Value = serde_json::from_str(&escape_controls(&json)).unwrap();
        assert_eq!(read["label"], label);
    }

    #[test]
    fn colours_are_used_only_if_wanted() {
        let text = vec![(Style::Good, "✓".to_owned()), (Style::Dim, "40 ms".to_owned())];
        let head = (Style::Plain, "  ".to_owned());
        let plain = LineStyle { width: None, colours: false }.set(&head, &text);
        assert_eq!(plain, ["  ✓ 40 ms"]);
        let colourful = LineStyle { width: None, colours: true }.set(&head, &text);
        assert_eq!(colourful, ["  \x1b[32m✓\x1b[0m\x1b[2m 40 ms\x1b[0m"]);
    }
}
