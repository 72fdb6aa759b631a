//! `dumpsys window` of Android 4.4, which has other sections, and the focus among the windows. Captures `037`, `038`,
//! `064`, `119`, `436`.

use super::{appop, name as window_name, task, titled};
use crate::phone::State;
use thumbwire_virtual_phone::{ScreenLock, WindowKind};

pub(super) fn policy(phone: &mut State) -> String {
    let (on, locked) = (phone.world.screen_on(), phone.world.keyguard_shown());
    let display = *phone.world.display();
    let focus = super::focus(phone);
    // Its window exists, shown or not.
    let keyguard = match phone.world.screen_lock() {
        ScreenLock::None => "null".to_owned(),
        _ => titled("Keyguard"),
    };
    let (status, bar) = (
        super::first(phone, WindowKind::StatusBar),
        super::first(phone, WindowKind::NavigationBar),
    );
    let front = phone.world.scene().windows.iter().rev();
    let mut apps = front.filter(|window| window.kind == WindowKind::Application);
    let app = apps.next().map_or("null".to_owned(), window_name);
    // No app has the focus behind the keyguard (capture `037`; `404` is unlocked).
    let focused_app = match locked {
        true => String::new(),
        false => format!("    mFocusedApp=Token{{a675eed0 {}}}\n", task(phone)),
    };
    format!(
        "WINDOW MANAGER POLICY STATE (dumpsys window policy)\n    mSafeMode=false mSystemReady=true mSystemBooted=true\n    mUiMode=1 mDockMode=0 mCarDockRotation=-1 mDeskDockRotation=-1\n    mUserRotationMode=0 mUserRotation={} mAllowAllRotations=-1\n    mCurrentAppOrientation=-1\n    mScreenOnEarly={on} mScreenOnFully={on} mOrientationSensorEnabled=false\n    mOverscanScreen=(0,0) {}x{}\n    mUnrestrictedScreen=(0,0) {}x{}\n    mShowingLockscreen={locked} mShowingDream=false mDreamingLockscreen={locked}\n    mStatusBar={status}\n    mNavigationBar={bar}\n    mKeyguard={keyguard}\n    mFocusedWindow={focus}\n{focused_app}    mTopFullscreenOpaqueWindowState={app}\n    mTopIsFullscreen=false mHideLockScreen=false\n    mForceStatusBar=false mForceStatusBarFromKeyguard={locked}\n    mLandscapeRotation=1 mSeascapeRotation=3\n    mPortraitRotation=0 mUpsideDownRotation=2\n",
        display.rotation, display.width, display.height, display.width, display.height,
    )
}

pub(super) fn displays(phone: &mut State) -> String {
    let display = *phone.world.display();
    let (width, height) = phone.world.physical_size();
    let density = phone.world.physical_density();
    // `base=` is printed only if it differs: `DisplayContent.dump`.
    let natural = match display.rotation.is_multiple_of(2) {
        true => (display.width, display.height),
        false => (display.height, display.width),
    };
    let base = match natural == (width, height) && density == display.density {
        true => String::new(),
        false => format!(" base={}x{} {}dpi", natural.0, natural.1, display.density),
    };
    let task = task(phone);
    let focus = phone.world.scene().focused().map_or("null".to_owned(), window_name);
    let (short, long) = (display.width.min(display.height), display.width.max(display.height));
    let app = format!("AppWindowToken{{a6760b10 token=Token{{a675eed0 {task}}}}}");
    format!(
        "WINDOW MANAGER DISPLAY CONTENTS (dumpsys window displays)\n  Display: mDisplayId=0\n    init={width}x{height} {density}dpi{base} cur={}x{} app={}x{} rng={short}x{short}-{long}x{long}\n    layoutNeeded=false\n  StackBox #0\n    mParent=null\n    mBounds=[0,0][{},{}] mVertical=false layoutNeeded=true\n    mStack={{stackId=0 tasks=[{{taskId=1 appTokens=[{app}]}}]}}\n      mStackId=0\n      {{taskId=1 appTokens=[{app}]}}\n\n  Application tokens in Z order:\n  App #1 {app}:\n    windows=[{focus}]\n    windowType=2 hidden=false hasVisible=true\n    app=true\n    allAppWindows=[{focus}]\n    groupId=1 appFullscreen=true requestedOrientation=-1\n\n",
        display.width, display.height, display.width, display.height, display.width, display.height,
    )
}

pub(super) fn windows(phone: &mut State) -> String {
    let rotation = phone.world.display().rotation;
    let task = task(phone);
    let scene = phone.world.scene();
    let mut text = String::from("WINDOW MANAGER WINDOWS (dumpsys window windows)\n");
    let count = scene.windows.len();
    // Z order from the top down, numbered from the bottom.
    for (nth, window) in scene.windows.iter().rev().enumerate() {
        let bounds = window.bounds;
        let frame = format!("[{},{}][{},{}]", bounds.left, bounds.top, bounds.right, bounds.bottom);
        // `WindowManager.LayoutParams.TYPE_…`
        let kind = match window.kind {
            WindowKind::Application if nth + 1 == count => 1,
            WindowKind::Application => 2,
            WindowKind::InputMethod => 2011,
            WindowKind::StatusBar => 2000,
            WindowKind::NavigationBar => 2019,
            WindowKind::Toast => 2005,
            WindowKind::SystemAlert => 2003,
            WindowKind::Keyguard => 2004,
            WindowKind::NotificationShade => 2000,
        };
        // As in captures `058` to `119`; FLAG_SECURE is 0x2000.
        let flags = match window.kind {
            WindowKind::Application => 0x0181_0100,
            WindowKind::Keyguard => 0x0d13_0900,
            _ => 0x0184_0068,
        } | if window.secure { 0x2000 } else { 0 };
        let (width, height) = (bounds.right - bounds.left, bounds.bottom - bounds.top);
        text.push_str(&format!(
            "  Window #{} {}:\n    mDisplayId=0 mSession=Session{{a6752870 373:u0a10008}} mClient=android.os.BinderProxy@a6708d60\n    mOwnerUid=10008 mShowToOwnerOnly=false package={} appop={}\n    mAttrs=WM.LayoutParams{{(0,0)(fillxfill) sim=#20 ty={kind} fl=#{flags:x} fmt=-3}}\n    Requested w={width} h={height} mLayoutSeq=38\n    mViewVisibility=0x0 mHaveFrame=true mObscured=false\n    mSeq=0 mSystemUiVisibility=0x0\n    mHasSurface=true mShownFrame=[{}.0,{}.0][{}.0,{}.0] isReadyForDisplay()=true\n    mFrame={frame} last={frame}\n    Frames: containing={frame} parent={frame}\n        display={frame} overscan={frame}\n        content={frame} visible={frame}\n        decor=[0,0][0,0]\n",
            count - 1 - nth,
            window_name(window),
            window.package,
            appop(window),
            bounds.left,
            bounds.top,
            bounds.right,
            bounds.bottom,
        ));
    }
    let focus = scene.focused().map_or("null".to_owned(), window_name);
    let method = scene.windows.iter().find(|window| window.kind == WindowKind::InputMethod);
    if let Some(method) = method {
        text.push_str(&format!("\n  mInputMethodWindow={}\n", window_name(method)));
    }
    text.push_str(&format!(
        "\n  mCurrentFocus={focus}\n  mFocusedApp=AppWindowToken{{a6760b10 token=Token{{a675eed0 {task}}}}}\n  mInTouchMode=true mLayoutSeq=38\n  mSystemBooted=true mDisplayEnabled=true\n  mTransactionSequence=52\n  mDisplayFrozen=false windows=false client=false apps=0 waitingForConfig=false\n  mRotation={rotation} mAltOrientation=false\n  mLastWindowForcedOrientation=-1 mForcedAppOrientation=-1\n  mDeferredRotationPauseCount=0\n  mWindowAnimationScale=1.0 mTransitionWindowAnimationScale=1.0 mAnimatorDurationScale=1.0\n  mTraversalScheduled=false\n"
    ));
    text
}
