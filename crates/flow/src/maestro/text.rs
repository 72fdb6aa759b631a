//! Commands for text: typing, erasing, copying.

use super::arguments::Arguments;
use super::selector::{locator, selector_keys};
use super::value::{self, MapValues as _};
use crate::parse_file::Reader;
use crate::parse_value::ParseContext;
use crate::plan::{Locator, RandomText, StepKind};
use crate::yaml::ValueKind;

/// How long a random text is, and how many characters are erased one by one at most.
const LENGTH: u32 = 8;

/// The longest random text.
const LONGEST: u32 = 10_000;

pub(super) fn input(
    _: &mut Reader<'_>,
    given: &mut Arguments<'_>,
    reading: &mut ParseContext,
) -> Option<StepKind> {
    let parameters = given.parameters();
    let value = match &mut given.map {
        Some(map) => match map.take("text") {
            Some(text) => text,
            None => {
                reading.error(map.at(), "`inputText` needs `text`");
                return None;
            }
        },
        None => given.value,
    };
    // An empty text types nothing.
    let written = reading.written(value, &given.of)?.to_owned();
    let text = value::text(value, &given.of, parameters, reading)?;
    Some(StepKind::Type { text, written, into: None, clear: false, submit: false })
}

pub(super) fn input_random(
    _: &mut Reader<'_>,
    given: &mut Arguments<'_>,
    reading: &mut ParseContext,
) -> Option<StepKind> {
    let parameters = given.parameters();
    let length = match &mut given.map {
        Some(map) => map.count("length", LONGEST, parameters, reading).unwrap_or(LENGTH),
        None => LENGTH,
    };
    Some(StepKind::TypeRandom(match given.name {
        "inputRandomText" => RandomText::Letters(length),
        "inputRandomNumber" => RandomText::Digits(length),
        "inputRandomEmail" => RandomText::Email,
        "inputRandomPersonName" => RandomText::PersonName,
        "inputRandomCityName" => RandomText::City,
        "inputRandomCountryName" => RandomText::Country,
        _ => RandomText::Color,
    }))
}

/// Without a number, Maestro erases up to 50 characters; we erase the field.
pub(super) fn erase(
    _: &mut Reader<'_>,
    given: &mut Arguments<'_>,
    reading: &mut ParseContext,
) -> Option<StepKind> {
    const MOST: u32 = 1000;
    let parameters = given.parameters();
    let many = match (&mut given.map, &given.value.kind) {
        (Some(map), _) => map.count("charactersToErase", MOST, parameters, reading),
        (None, ValueKind::Null) => None,
        (None, _) => {
            let range = [0.0, f64::from(MOST)];
            let many = value::number(given.value, &given.of, range, parameters, reading)?;
            Some(many as u32)
        }
    };
    Some(StepKind::Erase(many))
}

pub(super) fn copy(
    _: &mut Reader<'_>,
    given: &mut Arguments<'_>,
    reading: &mut ParseContext,
) -> Option<StepKind> {
    let parameters = given.parameters();
    Some(StepKind::Copy(match &mut given.map {
        Some(map) => {
            let sought = selector_keys(map, &given.of, parameters, reading)?;
            Locator::Pattern(Box::new(sought))
        }
        None => locator(given.value, &given.of, parameters, reading)?,
    }))
}

pub(super) fn set_clipboard(
    _: &mut Reader<'_>,
    given: &mut Arguments<'_>,
    reading: &mut ParseContext,
) -> Option<StepKind> {
    given.text("text", reading).map(StepKind::SetCopied)
}
