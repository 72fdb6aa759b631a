//! The JSON of every action and every outcome: what traces have of them, and what travels between
//! computers.

use std::fmt::Write as _;

use thumbwire_device::{
    App, Battery, Check, DeviceInfo, Flags, Foreground, Format, Gesture, Health, Identity, Image,
    InstallOptions, Key, KeyCode, LaunchArgument, LaunchValue, Location, LockState, LogEntry,
    LogFilter, Node, Notification, Orientation, Panel, Platform, Point, Priority, Rect, Screenshot,
    Size, Tree, TypingMethod,
};

use super::outcome::KINDS;
use super::table::NAMES;
use super::*;
use crate::crash::{Crash, CrashKind};
use crate::snapshot::Snapshot;

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
        Action::LaunchWith {
            app: app(),
            arguments: [("seed", LaunchValue::Whole(7)), ("name", LaunchValue::Text("tea".into()))]
                .map(|(name, value)| LaunchArgument { name: name.into(), value })
                .into(),
        },
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

fn snapshot() -> Arc<Snapshot> {
    let bounds = Rect { left: 0, top: 0, right: 100, bottom: 200 };
    let save = Node {
        parent: Some(0),
        depth: 1,
        text: "Save".into(),
        bounds: Rect { bottom: 50, ..bounds },
        flags: Flags { clickable: true, enabled: true, ..Flags::default() },
        ..Node::default()
    };
    let nodes = vec![Node { bounds, ..Node::default() }, save];
    let tree = Tree { nodes, front: Foreground::Keyguard, ..Tree::default() };
    Arc::new(Snapshot::number(tree, None, &std::sync::atomic::AtomicU32::new(12)))
}

/// Every kind of outcome, most of them once, in the order of the table.
fn every_outcome() -> Vec<Outcome> {
    let text = || "text".to_owned();
    let at = Point { x: 10, y: 20 };
    let size = Size { width: 100, height: 200 };
    let time = Duration::from_millis(1500);
    let screenshot = || Screenshot {
        image: Image { format: Format::Png, bytes: vec![0x89, b'P', b'N', b'G'].into() },
        size,
        blank: None,
    };
    let identity = || Identity { id: "R58M".into(), platform: Platform::Android, model: text() };
    let listed = || ListedDevice {
        id: "R58M".into(),
        platform: Platform::Android,
        model: text(),
        state: ListedDevice::READY.into(),
        kind: DeviceKind::Physical,
        properties: vec![(text(), text())],
    };
    let tapped = || TapResult { at, snapshot: snapshot(), node: 1, of: 1 };
    let file = || LocalFile { path: "out/a.png".into(), bytes: 4 };
    let installed = App { id: app(), system: false };
    let monitor = || LogMonitor {
        id: "m1".into(),
        filter: LogFilter { tag: None, priority: Priority::Warn },
        file: Some("out/a.log".into()),
        running: time,
        entries: 3,
        ended: None,
    };
    let recording = || RecordingInfo {
        id: "r1".into(),
        name: "a.mp4".into(),
        on_phone: "/sdcard/a.mp4".into(),
        running: time,
        duration: time,
        bit_rate: None,
        size: Some(size),
        process: 42,
        warnings: vec![text()],
        unstopped: None,
        local_file: Some(Err(text())),
    };
    let phases = || vec![(AppToolPhase::Query, time)];
    let parameter = Parameter { name: text(), kind: "string", required: true, description: text() };
    let tools = AppTools {
        app: app(),
        by: AppToolProtocol::MobileMcp,
        name: text(),
        description: text(),
        version: 1,
        certificate: text(),
        trusted: TrustStatus::Changed(text()),
        tools: vec![AppTool {
            id: "add_note".into(),
            description: text(),
            version: text(),
            service: None,
            input: vec![parameter],
            output: Vec::new(),
            schema: None,
        }],
        complaints: vec![AppToolFinding { rule: text(), fatal: false, message: text() }],
    };
    let crash = Crash {
        kind: CrashKind::Exception,
        time: text(),
        process: None,
        what: text(),
        excerpt: vec![text()],
    };
    let controls = || Arc::new(Controls::of(snapshot()));
    let info = DeviceInfo {
        manufacturer: text(),
        model: text(),
        os_version: "14".into(),
        api_level: Some(34),
        screen: size,
        density: Some(420),
        orientation: Orientation::Portrait,
        battery: Some(Battery { percent: 80, charging: true, status: 2 }),
        serial: text(),
        panel: Panel { size, size_set: None, density: None, density_set: Some(320) },
    };
    vec![
        vec![listed()].into(),
        identity().into(),
        DefaultDevice { device: listed(), reason: SelectionReason::FirstPhysical }.into(),
        HealthResult {
            identity: identity(),
            health: Health {
                checks: vec![Check { name: "connectivity".into(), passed: true, details: text() }],
            },
        }
        .into(),
        InfoResult { identity: identity(), info, earlier: true }.into(),
        vec![installed.clone()].into(),
        LabelledApps {
            apps: vec![(installed, Some(Label::Text(text())))],
            has_labels: true,
            is_complete: true,
        }
        .into(),
        Foreground::System { title: text() }.into(),
        screenshot().into(),
        snapshot().into(),
        Observation { now: snapshot(), before: None, settled: true, took: time }.into(),
        SavedScreenshot {
            name: "a.png".into(),
            on_phone: "/sdcard/a.png".into(),
            local_file: Some(Ok(file())),
        }
        .into(),
        FoundElements { snapshot: snapshot(), nodes: vec![1] }.into(),
        controls().into(),
        ScreenshotAndSnapshot { screenshot: screenshot(), snapshot: snapshot() }.into(),
        ScreenshotAndControls { screenshot: screenshot(), controls: controls() }.into(),
        TypeResult {
            by: TypingMethod::SetText,
            field: Readback::Differs { shows: text() },
            into: Some(tapped()),
            tapped: true,
        }
        .into(),
        tapped().into(),
        SwipeResult { from: at, to: at, screen: size }.into(),
        PinchResult { at }.into(),
        Some(text()).into(),
        LaunchResult {
            app: app(),
            text: text(),
            locked: Some(LockState::Keyguard),
            in_front: None,
        }
        .into(),
        InstalledApp {
            app: app(),
            version_code: 2,
            version_name: "2.0".into(),
            before: Some((1, "1.0".into())),
        }
        .into(),
        PushResult { on_phone: "/sdcard/a.txt".into(), bytes: 4, replaced: false }.into(),
        file().into(),
        vec![LogEntry {
            time: text(),
            priority: Priority::Warn,
            tag: text(),
            pid: 1,
            tid: 2,
            message: text(),
        }]
        .into(),
        CrashList { crashes: vec![crash], now: text(), cut: None }.into(),
        vec![Notification {
            app: app(),
            key: text(),
            title: text(),
            text: text(),
            time: None,
            ongoing: false,
        }]
        .into(),
        monitor().into(),
        vec![monitor()].into(),
        recording().into(),
        vec![recording()].into(),
        Arc::new(Catalog { apps: vec![Arc::new(tools)], phases: phases() }).into(),
        AppToolResult {
            app: app(),
            tool: "add_note".into(),
            heard: AppToolReply::Sent,
            phases: phases(),
        }
        .into(),
        Outcome::Done,
    ]
}

#[test]
fn every_outcome_is_read_back_from_its_json() {
    let outcomes = every_outcome();
    let name = |outcome: &Outcome| {
        let text = format!("{outcome:?}");
        text.split('(').next().unwrap().to_owned()
    };
    assert_eq!(outcomes.iter().map(name).collect::<Vec<_>>(), KINDS, "the test has every kind");
    let mut golden = String::new();
    for outcome in outcomes {
        let json = serde_json::to_string(&outcome).unwrap();
        let back: Outcome = serde_json::from_str(&json).unwrap();
        assert_eq!(format!("{back:?}"), format!("{outcome:?}"), "{json}");
        writeln!(golden, "{json}").unwrap();
    }
    insta::assert_snapshot!(golden);
}

/// Another computer may be of another version, or not what it says.
#[test]
fn snapshots_that_cannot_be_are_refused() {
    let read = |json: &str| {
        serde_json::from_str::<Snapshot>(json).map(drop).map_err(|error| error.to_string())
    };
    let tree = |nodes: &str| {
        format!(
            r#"{{"nodes":[{nodes}],"rotation":0,"source":"","front":"unknown","window":"main","keyboard":null,"method":"platform","unread":null}}"#
        )
    };
    let snapshot =
        |nodes: &str, refs: &str| format!(r#"{{"tree":{},"refs":[{refs}]}}"#, tree(nodes));
    read(&snapshot("{}", r#"{"id":"e1","node":0}"#)).unwrap();
    for (nodes, refs) in [
        (r#"{"parent":0}"#, ""),
        (r#"{},{"parent":1,"depth":1}"#, ""),
        ("{}", r#"{"id":"e1","node":1}"#),
        ("{},{}", r#"{"id":"e1","node":1},{"id":"e2","node":0}"#),
    ] {
        assert!(read(&snapshot(nodes, refs)).is_err(), "{nodes} {refs}");
    }
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
