//! Parses a model's reply into a decision.
//!
//! Start with [`unresolved`]. Small models think aloud, add code fences and prose, write a list
//! where one object is enough, or a function's name where its object belongs. All of that is
//! accepted. What is missing or ambiguous is rejected, with a message that the model is asked again
//! with.

use serde_json::{Map, Value};

use super::lenient_json::{self, ParsedValue};
use super::reasoning::{VisibleReply, visible_reply};
use super::text_calls::{TextCalls, text_calls};
use super::{UnusableReply, arguments};
use crate::policy::decision::{AgentStatus, Decision, FunctionCall};
use crate::policy::observation::Function;
use thumbwire_base::truncate;

/// How much of a reply is read, in bytes. A decision has a few hundred; thinking aloud takes
/// thousands.
pub(super) const MAX_REPLY: usize = 256 * 1024;

/// The maximum number of actions in a decision.
pub(super) const MAX_ACTIONS: usize = 10;

/// The longest text of a decision, in characters, and the longest list of texts.
pub(super) const MAX_TEXT: usize = 4_000;
const MAX_LINES: usize = 30;

/// Parses a decision without looking at the functions. `cut_off` says that the model's output was
/// truncated.
///
/// # Errors
/// A message for the model that continues "Your answer could not be used: ".
pub(super) fn unresolved(reply: &str, cut_off: bool) -> Result<Decision, UnusableReply> {
    let visible = shown(reply);
    if let Some(decision) = called_in_text(&visible, cut_off)? {
        return Ok(decision);
    }
    let found = best(reply, &visible, cut_off, "action", is_decision, acts);
    let found = found.map_err(|wrong| {
        let silent = !cut_off && !visible.text.contains('{');
        UnusableReply { wrong, call: None, silent }
    })?;
    let twice = |key: &&String| !SPOKEN.contains(&key.to_ascii_lowercase().as_str());
    if let Some(key) = found.twice.iter().find(twice) {
        return Err(format!("`{key}` appears twice with different values").into());
    }
    Ok(read(&found.value)?)
}

/// The decision of a reply that calls functions in its text; `None` if it calls none.
fn called_in_text(visible: &VisibleReply, cut_off: bool) -> Result<Option<Decision>, String> {
    let TextCalls { before, mut calls, mut unended } = text_calls(&visible.text);
    for (name, arguments, is_ended) in &visible.calls {
        match object(Some(arguments.as_str().into()), name) {
            Ok(arguments) => calls.push(FunctionCall { function: name.clone(), arguments }),
            Err(_) if !is_ended => unended = Some(name.clone()),
            Err(wrong) => return Err(wrong),
        }
    }
    match unended {
        Some(name) if cut_off => return Err(cut_off_call(&name)),
        Some(name) => return Err(format!("the call of {name} is not complete")),
        None if calls.is_empty() => return Ok(None),
        None if calls.len() > MAX_ACTIONS => return Err(too_many(&calls)),
        None => {}
    }
    let thought = truncate(&before, MAX_TEXT);
    Ok(Some(Decision { thought, actions: calls, ..Decision::default() }))
}

pub(super) fn cut_off_call(name: &str) -> String {
    format!("the call of {name} was cut off; write less before it")
}

/// The call with the function's own name, and arguments that fit its schema.
///
/// # Errors
/// There is no such function, or the arguments do not fit.
pub(super) fn resolve(call: FunctionCall, functions: &[Function]) -> Result<FunctionCall, String> {
    let function = named(&call.function, functions)?;
    let arguments = arguments::coerce(function, call.arguments)?;
    Ok(FunctionCall { function: function.name.clone(), arguments })
}

pub(super) fn too_many(actions: &[FunctionCall]) -> String {
    format!("it has {} actions; the maximum is {MAX_ACTIONS}", actions.len())
}

/// The calls of an answer, whether or not the functions exist.
///
/// # Errors
/// It is not an answer.
pub(crate) fn calls(answer: &Value) -> Result<Vec<FunctionCall>, String> {
    unchecked(answer).map(|decision| decision.actions)
}

/// The decision of an answer, whether or not its functions exist.
///
/// # Errors
/// It is not an answer.
pub(crate) fn unchecked(answer: &Value) -> Result<Decision, String> {
    if !is_decision(answer) {
        return Err(NOTHING_SAID.into());
    }
    read(answer)
}

/// A parsed plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ParsedPlan {
    /// The sub-goals, in order.
    pub plan: Vec<String>,
    /// Why this plan, in a sentence.
    pub reason: String,
}

/// Parses a plan.
///
/// # Errors
/// As [`unresolved`].
pub(crate) fn parse_plan(reply: &str, cut_off: bool) -> Result<ParsedPlan, String> {
    let has =
        |value: &Value| value.as_object().is_some_and(|object| get(object, &["plan"]).is_some());
    let found = best(reply, &shown(reply), cut_off, "plan", has, has)?;
    let object = found.value.as_object().cloned().unwrap_or_default();
    let plan = lines(&object, "plan");
    if plan.is_empty() {
        return Err("`plan` is empty".into());
    }
    Ok(ParsedPlan { plan, reason: text(&object, &["why", "reason", "thought"]) })
}

/// A parsed judgement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ParsedJudgement {
    /// Whether the goal is reached.
    pub reached: bool,
    /// The reason.
    pub reason: String,
}

/// Parses a judgement.
///
/// # Errors
/// As [`unresolved`].
pub(crate) fn parse_judgement(reply: &str, cut_off: bool) -> Result<ParsedJudgement, String> {
    let (reached, object) = verdict(reply, cut_off, "reached")?;
    Ok(ParsedJudgement { reached, reason: text(&object, &["why", "reason"]) })
}

/// Parses what was said of a button: whether it is risky.
///
/// # Errors
/// As [`unresolved`].
pub(crate) fn parse_rating(reply: &str, cut_off: bool) -> Result<bool, String> {
    Ok(verdict(reply, cut_off, "risky")?.0)
}

/// An object with true or false under this key.
fn verdict(reply: &str, cut_off: bool, key: &str) -> Result<(bool, Map<String, Value>), String> {
    let has = |value: &Value| value.as_object().is_some_and(|object| get(object, &[key]).is_some());
    let found = best(reply, &shown(reply), cut_off, key, has, has)?;
    if found.twice.iter().any(|twice| twice.eq_ignore_ascii_case(key)) {
        return Err(format!("`{key}` appears twice with different values"));
    }
    let object = found.value.as_object().cloned().unwrap_or_default();
    let value = get(&object, &[key]).cloned().unwrap_or_default();
    let is_true = match &value {
        Value::Bool(is_true) => *is_true,
        Value::String(word) if ["true", "yes"].contains(&&*word.trim().to_lowercase()) => true,
        Value::String(word) if ["false", "no"].contains(&&*word.trim().to_lowercase()) => false,
        other => return Err(format!("`{key}` must be true or false, not {}", short(other))),
    };
    Ok((is_true, object))
}

const NOTHING_SAID: &str = "it has neither `action` nor `status`";

/// Keys that hold the model's thoughts. A second value for one of them does no harm.
pub(super) const SPOKEN: [&str; 5] = ["observation", "thought", "comment", "plan", "remember"];

const ACTION: [&str; 7] =
    ["action", "actions", "action_list", "tool_calls", "tool_call", "function_call", "tool_uses"];
const FUNCTION: [&str; 5] = ["function", "name", "tool", "tool_name", "recipient_name"];
const ARGUMENTS: [&str; 8] = [
    "arguments",
    "args",
    "parameters",
    "params",
    "input",
    "action_input",
    "tool_input",
    "tool_args",
];

/// What is read of a reply, without its reasoning.
fn shown(reply: &str) -> VisibleReply {
    visible_reply(&reply[..reply.floor_char_boundary(MAX_REPLY)])
}

/// Chooses the value that the reply is about: the first that does something, else the first of the
/// right kind. `key` is what values of that kind have.
fn best(
    reply: &str,
    visible: &VisibleReply,
    cut_off: bool,
    key: &str,
    is_kind: impl Fn(&Value) -> bool,
    acts: impl Fn(&Value) -> bool,
) -> Result<ParsedValue, String> {
    let whole = reply.len() <= MAX_REPLY;
    let output = &visible.text;
    let mut found = lenient_json::values(output);
    // A list of one answer is that answer.
    for one in &mut found {
        if let Value::Array(list) = &mut one.value
            && let [only] = &mut list[..]
            && is_kind(only)
        {
            one.value = only.take();
        }
    }
    found.retain(|one| is_kind(&one.value));
    let doing: Vec<&ParsedValue> = found.iter().filter(|one| acts(&one.value)).collect();
    if are_drafts(output, &doing) {
        return Err(format!(
            "it has several objects with `{key}` among its text; answer with one object only"
        ));
    }
    let broken_off =
        |reason: &str| format!("it was cut off {reason}; write less and start with the object");
    let chosen = found.iter().position(|one| acts(&one.value)).unwrap_or(0);
    match found.into_iter().nth(chosen) {
        // What was truncated may have been another argument.
        Some(one) if !one.closed && (cut_off || !whole) => {
            Err(broken_off("before its object was closed"))
        }
        Some(one) => Ok(one),
        None if cut_off => Err(broken_off("before its object was complete")),
        None if !whole => Err(format!("it has no JSON object in its first {MAX_REPLY} bytes")),
        None if reply.trim().is_empty() => Err("it is empty".into()),
        None if output.trim().is_empty() => Err("it ends inside its thinking".into()),
        None if output.contains('{') => Err(format!("it has no readable JSON object with `{key}`")),
        None => Err("it has no JSON object".into()),
    }
}

/// Whether different values are spread over unmarked reasoning, so that none of them can be taken
/// for the answer. If the reply begins with its answer, what follows is a made-up conversation;
/// values without prose in between are calls in a row.
fn are_drafts(text: &str, values: &[&ParsedValue]) -> bool {
    let [first, .., last] = values else { return false };
    let differ = values.iter().any(|one| one.value != first.value);
    let is_prose = |from: usize, to: usize| {
        let between: String = text.chars().skip(from).take(to.saturating_sub(from)).collect();
        // Without tags, and the names of fences.
        let parts = between.split('<').map(|part| part.split_once('>').map_or(part, |tag| tag.1));
        let mut words: Vec<&str> = parts.flat_map(str::split_whitespace).collect();
        words.retain(|word| !word.starts_with("```") && word.contains(char::is_alphabetic));
        !words.is_empty()
    };
    differ && is_prose(0, first.place.start) && is_prose(first.place.end, last.place.start)
}

/// Whether the value has the keys of an answer.
fn is_decision(value: &Value) -> bool {
    match value {
        Value::Object(object) => {
            acts(value) || get(object, &ACTION).is_some() || get(object, &["status"]).is_some()
        }
        Value::Array(list) => !list.is_empty() && list.iter().all(acts),
        _ => false,
    }
}

/// Whether the value does something: it is a call, or an answer with one.
fn acts(value: &Value) -> bool {
    match value {
        Value::Object(object) => {
            let calls = get(object, &["function"]).is_some()
                || (get(object, &FUNCTION).is_some() && get(object, &ARGUMENTS).is_some());
            let holds = get(object, &ACTION).is_some_and(|action| match action {
                Value::Null => false,
                Value::String(text) => !text.trim().is_empty(),
                Value::Array(list) => !list.is_empty(),
                _ => true,
            });
            calls || holds
        }
        Value::Array(list) => !list.is_empty() && list.iter().all(acts),
        _ => false,
    }
}

/// Parses an answer without knowing the functions.
fn read(answer: &Value) -> Result<Decision, String> {
    let nothing = Map::new();
    let object = answer.as_object().unwrap_or(&nothing);
    let mut actions = Vec::new();
    let mut statuses = Vec::new();
    match get(object, &ACTION) {
        // A bare call.
        None if acts(answer) => gather(answer, object, &mut actions, &mut statuses)?,
        None => {}
        Some(action) => gather(action, object, &mut actions, &mut statuses)?,
    }
    if actions.len() > MAX_ACTIONS {
        return Err(too_many(&actions));
    }
    // Of several actions, the last has the final status.
    let inside = statuses.last().copied();
    let beside = status(get(object, &["status"]))?;
    let status = match (inside, beside) {
        (Some(inside), Some(beside)) if inside != beside => {
            let [inside, beside] = [inside, beside].map(word);
            return Err(format!("`status` is {inside} in the action and {beside} beside it"));
        }
        (inside, beside) => inside.or(beside).unwrap_or_default(),
    };
    Ok(Decision {
        observation: text(object, &["observation"]),
        thought: text(object, &["thought"]),
        actions,
        status,
        plan: lines(object, "plan"),
        comment: text(object, &["comment"]),
        result: text(object, &["result"]),
        remember: lines(object, "remember"),
    })
}

/// Collects calls and statuses. `beside` is the object that has the action: if the action is only a
/// function's name, its arguments are there.
fn gather(
    action: &Value,
    beside: &Map<String, Value>,
    actions: &mut Vec<FunctionCall>,
    statuses: &mut Vec<AgentStatus>,
) -> Result<(), String> {
    match action {
        Value::Null => Ok(()),
        Value::Array(list) => list.iter().try_for_each(|one| match one {
            Value::Array(_) => Err("`action` is a nested list".into()),
            one => gather(one, beside, actions, statuses),
        }),
        Value::Object(one) => {
            statuses.extend(status(get(one, &["status"]))?);
            actions.extend(call(one)?);
            Ok(())
        }
        Value::String(name) if name.trim().is_empty() => Ok(()),
        Value::String(name) => {
            // An object written as a string, or a name whose arguments are beside it.
            if let Some(inside) = written(name) {
                return gather(&inside, &Map::new(), actions, statuses);
            }
            let arguments = get(beside, &ARGUMENTS).cloned();
            actions.push(FunctionCall {
                function: name.trim().into(),
                arguments: object(arguments, name)?,
            });
            Ok(())
        }
        other => Err(format!("`action` must be an object, not {}", short(other))),
    }
}

/// One call; `None` if there is nothing to do.
fn call(one: &Map<String, Value>) -> Result<Option<FunctionCall>, String> {
    let (name, arguments) = match get(one, &FUNCTION) {
        None | Some(Value::Null) => (String::new(), None),
        Some(Value::String(name)) => (name.trim().to_owned(), get(one, &ARGUMENTS).cloned()),
        // The form of tool calls in chat APIs.
        Some(Value::Object(inner)) => {
            (text(inner, &["name"]).trim().to_owned(), get(inner, &ARGUMENTS).cloned())
        }
        Some(other) => return Err(format!("`function` must be a name, not {}", short(other))),
    };
    if name.is_empty() || ["none", "null"].contains(&&*name.to_lowercase()) {
        let wants =
            arguments.as_ref().and_then(Value::as_object).is_some_and(|all| !all.is_empty());
        return if wants {
            Err("an action has arguments but no `function`".into())
        } else {
            Ok(None)
        };
    }
    let arguments = object(arguments, &name)?;
    Ok(Some(FunctionCall { function: name, arguments }))
}

/// The arguments, which may be written as a string.
pub(super) fn object(
    arguments: Option<Value>,
    function: &str,
) -> Result<Map<String, Value>, String> {
    match arguments {
        None | Some(Value::Null) => Ok(Map::new()),
        Some(Value::Object(object)) => Ok(object),
        Some(Value::String(text)) if text.trim().is_empty() => Ok(Map::new()),
        Some(Value::Array(list)) if list.is_empty() => Ok(Map::new()),
        Some(Value::String(text)) => match written(&text) {
            Some(Value::Object(object)) => Ok(object),
            _ => Err(format!("the `arguments` of {function} are not an object")),
        },
        Some(other) => {
            Err(format!("the `arguments` of {function} must be an object, not {}", short(&other)))
        }
    }
}

/// The object or list in a string.
fn written(text: &str) -> Option<Value> {
    if !text.trim_start().starts_with(['{', '[']) {
        return None;
    }
    let found = lenient_json::values(text).into_iter().next()?;
    (found.closed && found.twice.is_empty()).then_some(found.value)
}

/// The function of this name, as models spell it.
fn named<'a>(name: &str, functions: &'a [Function]) -> Result<&'a Function, String> {
    let names = functions.iter().map(|function| function.name.as_str());
    let found = spelled(name, names.clone());
    let found = found.and_then(|name| functions.iter().find(|function| function.name == name));
    found.ok_or_else(|| {
        let names: Vec<&str> = names.collect();
        format!(
            "there is no function {}; the functions are {}",
            short(&name.into()),
            names.join(", ")
        )
    })
}

/// Which of some names is meant: models write it in another case, with a namespace in front, with
/// brackets or the number of the call behind, or go on with a token of their template.
pub(super) fn spelled<'a>(
    name: &str,
    names: impl Iterator<Item = &'a str> + Clone,
) -> Option<&'a str> {
    let name = name.split("<|").next().unwrap_or(name).trim().trim_end_matches("()");
    let name = match name.rsplit_once(':') {
        Some((name, number)) if number.parse::<u32>().is_ok() => name,
        _ => name,
    };
    let letters = |name: &str| name.replace(['_', '-', ' '], "").to_ascii_lowercase();
    let separators = ["__", ".", "/", ":"];
    let ends = separators.iter().flat_map(|mark| name.match_indices(mark));
    let mut begins: Vec<usize> = ends.map(|(at, mark)| at + mark.len()).collect();
    // The longest first.
    begins.sort_unstable();
    let ends = begins.into_iter().map(|at| &name[at..]);
    std::iter::once(name).chain(ends).find_map(|name| {
        let exact = names.clone().find(|known| *known == name);
        exact.or_else(|| names.clone().find(|known| letters(known) == letters(name)))
    })
}

fn status(value: Option<&Value>) -> Result<Option<AgentStatus>, String> {
    let Some(value) = value.filter(|value| !value.is_null()) else { return Ok(None) };
    match &*value.as_str().unwrap_or("?").trim().to_uppercase() {
        "" => Ok(None),
        "CONTINUE" => Ok(Some(AgentStatus::Continue)),
        "FINISH" => Ok(Some(AgentStatus::Finish)),
        "FAIL" => Ok(Some(AgentStatus::Fail)),
        _ => Err(format!("`status` is {}; it must be CONTINUE, FINISH or FAIL", short(value))),
    }
}

fn word(status: AgentStatus) -> &'static str {
    match status {
        AgentStatus::Continue => "CONTINUE",
        AgentStatus::Finish => "FINISH",
        AgentStatus::Fail => "FAIL",
    }
}

/// A member by one of its names, ignoring case.
pub(super) fn get<'a>(object: &'a Map<String, Value>, names: &[&str]) -> Option<&'a Value> {
    names
        .iter()
        .find_map(|name| object.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)))
        .map(|(_, value)| value)
}

/// The text of a member; other values as JSON.
pub(super) fn text(object: &Map<String, Value>, names: &[&str]) -> String {
    get(object, names).map(line).unwrap_or_default()
}

/// The lines of a member: a list, or one string with a line for each.
pub(super) fn lines(object: &Map<String, Value>, name: &str) -> Vec<String> {
    let lines = match get(object, &[name]) {
        Some(Value::Array(list)) => list.iter().map(line).collect(),
        Some(Value::String(text)) => text.lines().map(|text| line(&text.into())).collect(),
        Some(other) => vec![line(other)],
        None => Vec::new(),
    };
    lines.into_iter().filter(|line| !line.is_empty()).take(MAX_LINES).collect()
}

fn line(value: &Value) -> String {
    let text = match value {
        Value::Null => String::new(),
        Value::String(text) => text.trim().to_owned(),
        other => other.to_string(),
    };
    truncate(&text, MAX_TEXT)
}

fn short(value: &Value) -> String {
    truncate(&value.to_string(), 80)
}

#[cfg(test)]
mod tests;
