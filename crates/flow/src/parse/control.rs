//! Commands made of other commands (subflows, repetition, conditions), and goals.

use thumbwire_device::Platform;

use super::Reader;
use super::arguments::Arguments;
use super::context::{Parameters, ParseContext};
use super::selector::element;
use super::{Scope, define, expression};
use crate::plan::{Condition, FlowStep, MAX_ROUNDS, StepKind};
use crate::yaml::{Value, ValueKind};

/// How often Maestro retries at most.
const MAX_RETRIES: u32 = 3;

pub(super) fn run_flow(
    reader: &mut Reader<'_>,
    arguments: &mut Arguments<'_>,
    context: &mut ParseContext,
) -> Option<StepKind> {
    let parameters = arguments.parameters();
    if arguments.map.is_none() {
        let at = arguments.value.at.clone();
        let file = arguments.text("file", context)?;
        let steps = reader.subflow(&file, &at, arguments.scope.clone(), context);
        return Some(StepKind::Run { file, steps });
    }
    let map = arguments.map.as_mut()?;
    let conditions = map.take("when").map(|when| conditions(when, parameters, context));
    let (file, steps) = block(reader, arguments, context)?;
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
    arguments: &mut Arguments<'_>,
    context: &mut ParseContext,
) -> Option<(Option<String>, Vec<FlowStep>)> {
    let mut scope: Scope = arguments.scope.clone();
    let of = arguments.of.clone();
    let map = arguments.keys(context)?;
    if let Some(env) = map.take("env") {
        define(env, &mut scope.parameters, context);
    }
    match (map.take("file"), map.take("commands")) {
        (Some(file), None) => {
            let at = file.at.clone();
            let file = super::value::nonempty_text(file, "`file`", &scope.parameters, context)?;
            let steps = reader.subflow(&file, &at, scope, context);
            Some((Some(file), steps))
        }
        (None, Some(commands)) => Some((None, reader.commands(commands, &scope, context))),
        (Some(_), Some(_)) => {
            context.error(map.at(), format!("{of} takes either `file` or `commands`, not both"));
            None
        }
        (None, None) => {
            context.error(map.at(), format!("{of} needs `file` or `commands`"));
            None
        }
    }
}

pub(super) fn repeat(
    reader: &mut Reader<'_>,
    arguments: &mut Arguments<'_>,
    context: &mut ParseContext,
) -> Option<StepKind> {
    let parameters = arguments.parameters();
    let map = arguments.keys(context)?;
    let times = map.count("times", MAX_ROUNDS, parameters, context);
    let has_times = map.was_taken("times");
    let conditions = map.take("while").map(|holds| conditions(holds, parameters, context));
    if !has_times && conditions.is_none() {
        context.error(map.at(), "`repeat` needs `times` or `while`");
    }
    let Some(commands) = map.take("commands") else {
        context.error(map.at(), "`repeat` needs `commands`");
        return None;
    };
    let steps = reader.commands(commands, arguments.scope, context);
    let conditions = conditions.unwrap_or(Some(Vec::new()))?;
    Some(StepKind::While { conditions, times, steps })
}

pub(super) fn retry(
    reader: &mut Reader<'_>,
    arguments: &mut Arguments<'_>,
    context: &mut ParseContext,
) -> Option<StepKind> {
    let parameters = arguments.parameters();
    let map = arguments.keys(context)?;
    let times = map.count("maxRetries", MAX_ROUNDS, parameters, context).unwrap_or(1);
    let (file, steps) = block(reader, arguments, context)?;
    arguments.retry = times.min(MAX_RETRIES);
    Some(match file {
        Some(file) => StepKind::Run { file, steps },
        None => StepKind::When { conditions: Vec::new(), steps },
    })
}

/// A goal for the agent.
pub(super) fn goal(arguments: &mut Arguments<'_>, context: &mut ParseContext) -> Option<StepKind> {
    arguments.text("goal", context).map(StepKind::Goal)
}

/// A `case` anywhere but at the top level.
pub(super) fn misplaced_case(
    arguments: &mut Arguments<'_>,
    context: &mut ParseContext,
) -> Option<StepKind> {
    for key in ["name", "env", "appId", "timeout", "crashes", "commands"] {
        arguments.map.as_mut().and_then(|map| map.take(key));
    }
    let what = "`case` belongs at the top level of a flow that no other flow runs";
    context.error(&arguments.value.at, what);
    None
}

/// The conditions of `when` or `while`, all of which must hold.
fn conditions(
    value: &Value,
    parameters: &Parameters,
    context: &mut ParseContext,
) -> Option<Vec<Condition>> {
    /// Web pages run in no phone of ours.
    const PLATFORMS: [(&str, Option<Platform>); 3] =
        [("Android", Some(Platform::Android)), ("iOS", Some(Platform::Ios)), ("Web", None)];
    let mut map = context.map(value, "a condition")?;
    for key in ["label", "optional"] {
        map.take(key);
    }
    let errors = context.error_count();
    let mut all = Vec::new();
    match map.one_of("platform", &PLATFORMS, parameters, context) {
        Some(Some(platform)) => all.push(Condition::Platform(platform)),
        Some(None) => {
            let written = "platform: Web".to_owned();
            all.push(Condition::Expression { written, android: false, ios: false });
        }
        None => {}
    }
    if let Some(value) = map.take("visible") {
        all.extend(element(value, "`visible`", parameters, context).map(Condition::Visible));
    }
    if let Some(value) = map.take("notVisible") {
        all.extend(element(value, "`notVisible`", parameters, context).map(Condition::NotVisible));
    }
    if let Some(condition) = map.take("true") {
        all.extend(expression_condition(condition, parameters, context));
    }
    map.end(context, "a condition");
    if all.is_empty() && context.error_count() == errors {
        context.error(&value.at, "a condition needs `visible`, `notVisible`, `platform` or `true`");
    }
    (context.error_count() == errors).then_some(all)
}

fn expression_condition(
    value: &Value,
    parameters: &Parameters,
    context: &mut ParseContext,
) -> Option<Condition> {
    if value.kind == ValueKind::Null {
        let written = "true: (nothing)".to_owned();
        return Some(Condition::Expression { written, android: false, ios: false });
    }
    let written = context.written(value, "`true`")?;
    let on = |platform| expression::holds(written, parameters, platform);
    match (on(Platform::Android), on(Platform::Ios)) {
        (Ok(android), Ok(ios)) => {
            Some(Condition::Expression { written: written.to_owned(), android, ios })
        }
        (Err(what), _) | (_, Err(what)) => {
            context.error(&value.at, what);
            None
        }
    }
}
