//! Converts YAML values to strings, numbers and maps, and collects errors on the way.
//!
//! Begin with [`ParseContext`]: it knows the parameters and collects every error, so that all errors of a file are reported
//! at once. [`MapReader`] takes the keys of a map one by one; keys left at the end are unknown. The known keys are in `parse_file`
//! and `parse_step`.

use std::collections::BTreeMap;
use std::time::Duration;

use super::error::{FlowError, SourceLocation, nearest};
use super::yaml::{Key, Value, ValueKind};

/// How many errors are reported.
const MOST_MISTAKES: usize = 20;

/// The longest duration accepted anywhere: one day.
const LONGEST: f64 = 86_400.0;

/// The state while a file is parsed.
pub(super) struct ParseContext {
    mistakes: Vec<FlowError>,
}

/// Parameter values by name.
pub(super) type Parameters = BTreeMap<String, String>;

impl ParseContext {
    pub(super) fn new() -> Self {
        Self { mistakes: Vec::new() }
    }

    /// Records an error and continues.
    pub(super) fn error(&mut self, at: &SourceLocation, what: impl Into<String>) {
        self.keep(FlowError::new(at.clone(), what));
    }

    /// Records an error. If a file is run from several places, each error is recorded once.
    pub(super) fn keep(&mut self, mistake: FlowError) {
        if self.mistakes.len() < MOST_MISTAKES && !self.mistakes.contains(&mistake) {
            self.mistakes.push(mistake);
        }
    }

    /// The recorded errors, by position within each file.
    pub(super) fn mistakes(mut self) -> Vec<FlowError> {
        self.mistakes.sort_by_key(|one| (one.at.file().to_owned(), one.at.line, one.at.column));
        self.mistakes
    }

    pub(super) fn is_well(&self) -> bool {
        self.mistakes.is_empty()
    }

    /// How many errors there are so far.
    pub(super) fn mistake_count(&self) -> usize {
        self.mistakes.len()
    }

    /// A value as a map. `of` names it in errors.
    pub(super) fn map<'a>(&mut self, value: &'a Value, of: &str) -> Option<MapReader<'a>> {
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
    pub(super) fn list<'a>(&mut self, value: &'a Value, of: &str) -> &'a [Value] {
        match &value.kind {
            ValueKind::List(all) => all,
            _ => {
                self.error(&value.at, format!("{of} must be a list (`- …`), not {}", value.kind()));
                &[]
            }
        }
    }

    /// A string, with its parameters replaced.
    pub(super) fn text(
        &mut self,
        value: &Value,
        of: &str,
        parameters: &Parameters,
    ) -> Option<String> {
        let written = self.written(value, of)?;
        match fill(written, parameters) {
            Ok(text) => Some(text),
            Err(what) => {
                self.error(&value.at, what);
                None
            }
        }
    }

    /// A string as written in the file.
    pub(super) fn written<'a>(&mut self, value: &'a Value, of: &str) -> Option<&'a str> {
        match &value.kind {
            ValueKind::Text(text) => Some(text),
            _ => {
                self.error(&value.at, format!("{of} must be a string, not {}", value.kind()));
                None
            }
        }
    }

    /// A string that is not empty.
    pub(super) fn interpolate(
        &mut self,
        value: &Value,
        of: &str,
        parameters: &Parameters,
    ) -> Option<String> {
        let text = self.text(value, of, parameters)?;
        if text.is_empty() {
            self.error(&value.at, format!("{of} must not be empty"));
            return None;
        }
        Some(text)
    }

    /// A boolean.
    pub(super) fn boolean(
        &mut self,
        value: &Value,
        of: &str,
        parameters: &Parameters,
    ) -> Option<bool> {
        match self.text(value, of, parameters)?.as_str() {
            "true" => Some(true),
            "false" => Some(false),
            other => {
                self.error(&value.at, format!("{of} must be true or false, not {other:?}"));
                None
            }
        }
    }

    /// A whole number in this range.
    pub(super) fn count(
        &mut self,
        value: &Value,
        of: &str,
        [least, most]: [u32; 2],
        parameters: &Parameters,
    ) -> Option<u32> {
        let text = self.text(value, of, parameters)?;
        let number = text.parse::<u32>().ok().filter(|number| (least..=most).contains(number));
        if number.is_none() {
            self.error(
                &value.at,
                format!("{of} must be a whole number from {least} to {most}, not {text:?}"),
            );
        }
        number
    }

    /// A number in this range.
    pub(super) fn number(
        &mut self,
        value: &Value,
        of: &str,
        [least, most]: [f64; 2],
        parameters: &Parameters,
    ) -> Option<f64> {
        let text = self.text(value, of, parameters)?;
        let number = text.parse::<f64>().ok().filter(|number| (least..=most).contains(number));
        if number.is_none() {
            self.error(
                &value.at,
                format!("{of} must be a number from {least} to {most}, not {text:?}"),
            );
        }
        number
    }

    /// A duration in seconds: `2`, `0.5`, `2s`, `500ms`.
    pub(super) fn time(
        &mut self,
        value: &Value,
        of: &str,
        parameters: &Parameters,
    ) -> Option<Duration> {
        let text = self.text(value, of, parameters)?;
        let (number, unit) = match text.strip_suffix("ms") {
            Some(number) => (number, 0.001),
            None => (text.strip_suffix('s').unwrap_or(&text), 1.0),
        };
        let seconds = number.trim().parse::<f64>().ok().map(|number| number * unit);
        let seconds = seconds.filter(|seconds| (0.0..=LONGEST).contains(seconds));
        if seconds.is_none() {
            let what = format!(
                "{of} must be a time in seconds from 0 to {LONGEST} (`2`, `0.5`, `500ms`), not {text:?}"
            );
            self.error(&value.at, what);
        }
        seconds.map(Duration::from_secs_f64)
    }

    /// One of these values.
    pub(super) fn one_of<T: Copy>(
        &mut self,
        value: &Value,
        of: &str,
        these: &[(&str, T)],
        parameters: &Parameters,
    ) -> Option<T> {
        let text = self.text(value, of, parameters)?;
        if let Some((_, it)) = these.iter().find(|(name, _)| *name == text) {
            return Some(*it);
        }
        let names: Vec<&str> = these.iter().map(|(name, _)| *name).collect();
        let hint = suggestion(nearest(&text, names.iter().copied()));
        self.error(
            &value.at,
            format!("{of} must be one of {}, not {text:?}{hint}", names.join(", ")),
        );
        None
    }
}

/// "; did you mean …".
pub(super) fn suggestion(word: Option<&str>) -> String {
    word.map_or(String::new(), |word| format!("; did you mean `{word}`?"))
}

/// A map whose keys are taken one by one.
pub(super) struct MapReader<'a> {
    at: &'a SourceLocation,
    left: Vec<&'a (Key, Value)>,
    asked: Vec<&'static str>,
    taken: Vec<&'static str>,
}

impl<'a> MapReader<'a> {
    pub(super) fn at(&self) -> &'a SourceLocation {
        self.at
    }

    /// The value under this key, once.
    pub(super) fn take(&mut self, key: &'static str) -> Option<&'a Value> {
        self.asked.push(key);
        let at = self.left.iter().position(|(one, _)| one.name == key)?;
        self.taken.push(key);
        Some(&self.left.remove(at).1)
    }

    /// Takes the value of a key, which earlier versions called `former`. A flow that has both gets an error for the
    /// former one.
    pub(super) fn take_renamed(&mut self, key: &'static str, former: &str) -> Option<&'a Value> {
        self.take(key).or_else(|| {
            let at = self.left.iter().position(|(one, _)| one.name == former)?;
            Some(&self.left.remove(at).1)
        })
    }

    /// Whether this key existed and its value was taken.
    pub(super) fn was_taken(&self, key: &str) -> bool {
        self.taken.contains(&key)
    }

    /// Whether one of these keys exists.
    pub(super) fn has(&self, keys: &[&str]) -> bool {
        self.left.iter().any(|(one, _)| keys.contains(&one.name.as_str()))
    }

    /// The remaining entries.
    pub(super) fn rest(&self) -> impl Iterator<Item = (&'a Key, &'a Value)> + use<'a, '_> {
        self.left.iter().map(|(key, value)| (key, value))
    }

    /// Reports the keys that nobody took.
    pub(super) fn end(self, reading: &mut ParseContext, of: &str) {
        for (key, _) in self.left {
            let hint = nearest(&key.name, self.asked.iter().copied());
            let known = match hint {
                Some(_) => suggestion(hint),
                None => format!("; known keys: {}", names(&self.asked)),
            };
            reading.error(&key.at, format!("unknown key `{}` in {of}{known}", key.name));
        }
    }
}

/// `one`, `two`, `three`.
pub(super) fn names(all: &[&str]) -> String {
    all.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// Replaces `${NAME}` by parameters; `$${` stands for `${`.
fn fill(text: &str, parameters: &Parameters) -> Result<String, String> {
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
            return Err("`${` has no closing `}`; write `$${` for a literal `${`".into());
        };
        match parameters.get(name) {
            Some(value) => filled.push_str(value),
            None => {
                let hint = nearest(name, parameters.keys().map(String::as_str));
                let hint =
                    hint.map_or(String::new(), |name| format!("; did you mean `${{{name}}}`?"));
                return Err(format!(
                    "unknown parameter {name:?}: define it in `env` or with --param{hint}"
                ));
            }
        }
        rest = behind;
        if filled.len() > super::yaml::LONGEST {
            return Err("the text is too long after replacing parameters".into());
        }
    }
    filled.push_str(rest);
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_replaced_but_secrets_are_not() {
        let known = Parameters::from([("WHO".into(), "Ada".into()), ("N".into(), "${WHO}".into())]);
        let check = |text: &str, expected: Result<&str, &str>| match (fill(text, &known), expected)
        {
            (Ok(filled), Ok(expected)) => assert_eq!(filled, expected, "{text}"),
            (Err(what), Err(part)) => assert!(what.contains(part), "{text}: {what}"),
            (filled, _) => panic!("{text}: {filled:?}"),
        };
        check("Hello ${WHO}, ${WHO}!", Ok("Hello Ada, Ada!"));
        check("{{PIN}} $5 $WHO", Ok("{{PIN}} $5 $WHO"));
        // Values are not replaced again, so a value cannot refer to another parameter.
        check("${N}", Ok("${WHO}"));
        check("$${WHO}", Ok("${WHO}"));
        check("${WHOM}", Err("did you mean `${WHO}`?"));
        check("${WHO", Err("has no closing `}`"));
    }
}
