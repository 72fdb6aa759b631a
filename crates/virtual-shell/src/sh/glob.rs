//! The shell's patterns: `*`, `?` and `[…]`. Quoted characters are literal.
//!
//! Start with [`Glob`]. A text is read once for all places where a pattern may be, so the time is
//! at most the product of the two.

/// A compiled pattern.
pub(crate) struct Glob(Vec<Part>);

enum Part {
    Char(char),
    Any,
    /// Any text.
    Star,
    Class {
        negated: bool,
        members: Vec<Member>,
    },
}

enum Member {
    Range(char, char),
    Named(fn(char) -> bool),
}

impl Glob {
    /// The pattern of these characters, each with whether it was quoted.
    pub(crate) fn new(pattern: &[(char, bool)]) -> Self {
        let (mut parts, mut at) = (Vec::new(), 0);
        while let Some(&(c, quoted)) = pattern.get(at) {
            at += 1;
            parts.push(match c {
                '*' if !quoted => Part::Star,
                '?' if !quoted => Part::Any,
                '[' if !quoted => match class(&pattern[at..]) {
                    Some((part, length)) => {
                        at += length;
                        part
                    }
                    None => Part::Char(c),
                },
                c => Part::Char(c),
            });
        }
        Self(parts)
    }

    /// The pattern that matches reversed texts.
    pub(crate) fn reversed(mut self) -> Self {
        self.0.reverse();
        self
    }

    /// Whether the whole text matches.
    pub(crate) fn matches(&self, text: &str) -> bool {
        let text: Vec<char> = text.chars().collect();
        self.ends(&text).last() == Some(text.len())
    }

    /// How many characters of the text's start match, each possible number, the shortest first.
    pub(crate) fn ends<'a>(&'a self, text: &'a [char]) -> impl Iterator<Item = usize> + 'a {
        // Which parts are matched; after a star, it and what follows it.
        let mut places = vec![false; self.0.len() + 1];
        self.enter(&mut places, 0);
        let mut taken = 0;
        let mut over = false;
        std::iter::from_fn(move || {
            while !over {
                let end = places.last().copied().unwrap_or(false).then_some(taken);
                match text.get(taken).filter(|_| places.contains(&true)) {
                    None => over = true,
                    Some(c) => {
                        let mut next = vec![false; places.len()];
                        for (at, part) in self.0.iter().enumerate().filter(|(at, _)| places[*at]) {
                            match part {
                                Part::Star => self.enter(&mut next, at),
                                part if part.has(*c) => self.enter(&mut next, at + 1),
                                _ => {}
                            }
                        }
                        places = next;
                        taken += 1;
                    }
                }
                if end.is_some() {
                    return end;
                }
            }
            None
        })
    }

    fn enter(&self, places: &mut [bool], at: usize) {
        for (at, place) in places.iter_mut().enumerate().skip(at) {
            *place = true;
            if !matches!(self.0.get(at), Some(Part::Star)) {
                return;
            }
        }
    }
}

impl Part {
    fn has(&self, c: char) -> bool {
        match self {
            Self::Char(own) => *own == c,
            Self::Any | Self::Star => true,
            Self::Class { negated, members } => {
                let found = members.iter().any(|member| match member {
                    Member::Range(low, high) => (*low..=*high).contains(&c),
                    Member::Named(fits) => fits(c),
                });
                found != *negated
            }
        }
    }
}

/// The rest of `[…]` and its length; `None` if it is not closed.
fn class(pattern: &[(char, bool)]) -> Option<(Part, usize)> {
    let negated = matches!(pattern.first(), Some(('!', false)));
    let first = usize::from(negated);
    let (mut at, mut members) = (first, Vec::new());
    loop {
        let &(low, quoted) = pattern.get(at)?;
        if low == ']' && !quoted && at > first {
            return Some((Part::Class { negated, members }, at + 1));
        }
        let rest: String = pattern[at..].iter().take(12).map(|(c, _)| *c).collect();
        if let Some((name, _)) = rest.strip_prefix("[:").and_then(|rest| rest.split_once(":]"))
            && let Some(fits) = named_class(name)
        {
            members.push(Member::Named(fits));
            at += name.len() + 4;
            continue;
        }
        match (pattern.get(at + 1), pattern.get(at + 2)) {
            (Some(('-', false)), Some(&(high, quoted))) if high != ']' || quoted => {
                members.push(Member::Range(low, high));
                at += 3;
            }
            _ => {
                members.push(Member::Range(low, low));
                at += 1;
            }
        }
    }
}

/// A class of POSIX such as `[:digit:]`, by its name.
pub(crate) fn named_class(name: &str) -> Option<fn(char) -> bool> {
    Some(match name {
        "alnum" => |c| c.is_ascii_alphanumeric(),
        "alpha" => |c| c.is_ascii_alphabetic(),
        "blank" => |c| " \t".contains(c),
        "cntrl" => |c| c.is_ascii_control(),
        "digit" => |c| c.is_ascii_digit(),
        "graph" => |c| c.is_ascii_graphic(),
        "lower" => |c| c.is_ascii_lowercase(),
        "print" => |c| c.is_ascii_graphic() || c == ' ',
        "punct" => |c| c.is_ascii_punctuation(),
        "space" => |c| c.is_ascii_whitespace() || c == '\x0b',
        "upper" => |c| c.is_ascii_uppercase(),
        "xdigit" => |c| c.is_ascii_hexdigit(),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::Glob;

    fn glob(pattern: &str) -> Glob {
        Glob::new(&pattern.chars().map(|c| (c, false)).collect::<Vec<_>>())
    }

    #[test]
    fn patterns_match_names() {
        for (pattern, name) in [
            ("*", "abc"),
            ("a*c", "abc"),
            ("a*c*", "abcc"),
            ("?b?", "abc"),
            ("[a-c]x", "bx"),
            ("[!a]", "b"),
            ("[]a]", "]"),
            ("[[:digit:]_]", "7"),
            ("*.xml", "a.b.xml"),
            ("", ""),
        ] {
            assert!(glob(pattern).matches(name), "{pattern} {name}");
        }
        for (pattern, name) in
            [("a", "b"), ("a?", "a"), ("[a-c]", "d"), ("[!a]", "a"), ("*.xml", "a.xm"), ("", "a")]
        {
            assert!(!glob(pattern).matches(name), "{pattern} {name}");
        }
        assert!(!glob(&"*a".repeat(2_000)).matches(&"b".repeat(255)));
    }

    #[test]
    fn all_matching_starts_are_found() {
        let text: Vec<char> = "a/b/c".chars().collect();
        assert_eq!(glob("*/").ends(&text).collect::<Vec<_>>(), [2, 4]);
        assert_eq!(glob("*").ends(&text).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5]);
        assert_eq!(glob("x").ends(&text).count(), 0);
    }
}
