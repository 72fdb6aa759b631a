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
pub enum ParseWarningKind {
    /// The file is UTF-16, which some shells write when redirecting. It was decoded anyway.
    Utf16,
    /// Invalid UTF-8 sequences; each becomes U+FFFD.
    NotUtf8,
    /// Bytes of other text before the tree.
    LeadingText,
    /// Bytes of other text after the tree, except `uiautomator`'s own final message.
    TrailingText,
    /// A second tree after the first; ignored.
    SecondTree,
    /// The tree ends before its closing tag; the count is the number of nodes read.
    Truncated,
    /// Tags that could not be read, or only partly.
    InvalidTag,
    /// Nodes without a closing tag.
    Unclosed,
    /// Closing tags without an opening tag.
    StrayEnd,
    /// Text between tags.
    TextBetweenTags,
    /// Attributes that could not be read.
    InvalidAttribute,
    /// Duplicate attributes of a node; the first one counts.
    DuplicateAttribute,
    /// Nodes with invalid bounds. They and their descendants are not visible.
    InvalidBounds,
    /// Values with an entity unknown to XML; kept as written.
    UnknownEntity,
    /// Values with a character that XML does not allow; kept as written.
    InvalidCharacter,
    /// Nodes nested too deep; ignored.
    TooDeep,
    /// Nodes over the maximum tree size; ignored.
    TooMany,
    /// Nodes of displays other than the first; ignored.
    OtherDisplay,
}

impl ParseWarningKind {
    /// Whether the tree differs from the phone's: nodes are missing or misplaced.
    pub(crate) fn loses_nodes(self) -> bool {
        match self {
            Self::SecondTree
            | Self::Truncated
            | Self::InvalidTag
            | Self::Unclosed
            | Self::StrayEnd
            | Self::TooMany => true,
            Self::Utf16
            | Self::NotUtf8
            | Self::LeadingText
            | Self::TrailingText
            | Self::TextBetweenTags
            | Self::InvalidAttribute
            | Self::DuplicateAttribute
            | Self::InvalidBounds
            | Self::UnknownEntity
            | Self::InvalidCharacter
            | Self::TooDeep
            | Self::OtherDisplay => false,
        }
    }
}

impl fmt::Display for ParseWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, count, line, byte } = self;
        write!(f, "line {line}, byte {byte}: ")?;
        let many = |one: &str, several: &str| {
            if *count == 1 { format!("1 {one}") } else { format!("{count} {several}") }
        };
        let text = match kind {
            ParseWarningKind::Utf16 => "the file is UTF-16, not UTF-8".into(),
            ParseWarningKind::NotUtf8 => many("invalid UTF-8 sequence", "invalid UTF-8 sequences"),
            ParseWarningKind::LeadingText => {
                many("byte of other text before the tree", "bytes of other text before the tree")
            }
            ParseWarningKind::TrailingText => {
                many("byte of other text after the tree", "bytes of other text after the tree")
            }
            ParseWarningKind::SecondTree => "a second tree begins here; ignored".into(),
            ParseWarningKind::Truncated => {
                let read = many("node was read", "nodes were read");
                format!("the tree ends before its closing tag; {read}")
            }
            ParseWarningKind::InvalidTag => many("tag is broken", "tags are broken"),
            ParseWarningKind::Unclosed => many("node is not closed", "nodes are not closed"),
            ParseWarningKind::StrayEnd => {
                many("closing tag has no opening tag", "closing tags have no opening tag")
            }
            ParseWarningKind::TextBetweenTags => many("text between tags", "texts between tags"),
            ParseWarningKind::InvalidAttribute => {
                many("attribute is broken", "attributes are broken")
            }
            ParseWarningKind::DuplicateAttribute => {
                many("duplicate attribute", "duplicate attributes")
            }
            ParseWarningKind::InvalidBounds => {
                many("node has invalid bounds", "nodes have invalid bounds")
            }
            ParseWarningKind::UnknownEntity => {
                many("value has an unknown entity", "values have unknown entities")
            }
            ParseWarningKind::InvalidCharacter => {
                let may_not = "a character that XML does not allow";
                many(&format!("value has {may_not}"), &format!("values have {may_not}"))
            }
            ParseWarningKind::TooDeep => {
                many("node is nested too deep; ignored", "nodes are nested too deep; ignored")
            }
            ParseWarningKind::TooMany => {
                "more nodes than any real screen has; the rest is ignored".into()
            }
            ParseWarningKind::OtherDisplay => {
                many("node of another display; ignored", "nodes of other displays; ignored")
            }
        };
        f.write_str(&text)
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
