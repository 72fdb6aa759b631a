//! Tasks that read something in one app and write it in another.

use super::super::script::{ScriptStep, like, with_text};
use super::super::task::Category::*;
use super::super::task::Difficulty::*;
use super::super::task::{ParamSource, Task, TaskInstance};
use super::{
    FIRST, LAST, MESSAGES, NOTES, PLACES, akhbar, bank, browser, calendar, contacts, maps,
    messages, new_note, notes, person, phone, sent, shop, thread,
};

pub(super) const TASKS: &[Task] = &[
    Task::new(
        "across-number-to-note",
        &["Contacts", "Notes"],
        Medium,
        &[Transcription, Memorization, Search],
        number_to_note,
    ),
    Task::new(
        "across-message-to-event",
        &["Messages", "Calendar"],
        Medium,
        &[Transcription, Memorization, DataEntry],
        to_event,
    ),
    Task::new(
        "across-price-to-message",
        &["Shop", "Messages"],
        Medium,
        &[Transcription, Memorization, Search],
        price_to_message,
    ),
    Task::new(
        "across-place-to-contact",
        &["Maps", "Contacts"],
        Medium,
        &[Transcription, Memorization, Search],
        place_to_contact,
    ),
    Task::new(
        "across-height-to-note",
        &["Chrome", "Notes"],
        Medium,
        &[Transcription, Memorization],
        height_to_note,
    ),
    Task::new(
        "across-balance-to-message",
        &["Bank", "Messages"],
        Medium,
        &[Transcription, Memorization],
        balance,
    ),
    Task::new(
        "across-event-to-message",
        &["Calendar", "Messages"],
        Medium,
        &[Transcription, Memorization],
        event,
    ),
    Task::new(
        "across-news-to-note",
        &["Akhbar", "Notes"],
        Medium,
        &[Transcription, Memorization, ScreenReading],
        news_to_note,
    ),
];

fn then(mut first: Vec<ScriptStep>, second: Vec<ScriptStep>) -> Vec<ScriptStep> {
    first.extend(second);
    first
}

fn number_to_note(draw: &mut ParamSource<'_>) -> TaskInstance {
    let (first, last) = (draw.pick(&FIRST), draw.pick(&LAST));
    let number = phone(draw.number(0, 99));
    let title = format!("Call {first}");
    let read = [ScriptStep::Read(like(r"^\(\d{3}\) \d{3}-\d{4}$"))];
    TaskInstance {
        goal: format!(
            "Look up {first} {last}'s phone number in Contacts, and add a note \"{title}\" in Notes with that number as its text."
        ),
        given: person(90, first, last, &number),
        script: then(then(contacts::open(first, last), read.into()), notes::write(&title, "{0}")),
        wants: vec![new_note(&title, &number)],
    }
}

fn to_event(draw: &mut ParamSource<'_>) -> TaskInstance {
    let (name, place) = (draw.pick(&FIRST), draw.pick(&PLACES));
    let day = draw.pick(&[7, 11, 13, 15]);
    let title = format!("Meet {name}");
    let output = format!("Let us meet at 9:15. Place: {place}");
    let read = vec![
        ScriptStep::Launch(MESSAGES),
        ScriptStep::Tap(with_text(name)),
        ScriptStep::Read(like("Place: (.+)")),
    ];
    TaskInstance {
        goal: format!(
            "{name} wrote in Messages where to meet. Add the event \"{title}\" to Calendar on {day} March at 9:15, with that place as its location."
        ),
        given: thread(23, name, &[&output]),
        script: then(read, calendar::write(day, &title, "{0}", 1)),
        wants: vec![calendar::written(day, &title, place, "9:15")],
    }
}

fn price_to_message(draw: &mut ParamSource<'_>) -> TaskInstance {
    let (article, name) = (shop::article(draw), draw.pick(&FIRST));
    let price = shop::price(article.cents);
    let read = then(shop::open(&article.name), vec![ScriptStep::Read(like(r"^\$[\d.]+$"))]);
    TaskInstance {
        goal: format!(
            "Find out how much \"{}\" costs in Shop, and send {name} the price in Messages: \"It costs\", a space, and the price.",
            article.name
        ),
        given: thread(24, name, &["How much is it?"]),
        script: then(read, messages::send(name, "It costs {0}")),
        wants: vec![sent(24, &format!("It costs {price}"))],
    }
}

fn place_to_contact(draw: &mut ParamSource<'_>) -> TaskInstance {
    let place = maps::place(draw);
    let (first, last) = ("Desk", draw.pick(&["Morning", "Evening", "Night"]));
    TaskInstance {
        goal: format!(
            "Look up the phone number of \"{}\" in Maps, and add a new contact {first} {last} with it to Contacts.",
            place.name
        ),
        given: Vec::new(),
        script: then(maps::read_phone(&place.name), contacts::create(first, last, "{0}")),
        wants: vec![contacts::added(first, last, &place.phone)],
    }
}

fn height_to_note(draw: &mut ParamSource<'_>) -> TaskInstance {
    let (tower, height) = draw.pick(&browser::TOWERS);
    TaskInstance {
        goal: format!(
            "Find out in Chrome how high the lighthouse {tower} is, and add a note \"{tower}\" in Notes with its height as the text, such as 20 m."
        ),
        given: Vec::new(),
        script: then(browser::read_height(tower), notes::write(tower, "{0}")),
        wants: vec![new_note(tower, height)],
    }
}

fn balance(draw: &mut ParamSource<'_>) -> TaskInstance {
    let (cents, name) = (draw.number(10_000, 90_000), draw.pick(&FIRST));
    let read = vec![ScriptStep::Read(like(r"^\$[\d,.]+$").beside(with_text("Savings account")))];
    let mut given = bank::saved(cents);
    given.extend(thread(25, name, &["How much did we save?"]));
    TaskInstance {
        goal: format!(
            "Look up in Bank ({}) how much is in the savings account, and send {name} only that amount in Messages.",
            bank::LOGIN
        ),
        given,
        script: then(then(bank::log_in(), read), messages::send(name, "{0}")),
        wants: vec![sent(25, &bank::balance_with(cents))],
    }
}

fn event(draw: &mut ParamSource<'_>) -> TaskInstance {
    let (name, place) = (draw.pick(&FIRST), draw.pick(&PLACES));
    let mut given = calendar::event(40, 19, "Rehearsal", place);
    given.extend(thread(26, name, &["Where is the rehearsal?"]));
    let read = vec![
        ScriptStep::Launch(super::CALENDAR),
        ScriptStep::Tap(calendar::day_of_month(19)),
        ScriptStep::Read(like(r"^\d+:\d\d, (.+)$").beside(with_text("Rehearsal"))),
    ];
    TaskInstance {
        goal: format!(
            "Look up in Calendar where \"Rehearsal\" on 19 March takes place, and send {name} only that place in Messages."
        ),
        given,
        script: then(read, messages::send(name, "{0}")),
        wants: vec![sent(26, place)],
    }
}

fn news_to_note(draw: &mut ParamSource<'_>) -> TaskInstance {
    let (question, story, pattern, fact) = draw.pick(&akhbar::FACTS);
    let read = vec![ScriptStep::Read(like(pattern))];
    TaskInstance {
        goal: format!(
            "{question} The Arabic news app (com.example.akhbar) has the answer. Add a note \"News\" in Notes with the number as its text."
        ),
        given: Vec::new(),
        script: then(then(akhbar::open(story), read), notes::write("News", "{0}")),
        wants: vec![new_note("News", fact)],
    }
}

/// Reads the text of a note.
pub(super) fn read_note(title: &str, pattern: &str) -> Vec<ScriptStep> {
    vec![
        ScriptStep::Launch(NOTES),
        ScriptStep::Tap(with_text(title)),
        ScriptStep::Read(like(pattern)),
    ]
}
