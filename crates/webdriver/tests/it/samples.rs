//! Each command at least once: with all its fields, and with as few as it can have.

use serde_json::{Map, Value, json};
use thumbwire_webdriver::{
    AppCommand, Appearance, Base64, Command, DeviceCommand, Direction, ElementCommand, ElementId,
    GestureCommand, InputItems, InputSource, KeyItem, KeyPress, Locator, MobileCommand, NameList,
    NewSession, Orientation, Origin, Point, PointerItem, PointerType, RequestedCapabilities,
    ScreenCommand, Script, Scroll, SessionCommand, SourceFormat, Strategy, TimeLimit, Timeouts,
    TypedText, finger_tap,
};

/// An object.
pub(crate) fn object(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

/// All samples.
pub(crate) fn all() -> Vec<Command> {
    let mut all = Vec::new();
    all.extend(session().into_iter().map(Command::from));
    all.extend(element().into_iter().map(Command::from));
    all.extend(screen().into_iter().map(Command::from));
    all.extend(gesture().into_iter().map(Command::from));
    all.extend(app().into_iter().map(Command::from));
    all.extend(device().into_iter().map(Command::from));
    all
}

fn text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

fn id() -> ElementId {
    ElementId::new("5A/ 0?é").unwrap()
}

fn typed(text: &str) -> TypedText {
    TypedText(text.to_owned())
}

fn key_press(key: &str, modifier_flags: Option<u64>) -> KeyPress {
    KeyPress { key: key.to_owned(), modifier_flags }
}

fn session() -> Vec<SessionCommand> {
    let appium = RequestedCapabilities {
        always_match: object(json!({ "platformName": "iOS", "appium:automationName": "XCUITest" })),
        first_match: Some(vec![Map::new(), object(json!({ "appium:udid": "x" }))]),
    };
    let both = NewSession {
        capabilities: Some(appium),
        desired_capabilities: Some(object(json!({ "bundleId": "a.b" }))),
    };
    let timeouts = Timeouts {
        script: Some(TimeLimit::Unlimited),
        page_load_ms: Some(300_000),
        implicit_ms: Some(0),
    };
    let limited = Timeouts { script: Some(TimeLimit::Milliseconds(30_000)), ..Timeouts::default() };
    let mobile = MobileCommand::new("pressButton").arg("name", "home");
    vec![
        SessionCommand::Status,
        SessionCommand::New { request: both },
        SessionCommand::New { request: NewSession::new(Map::new()) },
        SessionCommand::New { request: NewSession::default() },
        SessionCommand::Get,
        SessionCommand::Delete,
        SessionCommand::SetTimeouts { timeouts },
        SessionCommand::SetTimeouts { timeouts: limited },
        SessionCommand::GetSettings,
        SessionCommand::SetSettings { settings: object(json!({ "snapshotMaxDepth": 60 })) },
        SessionCommand::Execute { script: mobile.into() },
        SessionCommand::Execute {
            script: Script { script: "return 1".into(), args: vec![json!(1), json!(null)] },
        },
        SessionCommand::GetLog { log_type: "syslog".into() },
        SessionCommand::HealthCheck,
    ]
}

fn element() -> Vec<ElementCommand> {
    let locator = Locator { using: Strategy::AccessibilityId, value: "Wi-Fi".into() };
    let element = id();
    let mut commands: Vec<ElementCommand> = Strategy::all()
        .chain([Strategy::Other("-image".into())])
        .map(|using| ElementCommand::Find { locator: Locator { using, value: "x".into() } })
        .collect();
    commands.extend([
        ElementCommand::FindAll { locator: locator.clone() },
        ElementCommand::FindInside { element: id(), locator: locator.clone() },
        ElementCommand::FindAllInside { element: id(), locator },
        ElementCommand::VisibleCells { element: id() },
        ElementCommand::Active,
        ElementCommand::Click { element: id() },
        ElementCommand::Clear { element: id() },
        ElementCommand::SetValue { element: id(), text: typed("hé👍\n"), frequency: Some(60) },
        ElementCommand::SetValue { element: id(), text: typed(""), frequency: None },
        ElementCommand::Text { element: id() },
        ElementCommand::Attribute { element: id(), name: "content-desc".into() },
        ElementCommand::Property { element: id(), name: "value".into() },
        ElementCommand::Name { element: id() },
        ElementCommand::Displayed { element: id() },
        ElementCommand::Enabled { element: id() },
        ElementCommand::Selected { element: id() },
        ElementCommand::Rect { element: id() },
        ElementCommand::Size { element: id() },
        ElementCommand::Location { element: id() },
        ElementCommand::Screenshot { element: id() },
        ElementCommand::Accessible { element: id() },
        ElementCommand::AccessibilityContainer { element },
    ]);
    commands
}

fn screen() -> Vec<ScreenCommand> {
    let source = |format, excluded: &[&str], scope| ScreenCommand::Source {
        format,
        excluded_attributes: (!excluded.is_empty())
            .then(|| NameList(excluded.iter().map(|name| (*name).to_owned()).collect())),
        scope,
    };
    vec![
        source(Some(SourceFormat::Xml), &["visible", "accessible"], text("AppiumAUT")),
        source(Some(SourceFormat::Json), &[], None),
        source(Some(SourceFormat::Description), &[], text("a b&c=d")),
        source(None, &[], None),
        ScreenCommand::AccessibleSource,
        ScreenCommand::Screenshot,
        ScreenCommand::WindowRect,
        ScreenCommand::WindowSize,
        ScreenCommand::Screen,
        ScreenCommand::GetOrientation,
        ScreenCommand::SetOrientation { orientation: Orientation::Landscape },
        ScreenCommand::SetOrientation { orientation: Orientation::PortraitUpsideDown },
        ScreenCommand::GetRotation,
        ScreenCommand::SetRotation { x: 0.0, y: 0.0, z: 90.0 },
        ScreenCommand::DeviceOrientation,
        ScreenCommand::AlertText,
        ScreenCommand::SetAlertText { text: typed("secret") },
        ScreenCommand::AcceptAlert { button: text("Allow") },
        ScreenCommand::AcceptAlert { button: None },
        ScreenCommand::DismissAlert { button: text("Don’t Allow") },
        ScreenCommand::DismissAlert { button: None },
        ScreenCommand::AlertButtons,
    ]
}

fn sources() -> Vec<InputSource> {
    let moved = |origin| PointerItem::Move { x: -1.5, y: 0.0, origin, duration_ms: None };
    let items = vec![
        moved(Origin::Pointer),
        moved(Origin::Element(id())),
        PointerItem::Down { button: 2, pressure: Some(0.5) },
        PointerItem::Pause(None),
        PointerItem::Cancel,
    ];
    let keys = vec![
        KeyItem::Down("\u{e007}".into()),
        KeyItem::Pause(Some(10)),
        KeyItem::Up("\u{e007}".into()),
    ];
    vec![
        finger_tap(100.5, 200.0, 50),
        InputSource { id: "pen".into(), items: InputItems::Pointer(PointerType::Pen, items) },
        InputSource { id: "keys".into(), items: InputItems::Key(keys) },
        InputSource { id: "wait".into(), items: InputItems::None(vec![Some(100), None]) },
    ]
}

fn gesture() -> Vec<GestureCommand> {
    let at = Some(Point { x: 10.0, y: 20.5 });
    let scroll = |to| GestureCommand::Scroll { element: Some(id()), to };
    let mut commands = vec![
        GestureCommand::Perform { sources: sources() },
        GestureCommand::Perform { sources: Vec::new() },
        GestureCommand::Release,
        GestureCommand::TwoFingerTap { element: None },
        GestureCommand::TapTimes { element: Some(id()), taps: 3, touches: 1 },
        GestureCommand::TouchAndHold { element: None, at, duration_s: 1.5 },
        GestureCommand::ForceTouch {
            element: None,
            at,
            pressure: Some(0.8),
            duration_s: Some(0.5),
        },
        GestureCommand::ForceTouch {
            element: Some(id()),
            at: None,
            pressure: None,
            duration_s: None,
        },
        GestureCommand::DragWithVelocity {
            from_x: 1.0,
            from_y: 2.0,
            to_x: 3.0,
            to_y: 4.0,
            press_s: 0.5,
            hold_s: 0.1,
            velocity: 400.0,
        },
        GestureCommand::DragElement {
            element: id(),
            to: ElementId::new("2").unwrap(),
            press_s: 0.5,
            hold_s: 0.0,
            velocity: 400.0,
        },
        GestureCommand::Swipe {
            element: None,
            at,
            direction: Direction::Up,
            velocity: Some(2500.0),
        },
        GestureCommand::Swipe {
            element: Some(id()),
            at: None,
            direction: Direction::Left,
            velocity: None,
        },
        scroll(Scroll::ToName("Battery".into())),
        scroll(Scroll::By { direction: Direction::Down, distance: Some(0.5) }),
        scroll(Scroll::By { direction: Direction::Right, distance: None }),
        scroll(Scroll::ToPredicate("label == 'x'".into())),
        scroll(Scroll::ToVisible),
        GestureCommand::ScrollTo { element: id() },
        GestureCommand::Keys { text: typed("a\u{8}"), frequency: Some(30) },
        GestureCommand::Keys { text: typed("a"), frequency: None },
        GestureCommand::KeyboardInput { element: None, keys: vec![key_press("a", None)] },
        GestureCommand::KeyboardInput {
            element: Some(id()),
            keys: vec![key_press("XCUIKeyboardKeyDelete", None), key_press("a", Some(2))],
        },
    ];
    for element in [None, Some(id())] {
        commands.extend([
            GestureCommand::Tap { element: element.clone(), at },
            GestureCommand::Tap { element: element.clone(), at: None },
            GestureCommand::DoubleTap { element: element.clone(), at },
            GestureCommand::Drag {
                element: element.clone(),
                from_x: 1.0,
                from_y: 2.0,
                to_x: 3.0,
                to_y: 4.5,
                duration_s: 0.25,
            },
            GestureCommand::Pinch { element: element.clone(), scale: 0.5, velocity: -1.0 },
            GestureCommand::Rotate { element, rotation: 1.5, velocity: 2.0 },
        ]);
    }
    commands
}

fn app() -> Vec<AppCommand> {
    let bundle_id = || "com.apple.Preferences".to_owned();
    vec![
        AppCommand::Launch {
            bundle_id: bundle_id(),
            arguments: Some(vec!["-x".into()]),
            environment: Some(object(json!({ "A": "1" }))),
            wait_for_quiescence: Some(false),
        },
        AppCommand::Launch {
            bundle_id: bundle_id(),
            arguments: None,
            environment: None,
            wait_for_quiescence: None,
        },
        AppCommand::LaunchUnattached { bundle_id: bundle_id() },
        AppCommand::Activate { bundle_id: bundle_id() },
        AppCommand::Terminate { bundle_id: bundle_id() },
        AppCommand::State { bundle_id: bundle_id() },
        AppCommand::List,
        AppCommand::ActiveInfo,
        AppCommand::Deactivate { duration_s: Some(1.5) },
        AppCommand::Deactivate { duration_s: None },
        AppCommand::ResetAuthorization { resource: 4 },
        AppCommand::OpenUrl {
            url: "prefs:root=WIFI".into(),
            bundle_id: Some(bundle_id()),
            idle_timeout_ms: Some(500),
        },
        AppCommand::OpenUrl {
            url: "https://a.b/?c".into(),
            bundle_id: None,
            idle_timeout_ms: None,
        },
    ]
}

fn device() -> Vec<DeviceCommand> {
    let content = || Base64("hé".into());
    vec![
        DeviceCommand::Lock,
        DeviceCommand::Unlock,
        DeviceCommand::IsLocked,
        DeviceCommand::HomeScreen,
        DeviceCommand::PressButton { name: "volumeUp".into(), duration_s: Some(0.5) },
        DeviceCommand::PressButton { name: "home".into(), duration_s: None },
        DeviceCommand::PerformHidEvent { page: 12, usage: 64, duration_s: 0.005 },
        DeviceCommand::ActivateSiri { text: "open Settings".into() },
        DeviceCommand::BatteryInfo,
        DeviceCommand::DeviceInfo,
        DeviceCommand::SetAppearance { name: Appearance::Dark },
        DeviceCommand::GetPasteboard { content_type: text("url") },
        DeviceCommand::GetPasteboard { content_type: None },
        DeviceCommand::SetPasteboard { content: content(), content_type: text("plaintext") },
        DeviceCommand::SetPasteboard { content: content(), content_type: None },
        DeviceCommand::SetSimulatedLocation { latitude: 53.8655, longitude: 10.6866 },
        DeviceCommand::DismissKeyboard { key_names: Some(vec!["Done".into()]) },
        DeviceCommand::DismissKeyboard { key_names: None },
    ]
}
