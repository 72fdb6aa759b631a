//! Tasks in Calendar. Today is Tuesday, 5 March 2024.

use super::super::script::{ScriptStep, ScriptTarget, field, like, with_text};
use super::super::task::{InitialState, ParamSource, SuccessCondition, Task, TaskInstance};
use super::{CALENDAR, PLACES, given, stored};

pub(super) const TASKS: &[Task] = &[
    Task { name: "calendar-add", apps: &["Calendar"], needs: &[], make: add },
    Task { name: "calendar-all-day", apps: &["Calendar"], needs: &[], make: all_day },
    Task { name: "calendar-move", apps: &["Calendar"], needs: &[], make: put_off },
    Task { name: "calendar-delete", apps: &["Calendar"], needs: &[], make: delete },
    Task { name: "calendar-where", apps: &["Calendar"], needs: &[], make: place_of },
];

const TITLES: [&str; 6] = ["Choir", "Rehearsal", "Haircut", "Oil change", "Chess", "Guided tour"];
/// Days of this month without any events.
const FREE: [u32; 8] = [7, 11, 13, 15, 19, 20, 26, 28];
const WEEKDAYS: [&str; 7] =
    ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/// A date such as `Thursday, 7 March`, in 2024.
fn day_name(day: u32) -> String {
    // 4 March was a Monday.
    format!("{}, {day} March", WEEKDAYS[(day as usize + 3) % 7])
}

/// A day in the month's grid. It shows its number, and is called `7 March, 2 events`, which is what iOS lists.
pub(super) fn day_of_month(day: u32) -> ScriptTarget {
    with_text(day.to_string()).or(like(format!("^{day} March(,|$)")))
}

/// Creates an event on a day of this month; `quarters` counts quarters of an hour from nine o'clock.
pub(super) fn write(day: u32, title: &str, place: &str, quarters: u32) -> Vec<ScriptStep> {
    vec![
        ScriptStep::Launch(CALENDAR),
        ScriptStep::Tap(day_of_month(day)),
        ScriptStep::SkipIfVisible(with_text(title)),
        ScriptStep::Tap(with_text("Create new event")),
        ScriptStep::Type(field(0), title.into()),
        on_day(day),
        ScriptStep::TapUntil {
            tap: with_text("Later time"),
            back: Some(with_text("Earlier time")),
            shows: with_text(time(quarters)),
            max: 12,
        },
        ScriptStep::Type(field(1), place.into()),
        ScriptStep::Tap(with_text("Save")),
        ScriptStep::Read(with_text(title)),
    ]
}

/// Sets the form's day. It is already set if the day was tapped before.
fn on_day(day: u32) -> ScriptStep {
    let (tap, back) = (with_text("Later day"), Some(with_text("Earlier day")));
    ScriptStep::TapUntil { tap, back, shows: with_text(day_name(day)), max: 30 }
}

/// The time this many quarters of an hour after nine.
pub(super) fn time(quarters: u32) -> String {
    format!("{}:{:02}", 9 + quarters / 4, quarters % 4 * 15)
}

/// The event a task must create.
pub(super) fn written(day: u32, title: &str, place: &str, time: &str) -> SuccessCondition {
    stored(
        CALENDAR,
        [
            ("event/<n>/title", title),
            ("event/<n>/day", &format!("2024-03-{day:02}")),
            ("event/<n>/time", time),
            ("event/<n>/place", place),
        ],
    )
}

/// An event that exists before a task.
pub(super) fn event(number: usize, day: u32, title: &str, place: &str) -> Vec<InitialState> {
    let key = |field: &str| format!("event/{number}/{field}");
    given(
        CALENDAR,
        [
            (&key("title"), title),
            (&key("day"), &format!("2024-03-{day:02}")),
            (&key("time"), "14:00"),
            (&key("place"), place),
        ],
    )
}

fn add(draw: &mut ParamSource<'_>) -> TaskInstance {
    let (day, title, place) = (draw.pick(&FREE), draw.pick(&TITLES), draw.pick(&PLACES));
    // Without 10:00: the status bar shows that time, and an iPhone lists its status bar.
    let quarters = draw.pick(&[1, 2, 3, 5, 6]);
    let at = time(quarters);
    TaskInstance {
        goal: format!(
            "Add \"{title}\" to Calendar: {} at {at}, location \"{place}\".",
            day_name(day)
        ),
        given: Vec::new(),
        script: write(day, title, place, quarters),
        wants: vec![written(day, title, place, &at)],
    }
}

fn all_day(draw: &mut ParamSource<'_>) -> TaskInstance {
    let (day, title) = (draw.pick(&FREE), draw.pick(&["Trade fair", "Stocktaking", "Holiday"]));
    TaskInstance {
        goal: format!("Add \"{title}\" to Calendar as an all-day event on {}.", day_name(day)),
        given: Vec::new(),
        script: vec![
            ScriptStep::Launch(CALENDAR),
            ScriptStep::Tap(day_of_month(day)),
            ScriptStep::SkipIfVisible(with_text(title)),
            ScriptStep::Tap(with_text("Create new event")),
            ScriptStep::Type(field(0), title.into()),
            on_day(day),
            ScriptStep::SetSwitch(with_text("All day"), true),
            ScriptStep::Tap(with_text("Save")),
            ScriptStep::Read(with_text(title)),
        ],
        wants: vec![written(day, title, "", "")],
    }
}

fn put_off(draw: &mut ParamSource<'_>) -> TaskInstance {
    let (day, title) = (draw.pick(&FREE), draw.pick(&TITLES));
    let later = day + draw.number(1, 3) as u32;
    TaskInstance {
        goal: format!(
            "In Calendar, move \"{title}\" from {} to {}, at the same time.",
            day_name(day),
            day_name(later)
        ),
        given: event(40, day, title, "Hall 2"),
        script: vec![
            ScriptStep::Launch(CALENDAR),
            ScriptStep::Tap(day_of_month(day)),
            ScriptStep::SkipIfVisible(with_text("Nothing planned")),
            ScriptStep::Tap(with_text(title)),
            ScriptStep::Tap(with_text("Edit event")),
            ScriptStep::TapUntil {
                tap: with_text("Later day"),
                back: Some(with_text("Earlier day")),
                shows: with_text(day_name(later)),
                max: 6,
            },
            ScriptStep::Tap(with_text("Save")),
            ScriptStep::Read(with_text(day_name(later))),
        ],
        wants: vec![stored(CALENDAR, [("event/40/day", &format!("2024-03-{later:02}"))])],
    }
}

fn delete(draw: &mut ParamSource<'_>) -> TaskInstance {
    let (day, titles) = (draw.pick(&FREE), draw.some(&TITLES, 2));
    let at = draw.number(0, 1) as usize;
    let mut given = event(40, day, titles[0], "Room 1");
    given.extend(event(41, day, titles[1], "Room 2"));
    TaskInstance {
        goal: format!("Delete only \"{}\" on {} from Calendar.", titles[at], day_name(day)),
        given,
        script: vec![
            ScriptStep::Launch(CALENDAR),
            ScriptStep::Tap(day_of_month(day)),
            ScriptStep::Tap(with_text(titles[at])),
            ScriptStep::Tap(with_text("Delete event")),
            ScriptStep::Tap(with_text("Delete")),
        ],
        wants: vec![SuccessCondition::RecordRemoved(CALENDAR, format!("event/{}", 40 + at))],
    }
}

fn place_of(draw: &mut ParamSource<'_>) -> TaskInstance {
    let (day, title, place) = (draw.pick(&FREE), draw.pick(&TITLES), draw.pick(&PLACES));
    TaskInstance {
        goal: format!(
            "According to Calendar, where does \"{title}\" on {} take place?",
            day_name(day)
        ),
        given: event(40, day, title, place),
        script: vec![
            ScriptStep::Launch(CALENDAR),
            ScriptStep::Tap(day_of_month(day)),
            ScriptStep::Read(like(r"^\d+:\d\d, (.+)$").beside(with_text(title))),
            ScriptStep::Answer("{0}".into()),
        ],
        wants: vec![SuccessCondition::Answer(place.into())],
    }
}
