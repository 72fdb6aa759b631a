//! Collects the errors of a file, and reads the structure of YAML values.
//!
//! Start with [`ParseContext`]: it keeps every error, so that all errors of a file are reported
//! at once. [`MapReader`] takes the keys of a map one by one; keys left at the end are unknown.
//! Texts, numbers and times are read in `value`.

use std::collections::BTreeMap;

use crate::error::{FlowError, SourceLocation, nearest};
use crate::yaml::{Key, Value, ValueKind};

/// How many errors are reported.
const MAX_ERRORS: usize = 20;

/// The errors of a file so far.
pub(crate) struct ParseContext {
    errors: Vec<FlowError>,
}

/// Parameter values by name.
pub(crate) type Parameters = BTreeMap<String, String>;

impl ParseContext {
    pub(crate) fn new() -> Self {
        Self { errors: Vec::new() }
    }

    /// Records an error and continues.
    pub(crate) fn error(&mut self, at: &SourceLocation, what: impl Into<String>) {
        self.keep(FlowError::new(at.clone(), what));
    }

    /// Records an error. If a file is run from several places, each error is recorded once.
    pub(crate) fn keep(&mut self, error: FlowError) {
        if self.errors.len() < MAX_ERRORS && !self.errors.contains(&error) {
            self.errors.push(error);
        }
    }

    /// The recorded errors, by position within each file.
    pub(crate) fn errors(mut self) -> Vec<FlowError> {
        self.errors.sort_by_key(|one| (one.at.file().to_owned(), one.at.line, one.at.column));
        self.errors
    }

    /// How many errors there are so far.
    pub(crate) fn error_count(&self) -> usize {
        self.errors.len()
    }

    /// A value as a map. `of` names it in errors.
    pub(crate) fn map<'a>(&mut self, value: &'a Value, of: &str) -> Option<MapReader<'a>> {
        match &value.kind {
            ValueKind::Map(entries) => Some(MapReader {
                at: &value.at,
                left: entries.iter().collect(),
                asked: Vec::new(),
                taken: Vec::new(),
            }),
            _ => {
                self.error(
                    &value.at,
                    format!("{of} must be a map (`key: value`), not {}", value.kind()),
                );
                None
            }
        }
    }

    /// A value as a list.
    pub(crate) fn list<'a>(&mut self, value: &'a Value, of: &str) -> &'a [Value] {
        match &value.kind {
            ValueKind::List(all) => all,
            _ => {
                self.error(&value.at, format!("{of} must be a list (`- …`), not {}", value.kind()));
                &[]
            }
        }
    }

    /// A string as written in the file.
    pub(crate) fn written<'a>(&mut self, value: &'a Value, of: &str) -> Option<&'a str> {
        match &value.kind {
            ValueKind::Text(text) => Some(text),
            _ => {
                self.error(&value.at, format!("{of} must be a string, not {}", value.kind()));
                None
            }
        }
    }
}

/// "; did you mean …".
pub(crate) fn suggestion(word: Option<&str>) -> String {
    word.map_or(String::new(), |word| format!("; did you mean `{word}`?"))
}

/// A map whose keys are taken one by one.
pub(crate) struct MapReader<'a> {
    at: &'a SourceLocation,
    left: Vec<&'a (Key, Value)>,
    asked: Vec<&'static str>,
    taken: Vec<&'static str>,
}

impl<'a> MapReader<'a> {
    pub(crate) fn at(&self) -> &'a SourceLocation {
        self.at
    }

    /// The value under this key, once.
    pub(crate) fn take(&mut self, key: &'static str) -> Option<&'a Value> {
        self.asked.push(key);
        let at = self.left.iter().position(|(one, _)| one.name == key)?;
        self.taken.push(key);
        Some(&self.left.remove(at).1)
    }

    /// Whether this key existed and its value was taken.
    pub(crate) fn was_taken(&self, key: &str) -> bool {
        self.taken.contains(&key)
    }

    /// Whether one of these keys exists.
    pub(crate) fn has(&self, keys: &[&str]) -> bool {
        self.left.iter().any(|(one, _)| keys.contains(&one.name.as_str()))
    }

    /// The remaining entries.
    pub(crate) fn rest(&self) -> impl Iterator<Item = (&'a Key, &'a Value)> + use<'a, '_> {
        self.left.iter().map(|(key, value)| (key, value))
    }

    /// Reports the keys that nobody took.
    pub(crate) fn end(self, context: &mut ParseContext, of: &str) {
        for (key, _) in self.left {
            let hint = nearest(&key.name, self.asked.iter().copied());
            let known = match hint {
                Some(_) => suggestion(hint),
                None => format!("; known keys: {}", names(&self.asked)),
            };
            context.error(&key.at, format!("unknown key `{}` in {of}{known}", key.name));
        }
    }
}

/// `one`, `two`, `three`.
pub(crate) fn names(all: &[&str]) -> String {
    all.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
