//! What Settings shows and changes.

use super::*;
use crate::input::KeyCode;
use crate::packages::Intent;

/// Whether the switch in the row with this title is on.
fn is_on(world: &mut World, title: &str) -> bool {
    let root = &world.scene().focused().unwrap().root;
    let says = |node: &Node| node.text == title;
    let row = root.walk().filter(|node| node.flags.clickable && node.walk().any(says)).last();
    let switch = row.unwrap().walk().find(|node| node.flags.checkable).unwrap();
    switch.flags.checked
}

/// The descriptions in the status bar.
fn status(world: &mut World) -> Vec<String> {
    let bar = world.scene().windows.iter().find(|window| window.kind == WindowKind::StatusBar);
    bar.unwrap().root.walk().map(|node| node.description.clone()).collect()
}

#[test]
fn status_bar_shows_that_wifi_is_off() {
    let mut world = settings(&["Network & internet", "Internet"]);
    assert!(is_on(&mut world, "Wi-Fi"));
    assert!(shows(&mut world, "VirtualWifi"));
    assert!(status(&mut world).contains(&"Wifi signal full.".to_owned()));
    tap(&mut world, "Wi-Fi");
    assert!(!is_on(&mut world, "Wi-Fi"));
    assert_eq!(world.setting("global", "wifi_on"), Some("0"));
    assert!(!status(&mut world).contains(&"Wifi signal full.".to_owned()));
    world.key(KeyCode::BACK);
    assert!(shows(&mut world, "Networks available"));
    world.put_setting("global", "wifi_on", "1");
    assert!(shows(&mut world, "VirtualWifi"), "what the shell puts is shown at once");
}

#[test]
fn airplane_mode_turns_wifi_off_and_back_on() {
    let mut world = settings(&["Network & internet", "Airplane mode"]);
    assert!(is_on(&mut world, "Airplane mode"));
    assert_eq!(world.setting("global", "wifi_on"), Some("3"));
    let signs = status(&mut world);
    assert!(signs.contains(&"Airplane mode.".to_owned()), "{signs:?}");
    assert!(!signs.iter().any(|sign| sign.contains("signal")), "{signs:?}");
    tap(&mut world, "Airplane mode");
    assert_eq!(world.setting("global", "wifi_on"), Some("1"));
    assert!(status(&mut world).contains(&"Phone signal full.".to_owned()));
}

#[test]
fn wifi_stays_off_after_airplane_mode() {
    let mut world = settings(&["Network & internet"]);
    world.put_setting("global", "wifi_on", "0");
    tap_all(&mut world, &["Airplane mode", "Airplane mode"]);
    assert_eq!(world.setting("global", "wifi_on"), Some("0"));
}

#[test]
fn brightness_slider_follows_the_finger() {
    let mut world = settings(&["Display"]);
    let bar = node(&mut world, "android:id/seekbar").unwrap().bounds;
    let y = bar.center().y;
    tap_at(&mut world, Point { x: bar.right - 1, y });
    assert_eq!(world.setting("system", "screen_brightness"), Some("254"));
    drag(&mut world, (bar.right - 5, y), (bar.left - 40, y));
    assert_eq!(world.setting("system", "screen_brightness"), Some("1"));
    assert!(shows(&mut world, "0%"));
    drag(&mut world, (bar.left + 60, y), (bar.left + 60, y - 60));
    assert_eq!(world.setting("system", "screen_brightness"), Some("1"), "a scroll is no slide");
}

#[test]
fn touch_outside_closes_the_timeout_dialog() {
    let mut world = settings(&["Display", "Screen timeout"]);
    assert!(node(&mut world, "recycler_view").is_none(), "the dump shows the dialog only");
    assert!(shows(&mut world, "30 seconds"));
    tap_at(&mut world, Point { x: 240, y: 60 });
    assert!(node(&mut world, "recycler_view").is_some());
    tap_all(&mut world, &["Screen timeout", "30 seconds"]);
    assert_eq!(world.setting("system", "screen_off_timeout"), Some("30000"));
    assert!(shows(&mut world, "After 30 seconds of inactivity"));
    tap(&mut world, "Screen timeout");
    let chosen = |world: &mut World| {
        let root = &world.scene().focused().unwrap().root;
        root.walk().find(|node| node.flags.checked).map(|node| node.text.clone())
    };
    assert_eq!(chosen(&mut world).as_deref(), Some("30 seconds"));
    world.key(KeyCode::BACK);
    assert!(node(&mut world, "recycler_view").is_some(), "back closes the dialog alone");
}

#[test]
fn dialog_on_a_low_screen_scrolls_choices_and_keeps_buttons() {
    let mut world = settings(&["Display", "Screen timeout"]);
    world.set_rotation(1);
    let button = node(&mut world, "android:id/button2").unwrap();
    assert_eq!(button.bounds, button.full);
    assert!(!shows(&mut world, "30 minutes"));
    tap_all(&mut world, &["30 minutes"]);
    assert_eq!(world.setting("system", "screen_off_timeout"), Some("1800000"));
}

#[test]
fn dialog_dims_the_background() {
    let mut world = settings(&["Display"]);
    let pixel = |world: &mut World| world.frame().rgba[..3].to_vec();
    let before = pixel(&mut world);
    tap(&mut world, "Screen timeout");
    assert!(pixel(&mut world) < before);
}

#[test]
fn locking_rotation_keeps_the_current_one() {
    let mut world = settings(&["Display"]);
    world.set_rotation(1);
    drag(&mut world, (450, 400), (450, 200));
    tap(&mut world, "Auto-rotate screen");
    assert_eq!(world.display().rotation, 1);
    assert_eq!(world.setting("system", "user_rotation"), Some("1"));
}

#[test]
fn volume_keys_move_the_slider() {
    let mut world = settings(&["Sound & vibration"]);
    world.key(KeyCode::VOLUME_UP);
    assert!(shows(&mut world, "53%"), "8 of 15");
    assert_eq!(world.volume(), 8);
}

#[test]
fn setting_is_found_by_name() {
    let mut world = settings(&["Search settings"]);
    type_text(&mut world, "airpl\n");
    tap(&mut world, "Airplane mode");
    assert!(shows(&mut world, "Network & internet") && shows(&mut world, "Hotspot & tethering"));
    world.key(KeyCode::BACK);
    assert_eq!(node(&mut world, "open_search_view_edit_text").unwrap().text, "airpl");
}

#[test]
fn seven_build_number_taps_enable_developer_options() {
    let mut world = settings(&["About phone"]);
    assert!(shows(&mut world, "Virtual Pixel") && shows(&mut world, "14"));
    for _ in 0..7 {
        tap(&mut world, "Build number");
    }
    assert_eq!(world.setting("global", "development_settings_enabled"), Some("1"));
    world.key(KeyCode::BACK);
    tap_all(&mut world, &["System", "Developer options"]);
    assert!(is_on(&mut world, "Stay awake"));
}

#[test]
fn intent_action_opens_its_settings_page() {
    let mut world = phone();
    let action = Some("android.settings.BLUETOOTH_SETTINGS".to_owned());
    world.start_intent(&Intent { action, ..Intent::default() }).unwrap();
    tap(&mut world, "Use Bluetooth");
    assert_eq!(world.setting("global", "bluetooth_on"), Some("0"));
    world.key(KeyCode::BACK);
    assert!(node(&mut world, "settings_homepage_container").is_some());
}
