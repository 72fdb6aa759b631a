//! Commands that look at the screen: assertions, waiting, screenshots, recordings.

use std::time::Duration;

use thumbwire_device::Platform;

use super::arguments::Arguments;
use super::expression;
use super::selector::{locator, selector_keys};
use super::value::{self, MapValues as _};
use crate::parse_file::Reader;
use crate::parse_golden::COLOR_TOLERANCE;
use crate::parse_phone_step::beside;
use crate::parse_value::ParseContext;
use crate::plan::{Assertion, Condition, FlowStep, Golden, Locator, StepKind};
use thumbwire_core::action::Action;

/// How long `waitForAnimationToEnd` waits. Its documentation.
const ANIMATION: Duration = Duration::from_secs(15);

/// The longest recording that Android's `screenrecord` makes.
const RECORDING: Duration = Duration::from_secs(180);

pub(super) fn visible(
    _: &mut Reader<'_>,
    given: &mut Arguments<'_>,
    reading: &mut ParseContext,
) -> Option<StepKind> {
    element(given, reading).map(|sought| StepKind::Expect(Assertion::Visible(sought)))
}

pub(super) fn not_visible(
    _: &mut Reader<'_>,
    given: &mut Arguments<'_>,
    reading: &mut ParseContext,
) -> Option<StepKind> {
    element(given, reading).map(|sought| StepKind::Expect(Assertion::NotVisible(sought)))
}

fn element(given: &mut Arguments<'_>, reading: &mut ParseContext) -> Option<Locator> {
    let parameters = given.parameters();
    let Some(map) = &mut given.map else {
        return locator(given.value, &given.of, parameters, reading);
    };
    let sought = selector_keys(map, &given.of, parameters, reading)?;
    Some(Locator::Pattern(Box::new(sought)))
}

pub(super) fn is_true(
    _: &mut Reader<'_>,
    given: &mut Arguments<'_>,
    reading: &mut ParseContext,
) -> Option<StepKind> {
    let value = match &mut given.map {
        Some(map) => match map.take("condition") {
            Some(condition) => condition,
            None => {
                reading.error(map.at(), "`assertTrue` needs `condition`");
                return None;
            }
        },
        None => given.value,
    };
    let written = reading.written(value, &given.of)?;
    let on = |platform| expression::holds(written, given.parameters(), platform);
    match (on(Platform::Android), on(Platform::Ios)) {
        (Ok(android), Ok(ios)) => {
            let written = written.to_owned();
            Some(StepKind::Check(Condition::Expression { written, android, ios }))
        }
        (Err(what), _) | (_, Err(what)) => {
            reading.error(&value.at, format!("`assertTrue` is not supported here: {what}"));
            None
        }
    }
}

pub(super) fn wait_until(
    _: &mut Reader<'_>,
    given: &mut Arguments<'_>,
    reading: &mut ParseContext,
) -> Option<StepKind> {
    let parameters = given.parameters();
    let at = given.value.at.clone();
    let map = given.keys(reading)?;
    let timeout = map.time("timeout", parameters, reading);
    let mut expected = Vec::new();
    for (key, make) in [
        ("visible", Assertion::Visible as fn(Locator) -> Assertion),
        ("notVisible", Assertion::NotVisible),
    ] {
        if let Some(element) = map.take(key) {
            expected.push(make(locator(element, &format!("`{key}`"), parameters, reading)?));
        }
    }
    if expected.is_empty() {
        reading.error(map.at(), "`extendedWaitUntil` needs `visible` or `notVisible`");
    }
    given.timeout = timeout;
    let timeout = timeout.unwrap_or(super::LOOKUP);
    let last = expected.pop()?;
    let Some(first) = expected.pop() else { return Some(StepKind::Expect(last)) };
    let step = |expected| FlowStep {
        at: at.clone(),
        name: None,
        deed: StepKind::Expect(expected),
        optional: false,
        retry: 0,
        timeout,
    };
    Some(StepKind::When { conditions: Vec::new(), steps: vec![step(first), step(last)] })
}

pub(super) fn wait_for_animation(
    _: &mut Reader<'_>,
    given: &mut Arguments<'_>,
    reading: &mut ParseContext,
) -> Option<StepKind> {
    let parameters = given.parameters();
    let time = given.map.as_mut().and_then(|map| map.time("timeout", parameters, reading));
    Some(StepKind::WaitUntilIdle(time.unwrap_or(ANIMATION)))
}

/// Its file is the one that `path` names, beside the flow.
pub(super) fn golden(
    _: &mut Reader<'_>,
    given: &mut Arguments<'_>,
    reading: &mut ParseContext,
) -> Option<StepKind> {
    /// The share that matches, if the flow does not say it.
    const MATCHING: f64 = 95.0;
    let parameters = given.parameters();
    let (mut matching, mut crop) = (MATCHING, None);
    if let Some(map) = &mut given.map {
        if let Some(value) = map.take("thresholdPercentage") {
            let of = "`thresholdPercentage`";
            matching = value::number(value, of, [0.0, 100.0], parameters, reading)?;
        }
        if let Some(element) = map.take("cropOn") {
            crop = Some(locator(element, "`cropOn`", parameters, reading)?);
        }
    }
    let path = given.text("path", reading)?;
    let is_png = path.to_lowercase().ends_with(".png");
    let file = if is_png { path.clone() } else { format!("{path}.png") };
    let name = path.rsplit('/').next().unwrap_or(&path).to_owned();
    Some(StepKind::ExpectScreenshot(Golden {
        name,
        file: beside(&given.value.at, &file),
        tolerance: 1.0 - matching / 100.0,
        color_tolerance: COLOR_TOLERANCE,
        masks: Vec::new(),
        with_status_bar: false,
        crop,
    }))
}

pub(super) fn screenshot(
    _: &mut Reader<'_>,
    given: &mut Arguments<'_>,
    reading: &mut ParseContext,
) -> Option<StepKind> {
    given.text("path", reading).map(|name| StepKind::Screenshot(Some(name)))
}

pub(super) fn start_recording(
    _: &mut Reader<'_>,
    given: &mut Arguments<'_>,
    reading: &mut ParseContext,
) -> Option<StepKind> {
    let name = given.text("path", reading)?;
    let name = if name.contains('.') { name } else { format!("{name}.mp4") };
    Some(StepKind::Act(Action::StartRecording {
        name: Some(name),
        lasting: RECORDING,
        bit_rate: None,
        size: None,
    }))
}

pub(super) fn stop_recording() -> StepKind {
    StepKind::Act(Action::StopRecording { recording: None, fetch: true })
}
