//! What a command was given: a value, or keys.

use std::time::Duration;

use super::Scope;
use super::context::{MapReader, ParseContext};
use super::selector::{element, element_keys};
use super::value;
use crate::element_pattern::ElementPattern;
use crate::yaml::{Value, ValueKind};

/// A command's arguments.
pub(super) struct Arguments<'a> {
    /// The command's name.
    pub(super) name: &'static str,
    /// What follows the name in the shortest form of the command; empty if that is the name alone.
    pub(super) form: &'static str,
    /// Its name as in the file, in backticks.
    pub(super) of: String,
    /// Its value; empty for a command that is only a word.
    pub(super) value: &'a Value,
    /// The value's keys, if it is a map.
    pub(super) map: Option<MapReader<'a>>,
    pub(super) scope: &'a Scope,
    /// How long the command waits, if it says so.
    pub(super) timeout: Option<Duration>,
    /// How often to repeat it if it fails.
    pub(super) retry: u32,
}

impl<'a> Arguments<'a> {
    /// The text that the command has as its value, or under this key.
    pub(super) fn text(&mut self, key: &'static str, context: &mut ParseContext) -> Option<String> {
        match &mut self.map {
            None if self.value.kind == ValueKind::Null => self.report_value(context),
            None => value::nonempty_text(self.value, &self.of, context),
            Some(map) => {
                let text = map.text(key, context);
                if text.is_none() && !map.was_taken(key) {
                    context.error(map.at(), format!("{} needs `{key}`", self.of));
                }
                text
            }
        }
    }

    /// Reports a value that the command does not take; it may have keys.
    pub(super) fn take_no_value(&self, context: &mut ParseContext) {
        if self.map.is_none() && self.value.kind != ValueKind::Null {
            let what = format!("{} takes keys only, not {}", self.of, self.value.kind());
            context.error(&self.value.at, what);
        }
    }

    /// The element that the command has as its value, or describes by its keys.
    pub(super) fn element(&mut self, context: &mut ParseContext) -> Option<Box<ElementPattern>> {
        match &mut self.map {
            None if !matches!(self.value.kind, ValueKind::Text(_)) => self.report_value(context),
            None => element(self.value, &self.of, context),
            Some(map) => element_keys(map, &self.of, context),
        }
    }

    /// The keys of the command, which must be a map.
    pub(super) fn keys(&mut self, context: &mut ParseContext) -> Option<&mut MapReader<'a>> {
        if self.map.is_none() {
            return self.report_value(context);
        }
        self.map.as_mut()
    }

    /// Reports that the command does not take its value, with one that it takes.
    fn report_value<T>(&self, context: &mut ParseContext) -> Option<T> {
        let Self { name, form, of, value, .. } = self;
        let what = format!("{of} does not take {}; write `{name}{form}`", value.kind());
        context.error(&value.at, what);
        None
    }
}
