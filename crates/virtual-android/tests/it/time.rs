//! Virtual and real time, and how long things take. Nobody waits here: the clock is paused.

use crate::common::{Wired, tap};
use std::time::Duration;
use thumbwire_virtual_android::{ClockMode, Profile, Setup};
use thumbwire_virtual_phone::WindowKind;
use tokio::time::{Instant, advance, timeout};

fn outside(profile: Profile) -> Wired {
    Wired::made(Setup { profile, clock: ClockMode::Real, ..Setup::default() })
}

/// The duration of a command in real time and on the phone's clock, in milliseconds.
async fn taken(wired: &Wired, command: &str) -> (u128, u128) {
    let uptime = || wired.phone.world(|world| world.uptime());
    let (inside, began) = (uptime(), Instant::now());
    wired.run(command).await;
    (began.elapsed().as_millis(), (uptime() - inside).as_millis())
}

#[tokio::test(start_paused = true)]
async fn virtual_time_stops_between_commands() {
    let wired = Wired::new();
    let (outside, inside) = taken(&wired, "uiautomator dump; sleep 60").await;
    assert_eq!((outside, inside), (0, 61_000));
    let before = wired.phone.world(|world| world.uptime());
    advance(Duration::from_secs(3_600)).await;
    assert_eq!(wired.phone.world(|world| world.uptime()), before);
}

#[tokio::test(start_paused = true)]
async fn commands_take_real_time_on_a_real_clock() {
    let commands = [
        ("uiautomator dump", 1_000, 2_500),
        ("screencap -p", 302, 2_610),
        // 10 MB over the cable.
        ("screencap", 102 + 285, 880 + 3_400),
        ("input tap 500 100", 40, 700),
        ("input swipe 500 900 500 800 300", 340, 1_000),
        ("sleep 5", 5_000, 5_000),
    ];
    for (command, pixel, old) in commands {
        for (profile, expected) in [(Profile::Pixel, pixel), (Profile::Old, old)] {
            let (outside, inside) = taken(&outside(profile), command).await;
            // An image of unknown size is sent; timers are accurate to a millisecond, and a swipe
            // has thirty.
            let most = expected + 40 + expected / 3;
            assert!((expected..most).contains(&outside), "{command} {profile:?}: {outside} ms");
            assert!(
                inside.abs_diff(outside) <= 20,
                "{command}: {outside} ms, {inside} on the phone"
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn instant_phone_never_waits() {
    let wired = outside(Profile::Instant);
    assert_eq!(taken(&wired, "uiautomator dump; input tap 1 1").await, (0, 0));
    let (outside, inside) = taken(&wired, "input swipe 500 900 500 800 300; sleep 60").await;
    assert_eq!((outside, inside), (0, 60_300));
    advance(Duration::from_secs(5)).await;
    assert_eq!(wired.phone.world(|world| world.uptime().as_secs()), 65);
}

#[tokio::test(start_paused = true)]
async fn real_clock_runs_between_commands() {
    let wired = outside(Profile::Pixel);
    assert!(wired.stdout("uiautomator dump /dev/tty").await.contains("Maps"));
    let clock = |wired: &Wired| {
        wired.phone.world(|world| {
            let windows = &world.scene().windows;
            let bar = windows.iter().find(|window| window.kind == WindowKind::StatusBar);
            let nodes = bar.expect("a status bar").root.walk();
            let clock = nodes.into_iter().find(|node| node.text.contains(':'));
            clock.expect("a clock").text.clone()
        })
    };
    assert_eq!(clock(&wired), "10:00");
    advance(Duration::from_secs(90)).await;
    assert_eq!(clock(&wired), "10:01");
    assert_eq!(wired.stdout("date +%T").await, "10:01:31\n");
}

/// The screen of a running stopwatch is never idle.
#[tokio::test(start_paused = true)]
async fn dump_waits_ten_seconds_for_a_busy_screen() {
    let wired = outside(Profile::Pixel);
    wired.phone.world(|world| world.start("com.google.android.deskclock", None)).expect("Clock");
    tap(&wired, "Stopwatch");
    tap(&wired, "Start");
    let (took, _) = taken(&wired, "uiautomator dump").await;
    assert!((11_000..11_100).contains(&took), "{took}");
}

#[tokio::test(start_paused = true)]
async fn recording_takes_real_time_on_a_real_clock() {
    let wired = outside(Profile::Pixel);
    let (took, inside) =
        taken(&wired, "screenrecord --size 96x208 --time-limit 3 /sdcard/a.mp4").await;
    assert!((3_100..3_200).contains(&took), "{took}");
    assert!(inside.abs_diff(took) <= 20, "{inside}");
}

#[tokio::test(start_paused = true)]
async fn logged_start_time_matches_am() {
    for (profile, output_of, logged) in [
        (Profile::Instant, 0, "+1ms"),
        (Profile::Pixel, 300, "+300ms"),
        (Profile::Old, 700, "+700ms"),
    ] {
        let wired = Wired::made(Setup { profile, ..Setup::default() });
        let output = wired.stdout("am start -W -n com.android.settings/.Settings").await;
        assert!(output.contains(&format!("\nTotalTime: {output_of}\n")), "{output}");
        let log = wired.stdout("logcat -d | grep 'Displayed com.android.settings'").await;
        assert!(log.trim_end().ends_with(logged), "{log}");
    }
}

/// A phone whose search field has the focus.
fn searching(setup: Setup) -> Wired {
    let wired = Wired::made(setup);
    wired.phone.world(|world| world.start("com.google.android.apps.maps", None)).expect("Maps");
    tap(&wired, "Search here");
    assert_eq!(field(&wired), "");
    wired
}

fn field(wired: &Wired) -> String {
    wired.phone.world(|world| world.focused_text()).expect("a field has the focus")
}

/// `input text` stamps all keys at its start, and keys older than ten seconds are dropped.
#[tokio::test(start_paused = true)]
async fn slow_phone_loses_what_comes_ten_seconds_after_the_start_of_a_text() {
    let old = Setup { profile: Profile::Old, ..Setup::default() };
    for setup in [old.clone(), Setup::of_release("4.4").expect("a release")] {
        let wired = searching(setup);
        wired.run(&format!("input text {}", "a".repeat(200))).await;
        assert_eq!(field(&wired), "a".repeat(112), "a key takes 90 ms");
        let log = wired.run("logcat -d").await.stdout;
        let dropped = String::from_utf8_lossy(&log).matches("event because it is stale").count();
        assert_eq!(dropped, 2 * 88);
        // Each `input` has its own stamp; a capital letter takes a key more.
        wired.run(&format!("input text {0}; input text {0}", "B".repeat(50))).await;
        assert_eq!(field(&wired).len(), 212);
        wired.run(&format!("input text {}", "C".repeat(80))).await;
        assert_eq!(field(&wired).len(), 212 + 56);
        // `input keyevent` stamps each key when it presses it.
        wired.run(&format!("input keyevent{}", " 67".repeat(200))).await;
        assert_eq!(field(&wired).len(), 68);
    }
    for profile in [Profile::Pixel, Profile::Instant] {
        let wired = searching(Setup { profile, ..Setup::default() });
        wired.run(&format!("input text {}", "a".repeat(900))).await;
        assert_eq!(field(&wired).len(), 900, "{profile:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn text_grows_while_it_is_typed() {
    let setup = Setup { profile: Profile::Old, clock: ClockMode::Real, ..Setup::default() };
    let wired = searching(setup);
    let began = Instant::now();
    let text = format!("input text {}", "a".repeat(50));
    let typing = wired.run(&text);
    let looking = async {
        let while_typing = Duration::from_millis(700 + 20 * 90);
        let _ = timeout(while_typing, std::future::pending::<()>()).await;
        let seen = field(&wired).len();
        assert!((18..=22).contains(&seen), "{seen}");
        wired.stdout("echo ready").await
    };
    let (_, ready) = tokio::join!(typing, looking);
    assert_eq!((ready.as_str(), field(&wired).len()), ("ready\n", 50));
    assert!(began.elapsed() >= Duration::from_millis(50 * 90));
}
