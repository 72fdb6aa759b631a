//! Parses selectors: a text, or a map of properties and surroundings.
//!
//! Start with [`element`] for a value that is nothing but a selector, and [`element_keys`] for a
//! command that has the keys of a selector among its own.

use super::context::{Filled, MapReader, ParseContext, names};
use super::value;
use crate::element_pattern::{
    ElementPattern, ElementSize, ElementStates, ElementTrait, Side, TextPattern,
};
use crate::error::{FlowError, Source, SourceLocation};
use crate::yaml::{self, Value, ValueKind};

/// The keys that describe an element.
const KEYS: [&str; 21] = [
    "text",
    "id",
    "css",
    "class",
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
    "clickable",
    "width",
    "height",
    "tolerance",
    "traits",
];

/// Keys that Maestro reads in any selector, and uses in few.
const NOT_IN_SELECTORS: [&str; 9] = [
    "label",
    "point",
    "waitToSettleTimeoutMs",
    "retryTapIfNoChange",
    "waitUntilVisible",
    "repeat",
    "delay",
    "start",
    "end",
];

const SIDES: [(&str, Side); 4] = [
    ("above", Side::Above),
    ("below", Side::Below),
    ("leftOf", Side::LeftOf),
    ("rightOf", Side::RightOf),
];

/// An element: a text, or a map.
pub(super) fn element(
    value: &Value,
    of: &str,
    context: &mut ParseContext,
) -> Option<Box<ElementPattern>> {
    if let ValueKind::Text(_) = value.kind {
        let text = Some(pattern(value, of, context)?);
        return Some(Box::new(ElementPattern { text, ..ElementPattern::default() }));
    }
    let mut map = context.map(value, of)?;
    // Maestro accepts these in every selector; only a command's own have a meaning.
    for key in NOT_IN_SELECTORS {
        map.take(key);
    }
    // Maestro: a command is optional if its element is (`MaestroCommand.elementSelector`).
    context.has_optional_element |= map.boolean("optional", context).unwrap_or_default();
    let found = element_keys(&mut map, of, context);
    map.end(context, of);
    found
}

/// The element that a selector describes, as a flow would have it.
pub(crate) fn element_of_json(json: &serde_json::Value) -> Option<ElementPattern> {
    let at = SourceLocation::new(&Source::new("", String::new()), 1, 1);
    element(&Value::of_json(json, &at), "the element", &mut ParseContext::new()).map(|it| *it)
}

/// The element that a text describes: a selector as YAML, or a step whose value is one.
pub(crate) fn read_element(text: &str) -> Result<ElementPattern, Vec<FlowError>> {
    let source = Source::new("selector", text.to_owned());
    let documents = yaml::read(&source).map_err(|error| vec![error])?;
    let mut context = ParseContext::new();
    let value = documents.first().map(|value| match &value.kind {
        ValueKind::List(steps) if steps.len() == 1 => &steps[0],
        _ => value,
    });
    let value = value.map(|value| match &value.kind {
        ValueKind::Map(entries) if entries.len() == 1 && !KEYS.contains(&&*entries[0].0.name) => {
            let (command, selector) = &entries[0];
            if selects(&command.name) { selector } else { value }
        }
        _ => value,
    });
    let found = value.and_then(|value| element(value, "the selector", &mut context));
    match found {
        Some(pattern) if !context.has_errors() => Ok(*pattern),
        _ if context.has_errors() => Err(context.errors()),
        _ => {
            let what = "write a text, or keys such as `id: name` and `below: Title`";
            Err(vec![FlowError::new(SourceLocation::new(&source, 1, 1), what)])
        }
    }
}

/// Whether a command's value is a selector.
fn selects(command: &str) -> bool {
    ["tapOn", "doubleTapOn", "longPressOn", "assertVisible", "assertNotVisible", "copyTextFrom"]
        .contains(&command)
}

/// Whether a map describes an element.
pub(super) fn has_selector(map: &MapReader<'_>) -> bool {
    map.has(&KEYS)
}

/// The element that some keys of a map describe.
pub(super) fn element_keys(
    map: &mut MapReader<'_>,
    of: &str,
    context: &mut ParseContext,
) -> Option<Box<ElementPattern>> {
    let is_empty = !has_selector(map);
    if is_empty && map.rest().next().is_some() {
        // A misspelt key gets its suggestion from the keys that were asked for.
        let what = format!("{of} needs an element: a text, or some of {}", names(&KEYS));
        context.error(map.at(), what);
    } else if is_empty {
        let what = format!("{of} describes no element; as in Maestro, any element will do");
        context.warn(map.at(), what);
    }
    let errors = context.error_count();
    let mut found = Box::new(ElementPattern::default());
    let ElementPattern { text, id, class, .. } = &mut *found;
    for (key, part) in [("text", text), ("id", id), ("class", class)] {
        let value = map.take(key);
        *part = value.and_then(|value| pattern(value, &format!("`{key}`"), context));
    }
    for (key, side) in SIDES {
        if let Some(other) = nested(map, key, context) {
            found.beside.push((side, *other));
        }
    }
    found.parent = nested(map, "childOf", context);
    found.child = nested(map, "containsChild", context);
    if let Some(list) = map.take("containsDescendants") {
        let of = "`containsDescendants`";
        let all = context.list(list, of).iter();
        let all = all.filter_map(|one| element(one, of, context));
        found.descendants = all.map(|one| *one).collect();
    }
    if let Some(value) = map.take("index") {
        let number = value::number(value, "`index`", [-10_000.0, 10_000.0], context);
        // Maestro drops a fraction too.
        found.index = number.map(|number| number as i32);
    }
    if let Some(value) = map.take("css") {
        found.id = css_id(value, context);
    }
    let mut state = |key: &'static str| map.boolean(key, context);
    let [enabled, checked, focused, selected, clickable] =
        ["enabled", "checked", "focused", "selected", "clickable"].map(&mut state);
    found.states = ElementStates { enabled, checked, focused, selected, clickable };
    let mut pixels = |key: &'static str| {
        let number = map.count(key, 100_000, context)?;
        i32::try_from(number).ok()
    };
    let [width, height, tolerance] = ["width", "height", "tolerance"].map(&mut pixels);
    found.size = ElementSize { width, height, tolerance: tolerance.unwrap_or_default() };
    if let Some(list) = map.take("traits") {
        found.traits = traits(list, context);
    }
    (context.error_count() == errors).then_some(found)
}

fn nested(
    map: &mut MapReader<'_>,
    key: &'static str,
    context: &mut ParseContext,
) -> Option<Box<ElementPattern>> {
    let value = map.take(key)?;
    let is_optional = context.has_optional_element;
    let found = element(value, &format!("`{key}`"), context);
    context.has_optional_element = is_optional;
    found
}

fn pattern(value: &Value, of: &str, context: &mut ParseContext) -> Option<TextPattern> {
    let text = match value::filled(value, of, context)? {
        Filled::Known(text) => text,
        Filled::Pending(text) => return Some(TextPattern::literal(&text)),
    };
    match TextPattern::new(&text) {
        Ok(pattern) => Some(pattern),
        Err(what) => {
            let instead = "describe the element by its surroundings, its id or `index` instead";
            context.error(&value.at, format!("{of}: {what}; {instead}"));
            None
        }
    }
}

/// The id that a selector of CSS names: the tree has the ids of a page's elements, and neither
/// their classes nor their tags.
fn css_id(value: &Value, context: &mut ParseContext) -> Option<TextPattern> {
    let selector = value::nonempty_text(value, "`css`", context)?;
    let is_name = |name: &str| name.chars().all(|c| c.is_alphanumeric() || "-_".contains(c));
    match selector.trim().strip_prefix('#').filter(|name| is_name(name)) {
        Some(id) => Some(TextPattern::literal(id)),
        None => {
            let what = format!(
                "`css: {selector}` is not supported: of a page only texts and ids (`#id`) can be read; use `text` or `id`"
            );
            context.error(&value.at, what);
            None
        }
    }
}

/// `traits: text`, or several separated by spaces.
fn traits(value: &Value, context: &mut ParseContext) -> Vec<ElementTrait> {
    let Some(all) = value::nonempty_text(value, "`traits`", context) else {
        return Vec::new();
    };
    let words = all.split([' ', ',']).filter(|word| !word.is_empty());
    let read = words.filter_map(|word| {
        let found = ElementTrait::NAMES.iter().find(|(name, _)| *name == word);
        if found.is_none() {
            let known: Vec<&str> = ElementTrait::NAMES.iter().map(|(name, _)| *name).collect();
            unknown_trait(word, &known, &value.at, context);
        }
        found.map(|(_, it)| *it)
    });
    read.collect()
}

fn unknown_trait(word: &str, known: &[&str], at: &SourceLocation, context: &mut ParseContext) {
    context.error(at, format!("unknown trait {word:?}; known ones: {}", names(known)));
}
