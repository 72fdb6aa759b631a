//! Lines for people on standard output: coloured and wrapped at words on a terminal, plain
//! elsewhere.

use std::io::IsTerminal as _;

use super::style::{LineStyle, Style, StyledLine, sanitize};
use super::{CliError, print_styled, terminal_prompt};

/// The widest text that is comfortable to read.
const MAX_WIDTH: usize = 100;

/// Standard output, for people.
#[derive(Debug, Clone, Copy)]
pub(super) struct StyledOutput {
    /// How lines are wrapped and coloured.
    pub(super) style: LineStyle,
}

impl StyledOutput {
    /// Standard output, with colours if wanted and if it is a terminal. Elsewhere lines have
    /// `width`; `None` does not wrap them.
    pub(super) fn new(colours: bool, width: Option<usize>) -> Self {
        let is_terminal = std::io::stdout().is_terminal();
        let terminal = is_terminal.then(terminal_prompt::output_width).flatten();
        let width = terminal.map(|columns| columns.min(MAX_WIDTH)).or(width);
        Self { style: LineStyle { width, colours: colours && is_terminal } }
    }

    /// The lines of a text behind `head`, which is indented as far as `head` is long.
    pub(super) fn lines(self, head: (Style, &str), words: &[(Style, &str)]) -> String {
        let words: StyledLine =
            words.iter().map(|(style, text)| (*style, sanitize(text))).collect();
        self.style.lines(head, &words)
    }

    /// Prints a text behind `head`.
    pub(super) fn line(self, head: (Style, &str), words: &[(Style, &str)]) -> Result<(), CliError> {
        print_styled(&self.lines(head, words))
    }

    /// Prints a title.
    pub(super) fn title(self, text: &str) -> Result<(), CliError> {
        self.line((Style::Plain, ""), &[(Style::Bold, text)])
    }

    /// Prints an empty line.
    pub(super) fn gap(self) -> Result<(), CliError> {
        print_styled("\n")
    }
}
