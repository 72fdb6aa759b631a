//! Makes texts of apps and people safe for a terminal, a log or a model: one line of limited
//! length.
//!
//! Whatever moves a cursor, changes the text direction, or hides text from a person while a model
//! still reads it becomes visible ([`visible`]). The meaning is not judged: the caller that shows a
//! text marks it as somebody else's.

use crate::visible::visible;

/// Sanitized text on one line: at most `max` characters, then an ellipsis; each run of whitespace,
/// newlines included, becomes one space; every invisible character is written as its code point,
/// `\u{202e}`.
pub fn sanitize(text: &str, max: usize) -> String {
    let mut line = String::new();
    let mut count = 0;
    let mut blank = false;
    for c in text.chars() {
        if is_blank(c) {
            blank = true;
            continue;
        }
        let space = blank && !line.is_empty();
        if count + 1 + usize::from(space) > max {
            return format!("{}…", prefix(&visible(&line), max));
        }
        if space {
            line.push(' ');
            count += 1;
        }
        blank = false;
        line.push(c);
        count += 1;
    }
    let shown = visible(&line);
    match is_longer(&shown, max) {
        true => format!("{}…", prefix(&shown, max)),
        false => shown.into_owned(),
    }
}

/// The first `max` characters, without a part of a code point's mark.
fn prefix(shown: &str, max: usize) -> &str {
    /// `\u{10ffff}`
    const MAX_MARK: usize = 10;
    let (mut end, mut count) = (0, 0);
    while let Some(c) = shown[end..].chars().next() {
        let rest = &shown[end..];
        let mark = rest.starts_with("\\u{").then(|| rest.find('}')).flatten();
        let mark = mark.filter(|at| *at < MAX_MARK).map(|at| (at + 1, at + 1));
        let (bytes, characters) = mark.unwrap_or((c.len_utf8(), 1));
        if count + characters > max {
            break;
        }
        (end, count) = (end + bytes, count + characters);
    }
    // A joiner has lost what it joins.
    let mut start = &shown[..end];
    while visible(start) != start {
        let mut characters = start.chars();
        characters.next_back();
        start = characters.as_str();
    }
    start
}

/// Whitespace that people type. Separators that only programs see are made visible.
fn is_blank(c: char) -> bool {
    c.is_whitespace() && !matches!(c, '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// Whether the text has more than `max` characters. Stops counting there.
pub fn is_longer(text: &str, max: usize) -> bool {
    text.len() > max && text.chars().nth(max).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, shown: &str) {
        assert_eq!(sanitize(text, 40), shown);
    }

    #[test]
    fn invisible_characters_are_visible() {
        check("Clock in today.", "Clock in today.");
        check("  two\r\n\tlines  ", "two lines");
        check("\u{1b}[31mred\u{7}", "\\u{1b}[31mred\\u{7}");
        check("a\u{202e}b\u{2066}c\u{200b}d", "a\\u{202e}b\\u{2066}c\\u{200b}d");
        check("sure\u{e0041}\u{2028}!", "sure\\u{e0041}\\u{2028}!");
        check("漢字 é 😀 ❤\u{fe0f}", "漢字 é 😀 ❤\u{fe0f}");
        check("a \u{200b} b", "a \\u{200b} b");
    }

    #[test]
    fn long_text_ends_in_an_ellipsis() {
        assert_eq!(sanitize("abcdef", 6), "abcdef");
        assert_eq!(sanitize("abcdefg", 6), "abcdef…");
        assert_eq!(sanitize("abcde fg", 6), "abcde…");
        assert_eq!(sanitize("é".repeat(9).as_str(), 3), "ééé…");
        let hidden = "\u{200b}".repeat(1_000);
        assert_eq!(sanitize(&hidden, 17), "\\u{200b}\\u{200b}…");
        // Nothing is left of a mark, or of a sequence that is cut.
        assert_eq!(sanitize(&hidden, 3), "…");
        assert_eq!(sanitize("👨\u{200d}👩", 2), "👨…");
        assert!(is_longer("ééé", 2) && !is_longer("ééé", 3));
    }
}
