//! Warnings about parts of a dump that could not be read.

use std::fmt;

/// A part of a dump that could not be read, or not as written. Each kind is reported once, with a
/// count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParseWarning {
    /// Kind of the problem.
    pub kind: ParseWarningKind,
    /// How often or how much; see the kind.
    pub count: usize,
    /// Line of the first occurrence, starting at 1.
    pub line: usize,
    /// Byte offset of the first occurrence, starting at 0.
    pub byte: usize,
}

/// Kinds of warnings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the messages explain them")]
pub enum ParseWarningKind {
    Utf16,
    NotUtf8,
    LeadingText,
    TrailingText,
    SecondTree,
    Truncated,
    InvalidTag,
    Unclosed,
    StrayEnd,
    TextBetweenTags,
    InvalidAttribute,
    DuplicateAttribute,
    InvalidBounds,
    UnknownEntity,
    InvalidCharacter,
    TooDeep,
    TooMany,
    OtherDisplay,
}

impl ParseWarningKind {
    /// Whether the tree differs from the phone's: nodes are missing or misplaced.
    pub(crate) fn loses_nodes(self) -> bool {
        matches!(
            self,
            Self::SecondTree
                | Self::Truncated
                | Self::InvalidTag
                | Self::Unclosed
                | Self::StrayEnd
                | Self::TooMany
        )
    }

    /// The message for one occurrence, and for several, where `#` is the count.
    fn messages(self) -> (&'static str, &'static str) {
        match self {
            Self::Utf16 => ("the file is UTF-16, not UTF-8", ""),
            Self::NotUtf8 => ("1 invalid UTF-8 sequence", "# invalid UTF-8 sequences"),
            Self::LeadingText => {
                ("1 byte of other text before the tree", "# bytes of other text before the tree")
            }
            Self::TrailingText => {
                ("1 byte of other text after the tree", "# bytes of other text after the tree")
            }
            Self::SecondTree => ("a second tree begins here; ignored", ""),
            Self::Truncated => (
                "the tree ends before its closing tag; 1 node was read",
                "the tree ends before its closing tag; # nodes were read",
            ),
            Self::InvalidTag => ("1 tag is broken", "# tags are broken"),
            Self::Unclosed => ("1 node is not closed", "# nodes are not closed"),
            Self::StrayEnd => {
                ("1 closing tag has no opening tag", "# closing tags have no opening tag")
            }
            Self::TextBetweenTags => ("1 text between tags", "# texts between tags"),
            Self::InvalidAttribute => ("1 attribute is broken", "# attributes are broken"),
            Self::DuplicateAttribute => ("1 duplicate attribute", "# duplicate attributes"),
            // These nodes and their descendants are not visible.
            Self::InvalidBounds => ("1 node has invalid bounds", "# nodes have invalid bounds"),
            // The values are kept as written.
            Self::UnknownEntity => {
                ("1 value has an unknown entity", "# values have unknown entities")
            }
            Self::InvalidCharacter => (
                "1 value has a character that XML does not allow",
                "# values have a character that XML does not allow",
            ),
            Self::TooDeep => {
                ("1 node is nested too deep; ignored", "# nodes are nested too deep; ignored")
            }
            Self::TooMany => ("more nodes than any real screen has; the rest is ignored", ""),
            Self::OtherDisplay => {
                ("1 node of another display; ignored", "# nodes of other displays; ignored")
            }
        }
    }
}

impl fmt::Display for ParseWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, count, line, byte } = self;
        let message = match kind.messages() {
            (one, "") => one.to_owned(),
            (one, _) if *count == 1 => one.to_owned(),
            (_, several) => several.replace('#', &count.to_string()),
        };
        write!(f, "line {line}, byte {byte}: {message}")
    }
}

/// The warnings for one text, each kind once.
pub(crate) struct ParseWarnings<'t> {
    text: &'t str,
    found: Vec<ParseWarning>,
}

impl<'t> ParseWarnings<'t> {
    pub(crate) fn of(text: &'t str) -> Self {
        Self { text, found: Vec::new() }
    }

    /// Records a warning at this byte of the text.
    pub(crate) fn note(&mut self, kind: ParseWarningKind, byte: usize, count: usize) {
        match self.found.iter_mut().find(|fault| fault.kind == kind) {
            Some(fault) => fault.count += count,
            None => {
                let before = self.text.as_bytes().iter().take(byte);
                let line = 1 + before.filter(|&&byte| byte == b'\n').count();
                self.found.push(ParseWarning { kind, count, line, byte });
            }
        }
    }

    /// All warnings, in order of first occurrence.
    pub(crate) fn take(self) -> Vec<ParseWarning> {
        self.found
    }
}
