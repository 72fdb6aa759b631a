//! `expr`, with toybox's texts.

use super::Invocation;
use super::options::{Failure, Outcome};
use super::regex::Matcher;

/// Maximum nesting of parentheses and operators.
const MAX_DEPTH: u32 = 64;

/// Operators by precedence, the loosest first.
const LEVELS: [&[&str]; 6] = [
    &["|"],
    &["&"],
    &["=", "==", "!=", ">", ">=", "<", "<="],
    &["+", "-"],
    &["*", "/", "%"],
    &[":"],
];

/// `expr EXPRESSION…`: status 1 if its value is 0 or empty.
pub(super) async fn expr(call: &Invocation) -> Outcome {
    let mut expression = Expression { words: &call.args, depth: 0 };
    let value = expression.value(0)?;
    if let Some(word) = expression.words.first() {
        return Err(Failure::new(format!("Unexpected extra input '{word}'\n")));
    }
    call.out(format!("{value}\n")).await?;
    Ok(i32::from(is_false(&value)))
}

/// The number that a text is, as a C `long long`; an empty one is 0.
fn integer(text: &str) -> Option<i64> {
    if text.is_empty() { Some(0) } else { text.trim_start().parse().ok() }
}

fn is_false(text: &str) -> bool {
    integer(text) == Some(0)
}

/// The words that are left.
struct Expression<'a> {
    words: &'a [String],
    depth: u32,
}

impl Expression<'_> {
    fn next(&mut self) -> Option<&str> {
        let (first, rest) = self.words.split_first()?;
        self.words = rest;
        Some(first)
    }

    fn value(&mut self, level: usize) -> Result<String, Failure> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Failure::new("nested too deeply"));
        }
        let mut left = match self.next() {
            None => return Err(Failure::new("Unexpected end of input")),
            Some("(") => {
                let inner = self.value(0)?;
                match self.next() {
                    Some(")") => inner,
                    Some(word) => return Err(Failure::new(format!("Expected ) but got {word}"))),
                    None => return Err(Failure::new("Expected )")),
                }
            }
            Some(word) => word.to_owned(),
        };
        while let Some(word) = self.words.first() {
            let operator = word.as_str();
            let of = LEVELS.iter().position(|operators| operators.contains(&operator));
            let Some(of) = of.filter(|of| *of >= level) else { break };
            self.words = &self.words[1..];
            let right = self.value(of + 1)?;
            left = apply(operator, left, right)?;
        }
        self.depth -= 1;
        Ok(left)
    }
}

fn apply(operator: &str, left: String, right: String) -> Result<String, Failure> {
    let truth = |holds: bool| i32::from(holds).to_string();
    Ok(match operator {
        "|" => {
            if is_false(&left) {
                right
            } else {
                left
            }
        }
        "&" if is_false(&left) || is_false(&right) => "0".to_owned(),
        "&" => left,
        ":" => return matched(&left, &right),
        "+" | "-" | "*" | "/" | "%" => {
            let (Some(a), Some(b)) = (integer(&left), integer(&right)) else {
                return Err(Failure::new("non-integer argument"));
            };
            let result = match operator {
                "+" => a.wrapping_add(b),
                "-" => a.wrapping_sub(b),
                "*" => a.wrapping_mul(b),
                _ if b == 0 => return Err(Failure::new("division by zero")),
                "/" => a.wrapping_div(b),
                _ => a.wrapping_rem(b),
            };
            result.to_string()
        }
        comparison => {
            let order = match (integer(&left), integer(&right)) {
                (Some(a), Some(b)) => a.cmp(&b),
                _ => left.cmp(&right),
            };
            truth(match comparison {
                "!=" => order.is_ne(),
                ">" => order.is_gt(),
                ">=" => order.is_ge(),
                "<" => order.is_lt(),
                "<=" => order.is_le(),
                _ => order.is_eq(),
            })
        }
    })
}

/// What the first group matches at the start, or without a group how many bytes the pattern does.
fn matched(text: &str, pattern: &str) -> Result<String, Failure> {
    let bad = || Failure::new(format!("bad regex '{pattern}': Invalid regular expression"));
    let matcher = Matcher::new(pattern, false, false, false).ok_or_else(bad)?;
    let places = matcher
        .captures(text, 0)
        .filter(|places| places.first().copied().flatten().is_some_and(|(start, _)| start == 0));
    let grouped = pattern.contains("\\(");
    Ok(match places.as_deref() {
        Some([_, group, ..]) if grouped => {
            group.map_or_else(String::new, |(start, end)| text[start..end].to_owned())
        }
        Some([Some((_, end)), ..]) if !grouped => end.to_string(),
        _ if grouped => String::new(),
        _ => "0".to_owned(),
    })
}
