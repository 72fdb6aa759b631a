//! Evaluates the small expressions in `${…}`.
//!
//! Start with [`fill`], which replaces all of them in a text, and [`holds`], for conditions.
//! Maestro runs JavaScript there; what a flow mostly needs of it is a parameter, a default
//! (`${USER || "guest"}`) or a comparison. That much is evaluated when the file is read. Anything
//! else is refused with what to do instead.

use std::cmp::Ordering;
use std::iter::Peekable;
use std::str::CharIndices;

use thumbwire_device::Platform;

use super::context::Parameters;
use crate::element_pattern::COPIED_TEXT;

/// How deep parentheses may be nested.
const MAX_DEPTH: usize = 32;

/// What refusals recommend.
const INSTEAD: &str = "JavaScript is not run; compute the value outside of the flow and pass it with --param NAME=VALUE";

/// Replaces each `${…}` in a text. `\${` stands for `${`.
///
/// # Errors
/// An unknown parameter, or an expression that is not supported.
pub(super) fn fill(text: &str, parameters: &Parameters) -> Result<String, String> {
    let on = |platform| fill_on(text, parameters, platform);
    let android = on(Platform::Android)?;
    if !text.contains("platform") || on(Platform::Ios)? == android {
        return Ok(android);
    }
    Err("`maestro.platform` works only in conditions (`when`, `while`, `assertTrue`); use `runFlow` with `when: platform`"
        .into())
}

fn fill_on(text: &str, parameters: &Parameters, platform: Platform) -> Result<String, String> {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        let (before, after) = rest.split_at(at);
        if let Some(escaped) = before.strip_suffix('\\') {
            filled.push_str(escaped);
            filled.push_str("${");
            rest = &after[2..];
            continue;
        }
        filled.push_str(before);
        let (expression, behind) = split_expression(&after[2..])?;
        if !expression.trim().is_empty() {
            match evaluate(expression, parameters, platform)? {
                Evaluated::Undefined => {
                    return Err(format!(
                        "unknown parameter in `${{{expression}}}`: define it in `env` or with --param"
                    ));
                }
                value => filled.push_str(&value.text()),
            }
        }
        rest = behind;
        if filled.len() > crate::yaml::MAX_BYTES {
            return Err("the text is too long after replacing parameters".into());
        }
    }
    filled.push_str(rest);
    Ok(filled)
}

/// Whether a condition such as `${ROLE == "admin"}` is true on this platform. Without `${…}` the
/// text itself counts.
///
/// # Errors
/// An expression that is not supported.
pub(super) fn holds(
    condition: &str,
    parameters: &Parameters,
    platform: Platform,
) -> Result<bool, String> {
    let whole = condition.trim();
    let inner = whole.strip_prefix("${").map(split_expression).transpose()?;
    let value = match inner {
        Some((expression, "")) if expression.trim().is_empty() => Evaluated::Undefined,
        Some((expression, "")) => evaluate(expression, parameters, platform)?,
        _ => Evaluated::Text(fill_on(whole, parameters, platform)?),
    };
    // Maestro judges the text that an expression gives.
    let text = value.text();
    let is_false = text.trim().is_empty()
        || text.eq_ignore_ascii_case("false")
        || ["undefined", "null"].contains(&text.as_str())
        || text.parse::<f64>().is_ok_and(|number| number == 0.0);
    Ok(!is_false)
}

/// The expression up to its closing brace, and what follows it.
fn split_expression(text: &str) -> Result<(&str, &str), String> {
    let (mut depth, mut quote) = (0_usize, None);
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'' | '`') => quote = Some(c),
            (None, '{') => depth += 1,
            (None, '}') if depth == 0 => return Ok((&text[..at], &text[at + 1..])),
            (None, '}') => depth -= 1,
            (None, _) => {}
        }
    }
    Err("`${` has no closing `}`; write `\\${` for a literal `${`".into())
}

/// The value of an expression.
#[derive(Debug, Clone, PartialEq)]
enum Evaluated {
    Undefined,
    Null,
    Boolean(bool),
    Number(f64),
    Text(String),
}

impl Evaluated {
    fn is_true(&self) -> bool {
        match self {
            Self::Undefined | Self::Null => false,
            Self::Boolean(is) => *is,
            Self::Number(number) => *number != 0.0 && !number.is_nan(),
            Self::Text(text) => !text.is_empty(),
        }
    }

    fn text(&self) -> String {
        match self {
            Self::Undefined => "undefined".into(),
            Self::Null => "null".into(),
            Self::Boolean(is) => is.to_string(),
            Self::Number(number) => number.to_string(),
            Self::Text(text) => text.clone(),
        }
    }

    fn number(&self) -> f64 {
        match self {
            Self::Undefined => f64::NAN,
            Self::Null => 0.0,
            Self::Boolean(is) => f64::from(u8::from(*is)),
            Self::Number(number) => *number,
            Self::Text(text) if text.trim().is_empty() => 0.0,
            Self::Text(text) => text.trim().parse().unwrap_or(f64::NAN),
        }
    }

    /// Two texts are compared as texts, anything else as numbers. `None` if one is not a number.
    fn order(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Text(a), Self::Text(b)) => Some(a.encode_utf16().cmp(b.encode_utf16())),
            (a, b) => a.number().partial_cmp(&b.number()),
        }
    }

    fn equals(&self, other: &Self, strictly: bool) -> bool {
        match (self, other) {
            (Self::Text(a), Self::Text(b)) => a == b,
            (Self::Undefined | Self::Null, Self::Undefined | Self::Null) => {
                !strictly || self == other
            }
            (Self::Undefined | Self::Null, _) | (_, Self::Undefined | Self::Null) => false,
            (a, b) if strictly => a == b,
            (a, b) => a.number() == b.number(),
        }
    }
}

fn evaluate(
    expression: &str,
    parameters: &Parameters,
    platform: Platform,
) -> Result<Evaluated, String> {
    let unsupported = |what: &str| format!("`${{{expression}}}`: {what}; {INSTEAD}");
    let tokens = tokens(expression).map_err(|what| unsupported(&what))?;
    let mut evaluator = Evaluator { tokens: &tokens, parameters, platform, depth: 0 };
    let value = evaluator.choice().map_err(|what| unsupported(&what))?;
    match evaluator.tokens {
        [] => Ok(value),
        [token, ..] => Err(unsupported(&format!("{token} is not supported here"))),
    }
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Name(String),
    Number(f64),
    Text(String),
    Sign(&'static str),
}

impl std::fmt::Display for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Name(name) => write!(f, "`{name}`"),
            Self::Number(number) => write!(f, "`{number}`"),
            Self::Text(text) => write!(f, "{text:?}"),
            Self::Sign(sign) => write!(f, "`{sign}`"),
        }
    }
}

/// Longer ones first.
const SIGNS: [&str; 19] = [
    "===", "!==", "==", "!=", "<=", ">=", "&&", "||", "??", "<", ">", "!", "+", "-", "(", ")", "?",
    ":", "*",
];

fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut chars = text.char_indices().peekable();
    while let Some(&(at, c)) = chars.peek() {
        if c.is_whitespace() {
            chars.next();
        } else if matches!(c, '"' | '\'' | '`') {
            chars.next();
            tokens.push(Token::Text(quoted(&mut chars, c)?));
        } else if c.is_ascii_digit() {
            let end = text[at..].find(|c: char| !c.is_ascii_digit() && c != '.');
            let digits = end.map_or(&text[at..], |end| &text[at..at + end]);
            let number = digits.parse().map_err(|_| format!("`{digits}` is not a number"))?;
            tokens.push(Token::Number(number));
            chars.by_ref().take(digits.len()).for_each(drop);
        } else if c.is_alphabetic() || c == '_' || c == '$' {
            let part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '.');
            let end = text[at..].find(|c| !part(c));
            let name = end.map_or(&text[at..], |end| &text[at..at + end]);
            tokens.push(Token::Name(name.to_owned()));
            chars.by_ref().take(name.chars().count()).for_each(drop);
        } else {
            let sign = SIGNS.into_iter().find(|sign| text[at..].starts_with(sign));
            let sign = sign.ok_or_else(|| format!("`{c}` is not supported"))?;
            tokens.push(Token::Sign(sign));
            chars.by_ref().take(sign.len()).for_each(drop);
        }
    }
    Ok(tokens)
}

fn quoted(chars: &mut Peekable<CharIndices<'_>>, quote: char) -> Result<String, String> {
    let mut text = String::new();
    while let Some((_, c)) = chars.next() {
        match c {
            c if c == quote => return Ok(text),
            '$' if quote == '`' => return Err("a template (`…${…}`) is not supported".into()),
            '\\' => match chars.next() {
                Some((_, 'n')) => text.push('\n'),
                Some((_, 't')) => text.push('\t'),
                Some((_, c @ ('\\' | '"' | '\'' | '`'))) => text.push(c),
                _ => return Err("this `\\` is not supported".into()),
            },
            c => text.push(c),
        }
    }
    Err(format!("a text has no closing {quote}"))
}

struct Evaluator<'a> {
    tokens: &'a [Token],
    parameters: &'a Parameters,
    platform: Platform,
    depth: usize,
}

impl Evaluator<'_> {
    fn take(&mut self, signs: &[&'static str]) -> Option<&'static str> {
        match self.tokens {
            [Token::Sign(sign), rest @ ..] if signs.contains(sign) => {
                self.tokens = rest;
                Some(sign)
            }
            _ => None,
        }
    }

    /// `condition ? one : other`.
    fn choice(&mut self) -> Result<Evaluated, String> {
        let condition = self.either()?;
        if self.take(&["?"]).is_none() {
            return Ok(condition);
        }
        let one = self.nested()?;
        self.take(&[":"]).ok_or("`?` needs a `:`")?;
        let other = self.nested()?;
        Ok(if condition.is_true() { one } else { other })
    }

    fn nested(&mut self) -> Result<Evaluated, String> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err("it is nested too deep".into());
        }
        let value = self.choice();
        self.depth -= 1;
        value
    }

    fn either(&mut self) -> Result<Evaluated, String> {
        let mut value = self.both()?;
        while let Some(sign) = self.take(&["||", "??"]) {
            let other = self.both()?;
            let keep = match sign {
                "||" => value.is_true(),
                _ => !matches!(value, Evaluated::Undefined | Evaluated::Null),
            };
            value = if keep { value } else { other };
        }
        Ok(value)
    }

    fn both(&mut self) -> Result<Evaluated, String> {
        let mut value = self.comparison()?;
        while self.take(&["&&"]).is_some() {
            let other = self.comparison()?;
            value = if value.is_true() { other } else { value };
        }
        Ok(value)
    }

    fn comparison(&mut self) -> Result<Evaluated, String> {
        let mut value = self.sum()?;
        while let Some(sign) = self.take(&["===", "!==", "==", "!=", "<=", ">=", "<", ">"]) {
            let other = self.sum()?;
            let order = value.order(&other);
            value = Evaluated::Boolean(match sign {
                "===" => value.equals(&other, true),
                "!==" => !value.equals(&other, true),
                "==" => value.equals(&other, false),
                "!=" => !value.equals(&other, false),
                "<=" => order.is_some_and(Ordering::is_le),
                ">=" => order.is_some_and(Ordering::is_ge),
                "<" => order.is_some_and(Ordering::is_lt),
                _ => order.is_some_and(Ordering::is_gt),
            });
        }
        Ok(value)
    }

    fn sum(&mut self) -> Result<Evaluated, String> {
        let mut value = self.single()?;
        while let Some(sign) = self.take(&["+", "-"]) {
            let other = self.single()?;
            let joins = [&value, &other].iter().any(|one| matches!(one, Evaluated::Text(_)));
            value = match sign {
                "+" if joins => Evaluated::Text(value.text() + &other.text()),
                "+" => Evaluated::Number(value.number() + other.number()),
                _ => Evaluated::Number(value.number() - other.number()),
            };
        }
        Ok(value)
    }

    fn single(&mut self) -> Result<Evaluated, String> {
        if self.take(&["!"]).is_some() {
            self.depth += 1;
            if self.depth > MAX_DEPTH {
                return Err("it is nested too deep".into());
            }
            let value = self.single();
            self.depth -= 1;
            return Ok(Evaluated::Boolean(!value?.is_true()));
        }
        if self.take(&["("]).is_some() {
            let value = self.nested()?;
            self.take(&[")"]).ok_or("`(` needs a `)`")?;
            return Ok(value);
        }
        let [token, rest @ ..] = self.tokens else { return Err("it ends too early".into()) };
        let value = match token {
            Token::Number(number) => Evaluated::Number(*number),
            Token::Text(text) => Evaluated::Text(text.clone()),
            Token::Name(name) => self.named(name)?,
            Token::Sign(sign) => return Err(format!("`{sign}` is not supported here")),
        };
        self.tokens = rest;
        Ok(value)
    }

    fn named(&self, name: &str) -> Result<Evaluated, String> {
        Ok(match name {
            "true" => Evaluated::Boolean(true),
            "false" => Evaluated::Boolean(false),
            "null" => Evaluated::Null,
            "undefined" => Evaluated::Undefined,
            "maestro.copiedText" => Evaluated::Text(COPIED_TEXT.into()),
            "maestro.platform" => Evaluated::Text(self.platform.name().into()),
            name => match self.parameters.get(name) {
                Some(value) => Evaluated::Text(value.clone()),
                None if name.contains('.') => return Err(format!("`{name}` is not known")),
                None => Evaluated::Undefined,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known() -> Parameters {
        let known = [("USER", "Ada"), ("N", "3"), ("EMPTY", ""), ("ON", "true")];
        known.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
    }

    #[test]
    fn texts_are_filled_with_parameters_and_small_expressions() {
        for (text, expected) in [
            ("Hello ${USER}, ${ USER }!", "Hello Ada, Ada!"),
            ("${OTHER || 'guest'}", "guest"),
            ("${USER || \"guest\"}", "Ada"),
            ("${EMPTY ?? 'x'}", ""),
            ("${'user' + N + '@example.com'}", "user3@example.com"),
            ("${N == 3 ? 'three' : 'other'}", "three"),
            ("${1 + 2}", "3"),
            ("${}", ""),
            ("\\${USER} costs 5 $", "${USER} costs 5 $"),
            ("a } b ${'}'}", "a } b }"),
        ] {
            assert_eq!(fill(text, &known()).as_deref(), Ok(expected), "{text}");
        }
        let copied = fill("${maestro.copiedText}!", &known()).unwrap();
        assert_eq!(copied, format!("{COPIED_TEXT}!"));
    }

    #[test]
    fn what_needs_javascript_is_refused() {
        for (text, part) in [
            ("${OTHER}", "unknown parameter"),
            ("${output.id}", "`output.id` is not known"),
            ("${Math.random()}", "`Math.random` is not known"),
            ("${USER", "has no closing `}`"),
            ("${USER.length}", "JavaScript is not run"),
            ("${[1, 2]}", "`[` is not supported"),
            ("${'a}", "no closing"),
            ("${maestro.platform}", "works only in conditions"),
            ("${`Hi ${USER}`}", "template"),
        ] {
            let refused = fill(text, &known()).unwrap_err();
            assert!(refused.contains(part), "{text}: {refused}");
        }
        let deep = format!("${{{}1{}}}", "(".repeat(100), ")".repeat(100));
        assert!(fill(&deep, &known()).unwrap_err().contains("nested too deep"));
        let deep = format!("${{{}1}}", "!".repeat(10_000));
        assert!(fill(&deep, &known()).unwrap_err().contains("nested too deep"));
    }

    #[test]
    fn conditions_are_true_or_false() {
        for (condition, expected) in [
            ("${USER == 'Ada'}", true),
            ("${USER === 'Bo' || N > 2}", true),
            ("${N < 3 && ON}", false),
            ("${ON == 'true'}", true),
            ("${ON == true}", false),
            ("${!OTHER}", true),
            ("${OTHER}", false),
            ("${OTHER == null}", true),
            ("${EMPTY}", false),
            ("true", true),
            ("False", false),
            ("${0}", false),
            ("${(N == 3) && !(USER != 'Ada')}", true),
            ("${maestro.platform == 'android'}", true),
            ("${'b' > 'a'}", true),
            ("${'10' < '9'}", true),
            ("${10 < '9'}", false),
            ("${N <= '3'}", true),
            ("${OTHER < 1}", false),
        ] {
            let holds = holds(condition, &known(), Platform::Android);
            assert_eq!(holds, Ok(expected), "{condition}");
        }
        assert_eq!(holds("${maestro.platform == 'android'}", &known(), Platform::Ios), Ok(false));
        assert!(holds("${output.done}", &known(), Platform::Ios).is_err());
    }
}
