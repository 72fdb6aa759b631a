//! Clock: alarms that can be switched, set and deleted, a timer, and a stopwatch.
//!
//! Here is the state and what changes it; `pages` draws it. While the stopwatch or the timer runs and shows, the screen never comes to
//! rest ([`App::moves`]). An alarm rings, and a timer that has run out, by a notification; `rings` says when.
//!
//! Kept, and to be seeded: `alarm/N/{hour,minute,label,on}`; `stopwatch/before` (milliseconds run before it was stopped) and
//! `stopwatch/since` (milliseconds of uptime at which it was started; absent while it stands); `timer/length` and `timer/run`
//! (milliseconds) and `timer/since` in the same way, `timer/rung` (`yes` once it has rung).

mod functions;
mod pages;
mod rings;

use serde_json::Value;
use std::time::Duration;

use super::records::Records;
use crate::world::app::{App, AppIcon, Env, Event, Intent, Manifest, Reach, Store, asks};
use crate::world::functions::{AppFunction, Given};
use crate::world::icons::Icon;
use crate::world::theme::{self, Colour};
use crate::world::view::{Tag, View};

/// The state of Clock.
pub(crate) struct ClockApp {
    alarms: Records<4>,
    tab: Place,
    /// The alarm that is being set; without a number a new one.
    editor: Option<Editor>,
    /// Digits of the timer as they were tapped, at most six: `hhmmss`.
    digits: String,
    /// Times between laps, in milliseconds, the newest last.
    laps: Vec<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Alarm,
    Timer,
    Stopwatch,
}

impl Place {
    const ALL: [Place; 3] = [Place::Alarm, Place::Timer, Place::Stopwatch];

    fn label(self) -> &'static str {
        match self {
            Self::Alarm => "Alarm",
            Self::Timer => "Timer",
            Self::Stopwatch => "Stopwatch",
        }
    }
}

#[derive(Debug, Clone, Default, PartialEq)]
struct Editor {
    id: Option<usize>,
    hour: u32,
    minute: u32,
    label: String,
}

const LABEL: &str = "label_edit";
/// Laps that are kept.
const LAPS: usize = 99;

impl App for ClockApp {
    fn manifest() -> Manifest {
        Manifest {
            package: "com.google.android.deskclock".into(),
            label: "Clock".into(),
            version_name: "7.7".into(),
            version_code: 79_000_410,
            activities: vec!["com.android.deskclock.DeskClock".into()],
            launcher: Some("com.android.deskclock.DeskClock".into()),
            system: true,
            uid: 0,
            permissions: asks(&["POST_NOTIFICATIONS", "VIBRATE", "WAKE_LOCK"]),
            installation: None,
            icon: AppIcon {
                symbol: Icon::Schedule,
                fill: Colour::hex(0x35477D),
                ink: theme::WHITE,
            },
        }
    }

    fn new(_seed: u64) -> Self {
        let alarm =
            |hour: &str, minute: &str, label: &str| [hour, minute, label, "no"].map(str::to_owned);
        let seeded = vec![alarm("8", "30", ""), alarm("9", "0", "Weekend")];
        Self {
            alarms: Records { kind: "alarm", fields: ["hour", "minute", "label", "on"], seeded },
            tab: Place::Alarm,
            editor: None,
            digits: String::new(),
            laps: Vec::new(),
        }
    }

    fn view(&self, env: &Env<'_>) -> View {
        match &self.editor {
            Some(editor) => pages::editor(env, editor),
            None => self.places(env),
        }
    }

    fn moves(&self, store: &Store, now: Duration) -> bool {
        if self.editor.is_some() {
            return false;
        }
        match self.tab {
            Place::Alarm => false,
            Place::Stopwatch => Watch::STOPWATCH.runs(store),
            Place::Timer => Watch::TIMER.runs(store) && left(store, now) > 0,
        }
    }

    fn due(&self, store: &Store, now: Duration) -> Option<Duration> {
        self.rings_next(store, now)
    }

    fn on(&mut self, event: Event, reach: &mut Reach<'_>) {
        match event {
            Event::Wake => self.ring(reach),
            Event::Tap(tag) => self.tapped(&tag, reach),
            Event::Text { text, .. } => {
                if let Some(editor) = &mut self.editor {
                    editor.label = text;
                }
            }
            Event::Action { .. } => reach.unfocus(),
            Event::Back => self.back(reach),
            Event::Intent(intent) => self.take(&intent),
            _ => {}
        }
    }

    fn functions(&self) -> &'static [AppFunction] {
        &functions::FUNCTIONS
    }

    fn call(&mut self, id: &str, given: &Given, reach: &mut Reach<'_>) -> Result<Value, String> {
        self.do_function(id, given, reach)
    }
}

impl ClockApp {
    /// Actions of `android.provider.AlarmClock` show their place.
    fn take(&mut self, intent: &Intent) {
        let action = intent.action.as_deref().unwrap_or_default();
        let shown = intent.data.as_deref().and_then(|data| data.strip_prefix("clock:"));
        let place = match shown.or_else(|| action.strip_prefix("android.intent.action.")) {
            Some("SHOW_ALARMS" | "SET_ALARM") => Place::Alarm,
            Some("SHOW_TIMERS" | "SET_TIMER") => Place::Timer,
            _ => return,
        };
        self.editor = None;
        self.tab = place;
    }

    fn tapped(&mut self, tag: &Tag, reach: &mut Reach<'_>) {
        let number = tag.value.parse::<usize>().ok();
        match tag.name {
            "tab" => {
                let place = Place::ALL.into_iter().find(|place| place.label() == tag.value);
                self.tab = place.unwrap_or(self.tab);
            }
            "back" => self.back(reach),
            "switch" => self.switch(number, reach),
            "set" | "new" => self.edit(number, reach.store),
            "hour" => self.turn(tag.value.parse().unwrap_or(0), 0),
            "minute" => self.turn(0, tag.value.parse().unwrap_or(0)),
            "save" => self.save(reach),
            "delete" => {
                if let Some(id) = self.editor.take().and_then(|editor| editor.id) {
                    self.alarms.remove(reach.store, id);
                    reach.toast("Alarm deleted");
                }
                reach.unfocus();
            }
            _ => self.watch(tag, reach),
        }
    }

    /// What the buttons of the timer and of the stopwatch do.
    fn watch(&mut self, tag: &Tag, reach: &mut Reach<'_>) {
        match tag.name {
            "run" => Watch::STOPWATCH.toggle(reach),
            "lap" if self.laps.len() < LAPS => {
                let total = Watch::STOPWATCH.run_for(reach.store, reach.now);
                self.laps.push(total.saturating_sub(self.laps.iter().sum()));
            }
            "reset" => {
                Watch::STOPWATCH.reset(reach);
                self.laps.clear();
            }
            "digit" if self.digits.len() + tag.value.len() <= 6 => {
                self.digits.push_str(&tag.value);
                let kept = self.digits.trim_start_matches('0');
                self.digits = kept.to_owned();
            }
            "erase" => drop(self.digits.pop()),
            "start timer" => {
                let length = pages::seconds_of(&self.digits) * 1000;
                self.digits.clear();
                reach.store.set("timer/length", length.to_string());
                Watch::TIMER.reset(reach);
                Watch::TIMER.toggle(reach);
                rings::quiet(reach);
            }
            "toggle timer" => Watch::TIMER.toggle(reach),
            "more" => {
                let length = number(reach.store, "timer/length").saturating_add(60_000);
                reach.store.set("timer/length", length.to_string());
                rings::quiet(reach);
            }
            "delete timer" => {
                Watch::TIMER.reset(reach);
                rings::quiet(reach);
                reach.store.remove("timer/length");
            }
            _ => {}
        }
    }

    fn switch(&mut self, id: Option<usize>, reach: &mut Reach<'_>) {
        let Some(id) = id else { return };
        let Some(mut texts) = self.alarms.get(reach.store, id) else { return };
        let on = texts[3] != "yes";
        texts[3] = if on { "yes" } else { "no" }.to_owned();
        if on {
            reach.toast(format!("Alarm set for {}", pages::time_of(&texts)));
        }
        self.alarms.put(reach.store, Some(id), &texts);
    }

    fn edit(&mut self, id: Option<usize>, store: &Store) {
        let texts = id.and_then(|id| self.alarms.get(store, id));
        self.editor = Some(match texts {
            Some([hour, minute, label, _]) => Editor {
                id,
                hour: hour.parse().unwrap_or(0),
                minute: minute.parse().unwrap_or(0),
                label,
            },
            None => Editor { hour: 7, ..Editor::default() },
        });
    }

    /// Turns the wheels of the editor.
    fn turn(&mut self, hours: i32, minutes: i32) {
        if let Some(editor) = &mut self.editor {
            editor.hour = (editor.hour % 24).saturating_add_signed(hours + 24) % 24;
            editor.minute = (editor.minute % 60).saturating_add_signed(minutes + 60) % 60;
        }
    }

    fn save(&mut self, reach: &mut Reach<'_>) {
        reach.unfocus();
        let Some(Editor { id, hour, minute, label }) = self.editor.take() else { return };
        let texts =
            [hour.to_string(), minute.to_string(), label.trim().to_owned(), "yes".to_owned()];
        match self.alarms.put(reach.store, id, &texts) {
            Some(_) => reach.toast(format!("Alarm set for {}", pages::time_of(&texts))),
            None => reach.toast("No room for more alarms"),
        }
    }

    fn back(&mut self, reach: &mut Reach<'_>) {
        reach.unfocus();
        if self.editor.take().is_none() {
            reach.finish();
        }
    }
}

/// Something that runs and can be stopped: the keys under which its times are kept.
struct Watch {
    before: &'static str,
    since: &'static str,
}

impl Watch {
    const STOPWATCH: Watch = Watch { before: "stopwatch/before", since: "stopwatch/since" };
    const TIMER: Watch = Watch { before: "timer/run", since: "timer/since" };

    fn runs(&self, store: &Store) -> bool {
        store.get(self.since).is_some()
    }

    /// Milliseconds that it ran until now.
    fn run_for(&self, store: &Store, now: Duration) -> u64 {
        let since = store.get(self.since).and_then(|since| since.parse().ok());
        let running = since.map_or(0, |since| millis(now).saturating_sub(since));
        number(store, self.before).saturating_add(running)
    }

    fn toggle(&self, reach: &mut Reach<'_>) {
        if self.runs(reach.store) {
            let run = self.run_for(reach.store, reach.now);
            reach.store.set(self.before, run.to_string());
            reach.store.remove(self.since);
        } else {
            reach.store.set(self.since, millis(reach.now).to_string());
        }
    }

    fn reset(&self, reach: &mut Reach<'_>) {
        reach.store.remove(self.before);
        reach.store.remove(self.since);
    }
}

/// Milliseconds that are left of the timer.
fn left(store: &Store, now: Duration) -> u64 {
    number(store, "timer/length").saturating_sub(Watch::TIMER.run_for(store, now))
}

fn number(store: &Store, key: &str) -> u64 {
    store.get(key).and_then(|value| value.parse().ok()).unwrap_or(0)
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
