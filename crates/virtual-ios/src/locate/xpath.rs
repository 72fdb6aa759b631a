//! XPath 1.0 over the XML source, as far as tests of apps use it: axes, positions, comparisons and the usual functions.
//!
//! `parse` makes an expression, `evaluate` applies it.

mod evaluate;
mod parse;

use crate::tree::Snapshot;

/// An expression.
#[derive(Debug, Clone, PartialEq)]
enum Expression {
    Or(Box<Self>, Box<Self>),
    And(Box<Self>, Box<Self>),
    Compare(&'static str, Box<Self>, Box<Self>),
    Sum(bool, Box<Self>, Box<Self>),
    Union(Box<Self>, Box<Self>),
    Text(String),
    Number(f64),
    Call(String, Vec<Self>),
    Path { start: Start, steps: Vec<Step> },
}

/// Where a path begins.
#[derive(Debug, Clone, PartialEq)]
enum Start {
    Root,
    Context,
    Filter(Box<Expression>, Vec<Expression>),
}

/// A step of a path.
#[derive(Debug, Clone, PartialEq)]
struct Step {
    axis: Axis,
    /// `None` for any name.
    name: Option<String>,
    predicates: Vec<Expression>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Axis {
    Child,
    Descendant,
    DescendantOrSelf,
    Parent,
    Ancestor,
    AncestorOrSelf,
    FollowingSibling,
    PrecedingSibling,
    Itself,
    Attribute,
}

/// The elements that an XPath finds; `root` is the only element of its document's top level.
///
/// # Errors
/// What is wrong with the expression.
pub(super) fn find(snapshot: &Snapshot, root: usize, text: &str) -> Result<Vec<usize>, String> {
    let expression = parse::parse(text)?;
    evaluate::elements(snapshot, root, &expression)
        .map_err(|problem| format!("{problem} in the XPath {text:?}"))
}
