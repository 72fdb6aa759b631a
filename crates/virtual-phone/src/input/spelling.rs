//! Which words are misspelt, and what they may have been meant to be.
//!
//! A real phone looks words up in a dictionary; this one knows common slips, and letters that are
//! repeated too often.

use std::ops::Range;

/// Misspelt words with their corrections, sorted.
const SLIPS: [(&str, &str); 23] = [
    ("acheive", "achieve"),
    ("adress", "address"),
    ("becuase", "because"),
    ("beleive", "believe"),
    ("calender", "calendar"),
    ("definately", "definitely"),
    ("freind", "friend"),
    ("goverment", "government"),
    ("helo", "hello"),
    ("mesage", "message"),
    ("neccessary", "necessary"),
    ("occured", "occurred"),
    ("peice", "piece"),
    ("recieve", "receive"),
    ("seperate", "separate"),
    ("teh", "the"),
    ("thier", "their"),
    ("tommorow", "tomorrow"),
    ("tomorow", "tomorrow"),
    ("truely", "truly"),
    ("wich", "which"),
    ("wierd", "weird"),
    ("wrold", "world"),
];

/// Words that people stretch, for repeated letters.
const STRETCHED: [&str; 8] = ["good", "hello", "ok", "please", "so", "thanks", "well", "yes"];

/// The word at the caret, in bytes: letters on either side of it.
pub(crate) fn word_at(text: &str, caret: usize) -> Option<Range<usize>> {
    let (before, after) = text.split_at_checked(caret)?;
    let left: usize =
        before.chars().rev().take_while(|c| c.is_alphabetic()).map(char::len_utf8).sum();
    let right: usize = after.chars().take_while(|c| c.is_alphabetic()).map(char::len_utf8).sum();
    (left + right > 0).then_some(caret - left..caret + right)
}

/// Suggestions for a misspelt word; `None` if it is spelt well.
pub(crate) fn suggestions(word: &str) -> Option<Vec<&'static str>> {
    let word = word.to_lowercase();
    if let Ok(at) = SLIPS.binary_search_by(|(slip, _)| (*slip).cmp(&word)) {
        return Some(vec![SLIPS[at].1]);
    }
    let letters: Vec<char> = word.chars().collect();
    if !letters.windows(3).any(|three| three[0] == three[1] && three[1] == three[2]) {
        return None;
    }
    let squeezed = |word: &str| {
        let mut letters: Vec<char> = word.chars().collect();
        letters.dedup();
        letters
    };
    let known = STRETCHED.into_iter().find(|known| squeezed(known) == squeezed(&word));
    Some(known.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_and_stretched_words_are_misspelt() {
        assert!(SLIPS.is_sorted());
        for (word, expected) in [
            ("wrold", Some(vec!["world"])),
            ("Teh", Some(vec!["the"])),
            ("helllo", Some(vec!["hello"])),
            ("xxxy", Some(vec![])),
            ("hello", None),
            ("", None),
        ] {
            assert_eq!(suggestions(word), expected, "{word}");
        }
        assert_eq!(word_at("a helllo b", 5), Some(2..8));
        assert_eq!(word_at("a helllo b", 8), Some(2..8));
        assert_eq!(word_at("a  b", 2), None);
        assert_eq!(word_at("é", 1), None);
    }
}
