//! Tasks in Contacts.

use super::super::script::{ScriptStep, ScriptSwipe, field, like, with_text};
use super::super::task::Category::*;
use super::super::task::Difficulty::*;
use super::super::task::{ParamSource, SuccessCondition, Task, TaskInstance};
use super::{CONTACTS, FIRST, LAST, person, phone, stored};

pub(super) const TASKS: &[Task] = &[
    Task::new("contacts-add", &["Contacts"], Medium, &[DataEntry], add),
    Task::new("contacts-change-number", &["Contacts"], Medium, &[DataEdit, Search], change),
    Task::new("contacts-delete", &["Contacts"], Medium, &[DataEdit, Search], delete),
    Task::new("contacts-number", &["Contacts"], Easy, &[InformationRetrieval, Search], number),
    Task::new(
        "contacts-add-email",
        &["Contacts"],
        Medium,
        &[DataEdit, DataEntry, Search],
        add_email,
    ),
    Task::new("contacts-email", &["Contacts"], Easy, &[InformationRetrieval, Search], email_of),
    Task::new("contacts-whose-number", &["Contacts"], Easy, &[InformationRetrieval, Search], whose),
    Task::new("contacts-rename", &["Contacts"], Medium, &[DataEdit, Search], rename),
    Task::new(
        "contacts-delete-two",
        &["Contacts"],
        Hard,
        &[DataEdit, Composite, Repetition],
        delete_two,
    ),
    Task::new("contacts-team", &["Contacts"], Hard, &[DataEntry, Composite, Repetition], team),
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

fn mail(first: &str, draw: &mut ParamSource<'_>) -> String {
    format!("{}{}@example.org", first.to_lowercase(), draw.number(2, 99))
}

fn add_email(draw: &mut ParamSource<'_>) -> TaskInstance {
    let (first, last) = (draw.pick(&FIRST), draw.pick(&LAST));
    let mail = mail(first, draw);
    let mut script = open(first, last);
    script.extend([
        ScriptStep::Tap(with_text("Edit contact")),
        ScriptStep::Type(field(3), mail.clone()),
        ScriptStep::Tap(with_text("Save")),
        ScriptStep::Read(with_text(&*mail)),
    ]);
    TaskInstance {
        goal: format!("{first} {last}'s email address is {mail}. Add it to Contacts."),
        given: person(90, first, last, &phone(7)),
        script,
        wants: vec![stored(CONTACTS, [("contact/90/email", &mail)])],
    }
}

fn email_of(draw: &mut ParamSource<'_>) -> TaskInstance {
    let (first, last) = (draw.pick(&FIRST), draw.pick(&LAST));
    let mail = mail(first, draw);
    let mut given = person(90, first, last, &phone(7));
    given.extend(super::given(CONTACTS, [("contact/90/email", &mail)]));
    let mut script = open(first, last);
    script
        .extend([ScriptStep::Read(like(r"^\S+@example\.org$")), ScriptStep::Answer("{0}".into())]);
    TaskInstance {
        goal: format!("Which email address do I have for {first} {last} in Contacts?"),
        given,
        script,
        wants: vec![SuccessCondition::Answer(mail)],
    }
}

fn whose(draw: &mut ParamSource<'_>) -> TaskInstance {
    let (first, last) = (draw.pick(&FIRST), draw.pick(&LAST));
    // An area code that nobody else has.
    let number = format!("(718) 555-0{}", draw.number(100, 199));
    TaskInstance {
        goal: format!(
            "I missed a call from {number}. Whose number is that, according to Contacts?"
        ),
        given: person(90, first, last, &number),
        script: vec![
            ScriptStep::Launch(CONTACTS),
            ScriptStep::Tap(with_text("Search contacts")),
            ScriptStep::Type(field(0), number),
            ScriptStep::Read(like(format!("^\\S+ (?:{})$", LAST.join("|")))),
            ScriptStep::Answer("{0}".into()),
        ],
        wants: vec![SuccessCondition::Answer(format!("{first} {last}"))],
    }
}

fn rename(draw: &mut ParamSource<'_>) -> TaskInstance {
    let (first, last) = (draw.pick(&FIRST), draw.some(&LAST, 2));
    let mut script = open(first, last[0]);
    script.extend([
        ScriptStep::Tap(with_text("Edit contact")),
        ScriptStep::Type(field(1), last[1].into()),
        ScriptStep::Tap(with_text("Save")),
        ScriptStep::Read(with_text(format!("{first} {}", last[1]))),
    ]);
    TaskInstance {
        goal: format!(
            "{first} {} has married and is called {first} {} now. Change it in Contacts.",
            last[0], last[1]
        ),
        given: person(90, first, last[0], &phone(5)),
        script,
        wants: vec![
            // The form writes all of its fields.
            stored(CONTACTS, [("contact/90/last_name", last[1]), ("contact/90/email", "")]),
        ],
    }
}

fn delete_two(draw: &mut ParamSource<'_>) -> TaskInstance {
    let first = draw.some(&FIRST, 3);
    let last = draw.some(&LAST, 3);
    let (mut given, mut script) = (Vec::new(), Vec::new());
    for at in 0..3 {
        given.extend(person(90 + at, first[at], last[at], &phone(at as u64)));
    }
    for at in 0..2 {
        script.extend(open(first[at], last[at]));
        script.extend([
            ScriptStep::Tap(with_text("Delete contact")),
            ScriptStep::Tap(with_text("Delete")),
            // The search is still open.
            ScriptStep::Tap(with_text("Back")),
        ]);
    }
    TaskInstance {
        goal: format!(
            "{} {} and {} {} moved away. Delete both from Contacts.",
            first[0], last[0], first[1], last[1]
        ),
        given,
        script,
        wants: (90..92)
            .map(|number| SuccessCondition::RecordRemoved(CONTACTS, format!("contact/{number}")))
            .collect(),
    }
}

fn team(draw: &mut ParamSource<'_>) -> TaskInstance {
    let first = draw.some(&FIRST, 4);
    let last = draw.some(&LAST, 4);
    let begin = draw.number(0, 60);
    let each = (0..4).map(|at| (first[at], last[at], phone(begin + 7 * at as u64)));
    let people = each.clone().map(|(first, last, number)| format!("{first} {last}, {number}"));
    TaskInstance {
        goal: format!(
            "Our new team has four people. Add them all to Contacts: {}.",
            people.collect::<Vec<_>>().join("; ")
        ),
        given: Vec::new(),
        script: each
            .clone()
            .flat_map(|(first, last, number)| create(first, last, &number))
            .collect(),
        wants: each.map(|(first, last, number)| added(first, last, &number)).collect(),
    }
}
