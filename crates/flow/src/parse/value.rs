//! Reads texts with `${…}`, numbers, and times in milliseconds.

use std::time::Duration;

use super::context::{Filled, MapReader, ParseContext, suggestion};
use crate::error::nearest;
use crate::yaml::Value;

/// The longest time accepted anywhere, in milliseconds: one day.
const MAX_TIME: f64 = 86_400_000.0;

/// A text with its `${…}` replaced as far as they are known.
pub(crate) fn text(value: &Value, of: &str, context: &mut ParseContext<'_>) -> Option<String> {
    filled(value, of, context).map(Filled::into_text)
}

/// The same, for what must be more than a text once it is known.
pub(crate) fn filled(value: &Value, of: &str, context: &mut ParseContext<'_>) -> Option<Filled> {
    let written = context.written(value, of)?;
    context.fill(written, &value.at, true).map_err(|what| context.error(&value.at, what)).ok()
}

/// A text that is known when the file is read.
pub(crate) fn known_text(
    value: &Value,
    of: &str,
    context: &mut ParseContext<'_>,
) -> Option<String> {
    match filled(value, of, context)? {
        Filled::Known(text) if !text.is_empty() => return Some(text),
        Filled::Known(_) => context.error(&value.at, format!("{of} must not be empty")),
        Filled::Pending(_) => {
            let what =
                format!("{of} must be known before the flow runs; Maestro does not evaluate it");
            context.error(&value.at, what);
        }
    }
    None
}

/// A text that is not empty.
pub(crate) fn nonempty_text(
    value: &Value,
    of: &str,
    context: &mut ParseContext<'_>,
) -> Option<String> {
    let text = text(value, of, context)?;
    if text.is_empty() {
        context.error(&value.at, format!("{of} must not be empty"));
        return None;
    }
    Some(text)
}

/// A number; the least one while it is not known.
pub(crate) fn number(
    value: &Value,
    of: &str,
    [min, max]: [f64; 2],
    context: &mut ParseContext<'_>,
) -> Option<f64> {
    let text = match filled(value, of, context)? {
        Filled::Known(text) => text,
        Filled::Pending(_) => return Some(min.max(1.0).min(max)),
    };
    let number = text.replace('_', "").trim().parse::<f64>().ok();
    let number = number.filter(|number| (min..=max).contains(number));
    if number.is_none() {
        let what = format!("{of} must be a number from {min} to {max}, not {text:?}");
        context.error(&value.at, what);
    }
    number
}

/// Reads the values of a map's keys.
impl MapReader<'_> {
    /// The text under this key; `None` if there is none or it is wrong.
    pub(crate) fn text(&mut self, key: &'static str, context: &mut ParseContext) -> Option<String> {
        let value = self.take(key)?;
        nonempty_text(value, &format!("`{key}`"), context)
    }

    /// The boolean under this key.
    pub(crate) fn boolean(
        &mut self,
        key: &'static str,
        context: &mut ParseContext,
    ) -> Option<bool> {
        self.one_of(key, &[("true", true), ("false", false)], context)
    }

    /// The whole number under this key, up to `max`.
    pub(crate) fn count(
        &mut self,
        key: &'static str,
        max: u32,
        context: &mut ParseContext,
    ) -> Option<u32> {
        let value = self.take(key)?;
        let range = [0.0, f64::from(max)];
        let number = number(value, &format!("`{key}`"), range, context)?;
        // Within the range; Maestro drops a fraction too.
        Some(number as u32)
    }

    /// The time in milliseconds under this key.
    pub(crate) fn time(
        &mut self,
        key: &'static str,
        context: &mut ParseContext,
    ) -> Option<Duration> {
        let value = self.take(key)?;
        let number = number(value, &format!("`{key}`"), [0.0, MAX_TIME], context)?;
        Some(Duration::from_secs_f64(number / 1000.0))
    }

    /// One of these names under this key, in any case.
    pub(crate) fn one_of<T: Copy>(
        &mut self,
        key: &'static str,
        these: &[(&str, T)],
        context: &mut ParseContext,
    ) -> Option<T> {
        let value = self.take(key)?;
        one_of(value, &format!("`{key}`"), these, context)
    }
}

/// One of these names, in any case.
pub(crate) fn one_of<T: Copy>(
    value: &Value,
    of: &str,
    these: &[(&str, T)],
    context: &mut ParseContext,
) -> Option<T> {
    let text = match filled(value, of, context)? {
        Filled::Known(text) => text,
        Filled::Pending(_) => return these.first().map(|(_, it)| *it),
    };
    if let Some((_, it)) = these.iter().find(|(name, _)| name.eq_ignore_ascii_case(text.trim())) {
        return Some(*it);
    }
    let names: Vec<&str> = these.iter().map(|(name, _)| *name).collect();
    let hint = suggestion(nearest(&text, names.iter().copied()));
    let what = format!("{of} must be one of {}, not {text:?}{hint}", names.join(", "));
    context.error(&value.at, what);
    None
}
