//! Collects the errors of a file, evaluates its `${…}`, and reads the structure of YAML values.
//!
//! Start with [`ParseContext`]: it keeps every error, so that all errors of a file are reported
//! at once. [`MapReader`] takes the keys of a map one by one; keys left at the end are unknown.
//! Texts, numbers and times are read in `value`.
//!
//! A command is read twice if it has a `${…}`: with its file, when it is checked and a parameter
//! has its value already, and again when its step runs.

use std::collections::BTreeMap;

use thumbwire_device::Platform;

use super::expression::{self, Part};
use crate::error::{FlowError, SourceLocation, nearest};
use crate::plan::{Findings, Need};
use crate::script::{Parameters, ScriptEngine, ScriptValue};
use crate::yaml::{Key, MAX_BYTES, Value, ValueKind};

/// How many errors are reported.
const MAX_ERRORS: usize = 20;

/// The errors of a file so far, and what its texts may refer to.
pub(crate) struct ParseContext<'e> {
    errors: Vec<FlowError>,
    scripts: Scripts<'e>,
    /// The parameters at this place; `None` is a value that is known when the flow runs.
    pub(super) known: BTreeMap<String, Option<String>>,
    /// Whether a text since the last [`ParseContext::take_pending`] is known only when the flow
    /// runs.
    pending: bool,
    /// Whether the commands at this place may not run.
    pub(super) is_conditional: bool,
    /// The only platform on which the commands at this place run.
    pub(super) platform: Option<Platform>,
    /// Whether an element that is not inside another one said `optional`.
    pub(super) has_optional_element: bool,
    pub(super) findings: Findings,
}

/// Who evaluates `${…}`.
enum Scripts<'e> {
    /// Nobody yet: the file is being read. The engine, once there is one, checks the syntax.
    Later(Option<ScriptEngine>),
    /// The engine of the case that runs.
    Now(&'e mut ScriptEngine),
}

/// A text as far as it is known.
pub(crate) enum Filled {
    /// It is.
    Known(String),
    /// Some of its scripts are in it.
    Pending(String),
}

impl Filled {
    pub(crate) fn into_text(self) -> String {
        match self {
            Self::Known(text) | Self::Pending(text) => text,
        }
    }
}

impl ParseContext<'_> {
    /// For reading a file.
    pub(crate) fn new() -> ParseContext<'static> {
        ParseContext::with(Scripts::Later(None))
    }

    /// For a step that runs.
    pub(crate) fn running(engine: &mut ScriptEngine) -> ParseContext<'_> {
        ParseContext::with(Scripts::Now(engine))
    }

    fn with(scripts: Scripts<'_>) -> ParseContext<'_> {
        ParseContext {
            errors: Vec::new(),
            scripts,
            known: BTreeMap::new(),
            pending: false,
            is_conditional: false,
            platform: None,
            has_optional_element: false,
            findings: Findings::default(),
        }
    }

    /// Whether a step runs; else its file is being read.
    pub(super) fn is_running(&self) -> bool {
        matches!(self.scripts, Scripts::Now(_))
    }

    /// Whether a text since the last time is known only when the flow runs.
    pub(super) fn take_pending(&mut self) -> bool {
        std::mem::take(&mut self.pending)
    }

    /// For a command whose parts are pending if `pending` says so.
    pub(super) fn set_pending(&mut self, pending: bool) {
        self.pending = pending;
    }

    /// Records what a step needs that there is not.
    pub(super) fn need(&mut self, at: &SourceLocation, what: String, is_optional: bool) {
        let may_not_matter = is_optional || self.is_conditional;
        self.findings.needs.push(Need { error: FlowError::new(at.clone(), what), may_not_matter });
    }

    /// Records what Maestro reads otherwise than its author may think.
    pub(crate) fn warn(&mut self, at: &SourceLocation, what: impl Into<String>) {
        self.findings.warnings.push(FlowError::new(at.clone(), what));
    }

    /// Replaces the `${…}` of a text, as far as they are known. Without `is_strict`, undefined is
    /// a text, as it is in Maestro's conditions.
    ///
    /// # Errors
    /// A script that is wrong, or undefined.
    pub(crate) fn fill(
        &mut self,
        written: &str,
        at: &SourceLocation,
        is_strict: bool,
    ) -> Result<Filled, String> {
        let mut filled = String::with_capacity(written.len());
        let mut is_pending = false;
        for part in expression::parts(written)? {
            match part {
                Part::Text(text) => filled.push_str(text),
                Part::Ignored(text) => {
                    let what =
                        "Maestro does not evaluate a `${…}` with a `$` in it; join texts with `+`";
                    self.warn(at, what);
                    filled.push_str(text);
                }
                Part::Script(script) => match self.value_of(script, at, is_strict)? {
                    Some(text) => filled.push_str(&text),
                    None => {
                        is_pending = true;
                        filled.push_str(&format!("${{{script}}}"));
                    }
                },
            }
            if filled.len() > MAX_BYTES {
                return Err("the text is too long after replacing parameters".into());
            }
        }
        self.pending |= is_pending;
        Ok(if is_pending { Filled::Pending(filled) } else { Filled::Known(filled) })
    }

    /// The text of a script; `None` if it is known only when the flow runs.
    fn value_of(
        &mut self,
        script: &str,
        at: &SourceLocation,
        is_strict: bool,
    ) -> Result<Option<String>, String> {
        let engine = match &mut self.scripts {
            Scripts::Now(engine) => engine,
            Scripts::Later(_) => return self.known_value(script.trim(), at, is_strict),
        };
        let value = engine.evaluate(script).map_err(|error| format!("`${{{script}}}`: {error}"))?;
        match value {
            ScriptValue::Text(text) => Ok(Some(text)),
            _ if !is_strict => Ok(Some(value.name().into())),
            ScriptValue::Undefined => Err(undefined(script)),
            ScriptValue::Object => Err(format!(
                "`${{{script}}}` is an object, which is not a text; use one of its properties, or JSON.stringify"
            )),
        }
    }

    fn known_value(
        &mut self,
        script: &str,
        at: &SourceLocation,
        is_strict: bool,
    ) -> Result<Option<String>, String> {
        if !expression::is_name(script) {
            let checked = self.check_script(script);
            return checked.map(|()| None).map_err(|error| format!("`${{{script}}}`: {error}"));
        }
        self.findings.words.insert(script.to_owned());
        match self.known.get(script) {
            Some(value) => Ok(value.clone()),
            None => {
                let is_word = ["output", "maestro", "true", "false", "null", "undefined"];
                if is_strict && !is_word.contains(&script) {
                    self.need(at, undefined(script), false);
                }
                Ok(None)
            }
        }
    }

    /// Whether a script has an error that is known before it runs.
    ///
    /// # Errors
    /// The error.
    pub(super) fn check_script(&mut self, script: &str) -> Result<(), String> {
        let Scripts::Later(engine) = &mut self.scripts else { return Ok(()) };
        self.findings.words.extend(expression::words(script).map(str::to_owned));
        let engine = match engine {
            Some(engine) => engine,
            None => engine.insert(ScriptEngine::new("", Parameters::new(), None)?),
        };
        engine.check(script)
    }

    /// Records an error and continues.
    pub(crate) fn error(&mut self, at: &SourceLocation, what: impl Into<String>) {
        self.keep(FlowError::new(at.clone(), what));
    }

    /// Records an error. If a file is run from several places, each error is recorded once.
    pub(crate) fn keep(&mut self, error: FlowError) {
        if let Some(platform) = self.platform {
            if self.findings.on_platform.len() < MAX_ERRORS {
                self.findings.on_platform.push((platform, error));
            }
        } else if self.errors.len() < MAX_ERRORS && !self.errors.contains(&error) {
            self.errors.push(error);
        }
    }

    /// The recorded errors, by position within each file.
    pub(crate) fn errors(mut self) -> Vec<FlowError> {
        self.errors.sort_by_key(|one| (one.at.file().to_owned(), one.at.line, one.at.column));
        self.errors
    }

    /// Whether a text is one script that names what nothing defines.
    pub(super) fn is_undefined(&self, text: &str) -> bool {
        let name = text.strip_prefix("${").and_then(|text| text.strip_suffix('}'));
        name.is_some_and(|name| {
            expression::is_name(name.trim()) && !self.known.contains_key(name.trim())
        })
    }

    /// Whether there are errors on any phone.
    pub(crate) fn has_errors(&self) -> bool {
        !self.errors.is_empty()
    }

    /// What the files tell besides their steps.
    pub(super) fn into_findings(self) -> Findings {
        self.findings
    }

    /// How many errors there are so far.
    pub(crate) fn error_count(&self) -> usize {
        self.errors.len() + self.findings.on_platform.len()
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

/// What to do about a script that is undefined.
pub(crate) fn undefined(script: &str) -> String {
    match expression::is_name(script.trim()) {
        true => format!("unknown parameter in `${{{script}}}`: define it in `env` or with --param"),
        false => format!("`${{{script}}}` is undefined"),
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

    /// Passes over the keys that nobody took, as Maestro does in a few commands.
    pub(crate) fn pass_over(&mut self, context: &mut ParseContext<'_>, of: &str) {
        for (key, _) in std::mem::take(&mut self.left) {
            context.warn(&key.at, format!("Maestro passes over `{}` of {of}", key.name));
        }
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
