//! The grammar of XPath 1.0: text to [`Expr`].

/// An expression.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Expr {
    Text(String),
    Number(f64),
    Binary(&'static str, Box<Expr>, Box<Expr>),
    Minus(Box<Expr>),
    Call(String, Vec<Expr>),
    /// Steps from the root, or from the context.
    Path {
        absolute: bool,
        steps: Vec<PathStep>,
    },
    /// Predicates and steps on another expression's elements.
    Filter(Box<Expr>, Vec<Expr>, Vec<PathStep>),
}

/// A step of a path.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PathStep {
    pub(super) axis: &'static str,
    /// A name; `*` for all elements, `node()` for all nodes.
    pub(super) test: String,
    pub(super) predicates: Vec<Expr>,
}

const AXES: [&str; 12] = [
    "child",
    "descendant",
    "descendant-or-self",
    "parent",
    "ancestor",
    "ancestor-or-self",
    "self",
    "following-sibling",
    "preceding-sibling",
    "following",
    "preceding",
    "attribute",
];
/// Operators from the loosest to the tightest; longer ones first.
const LEVELS: [&[&str]; 7] = [
    &["or"],
    &["and"],
    &["!=", "="],
    &["<=", ">=", "<", ">"],
    &["+", "-"],
    &["*", "div", "mod"],
    &["|"],
];
/// Maximum expressions inside one another, and bytes of a text.
const MAX_DEPTH: usize = 40;
const MAX_LENGTH: usize = 10_000;

/// Reads an expression.
pub(super) fn parse(text: &str) -> Result<Expr, String> {
    if text.len() > MAX_LENGTH {
        return Err(format!("an XPath of {} bytes is too long", text.len()));
    }
    let mut parser = Parser { text, at: 0, depth: 0 };
    let expression = parser.level(0)?;
    match parser.rest() {
        "" => Ok(expression),
        rest => Err(format!("cannot read {:?}", prefix(rest, 80))),
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '$')
}

impl<'a> Parser<'a> {
    /// What is left, without leading spaces.
    fn rest(&mut self) -> &'a str {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
        &self.text[self.at..]
    }

    fn skip(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn expect(&mut self, token: &str) -> Result<(), String> {
        match self.skip(token) {
            true => Ok(()),
            false => Err(self.expected(&format!("{token:?}"))),
        }
    }

    fn expected(&mut self, what: &str) -> String {
        format!("expected {what} at {:?}", prefix(self.rest(), 40))
    }

    /// The name at this place, which stays unread.
    fn peek_name(&mut self) -> &'a str {
        let rest = self.rest();
        let starts = rest.starts_with(|c: char| c.is_alphabetic() || c == '_');
        let end = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
        if starts { &rest[..end] } else { "" }
    }

    /// A binary expression of this level or a tighter one.
    fn level(&mut self, level: usize) -> Result<Expr, String> {
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.level(level + 1)?;
        while let Some(operator) = self.operator(operators) {
            let right = self.level(level + 1)?;
            left = Expr::Binary(operator, Box::new(left), Box::new(right));
        }
        Ok(left)
    }

    fn operator(&mut self, known: &[&'static str]) -> Option<&'static str> {
        let name = self.peek_name();
        let found =
            known.iter().find(|operator| match operator.starts_with(char::is_alphabetic) {
                true => name == **operator,
                false => self.rest().starts_with(**operator),
            })?;
        self.at += found.len();
        Some(found)
    }

    fn unary(&mut self) -> Result<Expr, String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(format!("more than {MAX_DEPTH} expressions are inside one another"));
        }
        let expression = match self.skip("-") {
            true => Expr::Minus(Box::new(self.unary()?)),
            false => self.path()?,
        };
        self.depth -= 1;
        Ok(expression)
    }

    fn path(&mut self) -> Result<Expr, String> {
        let rest = self.rest();
        let name = self.peek_name();
        let calls = self.text[self.at + name.len()..].trim_start().starts_with('(');
        let primary = if rest.starts_with(['\'', '"']) {
            self.literal()?
        } else if rest.starts_with(|c: char| c.is_ascii_digit()) {
            self.number()?
        } else if self.skip("(") {
            let inner = self.level(0)?;
            self.expect(")")?;
            inner
        } else if calls && !name.is_empty() && !["node", "text", "comment"].contains(&name) {
            self.call(name)?
        } else {
            let absolute = rest.starts_with('/');
            let mut steps = Vec::new();
            if self.skip("//") {
                steps.push(anywhere());
            } else if self.skip("/") && self.rest().is_empty() {
                return Ok(Expr::Path { absolute, steps });
            }
            self.steps(&mut steps)?;
            return Ok(Expr::Path { absolute, steps });
        };
        let (predicates, mut steps) = (self.predicates()?, Vec::new());
        let more = if self.skip("//") {
            steps.push(anywhere());
            true
        } else {
            self.skip("/")
        };
        if more {
            self.steps(&mut steps)?;
        }
        match predicates.is_empty() && steps.is_empty() {
            true => Ok(primary),
            false => Ok(Expr::Filter(Box::new(primary), predicates, steps)),
        }
    }

    fn steps(&mut self, steps: &mut Vec<PathStep>) -> Result<(), String> {
        loop {
            steps.push(self.step()?);
            if self.skip("//") {
                steps.push(anywhere());
            } else if !self.skip("/") {
                return Ok(());
            }
        }
    }

    fn step(&mut self) -> Result<PathStep, String> {
        let plain = |axis| PathStep { axis, test: "node()".to_owned(), predicates: Vec::new() };
        if self.skip("..") {
            return Ok(plain("parent"));
        }
        if self.skip(".") {
            return Ok(plain("self"));
        }
        let mut axis = if self.skip("@") { "attribute" } else { "child" };
        let name = self.peek_name();
        if self.text[self.at + name.len()..].trim_start().starts_with("::") {
            let known = AXES.into_iter().find(|known| *known == name);
            axis = known.ok_or_else(|| format!("unknown axis {name:?}"))?;
            self.at += name.len();
            self.expect("::")?;
        }
        let test = if self.skip("*") {
            "*".to_owned()
        } else {
            let name = self.peek_name();
            if name.is_empty() {
                return Err(self.expected("a step"));
            }
            self.at += name.len();
            match self.skip("(") {
                false => name.to_owned(),
                true => {
                    self.expect(")")?;
                    format!("{name}()")
                }
            }
        };
        Ok(PathStep { axis, test, predicates: self.predicates()? })
    }

    fn predicates(&mut self) -> Result<Vec<Expr>, String> {
        let mut predicates = Vec::new();
        while self.skip("[") {
            predicates.push(self.level(0)?);
            self.expect("]")?;
        }
        Ok(predicates)
    }

    fn literal(&mut self) -> Result<Expr, String> {
        let rest = self.rest();
        let quote = &rest[..1];
        let Some(length) = rest[1..].find(quote) else {
            return Err("a text is not closed".to_owned());
        };
        self.at += length + 2;
        Ok(Expr::Text(rest[1..=length].to_owned()))
    }

    fn number(&mut self) -> Result<Expr, String> {
        let rest = self.rest();
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        self.at += end;
        rest[..end]
            .parse()
            .map(Expr::Number)
            .map_err(|_| format!("{:?} is not a number", &rest[..end]))
    }

    fn call(&mut self, name: &str) -> Result<Expr, String> {
        self.at += name.len();
        self.expect("(")?;
        let mut arguments = Vec::new();
        while !self.skip(")") {
            if !arguments.is_empty() {
                self.expect(",")?;
            }
            arguments.push(self.level(0)?);
        }
        Ok(Expr::Call(name.to_owned(), arguments))
    }
}

/// The step that `//` stands for.
fn anywhere() -> PathStep {
    PathStep { axis: "descendant-or-self", test: "node()".to_owned(), predicates: Vec::new() }
}

/// The first characters of a text, for an error.
fn prefix(text: &str, max: usize) -> String {
    text.chars().take(max).collect()
}
