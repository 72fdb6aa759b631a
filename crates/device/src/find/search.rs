//! Finds nodes by name or description.
//!
//! [`find`] is for callers who name one element loosely and want to know if that is ambiguous;
//! [`search`] is for callers who give exact criteria and want all matches. Both search visible
//! nodes, covered or not.

use std::borrow::Cow;
use std::collections::BTreeSet;

use thumbwire_base::visible::visible;

use super::tap_receiver;
use super::visibility::{HiddenReason, Visibility, visibility, visible_rects};
use crate::text_field::is_text_field;
use crate::{Flags, Node, Tree};

/// How a caller names an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Locator<'a> {
    /// A resource id or accessibility identifier, with or without its `package:id/`; else a content
    /// description.
    Id(&'a str),
    /// Its text, else its description; tries an exact match, then one ignoring case, then a
    /// substring.
    Text(&'a str),
}

/// A search result. Numbers are indices in [`Tree::nodes`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FindResult {
    /// Exactly one element matches.
    One(usize),
    /// Several elements match, in document order.
    Ambiguous(Vec<usize>),
    /// No visible element matches.
    None,
}

/// Finds an element among the visible nodes, from the strictest match to the loosest.
///
/// Matches that would receive the same tap (a label inside its button) count as one. If several
/// match, covered ones are ignored unless all are covered, and text fields if something else takes
/// the tap: a search field contains the word that its suggestions show.
pub fn find(tree: &Tree, sought: Locator<'_>) -> FindResult {
    let parts = visible_rects(tree);
    let mut matches = best_matches(tree, sought, |at| parts[at].is_ok());
    if matches.len() > 1 {
        let showing = visibility(tree);
        let free = |at: &usize| matches!(showing[*at], Visibility::Visible { .. });
        if matches.iter().any(free) {
            matches.retain(free);
        }
        let takes_tap = |at: &usize| {
            tree.nodes[tap_receiver(tree, *at)].flags.clickable && !is_text_field(&tree.nodes[*at])
        };
        if matches.iter().any(takes_tap) {
            matches.retain(|at| !is_text_field(&tree.nodes[*at]));
        }
        let mut targets = BTreeSet::new();
        matches.retain(|&at| targets.insert(tap_receiver(tree, at)));
    }
    match matches.as_slice() {
        [] => FindResult::None,
        [one] => FindResult::One(*one),
        _ => FindResult::Ambiguous(matches),
    }
}

/// The first node that would match if it were visible, and why it is not: for the message when
/// [`find`] finds nothing.
pub fn find_hidden(tree: &Tree, sought: Locator<'_>) -> Option<(usize, HiddenReason)> {
    let parts = visible_rects(tree);
    let at = *best_matches(tree, sought, |at| parts[at].is_err()).first()?;
    Some((at, parts[at].err()?))
}

/// The nodes that match at the strictest level at which any of these nodes matches.
fn best_matches(tree: &Tree, sought: Locator<'_>, among: impl Fn(usize) -> bool) -> Vec<usize> {
    use MatchMode::{Contains, Exact, IgnoreCase};
    let readings: &[fn(&Node, &SearchText<'_>) -> bool] = match sought {
        Locator::Id(_) => &[
            |node, id| id.matches_as(&node.id, Exact),
            |node, id| {
                node.id.rsplit_once(":id/").is_some_and(|(_, name)| id.matches_as(name, Exact))
            },
            |node, id| id.matches_as(&node.description, Exact),
        ],
        Locator::Text(_) => &[
            |node, text| text.matches_as(&node.text, Exact),
            |node, text| text.matches_as(&node.description, Exact),
            |node, text| text.matches_as(&node.text, IgnoreCase),
            |node, text| text.matches_as(&node.description, IgnoreCase),
            |node, text| text.matches_as(&node.text, Contains),
            |node, text| text.matches_as(&node.description, Contains),
        ],
    };
    let (Locator::Id(word) | Locator::Text(word)) = sought;
    if word.is_empty() {
        return Vec::new();
    }
    let word = SearchText::new(word);
    for reading in readings {
        let answers = |at: &usize| among(*at) && reading(&tree.nodes[*at], &word);
        let matches: Vec<usize> = (0..tree.nodes.len()).filter(answers).collect();
        if !matches.is_empty() {
            return matches;
        }
    }
    Vec::new()
}

/// Criteria for elements; all given ones must match.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Query<'a> {
    /// Matches its text.
    pub text: Option<&'a str>,
    /// Matches its description.
    pub description: Option<&'a str>,
    /// Matches its resource id or accessibility identifier.
    pub id: Option<&'a str>,
    /// Matches its class.
    pub class: Option<&'a str>,
    /// The app it belongs to, compared exactly.
    pub package: Option<&'a str>,
    /// State and supported actions.
    pub flags: FlagFilter,
    /// Compare whole strings, case-sensitively. Otherwise a substring is enough, and only ids are
    /// case-sensitive (the rules of the Android MCP server reference).
    pub exact: bool,
}

/// Flags that an element must have (`Some(true)`) or must not have (`Some(false)`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "each one is the flag with the same name")]
pub struct FlagFilter {
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

impl FlagFilter {
    /// Whether these flags satisfy the filter.
    pub fn matches(self, flags: Flags) -> bool {
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

/// Indices in [`Tree::nodes`] of all visible nodes that match the query, in document order. An
/// empty query matches all of them.
pub fn search(tree: &Tree, query: &Query<'_>) -> Vec<usize> {
    let answers = query.predicate();
    let parts = visible_rects(tree);
    let shown = tree.nodes.iter().enumerate().filter(|(at, _)| parts[*at].is_ok());
    shown.filter(|(_, node)| answers(node)).map(|(at, _)| at).collect()
}

/// The first node that would match if it were visible, and why it is not: for the message when
/// [`search`] finds nothing.
pub fn search_hidden(tree: &Tree, query: &Query<'_>) -> Option<(usize, HiddenReason)> {
    let answers = query.predicate();
    let hidden = visible_rects(tree)
        .into_iter()
        .enumerate()
        .filter_map(|(at, part)| Some((at, part.err()?)));
    hidden.into_iter().find(|(at, _)| answers(&tree.nodes[*at]))
}

impl Query<'_> {
    /// Whether a node matches, visible or not.
    fn predicate(&self) -> impl Fn(&Node) -> bool {
        let (loose, strict) = if self.exact {
            (MatchMode::Exact, MatchMode::Exact)
        } else {
            (MatchMode::Contains, MatchMode::IdContains)
        };
        let [text, description, id, class, package] =
            [self.text, self.description, self.id, self.class, self.package]
                .map(|part| part.map(SearchText::new));
        let holds = |word: &Option<SearchText<'_>>, value: &str, reading| {
            word.as_ref().is_none_or(|word| word.matches_as(value, reading))
        };
        let flags = self.flags;
        move |node| {
            flags.matches(node.flags)
                && holds(&package, &node.package, MatchMode::Exact)
                && holds(&id, &node.id, strict)
                && holds(&class, &node.class, loose)
                && holds(&text, &node.text, loose)
                && holds(&description, &node.description, loose)
        }
    }
}

/// How to compare a search text with a node's strings.
#[derive(Clone, Copy)]
enum MatchMode {
    /// Equal.
    Exact,
    /// Equal, ignoring case.
    IgnoreCase,
    /// Substring, ignoring case.
    Contains,
    /// Substring, case-sensitive.
    IdContains,
}

/// The search text. The caller may have sent a very long one and the screen has many nodes, so it
/// is lowercased once.
///
/// Callers read texts with their hidden characters as code points ([`visible`]), so a text is found
/// by what it is and by what it is shown as.
struct SearchText<'a> {
    as_given: &'a str,
    as_shown: Cow<'a, str>,
    given_in_lower_case: String,
    shown_in_lower_case: String,
}

impl<'a> SearchText<'a> {
    fn new(as_given: &'a str) -> Self {
        let as_shown = visible(as_given);
        let shown_in_lower_case = as_shown.to_lowercase();
        Self {
            as_given,
            as_shown,
            given_in_lower_case: as_given.to_lowercase(),
            shown_in_lower_case,
        }
    }

    fn matches_as(&self, value: &str, reading: MatchMode) -> bool {
        let shown = || visible(value);
        match reading {
            MatchMode::Exact => value == self.as_given || shown() == self.as_shown,
            MatchMode::IgnoreCase => shown().to_lowercase() == self.shown_in_lower_case,
            // A part of a text can end inside a sequence that is shown as it is only when whole.
            MatchMode::Contains => {
                shown().to_lowercase().contains(&self.shown_in_lower_case)
                    || value.to_lowercase().contains(&self.given_in_lower_case)
            }
            MatchMode::IdContains => {
                value.contains(self.as_given) || shown().contains(&*self.as_shown)
            }
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

    /// A list of two rows with a label each; the second row is half outside, a third one entirely.
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
    fn suggestion_is_preferred_to_the_field_that_contains_its_word() {
        let field = |text: &'static str| {
            move |node: &mut Node| {
                node.class = "android.widget.EditText".into();
                node.flags = clickable();
                node.text = text.into();
            }
        };
        let row = |node: &mut Node| {
            node.flags = clickable();
            node.text = "Coffee shops".into();
        };
        let screen = |typed: &'static str, row: fn(&mut Node)| {
            let nodes =
                vec![node(None, [0, 0, 100, 20], field(typed)), node(None, [0, 20, 100, 40], row)];
            Tree { nodes, ..Tree::default() }
        };
        let found = |tree: &Tree| find(tree, Locator::Text("Coffee"));
        assert_eq!(found(&screen("Coffee near me", row)), FindResult::One(1));
        assert_eq!(found(&screen("Coffee", row)), FindResult::One(0), "exact over partial");
        let label: fn(&mut Node) = |node| node.text = "Coffee shops".into();
        let several = found(&screen("Coffee near me", label));
        assert_eq!(several, FindResult::Ambiguous(vec![0, 1]), "nothing else takes the tap");
    }

    #[test]
    fn strictest_match_wins() {
        let tree = screen();
        assert_eq!(find(&tree, Locator::Text("Save")), FindResult::One(2));
        assert_eq!(find(&tree, Locator::Text("SAVE ALL")), FindResult::One(4));
        assert_eq!(find(&tree, Locator::Text("ve a")), FindResult::One(4));
        assert_eq!(find(&tree, Locator::Text("")), FindResult::None);
        assert_eq!(find(&tree, Locator::Text("Hidden")), FindResult::None);
        let hidden = find_hidden(&tree, Locator::Text("hidden"));
        assert_eq!(hidden, Some((5, HiddenReason::OutsideParents)));
        assert_eq!(find_hidden(&tree, Locator::Text("Save")), None);
        assert_eq!(find(&tree, Locator::Id("Save")), FindResult::One(6));
    }

    #[test]
    fn ambiguous_match_lists_all_candidates() {
        let tree = screen();
        assert_eq!(find(&tree, Locator::Id("p:id/row")), FindResult::Ambiguous(vec![1, 3]));
        assert_eq!(find(&tree, Locator::Id("row")), FindResult::Ambiguous(vec![1, 3]));
        assert_eq!(find(&tree, Locator::Text("av")), FindResult::Ambiguous(vec![2, 4]));
    }

    #[test]
    fn uncovered_match_wins() {
        let mut tree = screen();
        tree.nodes.push(node(Some(0), [0, 0, 100, 55], |node| node.flags = clickable()));
        for (at, order) in [(1, 1), (3, 1), (7, 2)] {
            tree.nodes[at].order = order;
        }
        assert_eq!(find(&tree, Locator::Id("row")), FindResult::One(3));
        tree.nodes[7].bounds.bottom = 200;
        assert_eq!(find(&tree, Locator::Id("row")), FindResult::Ambiguous(vec![1, 3]));
    }

    #[test]
    fn all_query_criteria_must_match() {
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
        let wanted = |clickable| FlagFilter { clickable: Some(clickable), ..FlagFilter::default() };
        check(Query { flags: wanted(true), ..any }, &[1, 3]);
        check(Query { flags: wanted(false), text: Some(""), ..any }, &[0, 2, 4, 6]);
        check(Query { class: Some("widget.button"), ..any }, &[1]);
        check(Query { class: Some("widget.button"), exact: true, ..any }, &[]);
        check(Query { class: Some("android.widget.Button"), exact: true, ..any }, &[1]);
        check(Query { package: Some("p"), ..any }, &[]);
    }

    #[test]
    fn hidden_match_reports_the_reason() {
        let tree = screen();
        let hidden = |text| search_hidden(&tree, &Query { text: Some(text), ..Query::default() });
        assert_eq!(hidden("save"), None);
        let described = Query { description: Some("hid"), ..Query::default() };
        assert_eq!(search_hidden(&tree, &described), Some((5, HiddenReason::OutsideParents)));
    }

    #[test]
    fn many_matches_stay_fast() {
        const MANY: usize = 100_000;
        let button = |node: &mut Node| {
            node.flags = clickable();
            node.text = "Buy".into();
        };
        let nodes = (0..MANY).map(|_| node(None, [0, 0, 9, 9], button)).collect();
        let tree = Tree { nodes, ..Tree::default() };
        let asked = std::time::Instant::now();
        let FindResult::Ambiguous(places) = find(&tree, Locator::Text("buy")) else {
            panic!("many")
        };
        assert_eq!(places.len(), MANY);
        assert_eq!(find(&tree, Locator::Text(&"x".repeat(MANY))), FindResult::None);
        // Takes minutes if each match is compared with all before it.
        assert!(asked.elapsed().as_secs() < 10, "{:?}", asked.elapsed());
    }
}
