//! Sanitizes an app's texts for a terminal, a log or a model.
//!
//! Names, descriptions and messages are untrusted. Removed is what moves a cursor, changes the text direction, or hides
//! text from a person while a model still reads it. The meaning is not judged: the caller that shows a text marks it as
//! the app's.

/// Limit on the characters of an id or a name.
pub const MOST_IN_A_NAME: usize = 256;

/// Limit on the characters kept of a description or a message.
pub const MOST_IN_A_DESCRIPTION: usize = 4_000;

/// Sanitized text: at most `most` characters, then an ellipsis; each run of whitespace, newlines included, becomes one
/// space; control, bidirectional and zero-width characters are removed.
pub fn sanitize(text: &str, max: usize) -> String {
    let mut shown = String::new();
    let mut count = 0;
    let mut blank = false;
    for c in text.chars() {
        if c.is_whitespace() {
            blank = true;
            continue;
        }
        if is_hidden(c) {
            continue;
        }
        let space = blank && !shown.is_empty();
        if count + 1 + usize::from(space) > max {
            shown.push('…');
            return shown;
        }
        if space {
            shown.push(' ');
            count += 1;
        }
        blank = false;
        shown.push(c);
        count += 1;
    }
    shown
}

/// Whether the text has more characters than `most`. Stops counting there.
pub(crate) fn is_longer(text: &str, max: usize) -> bool {
    text.len() > max && text.chars().nth(max).is_some()
}

/// Characters that a person does not see and a program does: controls, Unicode's format characters (zero width,
/// bidirectional, tags), and unassigned ones.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(u32::from(c),
            0xAD                        // soft hyphen
            | 0x34F                     // combining grapheme joiner
            | 0x600..=0x605 | 0x61C | 0x6DD | 0x70F | 0x890..=0x891 | 0x8E2 // Arabic and Syriac marks; 61C changes the direction
            | 0x115F..=0x1160 | 0x3164 | 0xFFA0 // Hangul fillers: letters without ink
            | 0x17B4..=0x17B5
            | 0x180B..=0x180F
            | 0x200B..=0x200F           // zero width, left-to-right and right-to-left marks
            | 0x2028..=0x202E           // line and paragraph separators, embeddings and overrides
            | 0x2060..=0x206F           // joiners, isolates
            | 0x2800                    // an empty braille pattern
            | 0xE000..=0xF8FF           // private use
            | 0xFE00..=0xFE0F           // variation selectors
            | 0xFEFF
            | 0xFFF0..=0xFFFB           // annotations
            | 0x1BCA0..=0x1BCA3 | 0x1D173..=0x1D17A
            | 0xE0000..=0xE0FFF         // tags: a hidden alphabet, and more variation selectors
            | 0xF0000..)
        || u32::from(c) & 0xFFFE == 0xFFFE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, shown: &str) {
        assert_eq!(sanitize(text, 40), shown);
    }

    #[test]
    fn invisible_characters_are_removed() {
        check("Clock in today.", "Clock in today.");
        check("  two\r\n\tlines  ", "two lines");
        check("\u{1b}[31mred\u{7}", "[31mred");
        check("a\u{202e}b\u{2066}c\u{200b}d\u{feff}e\u{ad}f", "abcdef");
        check("sure\u{e0041}\u{e0042}\u{e0043}", "sure");
        check("漢字 é 😀", "漢字 é 😀");
        check("\u{200b}\u{200b}", "");
        check("a \u{200b} b", "a b");
        // One of each hidden kind.
        for hidden in "\u{7f}\u{34f}\u{61c}\u{115f}\u{180e}\u{2028}\u{2060}\u{2069}\u{2800}\u{e000}\u{fe0f}\u{fff9}\u{1d173}\u{f0000}\u{1ffff}".chars() {
            if !hidden.is_whitespace() {
                check(&format!("a{hidden}b"), "ab");
            }
        }
    }

    #[test]
    fn long_text_ends_in_an_ellipsis() {
        assert_eq!(sanitize("abcdef", 6), "abcdef");
        assert_eq!(sanitize("abcdefg", 6), "abcdef…");
        assert_eq!(sanitize("abcde fg", 6), "abcde…");
        assert_eq!(sanitize("é".repeat(9).as_str(), 3), "ééé…");
        assert_eq!(sanitize(&"\u{200b}".repeat(1_000), 3), "");
        assert!(is_longer("ééé", 2) && !is_longer("ééé", 3));
    }
}
