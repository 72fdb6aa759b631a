//! Reads the locator strategy `-android uiautomator`: a Java expression such as `new
//! UiScrollable(new UiSelector().scrollable(true)).scrollIntoView(new UiSelector().text("About"))`.
//!
//! Only constructors and methods of `UiSelector` and `UiScrollable` are known; anything else is an
//! error that names it.

use super::selector::{Criterion, Selector, Step, flag_name, text_criterion};

/// What an expression asks for.
#[derive(Debug)]
pub(super) enum Expression {
    /// `new UiSelector()…`
    Selector(Selector),
    /// `new UiScrollable(…)…`
    Scroll(ScrollSearch),
}

/// A list that is scrolled, and what for.
#[derive(Debug)]
pub(super) struct ScrollSearch {
    pub(super) list: Selector,
    pub(super) is_horizontal: bool,
    pub(super) max_swipes: usize,
    /// What to scroll to; `None` finds the list itself.
    pub(super) target: Option<Selector>,
}

/// `UiScrollable`'s own limit.
const MAX_SWIPES: usize = 30;
/// Maximum selectors inside one another.
const MAX_DEPTH: usize = 16;

/// Reads an expression.
///
/// # Errors
/// What is not understood.
pub(super) fn parse(text: &str) -> Result<Expression, String> {
    let mut parser = Parser { rest: text.trim().trim_end_matches(';'), depth: 0 };
    let expression = parser.expression()?;
    match parser.rest.trim() {
        "" => Ok(expression),
        rest => Err(format!("cannot read {:?}", thumbwire_base::truncate(rest, 80))),
    }
}

struct Parser<'a> {
    rest: &'a str,
    depth: usize,
}

/// An argument of a method.
enum Argument {
    Text(String),
    Number(usize),
    Flag(bool),
    Selector(Selector),
}

impl<'a> Parser<'a> {
    fn expression(&mut self) -> Result<Expression, String> {
        self.skip("new");
        match self.name()? {
            "UiSelector" => {
                self.expect("(")?;
                self.expect(")")?;
                self.selector().map(Expression::Selector)
            }
            "UiScrollable" => {
                self.expect("(")?;
                let list = self.inner_selector()?;
                self.expect(")")?;
                self.scrollable(list).map(Expression::Scroll)
            }
            other => Err(format!("only UiSelector and UiScrollable are known, not {other}")),
        }
    }

    fn inner_selector(&mut self) -> Result<Selector, String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(format!("more than {MAX_DEPTH} selectors are inside one another"));
        }
        let Expression::Selector(selector) = self.expression()? else {
            return Err("expected a UiSelector".to_owned());
        };
        self.depth -= 1;
        Ok(selector)
    }

    fn selector(&mut self) -> Result<Selector, String> {
        let mut selector = Selector::default();
        while self.skip(".") {
            let name = self.name()?;
            let arguments = self.arguments()?;
            match (name, arguments.as_slice()) {
                ("index", [Argument::Number(at)]) => selector.criteria.push(Criterion::Index(*at)),
                ("instance", [Argument::Number(at)]) => selector.instance = Some(*at),
                ("childSelector", [Argument::Selector(next)]) => {
                    append(&mut selector, Step::Child, next.clone());
                }
                ("fromParent", [Argument::Selector(next)]) => {
                    append(&mut selector, Step::FromParent, next.clone());
                }
                (name, [Argument::Text(value)]) => {
                    let criterion = text_criterion(name, value).ok_or_else(|| unknown(name))?;
                    selector.criteria.push(criterion?);
                }
                (name, []) if flag_name(name).is_some() => {
                    return Err(format!("UiSelector.{name}() needs true or false"));
                }
                (name, [Argument::Flag(value)]) => {
                    let flag = flag_name(name).ok_or_else(|| unknown(name))?;
                    selector.criteria.push(Criterion::Flag(flag, *value));
                }
                (name, _) => return Err(unknown(name)),
            }
        }
        Ok(selector)
    }

    fn scrollable(&mut self, list: Selector) -> Result<ScrollSearch, String> {
        let mut search =
            ScrollSearch { list, is_horizontal: false, max_swipes: MAX_SWIPES, target: None };
        while self.skip(".") {
            let name = self.name()?;
            let arguments = self.arguments()?;
            let text = |name: &str, value: &str| -> Result<Selector, String> {
                let criterion = text_criterion(name, value).ok_or_else(|| unknown(name))??;
                Ok(Selector { criteria: vec![criterion], ..Selector::default() })
            };
            match (name, arguments.as_slice()) {
                ("setAsHorizontalList", []) => search.is_horizontal = true,
                ("setAsVerticalList", []) => search.is_horizontal = false,
                ("setMaxSearchSwipes", [Argument::Number(swipes)]) => {
                    search.max_swipes = (*swipes).min(MAX_SWIPES);
                }
                ("scrollIntoView", [Argument::Selector(target)]) => {
                    search.target = Some(target.clone());
                }
                ("scrollTextIntoView", [Argument::Text(value)]) => {
                    search.target = Some(text("text", value)?);
                }
                ("scrollDescriptionIntoView", [Argument::Text(value)]) => {
                    search.target = Some(text("description", value)?);
                }
                ("getChildByText", [Argument::Selector(child), Argument::Text(value), ..]) => {
                    let mut target = child.clone();
                    target.criteria.extend(text("text", value)?.criteria);
                    search.target = Some(target);
                }
                (name, _) => {
                    return Err(format!(
                        "UiScrollable.{name} with these arguments is not implemented here"
                    ));
                }
            }
        }
        Ok(search)
    }

    fn arguments(&mut self) -> Result<Vec<Argument>, String> {
        self.expect("(")?;
        let mut arguments = Vec::new();
        while !self.skip(")") {
            if !arguments.is_empty() {
                self.expect(",")?;
            }
            arguments.push(self.argument()?);
        }
        Ok(arguments)
    }

    fn argument(&mut self) -> Result<Argument, String> {
        self.rest = self.rest.trim_start();
        if self.rest.starts_with('"') {
            return self.string().map(Argument::Text);
        }
        let digits =
            self.rest.len() - self.rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        if digits > 0 {
            let (number, rest) = self.rest.split_at(digits);
            self.rest = rest;
            let number = number.parse().map_err(|_| format!("{number} is too large"))?;
            return Ok(Argument::Number(number));
        }
        for (word, value) in [("true", true), ("false", false)] {
            if self.skip(word) {
                return Ok(Argument::Flag(value));
            }
        }
        self.inner_selector().map(Argument::Selector)
    }

    /// A string literal of Java.
    fn string(&mut self) -> Result<String, String> {
        let mut text = String::new();
        let mut chars = self.rest.char_indices().skip(1);
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.rest = &self.rest[at + 1..];
                    return Ok(text);
                }
                '\\' => match chars.next().map(|(_, c)| c) {
                    Some('n') => text.push('\n'),
                    Some('t') => text.push('\t'),
                    Some('r') => text.push('\r'),
                    Some('u') => {
                        let digits: String = chars.by_ref().take(4).map(|(_, c)| c).collect();
                        let code = u32::from_str_radix(&digits, 16).ok();
                        let c = code.and_then(char::from_u32);
                        text.push(c.ok_or_else(|| format!("\\u{digits} is not a character"))?);
                    }
                    Some(c @ ('"' | '\\' | '\'')) => text.push(c),
                    _ => return Err("a string has an unknown escape".to_owned()),
                },
                c => text.push(c),
            }
        }
        Err("a string is not closed".to_owned())
    }

    fn name(&mut self) -> Result<&'a str, String> {
        let rest = self.rest.trim_start();
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        let (name, after) = rest.split_at(end);
        if name.is_empty() {
            return Err(format!("expected a name at {:?}", thumbwire_base::truncate(rest, 40)));
        }
        self.rest = after;
        Ok(name)
    }

    fn skip(&mut self, token: &str) -> bool {
        match self.rest.trim_start().strip_prefix(token) {
            // `new` is a word of its own.
            Some(rest) if token != "new" || rest.starts_with(char::is_whitespace) => {
                self.rest = rest;
                true
            }
            _ => false,
        }
    }

    fn expect(&mut self, token: &str) -> Result<(), String> {
        let rest = self.rest.trim_start();
        let found = || format!("expected {token:?} at {:?}", thumbwire_base::truncate(rest, 40));
        self.skip(token).then_some(()).ok_or_else(found)
    }
}

/// Puts a selector behind the last one of a chain.
fn append(selector: &mut Selector, step: Step, next: Selector) {
    match &mut selector.next {
        Some((_, inner)) => append(inner, step, next),
        none => *none = Some((step, Box::new(next))),
    }
}

fn unknown(name: &str) -> String {
    format!("UiSelector.{name} with these arguments is not implemented here")
}

#[cfg(test)]
mod tests {
    use super::{Expression, parse};

    #[test]
    fn scrollable_with_target_is_read() {
        let text = r#"new UiScrollable(new UiSelector().scrollable(true).instance(0)).setMaxSearchSwipes(5)
            .scrollIntoView(new UiSelector().textContains("a \"b\" \u0063").childSelector(UiSelector().index(2)));"#;
        let Ok(Expression::Scroll(search)) = parse(text) else { panic!("{:?}", parse(text)) };
        assert_eq!((search.max_swipes, search.list.instance), (5, Some(0)));
        let target = format!("{:?}", search.target.expect("it has one"));
        assert!(target.contains(r#"Contains("a \"b\" c")"#), "{target}");
        assert!(target.contains("Index(2)"), "{target}");
    }

    #[test]
    fn what_is_not_understood_is_named() {
        for (text, part) in [
            ("UiObject()", "not UiObject"),
            ("new UiSelector().color(\"red\")", "UiSelector.color"),
            ("new UiSelector().text(\"a", "not closed"),
            ("new UiSelector().text(\"a\").click()", "UiSelector.click"),
            ("new UiSelector().checked()", "true or false"),
            ("new UiSelector() x", "\"x\""),
            ("new UiSelector().textMatches(\"(\")", "pattern"),
            ("new UiScrollable(new UiSelector()).scrollToEnd(3)", "UiScrollable.scrollToEnd"),
            ("", "expected a name"),
        ] {
            let error = parse(text).expect_err(text);
            assert!(error.contains(part), "{text}: {error}");
        }
        let deep = "new UiSelector().childSelector(".repeat(40);
        assert!(parse(&deep).expect_err("it is deep").contains("inside one another"));
    }
}
