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
        assignments: Vec<Assignment>,
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
    /// The same, but each round asks for one of the words.
    Select {
        name: String,
        words: Option<Vec<Word>>,
        body: Script,
    },
    Case {
        subject: Word,
        arms: Vec<Arm>,
    },
    /// `((…))`
    Arithmetic(Word),
    /// `[[ … ]]`
    Condition(Condition),
    /// `name() command`
    Function {
        name: String,
        body: Arc<Stage>,
    },
}

/// `name=value`, `name[index]+=value`, `name=(value…)`
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Assignment {
    pub(crate) name: String,
    pub(crate) index: Option<Word>,
    /// `+=`
    pub(crate) appends: bool,
    pub(crate) value: AssignedValue,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum AssignedValue {
    Word(Word),
    Array(Vec<Word>),
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
    /// `&>`: standard output and standard error.
    Both,
    /// `<>`
    ReadWrite,
    /// `>&2`, `<&0`, `2>&-`
    Copy,
    /// `<<<`: the word itself is the input, as a line.
    Text,
    /// `<<`: the word is the text of the here-document.
    Here,
}

/// Adjacent pieces without whitespace between them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Word(pub(crate) Vec<Piece>);

impl Word {
    /// Whether it begins with an unquoted `name=`.
    pub(crate) fn is_assignment(&self) -> bool {
        let Some(Piece::Text { text, quoted: false }) = self.0.first() else { return false };
        let Some((name, _)) = text.split_once('=') else { return false };
        let letter = |c: char| c.is_ascii_alphabetic() || c == '_';
        name.starts_with(letter) && name.chars().all(|c| letter(c) || c.is_ascii_digit())
    }

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
    Parameter { name: String, index: Option<Index>, change: ParameterOp, quoted: bool },
    /// `$(…)` or `` `…` ``
    Command { script: Script, quoted: bool },
    /// `$((…))`
    Arithmetic { expression: Word, quoted: bool },
}

/// The subscript in `${name[…]}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Index {
    At(Word),
    /// `@`: all elements.
    All,
    /// `*`: all, joined if quoted.
    Joined,
}

/// The operator in `${name…}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ParameterOp {
    None,
    /// `${#name}`
    Length,
    /// `${!name}`: the name itself, or the indices of an array.
    Names,
    /// `${name@Q}`: quoted as the shell reads it.
    Quoted,
    /// There is no such operator. With the text.
    Bad(String),
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
    /// `${name?word}`
    Required {
        colon: bool,
        word: Word,
    },
    /// `${name#pattern}`, `##`, `%`, `%%`
    Trim {
        end: bool,
        longest: bool,
        pattern: Word,
    },
    /// `${name/pattern/word}`, `//`, `/#`, `/%`
    Replace {
        which: Which,
        pattern: Word,
        word: Word,
    },
    /// `${name:offset:length}`
    Part {
        offset: Word,
        length: Option<Word>,
    },
}

/// Which matches `${name/…}` replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    First,
    All,
    /// Only at the start, or at the end.
    Start,
    End,
}

/// A condition of `[[ … ]]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Condition {
    /// All of these, or any of these.
    All(Vec<Condition>),
    Any(Vec<Condition>),
    Not(Box<Condition>),
    /// `-f word`; `-n` if only a word is given.
    Unary(String, Word),
    Binary(Word, String, Word),
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
