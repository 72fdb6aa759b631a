//! The phone's apps from a host's view: how they interact with the shell and the files.

use crate::common::Wired;

const CLOCK: &str = "com.google.android.deskclock";
const FILES: &str = "com.android.documentsui";

/// Taps the middle of a dump's first node with this text or id.
async fn tap(wired: &Wired, text: &str) {
    let dump = wired.stdout("uiautomator dump /dev/tty").await;
    let node = dump.split("<node").find(|node| node.contains(text));
    let node = node.unwrap_or_else(|| panic!("no {text} in {dump}"));
    let bounds = node.split("bounds=\"").nth(1).expect("bounds");
    let bounds = bounds.split('"').next().expect("bounds");
    let edges = bounds.split(|c: char| !c.is_ascii_digit()).filter_map(|edge| edge.parse().ok());
    let edges: Vec<i32> = edges.collect();
    let (x, y) = (i32::midpoint(edges[0], edges[2]), i32::midpoint(edges[1], edges[3]));
    wired.stdout(&format!("input tap {x} {y}")).await;
}

#[tokio::test]
async fn only_an_idle_screen_can_be_dumped() {
    let wired = Wired::new();
    wired.stdout(&format!("am start -n {CLOCK}/com.android.deskclock.DeskClock")).await;
    tap(&wired, "tab_menu_timer").await;
    tap(&wired, "timer_setup_digit_3").await;
    tap(&wired, "id/fab").await;
    assert!(wired.phone.world(|world| world.keeps_moving()));
    let before = wired.phone.world(|world| world.uptime());
    let dump = wired.stdout("uiautomator dump /dev/tty").await;
    assert!(dump.contains("Time's up"), "it waited the three seconds that were left");
    let waited = wired.phone.world(|world| world.uptime()) - before;
    assert!(waited.as_secs() < 10, "{waited:?}");

    tap(&wired, "tab_menu_stopwatch").await;
    tap(&wired, "id/fab").await;
    let before = wired.phone.world(|world| world.uptime());
    let (status, stdout, wrong) = wired.all("uiautomator dump /sdcard/look.xml").await;
    assert_eq!((status, stdout.as_str()), (0, ""));
    assert_eq!(wrong, "ERROR: could not get idle state.\n");
    let waited = wired.phone.world(|world| world.uptime()) - before;
    assert!(waited.as_secs() >= 10, "{waited:?}");
    let (status, ..) = wired.all("ls /sdcard/look.xml").await;
    assert_ne!(status, 0, "nothing was written");
}

#[tokio::test]
async fn files_app_shows_and_changes_the_shells_storage() {
    let wired = Wired::new();
    wired
        .stdout("mkdir -p /sdcard/Download/Trip && echo hello > /sdcard/Download/Trip/day1.txt")
        .await;
    let activity = "com.android.documentsui.files.FilesActivity";
    wired.stdout(&format!("am start -n {FILES}/{activity}")).await;
    tap(&wired, "text=\"Download\"").await;
    tap(&wired, "text=\"Trip\"").await;
    wired.stdout("echo more > /sdcard/Download/Trip/day2.txt").await;
    let dump = wired.stdout("uiautomator dump /dev/tty").await;
    assert!(
        dump.contains("day1.txt") && dump.contains("day2.txt") && dump.contains("6 B"),
        "{dump}"
    );
    tap(&wired, "option_menu_create_dir").await;
    wired.stdout("input text Photos").await;
    tap(&wired, "android:id/button1").await;
    assert_eq!(wired.stdout("ls /sdcard/Download/Trip").await, "Photos\nday1.txt\nday2.txt\n");
    wired.stdout("input keyevent BACK").await;
    wired.stdout("input keyevent BACK").await;
    wired.phone.world(|world| {
        let root = &world.scene().focused().expect("a window").root;
        let row = root.walk().find(|node| node.text == "Download").expect("the folder").bounds;
        let at = row.center();
        world.pointer(thumbwire_virtual_phone::TouchPhase::Down, at);
        world.advance(world.uptime() + std::time::Duration::from_secs(1));
        world.pointer(thumbwire_virtual_phone::TouchPhase::Up, at);
    });
    tap(&wired, "android:id/button1").await;
    let (status, ..) = wired.all("ls /sdcard/Download").await;
    assert_ne!(status, 0, "the folder is gone with all in it");
}
