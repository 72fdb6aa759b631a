//! Which node is meant, and which ones answer to a description.
//!
//! [`find`] is for callers who name one element loosely and want to be told if that is ambiguous; [`search`] is for
//! those who describe elements part by part and want all of them. Both look among what shows, covered or not.

use std::collections::BTreeSet;

use super::showing::{Hidden, Showing, parts, showing};
use super::taker;
use crate::{Flags, Node, Tree};

/// What a caller calls an element by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sought<'a> {
    /// A resource id or accessibility identifier, whole or without its `package:id/`; else a description.
    Id(&'a str),
    /// Its text, else its description; the same letters, else the same but for case, else a part of it.
    Text(&'a str),
}

/// What a search came to. Numbers are places in [`Tree::nodes`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// Exactly one element is meant.
    One(usize),
    /// Several places could be meant, in document order.
    Several(Vec<usize>),
    /// Nothing that shows answers to it.
    None,
}

/// Looks for what is meant, from the strictest reading to the loosest, among the nodes that show.
///
/// Matches that would take the same tap (a label inside its button) count as one. Of several, those that are covered
/// are not meant, unless all are.
pub fn find(tree: &Tree, sought: Sought<'_>) -> Found {
    let parts = parts(tree);
    let mut matches = strictest(tree, sought, |at| parts[at].is_ok());
    if matches.len() > 1 {
        let showing = showing(tree);
        let free = |at: &usize| matches!(showing[*at], Showing::Shown { .. });
        if matches.iter().any(free) {
            matches.retain(free);
        }
        let mut targets = BTreeSet::new();
        matches.retain(|&at| targets.insert(taker(tree, at)));
    }
    match matches.as_slice() {
        [] => Found::None,
        [one] => Found::One(*one),
        _ => Found::Several(matches),
    }
}

/// The first node that would be meant if it showed, and why it does not: what to say where [`find`] finds nothing.
pub fn find_hidden(tree: &Tree, sought: Sought<'_>) -> Option<(usize, Hidden)> {
    let parts = parts(tree);
    let at = *strictest(tree, sought, |at| parts[at].is_err()).first()?;
    Some((at, parts[at].err()?))
}

/// The nodes that answer to the strictest reading that any of these nodes answers to.
fn strictest(tree: &Tree, sought: Sought<'_>, among: impl Fn(usize) -> bool) -> Vec<usize> {
    use Reading::{AnyCase, Part, Whole};
    let readings: &[fn(&Node, &Word<'_>) -> bool] = match sought {
        Sought::Id(_) => &[
            |node, id| id.reads(&node.id, Whole),
            |node, id| node.id.rsplit_once(":id/").is_some_and(|(_, name)| id.reads(name, Whole)),
            |node, id| id.reads(&node.description, Whole),
        ],
        Sought::Text(_) => &[
            |node, text| text.reads(&node.text, Whole),
            |node, text| text.reads(&node.description, Whole),
            |node, text| text.reads(&node.text, AnyCase),
            |node, text| text.reads(&node.description, AnyCase),
            |node, text| text.reads(&node.text, Part),
            |node, text| text.reads(&node.description, Part),
        ],
    };
    let (Sought::Id(word) | Sought::Text(word)) = sought;
    if word.is_empty() {
        return Vec::new();
    }
    let word = Word::new(word);
    for reading in readings {
        let answers = |at: &usize| among(*at) && reading(&tree.nodes[*at], &word);
        let matches: Vec<usize> = (0..tree.nodes.len()).filter(answers).collect();
        if !matches.is_empty() {
            return matches;
        }
    }
    Vec::new()
}

/// A description of elements: every part that is given must hold.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Query<'a> {
    /// In its text.
    pub text: Option<&'a str>,
    /// In its description.
    pub description: Option<&'a str>,
    /// In its resource id or accessibility identifier.
    pub id: Option<&'a str>,
    /// In its class.
    pub class: Option<&'a str>,
    /// The app it belongs to, whole.
    pub package: Option<&'a str>,
    /// What it is and can.
    pub flags: Wanted,
    /// The words are whole and their letters the same. Else a part is enough, and the case of letters tells only ids
    /// apart (seed 003's matching).
    pub exact: bool,
}

/// Which flags an element must have (`Some(true)`) and which it must not have (`Some(false)`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "each is the flag of the same name")]
pub struct Wanted {
    pub checkable: Option<bool>,
    pub checked: Option<bool>,
    pub clickable: Option<bool>,
    pub enabled: Option<bool>,
    pub focusable: Option<bool>,
    pub focused: Option<bool>,
    pub scrollable: Option<bool>,
    pub long_clickable: Option<bool>,
    pub password: Option<bool>,
    pub selected: Option<bool>,
}

impl Wanted {
    /// Whether these flags are as wanted.
    pub fn hold(self, flags: Flags) -> bool {
        let pairs = [
            (self.checkable, flags.checkable),
            (self.checked, flags.checked),
            (self.clickable, flags.clickable),
            (self.enabled, flags.enabled),
            (self.focusable, flags.focusable),
            (self.focused, flags.focused),
            (self.scrollable, flags.scrollable),
            (self.long_clickable, flags.long_clickable),
            (self.password, flags.password),
            (self.selected, flags.selected),
        ];
        pairs.into_iter().all(|(wanted, is)| wanted.is_none_or(|wanted| wanted == is))
    }
}

/// The places in [`Tree::nodes`] of all nodes that show and answer to the query, in document order. A query without
/// any part answers to all of them.
pub fn search(tree: &Tree, query: &Query<'_>) -> Vec<usize> {
    let answers = query.reader();
    let parts = parts(tree);
    let shown = tree.nodes.iter().enumerate().filter(|(at, _)| parts[*at].is_ok());
    shown.filter(|(_, node)| answers(node)).map(|(at, _)| at).collect()
}

/// The first node that would answer if it showed, and why it does not: what to say where [`search`] finds nothing.
pub fn search_hidden(tree: &Tree, query: &Query<'_>) -> Option<(usize, Hidden)> {
    let answers = query.reader();
    let hidden =
        parts(tree).into_iter().enumerate().filter_map(|(at, part)| Some((at, part.err()?)));
    hidden.into_iter().find(|(at, _)| answers(&tree.nodes[*at]))
}

impl Query<'_> {
    /// Whether a node answers, showing or not.
    fn reader(&self) -> impl Fn(&Node) -> bool {
        let (loose, strict) = if self.exact {
            (Reading::Whole, Reading::Whole)
        } else {
            (Reading::Part, Reading::PartOfId)
        };
        let [text, description, id, class, package] =
            [self.text, self.description, self.id, self.class, self.package]
                .map(|part| part.map(Word::new));
        let holds = |word: &Option<Word<'_>>, value: &str, reading| {
            word.as_ref().is_none_or(|word| word.reads(value, reading))
        };
        let flags = self.flags;
        move |node| {
            flags.hold(node.flags)
                && holds(&package, &node.package, Reading::Whole)
                && holds(&id, &node.id, strict)
                && holds(&class, &node.class, loose)
                && holds(&text, &node.text, loose)
                && holds(&description, &node.description, loose)
        }
    }
}

/// How a word is compared with what a node says.
#[derive(Clone, Copy)]
enum Reading {
    /// The same letters.
    Whole,
    /// The same but for case.
    AnyCase,
    /// A part of it, whatever its case.
    Part,
    /// A part of it, in the same letters.
    PartOfId,
}

/// What is sought. The caller may have sent a book and the screen many nodes: it is lowered once.
struct Word<'a> {
    as_given: &'a str,
    in_lower_case: String,
}

impl<'a> Word<'a> {
    fn new(as_given: &'a str) -> Self {
        Self { as_given, in_lower_case: as_given.to_lowercase() }
    }

    fn reads(&self, value: &str, reading: Reading) -> bool {
        match reading {
            Reading::Whole => value == self.as_given,
            Reading::AnyCase => value.to_lowercase() == self.in_lower_case,
            Reading::Part => value.to_lowercase().contains(&self.in_lower_case),
            Reading::PartOfId => value.contains(self.as_given),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Rect;

    fn node(parent: Option<usize>, bounds: [i32; 4], change: impl FnOnce(&mut Node)) -> Node {
        let [left, top, right, bottom] = bounds;
        let bounds = Rect { left, top, right, bottom };
        let mut node = Node { parent, bounds, ..Node::default() };
        node.depth = parent.map_or(0, |parent| parent.min(1) + 1);
        change(&mut node);
        node
    }

    fn clickable() -> Flags {
        Flags { clickable: true, ..Flags::default() }
    }

    /// A list of two rows, each with a label; the second row lies half outside, a third wholly.
    fn screen() -> Tree {
        let row = |node: &mut Node| {
            node.flags = clickable();
            node.id = "p:id/row".into();
        };
        let nodes = vec![
            node(None, [0, 0, 100, 100], |_| {}),
            node(Some(0), [0, 0, 100, 50], row),
            node(Some(1), [0, 0, 80, 20], |node| node.text = "Save".into()),
            node(Some(0), [0, 60, 100, 160], row),
            node(Some(3), [0, 60, 80, 80], |node| node.text = "save all".into()),
            node(Some(3), [0, 120, 80, 140], |node| node.description = "Hidden".into()),
            node(Some(1), [0, 20, 80, 40], |node| node.description = "Save".into()),
        ];
        Tree { nodes, ..Tree::default() }
    }

    #[test]
    fn the_strictest_reading_wins() {
        let tree = screen();
        assert_eq!(find(&tree, Sought::Text("Save")), Found::One(2));
        assert_eq!(find(&tree, Sought::Text("SAVE ALL")), Found::One(4));
        assert_eq!(find(&tree, Sought::Text("ve a")), Found::One(4));
        assert_eq!(find(&tree, Sought::Text("")), Found::None);
        assert_eq!(find(&tree, Sought::Text("Hidden")), Found::None);
        let hidden = find_hidden(&tree, Sought::Text("hidden"));
        assert_eq!(hidden, Some((5, Hidden::OutsideParents)));
        assert_eq!(find_hidden(&tree, Sought::Text("Save")), None);
        assert_eq!(find(&tree, Sought::Id("Save")), Found::One(6));
    }

    #[test]
    fn several_places_are_all_named() {
        let tree = screen();
        assert_eq!(find(&tree, Sought::Id("p:id/row")), Found::Several(vec![1, 3]));
        assert_eq!(find(&tree, Sought::Id("row")), Found::Several(vec![1, 3]));
        assert_eq!(find(&tree, Sought::Text("av")), Found::Several(vec![2, 4]));
    }

    #[test]
    fn of_several_the_one_that_is_not_covered_is_meant() {
        let mut tree = screen();
        tree.nodes.push(node(Some(0), [0, 0, 100, 55], |node| node.flags = clickable()));
        for (at, order) in [(1, 1), (3, 1), (7, 2)] {
            tree.nodes[at].order = order;
        }
        assert_eq!(find(&tree, Sought::Id("row")), Found::One(3));
        tree.nodes[7].bounds.bottom = 200;
        assert_eq!(find(&tree, Sought::Id("row")), Found::Several(vec![1, 3]));
    }

    #[test]
    fn every_part_of_a_query_must_hold() {
        let mut tree = screen();
        tree.nodes[1].class = "android.widget.Button".into();
        let check = |query: Query<'_>, expected: &[usize]| {
            assert_eq!(search(&tree, &query), expected, "{query:?}");
        };
        let any = Query::default();
        check(Query { text: Some("SAVE"), ..any }, &[2, 4]);
        check(Query { text: Some("Save"), exact: true, ..any }, &[2]);
        check(Query { text: Some("save"), description: Some("save"), ..any }, &[]);
        check(Query { description: Some("hid"), ..any }, &[]);
        check(Query { id: Some("id/ro"), ..any }, &[1, 3]);
        check(Query { id: Some("ID/RO"), ..any }, &[]);
        check(Query { id: Some("row"), exact: true, ..any }, &[]);
        let wanted = |clickable| Wanted { clickable: Some(clickable), ..Wanted::default() };
        check(Query { flags: wanted(true), ..any }, &[1, 3]);
        check(Query { flags: wanted(false), text: Some(""), ..any }, &[0, 2, 4, 6]);
        check(Query { class: Some("widget.button"), ..any }, &[1]);
        check(Query { class: Some("widget.button"), exact: true, ..any }, &[]);
        check(Query { class: Some("android.widget.Button"), exact: true, ..any }, &[1]);
        check(Query { package: Some("p"), ..any }, &[]);
    }

    #[test]
    fn what_would_answer_if_it_showed_says_why_it_does_not() {
        let tree = screen();
        let hidden = |text| search_hidden(&tree, &Query { text: Some(text), ..Query::default() });
        assert_eq!(hidden("save"), None);
        let described = Query { description: Some("hid"), ..Query::default() };
        assert_eq!(search_hidden(&tree, &described), Some((5, Hidden::OutsideParents)));
    }

    #[test]
    fn many_matches_cost_no_more_than_many_nodes() {
        const MANY: usize = 100_000;
        let button = |node: &mut Node| {
            node.flags = clickable();
            node.text = "Buy".into();
        };
        let nodes = (0..MANY).map(|_| node(None, [0, 0, 9, 9], button)).collect();
        let tree = Tree { nodes, ..Tree::default() };
        let asked = std::time::Instant::now();
        let Found::Several(places) = find(&tree, Sought::Text("buy")) else { panic!("many") };
        assert_eq!(places.len(), MANY);
        assert_eq!(find(&tree, Sought::Text(&"x".repeat(MANY))), Found::None);
        // With a search for each match among all before it, this takes minutes.
        assert!(asked.elapsed().as_secs() < 10, "{:?}", asked.elapsed());
    }
}
