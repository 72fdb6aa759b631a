//! What a command was given: a value, or keys.

use std::time::Duration;

use super::MaestroScope;
use super::value::{self, MapValues as _};
use crate::parse_value::{MapReader, Parameters, ParseContext};
use crate::yaml::Value;

/// A command's arguments.
pub(super) struct Arguments<'a> {
    /// The command's name.
    pub(super) name: &'static str,
    /// Its name as in the file, in backticks.
    pub(super) of: String,
    /// Its value; empty for a command that is only a word.
    pub(super) value: &'a Value,
    /// The value's keys, if it is a map.
    pub(super) map: Option<MapReader<'a>>,
    pub(super) scope: &'a MaestroScope,
    /// How long the command waits, if it says so.
    pub(super) timeout: Option<Duration>,
    /// How often to repeat it if it fails.
    pub(super) retry: u32,
}

impl<'a> Arguments<'a> {
    pub(super) fn parameters(&self) -> &'a Parameters {
        &self.scope.parameters
    }

    /// The text that the command has as its value, or under this key.
    pub(super) fn text(&mut self, key: &'static str, reading: &mut ParseContext) -> Option<String> {
        let parameters = self.parameters();
        match &mut self.map {
            None => value::words(self.value, &self.of, parameters, reading),
            Some(map) => {
                let text = map.text(key, parameters, reading);
                if text.is_none() && !map.was_taken(key) {
                    reading.error(map.at(), format!("{} needs `{key}`", self.of));
                }
                text
            }
        }
    }

    /// The keys of the command, which must be a map.
    pub(super) fn keys(&mut self, reading: &mut ParseContext) -> Option<&mut MapReader<'a>> {
        if self.map.is_none() {
            let what = format!("{} must be a map (`key: value`)", self.of);
            reading.error(&self.value.at, what);
        }
        self.map.as_mut()
    }
}
