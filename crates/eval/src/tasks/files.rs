//! Tasks in Files.

use super::super::script::{ScriptStep, field, like, with_text};
use super::super::task::{InitialState, Need, ParamSource, SuccessCondition, Task, TaskInstance};
use super::FILES;

pub(super) const TASKS: &[Task] = &[
    Task { name: "files-folder", apps: &["Files"], needs: &[Need::SharedStorage], make: folder },
    Task { name: "files-delete", apps: &["Files"], needs: &[Need::SharedStorage], make: delete },
    Task { name: "files-size", apps: &["Files"], needs: &[Need::SharedStorage], make: size },
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
