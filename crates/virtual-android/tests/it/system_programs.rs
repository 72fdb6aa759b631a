//! Android's own programs and services beyond apps and screens: `content`, `appops`, `top`,
//! `getevent`, `svc`, `cmd` and others: a golden for each release, and that what is changed stays
//! changed.

use crate::common::difference::goldens;
use crate::common::{Wired, capture};
use thumbwire_virtual_android::Setup;

fn of(release: &str) -> Wired {
    Wired::made(Setup::of_release(release).expect("it is there"))
}

#[tokio::test]
async fn every_release_matches_its_golden() {
    let newest = include_str!("snapshots/it__system_programs__programs-of-16.snap");
    for (release, text) in goldens(newest, str::to_owned).await {
        insta::assert_snapshot!(format!("programs-of-{release}"), text);
    }
}

/// The fixed part of each line.
fn names(text: &str) -> Vec<String> {
    let cut = |line: &str| {
        let line = line.trim_start();
        // `1: gpio-keys`, `Device 2: virtual_touch`
        if line.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
            return String::new();
        }
        let name = line.split(['=', ':', '{', '(']).next().unwrap_or_default();
        name.trim_end_matches(|c: char| c.is_ascii_digit() || c == ' ').to_owned()
    };
    text.lines().map(cut).filter(|name| !name.is_empty()).collect()
}

#[tokio::test]
async fn input_reports_have_only_lines_of_real_phones() {
    for (release, file) in [
        ("4.4", "android-4.4.4/437-dumpsys-input-rotated.out"),
        ("16", "shell/input/honor-phone_recent.txt"),
    ] {
        let Some(real) = capture(file) else { continue };
        let mut real = names(&real);
        // The recorded 4.4.4 had no touch panel then.
        real.extend(
            capture("shell/input/phone_external-touch.txt").map_or(vec![], |it| names(&it)),
        );
        let ours = String::from_utf8(of(release).run("dumpsys input").await.stdout).expect("text");
        let ours = ours.replace("\r\n", "\n");
        let odd: Vec<_> = names(&ours)
            .into_iter()
            .filter(|name| !real.contains(name) && !KNOWN_OF_4.contains(&name.as_str()))
            .collect();
        assert!(odd.is_empty(), "{release}: {odd:#?}");
    }
}

/// Lines of a running 4.4.4 with a touch panel.
const KNOWN_OF_4: [&str; 9] = [
    "Last Button State",
    "Motion Ranges",
    "PRESSURE",
    "Viewport",
    "SurfaceWidth",
    "SurfaceHeight",
    "SurfaceLeft",
    "SurfaceTop",
    "SurfaceOrientation",
];

#[tokio::test]
async fn content_and_settings_agree() {
    let wired = Wired::new();
    wired
        .stdout(
            "content insert --uri content://settings/secure --bind name:s:note --bind value:s:one",
        )
        .await;
    assert_eq!(wired.stdout("settings get secure note").await, "one\n");
    wired.stdout("content update --uri content://settings/secure --bind value:s:two --where \"name='note'\"").await;
    let query = "content query --uri content://settings/secure/note --projection value";
    assert_eq!(wired.stdout(query).await, "Row: 0 value=two\n");
    wired.stdout("content delete --uri content://settings/secure --where \"name='note'\"").await;
    assert_eq!(wired.stdout("settings get secure note").await, "null\n");
    assert_eq!(wired.stdout(query).await, "No result found.\n");
}

#[tokio::test]
async fn contacts_provider_lists_the_people_of_the_app() {
    let wired = Wired::new();
    let people = wired.phone.world(|world| world.people());
    let query = "content query --uri content://com.android.contacts/data/phones --projection display_name:data1";
    let rows = wired.stdout(query).await;
    assert_eq!(rows.lines().count(), people.len());
    let first = format!("Row: 0 display_name={}, data1={}", people[0].name, people[0].phone);
    assert_eq!(rows.lines().next(), Some(first.as_str()));
}

#[tokio::test]
async fn modes_flags_and_languages_are_stored() {
    let wired = Wired::new();
    for (command, output) in [
        ("appops set com.example.shop CAMERA ignore", ""),
        ("appops get com.example.shop CAMERA", "CAMERA: ignore\n"),
        ("cmd appops get com.example.shop android:camera", "CAMERA: ignore\n"),
        ("appops query-op CAMERA ignore", "com.example.shop\n"),
        (
            "appops reset com.example.shop",
            "Reset all modes for: user 0, package com.example.shop\n",
        ),
        ("appops get com.example.shop CAMERA", "No operations.\nDefault mode: allow\n"),
        ("svc bluetooth disable", ""),
        ("settings get global bluetooth_on", "0\n"),
        ("svc power stayon usb", ""),
        ("settings get global stay_on_while_plugged_in", "2\n"),
        ("media volume --stream 3 --set 9 --get | tail -1", "[v] volume is 9 in range [0..15]\n"),
    ] {
        assert_eq!(wired.stdout(command).await, output, "{command}");
    }
}

#[tokio::test]
async fn processes_have_the_same_numbers_in_every_report() {
    for release in ["4.4", "14"] {
        let wired = of(release);
        wired.run("am start -n com.android.notes/.NotesActivity").await;
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
        let ps = text(wired.run("ps | grep com.android.notes").await.stdout);
        let ps_all = text(wired.run("ps -A | grep com.android.notes").await.stdout);
        let pid = (ps + &ps_all).split_whitespace().nth(1).expect("it runs").to_owned();
        let top = text(wired.run("top -n 1").await.stdout);
        let row = top.lines().find(|line| line.contains("com.android.notes")).expect("a row");
        assert_eq!(row.split_whitespace().next(), Some(pid.as_str()), "{release}");
        let graphics = text(wired.run("dumpsys gfxinfo com.android.notes").await.stdout);
        assert!(graphics.contains(&format!("for pid {pid} [com.android.notes]")), "{graphics}");
        let views = wired
            .phone
            .world(|world| world.scene().focused().expect("a window").root.walk().count());
        assert!(graphics.contains(&format!("  {views} views, ")), "{graphics}");
        let memory = text(wired.run("dumpsys meminfo com.android.notes").await.stdout);
        assert!(memory.contains(&format!("in pid {pid} [com.android.notes] **")), "{memory}");
        let size = |line: &str| line.split_whitespace().find_map(|word| word.parse::<u64>().ok());
        let (parts, rest) = memory.split_once("  TOTAL ").expect("a table");
        let parts = parts.lines().skip_while(|line| !line.contains("------")).filter_map(size);
        if release != "4.4" {
            assert_eq!(Some(parts.sum()), size(rest), "{memory}");
        }
        let cpu = text(wired.run("dumpsys cpuinfo").await.stdout);
        assert!(cpu.contains(&format!(" {pid}/com.android.notes: 0% user")), "{cpu}");
        let input = text(wired.run("dumpsys input").await.stdout);
        assert!(input.contains(&format!("ownerPid={pid},")), "{input}");
    }
}

#[tokio::test]
async fn input_report_follows_the_screen() {
    let wired = Wired::new();
    wired
        .stdout("settings put system accelerometer_rotation 0; settings put system user_rotation 1")
        .await;
    let report = wired.stdout("dumpsys input").await;
    assert!(report.contains("      InputDeviceOrientation: 1\n"), "{report}");
    assert!(report.contains("orientation=1, logicalFrame=[0, 0, 2400, 1080]"), "{report}");
}

#[tokio::test]
async fn ping_fails_without_wifi() {
    let wired = Wired::new();
    let statistics = "1 packets transmitted, 1 received, 0% packet loss, time 0ms";
    assert!(wired.stdout("ping -c 1 192.0.2.15").await.contains(statistics));
    wired.stdout("svc wifi disable").await;
    let (status, out, err) = wired.all("ping -c 1 192.0.2.15").await;
    assert_eq!((status, out.as_str(), err.as_str()), (2, "", "connect: Network is unreachable\n"));
}
