//! Removes from a text what identifies a phone or its owner.

use regex_lite::Regex;

/// Replaces ids, addresses, long numbers and quoted text in what a phone or a tool wrote.
#[derive(Debug)]
pub struct Mask {
    /// Words that identify this phone or computer, with what replaces each.
    words: Vec<(String, &'static str)>,
    patterns: [(Regex, &'static str); 4],
}

/// The longest text that is kept, in characters.
const MAX_CHARS: usize = 200;

impl Mask {
    /// A mask for these words. Empty words are ignored.
    pub fn new(words: Vec<(String, &'static str)>) -> Self {
        let pattern = |text: &str| Regex::new(text).expect("a valid pattern");
        let mut words: Vec<_> = words.into_iter().filter(|(word, _)| !word.is_empty()).collect();
        // A serial number may be a part of an id.
        words.sort_by_key(|(word, _)| std::cmp::Reverse(word.len()));
        Self {
            words,
            patterns: [
                // Tools quote what is on the screen.
                (pattern("\"[^\"]+\""), "\"…\""),
                (pattern(r"[\w.+-]+@[\w-]+\.[\w.-]+"), "ADDRESS"),
                (pattern(r"\b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}(:\d+)?\b"), "ADDRESS"),
                (pattern(r"\+?\d[\d ()/-]{6,}\d"), "NUMBER"),
            ],
        }
    }

    /// The text on one line, masked and truncated.
    pub fn apply(&self, text: &str) -> String {
        let mut text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for (word, name) in &self.words {
            text = text.replace(word, name);
        }
        for (pattern, name) in &self.patterns {
            text = pattern.replace_all(&text, *name).into_owned();
        }
        match text.char_indices().nth(MAX_CHARS) {
            Some((end, _)) => format!("{}…", &text[..end]),
            None => text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_identifies_a_phone_or_its_owner_is_replaced() {
        let mask = Mask::new(vec![
            ("R58M".into(), "SERIAL"),
            ("R58M12ABCD".into(), "ID"),
            (String::new(), "NOTHING"),
        ]);
        let check = |text: &str, masked: &str| assert_eq!(mask.apply(text), masked);
        check("Device 'R58M12ABCD' is gone\n  (R58M)", "Device 'ID' is gone (SERIAL)");
        check("mail jo.doe+x@mail.example.org now", "mail ADDRESS now");
        check("cannot open 192.168.1.20:5555: refused", "cannot open ADDRESS: refused");
        check("it is covered by \"Dear Jo\" (e4)", "it is covered by \"…\" (e4)");
        check("To: +49 (170) 123-4567", "To: NUMBER");
        check("took 2600 ms of 20 s, at 480x800", "took 2600 ms of 20 s, at 480x800");
        assert_eq!(mask.apply(&"x".repeat(300)).chars().count(), MAX_CHARS + 1);
    }
}
