//! Texts with places: `Send {NAME} the message`.
//!
//! A place is a name in capitals between braces. `{{NAME}}` is not a place: it names a secret, and
//! stays as it is. Nothing here knows where values come from.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

/// Values by the names of their places.
pub(super) type Values = BTreeMap<String, String>;

/// A part of a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part<'a> {
    Text(&'a str),
    Place(&'a str),
}

/// The parts of a template, in order.
pub(super) fn parts(template: &str) -> Vec<Part<'_>> {
    let (mut parts, mut from, mut at) = (Vec::new(), 0, 0);
    while let Some(open) = template[at..].find('{').map(|found| at + found) {
        let inside = &template[open + 1..];
        if let Some(secret) = inside.strip_prefix('{').and_then(name_before_brace)
            && inside[1 + secret.len()..].starts_with("}}")
        {
            at = open + secret.len() + 4;
        } else if let Some(name) = name_before_brace(inside) {
            parts.extend((from < open).then(|| Part::Text(&template[from..open])));
            parts.push(Part::Place(name));
            at = open + name.len() + 2;
            from = at;
        } else {
            at = open + 1;
        }
    }
    parts.extend((from < template.len()).then(|| Part::Text(&template[from..])));
    parts
}

/// The name that a text starts with, if a closing brace follows it.
fn name_before_brace(text: &str) -> Option<&str> {
    let name = &text[..text.find('}')?];
    is_place_name(name).then_some(name)
}

/// Whether a place can have this name: a capital letter, then capitals, digits and `_`.
pub(super) fn is_place_name(name: &str) -> bool {
    name.len() <= 40
        && name.starts_with(|first: char| first.is_ascii_uppercase())
        && name.chars().all(|it| it.is_ascii_uppercase() || it.is_ascii_digit() || it == '_')
}

/// The names of the places in a template.
pub(super) fn places(template: &str) -> impl Iterator<Item = &str> {
    parts(template).into_iter().filter_map(|part| match part {
        Part::Place(name) => Some(name),
        Part::Text(_) => None,
    })
}

/// Whether a template has a place.
pub(super) fn has_place(template: &str) -> bool {
    places(template).next().is_some()
}

/// The template with values in its places.
///
/// # Errors
/// The place that has no value.
pub(super) fn fill(template: &str, values: &Values) -> Result<String, String> {
    let mut filled = String::new();
    for part in parts(template) {
        match part {
            Part::Text(text) => filled.push_str(text),
            Part::Place(name) => {
                let value = values.get(name).ok_or_else(|| format!("{{{name}}} has no value"))?;
                // A value must not turn into the name of a secret.
                if value.contains("{{") {
                    return Err(format!("the value of {{{name}}} contains \"{{{{\""));
                }
                filled.push_str(value);
            }
        }
    }
    Ok(filled)
}

/// Arguments with values in the places of their texts.
///
/// # Errors
/// As [`fill`].
pub(super) fn fill_arguments(
    arguments: &Map<String, Value>,
    values: &Values,
) -> Result<Map<String, Value>, String> {
    let filled =
        arguments.iter().map(|(name, value)| Ok((name.clone(), fill_value(value, values)?)));
    filled.collect()
}

fn fill_value(value: &Value, values: &Values) -> Result<Value, String> {
    Ok(match value {
        Value::String(text) => fill(text, values)?.into(),
        Value::Array(all) => {
            all.iter().map(|one| fill_value(one, values)).collect::<Result<Vec<_>, _>>()?.into()
        }
        Value::Object(all) => fill_arguments(all, values)?.into(),
        plain => plain.clone(),
    })
}

/// The texts in a value, at any depth.
pub(super) fn texts_in(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(all) => all.iter().flat_map(texts_in).collect(),
        Value::Object(all) => all.values().flat_map(texts_in).collect(),
        _ => Vec::new(),
    }
}

/// A text with places where it has these values as whole words, the longest first.
///
/// # Errors
/// The text has something that would be taken for a place.
pub(super) fn to_template(text: &str, values: &Values) -> Result<String, String> {
    if has_place(text) {
        return Err(format!("{text:?} looks like it has places to fill"));
    }
    let mut known: Vec<(&String, &String)> =
        values.iter().filter(|(_, value)| !value.is_empty()).collect();
    known.sort_by_key(|(_, value)| std::cmp::Reverse(value.len()));
    let (mut template, mut at) = (String::new(), 0);
    while let Some(next) = text[at..].chars().next() {
        match known.iter().find(|(_, value)| is_word_at(text, at, value)) {
            Some((name, value)) => {
                template.push_str(&format!("{{{name}}}"));
                at += value.len();
            }
            None => {
                template.push(next);
                at += next.len_utf8();
            }
        }
    }
    Ok(template)
}

/// Whether a text has this value as a whole word or as whole words.
pub(super) fn has_words(text: &str, value: &str) -> bool {
    !value.is_empty() && text.match_indices(value).any(|(at, _)| is_word_at(text, at, value))
}

/// Whether this value is in a text at this place, and not a part of a longer word or number: `25`
/// is not in `1.25`.
fn is_word_at(text: &str, at: usize, value: &str) -> bool {
    let Some(after) = text[at..].strip_prefix(value) else { return false };
    let goes_on = |edge: Option<char>, next: Option<char>, further: Option<char>| {
        let (Some(edge), Some(next)) = (edge, next) else { return false };
        let is_number = edge.is_ascii_digit() && matches!(next, '.' | ',' | ':');
        (edge.is_alphanumeric() && next.is_alphanumeric())
            || (is_number && further.is_some_and(|it| it.is_ascii_digit()))
    };
    let (mut back, mut on) = (text[..at].chars().rev(), after.chars());
    !goes_on(value.chars().next(), back.next(), back.next())
        && !goes_on(value.chars().next_back(), on.next(), on.next())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(given: &[(&str, &str)]) -> Values {
        given.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn places_are_capitals_in_single_braces() {
        let text = "Type {{PIN}} as {WHO}, {who} { WHO } {{X} {A_1}";
        assert_eq!(places(text).collect::<Vec<_>>(), ["WHO", "X", "A_1"]);
        assert_eq!(
            fill(text, &values(&[("WHO", "Ada"), ("X", "x"), ("A_1", "")])).unwrap(),
            "Type {{PIN}} as Ada, {who} { WHO } {x "
        );
        assert_eq!(fill("{A}", &Values::new()).unwrap_err(), "{A} has no value");
    }

    #[test]
    fn value_cannot_name_a_secret() {
        let error = fill("{A}", &values(&[("A", "{{PIN}}")])).unwrap_err();
        assert_eq!(error, "the value of {A} contains \"{{\"");
    }

    #[test]
    fn whole_words_become_places_longest_first() {
        let known = values(&[("WHO", "Ada"), ("TITLE", "Call Ada"), ("COUNT", "25")]);
        for (text, template) in [
            ("Call Ada", "{TITLE}"),
            ("Adam and Ada", "Adam and {WHO}"),
            ("25 of 125, 1.25, 25:10, 25.", "{COUNT} of 125, 1.25, 25:10, {COUNT}."),
            ("{{PIN}}", "{{PIN}}"),
        ] {
            assert_eq!(to_template(text, &known).unwrap(), template);
        }
        assert!(to_template("{X}", &known).is_err());
    }
}
