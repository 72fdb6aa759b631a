//! Legibility of marks: an OCR program must find the ids on screens of the virtual phone.
//!
//! `.ci/ocr` installs it: `THUMBWIRE_PYTHON_OCR` names a Python with `rapidocr-onnxruntime`.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};
use thumbwire_adb::AdbServer;
use thumbwire_core::action::{
    Action, AppSelector, Call, ControlNumber, Outcome, Perform as _, ScreenshotOptions, Target,
    TextInput,
};
use thumbwire_core::annotate::{self, Mark};
use thumbwire_core::providers::{DeviceProviders, VIRTUAL, VirtualPhoneProvider};
use thumbwire_core::session::Session;
use thumbwire_core::snapshot::{self, Controls};
use thumbwire_device::{AppId, Rect};
use thumbwire_virtual_android::{Setup, VirtualPhone};
use thumbwire_virtual_phone::Display;

use crate::python::python;

/// A name, the app, and what to tap there, or to type after `=`.
struct Page(&'static str, &'static str, &'static [&'static str]);

const SETTINGS: &str = "com.android.settings";
const MAPS: &str = "com.google.android.apps.maps";
const CLOCK: &str = "com.google.android.deskclock";
const CONTACTS: &str = "com.google.android.contacts";

const UPRIGHT: &[Page] = &[
    Page("settings", SETTINGS, &[]),
    Page("sound", SETTINGS, &["Sound & vibration"]),
    Page("results", MAPS, &["Search here", "=restaurants\n"]),
    Page("keypad", CLOCK, &["Timer"]),
    Page("contact", CONTACTS, &["Create contact"]),
];
const SMALL: &[Page] =
    &[Page("small-settings", SETTINGS, &[]), Page("small-keypad", CLOCK, &["Timer"])];

/// A session on a virtual phone with this display.
pub(crate) fn session(android: u32, display: Display) -> Session {
    let phone = VirtualPhone::new(Setup { android, display, ..Setup::default() });
    let phones =
        DeviceProviders::adb(AdbServer::new("127.0.0.1:9")).with(VirtualPhoneProvider::new(phone));
    Session::new(phones, Some(VIRTUAL.into()))
}

async fn done(session: &Session, action: Action) -> Outcome {
    let call = Call::with_timeout(Duration::from_secs(60));
    session.perform(&call, action).await.unwrap()
}

/// Opens a page, saves its annotated screenshot in the folder, and returns what OCR should find in it.
async fn kept(session: &Session, page: &Page, folder: &Path) -> Value {
    let Page(name, app, way) = *page;
    done(session, Action::Stop(AppId(app.into()))).await;
    done(session, Action::Launch(AppSelector::Id(AppId(app.into())))).await;
    for step in way {
        let action = match step.strip_prefix('=') {
            Some(text) => Action::Type(TextInput {
                text: text.trim_end().into(),
                into: None,
                clear: false,
                submit: text.ends_with('\n'),
            }),
            None => Action::TapElement(Target::Named { id: None, text: Some((*step).into()) }),
        };
        done(session, action).await;
    }
    let Outcome::Screenshot(picture) =
        done(session, Action::Screenshot(ScreenshotOptions::default())).await
    else {
        panic!("{name}: no picture");
    };
    let asked = Action::Controls { max_age: Duration::ZERO };
    let Outcome::Controls(controls) = done(session, asked).await else {
        panic!("{name}: no controls");
    };
    let marks = marks(&controls);
    let marked = annotate::draw(&picture.image, &marks).unwrap();
    let file = folder.join(format!("{name}.png"));
    fs::write(&file, &marked.bytes).unwrap();
    let places = annotate::places(picture.size, &marks);
    let labels: Vec<(&Mark, Rect)> =
        marks.iter().zip(places).filter_map(|(mark, place)| Some((mark, place?))).collect();
    assert!(labels.len() >= 5, "{name} has only {} controls", labels.len());
    let alone = |one: &&(&Mark, Rect)| {
        labels.iter().all(|other| one == &other || other.1.intersection(one.1).is_empty())
    };
    let labels: Vec<Value> = labels
        .iter()
        .filter(alone)
        .map(|(mark, Rect { left, top, right, bottom })| {
            json!({ "label": mark.label, "place": [left, top, right, bottom] })
        })
        .collect();
    json!({ "file": file, "labels": labels })
}

/// The marks of controls, as numbered by the agent.
pub(crate) fn marks(controls: &Controls) -> Vec<Mark> {
    let mark = |(number, node): (ControlNumber, &thumbwire_device::Node)| Mark {
        rect: [node.bounds.left, node.bounds.top, node.bounds.right, node.bounds.bottom],
        label: number.to_string(),
        kind: snapshot::kind(node).to_owned(),
    };
    controls.iter().map(mark).collect()
}

#[tokio::test]
async fn ocr_finds_the_ids_of_controls() {
    let Some(python) = python("THUMBWIRE_PYTHON_OCR", "rapidocr_onnxruntime") else { return };
    // Kept for inspection.
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("marks");
    fs::create_dir_all(&folder).unwrap();
    let upright = Display { width: 1080, height: 2400, density: 420, rotation: 0 };
    let small = Display { width: 320, height: 480, density: 160, rotation: 0 };
    let mut pictures = Vec::new();
    for (android, display, pages) in [(14, upright, UPRIGHT), (4, small, SMALL)] {
        let session = session(android, display);
        for page in pages {
            pictures.push(kept(&session, page, &folder).await);
        }
    }
    let job = folder.join("job.json");
    fs::write(&job, serde_json::to_vec(&pictures).unwrap()).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/marks.py");
    let output = Command::new(python).arg(script).arg(&job).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    println!("{said}");
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    let found: Value = serde_json::from_str(said.lines().last().unwrap()).unwrap();
    let count = |key: &str| found[key].as_u64().unwrap();
    assert!(count("labels") >= 100, "{found}");
    assert!(count("read") * 100 >= count("labels") * 95, "{found}");
}
