//! Legibility of marks: on fixed screens, an OCR program must find the ids of the controls, and
//! still find the words of the screen, in the pictures that a model gets.
//!
//! The screens are those of the gallery at the size of a real phone, and some of a real Android
//! 4.4. `.ci/parts ocr` installs the program. `just marks` measures all screens.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::time::Duration;
use thumbwire_test_support::{capture, python};

use serde_json::{Value, json};
use thumbwire_adb::AdbServer;
use thumbwire_core::action::{Action, Call, Outcome, Perform as _, ScreenshotOptions};
use thumbwire_core::annotate::{self, Mark};
use thumbwire_core::providers::{
    DeviceProviders, VIRTUAL, VIRTUAL_IOS, VirtualIphoneProvider, VirtualPhoneProvider,
};
use thumbwire_core::session::Session;
use thumbwire_core::snapshot::{Controls, Snapshot};
use thumbwire_device::image::{Format, PixelLimits, Pixels};
use thumbwire_device::saved_tree::read_saved;
use thumbwire_device::{Image, Rect};
use thumbwire_virtual_android::{Setup, VirtualPhone};
use thumbwire_virtual_ios::VirtualIphone;
use thumbwire_virtual_phone::{Display, Platform, World};

#[path = "../../../virtual-android/examples/screens/pages.rs"]
#[allow(dead_code, reason = "captions and columns are for the gallery's own page")]
mod pages;

use pages::Chapter;

/// A screenshot and its controls.
struct Screen {
    name: String,
    image: Image,
    marks: Vec<Mark>,
}

/// A session on a virtual phone with this display.
pub(crate) fn session(android: u32, display: Display) -> Session {
    session_on(VirtualPhone::new(Setup { android, display, ..Setup::default() }))
}

fn session_on(phone: VirtualPhone) -> Session {
    let phones =
        DeviceProviders::adb(AdbServer::new("127.0.0.1:9")).with(VirtualPhoneProvider::new(phone));
    Session::new(phones, Some(VIRTUAL.into()))
}

/// A session on a phone that shows this world.
fn session_in(world: World, chapter: &Chapter) -> Session {
    let Chapter { display, android, platform, .. } = *chapter;
    if platform == Platform::Ios {
        let setup = thumbwire_virtual_ios::Setup { display, ..Default::default() };
        let phone = VirtualIphone::new(setup);
        phone.world(|there| *there = world);
        let phones = DeviceProviders::default().with(VirtualIphoneProvider::new(phone));
        return Session::new(phones, Some(VIRTUAL_IOS.into()));
    }
    let phone = VirtualPhone::new(Setup { android, display, ..Setup::default() });
    phone.world(|there| *there = world);
    session_on(phone)
}

/// The gallery's chapters at the size of real phones, and a tiny phone.
fn chapters() -> Vec<Chapter> {
    let mut chapters = Vec::from(pages::chapters());
    for chapter in chapters.iter_mut().filter(|chapter| chapter.prefix != "small-") {
        let Display { width, height, density, .. } = &mut chapter.display;
        *width *= 2;
        *height *= 2;
        *density *= 2;
    }
    let small = pages::chapters().into_iter().filter(|chapter| chapter.prefix == "small-");
    chapters.extend(small.map(|mut chapter| {
        chapter.prefix = "tiny-";
        chapter.display = Display { width: 320, height: 480, density: 160, rotation: 0 };
        chapter
    }));
    chapters
}

/// The wanted screens of the gallery.
async fn gallery(wanted: impl Fn(&str) -> bool) -> Vec<Screen> {
    let mut screens = Vec::new();
    for chapter in chapters() {
        for (name, page) in chapter.pages().filter(|(name, _)| wanted(name)) {
            let world = chapter.shown(page).unwrap_or_else(|error| panic!("{name}: {error}"));
            let session = session_in(world, &chapter);
            let asked = Action::Screenshot(ScreenshotOptions::default());
            let Outcome::Screenshot(picture) = done(&session, asked).await else {
                panic!("{name}: no picture");
            };
            let asked = Action::Controls { max_age: Duration::ZERO };
            let Outcome::Controls(controls) = done(&session, asked).await else {
                panic!("{name}: no controls");
            };
            screens.push(Screen { name, image: picture.image, marks: annotate::marks(&controls) });
            session.end().await;
        }
    }
    screens
}

async fn done(session: &Session, action: Action) -> Outcome {
    let call = Call::with_timeout(Duration::from_secs(60));
    session.perform(&call, action).await.unwrap()
}

/// Screens of an Android 4.4.4: each file `screen-NAME.png` with its `dump-NAME.xml`.
fn real_screens() -> Vec<Screen> {
    let screen = |name: &str| {
        let bytes = capture(&format!("android-4.4.4/screen-{name}.png")).unwrap();
        let dump = capture(&format!("android-4.4.4/dump-{name}.xml")).unwrap();
        let tree = read_saved(&dump).unwrap().tree;
        let snapshot = Snapshot::number(tree, None, &AtomicU32::new(1));
        let marks = annotate::marks(&Controls::of(Arc::new(snapshot)));
        let image = Image { format: Format::Png, bytes: bytes.into() };
        Screen { name: format!("real-{name}"), image, marks }
    };
    ["calculator", "contacts", "home", "keyguard", "rotated"].map(screen).into()
}

/// Saves the clean and the annotated picture as a model gets them, and returns what OCR should find
/// there.
fn saved(screen: &Screen, folder: &Path) -> Value {
    let Screen { name, image, marks } = screen;
    let clean = Pixels::read(image).unwrap();
    let marked = annotate::draw_on(&clean, marks).unwrap();
    let size = clean.size();
    let sent = PixelLimits::VISION_MODELS.target(size);
    let save = |pixels: &Pixels, suffix: &str| {
        let file = folder.join(format!("{name}{suffix}.png"));
        let pixels = if sent == size { pixels.clone() } else { pixels.scaled(sent).unwrap() };
        fs::write(&file, pixels.write(Format::Png).unwrap().bytes).unwrap();
        file
    };
    let scaled = |at: i32| f64::from(at) * f64::from(sent.width) / f64::from(size.width);
    let places = annotate::places(&clean, marks);
    // A mark outside the picture has nothing to show.
    let is_there = |mark: &Mark| {
        let [left, top, right, bottom] = mark.rect;
        left.max(0) < right.min(size.width) && top.max(0) < bottom.min(size.height)
    };
    let labels = marks.iter().zip(places).filter(|(mark, _)| is_there(mark));
    let labels: Vec<Value> = labels
        .map(|(mark, place)| {
            let place = place
                .map(|Rect { left, top, right, bottom }| [left, top, right, bottom].map(scaled));
            json!({ "label": mark.label, "place": place })
        })
        .collect();
    json!({ "name": name, "clean": save(&clean, "-clean"), "marked": save(&marked, ""), "labels": labels })
}

/// How many marks and words there are, and how many OCR reads and loses.
fn measure(python: &Path, screens: &[Screen], name: &str) -> [u64; 4] {
    // Kept for inspection.
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::create_dir_all(&folder).unwrap();
    let job: Vec<Value> = screens.iter().map(|screen| saved(screen, &folder)).collect();
    let file = folder.join("job.json");
    fs::write(&file, serde_json::to_vec(&job).unwrap()).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/marks.py");
    let output = Command::new(python).arg(script).arg(&file).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    println!("{said}");
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    let sums: Value = serde_json::from_str(said.lines().last().unwrap()).unwrap();
    ["labels", "read", "words", "lost"].map(|key| sums[key].as_u64().unwrap())
}

/// A list, a dense grid, a keyboard, small texts side by side, a dialog, landscape, an iPhone, a
/// tiny phone.
const SHORT: &[&str] = &[
    "settings",
    "calendar",
    "contacts-create",
    "maps-results",
    "settings-timeout",
    "turned-clock-timer",
    "ios-notes-new",
    "tiny-clock-timer",
];

#[tokio::test]
async fn ocr_finds_the_ids_of_controls() {
    let Some(python) = python("ocr", "rapidocr_onnxruntime") else { return };
    let mut screens = gallery(|name| SHORT.contains(&name)).await;
    assert_eq!(screens.len(), SHORT.len());
    screens.extend(real_screens().into_iter().take(1));
    let [labels, read, words, lost] = measure(&python, &screens, "marks");
    assert!(labels >= 200 && words >= 200, "{labels} labels, {words} words");
    assert!(read * 100 >= labels * 99, "{read} of {labels} labels were read");
    assert!(lost * 100 <= words, "{lost} of {words} words were lost");
}

#[tokio::test]
#[ignore = "takes half an hour; `just marks`"]
async fn ocr_finds_the_ids_on_every_screen() {
    let Some(python) = python("ocr", "rapidocr_onnxruntime") else { return };
    let mut screens = gallery(|_| true).await;
    screens.extend(real_screens());
    let [labels, read, words, lost] = measure(&python, &screens, "all-marks");
    assert!(read * 100 >= labels * 99, "{read} of {labels} labels were read");
    assert!(lost * 100 <= words, "{lost} of {words} words were lost");
}
