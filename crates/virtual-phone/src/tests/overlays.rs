//! System windows over an app: who gets touches and keys, what a dump shows, what is restored
//! afterwards.

use super::*;
use crate::input::KeyCode;
use crate::log::Buffer;
use crate::storage::StorageRequest;

const NO: &str = "java.lang.IllegalStateException: no";

fn title(world: &mut World) -> String {
    world.scene().focused().unwrap().title.clone()
}

fn logged(world: &World, text: &str) -> bool {
    world.log().lines().any(|line| format!("{} {}", line.tag, line.text).contains(text))
}

#[test]
fn alert_blocks_touches_and_keys_until_answered() {
    let mut world = app(NOTES, &["New note"]);
    type_text(&mut world, "half a w");
    let behind = world.scene().windows[0].root.clone();
    world.pop_up("Software update", "Android 15 is ready to install.");
    assert_eq!(title(&mut world), "SystemUIDialog");
    assert!(!world.keyboard_shown(), "the keyboard gives way");
    assert!(!world.type_char('x'), "no field has the focus");
    assert!(shows(&mut world, "Software update") && !shows(&mut world, "half a w"));
    let hidden = behind.walk().find(|node| node.description == "Navigate up").unwrap().bounds;
    tap_at(&mut world, hidden.center());
    assert!(shows(&mut world, "Software update"), "a touch beside it does nothing");
    tap(&mut world, "Later");
    assert_eq!(world.foreground().package, NOTES);
    assert!(world.keyboard_shown());
    type_text(&mut world, "ord");
    assert_eq!(world.focused_text().as_deref(), Some("half a word"));
}

#[test]
fn whole_dialog_is_reachable_in_a_low_window() {
    let turned = Display { width: 800, height: 480, density: 240, rotation: 1 };
    let start = |package: &str| {
        let mut world = World::new(Setup { display: turned, ..Setup::default() });
        world.start(package, None).unwrap();
        world
    };
    let mut files = start(FILES);
    files.set_rotation(0);
    tap(&mut files, "New folder");
    files.set_rotation(1);
    let field =
        files.scene().focused().unwrap().root.walk().find(|node| node.flags.focused).unwrap();
    assert_eq!(field.bounds, field.full, "what has the focus is in sight");
    type_text(&mut files, "Trip");
    assert!(files.keyboard_shown());
    tap_all(&mut files, &["android:id/button1"]);
    assert_eq!(files.take_requests(), [StorageRequest::MakeFolder("Trip".to_owned())]);
    let mut asking = start(MAPS);
    tap(&mut asking, "mylocation_button");
    tap_all(&mut asking, &["Approximate"]);
    let list = asking.scene().focused().unwrap().bounds;
    let (x, middle) = (list.center().x, list.center().y);
    drag(&mut asking, (x, middle), (x, middle - 400));
    let last = node(&mut asking, "permission_deny_button").unwrap();
    assert_eq!(last.bounds, last.full, "nothing of it is cut");
    asking.pop_up("Software update", &"A line of its own.\n".repeat(40));
    tap_all(&mut asking, &["Later"]);
    assert!(!shows(&mut asking, "Software update"));
}

#[test]
fn back_closes_the_topmost_alert() {
    let mut world = app(SETTINGS, &[]);
    world.pop_up("First", "1");
    world.pop_up("Second", "2");
    assert!(shows(&mut world, "Second") && !shows(&mut world, "First"));
    world.key(KeyCode::BACK);
    assert!(shows(&mut world, "First"));
    world.key(KeyCode::BACK);
    assert!(shows(&mut world, "Network & internet"));
    for _ in 0..100 {
        world.pop_up("Again", "and again");
    }
    assert!(world.scene().windows.len() < 30);
}

#[test]
fn alert_can_be_answered_with_remote_control_keys() {
    let mut world = app(SETTINGS, &[]);
    world.pop_up("Software update", "Now?");
    world.key(KeyCode::TAB);
    assert!(node(&mut world, "android:id/button2").unwrap().flags.focused);
    world.key(KeyCode::DPAD_RIGHT);
    assert!(node(&mut world, "android:id/button1").unwrap().flags.focused);
    world.key(KeyCode::DPAD_CENTER);
    assert!(shows(&mut world, "Network & internet"));
}

#[test]
fn hanging_app_ignores_touches_until_wait() {
    let mut world = app(CLOCK, &["Stopwatch", "Start"]);
    assert!(world.keeps_moving());
    assert!(!world.stop_responding(SHOP), "it does not run");
    assert!(world.stop_responding(CLOCK));
    assert_eq!(title(&mut world), "Application Not Responding: com.google.android.deskclock");
    assert_eq!(world.scene().focused().unwrap().package, "android");
    assert!(node(&mut world, "android:id/aerr_close").is_some());
    let behind = |world: &mut World| world.scene().windows[0].root.clone();
    let before = behind(&mut world);
    wait(&mut world, Duration::from_secs(90));
    assert_eq!(behind(&mut world), before, "it stands still");
    assert!(!world.keeps_moving());
    world.key(KeyCode::BACK);
    tap_at(&mut world, Point { x: 240, y: 120 });
    assert_eq!(texts(&mut world, "id/alertTitle"), ["Clock isn't responding"]);
    tap(&mut world, "Wait");
    assert!(world.keeps_moving());
    assert_ne!(behind(&mut world), before);
    assert!(logged(&world, "ActivityManager ANR in com.google.android.deskclock (com.google"));
    let event = world.log().lines().find(|line| line.tag == "am_anr").unwrap();
    assert!(event.buffer == Buffer::Events && event.text.contains(",Input dispatching timed out"));
}

#[test]
fn hanging_app_can_be_closed_or_stopped() {
    let mut world = app(NOTES, &[]);
    assert!(world.stop_responding(NOTES) && world.stop_responding(NOTES));
    world.key(KeyCode::HOME);
    assert_eq!(texts(&mut world, "id/alertTitle"), ["Notes isn't responding"], "it stays");
    tap(&mut world, "Close app");
    assert_eq!(world.pid_of(NOTES), None);
    assert!(logged(&world, "am_kill") && logged(&world, "user request after error"));
    world.start(NOTES, None).unwrap();
    assert!(world.responds(NOTES));
    world.stop_responding(NOTES);
    world.force_stop(NOTES);
    assert_eq!(world.scene().focused().unwrap().package, "com.android.launcher3");
    world.start(NOTES, None).unwrap();
    world.key(KeyCode::HOME);
    assert!(world.stop_responding(NOTES));
    assert_eq!(world.pid_of(NOTES), None, "one in the background is killed without a word");
    assert_eq!(world.scene().focused().unwrap().package, "com.android.launcher3");
}

#[test]
fn only_a_repeated_crash_shows_a_dialog() {
    let mut world = app(SHOP, &[]);
    assert!(world.crash(SHOP, NO));
    assert_eq!(world.scene().focused().unwrap().package, "com.android.launcher3");
    world.start(SHOP, None).unwrap();
    wait(&mut world, Duration::from_secs(100));
    assert!(world.crash(SHOP, NO));
    assert_eq!(title(&mut world), format!("Application Error: {SHOP}"));
    assert_eq!(texts(&mut world, "id/alertTitle"), ["Shop keeps stopping"]);
    tap(&mut world, "App info");
    assert_eq!(world.foreground().package, SETTINGS);
    assert!(shows(&mut world, SHOP) || shows(&mut world, "Shop"));
    world.start(SHOP, None).unwrap();
    wait(&mut world, Duration::from_secs(130));
    assert!(world.crash(SHOP, NO));
    assert!(texts(&mut world, "id/alertTitle").is_empty(), "that was long ago");
}

#[test]
fn setting_shows_first_crash_dialogs() {
    let mut world = app(SHOP, &[]);
    world.put_setting("global", "show_first_crash_dialog", "1");
    world.crash(SHOP, NO);
    assert_eq!(texts(&mut world, "id/alertTitle"), ["Shop has stopped"]);
    tap_at(&mut world, Point { x: 240, y: 60 });
    assert!(texts(&mut world, "id/alertTitle").is_empty(), "a touch beside it closes it");
}

#[test]
fn old_phone_reports_crashes_with_an_ok_button() {
    let mut world = World::new(Setup { display: SMALL, android: 4, ..Setup::default() });
    world.start(SHOP, None).unwrap();
    world.crash(SHOP, NO);
    assert!(shows(&mut world, "Unfortunately, Shop has stopped."));
    world.key(KeyCode::BACK);
    tap(&mut world, "OK");
    world.start(SHOP, None).unwrap();
    world.stop_responding(SHOP);
    tap(&mut world, "Wait");
    assert!(world.responds(SHOP));
}
