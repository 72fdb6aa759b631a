//! The tasks, a family a file; `across` has those that need more than one app.
//!
//! To add one: a function that draws a case, and its row in the family's list. Tests then try it: its oracle must succeed for each seed,
//! an idle mind and one that claims success must not.

mod across;
mod akhbar;
mod bank;
mod browser;
mod calendar;
mod clock;
mod contacts;
mod errands;
mod files;
mod launcher;
mod maps;
mod members;
mod messages;
mod notes;
mod settings;
mod shop;

use super::task::{Given, Task, Want};

/// All tasks, a family after the other.
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
        across::TASKS,
        errands::TASKS,
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

/// First names that nobody on the phone has.
const FIRST: [&str; 10] =
    ["Ada", "Bruno", "Cleo", "Dario", "Edda", "Finn", "Gesa", "Hanno", "Ines", "Jorin"];
/// Family names, some with letters beyond ASCII.
const LAST: [&str; 8] = ["Abel", "Böhm", "Castro", "Dietz", "Ekström", "Falk", "Grün", "Holst"];
/// What people write into notes and messages.
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
/// Places that events take place at.
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

/// Values that an app keeps before a task.
fn given<const N: usize>(package: &'static str, pairs: [(&str, &str); N]) -> Vec<Given> {
    let one = |(key, value): (&str, &str)| Given::Kept(package, key.into(), value.into());
    pairs.map(one).into()
}

/// Values that an app keeps after it.
fn kept<const N: usize>(package: &'static str, pairs: [(&str, &str); N]) -> Want {
    Want::Kept(package, pairs.map(|(key, value)| (key.into(), value.into())).into())
}

/// A note before a task.
fn note(number: usize, title: &str, body: &str) -> Vec<Given> {
    given(NOTES, [(&format!("note/{number}/title"), title), (&format!("note/{number}/body"), body)])
}

/// A new note after it.
fn new_note(title: &str, body: &str) -> Want {
    kept(NOTES, [("note/<n>/title", title), ("note/<n>/body", body)])
}

/// A conversation before a task, in which the other side said these.
fn thread(number: usize, name: &str, said: &[&str]) -> Vec<Given> {
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

/// A message sent to a conversation that was there.
fn sent(thread: usize, text: &str) -> Want {
    let thread = thread.to_string();
    kept(
        MESSAGES,
        [("message/<m>/thread", &thread), ("message/<m>/from", "me"), ("message/<m>/text", text)],
    )
}

/// A person before a task.
fn person(number: usize, first: &str, last: &str, phone: &str) -> Vec<Given> {
    let key = |field: &str| format!("contact/{number}/{field}");
    given(
        CONTACTS,
        [(&key("first_name"), first), (&key("last_name"), last), (&key("phone"), phone)],
    )
}

/// A number that belongs to nobody: 555-0100 to 555-0199 are kept free.
fn phone(number: u64) -> String {
    format!("(212) 555-0{}", 100 + number % 100)
}
