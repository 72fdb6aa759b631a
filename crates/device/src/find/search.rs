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
use crate::{Flags, Node, Rect, Tree};

/// How a caller names an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Locator<'a> {
    /// A resource id or accessibility identifier, with or without its `package:id/` on either side;
    /// else a content description.
    Id(&'a str),
    /// Its text, else its description, else its hint; tries an exact match, then one ignoring case.
    /// Then any of the three: its first words, then words inside it, then a substring: `Cart` is
    /// `Cart, empty` rather than `Add to cart`. At last the words of its id, by which lists name
    /// what has no other name.
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

impl FindResult {
    fn of(matches: Vec<usize>) -> Self {
        match matches.as_slice() {
            [] => Self::None,
            [one] => Self::One(*one),
            _ => Self::Ambiguous(matches),
        }
    }
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
        prefer_uncovered(tree, &mut matches);
        let takes_tap = |at: &usize| {
            tree.nodes[tap_receiver(tree, *at)].flags.clickable && !is_text_field(&tree.nodes[*at])
        };
        if matches.iter().any(takes_tap) {
            matches.retain(|at| !is_text_field(&tree.nodes[*at]));
        }
        let mut targets = BTreeSet::new();
        matches.retain(|&at| targets.insert(tap_receiver(tree, at)));
    }
    FindResult::of(matches)
}

/// Finds the visible text field that a caller means who wants to type. Nothing but a field is ever
/// found: one that has the name, else the one inside or beside what has it, such as a label.
pub fn find_field(tree: &Tree, sought: Locator<'_>) -> FindResult {
    let fields = visible_fields(tree);
    let parts = visible_rects(tree);
    let is_label = |at: usize| parts[at].is_ok() && fields.binary_search(&at).is_err();
    let labelled = |readings| {
        let labels = first_matches(tree, sought, readings, is_label);
        let mut found: Vec<usize> =
            labels.into_iter().filter_map(|at| field_of(tree, at, &fields)).collect();
        found.sort_unstable();
        found.dedup();
        found
    };
    let is_field = |at: usize| fields.binary_search(&at).is_ok();
    let (names, rest) = match sought {
        Locator::Id(_) => (ID_READINGS, &[][..]),
        Locator::Text(_) => (FIELD_NAMES, FIELD_REST),
    };
    let (same, part) = match sought {
        Locator::Id(_) => (ID_READINGS, &[][..]),
        Locator::Text(_) => TEXT_READINGS.split_at(FIRST_PARTIAL),
    };
    let mut matches = first_matches(tree, sought, names, is_field);
    if matches.is_empty() {
        matches = labelled(same);
    }
    if matches.is_empty() {
        matches = first_matches(tree, sought, rest, is_field);
    }
    if matches.is_empty() {
        matches = labelled(part);
    }
    if matches.len() > 1 {
        prefer_uncovered(tree, &mut matches);
    }
    FindResult::of(matches)
}

/// Indices in [`Tree::nodes`] of all visible text fields, in document order.
pub fn visible_fields(tree: &Tree) -> Vec<usize> {
    let parts = visible_rects(tree);
    (0..tree.nodes.len())
        .filter(|&at| parts[at].is_ok() && is_text_field(&tree.nodes[at]))
        .collect()
}

/// The field that a node stands for, among these: itself, the only one inside it, or, for a text
/// that takes no taps itself, the one that it labels: in the same row, else right below it.
pub fn field_of(tree: &Tree, node: usize, fields: &[usize]) -> Option<usize> {
    let nodes = &tree.nodes;
    if fields.contains(&node) {
        return Some(node);
    }
    let inside = |outer: usize| -> Vec<usize> {
        let below = nodes[outer + 1..].iter().take_while(|below| below.depth > nodes[outer].depth);
        let end = outer + 1 + below.count();
        fields.iter().copied().filter(|field| (outer..end).contains(field)).collect()
    };
    match inside(node)[..] {
        [] => {}
        [only] => return Some(only),
        _ => return None,
    }
    let receiver = tap_receiver(tree, node);
    if nodes[receiver].flags.clickable && inside(receiver).is_empty() {
        return None;
    }
    let label = nodes[node].bounds;
    let middle = label.center().y;
    let distance = |field: usize| {
        let Rect { left, top, right, bottom } = nodes[field].bounds;
        if (top..bottom).contains(&middle) {
            let gap = left.saturating_sub(label.right).max(label.left.saturating_sub(right));
            return Some((false, gap.max(0)));
        }
        let gap = top.saturating_sub(label.bottom).max(0);
        // A heading is further away from the first field of its form.
        let is_near = gap <= label.bottom.saturating_sub(label.top).saturating_mul(2);
        let is_below = top >= label.top && left < label.right && label.left < right;
        (is_below && is_near).then_some((true, gap))
    };
    let rated = fields.iter().filter_map(|&field| Some((distance(field)?, field)));
    rated.min().map(|(_, field)| field)
}

/// Drops covered nodes, unless all are covered.
fn prefer_uncovered(tree: &Tree, matches: &mut Vec<usize>) {
    let showing = visibility(tree);
    let free = |at: &usize| matches!(showing[*at], Visibility::Visible { .. });
    if matches.iter().any(free) {
        matches.retain(free);
    }
}

/// The first node that would match if it were visible, and why it is not: for the message when
/// [`find`] finds nothing.
pub fn find_hidden(tree: &Tree, sought: Locator<'_>) -> Option<(usize, HiddenReason)> {
    let parts = visible_rects(tree);
    let at = *best_matches(tree, sought, |at| parts[at].is_err()).first()?;
    Some((at, parts[at].err()?))
}

/// Whether a node has the sought name, by one of its strings and one strictness.
type Reading = fn(&Node, &SearchText<'_>) -> bool;

const ID_READINGS: &[Reading] =
    &[|node, id| id.is_id(&node.id), |node, id| id.matches_as(&node.description, MatchMode::Exact)];

const TEXT_READINGS: &[Reading] = &[
    |node, text| text.matches_as(&node.text, MatchMode::Exact),
    |node, text| text.matches_as(&node.description, MatchMode::Exact),
    |node, text| text.matches_as(&node.hint, MatchMode::Exact),
    |node, text| text.matches_as(&node.text, MatchMode::IgnoreCase),
    |node, text| text.matches_as(&node.description, MatchMode::IgnoreCase),
    |node, text| text.matches_as(&node.hint, MatchMode::IgnoreCase),
    |node, text| text.matches_any(node, MatchMode::Begins),
    |node, text| text.matches_any(node, MatchMode::Words),
    |node, text| text.matches_any(node, MatchMode::Contains),
    |node, text| text.is_words_of_id(&node.id),
];

/// How many of them compare whole strings.
const FIRST_PARTIAL: usize = 6;

/// What names a field when text is to be typed; what it holds is a name only as a whole.
const FIELD_NAMES: &[Reading] = &[
    |node, text| text.matches_as(&node.description, MatchMode::Exact),
    |node, text| text.matches_as(&node.hint, MatchMode::Exact),
    |node, text| text.matches_as(&node.text, MatchMode::Exact),
    |node, text| text.matches_as(&node.description, MatchMode::IgnoreCase),
    |node, text| text.matches_as(&node.hint, MatchMode::IgnoreCase),
    |node, text| text.matches_as(&node.text, MatchMode::IgnoreCase),
    |node, text| text.matches_as(&node.description, MatchMode::Contains),
    |node, text| text.matches_as(&node.hint, MatchMode::Contains),
];

const FIELD_REST: &[Reading] = &[
    |node, text| text.matches_as(&node.text, MatchMode::Contains),
    |node, text| text.is_words_of_id(&node.id),
];

/// The nodes that match at the strictest level at which any of these nodes matches.
fn best_matches(tree: &Tree, sought: Locator<'_>, among: impl Fn(usize) -> bool) -> Vec<usize> {
    let readings = match sought {
        Locator::Id(_) => ID_READINGS,
        Locator::Text(_) => TEXT_READINGS,
    };
    first_matches(tree, sought, readings, among)
}

/// The nodes that match by the first of these readings by which any of these nodes matches.
fn first_matches(
    tree: &Tree,
    sought: Locator<'_>,
    readings: &[Reading],
    among: impl Fn(usize) -> bool,
) -> Vec<usize> {
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
    /// Matches its text or its hint.
    pub text: Option<&'a str>,
    /// Matches its description.
    pub description: Option<&'a str>,
    /// Matches its resource id or accessibility identifier. The `package:id/` of either counts only
    /// if both have one.
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
        let exact = self.exact;
        let loose = if exact { MatchMode::Exact } else { MatchMode::Contains };
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
                && id
                    .as_ref()
                    .is_none_or(|id| id.is_id(&node.id) || !exact && id.is_in_id(&node.id))
                && holds(&class, &node.class, loose)
                && (holds(&text, &node.text, loose)
                    || !node.hint.is_empty() && holds(&text, &node.hint, loose))
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
    /// Its first words, ignoring case.
    Begins,
    /// Whole words of it, ignoring case.
    Words,
    /// Substring, ignoring case.
    Contains,
}

/// The name in a resource id: what follows `package:id/`, `id/` or the `#` of a list. `None` if it
/// has none of them.
fn name_of_id(id: &str) -> Option<&str> {
    let of_package = id.split_once(":id/").map(|(_, name)| name);
    of_package.or_else(|| id.strip_prefix('#')).or_else(|| id.strip_prefix("id/"))
}

/// The letters and digits of an id or a name, in lower case.
fn plain(text: &str) -> String {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Whether a text has these words, at its beginning or anywhere: no letter or digit is right before
/// or after them.
fn has_words(text: &str, words: &str, at_beginning: bool) -> bool {
    let is_inside = |next: Option<char>| next.is_some_and(char::is_alphanumeric);
    let stands_alone = |at: usize| {
        !is_inside(text[..at].chars().next_back())
            && !is_inside(text[at + words.len()..].chars().next())
    };
    match at_beginning {
        true => text.starts_with(words) && stands_alone(0),
        // A longer text is not even prepared for the search.
        false => {
            words.len() <= text.len() && text.match_indices(words).any(|(at, _)| stands_alone(at))
        }
    }
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
    letters_and_digits: String,
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
            letters_and_digits: plain(as_given),
        }
    }

    fn matches_as(&self, value: &str, reading: MatchMode) -> bool {
        let shown = || visible(value);
        match reading {
            MatchMode::Exact => value == self.as_given || shown() == self.as_shown,
            MatchMode::IgnoreCase => shown().to_lowercase() == self.shown_in_lower_case,
            MatchMode::Begins | MatchMode::Words => {
                let at_beginning = matches!(reading, MatchMode::Begins);
                has_words(&shown().to_lowercase(), &self.shown_in_lower_case, at_beginning)
            }
            // A part of a text can end inside a sequence that is shown as it is only when whole.
            MatchMode::Contains => {
                shown().to_lowercase().contains(&self.shown_in_lower_case)
                    || value.to_lowercase().contains(&self.given_in_lower_case)
            }
        }
    }

    /// Whether one of the strings that a screen shows of a node matches.
    fn matches_any(&self, node: &Node, mode: MatchMode) -> bool {
        [&node.text, &node.description, &node.hint]
            .into_iter()
            .any(|value| self.matches_as(value, mode))
    }

    /// Whether it is this id. Views have ids with a package; tags of Compose, of web pages and of
    /// iOS have none, and callers know either form.
    fn is_id(&self, id: &str) -> bool {
        let is_name = match (name_of_id(self.as_given), name_of_id(id)) {
            (Some(given), None) => given == id,
            (None, Some(name)) => self.as_given == name,
            (Some(given), Some(name)) => !self.as_given.contains(":id/") && given == name,
            (None, None) => false,
        };
        !id.is_empty() && (is_name || self.matches_as(id, MatchMode::Exact))
    }

    /// Whether it is a part of this id.
    fn is_in_id(&self, id: &str) -> bool {
        let is_in_tag = || {
            name_of_id(id).is_none()
                && name_of_id(self.as_given).is_some_and(|name| id.contains(name))
        };
        id.contains(self.as_given) || visible(id).contains(&*self.as_shown) || is_in_tag()
    }

    /// Whether it has the same letters and digits as the name in this id: `Save draft` and
    /// `p:id/save_draft`.
    fn is_words_of_id(&self, id: &str) -> bool {
        !id.is_empty()
            && !self.letters_and_digits.is_empty()
            && self.letters_and_digits == plain(name_of_id(id).unwrap_or(id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn first_words_are_preferred_to_later_ones_and_to_parts_of_words() {
        let tree = |names: &[&'static str]| {
            let named = |(at, name): (usize, &&'static str)| {
                let top = at as i32 * 20;
                node(None, [0, top, 100, top + 20], |node| {
                    node.flags = clickable();
                    match at % 2 {
                        0 => node.text = (*name).into(),
                        _ => node.description = (*name).into(),
                    }
                })
            };
            Tree { nodes: names.iter().enumerate().map(named).collect(), ..Tree::default() }
        };
        let found = |names: &[&'static str]| find(&tree(names), Locator::Text("Cart"));
        assert_eq!(found(&["Add to cart", "Cart, empty"]), FindResult::One(1));
        assert_eq!(found(&["Cartoons", "Add to cart"]), FindResult::One(1));
        assert_eq!(found(&["Cartoons", "Descartes"]), FindResult::Ambiguous(vec![0, 1]));
        assert_eq!(found(&["Cart: 2 items", "Cart, empty"]), FindResult::Ambiguous(vec![0, 1]));
        assert_eq!(found(&["Add to cart", "Empty the cart"]), FindResult::Ambiguous(vec![0, 1]));
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

    fn field(hint: &'static str, text: &'static str) -> impl FnOnce(&mut Node) {
        move |node| {
            node.class = "android.widget.EditText".into();
            node.flags = clickable();
            (node.hint, node.text) = (hint.into(), text.into());
        }
    }

    fn named(text: &'static str) -> impl FnOnce(&mut Node) {
        move |node| node.text = text.into()
    }

    #[test]
    fn field_has_its_hint_as_a_name_filled_or_not() {
        for content in ["Amount", "12.50"] {
            let nodes = vec![
                node(None, [0, 0, 100, 20], |node| {
                    node.flags = clickable();
                    node.text = "Change amount".into();
                }),
                node(None, [0, 20, 100, 40], field("Amount", content)),
            ];
            let tree = Tree { nodes, ..Tree::default() };
            for name in ["Amount", "amount"] {
                assert_eq!(find(&tree, Locator::Text(name)), FindResult::One(1), "{content}");
            }
            let exact = Query { text: Some("Amount"), exact: true, ..Query::default() };
            assert_eq!(search(&tree, &exact), [1], "{content}");
        }
    }

    #[test]
    fn element_without_a_name_is_found_by_the_words_of_its_id() {
        let icon = |node: &mut Node| {
            node.flags = clickable();
            node.id = "com.x:id/save_draft".into();
        };
        let nodes = vec![node(None, [0, 0, 9, 9], icon), node(None, [9, 0, 19, 9], named("Draft"))];
        let tree = Tree { nodes, ..Tree::default() };
        for name in ["#save_draft", "save_draft", "Save draft", "saveDraft"] {
            assert_eq!(find(&tree, Locator::Text(name)), FindResult::One(0), "{name}");
        }
        assert_eq!(find(&tree, Locator::Id("#save_draft")), FindResult::One(0));
        assert_eq!(find(&tree, Locator::Text("draft")), FindResult::One(1), "texts come first");
    }

    #[test]
    fn text_goes_to_fields_only() {
        let button = |text: &'static str| {
            move |node: &mut Node| {
                node.flags = clickable();
                node.text = text.into();
            }
        };
        let nodes = vec![
            node(None, [0, 0, 200, 300], |_| {}),
            node(Some(0), [0, 0, 90, 20], named("E-mail")),
            node(Some(0), [0, 24, 200, 44], field("", "")),
            node(Some(0), [0, 60, 90, 80], named("Phone number")),
            node(Some(0), [100, 60, 200, 80], field("", "555 memo")),
            node(Some(0), [0, 100, 200, 120], field("Write a memo", "")),
            node(Some(0), [0, 140, 100, 160], button("Delete memo")),
            node(Some(0), [0, 160, 100, 180], button("Send")),
            node(Some(0), [0, 200, 100, 220], button("Row")),
            node(Some(8), [0, 200, 100, 220], |node| node.description = "Town".into()),
            node(Some(9), [0, 205, 100, 220], field("", "")),
        ];
        let mut tree = Tree { nodes, ..Tree::default() };
        for at in 1..11 {
            tree.nodes[at].depth = if at < 9 { 1 } else { at - 7 };
        }
        for (name, meant) in [
            ("E-mail", Some(2)),
            ("e-mail", Some(2)),
            ("Phone", Some(4)),
            ("memo", Some(5)),
            ("555", Some(4)),
            ("Town", Some(10)),
            ("Row", Some(10)),
            ("Send", None),
            ("Delete memo", None),
        ] {
            let expected = meant.map_or(FindResult::None, FindResult::One);
            assert_eq!(find_field(&tree, Locator::Text(name)), expected, "{name}");
        }
        assert_eq!(field_of(&tree, 7, &visible_fields(&tree)), None);
    }

    #[test]
    fn ids_match_with_and_without_a_package() {
        let tree = |id: &'static str| Tree {
            nodes: vec![node(None, [0, 0, 9, 9], |node| node.id = id.into())],
            ..Tree::default()
        };
        for (sought, id, same) in [
            ("com.x:id/total", "total", true),
            ("total", "com.x:id/total", true),
            ("total", "total", true),
            ("com.x:id/total", "com.x:id/total", true),
            ("com.x:id/total", "com.y:id/total", false),
            ("com.x:id/cart/total", "cart/total", true),
            ("com.x:id/total", "subtotal", false),
            ("id/total", "com.x:id/total", true),
            ("id/total", "total", true),
        ] {
            let tree = tree(id);
            let found = |result| if same { result } else { FindResult::None };
            assert_eq!(
                find(&tree, Locator::Id(sought)),
                found(FindResult::One(0)),
                "{sought} {id}"
            );
            let exact = Query { id: Some(sought), exact: true, ..Query::default() };
            assert_eq!(!search(&tree, &exact).is_empty(), same, "{sought} {id}");
        }
        let part = Query { id: Some("com.x:id/total"), ..Query::default() };
        assert_eq!(search(&tree("subtotal"), &part), [0]);
        assert!(search(&tree("com.y:id/total"), &part).is_empty());
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
        check(Query { id: Some("row"), exact: true, ..any }, &[1, 3]);
        check(Query { id: Some("ro"), exact: true, ..any }, &[]);
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
