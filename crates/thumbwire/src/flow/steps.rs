//! Reads steps: what each can be, what it takes, and which [`Action`] it becomes.
//!
//! Begin with [`DEEDS`], which names them all. What they are done to, and what is expected of it, is read in `aims`.

use std::time::Duration;

use thumbwire_device::{Gesture, Key, KeyCode, Orientation};

use super::aims::{Touch, expected, point_at, sought, touch};
use super::cases::{Reader, Scope, app_id, check_name};
use super::mistake::nearest;
use super::plan::{Deed, Step};
use super::read::{Parameters, Reading, meant, names};
use super::yaml::{Is, Value};
use crate::action::{Action, Choice, Direction};

/// What a step can do.
pub(super) const DEEDS: [&str; 16] = [
    "launch",
    "stop",
    "tap",
    "long_press",
    "type",
    "press",
    "swipe",
    "scroll",
    "wait",
    "wait_for",
    "expect",
    "screenshot",
    "orientation",
    "run",
    "repeat",
    "goal",
];

/// What stands beside it.
const BESIDE: [&str; 4] = ["name", "optional", "retry", "timeout"];

/// How long a finger that swipes takes, where nobody says (seed 004's default).
const SWIPE: Duration = Duration::from_millis(500);

/// How long a finger stays for a long press, where nobody says (seed 004's default).
const PRESS: Duration = Duration::from_secs(1);

/// The longest that a step may wait for nothing.
const LONGEST_WAIT: Duration = Duration::from_secs(600);

const DIRECTIONS: [(&str, Direction); 4] = [
    ("up", Direction::Up),
    ("down", Direction::Down),
    ("left", Direction::Left),
    ("right", Direction::Right),
];

impl Reader<'_> {
    /// One step.
    pub(super) fn step(
        &mut self,
        value: &Value,
        scope: &Scope,
        reading: &mut Reading,
    ) -> Option<Step> {
        let known = &scope.known;
        if let Is::Text(word) = &value.is {
            // `- launch`: a step that takes nothing.
            let nothing = Value { at: value.at.clone(), is: Is::Nothing };
            let deed = self.deed(word, &nothing, scope, reading)?;
            let at = value.at.clone();
            return Some(Step {
                at,
                name: None,
                deed,
                optional: false,
                retry: 0,
                patience: scope.patience,
            });
        }
        let mut map = reading.map(value, "a step")?;
        let name = map.take("name").and_then(|name| reading.filled(name, "`name`", known));
        let optional = map.take("optional").and_then(|is| reading.truth(is, "`optional`", known));
        let retry = map.take("retry").and_then(|n| reading.count(n, "`retry`", [0, 100], known));
        let patience = map.take("timeout").and_then(|time| reading.time(time, "`timeout`", known));
        let scope = Scope { patience: patience.unwrap_or(scope.patience), ..scope.clone() };
        let mut rest = map.rest();
        let Some((key, inner)) = rest.next() else {
            reading.wrong(&value.at, format!("a step does one of {}", names(&DEEDS)));
            return None;
        };
        if let Some((other, _)) = rest.next() {
            let both = [key, other].iter().all(|one| DEEDS.contains(&one.name.as_str()));
            let odd = if DEEDS.contains(&key.name.as_str()) { other } else { key };
            let what = if both {
                format!(
                    "a step does one thing, and this is the second: write `- {}:` for it",
                    other.name
                )
            } else {
                let meant = meant(nearest(&odd.name, DEEDS.iter().chain(&BESIDE).copied()));
                format!(
                    "a step has no `{}`; beside what it does stand {}{meant}",
                    odd.name,
                    names(&BESIDE)
                )
            };
            reading.wrong(&if both { other } else { odd }.at, what);
            return None;
        }
        let named = Value { at: key.at.clone(), is: inner.is.clone() };
        // What is wrong with an empty value is told where its key stands.
        let inner = if inner.is == Is::Nothing { &named } else { inner };
        if !DEEDS.contains(&key.name.as_str()) {
            unknown(&key.name, &key.at, reading);
            return None;
        }
        let (inner, patience) = impatient(&key.name, inner);
        let patience = patience.and_then(|time| reading.time(time, "`timeout`", known));
        let scope = Scope { patience: patience.unwrap_or(scope.patience), ..scope };
        let deed = self.deed(&key.name, &inner, &scope, reading)?;
        let optional = optional.unwrap_or_default();
        let retry = retry.unwrap_or_default();
        Some(Step { at: value.at.clone(), name, deed, optional, retry, patience: scope.patience })
    }

    fn deed(
        &mut self,
        word: &str,
        value: &Value,
        scope: &Scope,
        reading: &mut Reading,
    ) -> Option<Deed> {
        let known = &scope.known;
        Some(match word {
            "launch" => Deed::Act(Action::Launch(launched(value, scope, reading)?)),
            "stop" => Deed::Act(Action::Stop(match (&value.is, &scope.app) {
                (Is::Nothing, Some(app)) => app.clone(),
                (Is::Nothing, None) => return no_app("stop", value, reading),
                _ => app_id(value, "`stop`", known, reading)?,
            })),
            "tap" => {
                touch(value, "`tap`", known, reading)?.deed(Deed::Tap, |at| Gesture::Tap { at })
            }
            "long_press" => {
                let Touch { aim, held } = touch(value, "`long_press`", known, reading)?;
                let held = held.unwrap_or(PRESS);
                let press = |at| Gesture::LongPress { at, held };
                Touch { aim, held: None }.deed(|sought| Deed::LongPress(sought, held), press)
            }
            "type" => typing(value, known, reading)?,
            "press" => Deed::Act(Action::Press(key(value, known, reading)?)),
            "swipe" => Deed::Act(swipe(value, known, reading)?),
            "scroll" => scroll(value, known, reading)?,
            "wait" => {
                let time = reading.time(value, "`wait`", known)?;
                if time > LONGEST_WAIT {
                    let most = LONGEST_WAIT.as_secs();
                    reading.wrong(
                        &value.at,
                        format!("`wait` is {most} s at most; `wait_for` waits for something"),
                    );
                    return None;
                }
                Deed::Act(Action::Wait(time))
            }
            "wait_for" | "expect" => Deed::Expect(expected(value, word, known, reading)?),
            "screenshot" => match &value.is {
                Is::Nothing => Deed::Screenshot(None),
                _ => Deed::Screenshot(Some(reading.filled(value, "`screenshot`", known)?)),
            },
            "orientation" => {
                let these =
                    [("portrait", Orientation::Portrait), ("landscape", Orientation::Landscape)];
                Deed::Act(Action::SetOrientation(reading.one_of(
                    value,
                    "`orientation`",
                    &these,
                    known,
                )?))
            }
            "run" => self.run(value, scope, reading)?,
            "repeat" => self.repeat(value, scope, reading)?,
            "goal" => Deed::Goal(reading.filled(value, "`goal`", known)?),
            other => {
                unknown(other, &value.at, reading);
                return None;
            }
        })
    }

    fn run(&mut self, value: &Value, scope: &Scope, reading: &mut Reading) -> Option<Deed> {
        let mut with = Parameters::new();
        let file = match &value.is {
            Is::Map(_) => {
                let mut map = reading.map(value, "`run`")?;
                if let Some(given) = map.take("with").and_then(|with| reading.map(with, "`with`")) {
                    for (key, value) in given.rest() {
                        check_name(&key.name, &key.at, reading);
                        let of = format!("the parameter {}", key.name);
                        if let Some(value) = reading.text(value, &of, &scope.known) {
                            with.insert(key.name.clone(), value);
                        }
                    }
                }
                let file = map.take("flow");
                if file.is_none() {
                    reading.wrong(map.at(), "`run` needs a `flow`: the file whose steps are run");
                }
                let file = file.and_then(|file| reading.filled(file, "`flow`", &scope.known));
                map.end(reading, "`run`");
                file?
            }
            _ => reading.filled(value, "`run`", &scope.known)?,
        };
        let steps = self.included(&file, &value.at, &with, scope, reading);
        Some(Deed::Run { file, steps })
    }

    fn repeat(&mut self, value: &Value, scope: &Scope, reading: &mut Reading) -> Option<Deed> {
        const OFTEN: u32 = 10;
        let mut map = reading.map(value, "`repeat`")?;
        let until = map.take("until").map(|until| sought(until, "`until`", &scope.known, reading));
        let times = map.take("times");
        if times.is_none() && until.is_none() {
            reading.wrong(map.at(), "`repeat` needs `times`, or `until` something shows");
        }
        let times = times.and_then(|n| reading.count(n, "`times`", [1, 1000], &scope.known));
        let steps = map.take("steps");
        if steps.is_none() {
            reading.wrong(map.at(), "`repeat` needs `steps`");
        }
        let steps = steps.map(|steps| self.steps(steps, scope, reading));
        map.end(reading, "`repeat`");
        let until = match until {
            Some(until) => Some(until?),
            None => None,
        };
        Some(Deed::Repeat { times: times.unwrap_or(OFTEN), until, steps: steps? })
    }
}

/// What waits for something takes its `timeout` among its own keys too: it is taken out of there.
fn impatient<'a>(word: &str, value: &'a Value) -> (Value, Option<&'a Value>) {
    let waits = ["tap", "long_press", "type", "wait_for", "expect"].contains(&word);
    match &value.is {
        Is::Map(entries) if waits => {
            let (times, rest): (Vec<_>, Vec<_>) =
                entries.iter().partition(|(key, _)| key.name == "timeout");
            let rest = Is::Map(rest.into_iter().cloned().collect());
            (Value { at: value.at.clone(), is: rest }, times.first().map(|(_, time)| time))
        }
        _ => (value.clone(), None),
    }
}

fn unknown(word: &str, at: &super::mistake::Place, reading: &mut Reading) {
    let hint = nearest(word, DEEDS).map_or_else(
        || format!("; a step does one of {}", names(&DEEDS)),
        |near| meant(Some(near)),
    );
    reading.wrong(at, format!("no step is called `{word}`{hint}"));
}

fn no_app<T>(of: &str, value: &Value, reading: &mut Reading) -> Option<T> {
    reading.wrong(&value.at, format!("`{of}` needs an app: name one here, or by `app` above"));
    None
}

/// An id where it has a dot, else a part of a name.
fn launched(value: &Value, scope: &Scope, reading: &mut Reading) -> Option<Choice> {
    match (&value.is, &scope.app) {
        (Is::Nothing, Some(app)) => Some(Choice::Id(app.clone())),
        (Is::Nothing, None) => no_app("launch", value, reading),
        _ => {
            let text = reading.filled(value, "`launch`", &scope.known)?;
            Some(if text.contains('.') {
                Choice::Id(thumbwire_device::AppId(text))
            } else {
                Choice::Named(text)
            })
        }
    }
}

fn typing(value: &Value, known: &Parameters, reading: &mut Reading) -> Option<Deed> {
    let Is::Map(_) = value.is else {
        let text = reading.filled(value, "`type`", known)?;
        let written = reading.written(value, "`type`")?.to_owned();
        return Some(Deed::Type { text, written, into: None, clear: false, submit: false });
    };
    let mut map = reading.map(value, "`type`")?;
    let text = map.take("text");
    if text.is_none() {
        reading.wrong(map.at(), "`type` needs a `text`");
    }
    let written =
        text.and_then(|text| reading.written(text, "`text`")).unwrap_or_default().to_owned();
    let text = text.and_then(|text| reading.text(text, "`text`", known));
    let into = map.take("into").map(|into| sought(into, "`into`", known, reading));
    let mut truth = |key: &'static str| {
        let is = map.take(key).and_then(|value| reading.truth(value, &format!("`{key}`"), known));
        is.unwrap_or_default()
    };
    let [clear, submit] = ["clear", "submit"].map(&mut truth);
    map.end(reading, "`type`");
    let into = match into {
        Some(into) => Some(into?),
        None => None,
    };
    Some(Deed::Type { text: text?, written, into, clear, submit })
}

fn key(value: &Value, known: &Parameters, reading: &mut Reading) -> Option<Key> {
    let name = reading.filled(value, "`press`", known)?;
    let key = Key::from_name(&name).or_else(|| KeyCode::from_name(&name).map(Key::Android));
    if key.is_none() {
        let common: Vec<_> = Key::COMMON.iter().map(|key| key.name()).collect();
        let common: Vec<&str> = common.iter().map(AsRef::as_ref).collect();
        let also = ["enter", "tab", "del", "space", "escape", "app_switch"];
        let hint = meant(nearest(&name, common.iter().copied().chain(also)));
        let what = format!(
            "`press` is {}, or one of Android's (`enter`, `KEYCODE_TAB`), and not {name:?}{hint}",
            names(&common)
        );
        reading.wrong(&value.at, what);
    }
    key
}

fn swipe(value: &Value, known: &Parameters, reading: &mut Reading) -> Option<Action> {
    let Is::Map(_) = value.is else {
        let direction = reading.one_of(value, "`swipe`", &DIRECTIONS, known)?;
        return Some(Action::Swipe { direction, distance: None, lasting: SWIPE });
    };
    let mut map = reading.map(value, "`swipe`")?;
    let lasting = map.take("duration").and_then(|time| reading.time(time, "`duration`", known));
    let lasting = lasting.unwrap_or(SWIPE);
    let swipe = if map.has(&["from", "to"]) {
        let mut end = |key: &'static str| match map.take(key) {
            Some(point) => point_at(point, &format!("`{key}`"), known, reading),
            None => {
                reading.wrong(map.at(), "`swipe` needs `from` and `to`, or a `direction`");
                None
            }
        };
        let (from, to) = (end("from"), end("to"));
        from.zip(to).map(|(from, to)| Action::Touch(Gesture::Swipe { from, to, lasting }))
    } else if let Some(direction) = map.take("direction") {
        let direction = reading.one_of(direction, "`direction`", &DIRECTIONS, known);
        let distance = map.take("distance");
        let distance = distance.and_then(|n| reading.count(n, "`distance`", [1, 20_000], known));
        let distance = distance.and_then(|pixels| i32::try_from(pixels).ok());
        direction.map(|direction| Action::Swipe { direction, distance, lasting })
    } else {
        reading.wrong(map.at(), "`swipe` needs a `direction`, or `from` and `to`");
        None
    };
    map.end(reading, "`swipe`");
    swipe
}

fn scroll(value: &Value, known: &Parameters, reading: &mut Reading) -> Option<Deed> {
    /// Short enough that nothing is passed over.
    const HALF: f64 = 0.5;
    const OFTEN: u32 = 20;
    let Is::Map(_) = value.is else {
        let direction = match value.is {
            Is::Nothing => Direction::Down,
            _ => reading.one_of(value, "`scroll`", &DIRECTIONS, known)?,
        };
        return Some(Deed::Act(Action::Scroll { direction, distance: HALF }));
    };
    let mut map = reading.map(value, "`scroll`")?;
    let direction = map.take("direction");
    let direction = direction.map(|one| reading.one_of(one, "`direction`", &DIRECTIONS, known));
    let distance = map.take("distance");
    let distance = distance.map(|n| reading.number(n, "`distance`", [0.05, 10.0], known));
    let until = map.take("until").map(|until| sought(until, "`until`", known, reading));
    let most = map.take("most").map(|n| reading.count(n, "`most`", [1, 1000], known));
    map.end(reading, "`scroll`");
    let direction = direction.unwrap_or(Some(Direction::Down))?;
    let distance = distance.unwrap_or(Some(HALF))?;
    let most = most.unwrap_or(Some(OFTEN))?;
    Some(match until {
        Some(sought) => Deed::ScrollTo { sought: sought?, direction, distance, most },
        None => Deed::Act(Action::Scroll { direction, distance }),
    })
}
