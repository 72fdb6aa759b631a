//! Tasks in Files.

use super::super::script::{ScriptStep, field, like, with_text};
use super::super::task::Category::*;
use super::super::task::Difficulty::*;
use super::super::task::{InitialState, Need, ParamSource, SuccessCondition, Task, TaskInstance};
use super::FILES;

pub(super) const TASKS: &[Task] = &[
    Task::new("files-folder", &["Files"], Easy, &[DataEntry], folder)
        .needing(&[Need::SharedStorage]),
    Task::new("files-delete", &["Files"], Easy, &[DataEdit], delete)
        .needing(&[Need::SharedStorage]),
    Task::new("files-size", &["Files"], Easy, &[InformationRetrieval], size)
        .needing(&[Need::SharedStorage]),
    Task::new("files-nested-folder", &["Files"], Medium, &[DataEntry, Composite], nested)
        .needing(&[Need::SharedStorage]),
    Task::new(
        "files-count",
        &["Files"],
        Easy,
        &[InformationRetrieval, MathCounting, ScreenReading],
        count,
    )
    .needing(&[Need::SharedStorage]),
    Task::new(
        "files-delete-two",
        &["Files"],
        Medium,
        &[DataEdit, Composite, Repetition],
        delete_two,
    )
    .needing(&[Need::SharedStorage]),
    Task::new("files-months", &["Files"], Hard, &[DataEntry, Composite, Repetition], months)
        .needing(&[Need::SharedStorage]),
];

const NAMES: [&str; 6] = ["bill", "letter", "map", "ticket", "draft", "invoice"];

fn folder(draw: &mut ParamSource<'_>) -> TaskInstance {
    let name = format!("{} {}", draw.pick(&["Bills", "Photos", "Plans"]), draw.number(2, 99));
    TaskInstance {
        goal: format!("In Files, create a folder \"{name}\" in the folder Download."),
        given: Vec::new(),
        script: vec![
            ScriptStep::Launch(FILES),
            ScriptStep::Tap(with_text("Download")),
            ScriptStep::SkipIfVisible(with_text(&*name)),
            ScriptStep::Tap(with_text("New folder")),
            ScriptStep::Type(field(0), name.clone()),
            ScriptStep::Tap(with_text("OK")),
            ScriptStep::Read(with_text(&*name)),
        ],
        wants: vec![SuccessCondition::Folder(format!("/sdcard/Download/{name}"))],
    }
}

fn delete(draw: &mut ParamSource<'_>) -> TaskInstance {
    let names = draw.some(&NAMES, 3);
    let path = |name: &str| format!("/sdcard/Download/{name}.pdf");
    let gone = format!("{}.pdf", names[0]);
    TaskInstance {
        goal: format!("In Files, delete the file {gone} from the folder Download."),
        given: names.iter().map(|name| InitialState::File(path(name), 2_000)).collect(),
        script: vec![
            ScriptStep::Launch(FILES),
            ScriptStep::Tap(with_text("Download")),
            ScriptStep::LongPress(with_text(gone)),
            ScriptStep::Tap(with_text("OK")),
        ],
        wants: vec![SuccessCondition::NoFile(path(names[0]))],
    }
}

fn size(draw: &mut ParamSource<'_>) -> TaskInstance {
    let (name, bytes) = (draw.pick(&NAMES), draw.number(100, 999));
    TaskInstance {
        goal: format!(
            "According to Files, how many bytes does the file {name}.txt in the folder Download have?"
        ),
        given: vec![InitialState::File(format!("/sdcard/Download/{name}.txt"), bytes as usize)],
        script: vec![
            ScriptStep::Launch(FILES),
            ScriptStep::Tap(with_text("Download")),
            ScriptStep::Tap(with_text(format!("{name}.txt"))),
            ScriptStep::Read(like(r"^(\d+) B$")),
            ScriptStep::Answer("{0}".into()),
        ],
        wants: vec![SuccessCondition::Answer(bytes.to_string())],
    }
}

fn nested(draw: &mut ParamSource<'_>) -> TaskInstance {
    let outer = format!("Trip {}", draw.number(2, 99));
    let inner = draw.pick(&["Tickets", "Photos", "Receipts"]);
    TaskInstance {
        goal: format!(
            "I need a folder \"{outer}\" in Download, and inside it a folder \"{inner}\". Create them with Files."
        ),
        given: Vec::new(),
        script: vec![
            ScriptStep::Launch(FILES),
            ScriptStep::Tap(with_text("Download")),
            ScriptStep::Tap(with_text("New folder")),
            ScriptStep::Type(field(0), outer.clone()),
            ScriptStep::Tap(with_text("OK")),
            ScriptStep::Tap(with_text(&*outer)),
            ScriptStep::SkipIfVisible(with_text(inner)),
            ScriptStep::Tap(with_text("New folder")),
            ScriptStep::Type(field(0), inner.into()),
            ScriptStep::Tap(with_text("OK")),
            ScriptStep::Read(with_text(inner)),
        ],
        wants: vec![
            SuccessCondition::Folder(format!("/sdcard/Download/{outer}")),
            SuccessCondition::Folder(format!("/sdcard/Download/{outer}/{inner}")),
        ],
    }
}

fn count(draw: &mut ParamSource<'_>) -> TaskInstance {
    let many = draw.number(2, 5) as usize;
    let names = draw.some(&NAMES, many);
    let mut given: Vec<InitialState> = names
        .iter()
        .map(|name| InitialState::File(format!("/sdcard/Download/{name}.pdf"), 2_000))
        .collect();
    given.push(InitialState::File("/sdcard/Download/list.txt".into(), 300));
    TaskInstance {
        goal: "How many PDF files are in my Download folder? Use Files.".into(),
        given,
        script: vec![
            ScriptStep::Launch(FILES),
            ScriptStep::Tap(with_text("Download")),
            ScriptStep::Count(like(r"\.pdf$")),
            ScriptStep::Answer("{0}".into()),
        ],
        wants: vec![SuccessCondition::Answer(many.to_string())],
    }
}

fn delete_two(draw: &mut ParamSource<'_>) -> TaskInstance {
    let names = draw.some(&NAMES, 4);
    let path = |name: &str| format!("/sdcard/Download/{name}.jpg");
    let each = names[..2].iter().flat_map(|name| {
        [ScriptStep::LongPress(with_text(format!("{name}.jpg"))), ScriptStep::Tap(with_text("OK"))]
    });
    let begin = [ScriptStep::Launch(FILES), ScriptStep::Tap(with_text("Download"))];
    TaskInstance {
        goal: format!(
            "Two pictures in the folder Download can go: {}.jpg and {}.jpg. Delete them in Files.",
            names[0], names[1]
        ),
        given: names.iter().map(|name| InitialState::File(path(name), 2_000)).collect(),
        script: begin.into_iter().chain(each).collect(),
        wants: names[..2].iter().map(|name| SuccessCondition::NoFile(path(name))).collect(),
    }
}

fn months(draw: &mut ParamSource<'_>) -> TaskInstance {
    const MONTHS: [&str; 6] = ["January", "February", "March", "April", "May", "June"];
    let year = draw.number(2018, 2023);
    let names: Vec<String> = MONTHS.iter().map(|month| format!("{month} {year}")).collect();
    let mut script = vec![ScriptStep::Launch(FILES), ScriptStep::Tap(with_text("Download"))];
    for name in &names {
        script.extend([
            ScriptStep::Tap(with_text("New folder")),
            ScriptStep::Type(field(0), name.clone()),
            ScriptStep::Tap(with_text("OK")),
            ScriptStep::Read(with_text(&**name)),
        ]);
    }
    TaskInstance {
        goal: format!(
            "Make a folder in Download for each of the first six months of {year}, called \"{}\" to \"{}\", with Files.",
            names[0], names[5]
        ),
        given: Vec::new(),
        script,
        wants: names
            .iter()
            .map(|name| SuccessCondition::Folder(format!("/sdcard/Download/{name}")))
            .collect(),
    }
}
