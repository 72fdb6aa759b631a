//! The names of app tools: `app_<last segment of the package>_<id>`.
//!
//! A tool's *plain* name is `app_`, the last segment of the package, `_`, and the tool's id; of an
//! AppFunction's id (`com.example.Notes#createNote`) the part after the last `#`. Characters that
//! MCP names do not allow become `_`. A tool has its plain name unless
//!
//! 1. a character was replaced, or the name has more than 64 characters: then it ends in eight
//!    digits of a hash of package, protocol, service and id, whatever else is installed;
//! 2. another tool has the same name: then *both* get digits, so that an app installed later cannot
//!    take over a name that a client already knows.
//!
//! So a name depends on the tool alone, except in the second case: it gets digits when the other
//! app is installed, and loses them when that is removed.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

/// The prefix of all app tools, and of no other tool.
pub const PREFIX: &str = "app_";

/// The longest name, in characters: clients accept `^[a-zA-Z0-9_-]{1,64}$`, and reject the whole
/// list for one longer name.
const MAX_LENGTH: usize = 64;

/// How many digits a name gets, in order of escalation. An attacker can brute-force eight to
/// collide with another tool.
const DIGITS: [usize; 3] = [0, 8, 24];

/// The identity of a tool.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ToolIdentity {
    pub(super) app: String,
    /// The protocol's name.
    pub(super) by: &'static str,
    /// The service's class; empty if the platform finds it.
    pub(super) service: String,
    pub(super) id: String,
}

/// The names of these tools, in order. The keys must be unique.
pub(super) fn names(keys: &[ToolIdentity]) -> Vec<String> {
    let plain: Vec<(String, bool)> = keys.iter().map(plain).collect();
    let mut levels: Vec<usize> = plain.iter().map(|(_, exact)| usize::from(!exact)).collect();
    loop {
        let with_digits =
            |((key, (plain, _)), level): ((&ToolIdentity, &(String, bool)), &usize)| {
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

/// Fits text into a name: at most `most` characters, disallowed ones replaced. Also returns whether
/// it is unchanged.
pub(super) fn fitted(text: &str, max: usize) -> (String, bool) {
    let fits = |char: char| char.is_ascii_alphanumeric() || "_-".contains(char);
    let fitted: String =
        text.chars().take(max).map(|char| if fits(char) { char } else { '_' }).collect();
    let same = fitted == text && !fitted.is_empty();
    (fitted, same)
}

/// The first `count` hexadecimal digits of a hash of these words.
pub(super) fn digits(text: &[&str], count: usize) -> String {
    let mut hash = Sha256::new();
    for word in text {
        hash.update(word.as_bytes());
        // A separator that no package, class or id contains: XML does not allow it.
        hash.update([0]);
    }
    let mut digits = String::new();
    for byte in hash.finalize() {
        let _ = write!(digits, "{byte:02x}");
    }
    digits.truncate(count);
    digits
}

/// The plain name, and whether it is exactly what the app wrote.
fn plain(key: &ToolIdentity) -> (String, bool) {
    let suffix = key.app.rsplit('.').next().unwrap_or_default();
    let id = key.id.rsplit('#').next().unwrap_or_default();
    let (suffix, whole) = fitted(suffix, MAX_LENGTH);
    let (id, also) = fitted(id, MAX_LENGTH);
    let name = format!("{PREFIX}{suffix}_{id}");
    let fits = name.len() <= MAX_LENGTH;
    (name, whole && also && fits)
}

fn named(plain: &str, key: &ToolIdentity, count: usize) -> String {
    if count == 0 {
        return plain.into();
    }
    let ToolIdentity { app, by, service, id } = key;
    // Slicing is safe: it is ASCII.
    let stem = &plain[..plain.len().min(MAX_LENGTH - 1 - count)];
    format!("{stem}_{}", digits(&[app, by, service, id], count))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(app: &str, id: &str) -> ToolIdentity {
        ToolIdentity {
            app: app.into(),
            by: "mobile-mcp",
            service: "x.Service".into(),
            id: id.into(),
        }
    }

    fn check(keys: &[ToolIdentity], expected: &[&str]) {
        let names = names(keys);
        let fits = |name: &String| {
            let (_, fits) = fitted(name, MAX_LENGTH);
            fits && name.starts_with(PREFIX)
        };
        assert!(names.iter().all(fits), "{names:?}");
        assert_eq!(names, expected);
    }

    #[test]
    fn names_have_the_app_and_the_id() {
        check(&[key("com.example.clockin", "clock_in_today")], &["app_clockin_clock_in_today"]);
        check(&[key("notes", "add-note")], &["app_notes_add-note"]);
        let function =
            ToolIdentity { by: "app-functions", ..key("com.example.notes", "a.Notes#createNote") };
        check(&[function], &["app_notes_createNote"]);
    }

    #[test]
    fn invalid_characters_add_digits() {
        let spaced = key("com.example.notes", "add note");
        check(std::slice::from_ref(&spaced), &["app_notes_add_note_2f0c0a52"]);
        check(
            &[spaced, key("com.example.notes", "add_note")],
            &["app_notes_add_note_2f0c0a52", "app_notes_add_note"],
        );
        let empty = names(&[key("", ""), key("com.example.笔记", "添加")]);
        assert!(empty[0].starts_with("app___"), "{empty:?}");
        assert!(empty[1].starts_with("app_______"), "{empty:?}");
        let long = names(&[key("com.example.notes", &"x".repeat(100_000))]);
        assert_eq!((long[0].len(), &long[0][..12]), (MAX_LENGTH, "app_notes_xx"));
    }

    #[test]
    fn equal_names_both_get_digits() {
        let (ours, theirs) = (key("com.example.notes", "add"), key("org.evil.notes", "add"));
        let both = names(&[ours.clone(), theirs.clone()]);
        assert!(both.iter().all(|name| name.len() == "app_notes_add_".len() + 8), "{both:?}");
        let other_order = names(&[theirs, ours.clone(), key("com.example.shop", "add")]);
        assert_eq!([&other_order[1], &other_order[0]], [&both[0], &both[1]]);
        assert_eq!(other_order[2], "app_shop_add");
        // The same app with both protocols.
        let function = ToolIdentity { by: "app-functions", service: String::new(), ..ours.clone() };
        let both = names(&[ours, function]);
        assert_ne!(both[0], both[1]);
        assert!(both.iter().all(|name| name.starts_with("app_notes_add_")), "{both:?}");
    }

    #[test]
    fn apps_cannot_take_over_a_hashed_name() {
        let spaced = key("com.example.notes", "add note");
        let name = names(std::slice::from_ref(&spaced)).remove(0);
        let copied = name.strip_prefix("app_notes_").unwrap();
        let both = names(&[spaced, key("org.evil.notes", copied)]);
        assert_ne!(both[0], both[1]);
        assert!(both.iter().all(|it| *it != name), "{both:?}");
    }
}
