//! Commands for apps: starting, stopping, clearing, permissions, links.

use std::time::Duration;

use thumbwire_device::{AppId, Location};

use super::arguments::Arguments;
use super::context::{ParseContext, names};
use super::value;
use super::{LOOKUP, Launched, beside};
use crate::error::SourceLocation;
use crate::plan::{FlowStep, StepKind};
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

/// The most steps of `travel`, two a second.
const MAX_PLACES: usize = 2 * 600;

/// Permissions that only iPhones have. They mean nothing on Android, as in Maestro.
const OF_IPHONES: [&str; 8] =
    ["health", "homekit", "photos", "reminders", "siri", "speech", "userTracking", "usertracking"];

pub(super) fn launch(
    arguments: &mut Arguments<'_>,
    context: &mut ParseContext,
) -> Option<StepKind> {
    let parameters = arguments.parameters();
    let at = arguments.value.at.clone();
    let step = |kind| inner_step(&at, kind);
    let (clears, stops, keychain, permissions) = match &mut arguments.map {
        None => (false, true, false, None),
        Some(map) => {
            let mut is = |key| map.boolean(key, parameters, context);
            let (clears, stops, keychain) = (is("clearState"), is("stopApp"), is("clearKeychain"));
            if let Some(arguments) = map.take("arguments") {
                let what = "`arguments` of `launchApp` are not supported: pass them with a link that the app handles (`openLink`)";
                context.error(&arguments.at, what);
            }
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
            context.error(&arguments.value.at, what);
            return None;
        }
        Launched::Url(url) => return Some(StepKind::Act(Action::OpenUrl(url))),
        Launched::Unknown => return None,
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
        Some(permissions) => steps
            .extend(permission_steps(&app, permissions, arguments, context)?.into_iter().map(step)),
        None => steps.push(step(all_permissions(&app, true))),
    }
    let launch = StepKind::Act(Action::Launch(AppSelector::Id(app)));
    if steps.is_empty() {
        return Some(launch);
    }
    steps.push(step(launch));
    Some(StepKind::When { conditions: Vec::new(), steps })
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
    let mut steps = permission_steps(&app, permissions, arguments, context)?;
    if steps.len() == 1 {
        return steps.pop();
    }
    let at = arguments.value.at.clone();
    let step = |kind| inner_step(&at, kind);
    Some(StepKind::When { conditions: Vec::new(), steps: steps.into_iter().map(step).collect() })
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
    let parameters = arguments.parameters();
    if let Some(map) = &mut arguments.map {
        for (key, instead) in [
            ("autoVerify", "tap the app in the dialog, if one appears"),
            ("browser", "tap the browser in the dialog, if one appears"),
        ] {
            let at = map.at();
            if map.boolean(key, parameters, context) == Some(true) {
                let what = format!("`{key}: true` of `openLink` is not supported: {instead}");
                context.error(at, what);
            }
        }
    }
    arguments.text("link", context).map(|link| StepKind::Act(Action::OpenUrl(link)))
}

pub(super) fn set_location(
    arguments: &mut Arguments<'_>,
    context: &mut ParseContext,
) -> Option<StepKind> {
    let parameters = arguments.parameters();
    let map = arguments.keys(context)?;
    let mut degrees = |key: &'static str, max: f64| match map.take(key) {
        Some(value) => value::number(value, &format!("`{key}`"), [-max, max], parameters, context),
        None => {
            context.error(map.at(), "`setLocation` needs `latitude` and `longitude` in degrees");
            None
        }
    };
    let (latitude, longitude) = (degrees("latitude", 90.0), degrees("longitude", 180.0));
    Some(StepKind::Act(Action::SetLocation(Location::new(latitude?, longitude?)?)))
}

/// Maestro moves the phone along straight lines, and so do we: once a second.
pub(super) fn travel(
    arguments: &mut Arguments<'_>,
    context: &mut ParseContext,
) -> Option<StepKind> {
    /// The speed if none is arguments, in metres per second: a slow walk.
    const SPEED: f64 = 1.0;
    let parameters = arguments.parameters();
    let at = arguments.value.at.clone();
    let map = arguments.keys(context)?;
    let speed = match map.take("speed") {
        Some(speed) => value::number(speed, "`speed`", [0.001, 1e9], parameters, context)?,
        None => SPEED,
    };
    let Some(points) = map.take("points") else {
        context.error(map.at(), "`travel` needs `points`, such as \"48.8578, 2.2951\"");
        return None;
    };
    let mut locations = Vec::new();
    for point in context.list(points, "`points`") {
        let text = value::nonempty_text(point, "a point", parameters, context)?;
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
    for location in route(&locations, speed) {
        if steps.len() >= MAX_PLACES {
            let what = format!(
                "`travel` takes more than {} s; use a higher `speed` in metres per second, or fewer points",
                MAX_PLACES / 2
            );
            context.error(&points.at, what);
            return None;
        }
        steps.push(inner_step(&at, StepKind::Act(Action::SetLocation(location))));
        steps.push(inner_step(&at, StepKind::Act(Action::Wait(Duration::from_secs(1)))));
    }
    Some(StepKind::When { conditions: Vec::new(), steps })
}

/// The places on the way, a second apart; the arguments points are among them.
fn route(points: &[Location], speed: f64) -> impl Iterator<Item = Location> {
    let legs = points.windows(2).flat_map(move |leg| {
        let (from, to) = (leg[0], leg[1]);
        let seconds = (distance(from, to) / speed).ceil().clamp(1.0, 1e6);
        (0..seconds as u32).map(move |second| {
            let done = f64::from(second) / seconds;
            let between = |a: f64, b: f64| a + (b - a) * done;
            Location {
                latitude: between(from.latitude, to.latitude),
                longitude: between(from.longitude, to.longitude),
            }
        })
    });
    legs.chain(points.last().copied())
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
    let parameters = arguments.parameters();
    let named = match (&mut arguments.map, &arguments.value.kind) {
        (Some(map), _) => {
            let named = map.text("appId", parameters, context);
            if named.is_none() && map.was_taken("appId") {
                return None;
            }
            if let Some(url) = map.text("url", parameters, context) {
                return Some(Launched::Url(url));
            }
            named
        }
        (None, ValueKind::Null) => None,
        (None, _) => {
            Some(value::nonempty_text(arguments.value, &arguments.of, parameters, context)?)
        }
    };
    Some(named.map_or_else(|| arguments.scope.target.clone(), |app| Launched::App(AppId(app))))
}

fn just_app(arguments: &mut Arguments<'_>, context: &mut ParseContext) -> Option<AppId> {
    match app_of(arguments, context)? {
        Launched::App(app) => Some(app),
        Launched::Url(url) => {
            let what = format!("{} needs an `appId`: this flow is for {url}", arguments.of);
            context.error(&arguments.value.at, what);
            None
        }
        Launched::Unknown => None,
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

fn inner_step(at: &SourceLocation, kind: StepKind) -> FlowStep {
    FlowStep { at: at.clone(), name: None, kind, optional: false, retry: 0, timeout: LOOKUP }
}

/// `all` first, then the others.
fn permission_steps(
    app: &AppId,
    value: &Value,
    arguments: &Arguments<'_>,
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
        let granted = value::one_of(value, &of, &VALUES, arguments.parameters(), context)?;
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
    fn way_has_a_place_for_each_second() {
        let location = |latitude, longitude| Location { latitude, longitude };
        // A degree of latitude has 111 km.
        let all: Vec<Location> =
            route(&[location(0.0, 0.0), location(1.0, 0.0)], 30_000.0).collect();
        assert_eq!(all.len(), 5);
        assert_eq!(
            (all[0], all[2], all[4]),
            (location(0.0, 0.0), location(0.5, 0.0), location(1.0, 0.0))
        );
        let paris_to_rome = distance(location(48.8578, 2.2951), location(41.8902, 12.4922));
        assert!((1_100_000.0..1_115_000.0).contains(&paris_to_rome), "{paris_to_rome}");
        assert_eq!(route(&[], 1.0).count(), 0);
    }
}
