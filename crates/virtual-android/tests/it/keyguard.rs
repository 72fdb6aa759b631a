//! The keyguard: what the reports and the tree say while the phone is locked, and how it is
//! unlocked.

use crate::common::{Wired, capture};
use thumbwire_virtual_android::{ScreenLock, Setup};

const CALCULATOR: &str = "am start -n com.android.settings/.Settings";

/// A phone of a release that is locked because its screen was off.
async fn locked(release: &str, lock: ScreenLock) -> Wired {
    let setup = Setup::of_release(release).expect("a release");
    let wired = Wired::made(Setup { screen_lock: lock, ..setup });
    assert!(!is_locked(&wired), "it boots unlocked");
    out(&wired, "input keyevent 26").await;
    out(&wired, "input keyevent 26").await;
    assert!(is_locked(&wired) && wired.phone.world(|world| world.screen_on()));
    wired
}

/// The output of a command; Android 4.4 has no statuses and a terminal's line ends.
async fn out(wired: &Wired, command: &str) -> String {
    let output = wired.run(command).await;
    String::from_utf8(output.stdout).expect("text").replace("\r\n", "\n")
}

fn is_locked(wired: &Wired) -> bool {
    wired.phone.world(|world| world.keyguard_shown())
}

/// The line of a report with that key.
fn line(report: &str, key: &str) -> String {
    let found = report.lines().find(|line| line.trim_start().starts_with(key));
    found.unwrap_or_else(|| panic!("no {key} in {report}")).trim().to_owned()
}

fn ids(xml: &str) -> Vec<String> {
    let ids = xml.split("resource-id=\"").skip(1).filter_map(|rest| rest.split('"').next());
    ids.filter(|id| !id.is_empty()).map(str::to_owned).collect()
}

#[tokio::test]
async fn reports_name_the_keyguard_of_each_release() {
    for (release, title, package, keys) in [
        (
            "4.4",
            "Keyguard",
            "com.android.keyguard",
            "mShowingLockscreen=true mShowingDream=false mDreamingLockscreen=true",
        ),
        ("9", "StatusBar", "com.android.systemui", "mShowingDream=false mDreamingLockscreen=true"),
        (
            "11",
            "NotificationShade",
            "com.android.systemui",
            "mShowingDream=false mDreamingLockscreen=true",
        ),
        (
            "14",
            "NotificationShade",
            "com.android.systemui",
            "mShowingDream=false mDreamingLockscreen=true",
        ),
        (
            "16",
            "NotificationShade",
            "com.android.systemui",
            "mShowingDream=false mDreamingLockscreen=true",
        ),
    ] {
        let wired = locked(release, ScreenLock::Swipe).await;
        let report = out(&wired, "dumpsys window -a").await;
        let focus = line(&report, "mCurrentFocus=");
        assert!(focus.ends_with(&format!(" u0 {title}}}")), "{release}: {focus}");
        assert!(report.contains(keys), "{release}: {report}");
        if release != "4.4" {
            assert!(
                report.contains("      showing=true\n") && report.contains("      secure=false\n")
            );
        }
        let dump = out(&wired, "uiautomator dump /sdcard/d.xml; cat /sdcard/d.xml").await;
        assert!(dump.contains(&format!("package=\"{package}\"")), "{release}: {dump}");
        assert!(!dump.contains("launcher"), "{release}: {dump}");
        // The app starts behind it.
        out(&wired, CALCULATOR).await;
        let report = out(&wired, "dumpsys window -a").await;
        assert_eq!(line(&report, "mCurrentFocus="), focus);
        assert!(line(&report, "mFocusedApp=").contains("com.android.settings/.Settings"));
        for key in ["3", "4", "66", "8"] {
            out(&wired, &format!("input keyevent {key}")).await;
            assert!(is_locked(&wired), "{release}: {key}");
        }
        out(&wired, "input keyevent 82").await;
        let report = out(&wired, "dumpsys window -a").await;
        let focus = line(&report, "mCurrentFocus=");
        assert!(focus.contains("com.android.settings/com.android.settings.Settings"), "{focus}");
        assert!(report.contains("mDreamingLockscreen=false"));
    }
}

#[tokio::test]
async fn tree_and_policy_of_4_4_match_the_recorded_ones() {
    let wired = locked("4.4", ScreenLock::Swipe).await;
    let dump = out(&wired, "uiautomator dump /sdcard/d.xml; cat /sdcard/d.xml").await;
    if let Some(real) = capture("android-4.4.4/dump-keyguard.xml") {
        let mut real = ids(&real);
        // Bare containers.
        real.retain(|id| {
            !id.ends_with("selector_fade_container") && !id.ends_with("selector_view_frame")
        });
        assert_eq!(ids(&dump), real);
    }
    if let Some(real) = capture("android-4.4.4/037-dumpsys-window-policy.out") {
        let report = out(&wired, "dumpsys window policy").await;
        for key in ["mShowingLockscreen=", "mForceStatusBar=", "mTopIsFullscreen="] {
            assert_eq!(line(&report, key), line(&real, key));
        }
        assert!(!report.contains("mFocusedApp=") && !real.contains("mFocusedApp="));
        let keyguard = line(&report, "mKeyguard=");
        assert!(keyguard.ends_with(" u0 Keyguard}"), "{keyguard}");
    }
    if let Some(real) = capture("android-4.4.4/058-dumpsys-window-windows-keyguard.out") {
        let report = out(&wired, "dumpsys window windows").await;
        let kind = |report: &str| {
            let window = report.split(" u0 Keyguard}:").nth(1).expect("its window").to_owned();
            let (kind, flags) = (window.split(" ty=").nth(1), window.split(" fl=").nth(1));
            [kind, flags]
                .map(|part| part.and_then(|part| part.split([' ', '}']).next()).map(str::to_owned))
        };
        assert_eq!(kind(&report), kind(&real));
    }
}

#[tokio::test]
async fn swipes_and_wm_unlock_a_phone_without_a_secret() {
    for (release, way) in [
        ("4.4", "input swipe 240 550 460 550"),
        ("9", "input swipe 540 1800 540 600"),
        ("14", "input swipe 540 1800 540 600"),
        ("14", "input swipe 540 2395 540 1200"),
        ("16", "wm dismiss-keyguard"),
    ] {
        let wired = locked(release, ScreenLock::Swipe).await;
        out(&wired, way).await;
        assert!(!is_locked(&wired), "{release}: {way}");
    }
    let wired = locked("4.4", ScreenLock::Swipe).await;
    out(&wired, "input swipe 240 600 240 100").await;
    assert!(is_locked(&wired), "the ring of 4.4 has no target above it");
}

#[tokio::test]
async fn pin_is_asked_for_and_keys_type_it() {
    for release in ["4.4", "9", "14"] {
        let wired = locked(release, ScreenLock::Pin("1234".to_owned())).await;
        if release != "4.4" {
            let report = out(&wired, "dumpsys window -a").await;
            assert!(report.contains("      secure=true\n"));
            out(&wired, "wm dismiss-keyguard").await;
        }
        let dump = out(&wired, "uiautomator dump /sdcard/d.xml; cat /sdcard/d.xml").await;
        assert!(dump.contains(":id/pinEntry\"") && dump.contains("Enter PIN"), "{release}: {dump}");
        out(&wired, "input text 9999; input keyevent 66").await;
        let dump = out(&wired, "uiautomator dump /sdcard/d.xml; cat /sdcard/d.xml").await;
        assert!(dump.contains("Wrong PIN"), "{release}: {dump}");
        out(&wired, "input text 123; input keyevent 11 66").await;
        assert!(!is_locked(&wired), "{release}");
    }
}

#[tokio::test]
async fn dark_screen_takes_no_touches_and_dumps_the_keyguard() {
    let wired = Wired::made(Setup::of_release("4.4").expect("a release"));
    out(&wired, "input keyevent 26").await;
    let power = out(&wired, "dumpsys power").await;
    assert_eq!(line(&power, "mWakefulness="), "mWakefulness=Asleep");
    out(&wired, "input tap 240 400; input swipe 240 550 460 550; input keyevent 82").await;
    assert!(is_locked(&wired));
    let dump = out(&wired, "uiautomator dump /sdcard/d.xml").await;
    assert_eq!(dump, "UI hierchary dumped to: /sdcard/d.xml\n");
    assert!(
        out(&wired, "cat /sdcard/d.xml").await.contains("com.android.keyguard:id/glow_pad_view")
    );
    // On Android 4.4 nothing but the power key wakes it: not MENU, and it has no WAKEUP.
    out(&wired, "input keyevent 224").await;
    assert!(!wired.phone.world(|world| world.screen_on()));
    for key in [82, 224] {
        let wired = Wired::new();
        out(&wired, "input keyevent 223").await;
        assert!(!wired.phone.world(|world| world.screen_on()));
        out(&wired, &format!("input keyevent {key}")).await;
        assert!(is_locked(&wired) && wired.phone.world(|world| world.screen_on()), "{key}");
    }
}

#[tokio::test]
async fn setup_decides_whether_there_is_a_keyguard_and_whether_it_boots_with_it() {
    let wired = Wired::made(Setup { screen_lock: ScreenLock::None, ..Setup::default() });
    out(&wired, "input keyevent 26; input keyevent 26").await;
    assert!(!is_locked(&wired));
    let wired = Wired::made(Setup { locked: true, ..Setup::default() });
    assert!(is_locked(&wired));
}
