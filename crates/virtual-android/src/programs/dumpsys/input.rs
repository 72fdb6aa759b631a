//! `dumpsys input`: devices, the touch panel's viewport, and who gets touches and keys. Sources:
//! the captures `041-dumpsys-input` and `shell/input`. Not here: the latest events, which this
//! phone does not keep.

use super::window;
use crate::phone::State;
use crate::programs::evdev::devices::{Device, devices};
use thumbwire_virtual_android_system::release::formats::DumpsysFormat;
use thumbwire_virtual_phone::WindowKind;

/// The whole report.
pub(super) fn report(phone: &mut State, _: &[&str]) -> String {
    let mut devices = devices(phone);
    devices.reverse();
    let modern = phone.release().shape >= DumpsysFormat::Thirteen;
    let mut text = String::from("INPUT MANAGER (dumpsys input)\n\n");
    if phone.release().shape >= DumpsysFormat::Nine {
        let on = phone.world.screen_on();
        text += &format!(
            "Input Manager State:\n  Interactive: {on}\n  System UI Lights Out: false\n  Pointer Speed: 0\n  Pointer Gestures Enabled: true\n  Show Touches: false\n\n"
        );
    }
    let built_in = if modern { "0" } else { "-2" };
    text += &format!("Event Hub State:\n  BuiltInKeyboardId: {built_in}\n  Devices:\n");
    text += &hub_device(None, -1, modern);
    for (nth, device) in devices.iter().enumerate() {
        text += &hub_device(Some(device), nth as i32 + 1, modern);
    }
    text += &match modern {
        true => format!("\nInput Reader State (Nums of device: {}):\n", devices.len() + 1),
        false => "\nInput Reader State:\n".to_owned(),
    };
    for (nth, device) in devices.iter().enumerate() {
        text += &format!(
            "  Device {}: {}\n    Generation: {}\n    IsExternal: false\n",
            nth + 1,
            device.name,
            2 * nth + 4
        );
        text += &match device.touch {
            true => touch_mapper(phone, modern),
            false => keyboard_mapper(modern),
        };
    }
    text += "  Configuration:\n    ExcludedDeviceNames: []\n    VirtualKeyQuietTime: 0.0ms\n";
    text += &dispatcher(phone);
    text
}

/// A device as the event hub lists it; without one the virtual keyboard.
fn hub_device(device: Option<&Device>, number: i32, modern: bool) -> String {
    let (name, path, location, configuration) = match device {
        None => ("Virtual", "<virtual>".to_owned(), "", ""),
        Some(device) if device.touch => {
            (device.name, device.path(), "", "/system/usr/idc/virtual_touch.idc")
        }
        Some(device) => (device.name, device.path(), "gpio-keys/input0", ""),
    };
    let (classes, bus) = match device {
        None => (
            if modern { "KEYBOARD | ALPHAKEY | DPAD | VIRTUAL" } else { "0x40000023" },
            "bus=0x0000, vendor=0x0000, product=0x0000, version=0x0000",
        ),
        Some(device) if device.touch => (
            if modern { "TOUCH | TOUCH_MT" } else { "0x00000014" },
            "bus=0x0006, vendor=0x0000, product=0x0000, version=0x0000",
        ),
        Some(_) => (
            if modern { "KEYBOARD" } else { "0x00000001" },
            "bus=0x0019, vendor=0x0001, product=0x0001, version=0x0100",
        ),
    };
    let keys = device.is_none_or(|device| !device.touch);
    let layout = if keys { "/system/usr/keylayout/Generic.kl" } else { "" };
    let characters = match device {
        None => "/system/usr/keychars/Virtual.kcm",
        Some(_) if keys => "/system/usr/keychars/Generic.kcm",
        Some(_) => "",
    };
    let unique = if device.is_none() { "<virtual>" } else { "" };
    let (enabled, last) = match modern {
        true => ("      Enabled: true\n", "      VideoDevice: <none>\n"),
        false => ("", "      HaveKeyboardLayoutOverlay: false\n"),
    };
    // The digest of a device's identity: the first two are the same on all phones.
    let hash = thumbwire_virtual_android_system::fingerprint(name);
    let descriptor = match device {
        None => "a718a782d34bc767f4689c232d64d527998ea7fd".to_owned(),
        Some(device) if !device.touch => "485d69228e24f5e46da1598745890b214130dbc4".to_owned(),
        Some(_) => format!("{hash:016x}{hash:016x}{:08x}", hash & 0xffff_ffff),
    };
    format!(
        "    {number}: {name}\n      Classes: {classes}\n      Path: {path}\n{enabled}      Descriptor: {descriptor}\n      Location: {location}\n      ControllerNumber: 0\n      UniqueId: {unique}\n      Identifier: {bus}\n      KeyLayoutFile: {layout}\n      KeyCharacterMapFile: {characters}\n      ConfigurationFile: {configuration}\n{last}"
    )
}

fn keyboard_mapper(modern: bool) -> String {
    let (sources, parameters) = match modern {
        true => ("KEYBOARD", "        OrientationAware: false\n        HandlesKeyRepeat: false\n"),
        false => {
            ("0x00000101", "        HasAssociatedDisplay: false\n        OrientationAware: false\n")
        }
    };
    format!(
        "    Sources: {sources}\n    KeyboardType: 1\n    Keyboard Input Mapper:\n      Parameters:\n{parameters}      KeyboardType: 1\n      Orientation: 0\n      KeyDowns: 0 keys currently down\n      MetaState: 0x0\n"
    )
}

fn touch_mapper(phone: &State, modern: bool) -> String {
    let (width, height) = phone.world.physical_size();
    let display = phone.world.display();
    let turn = display.rotation;
    let (across, down) = if turn.is_multiple_of(2) { (width, height) } else { (height, width) };
    let source = if modern { "TOUCHSCREEN" } else { "0x00001002" };
    let range = |name: &str, most: String| {
        format!(
            "      {name}: source={source}, min=0.000, max={most}, flat=0.000, fuzz=0.000, resolution=0.000\n"
        )
    };
    let axis = |name: &str, most: i32| {
        format!("        {name}: min=0, max={most}, flat=0, fuzz=0, resolution=0\n")
    };
    let (mode, gestures, kind, associated) = match modern {
        true => (" (mode - DIRECT)", "MULTI_TOUCH", "TOUCH_SCREEN", ", displayId=''"),
        false => ("", "spots", "touchScreen", ""),
    };
    let viewport = match modern {
        true => format!(
            "      Viewport INTERNAL: displayId=0, uniqueId=local:4619827259835644672, port=0, orientation={turn}, logicalFrame=[0, 0, {}, {}], physicalFrame=[0, 0, {across}, {down}], deviceSize=[{across}, {down}], isActive=[1]\n",
            display.width, display.height
        ),
        false => format!(
            "      Viewport: displayId=0, orientation={turn}, logicalFrame=[0, 0, {}, {}], physicalFrame=[0, 0, {across}, {down}], deviceSize=[{across}, {down}]\n",
            display.width, display.height
        ),
    };
    let surface = match modern {
        true => {
            format!("      DisplayBounds: {width}x{height}\n      InputDeviceOrientation: {turn}\n")
        }
        false => format!(
            "      SurfaceWidth: {}px\n      SurfaceHeight: {}px\n      SurfaceLeft: 0\n      SurfaceTop: 0\n      SurfaceOrientation: {turn}\n",
            display.width, display.height
        ),
    };
    let raw = if modern { "Raw Button" } else { "Button" };
    format!(
        "    Sources: {source}\n    KeyboardType: 0\n    Motion Ranges:\n{}{}{}    Touch Input Mapper{mode}:\n      Parameters:\n        GestureMode: {gestures}\n        DeviceType: {kind}\n        AssociatedDisplay: hasAssociatedDisplay=true, isExternal=false{associated}\n        OrientationAware: true\n      Raw Touch Axes:\n{}{}{}{}{}{}      Calibration:\n{viewport}{surface}      Translation and Scaling Factors:\n      Last {raw} State: 0x00000000\n      Last Raw Touch: pointerCount=0\n      Last Cooked Touch: pointerCount=0\n",
        range("X", format!("{}.000", width - 1)),
        range("Y", format!("{}.000", height - 1)),
        range("PRESSURE", "1.000".to_owned()),
        axis("X", width - 1),
        axis("Y", height - 1),
        axis("Pressure", 255),
        axis("TouchMajor", 255),
        axis("TrackingId", 65_535),
        axis("Slot", 9),
    )
}

fn dispatcher(phone: &mut State) -> String {
    let shape = phone.release().shape;
    let modern = shape >= DumpsysFormat::Eleven;
    let task = super::task(phone);
    let pids: Vec<(String, u32, u32)> = phone
        .world
        .packages()
        .into_iter()
        .map(|it| (it.package.clone(), phone.world.pid_of(&it.package).unwrap_or(0), it.uid))
        .collect();
    let scene = phone.world.scene();
    let focus = scene.focused().map(window::name).unwrap_or_default();
    // `Window{1234 u0 TITLE}`; since 11 the input channel's name, `1234 TITLE`.
    let named = |name: &str| match modern {
        true => name.trim_start_matches("Window{").trim_end_matches('}').replacen(" u0 ", " ", 1),
        false => name.to_owned(),
    };
    let mut windows = String::new();
    for (nth, window) in scene.windows.iter().rev().enumerate() {
        let kind = match window.kind {
            WindowKind::Application => 1,
            WindowKind::InputMethod => 2011,
            WindowKind::StatusBar | WindowKind::NotificationShade => 2000,
            WindowKind::NavigationBar => 2019,
            WindowKind::Toast => 2005,
            WindowKind::SystemAlert => 2003,
            WindowKind::Panel => 1000,
            WindowKind::PowerMenu => 2009,
            WindowKind::Keyguard => 2004,
        };
        let name = named(&window::name(window));
        let bounds = window.bounds;
        let frame = format!("[{},{}][{},{}]", bounds.left, bounds.top, bounds.right, bounds.bottom);
        let (pid, uid) = pids
            .iter()
            .find(|row| row.0 == window.package)
            .map_or((1_655, 10_095), |row| (row.1, row.2));
        let (has, takes) =
            (window.focused, matches!(window.kind, WindowKind::Application | WindowKind::Panel));
        windows += &match modern {
            true => format!(
                "      {nth}: name='{name}', id={nth}, displayId=0, inputConfig={}, alpha=1.00, frame={frame}, globalScale=1.000000, applicationInfo.name=, applicationInfo.token=<null>, touchableRegion={frame}, ownerPid={pid}, ownerUid={uid}, dispatchingTimeout=5000ms\n",
                if has { "0x0" } else { "NOT_FOCUSABLE" },
            ),
            false => format!(
                "    {nth}: name='{name}', displayId=0, paused=false, hasFocus={has}, hasWallpaper=false, visible=true, canReceiveKeys={takes}, flags=0x00000000, type=0x{kind:08x}, layer={}, frame={frame}, scale=1.000000, touchableRegion={frame}, inputFeatures=0x00000000, ownerPid={pid}, ownerUid={uid}, dispatchingTimeout=5000.000ms\n",
                21_000 + 5 * (scene.windows.len() - nth),
            ),
        };
    }
    let display = scene.display;
    let head = match modern {
        true => format!(
            "\nInput Dispatcher State:\n  DispatchEnabled: true\n  DispatchFrozen: false\n  InputFilterEnabled: false\n  FocusedDisplayId: 0\n  FocusedApplications:\n    displayId=0, name='{task}', dispatchingTimeout=5000ms\n  FocusedWindows:\n    displayId=0, name='{}'\n  TouchStates: <no displays touched>\n  Display: 0\n    logicalSize={}x{}\n    Windows:\n{windows}",
            named(&focus),
            display.width,
            display.height,
        ),
        false => {
            let touch = match shape {
                DumpsysFormat::Android4 => {
                    "  TouchDown: false\n  TouchSplit: false\n  TouchDeviceId: -1\n  TouchSource: 0x00000000\n  TouchDisplayId: -1\n  TouchedWindows: <none>\n"
                }
                _ => "  TouchStates: <no displays touched>\n",
            };
            format!(
                "\nInput Dispatcher State:\n  DispatchEnabled: 1\n  DispatchFrozen: 0\n  FocusedApplication: name='AppWindowToken{{a6760b10 token=Token{{a675eed0 {task}}}}}', dispatchingTimeout=5000.000ms\n  FocusedWindow: name='{focus}'\n{touch}  Windows:\n{windows}  MonitoringChannels:\n    0: 'WindowManager (server)'\n"
            )
        }
    };
    let (replaced, delays) = match modern {
        true => ("  ReplacedKeys: <empty>\n  CommandQueue: <empty>\n", ("50ms", "400ms")),
        false if shape == DumpsysFormat::Nine => {
            ("  ReplacedKeys: <empty>\n", ("50.0ms", "500.0ms"))
        }
        false => ("", ("50.0ms", "500.0ms")),
    };
    format!(
        "{head}  RecentQueue: length=0\n  PendingEvent: <none>\n  InboundQueue: <empty>\n{replaced}  AppSwitch: not pending\n  Configuration:\n    KeyRepeatDelay: {}\n    KeyRepeatTimeout: {}\n",
        delays.0, delays.1
    )
}
