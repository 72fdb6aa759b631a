//! ACTION_EXECUTION: what was decided is done, in order, up to the first failure; a claim that all is done is judged.

use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Map, Value, json};
use thumbwire_device::Gesture;

use super::super::aim;
use super::super::ask::{Confirm, confirmed, risk};
use super::super::context::one_or_list;
use super::super::hands::Came;
use super::super::options::Safeguards;
use super::super::reply::{Doing, Status};
use super::super::round::Round;
use super::super::settle::{self, Settling};
use super::super::verify::Deed;
use super::super::watch::Event;
use super::{Broken, Strategy, collect, sight, think};
use crate::action::{Action, Outcome, Typed};
use crate::surface::bridged::is_app_tool;
use crate::trace::format::{Carried, Judged};

/// `MobileActionExecutionStrategy`.
pub(super) struct Execution;

#[async_trait]
impl Strategy for Execution {
    fn name(&self) -> &'static str {
        "MobileActionExecutionStrategy"
    }

    fn needs(&self) -> Vec<&'static str> {
        vec!["parsed_response", "annotation_dict"]
    }

    fn gives(&self) -> Vec<&'static str> {
        vec!["execution_result", "action_info"]
    }

    fn fails_fast(&self) -> bool {
        false
    }

    async fn carry_out(&self, round: &mut Round<'_>) -> Result<(), Broken> {
        let doings = round.thinking.as_ref().map(|it| it.decision.actions.clone());
        let (mut results, mut infos) = (Vec::new(), Vec::new());
        let mut stopped: Option<&str> = None;
        for doing in doings.unwrap_or_default() {
            if stopped.is_none() && round.is_over() {
                stopped = Some("the run was ended before it");
            }
            let (carried, result) = match stopped {
                None => match ready(round, &doing).await {
                    Ok(aimed) => carry_out(round, &doing, &aimed).await,
                    Err(why) => not_done(round, &doing, &why),
                },
                Some(why) => left_out(&doing, why),
            };
            if stopped.is_none() {
                look_after(round, &doing, carried.success, &result).await;
            }
            round.leaves.failed |= !carried.success;
            if !carried.success {
                stopped = stopped.or(Some("an earlier action of the same reply failed"));
                // What was to follow from it did not.
                round.status = Status::Continue;
            }
            infos.push(info(round, &carried, &result));
            results.push(result);
            round.carried.push(carried);
        }
        round.context.execution_result = Some(one_or_list(results));
        round.context.action_info = Some(infos);
        if round.status == Status::Finish && round.options.safeguards.finish {
            let judged = judge(round).await;
            if judged.is_err() {
                // What could not be checked is not known to be reached.
                round.status = Status::Continue;
            }
            judged?;
        }
        Ok(())
    }
}

/// What is to be called for a doing: the same, where its control still has its number.
///
/// # Errors
/// Why nothing may be called: the person declined, or the control is gone.
async fn ready(round: &Round<'_>, doing: &Doing) -> Result<Doing, String> {
    if let Some(question) = question(round, doing) {
        round.watch.tell(&Event::Asked { question: &question });
        confirmed(round.call, &question).await?;
    }
    if is_app_tool(&doing.function) {
        // An argument of an app may be called as one of ours, and means no control.
        return Ok(doing.clone());
    }
    let Some(listed) = round.screen.scene.controls.as_deref() else { return Ok(doing.clone()) };
    if !round.options.safeguards.aim {
        return Ok(aim::blind(doing, listed).unwrap_or_else(|| doing.clone()));
    }
    // The numbers of the listing mean something until the first action; then those of a newer one do.
    if !round.carried.iter().any(|it| settle::is_act(&it.function))
        || !doing.arguments.contains_key("control_id")
    {
        return Ok(doing.clone());
    }
    let now = match round.leaves.scene.as_ref().and_then(|scene| scene.controls.clone()) {
        Some(now) => Some(now),
        None => settle::controls(round.hands).await,
    };
    match now {
        Some(now) => aim::found_again(doing, listed, &now),
        None => Err("the screen could not be read after the action before".into()),
    }
}

/// What the person is asked before it, where the operator wants that.
fn question(round: &Round<'_>, doing: &Doing) -> Option<String> {
    let app = round.leaves.scene.as_ref().unwrap_or(&round.screen.scene).app.as_deref();
    let risk = match round.confirm {
        Confirm::Never => return None,
        _ => risk(doing, &round.screen.scene),
    };
    match (risk, round.confirm) {
        (Some(risk), _) => Some(risk.question(app)),
        (None, Confirm::Always) if settle::is_act(&doing.function) => {
            let arguments = Value::from(doing.arguments.clone());
            Some(format!("About to do {} {arguments}. Go ahead? (yes / no)", doing.function))
        }
        _ => None,
    }
}

/// Looks at what came of an action, where that is wanted, and keeps it for the next round.
async fn look_after(round: &mut Round<'_>, doing: &Doing, success: bool, reply: &Value) {
    let Safeguards { verification, repair, .. } = round.options.safeguards;
    if !settle::is_act(&doing.function) {
        return;
    }
    if !verification {
        round.leaves.scene = None;
        return;
    }
    let before = round.leaves.scene.take().unwrap_or_else(|| round.screen.scene.clone());
    let settling = Settling { hands: round.hands, watch: round.watch, repair };
    let settled = settling.settle(&before, &Deed { doing, success, reply }).await;
    round.failures.extend(settled.says);
    round.leaves.kinds = settled.kinds;
    round.leaves.scene = Some(settled.after);
}

/// Calls one function, aimed anew. Gives what is remembered of it, and the tool's own result.
async fn carry_out(round: &Round<'_>, doing: &Doing, aimed: &Doing) -> (Carried, Value) {
    let came = round.hands.act(aimed).await;
    let success = came.succeeded();
    let message = told(doing, &came);
    let event = Event::Did { doing, success, message: &message, took: came.took };
    round.watch.tell(&event);
    let mut result = match came.result.result.clone() {
        Value::Object(result) => result,
        other => Map::from_iter([("result".to_owned(), other)]),
    };
    result.insert("success".into(), success.into());
    result.insert("message".into(), message.clone().into());
    let control = doing.arguments.get("control_id").and_then(Value::as_str);
    let control = control.filter(|_| !is_app_tool(&doing.function));
    let listing = round.screen.scene.controls.as_deref();
    let carried = Carried {
        function: doing.function.clone(),
        arguments: doing.arguments.clone(),
        success,
        message,
        node: control.and_then(|id| listing?.node_of(id)),
        touch: came
            .heard
            .iter()
            .rev()
            .find_map(|(action, done)| touch(action, done.as_ref().ok()?))
            .unwrap_or_default(),
    };
    (carried, result.into())
}

/// Something that was not even tried, for a reason that whoever watches is told.
fn not_done(round: &Round<'_>, doing: &Doing, why: &str) -> (Carried, Value) {
    let (carried, result) = left_out(doing, why);
    let took = Duration::ZERO;
    round.watch.tell(&Event::Did { doing, success: false, message: &carried.message, took });
    (carried, result)
}

fn left_out(doing: &Doing, why: &str) -> (Carried, Value) {
    let message = format!("not done: {why}");
    let result = json!({ "success": false, "message": message });
    let Doing { function, arguments } = doing.clone();
    (Carried { function, arguments, message, ..Carried::default() }, result)
}

/// What came of a call, in a sentence.
fn told(doing: &Doing, came: &Came) -> String {
    let result = &came.result.result;
    let word = |key: &str| result.get(key).and_then(Value::as_str).filter(|it| !it.is_empty());
    if !came.succeeded() {
        let said = came.result.error.as_deref().unwrap_or("it was not carried out");
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

/// Where the finger came down, and where it left the screen if that is elsewhere.
fn touch(action: &Action, done: &Outcome) -> Option<Vec<[i32; 2]>> {
    match (action, done) {
        (_, Outcome::Tapped(hit) | Outcome::Typed(Typed { into: Some(hit), .. })) => {
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

/// An action as memory is told of it (UFO's `ActionCommandInfo`).
fn info(round: &Round<'_>, carried: &Carried, result: &Value) -> Value {
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

/// Has a claim that the goal is reached judged by a fresh look. One that is not borne out goes on.
async fn judge(round: &mut Round<'_>) -> Result<(), Broken> {
    let Some(claim) = round.thinking.as_ref().map(|it| it.decision.clone()) else { return Ok(()) };
    // What the last action led to may take a moment to show.
    const SETTLING: Duration = Duration::from_millis(500);
    if !claim.actions.is_empty() {
        let _ = round.hands.perform(Action::Wait(SETTLING), SETTLING * 4).await;
    }
    let fresh = collect::afresh(round).await;
    let fresh = fresh.map_err(|Broken(why)| Broken(format!("the claim was not judged: {why}")))?;
    let sight = sight(round, &fresh);
    let judging = round.mind.judge(&sight, &claim, round.call, round.watch);
    let judgement = match think::within(round, judging).await {
        Some(Ok(judgement)) => judgement,
        Some(Err(undecided)) => {
            round.spent.add(&undecided.spent);
            return Err(Broken(format!("the claim was not judged: {}", undecided.why)));
        }
        None => return Err(Broken("the run was ended before its claim was judged".into())),
    };
    let Some(judgement) = judgement else { return Ok(()) };
    round.spent.add(&judgement.spent);
    let stem = format!("judge_step{}", round.number);
    round.story.keep_prompt(format!("{stem}_prompt.json"), &judgement.prompt, &[]);
    round.story.keep(format!("{stem}_response.txt"), judgement.response.as_bytes());
    if !judgement.reached {
        round.status = Status::Continue;
        let noticed = format!("not done yet: {}", judgement.why);
        round.watch.tell(&Event::Noticed(&noticed));
    }
    round.judged = Some(Judged { reached: judgement.reached, why: judgement.why });
    Ok(())
}
