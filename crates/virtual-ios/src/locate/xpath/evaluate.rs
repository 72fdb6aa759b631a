//! Applies XPath expressions.

use super::{Axis, Expression, Start, Step};
use crate::locate::attribute::attribute;
use crate::tree::Snapshot;

/// Limit on the work of one expression, in visited nodes.
const MAX_VISITS: usize = 5_000_000;

/// A node of the document.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Item {
    Document,
    Element(usize),
    /// The text of an attribute.
    Attribute(usize, String),
}

#[derive(Debug, Clone)]
enum Value {
    Items(Vec<Item>),
    Text(String),
    Number(f64),
    Flag(bool),
}

/// Where an expression is evaluated: a node, its position from 1, and how many there are.
#[derive(Clone)]
struct Place {
    item: Item,
    position: usize,
    size: usize,
}

struct Evaluator<'a> {
    snapshot: &'a Snapshot,
    root: usize,
    visits: usize,
}

/// The elements that an expression finds, in the order of the document.
///
/// # Errors
/// If the expression is not about elements, or has a function that is unknown.
pub(super) fn elements(
    snapshot: &Snapshot,
    root: usize,
    expression: &Expression,
) -> Result<Vec<usize>, String> {
    let mut evaluator = Evaluator { snapshot, root, visits: 0 };
    let place = Place { item: Item::Element(root), position: 1, size: 1 };
    let Value::Items(items) = evaluator.value(expression, &place)? else {
        return Err("the result is not a list of elements".to_owned());
    };
    Ok(items
        .into_iter()
        .filter_map(|item| if let Item::Element(at) = item { Some(at) } else { None })
        .collect())
}

impl Evaluator<'_> {
    fn value(&mut self, expression: &Expression, place: &Place) -> Result<Value, String> {
        Ok(match expression {
            Expression::Text(text) => Value::Text(text.clone()),
            Expression::Number(number) => Value::Number(*number),
            Expression::Or(left, right) => {
                Value::Flag(self.flag(left, place)? || self.flag(right, place)?)
            }
            Expression::And(left, right) => {
                Value::Flag(self.flag(left, place)? && self.flag(right, place)?)
            }
            Expression::Sum(adds, left, right) => {
                let left = self.value(left, place)?;
                let right = self.value(right, place)?;
                let (left, right) = (self.number(&left), self.number(&right));
                Value::Number(if *adds { left + right } else { left - right })
            }
            Expression::Compare(operator, left, right) => {
                let left = self.value(left, place)?;
                let right = self.value(right, place)?;
                Value::Flag(self.compare(operator, &left, &right))
            }
            Expression::Union(left, right) => {
                match (self.value(left, place)?, self.value(right, place)?) {
                    (Value::Items(mut left), Value::Items(right)) => {
                        left.extend(right);
                        left.sort();
                        left.dedup();
                        Value::Items(left)
                    }
                    _ => return Err("`|` joins lists of elements".to_owned()),
                }
            }
            Expression::Call(name, arguments) => self.call(name, arguments, place)?,
            Expression::Path { start, steps } => {
                let mut items = match start {
                    Start::Root => vec![Item::Document],
                    Start::Context => vec![place.item.clone()],
                    Start::Filter(primary, predicates) => {
                        let Value::Items(mut items) = self.value(primary, place)? else {
                            return Err(
                                "only a list of elements has positions and steps".to_owned()
                            );
                        };
                        for predicate in predicates {
                            items = self.filter(items, predicate)?;
                        }
                        items
                    }
                };
                for step in steps {
                    items = self.step(&items, step)?;
                }
                Value::Items(items)
            }
        })
    }

    fn step(&mut self, from: &[Item], step: &Step) -> Result<Vec<Item>, String> {
        let mut found = Vec::new();
        for item in from {
            let mut items = self.axis(item, step.axis, step.name.as_deref());
            self.visits += items.len() + 1;
            if self.visits > MAX_VISITS {
                return Err("it takes too long".to_owned());
            }
            if step.axis != Axis::Attribute {
                items.retain(|item| self.has_name(item, step.name.as_deref()));
            }
            for predicate in &step.predicates {
                items = self.filter(items, predicate)?;
            }
            found.extend(items);
        }
        found.sort();
        found.dedup();
        Ok(found)
    }

    /// The nodes of an axis, the nearest first.
    fn axis(&self, item: &Item, axis: Axis, name: Option<&str>) -> Vec<Item> {
        let elements = |all: Vec<usize>| all.into_iter().map(Item::Element).collect::<Vec<_>>();
        let (snapshot, root) = (self.snapshot, self.root);
        let parent = |at: usize| match at == root {
            true => Item::Document,
            false => snapshot.elements[at].parent.map_or(Item::Document, Item::Element),
        };
        let at = match (item, axis) {
            (_, Axis::Itself) => return vec![item.clone()],
            (Item::Document, Axis::Child) => return vec![Item::Element(root)],
            (Item::Document, Axis::Descendant | Axis::DescendantOrSelf) => {
                let mut all =
                    if axis == Axis::Descendant { Vec::new() } else { vec![Item::Document] };
                all.push(Item::Element(root));
                all.extend(elements(snapshot.descendants(root)));
                return all;
            }
            (Item::Attribute(at, _), Axis::Parent) => return vec![Item::Element(*at)],
            (Item::Document | Item::Attribute(..), _) => return Vec::new(),
            (Item::Element(at), _) => *at,
        };
        match axis {
            Axis::Child => elements(snapshot.elements[at].children.clone()),
            Axis::Descendant => elements(snapshot.descendants(at)),
            Axis::DescendantOrSelf => {
                let mut all = vec![Item::Element(at)];
                all.extend(elements(snapshot.descendants(at)));
                all
            }
            Axis::Parent => vec![parent(at)],
            Axis::Ancestor | Axis::AncestorOrSelf => {
                let mut all =
                    if axis == Axis::Ancestor { Vec::new() } else { vec![Item::Element(at)] };
                let mut next = parent(at);
                while let Item::Element(at) = next {
                    all.push(next);
                    next = parent(at);
                }
                all
            }
            Axis::FollowingSibling | Axis::PrecedingSibling => {
                let Item::Element(parent) = parent(at) else { return Vec::new() };
                let siblings = snapshot.elements[parent].children.iter().copied();
                match axis {
                    Axis::FollowingSibling => {
                        elements(siblings.filter(|other| *other > at).collect())
                    }
                    _ => elements(siblings.rev().filter(|other| *other < at).collect()),
                }
            }
            Axis::Attribute => {
                let value = name.and_then(|name| attribute(snapshot, at, name));
                // The source has no attributes for what WebDriverAgent leaves out of it.
                value.map(|value| Item::Attribute(at, value.to_text())).into_iter().collect()
            }
            Axis::Itself => Vec::new(),
        }
    }

    fn has_name(&self, item: &Item, name: Option<&str>) -> bool {
        match (item, name) {
            (_, None) => true,
            (Item::Element(at), Some(name)) => {
                name.strip_prefix("XCUIElementType") == Some(self.snapshot.elements[*at].kind)
            }
            _ => false,
        }
    }

    fn filter(&mut self, items: Vec<Item>, predicate: &Expression) -> Result<Vec<Item>, String> {
        let size = items.len();
        let mut kept = Vec::new();
        for (nth, item) in items.into_iter().enumerate() {
            let place = Place { item, position: nth + 1, size };
            let keeps = match self.value(predicate, &place)? {
                Value::Number(number) => (number - place.position as f64).abs() < f64::EPSILON,
                other => truth(&other),
            };
            if keeps {
                kept.push(place.item);
            }
        }
        Ok(kept)
    }

    fn flag(&mut self, expression: &Expression, place: &Place) -> Result<bool, String> {
        Ok(truth(&self.value(expression, place)?))
    }

    fn text(&self, value: &Value) -> String {
        match value {
            Value::Text(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            Value::Flag(flag) => flag.to_string(),
            Value::Items(items) => items.first().map_or_else(String::new, text_of),
        }
    }

    fn number(&self, value: &Value) -> f64 {
        match value {
            Value::Number(number) => *number,
            Value::Flag(flag) => f64::from(u8::from(*flag)),
            other => self.text(other).trim().parse().unwrap_or(f64::NAN),
        }
    }

    fn compare(&self, operator: &str, left: &Value, right: &Value) -> bool {
        // A list is equal to something if one of its nodes is.
        let each = |value: &Value| match value {
            Value::Items(items) => items.iter().map(|item| Value::Text(text_of(item))).collect(),
            other => vec![other.clone()],
        };
        let rights = each(right);
        each(left).iter().any(|left| {
            rights.iter().any(|right| match (operator, left, right) {
                ("=", Value::Text(left), Value::Text(right)) => left == right,
                ("!=", Value::Text(left), Value::Text(right)) => left != right,
                ("=", Value::Flag(flag), other) | ("=", other, Value::Flag(flag)) => {
                    *flag == truth(other)
                }
                ("!=", Value::Flag(flag), other) | ("!=", other, Value::Flag(flag)) => {
                    *flag != truth(other)
                }
                (operator, left, right) => {
                    let (left, right) = (self.number(left), self.number(right));
                    match operator {
                        "=" => (left - right).abs() < f64::EPSILON,
                        "!=" => (left - right).abs() >= f64::EPSILON,
                        "<" => left < right,
                        "<=" => left <= right,
                        ">" => left > right,
                        _ => left >= right,
                    }
                }
            })
        })
    }

    fn call(
        &mut self,
        name: &str,
        arguments: &[Expression],
        place: &Place,
    ) -> Result<Value, String> {
        let values: Vec<Value> = arguments
            .iter()
            .map(|argument| self.value(argument, place))
            .collect::<Result<_, _>>()?;
        let texts: Vec<String> = values.iter().map(|value| self.text(value)).collect();
        Ok(match (name, values.as_slice(), texts.as_slice()) {
            ("last", [], _) => Value::Number(place.size as f64),
            ("position", [], _) => Value::Number(place.position as f64),
            ("true", [], _) => Value::Flag(true),
            ("false", [], _) => Value::Flag(false),
            ("not", [value], _) => Value::Flag(!truth(value)),
            ("boolean", [value], _) => Value::Flag(truth(value)),
            ("count", [Value::Items(items)], _) => Value::Number(items.len() as f64),
            ("number", [value], _) => Value::Number(self.number(value)),
            ("string", [_], [text]) => Value::Text(text.clone()),
            ("contains", _, [text, part]) => Value::Flag(text.contains(part.as_str())),
            ("starts-with", _, [text, part]) => Value::Flag(text.starts_with(part.as_str())),
            ("string-length", _, [text]) => Value::Number(text.chars().count() as f64),
            ("normalize-space", _, [text]) => {
                Value::Text(text.split_whitespace().collect::<Vec<_>>().join(" "))
            }
            ("concat", _, texts) if texts.len() > 1 => Value::Text(texts.concat()),
            ("translate", _, [text, from, to]) => {
                let to: Vec<char> = to.chars().collect();
                let changed =
                    text.chars().filter_map(|char| match from.chars().position(|it| it == char) {
                        None => Some(char),
                        Some(at) => to.get(at).copied(),
                    });
                Value::Text(changed.collect())
            }
            // An element has no text between its tags.
            ("text" | "node", [], _) => Value::Items(Vec::new()),
            _ => return Err(format!("{name}() with {} arguments is unknown", values.len())),
        })
    }
}

fn text_of(item: &Item) -> String {
    match item {
        Item::Attribute(_, text) => text.clone(),
        Item::Document | Item::Element(_) => String::new(),
    }
}

fn truth(value: &Value) -> bool {
    match value {
        Value::Items(items) => !items.is_empty(),
        Value::Text(text) => !text.is_empty(),
        Value::Number(number) => *number != 0.0 && !number.is_nan(),
        Value::Flag(flag) => *flag,
    }
}
