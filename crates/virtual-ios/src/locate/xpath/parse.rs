//! Reads XPath expressions.

use super::{Axis, Expression, Start, Step};
use crate::locate::MAX_NESTING;

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Name(String),
    Text(String),
    Number(f64),
    Symbol(&'static str),
}

const SYMBOLS: [&str; 21] = [
    "//", "..", "::", "!=", "<=", ">=", "/", ".", "@", "[", "]", "(", ")", "*", "|", "=", "<", ">",
    ",", "+", "-",
];

/// Reads an expression.
///
/// # Errors
/// What is wrong with it.
pub(super) fn parse(text: &str) -> Result<Expression, String> {
    let tokens = tokens(text)?;
    let mut parser = Parser { tokens, at: 0, depth: 0 };
    let expression = parser.or().map_err(|problem| format!("{problem} in the XPath {text:?}"))?;
    match parser.peek() {
        None => Ok(expression),
        Some(token) => Err(format!("unexpected {token:?} in the XPath {text:?}")),
    }
}

fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let after = if first == '"' || first == '\'' {
            let end = rest[1..]
                .find(first)
                .ok_or_else(|| format!("a {first} is missing in the XPath {text:?}"))?;
            tokens.push(Token::Text(rest[1..=end].to_owned()));
            &rest[end + 2..]
        } else if first.is_ascii_digit() {
            let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
            let number =
                rest[..end].parse().map_err(|_| format!("{:?} is not a number", &rest[..end]))?;
            tokens.push(Token::Number(number));
            &rest[end..]
        } else if first.is_alphabetic() || first == '_' {
            let end = rest
                .find(|c: char| !c.is_alphanumeric() && c != '_' && c != '-')
                .unwrap_or(rest.len());
            tokens.push(Token::Name(rest[..end].to_owned()));
            &rest[end..]
        } else if let Some(symbol) = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
            tokens.push(Token::Symbol(symbol));
            &rest[symbol.len()..]
        } else {
            return Err(format!("unexpected {first:?} in the XPath {text:?}"));
        };
        rest = after.trim_start();
    }
    Ok(tokens)
}

struct Parser {
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
}

impl Parser {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn takes(&mut self, symbol: &str) -> bool {
        let found = match self.peek() {
            Some(Token::Symbol(it)) => *it == symbol,
            Some(Token::Name(it)) => it == symbol,
            _ => false,
        };
        self.at += usize::from(found);
        found
    }

    fn needs(&mut self, symbol: &str) -> Result<(), String> {
        match self.takes(symbol) {
            true => Ok(()),
            false => Err(format!("a `{symbol}` is missing")),
        }
    }

    fn or(&mut self) -> Result<Expression, String> {
        self.depth += 1;
        if self.depth > MAX_NESTING {
            return Err("it is nested too deeply".to_owned());
        }
        let mut left = self.and()?;
        while self.takes("or") {
            left = Expression::Or(Box::new(left), Box::new(self.and()?));
        }
        self.depth -= 1;
        Ok(left)
    }

    fn and(&mut self) -> Result<Expression, String> {
        let mut left = self.comparison()?;
        while self.takes("and") {
            left = Expression::And(Box::new(left), Box::new(self.comparison()?));
        }
        Ok(left)
    }

    fn comparison(&mut self) -> Result<Expression, String> {
        let mut left = self.sum()?;
        while let Some(operator) =
            ["=", "!=", "<=", ">=", "<", ">"].into_iter().find(|it| self.takes(it))
        {
            left = Expression::Compare(operator, Box::new(left), Box::new(self.sum()?));
        }
        Ok(left)
    }

    fn sum(&mut self) -> Result<Expression, String> {
        let mut left = self.union()?;
        while let Some(sign) = ["+", "-"].into_iter().find(|it| self.takes(it)) {
            left = Expression::Sum(sign == "+", Box::new(left), Box::new(self.union()?));
        }
        Ok(left)
    }

    fn union(&mut self) -> Result<Expression, String> {
        let mut left = self.path()?;
        while self.takes("|") {
            left = Expression::Union(Box::new(left), Box::new(self.path()?));
        }
        Ok(left)
    }

    fn path(&mut self) -> Result<Expression, String> {
        let is_call = matches!(
            (self.peek(), self.tokens.get(self.at + 1)),
            (Some(Token::Name(_)), Some(Token::Symbol("(")))
        );
        let primary = match self.peek().cloned() {
            Some(Token::Text(text)) => {
                self.at += 1;
                return Ok(Expression::Text(text));
            }
            Some(Token::Number(number)) => {
                self.at += 1;
                return Ok(Expression::Number(number));
            }
            Some(Token::Symbol("(")) => {
                self.at += 1;
                let inner = self.or()?;
                self.needs(")")?;
                Some(inner)
            }
            Some(Token::Name(name)) if is_call => {
                self.at += 2;
                let mut arguments = Vec::new();
                while !self.takes(")") {
                    arguments.push(self.or()?);
                    if !self.takes(",") && !matches!(self.peek(), Some(Token::Symbol(")"))) {
                        return Err("a `)` is missing".to_owned());
                    }
                }
                Some(Expression::Call(name, arguments))
            }
            _ => None,
        };
        let mut steps = Vec::new();
        let start = match primary {
            Some(primary) => {
                let predicates = self.predicates()?;
                let goes_on = matches!(self.peek(), Some(Token::Symbol("/" | "//")));
                if predicates.is_empty() && !goes_on {
                    return Ok(primary);
                }
                Start::Filter(Box::new(primary), predicates)
            }
            None if matches!(self.peek(), Some(Token::Symbol("/" | "//"))) => {
                if self.tokens.len() == self.at + 1 && self.takes("/") {
                    return Ok(Expression::Path { start: Start::Root, steps });
                }
                Start::Root
            }
            None => {
                steps.push(self.step()?);
                Start::Context
            }
        };
        loop {
            if self.takes("//") {
                steps.push(Step {
                    axis: Axis::DescendantOrSelf,
                    name: None,
                    predicates: Vec::new(),
                });
            } else if !self.takes("/") {
                return Ok(Expression::Path { start, steps });
            }
            steps.push(self.step()?);
        }
    }

    fn step(&mut self) -> Result<Step, String> {
        let simple = |axis| Ok(Step { axis, name: None, predicates: Vec::new() });
        if self.takes("..") {
            return simple(Axis::Parent);
        }
        if self.takes(".") {
            return simple(Axis::Itself);
        }
        let mut axis = Axis::Child;
        if self.takes("@") {
            axis = Axis::Attribute;
        } else if let (Some(Token::Name(name)), Some(Token::Symbol("::"))) =
            (self.peek(), self.tokens.get(self.at + 1))
        {
            axis = match name.as_str() {
                "child" => Axis::Child,
                "descendant" => Axis::Descendant,
                "descendant-or-self" => Axis::DescendantOrSelf,
                "parent" => Axis::Parent,
                "ancestor" => Axis::Ancestor,
                "ancestor-or-self" => Axis::AncestorOrSelf,
                "following-sibling" => Axis::FollowingSibling,
                "preceding-sibling" => Axis::PrecedingSibling,
                "self" => Axis::Itself,
                "attribute" => Axis::Attribute,
                other => return Err(format!("the axis {other:?} is not supported")),
            };
            self.at += 2;
        }
        let name = match self.peek().cloned() {
            Some(Token::Symbol("*")) => None,
            Some(Token::Name(name)) => Some(name),
            Some(token) => return Err(format!("unexpected {token:?}")),
            None => return Err("it ends too early".to_owned()),
        };
        self.at += 1;
        Ok(Step { axis, name, predicates: self.predicates()? })
    }

    fn predicates(&mut self) -> Result<Vec<Expression>, String> {
        let mut predicates = Vec::new();
        while self.takes("[") {
            predicates.push(self.or()?);
            self.needs("]")?;
        }
        Ok(predicates)
    }
}
