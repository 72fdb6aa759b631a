//! From the text of a tree to its nodes, and what could not be read.
//!
//! How tags nest is the same in every dialect; what a node's attributes mean is the dialect's ([`ReadNode`]). A tag that
//! cannot be read costs itself; reading goes on at the next one. Each byte is passed once, however broken the text.

use std::ops::Range;

use super::fault::{Faults, Kind};
use super::tag::{self, End, Tag};
use crate::{Node, Tree};

/// How deep a tree may nest. Real screens stay below 60; deeper nodes are left out.
pub(crate) const DEEPEST: usize = 500;

/// How many nodes are taken. Real screens have some thousand at most; a phone that sends more is not believed, since
/// a node of few bytes costs hundreds here.
pub(crate) const MOST: usize = 100_000;

/// Reads the attributes from this place of the text on into a node, and tells what could not be read. Gives how the tag
/// ended, and the display that it names. The node's class is the tag's name until an attribute says another.
pub(crate) type ReadNode =
    for<'t> fn(&'t str, usize, &mut Node, &mut dyn FnMut(Kind)) -> (Tag, Option<&'t str>);

/// Where a tree lies in a text, and whether it is there to its end.
pub(crate) type Located = (Range<usize>, bool);

/// The elements that are no nodes: those of `uiautomator`, and the one that Appium puts around an iOS app.
const WRAPPERS: [&str; 5] = ["displays", "display", "window", "hierarchy", APPIUM];

const APPIUM: &str = "AppiumAUT";

/// Reads the nodes of that part of the text.
pub(crate) fn read(
    text: &str,
    part: Range<usize>,
    read_node: ReadNode,
    faults: &mut Faults<'_>,
) -> Tree {
    let mut growing = Growing {
        read_node,
        tree: Tree::default(),
        open: vec![Open { node: None, children: 0 }],
        layers: Vec::new(),
        skipping: 0,
        skipped: Kind::TooDeep,
        full: false,
        windows: text[part.start..].starts_with("<displays"),
        begun: false,
        display: None,
        faults,
    };
    growing.read(text, part.clone());
    growing.finish(&text[part.clone()], part.end);
    let declared = text[..part.start].rfind("<?xml").unwrap_or(part.start);
    Tree { source: text[declared..part.end].into(), ..growing.tree }
}

/// A node that is open, with the number of children seen so far; the outermost holds the roots.
struct Open {
    node: Option<usize>,
    children: usize,
}

struct Growing<'f, 't> {
    read_node: ReadNode,
    tree: Tree,
    open: Vec<Open>,
    /// The layers of the windows that are open.
    layers: Vec<u32>,
    /// How many tags are open that are left out.
    skipping: usize,
    /// Why they are.
    skipped: Kind,
    /// No more nodes are taken.
    full: bool,
    /// Each window has its hierarchy; else there is one.
    windows: bool,
    /// The one has begun.
    begun: bool,
    /// The display whose nodes are taken: the first.
    display: Option<String>,
    faults: &'f mut Faults<'t>,
}

impl Growing<'_, '_> {
    fn read(&mut self, text: &str, part: Range<usize>) {
        let text = &text[..part.end];
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
                        self.faults.note(Kind::Between, at, 1);
                    }
                    next
                }
            };
        }
    }

    /// A root that stands in no wrapper has nothing behind its end that tells what is still open.
    fn finish(&mut self, part: &str, at: usize) {
        let unclosed = self.open.len() - 1 + self.skipping;
        let root = part.get(1..).map_or("", |rest| &rest[..tag::name(rest.as_bytes())]);
        if unclosed > 0 && !self.full && part.ends_with(&format!("</{root}>")) {
            self.faults.note(Kind::Unclosed, at, unclosed);
        }
    }

    /// Takes a closing tag and gives the place behind it.
    fn closing(&mut self, text: &str, at: usize) -> usize {
        let rest = &text[at + 2..];
        let length = rest.find(['<', '>']).unwrap_or(rest.len());
        let whole = rest[length..].starts_with('>');
        if !whole {
            self.faults.note(Kind::Tag, at, 1);
        }
        self.end(rest[..length].trim_ascii(), at);
        at + 2 + length + usize::from(whole)
    }

    /// Takes an opening or empty tag and gives the place behind it.
    fn opening(&mut self, text: &str, at: usize) -> usize {
        let from = at + 1 + tag::name(&text.as_bytes()[at + 1..]);
        let name = &text[at + 1..from];
        if name.is_empty() {
            self.faults.note(Kind::Tag, at, 1);
            return from;
        }
        let wrapper = WRAPPERS.contains(&name);
        if self.skipping == 0 && !wrapper && self.open.len() <= DEEPEST {
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
            self.skipped = Kind::TooDeep;
            self.skip(name, opens, at);
        } else if name == "display" {
            if self.is_of_another_display(id) && opens {
                (self.skipping, self.skipped) = (1, Kind::OtherDisplay);
            }
        } else if name == "window" {
            // The lowest is 0, which is no order here.
            let layer = layer.and_then(|layer| layer.parse::<u32>().ok());
            if opens {
                self.layers.push(layer.map_or(0, |layer| layer.saturating_add(1)));
            }
        } else if matches!(name, "hierarchy" | APPIUM) && self.begun && !self.windows {
            self.full = true;
            self.faults.note(Kind::SecondTree, at, 1);
        } else if matches!(name, "hierarchy" | APPIUM) {
            self.begun = true;
            self.tree.rotation = rotation.and_then(|n| n.parse().ok()).unwrap_or(0);
        }
        tag.next
    }

    /// Whether a tag that ended so holds what follows.
    fn opens(&mut self, at: usize, end: End) -> bool {
        if matches!(end, End::Swallowed { .. } | End::Cut) {
            self.faults.note(Kind::Tag, at, 1);
        }
        matches!(end, End::Open | End::Swallowed { closed: false })
    }

    /// Leaves a tag out, and what it holds.
    fn skip(&mut self, name: &str, opens: bool, at: usize) {
        self.skipping += usize::from(opens);
        if !WRAPPERS.contains(&name) {
            self.faults.note(self.skipped, at, 1);
        }
    }

    /// Takes the tag of a node, whose attributes stand from `from` on, and gives the place behind it.
    fn node(&mut self, text: &str, at: usize, from: usize) -> usize {
        if self.tree.nodes.len() >= MOST {
            self.full = true;
            self.faults.note(Kind::TooMany, at, 1);
            return from;
        }
        let name = &text[at + 1..from];
        let depth = self.open.len() - 1;
        let mut node = Node { depth, ..Node::default() };
        if name != "node" {
            name.clone_into(&mut node.class);
        }
        let faults = &mut *self.faults;
        let mut fault = |kind| faults.note(kind, at, 1);
        let (tag, display) = (self.read_node)(text, from, &mut node, &mut fault);
        let opens = self.opens(at, tag.end);
        if tag.end == End::Cut {
            return tag.next;
        }
        if depth == 0 {
            // A root has no siblings in its window; windows lie in layers.
            node.order = self.layers.last().copied().unwrap_or(0);
            if self.is_of_another_display(display) {
                self.skipped = Kind::OtherDisplay;
                self.skip(name, opens, at);
                return tag.next;
            }
        }
        let place = self.tree.nodes.len();
        if let Some(Open { node: parent, children }) = self.open.last_mut() {
            (node.parent, node.index) = (*parent, *children);
            *children += 1;
        }
        self.tree.nodes.push(node);
        if opens {
            self.open.push(Open { node: Some(place), children: 0 });
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
        if self.skipping > 0 && (!wrapper || self.skipped == Kind::OtherDisplay) {
            self.skipping -= 1;
        } else if wrapper {
            let unclosed = self.open.len() - 1 + self.skipping;
            if unclosed > 0 {
                self.faults.note(Kind::Unclosed, at, unclosed);
            }
            self.skipping = 0;
            self.open.truncate(1);
            if name == "window" {
                self.layers.pop();
            }
        } else if self.open.len() > 1 {
            self.open.pop();
        } else {
            self.faults.note(Kind::StrayEnd, at, 1);
        }
    }
}
