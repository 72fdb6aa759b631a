//! `mobile_do`, several steps in one call, and `mobile_wait_for`.

use std::time::Duration;

use serde::Deserialize;

use super::apps::{AppArgs, app_id, parse_launch_app, render_launch_app};
use super::touch::{ScrollArgs, TapElementArgs, any_key, element, parse_scroll, parse_tap_element};
use super::touch::{render_scroll, render_tap_element};
use super::typing::{TypeIntoArgs, parse_type, render_type};
use super::{Reply, non_empty};
use crate::action::{Action, ElementRef, Observe, Outcome, Target, WaitCondition};
use crate::toolset::Content;
use crate::toolset::tool::ParsedCall;

/// How long a step waits for its element: the step before may open the screen that has it.
const APPEARING: Duration = Duration::from_secs(5);

/// How long to wait if the call does not say.
const WAITING: f64 = 10.0;

/// The longest wait, in seconds.
const LONGEST_WAIT: f64 = 60.0;

#[derive(Deserialize)]
pub(super) struct DoArgs {
    steps: Vec<StepArgs>,
}

/// One step: exactly one of the arguments that name what to do, and those that go with it.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct StepArgs {
    tap: Option<String>,
    #[serde(rename = "type")]
    text: Option<String>,
    into: Option<String>,
    clear: Option<bool>,
    submit: Option<bool>,
    press: Option<String>,
    scroll: Option<String>,
    launch: Option<String>,
    wait_for: Option<String>,
    gone: Option<String>,
}

/// The actions of a step, of which the last one does it, and how its outcome is told.
struct Step {
    actions: Vec<Action>,
    render: Box<dyn FnOnce(Outcome) -> Reply + Send>,
}

/// The actions of `mobile_do`.
///
/// # Errors
/// Which step is wrong, and why. Nothing is done then.
pub(super) fn plan_do(asked: DoArgs) -> Result<ParsedCall, String> {
    let all = asked.steps.len();
    let mut actions = Vec::new();
    // How many actions each step has, and how the outcome of its last one is told.
    let mut steps = Vec::with_capacity(all);
    let mut preparing = Vec::new();
    for (at, step) in asked.steps.into_iter().enumerate() {
        let step = plan_step(step, at == 0).map_err(|why| format!("step {}: {why}", at + 1))?;
        let last = step.actions.len().saturating_sub(1);
        preparing.extend(actions.len()..actions.len() + last);
        steps.push((step.actions.len(), step.render));
        actions.extend(step.actions);
    }
    let told = move |outcomes: Vec<Outcome>| {
        let mut outcomes = outcomes.into_iter();
        let mut lines = Vec::new();
        for (at, (length, render)) in steps.into_iter().enumerate() {
            let mine: Vec<Outcome> = outcomes.by_ref().take(length).collect();
            let Some(last) = mine.into_iter().nth(length - 1) else { break };
            lines.push(format!("{}. {}", at + 1, text(render(last))));
        }
        lines
    };
    // Only one of the two is called.
    let told = std::sync::Arc::new(std::sync::Mutex::new(Some(told)));
    let tell = move |outcomes| {
        let told = thumbwire_base::lock(&told).take();
        told.map_or_else(Vec::new, |told| told(outcomes))
    };
    let again = tell.clone();
    Ok(ParsedCall {
        actions,
        preparing,
        render: Box::new(move |outcomes| Reply::text(tell(outcomes).join("\n"))),
        progress: Some(Box::new(move |outcomes| {
            let mut lines = again(outcomes);
            let failed = lines.len() + 1;
            lines.push(match all - failed {
                0 => format!("Step {failed} failed:\n"),
                rest => format!("Step {failed} failed, {rest} more not tried:\n"),
            });
            lines.join("\n")
        })),
    })
}

fn plan_step(step: StepArgs, is_first: bool) -> Result<Step, String> {
    let StepArgs { tap, text, into, clear, submit, press, scroll, launch, wait_for, gone } = step;
    let named = [&tap, &press, &scroll, &launch, &wait_for, &gone].into_iter().flatten().count();
    let types = text.is_some() || clear == Some(true);
    if named + usize::from(types) != 1 {
        return Err("give exactly one of tap, type, press, scroll, launch, wait_for, gone".into());
    }
    if !types && (into.is_some() || clear.is_some() || submit.is_some()) {
        return Err("`into`, `clear` and `submit` go with `type`".into());
    }
    // The first step acts on the screen that the caller sees.
    let appears = |target: Option<&Target>| match target {
        // A ref is looked for at once: the screen that it was on is known.
        Some(Target::Listed(_)) | None => None,
        Some(_) if is_first => None,
        Some(target) => {
            Some(Action::Observe(Observe::Until(WaitCondition::Shown(target.clone()), APPEARING)))
        }
    };
    if types {
        let name = into.as_ref().map(|into| (into.clone(), into.parse::<ElementRef>().is_ok()));
        let typing = TypeIntoArgs {
            text: text.unwrap_or_default(),
            element_id: into,
            element_text: name.and_then(|(name, is_ref)| (!is_ref).then_some(name)),
            clear,
            submit,
        };
        let action = parse_type(&typing)?;
        let target = match &action {
            Action::Type(typing) => typing.into.as_ref(),
            _ => None,
        };
        let actions = appears(target).into_iter().chain([action.clone()]).collect();
        return Ok(Step { actions, render: Box::new(move |done| render_type(&typing, done)) });
    }
    if let Some(tap) = tap {
        let args = TapElementArgs { element_id: Some(tap.clone()), text: Some(tap) };
        let action = parse_tap_element(&args)?;
        let target = match &action {
            Action::TapElement(target) => Some(target),
            _ => None,
        };
        let actions = appears(target).into_iter().chain([action.clone()]).collect();
        return Ok(Step { actions, render: Box::new(move |done| render_tap_element(&args, done)) });
    }
    if let Some(name) = press {
        let key = any_key(&name)?;
        let tell = move |_| Reply::text(format!("Pressed {name}"));
        return Ok(Step { actions: vec![Action::Press(key)], render: Box::new(tell) });
    }
    if let Some(direction) = scroll {
        let args = ScrollArgs { direction, distance: None };
        let actions = vec![parse_scroll(&args)?];
        return Ok(Step { actions, render: Box::new(move |done| render_scroll(&args, done)) });
    }
    if let Some(bundle_id) = launch {
        let args = AppArgs { bundle_id };
        let actions = vec![parse_launch_app(&args)?];
        return Ok(Step { actions, render: Box::new(move |done| render_launch_app(&args, done)) });
    }
    let (condition, tell): (fn(Target) -> WaitCondition, _) = match &wait_for {
        Some(_) => (WaitCondition::Shown, "is visible"),
        None => (WaitCondition::Gone, "is gone"),
    };
    let name = wait_for.or(gone).unwrap_or_default();
    let target = element(Some(&name), Some(&name)).ok_or("wait for what? The text is empty")?;
    let time = Duration::from_secs_f64(WAITING);
    let actions = vec![Action::Observe(Observe::Until(condition(target), time))];
    Ok(Step { actions, render: Box::new(move |_| Reply::text(format!("{name:?} {tell}"))) })
}

/// The text of a reply.
fn text(reply: Reply) -> String {
    let texts = reply.content.into_iter().filter_map(|part| match part {
        Content::Text(text) => Some(text),
        Content::Image(_) | Content::Resource(_) | Content::Link(_) => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

#[derive(Deserialize)]
pub(super) struct WaitForArgs {
    text: Option<String>,
    element_id: Option<String>,
    app: Option<String>,
    gone: Option<bool>,
    idle: Option<bool>,
    timeout: Option<f64>,
}

/// The action of `mobile_wait_for`.
///
/// # Errors
/// What is missing or contradictory.
pub(super) fn plan_wait(wait: WaitForArgs) -> Result<ParsedCall, String> {
    let seconds = wait.timeout.unwrap_or(WAITING);
    if !(0.0..=LONGEST_WAIT).contains(&seconds) {
        return Err(format!("`timeout` is {seconds}; it must be 0 to {LONGEST_WAIT} seconds"));
    }
    let target = element(wait.element_id.as_ref(), wait.text.as_ref());
    let gone = wait.gone == Some(true);
    let condition = match (target, non_empty(wait.app.as_ref()), wait.idle == Some(true)) {
        (Some(target), None, false) if gone => WaitCondition::Gone(target),
        (Some(target), None, false) => WaitCondition::Shown(target),
        (None, Some(app), false) if !gone => WaitCondition::App(app_id(&app)?),
        (None, None, true) if !gone => WaitCondition::Idle,
        _ => {
            return Err("give one of `text` or `element_id` (with `gone` to wait until it is \
                        gone), `app`, or `idle`"
                .into());
        }
    };
    let done = format!("Waited until {condition}");
    Ok(ParsedCall {
        actions: vec![Action::Observe(Observe::Until(condition, Duration::from_secs_f64(seconds)))],
        preparing: Vec::new(),
        render: Box::new(move |_| Reply::text(done)),
        progress: Some(Box::new(|_| String::new())),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn planned(steps: Value) -> Result<Vec<String>, String> {
        let asked = serde_json::from_value(json!({ "steps": steps }))
            .map_err(|it: serde_json::Error| it.to_string())?;
        Ok(plan_do(asked)?.actions.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn later_steps_wait_for_their_element() {
        let steps = json!([
            { "tap": "Search" },
            { "type": "tea", "into": "e5", "submit": true },
            { "tap": "Buy" },
            { "press": "back" },
        ]);
        let planned = planned(steps).unwrap();
        assert_eq!(
            planned,
            [
                "tap element Search or \"Search\"",
                "type 3 characters",
                "wait until Buy or \"Buy\" is visible",
                "tap element Buy or \"Buy\"",
                "press back",
            ]
        );
    }

    #[test]
    fn step_does_one_thing() {
        for (steps, why) in [
            (json!([{ "tap": "a", "press": "home" }]), "step 1: give exactly one of"),
            (json!([{ "press": "home" }, {}]), "step 2: give exactly one of"),
            (json!([{ "tap": "a", "submit": true }]), "`submit` go with `type`"),
            (json!([{ "press": "jump" }]), "unknown key \"jump\""),
            (json!([{ "shake": true }]), "unknown field `shake`"),
            (json!([{ "gone": "" }]), "wait for what?"),
        ] {
            let refused = planned(steps).unwrap_err();
            assert!(refused.contains(why), "{refused}");
        }
    }

    #[test]
    fn wait_has_one_condition() {
        let wait = |wait: Value| {
            let asked = serde_json::from_value(wait).unwrap();
            plan_wait(asked).map(|call| call.actions[0].to_string())
        };
        assert_eq!(
            wait(json!({ "text": "OK", "gone": true })).unwrap(),
            "wait until \"OK\" is gone"
        );
        assert_eq!(wait(json!({ "app": "a.b" })).unwrap(), "wait until a.b is in front");
        assert_eq!(wait(json!({ "idle": true })).unwrap(), "wait until the screen stays the same");
        for wrong in
            [json!({}), json!({ "idle": true, "text": "a" }), json!({ "app": "a", "gone": true })]
        {
            assert!(wait(wrong).unwrap_err().starts_with("give one of"));
        }
        assert!(wait(json!({ "idle": true, "timeout": 1e9 })).unwrap_err().contains("0 to 60"));
    }
}
