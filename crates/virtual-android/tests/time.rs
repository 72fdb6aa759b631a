//! Virtual and real time, and how long things take. Nobody waits here: the clock is paused.

mod common;

use common::{Wired, tap};
use std::time::Duration;
use thumbwire_virtual_android::{ClockMode, Profile, Setup};
use thumbwire_virtual_phone::WindowKind;
use tokio::time::{Instant, advance};

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
            // An image of unknown size is sent; timers are accurate to a millisecond, and a swipe has thirty.
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
