//! A phone in iOS's manner.

use crate::ScreenLock;
use crate::input::KeyCode;
use crate::platform::Role;
use crate::scene::{Node, WindowKind};
use crate::tests::{CLOCK, CONTACTS, MAPS, NOTES, SETTINGS, drag, press, shows, tap, type_text};
use crate::world::{Setup, World};
use thumbwire_virtual_screen::Display;
use thumbwire_virtual_screen::Platform;

fn iphone() -> World {
    World::new(Setup { platform: Platform::Ios, display: Display::IPHONE, ..Setup::default() })
}

fn with_app(package: &str) -> World {
    let mut world = iphone();
    world.start(package, None).unwrap();
    world
}

/// The first node with a role in the window that has the focus.
fn with_role(world: &mut World, role: Role) -> Option<Node> {
    let root = &world.scene().focused()?.root;
    root.walk().find(|node| node.role == Some(role)).cloned()
}

fn swipe_up_from_the_indicator(world: &mut World) {
    let Display { width, height, .. } = *world.display();
    drag(world, (width / 2, height - 10), (width / 2, height - 600));
}

#[test]
fn apps_are_known_by_their_bundle_ids() {
    let world = iphone();
    for (package, bundle_id) in [
        (SETTINGS, "com.apple.Preferences"),
        (NOTES, "com.apple.mobilenotes"),
        (CONTACTS, "com.apple.MobileAddressBook"),
        ("com.android.launcher3", "com.apple.springboard"),
    ] {
        assert_eq!(world.bundle_id_of(package), bundle_id);
        assert_eq!(world.package_of(bundle_id).as_deref(), Some(package));
    }
    assert_eq!(world.package_of("com.apple.nothing"), None);
    assert_eq!(world.bundle_id_of("com.x"), "com.x");
}

#[test]
fn home_shows_every_app_with_an_icon_and_no_drawer() {
    let mut world = iphone();
    let icons = |world: &mut World| {
        let root = &world.scene().focused().unwrap().root;
        let icons = root.walk().filter(|node| node.role == Some(Role::Icon));
        icons.map(|node| node.text.clone()).collect::<Vec<_>>()
    };
    let at_home = icons(&mut world);
    assert_eq!(at_home.len(), 13, "{at_home:?}");
    drag(&mut world, (400, 1200), (400, 500));
    assert_eq!(icons(&mut world), at_home);
    tap(&mut world, "Settings");
    assert_eq!(world.foreground().package, SETTINGS);
}

#[test]
fn every_app_has_a_title_or_is_a_map_and_is_left_by_the_home_indicator() {
    let packages: Vec<String> = iphone().packages().iter().map(|it| it.package.clone()).collect();
    for package in packages.iter().filter(|it| *it != "com.android.launcher3") {
        let mut world = with_app(package);
        let bar = with_role(&mut world, Role::NavigationBar);
        assert!(bar.is_some() || package == MAPS, "{package}");
        swipe_up_from_the_indicator(&mut world);
        assert_eq!(world.foreground().package, "com.android.launcher3", "{package}");
    }
}

#[test]
fn back_is_at_the_left_of_the_navigation_bar() {
    let mut world = with_app(SETTINGS);
    assert!(with_role(&mut world, Role::BackButton).is_none());
    tap(&mut world, "Network & internet");
    let bar = with_role(&mut world, Role::NavigationBar).unwrap();
    assert_eq!(bar.description, "Network & internet");
    let back = with_role(&mut world, Role::BackButton).unwrap();
    assert_eq!((back.description.as_str(), back.bounds.left < 40), ("Back", true));
    tap(&mut world, "Back");
    assert!(shows(&mut world, "Search settings"));
}

#[test]
fn rows_are_cells_and_a_row_toggles_its_switch() {
    let mut world = with_app(SETTINGS);
    tap(&mut world, "Network & internet");
    let root = &world.scene().focused().unwrap().root;
    let cells = root.walk().filter(|node| node.role == Some(Role::Cell)).count();
    assert_eq!(cells, 5);
    let before = with_role(&mut world, Role::Switch).unwrap();
    tap(&mut world, "Mobile data");
    let after = with_role(&mut world, Role::Switch).unwrap();
    assert_ne!(before.flags.checked, after.flags.checked);
}

#[test]
fn dialog_is_an_alert_whose_buttons_are_side_by_side() {
    let mut world = with_app(NOTES);
    tap(&mut world, "browse_note");
    tap(&mut world, "Delete note");
    let alert = with_role(&mut world, Role::Alert).unwrap();
    assert_eq!(alert.description, "Delete note?");
    let named = |label: &str| alert.walk().find(|node| node.text == label).unwrap().bounds;
    let (cancel, delete) = (named("Cancel"), named("Delete"));
    assert_eq!(cancel.top, delete.top);
    assert!(cancel.right <= delete.left);
    tap(&mut world, "Cancel");
    assert!(with_role(&mut world, Role::Alert).is_none());
}

#[test]
fn permission_alert_allows_location_or_not() {
    let mut world = with_app(MAPS);
    tap(&mut world, "mylocation_button");
    let alert = with_role(&mut world, Role::Alert).unwrap();
    let labels = alert.walk().filter(|node| node.flags.clickable).map(|node| node.text.as_str());
    let labels: Vec<&str> = labels.collect();
    assert_eq!(labels, ["Allow Once", "Allow While Using App", "Don’t Allow"]);
    tap(&mut world, "Allow While Using App");
    assert!(world.granted(MAPS, "android.permission.ACCESS_FINE_LOCATION"));
}

#[test]
fn keyboard_has_the_keys_of_ios_and_return_hides_it() {
    let mut world = with_app(CONTACTS);
    tap(&mut world, "Search contacts");
    for key in ["shift", "A", "n", "space", "delete", "more", "1", "shift", "#", "more"] {
        press(&mut world, key);
    }
    assert_eq!(world.focused_text().as_deref(), Some("An1#"));
    assert!(with_role(&mut world, Role::SearchField).is_some_and(|it| it.text == "An1#"));
    press(&mut world, "search");
    assert!(!world.keyboard_shown());
    tap(&mut world, "Cancel");
    assert!(shows(&mut world, "Search contacts"));
}

#[test]
fn note_with_the_keyboard_open_is_left_by_its_back_button() {
    let mut world = with_app(NOTES);
    tap(&mut world, "New note");
    type_text(&mut world, "one\ntwo");
    tap(&mut world, "Back");
    assert!(!world.keyboard_shown());
    assert!(shows(&mut world, "one\ntwo"));
}

#[test]
fn only_the_left_edge_goes_back() {
    let mut world = with_app(SETTINGS);
    tap(&mut world, "Display");
    drag(&mut world, (824, 900), (500, 900));
    assert_eq!(with_role(&mut world, Role::NavigationBar).unwrap().description, "Display");
    drag(&mut world, (4, 900), (400, 900));
    assert_eq!(with_role(&mut world, Role::NavigationBar).unwrap().description, "Settings");
}

#[test]
fn passcode_opens_the_phone_without_an_enter_key() {
    let mut world = iphone();
    world.set_screen_lock(ScreenLock::Pin("1234".to_owned()));
    world.key(KeyCode::POWER);
    world.key(KeyCode::POWER);
    swipe_up_from_the_indicator(&mut world);
    for digit in ["1", "2", "3", "5"] {
        tap(&mut world, digit);
    }
    assert!(world.keyguard_shown() && shows(&mut world, "Wrong Passcode"));
    for digit in ["1", "2", "4", "Delete", "3", "4"] {
        tap(&mut world, digit);
    }
    assert!(!world.keyguard_shown());
}

#[test]
fn turned_iphone_has_no_status_bar() {
    let mut world = with_app(SETTINGS);
    let has = |world: &mut World| {
        world.scene().windows.iter().any(|window| window.kind == WindowKind::StatusBar)
    };
    assert!(has(&mut world));
    world.set_rotation(1);
    assert!(!has(&mut world));
}

#[test]
fn crashed_app_is_gone_without_a_word() {
    let mut world = with_app(CLOCK);
    for _ in 0..2 {
        world.crash(CLOCK, "java.lang.IllegalStateException");
        assert_eq!(world.foreground().package, "com.android.launcher3");
        assert!(!shows(&mut world, "Close app"));
        world.start(CLOCK, None).unwrap();
    }
}
