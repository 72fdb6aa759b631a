//! Finds secret values in text, however they are spelled.
//!
//! [`clean`] reads from left to right, once, and never reads its own output: a name that contains
//! another secret's value would grow forever. Case is ignored, and XML references count as the
//! characters they stand for. Separators that apps insert into a value (`4929 1234 5678 9012`, `+49
//! (170) 123-4567`) are skipped.

use std::ops::Range;

use super::{RedactedText, next_name};

/// A text to find, and its replacement.
pub(super) struct Pattern {
    folded: Vec<char>,
    label: String,
}

/// The kind of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TextKind {
    /// Plain text.
    Words,
    /// XML, with references: `&amp;`, `&#233;`.
    Xml,
}

impl Pattern {
    pub(super) fn new(text: &str, label: &str) -> Self {
        Self { folded: text.chars().map(fold).collect(), label: label.to_owned() }
    }

    pub(super) fn redact(&mut self) {
        self.folded.fill('\0');
        std::hint::black_box(&self.folded);
    }
}

/// Shorter values are matched without separators: they would be found in lists of numbers.
const MIN_SPACED: usize = 6;
/// The maximum number of separators in a row.
const MAX_BETWEEN: usize = 3;

/// Separators in card, phone and account numbers.
fn is_between(sign: char) -> bool {
    matches!(
        sign,
        ' ' | '\u{a0}' | '\u{2007}' | '\u{2009}' | '\u{202f}' | '-' | '\u{2010}'
            ..='\u{2013}' | '.' | '/' | '(' | ')'
    )
}

/// Invisible characters, among them the marks that Android puts around phone numbers
/// (`BidiFormatter`).
fn is_invisible(sign: char) -> bool {
    matches!(sign,
        '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// The value itself and its escaped forms: Rust's `{:?}` and JSON, a shell, `input text`, a URL.
pub(super) fn spellings(value: &str) -> Vec<String> {
    let mut all = vec![
        value.to_owned(),
        value.escape_debug().to_string(),
        value.replace('\'', r"'\''"),
        value.replace(' ', "%s"),
        in_an_address(value, "%20"),
        in_an_address(value, "+"),
    ];
    // A number given with spaces may be shown without.
    let close: Vec<char> = value.chars().filter(|&sign| !is_between(sign)).collect();
    let digits = close.iter().filter(|sign| sign.is_ascii_digit()).count();
    if close.len() >= MIN_SPACED && digits * 2 >= close.len() {
        all.push(close.into_iter().collect());
    }
    all.sort();
    all.dedup();
    // Longest first, so that a spelling inside another one is not found before it.
    all.sort_by_key(|it| std::cmp::Reverse(it.len()));
    all
}

fn in_an_address(value: &str, blank: &str) -> String {
    let sign = |byte: u8| match byte {
        b' ' => blank.to_owned(),
        byte if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) => {
            char::from(byte).to_string()
        }
        byte => format!("%{byte:02X}"),
    };
    value.bytes().map(sign).collect()
}

/// Replaces what the patterns find, and breaks up placeholders of secrets. `None` if there is
/// nothing to do.
pub(super) fn clean(text: &str, source: TextKind, patterns: &[&Pattern]) -> Option<RedactedText> {
    let signs = signs(text, source);
    let mut cleaned = String::new();
    let (mut showed, mut kept, mut at) = (false, 0, 0);
    while at < signs.len() {
        let (sign, place) = &signs[at];
        let found = patterns.iter().find_map(|it| Some((it, length(&signs[at..], &it.folded)?)));
        if let Some((pattern, length)) = found {
            cleaned.push_str(&text[kept..place.start]);
            cleaned.push_str(&pattern.label);
            at += length;
            kept = signs[at - 1].1.end;
            showed = true;
        } else if *sign == '{'
            && next_name(&text[place.start..]).is_some_and(|(before, ..)| before.is_empty())
        {
            cleaned.push_str(&text[kept..place.end]);
            cleaned.push(' ');
            kept = place.end;
            at += 1;
        } else {
            at += 1;
        }
    }
    if kept == 0 {
        return None;
    }
    cleaned.push_str(&text[kept..]);
    Some(RedactedText { text: cleaned, showed })
}

/// How many characters the match takes, if the text starts with one.
fn length(signs: &[(char, Range<usize>)], sought: &[char]) -> Option<usize> {
    let (first, rest) = sought.split_first()?;
    signs.first().filter(|(sign, _)| sign == first)?;
    let mut at = 1;
    for next in rest {
        let between =
            signs.get(at..)?.iter().take(MAX_BETWEEN + 1).position(|(sign, _)| sign == next)?;
        let passed = |(sign, _): &(char, Range<usize>)| {
            is_invisible(*sign) || (is_between(*sign) && sought.len() >= MIN_SPACED)
        };
        if !signs[at..at + between].iter().all(passed) {
            return None;
        }
        at += between + 1;
    }
    Some(at)
}

/// The characters in lower case, each with its byte range.
fn signs(text: &str, source: TextKind) -> Vec<(char, Range<usize>)> {
    /// The longest reference: `&#x10FFFF;`.
    const REFERENCE: usize = 10;
    let mut signs = Vec::with_capacity(text.len());
    let mut at = 0;
    while let Some(sign) = text[at..].chars().next() {
        let mut end = at + sign.len_utf8();
        let mut meant = sign;
        if sign == '&' && source == TextKind::Xml {
            let close =
                text.as_bytes()[end..].iter().take(REFERENCE).position(|&byte| byte == b';');
            if let Some((stands_for, close)) =
                close.and_then(|close| Some((reference(&text[end..end + close])?, close)))
            {
                (meant, end) = (stands_for, end + close + 1);
            }
        }
        signs.push((fold(meant), at..end));
        at = end;
    }
    signs
}

fn reference(name: &str) -> Option<char> {
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hexadecimal) => u32::from_str_radix(hexadecimal, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code)
        }
    }
}

fn fold(sign: char) -> char {
    let mut small = sign.to_lowercase();
    match (small.next(), small.next()) {
        (Some(small), None) => small,
        _ => sign,
    }
}

/// Whether this is a value that lost some of its characters: at least four are left, and more than
/// half.
pub(super) fn is_rest_of(shows: &str, value: &str) -> bool {
    let signs = |text: &str| -> Vec<char> {
        text.chars().filter(|&sign| !is_between(sign) && !is_invisible(sign)).map(fold).collect()
    };
    let (shows, value) = (signs(shows), signs(value));
    let (count, all) = (shows.len(), value.len());
    if count < 4 || count >= all || count * 2 <= all {
        return false;
    }
    let mut value = value.into_iter();
    shows.into_iter().all(|sought| value.any(|sign| sign == sought))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cleaned(text: &str, source: TextKind, values: &[&str]) -> String {
        let spelt: Vec<Pattern> = values
            .iter()
            .flat_map(|value| spellings(value))
            .map(|it| Pattern::new(&it, "{{S}}"))
            .collect();
        let all: Vec<&Pattern> = spelt.iter().collect();
        clean(text, source, &all).map_or_else(|| text.to_owned(), |it| it.text)
    }

    #[test]
    fn value_is_found_in_any_spelling() {
        for (words, source, value, expected) in [
            ("a hunter2 b", TextKind::Words, "hunter2", "a {{S}} b"),
            ("HUNTER2", TextKind::Words, "hunter2", "{{S}}"),
            ("hunter2hunter2", TextKind::Words, "hunter2", "{{S}}{{S}}"),
            ("ÜBER-ü", TextKind::Words, "über", "{{S}}-ü"),
            (r#"text="a&amp;b&lt;c&quot;""#, TextKind::Xml, "a&b<c", "text=\"{{S}}&quot;\""),
            ("&#104;&#x75;nter2", TextKind::Xml, "hunter2", "{{S}}"),
            ("a&amp;b", TextKind::Words, "a&b!", "a&amp;b"),
            (r#"shows "say \"hi\"""#, TextKind::Words, r#"say "hi""#, r#"shows "{{S}}""#),
            (r"input text 'it'\''s me'", TextKind::Words, "it's me", "input text '{{S}}'"),
            ("input text open%ssesame", TextKind::Words, "open sesame", "input text {{S}}"),
            ("?p=open+sesame%21&q", TextKind::Words, "open sesame!", "?p={{S}}&q"),
            ("?p=caf%C3%A9%20au", TextKind::Words, "café au", "?p={{S}}"),
        ] {
            assert_eq!(cleaned(words, source, &[value]), expected, "{value} in {words}");
        }
    }

    #[test]
    fn value_with_separators_is_found() {
        for (words, value, expected) in [
            ("Card 4929 1234 5678 9012.", "4929123456789012", "Card {{S}}."),
            ("Card 4929123456789012.", "4929 1234-5678 9012", "Card {{S}}."),
            ("\u{202a}+49 (170)\u{a0}123-4567\u{202c}", "+491701234567", "\u{202a}{{S}}\u{202c}"),
            ("a password", "pass.word", "a password"),
            ("code 123\u{2009}456", "123456", "code {{S}}"),
            ("hun\u{200b}ter2", "hunter2", "{{S}}"),
            // So few digits may be a list of numbers, or a time.
            ("4 7 1 1", "4711", "4 7 1 1"),
            ("47\u{200b}11", "4711", "{{S}}"),
            ("hunt, er2", "hunter2", "hunt, er2"),
            ("h    unter2", "hunter2", "h    unter2"),
        ] {
            assert_eq!(cleaned(words, TextKind::Words, &[value]), expected, "{value} in {words}");
        }
    }

    #[test]
    fn broken_references_are_left_unchanged() {
        for words in ["&", "&amp", "&#xFFFFFFFF;", "&#;", "hunte", "&é;", "{{", "{{}}", "{{a b}}"]
        {
            assert_eq!(cleaned(words, TextKind::Xml, &["hunter2"]), words);
        }
    }

    #[test]
    fn replacements_are_not_searched_again() {
        let (one, two) = (Pattern::new("abcd", "{{efgh}}"), Pattern::new("efgh", "{{abcd}}"));
        let cleaned = clean("abcdefgh", TextKind::Words, &[&one, &two]).unwrap();
        assert_eq!(cleaned.text, "{{efgh}}{{abcd}}");
    }

    #[test]
    fn partial_value_is_recognized() {
        for (shows, value, is) in [
            ("huter2", "hunter2", true),
            ("hnt2", "hunter2", true),
            ("hut", "hunter2", false),
            ("hunter2", "hunter2", false),
            ("2retnuh", "hunter2", false),
            ("core", "correct horse battery staple", false),
            ("4929 1234 567", "4929123456789012", true),
            ("4929 - (12)", "4929123456789012", false),
        ] {
            assert_eq!(is_rest_of(shows, value), is, "{shows}");
        }
    }
}
