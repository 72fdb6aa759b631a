//! `mobile_do`, several steps in one call, and `mobile_wait_for`.

use std::time::Duration;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use thumbwire_base::truncate;
use thumbwire_device::{Key, SideEffect};

use super::apps::{AppArgs, app_id, parse_launch_app, render_launch_app};
use super::errors::failure_text;
use super::touch::{ScrollArgs, TapElementArgs, any_key, element, parse_scroll, parse_tap_element};
use super::touch::{render_scroll, render_tap_element};
use super::typing::{TypeIntoArgs, parse_type, render_type};
use super::{Reply, non_empty, success};
use crate::action::{
    Action, Call, Cause, ElementRef, Failure, Observe, Perform, Readback, Target, WaitCondition,
    request,
};
use crate::toolset::tool::{perform_step, read_arguments};
use crate::toolset::{Content, Handler};

/// How long a step waits for its element: the step before may open the screen that has it.
const APPEARING: Duration = Duration::from_secs(5);

/// How long to wait if the call does not say.
const WAITING: f64 = 10.0;

/// The longest wait, in seconds.
const MAX_WAIT: f64 = 60.0;

#[derive(Deserialize)]
struct DoArgs {
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

/// What a step does, with what its reply needs.
enum Step {
    Tap(TapElementArgs, request::TapElement),
    Type(TypeIntoArgs, request::Type),
    Press(String, Key),
    Scroll(ScrollArgs, request::Scroll),
    Launch(AppArgs, request::Launch),
    Wait(String, WaitCondition),
}

/// `mobile_do`.
pub(super) struct Do;

#[async_trait]
impl Handler for Do {
    async fn handle(
        &self,
        arguments: Map<String, Value>,
        call: &Call,
        perform: &dyn Perform,
    ) -> Result<Reply, Failure> {
        let steps = parse_steps(read_arguments(arguments)?)?;
        let all = steps.len();
        let mut lines = Vec::with_capacity(all);
        let mut scroll = None;
        for (at, step) in steps.into_iter().enumerate() {
            let number = at + 1;
            // The first step acts on the screen that the caller sees.
            let awaited = step.awaited().filter(|_| at > 0).cloned();
            let run = async {
                if let Some(target) = awaited {
                    let condition = WaitCondition::Shown(target);
                    let appears = Observe::Until { condition, timeout: APPEARING };
                    // If it does not appear, the error of the step itself says more.
                    perform_step(request::Observe(appears), call, perform).await?;
                }
                step.run(call, perform).await
            };
            match run.await {
                Ok(reply) => {
                    scroll = scroll.or(reply.scroll);
                    lines.push(format!("{number}. {}", text(reply)));
                }
                Err(failure) => {
                    lines.push(match all - number {
                        0 => format!("Step {number} failed:\n"),
                        rest => format!("Step {number} failed, {rest} more not tried:\n"),
                    });
                    let text = lines.join("\n") + &failure_text(&failure);
                    return Ok(Reply { cause: Some(failure.cause), ..Reply::error(text) });
                }
            }
        }
        Ok(Reply { scroll, ..success(lines.join("\n"), json!({})) })
    }
}

/// The steps of a call.
///
/// # Errors
/// Which step is wrong, and why. Nothing is done then.
fn parse_steps(asked: DoArgs) -> Result<Vec<Step>, Cause> {
    let numbered = asked.steps.into_iter().enumerate();
    let parsed = numbered
        .map(|(at, step)| parse_step(step).map_err(|reason| format!("step {}: {reason}", at + 1)));
    parsed.collect::<Result<_, _>>().map_err(|reason| Cause::InvalidArgument { reason })
}

fn parse_step(step: StepArgs) -> Result<Step, String> {
    let StepArgs { tap, text, into, clear, submit, press, scroll, launch, wait_for, gone } = step;
    let named = [&tap, &press, &scroll, &launch, &wait_for, &gone].into_iter().flatten().count();
    let types = text.is_some() || clear == Some(true);
    if named + usize::from(types) != 1 {
        return Err("give exactly one of tap, type, press, scroll, launch, wait_for, gone".into());
    }
    if !types && (into.is_some() || clear.is_some() || submit.is_some()) {
        return Err("`into`, `clear` and `submit` go with `type`".into());
    }
    if types {
        let is_ref = into.as_ref().is_some_and(|into| into.parse::<ElementRef>().is_ok());
        let args = TypeIntoArgs {
            text: text.unwrap_or_default(),
            element_text: into.clone().filter(|_| !is_ref),
            element_id: into,
            clear,
            submit,
            blind: None,
        };
        let request = parse_type(&args)?;
        return Ok(Step::Type(args, request));
    }
    if let Some(tap) = tap {
        let args = TapElementArgs { element_id: Some(tap.clone()), text: Some(tap) };
        let request = parse_tap_element(&args)?;
        return Ok(Step::Tap(args, request));
    }
    if let Some(name) = press {
        let key = any_key(&name)?;
        return Ok(Step::Press(name, key));
    }
    if let Some(direction) = scroll {
        let args = ScrollArgs { direction, distance: None };
        let request = parse_scroll(&args)?;
        return Ok(Step::Scroll(args, request));
    }
    if let Some(bundle_id) = launch {
        let args = AppArgs { bundle_id };
        let request = parse_launch_app(&args)?;
        return Ok(Step::Launch(args, request));
    }
    let condition: fn(Target) -> WaitCondition = match &wait_for {
        Some(_) => WaitCondition::Shown,
        None => WaitCondition::Gone,
    };
    let name = wait_for.or(gone).unwrap_or_default();
    let target = element(Some(&name), Some(&name)).ok_or("wait for what? The text is empty")?;
    Ok(Step::Wait(name, condition(target)))
}

impl Step {
    /// The element that must appear first. A ref is looked for at once: the screen that it was on
    /// is known.
    fn awaited(&self) -> Option<&Target> {
        let target = match self {
            Self::Tap(_, request::TapElement(target)) => Some(target),
            Self::Type(_, request::Type(typing)) => typing.into.as_ref(),
            Self::Press(..) | Self::Scroll(..) | Self::Launch(..) | Self::Wait(..) => None,
        };
        target.filter(|target| !matches!(target, Target::Listed(_)))
    }

    /// Does the step. Later steps rely on it, so it fails if it did not do what it says.
    async fn run(self, call: &Call, perform: &dyn Perform) -> Result<Reply, Failure> {
        Ok(match self {
            Self::Tap(args, request) => {
                render_tap_element(&args, perform_step(request, call, perform).await?)
            }
            Self::Type(args, request) => {
                let result = perform_step(request, call, perform).await?;
                if let Readback::Differs { shows } = &result.field {
                    let shows = truncate(shows, 100);
                    let reason = format!("typed, but the field shows {shows:?}");
                    let cause = Cause::StepFailed { reason };
                    return Err(Failure { cause, side_effect: SideEffect::Possible });
                }
                render_type(&args, result)
            }
            Self::Press(name, key) => {
                perform_step(request::Press(key), call, perform).await?;
                Reply::text(format!("Pressed {name}"))
            }
            Self::Scroll(args, request) => {
                perform_step(request, call, perform).await?;
                render_scroll(&args, ())
            }
            Self::Launch(args, request) => {
                render_launch_app(&args, perform_step(request, call, perform).await?)
            }
            Self::Wait(name, condition) => {
                let state = match condition {
                    WaitCondition::Gone(_) => "is gone",
                    _ => "is visible",
                };
                let time = Duration::from_secs_f64(WAITING);
                wait_until(condition, time, call, perform).await?;
                Reply::text(format!("{name:?} {state}"))
            }
        })
    }
}

/// Waits until the condition holds.
///
/// # Errors
/// Also if the time passes before.
async fn wait_until(
    condition: WaitCondition,
    timeout: Duration,
    call: &Call,
    perform: &dyn Perform,
) -> Result<(), Failure> {
    let until = Observe::Until { condition, timeout };
    let what = Action::Observe(until.clone()).to_string();
    let seen = perform_step(request::Observe(until), call, perform).await?;
    match seen.settled {
        true => Ok(()),
        false => Err(Cause::ConditionNotMet { what, after: seen.took }.into()),
    }
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
struct WaitForArgs {
    text: Option<String>,
    element_id: Option<String>,
    app: Option<String>,
    gone: Option<bool>,
    idle: Option<bool>,
    timeout: Option<f64>,
}

/// `mobile_wait_for`.
pub(super) struct WaitFor;

#[async_trait]
impl Handler for WaitFor {
    async fn handle(
        &self,
        arguments: Map<String, Value>,
        call: &Call,
        perform: &dyn Perform,
    ) -> Result<Reply, Failure> {
        let (condition, time) = parse_wait(read_arguments(arguments)?)
            .map_err(|reason| Cause::InvalidArgument { reason })?;
        let done = format!("Waited until {condition}");
        wait_until(condition, time, call, perform).await?;
        Ok(success(done, json!({})))
    }
}

/// What to wait for, and how long.
///
/// # Errors
/// What is missing or contradictory.
fn parse_wait(wait: WaitForArgs) -> Result<(WaitCondition, Duration), String> {
    let seconds = wait.timeout.unwrap_or(WAITING);
    if !(0.0..=MAX_WAIT).contains(&seconds) {
        return Err(format!("`timeout` is {seconds}; it must be 0 to {MAX_WAIT} seconds"));
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
    Ok((condition, Duration::from_secs_f64(seconds)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parsed(steps: Value) -> Result<Vec<Step>, String> {
        let asked = serde_json::from_value(json!({ "steps": steps }))
            .map_err(|error: serde_json::Error| error.to_string())?;
        parse_steps(asked).map_err(|cause| cause.to_string())
    }

    #[test]
    fn steps_wait_for_elements_named_by_text() {
        let steps = json!([
            { "tap": "Search" },
            { "type": "tea", "into": "e5", "submit": true },
            { "type": "tea", "into": "Field" },
            { "press": "back" },
        ]);
        let steps = parsed(steps).unwrap();
        let awaited = |step: &Step| step.awaited().map(ToString::to_string);
        let field = Some("\"Field\"".to_owned());
        let search = Some("\"Search\"".to_owned());
        assert_eq!(steps.iter().map(awaited).collect::<Vec<_>>(), [search, None, field, None]);
    }

    #[test]
    fn step_does_one_thing() {
        for (steps, reason) in [
            (json!([{ "tap": "a", "press": "home" }]), "step 1: give exactly one of"),
            (json!([{ "press": "home" }, {}]), "step 2: give exactly one of"),
            (json!([{ "tap": "a", "submit": true }]), "`submit` go with `type`"),
            (json!([{ "press": "jump" }]), "unknown key \"jump\""),
            (json!([{ "shake": true }]), "unknown field `shake`"),
            (json!([{ "gone": "" }]), "wait for what?"),
        ] {
            let refused = parsed(steps).map(|_| ()).unwrap_err();
            assert!(refused.contains(reason), "{refused}");
        }
    }

    #[test]
    fn wait_has_one_condition() {
        let wait = |wait: Value| {
            let asked = serde_json::from_value(wait).unwrap();
            parse_wait(asked).map(|(condition, _)| condition.to_string())
        };
        assert_eq!(wait(json!({ "text": "OK", "gone": true })).unwrap(), "\"OK\" is gone");
        assert_eq!(wait(json!({ "app": "a.b" })).unwrap(), "a.b is in front");
        assert_eq!(wait(json!({ "idle": true })).unwrap(), "the screen stays the same");
        for wrong in
            [json!({}), json!({ "idle": true, "text": "a" }), json!({ "app": "a", "gone": true })]
        {
            assert!(wait(wrong).unwrap_err().starts_with("give one of"));
        }
        assert!(wait(json!({ "idle": true, "timeout": 1e9 })).unwrap_err().contains("0 to 60"));
    }
}
