//! Parses steps about the phone and its apps: links, packages, data, clipboard, permissions, location.

use std::path::{Path, PathBuf};

use thumbwire_device::{AppId, Location};

use super::error::SourceLocation;
use super::parse_file::{Scope, app_id, plain, whole_permission};
use super::parse_locator::parse_locator;
use super::parse_value::{Parameters, ParseContext};
use super::plan::StepKind;
use super::yaml::{Value, ValueKind};
use thumbwire_core::action::Action;

/// `open_link: https://example.com`.
pub(super) fn open_link(
    value: &Value,
    parameters: &Parameters,
    reading: &mut ParseContext,
) -> Option<StepKind> {
    reading
        .interpolate(value, "`open_link`", parameters)
        .map(|url| StepKind::Act(Action::OpenUrl(url)))
}

/// `install: build/app.apk`, by its path relative to the flow.
pub(super) fn install(
    value: &Value,
    parameters: &Parameters,
    reading: &mut ParseContext,
) -> Option<StepKind> {
    let file = reading.interpolate(value, "`install`", parameters)?;
    Some(StepKind::Install(beside(&value.at, &file)))
}

/// A path relative to the file of a position.
pub(super) fn beside(at: &SourceLocation, named: &str) -> PathBuf {
    let folder = Path::new(at.file()).parent().unwrap_or(Path::new(""));
    plain(&folder.join(named))
}

/// `clear`, for the flow's app, or `clear: com.example.app`.
pub(super) fn clear(value: &Value, scope: &Scope, reading: &mut ParseContext) -> Option<StepKind> {
    let app = app_or_own(Some(value), "clear", &value.at, scope, reading)?;
    Some(StepKind::Act(Action::ClearData(app)))
}

fn app_or_own(
    value: Option<&Value>,
    of: &str,
    at: &SourceLocation,
    scope: &Scope,
    reading: &mut ParseContext,
) -> Option<AppId> {
    match (value.filter(|value| value.kind != ValueKind::Null), &scope.app) {
        (Some(value), _) => app_id(value, &format!("`{of}`"), &scope.parameters, reading),
        (None, Some(app)) => Some(app.clone()),
        (None, None) => {
            let what =
                format!("`{of}` needs an app: name one here, or set `app` for the case or flow");
            reading.error(at, what);
            None
        }
    }
}

/// `clipboard: TEXT`, or `{ set: TEXT }`, or `{ expect: TEXT }`.
pub(super) fn clipboard(
    value: &Value,
    parameters: &Parameters,
    reading: &mut ParseContext,
) -> Option<StepKind> {
    let set = |text| StepKind::Act(Action::SetClipboard(text));
    let ValueKind::Map(_) = value.kind else {
        return reading.interpolate(value, "`clipboard`", parameters).map(set);
    };
    let mut map = reading.map(value, "`clipboard`")?;
    let (given, expected) = (map.take("set"), map.take("expect"));
    let at = map.at();
    map.end(reading, "`clipboard`");
    match (given, expected) {
        (Some(text), None) => reading.text(text, "`set`", parameters).map(set),
        (None, Some(text)) => {
            reading.text(text, "`expect`", parameters).map(StepKind::ExpectClipboard)
        }
        _ => {
            reading.error(at, "`clipboard` needs either `set` or `expect`; use two steps for both");
            None
        }
    }
}

/// `paste`, into the field with focus, or `paste: ELEMENT`.
pub(super) fn paste(
    value: &Value,
    parameters: &Parameters,
    reading: &mut ParseContext,
) -> Option<StepKind> {
    let into = match value.kind {
        ValueKind::Null => None,
        _ => Some(parse_locator(value, "`paste`", parameters, reading)?),
    };
    Some(StepKind::PasteClipboard { into })
}

/// `{ latitude: 53.8655, longitude: 10.6866 }`.
pub(super) fn set_location(
    value: &Value,
    parameters: &Parameters,
    reading: &mut ParseContext,
) -> Option<StepKind> {
    let of = "`set_location`";
    let mut map = reading.map(value, of)?;
    let mut degrees = |key: &'static str, most: f64| match map.take(key) {
        Some(value) => reading.number(value, &format!("`{key}`"), [-most, most], parameters),
        None => {
            reading.error(map.at(), format!("{of} needs `latitude` and `longitude` in degrees"));
            None
        }
    };
    let (latitude, longitude) = (degrees("latitude", 90.0), degrees("longitude", 180.0));
    map.end(reading, of);
    let at = Location::new(latitude?, longitude?)?;
    Some(StepKind::Act(Action::SetLocation(at)))
}

/// `{ grant: [CAMERA], revoke: [LOCATION], app: com.example.app }`.
pub(super) fn permissions(
    value: &Value,
    scope: &Scope,
    reading: &mut ParseContext,
) -> Option<StepKind> {
    let mut map = reading.map(value, "`permissions`")?;
    let app = map.take("app");
    let mut permissions = Vec::new();
    for (key, granted) in [("grant", true), ("revoke", false)] {
        let Some(list) = map.take(key) else { continue };
        for one in reading.list(list, &format!("`{key}`")) {
            let name = reading.interpolate(one, "a permission", &scope.parameters)?;
            permissions.push((whole_permission(name), granted));
        }
    }
    if permissions.is_empty() {
        reading
            .error(map.at(), "`permissions` needs `grant` or `revoke` with a list of permissions");
    }
    let app = app_or_own(app, "permissions", map.at(), scope, reading);
    map.end(reading, "`permissions`");
    let app = app?;
    (!permissions.is_empty()).then_some(StepKind::SetPermissions {
        app,
        permissions,
        requested_only: false,
    })
}
