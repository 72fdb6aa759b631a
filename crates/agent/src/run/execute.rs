//! ACTION_EXECUTION: makes the decided calls in order, up to the first failure, and has a claim of
//! FINISH judged.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use thumbwire_base::visible::{quoted, visible};
use thumbwire_core::action::request;
use thumbwire_core::toolset::app_tools::is_app_tool;
use thumbwire_core::trace::format::{CallRecord, JudgementRecord, RefusedAct};
use tokio::time::Instant;

use super::step::{PhaseError, StepInProgress};
use super::{collect, decide};
use crate::confirm::{
    Act, ConfirmMode, NotDone, UnknownButton, Verdict, approve, touched_label, verdict,
};
use crate::event::AgentEvent;
use crate::functions::failure_text;
use crate::options::Safeguards;
use crate::policy::ButtonQuestion;
use crate::policy::decision::{AgentStatus, FunctionCall};
use crate::safeguards::control_name;
use crate::safeguards::effect::effect;
use crate::safeguards::follow_up::{self, FollowUp};
use crate::safeguards::retarget;
use crate::safeguards::screen_state::ScreenState;
use crate::safeguards::verify::AttemptedCall;

/// Makes the decided calls and checks what they did (UFO's `MobileActionExecutionStrategy`).
///
/// # Errors
/// A claim that the goal is reached could not be judged.
pub(crate) async fn execute(step: &mut StepInProgress<'_>) -> Result<(), PhaseError> {
    let calls = step.decision().map(|decision| decision.actions.clone()).unwrap_or_default();
    let mut stopped: Option<&str> = None;
    for call in calls {
        if stopped.is_none() && step.is_over() {
            stopped = Some("the run ended first");
        }
        let record = match stopped {
            None => attempt(step, &call).await,
            Some(reason) => left_out(&call, reason),
        };
        step.leaves.failed |= !record.success;
        if !record.success {
            stopped = stopped.or(Some("an earlier action in the same reply failed"));
            // What was to follow from it did not happen.
            step.status = AgentStatus::Continue;
        }
        step.calls.push(record);
    }
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

/// Makes a call if it may be made, and looks at what came of it.
async fn attempt(step: &mut StepInProgress<'_>, call: &FunctionCall) -> CallRecord {
    match ready(step, call).await {
        Ok(aimed) => {
            step.attempted.push(call.clone());
            let (record, launched) = perform(step, call, &aimed.call).await;
            let effect = follow_up(step, call, Some(aimed), &record, launched.as_deref()).await;
            CallRecord { effect, ..record }
        }
        Err(NotDone { reason, refused }) => {
            let record = CallRecord { refused, ..left_out(call, &reason) };
            finished(step, call, false, &record.message, Duration::ZERO);
            let effect = follow_up(step, call, None, &record, None).await;
            CallRecord { effect, ..record }
        }
    }
}

/// A call that may be made.
struct AimedCall {
    /// With the present number of its control.
    call: FunctionCall,
    /// The screen that it was aimed at, with the numbers of this call; `None` if it is for nothing
    /// on the screen.
    screen: Option<ScreenState>,
}

/// Aims a call at the present screen, and asks the user if it needs approval. What is judged is
/// what would be touched: the policy decided by an older screen, and by texts of strangers.
///
/// # Errors
/// Why the call must not be made: the names contradict each other, the control is gone, the user
/// did not agree.
async fn ready(step: &mut StepInProgress<'_>, call: &FunctionCall) -> Result<AimedCall, NotDone> {
    // An app's argument may have the same name as one of ours, without meaning a control.
    let is_of_app = is_app_tool(&call.function);
    if let Some(listed) = step.screen.state.controls.as_ref().filter(|_| !is_of_app) {
        control_name::check(call, listed)?;
    }
    let aimed = aimed(step, call).await?;
    let Some((question, act)) = question(step, &aimed).await else { return Ok(aimed) };
    approve(step.call, step.watch, &question, &act, step.memory.refused()).await?;
    // The user took a while, and the screen may have changed by itself.
    let again = self::aimed(step, call).await?;
    match self::question(step, &again).await {
        Some((_, same)) if same == act => Ok(again),
        _ => Err("the screen changed while the user was asked: choose by what it shows now"
            .to_owned()
            .into()),
    }
}

/// The call with the present number of its control, and the present screen.
async fn aimed(step: &StepInProgress<'_>, call: &FunctionCall) -> Result<AimedCall, String> {
    let listed = step.screen.state.controls.as_ref();
    let is_judged = step.confirm != ConfirmMode::Never;
    let is_for_a_control = listed.is_some() && call.control().is_some();
    let acts = step.functions.acts(&call.function);
    let needs_screen = Act::of_call(call, acts, None).needs_screen();
    if !needs_screen || !(is_judged || is_for_a_control) {
        return Ok(AimedCall { call: call.clone(), screen: None });
    }
    let known = step.last_screen();
    let at = |controls| Some(ScreenState { controls, ..known.clone() });
    let has_acted = step.calls.iter().any(|call| step.functions.acts(&call.function));
    let now = follow_up::recent_controls(step.phone, known.controls.as_ref(), step.read).await;
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
    // The list's numbers are valid until the first action, or until the screen changes; then a
    // newer list's are.
    let mut call = match now == *listed {
        true => call.clone(),
        false => retarget::retarget(call, listed, &now)?,
    };
    if let Some(node) = call.control().and_then(|number| now.node_of(number)) {
        control_name::set_own_name(&mut call, &now.snapshot.tree.nodes[node]);
    }
    Ok(AimedCall { call, screen: at(Some(now)) })
}

/// The question to the user before the call, if the operator wants one, and what a no is remembered
/// by.
async fn question(
    step: &mut StepInProgress<'_>,
    aimed: &AimedCall,
) -> Option<(String, RefusedAct)> {
    if step.confirm == ConfirmMode::Never {
        return None;
    }
    let AimedCall { call, screen } = aimed;
    let screen = screen.as_ref().unwrap_or(step.last_screen()).clone();
    let app = screen.app.as_deref();
    let acts = step.functions.acts(&call.function);
    let controls = screen.controls.as_deref();
    let snapshot = controls.map(|controls| &*controls.snapshot);
    let act = Act::of_call(call, acts, controls);
    let risk = match verdict(&act, snapshot) {
        Verdict::Harmless => None,
        Verdict::Risky(risk) => Some(risk),
        Verdict::Unknown(button) => {
            let answer = rating(step, &button, app).await;
            button.judged(answer)
        }
    };
    if let Some(risk) = risk {
        return Some((risk.question(app), risk.act(app)));
    }
    let asks = step.confirm == ConfirmMode::Always && acts;
    asks.then(|| {
        let arguments = Value::from(call.arguments.clone()).to_string();
        let on = touched_label(&act, snapshot);
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

/// What the policy's model says of a button that no list knows: whether pressing it is risky.
/// `None` if no model answers.
async fn rating(
    step: &mut StepInProgress<'_>,
    button: &UnknownButton,
    app: Option<&str>,
) -> Option<bool> {
    let asked = ButtonQuestion {
        app: app.map(str::to_owned),
        label: button.label.clone(),
        dialog: button.dialog.clone(),
    };
    let rating = step.policy.rate(&asked, step.call, step.watch);
    match decide::with_timeout(step, rating).await? {
        Ok(Some(rating)) => {
            step.spent.add(&rating.spent);
            Some(rating.risky)
        }
        Ok(None) => None,
        Err(unanswered) => {
            step.spent.add(&unanswered.spent);
            tracing::warn!("the model did not say what a button does: {}", unanswered.reason);
            None
        }
    }
}

/// Follows up on a call, if that is wanted, and keeps the screen for the next step. Returns what
/// the call changed.
async fn follow_up(
    step: &mut StepInProgress<'_>,
    call: &FunctionCall,
    aimed: Option<AimedCall>,
    record: &CallRecord,
    launched: Option<&str>,
) -> String {
    let Safeguards { verification, repair, .. } = step.options.safeguards;
    if !step.functions.acts(&call.function) {
        // Time has passed since the last look.
        step.read = None;
        return String::new();
    }
    if !verification {
        (step.leaves.screen, step.read) = (None, None);
        return String::new();
    }
    let last = step.leaves.screen.take().unwrap_or_else(|| step.screen.state.clone());
    // A number belongs to the screen that the call was aimed at.
    let aimed = aimed.filter(|aimed| aimed.call.function == call.function);
    let aimed = aimed.and_then(|aimed| Some((aimed.call, aimed.screen?)));
    let (call, before) = match &aimed {
        Some((call, screen)) if screen.controls.is_some() => (call, screen),
        _ => (call, &last),
    };
    let (functions, phone, watch) = (step.functions, step.phone, step.watch);
    let attempted = AttemptedCall { call, success: record.success, launched };
    let report = FollowUp { functions, phone, watch, repair }.follow_up(before, &attempted).await;
    step.failures.extend(report.text);
    step.leaves.anomalies = report.anomalies;
    step.leaves.repaired.extend(report.repaired);
    let effect = effect(before, &report.after);
    (step.leaves.screen, step.read) = (Some(report.after), Some(Instant::now()));
    effect
}

/// Calls one function, with its present target. Returns its record, and the app that it started.
async fn perform(
    step: &StepInProgress<'_>,
    call: &FunctionCall,
    aimed: &FunctionCall,
) -> (CallRecord, Option<String>) {
    let began = Instant::now();
    let result = step.functions.call(aimed, step.phone).await;
    let success = result.is_ok();
    let (message, touch, launched) = match result {
        Ok(reply) => (reply.message, reply.touch, reply.launched),
        Err(error) => (failure_text::reason(&error), Vec::new(), None),
    };
    finished(step, call, success, &message, began.elapsed());
    let control = call.control().filter(|_| !is_app_tool(&call.function));
    let listed = step.screen.state.controls.as_deref();
    let record = CallRecord {
        function: call.function.clone(),
        arguments: call.arguments.clone(),
        success,
        message,
        node: control.and_then(|number| listed?.node_of(number)),
        effect: String::new(),
        touch,
        refused: None,
    };
    (record, launched)
}

/// Reports the result of a function call.
fn finished(
    step: &StepInProgress<'_>,
    call: &FunctionCall,
    success: bool,
    message: &str,
    took: Duration,
) {
    let (call, message) = (call.clone(), message.to_owned());
    AgentEvent::FunctionFinished { call, success, message, took }.send(step.watch);
}

/// A call that was not made.
fn left_out(call: &FunctionCall, reason: &str) -> CallRecord {
    let FunctionCall { function, arguments } = call.clone();
    CallRecord {
        function,
        arguments,
        message: format!("not done: {reason}"),
        ..CallRecord::default()
    }
}

/// Has a claim that the goal is reached judged by a fresh snapshot. If it is rejected, the run goes
/// on.
async fn judge(step: &mut StepInProgress<'_>) -> Result<(), PhaseError> {
    let Some(claim) = step.decision().cloned() else { return Ok(()) };
    // The effect of the last action may take a moment to show.
    const SETTLING: Duration = Duration::from_millis(500);
    if !claim.actions.is_empty() {
        let _ = step.phone.request(request::Wait(SETTLING), SETTLING * 4).await;
    }
    let watch = step.watch;
    let not_judged = |reason: &str| {
        let text = format!("the claim was not judged: {reason}");
        AgentEvent::AnomalyFound(text.clone()).send(watch);
        PhaseError(text)
    };
    let screen = collect::read_again(step).await.map_err(|failed| not_judged(&failed.0))?;
    let observation = decide::observation(step, &screen);
    let judging = step.policy.judge(&observation, &claim, step.call, step.watch);
    let judgement = match decide::with_timeout(step, judging).await {
        Some(Ok(judgement)) => judgement,
        Some(Err(undecided)) => {
            step.spent.add(&undecided.spent);
            return Err(not_judged(&undecided.reason));
        }
        None => return Err(PhaseError("the run ended before its claim was judged".into())),
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
        let text = format!("not done yet: {}", judgement.reason);
        AgentEvent::AnomalyFound(text).send(step.watch);
    }
    step.judgement = Some(JudgementRecord { reached: judgement.reached, reason: judgement.reason });
    Ok(())
}
