//! ACTION_EXECUTION: makes the decided calls in order, up to the first failure, and has a claim of FINISH judged.

use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Map, Value, json};
use thumbwire_device::Gesture;

use super::super::confirm::{ConfirmMode, confirmed, risk};
use super::super::context::one_or_list;
use super::super::decision::{AgentStatus, FunctionCall};
use super::super::event::AgentEvent;
use super::super::follow_up::{self, FollowUp};
use super::super::functions::CallResult;
use super::super::options::Safeguards;
use super::super::retarget;
use super::super::step::StepInProgress;
use super::super::verify::AttemptedCall;
use super::{Strategy, StrategyError, data_collection, llm_interaction, observation};
use thumbwire_core::action::{Action, Outcome, TypeResult};
use thumbwire_core::toolset::app_tools::is_app_tool;
use thumbwire_core::trace::format::{CallRecord, JudgementRecord};

/// `MobileActionExecutionStrategy`.
pub(super) struct ActionExecution;

#[async_trait]
impl Strategy for ActionExecution {
    fn name(&self) -> &'static str {
        "MobileActionExecutionStrategy"
    }

    fn dependencies(&self) -> Vec<&'static str> {
        vec!["parsed_response", "annotation_dict"]
    }

    fn provides(&self) -> Vec<&'static str> {
        vec!["execution_result", "action_info"]
    }

    fn fail_fast(&self) -> bool {
        false
    }

    async fn execute(&self, step: &mut StepInProgress<'_>) -> Result<(), StrategyError> {
        let doings = step.thinking.as_ref().map(|it| it.decision.actions.clone());
        let (mut results, mut infos) = (Vec::new(), Vec::new());
        let mut stopped: Option<&str> = None;
        for doing in doings.unwrap_or_default() {
            if stopped.is_none() && step.is_over() {
                stopped = Some("the run ended first");
            }
            let (carried, result) = match stopped {
                None => match ready(step, &doing).await {
                    Ok(aimed) => perform(step, &doing, &aimed).await,
                    Err(why) => not_performed(step, &doing, &why),
                },
                Some(why) => left_out(&doing, why),
            };
            if stopped.is_none() {
                follow_up(step, &doing, carried.success, &result).await;
            }
            step.leaves.failed |= !carried.success;
            if !carried.success {
                stopped = stopped.or(Some("an earlier action in the same reply failed"));
                // What was to follow from it did not happen.
                step.status = AgentStatus::Continue;
            }
            infos.push(info(step, &carried, &result));
            results.push(result);
            step.carried.push(carried);
        }
        step.context.execution_result = Some(one_or_list(results));
        step.context.action_info = Some(infos);
        if step.status == AgentStatus::Finish && step.options.safeguards.finish {
            let judged = judge(step).await;
            if judged.is_err() {
                // A claim that could not be checked does not count.
                step.status = AgentStatus::Continue;
            }
            judged?;
        }
        Ok(())
    }
}

/// The call to make: the same, with the present number of its control.
///
/// # Errors
/// Why the call must not be made: the user declined, or the control is gone.
async fn ready(step: &StepInProgress<'_>, call: &FunctionCall) -> Result<FunctionCall, String> {
    if let Some(question) = question(step, call) {
        AgentEvent::UserAsked { question: question.clone() }.send(step.watch);
        confirmed(step.call, &question).await?;
    }
    if is_app_tool(&call.function) {
        // An app's argument may have the same name as one of ours, without meaning a control.
        return Ok(call.clone());
    }
    let Some(listed) = step.screen.screen.controls.as_ref() else { return Ok(call.clone()) };
    if !step.options.safeguards.aim {
        return Ok(retarget::tap_at_old_position(call, listed).unwrap_or_else(|| call.clone()));
    }
    // The list's numbers are valid until the first action; then a newer list's are.
    if !step.carried.iter().any(|it| follow_up::is_act(&it.function))
        || !call.arguments.contains_key("control_id")
    {
        return Ok(call.clone());
    }
    let now = match step.leaves.screen.as_ref().and_then(|scene| scene.controls.clone()) {
        Some(now) => Some(now),
        None => follow_up::controls(step.hands).await,
    };
    match now {
        Some(now) => retarget::retarget(call, listed, &now),
        None => Err("the screen could not be read after the previous action".into()),
    }
}

/// The question to the user before the call, if the operator wants one.
fn question(step: &StepInProgress<'_>, call: &FunctionCall) -> Option<String> {
    let app = step.leaves.screen.as_ref().unwrap_or(&step.screen.screen).app.as_deref();
    let risk = match step.confirm {
        ConfirmMode::Never => return None,
        _ => risk(call, &step.screen.screen),
    };
    match (risk, step.confirm) {
        (Some(risk), _) => Some(risk.question(app)),
        (None, ConfirmMode::Always) if follow_up::is_act(&call.function) => {
            let arguments = Value::from(call.arguments.clone());
            Some(format!("About to run {} {arguments}. Go ahead?", call.function))
        }
        _ => None,
    }
}

/// Follows up on a call, if that is wanted, and keeps the screen for the next step.
async fn follow_up(
    step: &mut StepInProgress<'_>,
    call: &FunctionCall,
    success: bool,
    reply: &Value,
) {
    let Safeguards { verification, repair, .. } = step.options.safeguards;
    if !follow_up::is_act(&call.function) {
        return;
    }
    if !verification {
        step.leaves.screen = None;
        return;
    }
    let before = step.leaves.screen.take().unwrap_or_else(|| step.screen.screen.clone());
    let settling = FollowUp { hands: step.hands, watch: step.watch, repair };
    let settled = settling.follow_up(&before, &AttemptedCall { call, success, reply }).await;
    step.failures.extend(settled.text);
    step.leaves.kinds = settled.kinds;
    step.leaves.screen = Some(settled.after);
}

/// Calls one function, with its present target. Returns its record and the tool's own result.
async fn perform(
    step: &StepInProgress<'_>,
    call: &FunctionCall,
    aimed: &FunctionCall,
) -> (CallRecord, Value) {
    let came = step.hands.act(aimed).await;
    let success = came.succeeded();
    let message = summary(call, &came);
    finished(step, call, success, &message, came.took);
    let mut result = match came.result.result.clone() {
        Value::Object(result) => result,
        other => Map::from_iter([("result".to_owned(), other)]),
    };
    result.insert("success".into(), success.into());
    result.insert("message".into(), message.clone().into());
    let control = call.control().filter(|_| !is_app_tool(&call.function));
    let listing = step.screen.screen.controls.as_deref();
    let carried = CallRecord {
        function: call.function.clone(),
        arguments: call.arguments.clone(),
        success,
        message,
        node: control.and_then(|number| listing?.node_of(number)),
        touch: came
            .exchanges
            .iter()
            .rev()
            .find_map(|(action, done)| touch(action, done.as_ref().ok()?))
            .unwrap_or_default(),
    };
    (carried, result.into())
}

/// A call that was not attempted. The reason is reported as an event.
fn not_performed(
    step: &StepInProgress<'_>,
    call: &FunctionCall,
    reason: &str,
) -> (CallRecord, Value) {
    let (carried, result) = left_out(call, reason);
    finished(step, call, false, &carried.message, Duration::ZERO);
    (carried, result)
}

/// Reports the result of a function call.
fn finished(
    step: &StepInProgress<'_>,
    call: &FunctionCall,
    success: bool,
    message: &str,
    took: Duration,
) {
    let (doing, message) = (call.clone(), message.to_owned());
    AgentEvent::FunctionFinished { call: doing, success, message, took }.send(step.watch);
}

fn left_out(call: &FunctionCall, reason: &str) -> (CallRecord, Value) {
    let message = format!("not done: {reason}");
    let result = json!({ "success": false, "message": message });
    let FunctionCall { function, arguments } = call.clone();
    (CallRecord { function, arguments, message, ..CallRecord::default() }, result)
}

/// The result of a call in a sentence.
fn summary(call: &FunctionCall, came: &CallResult) -> String {
    let result = &came.result.result;
    let word = |key: &str| result.get(key).and_then(Value::as_str).filter(|it| !it.is_empty());
    if !came.succeeded() {
        let output = came.result.error.as_deref().unwrap_or("it did not run");
        let output = output.lines().collect::<Vec<_>>().join("; ");
        let more = [word("reason"), word("next")].into_iter().flatten();
        return std::iter::once(output.as_str()).chain(more).collect::<Vec<_>>().join("; ");
    }
    let output = match word("message").or_else(|| word("done")).or_else(|| result.as_str()) {
        Some(said) => said.to_owned(),
        None => match word("action") {
            Some(action) => format!("Done: {action}"),
            None => format!("Done: {}", call.function),
        },
    };
    match word("warning").filter(|warning| !output.contains(warning)) {
        Some(warning) => format!("{output} ({warning})"),
        None => output,
    }
}

/// Where a touch landed, and where it ended if that is elsewhere.
fn touch(action: &Action, done: &Outcome) -> Option<Vec<[i32; 2]>> {
    match (action, done) {
        (_, Outcome::Tapped(hit) | Outcome::Typed(TypeResult { into: Some(hit), .. })) => {
            Some(vec![[hit.at.x, hit.at.y]])
        }
        (_, Outcome::Swiped { from, to, .. })
        | (Action::Touch(Gesture::Swipe { from, to, .. } | Gesture::Drag { from, to, .. }), _) => {
            Some(vec![[from.x, from.y], [to.x, to.y]])
        }
        (_, Outcome::Pinched { at: middle })
        | (Action::Touch(Gesture::Pinch { middle, .. }), _) => Some(vec![[middle.x, middle.y]]),
        (Action::Touch(gesture), _) => {
            let [at, _] = gesture.ends();
            Some(vec![[at.x, at.y]])
        }
        _ => None,
    }
}

/// A call as memory has it (UFO's `ActionCommandInfo`).
fn info(step: &StepInProgress<'_>, carried: &CallRecord, result: &Value) -> Value {
    let id = carried.arguments.get("control_id").and_then(Value::as_str).unwrap_or_default();
    let target = step.context.annotation_dict.as_ref().and_then(|rows| rows.get(id));
    let arguments = carried.arguments.iter().map(|(name, value)| format!("{name}={value}"));
    let call = format!("{}({})", carried.function, arguments.collect::<Vec<_>>().join(", "));
    json!({
        "function": carried.function,
        "arguments": carried.arguments,
        "target": target,
        "status": step.status,
        "result": result,
        "action_string": call,
    })
}

/// Has a claim that the goal is reached judged by a fresh snapshot. If it is rejected, the run goes on.
async fn judge(step: &mut StepInProgress<'_>) -> Result<(), StrategyError> {
    let Some(claim) = step.thinking.as_ref().map(|it| it.decision.clone()) else { return Ok(()) };
    // The effect of the last action may take a moment to show.
    const SETTLING: Duration = Duration::from_millis(500);
    if !claim.actions.is_empty() {
        let _ = step.hands.perform(Action::Wait(SETTLING), SETTLING * 4).await;
    }
    let fresh = data_collection::afresh(step).await;
    let fresh = fresh
        .map_err(|StrategyError(why)| StrategyError(format!("the claim was not judged: {why}")))?;
    let sight = observation(step, &fresh);
    let judging = step.policy.judge(&sight, &claim, step.call, step.watch);
    let judgement = match llm_interaction::with_timeout(step, judging).await {
        Some(Ok(judgement)) => judgement,
        Some(Err(undecided)) => {
            step.spent.add(&undecided.spent);
            return Err(StrategyError(format!("the claim was not judged: {}", undecided.reason)));
        }
        None => return Err(StrategyError("the run ended before its claim was judged".into())),
    };
    let Some(judgement) = judgement else { return Ok(()) };
    step.spent.add(&judgement.spent);
    AgentEvent::Judged {
        reached: judgement.reached,
        reason: judgement.reason.clone(),
        usage: judgement.spent.clone(),
    }
    .send(step.watch);
    let stem = format!("judge_step{}", step.number);
    step.writer.keep_prompt(format!("{stem}_prompt.json"), &judgement.prompt, &[]);
    step.writer.keep(format!("{stem}_response.txt"), judgement.response.as_bytes());
    if !judgement.reached {
        step.status = AgentStatus::Continue;
        let noticed = format!("not done yet: {}", judgement.reason);
        AgentEvent::AnomalyFound(noticed).send(step.watch);
    }
    step.judged = Some(JudgementRecord { reached: judgement.reached, reason: judgement.reason });
    Ok(())
}
