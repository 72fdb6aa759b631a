//! The words by which an action is judged: what a label or a sentence announces, in several
//! languages. The lists are in `risky.txt`, in the form that it says.

use std::sync::LazyLock;

use super::harmless::{agrees, begins_like_page, ends_like_page, is_known_label};
use super::spelling::{Words, is_unspaced, rows};

pub(super) const PAY: &str = "pay";
pub(super) const SEND: &str = "send something";
pub(super) const DELETE: &str = "delete something";
pub(super) const CALL: &str = "call someone";

/// Buttons without letters.
const SYMBOLS: [(&str, &str); 4] = [(DELETE, "🗑🚮"), (CALL, "📞☎📲"), (SEND, "➤📤"), (PAY, "💸💳")];

/// Numbers that a button alone would hardly have for anything but calling them.
const EMERGENCY: [&str; 3] = ["112", "911", "999"];

/// A longer text of a row may be somebody's message. There the risky word must be the first one or
/// the last one, where German and Turkish have their verbs.
const MAX_WORDS: usize = 5;
/// The same in characters, for scripts without spaces.
const MAX_CHARACTERS: usize = 48;
/// How much of a sentence is read, in characters.
const MAX_SENTENCE: usize = 400;
/// Shorter words mean too many things in a sentence.
const MIN_WORD: usize = 4;

/// What a control with this label may do. `is_button`: it is one, and not a row of a list.
pub(super) fn risk_of_label(text: &str, is_button: bool) -> Option<&'static str> {
    if is_button && EMERGENCY.contains(&text.trim()) {
        return Some(CALL);
    }
    // "Don't allow", and what says yes to something else.
    if agrees(text) || is_known_label(text) {
        return None;
    }
    let is_long = text.chars().count() > MAX_CHARACTERS;
    let text = Words::of(text);
    let is_short = is_button || (text.parts.len() <= MAX_WORDS && !is_long);
    if begins_like_page(&text) {
        return None;
    }
    let is_page = ends_like_page(&text);
    let has_word = |word: &Word| {
        let has = match word.position {
            Position::Sentence => false,
            Position::First if !is_button => false,
            _ if is_short => word.is_in(&text),
            _ => word.begins_or_ends(&text),
        };
        has && !(word.avoids_pages && is_page)
    };
    // The longest match is the most specific: "delete all data" is more than "delete".
    let found = WORDS.iter().filter(|(_, word)| has_word(word));
    let found = found.max_by_key(|(_, word)| word.length).map(|(what, _)| *what);
    let symbol = || {
        let has = |(_, signs): &&(&str, &str)| signs.chars().any(|sign| text.all.contains(sign));
        SYMBOLS.iter().find(has).map(|(what, _)| *what)
    };
    let price = || (is_button && text.has_price()).then_some(PAY);
    found.or_else(|| if text.parts.is_empty() { symbol() } else { None }).or_else(price)
}

/// What the question of a dialog may be about.
pub(super) fn risk_of_sentence(text: &str) -> Option<&'static str> {
    let cut: String = text.chars().take(MAX_SENTENCE).collect();
    let text = Words::of(&cut);
    let found = WORDS.iter().filter(|(_, word)| word.is_telling && word.is_in(&text));
    let found = found.max_by_key(|(_, word)| word.length).map(|(what, _)| *what);
    found.or_else(|| text.has_price().then_some(PAY))
}

static WORDS: LazyLock<Vec<(&str, Word)>> = LazyLock::new(|| {
    rows(include_str!("risky.txt")).map(|(what, word)| (what, Word::of(word))).collect()
});

/// Where in a label a word counts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Position {
    Any,
    First,
    Whole,
    /// Not in a label, but in the question of a dialog.
    Sentence,
}

/// A word or some words of the lists.
struct Word {
    /// As in [`Words::spaced`], without the last space if other endings count; as in
    /// [`Words::all`] if it is unspaced.
    text: String,
    is_unspaced: bool,
    position: Position,
    /// Whether it does not count in the name of a page or a list.
    avoids_pages: bool,
    /// Whether other endings count too.
    is_prefix: bool,
    /// Whether it has one meaning also inside a sentence: shorter ones have too many.
    is_telling: bool,
    /// In characters.
    length: usize,
}

impl Word {
    /// A word in the form of the file `risky.txt`.
    fn of(word: &str) -> Self {
        let word = word.trim();
        let (position, avoids_pages) = match word.chars().next() {
            Some('^') => (Position::First, true),
            Some('=') => (Position::Whole, false),
            Some('~') => (Position::Any, true),
            Some('"') => (Position::Sentence, false),
            _ => (Position::Any, false),
        };
        let word = word.trim_start_matches(['^', '=', '~', '"']);
        let (word, is_prefix) = match word.strip_suffix('*') {
            Some(begin) => (begin, true),
            None => (word, false),
        };
        let (length, is_unspaced) = (word.chars().count(), word.chars().any(is_unspaced));
        let is_long = length >= MIN_WORD || is_unspaced || matches!(word, "pay" | "buy");
        let is_telling = is_long && matches!(position, Position::Any | Position::Sentence);
        let words = Words::of(word);
        let text = match (is_unspaced, is_prefix) {
            (true, _) => words.all,
            (false, true) => words.spaced.trim_end().to_owned(),
            (false, false) => words.spaced,
        };
        Self { text, is_unspaced, position, avoids_pages, is_prefix, is_telling, length }
    }

    /// Whether the text has it.
    fn is_in(&self, text: &Words) -> bool {
        match (self.position, self.is_unspaced) {
            (Position::Whole, false) => text.spaced == self.text,
            (Position::Whole, true) => text.all == self.text,
            (Position::Any | Position::Sentence, true) => text.all.contains(&self.text),
            // Whole words: "Installed apps" installs nothing, and "Recall" calls nobody.
            (Position::Any | Position::Sentence, false) => has_word(&text.spaced, self),
            (Position::First, true) => text.all.starts_with(&self.text),
            (Position::First, false) => begins_with(&text.after_yes(), self),
        }
    }

    /// Whether the text says it first, after a yes, or last. The words that count only as the first
    /// one mean too many things in a row: a note may be called "Call before noon".
    fn begins_or_ends(&self, text: &Words) -> bool {
        if self.position != Position::Any {
            return false;
        }
        if self.is_unspaced {
            return text.all.starts_with(&self.text) || text.all.ends_with(&self.text);
        }
        let last = text.spaced.rmatch_indices(&self.text).next();
        let is_end = |at: usize| !text.spaced[at + self.text.len()..].trim_end().contains(' ');
        begins_with(&text.after_yes(), self)
            || last.is_some_and(|(at, _)| is_end(at) && has_word(&text.spaced[at..], self))
    }
}

fn begins_with(spaced: &str, word: &Word) -> bool {
    spaced.starts_with(&word.text) && has_word(spaced, word)
}

/// Whether the words, spaced, have this one.
fn has_word(spaced: &str, word: &Word) -> bool {
    let mut found = spaced.match_indices(&word.text);
    found.any(|(at, _)| {
        let rest = &spaced[at + word.text.len()..];
        let ending = rest.split(' ').next().unwrap_or_default();
        !word.is_prefix || !DONE.iter().any(|done| ending.ends_with(done))
    })
}

/// The endings of what was done, in the plural, which is what lists are called after: "eliminados",
/// "installierte", "gönderilenler".
const DONE: [&str; 14] = [
    "ados", "adas", "idos", "idas", "ati", "ate", "iti", "ite", "ees", "es", "te", "ые", "lar",
    "ler",
];

#[cfg(test)]
mod tests {
    use super::super::harmless::is_harmless;
    use super::*;

    /// The names by which the code knows them.
    #[test]
    fn kinds_of_risk_are_headings_of_the_file() {
        let headings: Vec<&str> = WORDS.iter().map(|(what, _)| *what).collect();
        for kind in [PAY, SEND, DELETE, CALL] {
            assert!(headings.contains(&kind), "{kind}");
        }
    }

    #[test]
    fn amount_of_money_on_a_button_is_paid() {
        for label in ["$4.99", "Get for 12,50 €", "¥1,980", "128元", "R$ 10", "499 TL", "USD 5"]
        {
            assert_eq!(risk_of_label(label, true), Some(PAY), "{label}");
        }
        assert_eq!(risk_of_label("Light Ladle 4.99 €", false), None);
        assert_eq!(risk_of_sentence("Total: 12,00 €"), Some(PAY));
    }

    #[test]
    fn emergency_numbers_are_called() {
        assert_eq!(risk_of_label(" 911 ", true), Some(CALL));
        assert_eq!((risk_of_label("911", false), risk_of_label("100", true)), (None, None));
    }

    #[test]
    fn risky_buttons_are_found_in_several_languages() {
        for (words, what) in [
            ("Delete", "delete something"),
            ("DELETE 3 MESSAGES", "delete something"),
            ("Pay now", "pay"),
            ("P\u{200b}a\u{ad}y now\u{202c}", "pay"),
            ("Jetzt kaufen", "pay"),
            ("Envoyer", "send something"),
            ("S\u{2019}abonner", "pay"),
            ("Llamar", "call someone"),
            ("удалить", "delete something"),
            ("削除する", "delete something"),
            ("发送", "send something"),
            ("Uninstall", "uninstall an app"),
            ("Install anyway", "install an app"),
            ("Erase all data (factory reset)", "reset the phone"),
            ("While using the app", "give an app a permission"),
            ("🗑", "delete something"),
            ("📞", "call someone"),
            ("💸", "pay"),
        ] {
            assert_eq!(risk_of_label(words, false), Some(what), "{words}");
        }
    }

    /// The labels were written without a look at the lists.
    #[test]
    fn words_separate_risky_labels_from_harmless_ones() {
        let labels = |file: &'static str| {
            let rows = file.lines().map(|line| line.split_once('\t').unwrap().1);
            rows.collect::<Vec<_>>()
        };
        let risky = labels(include_str!("../../../fixtures/labels/risky.txt"));
        let harmless = labels(include_str!("../../../fixtures/labels/harmless.txt"));
        let by_word = |label: &&&str| risk_of_label(label, true).is_some();
        let passes = |label: &&&str| !by_word(label) && (is_harmless(label) || agrees(label));
        let passing: Vec<_> = risky.iter().filter(passes).collect();
        assert!(passing.len() * 100 <= risky.len(), "not asked about: {passing:?}");
        let known = risky.iter().filter(by_word).count();
        assert!(known * 100 >= risky.len() * 80, "{known} of {} have a known word", risky.len());
        let accused: Vec<_> = harmless.iter().filter(by_word).collect();
        assert!(accused.len() * 100 <= harmless.len() * 5, "{accused:?}");
        let known = harmless.iter().filter(passes).count();
        assert!(known * 100 >= harmless.len() * 45, "{known} of {} are known", harmless.len());
    }

    #[test]
    fn length_and_spelling_of_a_button_make_no_difference() {
        for words in [
            "Delete account and all associated data",
            "Confirm and pay $12.99 with Visa",
            "Buy now with 1-Click for $10.99",
            "Yes, delete all of my photos forever",
            "Konto und alle Daten endgültig löschen jetzt",
            "D\u{435}lete",
            "Ｄｅｌｅｔｅ",
            "𝐃𝐞𝐥𝐞𝐭𝐞",
            "D e l e t e",
            "DeleteNote",
            "pay-now",
            "PAY_NOW",
            "Loschen",
            "Place your order",
            "Format SD card",
            "Close account",
            "Cancel subscription",
            "Move to Recycle Bin",
            "Authorise payment",
            "Leave group",
            "Sign",
            "Reset",
            "Bestellung jetzt stornieren",
            "Commander et payer",
            "提交订单",
            "注文を確定する",
        ] {
            assert!(risk_of_label(words, true).is_some(), "{words}");
        }
    }

    /// A row of a list may be a message that somebody wrote.
    #[test]
    fn long_row_is_risky_by_its_first_or_last_word() {
        for (words, is_risky) in [
            ("Delete this conversation from all of my devices", true),
            ("Ja, alle Fotos auf diesem Telefon unwiderruflich löschen", true),
            ("Anna: can you buy milk on your way home", false),
            ("I deleted the old files, can you send me new ones today", false),
            (&"明天我们一起去市场买东西，然后把旧照片删除掉，".repeat(3), false),
            (&format!("删除{}", "这个对话里的所有消息和图片以及全部附件".repeat(4)), true),
        ] {
            assert_eq!(risk_of_label(words, false).is_some(), is_risky, "{words}");
        }
    }

    #[test]
    fn similar_words_are_not_risky() {
        for words in [
            "Installed apps",
            "Recall",
            "Sender",
            "Callahan",
            "Paypal",
            "Payment methods",
            "Settings",
            "",
            "please call me back as soon as you can, I have to tell you",
            "Deleted items",
            "Sign in",
            "report.txt",
            "Reset zoom",
        ] {
            assert_eq!(risk_of_label(words, false), None, "{words}");
        }
    }

    #[test]
    fn question_of_a_dialog_tells_what_yes_does() {
        for (words, what) in [
            ("Delete this note?", Some("delete something")),
            (
                "Do you really want to permanently remove “Shopping”? This cannot be undone.",
                Some("delete something"),
            ),
            ("You will be charged 12,00 € today", Some("pay")),
            ("Die Notiz wird endgültig gelöscht.", Some("delete something")),
            ("Voulez-vous supprimer la note ?", Some("delete something")),
            ("¿Eliminar la nota?", Some("delete something")),
            ("この連絡先を削除しますか？", Some("delete something")),
            ("“Maps” Would Like to Use Your Location", Some("give an app a permission")),
            ("Your changes were saved", None),
            ("New version available", None),
        ] {
            assert_eq!(risk_of_sentence(words), what, "{words}");
        }
    }
}
