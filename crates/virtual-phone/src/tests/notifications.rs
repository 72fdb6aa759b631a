//! Apps post notifications, which show in the status bar and the shade, and lead back to the apps.

use super::*;
use crate::input::KeyCode;
use crate::overlays::CrashDialog;
use crate::packages::Manifest;
use crate::packages::{Installation, ParsedPackage};
use crate::scene::WindowKind;

const SECOND: Duration = Duration::from_secs(1);

fn pull(world: &mut World) {
    drag(world, (240, 10), (240, 500));
}

fn bar(world: &mut World) -> Vec<String> {
    let windows = &world.scene().windows;
    let bar = windows.iter().find(|window| window.kind == WindowKind::StatusBar).unwrap();
    let icons = bar.root.find("notificationIcons");
    icons.map_or(Vec::new(), |icons| {
        icons.children.iter().map(|icon| icon.description.clone()).collect()
    })
}

#[test]
fn swipe_from_the_top_opens_the_shade() {
    let mut world = app(NOTES, &["New note"]);
    type_text(&mut world, "ab");
    pull(&mut world);
    assert!(world.shade_shown() && !world.keyboard_shown());
    assert_eq!(world.scene().focused().unwrap().title, "NotificationShade");
    assert!(shows(&mut world, "No notifications"));
    world.notify(MESSAGES, "Emma Hughes", "Sounds good!");
    world.notify(CALENDAR, "Dentist", "12:30");
    assert!(!world.notify("com.nope", "a", "b"));
    wait(&mut world, 130 * SECOND);
    assert_eq!(texts(&mut world, "android:id/title"), ["Dentist", "Emma Hughes"]);
    assert_eq!(texts(&mut world, "android:id/app_name_text"), ["Calendar", "Messages"]);
    assert_eq!(texts(&mut world, "android:id/time"), ["2m", "2m"]);
    world.key(KeyCode::BACK);
    assert!(!world.shade_shown());
    let icons = ["Calendar notification: Dentist", "Messages notification: Emma Hughes"];
    assert_eq!(bar(&mut world), icons);
    type_text(&mut world, "c");
    assert_eq!(world.focused_text().as_deref(), Some("abc"), "the field has the focus again");
}

#[test]
fn notifications_can_be_dismissed_opened_and_cleared() {
    let mut world = phone();
    assert!(!world.notify(SHOP, "Three", "text"), "nobody has allowed it");
    world.grant(SHOP, "android.permission.POST_NOTIFICATIONS").unwrap();
    for (package, title) in [(MESSAGES, "One"), (CALENDAR, "Two"), (SHOP, "Three")] {
        assert!(world.notify(package, title, "text"), "{package}");
    }
    pull(&mut world);
    let row = node(&mut world, "expandableNotificationRow").unwrap().bounds.center();
    drag(&mut world, (row.x, row.y), (row.x + 150, row.y));
    assert_eq!(texts(&mut world, "android:id/title"), ["Two", "One"]);
    tap(&mut world, "Two");
    assert!(!world.shade_shown());
    assert_eq!(world.foreground().package, CALENDAR);
    assert_eq!(world.notifications().len(), 1);
    pull(&mut world);
    tap(&mut world, "Clear all");
    assert!(!world.shade_shown() && world.notifications().is_empty() && bar(&mut world).is_empty());
    for number in 0..200 {
        world.notify(CLOCK, &number.to_string(), "");
    }
    assert_eq!(world.notifications().len(), 1, "the same app's replaces the former");
}

#[test]
fn quick_settings_and_settings_agree() {
    let mut world = settings(&["Network & internet"]);
    pull(&mut world);
    tap(&mut world, "Airplane mode, Off");
    assert_eq!(world.setting("global", "airplane_mode_on"), Some("1"));
    assert_eq!(world.setting("global", "wifi_on"), Some("3"));
    tap(&mut world, "Internet, Off");
    tap(&mut world, "Bluetooth, On");
    assert_eq!(world.setting("global", "wifi_on"), Some("2"), "on in spite of airplane mode");
    assert_eq!(world.setting("global", "bluetooth_on"), Some("0"));
    assert!(node(&mut world, "slider").is_none());
    drag(&mut world, (240, 300), (240, 600));
    let slider = node(&mut world, "slider").unwrap().bounds;
    tap_at(&mut world, Point { x: slider.right - 1, y: slider.center().y });
    let bright = world.setting("system", "screen_brightness").unwrap().parse::<u32>();
    assert!(bright.unwrap() > 245);
    tap(&mut world, "Auto-rotate, On");
    world.put_setting("system", "user_rotation", "1");
    assert_eq!(world.display().rotation, 1, "the screen is held");
    world.key(KeyCode::BACK);
    world.key(KeyCode::BACK);
    assert!(!world.shade_shown());
    world.open_shade(true);
    world.key(KeyCode::HOME);
    assert!(!world.shade_shown());
}

#[test]
fn contact_replies_after_some_seconds() {
    let send = |back: bool| {
        let mut world = app(MESSAGES, &["Emma Hughes", "compose_message_text"]);
        type_text(&mut world, "Hello?");
        tap(&mut world, "Send SMS");
        if back {
            world.key(KeyCode::HOME);
        }
        let before = world.notifications().len();
        wait(&mut world, 5 * SECOND);
        assert_eq!(world.notifications().len(), before, "not at once");
        wait(&mut world, 20 * SECOND);
        world
    };
    let mut there = send(false);
    let last = texts(&mut there, "id/message_text").pop().unwrap();
    assert_ne!(last, "Hello?");
    assert!(there.notifications().is_empty());
    let mut away = send(true);
    let out = away.notifications()[0].clone();
    assert_eq!((out.title.as_str(), &out.text), ("Emma Hughes", &last), "the seed decides");
    pull(&mut away);
    tap(&mut away, "Emma Hughes");
    assert_eq!(texts(&mut away, "id/message_text").pop(), Some(last));
    assert!(away.notifications().is_empty());
    wait(&mut away, 60 * SECOND);
    assert!(away.notifications().is_empty(), "once");
}

#[test]
fn automated_senders_do_not_reply() {
    let mut world = app(MESSAGES, &["Parcel Service", "compose_message_text"]);
    type_text(&mut world, "Thanks");
    tap(&mut world, "Send SMS");
    wait(&mut world, 60 * SECOND);
    assert_eq!(texts(&mut world, "id/message_text").pop().as_deref(), Some("Thanks"));
}

#[test]
fn alarms_ring_on_time_in_any_time_steps() {
    let ring = |step: u64| {
        let mut world = app(CLOCK, &["Timer", "timer_setup_digit_5", "timer_setup_digit_0", "fab"]);
        for (key, value) in [("hour", "10"), ("minute", "2"), ("on", "yes"), ("label", "Tea")] {
            world.set_preference(CLOCK, &format!("alarm/0/{key}"), Some(value));
        }
        let day = [("title", "Call"), ("day", "2024-03-05"), ("time", "10:15"), ("place", "")];
        for (key, value) in day {
            world.set_preference(CALENDAR, &format!("event/90/{key}"), Some(value));
        }
        while world.uptime() < 400 * SECOND {
            wait(&mut world, Duration::from_millis(step));
        }
        let out = world.notifications().iter();
        out.map(|one| (one.title.clone(), one.at)).collect::<Vec<_>>()
    };
    let expected = [("Call", 300), ("Tea", 120), ("Time's up", 50)];
    let expected = expected.map(|(title, at)| (title.to_owned(), at * SECOND));
    assert_eq!(ring(400_000), expected);
    assert_eq!(ring(7_000), expected);
}

#[test]
fn order_notification_needs_permission() {
    let mut world = app(SHOP, &["product_item", "Add to cart", "cart_button", "Checkout"]);
    for (field, text) in [
        ("checkout_name", "Ada"),
        ("checkout_street", "Quay 1"),
        ("checkout_zip", "23552"),
        ("checkout_city", "Lübeck"),
    ] {
        tap_all(&mut world, &[field]);
        type_text(&mut world, text);
        world.key(KeyCode::BACK);
    }
    tap_all(&mut world, &["terms_checkbox", "Place order", "notify_button"]);
    assert!(shows(&mut world, "Allow Shop to send you notifications?"));
    assert!(!world.notify(SHOP, "Buy!", "Buy more!"));
    tap(&mut world, "Allow");
    wait(&mut world, 60 * SECOND);
    pull(&mut world);
    tap(&mut world, "Your order is on its way");
    assert!(shows(&mut world, "Orders"));
}

#[test]
fn shade_opens_over_a_system_dialog() {
    let mut world = app(CLOCK, &[]);
    world.stop_responding(CLOCK);
    pull(&mut world);
    assert!(world.shade_shown());
    assert_eq!(world.scene().focused().unwrap().title, "NotificationShade");
    world.pop_up("Software update", "Now?");
    assert_eq!(world.scene().focused().unwrap().title, "NotificationShade");
    world.key(KeyCode::BACK);
    assert!(!world.shade_shown() && shows(&mut world, "Software update"));
}

#[test]
fn notification_key_toggles_the_shade() {
    let mut world = World::new(Setup { display: SMALL, android: 16, ..Setup::default() });
    world.key(KeyCode::NOTIFICATION);
    assert!(world.shade_shown());
    world.key(KeyCode::NOTIFICATION);
    assert!(!world.shade_shown());
}

#[test]
fn stopping_or_uninstalling_removes_notifications() {
    let mut world = phone();
    let may = "android.permission.POST_NOTIFICATIONS".to_owned();
    let declared = ParsedPackage {
        package: "org.x".to_owned(),
        permissions: vec![may.clone()],
        ..ParsedPackage::default()
    };
    let manifest = Installation { declared, ..Installation::unknown() };
    world.install(Manifest::of_installation(manifest), None);
    world.grant("org.x", &may).unwrap();
    for package in ["org.x", CLOCK, MESSAGES] {
        assert!(world.post(package, "", "Hello", "there", None), "{package}");
    }
    world.push_overlay(CrashDialog { package: "org.x".into(), label: "X".into(), again: true });
    assert!(world.uninstall("org.x").is_some());
    assert!(!shows(&mut world, "X keeps stopping"));
    assert_eq!(bar(&mut world).len(), 2);
    world.force_stop(CLOCK);
    assert_eq!(bar(&mut world), ["Messages notification: Hello"]);
}
