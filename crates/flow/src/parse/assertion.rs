//! Commands that look at the screen: assertions, waiting, screenshots, recordings.

use std::time::Duration;

use regex_lite::RegexBuilder;
use thumbwire_device::{AppId, Rect};

use super::arguments::Arguments;
use super::context::{Filled, ParseContext};
use super::control::expression_condition;
use super::selector::element;
use super::value;
use super::{beside, inner_step};
use crate::element_pattern::ElementPattern;
use crate::plan::{Assertion, ElementState, FlowStep, Golden, Mask, StepKind};
use crate::yaml::{Value, ValueKind};
use thumbwire_core::action::Action;

/// How long `waitForAnimationToEnd` waits. Its documentation.
const ANIMATION: Duration = Duration::from_secs(15);

/// The longest recording that Android's `screenrecord` makes.
const RECORDING: Duration = Duration::from_secs(180);

pub(super) fn visible(
    arguments: &mut Arguments<'_>,
    context: &mut ParseContext,
) -> Option<StepKind> {
    arguments.element(context).map(|element| StepKind::Expect(Assertion::Visible(element)))
}

pub(super) fn not_visible(
    arguments: &mut Arguments<'_>,
    context: &mut ParseContext,
) -> Option<StepKind> {
    arguments.element(context).map(|element| StepKind::Expect(Assertion::NotVisible(element)))
}

/// What an element must say or be: `element`, and at least one of the other keys.
pub(super) fn state(arguments: &mut Arguments<'_>, context: &mut ParseContext) -> Option<StepKind> {
    let element = element_under_key(arguments, context);
    let map = arguments.keys(context)?;
    let errors = context.error_count();
    let mut states = Vec::new();
    for (key, make) in [
        ("enabled", ElementState::Enabled as fn(bool) -> ElementState),
        ("checked", ElementState::Checked),
        ("selected", ElementState::Selected),
        ("focused", ElementState::Focused),
    ] {
        states.extend(map.boolean(key, context).map(make));
    }
    for (key, make) in [
        ("equals", ElementState::Equals as fn(String) -> ElementState),
        ("contains", ElementState::Contains),
    ] {
        if let Some(value) = map.take(key) {
            states.extend(value::text(value, &format!("`{key}`"), context).map(make));
        }
    }
    if let Some(value) = map.take("matches") {
        /// Far more than any hand-written pattern compiles to.
        const MAX_PATTERN_SIZE: usize = 1 << 20;
        let pattern = match value::filled(value, "`matches`", context)? {
            Filled::Known(pattern) => pattern,
            Filled::Pending(_) => String::new(),
        };
        match RegexBuilder::new(&pattern).size_limit(MAX_PATTERN_SIZE).build() {
            Ok(pattern) => states.push(ElementState::Matches(pattern)),
            Err(error) => {
                let what = format!("invalid regular expression in `matches`: {error}");
                context.error(&value.at, what);
            }
        }
    }
    if states.is_empty() && context.error_count() == errors {
        let what = "`assertState` needs what the element must be: `equals`, `contains`, \
                    `matches`, `enabled`, `checked`, `selected` or `focused`";
        context.error(map.at(), what);
    }
    Some(StepKind::Expect(Assertion::HasState(element?, states)))
}

pub(super) fn element_count(
    arguments: &mut Arguments<'_>,
    context: &mut ParseContext,
) -> Option<StepKind> {
    /// More than a screen can show.
    const MAX_COUNT: u32 = 10_000;
    let element = element_under_key(arguments, context);
    let map = arguments.keys(context)?;
    let count = map.count("count", MAX_COUNT, context);
    if count.is_none() && !map.was_taken("count") {
        context.error(map.at(), "`assertCount` needs a `count`");
    }
    Some(StepKind::Expect(Assertion::Count(element?, count? as usize)))
}

/// The element under the key `element`.
fn element_under_key(
    arguments: &mut Arguments<'_>,
    context: &mut ParseContext,
) -> Option<Box<ElementPattern>> {
    let of = arguments.of.clone();
    let map = arguments.keys(context)?;
    let Some(value) = map.take("element") else {
        context.error(map.at(), format!("{of} needs an `element`"));
        return None;
    };
    element(value, "`element`", context)
}

/// The app in the foreground.
pub(super) fn app(arguments: &mut Arguments<'_>, context: &mut ParseContext) -> Option<StepKind> {
    let app = arguments.text("appId", context)?;
    Some(StepKind::Expect(Assertion::AppInForeground(AppId(app))))
}

pub(super) fn device_clipboard(
    arguments: &mut Arguments<'_>,
    context: &mut ParseContext,
) -> Option<StepKind> {
    arguments.text("text", context).map(StepKind::ExpectDeviceClipboard)
}

/// An unconditional pause, in milliseconds.
pub(super) fn wait(arguments: &mut Arguments<'_>, context: &mut ParseContext) -> Option<StepKind> {
    /// Ten minutes, in milliseconds.
    const MAX_WAIT: f64 = 600_000.0;
    let value = match &mut arguments.map {
        Some(map) => map.take("duration").unwrap_or(arguments.value),
        None => arguments.value,
    };
    let time = value::number(value, &arguments.of, [0.0, MAX_WAIT], context)?;
    Some(StepKind::Act(Action::Wait(Duration::from_secs_f64(time / 1000.0))))
}

pub(super) fn is_true(
    arguments: &mut Arguments<'_>,
    context: &mut ParseContext,
) -> Option<StepKind> {
    let value = match &mut arguments.map {
        Some(map) => {
            let condition = map.take("condition");
            map.pass_over(context, &arguments.of);
            match condition {
                Some(condition) => condition,
                None => {
                    context.error(map.at(), "`assertTrue` needs `condition`");
                    return None;
                }
            }
        }
        None => arguments.value,
    };
    expression_condition(value, &arguments.of, context).map(StepKind::Condition)
}

pub(super) fn wait_until(
    arguments: &mut Arguments<'_>,
    context: &mut ParseContext,
) -> Option<StepKind> {
    let at = arguments.value.at.clone();
    let map = arguments.keys(context)?;
    let timeout = map.time("timeout", context);
    let mut expected = Vec::new();
    for (key, make) in [
        ("visible", Assertion::Visible as fn(Box<ElementPattern>) -> Assertion),
        ("notVisible", Assertion::NotVisible),
    ] {
        if let Some(value) = map.take(key) {
            expected.push(make(element(value, &format!("`{key}`"), context)?));
        }
    }
    if expected.is_empty() {
        context.error(map.at(), "`extendedWaitUntil` needs `visible` or `notVisible`");
    }
    arguments.timeout = timeout;
    let timeout = timeout.unwrap_or(arguments.scope.timeout);
    let last = expected.pop()?;
    let Some(first) = expected.pop() else { return Some(StepKind::Expect(last)) };
    let step = |expected| FlowStep { timeout, ..inner_step(&at, StepKind::Expect(expected)) };
    Some(StepKind::When { conditions: Vec::new(), steps: vec![step(first), step(last)] })
}

pub(super) fn wait_for_animation(
    arguments: &mut Arguments<'_>,
    context: &mut ParseContext,
) -> Option<StepKind> {
    arguments.take_no_value(context);
    let time = arguments.map.as_mut().and_then(|map| map.time("timeout", context));
    Some(StepKind::WaitUntilIdle(time.unwrap_or(ANIMATION)))
}

/// Its file is the one that `path` names, beside the flow.
pub(super) fn golden(
    arguments: &mut Arguments<'_>,
    context: &mut ParseContext,
) -> Option<StepKind> {
    /// The share that matches, if the flow does not say it.
    const MATCHING: f64 = 95.0;
    /// By how much the red, green or blue of a pixel may differ, if the flow does not say it.
    const COLOR_TOLERANCE: u8 = 16;
    let (mut matching, mut color_tolerance) = (MATCHING, COLOR_TOLERANCE);
    let (mut crop, mut masks, mut with_status_bar) = (None, Vec::new(), false);
    if let Some(map) = &mut arguments.map {
        if let Some(value) = map.take("thresholdPercentage") {
            let of = "`thresholdPercentage`";
            matching = value::number(value, of, [0.0, 100.0], context)?;
        }
        if let Some(value) = map.take("cropOn") {
            crop = Some(element(value, "`cropOn`", context)?);
        }
        if let Some(tolerance) = map.count("colorTolerance", 255, context) {
            color_tolerance = u8::try_from(tolerance).unwrap_or(u8::MAX);
        }
        with_status_bar = map.boolean("statusBar", context).unwrap_or_default();
        if let Some(value) = map.take("mask") {
            masks = self::masks(value, context)?;
        }
    }
    let path = arguments.text("path", context)?;
    let is_png = path.to_lowercase().ends_with(".png");
    let file = if is_png { path.clone() } else { format!("{path}.png") };
    let name = path.rsplit('/').next().unwrap_or(&path).to_owned();
    Some(StepKind::ExpectScreenshot(Golden {
        name,
        file: beside(&arguments.value.at, &file),
        tolerance: 1.0 - matching / 100.0,
        color_tolerance,
        masks,
        with_status_bar,
        crop,
    }))
}

/// A list of elements and `{ rect: [left, top, right, bottom] }`.
fn masks(value: &Value, context: &mut ParseContext) -> Option<Vec<Mask>> {
    let mut masks = Vec::new();
    for one in context.list(value, "`mask`") {
        let rect = match &one.kind {
            ValueKind::Map(entries) => match entries.as_slice() {
                [(key, rect)] if key.name == "rect" => Some(rect),
                _ => None,
            },
            _ => None,
        };
        masks.push(match rect {
            Some(sides) => Mask::Rect(rectangle(sides, context)?),
            None => Mask::Element(element(one, "`mask`", context)?),
        });
    }
    Some(masks)
}

fn rectangle(value: &Value, context: &mut ParseContext) -> Option<Rect> {
    let of = "`rect`";
    let mut sides = Vec::new();
    for one in context.list(value, of) {
        sides.push(value::number(one, of, [0.0, 20_000.0], context)? as i32);
    }
    let rect = match sides.as_slice() {
        &[left, top, right, bottom] => Some(Rect { left, top, right, bottom }),
        _ => None,
    };
    let rect = rect.filter(|rect| !rect.is_empty());
    if rect.is_none() {
        let what = format!("{of} must be four pixel coordinates `[left, top, right, bottom]`");
        context.error(&value.at, what);
    }
    rect
}

pub(super) fn screenshot(
    arguments: &mut Arguments<'_>,
    context: &mut ParseContext,
) -> Option<StepKind> {
    let crop = match arguments.map.as_mut().and_then(|map| map.take("cropOn")) {
        Some(value) => Some(element(value, "`cropOn`", context)?),
        None => None,
    };
    let name = arguments.text("path", context)?;
    Some(StepKind::Screenshot { name, crop })
}

pub(super) fn start_recording(
    arguments: &mut Arguments<'_>,
    context: &mut ParseContext,
) -> Option<StepKind> {
    let name = arguments.text("path", context)?;
    let name = if name.contains('.') { name } else { format!("{name}.mp4") };
    Some(StepKind::Act(Action::StartRecording {
        name: Some(name),
        duration: RECORDING,
        bit_rate: None,
        size: None,
    }))
}

pub(super) fn stop_recording() -> StepKind {
    StepKind::Act(Action::StopRecording { recording: None, fetch: true })
}
