//! The tasks, one file per family; `cross_app` has those that need more than one app.
//!
//! To add a task, write a function that makes a case from random parameters, and add its row to the
//! family's list. Tests then check it: its oracle must succeed for each seed, and an idle policy
//! and one that claims success must not.

mod akhbar;
mod bank;
mod browser;
mod calendar;
mod clock;
mod composite;
mod contacts;
mod cross_app;
mod files;
mod launcher;
mod maps;
mod members;
mod messages;
mod notes;
mod read_then_act;
mod settings;
mod shop;

use super::task::{InitialState, SuccessCondition, Task};

/// All tasks, family by family.
pub fn all() -> Vec<Task> {
    [
        akhbar::TASKS,
        bank::TASKS,
        browser::TASKS,
        calendar::TASKS,
        clock::TASKS,
        contacts::TASKS,
        files::TASKS,
        launcher::TASKS,
        maps::TASKS,
        members::TASKS,
        messages::TASKS,
        notes::TASKS,
        settings::TASKS,
        shop::TASKS,
        cross_app::TASKS,
        read_then_act::TASKS,
        composite::TASKS,
    ]
    .concat()
}

const AKHBAR: &str = "com.example.akhbar";
const BANK: &str = "com.example.bank";
const BROWSER: &str = "com.android.chrome";
const CALENDAR: &str = "com.google.android.calendar";
const CLOCK: &str = "com.google.android.deskclock";
const CONTACTS: &str = "com.google.android.contacts";
const FILES: &str = "com.android.documentsui";
const MAPS: &str = "com.google.android.apps.maps";
const MEMBERS: &str = "com.example.members";
const MESSAGES: &str = "com.google.android.apps.messaging";
const NOTES: &str = "com.android.notes";
const SETTINGS: &str = "com.android.settings";
const SHOP: &str = "com.example.shop";

/// First names that no contact on the phone has.
const FIRST: [&str; 10] =
    ["Ada", "Bruno", "Cleo", "Dario", "Edda", "Finn", "Gesa", "Hanno", "Ines", "Jorin"];
/// Last names, some with non-ASCII letters.
const LAST: [&str; 8] = ["Abel", "Böhm", "Castro", "Dietz", "Ekström", "Falk", "Grün", "Holst"];
/// Words for notes and messages.
const THINGS: [&str; 12] = [
    "butter",
    "candles",
    "dates",
    "envelopes",
    "flour",
    "ginger",
    "honey",
    "ink",
    "jam",
    "kiwis",
    "lemons",
    "matches",
];
/// Locations of events.
const PLACES: [&str; 8] = [
    "Pier 3",
    "Room 12",
    "City Hall",
    "Station Cafe",
    "Mill Street 9",
    "North Gate",
    "Old Library",
    "Museum",
];

/// App values that exist before a task.
fn given<const N: usize>(package: &'static str, pairs: [(&str, &str); N]) -> Vec<InitialState> {
    let one =
        |(key, value): (&str, &str)| InitialState::AppValue(package, key.into(), value.into());
    pairs.map(one).into()
}

/// App values that must exist after a task.
fn stored<const N: usize>(package: &'static str, pairs: [(&str, &str); N]) -> SuccessCondition {
    SuccessCondition::AppValues(
        package,
        pairs.map(|(key, value)| (key.into(), value.into())).into(),
    )
}

/// A note that exists before a task.
fn note(number: usize, title: &str, body: &str) -> Vec<InitialState> {
    given(NOTES, [(&format!("note/{number}/title"), title), (&format!("note/{number}/body"), body)])
}

/// The note a task must create.
fn new_note(title: &str, body: &str) -> SuccessCondition {
    stored(NOTES, [("note/<n>/title", title), ("note/<n>/body", body)])
}

/// A conversation that exists before a task, with messages from the other side.
fn thread(number: usize, name: &str, said: &[&str]) -> Vec<InitialState> {
    let mut all = given(MESSAGES, [(&format!("thread/{number}/name"), name)]);
    for (at, text) in said.iter().enumerate() {
        let message = number * 10 + at;
        all.extend(given(
            MESSAGES,
            [
                (&format!("message/{message}/thread"), &number.to_string()),
                (&format!("message/{message}/from"), "them"),
                (&format!("message/{message}/text"), text),
            ],
        ));
    }
    all
}

/// A message that must be sent in an existing conversation.
fn sent(thread: usize, text: &str) -> SuccessCondition {
    let thread = thread.to_string();
    stored(
        MESSAGES,
        [("message/<m>/thread", &thread), ("message/<m>/from", "me"), ("message/<m>/text", text)],
    )
}

/// A contact that exists before a task.
fn person(number: usize, first: &str, last: &str, phone: &str) -> Vec<InitialState> {
    let key = |field: &str| format!("contact/{number}/{field}");
    given(
        CONTACTS,
        [(&key("first_name"), first), (&key("last_name"), last), (&key("phone"), phone)],
    )
}

/// A phone number that belongs to nobody: 555-0100 to 555-0199 are reserved.
fn phone(number: u64) -> String {
    format!("(212) 555-0{}", 100 + number % 100)
}
