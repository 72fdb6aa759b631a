//! A small regular expression matcher for `grep`: `.`, `*`, `^`, `$`, `[…]`, and in extended syntax also `+`, `?`, `|`.
//!
//! Begin at [`Matcher`]. Groups, counts and back references are refused. Matching walks the line once, whatever the
//! pattern.

/// Maximum bytes of a pattern.
const LONGEST: usize = 1024;

enum Atom {
    Any,
    Char(char),
    Class { negated: bool, ranges: Vec<(char, char)> },
}

struct Step {
    one: Atom,
    least: usize,
    max: usize,
}

struct Branch {
    from_start: bool,
    to_end: bool,
    steps: Vec<Step>,
}

/// A compiled pattern.
pub(super) struct Matcher {
    branches: Vec<Branch>,
    fold: bool,
}

impl Matcher {
    /// Compiles a pattern. `None` if it is unsupported (groups, counts, back references) or too long: the time of a
    /// match is the product of pattern and line, and lines may be long.
    pub(super) fn new(pattern: &str, fixed: bool, extended: bool, fold: bool) -> Option<Self> {
        if pattern.len() > LONGEST {
            return None;
        }
        let pattern = if fold { pattern.to_lowercase() } else { pattern.to_owned() };
        let texts: Vec<String> = if extended {
            pattern.split('|').map(str::to_owned).collect()
        } else {
            pattern.split("\\|").map(str::to_owned).collect()
        };
        let branches = if fixed {
            let step = |c| Step { one: Atom::Char(c), least: 1, max: 1 };
            vec![Branch {
                from_start: false,
                to_end: false,
                steps: pattern.chars().map(step).collect(),
            }]
        } else {
            texts.iter().map(|text| branch(text, extended)).collect::<Option<_>>()?
        };
        Some(Self { branches, fold })
    }

    /// Whether the line contains a match, or (`whole`) is one.
    pub(super) fn matches(&self, line: &str, whole: bool) -> bool {
        let line: Vec<char> =
            if self.fold { line.to_lowercase().chars().collect() } else { line.chars().collect() };
        self.branches.iter().any(|branch| found(branch, &line, whole))
    }
}

fn branch(text: &str, extended: bool) -> Option<Branch> {
    let from_start = text.starts_with('^');
    let mut steps: Vec<Step> = Vec::new();
    let mut to_end = false;
    let mut chars = text.chars().skip(usize::from(from_start)).peekable();
    while let Some(c) = chars.next() {
        let one = match c {
            '$' if chars.peek().is_none() => {
                to_end = true;
                break;
            }
            '.' => Atom::Any,
            '\\' => match chars.next()? {
                'd' => Atom::Class { negated: false, ranges: vec![('0', '9')] },
                's' => Atom::Class { negated: false, ranges: vec![(' ', ' '), ('\t', '\t')] },
                'w' => Atom::Class {
                    negated: false,
                    ranges: vec![('a', 'z'), ('A', 'Z'), ('0', '9'), ('_', '_')],
                },
                c if c.is_ascii_alphanumeric() => return None,
                '(' | ')' | '{' | '}' if !extended => return None,
                c => Atom::Char(c),
            },
            '[' => class(&mut chars)?,
            '(' | ')' | '{' if extended => return None,
            '*' if !steps.is_empty() => {
                let last = steps.last_mut()?;
                (last.least, last.max) = (0, usize::MAX);
                continue;
            }
            '+' | '?' if extended && !steps.is_empty() => {
                let last = steps.last_mut()?;
                (last.least, last.max) = if c == '+' { (1, usize::MAX) } else { (0, 1) };
                continue;
            }
            c => Atom::Char(c),
        };
        steps.push(Step { one, least: 1, max: 1 });
    }
    Some(Branch { from_start, to_end, steps })
}

fn class(chars: &mut std::iter::Peekable<impl Iterator<Item = char>>) -> Option<Atom> {
    let negated = chars.next_if_eq(&'^').is_some();
    let mut ranges = Vec::new();
    loop {
        let low = chars.next()?;
        if low == ']' && !ranges.is_empty() {
            return Some(Atom::Class { negated, ranges });
        }
        if chars.next_if_eq(&'-').is_some() {
            match chars.next()? {
                ']' => {
                    ranges.extend([(low, low), ('-', '-')]);
                    return Some(Atom::Class { negated, ranges });
                }
                high => ranges.push((low, high)),
            }
        } else {
            ranges.push((low, low));
        }
    }
}

/// Walks all states at once, so that the time is the product of line and pattern, whatever the pattern.
fn found(branch: &Branch, line: &[char], whole: bool) -> bool {
    let steps = &branch.steps;
    let mut places = vec![false; steps.len() + 1];
    for at in 0..=line.len() {
        if at == 0 || !(branch.from_start || whole) {
            places[0] = true;
        }
        for (nth, step) in steps.iter().enumerate() {
            if step.least == 0 && places[nth] {
                places[nth + 1] = true;
            }
        }
        if places[steps.len()] && (at == line.len() || !(branch.to_end || whole)) {
            return true;
        }
        let Some(c) = line.get(at) else { return false };
        let mut next = vec![false; steps.len() + 1];
        for (nth, step) in steps.iter().enumerate() {
            if places[nth] && fits(&step.one, *c) {
                next[nth + 1] = true;
                // An unlimited step may repeat.
                next[nth] |= step.max > 1;
            }
        }
        places = next;
    }
    false
}

fn fits(one: &Atom, c: char) -> bool {
    match one {
        Atom::Any => true,
        Atom::Char(wanted) => *wanted == c,
        Atom::Class { negated, ranges } => {
            ranges.iter().any(|(low, high)| (*low..=*high).contains(&c)) != *negated
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Matcher;

    #[test]
    fn patterns_match() {
        let found = |pattern: &str, line: &str, extended| {
            Matcher::new(pattern, false, extended, false).expect(pattern).matches(line, false)
        };
        for (pattern, line) in [
            ("mCurrentFocus", "  mCurrentFocus=x"),
            ("^a.*c$", "abbc"),
            ("[0-9]x", "a7x"),
            ("a*", ""),
            ("a\\.b", "a.b"),
            ("x$", "axx"),
        ] {
            assert!(found(pattern, line, false), "{pattern} {line}");
        }
        for (pattern, line) in [("^b", "ab"), ("a\\.b", "axb"), ("[^a]", "aaa"), ("a+", "a")] {
            assert!(!found(pattern, line, false), "{pattern} {line}");
        }
        assert!(found("b|ca+t?$", "xcaa", true));
        assert!(Matcher::new("(a)", false, true, false).is_none());
        // Would take forever with backtracking.
        assert!(!found(
            &format!("^{}$", "a*".repeat(500)),
            &format!("{}b", "a".repeat(500)),
            false
        ));
    }
}
