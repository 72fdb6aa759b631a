//! The syntax tree: `parse` makes it, `eval` runs it. Types only.

use std::fmt;
use std::sync::Arc;

/// Commands joined by `;`, `&` or new lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Script(pub(crate) Vec<Item>);

/// Pipelines joined by `&&` and `||`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) first: Pipeline,
    pub(crate) rest: Vec<(AndOr, Pipeline)>,
    /// Ended by `&`.
    pub(crate) background: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AndOr {
    And,
    Or,
}

/// Stages joined by `|`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pipeline {
    /// Began with `!`.
    pub(crate) negated: bool,
    /// Began with `time`.
    pub(crate) timed: Option<TimeFormat>,
    pub(crate) stages: Vec<Stage>,
}

/// How `time` prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TimeFormat {
    Mksh,
    /// `time -p`
    Posix,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stage {
    pub(crate) what: Command,
    pub(crate) redirects: Vec<Redirect>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Command {
    Simple {
        assignments: Vec<(String, Word)>,
        words: Vec<Word>,
    },
    Subshell(Script),
    Group(Script),
    /// Conditions, and the commands to run if they are true.
    If {
        arms: Vec<(Script, Script)>,
        otherwise: Script,
    },
    /// `while`, or `until`.
    Loop {
        until: bool,
        condition: Script,
        body: Script,
    },
    /// Over these words, or over `"$@"`.
    For {
        name: String,
        words: Option<Vec<Word>>,
        body: Script,
    },
    Case {
        subject: Word,
        arms: Vec<Arm>,
    },
    /// `name() command`
    Function {
        name: String,
        body: Arc<Stage>,
    },
}

/// An arm of `case`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Arm {
    pub(crate) patterns: Vec<Word>,
    pub(crate) body: Script,
    pub(crate) then: CaseTerminator,
}

/// How `case` continues after an arm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CaseTerminator {
    /// `;;`: it ends.
    No,
    /// `;&`: with the next arm's commands.
    Next,
    /// `;|`: with the next arm's patterns.
    Test,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Redirect {
    /// The redirected descriptor.
    pub(crate) fd: u32,
    pub(crate) mode: Mode,
    pub(crate) target: Word,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    Read,
    Write,
    Append,
    /// `>&2`, `<&0`, `2>&-`
    Copy,
    /// `<<<`: the word itself is the input.
    Text,
}

/// Adjacent pieces without whitespace between them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Word(pub(crate) Vec<Piece>);

impl Word {
    /// Whether it is exactly this text, unquoted.
    pub(crate) fn is(&self, text: &str) -> bool {
        matches!(self.0.as_slice(), [Piece::Text { text: only, quoted: false }] if only == text)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Literal characters; unquoted ones may be a pattern.
    Text { text: String, quoted: bool },
    /// `$name`, `${name…}`
    Parameter { name: String, change: ParameterOp, quoted: bool },
    /// `$(…)` or `` `…` ``
    Command { script: Script, quoted: bool },
    /// `$((…))`
    Arithmetic { expression: Word, quoted: bool },
}

/// The operator in `${name…}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ParameterOp {
    None,
    /// `${#name}`
    Length,
    /// `${name-word}`; with `colon` an empty value counts as unset.
    Default {
        colon: bool,
        word: Word,
    },
    /// `${name=word}`
    Assign {
        colon: bool,
        word: Word,
    },
    /// `${name+word}`
    Alternative {
        colon: bool,
        word: Word,
    },
}

/// Why a text was rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SyntaxError {
    /// More lines could complete it (an open quote or parenthesis).
    Incomplete(&'static str),
    /// A syntax error.
    Wrong(String),
    /// The same, without the words "syntax error".
    Bad(&'static str),
    /// Valid in a real shell, but not supported here.
    Unsupported(String),
}

impl SyntaxError {
    /// The shell's exit status.
    pub(crate) fn status(&self) -> i32 {
        match self {
            Self::Incomplete(_) | Self::Wrong(_) | Self::Bad(_) => 1,
            Self::Unsupported(_) => 2,
        }
    }
}

impl fmt::Display for SyntaxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Incomplete(what) | Self::Bad(what) => f.write_str(what),
            Self::Wrong(what) => write!(f, "syntax error: {what}"),
            Self::Unsupported(what) => {
                write!(f, "syntax error: {what} not supported by this phone")
            }
        }
    }
}
