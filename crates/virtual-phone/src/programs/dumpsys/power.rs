//! `dumpsys power`: whether the phone is awake and its display on. Sources: `PowerManagerService.dumpInternal` of Android 14, the capture
//! `302` for 4.4.

use crate::phone::State;
use crate::release::Form;

pub(super) fn report(phone: &mut State, _: &[&str]) -> String {
    let on = phone.world.screen_on();
    let battery = phone.world.battery();
    let (wakefulness, state, held) = if on { ("Awake", "ON", 1) } else { ("Asleep", "OFF", 0) };
    let plugged = u8::from(battery.charging) * 2;
    let timeout = phone.world.setting("system", "screen_off_timeout").unwrap_or("60000").to_owned();
    let mut text = format!(
        "POWER MANAGER (dumpsys power)\n\nPower Manager State:\n  mDirty=0x0\n  mWakefulness={wakefulness}\n"
    );
    let old = phone.manners().form == Form::Java;
    if !old {
        text.push_str("  mWakefulnessChanging=false\n");
    }
    text.push_str(&format!(
        "  mIsPowered={}\n  mPlugType={plugged}\n  mBatteryLevel={}\n  mDockState=0\n  mStayOn=false\n  mProximityPositive=false\n  mBootCompleted=true\n  mSystemReady=true\n  mWakeLockSummary=0x0\n  mUserActivitySummary={}\n  mDisplayReady=true\n  mHoldingWakeLockSuspendBlocker=false\n  mHoldingDisplaySuspendBlocker={on}\n\nSettings and Configuration:\n  mScreenOffTimeoutSetting={timeout}\n",
        battery.charging,
        battery.level,
        if on { "0x1" } else { "0x0" },
    ));
    if old {
        text.push_str(&format!(
            "\nWake Locks: size=0\n\nSuspend Blockers: size=4\n  PowerManagerService.WakeLocks: ref count=0\n  PowerManagerService.Display: ref count={held}\n  PowerManagerService.Broadcasts: ref count=0\n  PowerManagerService.WirelessChargerDetector: ref count=0\n\nScreen On Blocker: held=false, mNestCount=0\n\nDisplay Blanker: blanked={}\n",
            !on
        ));
    } else {
        text.push_str(&format!(
            "\nWake Locks: size=0\n\nSuspend Blockers: size=3\n  PowerManagerService.WakeLocks: ref count=0\n  PowerManagerService.Display: ref count={held}\n  PowerManagerService.Broadcasts: ref count=0\n\nDisplay Power: state={state}\n"
        ));
    }
    text
}
