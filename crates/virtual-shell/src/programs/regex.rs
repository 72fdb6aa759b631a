//! The regular expressions of `grep`, `sed` and others: POSIX patterns, basic and extended.
//!
//! Start with [`Matcher`]. A pattern is parsed to a [`Node`], compiled to a list of [`Step`]s, and
//! run over the line once with all its threads side by side (Pike's machine), so the time is at
//! most the product of line and pattern. Of the matches that start first the longest one counts, as
//! POSIX wants; the crates of Rust return the first alternative that matches.
//!
//! As in GNU and BSD libraries, `\|` alternates in basic syntax, `\d`, `\s`, `\w` are classes, and
//! `\<`, `\>` and `\b` are the ends of words. Back references are refused.

use crate::sh::glob::named_class;
use std::iter::Peekable;
use std::rc::Rc;
use std::str::Chars;

/// Maximum bytes of a pattern.
const MAX_LENGTH: usize = 1024;

/// Maximum steps of a compiled pattern: repetitions of repetitions could be huge, and lines may be
/// long.
const MAX_STEPS: usize = 8_192;

/// Maximum repetitions in `{…}` (`RE_DUP_MAX`).
const MAX_REPEATS: u32 = 255;

/// A place in a line: first byte, and the one after the last.
pub type Place = (usize, usize);

/// A compiled pattern.
pub struct Matcher {
    steps: Vec<Step>,
    /// Groups and the whole.
    groups: usize,
    /// The text, if the pattern is nothing else.
    literal: Option<String>,
    fold: bool,
}

/// A step of the machine.
#[derive(Debug)]
enum Step {
    Char(char),
    Any,
    Class(Class),
    Check(Check),
    /// Goes on at both, the first by preference.
    Split(usize, usize),
    Jump(usize),
    /// Remembers the position.
    Save(usize),
    Match,
}

/// What must hold at a position.
#[derive(Clone, Copy, Debug)]
enum Check {
    Start,
    End,
    WordStart,
    WordEnd,
    WordEdge,
}

/// `[…]`
#[derive(Clone, Debug)]
struct Class {
    negated: bool,
    ranges: Vec<(char, char)>,
    named: Vec<fn(char) -> bool>,
}

/// A parsed pattern.
#[derive(Debug)]
enum Node {
    Char(char),
    Any,
    Class(Class),
    Check(Check),
    Group(Box<Node>, usize),
    All(Vec<Node>),
    OneOf(Vec<Node>),
    Repeat(Box<Node>, u32, Option<u32>),
}

impl Matcher {
    /// Compiles a pattern. `None` if it is invalid, unsupported (back references) or too long.
    pub fn new(pattern: &str, fixed: bool, extended: bool, fold: bool) -> Option<Self> {
        if pattern.len() > MAX_LENGTH {
            return None;
        }
        let folded = |c: char| if fold { lower(c) } else { c };
        let mut groups = 1;
        let node = match fixed {
            true => Node::All(pattern.chars().map(|c| Node::Char(folded(c))).collect()),
            false => {
                let chars = pattern.chars().peekable();
                let mut parser = Parser { chars, extended, fold, groups, open: 0 };
                let node = parser.alternatives()?;
                groups = parser.groups;
                node
            }
        };
        let literal = match &node {
            Node::All(parts) => parts
                .iter()
                .map(|part| if let Node::Char(c) = part { Some(*c) } else { None })
                .collect(),
            _ => None,
        };
        let mut steps = vec![Step::Save(0)];
        emit(&node, &mut steps)?;
        steps.extend([Step::Save(1), Step::Match]);
        Some(Self { steps, groups, literal, fold })
    }

    /// Whether the line contains a match, or (`whole`) is one.
    pub fn matches(&self, line: &str, whole: bool) -> bool {
        let found = self.find(line, 0);
        if whole { found == Some((0, line.len())) } else { found.is_some() }
    }

    /// The longest of the first matches from `start` on.
    pub fn find(&self, line: &str, start: usize) -> Option<Place> {
        let folded;
        let line = if self.fold {
            folded = line.chars().map(lower).collect::<String>();
            &folded
        } else {
            line
        };
        if let Some(literal) = &self.literal {
            let at = start + line.get(start..)?.find(literal)?;
            return Some((at, at + literal.len()));
        }
        let places = self.run(line, start, 1)?;
        places.first().copied().flatten()
    }

    /// The same, as places: the whole, then each group that took part.
    pub fn captures(&self, line: &str, start: usize) -> Option<Vec<Option<Place>>> {
        match self.fold {
            true => self.run(&line.chars().map(lower).collect::<String>(), start, self.groups),
            false => self.run(line, start, self.groups),
        }
    }

    /// Runs all threads over the line, the preferred ones first.
    fn run(&self, line: &str, start: usize, groups: usize) -> Option<Vec<Option<Place>>> {
        let mut best: Option<Rc<Vec<Option<usize>>>> = None;
        let mut threads = Threads::new(self.steps.len());
        let mut next = Threads::new(self.steps.len());
        let mut at = start;
        loop {
            let around = Around {
                at,
                before: line[..at].chars().next_back(),
                after: line[at..].chars().next(),
            };
            if best.is_none() {
                self.follow(&mut threads, 0, Rc::new(vec![None; groups * 2]), around);
            }
            for (step, saved) in std::mem::take(&mut threads.list) {
                let goes_on = match (&self.steps[step], around.after) {
                    (Step::Match, _) => {
                        let key = |saved: &[Option<usize>]| (std::cmp::Reverse(saved[0]), saved[1]);
                        if best.as_ref().is_none_or(|best| key(&saved) > key(best)) {
                            best = Some(saved);
                        }
                        continue;
                    }
                    (Step::Char(wanted), Some(c)) => *wanted == c,
                    (Step::Any, Some(_)) => true,
                    (Step::Class(class), Some(c)) => class.has(c),
                    _ => false,
                };
                if let Some(c) = around.after.filter(|_| goes_on) {
                    let at = at + c.len_utf8();
                    let after = line[at..].chars().next();
                    self.follow(&mut next, step + 1, saved, Around { at, before: Some(c), after });
                }
            }
            threads.clear();
            std::mem::swap(&mut threads, &mut next);
            let Some(c) = around.after.filter(|_| best.is_none() || !threads.list.is_empty())
            else {
                break;
            };
            at += c.len_utf8();
        }
        let best = best?;
        Some(best.chunks(2).map(|pair| pair[0].zip(pair[1])).collect())
    }

    /// Adds the steps that consume a character and are reached from `step`.
    fn follow(
        &self,
        threads: &mut Threads,
        step: usize,
        saved: Rc<Vec<Option<usize>>>,
        around: Around,
    ) {
        let mut open = vec![(step, saved)];
        while let Some((step, mut saved)) = open.pop() {
            if std::mem::replace(&mut threads.seen[step], true) {
                continue;
            }
            threads.visited.push(step);
            match &self.steps[step] {
                Step::Jump(to) => open.push((*to, saved)),
                Step::Split(first, second) => {
                    open.push((*second, Rc::clone(&saved)));
                    open.push((*first, saved));
                }
                Step::Save(slot) => {
                    if *slot < saved.len() {
                        Rc::make_mut(&mut saved)[*slot] = Some(around.at);
                    }
                    open.push((step + 1, saved));
                }
                Step::Check(check) if around.holds(*check) => open.push((step + 1, saved)),
                Step::Check(_) => {}
                _ => threads.list.push((step, saved)),
            }
        }
    }
}

/// The threads at a position, by preference, each at another step.
struct Threads {
    list: Vec<(usize, Rc<Vec<Option<usize>>>)>,
    seen: Vec<bool>,
    visited: Vec<usize>,
}

impl Threads {
    fn new(steps: usize) -> Self {
        Self { list: Vec::new(), seen: vec![false; steps], visited: Vec::new() }
    }

    fn clear(&mut self) {
        for step in self.visited.drain(..) {
            self.seen[step] = false;
        }
    }
}

/// A position in a line, and the characters around it.
#[derive(Clone, Copy)]
struct Around {
    at: usize,
    before: Option<char>,
    after: Option<char>,
}

impl Around {
    fn holds(self, check: Check) -> bool {
        let [before, after] = [self.before, self.after].map(|c| c.is_some_and(is_word));
        match check {
            Check::Start => self.at == 0,
            Check::End => self.after.is_none(),
            Check::WordStart => !before && after,
            Check::WordEnd => before && !after,
            Check::WordEdge => before != after,
        }
    }
}

impl Class {
    fn of(named: fn(char) -> bool, negated: bool) -> Self {
        Self { negated, ranges: Vec::new(), named: vec![named] }
    }

    fn has(&self, c: char) -> bool {
        let ranges = self.ranges.iter().any(|(low, high)| (*low..=*high).contains(&c));
        (ranges || self.named.iter().any(|fits| fits(c))) != self.negated
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// The steps of a node; `None` if there are too many.
fn emit(node: &Node, steps: &mut Vec<Step>) -> Option<()> {
    if steps.len() > MAX_STEPS {
        return None;
    }
    match node {
        Node::Char(c) => steps.push(Step::Char(*c)),
        Node::Any => steps.push(Step::Any),
        Node::Class(class) => steps.push(Step::Class(class.clone())),
        Node::Check(check) => steps.push(Step::Check(*check)),
        Node::Group(inner, number) => {
            steps.push(Step::Save(number * 2));
            emit(inner, steps)?;
            steps.push(Step::Save(number * 2 + 1));
        }
        Node::All(parts) => parts.iter().try_for_each(|part| emit(part, steps))?,
        Node::OneOf(branches) => {
            let mut ends = Vec::new();
            for (nth, branch) in branches.iter().enumerate() {
                let split = steps.len();
                let more = nth + 1 < branches.len();
                if more {
                    steps.push(Step::Split(split + 1, 0));
                }
                emit(branch, steps)?;
                if more {
                    ends.push(steps.len());
                    steps.push(Step::Jump(0));
                    steps[split] = Step::Split(split + 1, steps.len());
                }
            }
            let end = steps.len();
            ends.into_iter().for_each(|jump| steps[jump] = Step::Jump(end));
        }
        Node::Repeat(inner, least, most) => {
            (0..*least).try_for_each(|_| emit(inner, steps))?;
            let mut splits = Vec::new();
            for _ in 0..most.map_or(1, |most| most - least) {
                splits.push(steps.len());
                steps.push(Step::Split(0, 0));
                emit(inner, steps)?;
            }
            if most.is_none() {
                steps.push(Step::Jump(splits[0]));
            }
            let end = steps.len();
            splits.into_iter().for_each(|split| steps[split] = Step::Split(split + 1, end));
        }
    }
    Some(())
}

/// A character in lower case, if that has as many bytes, so that the places of a match are those of
/// the line.
fn lower(c: char) -> char {
    let mut lower = c.to_lowercase();
    match (lower.next(), lower.next()) {
        (Some(one), None) if one.len_utf8() == c.len_utf8() => one,
        _ => c,
    }
}

/// What precedes a repetition mark.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    /// The start of a branch: the mark is an ordinary character.
    Nothing,
    Atom,
    /// `*`, `+` or `?`
    Mark,
    /// `{…}`
    Bounds,
}

struct Parser<'a> {
    chars: Peekable<Chars<'a>>,
    extended: bool,
    fold: bool,
    groups: usize,
    /// Open groups.
    open: usize,
}

impl Parser<'_> {
    /// Branches up to the end, or to the parenthesis that closes a group.
    fn alternatives(&mut self) -> Option<Node> {
        let mut branches = Vec::new();
        loop {
            let (branch, ended_by) = self.branch()?;
            branches.push(branch);
            match ended_by {
                Some('|') => {}
                Some(_) if self.open == 0 => return None,
                None if self.open > 0 => return None,
                _ => break,
            }
        }
        match branches.len() {
            1 => branches.pop(),
            _ => Some(Node::OneOf(branches)),
        }
    }

    /// A branch, and the special character that ended it.
    fn branch(&mut self) -> Option<(Node, Option<char>)> {
        let mut parts = Vec::new();
        // Whether the branch starts here.
        let mut starts = true;
        let mut last = Last::Nothing;
        while let Some(c) = self.chars.next() {
            let escaped = c == '\\';
            let c = if escaped { self.chars.next()? } else { c };
            // In basic syntax a backslash makes these special, in extended syntax it makes them
            // ordinary.
            let special = escaped != self.extended;
            let started = std::mem::take(&mut starts);
            let before = std::mem::replace(&mut last, Last::Atom);
            let part = match c {
                '|' | ')' if special => return Some((Node::All(parts), Some(c))),
                '(' if special => {
                    let number = self.groups;
                    self.groups += 1;
                    self.open += 1;
                    let inner = self.alternatives()?;
                    self.open -= 1;
                    Node::Group(Box::new(inner), number)
                }
                '{' if special && before == Last::Atom => {
                    let (least, most) = self.bounds()?;
                    last = Last::Bounds;
                    Node::Repeat(Box::new(parts.pop()?), least, most)
                }
                '{' if special && before != Last::Nothing => return None,
                '{' | '}' if special && !self.extended => return None,
                '*' | '+' | '?'
                    if before != Last::Nothing && !escaped && (self.extended || c == '*') =>
                {
                    if before == Last::Bounds {
                        return None;
                    }
                    last = Last::Mark;
                    let (least, most) = match c {
                        '*' => (0, None),
                        '+' => (1, None),
                        _ => (0, Some(1)),
                    };
                    Node::Repeat(Box::new(parts.pop()?), least, most)
                }
                'd' | 'D' if escaped => Node::Class(Class::of(|c| c.is_ascii_digit(), c == 'D')),
                's' | 'S' if escaped => Node::Class(Class::of(|c| " \t".contains(c), c == 'S')),
                'w' | 'W' if escaped => Node::Class(Class::of(is_word, c == 'W')),
                'b' if escaped => Node::Check(Check::WordEdge),
                '<' if escaped => Node::Check(Check::WordStart),
                '>' if escaped => Node::Check(Check::WordEnd),
                c if escaped && c.is_ascii_alphanumeric() => return None,
                '.' if !escaped => Node::Any,
                '^' if !escaped && started => {
                    (starts, last) = (true, Last::Nothing);
                    Node::Check(Check::Start)
                }
                '$' if !escaped && self.ends_branch() => Node::Check(Check::End),
                '[' if !escaped => Node::Class(self.class()?),
                c => Node::Char(if self.fold { lower(c) } else { c }),
            };
            parts.push(part);
        }
        Some((Node::All(parts), None))
    }

    /// Whether the rest begins with the end of a branch.
    fn ends_branch(&self) -> bool {
        let mut rest = self.chars.clone();
        match rest.next() {
            None => true,
            Some('|' | ')') => self.extended,
            Some('\\') => !self.extended && matches!(rest.next(), Some('|' | ')')),
            Some(_) => false,
        }
    }

    /// The rest of `{2}`, `{2,}` or `{2,5}`; `None` for no limit.
    fn bounds(&mut self) -> Option<(u32, Option<u32>)> {
        let mut text = String::new();
        loop {
            match self.chars.next()? {
                '}' if self.extended => break,
                '\\' if !self.extended => {
                    self.chars.next_if_eq(&'}')?;
                    break;
                }
                c => text.push(c),
            }
        }
        let number = |text: &str| text.parse::<u32>().ok().filter(|number| *number <= MAX_REPEATS);
        let (min, max) = text.split_once(',').unwrap_or((&text, &text));
        let min = number(min)?;
        match max {
            "" => Some((min, None)),
            max => Some((min, Some(number(max).filter(|max| *max >= min)?))),
        }
    }

    /// The rest of `[…]`, in which only `]`, `^`, `-` and named classes are special.
    fn class(&mut self) -> Option<Class> {
        let negated = self.chars.next_if_eq(&'^').is_some();
        let mut class = Class { negated, ranges: Vec::new(), named: Vec::new() };
        let mut empty = true;
        loop {
            let low = self.chars.next()?;
            if low == ']' && !empty {
                return Some(class);
            }
            empty = false;
            if low == '[' && self.chars.next_if_eq(&':').is_some() {
                let name: String =
                    std::iter::from_fn(|| self.chars.next_if(char::is_ascii_lowercase)).collect();
                (self.chars.next()? == ':' && self.chars.next()? == ']').then_some(())?;
                // With `fold`, lines are in lower case.
                let name = if self.fold && name == "upper" { "lower" } else { &name };
                class.named.push(named_class(name)?);
                continue;
            }
            let mut rest = self.chars.clone();
            let high = match (rest.next(), rest.next()) {
                (Some('-'), Some(high)) if high != ']' => {
                    self.chars.next();
                    self.chars.next();
                    high
                }
                _ => low,
            };
            if low > high {
                return None;
            }
            class.ranges.push((low, high));
            if self.fold && lower(low) <= lower(high) {
                class.ranges.push((lower(low), lower(high)));
            }
        }
    }
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
    fn longest_match_counts() {
        for (pattern, line, place) in [
            ("a|ab", "xabc", (1, 3)),
            ("a?(ab)?", "ab", (0, 2)),
            ("(a|ab)(c|bcd)", "abcd", (0, 4)),
            ("x*", "axx", (0, 0)),
            ("\\<b", "ab b", (3, 4)),
            ("(^|/)b", "a/b", (1, 3)),
        ] {
            let matcher = Matcher::new(pattern, false, true, false).expect(pattern);
            assert_eq!(matcher.find(line, 0), Some(place), "{pattern} {line}");
        }
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
