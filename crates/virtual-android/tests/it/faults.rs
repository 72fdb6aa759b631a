//! Each fault over the wire, and what the phone records about it. The clock is paused: nobody
//! waits.

use crate::common::{Wired, tap};
use std::time::Duration;
use thumbwire_adb::{
    Error, Transport as _, exec, run, services::shell::read_to_end, services::sync,
};
use thumbwire_virtual_android::{ClockMode, Profile, Setup};
use thumbwire_virtual_phone::WindowKind;
use tokio::time::{Instant, timeout};

const NOTES: &str = "com.android.notes";

fn with(rules: &[&str]) -> Wired {
    let wired = Wired::new();
    add(&wired, rules);
    wired
}

fn add(wired: &Wired, rules: &[&str]) {
    rules.iter().for_each(|rule| wired.phone.add_fault(rule.parse().expect("a rule")));
}

/// The injected faults, and what triggered them.
fn struck(wired: &Wired) -> Vec<(&'static str, String)> {
    wired.phone.injections().into_iter().map(|strike| (strike.fault, strike.what)).collect()
}

async fn captured(wired: &Wired, command: &str) -> Result<Vec<u8>, Error> {
    read_to_end(exec(&wired.adb, command).await?, 1 << 30).await
}

async fn dump(wired: &Wired) -> String {
    wired.stdout("uiautomator dump /dev/tty").await
}

/// The bounds of the node with the text `words`.
fn bounds<'d>(dump: &'d str, text: &str) -> &'d str {
    let node = dump.split("<node ").find(|node| node.contains(&format!("text=\"{text}\"")));
    let node = node.unwrap_or_else(|| panic!("no node has the text {text} in {dump}"));
    node.split("bounds=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("bounds")
}

/// Opens Maps with the search field focused.
fn in_a_field(wired: &Wired) {
    wired.phone.world(|world| world.start("com.google.android.apps.maps", None)).expect("Maps");
    tap(wired, "Search here");
    assert_eq!(wired.phone.world(|world| world.focused_text()).as_deref(), Some(""));
}

#[tokio::test(start_paused = true)]
async fn offline_phone_recovers_after_its_silence() {
    let wired = with(&["offline:ms=5000,times=1,on=getprop"]);
    wired.run("id").await;
    let began = Instant::now();
    let asked = run(&wired.adb, "getprop ro.serialno");
    tokio::pin!(asked);
    assert!(timeout(Duration::from_millis(4_900), &mut asked).await.is_err(), "it answers");
    asked.await.expect("it answers at last");
    assert_eq!(began.elapsed().as_secs(), 5);
    assert_eq!(struck(&wired), [("offline", "getprop ro.serialno".into())]);
}

#[tokio::test(start_paused = true)]
async fn unauthorized_host_connects_after_the_owner_accepts() {
    let wired = with(&["unauthorized:times=1"]);
    let refused = run(&wired.adb, "id").await.expect_err("there is no key to show");
    assert!(matches!(refused, Error::Unauthorized { .. }), "{refused:?}");
    assert_eq!(struck(&wired), [("unauthorized", "connect".into())]);
    // The next connection meets no rule.
    wired.run("id").await;
}

#[tokio::test(start_paused = true)]
async fn slow_command_delays_host_and_phone() {
    let wired = with(&["slow:ms=3000,on=screencap"]);
    let (began, inside) = (Instant::now(), wired.phone.world(|world| world.uptime()));
    wired.run("wm size").await;
    assert_eq!(began.elapsed().as_millis(), 0);
    wired.run("screencap -p /sdcard/a.png").await;
    assert_eq!(began.elapsed().as_millis(), 3_000);
    let inside = wired.phone.world(|world| world.uptime()) - inside;
    assert!((3_300..3_400).contains(&inside.as_millis()), "{inside:?}");
    assert_eq!(struck(&wired), [("slow", "screencap -p".into())]);
}

#[tokio::test(start_paused = true)]
async fn connection_is_cut_after_its_byte_limit() {
    let wired = with(&["disconnect:at=20000,times=1"]);
    let failed = captured(&wired, "screencap -p").await.expect_err("cut");
    assert!(matches!(failed, Error::Disconnected { .. }), "{failed:?}");
    assert_eq!(struck(&wired), [("disconnect", "connect".into())]);
    assert!(captured(&wired, "screencap -p").await.expect("whole").starts_with(b"\x89PNG"));
}

#[tokio::test(start_paused = true)]
async fn cut_connection_ends_for_a_waiting_host() {
    // The greeting alone is longer.
    let wired = with(&["disconnect:at=30"]);
    let failed = timeout(Duration::from_secs(60), run(&wired.adb, "id")).await;
    assert!(failed.expect("it hangs").is_err());
}

#[tokio::test(start_paused = true)]
async fn garbage_corrupts_one_byte_per_block() {
    let wired = with(&["corrupt-output:every=100,on=uiautomator"]);
    let clean = Wired::new();
    let (spoilt, clean) = (wired.run("uiautomator dump /dev/tty").await, dump(&clean).await);
    let differ = spoilt.stdout.iter().zip(clean.bytes()).filter(|(a, b)| *a != b).count();
    assert_eq!(spoilt.stdout.len(), clean.len());
    assert!(differ.abs_diff(clean.len() / 100) <= 1, "{differ} of {}", clean.len());
    // The same rule corrupts the same bytes.
    let again = with(&["corrupt-output:every=100,on=uiautomator"]);
    assert_eq!(again.run("uiautomator dump /dev/tty").await.stdout, spoilt.stdout);
    assert_eq!(wired.stdout("getprop ro.serialno").await, "VP00000001\n");
}

#[tokio::test(start_paused = true)]
async fn corrupt_packet_breaks_connection_or_payload() {
    // A header has 24 bytes; the greeting's first byte is that of its command.
    let wired = with(&["corrupt-packets:at=0,times=1"]);
    let failed = timeout(Duration::from_secs(60), run(&wired.adb, "id")).await.expect("it hangs");
    assert!(matches!(failed, Err(Error::Protocol { .. })), "{failed:?}");
    assert_eq!(struck(&wired), [("corrupt-packets", "connect".into())]);
    wired.run("id").await;
    let wired = with(&["corrupt-packets:at=100000"]);
    let clean = Wired::new();
    let spoilt = captured(&wired, "screencap").await.expect("whole");
    let clean = captured(&clean, "screencap").await.expect("whole");
    assert_eq!(spoilt.iter().zip(&clean).filter(|(a, b)| a != b).count(), 1);
}

#[tokio::test(start_paused = true)]
async fn dump_not_idle_leaves_the_old_file() {
    let wired = Wired::new();
    wired.stdout("uiautomator dump /sdcard/w.xml").await;
    let before = wired.stdout("cat /sdcard/w.xml").await;
    add(&wired, &["dump-not-idle"]);
    wired.phone.world(|world| world.start(NOTES, None)).expect("Notes");
    let inside = wired.phone.world(|world| world.uptime());
    let output = wired.all("uiautomator dump /sdcard/w.xml").await;
    assert_eq!(output, (0, String::new(), "ERROR: could not get idle state.\n".into()));
    assert!(wired.phone.world(|world| world.uptime()) - inside >= Duration::from_secs(11));
    assert_eq!(wired.stdout("cat /sdcard/w.xml").await, before);
    assert_eq!(struck(&wired), [("dump-not-idle", "uiautomator dump".into())]);
}

#[tokio::test(start_paused = true)]
async fn killed_dump_is_half_written() {
    let wired = with(&["dump-killed"]);
    let (status, out, err) = wired.all("uiautomator dump /dev/tty").await;
    assert_eq!((status, err.as_str()), (137, "Killed\n"));
    assert!(out.starts_with("<?xml") && !out.contains("</hierarchy>"), "{out}");
    assert_eq!(struck(&wired), [("dump-killed", "uiautomator dump".into())]);
}

#[tokio::test(start_paused = true)]
async fn stale_dump_shows_the_previous_screen() {
    let wired = with(&["dump-stale:times=1"]);
    let home = dump(&wired).await;
    // The same screen again is not stale.
    assert_eq!(dump(&wired).await, home);
    assert_eq!(struck(&wired), []);
    wired.phone.world(|world| world.start(NOTES, None)).expect("Notes");
    assert_eq!(dump(&wired).await, home);
    assert_eq!(struck(&wired), [("dump-stale", "uiautomator dump".into())]);
    assert!(dump(&wired).await.contains("New note"));
}

#[tokio::test(start_paused = true)]
async fn text_loss_affects_one_command() {
    for (setup, command) in [
        (Setup::default(), "input text abcdefghi"),
        (
            Setup::of_release("4.4").expect("a release"),
            "CLASSPATH=/system/framework/input.jar app_process / com.android.commands.input.Input text abcdefghi",
        ),
    ] {
        let wired = Wired::made(setup);
        add(&wired, &["text-lost:every=3,times=1"]);
        in_a_field(&wired);
        wired.run(command).await;
        let field = || wired.phone.world(|world| world.focused_text()).unwrap_or_default();
        assert_eq!(field(), "abdegh");
        wired.run("input text xyz").await;
        assert_eq!(field(), "abdeghxyz");
        assert_eq!(wired.phone.injections().len(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn banner_moves_the_dumped_target() {
    let wired = with(&["layout-shift:times=1"]);
    for app in ["com.android.settings", NOTES, "com.google.android.apps.maps"] {
        wired.phone.world(|world| world.start(app, None)).expect("it is there");
        let text = match app {
            "com.android.settings" => "Display",
            NOTES => "Notes",
            _ => "Search here",
        };
        wired.phone.clear_faults();
        add(&wired, &["layout-shift:times=1"]);
        let (first, second) = (dump(&wired).await, dump(&wired).await);
        assert!(!first.contains("update_banner") && second.contains("update_banner"));
        let top = |dump: &str| bounds(dump, text).split([',', ']']).nth(1).map(str::to_owned);
        let top = |dump: &str| top(dump).and_then(|top| top.parse::<i32>().ok()).expect("a number");
        assert!(top(&second) > top(&first) + 50, "{app}: {} {}", top(&first), top(&second));
        add(&wired, &["layout-shift:times=1"]);
        dump(&wired).await;
        assert_eq!(dump(&wired).await, first, "the banner went, and nothing else has changed");
    }
    assert_eq!(struck(&wired)[0], ("layout-shift", "uiautomator dump".into()));
}

#[tokio::test(start_paused = true)]
async fn banner_behind_an_alert_is_no_opportunity() {
    let wired = with(&["popup:times=1", "layout-shift:after=1,times=1"]);
    wired.phone.world(|world| world.start(NOTES, None)).expect("Notes");
    dump(&wired).await;
    let alert = dump(&wired).await;
    assert_eq!(dump(&wired).await, alert);
    assert_eq!(struck(&wired), [("popup", "uiautomator dump".into())]);
    tap(&wired, "Later");
    let before = dump(&wired).await;
    assert_ne!(bounds(&dump(&wired).await, "Notes"), bounds(&before, "Notes"));
    assert_eq!(struck(&wired)[1].0, "layout-shift");
}

#[tokio::test(start_paused = true)]
async fn text_loss_affects_fields_from_any_source() {
    let wired = with(&["text-lost:every=3"]);
    wired.run("input text abc").await;
    assert_eq!(struck(&wired), [], "home has no field");
    in_a_field(&wired);
    wired.run("input keyboard text abc").await;
    assert_eq!(wired.phone.world(|world| world.focused_text()).as_deref(), Some("ab"));
}

#[tokio::test(start_paused = true)]
async fn keyboard_covers_the_screen_after_a_dump() {
    let wired = with(&["keyboard"]);
    let covered = |wired: &Wired| {
        wired.phone.world(|world| {
            let windows = &world.scene().windows;
            windows.iter().any(|window| window.kind == WindowKind::InputMethod)
        })
    };
    // Without a field there is no opportunity.
    dump(&wired).await;
    assert_eq!(struck(&wired), []);
    in_a_field(&wired);
    wired.run("input keyevent BACK").await;
    assert!(!covered(&wired));
    dump(&wired).await;
    assert!(covered(&wired));
    assert_eq!(struck(&wired), [("keyboard", "uiautomator dump".into())]);
}

#[tokio::test(start_paused = true)]
async fn touch_crashes_the_app_in_front() {
    let wired = with(&["app-crash:times=1"]);
    wired.run("input tap 10 300").await;
    assert_eq!(struck(&wired), [], "home does not crash");
    wired.phone.world(|world| world.start(NOTES, None)).expect("Notes");
    wired.run("input tap 10 300").await;
    assert_eq!(struck(&wired), [("app-crash", "input tap".into())]);
    assert_eq!(wired.phone.world(|world| world.pid_of(NOTES)), None);
    assert!(wired.stdout("logcat -d -b crash").await.contains(&format!("Process: {NOTES}")));
}

#[tokio::test(start_paused = true)]
async fn alert_covers_the_app_after_a_dump() {
    let wired = with(&["popup"]);
    wired.phone.world(|world| world.start(NOTES, None)).expect("Notes");
    assert!(!dump(&wired).await.contains("Software update"));
    let alert = dump(&wired).await;
    assert!(alert.contains("Software update"), "{alert}");
    assert_eq!(struck(&wired), [("popup", "uiautomator dump".into())], "one at a time");
    tap(&wired, "Later");
    assert!(dump(&wired).await.contains("New note"));
}

#[tokio::test(start_paused = true)]
async fn touch_makes_the_app_in_front_hang() {
    let wired = with(&["anr"]);
    wired.phone.world(|world| world.start(NOTES, None)).expect("Notes");
    wired.run("input tap 10 300").await;
    wired.run("input tap 10 300").await;
    assert_eq!(struck(&wired), [("anr", "input tap".into())], "it hangs already");
    assert!(dump(&wired).await.contains("isn't responding"));
    assert!(wired.stdout("logcat -d").await.contains(&format!("ANR in {NOTES}")));
}

#[tokio::test(start_paused = true)]
async fn full_disk_refuses_writes_until_a_deletion() {
    let wired = Wired::new();
    wired.run("screencap -p /sdcard/old.png").await;
    add(&wired, &["disk-full:times=1"]);
    let (status, _, err) = wired.all("screencap -p /sdcard/a.png").await;
    assert_eq!((status, err.as_str()), (1, "screencap: write: No space left on device\n"));
    let pushed = sync::push(&wired.adb, "/sdcard/b", 0o644, 0, &b"bytes"[..]).await;
    let output = pushed.expect_err("no space").to_string();
    assert!(output.contains("No space left on device"), "{output}");
    let (status, out, err) =
        wired.all("screenrecord --size 96x208 --time-limit 1 /sdcard/c.mp4").await;
    assert_ne!(status, 0, "{out} {err}");
    wired.stdout("rm /sdcard/old.png").await;
    sync::push(&wired.adb, "/sdcard/b", 0o644, 0, &b"bytes"[..]).await.expect("there is room");
    assert_eq!(struck(&wired), [("disk-full", "screencap -p".into())]);
    // A push is an opportunity too.
    let wired = with(&["disk-full"]);
    assert!(sync::push(&wired.adb, "/sdcard/b", 0o644, 0, &b"bytes"[..]).await.is_err());
    assert_eq!(struck(&wired), [("disk-full", "push b".into())]);
}

#[tokio::test(start_paused = true)]
async fn secure_window_fault_blackens_only_screenshots() {
    let wired = with(&["secure-window"]);
    wired.phone.world(|world| world.start(NOTES, None)).expect("Notes");
    let raw = captured(&wired, "screencap").await.expect("whole");
    let middle = 16 + (1_200 * 1_080 + 540) * 4;
    assert_eq!(raw[middle..middle + 4], [0, 0, 0, 255]);
    assert!(dump(&wired).await.contains("New note"));
    wired.run("screencap -p /sdcard/a.png").await;
    assert_eq!(struck(&wired), [("secure-window", "screencap".into())], "once is enough");
    // adbd's own screenshot service is an opportunity too.
    let wired = with(&["secure-window"]);
    let stream = wired.adb.open("framebuffer:").await.expect("opened");
    read_to_end(stream, 1 << 30).await.expect("whole");
    assert_eq!(struck(&wired), [("secure-window", "framebuffer".into())]);
}

#[tokio::test(start_paused = true)]
async fn adb_restart_cuts_all_connections() {
    let wired = with(&["adb-restart:times=1,on=input"]);
    let stream = exec(&wired.adb, "logcat").await.expect("opened");
    let failed = run(&wired.adb, "input tap 10 300").await;
    assert!(matches!(failed, Err(Error::Disconnected { .. })), "{failed:?}");
    assert!(matches!(read_to_end(stream, 1 << 30).await, Err(Error::Disconnected { .. })));
    wired.stdout("id").await;
    assert_eq!(struck(&wired), [("adb-restart", "input tap".into())]);
}

#[tokio::test(start_paused = true)]
async fn rules_trigger_independently_of_each_other() {
    let when = async |rules: &[&str]| {
        let wired = with(rules);
        for _ in 0..60 {
            wired.run("getprop ro.serialno").await;
            wired.run("wm size").await;
        }
        let strikes = wired.phone.injections();
        let slow = strikes.iter().filter(|strike| strike.fault == "corrupt-output");
        slow.map(|strike| strike.at.as_millis()).collect::<Vec<_>>()
    };
    let rule = "corrupt-output:p=0.3,seed=7,on=getprop";
    let alone = when(&[rule]).await;
    assert!((8..28).contains(&alone.len()), "{}", alone.len());
    let others = [rule, "text-lost:p=0.5", "corrupt-packets:p=0", "disk-full:p=0.5,on=wm"];
    assert_eq!(when(&others).await, alone);
    assert_ne!(when(&["corrupt-output:p=0.3,seed=8,on=getprop"]).await, alone);
}

#[tokio::test(start_paused = true)]
async fn injection_record_omits_typed_text() {
    let wired = with(&["text-lost"]);
    in_a_field(&wired);
    wired.run("input text hunter2").await;
    let strike = wired.phone.wait_for_injection(0).await;
    assert_eq!((strike.fault, strike.what.as_str()), ("text-lost", "input text"));
}

/// The cable's bandwidth costs time if the phone runs in real time.
#[tokio::test(start_paused = true)]
async fn big_file_takes_the_cables_time() {
    for (profile, least, most) in [(Profile::Pixel, 270, 400), (Profile::Old, 3_300, 3_700)] {
        let wired = Wired::made(Setup { profile, clock: ClockMode::Real, ..Setup::default() });
        let bytes = vec![7; 10_000_000];
        let began = Instant::now();
        sync::push(&wired.adb, "/sdcard/big", 0o644, 0, &bytes[..]).await.expect("pushed");
        let took = began.elapsed().as_millis();
        assert!((least..most).contains(&took), "{profile:?}: {took} ms");
    }
}
