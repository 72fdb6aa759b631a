//! Tasks in Calendar. Today is Tuesday, 5 March 2024.

use super::super::script::{Step, field, like, says};
use super::super::task::{Case, Draw, Given, Task, Want};
use super::{CALENDAR, PLACES, given, kept};

pub(super) const TASKS: &[Task] = &[
    Task { name: "calendar-add", apps: &["Calendar"], make: add },
    Task { name: "calendar-all-day", apps: &["Calendar"], make: all_day },
    Task { name: "calendar-move", apps: &["Calendar"], make: put_off },
    Task { name: "calendar-delete", apps: &["Calendar"], make: delete },
    Task { name: "calendar-where", apps: &["Calendar"], make: place_of },
];

const TITLES: [&str; 6] = ["Choir", "Rehearsal", "Haircut", "Oil change", "Chess", "Guided tour"];
/// Days of this month on which nothing is planned.
const FREE: [u32; 8] = [7, 11, 13, 15, 19, 20, 26, 28];
const WEEKDAYS: [&str; 7] =
    ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

/// `Thursday, 7 March`, in 2024.
fn spoken(day: u32) -> String {
    // 4 March was a Monday.
    format!("{}, {day} March", WEEKDAYS[(day as usize + 3) % 7])
}

/// Writes an event on a day of this month; `time` in quarters of an hour from nine o'clock.
pub(super) fn write(day: u32, title: &str, place: &str, quarters: u32) -> Vec<Step> {
    vec![
        Step::Launch(CALENDAR),
        Step::Tap(says(day.to_string())),
        Step::Enough(says(title)),
        Step::Tap(says("Create new event")),
        Step::Write(field(0), title.into()),
        on_day(day),
        Step::Until {
            tap: says("Later time"),
            back: Some(says("Earlier time")),
            shows: says(time(quarters)),
            most: 12,
        },
        Step::Write(field(1), place.into()),
        Step::Tap(says("Save")),
        Step::Read(says(title)),
    ]
}

/// The form says this day: it does where the day was tapped before.
fn on_day(day: u32) -> Step {
    let (tap, back) = (says("Later day"), Some(says("Earlier day")));
    Step::Until { tap, back, shows: says(spoken(day)), most: 30 }
}

/// So many quarters of an hour after nine.
pub(super) fn time(quarters: u32) -> String {
    format!("{}:{:02}", 9 + quarters / 4, quarters % 4 * 15)
}

/// A new event after a task.
pub(super) fn written(day: u32, title: &str, place: &str, time: &str) -> Want {
    kept(
        CALENDAR,
        [
            ("event/<n>/title", title),
            ("event/<n>/day", &format!("2024-03-{day:02}")),
            ("event/<n>/time", time),
            ("event/<n>/place", place),
        ],
    )
}

/// An event before a task.
pub(super) fn event(number: usize, day: u32, title: &str, place: &str) -> Vec<Given> {
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

fn add(draw: &mut Draw<'_>) -> Case {
    let (day, title, place) = (draw.pick(&FREE), draw.pick(&TITLES), draw.pick(&PLACES));
    let quarters = draw.number(1, 6) as u32;
    let at = time(quarters);
    Case {
        goal: format!(
            "Add \"{title}\" to Calendar: on {} at {at}, location \"{place}\".",
            spoken(day)
        ),
        given: Vec::new(),
        script: write(day, title, place, quarters),
        wants: vec![written(day, title, place, &at)],
    }
}

fn all_day(draw: &mut Draw<'_>) -> Case {
    let (day, title) = (draw.pick(&FREE), draw.pick(&["Trade fair", "Stocktaking", "Holiday"]));
    Case {
        goal: format!(
            "Add \"{title}\" to Calendar as an event that lasts all day, on {}.",
            spoken(day)
        ),
        given: Vec::new(),
        script: vec![
            Step::Launch(CALENDAR),
            Step::Tap(says(day.to_string())),
            Step::Enough(says(title)),
            Step::Tap(says("Create new event")),
            Step::Write(field(0), title.into()),
            on_day(day),
            Step::Switch(says("All day"), true),
            Step::Tap(says("Save")),
            Step::Read(says(title)),
        ],
        wants: vec![written(day, title, "", "")],
    }
}

fn put_off(draw: &mut Draw<'_>) -> Case {
    let (day, title) = (draw.pick(&FREE), draw.pick(&TITLES));
    let later = day + draw.number(1, 3) as u32;
    Case {
        goal: format!(
            "Move \"{title}\" in Calendar from {} to {}, at the same time.",
            spoken(day),
            spoken(later)
        ),
        given: event(40, day, title, "Hall 2"),
        script: vec![
            Step::Launch(CALENDAR),
            Step::Tap(says(day.to_string())),
            Step::Enough(says("Nothing planned")),
            Step::Tap(says(title)),
            Step::Tap(says("Edit event")),
            Step::Until {
                tap: says("Later day"),
                back: Some(says("Earlier day")),
                shows: says(spoken(later)),
                most: 6,
            },
            Step::Tap(says("Save")),
            Step::Read(says(spoken(later))),
        ],
        wants: vec![kept(CALENDAR, [("event/40/day", &format!("2024-03-{later:02}"))])],
    }
}

fn delete(draw: &mut Draw<'_>) -> Case {
    let (day, titles) = (draw.pick(&FREE), draw.some(&TITLES, 2));
    let at = draw.number(0, 1) as usize;
    let mut given = event(40, day, titles[0], "Room 1");
    given.extend(event(41, day, titles[1], "Room 2"));
    Case {
        goal: format!(
            "Delete \"{}\" on {} from Calendar, and nothing else.",
            titles[at],
            spoken(day)
        ),
        given,
        script: vec![
            Step::Launch(CALENDAR),
            Step::Tap(says(day.to_string())),
            Step::Tap(says(titles[at])),
            Step::Tap(says("Delete event")),
            Step::Tap(says("Delete")),
        ],
        wants: vec![Want::Gone(CALENDAR, format!("event/{}", 40 + at))],
    }
}

fn place_of(draw: &mut Draw<'_>) -> Case {
    let (day, title, place) = (draw.pick(&FREE), draw.pick(&TITLES), draw.pick(&PLACES));
    Case {
        goal: format!("Where does \"{title}\" on {} take place, by Calendar?", spoken(day)),
        given: event(40, day, title, place),
        script: vec![
            Step::Launch(CALENDAR),
            Step::Tap(says(day.to_string())),
            Step::Read(like(r"^\d+:\d\d, (.+)$").beside(says(title))),
            Step::Answer("{0}".into()),
        ],
        wants: vec![Want::Answer(place.into())],
    }
}
