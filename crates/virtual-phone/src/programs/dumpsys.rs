//! `dumpsys`: the parts of system services' reports that tools read.
//!
//! Begin at [`SERVICES`]. Each report is a pure function of the phone's state. Shapes: `shell/battery/xiaomi-pad6_android14.txt`,
//! `shell/window/aad_windows_android12.txt` and `emulator_android16_windows.txt`, `shell/activity`, captures `035` to `047`.

mod activity;
mod display;
mod old_window;
pub(super) mod package;
mod power;

use super::{Invocation, fingerprint, service};
use crate::phone::State;
use crate::release::{Form, Release};
use crate::sh::io::Status;
use crate::world::{Window, WindowKind};

type Report = fn(&mut State, &[&str]) -> String;

/// Services with what each prints.
const SERVICES: [(&str, Report); 8] = [
    ("SurfaceFlinger", surface_flinger),
    ("activity", activity::report),
    ("battery", battery),
    ("display", display::report),
    ("input_method", input_method),
    ("package", package::report),
    ("power", power::report),
    ("window", window),
];

/// `dumpsys [-l | SERVICE [ARG…]]`
pub(super) async fn dumpsys(call: Invocation) -> Status {
    let mut args = call.args.iter().map(String::as_str).peekable();
    while args.next_if(|arg| *arg == "-t" || *arg == "-T").is_some() {
        args.next();
    }
    match args.next() {
        Some("-l") | None => {
            let names = service::names(call.manners());
            let listed: String = names.map(|name| format!("  {name}\n")).collect();
            call.out(format!("Currently running services:\n{listed}")).await?;
        }
        Some(name) => match SERVICES.iter().find(|(known, _)| *known == name) {
            Some((_, report)) => {
                let rest: Vec<&str> = args.collect();
                let text = call.phone.with(|phone| report(phone, &rest));
                call.out(text).await?;
            }
            None if service::names(call.manners()).any(|known| known == name) => {
                call.err(format!("dumpsys: the virtual phone has no report on {name}\n")).await;
            }
            None => call.err(format!("Can't find service: {name}\n")).await,
        },
    }
    Ok(0)
}

impl State {
    /// What the phone's release of Android does in its own way.
    fn manners(&self) -> &'static Release {
        Release::of(self.world.android())
    }
}

fn battery(phone: &mut State, _: &[&str]) -> String {
    let battery = phone.world.battery();
    if phone.manners().form == Form::Java {
        // The capture `035-dumpsys-battery`, without its maker's own lines.
        return format!(
            "Current Battery Service state:\n  AC powered: false\n  USB powered: {}\n  Wireless powered: false\n  status: {}\n  health: 2\n  present: true\n  level: {}\n  scale: 100\n  voltage: {}\n  temperature: {}\n  technology: Li-ion\n",
            battery.charging,
            if battery.charging { 2 } else { 3 },
            battery.level,
            battery.voltage,
            battery.temperature,
        );
    }
    format!(
        "Current Battery Service state:\n  AC powered: false\n  USB powered: {}\n  Wireless powered: false\n  Dock powered: false\n  Max charging current: 500000\n  Max charging voltage: 5000000\n  Charge counter: {}\n  status: {}\n  health: 2\n  present: true\n  level: {}\n  scale: 100\n  voltage: {}\n  temperature: {}\n  technology: Li-ion\n",
        battery.charging,
        u32::from(battery.level) * 50_000,
        // BATTERY_STATUS_CHARGING and BATTERY_STATUS_DISCHARGING
        if battery.charging { 2 } else { 3 },
        battery.level,
        battery.voltage,
        battery.temperature,
    )
}

fn window(phone: &mut State, args: &[&str]) -> String {
    let parts: [fn(&mut State) -> String; 3] = match phone.manners().form {
        Form::Java => [old_window::policy, old_window::displays, old_window::windows],
        Form::Service => [policy, displays, windows],
    };
    let [policy, displays, windows] = parts;
    match args.first().copied() {
        Some("windows" | "w" | "visible" | "visible-apps") => windows(phone),
        Some("displays" | "d") => displays(phone),
        Some("policy" | "p") => policy(phone),
        Some("-h") => "Window manager dump options:\n".to_owned(),
        Some(name) if !name.starts_with('-') => {
            format!("Bad window command, or no windows match: {name}\nUse -h for help.\n")
        }
        _ => format!("{}\n{}\n{}", policy(phone), displays(phone), windows(phone)),
    }
}

fn policy(phone: &mut State) -> String {
    let on = phone.world.screen_on();
    format!(
        "WINDOW MANAGER POLICY STATE (dumpsys window policy)\n    mSystemReady=true mSystemBooted=true\n    mAwake={on}\n    screenState={}\n    interactiveState={}\n    KeyguardServiceDelegate\n      showing=false\n      inputRestricted=false\n      occluded=false\n      secure=false\n      mIsShowing=false\n    mNavBarVirtualKeyHapticFeedbackEnabled=true\n",
        if on { "SCREEN_STATE_ON" } else { "SCREEN_STATE_OFF" },
        if on { "INTERACTIVE_STATE_AWAKE" } else { "INTERACTIVE_STATE_SLEEP" },
    )
}

/// The line of sizes is `DisplayContent.dump` of Android 12 and later: `base=` stands there only where size or density are overridden.
fn displays(phone: &mut State) -> String {
    let display = *phone.world.display();
    let ((width, height), density) = (phone.world.physical_size(), phone.world.physical_density());
    let now = if display.rotation.is_multiple_of(2) {
        (display.width, display.height)
    } else {
        (display.height, display.width)
    };
    let base = if (now, display.density) == ((width, height), density) {
        String::new()
    } else {
        format!(" base={}x{} {}dpi", now.0, now.1, display.density)
    };
    let task = task(phone);
    let focus = phone.world.scene().focused().map_or("null".to_owned(), window_name);
    format!(
        "WINDOW MANAGER DISPLAY CONTENTS (dumpsys window displays)\n  Display: mDisplayId=0 (organized)\n    init={width}x{height} {density}dpi mMinSizeOfResizeableTaskDp=220{base} cur={}x{} app={}x{} rng={}x{}-{}x{}\n    deferred=false mLayoutNeeded=false\n\n  mLayoutSeq=1\n  mCurrentFocus={focus}\n  mFocusedApp={task}\n\n  displayId=0\n  DisplayFrames w={} h={} r={}\n  DisplayRotation\n    mCurrentAppOrientation=SCREEN_ORIENTATION_UNSPECIFIED\n    mRotation={} mDeferredRotationPauseCount=0\n",
        display.width,
        display.height,
        display.width,
        display.height,
        display.width.min(display.height),
        display.width.min(display.height),
        display.width.max(display.height),
        display.width.max(display.height),
        display.width,
        display.height,
        display.rotation,
        display.rotation,
    )
}

fn windows(phone: &mut State) -> String {
    let rotation = phone.world.display().rotation;
    let scene = phone.world.scene();
    let mut text = String::from("WINDOW MANAGER WINDOWS (dumpsys window windows)\n");
    // Z order from the top down.
    for (nth, window) in scene.windows.iter().rev().enumerate() {
        let bounds = window.bounds;
        let frame = format!("[{},{}][{},{}]", bounds.left, bounds.top, bounds.right, bounds.bottom);
        let kind = match window.kind {
            // The activity is the rearmost; a dialog stands before it.
            WindowKind::Application if nth + 1 == scene.windows.len() => "BASE_APPLICATION",
            WindowKind::Application => "APPLICATION",
            WindowKind::InputMethod => "INPUT_METHOD",
            WindowKind::StatusBar => "STATUS_BAR",
            WindowKind::NavigationBar => "NAVIGATION_BAR",
            WindowKind::Toast => "TOAST",
            WindowKind::SystemAlert => "SYSTEM_ALERT",
        };
        let flags = flags(window);
        text.push_str(&format!(
            "  Window #{nth} {}:\n    mDisplayId=0 rootTaskId=1\n    mOwnerUid=10000 showForAllUsers=false package={} appop=NONE\n    mAttrs={{(0,0)(fillxfill) ty={kind} fmt=TRANSLUCENT{flags}}}\n    Requested w={} h={} mLayoutSeq=1\n    mViewVisibility=0x0 mHaveFrame=true mObscured=false\n    mHasSurface=true isReadyForDisplay()=true mWindowRemovalAllowed=false\n    Frames: parent={frame} display={frame} frame={frame} last={frame}\n    isOnScreen=true\n    isVisible=true\n",
            window_name(window),
            window.package,
            bounds.right - bounds.left,
            bounds.bottom - bounds.top,
        ));
    }
    let focus = scene.focused().map_or("null".to_owned(), window_name);
    let method = scene
        .windows
        .iter()
        .find(|window| window.kind == WindowKind::InputMethod)
        .map_or("null".to_owned(), window_name);
    text.push_str(&format!(
        "\n  mHasPermanentDpad=false\n  mTopFocusedDisplayId=0\n  imeLayeringTarget in display# 0 {focus}\n  imeInputTarget in display# 0 {focus}\n  imeControlTarget in display# 0 {focus}\n  mInTouchMode=true\n  mInputMethodWindow={method}\n  mTraversalScheduled=false\n  mSystemBooted=true mDisplayEnabled=true\n  mTransactionSequence=1\n  mDisplayFrozen=false windows=0 client=false apps=0  mRotation={rotation}  mLastOrientation=-1\n waitingForConfig=false\n  Animation settings: disabled=false window=1.0 transition=1.0 animator=1.0\n"
    ));
    text
}

/// A window's flags, in words since Android 8 (`shell/window/aad_windows_android12.txt`, `talos_window-displays.txt`), in the order of
/// `WindowManager.LayoutParams`.
fn flags(window: &Window) -> String {
    let secure = if window.secure { "SECURE " } else { "" };
    let words = match window.kind {
        WindowKind::Application => {
            format!("LAYOUT_IN_SCREEN {secure}LAYOUT_INSET_DECOR SPLIT_TOUCH HARDWARE_ACCELERATED")
        }
        // `shell/window/aad_windows_android11.txt`, the window of an error dialog.
        WindowKind::SystemAlert => {
            "DIM_BEHIND ALT_FOCUSABLE_IM SPLIT_TOUCH HARDWARE_ACCELERATED".to_owned()
        }
        _ => "NOT_FOCUSABLE SPLIT_TOUCH HARDWARE_ACCELERATED".to_owned(),
    };
    format!("\n      fl={words}\n      pfl=FIT_INSETS_CONTROLLED")
}

fn window_name(window: &Window) -> String {
    format!("Window{{{:07x} u0 {}}}", fingerprint(&window.title) & 0xfff_ffff, window.title)
}

fn task(phone: &State) -> String {
    let top = phone.world.top_activity().short();
    format!("ActivityRecord{{{:07x} u0 {top} t1}}", fingerprint(&top) & 0xfff_ffff)
}

fn input_method(phone: &mut State, _: &[&str]) -> String {
    let (shown, bound) = (phone.world.keyboard_shown(), phone.world.input_method_bound());
    let id = phone.world.input_method();
    // The lines of capture `164-dumpsys-input_method-shown` that tools read, under the names of Android 14.
    format!(
        "Current Input Method Manager state:\n  mCurMethodId={id}\n  mCurId={id} mHaveConnection=true mBoundToMethod={bound} mVisibleBound={shown}\n  mShowRequested={shown} mShowExplicitlyRequested={shown} mShowForced=false mInputShown={shown}\n  mInputShown={shown}\n"
    )
}

fn surface_flinger(phone: &mut State, args: &[&str]) -> String {
    match args.first().copied() {
        Some("--display-id") => "Display 4619827259835644672 (HWC display 0): port=0 pnpId=GGL displayName=\"Virtual Display\"\n".to_owned(),
        _ => format!("Build configuration: [sf]\nDisplay 4619827259835644672: {:?}\n", phone.world.physical_size()),
    }
}
