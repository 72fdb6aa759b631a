//! Secrets: typed by name, never shown.
//!
//! Start with [`Vault`], which stores values by name and replaces one by the other, then
//! [`RedactedPerform`], which does so for everything between the policy and the phone. A policy
//! writes `{{NAME}}` into text to type; where the phone shows the value, `{{NAME}}` comes back. If
//! the phone shows such a placeholder, it is broken up (`{ {NAME}}`), so that no app can get a
//! secret typed by showing its name. Where the values come from is up to the caller.

mod matching;
mod redact;

use std::fmt;
use std::sync::{PoisonError, RwLock};

use matching::{Pattern, TextKind};
pub use redact::RedactedPerform;

/// Shorter values would be found all over the screen.
const MIN_VALUE: usize = 4;
/// Longer names or values are a mistake.
const MAX_NAME: usize = 64;
const MAX_VALUE: usize = 4096;

/// Values by name. Anyone who holds it can list the names, but not the values.
#[derive(Default)]
pub struct Vault {
    kept: RwLock<Vec<Secret>>,
}

/// A name and its value. The value is overwritten on drop, as far as safe code can: copies made by
/// the allocator or for the wire remain.
struct Secret {
    name: String,
    value: Vec<u8>,
    /// Whether it can still be typed. Where the phone shows it, it is replaced anyway.
    is_typable: bool,
    patterns: Vec<Pattern>,
}

impl Drop for Secret {
    fn drop(&mut self) {
        self.value.fill(0);
        std::hint::black_box(&self.value);
        self.patterns.iter_mut().for_each(Pattern::redact);
    }
}

impl fmt::Debug for Vault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Vault").field(&self.names()).finish()
    }
}

/// A redacted text.
#[derive(Debug, Clone, PartialEq, Eq)]
struct RedactedText {
    /// The text, with names instead of values.
    text: String,
    /// Whether it contained a value, or part of one.
    showed: bool,
}

impl Vault {
    /// A vault with these names and values.
    ///
    /// # Errors
    /// Why one of them cannot be stored. The message does not contain the value.
    pub fn new(given: impl IntoIterator<Item = (String, String)>) -> Result<Self, String> {
        let vault = Self::default();
        for (name, value) in given {
            vault.insert(&name, value)?;
        }
        Ok(vault)
    }

    /// Stores a value, replacing an earlier one of this name.
    ///
    /// # Errors
    /// The name is invalid, or the value could not be distinguished from other text on a
    /// screen.
    pub fn insert(&self, name: &str, value: String) -> Result<(), String> {
        check_secret_name(name)?;
        let secret = Secret::new(name, value)?;
        let mut kept = self.kept.write().unwrap_or_else(PoisonError::into_inner);
        let reveals = |name: &str, secret: &Secret| {
            matching::clean(name, TextKind::Words, &secret.all()).is_some()
        };
        if reveals(name, &secret)
            || kept.iter().any(|it| reveals(&it.name, &secret) || reveals(name, it))
        {
            return Err(format!(
                "cannot store the secret {name}: the name of a secret must not reveal the value of one"
            ));
        }
        kept.retain(|it| it.name != name);
        kept.push(secret);
        // Longest first, so that a value inside another one is not found before it.
        kept.sort_by_key(|it| std::cmp::Reverse(it.value.len()));
        Ok(())
    }

    /// Lets a secret be typed no more. Where the phone shows it, its name still takes its place.
    pub fn retire(&self, name: &str) {
        let mut kept = self.kept.write().unwrap_or_else(PoisonError::into_inner);
        kept.iter_mut().filter(|it| it.name == name).for_each(|it| it.is_typable = false);
    }

    /// The names of those that can be typed, sorted.
    pub fn names(&self) -> Vec<String> {
        let typable = |kept: &[Secret]| -> Vec<String> {
            kept.iter().filter(|it| it.is_typable).map(|it| it.name.clone()).collect()
        };
        let mut names = self.read(typable);
        names.sort();
        names
    }

    /// Whether there are no secrets.
    pub fn is_empty(&self) -> bool {
        self.read(<[Secret]>::is_empty)
    }

    /// Replaces placeholders by values. `None` if there are none.
    ///
    /// # Errors
    /// There is no such secret; the message lists those that exist.
    fn fill(&self, text: &str) -> Result<Option<String>, String> {
        let mut filled = String::new();
        let mut rest = text;
        while let Some((before, name, after)) = next_name(rest) {
            let value = self.read(|kept| {
                let secret = kept.iter().find(|it| it.name == name && it.is_typable)?;
                Some(String::from_utf8_lossy(&secret.value).into_owned())
            });
            let Some(value) = value else { return Err(self.unknown(name)) };
            filled.push_str(before);
            filled.push_str(&value);
            rest = after;
        }
        if filled.is_empty() && rest.len() == text.len() {
            return Ok(None);
        }
        filled.push_str(rest);
        Ok(Some(filled))
    }

    fn unknown(&self, name: &str) -> String {
        let names = self.names();
        match names.is_empty() {
            true => format!(
                "there is no secret {name}, and no other; ask the user for it, or go on without it"
            ),
            false => format!("there is no secret {name}; the secrets are {}", names.join(", ")),
        }
    }

    /// The text with names instead of values.
    pub(super) fn cleaned(&self, text: &str) -> String {
        self.redact(text, &[]).map_or_else(|| text.to_owned(), |cleaned| cleaned.text)
    }

    /// Redacts a text from the phone, including the `further` patterns; `None` if there is nothing
    /// to redact.
    fn redact(&self, text: &str, further: &[Pattern]) -> Option<RedactedText> {
        self.clean_as(text, TextKind::Words, further)
    }

    /// Redacts XML from the phone, like [`Self::redact`].
    fn redact_xml(&self, xml: &str, further: &[Pattern]) -> Option<RedactedText> {
        self.clean_as(xml, TextKind::Xml, further)
    }

    fn clean_as(&self, text: &str, source: TextKind, further: &[Pattern]) -> Option<RedactedText> {
        if text.is_empty() {
            return None;
        }
        self.read(|kept| {
            let all: Vec<&Pattern> =
                kept.iter().flat_map(|it| &it.patterns).chain(further).collect();
            matching::clean(text, source, &all)
        })
    }

    /// If a field shows a secret that lost some characters: its name, marked as a part.
    fn rest_of_one(&self, shows: &str) -> Option<String> {
        self.read(|kept| {
            let of =
                |it: &&Secret| matching::is_rest_of(shows, &String::from_utf8_lossy(&it.value));
            kept.iter().find(of).map(|it| format!("(part of {{{{{}}}}})", it.name))
        })
    }

    fn read<T>(&self, with: impl FnOnce(&[Secret]) -> T) -> T {
        with(&self.kept.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Secret {
    fn new(name: &str, value: String) -> Result<Self, String> {
        let refuse = |reason: &str| Err(format!("cannot store the secret {name}: {reason}"));
        let count = value.trim().chars().count();
        if count < MIN_VALUE {
            return refuse(&format!(
                "its value has fewer than {MIN_VALUE} characters and could not be distinguished from other text on a screen"
            ));
        }
        if value.len() > MAX_VALUE {
            return refuse(&format!("its value is longer than {MAX_VALUE} bytes"));
        }
        if value.contains("{{") {
            return refuse("its value contains \"{{\", which marks the names of secrets");
        }
        if is_common(&value) {
            return refuse("its value is a word that appears on many screens");
        }
        let label = format!("{{{{{name}}}}}");
        let patterns =
            matching::spellings(&value).iter().map(|it| Pattern::new(it, &label)).collect();
        Ok(Self { name: name.to_owned(), value: value.into_bytes(), is_typable: true, patterns })
    }

    fn all(&self) -> Vec<&Pattern> {
        self.patterns.iter().collect()
    }
}

/// Checks the name of a secret.
///
/// # Errors
/// What a valid name looks like.
pub fn check_secret_name(name: &str) -> Result<(), String> {
    let fits = !name.is_empty() && name.len() <= MAX_NAME && is_name(name);
    fits.then_some(()).ok_or_else(|| {
        let name: String = name.chars().take(MAX_NAME).collect();
        format!("{name:?} is not a valid name for a secret: use letters, digits and _, and do not start with a digit")
    })
}

fn is_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.chars().all(|it| it.is_ascii_alphanumeric() || it == '_')
}

/// The next `{{NAME}}`: the text before it, the name, the text after it.
fn next_name(text: &str) -> Option<(&str, &str, &str)> {
    let mut from = 0;
    while let Some(open) = text[from..].find("{{").map(|at| from + at) {
        let inside = &text[open + 2..];
        if let Some(close) = inside.find("}}").filter(|&close| is_name(&inside[..close])) {
            return Some((&text[..open], &inside[..close], &inside[close + 2..]));
        }
        from = open + 1;
    }
    None
}

/// Words so common that they would be redacted everywhere.
fn is_common(value: &str) -> bool {
    const COMMON: [&str; 16] = [
        "true", "false", "null", "none", "password", "passwort", "username", "user", "email",
        "name", "login", "sign in", "search", "settings", "android", "cancel",
    ];
    COMMON.contains(&value.trim().to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vault(given: &[(&str, &str)]) -> Vault {
        Vault::new(given.iter().map(|(name, value)| ((*name).into(), (*value).into()))).unwrap()
    }

    fn refused(name: &str, value: &str) -> String {
        Vault::new([(name.to_owned(), value.to_owned())]).unwrap_err()
    }

    #[test]
    fn placeholder_becomes_value_and_unknown_one_is_rejected() {
        let vault = vault(&[("PASSWORD", "hunter2!"), ("PIN", "4711")]);
        let fill = |text: &str| vault.fill(text).map(|it| it.unwrap_or_else(|| "(none)".into()));
        assert_eq!(fill("{{PASSWORD}}").unwrap(), "hunter2!");
        assert_eq!(fill("a {{PIN}}-{{PIN}} {{").unwrap(), "a 4711-4711 {{");
        assert_eq!(fill("{{{PIN}}}").unwrap(), "{4711}");
        assert_eq!(fill("no {{ name }} here").unwrap(), "(none)");
        assert_eq!(
            fill("{{TOKEN}}").unwrap_err(),
            "there is no secret TOKEN; the secrets are PASSWORD, PIN"
        );
        assert!(Vault::default().fill("{{X}}").unwrap_err().contains("and no other"));
    }

    #[test]
    fn unsuitable_value_is_rejected_without_being_shown() {
        for (value, reason) in [
            ("abc", "fewer than 4"),
            ("  a  ", "fewer than 4"),
            ("Password", "appears on many screens"),
            ("x{{PIN}}", "names of secrets"),
        ] {
            let says = refused("PIN", value);
            assert!(
                says.contains(reason) && says.starts_with("cannot store the secret PIN"),
                "{says}"
            );
        }
        assert!(refused("1PIN", "long enough").contains("is not a valid name"));
        assert!(refused("A B", "long enough").contains("is not a valid name"));
        assert!(refused("HUNTER2_PASSWORD", "hunter2").contains("must not reveal the value"));
        assert!(!refused("X", "cat").contains("cat"));
    }

    #[test]
    fn vault_debug_output_has_only_names() {
        let printed = format!("{:?}", vault(&[("B", "hunter2!"), ("A", "4711")]));
        assert_eq!(printed, r#"Vault(["A", "B"])"#);
    }

    #[test]
    fn new_value_replaces_the_old_one() {
        let vault = vault(&[("CODE", "1234567")]);
        vault.insert("CODE", "7654321".into()).unwrap();
        assert_eq!(vault.fill("{{CODE}}").unwrap().unwrap(), "7654321");
        assert_eq!(vault.names(), ["CODE"]);
    }

    #[test]
    fn phone_text_is_redacted() {
        let vault = vault(&[("PASSWORD", "hunter2!"), ("LONG", "hunter2! and more")]);
        let cleaned = |text: &str| vault.redact(text, &[]).map(|it| (it.text, it.showed));
        assert_eq!(cleaned("nothing"), None);
        assert_eq!(cleaned("You typed Hunter2!."), Some(("You typed {{PASSWORD}}.".into(), true)));
        assert_eq!(cleaned("hunter2! and more").unwrap().0, "{{LONG}}");
        assert_eq!(vault.rest_of_one("huner2!").unwrap(), "(part of {{PASSWORD}})");
    }

    #[test]
    fn placeholder_shown_by_an_app_is_broken_up() {
        let vault = vault(&[("PASSWORD", "hunter2!")]);
        let shown = vault.redact("type {{PASSWORD}} here, or {{OTHER}}", &[]).unwrap();
        assert_eq!(
            (shown.text.as_str(), shown.showed),
            ("type { {PASSWORD}} here, or { {OTHER}}", false)
        );
        assert_eq!(vault.fill(&shown.text), Ok(None));
    }
}
