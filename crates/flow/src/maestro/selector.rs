//! Parses Maestro's selectors: a text, or a map of properties and surroundings.
//!
//! Begin with [`selector`] for a value that is nothing but a selector, and [`selector_keys`] for a command that has the keys
//! of a selector among its own.

use super::value::{self, MapValues as _};
use crate::element_pattern::{
    ElementPattern, ElementSize, ElementStates, ElementTrait, Side, TextPattern,
};
use crate::error::SourceLocation;
use crate::parse_value::{MapReader, Parameters, ParseContext, names};
use crate::plan::Locator;
use crate::yaml::{Value, ValueKind};

/// The keys that describe an element.
const KEYS: [&str; 18] = [
    "text",
    "id",
    "index",
    "above",
    "below",
    "leftOf",
    "rightOf",
    "childOf",
    "containsChild",
    "containsDescendants",
    "enabled",
    "checked",
    "focused",
    "selected",
    "width",
    "height",
    "tolerance",
    "traits",
];

const SIDES: [(&str, Side); 4] = [
    ("above", Side::Above),
    ("below", Side::Below),
    ("leftOf", Side::LeftOf),
    ("rightOf", Side::RightOf),
];

/// An element.
pub(super) fn locator(
    value: &Value,
    of: &str,
    parameters: &Parameters,
    reading: &mut ParseContext,
) -> Option<Locator> {
    selector(value, of, parameters, reading).map(|it| Locator::Pattern(Box::new(it)))
}

/// A selector: a text, or a map.
pub(super) fn selector(
    value: &Value,
    of: &str,
    parameters: &Parameters,
    reading: &mut ParseContext,
) -> Option<ElementPattern> {
    if let ValueKind::Text(_) = value.kind {
        let text = Some(pattern(value, of, parameters, reading)?);
        return Some(ElementPattern { text, ..ElementPattern::default() });
    }
    let mut map = reading.map(value, of)?;
    // Maestro accepts these in every selector; only a command's own have a meaning.
    for key in ["label", "optional", "waitToSettleTimeoutMs", "retryTapIfNoChange"] {
        map.take(key);
    }
    let found = selector_keys(&mut map, of, parameters, reading);
    map.end(reading, of);
    found
}

/// Whether a map describes an element.
pub(super) fn has_selector(map: &MapReader<'_>) -> bool {
    map.has(&KEYS)
}

/// The selector among the keys of a map.
pub(super) fn selector_keys(
    map: &mut MapReader<'_>,
    of: &str,
    parameters: &Parameters,
    reading: &mut ParseContext,
) -> Option<ElementPattern> {
    if !has_selector(map) {
        let what = format!("{of} needs an element: a text, or some of {}", names(&KEYS));
        reading.error(map.at(), what);
        // A misspelt key gets its suggestion from the keys that were asked for.
        for key in KEYS {
            map.take(key);
        }
        return None;
    }
    let mistakes = reading.mistake_count();
    let mut found = ElementPattern::default();
    for (key, part) in [("text", &mut found.text), ("id", &mut found.id)] {
        let value = map.take(key);
        *part = value.and_then(|it| pattern(it, &format!("`{key}`"), parameters, reading));
    }
    for (key, side) in SIDES {
        if let Some(other) = nested(map, key, parameters, reading) {
            found.beside.push((side, other));
        }
    }
    found.parent = nested(map, "childOf", parameters, reading).map(Box::new);
    found.child = nested(map, "containsChild", parameters, reading).map(Box::new);
    if let Some(list) = map.take("containsDescendants") {
        let of = "`containsDescendants`";
        let all = reading.list(list, of).iter();
        let all: Vec<_> = all.filter_map(|it| selector(it, of, parameters, reading)).collect();
        found.descendants = all;
    }
    found.index = map.count("index", 10_000, parameters, reading).map(|n| n as usize);
    let mut state = |key: &'static str| map.boolean(key, parameters, reading);
    let [enabled, checked, focused, selected] =
        ["enabled", "checked", "focused", "selected"].map(&mut state);
    found.states = ElementStates { enabled, checked, focused, selected };
    let mut pixels = |key: &'static str| {
        let number = map.count(key, 100_000, parameters, reading)?;
        i32::try_from(number).ok()
    };
    let [width, height, tolerance] = ["width", "height", "tolerance"].map(&mut pixels);
    found.size = ElementSize { width, height, tolerance: tolerance.unwrap_or_default() };
    if let Some(list) = map.take("traits") {
        found.traits = traits(list, parameters, reading);
    }
    (reading.mistake_count() == mistakes).then_some(found)
}

fn nested(
    map: &mut MapReader<'_>,
    key: &'static str,
    parameters: &Parameters,
    reading: &mut ParseContext,
) -> Option<ElementPattern> {
    let value = map.take(key)?;
    selector(value, &format!("`{key}`"), parameters, reading)
}

fn pattern(
    value: &Value,
    of: &str,
    parameters: &Parameters,
    reading: &mut ParseContext,
) -> Option<TextPattern> {
    let text = value::words(value, of, parameters, reading)?;
    match TextPattern::new(&text) {
        Ok(pattern) => Some(pattern),
        Err(what) => {
            let instead = "describe the element by its surroundings, its id or `index` instead";
            reading.error(&value.at, format!("{of}: {what}; {instead}"));
            None
        }
    }
}

/// `traits: text`, or several separated by spaces.
fn traits(value: &Value, parameters: &Parameters, reading: &mut ParseContext) -> Vec<ElementTrait> {
    let Some(all) = value::words(value, "`traits`", parameters, reading) else {
        return Vec::new();
    };
    let words = all.split([' ', ',']).filter(|word| !word.is_empty());
    let read = words.filter_map(|word| {
        let found = ElementTrait::NAMES.iter().find(|(name, _)| *name == word);
        if found.is_none() {
            let known: Vec<&str> = ElementTrait::NAMES.iter().map(|(name, _)| *name).collect();
            unknown_trait(word, &known, &value.at, reading);
        }
        found.map(|(_, it)| *it)
    });
    read.collect()
}

fn unknown_trait(word: &str, known: &[&str], at: &SourceLocation, reading: &mut ParseContext) {
    reading.error(at, format!("unknown trait {word:?}; known ones: {}", names(known)));
}
