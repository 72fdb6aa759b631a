//! Elements described by regular expressions, states and places relative to other elements, as
//! Maestro's selectors do.
//!
//! Start with [`ElementPattern::find`], a pure function over a tree. The rules are Maestro's
//! ("Selectors" of its documentation): a text or id must match as a whole, several matches are no
//! error, and the first one counts.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use regex_lite::{Regex, RegexBuilder};
use thumbwire_device::{Node, Rect, Tree};

/// An element by its properties and its surroundings; all given ones must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ElementPattern {
    /// Matches its text, hint or description.
    pub text: Option<TextPattern>,
    /// Matches its id, with or without the part up to the last `/`, on either side.
    pub id: Option<TextPattern>,
    /// Matches its class, whole or the part after the last `.`.
    pub class: Option<TextPattern>,
    /// Its size in pixels.
    pub size: ElementSize,
    /// It is beside other elements, on these sides of them.
    pub beside: Vec<(Side, ElementPattern)>,
    /// It is the parent of this element.
    pub child: Option<Box<ElementPattern>>,
    /// It contains all of these, at any depth.
    pub descendants: Vec<ElementPattern>,
    /// It is inside this element.
    pub parent: Option<Box<ElementPattern>>,
    /// It looks like this.
    pub traits: Vec<ElementTrait>,
    /// Its states.
    pub states: ElementStates,
    /// Which of the matches, counted from 0 and from the top left, or back from -1 from the last.
    pub index: Option<i32>,
}

/// A width and height with a tolerance, in pixels.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are clear")]
pub struct ElementSize {
    pub width: Option<i32>,
    pub height: Option<i32>,
    pub tolerance: i32,
}

/// States that an element must have (`Some(true)`) or must not have (`Some(false)`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are clear")]
pub struct ElementStates {
    pub enabled: Option<bool>,
    pub checked: Option<bool>,
    pub focused: Option<bool>,
    pub selected: Option<bool>,
    pub clickable: Option<bool>,
}

/// A side of another element. Maestro compares left and top edges alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are clear")]
pub enum Side {
    Above,
    Below,
    LeftOf,
    RightOf,
}

/// What an element looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ElementTrait {
    /// It has a text.
    Text,
    /// It is as wide as high.
    Square,
    /// It has a text of more than 200 characters.
    LongText,
}

/// A regular expression for a whole text, ignoring case. The text of the expression itself matches
/// too.
#[derive(Debug, Clone)]
pub struct TextPattern {
    written: String,
    pattern: Option<Regex>,
    /// The pattern of an id without its `package:id/`: tags of Compose have none.
    id_name: Option<Box<TextPattern>>,
}

impl PartialEq for TextPattern {
    fn eq(&self, other: &Self) -> bool {
        self.written == other.written
    }
}

impl Eq for TextPattern {}

impl TextPattern {
    /// A pattern. Text that is not a regular expression matches itself.
    ///
    /// # Errors
    /// Which construct of Java's regular expressions is not supported.
    pub(super) fn new(written: &str) -> Result<Self, String> {
        /// Far more than any hand-written pattern compiles to.
        const MAX_SIZE: usize = 1 << 20;
        if let Some(name) = unsupported(written) {
            return Err(format!("{name} is not supported in a pattern"));
        }
        let whole = format!(r"\A(?:{})\z", unquoted(written));
        let pattern = RegexBuilder::new(&whole)
            .case_insensitive(true)
            .dot_matches_new_line(true)
            .multi_line(true)
            .size_limit(MAX_SIZE)
            .build();
        let id_name = written.rsplit_once(":id/").map(|(_, name)| Self::new(name)).transpose()?;
        Ok(Self {
            written: written.to_owned(),
            pattern: pattern.ok(),
            id_name: id_name.map(Box::new),
        })
    }

    /// A pattern that only this text matches.
    pub(super) fn literal(text: &str) -> Self {
        Self { written: text.to_owned(), pattern: None, id_name: None }
    }

    /// The pattern as written.
    pub fn written(&self) -> &str {
        &self.written
    }

    /// Whether a text matches, as it is or with spaces for its line ends.
    pub(super) fn matches(&self, text: &str) -> bool {
        let one_line = text.replace('\n', " ");
        [text, &one_line].into_iter().any(|text| {
            text == self.written
                || self.pattern.as_ref().is_some_and(|pattern| pattern.is_match(text))
                || (self.is_literal() && text.to_lowercase() == self.written.to_lowercase())
        })
    }

    /// Whether an id matches, with or without the part up to the last `/`.
    fn matches_id(&self, id: &str) -> bool {
        let short = id.rsplit('/').next().unwrap_or_default();
        let matches_tag = |name: &Self| !id.is_empty() && !id.contains(":id/") && name.matches(id);
        self.matches(id) || self.matches(short) || self.id_name.as_deref().is_some_and(matches_tag)
    }

    /// Whether it is an id as lists of elements write one for what has no other name:
    /// `#save_draft`.
    fn is_listed_id(&self, id: &str) -> bool {
        let short = id.rsplit('/').next().unwrap_or_default();
        !short.is_empty() && self.written.strip_prefix('#') == Some(short)
    }

    /// Whether it has no characters with a meaning in regular expressions.
    fn is_literal(&self) -> bool {
        !self
            .written
            .contains(['\\', '.', '*', '+', '?', '(', ')', '[', ']', '{', '}', '|', '^', '$'])
    }
}

/// The pattern with Java's `\Q…\E` written out.
fn unquoted(pattern: &str) -> Cow<'_, str> {
    if !pattern.contains(r"\Q") {
        return Cow::Borrowed(pattern);
    }
    let mut plain = String::with_capacity(pattern.len());
    let mut rest = pattern;
    while let Some((before, after)) = rest.split_once(r"\Q") {
        let (quoted, after) = after.split_once(r"\E").unwrap_or((after, ""));
        plain.push_str(before);
        plain.push_str(&regex_lite::escape(quoted));
        rest = after;
    }
    Cow::Owned(plain + rest)
}

/// A construct of Java's regular expressions that ours do not have.
fn unsupported(pattern: &str) -> Option<&'static str> {
    let look_around = ["(?=", "(?!", "(?<=", "(?<!"];
    if look_around.iter().any(|one| pattern.contains(one)) {
        return Some("looking ahead or behind (`(?=`, `(?!`, `(?<=`, `(?<!`)");
    }
    let mut escaped = false;
    for c in pattern.chars() {
        if escaped && c.is_ascii_digit() && c != '0' {
            return Some("a reference to a group (`\\1`)");
        }
        if escaped && matches!(c, 'p' | 'P') {
            return Some("a Unicode class (`\\p{…}`)");
        }
        escaped = !escaped && c == '\\';
    }
    None
}

impl ElementPattern {
    /// An element with a text that matches this pattern.
    #[cfg(test)]
    pub(super) fn of_text(written: &str) -> Result<Self, String> {
        Ok(Self { text: Some(TextPattern::new(written)?), ..Self::default() })
    }

    /// The matching nodes among those for which `shown` holds: the one that is meant first.
    pub fn find(&self, tree: &Tree, shown: &dyn Fn(usize) -> bool) -> Vec<usize> {
        let nodes: Vec<usize> = (0..tree.nodes.len()).filter(|&at| shown(at)).collect();
        self.among(tree, &nodes)
    }

    fn among(&self, tree: &Tree, nodes: &[usize]) -> Vec<usize> {
        let inside: Vec<usize>;
        let mut nodes = nodes;
        if let Some(parent) = &self.parent {
            let Some(&parent) = parent.among(tree, nodes).first() else { return Vec::new() };
            let depth = tree.nodes[parent].depth;
            let end = tree.nodes[parent + 1..].iter().position(|node| node.depth <= depth);
            let end = end.map_or(tree.nodes.len(), |many| parent + 1 + many);
            inside = nodes.iter().copied().filter(|at| (parent..end).contains(at)).collect();
            nodes = &inside;
        }
        // Maestro takes the innermost of the elements that are all of this themselves.
        let mut found = match self.says_nothing_of_itself() {
            true => nodes.to_vec(),
            false => innermost(tree, nodes, &|node| self.fits(node)),
        };
        for (side, other) in &self.beside {
            let others = other.among(tree, nodes);
            let bounds = |at: usize| tree.nodes[at].bounds;
            found.retain(|&at| others.iter().any(|&one| side.holds(bounds(at), bounds(one))));
        }
        if let Some(child) = &self.child {
            let children = child.among(tree, nodes);
            let parents: HashSet<usize> =
                children.iter().filter_map(|&at| tree.nodes[at].parent).collect();
            found.retain(|at| parents.contains(at));
        }
        if !self.descendants.is_empty() {
            let anywhere: Vec<Vec<usize>> =
                self.descendants.iter().map(|one| one.among(tree, nodes)).collect();
            found.retain(|&at| {
                anywhere.iter().all(|inner| inner.iter().any(|&one| is_inside(tree, one, at)))
            });
        }
        match self.index {
            Some(index) => {
                found.sort_by_key(|&at| (tree.nodes[at].bounds.top, tree.nodes[at].bounds.left));
                let count = i32::try_from(found.len()).unwrap_or(i32::MAX);
                let at = usize::try_from(if index < 0 { count + index } else { index });
                at.ok().and_then(|at| found.get(at)).copied().into_iter().collect()
            }
            None => {
                found.sort_by_key(|&at| !tree.nodes[at].flags.clickable);
                found
            }
        }
    }

    /// Whether nothing but a text is given.
    pub(super) fn is_only_a_text(&self) -> bool {
        let text = self.text.clone();
        text.is_some() && *self == Self { text, ..Self::default() }
    }

    /// Whether only its surroundings are given.
    fn says_nothing_of_itself(&self) -> bool {
        let Self { text, id, class, size, traits, states, .. } = self;
        text.is_none()
            && id.is_none()
            && class.is_none()
            && (size.width, size.height) == (None, None)
            && traits.is_empty()
            && *states == ElementStates::default()
    }

    /// Whether an element is what this says of the element itself.
    fn fits(&self, node: &Node) -> bool {
        let all = [&node.text, &node.hint, &node.description];
        let has_text = |text: &TextPattern| {
            all.into_iter().any(|one| text.matches(one)) || text.is_listed_id(&node.id)
        };
        let short = node.class.rsplit('.').next().unwrap_or_default();
        let is_of_class = |class: &TextPattern| class.matches(&node.class) || class.matches(short);
        self.text.as_ref().is_none_or(has_text)
            && self.id.as_ref().is_none_or(|id| id.matches_id(&node.id))
            && self.class.as_ref().is_none_or(is_of_class)
            && self.size.fits(node.bounds)
            && self.traits.iter().all(|one| one.holds(node))
            && self.states.hold(node)
    }

    /// A text on the screen that contains the pattern's, for the message when nothing matches:
    /// patterns must match whole texts.
    pub(super) fn near_miss<'a>(
        &self,
        tree: &'a Tree,
        shown: &dyn Fn(usize) -> bool,
    ) -> Option<&'a str> {
        let written = self.text.as_ref()?.written.to_lowercase();
        let nodes = tree.nodes.iter().enumerate().filter(|(at, _)| shown(*at));
        let texts = nodes.flat_map(|(_, node)| [&*node.text, &*node.description]);
        let near = texts.filter(|text| text.len() < 200 && text.to_lowercase().contains(&written));
        near.min_by_key(|text| text.len())
    }
}

/// The matching nodes in which no other matches: a button and its label often say the same.
/// Maestro's `Filters.deepestMatchingElement`.
fn innermost(tree: &Tree, nodes: &[usize], is: &dyn Fn(&Node) -> bool) -> Vec<usize> {
    let mut matches: Vec<usize> = nodes.iter().copied().filter(|&at| is(&tree.nodes[at])).collect();
    let parent = |&at: &usize| tree.nodes[at].parent;
    let outer: HashSet<usize> =
        matches.iter().flat_map(|at| std::iter::successors(parent(at), parent)).collect();
    matches.retain(|at| !outer.contains(at));
    matches
}

fn is_inside(tree: &Tree, at: usize, outer: usize) -> bool {
    let parent = |&at: &usize| tree.nodes[at].parent;
    std::iter::successors(parent(&at), parent).any(|above| above == outer)
}

impl Side {
    fn holds(self, it: Rect, other: Rect) -> bool {
        match self {
            Self::Above => it.top < other.top,
            Self::Below => it.top > other.top,
            Self::LeftOf => it.left < other.left,
            Self::RightOf => it.left > other.left,
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Above => "above",
            Self::Below => "below",
            Self::LeftOf => "left of",
            Self::RightOf => "right of",
        }
    }
}

impl ElementSize {
    fn fits(self, bounds: Rect) -> bool {
        let near = |wanted: Option<i32>, is: i32| {
            wanted.is_none_or(|wanted| {
                (i64::from(wanted) - i64::from(is)).abs() <= i64::from(self.tolerance)
            })
        };
        near(self.width, bounds.right.saturating_sub(bounds.left))
            && near(self.height, bounds.bottom.saturating_sub(bounds.top))
    }
}

impl ElementTrait {
    /// The names in Maestro's `traits`.
    pub(super) const NAMES: [(&str, Self); 3] =
        [("text", Self::Text), ("square", Self::Square), ("long-text", Self::LongText)];

    fn holds(self, node: &Node) -> bool {
        match self {
            Self::Text => !node.text.is_empty(),
            Self::Square => {
                let Rect { left, top, right, bottom } = node.bounds;
                let ratio = f64::from(right - left) / f64::from((bottom - top).max(1));
                (1.0 - ratio).abs() < 0.03
            }
            Self::LongText => node.text.chars().count() > 200,
        }
    }
}

impl ElementStates {
    fn hold(self, node: &Node) -> bool {
        let flags = node.flags;
        let pairs = [
            (self.enabled, flags.enabled),
            (self.checked, flags.checked),
            (self.focused, flags.focused),
            (self.selected, flags.selected),
            (self.clickable, flags.clickable),
        ];
        pairs.into_iter().all(|(wanted, is)| wanted.is_none_or(|wanted| wanted == is))
    }
}

impl fmt::Display for TextPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.written)
    }
}

impl fmt::Display for ElementPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts: Vec<String> = Vec::new();
        parts.extend(self.text.iter().map(ToString::to_string));
        parts.extend(self.id.iter().map(|id| format!("id {id}")));
        parts.extend(self.class.iter().map(|class| format!("class {class}")));
        let size = [("width", self.size.width), ("height", self.size.height)];
        parts.extend(size.iter().filter_map(|(name, it)| Some(format!("{name} {}", (*it)?))));
        let traits = ElementTrait::NAMES.iter().filter(|(_, it)| self.traits.contains(it));
        parts.extend(traits.map(|(name, _)| format!("trait {name}")));
        let ElementStates { enabled, checked, focused, selected, clickable } = self.states;
        let states = [
            (enabled, "enabled"),
            (checked, "checked"),
            (focused, "focused"),
            (selected, "selected"),
            (clickable, "clickable"),
        ];
        parts.extend(states.iter().filter_map(|(is, name)| match (*is)? {
            true => Some((*name).to_owned()),
            false => Some(format!("not {name}")),
        }));
        parts.extend(self.beside.iter().map(|(side, it)| format!("{} {it}", side.words())));
        parts.extend(self.child.iter().map(|it| format!("with the child {it}")));
        parts.extend(self.descendants.iter().map(|it| format!("containing {it}")));
        parts.extend(self.parent.iter().map(|it| format!("inside {it}")));
        parts.extend(self.index.iter().map(|index| format!("index {index}")));
        f.write_str(&parts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use thumbwire_device::Flags;

    use super::*;

    fn text(written: &str) -> ElementPattern {
        ElementPattern::of_text(written).unwrap()
    }

    /// A form: a row with a label, a field and a button whose label says the same; below it the
    /// same again.
    fn form() -> Tree {
        let node = |parent, depth, text: &str, bounds: [i32; 4]| Node {
            parent,
            depth,
            text: text.into(),
            bounds: Rect { left: bounds[0], top: bounds[1], right: bounds[2], bottom: bounds[3] },
            flags: Flags { enabled: true, ..Flags::default() },
            ..Node::default()
        };
        let mut nodes = vec![
            node(None, 0, "", [0, 0, 100, 100]),
            node(Some(0), 1, "", [0, 0, 100, 20]),
            node(Some(1), 2, "Name", [0, 0, 30, 20]),
            node(Some(1), 2, "Save", [40, 0, 60, 20]),
            node(Some(3), 3, "Save", [45, 5, 55, 15]),
            node(Some(0), 1, "", [0, 40, 100, 60]),
            node(Some(5), 2, "E-mail\naddress", [0, 40, 30, 60]),
            node(Some(5), 2, "", [40, 40, 60, 60]),
        ];
        (nodes[7].description, nodes[7].id) = ("Save all".into(), "com.example:id/save_all".into());
        nodes[3].flags.clickable = true;
        nodes[7].flags = Flags { enabled: false, checked: true, ..Flags::default() };
        Tree { nodes, ..Tree::default() }
    }

    #[test]
    fn ids_match_with_and_without_a_package() {
        let with_id = |id: &str| Tree {
            nodes: vec![Node { id: id.into(), ..Node::default() }],
            ..Tree::default()
        };
        for (written, id, same) in [
            ("com.x:id/total", "total", true),
            ("com\\.x:id/tot.*", "total", true),
            (".*:id/total", "total", true),
            ("total", "com.x:id/total", true),
            ("com.x:id/total", "com.y:id/total", false),
            ("com.x:id/total", "subtotal", false),
        ] {
            let id_pattern = TextPattern::new(written).unwrap();
            let pattern = ElementPattern { id: Some(id_pattern), ..ElementPattern::default() };
            let found = pattern.find(&with_id(id), &|_| true);
            assert_eq!(!found.is_empty(), same, "{written} {id}");
        }
        assert_eq!(text("#total").find(&with_id("com.x:id/total"), &|_| true), [0]);
    }

    fn check(pattern: ElementPattern, expected: &[usize]) {
        assert_eq!(pattern.find(&form(), &|_| true), expected, "{pattern}");
    }

    #[test]
    fn texts_are_patterns_of_the_whole_text() {
        check(text("Save"), &[4]);
        check(text("save.*"), &[4, 7]);
        check(text("Sav"), &[]);
        check(text("E-mail address"), &[6]);
        check(text("[unclosed"), &[]);
        check(text("NAME|Save all"), &[2, 7]);
        let id = |written: &str| ElementPattern {
            id: Some(TextPattern::new(written).unwrap()),
            ..ElementPattern::default()
        };
        check(id("save_all"), &[7]);
        check(id("com.example:id/.*"), &[7]);
        check(id("save"), &[]);
    }

    #[test]
    fn patterns_that_only_java_knows_are_refused_by_name() {
        for (written, name) in [
            ("(?!Log)in", "looking ahead"),
            (r"(a)\1", "a reference to a group"),
            (r"\p{Lu}.*", "a Unicode class"),
        ] {
            let refused = TextPattern::new(written).unwrap_err();
            assert!(refused.contains(name), "{written}: {refused}");
        }
        assert!(TextPattern::new(r"\\1 \d+ (?i)x").is_ok());
    }

    #[test]
    fn elements_are_found_by_their_surroundings() {
        let beside = |side, other: &str| vec![(side, text(other))];
        let with = |change: &dyn Fn(&mut ElementPattern)| {
            let mut pattern = ElementPattern::default();
            change(&mut pattern);
            pattern
        };
        check(with(&|it| it.beside = beside(Side::RightOf, "E-mail address")), &[3, 4, 7]);
        check(ElementPattern { beside: beside(Side::Below, "Name"), ..text("Save.*") }, &[4, 7]);
        check(with(&|it| it.child = Some(Box::new(text("Name")))), &[1]);
        check(with(&|it| it.descendants = vec![text("Name"), text("Save")]), &[0, 1]);
        let parent = with(&|it| it.child = Some(Box::new(text("E-mail.*"))));
        check(ElementPattern { parent: Some(Box::new(parent)), ..text("Save.*") }, &[7]);
    }

    #[test]
    fn states_sizes_and_the_index_narrow_the_matches() {
        let narrowed = |change: &dyn Fn(&mut ElementPattern)| {
            let mut pattern = text("Save.*");
            change(&mut pattern);
            pattern
        };
        check(narrowed(&|it| it.states.enabled = Some(false)), &[7]);
        check(narrowed(&|it| it.states.checked = Some(false)), &[4]);
        check(narrowed(&|it| it.index = Some(1)), &[7]);
        check(narrowed(&|it| it.index = Some(2)), &[]);
        check(narrowed(&|it| it.traits = vec![ElementTrait::Text]), &[4]);
        check(
            narrowed(&|it| it.size = ElementSize { width: Some(12), height: None, tolerance: 2 }),
            &[4],
        );
    }
}
