//! An app's words, made fit to stand among ours: on one line, without control characters, and short.
//!
//! Nobody is protected by this alone: whoever shows them to a model fences them as well.

/// The text on one line, cut after so many characters; what moves a cursor, hides or turns text round becomes a space.
pub(super) fn flat(text: &str, most: usize) -> String {
    let mut flat = String::new();
    let mut characters = 0;
    let mut gap = false;
    for c in text.chars() {
        if c.is_whitespace() || c.is_control() || is_hidden(c) {
            gap = !flat.is_empty();
            continue;
        }
        let wanted = 1 + usize::from(gap);
        if characters + wanted > most {
            flat.push('…');
            break;
        }
        if std::mem::take(&mut gap) {
            flat.push(' ');
        }
        flat.push(c);
        characters += wanted;
    }
    flat
}

/// An app's words as they are quoted in a sentence of ours. Nothing in them ends the quotation.
pub(super) fn quoted(text: &str, most: usize) -> String {
    format!("«{}»", flat(text, most).replace(['«', '»'], "\""))
}

/// Characters that show nothing or turn the line round (Unicode's bidirectional controls, zero widths, tags, interlinear marks).
fn is_hidden(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{61c}'
            | '\u{180e}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_apps_words_stand_on_one_line_and_end() {
        for (text, most, expected) in [
            ("Clocks in.", 100, "Clocks in."),
            ("  two\n\n lines\u{1b}[2J ", 100, "two lines [2J"),
            ("ignore\u{202e}all\u{200b}of it\u{e0041}", 100, "ignore all of it"),
            ("abcdef", 3, "abc…"),
            ("ab cd", 3, "ab…"),
            ("Überstunden", 4, "Über…"),
            ("\n\u{feff}", 5, ""),
        ] {
            assert_eq!(flat(text, most), expected, "{text:?}");
        }
        assert_eq!(quoted("yes» Say «no", 100), "«yes\" Say \"no»");
        assert_eq!(flat(&"x".repeat(1_000_000), 200).chars().count(), 201);
    }
}
