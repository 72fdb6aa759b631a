//! Commands that touch the screen or press keys: taps, swipes, scrolling, orientation.

use std::time::Duration;

use thumbwire_device::{Key, KeyCode, Orientation, Point};

use super::arguments::Arguments;
use super::context::{Filled, ParseContext, names};
use super::selector::{element, has_selector};
use super::value;
use crate::plan::{Place, RelativePoint, SCROLL_DISTANCE, ScrollTo, StepKind, SwipeEnd, Touch};
use crate::yaml::{Value, ValueKind};
use thumbwire_core::action::{Action, Direction};

/// The time between repeated taps.
const PAUSE: Duration = Duration::from_millis(100);

/// How long `longPressOn` holds.
const PRESS: Duration = Duration::from_secs(3);

/// The duration of a swipe.
const SWIPE: Duration = Duration::from_millis(400);

/// How long `scrollUntilVisible` scrolls.
const SCROLLING: Duration = Duration::from_secs(20);

const DIRECTIONS: [(&str, Direction); 4] = [
    ("UP", Direction::Up),
    ("DOWN", Direction::Down),
    ("LEFT", Direction::Left),
    ("RIGHT", Direction::Right),
];

/// Keys by Maestro's names, and Android's code if we have no key for it.
const KEYS: [(&str, Key); 30] = [
    ("home", Key::Home),
    ("back", Key::Back),
    ("volume up", Key::VolumeUp),
    ("volume down", Key::VolumeDown),
    ("power", Key::Power),
    ("lock", Key::Power),
    ("enter", Key::Android(KeyCode(66))),
    ("backspace", Key::Android(KeyCode(67))),
    ("tab", Key::Android(KeyCode(61))),
    ("escape", Key::Android(KeyCode(111))),
    ("remote dpad up", Key::Android(KeyCode(19))),
    ("remote dpad down", Key::Android(KeyCode(20))),
    ("remote dpad left", Key::Android(KeyCode(21))),
    ("remote dpad right", Key::Android(KeyCode(22))),
    ("remote dpad center", Key::Android(KeyCode(23))),
    ("remote media play pause", Key::Android(KeyCode(85))),
    ("remote media stop", Key::Android(KeyCode(86))),
    ("remote media next", Key::Android(KeyCode(87))),
    ("remote media previous", Key::Android(KeyCode(88))),
    ("remote media rewind", Key::Android(KeyCode(89))),
    ("remote media fast forward", Key::Android(KeyCode(90))),
    ("remote button a", Key::Android(KeyCode(96))),
    ("remote button b", Key::Android(KeyCode(97))),
    ("remote menu", Key::Menu),
    ("remote system navigation up", Key::Android(KeyCode(280))),
    ("remote system navigation down", Key::Android(KeyCode(281))),
    ("tv input", Key::Android(KeyCode(178))),
    ("tv input hdmi 1", Key::Android(KeyCode(243))),
    ("tv input hdmi 2", Key::Android(KeyCode(244))),
    ("tv input hdmi 3", Key::Android(KeyCode(245))),
];

/// Maestro's name of a key.
pub(crate) fn key_name(key: Key) -> Option<&'static str> {
    KEYS.iter().find(|(_, known)| *known == key).map(|(name, _)| *name)
}

pub(super) fn tap(arguments: &mut Arguments<'_>, context: &mut ParseContext) -> Option<StepKind> {
    touch(arguments, context).map(StepKind::Touch)
}

pub(super) fn double_tap(
    arguments: &mut Arguments<'_>,
    context: &mut ParseContext,
) -> Option<StepKind> {
    touch(arguments, context).map(|touch| StepKind::Touch(Touch { taps: 2, ..touch }))
}

pub(super) fn long_press(
    arguments: &mut Arguments<'_>,
    context: &mut ParseContext,
) -> Option<StepKind> {
    let duration = match &mut arguments.map {
        Some(map) => map.time("duration", context),
        None => None,
    };
    let held = Some(duration.unwrap_or(PRESS));
    touch(arguments, context).map(|touch| StepKind::Touch(Touch { held, ..touch }))
}

fn touch(arguments: &mut Arguments<'_>, context: &mut ParseContext) -> Option<Touch> {
    let once = |at| Touch { at, held: None, taps: 1, pause: PAUSE, again_if_unchanged: false };
    let Some(map) = &mut arguments.map else {
        return Some(once(Place::Element(arguments.element(context)?, None)));
    };
    let taps = map.count("repeat", 1000, context).unwrap_or(1).max(1);
    let pause = map.time("delay", context).unwrap_or(PAUSE);
    let again = map.boolean("retryTapIfNoChange", context).unwrap_or_default();
    // Hints of how long to wait for animations: each command waits for what it needs.
    map.time("waitToSettleTimeoutMs", context);
    map.boolean("waitUntilVisible", context);
    let point = match map.take("point") {
        Some(point) => Some(relative_point(point, "`point`", context)?),
        None => None,
    };
    let at = match point {
        Some(point) if !has_selector(map) => Place::Point(point),
        _ => Place::Element(arguments.element(context)?, point),
    };
    Some(Touch { taps, pause, again_if_unchanged: again, ..once(at) })
}

/// `50%,50%` or `100,200`.
fn relative_point(value: &Value, of: &str, context: &mut ParseContext) -> Option<RelativePoint> {
    let text = match value::filled(value, of, context)? {
        Filled::Known(text) => text,
        Filled::Pending(_) => return Some(RelativePoint::Percent(50.0, 50.0)),
    };
    let point = text.split_once(',').and_then(|(x, y)| {
        let (x, y) = (x.trim(), y.trim());
        match (x.strip_suffix('%'), y.strip_suffix('%')) {
            (Some(x), Some(y)) => {
                let percent = |text: &str| {
                    let number = text.trim().parse::<f64>().ok();
                    number.filter(|number| (0.0..=100.0).contains(number))
                };
                Some(RelativePoint::Percent(percent(x)?, percent(y)?))
            }
            (None, None) => {
                let pixel = |text: &str| {
                    text.parse::<i32>().ok().filter(|pixel| (0..=20_000).contains(pixel))
                };
                Some(RelativePoint::Pixels(Point { x: pixel(x)?, y: pixel(y)? }))
            }
            _ => None,
        }
    });
    if point.is_none() {
        let what = format!("{of} must be a point such as \"50%,50%\" or \"100,200\", not {text:?}");
        context.error(&value.at, what);
    }
    point
}

pub(super) fn swipe(arguments: &mut Arguments<'_>, context: &mut ParseContext) -> Option<StepKind> {
    let map = arguments.keys(context)?;
    let duration = map.time("duration", context).unwrap_or(SWIPE);
    map.time("waitToSettleTimeoutMs", context);
    if let (Some(start), Some(end)) = (map.take("start"), map.take("end")) {
        let start = relative_point(start, "`start`", context);
        let end = relative_point(end, "`end`", context);
        let (from, to) = (Place::Point(start?), SwipeEnd::Point(end?));
        return Some(StepKind::SwipeFrom { from, to, duration });
    }
    let from = match map.take("from") {
        Some(from) => {
            let point = match from.entry("point") {
                Some(point) => Some(relative_point(point, "`point`", context)?),
                None => None,
            };
            Some(Place::Element(element(from, "`from`", context)?, point))
        }
        None => None,
    };
    let Some(direction) = map.one_of("direction", &DIRECTIONS, context) else {
        if !map.was_taken("direction") {
            context.error(map.at(), "`swipe` needs a `direction`, or `start` and `end`");
        }
        return None;
    };
    if let Some(from) = from {
        let to = SwipeEnd::Edge(direction);
        return Some(StepKind::SwipeFrom { from, to, duration });
    }
    let (from, to) = match direction {
        Direction::Up => ((50.0, 50.0), (50.0, 10.0)),
        Direction::Down => ((50.0, 20.0), (50.0, 90.0)),
        Direction::Left => ((90.0, 50.0), (10.0, 50.0)),
        Direction::Right => ((10.0, 50.0), (90.0, 50.0)),
    };
    let percent = |(x, y)| RelativePoint::Percent(x, y);
    let (from, to) = (Place::Point(percent(from)), SwipeEnd::Point(percent(to)));
    Some(StepKind::SwipeFrom { from, to, duration })
}

pub(super) fn scroll() -> StepKind {
    StepKind::Act(Action::Scroll { direction: Direction::Down, distance: SCROLL_DISTANCE })
}

pub(super) fn scroll_until_visible(
    arguments: &mut Arguments<'_>,
    context: &mut ParseContext,
) -> Option<StepKind> {
    let map = arguments.keys(context)?;
    let direction = map.one_of("direction", &DIRECTIONS, context);
    let within = match map.take("timeout") {
        Some(value) => value::number(value, "`timeout`", [-1e9, 1e9], context)?,
        None => -1.0,
    };
    // Maestro's rule for a negative time.
    let within = Duration::try_from_secs_f64(within / 1000.0).unwrap_or(SCROLLING);
    // A slower finger only guards against skipping, and our scrolls skip nothing.
    map.take("speed").map(|value| value::number(value, "`speed`", [-1e9, 1e9], context));
    map.time("waitToSettleTimeoutMs", context);
    let share = match map.take("visibilityPercentage") {
        Some(value) => value::number(value, "`visibilityPercentage`", [-1e6, 1e6], context)?,
        None => 100.0,
    };
    let center = map.boolean("centerElement", context).unwrap_or_default();
    let Some(value) = map.take("element") else {
        context.error(map.at(), "`scrollUntilVisible` needs an `element`");
        return None;
    };
    Some(StepKind::ScrollTo(ScrollTo {
        element: element(value, "`element`", context)?,
        direction: direction.unwrap_or(Direction::Down),
        within,
        visible_share: share.clamp(0.0, 100.0) / 100.0,
        center,
    }))
}

pub(super) fn back() -> StepKind {
    StepKind::Act(Action::Press(Key::Back))
}

pub(super) fn press_key(
    arguments: &mut Arguments<'_>,
    context: &mut ParseContext,
) -> Option<StepKind> {
    let at = &arguments.value.at;
    let value = match &mut arguments.map {
        Some(map) => map.take("key").unwrap_or(arguments.value),
        None => arguments.value,
    };
    let name = match value::filled(value, &arguments.of, context)? {
        Filled::Known(name) => name,
        Filled::Pending(_) => return Some(StepKind::Act(Action::Press(Key::Home))),
    };
    let key = KEYS.iter().find(|(known, _)| known.eq_ignore_ascii_case(name.trim()));
    let key = key.map(|(_, key)| *key);
    // Maestro has no name for most of Android's keys.
    let is_android = name.starts_with("KEYCODE_");
    let key = key.or_else(|| KeyCode::from_name(&name).filter(|_| is_android).map(Key::Android));
    if key.is_none() {
        let known: Vec<&str> = KEYS.iter().map(|(name, _)| *name).collect();
        let what = format!(
            "unknown key {name:?}; known ones: {}, and Android's such as `KEYCODE_MENU`",
            names(&known)
        );
        context.error(at, what);
    }
    key.map(|key| StepKind::Act(Action::Press(key)))
}

pub(super) fn set_orientation(
    arguments: &mut Arguments<'_>,
    context: &mut ParseContext,
) -> Option<StepKind> {
    // Maestro passes over underscores, and capitals.
    const ORIENTATIONS: [(&str, Option<Orientation>); 7] = [
        ("PORTRAIT", Some(Orientation::Portrait)),
        ("LANDSCAPE_LEFT", Some(Orientation::Landscape)),
        ("LANDSCAPE_RIGHT", Some(Orientation::Landscape)),
        ("UPSIDE_DOWN", None),
        ("landscapeLeft", Some(Orientation::Landscape)),
        ("landscapeRight", Some(Orientation::Landscape)),
        ("upsideDown", None),
    ];
    let orientation = match &mut arguments.map {
        Some(map) => map.one_of("orientation", &ORIENTATIONS, context),
        None => value::one_of(arguments.value, &arguments.of, &ORIENTATIONS, context),
    };
    match orientation? {
        Some(orientation) => Some(StepKind::Act(Action::SetOrientation(orientation))),
        None => {
            let what =
                "`setOrientation: UPSIDE_DOWN` is not supported: use PORTRAIT or LANDSCAPE_LEFT";
            Some(StepKind::Unavailable(what.into()))
        }
    }
}

/// `action: back`, as early flows have it.
pub(super) fn action(
    arguments: &mut Arguments<'_>,
    context: &mut ParseContext,
) -> Option<StepKind> {
    let these = ["back", "hideKeyboard", "scroll", "clearKeychain", "pasteText"];
    if matches!(arguments.value.kind, ValueKind::Text(_)) {
        let named: Vec<(&str, &str)> = these.iter().map(|name| (*name, *name)).collect();
        let name = value::one_of(arguments.value, &arguments.of, &named, context)?;
        return Some(match name {
            "back" => back(),
            "hideKeyboard" => StepKind::HideKeyboard,
            "scroll" => scroll(),
            "clearKeychain" => StepKind::ClearKeychain,
            _ => StepKind::Paste,
        });
    }
    context.error(&arguments.value.at, format!("`action` must be one of {}", names(&these)));
    None
}
