//! Texts of the screen in one spelling, and the word lists.
//!
//! Start with [`Words`]. English, German, French, Spanish, Italian, Portuguese, Dutch, Polish,
//! Russian and Turkish are compared as whole words. Chinese, Japanese and Korean have no spaces
//! between words and match anywhere. Case, accents, hidden characters, letters that only look the
//! same (`Dеlete` with a Cyrillic е), letters set apart (`D e l e t e`) and words run together
//! (`deleteNote`) make no difference: an app must not talk its way around a question that a person
//! would expect.

use thumbwire_base::visible::without_hidden;
use unicode_normalization::UnicodeNormalization as _;
use unicode_normalization::char::is_combining_mark;
use unicode_security::skeleton;

/// The names of money beside a number, as [`Words`] spells them.
const MONEY: [&str; 14] = [
    "usd", "eur", "euro", "euros", "gbp", "chf", "tl", "rub", "pyb", "py6", "kr", "zl", "dollars",
    "btc",
];

/// A text as words, each in one spelling.
pub(super) struct Words {
    pub(super) all: String,
    pub(super) parts: Vec<String>,
    /// The words with one space between them and at both ends.
    pub(super) spaced: String,
    /// As it is shown, in lower case: signs of currencies look like letters.
    pub(super) shown: String,
}

impl Words {
    pub(super) fn of(text: &str) -> Self {
        let shown = without_hidden(text);
        let shown: String = shown.trim().replace(['\u{2019}', '\u{2bc}'], "'").nfkc().collect();
        let all = one_spelling(&apart(&shown));
        let is_part = |it: char| it.is_alphanumeric() || it == '\'';
        let parts = all
            .split(|it| !is_part(it))
            .map(|part| part.trim_matches('\'').to_owned())
            .filter(|part| !part.is_empty());
        let parts = joined(parts.collect());
        let spaced = format!(" {} ", parts.join(" "));
        Self { all, parts, spaced, shown: shown.to_lowercase() }
    }

    /// The words without the yes before them.
    pub(super) fn after_yes(&self) -> String {
        let first = self.parts.iter().position(|part| !agrees_alone(part)).unwrap_or(0);
        format!(" {} ", self.parts[first..].join(" "))
    }

    /// Whether it has an amount of money.
    pub(super) fn has_price(&self) -> bool {
        let letters: Vec<char> = self.shown.chars().filter(|it| !it.is_whitespace()).collect();
        let is_sign = |it: char| "$€£¥₹₺₽₩₴₫฿₪₱₦".contains(it);
        let beside = |pair: &[char]| match *pair {
            [one, other] => {
                is_sign(one) && other.is_ascii_digit()
                    || one.is_ascii_digit() && (is_sign(other) || "元円원".contains(other))
            }
            _ => false,
        };
        let is_number = |part: &str| part.chars().all(|it| it.is_ascii_digit());
        let is_money = |part: &str| MONEY.contains(&part);
        let named = |pair: &[String]| match pair {
            [one, other] => is_number(one) && is_money(other) || is_money(one) && is_number(other),
            _ => false,
        };
        letters.windows(2).any(beside) || self.parts.windows(2).any(named)
    }

    /// All of it; its words if it has some.
    pub(super) fn whole(self) -> String {
        if self.parts.is_empty() { self.all } else { self.parts.join(" ") }
    }
}

/// The words of a file, each with the heading that it is under: `[heading]`, then lines of a
/// language and words.
pub(super) fn rows(file: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let mut heading = "";
    file.lines().flat_map(move |line| {
        let inside = line.strip_prefix('[').and_then(|line| line.strip_suffix(']'));
        heading = inside.unwrap_or(heading);
        let is_row = inside.is_none() && !line.starts_with('#');
        let (_, words) = line.split_once(' ').filter(|_| is_row).unwrap_or_default();
        let heading = heading;
        words.split('|').filter(|word| !word.is_empty()).map(move |word| (heading, word))
    })
}

fn agrees_alone(part: &str) -> bool {
    matches!(
        part,
        "yes"
            | "ok"
            | "ja"
            | "oui"
            | "si"
            | "sim"
            | "tak"
            | "evet"
            | "now"
            | "and"
            | "confirm"
            | "continue"
    )
}

/// In lower case, without accents, and with the letters that others look like (Unicode Technical
/// Standard 39, "skeleton").
fn one_spelling(text: &str) -> String {
    let lower: String =
        skeleton(&text.to_lowercase()).filter(|it| !is_combining_mark(*it)).collect();
    lower.to_lowercase()
}

/// `deleteNote` as two words.
fn apart(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    let mut before = ' ';
    for letter in text.chars() {
        if before.is_lowercase() && letter.is_uppercase() {
            out.push(' ');
        }
        out.push(letter);
        before = letter;
    }
    out
}

/// `d e l e t e` as one word.
fn joined(parts: Vec<String>) -> Vec<String> {
    let is_single = |part: &String| part.chars().nth(1).is_none();
    let mut out: Vec<String> = Vec::new();
    for run in parts.chunk_by(|one, other| is_single(one) && is_single(other)) {
        match run.len() {
            3.. => out.push(run.concat()),
            _ => out.extend(run.iter().cloned()),
        }
    }
    out
}

/// Whether the letter is of a script without spaces between words.
pub(super) fn is_unspaced(letter: char) -> bool {
    matches!(letter, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}')
}
