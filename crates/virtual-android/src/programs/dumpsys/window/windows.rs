//! The windows from the top down, followed by the window manager's own state. Source:
//! `WindowState.dump` and `WindowManagerService.dumpWindowsNoHeaderLocked` of each release, see
//! `window`.

use super::{State, appop, first, focus, is_attached, name, task_in_token};
use crate::programs::dumpsys::{configuration, fingerprint};
use thumbwire_virtual_android_system::release::formats::DumpsysFormat;
use thumbwire_virtual_phone::{SYSTEM_PID, Window, WindowKind};

pub(super) fn report(phone: &mut State) -> String {
    let shape = phone.release().shape;
    let activity = super::task(phone);
    let packages = phone.world.packages();
    let owners: Vec<(String, u32)> =
        packages.into_iter().map(|manifest| (manifest.package.clone(), manifest.uid)).collect();
    // The system's own windows belong to an app that this phone does not list.
    const SYSTEM_UI: u32 = 10_150;
    let scene = phone.world.scene();
    let mut text = String::from("WINDOW MANAGER WINDOWS (dumpsys window windows)\n");
    // Z order from the top down.
    for (nth, window) in scene.windows.iter().rev().enumerate() {
        // The activity is at the back; a dialog is in front of it.
        let rearmost = nth + 1 == scene.windows.len();
        let uid = owners
            .iter()
            .find(|(package, _)| *package == window.package)
            .map_or(if window.package == "android" { SYSTEM } else { SYSTEM_UI }, |(_, uid)| *uid);
        text.push_str(&format!("  Window #{nth} {}:\n", name(window)));
        text.push_str(&of(window, kind(window, rearmost), uid, &activity, shape));
    }
    text.push('\n');
    let configuration = configuration(phone, "undefined");
    text.push_str(&format!("  mGlobalConfiguration={configuration}\n  mHasPermanentDpad=false\n"));
    text.push_str(&end(phone, shape));
    text
}

/// The user id of the system server (`Process.SYSTEM_UID`).
const SYSTEM: u32 = 1_000;

/// `WindowManager.LayoutParams.TYPE_…`, by name since Android 8.
fn kind(window: &Window, rearmost: bool) -> &'static str {
    match window.kind {
        WindowKind::Application if rearmost => "BASE_APPLICATION",
        WindowKind::Application => "APPLICATION",
        WindowKind::Panel if is_attached(window) => "APPLICATION_ATTACHED_DIALOG",
        WindowKind::Panel => "APPLICATION_PANEL",
        WindowKind::InputMethod => "INPUT_METHOD",
        WindowKind::StatusBar => "STATUS_BAR",
        WindowKind::NavigationBar => "NAVIGATION_BAR",
        WindowKind::Toast => "TOAST",
        WindowKind::SystemAlert => "SYSTEM_ALERT",
        WindowKind::Keyguard => "KEYGUARD",
        WindowKind::PowerMenu => "VOLUME_OVERLAY",
        // TYPE_NOTIFICATION_SHADE has no name there (`aad_windows_android12.txt`).
        WindowKind::NotificationShade => "2040",
    }
}

/// One window.
fn of(window: &Window, kind: &str, uid: u32, activity: &str, shape: DumpsysFormat) -> String {
    let bounds = window.bounds;
    let frame = format!("[{},{}][{},{}]", bounds.left, bounds.top, bounds.right, bounds.bottom);
    let hash = fingerprint(&window.title);
    let process = match uid.checked_sub(10_000) {
        Some(app) => format!("1077:u0a{app}"),
        None => format!("{SYSTEM_PID}:{uid}"),
    };
    let session = format!(
        "mSession=Session{{{:07x} {process}}} mClient=android.os.BinderProxy@{:07x}",
        hash >> 8 & 0xfff_ffff,
        hash >> 16 & 0xfff_ffff,
    );
    // Error dialogs show for all users (`aad_windows_android11.txt`).
    let all = uid == SYSTEM;
    let (place, owner) = match shape {
        DumpsysFormat::Android4 | DumpsysFormat::Nine => {
            (" stackId=1", format!("mShowToOwnerOnly={}", !all))
        }
        DumpsysFormat::Eleven | DumpsysFormat::Thirteen | DumpsysFormat::Fourteen => {
            (" rootTaskId=1", format!("showForAllUsers={all}"))
        }
        DumpsysFormat::Sixteen => ("", format!("showForAllUsers={all}")),
    };
    let frames = match shape {
        DumpsysFormat::Android4 | DumpsysFormat::Nine => format!(
            "    mFrame={frame} last={frame}\n    Frames: containing={frame} parent={frame}\n        display={frame} overscan={frame}\n        content={frame} visible={frame}\n        decor=[0,0][0,0]\n        outset=[0,0][0,0]\n"
        ),
        DumpsysFormat::Eleven => format!(
            "    Frames: containing={frame} parent={frame}\n        display={frame}\n        content={frame} visible={frame}\n        decor=[0,0][0,0]\n    mFrame={frame} last={frame}\n     surface=[0,0][0,0]\n"
        ),
        _ => format!(
            "    Frames: parent={frame} display={frame} frame={frame} last={frame} insetsChanged=false\n     surface=[0,0][0,0]\n"
        ),
    };
    let token = match window.kind {
        WindowKind::Application if shape >= DumpsysFormat::Eleven => activity.to_owned(),
        _ => format!(
            "WindowToken{{{:07x} android.os.BinderProxy@{:07x}}}",
            hash >> 4 & 0xfff_ffff,
            hash >> 12 & 0xfff_ffff
        ),
    };
    let layers = match shape {
        DumpsysFormat::Android4 | DumpsysFormat::Nine => format!(
            "    mBaseLayer=21000 mSubLayer=0 mAnimLayer=0+=0 mLastLayer=0\n    mToken={token}\n"
        ),
        _ => format!("    mBaseLayer=21000 mSubLayer=0    mToken={token}\n"),
    };
    // Up to 11 a window requested bars by its own flags.
    let asks =
        if shape <= DumpsysFormat::Eleven { "    mSeq=0 mSystemUiVisibility=0x0\n" } else { "" };
    // No newline after `pending=null`, as on Android 13 and 14.
    let turning = match shape {
        DumpsysFormat::Eleven => {
            "    mForceSeamlesslyRotate=false seamlesslyRotate: pending=null finishedFrameNumber=0\n"
        }
        DumpsysFormat::Thirteen | DumpsysFormat::Fourteen => {
            "    mForceSeamlesslyRotate=false seamlesslyRotate: pending=null"
        }
        _ => "",
    };
    let last = match shape {
        DumpsysFormat::Thirteen | DumpsysFormat::Fourteen => {
            "    keepClearAreas: restricted=[], unrestricted=[]\n    mPrepareSyncSeqId=0\n"
        }
        DumpsysFormat::Sixteen => {
            "    keepClearAreas: restricted=[], unrestricted=[]\n    mPrepareSyncSeqId=0\n    mBufferSeqId=0\n"
        }
        _ => "",
    };
    format!(
        "    mDisplayId=0{place} {session}\n    mOwnerUid={uid} {owner} package={} appop={}\n    mAttrs={{(0,0)(fillxfill) sim={{adjust=pan}} ty={kind} fmt=TRANSLUCENT{}}}\n    Requested w={} h={} mLayoutSeq=1\n{layers}    mViewVisibility=0x0 mHaveFrame=true mObscured=false\n{asks}    mGivenContentInsets=[0,0][0,0] mGivenVisibleInsets=[0,0][0,0]\n    mHasSurface=true isReadyForDisplay()=true mWindowRemovalAllowed=false\n{frames}{turning}    isOnScreen=true\n    isVisible=true\n{last}",
        window.package,
        appop(window),
        flags(window, shape),
        bounds.right - bounds.left,
        bounds.bottom - bounds.top,
    )
}

/// A window's flags, by name since Android 8 (`shell/window/aad_windows_android12.txt`,
/// `talos_window-displays.txt`), in the order of `WindowManager.LayoutParams`.
fn flags(window: &Window, shape: DumpsysFormat) -> String {
    let secure = if window.secure { "SECURE " } else { "" };
    let text = match window.kind {
        WindowKind::Application => {
            format!("LAYOUT_IN_SCREEN {secure}LAYOUT_INSET_DECOR SPLIT_TOUCH HARDWARE_ACCELERATED")
        }
        // `shell/window/aad_windows_android11.txt`, the window of an error dialog.
        WindowKind::SystemAlert => {
            "DIM_BEHIND ALT_FOCUSABLE_IM SPLIT_TOUCH HARDWARE_ACCELERATED".to_owned()
        }
        WindowKind::NotificationShade => {
            "NOT_TOUCH_MODAL LAYOUT_IN_SCREEN WATCH_OUTSIDE_TOUCH SPLIT_TOUCH HARDWARE_ACCELERATED DRAWS_SYSTEM_BAR_BACKGROUNDS".to_owned()
        }
        _ => "NOT_FOCUSABLE SPLIT_TOUCH HARDWARE_ACCELERATED".to_owned(),
    };
    let private = match shape {
        DumpsysFormat::Android4 | DumpsysFormat::Nine => "",
        DumpsysFormat::Eleven => "\n      pfl=FIT_INSETS_CONTROLLED",
        DumpsysFormat::Thirteen | DumpsysFormat::Fourteen => {
            "\n      pfl=USE_BLAST FIT_INSETS_CONTROLLED\n      bhv=DEFAULT"
        }
        DumpsysFormat::Sixteen => "\n      pfl=FIT_INSETS_CONTROLLED\n      bhv=DEFAULT",
    };
    format!("\n      fl={text}{private}")
}

/// What follows all windows.
fn end(phone: &mut State, shape: DumpsysFormat) -> String {
    let rotation = phone.world.display().rotation;
    let (width, height) = (phone.world.display().width, phone.world.display().height);
    let (focus, keyboard) = (focus(phone), first(phone, WindowKind::InputMethod));
    let booted = "  mSystemBooted=true mDisplayEnabled=true\n";
    let frozen = "  mDisplayFrozen=false windows=0 client=false apps=0";
    let animations =
        "  Animation settings: disabled=false window=1.0 transition=1.0 animator=1.0\n";
    let targets = format!(
        "  imeLayeringTarget in display# 0 {focus}\n  imeInputTarget in display# 0 {focus}\n  imeControlTarget in display# 0 {focus}\n"
    );
    match shape {
        DumpsysFormat::Android4 | DumpsysFormat::Nine => {
            let token = task_in_token(phone);
            format!(
                "  mCurrentFocus={focus}\n  mFocusedApp=AppWindowToken{{5cd8eb9 token={token}}}\n  mInputMethodTarget={focus}\n  mInTouchMode=true\n  mLastDisplayFreezeDuration=0\n  mLastWakeLockHoldingWindow=null mLastWakeLockObscuringWindow=null\n  SnapshotCache\n  mInputMethodWindow={keyboard}\n  mSystemDecorLayer=0 mScreenRect=[0,0][{width},{height}]\n  mLastStatusBarVisibility=0xa018\n  mTraversalScheduled=false\n  mHoldScreenWindow=null\n  mObscuringWindow={focus}\n  mWallpaperTarget=null\n  mLastWallpaperX=0.0 mLastWallpaperY=0.5\n{booted}  mTransactionSequence=1\n{frozen} waitingForConfig=false\n  mRotation={rotation} mAltOrientation=false\n  mLastWindowForcedOrientation=-1 mLastOrientation=-1\n  mDeferredRotationPauseCount=0\n{animations}  mSkipAppTransitionAnimation=false\n"
            )
        }
        DumpsysFormat::Eleven => format!(
            "  mTopFocusedDisplayId=0\n  mInputMethodTarget in display# 0 {focus}\n  mInputMethodInputTarget in display# 0 {focus}\n  inputMethodControlTarget in display# 0 {focus}\n  mInTouchMode=true\n  mLastDisplayFreezeDuration=0\n  mLastWakeLockHoldingWindow=null mLastWakeLockObscuringWindow=null\n  mHighResTaskSnapshotScale=0.8\n  SnapshotCache\n  mInputMethodWindow={keyboard}\n  mTraversalScheduled=false\n  mHoldScreenWindow=null\n  mObscuringWindow={focus}\n{booted}  mTransactionSequence=1\n{frozen}  mRotation={rotation}  mLastOrientation=-1\n waitingForConfig=false\n{animations}"
        ),
        // No newline after the minimum size, in both.
        DumpsysFormat::Thirteen => format!(
            "  mTopFocusedDisplayId=0\n{targets}  Minimum task size of display#0 220  mInTouchMode=true\n  mBlurEnabled=true\n  mLastDisplayFreezeDuration=0\n  mHighResTaskSnapshotScale=0.8\n  mTaskSnapshotEnabled=true\n  SnapshotCache\n  mInputMethodWindow={keyboard}\n  mTraversalScheduled=false\n{booted}  mTransactionSequence=1\n{frozen}  mRotation={rotation}  mLastOrientation=-1\n waitingForConfig=false\n{animations}"
        ),
        DumpsysFormat::Fourteen => format!(
            "  mTopFocusedDisplayId=0\n{targets}  Minimum task size of display#0 220  mBlurEnabled=true\n  mLastDisplayFreezeDuration=0\n mHighResSnapshotScale=0.8\n mSnapshotEnabled=true\n SnapshotCache Task\n  mInputMethodWindow={keyboard}\n  mTraversalScheduled=false\n{booted}  mTransactionSequence=1\n{frozen}\n  mRotation={rotation}\n  mLastOrientation=-1\n  mWaitingForConfig=false\n{animations}"
        ),
        DumpsysFormat::Sixteen => format!(
            "  mTopFocusedDisplayId=0\n  Minimum task size of display#0 220\n  mBlurEnabled=true\n  mDisableSecureWindows=false\n  mHighResSnapshotScale=0.8\n  mSnapshotEnabled=true\n  SnapshotCache Task\n  mInputMethodWindow={keyboard}\n  mTraversalScheduled=false\n{booted}  mTransactionSequence=1\n  mRotation={rotation}\n  mLastOrientation=-1\n  mWaitingForConfig=false\n  mWindowsInsetsChanged=0\n{animations}"
        ),
    }
}
