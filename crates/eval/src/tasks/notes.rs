//! Tasks in Notes.

use super::super::script::{ScriptStep, field, like, with_text};
use super::super::task::Category::*;
use super::super::task::Difficulty::*;
use super::super::task::{ParamSource, SuccessCondition, Task, TaskInstance};
use super::{NOTES, THINGS, new_note, note, stored};

pub(super) const TASKS: &[Task] = &[
    Task::new("notes-add", &["Notes"], Easy, &[DataEntry], add),
    Task::new("notes-add-umlauts", &["Notes"], Easy, &[DataEntry], umlauts),
    Task::new("notes-delete", &["Notes"], Easy, &[DataEdit], delete),
    Task::new("notes-append", &["Notes"], Easy, &[DataEdit], append),
    Task::new("notes-retitle", &["Notes"], Easy, &[DataEdit], retitle),
    Task::new("notes-find", &["Notes"], Easy, &[InformationRetrieval], find),
    Task::new("notes-prepend", &["Notes"], Easy, &[DataEdit, DataEntry], prepend),
    Task::new("notes-replace", &["Notes"], Easy, &[DataEdit, DataEntry], replace),
    Task::new("notes-number", &["Notes"], Easy, &[InformationRetrieval, ScreenReading], number_in),
    Task::new("notes-sum", &["Notes"], Easy, &[InformationRetrieval, MathCounting], sum_of),
    Task::new(
        "notes-merge",
        &["Notes"],
        Hard,
        &[Composite, DataEntry, Memorization, Transcription],
        merge,
    ),
    Task::new(
        "notes-delete-two",
        &["Notes"],
        Medium,
        &[Composite, DataEdit, Repetition],
        delete_two,
    ),
    Task::new("notes-five", &["Notes"], Hard, &[Composite, DataEntry, Repetition], five),
];

const TITLES: [&str; 8] = [
    "Plumber",
    "Garden",
    "Tax papers",
    "Birthday gifts",
    "Repairs",
    "Reading list",
    "Old debts",
    "Recipes",
];

/// Opens the note with that title, or a new one if there is none, and writes it.
pub(super) fn write(title: &str, body: &str) -> Vec<ScriptStep> {
    vec![
        ScriptStep::Launch(NOTES),
        ScriptStep::Tap(with_text(title).or(with_text("New note"))),
        ScriptStep::Type(field(0), title.into()),
        ScriptStep::Type(field(1), body.into()),
    ]
}

fn add(draw: &mut ParamSource<'_>) -> TaskInstance {
    let title = draw.pick(&TITLES);
    let body =
        format!("{} and {} by {}", draw.pick(&THINGS), draw.pick(&THINGS), draw.number(2, 11));
    TaskInstance {
        goal: format!("Add a note in Notes with the title \"{title}\" and the text \"{body}\"."),
        given: Vec::new(),
        script: write(title, &body),
        wants: vec![new_note(title, &body)],
    }
}

fn umlauts(draw: &mut ParamSource<'_>) -> TaskInstance {
    let title = draw.pick(&["Grüße", "Für später", "Käse & Öl", "Frühstück"]);
    let body = format!(
        "{} {}",
        draw.number(2, 19),
        draw.pick(&["Äpfel", "Brötchen", "Süßkirschen", "Rösti"])
    );
    TaskInstance {
        goal: format!("Add a note in Notes with the title \"{title}\" and the text \"{body}\"."),
        given: Vec::new(),
        script: write(title, &body),
        wants: vec![new_note(title, &body)],
    }
}

fn delete(draw: &mut ParamSource<'_>) -> TaskInstance {
    let titles = draw.some(&TITLES, 3);
    let (number, title) = (draw.number(0, 2) as usize, titles.clone());
    let title = title[number];
    let mut given = Vec::new();
    for (at, title) in titles.iter().enumerate() {
        given.extend(note(40 + at, title, "to be kept or not"));
    }
    TaskInstance {
        goal: format!("Delete only the note \"{title}\" in Notes."),
        given,
        script: vec![
            ScriptStep::Launch(NOTES),
            ScriptStep::Tap(with_text(title)),
            ScriptStep::Tap(with_text("Delete note")),
            ScriptStep::Tap(with_text("Delete")),
        ],
        wants: vec![SuccessCondition::RecordRemoved(NOTES, format!("note/{}", 40 + number))],
    }
}

fn append(draw: &mut ParamSource<'_>) -> TaskInstance {
    let things = draw.some(&THINGS, 4);
    let (new, before) = (things[0], things[1..].join("\n"));
    TaskInstance {
        goal: format!(
            "Add a line with the word \"{new}\" at the end of the note \"Market\" in Notes. Keep the existing lines."
        ),
        given: note(40, "Market", &before),
        script: vec![
            ScriptStep::Launch(NOTES),
            ScriptStep::Tap(with_text("Market")),
            ScriptStep::Read(field(1)),
            ScriptStep::Type(field(1), format!("{{0}}\n{new}")),
        ],
        wants: vec![stored(NOTES, [("note/40/body", &format!("{before}\n{new}"))])],
    }
}

fn retitle(draw: &mut ParamSource<'_>) -> TaskInstance {
    let titles = draw.some(&TITLES, 2);
    let (old, new) = (titles[0], titles[1]);
    TaskInstance {
        goal: format!("Change the title of the note \"{old}\" in Notes to \"{new}\"."),
        given: note(41, old, "Call before noon"),
        script: vec![
            ScriptStep::Launch(NOTES),
            ScriptStep::Tap(with_text(old).or(with_text(new))),
            ScriptStep::Type(field(0), new.into()),
        ],
        wants: vec![stored(NOTES, [("note/41/title", new)])],
    }
}

fn find(draw: &mut ParamSource<'_>) -> TaskInstance {
    let grams = draw.number(100, 900);
    let body = format!("3 eggs\n{grams} g flour\n200 ml milk\nBake for 25 minutes");
    TaskInstance {
        goal: "How many grams of flour does the recipe \"Waffles\" in Notes need?".into(),
        given: note(42, "Waffles", &body),
        script: vec![
            ScriptStep::Launch(NOTES),
            ScriptStep::Tap(with_text("Waffles")),
            ScriptStep::Read(like(r"(\d+) g flour")),
            ScriptStep::Answer("{0}".into()),
        ],
        wants: vec![SuccessCondition::Answer(grams.to_string())],
    }
}

fn prepend(draw: &mut ParamSource<'_>) -> TaskInstance {
    let things = draw.some(&THINGS, 3);
    let head = format!("To buy on day {}", draw.number(2, 28));
    let before = things.join("\n");
    TaskInstance {
        goal: format!(
            "Put the line \"{head}\" above everything else in the text of the note \"Market\" in Notes."
        ),
        given: note(40, "Market", &before),
        script: vec![
            ScriptStep::Launch(NOTES),
            ScriptStep::Tap(with_text("Market")),
            ScriptStep::Read(field(1)),
            ScriptStep::Type(field(1), format!("{head}\n{{0}}")),
        ],
        wants: vec![stored(NOTES, [("note/40/body", &format!("{head}\n{before}"))])],
    }
}

fn replace(draw: &mut ParamSource<'_>) -> TaskInstance {
    let titles = draw.some(&TITLES, 2);
    let body = format!("Call {} at {}", draw.pick(&super::FIRST), draw.number(2, 11));
    let mut given = note(40, titles[0], "Nothing decided yet");
    given.extend(note(41, titles[1], "Nothing decided yet"));
    TaskInstance {
        goal: format!(
            "The text of my note \"{}\" in Notes is out of date. It should only say \"{body}\".",
            titles[0]
        ),
        given,
        script: vec![
            ScriptStep::Launch(NOTES),
            ScriptStep::Tap(with_text(titles[0])),
            ScriptStep::Type(field(1), body.clone()),
        ],
        wants: vec![stored(NOTES, [("note/40/body", &body)])],
    }
}

fn number_in(draw: &mut ParamSource<'_>) -> TaskInstance {
    let trades = draw.some(&["Plumber", "Electrician", "Gardener", "Painter"], 3);
    let numbers: Vec<String> =
        (0..3).map(|at| super::phone(draw.number(0, 30) + 33 * at)).collect();
    let at = draw.number(0, 2) as usize;
    let lines: Vec<String> =
        trades.iter().zip(&numbers).map(|(trade, number)| format!("{trade}: {number}")).collect();
    TaskInstance {
        goal: format!(
            "What number do I call for the {}? My note \"Craftsmen\" in Notes has it.",
            trades[at].to_lowercase()
        ),
        given: note(42, "Craftsmen", &lines.join("\n")),
        script: vec![
            ScriptStep::Launch(NOTES),
            ScriptStep::Tap(with_text("Craftsmen")),
            ScriptStep::Read(like(format!(r"{}: (\(212\) 555-\d+)", trades[at]))),
            ScriptStep::Answer("{0}".into()),
        ],
        wants: vec![SuccessCondition::Answer(numbers[at].clone())],
    }
}

fn sum_of(draw: &mut ParamSource<'_>) -> TaskInstance {
    let names = draw.some(&super::FIRST, 3);
    let paid: Vec<u64> = names.iter().map(|_| draw.number(11, 90)).collect();
    let lines: Vec<String> =
        names.iter().zip(&paid).map(|(name, paid)| format!("{name} paid {paid} dollars")).collect();
    let mut script = vec![ScriptStep::Launch(NOTES), ScriptStep::Tap(with_text("Boat fund"))];
    script.extend(
        names.iter().map(|name| ScriptStep::Read(like(format!(r"{name} paid (\d+) dollars")))),
    );
    script.extend([ScriptStep::Sum, ScriptStep::Answer("{3}".into())]);
    TaskInstance {
        goal: format!(
            "How many dollars did {}, {} and {} pay together, according to the note \"Boat fund\" in Notes?",
            names[0], names[1], names[2]
        ),
        given: note(42, "Boat fund", &lines.join("\n")),
        script,
        wants: vec![SuccessCondition::Answer(paid.iter().sum::<u64>().to_string())],
    }
}

fn merge(draw: &mut ParamSource<'_>) -> TaskInstance {
    let titles = draw.some(&TITLES, 3);
    let texts: Vec<String> = draw
        .some(&THINGS, 3)
        .iter()
        .map(|thing| format!("{} {thing}", draw.number(2, 30)))
        .collect();
    let (mut given, mut script) = (Vec::new(), Vec::new());
    for (at, (title, text)) in titles.iter().zip(&texts).enumerate() {
        given.extend(note(40 + at, title, text));
        script.extend([
            ScriptStep::Launch(NOTES),
            ScriptStep::Tap(with_text(*title)),
            ScriptStep::Read(field(1)),
            ScriptStep::Tap(with_text("Navigate up")),
        ]);
    }
    script.extend(write("All together", "{0}\n{1}\n{2}"));
    TaskInstance {
        goal: format!(
            "In Notes, make a new note \"All together\" with the texts of the notes \"{}\", \"{}\" and \"{}\", in this order, each on a line of its own. Keep the three notes.",
            titles[0], titles[1], titles[2]
        ),
        given,
        script,
        wants: vec![new_note("All together", &texts.join("\n"))],
    }
}

fn delete_two(draw: &mut ParamSource<'_>) -> TaskInstance {
    let titles = draw.some(&TITLES, 4);
    let mut given = Vec::new();
    for (at, title) in titles.iter().enumerate() {
        given.extend(note(40 + at, title, "to be kept or not"));
    }
    let script = titles[..2].iter().flat_map(|title| {
        [
            ScriptStep::Launch(NOTES),
            ScriptStep::Tap(with_text(*title)),
            ScriptStep::Tap(with_text("Delete note")),
            ScriptStep::Tap(with_text("Delete")),
        ]
    });
    TaskInstance {
        goal: format!(
            "I have dealt with \"{}\" and \"{}\". Delete these two notes in Notes, and no other.",
            titles[0], titles[1]
        ),
        given,
        script: script.collect(),
        wants: (40..42)
            .map(|number| SuccessCondition::RecordRemoved(NOTES, format!("note/{number}")))
            .collect(),
    }
}

fn five(draw: &mut ParamSource<'_>) -> TaskInstance {
    let titles = draw.some(&TITLES, 5);
    let things = draw.some(&THINGS, 5);
    let each = (0..5).map(|at| (titles[at], things[at]));
    let list = each.clone().map(|(title, thing)| format!("\"{title}\" with the text \"{thing}\""));
    TaskInstance {
        goal: format!("Add five notes in Notes: {}.", list.collect::<Vec<_>>().join(", ")),
        given: Vec::new(),
        script: each
            .clone()
            .flat_map(|(title, thing)| {
                let mut script = write(title, thing);
                script.push(ScriptStep::Tap(with_text("Navigate up")));
                script
            })
            .collect(),
        wants: each.map(|(title, thing)| new_note(title, thing)).collect(),
    }
}
