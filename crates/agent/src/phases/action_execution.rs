//! ACTION_EXECUTION: makes the decided calls in order, up to the first failure, and has a claim of FINISH judged.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Map, Value, json};
use thumbwire_base::visible::{quoted, visible};
use thumbwire_device::Gesture;
use tokio::time::Instant;

use super::super::confirm::{ConfirmMode, NotDone, approve, needs_screen, risk, touched_label};
use super::super::context::one_or_list;
use super::super::control_name;
use super::super::decision::{AgentStatus, FunctionCall};
use super::super::effect::effect;
use super::super::event::AgentEvent;
use super::super::failure_text;
use super::super::follow_up::{self, FollowUp};
use super::super::functions::CallResult;
use super::super::options::Safeguards;
use super::super::retarget;
use super::super::screen_state::ScreenState;
use super::super::step::StepInProgress;
use super::super::verify::AttemptedCall;
use super::{Strategy, StrategyError, data_collection, llm_interaction, observation};
use thumbwire_core::action::{Action, Outcome, PinchResult, SwipeResult, TypeResult};
use thumbwire_core::toolset::app_tools::is_app_tool;
use thumbwire_core::trace::format::{CallRecord, JudgementRecord, RefusedAct};

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
                None => attempt(step, &doing).await,
                Some(why) => left_out(&doing, why),
            };
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

/// Makes a call if it may be made, and looks at what came of it.
async fn attempt(step: &mut StepInProgress<'_>, call: &FunctionCall) -> (CallRecord, Value) {
    let (aimed, (mut carried, result)) = match ready(step, call).await {
        Ok(aimed) => {
            step.attempted.push(call.clone());
            let done = perform(step, call, &aimed.call).await;
            (Some(aimed), done)
        }
        Err(why) => (None, not_performed(step, call, why)),
    };
    carried.effect = follow_up(step, call, aimed, carried.success, &result).await;
    (carried, result)
}

/// A call that may be made.
struct AimedCall {
    /// With the present number of its control.
    call: FunctionCall,
    /// The screen that it was aimed at, with the numbers of this call; `None` if it is for nothing on the screen.
    screen: Option<ScreenState>,
}

/// Aims a call at the present screen, and asks the user if it needs approval. What is judged is what would be touched: the
/// policy decided by an older screen, and by texts of strangers.
///
/// # Errors
/// Why the call must not be made: the names contradict each other, the control is gone, the user did not agree.
async fn ready(step: &StepInProgress<'_>, call: &FunctionCall) -> Result<AimedCall, NotDone> {
    // An app's argument may have the same name as one of ours, without meaning a control.
    let is_of_app = is_app_tool(&call.function);
    if let Some(listed) = step.screen.screen.controls.as_ref().filter(|_| !is_of_app) {
        control_name::check(call, listed)?;
    }
    let aimed = aimed(step, call).await?;
    let Some((question, act)) = question(step, &aimed) else { return Ok(aimed) };
    approve(step.call, step.watch, &question, &act, step.memory.refused()).await?;
    // The user took a while, and the screen may have changed by itself.
    let again = self::aimed(step, call).await?;
    match self::question(step, &again) {
        Some((_, same)) if same == act => Ok(again),
        _ => Err("the screen changed while the user was asked: choose by what it shows now"
            .to_owned()
            .into()),
    }
}

/// The call with the present number of its control, and the present screen.
async fn aimed(step: &StepInProgress<'_>, call: &FunctionCall) -> Result<AimedCall, String> {
    let listed = step.screen.screen.controls.as_ref();
    let is_judged = step.confirm != ConfirmMode::Never;
    let is_for_a_control = listed.is_some() && call.control().is_some();
    if !needs_screen(call) || !(is_judged || is_for_a_control) {
        return Ok(AimedCall { call: call.clone(), screen: None });
    }
    let known = step.leaves.screen.as_ref().unwrap_or(&step.screen.screen);
    let at = |controls| Some(ScreenState { controls, ..known.clone() });
    let has_acted = step.carried.iter().any(|it| follow_up::is_act(&it.function));
    let (seen, read) = match &step.leaves.screen {
        Some(screen) => (screen.controls.as_ref(), step.leaves.read),
        None => (listed.filter(|_| !has_acted), step.screen.read),
    };
    let now = follow_up::recent_controls(step.hands, seen, read).await;
    let Some(listed) = listed else {
        return Ok(AimedCall { call: call.clone(), screen: at(now) });
    };
    if !step.options.safeguards.aim {
        let call = retarget::tap_at_old_position(call, listed).unwrap_or_else(|| call.clone());
        return Ok(AimedCall { call, screen: at(now) });
    }
    if call.control().is_none() {
        return Ok(AimedCall { call: call.clone(), screen: at(now) });
    }
    let now = match now {
        Some(now) => now,
        None if has_acted => {
            return Err("the screen could not be read after the previous action".into());
        }
        // The session looks for the control once more before it taps.
        None => Arc::clone(listed),
    };
    // The list's numbers are valid until the first action, or until the screen changes; then a newer list's are.
    let mut call = match now == *listed {
        true => call.clone(),
        false => retarget::retarget(call, listed, &now)?,
    };
    if let Some(node) = call.control().and_then(|number| now.node_of(number)) {
        control_name::set_own_name(&mut call, &now.snapshot.tree.nodes[node]);
    }
    Ok(AimedCall { call, screen: at(Some(now)) })
}

/// The question to the user before the call, if the operator wants one, and what a no is remembered by.
fn question(step: &StepInProgress<'_>, aimed: &AimedCall) -> Option<(String, RefusedAct)> {
    let AimedCall { call, screen } = aimed;
    let known = step.leaves.screen.as_ref().unwrap_or(&step.screen.screen);
    let screen = screen.as_ref().unwrap_or(known);
    let app = screen.app.as_deref();
    if step.confirm == ConfirmMode::Never {
        return None;
    }
    if let Some(risk) = risk(call, screen) {
        return Some((risk.question(app), risk.act(app)));
    }
    let asks = step.confirm == ConfirmMode::Always && follow_up::is_act(&call.function);
    asks.then(|| {
        let arguments = Value::from(call.arguments.clone()).to_string();
        let on = touched_label(call, screen);
        let place = on.as_ref().map_or(String::new(), |label| format!(" on {}", quoted(label)));
        let question =
            format!("About to run {} {}{place}. Go ahead?", call.function, visible(&arguments));
        let (what, text) = match on {
            // The same control by another function or at other coordinates.
            Some(label) => ("act on it".into(), label),
            None => (call.function.clone(), arguments),
        };
        let app = app.unwrap_or_default().into();
        (question, RefusedAct { what, app, text, about: String::new() })
    })
}

/// Follows up on a call, if that is wanted, and keeps the screen for the next step. Returns what the call changed.
async fn follow_up(
    step: &mut StepInProgress<'_>,
    call: &FunctionCall,
    aimed: Option<AimedCall>,
    success: bool,
    reply: &Value,
) -> String {
    let Safeguards { verification, repair, .. } = step.options.safeguards;
    if !follow_up::is_act(&call.function) {
        return String::new();
    }
    if !verification {
        step.leaves.screen = None;
        return String::new();
    }
    let last = step.leaves.screen.take().unwrap_or_else(|| step.screen.screen.clone());
    // A number belongs to the screen that the call was aimed at.
    let aimed = aimed.filter(|aimed| aimed.call.function == call.function);
    let aimed = aimed.and_then(|aimed| Some((aimed.call, aimed.screen?)));
    let (call, before) = match &aimed {
        Some((call, screen)) if screen.controls.is_some() => (call, screen),
        _ => (call, &last),
    };
    let settling = FollowUp { hands: step.hands, watch: step.watch, repair };
    let settled = settling.follow_up(before, &AttemptedCall { call, success, reply }).await;
    step.failures.extend(settled.text);
    step.leaves.kinds = settled.kinds;
    let effect = effect(before, &settled.after);
    (step.leaves.screen, step.leaves.read) = (Some(settled.after), Some(Instant::now()));
    effect
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
        effect: String::new(),
        touch: came
            .exchanges
            .iter()
            .rev()
            .find_map(|(action, done)| touch(action, done.as_ref().ok()?))
            .unwrap_or_default(),
        refused: None,
    };
    (carried, result.into())
}

/// A call that was not attempted. The reason is reported as an event.
fn not_performed(
    step: &StepInProgress<'_>,
    call: &FunctionCall,
    why: NotDone,
) -> (CallRecord, Value) {
    let (carried, result) = left_out(call, &why.reason);
    let carried = CallRecord { refused: why.refused, ..carried };
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
        return failure_text::reason(came);
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
        (_, Outcome::Swiped(SwipeResult { from, to, .. }))
        | (Action::Touch(Gesture::Swipe { from, to, .. } | Gesture::Drag { from, to, .. }), _) => {
            Some(vec![[from.x, from.y], [to.x, to.y]])
        }
        (_, Outcome::Pinched(PinchResult { at: middle }))
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
