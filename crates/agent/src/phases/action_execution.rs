//! ACTION_EXECUTION: makes the decided calls in order, up to the first failure, and has a claim of FINISH judged.

use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Map, Value, json};
use thumbwire_device::Gesture;

use super::super::confirm::{ConfirmMode, confirmed, risk};
use super::super::context::one_or_list;
use super::super::event::AgentEvent;
use super::super::follow_up::{self, FollowUp};
use super::super::functions::CallResult;
use super::super::options::Safeguards;
use super::super::reply::{AgentStatus, FunctionCall};
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

    async fn execute(&self, round: &mut StepInProgress<'_>) -> Result<(), StrategyError> {
        let doings = round.thinking.as_ref().map(|it| it.decision.actions.clone());
        let (mut results, mut infos) = (Vec::new(), Vec::new());
        let mut stopped: Option<&str> = None;
        for doing in doings.unwrap_or_default() {
            if stopped.is_none() && round.is_over() {
                stopped = Some("the run ended first");
            }
            let (carried, result) = match stopped {
                None => match ready(round, &doing).await {
                    Ok(aimed) => carry_out(round, &doing, &aimed).await,
                    Err(why) => not_done(round, &doing, &why),
                },
                Some(why) => left_out(&doing, why),
            };
            if stopped.is_none() {
                follow_up(round, &doing, carried.success, &result).await;
            }
            round.leaves.failed |= !carried.success;
            if !carried.success {
                stopped = stopped.or(Some("an earlier action in the same reply failed"));
                // What was to follow from it did not happen.
                round.status = AgentStatus::Continue;
            }
            infos.push(info(round, &carried, &result));
            results.push(result);
            round.carried.push(carried);
        }
        round.context.execution_result = Some(one_or_list(results));
        round.context.action_info = Some(infos);
        if round.status == AgentStatus::Finish && round.options.safeguards.finish {
            let judged = judge(round).await;
            if judged.is_err() {
                // A claim that could not be checked does not count.
                round.status = AgentStatus::Continue;
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
async fn ready(round: &StepInProgress<'_>, doing: &FunctionCall) -> Result<FunctionCall, String> {
    if let Some(question) = question(round, doing) {
        AgentEvent::UserAsked { question: question.clone() }.tell(round.watch);
        confirmed(round.call, &question).await?;
    }
    if is_app_tool(&doing.function) {
        // An app's argument may have the same name as one of ours, without meaning a control.
        return Ok(doing.clone());
    }
    let Some(listed) = round.screen.scene.controls.as_deref() else { return Ok(doing.clone()) };
    if !round.options.safeguards.aim {
        return Ok(retarget::tap_at_old_position(doing, listed).unwrap_or_else(|| doing.clone()));
    }
    // The list's numbers are valid until the first action; then a newer list's are.
    if !round.carried.iter().any(|it| follow_up::is_act(&it.function))
        || !doing.arguments.contains_key("control_id")
    {
        return Ok(doing.clone());
    }
    let now = match round.leaves.scene.as_ref().and_then(|scene| scene.controls.clone()) {
        Some(now) => Some(now),
        None => follow_up::controls(round.hands).await,
    };
    match now {
        Some(now) => retarget::retarget(doing, listed, &now),
        None => Err("the screen could not be read after the previous action".into()),
    }
}

/// The question to the user before the call, if the operator wants one.
fn question(round: &StepInProgress<'_>, doing: &FunctionCall) -> Option<String> {
    let app = round.leaves.scene.as_ref().unwrap_or(&round.screen.scene).app.as_deref();
    let risk = match round.confirm {
        ConfirmMode::Never => return None,
        _ => risk(doing, &round.screen.scene),
    };
    match (risk, round.confirm) {
        (Some(risk), _) => Some(risk.question(app)),
        (None, ConfirmMode::Always) if follow_up::is_act(&doing.function) => {
            let arguments = Value::from(doing.arguments.clone());
            Some(format!("About to run {} {arguments}. Go ahead? (yes / no)", doing.function))
        }
        _ => None,
    }
}

/// Follows up on a call, if that is wanted, and keeps the screen for the next step.
async fn follow_up(
    round: &mut StepInProgress<'_>,
    doing: &FunctionCall,
    success: bool,
    reply: &Value,
) {
    let Safeguards { verification, repair, .. } = round.options.safeguards;
    if !follow_up::is_act(&doing.function) {
        return;
    }
    if !verification {
        round.leaves.scene = None;
        return;
    }
    let before = round.leaves.scene.take().unwrap_or_else(|| round.screen.scene.clone());
    let settling = FollowUp { hands: round.hands, watch: round.watch, repair };
    let settled = settling.follow_up(&before, &AttemptedCall { doing, success, reply }).await;
    round.failures.extend(settled.says);
    round.leaves.kinds = settled.kinds;
    round.leaves.scene = Some(settled.after);
}

/// Calls one function, with its present target. Returns its record and the tool's own result.
async fn carry_out(
    round: &StepInProgress<'_>,
    doing: &FunctionCall,
    aimed: &FunctionCall,
) -> (CallRecord, Value) {
    let came = round.hands.act(aimed).await;
    let success = came.succeeded();
    let message = told(doing, &came);
    finished(round, doing, success, &message, came.took);
    let mut result = match came.result.result.clone() {
        Value::Object(result) => result,
        other => Map::from_iter([("result".to_owned(), other)]),
    };
    result.insert("success".into(), success.into());
    result.insert("message".into(), message.clone().into());
    let control = doing.arguments.get("control_id").and_then(Value::as_str);
    let control = control.filter(|_| !is_app_tool(&doing.function));
    let listing = round.screen.scene.controls.as_deref();
    let carried = CallRecord {
        function: doing.function.clone(),
        arguments: doing.arguments.clone(),
        success,
        message,
        node: control.and_then(|id| listing?.node_of(id)),
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
fn not_done(round: &StepInProgress<'_>, doing: &FunctionCall, why: &str) -> (CallRecord, Value) {
    let (carried, result) = left_out(doing, why);
    finished(round, doing, false, &carried.message, Duration::ZERO);
    (carried, result)
}

/// Reports the result of a function call.
fn finished(
    round: &StepInProgress<'_>,
    doing: &FunctionCall,
    success: bool,
    message: &str,
    took: Duration,
) {
    let (doing, message) = (doing.clone(), message.to_owned());
    AgentEvent::FunctionFinished { doing, success, message, took }.tell(round.watch);
}

fn left_out(doing: &FunctionCall, why: &str) -> (CallRecord, Value) {
    let message = format!("not done: {why}");
    let result = json!({ "success": false, "message": message });
    let FunctionCall { function, arguments } = doing.clone();
    (CallRecord { function, arguments, message, ..CallRecord::default() }, result)
}

/// The result of a call in a sentence.
fn told(doing: &FunctionCall, came: &CallResult) -> String {
    let result = &came.result.result;
    let word = |key: &str| result.get(key).and_then(Value::as_str).filter(|it| !it.is_empty());
    if !came.succeeded() {
        let said = came.result.error.as_deref().unwrap_or("it did not run");
        let said = said.lines().collect::<Vec<_>>().join("; ");
        let more = [word("reason"), word("next")].into_iter().flatten();
        return std::iter::once(said.as_str()).chain(more).collect::<Vec<_>>().join("; ");
    }
    let said = match word("message").or_else(|| word("done")).or_else(|| result.as_str()) {
        Some(said) => said.to_owned(),
        None => match word("action") {
            Some(action) => format!("Done: {action}"),
            None => format!("Done: {}", doing.function),
        },
    };
    match word("warning").filter(|warning| !said.contains(warning)) {
        Some(warning) => format!("{said} ({warning})"),
        None => said,
    }
}

/// Where a touch landed, and where it ended if that is elsewhere.
fn touch(action: &Action, done: &Outcome) -> Option<Vec<[i32; 2]>> {
    match (action, done) {
        (_, Outcome::Tapped(hit) | Outcome::Typed(TypeResult { into: Some(hit), .. })) => {
            Some(vec![[hit.at.x, hit.at.y]])
        }
        (_, Outcome::Swiped { from, to, .. })
        | (Action::Touch(Gesture::Swipe { from, to, .. }), _) => {
            Some(vec![[from.x, from.y], [to.x, to.y]])
        }
        (Action::Touch(gesture), _) => {
            let [at, _] = gesture.ends();
            Some(vec![[at.x, at.y]])
        }
        _ => None,
    }
}

/// A call as memory has it (UFO's `ActionCommandInfo`).
fn info(round: &StepInProgress<'_>, carried: &CallRecord, result: &Value) -> Value {
    let id = carried.arguments.get("control_id").and_then(Value::as_str).unwrap_or_default();
    let target = round.context.annotation_dict.as_ref().and_then(|rows| rows.get(id));
    let arguments = carried.arguments.iter().map(|(name, value)| format!("{name}={value}"));
    let call = format!("{}({})", carried.function, arguments.collect::<Vec<_>>().join(", "));
    json!({
        "function": carried.function,
        "arguments": carried.arguments,
        "target": target,
        "status": round.status,
        "result": result,
        "action_string": call,
    })
}

/// Has a claim that the goal is reached judged by a fresh snapshot. If it is rejected, the run goes on.
async fn judge(round: &mut StepInProgress<'_>) -> Result<(), StrategyError> {
    let Some(claim) = round.thinking.as_ref().map(|it| it.decision.clone()) else { return Ok(()) };
    // The effect of the last action may take a moment to show.
    const SETTLING: Duration = Duration::from_millis(500);
    if !claim.actions.is_empty() {
        let _ = round.hands.perform(Action::Wait(SETTLING), SETTLING * 4).await;
    }
    let fresh = data_collection::afresh(round).await;
    let fresh = fresh
        .map_err(|StrategyError(why)| StrategyError(format!("the claim was not judged: {why}")))?;
    let sight = observation(round, &fresh);
    let judging = round.mind.judge(&sight, &claim, round.call, round.watch);
    let judgement = match llm_interaction::within(round, judging).await {
        Some(Ok(judgement)) => judgement,
        Some(Err(undecided)) => {
            round.spent.add(&undecided.spent);
            return Err(StrategyError(format!("the claim was not judged: {}", undecided.why)));
        }
        None => return Err(StrategyError("the run ended before its claim was judged".into())),
    };
    let Some(judgement) = judgement else { return Ok(()) };
    round.spent.add(&judgement.spent);
    let stem = format!("judge_step{}", round.number);
    round.story.keep_prompt(format!("{stem}_prompt.json"), &judgement.prompt, &[]);
    round.story.keep(format!("{stem}_response.txt"), judgement.response.as_bytes());
    if !judgement.reached {
        round.status = AgentStatus::Continue;
        let noticed = format!("not done yet: {}", judgement.why);
        AgentEvent::AnomalyFound(noticed).tell(round.watch);
    }
    round.judged = Some(JudgementRecord { reached: judgement.reached, why: judgement.why });
    Ok(())
}
