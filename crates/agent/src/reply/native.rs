//! Reads an answer with native calls into a decision.
//!
//! Start with [`step`]. What the JSON answer has in `status`, `result`, `plan` and `remember` is in
//! calls of [`FINISH`], [`FAIL`] and [`UPDATE_PLAN`]; the text beside the calls is the thought. An
//! answer without calls is read as JSON: many servers leave a call in the text, and models fall
//! back to what they know.

use serde_json::{Map, Value};

use super::read::{self, MAX_TEXT, SPOKEN, get, lines, object, resolve, text};
use super::reasoning::visible_reply;
use super::{UnusableReply, lenient_json};
use crate::model::{ModelResponse, ToolCall};
use crate::policy::decision::{AgentStatus, Decision, FunctionCall};
use crate::policy::observation::Function;
use thumbwire_base::truncate;

/// Ends the run: the goal is reached.
pub(crate) const FINISH: &str = "finish";
/// Ends the run: the goal cannot be reached.
pub(crate) const FAIL: &str = "fail";
/// Sets the plan and adds facts to remember.
pub(crate) const UPDATE_PLAN: &str = "update_plan";

/// The decision of an answer in which functions could be called natively. Without a new plan it has
/// `plan`, the present one.
///
/// # Errors
/// The answer cannot be used.
pub(crate) fn step(
    response: &ModelResponse,
    plan: &[String],
    functions: &[Function],
) -> Result<Decision, UnusableReply> {
    let mut decision = match response.calls.is_empty() {
        true => read::unresolved(&response.text, response.truncated).map_err(without_calls)?,
        false => called(response)?,
    };
    let planned = !decision.plan.is_empty();
    for (at, call) in std::mem::take(&mut decision.actions).into_iter().enumerate() {
        let failed = |wrong| UnusableReply { wrong, call: Some(at), silent: false };
        take(call, &mut decision, functions).map_err(failed)?;
    }
    if !planned && decision.plan.is_empty() {
        decision.plan = plan.to_vec();
    }
    Ok(decision)
}

/// Whether a decision only updates the plan, so that the model has to go on.
pub(crate) fn only_plans(response: &ModelResponse) -> bool {
    !response.calls.is_empty() && response.calls.iter().all(|call| is(&call.name, UPDATE_PLAN))
}

/// An answer that has neither calls nor JSON.
fn without_calls(wrong: UnusableReply) -> UnusableReply {
    if !wrong.silent {
        return wrong;
    }
    UnusableReply { wrong: "it calls no function".into(), ..wrong }
}

/// The calls as they are, and the text beside them.
fn called(response: &ModelResponse) -> Result<Decision, UnusableReply> {
    let mut decision = spoken(&response.text);
    let long = |call: &&ToolCall| call.arguments.len() > read::MAX_REPLY;
    if let Some(call) = response.calls.iter().find(long) {
        return Err(format!("the arguments of {} are too long", call.name).into());
    }
    let last = response.calls.len() - 1;
    for (at, call) in response.calls.iter().enumerate() {
        let arguments = Some(Value::from(call.arguments.as_str()));
        let arguments = object(arguments, &call.name).map_err(|wrong| {
            // What follows the last complete call is missing.
            let cut = response.truncated && at == last;
            let wrong = match cut {
                true => read::cut_off_call(&call.name),
                false => wrong,
            };
            UnusableReply { wrong, call: Some(at), silent: false }
        })?;
        decision.actions.push(FunctionCall { function: call.name.trim().to_owned(), arguments });
    }
    if decision.actions.len() > read::MAX_ACTIONS {
        return Err(read::too_many(&decision.actions).into());
    }
    Ok(decision)
}

/// What the text beside the calls says: a JSON object with the usual keys, or a thought.
fn spoken(content: &str) -> Decision {
    let content = visible_reply(content).text;
    let content = content.trim();
    let is_spoken = |object: &Map<String, Value>| get(object, &SPOKEN).is_some();
    let found = lenient_json::values(content).into_iter().filter_map(|found| match found.value {
        Value::Object(object) if is_spoken(&object) => Some(object),
        _ => None,
    });
    match found.into_iter().next() {
        Some(object) => Decision {
            observation: text(&object, &["observation"]),
            thought: text(&object, &["thought"]),
            plan: lines(&object, "plan"),
            comment: text(&object, &["comment"]),
            remember: lines(&object, "remember"),
            ..Decision::default()
        },
        None => Decision { thought: truncate(content, MAX_TEXT), ..Decision::default() },
    }
}

/// Adds a call to the decision.
pub(super) fn take(
    call: FunctionCall,
    decision: &mut Decision,
    functions: &[Function],
) -> Result<(), String> {
    let FunctionCall { function, arguments } = &call;
    let names = functions.iter().map(|function| function.name.as_str());
    let is_of_phone = names.clone().any(|name| name == function);
    let meant = read::spelled(function, names.chain([FINISH, FAIL, UPDATE_PLAN]));
    let is = |name| meant == Some(name) && !is_of_phone;
    let ends = |status, keys: &[&str], decision: &mut Decision| {
        if decision.status != AgentStatus::Continue && decision.status != status {
            return Err("it calls finish and fail at once".to_owned());
        }
        let result = text(arguments, keys);
        decision.status = status;
        if !result.is_empty() {
            decision.result = result;
        }
        Ok(())
    };
    if is(FINISH) {
        return ends(AgentStatus::Finish, &["result", "answer", "reason"], decision);
    }
    if is(FAIL) {
        return ends(AgentStatus::Fail, &["reason", "result"], decision);
    }
    if is(UPDATE_PLAN) {
        let plan = lines(arguments, "plan");
        if !plan.is_empty() {
            decision.plan = plan;
        }
        decision.remember.extend(lines(arguments, "remember"));
        return Ok(());
    }
    decision.actions.push(resolve(call, functions)?);
    Ok(())
}

fn is(name: &str, function: &str) -> bool {
    read::spelled(name, [function].into_iter()).is_some()
}

#[cfg(test)]
mod tests;
