//! The history: a line for each past action, with what it changed and why it was done.

use std::fmt::Write as _;

use serde_json::Value;
use thumbwire_base::truncate;

use crate::policy::observation::{Function, PastAction};
use crate::prompt::coordinates::CoordinateSpace;
use crate::prompt::json_line::{escaped, to_json_line};
use thumbwire_core::toolset::app_tools::is_app_tool;

/// How many of the last actions tell what they changed and why.
const TOLD: usize = 6;
/// How many older ones are listed.
const LISTED: usize = 20;
/// The longest argument, reason, effect, and answer of a function that reads or of an app, in
/// characters.
const MAX_ARGUMENT: usize = 80;
const MAX_REASON: usize = 80;
const MAX_EFFECT: usize = 200;
const MAX_ANSWER: usize = 600;
const MAX_OLD_ANSWER: usize = 200;

/// The lines, oldest first: `3. type_text "Milk" "Title" -> field "Title" = "Milk" (the note needs
/// a title)`.
pub(super) fn history(
    past: &[PastAction],
    functions: &[Function],
    space: &CoordinateSpace,
) -> String {
    let mut out = String::new();
    let all = past.len();
    if all > LISTED {
        let _ = write!(out, "\n({} earlier ones left out)", all - LISTED);
    }
    let mut last_step = None;
    for (at, one) in past.iter().enumerate().skip(all.saturating_sub(LISTED)) {
        let is_recent = at + TOLD >= all;
        let _ = write!(out, "\n{}. {}", one.step, call(one, space));
        if let Some(result) = result(one, functions, is_recent) {
            let _ = write!(out, " -> {result}");
        }
        let reason = one.reason.trim();
        // Several actions of one step have one reason.
        if is_recent && !reason.is_empty() && last_step != Some(one.step) {
            let _ = write!(out, " ({})", escaped(&line(reason, MAX_REASON)));
        }
        last_step = Some(one.step);
    }
    out
}

/// The function and its arguments; of a control its name, since ids are those of another list.
fn call(one: &PastAction, space: &CoordinateSpace) -> String {
    let call = space.to_model(&one.call);
    let is_named = call.arguments.get("control_name").is_some_and(|name| name != "");
    let mut out = escaped(&call.function);
    for (name, value) in &call.arguments {
        let _ = match value {
            Value::Null | Value::Bool(false) => Ok(()),
            _ if name == "control_id" && is_named => Ok(()),
            Value::String(text) => {
                write!(out, " {}", to_json_line(&truncate(text, MAX_ARGUMENT)))
            }
            Value::Bool(true) => write!(out, " {}", escaped(name)),
            other => write!(out, " {}", to_json_line(other)),
        };
    }
    out
}

fn result(one: &PastAction, functions: &[Function], is_recent: bool) -> Option<String> {
    let PastAction { call, success, message, effect, .. } = one;
    let max_length = if is_recent { MAX_ANSWER } else { MAX_OLD_ANSWER };
    if !success {
        return Some(format!("failed: {}", escaped(&line(message, max_length))));
    }
    let acts = functions.iter().any(|function| function.name == call.function && function.acts);
    let reads = !acts || is_app_tool(&call.function);
    match () {
        () if reads && call.function != "wait" => Some(escaped(&line(message, max_length))),
        () if !is_recent => None,
        () if effect.is_empty() => None,
        () => Some(escaped(&line(effect, MAX_EFFECT))),
    }
}

/// A text on one line.
fn line(text: &str, max_length: usize) -> String {
    truncate(&text.split_whitespace().collect::<Vec<_>>().join(" "), max_length)
}
