//! Longer tasks in more than one app: what one shows is copied, added up, or paid in another.

use super::super::script::{ScriptStep, field, like, with_text};
use super::super::task::Category::*;
use super::super::task::Difficulty::*;
use super::super::task::{ParamSource, Task, TaskInstance};
use super::{
    CALENDAR, CLOCK, CONTACTS, FIRST, LAST, MEMBERS, MESSAGES, PLACES, akhbar, bank, browser,
    calendar, contacts, given, maps, messages, new_note, notes, person, phone, sent, settings,
    shop, stored, thread,
};

pub(super) const TASKS: &[Task] = &[
    Task::new(
        "across-address-to-message",
        &["Maps", "Messages"],
        Medium,
        &[Transcription, Memorization, Search],
        address_to_message,
    ),
    Task::new(
        "across-alarm-to-message",
        &["Clock", "Messages"],
        Easy,
        &[Transcription, Memorization],
        alarm_to_message,
    ),
    Task::new(
        "across-message-to-contact",
        &["Messages", "Contacts"],
        Medium,
        &[Transcription, Memorization, DataEdit],
        message_to_contact,
    ),
    Task::new(
        "across-message-to-bank",
        &["Messages", "Bank"],
        Hard,
        &[Transcription, Memorization, DataEntry],
        message_to_bank,
    ),
    Task::new(
        "across-price-to-bank",
        &["Shop", "Bank"],
        Hard,
        &[Memorization, DataEntry, Search],
        price_to_bank,
    ),
    Task::new(
        "across-heights-to-note",
        &["Chrome", "Notes"],
        Medium,
        &[MathCounting, Memorization, ScreenReading],
        heights_to_note,
    ),
    Task::new(
        "across-email-to-members",
        &["Contacts", "Members"],
        Medium,
        &[Transcription, Memorization, DataEntry],
        email_to_members,
    ),
    Task::new(
        "across-news-to-message",
        &["Akhbar", "Messages"],
        Medium,
        &[ScreenReading, Memorization],
        news_to_message,
    ),
    Task::new(
        "across-guide",
        &["Calendar", "Maps", "Notes", "Messages"],
        Hard,
        &[Memorization, Transcription, Search],
        guide,
    ),
    Task::new(
        "across-versions-to-note",
        &["Settings", "Notes"],
        Hard,
        &[Memorization, Repetition, ScreenReading],
        versions_to_note,
    ),
];

fn then(mut first: Vec<ScriptStep>, second: Vec<ScriptStep>) -> Vec<ScriptStep> {
    first.extend(second);
    first
}

fn address_to_message(draw: &mut ParamSource<'_>) -> TaskInstance {
    let (place, name) = (maps::place(draw), draw.pick(&FIRST));
    TaskInstance {
        goal: format!(
            "{name} asks where \"{}\" is. Look up its street address in Maps, and send {name} only the address in Messages.",
            place.name
        ),
        given: thread(20, name, &["What is the address?"]),
        script: then(maps::read_address(&place.name), messages::send(name, "{0}")),
        wants: vec![sent(20, &place.address)],
    }
}

fn alarm_to_message(draw: &mut ParamSource<'_>) -> TaskInstance {
    let name = draw.pick(&FIRST);
    let (hour, minute) = (draw.number(4, 6), draw.pick(&["05", "25", "55"]));
    let mut all = thread(20, name, &["When do you get up for the ferry?"]);
    all.extend(given(
        CLOCK,
        [
            ("alarm/20/hour", &*hour.to_string()),
            ("alarm/20/minute", minute),
            ("alarm/20/label", "Ferry"),
            ("alarm/20/on", "yes"),
        ],
    ));
    let read = vec![
        ScriptStep::Launch(CLOCK),
        ScriptStep::Read(like(r"^\d+:\d\d$").beside(with_text("Ferry"))),
    ];
    TaskInstance {
        goal: format!(
            "{name} asks in Messages when I get up. Look for the alarm \"Ferry\" in Clock, and send \"At\", a space, and its time."
        ),
        given: all,
        script: then(read, messages::send(name, "At {0}")),
        wants: vec![sent(20, &format!("At {hour}:{minute}"))],
    }
}

fn message_to_contact(draw: &mut ParamSource<'_>) -> TaskInstance {
    let (first, last) = (draw.pick(&FIRST), draw.pick(&LAST));
    let at = draw.number(0, 98);
    let (old, new) = (phone(at), phone(at + 1));
    let name = format!("{first} {last}");
    let mut all = thread(20, &name, &["Hi!", &format!("My new number: {new}")]);
    all.extend(person(90, first, last, &old));
    let read = vec![
        ScriptStep::Launch(MESSAGES),
        ScriptStep::Tap(with_text(&*name)),
        ScriptStep::Read(like("^My new number: (.+)$")),
    ];
    let change = vec![
        ScriptStep::Tap(with_text("Edit contact")),
        ScriptStep::Type(field(2), "{0}".into()),
        ScriptStep::Tap(with_text("Save")),
        ScriptStep::Read(with_text("{0}")),
    ];
    TaskInstance {
        goal: format!("{name} wrote me a new phone number in Messages. Update Contacts."),
        given: all,
        script: then(then(read, contacts::open(first, last)), change),
        // The form writes all of its fields.
        wants: vec![stored(CONTACTS, [("contact/90/phone", &*new), ("contact/90/email", "")])],
    }
}

fn message_to_bank(draw: &mut ParamSource<'_>) -> TaskInstance {
    let (who, dollars) = (draw.pick(&FIRST), draw.number(12, 240));
    let text = draw.pick(&["Theatre", "Petrol", "Firewood"]);
    let read = vec![
        ScriptStep::Launch(MESSAGES),
        ScriptStep::Tap(with_text(who)),
        ScriptStep::Read(like(r"^You owe me \$(\d+)")),
    ];
    let open = vec![
        ScriptStep::Tap(with_text("Current account")),
        // Money already sent is listed here.
        ScriptStep::SkipIfVisible(with_text(text)),
        ScriptStep::Tap(with_text("New transfer")),
    ];
    TaskInstance {
        goal: format!(
            "{who} wrote in Messages what I owe. Pay it from the current account in Bank ({}), with the reference \"{text}\".",
            bank::LOGIN
        ),
        given: thread(20, who, &["That was a nice evening", &format!("You owe me ${dollars}")]),
        script: [read, bank::log_in(), open, bank::send(who, "{0}", text)].concat(),
        wants: vec![bank::booked(0, dollars * 100, who, text)],
    }
}

fn price_to_bank(draw: &mut ParamSource<'_>) -> TaskInstance {
    let (article, who) = (shop::article(draw), draw.pick(&FIRST));
    let read = vec![ScriptStep::Read(like(r"^\$([\d.]+)$"))];
    let open = vec![
        ScriptStep::Tap(with_text("Current account")),
        ScriptStep::SkipIfVisible(with_text("Present")),
        ScriptStep::Tap(with_text("New transfer")),
    ];
    TaskInstance {
        goal: format!(
            "{who} bought \"{}\" for me. See what it costs in Shop, and pay {who} that amount from the current account in Bank ({}), with the reference \"Present\".",
            article.name,
            bank::LOGIN
        ),
        given: Vec::new(),
        script: [
            shop::open(&article.name),
            read,
            bank::log_in(),
            open,
            bank::send(who, "{0}", "Present"),
        ]
        .concat(),
        wants: vec![bank::booked(0, article.cents, who, "Present")],
    }
}

fn heights_to_note(draw: &mut ParamSource<'_>) -> TaskInstance {
    let three = draw.some(&browser::TOWERS, 3);
    let metres = |height: &str| height.trim_end_matches(" m").parse::<u64>().unwrap_or(0);
    let sum: u64 = three.iter().map(|(_, height)| metres(height)).sum();
    let title = format!("Stairs {}", draw.number(2, 99));
    let mut read = vec![
        ScriptStep::Launch(super::BROWSER),
        ScriptStep::Tap(with_text("Heights of lighthouses")),
    ];
    read.extend(
        three
            .iter()
            .map(|(tower, _)| ScriptStep::Read(like(r"^(\d+) m$").beside(with_text(*tower)))),
    );
    read.push(ScriptStep::Sum);
    TaskInstance {
        goal: format!(
            "Chrome has a page with the heights of lighthouses. Add up the metres of {}, {} and {}, and write only the sum into a new note \"{title}\" in Notes.",
            three[0].0, three[1].0, three[2].0
        ),
        given: Vec::new(),
        script: then(read, notes::write(&title, "{3}")),
        wants: vec![new_note(&title, &sum.to_string())],
    }
}

fn email_to_members(draw: &mut ParamSource<'_>) -> TaskInstance {
    let (first, last) = (draw.pick(&FIRST), draw.pick(&LAST));
    let email = format!("{}{}@example.org", first.to_lowercase(), draw.number(2, 99));
    let password = format!("cedar-{}", draw.number(1_000, 9_999));
    let mut all = person(90, first, last, &phone(8));
    all.extend(given(CONTACTS, [("contact/90/email", &*email)]));
    let read = vec![ScriptStep::Read(like(r"^\S+@example\.org$"))];
    let join = vec![
        ScriptStep::Launch(MEMBERS),
        ScriptStep::SkipIfVisible(with_text("Sign out")),
        ScriptStep::Tap(with_text("Create account")),
        ScriptStep::Type(field(0), "{0}".into()),
        ScriptStep::Type(field(1), password.clone()),
        ScriptStep::Type(field(2), password.clone()),
        ScriptStep::Tap(like("^Create account$").beside(field(2))),
        ScriptStep::Read(with_text("Sign out")),
    ];
    TaskInstance {
        goal: format!(
            "Create an account in Members for {first} {last}, with the email address from Contacts and the password {password}."
        ),
        given: all,
        script: [contacts::open(first, last), read, join].concat(),
        wants: vec![stored(
            MEMBERS,
            [
                ("member/<n>/email", &*email),
                ("member/<n>/password", &password),
                ("signed in", &email),
            ],
        )],
    }
}

fn news_to_message(draw: &mut ParamSource<'_>) -> TaskInstance {
    let (question, story, pattern, fact) = draw.pick(&akhbar::FACTS);
    let name = draw.pick(&FIRST);
    TaskInstance {
        goal: format!(
            "{name} wants to know: {question} The Arabic news app (com.example.akhbar) has the answer. Send {name} only the number in Messages."
        ),
        given: thread(20, name, &["Do you know it?"]),
        script: [
            akhbar::open(story),
            vec![ScriptStep::Read(like(pattern))],
            messages::send(name, "{0}"),
        ]
        .concat(),
        wants: vec![sent(20, fact)],
    }
}

/// Four apps: an event's place, a restaurant's phone number, a note with both, and a message.
fn guide(draw: &mut ParamSource<'_>) -> TaskInstance {
    let (name, meeting, place) = (draw.pick(&FIRST), draw.pick(&PLACES), maps::place(draw));
    let title = format!("Visit of {name}");
    let mut all = calendar::event(40, 13, "Guided tour", meeting);
    all.extend(thread(20, name, &["What are we going to do?"]));
    let read = vec![
        ScriptStep::Launch(CALENDAR),
        ScriptStep::Tap(calendar::day_of_month(13)),
        ScriptStep::Read(like(r"^\d+:\d\d, (.+)$").beside(with_text("Guided tour"))),
    ];
    TaskInstance {
        goal: format!(
            "{name} comes to visit. Find out where the \"Guided tour\" on 13 March begins (Calendar), and the phone number of \"{}\" (Maps). Write both into a new note \"{title}\" in Notes, the place on the first line and the number on the second. Then send {name} only the place in Messages.",
            place.name
        ),
        given: all,
        script: [
            read,
            maps::read_phone(&place.name),
            notes::write(&title, "{0}\n{1}"),
            messages::send(name, "{0}"),
        ]
        .concat(),
        wants: vec![new_note(&title, &format!("{meeting}\n{}", place.phone)), sent(20, meeting)],
    }
}

fn versions_to_note(draw: &mut ParamSource<'_>) -> TaskInstance {
    let apps = draw.some(&settings::APPS, 2);
    let versions: Vec<String> =
        apps.iter().map(|(_, package)| settings::version_of(package, draw.world)).collect();
    let title = format!("Report {}", draw.number(2, 99));
    let mut script = Vec::new();
    for (label, _) in &apps {
        script.extend(settings::app_page(label));
        script.extend([
            ScriptStep::Read(like(r"^\d[\d.]*$").beside(with_text("Version"))),
            ScriptStep::Press("BACK"),
            ScriptStep::Press("BACK"),
        ]);
    }
    TaskInstance {
        goal: format!(
            "Somebody needs the versions of my apps {} and {}. Find them in Settings, and write them into a new note \"{title}\" in Notes, in this order, each on its own line.",
            apps[0].0, apps[1].0
        ),
        given: Vec::new(),
        script: then(script, notes::write(&title, "{0}\n{1}")),
        wants: vec![new_note(&title, &versions.join("\n"))],
    }
}
