//! Whose time a phone lives in, and what things take there. Nobody waits here: the clock is held.

mod common;

use common::{Wired, tap};
use std::time::Duration;
use thumbwire_virtual_phone::world::WindowKind;
use thumbwire_virtual_phone::{Clock, Profile, Setup};
use tokio::time::{Instant, advance};

fn outside(profile: Profile) -> Wired {
    Wired::made(Setup { profile, clock: Clock::Outside, ..Setup::default() })
}

/// What a command takes outside, and on the phone's own clock, in milliseconds.
async fn taken(wired: &Wired, command: &str) -> (u128, u128) {
    let uptime = || wired.phone.world(|world| world.uptime());
    let (inside, began) = (uptime(), Instant::now());
    wired.run(command).await;
    (began.elapsed().as_millis(), (uptime() - inside).as_millis())
}

#[tokio::test(start_paused = true)]
async fn in_virtual_time_nobody_waits_and_the_phone_stands_still_between_commands() {
    let wired = Wired::new();
    let (outside, inside) = taken(&wired, "uiautomator dump; sleep 60").await;
    assert_eq!((outside, inside), (0, 61_000));
    let before = wired.phone.world(|world| world.uptime());
    advance(Duration::from_secs(3_600)).await;
    assert_eq!(wired.phone.world(|world| world.uptime()), before);
}

#[tokio::test(start_paused = true)]
async fn commands_of_a_phone_that_lives_outside_take_their_time_there() {
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
            // A picture of unknown size goes over the cable; timers are good to a millisecond, and a swipe has thirty.
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
async fn on_an_instant_phone_nobody_waits_though_its_clock_goes_on() {
    let wired = outside(Profile::Instant);
    assert_eq!(taken(&wired, "uiautomator dump; input tap 1 1").await, (0, 0));
    let (outside, inside) = taken(&wired, "input swipe 500 900 500 800 300; sleep 60").await;
    assert_eq!((outside, inside), (0, 60_300));
    advance(Duration::from_secs(5)).await;
    assert_eq!(wired.phone.world(|world| world.uptime().as_secs()), 65);
}

#[tokio::test(start_paused = true)]
async fn a_phone_that_lives_outside_goes_on_while_nobody_asks_it_anything() {
    let wired = outside(Profile::Pixel);
    assert!(wired.said("uiautomator dump /dev/tty").await.contains("Maps"));
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
    assert_eq!(wired.said("date +%T").await, "10:01:31\n");
}

/// The screen of a running stopwatch never rests.
#[tokio::test(start_paused = true)]
async fn a_dump_waits_ten_seconds_for_a_screen_that_never_rests() {
    let wired = outside(Profile::Pixel);
    wired.phone.world(|world| world.start("com.google.android.deskclock", None)).expect("Clock");
    tap(&wired, "Stopwatch");
    tap(&wired, "Start");
    let (took, _) = taken(&wired, "uiautomator dump").await;
    assert!((11_000..11_100).contains(&took), "{took}");
}

#[tokio::test(start_paused = true)]
async fn a_recording_of_a_phone_that_lives_outside_lasts_as_long_as_it_says() {
    let wired = outside(Profile::Pixel);
    let (took, inside) =
        taken(&wired, "screenrecord --size 96x208 --time-limit 3 /sdcard/a.mp4").await;
    assert!((3_100..3_200).contains(&took), "{took}");
    assert!(inside.abs_diff(took) <= 20, "{inside}");
}

#[tokio::test(start_paused = true)]
async fn the_log_tells_of_a_start_what_its_caller_is_told() {
    for (profile, told, logged) in [
        (Profile::Instant, 0, "+1ms"),
        (Profile::Pixel, 300, "+300ms"),
        (Profile::Old, 700, "+700ms"),
    ] {
        let wired = Wired::made(Setup { profile, ..Setup::default() });
        let said = wired.said("am start -W -n com.android.settings/.Settings").await;
        assert!(said.contains(&format!("\nTotalTime: {told}\n")), "{said}");
        let log = wired.said("logcat -d | grep 'Displayed com.android.settings'").await;
        assert!(log.trim_end().ends_with(logged), "{log}");
    }
}
