//! `dumpsys window` of Android 4.4, which has other sections, and the focus among the windows.
//! Captures `037`, `038`, `064`, `119`, `436`.

use super::super::old::configuration;
use super::{appop, is_attached, name as window_name, task, titled};
use crate::phone::State;
use thumbwire_virtual_phone::{Rect, Scene, ScreenLock, Window, WindowKind};

/// No app ever stops answering for so long that the window manager writes it down.
pub(super) const LAST_ANR: &str =
    "WINDOW MANAGER LAST ANR (dumpsys window lastanr)\n  <no ANR has occurred since boot>\n";

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

/// [`policy`] with what never changes on this phone, or follows from its screen: each line after
/// the one that begins so.
pub(super) fn whole_policy(phone: &mut State) -> String {
    let display = *phone.world.display();
    let (width, height) = (display.width, display.height);
    let kind = |kind: WindowKind, phone: &mut State| {
        let windows = &phone.world.scene().windows;
        windows.iter().find(|window| window.kind == kind).map(|window| window.bounds)
    };
    let top = kind(WindowKind::StatusBar, phone).map_or(0, |bar| bar.bottom);
    let bottom = kind(WindowKind::NavigationBar, phone).map_or(height, |bar| bar.top);
    let app = format!("(0,{top})-({width},{bottom})");
    let after = [
        ("mSafeMode", "mLidState=-1 mLidOpenRotation=-1 mHdmiPlugged=false\nmLastSystemUiFlags=0x0 mResettingSystemUiFlags=0x0 mForceClearedSystemUiFlags=0x0".to_owned()),
        ("mCurrentAppOrientation", "mCarDockEnablesAccelerometer=true mDeskDockEnablesAccelerometer=true\nmLidKeyboardAccessibility=0 mLidNavigationAccessibility=0 mLidControlsSleep=false\nmLongPressOnPowerBehavior=-1 mHasSoftInput=true".to_owned()),
        ("mOverscanScreen", format!("mRestrictedOverscanScreen=(0,0) {width}x{bottom}")),
        ("mUnrestrictedScreen", format!(
            "mRestrictedScreen=(0,0) {width}x{bottom}\nmStableFullscreen=(0,0)-({width},{bottom})\nmStable={app}\nmSystem=(0,0)-({width},{height})\nmCur={app}\nmContent={app}\nmDock={app}\nmDockLayer=268435456 mStatusBarLayer=161000"
        )),
        ("mForceStatusBar", "mDismissKeyguard=0 mWinDismissingKeyguard=null mHomePressed=false\nmAllowLockscreenWhenOn=false mLockScreenTimeout=0 mLockScreenTimerActive=false\nmEndcallBehavior=2 mIncallPowerBehavior=1 mLongPressOnHomeBehavior=1".to_owned()),
        ("mPortraitRotation", "mDemoHdmiRotation=1 mDemoHdmiRotationLock=false\nmUndockedHdmiRotation=-1\nBarController.StatusBar\n  mState=WINDOW_STATE_SHOWING\n  mTransientBar=TRANSIENT_BAR_NONE\nBarController.NavigationBar\n  mState=WINDOW_STATE_SHOWING\n  mTransientBar=TRANSIENT_BAR_NONE".to_owned()),
    ];
    let mut text = String::new();
    for line in policy(phone).lines() {
        text.push_str(&format!("{line}\n"));
        let more = after.iter().find(|(begin, _)| line.trim_start().starts_with(begin));
        for line in more.map(|(_, more)| more.lines()).into_iter().flatten() {
            text.push_str(&format!("    {line}\n"));
        }
    }
    text
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
        "WINDOW MANAGER DISPLAY CONTENTS (dumpsys window displays)\n  Display: mDisplayId=0\n    init={width}x{height} {density}dpi{base} cur={}x{} app={}x{} rng={short}x{short}-{long}x{long}\n    layoutNeeded=false\n  StackBox #0\n    mParent=null\n    mBounds=[0,0][{},{}] mVertical=false layoutNeeded=true\n    mStack={{stackId=0 tasks=[{{taskId=1 appTokens=[{app}]}}]}}\n      mStackId=0\n      {{taskId=1 appTokens=[{app}]}}\n\n  Application tokens in Z order:\n  App #1 {app}:\n    windows=[{focus}]\n    windowType=2 hidden=false hasVisible=true\n    app=true\n    allAppWindows=[{focus}]\n    groupId=1 appFullscreen=true requestedOrientation=-1\n    hiddenRequested=false clientHidden=false willBeHidden=false reportedDrawn=true reportedVisible=true\n    numInterestingWindows=1 numDrawnWindows=1 inPendingTransaction=false allDrawn=true (animator=true)\n    startingData=null removed=false firstWindowDrawn=true\n\n",
        display.width, display.height, display.width, display.height, display.width, display.height,
    )
}

pub(super) fn windows(phone: &mut State) -> String {
    let rotation = phone.world.display().rotation;
    let task = task(phone);
    let packages = phone.world.packages();
    let owners: Vec<(String, u32)> =
        packages.into_iter().map(|manifest| (manifest.package.clone(), manifest.uid)).collect();
    let config = configuration(phone);
    let display = *phone.world.display();
    let scene = phone.world.scene();
    let mut text = String::from("WINDOW MANAGER WINDOWS (dumpsys window windows)\n");
    let count = scene.windows.len();
    // Z order from the top down, numbered from the bottom.
    for (nth, window) in scene.windows.iter().rev().enumerate() {
        let place = count - 1 - nth;
        text.push_str(&format!("  Window #{place} {}:\n", window_name(window)));
        text.push_str(&of(window, place, &task, &owners, scene, &config));
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
        "\n  mCurConfiguration={config}\n  mCurrentFocus={focus}\n  mFocusedApp=AppWindowToken{{a6760b10 token=Token{{a675eed0 {task}}}}}\n{target}  mInTouchMode=true mLayoutSeq=38\n  mLastDisplayFreezeDuration=0 due to {focus}\n  mSystemDecorLayer=161000 mScreenRect=[0,0][{},{}]\n{method}  mWallpaperTarget=null\n  mLastWallpaperX=0.0 mLastWallpaperY=0.5\n  mSystemBooted=true mDisplayEnabled=true\n  mTransactionSequence=52\n  mDisplayFrozen=false windows=false client=false apps=0 waitingForConfig=false\n  mRotation={rotation} mAltOrientation=false\n  mLastWindowForcedOrientation=-1 mForcedAppOrientation=-1\n  mDeferredRotationPauseCount=0\n  mWindowAnimationScale=1.0 mTransitionWindowAnimationScale=1.0 mAnimatorDurationScale=1.0\n  mTraversalScheduled=false\n  mStartingIconInTransition=false mSkipAppTransitionAnimation=false\n  mLayoutToAnim:\n mNextAppTransition=0xffffffff  mAppTransitionState=APP_STATE_IDLE\n",
        display.width, display.height,
    ));
    text
}

/// One window.
fn of(
    window: &Window,
    place: usize,
    task: &str,
    owners: &[(String, u32)],
    scene: &Scene,
    config: &str,
) -> String {
    let uid = owners.iter().find(|(package, _)| *package == window.package);
    let uid = uid.map_or(if window.package == "android" { 1_000 } else { 10_008 }, |(_, uid)| *uid);
    let session = if uid < 10_000 { format!("396:{uid}") } else { format!("373:u0a{uid}") };
    let secure = if window.secure { 0x2000 } else { 0 };
    let (size, kind, flags) = layout(window, place == 0);
    let flags = flags | secure;
    let (bounds, insets) = frame(window, scene);
    let frame = format!("[{},{}][{},{}]", bounds.left, bounds.top, bounds.right, bounds.bottom);
    let (width, height) = (bounds.right - bounds.left, bounds.bottom - bounds.top);
    let layer = 21_000 + 10_000 * place;
    let title = &window.title;
    let token = match window.kind {
        WindowKind::Application | WindowKind::Panel => {
            format!("AppWindowToken{{a6760b10 token=Token{{a675eed0 {task}}}}}")
        }
        _ => "WindowToken{a671a378 null}".to_owned(),
    };
    let app = match window.kind {
        WindowKind::Application => format!("    mAppToken={token}\n"),
        WindowKind::InputMethod => {
            "    mIsImWindow=true mIsWallpaper=false mIsFloatingLayer=true mWallpaperVisible=false\n".to_owned()
        }
        _ => String::new(),
    };
    format!(
        "    mDisplayId=0 mSession=Session{{a6752870 {session}}} mClient=android.os.BinderProxy@a6708d60
    mOwnerUid={uid} mShowToOwnerOnly=false package={} appop={}
    mAttrs=WM.LayoutParams{{(0,0)({size} ty={kind} fl=#{flags:x} fmt=-3}}
    Requested w={width} h={height} mLayoutSeq=38
{app}    mBaseLayer={layer} mSubLayer=0 mAnimLayer={layer}+0={layer} mLastLayer={layer}
    mToken={token}
    mRootToken={token}
    mViewVisibility=0x0 mHaveFrame=true mObscured=false
    mSeq=0 mSystemUiVisibility=0x0
{insets}    mConfiguration={config}
    mHasSurface=true mShownFrame=[{left}.0,{top}.0][{right}.0,{bottom}.0] isReadyForDisplay()=true
    mFrame={frame} last={frame}
    mSystemDecorRect=[0,0][{width},{height}] last=[0,0][{width},{height}]
    Frames: containing={frame} parent={frame}
        display={frame} overscan={frame}
        content={frame} visible={frame}
        decor=[0,0][0,0]
    Cur insets: overscan=[0,0][0,0] content=[0,0][0,0] visible=[0,0][0,0]
    Lst insets: overscan=[0,0][0,0] content=[0,0][0,0] visible=[0,0][0,0]
    WindowStateAnimator{{a670a420 {title}}}:
      mSurface=Surface(name={title})
      mDrawState=HAS_DRAWN mLastHidden=false
      Surface: shown=true layer={layer} alpha=1.0 rect=({left}.0,{top}.0) {width}.0 x {height}.0
    mLastFreezeDuration=0
",
        window.package,
        appop(window),
        left = bounds.left,
        top = bounds.top,
        right = bounds.right,
        bottom = bounds.bottom,
    )
}

/// Size and gravity, `WindowManager.LayoutParams.TYPE_…`, and flags. As in captures `058` to `119`;
/// the keyboard and the error dialog as seen on another phone with 4.4.4.
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

/// A window's frame, and its lines about insets. The keyboard's window is higher than what is seen
/// of it: its visible part begins below the given insets, and touches above go to the app.
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
    // `LatinIME.onComputeInsets` adds 100 pixels to the height of its view, which ends at the
    // buttons.
    let end = bounds.bottom - bar + 100;
    let insets = format!(
        "    mGivenContentInsets=[0,{inset}][0,0] mGivenVisibleInsets=[0,{inset}][0,0]\n    mTouchableInsets=3 mGivenInsetsPending=false\n    touchable region=SkRegion((0,{},{},{end}))\n",
        bounds.top, bounds.right,
    );
    (Rect { top, ..bounds }, insets)
}
