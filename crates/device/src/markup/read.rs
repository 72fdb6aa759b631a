//! Parses the text of a tree into nodes, and collects warnings about what could not be read.
//!
//! Tags nest the same way in every format; the meaning of a node's attributes depends on the format
//! ([`ReadNode`]). A broken tag costs only itself; parsing continues at the next one. Each byte is
//! visited once, however broken the text.

use std::ops::Range;

use bytestring::ByteString;

use super::tag::{self, Tag, TagEnd};
use super::warning::{ParseWarningKind, ParseWarnings};
use crate::{Node, Tree};

/// Maximum nesting depth. Real screens stay below 60; deeper nodes are ignored.
pub(crate) const MAX_DEPTH: usize = 500;

/// Maximum number of nodes. Real screens have a few thousand at most. The limit guards against
/// hostile input, since a node of a few bytes costs hundreds here.
pub(crate) const MAX_NODES: usize = 100_000;

/// Reads the attributes at this offset of the text into a node and reports what could not be read.
/// Returns how the tag ended and the display it names. A node's class is the tag name until an
/// attribute overrides it.
pub(crate) type ReadNode = for<'t> fn(
    &'t ByteString,
    usize,
    &mut Node,
    &mut dyn FnMut(ParseWarningKind),
) -> (Tag, Option<&'t str>);

/// Byte range of a tree in a text, and whether the tree is complete.
pub(crate) type TreeLocation = (Range<usize>, bool);

/// Elements that are not nodes: those of `uiautomator`, and the one that Appium puts around an iOS
/// app.
const WRAPPERS: [&str; 5] = ["displays", "display", "window", "hierarchy", APPIUM];

const APPIUM: &str = "AppiumAUT";

/// Reads the nodes in this range of the text.
pub(crate) fn read(
    text: &ByteString,
    part: Range<usize>,
    read_node: ReadNode,
    faults: &mut ParseWarnings<'_>,
) -> Tree {
    let mut growing = TreeBuilder {
        read_node,
        tree: Tree::default(),
        open: vec![OpenNode { node: None, children: 0 }],
        layers: Vec::new(),
        skipping: 0,
        skipped: ParseWarningKind::TooDeep,
        full: false,
        windows: text[part.start..].starts_with("<displays"),
        begun: false,
        display: None,
        faults,
    };
    growing.read(text, part.clone());
    growing.finish(&text[part.clone()], part.end);
    let declared = text[..part.start].rfind("<?xml").unwrap_or(part.start);
    Tree { source: text.slice_ref(&text[declared..part.end]), ..growing.tree }
}

/// An open node with the number of children so far; the outermost entry holds the roots.
struct OpenNode {
    node: Option<usize>,
    children: usize,
}

struct TreeBuilder<'f, 't> {
    read_node: ReadNode,
    tree: Tree,
    open: Vec<OpenNode>,
    /// Layers of the open windows.
    layers: Vec<u32>,
    /// Number of open tags that are being skipped.
    skipping: usize,
    /// Why they are skipped.
    skipped: ParseWarningKind,
    /// The node limit is reached.
    full: bool,
    /// Each window has its own hierarchy; otherwise there is only one.
    windows: bool,
    /// The single hierarchy has started.
    begun: bool,
    /// The display whose nodes are used: the first one found.
    display: Option<String>,
    faults: &'f mut ParseWarnings<'t>,
}

impl TreeBuilder<'_, '_> {
    fn read(&mut self, text: &ByteString, part: Range<usize>) {
        let text = &text.slice_ref(&text[..part.end]);
        let mut at = part.start;
        while at < text.len() && !self.full {
            let rest = &text[at..];
            let find = |char: char| rest.find(char).map(|length| at + length);
            at = match rest.as_bytes() {
                [b'<', b'/', ..] => self.closing(text, at),
                // `<?xml …?>`; a dump has no comments.
                [b'<', b'?' | b'!', ..] => find('>').map_or(text.len(), |end| end + 1),
                [b'<', ..] => self.opening(text, at),
                _ => {
                    let next = find('<').unwrap_or(text.len());
                    if !text[at..next].trim_ascii().is_empty() {
                        self.faults.note(ParseWarningKind::TextBetweenTags, at, 1);
                    }
                    next
                }
            };
        }
    }

    /// For a root without a wrapper, no closing tag tells what is still open.
    fn finish(&mut self, part: &str, at: usize) {
        let unclosed = self.open.len() - 1 + self.skipping;
        let root = part.get(1..).map_or("", |rest| &rest[..tag::name(rest.as_bytes())]);
        if unclosed > 0 && !self.full && part.ends_with(&format!("</{root}>")) {
            self.faults.note(ParseWarningKind::Unclosed, at, unclosed);
        }
    }

    /// Handles a closing tag and returns the offset after it.
    fn closing(&mut self, text: &str, at: usize) -> usize {
        let rest = &text[at + 2..];
        let length = rest.find(['<', '>']).unwrap_or(rest.len());
        let whole = rest[length..].starts_with('>');
        if !whole {
            self.faults.note(ParseWarningKind::InvalidTag, at, 1);
        }
        self.end(rest[..length].trim_ascii(), at);
        at + 2 + length + usize::from(whole)
    }

    /// Handles an opening or empty tag and returns the offset after it.
    fn opening(&mut self, text: &ByteString, at: usize) -> usize {
        let from = at + 1 + tag::name(&text.as_bytes()[at + 1..]);
        let name = &text[at + 1..from];
        if name.is_empty() {
            self.faults.note(ParseWarningKind::InvalidTag, at, 1);
            return from;
        }
        let wrapper = WRAPPERS.contains(&name);
        if self.skipping == 0 && !wrapper && self.open.len() <= MAX_DEPTH {
            return self.node(text, at, from);
        }
        let mut values = [None; 3];
        let tag = tag::attributes(text, from, |name, value| match name {
            "rotation" => values[0] = Some(value),
            "layer" => values[1] = Some(value),
            "id" => values[2] = Some(value),
            _ => {}
        });
        let [rotation, layer, id] = values;
        let opens = self.opens(at, tag.end);
        if self.skipping > 0 {
            self.skip(name, opens, at);
        } else if !wrapper {
            self.skipped = ParseWarningKind::TooDeep;
            self.skip(name, opens, at);
        } else if name == "display" {
            if self.is_of_another_display(id) && opens {
                (self.skipping, self.skipped) = (1, ParseWarningKind::OtherDisplay);
            }
        } else if name == "window" {
            // The lowest layer is 0, which means "no order" here.
            let layer = layer.and_then(|layer| layer.parse::<u32>().ok());
            if opens {
                self.layers.push(layer.map_or(0, |layer| layer.saturating_add(1)));
            }
        } else if matches!(name, "hierarchy" | APPIUM) && self.begun && !self.windows {
            self.full = true;
            self.faults.note(ParseWarningKind::SecondTree, at, 1);
        } else if matches!(name, "hierarchy" | APPIUM) {
            self.begun = true;
            self.tree.rotation = rotation.and_then(|n| n.parse().ok()).unwrap_or(0);
        }
        tag.next
    }

    /// Whether a tag with this end contains what follows.
    fn opens(&mut self, at: usize, end: TagEnd) -> bool {
        if matches!(end, TagEnd::Unreadable { .. } | TagEnd::Truncated) {
            self.faults.note(ParseWarningKind::InvalidTag, at, 1);
        }
        matches!(end, TagEnd::Open | TagEnd::Unreadable { closed: false })
    }

    /// Skips a tag and its content.
    fn skip(&mut self, name: &str, opens: bool, at: usize) {
        self.skipping += usize::from(opens);
        if !WRAPPERS.contains(&name) {
            self.faults.note(self.skipped, at, 1);
        }
    }

    /// Handles the tag of a node, whose attributes start at `from`, and returns the offset after
    /// it.
    fn node(&mut self, text: &ByteString, at: usize, from: usize) -> usize {
        if self.tree.nodes.len() >= MAX_NODES {
            self.full = true;
            self.faults.note(ParseWarningKind::TooMany, at, 1);
            return from;
        }
        let name = &text[at + 1..from];
        let depth = self.open.len() - 1;
        let mut node = Node { depth, ..Node::default() };
        if name != "node" {
            node.class = text.slice_ref(name);
        }
        let faults = &mut *self.faults;
        let mut fault = |kind| faults.note(kind, at, 1);
        let (tag, display) = (self.read_node)(text, from, &mut node, &mut fault);
        let opens = self.opens(at, tag.end);
        if tag.end == TagEnd::Truncated {
            return tag.next;
        }
        if depth == 0 {
            // A root has no siblings in its window; windows are ordered by layer.
            node.order = self.layers.last().copied().unwrap_or(0);
            if self.is_of_another_display(display) {
                self.skipped = ParseWarningKind::OtherDisplay;
                self.skip(name, opens, at);
                return tag.next;
            }
        }
        let index = self.tree.nodes.len();
        if let Some(OpenNode { node: parent, children }) = self.open.last_mut() {
            (node.parent, node.index) = (*parent, *children);
            *children += 1;
        }
        self.tree.nodes.push(node);
        if opens {
            self.open.push(OpenNode { node: Some(index), children: 0 });
        }
        tag.next
    }

    fn is_of_another_display(&mut self, display: Option<&str>) -> bool {
        match (&self.display, display) {
            (Some(first), Some(display)) => first != display,
            (None, Some(display)) => {
                self.display = Some(display.to_owned());
                false
            }
            (_, None) => false,
        }
    }

    fn end(&mut self, name: &str, at: usize) {
        let wrapper = WRAPPERS.contains(&name);
        if self.skipping > 0 && (!wrapper || self.skipped == ParseWarningKind::OtherDisplay) {
            self.skipping -= 1;
        } else if wrapper {
            let unclosed = self.open.len() - 1 + self.skipping;
            if unclosed > 0 {
                self.faults.note(ParseWarningKind::Unclosed, at, unclosed);
            }
            self.skipping = 0;
            self.open.truncate(1);
            if name == "window" {
                self.layers.pop();
            }
        } else if self.open.len() > 1 {
            self.open.pop();
        } else {
            self.faults.note(ParseWarningKind::StrayEnd, at, 1);
        }
    }
}
