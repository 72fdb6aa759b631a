//! Parses `expect_screenshot`.

use thumbwire_device::Rect;

use super::parse_locator::parse_locator;
use super::parse_phone_step::beside;
use super::parse_value::{Parameters, ParseContext};
use super::plan::{Golden, Mask, StepKind};
use super::yaml::{Value, ValueKind};

/// The share of pixels that may differ by default: a caret or an antialiased edge, not a word.
const TOLERANCE: f64 = 0.001;

/// By how much a color may differ by default.
pub(super) const COLOR_TOLERANCE: u8 = 16;

/// `expect_screenshot: NAME`, or a map.
pub(super) fn expect_screenshot(
    value: &Value,
    parameters: &Parameters,
    reading: &mut ParseContext,
) -> Option<StepKind> {
    let of = "`expect_screenshot`";
    let plain = |name: String| Golden {
        file: beside(&value.at, &format!("goldens/{name}.png")),
        name,
        tolerance: TOLERANCE,
        color_tolerance: COLOR_TOLERANCE,
        masks: Vec::new(),
        with_status_bar: false,
        crop: None,
    };
    let ValueKind::Map(_) = value.kind else {
        let name = name(value, of, parameters, reading)?;
        return Some(StepKind::ExpectScreenshot(plain(name)));
    };
    let mut map = reading.map(value, of)?;
    let name = match map.take("name") {
        Some(value) => name(value, "`name`", parameters, reading),
        None => {
            reading.error(map.at(), format!("{of} needs a `name`, which is the name of its file"));
            None
        }
    };
    let tolerance = map.take("tolerance").map(|it| share(it, parameters, reading));
    let color = map.take("color_tolerance");
    let color = color.map(|n| reading.count(n, "`color_tolerance`", [0, 255], parameters));
    let with_status_bar = map.take("status_bar");
    let with_status_bar = with_status_bar.map(|is| reading.boolean(is, "`status_bar`", parameters));
    let crop = map.take("crop").map(|it| parse_locator(it, "`crop`", parameters, reading));
    let masks = map.take("mask").map(|all| masks(all, parameters, reading));
    map.end(reading, of);
    let mut golden = plain(name?);
    golden.tolerance = tolerance.unwrap_or(Some(TOLERANCE))?;
    if let Some(color) = color {
        golden.color_tolerance = u8::try_from(color?).unwrap_or(u8::MAX);
    }
    golden.with_status_bar = with_status_bar.unwrap_or(Some(false))?;
    golden.crop = match crop {
        Some(crop) => Some(crop?),
        None => None,
    };
    golden.masks = masks.unwrap_or(Some(Vec::new()))?;
    Some(StepKind::ExpectScreenshot(golden))
}

/// A name that stays inside the folder of goldens.
fn name(
    value: &Value,
    of: &str,
    parameters: &Parameters,
    reading: &mut ParseContext,
) -> Option<String> {
    let name = reading.interpolate(value, of, parameters)?;
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | ' ' | '.');
    if !name.chars().all(plain) || name.starts_with('.') {
        let what =
            format!("{of} must be a plain name of letters, digits, `-` and `_`, not {name:?}");
        reading.error(&value.at, what);
        return None;
    }
    Some(name)
}

/// `0.5%`, or the same as a number from 0 to 1.
fn share(value: &Value, parameters: &Parameters, reading: &mut ParseContext) -> Option<f64> {
    let text = reading.text(value, "`tolerance`", parameters)?;
    let share = match text.strip_suffix('%') {
        Some(percent) => percent.trim().parse::<f64>().ok().map(|percent| percent / 100.0),
        None => text.trim().parse().ok(),
    };
    let share = share.filter(|share| (0.0..=1.0).contains(share));
    if share.is_none() {
        let what = format!(
            "`tolerance` must be a share of the pixels such as `0.5%` or `0.005`, not {text:?}"
        );
        reading.error(&value.at, what);
    }
    share
}

/// A list of elements and `{ rect: [left, top, right, bottom] }`.
fn masks(value: &Value, parameters: &Parameters, reading: &mut ParseContext) -> Option<Vec<Mask>> {
    let mut masks = Vec::new();
    for one in reading.list(value, "`mask`") {
        let rect = match &one.kind {
            ValueKind::Map(entries) => match entries.as_slice() {
                [(key, rect)] if key.name == "rect" => Some(rect),
                _ => None,
            },
            _ => None,
        };
        masks.push(match rect {
            Some(sides) => Mask::Rect(rectangle(sides, parameters, reading)?),
            None => Mask::Element(parse_locator(one, "`mask`", parameters, reading)?),
        });
    }
    Some(masks)
}

fn rectangle(value: &Value, parameters: &Parameters, reading: &mut ParseContext) -> Option<Rect> {
    let of = "`rect`";
    let mut sides = Vec::new();
    for one in reading.list(value, of) {
        let side = reading.count(one, of, [0, 20_000], parameters)?;
        sides.push(i32::try_from(side).unwrap_or(i32::MAX));
    }
    let rect = match sides.as_slice() {
        &[left, top, right, bottom] => Some(Rect { left, top, right, bottom }),
        _ => None,
    };
    let rect = rect.filter(|rect| !rect.is_empty());
    if rect.is_none() {
        let what = format!("{of} must be four pixel coordinates `[left, top, right, bottom]`");
        reading.error(&value.at, what);
    }
    rect
}
