//! From the text of a dump to its nodes, and what could not be read.
//!
//! Three shapes are known: `uiautomator dump` (`<hierarchy>` with `<node>`s), `uiautomator dump --windows`
//! (`<displays>`, `<display>`, `<window>`, each window with its `<hierarchy>`; AOSP, `AccessibilityNodeInfoDumper`), and
//! the page source of the UiAutomator2 server, where an element's name is its class. A tag that cannot be read costs
//! itself; reading goes on at the next one.

use std::ops::Range;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::fault::{Faults, Kind};
use super::tag;
use crate::{Node, Tree};

/// How deep a tree may nest. Real screens stay below 60; deeper nodes are left out.
pub(super) const DEEPEST: usize = 500;

/// How many nodes are taken. Real screens have some thousand at most; a phone that sends more is not believed, since
/// a node of few bytes costs hundreds here.
pub(super) const MOST: usize = 100_000;

/// The elements that are no nodes.
const WRAPPERS: [&str; 4] = ["displays", "display", "window", "hierarchy"];

/// How often reading begins anew behind something broken. Each time may cost a way through the whole text.
const MOST_BREAKS: usize = 100;

/// Where the tree lies in what was said, and whether it is there to its end. Words may stand before and behind it.
pub(super) fn locate(text: &str) -> Option<(Range<usize>, bool)> {
    let windows = text.find("<displays").map(|at| (at, "</displays>"));
    let plain = text.find("<hierarchy").map(|at| (at, "</hierarchy>"));
    let (start, end) = windows.into_iter().chain(plain).min()?;
    Some(match text[start..].find(end) {
        Some(at) => (start..start + at + end.len(), true),
        None => (start..text.len(), false),
    })
}

/// Reads the nodes of that part of the text.
pub(super) fn read(text: &str, part: Range<usize>, faults: &mut Faults<'_>) -> Tree {
    let mut growing = Growing {
        tree: Tree::default(),
        open: vec![Open { node: None, children: 0 }],
        layers: Vec::new(),
        skipping: 0,
        skipped: Kind::TooDeep,
        full: false,
        display: None,
        faults,
    };
    let mut from = part.start;
    for breaks in 0.. {
        if breaks > MOST_BREAKS {
            growing.faults.note(Kind::GivenUp, from, 1);
            break;
        }
        match growing.read(text, from..part.end) {
            Some(next) => from = next,
            None => break,
        }
    }
    growing.tree
}

/// A node that is open, with the number of children seen so far; the outermost holds the roots.
struct Open {
    node: Option<usize>,
    children: usize,
}

struct Growing<'f, 't> {
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
    /// The display whose nodes are taken: the first.
    display: Option<String>,
    faults: &'f mut Faults<'t>,
}

impl Growing<'_, '_> {
    /// Reads up to something broken, and gives the place to go on from; `None` at the end.
    fn read(&mut self, text: &str, part: Range<usize>) -> Option<usize> {
        let mut reader = Reader::from_str(&text[part.clone()]);
        let config = reader.config_mut();
        config.check_end_names = false;
        config.allow_unmatched_ends = true;
        loop {
            let at = part.start + usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX);
            let broken = match reader.read_event() {
                Ok(Event::Start(tag)) => self.tag(&tag, at, false),
                Ok(Event::Empty(tag)) => self.tag(&tag, at, true),
                Ok(Event::End(tag)) => {
                    self.end(tag.name().as_ref(), at);
                    None
                }
                Ok(Event::Text(words)) => {
                    if !words.trim_ascii().is_empty() {
                        self.faults.note(Kind::Between, at, 1);
                    }
                    None
                }
                Ok(Event::Eof) => return None,
                Ok(_) => None,
                Err(_) => {
                    self.faults.note(Kind::Tag, at, 1);
                    Some(at + 1)
                }
            };
            if self.full {
                return None;
            }
            if let Some(from) = broken {
                return text.get(from..part.end)?.find('<').map(|next| from + next);
            }
        }
    }

    /// Takes one tag; gives the place of the next where this one has swallowed it.
    fn tag(&mut self, tag: &BytesStart<'_>, at: usize, mut empty: bool) -> Option<usize> {
        let name = tag.name();
        let name = name.as_ref();
        let mut raw = tag.attributes_raw();
        // A `<` stands in no value: a quote is missing.
        let swallowed = raw.find('<');
        if let Some(end) = swallowed {
            self.faults.note(Kind::Tag, at, 1);
            raw = raw[..end].trim_ascii_end();
            empty = raw.ends_with("/>");
        }
        let next = swallowed.map(|end| at + 1 + name.len() + end);
        if self.skipping > 0 {
            self.skip(name, !empty, at);
            return next;
        }
        let value = |wanted: &str| {
            let mut found = None;
            tag::attributes(raw, |name, value| {
                if name == wanted {
                    found = Some(value);
                }
            });
            found
        };
        match name {
            "displays" => {}
            "display" => {
                if self.is_of_another_display(value("id")) && !empty {
                    (self.skipping, self.skipped) = (1, Kind::OtherDisplay);
                }
            }
            "window" => {
                // The lowest is 0, which is no order here.
                let layer = value("layer").and_then(|layer| layer.parse::<u32>().ok());
                if !empty {
                    self.layers.push(layer.map_or(0, |layer| layer.saturating_add(1)));
                }
            }
            "hierarchy" => {
                self.tree.rotation = value("rotation").and_then(|n| n.parse().ok()).unwrap_or(0);
            }
            _ if self.open.len() > DEEPEST => {
                self.skipped = Kind::TooDeep;
                self.skip(name, !empty, at);
            }
            _ => self.node(name, raw, at, empty),
        }
        next
    }

    /// Leaves a tag out, and what it holds.
    fn skip(&mut self, name: &str, opens: bool, at: usize) {
        self.skipping += usize::from(opens);
        if !WRAPPERS.contains(&name) {
            self.faults.note(self.skipped, at, 1);
        }
    }

    fn node(&mut self, name: &str, raw: &str, at: usize, empty: bool) {
        if self.tree.nodes.len() >= MOST {
            self.full = true;
            return self.faults.note(Kind::TooMany, at, 1);
        }
        let depth = self.open.len() - 1;
        let mut node = Node { depth, ..Node::default() };
        let faults = &mut *self.faults;
        let display = tag::read_node(raw, &mut node, |kind| faults.note(kind, at, 1));
        if node.class.is_empty() && name != "node" {
            name.clone_into(&mut node.class);
        }
        if depth == 0 {
            // A root has no siblings in its window; windows lie in layers.
            node.order = self.layers.last().copied().unwrap_or(0);
            if self.is_of_another_display(display) {
                self.skipped = Kind::OtherDisplay;
                return self.skip(name, !empty, at);
            }
        }
        let place = self.tree.nodes.len();
        if let Some(Open { node: parent, children }) = self.open.last_mut() {
            (node.parent, node.index) = (*parent, *children);
            *children += 1;
        }
        self.tree.nodes.push(node);
        if !empty {
            self.open.push(Open { node: Some(place), children: 0 });
        }
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
