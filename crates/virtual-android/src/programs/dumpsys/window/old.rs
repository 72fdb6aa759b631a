//! `dumpsys window` of Android 4.4, which has other sections, and the focus among the windows. Captures `037`, `038`,
//! `064`, `119`, `436`.

use super::{appop, is_attached, name as window_name, task, titled};
use crate::phone::State;
use thumbwire_virtual_phone::{Rect, Scene, ScreenLock, Window, WindowKind};

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
    let packages = phone.world.packages();
    let owners: Vec<(String, u32)> =
        packages.into_iter().map(|manifest| (manifest.package.clone(), manifest.uid)).collect();
    let scene = phone.world.scene();
    let mut text = String::from("WINDOW MANAGER WINDOWS (dumpsys window windows)\n");
    let count = scene.windows.len();
    // Z order from the top down, numbered from the bottom.
    for (nth, window) in scene.windows.iter().rev().enumerate() {
        let place = count - 1 - nth;
        text.push_str(&format!("  Window #{place} {}:\n", window_name(window)));
        text.push_str(&of(window, place == 0, &owners, scene));
    }
    let focus = scene.focused().map_or("null".to_owned(), window_name);
    let method = scene.windows.iter().find(|window| window.kind == WindowKind::InputMethod);
    // Captured with and without the keyboard: its lines are missing while it is hidden.
    let (target, method) = match method {
        Some(method) => (
            format!("  mInputMethodTarget={focus}\n"),
            format!("  mInputMethodWindow={}\n", window_name(method)),
        ),
        None => (String::new(), String::new()),
    };
    text.push_str(&format!(
        "\n  mCurrentFocus={focus}\n  mFocusedApp=AppWindowToken{{a6760b10 token=Token{{a675eed0 {task}}}}}\n{target}  mInTouchMode=true mLayoutSeq=38\n{method}  mSystemBooted=true mDisplayEnabled=true\n  mTransactionSequence=52\n  mDisplayFrozen=false windows=false client=false apps=0 waitingForConfig=false\n  mRotation={rotation} mAltOrientation=false\n  mLastWindowForcedOrientation=-1 mForcedAppOrientation=-1\n  mDeferredRotationPauseCount=0\n  mWindowAnimationScale=1.0 mTransitionWindowAnimationScale=1.0 mAnimatorDurationScale=1.0\n  mTraversalScheduled=false\n"
    ));
    text
}

/// One window.
fn of(window: &Window, rearmost: bool, owners: &[(String, u32)], scene: &Scene) -> String {
    let uid = owners.iter().find(|(package, _)| *package == window.package);
    let uid = uid.map_or(if window.package == "android" { 1_000 } else { 10_008 }, |(_, uid)| *uid);
    let session = if uid < 10_000 { format!("396:{uid}") } else { format!("373:u0a{uid}") };
    let secure = if window.secure { 0x2000 } else { 0 };
    let (size, kind, flags) = layout(window, rearmost);
    let flags = flags | secure;
    let (bounds, insets) = frame(window, scene);
    let frame = format!("[{},{}][{},{}]", bounds.left, bounds.top, bounds.right, bounds.bottom);
    let (width, height) = (bounds.right - bounds.left, bounds.bottom - bounds.top);
    format!(
        "    mDisplayId=0 mSession=Session{{a6752870 {session}}} mClient=android.os.BinderProxy@a6708d60\n    mOwnerUid={uid} mShowToOwnerOnly=false package={} appop={}\n    mAttrs=WM.LayoutParams{{(0,0)({size} ty={kind} fl=#{flags:x} fmt=-3}}\n    Requested w={width} h={height} mLayoutSeq=38\n    mViewVisibility=0x0 mHaveFrame=true mObscured=false\n    mSeq=0 mSystemUiVisibility=0x0\n{insets}    mHasSurface=true mShownFrame=[{}.0,{}.0][{}.0,{}.0] isReadyForDisplay()=true\n    mFrame={frame} last={frame}\n    Frames: containing={frame} parent={frame}\n        display={frame} overscan={frame}\n        content={frame} visible={frame}\n        decor=[0,0][0,0]\n",
        window.package,
        appop(window),
        bounds.left,
        bounds.top,
        bounds.right,
        bounds.bottom,
    )
}

/// Size and gravity, `WindowManager.LayoutParams.TYPE_…`, and flags. As in captures `058` to `119`; the keyboard and
/// the error dialog as seen on another phone with 4.4.4.
fn layout(window: &Window, rearmost: bool) -> (&'static str, u32, u32) {
    match window.kind {
        WindowKind::Application if rearmost => ("fillxfill) sim=#20", 1, 0x0181_0100),
        WindowKind::Application => ("wrapxwrap) gr=#11 sim=#120", 2, 0x0182_0002),
        WindowKind::Panel if is_attached(window) => {
            ("fillxwrap) gr=#50 sim=#20", 1003, 0x0182_0000)
        }
        WindowKind::Panel => ("wrapxwrap) gr=#33 sim=#20", 1000, 0x0182_0000),
        WindowKind::InputMethod => ("fillxwrap) gr=#50 sim=#120", 2011, 0x0180_0108),
        WindowKind::StatusBar | WindowKind::NotificationShade => {
            ("fillxfill) sim=#20", 2000, 0x0184_0068)
        }
        WindowKind::NavigationBar => ("fillxfill) sim=#20", 2019, 0x0184_0068),
        WindowKind::Toast => ("wrapxwrap) gr=#51 sim=#20", 2005, 0x0184_0068),
        WindowKind::SystemAlert => ("wrapxwrap) gr=#11 sim=#120", 2003, 0x0082_0002),
        WindowKind::PowerMenu => ("wrapxwrap) gr=#11 sim=#120", 2009, 0x0082_0002),
        WindowKind::Keyguard => ("fillxfill) sim=#10", 2004, 0x0d13_0900),
    }
}

/// A window's frame, and its lines about insets. The keyboard's window is higher than what is seen of it: its visible
/// part begins below the given insets, and touches above go to the app.
fn frame(window: &Window, scene: &Scene) -> (Rect, String) {
    let bounds = window.bounds;
    if window.kind != WindowKind::InputMethod {
        let none = "    mGivenContentInsets=[0,0][0,0] mGivenVisibleInsets=[0,0][0,0]\n";
        return (bounds, none.to_owned());
    }
    let of = |kind| scene.windows.iter().find(|window| window.kind == kind);
    let status = of(WindowKind::StatusBar).map_or(0, |window| window.bounds.bottom);
    let bar = of(WindowKind::NavigationBar).map_or(0, |window| window.bounds.height());
    // A strip for full-screen editing, 49 pixels of a screen with 240 dpi.
    let top = (status + 49 * scene.display.density / 240).min(bounds.top);
    let inset = bounds.top - top;
    // `LatinIME.onComputeInsets` adds 100 pixels to the height of its view, which ends at the buttons.
    let end = bounds.bottom - bar + 100;
    let insets = format!(
        "    mGivenContentInsets=[0,{inset}][0,0] mGivenVisibleInsets=[0,{inset}][0,0]\n    mTouchableInsets=3 mGivenInsetsPending=false\n    touchable region=SkRegion((0,{},{},{end}))\n",
        bounds.top, bounds.right,
    );
    (Rect { top, ..bounds }, insets)
}
