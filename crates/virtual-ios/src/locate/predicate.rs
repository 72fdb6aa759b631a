//! `NSPredicate` format strings, as far as tests of apps use them: comparisons of attributes with
//! literals, joined by `AND`, `OR` and `NOT` (Apple, "Predicate Format String Syntax").

use crate::locate::attribute::{self, Attribute, attribute};
use crate::tree::Snapshot;

/// Limit on the nesting of a predicate.
const MAX_NESTING: usize = 48;

/// A predicate over an element.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Predicate {
    Constant(bool),
    Not(Box<Self>),
    And(Vec<Self>),
    Or(Vec<Self>),
    Compare(Comparison),
}

/// A comparison of two operands.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Comparison {
    left: Operand,
    operator: Operator,
    right: Vec<Operand>,
    ignores_case: bool,
    ignores_accents: bool,
}

#[derive(Debug, Clone, PartialEq)]
enum Operand {
    Key(String),
    Literal(Attribute),
    Nil,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    BeginsWith,
    EndsWith,
    Contains,
    Like,
    Matches,
    In,
    Between,
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Word(String),
    Text(String),
    Number(f64),
    Symbol(&'static str),
}

impl Predicate {
    /// Reads a format string.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let tokens = tokens(text)?;
        let mut parser = Parser { tokens: &tokens, at: 0, depth: 0 };
        let predicate = parser.or()?;
        match parser.peek() {
            None => Ok(predicate),
            Some(token) => Err(format!("unexpected {token:?} in the predicate {text:?}")),
        }
    }

    /// Whether it holds for an element.
    pub(crate) fn is_true(&self, snapshot: &Snapshot, at: usize) -> bool {
        match self {
            Self::Constant(value) => *value,
            Self::Not(inner) => !inner.is_true(snapshot, at),
            Self::And(all) => all.iter().all(|one| one.is_true(snapshot, at)),
            Self::Or(any) => any.iter().any(|one| one.is_true(snapshot, at)),
            Self::Compare(comparison) => comparison.is_true(snapshot, at),
        }
    }
}

impl Comparison {
    fn is_true(&self, snapshot: &Snapshot, at: usize) -> bool {
        let value = |operand: &Operand| match operand {
            Operand::Key(key) => attribute(snapshot, at, key),
            Operand::Literal(value) => Some(value.clone()),
            Operand::Nil => None,
        };
        let left = value(&self.left);
        let mut right = self.right.iter().map(value);
        match self.operator {
            Operator::In => right.any(|right| self.equal(left.as_ref(), right.as_ref())),
            Operator::Between => {
                let (Some(low), Some(high)) = (right.next().flatten(), right.next().flatten())
                else {
                    return false;
                };
                let number = left.as_ref().and_then(number);
                let bounds = number.zip(self::number(&low).zip(self::number(&high)));
                bounds.is_some_and(|(value, (low, high))| low <= value && value <= high)
            }
            operator => {
                let right = right.next().flatten();
                match operator {
                    Operator::Equal => self.equal(left.as_ref(), right.as_ref()),
                    Operator::NotEqual => !self.equal(left.as_ref(), right.as_ref()),
                    _ => left
                        .zip(right)
                        .is_some_and(|(left, right)| self.compare(operator, &left, &right)),
                }
            }
        }
    }

    fn equal(&self, left: Option<&Attribute>, right: Option<&Attribute>) -> bool {
        match (left, right) {
            (None, None) => true,
            (Some(left), Some(right)) => match (number(left), number(right)) {
                (Some(left), Some(right)) => (left - right).abs() < f64::EPSILON,
                _ => self.folded(left) == self.folded(right),
            },
            _ => false,
        }
    }

    fn compare(&self, operator: Operator, left: &Attribute, right: &Attribute) -> bool {
        let (text, pattern) = (self.folded(left), self.folded(right));
        let order = match (number(left), number(right)) {
            (Some(left), Some(right)) => left.partial_cmp(&right),
            _ => Some(text.cmp(&pattern)),
        };
        match operator {
            Operator::BeginsWith => text.starts_with(&pattern),
            Operator::EndsWith => text.ends_with(&pattern),
            Operator::Contains => text.contains(&pattern),
            Operator::Like => like(&text, &pattern),
            Operator::Matches => {
                // The pattern as it is written: `\S` is not `\s`.
                let whole = format!("^(?:{})$", self.without_accents(right));
                let mut regex = regex_lite::RegexBuilder::new(&whole);
                let regex = regex.case_insensitive(self.ignores_case).build();
                regex.is_ok_and(|regex| regex.is_match(&text))
            }
            Operator::Less => order.is_some_and(std::cmp::Ordering::is_lt),
            Operator::LessOrEqual => order.is_some_and(std::cmp::Ordering::is_le),
            Operator::Greater => order.is_some_and(std::cmp::Ordering::is_gt),
            Operator::GreaterOrEqual => order.is_some_and(std::cmp::Ordering::is_ge),
            Operator::Equal | Operator::NotEqual | Operator::In | Operator::Between => false,
        }
    }

    fn folded(&self, value: &Attribute) -> String {
        let text = self.without_accents(value);
        if self.ignores_case { text.to_lowercase() } else { text }
    }

    fn without_accents(&self, value: &Attribute) -> String {
        let text = match value {
            // A flag that is compared with a text or a number counts as 1 or 0.
            Attribute::Flag(flag) => u8::from(*flag).to_string(),
            other => other.to_text(),
        };
        if self.ignores_accents { text.chars().map(without_accent).collect() } else { text }
    }
}

fn number(value: &Attribute) -> Option<f64> {
    match value {
        Attribute::Number(number) => Some(*number),
        Attribute::Flag(flag) => Some(f64::from(u8::from(*flag))),
        _ => None,
    }
}

/// The Latin letters that people write without their accents.
fn without_accent(letter: char) -> char {
    const TABLE: [(char, &str); 14] = [
        ('a', "àáâãäå"),
        ('c', "ç"),
        ('e', "èéêë"),
        ('i', "ìíîï"),
        ('n', "ñ"),
        ('o', "òóôõö"),
        ('u', "ùúûü"),
        ('A', "ÀÁÂÃÄÅ"),
        ('C', "Ç"),
        ('E', "ÈÉÊË"),
        ('I', "ÌÍÎÏ"),
        ('N', "Ñ"),
        ('O', "ÒÓÔÕÖ"),
        ('U', "ÙÚÛÜ"),
    ];
    TABLE.iter().find(|(_, from)| from.contains(letter)).map_or(letter, |(to, _)| *to)
}

/// `LIKE`: `*` stands for any text, `?` for one character.
fn like(text: &str, pattern: &str) -> bool {
    let (text, pattern): (Vec<char>, Vec<char>) =
        (text.chars().collect(), pattern.chars().collect());
    let (mut at, mut in_pattern, mut star) = (0, 0, None);
    while at < text.len() {
        match pattern.get(in_pattern) {
            Some('*') => {
                star = Some((in_pattern, at));
                in_pattern += 1;
            }
            Some(wanted) if *wanted == '?' || *wanted == text[at] => {
                at += 1;
                in_pattern += 1;
            }
            _ => {
                let Some((after, from)) = star else { return false };
                star = Some((after, from + 1));
                (in_pattern, at) = (after + 1, from + 1);
            }
        }
    }
    pattern[in_pattern..].iter().all(|left| *left == '*')
}

struct Parser<'a> {
    tokens: &'a [Token],
    at: usize,
    depth: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn next(&mut self) -> Option<Token> {
        self.at += 1;
        self.tokens.get(self.at - 1).cloned()
    }

    fn takes(&mut self, symbols: &[&str]) -> bool {
        let found = match self.peek() {
            Some(Token::Symbol(symbol)) => symbols.contains(symbol),
            Some(Token::Word(word)) => symbols.iter().any(|it| it.eq_ignore_ascii_case(word)),
            _ => false,
        };
        self.at += usize::from(found);
        found
    }

    fn or(&mut self) -> Result<Predicate, String> {
        self.depth += 1;
        if self.depth > MAX_NESTING {
            return Err("the predicate is nested too deeply".to_owned());
        }
        let mut any = vec![self.and()?];
        while self.takes(&["OR", "||"]) {
            any.push(self.and()?);
        }
        self.depth -= 1;
        Ok(if any.len() == 1 { any.swap_remove(0) } else { Predicate::Or(any) })
    }

    fn and(&mut self) -> Result<Predicate, String> {
        let mut all = vec![self.not()?];
        while self.takes(&["AND", "&&"]) {
            all.push(self.not()?);
        }
        Ok(if all.len() == 1 { all.swap_remove(0) } else { Predicate::And(all) })
    }

    fn not(&mut self) -> Result<Predicate, String> {
        let mut negated = false;
        while self.takes(&["NOT", "!"]) {
            negated = !negated;
        }
        let inner = if self.takes(&["("]) {
            let inner = self.or()?;
            if !self.takes(&[")"]) {
                return Err("a `)` is missing in the predicate".to_owned());
            }
            inner
        } else if self.takes(&["TRUEPREDICATE"]) {
            Predicate::Constant(true)
        } else if self.takes(&["FALSEPREDICATE"]) {
            Predicate::Constant(false)
        } else {
            self.comparison()?
        };
        Ok(if negated { Predicate::Not(Box::new(inner)) } else { inner })
    }

    fn comparison(&mut self) -> Result<Predicate, String> {
        let left = self.operand()?;
        let operator = self.operator()?;
        let (mut ignores_case, mut ignores_accents) = (false, false);
        if self.takes(&["["]) {
            let Some(Token::Word(options)) = self.next() else {
                return Err("options such as `[cd]` are letters".to_owned());
            };
            if !self.takes(&["]"]) {
                return Err("a `]` is missing in the predicate".to_owned());
            }
            ignores_case = options.contains(['c', 'C']);
            ignores_accents = options.contains(['d', 'D']);
        }
        let right = match operator {
            Operator::In | Operator::Between => self.list()?,
            _ => vec![self.operand()?],
        };
        Ok(Predicate::Compare(Comparison { left, operator, right, ignores_case, ignores_accents }))
    }

    fn list(&mut self) -> Result<Vec<Operand>, String> {
        if !self.takes(&["{"]) {
            return Err("`IN` and `BETWEEN` need a list such as {1, 2}".to_owned());
        }
        let mut list = Vec::new();
        while !self.takes(&["}"]) {
            list.push(self.operand()?);
            if !self.takes(&[","]) && !matches!(self.peek(), Some(Token::Symbol("}"))) {
                return Err("a `}` is missing in the predicate".to_owned());
            }
        }
        Ok(list)
    }

    fn operator(&mut self) -> Result<Operator, String> {
        const OPERATORS: [(&[&str], Operator); 13] = [
            (&["==", "="], Operator::Equal),
            (&["!=", "<>"], Operator::NotEqual),
            (&["<=", "=<"], Operator::LessOrEqual),
            (&[">=", "=>"], Operator::GreaterOrEqual),
            (&["<"], Operator::Less),
            (&[">"], Operator::Greater),
            (&["BEGINSWITH"], Operator::BeginsWith),
            (&["ENDSWITH"], Operator::EndsWith),
            (&["CONTAINS"], Operator::Contains),
            (&["LIKE"], Operator::Like),
            (&["MATCHES"], Operator::Matches),
            (&["IN"], Operator::In),
            (&["BETWEEN"], Operator::Between),
        ];
        let found = OPERATORS.iter().find(|(spellings, _)| self.takes(spellings));
        found.map(|(_, operator)| *operator).ok_or_else(|| match self.peek() {
            Some(token) => {
                format!("expected an operator such as `==` in the predicate, not {token:?}")
            }
            None => "the predicate ends before an operator".to_owned(),
        })
    }

    fn operand(&mut self) -> Result<Operand, String> {
        match self.next() {
            Some(Token::Text(text)) => Ok(Operand::Literal(Attribute::Text(text))),
            Some(Token::Number(number)) => Ok(Operand::Literal(Attribute::Number(number))),
            Some(Token::Word(word)) => match word.to_ascii_lowercase().as_str() {
                "true" | "yes" => Ok(Operand::Literal(Attribute::Flag(true))),
                "false" | "no" => Ok(Operand::Literal(Attribute::Flag(false))),
                "nil" | "null" => Ok(Operand::Nil),
                key => {
                    let plain = key.strip_prefix("rect.").or_else(|| key.strip_prefix("wdrect."));
                    attribute::check_name(plain.unwrap_or(&word))?;
                    Ok(Operand::Key(plain.map_or(word, str::to_owned)))
                }
            },
            Some(token) => Err(format!("unexpected {token:?} in the predicate")),
            None => Err("the predicate ends too early".to_owned()),
        }
    }
}

fn tokens(text: &str) -> Result<Vec<Token>, String> {
    const SYMBOLS: [&str; 20] = [
        "==", "!=", "<>", "<=", "=<", ">=", "=>", "&&", "||", "=", "<", ">", "!", "(", ")", "[",
        "]", "{", "}", ",",
    ];
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let after = if let Some(symbol) = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
            tokens.push(Token::Symbol(symbol));
            &rest[symbol.len()..]
        } else if first == '"' || first == '\'' {
            let (literal, after) = quoted(&rest[1..], first)
                .ok_or_else(|| format!("a {first} is missing in {text:?}"))?;
            tokens.push(Token::Text(literal));
            after
        } else {
            let end = rest
                .find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '.' | '-' | '@'))
                .unwrap_or(rest.len());
            let word = &rest[..end];
            match word.parse::<f64>() {
                _ if word.is_empty() => {
                    return Err(format!("unexpected {first:?} in the predicate {text:?}"));
                }
                Ok(number) if !word.starts_with(char::is_alphabetic) => {
                    tokens.push(Token::Number(number))
                }
                _ => tokens.push(Token::Word(word.to_owned())),
            }
            &rest[end..]
        };
        rest = after.trim_start();
    }
    Ok(tokens)
}

/// A literal up to its closing quote, with `\` before a character that is meant as it is, and what
/// follows.
fn quoted(text: &str, quote: char) -> Option<(String, &str)> {
    let mut literal = String::new();
    let mut chars = text.char_indices();
    while let Some((at, char)) = chars.next() {
        match char {
            '\\' => literal.push(chars.next()?.1),
            char if char == quote => return Some((literal, &text[at + char.len_utf8()..])),
            char => literal.push(char),
        }
    }
    None
}
