//! The displays: sizes, focus, policy and rotation. Source: `DisplayContent.dump` of each release,
//! see `window`.

use super::{State, first, focus, task, task_in_token, user_rotation};
use crate::programs::dumpsys::{configuration, task_record};
use thumbwire_virtual_android_system::release::formats::DumpsysFormat;
use thumbwire_virtual_phone::WindowKind;

pub(super) fn report(phone: &mut State) -> String {
    let body = match phone.release().shape {
        DumpsysFormat::Android4 | DumpsysFormat::Nine => nine(phone),
        DumpsysFormat::Eleven => eleven(phone),
        DumpsysFormat::Thirteen | DumpsysFormat::Fourteen => thirteen(phone),
        DumpsysFormat::Sixteen => sixteen(phone),
    };
    format!("WINDOW MANAGER DISPLAY CONTENTS (dumpsys window displays)\n{body}")
}

/// `init=` to `rng=`. `base=` is printed only if size or density are overridden; the minimum size
/// of a task came with 12.
fn sizes(phone: &State) -> String {
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
    let least = match phone.release().shape >= DumpsysFormat::Thirteen {
        true => " mMinSizeOfResizeableTaskDp=220",
        false => "",
    };
    let (short, long) = (display.width.min(display.height), display.width.max(display.height));
    format!(
        "    init={width}x{height} {density}dpi{least}{base} cur={}x{} app={}x{} rng={short}x{short}-{long}x{long}\n",
        display.width, display.height, display.width, display.height,
    )
}

/// The focus is printed after the windows.
fn nine(phone: &mut State) -> String {
    let (display, sizes) = (*phone.world.display(), sizes(phone));
    let (width, height, token) = (display.width, display.height, task_in_token(phone));
    format!(
        "  Display: mDisplayId=0\n{sizes}    deferred=false mLayoutNeeded=false mTouchExcludeRegion=SkRegion((0,0,{width},{height}))\n\n  Application tokens in top down Z order:\n    mStackId=1\n      mDeferRemoval=false\n      mBounds=[0,0][{width},{height}]\n      taskId=1\n        mBounds=[0,0][{width},{height}]\n        appTokens=[AppWindowToken{{5cd8eb9 token={token}}}]\n\n  homeStack=Stack=0\n\n  DisplayFrames w={width} h={height} r={}\n",
        display.rotation,
    )
}

fn eleven(phone: &mut State) -> String {
    let display = *phone.world.display();
    let (width, height) = (display.width, display.height);
    let (sizes, focus, task, area) = (sizes(phone), focus(phone), task(phone), task_record(phone));
    let all = format!("[0,0][{width},{height}]");
    let policy = policy(phone);
    format!(
        "  mLastOrientationSource={task}\n  deepestLastOrientationSource={task}\n  Display: mDisplayId=0 stacks=1\n{sizes}    deferred=false mLayoutNeeded=false mTouchExcludeRegion=SkRegion((0,0,{width},{height}))\n\n  mLayoutSeq=1\n  mCurrentFocus={focus}\n  mFocusedApp={task}\n  mLastStatusBarVisibility=0x8008\n\n  displayId=0\n  mWallpaperTarget=null\n  mLastWallpaperX=0.0 mLastWallpaperY=0.5\n\n  Task display areas in top down Z order:\n    TaskDisplayArea DefaultTaskDisplayArea\n      mPreferredTopFocusableStack={area}\n      mLastFocusedStack={area}\n      Application tokens in top down Z order:\n      * {area}\n        bounds={all}\n        * {task}\n\n  no ScreenRotationAnimation \n\n  homeStack=Task=1\n\n  DisplayFrames w={width} h={height} r={}\n    mStable={all}\n    mStableFullscreen={all}\n    mDock={all}\n    mCurrent={all}\n    mSystem={all}\n    mContent={all}\n    mVoiceContent={all}\n    mRestricted={all}\n    mUnrestricted={all}\n\n{policy}",
        display.rotation,
    )
}

fn thirteen(phone: &mut State) -> String {
    let display = *phone.world.display();
    let (width, height) = (display.width, display.height);
    let (sizes, focus, task, area) = (sizes(phone), focus(phone), task(phone), task_record(phone));
    let configuration = configuration(phone, "undefined");
    let region = match phone.release().shape {
        DumpsysFormat::Thirteen => format!(" mTouchExcludeRegion=SkRegion((0,0,{width},{height}))"),
        _ => String::new(),
    };
    let policy = policy(phone);
    format!(
        "  Display: mDisplayId=0 (organized)\n{sizes}    deferred=false mLayoutNeeded=false{region}\n\n  mLastOrientationSource=WindowedMagnification:0:31@99936863\n  deepestLastOrientationSource={task}\n  overrideConfig={configuration}\n  mLayoutSeq=1\n  mCurrentFocus={focus}\n  mFocusedApp={task}\n\n  mHoldScreenWindow=null\n  mObscuringWindow={focus}\n  mLastWakeLockHoldingWindow=null\n  mLastWakeLockObscuringWindow=null\n\n  displayId=0\n  mWallpaperTarget=null\n  mLastWallpaperX=0.0 mLastWallpaperY=0.5\n\n  mSystemGestureExclusion=SkRegion()\n\n{}  rootHomeTask=Task=1\n\n  DisplayFrames w={width} h={height} r={}\n\n{policy}",
        areas(&area, &task, width, height),
        display.rotation,
    )
}

/// The keyboard's targets are here, no longer after the windows.
fn sixteen(phone: &mut State) -> String {
    let display = *phone.world.display();
    let (width, height) = (display.width, display.height);
    let (sizes, focus, task, area) = (sizes(phone), focus(phone), task(phone), task_record(phone));
    let keyboard = first(phone, WindowKind::InputMethod);
    let configuration = configuration(phone, "undefined");
    let (policy, asleep) = (policy(phone), !phone.world.screen_on());
    format!(
        "  Display: mDisplayId=0 (organized)\n{sizes}    isRemovalRequested=false mLayoutNeeded=false\n  mLastOrientationSource=WindowedMagnification:0:31@21602383\n  deepestLastOrientationSource={task}\n  overrideConfig={configuration}\n  mHasSetIgnoreOrientationRequest=false ignoreOrientationRequest=false\n  mSleeping={asleep} mAllSleepTokens=[]\n  mLayoutSeq=1\n  mImeWindow={keyboard}\n  mImeLayeringTarget={focus}\n  mImeInputTarget={focus}\n  mImeControlTarget={focus}\n  mCurrentFocus={focus}\n  mFocusedApp={task}\n  mFixedRotationLaunchingApp=null\n\n  mHoldScreenWindow=null\n  mObscuringWindow={focus}\n  mLastWakeLockHoldingWindow=null\n  mLastWakeLockObscuringWindow=null\n\n  displayId=0\n  mWallpaperTarget=null\n  mSystemGestureExclusion=SkRegion()\n\n{}  rootHomeTask=Task=1\n\n  DisplayFrames w={width} h={height} r={}\n\n{policy}",
        areas(&area, &task, width, height),
        display.rotation,
    )
}

/// The tasks from the top down; only the one in front, since this phone reports no other.
fn areas(area: &str, task: &str, width: i32, height: i32) -> String {
    format!(
        "  Task display areas in top down Z order:\n    TaskDisplayArea DefaultTaskDisplayArea\n      mPreferredTopFocusableRootTask={area}\n      mLastFocusedRootTask={area}\n      Application tokens in top down Z order:\n      * {area}\n        bounds=[0,0][{width},{height}]\n        * {task}\n\n"
    )
}

/// A display's policy and rotation, since 10.
fn policy(phone: &mut State) -> String {
    let (on, locked) = (phone.world.screen_on(), phone.world.keyguard_shown());
    let rotation = phone.world.display().rotation;
    let (mode, turned) = user_rotation(phone);
    let (status, bar) =
        (first(phone, WindowKind::StatusBar), first(phone, WindowKind::NavigationBar));
    let focus = focus(phone);
    let shape = phone.release().shape;
    let camera = if shape >= DumpsysFormat::Thirteen { " mCameraRotationMode=0" } else { "" };
    let bars = match shape {
        DumpsysFormat::Eleven => format!(
            "    mShowingDream=false mDreamingLockscreen={locked}    mStatusBar={status} isKeyguardShowing={locked}\n"
        ),
        _ => format!(
            "    mShowingDream=false mDreamingLockscreen={locked}\n    mStatusBar={status}\n    isKeyguardShowing={locked}\n"
        ),
    };
    let full = if shape < DumpsysFormat::Sixteen { "    mTopIsFullscreen=false\n" } else { "" };
    format!(
        "  DisplayPolicy\n    mCarDockEnablesAccelerometer=true mDeskDockEnablesAccelerometer=true\n    mDockMode=EXTRA_DOCK_STATE_UNDOCKED mLidState=LID_OPEN\n    mAwake={on} mScreenOnEarly={on} mScreenOnFully={on}\n    mKeyguardDrawComplete=true mWindowManagerDrawComplete=true\n    mHdmiPlugged=false\n{bars}    mNavigationBar={bar}\n    mNavBarOpacityMode=2\n    mNavigationBarCanMove=false\n    mFocusedWindow={focus}\n    mTopFullscreenOpaqueWindowState={focus}\n{full}\n  DisplayRotation\n    mCurrentAppOrientation=SCREEN_ORIENTATION_UNSPECIFIED\n    mLastOrientation=-1\n    mRotation={rotation} mDeferredRotationPauseCount=0\n    mLandscapeRotation=ROTATION_90 mSeascapeRotation=ROTATION_270\n    mPortraitRotation=ROTATION_0 mUpsideDownRotation=ROTATION_180\n    mSupportAutoRotation=true\n    mCarDockRotation=-1 mDeskDockRotation=-1\n    mUserRotationMode={mode} mUserRotation={turned}{camera} mAllowAllRotations=false\n    mDemoHdmiRotation=ROTATION_90 mDemoHdmiRotationLock=false mUndockedHdmiRotation=-1\n    mLidOpenRotation=-1\n    mFixedToUserRotation=false\n"
    )
}
