//! `UiSelector`: what a node must be, which of several, and where to search inside or beside it.
//!
//! Comparisons are those of `UiSelector.isMatchFor` in AOSP's UiAutomator: whole texts by case,
//! parts of texts without it.

use super::tree::{Index, Tree};
use regex_lite::Regex;

/// What a node must be.
#[derive(Debug, Clone)]
pub(super) enum Criterion {
    /// A text, compared in some way.
    Text(TextField, TextMatch),
    /// A flag, by its name in a page source.
    Flag(&'static str, bool),
    /// Its number among its siblings.
    Index(usize),
}

/// A text of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextField {
    Text,
    Description,
    ClassName,
    PackageName,
    ResourceId,
}

/// How a text is compared.
#[derive(Debug, Clone)]
pub(super) enum TextMatch {
    Is(String),
    Contains(String),
    StartsWith(String),
    Matches(Regex),
}

/// Where the next selector searches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// Below the node.
    Child,
    /// Below the node's parent.
    FromParent,
}

/// A `UiSelector`.
#[derive(Debug, Clone, Default)]
pub(super) struct Selector {
    pub(super) criteria: Vec<Criterion>,
    /// Which one of several, from 0.
    pub(super) instance: Option<usize>,
    pub(super) next: Option<(Step, Box<Selector>)>,
}

/// Maximum bytes of a pattern.
const MAX_PATTERN: usize = 4096;

/// A pattern that must match a whole text, as `String.matches` of Java.
pub(super) fn whole_match(pattern: &str) -> Result<TextMatch, String> {
    if pattern.len() > MAX_PATTERN {
        return Err(format!("a pattern of {} bytes is too long", pattern.len()));
    }
    match Regex::new(&format!("^(?:{pattern})$")) {
        Ok(regex) => Ok(TextMatch::Matches(regex)),
        Err(reason) => Err(format!("the pattern {pattern:?} is not understood here: {reason}")),
    }
}

impl TextMatch {
    fn is_match(&self, text: &str) -> bool {
        match self {
            Self::Is(wanted) => text == wanted,
            Self::Contains(part) => text.to_lowercase().contains(&part.to_lowercase()),
            Self::StartsWith(part) => text.to_lowercase().starts_with(&part.to_lowercase()),
            Self::Matches(regex) => regex.is_match(text),
        }
    }
}

impl Selector {
    /// All matching nodes below `root`, in the order of the document.
    pub(super) fn find_all(&self, tree: &Tree, root: Index) -> Vec<Index> {
        let mut found: Vec<Index> = tree.descendants(root);
        found.retain(|at| self.is_match(tree, *at));
        if let Some(instance) = self.instance {
            found = found.get(instance).copied().into_iter().collect();
        }
        let Some((step, next)) = &self.next else { return found };
        let mut inner: Vec<Index> = Vec::new();
        for at in found {
            let from = match step {
                Step::Child => at,
                Step::FromParent => tree.elements[at].parent.unwrap_or(at),
            };
            inner.extend(next.find_all(tree, from));
        }
        inner.sort_unstable();
        inner.dedup();
        inner
    }

    /// The first one.
    pub(super) fn find(&self, tree: &Tree) -> Option<Index> {
        self.find_all(tree, 0).first().copied()
    }

    fn is_match(&self, tree: &Tree, at: Index) -> bool {
        let element = &tree.elements[at];
        self.criteria.iter().all(|criterion| match criterion {
            Criterion::Text(field, how) => how.is_match(match field {
                TextField::Text => &element.text,
                TextField::Description => &element.description,
                TextField::ClassName => &element.class,
                TextField::PackageName => &element.package,
                TextField::ResourceId => &element.id,
            }),
            Criterion::Flag(name, value) => {
                element.attribute(name).is_some_and(|is| is == value.to_string())
            }
            Criterion::Index(index) => element.index == *index,
        })
    }
}

/// A criterion by the name of its method in `UiSelector`, such as `textContains`; `None` for
/// another name. The error says what is wrong with the value.
pub(super) fn text_criterion(name: &str, value: &str) -> Option<Result<Criterion, String>> {
    let (field, how) = [
        ("packageName", TextField::PackageName),
        ("resourceId", TextField::ResourceId),
        ("className", TextField::ClassName),
        ("description", TextField::Description),
        ("text", TextField::Text),
    ]
    .into_iter()
    .find_map(|(prefix, field)| Some((field, name.strip_prefix(prefix)?)))?;
    let value = value.to_owned();
    let made = match how {
        "" => Ok(TextMatch::Is(value)),
        "Contains" => Ok(TextMatch::Contains(value)),
        "StartsWith" => Ok(TextMatch::StartsWith(value)),
        "Matches" => whole_match(&value),
        _ => return None,
    };
    Some(made.map(|how| Criterion::Text(field, how)))
}

/// The name of a flag in a page source by the name of its method in `UiSelector`.
pub(super) fn flag_name(method: &str) -> Option<&'static str> {
    Some(match method {
        "checkable" => "checkable",
        "checked" => "checked",
        "clickable" => "clickable",
        "enabled" => "enabled",
        "focusable" => "focusable",
        "focused" => "focused",
        "longClickable" => "long-clickable",
        "scrollable" => "scrollable",
        "selected" => "selected",
        _ => return None,
    })
}
