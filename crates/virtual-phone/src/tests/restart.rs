//! What survives a reboot.

use super::*;

/// The tags of all readable log entries, in order.
fn log(world: &World) -> Vec<&str> {
    world.log().since(0).map(|(_, line)| line.tag.as_str()).collect()
}

#[test]
fn reboot_keeps_stored_data_only() {
    let mut world = maps();
    world.advance(Duration::from_secs(60));
    world.set_preference(NOTES, "note/40/title", Some("Call the plumber"));
    world.put_setting("system", "screen_brightness", "17");
    world.set_clipboard("gone");
    world.notify(SHOP, "On its way", "An order");
    world.start(SETTINGS, None).unwrap();
    world.stop_responding(SETTINGS);
    world.restart();
    assert_eq!(log(&world), log(&phone()), "what comes up writes as it did at first");
    assert_eq!(world.foreground().package, "com.android.launcher3");
    assert_eq!(world.top_activity(), world.foreground(), "no dialog stands before it");
    assert!(world.pid_of(MAPS).is_none() && world.responds(SETTINGS));
    assert!(world.notifications().is_empty());
    assert_eq!(world.clipboard(), None);
    assert_eq!(world.setting("system", "screen_brightness"), Some("17"));
    assert_eq!(world.preferences(NOTES), [("note/40/title", "Call the plumber")]);
    assert_eq!(world.since_restart(), Duration::ZERO);
    assert_eq!(world.uptime(), Duration::from_secs(60), "the phone's clock goes on");
    world.start(SETTINGS, None).unwrap();
    assert_eq!(world.foreground().package, SETTINGS);
}
