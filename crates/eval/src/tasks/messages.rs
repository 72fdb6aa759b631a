//! Tasks in Messages.

use super::super::script::{ScriptStep, ScriptTarget, field, like, with_text};
use super::super::task::{ParamSource, SuccessCondition, Task, TaskInstance};
use super::{FIRST, MESSAGES, THINGS, phone, sent, stored, thread};

pub(super) const TASKS: &[Task] = &[
    Task { name: "messages-send", apps: &["Messages"], needs: &[], make: send_one },
    Task { name: "messages-begin", apps: &["Messages"], needs: &[], make: begin },
    Task { name: "messages-delete", apps: &["Messages"], needs: &[], make: delete },
    Task { name: "messages-copy", apps: &["Messages"], needs: &[], make: copy },
    Task { name: "messages-code", apps: &["Messages"], needs: &[], make: code },
];

/// Sends a text in an existing conversation.
pub(super) fn send(name: &str, text: &str) -> Vec<ScriptStep> {
    vec![
        ScriptStep::Launch(MESSAGES),
        ScriptStep::Tap(with_text(name)),
        ScriptStep::SkipIfVisible(message(text)),
        ScriptStep::Type(field(0), text.into()),
        ScriptStep::Tap(with_text("Send SMS")),
        ScriptStep::Read(message(text)),
    ]
}

/// A message bubble with this text, but not the text field.
fn message(text: &str) -> ScriptTarget {
    with_text(text)
}

fn send_one(draw: &mut ParamSource<'_>) -> TaskInstance {
    let name = draw.pick(&FIRST);
    let text = format!("Please bring {} at {}", draw.pick(&THINGS), draw.number(2, 11));
    TaskInstance {
        goal: format!("Send {name} the message \"{text}\" in Messages."),
        given: thread(20, name, &["Anything that you need?"]),
        script: send(name, &text),
        wants: vec![sent(20, &text)],
    }
}

fn begin(draw: &mut ParamSource<'_>) -> TaskInstance {
    let to = phone(draw.number(0, 99));
    let text = format!("I need {} boxes of {}", draw.number(2, 40), draw.pick(&THINGS));
    TaskInstance {
        goal: format!("Start a new conversation with {to} in Messages and send \"{text}\"."),
        given: Vec::new(),
        script: vec![
            ScriptStep::Launch(MESSAGES),
            ScriptStep::Tap(with_text(&*to).or(with_text("Start chat"))),
            ScriptStep::Type(like("^Type a name|^EditText$|555"), to.clone()),
            ScriptStep::Tap(with_text("Start")),
            ScriptStep::SkipIfVisible(message(&text)),
            ScriptStep::Type(field(0), text.clone()),
            ScriptStep::Tap(with_text("Send SMS")),
            ScriptStep::Read(message(&text)),
        ],
        wants: vec![stored(
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

fn delete(draw: &mut ParamSource<'_>) -> TaskInstance {
    let name = draw.pick(&FIRST);
    let text = draw.some(&THINGS, 3);
    let text: Vec<String> = text.iter().map(|thing| format!("We are out of {thing}")).collect();
    let at = draw.number(0, 2) as usize;
    let texts: Vec<&str> = text.iter().map(String::as_str).collect();
    TaskInstance {
        goal: format!(
            "In Messages, delete only the message \"{}\" from the conversation with {name}.",
            text[at]
        ),
        given: thread(20, name, &texts),
        script: vec![
            ScriptStep::Launch(MESSAGES),
            ScriptStep::Tap(with_text(name)),
            ScriptStep::LongPress(with_text(&*text[at])),
            ScriptStep::Tap(with_text("Delete")),
        ],
        wants: vec![SuccessCondition::RecordRemoved(MESSAGES, format!("message/{}", 200 + at))],
    }
}

fn copy(draw: &mut ParamSource<'_>) -> TaskInstance {
    let name = draw.pick(&FIRST);
    let text = format!("Door code {} then #", draw.number(1_000, 9_999));
    TaskInstance {
        goal: format!("In Messages, copy the text of {name}'s message about the door code."),
        given: thread(21, name, &["See you", &text]),
        script: vec![
            ScriptStep::Launch(MESSAGES),
            ScriptStep::Tap(with_text(name)),
            ScriptStep::LongPress(with_text(&*text)),
            ScriptStep::Tap(with_text("Copy text")),
        ],
        wants: vec![SuccessCondition::Clipboard(text)],
    }
}

fn code(draw: &mut ParamSource<'_>) -> TaskInstance {
    let code = draw.number(100_000, 999_999).to_string();
    let text = format!("Your code is {code}. Do not share it.");
    TaskInstance {
        goal: "What code did the library send me in Messages?".into(),
        given: thread(22, "City Library", &["Your book is due.", &text]),
        script: vec![
            ScriptStep::Launch(MESSAGES),
            ScriptStep::Tap(with_text("City Library")),
            ScriptStep::Read(like(r"Your code is (\d+)")),
            ScriptStep::Answer("{0}".into()),
        ],
        wants: vec![SuccessCondition::Answer(code)],
    }
}
