//! The value of an expression.

use std::cell::Cell;

use regex_lite::RegexBuilder;

use super::XPathDocument;
use super::parse::{Expr, PathStep};

/// A node of the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Item {
    /// The parent of the root element.
    Document,
    Element(usize),
    /// An element's attribute, by its place in [`XPathDocument::attribute_names`].
    Attribute(usize, usize),
}

#[derive(Debug, Clone, PartialEq)]
enum Value {
    Items(Vec<Item>),
    Text(String),
    Number(f64),
    Flag(bool),
}

/// How many nodes are looked at in one evaluation.
const MAX_WORK: usize = 4_000_000;

/// The elements that the expression selects.
pub(super) fn select(
    document: &impl XPathDocument,
    expression: &Expr,
    from: Option<usize>,
) -> Result<Vec<usize>, String> {
    let evaluator = Evaluator { document, work: Cell::new(0) };
    let item = from.map_or(Item::Document, Item::Element);
    let wrong = || "the XPath selects values, not elements".to_owned();
    let Value::Items(items) =
        evaluator.value(expression, &Context { item, position: 1, size: 1 })?
    else {
        return Err(wrong());
    };
    let element = |item| match item {
        Item::Document => None,
        Item::Element(at) => Some(Ok(at)),
        Item::Attribute(..) => Some(Err(wrong())),
    };
    items.into_iter().filter_map(element).collect()
}

struct Context {
    item: Item,
    position: usize,
    size: usize,
}

struct Evaluator<'a, D> {
    document: &'a D,
    work: Cell<usize>,
}

impl<D: XPathDocument> Evaluator<'_, D> {
    fn spend(&self, work: usize) -> Result<(), String> {
        self.work.set(self.work.get() + work + 1);
        match self.work.get() > MAX_WORK {
            true => Err(format!("the XPath looks at more than {MAX_WORK} nodes")),
            false => Ok(()),
        }
    }

    fn value(&self, expression: &Expr, context: &Context) -> Result<Value, String> {
        self.spend(0)?;
        Ok(match expression {
            Expr::Text(text) => Value::Text(text.clone()),
            Expr::Number(number) => Value::Number(*number),
            Expr::Minus(inner) => Value::Number(-self.number(&self.value(inner, context)?)),
            Expr::Binary(operator, left, right) => self.binary(operator, left, right, context)?,
            Expr::Call(name, arguments) => self.call(name, arguments, context)?,
            Expr::Path { absolute, steps } => {
                let from = if *absolute { Item::Document } else { context.item };
                Value::Items(self.steps(vec![from], steps)?)
            }
            Expr::Filter(inner, predicates, steps) => {
                let Value::Items(mut items) = self.value(inner, context)? else {
                    return Err("only elements can be filtered".to_owned());
                };
                for predicate in predicates {
                    items = self.filter(items, predicate)?;
                }
                Value::Items(self.steps(items, steps)?)
            }
        })
    }

    fn steps(&self, from: Vec<Item>, steps: &[PathStep]) -> Result<Vec<Item>, String> {
        let mut items = from;
        for step in steps {
            let mut next = Vec::new();
            for item in items {
                let mut found = self.along(item, step);
                self.spend(found.len())?;
                found.retain(|item| self.passes(*item, &step.test));
                for predicate in &step.predicates {
                    found = self.filter(found, predicate)?;
                }
                next.extend(found);
            }
            next.sort_unstable();
            next.dedup();
            items = next;
        }
        Ok(items)
    }

    fn filter(&self, items: Vec<Item>, predicate: &Expr) -> Result<Vec<Item>, String> {
        let size = items.len();
        let mut kept = Vec::new();
        for (at, item) in items.into_iter().enumerate() {
            let position = at + 1;
            let value = self.value(predicate, &Context { item, position, size })?;
            let keeps = match value {
                Value::Number(number) => number == position as f64,
                value => self.truth(&value),
            };
            if keeps {
                kept.push(item);
            }
        }
        Ok(kept)
    }

    fn passes(&self, item: Item, test: &str) -> bool {
        match (item, test) {
            (_, "node()") => true,
            (Item::Document, _) => false,
            (Item::Element(_) | Item::Attribute(..), "*") => true,
            (Item::Element(at), name) => self.document.name(at) == name,
            (Item::Attribute(_, which), name) => self.document.attribute_names()[which] == name,
        }
    }

    /// The elements inside one, in order.
    fn descendants(&self, of: usize) -> Vec<usize> {
        let mut found = Vec::new();
        let mut open: Vec<usize> = self.document.children(of).iter().rev().copied().collect();
        while let Some(at) = open.pop() {
            found.push(at);
            open.extend(self.document.children(at).iter().rev());
        }
        found
    }

    fn parent(&self, of: Item) -> Option<Item> {
        match of {
            Item::Document => None,
            Item::Attribute(at, _) => Some(Item::Element(at)),
            Item::Element(at) => {
                Some(self.document.parent(at).map_or(Item::Document, Item::Element))
            }
        }
    }

    /// The nodes along a step's axis, nearest first.
    fn along(&self, item: Item, step: &PathStep) -> Vec<Item> {
        let document = self.document;
        let everything = || {
            let root = document.root();
            std::iter::once(root).chain(self.descendants(root)).collect::<Vec<_>>()
        };
        let descendants = || match item {
            Item::Document => everything(),
            Item::Element(at) => self.descendants(at),
            Item::Attribute(..) => Vec::new(),
        };
        let ancestors = || std::iter::successors(self.parent(item), |item| self.parent(*item));
        let siblings = |at: usize| document.parent(at).map_or(&[][..], |it| document.children(it));
        let found: Vec<usize> = match (step.axis, item) {
            ("self", _) => return vec![item],
            ("parent", _) => return self.parent(item).into_iter().collect(),
            ("ancestor", _) => return ancestors().collect(),
            ("ancestor-or-self", _) => return std::iter::once(item).chain(ancestors()).collect(),
            ("descendant-or-self", _) => {
                let inside = descendants().into_iter().map(Item::Element);
                return std::iter::once(item).chain(inside).collect();
            }
            ("attribute", Item::Element(at)) => return self.attributes(at, &step.test),
            ("child", Item::Document) => vec![document.root()],
            ("child", Item::Element(at)) => document.children(at).to_vec(),
            ("descendant", _) => descendants(),
            ("following-sibling", Item::Element(at)) => {
                siblings(at).iter().copied().filter(|other| *other > at).collect()
            }
            ("preceding-sibling", Item::Element(at)) => {
                siblings(at).iter().rev().copied().filter(|other| *other < at).collect()
            }
            ("following", Item::Element(at)) => {
                let inside = self.descendants(at);
                let after = everything().into_iter().filter(|other| *other > at);
                after.filter(|other| !inside.contains(other)).collect()
            }
            ("preceding", Item::Element(at)) => {
                let around: Vec<Item> = ancestors().collect();
                let before = everything().into_iter().rev().filter(|other| *other < at);
                before.filter(|other| !around.contains(&Item::Element(*other))).collect()
            }
            _ => Vec::new(),
        };
        found.into_iter().map(Item::Element).collect()
    }

    /// An element's attributes that may pass a test.
    fn attributes(&self, of: usize, test: &str) -> Vec<Item> {
        let names = self.document.attribute_names().iter().enumerate();
        let wanted = names.filter(|(_, name)| matches!(test, "*" | "node()") || **name == test);
        let there = wanted.filter(|(_, name)| self.document.attribute(of, name).is_some());
        there.map(|(which, _)| Item::Attribute(of, which)).collect()
    }

    fn binary(
        &self,
        operator: &str,
        left: &Expr,
        right: &Expr,
        context: &Context,
    ) -> Result<Value, String> {
        let first = self.value(left, context)?;
        match operator {
            "or" if self.truth(&first) => return Ok(Value::Flag(true)),
            "and" if !self.truth(&first) => return Ok(Value::Flag(false)),
            _ => {}
        }
        let second = self.value(right, context)?;
        let numbers = || (self.number(&first), self.number(&second));
        Ok(match operator {
            "or" | "and" => Value::Flag(self.truth(&second)),
            "=" | "!=" | "<" | "<=" | ">" | ">=" => {
                Value::Flag(self.compares(operator, &first, &second)?)
            }
            "|" => {
                let (Value::Items(mut items), Value::Items(more)) = (first, second) else {
                    return Err("only elements can be joined by |".to_owned());
                };
                items.extend(more);
                items.sort_unstable();
                items.dedup();
                Value::Items(items)
            }
            "+" => Value::Number(numbers().0 + numbers().1),
            "-" => Value::Number(numbers().0 - numbers().1),
            "*" => Value::Number(numbers().0 * numbers().1),
            "div" => Value::Number(numbers().0 / numbers().1),
            _ => Value::Number(numbers().0 % numbers().1),
        })
    }

    /// Comparison, of which a set of nodes passes if one of them does (XPath 1.0, section 3.4).
    fn compares(&self, operator: &str, first: &Value, second: &Value) -> Result<bool, String> {
        if let Value::Items(items) = first
            && !matches!(second, Value::Flag(_))
        {
            self.spend(items.len())?;
            let text = |item: &Item| Value::Text(self.text_of(*item));
            let mut any = false;
            for item in items {
                any = any || self.compares(operator, &text(item), second)?;
            }
            return Ok(any);
        }
        if matches!(second, Value::Items(_)) && !matches!(first, Value::Flag(_)) {
            let turned = match operator {
                "<" => ">",
                "<=" => ">=",
                ">" => "<",
                ">=" => "<=",
                same => same,
            };
            return self.compares(turned, second, first);
        }
        let numbers = || (self.number(first), self.number(second));
        let is_flag = |value: &Value| matches!(value, Value::Flag(_));
        let is_number = |value: &Value| matches!(value, Value::Number(_));
        let equal = || {
            if is_flag(first) || is_flag(second) {
                self.truth(first) == self.truth(second)
            } else if is_number(first) || is_number(second) {
                numbers().0 == numbers().1
            } else {
                self.text(first) == self.text(second)
            }
        };
        Ok(match operator {
            "=" => equal(),
            "!=" => !equal(),
            "<" => numbers().0 < numbers().1,
            "<=" => numbers().0 <= numbers().1,
            ">" => numbers().0 > numbers().1,
            _ => numbers().0 >= numbers().1,
        })
    }

    fn call(&self, name: &str, arguments: &[Expr], context: &Context) -> Result<Value, String> {
        let wrong = || format!("{name}() is unknown here, or has the wrong number of arguments");
        let value = |at: usize| {
            arguments.get(at).map_or_else(|| Err(wrong()), |argument| self.value(argument, context))
        };
        let text = |at: usize| value(at).map(|value| self.text(&value));
        // Without an argument, the text of the node at which it is called.
        let own = || match arguments.is_empty() {
            true => Ok(self.text_of(context.item)),
            false => text(0),
        };
        let items = |at: usize| match value(at)? {
            Value::Items(items) => Ok(items),
            _ => Err(format!("{name}() needs elements")),
        };
        Ok(match (name, arguments.len()) {
            ("last", 0) => Value::Number(context.size as f64),
            ("position", 0) => Value::Number(context.position as f64),
            ("count", 1) => Value::Number(items(0)?.len() as f64),
            ("name" | "local-name", 0) => Value::Text(self.name_of(context.item)),
            ("name" | "local-name", 1) => {
                Value::Text(items(0)?.first().map_or_else(String::new, |item| self.name_of(*item)))
            }
            ("not", 1) => Value::Flag(!self.truth(&value(0)?)),
            ("boolean", 1) => Value::Flag(self.truth(&value(0)?)),
            ("true", 0) => Value::Flag(true),
            ("false", 0) => Value::Flag(false),
            ("number", 1) => Value::Number(self.number(&value(0)?)),
            ("string", 0 | 1) => Value::Text(own()?),
            ("string-length", 0 | 1) => Value::Number(own()?.chars().count() as f64),
            ("normalize-space", 0 | 1) => {
                Value::Text(own()?.split_whitespace().collect::<Vec<_>>().join(" "))
            }
            ("lower-case", 1) => Value::Text(text(0)?.to_lowercase()),
            ("upper-case", 1) => Value::Text(text(0)?.to_uppercase()),
            ("contains", 2) => Value::Flag(text(0)?.contains(&text(1)?)),
            ("starts-with", 2) => Value::Flag(text(0)?.starts_with(&text(1)?)),
            ("ends-with", 2) => Value::Flag(text(0)?.ends_with(&text(1)?)),
            ("matches", 2 | 3) => {
                let flags = if arguments.len() == 3 { text(2)? } else { String::new() };
                let pattern = text(1)?;
                let regex =
                    RegexBuilder::new(&pattern).case_insensitive(flags.contains('i')).build();
                let regex = regex.map_err(|reason| format!("pattern {pattern:?}: {reason}"))?;
                Value::Flag(regex.is_match(&text(0)?))
            }
            ("concat", 2..) => {
                let parts = (0..arguments.len()).map(text);
                Value::Text(parts.collect::<Result<String, _>>()?)
            }
            ("substring-before", 2) => {
                let (whole, part) = (text(0)?, text(1)?);
                Value::Text(whole.split_once(&part).map_or("", |(before, _)| before).to_owned())
            }
            ("substring-after", 2) => {
                let (whole, part) = (text(0)?, text(1)?);
                Value::Text(whole.split_once(&part).map_or("", |(_, after)| after).to_owned())
            }
            ("substring", 2 | 3) => {
                let from = self.number(&value(1)?).round();
                let length = match arguments.len() {
                    3 => self.number(&value(2)?).round(),
                    _ => f64::INFINITY,
                };
                let inside = |(at, c): (usize, char)| {
                    let at = at as f64 + 1.0;
                    (at >= from && at < from + length).then_some(c)
                };
                Value::Text(text(0)?.chars().enumerate().filter_map(inside).collect())
            }
            ("translate", 3) => {
                let (from, to): (String, Vec<char>) = (text(1)?, text(2)?.chars().collect());
                let turned = |c: char| match from.chars().position(|other| other == c) {
                    None => Some(c),
                    Some(at) => to.get(at).copied(),
                };
                Value::Text(text(0)?.chars().filter_map(turned).collect())
            }
            _ => return Err(wrong()),
        })
    }

    fn name_of(&self, item: Item) -> String {
        match item {
            Item::Document => String::new(),
            Item::Element(at) => self.document.name(at).into_owned(),
            Item::Attribute(_, which) => self.document.attribute_names()[which].to_owned(),
        }
    }

    /// Elements of a page source contain no text.
    fn text_of(&self, item: Item) -> String {
        match item {
            Item::Attribute(at, which) => {
                let name = self.document.attribute_names()[which];
                self.document.attribute(at, name).unwrap_or_default()
            }
            Item::Document | Item::Element(_) => String::new(),
        }
    }

    fn text(&self, value: &Value) -> String {
        match value {
            Value::Items(items) => {
                items.first().map_or_else(String::new, |item| self.text_of(*item))
            }
            Value::Text(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            Value::Flag(flag) => flag.to_string(),
        }
    }

    fn number(&self, value: &Value) -> f64 {
        match value {
            Value::Number(number) => *number,
            Value::Flag(flag) => f64::from(u8::from(*flag)),
            other => self.text(other).trim().parse().unwrap_or(f64::NAN),
        }
    }

    fn truth(&self, value: &Value) -> bool {
        match value {
            Value::Items(items) => !items.is_empty(),
            Value::Text(text) => !text.is_empty(),
            Value::Number(number) => *number != 0.0 && !number.is_nan(),
            Value::Flag(flag) => *flag,
        }
    }
}
