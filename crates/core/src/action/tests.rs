//! The JSON of every action: what traces have of it.

use std::fmt::Write as _;

use thumbwire_device::{Format, Gesture, InstallOptions, Key, KeyCode, Location, LogFilter};
use thumbwire_device::{Orientation, Platform, Point, Priority, Size};

use super::table::NAMES;
use super::*;

fn app() -> AppId {
    AppId("com.example.notes".into())
}

/// Every action, most of them once, in the order of the table.
fn every_action() -> Vec<Action> {
    let max_age = Duration::from_secs(5);
    let duration = Duration::from_millis(500);
    let at = Point { x: 10, y: 20 };
    let to = Point { x: 10, y: 200 };
    let text = |text: &str| Some(text.to_owned());
    let selector = ElementSelector { text: text("Save"), clickable: true, ..Default::default() };
    let filter = LogFilter { tag: text("Notes"), priority: Priority::Warn };
    let screenshot = ScreenshotOptions {
        format: FormatPreference::Only(Format::Png),
        max_bytes: Some(2_000_000),
        fresh: true,
    };
    let until =
        |condition| Action::Observe(Observe::Until { condition, timeout: Duration::from_secs(10) });
    let named = Target::Named { id: text("save"), text: text("Save") };
    let arguments = serde_json::Map::from_iter([("title".to_owned(), "tea".into())]);
    vec![
        Action::ListDevices { platform: Some(Platform::Ios), connect: true },
        Action::SelectDevice { device: "R58M".into(), platform: None },
        Action::SelectDefaultDevice,
        Action::Health,
        Action::Screenshot(screenshot),
        Action::SaveScreenshot { name: None, fetch: true },
        Action::Snapshot(SnapshotOptions { detail: TreeDetail::Compressed, max_age }),
        Action::Observe(Observe::Now),
        Action::Observe(Observe::Settled),
        until(WaitCondition::Shown(Target::text("Save"))),
        until(WaitCondition::Gone(Target::listed(ElementRef(12)))),
        until(WaitCondition::App(app())),
        until(WaitCondition::Idle),
        Action::ScreenshotAndSnapshot(ScreenshotOptions::default()),
        Action::ScreenshotAndControls(ScreenshotOptions::default()),
        Action::FindElements(selector.clone()),
        Action::Locate { target: Target::text("Send"), for_text: false },
        Action::Controls { max_age },
        Action::DeviceInfo { max_age },
        Action::ListApps { which: AppFilter::All, containing: "note".into(), max_age },
        Action::ListLabelledApps { which: AppFilter::User },
        Action::CurrentApp,
        Action::Touch(Gesture::Tap { at }),
        Action::Touch(Gesture::DoubleTap { at }),
        Action::Touch(Gesture::LongPress { at, held: duration }),
        Action::Touch(Gesture::Swipe { from: at, to, duration }),
        Action::Touch(Gesture::Drag { from: at, to, duration }),
        Action::Touch(Gesture::Pinch { middle: at, from: 100, to: 400, duration }),
        Action::Swipe { direction: Direction::Left, distance: Some(300), duration },
        Action::Scroll { direction: Direction::Down, distance: 0.5 },
        Action::Pinch { at: Some(at), scale: 2.0, duration },
        Action::TapElement(Target::listed(ElementRef(12))),
        Action::TapElement(Target::listed(ControlNumber::at(4))),
        Action::TapElement(named),
        Action::TapElement(Target::Selector { selector, index: 1 }),
        Action::Type(TextInput::of("tea")),
        Action::Type(TextInput {
            text: "tea".into(),
            into: Some(Target::id("title")),
            clear: true,
            submit: true,
            blind: true,
            tap_focused: true,
        }),
        Action::Press(Key::VolumeUp),
        Action::Press(Key::Android(KeyCode(66))),
        Action::Launch(AppSelector::Id(app())),
        Action::Launch(AppSelector::Named("Notes".into())),
        Action::Launch(AppSelector::ListIndex("3".into())),
        Action::OpenUrl("https://example.com/".into()),
        Action::Stop(app()),
        Action::InstallApp {
            path: "notes.apk".into(),
            options: InstallOptions { allow_test_only: true },
        },
        Action::UninstallApp(app()),
        Action::PushFile { path: "a.txt".into(), to: "/sdcard/".into(), overwrite: false },
        Action::PullFile { path: "/sdcard/a.txt".into(), name: text("b.txt") },
        Action::ReadClipboard,
        Action::SetClipboard("tea".into()),
        Action::SetLocation(Location { latitude: 47.5, longitude: -8.25 }),
        Action::ClearData(app()),
        Action::SetPermission {
            app: app(),
            permission: "android.permission.CAMERA".into(),
            granted: true,
        },
        Action::Unlock,
        Action::SetOrientation(Orientation::Landscape),
        Action::Wait(Duration::from_millis(1500)),
        Action::InvalidateCache(CacheKind::DeviceInfo),
        Action::ReadLog { filter: filter.clone(), max: 50, clear: false },
        Action::ReadCrashes { since: Since::Ago(Duration::from_secs(60)), app: Some(app()) },
        Action::ReadCrashes { since: Since::Time("2024-09-01T12:13:14".into()), app: None },
        Action::ListNotifications { max: 20 },
        Action::StartMonitor { filter, file: None },
        Action::StopMonitor(text("m1")),
        Action::StopMonitor(None),
        Action::ListMonitors,
        Action::StartRecording {
            name: None,
            duration: Duration::from_secs(180),
            bit_rate: Some(4_000_000),
            size: Some(Size { width: 720, height: 1280 }),
        },
        Action::StopRecording { recording: None, fetch: true },
        Action::ListRecordings,
        Action::ListAppTools { max_age: Duration::ZERO },
        Action::CallAppTool(AppToolCall {
            app: app(),
            service: None,
            tool: "add_note".into(),
            arguments,
            send_only: false,
        }),
        Action::TrustAppTools(app()),
    ]
}

#[test]
fn every_action_is_read_back_from_its_json() {
    let actions = every_action();
    let name = |action: &Action| {
        let text = format!("{action:?}");
        text.split([' ', '(']).next().unwrap().to_owned()
    };
    let mut names: Vec<String> = actions.iter().map(name).collect();
    names.dedup();
    assert_eq!(names, NAMES, "the test has every action");
    let mut golden = String::new();
    for action in actions {
        let json = serde_json::to_string(&action).unwrap();
        assert_eq!(serde_json::from_str::<Action>(&json).unwrap(), action, "{json}");
        writeln!(golden, "{json}").unwrap();
    }
    insta::assert_snapshot!(golden);
}

#[test]
fn every_request_is_an_action_with_a_result() {
    assert_eq!(Action::from(request::Press(Key::Home)), Action::Press(Key::Home));
    assert_eq!(Action::from(request::CurrentApp), Action::CurrentApp);
    let scroll = request::Scroll { direction: Direction::Up, distance: 1.0 };
    assert_eq!(Action::from(scroll), Action::Scroll { direction: Direction::Up, distance: 1.0 });
    assert!(<()>::try_from(Outcome::from(())).is_ok());
    let clipboard = Outcome::from(Some("tea".to_owned()));
    assert!(<()>::try_from(clipboard).is_err(), "an outcome of another kind");
}
