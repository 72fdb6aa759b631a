//! `dumpsys window`: the policy, the displays ([`displays`]) and the windows ([`windows`]), of
//! Android 9 and later.
//!
//! Each release has its own layout. Sources: for 9, 11, 13 and 14 emulators of those releases (the
//! reports of windows and activities in auto-mobile's tests, Apache-2.0, and
//! `shell/window/aad_windows_android11.txt`, `talos_window-displays.txt`); for 16
//! `emulator_android16_windows.txt` and the part repeated in
//! `pixel-emulator_android16_activities.txt`. Omitted is what this phone lacks: rounded corners,
//! insets, surfaces. Android 4.4 is in `old`.

mod displays;
mod old;
mod windows;

use super::{fingerprint, task, task_in_token};
use crate::phone::State;
use thumbwire_virtual_android_system::release::formats::DumpsysFormat;
use thumbwire_virtual_phone::{ScreenLock, Window, WindowKind};

pub(super) fn report(phone: &mut State, args: &[&str]) -> String {
    let parts: [fn(&mut State) -> String; 3] = match phone.release().shape {
        DumpsysFormat::Android4 => [old::whole_policy, old::displays, old::windows],
        _ => [policy, displays::report, windows::report],
    };
    let [policy, displays, windows] = parts;
    match args.first().copied() {
        // Before 5 these were names of windows like any other.
        Some("visible-apps") if phone.release().shape == DumpsysFormat::Android4 => {
            no_such_window("visible-apps")
        }
        Some("windows" | "w" | "visible" | "visible-apps") => windows(phone),
        Some("lastanr" | "l") if phone.release().shape == DumpsysFormat::Android4 => {
            old::LAST_ANR.to_owned()
        }
        Some("displays" | "d") => displays(phone),
        Some("policy" | "p") => policy(phone),
        Some("-h") => "Window manager dump options:\n".to_owned(),
        Some(name) if !name.starts_with('-') => no_such_window(name),
        _ if phone.release().shape == DumpsysFormat::Android4 => {
            let unknown = super::old::unknown_option(args, &["-a"])
                .map_or_else(String::new, |it| {
                    format!("Unknown argument: {it}; use -h for help\n")
                });
            format!(
                "{unknown}{}\n{}\n{}\n{}",
                old::LAST_ANR,
                policy(phone),
                displays(phone),
                window_list(windows(phone), args)
            )
        }
        _ => {
            format!("{}\n{}\n{}", policy(phone), displays(phone), window_list(windows(phone), args))
        }
    }
}

/// The list of windows within the whole report, which has frames, insets and tokens only with `-a`
/// (seen on a real 4.4.4; for later releases from memory of `WindowState.dump`, not verified).
fn window_list(windows: String, args: &[&str]) -> String {
    const ONLY_WITH_ALL: [&str; 22] = [
        "mAppToken=",
        "mBaseLayer=",
        "mToken=",
        "mRootToken=",
        "mViewVisibility=",
        "mSeq=",
        "mGivenContentInsets=",
        "mTouchableInsets=",
        "touchable region=",
        "mConfiguration=",
        "mFrame=",
        "mSystemDecorRect=",
        "Frames:",
        "display=",
        "content=",
        "decor=",
        "outset=",
        "surface=",
        "Cur insets:",
        "Lst insets:",
        "mSurface=",
        "mDrawState=",
    ];
    if args.contains(&"-a") {
        return windows;
    }
    let is_kept = |line: &&str| !ONLY_WITH_ALL.iter().any(|key| line.trim_start().starts_with(key));
    windows.split_inclusive('\n').filter(is_kept).collect()
}

fn no_such_window(name: &str) -> String {
    format!("Bad window command, or no windows match: {name}\nUse -h for help.\n")
}

/// The app op that guards windows of that type (`PhoneWindowManager.checkAddPermission`;
/// `shell/window/aad_windows_android11.txt`).
pub(super) fn appop(window: &Window) -> &'static str {
    match window.kind {
        WindowKind::SystemAlert => "SYSTEM_ALERT_WINDOW",
        _ => "NONE",
    }
}

/// Whether a panel is a dialog that is attached to its activity, or a popup.
fn is_attached(window: &Window) -> bool {
    window.title.starts_with("AtchDlg:")
}

/// A window's name in all reports.
pub(super) fn name(window: &Window) -> String {
    titled(&window.title)
}

/// The name of a window with that title.
fn titled(title: &str) -> String {
    format!("Window{{{:07x} u0 {title}}}", fingerprint(title) & 0xfff_ffff)
}

/// The name of the focused window, or `null`.
fn focus(phone: &mut State) -> String {
    phone.world.scene().focused().map_or("null".to_owned(), name)
}

/// The name of the first window of that kind, or `null`.
fn first(phone: &mut State, kind: WindowKind) -> String {
    let windows = &phone.world.scene().windows;
    windows.iter().find(|window| window.kind == kind).map_or("null".to_owned(), name)
}

/// Whether the keyguard asks for a secret.
fn is_secure(phone: &State) -> bool {
    matches!(phone.world.screen_lock(), ScreenLock::Pin(_))
}

/// Since 10 each display has its own policy, printed with it; what remains here is the keyguard and
/// the buttons.
fn policy(phone: &mut State) -> String {
    let on = phone.world.screen_on();
    let (locked, secure) = (phone.world.keyguard_shown(), is_secure(phone));
    let keyguard = format!(
        "    KeyguardServiceDelegate\n      showing={locked}\n      inputRestricted={locked}\n      occluded=false\n      secure={secure}\n      dreaming=false\n      systemIsReady=true\n      deviceHasKeyguard=true\n      enabled=true\n      bootCompleted=true\n      screenState={}\n      interactiveState={}\n      mIsShowing={locked}\n",
        if on { "SCREEN_STATE_ON" } else { "SCREEN_STATE_OFF" },
        if on { "INTERACTIVE_STATE_AWAKE" } else { "INTERACTIVE_STATE_SLEEP" },
    );
    let head = "WINDOW MANAGER POLICY STATE (dumpsys window policy)\n";
    if phone.release().shape != DumpsysFormat::Nine {
        return format!(
            "{head}    mSafeMode=false mSystemReady=true mSystemBooted=true\n    mCameraLensCoverState=CAMERA_LENS_COVER_ABSENT\n    mWakeGestureEnabledSetting=true\n    mUiMode=UI_MODE_TYPE_NORMAL\n    mAwake={on}\n{keyguard}    mNavBarVirtualKeyHapticFeedbackEnabled=true\n"
        );
    }
    let (mode, turned) = user_rotation(phone);
    let focus = focus(phone);
    let token = task_in_token(phone);
    // No space after `mAwake`, as on Android 9.
    format!(
        "{head}    mSafeMode=false mSystemReady=true mSystemBooted=true\n    mLidState=LID_ABSENT mLidOpenRotation=-1\n    mCameraLensCoverState=CAMERA_LENS_COVER_ABSENT mHdmiPlugged=false\n    mLastSystemUiFlags=0x8008 mResettingSystemUiFlags=0x0 mForceClearedSystemUiFlags=0x0\n    mSupportAutoRotation=true\n    mUiMode=UI_MODE_TYPE_NORMAL mDockMode=EXTRA_DOCK_STATE_UNDOCKED\n    mUserRotationMode={mode} mUserRotation={turned} mAllowAllRotations=false\n    mCurrentAppOrientation=SCREEN_ORIENTATION_UNSPECIFIED\n    mHomePressed=false\n    mAwake={on}mScreenOnEarly={on} mScreenOnFully={on}\n    mKeyguardDrawComplete=true mWindowManagerDrawComplete=true\n    mShowingDream=false mDreamingLockscreen={locked} mDreamingSleepToken=null\n    mStatusBar={} isStatusBarKeyguard={locked}\n    mNavigationBar={}\n    mFocusedWindow={focus}\n    mFocusedApp={token}\n    mTopFullscreenOpaqueWindowState={focus}\n    mTopFullscreenOpaqueOrDimmingWindowState={focus}\n    mTopIsFullscreen=false mKeyguardOccluded=false\n    mKeyguardOccludedChanged=false mPendingKeyguardOccluded=false\n    mForceStatusBar=false mForceStatusBarFromKeyguard={locked}\n    mAllowLockscreenWhenOn=false mLockScreenTimeout=2147483647 mLockScreenTimerActive=false\n    mLandscapeRotation=ROTATION_90 mSeascapeRotation=ROTATION_270\n    mPortraitRotation=ROTATION_0 mUpsideDownRotation=ROTATION_180\n{keyguard}",
        first(phone, WindowKind::StatusBar),
        first(phone, WindowKind::NavigationBar),
    )
}

/// Whether auto-rotation is on, and the user's rotation; in the format of 9 and later.
fn user_rotation(phone: &State) -> (&'static str, String) {
    let free = phone.world.setting("system", "accelerometer_rotation") == Some("1");
    let mode = if free { "USER_ROTATION_FREE" } else { "USER_ROTATION_LOCKED" };
    let turned = phone.world.setting("system", "user_rotation").unwrap_or("0");
    (mode, format!("ROTATION_{}", turned.parse::<u32>().unwrap_or(0) % 4 * 90))
}
