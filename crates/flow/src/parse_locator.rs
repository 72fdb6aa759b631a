//! Parses the targets of steps and their assertions: elements by text or by selector, points, and expected states.
//!
//! Begin with [`parse_locator`] and [`parse_assertion`]. The steps themselves are parsed in `parse_step`.

use std::time::Duration;

use regex_lite::RegexBuilder;
use thumbwire_device::{Gesture, Point};

use super::parse_file::app_id;
use super::parse_value::{MapReader, Parameters, ParseContext, names};
use super::plan::{Assertion, ElementState, Locator, StepKind};
use super::yaml::{Value, ValueKind};
use thumbwire_core::action::{Action, ElementSelector};

/// The keys that describe an element.
const PARTS: [&str; 8] =
    ["text", "id", "description", "class", "exact", "clickable", "enabled", "index"];

/// Where to touch, and for how long.
pub(super) struct TouchTarget {
    pub(super) aim: TapTarget,
    pub(super) held: Option<Duration>,
}

pub(super) enum TapTarget {
    Element(Locator),
    Point(Point),
}

impl TouchTarget {
    pub(super) fn parse_touch(
        self,
        on: impl FnOnce(Locator) -> StepKind,
        at: impl FnOnce(Point) -> Gesture,
    ) -> StepKind {
        match self.aim {
            TapTarget::Element(sought) => on(sought),
            TapTarget::Point(point) => StepKind::Act(Action::Touch(at(point))),
        }
    }
}

pub(super) fn touch(
    value: &Value,
    of: &str,
    parameters: &Parameters,
    reading: &mut ParseContext,
) -> Option<TouchTarget> {
    if !matches!(value.kind, ValueKind::Map(_)) {
        return Some(TouchTarget {
            aim: TapTarget::Element(parse_locator(value, of, parameters, reading)?),
            held: None,
        });
    }
    let mut map = reading.map(value, of)?;
    let held = match of {
        "`long_press`" => {
            let time = map.take_renamed("duration", "hold");
            time.and_then(|time| reading.time(time, "`duration`", parameters))
        }
        _ => None,
    };
    let aim = match map.take("point") {
        Some(point) => point_at(point, "`point`", parameters, reading).map(TapTarget::Point),
        None => parts(&mut map, of, parameters, reading).map(TapTarget::Element),
    };
    map.end(reading, of);
    Some(TouchTarget { aim: aim?, held })
}

/// `[540, 1200]`, in screenshot pixels.
pub(super) fn point_at(
    value: &Value,
    of: &str,
    parameters: &Parameters,
    reading: &mut ParseContext,
) -> Option<Point> {
    let mut sides = Vec::new();
    let listed = reading.list(value, of);
    if listed.len() != 2 {
        reading
            .error(&value.at, format!("{of} must be two pixel coordinates such as `[540, 1200]`"));
        return None;
    }
    for one in listed {
        sides.push(
            i32::try_from(reading.count(one, of, [0, 20_000], parameters)?).unwrap_or(i32::MAX),
        );
    }
    Some(Point { x: sides[0], y: sides[1] })
}

/// An element, by its text or by a map of keys.
pub(super) fn parse_locator(
    value: &Value,
    of: &str,
    parameters: &Parameters,
    reading: &mut ParseContext,
) -> Option<Locator> {
    match &value.kind {
        ValueKind::Map(_) => {
            let mut map = reading.map(value, of)?;
            let sought = parts(&mut map, of, parameters, reading);
            map.end(reading, of);
            sought
        }
        ValueKind::Null => {
            reading.error(
                &value.at,
                format!("{of} needs an element: its text, or a map with some of {}", names(&PARTS)),
            );
            None
        }
        _ => reading.interpolate(value, of, parameters).map(Locator::Text),
    }
}

fn parts(
    map: &mut MapReader<'_>,
    of: &str,
    parameters: &Parameters,
    reading: &mut ParseContext,
) -> Option<Locator> {
    let mut word = |key: &'static str| {
        map.take(key).and_then(|value| reading.interpolate(value, &format!("`{key}`"), parameters))
    };
    let [text, id, description, class] = ["text", "id", "description", "class"].map(&mut word);
    let mut truth = |key: &'static str| {
        let is =
            map.take(key).and_then(|value| reading.boolean(value, &format!("`{key}`"), parameters));
        is.unwrap_or_default()
    };
    let [exact, clickable, enabled] = ["exact", "clickable", "enabled"].map(&mut truth);
    let index =
        map.take("index").and_then(|n| reading.count(n, "`index`", [0, 10_000], parameters));
    let named = [&text, &id, &description, &class].into_iter().any(Option::is_some);
    if !named {
        reading.error(map.at(), format!("{of} needs an element: one of {}", names(&PARTS[..4])));
        return None;
    }
    let criteria = ElementSelector { text, id, description, class, clickable, enabled, exact };
    Some(Locator::Selector(
        criteria,
        usize::try_from(index.unwrap_or_default()).unwrap_or(usize::MAX),
    ))
}

pub(super) fn parse_assertion(
    value: &Value,
    of: &str,
    parameters: &Parameters,
    reading: &mut ParseContext,
) -> Option<Assertion> {
    let of = format!("`{of}`");
    let ValueKind::Map(_) = value.kind else {
        return parse_locator(value, &of, parameters, reading).map(Assertion::Visible);
    };
    let mut map = reading.map(value, &of)?;
    let expected = if let Some(inner) = map.take("visible") {
        parse_locator(inner, "`visible`", parameters, reading).map(Assertion::Visible)
    } else if let Some(inner) = map.take_renamed("not_visible", "gone") {
        parse_locator(inner, "`not_visible`", parameters, reading).map(Assertion::NotVisible)
    } else if let Some(app) = map.take("app") {
        app_id(app, "`app`", parameters, reading).map(|app| Assertion::AppInForeground(app.0))
    } else {
        parse_states(&mut map, &of, parameters, reading)
    };
    map.end(reading, &of);
    expected
}

/// An element by its keys, and what it must say or be. In an assertion, `enabled` is an expected state.
fn parse_states(
    map: &mut MapReader<'_>,
    of: &str,
    parameters: &Parameters,
    reading: &mut ParseContext,
) -> Option<Assertion> {
    let mut traits = Vec::new();
    let mut well = true;
    let mut state = |key: &'static str, make: fn(bool) -> ElementState| {
        let Some(value) = map.take(key) else { return };
        match reading.boolean(value, &format!("`{key}`"), parameters) {
            Some(is) => traits.push(make(is)),
            None => well = false,
        }
    };
    state("enabled", ElementState::Enabled);
    state("checked", ElementState::Checked);
    state("selected", ElementState::Selected);
    state("focused", ElementState::Focused);
    let mut says = |key: &'static str, make: fn(String) -> ElementState| {
        let Some(value) = map.take(key) else { return };
        match reading.text(value, &format!("`{key}`"), parameters) {
            Some(words) => traits.push(make(words)),
            None => well = false,
        }
    };
    says("equals", ElementState::Equals);
    says("contains", ElementState::Contains);
    if let Some(value) = map.take("matches") {
        /// Far more than any hand-written pattern compiles to.
        const LARGEST: usize = 1 << 20;
        let pattern = reading.interpolate(value, "`matches`", parameters);
        match pattern.map(|pattern| RegexBuilder::new(&pattern).size_limit(LARGEST).build()) {
            Some(Ok(pattern)) => traits.push(ElementState::Matches(pattern)),
            Some(Err(error)) => {
                reading
                    .error(&value.at, format!("invalid regular expression in `matches`: {error}"));
                well = false;
            }
            None => well = false,
        }
    }
    let count = map.take("count");
    let counted = count.map(|n| reading.count(n, "`count`", [0, 10_000], parameters));
    let sought = parts(map, of, parameters, reading)?;
    match (counted, well) {
        (_, false) => None,
        (Some(None), true) => None,
        (Some(Some(_)), true) if !traits.is_empty() => {
            let at = count.map_or(map.at(), |value| &value.at);
            reading
                .error(at, "`count` cannot be combined with other assertions; use a separate step");
            None
        }
        (Some(Some(count)), true) => {
            Some(Assertion::Count(sought, usize::try_from(count).unwrap_or(usize::MAX)))
        }
        (None, true) if traits.is_empty() => Some(Assertion::Visible(sought)),
        (None, true) => Some(Assertion::HasState(sought, traits)),
    }
}
