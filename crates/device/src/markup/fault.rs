//! What could not be read of a dump, told in sentences.

use std::fmt;

/// Something of a dump that could not be read, or not as it stands. Each kind is told once, with how often it was met.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// Of what kind.
    pub kind: Kind,
    /// How often, or how much: see the kind.
    pub count: usize,
    /// The line where it was met first, counted from 1.
    pub line: usize,
    /// The byte of the text where it was met first, counted from 0.
    pub byte: usize,
}

/// Kinds of faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// It is UTF-16, as some shells write what they redirect; it was read all the same.
    Utf16,
    /// Sequences of bytes that are no UTF-8; each is read as U+FFFD.
    NotUtf8,
    /// Bytes of other words before the tree.
    Before,
    /// Bytes of other words behind the tree, beyond `uiautomator`'s own closing words.
    Behind,
    /// Another tree behind the first; it is left out.
    SecondTree,
    /// It ends before its closing tag; so many nodes had been read.
    EndsEarly,
    /// Tags that could not be read, or only in part.
    Tag,
    /// Nodes that are not closed.
    Unclosed,
    /// Closing tags of nothing.
    StrayEnd,
    /// Words between the tags.
    Between,
    /// Attributes that could not be read.
    Attribute,
    /// Attributes that a node has twice; the first counts.
    Twice,
    /// Nodes whose bounds could not be read: they, and what lies inside them, do not show.
    Bounds,
    /// Values with a reference that XML does not know; they are read as they stand.
    Entity,
    /// Values with a character that XML cannot hold; they are read as they stand.
    Character,
    /// Nodes that nest too deep; they are left out.
    TooDeep,
    /// Nodes beyond the largest tree that is taken; they are left out.
    TooMany,
    /// Nodes of other displays than the first; they are left out.
    OtherDisplay,
}

impl Kind {
    /// Whether the tree is another one than the phone's: nodes are missing, or stand in the wrong place.
    pub(crate) fn costs_nodes(self) -> bool {
        match self {
            Self::SecondTree
            | Self::EndsEarly
            | Self::Tag
            | Self::Unclosed
            | Self::StrayEnd
            | Self::TooMany => true,
            Self::Utf16
            | Self::NotUtf8
            | Self::Before
            | Self::Behind
            | Self::Between
            | Self::Attribute
            | Self::Twice
            | Self::Bounds
            | Self::Entity
            | Self::Character
            | Self::TooDeep
            | Self::OtherDisplay => false,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, count, line, byte } = self;
        write!(f, "line {line}, byte {byte}: ")?;
        let many = |one: &str, several: &str| {
            if *count == 1 { format!("1 {one}") } else { format!("{count} {several}") }
        };
        let words = match kind {
            Kind::Utf16 => "it is UTF-16, not UTF-8".into(),
            Kind::NotUtf8 => many("place holds no UTF-8", "places hold no UTF-8"),
            Kind::Before => {
                many("byte of other words before the tree", "bytes of other words before the tree")
            }
            Kind::Behind => {
                many("byte of other words behind the tree", "bytes of other words behind the tree")
            }
            Kind::SecondTree => "another tree begins here; it is left out".into(),
            Kind::EndsEarly => {
                let read = many("node was read", "nodes were read");
                format!("it ends before its closing tag; {read}")
            }
            Kind::Tag => many("tag is broken", "tags are broken"),
            Kind::Unclosed => many("node is not closed", "nodes are not closed"),
            Kind::StrayEnd => many("closing tag closes nothing", "closing tags close nothing"),
            Kind::Between => {
                many("place with words between the tags", "places with words between the tags")
            }
            Kind::Attribute => many("attribute is broken", "attributes are broken"),
            Kind::Twice => many("attribute stands twice", "attributes stand twice"),
            Kind::Bounds => {
                many("node has bounds that make no sense", "nodes have bounds that make no sense")
            }
            Kind::Entity => {
                many("value holds an unknown reference", "values hold unknown references")
            }
            Kind::Character => {
                let may_not = "a character that XML cannot hold";
                many(&format!("value holds {may_not}"), &format!("values hold {may_not}"))
            }
            Kind::TooDeep => many("node nests too deep; left out", "nodes nest too deep; left out"),
            Kind::TooMany => "more nodes than any screen has; the rest is left out".into(),
            Kind::OtherDisplay => {
                many("node of another display; left out", "nodes of other displays; left out")
            }
        };
        f.write_str(&words)
    }
}

/// The faults of one text, a kind once.
pub(crate) struct Faults<'t> {
    text: &'t str,
    found: Vec<Fault>,
}

impl<'t> Faults<'t> {
    pub(crate) fn of(text: &'t str) -> Self {
        Self { text, found: Vec::new() }
    }

    /// Tells of a fault at this byte of the text.
    pub(crate) fn note(&mut self, kind: Kind, byte: usize, count: usize) {
        match self.found.iter_mut().find(|fault| fault.kind == kind) {
            Some(fault) => fault.count += count,
            None => {
                let before = self.text.as_bytes().iter().take(byte);
                let line = 1 + before.filter(|&&byte| byte == b'\n').count();
                self.found.push(Fault { kind, count, line, byte });
            }
        }
    }

    /// All of them, in the order in which they were met first.
    pub(crate) fn take(self) -> Vec<Fault> {
        self.found
    }
}
