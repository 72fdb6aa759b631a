//! Tasks in Contacts.

use super::super::script::{Step, Way, field, like, says};
use super::super::task::{Case, Draw, Task, Want};
use super::{CONTACTS, FIRST, LAST, kept, person, phone};

pub(super) const TASKS: &[Task] = &[
    Task { name: "contacts-add", apps: &["Contacts"], make: add },
    Task { name: "contacts-change-number", apps: &["Contacts"], make: change },
    Task { name: "contacts-delete", apps: &["Contacts"], make: delete },
    Task { name: "contacts-number", apps: &["Contacts"], make: number },
];

fn add(draw: &mut Draw<'_>) -> Case {
    let (first, last) = (draw.pick(&FIRST), draw.pick(&LAST));
    let number = phone(draw.number(0, 99));
    Case {
        goal: format!("Add {first} {last} to Contacts, with the phone number {number}."),
        given: Vec::new(),
        script: create(first, last, &number),
        wants: vec![added(first, last, &number)],
    }
}

/// Adds a person who is not there yet.
pub(super) fn create(first: &str, last: &str, number: &str) -> Vec<Step> {
    vec![
        Step::Launch(CONTACTS),
        Step::Enough(says(format!("{first} {last}"))),
        Step::Tap(says("Create contact")),
        Step::Write(field(0), first.into()),
        Step::Write(field(1), last.into()),
        Step::Write(field(2), number.into()),
        Step::Tap(says("Save")),
        Step::Tap(says("Navigate up")),
    ]
}

/// A new person after a task.
pub(super) fn added(first: &str, last: &str, number: &str) -> Want {
    kept(
        CONTACTS,
        [
            ("contact/<n>/first_name", first),
            ("contact/<n>/last_name", last),
            ("contact/<n>/phone", number),
            ("contact/<n>/email", ""),
        ],
    )
}

/// From the list to a person's page, by the search.
pub(super) fn open(first: &str, last: &str) -> Vec<Step> {
    vec![
        Step::Launch(CONTACTS),
        Step::Tap(says("Search contacts")),
        Step::Write(field(0), first.into()),
        Step::Tap(says(format!("{first} {last}"))),
    ]
}

fn change(draw: &mut Draw<'_>) -> Case {
    let (first, last) = (draw.pick(&FIRST), draw.pick(&LAST));
    let at = draw.number(0, 98);
    let (old, new) = (phone(at), phone(at + 1));
    let mut script = open(first, last);
    script.extend([
        Step::Tap(says("Edit contact")),
        Step::Write(field(2), new.clone()),
        Step::Tap(says("Save")),
        Step::Read(says(&*new)),
    ]);
    Case {
        goal: format!("{first} {last} has a new phone number: change it to {new} in Contacts."),
        given: person(90, first, last, &old),
        script,
        wants: vec![
            // The form writes all of it.
            kept(CONTACTS, [("contact/90/phone", &new), ("contact/90/email", "")]),
        ],
    }
}

fn delete(draw: &mut Draw<'_>) -> Case {
    let first = draw.some(&FIRST, 2);
    let last = draw.pick(&LAST);
    let mut given = person(90, first[0], last, &phone(3));
    given.extend(person(91, first[1], last, &phone(4)));
    let at = draw.number(0, 1) as usize;
    let mut script = open(first[at], last);
    script.extend([Step::Tap(says("Delete contact")), Step::Tap(says("Delete"))]);
    // The search shows nobody of that name any more.
    script.insert(3, Step::Enough(says("No contacts found")));
    Case {
        goal: format!("Delete {} {last} from Contacts.", first[at]),
        given,
        script,
        wants: vec![Want::Gone(CONTACTS, format!("contact/{}", 90 + at))],
    }
}

fn number(draw: &mut Draw<'_>) -> Case {
    let (first, last) = (draw.pick(&["Ulla", "Vera", "Wanda", "Xaver", "Yara"]), draw.pick(&LAST));
    let number = phone(draw.number(0, 99));
    let name = format!("{first} {last}");
    Case {
        goal: format!("What is {name}'s phone number? Scroll to them in Contacts."),
        given: person(90, first, last, &number),
        script: vec![
            Step::Launch(CONTACTS),
            Step::Seek(says(&*name), Way::Up),
            Step::Tap(says(&*name)),
            Step::Read(like(r"^\(\d{3}\) \d{3}-\d{4}$")),
            Step::Answer("{0}".into()),
        ],
        wants: vec![Want::Answer(number)],
    }
}
