//! Parses steps: the kinds of steps, their keys, and the [`Action`] each becomes.
//!
//! Begin with [`DEEDS`], which lists all kinds. Targets and assertions are parsed in `parse_locator`.

use std::time::Duration;

use thumbwire_device::{Gesture, Key, KeyCode, Orientation};

use super::error::nearest;
use super::parse_file::{Reader, Scope, app_id, check_name};
use super::parse_golden::expect_screenshot;
use super::parse_locator::{TouchTarget, parse_assertion, parse_locator, point_at, touch};
use super::parse_phone_step::{
    clear, clipboard, install, open_link, paste, permissions, set_location,
};
use super::parse_value::{Parameters, ParseContext, names, suggestion};
use super::plan::{FlowStep, ScrollTo, StepKind};
use super::yaml::{Value, ValueKind};
use thumbwire_core::action::{Action, AppSelector, Direction};

/// The kinds of steps.
pub(super) const DEEDS: [&str; 25] = [
    "launch",
    "stop",
    "clear",
    "install",
    "permissions",
    "open_link",
    "tap",
    "long_press",
    "type",
    "press",
    "swipe",
    "scroll",
    "wait",
    "wait_for",
    "expect",
    "expect_screenshot",
    "screenshot",
    "clipboard",
    "paste",
    "set_location",
    "orientation",
    "unlock",
    "run",
    "repeat",
    "goal",
];

/// The keys that any step may have.
const BESIDE: [&str; 4] = ["name", "optional", "retry", "timeout"];

/// The default duration of a swipe (Mobile MCP server specification).
const SWIPE: Duration = Duration::from_millis(500);

/// The default duration of a long press (Mobile MCP server specification).
const PRESS: Duration = Duration::from_secs(1);

/// The longest unconditional wait.
const LONGEST_WAIT: Duration = Duration::from_secs(600);

const DIRECTIONS: [(&str, Direction); 4] = [
    ("up", Direction::Up),
    ("down", Direction::Down),
    ("left", Direction::Left),
    ("right", Direction::Right),
];

impl Reader<'_> {
    /// Parses one step.
    pub(super) fn step(
        &mut self,
        value: &Value,
        scope: &Scope,
        reading: &mut ParseContext,
    ) -> Option<FlowStep> {
        let known = &scope.parameters;
        if let ValueKind::Text(word) = &value.kind {
            // `- launch`: a step without arguments.
            let nothing = Value { at: value.at.clone(), kind: ValueKind::Null };
            let deed = self.action(word, &nothing, scope, reading)?;
            let at = value.at.clone();
            return Some(FlowStep {
                at,
                name: None,
                deed,
                optional: false,
                retry: 0,
                timeout: scope.patience,
            });
        }
        let mut map = reading.map(value, "a step")?;
        let name = map.take("name").and_then(|name| reading.interpolate(name, "`name`", known));
        let optional = map.take("optional").and_then(|is| reading.boolean(is, "`optional`", known));
        let retry = map.take("retry").and_then(|n| reading.count(n, "`retry`", [0, 100], known));
        let patience = map.take("timeout").and_then(|time| reading.time(time, "`timeout`", known));
        let scope = Scope { patience: patience.unwrap_or(scope.patience), ..scope.clone() };
        let mut rest = map.rest();
        let Some((key, inner)) = rest.next() else {
            reading.error(&value.at, format!("a step needs one of {}", names(&DEEDS)));
            return None;
        };
        if let Some((other, _)) = rest.next() {
            let both = [key, other].iter().all(|one| DEEDS.contains(&one.name.as_str()));
            let odd = if DEEDS.contains(&key.name.as_str()) { other } else { key };
            let what = if both {
                format!(
                    "a step can have only one action; write `- {}:` to start a new step",
                    other.name
                )
            } else {
                let meant = suggestion(nearest(&odd.name, DEEDS.iter().chain(&BESIDE).copied()));
                format!(
                    "unknown key `{}` in a step; besides its action it takes {}{meant}",
                    odd.name,
                    names(&BESIDE)
                )
            };
            reading.error(&if both { other } else { odd }.at, what);
            return None;
        }
        let named = Value { at: key.at.clone(), kind: inner.kind.clone() };
        // Errors about an empty value point to its key.
        let inner = if inner.kind == ValueKind::Null { &named } else { inner };
        if !DEEDS.contains(&key.name.as_str()) {
            unknown(&key.name, &key.at, reading);
            return None;
        }
        let (inner, patience) = impatient(&key.name, inner);
        let patience = patience.and_then(|time| reading.time(time, "`timeout`", known));
        let scope = Scope { patience: patience.unwrap_or(scope.patience), ..scope };
        let deed = self.action(&key.name, &inner, &scope, reading)?;
        let optional = optional.unwrap_or_default();
        let retry = retry.unwrap_or_default();
        Some(FlowStep {
            at: value.at.clone(),
            name,
            deed,
            optional,
            retry,
            timeout: scope.patience,
        })
    }

    fn action(
        &mut self,
        word: &str,
        value: &Value,
        scope: &Scope,
        reading: &mut ParseContext,
    ) -> Option<StepKind> {
        let known = &scope.parameters;
        Some(match word {
            "launch" => StepKind::Act(Action::Launch(launched(value, scope, reading)?)),
            "stop" => StepKind::Act(Action::Stop(match (&value.kind, &scope.app) {
                (ValueKind::Null, Some(app)) => app.clone(),
                (ValueKind::Null, None) => return no_app("stop", value, reading),
                _ => app_id(value, "`stop`", known, reading)?,
            })),
            "tap" => touch(value, "`tap`", known, reading)?
                .parse_touch(StepKind::Tap, |at| Gesture::Tap { at }),
            "long_press" => {
                let TouchTarget { aim, held } = touch(value, "`long_press`", known, reading)?;
                let held = held.unwrap_or(PRESS);
                let press = |at| Gesture::LongPress { at, held };
                TouchTarget { aim, held: None }
                    .parse_touch(|sought| StepKind::LongPress(sought, held), press)
            }
            "type" => typing(value, known, reading)?,
            "press" => StepKind::Act(Action::Press(key(value, known, reading)?)),
            "swipe" => StepKind::Act(swipe(value, known, reading)?),
            "scroll" => scroll(value, known, reading)?,
            "wait" => {
                let time = reading.time(value, "`wait`", known)?;
                if time > LONGEST_WAIT {
                    let most = LONGEST_WAIT.as_secs();
                    reading.error(
                        &value.at,
                        format!("`wait` must be at most {most} s; to wait for an element, use `wait_for`"),
                    );
                    return None;
                }
                StepKind::Act(Action::Wait(time))
            }
            "wait_for" | "expect" => {
                StepKind::Expect(parse_assertion(value, word, known, reading)?)
            }
            "screenshot" => match &value.kind {
                ValueKind::Null => StepKind::Screenshot(None),
                _ => {
                    StepKind::Screenshot(Some(reading.interpolate(value, "`screenshot`", known)?))
                }
            },
            "clear" => clear(value, scope, reading)?,
            "install" => install(value, known, reading)?,
            "permissions" => permissions(value, scope, reading)?,
            "open_link" => open_link(value, known, reading)?,
            "clipboard" => clipboard(value, known, reading)?,
            "paste" => paste(value, known, reading)?,
            "set_location" => set_location(value, known, reading)?,
            "expect_screenshot" => expect_screenshot(value, known, reading)?,
            "unlock" => StepKind::Act(Action::Unlock),
            "orientation" => {
                let these =
                    [("portrait", Orientation::Portrait), ("landscape", Orientation::Landscape)];
                StepKind::Act(Action::SetOrientation(reading.one_of(
                    value,
                    "`orientation`",
                    &these,
                    known,
                )?))
            }
            "run" => self.run(value, scope, reading)?,
            "repeat" => self.repeat(value, scope, reading)?,
            "goal" => StepKind::Goal(reading.interpolate(value, "`goal`", known)?),
            other => {
                unknown(other, &value.at, reading);
                return None;
            }
        })
    }

    fn run(
        &mut self,
        value: &Value,
        scope: &Scope,
        reading: &mut ParseContext,
    ) -> Option<StepKind> {
        let mut with = Parameters::new();
        let file = match &value.kind {
            ValueKind::Map(_) => {
                let mut map = reading.map(value, "`run`")?;
                if let Some(given) = map.take("with").and_then(|with| reading.map(with, "`with`")) {
                    for (key, value) in given.rest() {
                        check_name(&key.name, &key.at, reading);
                        let of = format!("the parameter {}", key.name);
                        if let Some(value) = reading.text(value, &of, &scope.parameters) {
                            with.insert(key.name.clone(), value);
                        }
                    }
                }
                let file = map.take("flow");
                if file.is_none() {
                    reading.error(map.at(), "`run` needs a `flow`: the file to run");
                }
                let file =
                    file.and_then(|file| reading.interpolate(file, "`flow`", &scope.parameters));
                map.end(reading, "`run`");
                file?
            }
            _ => reading.interpolate(value, "`run`", &scope.parameters)?,
        };
        let steps = self.included(&file, &value.at, &with, scope, reading);
        Some(StepKind::Run { file, steps })
    }

    fn repeat(
        &mut self,
        value: &Value,
        scope: &Scope,
        reading: &mut ParseContext,
    ) -> Option<StepKind> {
        const OFTEN: u32 = 10;
        let mut map = reading.map(value, "`repeat`")?;
        let until = map
            .take("until")
            .map(|until| parse_locator(until, "`until`", &scope.parameters, reading));
        // With `until` it is a limit.
        let (key, times) = match until {
            Some(_) => ("`max`", map.take_renamed("max", "times")),
            None => ("`times`", map.take("times")),
        };
        if times.is_none() && until.is_none() {
            reading.error(map.at(), "`repeat` needs `times` or `until`");
        }
        let times = times.and_then(|n| reading.count(n, key, [1, 1000], &scope.parameters));
        let steps = map.take("steps");
        if steps.is_none() {
            reading.error(map.at(), "`repeat` needs `steps`");
        }
        let steps = steps.map(|steps| self.steps(steps, scope, reading));
        map.end(reading, "`repeat`");
        let until = match until {
            Some(until) => Some(until?),
            None => None,
        };
        Some(StepKind::Repeat { times: times.unwrap_or(OFTEN), until, steps: steps? })
    }
}

/// Steps that wait for something also accept `timeout` among their own keys. Removes it there and returns it.
fn impatient<'a>(word: &str, value: &'a Value) -> (Value, Option<&'a Value>) {
    let waits = ["tap", "long_press", "type", "wait_for", "expect"].contains(&word);
    match &value.kind {
        ValueKind::Map(entries) if waits => {
            let (times, rest): (Vec<_>, Vec<_>) =
                entries.iter().partition(|(key, _)| key.name == "timeout");
            let rest = ValueKind::Map(rest.into_iter().cloned().collect());
            (Value { at: value.at.clone(), kind: rest }, times.first().map(|(_, time)| time))
        }
        _ => (value.clone(), None),
    }
}

fn unknown(word: &str, at: &super::error::SourceLocation, reading: &mut ParseContext) {
    let hint = nearest(word, DEEDS).map_or_else(
        || format!("; a step needs one of {}", names(&DEEDS)),
        |near| suggestion(Some(near)),
    );
    reading.error(at, format!("unknown step `{word}`{hint}"));
}

fn no_app<T>(of: &str, value: &Value, reading: &mut ParseContext) -> Option<T> {
    reading.error(
        &value.at,
        format!("`{of}` needs an app: name one here, or set `app` for the case or flow"),
    );
    None
}

/// An app id if it contains a dot, else a part of a name.
fn launched(value: &Value, scope: &Scope, reading: &mut ParseContext) -> Option<AppSelector> {
    match (&value.kind, &scope.app) {
        (ValueKind::Null, Some(app)) => Some(AppSelector::Id(app.clone())),
        (ValueKind::Null, None) => no_app("launch", value, reading),
        _ => {
            let text = reading.interpolate(value, "`launch`", &scope.parameters)?;
            Some(if text.contains('.') {
                AppSelector::Id(thumbwire_device::AppId(text))
            } else {
                AppSelector::Named(text)
            })
        }
    }
}

fn typing(value: &Value, parameters: &Parameters, reading: &mut ParseContext) -> Option<StepKind> {
    let ValueKind::Map(_) = value.kind else {
        let text = reading.interpolate(value, "`type`", parameters)?;
        let written = reading.written(value, "`type`")?.to_owned();
        return Some(StepKind::Type { text, written, into: None, clear: false, submit: false });
    };
    let mut map = reading.map(value, "`type`")?;
    let text = map.take("text");
    if text.is_none() {
        reading.error(map.at(), "`type` needs a `text`");
    }
    let written =
        text.and_then(|text| reading.written(text, "`text`")).unwrap_or_default().to_owned();
    let text = text.and_then(|text| reading.text(text, "`text`", parameters));
    let into = map.take("into").map(|into| parse_locator(into, "`into`", parameters, reading));
    let mut truth = |key: &'static str| {
        let is =
            map.take(key).and_then(|value| reading.boolean(value, &format!("`{key}`"), parameters));
        is.unwrap_or_default()
    };
    let [clear, submit] = ["clear", "submit"].map(&mut truth);
    map.end(reading, "`type`");
    let into = match into {
        Some(into) => Some(into?),
        None => None,
    };
    Some(StepKind::Type { text: text?, written, into, clear, submit })
}

fn key(value: &Value, parameters: &Parameters, reading: &mut ParseContext) -> Option<Key> {
    let name = reading.interpolate(value, "`press`", parameters)?;
    let key = Key::from_name(&name).or_else(|| KeyCode::from_name(&name).map(Key::Android));
    if key.is_none() {
        let common: Vec<_> = Key::COMMON.iter().map(|key| key.name()).collect();
        let common: Vec<&str> = common.iter().map(AsRef::as_ref).collect();
        let also = ["enter", "tab", "del", "space", "escape", "app_switch"];
        let hint = suggestion(nearest(&name, common.iter().copied().chain(also)));
        let what = format!(
            "`press` must be one of {}, or an Android key such as `enter` or `KEYCODE_TAB`, not {name:?}{hint}",
            names(&common)
        );
        reading.error(&value.at, what);
    }
    key
}

fn swipe(value: &Value, parameters: &Parameters, reading: &mut ParseContext) -> Option<Action> {
    let ValueKind::Map(_) = value.kind else {
        let direction = reading.one_of(value, "`swipe`", &DIRECTIONS, parameters)?;
        return Some(Action::Swipe { direction, distance: None, lasting: SWIPE });
    };
    let mut map = reading.map(value, "`swipe`")?;
    let lasting =
        map.take("duration").and_then(|time| reading.time(time, "`duration`", parameters));
    let lasting = lasting.unwrap_or(SWIPE);
    let swipe = if map.has(&["from", "to"]) {
        let mut end = |key: &'static str| match map.take(key) {
            Some(point) => point_at(point, &format!("`{key}`"), parameters, reading),
            None => {
                reading.error(map.at(), "`swipe` needs `from` and `to`, or a `direction`");
                None
            }
        };
        let (from, to) = (end("from"), end("to"));
        from.zip(to).map(|(from, to)| Action::Touch(Gesture::Swipe { from, to, lasting }))
    } else if let Some(direction) = map.take("direction") {
        let direction = reading.one_of(direction, "`direction`", &DIRECTIONS, parameters);
        let distance = map.take("distance");
        let distance =
            distance.and_then(|n| reading.count(n, "`distance`", [1, 20_000], parameters));
        let distance = distance.and_then(|pixels| i32::try_from(pixels).ok());
        direction.map(|direction| Action::Swipe { direction, distance, lasting })
    } else {
        reading.error(map.at(), "`swipe` needs a `direction`, or `from` and `to`");
        None
    };
    map.end(reading, "`swipe`");
    swipe
}

fn scroll(value: &Value, parameters: &Parameters, reading: &mut ParseContext) -> Option<StepKind> {
    /// Short enough that nothing is skipped.
    const HALF: f64 = 0.5;
    const OFTEN: u32 = 20;
    let ValueKind::Map(_) = value.kind else {
        let direction = match value.kind {
            ValueKind::Null => Direction::Down,
            _ => reading.one_of(value, "`scroll`", &DIRECTIONS, parameters)?,
        };
        return Some(StepKind::Act(Action::Scroll { direction, distance: HALF }));
    };
    let mut map = reading.map(value, "`scroll`")?;
    let direction = map.take("direction");
    let direction =
        direction.map(|one| reading.one_of(one, "`direction`", &DIRECTIONS, parameters));
    let distance = map.take("distance");
    let distance = distance.map(|n| reading.number(n, "`distance`", [0.05, 10.0], parameters));
    let until = map.take("until").map(|until| parse_locator(until, "`until`", parameters, reading));
    let max = map.take_renamed("max", "most");
    let max = max.map(|n| reading.count(n, "`max`", [1, 1000], parameters));
    map.end(reading, "`scroll`");
    let direction = direction.unwrap_or(Some(Direction::Down))?;
    let distance = distance.unwrap_or(Some(HALF))?;
    let max = max.unwrap_or(Some(OFTEN))?;
    Some(match until {
        Some(sought) => StepKind::ScrollTo(ScrollTo {
            sought: sought?,
            direction,
            distance,
            max,
            within: None,
            visible_share: 0.0,
            center: false,
        }),
        None => StepKind::Act(Action::Scroll { direction, distance }),
    })
}
