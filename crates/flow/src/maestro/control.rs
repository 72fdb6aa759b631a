//! Commands made of other commands: subflows, repetition, conditions.

use thumbwire_device::Platform;

use super::arguments::Arguments;
use super::selector::locator;
use super::value::MapValues as _;
use super::{MaestroScope, define, expression};
use crate::parse_file::Reader;
use crate::parse_value::{Parameters, ParseContext};
use crate::plan::{Condition, FlowStep, MOST_ROUNDS, StepKind};
use crate::yaml::{Value, ValueKind};

/// How often Maestro retries at most.
const MOST_RETRIES: u32 = 3;

pub(super) fn run_flow(
    reader: &mut Reader<'_>,
    given: &mut Arguments<'_>,
    reading: &mut ParseContext,
) -> Option<StepKind> {
    let parameters = given.parameters();
    if given.map.is_none() {
        let at = given.value.at.clone();
        let file = given.text("file", reading)?;
        let steps = reader.subflow(&file, &at, parameters.clone(), reading);
        return Some(StepKind::Run { file, steps });
    }
    let map = given.map.as_mut()?;
    let conditions = map.take("when").map(|when| conditions(when, parameters, reading));
    let (file, steps) = block(reader, given, reading)?;
    match (conditions, file) {
        (None, Some(file)) => Some(StepKind::Run { file, steps }),
        (conditions, _) => {
            let conditions = conditions.unwrap_or(Some(Vec::new()))?;
            Some(StepKind::When { conditions, steps })
        }
    }
}

/// The commands of a file or of a list, with parameters of their own.
fn block(
    reader: &mut Reader<'_>,
    given: &mut Arguments<'_>,
    reading: &mut ParseContext,
) -> Option<(Option<String>, Vec<FlowStep>)> {
    let mut parameters = given.parameters().clone();
    let of = given.of.clone();
    let map = given.keys(reading)?;
    if let Some(env) = map.take("env") {
        define(env, &mut parameters, reading);
    }
    match (map.take("file"), map.take("commands")) {
        (Some(file), None) => {
            let at = file.at.clone();
            let file = super::value::words(file, "`file`", &parameters, reading)?;
            let steps = reader.subflow(&file, &at, parameters, reading);
            Some((Some(file), steps))
        }
        (None, Some(commands)) => {
            let scope = MaestroScope { parameters, target: given.scope.target.clone() };
            Some((None, reader.commands(commands, &scope, reading)))
        }
        (Some(_), Some(_)) => {
            reading.error(map.at(), format!("{of} takes either `file` or `commands`, not both"));
            None
        }
        (None, None) => {
            reading.error(map.at(), format!("{of} needs `file` or `commands`"));
            None
        }
    }
}

pub(super) fn repeat(
    reader: &mut Reader<'_>,
    given: &mut Arguments<'_>,
    reading: &mut ParseContext,
) -> Option<StepKind> {
    let parameters = given.parameters();
    let map = given.keys(reading)?;
    let times = map.count("times", MOST_ROUNDS, parameters, reading);
    let has_times = map.was_taken("times");
    let conditions = map.take("while").map(|holds| conditions(holds, parameters, reading));
    if !has_times && conditions.is_none() {
        reading.error(map.at(), "`repeat` needs `times` or `while`");
    }
    let Some(commands) = map.take("commands") else {
        reading.error(map.at(), "`repeat` needs `commands`");
        return None;
    };
    let steps = reader.commands(commands, given.scope, reading);
    let conditions = conditions.unwrap_or(Some(Vec::new()))?;
    Some(StepKind::While { conditions, times, steps })
}

pub(super) fn retry(
    reader: &mut Reader<'_>,
    given: &mut Arguments<'_>,
    reading: &mut ParseContext,
) -> Option<StepKind> {
    let parameters = given.parameters();
    let map = given.keys(reading)?;
    let times = map.count("maxRetries", MOST_ROUNDS, parameters, reading).unwrap_or(1);
    let (file, steps) = block(reader, given, reading)?;
    given.retry = times.min(MOST_RETRIES);
    Some(match file {
        Some(file) => StepKind::Run { file, steps },
        None => StepKind::When { conditions: Vec::new(), steps },
    })
}

/// The conditions of `when` or `while`, all of which must hold.
fn conditions(
    value: &Value,
    parameters: &Parameters,
    reading: &mut ParseContext,
) -> Option<Vec<Condition>> {
    /// Web pages run in no phone of ours.
    const PLATFORMS: [(&str, Option<Platform>); 3] =
        [("Android", Some(Platform::Android)), ("iOS", Some(Platform::Ios)), ("Web", None)];
    let mut map = reading.map(value, "a condition")?;
    for key in ["label", "optional"] {
        map.take(key);
    }
    let mistakes = reading.mistake_count();
    let mut all = Vec::new();
    match map.one_of("platform", &PLATFORMS, parameters, reading) {
        Some(Some(platform)) => all.push(Condition::Platform(platform)),
        Some(None) => {
            let written = "platform: Web".to_owned();
            all.push(Condition::Expression { written, android: false, ios: false });
        }
        None => {}
    }
    if let Some(element) = map.take("visible") {
        all.extend(locator(element, "`visible`", parameters, reading).map(Condition::Visible));
    }
    if let Some(element) = map.take("notVisible") {
        let sought = locator(element, "`notVisible`", parameters, reading);
        all.extend(sought.map(Condition::NotVisible));
    }
    if let Some(condition) = map.take("true") {
        all.extend(expression_condition(condition, parameters, reading));
    }
    map.end(reading, "a condition");
    if all.is_empty() && reading.mistake_count() == mistakes {
        reading.error(&value.at, "a condition needs `visible`, `notVisible`, `platform` or `true`");
    }
    (reading.mistake_count() == mistakes).then_some(all)
}

fn expression_condition(
    value: &Value,
    parameters: &Parameters,
    reading: &mut ParseContext,
) -> Option<Condition> {
    if value.kind == ValueKind::Null {
        let written = "true: (nothing)".to_owned();
        return Some(Condition::Expression { written, android: false, ios: false });
    }
    let written = reading.written(value, "`true`")?;
    let on = |platform| expression::holds(written, parameters, platform);
    match (on(Platform::Android), on(Platform::Ios)) {
        (Ok(android), Ok(ios)) => {
            Some(Condition::Expression { written: written.to_owned(), android, ios })
        }
        (Err(what), _) | (_, Err(what)) => {
            reading.error(&value.at, what);
            None
        }
    }
}
