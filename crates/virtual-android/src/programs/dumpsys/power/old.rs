//! `dumpsys power` of Android 4.4: `PowerManagerService.dump`, `DisplayPowerController.dump` and
//! `WirelessChargerDetector.dump`; the capture `302`. What has no counterpart on this phone has the
//! value of a phone without that sensor.

use crate::phone::State;

pub(super) fn report(phone: &mut State) -> String {
    let on = phone.world.screen_on();
    let battery = phone.world.battery();
    let (wakefulness, held) = if on { ("Awake", 1) } else { ("Asleep", 0) };
    let plugged = u8::from(battery.charging) * 2;
    let setting = |table: &str, name: &str, default: &str| {
        phone.world.setting(table, name).unwrap_or(default).to_owned()
    };
    let timeout = setting("system", "screen_off_timeout", "60000");
    let stay_on = setting("global", "stay_on_while_plugged_in", "0");
    let brightness = setting("system", "screen_brightness", "102");
    let mode = setting("system", "screen_brightness_mode", "0");
    let stays = battery.charging && stay_on != "0";
    let now = phone.world.since_restart().as_millis();
    let display = phone.world.display();
    let state = if on { 2 } else { 0 };
    let automatic = mode == "1";
    let request = format!(
        "screenState={state}, useProximitySensor=false, screenBrightness={brightness}, screenAutoBrightnessAdjustment=0.0, useAutoBrightness={automatic}, blockScreenOn=false"
    );
    let actual = if on { brightness.as_str() } else { "0" };
    let level = if on { "1.0" } else { "0.0" };
    format!(
        "POWER MANAGER (dumpsys power)

Power Manager State:
  mDirty=0x0
  mWakefulness={wakefulness}
  mIsPowered={}
  mPlugType={plugged}
  mBatteryLevel={}
  mBatteryLevelWhenDreamStarted=0
  mDockState=0
  mStayOn={stays}
  mProximityPositive=false
  mBootCompleted=true
  mSystemReady=true
  mWakeLockSummary=0x0
  mUserActivitySummary={}
  mRequestWaitForNegativeProximity=false
  mSandmanScheduled=false
  mLastWakeTime=0 ({now} ms ago)
  mLastSleepTime=0 ({now} ms ago)
  mSendWakeUpFinishedNotificationWhenReady=false
  mSendGoToSleepFinishedNotificationWhenReady=false
  mLastUserActivityTime=0 ({now} ms ago)
  mLastUserActivityTimeNoChangeLights=0 ({now} ms ago)
  mDisplayReady=true
  mHoldingWakeLockSuspendBlocker=false
  mHoldingDisplaySuspendBlocker={on}

Settings and Configuration:
  mWakeUpWhenPluggedOrUnpluggedConfig=true
  mSuspendWhenScreenOffDueToProximityConfig=false
  mDreamsSupportedConfig=true
  mDreamsEnabledByDefaultConfig=true
  mDreamsActivatedOnSleepByDefaultConfig=false
  mDreamsActivatedOnDockByDefaultConfig=true
  mDreamsEnabledSetting=false
  mDreamsActivateOnSleepSetting=false
  mDreamsActivateOnDockSetting=true
  mScreenOffTimeoutSetting={timeout}
  mMaximumScreenOffTimeoutFromDeviceAdmin=2147483647 (enforced=false)
  mStayOnWhilePluggedInSetting={stay_on}
  mScreenBrightnessSetting={brightness}
  mScreenAutoBrightnessAdjustmentSetting=0.0
  mScreenBrightnessModeSetting={mode}
  mScreenBrightnessOverrideFromWindowManager=-1
  mUserActivityTimeoutOverrideFromWindowManager=-1
  mTemporaryScreenBrightnessSettingOverride=-1
  mTemporaryScreenAutoBrightnessAdjustmentSettingOverride=NaN
  mScreenBrightnessSettingMinimum=1
  mScreenBrightnessSettingMaximum=255
  mScreenBrightnessSettingDefault=102

Screen off timeout: {timeout} ms
Screen dim duration: 7000 ms

Wake Locks: size=0

Suspend Blockers: size=4
  PowerManagerService.WakeLocks: ref count=0
  PowerManagerService.Display: ref count={held}
  PowerManagerService.Broadcasts: ref count=0
  PowerManagerService.WirelessChargerDetector: ref count=0

Screen On Blocker: held=false, mNestCount=0

Display Blanker: blanked={}

Display Controller Locked State:
  mDisplayReadyLocked=true
  mPendingRequestLocked={request}
  mPendingRequestChangedLocked=false
  mPendingWaitForNegativeProximityLocked=false
  mPendingUpdatePowerStateLocked=false

Display Controller Configuration:
  mScreenBrightnessDimConfig=10
  mScreenBrightnessRangeMinimum=10
  mScreenBrightnessRangeMaximum=255
  mUseSoftwareAutoBrightnessConfig=false

Display Controller Thread State:
  mPowerRequest={request}
  mWaitingForNegativeProximity=false
  mProximitySensor=null
  mProximitySensorEnabled=false
  mProximityThreshold=0.0
  mProximity=Unknown
  mPendingProximity=Unknown
  mPendingProximityDebounceTime=-1 ({now} ms ago)
  mScreenOffBecauseOfProximity=false
  mLightSensor=null
  mLightSensorEnabled=false
  mLightSensorEnableTime=0 ({now} ms ago)
  mAmbientLux=0.0
  mAmbientLuxValid=false
  mLastObservedLux=0.0
  mLastObservedLuxTime=0 ({now} ms ago)
  mRecentLightSamples=0
  mRecentShortTermAverageLux=0.0
  mRecentLongTermAverageLux=0.0
  mDebounceLuxDirection=0
  mDebounceLuxTime=0 ({now} ms ago)
  mScreenAutoBrightness=-1
  mUsingScreenAutoBrightness=false
  mLastScreenAutoBrightnessGamma=1.0
  mTwilight.getCurrentState()=null
  mElectronBeamOnAnimator.isStarted()=false
  mElectronBeamOffAnimator.isStarted()=false

Display Power State:
  mScreenOn={on}
  mScreenBrightness={brightness}
  mScreenReady=true
  mScreenUpdatePending=false
  mElectronBeamPrepared={}
  mElectronBeamLevel={level}
  mElectronBeamReady=true
  mElectronBeamDrawPending=false

Photonic Modulator State:
  mPendingOn={on}
  mPendingBacklight={actual}
  mActualOn={on}
  mActualBacklight={actual}
  mChangeInProgress=false

Electron Beam State:
  mPrepared={}
  mMode=1
  mDisplayLayerStack=0
  mDisplayWidth={}
  mDisplayHeight={}
  mSurfaceVisible={}
  mSurfaceAlpha={}

Wireless Charger Detector State:
  mGravitySensor=null
  mPoweredWirelessly=false
  mAtRest=false
  mRestX=0.0, mRestY=0.0, mRestZ=0.0
  mDetectionInProgress=false
  mDetectionStartTime=0 (never)
  mMustUpdateRestPosition=false
  mTotalSamples=0
  mMovingSamples=0
  mFirstSampleX=0.0, mFirstSampleY=0.0, mFirstSampleZ=0.0
  mLastSampleX=0.0, mLastSampleY=0.0, mLastSampleZ=0.0
",
        battery.charging,
        battery.level,
        if on { "0x1" } else { "0x0" },
        !on,
        !on,
        !on,
        display.width,
        display.height,
        !on,
        if on { "0.0" } else { "1.0" },
    )
}
