//! Tasks in which one app says what to do in another.

use super::super::script::{ScriptStep, like, with_text};
use super::super::task::Category::*;
use super::super::task::Difficulty::*;
use super::super::task::{InitialState, Need, ParamSource, Task, TaskInstance};
use super::cross_app::read_note;
use super::{
    FIRST, MEMBERS, MESSAGES, clock, given, members, new_note, note, notes, sent, shop, stored,
    thread,
};

pub(super) const TASKS: &[Task] = &[
    Task::new(
        "errands-password",
        &["Notes", "Members"],
        Medium,
        &[Memorization, DataEntry],
        password,
    ),
    Task::new(
        "errands-shopping",
        &["Notes", "Shop"],
        Medium,
        &[Memorization, Repetition, Search],
        shopping,
    ),
    Task::new(
        "errands-alarm",
        &["Messages", "Clock"],
        Medium,
        &[Memorization, DataEntry, ComplexUiUnderstanding],
        alarm,
    ),
    Task::new(
        "errands-file-size",
        &["Files", "Notes"],
        Medium,
        &[Transcription, Memorization],
        file_size,
    )
    .needing(&[Need::SharedStorage]),
    Task::new(
        "errands-phone-name",
        &["Settings", "Messages"],
        Medium,
        &[Transcription, Memorization],
        phone_name,
    ),
    Task::new("errands-code", &["Messages", "Notes"], Medium, &[Transcription, Memorization], code),
];

fn then(mut first: Vec<ScriptStep>, second: Vec<ScriptStep>) -> Vec<ScriptStep> {
    first.extend(second);
    first
}

fn password(draw: &mut ParamSource<'_>) -> TaskInstance {
    let email = format!("{}@example.org", draw.pick(&FIRST).to_lowercase());
    let password = format!("marsh-{}", draw.number(1_000, 9_999));
    let mut all = note(43, "Members login", &format!("Password: {password}"));
    all.extend(given(MEMBERS, [("member/7/email", &email), ("member/7/password", &password)]));
    TaskInstance {
        goal: format!(
            "Sign in to Members as {email}. The password is in the note \"Members login\" in Notes."
        ),
        given: all,
        script: then(read_note("Members login", r"Password: (\S+)"), members::enter(&email, "{0}")),
        wants: vec![stored(MEMBERS, [("signed in", &email)])],
    }
}

fn shopping(draw: &mut ParamSource<'_>) -> TaskInstance {
    let (article, count) = (shop::article(draw), draw.number(3, 5));
    let body = format!("{count} x {}", article.name);
    TaskInstance {
        goal:
            "In Shop, add to the cart what the note \"To order\" in Notes lists, in that quantity."
                .into(),
        given: note(44, "To order", &body),
        script: [
            read_note("To order", r"\d x (.+)"),
            vec![ScriptStep::Read(like(r"(\d) x "))],
            shop::fill("{0}", "{1}"),
        ]
        .concat(),
        wants: vec![shop::in_cart(&article, count)],
    }
}

fn alarm(draw: &mut ParamSource<'_>) -> TaskInstance {
    let (name, hour) = (draw.pick(&FIRST), draw.pick(&[8, 9]));
    let minute = draw.pick(&[10, 15, 20, 25]);
    let output = format!("Our boat leaves soon, get up at {hour}:{minute}");
    TaskInstance {
        goal: format!(
            "In Clock, set an alarm with the label \"Boat\" for the time at which {name} tells me in Messages to get up."
        ),
        given: thread(27, name, &[&output]),
        script: then(
            vec![
                ScriptStep::Launch(MESSAGES),
                ScriptStep::Tap(with_text(name)),
                ScriptStep::Read(like(r"get up at (\d+):\d\d")),
                ScriptStep::Read(like(r"get up at \d+:(\d\d)")),
            ],
            clock::set_as_read("Boat"),
        ),
        wants: vec![clock::alarm(hour, minute, "Boat")],
    }
}

fn file_size(draw: &mut ParamSource<'_>) -> TaskInstance {
    let bytes = draw.number(100, 999);
    TaskInstance {
        goal: "Look up in Files how many bytes the file report.txt in the folder Download has, and add a note \"Report\" in Notes with that number as its text."
            .into(),
        given: vec![InitialState::File("/sdcard/Download/report.txt".into(), bytes as usize)],
        script: then(
            vec![
                ScriptStep::Launch(super::FILES),
                ScriptStep::Tap(with_text("Download")),
                ScriptStep::Tap(with_text("report.txt")),
                ScriptStep::Read(like(r"^(\d+) B$")),
            ],
            notes::write("Report", "{0}"),
        ),
        wants: vec![new_note("Report", &bytes.to_string())],
    }
}

fn phone_name(draw: &mut ParamSource<'_>) -> TaskInstance {
    let who = draw.pick(&FIRST);
    let name = format!("Lab {}", draw.number(10, 99));
    let mut all = thread(28, who, &["Which phone is it?"]);
    all.push(InitialState::Setting("global", "device_name", name.clone()));
    TaskInstance {
        goal: format!(
            "Look up this phone's device name in Settings, and send {who} only that name in Messages."
        ),
        given: all,
        script: then(
            vec![
                ScriptStep::Launch(super::SETTINGS),
                ScriptStep::ScrollTo(
                    with_text("About phone"),
                    super::super::script::ScriptSwipe::Up,
                ),
                ScriptStep::Tap(with_text("About phone")),
                ScriptStep::Read(like(r"^\w+ \d\d$").beside(with_text("Device name"))),
            ],
            super::messages::send(who, "{0}"),
        ),
        wants: vec![sent(28, &name)],
    }
}

fn code(draw: &mut ParamSource<'_>) -> TaskInstance {
    let code = draw.number(100_000, 999_999).to_string();
    let text = format!("Your locker opens with {code}.");
    TaskInstance {
        goal: "Add a note \"Locker\" in Notes with the code that the locker service sent in Messages as its text."
            .into(),
        given: thread(29, "Locker Service", &[&text]),
        script: then(
            vec![
                ScriptStep::Launch(MESSAGES),
                ScriptStep::Tap(with_text("Locker Service")),
                ScriptStep::Read(like(r"opens with (\d+)")),
            ],
            notes::write("Locker", "{0}"),
        ),
        wants: vec![new_note("Locker", &code)],
    }
}
