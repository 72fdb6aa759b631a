//! Tasks in Files.

use super::super::script::{Step, field, like, says};
use super::super::task::{Case, Draw, Given, Task, Want};
use super::FILES;

pub(super) const TASKS: &[Task] = &[
    Task { name: "files-folder", apps: &["Files"], make: folder },
    Task { name: "files-delete", apps: &["Files"], make: delete },
    Task { name: "files-size", apps: &["Files"], make: size },
];

const NAMES: [&str; 6] = ["bill", "letter", "map", "ticket", "draft", "invoice"];

fn folder(draw: &mut Draw<'_>) -> Case {
    let name = format!("{} {}", draw.pick(&["Bills", "Photos", "Plans"]), draw.number(2, 99));
    Case {
        goal: format!("Make a folder \"{name}\" in the folder Download, in Files."),
        given: Vec::new(),
        script: vec![
            Step::Launch(FILES),
            Step::Tap(says("Download")),
            Step::Enough(says(&*name)),
            Step::Tap(says("New folder")),
            Step::Write(field(0), name.clone()),
            Step::Tap(says("OK")),
            Step::Read(says(&*name)),
        ],
        wants: vec![Want::Folder(format!("/sdcard/Download/{name}"))],
    }
}

fn delete(draw: &mut Draw<'_>) -> Case {
    let names = draw.some(&NAMES, 3);
    let path = |name: &str| format!("/sdcard/Download/{name}.pdf");
    let gone = format!("{}.pdf", names[0]);
    Case {
        goal: format!("Delete the file {gone} in the folder Download, in Files."),
        given: names.iter().map(|name| Given::File(path(name), 2_000)).collect(),
        script: vec![
            Step::Launch(FILES),
            Step::Tap(says("Download")),
            Step::Hold(says(gone)),
            Step::Tap(says("OK")),
        ],
        wants: vec![Want::NoFile(path(names[0]))],
    }
}

fn size(draw: &mut Draw<'_>) -> Case {
    let (name, bytes) = (draw.pick(&NAMES), draw.number(100, 999));
    Case {
        goal: format!("How many bytes has the file {name}.txt in the folder Download, by Files?"),
        given: vec![Given::File(format!("/sdcard/Download/{name}.txt"), bytes as usize)],
        script: vec![
            Step::Launch(FILES),
            Step::Tap(says("Download")),
            Step::Tap(says(format!("{name}.txt"))),
            Step::Read(like(r"^(\d+) B$")),
            Step::Answer("{0}".into()),
        ],
        wants: vec![Want::Answer(bytes.to_string())],
    }
}
