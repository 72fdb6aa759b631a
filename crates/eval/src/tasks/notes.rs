//! Tasks in Notes.

use super::super::script::{ScriptStep, field, like, with_text};
use super::super::task::{ParamSource, SuccessCondition, Task, TaskInstance};
use super::{NOTES, THINGS, new_note, note, stored};

pub(super) const TASKS: &[Task] = &[
    Task { name: "notes-add", apps: &["Notes"], needs: &[], make: add },
    Task { name: "notes-add-umlauts", apps: &["Notes"], needs: &[], make: umlauts },
    Task { name: "notes-delete", apps: &["Notes"], needs: &[], make: delete },
    Task { name: "notes-append", apps: &["Notes"], needs: &[], make: append },
    Task { name: "notes-retitle", apps: &["Notes"], needs: &[], make: retitle },
    Task { name: "notes-find", apps: &["Notes"], needs: &[], make: find },
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
