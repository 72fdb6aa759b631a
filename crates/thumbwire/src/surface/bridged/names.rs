//! The names of apps' tools: `app_<last segment of the package>_<id>`.
//!
//! The rule. A tool's *plain* name is `app_`, the last segment of the package, `_`, and the tool's id; of an AppFunction's id
//! (`com.example.Notes#createNote`) what stands behind its last `#`. Characters that no MCP name may have become `_`. A tool has its plain
//! name, unless
//!
//! 1. such a character stood in it, or it has more than 64 characters: then eight digits of a hash of package, protocol, service and id
//!    stand behind it, whatever else is installed;
//! 2. another tool has the same name: then *both* have digits, so that an app that is installed later cannot come to stand behind a name
//!    that a client knows already.
//!
//! So a name depends on the tool alone, but for the second case: it gets digits when such an app comes, and loses them when it goes.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

/// How all of them begin. No other tool's name does.
pub const PREFIX: &str = "app_";

/// The longest name, in characters: clients take `^[a-zA-Z0-9_-]{1,64}$`, and drop whole lists for one that is longer.
const LONGEST: usize = 64;

/// How many digits tell tools apart: none, then so many, then so many. Eight can be found again by trying, which somebody may do to
/// take a tool away from others.
const DIGITS: [usize; 3] = [0, 8, 24];

/// What makes a tool another one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    pub(super) app: String,
    /// The protocol's name.
    pub(super) by: &'static str,
    /// The service's class; empty where the platform finds it.
    pub(super) service: String,
    pub(super) id: String,
}

/// The names of these tools, in their order. No two of the keys are the same.
pub(super) fn names(keys: &[Key]) -> Vec<String> {
    let plain: Vec<(String, bool)> = keys.iter().map(plain).collect();
    let mut levels: Vec<usize> = plain.iter().map(|(_, exact)| usize::from(!exact)).collect();
    loop {
        let with_digits = |((key, (plain, _)), level): ((&Key, &(String, bool)), &usize)| {
            named(plain, key, DIGITS[*level])
        };
        let names: Vec<String> = keys.iter().zip(&plain).zip(&levels).map(with_digits).collect();
        let mut times: BTreeMap<&str, usize> = BTreeMap::new();
        names.iter().for_each(|name| *times.entry(name).or_default() += 1);
        let mut raised = false;
        for (name, level) in names.iter().zip(&mut levels) {
            if times[name.as_str()] > 1 && *level + 1 < DIGITS.len() {
                *level += 1;
                raised = true;
            }
        }
        if !raised {
            return names;
        }
    }
}

/// Words as a name may have them, at most so many, and whether nothing was changed.
pub(super) fn fitted(words: &str, most: usize) -> (String, bool) {
    let fits = |char: char| char.is_ascii_alphanumeric() || "_-".contains(char);
    let fitted: String =
        words.chars().take(most).map(|char| if fits(char) { char } else { '_' }).collect();
    let same = fitted == words && !fitted.is_empty();
    (fitted, same)
}

/// So many hexadecimal digits of a hash of these words.
pub(super) fn digits(words: &[&str], count: usize) -> String {
    let mut hash = Sha256::new();
    for word in words {
        hash.update(word.as_bytes());
        // Stands in no package, class or id: XML has no such character.
        hash.update([0]);
    }
    let mut digits = String::new();
    for byte in hash.finalize() {
        let _ = write!(digits, "{byte:02x}");
    }
    digits.truncate(count);
    digits
}

/// The plain name, and whether it is the whole of what the app wrote.
fn plain(key: &Key) -> (String, bool) {
    let suffix = key.app.rsplit('.').next().unwrap_or_default();
    let id = key.id.rsplit('#').next().unwrap_or_default();
    let (suffix, whole) = fitted(suffix, LONGEST);
    let (id, also) = fitted(id, LONGEST);
    let name = format!("{PREFIX}{suffix}_{id}");
    let fits = name.len() <= LONGEST;
    (name, whole && also && fits)
}

fn named(plain: &str, key: &Key, count: usize) -> String {
    if count == 0 {
        return plain.into();
    }
    let Key { app, by, service, id } = key;
    // It is ASCII.
    let stem = &plain[..plain.len().min(LONGEST - 1 - count)];
    format!("{stem}_{}", digits(&[app, by, service, id], count))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(app: &str, id: &str) -> Key {
        Key { app: app.into(), by: "mobile-mcp", service: "x.Service".into(), id: id.into() }
    }

    fn check(keys: &[Key], expected: &[&str]) {
        let names = names(keys);
        let fits = |name: &String| {
            let (_, fits) = fitted(name, LONGEST);
            fits && name.starts_with(PREFIX)
        };
        assert!(names.iter().all(fits), "{names:?}");
        assert_eq!(names, expected);
    }

    #[test]
    fn a_name_is_made_of_the_app_and_the_id() {
        check(&[key("com.example.clockin", "clock_in_today")], &["app_clockin_clock_in_today"]);
        check(&[key("notes", "add-note")], &["app_notes_add-note"]);
        let function =
            Key { by: "app-functions", ..key("com.example.notes", "a.Notes#createNote") };
        check(&[function], &["app_notes_createNote"]);
    }

    #[test]
    fn what_no_name_may_have_is_told_apart_by_digits_whatever_else_is_there() {
        let odd = key("com.example.notes", "add note");
        check(std::slice::from_ref(&odd), &["app_notes_add_note_2f0c0a52"]);
        check(
            &[odd, key("com.example.notes", "add_note")],
            &["app_notes_add_note_2f0c0a52", "app_notes_add_note"],
        );
        let empty = names(&[key("", ""), key("com.example.笔记", "添加")]);
        assert!(empty[0].starts_with("app___"), "{empty:?}");
        assert!(empty[1].starts_with("app_______"), "{empty:?}");
        let long = names(&[key("com.example.notes", &"x".repeat(100_000))]);
        assert_eq!((long[0].len(), &long[0][..12]), (LONGEST, "app_notes_xx"));
    }

    #[test]
    fn of_two_with_the_same_name_both_have_digits_and_neither_order_matters() {
        let (ours, theirs) = (key("com.example.notes", "add"), key("org.evil.notes", "add"));
        let both = names(&[ours.clone(), theirs.clone()]);
        assert!(both.iter().all(|name| name.len() == "app_notes_add_".len() + 8), "{both:?}");
        let other_order = names(&[theirs, ours.clone(), key("com.example.shop", "add")]);
        assert_eq!([&other_order[1], &other_order[0]], [&both[0], &both[1]]);
        assert_eq!(other_order[2], "app_shop_add");
        // The same app by both protocols.
        let function = Key { by: "app-functions", service: String::new(), ..ours.clone() };
        let both = names(&[ours, function]);
        assert_ne!(both[0], both[1]);
        assert!(both.iter().all(|name| name.starts_with("app_notes_add_")), "{both:?}");
    }

    #[test]
    fn who_calls_itself_as_another_is_called_takes_no_name_away() {
        let odd = key("com.example.notes", "add note");
        let name = names(std::slice::from_ref(&odd)).remove(0);
        let copied = name.strip_prefix("app_notes_").unwrap();
        let both = names(&[odd, key("org.evil.notes", copied)]);
        assert_ne!(both[0], both[1]);
        assert!(both.iter().all(|it| *it != name), "{both:?}");
    }
}
