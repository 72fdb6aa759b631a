//! Tasks in Notes.

use super::super::script::{Step, field, like, says};
use super::super::task::{Case, Draw, Task, Want};
use super::{NOTES, THINGS, kept, new_note, note};

pub(super) const TASKS: &[Task] = &[
    Task { name: "notes-add", apps: &["Notes"], make: add },
    Task { name: "notes-add-umlauts", apps: &["Notes"], make: umlauts },
    Task { name: "notes-delete", apps: &["Notes"], make: delete },
    Task { name: "notes-append", apps: &["Notes"], make: append },
    Task { name: "notes-retitle", apps: &["Notes"], make: retitle },
    Task { name: "notes-find", apps: &["Notes"], make: find },
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

/// Opens the note of that title, a new one where there is none, and writes it.
pub(super) fn write(title: &str, body: &str) -> Vec<Step> {
    vec![
        Step::Launch(NOTES),
        Step::Tap(says(title).or(says("New note"))),
        Step::Write(field(0), title.into()),
        Step::Write(field(1), body.into()),
    ]
}

fn add(draw: &mut Draw<'_>) -> Case {
    let title = draw.pick(&TITLES);
    let body =
        format!("{} and {} by {}", draw.pick(&THINGS), draw.pick(&THINGS), draw.number(2, 11));
    Case {
        goal: format!("Add a note in Notes with the title \"{title}\" and the text \"{body}\"."),
        given: Vec::new(),
        script: write(title, &body),
        wants: vec![new_note(title, &body)],
    }
}

fn umlauts(draw: &mut Draw<'_>) -> Case {
    let title = draw.pick(&["Grüße", "Für später", "Käse & Öl", "Frühstück"]);
    let body = format!(
        "{} {}",
        draw.number(2, 19),
        draw.pick(&["Äpfel", "Brötchen", "Süßkirschen", "Rösti"])
    );
    Case {
        goal: format!("Add a note in Notes with the title \"{title}\" and the text \"{body}\"."),
        given: Vec::new(),
        script: write(title, &body),
        wants: vec![new_note(title, &body)],
    }
}

fn delete(draw: &mut Draw<'_>) -> Case {
    let titles = draw.some(&TITLES, 3);
    let (number, title) = (draw.number(0, 2) as usize, titles.clone());
    let title = title[number];
    let mut given = Vec::new();
    for (at, title) in titles.iter().enumerate() {
        given.extend(note(40 + at, title, "to be kept or not"));
    }
    Case {
        goal: format!("Delete the note \"{title}\" in Notes, and no other."),
        given,
        script: vec![
            Step::Launch(NOTES),
            Step::Tap(says(title)),
            Step::Tap(says("Delete note")),
            Step::Tap(says("Delete")),
        ],
        wants: vec![Want::Gone(NOTES, format!("note/{}", 40 + number))],
    }
}

fn append(draw: &mut Draw<'_>) -> Case {
    let things = draw.some(&THINGS, 4);
    let (new, before) = (things[0], things[1..].join("\n"));
    Case {
        goal: format!(
            "Add a line with the word \"{new}\" at the end of the note \"Market\" in Notes. Leave the lines that are there."
        ),
        given: note(40, "Market", &before),
        script: vec![
            Step::Launch(NOTES),
            Step::Tap(says("Market")),
            Step::Read(field(1)),
            Step::Write(field(1), format!("{{0}}\n{new}")),
        ],
        wants: vec![kept(NOTES, [("note/40/body", &format!("{before}\n{new}"))])],
    }
}

fn retitle(draw: &mut Draw<'_>) -> Case {
    let titles = draw.some(&TITLES, 2);
    let (old, new) = (titles[0], titles[1]);
    Case {
        goal: format!("Change the title of the note \"{old}\" in Notes to \"{new}\"."),
        given: note(41, old, "Call before noon"),
        script: vec![
            Step::Launch(NOTES),
            Step::Tap(says(old).or(says(new))),
            Step::Write(field(0), new.into()),
        ],
        wants: vec![kept(NOTES, [("note/41/title", new)])],
    }
}

fn find(draw: &mut Draw<'_>) -> Case {
    let grams = draw.number(100, 900);
    let body = format!("3 eggs\n{grams} g flour\n200 ml milk\nBake for 25 minutes");
    Case {
        goal: "How many grams of flour does the recipe \"Waffles\" in Notes need?".into(),
        given: note(42, "Waffles", &body),
        script: vec![
            Step::Launch(NOTES),
            Step::Tap(says("Waffles")),
            Step::Read(like(r"(\d+) g flour")),
            Step::Answer("{0}".into()),
        ],
        wants: vec![Want::Answer(grams.to_string())],
    }
}
