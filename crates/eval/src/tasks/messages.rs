//! Tasks in Messages.

use super::super::script::{ScriptStep, ScriptTarget, field, like, with_text};
use super::super::task::Category::*;
use super::super::task::Difficulty::*;
use super::super::task::{ParamSource, SuccessCondition, Task, TaskInstance};
use super::{FIRST, MESSAGES, THINGS, phone, sent, stored, thread};

pub(super) const TASKS: &[Task] = &[
    Task::new("messages-send", &["Messages"], Easy, &[DataEntry], send_one),
    Task::new("messages-begin", &["Messages"], Medium, &[DataEntry], begin),
    Task::new("messages-delete", &["Messages"], Easy, &[DataEdit, ComplexUiUnderstanding], delete),
    Task::new("messages-copy", &["Messages"], Easy, &[ComplexUiUnderstanding], copy),
    Task::new("messages-code", &["Messages"], Easy, &[InformationRetrieval, Search], code),
    Task::new("messages-last", &["Messages"], Easy, &[InformationRetrieval, ScreenReading], last),
    Task::new("messages-count", &["Messages"], Easy, &[InformationRetrieval, MathCounting], count),
    Task::new("messages-draft", &["Messages"], Easy, &[DataEntry, Verification], draft),
    Task::new(
        "messages-forward",
        &["Messages"],
        Medium,
        &[Composite, Transcription, Memorization],
        forward,
    ),
    Task::new("messages-two", &["Messages"], Medium, &[DataEntry, Composite, Repetition], two),
    Task::new("messages-invite", &["Messages"], Hard, &[DataEntry, Composite, Repetition], invite),
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
            ScriptStep::LongPress(like("^Door code")),
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

/// Sends a text and returns to the list.
pub(super) fn send_and_return(name: &str, text: &str) -> Vec<ScriptStep> {
    let mut script = send(name, text);
    script.push(ScriptStep::Tap(with_text("Navigate up")));
    script
}

fn last(draw: &mut ParamSource<'_>) -> TaskInstance {
    let names = draw.some(&FIRST, 2);
    let said = |track: u64| format!("The train leaves from track {track}");
    let (old, new) = (draw.number(1, 9), draw.number(10, 19));
    let mut given = thread(20, names[0], &[&said(old), "Wait, that is wrong", &said(new)]);
    given.extend(thread(21, names[1], &[&said(old)]));
    TaskInstance {
        goal: format!(
            "From which track does the train leave? Go by what {} wrote last in Messages.",
            names[0]
        ),
        given,
        script: vec![
            ScriptStep::Launch(MESSAGES),
            ScriptStep::Tap(with_text(names[0])),
            ScriptStep::Read(like(r"leaves from track (\d\d)$")),
            ScriptStep::Answer("{0}".into()),
        ],
        wants: vec![SuccessCondition::Answer(new.to_string())],
    }
}

fn count(draw: &mut ParamSource<'_>) -> TaskInstance {
    let many = draw.number(2, 5) as usize;
    let texts: Vec<String> =
        draw.some(&THINGS, many).iter().map(|thing| format!("We need {thing}")).collect();
    let mut all: Vec<&str> = texts.iter().map(String::as_str).collect();
    all.insert(1, "See you later!");
    TaskInstance {
        goal: "Mill Kitchen asks for things in Messages, one in each message. How many things do they need?".into(),
        given: thread(22, "Mill Kitchen", &all),
        script: vec![
            ScriptStep::Launch(MESSAGES),
            ScriptStep::Tap(with_text("Mill Kitchen")),
            ScriptStep::Count(like("^We need ")),
            ScriptStep::Answer("{0}".into()),
        ],
        wants: vec![SuccessCondition::Answer(many.to_string())],
    }
}

fn draft(draw: &mut ParamSource<'_>) -> TaskInstance {
    let name = draw.pick(&FIRST);
    let text = format!("I can lend you {} {}", draw.number(2, 40), draw.pick(&THINGS));
    TaskInstance {
        goal: format!(
            "Write \"{text}\" to {name} in Messages, but do not send it yet: I want to look at it first."
        ),
        given: thread(20, name, &["Can you help me?"]),
        script: vec![
            ScriptStep::Launch(MESSAGES),
            ScriptStep::Tap(with_text(name)),
            ScriptStep::Type(field(0), text.clone()),
        ],
        wants: vec![stored(MESSAGES, [("draft/20", &text)])],
    }
}

fn forward(draw: &mut ParamSource<'_>) -> TaskInstance {
    let names = draw.some(&FIRST, 2);
    let text = format!("Dinner is at {}:30, bring {}", draw.number(5, 9), draw.pick(&THINGS));
    let mut given = thread(20, names[0], &["Hello!", &text]);
    given.extend(thread(21, names[1], &["When is dinner?"]));
    let mut script = vec![
        ScriptStep::Launch(MESSAGES),
        ScriptStep::Tap(with_text(names[0])),
        ScriptStep::Read(like("^(Dinner is at .+)$")),
        ScriptStep::Tap(with_text("Navigate up")),
    ];
    script.extend(send(names[1], "{0}"));
    TaskInstance {
        goal: format!(
            "In Messages, {} wrote when dinner is. Send exactly that message to {}.",
            names[0], names[1]
        ),
        given,
        script,
        wants: vec![sent(21, &text)],
    }
}

fn two(draw: &mut ParamSource<'_>) -> TaskInstance {
    let names = draw.some(&FIRST, 3);
    let text = format!("The {} are here, all {}", draw.pick(&THINGS), draw.number(3, 60));
    let mut given = Vec::new();
    for (at, name) in names.iter().enumerate() {
        given.extend(thread(20 + at, name, &["Tell me when they come"]));
    }
    let script = names[..2].iter().flat_map(|name| send_and_return(name, &text));
    TaskInstance {
        goal: format!(
            "Tell {} and {} in Messages: \"{text}\". The same words to both.",
            names[0], names[1]
        ),
        given,
        script: script.collect(),
        wants: vec![sent(20, &text), sent(21, &text)],
    }
}

fn invite(draw: &mut ParamSource<'_>) -> TaskInstance {
    let names = draw.some(&FIRST, 5);
    let things = draw.some(&THINGS, 5);
    let each = (0..5).map(|at| (names[at], format!("Please bring {}", things[at])));
    let mut given = Vec::new();
    for (at, name) in names.iter().enumerate() {
        given.extend(thread(20 + at, name, &["What can I bring?"]));
    }
    let asked = each.clone().map(|(name, text)| format!("{name}: \"{text}\""));
    TaskInstance {
        goal: format!(
            "Everybody asks what to bring to the party. Answer each of them in Messages. {}.",
            asked.collect::<Vec<_>>().join("; ")
        ),
        given,
        script: each.clone().flat_map(|(name, text)| send_and_return(name, &text)).collect(),
        wants: each.enumerate().map(|(at, (_, text))| sent(20 + at, &text)).collect(),
    }
}
