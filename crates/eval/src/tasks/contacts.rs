//! Tasks in Contacts.

use super::super::script::{ScriptStep, ScriptSwipe, field, like, with_text};
use super::super::task::{ParamSource, SuccessCondition, Task, TaskInstance};
use super::{CONTACTS, FIRST, LAST, person, phone, stored};

pub(super) const TASKS: &[Task] = &[
    Task { name: "contacts-add", apps: &["Contacts"], needs: &[], make: add },
    Task { name: "contacts-change-number", apps: &["Contacts"], needs: &[], make: change },
    Task { name: "contacts-delete", apps: &["Contacts"], needs: &[], make: delete },
    Task { name: "contacts-number", apps: &["Contacts"], needs: &[], make: number },
];

fn add(draw: &mut ParamSource<'_>) -> TaskInstance {
    let (first, last) = (draw.pick(&FIRST), draw.pick(&LAST));
    let number = phone(draw.number(0, 99));
    TaskInstance {
        goal: format!("Add {first} {last} to Contacts with the phone number {number}."),
        given: Vec::new(),
        script: create(first, last, &number),
        wants: vec![added(first, last, &number)],
    }
}

/// Creates a new contact.
pub(super) fn create(first: &str, last: &str, number: &str) -> Vec<ScriptStep> {
    vec![
        ScriptStep::Launch(CONTACTS),
        ScriptStep::SkipIfVisible(with_text(format!("{first} {last}"))),
        ScriptStep::Tap(with_text("Create contact")),
        ScriptStep::Type(field(0), first.into()),
        ScriptStep::Type(field(1), last.into()),
        ScriptStep::Type(field(2), number.into()),
        ScriptStep::Tap(with_text("Save")),
        ScriptStep::Tap(with_text("Navigate up")),
    ]
}

/// The contact a task must create.
pub(super) fn added(first: &str, last: &str, number: &str) -> SuccessCondition {
    stored(
        CONTACTS,
        [
            ("contact/<n>/first_name", first),
            ("contact/<n>/last_name", last),
            ("contact/<n>/phone", number),
            ("contact/<n>/email", ""),
        ],
    )
}

/// Goes from the list to a contact's page, using the search.
pub(super) fn open(first: &str, last: &str) -> Vec<ScriptStep> {
    vec![
        ScriptStep::Launch(CONTACTS),
        ScriptStep::Tap(with_text("Search contacts")),
        ScriptStep::Type(field(0), first.into()),
        ScriptStep::Tap(with_text(format!("{first} {last}"))),
    ]
}

fn change(draw: &mut ParamSource<'_>) -> TaskInstance {
    let (first, last) = (draw.pick(&FIRST), draw.pick(&LAST));
    let at = draw.number(0, 98);
    let (old, new) = (phone(at), phone(at + 1));
    let mut script = open(first, last);
    script.extend([
        ScriptStep::Tap(with_text("Edit contact")),
        ScriptStep::Type(field(2), new.clone()),
        ScriptStep::Tap(with_text("Save")),
        ScriptStep::Read(with_text(&*new)),
    ]);
    TaskInstance {
        goal: format!("{first} {last} has a new phone number: change it to {new} in Contacts."),
        given: person(90, first, last, &old),
        script,
        wants: vec![
            // The form writes all of its fields.
            stored(CONTACTS, [("contact/90/phone", &new), ("contact/90/email", "")]),
        ],
    }
}

fn delete(draw: &mut ParamSource<'_>) -> TaskInstance {
    let first = draw.some(&FIRST, 2);
    let last = draw.pick(&LAST);
    let mut given = person(90, first[0], last, &phone(3));
    given.extend(person(91, first[1], last, &phone(4)));
    let at = draw.number(0, 1) as usize;
    let mut script = open(first[at], last);
    script.extend([
        ScriptStep::Tap(with_text("Delete contact")),
        ScriptStep::Tap(with_text("Delete")),
    ]);
    // The search finds nobody with that name any more.
    script.insert(3, ScriptStep::SkipIfVisible(with_text("No contacts found")));
    TaskInstance {
        goal: format!("Delete {} {last} from Contacts.", first[at]),
        given,
        script,
        wants: vec![SuccessCondition::RecordRemoved(CONTACTS, format!("contact/{}", 90 + at))],
    }
}

fn number(draw: &mut ParamSource<'_>) -> TaskInstance {
    let (first, last) = (draw.pick(&["Ulla", "Vera", "Wanda", "Xaver", "Yara"]), draw.pick(&LAST));
    let number = phone(draw.number(0, 99));
    let name = format!("{first} {last}");
    TaskInstance {
        goal: format!("What is {name}'s phone number? Scroll to them in Contacts."),
        given: person(90, first, last, &number),
        script: vec![
            ScriptStep::Launch(CONTACTS),
            ScriptStep::ScrollTo(with_text(&*name), ScriptSwipe::Up),
            ScriptStep::Tap(with_text(&*name)),
            ScriptStep::Read(like(r"^\(\d{3}\) \d{3}-\d{4}$")),
            ScriptStep::Answer("{0}".into()),
        ],
        wants: vec![SuccessCondition::Answer(number)],
    }
}
