//! Reads what steps are done to, and what they expect: elements by words or parts, places, and what must be so of them.
//!
//! Begin with [`sought`] and [`expected`]. The steps themselves are read in `steps`.

use std::time::Duration;

use regex_lite::RegexBuilder;
use thumbwire_device::{Gesture, Point};

use super::cases::app_id;
use super::plan::{Deed, Expected, Sought, Trait};
use super::read::{Map, Parameters, Reading, names};
use super::yaml::{Is, Value};
use crate::action::{Action, Criteria};

/// What names an element.
const PARTS: [&str; 8] =
    ["text", "id", "description", "class", "exact", "clickable", "enabled", "index"];

/// Where a finger goes, and for how long.
pub(super) struct Touch {
    pub(super) aim: Aim,
    pub(super) held: Option<Duration>,
}

pub(super) enum Aim {
    Element(Sought),
    Point(Point),
}

impl Touch {
    pub(super) fn deed(
        self,
        on: impl FnOnce(Sought) -> Deed,
        at: impl FnOnce(Point) -> Gesture,
    ) -> Deed {
        match self.aim {
            Aim::Element(sought) => on(sought),
            Aim::Point(point) => Deed::Act(Action::Touch(at(point))),
        }
    }
}

pub(super) fn touch(
    value: &Value,
    of: &str,
    known: &Parameters,
    reading: &mut Reading,
) -> Option<Touch> {
    if !matches!(value.is, Is::Map(_)) {
        return Some(Touch { aim: Aim::Element(sought(value, of, known, reading)?), held: None });
    }
    let mut map = reading.map(value, of)?;
    let held = match of {
        "`long_press`" => map.take("hold").and_then(|time| reading.time(time, "`hold`", known)),
        _ => None,
    };
    let aim = match map.take("point") {
        Some(point) => point_at(point, "`point`", known, reading).map(Aim::Point),
        None => parts(&mut map, of, known, reading).map(Aim::Element),
    };
    map.end(reading, of);
    Some(Touch { aim: aim?, held })
}

/// `[540, 1200]`, pixels of the screenshot.
pub(super) fn point_at(
    value: &Value,
    of: &str,
    known: &Parameters,
    reading: &mut Reading,
) -> Option<Point> {
    let mut sides = Vec::new();
    let listed = reading.list(value, of);
    if listed.len() != 2 {
        reading.wrong(&value.at, format!("{of} is two pixels, such as `[540, 1200]`"));
        return None;
    }
    for one in listed {
        sides.push(i32::try_from(reading.count(one, of, [0, 20_000], known)?).unwrap_or(i32::MAX));
    }
    Some(Point { x: sides[0], y: sides[1] })
}

/// An element, by a word or by its parts.
pub(super) fn sought(
    value: &Value,
    of: &str,
    known: &Parameters,
    reading: &mut Reading,
) -> Option<Sought> {
    match &value.is {
        Is::Map(_) => {
            let mut map = reading.map(value, of)?;
            let sought = parts(&mut map, of, known, reading);
            map.end(reading, of);
            sought
        }
        Is::Nothing => {
            reading.wrong(
                &value.at,
                format!("{of} needs an element: its text, or a map of {}", names(&PARTS)),
            );
            None
        }
        _ => reading.filled(value, of, known).map(Sought::Words),
    }
}

fn parts(map: &mut Map<'_>, of: &str, known: &Parameters, reading: &mut Reading) -> Option<Sought> {
    let mut word = |key: &'static str| {
        map.take(key).and_then(|value| reading.filled(value, &format!("`{key}`"), known))
    };
    let [text, id, description, class] = ["text", "id", "description", "class"].map(&mut word);
    let mut truth = |key: &'static str| {
        let is = map.take(key).and_then(|value| reading.truth(value, &format!("`{key}`"), known));
        is.unwrap_or_default()
    };
    let [exact, clickable, enabled] = ["exact", "clickable", "enabled"].map(&mut truth);
    let index = map.take("index").and_then(|n| reading.count(n, "`index`", [0, 10_000], known));
    let named = [&text, &id, &description, &class].into_iter().any(Option::is_some);
    if !named {
        reading.wrong(map.at(), format!("{of} needs an element: one of {}", names(&PARTS[..4])));
        return None;
    }
    let criteria = Criteria { text, id, description, class, clickable, enabled, exact };
    Some(Sought::Parts(criteria, usize::try_from(index.unwrap_or_default()).unwrap_or(usize::MAX)))
}

pub(super) fn expected(
    value: &Value,
    of: &str,
    known: &Parameters,
    reading: &mut Reading,
) -> Option<Expected> {
    let of = format!("`{of}`");
    let Is::Map(_) = value.is else {
        return sought(value, &of, known, reading).map(Expected::Visible);
    };
    let mut map = reading.map(value, &of)?;
    let expected = if let Some(inner) = map.take("visible") {
        sought(inner, "`visible`", known, reading).map(Expected::Visible)
    } else if let Some(inner) = map.take("gone") {
        sought(inner, "`gone`", known, reading).map(Expected::Gone)
    } else if let Some(app) = map.take("app") {
        app_id(app, "`app`", known, reading).map(|app| Expected::App(app.0))
    } else {
        judged(&mut map, &of, known, reading)
    };
    map.end(reading, &of);
    expected
}

/// An element by its parts, and what it must say or be; beside an expectation, `enabled` is one.
fn judged(
    map: &mut Map<'_>,
    of: &str,
    known: &Parameters,
    reading: &mut Reading,
) -> Option<Expected> {
    let mut traits = Vec::new();
    let mut well = true;
    let mut state = |key: &'static str, make: fn(bool) -> Trait| {
        let Some(value) = map.take(key) else { return };
        match reading.truth(value, &format!("`{key}`"), known) {
            Some(is) => traits.push(make(is)),
            None => well = false,
        }
    };
    state("enabled", Trait::Enabled);
    state("checked", Trait::Checked);
    state("selected", Trait::Selected);
    state("focused", Trait::Focused);
    let mut says = |key: &'static str, make: fn(String) -> Trait| {
        let Some(value) = map.take(key) else { return };
        match reading.text(value, &format!("`{key}`"), known) {
            Some(words) => traits.push(make(words)),
            None => well = false,
        }
    };
    says("equals", Trait::Equals);
    says("contains", Trait::Contains);
    if let Some(value) = map.take("matches") {
        /// Far more than any pattern that a person writes compiles to.
        const LARGEST: usize = 1 << 20;
        let pattern = reading.filled(value, "`matches`", known);
        match pattern.map(|pattern| RegexBuilder::new(&pattern).size_limit(LARGEST).build()) {
            Some(Ok(pattern)) => traits.push(Trait::Matches(pattern)),
            Some(Err(error)) => {
                reading.wrong(&value.at, format!("`matches` is no regular expression: {error}"));
                well = false;
            }
            None => well = false,
        }
    }
    let count = map.take("count");
    let counted = count.map(|n| reading.count(n, "`count`", [0, 10_000], known));
    let sought = parts(map, of, known, reading)?;
    match (counted, well) {
        (_, false) => None,
        (Some(None), true) => None,
        (Some(Some(_)), true) if !traits.is_empty() => {
            let at = count.map_or(map.at(), |value| &value.at);
            reading.wrong(
                at,
                "`count` stands alone: expect what one of them says in a step of its own",
            );
            None
        }
        (Some(Some(count)), true) => {
            Some(Expected::Count(sought, usize::try_from(count).unwrap_or(usize::MAX)))
        }
        (None, true) if traits.is_empty() => Some(Expected::Visible(sought)),
        (None, true) => Some(Expected::Is(sought, traits)),
    }
}
