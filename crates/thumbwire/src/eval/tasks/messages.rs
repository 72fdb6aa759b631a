//! Tasks in Messages.

use super::super::script::{Aim, Step, field, like, says};
use super::super::task::{Case, Draw, Task, Want};
use super::{FIRST, MESSAGES, THINGS, kept, phone, sent, thread};

pub(super) const TASKS: &[Task] = &[
    Task { name: "messages-send", apps: &["Messages"], make: send_one },
    Task { name: "messages-begin", apps: &["Messages"], make: begin },
    Task { name: "messages-delete", apps: &["Messages"], make: delete },
    Task { name: "messages-copy", apps: &["Messages"], make: copy },
    Task { name: "messages-code", apps: &["Messages"], make: code },
];

/// Sends a text to a conversation that is there.
pub(super) fn send(name: &str, text: &str) -> Vec<Step> {
    vec![
        Step::Launch(MESSAGES),
        Step::Tap(says(name)),
        Step::Enough(said(text)),
        Step::Write(field(0), text.into()),
        Step::Tap(says("Send SMS")),
        Step::Read(said(text)),
    ]
}

/// A bubble with this text; the field in which it is written is none.
fn said(text: &str) -> Aim {
    says(text)
}

fn send_one(draw: &mut Draw<'_>) -> Case {
    let name = draw.pick(&FIRST);
    let text = format!("Please bring {} at {}", draw.pick(&THINGS), draw.number(2, 11));
    Case {
        goal: format!("Send {name} the message \"{text}\" in Messages."),
        given: thread(20, name, &["Anything that you need?"]),
        script: send(name, &text),
        wants: vec![sent(20, &text)],
    }
}

fn begin(draw: &mut Draw<'_>) -> Case {
    let to = phone(draw.number(0, 99));
    let text = format!("I need {} boxes of {}", draw.number(2, 40), draw.pick(&THINGS));
    Case {
        goal: format!("Begin a new conversation with {to} in Messages and send \"{text}\"."),
        given: Vec::new(),
        script: vec![
            Step::Launch(MESSAGES),
            Step::Tap(says(&*to).or(says("Start chat"))),
            Step::Write(like("^Type a name|^EditText$|555"), to.clone()),
            Step::Tap(says("Start")),
            Step::Enough(said(&text)),
            Step::Write(field(0), text.clone()),
            Step::Tap(says("Send SMS")),
            Step::Read(said(&text)),
        ],
        wants: vec![kept(
            MESSAGES,
            [
                ("thread/<t>/name", &to),
                ("message/<m>/thread", "<t>"),
                ("message/<m>/from", "me"),
                ("message/<m>/text", &text),
            ],
        )],
    }
}

fn delete(draw: &mut Draw<'_>) -> Case {
    let name = draw.pick(&FIRST);
    let words = draw.some(&THINGS, 3);
    let said: Vec<String> = words.iter().map(|thing| format!("We are out of {thing}")).collect();
    let at = draw.number(0, 2) as usize;
    let texts: Vec<&str> = said.iter().map(String::as_str).collect();
    Case {
        goal: format!(
            "In Messages, delete the one message \"{}\" from the conversation with {name}.",
            said[at]
        ),
        given: thread(20, name, &texts),
        script: vec![
            Step::Launch(MESSAGES),
            Step::Tap(says(name)),
            Step::Hold(says(&*said[at])),
            Step::Tap(says("Delete")),
        ],
        wants: vec![Want::Gone(MESSAGES, format!("message/{}", 200 + at))],
    }
}

fn copy(draw: &mut Draw<'_>) -> Case {
    let name = draw.pick(&FIRST);
    let text = format!("Door code {} then #", draw.number(1_000, 9_999));
    Case {
        goal: format!("Copy the words of {name}'s message about the door code, in Messages."),
        given: thread(21, name, &["See you", &text]),
        script: vec![
            Step::Launch(MESSAGES),
            Step::Tap(says(name)),
            Step::Hold(says(&*text)),
            Step::Tap(says("Copy text")),
        ],
        wants: vec![Want::Clipboard(text)],
    }
}

fn code(draw: &mut Draw<'_>) -> Case {
    let code = draw.number(100_000, 999_999).to_string();
    let text = format!("Your code is {code}. Do not share it.");
    Case {
        goal: "Which code did the library send me in Messages?".into(),
        given: thread(22, "City Library", &["Your book is due.", &text]),
        script: vec![
            Step::Launch(MESSAGES),
            Step::Tap(says("City Library")),
            Step::Read(like(r"Your code is (\d+)")),
            Step::Answer("{0}".into()),
        ],
        wants: vec![Want::Answer(code)],
    }
}
