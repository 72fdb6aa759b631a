//! Reads the fields of a request.

use super::error::HelperError;
use super::wire::Header;
use serde_json::Value;
use std::time::Duration;
use thumbwire_virtual_phone::Point;

/// Maximum distance of a coordinate from the origin.
const FURTHEST: f64 = 100_000.0;

/// A field; one that is null is missing.
fn get<'a>(header: &'a Header, name: &str) -> Option<&'a Value> {
    header.get(name).filter(|value| !value.is_null())
}

/// A number between the two; `otherwise` if it is missing.
pub(super) fn number(
    header: &Header,
    name: &str,
    range: std::ops::RangeInclusive<u64>,
    otherwise: Option<u64>,
) -> Result<u64, HelperError> {
    let wrong =
        || HelperError::wrong(name, &format!("a number from {} to {}", range.start(), range.end()));
    match get(header, name) {
        None => otherwise.ok_or_else(wrong),
        Some(value) => value.as_u64().filter(|number| range.contains(number)).ok_or_else(wrong),
    }
}

/// A time in milliseconds, cut to the maximum.
pub(super) fn millis(
    header: &Header,
    name: &str,
    most: u64,
    otherwise: u64,
) -> Result<Duration, HelperError> {
    let wrong = || HelperError::wrong(name, "a number of milliseconds");
    let millis = match get(header, name) {
        None => otherwise,
        Some(value) => value.as_u64().ok_or_else(wrong)?,
    };
    Ok(Duration::from_millis(millis.min(most)))
}

/// A text.
pub(super) fn text<'a>(header: &'a Header, name: &str) -> Result<&'a str, HelperError> {
    let text = get(header, name).and_then(Value::as_str);
    text.ok_or_else(|| HelperError::wrong(name, "a string"))
}

/// A truth value, false if it is missing.
pub(super) fn flag(header: &Header, name: &str) -> Result<bool, HelperError> {
    match get(header, name) {
        None => Ok(false),
        Some(value) => value.as_bool().ok_or_else(|| HelperError::wrong(name, "true or false")),
    }
}

/// A point on the screen, in pixels.
pub(super) fn point(header: &Header, x: &str, y: &str) -> Result<Point, HelperError> {
    let pixels = |name: &str| {
        let value = get(header, name).and_then(Value::as_f64);
        let value = value.filter(|value| value.abs() <= FURTHEST);
        value.map(|value| value as i32).ok_or_else(|| HelperError::wrong(name, "a coordinate"))
    };
    Ok(Point { x: pixels(x)?, y: pixels(y)? })
}
