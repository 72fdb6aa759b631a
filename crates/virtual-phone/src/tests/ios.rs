//! A phone in iOS's manner.

use crate::geometry::Display;
use crate::platform::Platform;
use crate::tests::{CONTACTS, NOTES, SETTINGS};
use crate::world::{Setup, World};

pub(super) fn iphone() -> World {
    World::new(Setup { platform: Platform::Ios, display: Display::IPHONE, ..Setup::default() })
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
