//! Tasks in Calendar. Today is Tuesday, 5 March 2024.

use super::super::script::{ScriptStep, ScriptTarget, field, like, with_text};
use super::super::task::Category::*;
use super::super::task::Difficulty::*;
use super::super::task::{InitialState, ParamSource, SuccessCondition, Task, TaskInstance};
use super::{CALENDAR, PLACES, given, stored};

pub(super) const TASKS: &[Task] = &[
    Task::new("calendar-add", &["Calendar"], Medium, &[DataEntry, ComplexUiUnderstanding], add),
    Task::new("calendar-all-day", &["Calendar"], Medium, &[DataEntry], all_day),
    Task::new("calendar-move", &["Calendar"], Medium, &[DataEdit, ComplexUiUnderstanding], put_off),
    Task::new("calendar-delete", &["Calendar"], Easy, &[DataEdit], delete),
    Task::new("calendar-where", &["Calendar"], Easy, &[InformationRetrieval], place_of),
    Task::new("calendar-when", &["Calendar"], Easy, &[InformationRetrieval], time_of),
    Task::new("calendar-count", &["Calendar"], Easy, &[InformationRetrieval, MathCounting], count),
    Task::new(
        "calendar-next-month",
        &["Calendar"],
        Medium,
        &[DataEntry, ComplexUiUnderstanding],
        next_month,
    ),
    Task::new("calendar-relocate", &["Calendar"], Medium, &[DataEdit], relocate),
    Task::new(
        "calendar-clear-day",
        &["Calendar"],
        Hard,
        &[DataEdit, Composite, Repetition],
        clear_day,
    ),
    Task::new(
        "calendar-three-events",
        &["Calendar"],
        Hard,
        &[DataEntry, Composite, Repetition],
        three_events,
    ),
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

/// A day in the month's grid. It shows its number, and is called `7 March, 2 events`, which is what
/// iOS lists.
pub(super) fn day_of_month(day: u32) -> ScriptTarget {
    with_text(day.to_string()).or(like(format!("^{day} March(,|$)")))
}

/// Creates an event on a day of this month; `quarters` counts quarters of an hour from nine
/// o'clock.
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

/// Events on one day, an hour apart from ten o'clock.
fn events(day: u32, titles: &[&str]) -> Vec<InitialState> {
    let all = titles.iter().enumerate();
    all.flat_map(|(at, title)| {
        let mut event = event(40 + at, day, title, "Room 2");
        event.extend(given(
            CALENDAR,
            [(&*format!("event/{}/time", 40 + at), &*format!("{}:00", 11 + at))],
        ));
        event
    })
    .collect()
}

fn time_of(draw: &mut ParamSource<'_>) -> TaskInstance {
    let (day, titles) = (draw.pick(&FREE), draw.some(&TITLES, 3));
    let at = draw.number(0, 2) as usize;
    TaskInstance {
        goal: format!("When does \"{}\" start on {}? See Calendar.", titles[at], day_name(day)),
        given: events(day, &titles),
        script: vec![
            ScriptStep::Launch(CALENDAR),
            ScriptStep::Tap(day_of_month(day)),
            ScriptStep::Read(like(r"^(\d+:\d\d), ").beside(with_text(titles[at]))),
            ScriptStep::Answer("{0}".into()),
        ],
        wants: vec![SuccessCondition::Answer(format!("{}:00", 11 + at))],
    }
}

fn count(draw: &mut ParamSource<'_>) -> TaskInstance {
    let (day, many) = (draw.pick(&FREE), draw.number(2, 4) as usize);
    let titles = draw.some(&TITLES, many);
    TaskInstance {
        goal: format!("How many events do I have on {} in Calendar?", day_name(day)),
        given: events(day, &titles),
        script: vec![
            ScriptStep::Launch(CALENDAR),
            ScriptStep::Tap(day_of_month(day)),
            ScriptStep::Read(with_text(day_name(day))),
            ScriptStep::Count(like(r"^\d+:\d\d, Room")),
            ScriptStep::Answer("{1}".into()),
        ],
        wants: vec![SuccessCondition::Answer(many.to_string())],
    }
}

fn next_month(draw: &mut ParamSource<'_>) -> TaskInstance {
    let (day, title) = (draw.number(10, 28), draw.pick(&TITLES));
    let place = draw.pick(&PLACES);
    TaskInstance {
        goal: format!("Put \"{title}\" at {place} into Calendar for {day} April, at nine o'clock."),
        given: Vec::new(),
        script: vec![
            ScriptStep::Launch(CALENDAR),
            ScriptStep::TapUntil {
                tap: with_text("Next month"),
                back: Some(with_text("Previous month")),
                shows: with_text("April 2024"),
                max: 2,
            },
            ScriptStep::Tap(with_text(day.to_string()).or(like(format!("^{day} April(,|$)")))),
            ScriptStep::SkipIfVisible(with_text(title)),
            ScriptStep::Tap(with_text("Create new event")),
            ScriptStep::Type(field(0), title.into()),
            ScriptStep::Type(field(1), place.into()),
            ScriptStep::Tap(with_text("Save")),
            ScriptStep::Read(with_text(title)),
        ],
        wants: vec![stored(
            CALENDAR,
            [
                ("event/<n>/title", title),
                ("event/<n>/day", &format!("2024-04-{day:02}")),
                ("event/<n>/time", "9:00"),
                ("event/<n>/place", place),
            ],
        )],
    }
}

fn relocate(draw: &mut ParamSource<'_>) -> TaskInstance {
    let (day, title) = (draw.pick(&FREE), draw.pick(&TITLES));
    let places = draw.some(&PLACES, 2);
    TaskInstance {
        goal: format!(
            "\"{title}\" on {} is not at {} any more but at {}. Correct that in Calendar.",
            day_name(day),
            places[0],
            places[1]
        ),
        given: event(40, day, title, places[0]),
        script: vec![
            ScriptStep::Launch(CALENDAR),
            ScriptStep::Tap(day_of_month(day)),
            ScriptStep::SkipIfVisible(like(format!("^14:00, {}$", places[1]))),
            ScriptStep::Tap(with_text(title)),
            ScriptStep::Tap(with_text("Edit event")),
            ScriptStep::Type(field(1), places[1].into()),
            ScriptStep::Tap(with_text("Save")),
            ScriptStep::Read(like(format!("^14:00, {}$", places[1]))),
        ],
        wants: vec![stored(CALENDAR, [("event/40/place", places[1])])],
    }
}

fn clear_day(draw: &mut ParamSource<'_>) -> TaskInstance {
    let (day, titles) = (draw.pick(&FREE), draw.some(&TITLES, 3));
    let script = titles.iter().flat_map(|_| {
        [
            ScriptStep::Launch(CALENDAR),
            ScriptStep::Tap(day_of_month(day)),
            // Whatever comes first.
            ScriptStep::Tap(like(r"^\d+:\d\d, ")),
            ScriptStep::Tap(with_text("Delete event")),
            ScriptStep::Tap(with_text("Delete")),
        ]
    });
    TaskInstance {
        goal: format!(
            "I am ill on {}. Delete everything that Calendar has for that day.",
            day_name(day)
        ),
        given: events(day, &titles),
        script: script.collect(),
        wants: (40..43)
            .map(|number| SuccessCondition::RecordRemoved(CALENDAR, format!("event/{number}")))
            .collect(),
    }
}

fn three_events(draw: &mut ParamSource<'_>) -> TaskInstance {
    let (days, titles) = (draw.some(&FREE, 3), draw.some(&TITLES, 3));
    let places = draw.some(&PLACES, 3);
    // Without 10:00, as in `add`.
    let quarters = draw.some(&[1, 2, 3, 5], 3);
    let each = (0..3).map(|at| (days[at], titles[at], places[at], quarters[at]));
    let plans = each.clone().map(|(day, title, place, quarters)| {
        format!("\"{title}\" on {} at {} ({place})", day_name(day), time(quarters))
    });
    TaskInstance {
        goal: format!(
            "Enter three dates into Calendar, with the place in brackets as the location: {}.",
            plans.collect::<Vec<_>>().join(", ")
        ),
        given: Vec::new(),
        script: each
            .clone()
            .flat_map(|(day, title, place, quarters)| write(day, title, place, quarters))
            .collect(),
        wants: each
            .map(|(day, title, place, quarters)| written(day, title, place, &time(quarters)))
            .collect(),
    }
}
