//! Requesting permissions: what the prompt says and does on several releases, and what is granted
//! afterwards.

use super::*;
use crate::input::KeyCode;
use crate::permissions::PermissionError;

const FINE: &str = "android.permission.ACCESS_FINE_LOCATION";
const COARSE: &str = "android.permission.ACCESS_COARSE_LOCATION";

/// A phone of a release whose Maps has just requested the location.
fn asked(android: u32) -> World {
    let mut world = World::new(Setup { display: SMALL, android, ..Setup::default() });
    world.start(MAPS, None).unwrap();
    tap(&mut world, "mylocation_button");
    world
}

fn buttons(world: &mut World) -> Vec<String> {
    let root = &world.scene().focused().unwrap().root;
    let buttons = root.walk().filter(|node| node.class == "android.widget.Button");
    buttons.map(|node| node.text.clone()).collect()
}

fn flags(world: &World, name: &str) -> String {
    let held = world.runtime_permissions(MAPS).into_iter().find(|held| held.name == name);
    held.map(|held| held.flags.join("|")).unwrap_or_default()
}

#[test]
fn permission_prompt_is_its_own_activity() {
    let mut world = asked(14);
    let window = world.scene().focused().unwrap().clone();
    assert_eq!(window.package, "com.google.android.permissioncontroller");
    assert!(window.title.ends_with(".permission.ui.GrantPermissionsActivity"));
    assert_eq!(world.top_activity().package, window.package);
    assert_eq!(world.foreground().package, MAPS, "it belongs to the app's task");
    let message = "com.android.permissioncontroller:id/permission_message";
    let message = window.root.find(message).unwrap();
    assert_eq!(message.text, "Allow Maps to access this device’s location?");
    assert_eq!(buttons(&mut world), ["While using the app", "Only this time", "Don’t allow"]);
    tap_at(&mut world, Point { x: 240, y: 60 });
    assert_eq!(buttons(&mut world).len(), 3, "a touch beside it does nothing");
    world.key(KeyCode::HOME);
    assert_eq!(world.top_activity().package, "com.android.launcher3");
    world.start(MAPS, None).unwrap();
    assert_eq!(buttons(&mut world).len(), 3, "it waits in its task");
    tap(&mut world, "permission_allow_foreground_only_button");
    assert!(world.granted(MAPS, FINE) && world.granted(MAPS, COARSE));
    assert!(flags(&world, FINE).starts_with("USER_SET|USER_SENSITIVE"));
    tap(&mut world, "mylocation_button");
    assert!(shows(&mut world, "Map of Harbor City"), "nobody is asked again");
}

#[test]
fn one_time_permission_ends_with_the_process() {
    let mut world = asked(14);
    tap(&mut world, "Only this time");
    assert!(world.granted(MAPS, FINE));
    assert!(flags(&world, FINE).contains("ONE_TIME"));
    world.force_stop(MAPS);
    assert!(!world.granted(MAPS, FINE));
}

#[test]
fn approximate_location_alone_can_be_allowed() {
    let mut world = asked(14);
    assert!(node(&mut world, "permission_location_accuracy_radio_fine").unwrap().flags.checked);
    tap(&mut world, "Approximate");
    tap(&mut world, "While using the app");
    assert!(!world.granted(MAPS, FINE) && world.granted(MAPS, COARSE));
}

#[test]
fn second_refusal_is_final() {
    let mut world = asked(14);
    world.key(KeyCode::BACK);
    tap(&mut world, "mylocation_button");
    tap(&mut world, "permission_deny_button");
    tap(&mut world, "mylocation_button");
    tap(&mut world, "permission_deny_button");
    tap(&mut world, "mylocation_button");
    assert!(shows(&mut world, "Map of Harbor City"));
    assert!(flags(&world, FINE).starts_with("USER_SET|USER_FIXED"));
    assert!(!world.granted(MAPS, FINE));
    world.clear_data(MAPS);
    world.start(MAPS, None).unwrap();
    tap(&mut world, "mylocation_button");
    assert_eq!(buttons(&mut world).len(), 3, "cleared data forgets it");
}

#[test]
fn android_9_has_a_dont_ask_again_checkbox() {
    const BOX: &str = "com.android.packageinstaller:id/do_not_ask_checkbox";
    let mut world = asked(9);
    assert!(node(&mut world, BOX).is_none(), "not the first time");
    for _ in 0..3 {
        tap(&mut world, "DENY");
        tap(&mut world, "mylocation_button");
    }
    assert_eq!(flags(&world, FINE), "USER_SET", "however often it was refused");
    tap(&mut world, BOX);
    let allow = node(&mut world, "permission_allow_button").unwrap().flags;
    assert!(node(&mut world, BOX).unwrap().flags.checked && !allow.enabled);
    tap(&mut world, "ALLOW");
    tap(&mut world, "DENY");
    tap(&mut world, "mylocation_button");
    assert!(shows(&mut world, "Map of Harbor City"), "nobody is asked");
    assert_eq!(flags(&world, FINE), "USER_SET|USER_FIXED");
}

#[test]
fn prompt_text_depends_on_the_release() {
    let mut old = asked(9);
    let window = old.scene().focused().unwrap();
    assert_eq!(window.package, "com.google.android.packageinstaller");
    assert_eq!(buttons(&mut old), ["DENY", "ALLOW"]);
    let mut ten = asked(10);
    assert_eq!(buttons(&mut ten), ["Allow only while using the app", "Deny"]);
    tap(&mut ten, "Deny");
    tap(&mut ten, "mylocation_button");
    let again = "permission_deny_and_dont_ask_again_button";
    assert!(node(&mut ten, again).is_some());
    assert_eq!(buttons(&mut asked(11))[2], "Deny");
    let mut very_old = asked(4);
    assert!(shows(&mut very_old, "Map of Harbor City"), "held since the installation");
    assert!(very_old.granted(MAPS, FINE) && very_old.runtime_permissions(MAPS).is_empty());
}

#[test]
fn permissions_are_granted_and_revoked_by_name() {
    let mut world = maps();
    assert_eq!(world.grant(MAPS, FINE), Ok(()));
    assert!(world.granted(MAPS, FINE) && !world.granted(MAPS, COARSE));
    assert_eq!(world.revoke(MAPS, FINE), Ok(()));
    assert_eq!(world.pid_of(MAPS), None, "losing one kills the app");
    let internet = "android.permission.INTERNET";
    assert!(world.granted(MAPS, internet));
    for (package, name, reason) in [
        ("com.nope", FINE, PermissionError::NoSuchPackage),
        (NOTES, FINE, PermissionError::NotRequested),
        (MAPS, "com.example.WISH", PermissionError::Unknown),
        (MAPS, internet, PermissionError::NotChangeable),
    ] {
        assert_eq!(world.grant(package, name), Err(reason));
        assert_eq!(world.revoke(package, name), Err(reason));
    }
    world.grant(MAPS, FINE).unwrap();
    world.reset_permissions();
    assert!(!world.granted(MAPS, FINE));
    assert!(world.granted(CONTACTS, "android.permission.READ_CONTACTS"), "it came with the phone");
}
