//! `dumpsys power`: whether the phone is awake and its display on. Sources:
//! `PowerManagerService.dumpInternal`, public transcripts of phones for the suspend blockers of
//! Android 16 and the last line since 10. That of 4.4 is in [`old`].

mod old;

use crate::phone::State;
use thumbwire_virtual_android_system::release::formats::DumpsysFormat;

pub(super) fn report(phone: &mut State, _: &[&str]) -> String {
    if phone.release().shape == DumpsysFormat::Android4 {
        return old::report(phone);
    }
    let on = phone.world.screen_on();
    let battery = phone.world.battery();
    let (wakefulness, state) = if on { ("Awake", "ON") } else { ("Asleep", "OFF") };
    let plugged = u8::from(battery.charging) * 2;
    let timeout = phone.world.setting("system", "screen_off_timeout").unwrap_or("60000").to_owned();
    let mut text = format!(
        "POWER MANAGER (dumpsys power)\n\nPower Manager State:\n  mDirty=0x0\n  mWakefulness={wakefulness}\n"
    );
    text.push_str("  mWakefulnessChanging=false\n");
    text.push_str(&format!(
        "  mIsPowered={}\n  mPlugType={plugged}\n  mBatteryLevel={}\n  mDockState=0\n  mStayOn=false\n  mProximityPositive=false\n  mBootCompleted=true\n  mSystemReady=true\n  mWakeLockSummary=0x0\n  mUserActivitySummary={}\n  mDisplayReady=true\n  mHoldingWakeLockSuspendBlocker=false\n  mHoldingDisplaySuspendBlocker={on}\n\nSettings and Configuration:\n  mScreenOffTimeoutSetting={timeout}\n",
        battery.charging,
        battery.level,
        if on { "0x1" } else { "0x0" },
    ));
    let display = match (phone.release().shape, on) {
        (DumpsysFormat::Sixteen, true) => "1 [holding display: (01-01 00:00:00.000)]",
        (DumpsysFormat::Sixteen, false) => "0 []",
        (_, true) => "1",
        (_, false) => "0",
    };
    // Since 16 each names its holder.
    let (booting, nobody, count) = match phone.release().shape {
        DumpsysFormat::Sixteen => ("  PowerManagerService.Booting: ref count=0 []\n", " []", 4),
        _ => ("", "", 3),
    };
    let blanker = match phone.release().shape {
        DumpsysFormat::Android4 | DumpsysFormat::Nine => format!("state={state}"),
        _ => "com.android.server.power.PowerManagerService$1@8c9fc54".to_owned(),
    };
    text.push_str(&format!(
        "\nWake Locks: size=0\n\nSuspend Blockers: size={count}\n{booting}  PowerManagerService.WakeLocks: ref count=0{nobody}\n  PowerManagerService.Display: ref count={display}\n  PowerManagerService.Broadcasts: ref count=0{nobody}\n\nDisplay Power: {blanker}\n"
    ));
    text
}
