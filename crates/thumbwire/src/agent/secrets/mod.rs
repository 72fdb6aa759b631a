//! Secrets: typed by name, shown to nobody.
//!
//! Begin with [`Vault`], which holds the values by their names and puts the one in the other's place, and go on to [`Secrets`],
//! which does so with all that passes between whoever decides and the phone. A mind writes `{{NAME}}` into a text that is to be
//! typed; what the phone shows of the value comes back as `{{NAME}}`. What the phone shows that looks like such a name is broken
//! up (`{ {NAME}}`), so that no app can have a secret typed by showing its name. Where the values come from is the caller's
//! matter.

mod guard;
mod matching;

use std::fmt;
use std::sync::{PoisonError, RwLock};

pub use guard::Secrets;
use matching::{Pattern, Source};

/// Shorter values would be found, and replaced, all over the screen.
const SHORTEST: usize = 4;
/// A longer name or value is a mistake.
const LONGEST_NAME: usize = 64;
const LONGEST_VALUE: usize = 4096;

/// Values by their names. It can be looked at by all who hold it, and tells names only.
#[derive(Default)]
pub struct Vault {
    kept: RwLock<Vec<Secret>>,
}

/// A name and its value. The value is written over when it goes, as far as that can be done without unsafe code: what the
/// allocator or the wire has copied stays.
struct Secret {
    name: String,
    value: Vec<u8>,
    patterns: Vec<Pattern>,
}

impl Drop for Secret {
    fn drop(&mut self) {
        self.value.fill(0);
        std::hint::black_box(&self.value);
        self.patterns.iter_mut().for_each(Pattern::wipe);
    }
}

impl fmt::Debug for Vault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Vault").field(&self.names()).finish()
    }
}

/// Words from which values were taken.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Cleaned {
    /// With names in the place of values.
    words: String,
    /// Whether there was a value, or what is left of one.
    showed: bool,
}

impl Vault {
    /// These values by their names.
    ///
    /// # Errors
    /// Why one of them cannot be kept, in words that do not hold it.
    pub fn new(given: impl IntoIterator<Item = (String, String)>) -> Result<Self, String> {
        let vault = Self::default();
        for (name, value) in given {
            vault.keep(&name, value)?;
        }
        Ok(vault)
    }

    /// Keeps a value; the one that had this name before is forgotten.
    ///
    /// # Errors
    /// Why it cannot be kept: its name is none, or it could not be told from other words on a screen.
    pub fn keep(&self, name: &str, value: String) -> Result<(), String> {
        check_secret_name(name)?;
        let secret = Secret::new(name, value)?;
        let mut kept = self.kept.write().unwrap_or_else(PoisonError::into_inner);
        let tells = |name: &str, secret: &Secret| {
            matching::clean(name, Source::Words, &secret.all()).is_some()
        };
        if tells(name, &secret) || kept.iter().any(|it| tells(&it.name, &secret) || tells(name, it))
        {
            return Err(format!(
                "the secret {name} cannot be kept: a secret's name would tell its value, or another's"
            ));
        }
        kept.retain(|it| it.name != name);
        kept.push(secret);
        // Of two values, the one inside the other must not be found first.
        kept.sort_by_key(|it| std::cmp::Reverse(it.value.len()));
        Ok(())
    }

    /// The names, sorted.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> =
            self.read(|kept| kept.iter().map(|it| it.name.clone()).collect());
        names.sort();
        names
    }

    /// Whether there is nothing to hide.
    pub fn is_empty(&self) -> bool {
        self.read(<[Secret]>::is_empty)
    }

    /// Puts values in the place of names. `None` where there is no name.
    ///
    /// # Errors
    /// There is no secret of that name; the words tell those that there are.
    fn fill(&self, text: &str) -> Result<Option<String>, String> {
        let mut filled = String::new();
        let mut rest = text;
        while let Some((before, name, after)) = next_name(rest) {
            let value = self.read(|kept| {
                let secret = kept.iter().find(|it| it.name == name)?;
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
                "there is no secret {name}, and no other; ask the person for it, or go on without"
            ),
            false => format!("there is no secret {name}; there are: {}", names.join(", ")),
        }
    }

    /// Words with names where values were.
    pub(super) fn cleaned(&self, words: &str) -> String {
        self.clean(words, &[]).map_or_else(|| words.to_owned(), |cleaned| cleaned.words)
    }

    /// Words of the phone's without values, and without these further words; `None` where there is nothing to take out.
    fn clean(&self, words: &str, further: &[Pattern]) -> Option<Cleaned> {
        self.clean_as(words, Source::Words, further)
    }

    /// The same of XML.
    fn clean_xml(&self, xml: &str, further: &[Pattern]) -> Option<Cleaned> {
        self.clean_as(xml, Source::Xml, further)
    }

    fn clean_as(&self, words: &str, source: Source, further: &[Pattern]) -> Option<Cleaned> {
        if words.is_empty() {
            return None;
        }
        self.read(|kept| {
            let all: Vec<&Pattern> =
                kept.iter().flat_map(|it| &it.patterns).chain(further).collect();
            matching::clean(words, source, &all)
        })
    }

    /// What a field shows is what is left of a value of which characters were lost: its name, in brackets.
    fn rest_of_one(&self, shows: &str) -> Option<String> {
        self.read(|kept| {
            let of =
                |it: &&Secret| matching::is_rest_of(shows, &String::from_utf8_lossy(&it.value));
            kept.iter().find(of).map(|it| format!("(a part of {{{{{}}}}})", it.name))
        })
    }

    fn read<T>(&self, with: impl FnOnce(&[Secret]) -> T) -> T {
        with(&self.kept.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Secret {
    fn new(name: &str, value: String) -> Result<Self, String> {
        let refuse = |why: &str| Err(format!("the secret {name} cannot be kept: {why}"));
        let count = value.trim().chars().count();
        if count < SHORTEST {
            return refuse(&format!(
                "its value has fewer than {SHORTEST} characters, and could not be told from other words on a screen"
            ));
        }
        if value.len() > LONGEST_VALUE {
            return refuse(&format!("its value is longer than {LONGEST_VALUE} bytes"));
        }
        if value.contains("{{") {
            return refuse("its value holds \"{{\", by which names of secrets are known");
        }
        if is_common(&value) {
            return refuse("its value is a word that stands on many screens");
        }
        let label = format!("{{{{{name}}}}}");
        let patterns =
            matching::spellings(&value).iter().map(|it| Pattern::new(it, &label)).collect();
        Ok(Self { name: name.to_owned(), value: value.into_bytes(), patterns })
    }

    fn all(&self) -> Vec<&Pattern> {
        self.patterns.iter().collect()
    }
}

/// Refuses what cannot be a secret's name.
///
/// # Errors
/// What makes one.
pub fn check_secret_name(name: &str) -> Result<(), String> {
    let fits = !name.is_empty() && name.len() <= LONGEST_NAME && is_name(name);
    fits.then_some(()).ok_or_else(|| {
        let name: String = name.chars().take(LONGEST_NAME).collect();
        format!("{name:?} is no name for a secret: letters, digits and _ make one, a letter first")
    })
}

fn is_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.chars().all(|it| it.is_ascii_alphanumeric() || it == '_')
}

/// The next `{{NAME}}`: what stands before it, the name, what stands behind.
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

/// Words that would be hidden wherever they stand.
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
    fn a_name_in_a_text_becomes_its_value_and_an_unknown_one_is_refused() {
        let vault = vault(&[("PASSWORD", "hunter2!"), ("PIN", "4711")]);
        let fill = |text: &str| vault.fill(text).map(|it| it.unwrap_or_else(|| "(none)".into()));
        assert_eq!(fill("{{PASSWORD}}").unwrap(), "hunter2!");
        assert_eq!(fill("a {{PIN}}-{{PIN}} {{").unwrap(), "a 4711-4711 {{");
        assert_eq!(fill("{{{PIN}}}").unwrap(), "{4711}");
        assert_eq!(fill("no {{ name }} here").unwrap(), "(none)");
        assert_eq!(
            fill("{{TOKEN}}").unwrap_err(),
            "there is no secret TOKEN; there are: PASSWORD, PIN"
        );
        assert!(Vault::default().fill("{{X}}").unwrap_err().contains("and no other"));
    }

    #[test]
    fn a_value_that_could_not_be_hidden_is_refused_without_being_told() {
        for (value, why) in [
            ("abc", "fewer than 4"),
            ("  a  ", "fewer than 4"),
            ("Password", "stands on many screens"),
            ("x{{PIN}}", "names of secrets"),
        ] {
            let says = refused("PIN", value);
            assert!(says.contains(why) && says.starts_with("the secret PIN"), "{says}");
        }
        assert!(refused("1PIN", "long enough").contains("is no name"));
        assert!(refused("A B", "long enough").contains("is no name"));
        assert!(refused("HUNTER2_PASSWORD", "hunter2").contains("would tell its value"));
        assert!(!refused("X", "cat").contains("cat"));
    }

    #[test]
    fn what_is_printed_of_a_vault_is_names() {
        let printed = format!("{:?}", vault(&[("B", "hunter2!"), ("A", "4711")]));
        assert_eq!(printed, r#"Vault(["A", "B"])"#);
    }

    #[test]
    fn a_value_that_is_asked_for_again_takes_the_place_of_the_first() {
        let vault = vault(&[("CODE", "1234567")]);
        vault.keep("CODE", "7654321".into()).unwrap();
        assert_eq!(vault.fill("{{CODE}}").unwrap().unwrap(), "7654321");
        assert_eq!(vault.names(), ["CODE"]);
    }

    #[test]
    fn words_of_the_phone_come_back_with_names() {
        let vault = vault(&[("PASSWORD", "hunter2!"), ("LONG", "hunter2! and more")]);
        let cleaned = |words: &str| vault.clean(words, &[]).map(|it| (it.words, it.showed));
        assert_eq!(cleaned("nothing"), None);
        assert_eq!(cleaned("You typed Hunter2!."), Some(("You typed {{PASSWORD}}.".into(), true)));
        assert_eq!(cleaned("hunter2! and more").unwrap().0, "{{LONG}}");
        assert_eq!(vault.rest_of_one("huner2!").unwrap(), "(a part of {{PASSWORD}})");
    }

    #[test]
    fn an_app_that_shows_a_secrets_name_has_nothing_typed() {
        let vault = vault(&[("PASSWORD", "hunter2!")]);
        let shown = vault.clean("type {{PASSWORD}} here, or {{OTHER}}", &[]).unwrap();
        assert_eq!(
            (shown.words.as_str(), shown.showed),
            ("type { {PASSWORD}} here, or { {OTHER}}", false)
        );
        assert_eq!(vault.fill(&shown.words), Ok(None));
    }
}
