//! Commands made of other commands (subflows, repetition, conditions), and goals.

use thumbwire_device::Platform;

use super::Reader;
use super::arguments::Arguments;
use super::context::ParseContext;
use super::selector::element;
use super::{define, definitions, expression, inner_step, value};
use crate::plan::{Condition, FlowStep, StepKind, Written};
use crate::yaml::{Value, ValueKind};

/// How often Maestro retries at most.
const MAX_RETRIES: u32 = 3;

pub(super) fn run_flow(
    reader: &mut Reader<'_>,
    arguments: &mut Arguments<'_>,
    context: &mut ParseContext,
) -> Option<StepKind> {
    if arguments.map.is_none() {
        let at = arguments.value.at.clone();
        let file = value::known_text(arguments.value, "`runFlow`", context)?;
        let steps = reader.subflow(&file, &at, arguments.scope.clone(), context);
        return Some(StepKind::Run { file, steps });
    }
    let when = arguments.map.as_mut()?.take("when");
    let conditions = when.map(|when| conditions(when, context));
    let holds = conditions.as_ref().and_then(Option::as_deref).unwrap_or_default();
    let (file, steps) = under(holds, context, |context| block(reader, arguments, context))?;
    match (conditions, file) {
        (None, Some(file)) => Some(StepKind::Run { file, steps }),
        (conditions, _) => {
            let conditions = conditions.unwrap_or(Some(Vec::new()))?;
            Some(StepKind::When { conditions, steps })
        }
    }
}

/// Reads what runs only if these conditions hold. Its errors are those of their platform.
fn under<T>(
    conditions: &[Condition],
    context: &mut ParseContext,
    read: impl FnOnce(&mut ParseContext) -> T,
) -> T {
    let outer = (context.platform, context.is_conditional);
    let platform = conditions.iter().find_map(|condition| match condition {
        Condition::Platform(platform) => Some(*platform),
        _ => None,
    });
    context.platform = outer.0.or(platform);
    context.is_conditional |= !conditions.is_empty();
    let read = read(context);
    (context.platform, context.is_conditional) = outer;
    read
}

/// The commands of a file or of a list, with parameters of their own.
fn block(
    reader: &mut Reader<'_>,
    arguments: &mut Arguments<'_>,
    context: &mut ParseContext,
) -> Option<(Option<String>, Vec<FlowStep>)> {
    let (scope, of) = (arguments.scope, arguments.of.clone());
    let map = arguments.keys(context)?;
    let outer = context.known.clone();
    let env = map.take("env").filter(|_| !context.is_running());
    let mut steps: Vec<FlowStep> = env.and_then(|env| define(env, context)).into_iter().collect();
    let file = match (map.take("file"), map.take("commands")) {
        (Some(file), None) => {
            let at = file.at.clone();
            let file = value::known_text(file, "`file`", context)?;
            steps.extend(reader.subflow(&file, &at, scope.clone(), context));
            Some(file)
        }
        (None, Some(commands)) => {
            steps.extend(reader.commands(commands, scope, context));
            None
        }
        (Some(_), Some(_)) => {
            context.error(map.at(), format!("{of} takes either `file` or `commands`, not both"));
            return None;
        }
        (None, None) => {
            context.error(map.at(), format!("{of} needs `file` or `commands`"));
            return None;
        }
    };
    context.known = outer;
    Some((file, steps))
}

/// A script of JavaScript, with parameters of its own.
pub(super) fn run_script(
    reader: &mut Reader<'_>,
    arguments: &mut Arguments<'_>,
    context: &mut ParseContext,
) -> Option<StepKind> {
    let at = arguments.value.at.clone();
    let (mut env, mut when) = (Vec::new(), None);
    let file = match &mut arguments.map {
        None => arguments.value,
        Some(map) => {
            if let Some(value) = map.take("env") {
                env = definitions(value, context)?;
            }
            if let Some(value) = map.take("when") {
                when = Some(conditions(value, context)?);
            }
            match map.take("file") {
                Some(file) => file,
                None => {
                    context.error(map.at(), "`runScript` needs `file`");
                    return None;
                }
            }
        }
    };
    let is_late = context.take_pending();
    let file = value::known_text(file, "`file`", context)?;
    for (_, value) in &env {
        check_written(value, context);
    }
    let holds = when.as_deref().unwrap_or_default();
    let script = under(holds, context, |context| reader.script(&file, &at, context))?;
    let run = StepKind::RunScript { file, script: script.into(), env };
    let Some(conditions) = when else { return Some(run) };
    context.set_pending(is_late);
    Some(StepKind::When { conditions, steps: vec![inner_step(&at, run)] })
}

/// JavaScript for its effects.
pub(super) fn eval_script(
    arguments: &mut Arguments<'_>,
    context: &mut ParseContext,
) -> Option<StepKind> {
    let value = match &mut arguments.map {
        None => arguments.value,
        Some(map) => {
            let script = map.take("script");
            map.pass_over(context, &arguments.of);
            match script {
                Some(script) => script,
                None => {
                    context.error(map.at(), "`evalScript` needs `script`");
                    return None;
                }
            }
        }
    };
    let text = context.written(value, &arguments.of)?.to_owned();
    if !text.contains("${") {
        let what = "Maestro evaluates only what is in `${…}`: this `evalScript` does nothing";
        context.warn(&value.at, what);
    }
    let script = Written { text, at: value.at.clone() };
    check_written(&script, context);
    Some(StepKind::EvalScript(script))
}

/// Checks the scripts of a text that its step evaluates.
fn check_written(written: &Written, context: &mut ParseContext) {
    if context.is_running() {
        return;
    }
    if let Err(what) = context.fill(&written.text, &written.at, false) {
        context.error(&written.at, what);
    }
    context.take_pending();
}

pub(super) fn repeat(
    reader: &mut Reader<'_>,
    arguments: &mut Arguments<'_>,
    context: &mut ParseContext,
) -> Option<StepKind> {
    let map = arguments.keys(context)?;
    /// The run's time limit is what ends them.
    const MAX_TIMES: f64 = 1e9;
    let times = match map.take("times") {
        // Maestro's rules: a fraction is dropped, and fewer than one are none.
        Some(value) => {
            let times = value::number(value, "`times`", [-MAX_TIMES, MAX_TIMES], context);
            times.map(|times| times.max(0.0) as u32)
        }
        None => None,
    };
    let has_times = map.was_taken("times");
    let conditions = map.take("while").map(|holds| conditions(holds, context));
    if !has_times && conditions.is_none() {
        context.error(map.at(), "`repeat` needs `times` or `while`");
    }
    let Some(commands) = map.take("commands") else {
        context.error(map.at(), "`repeat` needs `commands`");
        return None;
    };
    let holds = conditions.as_ref().and_then(Option::as_deref).unwrap_or_default();
    let steps =
        under(holds, context, |context| reader.commands(commands, arguments.scope, context));
    let conditions = conditions.unwrap_or(Some(Vec::new()))?;
    Some(StepKind::While { conditions, times, steps })
}

pub(super) fn retry(
    reader: &mut Reader<'_>,
    arguments: &mut Arguments<'_>,
    context: &mut ParseContext,
) -> Option<StepKind> {
    let map = arguments.keys(context)?;
    let times = match map.take("maxRetries") {
        // Whether the steps inside are repeated is no value of theirs.
        Some(value) if !context.is_running() => {
            value::known_text(value, "`maxRetries`", context)?;
            value::number(value, "`maxRetries`", [0.0, 1e9], context)? as u32
        }
        _ => 1,
    };
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
    for key in ["name", "env", "appId", "timeout", "crashes", "autoDismissAlerts", "commands"] {
        arguments.map.as_mut().and_then(|map| map.take(key));
    }
    let what = "`case` belongs at the top level of a flow that no other flow runs";
    context.error(&arguments.value.at, what);
    None
}

/// The conditions of `when` or `while`, all of which must hold.
fn conditions(value: &Value, context: &mut ParseContext) -> Option<Vec<Condition>> {
    /// Web pages run in no phone of ours.
    const PLATFORMS: [(&str, Option<Platform>); 3] =
        [("Android", Some(Platform::Android)), ("iOS", Some(Platform::Ios)), ("Web", None)];
    let mut map = context.map(value, "a condition")?;
    for key in ["label", "optional"] {
        map.take(key);
    }
    let errors = context.error_count();
    let mut all = Vec::new();
    match map.one_of("platform", &PLATFORMS, context) {
        Some(Some(platform)) => all.push(Condition::Platform(platform)),
        Some(None) => {
            let written = "platform: Web".to_owned();
            all.push(Condition::Expression { written, holds: false });
        }
        None => {}
    }
    if let Some(value) = map.take("visible") {
        all.extend(element(value, "`visible`", context).map(Condition::Visible));
    }
    if let Some(value) = map.take("notVisible") {
        all.extend(element(value, "`notVisible`", context).map(Condition::NotVisible));
    }
    if let Some(condition) = map.take("true") {
        all.extend(expression_condition(condition, "`true`", context));
    }
    map.end(context, "a condition");
    if all.is_empty() && context.error_count() == errors {
        context.error(&value.at, "a condition needs `visible`, `notVisible`, `platform` or `true`");
    }
    (context.error_count() == errors).then_some(all)
}

/// A script or text that must be true by Maestro's rules.
pub(super) fn expression_condition(
    value: &Value,
    of: &str,
    context: &mut ParseContext,
) -> Option<Condition> {
    if value.kind == ValueKind::Null {
        let written = format!("{of}: (nothing)");
        return Some(Condition::Expression { written, holds: false });
    }
    let written = context.written(value, of)?.trim().to_owned();
    match context.fill(&written, &value.at, false) {
        Ok(filled) => {
            let holds = expression::is_true(&filled.into_text());
            Some(Condition::Expression { written, holds })
        }
        Err(what) => {
            context.error(&value.at, what);
            None
        }
    }
}
