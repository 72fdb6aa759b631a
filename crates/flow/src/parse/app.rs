//! Commands for apps: starting, stopping, clearing, permissions, links.

use std::time::Duration;

use thumbwire_device::{AppId, LaunchArgument, LaunchValue, Location};

use super::arguments::Arguments;
use super::context::{Filled, ParseContext, names};
use super::value;
use super::{Launched, Target, beside, inner_step};
use crate::plan::StepKind;
use crate::yaml::{Value, ValueKind};
use thumbwire_core::action::{Action, AppSelector};

/// Maestro's names of permissions, and Android's. "Permissions" of its documentation; the pairs are
/// those of its driver.
const PERMISSIONS: [(&str, &[&str]); 12] = [
    ("bluetooth", &["BLUETOOTH_CONNECT", "BLUETOOTH_SCAN"]),
    ("calendar", &["READ_CALENDAR", "WRITE_CALENDAR"]),
    ("camera", &["CAMERA"]),
    ("contacts", &["READ_CONTACTS", "WRITE_CONTACTS"]),
    ("location", &["ACCESS_FINE_LOCATION", "ACCESS_COARSE_LOCATION"]),
    (
        "medialibrary",
        &["READ_EXTERNAL_STORAGE", "READ_MEDIA_AUDIO", "READ_MEDIA_IMAGES", "READ_MEDIA_VIDEO"],
    ),
    ("microphone", &["RECORD_AUDIO"]),
    ("motion", &["ACTIVITY_RECOGNITION"]),
    ("notifications", &["POST_NOTIFICATIONS"]),
    ("phone", &["CALL_PHONE", "ANSWER_PHONE_CALLS", "READ_PHONE_STATE"]),
    ("sms", &["READ_SMS", "RECEIVE_SMS", "SEND_SMS"]),
    ("storage", &["READ_EXTERNAL_STORAGE", "WRITE_EXTERNAL_STORAGE"]),
];

/// How many steps `travel` may have: 100 of each leg.
const MAX_PLACES: usize = 5_000;

/// The longest time at a place on the way.
const MAX_PAUSE: Duration = Duration::from_secs(6 * 3600);

/// Permissions that only iPhones have. They mean nothing on Android, as in Maestro.
const OF_IPHONES: [&str; 9] = [
    "faceid",
    "health",
    "homekit",
    "photos",
    "reminders",
    "siri",
    "speech",
    "userTracking",
    "usertracking",
];

pub(super) fn launch(
    arguments: &mut Arguments<'_>,
    context: &mut ParseContext,
) -> Option<StepKind> {
    let at = arguments.value.at.clone();
    let step = |kind| inner_step(&at, kind);
    let mut passed = Vec::new();
    let (clears, stops, keychain, permissions) = match &mut arguments.map {
        None => (false, true, false, None),
        Some(map) => {
            let mut is = |key| map.boolean(key, context);
            let (clears, stops, keychain) = (is("clearState"), is("stopApp"), is("clearKeychain"));
            passed = launch_arguments(map.take("arguments"), context)?;
            let is_set = |is: Option<bool>, default| is.unwrap_or(default);
            (
                is_set(clears, false),
                is_set(stops, true),
                is_set(keychain, false),
                map.take("permissions"),
            )
        }
    };
    let app = match app_of(arguments, context)? {
        Launched::App(app) => app,
        Launched::Url(url) if clears => {
            let what = format!("`clearState` needs an app, and this flow is for {url}");
            return Some(StepKind::Unavailable(what));
        }
        Launched::Url(url) => return Some(StepKind::Act(Action::OpenUrl(url))),
    };
    let mut steps = Vec::new();
    if clears {
        steps.push(step(StepKind::Act(Action::ClearData(app.clone()))));
    } else if stops {
        steps.push(step(StepKind::Act(Action::Stop(app.clone()))));
    }
    if keychain {
        steps.push(step(StepKind::ClearKeychain));
    }
    match permissions {
        Some(permissions) => {
            steps.extend(permission_steps(&app, permissions, context)?.into_iter().map(step))
        }
        None => steps.push(step(all_permissions(&app, true))),
    }
    let launch = StepKind::Act(match passed.is_empty() {
        true => Action::Launch(AppSelector::Id(app)),
        false => Action::LaunchWith { app, arguments: passed },
    });
    if steps.is_empty() {
        return Some(launch);
    }
    steps.push(step(launch));
    Some(StepKind::When { conditions: Vec::new(), steps })
}

/// The arguments of `launchApp`. A script's value is a text, as in Maestro.
fn launch_arguments(
    value: Option<&Value>,
    context: &mut ParseContext,
) -> Option<Vec<LaunchArgument>> {
    let Some(value) = value else { return Some(Vec::new()) };
    let map = context.map(value, "`arguments`")?;
    let mut arguments = Vec::new();
    for (key, value) in map.rest() {
        let name = context.fill(&key.name, &key.at, true);
        let name = name.map_err(|what| context.error(&key.at, what)).ok()?.into_text();
        let of = format!("the argument `{name}`");
        let is_script = context.written(value, &of)?.contains("${");
        let text = value::text(value, &of, context)?;
        let value = if is_script { LaunchValue::Text(text) } else { launch_value(text) };
        arguments.push(LaunchArgument { name, value });
    }
    Some(arguments)
}

/// A value of the type that it has in YAML.
pub(super) fn launch_value(text: String) -> LaunchValue {
    match (text.as_str(), text.parse::<i32>()) {
        ("true" | "false", _) => LaunchValue::Flag(text == "true"),
        (_, Ok(number)) if number.to_string() == text => LaunchValue::Whole(number),
        _ => LaunchValue::Text(text),
    }
}

pub(super) fn stop(arguments: &mut Arguments<'_>, context: &mut ParseContext) -> Option<StepKind> {
    just_app(arguments, context).map(|app| StepKind::Act(Action::Stop(app)))
}

pub(super) fn clear_state(
    arguments: &mut Arguments<'_>,
    context: &mut ParseContext,
) -> Option<StepKind> {
    just_app(arguments, context).map(|app| StepKind::Act(Action::ClearData(app)))
}

pub(super) fn set_permissions(
    arguments: &mut Arguments<'_>,
    context: &mut ParseContext,
) -> Option<StepKind> {
    let permissions = arguments.keys(context)?.take("permissions");
    let app = just_app(arguments, context)?;
    let Some(permissions) = permissions else {
        context.error(&arguments.value.at, "`setPermissions` needs `permissions`");
        return None;
    };
    let mut steps = permission_steps(&app, permissions, context)?;
    if steps.len() == 1 {
        return steps.pop();
    }
    let at = arguments.value.at.clone();
    let step = |kind| inner_step(&at, kind);
    Some(StepKind::When { conditions: Vec::new(), steps: steps.into_iter().map(step).collect() })
}

/// Pictures and films for the gallery, by their paths relative to the flow.
pub(super) fn add_media(
    arguments: &mut Arguments<'_>,
    context: &mut ParseContext,
) -> Option<StepKind> {
    /// Those of Maestro's `MediaExt`.
    const ENDINGS: [&str; 5] = [".png", ".jpeg", ".jpg", ".gif", ".mp4"];
    let at = arguments.value.at.clone();
    let files = match &mut arguments.map {
        Some(map) => map.take("files"),
        None => Some(arguments.value),
    };
    let Some(files) = files else {
        context.error(&at, "`addMedia` needs `files`");
        return None;
    };
    let mut steps = Vec::new();
    for value in context.list(files, "`addMedia`") {
        let file = value::known_text(value, "a file of `addMedia`", context)?;
        if !ENDINGS.iter().any(|ending| file.to_lowercase().ends_with(ending)) {
            let what = format!("`addMedia` takes {}, not {file:?}", names(&ENDINGS));
            context.error(&value.at, what);
            return None;
        }
        steps.push(inner_step(&value.at, StepKind::AddMedia(beside(&value.at, &file))));
    }
    Some(StepKind::When { conditions: Vec::new(), steps })
}

/// Settings of the system that no action changes yet.
pub(super) fn system_setting(
    arguments: &mut Arguments<'_>,
    context: &mut ParseContext,
) -> Option<StepKind> {
    /// The value's names, for the commands that have one.
    const VALUES: [(&str, ()); 2] = [("enabled", ()), ("disabled", ())];
    if arguments.name.starts_with("set") {
        let value = match &mut arguments.map {
            Some(map) => map.take("value"),
            None => None,
        };
        value::one_of(value.unwrap_or(arguments.value), &arguments.of, &VALUES, context)?;
    } else {
        arguments.take_no_value(context);
    }
    Some(StepKind::Unavailable(format!(
        "{} is not done yet; switch it in the Settings app, as a person would",
        arguments.of
    )))
}

/// Its package, by its path relative to the flow.
pub(super) fn install(
    arguments: &mut Arguments<'_>,
    context: &mut ParseContext,
) -> Option<StepKind> {
    let file = arguments.text("path", context)?;
    Some(StepKind::Install(beside(&arguments.value.at, &file)))
}

pub(super) fn open_link(
    arguments: &mut Arguments<'_>,
    context: &mut ParseContext,
) -> Option<StepKind> {
    let mut unavailable = None;
    if let Some(map) = &mut arguments.map {
        for (key, instead) in [
            ("autoVerify", "tap the app in the dialog, if one appears"),
            ("browser", "tap the browser in the dialog, if one appears"),
        ] {
            if map.boolean(key, context) == Some(true) {
                let what = format!("`{key}: true` of `openLink` is not supported: {instead}");
                unavailable = Some(StepKind::Unavailable(what));
            }
        }
    }
    let link = arguments.text("link", context)?;
    Some(unavailable.unwrap_or(StepKind::Act(Action::OpenUrl(link))))
}

pub(super) fn set_location(
    arguments: &mut Arguments<'_>,
    context: &mut ParseContext,
) -> Option<StepKind> {
    let map = arguments.keys(context)?;
    let mut degrees = |key: &'static str, max: f64| match map.take(key) {
        Some(value) => value::number(value, &format!("`{key}`"), [-max, max], context),
        None => {
            context.error(map.at(), "`setLocation` needs `latitude` and `longitude` in degrees");
            None
        }
    };
    let (latitude, longitude) = (degrees("latitude", 90.0), degrees("longitude", 180.0));
    Some(StepKind::Act(Action::SetLocation(Location::new(latitude?, longitude?)?)))
}

/// Maestro moves the phone along straight lines, and so do we.
pub(super) fn travel(
    arguments: &mut Arguments<'_>,
    context: &mut ParseContext,
) -> Option<StepKind> {
    /// The speed if none is given, in metres per second. Maestro's `Orchestra.travelCommand`.
    const SPEED: f64 = 4.0;
    let at = arguments.value.at.clone();
    let map = arguments.keys(context)?;
    let speed = match map.take("speed") {
        Some(speed) => value::number(speed, "`speed`", [0.001, 1e9], context)?,
        None => SPEED,
    };
    let Some(points) = map.take("points") else {
        context.error(map.at(), "`travel` needs `points`, such as \"48.8578, 2.2951\"");
        return None;
    };
    let mut locations = Vec::new();
    for point in context.list(points, "`points`") {
        let text = match value::filled(point, "a point", context)? {
            Filled::Known(text) => text,
            Filled::Pending(_) => continue,
        };
        let location = text.split_once(',').and_then(|(latitude, longitude)| {
            Location::new(latitude.trim().parse().ok()?, longitude.trim().parse().ok()?)
        });
        let Some(location) = location else {
            let what = format!("a point must be `latitude, longitude` in degrees, not {text:?}");
            context.error(&point.at, what);
            return None;
        };
        locations.push(location);
    }
    let mut steps = Vec::new();
    for (location, pause) in route(&locations, speed) {
        steps.push(inner_step(&at, StepKind::Act(Action::SetLocation(location))));
        if pause > MAX_PAUSE {
            let what = format!(
                "`travel` stays at a place for more than {} s; use a higher `speed` in metres per second",
                MAX_PAUSE.as_secs()
            );
            context.error(&points.at, what);
            return None;
        }
        if steps.len() > MAX_PLACES {
            context.error(&points.at, "`travel` has too many points");
            return None;
        }
        if !pause.is_zero() {
            steps.push(inner_step(&at, StepKind::Act(Action::Wait(pause))));
        }
    }
    Some(StepKind::When { conditions: Vec::new(), steps })
}

/// The places on the way and how long the phone stays there: 50 of each leg, as in Maestro's
/// `Traveller`.
fn route(points: &[Location], speed: f64) -> impl Iterator<Item = (Location, Duration)> {
    const STEPS: u32 = 50;
    let first = points.first().map(|first| (*first, Duration::ZERO));
    let legs = points.windows(2).flat_map(move |leg| {
        let (from, to) = (leg[0], leg[1]);
        let seconds = distance(from, to) / speed / f64::from(STEPS);
        let pause = Duration::from_millis((seconds * 1000.0) as u64);
        (1..=STEPS).map(move |step| {
            let done = f64::from(step) / f64::from(STEPS);
            let between = |a: f64, b: f64| a + (b - a) * done;
            let location = Location {
                latitude: between(from.latitude, to.latitude),
                longitude: between(from.longitude, to.longitude),
            };
            (location, pause)
        })
    });
    first.into_iter().chain(legs)
}

/// In metres, along a great circle.
fn distance(a: Location, b: Location) -> f64 {
    /// The mean radius of the Earth.
    const EARTH: f64 = 6_371_000.0;
    let (north, south) = (a.latitude.to_radians(), b.latitude.to_radians());
    let half = |a: f64, b: f64| ((b - a) / 2.0).sin().powi(2);
    let chord = half(north, south)
        + north.cos() * south.cos() * half(a.longitude.to_radians(), b.longitude.to_radians());
    2.0 * EARTH * chord.sqrt().min(1.0).asin()
}

/// The app that the command names, else the flow's.
fn app_of(arguments: &mut Arguments<'_>, context: &mut ParseContext) -> Option<Launched> {
    let named = match (&mut arguments.map, &arguments.value.kind) {
        (Some(map), _) => {
            let named = map.text("appId", context);
            if named.is_none() && map.was_taken("appId") {
                return None;
            }
            if let Some(url) = map.text("url", context) {
                return Some(Launched::Url(url));
            }
            named
        }
        (None, ValueKind::Null) => None,
        (None, _) => Some(value::nonempty_text(arguments.value, &arguments.of, context)?),
    };
    match (named, &arguments.scope.target) {
        (Some(app), _) => Some(Launched::App(AppId(app))),
        (None, Target::Unknown) => None,
        (None, Target::App(app)) => {
            let app = value::nonempty_text(app, "`appId`", context)?;
            Some(Launched::App(AppId(app)))
        }
        (None, Target::Url(url)) => {
            Some(Launched::Url(value::nonempty_text(url, "`url`", context)?))
        }
    }
}

fn just_app(arguments: &mut Arguments<'_>, context: &mut ParseContext) -> Option<AppId> {
    match app_of(arguments, context)? {
        Launched::App(app) => Some(app),
        Launched::Url(url) => {
            let what = format!("{} needs an `appId`: this flow is for {url}", arguments.of);
            context.error(&arguments.value.at, what);
            None
        }
    }
}

/// All permissions that can be granted while an app is installed.
fn all_permissions(app: &AppId, granted: bool) -> StepKind {
    let mut permissions: Vec<(String, bool)> = Vec::new();
    for name in PERMISSIONS.iter().flat_map(|(_, names)| names.iter()) {
        let name = full_name(name);
        if !permissions.iter().any(|(known, _)| *known == name) {
            permissions.push((name, granted));
        }
    }
    StepKind::SetPermissions { app: app.clone(), permissions, requested_only: true }
}

fn full_name(name: &str) -> String {
    format!("android.permission.{name}")
}

/// `all` first, then the others.
fn permission_steps(
    app: &AppId,
    value: &Value,
    context: &mut ParseContext,
) -> Option<Vec<StepKind>> {
    /// Values that grant; `unset` takes a permission away, so that the app asks again.
    const VALUES: [(&str, bool); 7] = [
        ("allow", true),
        ("deny", false),
        ("unset", false),
        ("always", true),
        ("inuse", true),
        ("never", false),
        ("limited", true),
    ];
    let map = context.map(value, "`permissions`")?;
    let (mut all, mut permissions) = (None, Vec::new());
    for (key, value) in map.rest() {
        let of = format!("`{}`", key.name);
        let granted = value::one_of(value, &of, &VALUES, context)?;
        let known = PERMISSIONS.iter().find(|(name, _)| *name == key.name);
        match (key.name.as_str(), known) {
            ("all", _) => all = Some(all_permissions(app, granted)),
            (_, Some((_, names))) => {
                permissions.extend(names.iter().map(|name| (full_name(name), granted)));
            }
            (name, None) if name.contains('.') => permissions.push((name.to_owned(), granted)),
            (name, None) if OF_IPHONES.contains(&name) => {}
            (name, None) => {
                let known: Vec<&str> = PERMISSIONS.iter().map(|(name, _)| *name).collect();
                let what = format!(
                    "unknown permission {name:?}; use `all`, one of {}, or a full name such as android.permission.CAMERA",
                    names(&known)
                );
                context.error(&key.at, what);
                return None;
            }
        }
    }
    let mut steps: Vec<StepKind> = all.into_iter().collect();
    if !permissions.is_empty() {
        let app = app.clone();
        steps.push(StepKind::SetPermissions { app, permissions, requested_only: false });
    }
    Some(steps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn way_has_50_places_for_each_leg() {
        let location = |latitude, longitude| Location { latitude, longitude };
        // A degree of latitude has 111 km.
        let all: Vec<(Location, Duration)> =
            route(&[location(0.0, 0.0), location(1.0, 0.0)], 1_000.0).collect();
        assert_eq!(all.len(), 51);
        assert_eq!(
            (all[0], all[25].0, all[50].0),
            ((location(0.0, 0.0), Duration::ZERO), location(0.5, 0.0), location(1.0, 0.0),)
        );
        assert_eq!(all[1].1.as_millis(), 2_223);
        let paris_to_rome = distance(location(48.8578, 2.2951), location(41.8902, 12.4922));
        assert!((1_100_000.0..1_115_000.0).contains(&paris_to_rome), "{paris_to_rome}");
        assert_eq!(route(&[], 1.0).count(), 0);
    }
}
