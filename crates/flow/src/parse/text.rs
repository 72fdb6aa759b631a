//! Commands for text: typing, erasing, copying, the clipboard.

use super::arguments::Arguments;
use super::context::ParseContext;
use super::value;
use crate::plan::{RandomText, StepKind};
use crate::yaml::ValueKind;
use thumbwire_core::action::Action;

/// How long a random text is.
const LENGTH: u32 = 8;

/// The longest random text.
const MAX_LENGTH: u32 = 10_000;

pub(super) fn input(arguments: &mut Arguments<'_>, context: &mut ParseContext) -> Option<StepKind> {
    let value = match &mut arguments.map {
        Some(map) => {
            let text = map.take("text");
            map.pass_over(context, &arguments.of);
            match text {
                Some(text) => text,
                None => {
                    context.error(map.at(), "`inputText` needs `text`");
                    return None;
                }
            }
        }
        None => arguments.value,
    };
    // An empty text types nothing.
    let written = context.written(value, &arguments.of)?.to_owned();
    let text = value::text(value, &arguments.of, context)?;
    Some(StepKind::Type { text, written })
}

pub(super) fn input_random(
    arguments: &mut Arguments<'_>,
    context: &mut ParseContext,
) -> Option<StepKind> {
    arguments.take_no_value(context);
    let length = match &mut arguments.map {
        Some(map) => map.count("length", MAX_LENGTH, context).unwrap_or(LENGTH),
        None => LENGTH,
    };
    Some(StepKind::TypeRandom(match arguments.name {
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
pub(super) fn erase(arguments: &mut Arguments<'_>, context: &mut ParseContext) -> Option<StepKind> {
    const MAX_ERASED: u32 = 1000;
    let count = match (&mut arguments.map, &arguments.value.kind) {
        (Some(map), _) => map.count("charactersToErase", MAX_ERASED, context),
        (None, ValueKind::Null) => None,
        (None, _) => {
            let range = [0.0, f64::from(MAX_ERASED)];
            let count = value::number(arguments.value, &arguments.of, range, context)?;
            Some(count as u32)
        }
    };
    Some(StepKind::Erase(count))
}

pub(super) fn copy(arguments: &mut Arguments<'_>, context: &mut ParseContext) -> Option<StepKind> {
    arguments.element(context).map(StepKind::Copy)
}

pub(super) fn set_clipboard(
    arguments: &mut Arguments<'_>,
    context: &mut ParseContext,
) -> Option<StepKind> {
    arguments.text("text", context).map(StepKind::SetCopied)
}

pub(super) fn set_device_clipboard(
    arguments: &mut Arguments<'_>,
    context: &mut ParseContext,
) -> Option<StepKind> {
    arguments.text("text", context).map(|text| StepKind::Act(Action::SetClipboard(text)))
}
