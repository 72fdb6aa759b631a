//! `dumpsys window` of Android 4.4, which has other sections, and the focus among the windows. Captures `037`, `038`,
//! `064`, `119`, `436`.

use super::super::old::configuration;
use super::{appop, name as window_name, task};
use crate::phone::State;
use thumbwire_virtual_phone::WindowKind;

/// No app ever stops answering for so long that the window manager writes it down.
pub(super) const LAST_ANR: &str =
    "WINDOW MANAGER LAST ANR (dumpsys window lastanr)\n  <no ANR has occurred since boot>\n";

pub(super) fn policy(phone: &mut State) -> String {
    let on = phone.world.screen_on();
    let display = *phone.world.display();
    let focus = phone.world.scene().focused().map_or("null".to_owned(), window_name);
    format!(
        "WINDOW MANAGER POLICY STATE (dumpsys window policy)\n    mSafeMode=false mSystemReady=true mSystemBooted=true\n    mUiMode=1 mDockMode=0 mCarDockRotation=-1 mDeskDockRotation=-1\n    mUserRotationMode=0 mUserRotation={} mAllowAllRotations=-1\n    mCurrentAppOrientation=-1\n    mScreenOnEarly={on} mScreenOnFully={on} mOrientationSensorEnabled=false\n    mOverscanScreen=(0,0) {}x{}\n    mUnrestrictedScreen=(0,0) {}x{}\n    mShowingLockscreen=false mShowingDream=false mDreamingLockscreen=false\n    mFocusedWindow={focus}\n    mTopFullscreenOpaqueWindowState={focus}\n    mForceStatusBar=false mForceStatusBarFromKeyguard=false\n    mLandscapeRotation=1 mSeascapeRotation=3\n    mPortraitRotation=0 mUpsideDownRotation=2\n",
        display.rotation, display.width, display.height, display.width, display.height,
    )
}

/// [`policy`] with what never changes on this phone, or follows from its screen: each line after the one that begins so.
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
    let config = configuration(phone);
    let display = *phone.world.display();
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
            WindowKind::NotificationShade => 2000,
        };
        // As in captures `058` to `119`; FLAG_SECURE is 0x2000.
        let flags = match window.kind {
            WindowKind::Application => 0x0181_0100,
            _ => 0x0184_0068,
        } | if window.secure { 0x2000 } else { 0 };
        let (width, height) = (bounds.right - bounds.left, bounds.bottom - bounds.top);
        let layer = 21_000 + 10_000 * (count - 1 - nth);
        let name = window_name(window);
        let title = &window.title;
        let token = match window.kind {
            WindowKind::Application => {
                format!("AppWindowToken{{a6760b10 token=Token{{a675eed0 {task}}}}}")
            }
            _ => "WindowToken{a671a378 null}".to_owned(),
        };
        let (mut app, mut region) = (String::new(), String::new());
        match window.kind {
            WindowKind::Application => {
                app = format!("    mAppToken={token}\n");
            }
            WindowKind::InputMethod => {
                app = "    mIsImWindow=true mIsWallpaper=false mIsFloatingLayer=true mWallpaperVisible=false\n".to_owned();
                region = format!(
                    "    mTouchableInsets=3 mGivenInsetsPending=false\n    touchable region=SkRegion(({},{},{},{}))\n",
                    bounds.left, bounds.top, bounds.right, bounds.bottom
                );
            }
            _ => {}
        }
        text.push_str(&format!(
            "  Window #{} {name}:
    mDisplayId=0 mSession=Session{{a6752870 373:u0a10008}} mClient=android.os.BinderProxy@a6708d60
    mOwnerUid=10008 mShowToOwnerOnly=false package={} appop={}
    mAttrs=WM.LayoutParams{{(0,0)(fillxfill) sim=#20 ty={kind} fl=#{flags:x} fmt=-3}}
    Requested w={width} h={height} mLayoutSeq=38
{app}    mBaseLayer={layer} mSubLayer=0 mAnimLayer={layer}+0={layer} mLastLayer={layer}
    mToken={token}
    mRootToken={token}
    mViewVisibility=0x0 mHaveFrame=true mObscured=false
    mSeq=0 mSystemUiVisibility=0x0
    mGivenContentInsets=[0,0][0,0] mGivenVisibleInsets=[0,0][0,0]
{region}    mConfiguration={config}
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
            count - 1 - nth,
            window.package,
            appop(window),
            left = bounds.left,
            top = bounds.top,
            right = bounds.right,
            bottom = bounds.bottom,
        ));
    }
    let focus = scene.focused().map_or("null".to_owned(), window_name);
    let method = scene.windows.iter().find(|window| window.kind == WindowKind::InputMethod);
    let method = method
        .map_or(String::new(), |method| format!("  mInputMethodWindow={}\n", window_name(method)));
    text.push_str(&format!(
        "
  mCurConfiguration={config}
  mCurrentFocus={focus}
  mFocusedApp=AppWindowToken{{a6760b10 token=Token{{a675eed0 {task}}}}}
  mInTouchMode=true mLayoutSeq=38
  mLastDisplayFreezeDuration=0 due to {focus}
  mSystemDecorLayer=161000 mScreenRect=[0,0][{},{}]
{method}  mWallpaperTarget=null
  mLastWallpaperX=0.0 mLastWallpaperY=0.5
  mSystemBooted=true mDisplayEnabled=true
  mTransactionSequence=52
  mDisplayFrozen=false windows=false client=false apps=0 waitingForConfig=false
  mRotation={rotation} mAltOrientation=false
  mLastWindowForcedOrientation=-1 mForcedAppOrientation=-1
  mDeferredRotationPauseCount=0
  mWindowAnimationScale=1.0 mTransitionWindowAnimationScale=1.0 mAnimatorDurationScale=1.0
  mTraversalScheduled=false
  mStartingIconInTransition=false mSkipAppTransitionAnimation=false
  mLayoutToAnim:
 mNextAppTransition=0xffffffff  mAppTransitionState=APP_STATE_IDLE
",
        display.width, display.height,
    ));
    text
}
