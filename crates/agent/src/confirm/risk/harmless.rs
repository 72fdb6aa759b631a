//! Labels of buttons that do nothing that lasts, in the languages of [`super::spelling`].
//!
//! Start with [`is_harmless`]. The words are in `harmless.txt`; what a risky word is in is judged
//! before.

use std::collections::HashSet;
use std::sync::LazyLock;

use super::spelling::{Words, is_unspaced, rows};

/// Whether a button with this label is known to do nothing that lasts. Signs, numbers and single
/// letters are the keys of calculators and games.
pub(super) fn is_harmless(label: &str) -> bool {
    let text = Words::of(label);
    let has_letters = text.shown.chars().any(char::is_alphabetic);
    let is_key = matches!(&text.parts[..], [one] if one.chars().nth(1).is_none());
    !has_letters
        || is_key
        || begins_like_page(&text)
        || ends_like_page(&text)
        || KNOWN.first_words.begins(&text)
        || is_known_label(label)
}

/// Whether this is a whole label that does nothing that lasts.
pub(super) fn is_known_label(label: &str) -> bool {
    KNOWN.labels.contains(&Words::of(label).whole())
}

/// Whether a button with this label says yes to whatever is asked.
pub(super) fn agrees(label: &str) -> bool {
    KNOWN.agreement.contains(&Words::of(label).whole())
}

/// Whether the text is the name of a page or a list by its first word, in languages in which the
/// noun comes first.
pub(super) fn begins_like_page(text: &Words) -> bool {
    KNOWN.page_beginnings.begins(text)
}

/// Whether it is one by its last word. A single word is not a name: "Report" reports.
pub(super) fn ends_like_page(text: &Words) -> bool {
    text.parts.len() > 1
        && text.parts.last().is_some_and(|last| KNOWN.page_ends.words.contains(last))
        || KNOWN.page_ends.unspaced.iter().any(|end| text.all.ends_with(end))
}

/// The words under one heading.
struct Heading {
    words: HashSet<String>,
    /// Those in scripts without spaces between words.
    unspaced: Vec<String>,
}

impl Heading {
    fn of(heading: &str) -> Self {
        let under = rows(include_str!("harmless.txt")).filter(|(under, _)| *under == heading);
        let words = under.map(|(_, word)| Words::of(word).whole());
        let (unspaced, words): (Vec<_>, Vec<_>) =
            words.partition(|word| word.chars().any(is_unspaced));
        Self { words: words.into_iter().collect(), unspaced }
    }

    fn begins(&self, text: &Words) -> bool {
        text.parts.first().is_some_and(|first| self.words.contains(first))
            || self.unspaced.iter().any(|first| text.all.starts_with(first))
    }
}

struct Known {
    labels: HashSet<String>,
    agreement: HashSet<String>,
    first_words: Heading,
    page_beginnings: Heading,
    page_ends: Heading,
}

static KNOWN: LazyLock<Known> = LazyLock::new(|| {
    let all = |heading| {
        let Heading { words, unspaced } = Heading::of(heading);
        words.into_iter().chain(unspaced).collect()
    };
    Known {
        labels: all("labels"),
        agreement: all("agreement"),
        first_words: Heading::of("first words"),
        page_beginnings: Heading::of("page beginnings"),
        page_ends: Heading::of("page ends"),
    }
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agreement_is_known_in_several_languages() {
        for word in
            ["OK", "Yes", "Ja", "D\u{2019}accord", "Sí", "确定", "はい", "✓", "Continue", "I agree"]
        {
            assert!(agrees(word), "{word}");
        }
        for word in ["Cancel", "No", "Close", "Back", "", "Yesterday", "Later"] {
            assert!(!agrees(word), "{word}");
        }
    }
}
