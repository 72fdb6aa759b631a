//! Calendar: a month with a selected day, that day's events, event pages, and an event form.
//!
//! State and events are here; `pages` draws. A notification appears ten minutes before an event
//! that has a time.
//!
//! Preferences: `event/N/{title,day,time,place}`, `day` as `2024-03-05`, `time` as `9:30` or empty
//! for all day.

mod pages;

use std::time::Duration;

use crate::app::{AndroidIdentity, AppDescription, BuiltInApp, IosIdentity};
use crate::app::{App, AppContext, DrawContext, Event, Preferences};
use crate::apps::dates::Day;
use crate::apps::records::Records;
use crate::clock::SWITCHED_ON;
use crate::packages::{AppIcon, Intent};
use crate::rng::SplitMix64;
use crate::theme;
use crate::theme::Colour;
use crate::view::{Tag, View};
use thumbwire_virtual_screen::icons::Icon;

/// The state of Calendar.
pub(crate) struct Calendar {
    events: Records<4>,
    /// The selected day; `None` for today.
    chosen: Option<Day>,
    page: Option<Page>,
    /// Whether the confirmation for deleting the event is open.
    asking: bool,
}

#[derive(Debug, Clone, PartialEq)]
enum Page {
    Event(usize),
    Form(Form),
}

/// An event being edited; without a number a new one.
#[derive(Debug, Clone, PartialEq)]
struct Form {
    id: Option<usize>,
    title: String,
    place: String,
    day: Day,
    /// Minutes since midnight; `None` for all day.
    time: Option<u32>,
}

/// An event as the pages show it.
#[derive(Debug, Clone, PartialEq)]
struct Entry {
    id: usize,
    title: String,
    place: String,
    day: Day,
    time: Option<u32>,
}

/// How long before an event the reminder comes, in seconds; the Calendar app's default.
const REMINDER: u64 = 600;
const TITLE: &str = "title_edit_text";
const PLACE: &str = "location_edit_text";

impl BuiltInApp for Calendar {
    const DESCRIPTION: AppDescription = AppDescription {
        name: "Calendar",
        version: "2024.08.0",
        icon: AppIcon { symbol: Icon::Event, fill: Colour::hex(0x1A73E8), ink: theme::WHITE },
        system: true,
        android: AndroidIdentity {
            package: "com.google.android.calendar",
            version_code: 2_017_000_000,
            activities: &["com.android.calendar.AllInOneActivity"],
            has_icon: true,
            permissions: &["READ_CALENDAR", "WRITE_CALENDAR", "POST_NOTIFICATIONS"],
        },
        ios: IosIdentity { bundle_id: "com.apple.mobilecal" },
    };

    fn new(seed: u64) -> Self {
        let fields = ["title", "day", "time", "place"];
        let events = Records { kind: "event", fields, seeded: seeded(seed) };
        Self { events, chosen: None, page: None, asking: false }
    }
}

impl App for Calendar {
    fn view(&self, env: &DrawContext<'_>) -> View {
        match &self.page {
            None => self.month(env),
            Some(Page::Event(id)) => self.event(env, *id).dialog(self.asking.then(pages::question)),
            Some(Page::Form(form)) => pages::form(env, form),
        }
    }

    fn next_wakeup(&self, store: &Preferences, now: Duration) -> Option<Duration> {
        self.reminders(store).map(|(at, _)| at).filter(|at| *at > now).min()
    }

    fn handle(&mut self, event: Event, context: &mut AppContext<'_>) {
        match event {
            Event::Alarm => self.remind(context),
            Event::Intent(Intent { data: Some(data), .. }) => self.take(&data),
            Event::Tap(tag) => self.tapped(&tag, context),
            Event::Text { field, text } => match &mut self.page {
                Some(Page::Form(form)) if field == TITLE => form.title = text,
                Some(Page::Form(form)) => form.place = text,
                _ => {}
            },
            Event::Action { .. } => context.unfocus(),
            Event::Back => self.back(context),
            _ => {}
        }
    }
}

impl Calendar {
    fn tapped(&mut self, tag: &Tag, context: &mut AppContext<'_>) {
        let number = tag.value.parse::<i64>().unwrap_or(0);
        let today = Day::at(context.now);
        let chosen = self.chosen.unwrap_or(today);
        match tag.name {
            "day" => self.chosen = Some(Day(number).bounded()),
            "month" => self.chosen = Some(chosen.months_later(number)),
            "today" => self.chosen = None,
            "event" => {
                self.page = usize::try_from(number).ok().map(Page::Event);
                context.scroll_to_top("event_page");
            }
            "new" => {
                let (title, place) = (String::new(), String::new());
                let form = Form { id: None, title, place, day: chosen, time: Some(9 * 60) };
                self.page = Some(Page::Form(form));
                context.focus(TITLE);
            }
            "edit" => {
                let entry = usize::try_from(number).ok();
                if let Some(entry) = entry.and_then(|id| self.entry(context.store, id)) {
                    let Entry { id, title, place, day, time } = entry;
                    self.page = Some(Page::Form(Form { id: Some(id), title, place, day, time }));
                }
            }
            "save" => self.save(context),
            "delete" => self.asking = true,
            "no" => self.asking = false,
            "yes" => {
                self.asking = false;
                if let Some(Page::Event(id)) = self.page.take() {
                    self.events.remove(context.store, id);
                    context.toast("Event deleted");
                }
            }
            "back" => self.back(context),
            name => self.turn(name, number),
        }
    }

    /// Changes the form's date or time.
    fn turn(&mut self, name: &str, by: i64) {
        let Some(Page::Form(form)) = &mut self.page else { return };
        match (name, form.time) {
            ("form day", _) => form.day = Day(form.day.0 + by).bounded(),
            ("all day", Some(_)) => form.time = None,
            ("all day", None) => form.time = Some(9 * 60),
            ("time", Some(time)) => {
                let time = (i64::from(time) + by).rem_euclid(24 * 60);
                form.time = u32::try_from(time).ok();
            }
            _ => {}
        }
    }

    fn save(&mut self, context: &mut AppContext<'_>) {
        let Some(Page::Form(form)) = self.page.take() else { return };
        context.unfocus();
        let title = match form.title.trim() {
            "" => "(No title)",
            title => title,
        };
        let texts = [
            title.to_owned(),
            form.day.written(),
            form.time.map(pages::time_of).unwrap_or_default(),
            form.place.trim().to_owned(),
        ];
        match self.events.put(context.store, form.id, &texts) {
            Some(_) => context.toast("Event saved"),
            None => context.toast("No room for more events"),
        }
        self.chosen = Some(form.day);
    }

    fn back(&mut self, context: &mut AppContext<'_>) {
        if std::mem::take(&mut self.asking) {
            return;
        }
        context.unfocus();
        if self.page.take().is_none() && self.chosen.take().is_none() {
            context.finish();
        }
    }

    /// Every event with a time, and the uptime of its reminder, except those before the first boot.
    fn reminders(&self, store: &Preferences) -> impl Iterator<Item = (Duration, Entry)> {
        let all = self.events.all(store).into_iter();
        all.filter_map(|(id, texts)| {
            let entry = read(id, texts)?;
            let begins =
                entry.day.0.checked_mul(86_400)?.checked_add(i64::from(entry.time?) * 60)?;
            let at = u64::try_from(begins).ok()?.checked_sub(REMINDER)?.checked_sub(SWITCHED_ON)?;
            Some((Duration::from_secs(at), entry))
        })
    }

    fn remind(&self, context: &mut AppContext<'_>) {
        let now = context.now;
        let due: Vec<Entry> = self
            .reminders(context.store)
            .filter(|(at, _)| *at == now)
            .map(|(_, entry)| entry)
            .collect();
        for Entry { id, title, place, time, .. } in due {
            let mut text = time.map(pages::time_of).unwrap_or_default();
            if !place.is_empty() {
                text.push_str(" · ");
                text.push_str(&place);
            }
            context.notify(format!("event {id}"), &title, &text, Some(format!("event:{id}")));
        }
    }

    /// Our own URI opens an event.
    fn take(&mut self, data: &str) {
        let event = data.strip_prefix("event:").and_then(|id| id.parse().ok());
        if let Some(event) = event {
            self.asking = false;
            self.page = Some(Page::Event(event));
        }
    }

    fn entry(&self, store: &Preferences, id: usize) -> Option<Entry> {
        self.events.get(store, id).and_then(|texts| read(id, texts))
    }

    /// The events from `first` to `last`, in order.
    fn between(&self, store: &Preferences, first: Day, last: Day) -> Vec<Entry> {
        let all = self.events.all(store).into_iter();
        let mut entries: Vec<Entry> = all
            .filter_map(|(id, texts)| read(id, texts))
            .filter(|entry| (first..=last).contains(&entry.day))
            .collect();
        entries.sort_by_key(|entry| (entry.day, entry.time, entry.id));
        entries
    }
}

/// Parses an event; `None` if its day is invalid.
fn read(id: usize, [title, day, time, place]: [String; 4]) -> Option<Entry> {
    let time = time.split_once(':').and_then(|(hour, minute)| {
        let (hour, minute) = (hour.parse::<u32>().ok()?, minute.parse::<u32>().ok()?);
        Some(hour.min(23) * 60 + minute.min(59))
    });
    Some(Entry { id, title, place, day: Day::read(&day)?, time })
}

/// The initial events: the seed decides the order, and so who meets whom when.
fn seeded(seed: u64) -> Vec<[String; 4]> {
    let mut plans = [
        ("Dentist", "Harbour Street 4"),
        ("Team meeting", "Room 3"),
        ("Lunch with Olga", "Café Luna"),
        ("Yoga", "City Gym"),
        ("Call with Hiro", ""),
        ("Book club", "Library"),
        ("Concert", "Old Town Hall"),
        ("Flat viewing", "12 Park Row"),
    ];
    SplitMix64::new(seed, "calendar").shuffle(&mut plans);
    let times = ["9:00", "12:30", "17:15", "10:00", "15:30", "19:00", "8:45", "18:00"].into_iter();
    let days = [5, 5, 6, 8, 12, 14, 21, 27];
    let met = plans.into_iter().zip(times).zip(days).map(|(((title, place), time), day)| {
        [title.to_owned(), format!("2024-03-{day:02}"), time.to_owned(), place.to_owned()]
    });
    let birthday = ["Emma's birthday", "2024-03-16", "", ""].map(str::to_owned);
    met.chain([birthday]).collect()
}
