//! Goals as patterns: what may vary in one, and which values another one has there.
//!
//! Start with [`candidates`], the words of a goal that may be parameters, and [`GoalPattern`],
//! which reads their values from another goal. Which candidates are parameters is decided by what
//! the runs did ([`super::learn`]).

use std::collections::BTreeMap;
use std::ops::Range;

use regex_lite::Regex;

use super::format::{Parameter, ParameterKind};
use super::template::{Part, Values, has_words, parts};

/// A part of a goal that may be a parameter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Candidate {
    pub(super) place: Range<usize>,
    pub(super) kind: ParameterKind,
}

/// Opening and closing quotation marks.
const QUOTES: [(char, char); 4] = [('"', '"'), ('“', '”'), ('„', '“'), ('«', '»')];

/// What can be around a word without belonging to it.
fn is_around(it: char) -> bool {
    matches!(
        it,
        '.' | ',' | ';' | ':' | '!' | '?' | '(' | ')' | '[' | ']' | '\'' | '’' | '$' | '€' | '£'
    ) || QUOTES.iter().any(|&(open, close)| it == open || it == close)
}

/// What is quoted, has digits or `@`, or starts with a capital inside a sentence, in order.
pub(super) fn candidates(goal: &str) -> Vec<Candidate> {
    let quoted = quoted(goal);
    let mut found: Vec<Candidate> = quoted
        .iter()
        .cloned()
        .map(|place| Candidate { place, kind: ParameterKind::Quoted })
        .collect();
    let mut begins = true;
    for place in words(goal) {
        let word = &goal[place.clone()];
        let was_first = std::mem::replace(&mut begins, ends_sentence(&goal[place.end..]));
        if quoted.iter().any(|quote| quote.start <= place.start && place.end <= quote.end) {
            continue;
        }
        let is_number = word.starts_with(|it: char| it.is_ascii_digit())
            && word.chars().all(|it| it.is_ascii_digit() || ".,:/-".contains(it));
        let is_name = word.starts_with(char::is_uppercase) && !was_first;
        let kind = match is_number {
            true => Some(ParameterKind::Number),
            false if is_name || is_address(word) => Some(ParameterKind::Words),
            false => None,
        };
        found.extend(kind.map(|kind| Candidate { place, kind }));
    }
    found.sort_by_key(|candidate| candidate.place.start);
    found
}

/// Whether a word is a name or address of something, whatever its case: with digits, `a@b`, or a
/// dot inside, as files and sites have.
fn is_address(word: &str) -> bool {
    let is_inside = |(at, _): (usize, &str)| at > 0 && at + 1 < word.len();
    word.contains(|it: char| it.is_numeric() || it == '@') || word.match_indices('.').any(is_inside)
}

/// The insides of quotations.
pub(super) fn quoted(goal: &str) -> Vec<Range<usize>> {
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some((from, mark)) = goal[at..].char_indices().find(|(_, it)| opens(*it)) {
        let start = at + from + mark.len_utf8();
        let close = QUOTES.iter().find(|(open, _)| *open == mark).map_or(mark, |(_, close)| *close);
        match goal[start..].find(close) {
            Some(0) => at = start + close.len_utf8(),
            Some(length) => {
                found.push(start..start + length);
                at = start + length + close.len_utf8();
            }
            None => at = start,
        }
    }
    found
}

fn opens(it: char) -> bool {
    QUOTES.iter().any(|(open, _)| *open == it)
}

/// The words of a text, without what is around them.
pub(super) fn words(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    for piece in text.split_inclusive(char::is_whitespace) {
        let start = at
            + (piece.len()
                - piece.trim_start_matches(|it| is_around(it) || it.is_whitespace()).len());
        let whole = piece.trim_end().trim_end_matches(is_around);
        // "Lovelace's" is about "Lovelace".
        let whole = ["'s", "’s"].iter().find_map(|end| whole.strip_suffix(end)).unwrap_or(whole);
        let end = at + whole.len();
        found.extend((start < end).then_some(start..end));
        at += piece.len();
    }
    found
}

/// Whether a sentence ends before the next word.
fn ends_sentence(rest: &str) -> bool {
    let mark = rest.trim_start_matches(|it: char| is_around(it) && !".!?:".contains(it));
    mark.starts_with(['.', '!', '?'])
        && mark[1..].starts_with(|it: char| it.is_whitespace() || is_around(it))
}

/// The name for a parameter, from the words before it.
pub(super) fn parameter_name(goal: &str, candidate: &Candidate) -> String {
    const SMALL: [&str; 36] = [
        "a", "an", "and", "as", "at", "by", "for", "from", "in", "into", "is", "it", "of", "on",
        "or", "only", "the", "then", "this", "that", "to", "with", "add", "send", "put", "open",
        "about", "after", "change", "called", "named", "delete", "remove", "set", "save", "than",
    ];
    let quoted = quoted(goal);
    let is_quoted = |word: &Range<usize>| quoted.iter().any(|it| it.contains(&word.start));
    let before = words(&goal[..candidate.place.start]).pop().filter(|word| !is_quoted(word));
    let before = before.map(|word| &goal[word]);
    let usable = |word: &&str| {
        word.chars().all(|it| it.is_ascii_lowercase()) && word.len() > 2 && !SMALL.contains(word)
    };
    match before.filter(usable) {
        Some(word) => word.to_uppercase(),
        None if goal[candidate.place.clone()].contains('@') => "EMAIL".into(),
        None => match candidate.kind {
            ParameterKind::Quoted => "TEXT".into(),
            ParameterKind::Number => "NUMBER".into(),
            ParameterKind::Words
                if goal[candidate.place.clone()].starts_with(char::is_lowercase) =>
            {
                "TEXT".into()
            }
            ParameterKind::Words => "NAME".into(),
        },
    }
}

/// A goal with places, ready to be compared with others.
#[derive(Debug, Clone)]
pub(super) struct GoalPattern {
    /// Takes as little as possible for each place, and as much as possible.
    regexes: [Regex; 2],
    names: Vec<String>,
}

impl GoalPattern {
    /// The pattern of a template.
    ///
    /// # Errors
    /// It is too long.
    pub(super) fn new(
        template: &str,
        parameters: &BTreeMap<String, Parameter>,
    ) -> Result<Self, String> {
        let build = |lazy: bool| {
            let mut regex = String::from(r"(?i)^\s*");
            for part in parts(template.trim().trim_end_matches(['.', '!'])) {
                match part {
                    Part::Text(text) => regex.push_str(&spaced(text)),
                    Part::Place(name) => {
                        let value = parameters.get(name).map_or(r"\S+".into(), value_regex);
                        let value = if lazy { lazily(&value) } else { value };
                        regex.push_str(&format!("({value})"));
                    }
                }
            }
            regex.push_str(r"[.!]?\s*$");
            Regex::new(&regex).map_err(|error| format!("the goal is not a pattern: {error}"))
        };
        let names = super::template::places(template).map(str::to_owned).collect();
        Ok(Self { regexes: [build(false)?, build(true)?], names })
    }

    /// The values that a goal has in the places; `None` if it is another goal, or could be read in
    /// two ways.
    pub(super) fn values_in(&self, goal: &str) -> Option<Values> {
        let [longest, shortest] = self.regexes.each_ref().map(|regex| self.captured(regex, goal));
        longest.filter(|longest| shortest.as_ref() == Some(longest))
    }

    fn captured(&self, regex: &Regex, goal: &str) -> Option<Values> {
        let found = regex.captures(goal)?;
        let mut values = Values::new();
        for (at, name) in self.names.iter().enumerate() {
            let value = found.get(at + 1)?.as_str().to_owned();
            let before = values.insert(name.clone(), value.clone());
            if before.is_some_and(|before| before != value) {
                return None;
            }
        }
        Some(values)
    }
}

/// The regex, taking as little as possible.
fn lazily(regex: &str) -> String {
    regex.replace('+', "+?").replace('*', "*?").replace(")?", ")??")
}

/// A regex for a fixed text with any white space.
fn spaced(text: &str) -> String {
    let mut regex = String::new();
    for (at, piece) in text.split(char::is_whitespace).enumerate() {
        if at > 0 && !regex.ends_with(r"\s+") {
            regex.push_str(r"\s+");
        }
        regex.push_str(&regex_lite::escape(piece));
    }
    regex
}

fn value_regex(parameter: &Parameter) -> String {
    // A full stop after a word is the sentence's.
    const WORD: &str = "[^\\s\"“”„«»]*[^\\s\"“”„«».,;:!?]";
    match parameter.kind {
        ParameterKind::Quoted => "[^\"“”„«»]+".into(),
        ParameterKind::Number => r"[0-9](?:[0-9.,:/-]*[0-9])?".into(),
        ParameterKind::Words => {
            let further = parameter.words.unwrap_or(1).clamp(1, 50) - 1;
            format!("{WORD}{}", format!(r"\s{WORD}").repeat(further))
        }
    }
}

/// The places in which a goal differs from others that are otherwise the same, widened to whole
/// quotations.
pub(super) fn differences(goal: &str, others: &[&str]) -> Vec<Range<usize>> {
    let mine = words(goal);
    let mut differs = vec![false; mine.len()];
    for other in others {
        let theirs: Vec<&str> = words(other).into_iter().map(|word| &other[word]).collect();
        let kept =
            common(&mine.iter().map(|word| &goal[word.clone()]).collect::<Vec<_>>(), &theirs);
        for (at, kept) in kept.into_iter().enumerate() {
            differs[at] |= !kept;
        }
    }
    let quoted = quoted(goal);
    let mut found: Vec<Range<usize>> = Vec::new();
    for (at, word) in mine.iter().enumerate().filter(|(at, _)| differs[*at]) {
        let inside = quoted.iter().find(|quote| quote.start <= word.start && word.end <= quote.end);
        let place = inside.unwrap_or(word).clone();
        match found.last_mut() {
            Some(last) if *last == place => {}
            // Neighbours vary together.
            Some(last)
                if at > 0
                    && differs[at - 1]
                    && inside.is_none()
                    && last.end == mine[at - 1].end
                    && goal[last.end..place.start].trim().is_empty() =>
            {
                last.end = place.end;
            }
            _ => found.push(place),
        }
    }
    found
}

/// Which words of the first list are in a longest common subsequence with the second.
fn common(mine: &[&str], theirs: &[&str]) -> Vec<bool> {
    let mut longest = vec![vec![0_usize; theirs.len() + 1]; mine.len() + 1];
    for (i, one) in mine.iter().enumerate().rev() {
        for (j, other) in theirs.iter().enumerate().rev() {
            longest[i][j] = match one == other {
                true => longest[i + 1][j + 1] + 1,
                false => longest[i + 1][j].max(longest[i][j + 1]),
            };
        }
    }
    let (mut kept, mut i, mut j) = (vec![false; mine.len()], 0, 0);
    while i < mine.len() && j < theirs.len() {
        if mine[i] == theirs[j] {
            kept[i] = true;
            (i, j) = (i + 1, j + 1);
        } else if longest[i + 1][j] >= longest[i][j + 1] {
            i += 1;
        } else {
            j += 1;
        }
    }
    kept
}

/// Whether any of these texts has the value as whole words.
pub(super) fn is_used(value: &str, texts: &[String]) -> bool {
    texts.iter().any(|text| has_words(text, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_numbers_and_quotations_may_vary() {
        let goal = "Send Ada Lovelace's card to ada@example.org: \"Call at 9\" by 12:30, for $5.20. Then stop.";
        let found: Vec<&str> =
            candidates(goal).iter().map(|one| &goal[one.place.clone()]).collect();
        assert_eq!(found, ["Ada", "Lovelace", "ada@example.org", "Call at 9", "12:30", "5.20"]);
        assert_eq!(candidates("Delete the note."), []);
    }

    #[test]
    fn parameters_are_named_by_the_word_before_them() {
        let goal = "Add a note with the title \"Milk\" and \"two\", 5 of it, for Ada.";
        let named: Vec<String> =
            candidates(goal).iter().map(|one| parameter_name(goal, one)).collect();
        assert_eq!(named, ["TITLE", "TEXT", "NUMBER", "NAME"]);
    }

    fn pattern(template: &str, kinds: &[(&str, ParameterKind)]) -> GoalPattern {
        let parameter = |&(name, kind): &(&str, ParameterKind)| {
            (name.to_owned(), Parameter { kind, words: Some(1), example: None })
        };
        GoalPattern::new(template, &kinds.iter().map(parameter).collect()).unwrap()
    }

    #[test]
    fn goal_gives_the_values_of_its_pattern_exactly() {
        use ParameterKind::{Number, Quoted, Words};
        let one =
            pattern("Send {NAME} the message \"{TEXT}\".", &[("NAME", Words), ("TEXT", Quoted)]);
        let values =
            |goal: &str| one.values_in(goal).map(|values| values.into_values().collect::<Vec<_>>());
        let found = |name: &str, text: &str| Some(vec![name.to_owned(), text.to_owned()]);
        assert_eq!(values("send Ada the  message \"Hi, you.\""), found("Ada", "Hi, you."));
        for other in [
            "Send Ada and Bob the message \"Hi\".",
            "Send Ada the message \"a\" and the message \"b\".",
            "Send Ada the message \"Hi\" now.",
            "Send the message \"Hi\".",
        ] {
            assert_eq!(values(other), None, "{other}");
        }
        let two =
            pattern("From {A} to {A} by {N}:{M}", &[("A", Words), ("N", Number), ("M", Number)]);
        assert!(two.values_in("From x to x by 6:20").is_some());
        assert!(two.values_in("From x to y by 6:20").is_none(), "one parameter, one value");
        assert!(two.values_in("From x to x by 1:2:3").is_none(), "two ways to read it");
    }

    #[test]
    fn differences_are_words_or_whole_quotations() {
        let goal = "Turn Wi-Fi on and write \"Dear Ada, hi\" to Ada Byron.";
        let others = ["Turn Wi-Fi off and write \"Dear Bob, hi\" to Bob Marley King."];
        let found: Vec<&str> = differences(goal, &others).into_iter().map(|it| &goal[it]).collect();
        assert_eq!(found, ["on", "Dear Ada, hi", "Ada Byron"]);
    }
}
