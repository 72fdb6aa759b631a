//! Clock: alarms that can be toggled, set and deleted, a timer, and a stopwatch.
//!
//! State and events are here; `pages` draws. While a running stopwatch or timer is visible, the
//! screen is never idle ([`App::is_animating`]). Alarms and a timer that ran out ring by
//! notification; `rings` decides when.
//!
//! Preferences: `alarm/N/{hour,minute,label,on}`; `stopwatch/before` (milliseconds run before it
//! was paused) and `stopwatch/since` (uptime in milliseconds when it was started; absent while
//! paused); `timer/length` and `timer/run` (milliseconds), `timer/since` likewise, and `timer/rung`
//! (`yes` after it rang).

mod functions;
mod pages;
mod rings;

use serde_json::Value;
use std::time::Duration;

use crate::app::{AndroidIdentity, AppDescription, BuiltInApp, IosIdentity};
use crate::app::{App, AppContext, DrawContext, Event, Preferences};
use crate::apps::records::Records;
use crate::functions::{AppFunction, FunctionArgs};
use crate::packages::{AppIcon, Intent};
use crate::theme;
use crate::theme::Colour;
use crate::view::{Tag, View};
use thumbwire_virtual_screen::icons::Icon;

/// The state of Clock.
pub(crate) struct ClockApp {
    alarms: Records<4>,
    tab: ClockTab,
    /// The alarm being edited; without a number a new one.
    editor: Option<Editor>,
    /// The digits tapped for the timer, at most six: `hhmmss`.
    digits: String,
    /// Lap times in milliseconds, the newest last.
    laps: Vec<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ClockTab {
    Alarm,
    Timer,
    Stopwatch,
}

impl ClockTab {
    const ALL: [ClockTab; 3] = [ClockTab::Alarm, ClockTab::Timer, ClockTab::Stopwatch];

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
/// Maximum laps.
const LAPS: usize = 99;

impl BuiltInApp for ClockApp {
    const DESCRIPTION: AppDescription = AppDescription {
        name: "Clock",
        version: "7.7",
        icon: AppIcon { symbol: Icon::Schedule, fill: Colour::hex(0x35477D), ink: theme::WHITE },
        system: true,
        android: AndroidIdentity {
            package: "com.google.android.deskclock",
            version_code: 79_000_410,
            activities: &["com.android.deskclock.DeskClock"],
            has_icon: true,
            permissions: &["POST_NOTIFICATIONS", "VIBRATE", "WAKE_LOCK"],
        },
        ios: IosIdentity { bundle_id: "com.apple.mobiletimer" },
    };

    fn new(_seed: u64) -> Self {
        let alarm =
            |hour: &str, minute: &str, label: &str| [hour, minute, label, "no"].map(str::to_owned);
        let seeded = vec![alarm("8", "30", ""), alarm("9", "0", "Weekend")];
        Self {
            alarms: Records { kind: "alarm", fields: ["hour", "minute", "label", "on"], seeded },
            tab: ClockTab::Alarm,
            editor: None,
            digits: String::new(),
            laps: Vec::new(),
        }
    }
}

impl App for ClockApp {
    fn view(&self, env: &DrawContext<'_>) -> View {
        match &self.editor {
            Some(editor) => pages::editor(env, editor),
            None => self.places(env),
        }
    }

    fn is_animating(&self, store: &Preferences, now: Duration) -> bool {
        if self.editor.is_some() {
            return false;
        }
        match self.tab {
            ClockTab::Alarm => false,
            ClockTab::Stopwatch => Watch::STOPWATCH.runs(store),
            ClockTab::Timer => Watch::TIMER.runs(store) && left(store, now) > 0,
        }
    }

    fn next_wakeup(&self, store: &Preferences, now: Duration) -> Option<Duration> {
        self.rings_next(store, now)
    }

    fn handle(&mut self, event: Event, context: &mut AppContext<'_>) {
        match event {
            Event::Alarm => self.ring(context),
            Event::Tap(tag) => self.tapped(&tag, context),
            Event::Text { text, .. } => {
                if let Some(editor) = &mut self.editor {
                    editor.label = text;
                }
            }
            Event::Action { .. } => context.unfocus(),
            Event::Back => self.back(context),
            Event::Intent(intent) => self.take(&intent),
            _ => {}
        }
    }

    fn functions(&self) -> &'static [AppFunction] {
        &functions::FUNCTIONS
    }

    fn call(
        &mut self,
        id: &str,
        args: &FunctionArgs,
        context: &mut AppContext<'_>,
    ) -> Result<Value, String> {
        self.do_function(id, args, context)
    }
}

impl ClockApp {
    /// Actions of `android.provider.AlarmClock` open their tab.
    fn take(&mut self, intent: &Intent) {
        let action = intent.action.as_deref().unwrap_or_default();
        let shown = intent.data.as_deref().and_then(|data| data.strip_prefix("clock:"));
        let place = match shown.or_else(|| action.strip_prefix("android.intent.action.")) {
            Some("SHOW_ALARMS" | "SET_ALARM") => ClockTab::Alarm,
            Some("SHOW_TIMERS" | "SET_TIMER") => ClockTab::Timer,
            _ => return,
        };
        self.editor = None;
        self.tab = place;
    }

    fn tapped(&mut self, tag: &Tag, context: &mut AppContext<'_>) {
        let number = tag.value.parse::<usize>().ok();
        match tag.name {
            "tab" => {
                let place = ClockTab::ALL.into_iter().find(|place| place.label() == tag.value);
                self.tab = place.unwrap_or(self.tab);
            }
            "back" => self.back(context),
            "switch" => self.switch(number, context),
            "set" | "new" => self.edit(number, context.store),
            "hour" => self.turn(tag.value.parse().unwrap_or(0), 0),
            "minute" => self.turn(0, tag.value.parse().unwrap_or(0)),
            "save" => self.save(context),
            "delete" => {
                if let Some(id) = self.editor.take().and_then(|editor| editor.id) {
                    self.alarms.remove(context.store, id);
                    context.toast("Alarm deleted");
                }
                context.unfocus();
            }
            _ => self.watch(tag, context),
        }
    }

    /// Handles the buttons of the timer and the stopwatch.
    fn watch(&mut self, tag: &Tag, context: &mut AppContext<'_>) {
        match tag.name {
            "run" => Watch::STOPWATCH.toggle(context),
            "lap" if self.laps.len() < LAPS => {
                let total = Watch::STOPWATCH.run_for(context.store, context.now);
                self.laps.push(total.saturating_sub(self.laps.iter().sum()));
            }
            "reset" => {
                Watch::STOPWATCH.reset(context);
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
                context.store.set("timer/length", length.to_string());
                Watch::TIMER.reset(context);
                Watch::TIMER.toggle(context);
                rings::stop_timer_alert(context);
            }
            "toggle timer" => Watch::TIMER.toggle(context),
            "more" => {
                let length = number(context.store, "timer/length").saturating_add(60_000);
                context.store.set("timer/length", length.to_string());
                rings::stop_timer_alert(context);
            }
            "delete timer" => {
                Watch::TIMER.reset(context);
                rings::stop_timer_alert(context);
                context.store.remove("timer/length");
            }
            _ => {}
        }
    }

    fn switch(&mut self, id: Option<usize>, context: &mut AppContext<'_>) {
        let Some(id) = id else { return };
        let Some(mut texts) = self.alarms.get(context.store, id) else { return };
        let on = texts[3] != "yes";
        texts[3] = if on { "yes" } else { "no" }.to_owned();
        if on {
            context.toast(format!("Alarm set for {}", pages::time_of(&texts)));
        }
        self.alarms.put(context.store, Some(id), &texts);
    }

    fn edit(&mut self, id: Option<usize>, store: &Preferences) {
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

    /// Changes the time in the editor.
    fn turn(&mut self, hours: i32, minutes: i32) {
        if let Some(editor) = &mut self.editor {
            editor.hour = (editor.hour % 24).saturating_add_signed(hours + 24) % 24;
            editor.minute = (editor.minute % 60).saturating_add_signed(minutes + 60) % 60;
        }
    }

    fn save(&mut self, context: &mut AppContext<'_>) {
        context.unfocus();
        let Some(Editor { id, hour, minute, label }) = self.editor.take() else { return };
        let texts =
            [hour.to_string(), minute.to_string(), label.trim().to_owned(), "yes".to_owned()];
        match self.alarms.put(context.store, id, &texts) {
            Some(_) => context.toast(format!("Alarm set for {}", pages::time_of(&texts))),
            None => context.toast("No room for more alarms"),
        }
    }

    fn back(&mut self, context: &mut AppContext<'_>) {
        context.unfocus();
        if self.editor.take().is_none() {
            context.finish();
        }
    }
}

/// A timer or stopwatch: its preference keys.
struct Watch {
    before: &'static str,
    since: &'static str,
}

impl Watch {
    const STOPWATCH: Watch = Watch { before: "stopwatch/before", since: "stopwatch/since" };
    const TIMER: Watch = Watch { before: "timer/run", since: "timer/since" };

    fn runs(&self, store: &Preferences) -> bool {
        store.get(self.since).is_some()
    }

    /// Milliseconds it has run.
    fn run_for(&self, store: &Preferences, now: Duration) -> u64 {
        let since = store.get(self.since).and_then(|since| since.parse().ok());
        let running = since.map_or(0, |since| millis(now).saturating_sub(since));
        number(store, self.before).saturating_add(running)
    }

    fn toggle(&self, context: &mut AppContext<'_>) {
        if self.runs(context.store) {
            let run = self.run_for(context.store, context.now);
            context.store.set(self.before, run.to_string());
            context.store.remove(self.since);
        } else {
            context.store.set(self.since, millis(context.now).to_string());
        }
    }

    fn reset(&self, context: &mut AppContext<'_>) {
        context.store.remove(self.before);
        context.store.remove(self.since);
    }
}

/// Milliseconds left on the timer.
fn left(store: &Preferences, now: Duration) -> u64 {
    number(store, "timer/length").saturating_sub(Watch::TIMER.run_for(store, now))
}

fn number(store: &Preferences, key: &str) -> u64 {
    store.get(key).and_then(|value| value.parse().ok()).unwrap_or(0)
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
