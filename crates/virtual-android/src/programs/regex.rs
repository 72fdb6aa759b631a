//! The regular expressions of `grep`, `sed` and others: POSIX patterns, basic and extended,
//! matched by `regex-lite`.
//!
//! Start with [`Matcher`]. [`translate`] turns a pattern into the crate's syntax. Back references
//! are refused. The crate walks the line once, so the time is at most the product of line and
//! pattern, whatever the pattern.
//!
//! As in GNU and BSD libraries, `\|` alternates in basic syntax and `\d`, `\s`, `\w` are classes.
//! Letters are folded here, because `regex-lite` folds only ASCII.

use regex_lite::{Regex, RegexBuilder};
use std::fmt::Write;
use std::iter::Peekable;
use std::str::Chars;

/// Maximum bytes of a pattern.
const MAX_LENGTH: usize = 1024;

/// Maximum bytes of a compiled pattern: repetitions of repetitions could be huge, and lines may be
/// long.
const COMPILED: usize = 128 * 1024;

/// Maximum repetitions in `{…}` (`RE_DUP_MAX`).
const MAX_REPEATS: u32 = 255;

/// A compiled pattern.
pub(super) struct Matcher {
    regex: Regex,
    /// The same, anchored at both ends.
    whole: Regex,
    fold: bool,
}

impl Matcher {
    /// Compiles a pattern. `None` if it is invalid, unsupported (back references) or too long.
    pub(super) fn new(pattern: &str, fixed: bool, extended: bool, fold: bool) -> Option<Self> {
        if pattern.len() > MAX_LENGTH {
            return None;
        }
        let pattern = match fixed {
            true => {
                regex_lite::escape(&if fold { pattern.to_lowercase() } else { pattern.to_owned() })
            }
            false => translate(pattern, extended, fold)?,
        };
        let compile = |pattern: &str| {
            RegexBuilder::new(pattern).size_limit(COMPILED).dot_matches_new_line(true).build().ok()
        };
        Some(Self { regex: compile(&pattern)?, whole: compile(&format!("^(?:{pattern})$"))?, fold })
    }

    /// Whether the line contains a match, or (`whole`) is one.
    pub(super) fn matches(&self, line: &str, whole: bool) -> bool {
        let regex = if whole { &self.whole } else { &self.regex };
        match self.fold {
            true => regex.is_match(&line.to_lowercase()),
            false => regex.is_match(line),
        }
    }

    /// The first match from `start` on, as ranges: the whole, then each group that took part.
    pub(super) fn captures(&self, line: &str, start: usize) -> Option<Vec<Option<(usize, usize)>>> {
        match self.fold {
            true => self.places(&lower(line), start),
            false => self.places(line, start),
        }
    }

    fn places(&self, line: &str, start: usize) -> Option<Vec<Option<(usize, usize)>>> {
        let captures = self.regex.captures_at(line, start)?;
        Some(captures.iter().map(|group| group.map(|group| (group.start(), group.end()))).collect())
    }
}

/// A line in lower case with every character at its place, so that the places of a match are those
/// of the line.
fn lower(line: &str) -> String {
    let lower = |c: char| {
        let mut lower = c.to_lowercase();
        match (lower.next(), lower.next()) {
            (Some(one), None) if one.len_utf8() == c.len_utf8() => one,
            _ => c,
        }
    };
    line.chars().map(lower).collect()
}

/// What precedes a repetition mark.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    /// The start of a branch: the mark is an ordinary character.
    Nothing,
    Atom,
    /// `*`, `+` or `?`
    Mark(char),
    /// `{…}`
    Bounds,
}

/// The pattern in the syntax of `regex-lite`; `None` if it is invalid or unsupported.
fn translate(pattern: &str, extended: bool, fold: bool) -> Option<String> {
    let mut out = String::new();
    // Whether a branch starts here.
    let mut starts = true;
    let mut last = Last::Nothing;
    let mut chars = pattern.chars().peekable();
    while let Some(c) = chars.next() {
        let escaped = c == '\\';
        let c = if escaped { chars.next()? } else { c };
        // In basic syntax a backslash makes these special, in extended syntax it makes them
        // ordinary.
        let special = escaped != extended;
        let started = std::mem::take(&mut starts);
        let before = std::mem::replace(&mut last, Last::Atom);
        match c {
            '|' | '(' | ')' if special => {
                out.push(c);
                if c != ')' {
                    (starts, last) = (true, Last::Nothing);
                }
            }
            '{' if special && before == Last::Atom => {
                let (least, most) = bounds(&mut chars, extended)?;
                write!(out, "{{{least},{most}}}").ok()?;
                last = Last::Bounds;
            }
            '{' if special && before != Last::Nothing => return None,
            '{' | '}' if special && !extended => return None,
            '*' | '+' | '?' if before != Last::Nothing && !escaped && (extended || c == '*') => {
                let mark = match before {
                    Last::Bounds => return None,
                    // `a+?` is lazy in `regex-lite`, but `(a+)?` here.
                    Last::Mark(mark) => {
                        out.pop();
                        if mark == c { c } else { '*' }
                    }
                    _ => c,
                };
                out.push(mark);
                last = Last::Mark(mark);
            }
            'd' if escaped => out.push_str("[0-9]"),
            's' if escaped => out.push_str("[ \\t]"),
            'w' if escaped => out.push_str("[A-Za-z0-9_]"),
            c if escaped && c.is_ascii_alphanumeric() => return None,
            '.' if !escaped => out.push('.'),
            '^' if !escaped && started => {
                out.push('^');
                (starts, last) = (true, Last::Nothing);
            }
            '$' if !escaped && ends_branch(&chars, extended) => out.push('$'),
            '[' if !escaped => class(&mut chars, &mut out, fold)?,
            c => literal(&mut out, c, fold),
        }
    }
    Some(out)
}

fn literal(out: &mut String, c: char, fold: bool) {
    let mut bytes = [0; 4];
    match fold {
        true => c.to_lowercase().for_each(|c| {
            out.push_str(&regex_lite::escape(c.encode_utf8(&mut bytes)));
        }),
        false => out.push_str(&regex_lite::escape(c.encode_utf8(&mut bytes))),
    }
}

/// Whether the rest begins with the end of a branch.
fn ends_branch(rest: &Peekable<Chars<'_>>, extended: bool) -> bool {
    let mut rest = rest.clone();
    match rest.next() {
        None => true,
        Some('|' | ')') => extended,
        Some('\\') => !extended && matches!(rest.next(), Some('|' | ')')),
        Some(_) => false,
    }
}

/// The rest of `{2}`, `{2,}` or `{2,5}`; `most` is empty for no limit.
fn bounds(chars: &mut Peekable<Chars<'_>>, extended: bool) -> Option<(u32, String)> {
    let mut text = String::new();
    loop {
        match chars.next()? {
            '}' if extended => break,
            '\\' if !extended => {
                chars.next_if_eq(&'}')?;
                break;
            }
            c => text.push(c),
        }
    }
    let number = |text: &str| text.parse::<u32>().ok().filter(|number| *number <= MAX_REPEATS);
    let (least, most) = text.split_once(',').unwrap_or((&text, &text));
    let least = number(least)?;
    match most {
        "" => Some((least, String::new())),
        most => Some((least, number(most).filter(|most| *most >= least)?.to_string())),
    }
}

/// The rest of `[…]`, in which only `]`, `^`, `-` and named classes are special.
fn class(chars: &mut Peekable<Chars<'_>>, out: &mut String, fold: bool) -> Option<()> {
    out.push('[');
    if chars.next_if_eq(&'^').is_some() {
        out.push('^');
    }
    let mut empty = true;
    loop {
        let low = chars.next()?;
        if low == ']' && !empty {
            out.push(']');
            return Some(());
        }
        empty = false;
        if low == '[' && chars.next_if_eq(&':').is_some() {
            let name: String =
                std::iter::from_fn(|| chars.next_if(char::is_ascii_lowercase)).collect();
            (chars.next()? == ':' && chars.next()? == ']').then_some(())?;
            // Lines are lower case then.
            let name = if fold && name == "upper" { "lower" } else { &name };
            write!(out, "[:{name}:]").ok()?;
            continue;
        }
        let mut rest = chars.clone();
        let high = match (rest.next(), rest.next()) {
            (Some('-'), Some(high)) if high != ']' => {
                *chars = rest;
                high
            }
            _ => low,
        };
        member(out, low, high);
        if fold {
            let lower = |c: char| c.to_lowercase().next().unwrap_or(c);
            if lower(low) <= lower(high) {
                member(out, lower(low), lower(high));
            }
        }
    }
}

/// A range of a class; `low` and `high` may be the same.
fn member(out: &mut String, low: char, high: char) {
    // Numbers, so that no character is special.
    let _ = write!(out, "\\u{{{:x}}}-\\u{{{:x}}}", u32::from(low), u32::from(high));
}

#[cfg(test)]
mod tests {
    use super::Matcher;
    use proptest::prelude::*;

    fn found(pattern: &str, line: &str, extended: bool) -> bool {
        Matcher::new(pattern, false, extended, false).expect(pattern).matches(line, false)
    }

    #[test]
    fn patterns_match() {
        for (pattern, line) in [
            ("mCurrentFocus", "  mCurrentFocus=x"),
            ("^a.*c$", "abbc"),
            ("[0-9]x", "a7x"),
            ("a*", ""),
            ("a\\.b", "a.b"),
            ("x$", "axx"),
            // Special only in extended syntax.
            ("a+b?{1}(c|d)", "a+b?{1}(c|d)"),
            ("^*a$", "*a"),
            ("*a", "*a"),
            ("a^b$c", "a^b$c"),
            ("a\\|b$", "xb"),
            ("^\\(ab\\)\\{2\\}$", "abab"),
            ("^\\(a\\|^b\\)", "b"),
            ("[]x]", "]"),
            ("[a\\d]", "\\"),
            ("[x-]", "-"),
            ("[[:digit:]]", "7"),
            ("[&&~]", "~"),
            ("\\d\\s\\w", "1 _"),
        ] {
            assert!(found(pattern, line, false), "{pattern} {line}");
        }
        for (pattern, line) in
            [("^b", "ab"), ("a\\.b", "axb"), ("[^a]", "aaa"), ("a+", "a"), ("[^]x]", "]")]
        {
            assert!(!found(pattern, line, false), "{pattern} {line}");
        }
        for (pattern, line) in [
            ("b|ca+t?$", "xcaa"),
            ("^(ab|c){2,}$", "abcab"),
            ("a\\+\\(\\{", "a+({"),
            ("(^a|b$)", "xb"),
            ("+", "+"),
            ("a{2}", "aa"),
            ("{a}", "{a}"),
            ("^a+?$", ""),
            ("^a?+$", "aa"),
        ] {
            assert!(found(pattern, line, true), "{pattern} {line}");
        }
        assert!(!found("^(ab|c){2,}$", "abx", true) && !found("a{3}", "aa", true));
    }

    #[test]
    fn whole_lines_match() {
        let whole =
            |pattern, line| Matcher::new(pattern, false, true, false).unwrap().matches(line, true);
        assert!(whole("a|ab", "ab") && whole("^ab$", "ab") && !whole("a|b", "ab"));
        let fixed = Matcher::new("a.b*", true, false, false).unwrap();
        assert!(
            fixed.matches("xa.b*", false)
                && fixed.matches("a.b*", true)
                && !fixed.matches("axb", false)
        );
    }

    #[test]
    fn case_is_ignored_beyond_ascii() {
        for (pattern, line) in
            [("GRÜN", "grün"), ("grün", "GRÜN"), ("[A-C]", "b"), ("[[:upper:]]", "x"), ("\\w", "X")]
        {
            let matcher = Matcher::new(pattern, false, true, true).unwrap();
            assert!(matcher.matches(line, false), "{pattern} {line}");
        }
    }

    #[test]
    fn invalid_and_unsupported_patterns_are_refused() {
        for pattern in [
            "(a",
            "a)",
            "[a",
            "a{256}",
            "a{3,2}",
            "(a)\\1",
            "[z-a]",
            "a\\",
            "[[:no:]]",
            "((a{255}){255}){255}",
        ] {
            assert!(Matcher::new(pattern, false, true, false).is_none(), "{pattern}");
        }
        assert!(Matcher::new(&"a".repeat(1_025), true, false, false).is_none());
    }

    #[test]
    fn time_is_linear_in_the_line() {
        // Would take forever with backtracking.
        assert!(!found(
            &format!("^{}$", "a*".repeat(500)),
            &format!("{}b", "a".repeat(500)),
            false
        ));
    }

    proptest! {
        #[test]
        fn any_pattern_is_compiled_or_refused(pattern in ".{0,20}", line in ".{0,20}", extended: bool, fold: bool) {
            if let Some(matcher) = Matcher::new(&pattern, false, extended, fold) {
                matcher.matches(&line, false);
            }
        }

        #[test]
        fn fixed_pattern_matches_itself(pattern in ".{0,20}", fold: bool) {
            prop_assert!(Matcher::new(&pattern, true, false, fold).unwrap().matches(&pattern, true));
        }
    }
}
