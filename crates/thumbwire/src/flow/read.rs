//! From YAML values to words, numbers and maps, collecting what is wrong on the way.
//!
//! Begin with [`Reading`]: it knows the parameters, and keeps every mistake, so that a file's are told all at once. [`Map`] takes the
//! keys of a map one by one; what is left in the end is not known. What keys there are stands in `cases` and `steps`.

use std::collections::BTreeMap;
use std::time::Duration;

use super::mistake::{Mistake, Place, nearest};
use super::yaml::{Is, Key, Value};

/// How many mistakes are told at most.
const MOST_MISTAKES: usize = 20;

/// The longest that anything can be asked to take: a day.
const LONGEST: f64 = 86_400.0;

/// What is known while a file is read.
pub(super) struct Reading {
    mistakes: Vec<Mistake>,
}

/// The values of parameters by name.
pub(super) type Parameters = BTreeMap<String, String>;

impl Reading {
    pub(super) fn new() -> Self {
        Self { mistakes: Vec::new() }
    }

    /// Keeps a mistake, and goes on.
    pub(super) fn wrong(&mut self, at: &Place, what: impl Into<String>) {
        self.keep(Mistake::new(at.clone(), what));
    }

    /// Keeps a mistake. A file that is run from several places has its mistakes told once.
    pub(super) fn keep(&mut self, mistake: Mistake) {
        if self.mistakes.len() < MOST_MISTAKES && !self.mistakes.contains(&mistake) {
            self.mistakes.push(mistake);
        }
    }

    /// Those that were kept, in the order of their places within each file.
    pub(super) fn mistakes(mut self) -> Vec<Mistake> {
        self.mistakes.sort_by_key(|one| (one.at.file().to_owned(), one.at.line, one.at.column));
        self.mistakes
    }

    pub(super) fn is_well(&self) -> bool {
        self.mistakes.is_empty()
    }

    /// A value that is a map. `of` says what for.
    pub(super) fn map<'a>(&mut self, value: &'a Value, of: &str) -> Option<Map<'a>> {
        match &value.is {
            Is::Map(entries) => {
                Some(Map { at: &value.at, left: entries.iter().collect(), asked: Vec::new() })
            }
            _ => {
                self.wrong(
                    &value.at,
                    format!("{of} is a map (`key: value`), and {} stands there", value.kind()),
                );
                None
            }
        }
    }

    /// A value that is a list.
    pub(super) fn list<'a>(&mut self, value: &'a Value, of: &str) -> &'a [Value] {
        match &value.is {
            Is::List(all) => all,
            _ => {
                self.wrong(
                    &value.at,
                    format!("{of} is a list (`- …`), and {} stands there", value.kind()),
                );
                &[]
            }
        }
    }

    /// A word, with its parameters filled in.
    pub(super) fn text(&mut self, value: &Value, of: &str, known: &Parameters) -> Option<String> {
        let written = self.written(value, of)?;
        match fill(written, known) {
            Ok(text) => Some(text),
            Err(what) => {
                self.wrong(&value.at, what);
                None
            }
        }
    }

    /// A word as it stands there.
    pub(super) fn written<'a>(&mut self, value: &'a Value, of: &str) -> Option<&'a str> {
        match &value.is {
            Is::Text(text) => Some(text),
            _ => {
                self.wrong(&value.at, format!("{of} is a word, and {} stands there", value.kind()));
                None
            }
        }
    }

    /// A word that says something.
    pub(super) fn filled(&mut self, value: &Value, of: &str, known: &Parameters) -> Option<String> {
        let text = self.text(value, of, known)?;
        if text.is_empty() {
            self.wrong(&value.at, format!("{of} is empty"));
            return None;
        }
        Some(text)
    }

    /// Yes or no.
    pub(super) fn truth(&mut self, value: &Value, of: &str, known: &Parameters) -> Option<bool> {
        match self.text(value, of, known)?.as_str() {
            "true" => Some(true),
            "false" => Some(false),
            other => {
                self.wrong(&value.at, format!("{of} is true or false, and not {other:?}"));
                None
            }
        }
    }

    /// A whole number between these.
    pub(super) fn count(
        &mut self,
        value: &Value,
        of: &str,
        [least, most]: [u32; 2],
        known: &Parameters,
    ) -> Option<u32> {
        let text = self.text(value, of, known)?;
        let number = text.parse::<u32>().ok().filter(|number| (least..=most).contains(number));
        if number.is_none() {
            self.wrong(
                &value.at,
                format!("{of} is a whole number from {least} to {most}, and not {text:?}"),
            );
        }
        number
    }

    /// A number between these.
    pub(super) fn number(
        &mut self,
        value: &Value,
        of: &str,
        [least, most]: [f64; 2],
        known: &Parameters,
    ) -> Option<f64> {
        let text = self.text(value, of, known)?;
        let number = text.parse::<f64>().ok().filter(|number| (least..=most).contains(number));
        if number.is_none() {
            self.wrong(
                &value.at,
                format!("{of} is a number from {least} to {most}, and not {text:?}"),
            );
        }
        number
    }

    /// Seconds: `2`, `0.5`, `2s`, `500ms`.
    pub(super) fn time(&mut self, value: &Value, of: &str, known: &Parameters) -> Option<Duration> {
        let text = self.text(value, of, known)?;
        let (number, unit) = match text.strip_suffix("ms") {
            Some(number) => (number, 0.001),
            None => (text.strip_suffix('s').unwrap_or(&text), 1.0),
        };
        let seconds = number.trim().parse::<f64>().ok().map(|number| number * unit);
        let seconds = seconds.filter(|seconds| (0.0..=LONGEST).contains(seconds));
        if seconds.is_none() {
            let what = format!(
                "{of} is a time in seconds from 0 to {LONGEST} (`2`, `0.5`, `500ms`), and not {text:?}"
            );
            self.wrong(&value.at, what);
        }
        seconds.map(Duration::from_secs_f64)
    }

    /// One of these words.
    pub(super) fn one_of<T: Copy>(
        &mut self,
        value: &Value,
        of: &str,
        these: &[(&str, T)],
        known: &Parameters,
    ) -> Option<T> {
        let text = self.text(value, of, known)?;
        if let Some((_, it)) = these.iter().find(|(name, _)| *name == text) {
            return Some(*it);
        }
        let names: Vec<&str> = these.iter().map(|(name, _)| *name).collect();
        let hint = meant(nearest(&text, names.iter().copied()));
        self.wrong(&value.at, format!("{of} is {}, and not {text:?}{hint}", names.join(", ")));
        None
    }
}

/// "; did you mean …".
pub(super) fn meant(word: Option<&str>) -> String {
    word.map_or(String::new(), |word| format!("; did you mean `{word}`?"))
}

/// A map whose keys are taken one by one.
pub(super) struct Map<'a> {
    at: &'a Place,
    left: Vec<&'a (Key, Value)>,
    asked: Vec<&'static str>,
}

impl<'a> Map<'a> {
    pub(super) fn at(&self) -> &'a Place {
        self.at
    }

    /// The value under this key, once.
    pub(super) fn take(&mut self, key: &'static str) -> Option<&'a Value> {
        self.asked.push(key);
        let at = self.left.iter().position(|(one, _)| one.name == key)?;
        Some(&self.left.remove(at).1)
    }

    /// Whether one of these keys is there.
    pub(super) fn has(&self, keys: &[&str]) -> bool {
        self.left.iter().any(|(one, _)| keys.contains(&one.name.as_str()))
    }

    /// What is left.
    pub(super) fn rest(&self) -> impl Iterator<Item = (&'a Key, &'a Value)> + use<'a, '_> {
        self.left.iter().map(|(key, value)| (key, value))
    }

    /// Tells of the keys that nobody took.
    pub(super) fn end(self, reading: &mut Reading, of: &str) {
        for (key, _) in self.left {
            let hint = nearest(&key.name, self.asked.iter().copied());
            let known = match hint {
                Some(_) => meant(hint),
                None => format!("; it takes {}", names(&self.asked)),
            };
            reading.wrong(&key.at, format!("{of} has no `{}`{known}", key.name));
        }
    }
}

/// `one`, `two`, `three`.
pub(super) fn names(all: &[&str]) -> String {
    all.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Puts parameters in the place of `${NAME}`; `$${` is `${`.
fn fill(text: &str, known: &Parameters) -> Result<String, String> {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        let (before, after) = rest.split_at(at);
        if let Some(escaped) = before.strip_suffix('$') {
            filled.push_str(escaped);
            filled.push_str("${");
            rest = &after[2..];
            continue;
        }
        filled.push_str(before);
        let Some((name, behind)) = after[2..].split_once('}') else {
            return Err("`${` has no `}`; `$${` is written for the characters themselves".into());
        };
        match known.get(name) {
            Some(value) => filled.push_str(value),
            None => {
                let hint = nearest(name, known.keys().map(String::as_str));
                let hint =
                    hint.map_or(String::new(), |name| format!("; did you mean `${{{name}}}`?"));
                return Err(format!(
                    "there is no parameter {name:?}: it stands neither in `env` nor behind --param{hint}"
                ));
            }
        }
        rest = behind;
        if filled.len() > super::yaml::LONGEST {
            return Err("what parameters unfold to is too long".into());
        }
    }
    filled.push_str(rest);
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_filled_in_and_secrets_left_alone() {
        let known = Parameters::from([("WHO".into(), "Ada".into()), ("N".into(), "${WHO}".into())]);
        let check = |text: &str, expected: Result<&str, &str>| match (fill(text, &known), expected)
        {
            (Ok(filled), Ok(expected)) => assert_eq!(filled, expected, "{text}"),
            (Err(what), Err(part)) => assert!(what.contains(part), "{text}: {what}"),
            (filled, _) => panic!("{text}: {filled:?}"),
        };
        check("Hello ${WHO}, ${WHO}!", Ok("Hello Ada, Ada!"));
        check("{{PIN}} $5 $WHO", Ok("{{PIN}} $5 $WHO"));
        // A value is not filled in again: what somebody types cannot name another parameter.
        check("${N}", Ok("${WHO}"));
        check("$${WHO}", Ok("${WHO}"));
        check("${WHOM}", Err("did you mean `${WHO}`?"));
        check("${WHO", Err("has no `}`"));
    }
}
